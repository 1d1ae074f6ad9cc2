/* column/vec_test.c: random vectors through everything that makes vectors out of vectors; order, sameness, verification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "column/batch.h"
#include "column/random_vec.h"

static void check_good(const fm_vec *v, int32_t len)
{
    fm_error err = FM_ERROR_INIT;

    if (fm_vec_verify(v, &err) != FM_OK) fail_msg("%s", err.message);
    assert_int_equal(v->len, len);
}

static void check_lane(const fm_vec *a, int64_t i, const fm_vec *b, int64_t j)
{
    if (!fm_vec_same(a, i, b, j)) fail_msg("lane %d is not lane %d", (int)i, (int)j);
}

/* A vector whose lists do not begin at offset 0, as slices have them. */
static fm_vec slice_of(fm_random *r, fm_arena *arena, const fm_vec *in)
{
    int32_t from = (int32_t)fm_random_next(r, (uint64_t)in->len + 1);
    fm_vec out = *in;

    if (in->type->id != FM_TYPE_LIST || in->validity) return out;
    int32_t *offsets = fm_arena_buffer(arena, ((size_t)in->len - (size_t)from + 1) * 4, true);
    memcpy(offsets, in->offsets + from, ((size_t)in->len - (size_t)from + 1) * 4);
    out.len = in->len - from;
    out.offsets = offsets;
    return out;
}

static void test_made_of_others(void **state)
{
    fm_random r = {1};
    fm_error err = FM_ERROR_INIT;

    for (int round = 0; round < 600; round++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = fm_random_type(&r, arena, false);
        int32_t n = (int32_t)fm_random_next(&r, 200), rows[300];
        fm_vec whole = fm_random_vec(&r, arena, t, n), out;
        fm_vec v = slice_of(&r, arena, &whole);
        bool negative = fm_random_next(&r, 2) || v.len == 0;
        n = v.len;

        for (int i = 0; i < 300; i++) rows[i] = negative ? (int32_t)fm_random_next(&r, (uint64_t)n + 1) - 1 : (int32_t)fm_random_next(&r, (uint64_t)n);
        assert_int_equal(fm_vec_gather(&out, &v, rows, 300, arena, &err), FM_OK);
        check_good(&out, 300);
        for (int i = 0; i < 300; i++) {
            if (rows[i] < 0) assert_true(fm_vec_is_null(&out, i));
            else check_lane(&v, rows[i], &out, i);
        }
        fm_vec copy;
        assert_int_equal(fm_vec_copy(&copy, &v, arena, &err), FM_OK);
        check_good(&copy, n);
        for (int32_t i = 0; i < n; i++) check_lane(&v, i, &copy, i);

        const fm_vec *parts[5] = {&v, &copy, &out, &v, &copy};
        int32_t n_parts = 1 + (int32_t)fm_random_next(&r, 5), at = 0;
        fm_vec all;
        assert_int_equal(fm_vec_concat(&all, parts, n_parts, arena, &err), FM_OK);
        for (int32_t p = 0; p < n_parts; p++) {
            for (int32_t i = 0; i < parts[p]->len; i++) check_lane(parts[p], i, &all, at++);
        }
        check_good(&all, at);

        if (n) {
            int32_t lane = (int32_t)fm_random_next(&r, (uint64_t)n);
            assert_int_equal(fm_vec_repeat(&out, &v, lane, 70, arena, &err), FM_OK);
            check_good(&out, 70);
            for (int i = 0; i < 70; i++) check_lane(&v, lane, &out, i);
        }
        assert_int_equal(fm_vec_nulls(&out, t, 65, arena, &err), FM_OK);
        check_good(&out, 65);
        for (int i = 0; i < 65; i++) assert_true(fm_vec_is_null(&out, i));
        fm_arena_free(arena);
    }
}

/* A copy does not see what happens to the bytes of the original. */
static void test_copy_is_deep(void **state)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    char text[] = "a text that is longer than a view";
    fm_builder *b = fm_builder_new(arena, fm_type_string(), 1);
    fm_vec v, copy;

    fm_builder_str_ref(b, fm_str_c(text));
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_ptr_equal(fm_vec_str(&v, 0).ptr, text);
    assert_int_equal(fm_vec_copy(&copy, &v, arena, &err), FM_OK);
    text[20] = 'X';
    assert_memory_equal(fm_vec_str(&copy, 0).ptr, "a text that is longer than a view", 33);
    fm_arena_free(arena);
}

static void test_filter(void **state)
{
    fm_random r = {2};
    fm_error err = FM_ERROR_INIT;

    for (int round = 0; round < 200; round++) {
        fm_arena *arena = fm_arena_new(0);
        int32_t n = (int32_t)fm_random_next(&r, 300), kept = 0;
        fm_field fields[2] = {{FM_STR("a"), fm_random_type(&r, arena, false), true}, {FM_STR("b"), fm_random_type(&r, arena, false), true}};
        fm_vec columns[2] = {fm_random_vec(&r, arena, fields[0].type, n), fm_random_vec(&r, arena, fields[1].type, n)};
        fm_batch in = {.schema = fm_type_struct(arena, fields, 2), .rows = n, .columns = columns};
        const fm_batch *out;
        uint8_t keep[300];
        uint64_t share = fm_random_next(&r, 4);

        for (int32_t i = 0; i < n; i++) keep[i] = share == 3 || fm_random_next(&r, 3) < share ? (uint8_t)(1 + fm_random_next(&r, 255)) : 0;
        assert_int_equal(fm_batch_filter(&in, keep, arena, &out, &err), FM_OK);
        assert_int_equal(fm_batch_verify(out, &err), FM_OK);
        for (int32_t i = 0; i < n; i++) {
            if (!keep[i]) continue;
            for (int c = 0; c < 2; c++) check_lane(&columns[c], i, &out->columns[c], kept);
            kept++;
        }
        assert_int_equal(out->rows, kept);
        if (kept == n) assert_ptr_equal(out->columns, columns);
        fm_arena_free(arena);
    }
}

/* The order is total, and agrees with sameness. */
static void test_order(void **state)
{
    fm_random r = {3};

    for (int round = 0; round < 300; round++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = fm_random_type(&r, arena, true);
        fm_vec v = fm_random_vec(&r, arena, t, 30);
        for (int i = 0; i < 30; i++) {
            for (int j = 0; j < 30; j++) {
                if (fm_vec_is_null(&v, i) || fm_vec_is_null(&v, j)) continue;
                int ij = fm_vec_cmp(&v, i, &v, j), ji = fm_vec_cmp(&v, j, &v, i);
                assert_int_equal((ij > 0) - (ij < 0), (ji < 0) - (ji > 0));
                assert_int_equal(ij == 0, fm_vec_same(&v, i, &v, j));
                for (int k = 0; k < 30; k++) {
                    if (fm_vec_is_null(&v, k)) continue;
                    if (ij <= 0 && fm_vec_cmp(&v, j, &v, k) <= 0) assert_true(fm_vec_cmp(&v, i, &v, k) <= 0);
                }
            }
        }
        fm_arena_free(arena);
    }
}

static void test_order_of_special_values(void **state)
{
    static const double doubles[] = {(double)-INFINITY, -1, 0, 1, (double)INFINITY, (double)NAN}; /* ascending */
    static const char *const texts[] = {"", "a", "a\x01", "aaaaaaaaaaaaa", "aaaaaaaaaaaab", "b", "\xC3\xA4"};
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    fm_builder *b = fm_builder_new(arena, fm_type_f64(), 0), *s = fm_builder_new(arena, fm_type_string(), 0);
    fm_vec v, w;

    for (int i = 0; i < 6; i++) fm_builder_f64(b, doubles[i]);
    fm_builder_f64(b, -0.0);
    fm_builder_f64(b, -(double)NAN);
    for (int i = 0; i < 7; i++) fm_builder_str(s, fm_str_c(texts[i]));
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_int_equal(fm_builder_finish(s, &w, &err), FM_OK);
    for (int i = 0; i + 1 < 6; i++) assert_true(fm_vec_cmp(&v, i, &v, i + 1) < 0);
    for (int i = 0; i + 1 < 7; i++) assert_true(fm_vec_cmp(&w, i, &w, i + 1) < 0);
    assert_int_equal(fm_vec_cmp(&v, 2, &v, 6), 0);
    assert_true(fm_vec_same(&v, 2, &v, 6));
    assert_true(fm_vec_same(&v, 5, &v, 7));
    fm_arena_free(arena);
}

/* Maps are the same whatever the order of their entries; large ones are told apart quickly. */
static void test_maps(void **state)
{
    enum { N = 20000 };
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    const fm_type *t = fm_type_map(arena, fm_type_i64(), fm_type_string(), true);
    fm_builder *b = fm_builder_new(arena, t, 0), *key = fm_builder_child(b, 0), *value = fm_builder_child(b, 1);
    fm_vec v;

    for (int lane = 0; lane < 3; lane++) {
        for (int64_t i = 0; i < N; i++) {
            int64_t k = lane == 1 ? N - 1 - i : i;
            fm_builder_i64(key, k);
            if (lane == 2 && k == N / 2) fm_builder_null(value);
            else fm_builder_str(value, fm_arena_printf(arena, "%d", (int)k));
        }
        fm_builder_end(b);
    }
    fm_builder_end(b);
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_true(fm_vec_same(&v, 0, &v, 0) && fm_vec_same(&v, 0, &v, 1) && fm_vec_same(&v, 3, &v, 3));
    assert_false(fm_vec_same(&v, 0, &v, 2) || fm_vec_same(&v, 1, &v, 2) || fm_vec_same(&v, 0, &v, 3));
    fm_arena_free(arena);
}

/* Every rule that is broken is found. */
static void test_verify(void **state)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    fm_vec v, child[2];
    uint64_t *one_null = fm_arena_buffer(arena, 8, true);
    int32_t *offsets = fm_arena_buffer(arena, 12, true);

    one_null[0] = 2; /* lane 0 null, 1 present */
    fm_vec_init(&v, fm_type_i64(), 2, arena, &err);
    v.validity = one_null;
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    fm_vec_i64_out(&v)[0] = 1;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    v.validity = NULL;
    v.values = (const char *)v.values + 8;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT); /* not aligned */
    v.values = NULL;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);

    fm_vec_init(&v, fm_type_bool(), 2, arena, &err);
    fm_vec_bool_out(&v)[1] = 2;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);

    fm_vec_init(&v, fm_type_string(), 2, arena, &err);
    fm_vec_view_out(&v)[1] = fm_view_of("abc", 3);
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    fm_vec_view_out(&v)[1].u.inlined[3] = 'x';
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    fm_vec_view_out(&v)[1] = fm_view_of("abcdefghijklmnop", 16);
    fm_vec_view_out(&v)[1].u.out.prefix[0] = 'x';
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);

    fm_vec_init(&v, fm_type_decimal(arena, 3, 1), 1, arena, &err);
    fm_vec_decimal_out(&v)[0] = -999;
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    fm_vec_decimal_out(&v)[0] = 1000;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);

    fm_vec_init(&child[0], fm_type_i64(), 2, arena, &err);
    fm_vec_init(&child[1], fm_type_i64(), 2, arena, &err);
    v = (fm_vec){.type = fm_type_list(arena, fm_type_i64(), true), .len = 2, .offsets = offsets, .children = child};
    offsets[1] = 1;
    offsets[2] = 2;
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    v.validity = one_null;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT); /* a null list with an element */
    v.validity = NULL;
    offsets[2] = 3;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    offsets[2] = 0;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    offsets[2] = 2;
    v.type = fm_type_map(arena, fm_type_i64(), fm_type_i64(), true);
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    child[0].validity = one_null;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT); /* a key that is null */
    child[0].validity = NULL;
    fm_field fields[2] = {{FM_STR("a"), fm_type_i64(), true}, {FM_STR("b"), fm_type_i64(), true}};
    v = (fm_vec){.type = fm_type_struct(arena, fields, 2), .len = 2, .children = child};
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    child[1].len = 1;
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    child[1] = (fm_vec){.type = fm_type_null(), .len = 2};
    assert_int_equal(fm_vec_verify(&v, &err), FM_CORRUPT);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_of_others), cmocka_unit_test(test_copy_is_deep),
        cmocka_unit_test(test_filter),         cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_of_special_values), cmocka_unit_test(test_maps),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
