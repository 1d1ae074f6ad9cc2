/* sink/delta_shape.c: rows as a Delta table wants them. */
#include "sink/delta_shape.h"

#include "expr/cast.h"
#include "expr/eval.h"

typedef struct rule {
    fm_str name, sql;
    fm_eval *eval;
} rule;

struct fm_delta_shape {
    const fm_sink_env *env;
    const fm_delta_plan *plan;
    const fm_type *type;   /* of the table */
    fm_eval **defaults;    /* [type->n_fields] NULL: none */
    fm_eval **generated;   /* [type->n_fields] NULL: none */
    rule *rules;           /* [n_rules] must be true for each row */
    int32_t n_rules;
};

/* ---- Compiling -------------------------------------------------------------------------------------------------- */

static fm_status compile(const fm_delta_shape *s, fm_str sql, const fm_type *columns, const fm_type *as, fm_arena *arena, fm_eval **out, fm_error *err)
{
    fm_expr *e, *cast;

    if (!s->env->compile) {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_NO_SESSION", "The table has the SQL expression '%.*s', and nobody here can read SQL.", FM_STR_ARG(sql));
    }
    fm_status st = s->env->compile(s->env->conf, sql, columns, arena, &e, err);
    if (st != FM_OK) return fm_context(err, st, "reading the expression '%.*s' of the Delta table", FM_STR_ARG(sql));
    if (as && !fm_type_eq(e->type, as)) {
        cast = fm_expr_new(arena, FM_EXPR_CAST, e->pos);
        if (cast) cast->args = fm_arena_array(arena, fm_expr *, 1);
        if (!cast || !cast->args) return fm_no_memory(arena, err);
        cast->args[0] = e;
        cast->n_args = 1;
        cast->type = cast->cast_type = as;
        cast->nullable = cast->ansi = cast->deterministic = true;
        e = cast;
    }
    return fm_eval_new(arena, s->env->conf, e, out, err);
}

static fm_status add_rule(fm_delta_shape *s, fm_str name, fm_str sql, fm_arena *arena, fm_error *err)
{
    rule *r = &s->rules[s->n_rules++];

    r->name = name;
    r->sql = sql;
    return compile(s, sql, s->type, fm_type_bool(), arena, &r->eval, err);
}

static fm_status compile_all(fm_delta_shape *s, fm_arena *arena, fm_error *err)
{
    static const char prefix[] = "delta.constraints.";
    const fm_delta_map *configuration = &s->plan->written->configuration;
    const fm_type *none = fm_type_struct(arena, NULL, 0);

    s->defaults = fm_arena_array(arena, fm_eval *, s->type->n_fields);
    s->generated = fm_arena_array(arena, fm_eval *, s->type->n_fields);
    s->rules = fm_arena_array(arena, rule, s->type->n_fields + configuration->n + 1);
    if (!s->defaults || !s->generated || !s->rules || !none) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->type->n_fields; i++) {
        const fm_delta_field *f = &s->plan->schema->fields[i];
        const fm_type *type = s->type->fields[i].type;
        if (f->generated.ptr) FM_TRY(compile(s, f->generated, s->type, type, arena, &s->generated[i], err));
        else if (f->default_sql.ptr && s->plan->from_row[i] < 0) FM_TRY(compile(s, f->default_sql, none, type, arena, &s->defaults[i], err));
        if (f->invariant.ptr) FM_TRY(add_rule(s, s->type->fields[i].name, f->invariant, arena, err));
    }
    for (int32_t i = 0; i < configuration->n; i++) {
        fm_str key = configuration->keys[i];
        if (!fm_str_starts(key, fm_str_c(prefix)) || !configuration->values[i].ptr) continue;
        FM_TRY(add_rule(s, (fm_str){key.ptr + sizeof prefix - 1, key.len - (sizeof prefix - 1)}, configuration->values[i], arena, err));
    }
    return FM_OK;
}

fm_status fm_delta_shape_new(const fm_sink_env *env, const fm_delta_plan *plan, const fm_type *rows, fm_arena *arena, fm_delta_shape **out,
                             fm_error *err)
{
    fm_delta_shape *s = fm_arena_one(arena, fm_delta_shape);

    *out = s;
    if (!s) return fm_no_memory(arena, err);
    s->env = env;
    s->plan = plan;
    s->type = plan->schema->type;
    return compile_all(s, arena, err);
}

fm_status fm_delta_shape_require(fm_delta_shape *s, fm_str sql, fm_arena *arena, fm_error *err)
{
    return add_rule(s, (fm_str){0}, sql, arena, err); /* a rule without a name */
}

/* ---- Columns ------------------------------------------------------------------------------------------------------ */

/* A column as `to` has it: parts of structs by name, what is missing null. */
static fm_status adapt(const fm_delta_shape *s, const fm_vec *in, const fm_type *to, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_vec *children;

    if (fm_type_eq(in->type, to)) {
        *out = *in;
        out->type = to;
        return FM_OK;
    }
    if (!fm_type_is_nested(to) || in->type->id != to->id) return fm_cast_run(in, to, FM_CAST_ANSI, s->env->conf, arena, out, err);
    children = fm_arena_array(arena, fm_vec, to->n_fields);
    if (!children) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < to->n_fields; i++) {
        int32_t c = to->id == FM_TYPE_STRUCT ? fm_delta_schema_find(in->type, to->fields[i].name) : i;
        if (c >= 0) FM_TRY(adapt(s, &in->children[c], to->fields[i].type, arena, &children[i], err));
        else FM_TRY(fm_vec_nulls(&children[i], to->fields[i].type, in->len, arena, err));
    }
    *out = *in;
    out->type = to;
    out->children = children;
    return FM_OK;
}

static fm_status violated(fm_str name, fm_str sql, const fm_batch *batch, int64_t row, const fm_zone *zone, fm_error *err)
{
    fm_strbuf values = {0};

    for (int32_t i = 0; i < batch->schema->n_fields; i++) {
        fm_strbuf_printf(&values, "\n - %.*s : ", FM_STR_ARG(batch->schema->fields[i].name));
        if (fm_vec_is_null(&batch->columns[i], row)) fm_strbuf_add_c(&values, "null");
        else fm_value_text(&batch->columns[i], row, zone, &values);
    }
    fm_status st = !name.ptr ? fm_fail(err, FM_INVALID, "DELTA_REPLACE_WHERE_MISMATCH",
                                       "Written data does not conform to partial table overwrite condition or constraint '%.*s': there is a row with values:%s", FM_STR_ARG(sql),
                                       values.ptr ? values.ptr : "")
                             : fm_fail(err, FM_INVALID, "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "CHECK constraint %.*s (%.*s) violated by row with values:%s",
                           FM_STR_ARG(name), FM_STR_ARG(sql), values.ptr ? values.ptr : "");
    fm_strbuf_fini(&values);
    return st;
}

static fm_status generate(const fm_delta_shape *s, const fm_batch *batch, fm_vec *columns, const fm_run_context *run, fm_arena *arena, fm_error *err)
{
    fm_vec made;

    for (int32_t i = 0; i < s->type->n_fields; i++) {
        if (!s->generated[i]) continue;
        FM_TRY(fm_eval_run(s->generated[i], run, batch, arena, &made, err));
        if (s->plan->from_row[i] < 0) {
            columns[i] = made; /* no generated column may refer to another */
            continue;
        }
        for (int64_t k = 0; k < batch->rows; k++) {
            if (fm_vec_same(&made, k, &columns[i], k)) continue;
            fm_strbuf text = {0};
            fm_strbuf_printf(&text, "%.*s <=> %.*s", FM_STR_ARG(s->type->fields[i].name), FM_STR_ARG(s->plan->schema->fields[i].generated));
            fm_status st = violated(FM_STR("Generated Column"), fm_strbuf_str(&text), batch, k, s->env->conf->zone, err);
            fm_strbuf_fini(&text);
            return st;
        }
    }
    return FM_OK;
}

static fm_status check_rules(const fm_delta_shape *s, const fm_batch *batch, const fm_run_context *run, fm_arena *arena, fm_error *err)
{
    fm_vec holds;

    for (int32_t i = 0; i < s->n_rules; i++) {
        FM_TRY(fm_eval_run(s->rules[i].eval, run, batch, arena, &holds, err));
        for (int64_t k = 0; k < batch->rows; k++) {
            if (fm_vec_is_null(&holds, k) || !fm_vec_bool(&holds)[k]) return violated(s->rules[i].name, s->rules[i].sql, batch, k, s->env->conf->zone, err);
        }
    }
    return FM_OK;
}

fm_status fm_delta_shape_run(fm_delta_shape *s, const fm_batch *in, fm_arena *arena, const fm_batch **out, fm_error *err)
{
    fm_run_context run = {.now_us = fm_clock_now_us(s->env->clock), .watermark_us = INT64_MIN};
    fm_vec *columns = fm_arena_array(arena, fm_vec, s->type->n_fields);
    fm_batch *batch = fm_arena_one(arena, fm_batch), one_row = {.schema = s->type, .rows = in->rows};
    fm_vec made;

    if (!columns || !batch) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->type->n_fields; i++) {
        const fm_field *f = &s->type->fields[i];
        int32_t c = s->plan->from_row[i];
        if (c >= 0) {
            fm_status st = adapt(s, &in->columns[c], f->type, arena, &columns[i], err);
            if (st != FM_OK) return fm_context(err, st, "writing the column '%.*s' of the Delta table", FM_STR_ARG(f->name));
        } else if (s->defaults[i]) {
            FM_TRY(fm_eval_run(s->defaults[i], &run, &one_row, arena, &made, err));
            columns[i] = made;
        } else {
            FM_TRY(fm_vec_nulls(&columns[i], f->type, in->rows, arena, err));
        }
    }
    *batch = (fm_batch){s->type, in->rows, columns};
    FM_TRY(generate(s, batch, columns, &run, arena, err));
    FM_TRY(check_rules(s, batch, &run, arena, err));
    *out = batch;
    return FM_OK;
}
