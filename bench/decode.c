/* bench/decode.c: the JSON decoder alone: lines in memory -> columns, rows counted, values summed
 * up.
 *
 *     decode [rows] [other-order-percent] [runs]
 *
 * The lines are those of work W1:
 * {"user_id":"u000123","amount":12.3,"event_time":"2026-01-01T10:00:00.123Z"}, made from a seed.
 * The best and the median run are printed; with simdjson found at build time, decode_simdjson does
 * the same work with it, and prints the same sums. */
#include "format/format.h"

#include "base/limits.h"
#include "base/time_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decode_lines.h"

typedef struct sums {
    int64_t rows, bytes, time_us;
    double amount;
} sums;

static fm_status add_up(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    sums *s = ctx;
    const fm_view *users = fm_vec_view(&batch->columns[0]);
    const double *amounts = fm_vec_f64(&batch->columns[1]);
    const int64_t *times = fm_vec_i64(&batch->columns[2]);

    (void)lines;
    (void)err;
    s->rows += batch->rows;
    for (int32_t i = 0; i < batch->rows; i++) {
        s->bytes += users[i].len;
        s->amount += amounts[i];
        s->time_us += times[i] & 0xFFFFFFFF;
    }
    return FM_OK;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    int64_t rows = argc > 1 ? strtoll(argv[1], NULL, 10) : 2000000;
    int other = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0,
        runs = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 9;
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    const fm_format *json = fm_format_find(FM_STR("json"));
    const fm_type *schema;
    fm_options options = {0};
    static const int32_t wanted[] = {0, 1, 2};
    size_t len;
    char *text = make_lines(rows, other, &len);
    double times[64];
    sums s = {0};

    if (!text || runs > 64 || runs < 1) return 1;
    if (fm_type_parse_ddl(arena, FM_STR("user_id STRING, amount DOUBLE, event_time TIMESTAMP"),
                          &schema, &err) != FM_OK)
        return 1;
    fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = 3, .options = &options, .zone = fm_zone_utc(), .corrupt_column = FM_STR("_corrupt_record")};
    char *buf = malloc(FM_BLOCK_SIZE + FM_BLOCK_PADDING);
    for (int run = 0; run < runs; run++) {
        fm_reader *reader;
        fm_read_counts counts = {0};
        fm_batch_out out = {&s, add_up};
        s = (sums){0};
        if (json->reader_new(arena, &spec, &reader, &err) != FM_OK) return 1;
        double begun = now_s(), copying = 0;
        for (size_t at = 0; at < len;) {
            size_t size = len - at < FM_BLOCK_SIZE ? len - at : FM_BLOCK_SIZE;
            double copy = now_s();
            memcpy(buf, text + at, size);
            size = at + size == len ? size : json->whole_records(reader, buf, size);
            memset(buf + size, 0, FM_BLOCK_PADDING);
            copying += now_s() - copy;
            fm_block block = {buf, size, FM_STR("memory"), (int64_t)at, 0};
            if (json->read_block(reader, &block, batches, &out, &counts, &err) != FM_OK) {
                fprintf(stderr, "%s\n", err.message);
                return 1;
            }
            at += size;
        }
        times[run] = now_s() - begun - copying;
        json->reader_free(reader);
        if (counts.bad || counts.rows != rows) return 1;
    }
    qsort(times, (size_t)runs, sizeof *times, by_value);
    printf("floodmark %d%% other order: %.1f ns/row (best %.1f), %.2f GB/s, %.1f M rows/s; rows "
           "%" PRId64 " bytes %" PRId64 " amount %.3f time %" PRId64 "\n",
           other, times[runs / 2] * 1e9 / (double)rows, times[0] * 1e9 / (double)rows,
           (double)len / times[runs / 2] * 1e-9, (double)rows / times[runs / 2] * 1e-6, s.rows,
           s.bytes, s.amount, s.time_us);
    free(text);
    free(buf);
    fm_arena_free(arena);
    fm_arena_free(batches);
    return 0;
}
