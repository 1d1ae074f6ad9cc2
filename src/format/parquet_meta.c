/* format/parquet_meta.c: footer, page headers and indexes, parsed. Field numbers are those of parquet.thrift. */
#include "format/parquet_meta.h"

/* ---- Schema ------------------------------------------------------------------------------------------------- */

static void read_decimal(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) e->scale = fm_thrift_i32(in, &f);
        else if (f.id == 2) e->precision = fm_thrift_i32(in, &f);
        else fm_thrift_skip(in, &f);
    }
}

static void read_unit(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id >= 1 && f.id <= 3) e->unit = (fm_pq_unit)f.id;
        fm_thrift_skip(in, &f);
    }
}

static void read_time(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) e->adjusted = fm_thrift_bool(in, &f);
        else if (f.id == 2 && f.type == FM_THRIFT_STRUCT) read_unit(in, e);
        else fm_thrift_skip(in, &f);
    }
}

static void read_integer(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) e->bits = fm_thrift_i32(in, &f);
        else if (f.id == 2) e->is_signed = fm_thrift_bool(in, &f);
        else fm_thrift_skip(in, &f);
    }
}

static void read_logical(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        e->logical = f.id >= FM_PQ_STRING && f.id <= FM_PQ_GEOGRAPHY ? (fm_pq_logical)f.id : FM_PQ_LOGICAL_OTHER;
        if (f.type != FM_THRIFT_STRUCT) fm_thrift_skip(in, &f);
        else if (e->logical == FM_PQ_DECIMAL) read_decimal(in, e);
        else if (e->logical == FM_PQ_TIME || e->logical == FM_PQ_TIMESTAMP) read_time(in, e);
        else if (e->logical == FM_PQ_INTEGER) read_integer(in, e);
        else fm_thrift_skip(in, &f);
    }
}

/* ConvertedType in the words of LogicalType; old times are instants. */
static void set_converted(fm_pq_element *e, int32_t converted)
{
    static const uint8_t kinds[] = {FM_PQ_STRING, FM_PQ_MAP, FM_PQ_MAP_KEY_VALUE, FM_PQ_LIST, FM_PQ_ENUM, FM_PQ_DECIMAL, FM_PQ_DATE,
                                    FM_PQ_TIME, FM_PQ_TIME, FM_PQ_TIMESTAMP, FM_PQ_TIMESTAMP, FM_PQ_INTEGER, FM_PQ_INTEGER,
                                    FM_PQ_INTEGER, FM_PQ_INTEGER, FM_PQ_INTEGER, FM_PQ_INTEGER, FM_PQ_INTEGER, FM_PQ_INTEGER,
                                    FM_PQ_JSON, FM_PQ_BSON, FM_PQ_INTERVAL};

    e->logical = converted >= 0 && converted < (int32_t)sizeof kinds ? (fm_pq_logical)kinds[converted] : FM_PQ_LOGICAL_OTHER;
    if (converted >= 7 && converted <= 10) {
        e->unit = converted == 7 || converted == 9 ? FM_PQ_MILLIS : FM_PQ_MICROS;
        e->adjusted = true;
    }
    if (converted >= 11 && converted <= 18) {
        e->is_signed = converted >= 15;
        e->bits = 8 << ((converted - 11) & 3);
    }
}

static void read_element(fm_thrift_in *in, fm_pq_element *e)
{
    fm_thrift_field f;
    int32_t converted = -1;

    *e = (fm_pq_element){.type = -1, .repetition = -1, .field_id = -1};
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.id) {
        case 1: e->type = fm_thrift_i32(in, &f); break;
        case 2: e->type_length = fm_thrift_i32(in, &f); break;
        case 3: e->repetition = fm_thrift_i32(in, &f); break;
        case 4: e->name = fm_thrift_binary(in, &f); break;
        case 5: e->n_children = fm_thrift_i32(in, &f); break;
        case 6: converted = fm_thrift_i32(in, &f); break;
        case 7: e->scale = fm_thrift_i32(in, &f); break;
        case 8: e->precision = fm_thrift_i32(in, &f); break;
        case 9: e->field_id = fm_thrift_i32(in, &f); break;
        case 10:
            if (f.type == FM_THRIFT_STRUCT) read_logical(in, e);
            else fm_thrift_skip(in, &f);
            break;
        default: fm_thrift_skip(in, &f);
        }
    }
    if (e->logical == FM_PQ_LOGICAL_OTHER) e->logical = FM_PQ_PLAIN_TYPE; /* a meaning of later times: the bare values are read */
    if (converted >= 0 && e->logical == FM_PQ_PLAIN_TYPE) set_converted(e, converted);
}

/* ---- Row groups --------------------------------------------------------------------------------------------- */

static void read_statistics(fm_thrift_in *in, fm_pq_statistics *s)
{
    fm_thrift_field f;

    *s = (fm_pq_statistics){.null_count = -1};
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.id) {
        case 1: s->old_max = fm_thrift_binary(in, &f); break;
        case 2: s->old_min = fm_thrift_binary(in, &f); break;
        case 3: s->null_count = fm_thrift_int(in, &f); break;
        case 5: s->max = fm_thrift_binary(in, &f); break;
        case 6: s->min = fm_thrift_binary(in, &f); break;
        case 7: s->max_inexact = !fm_thrift_bool(in, &f); break;
        case 8: s->min_inexact = !fm_thrift_bool(in, &f); break;
        default: fm_thrift_skip(in, &f);
        }
    }
}

static void read_chunk_meta(fm_thrift_in *in, fm_pq_chunk *c)
{
    fm_thrift_field f;

    c->has_meta = true;
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.id) {
        case 1: c->type = fm_thrift_i32(in, &f); break;
        case 4: c->codec = fm_thrift_i32(in, &f); break;
        case 5: c->values = fm_thrift_int(in, &f); break;
        case 6: c->unpacked_size = fm_thrift_int(in, &f); break;
        case 7: c->packed_size = fm_thrift_int(in, &f); break;
        case 9: c->data_offset = fm_thrift_int(in, &f); break;
        case 11: c->dictionary_offset = fm_thrift_int(in, &f); break;
        case 12:
            if (f.type == FM_THRIFT_STRUCT) read_statistics(in, &c->stats);
            else fm_thrift_skip(in, &f);
            break;
        case 14: c->bloom_offset = fm_thrift_int(in, &f); break;
        case 15: /* some writers had something else of their own there */
            if (f.type == FM_THRIFT_I32) c->bloom_size = fm_thrift_i32(in, &f);
            else fm_thrift_skip(in, &f);
            break;
        default: fm_thrift_skip(in, &f);
        }
    }
}

static void read_chunk(fm_thrift_in *in, fm_pq_chunk *c)
{
    fm_thrift_field f;

    *c = (fm_pq_chunk){.data_offset = -1, .dictionary_offset = -1, .offset_index_offset = -1, .column_index_offset = -1,
                       .bloom_offset = -1, .bloom_size = -1, .stats = {.null_count = -1}};
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.id) {
        case 1: c->elsewhere = fm_thrift_binary(in, &f).len > 0; break;
        case 3:
            if (f.type == FM_THRIFT_STRUCT) read_chunk_meta(in, c);
            else fm_thrift_skip(in, &f);
            break;
        case 4: c->offset_index_offset = fm_thrift_int(in, &f); break;
        case 5: c->offset_index_size = fm_thrift_i32(in, &f); break;
        case 6: c->column_index_offset = fm_thrift_int(in, &f); break;
        case 7: c->column_index_size = fm_thrift_i32(in, &f); break;
        case 8:
        case 9:
            c->encrypted = true;
            fm_thrift_skip(in, &f);
            break;
        default: fm_thrift_skip(in, &f);
        }
    }
}

static bool read_group(fm_thrift_in *in, fm_arena *arena, fm_pq_row_group *g)
{
    fm_thrift_field f;

    *g = (fm_pq_row_group){.rows = -1};
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) {
            g->n_chunks = fm_thrift_list(in, &f, FM_THRIFT_STRUCT);
            g->chunks = fm_arena_array(arena, fm_pq_chunk, g->n_chunks);
            if (!g->chunks) return false;
            for (int32_t i = 0; i < g->n_chunks && !in->failed; i++) read_chunk(in, &g->chunks[i]);
        } else if (f.id == 2) {
            g->size = fm_thrift_int(in, &f);
        } else if (f.id == 3) {
            g->rows = fm_thrift_int(in, &f);
        } else {
            fm_thrift_skip(in, &f);
        }
    }
    return true;
}

/* ---- Footer ------------------------------------------------------------------------------------------------- */

static void read_pair(fm_thrift_in *in, fm_pq_pair *p)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) p->key = fm_thrift_binary(in, &f);
        else if (f.id == 2) p->value = fm_thrift_binary(in, &f);
        else fm_thrift_skip(in, &f);
    }
}

static uint8_t read_order(fm_thrift_in *in)
{
    fm_thrift_field f;
    uint8_t order = 0;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        order = f.id > 0 && f.id < 255 ? (uint8_t)f.id : 255;
        fm_thrift_skip(in, &f);
    }
    return order;
}

static bool read_lists(fm_thrift_in *in, const fm_thrift_field *f, fm_arena *arena, fm_pq_footer *out)
{
    int32_t n = fm_thrift_list(in, f, FM_THRIFT_STRUCT);

    switch (f->id) {
    case 2:
        out->n_elements = n;
        out->elements = fm_arena_array(arena, fm_pq_element, n);
        for (int32_t i = 0; out->elements && i < n && !in->failed; i++) read_element(in, &out->elements[i]);
        return out->elements != NULL;
    case 4:
        out->n_groups = n;
        out->groups = fm_arena_array(arena, fm_pq_row_group, n);
        for (int32_t i = 0; out->groups && i < n && !in->failed; i++)
            if (!read_group(in, arena, &out->groups[i])) return false;
        return out->groups != NULL;
    case 5:
        out->n_pairs = n;
        out->pairs = fm_arena_array(arena, fm_pq_pair, n);
        for (int32_t i = 0; out->pairs && i < n && !in->failed; i++) read_pair(in, &out->pairs[i]);
        return out->pairs != NULL;
    default:
        out->n_orders = n;
        out->orders = fm_arena_array(arena, uint8_t, n);
        for (int32_t i = 0; out->orders && i < n && !in->failed; i++) out->orders[i] = read_order(in);
        return out->orders != NULL;
    }
}

bool fm_pq_footer_parse(fm_str bytes, fm_arena *arena, fm_pq_footer *out)
{
    fm_thrift_in in = {(const uint8_t *)bytes.ptr, (const uint8_t *)bytes.ptr + bytes.len, 0, false};
    fm_thrift_field f;

    *out = (fm_pq_footer){.rows = -1};
    for (fm_thrift_enter(&in, &f); fm_thrift_next(&in, &f);) {
        switch (f.id) {
        case 1: out->version = fm_thrift_i32(&in, &f); break;
        case 2:
        case 4:
        case 5:
        case 7:
            if (!read_lists(&in, &f, arena, out)) return false;
            break;
        case 3: out->rows = fm_thrift_int(&in, &f); break;
        case 6: out->created_by = fm_thrift_binary(&in, &f); break;
        case 8:
            out->encrypted = true;
            fm_thrift_skip(&in, &f);
            break;
        default: fm_thrift_skip(&in, &f);
        }
    }
    return !in.failed;
}

/* ---- Page header -------------------------------------------------------------------------------------------- */

/* Of a dictionary the third field is whether it is sorted: a boolean. */
static void read_data_page(fm_thrift_in *in, fm_pq_page *p)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.type == FM_THRIFT_I32 ? f.id : 0) {
        case 1: p->values = fm_thrift_i32(in, &f); break;
        case 2: p->encoding = fm_thrift_i32(in, &f); break;
        case 3: p->def_encoding = fm_thrift_i32(in, &f); break;
        case 4: p->rep_encoding = fm_thrift_i32(in, &f); break;
        default: fm_thrift_skip(in, &f);
        }
    }
}

static void read_dictionary_page(fm_thrift_in *in, fm_pq_page *p)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) p->values = fm_thrift_i32(in, &f);
        else if (f.id == 2) p->encoding = fm_thrift_i32(in, &f);
        else fm_thrift_skip(in, &f);
    }
}

static void read_data_page_v2(fm_thrift_in *in, fm_pq_page *p)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        switch (f.id) {
        case 1: p->values = fm_thrift_i32(in, &f); break;
        case 2: p->nulls = fm_thrift_i32(in, &f); break;
        case 3: p->rows = fm_thrift_i32(in, &f); break;
        case 4: p->encoding = fm_thrift_i32(in, &f); break;
        case 5: p->def_size = fm_thrift_i32(in, &f); break;
        case 6: p->rep_size = fm_thrift_i32(in, &f); break;
        case 7: p->packed = fm_thrift_bool(in, &f); break;
        default: fm_thrift_skip(in, &f);
        }
    }
}

bool fm_pq_page_parse(fm_str bytes, fm_pq_page *out, size_t *size)
{
    fm_thrift_in in = {(const uint8_t *)bytes.ptr, (const uint8_t *)bytes.ptr + bytes.len, 0, false};
    fm_thrift_field f;

    *out = (fm_pq_page){.kind = -1, .unpacked_size = -1, .packed_size = -1, .values = -1, .packed = true};
    for (fm_thrift_enter(&in, &f); fm_thrift_next(&in, &f);) {
        bool is_struct = f.type == FM_THRIFT_STRUCT;
        if (f.id == 1) out->kind = fm_thrift_i32(&in, &f);
        else if (f.id == 2) out->unpacked_size = fm_thrift_i32(&in, &f);
        else if (f.id == 3) out->packed_size = fm_thrift_i32(&in, &f);
        else if (f.id == 4) {
            out->crc = (uint32_t)fm_thrift_i32(&in, &f);
            out->has_crc = true;
        } else if (f.id == 5 && is_struct) read_data_page(&in, out);
        else if (f.id == 7 && is_struct) read_dictionary_page(&in, out);
        else if (f.id == 8 && is_struct) read_data_page_v2(&in, out);
        else fm_thrift_skip(&in, &f);
    }
    *size = (size_t)(in.at - (const uint8_t *)bytes.ptr);
    return !in.failed;
}

/* ---- Page index and Bloom filter ---------------------------------------------------------------------------- */

static void read_location(fm_thrift_in *in, fm_pq_location *l)
{
    fm_thrift_field f;

    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        if (f.id == 1) l->offset = fm_thrift_int(in, &f);
        else if (f.id == 2) l->size = fm_thrift_i32(in, &f);
        else if (f.id == 3) l->first_row = fm_thrift_int(in, &f);
        else fm_thrift_skip(in, &f);
    }
}

bool fm_pq_offset_index_parse(fm_str bytes, fm_arena *arena, fm_pq_location **out, int32_t *n)
{
    fm_thrift_in in = {(const uint8_t *)bytes.ptr, (const uint8_t *)bytes.ptr + bytes.len, 0, false};
    fm_thrift_field f;

    *out = NULL;
    *n = 0;
    for (fm_thrift_enter(&in, &f); fm_thrift_next(&in, &f);) {
        if (f.id != 1) {
            fm_thrift_skip(&in, &f);
            continue;
        }
        *n = fm_thrift_list(&in, &f, FM_THRIFT_STRUCT);
        *out = fm_arena_array(arena, fm_pq_location, *n);
        if (!*out) return false;
        for (int32_t i = 0; i < *n && !in.failed; i++) read_location(&in, &(*out)[i]);
    }
    return !in.failed && *out;
}

static bool read_index_list(fm_thrift_in *in, const fm_thrift_field *f, fm_arena *arena, fm_pq_column_index *out, int32_t *n)
{
    static const fm_thrift_type types[] = {FM_THRIFT_TRUE, FM_THRIFT_BINARY, FM_THRIFT_BINARY};
    fm_thrift_type type = f->id == 5 ? FM_THRIFT_I64 : types[f->id - 1];
    fm_thrift_field element = fm_thrift_element(type);

    *n = fm_thrift_list(in, f, type);
    if (f->id == 1) out->null_pages = fm_arena_array(arena, bool, *n);
    else if (f->id == 2) out->min = fm_arena_array(arena, fm_str, *n);
    else if (f->id == 3) out->max = fm_arena_array(arena, fm_str, *n);
    else out->null_counts = fm_arena_array(arena, int64_t, *n);
    for (int32_t i = 0; i < *n && !in->failed; i++) {
        if (f->id == 1 && out->null_pages) out->null_pages[i] = fm_thrift_truth(in);
        else if (f->id == 2 && out->min) out->min[i] = fm_thrift_binary(in, &element);
        else if (f->id == 3 && out->max) out->max[i] = fm_thrift_binary(in, &element);
        else if (f->id == 5 && out->null_counts) out->null_counts[i] = fm_thrift_int(in, &element);
        else return false;
    }
    return true;
}

bool fm_pq_column_index_parse(fm_str bytes, fm_arena *arena, fm_pq_column_index *out)
{
    fm_thrift_in in = {(const uint8_t *)bytes.ptr, (const uint8_t *)bytes.ptr + bytes.len, 0, false};
    fm_thrift_field f;
    int32_t n[6] = {-1, -1, -1, -1, -1, -1};

    *out = (fm_pq_column_index){0};
    for (fm_thrift_enter(&in, &f); fm_thrift_next(&in, &f);) {
        if (f.id >= 1 && f.id <= 5 && f.id != 4) {
            if (!read_index_list(&in, &f, arena, out, &n[f.id])) return false;
        } else {
            fm_thrift_skip(&in, &f);
        }
    }
    out->n = n[1];
    return !in.failed && n[1] >= 0 && n[2] == n[1] && n[3] == n[1] && (n[5] == -1 || n[5] == n[1]);
}

/* Whether a union has its first field: the only algorithm, hash and compression there are. */
static bool first_of_union(fm_thrift_in *in, const fm_thrift_field *outer)
{
    fm_thrift_field f;
    bool first = false;

    if (outer->type != FM_THRIFT_STRUCT) {
        fm_thrift_skip(in, outer);
        return false;
    }
    for (fm_thrift_enter(in, &f); fm_thrift_next(in, &f);) {
        first = f.id == 1;
        fm_thrift_skip(in, &f);
    }
    return first;
}

bool fm_pq_bloom_parse(fm_str bytes, int32_t *bits_size, size_t *size)
{
    fm_thrift_in in = {(const uint8_t *)bytes.ptr, (const uint8_t *)bytes.ptr + bytes.len, 0, false};
    fm_thrift_field f;
    bool known = true;

    *bits_size = 0;
    for (fm_thrift_enter(&in, &f); fm_thrift_next(&in, &f);) {
        if (f.id == 1) *bits_size = fm_thrift_i32(&in, &f);
        else known = first_of_union(&in, &f) && known;
    }
    *size = (size_t)(in.at - (const uint8_t *)bytes.ptr);
    return !in.failed && known && *bits_size >= 32 && *bits_size % 32 == 0 && *bits_size <= 128 << 20;
}
