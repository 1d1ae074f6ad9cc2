/* table/delta/delta_log.c: the files of a log. */
#include "table/delta/delta_log.h"

#include <inttypes.h>
#include <stdlib.h>

#include "table/file_uri.h"

enum { DIGITS = 20, PART_DIGITS = 10 };

fm_status fm_delta_log_init(fm_delta_log *log, fm_fs *fs, fm_clock *clock, fm_str path, fm_arena *arena, fm_error *err)
{
    fm_str plain;

    *log = (fm_delta_log){.fs = fs, .clock = clock};
    FM_TRY(fm_user_path(arena, fm_str_trim(path), &plain, err));
    FM_TRY(fm_fs_absolute(fs, plain, arena, &log->root, err));
    if (log->root.len == 1) log->root = FM_STR(""); /* "/" */
    log->dir = fm_arena_printf(arena, "%s/_delta_log", log->root.ptr);
    return log->dir.ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_str fm_delta_commit_name(fm_arena *arena, int64_t version) { return fm_arena_printf(arena, "%020" PRId64 ".json", version); }

fm_str fm_delta_commit_path(const fm_delta_log *log, fm_arena *arena, int64_t version)
{
    return fm_arena_printf(arena, "%s/%020" PRId64 ".json", log->dir.ptr, version);
}

/* ---- Listing ----------------------------------------------------------------------------------------------- */

/* Takes n digits off the front of a name. */
static bool take_number(fm_str *name, size_t n, int64_t *out)
{
    if (name->len < n) return false;
    for (size_t i = 0; i < n; i++) {
        if (name->ptr[i] < '0' || name->ptr[i] > '9') return false;
    }
    if (!fm_str_to_i64((fm_str){name->ptr, n}, out)) return false;
    *name = (fm_str){name->ptr + n, name->len - n};
    return true;
}

static bool take_text(fm_str *name, const char *text)
{
    fm_str t = fm_str_c(text);

    if (!fm_str_starts(*name, t)) return false;
    *name = (fm_str){name->ptr + t.len, name->len - t.len};
    return true;
}

/* One file of a checkpoint, before parts are put together. */
typedef struct part {
    int64_t version, index, count; /* count 1: whole */
    int64_t modified_ms;
    fm_str name, uuid;
    bool is_json;
} part;

static bool read_checkpoint_name(fm_str name, part *p)
{
    fm_str rest = name;

    p->name = name;
    p->index = p->count = 1;
    p->is_json = false;
    if (!take_number(&rest, DIGITS, &p->version) || !take_text(&rest, ".checkpoint.")) return false;
    if (fm_str_eq(rest, FM_STR("parquet"))) return true;
    fm_str numbers = rest;
    if (take_number(&numbers, PART_DIGITS, &p->index) && take_text(&numbers, ".") && take_number(&numbers, PART_DIGITS, &p->count) &&
        fm_str_eq(numbers, FM_STR(".parquet"))) {
        return p->index >= 1 && p->index <= p->count && p->count <= FM_DELTA_CHECKPOINT_PARTS_MAX;
    }
    p->index = p->count = 1;
    p->is_json = fm_str_ends(rest, FM_STR(".json"));
    size_t end = p->is_json ? 5 : 8;
    if (!p->is_json && !fm_str_ends(rest, FM_STR(".parquet"))) return false;
    return rest.len - end == 36; /* a UUID */
}

static bool read_compaction_name(fm_str name, fm_delta_listed_compaction *c)
{
    fm_str rest = name;

    c->name = name;
    return take_number(&rest, DIGITS, &c->from) && take_text(&rest, ".") && take_number(&rest, DIGITS, &c->to) &&
           fm_str_eq(rest, FM_STR(".compacted.json")) && c->to > c->from;
}

static bool read_commit_name(fm_str name, int64_t *version)
{
    return take_number(&name, DIGITS, version) && fm_str_eq(name, FM_STR(".json"));
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_commit(const void *a, const void *b)
{
    return compare(((const fm_delta_listed_commit *)a)->version, ((const fm_delta_listed_commit *)b)->version);
}

static int by_from(const void *a, const void *b)
{
    const fm_delta_listed_compaction *x = a, *y = b;

    return x->from != y->from ? compare(x->from, y->from) : compare(y->to, x->to);
}

static int by_part(const void *a, const void *b)
{
    const part *x = a, *y = b;

    if (x->version != y->version) return compare(x->version, y->version);
    if (x->count != y->count) return compare(x->count, y->count);
    if (x->index != y->index) return compare(x->index, y->index);
    return fm_str_cmp(x->name, y->name);
}

/* Puts parts together: those of one version and one count, 1 to count, are a checkpoint. */
static fm_status join_parts(part *parts, int32_t n, fm_arena *arena, fm_delta_listing *out, fm_error *err)
{
    qsort(parts, (size_t)n, sizeof *parts, by_part);
    out->checkpoints = fm_arena_array(arena, fm_delta_listed_checkpoint, n);
    if (!out->checkpoints) return fm_no_memory(arena, err);
    for (int32_t i = 0, end; i < n; i = end) {
        end = i + 1;
        if (parts[i].count > 1) {
            while (end < n && parts[end].version == parts[i].version && parts[end].count == parts[i].count) end++;
            if (end - i != parts[i].count || parts[end - 1].index != parts[i].count) continue; /* some are missing */
        }
        fm_delta_listed_checkpoint *c = &out->checkpoints[out->n_checkpoints++];
        *c = (fm_delta_listed_checkpoint){.version = parts[i].version, .modified_ms = parts[end - 1].modified_ms, .n = end - i, .is_json = parts[i].is_json};
        c->names = fm_arena_array(arena, fm_str, c->n);
        if (!c->names) return fm_no_memory(arena, err);
        for (int32_t k = i; k < end; k++) c->names[k - i] = parts[k].name;
    }
    return FM_OK;
}

fm_status fm_delta_log_list(const fm_delta_log *log, fm_arena *arena, fm_delta_listing *out, fm_error *err)
{
    fm_dir_entry *entries;
    size_t n;
    int32_t n_parts = 0;

    *out = (fm_delta_listing){0};
    FM_TRY(fm_fs_list(log->fs, log->dir.ptr, arena, &entries, &n, err));
    if (n > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "'%s' has too many files.", log->dir.ptr);
    part *parts = fm_arena_array(arena, part, n);
    out->commits = fm_arena_array(arena, fm_delta_listed_commit, n);
    out->compactions = fm_arena_array(arena, fm_delta_listed_compaction, n);
    if (!parts || !out->commits || !out->compactions) return fm_no_memory(arena, err);
    for (size_t i = 0; i < n; i++) {
        fm_delta_listed_commit *commit = &out->commits[out->n_commits];
        if (entries[i].stat.is_dir) continue;
        if (read_commit_name(entries[i].name, &commit->version)) {
            commit->modified_ms = entries[i].stat.modified_ms;
            out->n_commits++;
        } else if (entries[i].stat.size > 0 && read_checkpoint_name(entries[i].name, &parts[n_parts])) {
            parts[n_parts++].modified_ms = entries[i].stat.modified_ms;
        } else if (read_compaction_name(entries[i].name, &out->compactions[out->n_compactions])) {
            out->n_compactions++;
        }
    }
    qsort(out->commits, (size_t)out->n_commits, sizeof *out->commits, by_commit);
    qsort(out->compactions, (size_t)out->n_compactions, sizeof *out->compactions, by_from);
    return join_parts(parts, n_parts, arena, out, err);
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

/* White space of JSON only: zeros, as a power cut leaves them, are damage. */
static bool is_blank(fm_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r') return false;
    return true;
}

fm_status fm_delta_log_read(const fm_delta_log *log, fm_str name, fm_arena *arena, fm_delta_visit visit, void *ctx, fm_error *err)
{
    fm_str path = fm_arena_printf(arena, "%s/%.*s", log->dir.ptr, FM_STR_ARG(name)), text;
    fm_delta_action action;
    int64_t line_number = 0;

    if (!path.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_fs_read_all(log->fs, path.ptr, FM_DELTA_LOG_FILE_SIZE_MAX, arena, &text, err));
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        fm_str line = {text.ptr + at, end ? (size_t)(end - text.ptr) - at : text.len - at};
        at += line.len + 1;
        line_number++;
        if (is_blank(line)) continue;
        fm_status st = fm_delta_action_parse(arena, line, &action, err);
        if (st == FM_OK) st = visit(ctx, &action, err);
        if (st != FM_OK) return fm_context(err, st, "reading '%s', line %" PRId64, path.ptr, line_number);
    }
    return FM_OK;
}
