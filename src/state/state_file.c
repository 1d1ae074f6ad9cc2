/* state/state_file.c: state on disk: a changelog per version, a snapshot now and then.
 *
 *     state/<operator>/<version>.changelog   what micro-batch version - 1 changed
 *     state/<operator>/<version>.snapshot    everything
 *
 * Both have one form, written under a temporary name, synced, renamed:
 *
 *     magic "FMSTATE1", u32 kind, i64 version, u32 length and text of the schema
 *     'D' i64 time                           a bucket is gone                 (changelogs)
 *     'B' i64 time, u32 n, then n entries:   u32 length, key; u32 length, value
 *     'Z'                                    the end
 *     u64 checksum of all before
 *
 * Numbers are little-endian. The newest two snapshots are kept: a damaged one falls back to the one before it, and the
 * changelogs after that are replayed. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "state/state_impl.h"

enum { PATH_SIZE = 4096, SNAPSHOTS_KEPT = 2 };
#define STATE_FILE_SIZE_MAX ((size_t)64 << 30)

typedef enum file_kind { CHANGELOG = 1, SNAPSHOT = 2 } file_kind;

static const char magic[8] = {'F', 'M', 'S', 'T', 'A', 'T', 'E', '1'};

static bool path_of(const fm_state *s, int64_t version, file_kind kind, char out[PATH_SIZE])
{
    int n = snprintf(out, PATH_SIZE, "%s/%" PRId64 ".%s", s->spec.dir, version, kind == SNAPSHOT ? "snapshot" : "changelog");

    return n > 0 && n < PATH_SIZE;
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

static void put_u32(fm_strbuf *out, uint32_t x) { fm_strbuf_add(out, (fm_str){(const char *)&x, sizeof x}); }
static void put_i64(fm_strbuf *out, int64_t x) { fm_strbuf_add(out, (fm_str){(const char *)&x, sizeof x}); }

static fm_status put_value(const fm_state *s, const char *value, fm_strbuf *scratch, fm_strbuf *out, fm_error *err)
{
    if (!s->spec.codec.save) {
        put_u32(out, s->spec.value_size);
        fm_strbuf_add(out, (fm_str){value, s->spec.value_size});
        return FM_OK;
    }
    fm_strbuf_clear(scratch);
    FM_TRY(s->spec.codec.save(s->spec.codec.ctx, value, scratch, err));
    put_u32(out, (uint32_t)scratch->len);
    fm_strbuf_add(out, fm_strbuf_str(scratch));
    return FM_OK;
}

static fm_status put_bucket(fm_state *s, fm_state_bucket *b, bool changed_only, fm_strbuf *out, fm_error *err)
{
    uint32_t n = changed_only ? b->n_changed : b->rows;
    fm_strbuf scratch = {0};
    fm_status st = FM_OK;

    if (n == 0) return FM_OK;
    fm_strbuf_add_char(out, 'B');
    put_i64(out, b->time_us);
    put_u32(out, n);
    for (uint32_t i = 0; i < n && st == FM_OK; i++) {
        char *entry = fm_state_entry(s, b, changed_only ? b->changed[i] : i);
        fm_key k = fm_state_entry_key(entry);
        fm_str bytes = fm_key_bytes(&k);
        put_u32(out, (uint32_t)bytes.len);
        fm_strbuf_add(out, bytes);
        st = put_value(s, fm_state_value(entry), &scratch, out, err);
    }
    fm_strbuf_fini(&scratch);
    return st;
}

static fm_status write_file(fm_state *s, file_kind kind, int64_t version, fm_error *err)
{
    fm_strbuf out = {0};
    char path[PATH_SIZE];
    fm_status st = FM_OK;

    if (!path_of(s, version, kind, path)) return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG", "The path '%s' is too long.", s->spec.dir);
    fm_strbuf_add(&out, (fm_str){magic, sizeof magic});
    put_u32(&out, kind);
    put_i64(&out, version);
    put_u32(&out, (uint32_t)s->spec.schema.len);
    fm_strbuf_add(&out, s->spec.schema);
    for (int32_t i = 0; kind == CHANGELOG && i < s->n_dropped; i++) {
        fm_strbuf_add_char(&out, 'D');
        put_i64(&out, s->dropped[i]);
    }
    for (int32_t i = 0; i < s->n_buckets && st == FM_OK; i++) st = put_bucket(s, s->buckets[i], kind == CHANGELOG, &out, err);
    fm_strbuf_add_char(&out, 'Z');
    uint64_t sum = fm_checksum(out.ptr, out.len);
    fm_strbuf_add(&out, (fm_str){(const char *)&sum, sizeof sum});
    if (st == FM_OK && !fm_strbuf_ok(&out)) st = fm_no_memory(NULL, err);
    if (st == FM_OK) st = fm_fs_write_atomic(s->spec.fs, path, fm_strbuf_str(&out), true, err);
    fm_strbuf_fini(&out);
    return st;
}

fm_status fm_state_commit(fm_state *s, int64_t version, fm_error *err)
{
    if (!s->spec.in_memory) FM_TRY(write_file(s, CHANGELOG, version, err));
    for (int32_t i = 0; i < s->n_buckets; i++) s->buckets[i]->was_durable = true;
    s->version = version;
    return FM_OK;
}

/* ---- Reading ----------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *p, *end;
} cursor;

static bool take(cursor *c, void *out, size_t n)
{
    if ((size_t)(c->end - c->p) < n) return false;
    memcpy(out, c->p, n);
    c->p += n;
    return true;
}

static bool take_str(cursor *c, fm_str *out)
{
    uint32_t n;

    if (!take(c, &n, sizeof n) || (size_t)(c->end - c->p) < n) return false;
    *out = (fm_str){c->p, n};
    c->p += n;
    return true;
}

static fm_status damaged(const char *path, const char *what, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state file '%s' is damaged: %s.", path, what);
}

static fm_status read_bucket(fm_state *s, cursor *c, const char *path, fm_error *err)
{
    int64_t time_us;
    uint32_t n;
    fm_state_bucket *b;

    if (!take(c, &time_us, sizeof time_us) || !take(c, &n, sizeof n)) return damaged(path, "it ends in the middle", err);
    FM_TRY(fm_state_bucket_at(s, time_us, &b, err));
    for (uint32_t i = 0; i < n; i++) {
        fm_str key, value;
        char *at;
        if (!take_str(c, &key) || !take_str(c, &value)) return damaged(path, "it ends in the middle", err);
        FM_TRY(fm_state_put(s, b, key, &at, err));
        if (s->spec.codec.load) {
            FM_TRY(s->spec.codec.load(s->spec.codec.ctx, value, at, err));
        } else {
            if (value.len != s->spec.value_size) return damaged(path, "a value has a wrong length", err);
            if (value.len) memcpy(at, value.ptr, value.len);
        }
    }
    return FM_OK;
}

static fm_status read_records(fm_state *s, cursor *c, const char *path, fm_error *err)
{
    for (;;) {
        char tag;
        int64_t time_us;
        if (!take(c, &tag, 1)) return damaged(path, "its end is missing", err);
        if (tag == 'Z') return FM_OK;
        if (tag == 'B') {
            FM_TRY(read_bucket(s, c, path, err));
        } else if (tag == 'D' && take(c, &time_us, sizeof time_us)) {
            fm_state_bucket *b = fm_state_bucket_find(s, time_us);
            if (b) fm_state_bucket_free(s, b);
        } else {
            return damaged(path, "it has an unknown record", err);
        }
    }
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

static fm_status read_bytes(fm_state *s, file_kind kind, int64_t version, const char *path, fm_str bytes, fm_error *err)
{
    cursor c = {bytes.ptr, bytes.ptr + bytes.len};
    char head[sizeof magic];
    uint32_t stored_kind;
    int64_t stored_version;
    uint64_t sum;
    fm_str schema;

    if (bytes.len < sizeof magic + sizeof sum) return damaged(path, "it is too short", err);
    memcpy(&sum, c.end - sizeof sum, sizeof sum);
    c.end -= sizeof sum;
    if (fm_checksum(bytes.ptr, bytes.len - sizeof sum) != sum) return damaged(path, "its checksum does not fit", err);
    if (!take(&c, head, sizeof head) || memcmp(head, magic, sizeof magic) != 0) return damaged(path, "it is of another kind or version", err);
    if (!take(&c, &stored_kind, sizeof stored_kind) || !take(&c, &stored_version, sizeof stored_version) || !take_str(&c, &schema)) return damaged(path, "its head is cut", err);
    if (stored_kind != (uint32_t)kind || stored_version != version) return damaged(path, "it is that of another version", err);
    if (!fm_str_eq(schema, s->spec.schema)) return schema_differs(s, schema, err);
    return read_records(s, &c, path, err);
}

static fm_status read_file(fm_state *s, file_kind kind, int64_t version, fm_error *err)
{
    fm_arena *arena = fm_arena_new(STATE_FILE_SIZE_MAX + (1 << 20));
    char path[PATH_SIZE];
    fm_str bytes;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = path_of(s, version, kind, path) ? fm_fs_read_all(s->spec.fs, path, STATE_FILE_SIZE_MAX, arena, &bytes, err)
                                                   : fm_fail(err, FM_INVALID, "FLOODMARK_PATH_TOO_LONG", "The path '%s' is too long.", s->spec.dir);
    if (st == FM_OK) st = read_bytes(s, kind, version, path, bytes, err);
    fm_arena_free(arena);
    return st;
}

static void forget(fm_state *s)
{
    while (s->n_buckets) fm_state_bucket_free(s, s->buckets[s->n_buckets - 1]);
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

static fm_status replay(fm_state *s, int64_t from, int64_t to, fm_error *err)
{
    for (int64_t v = from + 1; v <= to; v++) {
        fm_status st = read_file(s, CHANGELOG, v, err);
        if (st == FM_NOT_FOUND) {
            return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "The state in '%s' cannot be brought to version %" PRId64 ": the file %" PRId64 ".changelog is missing. Restore it from a backup, or start with a new checkpointLocation.", s->spec.dir, to, v);
        }
        FM_TRY(st);
    }
    return FM_OK;
}

fm_status fm_state_load(fm_state *s, int64_t version, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    int64_t *snapshots = NULL;
    size_t n = 0;
    fm_error first = FM_ERROR_INIT;
    fm_status st = FM_CORRUPT;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status listed = fm_fs_mkdirs(s->spec.fs, s->spec.dir, err);
    if (listed == FM_OK) listed = list_versions(s, SNAPSHOT, arena, &snapshots, &n, err);
    if (listed != FM_OK) {
        fm_arena_free(arena);
        return listed;
    }
    /* From the newest snapshot that is not too new; when that or what follows is damaged, from the one before; last,
     * from nothing. */
    for (size_t i = 0; i <= n && st == FM_CORRUPT; i++) {
        int64_t from = i < n ? snapshots[i] : 0;
        if (from > version) continue;
        fm_error tried = FM_ERROR_INIT;
        forget(s);
        st = i < n ? read_file(s, SNAPSHOT, from, &tried) : FM_OK;
        if (st == FM_OK) st = replay(s, from, version, &tried);
        if (st == FM_OK) s->snapshot_version = i < n ? from : -1;
        else if (first.status == FM_OK || st != FM_CORRUPT) first = tried;
    }
    fm_arena_free(arena);
    if (st != FM_OK && err) *err = first;
    for (int32_t i = 0; st == FM_OK && i < s->n_buckets; i++) s->buckets[i]->was_durable = true;
    if (st == FM_OK) fm_state_begin(s);
    return st;
}

/* ---- Housekeeping ------------------------------------------------------------------------------------------ */

static void remove_versions(fm_state *s, file_kind kind, const int64_t *versions, size_t n, int64_t below)
{
    char path[PATH_SIZE];

    for (size_t i = 0; i < n; i++) {
        if (versions[i] < below && path_of(s, versions[i], kind, path)) fm_fs_remove(s->spec.fs, path, NULL);
    }
}

fm_status fm_state_maintain(fm_state *s, int64_t oldest_version, fm_error *err)
{
    fm_arena *arena;
    int64_t *snapshots, *changelogs;
    size_t n_snapshots, n_changelogs;

    if (s->spec.in_memory || s->version <= s->snapshot_version || s->version == 0) return FM_OK;
    FM_TRY(write_file(s, SNAPSHOT, s->version, err));
    s->snapshot_version = s->version;
    arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = list_versions(s, SNAPSHOT, arena, &snapshots, &n_snapshots, err);
    if (st == FM_OK) st = list_versions(s, CHANGELOG, arena, &changelogs, &n_changelogs, err);
    if (st == FM_OK && n_snapshots > SNAPSHOTS_KEPT) {
        /* Two snapshots stay, and one at or below the oldest version that may be asked for. */
        int64_t keep = snapshots[SNAPSHOTS_KEPT - 1];
        for (size_t i = SNAPSHOTS_KEPT; i < n_snapshots && keep > oldest_version; i++) keep = snapshots[i];
        remove_versions(s, SNAPSHOT, snapshots, n_snapshots, keep);
        remove_versions(s, CHANGELOG, changelogs, n_changelogs, keep + 1);
    }
    fm_arena_free(arena);
    return st;
}
