/* exec/op_bad_rows.c: rows that a parser found bad go no further: they end the query, or go to a sink of their own, or nowhere.
 *
 * What the parser left: per row the reason, a newline and the record, or null; as a column, or as the last field of the struct that it
 * made. A row is bad by the first of its parsers that says so. */
#include "exec/bad_rows.h"

typedef struct pair {
    int32_t parsed, text;  /* columns; text -1: it is the record itself */
    const fm_type *good;   /* the struct without its last field; NULL: a column */
} pair;

typedef struct bad_rows {
    fm_op base;
    fm_bad_action action;
    fm_bad_sink *sink;     /* KEEP */
    int32_t worker;
    pair *pairs;
    int32_t n_pairs, position;
    bool counted;          /* the reader counts them */
    int64_t found;         /* in the micro-batch */
    int32_t *bad_by;       /* scratch, [rows of a batch]: the pair, or -1 */
} bad_rows;

static fm_status bad_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    ((bad_rows *)op)->found = 0;
    return FM_OK;
}

static const fm_vec *told(const pair *p, const fm_batch *in)
{
    const fm_vec *v = &in->columns[p->parsed];

    return p->good ? &v->children[p->good->n_fields] : v;
}

static bool all_null(const fm_vec *v)
{
    if (!v->validity) return v->len == 0;
    for (int64_t w = 0; w < fm_bit_words(v->len); w++)
        if (v->validity[w]) return false;
    return true;
}

/* Marks what is bad; returns how many. */
static int32_t mark(const bad_rows *self, const fm_batch *in, int32_t *bad_by)
{
    int32_t n = 0;

    for (int32_t i = 0; i < in->rows; i++) bad_by[i] = -1;
    for (int32_t k = 0; k < self->n_pairs; k++) {
        const fm_vec *v = told(&self->pairs[k], in);
        for (int32_t i = 0; i < in->rows; i++) {
            if (bad_by[i] >= 0 || fm_vec_is_null(v, i)) continue;
            bad_by[i] = k;
            n++;
        }
    }
    return n;
}

static fm_bad_record record_of(const bad_rows *self, const fm_batch *in, int32_t row, int32_t by)
{
    const pair *p = &self->pairs[by];
    fm_str all = fm_vec_str(told(p, in), row);
    const char *end = memchr(all.ptr, '\n', all.len);
    fm_bad_record r = {.reason = {all.ptr, end ? (size_t)(end - all.ptr) : all.len}};

    r.bytes = end ? (fm_str){end + 1, all.len - r.reason.len - 1} : (fm_str){"", 0};
    if (p->text >= 0 && !fm_vec_is_null(&in->columns[p->text], row)) r.bytes = fm_vec_str(&in->columns[p->text], row);
    if (self->position >= 0 && !fm_vec_is_null(&in->columns[self->position], row)) r.position = fm_vec_str(&in->columns[self->position], row);
    return r;
}

static fm_status fail(const fm_bad_record *r, fm_error *err)
{
    enum { SHOWN_MAX = 200 };
    fm_str shown = {r->bytes.ptr, r->bytes.len < SHOWN_MAX ? r->bytes.len : SHOWN_MAX};

    return fm_fail(err, FM_INVALID, "FLOODMARK_BAD_ROW",
                   "A record cannot be read%s%.*s: %.*s. The record: %.*s. To go on without such records, write BAD_ROWS('drop'), or "
                   "BAD_ROWS('json', 'bad/') to keep them.",
                   r->position.ptr ? ", " : "", FM_STR_ARG(r->position), FM_STR_ARG(r->reason), FM_STR_ARG(shown));
}

static fm_status keep(bad_rows *self, const fm_op_batch *mb, const fm_batch *in, int32_t n, fm_arena *arena, fm_error *err)
{
    fm_builder *rows = fm_bad_sink_builder(self->sink, arena, n);

    if (!rows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->rows; i++) {
        if (self->bad_by[i] < 0) continue;
        fm_bad_record r = record_of(self, in, i, self->bad_by[i]);
        FM_TRY(fm_bad_sink_add(self->sink, rows, &r, arena, err));
    }
    return fm_bad_sink_write(self->sink, self->worker, mb->run->batch_id, rows, err);
}

/* The batch with its structs as they should be. */
static fm_status good_batch(const bad_rows *self, const fm_batch *in, fm_arena *arena, fm_batch *out, fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, in->schema->n_fields);

    if (!columns) return fm_no_memory(arena, err);
    memcpy(columns, in->columns, (size_t)in->schema->n_fields * sizeof *columns);
    for (int32_t k = 0; k < self->n_pairs; k++)
        if (self->pairs[k].good) columns[self->pairs[k].parsed].type = self->pairs[k].good;
    *out = (fm_batch){.schema = self->base.schema, .rows = in->rows, .columns = columns};
    return FM_OK;
}

static fm_status bad_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena, const fm_emit *out,
                          fm_error *err)
{
    bad_rows *self = (bad_rows *)op;
    fm_batch good;
    const fm_batch *kept = &good;
    bool any = false;

    FM_TRY(good_batch(self, in, arena, &good, err));
    for (int32_t k = 0; k < self->n_pairs && !any; k++) any = !all_null(told(&self->pairs[k], in));
    if (!any) return out->push(out->ctx, kept, err);
    self->bad_by = fm_arena_array(arena, int32_t, in->rows);
    uint8_t *stays = fm_arena_array(arena, uint8_t, in->rows);
    if (!self->bad_by || !stays) return fm_no_memory(arena, err);
    int32_t n = mark(self, in, self->bad_by);
    self->found += n;
    for (int32_t i = 0; i < in->rows; i++) {
        stays[i] = self->bad_by[i] < 0;
        if (stays[i] || self->action != FM_BAD_ROWS_FAIL) continue;
        fm_bad_record r = record_of(self, in, i, self->bad_by[i]);
        return fail(&r, err);
    }
    if (n && self->sink) FM_TRY(keep(self, mb, in, n, arena, err));
    if (n) FM_TRY(fm_batch_filter(&good, stays, arena, &kept, err));
    return out->push(out->ctx, kept, err);
}

int64_t fm_op_bad_rows_found(const fm_op *op)
{
    const bad_rows *self = (const bad_rows *)op;

    return self->counted ? 0 : self->found;
}

fm_status fm_op_bad_rows_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "BadRows", .placement = FM_OP_LOCAL, .begin = bad_begin, .push = bad_push};
    bad_rows *self = fm_arena_one(tree->arena, bad_rows);
    const fm_plan *child = plan->children[0];
    const fm_expr *position = plan->exprs[plan->n_exprs - 1];

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->action = plan->bad_rows.action;
    self->worker = tree->worker;
    self->n_pairs = plan->n_exprs / 2;
    self->pairs = fm_arena_array(tree->arena, pair, self->n_pairs);
    self->position = position->kind == FM_EXPR_ATTRIBUTE ? fm_plan_column(child, position->attr_id) : -1;
    self->counted = child->kind == FM_PLAN_READ;
    if (!self->base.schema || !self->pairs) return fm_no_memory(tree->arena, err);
    for (int32_t k = 0; k < self->n_pairs; k++) {
        const fm_expr *text = plan->exprs[2 * k + 1];
        self->pairs[k] = (pair){fm_plan_column(child, plan->exprs[2 * k]->attr_id), text->kind == FM_EXPR_ATTRIBUTE ? fm_plan_column(child, text->attr_id) : -1,
                                plan->good[k].id ? plan->good[k].type : NULL};
        fm_assert(self->pairs[k].parsed >= 0);
    }
    *out = &self->base;
    if (self->action == FM_BAD_ROWS_KEEP) FM_TRY(fm_bad_sink_open(tree, &plan->bad_rows, &self->sink, err));
    return fm_exec_add_bad_rows(tree->exec, *out, err);
}
