/* expr/quantile_summary_test.c: ranks stay within the error, whatever the order and the merging; few numbers are exact;
 * the values of a small summary, worked out by hand; files read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "expr/quantile_summary.h"

typedef enum order { RISING, FALLING, MIXED, ORDERS } order;

static double number(order how, int64_t i, int64_t n)
{
    if (how == RISING) return (double)i;
    if (how == FALLING) return (double)(n - 1 - i);
    return (double)((i * 7919) % n); /* n is prime: each once */
}

static fm_quantile_summary *filled(order how, int64_t n, double error, int64_t batch)
{
    fm_quantile_summary *s = NULL;
    fm_error err = FM_ERROR_INIT;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(fm_quantile_summary_add(&s, error, number(how, i, n), &err), FM_OK);
        if (batch && i % batch == batch - 1) assert_int_equal(fm_quantile_summary_settle(s, error, &err), FM_OK);
    }
    assert_int_equal(fm_quantile_summary_settle(s, error, &err), FM_OK);
    return s;
}

static void assert_ranks(const fm_quantile_summary *s, double error, double n)
{
    static const double at[] = {0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.999, 1};
    double got[8];
    assert_true(fm_quantile_summary_query(s, error, at, 8, got));
    for (int i = 0; i < 8; i++)
        if (fabs(got[i] - at[i] * n) > 2 * error * n + 1) fail_msg("%g of %g with error %g: %g", at[i], n, error, got[i]);
}

static void test_ranks(void **state)
{
    static const double errors[] = {0.1, 0.01, 0.001};
    (void)state;
    for (int how = 0; how < ORDERS; how++)
        for (int e = 0; e < 3; e++)
            for (int batch = 0; batch < 2; batch++) {
                fm_quantile_summary *s = filled((order)how, 120011, errors[e], batch ? 7000 : 0);
                assert_ranks(s, errors[e], 120011);
                fm_quantile_summary_free(s);
            }
}

static void test_merge(void **state)
{
    fm_error err = FM_ERROR_INIT;
    fm_quantile_summary *all = NULL;
    (void)state;
    for (int part = 0; part < 40; part++) { /* each part has every 40th number */
        fm_quantile_summary *s = NULL;
        for (int64_t i = part; i < 40000; i += 40) assert_int_equal(fm_quantile_summary_add(&s, 0.01, (double)i, &err), FM_OK);
        assert_int_equal(fm_quantile_summary_merge(&all, s, 0.01, &err), FM_OK);
        fm_quantile_summary_free(s);
    }
    assert_ranks(all, 0.01, 40000);
    fm_quantile_summary_free(all);
}

/* 1..8 with an error of 1/4 are folded when gap and slack stay below 4: from the right 8, then 7+6+5 ... */
static void test_small(void **state)
{
    static const double at[] = {0.1, 0.3, 0.5, 0.7, 0.9};
    double got[5];
    fm_error err = FM_ERROR_INIT;
    fm_quantile_summary *s = NULL;
    (void)state;
    assert_false(fm_quantile_summary_query(NULL, 0.25, at, 5, got));
    for (int i = 8; i >= 1; i--) assert_int_equal(fm_quantile_summary_add(&s, 0.25, i, &err), FM_OK);
    assert_int_equal(fm_quantile_summary_settle(s, 0.25, &err), FM_OK);
    assert_int_equal(s->earlier.count, 8);
    assert_true(s->earlier.n < 8);
    assert_float_equal(s->earlier.samples[0].value, 1, 0);
    assert_float_equal(s->earlier.samples[s->earlier.n - 1].value, 8, 0);
    assert_true(fm_quantile_summary_query(s, 0.25, at, 5, got));
    assert_float_equal(got[0], 1, 0);
    assert_float_equal(got[4], 8, 0);
    fm_quantile_summary_free(s);
}

static void test_special(void **state)
{
    static const double in[] = {NAN, 1, -0.0, INFINITY, 0.0}, at[] = {0, 0.5, 1};
    double got[3];
    fm_error err = FM_ERROR_INIT;
    fm_quantile_summary *s = NULL;
    (void)state;
    for (int i = 0; i < 5; i++) assert_int_equal(fm_quantile_summary_add(&s, 0.01, in[i], &err), FM_OK);
    assert_int_equal(fm_quantile_summary_settle(s, 0.01, &err), FM_OK);
    assert_true(fm_quantile_summary_query(s, 0.01, at, 3, got));
    assert_true(got[0] == 0 && signbit(got[0]));
    assert_float_equal(got[1], 1, 0);
    assert_true(isnan(got[2]));
    fm_quantile_summary_free(s);
}

static void test_files(void **state)
{
    fm_error err = FM_ERROR_INIT;
    (void)state;
    for (int n = 0; n < 3; n++) {
        fm_quantile_summary *s = n ? filled(MIXED, n == 1 ? 7 : 10007, 0.01, 0) : NULL, *back = NULL;
        fm_strbuf bytes = {0};
        size_t at = 0;
        fm_quantile_summary_save(s, &bytes);
        assert_int_equal(fm_quantile_summary_load(fm_strbuf_str(&bytes), &at, &back, &err), FM_OK);
        assert_int_equal(at, bytes.len);
        assert_int_equal(back ? back->earlier.n : 0, s ? s->earlier.n : 0);
        if (s) assert_memory_equal(s->earlier.samples, back->earlier.samples, (size_t)s->earlier.n * sizeof(fm_quantile_sample));
        fm_quantile_summary_free(back);
        for (size_t cut = 0; cut < bytes.len; cut += 1 + bytes.len / 60) {
            back = NULL, at = 0;
            assert_int_equal(fm_quantile_summary_load((fm_str){bytes.ptr, cut}, &at, &back, &err), FM_CORRUPT);
            fm_quantile_summary_free(back);
        }
        fm_quantile_summary_free(s);
        fm_strbuf_fini(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks),   cmocka_unit_test(test_merge), cmocka_unit_test(test_small),
        cmocka_unit_test(test_special), cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
