/* column/column_test.c: random vectors of random types through builder, gather, copy, concat, keys and lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "column/batch.h"
#include "column/builder.h"
#include "column/key.h"

static uint64_t seed = 7;
static uint64_t next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return seed >> 33;
}

static const fm_type *random_type(fm_arena *arena, int depth, bool key)
{
    fm_field fields[3];
    int n = 1 + (int)(next() % 3);
    uint64_t pick = next() % (depth > 2 ? 15 : 19);

    if (pick == 8) return fm_type_decimal(arena, 38, 5);
    if (pick < 15) return fm_type_simple((fm_type_id)(1 + pick));
    if (pick == 15) return fm_type_interval(arena, FM_UNIT_DAY, FM_UNIT_SECOND);
    if (pick == 16) return fm_type_list(arena, random_type(arena, depth + 1, key), true);
    if (pick == 17 && !key) return fm_type_map(arena, fm_type_i64(), random_type(arena, depth + 1, key), true);
    for (int i = 0; i < n; i++) fields[i] = (fm_field){fm_arena_printf(arena, "f%d", i), random_type(arena, depth + 1, key), true};
    return fm_type_struct(arena, fields, n);
}

static void add_random(fm_builder *b, const fm_type *t, bool may_be_null)
{
    static const double doubles[] = {0.0, -0.0, 1.5, -1e300, (double)INFINITY, (double)NAN};
    char text[40];
    size_t n = next() % sizeof text;

    if (may_be_null && next() % 4 == 0) {
        fm_builder_null(b);
        return;
    }
    for (size_t i = 0; i < n; i++) text[i] = (char)next();
    switch (t->id) {
    case FM_TYPE_BOOL: fm_builder_bool(b, next() & 1); break;
    case FM_TYPE_F32:
    case FM_TYPE_F64: fm_builder_f64(b, doubles[next() % 6]); break;
    case FM_TYPE_DECIMAL: fm_builder_decimal(b, (fm_i128)next() * (fm_i128)next() - 5); break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: fm_builder_str(b, (fm_str){text, n}); break;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP:
        for (uint64_t k = next() % 4; k > 0; k--) {
            if (t->id == FM_TYPE_MAP) {
                fm_builder_i64(fm_builder_child(b, 0), (int64_t)k);
                add_random(fm_builder_child(b, 1), t->fields[1].type, true);
            } else {
                add_random(fm_builder_child(b, 0), t->fields[0].type, true);
            }
        }
        fm_builder_end(b);
        break;
    case FM_TYPE_STRUCT:
        for (int i = 0; i < t->n_fields; i++) add_random(fm_builder_child(b, i), t->fields[i].type, true);
        fm_builder_end(b);
        break;
    default: fm_builder_i64(b, (int64_t)(next() << 31 ^ next()) - (1 << 30)); break;
    }
}

static fm_vec random_vec(fm_arena *arena, const fm_type *t, int n)
{
    fm_error err = FM_ERROR_INIT;
    fm_builder *b = fm_builder_new(arena, t, 0);
    fm_vec v;

    assert_non_null(b);
    for (int i = 0; i < n; i++) add_random(b, t, true);
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_int_equal(fm_vec_verify(&v, &err), FM_OK);
    return v;
}

static void check_same(const fm_vec *a, const fm_vec *b, const int32_t *rows, int n)
{
    for (int i = 0; i < n; i++) {
        if (rows && rows[i] < 0) assert_true(fm_vec_is_null(b, i));
        else assert_true(fm_vec_same(a, rows ? rows[i] : i, b, i));
    }
}

static void test_round_trips(void **state)
{
    fm_error err = FM_ERROR_INIT;

    for (int round = 0; round < 400; round++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = random_type(arena, 0, false);
        int n = 1 + (int)(next() % 150);
        fm_vec v = random_vec(arena, t, n), out;
        int32_t rows[200];
        for (int i = 0; i < 200; i++) rows[i] = (int32_t)(next() % (uint64_t)(n + 1)) - 1;
        assert_int_equal(fm_vec_gather(&out, &v, rows, 200, arena, &err), FM_OK);
        assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
        check_same(&v, &out, rows, 200);
        assert_int_equal(fm_vec_copy(&out, &v, arena, &err), FM_OK);
        assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
        check_same(&v, &out, NULL, n);
        const fm_vec *parts[2] = {&v, &out};
        fm_vec both;
        assert_int_equal(fm_vec_concat(&both, parts, 2, arena, &err), FM_OK);
        assert_int_equal(fm_vec_verify(&both, &err), FM_OK);
        assert_int_equal(both.len, 2 * n);
        check_same(&v, &both, NULL, n);

        fm_strbuf bytes = {0};
        for (int i = 0; i < n; i++) assert_int_equal(fm_lane_encode(&v, i, &bytes, &err), FM_OK);
        fm_builder *b = fm_builder_new(arena, t, n);
        size_t at = 0;
        for (int i = 0; i < n; i++) assert_int_equal(fm_lane_decode(fm_strbuf_str(&bytes), &at, b, &err), FM_OK);
        assert_int_equal(at, bytes.len);
        assert_int_equal(fm_builder_finish(b, &out, &err), FM_OK);
        check_same(&v, &out, NULL, n);
        /* Any cut or flipped byte is survived. */
        b = fm_builder_new(arena, t, n);
        fm_str cut = {bytes.ptr, bytes.len ? next() % bytes.len : 0};
        if (bytes.len) bytes.ptr[next() % bytes.len] ^= (char)(1 + next() % 255);
        at = 0;
        while (at < cut.len && fm_lane_decode(cut, &at, b, &err) == FM_OK) {}
        fm_strbuf_fini(&bytes);
        fm_arena_free(arena);
    }
}

static void test_keys(void **state)
{
    fm_error err = FM_ERROR_INIT;

    for (int round = 0; round < 300; round++) {
        fm_arena *arena = fm_arena_new(0);
        int n_columns = 1 + (int)(next() % 3), n = 60;
        const fm_type *types[3];
        fm_vec columns[3], decoded[3];
        const fm_vec *pointers[3];
        fm_key keys[60];
        for (int c = 0; c < n_columns; c++) {
            types[c] = random_type(arena, 1, true);
            columns[c] = random_vec(arena, types[c], n);
            pointers[c] = &columns[c];
        }
        assert_int_equal(fm_keys_encode(pointers, n_columns, n, arena, keys, &err), FM_OK);
        for (int i = 0; i < n; i++) {
            fm_key again = fm_key_of_bytes(fm_key_bytes(&keys[i]));
            assert_true(fm_key_eq(&again, &keys[i]) && again.hash == keys[i].hash);
            for (int j = 0; j < n; j++) {
                bool same = true;
                for (int c = 0; c < n_columns; c++) same &= fm_vec_same(&columns[c], i, &columns[c], j);
                assert_int_equal(fm_key_eq(&keys[i], &keys[j]), same);
            }
        }
        assert_int_equal(fm_keys_decode(keys, n, types, n_columns, arena, decoded, &err), FM_OK);
        for (int c = 0; c < n_columns; c++) check_same(&columns[c], &decoded[c], NULL, n);
        fm_arena_free(arena);
    }
}

static void test_types(void **state)
{
    static const struct {
        const char *text, *sql; /* sql NULL: refused */
    } cases[] = {
        {"bigint", "BIGINT"}, {"LONG", "BIGINT"}, {"decimal", "DECIMAL(10,0)"}, {"DEC(5,2)", "DECIMAL(5,2)"},
        {"array<struct<a:int, b: string not null>>", "ARRAY<STRUCT<a: INT, b: STRING NOT NULL>>"},
        {"map<string,array<double>>", "MAP<STRING, ARRAY<DOUBLE>>"}, {"interval day to second", "INTERVAL DAY TO SECOND"},
        {"interval month", "INTERVAL MONTH"}, {"varchar(10)", "STRING"}, {"struct<`a b`: int>", "STRUCT<`a b`: INT>"},
        {"decimal(39,1)", NULL}, {"array<int", NULL}, {"quux", NULL}, {"interval second to day", NULL}, {"", NULL}, {"int int", NULL},
    };
    fm_error err = FM_ERROR_INIT;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t;
        fm_status st = fm_type_parse(arena, fm_str_c(cases[i].text), &t, &err);
        assert_int_equal(st == FM_OK, cases[i].sql != NULL);
        if (st == FM_OK) {
            fm_strbuf text = {0};
            fm_type_sql(t, &text);
            assert_string_equal(text.ptr, cases[i].sql);
            fm_strbuf_fini(&text);
        }
        fm_arena_free(arena);
    }
    fm_arena *arena = fm_arena_new(0);
    const fm_type *t;
    assert_int_equal(fm_type_parse_ddl(arena, FM_STR("a INT NOT NULL COMMENT 'x', `b c` STRING, d: map<int,int>"), &t, &err), FM_OK);
    assert_int_equal(t->n_fields, 3);
    assert_false(t->fields[0].nullable);
    assert_true(fm_str_eq(t->fields[1].name, FM_STR("b c")));
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
