/* tests/fuzz/fuzz_parquet.c: bytes as a Parquet file: every column is read, then again with conditions on the first. What is
 * read must be well-formed; anything else must be refused. */
#include "format/parquet.h"
#include "fuzz.h"

enum { BATCHES_MAX = 16 };

static void read_all(const fm_parquet_file *file, const fm_parquet_read *spec, fm_arena *arena)
{
    fm_error err = FM_ERROR_INIT;
    fm_parquet_reader *reader;
    const fm_batch *batch;
    int64_t first, next = 0;

    if (fm_parquet_reader_new(file, spec, &reader, &err) != FM_OK) return;
    for (int i = 0; i < BATCHES_MAX; i++) {
        if (fm_parquet_reader_next(reader, arena, &batch, &first, &err) != FM_OK || !batch) break;
        fm_assert(first >= next);
        next = first + batch->rows;
        fm_assert(fm_batch_verify(batch, &err) == FM_OK);
    }
    fm_parquet_reader_free(reader);
}

static void read_statistics(const fm_parquet_file *file, const fm_type *schema, fm_arena *arena)
{
    fm_error err = FM_ERROR_INIT;
    fm_parquet_stats stats;

    for (int32_t g = 0; g < fm_parquet_row_groups(file) && g < 4; g++)
        for (int32_t i = 0; i < schema->n_fields; i++)
            fm_parquet_stats_of(file, g, &schema->fields[i].name, 1, arena, &stats, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new((size_t)512 << 20);
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_parquet_file *file;

    fm_assert(fm_fs_write_atomic(fs, "/f", (fm_str){(const char *)bytes, size}, true, &err) == FM_OK);
    if (fm_parquet_open(fs, "/f", -1, arena, &file, &err) == FM_OK) {
        const fm_type *schema = fm_parquet_schema(file);
        fm_parquet_read spec = {.schema = schema};
        read_statistics(file, schema, arena);
        if (fm_parquet_check_schema(file, &err) == FM_OK) read_all(file, &spec, arena);
        if (schema->n_fields > 0 && schema->fields[0].type->id == FM_TYPE_I64) {
            int64_t x = 5;
            fm_condition eq = {.op = FM_COND_EQ, .n_path = 1, .type = fm_type_i64(), .value = {.type = fm_type_i64(), .len = 1, .values = &x}};
            fm_condition lt = eq, other = {.op = FM_COND_NOT, .left = &lt}, either = {.op = FM_COND_OR, .left = &eq, .right = &other};
            const fm_condition *all = &either;
            lt.op = FM_COND_LT;
            spec.conditions = &all;
            spec.n_conditions = 1;
            read_all(file, &spec, arena);
        }
        fm_parquet_close(file);
    }
    fm_fs_free(fs);
    fm_arena_free(arena);
    return 0;
}
