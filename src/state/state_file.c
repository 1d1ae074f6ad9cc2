/* state/state_file.c: state on disk: a changelog per version, a snapshot now and then.
 *
 *     state/<operator>/<version>.changelog   what micro-batch version - 1 changed
 *     state/<operator>/<version>.snapshot    everything
 *
 * Both have one form, written under a temporary name, synced, renamed, the folder synced:
 *
 *     head     magic "FMSTATE2", u32 kind, u32 operator, i64 version, i64 mark, u32 length of the schema's text,
 *              u32 size of a value, u64 checksum of the bytes before and of the text, the text
 *     blocks   u32 kind, u32 rows, i64 time, u64 size of the payload, u64 checksum of the bytes before and of the
 *              payload, the payload
 *
 *     DROP     the bucket of this time is gone, for the shards of the payload (first, last + 1: a byte each)
 *     ENTRIES  entries of this bucket, new or changed: state_block.c
 *     END      rows: how many blocks came before. Nothing follows
 *
 * Numbers are little-endian. Files know the virtual shards, not the workers: an entry's shard follows from its key.
 *
 * The newest two snapshots are kept: a damaged one falls back to the one before it, and the changelogs after that are
 * replayed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "os/random.h"
#include "os/thread.h"
#include "state/state_impl.h"

enum {
    PATH_SIZE = 4096,
    SNAPSHOTS_KEPT = 2,
    WRITE_SIZE = 256 << 10,     /* bytes gathered for one write */
    CREW_ROWS_MIN = 32 << 10,   /* changed entries from which all workers encode */
    CHANGELOGS_BEFORE_SNAPSHOT = 10, /* Spark's minDeltasForSnapshot */
    CHANGELOGS_MAX = 100        /* replayed at most, however small they are */
};
#define BLOCK_PAYLOAD_SIZE_MAX ((uint64_t)1 << 36)

typedef enum file_kind { CHANGELOG = 1, SNAPSHOT = 2 } file_kind;
typedef enum block_kind { BLOCK_DROP = 1, BLOCK_ENTRIES = 2, BLOCK_END = 3 } block_kind;

typedef struct file_head {
    char magic[8];
    uint32_t kind, operator_id;
    int64_t version, mark;
    uint32_t schema_len, value_size;
    uint64_t checksum;
} file_head;
_Static_assert(sizeof(file_head) == 48, "the head has no holes");

typedef struct block_head {
    uint32_t kind, rows;
    int64_t time_us;
    uint64_t size;
    uint64_t checksum;
} block_head;
_Static_assert(sizeof(block_head) == 32, "the head of a block has no holes");

static const char magic[8] = {'F', 'M', 'S', 'T', 'A', 'T', 'E', '2'};

/* Of the head without its checksum, and of what it is the head of. */
static uint64_t checksum_of(const void *head, size_t head_size, fm_str payload)
{
    return fm_hash_mix(fm_checksum(head, head_size - sizeof(uint64_t)) ^ UINT64_C(0x9E3779B97F4A7C15), fm_checksum(payload.ptr ? payload.ptr : "", payload.len) ^ payload.len);
}

static const char *kind_name(file_kind kind) { return kind == SNAPSHOT ? "snapshot" : "changelog"; }

static fm_status path_of(const fm_state *s, int64_t version, file_kind kind, char out[PATH_SIZE], fm_error *err)
{
    int n = snprintf(out, PATH_SIZE, "%s/%" PRId64 ".%s", s->spec.dir, version, kind_name(kind));

    if (n > 0 && n < PATH_SIZE) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG", "The path '%s' is too long.", s->spec.dir);
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

/* A file being written; several threads may add blocks, in any order but for those of one part. */
typedef struct state_output {
    fm_file *file;
    fm_mutex *mutex;   /* NULL: one thread */
    int64_t size;      /* bytes written */
    uint32_t blocks;
} state_output;

typedef struct writer {
    const fm_state *state;
    state_output *out;
    fm_strbuf text;    /* not yet written */
    uint32_t blocks;   /* in it */
} writer;

static fm_status flush(writer *w, fm_error *err)
{
    if (!fm_strbuf_ok(&w->text)) return fm_no_memory(NULL, err);
    if (w->text.len == 0) return FM_OK;
    if (w->out->mutex) fm_mutex_lock(w->out->mutex);
    fm_status st = fm_file_write(w->out->file, w->text.ptr, w->text.len, err);
    w->out->size += (int64_t)w->text.len;
    w->out->blocks += w->blocks;
    if (w->out->mutex) fm_mutex_unlock(w->out->mutex);
    fm_strbuf_clear(&w->text);
    w->blocks = 0;
    return st;
}

static fm_status put_file_head(writer *w, file_kind kind, int64_t version, fm_error *err)
{
    const fm_state *s = w->state;
    file_head head = {.kind = (uint32_t)kind, .operator_id = (uint32_t)s->spec.operator_id, .version = version, .mark = s->mark, .schema_len = (uint32_t)s->spec.schema.len, .value_size = s->spec.value_size};

    memcpy(head.magic, magic, sizeof magic);
    head.checksum = checksum_of(&head, sizeof head, s->spec.schema);
    fm_strbuf_add(&w->text, (fm_str){(const char *)&head, sizeof head});
    fm_strbuf_add(&w->text, s->spec.schema);
    return FM_OK;
}

/* A head goes in front of the payload once that is known: its place is kept. */
static size_t begin_block(writer *w)
{
    static const block_head empty;

    fm_strbuf_add(&w->text, (fm_str){(const char *)&empty, sizeof empty});
    return w->text.len;
}

static fm_status end_block(writer *w, size_t payload_at, block_kind kind, int64_t time_us, uint32_t rows, fm_error *err)
{
    if (!fm_strbuf_ok(&w->text)) return fm_no_memory(NULL, err);
    fm_str payload = {w->text.ptr + payload_at, w->text.len - payload_at};
    block_head head = {.kind = (uint32_t)kind, .rows = rows, .time_us = time_us, .size = payload.len};
    head.checksum = checksum_of(&head, sizeof head, payload);
    memcpy(w->text.ptr + payload_at - sizeof head, &head, sizeof head);
    w->blocks++;
    return w->text.len >= WRITE_SIZE ? flush(w, err) : FM_OK;
}

static fm_status put_drop(writer *w, const fm_state_part *p, int64_t time_us, fm_error *err)
{
    int32_t n = w->state->spec.parts;
    size_t at = begin_block(w);

    fm_strbuf_add_char(&w->text, (char)(p->index * FM_VIRTUAL_SHARDS / n));
    fm_strbuf_add_char(&w->text, (char)((p->index + 1) * FM_VIRTUAL_SHARDS / n));
    return end_block(w, at, BLOCK_DROP, time_us, 0, err);
}

static fm_status put_entries(writer *w, const fm_state_part *p, const fm_state_bucket *b, const uint32_t *numbers, uint32_t first, uint32_t end, fm_error *err)
{
    while (first < end) {
        uint32_t n = end - first < FM_STATE_BLOCK_ROWS ? end - first : FM_STATE_BLOCK_ROWS;
        size_t at = begin_block(w);
        FM_TRY(fm_state_block_encode(p, b, numbers ? numbers + first : NULL, first, n, &w->text, err));
        FM_TRY(end_block(w, at, BLOCK_ENTRIES, b->time_us, n, err));
        first += n;
    }
    return FM_OK;
}

static fm_status put_part(writer *w, const fm_state_part *p, file_kind kind, fm_error *err)
{
    for (int32_t i = 0; kind == CHANGELOG && i < p->n_dropped; i++) FM_TRY(put_drop(w, p, p->dropped[i], err));
    for (int32_t i = 0; i < p->n_buckets; i++) {
        const fm_state_bucket *b = p->buckets[i];
        if (kind == SNAPSHOT) {
            FM_TRY(put_entries(w, p, b, NULL, 0, b->rows, err));
            continue;
        }
        if (b->rewritten && b->was_durable) FM_TRY(put_drop(w, p, b->time_us, err));
        FM_TRY(put_entries(w, p, b, b->touched_list, 0, b->n_touched, err));
        FM_TRY(put_entries(w, p, b, NULL, b->old_rows, b->rows, err));
    }
    return FM_OK;
}

/* Parts, by whoever of the crew has them. */
typedef struct saving {
    fm_state *state;
    state_output *out;
    fm_status st[FM_VIRTUAL_SHARDS];
    fm_error err[FM_VIRTUAL_SHARDS];
} saving;

static void save_part(void *ctx, int32_t part)
{
    saving *s = ctx;
    writer w = {.state = s->state, .out = s->out};

    s->st[part] = put_part(&w, &s->state->parts[part], CHANGELOG, &s->err[part]);
    if (s->st[part] == FM_OK) s->st[part] = flush(&w, &s->err[part]);
    fm_strbuf_fini(&w.text);
}

static fm_status save_parts(fm_state *s, state_output *out, const fm_state_crew *crew, fm_error *err)
{
    saving *all = calloc(1, sizeof *all);
    fm_status st = FM_OK;

    out->mutex = fm_mutex_new();
    if (!all || !out->mutex) {
        free(all);
        return fm_no_memory(NULL, err);
    }
    all->state = s;
    all->out = out;
    crew->run(crew->ctx, save_part, all);
    for (int32_t i = 0; st == FM_OK && i < s->spec.parts; i++) {
        st = all->st[i];
        if (st != FM_OK && err) *err = all->err[i];
    }
    free(all);
    fm_mutex_free(out->mutex);
    out->mutex = NULL;
    return st;
}

/* Whether the changelog is worth waking the crew. */
static bool is_large(const fm_state *s)
{
    int64_t rows = 0;

    for (int32_t i = 0; i < s->spec.parts; i++) rows += s->parts[i].rows_updated;
    return rows >= CREW_ROWS_MIN;
}

static fm_status put_all(writer *w, fm_state *s, file_kind kind, int64_t version, const fm_state_crew *crew, fm_error *err)
{
    bool shared = kind == CHANGELOG && crew && s->spec.parts > 1 && is_large(s);

    FM_TRY(put_file_head(w, kind, version, err));
    if (shared) {
        FM_TRY(flush(w, err));
        FM_TRY(save_parts(s, w->out, crew, err));
    }
    for (int32_t i = 0; !shared && i < s->spec.parts; i++) FM_TRY(put_part(w, &s->parts[i], kind, err));
    FM_TRY(end_block(w, begin_block(w), BLOCK_END, 0, w->out->blocks + w->blocks, err));
    return flush(w, err);
}

static fm_status paths_of(const fm_state *s, int64_t version, file_kind kind, char path[PATH_SIZE], char temporary[PATH_SIZE + 8], fm_error *err)
{
    FM_TRY(path_of(s, version, kind, path, err));
    snprintf(temporary, PATH_SIZE + 8, "%s.tmp", path);
    return FM_OK;
}

/* Under a temporary name. */
static fm_status write_temporary(fm_state *s, file_kind kind, int64_t version, const fm_state_crew *crew, fm_file **file, int64_t *size, fm_error *err)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8];
    state_output out = {0};
    writer w = {.state = s, .out = &out};

    FM_TRY(paths_of(s, version, kind, path, temporary, err));
    FM_TRY(fm_file_open(s->spec.fs, temporary, FM_OPEN_TRUNCATE, &out.file, err));
    fm_status st = put_all(&w, s, kind, version, crew, err);
    fm_strbuf_fini(&w.text);
    *size = out.size;
    *file = st == FM_OK ? out.file : NULL;
    if (st != FM_OK) fm_file_close(out.file, NULL);
    return st;
}

/* The file gets its name, durably; it is closed in any case. */
static fm_status make_durable(fm_state *s, file_kind kind, int64_t version, fm_file *file, fm_error *err)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8];
    fm_status st = fm_file_sync(file, err), closed = fm_file_close(file, st == FM_OK ? err : NULL);

    if (st == FM_OK) st = closed;
    if (st == FM_OK) st = paths_of(s, version, kind, path, temporary, err);
    if (st == FM_OK) st = fm_fs_rename(s->spec.fs, temporary, path, err);
    return st == FM_OK ? fm_fs_sync_dir(s->spec.fs, s->spec.dir, err) : st;
}

fm_status fm_state_save(fm_state *s, int64_t version, const fm_state_crew *crew, fm_error *err)
{
    if (s->spec.in_memory) return FM_OK;
    fm_file_close(s->saved, NULL);
    s->saved = NULL;
    s->saved_version = version;
    fm_status st = write_temporary(s, CHANGELOG, version, crew, &s->saved, &s->saved_size, err);
    return fm_context(err, st, "writing the state of operator %d", s->spec.operator_id);
}

fm_status fm_state_commit(fm_state *s, int64_t version, fm_error *err)
{
    s->version = version;
    if (s->spec.in_memory) return FM_OK;
    if (!s->saved || s->saved_version != version) FM_TRY(fm_state_save(s, version, NULL, err));
    fm_file *file = s->saved;
    s->saved = NULL;
    fm_status st = make_durable(s, CHANGELOG, version, file, err);
    if (st != FM_OK) return fm_context(err, st, "writing the state of operator %d", s->spec.operator_id);
    s->changelog_size += s->saved_size;
    s->changelogs++;
    for (int32_t i = 0; i < s->spec.parts; i++) {
        for (int32_t k = 0; k < s->parts[i].n_buckets; k++) {
            fm_state_bucket *b = s->parts[i].buckets[k];
            b->was_durable = b->rows > 0 || b->was_durable;
            b->rewritten = false;
        }
    }
    return FM_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

typedef struct reader {
    fm_state *state;
    fm_file *file;
    const char *path;
    int64_t at, size;   /* bytes */
    fm_strbuf payload;
} reader;

static fm_status damaged(const reader *r, const char *what, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state file '%s' is damaged near byte %" PRId64 ": %s.", r->path, r->at, what);
}

static fm_status read_bytes(reader *r, void *out, size_t size, fm_error *err)
{
    size_t got;

    if ((uint64_t)(r->size - r->at) < size) return damaged(r, "it ends in the middle", err);
    FM_TRY(fm_file_read_at(r->file, r->at, out, size, &got, err));
    if (got != size) return damaged(r, "it ends in the middle", err);
    r->at += (int64_t)size;
    return FM_OK;
}

static fm_status read_payload(reader *r, uint64_t size, fm_error *err)
{
    if (size > BLOCK_PAYLOAD_SIZE_MAX || size > (uint64_t)(r->size - r->at)) return damaged(r, "it ends in the middle", err);
    fm_strbuf_clear(&r->payload);
    if (!fm_strbuf_reserve(&r->payload, (size_t)size + 1)) return fm_no_memory(NULL, err);
    FM_TRY(read_bytes(r, r->payload.ptr, (size_t)size, err));
    r->payload.len = (size_t)size;
    return FM_OK;
}

/* Keys and values of the operator as they were, against those of the query now. Texts are "keys: ...; values: ...". */
static fm_status schema_differs(const fm_state *s, fm_str stored, fm_error *err)
{
    ptrdiff_t a = fm_str_find(stored, FM_STR("; values")), b = fm_str_find(s->spec.schema, FM_STR("; values"));
    bool same_keys = a >= 0 && b >= 0 && fm_str_eq((fm_str){stored.ptr, (size_t)a}, (fm_str){s->spec.schema.ptr, (size_t)b});

    return fm_fail(err, FM_INVALID, same_keys ? "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE" : "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE",
                   "The query does not fit the state in '%s': the %s of stateful operator %d changed.\n  state: %.*s\n  query: %.*s\n"
                   "Run the query as it was, or start this one with a new checkpointLocation.",
                   s->spec.dir, same_keys ? "aggregates" : "grouping keys", s->spec.operator_id, FM_STR_ARG(stored), FM_STR_ARG(s->spec.schema));
}

static fm_status read_file_head(reader *r, file_kind kind, int64_t version, fm_error *err)
{
    fm_state *s = r->state;
    file_head head;

    FM_TRY(read_bytes(r, &head, sizeof head, err));
    if (memcmp(head.magic, magic, sizeof magic) != 0) return damaged(r, "it does not begin as a state file of this version of floodmark", err);
    FM_TRY(read_payload(r, head.schema_len, err));
    fm_str schema = fm_strbuf_str(&r->payload);
    if (head.checksum != checksum_of(&head, sizeof head, schema)) return damaged(r, "the checksum of its head does not fit", err);
    if (head.kind != (uint32_t)kind || head.version != version) return damaged(r, "it is that of another version", err);
    if (!fm_str_eq(schema, s->spec.schema)) return schema_differs(s, schema, err);
    if (head.value_size != s->spec.value_size) return damaged(r, "its values have another size", err);
    s->mark = head.mark;
    return FM_OK;
}

/* Takes the entries of these shards out of a bucket. */
static fm_status drop_shards(fm_state *s, int64_t time_us, int32_t first, int32_t end, fm_error *err)
{
    for (int32_t i = 0; i < s->spec.parts; i++) {
        fm_state_part *p = &s->parts[i];
        fm_state_bucket *b = fm_state_bucket_find(p, time_us);
        if (!b) continue;
        uint8_t *keep = malloc((size_t)b->rows + 1);
        if (!keep) return fm_no_memory(NULL, err);
        for (uint32_t k = 0; k < b->rows; k++) {
            int32_t shard = fm_key_shard(fm_state_entry_key(fm_state_entry(p, b, k)).hash);
            keep[k] = shard < first || shard >= end;
        }
        fm_status st = b->rows ? fm_state_bucket_keep(p, b, keep, err) : FM_OK;
        free(keep);
        FM_TRY(st);
        if (b->rows == 0) fm_state_bucket_forget(p, b);
    }
    return FM_OK;
}

static fm_status take_block(reader *r, const block_head *head, fm_error *err)
{
    fm_str payload = fm_strbuf_str(&r->payload);

    if (head->kind == BLOCK_DROP) {
        if (payload.len != 2) return damaged(r, "a note of a dropped window is malformed", err);
        return drop_shards(r->state, head->time_us, (uint8_t)payload.ptr[0], (uint8_t)payload.ptr[1], err);
    }
    if (head->kind != BLOCK_ENTRIES) return damaged(r, "it has a block of an unknown kind", err);
    fm_error why = FM_ERROR_INIT;
    fm_status st = fm_state_block_decode(r->state, head->time_us, head->rows, payload, &why);
    if (st == FM_CORRUPT) return damaged(r, why.message, err);
    if (st != FM_OK && err) *err = why;
    return st;
}

static fm_status read_blocks(reader *r, fm_error *err)
{
    for (uint32_t blocks = 0;; blocks++) {
        block_head head;
        FM_TRY(read_bytes(r, &head, sizeof head, err));
        FM_TRY(read_payload(r, head.size, err));
        if (head.checksum != checksum_of(&head, sizeof head, fm_strbuf_str(&r->payload))) return damaged(r, "a checksum does not fit", err);
        if (head.kind != BLOCK_END) {
            FM_TRY(take_block(r, &head, err));
            continue;
        }
        if (head.rows != blocks || r->at != r->size) return damaged(r, "it does not end where it should", err);
        return FM_OK;
    }
}

static fm_status read_open_file(reader *r, file_kind kind, int64_t version, fm_error *err)
{
    fm_file_stat stat;

    FM_TRY(fm_file_stat_of(r->file, &stat, err));
    r->size = stat.size;
    FM_TRY(read_file_head(r, kind, version, err));
    return read_blocks(r, err);
}

static fm_status read_file(fm_state *s, file_kind kind, int64_t version, int64_t *size, fm_error *err)
{
    char path[PATH_SIZE];
    reader r = {.state = s, .path = path};

    FM_TRY(path_of(s, version, kind, path, err));
    FM_TRY(fm_file_open(s->spec.fs, path, FM_OPEN_READ, &r.file, err));
    fm_status st = read_open_file(&r, kind, version, err);
    fm_file_close(r.file, NULL);
    fm_strbuf_fini(&r.payload);
    *size = r.size;
    return st;
}

/* ---- Opening a version ------------------------------------------------------------------------------------- */

static void forget(fm_state *s)
{
    for (int32_t i = 0; i < s->spec.parts; i++) {
        fm_state_part *p = &s->parts[i];
        while (p->n_buckets) fm_state_bucket_forget(p, p->buckets[p->n_buckets - 1]);
    }
    s->mark = FM_STATE_NO_MARK;
    s->snapshot_version = s->snapshot_size = s->changelog_size = s->changelogs = 0;
}

static int by_number_down(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* Versions of the files of a kind, the newest first. */
static fm_status list_versions(const fm_state *s, file_kind kind, fm_arena *arena, int64_t **out, size_t *n, fm_error *err)
{
    fm_str ending = kind == SNAPSHOT ? FM_STR(".snapshot") : FM_STR(".changelog");
    fm_dir_entry *entries;
    size_t n_entries;

    *n = 0;
    FM_TRY(fm_fs_list(s->spec.fs, s->spec.dir, arena, &entries, &n_entries, err));
    *out = fm_arena_array(arena, int64_t, n_entries);
    if (!*out) return fm_no_memory(arena, err);
    for (size_t i = 0; i < n_entries; i++) {
        fm_str name = entries[i].name;
        if (!fm_str_ends(name, ending)) continue;
        if (fm_str_to_i64((fm_str){name.ptr, name.len - ending.len}, &(*out)[*n])) (*n)++;
    }
    qsort(*out, *n, sizeof **out, by_number_down);
    return FM_OK;
}

/* Spark keeps the state of an operator in folders, one of them _metadata; ours has files only. */
static bool is_of_spark(const fm_state *s)
{
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n = 0;
    bool found = false;

    if (!arena || fm_fs_list(s->spec.fs, s->spec.dir, arena, &entries, &n, NULL) != FM_OK) n = 0;
    for (size_t i = 0; i < n; i++) found |= entries[i].stat.is_dir && fm_str_eq(entries[i].name, FM_STR("_metadata"));
    fm_arena_free(arena);
    return found;
}

static fm_status fail_missing(const fm_state *s, int64_t version, int64_t missing, fm_error *err)
{
    if (is_of_spark(s)) {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_STATE_OF_SPARK", "The state in '%s' was written by Spark, whose format is its own: checkpoints of stateful queries do not move between the two. Start with a new checkpointLocation.", s->spec.dir);
    }
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state in '%s' cannot be brought to version %" PRId64 ": the file %" PRId64 ".changelog is missing. Restore it from a backup, or start with a new checkpointLocation.", s->spec.dir, version, missing);
}

static fm_status replay(fm_state *s, int64_t from, int64_t to, fm_error *err)
{
    for (int64_t v = from + 1; v <= to; v++) {
        int64_t size;
        fm_status st = read_file(s, CHANGELOG, v, &size, err);
        if (st == FM_NOT_FOUND) return fail_missing(s, to, v, err);
        FM_TRY(st);
        s->changelog_size += size;
        s->changelogs++;
    }
    return FM_OK;
}

/* From a snapshot (0: from nothing) and the changelogs after it. */
static fm_status load_from(fm_state *s, int64_t from, int64_t version, fm_error *err)
{
    forget(s);
    if (from) FM_TRY(read_file(s, SNAPSHOT, from, &s->snapshot_size, err));
    s->snapshot_version = from;
    return replay(s, from, version, err);
}

/* From the newest snapshot that is not too new; when that or what follows is damaged, from the one before; last, from
 * nothing. The error is that of the first try: what is wrong with the newest. */
static fm_status load_best(fm_state *s, const int64_t *snapshots, size_t n, int64_t version, fm_error *err)
{
    fm_error first = FM_ERROR_INIT;

    for (size_t i = 0; i <= n; i++) {
        int64_t from = i < n ? snapshots[i] : 0;
        fm_error tried = FM_ERROR_INIT;
        if (from > version || (i < n && from <= 0)) continue;
        fm_status st = load_from(s, from, version, &tried);
        if (st == FM_OK) return FM_OK;
        if (first.status == FM_OK || (st != FM_CORRUPT && st != FM_NOT_FOUND)) first = tried;
        if (st != FM_CORRUPT && st != FM_NOT_FOUND) break;
    }
    if (err) *err = first;
    return first.status;
}

static void all_durable(fm_state *s)
{
    for (int32_t i = 0; i < s->spec.parts; i++) {
        fm_state_part *p = &s->parts[i];
        for (int32_t k = 0; k < p->n_buckets; k++) {
            p->buckets[k]->was_durable = true;
            p->buckets[k]->rewritten = false;
        }
    }
    fm_state_begin(s);
}

/* Snapshots of what was taken back, when somebody returned to an older version, must not be found once the versions
 * have come that far again. */
static void remove_above(fm_state *s, const int64_t *snapshots, size_t n, int64_t version)
{
    char path[PATH_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (snapshots[i] > version && path_of(s, snapshots[i], SNAPSHOT, path, NULL) == FM_OK) fm_fs_remove(s->spec.fs, path, NULL);
    }
}

fm_status fm_state_load(fm_state *s, int64_t version, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    int64_t *snapshots = NULL;
    size_t n = 0;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_fs_mkdirs(s->spec.fs, s->spec.dir, err);
    if (st == FM_OK) st = list_versions(s, SNAPSHOT, arena, &snapshots, &n, err);
    if (st == FM_OK) st = load_best(s, snapshots, n, version, err);
    if (st == FM_OK) remove_above(s, snapshots, n, version);
    fm_arena_free(arena);
    if (st == FM_OK) all_durable(s);
    return st;
}

/* ---- Housekeeping ------------------------------------------------------------------------------------------ */

/* A snapshot pays when what would have to be replayed is half as much as itself; small states wait for ten changelogs. */
static bool snapshot_is_due(const fm_state *s)
{
    if (s->changelogs < CHANGELOGS_BEFORE_SNAPSHOT) return false;
    return s->changelogs >= CHANGELOGS_MAX || s->changelog_size >= s->snapshot_size / 2;
}

static void remove_below(fm_state *s, file_kind kind, const int64_t *versions, size_t n, int64_t below)
{
    char path[PATH_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (versions[i] < below && path_of(s, versions[i], kind, path, NULL) == FM_OK) fm_fs_remove(s->spec.fs, path, NULL);
    }
}

/* Leftovers of writers that died. */
static fm_status remove_temporaries(const fm_state *s, fm_arena *arena, fm_error *err)
{
    fm_dir_entry *entries;
    size_t n;

    FM_TRY(fm_fs_list(s->spec.fs, s->spec.dir, arena, &entries, &n, err));
    for (size_t i = 0; i < n; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%s", s->spec.dir, entries[i].name.ptr);
        if (path.ptr && fm_str_ends(path, FM_STR(".tmp"))) fm_fs_remove(s->spec.fs, path.ptr, NULL);
    }
    return FM_OK;
}

static fm_status remove_old(fm_state *s, int64_t oldest_version, fm_arena *arena, fm_error *err)
{
    int64_t *snapshots, *changelogs;
    size_t n_snapshots, n_changelogs;

    FM_TRY(list_versions(s, SNAPSHOT, arena, &snapshots, &n_snapshots, err));
    FM_TRY(list_versions(s, CHANGELOG, arena, &changelogs, &n_changelogs, err));
    /* Of the snapshots at or below the oldest version that may be asked for, the newest two stay. */
    size_t at = 0;
    while (at < n_snapshots && snapshots[at] > oldest_version) at++;
    if (n_snapshots - at < SNAPSHOTS_KEPT) return FM_OK;
    int64_t keep = snapshots[at + SNAPSHOTS_KEPT - 1];
    remove_below(s, SNAPSHOT, snapshots, n_snapshots, keep);
    remove_below(s, CHANGELOG, changelogs, n_changelogs, keep + 1);
    return remove_temporaries(s, arena, err);
}

fm_status fm_state_maintain(fm_state *s, int64_t oldest_version, fm_error *err)
{
    if (s->spec.in_memory || !snapshot_is_due(s)) return FM_OK;
    fm_file *file;
    fm_status written = write_temporary(s, SNAPSHOT, s->version, NULL, &file, &s->snapshot_size, err);
    if (written == FM_OK) written = make_durable(s, SNAPSHOT, s->version, file, err);
    if (written != FM_OK) return fm_context(err, written, "writing the state of operator %d", s->spec.operator_id);
    s->snapshot_version = s->version;
    s->changelog_size = s->changelogs = 0;
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = remove_old(s, oldest_version, arena, err);
    fm_arena_free(arena);
    return st;
}
