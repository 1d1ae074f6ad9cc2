/* exec/op_sort.c: ORDER BY and LIMIT. */
#include <stdlib.h>

#include "exec/exec_impl.h"
#include "exec/rows.h"

enum { EMIT_ROWS = 2048 };

/* ---- Sort: everything is held until the input is over; stable -------------------------------------------------- */

typedef struct sort {
    fm_op base;
    fm_eval **keys;
    bool *descending, *nulls_first;
    int32_t n_keys;
    fm_rows rows;       /* the rows, and their keys as further columns */
    const fm_type *held;
    fm_row_ref *refs;   /* while sorting */
} sort;

static fm_status sort_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    fm_rows_reset(&((sort *)op)->rows);
    return FM_OK;
}

static fm_status sort_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    sort *self = (sort *)op;
    int32_t n = op->schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n + self->n_keys);

    if (!columns) return fm_no_memory(arena, err);
    memcpy(columns, in->columns, (size_t)n * sizeof *columns);
    for (int32_t k = 0; k < self->n_keys; k++) FM_TRY(fm_eval_run(self->keys[k], mb->run, in, arena, &columns[n + k], err));
    fm_batch batch = {.schema = self->held, .rows = in->rows, .columns = columns};
    return fm_rows_push(&self->rows, &batch, err);
}

static int compare(const void *a, const void *b, void *ctx)
{
    const sort *self = ctx;
    const fm_row_ref *x = a, *y = b;

    for (int32_t k = 0; k < self->n_keys; k++) {
        int32_t column = self->base.schema->n_fields + k;
        const fm_vec *u = &self->rows.batches[x->batch]->columns[column], *v = &self->rows.batches[y->batch]->columns[column];
        bool u_null = fm_vec_is_null(u, x->row), v_null = fm_vec_is_null(v, y->row);
        if (u_null || v_null) {
            if (u_null && v_null) continue;
            return u_null == self->nulls_first[k] ? -1 : 1;
        }
        int c = fm_vec_cmp(u, x->row, v, y->row);
        if (c) return self->descending[k] ? -c : c;
    }
    if (x->batch != y->batch) return x->batch < y->batch ? -1 : 1; /* as they came */
    return x->row < y->row ? -1 : x->row > y->row;
}

static fm_status sort_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    sort *self = (sort *)op;
    int32_t n_columns = op->schema->n_fields;
    fm_row_ref *refs = malloc(((size_t)self->rows.rows + 1) * sizeof *refs);
    int64_t n = 0;
    fm_status st = FM_OK;

    if (!refs) return fm_no_memory(NULL, err);
    for (int32_t b = 0; b < self->rows.n; b++) {
        for (int32_t i = 0; i < self->rows.batches[b]->rows; i++) refs[n++] = (fm_row_ref){b, i};
    }
    qsort_r(refs, (size_t)n, sizeof *refs, compare, self);
    for (int64_t from = 0; from < n && st == FM_OK; from += EMIT_ROWS) {
        int32_t count = (int32_t)(n - from < EMIT_ROWS ? n - from : EMIT_ROWS);
        fm_arena_reset(arena);
        fm_vec *columns = fm_arena_array(arena, fm_vec, n_columns);
        if (!columns) st = fm_no_memory(arena, err);
        for (int32_t c = 0; c < n_columns && st == FM_OK; c++) st = fm_rows_gather(&self->rows, c, refs + from, count, arena, &columns[c], err);
        fm_batch batch = {.schema = op->schema, .rows = count, .columns = columns};
        if (st == FM_OK) st = out->push(out->ctx, &batch, err);
    }
    free(refs);
    return st;
}

static void sort_close(fm_op *op) { fm_rows_fini(&((sort *)op)->rows); }

fm_status fm_op_sort_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "Sort", .placement = FM_OP_SINGLE, .begin = sort_begin, .push = sort_push, .finish = sort_finish, .close = sort_close};
    sort *self = fm_arena_one(tree->arena, sort);
    int32_t n = plan->n_output, k = plan->n_exprs;
    fm_field *fields = fm_arena_array(tree->arena, fm_field, n + k);

    if (!self || !fields) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->n_keys = k;
    self->keys = fm_arena_array(tree->arena, fm_eval *, k);
    self->descending = fm_arena_array(tree->arena, bool, k);
    self->nulls_first = fm_arena_array(tree->arena, bool, k);
    if (!self->base.schema || !self->keys || !self->descending || !self->nulls_first) return fm_no_memory(tree->arena, err);
    memcpy(fields, self->base.schema->fields, (size_t)n * sizeof *fields);
    for (int32_t i = 0; i < k; i++) {
        const fm_expr *e = plan->exprs[i];
        self->descending[i] = e->descending;
        self->nulls_first[i] = e->nulls_first;
        FM_TRY(fm_tree_eval(tree, e->args[0], plan->children[0], &self->keys[i], err));
        fields[n + i] = (fm_field){FM_STR("key"), e->args[0]->type, true};
    }
    self->held = fm_type_struct(tree->arena, fields, n + k);
    if (!self->held) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_rows_init(&self->rows, self->held, tree->env->memory_budget, err));
    *out = &self->base;
    return FM_OK;
}

/* ---- Limit: on a stream the rows given so far are counted in the state --------------------------------------- */

typedef struct limit {
    fm_op base;
    int64_t limit, offset; /* limit -1: none */
    int64_t seen;          /* rows that came in this run (batch), or ever (stream) */
    fm_state *state;       /* NULL: counted per run */
} limit;

static fm_status stored_count(limit *self, int64_t **out, fm_error *err)
{
    fm_key key = fm_key_of_bytes(FM_STR(""));
    fm_state_bucket *bucket;
    char *value;

    fm_state_part *part = fm_state_part_at(self->state, 0);
    FM_TRY(fm_state_bucket_at(part, FM_STATE_NO_TIME, &bucket, err));
    FM_TRY(fm_state_upsert_in(part, bucket, &key, 1, &value, NULL, err));
    *out = (int64_t *)(void *)value;
    return FM_OK;
}

static fm_status limit_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    limit *self = (limit *)op;
    int64_t *count;

    self->seen = 0;
    if (!self->state) return FM_OK;
    fm_state_begin(self->state);
    FM_TRY(stored_count(self, &count, err));
    self->seen = *count;
    return FM_OK;
}

static fm_status limit_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    limit *self = (limit *)op;
    int64_t end = self->limit < 0 ? INT64_MAX : self->offset + self->limit;
    int64_t from = self->offset - self->seen, to = end - self->seen;
    const fm_batch *some;

    self->seen += in->rows;
    if (from < 0) from = 0;
    if (to > in->rows) to = in->rows;
    if (from >= to) return FM_OK;
    int32_t *rows = fm_arena_array(arena, int32_t, to - from);
    if (!rows) return fm_no_memory(arena, err);
    for (int64_t i = from; i < to; i++) rows[i - from] = (int32_t)i;
    FM_TRY(fm_batch_gather(in, rows, (int32_t)(to - from), arena, &some, err));
    return out->push(out->ctx, some, err);
}

static fm_status limit_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    limit *self = (limit *)op;
    int64_t *count;

    if (!self->state) return FM_OK;
    FM_TRY(stored_count(self, &count, err));
    *count = self->seen < self->limit ? self->seen : self->limit;
    return FM_OK;
}

static fm_status limit_commit(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    limit *self = (limit *)op;
    return self->state ? fm_state_commit(self->state, mb->run->batch_id + 1, err) : FM_OK;
}

static fm_status limit_maintain(fm_op *op, int64_t oldest_version, fm_error *err)
{
    limit *self = (limit *)op;
    return self->state ? fm_state_maintain(self->state, oldest_version, err) : FM_OK;
}

static void limit_stats(const fm_op *op, fm_op_stats *out)
{
    const limit *self = (const limit *)op;
    fm_state_stats s = {0};

    if (self->state) fm_state_get_stats(self->state, &s);
    out->rows_total += s.rows;
    out->rows_updated += s.rows_updated;
    out->memory_size += s.memory_size;
    out->custom_duplicates = -1;
}

static void limit_close(fm_op *op) { fm_state_close(((limit *)op)->state); }

fm_status fm_op_limit_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {
        .name = "Limit", .spark_name = "globalLimit", .placement = FM_OP_SINGLE, .begin = limit_begin, .push = limit_push, .finish = limit_finish,
        .commit = limit_commit, .maintain = limit_maintain, .stats = limit_stats, .close = limit_close,
    };
    limit *self = fm_arena_one(tree->arena, limit);

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan), .operator_id = operator_id};
    if (!self->base.schema) return fm_no_memory(tree->arena, err);
    self->limit = plan->limit;
    self->offset = plan->offset;
    *out = &self->base;
    if (operator_id < 0) return FM_OK;
    FM_TRY(fm_tree_state(tree, operator_id, 1, 8, FM_STR("keys:; values: limit(bigint)"), NULL, &self->state, err));
    return fm_exec_add_stateful(tree->exec, operator_id, &self->base, false, err);
}
