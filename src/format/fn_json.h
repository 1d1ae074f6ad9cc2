/* format/fn_json.h: the SQL functions over JSON and CSV text; the tables that src/expr finds them through are in fn_json.c. */
#ifndef FM_FORMAT_FN_JSON_H
#define FM_FORMAT_FN_JSON_H

#include "column/builder.h"
#include "base/options.h"
#include "column/key.h"
#include "expr/generator.h"

/* Argument i of a call being bound, a constant text. DATATYPE_MISMATCH.NON_FOLDABLE_INPUT, naming `what`. */
fm_status fm_bind_constant_text(const fm_bind *b, int32_t i, const char *what, fm_str *out, fm_error *err);
/* Argument 1, the constant text of a type or of columns. INVALID_SCHEMA.NON_STRING_LITERAL, UNSUPPORTED_DATATYPE, PARSE_SYNTAX_ERROR. */
fm_status fm_bind_schema(const fm_bind *b, const fm_type **out, fm_error *err);
/* Argument i, map('mode', 'FAILFAST'), as options; none when there is no such argument. */
fm_status fm_bind_options(const fm_bind *b, int32_t i, fm_options *out, fm_error *err);

extern const fm_function fm_fn_json_array_length, fm_fn_json_object_keys, fm_fn_from_csv, fm_fn_to_csv;
extern const fm_generator fm_generator_json_tuple;

#endif
