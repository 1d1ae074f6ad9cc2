/* exec/op_simple.c: operators that keep nothing: project, filter, union, values. */
#include "exec/exec_impl.h"

enum { FM_VALUES_ROWS = 1024 };

/* ---- Project ----------------------------------------------------------------------------------------------- */

typedef struct project {
    fm_op base;
    fm_eval **evals; /* [schema->n_fields] */
    int64_t rows;    /* of the run */
} project;

static fm_status project_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    ((project *)op)->rows = 0;
    return FM_OK;
}

int64_t fm_op_project_rows(const fm_op *op) { return ((const project *)op)->rows; }

static fm_status project_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                              const fm_emit *out, fm_error *err)
{
    project *self = (project *)op;
    int32_t n = op->schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n);
    fm_batch batch = {.schema = op->schema, .rows = in->rows, .columns = columns};

    if (!columns) return fm_no_memory(arena, err);
    self->rows += in->rows;
    for (int32_t i = 0; i < n; i++) FM_TRY(fm_eval_run(self->evals[i], mb->run, in, arena, &columns[i], err));
    return out->push(out->ctx, &batch, err);
}

fm_status fm_op_project_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Project", .begin = project_begin, .push = project_push};
    project *self = fm_arena_one(tree->arena, project);

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->evals = fm_arena_array(tree->arena, fm_eval *, plan->n_exprs);
    if (!self->evals || !self->base.schema) return fm_no_memory(tree->arena, err);
    fm_assert(plan->n_exprs == plan->n_output);
    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        FM_TRY(fm_tree_eval(tree, e, plan->children[0], &self->evals[i], err));
    }
    *out = &self->base;
    return plan->rows_seen ? fm_exec_add_counted(tree->exec, *out, plan, err) : FM_OK;
}

/* ---- Filter ------------------------------------------------------------------------------------------------ */

typedef struct filter {
    fm_op base;
    fm_eval *condition;
} filter;

static fm_status filter_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                             const fm_emit *out, fm_error *err)
{
    filter *self = (filter *)op;
    const fm_batch *kept;
    fm_vec condition;

    FM_TRY(fm_eval_run(self->condition, mb->run, in, arena, &condition, err));
    /* Null lanes hold zero: a row stays only where the condition is true. */
    if (condition.type->id == FM_TYPE_NULL) return FM_OK;
    FM_TRY(fm_batch_filter(in, fm_vec_bool(&condition), arena, &kept, err));
    return out->push(out->ctx, kept, err);
}

fm_status fm_op_filter_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Filter", .push = filter_push};
    filter *self = fm_arena_one(tree->arena, filter);

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    if (!self->base.schema) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_tree_eval(tree, plan->exprs[0], plan->children[0], &self->condition, err));
    *out = &self->base;
    return FM_OK;
}

/* ---- Union: the columns of every child, under the names of the first --------------------------------------- */

static fm_status union_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                            const fm_emit *out, fm_error *err)
{
    fm_batch batch = {.schema = op->schema, .rows = in->rows, .columns = in->columns};

    return out->push(out->ctx, &batch, err);
}

fm_status fm_op_union_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Union", .push = union_push};
    fm_op *self = fm_arena_one(tree->arena, fm_op);

    if (!self) return fm_no_memory(tree->arena, err);
    *self = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    *out = self;
    return self->schema ? FM_OK : fm_no_memory(tree->arena, err);
}

/* ---- Values: rows written in the query; they come out when the input is over -------------------------------- */

typedef struct values {
    fm_op base;
    fm_eval **cells; /* [rows * columns] */
    int32_t rows;
} values;

static fm_status values_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    values *self = (values *)op;
    int32_t n = op->schema->n_fields;
    fm_batch one_row = {.schema = op->schema, .rows = 1};

    for (int32_t from = 0; from < self->rows; from += FM_VALUES_ROWS) {
        int32_t rows = self->rows - from < FM_VALUES_ROWS ? self->rows - from : FM_VALUES_ROWS;
        fm_arena_reset(arena);
        fm_vec *columns = fm_arena_array(arena, fm_vec, n), *cells = fm_arena_array(arena, fm_vec, rows);
        const fm_vec **parts = fm_arena_array(arena, const fm_vec *, rows);
        if (!columns || !cells || !parts) return fm_no_memory(arena, err);
        for (int32_t c = 0; c < n; c++) {
            for (int32_t i = 0; i < rows; i++) {
                FM_TRY(fm_eval_run(self->cells[(size_t)(from + i) * (size_t)n + (size_t)c], mb->run, &one_row, arena, &cells[i], err));
                parts[i] = &cells[i];
            }
            FM_TRY(fm_vec_concat(&columns[c], parts, rows, arena, err));
        }
        fm_batch batch = {.schema = op->schema, .rows = rows, .columns = columns};
        FM_TRY(out->push(out->ctx, &batch, err));
    }
    return FM_OK;
}

fm_status fm_op_values_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "LocalTableScan", .placement = FM_OP_SINGLE, .finish = values_finish};
    values *self = fm_arena_one(tree->arena, values);

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->cells = fm_arena_array(tree->arena, fm_eval *, plan->n_exprs);
    if (!self->base.schema || !self->cells) return fm_no_memory(tree->arena, err);
    if (plan->kind == FM_PLAN_ONE_ROW) self->rows = 1;
    if (plan->kind == FM_PLAN_VALUES && plan->n_columns) self->rows = plan->n_exprs / plan->n_columns;
    for (int32_t i = 0; plan->kind == FM_PLAN_VALUES && i < plan->n_exprs; i++) {
        FM_TRY(fm_tree_eval(tree, plan->exprs[i], NULL, &self->cells[i], err));
    }
    *out = &self->base;
    return FM_OK;
}
