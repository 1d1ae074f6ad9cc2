/* base/base_test.c: the small ones: bits, hashes, checked integers, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/status.h"

static void bitmaps(void **state)
{
    uint64_t bits[5];

    (void)state;
    for (int64_t n = 0; n <= 256; n++) {
        memset(bits, 0, sizeof bits);
        fm_bits_fill(bits, n);
        assert_int_equal(fm_bits_count(bits, 256), n);
        assert_int_equal(fm_bits_count(bits, n), n);
        for (int64_t i = 0; i < 256; i++) assert_int_equal(fm_bit_get(bits, i), i < n);
        memset(bits, 0xFF, sizeof bits);
        assert_int_equal(fm_bits_count(bits, n), n); /* what lies beyond does not count */
    }
    fm_bit_clear(bits, 70);
    assert_false(fm_bit_get(bits, 70));
    assert_true(fm_bit_get(bits, 69) && fm_bit_get(bits, 71));
    fm_bit_set(bits, 70);
    assert_true(fm_bit_get(bits, 70));
    assert_true(fm_bit_valid(NULL, 7));
}

static void powers(void **state)
{
    (void)state;
    assert_int_equal(fm_pow2_at_least(1), 1);
    assert_int_equal(fm_pow2_at_least(2), 2);
    assert_int_equal(fm_pow2_at_least(3), 4);
    assert_int_equal(fm_pow2_at_least(4097), 8192);
    assert_int_equal(fm_align_up(0, 64), 0);
    assert_int_equal(fm_align_up(1, 64), 64);
    assert_int_equal(fm_align_up(64, 64), 64);
}

/* Files on disk depend on these numbers: they may never change. */
static void hashes_are_stable(void **state)
{
    (void)state;
    assert_true(fm_checksum(NULL, 0) == UINT64_C(0x2D06800538D394C2)); /* the reference value of XXH3 */
    assert_true(fm_checksum("floodmark", 9) == UINT64_C(0xF1E23C2EA0F84C98));
    assert_true(fm_hash_bytes("floodmark", 9) == UINT64_C(0xD71A923F5F5931A6));
    assert_true(fm_hash_u64(1) == UINT64_C(0xF3B272760477D791));
    char longest[1000];
    for (int i = 0; i < 1000; i++) longest[i] = (char)i;
    assert_true(fm_hash_bytes(longest, 1000) == UINT64_C(0x1BA5B309DF6F67D3));
}

static void checked(void **state)
{
    int64_t out;
    size_t size;

    (void)state;
    assert_true(fm_add_i64(INT64_MAX, 0, &out) && out == INT64_MAX);
    assert_false(fm_add_i64(INT64_MAX, 1, &out));
    assert_false(fm_sub_i64(INT64_MIN, 1, &out));
    assert_false(fm_mul_i64(INT64_MIN, -1, &out));
    assert_false(fm_add_size(SIZE_MAX, 1, &size));
    assert_false(fm_mul_size(SIZE_MAX, 2, &size));
    assert_true(fm_add_sat_i64(INT64_MAX, 1) == INT64_MAX);
    assert_true(fm_add_sat_i64(INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(fm_add_sat_i64(-2, 1), -1);
}

static void errors(void **state)
{
    fm_error err = FM_ERROR_INIT;

    (void)state;
    assert_int_equal(fm_fail_at(&err, FM_INVALID, "PARSE_SYNTAX_ERROR", 2, 7, "at '%s'", "x"), FM_INVALID);
    assert_int_equal(err.line * 10 + err.column, 27);
    assert_string_equal(err.message, "at 'x'");
    assert_int_equal(fm_context(&err, FM_OK, "nothing"), FM_OK);
    assert_int_equal(fm_context(&err, FM_INVALID, "reading %d", 5), FM_INVALID);
    assert_string_equal(err.message, "at 'x' (while reading 5)");
    assert_int_equal(fm_fail(&err, FM_CORRUPT, "X", "again: %s", err.message), FM_CORRUPT); /* of itself */
    assert_string_equal(err.message, "again: at 'x' (while reading 5)");
    assert_int_equal(err.line, 0);
    assert_int_equal(fm_fail(NULL, FM_LIMIT, "X", "nobody listens"), FM_LIMIT);
    assert_string_equal(fm_status_name(FM_CORRUPT), "FM_CORRUPT");
    assert_string_equal(fm_status_name((fm_status)99), "unknown status");
}

/* A message that does not fit is cut between characters. */
static void long_messages(void **state)
{
    char text[3 * FM_ERROR_MESSAGE_SIZE + 2];

    (void)state;
    for (size_t shift = 0; shift < 3; shift++) {
        fm_error err = FM_ERROR_INIT;
        memset(text, 'a', shift);
        for (size_t i = 0; i < FM_ERROR_MESSAGE_SIZE; i++) memcpy(text + shift + 3 * i, "\xE2\x82\xAC", 3);
        text[shift + 3 * FM_ERROR_MESSAGE_SIZE - 1] = 0;
        fm_fail(&err, FM_INVALID, "X", "%s", text);
        size_t len = strlen(err.message);
        assert_true(len > FM_ERROR_MESSAGE_SIZE - 8 && len < FM_ERROR_MESSAGE_SIZE);
        assert_int_equal((len - shift) % 3, 0);
        fm_context(&err, FM_INVALID, "more");
        len = strlen(err.message);
        assert_true(len < FM_ERROR_MESSAGE_SIZE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bitmaps), cmocka_unit_test(powers), cmocka_unit_test(hashes_are_stable),
        cmocka_unit_test(checked), cmocka_unit_test(errors), cmocka_unit_test(long_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
