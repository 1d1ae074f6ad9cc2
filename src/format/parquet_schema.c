/* format/parquet_schema.c: the schema of a file as a tree of our types.
 *
 * Rule  Spark, ParquetToSparkSchemaConverter: which annotation gives which type, and the forms of lists of older writers:
 *       a repeated field is an item itself when it is primitive, has more than one field, or is called `array` or
 *       `<list>_tuple`; else its only field is the item. A repeated field outside of a list is a list of items that are there. */
#include "format/parquet_impl.h"

#include "base/limits.h"
#include "format/spark_schema.h"

/* ---- Leaf types --------------------------------------------------------------------------------------------- */

/* Digits that a signed number of so many bytes always holds. */
static int32_t digits_of(int32_t bytes)
{
    static const uint8_t digits[] = {0, 2, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 35, 38};

    return bytes < 0 ? 0 : bytes > 16 ? 38 : digits[bytes];
}

static const fm_type *decimal_of(const fm_pq_element *e, int32_t digits_max, fm_arena *arena, const char **refused)
{
    if (e->precision >= 1 && e->precision <= digits_max && e->scale >= 0 && e->scale <= e->precision)
        return fm_type_decimal(arena, e->precision, e->scale);
    *refused = "a DECIMAL whose precision or scale does not fit";
    return NULL;
}

static const fm_type *integer_of(const fm_pq_element *e, fm_arena *arena, const char **refused)
{
    bool wide = e->type == FM_PQ_INT64;

    if (wide && e->bits == 64) return e->is_signed ? fm_type_i64() : fm_type_decimal(arena, 20, 0);
    if (!wide && e->bits == 8) return fm_type_simple(e->is_signed ? FM_TYPE_I8 : FM_TYPE_I16);
    if (!wide && e->bits == 16) return fm_type_simple(e->is_signed ? FM_TYPE_I16 : FM_TYPE_I32);
    if (!wide && e->bits == 32) return fm_type_simple(e->is_signed ? FM_TYPE_I32 : FM_TYPE_I64);
    *refused = "an integer of an unknown width";
    return NULL;
}

static const fm_type *bytes_type(const fm_pq_element *e, fm_arena *arena, const char **refused)
{
    bool fixed = e->type == FM_PQ_FIXED;

    switch (e->logical) {
    case FM_PQ_PLAIN_TYPE: return fm_type_simple(FM_TYPE_BINARY);
    case FM_PQ_DECIMAL: return decimal_of(e, fixed ? digits_of(e->type_length) : FM_DECIMAL_PRECISION_MAX, arena, refused);
    case FM_PQ_STRING:
    case FM_PQ_ENUM:
    case FM_PQ_JSON:
        if (!fixed) return fm_type_string();
        break;
    case FM_PQ_BSON:
    case FM_PQ_GEOMETRY:
    case FM_PQ_GEOGRAPHY:
        if (!fixed) return fm_type_simple(FM_TYPE_BINARY);
        break;
    case FM_PQ_FLOAT16:
        if (fixed && e->type_length == 2) return fm_type_simple(FM_TYPE_F32);
        break;
    case FM_PQ_INTERVAL: *refused = "INTERVAL, which Spark does not read either"; return NULL;
    case FM_PQ_UUID: *refused = "UUID, which Spark does not read either"; return NULL;
    default: break;
    }
    *refused = "bytes with an annotation that is not for them";
    return NULL;
}

static const fm_type *number_type(const fm_pq_element *e, fm_arena *arena, const char **refused)
{
    bool wide = e->type == FM_PQ_INT64;

    switch (e->logical) {
    case FM_PQ_PLAIN_TYPE: return wide ? fm_type_i64() : fm_type_i32();
    case FM_PQ_INTEGER: return integer_of(e, arena, refused);
    case FM_PQ_DECIMAL: return decimal_of(e, wide ? 18 : 9, arena, refused);
    case FM_PQ_DATE:
        if (!wide) return fm_type_simple(FM_TYPE_DATE);
        break;
    case FM_PQ_TIMESTAMP:
        if (wide && e->unit) return fm_type_simple(e->adjusted ? FM_TYPE_TIMESTAMP : FM_TYPE_TIMESTAMP_NTZ);
        break;
    case FM_PQ_TIME: *refused = "TIME, for which there is no type here"; return NULL;
    default: break;
    }
    *refused = "a number with an annotation that is not for it";
    return NULL;
}

const fm_type *fm_pq_leaf_type(const fm_pq_element *e, fm_arena *arena, const char **refused)
{
    *refused = NULL;
    if (e->logical == FM_PQ_UNKNOWN) return fm_type_null();
    switch (e->type) {
    case FM_PQ_BOOLEAN: return fm_type_bool();
    case FM_PQ_INT32:
    case FM_PQ_INT64: return number_type(e, arena, refused);
    case FM_PQ_INT96: return fm_type_timestamp();
    case FM_PQ_FLOAT: return fm_type_simple(FM_TYPE_F32);
    case FM_PQ_DOUBLE: return fm_type_f64();
    default: return bytes_type(e, arena, refused);
    }
}

/* ---- The tree ----------------------------------------------------------------------------------------------- */

typedef struct builder {
    fm_parquet_file *file;
    fm_arena *arena;
    int32_t next; /* the element to read */
    bool has_ids;
} builder;

/* Levels, and depth in the file's own schema. */
typedef struct place {
    int32_t def, rep, depth;
} place;

static fm_status read_field(builder *b, place at, fm_pq_node *out, fm_error *err);

static fm_status bad_schema(const builder *b, fm_str name, const char *what, fm_error *err)
{
    return fm_pq_corrupt(b->file, err, "the schema's field '%.*s' %s", FM_STR_ARG(name), what);
}

static fm_status no_memory(const builder *b, fm_error *err) { return fm_no_memory(b->arena, err); }

static fm_status read_leaf(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err)
{
    fm_parquet_file *file = b->file;

    if (e->type >= FM_PQ_TYPES) return bad_schema(b, e->name, "has an unknown type", err);
    if (e->type == FM_PQ_FIXED && (e->type_length <= 0 || e->type_length > 1 << 20))
        return bad_schema(b, e->name, "has an impossible length", err);
    out->kind = FM_PQ_NODE_LEAF;
    out->type = fm_pq_leaf_type(e, b->arena, &out->refused);
    if (!out->type && !out->refused) return no_memory(b, err);
    if (out->refused) out->type = fm_type_null();
    out->leaf = file->n_leaves;
    out->n_leaves = 1;
    file->leaves[file->n_leaves++] = (fm_pq_leaf){e, out, (uint8_t)at.def, (uint8_t)at.rep};
    return FM_OK;
}

/* Reads n children of a group into out->children. */
static fm_status read_children(builder *b, fm_str name, int32_t n, place at, fm_pq_node *out, fm_error *err)
{
    int32_t left = b->file->footer.n_elements - b->next;

    if (n > left) return bad_schema(b, name, "has more parts than there are fields", err);
    if (n > FM_SCHEMA_FIELDS_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "File '%.*s' has more than %d columns in one group.",
                       FM_STR_ARG(b->file->path), FM_SCHEMA_FIELDS_MAX);
    out->children = fm_arena_array(b->arena, fm_pq_node, n);
    if (!out->children) return no_memory(b, err);
    out->n_children = n;
    out->leaf = b->file->n_leaves;
    at.depth++;
    for (int32_t i = 0; i < n; i++) FM_TRY(read_field(b, at, &out->children[i], err));
    out->n_leaves = b->file->n_leaves - out->leaf;
    return FM_OK;
}

static fm_status make_struct(builder *b, fm_pq_node *n, fm_error *err)
{
    fm_field *fields = fm_arena_array(b->arena, fm_field, n->n_children);

    if (!fields) return no_memory(b, err);
    for (int32_t i = 0; i < n->n_children; i++) {
        fields[i] = (fm_field){n->children[i].name, n->children[i].type, n->children[i].nullable};
        if (n->children[i].refused) n->refused = n->children[i].refused;
    }
    n->kind = FM_PQ_NODE_STRUCT;
    n->type = fm_type_struct(b->arena, fields, n->n_children);
    return n->type ? FM_OK : no_memory(b, err);
}

static fm_status make_list(builder *b, fm_pq_node *n, bool item_nullable, fm_error *err)
{
    n->kind = FM_PQ_NODE_LIST;
    n->refused = n->children[0].refused;
    n->type = fm_type_list(b->arena, n->children[0].type, item_nullable);
    return n->type ? FM_OK : no_memory(b, err);
}

/* The inside of a field behind its element: a leaf or a group, whose value is present from at.def on. */
static fm_status read_inside(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err);

/* Whether the repeated field of a list is the item, not a shell around it. */
static bool is_item(const builder *b, const fm_pq_element *repeated, fm_str list)
{
    if (repeated->type >= 0 || repeated->n_children != 1) return true;
    if (fm_str_eq(repeated->name, FM_STR("array"))) return true;
    if (repeated->name.len == list.len + 6 && fm_str_starts(repeated->name, list) && fm_str_ends(repeated->name, FM_STR("_tuple")))
        return true;
    /* An item that is a list of the bare kind (parquet-format, rule 4 of the backward compatibility of lists). */
    return b->next < b->file->footer.n_elements && b->file->footer.elements[b->next].repetition == FM_PQ_REPEATED;
}

static fm_status read_list(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err)
{
    if (e->n_children != 1 || b->next >= b->file->footer.n_elements) return bad_schema(b, e->name, "is no valid list", err);
    const fm_pq_element *repeated = &b->file->footer.elements[b->next++];
    place in = {at.def + 1, at.rep + 1, at.depth + 1};
    bool nullable = false;

    if (repeated->repetition != FM_PQ_REPEATED) return bad_schema(b, e->name, "is no valid list", err);
    if (in.def > FM_PQ_LEVEL_MAX || in.depth > FM_TYPE_DEPTH_MAX) return bad_schema(b, e->name, "is nested too deep", err);
    out->rep_item = (uint8_t)in.rep;
    out->def_item = (uint8_t)in.def;
    if (is_item(b, repeated, e->name)) {
        out->children = fm_arena_one(b->arena, fm_pq_node);
        if (!out->children) return no_memory(b, err);
        out->n_children = 1;
        out->leaf = b->file->n_leaves;
        out->children[0] = (fm_pq_node){.name = FM_STR("element"), .field_id = repeated->field_id, .element = repeated,
                                        .def_present = (uint8_t)in.def};
        FM_TRY(read_inside(b, repeated, in, &out->children[0], err));
        out->n_leaves = b->file->n_leaves - out->leaf;
    } else {
        FM_TRY(read_children(b, e->name, 1, in, out, err));
        nullable = out->children[0].nullable;
    }
    return make_list(b, out, nullable, err);
}

static fm_status read_map(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err)
{
    if (e->n_children != 1 || b->next >= b->file->footer.n_elements) return bad_schema(b, e->name, "is no valid map", err);
    const fm_pq_element *entry = &b->file->footer.elements[b->next++];
    place in = {at.def + 1, at.rep + 1, at.depth + 1};

    if (entry->repetition != FM_PQ_REPEATED || entry->type >= 0 || entry->n_children != 2)
        return bad_schema(b, e->name, "is no valid map: it needs a repeated group of a key and a value", err);
    if (in.def > FM_PQ_LEVEL_MAX || in.depth > FM_TYPE_DEPTH_MAX) return bad_schema(b, e->name, "is nested too deep", err);
    FM_TRY(read_children(b, e->name, 2, in, out, err));
    out->kind = FM_PQ_NODE_MAP;
    out->rep_item = (uint8_t)in.rep;
    out->def_item = (uint8_t)in.def;
    out->refused = out->children[0].refused ? out->children[0].refused : out->children[1].refused;
    out->type = fm_type_map(b->arena, out->children[0].type, out->children[1].type, out->children[1].nullable);
    return out->type ? FM_OK : no_memory(b, err);
}

static fm_status read_inside(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err)
{
    if (e->type >= 0) return read_leaf(b, e, at, out, err);
    if (e->logical == FM_PQ_LIST) return read_list(b, e, at, out, err);
    /* MAP_KEY_VALUE on the group of the pairs themselves says nothing; on the group around it, it is a map. */
    if (e->logical == FM_PQ_MAP || (e->logical == FM_PQ_MAP_KEY_VALUE && e->n_children == 1)) return read_map(b, e, at, out, err);
    if (e->n_children <= 0) return bad_schema(b, e->name, "is a group without fields", err);
    FM_TRY(read_children(b, e->name, e->n_children, at, out, err));
    return make_struct(b, out, err);
}

/* A repeated field outside of a list: a list that is never null. */
static fm_status read_bare_list(builder *b, const fm_pq_element *e, place at, fm_pq_node *out, fm_error *err)
{
    place in = {at.def + 1, at.rep + 1, at.depth};

    out->children = fm_arena_one(b->arena, fm_pq_node);
    if (!out->children) return no_memory(b, err);
    out->n_children = 1;
    out->leaf = b->file->n_leaves;
    out->rep_item = (uint8_t)in.rep;
    out->def_item = (uint8_t)in.def;
    out->def_present = (uint8_t)at.def;
    out->children[0] = (fm_pq_node){.name = FM_STR("element"), .field_id = FM_PARQUET_NO_ID, .element = e, .def_present = (uint8_t)in.def};
    FM_TRY(read_inside(b, e, in, &out->children[0], err));
    out->n_leaves = b->file->n_leaves - out->leaf;
    return make_list(b, out, false, err);
}

static fm_status read_field(builder *b, place at, fm_pq_node *out, fm_error *err)
{
    if (b->next >= b->file->footer.n_elements) return bad_schema(b, FM_STR(""), "is missing", err);
    const fm_pq_element *e = &b->file->footer.elements[b->next++];

    if (e->repetition < FM_PQ_REQUIRED || e->repetition > FM_PQ_REPEATED) return bad_schema(b, e->name, "has no repetition", err);
    if (at.depth > FM_TYPE_DEPTH_MAX || at.def + 2 > FM_PQ_LEVEL_MAX) return bad_schema(b, e->name, "is nested too deep", err);
    *out = (fm_pq_node){.name = e->name, .field_id = e->field_id, .element = e, .nullable = e->repetition == FM_PQ_OPTIONAL};
    b->has_ids = b->has_ids || e->field_id >= 0;
    if (e->repetition == FM_PQ_REPEATED) return read_bare_list(b, e, at, out, err);
    at.def += e->repetition == FM_PQ_OPTIONAL;
    out->def_present = (uint8_t)at.def;
    return read_inside(b, e, at, out, err);
}

static fm_status make_ids(builder *b, const fm_pq_node *n, const fm_parquet_ids **out, fm_error *err)
{
    fm_parquet_ids *ids = fm_arena_array(b->arena, fm_parquet_ids, n->n_children);

    if (!ids) return no_memory(b, err);
    for (int32_t i = 0; i < n->n_children; i++) {
        ids[i].id = n->children[i].field_id < 0 ? FM_PARQUET_NO_ID : n->children[i].field_id;
        if (n->children[i].n_children) FM_TRY(make_ids(b, &n->children[i], &ids[i].children, err));
    }
    *out = ids;
    return FM_OK;
}

/* ---- What Spark says besides -------------------------------------------------------------------------------- */

static bool says_interval(const fm_type *t)
{
    if (t->id == FM_TYPE_INTERVAL_YM || t->id == FM_TYPE_INTERVAL_DT) return true;
    for (int32_t i = 0; i < t->n_fields; i++)
        if (says_interval(t->fields[i].type)) return true;
    return false;
}

/* Parquet has no word for Spark's intervals: they are bare integers, and the schema in the metadata tells. */
static fm_status restate(builder *b, fm_pq_node *n, const fm_type *said, fm_error *err)
{
    if (n->kind == FM_PQ_NODE_LEAF) {
        bool fits = (said->id == FM_TYPE_INTERVAL_YM && n->type->id == FM_TYPE_I32) || (said->id == FM_TYPE_INTERVAL_DT && n->type->id == FM_TYPE_I64);
        if (fits) n->type = said;
        return FM_OK;
    }
    if (said->n_fields != n->n_children || said->id != n->type->id) return FM_OK;
    for (int32_t i = 0; i < n->n_children; i++) FM_TRY(restate(b, &n->children[i], said->fields[i].type, err));
    if (n->kind == FM_PQ_NODE_STRUCT) return make_struct(b, n, err);
    if (n->kind == FM_PQ_NODE_LIST) return make_list(b, n, n->type->fields[0].nullable, err);
    n->type = fm_type_map(b->arena, n->children[0].type, n->children[1].type, n->children[1].nullable);
    return n->type ? FM_OK : no_memory(b, err);
}

fm_status fm_pq_schema_build(fm_parquet_file *file, fm_arena *arena, fm_error *err)
{
    builder b = {.file = file, .arena = arena, .next = 1};
    const fm_pq_footer *f = &file->footer;

    if (f->n_elements < 1 || f->elements[0].type >= 0 || f->elements[0].n_children < 0)
        return fm_pq_corrupt(file, err, "its footer has no schema");
    file->leaves = fm_arena_array(arena, fm_pq_leaf, f->n_elements);
    if (!file->leaves) return no_memory(&b, err);
    file->root = (fm_pq_node){.field_id = FM_PARQUET_NO_ID, .element = &f->elements[0]};
    FM_TRY(read_children(&b, FM_STR("root"), f->elements[0].n_children, (place){0, 0, 0}, &file->root, err));
    if (b.next != f->n_elements) return fm_pq_corrupt(file, err, "its schema has %d fields too many", f->n_elements - b.next);
    FM_TRY(make_struct(&b, &file->root, err));
    fm_str text = fm_parquet_metadata(file, FM_STR("org.apache.spark.sql.parquet.row.metadata"));
    const fm_type *said = NULL;
    /* A schema that cannot be read says nothing. */
    if (text.len && text.len < FM_PQ_FOOTER_SIZE_MAX && fm_spark_schema_parse(arena, text, &said, NULL) == FM_OK && says_interval(said))
        FM_TRY(restate(&b, &file->root, said, err));
    return b.has_ids ? make_ids(&b, &file->root, &file->ids, err) : FM_OK;
}
