/* examples/capi/meter.c: floodmark inside a program of your own.
 *
 *     cc meter.c $(pkg-config --cflags --libs floodmark) -o meter && ./meter
 *
 * The program is the source of a stream (meter readings, which it makes up), runs a windowed sum over it, watches the
 * progress, and fetches the result as Arrow record batches. It includes floodmark.h and nothing else of floodmark.
 *
 * Output: a line per micro-batch, then a line per row: window start (seconds since 1970), device, kWh, readings. */
#include <floodmark.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES = 3, READINGS = 120 }; /* each device reads once a minute, for 40 minutes */

static const char *const devices[DEVICES] = {"boiler", "fridge", "pump"};

static int fail(const char *doing, const floodmark_error *err)
{
    fprintf(stderr, "%s: [%s] %s\n", doing, err->condition, err->message);
    return 1;
}

/* ---- The source: rows numbered from 0, given out as Arrow arrays ---- */

/* What one record batch owns; its struct array frees all of it. */
typedef struct batch {
    struct ArrowArray children[3], *child_ptrs[3];
    const void *buffers[3][3], *own_buffers[1];
    int32_t *offsets;
    char *names;
    int64_t *times;
    double *kwh;
} batch;

static void release_child(struct ArrowArray *a) { a->release = NULL; }

static void release_batch(struct ArrowArray *a)
{
    batch *b = a->private_data;

    free(b->offsets);
    free(b->names);
    free(b->times);
    free(b->kwh);
    free(b);
    a->release = NULL;
}

static int available(void *ctx, int64_t *rows)
{
    (void)ctx;
    *rows = READINGS;
    return 0;
}

/* The same range always gives the same rows: row i is device i % 3, one minute later every three rows. */
static int read_rows(void *ctx, int64_t from, int64_t to, struct ArrowArray *out)
{
    const int64_t n = to - from, start_us = INT64_C(1767261600) * 1000000; /* 2026-01-01T10:00:00Z */
    batch *b = calloc(1, sizeof *b);

    (void)ctx;
    if (!b) return 1;
    b->offsets = calloc((size_t)n + 1, sizeof *b->offsets);
    b->names = calloc((size_t)n + 1, 8);
    b->times = calloc((size_t)n + 1, sizeof *b->times);
    b->kwh = calloc((size_t)n + 1, sizeof *b->kwh);
    *out = (struct ArrowArray){.length = n, .n_buffers = 1, .buffers = b->own_buffers, .n_children = 3,
                               .children = b->child_ptrs, .release = release_batch, .private_data = b};
    if (!b->offsets || !b->names || !b->times || !b->kwh) {
        release_batch(out);
        return 1;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *name = devices[(from + i) % DEVICES];
        size_t len = strlen(name);
        memcpy(b->names + b->offsets[i], name, len);
        b->offsets[i + 1] = b->offsets[i] + (int32_t)len;
        b->times[i] = start_us + (from + i) / DEVICES * 60 * 1000000;
        b->kwh[i] = 0.25 * (double)((from + i) % DEVICES + 1);
    }
    b->buffers[0][1] = b->offsets;
    b->buffers[0][2] = b->names;
    b->buffers[1][1] = b->times;
    b->buffers[2][1] = b->kwh;
    for (int c = 0; c < 3; c++) {
        b->children[c] = (struct ArrowArray){
            .length = n, .n_buffers = c == 0 ? 3 : 2, .buffers = b->buffers[c], .release = release_child};
        b->child_ptrs[c] = &b->children[c];
    }
    return 0;
}

/* ---- Watching ---- */

/* The number behind "key": in a line of JSON. */
static long long number_of(const char *json, const char *key)
{
    const char *at = strstr(json, key);

    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

static void on_progress(void *ctx, const char *query_name, const char *json)
{
    (void)ctx;
    printf("%s: micro-batch %lld, %lld rows in\n", query_name, number_of(json, "\"batchId\":"),
           number_of(json, "\"numInputRows\":"));
}

/* ---- The result: Arrow record batches ---- */

/* Columns: window start (timestamp, microseconds), device (UTF-8), kWh (double), readings (int64). */
static void print_rows(const struct ArrowArray *rows)
{
    const struct ArrowArray *start = rows->children[0], *device = rows->children[1], *kwh = rows->children[2],
                            *count = rows->children[3];
    const int32_t *offsets = device->buffers[1];
    const char *names = device->buffers[2];

    for (int64_t i = 0; i < rows->length; i++) {
        int64_t d = device->offset + i;
        printf("%" PRId64 " %.*s %.2f %" PRId64 "\n", ((const int64_t *)start->buffers[1])[start->offset + i] / 1000000,
               (int)(offsets[d + 1] - offsets[d]), names + offsets[d], ((const double *)kwh->buffers[1])[kwh->offset + i],
               ((const int64_t *)count->buffers[1])[count->offset + i]);
    }
}

static int print_result(floodmark_session *session, floodmark_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowArray rows;

    if (floodmark_sql(session, "SELECT * FROM usage ORDER BY start, device", &stream, err) != 0)
        return fail("the result", err);
    while (stream.get_next(&stream, &rows) == 0 && rows.release) {
        print_rows(&rows);
        rows.release(&rows);
    }
    stream.release(&stream);
    return 0;
}

/* ---- All of it ---- */

static const char job_text[] =
    "CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE) USING meter;"
    "CREATE STREAMING TABLE usage USING memory OPTIONS (outputMode 'append') AS"
    "  SELECT window.start AS start, device, sum(kwh) AS kwh, count(*) AS readings"
    "  FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES"
    "  GROUP BY window(at, '5 minutes'), device";

static int run(floodmark_session *session, floodmark_error *err)
{
    const floodmark_source meter = {.available = available, .read = read_rows};
    const floodmark_job_options options = {.trigger = "availableNow", .on_progress = on_progress};

    if (floodmark_session_set(session, "spark.sql.session.timeZone", "UTC", err) != 0 ||
        floodmark_register_source(session, "meter", &meter, err) != 0)
        return fail("the session", err);
    floodmark_job *job = floodmark_job_open(session, job_text, &options, err);
    if (!job) return fail("the job", err);
    int ended = floodmark_job_wait(job, -1, err);
    int status = ended == 1 ? print_result(session, err) : fail("the stream", err);
    floodmark_job_free(job);
    return status;
}

int main(void)
{
    floodmark_error err = {0};
    floodmark_session *session = floodmark_session_new(&err);

    if (!session) return fail("the session", &err);
    int status = run(session, &err);
    floodmark_session_free(session);
    return status;
}
