/* column/builder_test.c: builders: lanes given up, cut off, nested, out of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "column/random_vec.h"

static fm_vec finish(fm_builder *b)
{
    fm_error err = FM_ERROR_INIT;
    fm_vec v;

    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    if (fm_vec_verify(&v, &err) != FM_OK) fail_msg("%s", err.message);
    return v;
}

/* Lanes copied by fm_builder_lane, with some cut off again at random, give what was kept; a builder can be used again. */
static void test_lanes_and_truncation(void **state)
{
    fm_random r = {11};

    for (int round = 0; round < 300; round++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = fm_random_type(&r, arena, false);
        fm_vec in = fm_random_vec(&r, arena, t, 100);
        fm_builder *b = fm_builder_new(arena, t, (int32_t)fm_random_next(&r, 50));
        for (int again = 0; again < 2; again++) {
            int kept[400], n = 0;
            for (int i = 0; i < 300; i++) {
                int lane = (int)fm_random_next(&r, 100);
                fm_builder_lane(b, &in, lane);
                kept[n++] = lane;
                if (fm_random_next(&r, 4)) continue;
                n = (int)fm_random_next(&r, (uint64_t)n + 1);
                fm_builder_truncate(b, n);
            }
            assert_int_equal(fm_builder_len(b), n);
            fm_vec out = finish(b);
            for (int i = 0; i < n; i++) assert_true(fm_vec_same(&in, kept[i], &out, i));
            assert_int_equal(fm_builder_len(b), 0);
        }
        fm_arena_free(arena);
    }
}

/* What was appended for a lane that is then null, or given up, is gone. */
static void test_open_lanes(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_field fields[2] = {{FM_STR("a"), fm_type_list(arena, fm_type_i64(), true), true}, {FM_STR("b"), fm_type_string(), true}};
    const fm_type *t = fm_type_struct(arena, fields, 2);
    fm_builder *b = fm_builder_new(arena, t, 0), *list = fm_builder_child(b, 0), *text = fm_builder_child(b, 1);
    fm_builder *element = fm_builder_child(list, 0);

    fm_builder_i64(element, 1);
    fm_builder_i64(element, 2);
    fm_builder_null(list); /* not the list [1, 2], but null */
    fm_builder_str(text, FM_STR("x"));
    fm_builder_end(b);
    fm_builder_i64(element, 3);
    fm_builder_end(list);
    fm_builder_null(b); /* one child has its value already */
    fm_builder_i64(element, 4);
    fm_builder_str(text, FM_STR("y"));
    fm_builder_truncate(b, 2); /* a record that turned out to be bad */
    fm_builder_i64(element, 5);
    fm_builder_end(list);
    fm_builder_str(text, FM_STR("z"));
    fm_builder_end(b);
    fm_vec v = finish(b);
    assert_int_equal(v.len, 3);
    assert_true(!fm_vec_is_null(&v, 0) && fm_vec_is_null(&v, 1) && !fm_vec_is_null(&v, 2));
    assert_true(fm_vec_is_null(&v.children[0], 0));
    assert_int_equal(v.children[0].offsets[3] - v.children[0].offsets[2], 1);
    assert_int_equal(fm_vec_i64(&v.children[0].children[0])[v.children[0].offsets[2]], 5);
    assert_memory_equal(fm_vec_str(&v.children[1], 2).ptr, "z", 1);
    fm_arena_free(arena);
}

static void test_values(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_builder *i8 = fm_builder_new(arena, fm_type_simple(FM_TYPE_I8), 0), *i16 = fm_builder_new(arena, fm_type_simple(FM_TYPE_I16), 0);
    fm_builder *f32 = fm_builder_new(arena, fm_type_simple(FM_TYPE_F32), 0), *none = fm_builder_new(arena, fm_type_null(), 0);

    fm_builder_i64(i8, -128);
    fm_builder_i64(i16, -32768);
    fm_builder_f64(f32, 0.5);
    fm_builder_null(none);
    assert_int_equal(fm_vec_i8((fm_vec[1]){finish(i8)})[0], -128);
    assert_int_equal(fm_vec_i16((fm_vec[1]){finish(i16)})[0], -32768);
    assert_true(fm_vec_f32((fm_vec[1]){finish(f32)})[0] == 0.5f);
    fm_vec v = finish(none);
    assert_true(v.len == 1 && fm_vec_is_null(&v, 0));
    assert_int_equal(finish(i8).len, 0); /* empty vectors are well-formed */
    fm_arena_free(arena);
}

/* Memory that runs out on the way is told at the end, whatever is still appended. */
static void test_out_of_memory(void **state)
{
    for (size_t budget = 20000; budget < 400000; budget += 7919) {
        fm_random r = {budget};
        fm_arena *arena = fm_arena_new(0), *small = fm_arena_new(budget);
        const fm_type *t = fm_random_type(&r, arena, false);
        fm_vec in = fm_random_vec(&r, arena, t, 100), out;
        fm_error err = FM_ERROR_INIT;
        fm_builder *b = fm_builder_new(small, t, 0);
        for (int i = 0; b && i < 5000; i++) {
            fm_builder_lane(b, &in, i % 100);
            if (i % 1000 == 999) fm_builder_truncate(b, fm_builder_len(b) / 2);
        }
        fm_status st = b ? fm_builder_finish(b, &out, &err) : FM_LIMIT;
        assert_true(st == FM_OK || st == FM_LIMIT);
        if (st == FM_OK) assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
        fm_arena_free(small);
        fm_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_and_truncation), cmocka_unit_test(test_open_lanes),
        cmocka_unit_test(test_values),               cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
