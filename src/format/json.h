/* format/json.h: JSON text and values: what the JSON format, from_json and to_json share. */
#ifndef FM_FORMAT_JSON_H
#define FM_FORMAT_JSON_H

#include "base/options.h"
#include "column/builder.h"
#include "expr/zone.h"

/* Lanes of JSON text -> lanes of `type` (STRUCT, LIST, MAP), by Spark's from_json. A parser learns how the texts look and reads
 * those of a STRUCT as fast as lines of a file: make one per call site and thread, and keep it. Lives in arena. */
typedef struct fm_json_parser fm_json_parser;
fm_status fm_json_parser_new(fm_arena *arena, const fm_type *type, const fm_options *options,
                             const fm_zone *zone, fm_json_parser **out, fm_error *err);
/* texts: a STRING vector; out: as many lanes of the parser's type; memory in arena, long strings may be shared with
 * `texts`. failfast errors: MALFORMED_RECORD_IN_PARSING. */
fm_status fm_json_parse_vec(fm_json_parser *parser, const fm_vec *texts, fm_arena *arena,
                            fm_vec *out, fm_error *err);

/* Appends lane i as JSON, as Spark's to_json and JSON writer do (nulls left out unless ignoreNullFields=false). */
typedef struct fm_json_printer fm_json_printer;
fm_status fm_json_printer_new(fm_arena *arena, const fm_type *type, const fm_options *options,
                              const fm_zone *zone, fm_json_printer **out, fm_error *err);
void fm_json_print(const fm_json_printer *printer, const fm_vec *v, int64_t i, fm_strbuf *out);

/* get_json_object(text, path): false when there is nothing (SQL NULL). */
typedef struct fm_json_path fm_json_path;
fm_status fm_json_path_new(fm_arena *arena, fm_str path, const fm_json_path **out, fm_error *err);
bool fm_json_path_get(const fm_json_path *path, fm_str text, fm_strbuf *out);

/* A small reader of whole JSON documents, for logs, options and offsets: a tree in an arena. Duplicate keys: last. */
typedef enum fm_json_kind {
    FM_JSON_NULL, FM_JSON_BOOL, FM_JSON_NUMBER, FM_JSON_STRING, FM_JSON_ARRAY, FM_JSON_OBJECT
} fm_json_kind;
typedef struct fm_json fm_json;
struct fm_json {
    fm_json_kind kind;
    bool boolean;
    fm_str text;        /* STRING: unescaped; NUMBER: as written */
    int32_t n;          /* ARRAY, OBJECT */
    fm_json *items;     /* [n] */
    fm_str *keys;       /* [n] of OBJECT */
};
/* FM_INVALID with the byte offset. */
fm_status fm_json_read(fm_arena *arena, fm_str text, const fm_json **out, fm_error *err);
const fm_json *fm_json_get(const fm_json *object, const char *key); /* NULL when absent */
bool fm_json_i64(const fm_json *v, int64_t *out);

#endif
