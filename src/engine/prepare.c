/* engine/prepare.c: from a query over streams to one that is open at its checkpoint. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/own_input.h"
#include "engine/tables.h"
#include "format/format.h"
#include "plan/result_keys.h"

/* What the options of a sink say to the engine; the rest is the sink's own. */
static const char *const engine_options[] = {"outputMode", "trigger", "checkpointLocation", "queryName", NULL};

/* An option, or the session's setting of that name below floodmark. */
static fm_str start_option(const fm_session *s, const fm_start *start, const char *option, const char *setting)
{
    const fm_option *o = fm_options_find(start->options, option);

    return o ? o->value : fm_options_get(&s->settings, setting, FM_STR(""));
}

/* A failure because of an option is a failure where that stands. */
static fm_status at_option(const fm_start *start, const char *option, fm_status st, fm_error *err)
{
    const fm_option *o = fm_options_find(start->options, option);

    return o ? fm_error_at(err, st, o->line, o->column) : st;
}

static bool is_engine_option(fm_str key)
{
    for (int i = 0; engine_options[i]; i++) {
        if (fm_str_eq_ci(key, fm_str_c(engine_options[i]))) return true;
    }
    return false;
}

/* The sink's options live as long as the query, and so do the session's settings as they are now: a SET that comes
 * later is for the queries that come later. */
static fm_status copy_options(fm_arena *arena, const fm_options *in, bool for_sink, fm_options **out, fm_error *err)
{
    *out = fm_arena_one(arena, fm_options);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->n; i++) {
        if (for_sink && is_engine_option(in->items[i].key)) continue;
        if (!fm_options_set(arena, *out, in->items[i].key, in->items[i].value)) return fm_no_memory(arena, err);
        (*out)->items[(*out)->n - 1].line = in->items[i].line;
        (*out)->items[(*out)->n - 1].column = in->items[i].column;
    }
    return FM_OK;
}

/* Where the checkpoint lies. Rule: Spark: the option; below spark.sql.streaming.checkpointLocation; else a temporary
 * folder for sinks that keep nothing. */
static fm_status choose_checkpoint(fm_session *s, const fm_start *start, const fm_sink_type *sink, fm_arena *arena,
                                   fm_query_spec *spec, fm_error *err)
{
    fm_str named = start_option(s, start, "checkpointLocation", "floodmark.checkpointLocation");
    fm_str parent = fm_options_get(&s->settings, "spark.sql.streaming.checkpointLocation", FM_STR(""));
    char uuid[FM_UUID_TEXT_SIZE];
    fm_str dir;

    if (fm_str_starts(named, FM_STR("file:"))) { /* file:/x, file:///x */
        size_t cut = fm_str_starts(named, FM_STR("file://")) ? 7 : 5;
        named = (fm_str){named.ptr + cut, named.len - cut};
    }
    fm_uuid(uuid);
    while (named.len > 1 && named.ptr[named.len - 1] == '/') named.len--;
    while (parent.len > 1 && parent.ptr[parent.len - 1] == '/') parent.len--;
    if (named.len) {
        dir = fm_arena_str(arena, named);
    } else if (parent.len) {
        fm_str leaf = spec->name.len ? spec->name : fm_str_c(uuid);
        dir = fm_arena_printf(arena, "%.*s/%.*s", FM_STR_ARG(parent), FM_STR_ARG(leaf));
    } else if (sink->needs_checkpoint) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_NO_CHECKPOINT",
                       "checkpointLocation must be specified for a stream into the sink '%s': it is where the query keeps "
                       "how far it has come. Write OPTIONS (checkpointLocation 'folder', ...), or SET "
                       "spark.sql.streaming.checkpointLocation = folder.",
                       sink->name);
    } else {
        const char *tmp = getenv("TMPDIR");
        dir = fm_arena_printf(arena, "%s/floodmark-%s", tmp && *tmp ? tmp : "/tmp", uuid);
        spec->checkpoint_is_temporary = true;
    }
    spec->checkpoint = dir.ptr;
    return dir.ptr ? FM_OK : fm_no_memory(arena, err);
}

/* A running query must not see settings change under it: it gets copies. */
static fm_status own_environment(fm_session *s, fm_arena *arena, const fm_options *session, fm_exec_env *env,
                                 fm_error *err)
{
    fm_session_conf *conf = fm_arena_one(arena, fm_session_conf);
    fm_source_env *sources = fm_arena_one(arena, fm_source_env);
    fm_sink_env *sinks = fm_arena_one(arena, fm_sink_env);

    if (!conf || !sources || !sinks) return fm_no_memory(arena, err);
    *conf = s->conf;
    *sources = s->source_env;
    *sinks = s->sink_env;
    sources->conf = sinks->conf = env->conf = conf;
    sources->session = sinks->session = session;
    sources->corrupt_column = fm_arena_str(arena, s->source_env.corrupt_column);
    env->sources = sources;
    env->sinks = sinks;
    return sources->corrupt_column.ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status find_sink(fm_session *s, const fm_start *start, const fm_sink_type **out, fm_error *err)
{
    const char *names[64];
    char hint[FM_ONE_OF_SIZE];
    int n;

    *out = fm_sink_lookup(&s->sink_env, start->format);
    if (*out) return FM_OK;
    const fm_sink_type *const *all = fm_sinks(&n);
    for (int i = 0; i < n && i < 64; i++) names[i] = all[i]->name;
    return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "There is no sink '%.*s'.%s", FM_STR_ARG(start->format),
                   fm_str_one_of(start->format, names, n < 64 ? n : 64, hint));
}

static fm_status result_schema(const fm_plan *plan, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_field *fields = fm_arena_array(arena, fm_field, plan->n_output);
    int32_t n = 0;

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < plan->n_output; i++) {
        const fm_attr *a = &plan->output[i];
        if (!a->hidden) fields[n++] = (fm_field){a->name, a->type, a->nullable};
    }
    *out = fm_type_struct(arena, fields, n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* A streaming table has the columns of its query. Declared ones may say the same; what they would change is not passed over. */
static fm_status check_columns(const fm_type *declared, const fm_type *rows, fm_error *err)
{
    fm_strbuf text = {0};
    bool same = !declared || declared->n_fields == rows->n_fields;

    for (int32_t i = 0; declared && same && i < rows->n_fields; i++) {
        const fm_field *a = &declared->fields[i], *b = &rows->fields[i];
        same = a->nullable && fm_str_eq_ci(a->name, b->name) && fm_type_eq(a->type, b->type);
    }
    if (same) return FM_OK;
    fm_type_sql(rows, &text);
    fm_status st = fm_fail(err, FM_INVALID, "FLOODMARK_STREAMING_TABLE_COLUMNS",
                           "A streaming table has the columns of its query, %s, and others are declared. Name and cast them in the query (CAST(x AS INT) AS a) and leave "
                           "the list out. For NOT NULL, defaults and constraints CREATE the Delta table first.",
                           fm_strbuf_ok(&text) ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

/* Everything after analysis: checks, sink, checkpoint, trigger. */
static fm_status open_query(fm_session *s, const fm_plan *analyzed, const fm_start *start, fm_prepared *p, fm_error *err)
{
    fm_query_spec spec = {.exec = fm_session_exec_env(s), .on_progress = start->on_progress,
                          .on_progress_ctx = start->on_progress_ctx};
    const fm_sink_type *sink;
    fm_options *sink_options, *session;
    fm_plan *optimized;

    fm_str mode = start_option(s, start, "outputMode", "floodmark.outputMode");
    if (mode.len) FM_TRY(at_option(start, "outputMode", fm_output_mode_parse(mode, &spec.mode, err), err));
    FM_TRY(find_sink(s, start, &sink, err));
    FM_TRY(fm_streaming_check(analyzed, spec.mode, err));
    if (!(sink->modes & (1u << spec.mode))) {
        return at_option(start, "outputMode",
                         fm_fail(err, FM_INVALID, "STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
                                 "Invalid streaming output mode: %s. This output mode is not supported by the sink '%s'.",
                                 fm_output_mode_name(spec.mode), sink->name),
                         err);
    }
    fm_str name = fm_options_get(start->options, "queryName", start->name);
    p->name = spec.name = fm_arena_str(p->arena, name);
    FM_TRY(choose_checkpoint(s, start, sink, p->arena, &spec, err));
    FM_TRY(copy_options(p->arena, start->options, true, &sink_options, err));
    FM_TRY(copy_options(p->arena, &s->settings, false, &session, err));
    fm_str trigger = start_option(s, start, "trigger", "floodmark.trigger");
    FM_TRY(at_option(start, "trigger", fm_trigger_parse(trigger, &spec.trigger, err), err));
    if (start->trigger) spec.trigger = *start->trigger; /* what is overridden is wrong all the same */
    FM_TRY(own_environment(s, p->arena, session, &spec.exec, err));
    spec.session = session;
    spec.sink = (fm_sink_spec){.format = fm_arena_str(p->arena, start->format), .options = sink_options,
                               .partition_by = start->partition_by, .n_partition_by = start->n_partition_by,
                               .properties = start->properties, .comment = start->comment};
    FM_TRY(result_schema(analyzed, p->arena, &spec.sink.schema, err));
    FM_TRY(check_columns(start->columns, spec.sink.schema, err));
    if (start->makes_table && fm_format_find(start->format)) FM_TRY(fm_columns_differ(&s->conf, spec.sink.schema, analyzed->pos, err));
    if (spec.mode == FM_MODE_UPDATE) {
        int32_t *keys;
        FM_TRY(fm_result_keys(analyzed, p->arena, &keys, &spec.sink.n_key_columns, &spec.sink.missing_key, err));
        spec.sink.key_columns = keys;
    }
    FM_TRY(fm_check_own_input(spec.exec.sources, analyzed, &spec.sink, fm_str_c(spec.checkpoint), p->arena, err));
    FM_TRY(fm_optimize(p->arena, &s->conf, analyzed, &optimized, err));
    spec.plan = optimized;
    p->format = spec.sink.format;
    p->mode = spec.mode;
    p->checkpoint = fm_str_c(spec.checkpoint);
    return fm_query_open(&spec, &p->query, err);
}

/* A hint that is not known means nothing, as in Spark; one that is nearly ours is a slip of the pen, and its writer would wait in
 * vain for the rows. Views are not looked into. */
static void warn_of_hints(const fm_session *s, const fm_plan *p)
{
    static const char *const ours[] = {"ALLOWED_LATENESS", "LATE_POLICY", "LATE_ROWS", "BAD_ROWS"};
    enum { N = sizeof ours / sizeof ours[0] };
    const char *near = p->kind == FM_PLAN_HINT ? fm_str_nearest(p->name, ours, N) : NULL;

    if (near && !fm_str_eq_ci(p->name, fm_str_c(near))) {
        char line[256];
        snprintf(line, sizeof line, "there is no hint %.*s, so it has no effect. Did you mean %s?", FM_STR_ARG(p->name), near);
        s->env.warn(s->env.warn_ctx, fm_str_c(line));
    }
    for (int32_t i = 0; i < p->n_children; i++) warn_of_hints(s, p->children[i]);
}

fm_status fm_session_prepare(fm_session *s, const fm_plan *plan, const fm_start *start, fm_prepared **out, int *phase,
                             fm_error *err)
{
    static const fm_options no_options = {0};
    fm_arena *arena = fm_arena_new(0);
    fm_prepared *p = arena ? fm_arena_one(arena, fm_prepared) : NULL;
    fm_plan *analyzed;
    fm_start begun = *start;

    *out = NULL;
    *phase = 0;
    if (!p) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    p->arena = arena;
    if (!begun.options) begun.options = &no_options;
    if (s->env.warn) warn_of_hints(s, plan);
    fm_status st = fm_session_analyze(s, plan, arena, &analyzed, err);
    if (st == FM_OK) {
        *phase = 1;
        st = open_query(s, analyzed, &begun, p, err);
    }
    if (st == FM_OK) *out = p;
    else fm_prepared_free(p);
    return st;
}

void fm_prepared_free(fm_prepared *p)
{
    if (!p) return;
    fm_query_close(p->query);
    fm_arena_free(p->arena);
}

fm_status fm_session_is_stream(fm_session *s, const fm_plan *statement, bool *out, fm_error *err)
{
    fm_plan *analyzed;

    *out = statement->kind == FM_PLAN_CREATE_STREAMING_TABLE;
    if (statement->kind >= FM_PLAN_CREATE_TABLE) return FM_OK;
    fm_arena *scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_session_analyze(s, statement, scratch, &analyzed, err);
    if (st == FM_OK) *out = analyzed->streaming;
    fm_arena_free(scratch);
    return st;
}
