/* engine/execute.c: statements that start no stream. */
#include "engine/insert_plain.h"

/* The last part of a name; "default.t" is t. Deeper names have no catalog to be in. */
static fm_status single_name(const fm_plan *p, fm_str *out, fm_error *err)
{
    bool fine = p->n_name_parts == 1 || (p->n_name_parts == 2 && fm_str_eq_ci(p->name_parts[0], FM_STR("default")));

    if (!fine) {
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_NAME", p->pos.line, p->pos.column,
                          "A table or view has a name of one part here: there is one catalog with one schema, 'default'.");
    }
    *out = p->name_parts[p->n_name_parts - 1];
    return FM_OK;
}

static fm_status run_batch(fm_session *s, const fm_plan *plan, fm_result *r, fm_error *err)
{
    fm_plan *analyzed, *optimized;
    fm_exec *exec = NULL;
    fm_exec_result ran;
    fm_exec_env env = fm_session_exec_env(s);
    fm_run_context context = {.now_us = fm_clock_now_us(s->env.clock), .watermark_us = INT64_MIN};
    fm_emit emit = {.ctx = r, .push = fm_result_push};

    FM_TRY(fm_session_analyze(s, plan, r->arena, &analyzed, err));
    fm_field *fields = fm_arena_array(r->arena, fm_field, analyzed->n_output);
    if (!fields) return fm_no_memory(r->arena, err);
    for (int32_t i = 0; i < analyzed->n_output; i++) {
        const fm_attr *a = &analyzed->output[i];
        fields[i] = (fm_field){a->name, a->type, a->nullable};
    }
    r->schema = fm_type_struct(r->arena, fields, analyzed->n_output);
    if (!r->schema) return fm_no_memory(r->arena, err);
    FM_TRY(fm_optimize(r->arena, &s->conf, analyzed, &optimized, err));
    FM_TRY(fm_exec_open(&env, optimized, FM_MODE_COMPLETE, NULL, &emit, 0, &exec, err));
    fm_status st = fm_exec_run(exec, &context, NULL, NULL, NULL, r->arena, &ran, err);
    fm_exec_close(exec);
    return st;
}

/* Rule: Spark: the partition columns of a table of files stand behind the others. */
static fm_status partitions_last(fm_session *s, fm_table_def *def, fm_error *err)
{
    int32_t n = 0;

    if (!def->schema || !def->n_partition_by) return FM_OK;
    fm_field *fields = fm_arena_array(s->arena, fm_field, def->schema->n_fields);
    if (!fields) return fm_no_memory(s->arena, err);
    for (int last = 0; last < 2; last++) {
        for (int32_t i = 0; i < def->schema->n_fields; i++) {
            bool partition = false;
            for (int32_t k = 0; k < def->n_partition_by; k++) partition |= fm_str_eq_ci(def->partition_by[k], def->schema->fields[i].name);
            if (partition == last) fields[n++] = def->schema->fields[i];
        }
    }
    def->schema = fm_type_struct(s->arena, fields, n);
    return def->schema ? FM_OK : fm_no_memory(s->arena, err);
}

static fm_status create_table(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    fm_table_def def = *p->table;
    const fm_source_type *type = fm_source_lookup(&s->source_env, def.format);

    if (fm_str_eq(def.format, FM_STR("delta"))) return fm_session_create_delta(s, p, r, err);
    FM_TRY(single_name(p, &def.name, err));
    if (p->if_not_exists && fm_session_find(s, def.name)) return FM_OK;
    if (!type && def.format.len == 0) {
        return fm_fail_at(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", p->pos.line, p->pos.column,
                          "Say what table %.*s is made of: USING delta (kept in the warehouse folder), or USING json, csv, parquet, kafka, ... OPTIONS (...).",
                          FM_STR_ARG(def.name));
    }
    if (!type) {
        const char *names[64];
        char hint[FM_ONE_OF_SIZE];
        int n;
        const fm_source_type *const *all = fm_sources(&n);
        for (int i = 0; i < n && i < 64; i++) names[i] = all[i]->name;
        return fm_fail_at(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", p->pos.line, p->pos.column,
                          "There is no data source '%.*s'.%s", FM_STR_ARG(def.format),
                          fm_str_one_of(def.format, names, n < 64 ? n : 64, hint));
    }
    FM_TRY(partitions_last(s, &def, err));
    FM_TRY(fm_session_place_table(s, &def, err));
    if (p->n_children) FM_TRY(fm_session_create_plain_as(s, p, &def, r, err));
    /* What can be said now is said now: options, and a schema that is fixed. An inferred one waits for its use, so that
     * a table may be declared before its files are there. */
    if (!def.schema && (!type->can_batch || type->fixed_schema)) {
        FM_TRY(type->schema(&s->source_env, &def, true, s->arena, &def.schema, err));
    } else if (def.schema) {
        const fm_type *checked;
        fm_error why = FM_ERROR_INIT;
        fm_status st = type->schema(&s->source_env, &def, type->can_stream, s->arena, &checked, &why);
        /* A folder that is not there yet may be made by an INSERT; who reads it before is told. */
        bool is_missing = st == FM_NOT_FOUND && strcmp(why.condition, "PATH_NOT_FOUND") == 0;
        if (st != FM_OK && !is_missing) {
            if (err) *err = why;
            return st;
        }
        if (!is_missing) def.schema = checked;
    }
    return fm_session_add_table(s, &def, false, p->or_replace, err);
}

/* A view keeps its unresolved plan; the plan must outlive the statement. */
static fm_status create_view(fm_session *s, const fm_plan *p, fm_error *err)
{
    fm_str name;
    fm_plan *analyzed;

    FM_TRY(single_name(p, &name, err));
    if (p->if_not_exists && fm_session_find(s, name)) return FM_OK;
    fm_arena *scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_session_analyze(s, p->children[0], scratch, &analyzed, err); /* errors come now, not at use */
    fm_arena_free(scratch);
    if (st != FM_OK) return st;
    return fm_session_add_view(s, name, p->children[0], p->or_replace || p->temporary, err);
}

static fm_status drop(fm_session *s, const fm_plan *p, fm_error *err)
{
    fm_str name;

    FM_TRY(single_name(p, &name, err));
    bool is_view = fm_str_eq_ci(p->what, FM_STR("VIEW"));
    return is_view ? fm_session_drop(s, name, true, p->if_exists, err) : fm_session_drop_table(s, name, p->if_exists, err);
}

static fm_status set(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    static const char *const names[] = {"key", "value"};
    const fm_option *o = p->options.n ? &p->options.items[0] : NULL;

    if (fm_str_eq(p->what, FM_STR("RESET"))) return fm_session_reset(s, o ? o->key : (fm_str){"", 0}, err);
    if (!o || !o->value.ptr) return fm_session_show(s, p, r, err);
    FM_TRY(fm_session_set(s, o->key, o->value, err));
    fm_str cells[2] = {o->key, o->value};
    return fm_result_strings(r, names, 2, cells, 1, err);
}

static fm_status execute(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    switch (p->kind) {
    case FM_PLAN_CREATE_TABLE: return create_table(s, p, r, err);
    case FM_PLAN_CREATE_VIEW: return create_view(s, p, err);
    case FM_PLAN_DROP: return drop(s, p, err);
    case FM_PLAN_SET: return set(s, p, r, err);
    case FM_PLAN_INSERT: return fm_session_insert(s, p, r, err);
    case FM_PLAN_UPDATE:
    case FM_PLAN_DELETE:
    case FM_PLAN_MERGE: return fm_session_change(s, p, r, err);
    case FM_PLAN_ALTER_TABLE: return fm_session_alter(s, p, err);
    case FM_PLAN_MAINTAIN: return fm_session_maintain(s, p, r, err);
    case FM_PLAN_EXPLAIN:
    case FM_PLAN_SHOW:
    case FM_PLAN_DESCRIBE: return fm_session_show(s, p, r, err);
    case FM_PLAN_CREATE_STREAMING_TABLE:
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_STARTS_A_STREAM", p->pos.line, p->pos.column,
                          "CREATE STREAMING TABLE starts a stream: run the file with 'floodmark run'.");
    default: return run_batch(s, p, r, err);
    }
}

fm_status fm_session_execute(fm_session *s, const fm_plan *statement, fm_result **out, fm_error *err)
{
    fm_result *r = fm_result_new(err);

    *out = NULL;
    if (!r) return FM_LIMIT;
    fm_status st = fm_session_stopped(s, err);
    if (st == FM_OK) st = execute(s, statement, r, err);
    if (st == FM_OK) *out = r;
    else fm_result_free(r);
    return st;
}
