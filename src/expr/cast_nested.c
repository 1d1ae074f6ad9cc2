/* expr/cast_nested.c: arrays, maps and structs: their parts are cast, their shape stays. */
#include "expr/cast_internal.h"

#include "expr/eval_internal.h"

static fm_status cast_part(const fm_casting *c, const fm_vec *in, const fm_type *to, fm_vec *out)
{
    return fm_cast_run(in, to, c->mode, c->conf, c->arena, out, c->err);
}

static fm_status cast_struct(fm_casting *c)
{
    const fm_vec *in = c->in;
    fm_vec *children = fm_arena_array(c->arena, fm_vec, c->to->n_fields);
    if (!children) return fm_no_memory(c->arena, c->err);
    for (int32_t k = 0; k < c->to->n_fields; k++) {
        fm_vec part;
        /* What lies under a null struct is not looked at, and must not fail. */
        FM_TRY(fm_vec_mask(&part, &in->children[k], in->validity, c->arena, c->err));
        FM_TRY(cast_part(c, &part, c->to->fields[k].type, &children[k]));
    }
    *c->out = *in;
    c->out->type = c->to;
    c->out->children = children;
    return FM_OK;
}

/* The elements that lanes point at, as a vector that begins at 0. */
static fm_status used_elements(const fm_casting *c, const fm_vec *child, fm_vec *out)
{
    int32_t from = c->in->offsets[0], n = c->in->offsets[c->in->len] - from;
    int32_t *rows;
    if (from == 0 && n == child->len) {
        *out = *child;
        return FM_OK;
    }
    rows = fm_arena_array(c->arena, int32_t, n);
    if (!rows) return fm_no_memory(c->arena, c->err);
    for (int32_t i = 0; i < n; i++) rows[i] = from + i;
    return fm_vec_gather(out, child, rows, n, c->arena, c->err);
}

static fm_status cast_list_or_map(fm_casting *c)
{
    const fm_vec *in = c->in;
    int32_t from = in->offsets[0];
    fm_vec *children = fm_arena_array(c->arena, fm_vec, c->to->n_fields);
    int32_t *offsets = fm_arena_buffer(c->arena, sizeof(int32_t) * ((size_t)in->len + 1), false);
    if (!children || !offsets) return fm_no_memory(c->arena, c->err);
    for (int32_t k = 0; k < c->to->n_fields; k++) {
        fm_vec part;
        FM_TRY(used_elements(c, &in->children[k], &part));
        FM_TRY(cast_part(c, &part, c->to->fields[k].type, &children[k]));
    }
    for (int32_t i = 0; i <= in->len; i++) offsets[i] = in->offsets[i] - from;
    *c->out = *in;
    c->out->type = c->to;
    c->out->offsets = offsets;
    c->out->children = children;
    return FM_OK;
}

fm_status fm_cast_nested(fm_casting *c)
{
    return c->to->id == FM_TYPE_STRUCT ? cast_struct(c) : cast_list_or_map(c);
}
