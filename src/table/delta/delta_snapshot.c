/* table/delta/delta_snapshot.c: from a log to a state. */
#include "table/delta/delta_snapshot.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "table/delta/delta_checkpoint.h"

enum { RELIST_US = 600 * 1000000 }; /* how long commits are looked for by their numbers alone */

/* ---- Copies ------------------------------------------------------------------------------------------------ */

/* Actions come in memory of their file; what stays is copied. A copier keeps its first failure. */
typedef struct copier {
    fm_arena *arena;
    bool failed;
} copier;

static fm_str copy_str(copier *c, fm_str text)
{
    if (!text.ptr) return text;
    fm_str out = fm_arena_str(c->arena, text);
    c->failed |= !out.ptr;
    return out;
}

static fm_str *copy_list(copier *c, const fm_str *items, int32_t n)
{
    fm_str *out = fm_arena_array(c->arena, fm_str, n);

    for (int32_t i = 0; out && i < n; i++) out[i] = copy_str(c, items[i]);
    c->failed |= !out;
    return out;
}

static fm_delta_map copy_map(copier *c, const fm_delta_map *map)
{
    return (fm_delta_map){copy_list(c, map->keys, map->n), copy_list(c, map->values, map->n), map->n};
}

static void copy_file(copier *c, const fm_delta_file *in, fm_delta_file *out)
{
    *out = *in;
    out->path = copy_str(c, in->path);
    out->partition_values = copy_map(c, &in->partition_values);
    out->stats = copy_str(c, in->stats);
    out->tags = copy_map(c, &in->tags);
    out->clustering_provider = copy_str(c, in->clustering_provider);
    if (!in->dv) return;
    fm_delta_dv *dv = fm_arena_one(c->arena, fm_delta_dv);
    if (dv) {
        *dv = *in->dv;
        dv->path = copy_str(c, dv->path);
    }
    c->failed |= !dv;
    out->dv = dv;
}

static void copy_protocol(copier *c, const fm_delta_protocol *in, fm_delta_protocol *out)
{
    *out = *in;
    out->reader_features = copy_list(c, in->reader_features, in->n_reader_features);
    out->writer_features = copy_list(c, in->writer_features, in->n_writer_features);
}

static void copy_metadata(copier *c, const fm_delta_metadata *in, fm_delta_metadata *out)
{
    *out = *in;
    out->id = copy_str(c, in->id);
    out->name = copy_str(c, in->name);
    out->description = copy_str(c, in->description);
    out->provider = copy_str(c, in->provider);
    out->format_options = copy_map(c, &in->format_options);
    out->schema = copy_str(c, in->schema);
    out->partition_columns = copy_list(c, in->partition_columns, in->n_partition_columns);
    out->configuration = copy_map(c, &in->configuration);
}

/* Room for one more of n items; the arrays double. */
static fm_status grow(fm_arena *arena, void **items, int32_t n, int32_t *cap, size_t size, fm_error *err)
{
    if (n < *cap) return FM_OK;
    if (*cap > INT32_MAX / 2) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "A Delta log with more than %" PRId32 " files.", *cap);
    int32_t more = *cap ? *cap * 2 : 16;
    void *made = fm_arena_array_bytes(arena, size, 16, (size_t)more);
    if (!made) return fm_no_memory(arena, err);
    if (n) memcpy(made, *items, (size_t)n * size);
    *items = made;
    *cap = more;
    return FM_OK;
}

/* ---- Actions ----------------------------------------------------------------------------------------------- */

static fm_status apply_file(fm_delta_snapshot *s, const fm_delta_file *file, bool live, fm_error *err)
{
    fm_strbuf key = {0};
    copier c = {.arena = s->arena};
    fm_status st = fm_delta_file_key(file, &key, err);
    int32_t at = st == FM_OK ? fm_delta_index_find(&s->by_key, fm_strbuf_str(&key)) : -1;

    if (st == FM_OK && at < 0) {
        st = grow(s->arena, (void **)&s->entries, s->n_entries, &s->cap_entries, sizeof *s->entries, err);
        if (st == FM_OK) {
            at = s->n_entries;
            s->entries[at] = (fm_delta_entry){.key = copy_str(&c, fm_strbuf_str(&key))};
            if (c.failed) st = fm_no_memory(s->arena, err);
            else st = fm_delta_index_set(&s->by_key, s->entries[at].key, at, err);
        }
        if (st == FM_OK) s->n_entries++;
    }
    if (st == FM_OK) {
        fm_delta_entry *e = &s->entries[at];
        s->n_live += live - e->is_live;
        e->is_live = live;
        e->version = s->version + 1;
        copy_file(&c, file, &e->file);
        if (!live) e->file.stats = (fm_str){0};
        if (c.failed) st = fm_no_memory(s->arena, err);
    }
    fm_strbuf_fini(&key);
    return st;
}

static fm_status apply_txn(fm_delta_snapshot *s, const fm_delta_txn *txn, fm_error *err)
{
    copier c = {.arena = s->arena};
    int32_t at = fm_delta_index_find(&s->by_app, txn->app_id);

    if (at < 0) {
        FM_TRY(grow(s->arena, (void **)&s->txns, s->n_txns, &s->cap_txns, sizeof *s->txns, err));
        at = s->n_txns;
        s->txns[at].app_id = copy_str(&c, txn->app_id);
        if (c.failed) return fm_no_memory(s->arena, err);
        FM_TRY(fm_delta_index_set(&s->by_app, s->txns[at].app_id, at, err));
        s->n_txns++;
    }
    s->txns[at].version = txn->version;
    s->txns[at].updated_ms = txn->updated_ms;
    return FM_OK;
}

static fm_status apply_domain(fm_delta_snapshot *s, const fm_delta_domain *domain, fm_error *err)
{
    copier c = {.arena = s->arena};
    int32_t at = 0;

    while (at < s->n_domains && !fm_str_eq(s->domains[at].domain, domain->domain)) at++;
    if (at == s->n_domains) FM_TRY(grow(s->arena, (void **)&s->domains, s->n_domains, &s->cap_domains, sizeof *s->domains, err));
    s->domains[at] = (fm_delta_domain){copy_str(&c, domain->domain), copy_str(&c, domain->configuration), domain->removed};
    if (at == s->n_domains) s->n_domains++;
    return c.failed ? fm_no_memory(s->arena, err) : FM_OK;
}

fm_status fm_delta_snapshot_apply(fm_delta_snapshot *s, const fm_delta_action *a, fm_error *err)
{
    copier c = {.arena = s->arena};

    switch (a->kind) {
    case FM_DELTA_ADD: return apply_file(s, &a->u.file, true, err);
    case FM_DELTA_REMOVE: return apply_file(s, &a->u.file, false, err);
    case FM_DELTA_TXN: return apply_txn(s, &a->u.txn, err);
    case FM_DELTA_DOMAIN: return apply_domain(s, &a->u.domain, err);
    case FM_DELTA_PROTOCOL:
        copy_protocol(&c, &a->u.protocol, &s->protocol);
        s->has_protocol = true;
        break;
    case FM_DELTA_METADATA:
        copy_metadata(&c, &a->u.metadata, &s->metadata);
        s->has_metadata = true;
        s->schema = NULL; /* read again when the commit ends, since the protocol may stand behind it */
        s->metadata_version = s->version + 1;
        break;
    case FM_DELTA_CDC:
    case FM_DELTA_COMMIT_INFO:
    case FM_DELTA_CHECKPOINT_METADATA:
    case FM_DELTA_SIDECAR:
    case FM_DELTA_OTHER: break;
    }
    return c.failed ? fm_no_memory(s->arena, err) : FM_OK;
}

static fm_status check_state(fm_delta_snapshot *s, fm_error *err)
{
    if (!s->has_protocol || !s->has_metadata) {
        return fm_fail(err, FM_CORRUPT, "DELTA_STATE_RECOVER_ERROR",
                       "The %s of your Delta table could not be recovered while reconstructing version %" PRId64 " of '%s'.",
                       s->has_protocol ? "metadata" : "protocol", s->version, s->log->root.ptr);
    }
    FM_TRY(fm_delta_check_read(&s->protocol, s->log->root, err));
    if (!s->schema) FM_TRY(fm_delta_schema_read(s->arena, &s->metadata, &s->schema, err));
    return FM_OK;
}

fm_status fm_delta_snapshot_advance(fm_delta_snapshot *s, int64_t timestamp_ms, fm_error *err)
{
    s->version++;
    s->timestamp_ms = timestamp_ms > s->timestamp_ms ? timestamp_ms : s->timestamp_ms;
    return check_state(s, err);
}

int64_t fm_delta_snapshot_txn(const fm_delta_snapshot *s, fm_str app_id)
{
    int32_t at = fm_delta_index_find(&s->by_app, app_id);

    return at < 0 ? INT64_MIN : s->txns[at].version;
}

/* ---- Commits ----------------------------------------------------------------------------------------------- */

typedef struct commit_reader {
    fm_delta_snapshot *s;
    int64_t in_commit_ms; /* -1: not in the commit */
} commit_reader;

static fm_status visit_commit(void *ctx, const fm_delta_action *a, fm_error *err)
{
    commit_reader *r = ctx;

    if (a->kind == FM_DELTA_COMMIT_INFO) r->in_commit_ms = a->u.commit_info.in_commit_ms;
    return fm_delta_snapshot_apply(r->s, a, err);
}

/* Reads commit s->version + 1; FM_NOT_FOUND when there is none. modified_ms < 0: the file is asked. */
static fm_status read_commit(fm_delta_snapshot *s, int64_t modified_ms, fm_arena *scratch, fm_error *err)
{
    commit_reader r = {s, -1};
    fm_str name = fm_delta_commit_name(scratch, s->version + 1), path = fm_delta_commit_path(s->log, scratch, s->version + 1);
    fm_file_stat stat;

    if (!name.ptr || !path.ptr) return fm_no_memory(scratch, err);
    FM_TRY(fm_delta_log_read(s->log, name, scratch, visit_commit, &r, err));
    if (r.in_commit_ms < 0 && modified_ms < 0) {
        FM_TRY(fm_fs_stat(s->log->fs, path.ptr, &stat, err));
        modified_ms = stat.modified_ms;
    }
    return fm_delta_snapshot_advance(s, r.in_commit_ms >= 0 ? r.in_commit_ms : modified_ms, err);
}

/* ---- Loading ----------------------------------------------------------------------------------------------- */

static fm_status visit_state(void *ctx, const fm_delta_action *a, fm_error *err) { return fm_delta_snapshot_apply(ctx, a, err); }

fm_status fm_delta_snapshot_empty(const fm_delta_log *log, fm_delta_snapshot **out, fm_error *err)
{
    fm_delta_snapshot *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s) return fm_no_memory(NULL, err);
    s->arena = fm_arena_new(0);
    if (!s->arena) {
        free(s);
        return fm_no_memory(NULL, err);
    }
    s->log = log;
    s->version = s->checkpoint_version = s->metadata_version = -1;
    s->timestamp_ms = INT64_MIN;
    *out = s;
    return FM_OK;
}

static void fini_state(fm_delta_snapshot *s)
{
    fm_delta_index_fini(&s->by_key);
    fm_delta_index_fini(&s->by_app);
    fm_arena_free(s->arena);
}

void fm_delta_snapshot_free(fm_delta_snapshot *s)
{
    if (!s) return;
    fini_state(s);
    free(s);
}

static fm_status no_table(const fm_delta_log *log, fm_error *err)
{
    return fm_fail(err, FM_NOT_FOUND, "DELTA_TABLE_NOT_FOUND",
                   "Delta table '%s' doesn't exist: there is no log of commits in the folder _delta_log below it.", log->root.ptr);
}

/* Commits and checkpoints between which a version can be found: the earliest whole state. */
static int64_t earliest_version(const fm_delta_listing *l)
{
    int64_t earliest = l->n_commits ? l->commits[0].version : INT64_MAX;

    if (earliest == 0) return 0;
    return l->n_checkpoints ? l->checkpoints[0].version : earliest;
}

static int64_t latest_version(const fm_delta_listing *l)
{
    int64_t latest = l->n_commits ? l->commits[l->n_commits - 1].version : -1;

    if (l->n_checkpoints && l->checkpoints[l->n_checkpoints - 1].version > latest) latest = l->checkpoints[l->n_checkpoints - 1].version;
    return latest;
}

static fm_status version_not_found(int64_t version, const fm_delta_listing *l, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_VERSION_NOT_FOUND",
                   "Cannot time travel Delta table to version %" PRId64 ". Available versions: [%" PRId64 ", %" PRId64 "].", version,
                   earliest_version(l), latest_version(l));
}

static const fm_delta_listed_commit *find_commit(const fm_delta_listing *l, int64_t version)
{
    int32_t lo = 0, hi = l->n_commits;

    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (l->commits[mid].version < version) lo = mid + 1;
        else hi = mid;
    }
    return lo < l->n_commits && l->commits[lo].version == version ? &l->commits[lo] : NULL;
}

/* A compacted file that starts at `from` and ends no later than `to`; NULL. */
static const fm_delta_listed_compaction *find_compaction(const fm_delta_listing *l, int64_t from, int64_t to)
{
    for (int32_t i = 0; i < l->n_compactions; i++) {
        if (l->compactions[i].from == from && l->compactions[i].to <= to) return &l->compactions[i];
    }
    return NULL;
}

static fm_status not_contiguous(const fm_delta_listing *l, int64_t missing, int64_t wanted, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "DELTA_VERSIONS_NOT_CONTIGUOUS",
                   "Versions are not contiguous. A gap in the delta log at version %" PRId64 " was detected while trying to load version %" PRId64
                   " (the log has %" PRId32 " commits and %" PRId32 " checkpoints).",
                   missing, wanted, l->n_commits, l->n_checkpoints);
}

/* The timestamp a version has; compacted files and checkpoints do not say. */
static void timestamp_of_file(fm_delta_snapshot *s, const fm_delta_listing *l, int64_t version)
{
    const fm_delta_listed_commit *c = find_commit(l, version);

    if (c && c->modified_ms > s->timestamp_ms) s->timestamp_ms = c->modified_ms;
}

static fm_status replay(fm_delta_snapshot *s, const fm_delta_listing *l, int64_t version, fm_arena *scratch, fm_error *err)
{
    while (s->version < version) {
        /* The last commit is read as itself: it tells the time. */
        const fm_delta_listed_compaction *c = find_compaction(l, s->version + 1, version - 1);
        fm_arena_reset(scratch);
        if (c) {
            FM_TRY(fm_delta_log_read(s->log, c->name, scratch, visit_state, s, err));
            s->version = c->to - 1;
            timestamp_of_file(s, l, c->to);
            FM_TRY(fm_delta_snapshot_advance(s, s->timestamp_ms, err));
            continue;
        }
        const fm_delta_listed_commit *commit = find_commit(l, s->version + 1);
        if (!commit) return not_contiguous(l, s->version + 1, version, err);
        fm_status st = read_commit(s, commit->modified_ms, scratch, err);
        if (st != FM_OK) return st == FM_NOT_FOUND ? not_contiguous(l, s->version + 1, version, err) : st;
    }
    return FM_OK;
}

/* In-commit time of the version a checkpoint stands for, when its commit is still there. */
static fm_status time_of_checkpoint(fm_delta_snapshot *s, const fm_delta_listing *l, fm_arena *scratch, fm_error *err)
{
    timestamp_of_file(s, l, s->version);
    if (!fm_delta_property(&s->metadata, "delta.enableInCommitTimestamps", false) || !find_commit(l, s->version)) return FM_OK;
    fm_str path = fm_delta_commit_path(s->log, scratch, s->version), text;
    if (!path.ptr) return fm_no_memory(scratch, err);
    if (fm_fs_read_all(s->log->fs, path.ptr, FM_DELTA_LOG_FILE_SIZE_MAX, scratch, &text, NULL) != FM_OK) return FM_OK;
    const char *end = memchr(text.ptr, '\n', text.len);
    fm_delta_action first;
    fm_str line = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};
    FM_TRY(fm_delta_action_parse(scratch, line, &first, err));
    if (first.kind == FM_DELTA_COMMIT_INFO && first.u.commit_info.in_commit_ms >= 0) s->timestamp_ms = first.u.commit_info.in_commit_ms;
    return FM_OK;
}

static fm_status load_checkpoint(fm_delta_snapshot *s, const fm_delta_listing *l, const fm_delta_listed_checkpoint *c, fm_arena *scratch,
                                 fm_error *err)
{
    s->version = c->version - 1;
    FM_TRY(fm_delta_checkpoint_read(s->log, c, visit_state, s, err));
    s->timestamp_ms = c->modified_ms;
    if (find_commit(l, c->version)) s->timestamp_ms = INT64_MIN;
    FM_TRY(fm_delta_snapshot_advance(s, s->timestamp_ms, err));
    s->checkpoint_version = c->version;
    return time_of_checkpoint(s, l, scratch, err);
}

/* Tries the checkpoints from the newest on: one that is damaged is passed over when the commits before it are still there. */
static fm_status load_state(const fm_delta_log *log, const fm_delta_listing *l, int64_t version, fm_arena *scratch, fm_delta_snapshot **out,
                            fm_error *err)
{
    fm_error first = FM_ERROR_INIT;
    fm_status st;

    for (int32_t i = l->n_checkpoints; i >= 0; i--) {
        const fm_delta_listed_checkpoint *c = i > 0 ? &l->checkpoints[i - 1] : NULL;
        if (c && c->version > version) continue;
        FM_TRY(fm_delta_snapshot_empty(log, out, err));
        st = c ? load_checkpoint(*out, l, c, scratch, err) : FM_OK;
        if (st == FM_OK) st = replay(*out, l, version, scratch, err);
        if (st == FM_OK) return FM_OK;
        fm_delta_snapshot_free(*out);
        *out = NULL;
        if (first.status == FM_OK && err) first = *err;
        if ((st != FM_CORRUPT && st != FM_NOT_FOUND) || !c) break;
    }
    if (err && first.status != FM_OK) *err = first;
    return first.status != FM_OK ? first.status : FM_CORRUPT;
}

fm_status fm_delta_snapshot_load(const fm_delta_log *log, int64_t version, fm_delta_snapshot **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0), *scratch = fm_arena_new(0);
    fm_delta_listing listing;
    fm_error own = FM_ERROR_INIT;

    *out = NULL;
    if (!err) err = &own;
    fm_status st = arena && scratch ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) st = fm_delta_log_list(log, arena, &listing, err);
    if (st == FM_NOT_FOUND || (st == FM_OK && latest_version(&listing) < 0)) st = no_table(log, err);
    if (st == FM_OK) {
        int64_t latest = latest_version(&listing);
        if (version < 0) version = latest;
        if (version > latest || version < earliest_version(&listing)) st = version_not_found(version, &listing, err);
    }
    if (st == FM_OK) st = load_state(log, &listing, version, scratch, out, err);
    if (st == FM_OK) (*out)->listed_us = fm_clock_monotonic_us(log->clock);
    fm_arena_free(arena);
    fm_arena_free(scratch);
    return st;
}

static fm_status reload(fm_delta_snapshot *s, fm_error *err)
{
    fm_delta_snapshot *fresh;

    FM_TRY(fm_delta_snapshot_load(s->log, -1, &fresh, err));
    fini_state(s);
    *s = *fresh;
    free(fresh);
    return FM_OK;
}

fm_status fm_delta_snapshot_update(fm_delta_snapshot *s, fm_error *err)
{
    fm_status st = FM_OK;

    /* After a long sleep the next commits may be gone from the log already: the number after ours would then look free. */
    if (s->version < 0 || fm_clock_monotonic_us(s->log->clock) - s->listed_us > RELIST_US) {
        st = reload(s, err);
        return st == FM_NOT_FOUND && s->version < 0 ? FM_OK : st;
    }
    fm_arena *scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    while (st == FM_OK) {
        fm_arena_reset(scratch);
        st = read_commit(s, -1, scratch, err);
    }
    fm_arena_free(scratch);
    return st == FM_NOT_FOUND ? FM_OK : st;
}
