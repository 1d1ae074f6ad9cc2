/* expr/generator_test.c: explode and its kin over a batch whose arrays begin anywhere, with nulls and empty ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "column/builder.h"
#include "expr/cast.h"
#include "expr/generator.h"

static fm_arena *arena;
static const fm_session_conf conf = {.ansi = true};

static int set_up(void **state)
{
    (void)state;
    arena = fm_arena_new(0);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    fm_arena_free(arena);
    return 0;
}

static fm_expr *column(const char *type, int32_t index)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_COLUMN, (fm_pos){0});
    fm_error err = FM_ERROR_INIT;
    if (fm_type_parse(arena, fm_str_c(type), &e->type, &err) != FM_OK) fail_msg("%s", err.message);
    e->index = index;
    e->deterministic = true;
    return e;
}

/* The rows of a generator as text: "0:1 0:2 2:NULL" (input row : columns, split by '|'). */
static void run(const char *name, fm_expr **args, int32_t n_args, const fm_vec *vecs, int32_t rows,
                const char *expected)
{
    fm_error err = FM_ERROR_INIT;
    fm_expr *e;
    fm_generated got;
    fm_strbuf text = {0};
    if (fm_generator_resolve(arena, &conf, fm_str_c(name), args, n_args, false, (fm_pos){0}, &e, &err) != FM_OK)
        fail_msg("%s: %s", name, err.message);
    if (fm_generator_run(e, &conf, vecs, rows, arena, &got, &err) != FM_OK) fail_msg("%s: %s", name, err.message);
    fm_strbuf_add_c(&text, "");
    for (int32_t i = 0; i < got.rows; i++) {
        fm_strbuf_printf(&text, "%s%d:", i ? " " : "", (int)got.row_of[i]);
        for (int32_t c = 0; c < e->type->n_fields; c++) {
            if (c) fm_strbuf_add_char(&text, '|');
            if (fm_vec_is_null(&got.columns[c], i))
                fm_strbuf_add_c(&text, "NULL");
            else
                fm_value_text(&got.columns[c], i, fm_zone_utc(), &text);
        }
    }
    for (int32_t c = 0; c < e->type->n_fields; c++) {
        assert_int_equal(got.columns[c].len, got.rows);
        if (fm_vec_verify(&got.columns[c], &err) != FM_OK) fail_msg("%s: %s", name, err.message);
    }
    if (strcmp(text.ptr ? text.ptr : "", expected) != 0) fail_msg("%s: %s, not %s", name, text.ptr, expected);
    fm_strbuf_fini(&text);
}

/* [1, 2], [], NULL, [NULL, 3] behind a row that is not looked at, so that offsets do not begin at 0. */
static fm_vec lists(void)
{
    static const int32_t rows[] = {1, 2, 3, 4};
    const fm_type *type = fm_type_list(arena, fm_type_i32(), true);
    fm_builder *b = fm_builder_new(arena, type, 5), *child = fm_builder_child(b, 0);
    fm_vec all, out;
    fm_error err = FM_ERROR_INIT;
    fm_builder_i64(child, 9);
    fm_builder_end(b);
    fm_builder_i64(child, 1);
    fm_builder_i64(child, 2);
    fm_builder_end(b);
    fm_builder_end(b);
    fm_builder_null(b);
    fm_builder_null(child);
    fm_builder_i64(child, 3);
    fm_builder_end(b);
    assert_int_equal(fm_builder_finish(b, &all, &err), FM_OK);
    assert_int_equal(fm_vec_gather(&out, &all, rows, 4, arena, &err), FM_OK);
    return out;
}

static void test_explode(void **state)
{
    fm_expr *arg = column("array<int>", 0);
    fm_vec v = lists();
    (void)state;
    run("explode", &arg, 1, &v, 4, "0:1 0:2 3:NULL 3:3");
    run("EXPLODE_OUTER", &arg, 1, &v, 4, "0:1 0:2 1:NULL 2:NULL 3:NULL 3:3");
    run("posexplode", &arg, 1, &v, 4, "0:0|1 0:1|2 3:0|NULL 3:1|3");
    run("posexplode_outer", &arg, 1, &v, 4, "0:0|1 0:1|2 1:NULL|NULL 2:NULL|NULL 3:0|NULL 3:1|3");
    run("explode", &arg, 1, &v, 0, "");
}

static void test_explode_map(void **state)
{
    fm_expr *arg = column("map<string,int>", 0);
    fm_builder *b = fm_builder_new(arena, arg->type, 2);
    fm_vec v;
    fm_error err = FM_ERROR_INIT;
    (void)state;
    fm_builder_str(fm_builder_child(b, 0), FM_STR("a"));
    fm_builder_i64(fm_builder_child(b, 1), 1);
    fm_builder_str(fm_builder_child(b, 0), FM_STR("b"));
    fm_builder_null(fm_builder_child(b, 1));
    fm_builder_end(b);
    fm_builder_null(b);
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    run("explode", &arg, 1, &v, 2, "0:a|1 0:b|NULL");
    run("posexplode_outer", &arg, 1, &v, 2, "0:0|a|1 0:1|b|NULL 1:NULL|NULL|NULL");
}

static void test_inline(void **state)
{
    fm_expr *arg = column("array<struct<a:int,b:string>>", 0);
    fm_builder *b = fm_builder_new(arena, arg->type, 2), *s = fm_builder_child(b, 0);
    fm_vec v;
    fm_error err = FM_ERROR_INIT;
    (void)state;
    fm_builder_i64(fm_builder_child(s, 0), 1);
    fm_builder_str(fm_builder_child(s, 1), FM_STR("x"));
    fm_builder_end(s);
    fm_builder_null(s);
    fm_builder_end(b);
    fm_builder_end(b);
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    run("inline", &arg, 1, &v, 2, "0:1|x 0:NULL|NULL");
    run("inline_outer", &arg, 1, &v, 2, "0:1|x 0:NULL|NULL 1:NULL|NULL");
}

static void test_stack(void **state)
{
    fm_expr *args[4] = {fm_expr_literal_i32(arena, 2), column("int", 1), column("int", 2), column("int", 3)};
    fm_vec vecs[4];
    fm_error err = FM_ERROR_INIT;
    (void)state;
    assert_int_equal(fm_vec_repeat(&vecs[0], &args[0]->value, 0, 2, arena, &err), FM_OK);
    for (int c = 1; c < 4; c++) {
        assert_int_equal(fm_vec_init(&vecs[c], fm_type_i32(), 2, arena, &err), FM_OK);
        for (int i = 0; i < 2; i++) fm_vec_i32_out(&vecs[c])[i] = 10 * c + i;
    }
    run("stack", args, 4, vecs, 2, "0:10|20 0:30|NULL 1:11|21 1:31|NULL");
}

static void test_wrong_calls(void **state)
{
    fm_expr *number = column("int", 0), *e, *bad[3];
    fm_error err = FM_ERROR_INIT;
    bool outer;
    (void)state;
    assert_int_equal(fm_generator_resolve(arena, &conf, FM_STR("explode"), &number, 1, false, (fm_pos){0}, &e, &err),
                     FM_INVALID);
    assert_string_equal(err.condition, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
    bad[0] = fm_expr_literal_i32(arena, 0);
    bad[1] = number;
    assert_int_equal(fm_generator_resolve(arena, &conf, FM_STR("stack"), bad, 2, false, (fm_pos){0}, &e, &err),
                     FM_INVALID);
    assert_string_equal(err.condition, "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE");
    bad[0] = fm_expr_literal_i32(arena, 2);
    bad[2] = column("string", 1);
    bad[0] = fm_expr_literal_i32(arena, 2);
    assert_int_equal(fm_generator_resolve(arena, &conf, FM_STR("stack"), bad, 3, false, (fm_pos){0}, &e, &err),
                     FM_INVALID);
    assert_string_equal(err.condition, "DATATYPE_MISMATCH.STACK_COLUMN_DIFF_TYPES");
    assert_null(fm_generator_find(FM_STR("stack_outer"), &outer));
    assert_null(fm_generator_find(FM_STR("_outer"), &outer));
    assert_non_null(fm_generator_find(FM_STR("Inline_Outer"), &outer));
    assert_true(outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_explode, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explode_map, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_calls, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
