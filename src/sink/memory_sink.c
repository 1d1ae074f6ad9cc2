/* sink/memory_sink.c: the memory sink, and the tables it writes. */
#include <stdlib.h>

#include "sink/held_rows.h"
#include "sink/memory_table.h"
#include "sink/sink.h"
#include "sink/sinks.h"

/* ---- Tables ------------------------------------------------------------------------------------------------ */

typedef struct writer_mark {
    fm_str query;
    int64_t batch_id;      /* the last one taken */
} writer_mark;

typedef struct memory_table {
    struct memory_table *next;
    fm_arena *names;       /* name, schema, marks */
    fm_str name;
    fm_held_rows rows;
    writer_mark marks[16];
    int32_t n_marks;
} memory_table;

struct fm_memory_tables {
    fm_mutex *mutex;
    memory_table *first;
};

fm_memory_tables *fm_memory_tables_new(void)
{
    fm_memory_tables *t = calloc(1, sizeof *t);

    if (!t) return NULL;
    t->mutex = fm_mutex_new();
    if (t->mutex) return t;
    free(t);
    return NULL;
}

void fm_memory_tables_free(fm_memory_tables *t)
{
    if (!t) return;
    for (memory_table *m = t->first; m;) {
        memory_table *next = m->next;
        fm_arena_free(m->rows.arena);
        fm_arena_free(m->names);
        free(m);
        m = next;
    }
    fm_mutex_free(t->mutex);
    free(t);
}

static memory_table *find(fm_memory_tables *t, fm_str name)
{
    for (memory_table *m = t->first; m; m = m->next) {
        if (fm_str_eq_ci(m->name, name)) return m;
    }
    return NULL;
}

const fm_type *fm_memory_table_schema(fm_memory_tables *t, fm_str name, fm_arena *arena)
{
    fm_mutex_lock(t->mutex);
    memory_table *m = find(t, name);
    const fm_type *schema = m ? fm_type_copy(arena, m->rows.schema) : NULL;
    fm_mutex_unlock(t->mutex);
    return schema;
}

static fm_status declare(fm_memory_tables *t, fm_str name, const fm_type *schema, fm_error *err)
{
    memory_table *m = find(t, name);

    if (m) {
        if (fm_type_eq(m->rows.schema, schema)) return FM_OK;
        return fm_fail(err, FM_INVALID, "TABLE_OR_VIEW_ALREADY_EXISTS", "There is a table '%.*s' in memory with other columns. Choose another queryName.", FM_STR_ARG(name));
    }
    m = calloc(1, sizeof *m);
    if (!m) return fm_no_memory(NULL, err);
    m->names = fm_arena_new(0);
    m->rows.arena = fm_arena_new(0);
    m->name = m->names ? fm_arena_str(m->names, name) : FM_STR("");
    m->rows.schema = m->names ? fm_type_copy(m->names, schema) : NULL;
    m->next = t->first;
    t->first = m;
    return m->rows.arena && m->name.ptr && m->rows.schema ? FM_OK : fm_no_memory(NULL, err);
}

fm_status fm_memory_table_declare(fm_memory_tables *t, fm_str name, const fm_type *schema, fm_error *err)
{
    fm_mutex_lock(t->mutex);
    fm_status st = declare(t, name, schema, err);
    fm_mutex_unlock(t->mutex);
    return st;
}

/* The mark of a writer, made when missing; the oldest goes when there are too many. */
static writer_mark *mark_of(memory_table *m, fm_str query)
{
    for (int32_t i = 0; i < m->n_marks; i++) {
        if (fm_str_eq(m->marks[i].query, query)) return &m->marks[i];
    }
    if (m->n_marks == 16) memmove(m->marks, m->marks + 1, sizeof m->marks - sizeof m->marks[0]), m->n_marks--;
    m->marks[m->n_marks] = (writer_mark){fm_arena_str(m->names, query), -1};
    return &m->marks[m->n_marks++];
}

bool fm_memory_table_has(fm_memory_tables *t, fm_str name, fm_str query, int64_t batch_id)
{
    fm_mutex_lock(t->mutex);
    memory_table *m = find(t, name);
    bool has = m && mark_of(m, query)->batch_id >= batch_id;
    fm_mutex_unlock(t->mutex);
    return has;
}

fm_status fm_memory_table_add(fm_memory_tables *t, fm_str name, fm_str query, int64_t batch_id, bool replace,
                              const fm_batch *const *batches, int32_t n, bool *added, fm_error *err)
{
    fm_status st = FM_OK;

    fm_mutex_lock(t->mutex);
    memory_table *m = find(t, name);
    writer_mark *mark = m ? mark_of(m, query) : NULL;
    *added = mark && mark->batch_id < batch_id;
    if (*added && replace) fm_held_rows_clear(&m->rows);
    for (int32_t i = 0; *added && st == FM_OK && i < n; i++) st = fm_held_rows_add(&m->rows, batches[i], err);
    if (*added && st == FM_OK) mark->batch_id = batch_id;
    fm_mutex_unlock(t->mutex);
    return st;
}

fm_status fm_memory_table_read(fm_memory_tables *t, fm_str name, fm_arena *arena, const fm_batch ***out, int32_t *n, fm_error *err)
{
    fm_mutex_lock(t->mutex);
    memory_table *m = find(t, name);
    fm_held_rows copy = {.arena = arena, .schema = m ? fm_type_copy(arena, m->rows.schema) : NULL};
    fm_status st = copy.schema ? FM_OK : fm_fail(err, FM_NOT_FOUND, "TABLE_OR_VIEW_NOT_FOUND", "There is no table '%.*s' in memory.", FM_STR_ARG(name));
    for (int32_t i = 0; st == FM_OK && i < m->rows.n; i++) st = fm_held_rows_add(&copy, m->rows.batches[i], err);
    fm_mutex_unlock(t->mutex);
    *out = copy.batches;
    *n = copy.n;
    return st;
}

/* ---- The sink ---------------------------------------------------------------------------------------------- */

typedef struct memory_sink {
    fm_sink base;
    fm_sink_writer writer;
    fm_memory_tables *tables;
    fm_str name, query;
    bool replaces;
    fm_mutex *mutex;
    fm_held_rows held;
} memory_sink;

static fm_status memory_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    const char *const *lists[] = {fm_memory_sink.options};
    memory_sink *m = fm_arena_one(arena, memory_sink);

    if (!m) return fm_no_memory(arena, err);
    FM_TRY(fm_options_check(spec->options, "The memory sink", lists, 1, err));
    if (spec->query_name.len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_NO_QUERY_NAME", "queryName must be specified for the memory sink: it is the name of its table.");
    }
    m->base.type = &fm_memory_sink;
    m->writer.sink = &m->base;
    m->tables = env->memory;
    m->name = fm_arena_str(arena, spec->query_name);
    m->query = fm_arena_str(arena, spec->query_id);
    m->replaces = spec->mode == FM_MODE_COMPLETE;
    FM_TRY(fm_memory_table_declare(m->tables, m->name, spec->schema, err));
    m->held = (fm_held_rows){.arena = fm_arena_new(0), .schema = spec->schema};
    m->mutex = fm_mutex_new();
    *out = &m->base;
    if (m->held.arena && m->mutex) return FM_OK;
    fm_arena_free(m->held.arena);
    fm_mutex_free(m->mutex);
    return fm_no_memory(NULL, err);
}

static fm_status memory_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    memory_sink *m = (memory_sink *)sink;

    fm_held_rows_clear(&m->held);
    *skip = fm_memory_table_has(m->tables, m->name, m->query, batch_id);
    return FM_OK;
}

static fm_status memory_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    *out = &((memory_sink *)sink)->writer;
    return FM_OK;
}

static fm_status memory_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    memory_sink *m = (memory_sink *)writer->sink;

    fm_mutex_lock(m->mutex);
    fm_status st = fm_held_rows_add(&m->held, batch, err);
    fm_mutex_unlock(m->mutex);
    return st;
}

static fm_status memory_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

static fm_status memory_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    memory_sink *m = (memory_sink *)sink;
    bool added;

    FM_TRY(fm_memory_table_add(m->tables, m->name, m->query, batch_id, m->replaces, m->held.batches, m->held.n, &added, err));
    *rows = m->held.rows;
    fm_held_rows_clear(&m->held);
    return FM_OK;
}

static void memory_abort(fm_sink *sink, int64_t batch_id) { fm_held_rows_clear(&((memory_sink *)sink)->held); }
static void memory_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "MemorySink"); }

static void memory_close(fm_sink *sink)
{
    memory_sink *m = (memory_sink *)sink;

    fm_arena_free(m->held.arena);
    fm_mutex_free(m->mutex);
}

static const char *const memory_options[] = {NULL};
const fm_sink_type fm_memory_sink = {
    .name = "memory", .options = memory_options, .modes = 7, .counts_rows = true, .open = memory_open, .begin = memory_begin,
    .writer_open = memory_writer_open, .write = memory_write, .writer_close = memory_writer_close, .commit = memory_commit,
    .abort = memory_abort, .description = memory_description, .close = memory_close,
};
