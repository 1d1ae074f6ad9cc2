/* exec/op_generate.c: explode and kin: several rows for one. */
#include "exec/exec_impl.h"
#include "expr/generator.h"

enum { GIVE_ROWS = 4096 };

typedef struct generate {
    fm_op base;
    const fm_plan *plan;
    const fm_session_conf *conf;
    const fm_expr *generator;
    fm_eval **args;
    bool outer;
    int32_t *kept;      /* [n_kept] columns of the input that stay */
    int32_t n_kept;
    const fm_wake *cancelled;
} generate;

static fm_status generate_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                               const fm_emit *out, fm_error *err)
{
    generate *self = (generate *)op;
    int32_t n_args = self->generator->n_args, n = op->schema->n_fields;
    fm_vec *args = fm_arena_array(arena, fm_vec, n_args);
    fm_generated made;

    if (!args) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n_args; i++) FM_TRY(fm_eval_run(self->args[i], mb->run, in, arena, &args[i], err));
    FM_TRY(fm_generator_run(self->generator, self->conf, args, in->rows, arena, &made, err));
    for (int32_t from = 0; from < made.rows; from += GIVE_ROWS) {
        int32_t rows = made.rows - from < GIVE_ROWS ? made.rows - from : GIVE_ROWS;
        fm_vec *columns = fm_arena_array(arena, fm_vec, n);
        int32_t *picked = fm_arena_array(arena, int32_t, rows);
        if (!columns || !picked) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < rows; i++) picked[i] = from + i;
        for (int32_t c = 0; c < self->n_kept; c++) {
            FM_TRY(fm_vec_gather(&columns[c], &in->columns[self->kept[c]], made.row_of + from, rows, arena, err));
        }
        for (int32_t c = self->n_kept; c < n; c++) {
            FM_TRY(fm_vec_gather(&columns[c], &made.columns[c - self->n_kept], picked, rows, arena, err));
        }
        fm_batch batch = {.schema = op->schema, .rows = rows, .columns = columns};
        FM_TRY(fm_exec_go_on(self->cancelled, err));
        FM_TRY(out->push(out->ctx, &batch, err));
    }
    return FM_OK;
}

fm_status fm_op_generate_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Generate", .push = generate_push};
    generate *self = fm_arena_one(tree->arena, generate);
    const fm_expr *e = plan->exprs[0];

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->conf = tree->env->conf;
    self->cancelled = tree->env->cancelled;
    self->generator = e;
    self->outer = plan->outer;
    self->args = fm_arena_array(tree->arena, fm_eval *, e->n_args);
    self->kept = fm_arena_array(tree->arena, int32_t, plan->n_output);
    if (!self->base.schema || !self->args || !self->kept) return fm_no_memory(tree->arena, err);
    for (int32_t i = 0; i < plan->generator_first; i++) {
        self->kept[self->n_kept] = fm_plan_column(plan->children[0], plan->output[i].id);
        fm_assert(self->kept[self->n_kept] >= 0);
        self->n_kept++;
    }
    for (int32_t i = 0; i < e->n_args; i++) FM_TRY(fm_tree_eval(tree, e->args[i], plan->children[0], &self->args[i], err));
    *out = &self->base;
    return FM_OK;
}
