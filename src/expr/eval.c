/* expr/eval.c: the evaluator: walks a compiled tree once per batch and calls one kernel per node.
 *
 * A frame says which rows a subtree is evaluated over. The outermost is the batch. A branch that can fail
 * gets a frame of the rows that need it: its columns are gathered from the frame around it, once, when first
 * asked for. A lambda gets a frame with its parameters. So kernels only ever see dense vectors.
 *
 *     batch frame  0 1 2 3 4 5 6 7        CASE WHEN v <> 0 THEN 10 / v END
 *     condition    1 0 1 1 0 0 1 1
 *     then frame   0   2 3     6 7        10 / v runs over 5 lanes
 *     scattered    x . x x . . x x
 *
 * Branches that cannot fail run over all rows and are blended: cheaper than gathering. */
#include "expr/eval.h"

#include "base/limits.h"
#include "expr/cast.h"
#include "expr/eval_internal.h"

/* --- frames ------------------------------------------------------------------------------------------ */

typedef struct frame frame;
struct frame {
    const frame *outer;       /* NULL: the batch */
    const int32_t *row_of;    /* [rows] row of `outer`; of the batch frame NULL */
    int32_t rows;
    int32_t n_columns;
    const fm_vec *columns;    /* the batch's */
    fm_vec *gathered;         /* [n_columns], type NULL until asked for; not of the batch */
    fm_expr *const *param_vars; /* lambda: its parameters */
    const fm_vec *params;
    int32_t n_params;
};

/* What one fm_eval_run carries through the tree. */
typedef struct run {
    fm_eval *eval;
    const fm_run_context *context;
    fm_arena *arena;
    fm_error *err;
} run;

typedef struct node node;
struct node {
    const fm_expr *expr;
    node **args;
    int32_t n_args;
    bool can_fail;     /* it, or anything below */
    fm_in_set *in_set; /* IN_LIST of constants: looked up, else NULL */
    fm_vec constant;   /* LITERAL: repeated constant.len times, in the evaluator's arena */
    void *state;       /* CALL: what the function keeps between batches */
};

struct fm_eval {
    fm_arena *arena;
    const fm_session_conf *conf;
    node *root;
    int32_t partition;
    /* While a kernel runs: where it was called, for fm_eval_lambda. */
    const run *run;
    const frame *frame;
    const node *node;
};

static fm_status eval_node(const run *r, const frame *f, const node *n, fm_vec *out);

static fm_status frame_of_rows(const run *r, const frame *outer, const int32_t *row_of, int32_t rows,
                               frame *out)
{
    *out = (frame){.outer = outer, .row_of = row_of, .rows = rows, .n_columns = outer->n_columns};
    out->gathered = fm_arena_array(r->arena, fm_vec, out->n_columns);
    return out->gathered ? FM_OK : fm_no_memory(r->arena, r->err);
}

static fm_status frame_column(const run *r, const frame *f, int32_t i, fm_vec *out)
{
    fm_assert(i >= 0 && i < f->n_columns);
    if (!f->outer) {
        *out = f->columns[i];
        return FM_OK;
    }
    if (!f->gathered[i].type) {
        fm_vec whole;
        FM_TRY(frame_column(r, f->outer, i, &whole));
        FM_TRY(fm_vec_gather(&f->gathered[i], &whole, f->row_of, f->rows, r->arena, r->err));
    }
    *out = f->gathered[i];
    return FM_OK;
}

static fm_status frame_variable(const run *r, const frame *f, int32_t attr_id, fm_vec *out)
{
    fm_vec whole;
    for (int32_t i = 0; i < f->n_params; i++)
        if (f->param_vars[i]->attr_id == attr_id) {
            *out = f->params[i];
            return FM_OK;
        }
    fm_assert(f->outer); /* a variable stands inside its lambda */
    FM_TRY(frame_variable(r, f->outer, attr_id, &whole));
    return fm_vec_gather(out, &whole, f->row_of, f->rows, r->arena, r->err);
}

/* --- compiling --------------------------------------------------------------------------------------- */

static bool node_itself_can_fail(const fm_expr *e)
{
    switch (e->kind) {
    case FM_EXPR_CAST: return fm_cast_can_fail(e);
    case FM_EXPR_CALL: return e->function->can_fail;
    default: return false;
    }
}

static fm_status compile(fm_eval *eval, const fm_expr *e, int depth, node **out, fm_error *err)
{
    node *n = fm_arena_one(eval->arena, node);
    bool constants = true;
    if (!n) return fm_no_memory(eval->arena, err);
    if (depth > 4 * FM_EXPR_DEPTH_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_EXPRESSION_TOO_DEEP",
                       "The expression is nested more than %d levels deep; split it up.",
                       4 * FM_EXPR_DEPTH_MAX);
    while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
    n->expr = e;
    n->n_args = e->n_args;
    n->args = fm_arena_array(eval->arena, node *, e->n_args);
    if (!n->args) return fm_no_memory(eval->arena, err);
    n->can_fail = node_itself_can_fail(e);
    for (int32_t i = 0; i < e->n_args; i++) {
        if (e->kind == FM_EXPR_LAMBDA && i > 0) break; /* parameters are not evaluated */
        FM_TRY(compile(eval, e->args[i], depth + 1, &n->args[i], err));
        n->can_fail |= n->args[i]->can_fail;
        if (i > 0) constants &= e->args[i]->kind == FM_EXPR_LITERAL;
    }
    if (e->kind == FM_EXPR_IN_LIST && constants)
        FM_TRY(fm_in_set_new(eval->arena, e->args + 1, e->n_args - 1, &n->in_set, err));
    *out = n;
    return FM_OK;
}

fm_status fm_eval_new(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e, fm_eval **out,
                      fm_error *err)
{
    fm_eval *eval = fm_arena_one(arena, fm_eval);
    if (!eval) return fm_no_memory(arena, err);
    eval->arena = arena;
    eval->conf = conf;
    FM_TRY(compile(eval, e, 0, &eval->root, err));
    *out = eval;
    return FM_OK;
}

void fm_eval_set_partition(fm_eval *eval, int32_t partition) { eval->partition = partition; }

/* --- leaves ------------------------------------------------------------------------------------------ */

/* The repeated value is made once and serves every batch; only a lambda may ask for more lanes. */
static fm_status eval_literal(const run *r, const frame *f, const node *n, fm_vec *out)
{
    node *mutable = (node *)(uintptr_t)n;
    if (n->constant.len < f->rows) {
        int32_t len = f->rows <= 64 ? 64 : f->rows <= FM_BATCH_ROWS_MAX ? FM_BATCH_ROWS_MAX : f->rows;
        if (len > FM_BATCH_ROWS_MAX || fm_type_is_nested(n->expr->type))
            return fm_vec_repeat(out, &n->expr->value, 0, f->rows, r->arena, r->err);
        FM_TRY(fm_vec_repeat(&mutable->constant, &n->expr->value, 0, len, r->eval->arena, r->err));
    }
    *out = n->constant;
    out->len = f->rows;
    out->type = n->expr->type;
    return FM_OK;
}

/* A field of a struct shares the child's buffers; only where the struct itself is null may the child hold
 * other bytes than the zeros that the rules of vectors want. */
static fm_status eval_field(const run *r, const frame *f, const node *n, fm_vec *out)
{
    fm_vec base;
    const fm_vec *child;
    FM_TRY(eval_node(r, f, n->args[0], &base));
    if (base.type->id == FM_TYPE_NULL)
        return fm_vec_nulls(out, n->expr->type, f->rows, r->arena, r->err);
    fm_assert(base.type->id == FM_TYPE_STRUCT && n->expr->index < base.type->n_fields);
    child = &base.children[n->expr->index];
    *out = *child;
    if (!base.validity) return FM_OK;
    return fm_vec_mask(out, child, base.validity, r->arena, r->err);
}

/* --- calls ------------------------------------------------------------------------------------------- */

static fm_status strict_validity(const run *r, const fm_vec *args, int32_t n, fm_vec *out)
{
    for (int32_t i = 0; i < n; i++)
        if (args[i].validity && args[i].len == out->len)
            FM_TRY(fm_vec_and_validity(out, args[i].validity, r->arena, r->err));
    return FM_OK;
}

static fm_status call_kernel(const run *r, const frame *f, const node *n, const fm_vec *args,
                             fm_vec *out)
{
    const fm_expr *e = n->expr;
    const fm_function *function = e->function;
    fm_call call = {.function = function, .conf = r->eval->conf, .run = r->context,
                    .bound = e->bound, .expr = e, .ansi = e->ansi, .rows = f->rows,
                    .arena = r->arena, .err = r->err, .eval = r->eval,
                    .state = &((node *)(uintptr_t)n)->state, .keep = r->eval->arena,
                    .partition = r->eval->partition};
    const run *outer_run = r->eval->run;
    const frame *outer_frame = r->eval->frame;
    const node *outer_node = r->eval->node;
    fm_status st;

    *out = (fm_vec){.type = e->type, .len = f->rows};
    if (fm_type_width(e->type) > 0) FM_TRY(fm_vec_init(out, e->type, f->rows, r->arena, r->err));
    if (function->nulls == FM_NULLS_STRICT) FM_TRY(strict_validity(r, args, n->n_args, out));

    r->eval->run = r;
    r->eval->frame = f;
    r->eval->node = n;
    st = function->kernel(&call, args, out);
    r->eval->run = outer_run;
    r->eval->frame = outer_frame;
    r->eval->node = outer_node;

    if (st != FM_OK && r->err && r->err->line == 0) {
        r->err->line = e->pos.line;
        r->err->column = e->pos.column;
    }
    if (st == FM_OK && function->nulls == FM_NULLS_STRICT) fm_vec_clear_nulls(out);
    return st;
}

static fm_status eval_call(const run *r, const frame *f, const node *n, fm_vec *out)
{
    fm_vec *args = fm_arena_array(r->arena, fm_vec, n->n_args);
    if (!args) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < n->n_args; i++) {
        if (n->args[i]->expr->kind == FM_EXPR_LAMBDA) {
            args[i] = (fm_vec){.type = n->args[i]->expr->type};
            continue;
        }
        FM_TRY(eval_node(r, f, n->args[i], &args[i]));
        /* An argument of type VOID is null on every row. */
        if (args[i].type->id == FM_TYPE_NULL && n->expr->function->nulls == FM_NULLS_STRICT)
            return fm_vec_nulls(out, n->expr->type, f->rows, r->arena, r->err);
    }
    return call_kernel(r, f, n, args, out);
}

static fm_status eval_cast(const run *r, const frame *f, const node *n, fm_vec *out)
{
    const fm_expr *e = n->expr;
    fm_cast_mode mode = e->try_cast ? FM_CAST_TRY : e->ansi ? FM_CAST_ANSI : FM_CAST_LEGACY;
    fm_vec in;
    fm_status st;
    FM_TRY(eval_node(r, f, n->args[0], &in));
    st = fm_cast_run(&in, e->type, mode, r->eval->conf, r->arena, out, r->err);
    if (st != FM_OK && r->err && r->err->line == 0) {
        r->err->line = e->pos.line;
        r->err->column = e->pos.column;
    }
    return st;
}

/* --- branches ---------------------------------------------------------------------------------------- */

/* Rows of the frame, of those in rows[n] (NULL: all), on which a boolean is true / not true. Returns how many. */
static int32_t rows_where(const fm_vec *condition, const int32_t *rows, int32_t n, bool want,
                          int32_t *out)
{
    const uint8_t *value = condition->values;
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) { /* null lanes hold 0 */
        out[count] = rows ? rows[i] : i;
        count += (value ? value[i] != 0 : false) == want;
    }
    return count;
}

/* Evaluates n over some rows of the frame; out has that many lanes. */
static fm_status eval_on_rows(const run *r, const frame *f, const node *n, const int32_t *rows,
                              int32_t count, fm_vec *out)
{
    frame sub;
    if (count == f->rows) return eval_node(r, f, n, out);
    FM_TRY(frame_of_rows(r, f, rows, count, &sub));
    return eval_node(r, &sub, n, out);
}

/* AND / OR. The right side is not evaluated on rows that the left side has decided. */
static fm_status eval_and_or(const run *r, const frame *f, const node *n, bool is_and, fm_vec *out)
{
    fm_vec a, b, part;
    int32_t *rows, *back, count = 0;
    FM_TRY(eval_node(r, f, n->args[0], &a));
    if (!n->args[1]->can_fail) {
        FM_TRY(eval_node(r, f, n->args[1], &b));
        return fm_bool_and_or(is_and, &a, &b, f->rows, r->arena, out, r->err);
    }
    rows = fm_arena_array(r->arena, int32_t, f->rows);
    back = fm_arena_array(r->arena, int32_t, f->rows);
    if (!rows || !back) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < f->rows; i++) {
        bool null = fm_vec_is_null(&a, i);
        bool decided = !null && (fm_vec_bool(&a)[i] != 0) != is_and;
        back[i] = decided ? -1 : count;
        if (!decided) rows[count++] = i;
    }
    FM_TRY(eval_on_rows(r, f, n->args[1], rows, count, &part));
    FM_TRY(fm_vec_gather(&b, &part, back, f->rows, r->arena, r->err));
    return fm_bool_and_or(is_and, &a, &b, f->rows, r->arena, out, r->err);
}

/* Picks lane i of the result from parts[which[i]] lane lane[i]; which -1: null. */
static fm_status scatter(const run *r, const fm_vec *parts, int32_t n_parts, const int32_t *which,
                         const int32_t *lane, int32_t rows, const fm_type *type, fm_vec *out)
{
    const fm_vec **filled = fm_arena_array(r->arena, const fm_vec *, n_parts);
    int32_t *start = fm_arena_array(r->arena, int32_t, n_parts);
    int32_t *from = fm_arena_array(r->arena, int32_t, rows);
    int32_t n = 0;
    int64_t total = 0;
    fm_vec all;
    if (!filled || !start || !from) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < n_parts; i++) {
        start[i] = (int32_t)total;
        if (!parts[i].type || parts[i].len == 0) continue;
        total += parts[i].len;
        if (total > INT32_MAX) return fm_no_memory(r->arena, r->err);
        filled[n++] = &parts[i];
    }
    if (n == 0) return fm_vec_nulls(out, type, rows, r->arena, r->err);
    if (n == 1)
        all = *filled[0];
    else
        FM_TRY(fm_vec_concat(&all, filled, n, r->arena, r->err));
    for (int32_t i = 0; i < rows; i++) from[i] = which[i] < 0 ? -1 : start[which[i]] + lane[i];
    FM_TRY(fm_vec_gather(out, &all, from, rows, r->arena, r->err));
    out->type = type;
    return FM_OK;
}

/* Each WHEN is evaluated on the rows that no WHEN before has taken, each THEN on the rows it is taken by. */
static fm_status eval_case_lazily(const run *r, const frame *f, const node *n, fm_vec *out)
{
    int32_t branches = n->n_args / 2, left = f->rows;
    bool has_else = n->n_args & 1;
    fm_vec *parts = fm_arena_array(r->arena, fm_vec, branches + 1);
    int32_t *which = fm_arena_array(r->arena, int32_t, f->rows);
    int32_t *lane = fm_arena_array(r->arena, int32_t, f->rows);
    int32_t *rest = NULL;
    if (!parts || !which || !lane) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < f->rows; i++) which[i] = -1;

    for (int32_t k = 0; k <= branches && left > 0; k++) {
        int32_t *taken = rest, count = left;
        if (k == branches && !has_else) break;
        if (k < branches) {
            fm_vec condition;
            int32_t *others = fm_arena_array(r->arena, int32_t, left);
            taken = fm_arena_array(r->arena, int32_t, left);
            if (!taken || !others) return fm_no_memory(r->arena, r->err);
            FM_TRY(eval_on_rows(r, f, n->args[2 * k], rest, left, &condition));
            count = rows_where(&condition, rest, left, true, taken);
            left = rows_where(&condition, rest, left, false, others);
            rest = others;
        }
        if (count == 0) continue;
        FM_TRY(eval_on_rows(r, f, n->args[k < branches ? 2 * k + 1 : n->n_args - 1], taken, count,
                            &parts[k]));
        for (int32_t i = 0; i < count; i++) {
            int32_t row = taken ? taken[i] : i;
            which[row] = k;
            lane[row] = i;
        }
    }
    return scatter(r, parts, branches + 1, which, lane, f->rows, n->expr->type, out);
}

/* Nothing can fail: all branches over all rows, the last first, so that the first to be true wins. */
static fm_status eval_case_blended(const run *r, const frame *f, const node *n, fm_vec *out)
{
    const fm_type *type = n->expr->type;
    int32_t branches = n->n_args / 2;
    fm_vec value, condition;
    if (n->n_args & 1)
        FM_TRY(eval_node(r, f, n->args[n->n_args - 1], out));
    else
        FM_TRY(fm_vec_nulls(out, type, f->rows, r->arena, r->err));
    for (int32_t k = branches - 1; k >= 0; k--) {
        fm_vec before = *out;
        FM_TRY(eval_node(r, f, n->args[2 * k], &condition));
        FM_TRY(eval_node(r, f, n->args[2 * k + 1], &value));
        FM_TRY(fm_vec_blend(out, &condition, &value, &before, r->arena, r->err));
    }
    out->type = type;
    return FM_OK;
}

static fm_status eval_case(const run *r, const frame *f, const node *n, fm_vec *out)
{
    if (n->can_fail || fm_type_width(n->expr->type) == 0) return eval_case_lazily(r, f, n, out);
    return eval_case_blended(r, f, n, out);
}

/* coalesce: each argument on the rows that are null in all before. */
static fm_status eval_coalesce_lazily(const run *r, const frame *f, const node *n, fm_vec *out)
{
    fm_vec *parts = fm_arena_array(r->arena, fm_vec, n->n_args);
    int32_t *which = fm_arena_array(r->arena, int32_t, f->rows);
    int32_t *lane = fm_arena_array(r->arena, int32_t, f->rows);
    int32_t *rest = NULL, left = f->rows;
    if (!parts || !which || !lane) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < f->rows; i++) which[i] = -1;
    for (int32_t k = 0; k < n->n_args && left > 0; k++) {
        int32_t *others = fm_arena_array(r->arena, int32_t, left), count = 0;
        if (!others) return fm_no_memory(r->arena, r->err);
        FM_TRY(eval_on_rows(r, f, n->args[k], rest, left, &parts[k]));
        for (int32_t i = 0; i < left; i++) {
            int32_t row = rest ? rest[i] : i;
            if (fm_vec_is_null(&parts[k], i)) {
                others[count++] = row;
            } else {
                which[row] = k;
                lane[row] = i;
            }
        }
        rest = others;
        left = count;
    }
    return scatter(r, parts, n->n_args, which, lane, f->rows, n->expr->type, out);
}

static bool later_args_can_fail(const node *n)
{
    for (int32_t i = 1; i < n->n_args; i++)
        if (n->args[i]->can_fail) return true;
    return false;
}

static fm_status eval_in_list(const run *r, const frame *f, const node *n, fm_vec *out)
{
    fm_vec x, *list;
    FM_TRY(eval_node(r, f, n->args[0], &x));
    if (n->in_set) return fm_in_set_run(n->in_set, &x, r->arena, out, r->err);
    list = fm_arena_array(r->arena, fm_vec, n->n_args);
    if (!list) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 1; i < n->n_args; i++) FM_TRY(eval_node(r, f, n->args[i], &list[i - 1]));
    return fm_in_list_run(&x, list, n->n_args - 1, r->arena, out, r->err);
}

/* --- the walk ---------------------------------------------------------------------------------------- */

static fm_status eval_node(const run *r, const frame *f, const node *n, fm_vec *out)
{
    fm_vec in;
    switch (n->expr->kind) {
    case FM_EXPR_LITERAL: return eval_literal(r, f, n, out);
    case FM_EXPR_COLUMN: return frame_column(r, f, n->expr->index, out);
    case FM_EXPR_LAMBDA_VAR: return frame_variable(r, f, n->expr->attr_id, out);
    case FM_EXPR_FIELD: return eval_field(r, f, n, out);
    case FM_EXPR_CAST: return eval_cast(r, f, n, out);
    case FM_EXPR_AND: return eval_and_or(r, f, n, true, out);
    case FM_EXPR_OR: return eval_and_or(r, f, n, false, out);
    case FM_EXPR_NOT:
        FM_TRY(eval_node(r, f, n->args[0], &in));
        return fm_bool_not(&in, f->rows, r->arena, out, r->err);
    case FM_EXPR_CASE: return eval_case(r, f, n, out);
    case FM_EXPR_IN_LIST: return eval_in_list(r, f, n, out);
    case FM_EXPR_CALL:
        if (n->expr->function == &fm_fn_coalesce && later_args_can_fail(n))
            return eval_coalesce_lazily(r, f, n, out);
        return eval_call(r, f, n, out);
    default:
        return fm_fail_at(r->err, FM_UNSUPPORTED, "FLOODMARK_EXPRESSION_NOT_EVALUABLE",
                          n->expr->pos.line, n->expr->pos.column,
                          "This kind of expression cannot stand here: it is neither a value of a row nor "
                          "constant.");
    }
}

fm_status fm_eval_run(fm_eval *eval, const fm_run_context *context, const fm_batch *in,
                      fm_arena *arena, fm_vec *out, fm_error *err)
{
    frame whole = {.rows = in->rows, .columns = in->columns,
                   .n_columns = in->schema ? in->schema->n_fields : 0};
    run r = {eval, context, arena, err};
    FM_TRY(eval_node(&r, &whole, eval->root, out));
    fm_assert(out->len == in->rows);
    return FM_OK;
}

fm_status fm_eval_constant(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e,
                           fm_value *out, fm_error *err)
{
    const fm_run_context context = {.watermark_us = INT64_MIN};
    const fm_batch one = {.rows = 1};
    fm_eval *eval;
    if (e->kind == FM_EXPR_LITERAL) {
        *out = e->value;
        return FM_OK;
    }
    if (!fm_expr_is_constant(e)) {
        fm_strbuf text = {0};
        fm_status st;
        fm_expr_sql(e, &text);
        st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", e->pos.line,
                        e->pos.column,
                        "The input should be a foldable expression, a constant; however, got \"%.*s\".",
                        FM_STR_ARG(fm_strbuf_str(&text)));
        fm_strbuf_fini(&text);
        return st;
    }
    FM_TRY(fm_eval_new(arena, conf, e, &eval, err));
    return fm_eval_run(eval, &context, &one, arena, out, err);
}

fm_status fm_eval_lambda(fm_call *call, int32_t i, const fm_vec *params, int32_t n_params,
                         const int32_t *row_of, int32_t rows, fm_vec *out, fm_error *err)
{
    fm_eval *eval = call->eval;
    const frame *outer = eval->frame;
    const node *lambda = eval->node->args[i];
    run r = {eval, call->run, call->arena, err};
    frame f;

    fm_assert(lambda->expr->kind == FM_EXPR_LAMBDA);
    FM_TRY(frame_of_rows(&r, outer, row_of, rows, &f));
    f.param_vars = lambda->expr->args + 1;
    f.params = params;
    f.n_params = lambda->expr->n_args - 1; /* it may name fewer than it is offered */
    fm_assert(f.n_params <= n_params);
    return eval_node(&r, &f, lambda->args[0], out);
}
