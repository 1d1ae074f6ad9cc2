/* expr/number_text_test.c: numbers to text and back: shortest, exact, and the table both stand on. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "expr/cast.h"
#include "expr/decimal.h"
#include "expr/pow10_table.h"

static const struct {
    double x;
    const char *text;
} doubles[] = {
    {0.0, "0.0"}, {1.0, "1.0"}, {-1.5, "-1.5"}, {100.0, "100.0"}, {9999999.0, "9999999.0"}, {1e7, "1.0E7"},
    {0.001, "0.001"}, {0.00099, "9.9E-4"}, {0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"},
    {2.0 / 3, "0.6666666666666666"}, {1e21, "1.0E21"}, {1e22, "1.0E22"}, {1e23, "1.0E23"},
    {123456789012345680.0, "1.2345678901234568E17"}, {5e-324, "4.9E-324"}, {1e-323, "9.9E-324"},
    {1.7976931348623157e308, "1.7976931348623157E308"}, {2.2250738585072014e-308, "2.2250738585072014E-308"},
    {2e-3, "0.002"}, {8.41e21, "8.41E21"}, {2.0e23, "2.0E23"}, {9007199254740993.0, "9.007199254740992E15"},
    {2251799813685248.5, "2.2517998136852485E15"}, {5.684341886080802e-14, "5.684341886080802E-14"},
};

static void test_doubles(void **state)
{
    char text[FM_DOUBLE_TEXT_SIZE + 1];
    (void)state;
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        text[fm_double_text(doubles[i].x, text)] = 0;
        assert_string_equal(text, doubles[i].text);
    }
    text[fm_double_text(NAN, text)] = 0;
    assert_string_equal(text, "NaN");
    text[fm_double_text(-INFINITY, text)] = 0;
    assert_string_equal(text, "-Infinity");
    text[fm_float_text(1.4e-45f, text)] = 0;
    assert_string_equal(text, "1.4E-45");
    text[fm_float_text(3.4028235e38f, text)] = 0;
    assert_string_equal(text, "3.4028235E38");
    text[fm_float_text(0.3f, text)] = 0;
    assert_string_equal(text, "0.3");
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* How many digits the shortest text has, by trying. */
static int shortest_digits(double x)
{
    char text[40];
    for (int n = 1; n < 17; n++) {
        snprintf(text, sizeof text, "%.*e", n - 1, x);
        if (strtod(text, NULL) == x) return n;
    }
    return 17;
}

static int digits_of(const char *text)
{
    int n = 0, zeros = 0;
    for (; *text && *text != 'E'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0')) continue;
        n++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return n - zeros;
}

static void test_round_trip(void **state)
{
    uint64_t seed = 42;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&seed);
        char text[FM_DOUBLE_TEXT_SIZE + 1];
        double x, back;
        size_t len;
        if (i % 4 == 0) bits = (bits & ~(UINT64_C(0x7FF) << 52)) | ((UINT64_C(1000) + bits % 60) << 52);
        if (i % 16 == 1) bits &= ~UINT64_C(0) << 44; /* few digits */
        memcpy(&x, &bits, sizeof x);
        if (x - x != 0) continue;
        len = fm_double_text(x, text);
        text[len] = 0;
        assert_true(len <= FM_DOUBLE_TEXT_SIZE);
        assert_true(strtod(text, NULL) == x);
        assert_true(fm_text_to_double((fm_str){text, len}, &back) && back == x);
        if (fabs(x) > 1e-300) assert_true(digits_of(text) <= shortest_digits(x));
    }
    for (int i = 0; i < 100000; i++) {
        uint32_t bits = (uint32_t)next_random(&seed);
        char text[FM_DOUBLE_TEXT_SIZE + 1];
        float x, back;
        size_t len;
        memcpy(&x, &bits, sizeof x);
        if (x - x != 0) continue;
        len = fm_float_text(x, text);
        text[len] = 0;
        assert_true(fm_text_to_float((fm_str){text, len}, &back) && back == x);
    }
}

/* Any text of digits reads as the C library reads it. */
static void test_parse(void **state)
{
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double x;
        int n, digits = 1 + (int)(next_random(&seed) % 25);
        n = 0;
        if (i & 1) text[n++] = '-';
        for (int k = 0; k < digits; k++) text[n++] = (char)('0' + next_random(&seed) % 10);
        if (i % 3 == 0) text[n++] = '.';
        for (int k = 0; i % 3 == 0 && k < i % 7; k++) text[n++] = (char)('0' + next_random(&seed) % 10);
        n += snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)(next_random(&seed) % 700) - 350);
        assert_true(fm_text_to_double((fm_str){text, (size_t)n}, &x));
        if (x != strtod(text, NULL)) print_error("%s\n", text);
        assert_true(x == strtod(text, NULL));
    }
    static const char *const halves[] = {
        "9007199254740993", "9007199254740995", "9007199254740992.999999999999999999999",
        "2.4703282292062327208e-324", "2.4703282292062328e-324", "1.7976931348623158079e308",
        "1.7976931348623159e308", "6929495644600919.5", "3.7455744005952583e15", "0.000e500", "1e-400", "1e400"};
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        double x;
        assert_true(fm_text_to_double(fm_str_c(halves[i]), &x));
        assert_true(x == strtod(halves[i], NULL));
    }
    static const char *const bad[] = {"", " ", ".", "e5", "1e", "1e+", "--1", "1 2", "0x10", "1dd", "+-1", "naan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double x;
        assert_false(fm_text_to_double(fm_str_c(bad[i]), &x));
    }
}

/* Neighbours of the table differ by a factor of ten. Exact entries are checked by multiplying up from 1; the rest
 * from their neighbour, to the precision a floor leaves. */
static void test_table(void **state)
{
    (void)state;
    for (int k = FM_POW10_MIN; k <= FM_POW10_MAX; k++) assert_true(fm_pow10_table[k - FM_POW10_MIN][0] >> 63);
    for (int k = FM_POW10_MIN; k < FM_POW10_MAX; k++) {
        const uint64_t *a = fm_pow10_table[k - FM_POW10_MIN], *b = fm_pow10_table[k + 1 - FM_POW10_MIN];
        fm_u128 x = ((fm_u128)a[0] << 64) | a[1], y = ((fm_u128)b[0] << 64) | b[1];
        /* 5/4 x or 5/8 x, cut: x + x / 4 may carry out of the top. */
        fm_u128 quarter = x >> 2, sum = x + quarter;
        fm_u128 next = sum < x ? (sum >> 1) | ((fm_u128)1 << 127) : sum;
        fm_u128 off = next > y ? next - y : y - next;
        /* The floor of a tenth leads to just below a power of two, as large as twice that. */
        if (y << 1 == 0) off = 0 - next < off ? 0 - next : off;
        assert_true(off <= 2);
    }
    fm_u128 power = 1;
    for (int k = 0; k <= 38; k++, power *= 10) {
        const uint64_t *a = fm_pow10_table[k - FM_POW10_MIN];
        fm_u128 top = power;
        while (!(top >> 127)) top <<= 1;
        assert_true(a[0] == (uint64_t)(top >> 64) && a[1] == (uint64_t)top);
    }
}

static void test_integers(void **state)
{
    static const int64_t values[] = {0, 1, -1, 9, 10, 99, 100, 12345, INT64_MAX, INT64_MIN, 1000000000000000000};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[25], expected[32];
        text[fm_i64_text(values[i], text)] = 0;
        snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
        assert_string_equal(text, expected);
    }
}

static void test_decimals(void **state)
{
    static const struct {
        const char *text;
        int precision, scale;
        const char *out; /* NULL: does not fit */
    } cases[] = {
        {"0", 5, 2, "0.00"}, {"1.005", 5, 2, "1.01"}, {"-1.005", 5, 2, "-1.01"}, {"1.0049", 5, 2, "1.00"},
        {"999.995", 5, 2, NULL}, {"999.994", 5, 2, "999.99"}, {"1e-3", 5, 2, "0.00"}, {"5e-3", 5, 2, "0.01"},
        {"0.0005e1", 5, 2, "0.01"}, {"1e2", 5, 2, "100.00"}, {"1e3", 5, 2, NULL}, {"0e999999", 5, 2, "0.00"},
        {"1e-999999", 5, 2, "0.00"}, {"1e999999", 38, 0, NULL},
        {"99999999999999999999999999999999999999", 38, 0, "99999999999999999999999999999999999999"},
        {"99999999999999999999999999999999999999.5", 38, 0, NULL},
        {"-0.00000000000000000000000000000000000001", 38, 38, "-0.00000000000000000000000000000000000001"},
        {"000000000000000000000000000000000000000000001", 5, 0, "1"}, {".5", 5, 0, "1"}, {"12.", 5, 1, "12.0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[FM_DECIMAL_TEXT_SIZE + 1];
        fm_i128 x;
        bool ok = fm_text_to_decimal(fm_str_c(cases[i].text), cases[i].precision, cases[i].scale, &x);
        assert_int_equal(ok, cases[i].out != NULL);
        if (!ok) continue;
        text[fm_decimal_text(x, cases[i].scale, text)] = 0;
        assert_string_equal(text, cases[i].out);
    }
}

/* Products and quotients against 128-bit arithmetic, where that holds them; and identities where it does not. */
static void test_decimal_arithmetic(void **state)
{
    uint64_t seed = 3;
    fm_i128 out;
    const fm_i128 big = fm_pow10_i128(38) - 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t a = (int64_t)next_random(&seed) >> (i % 40), b = (int64_t)next_random(&seed) >> (i % 33);
        int drop = i % 9;
        fm_i128 p = (fm_i128)a * b, unit = fm_pow10_i128(drop), half = unit / 2;
        fm_i128 rounded = unit == 1 ? p : (p >= 0 ? (p + half) / unit : (p - half) / unit);
        assert_true(fm_decimal_mul(a, b, drop, &out) == fm_decimal_fits(rounded, 38));
        if (fm_decimal_fits(rounded, 38)) assert_true(out == rounded);
        if (b == 0) continue;
        fm_i128 n = (fm_i128)a * fm_pow10_i128(9);
        fm_i128 q = n / b, r = n % b, magnitude = r < 0 ? -r : r, divisor = b < 0 ? -(fm_i128)b : b;
        if (2 * magnitude >= divisor) q += (n < 0) != (b < 0) ? -1 : 1;
        assert_true(fm_decimal_div(a, 9, b, &out) && out == q);
    }
    assert_true(fm_decimal_mul(big, big, 38, &out) && out == big - 1);
    assert_true(fm_decimal_mul(big, -big, 39, &out) && out == -(fm_pow10_i128(37)));
    assert_false(fm_decimal_mul(big, big, 37, &out));
    assert_true(fm_decimal_div(big, 38, big, &out) == false);
    assert_true(fm_decimal_div(big, 37, big, &out) && out == fm_pow10_i128(37));
    assert_true(fm_decimal_div(1, 76, big, &out) == false || out > 0);
    assert_true(fm_decimal_div(-1, 38, 3, &out) && out == -(fm_pow10_i128(38) / 3));
    assert_true(fm_decimal_rescale(big, 38, 0, &out) && out == 1);
    assert_false(fm_decimal_rescale(big, 0, 1, &out));
    assert_true(fm_decimal_to_f64(fm_pow10_i128(38) - 1, 38) == 1.0);
    assert_true(fm_decimal_to_f64(-15, 1) == -1.5);
    assert_true(fm_decimal_of_f64(0.1, 20, &out) && out == fm_pow10_i128(19));
    assert_false(fm_decimal_of_f64(NAN, 2, &out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles),  cmocka_unit_test(test_round_trip), cmocka_unit_test(test_parse),
        cmocka_unit_test(test_table),    cmocka_unit_test(test_integers),   cmocka_unit_test(test_decimals),
        cmocka_unit_test(test_decimal_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
