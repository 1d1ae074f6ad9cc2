/* format/fn_json.h: the SQL functions over JSON and CSV text; the tables that src/expr finds them through are in fn_json.c. */
#ifndef FM_FORMAT_FN_JSON_H
#define FM_FORMAT_FN_JSON_H

#include "column/builder.h"
#include "expr/generator.h"

extern const fm_function fm_fn_json_array_length, fm_fn_json_object_keys;
extern const fm_generator fm_generator_json_tuple;

#endif
