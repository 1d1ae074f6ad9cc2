/* format/fn_json.c: the SQL functions over JSON text. They stand here and not in src/expr, since they need the JSON
 * reader; src/expr finds them through the two tables at the end. */
#include "expr/generator.h"

const fm_function *const fm_json_function_table[] = {NULL};
const fm_generator *const fm_json_generator_table[] = {NULL};
