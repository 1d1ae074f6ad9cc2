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
    fm_delta_snapshot *s;
    const fm_delta_compaction *c;
    fm_arena *arena;
    small_file *files;    /* [n_files] by partition, then size */
    int32_t n_files;
    int32_t *counts;      /* [n_partitions] files of each */
    int32_t n_partitions;
    fm_delta_rewrite **bins; /* [n_bins] open until the commit is through */
    int32_t n_bins;
    fm_delta_file *adds, *removes;
    fm_delta_compacted *out;
} packing;

/* ---- Which files ---------------------------------------------------------------------------------------------- */

static bool is_taken(const packing *p, const fm_delta_entry *e)
{
    if (!e->is_live || (p->c->wants && !p->c->wants(p->c->ctx, &e->file))) return false;
    return e->file.size < p->c->small_size || (p->c->take_vectors && e->file.dv);
}

static fm_status partition_of(packing *p, fm_delta_index *known, const fm_delta_file *file, int32_t *out, fm_error *err)
{
    fm_strbuf key = {0};

    fm_delta_map_print(&file->partition_values, &key);
    fm_str text = fm_strbuf_ok(&key) ? fm_arena_str(p->arena, fm_strbuf_str(&key)) : (fm_str){0};
    fm_strbuf_fini(&key);
    if (!text.ptr) return fm_no_memory(p->arena, err);
    *out = fm_delta_index_find(known, text);
    if (*out >= 0) return FM_OK;
    *out = p->n_partitions++;
    return fm_delta_index_set(known, text, *out, err);
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
    p->bins = fm_arena_array(p->arena, fm_delta_rewrite *, n);
    if (!p->files || !p->counts || !p->bins) return fm_no_memory(p->arena, err);
    for (int32_t i = 0; st == FM_OK && i < p->s->n_entries; i++) {
        if (!is_taken(p, &p->s->entries[i])) continue;
        small_file *f = &p->files[p->n_files];
        f->file = &p->s->entries[i].file;
        st = partition_of(p, &known, f->file, &f->partition, err);
        if (st == FM_OK) p->counts[f->partition]++;
        p->n_files++;
    }
    fm_delta_index_fini(&known);
    if (p->n_files) qsort(p->files, (size_t)p->n_files, sizeof *p->files, by_partition_and_size);
    return st;
}

/* ---- Packing ---------------------------------------------------------------------------------------------------- */

/* files[n] become one. */
static fm_status pack_bin(packing *p, const small_file *files, int32_t n, fm_error *err)
{
    fm_delta_snapshot *s = p->s;
    fm_delta_rewrite_spec spec = {.log = s->log, .schema = s->schema, .metadata = &s->metadata, .zone = p->c->zone, .files_max = n, .file_size = INT64_MAX};
    const fm_delta_file *adds, *removes;
    int32_t n_adds, n_removes;
    fm_delta_compacted *out = p->out;

    FM_TRY(fm_delta_rewrite_new(&spec, &p->bins[p->n_bins], err));
    fm_delta_rewrite *rw = p->bins[p->n_bins++];
    for (int32_t i = 0; i < n; i++) FM_TRY(fm_delta_rewrite_pack(rw, files[i].file, err));
    FM_TRY(fm_delta_rewrite_finish(rw, &adds, &n_adds, &removes, &n_removes, err));
    for (int32_t i = 0; i < n_adds; i++) {
        fm_delta_file *to = &p->adds[out->n_adds++];
        *to = adds[i];
        to->data_change = false;
        out->added_size += to->size;
    }
    for (int32_t i = 0; i < n_removes; i++) {
        fm_delta_file *to = &p->removes[out->n_removes++];
        *to = removes[i];
        to->data_change = false;
        out->removed_size += to->size;
    }
    return FM_OK;
}

/* One partition's files, the smallest first. */
static fm_status pack_partition(packing *p, const small_file *files, int32_t n, fm_error *err)
{
    int32_t from = 0;
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
    return FM_OK;
}

static fm_status pack(packing *p, fm_error *err)
{
    p->adds = fm_arena_array(p->arena, fm_delta_file, p->n_files);
    p->removes = fm_arena_array(p->arena, fm_delta_file, p->n_files);
    if (!p->adds || !p->removes) return fm_no_memory(p->arena, err);
    for (int32_t i = 0, n; i < p->n_files; i += n) {
        n = p->counts[p->files[i].partition];
        if (n >= p->c->files_min) FM_TRY(pack_partition(p, &p->files[i], n, err));
    }
    return FM_OK;
}

static fm_status commit(packing *p, fm_error *err)
{
    const fm_delta_compacted *out = p->out;
    fm_strbuf predicate = {0};
    fm_delta_commit c = {.operation = "OPTIMIZE", .adds = p->adds, .n_adds = out->n_adds, .removes = p->removes, .n_removes = out->n_removes};

    fm_strbuf_add_json(&predicate, p->c->predicate.ptr ? p->c->predicate : FM_STR("[]"));
    bool ok = fm_strbuf_ok(&predicate);
    fm_str text = fm_strbuf_str(&predicate);
    if (ok) c.parameters = fm_arena_printf(p->arena, "{\"predicate\":%.*s,\"zOrderBy\":\"[]\",\"clusterBy\":\"[]\",\"auto\":%s}", FM_STR_ARG(text), p->c->is_auto ? "true" : "false");
    c.metrics = fm_arena_printf(p->arena, "{\"numRemovedFiles\":\"%" PRId32 "\",\"numRemovedBytes\":\"%" PRId64 "\",\"numAddedFiles\":\"%" PRId32 "\",\"numAddedBytes\":\"%" PRId64 "\"}",
                                out->n_removes, out->removed_size, out->n_adds, out->added_size);
    fm_strbuf_fini(&predicate);
    if (!c.parameters.ptr || !c.metrics.ptr) return fm_no_memory(p->arena, err);
    return fm_delta_commit_run(p->s, &c, &p->out->version, err);
}

fm_status fm_delta_compact(fm_delta_snapshot *s, const fm_delta_compaction *c, fm_delta_compacted *out, fm_error *err)
{
    packing p = {.s = s, .c = c, .arena = fm_arena_new(0), .out = out};
    bool keep = false;

    *out = (fm_delta_compacted){.version = s->version};
    fm_status st = p.arena ? fm_delta_check_write(&s->protocol, &s->metadata, s->schema, s->log->root, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) st = choose(&p, err);
    if (st == FM_OK) st = pack(&p, err);
    if (st == FM_OK && out->n_removes) {
        st = commit(&p, err);
        keep = st == FM_OK || st == FM_UNAVAILABLE; /* the commit may be there */
    }
    for (int32_t i = 0; i < p.n_bins; i++) fm_delta_rewrite_free(p.bins[i], keep);
    fm_arena_free(p.arena);
    return st;
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

void fm_delta_auto_compact(fm_delta_snapshot *s, const fm_options *session, const fm_zone *zone)
{
    int64_t max = session_number(session, "spark.databricks.delta.autoCompact.maxFileSize", MAX_SIZE_DEFAULT);
    int64_t files = session_number(session, "spark.databricks.delta.autoCompact.minNumFiles", MIN_FILES_DEFAULT);
    fm_delta_compaction c = {.file_size = max, .is_auto = true, .zone = zone, .files_min = files > INT32_MAX ? INT32_MAX : (int32_t)files};
    fm_delta_compacted out;

    if (!is_on(&s->metadata, session, "spark.databricks.delta.autoCompact.enabled", "delta.autoOptimize.autoCompact")) return;
    c.small_size = session_number(session, "spark.databricks.delta.autoCompact.minFileSize", max / 2);
    (void)fm_delta_compact(s, &c, &out, NULL);
}
