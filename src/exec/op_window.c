/* exec/op_window.c: assigns rows to the windows of their event time: a row is repeated for each, with a column
 * window STRUCT<start, end>. Rows without a time belong to no window and are dropped. Rule: semantics 4.1. */
#include "base/checked.h"
#include "base/limits.h"
#include "exec/exec_impl.h"

typedef struct window_op {
    fm_op base;
    fm_eval *time;
    fm_window_spec spec;
    int32_t per_row;     /* windows a row may be in */
} window_op;

/* The latest window start that is <= t; remainders round towards minus infinity. Times at the ends of the calendar have
 * windows that reach beyond it: those are cut off there. */
static int64_t last_start(const fm_window_spec *w, int64_t t)
{
    int64_t r = (int64_t)(((fm_i128)t - w->start_us) % w->slide_us);

    return fm_add_sat_i64(t, -(r < 0 ? r + w->slide_us : r));
}

/* b - a, which is >= 0; the full range of times is more than int64_t holds. */
static uint64_t distance(int64_t a, int64_t b) { return (uint64_t)b - (uint64_t)a; }

/* Hands on rows[n] of `in` with their windows. */
static fm_status give(window_op *self, const fm_batch *in, const int32_t *rows, const int64_t *starts, int32_t n,
                      const fm_type *time_type, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    int32_t n_in = in->schema->n_fields;
    const fm_batch *picked;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n_in + 1), *ends = fm_arena_array(arena, fm_vec, 2);
    int64_t *from = fm_arena_buffer(arena, (size_t)n * 8, false), *to = fm_arena_buffer(arena, (size_t)n * 8, false);

    if (!columns || !ends || !from || !to) return fm_no_memory(arena, err);
    bool identity = n == in->rows;
    for (int32_t i = 0; identity && i < n; i++) identity = rows[i] == i;
    if (identity) picked = in;
    else FM_TRY(fm_batch_gather(in, rows, n, arena, &picked, err));
    for (int32_t i = 0; i < n; i++) {
        from[i] = starts[i];
        to[i] = fm_add_sat_i64(starts[i], self->spec.duration_us);
    }
    memcpy(columns, picked->columns, (size_t)n_in * sizeof *columns);
    ends[0] = (fm_vec){.type = time_type, .len = n, .values = from};
    ends[1] = (fm_vec){.type = time_type, .len = n, .values = to};
    columns[n_in] = (fm_vec){.type = self->base.schema->fields[n_in].type, .len = n, .children = ends};
    fm_batch batch = {.schema = self->base.schema, .rows = n, .columns = columns};
    return out->push(out->ctx, &batch, err);
}

static fm_status window_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                             const fm_emit *out, fm_error *err)
{
    enum { GIVE_ROWS = 4096 };
    window_op *self = (window_op *)op;
    fm_vec time;
    int32_t cap = GIVE_ROWS, n = 0;
    int32_t *rows = fm_arena_array(arena, int32_t, cap);
    int64_t *starts = fm_arena_array(arena, int64_t, cap);

    if (!rows || !starts) return fm_no_memory(arena, err);
    FM_TRY(fm_eval_run(self->time, mb->run, in, arena, &time, err));
    const int64_t *us = fm_vec_i64(&time);
    int64_t known_start = 0;
    bool known = false;
    for (int32_t i = 0; i < in->rows; i++) {
        if (fm_vec_is_null(&time, i)) continue;
        /* Rows come nearly in order: most stand in the window of the row before, and need no division. */
        if (!known || us[i] < known_start || distance(known_start, us[i]) >= (uint64_t)self->spec.slide_us) {
            known_start = last_start(&self->spec, us[i]);
            known = true;
        }
        int64_t start = known_start;
        for (int32_t k = 0; k < self->per_row; k++, start = fm_add_sat_i64(start, -self->spec.slide_us)) {
            if (distance(start, us[i]) >= (uint64_t)self->spec.duration_us || (k && start == INT64_MIN)) break; /* the slide does not divide the duration */
            if (n == cap) {
                FM_TRY(give(self, in, rows, starts, n, time.type, arena, out, err));
                n = 0;
            }
            rows[n] = i;
            starts[n++] = start;
        }
    }
    return n ? give(self, in, rows, starts, n, time.type, arena, out, err) : FM_OK;
}

fm_status fm_op_window_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "TimeWindow", .push = window_push};
    window_op *self = fm_arena_one(tree->arena, window_op);
    const fm_window_spec *w = &plan->window;

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    if (!self->base.schema) return fm_no_memory(tree->arena, err);
    fm_assert(plan->n_output == plan->children[0]->n_output + 1 && plan->output[plan->n_output - 1].id == plan->window_id);
    self->spec = *w;
    int64_t per_row = w->duration_us / w->slide_us + (w->duration_us % w->slide_us != 0);
    fm_assert(per_row <= FM_WINDOWS_OF_ROW_MAX + 1); /* the analyzer checks */
    self->per_row = (int32_t)per_row;
    FM_TRY(fm_tree_eval(tree, plan->exprs[0], plan->children[0], &self->time, err));
    *out = &self->base;
    return FM_OK;
}
