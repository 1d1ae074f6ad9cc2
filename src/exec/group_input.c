/* exec/group_input.c: from a batch of rows to what the owners of their keys need: the bucket of each row, its key, the
 * arguments of the aggregates. Rows that are late are sorted out here: that needs no state.
 *
 * Late: the group's time (+ allowed lateness) is at or before the watermark of the batch before (LW); with policy
 * 'event', the row's own time is before that of this one (EW). A null time is never late. Of a sliding window's row some
 * windows may be late and others not: its slice takes it as long as one is open. */
#include "base/checked.h"
#include "exec/group.h"

fm_status fm_group_input_init(fm_group_input *input, fm_tree *tree, const fm_group_spec *spec, fm_error *err)
{
    *input = (fm_group_input){.spec = spec};
    input->inputs = fm_arena_array(tree->arena, fm_eval *, spec->n_inputs);
    if (!input->inputs) return fm_no_memory(tree->arena, err);
    for (int32_t i = 0; i < spec->n_inputs; i++) FM_TRY(fm_tree_eval(tree, spec->inputs[i], spec->child, &input->inputs[i], err));
    if (spec->child == spec->plan->children[0]) return FM_OK;
    return fm_tree_eval(tree, spec->plan->children[0]->exprs[0], spec->child, &input->time, err);
}

/* ---- Where times fall ------------------------------------------------------------------------------------------- */

/* The multiple of width (counted from zero_us) at or below t; at the ends of the calendar, the nearest that exists. */
static int64_t floor_to(int64_t t, int64_t zero_us, int64_t width)
{
    fm_i128 r = ((fm_i128)t - zero_us) % width, start = (fm_i128)t - (r < 0 ? r + width : r);

    return start < INT64_MIN ? INT64_MIN : (int64_t)start;
}

/* out[i] = floor_to(us[i], ...). The times of a batch lie close together: from the first multiple below all of them,
 * they are divided as doubles, exact below 2^52 but for the last bit, which is put right. */
static void floor_all(const int64_t *restrict us, int32_t n, int64_t zero_us, int64_t width, int64_t *restrict out)
{
    int64_t min = INT64_MAX, max = INT64_MIN;

    for (int32_t i = 0; i < n; i++) {
        min = us[i] < min ? us[i] : min;
        max = us[i] > max ? us[i] : max;
    }
    int64_t base = n ? floor_to(min, zero_us, width) : 0;
    if (n == 0 || (uint64_t)max - (uint64_t)base >= (uint64_t)1 << 52) {
        for (int32_t i = 0; i < n; i++) out[i] = floor_to(us[i], zero_us, width);
        return;
    }
    double per_us = 1.0 / (double)width;
    for (int32_t i = 0; i < n; i++) {
        int64_t x = us[i] - base, q = (int64_t)((double)x * per_us), r = x - q * width;
        q += (r >= width) - (r < 0);
        out[i] = base + q * width;
    }
}

/* Never FM_STATE_NO_TIME. */
static int64_t clamped(fm_i128 x) { return x < INT64_MIN ? INT64_MIN : x >= INT64_MAX ? INT64_MAX - 1 : (int64_t)x; }

int64_t fm_window_end(const fm_window_spec *w, int64_t window)
{
    return clamped((fm_i128)window * w->slide_us + w->start_us + w->duration_us);
}

int64_t fm_last_window_ended(const fm_window_spec *w, int64_t time_us)
{
    fm_i128 x = (fm_i128)time_us - w->duration_us - w->start_us, q = x / w->slide_us;

    if (time_us == INT64_MIN) return INT64_MIN;
    return (int64_t)(q - (x % w->slide_us < 0));
}

/* The windows that hold a time are those that start in (time - duration, time]; all times of a slice are in the same. */
int64_t fm_slice_last_window(const fm_window_spec *w, int64_t slice_us)
{
    fm_i128 x = (fm_i128)slice_us - w->start_us, q = x / w->slide_us;

    return (int64_t)(q - (x % w->slide_us < 0));
}

int64_t fm_slice_first_window(const fm_window_spec *w, int64_t slice_us)
{
    fm_i128 x = (fm_i128)slice_us - w->duration_us - w->start_us, q = x / w->slide_us;

    return (int64_t)(q - (x % w->slide_us < 0)) + 1;
}

int64_t fm_slice_start(const fm_window_spec *w, int64_t time_us)
{
    int64_t start = floor_to(time_us, w->start_us, w->slide_us), rest = w->duration_us % w->slide_us;

    return rest && (uint64_t)time_us - (uint64_t)start >= (uint64_t)rest ? start + rest : start;
}

static void slices_of(const fm_window_spec *w, const int64_t *us, int32_t n, int64_t *out)
{
    int64_t rest = w->duration_us % w->slide_us;

    floor_all(us, n, w->start_us, w->slide_us, out);
    for (int32_t i = 0; rest && i < n; i++) out[i] += us[i] - out[i] >= rest ? rest : 0;
}

/* ---- Rows with their times ---------------------------------------------------------------------------------------- */

/* A batch on its way through this file. */
typedef struct flow {
    const fm_batch *in;
    int64_t *times;        /* of the buckets */
    const int64_t *ends;   /* WINDOW, TIME: what lateness goes by, of each row; FM_STATE_NO_TIME: null */
    fm_key *keys;
    fm_vec *inputs;
} flow;

/* Rows without an event time belong to no window. Rule: semantics 4.1. */
static fm_status drop_null_times(const fm_batch **in, fm_vec *time, fm_arena *arena, fm_error *err)
{
    int32_t n = 0, *rows;

    if (!time->validity) return FM_OK;
    rows = fm_arena_alloc(arena, ((size_t)time->len + 1) * sizeof *rows, 4);
    if (!rows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < time->len; i++) {
        rows[n] = i;
        n += fm_bit_get(time->validity, i);
    }
    if (n == time->len) return FM_OK;
    fm_vec all = *time;
    FM_TRY(fm_batch_gather(*in, rows, n, arena, in, err));
    return fm_vec_gather(time, &all, rows, n, arena, err);
}

static fm_status window_times(fm_group_input *input, const fm_op_batch *mb, flow *f, fm_arena *arena, fm_error *err)
{
    const fm_group_spec *spec = input->spec;
    fm_vec time;

    FM_TRY(fm_eval_run(input->time, mb->run, f->in, arena, &time, err));
    if (time.type->id == FM_TYPE_NULL) {
        FM_TRY(fm_batch_gather(f->in, NULL, 0, arena, &f->in, err));
        return FM_OK;
    }
    FM_TRY(drop_null_times(&f->in, &time, arena, err));
    f->times = fm_arena_alloc(arena, ((size_t)time.len + 1) * sizeof *f->times, 8);
    if (!f->times) return fm_no_memory(arena, err);
    if (spec->kind == FM_GROUP_TUMBLING) floor_all(fm_vec_i64(&time), time.len, spec->window.start_us, spec->window.slide_us, f->times);
    else slices_of(&spec->window, fm_vec_i64(&time), time.len, f->times);
    return FM_OK;
}

/* Of a window or timestamp column. */
static fm_status column_times(const fm_group_spec *spec, flow *f, fm_arena *arena, fm_error *err)
{
    const fm_vec *column = &f->in->columns[spec->time_column];
    const fm_vec *end = column->type->id == FM_TYPE_STRUCT ? &column->children[1] : column;
    int32_t n = f->in->rows;
    int64_t *ends = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *ends, 8);

    f->times = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *f->times, 8);
    if (!ends || !f->times) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        ends[i] = fm_vec_is_null(column, i) || fm_vec_is_null(end, i) ? FM_STATE_NO_TIME : fm_vec_i64(end)[i];
        f->times[i] = spec->kind == FM_GROUP_TIME && ends[i] != FM_STATE_NO_TIME ? floor_to(ends[i], 0, spec->bucket_us) : ends[i];
    }
    f->ends = ends;
    return FM_OK;
}

static fm_status encode_keys(const fm_group_spec *spec, flow *f, fm_arena *arena, fm_error *err)
{
    const fm_vec **columns = fm_arena_array(arena, const fm_vec *, spec->n_keys);

    f->keys = fm_arena_alloc(arena, ((size_t)f->in->rows + 1) * sizeof *f->keys, 8);
    if (!columns || !f->keys) return fm_no_memory(arena, err);
    for (int32_t k = 0; k < spec->n_keys; k++) columns[k] = &f->in->columns[spec->key_columns[k]];
    return fm_keys_encode(columns, spec->n_keys, f->in->rows, arena, f->keys, err);
}

static fm_status eval_inputs(fm_group_input *input, const fm_op_batch *mb, flow *f, fm_arena *arena, fm_error *err)
{
    int32_t n = input->spec->n_inputs;

    f->inputs = fm_arena_array(arena, fm_vec, n);
    if (!f->inputs) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) FM_TRY(fm_eval_run(input->inputs[i], mb->run, f->in, arena, &f->inputs[i], err));
    return FM_OK;
}

/* ---- Late rows -------------------------------------------------------------------------------------------------- */

/* What of a row is late. */
typedef enum lateness { IN_TIME, PARTLY_LATE, LATE } lateness;

static lateness judge(const fm_group_spec *spec, const fm_group_bounds *b, const flow *f, int32_t i)
{
    if (spec->by_event) {
        const fm_vec *event = &f->in->columns[spec->event_column];
        return !fm_vec_is_null(event, i) && fm_vec_i64(event)[i] < b->event_us ? LATE : IN_TIME;
    }
    const fm_window_spec *w = &spec->window;
    switch (spec->kind) {
    case FM_GROUP_TUMBLING: return fm_add_sat_i64(f->times[i], w->duration_us) <= b->late_us ? LATE : IN_TIME;
    case FM_GROUP_SLIDING: {
        int64_t last = fm_window_end(w, fm_slice_last_window(w, f->times[i]));
        int64_t first = fm_window_end(w, fm_slice_first_window(w, f->times[i]));
        return last <= b->late_us ? LATE : first <= b->late_us ? PARTLY_LATE : IN_TIME;
    }
    default: return f->ends[i] != FM_STATE_NO_TIME && f->ends[i] <= b->late_us ? LATE : IN_TIME;
    }
}

/* Whether some row may be late: mostly none is, and one look at all times says so. */
static bool any_may_be_late(const fm_group_spec *spec, const fm_group_bounds *b, const flow *f)
{
    int64_t min = INT64_MAX;

    if (!b->on) return false;
    if (spec->by_event || spec->kind == FM_GROUP_WINDOW || spec->kind == FM_GROUP_TIME) return true;
    for (int32_t i = 0; i < f->in->rows; i++) min = f->times[i] < min ? f->times[i] : min;
    /* The first window that a slice lies in ends after it does; a tumbling window ends a whole duration after its start. */
    int64_t ends_after = spec->kind == FM_GROUP_TUMBLING ? spec->window.duration_us : 0;
    return fm_add_sat_i64(min, ends_after) <= b->late_us;
}

/* The row goes to the sink of late rows, with the windows that it missed. */
static fm_status keep_late_row(fm_group_input *input, const fm_op_batch *mb, const fm_group_bounds *b, const flow *f, int32_t i, fm_error *err)
{
    const fm_group_spec *spec = input->spec;
    const fm_window_spec *w = &spec->window;
    const fm_op_watermarks *marks = &mb->watermarks[spec->operator_id];
    const fm_vec *rows = &f->in->columns[spec->late_column];
    int64_t watermark_us = spec->by_event ? marks->evict_us : marks->late_us;
    int64_t end_us = spec->kind == FM_GROUP_TUMBLING ? fm_group_end(f->times[i], w->duration_us) : f->ends ? f->ends[i] : 0;
    int64_t event_us = spec->event_column >= 0 ? fm_vec_i64(&f->in->columns[spec->event_column])[i] : end_us;

    if (spec->kind != FM_GROUP_SLIDING) {
        bool has_window = spec->time_type->id == FM_TYPE_STRUCT;
        return fm_late_sink_add(input->late_sink, mb, rows, i, end_us - w->duration_us, end_us, has_window, watermark_us, event_us, err);
    }
    int64_t first = fm_slice_first_window(w, f->times[i]), last = fm_slice_last_window(w, f->times[i]);
    int64_t last_late = spec->by_event ? last : fm_last_window_ended(w, b->late_us);
    last = last < last_late ? last : last_late;
    return fm_late_sink_add_windows(input->late_sink, mb, rows, i, w, first, last, watermark_us, event_us, err);
}

/* Hands on the rows picked; `late`: only for their groups to be counted. */
static fm_status give_some(fm_group_input *input, const flow *f, const int32_t *rows, int32_t n, bool late, fm_arena *arena, fm_error *err)
{
    const fm_group_spec *spec = input->spec;
    int64_t *times = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *times, 8);
    fm_key *keys = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *keys, 8);
    fm_vec *inputs = fm_arena_array(arena, fm_vec, spec->n_inputs);

    if (n == 0) return FM_OK;
    if (!times || !keys || !inputs) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        times[i] = f->times[rows[i]];
        keys[i] = f->keys[rows[i]];
    }
    for (int32_t k = 0; !late && k < spec->n_inputs; k++) FM_TRY(fm_vec_gather(&inputs[k], &f->inputs[k], rows, n, arena, err));
    fm_group_rows out = {.n = n, .times = times, .keys = keys, .inputs = late ? NULL : inputs, .late = late};
    return input->take(input->take_ctx, &out, arena, err);
}

static fm_status give_judged(fm_group_input *input, const fm_op_batch *mb, const fm_group_bounds *b, const flow *f, fm_arena *arena, fm_error *err)
{
    int32_t n = f->in->rows, n_late = 0, n_kept = 0;
    int32_t *late = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *late, 4), *kept = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *kept, 4);

    if (!late || !kept) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        lateness l = judge(input->spec, b, f, i);
        if (l != LATE) kept[n_kept++] = i;
        if (l == IN_TIME) continue;
        late[n_late++] = i;
        if (input->late_sink) FM_TRY(keep_late_row(input, mb, b, f, i, err));
    }
    input->late_rows += n_late;
    FM_TRY(give_some(input, f, late, n_late, true, arena, err));
    return give_some(input, f, kept, n_kept, false, arena, err);
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

fm_status fm_group_input_push(fm_group_input *input, const fm_op_batch *mb, const fm_batch *in, fm_arena *arena, fm_error *err)
{
    const fm_group_spec *spec = input->spec;
    fm_group_bounds bounds = fm_group_bounds_of(spec, mb);
    flow f = {.in = in};

    if (input->time) FM_TRY(window_times(input, mb, &f, arena, err));
    else if (spec->time_column >= 0) FM_TRY(column_times(spec, &f, arena, err));
    if (f.in->rows == 0) return FM_OK;
    FM_TRY(encode_keys(spec, &f, arena, err));
    FM_TRY(eval_inputs(input, mb, &f, arena, err));
    if (any_may_be_late(spec, &bounds, &f)) return give_judged(input, mb, &bounds, &f, arena, err);
    fm_group_rows rows = {.n = f.in->rows, .times = f.times, .keys = f.keys, .inputs = f.inputs};
    return input->take(input->take_ctx, &rows, arena, err);
}
