/* column/key_test.c: keys: equal iff the values are the same, back again, and nothing that bytes can do to the decoder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/hash.h"
#include "column/key.h"
#include "column/random_vec.h"

enum { ROWS = 1200 }; /* more than two chunks */

typedef struct rows {
    const fm_type *types[4];
    fm_vec columns[4];
    const fm_vec *pointers[4];
    int32_t n_columns, n;
    fm_key *keys;
} rows;

static void make_rows(fm_random *r, fm_arena *arena, int32_t n, rows *out)
{
    static const fm_type_id common[] = {FM_TYPE_STRING, FM_TYPE_I64, FM_TYPE_I32, FM_TYPE_DATE, FM_TYPE_BOOL, FM_TYPE_F64, FM_TYPE_F32};
    fm_error err = FM_ERROR_INIT;

    out->n = n;
    out->n_columns = (int32_t)fm_random_next(r, 5);
    out->keys = fm_arena_array(arena, fm_key, n);
    for (int32_t c = 0; c < out->n_columns; c++) {
        out->types[c] = fm_random_next(r, 2) ? fm_type_simple(common[fm_random_next(r, 7)]) : fm_random_type(r, arena, true);
        out->columns[c] = fm_random_vec(r, arena, out->types[c], n);
        out->pointers[c] = &out->columns[c];
    }
    assert_int_equal(fm_keys_encode(out->pointers, out->n_columns, n, arena, out->keys, &err), FM_OK);
}

static bool same_row(const rows *r, int32_t i, int32_t j)
{
    bool same = true;

    for (int32_t c = 0; c < r->n_columns; c++) same = same && fm_vec_same(&r->columns[c], i, &r->columns[c], j);
    return same;
}

/* The encoding as the header tells it, the slow way. */
static void encode_slowly(const rows *r, int32_t i, fm_strbuf *out)
{
    fm_error err = FM_ERROR_INIT;

    fm_strbuf_clear(out);
    for (int32_t c = 0; c < r->n_columns; c++) {
        const fm_vec *v = &r->columns[c];
        if (c + 1 < r->n_columns || !fm_type_is_view(v->type)) {
            assert_int_equal(fm_lane_encode(v, i, out, &err), FM_OK);
            continue;
        }
        fm_strbuf_add_char(out, !fm_vec_is_null(v, i));
        fm_strbuf_add(out, fm_vec_str(v, i));
    }
}

static bool has_floats(const fm_type *t)
{
    bool found = t->id == FM_TYPE_F32 || t->id == FM_TYPE_F64;

    for (int32_t i = 0; i < t->n_fields; i++) found = found || has_floats(t->fields[i].type);
    return found;
}

static void test_random_keys(void **state)
{
    fm_random r = {21};
    fm_error err = FM_ERROR_INIT;
    fm_strbuf slow = {0};

    for (int round = 0; round < 250; round++) {
        fm_arena *arena = fm_arena_new(0);
        rows x;
        fm_vec back[4];
        bool floats = false;
        make_rows(&r, arena, round % 10 ? (int32_t)fm_random_next(&r, 80) : ROWS, &x);
        for (int32_t c = 0; c < x.n_columns; c++) floats = floats || has_floats(x.types[c]);
        for (int32_t i = 0; i < x.n; i++) {
            fm_key *k = &x.keys[i], again = fm_key_of_bytes(fm_key_bytes(k));
            assert_true(fm_key_eq(&again, k) && again.hash == k->hash);
            assert_true(fm_key_is_inline(k) == (fm_key_bytes(k).len <= FM_KEY_INLINE));
            if (fm_key_is_inline(k)) assert_true(k->hash == fm_hash_u128(k->u.w.lo, k->u.w.hi));
            if (!floats) {
                encode_slowly(&x, i, &slow);
                assert_true(fm_str_eq(fm_strbuf_str(&slow), fm_key_bytes(k)));
            }
            for (int32_t j = i % 7; j < x.n; j += x.n > 100 ? 61 : 1) assert_int_equal(fm_key_eq(k, &x.keys[j]), same_row(&x, i, j));
        }
        assert_int_equal(fm_keys_decode(x.keys, x.n, x.types, x.n_columns, arena, back, &err), FM_OK);
        for (int32_t c = 0; c < x.n_columns; c++) {
            if (fm_vec_verify(&back[c], &err) != FM_OK) fail_msg("%s", err.message);
            assert_int_equal(back[c].len, x.n);
            for (int32_t i = 0; i < x.n; i++) assert_true(fm_vec_same(&x.columns[c], i, &back[c], i));
        }
        fm_arena_free(arena);
    }
    fm_strbuf_fini(&slow);
}

/* The bytes are on disk in state files: they must never change. */
static void test_stable_bytes(void **state)
{
    static const unsigned char wanted[][24] = {
        {1, 3, 0, 0, 0, 'a', 'b', 'c', 1, 0x39, 0x30, 0, 0, 0, 0, 0, 0, 1, 'z'},
        {0, 0, 0},
    };
    static const size_t sizes[] = {19, 3};
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    fm_builder *a = fm_builder_new(arena, fm_type_string(), 0), *b = fm_builder_new(arena, fm_type_i64(), 0), *c = fm_builder_new(arena, fm_type_string(), 0);
    fm_vec v[3];
    fm_key keys[2];

    fm_builder_str(a, FM_STR("abc"));
    fm_builder_i64(b, 12345);
    fm_builder_str(c, FM_STR("z"));
    fm_builder_null(a), fm_builder_null(b), fm_builder_null(c);
    assert_int_equal(fm_builder_finish(a, &v[0], &err), FM_OK);
    assert_int_equal(fm_builder_finish(b, &v[1], &err), FM_OK);
    assert_int_equal(fm_builder_finish(c, &v[2], &err), FM_OK);
    assert_int_equal(fm_keys_encode((const fm_vec *[]){&v[0], &v[1], &v[2]}, 3, 2, arena, keys, &err), FM_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fm_key_bytes(&keys[i]).len, sizes[i]);
        assert_memory_equal(fm_key_bytes(&keys[i]).ptr, wanted[i], sizes[i]);
    }
    assert_int_equal(fm_keys_encode((const fm_vec *[]){&v[0]}, 1, 2, arena, keys, &err), FM_OK);
    assert_memory_equal(fm_key_bytes(&keys[0]).ptr, "\1abc", 4);
    assert_memory_equal(fm_key_bytes(&keys[1]).ptr, "\0", 1);
    assert_int_equal(fm_keys_encode(NULL, 0, 2, arena, keys, &err), FM_OK);
    assert_int_equal(fm_key_bytes(&keys[0]).len, 0);
    assert_true(keys[0].hash == fm_hash_u128(0, 0));
    fm_arena_free(arena);
}

/* Maps are the same key in whatever order their entries stand, within other values too. */
static void test_maps(void **state)
{
    static const char *const orders[] = {"abc", "cab", "bca", "cba"};
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    const fm_type *inner = fm_type_map(arena, fm_type_string(), fm_type_i32(), true);
    const fm_type *type = fm_type_list(arena, fm_type_map(arena, fm_type_i32(), inner, true), true);
    fm_builder *b = fm_builder_new(arena, type, 0), *outer = fm_builder_child(b, 0), *maps = fm_builder_child(outer, 1);
    fm_vec v, back;
    fm_key keys[5];

    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            fm_builder_i64(fm_builder_child(outer, 0), (i + k) % 2);
            for (int c = 0; c < 3; c++) {
                fm_builder_str(fm_builder_child(maps, 0), (fm_str){orders[i] + c, 1});
                fm_builder_i64(fm_builder_child(maps, 1), orders[i][c]);
            }
            fm_builder_end(maps);
        }
        fm_builder_end(outer);
        fm_builder_end(b);
    }
    fm_builder_null(b);
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_int_equal(fm_keys_encode((const fm_vec *[]){&v}, 1, 5, arena, keys, &err), FM_OK);
    for (int i = 1; i < 4; i++) assert_true(fm_key_eq(&keys[0], &keys[i]));
    assert_false(fm_key_eq(&keys[0], &keys[4]));
    assert_int_equal(fm_keys_decode(keys, 5, &type, 1, arena, &back, &err), FM_OK);
    for (int i = 0; i < 5; i++) assert_true(fm_vec_same(&v, i, &back, i));
    assert_int_equal(fm_vec_i32(&back.children[0].children[0])[0], 0);
    assert_memory_equal(fm_vec_str(&back.children[0].children[1].children[0], 0).ptr, "a", 1);
    fm_arena_free(arena);
}

/* Strings of every length around the border of what fits. */
static void test_string_lengths(void **state)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    fm_builder *b = fm_builder_new(arena, fm_type_string(), 0);
    const fm_type *type = fm_type_string();
    fm_vec v, back;
    fm_key keys[40];
    char text[40];

    for (int i = 0; i < 40; i++) text[i] = (char)(0xF0 + i);
    for (size_t len = 0; len < 40; len++) fm_builder_str(b, (fm_str){text, len});
    assert_int_equal(fm_builder_finish(b, &v, &err), FM_OK);
    assert_int_equal(fm_keys_encode((const fm_vec *[]){&v}, 1, 40, arena, keys, &err), FM_OK);
    for (size_t len = 0; len < 40; len++) {
        fm_str bytes = fm_key_bytes(&keys[len]);
        assert_int_equal(bytes.len, len + 1);
        assert_int_equal(bytes.ptr[0], 1);
        assert_memory_equal(bytes.ptr + 1, text, len);
        fm_key again = fm_key_of_bytes(bytes);
        assert_true(fm_key_eq(&again, &keys[len]) && again.hash == keys[len].hash);
    }
    assert_int_equal(fm_keys_decode(keys, 40, &type, 1, arena, &back, &err), FM_OK);
    for (int i = 0; i < 40; i++) assert_true(fm_vec_same(&v, i, &back, i));
    fm_arena_free(arena);
}

static void test_random_lanes(void **state)
{
    fm_random r = {22};
    fm_error err = FM_ERROR_INIT;

    for (int round = 0; round < 400; round++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = fm_random_type(&r, arena, false);
        fm_vec v = fm_random_vec(&r, arena, t, 50), out;
        fm_strbuf bytes = {0};
        fm_builder *b = fm_builder_new(arena, t, 0);
        size_t at = 0;
        for (int i = 0; i < 50; i++) assert_int_equal(fm_lane_encode(&v, i, &bytes, &err), FM_OK);
        for (int i = 0; i < 50; i++) assert_int_equal(fm_lane_decode(fm_strbuf_str(&bytes), &at, b, &err), FM_OK);
        assert_int_equal(at, bytes.len);
        assert_int_equal(fm_builder_finish(b, &out, &err), FM_OK);
        assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
        for (int i = 0; i < 50; i++) assert_true(fm_vec_same(&v, i, &out, i));
        fm_strbuf_fini(&bytes);
        fm_arena_free(arena);
    }
}

/* Damaged lanes: cut, flipped, or any bytes: FM_OK or FM_CORRUPT, and the builder holds whole lanes only. */
static void test_damaged_lanes(void **state)
{
    fm_random r = {23};

    for (int round = 0; round < 2000; round++) {
        fm_error err = FM_ERROR_INIT;
        fm_arena *arena = fm_arena_new(0);
        const fm_type *t = fm_random_type(&r, arena, false);
        fm_vec v = fm_random_vec(&r, arena, t, 5), out;
        fm_strbuf text = {0};
        for (int i = 0; i < 5; i++) assert_int_equal(fm_lane_encode(&v, i, &text, &err), FM_OK);
        size_t len = round % 3 == 0 ? fm_random_next(&r, text.len + 1) : text.len, at = 0;
        char *bytes = malloc(len + 1); /* its own block: a read beyond it is seen by ASan */
        memcpy(bytes, text.ptr, len);
        for (uint64_t k = fm_random_next(&r, 4); len && k > 0; k--) bytes[fm_random_next(&r, len)] = (char)fm_random_next(&r, round % 2 ? 3 : 256);
        fm_builder *b = fm_builder_new(arena, t, 0);
        int32_t n = 0;
        while (at < len && fm_lane_decode((fm_str){bytes, len}, &at, b, &err) == FM_OK) n++;
        assert_true(err.status == FM_OK || err.status == FM_CORRUPT);
        assert_int_equal(fm_builder_len(b), n);
        assert_int_equal(fm_builder_finish(b, &out, &err), FM_OK);
        if (fm_vec_verify(&out, &err) != FM_OK) fail_msg("%s", err.message);
        free(bytes);
        fm_strbuf_fini(&text);
        fm_arena_free(arena);
    }
}

static void test_damaged_keys(void **state)
{
    fm_random r = {24};
    int good = 0, bad = 0;

    for (int round = 0; round < 2000; round++) {
        fm_error err = FM_ERROR_INIT;
        fm_arena *arena = fm_arena_new(0);
        rows x;
        fm_vec back[4];
        char *blocks[8];
        make_rows(&r, arena, 8, &x);
        for (int i = 0; i < 8; i++) {
            fm_str bytes = fm_key_bytes(&x.keys[i]);
            size_t len = fm_random_next(&r, 8) ? bytes.len : fm_random_next(&r, bytes.len + 3);
            blocks[i] = calloc(1, len + 1);
            memcpy(blocks[i], bytes.ptr, len < bytes.len ? len : bytes.len);
            if (len && fm_random_next(&r, 8) == 0) blocks[i][fm_random_next(&r, len)] = (char)fm_random_next(&r, 256);
            x.keys[i] = fm_key_of_bytes((fm_str){blocks[i], len});
        }
        fm_status st = fm_keys_decode(x.keys, 8, x.types, x.n_columns, arena, back, &err);
        assert_true(st == FM_OK || st == FM_CORRUPT);
        for (int32_t c = 0; st == FM_OK && c < x.n_columns; c++) assert_int_equal(fm_vec_verify(&back[c], &err), FM_OK);
        good += st == FM_OK;
        bad += st != FM_OK;
        for (int i = 0; i < 8; i++) free(blocks[i]);
        fm_arena_free(arena);
    }
    assert_true(good > 100 && bad > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_keys),  cmocka_unit_test(test_stable_bytes),  cmocka_unit_test(test_maps),
        cmocka_unit_test(test_string_lengths),
        cmocka_unit_test(test_random_lanes), cmocka_unit_test(test_damaged_lanes), cmocka_unit_test(test_damaged_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
