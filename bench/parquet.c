/* bench/parquet.c: window results to a Parquet file, and back.
 *
 *     parquet write FILE ROWS CODEC [LEVEL]     parquet read FILE
 *
 * Rows: window start TIMESTAMP (rising), user STRING (one of 10,000 in each window), sum DOUBLE, count BIGINT. Making them is
 * not counted: the batches are made before the clock starts, and written again and again with a later window and other sums. Prints rows,
 * CPU seconds (user and system), bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "column/builder.h"
#include "format/parquet.h"

enum { USERS = 10000 };

static double cpu_seconds(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int say(const fm_error *err)
{
    fprintf(stderr, "[%s] %s\n", err->condition, err->message);
    return 1;
}

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

/* One window: USERS rows in batches. */
static int32_t make_window(fm_arena *arena, const fm_type *schema, fm_batch *out)
{
    uint64_t seed = 1;
    int32_t n = 0;

    for (int32_t user = 0; user < USERS; n++) {
        int32_t rows = USERS - user < FM_BATCH_ROWS_DECODE ? USERS - user : FM_BATCH_ROWS_DECODE;
        fm_vec *columns = fm_arena_array(arena, fm_vec, 4);
        fm_builder *b[4];
        for (int i = 0; i < 4; i++) b[i] = fm_builder_new(arena, schema->fields[i].type, rows);
        for (int32_t i = 0; i < rows; i++, user++) {
            char name[16];
            int len = snprintf(name, sizeof name, "user_%d", (int)(next(&seed) % USERS));
            fm_builder_i64(b[0], 0);
            fm_builder_str(b[1], (fm_str){name, (size_t)len});
            fm_builder_f64(b[2], (double)(next(&seed) % 10000000) / 100);
            fm_builder_i64(b[3], (int64_t)(1 + next(&seed) % 200));
        }
        for (int i = 0; i < 4; i++)
            if (fm_builder_finish(b[i], &columns[i], NULL) != FM_OK) exit(1);
        out[n] = (fm_batch){.schema = schema, .rows = rows, .columns = columns};
    }
    return n;
}

static int write_file(const char *path, int64_t rows, const char *codec, int level)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    fm_batch window[USERS / FM_BATCH_ROWS_DECODE + 1];
    fm_parquet_write spec = {.level = level};
    fm_parquet_writer *w;
    fm_strbuf out = {0};
    fm_file *file;

    if (fm_type_parse_ddl(arena, FM_STR("window_start TIMESTAMP, user STRING, total DOUBLE, n BIGINT"), &spec.schema, &err) != FM_OK) return say(&err);
    int32_t n = make_window(arena, spec.schema, window);
    if (fm_parquet_codec_parse(fm_str_c(codec), &spec.codec, &err) != FM_OK || fm_parquet_writer_new(&spec, &w, &err) != FM_OK ||
        fm_file_open(fm_fs_real(), path, FM_OPEN_TRUNCATE, &file, &err) != FM_OK)
        return say(&err);
    double from = cpu_seconds();
    int64_t done = 0, start = INT64_C(1767225600000000);
    for (; done < rows; start += 5000000) {
        for (int32_t i = 0; i < n && done < rows; i++) {
            int64_t *starts = (int64_t *)(uintptr_t)window[i].columns[0].values;
            double *totals = (double *)(uintptr_t)window[i].columns[2].values;
            for (int32_t k = 0; k < window[i].rows; k++) starts[k] = start;
            for (int32_t k = 0; k < window[i].rows; k++) totals[k] += 0.37; /* sums hardly repeat */
            if (fm_parquet_writer_write(w, &window[i], &out, &err) != FM_OK) return say(&err);
            done += window[i].rows;
            if (out.len >= FM_BLOCK_SIZE && fm_file_write(file, out.ptr, out.len, &err) != FM_OK) return say(&err);
            if (out.len >= FM_BLOCK_SIZE) fm_strbuf_clear(&out);
        }
    }
    if (fm_parquet_writer_finish(w, &out, &err) != FM_OK || fm_file_write(file, out.ptr, out.len, &err) != FM_OK || fm_file_close(file, &err) != FM_OK)
        return say(&err);
    printf("%" PRId64 " %.3f %" PRId64 "\n", done, cpu_seconds() - from, fm_parquet_writer_result(w)->size);
    fm_parquet_writer_free(w);
    fm_strbuf_fini(&out);
    fm_arena_free(arena);
    return 0;
}

static int read_file(const char *path)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    fm_parquet_file *file;
    fm_parquet_reader *reader;
    const fm_batch *batch;
    int64_t first, rows = 0, latest = INT64_MIN, n = 0, letters = 0;
    double total = 0, from = cpu_seconds();

    if (fm_parquet_open(fm_fs_real(), path, -1, arena, &file, &err) != FM_OK) return say(&err);
    fm_parquet_read spec = {.schema = fm_parquet_schema(file)};
    if (fm_parquet_reader_new(file, &spec, &reader, &err) != FM_OK) return say(&err);
    for (;;) {
        fm_arena_reset(batches);
        if (fm_parquet_reader_next(reader, batches, &batch, &first, &err) != FM_OK) return say(&err);
        if (!batch) break;
        for (int32_t i = 0; i < batch->rows; i++) {
            int64_t t = fm_vec_i64(&batch->columns[0])[i];
            latest = t > latest ? t : latest;
            letters += fm_vec_view(&batch->columns[1])[i].len;
            total += fm_vec_f64(&batch->columns[2])[i];
            n += fm_vec_i64(&batch->columns[3])[i];
        }
        rows += batch->rows;
    }
    printf("%" PRId64 " %.3f latest %" PRId64 ", letters %" PRId64 ", total %.2f, n %" PRId64 "\n", rows, cpu_seconds() - from, latest, letters, total, n);
    fm_parquet_reader_free(reader);
    fm_parquet_close(file);
    fm_arena_free(batches);
    fm_arena_free(arena);
    return 0;
}

int main(int argc, char **argv)
{
    int64_t rows;

    if (argc >= 5 && strcmp(argv[1], "write") == 0 && fm_str_to_i64(fm_str_c(argv[3]), &rows))
        return write_file(argv[2], rows, argv[4], argc > 5 ? (int)strtol(argv[5], NULL, 10) : 0);
    if (argc == 3 && strcmp(argv[1], "read") == 0) return read_file(argv[2]);
    fprintf(stderr, "parquet write FILE ROWS CODEC [LEVEL] | parquet read FILE\n");
    return 2;
}
