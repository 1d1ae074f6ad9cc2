/* exec/op_aggregate.c: GROUP BY, in batch and in streams, as an operator. How it works: exec/group.h. */
#include "base/checked.h"
#include "exec/group.h"

/* What all workers share. */
typedef struct aggregation {
    fm_group_spec spec;
    fm_state *state;
    fm_state *late;          /* groups of late rows, of one micro-batch; in memory */
    fm_group_part *parts;    /* [n_parts] */
    int32_t n_parts;
} aggregation;

typedef struct aggregate {
    fm_op base;
    aggregation *core;
    int32_t part;            /* of the state, that this worker owns */
    fm_group_input input;
} aggregate;

/* ---- A micro-batch ---------------------------------------------------------------------------------------------- */

static fm_status aggregate_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    aggregate *self = (aggregate *)op;
    fm_group_bounds bounds = fm_group_bounds_of(&self->core->spec, mb);

    fm_state_begin(self->core->state);
    for (int32_t i = 0; i < self->core->n_parts; i++) fm_group_part_begin(&self->core->parts[i], &bounds);
    self->input.late_rows = 0;
    return FM_OK;
}

static fm_status aggregate_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                                const fm_emit *out, fm_error *err)
{
    return fm_group_input_push(&((aggregate *)op)->input, mb, in, arena, err);
}

static fm_status take_here(void *ctx, const fm_group_rows *rows, fm_arena *arena, fm_error *err)
{
    aggregate *self = ctx;

    return fm_group_apply(&self->core->parts[0], rows, err);
}

/* A query without grouping columns has its one group from the start. */
static fm_status touch_global(aggregate *self, fm_error *err)
{
    fm_key key = fm_key_of_bytes(FM_STR(""));
    fm_state_part *part = self->core->parts[self->part].state;
    fm_state_bucket *bucket;
    char *value;

    if (fm_state_owner(self->core->state, key.hash) != self->part) return FM_OK;
    FM_TRY(fm_state_bucket_at(part, FM_STATE_NO_TIME, &bucket, err));
    return fm_state_upsert_in(part, bucket, &key, 1, &value, NULL, err);
}

static fm_status aggregate_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    aggregate *self = (aggregate *)op;

    if (self->core->spec.is_global) FM_TRY(touch_global(self, err));
    return fm_group_finish(&self->core->parts[self->part], mb, arena, out, err);
}

static fm_status aggregate_commit(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    aggregate *self = (aggregate *)op;
    fm_group_bounds bounds = fm_group_bounds_of(&self->core->spec, mb);

    if (!mb->is_stream) return FM_OK;
    if (bounds.on) fm_state_set_mark(self->core->state, bounds.close_us);
    return fm_state_commit(self->core->state, mb->run->batch_id + 1, err);
}

static fm_status aggregate_maintain(fm_op *op, int64_t oldest_version, fm_error *err)
{
    return fm_state_maintain(((aggregate *)op)->core->state, oldest_version, err);
}

static void aggregate_stats(const fm_op *op, fm_op_stats *out)
{
    const aggregate *self = (const aggregate *)op;

    fm_group_part_stats(&self->core->parts[self->part], out);
    out->late_rows += self->input.late_rows;
    out->custom_duplicates = -1;
}

static int32_t aggregate_windows(const fm_op *op, fm_op_window *out, int32_t n)
{
    const aggregate *self = (const aggregate *)op;
    const fm_group_spec *spec = &self->core->spec;
    fm_state_part *part = self->core->parts[0].state;
    fm_state_bucket *bucket;
    int32_t got = 0;

    if (spec->kind == FM_GROUP_SLIDING) return fm_slices_windows(self->core->parts[0].slices, out, n);
    if (spec->time_type == NULL || spec->time_type->id != FM_TYPE_STRUCT) return 0;
    for (int32_t i = 0; got < n && (bucket = fm_state_bucket_nth(part, i)); i++) {
        int64_t end_us = fm_state_bucket_time(bucket);
        if (end_us == FM_STATE_NO_TIME) continue;
        if (spec->kind == FM_GROUP_TUMBLING) end_us = fm_add_sat_i64(end_us, spec->window.duration_us);
        out[got++] = (fm_op_window){end_us - spec->window.duration_us, end_us, fm_state_bucket_rows(bucket)};
    }
    return got;
}

static void aggregate_close(fm_op *op)
{
    aggregation *core = ((aggregate *)op)->core;

    for (int32_t i = 0; core->parts && i < core->n_parts; i++) fm_group_part_fini(&core->parts[i]);
    fm_state_close(core->state);
    fm_state_close(core->late);
}

/* ---- Building --------------------------------------------------------------------------------------------------- */

static fm_status open_parts(fm_tree *tree, aggregation *core, fm_error *err)
{
    fm_state_codec codec = fm_group_codec(&core->spec);
    fm_state_spec late = {.in_memory = true, .parts = core->n_parts};

    core->parts = fm_arena_array(tree->arena, fm_group_part, core->n_parts);
    if (!core->parts) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_state_open(&late, 0, &core->late, err));
    FM_TRY(fm_tree_state(tree, core->spec.operator_id, core->spec.value_size, core->spec.schema_text, &codec, &core->state, err));
    for (int32_t i = 0; i < core->n_parts; i++) {
        FM_TRY(fm_group_part_init(&core->parts[i], &core->spec, fm_state_part_at(core->state, i), fm_state_part_at(core->late, i), fm_state_mark(core->state), err));
    }
    return FM_OK;
}

const fm_plan *fm_op_aggregate_child(const fm_op *op) { return ((const aggregate *)op)->core->spec.child; }

fm_status fm_op_aggregate_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {
        .name = "Aggregate", .spark_name = "stateStoreSave", .begin = aggregate_begin, .push = aggregate_push, .finish = aggregate_finish,
        .commit = aggregate_commit, .maintain = aggregate_maintain, .stats = aggregate_stats, .windows = aggregate_windows, .close = aggregate_close,
    };
    aggregate *self = fm_arena_one(tree->arena, aggregate);
    aggregation *core = fm_arena_one(tree->arena, aggregation);

    if (!self || !core) return fm_no_memory(tree->arena, err);
    self->core = core;
    core->n_parts = 1;
    FM_TRY(fm_group_plan(tree, plan, operator_id, &core->spec, err));
    self->base = (fm_op){.type = &type, .schema = core->spec.schema, .operator_id = operator_id};
    FM_TRY(fm_group_input_init(&self->input, tree, &core->spec, err));
    self->input.take = take_here;
    self->input.take_ctx = self;
    *out = &self->base; /* from here on close() frees what is open */
    FM_TRY(open_parts(tree, core, err));
    if (core->spec.closes && core->spec.late_column >= 0) FM_TRY(fm_late_sink_open(tree, plan, core->spec.child, "aggregate", &self->input.late_sink, err));
    /* Any move of the watermark asks for a batch, a tagged key or not: so does Spark. */
    return tree->is_stream && operator_id >= 0 ? fm_exec_add_stateful(tree->exec, operator_id, &self->base, tree->mode != FM_MODE_COMPLETE, err) : FM_OK;
}
