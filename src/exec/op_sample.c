/* exec/op_sample.c: TABLESAMPLE (n PERCENT | BUCKET x OUT OF y): each row stays by chance.
 *
 * Rule: Spark, SampleExec without replacement: one draw of XORShiftRandom per row, in the order of the input, as on one
 * partition. With REPEATABLE the same rows stay each time; else the seed is one of 0 to 999, as Spark chooses it. */
#include "base/xorshift.h"
#include "exec/exec_impl.h"
#include "os/random.h"

typedef struct sample {
    fm_op base;
    double fraction;
    int64_t seed;
    fm_xorshift random;
} sample;

static fm_status sample_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    sample *self = (sample *)op;

    fm_xorshift_init(&self->random, self->seed);
    return FM_OK;
}

static fm_status sample_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                             const fm_emit *out, fm_error *err)
{
    sample *self = (sample *)op;
    uint8_t *keep = fm_arena_array(arena, uint8_t, in->rows);
    const fm_batch *kept;

    if (!keep) return fm_no_memory(arena, err);
    /* A fraction of nothing draws nothing. */
    for (int32_t i = 0; self->fraction > 0 && i < in->rows; i++) keep[i] = fm_xorshift_double(&self->random) < self->fraction;
    FM_TRY(fm_batch_filter(in, keep, arena, &kept, err));
    return out->push(out->ctx, kept, err);
}

fm_status fm_op_sample_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Sample", .placement = FM_OP_SINGLE, .begin = sample_begin, .push = sample_push};
    sample *self = fm_arena_one(tree->arena, sample);
    uint16_t chance;

    if (!self) return fm_no_memory(tree->arena, err);
    fm_random_bytes(&chance, sizeof chance);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->fraction = plan->fraction;
    self->seed = plan->has_seed ? plan->seed : chance % 1000;
    *out = &self->base;
    return self->base.schema ? FM_OK : fm_no_memory(tree->arena, err);
}
