/* plan/bad_rows.c: BAD_ROWS: records that cannot be read as they are declared leave the query, and go where the hint says.
 *
 *     PROJECT from_json(v, 'a INT').a        PROJECT  d.a
 *                                                |
 *                                            BAD_ROWS  d' in, d out: the struct without its last field
 *                                                |
 *                                            PROJECT  ..., from_json(v, 'a INT, __bad_record STRING', options) AS d', v AS v'
 *     READ kafka                             READ kafka, position_id
 *
 * A parser can keep the text of a bad record in a column of its own (columnNameOfCorruptRecord); asked with FM_BAD_REASON_OPTION, the
 * reason stands in front of it. So bad rows cost those that are good nothing. A JSON or CSV source gets such a column, too, with
 * BAD_ROWS right above it.
 *
 * Which calls: those that every row goes through (not in branches of CASE, in lambdas, behind AND), that make a struct, over rows
 * that are still those of a source, each once: no JOIN, GENERATE or stateful node in between.
 *
 * Where nobody asks, everything is as Spark has it. */
#include "plan/analyze_impl.h"

#include "expr/eval.h"

static const char record_column[] = "__bad_record";

/* --- the hint ---------------------------------------------------------------------------------------- */

fm_status fm_bad_rows_hint(fm_analyzer *an, const fm_plan *p, fm_bad_rows *out, bool *known, fm_error *err)
{
    static const char why[] = "takes 'fail', 'drop', or a format, a path, and pairs of option and value: BAD_ROWS('json', 'bad/')";
    fm_str key, value;

    *known = fm_str_eq_ci(p->name, FM_STR("bad_rows"));
    if (!*known) return FM_OK;
    out->number = an->next_node++;
    if (p->n_exprs < 1) return fm_hint_fail(p, why, err);
    FM_TRY(fm_hint_text(p, 0, why, &out->format, err));
    if (p->n_exprs == 1) {
        out->action = fm_str_eq_ci(out->format, FM_STR("fail")) ? FM_BAD_ROWS_FAIL : FM_BAD_ROWS_DROP;
        return out->action == FM_BAD_ROWS_FAIL || fm_str_eq_ci(out->format, FM_STR("drop")) ? FM_OK : fm_hint_fail(p, why, err);
    }
    out->action = FM_BAD_ROWS_KEEP;
    if (p->n_exprs % 2) return fm_hint_fail(p, why, err);
    FM_TRY(fm_hint_text(p, 1, why, &out->path, err));
    if (!out->format.len || !out->path.len) return fm_hint_fail(p, why, err);
    for (int32_t i = 2; i < p->n_exprs; i += 2) {
        FM_TRY(fm_hint_text(p, i, why, &key, err));
        FM_TRY(fm_hint_text(p, i + 1, why, &value, err));
        if (!fm_options_set(an->arena, &out->options, key, value)) return fm_no_memory(an->arena, err);
    }
    return FM_OK;
}

/* --- which calls ------------------------------------------------------------------------------------- */

enum { CALLS_MAX = 64 };

typedef struct calls {
    fm_expr *items[CALLS_MAX];
    fm_attr good[CALLS_MAX]; /* what stands for it above BAD_ROWS */
    int32_t n;
    fm_arena *arena;
} calls;

static bool is_parse(const fm_expr *e)
{
    if (e->kind != FM_EXPR_CALL || e->type->id != FM_TYPE_STRUCT) return false;
    return strcmp(e->function->name, "from_json") == 0 || strcmp(e->function->name, "from_csv") == 0;
}

static void add_call(calls *c, fm_expr *e)
{
    for (int32_t i = 0; i < c->n; i++)
        if (fm_expr_same(c->items[i], e)) return;
    if (c->n < CALLS_MAX) c->items[c->n++] = e;
}

/* The calls of an expression that every row goes through. */
static void find_calls(calls *c, fm_expr *e)
{
    int32_t sure = e->n_args; /* arguments that are always computed */

    if (is_parse(e) && !fm_expr_has(e, FM_EXPR_LAMBDA_VAR)) {
        add_call(c, e);
        return;
    }
    if (e->kind == FM_EXPR_LAMBDA || e->filter) return;
    bool first_only = e->kind == FM_EXPR_CALL && strcmp(e->function->name, "coalesce") == 0;
    if (first_only || e->kind == FM_EXPR_AND || e->kind == FM_EXPR_OR || e->kind == FM_EXPR_CASE) sure = sure > 1;
    for (int32_t i = 0; i < sure; i++) find_calls(c, e->args[i]);
}

/* Whether the rows of a plan are those of streaming sources, each once at most. */
static bool is_rows_of_sources(const fm_plan *p)
{
    switch (p->kind) {
    case FM_PLAN_READ: return p->streaming;
    case FM_PLAN_PROJECT:
    case FM_PLAN_FILTER:
    case FM_PLAN_SUBQUERY_ALIAS:
    case FM_PLAN_HINT:
    case FM_PLAN_WATERMARK:
    case FM_PLAN_BAD_ROWS:
    case FM_PLAN_UNION: break;
    default: return false;
    }
    for (int32_t i = 0; i < p->n_children; i++)
        if (!is_rows_of_sources(p->children[i])) return false;
    return true;
}

static bool note_sources(const fm_plan *p, void *ctx)
{
    static const char *const files[] = {"json", "csv", "text", "parquet"};
    fm_bad_rows *b = ctx;

    if (p->kind != FM_PLAN_READ || !p->streaming) return true;
    b->from_kafka |= fm_str_eq_ci(p->table->format, FM_STR("kafka"));
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) b->from_files |= fm_str_eq_ci(p->table->format, fm_str_c(files[i]));
    return true;
}

/* --- parsers that tell ------------------------------------------------------------------------------- */

/* The type with the record's column behind its fields. */
static const fm_type *with_record(fm_arena *arena, const fm_type *type)
{
    fm_field *fields = fm_arena_array(arena, fm_field, type->n_fields + 1);

    if (!fields) return NULL;
    if (type->n_fields) memcpy(fields, type->fields, sizeof *fields * (size_t)type->n_fields);
    fields[type->n_fields] = (fm_field){FM_STR("__bad_record"), fm_type_string(), true};
    return fm_type_struct(arena, fields, type->n_fields + 1);
}

/* Options with ours in place of the user's. DROPMALFORMED would hide what is asked for. */
static fm_status telling_options(fm_arena *arena, const fm_options *from, fm_options *out, fm_error *err)
{
    bool ok = true;

    *out = (fm_options){0};
    for (int32_t i = 0; i < from->n; i++) {
        bool drops = fm_str_eq_ci(from->items[i].key, FM_STR("mode")) && fm_str_eq_ci(from->items[i].value, FM_STR("DROPMALFORMED"));
        if (!drops) ok &= fm_options_set(arena, out, from->items[i].key, from->items[i].value);
    }
    ok &= fm_options_set(arena, out, FM_STR("columnNameOfCorruptRecord"), fm_str_c(record_column));
    ok &= fm_options_set(arena, out, fm_str_c(FM_BAD_REASON_OPTION), FM_STR("true"));
    return ok ? FM_OK : fm_no_memory(arena, err);
}

static fm_status options_of_call(fm_analyzer *an, const fm_expr *call, fm_options *out, fm_error *err)
{
    fm_options given = {0};
    fm_value value;

    if (call->n_args > 2) {
        FM_TRY(fm_eval_constant(an->arena, an->conf, call->args[2], &value, err));
        for (int32_t k = value.offsets[0]; !fm_vec_is_null(&value, 0) && k < value.offsets[1]; k++)
            if (!fm_options_set(an->arena, &given, fm_vec_str(&value.children[0], k), fm_vec_str(&value.children[1], k)))
                return fm_no_memory(an->arena, err);
    }
    return telling_options(an->arena, &given, out, err);
}

/* map('key', 'value', ...) */
static fm_status options_map(fm_analyzer *an, const fm_options *o, fm_expr **out, fm_error *err)
{
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2 * (size_t)o->n);

    if (!args) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < o->n; i++) {
        args[2 * i] = fm_expr_literal_str(an->arena, fm_type_string(), o->items[i].key);
        args[2 * i + 1] = fm_expr_literal_str(an->arena, fm_type_string(), o->items[i].value);
        if (!args[2 * i] || !args[2 * i + 1]) return fm_no_memory(an->arena, err);
    }
    return fm_call_resolve(an->arena, an->conf, FM_STR("map"), args, 2 * o->n, (fm_pos){0}, NULL, out, err);
}

/* The call that tells; NULL: its type cannot be written as a text, so it stays as it is. */
static fm_status telling_call(fm_analyzer *an, const fm_expr *call, fm_expr **out, fm_error *err)
{
    const fm_type *type = with_record(an->arena, call->type), *again = NULL;
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 3);
    fm_error ignored = FM_ERROR_INIT;
    fm_strbuf text = {0};
    fm_options options;

    *out = NULL;
    if (!type || !args) return fm_no_memory(an->arena, err);
    fm_type_text(type, &text);
    args[0] = call->args[0];
    if (fm_strbuf_ok(&text) && fm_type_parse(an->arena, fm_strbuf_str(&text), &again, &ignored) == FM_OK && fm_type_eq(again, type))
        args[1] = fm_expr_literal_str(an->arena, fm_type_string(), fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    if (!args[1]) return FM_OK;
    FM_TRY(options_of_call(an, call, &options, err));
    FM_TRY(options_map(an, &options, &args[2], err));
    return fm_call_resolve(an->arena, an->conf, fm_str_c(call->function->name), args, 3, call->pos, NULL, out, err);
}

/* --- nodes ------------------------------------------------------------------------------------------- */

/* The columns of p, and nothing that was put beneath it for us. */
static fm_status only_columns(fm_analyzer *an, const fm_plan *p, fm_plan *child, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_plan_columns(an->arena, p, 0);

    if (!exprs) return fm_no_memory(an->arena, err);
    FM_TRY(fm_plan_project(an->arena, child, exprs, p->n_output, p->pos, out, err));
    for (int32_t i = 0; i < p->n_output; i++) {
        (*out)->output[i].hidden = p->output[i].hidden;
        (*out)->output[i].qualifier = p->output[i].qualifier;
    }
    return FM_OK;
}

/* BAD_ROWS over `child`: exprs are pairs of what was parsed and of what, then the position. */
static fm_status bad_rows_node(fm_analyzer *an, fm_plan *child, const fm_bad_rows *b, fm_expr **exprs, int32_t n, fm_attr *good,
                               fm_pos pos, fm_plan **out, fm_error *err)
{
    fm_plan *node = fm_plan_over(an->arena, FM_PLAN_BAD_ROWS, child, pos);

    if (!node) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++)
        if (!exprs[i]) return fm_no_memory(an->arena, err);
    node->exprs = exprs;
    node->n_exprs = n;
    node->good = good;
    node->bad_rows = *b;
    *out = node;
    return fm_plan_finish(an->arena, node, err);
}

static fm_status tell_read(fm_analyzer *an, fm_plan *p, const fm_bad_rows *b, fm_plan **out, fm_error *err)
{
    bool parses = fm_str_eq_ci(p->table->format, FM_STR("json")) || fm_str_eq_ci(p->table->format, FM_STR("csv"));
    fm_plan *read = fm_arena_one(an->arena, fm_plan);
    fm_table_def *table = fm_arena_one(an->arena, fm_table_def);
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, 3);
    fm_attr *good = fm_arena_one(an->arena, fm_attr);

    *out = p;
    if (!parses || !p->streaming || !p->table->schema) return FM_OK;
    if (!read || !table || !exprs || !good) return fm_no_memory(an->arena, err);
    *table = *p->table;
    table->columns = NULL; /* what CREATE TABLE says of them is not asked of sources */
    table->schema = with_record(an->arena, p->table->schema);
    FM_TRY(telling_options(an->arena, &p->table->options, &table->options, err));
    *read = *p;
    read->table = table;
    read->bad_rows = *b;
    read->position_id = an->next_id++;
    read->output = fm_arena_array(an->arena, fm_attr, p->n_output + 2);
    if (!table->schema || !read->output) return fm_no_memory(an->arena, err);
    if (p->n_output) memcpy(read->output, p->output, sizeof(fm_attr) * (size_t)p->n_output);
    fm_attr *record = &read->output[read->n_output++];
    *record = (fm_attr){.id = an->next_id++, .name = fm_str_c(record_column), .type = fm_type_string(), .nullable = true, .hidden = true};
    fm_attr *position = &read->output[read->n_output++];
    *position = (fm_attr){.id = read->position_id, .name = FM_STR("__source"), .type = fm_type_string(), .nullable = true, .hidden = true};
    exprs[0] = fm_attr_expr(an->arena, record);
    exprs[1] = fm_expr_literal_null(an->arena, fm_type_string());
    exprs[2] = fm_attr_expr(an->arena, position);
    FM_TRY(bad_rows_node(an, read, b, exprs, 3, good, p->pos, out, err));
    return only_columns(an, p, *out, out, err);
}

typedef struct replacing {
    fm_analyzer *an;
    const calls *calls;
} replacing;

static fm_status replace_call(void *ctx, fm_expr **e, fm_error *err)
{
    const replacing *r = ctx;

    if (!is_parse(*e)) return FM_OK;
    for (int32_t i = 0; i < r->calls->n; i++) {
        if (!fm_expr_same(r->calls->items[i], *e)) continue;
        *e = fm_attr_expr(r->an->arena, &r->calls->good[i]);
        return *e ? FM_OK : fm_no_memory(r->an->arena, err);
    }
    return FM_OK;
}

static fm_status replace_in(fm_analyzer *an, const calls *c, fm_expr **from, int32_t n, fm_expr ***out, fm_error *err)
{
    replacing r = {an, c};

    *out = fm_arena_array(an->arena, fm_expr *, n);
    if (!*out) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) FM_TRY(fm_expr_rewrite(an->arena, from[i], replace_call, &r, &(*out)[i], err));
    return FM_OK;
}

static fm_status tell_node(fm_analyzer *an, fm_plan *p, const fm_bad_rows *b, fm_plan **out, fm_error *err);

/* The child of p, with BAD_ROWS above it that takes the calls out. Calls that cannot tell leave the list. */
static fm_status tell_child(fm_analyzer *an, fm_plan *p, const fm_bad_rows *b, calls *c, fm_plan **out, fm_error *err)
{
    fm_plan *child;
    fm_attr position = {0};
    int32_t n_told = 0;

    FM_TRY(fm_carry_position(an, p->children[0], &child, &position, err));
    fm_expr **columns = fm_plan_columns(an->arena, child, 2 * c->n), **exprs = fm_arena_array(an->arena, fm_expr *, 2 * (size_t)c->n + 1);
    fm_attr *good = fm_arena_array(an->arena, fm_attr, c->n);
    if (!columns || !exprs || !good) return fm_no_memory(an->arena, err);
    int32_t n = child->n_output;
    for (int32_t i = 0; i < c->n; i++) {
        fm_expr *call;
        FM_TRY(telling_call(an, c->items[i], &call, err));
        if (!call) continue;
        c->items[n_told] = c->items[i];
        good[n_told] = c->good[n_told] = (fm_attr){.id = an->next_id++, .name = FM_STR("__parsed"), .type = c->items[i]->type, .nullable = true, .hidden = true};
        columns[n++] = exprs[2 * n_told] = fm_alias_expr(an->arena, call, FM_STR("__parsed"), an->next_id++);
        columns[n++] = exprs[2 * n_told + 1] = fm_alias_expr(an->arena, call->args[0], FM_STR("__text"), an->next_id++);
        if (!columns[n - 1] || !columns[n - 2]) return fm_no_memory(an->arena, err);
        n_told++;
    }
    c->n = n_told;
    *out = p->children[0];
    if (!n_told) return FM_OK;
    fm_plan *project;
    FM_TRY(fm_plan_project(an->arena, child, columns, n, p->pos, &project, err));
    for (int32_t i = 0; i < n; i++) project->output[i].hidden = i >= child->n_output || child->output[i].hidden;
    for (int32_t i = 0; i < 2 * n_told; i++) exprs[i] = fm_attr_expr(an->arena, &project->output[child->n_output + i]);
    exprs[2 * n_told] = position.id ? fm_attr_expr(an->arena, &position) : fm_expr_literal_null(an->arena, fm_type_string());
    /* A text that is parsed may itself come out of another. */
    FM_TRY(tell_node(an, project, b, &project, err));
    return bad_rows_node(an, project, b, exprs, 2 * n_told + 1, good, p->pos, out, err);
}

/* A node whose children are done. */
static fm_status tell_node(fm_analyzer *an, fm_plan *p, const fm_bad_rows *b, fm_plan **out, fm_error *err)
{
    bool takes = p->kind == FM_PLAN_PROJECT || p->kind == FM_PLAN_FILTER || p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_TIME_WINDOW ||
                 p->kind == FM_PLAN_GENERATE || p->kind == FM_PLAN_WATERMARK;
    calls c = {.arena = an->arena};
    fm_plan *child;

    *out = p;
    if (p->kind == FM_PLAN_READ) return tell_read(an, p, b, out, err);
    if (!takes || !p->streaming || !is_rows_of_sources(p->children[0])) return FM_OK;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        const fm_expr *bare = fm_expr_unalias(p->exprs[i]);
        if (p->kind == FM_PLAN_PROJECT && fm_str_eq(p->exprs[i]->name, FM_STR("__parsed"))) { /* ours: what is within may be asked, too */
            for (int32_t k = 0; k < bare->n_args; k++) find_calls(&c, bare->args[k]);
        } else {
            find_calls(&c, p->exprs[i]);
        }
    }
    for (int32_t i = 0; i < p->n_group_exprs; i++) find_calls(&c, p->group_exprs[i]);
    if (c.n == 0) return FM_OK;
    FM_TRY(tell_child(an, p, b, &c, &child, err));
    if (c.n == 0) return FM_OK;
    fm_plan *copy;
    FM_TRY(fm_plan_with_children(an->arena, p, &child, &copy, err));
    FM_TRY(replace_in(an, &c, p->exprs, p->n_exprs, &copy->exprs, err));
    FM_TRY(replace_in(an, &c, p->group_exprs, p->n_group_exprs, &copy->group_exprs, err));
    *out = copy;
    FM_TRY(fm_plan_finish(an->arena, copy, err));
    for (int32_t i = 0; p->kind == FM_PLAN_PROJECT && i < p->n_output; i++) {
        copy->output[i].hidden = p->output[i].hidden;
        copy->output[i].qualifier = p->output[i].qualifier;
    }
    return p->kind == FM_PLAN_PROJECT || p->kind == FM_PLAN_AGGREGATE ? FM_OK : only_columns(an, p, copy, out, err);
}

static fm_status tell(fm_analyzer *an, fm_plan *p, const fm_bad_rows *b, fm_plan **out, fm_error *err)
{
    fm_plan **children = fm_arena_array(an->arena, fm_plan *, p->n_children);
    fm_bad_rows here;

    if (!children) return fm_no_memory(an->arena, err);
    if (p->kind == FM_PLAN_HINT && p->bad_rows.action) {
        here = p->bad_rows;
        fm_plan_walk(p, note_sources, &here);
        b = &here;
    }
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(tell(an, p->children[i], b, &children[i], err));
    FM_TRY(fm_plan_with_children(an->arena, p, children, out, err));
    return b ? tell_node(an, *out, b, out, err) : FM_OK;
}

fm_status fm_apply_bad_rows(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_error *err) { return tell(an, plan, NULL, out, err); }
