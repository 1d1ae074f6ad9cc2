/* base/xorshift_test.c: the draws that Spark makes. */
#include "base/xorshift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

/* Which of the first eight rows Spark keeps of a half, with seed 1 (as samplingRatio was seen to choose); and that all are fair. */
static void test_draws(void **state)
{
    static const bool kept[] = {false, false, true, true, false, false, true, true};
    fm_xorshift r;
    int n = 0;

    (void)state;
    fm_xorshift_init(&r, 1);
    for (size_t i = 0; i < sizeof kept; i++) assert_int_equal(fm_xorshift_double(&r) < 0.5, kept[i]);
    fm_xorshift_init(&r, -42);
    for (int i = 0; i < 10000; i++) {
        double x = fm_xorshift_double(&r);
        assert_true(x >= 0 && x < 1);
        n += x < 0.5;
    }
    assert_in_range(n, 4800, 5200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
