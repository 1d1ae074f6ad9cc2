/* format/parquet_shred.c: rows to leaves.
 *
 * Going down the schema, a part has entries: pairs of levels, and for each the lane of the part's vector it stands for, or -1 when
 * the path ended above. A struct passes its entries on to its fields, a list makes new ones: one for each item, and one for each
 * list that has none. At a leaf the entries are its levels, those with a lane its values. */
#include "format/parquet_shred.h"

/* ---- The schema --------------------------------------------------------------------------------------------- */

static fm_status no_place(const fm_type *type, fm_str name, fm_error *err)
{
    fm_strbuf text = {0};

    fm_type_sql(type, &text);
    fm_status st = fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
                           "The Parquet datasource doesn't support the column `%.*s` of the type %s. Cast it to a type, or leave it out.",
                           FM_STR_ARG(name), text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

static fm_status build(fm_pq_part *p, const fm_parquet_ids *ids, int32_t def, int32_t rep, fm_arena *arena, int32_t *n_leaves, fm_error *err)
{
    bool repeats = p->type->id == FM_TYPE_LIST || p->type->id == FM_TYPE_MAP;

    if (def + 2 > 255) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Column `%.*s` is nested too deep for Parquet.", FM_STR_ARG(p->name));
    p->def = (uint8_t)(def + p->nullable);
    p->rep = (uint8_t)rep;
    p->leaf = *n_leaves;
    if (p->type->id == FM_TYPE_NULL || (p->type->id == FM_TYPE_STRUCT && p->type->n_fields == 0)) return no_place(p->type, p->name, err);
    if (!fm_type_is_nested(p->type)) {
        ++*n_leaves;
        return FM_OK;
    }
    p->children = fm_arena_array(arena, fm_pq_part, p->type->n_fields);
    if (!p->children) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < p->type->n_fields; i++) {
        const fm_field *f = &p->type->fields[i];
        fm_pq_part *c = &p->children[i];
        *c = (fm_pq_part){.type = f->type, .name = f->name, .nullable = f->nullable, .field_id = ids ? ids[i].id : FM_PARQUET_NO_ID,
                          .in_list = p->in_list || repeats};
        if (p->type->id == FM_TYPE_LIST) c->name = FM_STR("element");
        if (p->type->id == FM_TYPE_MAP) c->name = i ? FM_STR("value") : FM_STR("key");
        if (p->type->id == FM_TYPE_MAP && i == 0) c->nullable = false;
        FM_TRY(build(c, ids ? ids[i].children : NULL, p->def + repeats, rep + repeats, arena, n_leaves, err));
    }
    return FM_OK;
}

fm_status fm_pq_parts_build(const fm_type *schema, const fm_parquet_ids *ids, fm_arena *arena, fm_pq_part *root, int32_t *n_leaves,
                            fm_error *err)
{
    *root = (fm_pq_part){.type = schema, .name = FM_STR("spark_schema"), .field_id = FM_PARQUET_NO_ID};
    *n_leaves = 0;
    return build(root, ids, 0, 0, arena, n_leaves, err);
}

static int32_t bytes_of_digits(int32_t digits)
{
    static const uint8_t bytes[] = {1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9,
                                    9, 9, 10, 10, 11, 11, 11, 12, 12, 13, 13, 13, 14, 14, 15, 15, 16, 16, 16};

    return bytes[digits];
}

fm_pq_storage fm_pq_storage_of(const fm_type *type, fm_parquet_timestamps timestamps)
{
    switch (type->id) {
    case FM_TYPE_BOOL: return (fm_pq_storage){.type = FM_PQ_BOOLEAN, .size = 1};
    case FM_TYPE_F32: return (fm_pq_storage){.type = FM_PQ_FLOAT, .size = 4};
    case FM_TYPE_F64: return (fm_pq_storage){.type = FM_PQ_DOUBLE, .size = 8};
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: return (fm_pq_storage){.type = FM_PQ_BYTE_ARRAY, .size = sizeof(fm_view), .views = true};
    case FM_TYPE_DECIMAL:
        if (type->precision <= 9) return (fm_pq_storage){.type = FM_PQ_INT32, .size = 16};
        if (type->precision <= 18) return (fm_pq_storage){.type = FM_PQ_INT64, .size = 16};
        return (fm_pq_storage){.type = FM_PQ_FIXED, .size = 16, .fixed_size = bytes_of_digits(type->precision)};
    case FM_TYPE_TIMESTAMP:
        if (timestamps == FM_PARQUET_INT96) return (fm_pq_storage){.type = FM_PQ_INT96, .size = 8, .int96 = true};
        return (fm_pq_storage){.type = FM_PQ_INT64, .size = 8, .to_millis = timestamps == FM_PARQUET_MILLIS};
    case FM_TYPE_I64:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: return (fm_pq_storage){.type = FM_PQ_INT64, .size = 8};
    default: return (fm_pq_storage){.type = FM_PQ_INT32, .size = 4};
    }
}

/* ---- Rows --------------------------------------------------------------------------------------------------- */

typedef struct entries {
    int64_t n;
    int32_t rows;
    uint8_t *def, *rep;
    int32_t *lane;
} entries;

static fm_status no_memory(fm_arena *arena, fm_error *err) { return fm_no_memory(arena, err); }

static bool make(entries *e, int64_t n, int32_t rows, fm_arena *arena)
{
    *e = (entries){.rows = rows};
    e->def = fm_arena_array(arena, uint8_t, n + 1);
    e->rep = fm_arena_array(arena, uint8_t, n + 1);
    e->lane = fm_arena_array(arena, int32_t, n + 1);
    return e->def && e->rep && e->lane;
}

static fm_status null_refused(const fm_pq_part *p, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "NOT_NULL_ASSERT_VIOLATION", "NULL value appeared in non-nullable field: `%.*s`. Declare it nullable, or filter the rows.",
                   FM_STR_ARG(p->name));
}

/* Entries of a part by those of what is around it: those whose value is null lose their lane, the others rise a level. */
static fm_status see_nulls(const fm_pq_part *p, const fm_vec *v, const entries *in, fm_arena *arena, entries *out, fm_error *err)
{
    if (!p->nullable && !v->validity) {
        *out = *in;
        return FM_OK;
    }
    if (!make(out, in->n, in->rows, arena)) return no_memory(arena, err);
    out->n = in->n;
    memcpy(out->rep, in->rep, (size_t)in->n);
    for (int64_t i = 0; i < in->n; i++) {
        bool there = in->lane[i] >= 0 && fm_bit_valid(v->validity, in->lane[i]);
        if (!p->nullable && in->lane[i] >= 0 && !there) return null_refused(p, err);
        out->lane[i] = there ? in->lane[i] : -1;
        out->def[i] = (uint8_t)(in->def[i] + (there && p->nullable));
    }
    return FM_OK;
}

static fm_status unfold(const fm_pq_part *p, const fm_vec *v, const entries *in, fm_arena *arena, entries *out, fm_error *err)
{
    int64_t n = 0;

    for (int64_t i = 0; i < in->n; i++) {
        int64_t items = in->lane[i] < 0 ? 0 : v->offsets[in->lane[i] + 1] - v->offsets[in->lane[i]];
        n += items > 0 ? items : 1;
    }
    if (!make(out, n, in->rows, arena)) return no_memory(arena, err);
    for (int64_t i = 0; i < in->n; i++) {
        int32_t from = in->lane[i] < 0 ? 0 : v->offsets[in->lane[i]], to = in->lane[i] < 0 ? 0 : v->offsets[in->lane[i] + 1];
        out->def[out->n] = in->def[i];
        out->rep[out->n] = in->rep[i];
        out->lane[out->n] = -1;
        if (from == to) out->n++;
        for (int32_t k = from; k < to; k++, out->n++) {
            out->def[out->n] = (uint8_t)(p->def + 1);
            out->rep[out->n] = k == from ? in->rep[i] : (uint8_t)(p->rep + 1);
            out->lane[out->n] = k;
        }
    }
    return FM_OK;
}

/* n integers of 8 or 16 bits, in the 32 they are held in. */
static const void *widened(const fm_vec *v, fm_arena *arena)
{
    int32_t *wide = fm_arena_buffer(arena, (size_t)v->len * 4, false);

    for (int32_t i = 0; wide && i < v->len; i++) wide[i] = v->type->id == FM_TYPE_I8 ? fm_vec_i8(v)[i] : fm_vec_i16(v)[i];
    return wide;
}

static void pick(const char *from, const int32_t *lanes, int64_t n, size_t size, char *out)
{
    for (int64_t i = 0; i < n; i++) {
        if (lanes[i] < 0) continue;
        memcpy(out, from + (size_t)lanes[i] * size, size);
        out += size;
    }
}

static fm_status add_leaf(const fm_vec *v, const entries *e, fm_pq_leaf_writer *w, fm_arena *arena, fm_error *err)
{
    size_t size = (size_t)w->storage.size;
    const void *values = v->type->id == FM_TYPE_I8 || v->type->id == FM_TYPE_I16 ? widened(v, arena) : v->values;
    int64_t n = 0;

    if (!values && v->len) return no_memory(arena, err);
    for (int64_t i = 0; i < e->n; i++) n += e->lane[i] >= 0;
    char *dense = fm_arena_buffer(arena, (size_t)n * size, false);
    if (!dense) return no_memory(arena, err);
    switch (size) { /* the compiler makes a copy of known size an instruction */
    case 1: pick(values, e->lane, e->n, 1, dense); break;
    case 4: pick(values, e->lane, e->n, 4, dense); break;
    case 8: pick(values, e->lane, e->n, 8, dense); break;
    default: pick(values, e->lane, e->n, 16, dense); break;
    }
    return fm_pq_leaf_add(w, e->n, e->rows, e->def, e->rep, dense, n) ? FM_OK : fm_no_memory(NULL, err);
}

static fm_status shred(const fm_pq_part *p, const fm_vec *v, const entries *in, fm_pq_leaf_writer *leaves, fm_arena *arena, fm_error *err)
{
    entries e, items;

    FM_TRY(see_nulls(p, v, in, arena, &e, err));
    if (!fm_type_is_nested(p->type)) return add_leaf(v, &e, &leaves[p->leaf], arena, err);
    if (p->type->id == FM_TYPE_STRUCT) {
        for (int32_t i = 0; i < p->type->n_fields; i++) FM_TRY(shred(&p->children[i], &v->children[i], &e, leaves, arena, err));
        return FM_OK;
    }
    FM_TRY(unfold(p, v, &e, arena, &items, err));
    for (int32_t i = 0; i < p->type->n_fields; i++) FM_TRY(shred(&p->children[i], &v->children[i], &items, leaves, arena, err));
    return FM_OK;
}

/* A leaf at the top without nulls: its values are dense as they are. */
static bool is_dense(const fm_pq_part *p, const fm_vec *v) { return !fm_type_is_nested(p->type) && !v->validity; }

fm_status fm_pq_shred(const fm_pq_part *root, const fm_batch *batch, fm_pq_leaf_writer *leaves, fm_arena *scratch, fm_error *err)
{
    entries rows = {0};

    for (int32_t i = 0; i < root->type->n_fields; i++) {
        const fm_pq_part *p = &root->children[i];
        const fm_vec *v = &batch->columns[i];
        if (is_dense(p, v)) {
            const void *values = v->type->id == FM_TYPE_I8 || v->type->id == FM_TYPE_I16 ? widened(v, scratch) : v->values;
            if (!fm_pq_leaf_add(&leaves[p->leaf], batch->rows, batch->rows, NULL, NULL, values, batch->rows)) return fm_no_memory(NULL, err);
            continue;
        }
        if (!rows.lane) {
            if (!make(&rows, batch->rows, batch->rows, scratch)) return no_memory(scratch, err);
            rows.n = batch->rows;
            for (int32_t r = 0; r < batch->rows; r++) rows.lane[r] = r;
        }
        FM_TRY(shred(p, v, &rows, leaves, scratch, err));
    }
    return FM_OK;
}
