/* column/arrow_test.c: out through the Arrow C data interface and in again; what hosts can get wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "column/arrow_c.h"
#include "column/arrow_export.h"
#include "column/random_vec.h"

/* Interval units are not Arrow's: they come back as the widest. */
static bool has_units(const fm_type *t)
{
    bool found = t->id == FM_TYPE_INTERVAL_DT || t->id == FM_TYPE_INTERVAL_YM;

    for (int32_t i = 0; i < t->n_fields; i++) found = found || has_units(t->fields[i].type);
    return found;
}

static void test_there_and_back(void **state)
{
    fm_random r = {41};

    for (int round = 0; round < 400; round++) {
        fm_error err = FM_ERROR_INIT;
        fm_arena *arena = fm_arena_new(0);
        int32_t n = (int32_t)fm_random_next(&r, 100);
        fm_field fields[2] = {{FM_STR("a"), fm_random_type(&r, arena, false), true}, {FM_STR("b"), fm_random_type(&r, arena, false), true}};
        fm_vec columns[2] = {fm_random_vec(&r, arena, fields[0].type, n), fm_random_vec(&r, arena, fields[1].type, n)};
        fm_batch in = {.schema = fm_type_struct(arena, fields, 2), .rows = n, .columns = columns}, out;
        struct ArrowSchema schema;
        struct ArrowArray array;
        const fm_type *type;

        assert_int_equal(fm_arrow_export_schema(in.schema, &schema, &err), FM_OK);
        assert_int_equal(fm_arrow_export_batch(&in, &array, &err), FM_OK);
        assert_int_equal(array.length, n);
        if (fm_arrow_import_schema(&schema, arena, &type, &err) != FM_OK) fail_msg("%s", err.message);
        if (!has_units(in.schema)) assert_true(fm_type_eq(type, in.schema));
        if (fm_arrow_import_batch(&array, in.schema, arena, &out, &err) != FM_OK) fail_msg("%s", err.message);
        schema.release(&schema);
        array.release(&array);
        assert_null(schema.release);
        assert_null(array.release);
        if (fm_batch_verify(&out, &err) != FM_OK) fail_msg("%s", err.message);
        for (int c = 0; c < 2; c++) {
            for (int32_t i = 0; i < n; i++) assert_true(fm_vec_same(&columns[c], i, &out.columns[c], i));
        }
        fm_arena_free(arena);
    }
}

static void test_formats(void **state)
{
    static const struct {
        const char *type, *format;
    } cases[] = {{"boolean", "b"}, {"tinyint", "c"}, {"bigint", "l"}, {"double", "g"}, {"decimal(10,2)", "d:10,2"}, {"string", "u"}, {"date", "tdD"},
                 {"timestamp", "tsu:UTC"}, {"timestamp_ntz", "tsu:"}, {"interval day to second", "tDu"}, {"interval year to month", "tiM"},
                 {"array<int>", "+l"}, {"map<int,int>", "+m"}, {"struct<a:int>", "+s"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_error err = FM_ERROR_INIT;
        fm_arena *arena = fm_arena_new(0);
        struct ArrowSchema schema;
        const fm_type *t;
        assert_int_equal(fm_type_parse(arena, fm_str_c(cases[i].type), &t, &err), FM_OK);
        assert_int_equal(fm_arrow_export_schema(t, &schema, &err), FM_OK);
        assert_string_equal(schema.format, cases[i].format);
        schema.release(&schema);
        fm_arena_free(arena);
    }
}

static void test_refused(void **state)
{
    static const char *const formats[] = {"U", "vu", "C", "tsn:", "+L", "+w:3", "d:10,2,256", "d:39,1", "d:5", "d:5,6", "", "q"};
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    const fm_type *type, *row;
    fm_batch out;

    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        struct ArrowSchema child = {.format = formats[i], .name = "x"}, *children[1] = {&child};
        struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = children};
        assert_int_equal(fm_arrow_import_schema(&schema, arena, &type, &err), FM_INVALID);
    }
    struct ArrowSchema no_children = {.format = "+s", .n_children = 1};
    assert_int_equal(fm_arrow_import_schema(&no_children, arena, &type, &err), FM_INVALID);

    assert_int_equal(fm_type_parse(arena, FM_STR("struct<s: string>"), &row, &err), FM_OK);
    int32_t offsets[3] = {0, 2, 1};
    const void *buffers[3] = {NULL, offsets, "ab"};
    struct ArrowArray text = {.length = 2, .n_buffers = 3, .buffers = buffers}, *children[1] = {&text};
    struct ArrowArray root = {.length = 2, .n_children = 1, .children = children};
    assert_int_equal(fm_arrow_import_batch(&root, row, arena, &out, &err), FM_INVALID); /* offsets fall */
    offsets[2] = 2;
    assert_int_equal(fm_arrow_import_batch(&root, row, arena, &out, &err), FM_OK);
    assert_int_equal(out.rows, 2);
    root.length = 3; /* longer than its column */
    assert_int_equal(fm_arrow_import_batch(&root, row, arena, &out, &err), FM_INVALID);
    root.length = 2;
    buffers[2] = NULL;
    assert_int_equal(fm_arrow_import_batch(&root, row, arena, &out, &err), FM_INVALID);
    children[0] = NULL;
    assert_int_equal(fm_arrow_import_batch(&root, row, arena, &out, &err), FM_INVALID);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_formats), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
