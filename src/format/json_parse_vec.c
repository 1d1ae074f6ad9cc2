/* format/json_parse_vec.c: from_json: a vector of texts -> a vector of structs, lists or maps. */
#include "format/json_convert.h"
#include "format/utf8.h"

#include "format/json.h"

#include <inttypes.h>

struct fm_json_parser {
    fm_json_options options;
    fm_arena *arena;
    const fm_type *type;   /* of the result */
    const fm_type *parsed; /* the same without the corrupt-record column */
    int32_t corrupt_at;    /* index of that column in a struct; -1: none */
};

static fm_status find_corrupt_column(fm_json_parser *p, fm_error *err)
{
    const fm_type *type = p->type;
    int32_t n = 0;

    p->corrupt_at = -1;
    p->parsed = type;
    if (type->id != FM_TYPE_STRUCT) return FM_OK;
    fm_field *fields = fm_arena_array(p->arena, fm_field, type->n_fields);
    if (!fields) return fm_no_memory(p->arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (!fm_str_eq(type->fields[i].name, p->options.corrupt_column)) {
            fields[n++] = type->fields[i];
            continue;
        }
        if (type->fields[i].type->id != FM_TYPE_STRING)
            return fm_fail(err, FM_INVALID, "INVALID_CORRUPT_RECORD_TYPE",
                           "Field %.*s holds the text of bad records (columnNameOfCorruptRecord): "
                           "it must be a "
                           "nullable STRING.",
                           FM_STR_ARG(type->fields[i].name));
        p->corrupt_at = i;
    }
    p->parsed = fm_type_struct(p->arena, fields, n);
    return p->parsed ? FM_OK : fm_no_memory(p->arena, err);
}

fm_status fm_json_parser_new(fm_arena *arena, const fm_type *type, const fm_options *options,
                             const fm_zone *zone, fm_json_parser **out, fm_error *err)
{
    fm_json_parser *p = fm_arena_one(arena, fm_json_parser);

    if (!p) return fm_no_memory(arena, err);
    p->arena = arena;
    p->type = type;
    if (type->id != FM_TYPE_STRUCT && type->id != FM_TYPE_LIST && type->id != FM_TYPE_MAP)
        return fm_fail(
            err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_JSON_SCHEMA",
            "from_json makes a struct, an array or a map: give a schema like 'a INT, b STRING'.");
    FM_TRY(fm_json_type_check(type, err));
    FM_TRY(fm_json_options_read(arena, options, zone, FM_STR("_corrupt_record"), &p->options, err));
    if (p->options.mode == FM_BAD_DROPMALFORMED)
        return fm_fail(err, FM_INVALID, "PARSE_MODE_UNSUPPORTED",
                       "The function from_json does not support the mode DROPMALFORMED. Use "
                       "PERMISSIVE or FAILFAST.");
    p->options.exact_text = false;
    p->options.array_is_rows = false;
    FM_TRY(find_corrupt_column(p, err));
    *out = p;
    return FM_OK;
}

/* One call's state. */
typedef struct parsing {
    fm_json_parser *p;
    fm_json_converter c;
    fm_builder *values;  /* of p->parsed */
    fm_builder *corrupt; /* or NULL */
    fm_arena *arena;
    fm_error *err;
} parsing;

/* A list of structs is also made of one object. */
static fm_json_outcome list_of_one(parsing *s)
{
    int32_t len = fm_builder_len(s->values);
    fm_json_outcome o =
        fm_json_convert_lane(&s->c, s->p->parsed->fields[0].type, fm_builder_child(s->values, 0));

    if (o == FM_JSON_BAD)
        fm_builder_truncate(s->values, len);
    else
        fm_builder_end(s->values);
    return o;
}

static fm_json_outcome convert_root(parsing *s, fm_json_token t)
{
    const fm_type *type = s->p->parsed;

    if (t == FM_JT_ERROR) return FM_JSON_BAD;
    if (t == FM_JT_ARRAY && type->id == FM_TYPE_STRUCT) {
        s->c.cause = FM_JSON_CAUSE_ARRAY;
        return FM_JSON_BAD;
    }
    if (t == FM_JT_OBJECT && type->id == FM_TYPE_LIST && type->fields[0].type->id == FM_TYPE_STRUCT)
        return list_of_one(s);
    if (t == FM_JT_OBJECT || t == FM_JT_ARRAY) return fm_json_convert_lane(&s->c, type, s->values);
    s->c.cause = FM_JSON_CAUSE_ROOT;
    return FM_JSON_BAD;
}

static fm_status fail_fast(parsing *s, fm_str text)
{
    fm_strbuf why = {0};
    fm_str shown = {text.ptr, text.len < 200 ? text.len : 200};

    fm_json_cause_text(&s->c, &why);
    fm_status st = fm_fail(s->err, FM_INVALID, fm_json_cause_condition(&s->c),
                           "Malformed records are detected in record parsing: %.*s: %.*s. To get "
                           "nulls for such texts, "
                           "call from_json with the option mode 'PERMISSIVE'.",
                           FM_STR_ARG(shown), FM_STR_ARG(fm_strbuf_str(&why)));
    fm_strbuf_fini(&why);
    return st;
}

static void add_nulls(parsing *s)
{
    if (s->p->parsed->id != FM_TYPE_STRUCT) {
        fm_builder_null(s->values);
        return;
    }
    for (int32_t i = 0; i < s->p->parsed->n_fields; i++)
        fm_builder_null(fm_builder_child(s->values, i));
    fm_builder_end(s->values);
}

static fm_status parse_lane(parsing *s, fm_str text)
{
    fm_str clean = fm_utf8_repair(text, s->arena);

    if (!clean.ptr) return fm_no_memory(s->arena, s->err);
    fm_json_token t = fm_json_convert_start(&s->c, clean, s->arena);
    if (t == FM_JT_NONE) { /* nothing but blanks */
        fm_builder_null(s->values);
        if (s->corrupt) fm_builder_null(s->corrupt);
        return FM_OK;
    }
    s->c.record++;
    fm_json_outcome o = convert_root(s, t);
    if (s->c.no_memory) return fm_no_memory(s->arena, s->err);
    if (o != FM_JSON_OK && s->p->options.mode == FM_BAD_FAILFAST) return fail_fast(s, text);
    if (o == FM_JSON_BAD) add_nulls(s);
    if (s->corrupt && o == FM_JSON_OK) fm_builder_null(s->corrupt);
    if (s->corrupt && o != FM_JSON_OK) fm_builder_str(s->corrupt, clean);
    return FM_OK;
}

/* The parsed fields with the corrupt-record column put back in its place. */
static fm_status put_corrupt(parsing *s, fm_vec *out)
{
    fm_vec corrupt, *children = fm_arena_array(s->arena, fm_vec, s->p->type->n_fields);

    if (!children) return fm_no_memory(s->arena, s->err);
    FM_TRY(fm_builder_finish(s->corrupt, &corrupt, s->err));
    const fm_vec *parsed = out->children;
    for (int32_t i = 0; i < s->p->type->n_fields; i++)
        children[i] = i == s->p->corrupt_at ? corrupt : *parsed++;
    out->type = s->p->type;
    out->children = children;
    return FM_OK;
}

fm_status fm_json_parse_vec(fm_json_parser *parser, const fm_vec *texts, fm_arena *arena,
                            fm_vec *out, fm_error *err)
{
    parsing s = {.p = parser, .arena = arena, .err = err};

    s.values = fm_builder_new(arena, parser->parsed, texts->len);
    if (parser->corrupt_at >= 0) s.corrupt = fm_builder_new(arena, fm_type_string(), texts->len);
    if (!s.values || (parser->corrupt_at >= 0 && !s.corrupt)) return fm_no_memory(arena, err);
    fm_status st = fm_json_converter_init(&s.c, &parser->options, err);
    for (int64_t i = 0; st == FM_OK && i < texts->len; i++) {
        if (!fm_vec_is_null(texts, i)) {
            st = parse_lane(&s, fm_vec_str(texts, i));
            continue;
        }
        fm_builder_null(s.values);
        if (s.corrupt) fm_builder_null(s.corrupt);
    }
    fm_json_converter_fini(&s.c);
    if (st == FM_OK) st = fm_builder_finish(s.values, out, err);
    if (st == FM_OK && s.corrupt) st = put_corrupt(&s, out);
    return st;
}
