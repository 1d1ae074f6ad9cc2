/* os/pool_test.c: pieces lie apart, begin at lines of the cache, and come back by size; pages can be lent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/pages.h"
#include "os/pool.h"

enum { PIECES = 4000, STEPS = 60000 };

typedef struct held {
    unsigned char *at;
    size_t size;
    unsigned char mark;
} held;

static uint32_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/* Sizes as chunks of tables have them, some odd ones, and now and then the largest. */
static size_t some_size(uint64_t *random)
{
    uint32_t x = random_next(random);

    if (x % 97 == 0) return FM_POOL_SIZE_MAX;
    return x % 5 ? (size_t)40 << (x / 5 % 9) : 1 + x / 5 % 20 * 13;
}

static void check(const held *h)
{
    for (size_t i = 0; i < h->size; i++) assert_int_equal(h->at[i], h->mark);
}

static void test_pieces_lie_apart(void **state)
{
    static held pieces[PIECES];
    static fm_pool pool;
    uint64_t random = 7;

    for (int step = 0; step < STEPS; step++) {
        held *h = &pieces[random_next(&random) % PIECES];
        if (h->at) {
            if (h->size < 4096) check(h);
            fm_pool_put(&pool, h->at, h->size);
            h->at = NULL;
            continue;
        }
        h->size = some_size(&random);
        h->mark = (unsigned char)step;
        h->at = fm_pool_get(&pool, h->size);
        assert_non_null(h->at);
        assert_int_equal((uintptr_t)h->at % 64, 0);
        memset(h->at, h->mark, h->size);
    }
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].at) check(&pieces[i]);
        fm_pool_put(&pool, pieces[i].at, pieces[i].size);
    }
    assert_int_equal(pool.small, 0);
    fm_pool_fini(&pool);
}

/* What was put back is used again: the pool does not grow while as much goes as comes. */
static void test_pieces_come_back(void **state)
{
    fm_pool pool = {0};
    void *pieces[64];

    for (int i = 0; i < 64; i++) pieces[i] = fm_pool_get(&pool, 100000);
    size_t blocks = pool.n_blocks;
    for (int round = 0; round < 100; round++) { /* in the first, those of malloc are put back, and blocks take their place */
        for (int i = 0; i < 64; i++) fm_pool_put(&pool, pieces[i], 100000);
        for (int i = 0; i < 64; i++) pieces[i] = fm_pool_get(&pool, 100000);
    }
    assert_true(pool.n_blocks <= blocks + 1);
    assert_int_equal(pool.spare, 0);
    for (int i = 0; i < 64; i++) fm_pool_put(&pool, pieces[i], 100000);
    fm_pool_fini(&pool);
}

static void test_more_sizes_than_lists(void **state)
{
    fm_pool pool = {0};
    void *pieces[2 * FM_POOL_SIZES_MAX];

    for (size_t i = 0; i < 2 * FM_POOL_SIZES_MAX; i++) {
        pieces[i] = fm_pool_get(&pool, 1024 * (i + 1));
        assert_non_null(pieces[i]);
        memset(pieces[i], 1, 1024 * (i + 1));
    }
    for (size_t i = 0; i < 2 * FM_POOL_SIZES_MAX; i++) fm_pool_put(&pool, pieces[i], 1024 * (i + 1));
    assert_int_equal(pool.small, 0);
    fm_pool_fini(&pool);
}

/* Pages that were lent to the system can be used again: what was in them is there, or zero. */
static void test_pages_are_lent(void **state)
{
    enum { SIZE = 5 << 20 };
    unsigned char *pages = fm_pages_alloc(SIZE);

    assert_non_null(pages);
    memset(pages, 7, SIZE);
    fm_pages_lend(pages, SIZE); /* false: not here, and nothing happened */
    for (size_t i = 0; i < SIZE; i += 999) assert_true(pages[i] == 7 || pages[i] == 0);
    memset(pages, 8, SIZE);
    for (size_t i = 0; i < SIZE; i++) assert_int_equal(pages[i], 8);
    fm_pages_free(pages, SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_lie_apart),
        cmocka_unit_test(test_pieces_come_back),
        cmocka_unit_test(test_more_sizes_than_lists),
        cmocka_unit_test(test_pages_are_lent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
