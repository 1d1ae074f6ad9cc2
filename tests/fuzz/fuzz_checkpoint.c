/* tests/fuzz/fuzz_checkpoint.c: a query goes on from a checkpoint and an output folder in which one file is another: state,
 * logs, or the log of the sink. It runs or says what is damaged; it must not crash. The first byte chooses the file; the
 * rest is what stands in it. Its highest bit makes a snapshot of a changelog. Checksums of state files are made to fit, so that
 * what lies behind them is reached. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "../sim/sim_job.h"
#include "base/hash.h"

static const sim_input inputs[] = {
    {"/in/1.json", "{\"k\":\"a\",\"at\":\"2026-03-01T10:00:02Z\",\"v\":3}\n{\"k\":\"a rather long key\",\"at\":\"2026-03-01T10:01:02Z\",\"v\":4}\n"},
    {"/in/2.json", "{\"k\":\"b\",\"at\":\"2026-03-01T10:04:02Z\",\"v\":5}\n{\"at\":\"2026-03-01T10:05:02Z\",\"v\":6}\n"},
    {"/in/3.json", "{\"k\":\"c\",\"at\":\"2026-03-01T10:09:02Z\",\"v\":7}\n{\"k\":\"a\",\"at\":\"2026-03-01T10:09:05Z\",\"v\":8}\n"},
    {NULL, NULL},
};
static const sim_input last = {"/in/4.json", "{\"k\":\"b\",\"at\":\"2026-03-01T10:19:02Z\",\"v\":7}\n{\"k\":\"a\",\"at\":\"2026-03-01T10:20:05Z\",\"v\":8}\n"};

static const sim_job job = {
    .name = "fuzzed",
    .inputs = inputs,
    .sql = "CREATE TABLE events (k STRING, at TIMESTAMP, v BIGINT) USING json OPTIONS (path '/in', maxFilesPerTrigger '1');"
           "CREATE STREAMING TABLE sums USING json OPTIONS (path '/out', outputMode 'append', checkpointLocation '/ck')"
           " AS SELECT k, window.start AS s, sum(v) AS v, max(k) AS m, collect_list(v) AS l, min_by(k, v) AS b FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 2 MINUTES GROUP BY window(at, '4 minutes'), k"
           " UNION ALL SELECT 'all', window.start, sum(v), max(k), NULL, NULL FROM STREAM events"
           " WATERMARK at DELAY OF INTERVAL 3 MINUTES GROUP BY window(at, '4 minutes', '1 minute');",
    .look = "SELECT to_json(struct(*)) FROM read_files('/out', format => 'json', schema => 's STRING, v BIGINT, m STRING');",
};

/* What stands on the disk after the three files: made once. */
typedef struct kept_file {
    char path[160];
    fm_str text; /* malloc'd */
} kept_file;
static kept_file kept[64];
static int n_kept;

static void keep_folder(fm_fs *fs, const char *dir)
{
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n;

    fm_assert(arena && fm_fs_list(fs, dir, arena, &entries, &n, NULL) == FM_OK);
    for (size_t i = 0; i < n; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s", dir, entries[i].name.ptr), text;
        if (entries[i].stat.is_dir) {
            keep_folder(fs, path.ptr);
            continue;
        }
        fm_assert(n_kept < 64 && path.len < sizeof kept[0].path);
        fm_assert(fm_fs_read_all(fs, path.ptr, 1 << 20, arena, &text, NULL) == FM_OK);
        kept_file *k = &kept[n_kept++];
        memcpy(k->path, path.ptr, path.len + 1);
        char *copy = malloc(text.len + 1);
        fm_assert(copy);
        if (text.len) memcpy(copy, text.ptr, text.len);
        k->text = (fm_str){copy, text.len};
    }
    fm_arena_free(arena);
}

static void make_checkpoint(void)
{
    fm_fs *fs = sim_fs_with(&job, -1);
    fm_error err = FM_ERROR_INIT;

    fm_assert(sim_run(fs, &job, NULL, &err) == FM_OK);
    keep_folder(fs, "/in");
    keep_folder(fs, "/ck");
    keep_folder(fs, "/out");
    fm_fs_free(fs);
}

static uint64_t checksum_of(const char *head, size_t head_size, fm_str payload)
{
    return fm_hash_mix(fm_checksum(head, head_size - sizeof(uint64_t)) ^ UINT64_C(0x9E3779B97F4A7C15), fm_checksum(payload.ptr, payload.len) ^ payload.len);
}

/* Heads of a file of state: see state/state_file.c. A length that reaches beyond the end ends it. */
static void fit_checksums(char *bytes, size_t size)
{
    uint32_t schema_len;
    uint64_t payload, sum;
    size_t at = 48;

    if (size < at) return;
    memcpy(&schema_len, bytes + 32, sizeof schema_len);
    if (schema_len > size - at) return;
    sum = checksum_of(bytes, 48, (fm_str){bytes + at, schema_len});
    memcpy(bytes + 40, &sum, sizeof sum);
    for (at += schema_len; size - at >= 32; at += 32 + (size_t)payload) {
        memcpy(&payload, bytes + at + 16, sizeof payload);
        if (payload > size - at - 32) return;
        sum = checksum_of(bytes + at, 32, (fm_str){bytes + at + 32, (size_t)payload});
        memcpy(bytes + at + 24, &sum, sizeof sum);
    }
}

static void write_file(fm_fs *fs, const char *path, fm_str text)
{
    char dir[160];
    const char *slash = strrchr(path, '/');
    fm_file *file;

    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = 0;
    fm_assert(fm_fs_mkdirs(fs, dir, NULL) == FM_OK && fm_file_open(fs, path, FM_OPEN_TRUNCATE, &file, NULL) == FM_OK);
    fm_assert(fm_file_write(file, text.ptr, text.len, NULL) == FM_OK);
    fm_file_close(file, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_error err = FM_ERROR_INIT;
    fm_strbuf answer = {0};

    if (n_kept == 0) make_checkpoint();
    if (size == 0) return 0;
    fm_fs *fs = fm_fs_sim_new(-1);
    char *copy = malloc(size);
    fm_assert(fs && copy);
    memcpy(copy, bytes, size);
    kept_file *replaced = &kept[(bytes[0] & 0x7f) % n_kept];
    bool is_state = strstr(replaced->path, "/state/"), as_snapshot = is_state && bytes[0] & 0x80;
    fm_str changed = {copy + 1, size - 1};
    if (as_snapshot && changed.len > 8) copy[1 + 8] = 2; /* the kind, in the head */
    if (is_state) fit_checksums(copy + 1, size - 1);
    for (int i = 0; i < n_kept; i++) write_file(fs, kept[i].path, &kept[i] == replaced && !as_snapshot ? changed : kept[i].text);
    if (as_snapshot) {
        char path[160];
        snprintf(path, sizeof path, "%.*s.snapshot", (int)(strlen(replaced->path) - strlen(".changelog")), replaced->path);
        write_file(fs, path, changed);
    }
    sim_write(fs, last.path, last.text);
    if (sim_run(fs, &job, NULL, &err) != FM_OK) fm_assert(err.condition[0] && err.message[0]);
    err = (fm_error)FM_ERROR_INIT;
    if (sim_look(fs, &job, &answer, &err) != FM_OK) fm_assert(err.condition[0] && err.message[0]);
    fm_strbuf_fini(&answer);
    free(copy);
    fm_fs_free(fs);
    return 0;
}
