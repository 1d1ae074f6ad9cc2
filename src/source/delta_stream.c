/* source/delta_stream.c: a Delta table as a stream: its files first, then what each commit adds.
 *
 *     begin (v, base, initial)  files of the snapshot at v ...  (v+1, base)  adds of commit v+1 ...  (v+2, base) ...
 *
 * 1. A place names the last file taken; the same two places give the same files on any day.
 * 2. A micro-batch that begins in the snapshot ends in it or right behind it: so the place behind it tells which it was.
 * 3. A commit that changes or deletes rows ends the query, unless an option says how to take it.
 *
 * Rule  Delta, DeltaSource and DeltaSourceOffset */
#include <inttypes.h>
#include <stdlib.h>

#include "expr/cast.h"
#include "source/delta_source.h"

enum { FILES_MAX_DEFAULT = 1000, LOOK_US = 10 * 1000000, PLACE_SIZE_MAX = 4096 };

/* ---- Places ---------------------------------------------------------------------------------------------------------- */

static fm_str place_text(const fm_delta_source *s, fm_delta_place p, fm_arena *arena)
{
    /* -1 is how readers of all versions know the base. */
    return fm_arena_printf(arena, "{\"sourceVersion\":1,\"reservoirId\":\"%.*s\",\"reservoirVersion\":%" PRId64 ",\"index\":%" PRId64 ",\"isStartingVersion\":%s}",
                           FM_STR_ARG(s->table_id), p.version, p.index == FM_DELTA_BASE_INDEX ? -1 : p.index, p.is_initial ? "true" : "false");
}

static fm_status place_parse(const fm_delta_source *s, fm_str text, fm_delta_place *out, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    const fm_json *v, *id, *initial;
    int64_t format;

    if (!scratch) return fm_no_memory(NULL, err);
    *out = (fm_delta_place){0};
    fm_status st = FM_OK;
    bool ok = fm_json_read(scratch, text, &v, NULL) == FM_OK && fm_json_i64(fm_json_get(v, "sourceVersion"), &format) &&
              fm_json_i64(fm_json_get(v, "reservoirVersion"), &out->version) && fm_json_i64(fm_json_get(v, "index"), &out->index) && out->version >= 0;
    if (!ok) {
        st = fm_fail(err, FM_CORRUPT, "DELTA_INVALID_SOURCE_OFFSET_FORMAT", "The stored source offset format is invalid: '%.*s'.", FM_STR_ARG(text));
    } else if (format != 1 && format != 3) {
        st = fm_fail(err, FM_UNSUPPORTED, "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION", "Unsupported format of a Delta source offset: version %" PRId64 ".", format);
    } else {
        id = fm_json_get(v, "reservoirId");
        initial = fm_json_get(v, "isStartingVersion");
        if (out->index == -1) out->index = FM_DELTA_BASE_INDEX;
        out->is_initial = initial && initial->kind == FM_JSON_BOOL && initial->boolean;
        if (!id || id->kind != FM_JSON_STRING || !fm_str_eq(id->text, s->table_id)) {
            st = fm_fail(err, FM_INVALID, "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE",
                         "The streaming query was reading from an unexpected Delta table (id = '%.*s'). It used to read from another Delta table (id = "
                         "'%.*s') according to checkpoint. This may happen when the table was deleted and made anew: start with a new checkpointLocation.",
                         FM_STR_ARG(s->table_id), FM_STR_ARG(id ? id->text : FM_STR("")));
        }
    }
    fm_arena_free(scratch);
    return st;
}

static int place_cmp(fm_delta_place a, fm_delta_place b)
{
    if (a.version != b.version) return a.version < b.version ? -1 : 1;
    return (a.index > b.index) - (a.index < b.index);
}

/* ---- Opening ------------------------------------------------------------------------------------------------------------- */

fm_status fm_delta_stream_open(fm_delta_source *s, const fm_options *o, const char *metadata_dir, fm_error *err)
{
    bool limited = fm_options_find(o, "maxBytesPerTrigger") != NULL;
    int64_t files;

    if (fm_options_find(o, "versionAsOf") || fm_options_find(o, "timestampAsOf")) {
        return fm_fail(err, FM_INVALID, "DELTA_TIME_TRAVEL_STREAM", "Cannot time travel streams: use startingVersion or startingTimestamp.");
    }
    FM_TRY(fm_options_i64(o, "maxFilesPerTrigger", limited ? 0 : FILES_MAX_DEFAULT, 1, INT32_MAX, &files, err));
    s->files_max = files;
    FM_TRY(fm_options_i64(o, "maxBytesPerTrigger", 0, 1, INT64_MAX, &s->bytes_max, err));
    FM_TRY(fm_options_bool(o, "ignoreDeletes", false, &s->ignore_deletes, err));
    FM_TRY(fm_options_bool(o, "ignoreChanges", false, &s->ignore_changes, err));
    FM_TRY(fm_options_bool(o, "skipChangeCommits", false, &s->skip_changes, err));
    FM_TRY(fm_options_bool(o, "failOnDataLoss", true, &s->fail_on_loss, err));
    s->starting_version = fm_arena_str(s->arena, fm_str_trim(fm_options_get(o, "startingVersion", FM_STR(""))));
    s->starting_timestamp = fm_arena_str(s->arena, fm_str_trim(fm_options_get(o, "startingTimestamp", FM_STR(""))));
    s->table_id = fm_arena_str(s->arena, s->snapshot->metadata.id);
    s->start_path = fm_arena_printf(s->arena, "%s/delta_start", metadata_dir);
    s->quiet_from.version = s->quiet_to.version = -1;
    if (!s->starting_version.ptr || !s->starting_timestamp.ptr || !s->table_id.ptr || !s->start_path.ptr) return fm_no_memory(s->arena, err);
    if (s->starting_version.len && s->starting_timestamp.len) {
        return fm_fail(err, FM_INVALID, "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET", "Please either provide 'startingVersion' or 'startingTimestamp'.");
    }
    return FM_OK;
}

/* The first place that the options name. */
static fm_status choose_begin(fm_delta_source *s, fm_delta_place *out, fm_error *err)
{
    fm_delta_snapshot *now;
    int64_t us, latest;

    FM_TRY(fm_delta_snapshot_load(&s->log, -1, &now, err));
    latest = now->version;
    fm_delta_snapshot_free(now);
    *out = (fm_delta_place){latest, FM_DELTA_BASE_INDEX, true};
    if (s->starting_version.len) {
        out->is_initial = false;
        if (fm_str_eq_ci(s->starting_version, FM_STR("latest"))) out->version = latest + 1;
        else if (!fm_str_to_i64(s->starting_version, &out->version) || out->version < 0) {
            return fm_fail(err, FM_INVALID, "DELTA_VERSION_INVALID", "The provided version (%.*s) is not a valid version: a number or latest.", FM_STR_ARG(s->starting_version));
        }
        return FM_OK;
    }
    if (!s->starting_timestamp.len) return FM_OK;
    out->is_initial = false;
    if (!fm_text_to_timestamp(s->starting_timestamp, s->env.conf->zone, &us)) {
        return fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_INVALID", "The provided timestamp (%.*s) cannot be converted to a valid timestamp.", FM_STR_ARG(s->starting_timestamp));
    }
    fm_arena *scratch = fm_arena_new(0);
    fm_delta_commit_time *times;
    int32_t n, i = 0;
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_commit_times(&s->log, scratch, &times, &n, err);
    if (st == FM_OK) { /* the first commit at or after it */
        while (i < n && times[i].timestamp_ms < us / 1000) i++;
        if (i < n) out->version = times[i].version;
        else st = fm_fail(err, FM_INVALID, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "The timestamp %.*s is after the table's latest version.", FM_STR_ARG(s->starting_timestamp));
    }
    fm_arena_free(scratch);
    return st;
}

/* A feed begins at a version that recorded changes. */
static fm_status check_feed(const fm_delta_source *s, int64_t version, fm_error *err)
{
    fm_delta_snapshot *then;
    bool on = fm_delta_feed_is_on(&s->snapshot->metadata);

    if (version < s->snapshot->version) {
        FM_TRY(fm_delta_snapshot_load(&s->log, version, &then, err));
        on = fm_delta_feed_is_on(&then->metadata);
        fm_delta_snapshot_free(then);
    }
    return on ? FM_OK : fm_delta_feed_is_off(version, s->snapshot->version, version, err);
}

/* The first place is chosen once for all runs of a query, and kept. */
static fm_status need_begin(fm_delta_source *s, fm_error *err)
{
    fm_arena *scratch;
    fm_str text;

    if (s->has_begin) return FM_OK;
    scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_fs_read_all(s->env.fs, s->start_path.ptr, PLACE_SIZE_MAX, scratch, &text, err);
    if (st == FM_OK) {
        st = place_parse(s, text, &s->begin, err);
    } else if (st == FM_NOT_FOUND) {
        st = choose_begin(s, &s->begin, err);
        if (st == FM_OK && s->is_feed) st = check_feed(s, s->begin.version, err);
        text = place_text(s, s->begin, scratch);
        fm_str dir = fm_arena_str(scratch, (fm_str){s->start_path.ptr, s->start_path.len - 12});
        if (st == FM_OK && (!text.ptr || !dir.ptr)) st = fm_no_memory(scratch, err);
        if (st == FM_OK) st = fm_fs_mkdirs(s->env.fs, dir.ptr, err);
        if (st == FM_OK) st = fm_fs_write_atomic(s->env.fs, s->start_path.ptr, text, true, err);
    }
    s->has_begin = st == FM_OK;
    fm_arena_free(scratch);
    return st;
}

fm_status fm_delta_stream_restore(fm_source *source, fm_str start, fm_error *err)
{
    fm_delta_source *s = (fm_delta_source *)source;
    fm_delta_place place;

    return start.len ? place_parse(s, start, &place, err) : FM_OK;
}

/* ---- Files of a version ------------------------------------------------------------------------------------------------- */

/* What one version has to read, in arena. */
typedef struct version_files {
    fm_delta_source *s;
    fm_arena *arena;
    fm_delta_change *files; /* [n] index k is file k */
    int32_t n, cap;
    bool adds, removes, has_metadata;
    bool is_whole; /* a limit does not cut it: so readers of a feed see commits whole */
    fm_str removed, added;
    fm_delta_metadata metadata;
} version_files;

static fm_status add_file(version_files *v, const fm_delta_file *file, fm_error *err)
{
    if (!FM_GROW(v->arena, v->files, v->n, v->cap)) return fm_no_memory(v->arena, err);
    v->files[v->n] = (fm_delta_change){0};
    return fm_delta_file_copy(v->arena, file, &v->files[v->n++].file, err);
}

static fm_status visit(void *ctx, const fm_delta_action *a, fm_error *err)
{
    version_files *v = ctx;

    if (a->kind == FM_DELTA_ADD && a->u.file.data_change) {
        v->adds = true;
        v->added = a->u.file.path;
        return add_file(v, &a->u.file, err);
    }
    if (a->kind == FM_DELTA_REMOVE && a->u.file.data_change) {
        v->removes = true;
        v->removed = a->u.file.path;
    }
    if (a->kind == FM_DELTA_PROTOCOL) return fm_delta_check_read(&a->u.protocol, v->s->log.root, err);
    if (a->kind == FM_DELTA_METADATA) {
        v->has_metadata = true;
        v->metadata = a->u.metadata;
    }
    return FM_OK;
}

static fm_status check_schema(const version_files *v, int64_t version, fm_error *err)
{
    const fm_type *mine = v->s->snapshot->schema->type;
    const fm_delta_schema *now;

    FM_TRY(fm_delta_schema_read(v->arena, &v->metadata, &now, err));
    for (int32_t i = 0; i < now->type->n_fields; i++) {
        const fm_field *f = &now->type->fields[i];
        int32_t c = fm_delta_schema_find(mine, f->name);
        if (c >= 0 && fm_type_eq(mine->fields[c].type, f->type)) continue;
        if (version <= v->s->snapshot->version && c >= 0) continue; /* older than what was opened: read as it is now */
        return fm_fail(err, FM_INVALID, "DELTA_SCHEMA_CHANGED_WITH_VERSION",
                       "Detected schema change in version %" PRId64 ": column `%.*s` is new or of another type. Please try restarting the query; if the "
                       "issue repeats, the change is one that the stream cannot be read across.",
                       version, FM_STR_ARG(f->name));
    }
    return FM_OK;
}

static fm_status check_changes(version_files *v, int64_t version, fm_error *err)
{
    const fm_delta_source *s = v->s;

    if (!v->removes || s->ignore_changes) return FM_OK;
    if (s->skip_changes) {
        v->n = 0;
        return FM_OK;
    }
    if (v->adds) {
        return fm_fail(err, FM_INVALID, "DELTA_SOURCE_TABLE_IGNORE_CHANGES",
                       "Detected a data update (for example %.*s) in the source table at version %" PRId64 ". This is currently not supported. If this is "
                       "going to happen regularly and you are okay to skip changes, set the option 'skipChangeCommits' to 'true'. The source table is '%s'.",
                       FM_STR_ARG(v->added), version, s->log.root.ptr);
    }
    if (s->ignore_deletes) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_SOURCE_IGNORE_DELETE",
                   "Detected deleted data (for example %.*s) from streaming source at version %" PRId64 ". This is currently not supported. If you'd like to "
                   "ignore deletes, set the option 'ignoreDeletes' to 'true'. The source table is '%s'.",
                   FM_STR_ARG(v->removed), version, s->log.root.ptr);
}

static int by_age(const void *a, const void *b)
{
    const fm_delta_file *x = &((const fm_delta_change *)a)->file, *y = &((const fm_delta_change *)b)->file;

    if (x->modified_ms != y->modified_ms) return x->modified_ms < y->modified_ms ? -1 : 1;
    return fm_str_cmp(x->path, y->path);
}

static fm_status initial_files(version_files *v, int64_t version, fm_error *err)
{
    fm_delta_source *s = v->s;

    if (!s->initial || s->initial->version != version) {
        fm_delta_snapshot_free(s->initial);
        s->initial = NULL;
        FM_TRY(fm_delta_snapshot_load(&s->log, version, &s->initial, err));
    }
    for (int32_t i = 0; i < s->initial->n_entries; i++) {
        if (!s->initial->entries[i].is_live) continue;
        FM_TRY(add_file(v, &s->initial->entries[i].file, err));
        fm_delta_change *c = &v->files[v->n - 1];
        c->kind = s->is_feed ? FM_DELTA_INSERTED : FM_DELTA_ROWS; /* a feed begins with what is there */
        c->version = version;
        c->timestamp_ms = s->initial->timestamp_ms;
    }
    if (v->n) qsort(v->files, (size_t)v->n, sizeof *v->files, by_age);
    return FM_OK;
}

static fm_status feed_files(version_files *v, int64_t version, fm_error *err)
{
    fm_delta_changes changes;

    FM_TRY(fm_delta_feed_commit(v->s, version, version, version, v->arena, &changes, err));
    v->files = changes.items;
    v->n = v->cap = changes.n;
    v->is_whole = true;
    v->has_metadata = changes.has_metadata;
    v->metadata = changes.metadata;
    return v->has_metadata ? check_schema(v, version, err) : FM_OK;
}

/* FM_NOT_FOUND: the version is not there yet. */
static fm_status files_of(fm_delta_source *s, fm_delta_place at, fm_arena *arena, version_files *v, fm_error *err)
{
    fm_str name = fm_delta_commit_name(arena, at.version);

    *v = (version_files){.s = s, .arena = arena};
    if (at.is_initial) return initial_files(v, at.version, err);
    if (!name.ptr) return fm_no_memory(arena, err);
    if (s->is_feed) return feed_files(v, at.version, err);
    FM_TRY(fm_delta_log_read(&s->log, name, arena, visit, v, err));
    if (v->has_metadata) FM_TRY(check_schema(v, at.version, err));
    return check_changes(v, at.version, err);
}

/* A commit that is not there although a later one is: its rows are lost. Looked for now and then. */
static fm_status check_loss(fm_delta_source *s, int64_t version, int64_t *next, fm_error *err)
{
    fm_delta_listing l;
    int64_t now_us = fm_clock_monotonic_us(s->env.clock);

    *next = version;
    if (s->looked_us && now_us - s->looked_us < LOOK_US) return FM_OK;
    s->looked_us = now_us;
    fm_arena *scratch = fm_arena_new(0);
    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_log_list(&s->log, scratch, &l, err);
    if (st == FM_OK && l.n_commits && l.commits[l.n_commits - 1].version > version) {
        int32_t i = 0;
        while (l.commits[i].version < version) i++;
        if (l.commits[i].version > version) { /* else it came just now */
            if (s->fail_on_loss) {
                st = fm_fail(err, FM_INVALID, "DELTA_STREAMING_TRAILING_COMMIT_MISSING",
                             "The stream from the Delta table '%s' wanted version %" PRId64 ", but the earliest one that is left is %" PRId64
                             ". The log was cleaned; set the option failOnDataLoss to 'false' to go on from there, or start with a new checkpointLocation.",
                             s->log.root.ptr, version, l.commits[i].version);
            } else {
                *next = l.commits[i].version;
            }
        }
    }
    fm_arena_free(scratch);
    return st;
}

/* ---- Offsets -------------------------------------------------------------------------------------------------------------- */

/* Takes files of one version behind `at` while the limits allow. True: all of them were taken. */
static bool take_files(const version_files *v, fm_delta_place *at, bool limited, int64_t files_max, int64_t bytes_max, int64_t *files, int64_t *bytes)
{
    int64_t first = at->index < 0 ? 0 : at->index + 1, had = *files;

    for (int64_t i = first; i < v->n; i++) {
        int64_t size = v->files[i].file.size > 0 ? v->files[i].file.size : 0;
        bool full = limited && *files > 0 && ((files_max && *files >= files_max) || (bytes_max && *bytes + size > bytes_max));
        if (full && (!v->is_whole || (i == first && had > 0))) return false;
        (*files)++;
        *bytes += size;
        at->index = i;
    }
    return true;
}

static fm_status find_end(fm_delta_source *s, fm_delta_place at, fm_read_limit limit, fm_delta_place *end, int64_t *files, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    version_files v;
    int64_t bytes = 0, next;
    bool began_initial = at.is_initial;
    fm_status st = scratch ? FM_OK : fm_no_memory(NULL, err);

    *files = 0;
    while (st == FM_OK && (s->target < 0 || at.version <= s->target)) {
        fm_arena_reset(scratch);
        st = files_of(s, at, scratch, &v, err);
        if (st == FM_NOT_FOUND && !at.is_initial) {
            st = check_loss(s, at.version, &next, err);
            if (st != FM_OK || next == at.version) break;
            at = (fm_delta_place){next, FM_DELTA_BASE_INDEX, false};
            continue;
        }
        if (st != FM_OK) break;
        if (!take_files(&v, &at, limit == FM_READ_LIMITED, s->files_max, s->bytes_max, files, &bytes)) break;
        at = (fm_delta_place){at.version + 1, FM_DELTA_BASE_INDEX, false};
        if (began_initial) break;
    }
    fm_arena_free(scratch);
    *end = at;
    return st;
}

fm_status fm_delta_stream_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena, fm_str *end, fm_str *latest, fm_error *err)
{
    fm_delta_source *s = (fm_delta_source *)source;
    fm_delta_place from, to;
    int64_t files;

    *latest = FM_STR("");
    *end = start;
    if (start.len) {
        FM_TRY(place_parse(s, start, &from, err));
    } else {
        FM_TRY(need_begin(s, err));
        from = s->begin;
    }
    fm_delta_place look = from;
    if (s->quiet_from.version >= 0 && place_cmp(s->quiet_from, from) == 0 && s->quiet_from.is_initial == from.is_initial) look = s->quiet_to;
    FM_TRY(find_end(s, look, limit, &to, &files, err));
    if (files == 0 && !(look.is_initial && !to.is_initial)) { /* commits without rows to read do not make a micro-batch */
        s->quiet_from = from;
        s->quiet_to = to;
        return FM_OK;
    }
    *end = place_text(s, to, arena);
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_delta_stream_fix(fm_source *source, fm_error *err)
{
    fm_delta_source *s = (fm_delta_source *)source;
    fm_delta_snapshot *now;

    FM_TRY(fm_delta_snapshot_load(&s->log, -1, &now, err));
    s->target = now->version;
    fm_delta_snapshot_free(now);
    return FM_OK;
}

/* ---- Splits ----------------------------------------------------------------------------------------------------------------- */

fm_status fm_delta_stream_splits(fm_delta_source *s, fm_str start, fm_str end, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    fm_delta_splits list = {.arena = arena};
    fm_delta_place at, to;
    version_files v;

    *out = NULL;
    *n = 0;
    FM_TRY(place_parse(s, end, &to, err));
    if (start.len) {
        FM_TRY(place_parse(s, start, &at, err));
    } else {
        FM_TRY(need_begin(s, err));
        at = s->begin;
    }
    fm_arena *scratch = fm_arena_new(0), *pruning = fm_arena_new(0);
    fm_status st = scratch && pruning ? FM_OK : fm_no_memory(NULL, err);
    while (st == FM_OK && at.version <= to.version && !(at.version == to.version && to.index == FM_DELTA_BASE_INDEX && !to.is_initial)) {
        fm_arena_reset(scratch);
        st = files_of(s, at, scratch, &v, err);
        if (st == FM_NOT_FOUND && s->fail_on_loss) {
            st = fm_fail(err, FM_INVALID, "DELTA_STREAMING_TRAILING_COMMIT_MISSING", "Version %" PRId64 " of the Delta table '%s' belongs to this micro-batch, but its commit is gone.",
                         at.version, s->log.root.ptr);
        } else if (st == FM_NOT_FOUND) {
            st = FM_OK;
        }
        int64_t last = at.version == to.version ? to.index : INT64_MAX;
        for (int64_t i = at.index < 0 ? 0 : at.index + 1; st == FM_OK && i < v.n && i <= last; i++) {
            bool keeps = false;
            st = fm_delta_source_keeps(s, &v.files[i].file, pruning, &keeps, err);
            if (keeps) st = fm_delta_splits_add(&list, &v.files[i], err);
        }
        at = (fm_delta_place){at.version + 1, FM_DELTA_BASE_INDEX, false};
    }
    fm_arena_free(scratch);
    fm_arena_free(pruning);
    *out = list.items;
    *n = list.n;
    return st;
}
