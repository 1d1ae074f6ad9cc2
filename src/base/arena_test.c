/* base/arena_test.c: alignment, budgets, reuse. */
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void alignment_and_zeros(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    unsigned char *before = NULL;

    (void)state;
    for (size_t i = 0; i < 3000; i++) {
        size_t align = (size_t)1 << (i % 7), size = i * 37 % 1500;
        unsigned char *p = fm_arena_zalloc(arena, size, align);
        assert_non_null(p);
        assert_ptr_not_equal(p, before); /* even of size 0 */
        assert_int_equal((uintptr_t)p % align, 0);
        for (size_t j = 0; j < size; j++) assert_int_equal(p[j], 0);
        memset(p, 0xAA, size); /* the next zalloc must clear it, and ASan watches the end */
        before = p;
        if (i == 1500) fm_arena_reset(arena);
    }
    fm_arena_free(arena);
    fm_arena_free(NULL);
}

static void buffers_are_padded(void **state)
{
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t size = 0; size < 300; size++) {
            unsigned char *p = fm_arena_buffer(arena, size, round == 1);
            size_t padded = (size + 63) / 64 * 64 + 64;
            assert_int_equal((uintptr_t)p % 64, 0);
            for (size_t j = round ? 0 : size; j < padded; j++) assert_int_equal(p[j], 0);
            memset(p, 0xAA, padded);
        }
        fm_arena_reset(arena);
    }
    fm_arena_free(arena);
}

static void budget(void **state)
{
    fm_arena *arena = fm_arena_new(100000);
    fm_error err = FM_ERROR_INIT;
    size_t got = 0;

    (void)state;
    while (fm_arena_alloc(arena, 1000, 8)) got += 1000;
    assert_true(got >= 90000 && got <= 100000); /* doubling does not waste what is left */
    assert_true(fm_arena_held(arena) <= 100000);
    assert_int_equal(fm_arena_used(arena), got);
    assert_int_equal(fm_no_memory(arena, &err), FM_LIMIT);
    assert_non_null(strstr(err.message, "memoryBudget"));
    fm_arena_reset(arena);
    assert_int_equal(fm_arena_used(arena), 0);
    assert_non_null(fm_arena_alloc(arena, 1000, 8));
    static const size_t absurd[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
        assert_null(fm_arena_alloc(arena, absurd[i], 64));
        assert_null(fm_arena_buffer(arena, absurd[i], true));
        assert_null(fm_arena_array_bytes(arena, 16, 16, absurd[i]));
    }
    assert_non_null(fm_arena_alloc(arena, 1000, 8)); /* a refusal is not the end */
    fm_arena_free(arena);
}

/* After a few rounds of the same need, the arena holds about that and asks malloc no more. */
static void steady_rounds_settle(void **state)
{
    static const size_t needs[] = {1000, 100 << 10, 3 << 20, 20 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        size_t held = 0;
        for (int round = 0; round < 6; round++) {
            for (size_t at = 0; at < needs[i]; at += needs[i] / 100) {
                assert_non_null(fm_arena_alloc(arena, needs[i] / 100, 8));
            }
            if (round >= 4) assert_int_equal(fm_arena_held(arena), held);
            held = fm_arena_held(arena);
            fm_arena_reset(arena);
        }
        assert_true(held <= 3 * needs[i] + (64 << 10));
        fm_arena_free(arena);
    }
}

static void text(void **state)
{
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    fm_str s = fm_arena_str(arena, FM_STR("abc"));
    assert_int_equal(s.len, 3);
    assert_string_equal(s.ptr, "abc");
    s = fm_arena_str(arena, (fm_str){NULL, 0});
    assert_string_equal(s.ptr, "");
    s = fm_arena_printf(arena, "%s-%05d", "x", 42);
    assert_string_equal(s.ptr, "x-00042");
    assert_int_equal(s.len, 7);
    fm_arena_free(arena);
}

static void note(void *what)
{
    int *times = what;
    ++*times;
}

/* What was put off runs once, at the next reset or free. */
static void deferred_work(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    int first = 0, second = 0;

    (void)state;
    assert_true(fm_arena_defer(arena, note, &first));
    fm_arena_reset(arena);
    assert_int_equal(first, 1);
    fm_arena_reset(arena);
    assert_int_equal(first, 1);
    assert_true(fm_arena_defer(arena, note, &second));
    assert_true(fm_arena_defer(arena, note, &second));
    fm_arena_free(arena);
    assert_int_equal(second, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alignment_and_zeros), cmocka_unit_test(buffers_are_padded), cmocka_unit_test(budget),
        cmocka_unit_test(steady_rounds_settle), cmocka_unit_test(text), cmocka_unit_test(deferred_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
