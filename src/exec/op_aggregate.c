/* exec/op_aggregate.c: GROUP BY, in batch and in streams.
 *
 * A group is a key (the bytes of its grouping columns, the time column left out) in a bucket (its time: the end of its
 * window, or the tagged timestamp itself). For each batch that comes:
 *
 *     rows -> bucket of each -> late? -> counted, and kept if asked for
 *                                 |
 *                                 +-> upsert the keys, bucket by bucket -> aggregate states of each row -> update
 *
 * When the input is over, rule by output mode (semantics 3.1):
 *
 *     append    emit the buckets that the watermark has passed, and drop them
 *     update    emit the groups touched in this micro-batch; then drop the buckets that it has passed
 *     complete  emit everything; drop nothing
 *
 * Late: the group's time (+ allowed lateness) is at or before the watermark of the batch before (LW); finished: at or before
 * that of this one (EW). A null time is never late and never finished. Without a tagged column there is one bucket. */
#include "base/checked.h"
#include "exec/exec_impl.h"

enum { EMIT_ROWS = 2048 };

typedef struct aggregate {
    fm_op base;
    const fm_session_conf *conf;
    fm_output_mode mode;
    bool is_stream;
    bool is_global;            /* no grouping columns: one group, even of nothing */
    int32_t time_column;       /* of the input; -1: none */
    bool time_is_window;
    int64_t window_us;         /* duration of the windows */
    bool closes;               /* tagged, and not complete mode: late rows are dropped and buckets end */
    int64_t allowed_us;
    bool by_event;             /* late means event time < EW - allowed */
    int32_t event_column;      /* of the input: the row's own event time; -1 */
    int32_t late_column;       /* of the input: the row as it was; -1: late rows are not kept */
    int32_t n_keys;            /* grouping columns without the time column */
    int32_t *key_columns;      /* of the input */
    const fm_type **key_types;
    int32_t n_aggs;
    fm_agg_call *calls;
    fm_eval ***args;           /* [n_aggs][n_args] */
    fm_eval **filters;         /* [n_aggs] or NULL each */
    bool has_fini;
    fm_state *state;
    fm_state *late_groups;     /* (bucket, key) that late rows of this micro-batch would have gone to */
    fm_late_sink *late_sink;
    int32_t *output_key;       /* [n_output] index into keys; -1: the time column; -2 - i: aggregate i */
    int64_t dropped, late_rows, updates_us;
    const fm_type *window_type, *time_type;
} aggregate;

/* ---- State of a group -------------------------------------------------------------------------------------- */

static void init_value(void *ctx, char *value)
{
    const aggregate *self = ctx;

    for (int32_t i = 0; i < self->n_aggs; i++) {
        const fm_agg_call *c = &self->calls[i];
        if (c->aggregate->init) c->aggregate->init(c, value + c->offset);
    }
}

static void fini_value(void *ctx, char *value)
{
    const aggregate *self = ctx;

    for (int32_t i = 0; i < self->n_aggs; i++) {
        const fm_agg_call *c = &self->calls[i];
        if (c->aggregate->fini) c->aggregate->fini(c, value + c->offset);
    }
}

static fm_status save_value(void *ctx, const char *value, fm_strbuf *out, fm_error *err)
{
    const aggregate *self = ctx;

    for (int32_t i = 0; i < self->n_aggs; i++) {
        const fm_agg_call *c = &self->calls[i];
        if (c->aggregate->save) FM_TRY(c->aggregate->save(c, value + c->offset, out, err));
        else fm_strbuf_add(out, (fm_str){value + c->offset, c->aggregate->state_size(c)});
    }
    return FM_OK;
}

static fm_status load_value(void *ctx, fm_str bytes, char *value, fm_error *err)
{
    const aggregate *self = ctx;
    size_t at = 0;

    for (int32_t i = 0; i < self->n_aggs; i++) {
        const fm_agg_call *c = &self->calls[i];
        if (c->aggregate->load) {
            FM_TRY(c->aggregate->load(c, bytes, &at, value + c->offset, err));
            continue;
        }
        size_t size = c->aggregate->state_size(c);
        if (bytes.len - at < size) return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state of an aggregate is cut short.");
        memcpy(value + c->offset, bytes.ptr + at, size);
        at += size;
    }
    return at == bytes.len ? FM_OK : fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state of an aggregate is too long.");
}

static size_t value_memory(void *ctx, const char *value)
{
    const aggregate *self = ctx;
    size_t size = 0;

    for (int32_t i = 0; i < self->n_aggs; i++) {
        const fm_agg_call *c = &self->calls[i];
        if (c->aggregate->memory) size += c->aggregate->memory(c, value + c->offset);
    }
    return size;
}

/* ---- Rows in ----------------------------------------------------------------------------------------------- */

/* Whether state of this time is finished at a watermark. */
static bool is_past(const aggregate *self, int64_t time_us, int64_t watermark_us)
{
    return time_us != FM_STATE_NO_TIME && fm_add_sat_i64(time_us, self->allowed_us) <= watermark_us;
}

/* The bucket time of each row. */
static fm_status row_times(aggregate *self, const fm_batch *in, int64_t *times, fm_error *err)
{
    const fm_vec *column = self->time_column >= 0 ? &in->columns[self->time_column] : NULL;

    for (int32_t i = 0; i < in->rows; i++) times[i] = FM_STATE_NO_TIME;
    if (!column) return FM_OK;
    const fm_vec *end = self->time_is_window ? &column->children[1] : column;
    const int64_t *us = fm_vec_i64(end);
    for (int32_t i = 0; i < in->rows; i++) {
        if (!fm_vec_is_null(column, i) && !fm_vec_is_null(end, i)) times[i] = us[i];
    }
    if (!self->time_is_window) return FM_OK;
    const int64_t *start = fm_vec_i64(&column->children[0]);
    for (int32_t i = 0; i < in->rows; i++) {
        if (times[i] == FM_STATE_NO_TIME) continue;
        if (us[i] - start[i] != self->window_us) return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_WINDOWS_DIFFER", "Windows of different lengths cannot be grouped together.");
    }
    return FM_OK;
}

/* A late row: counted, its group noted, and kept when the query asks for it. */
static fm_status take_late(aggregate *self, const fm_op_batch *mb, const fm_batch *in, int32_t row, int64_t time_us,
                           const fm_key *key, int64_t watermark_us, fm_error *err)
{
    fm_state_bucket *bucket;
    char *value;
    uint8_t fresh;

    FM_TRY(fm_state_bucket_at(fm_state_part_at(self->late_groups, 0), time_us, &bucket, err));
    FM_TRY(fm_state_upsert_in(fm_state_part_at(self->late_groups, 0), bucket, key, 1, &value, &fresh, err));
    self->dropped += fresh == FM_STATE_FRESH;
    self->late_rows++;
    if (!self->late_sink || self->late_column < 0) return FM_OK;
    int64_t event_us = self->event_column >= 0 ? fm_vec_i64(&in->columns[self->event_column])[row] : time_us;
    return fm_late_sink_add(self->late_sink, mb, &in->columns[self->late_column], row, time_us - self->window_us, time_us,
                            self->time_is_window, watermark_us, event_us, err);
}

static bool is_late(const aggregate *self, const fm_op_watermarks *w, const fm_batch *in, int32_t row, int64_t time_us)
{
    if (!self->by_event) return is_past(self, time_us, w->late_us);
    const fm_vec *event = &in->columns[self->event_column];
    if (w->evict_us <= 0 || fm_vec_is_null(event, row)) return false;
    return fm_add_sat_i64(fm_vec_i64(event)[row], self->allowed_us) < w->evict_us;
}

static fm_status update_states(aggregate *self, const fm_op_batch *mb, const fm_batch *in, char **entries, fm_arena *arena, fm_error *err)
{
    for (int32_t a = 0; a < self->n_aggs; a++) {
        const fm_agg_call *c = &self->calls[a];
        fm_vec args[8];
        const uint8_t *keep = NULL;
        fm_vec condition;
        for (int32_t k = 0; k < c->n_args; k++) FM_TRY(fm_eval_run(self->args[a][k], mb->run, in, arena, &args[k], err));
        if (self->filters[a]) {
            FM_TRY(fm_eval_run(self->filters[a], mb->run, in, arena, &condition, err));
            if (condition.type->id == FM_TYPE_NULL) continue;
            keep = fm_vec_bool(&condition);
        }
        FM_TRY(c->aggregate->update(c, entries, args, keep, in->rows, err));
    }
    return FM_OK;
}

/* Upserts rows[n], all of one bucket. */
static fm_status upsert_rows(aggregate *self, int64_t time_us, const fm_key *keys, const int32_t *rows, int32_t n, bool all,
                             char **entries, fm_arena *arena, fm_error *err)
{
    fm_state_bucket *bucket;

    FM_TRY(fm_state_bucket_at(fm_state_part_at(self->state, 0), time_us, &bucket, err));
    if (all) return fm_state_upsert_in(fm_state_part_at(self->state, 0), bucket, keys, n, entries, NULL, err);
    fm_key *some = fm_arena_alloc(arena, (size_t)n * sizeof *some, 8);
    char **values = fm_arena_alloc(arena, (size_t)n * sizeof *values, 8);
    if (!some || !values) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) some[i] = keys[rows[i]];
    FM_TRY(fm_state_upsert_in(fm_state_part_at(self->state, 0), bucket, some, n, values, NULL, err));
    for (int32_t i = 0; i < n; i++) entries[rows[i]] = values[i];
    return FM_OK;
}

/* The entry of each row, bucket by bucket: rows that share one are upserted together. */
static fm_status find_entries(aggregate *self, const fm_batch *in, const int64_t *times, const fm_key *keys, char **entries, fm_arena *arena, fm_error *err)
{
    int32_t n = in->rows;
    bool same = true;

    for (int32_t i = 1; i < n && same; i++) same = times[i] == times[0];
    if (same) return n ? upsert_rows(self, times[0], keys, NULL, n, true, entries, arena, err) : FM_OK;
    int32_t *rows = fm_arena_array(arena, int32_t, n);
    uint8_t *done = fm_arena_array(arena, uint8_t, n);
    if (!rows || !done) return fm_no_memory(arena, err);
    for (int32_t from = 0; from < n;) {
        int32_t count = 0, next = n;
        for (int32_t i = from; i < n; i++) {
            if (done[i]) continue;
            if (times[i] == times[from]) {
                rows[count++] = i;
                done[i] = 1;
            } else if (next == n) {
                next = i;
            }
        }
        FM_TRY(upsert_rows(self, times[from], keys, rows, count, false, entries, arena, err));
        from = next;
        while (from < n && done[from]) from++;
    }
    return FM_OK;
}

static fm_status aggregate_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                                const fm_emit *out, fm_error *err)
{
    aggregate *self = (aggregate *)op;
    int32_t n = in->rows;
    const fm_vec **columns = fm_arena_array(arena, const fm_vec *, self->n_keys);
    fm_key *keys = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *keys, 8);
    int64_t *times = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *times, 8);
    char **entries = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *entries, 8);

    if (!columns || !keys || !times || !entries) return fm_no_memory(arena, err);
    for (int32_t k = 0; k < self->n_keys; k++) columns[k] = &in->columns[self->key_columns[k]];
    FM_TRY(fm_keys_encode(columns, self->n_keys, n, arena, keys, err));
    FM_TRY(row_times(self, in, times, err));
    if (self->closes && mb->is_stream) {
        const fm_op_watermarks *w = &mb->watermarks[op->operator_id];
        uint8_t *keep = fm_arena_alloc(arena, (size_t)n + 1, 1);
        int32_t kept = 0;
        if (!keep) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < n; i++) {
            keep[i] = !is_late(self, w, in, i, times[i]);
            kept += keep[i];
            if (!keep[i]) FM_TRY(take_late(self, mb, in, i, times[i], &keys[i], self->by_event ? w->evict_us : w->late_us, err));
        }
        if (kept < n) {
            for (int32_t i = 0, k = 0; i < n; i++) {
                keys[k] = keys[i];
                times[k] = times[i];
                k += keep[i];
            }
            FM_TRY(fm_batch_filter(in, keep, arena, &in, err));
        }
    }
    FM_TRY(find_entries(self, in, times, keys, entries, arena, err));
    return update_states(self, mb, in, entries, arena, err);
}

/* ---- Rows out ---------------------------------------------------------------------------------------------- */

/* The time column of n groups of one bucket. */
static fm_status time_column(const aggregate *self, int64_t time_us, int32_t n, fm_arena *arena, fm_vec *out, fm_error *err)
{
    const fm_type *type = self->time_is_window ? self->window_type : self->time_type;

    if (time_us == FM_STATE_NO_TIME) return fm_vec_nulls(out, type, n, arena, err);
    if (!self->time_is_window) {
        FM_TRY(fm_vec_init(out, type, n, arena, err));
        for (int32_t i = 0; i < n; i++) fm_vec_i64_out(out)[i] = time_us;
        return FM_OK;
    }
    fm_vec *ends = fm_arena_array(arena, fm_vec, 2);
    if (!ends) return fm_no_memory(arena, err);
    FM_TRY(fm_vec_init(&ends[0], type->fields[0].type, n, arena, err));
    FM_TRY(fm_vec_init(&ends[1], type->fields[1].type, n, arena, err));
    for (int32_t i = 0; i < n; i++) {
        fm_vec_i64_out(&ends[0])[i] = time_us - self->window_us;
        fm_vec_i64_out(&ends[1])[i] = time_us;
    }
    *out = (fm_vec){.type = type, .len = n, .children = ends};
    return FM_OK;
}

static fm_status emit_groups(aggregate *self, int64_t time_us, const fm_key *keys, char **values, int32_t n, fm_arena *arena,
                             const fm_emit *out, fm_error *err)
{
    int32_t n_columns = self->base.schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n_columns), *key_vecs = fm_arena_array(arena, fm_vec, self->n_keys);

    if (!columns || !key_vecs) return fm_no_memory(arena, err);
    FM_TRY(fm_keys_decode(keys, n, self->key_types, self->n_keys, arena, key_vecs, err));
    for (int32_t c = 0; c < n_columns; c++) {
        int32_t from = self->output_key[c];
        if (from >= 0) columns[c] = key_vecs[from];
        else if (from == -1) FM_TRY(time_column(self, time_us, n, arena, &columns[c], err));
        else FM_TRY(self->calls[-2 - from].aggregate->finish(&self->calls[-2 - from], values, n, arena, &columns[c], err));
    }
    fm_batch batch = {.schema = self->base.schema, .rows = n, .columns = columns};
    return out->push(out->ctx, &batch, err);
}

static fm_status emit_bucket(aggregate *self, fm_state_bucket *bucket, bool changed_only, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_key keys[EMIT_ROWS];
    char *values[EMIT_ROWS];
    int64_t at = 0;
    int32_t n;

    while ((n = fm_state_scan(fm_state_part_at(self->state, 0), bucket, &at, changed_only, keys, values, EMIT_ROWS)) > 0) {
        fm_arena_reset(arena);
        FM_TRY(emit_groups(self, fm_state_bucket_time(bucket), keys, values, n, arena, out, err));
    }
    return FM_OK;
}

/* A query without grouping columns has its one group from the start. */
static fm_status touch_global(aggregate *self, fm_error *err)
{
    fm_key key = fm_key_of_bytes(FM_STR(""));
    fm_state_bucket *bucket;
    char *value;

    FM_TRY(fm_state_bucket_at(fm_state_part_at(self->state, 0), FM_STATE_NO_TIME, &bucket, err));
    return fm_state_upsert_in(fm_state_part_at(self->state, 0), bucket, &key, 1, &value, NULL, err);
}

static fm_status emit_touched(aggregate *self, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    fm_state_bucket *bucket;

    for (int32_t i = 0; (bucket = fm_state_bucket_nth(fm_state_part_at(self->state, 0), i)); i++) FM_TRY(emit_bucket(self, bucket, true, arena, out, err));
    return FM_OK;
}

static fm_status aggregate_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    aggregate *self = (aggregate *)op;
    fm_state_bucket *bucket;

    if (self->is_global) FM_TRY(touch_global(self, err));
    if (!mb->is_stream || self->mode == FM_MODE_COMPLETE) {
        for (int32_t i = 0; (bucket = fm_state_bucket_nth(fm_state_part_at(self->state, 0), i)); i++) FM_TRY(emit_bucket(self, bucket, false, arena, out, err));
        return FM_OK;
    }
    if (self->mode == FM_MODE_UPDATE) FM_TRY(emit_touched(self, arena, out, err));
    if (!self->closes) return FM_OK;
    int64_t evict_us = mb->watermarks[op->operator_id].evict_us;
    while ((bucket = fm_state_bucket_nth(fm_state_part_at(self->state, 0), 0)) && is_past(self, fm_state_bucket_time(bucket), evict_us)) {
        if (self->mode == FM_MODE_APPEND) FM_TRY(emit_bucket(self, bucket, false, arena, out, err));
        fm_state_bucket_drop(fm_state_part_at(self->state, 0), bucket);
    }
    return FM_OK;
}

static fm_status aggregate_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    aggregate *self = (aggregate *)op;
    fm_state_bucket *bucket;

    fm_state_begin(self->state);
    while ((bucket = fm_state_bucket_nth(fm_state_part_at(self->late_groups, 0), 0))) fm_state_bucket_drop(fm_state_part_at(self->late_groups, 0), bucket);
    self->dropped = self->late_rows = 0;
    return FM_OK;
}

static fm_status aggregate_commit(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    aggregate *self = (aggregate *)op;

    return mb->is_stream ? fm_state_commit(self->state, mb->run->batch_id + 1, err) : FM_OK;
}

static fm_status aggregate_maintain(fm_op *op, int64_t oldest_version, fm_error *err)
{
    return fm_state_maintain(((aggregate *)op)->state, oldest_version, err);
}

static void aggregate_stats(const fm_op *op, fm_op_stats *out)
{
    const aggregate *self = (const aggregate *)op;
    fm_state_stats s;

    fm_state_get_stats(self->state, &s);
    out->rows_total += s.rows;
    out->rows_updated += s.rows_updated;
    out->rows_removed += s.rows_removed;
    out->memory_size += s.memory_size;
    out->rows_dropped_by_watermark += self->dropped;
    out->late_rows += self->late_rows;
    out->custom_duplicates = -1;
}

static int32_t aggregate_windows(const fm_op *op, fm_op_window *out, int32_t n)
{
    const aggregate *self = (const aggregate *)op;
    fm_state_bucket *bucket;
    int32_t got = 0;

    if (!self->time_is_window) return 0;
    for (int32_t i = 0; got < n && (bucket = fm_state_bucket_nth(fm_state_part_at(self->state, 0), i)); i++) {
        int64_t end_us = fm_state_bucket_time(bucket);
        if (end_us == FM_STATE_NO_TIME) continue;
        out[got++] = (fm_op_window){end_us - self->window_us, end_us, fm_state_bucket_rows(bucket)};
    }
    return got;
}

static void aggregate_close(fm_op *op)
{
    aggregate *self = (aggregate *)op;

    fm_state_close(self->state);
    fm_state_close(self->late_groups);
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

static fm_status add_call(fm_tree *tree, aggregate *self, const fm_plan *child, const fm_expr *e, uint32_t *size, fm_error *err)
{
    int32_t i = self->n_aggs++;
    fm_agg_call *c = &self->calls[i];

    FM_TRY(fm_agg_call_init(c, tree->env->conf, e, tree->arena, err));
    fm_assert(c->n_args <= 8);
    c->offset = *size;
    uint32_t own = c->aggregate->state_size(c);
    fm_assert(own % 8 == 0 && own <= FM_AGG_STATE_SIZE_MAX);
    *size += own;
    self->has_fini |= c->aggregate->fini != NULL || c->aggregate->save != NULL;
    self->args[i] = fm_arena_array(tree->arena, fm_eval *, c->n_args);
    if (!self->args[i]) return fm_no_memory(tree->arena, err);
    for (int32_t k = 0; k < c->n_args; k++) FM_TRY(fm_tree_eval(tree, e->args[k], child, &self->args[i][k], err));
    return e->filter ? fm_tree_eval(tree, e->filter, child, &self->filters[i], err) : FM_OK;
}

/* The duration of the windows that come: that of the nearest window() below. */
static bool find_window(const fm_plan *plan, void *ctx)
{
    if (plan->kind != FM_PLAN_TIME_WINDOW) return true;
    *(int64_t *)ctx = plan->window.duration_us;
    return false;
}

/* Grouping columns: the tagged one (or a window) gives the bucket, the others are the key. */
static fm_status plan_keys(fm_tree *tree, aggregate *self, const fm_plan *plan, fm_error *err)
{
    const fm_plan *child = plan->children[0];

    self->time_column = -1;
    for (int32_t g = 0; g < plan->n_group_exprs; g++) {
        const fm_expr *e = plan->group_exprs[g];
        fm_assert(e->kind == FM_EXPR_ATTRIBUTE);
        int32_t column = fm_plan_column(child, e->attr_id);
        fm_assert(column >= 0);
        bool is_time = (plan->event_time_id && e->attr_id == plan->event_time_id) || (e->type->id == FM_TYPE_STRUCT && e->type->is_window && !plan->event_time_id);
        if (is_time && self->time_column < 0) {
            self->time_column = column;
            self->time_is_window = e->type->id == FM_TYPE_STRUCT;
            if (self->time_is_window) fm_plan_walk(child, find_window, &self->window_us);
            self->window_type = self->time_type = e->type;
            continue;
        }
        self->key_columns[self->n_keys] = column;
        self->key_types[self->n_keys++] = e->type;
    }
    self->is_global = plan->n_group_exprs == 0 && !plan->is_distinct;
    return FM_OK;
}

static int32_t key_index(const aggregate *self, int32_t column)
{
    for (int32_t k = 0; k < self->n_keys; k++) {
        if (self->key_columns[k] == column) return k;
    }
    return -1;
}

static fm_status plan_output(fm_tree *tree, aggregate *self, const fm_plan *plan, uint32_t *size, fm_error *err)
{
    const fm_plan *child = plan->children[0];

    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        if (e->kind == FM_EXPR_AGGREGATE) {
            self->output_key[i] = -2 - self->n_aggs;
            FM_TRY(add_call(tree, self, child, e, size, err));
            continue;
        }
        fm_assert(e->kind == FM_EXPR_ATTRIBUTE);
        int32_t column = fm_plan_column(child, e->attr_id);
        self->output_key[i] = column == self->time_column ? -1 : key_index(self, column);
        fm_assert(column == self->time_column || self->output_key[i] >= 0);
    }
    return FM_OK;
}

/* What the state is made of, for the check when a query comes back to it. */
static fm_str schema_text(fm_tree *tree, const aggregate *self, const fm_plan *plan)
{
    fm_strbuf text = {0};

    fm_strbuf_add_c(&text, "keys:");
    for (int32_t g = 0; g < plan->n_group_exprs; g++) {
        fm_strbuf_add_char(&text, ' ');
        fm_type_text(plan->group_exprs[g]->type, &text);
    }
    fm_strbuf_add_c(&text, "; values:");
    for (int32_t i = 0; i < self->n_aggs; i++) {
        fm_strbuf_printf(&text, " %s(", self->calls[i].aggregate->name);
        for (int32_t k = 0; k < self->calls[i].n_args; k++) {
            if (k) fm_strbuf_add_char(&text, ',');
            fm_type_text(self->calls[i].arg_types[k], &text);
        }
        fm_strbuf_add_char(&text, ')');
    }
    fm_str out = fm_arena_str(tree->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return out;
}

static fm_status open_state(fm_tree *tree, aggregate *self, const fm_plan *plan, int32_t operator_id, uint32_t size, fm_error *err)
{
    fm_state_codec codec = {.ctx = self, .init = init_value};
    fm_state_spec late = {.in_memory = true};
    fm_str schema = schema_text(tree, self, plan);

    if (!schema.ptr) return fm_no_memory(tree->arena, err);
    if (self->has_fini) {
        codec.fini = fini_value;
        codec.save = save_value;
        codec.load = load_value;
        codec.memory = value_memory;
    }
    FM_TRY(fm_state_open(&late, 0, &self->late_groups, err));
    return fm_tree_state(tree, operator_id, size, schema, &codec, &self->state, err);
}

fm_status fm_op_aggregate_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {
        .name = "Aggregate", .spark_name = "stateStoreSave", .begin = aggregate_begin, .push = aggregate_push, .finish = aggregate_finish,
        .commit = aggregate_commit, .maintain = aggregate_maintain, .stats = aggregate_stats, .windows = aggregate_windows, .close = aggregate_close,
    };
    aggregate *self = fm_arena_one(tree->arena, aggregate);
    uint32_t size = 0;

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan), .operator_id = operator_id};
    self->conf = tree->env->conf;
    self->mode = tree->mode;
    self->is_stream = tree->is_stream;
    self->key_columns = fm_arena_array(tree->arena, int32_t, plan->n_group_exprs);
    self->key_types = fm_arena_array(tree->arena, const fm_type *, plan->n_group_exprs);
    self->output_key = fm_arena_array(tree->arena, int32_t, plan->n_exprs);
    self->calls = fm_arena_array(tree->arena, fm_agg_call, plan->n_exprs);
    self->args = fm_arena_array(tree->arena, fm_eval **, plan->n_exprs);
    self->filters = fm_arena_array(tree->arena, fm_eval *, plan->n_exprs);
    if (!self->base.schema || !self->key_columns || !self->key_types || !self->output_key || !self->calls || !self->args || !self->filters) return fm_no_memory(tree->arena, err);
    FM_TRY(plan_keys(tree, self, plan, err));
    FM_TRY(plan_output(tree, self, plan, &size, err));
    *out = &self->base; /* from here on close() frees what is open */
    self->closes = tree->is_stream && plan->event_time_id && self->time_column >= 0 && tree->mode != FM_MODE_COMPLETE;
    self->event_column = plan->late_time_id ? fm_plan_column(plan->children[0], plan->late_time_id) : -1;
    self->late_column = plan->late_row_id ? fm_plan_column(plan->children[0], plan->late_row_id) : -1;
    self->allowed_us = self->closes ? plan->lateness.allowed_us : 0;
    self->by_event = self->closes && plan->lateness.by_event && self->event_column >= 0;
    FM_TRY(open_state(tree, self, plan, operator_id, size, err));
    if (self->closes && self->late_column >= 0) FM_TRY(fm_late_sink_open(tree, plan, "aggregate", &self->late_sink, err));
    /* Any move of the watermark asks for a batch, a tagged key or not: so does Spark. */
    return tree->is_stream && operator_id >= 0 ? fm_exec_add_stateful(tree->exec, operator_id, &self->base, tree->mode != FM_MODE_COMPLETE, err) : FM_OK;
}
