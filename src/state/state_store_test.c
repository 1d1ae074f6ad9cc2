/* state/state_store_test.c: the store against a plain model, over restarts, crashes and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above */
#include <cmocka.h>

#include "base/limits.h"
#include "state/state_store.h"

enum { KEYS = 40, BUCKETS = 6, VALUE_WORDS = 2 };

/* ---- The model: what the store should hold ------------------------------------------------------------------ */

typedef struct model {
    bool live[BUCKETS][KEYS];
    int64_t words[BUCKETS][KEYS][VALUE_WORDS];
} model;

static fm_str key_text(int k, char out[64])
{
    /* Short and long ones, the empty one too. */
    int n = k == 0 ? 0 : snprintf(out, 64, k % 3 ? "u%d" : "a key that does not fit into fifteen bytes %d", k);
    return (fm_str){out, (size_t)n};
}

static int64_t bucket_time(int b) { return b == BUCKETS - 1 ? FM_STATE_NO_TIME : (b - 2) * INT64_C(60000000); }

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed >> 33;
}

static void expect_same(fm_state *s, const model *m)
{
    int64_t rows = 0, expected = 0;
    fm_state_stats stats;

    for (int32_t part = 0; part < fm_state_parts(s); part++) {
        fm_state_part *p = fm_state_part_at(s, part);
        fm_state_bucket *bucket;
        for (int32_t i = 0; (bucket = fm_state_bucket_nth(p, i)); i++) rows += fm_state_bucket_rows(bucket);
    }
    for (int b = 0; b < BUCKETS; b++) {
        for (int k = 0; k < KEYS; k++) {
            char text[64];
            fm_key key = fm_key_of_bytes(key_text(k, text));
            fm_state_part *p = fm_state_part_at(s, fm_state_owner(s, key.hash));
            fm_state_bucket *bucket = fm_state_bucket_find(p, bucket_time(b));
            char *value = NULL;
            if (bucket) fm_state_lookup(p, bucket, &key, 1, &value);
            assert_int_equal(value != NULL, m->live[b][k]);
            expected += m->live[b][k];
            if (!value) continue;
            assert_memory_equal(value, m->words[b][k], sizeof m->words[b][k]);
            int64_t at = fm_state_index_of(p, bucket, value);
            assert_ptr_equal(fm_state_value_at(p, bucket, at), value);
            fm_key stored = fm_state_key_at(p, bucket, at);
            assert_true(fm_key_eq(&stored, &key));
        }
    }
    assert_int_equal(rows, expected);
    fm_state_get_stats(s, &stats);
    assert_int_equal(stats.rows, expected);
}

/* ---- Values that point to memory: a number on the heap --------------------------------------------------------- */

static int live_boxes;

static void box_init(void *ctx, char *value)
{
    (void)ctx;
    int64_t **box = (int64_t **)(void *)value;
    *box = calloc(VALUE_WORDS, sizeof **box);
    live_boxes++;
}
static void box_fini(void *ctx, char *value)
{
    (void)ctx;
    free(*(int64_t **)(void *)value);
    live_boxes--;
}
static fm_status box_save(void *ctx, const char *value, fm_strbuf *out, fm_error *err)
{
    (void)ctx, (void)err;
    fm_strbuf_add(out, (fm_str){*(const char *const *)(const void *)value, VALUE_WORDS * sizeof(int64_t)});
    return FM_OK;
}
static fm_status box_load(void *ctx, fm_str bytes, char *value, fm_error *err)
{
    (void)ctx;
    if (bytes.len != VALUE_WORDS * sizeof(int64_t)) return fm_fail(err, FM_CORRUPT, "TEST", "a box has %zu bytes", bytes.len);
    memcpy(*(char **)(void *)value, bytes.ptr, bytes.len);
    return FM_OK;
}
static size_t box_memory(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return VALUE_WORDS * sizeof(int64_t);
}

static fm_state_spec spec_of(fm_fs *fs, int32_t parts)
{
    return (fm_state_spec){.fs = fs, .dir = "/ck/state/0", .operator_id = 0, .parts = parts, .value_size = VALUE_WORDS * 8, .schema = FM_STR("keys: string; values: test")};
}

/* ---- A batch of random work ------------------------------------------------------------------------------------ */

static fm_status upsert(fm_state *s, model *m, int b, int k, int64_t x, fm_error *err)
{
    char text[64], *value;
    fm_key key = fm_key_of_bytes(key_text(k, text));
    fm_state_part *p = fm_state_part_at(s, fm_state_owner(s, key.hash));
    fm_state_bucket *bucket;
    uint8_t touch;

    FM_TRY(fm_state_bucket_at(p, bucket_time(b), &bucket, err));
    FM_TRY(fm_state_upsert_in(p, bucket, &key, 1, &value, &touch, err));
    assert_int_equal(touch == FM_STATE_FRESH, !m->live[b][k]);
    assert_true(fm_state_is_touched(bucket, fm_state_index_of(p, bucket, value)));
    m->live[b][k] = true;
    m->words[b][k][0] += x;
    m->words[b][k][1]++;
    memcpy(value, m->words[b][k], sizeof m->words[b][k]);
    return FM_OK;
}

static void drop(fm_state *s, model *m, int b)
{
    for (int32_t i = 0; i < fm_state_parts(s); i++) {
        fm_state_part *p = fm_state_part_at(s, i);
        fm_state_bucket *bucket = fm_state_bucket_find(p, bucket_time(b));
        if (bucket) fm_state_bucket_drop(p, bucket);
    }
    for (int k = 0; k < KEYS; k++) {
        m->live[b][k] = false;
        memset(m->words[b][k], 0, sizeof m->words[b][k]);
    }
}

/* Keeps the keys with an even count. */
static void keep_some(fm_state *s, model *m, int b)
{
    for (int32_t i = 0; i < fm_state_parts(s); i++) {
        fm_state_part *p = fm_state_part_at(s, i);
        fm_state_bucket *bucket = fm_state_bucket_find(p, bucket_time(b));
        uint8_t keep[KEYS];
        if (!bucket) continue;
        for (int64_t k = 0; k < fm_state_bucket_rows(bucket); k++) keep[k] = ((int64_t *)(void *)fm_state_value_at(p, bucket, k))[1] % 2 == 0;
        assert_int_equal(fm_state_bucket_keep(p, bucket, keep, NULL), FM_OK);
    }
    for (int k = 0; k < KEYS; k++) {
        if (m->words[b][k][1] % 2 == 0) continue;
        m->live[b][k] = false;
        memset(m->words[b][k], 0, sizeof m->words[b][k]);
    }
}

/* What batch `batch` does follows from its number, so that a batch that is run again does the same. */
static fm_status run_batch(fm_state *s, model *m, int64_t batch, fm_error *err)
{
    uint64_t seed = (uint64_t)batch * 977 + 5;

    fm_state_begin(s);
    for (int i = 0; i < 30; i++) {
        int b = (int)(next_random(&seed) % BUCKETS), k = (int)(next_random(&seed) % KEYS);
        uint64_t what = next_random(&seed) % 20;
        if (what == 0) drop(s, m, b);
        else if (what == 1) keep_some(s, m, b);
        else FM_TRY(upsert(s, m, b, k, (int64_t)next_random(&seed) - (1 << 29), err));
    }
    fm_state_set_mark(s, batch);
    return fm_state_commit(s, batch + 1, err);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------ */

static void model_is_followed_over_restarts(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_error err = FM_ERROR_INIT;
    static model m;
    memset(&m, 0, sizeof m);

    for (int64_t batch = 0; batch < 60; batch++) {
        static const int32_t parts[] = {1, 2, 4, 64, 3};
        fm_state_spec spec = spec_of(fs, parts[batch % 5]);
        fm_state *s;
        if (fm_state_open(&spec, batch, &s, &err) != FM_OK) fail_msg("%s", err.message);
        assert_int_equal(fm_state_mark(s), batch ? batch - 1 : FM_STATE_NO_MARK);
        expect_same(s, &m);
        assert_int_equal(run_batch(s, &m, batch, &err), FM_OK);
        expect_same(s, &m);
        assert_int_equal(fm_state_maintain(s, batch - 20, &err), FM_OK);
        expect_same(s, &m);
        fm_state_close(s);
    }
    fm_fs_free(fs);
}

/* The power goes at every operation in turn; what is opened again is the last committed version. */
static void crash_at_every_operation(void **state)
{
    (void)state;
    enum { CRASH_BATCHES = 13 };
    fm_error err = FM_ERROR_INIT;
    bool crashed = true;

    for (int64_t at = 0; crashed; at++) {
        fm_fs *fs = fm_fs_sim_new(at);
        static model m, tried;
        memset(&m, 0, sizeof m);
        int64_t version = 0;
        crashed = false;
        while (version < CRASH_BATCHES) {
            fm_state_spec spec = spec_of(fs, 1 + (int32_t)(version % 3));
            fm_state *s = NULL;
            fm_status st = fm_state_open(&spec, version, &s, &err);
            if (st == FM_OK) expect_same(s, &m);
            while (st == FM_OK && version < CRASH_BATCHES) {
                tried = m;
                st = run_batch(s, &tried, version, &err);
                if (st != FM_OK) break;
                m = tried;
                version++;
                st = fm_state_maintain(s, version - 3, &err);
            }
            fm_state_close(s);
            if (st == FM_OK) break;
            assert_int_equal(st, FM_UNAVAILABLE);
            crashed = true;
            if (at % 2) fm_fs_sim_restart(fs, -1);
            else fm_fs_sim_kill(fs, -1);
        }
        fm_fs_free(fs);
        assert_true(at < 2000);
    }
}

static fm_status boxed_batch(fm_state *s, int64_t batch, fm_error *err)
{
    fm_state_part *p = fm_state_part_at(s, 0);
    fm_state_bucket *b;

    fm_state_begin(s);
    for (int i = 0; i < 10; i++) {
        char text[64], *value;
        fm_key key = fm_key_of_bytes(key_text((int)(batch * 3 + i) % KEYS, text));
        FM_TRY(fm_state_bucket_at(p, bucket_time(i % 3), &b, err));
        FM_TRY(fm_state_upsert_in(p, b, &key, 1, &value, NULL, err));
        (*(int64_t **)(void *)value)[0] += batch;
        (*(int64_t **)(void *)value)[1]++;
    }
    if (batch % 4 == 3 && (b = fm_state_bucket_find(p, bucket_time(1)))) fm_state_bucket_drop(p, b);
    return fm_state_commit(s, batch + 1, err);
}

static uint64_t boxed_sum(fm_state *s)
{
    fm_state_part *p = fm_state_part_at(s, 0);
    fm_state_bucket *b;
    uint64_t sum = 0;

    for (int32_t i = 0; (b = fm_state_bucket_nth(p, i)); i++) {
        char *values[7];
        int64_t at = 0;
        int32_t n;
        while ((n = fm_state_scan(p, b, &at, false, NULL, values, 7)) > 0) {
            for (int32_t k = 0; k < n; k++) sum = sum * 31 + (uint64_t)(*(int64_t **)(void *)values[k])[0] * 7 + (uint64_t)(*(int64_t **)(void *)values[k])[1];
        }
    }
    return sum;
}

static void values_with_memory_of_their_own(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_error err = FM_ERROR_INIT;
    fm_state_spec spec = spec_of(fs, 1);
    uint64_t sum = 0;

    spec.value_size = 8;
    spec.codec = (fm_state_codec){.save = box_save, .load = box_load, .fini = box_fini, .memory = box_memory, .init = box_init};
    live_boxes = 0;
    for (int64_t batch = 0; batch < 25; batch++) {
        fm_state *s;
        fm_state_stats stats;
        assert_int_equal(fm_state_open(&spec, batch, &s, &err), FM_OK);
        assert_int_equal(boxed_sum(s), sum);
        assert_int_equal(boxed_batch(s, batch, &err), FM_OK);
        sum = boxed_sum(s);
        fm_state_get_stats(s, &stats);
        assert_int_equal(stats.rows, live_boxes);
        assert_int_equal(fm_state_maintain(s, batch + 1, &err), FM_OK);
        fm_state_close(s);
        assert_int_equal(live_boxes, 0);
    }
    fm_fs_free(fs);
}

static fm_str file_bytes(fm_fs *fs, const char *path, fm_arena *arena)
{
    fm_str bytes;
    fm_error err = FM_ERROR_INIT;

    if (fm_fs_read_all(fs, path, 1 << 30, arena, &bytes, &err) != FM_OK) fail_msg("%s", err.message);
    return bytes;
}

/* Every single flipped bit of a changelog is noticed, and every length it may be cut to. */
static void damage_is_noticed(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    static model m;
    fm_state_spec spec = spec_of(fs, 2);
    fm_state *s;
    memset(&m, 0, sizeof m);

    assert_int_equal(fm_state_open(&spec, 0, &s, &err), FM_OK);
    assert_int_equal(run_batch(s, &m, 0, &err), FM_OK);
    fm_state_close(s);
    fm_str good = file_bytes(fs, "/ck/state/0/1.changelog", arena);
    char *bad = malloc(good.len + 1);
    for (size_t i = 0; i < good.len; i++) {
        memcpy(bad, good.ptr, good.len);
        bad[i] ^= (char)(1 << (i % 8));
        assert_int_equal(fm_fs_write_atomic(fs, "/ck/state/0/1.changelog", (fm_str){bad, good.len}, true, &err), FM_OK);
        assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_CORRUPT);
        assert_non_null(strstr(err.message, "1.changelog"));
        assert_int_equal(fm_fs_write_atomic(fs, "/ck/state/0/1.changelog", (fm_str){good.ptr, i}, true, &err), FM_OK);
        assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_CORRUPT);
    }
    memcpy(bad, good.ptr, good.len);
    bad[good.len] = 0;
    assert_int_equal(fm_fs_write_atomic(fs, "/ck/state/0/1.changelog", (fm_str){bad, good.len + 1}, true, &err), FM_OK);
    assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_CORRUPT);
    assert_int_equal(fm_fs_write_atomic(fs, "/ck/state/0/1.changelog", good, true, &err), FM_OK);
    assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_OK);
    expect_same(s, &m);
    fm_state_close(s);
    free(bad);
    fm_arena_free(arena);
    fm_fs_free(fs);
}

static int count_files(fm_fs *fs, const char *ending, fm_str *last, fm_arena *arena)
{
    fm_dir_entry *entries;
    size_t n;
    int count = 0;

    assert_int_equal(fm_fs_list(fs, "/ck/state/0", arena, &entries, &n, NULL), FM_OK);
    for (size_t i = 0; i < n; i++) {
        if (!fm_str_ends(entries[i].name, fm_str_c(ending))) continue;
        int64_t version, best = -1;
        fm_str number = {entries[i].name.ptr, entries[i].name.len - strlen(ending)};
        assert_true(fm_str_to_i64(number, &version));
        if (last->len) assert_true(fm_str_to_i64((fm_str){last->ptr, last->len - strlen(ending)}, &best));
        if (version > best) *last = entries[i].name;
        count++;
    }
    return count;
}

static void state_of_spark_is_told(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_error err = FM_ERROR_INIT;
    fm_state_spec spec = spec_of(fs, 1);
    fm_state *s;

    assert_int_equal(fm_fs_mkdirs(fs, "/ck/state/0/_metadata", &err), FM_OK);
    assert_int_equal(fm_state_open(&spec, 3, &s, &err), FM_UNSUPPORTED);
    assert_string_equal(err.condition, "FLOODMARK_STATE_OF_SPARK");
    fm_fs_free(fs);
}

static void damaged_snapshot_falls_back(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    static model m;
    fm_state_spec spec = spec_of(fs, 1);
    fm_state *s;
    fm_str newest = {NULL, 0}, changelog = {NULL, 0};
    memset(&m, 0, sizeof m);

    assert_int_equal(fm_state_open(&spec, 0, &s, &err), FM_OK);
    for (int64_t batch = 0; batch < 64; batch++) {
        assert_int_equal(run_batch(s, &m, batch, &err), FM_OK);
        assert_int_equal(fm_state_maintain(s, batch - 1, &err), FM_OK);
    }
    fm_state_close(s);
    int snapshots = count_files(fs, ".snapshot", &newest, arena);
    assert_in_range(snapshots, 2, 3);
    assert_in_range(count_files(fs, ".changelog", &changelog, arena), 1, 40); /* old ones are gone */

    fm_str path = fm_arena_printf(arena, "/ck/state/0/%s", newest.ptr);
    fm_str bytes = file_bytes(fs, path.ptr, arena);
    ((char *)(uintptr_t)bytes.ptr)[bytes.len / 2] ^= 1;
    assert_int_equal(fm_fs_write_atomic(fs, path.ptr, bytes, true, &err), FM_OK);
    if (fm_state_open(&spec, 64, &s, &err) != FM_OK) fail_msg("%s", err.message);
    expect_same(s, &m);
    fm_state_close(s);

    /* With a changelog gone that both need, it is told what is wrong. */
    path = fm_arena_printf(arena, "/ck/state/0/%s", changelog.ptr);
    assert_int_equal(fm_fs_remove(fs, path.ptr, &err), FM_OK);
    assert_int_equal(fm_state_open(&spec, 64, &s, &err), FM_CORRUPT);
    fm_arena_free(arena);
    fm_fs_free(fs);
}

static void another_schema_is_refused(void **state)
{
    (void)state;
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_error err = FM_ERROR_INIT;
    static model m;
    fm_state_spec spec = spec_of(fs, 1);
    fm_state *s;
    memset(&m, 0, sizeof m);

    assert_int_equal(fm_state_open(&spec, 0, &s, &err), FM_OK);
    assert_int_equal(run_batch(s, &m, 0, &err), FM_OK);
    fm_state_close(s);
    spec.schema = FM_STR("keys: bigint; values: test");
    assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_INVALID);
    assert_string_equal(err.condition, "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE");
    spec.schema = FM_STR("keys: string; values: other");
    assert_int_equal(fm_state_open(&spec, 1, &s, &err), FM_INVALID);
    assert_string_equal(err.condition, "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE");
    fm_fs_free(fs);
}

/* Many keys: tables grow, entries keep their places and their order. */
static void large_tables(void **state)
{
    (void)state;
    enum { MANY = 300000, STEP = 1000 };
    fm_state_spec spec = {.in_memory = true, .value_size = 8};
    fm_error err = FM_ERROR_INIT;
    fm_state *s;
    fm_state_bucket *b;
    fm_state_stats stats;
    fm_key *keys = calloc(STEP, sizeof *keys);
    char **values = calloc(MANY, sizeof *values);

    assert_int_equal(fm_state_open(&spec, 0, &s, &err), FM_OK);
    fm_state_part *p = fm_state_part_at(s, 0);
    assert_int_equal(fm_state_bucket_at(p, 0, &b, &err), FM_OK);
    for (int round = 0; round < 2; round++) {
        for (int64_t from = 0; from < MANY; from += STEP) {
            for (int64_t i = 0; i < STEP; i++) {
                int64_t x = from + i;
                keys[i] = fm_key_of_bytes((fm_str){(const char *)&x, sizeof x});
            }
            char *again[STEP];
            assert_int_equal(fm_state_upsert_in(p, b, keys, STEP, round ? again : values + from, NULL, &err), FM_OK);
            for (int64_t i = 0; round && i < STEP; i++) assert_ptr_equal(again[i], values[from + i]);
            for (int64_t i = 0; i < STEP; i++) ++*(int64_t *)(void *)values[from + i];
        }
    }
    assert_int_equal(fm_state_bucket_rows(b), MANY);
    for (int64_t i = 0; i < MANY; i += 77) {
        int64_t x;
        fm_key k = fm_state_key_at(p, b, i);
        memcpy(&x, fm_key_bytes(&k).ptr, sizeof x);
        assert_int_equal(x, i);
        assert_int_equal(*(int64_t *)(void *)values[i], 2);
    }
    fm_state_get_stats(s, &stats);
    assert_in_range(stats.memory_size / MANY, 24, 64);
    fm_state_bucket_drop(p, b);
    fm_state_get_stats(s, &stats);
    assert_int_equal(stats.rows, 0);
    fm_state_close(s);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_is_followed_over_restarts), cmocka_unit_test(crash_at_every_operation),
        cmocka_unit_test(values_with_memory_of_their_own), cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(state_of_spark_is_told),          cmocka_unit_test(damaged_snapshot_falls_back),
        cmocka_unit_test(another_schema_is_refused),       cmocka_unit_test(large_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
