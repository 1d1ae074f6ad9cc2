/* table/delta/delta_log_test.c: the log on a simulated file system: what actions come to, races, crashes, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bits.h"
#include "table/delta/delta_commit.h"
#include "table/delta/delta_dv.h"
#include "table/delta/delta_evolve.h"
#include "table/delta/delta_path.h"

typedef struct world {
    fm_fs *fs;
    fm_clock *clock;
    fm_arena *arena;
    fm_delta_log log;
} world;

static world open_world(fm_fs *fs)
{
    world w = {.fs = fs, .clock = fm_clock_sim_new(INT64_C(1700000000000000)), .arena = fm_arena_new(0)};

    assert_int_equal(fm_delta_log_init(&w.log, w.fs, w.clock, FM_STR("/t"), w.arena, NULL), FM_OK);
    return w;
}

static void close_world(world *w)
{
    fm_clock_free(w->clock);
    fm_arena_free(w->arena);
}

static void put(world *w, const char *path, const char *text)
{
    fm_error err = FM_ERROR_INIT;

    assert_int_equal(fm_fs_mkdirs(w->fs, "/t/_delta_log", NULL), FM_OK);
    if (fm_fs_write_atomic(w->fs, path, fm_str_c(text), true, &err) != FM_OK) fail_msg("%s", err.message);
}

#define META(schema, config)                                                                                                    \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"                                                          \
    "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" schema                 \
    "\",\"partitionColumns\":[],\"configuration\":{" config "},\"createdTime\":1}}\n"
#define AB "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}"
#define ADD(path) "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n"
#define REMOVE(path) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":1,\"dataChange\":true}}\n"

/* The live files, in order: "a b". */
static void check_files(const fm_delta_snapshot *s, const char *wanted)
{
    fm_strbuf text = {0};

    for (int32_t i = 0; i < s->n_entries; i++) {
        if (!s->entries[i].is_live) continue;
        if (text.len) fm_strbuf_add_char(&text, ' ');
        fm_strbuf_add(&text, s->entries[i].file.path);
        if (s->entries[i].file.dv) fm_strbuf_printf(&text, "-%lld", (long long)s->entries[i].file.dv->cardinality);
    }
    assert_string_equal(text.ptr ? text.ptr : "", wanted);
    fm_strbuf_fini(&text);
}

/* ---- Replay ------------------------------------------------------------------------------------------------------- */

static void what_a_log_comes_to(void **state)
{
    static const char dv[] =
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true,\"deletionVector\":"
        "{\"storageType\":\"i\",\"pathOrInlineDv\":\"wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L\",\"sizeInBytes\":40,\"cardinality\":6}}}\n";
    char second[2048];
    fm_delta_snapshot *s;
    fm_fs *fs = fm_fs_sim_new(-1);
    world w = open_world(fs);

    put(&w, "/t/_delta_log/00000000000000000000.json", META(AB, "") ADD("a") ADD("b%20c"));
    snprintf(second, sizeof second, "%s%s%s", REMOVE("a"), dv, "{\"txn\":{\"appId\":\"q\",\"version\":7}}\n{\"future\":{\"x\":1}}\n");
    put(&w, "/t/_delta_log/00000000000000000001.json", second);
    put(&w, "/t/_delta_log/00000000000000000002.json", REMOVE("b c") ADD("d"));

    assert_int_equal(fm_delta_snapshot_load(&w.log, 0, &s, NULL), FM_OK);
    check_files(s, "a b%20c");
    assert_true(fm_delta_snapshot_txn(s, FM_STR("q")) == INT64_MIN);
    assert_int_equal(fm_delta_snapshot_update(s, NULL), FM_OK);
    assert_int_equal(s->version, 2);
    check_files(s, "a-6 d"); /* "b c" and "b%20c" are one path */
    assert_int_equal(fm_delta_snapshot_txn(s, FM_STR("q")), 7);
    fm_delta_snapshot_free(s);
    assert_int_equal(fm_delta_snapshot_load(&w.log, 3, &s, NULL), FM_INVALID);
    close_world(&w);
    fm_fs_free(fs);
}

static void damage_and_strangers_are_refused(void **state)
{
    static const struct {
        const char *text, *condition;
    } cases[] = {
        {"{\"add\":{\"path\":1}}\n", "FLOODMARK_DELTA_LOG_DAMAGED"},
        {"[]\n", "FLOODMARK_DELTA_LOG_DAMAGED"},
        {"{\"add\":\n", "FLOODMARK_DELTA_LOG_DAMAGED"},
        {ADD("a"), "DELTA_STATE_RECOVER_ERROR"},
        {"{\"protocol\":{\"minReaderVersion\":4,\"minWriterVersion\":2}}\n", "DELTA_STATE_RECOVER_ERROR"},
        {META("x", ""), "FLOODMARK_DELTA_LOG_DAMAGED"},
        {META("{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"v\\\",\\\"type\\\":\\\"variant\\\"}]}", ""), "DELTA_UNSUPPORTED_DATA_TYPES"},
        {META(AB, "") "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timeMachine\"],\"writerFeatures\":[\"timeMachine\"]}}\n",
         "DELTA_UNSUPPORTED_FEATURES_FOR_READ"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_fs *fs = fm_fs_sim_new(-1);
        world w = open_world(fs);
        fm_delta_snapshot *s;
        fm_error err = FM_ERROR_INIT;
        put(&w, "/t/_delta_log/00000000000000000000.json", cases[i].text);
        assert_int_not_equal(fm_delta_snapshot_load(&w.log, -1, &s, &err), FM_OK);
        assert_string_equal(err.condition, cases[i].condition);
        assert_null(s);
        close_world(&w);
        fm_fs_free(fs);
    }
}

/* A feature of writers only: read, but not written. */
static void a_table_that_may_only_be_read(void **state)
{
    fm_fs *fs = fm_fs_sim_new(-1);
    world w = open_world(fs);
    fm_delta_snapshot *s;
    fm_error err = FM_ERROR_INIT;
    fm_delta_commit c = {.operation = "WRITE"};
    int64_t version;

    put(&w, "/t/_delta_log/00000000000000000000.json",
        META(AB, "") "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"icebergCompatV9\"]}}\n");
    assert_int_equal(fm_delta_snapshot_load(&w.log, -1, &s, NULL), FM_OK);
    assert_int_equal(fm_delta_commit_run(s, &c, &version, &err), FM_UNSUPPORTED);
    assert_string_equal(err.condition, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    assert_non_null(strstr(err.message, "icebergCompatV9"));
    fm_delta_snapshot_free(s);
    close_world(&w);
    fm_fs_free(fs);
}

/* ---- Races -------------------------------------------------------------------------------------------------------- */

static fm_delta_file file_of(const char *path) { return (fm_delta_file){.path = fm_str_c(path), .size = 1, .deleted_ms = 5, .data_change = true, .base_row_id = -1, .row_commit_version = -1}; }

/* What another writer did since we read version 0, and what becomes of our commit. */
static void conflicts_are_told_apart(void **state)
{
    enum { APPEND, REWRITE, DELETE };
    static const struct {
        int ours;
        const char *theirs, *condition; /* NULL: we commit, at version 2 */
    } cases[] = {
        {APPEND, ADD("x"), NULL},
        {APPEND, REMOVE("a") ADD("x"), NULL},
        {APPEND, "{\"txn\":{\"appId\":\"other\",\"version\":1}}\n", NULL},
        {APPEND, "{\"txn\":{\"appId\":\"me\",\"version\":1}}\n", "DELTA_CONCURRENT_TRANSACTION"},
        {APPEND, META(AB, "\"k\":\"v\""), "DELTA_PROTOCOL_CHANGED"},
        {APPEND, "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" AB "\",\"partitionColumns\":[],\"configuration\":{}}}\n",
         "DELTA_METADATA_CHANGED"},
        {REWRITE, ADD("x"), "DELTA_CONCURRENT_APPEND"},
        {REWRITE, "{\"commitInfo\":{\"isBlindAppend\":true}}\n" ADD("x"), NULL},
        {REWRITE, REMOVE("b"), "DELTA_CONCURRENT_DELETE_READ"},
        {REWRITE, REMOVE("a"), "DELTA_CONCURRENT_DELETE_DELETE"},
        {DELETE, REMOVE("a"), "DELTA_CONCURRENT_DELETE_DELETE"},
        {DELETE, REMOVE("b"), NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_fs *fs = fm_fs_sim_new(-1);
        world w = open_world(fs);
        fm_delta_snapshot *s;
        fm_error err = FM_ERROR_INIT;
        int64_t version = -1;
        fm_delta_file add = file_of("mine"), remove = file_of("a");
        fm_delta_commit c = {.operation = "WRITE", .adds = &add, .n_adds = 1, .app_id = FM_STR("me"), .app_version = 1};
        if (cases[i].ours != APPEND) {
            c.removes = &remove;
            c.n_removes = 1;
        }
        c.read_files = cases[i].ours == REWRITE;
        put(&w, "/t/_delta_log/00000000000000000000.json", META(AB, "") ADD("a") ADD("b"));
        assert_int_equal(fm_delta_snapshot_load(&w.log, -1, &s, NULL), FM_OK);
        put(&w, "/t/_delta_log/00000000000000000001.json", cases[i].theirs);
        fm_status st = fm_delta_commit_run(s, &c, &version, &err);
        if (cases[i].condition) {
            if (st != FM_CONFLICT || strcmp(err.condition, cases[i].condition) != 0) fail_msg("case %zu: %s, not %s", i, err.condition, cases[i].condition);
            assert_int_equal(s->version, 1);
        } else {
            if (st != FM_OK) fail_msg("case %zu: %s", i, err.message);
            assert_int_equal(version, 2);
        }
        fm_delta_snapshot_free(s);
        close_world(&w);
        fm_fs_free(fs);
    }
}

/* ---- Crashes ------------------------------------------------------------------------------------------------------- */

/* Makes a table and appends to it three times, going on where a run before stopped. */
static fm_status run(world *w, fm_error *err)
{
    static const char *const paths[] = {"f0", "f1", "f2"};
    fm_delta_snapshot *s = NULL;
    int64_t version;
    fm_status st = fm_delta_snapshot_load(&w->log, -1, &s, err);

    if (st == FM_NOT_FOUND) st = fm_delta_snapshot_empty(&w->log, &s, err);
    for (int64_t batch = 0; st == FM_OK && batch < 3; batch++) {
        if (fm_delta_snapshot_txn(s, FM_STR("q")) >= batch) continue;
        fm_field field = {FM_STR("a"), fm_type_i64(), true};
        fm_delta_wish wish = {.rows = fm_type_struct(w->arena, &field, 1)};
        fm_delta_plan plan;
        fm_delta_file add = file_of(paths[batch]);
        st = fm_delta_plan_write(s, &wish, w->arena, &plan, err);
        fm_delta_commit c = {.operation = "WRITE", .adds = &add, .n_adds = 1, .app_id = FM_STR("q"), .app_version = batch, .protocol = plan.protocol, .metadata = plan.metadata};
        if (st == FM_OK) st = fm_delta_commit_run(s, &c, &version, err);
    }
    fm_delta_snapshot_free(s);
    return st;
}

/* Stopped before each write, sync and rename in turn, by a power cut and by a kill: each batch is there once in the end. */
static void a_crash_anywhere_commits_once(void **state)
{
    for (int kill = 0; kill < 2; kill++) {
        bool crashed = true;
        for (int64_t k = 0; crashed; k++) {
            fm_fs *fs = fm_fs_sim_new(k);
            world w = open_world(fs);
            fm_delta_snapshot *s;
            fm_error err = FM_ERROR_INIT;
            crashed = run(&w, &err) != FM_OK;
            if (kill) fm_fs_sim_kill(fs, -1);
            else fm_fs_sim_restart(fs, -1);
            if (run(&w, &err) != FM_OK) fail_msg("after a stop at operation %lld: %s", (long long)k, err.message);
            assert_int_equal(fm_delta_snapshot_load(&w.log, -1, &s, NULL), FM_OK);
            check_files(s, "f0 f1 f2");
            assert_int_equal(s->version, 2);
            fm_delta_snapshot_free(s);
            close_world(&w);
            fm_fs_free(fs);
            assert_true(k < 1000);
        }
    }
}

/* ---- Deletion vectors and paths -------------------------------------------------------------------------------------- */

static void a_vector_in_the_log(void **state)
{
    static const int64_t gone[] = {3, 4, 7, 11, 18, 29};
    fm_fs *fs = fm_fs_sim_new(-1);
    world w = open_world(fs);
    fm_delta_dv dv = {.storage = 'i', .path = FM_STR("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"), .offset = -1, .size = 44, .cardinality = 6};
    fm_delta_rows rows;

    assert_int_equal(fm_delta_dv_read(&w.log, &dv, 30, w.arena, &rows, NULL), FM_OK);
    for (size_t i = 0; i < 6; i++) assert_true(fm_bit_get(rows.bits, gone[i]));
    assert_int_equal(rows.gone, 6);
    assert_int_equal(fm_delta_dv_read(&w.log, &dv, 29, w.arena, &rows, NULL), FM_CORRUPT); /* row 29 is not in the file */
    close_world(&w);
    fm_fs_free(fs);
}

static void vectors_read_back(void **state)
{
    static const int64_t steps[] = {1, 2, 3, 17, 1000, 65536, 70001};
    fm_fs *fs = fm_fs_sim_new(-1);
    world w = open_world(fs);
    fm_delta_rows sets[7], back;
    fm_delta_dv dvs[7];

    assert_int_equal(fm_fs_mkdirs(fs, "/t", NULL), FM_OK);
    for (int i = 0; i < 7; i++) {
        sets[i] = (fm_delta_rows){.rows = 200000, .bits = fm_arena_array(w.arena, uint64_t, fm_bit_words(200000))};
        for (int64_t r = i; r < sets[i].rows; r += steps[i]) {
            fm_bit_set(sets[i].bits, r);
            sets[i].gone++;
        }
    }
    assert_int_equal(fm_delta_dv_write(&w.log, sets, 7, w.arena, dvs, NULL), FM_OK);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(fm_delta_dv_read(&w.log, &dvs[i], 200000, w.arena, &back, NULL), FM_OK);
        assert_int_equal(back.gone, sets[i].gone);
        assert_memory_equal(back.bits, sets[i].bits, (size_t)fm_bit_words(200000) * 8);
    }
    dvs[0].offset++; /* a wrong place is noticed */
    assert_int_equal(fm_delta_dv_read(&w.log, &dvs[0], 200000, w.arena, &back, NULL), FM_CORRUPT);
    close_world(&w);
    fm_fs_free(fs);
}

/* Whatever the bytes, a decoder gives bits within bounds or an error. */
static void damaged_vectors_do_no_harm(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_strbuf good = {0};
    fm_delta_rows set = {.rows = 70000, .bits = fm_arena_array(arena, uint64_t, fm_bit_words(70000))}, back;

    for (int64_t r = 0; r < 70000; r += 3) {
        fm_bit_set(set.bits, r);
        set.gone++;
    }
    fm_delta_rows_encode(&set, &good);
    back = (fm_delta_rows){.rows = 70000, .bits = fm_arena_array(arena, uint64_t, fm_bit_words(70000))};
    for (size_t cut = 0; cut < good.len; cut += cut < 64 ? 1 : 997) assert_int_equal(fm_delta_rows_decode((fm_str){good.ptr, cut}, &back, NULL), FM_CORRUPT);
    for (size_t at = 0; at < 64; at++) {
        for (int bit = 0; bit < 8; bit++) {
            good.ptr[at] = (char)(good.ptr[at] ^ (1 << bit));
            (void)fm_delta_rows_decode(fm_strbuf_str(&good), &back, NULL);
            good.ptr[at] = (char)(good.ptr[at] ^ (1 << bit));
        }
    }
    fm_strbuf_fini(&good);
    fm_arena_free(arena);
}

static void paths_stay_in_the_table(void **state)
{
    static const struct {
        const char *path, *wanted; /* NULL: refused */
    } cases[] = {
        {"a.parquet", "/t/a.parquet"},     {"k=a%252Fb/a%20b.parquet", "/t/k=a%2Fb/a b.parquet"}, {"/other/x", "/other/x"},
        {"file:///x/y%20z", "/x/y z"},     {"../x", NULL},                                        {"a/../../x", NULL},
        {"a/%2E%2E/%2e%2e/x", NULL},       {"", NULL},                                            {"a%00b", NULL},
        {"s3://bucket/x", NULL},           {"..a/b", "/t/..a/b"},
    };
    fm_arena *arena = fm_arena_new(0);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_str out;
        fm_status st = fm_delta_path_resolve(arena, FM_STR("/t"), fm_str_c(cases[i].path), &out, NULL);
        if (!cases[i].wanted) assert_int_not_equal(st, FM_OK);
        else assert_int_equal(st, FM_OK);
        if (st == FM_OK) assert_string_equal(out.ptr, cases[i].wanted);
    }
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_log_comes_to),           cmocka_unit_test(damage_and_strangers_are_refused),
        cmocka_unit_test(a_table_that_may_only_be_read), cmocka_unit_test(conflicts_are_told_apart),
        cmocka_unit_test(a_crash_anywhere_commits_once), cmocka_unit_test(a_vector_in_the_log),
        cmocka_unit_test(vectors_read_back),             cmocka_unit_test(damaged_vectors_do_no_harm),
        cmocka_unit_test(paths_stay_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
