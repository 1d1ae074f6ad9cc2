/* table/delta/delta_checkpoint.c: reading checkpoints. */
#include "table/delta/delta_checkpoint.h"

#include <inttypes.h>

#include "format/parquet.h"
#include "table/delta/delta_checkpoint_schema.h"

/* ---- Values of a lane --------------------------------------------------------------------------------------- */

static fm_str lane_text(const fm_vec *v, int64_t i) { return fm_vec_is_null(v, i) ? (fm_str){0} : fm_vec_str(v, i); }
static int64_t lane_i64(const fm_vec *v, int64_t i, int64_t absent) { return fm_vec_is_null(v, i) ? absent : fm_vec_i64(v)[i]; }
static int32_t lane_i32(const fm_vec *v, int64_t i, int32_t absent) { return fm_vec_is_null(v, i) ? absent : fm_vec_i32(v)[i]; }
static bool lane_bool(const fm_vec *v, int64_t i, bool absent) { return fm_vec_is_null(v, i) ? absent : fm_vec_bool(v)[i] != 0; }

/* Texts of the elements [from, to) of a child; a null gives no ptr, an empty one some. */
static fm_status lane_texts(const fm_vec *v, int32_t from, int32_t to, fm_arena *arena, fm_str **out, fm_error *err)
{
    *out = fm_arena_array(arena, fm_str, to - from);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = from; i < to; i++) {
        if (fm_vec_is_null(v, i)) continue;
        (*out)[i - from] = fm_vec_str(v, i);
        if (!(*out)[i - from].ptr) (*out)[i - from] = FM_STR("");
    }
    return FM_OK;
}

static fm_status lane_map(const fm_vec *v, int64_t i, fm_arena *arena, fm_delta_map *out, fm_error *err)
{
    *out = (fm_delta_map){0};
    if (fm_vec_is_null(v, i)) return FM_OK;
    out->n = v->offsets[i + 1] - v->offsets[i];
    FM_TRY(lane_texts(&v->children[0], v->offsets[i], v->offsets[i + 1], arena, &out->keys, err));
    return lane_texts(&v->children[1], v->offsets[i], v->offsets[i + 1], arena, &out->values, err);
}

static fm_status lane_list(const fm_vec *v, int64_t i, fm_arena *arena, fm_str **out, int32_t *n, bool *there, fm_error *err)
{
    *n = 0;
    *out = NULL;
    *there = !fm_vec_is_null(v, i);
    if (!*there) return FM_OK;
    *n = v->offsets[i + 1] - v->offsets[i];
    return lane_texts(&v->children[0], v->offsets[i], v->offsets[i + 1], arena, out, err);
}

/* ---- Actions of a row --------------------------------------------------------------------------------------- */

static fm_status lacks(const char *what, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "A checkpoint of the Delta log is damaged: %s.", what);
}

static fm_status lane_dv(const fm_vec *v, int64_t i, fm_arena *arena, const fm_delta_dv **out, fm_error *err)
{
    *out = NULL;
    if (fm_vec_is_null(v, i) || fm_vec_is_null(&v->children[0], i)) return FM_OK;
    fm_delta_dv *dv = fm_arena_one(arena, fm_delta_dv);
    fm_str storage = lane_text(&v->children[0], i);
    if (!dv) return fm_no_memory(arena, err);
    if (storage.len != 1 || !strchr("uip", storage.ptr[0])) return lacks("a deletion vector is of no known kind", err);
    *dv = (fm_delta_dv){.storage = storage.ptr[0], .path = lane_text(&v->children[1], i), .offset = lane_i32(&v->children[2], i, -1),
                        .size = lane_i32(&v->children[3], i, 0), .cardinality = lane_i64(&v->children[4], i, 0)};
    if (dv->size < 0 || dv->cardinality < 0 || dv->offset < -1) return lacks("a deletion vector is out of its bounds", err);
    *out = dv;
    return FM_OK;
}

static fm_status read_add(const fm_vec *v, int64_t i, fm_arena *arena, fm_delta_file *f, fm_error *err)
{
    const fm_vec *c = v->children;

    *f = (fm_delta_file){.path = lane_text(&c[FM_CP_ADD_PATH], i), .size = lane_i64(&c[FM_CP_ADD_SIZE], i, -1),
                         .modified_ms = lane_i64(&c[FM_CP_ADD_MODIFIED], i, 0), .deleted_ms = -1,
                         .data_change = lane_bool(&c[FM_CP_ADD_CHANGE], i, true), .stats = lane_text(&c[FM_CP_ADD_STATS], i),
                         .has_tags = !fm_vec_is_null(&c[FM_CP_ADD_TAGS], i), .base_row_id = lane_i64(&c[FM_CP_ADD_ROW_ID], i, -1),
                         .row_commit_version = lane_i64(&c[FM_CP_ADD_ROW_VERSION], i, -1),
                         .clustering_provider = lane_text(&c[FM_CP_ADD_CLUSTERING], i)};
    if (f->path.len == 0 || f->size < 0) return lacks("an added file has no path or no size", err);
    FM_TRY(lane_map(&c[FM_CP_ADD_VALUES], i, arena, &f->partition_values, err));
    FM_TRY(lane_map(&c[FM_CP_ADD_TAGS], i, arena, &f->tags, err));
    return lane_dv(&c[FM_CP_ADD_DV], i, arena, &f->dv, err);
}

static fm_status read_remove(const fm_vec *v, int64_t i, fm_arena *arena, fm_delta_file *f, fm_error *err)
{
    const fm_vec *c = v->children;

    *f = (fm_delta_file){.path = lane_text(&c[FM_CP_REMOVE_PATH], i), .size = lane_i64(&c[FM_CP_REMOVE_SIZE], i, -1),
                         .deleted_ms = lane_i64(&c[FM_CP_REMOVE_DELETED], i, -1), .data_change = lane_bool(&c[FM_CP_REMOVE_CHANGE], i, true),
                         .extended = lane_bool(&c[FM_CP_REMOVE_EXTENDED], i, false), .base_row_id = lane_i64(&c[FM_CP_REMOVE_ROW_ID], i, -1),
                         .row_commit_version = lane_i64(&c[FM_CP_REMOVE_ROW_VERSION], i, -1)};
    if (f->path.len == 0) return lacks("a removed file has no path", err);
    FM_TRY(lane_map(&c[FM_CP_REMOVE_VALUES], i, arena, &f->partition_values, err));
    return lane_dv(&c[FM_CP_REMOVE_DV], i, arena, &f->dv, err);
}

static fm_status read_metadata(const fm_vec *v, int64_t i, fm_arena *arena, fm_delta_metadata *m, fm_error *err)
{
    const fm_vec *c = v->children, *format = &c[FM_CP_META_FORMAT];
    bool there;

    *m = (fm_delta_metadata){.id = lane_text(&c[FM_CP_META_ID], i), .name = lane_text(&c[FM_CP_META_NAME], i),
                             .description = lane_text(&c[FM_CP_META_DESCRIPTION], i), .schema = lane_text(&c[FM_CP_META_SCHEMA], i),
                             .created_ms = lane_i64(&c[FM_CP_META_CREATED], i, -1), .provider = FM_STR("parquet")};
    if (!m->schema.ptr) m->schema = FM_STR(FM_DELTA_NO_COLUMNS);
    if (!m->id.ptr) m->id = FM_STR("");
    if (!fm_vec_is_null(format, i)) {
        fm_str provider = lane_text(&format->children[0], i);
        if (provider.len) m->provider = provider;
        FM_TRY(lane_map(&format->children[1], i, arena, &m->format_options, err));
    }
    FM_TRY(lane_list(&c[FM_CP_META_PARTITIONS], i, arena, &m->partition_columns, &m->n_partition_columns, &there, err));
    return lane_map(&c[FM_CP_META_CONFIGURATION], i, arena, &m->configuration, err);
}

static fm_status read_protocol(const fm_vec *v, int64_t i, fm_arena *arena, fm_delta_protocol *p, fm_error *err)
{
    const fm_vec *c = v->children;

    *p = (fm_delta_protocol){.min_reader = lane_i32(&c[FM_CP_PROTOCOL_READER], i, 0), .min_writer = lane_i32(&c[FM_CP_PROTOCOL_WRITER], i, 0)};
    FM_TRY(lane_list(&c[FM_CP_PROTOCOL_READER_FEATURES], i, arena, &p->reader_features, &p->n_reader_features, &p->has_reader_features, err));
    return lane_list(&c[FM_CP_PROTOCOL_WRITER_FEATURES], i, arena, &p->writer_features, &p->n_writer_features, &p->has_writer_features, err);
}

static fm_status read_row(const fm_batch *b, int64_t i, fm_arena *arena, fm_delta_action *a, fm_error *err)
{
    const fm_vec *c = b->columns;

    a->kind = FM_DELTA_OTHER;
    if (!fm_vec_is_null(&c[FM_CP_ADD], i)) {
        a->kind = FM_DELTA_ADD;
        return read_add(&c[FM_CP_ADD], i, arena, &a->u.file, err);
    }
    if (!fm_vec_is_null(&c[FM_CP_REMOVE], i)) {
        a->kind = FM_DELTA_REMOVE;
        return read_remove(&c[FM_CP_REMOVE], i, arena, &a->u.file, err);
    }
    if (!fm_vec_is_null(&c[FM_CP_TXN], i)) {
        const fm_vec *t = c[FM_CP_TXN].children;
        a->kind = FM_DELTA_TXN;
        a->u.txn = (fm_delta_txn){lane_text(&t[FM_CP_TXN_APP], i), lane_i64(&t[FM_CP_TXN_VERSION], i, 0), lane_i64(&t[FM_CP_TXN_UPDATED], i, -1)};
        return a->u.txn.app_id.ptr ? FM_OK : lacks("a txn names no application", err);
    }
    if (!fm_vec_is_null(&c[FM_CP_METADATA], i)) {
        a->kind = FM_DELTA_METADATA;
        return read_metadata(&c[FM_CP_METADATA], i, arena, &a->u.metadata, err);
    }
    if (!fm_vec_is_null(&c[FM_CP_PROTOCOL], i)) {
        a->kind = FM_DELTA_PROTOCOL;
        return read_protocol(&c[FM_CP_PROTOCOL], i, arena, &a->u.protocol, err);
    }
    if (!fm_vec_is_null(&c[FM_CP_DOMAIN], i)) {
        const fm_vec *d = c[FM_CP_DOMAIN].children;
        a->kind = FM_DELTA_DOMAIN;
        a->u.domain = (fm_delta_domain){lane_text(&d[FM_CP_DOMAIN_NAME], i), lane_text(&d[FM_CP_DOMAIN_CONFIGURATION], i),
                                        lane_bool(&d[FM_CP_DOMAIN_REMOVED], i, false)};
        return a->u.domain.domain.ptr ? FM_OK : lacks("a domain has no name", err);
    }
    if (!fm_vec_is_null(&c[FM_CP_SIDECAR], i)) {
        const fm_vec *s = c[FM_CP_SIDECAR].children;
        a->kind = FM_DELTA_SIDECAR;
        a->u.sidecar = (fm_delta_sidecar){lane_text(&s[FM_CP_SIDECAR_PATH], i), lane_i64(&s[FM_CP_SIDECAR_SIZE], i, -1),
                                          lane_i64(&s[FM_CP_SIDECAR_MODIFIED], i, 0)};
    }
    return FM_OK;
}

/* ---- Files -------------------------------------------------------------------------------------------------- */

typedef struct cp_reader {
    const fm_delta_log *log;
    fm_arena *arena, *batch;
    const fm_type *schema;
    fm_delta_visit visit;
    void *ctx;
    fm_str *sidecars; /* [n_sidecars] */
    int32_t n_sidecars, cap_sidecars;
} cp_reader;

static fm_status keep_sidecar(cp_reader *r, fm_str path, fm_error *err)
{
    if (path.len == 0) return lacks("a sidecar has no path", err);
    if (r->n_sidecars == r->cap_sidecars) {
        int32_t cap = r->cap_sidecars ? r->cap_sidecars * 2 : 16;
        fm_str *more = cap > FM_DELTA_CHECKPOINT_PARTS_MAX ? NULL : fm_arena_array(r->arena, fm_str, cap);
        if (!more) return fm_no_memory(r->arena, err);
        for (int32_t i = 0; i < r->n_sidecars; i++) more[i] = r->sidecars[i];
        r->sidecars = more;
        r->cap_sidecars = cap;
    }
    r->sidecars[r->n_sidecars] = fm_arena_str(r->arena, path);
    return r->sidecars[r->n_sidecars++].ptr ? FM_OK : fm_no_memory(r->arena, err);
}

static fm_status take(void *ctx, const fm_delta_action *a, fm_error *err)
{
    cp_reader *r = ctx;

    return a->kind == FM_DELTA_SIDECAR ? keep_sidecar(r, a->u.sidecar.path, err) : r->visit(r->ctx, a, err);
}

static fm_status read_rows(cp_reader *r, fm_parquet_reader *reader, fm_error *err)
{
    fm_arena *rows = fm_arena_new(0); /* of one batch's actions */
    const fm_batch *batch;
    int64_t first_row;
    fm_delta_action action;
    fm_status st = rows ? FM_OK : fm_no_memory(NULL, err);

    while (st == FM_OK) {
        fm_arena_reset(r->batch);
        fm_arena_reset(rows);
        st = fm_parquet_reader_next(reader, r->batch, &batch, &first_row, err);
        if (st != FM_OK || !batch) break;
        for (int64_t i = 0; st == FM_OK && i < batch->rows; i++) {
            st = read_row(batch, i, rows, &action, err);
            if (st == FM_OK) st = take(r, &action, err);
        }
    }
    fm_arena_free(rows);
    return st;
}

static fm_status read_parquet(cp_reader *r, const char *path, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_parquet_file *file = NULL;
    fm_parquet_reader *reader = NULL;
    fm_parquet_read spec = {.schema = r->schema, .case_sensitive = true};

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_parquet_open(r->log->fs, path, -1, arena, &file, err);
    if (st == FM_OK) st = fm_parquet_reader_new(file, &spec, &reader, err);
    if (st == FM_OK) st = read_rows(r, reader, err);
    fm_parquet_reader_free(reader);
    fm_parquet_close(file);
    fm_arena_free(arena);
    return fm_context(err, st, "reading the checkpoint '%s'", path);
}

static fm_status read_all(cp_reader *r, const fm_delta_listed_checkpoint *c, fm_error *err)
{
    FM_TRY(fm_type_parse_ddl(r->arena, FM_STR(FM_DELTA_CHECKPOINT_DDL FM_DELTA_CHECKPOINT_V2_DDL), &r->schema, err));
    for (int32_t i = 0; i < c->n; i++) {
        fm_str path = fm_arena_printf(r->arena, "%s/%.*s", r->log->dir.ptr, FM_STR_ARG(c->names[i]));
        if (!path.ptr) return fm_no_memory(r->arena, err);
        if (c->is_json) FM_TRY(fm_delta_log_read(r->log, c->names[i], r->arena, take, r, err));
        else FM_TRY(read_parquet(r, path.ptr, err));
    }
    for (int32_t i = 0; i < r->n_sidecars; i++) {
        fm_str name = r->sidecars[i];
        if (memchr(name.ptr, '/', name.len)) return lacks("a sidecar is named by a path", err);
        fm_str path = fm_arena_printf(r->arena, "%s/_sidecars/%.*s", r->log->dir.ptr, FM_STR_ARG(name));
        if (!path.ptr) return fm_no_memory(r->arena, err);
        FM_TRY(read_parquet(r, path.ptr, err));
    }
    return FM_OK;
}

fm_status fm_delta_checkpoint_read(const fm_delta_log *log, const fm_delta_listed_checkpoint *c, fm_delta_visit visit, void *ctx,
                                   fm_error *err)
{
    cp_reader r = {.log = log, .arena = fm_arena_new(0), .batch = fm_arena_new(0), .visit = visit, .ctx = ctx};
    fm_status st = r.arena && r.batch ? read_all(&r, c, err) : fm_no_memory(NULL, err);

    fm_arena_free(r.arena);
    fm_arena_free(r.batch);
    return st;
}
