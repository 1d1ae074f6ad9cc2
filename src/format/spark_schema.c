/* format/spark_schema.c: Spark's JSON of schemas.
 *
 * Rule  Spark, DataType.json: names of simple types are those of typeName (integer, long, "decimal(10,2)", "interval day to
 *       second"); array, map and struct are objects. */
#include "format/spark_schema.h"

#include "base/limits.h"
#include "format/json.h"

static const char *simple_name(const fm_type *t)
{
    switch (t->id) {
    case FM_TYPE_NULL: return "void";
    case FM_TYPE_BOOL: return "boolean";
    case FM_TYPE_I8: return "byte";
    case FM_TYPE_I16: return "short";
    case FM_TYPE_I32: return "integer";
    case FM_TYPE_I64: return "long";
    case FM_TYPE_F32: return "float";
    case FM_TYPE_F64: return "double";
    default: return NULL;
    }
}

static void print(const fm_type *t, fm_strbuf *out)
{
    switch (t->id) {
    case FM_TYPE_LIST:
        fm_strbuf_add_c(out, "{\"type\":\"array\",\"elementType\":");
        print(t->fields[0].type, out);
        fm_strbuf_printf(out, ",\"containsNull\":%s}", t->fields[0].nullable ? "true" : "false");
        break;
    case FM_TYPE_MAP:
        fm_strbuf_add_c(out, "{\"type\":\"map\",\"keyType\":");
        print(t->fields[0].type, out);
        fm_strbuf_add_c(out, ",\"valueType\":");
        print(t->fields[1].type, out);
        fm_strbuf_printf(out, ",\"valueContainsNull\":%s}", t->fields[1].nullable ? "true" : "false");
        break;
    case FM_TYPE_STRUCT:
        fm_strbuf_add_c(out, "{\"type\":\"struct\",\"fields\":[");
        for (int32_t i = 0; i < t->n_fields; i++) {
            fm_strbuf_add_c(out, i ? ",{\"name\":" : "{\"name\":");
            fm_strbuf_add_json(out, t->fields[i].name);
            fm_strbuf_add_c(out, ",\"type\":");
            print(t->fields[i].type, out);
            fm_strbuf_printf(out, ",\"nullable\":%s,\"metadata\":{}}", t->fields[i].nullable ? "true" : "false");
        }
        fm_strbuf_add_c(out, "]}");
        break;
    default:
        fm_strbuf_add_char(out, '"');
        if (simple_name(t)) fm_strbuf_add_c(out, simple_name(t));
        else fm_type_text(t, out); /* the same in both spellings */
        fm_strbuf_add_char(out, '"');
    }
}

void fm_spark_schema_print(const fm_type *schema, fm_strbuf *out) { print(schema, out); }

static fm_status parse(fm_arena *arena, const fm_json *v, int32_t depth, const fm_type **out, fm_error *err);

static fm_status wrong(fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_SPARK_SCHEMA", "This is not the JSON of a schema, or has a type that is not known here.");
}

static bool truth(const fm_json *object, const char *key)
{
    const fm_json *v = fm_json_get(object, key);

    return !v || v->kind != FM_JSON_BOOL || v->boolean;
}

static fm_status parse_simple(fm_arena *arena, fm_str name, const fm_type **out, fm_error *err)
{
    for (int id = 0; id <= FM_TYPE_F64; id++) {
        const char *simple = simple_name(fm_type_simple((fm_type_id)id));
        if (!simple || !fm_str_eq(name, fm_str_c(simple))) continue;
        *out = fm_type_simple((fm_type_id)id);
        return FM_OK;
    }
    if (fm_str_starts(name, FM_STR("varchar")) || fm_str_starts(name, FM_STR("char")) || fm_str_starts(name, FM_STR("string"))) {
        *out = fm_type_string();
        return FM_OK;
    }
    return fm_type_parse(arena, name, out, err);
}

static fm_status parse_struct(fm_arena *arena, const fm_json *v, int32_t depth, const fm_type **out, fm_error *err)
{
    const fm_json *list = fm_json_get(v, "fields");

    if (!list || list->kind != FM_JSON_ARRAY || list->n > FM_SCHEMA_FIELDS_MAX) return wrong(err);
    fm_field *fields = fm_arena_array(arena, fm_field, list->n);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < list->n; i++) {
        const fm_json *f = &list->items[i];
        const fm_json *name = f->kind == FM_JSON_OBJECT ? fm_json_get(f, "name") : NULL, *type = name ? fm_json_get(f, "type") : NULL;
        if (!type || name->kind != FM_JSON_STRING) return wrong(err);
        fields[i].name = name->text;
        fields[i].nullable = truth(f, "nullable");
        FM_TRY(parse(arena, type, depth + 1, &fields[i].type, err));
    }
    *out = fm_type_struct(arena, fields, list->n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status parse(fm_arena *arena, const fm_json *v, int32_t depth, const fm_type **out, fm_error *err)
{
    const fm_type *key, *value;

    if (depth > FM_TYPE_DEPTH_MAX) return wrong(err);
    if (v->kind == FM_JSON_STRING) return parse_simple(arena, v->text, out, err);
    const fm_json *kind = v->kind == FM_JSON_OBJECT ? fm_json_get(v, "type") : NULL;
    if (!kind || kind->kind != FM_JSON_STRING) return wrong(err);
    if (fm_str_eq(kind->text, FM_STR("struct"))) return parse_struct(arena, v, depth, out, err);
    const fm_json *item = fm_json_get(v, "elementType"), *k = fm_json_get(v, "keyType"), *w = fm_json_get(v, "valueType");
    if (fm_str_eq(kind->text, FM_STR("array")) && item) {
        FM_TRY(parse(arena, item, depth + 1, &value, err));
        *out = fm_type_list(arena, value, truth(v, "containsNull"));
    } else if (fm_str_eq(kind->text, FM_STR("map")) && k && w) {
        FM_TRY(parse(arena, k, depth + 1, &key, err));
        FM_TRY(parse(arena, w, depth + 1, &value, err));
        *out = fm_type_map(arena, key, value, truth(v, "valueContainsNull"));
    } else {
        return wrong(err);
    }
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_spark_schema_parse(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    const fm_json *v;

    FM_TRY(fm_json_read(arena, text, &v, err));
    return parse(arena, v, 0, out, err);
}
