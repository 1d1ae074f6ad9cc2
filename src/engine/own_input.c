/* engine/own_input.c: a stream that would read what it writes is not begun.
 *
 * A file sink keeps a log in its folder, which says which files count: a source that reads that folder believes it, and passes over all that others
 * put there, in silence. Rows of a late or bad record would come in again, and so would the files of a checkpoint, as rows of nothing. */
#include "engine/own_input.h"

#include "table/file_uri.h"

typedef struct search {
    const fm_source_env *env;
    fm_arena *arena;
    const fm_plan *plan;       /* the whole */
    const char *what;          /* "output", "checkpoint", ... of the query */
    fm_str dir, file;          /* the folder, absolute, and a file that will be in it */
    fm_status st;
    fm_error *err;
} search;

static fm_status check_read(const search *s, const fm_table_def *table, fm_error *err)
{
    const fm_source_type *type = fm_source_lookup(s->env, table->format);
    bool reads;

    if (!type || !type->reads_file) return FM_OK;
    FM_TRY(type->reads_file(s->env, table, s->file, s->arena, &reads, err));
    if (!reads) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_READS_OWN_OUTPUT",
                   "The folder of the %s, '%.*s', is one that this stream reads (path '%.*s'): what is written there would come in again, or hide what "
                   "others put there. Choose a folder beside it.",
                   s->what, FM_STR_ARG(s->dir), FM_STR_ARG(fm_options_get(&table->options, "path", FM_STR(""))));
}

static bool visit_read(const fm_plan *p, void *ctx)
{
    search *s = ctx;

    if (p->kind == FM_PLAN_READ && p->streaming && p->table && s->st == FM_OK) s->st = check_read(s, p->table, s->err);
    return s->st == FM_OK;
}

/* One folder that is written to. format: of the files in it; empty: those of a checkpoint. */
static void check_folder(search *s, const char *what, fm_str path, fm_str format)
{
    fm_str plain;

    if (s->st != FM_OK || path.len == 0) return;
    s->what = what;
    s->st = fm_user_path(s->arena, fm_str_trim(path), &plain, s->err);
    if (s->st == FM_OK) s->st = fm_fs_absolute(s->env->fs, plain, s->arena, &s->dir, s->err);
    if (s->st != FM_OK) return;
    s->file = format.len ? fm_arena_printf(s->arena, "%s/part-00000-00000000-0000-0000-0000-000000000000-c000.%.*s", s->dir.ptr, FM_STR_ARG(format))
                         : fm_arena_printf(s->arena, "%s/metadata", s->dir.ptr);
    if (!s->file.ptr) s->st = fm_no_memory(s->arena, s->err);
    else fm_plan_walk(s->plan, visit_read, s);
}

/* Sinks of hints that are no folders: their names are those of tables and topics. */
static bool is_folder(fm_str format) { return !fm_str_eq_ci(format, FM_STR("memory")) && !fm_str_eq_ci(format, FM_STR("kafka")); }

static bool visit_hint(const fm_plan *p, void *ctx)
{
    search *s = ctx;

    if (p->kind == FM_PLAN_BAD_ROWS && is_folder(p->bad_rows.format)) check_folder(s, "bad rows", p->bad_rows.path, p->bad_rows.format);
    if (is_folder(p->lateness.late_format)) check_folder(s, "late rows", p->lateness.late_path, p->lateness.late_format);
    return s->st == FM_OK;
}

fm_status fm_check_own_input(const fm_source_env *env, const fm_plan *plan, const fm_sink_spec *sink, fm_str checkpoint, fm_arena *arena, fm_error *err)
{
    search s = {.env = env, .arena = arena, .plan = plan, .err = err};

    check_folder(&s, "output", fm_options_get(sink->options, "path", FM_STR("")), sink->format);
    check_folder(&s, "checkpoint", checkpoint, FM_STR(""));
    if (s.st == FM_OK) fm_plan_walk(plan, visit_hint, &s);
    return s.st;
}
