/* exec/op_aggregate.c: GROUP BY, in batch and in streams, as an operator. How it works: exec/group.h. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/limits.h"
#include "exec/group.h"

/* What all workers share. */
typedef struct aggregation {
    fm_group_spec spec;
    fm_state *state;
    fm_state *late;          /* groups of late rows, of one micro-batch; in memory */
    fm_group_part *parts;    /* [n_parts] one per worker */
    int32_t n_parts;
    fm_exchange *exchange;   /* NULL: one worker */
    fm_crew *crew;
    struct aggregate *members[FM_WORKERS_MAX];
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

    self->input.late_rows = 0;
    if (self->part) return FM_OK; /* worker 0's did it for all */
    fm_state_begin(self->core->state);
    for (int32_t i = 0; i < self->core->n_parts; i++) fm_group_part_begin(&self->core->parts[i], &bounds);
    return FM_OK;
}

static fm_status aggregate_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                                const fm_emit *out, fm_error *err)
{
    return fm_group_input_push(&((aggregate *)op)->input, mb, in, arena, err);
}

/* One worker: it owns all keys. */
static fm_status take_here(void *ctx, const fm_group_rows *rows, fm_arena *arena, fm_error *err)
{
    aggregate *self = ctx;

    return fm_group_apply(&self->core->parts[0], rows, err);
}

static fm_status apply_rows(void *ctx, int32_t receiver, const void *content, fm_error *err)
{
    aggregation *core = ctx;

    return fm_group_apply(&core->parts[receiver], content, err);
}

/* Rows picked from a batch: into `arena`, where they stay good as long as the batch. */
static fm_status pick_rows(const fm_group_spec *spec, const fm_group_rows *rows, const int32_t *picked, int32_t n, fm_arena *arena, fm_group_rows *out, fm_error *err)
{
    int64_t *times = rows->times ? fm_arena_alloc(arena, (size_t)n * sizeof *times, 8) : NULL;
    fm_key *keys = fm_arena_alloc(arena, (size_t)n * sizeof *keys, 8);
    fm_vec *inputs = fm_arena_array(arena, fm_vec, spec->n_inputs);

    if ((rows->times && !times) || !keys || !inputs) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) keys[i] = rows->keys[picked[i]];
    for (int32_t i = 0; times && i < n; i++) times[i] = rows->times[picked[i]];
    for (int32_t k = 0; !rows->late && k < spec->n_inputs; k++) FM_TRY(fm_vec_gather(&inputs[k], &rows->inputs[k], picked, n, arena, err));
    *out = (fm_group_rows){.n = n, .times = times, .keys = keys, .inputs = inputs, .late = rows->late};
    return FM_OK;
}

/* What rows point to outside of their arena is copied into it: they outlive their batch. */
static fm_status make_own(const fm_group_spec *spec, fm_group_rows *rows, fm_arena *arena, fm_error *err)
{
    fm_key *keys = (fm_key *)(uintptr_t)rows->keys;
    fm_vec *inputs = (fm_vec *)(uintptr_t)rows->inputs;

    for (int32_t i = 0; i < rows->n; i++) {
        if (fm_key_is_inline(&keys[i])) continue;
        unsigned char *copy = fm_arena_alloc(arena, keys[i].u.out.len, 1);
        if (!copy) return fm_no_memory(arena, err);
        memcpy(copy, keys[i].u.out.ptr, keys[i].u.out.len);
        keys[i].u.out.ptr = copy;
    }
    for (int32_t k = 0; !rows->late && k < spec->n_inputs; k++) {
        fm_vec gathered = inputs[k];
        bool flat = fm_type_width(gathered.type) && !fm_type_is_view(gathered.type);
        if (!flat) FM_TRY(fm_vec_copy(&inputs[k], &gathered, arena, err));
    }
    return FM_OK;
}

static fm_status send_rows(aggregate *self, const fm_group_rows *rows, const int32_t *picked, int32_t n, int32_t receiver, fm_arena *arena, fm_error *err)
{
    aggregation *core = self->core;
    fm_group_rows own;

    if (fm_exchange_is_direct(core->exchange, self->part, receiver)) {
        FM_TRY(pick_rows(&core->spec, rows, picked, n, arena, &own, err));
        return fm_exchange_direct(core->exchange, self->part, receiver, &own, err);
    }
    fm_parcel *parcel = fm_exchange_parcel(core->exchange);
    fm_group_rows *content = parcel ? fm_arena_one(parcel->arena, fm_group_rows) : NULL;
    fm_status st = content ? pick_rows(&core->spec, rows, picked, n, parcel->arena, content, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) st = make_own(&core->spec, content, parcel->arena, err);
    if (st == FM_OK) {
        parcel->content = content;
        fm_exchange_send(core->exchange, self->part, receiver, parcel);
    } else if (parcel) {
        fm_exchange_discard(core->exchange, parcel);
    }
    return st;
}

/* Several workers: rows go to the owners of their keys, first to the others, so that these have something to do. */
static fm_status take_and_send(void *ctx, const fm_group_rows *rows, fm_arena *arena, fm_error *err)
{
    aggregate *self = ctx;
    int32_t n_parts = self->core->n_parts, from[FM_WORKERS_MAX + 1] = {0}, at[FM_WORKERS_MAX];
    uint8_t *owner = fm_arena_alloc(arena, (size_t)rows->n + 1, 1);
    int32_t *picked = fm_arena_alloc(arena, ((size_t)rows->n + 1) * sizeof *picked, 4);

    if (!owner || !picked) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < rows->n; i++) {
        owner[i] = (uint8_t)fm_state_owner(self->core->state, rows->keys[i].hash);
        from[owner[i] + 1]++;
    }
    for (int32_t p = 0; p < n_parts; p++) {
        from[p + 1] += from[p];
        at[p] = from[p];
    }
    for (int32_t i = 0; i < rows->n; i++) picked[at[owner[i]]++] = i;
    for (int32_t k = 1; k <= n_parts; k++) {
        int32_t p = (self->part + k) % n_parts, n = from[p + 1] - from[p];
        if (n) FM_TRY(send_rows(self, rows, picked + from[p], n, p, arena, err));
    }
    return FM_OK;
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

static void run_crew(void *ctx, void (*job)(void *job_ctx, int32_t part), void *job_ctx) { fm_crew_run(ctx, job, job_ctx); }

static fm_status aggregate_save(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    aggregation *core = ((aggregate *)op)->core;
    fm_group_bounds bounds = fm_group_bounds_of(&core->spec, mb);
    fm_state_crew crew = {core->crew, run_crew};

    if (!mb->is_stream) return FM_OK;
    if (bounds.on) fm_state_set_mark(core->state, bounds.close_us);
    return fm_state_save(core->state, mb->run->batch_id + 1, &crew, err);
}

static fm_status aggregate_commit(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    return mb->is_stream ? fm_state_commit(((aggregate *)op)->core->state, mb->run->batch_id + 1, err) : FM_OK;
}

static fm_status aggregate_maintain(fm_op *op, int64_t oldest_version, fm_error *err)
{
    return fm_state_maintain(((aggregate *)op)->core->state, oldest_version, err);
}

static void aggregate_stats(const fm_op *op, fm_op_stats *out)
{
    const aggregation *core = ((const aggregate *)op)->core;

    for (int32_t i = 0; i < core->n_parts; i++) {
        fm_group_part_stats(&core->parts[i], out);
        out->late_rows += core->members[i]->input.late_rows;
    }
    out->custom_duplicates = -1;
}

static int by_start(const void *a, const void *b)
{
    const fm_op_window *x = a, *y = b;
    return (x->start_us > y->start_us) - (x->start_us < y->start_us);
}

/* Windows of a part, the earliest first. */
static int32_t part_windows(const fm_group_part *part, fm_op_window *out, int32_t n)
{
    const fm_group_spec *spec = part->spec;
    fm_state_bucket *bucket;
    int32_t got = 0;

    if (part->slices) return fm_slices_windows(part->slices, out, n);
    for (int32_t i = 0; got < n && (bucket = fm_state_bucket_nth(part->state, i)); i++) {
        int64_t end_us = fm_state_bucket_time(bucket);
        if (end_us == FM_STATE_NO_TIME) continue;
        if (spec->kind == FM_GROUP_TUMBLING) end_us = fm_group_end(end_us, spec->window.duration_us);
        out[got++] = (fm_op_window){end_us - spec->window.duration_us, end_us, fm_state_bucket_rows(bucket)};
    }
    return got;
}

/* The windows of all parts, put together. */
static int32_t aggregate_windows(const fm_op *op, fm_op_window *out, int32_t n)
{
    const aggregation *core = ((const aggregate *)op)->core;
    int32_t got = 0, kept = 0;

    if (core->spec.time_type == NULL || core->spec.time_type->id != FM_TYPE_STRUCT || core->spec.window.duration_us == 0) return 0;
    fm_op_window *all = malloc((size_t)n * (size_t)core->n_parts * sizeof *all);
    if (!all) return 0; /* it is only told to people */
    for (int32_t i = 0; i < core->n_parts; i++) got += part_windows(&core->parts[i], all + got, n);
    qsort(all, (size_t)got, sizeof *all, by_start);
    for (int32_t i = 0; i < got; i++) {
        if (kept && out[kept - 1].start_us == all[i].start_us) out[kept - 1].groups += all[i].groups;
        else if (kept < n) out[kept++] = all[i];
        else break;
    }
    free(all);
    return kept;
}

static void aggregate_close(fm_op *op)
{
    aggregate *self = (aggregate *)op;
    aggregation *core = self->core;

    if (self->part) return; /* worker 0's closes for all */
    for (int32_t i = 0; core->parts && i < core->n_parts; i++) fm_group_part_fini(&core->parts[i]);
    fm_state_close(core->state);
    fm_state_close(core->late);
    fm_exchange_free(core->exchange);
}

/* ---- Building --------------------------------------------------------------------------------------------------- */

static fm_status open_parts(fm_tree *tree, aggregation *core, fm_error *err)
{
    fm_state_codec codec = fm_group_codec(&core->spec);
    fm_state_spec late = {.in_memory = true, .parts = core->n_parts};

    core->parts = fm_arena_array(tree->arena, fm_group_part, core->n_parts);
    if (!core->parts) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_state_open(&late, 0, &core->late, err));
    FM_TRY(fm_tree_state(tree, core->spec.operator_id, core->n_parts, core->spec.value_size, core->spec.schema_text, &codec, &core->state, err));
    for (int32_t i = 0; i < core->n_parts; i++) {
        FM_TRY(fm_group_part_init(&core->parts[i], &core->spec, fm_state_part_at(core->state, i), fm_state_part_at(core->late, i), fm_state_mark(core->state), err));
    }
    return FM_OK;
}

const fm_plan *fm_op_aggregate_child(const fm_op *op) { return ((const aggregate *)op)->core->spec.child; }
fm_exchange *fm_op_aggregate_exchange(const fm_op *op) { return ((const aggregate *)op)->core->exchange; }

/* Worker 0's: what all share. */
static fm_status open_core(fm_tree *tree, aggregate *self, fm_error *err)
{
    aggregation *core = self->core;

    FM_TRY(open_parts(tree, core, err));
    if (core->n_parts > 1) FM_TRY(fm_exchange_new(core->n_parts, core->n_parts, apply_rows, core, &core->exchange, err));
    if (core->spec.closes && core->spec.late_column >= 0) FM_TRY(fm_late_sink_open(tree, core->spec.plan, core->spec.child, "aggregate", &self->input.late_sink, err));
    /* Any move of the watermark asks for a batch, a tagged key or not: so does Spark. */
    int32_t id = core->spec.operator_id;
    return tree->is_stream && id >= 0 ? fm_exec_add_stateful(tree->exec, id, &self->base, tree->mode != FM_MODE_COMPLETE, err) : FM_OK;
}

fm_status fm_op_aggregate_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {
        .name = "Aggregate", .spark_name = "stateStoreSave", .placement = FM_OP_KEYED, .begin = aggregate_begin, .push = aggregate_push,
        .finish = aggregate_finish, .save = aggregate_save, .commit = aggregate_commit, .maintain = aggregate_maintain, .stats = aggregate_stats,
        .windows = aggregate_windows, .close = aggregate_close,
    };
    aggregate *self = fm_arena_one(tree->arena, aggregate), *twin = (aggregate *)fm_tree_twin(tree);
    aggregation *core = twin ? twin->core : fm_arena_one(tree->arena, aggregation);

    if (!self || !core) return fm_no_memory(tree->arena, err);
    self->core = core;
    self->part = tree->worker;
    if (!twin) {
        core->n_parts = tree->forest->n;
        core->crew = tree->forest->crew;
        FM_TRY(fm_group_plan(tree, plan, operator_id, &core->spec, err));
    }
    core->members[self->part] = self;
    self->base = (fm_op){.type = &type, .schema = core->spec.schema, .operator_id = operator_id};
    FM_TRY(fm_group_input_init(&self->input, tree, &core->spec, err));
    self->input.take = core->n_parts == 1 ? take_here : take_and_send;
    self->input.take_ctx = self;
    *out = &self->base; /* from here on close() frees what is open */
    if (!twin) return open_core(tree, self, err);
    return twin->input.late_sink ? fm_late_sink_join(tree, twin->input.late_sink, &self->input.late_sink, err) : FM_OK;
}
