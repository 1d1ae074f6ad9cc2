/* table/delta/delta_schema.c: schemas from JSON and back. */
#include "table/delta/delta_schema.h"

#include <inttypes.h>

#include "base/limits.h"

/* ---- Types ------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    fm_type_id id;
} simple_types[] = {
    {"string", FM_TYPE_STRING}, {"long", FM_TYPE_I64}, {"integer", FM_TYPE_I32}, {"short", FM_TYPE_I16}, {"byte", FM_TYPE_I8},
    {"float", FM_TYPE_F32}, {"double", FM_TYPE_F64}, {"boolean", FM_TYPE_BOOL}, {"binary", FM_TYPE_BINARY}, {"date", FM_TYPE_DATE},
    {"timestamp", FM_TYPE_TIMESTAMP}, {"timestamp_ntz", FM_TYPE_TIMESTAMP_NTZ}, {"void", FM_TYPE_NULL},
};

static fm_status damaged(fm_error *err, const char *what)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "The schema in the Delta log is damaged: %s.", what);
}

/* "decimal(10,2)", "decimal" */
static fm_status read_decimal(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    fm_status st = fm_type_parse(arena, text, out, err);

    if (st == FM_INVALID || (st == FM_OK && (*out)->id != FM_TYPE_DECIMAL)) return damaged(err, "a decimal type is none");
    return st;
}

static fm_status read_simple(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    for (size_t i = 0; i < sizeof simple_types / sizeof simple_types[0]; i++) {
        if (!fm_str_eq(text, fm_str_c(simple_types[i].name))) continue;
        *out = fm_type_simple(simple_types[i].id);
        return FM_OK;
    }
    if (fm_str_starts(text, FM_STR("decimal"))) return read_decimal(arena, text, out, err);
    return fm_fail(err, FM_UNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES",
                   "Found columns using unsupported data types: the schema of the Delta table has the type '%.*s'.", FM_STR_ARG(text));
}

static fm_status read_type(fm_arena *arena, const fm_json *v, int depth, const fm_type **out, fm_delta_field **children, fm_error *err);

static bool read_flag(const fm_json *o, const char *key)
{
    const fm_json *v = fm_json_get(o, key);

    return !v || v->kind != FM_JSON_BOOL || v->boolean;
}

static fm_str meta_text(const fm_json *metadata, const char *key)
{
    const fm_json *v = fm_json_get(metadata, key);

    return v && v->kind == FM_JSON_STRING ? v->text : (fm_str){0};
}

/* {"expression":{"expression":"x > 3"}}, a text in the metadata. */
static fm_status read_invariant(fm_arena *arena, fm_str text, fm_str *out, fm_error *err)
{
    const fm_json *v;

    *out = (fm_str){0};
    if (!text.ptr) return FM_OK;
    if (fm_json_read(arena, text, &v, NULL) != FM_OK) return damaged(err, "an invariant is not JSON");
    const fm_json *inner = fm_json_get(fm_json_get(v, "expression"), "expression");
    if (!inner || inner->kind != FM_JSON_STRING) return damaged(err, "an invariant has no expression");
    *out = inner->text;
    return FM_OK;
}

static fm_status read_field_metadata(fm_arena *arena, const fm_json *metadata, fm_str name, fm_delta_field *f, fm_error *err)
{
    fm_strbuf text = {0};
    int64_t id;

    f->physical = name;
    f->id = FM_PARQUET_NO_ID;
    f->metadata = FM_STR("{}");
    if (!metadata || metadata->kind != FM_JSON_OBJECT) return FM_OK;
    if (metadata->n) {
        fm_delta_json_print(metadata, &text);
        f->metadata = fm_arena_str(arena, fm_strbuf_str(&text));
        bool ok = fm_strbuf_ok(&text) && f->metadata.ptr;
        fm_strbuf_fini(&text);
        if (!ok) return fm_no_memory(arena, err);
    }
    fm_str physical = meta_text(metadata, "delta.columnMapping.physicalName");
    if (physical.len) f->physical = physical;
    if (fm_json_i64(fm_json_get(metadata, "delta.columnMapping.id"), &id)) {
        if (id < 0 || id > INT32_MAX) return damaged(err, "a column's id is out of its range");
        f->id = (int32_t)id;
    }
    f->generated = meta_text(metadata, "delta.generationExpression");
    f->default_sql = meta_text(metadata, "CURRENT_DEFAULT");
    f->is_identity = fm_json_get(metadata, "delta.identity.start") != NULL;
    return read_invariant(arena, meta_text(metadata, "delta.invariants"), &f->invariant, err);
}

static fm_status read_struct(fm_arena *arena, const fm_json *v, int depth, const fm_type **out, fm_delta_field **children, fm_error *err)
{
    const fm_json *list = fm_json_get(v, "fields");

    if (!list || list->kind != FM_JSON_ARRAY) return damaged(err, "a struct has no fields");
    if (list->n > FM_SCHEMA_FIELDS_MAX) return damaged(err, "a struct has too many fields");
    fm_field *fields = fm_arena_array(arena, fm_field, list->n);
    *children = fm_arena_array(arena, fm_delta_field, list->n);
    if (!fields || !*children) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < list->n; i++) {
        const fm_json *f = &list->items[i], *name = fm_json_get(f, "name"), *type = fm_json_get(f, "type");
        if (!name || name->kind != FM_JSON_STRING || !type) return damaged(err, "a field has no name or no type");
        fields[i].name = name->text;
        fields[i].nullable = read_flag(f, "nullable");
        FM_TRY(read_field_metadata(arena, fm_json_get(f, "metadata"), name->text, &(*children)[i], err));
        FM_TRY(read_type(arena, type, depth + 1, &fields[i].type, &(*children)[i].children, err));
    }
    *out = fm_type_struct(arena, fields, list->n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static void init_inner(fm_delta_field *f, const char *name)
{
    *f = (fm_delta_field){.metadata = FM_STR("{}"), .physical = fm_str_c(name), .id = FM_PARQUET_NO_ID, .children = f->children};
}

static fm_status read_nested(fm_arena *arena, const fm_json *v, int depth, bool is_map, const fm_type **out, fm_delta_field **children,
                             fm_error *err)
{
    const fm_type *parts[2] = {0};
    const char *const keys[2] = {is_map ? "keyType" : "elementType", "valueType"}, *const names[2] = {is_map ? "key" : "element", "value"};

    *children = fm_arena_array(arena, fm_delta_field, 2);
    if (!*children) return fm_no_memory(arena, err);
    for (int i = 0; i < (is_map ? 2 : 1); i++) {
        const fm_json *part = fm_json_get(v, keys[i]);
        if (!part) return damaged(err, "an array or map has no type of its elements");
        FM_TRY(read_type(arena, part, depth + 1, &parts[i], &(*children)[i].children, err));
        init_inner(&(*children)[i], names[i]);
    }
    *out = is_map ? fm_type_map(arena, parts[0], parts[1], read_flag(v, "valueContainsNull"))
                  : fm_type_list(arena, parts[0], read_flag(v, "containsNull"));
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status read_type(fm_arena *arena, const fm_json *v, int depth, const fm_type **out, fm_delta_field **children, fm_error *err)
{
    *children = NULL;
    if (depth > FM_TYPE_DEPTH_MAX) return damaged(err, "its types are nested too deep");
    if (v->kind == FM_JSON_STRING) return read_simple(arena, v->text, out, err);
    const fm_json *kind = v->kind == FM_JSON_OBJECT ? fm_json_get(v, "type") : NULL;
    if (!kind || kind->kind != FM_JSON_STRING) return damaged(err, "a type is neither a text nor an object");
    if (fm_str_eq(kind->text, FM_STR("struct"))) return read_struct(arena, v, depth, out, children, err);
    if (fm_str_eq(kind->text, FM_STR("array"))) return read_nested(arena, v, depth, false, out, children, err);
    if (fm_str_eq(kind->text, FM_STR("map"))) return read_nested(arena, v, depth, true, out, children, err);
    return fm_fail(err, FM_UNSUPPORTED, "DELTA_UNSUPPORTED_DATA_TYPES",
                   "Found columns using unsupported data types: the schema of the Delta table has a type of the kind '%.*s'.", FM_STR_ARG(kind->text));
}

/* ---- Physical ---------------------------------------------------------------------------------------------- */

static fm_status physical_type(fm_arena *arena, const fm_type *type, const fm_delta_field *fields, const fm_type **out, fm_error *err);

static fm_status physical_struct(fm_arena *arena, const fm_type *type, const fm_delta_field *fields, const fm_type **out, fm_error *err)
{
    fm_field *made = fm_arena_array(arena, fm_field, type->n_fields);

    if (!made) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        made[i] = type->fields[i];
        made[i].name = fields[i].physical;
        FM_TRY(physical_type(arena, type->fields[i].type, fields[i].children, &made[i].type, err));
    }
    *out = fm_type_struct(arena, made, type->n_fields);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status physical_type(fm_arena *arena, const fm_type *type, const fm_delta_field *fields, const fm_type **out, fm_error *err)
{
    const fm_type *a, *b;

    *out = type;
    if (!fm_type_is_nested(type)) return FM_OK;
    if (type->id == FM_TYPE_STRUCT) return physical_struct(arena, type, fields, out, err);
    FM_TRY(physical_type(arena, type->fields[0].type, fields[0].children, &a, err));
    if (type->id == FM_TYPE_LIST) {
        *out = fm_type_list(arena, a, type->fields[0].nullable);
    } else {
        FM_TRY(physical_type(arena, type->fields[1].type, fields[1].children, &b, err));
        *out = fm_type_map(arena, a, b, type->fields[1].nullable);
    }
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status make_ids(fm_arena *arena, const fm_type *type, const fm_delta_field *fields, const fm_parquet_ids **out, fm_error *err)
{
    fm_parquet_ids *ids;

    *out = NULL;
    if (type->n_fields == 0) return FM_OK;
    ids = fm_arena_array(arena, fm_parquet_ids, type->n_fields);
    if (!ids) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        ids[i].id = fields[i].id;
        FM_TRY(make_ids(arena, type->fields[i].type, fields[i].children, &ids[i].children, err));
    }
    *out = ids;
    return FM_OK;
}

static fm_status find_partitions(fm_arena *arena, const fm_delta_metadata *m, fm_delta_schema *s, fm_error *err)
{
    s->n_partitions = m->n_partition_columns;
    s->partitions = fm_arena_array(arena, int32_t, s->n_partitions);
    s->is_partition = fm_arena_array(arena, bool, s->type->n_fields);
    if (!s->partitions || !s->is_partition) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->n_partitions; i++) {
        int32_t c = fm_delta_schema_find(s->type, m->partition_columns[i]);
        if (c < 0 || s->is_partition[c]) return damaged(err, "a partition column is no column, or named twice");
        if (fm_type_is_nested(s->type->fields[c].type)) return damaged(err, "a partition column has parts");
        s->partitions[i] = c;
        s->is_partition[c] = true;
    }
    return FM_OK;
}

/* Columns of data files: neither partition columns nor void. */
static fm_status find_data(fm_arena *arena, fm_delta_schema *s, fm_error *err)
{
    int32_t n = 0, all = s->type->n_fields;
    fm_field *fields = fm_arena_array(arena, fm_field, all);
    fm_parquet_ids *ids = fm_arena_array(arena, fm_parquet_ids, all);

    s->data_columns = fm_arena_array(arena, int32_t, all);
    if (!fields || !ids || !s->data_columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < all; i++) {
        if (s->is_partition[i] || s->type->fields[i].type->id == FM_TYPE_NULL) continue;
        fields[n] = s->physical->fields[i];
        if (s->ids) ids[n] = s->ids[i];
        s->data_columns[n++] = i;
    }
    s->data = fm_type_struct(arena, fields, n);
    s->data_ids = s->ids ? ids : NULL;
    return s->data ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_delta_schema_read(fm_arena *arena, const fm_delta_metadata *m, const fm_delta_schema **out, fm_error *err)
{
    fm_delta_schema *s = fm_arena_one(arena, fm_delta_schema);
    fm_delta_field *fields;
    const fm_json *root;
    fm_str mode = fm_delta_map_get(&m->configuration, "delta.columnMapping.mode", FM_STR("none"));

    if (!s) return fm_no_memory(arena, err);
    fm_status st = fm_json_read(arena, m->schema, &root, err);
    if (st == FM_INVALID) return damaged(err, "it is not JSON");
    if (st != FM_OK) return st;
    FM_TRY(read_type(arena, root, 0, &s->type, &fields, err));
    if (s->type->id != FM_TYPE_STRUCT) return damaged(err, "it is no struct");
    s->fields = fields;
    if (fm_str_eq_ci(mode, FM_STR("name"))) s->mapping = FM_DELTA_BY_PHYSICAL_NAME;
    else if (fm_str_eq_ci(mode, FM_STR("id"))) s->mapping = FM_DELTA_BY_ID;
    else if (!fm_str_eq_ci(mode, FM_STR("none"))) return damaged(err, "the column mapping mode is none of none, name, id");
    s->physical = s->type;
    if (s->mapping != FM_DELTA_BY_NAME_ITSELF) {
        FM_TRY(physical_struct(arena, s->type, fields, &s->physical, err));
        FM_TRY(make_ids(arena, s->type, fields, &s->ids, err));
    }
    FM_TRY(find_partitions(arena, m, s, err));
    FM_TRY(find_data(arena, s, err));
    *out = s;
    return FM_OK;
}

int32_t fm_delta_schema_find(const fm_type *type, fm_str name)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (fm_str_eq(type->fields[i].name, name)) return i;
    }
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (fm_str_eq_ci(type->fields[i].name, name)) return i;
    }
    return -1;
}

bool fm_delta_type_has(const fm_type *type, fm_type_id id)
{
    if (type->id == id) return true;
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (fm_delta_type_has(type->fields[i].type, id)) return true;
    }
    return false;
}

/* ---- Printing ---------------------------------------------------------------------------------------------- */

static void print_simple(const fm_type *type, fm_strbuf *out)
{
    for (size_t i = 0; i < sizeof simple_types / sizeof simple_types[0]; i++) {
        if (simple_types[i].id != type->id) continue;
        fm_strbuf_printf(out, "\"%s\"", simple_types[i].name);
        return;
    }
    fm_strbuf_add_char(out, '"');
    fm_type_text(type, out); /* decimal(10,2) */
    fm_strbuf_add_char(out, '"');
}

void fm_delta_schema_print(const fm_type *type, const fm_delta_field *fields, fm_strbuf *out)
{
    if (!fm_type_is_nested(type)) {
        print_simple(type, out);
        return;
    }
    if (type->id == FM_TYPE_LIST) {
        fm_strbuf_add_c(out, "{\"type\":\"array\",\"elementType\":");
        fm_delta_schema_print(type->fields[0].type, fields ? fields[0].children : NULL, out);
        fm_strbuf_printf(out, ",\"containsNull\":%s}", type->fields[0].nullable ? "true" : "false");
        return;
    }
    if (type->id == FM_TYPE_MAP) {
        fm_strbuf_add_c(out, "{\"type\":\"map\",\"keyType\":");
        fm_delta_schema_print(type->fields[0].type, fields ? fields[0].children : NULL, out);
        fm_strbuf_add_c(out, ",\"valueType\":");
        fm_delta_schema_print(type->fields[1].type, fields ? fields[1].children : NULL, out);
        fm_strbuf_printf(out, ",\"valueContainsNull\":%s}", type->fields[1].nullable ? "true" : "false");
        return;
    }
    fm_strbuf_add_c(out, "{\"type\":\"struct\",\"fields\":[");
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (i) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_c(out, "{\"name\":");
        fm_strbuf_add_json(out, type->fields[i].name);
        fm_strbuf_add_c(out, ",\"type\":");
        fm_delta_schema_print(type->fields[i].type, fields ? fields[i].children : NULL, out);
        fm_strbuf_printf(out, ",\"nullable\":%s,\"metadata\":", type->fields[i].nullable ? "true" : "false");
        if (fields && fields[i].metadata.len) fm_strbuf_add(out, fields[i].metadata);
        else fm_strbuf_add_c(out, "{}");
        fm_strbuf_add_char(out, '}');
    }
    fm_strbuf_add_c(out, "]}");
}
