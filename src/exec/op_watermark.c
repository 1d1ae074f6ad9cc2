/* exec/op_watermark.c: sees the event times that pass, and lets every row through.
 *
 * Rows are counted where the node stands: before any late filter, so late rows count. A null event time counts as 1970.
 * Rule: semantics 1.1. Sums are whole, so that the mean does not hang on the order of the rows. */
#include "base/time_text.h"
#include "exec/exec_impl.h"

typedef struct watermark {
    fm_op base;
    struct watermark *next; /* the copy of the next worker */
    int32_t column;       /* the event time, or a window struct */
    bool is_window;       /* then its end counts */
    int32_t node_id;
    int64_t delay_us;
    int64_t count, min_us, max_us;
    fm_i128 sum_ms;
} watermark;

static fm_status watermark_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena,
                                const fm_emit *out, fm_error *err)
{
    watermark *self = (watermark *)op;
    const fm_vec *time = &in->columns[self->column];
    const fm_vec *struct_validity = self->is_window ? time : NULL;
    if (self->is_window) time = &time->children[1];
    const int64_t *us = fm_vec_i64(time);
    int64_t min_us = self->count ? self->min_us : INT64_MAX, max_us = self->count ? self->max_us : INT64_MIN;
    int64_t sum_ms = 0;
    fm_i128 sums = 0;

    /* Null lanes hold zero, which is just how they count. */
    for (int32_t i = 0; i < in->rows; i++) {
        int64_t t = struct_validity && fm_vec_is_null(struct_validity, i) ? 0 : us[i];
        min_us = t < min_us ? t : min_us;
        max_us = t > max_us ? t : max_us;
        sum_ms += fm_floor_div(t, FM_US_PER_MS);
        if ((i & 255) == 255) sums += sum_ms, sum_ms = 0; /* 256 times 2^53.2 fits */
    }
    self->sum_ms += sums + sum_ms;
    self->min_us = min_us;
    self->max_us = max_us;
    self->count += in->rows;
    return out->push(out->ctx, in, err);
}

static fm_status watermark_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    watermark *self = (watermark *)op;

    self->count = 0;
    self->sum_ms = 0;
    self->min_us = self->max_us = 0;
    return FM_OK;
}

void fm_op_watermark_stats(const fm_op *op, fm_event_time_stats *out)
{
    const watermark *first = (const watermark *)op;
    int64_t min_us = INT64_MAX, max_us = INT64_MIN;
    fm_i128 sum_ms = 0;

    *out = (fm_event_time_stats){.node_id = first->node_id, .delay_us = first->delay_us};
    for (const watermark *w = first; w; w = w->next) {
        if (w->count == 0) continue;
        out->count += w->count;
        sum_ms += w->sum_ms;
        min_us = w->min_us < min_us ? w->min_us : min_us;
        max_us = w->max_us > max_us ? w->max_us : max_us;
    }
    if (out->count == 0) return;
    out->min_ms = fm_floor_div(min_us, FM_US_PER_MS);
    out->max_ms = fm_floor_div(max_us, FM_US_PER_MS);
    out->avg_ms = (double)sum_ms / (double)out->count;
}

fm_status fm_op_watermark_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "EventTimeWatermark", .begin = watermark_begin, .push = watermark_push};
    watermark *self = fm_arena_one(tree->arena, watermark);

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    if (!self->base.schema) return fm_no_memory(tree->arena, err);
    self->column = fm_plan_column(plan, plan->event_time_id);
    fm_assert(self->column >= 0);
    self->is_window = plan->output[self->column].type->id == FM_TYPE_STRUCT;
    self->node_id = plan->node_id;
    self->delay_us = plan->delay_us;
    *out = &self->base;
    watermark *twin = (watermark *)fm_tree_twin(tree);
    if (twin) {
        self->next = twin->next;
        twin->next = self;
        return FM_OK;
    }
    return tree->is_stream && plan->streaming ? fm_exec_add_watermark(tree->exec, &self->base, err) : FM_OK;
}
