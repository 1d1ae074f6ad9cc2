/* engine/memory_source.c: reads what the memory sink keeps. */
#include "engine/memory_source.h"

typedef struct memory_source {
    fm_source base;
    fm_split_reader reader;
    fm_memory_tables *tables;
    fm_str name;
    const fm_type *schema;  /* of what is delivered */
    const int32_t *wanted;
    int32_t n_wanted;
    int64_t rows;           /* delivered since the last count */
} memory_source;

static fm_status memory_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream, fm_arena *arena, const fm_type **out, fm_error *err)
{
    *out = table->schema;
    if (*out) return FM_OK;
    return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "A table in memory is made by the memory sink: CREATE STREAMING TABLE t USING memory AS SELECT ...");
}

static fm_status memory_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena, fm_source **out, fm_error *err)
{
    memory_source *m = fm_arena_one(arena, memory_source);
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted);

    if (!m || !fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < spec->n_wanted; i++) fields[i] = spec->schema->fields[spec->wanted[i]];
    m->base.type = m->reader.type = &fm_memory_source;
    m->tables = env->memory;
    m->name = fm_options_get(&spec->table->options, "name", spec->table->name);
    m->schema = fm_type_struct(arena, fields, spec->n_wanted);
    m->wanted = spec->wanted;
    m->n_wanted = spec->n_wanted;
    *out = &m->base;
    return m->schema ? FM_OK : fm_no_memory(arena, err);
}

static fm_status memory_plan(fm_source *source, fm_str start, fm_str end, int32_t workers, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    *out = fm_arena_one(arena, fm_split);
    *n = 1;
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status memory_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err)
{
    *out = &((memory_source *)source)->reader;
    return FM_OK;
}

static fm_status push_batch(memory_source *m, const fm_batch *in, fm_arena *arena, fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                            void *ctx, fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, m->n_wanted);

    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < m->n_wanted; i++) columns[i] = in->columns[m->wanted[i]];
    fm_batch batch = {.schema = m->schema, .rows = in->rows, .columns = columns};
    m->rows += in->rows;
    return push(ctx, &batch, err);
}

static fm_status memory_read(fm_split_reader *reader, const fm_split *split, fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                             void *ctx, fm_wake *cancelled, fm_error *err)
{
    memory_source *m = (memory_source *)((char *)reader - offsetof(memory_source, reader));
    fm_arena *arena = fm_arena_new(0);
    const fm_batch **batches;
    int32_t n = 0;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_memory_table_read(m->tables, m->name, arena, &batches, &n, err);
    for (int32_t i = 0; st == FM_OK && i < n; i++) st = push_batch(m, batches[i], arena, push, ctx, err);
    fm_arena_free(arena);
    return st;
}

static void memory_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    memory_source *m = (memory_source *)((char *)reader - offsetof(memory_source, reader));

    *rows = m->rows;
    *bad = 0;
    m->rows = 0;
}

static void memory_reader_close(fm_split_reader *reader) {}
static void memory_close(fm_source *source) {}
static void memory_description(const fm_source *source, fm_strbuf *out) { fm_strbuf_printf(out, "MemoryTable[%.*s]", FM_STR_ARG(((const memory_source *)source)->name)); }

static const char *const memory_options[] = {"name", NULL};
const fm_source_type fm_memory_source = {
    .name = "memory", .options = memory_options, .can_batch = true, .schema = memory_schema, .open = memory_open, .close = memory_close,
    .plan_splits = memory_plan, .description = memory_description, .reader_open = memory_reader_open, .reader_read = memory_read,
    .reader_counts = memory_counts, .reader_close = memory_reader_close,
};
