/* plan/analyze_window.c: window(), session_window(), window_time(), and the nodes that expressions want below
 * their own.
 *
 * Rule  Spark, TimeWindowing, SessionWindowing, ResolveWindowTime: a node with one distinct window call gets a
 *       child that makes the column `window` (or `session_window`); the call, and that name, then mean the
 *       column. The event-time tag is handed on only by a bare column. */
#include "plan/analyze_impl.h"

#include <inttypes.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/coerce.h"

bool fm_is_window_call(const fm_expr *e)
{
    return e->kind == FM_EXPR_UNRESOLVED_CALL && !e->has_over &&
           (fm_str_eq_ci(e->name, FM_STR("window")) || fm_str_eq_ci(e->name, FM_STR("session_window")));
}

static bool is_session(const fm_expr *call) { return fm_str_eq_ci(call->name, FM_STR("session_window")); }

typedef struct window_search {
    fm_scope *scope;
    fm_status st;
    fm_error *err;
} window_search;

static bool begins(const fm_error *err, const char *condition)
{
    return strncmp(err->condition, condition, strlen(condition)) == 0;
}

/* Names and types are complained of in the order of the query, when the node is resolved; a duration that is none
 * at once. */
static bool comes_again(const fm_error *err)
{
    return begins(err, "UNRESOLVED") || begins(err, "DATATYPE_MISMATCH") || begins(err, "AMBIGUOUS") ||
           begins(err, "FIELD_NOT_FOUND") || begins(err, "_LEGACY_ERROR_TEMP_3101");
}

static bool resolve_if_window(const fm_expr *e, void *ctx)
{
    window_search *search = ctx;
    fm_error local = FM_ERROR_INIT;
    fm_expr *ignored;

    if (!fm_is_window_call(e)) return true;
    fm_status st = fm_resolve_expr(search->scope, (fm_expr *)(uintptr_t)e, &ignored, &local);
    search->scope->depth = 0;
    if (st == FM_OK || (st == FM_INVALID && comes_again(&local))) return true;
    search->st = st;
    if (search->err) *search->err = local;
    return false;
}

fm_status fm_find_windows(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_error *err)
{
    window_search search = {.scope = s, .err = err};

    for (int32_t i = 0; i < n && search.st == FM_OK; i++) fm_expr_walk(exprs[i], resolve_if_window, &search);
    return search.st;
}

static fm_status fail_duration(const fm_expr *call, const char *what, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "FLOODMARK_WINDOW_DURATION", call->pos.line, call->pos.column,
                      "The %s of %.*s() must be a constant: a text as '10 minutes', an interval, or a whole number of "
                      "microseconds.",
                      what, FM_STR_ARG(call->name));
}

static fm_status text_duration(const fm_expr *call, fm_str text, const char *what, int64_t *us, fm_error *err)
{
    fm_interval x;

    if (fm_text_to_interval(text, &x, err) != FM_OK) {
        if (err->status != FM_INVALID) return err->status;
        return fm_fail_at(err, FM_INVALID, "CANNOT_PARSE_INTERVAL", call->pos.line, call->pos.column,
                          "Unable to parse '%.*s' as the %s of %.*s(): write a number and a unit, as '10 minutes'.",
                          FM_STR_ARG(text), what, FM_STR_ARG(call->name));
    }
    if (x.months) {
        return fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_3231", call->pos.line, call->pos.column,
                          "Intervals greater than a month is not supported (%.*s): months differ in length. Write the "
                          "%s in days.",
                          FM_STR_ARG(text), what);
    }
    if (!fm_mul_i64(x.days, FM_US_PER_DAY, us) || !fm_add_i64(*us, x.us, us)) {
        return fm_fail_at(err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW", call->pos.line, call->pos.column,
                          "The %s '%.*s' is longer than 64 bits of microseconds hold.", what, FM_STR_ARG(text));
    }
    return FM_OK;
}

static fm_status read_duration(fm_analyzer *an, const fm_expr *call, fm_expr *arg, const char *what, int64_t *us,
                               fm_error *err)
{
    FM_TRY(fm_fold(an, fm_expr_unalias(arg), &arg, err));
    if (arg->kind != FM_EXPR_LITERAL || fm_vec_is_null(&arg->value, 0)) return fail_duration(call, what, err);
    switch (arg->type->id) {
    case FM_TYPE_STRING: return text_duration(call, fm_vec_str(&arg->value, 0), what, us, err);
    case FM_TYPE_I32: *us = fm_vec_i32(&arg->value)[0]; return FM_OK;
    case FM_TYPE_I64:
    case FM_TYPE_INTERVAL_DT: *us = fm_vec_i64(&arg->value)[0]; return FM_OK;
    default: return fail_duration(call, what, err);
    }
}

static fm_status fail_value(const fm_expr *call, const char *what, int64_t us, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", call->pos.line, call->pos.column,
                      "Cannot resolve \"%.*s\" due to data type mismatch: The `%s` must be between (0, "
                      "9223372036854775807L] (current value = %" PRId64 "L).",
                      FM_STR_ARG(call->name), what, us);
}

static fm_status fail_constraint(const fm_expr *call, const char *left, int64_t x, const char *op, const char *right,
                                 int64_t y, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION", call->pos.line,
                      call->pos.column,
                      "Cannot resolve \"%.*s\" due to data type mismatch: The `%s` (%" PRId64 "L) must be %s the `%s` "
                      "(%" PRId64 "L).",
                      FM_STR_ARG(call->name), left, x, op, right, y);
}

/* Windows start at start + n * slide, so that a start of a slide or more means what is left of it: rows of the
 * conformance corpus beside our hints have such. Spark, and so a query without hints, refuses it. */
static fm_status check_window(const fm_analyzer *an, const fm_expr *call, fm_window_spec *w, fm_error *err)
{
    int64_t start = w->start_us < 0 ? -(w->start_us + 1) + 1 : w->start_us;

    if (w->duration_us <= 0) return fail_value(call, "window_duration", w->duration_us, err);
    if (w->slide_us <= 0) return fail_value(call, "slide_duration", w->slide_us, err);
    if (w->slide_us > w->duration_us) {
        return fail_constraint(call, "slide_duration", w->slide_us, "<=", "window_duration", w->duration_us, err);
    }
    if (w->duration_us / w->slide_us > FM_WINDOWS_OF_ROW_MAX) {
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_TOO_MANY_WINDOWS", call->pos.line, call->pos.column,
                          "Each row would stand in %" PRId64 " windows; %d is the most. Slide by a longer step.",
                          w->duration_us / w->slide_us, FM_WINDOWS_OF_ROW_MAX);
    }
    if (an->beyond_spark) w->start_us %= w->slide_us;
    else if (start >= w->slide_us) {
        return fail_constraint(call, "abs(start_time)", start, "<", "slide_duration", w->slide_us, err);
    }
    return FM_OK;
}

static fm_status read_spec(fm_analyzer *an, const fm_expr *call, fm_expr **args, fm_window_spec *w, fm_error *err)
{
    FM_TRY(read_duration(an, call, args[1], "duration", &w->duration_us, err));
    w->slide_us = w->duration_us;
    w->start_us = 0;
    if (call->n_args > 2) FM_TRY(read_duration(an, call, args[2], "slide", &w->slide_us, err));
    if (call->n_args > 3) FM_TRY(read_duration(an, call, args[3], "start", &w->start_us, err));
    if (w->start_us == INT64_MIN) return fail_duration(call, "start", err);
    return check_window(an, call, w, err);
}

/* A constant text is read now; another is read row by row. */
static fm_status read_gap(fm_analyzer *an, const fm_expr *call, fm_expr *arg, fm_expr **out, fm_error *err)
{
    int64_t us;

    FM_TRY(fm_fold(an, fm_expr_unalias(arg), &arg, err));
    *out = arg;
    if (arg->type->id == FM_TYPE_INTERVAL_DT) return FM_OK;
    if (arg->type->id != FM_TYPE_STRING) {
        fm_strbuf type = {0};
        fm_type_sql(arg->type, &type);
        fm_status st = fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_1040", call->pos.line, call->pos.column,
                                  "The gap of session_window() must be an interval or a text as '5 minutes', but it "
                                  "has the type %s.",
                                  type.ptr ? type.ptr : "");
        fm_strbuf_fini(&type);
        return st;
    }
    if (arg->kind != FM_EXPR_LITERAL || fm_vec_is_null(&arg->value, 0)) return FM_OK;
    FM_TRY(text_duration(call, fm_vec_str(&arg->value, 0), "gap", &us, err));
    *out = fm_expr_literal_i64(an->arena, fm_type_simple(FM_TYPE_INTERVAL_DT), us);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static fm_status check_count(const fm_expr *call, fm_error *err)
{
    int32_t most = is_session(call) ? 2 : 4;

    if (call->n_args >= 2 && call->n_args <= most) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", call->pos.line, call->pos.column,
                      "The `%.*s` requires %s parameters but the actual number is %d. Usage: %s.",
                      FM_STR_ARG(call->name), is_session(call) ? "2" : "[2, 3, 4]", (int)call->n_args,
                      is_session(call) ? "session_window(time, gap)" : "window(time, duration[, slide[, start]])");
}

/* The time of a window call: a window column stands for its window_time(). */
static fm_status read_time(fm_scope *s, const fm_expr *call, fm_expr *arg, fm_expr **out, fm_error *err)
{
    fm_strbuf type = {0};

    *out = arg = fm_expr_unalias(arg);
    if (fm_type_is_timestamp(arg->type)) return FM_OK;
    if (arg->type->id == FM_TYPE_STRUCT) return fm_resolve_window_time(s, call, arg, out, err);
    if (fm_type_implicit(s->an->conf, arg->type, fm_type_timestamp())) {
        return fm_expr_cast(s->an->arena, s->an->conf, arg, fm_type_timestamp(), false, false, out, err);
    }
    fm_type_sql(arg->type, &type);
    fm_status st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", call->pos.line,
                              call->pos.column,
                              "Cannot resolve \"%.*s\" due to data type mismatch: The first parameter requires the "
                              "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\") type, however it has the type \"%s\".",
                              FM_STR_ARG(call->name), type.ptr ? type.ptr : "");
    fm_strbuf_fini(&type);
    return st;
}

static bool same_window(const fm_plan *a, const fm_plan *b)
{
    if (a->kind != b->kind || !fm_expr_same(a->exprs[0], b->exprs[0])) return false;
    if (a->kind == FM_PLAN_SESSION_WINDOW) return fm_expr_same(a->exprs[1], b->exprs[1]);
    return a->window.duration_us == b->window.duration_us && a->window.slide_us == b->window.slide_us &&
           a->window.start_us == b->window.start_us;
}

static fm_status new_window(fm_analyzer *an, fm_plan *window, fm_below *below, fm_error *err)
{
    bool session = window->kind == FM_PLAN_SESSION_WINDOW;
    const fm_type *type = fm_type_window(an->arena, window->exprs[0]->type);

    if (!type) return fm_no_memory(an->arena, err);
    window->window_id = an->next_id++;
    below->window = window;
    below->window_attr = (fm_attr){.id = window->window_id, .type = type,
                                   .name = session ? FM_STR("session_window") : FM_STR("window")};
    return FM_OK;
}

/* What is wrong with the values of a window call is said only when the rest of the node is right: as Spark,
 * for which the name `window` then means nothing. */
static fm_status keep_refusal(fm_analyzer *an, fm_below *below, fm_status st, fm_error *err)
{
    if (below->refusal) return FM_OK;
    below->refusal = fm_arena_one(an->arena, fm_error);
    if (!below->refusal) return fm_no_memory(an->arena, err);
    if (err) *below->refusal = *err;
    below->refusal->status = st;
    return FM_OK;
}

fm_status fm_resolve_window_call(fm_scope *s, const fm_expr *call, fm_expr **args, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_below *below = s->below;
    fm_plan *w = fm_plan_new(an->arena, is_session(call) ? FM_PLAN_SESSION_WINDOW : FM_PLAN_TIME_WINDOW, call->pos);
    fm_error local = FM_ERROR_INIT;

    FM_TRY(check_count(call, err));
    if (!below) {
        return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_EXPR_FOR_OPERATOR", call->pos.line, call->pos.column,
                          "%.*s() is not allowed in %s: make the window column in a sub-query, and name it here.",
                          FM_STR_ARG(call->name), s->clause);
    }
    if (w) w->exprs = fm_arena_array(an->arena, fm_expr *, 2);
    if (!w || !w->exprs) return fm_no_memory(an->arena, err);
    w->n_exprs = is_session(call) ? 2 : 1;
    FM_TRY(read_time(s, call, args[0], &w->exprs[0], err));
    fm_status st = is_session(call) ? read_gap(an, call, args[1], &w->exprs[1], &local)
                                    : read_spec(an, call, args, &w->window, &local);
    fm_attr stand_in = {.name = call->name, .type = fm_type_window(an->arena, w->exprs[0]->type)};
    if (st == FM_OK && below->window && !same_window(below->window, w)) {
        return fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_1039", call->pos.line, call->pos.column,
                          "Multiple time/session window expressions would result in a cartesian product of rows, "
                          "therefore they are currently not supported.");
    }
    if (st == FM_OK && !below->window) FM_TRY(new_window(an, w, below, err));
    if (st != FM_OK && !begins(&local, "DATATYPE_MISMATCH")) {
        if (err) *err = local;
        return st;
    }
    if (st != FM_OK) FM_TRY(keep_refusal(an, below, st, &local));
    *out = fm_attr_expr(an->arena, st == FM_OK ? &below->window_attr : &stand_in);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static fm_status fail_no_window(const fm_scope *s, const fm_expr *call, const fm_expr *arg, fm_error *err)
{
    fm_strbuf text = {0};

    (void)s;
    fm_expr_sql(arg, &text);
    fm_status st = fm_fail_at(err, FM_INVALID,
                              arg->type->id == FM_TYPE_STRUCT ? "_LEGACY_ERROR_TEMP_3101"
                                                              : "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", call->pos.line, call->pos.column,
                              "%s is not a window column: only the bare column that window() or session_window() "
                              "made has a window time.",
                              text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_resolve_window_time(fm_scope *s, const fm_expr *call, fm_expr *arg, fm_expr **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_below *b = s->below;
    fm_expr *plain;

    arg = fm_expr_unalias(arg);
    if (arg->kind != FM_EXPR_ATTRIBUTE || !arg->type->is_window) return fail_no_window(s, call, arg, err);
    if (s->aggregates && !s->in_aggregate && !s->in_window && call->kind == FM_EXPR_UNRESOLVED_CALL &&
        fm_str_eq_ci(call->name, FM_STR("window_time")))
        return fm_fail_at(err, FM_INVALID, "MISSING_AGGREGATION", call->pos.line, call->pos.column,
                          "window_time(%.*s) is computed below the aggregation, where it is neither a group nor in an "
                          "aggregate function: take it of the window column of a sub-query that aggregates.",
                          FM_STR_ARG(arg->name));
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 1);
    if (!args) return fm_no_memory(an->arena, err);
    args[0] = arg;
    FM_TRY(fm_call_resolve(an->arena, an->conf, FM_STR("window_time"), args, 1, call->pos, NULL, &plain, err));
    *out = plain;
    if (!b || !fm_attr_find(s->attrs, s->n_attrs, arg->attr_id)) return FM_OK;
    for (int32_t i = 0; i < b->n_times; i++) {
        if (!fm_expr_same(b->times[i]->args[0], plain)) continue;
        fm_attr known = fm_attr_of(b->times[i], NULL, 0);
        *out = fm_attr_expr(an->arena, &known);
        return *out ? FM_OK : fm_no_memory(an->arena, err);
    }
    fm_str name = fm_arena_printf(an->arena, "window_time(%.*s)", FM_STR_ARG(arg->name));
    fm_expr *alias = name.ptr ? fm_alias_expr(an->arena, plain, name, an->next_id++) : NULL;
    if (!alias || !FM_GROW(an->arena, b->times, b->n_times, b->cap_times)) return fm_no_memory(an->arena, err);
    b->times[b->n_times++] = alias;
    fm_attr column = fm_attr_of(alias, NULL, 0);
    *out = fm_attr_expr(an->arena, &column);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static fm_status put_times(fm_analyzer *an, const fm_below *below, fm_plan **child, fm_error *err)
{
    fm_expr **exprs = fm_plan_columns(an->arena, *child, below->n_times);
    int32_t n = (*child)->n_output;

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < below->n_times; i++) exprs[n + i] = below->times[i];
    return fm_plan_project(an->arena, *child, exprs, n + below->n_times, below->times[0]->pos, child, err);
}

static fm_status put_generator(fm_analyzer *an, const fm_made_rows *made, fm_plan **child, fm_error *err)
{
    fm_plan *g = fm_plan_over(an->arena, FM_PLAN_GENERATE, *child, made->generator->pos);
    int32_t n = (*child)->n_output;

    if (g) {
        g->exprs = fm_arena_array(an->arena, fm_expr *, 1);
        g->output = fm_arena_array(an->arena, fm_attr, n + made->n);
    }
    if (!g || !g->exprs || !g->output) return fm_no_memory(an->arena, err);
    g->exprs[0] = made->generator;
    g->n_exprs = 1;
    if (n) memcpy(g->output, (*child)->output, sizeof(fm_attr) * (size_t)n);
    memcpy(g->output + n, made->columns, sizeof(fm_attr) * (size_t)made->n);
    g->n_output = n + made->n;
    g->generator_first = n;
    *child = g;
    return fm_plan_finish(an->arena, g, err);
}

static fm_status put_over(fm_analyzer *an, const fm_below *below, fm_plan **child, fm_error *err)
{
    fm_plan *p = fm_plan_over(an->arena, FM_PLAN_OVER, *child, below->overs[0]->pos);

    if (!p) return fm_no_memory(an->arena, err);
    p->exprs = below->overs;
    p->n_exprs = below->n_overs;
    *child = p;
    return fm_plan_finish(an->arena, p, err);
}

static fm_status put_window(fm_analyzer *an, const fm_below *below, fm_plan **child, fm_error *err)
{
    fm_plan *w = fm_plan_over(an->arena, below->window->kind, *child, below->window->pos);

    if (!w) return fm_no_memory(an->arena, err);
    w->exprs = below->window->exprs;
    w->n_exprs = below->window->n_exprs;
    w->window = below->window->window;
    w->window_id = below->window->window_id;
    *child = w;
    return fm_plan_finish(an->arena, w, err);
}

/* No row leaves the value null. */
static fm_status put_subquery(fm_analyzer *an, fm_plan *subquery, fm_plan **child, fm_error *err)
{
    fm_plan *join = fm_plan_new(an->arena, FM_PLAN_JOIN, subquery->pos);

    if (join) join->children = fm_arena_array(an->arena, fm_plan *, 2);
    if (!join || !join->children) return fm_no_memory(an->arena, err);
    join->children[0] = *child;
    join->children[1] = subquery;
    join->n_children = 2;
    join->join_type = FM_JOIN_LEFT;
    *child = join;
    return fm_plan_finish(an->arena, join, err);
}

fm_status fm_put_below(fm_analyzer *an, const fm_below *below, fm_plan **child, fm_error *err)
{
    if (below->refusal) {
        if (err) *err = *below->refusal;
        return below->refusal->status;
    }
    for (int32_t i = 0; i < below->n_subqueries; i++) FM_TRY(put_subquery(an, below->subqueries[i], child, err));
    if (below->n_times) FM_TRY(put_times(an, below, child, err));
    for (int32_t i = 0; i < below->n_generators; i++) FM_TRY(put_generator(an, &below->generators[i], child, err));
    if (below->window) FM_TRY(put_window(an, below, child, err));
    if (below->n_overs) FM_TRY(put_over(an, below, child, err));
    return FM_OK;
}
