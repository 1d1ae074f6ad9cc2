/* table/delta/delta_compact.c: OPTIMIZE's work. */
#include "table/delta/delta_compact.h"

#include <inttypes.h>
#include <stdlib.h>

#include "table/delta/delta_rewrite.h"

enum { MIN_FILES_DEFAULT = 50 };
#define MAX_SIZE_DEFAULT (INT64_C(128) << 20)

/* A file that may be packed. */
typedef struct small_file {
    const fm_delta_file *file;
    int32_t partition; /* number, in the order they come */
} small_file;

typedef struct packing {
    const fm_delta_snapshot *s;
    const fm_delta_compaction *c;
    fm_arena *arena;
    small_file *files;    /* [n_files] by partition, then size */
    int32_t n_files;
    int32_t *counts;      /* [n_partitions] files of each */
    int32_t n_partitions;
    fm_delta_packed *out;
} packing;

/* ---- Which files ---------------------------------------------------------------------------------------------- */

static fm_status is_taken(const packing *p, const fm_delta_file *file, bool *taken, fm_error *err)
{
    *taken = true;
    if (p->c->wants) FM_TRY(p->c->wants(p->c->ctx, file, taken, err));
    p->out->n_considered += *taken;
    *taken = *taken && (file->size < p->c->small_size || (p->c->take_vectors && file->dv));
    return FM_OK;
}

/* The number of a file's partition: by the values, in the order of the partition columns. */
static fm_status partition_of(packing *p, fm_delta_index *known, const fm_delta_file *file, int32_t *out, fm_error *err)
{
    const fm_delta_schema *schema = p->s->schema;
    fm_strbuf text = {0};

    for (int32_t i = 0; i < schema->n_partitions; i++) {
        const fm_str *v = fm_delta_map_find(&file->partition_values, schema->fields[schema->partitions[i]].physical);
        if (v && v->len) fm_strbuf_add_json(&text, *v);
        fm_strbuf_add_char(&text, ',');
    }
    fm_str key = fm_strbuf_ok(&text) ? fm_arena_str(p->arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    if (!key.ptr) return fm_no_memory(p->arena, err);
    *out = fm_delta_index_find(known, key);
    if (*out >= 0) return FM_OK;
    *out = p->n_partitions++;
    return fm_delta_index_set(known, key, *out, err);
}

static int by_partition_and_size(const void *a, const void *b)
{
    const small_file *x = a, *y = b;

    if (x->partition != y->partition) return x->partition < y->partition ? -1 : 1;
    if (x->file->size != y->file->size) return x->file->size < y->file->size ? -1 : 1;
    return fm_str_cmp(x->file->path, y->file->path);
}

static fm_status choose(packing *p, fm_error *err)
{
    fm_delta_index known = {0};
    fm_status st = FM_OK;
    int32_t n = p->s->n_live;

    p->files = fm_arena_array(p->arena, small_file, n);
    p->counts = fm_arena_array(p->arena, int32_t, n);
    if (!p->files || !p->counts) return fm_no_memory(p->arena, err);
    for (int32_t i = 0; st == FM_OK && i < p->s->n_entries; i++) {
        const fm_delta_file *file = &p->s->entries[i].file;
        bool taken = false;
        if (p->s->entries[i].is_live) st = is_taken(p, file, &taken, err);
        if (st != FM_OK || !taken) continue;
        small_file *f = &p->files[p->n_files++];
        f->file = file;
        st = partition_of(p, &known, file, &f->partition, err);
        if (st == FM_OK) p->counts[f->partition]++;
    }
    fm_delta_index_fini(&known);
    if (p->n_files) qsort(p->files, (size_t)p->n_files, sizeof *p->files, by_partition_and_size);
    return st;
}

/* ---- Packing ---------------------------------------------------------------------------------------------------- */

/* files[n] become one. */
static fm_status pack_bin(packing *p, const small_file *files, int32_t n, fm_error *err)
{
    const fm_delta_snapshot *s = p->s;
    fm_delta_rewrite_spec spec = {.log = s->log, .schema = s->schema, .metadata = &s->metadata, .zone = p->c->zone, .files_max = n, .file_size = INT64_MAX};
    const fm_delta_file *adds, *removes;
    int32_t n_adds, n_removes;
    fm_delta_packed *out = p->out;

    FM_TRY(fm_delta_rewrite_new(&spec, &out->bins[out->n_bins], err));
    fm_delta_rewrite *rw = out->bins[out->n_bins++];
    for (int32_t i = 0; i < n; i++) FM_TRY(fm_delta_rewrite_pack(rw, files[i].file, err));
    FM_TRY(fm_delta_rewrite_finish(rw, &adds, &n_adds, &removes, &n_removes, err));
    for (int32_t i = 0; i < n_adds; i++) {
        out->adds[out->n_adds] = adds[i];
        out->adds[out->n_adds++].data_change = false;
    }
    for (int32_t i = 0; i < n_removes; i++) {
        out->removes[out->n_removes] = removes[i];
        out->removes[out->n_removes++].data_change = false;
    }
    return FM_OK;
}

/* One partition's files, the smallest first. */
static fm_status pack_partition(packing *p, const small_file *files, int32_t n, fm_error *err)
{
    int32_t from = 0, bins = p->out->n_bins;
    int64_t size = 0;

    for (int32_t i = 0; i <= n; i++) {
        if (i < n && (i == from || size + files[i].file->size <= p->c->file_size)) {
            size += files[i].file->size;
            continue;
        }
        if (i - from > 1 || (p->c->take_vectors && files[from].file->dv)) FM_TRY(pack_bin(p, &files[from], i - from, err));
        from = i;
        size = i < n ? files[i].file->size : 0;
    }
    p->out->n_partitions += p->out->n_bins > bins;
    return FM_OK;
}

fm_status fm_delta_pack(const fm_delta_snapshot *s, const fm_delta_compaction *c, fm_arena *arena, fm_delta_packed *out, fm_error *err)
{
    packing p = {.s = s, .c = c, .arena = arena, .out = out};

    *out = (fm_delta_packed){0};
    FM_TRY(fm_delta_check_write(&s->protocol, &s->metadata, s->schema, s->log->root, err));
    FM_TRY(choose(&p, err));
    out->adds = fm_arena_array(arena, fm_delta_file, p.n_files);
    out->removes = fm_arena_array(arena, fm_delta_file, p.n_files);
    out->bins = fm_arena_array(arena, fm_delta_rewrite *, p.n_files);
    if (!out->adds || !out->removes || !out->bins) return fm_no_memory(arena, err);
    for (int32_t i = 0, n; i < p.n_files; i += n) {
        n = p.counts[p.files[i].partition];
        if (n >= c->files_min) FM_TRY(pack_partition(&p, &p.files[i], n, err));
    }
    return FM_OK;
}

void fm_delta_packed_free(fm_delta_packed *p, bool keep_files)
{
    for (int32_t i = 0; i < p->n_bins; i++) fm_delta_rewrite_free(p->bins[i], keep_files);
    p->n_bins = 0;
}

/* ---- By itself ---------------------------------------------------------------------------------------------------- */

static int64_t session_number(const fm_options *session, const char *key, int64_t absent)
{
    int64_t n;

    return fm_options_i64(session, key, absent, 0, INT64_MAX, &n, NULL) == FM_OK ? n : absent;
}

/* A key of the session goes before the property of the table. */
static bool is_on(const fm_delta_metadata *m, const fm_options *session, const char *key, const char *property)
{
    const fm_option *said = fm_options_find(session, key);

    if (said) return fm_str_eq_ci(said->value, FM_STR("true"));
    return fm_delta_property(m, "delta.autoOptimize", false) || fm_delta_property(m, property, false);
}

bool fm_delta_optimizes_writes(const fm_delta_metadata *m, const fm_options *session)
{
    return is_on(m, session, "spark.databricks.delta.optimizeWrite.enabled", "delta.autoOptimize.optimizeWrite");
}

static fm_status commit(fm_delta_snapshot *s, const fm_delta_packed *p, fm_arena *arena)
{
    fm_delta_commit c = {.operation = "OPTIMIZE", .no_data_change = true, .adds = p->adds, .n_adds = p->n_adds, .removes = p->removes, .n_removes = p->n_removes,
                         .parameters = FM_STR("{\"predicate\":\"[]\",\"zOrderBy\":\"[]\",\"clusterBy\":\"[]\",\"auto\":true}")};
    int64_t added = 0, removed = 0, version;

    for (int32_t i = 0; i < p->n_adds; i++) added += p->adds[i].size;
    for (int32_t i = 0; i < p->n_removes; i++) removed += p->removes[i].size;
    c.metrics = fm_arena_printf(arena, "{\"numRemovedFiles\":\"%" PRId32 "\",\"numRemovedBytes\":\"%" PRId64 "\",\"numAddedFiles\":\"%" PRId32 "\",\"numAddedBytes\":\"%" PRId64 "\"}",
                                p->n_removes, removed, p->n_adds, added);
    return c.metrics.ptr ? fm_delta_commit_run(s, &c, &version, NULL) : FM_LIMIT;
}

void fm_delta_auto_compact(fm_delta_snapshot *s, const fm_options *session, const fm_zone *zone)
{
    int64_t max = session_number(session, "spark.databricks.delta.autoCompact.maxFileSize", MAX_SIZE_DEFAULT);
    int64_t files = session_number(session, "spark.databricks.delta.autoCompact.minNumFiles", MIN_FILES_DEFAULT);
    fm_delta_compaction c = {.file_size = max, .zone = zone, .files_min = files > INT32_MAX ? INT32_MAX : (int32_t)files};

    if (!is_on(&s->metadata, session, "spark.databricks.delta.autoCompact.enabled", "delta.autoOptimize.autoCompact")) return;
    c.small_size = session_number(session, "spark.databricks.delta.autoCompact.minFileSize", max / 2);
    fm_arena *arena = fm_arena_new(0);
    fm_delta_packed packed = {0};
    fm_status st = arena ? fm_delta_pack(s, &c, arena, &packed, NULL) : FM_LIMIT;
    if (st == FM_OK && packed.n_removes) st = commit(s, &packed, arena);
    fm_delta_packed_free(&packed, st == FM_OK || st == FM_UNAVAILABLE); /* the commit may be there */
    fm_arena_free(arena);
}
