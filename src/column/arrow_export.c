/* column/arrow_export.c: vectors to and from the Arrow C data interface.
 *
 * Everything exported lies in one arena that belongs to the root; children are released with it, and their own release
 * only marks them. */
#include "column/arrow_export.h"

#include "base/limits.h"
#include "column/arrow_c.h"
#include "column/builder.h"

/* ---- Schemas out ------------------------------------------------------------------------------------------- */

static void release_schema_part(struct ArrowSchema *s) { s->release = NULL; }

static void release_schema(struct ArrowSchema *s)
{
    fm_arena *arena = s->private_data;

    s->release = NULL;
    fm_arena_free(arena);
}

static const char *format_of(fm_arena *arena, const fm_type *t)
{
    switch (t->id) {
    case FM_TYPE_NULL: return "n";
    case FM_TYPE_BOOL: return "b";
    case FM_TYPE_I8: return "c";
    case FM_TYPE_I16: return "s";
    case FM_TYPE_I32: return "i";
    case FM_TYPE_I64: return "l";
    case FM_TYPE_F32: return "f";
    case FM_TYPE_F64: return "g";
    case FM_TYPE_DECIMAL: return fm_arena_printf(arena, "d:%d,%d", t->precision, t->scale).ptr;
    case FM_TYPE_STRING: return "u";
    case FM_TYPE_BINARY: return "z";
    case FM_TYPE_DATE: return "tdD";
    case FM_TYPE_TIMESTAMP: return "tsu:UTC";
    case FM_TYPE_TIMESTAMP_NTZ: return "tsu:";
    case FM_TYPE_INTERVAL_YM: return "tiM";
    case FM_TYPE_INTERVAL_DT: return "tDu";
    case FM_TYPE_LIST: return "+l";
    case FM_TYPE_MAP: return "+m";
    default: return "+s";
    }
}

static fm_status export_type(fm_arena *arena, const fm_type *t, fm_str name, bool nullable, struct ArrowSchema *out, fm_error *err);

static fm_status export_children(fm_arena *arena, const fm_field *fields, int32_t n, struct ArrowSchema *out, fm_error *err)
{
    struct ArrowSchema *children = fm_arena_array(arena, struct ArrowSchema, n);

    out->children = fm_arena_array(arena, struct ArrowSchema *, n);
    if (!children || !out->children) return fm_no_memory(arena, err);
    out->n_children = n;
    for (int32_t i = 0; i < n; i++) {
        out->children[i] = &children[i];
        FM_TRY(export_type(arena, fields[i].type, fields[i].name, fields[i].nullable, &children[i], err));
    }
    return FM_OK;
}

static fm_status export_type(fm_arena *arena, const fm_type *t, fm_str name, bool nullable, struct ArrowSchema *out, fm_error *err)
{
    *out = (struct ArrowSchema){.format = format_of(arena, t), .name = fm_arena_str(arena, name).ptr, .flags = nullable ? ARROW_FLAG_NULLABLE : 0, .release = release_schema_part};
    if (!out->format || !out->name) return fm_no_memory(arena, err);
    if (t->id == FM_TYPE_MAP) {
        fm_field entries = {FM_STR("entries"), fm_type_struct(arena, t->fields, 2), false};
        if (!entries.type) return fm_no_memory(arena, err);
        return export_children(arena, &entries, 1, out, err);
    }
    return t->n_fields ? export_children(arena, t->fields, t->n_fields, out, err) : FM_OK;
}

fm_status fm_arrow_export_schema(const fm_type *schema, struct ArrowSchema *out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = export_type(arena, schema, FM_STR(""), false, out, err);
    out->release = release_schema;
    out->private_data = arena;
    if (st != FM_OK) release_schema(out);
    return st;
}

/* ---- Rows out ---------------------------------------------------------------------------------------------- */

static void release_array_part(struct ArrowArray *a) { a->release = NULL; }

static void release_array(struct ArrowArray *a)
{
    fm_arena *arena = a->private_data;

    a->release = NULL;
    fm_arena_free(arena);
}

static const void *copy(fm_arena *arena, const void *bytes, size_t size)
{
    void *p = fm_arena_buffer(arena, size, false);

    if (p && size) memcpy(p, bytes, size);
    return p;
}

static const void *bits_of(fm_arena *arena, const uint8_t *bools, int32_t n)
{
    uint64_t *bits = fm_arena_buffer(arena, (size_t)fm_bit_words(n) * 8, true);

    for (int32_t i = 0; bits && i < n; i++) bits[i >> 6] |= (uint64_t)bools[i] << (i & 63);
    return bits;
}

static fm_status export_strings(fm_arena *arena, const fm_vec *v, const void **buffers, fm_error *err)
{
    int32_t *offsets = fm_arena_buffer(arena, ((size_t)v->len + 1) * 4, true);
    const fm_view *views = fm_vec_view(v);
    int64_t total = 0;

    if (!offsets) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < v->len; i++) {
        total += views[i].len;
        if (total > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_BATCH_TOO_LARGE", "A batch has more than 2 GiB of text in a column.");
        offsets[i + 1] = (int32_t)total;
    }
    char *bytes = fm_arena_buffer(arena, (size_t)total, false);
    if (!bytes) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < v->len; i++) {
        if (views[i].len) memcpy(bytes + offsets[i], fm_view_ptr(&views[i]), views[i].len);
    }
    buffers[1] = offsets;
    buffers[2] = bytes;
    return FM_OK;
}

static fm_status export_vec(fm_arena *arena, const fm_vec *v, struct ArrowArray *out, fm_error *err);

static fm_status export_vecs(fm_arena *arena, const fm_vec *vecs, int32_t n, struct ArrowArray *out, fm_error *err)
{
    struct ArrowArray *children = fm_arena_array(arena, struct ArrowArray, n);

    out->children = fm_arena_array(arena, struct ArrowArray *, n);
    if (!children || !out->children) return fm_no_memory(arena, err);
    out->n_children = n;
    for (int32_t i = 0; i < n; i++) {
        out->children[i] = &children[i];
        FM_TRY(export_vec(arena, &vecs[i], &children[i], err));
    }
    return FM_OK;
}

static fm_status export_vec(fm_arena *arena, const fm_vec *v, struct ArrowArray *out, fm_error *err)
{
    size_t width = fm_type_width(v->type);
    const void **buffers = fm_arena_array(arena, const void *, 3);

    *out = (struct ArrowArray){.length = v->len, .null_count = v->type->id == FM_TYPE_NULL ? v->len : 0, .n_buffers = 1, .buffers = buffers, .release = release_array_part};
    if (!buffers) return fm_no_memory(arena, err);
    if (v->type->id == FM_TYPE_NULL) {
        out->n_buffers = 0;
        return FM_OK;
    }
    if (v->validity) {
        out->null_count = v->len - fm_bits_count(v->validity, v->len);
        buffers[0] = copy(arena, v->validity, (size_t)fm_bit_words(v->len) * 8);
        if (!buffers[0]) return fm_no_memory(arena, err);
    }
    if (fm_type_is_view(v->type)) {
        out->n_buffers = 3;
        return export_strings(arena, v, buffers, err);
    }
    if (width) {
        out->n_buffers = 2;
        buffers[1] = v->type->id == FM_TYPE_BOOL ? bits_of(arena, fm_vec_bool(v), v->len) : copy(arena, v->values, (size_t)v->len * width);
        return buffers[1] ? FM_OK : fm_no_memory(arena, err);
    }
    if (v->offsets) {
        out->n_buffers = 2;
        buffers[1] = copy(arena, v->offsets, ((size_t)v->len + 1) * 4);
        if (!buffers[1]) return fm_no_memory(arena, err);
    }
    if (v->type->id != FM_TYPE_MAP) return export_vecs(arena, v->children, v->type->n_fields, out, err);
    fm_vec entries = {.type = fm_type_struct(arena, v->type->fields, 2), .len = v->children[0].len, .children = v->children};
    return entries.type ? export_vecs(arena, &entries, 1, out, err) : fm_no_memory(arena, err);
}

fm_status fm_arrow_export_batch(const fm_batch *batch, struct ArrowArray *out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_vec root = {.type = batch->schema, .len = batch->rows, .children = batch->columns};

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = export_vec(arena, &root, out, err);
    out->release = release_array;
    out->private_data = arena;
    if (st != FM_OK) release_array(out);
    return st;
}

/* ---- Rows in ----------------------------------------------------------------------------------------------- */

static fm_status refused(fm_error *err, const char *why)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_ARROW", "The rows given through Arrow cannot be taken: %s.", why);
}

static fm_status import_type(const struct ArrowSchema *in, fm_arena *arena, int depth, const fm_type **out, fm_error *err);

/* "d:precision,scale" and, if given, ",128". */
static fm_status import_decimal(const char *format, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_str text = fm_str_c(format + 2);
    ptrdiff_t comma = fm_str_find(text, FM_STR(","));
    int64_t precision = 0, scale = 0;

    if (fm_str_ends(text, FM_STR(",128")) && fm_str_find((fm_str){text.ptr + comma + 1, text.len - (size_t)comma - 1}, FM_STR(",")) >= 0) text.len -= 4;
    if (comma < 0 || !fm_str_to_i64((fm_str){text.ptr, (size_t)comma}, &precision) ||
        !fm_str_to_i64((fm_str){text.ptr + comma + 1, text.len - (size_t)comma - 1}, &scale) || precision < 1 ||
        precision > FM_DECIMAL_PRECISION_MAX || scale < 0 || scale > precision) {
        return refused(err, "a decimal is not decimal128 of up to 38 digits with a scale within them");
    }
    *out = fm_type_decimal(arena, (int)precision, (int)scale);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* A map's one child is the struct of its entries. */
static fm_status import_map(const struct ArrowSchema *in, fm_arena *arena, int depth, const fm_type **out, fm_error *err)
{
    const struct ArrowSchema *entries = in->n_children == 1 ? in->children[0] : NULL;
    const fm_type *key, *value;

    if (!entries || entries->n_children != 2 || !entries->children || !entries->children[0] || !entries->children[1]) {
        return refused(err, "a map has not one child with two fields");
    }
    FM_TRY(import_type(entries->children[0], arena, depth + 1, &key, err));
    FM_TRY(import_type(entries->children[1], arena, depth + 1, &value, err));
    *out = fm_type_map(arena, key, value, (entries->children[1]->flags & ARROW_FLAG_NULLABLE) != 0);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status import_type(const struct ArrowSchema *in, fm_arena *arena, int depth, const fm_type **out, fm_error *err)
{
    static const struct {
        const char *format;
        fm_type_id id;
    } simple[] = {
        {"n", FM_TYPE_NULL}, {"b", FM_TYPE_BOOL}, {"c", FM_TYPE_I8}, {"s", FM_TYPE_I16}, {"i", FM_TYPE_I32}, {"l", FM_TYPE_I64},
        {"f", FM_TYPE_F32}, {"g", FM_TYPE_F64}, {"u", FM_TYPE_STRING}, {"z", FM_TYPE_BINARY}, {"tdD", FM_TYPE_DATE},
        {"tsu:", FM_TYPE_TIMESTAMP_NTZ}, {"tDu", FM_TYPE_INTERVAL_DT}, {"tiM", FM_TYPE_INTERVAL_YM},
    };

    if (!in || !in->format || in->dictionary || depth > FM_TYPE_DEPTH_MAX || in->n_children < 0 || in->n_children > FM_SCHEMA_FIELDS_MAX) return refused(err, "a schema is malformed");
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++) {
        if (strcmp(in->format, simple[i].format) != 0) continue;
        *out = fm_type_simple(simple[i].id);
        return FM_OK;
    }
    if (strncmp(in->format, "tsu:", 4) == 0) {
        *out = fm_type_timestamp();
        return FM_OK;
    }
    if (strncmp(in->format, "d:", 2) == 0) return import_decimal(in->format, arena, out, err);
    bool map = strcmp(in->format, "+m") == 0;
    if (!map && strcmp(in->format, "+s") != 0 && strcmp(in->format, "+l") != 0) {
        return refused(err, "a column has a type that is not taken (taken are booleans, signed integers, floats, decimal128, utf8, "
                            "binary, date32, microsecond timestamps and durations, months, lists, maps and structs)");
    }
    if (in->n_children > 0 && !in->children) return refused(err, "a schema is malformed");
    if (map) return import_map(in, arena, depth, out, err);
    fm_field *fields = fm_arena_array(arena, fm_field, in->n_children);
    if (!fields) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < in->n_children; i++) {
        const struct ArrowSchema *c = in->children[i];
        if (!c) return refused(err, "a schema is malformed");
        fields[i] = (fm_field){fm_str_c(c->name ? c->name : ""), NULL, (c->flags & ARROW_FLAG_NULLABLE) != 0};
        FM_TRY(import_type(c, arena, depth + 1, &fields[i].type, err));
    }
    if (in->format[1] == 'l' && in->n_children != 1) return refused(err, "a list has not one child");
    *out = in->format[1] == 's' ? fm_type_struct(arena, fields, (int32_t)in->n_children) : fm_type_list(arena, fields[0].type, fields[0].nullable);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_arrow_import_schema(const struct ArrowSchema *in, fm_arena *arena, const fm_type **out, fm_error *err)
{
    FM_TRY(import_type(in, arena, 0, out, err));
    return (*out)->id == FM_TYPE_STRUCT ? FM_OK : refused(err, "the schema is no struct");
}

static bool bit_at(const void *bits, int64_t i) { return ((const uint8_t *)bits)[i >> 3] >> (i & 7) & 1; }

static fm_status import_lane(const struct ArrowArray *a, int64_t i, const fm_type *t, int depth, fm_builder *b, fm_error *err);

static fm_status import_decimal_value(const char *value, const fm_type *t, fm_builder *b, fm_error *err)
{
    fm_i128 x, bound = 1;

    memcpy(&x, value, sizeof x); /* the host aligns to 8 bytes at least */
    for (int i = 0; i < t->precision; i++) bound *= 10;
    if (x >= bound || x <= -bound) return refused(err, "a decimal has more digits than its precision");
    fm_builder_decimal(b, x);
    return FM_OK;
}

static fm_status import_entries(const struct ArrowArray *a, int64_t at, const fm_type *t, int depth, fm_builder *b, fm_error *err)
{
    const int32_t *offsets = a->buffers[1];
    const struct ArrowArray *entries = a->n_children == 1 && a->children ? a->children[0] : NULL;

    if (!entries || entries->n_children != 2 || !entries->children || entries->offset < 0) return refused(err, "a map has not one child with two fields");
    if (offsets[at] < 0 || offsets[at + 1] < offsets[at] || offsets[at + 1] > entries->length) return refused(err, "offsets of a map fall, or point behind its entries");
    for (int32_t k = offsets[at]; k < offsets[at + 1]; k++) {
        for (int32_t c = 0; c < 2; c++) FM_TRY(import_lane(entries->children[c], entries->offset + k, t->fields[c].type, depth + 1, fm_builder_child(b, c), err));
        const struct ArrowArray *key = entries->children[0];
        bool null = t->fields[0].type->id == FM_TYPE_NULL || (key->n_buffers > 0 && key->buffers[0] && !bit_at(key->buffers[0], key->offset + entries->offset + k));
        if (null) return refused(err, "a key of a map is null");
    }
    fm_builder_end(b);
    return FM_OK;
}

static fm_status import_lane(const struct ArrowArray *a, int64_t i, const fm_type *t, int depth, fm_builder *b, fm_error *err)
{
    size_t width = fm_type_width(t);
    if (!a || a->dictionary || i < 0 || i >= a->length || a->offset < 0) return refused(err, "an array is missing, has a dictionary, or is shorter than what points into it");
    int64_t at = a->offset + i;
    if (t->id == FM_TYPE_NULL || (a->buffers && a->n_buffers > 0 && a->buffers[0] && !bit_at(a->buffers[0], at))) {
        fm_builder_null(b);
        return FM_OK;
    }
    if (t->id == FM_TYPE_STRUCT) {
        if (a->n_children != t->n_fields || (t->n_fields && !a->children)) return refused(err, "a struct has another number of children than its type");
        for (int32_t c = 0; c < t->n_fields; c++) FM_TRY(import_lane(a->children[c], at, t->fields[c].type, depth + 1, fm_builder_child(b, c), err));
        fm_builder_end(b);
        return FM_OK;
    }
    if (a->n_buffers < 2 || !a->buffers || !a->buffers[1]) return refused(err, "a buffer is missing");
    if (fm_type_is_view(t)) {
        const int32_t *offsets = a->buffers[1];
        if (a->n_buffers < 3 || offsets[at] < 0 || offsets[at + 1] < offsets[at]) return refused(err, "offsets of a text fall");
        if (offsets[at + 1] > offsets[at] && !a->buffers[2]) return refused(err, "a buffer is missing");
        if (offsets[at + 1] == offsets[at]) {
            fm_builder_str(b, FM_STR(""));
            return FM_OK;
        }
        fm_builder_str(b, (fm_str){(const char *)a->buffers[2] + offsets[at], (size_t)(offsets[at + 1] - offsets[at])});
        return FM_OK;
    }
    if (t->id == FM_TYPE_MAP) return import_entries(a, at, t, depth, b, err);
    if (t->id == FM_TYPE_LIST) {
        const int32_t *offsets = a->buffers[1];
        if (a->n_children != 1 || !a->children || offsets[at] < 0 || offsets[at + 1] < offsets[at]) return refused(err, "offsets of a list fall");
        for (int32_t k = offsets[at]; k < offsets[at + 1]; k++) FM_TRY(import_lane(a->children[0], k, t->fields[0].type, depth + 1, fm_builder_child(b, 0), err));
        fm_builder_end(b);
        return FM_OK;
    }
    const char *value = (const char *)a->buffers[1] + (size_t)at * width;
    switch (t->id) {
    case FM_TYPE_BOOL: fm_builder_bool(b, bit_at(a->buffers[1], at)); return FM_OK;
    case FM_TYPE_F32: fm_builder_f64(b, *(const float *)(const void *)value); return FM_OK;
    case FM_TYPE_F64: fm_builder_f64(b, *(const double *)(const void *)value); return FM_OK;
    default: break;
    }
    switch (width) {
    case 1: fm_builder_i64(b, *(const int8_t *)value); return FM_OK;
    case 2: fm_builder_i64(b, *(const int16_t *)(const void *)value); return FM_OK;
    case 4: fm_builder_i64(b, *(const int32_t *)(const void *)value); return FM_OK;
    case 8: fm_builder_i64(b, *(const int64_t *)(const void *)value); return FM_OK;
    case 16: return import_decimal_value(value, t, b, err);
    default: return refused(err, "a column has a type that is not taken");
    }
}

fm_status fm_arrow_import_batch(const struct ArrowArray *in, const fm_type *schema, fm_arena *arena, fm_batch *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, schema, 0);
    fm_vec root;

    if (!b) return fm_no_memory(arena, err);
    if (in->length < 0 || in->length > INT32_MAX) return refused(err, "a batch has a wrong number of rows");
    for (int64_t i = 0; i < in->length; i++) FM_TRY(import_lane(in, i, schema, 0, b, err));
    FM_TRY(fm_builder_finish(b, &root, err));
    *out = (fm_batch){.schema = schema, .rows = root.len, .columns = root.children};
    return FM_OK;
}
