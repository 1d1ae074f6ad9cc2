/* base/seal_test.c: every flipped bit is found out, but for those that make the field another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/seal.h"

static void flipped_bits(void **state)
{
    char text[] = "v1\n{\"a\":1," FM_SEAL_FIELD "}\n{\"path\":\"/x\"}";
    size_t len = sizeof text - 1, found = 0, name_bits = 0;

    (void)state;
    fm_seal(text, len);
    assert_true(fm_seal_holds((fm_str){text, len}));
    const char *name = strstr(text, FM_SEAL_NAME);
    for (size_t bit = 0; bit < len * 8; bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        bool in_name = text + bit / 8 >= name && text + bit / 8 < name + sizeof FM_SEAL_NAME - 1;
        bool holds = fm_seal_holds((fm_str){text, len});
        assert_int_equal(holds, in_name);
        found += !holds;
        name_bits += in_name;
        text[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(found, len * 8 - name_bits);
    assert_true(fm_seal_holds((fm_str){text, len}));
}

static void texts_without(void **state)
{
    static const char *const texts[] = {"", "v1\n{}", FM_SEAL_NAME, FM_SEAL_NAME "0123"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) assert_true(fm_seal_holds(fm_str_c(texts[i])));
    assert_false(fm_seal_holds(FM_STR("{" FM_SEAL_FIELD "}")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flipped_bits), cmocka_unit_test(texts_without)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
