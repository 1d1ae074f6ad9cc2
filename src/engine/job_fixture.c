/* engine/job_fixture.c: see job_fixture.h. */
#include "engine/job_fixture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "floodmark.h"
#include "os/fs.h"

enum { JOB_SIZE = 4096 };

void job_fixture_init(job_fixture *f)
{
    *f = (job_fixture){.last_told = -1};
    snprintf(f->dir, sizeof f->dir, "%s/floodmark-job-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(f->dir));
    char in[80];
    snprintf(in, sizeof in, "%s/in", f->dir);
    assert_int_equal(mkdir(in, 0777), 0);
}

void job_fixture_fini(job_fixture *f)
{
    fm_error err = FM_ERROR_INIT;

    assert_int_equal(fm_fs_remove_all(fm_fs_real(), f->dir, &err), FM_OK);
    free(f->rows);
}

void job_fixture_write(job_fixture *f, const char *text, size_t size)
{
    char path[128];
    struct timespec times[2] = {{.tv_sec = 1700000000 + f->files}, {.tv_sec = 1700000000 + f->files}};

    snprintf(path, sizeof path, "%s/in/%04d.json", f->dir, f->files++);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static int capture_open(void *ctx, const char *query_name, const struct ArrowSchema *schema)
{
    (void)ctx;
    (void)query_name;
    return schema->n_children <= JOB_COLUMNS ? 0 : 1;
}

static int capture_write(void *ctx, int64_t batch_id, struct ArrowArray *rows)
{
    job_fixture *f = ctx;

    for (int64_t i = 0; i < rows->length; i++) {
        if (f->n_rows == f->cap_rows) {
            f->cap_rows = f->cap_rows ? f->cap_rows * 2 : 256;
            f->rows = realloc(f->rows, f->cap_rows * sizeof *f->rows);
            if (!f->rows) return 1;
        }
        job_row *row = &f->rows[f->n_rows++];
        *row = (job_row){.batch_id = batch_id};
        for (int64_t c = 0; c < rows->n_children; c++) {
            const struct ArrowArray *column = rows->children[c];
            memcpy(&row->columns[c], (const char *)column->buffers[1] + (size_t)(column->offset + rows->offset + i) * 8, 8);
        }
    }
    rows->release(rows);
    return 0;
}

static int capture_commit(void *ctx, int64_t batch_id)
{
    (void)ctx;
    (void)batch_id;
    return 0;
}

static int64_t number_behind(const char *json, const char *name)
{
    const char *at = strstr(json, name);
    int64_t x = -1;

    if (at) sscanf(at + strlen(name), "%" SCNd64, &x);
    return x;
}

static void note_progress(void *ctx, const char *query_name, const char *json)
{
    job_fixture *f = ctx;
    int64_t batch_id = number_behind(json, "\"batchId\":");

    (void)query_name;
    if (batch_id == f->last_told || f->n_states == JOB_BATCHES_MAX) return;
    f->last_told = batch_id;
    f->states[f->n_states++] = (job_state){batch_id, number_behind(json, "\"numRowsTotal\":"), number_behind(json, "\"numRowsUpdated\":"),
                                           number_behind(json, "\"numRowsRemoved\":"), number_behind(json, "\"numRowsDroppedByWatermark\":")};
}

void job_fixture_run(job_fixture *f, const char *job, int workers)
{
    floodmark_error err = {0};
    floodmark_session *session = floodmark_session_new(&err);
    floodmark_sink sink = {f, capture_open, capture_write, capture_commit};
    floodmark_job_options options = {.trigger = "availableNow", .on_progress = note_progress, .ctx = f};
    char text[JOB_SIZE], count[16];

    assert_non_null(session);
    f->n_rows = 0;
    f->n_states = 0;
    snprintf(count, sizeof count, "%d", workers);
    snprintf(text, sizeof text, job, f->dir, f->dir);
    assert_int_equal(floodmark_session_set(session, "floodmark.workers", count, &err), 0);
    assert_int_equal(floodmark_register_sink(session, "capture", &sink, &err), 0);
    floodmark_job *running = floodmark_job_open(session, text, &options, &err);
    if (!running) fail_msg("%s\n%s", err.message, text);
    if (floodmark_job_wait(running, -1, &err) != 1) fail_msg("%s\n%s", err.message, text);
    floodmark_job_free(running);
    floodmark_session_free(session);
}

static int by_all(const void *a, const void *b)
{
    const job_row *x = a, *y = b;

    if (x->batch_id != y->batch_id) return x->batch_id < y->batch_id ? -1 : 1;
    for (int c = 0; c < JOB_COLUMNS; c++) {
        if (x->columns[c] != y->columns[c]) return x->columns[c] < y->columns[c] ? -1 : 1;
    }
    return 0;
}

void job_rows_sort(job_row *rows, size_t n)
{
    if (n) qsort(rows, n, sizeof *rows, by_all);
}
