/* tests/fuzz/fuzz_sql.c: text to unresolved plans: scripts, expressions, variables. */
#include "fuzz.h"
#include "sql/sql.h"

static bool lookup(void *ctx, fm_str name, fm_str *value)
{
    (void)ctx;
    *value = name;
    return name.len % 2 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_arena *arena = fm_arena_new((size_t)512 << 20);
    fm_str text = {(const char *)bytes, size}, replaced;
    fm_plan **plans;
    fm_expr *expr;
    int32_t n;
    fm_error err = FM_ERROR_INIT;

    fm_assert(fm_sql_parse_script(arena, text, &plans, &n, &err) == FM_OK || (err.condition[0] && err.message[0]));
    fm_arena_reset(arena);
    fm_sql_parse_expr(arena, text, &expr, &err);
    fm_arena_reset(arena);
    fm_sql_substitute(arena, text, lookup, NULL, &replaced, &err);
    fm_arena_free(arena);
    return 0;
}
