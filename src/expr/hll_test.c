/* expr/hll_test.c: small counts are exact, merging is as adding, files read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include "base/hash.h"
#include "expr/hll.h"

static void fill(fm_hll **sketch, int precision, uint64_t from, uint64_t to)
{
    fm_error err = FM_ERROR_INIT;
    for (uint64_t x = from; x < to; x++)
        assert_int_equal(fm_hll_add(sketch, precision, fm_hash_u64(x * UINT64_C(0x9E3779B97F4A7C15)), &err), FM_OK);
}

static void test_precision(void **state)
{
    (void)state;
    assert_int_equal(fm_hll_precision(0.05), 9);
    assert_int_equal(fm_hll_precision(0.01), 14);
    assert_int_equal(fm_hll_precision(0.39), 4);
    assert_true(fm_hll_precision(0.5) < FM_HLL_PRECISION_MIN);
    assert_true(fm_hll_precision(-1.0) < FM_HLL_PRECISION_MIN);
    assert_true(fm_hll_precision(0.0) > FM_HLL_PRECISION_MAX);
}

static void test_counts(void **state)
{
    static const struct {
        int precision;
        uint64_t n;
        double error; /* allowed, relative */
    } cases[] = {{9, 1, 0}, {9, 10, 0}, {14, 1000, 0.01}, {14, 100000, 0.03}, {9, 5000, 0.15}, {18, 500000, 0.01}, {20, 300000, 0.01}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_hll *sketch = NULL;
        double n = (double)cases[i].n, got;
        fill(&sketch, cases[i].precision, 0, cases[i].n);
        fill(&sketch, cases[i].precision, 0, cases[i].n / 2); /* seen before: changes nothing */
        got = (double)fm_hll_estimate(sketch, cases[i].precision);
        if (got < n * (1 - cases[i].error) || got > n * (1 + cases[i].error))
            fail_msg("precision %d, %g different: estimated %g", cases[i].precision, n, got);
        fm_hll_free(sketch);
    }
    assert_int_equal(fm_hll_estimate(NULL, 9), 0);
}

/* The sketch of a union is that of its parts merged, whether they are lists or registers. */
static void test_merge(void **state)
{
    static const uint64_t sizes[] = {0, 3, 40, 70, 2000};
    fm_error err = FM_ERROR_INIT;
    (void)state;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++) {
            fm_hll *whole = NULL, *left = NULL, *right = NULL;
            fill(&whole, 9, 0, sizes[a] + sizes[b]);
            fill(&left, 9, 0, sizes[a]);
            fill(&right, 9, sizes[a], sizes[a] + sizes[b]);
            assert_int_equal(fm_hll_merge(&left, 9, right, &err), FM_OK);
            assert_int_equal(fm_hll_estimate(left, 9), fm_hll_estimate(whole, 9));
            fm_hll_free(whole);
            fm_hll_free(left);
            fm_hll_free(right);
        }
}

static void test_files(void **state)
{
    static const uint64_t sizes[] = {0, 1, 64, 65, 5000};
    fm_error err = FM_ERROR_INIT;
    (void)state;
    for (int i = 0; i < 5; i++) {
        fm_hll *sketch = NULL, *back = NULL;
        fm_strbuf bytes = {0};
        size_t at = 0;
        fill(&sketch, 10, 0, sizes[i]);
        fm_hll_save(sketch, 10, &bytes);
        assert_int_equal(fm_hll_load(fm_strbuf_str(&bytes), &at, 10, &back, &err), FM_OK);
        assert_int_equal(at, bytes.len);
        assert_int_equal(fm_hll_estimate(back, 10), fm_hll_estimate(sketch, 10));
        fm_hll_free(back);
        for (size_t cut = 0; cut < bytes.len; cut += 1 + bytes.len / 50) { /* cut short: damaged, not a crash */
            back = NULL, at = 0;
            assert_int_equal(fm_hll_load((fm_str){bytes.ptr, cut}, &at, 10, &back, &err), FM_CORRUPT);
            fm_hll_free(back);
        }
        fm_hll_free(sketch);
        fm_strbuf_fini(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precision), cmocka_unit_test(test_counts), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
