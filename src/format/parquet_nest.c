/* format/parquet_nest.c: wanted columns are matched with those of the file; lists, maps and structs are put together
 * from the levels of a leaf below them.
 *
 * Take a list of structs, l, and its leaf l.x. Each pair of levels with rep <= 0 is a row, so a lane of l; it is null or not, empty
 * or not, by its definition level. Each pair with def >= def_item is an item, so a lane of the struct; and so on down. What a pair
 * says of the things above a leaf is the same for all leaves below them, so any one of them will do. */
#include "format/parquet_nest.h"

/* ---- Matching ----------------------------------------------------------------------------------------------- */

static fm_status mismatch(const fm_pq_match *m, const fm_pq_node *node, const fm_type *want, fm_error *err)
{
    fm_strbuf have = {0}, wish = {0};

    fm_type_sql(node->type, &have);
    fm_type_sql(want, &wish);
    fm_status st = fm_fail(err, FM_INVALID, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH",
                           "Encountered error while reading file '%.*s'. Data type mismatches when reading Parquet column `%.*s`. "
                           "Expected %s, actual %s%s%s. Declare the column with a type that the file's can be read as.",
                           FM_STR_ARG(m->file->path), FM_STR_ARG(node->name), wish.ptr ? wish.ptr : "", have.ptr ? have.ptr : "",
                           node->refused ? ": " : "", node->refused ? node->refused : "");
    fm_strbuf_fini(&have);
    fm_strbuf_fini(&wish);
    return st;
}

static fm_status find_field(const fm_pq_match *m, const fm_pq_node *node, fm_str name, int32_t id, const fm_pq_node **out, fm_error *err)
{
    *out = NULL;
    for (int32_t i = 0; i < node->n_children; i++) {
        const fm_pq_node *c = &node->children[i];
        bool same = id >= 0 ? c->field_id == id : m->case_sensitive ? fm_str_eq(c->name, name) : fm_str_eq_ci(c->name, name);
        if (!same) continue;
        if (*out)
            return fm_fail(err, FM_INVALID, "FLOODMARK_PARQUET_AMBIGUOUS_COLUMN",
                           "Found duplicate field(s) \"%.*s\": [%.*s, %.*s] in case-insensitive mode, in file '%.*s'. Set spark.sql.caseSensitive "
                           "to true to tell them apart.",
                           FM_STR_ARG(name), FM_STR_ARG((*out)->name), FM_STR_ARG(c->name), FM_STR_ARG(m->file->path));
        *out = c;
    }
    return FM_OK;
}

static fm_status add_column(fm_pq_match *m, const fm_pq_leaf *leaf, const fm_pq_conversion *conversion, uint8_t def_lane, bool want_levels,
                            int32_t *out, fm_error *err)
{
    if (m->n_columns == m->cap_columns) {
        int32_t cap = m->cap_columns ? m->cap_columns * 2 : 16;
        fm_pq_column *more = fm_arena_array(m->arena, fm_pq_column, cap);
        if (!more) return fm_no_memory(m->arena, err);
        if (m->n_columns) memcpy(more, m->columns, (size_t)m->n_columns * sizeof *more);
        m->columns = more;
        m->cap_columns = cap;
    }
    *out = m->n_columns;
    m->columns[m->n_columns++] =
        (fm_pq_column){.leaf = leaf, .conversion = *conversion, .def_lane = def_lane, .want_levels = want_levels, .pages = {.file = m->file, .leaf = leaf}};
    return FM_OK;
}

static fm_status match_node(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names, const fm_parquet_ids *ids,
                            uint8_t def_lane, bool top, fm_pq_want *want, fm_error *err);

/* Of children that are matched, the column of the first that has one. */
static int32_t first_column(const fm_pq_want *children, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (children[i].node) return children[i].column;
    return -1;
}

static fm_status match_fields(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names, const fm_parquet_ids *ids,
                              uint8_t def_lane, bool top, fm_pq_want *want, fm_error *err)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        const fm_pq_node *found;
        const fm_type *below = names->n_fields == type->n_fields ? names->fields[i].type : type->fields[i].type;
        int32_t id = ids ? ids[i].id : FM_PARQUET_NO_ID;
        FM_TRY(find_field(m, node, names->n_fields == type->n_fields ? names->fields[i].name : type->fields[i].name, id, &found, err));
        want[i] = (fm_pq_want){.type = type->fields[i].type, .column = -1};
        if (found) FM_TRY(match_node(m, found, type->fields[i].type, below, ids ? ids[i].children : NULL, def_lane, top, &want[i], err));
    }
    return FM_OK;
}

static fm_status match_struct(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names, const fm_parquet_ids *ids,
                              uint8_t def_lane, fm_pq_want *want, fm_error *err)
{
    static const fm_pq_conversion levels_only = {.kind = FM_PQ_TO_VOID};
    fm_pq_conversion c = levels_only;

    FM_TRY(match_fields(m, node, type, names, ids, def_lane, false, want->children, err));
    want->column = first_column(want->children, type->n_fields);
    if (want->column >= 0) return FM_OK;
    /* None of the parts is in the file: another leaf tells which structs are there. */
    c.want = fm_type_null();
    return add_column(m, &m->file->leaves[node->leaf], &c, def_lane, true, &want->column, err);
}

static fm_status match_node(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names, const fm_parquet_ids *ids,
                            uint8_t def_lane, bool top, fm_pq_want *want, fm_error *err)
{
    static const fm_type_id kinds[] = {FM_TYPE_NULL, FM_TYPE_STRUCT, FM_TYPE_LIST, FM_TYPE_MAP};
    fm_pq_conversion conversion;

    want->node = node;
    if (node->kind == FM_PQ_NODE_LEAF) {
        if (node->refused || !fm_pq_conversion_of(node->element, node->type, type, &conversion)) return mismatch(m, node, type, err);
        return add_column(m, &m->file->leaves[node->leaf], &conversion, def_lane, !top, &want->column, err);
    }
    if (type->id != kinds[node->kind]) return mismatch(m, node, type, err);
    want->children = fm_arena_array(m->arena, fm_pq_want, type->n_fields);
    if (!want->children) return fm_no_memory(m->arena, err);
    if (node->kind == FM_PQ_NODE_STRUCT) return match_struct(m, node, type, names, ids, def_lane, want, err);
    for (int32_t i = 0; i < type->n_fields; i++) { /* items are found by their place */
        const fm_type *below = names->n_fields == type->n_fields ? names->fields[i].type : type->fields[i].type;
        want->children[i] = (fm_pq_want){.type = type->fields[i].type, .column = -1};
        FM_TRY(match_node(m, &node->children[i], type->fields[i].type, below, ids ? ids[i].children : NULL, node->def_item, false,
                          &want->children[i], err));
    }
    want->column = want->children[0].column;
    return FM_OK;
}

fm_status fm_pq_match_fields(fm_pq_match *m, const fm_pq_node *node, const fm_type *type, const fm_type *names, const fm_parquet_ids *ids,
                             fm_pq_want *want, fm_error *err)
{
    return match_fields(m, node, type, names, ids, 0, true, want, err);
}

/* ---- Nesting ------------------------------------------------------------------------------------------------ */

static fm_status uneven(const fm_parquet_file *file, const fm_pq_want *want, fm_error *err)
{
    return fm_pq_corrupt(file, err, "the parts of column '%.*s' have different numbers of values", FM_STR_ARG(want->node->name));
}

static uint8_t def_of(const fm_pq_leaf_rows *r, int64_t i) { return r->def ? r->def[i] : FM_PQ_LEVEL_MAX; }
static uint8_t rep_of(const fm_pq_leaf_rows *r, int64_t i) { return r->rep ? r->rep[i] : 0; }

/* Which lanes are there; *out NULL: all. */
static fm_status presence(const fm_parquet_file *file, const fm_pq_want *want, const fm_pq_leaf_rows *r, fm_pq_lanes lanes, fm_arena *arena,
                          const uint64_t **out, fm_error *err)
{
    uint64_t *bits = fm_arena_buffer(arena, (size_t)fm_bit_words(lanes.len) * 8, true);
    int64_t lane = 0, there = 0;

    *out = NULL;
    if (!bits) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < r->n_levels; i++) {
        uint8_t def = def_of(r, i);
        if (rep_of(r, i) > lanes.rep || def < lanes.def) continue;
        if (lane == lanes.len) return uneven(file, want, err);
        if (def >= want->node->def_present) {
            fm_bit_set(bits, lane);
            there++;
        }
        lane++;
    }
    if (lane != lanes.len) return uneven(file, want, err);
    if (there < lanes.len) *out = bits;
    return FM_OK;
}

static fm_status nest_struct(const fm_parquet_file *file, const fm_pq_want *want, const fm_pq_leaf_rows *read, fm_pq_lanes lanes,
                             fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_vec *children = fm_arena_array(arena, fm_vec, want->type->n_fields);

    if (!children) return fm_no_memory(arena, err);
    *out = (fm_vec){.type = want->type, .len = lanes.len, .children = children};
    FM_TRY(presence(file, want, &read[want->column], lanes, arena, &out->validity, err));
    for (int32_t i = 0; i < want->type->n_fields; i++) FM_TRY(fm_pq_nest(file, &want->children[i], read, lanes, arena, &children[i], err));
    return FM_OK;
}

static bool has_nulls(const fm_vec *v) { return v->validity && fm_bits_count(v->validity, v->len) < v->len; }

static fm_status nest_list(const fm_parquet_file *file, const fm_pq_want *want, const fm_pq_leaf_rows *read, fm_pq_lanes lanes,
                           fm_arena *arena, fm_vec *out, fm_error *err)
{
    const fm_pq_leaf_rows *r = &read[want->column];
    const fm_pq_node *node = want->node;
    fm_vec *children = fm_arena_array(arena, fm_vec, want->type->n_fields);
    int32_t *offsets = fm_arena_buffer(arena, ((size_t)lanes.len + 1) * sizeof *offsets, true);
    int32_t lane = -1, items = 0;

    if (!children || !offsets) return fm_no_memory(arena, err);
    *out = (fm_vec){.type = want->type, .len = lanes.len, .children = children, .offsets = offsets};
    FM_TRY(presence(file, want, r, lanes, arena, &out->validity, err));
    for (int64_t i = 0; i < r->n_levels; i++) {
        uint8_t def = def_of(r, i), rep = rep_of(r, i);
        if (def < lanes.def) continue;
        if (rep <= lanes.rep) offsets[++lane] = items;
        items += rep <= node->rep_item && def >= node->def_item;
        if (lane < 0) return uneven(file, want, err);
    }
    offsets[lanes.len] = items;
    fm_pq_lanes inner = {items, node->rep_item, node->def_item};
    for (int32_t i = 0; i < want->type->n_fields; i++) FM_TRY(fm_pq_nest(file, &want->children[i], read, inner, arena, &children[i], err));
    if (node->kind == FM_PQ_NODE_MAP && has_nulls(&children[0]))
        return fm_pq_corrupt(file, err, "map '%.*s' has a key that is null", FM_STR_ARG(node->name));
    return FM_OK;
}

fm_status fm_pq_nest(const fm_parquet_file *file, const fm_pq_want *want, const fm_pq_leaf_rows *read, fm_pq_lanes lanes,
                     fm_arena *arena, fm_vec *out, fm_error *err)
{
    if (!want->node) return fm_vec_nulls(out, want->type, lanes.len, arena, err);
    switch (want->node->kind) {
    case FM_PQ_NODE_LEAF:
        if (read[want->column].vec.len != lanes.len) return uneven(file, want, err);
        if (want->type->id == FM_TYPE_NULL || read[want->column].vec.type->id == FM_TYPE_NULL)
            return fm_vec_nulls(out, want->type, lanes.len, arena, err);
        *out = read[want->column].vec;
        return FM_OK;
    case FM_PQ_NODE_STRUCT: return nest_struct(file, want, read, lanes, arena, out, err);
    default: return nest_list(file, want, read, lanes, arena, out, err);
    }
}
