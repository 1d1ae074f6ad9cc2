/* expr/functions.c: the table of scalar functions. A line per function, sorted by the name it is called by. */
#include "expr/function.h"

/* X(entry): fm_fn_<entry>. Sorted by `.name` of the entry, as strcmp has it: operators first. */
#define FM_FUNCTION_LIST(X) \
    X(op_ne)                   \
    X(op_rem)                  \
    X(op_bit_and)              \
    X(op_mul)                  \
    X(op_add)                  \
    X(op_sub)                  \
    X(op_fields)               \
    X(op_div)                  \
    X(op_lt)                   \
    X(op_le)                   \
    X(op_eq_null)              \
    X(op_eq)                   \
    X(op_gt)                   \
    X(op_ge)                   \
    X(op_item)                 \
    X(op_bit_xor)              \
    X(assert_true)             \
    X(coalesce)                \
    X(op_int_div)              \
    X(get)                     \
    X(greatest)                \
    X(isfalse)                 \
    X(isnan)                   \
    X(isnotfalse)              \
    X(isnotnull)               \
    X(isnottrue)               \
    X(isnotunknown)            \
    X(isnull)                  \
    X(istrue)                  \
    X(isunknown)               \
    X(least)                   \
    X(nanvl)                   \
    X(negative)                \
    X(not)                     \
    X(nullif)                  \
    X(nullifzero)              \
    X(pmod)                    \
    X(positive)                \
    X(raise_error)             \
    X(shiftleft)               \
    X(shiftright)              \
    X(shiftrightunsigned)      \
    X(try_add)                 \
    X(try_divide)              \
    X(try_mod)                 \
    X(try_multiply)            \
    X(try_subtract)            \
    X(typeof)                  \
    X(zeroifnull)              \
    X(op_bit_or)               \
    X(op_bit_not)

#define DECLARE(entry) extern const fm_function fm_fn_##entry;
FM_FUNCTION_LIST(DECLARE)
#undef DECLARE

#define ADDRESS(entry) &fm_fn_##entry,
static const fm_function *const table[] = {FM_FUNCTION_LIST(ADDRESS)};
#undef ADDRESS

enum { FUNCTION_COUNT = sizeof table / sizeof table[0], NAME_LEN_MAX = 63 };

const fm_function *const *fm_functions(int *n)
{
    *n = FUNCTION_COUNT;
    return table;
}

const fm_function *fm_function_find(fm_str name)
{
    char lower[NAME_LEN_MAX + 1];
    int from = 0, to = FUNCTION_COUNT;

    if (name.len == 0 || name.len > NAME_LEN_MAX) return NULL;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    lower[name.len] = 0;

    while (from < to) {
        int middle = from + (to - from) / 2;
        int order = strcmp(lower, table[middle]->name);
        if (order == 0) return table[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    for (int i = 0; i < FUNCTION_COUNT; i++)
        for (int k = 0; k < 4 && table[i]->aliases[k]; k++)
            if (strcmp(lower, table[i]->aliases[k]) == 0) return table[i];
    for (int i = 0; fm_json_function_table[i]; i++)
        if (strcmp(lower, fm_json_function_table[i]->name) == 0) return fm_json_function_table[i];
    return NULL;
}
