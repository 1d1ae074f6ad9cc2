/* sink/memory_table.c: tables in memory, under one lock. Copying rows in and out is quick, so one lock is enough. */
#include "sink/memory_table.h"

#include <stdlib.h>

#include "os/thread.h"
#include "sink/memory_table_impl.h"

/* Rows of one micro-batch, in an arena of their own. */
typedef struct entry {
    int64_t batch_id;
    fm_row_list rows;
} entry;

typedef struct table table;

struct fm_memory_stream {
    fm_memory_stream *next; /* in the table */
    table *table;
    char *query_id;
    int64_t last_batch; /* -1: none */
    bool open;
};

struct table {
    table *next;
    char *name;
    fm_arena *arena;        /* schema */
    const fm_type *schema;
    fm_memory_tables *owner;
    entry **entries;
    int32_t n, cap;
    fm_memory_stream *streams;
};

struct fm_memory_tables {
    fm_mutex *mutex;
    table *first;
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

static void drop_rows(table *t)
{
    for (int32_t i = 0; i < t->n; i++) {
        fm_row_list_fini(&t->entries[i]->rows);
        free(t->entries[i]);
    }
    t->n = 0;
}

static void drop_streams(table *t)
{
    while (t->streams) {
        fm_memory_stream *next = t->streams->next;
        free(t->streams->query_id);
        free(t->streams);
        t->streams = next;
    }
}

static void free_table(table *t)
{
    drop_rows(t);
    drop_streams(t);
    free(t->entries);
    free(t->name);
    fm_arena_free(t->arena);
    free(t);
}

void fm_memory_tables_free(fm_memory_tables *tables)
{
    if (!tables) return;
    while (tables->first) {
        table *next = tables->first->next;
        free_table(tables->first);
        tables->first = next;
    }
    fm_mutex_free(tables->mutex);
    free(tables);
}

/* Under the lock, as all that follows. */
static table *find(fm_memory_tables *tables, fm_str name)
{
    table *t = tables->first;

    while (t && !fm_str_eq_ci(fm_str_c(t->name), name)) t = t->next;
    return t;
}

static char *copy_text(fm_str text)
{
    char *p = malloc(text.len + 1);

    if (!p) return NULL;
    if (text.len) memcpy(p, text.ptr, text.len);
    p[text.len] = 0;
    return p;
}

static bool set_schema(table *t, const fm_type *schema)
{
    fm_arena *arena = fm_arena_new(0);
    const fm_type *copy = arena ? fm_type_copy(arena, schema) : NULL;

    if (!copy) {
        fm_arena_free(arena);
        return false;
    }
    fm_arena_free(t->arena);
    t->arena = arena;
    t->schema = copy;
    return true;
}

static table *add_table(fm_memory_tables *tables, fm_str name)
{
    table *t = calloc(1, sizeof *t), **end = &tables->first;

    if (!t) return NULL;
    t->owner = tables;
    t->name = copy_text(name);
    if (!t->name) {
        free(t);
        return NULL;
    }
    while (*end) end = &(*end)->next;
    *end = t;
    return t;
}

static bool is_open(const table *t)
{
    for (const fm_memory_stream *s = t->streams; s; s = s->next) {
        if (s->open) return true;
    }
    return false;
}

/* ---- Streams ----------------------------------------------------------------------------------------------- */

/* The stream of this query that is not open: it goes on; or a new one. */
static fm_memory_stream *take_stream(table *t, fm_str query_id)
{
    fm_memory_stream **link = &t->streams;

    for (; *link; link = &(*link)->next) {
        fm_memory_stream *s = *link;
        if (s->open || !fm_str_eq(fm_str_c(s->query_id), query_id)) continue;
        if (query_id.len == 0) s->last_batch = -1;
        return s;
    }
    fm_memory_stream *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->table = t;
    s->last_batch = -1;
    s->query_id = copy_text(query_id);
    if (!s->query_id) {
        free(s);
        return NULL;
    }
    return *link = s;
}

static bool same_owner(const table *t, fm_str query_id)
{
    for (const fm_memory_stream *s = t->streams; s; s = s->next) {
        if (!fm_str_eq(fm_str_c(s->query_id), query_id)) return false;
    }
    return true;
}

static fm_status open_locked(fm_memory_tables *tables, fm_str name, fm_str query_id, const fm_type *schema,
                             fm_memory_stream **out, fm_error *err)
{
    table *t = find(tables, name);

    if (!t) t = add_table(tables, name);
    if (!t) return fm_no_memory(NULL, err);
    bool goes_on = t->schema && same_owner(t, query_id) && fm_type_eq(t->schema, schema);
    if (!goes_on && is_open(t)) {
        return fm_fail(err, FM_CONFLICT, "FLOODMARK_MEMORY_TABLE_IN_USE",
                       "Another query is writing the memory table '%.*s'. Give this one another queryName.", FM_STR_ARG(name));
    }
    if (!goes_on) {
        drop_rows(t);
        drop_streams(t);
        if (!set_schema(t, schema)) return fm_no_memory(NULL, err);
    }
    fm_memory_stream *s = take_stream(t, query_id);
    if (!s) return fm_no_memory(NULL, err);
    s->open = true;
    *out = s;
    return FM_OK;
}

fm_status fm_memory_stream_open(fm_memory_tables *tables, fm_str name, fm_str query_id, const fm_type *schema,
                                fm_memory_stream **out, fm_error *err)
{
    fm_mutex_lock(tables->mutex);
    fm_status st = open_locked(tables, name, query_id, schema, out, err);
    fm_mutex_unlock(tables->mutex);
    return st;
}

void fm_memory_stream_close(fm_memory_stream *s)
{
    if (!s) return;
    fm_mutex *mutex = s->table->owner->mutex;
    fm_mutex_lock(mutex);
    s->open = false;
    fm_mutex_unlock(mutex);
}

bool fm_memory_stream_has(fm_memory_stream *s, int64_t batch_id)
{
    fm_mutex *mutex = s->table->owner->mutex;
    fm_mutex_lock(mutex);
    bool has = batch_id <= s->last_batch;
    fm_mutex_unlock(mutex);
    return has;
}

const fm_type *fm_memory_stream_schema(const fm_memory_stream *s) { return s->table->schema; }

static fm_status fill_entry(entry *e, const fm_row_list *const *lists, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t b = 0; b < lists[i]->n; b++) FM_TRY(fm_row_list_add(&e->rows, lists[i]->batches[b], INT64_MAX, err));
    }
    return FM_OK;
}

static fm_status add_entry(table *t, entry *e, bool replace, fm_error *err)
{
    if (replace) drop_rows(t);
    if (t->n == t->cap) {
        int32_t cap = t->cap ? t->cap * 2 : 64;
        entry **more = realloc(t->entries, (size_t)cap * sizeof *more);
        if (!more) return fm_no_memory(NULL, err);
        t->entries = more;
        t->cap = cap;
    }
    t->entries[t->n++] = e;
    return FM_OK;
}

fm_status fm_memory_stream_add(fm_memory_stream *s, int64_t batch_id, const fm_row_list *const *lists, int32_t n,
                               bool replace, fm_error *err)
{
    table *t = s->table;
    entry *e = calloc(1, sizeof *e);

    if (!e) return fm_no_memory(NULL, err);
    e->batch_id = batch_id;
    e->rows.schema = t->schema;
    fm_status st = fill_entry(e, lists, n, err);
    fm_mutex_lock(t->owner->mutex);
    if (st == FM_OK) st = add_entry(t, e, replace, err);
    if (st == FM_OK) s->last_batch = batch_id;
    fm_mutex_unlock(t->owner->mutex);
    if (st == FM_OK) return FM_OK;
    fm_row_list_fini(&e->rows);
    free(e);
    return st;
}

/* ---- Readers ----------------------------------------------------------------------------------------------- */

const fm_type *fm_memory_table_schema(fm_memory_tables *tables, fm_str name, fm_arena *arena)
{
    fm_mutex_lock(tables->mutex);
    const table *t = find(tables, name);
    const fm_type *schema = t && t->schema ? fm_type_copy(arena, t->schema) : NULL;
    fm_mutex_unlock(tables->mutex);
    return schema;
}

static fm_status copy_entry(const entry *e, const fm_type *schema, fm_arena *arena, fm_memory_batch *out, fm_error *err)
{
    *out = (fm_memory_batch){.batch_id = e->batch_id, .n = e->rows.n, .rows = e->rows.rows};
    out->batches = fm_arena_array(arena, const fm_batch *, e->rows.n);
    if (!out->batches) return fm_no_memory(arena, err);
    for (int32_t b = 0; b < e->rows.n; b++) FM_TRY(fm_batch_copy(e->rows.batches[b], schema, arena, &out->batches[b], err));
    return FM_OK;
}

static fm_status batches_locked(fm_memory_tables *tables, fm_str name, fm_arena *arena, fm_memory_batch **out,
                                int32_t *n, fm_error *err)
{
    const table *t = find(tables, name);

    if (!t || !t->schema) {
        return fm_fail(err, FM_NOT_FOUND, "TABLE_OR_VIEW_NOT_FOUND", "There is no memory table '%.*s'.", FM_STR_ARG(name));
    }
    const fm_type *schema = fm_type_copy(arena, t->schema);
    *out = fm_arena_array(arena, fm_memory_batch, t->n);
    if (!schema || !*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < t->n; i++) FM_TRY(copy_entry(t->entries[i], schema, arena, &(*out)[i], err));
    *n = t->n;
    return FM_OK;
}

fm_status fm_memory_table_batches(fm_memory_tables *tables, fm_str name, fm_arena *arena, fm_memory_batch **out,
                                  int32_t *n, fm_error *err)
{
    *out = NULL;
    *n = 0;
    fm_mutex_lock(tables->mutex);
    fm_status st = batches_locked(tables, name, arena, out, n, err);
    fm_mutex_unlock(tables->mutex);
    return st;
}

fm_status fm_memory_table_read(fm_memory_tables *tables, fm_str name, fm_arena *arena, const fm_batch ***out,
                               int32_t *n, fm_error *err)
{
    fm_memory_batch *parts;
    int32_t n_parts, total = 0;

    *out = NULL;
    *n = 0;
    FM_TRY(fm_memory_table_batches(tables, name, arena, &parts, &n_parts, err));
    for (int32_t i = 0; i < n_parts; i++) total += parts[i].n;
    *out = fm_arena_array(arena, const fm_batch *, total);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n_parts; i++) {
        for (int32_t b = 0; b < parts[i].n; b++) (*out)[(*n)++] = parts[i].batches[b];
    }
    return FM_OK;
}

const char **fm_memory_table_names(fm_memory_tables *tables, fm_arena *arena)
{
    size_t n = 0, i = 0;

    fm_mutex_lock(tables->mutex);
    for (const table *t = tables->first; t; t = t->next) n++;
    const char **names = fm_arena_array(arena, const char *, n + 1);
    for (const table *t = tables->first; names && t; t = t->next) {
        if (!t->schema) continue; /* dropped */
        names[i] = fm_arena_str(arena, fm_str_c(t->name)).ptr;
        if (!names[i++]) names = NULL;
    }
    fm_mutex_unlock(tables->mutex);
    return names;
}

fm_status fm_memory_table_drop(fm_memory_tables *tables, fm_str name, fm_error *err)
{
    fm_status st = FM_OK;

    fm_mutex_lock(tables->mutex);
    table *t = find(tables, name);
    if (!t || !t->schema) {
        st = fm_fail(err, FM_NOT_FOUND, "TABLE_OR_VIEW_NOT_FOUND", "There is no memory table '%.*s'.", FM_STR_ARG(name));
    } else {
        drop_rows(t);
        if (!is_open(t)) {
            drop_streams(t);
            t->schema = NULL;
        }
    }
    fm_mutex_unlock(tables->mutex);
    return st;
}
