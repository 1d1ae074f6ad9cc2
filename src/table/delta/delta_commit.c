/* table/delta/delta_commit.c: optimistic commits. */
#include "table/delta/delta_commit.h"

#include <inttypes.h>

#include "base/time_text.h"
#include "os/random.h"
#include "table/delta/delta_checkpoint.h"

/* ---- The text ----------------------------------------------------------------------------------------------- */

static void print_info(const fm_delta_snapshot *s, const fm_delta_commit *c, int64_t now_ms, int64_t in_commit_ms, fm_strbuf *out)
{
    char uuid[FM_UUID_TEXT_SIZE];

    fm_uuid(uuid);
    fm_strbuf_add_c(out, "{\"commitInfo\":{");
    if (in_commit_ms >= 0) fm_strbuf_printf(out, "\"inCommitTimestamp\":%" PRId64 ",", in_commit_ms);
    fm_strbuf_printf(out, "\"timestamp\":%" PRId64 ",\"operation\":", now_ms);
    fm_strbuf_add_json(out, fm_str_c(c->operation));
    fm_strbuf_add_c(out, ",\"operationParameters\":");
    fm_strbuf_add(out, c->parameters.ptr ? c->parameters : FM_STR("{}"));
    if (s->version >= 0) fm_strbuf_printf(out, ",\"readVersion\":%" PRId64, s->version);
    fm_strbuf_printf(out, ",\"isolationLevel\":\"%s\",\"isBlindAppend\":%s", c->no_data_change ? "SnapshotIsolation" : c->is_serializable ? "Serializable" : "WriteSerializable",
                     !c->read_files && c->n_removes == 0 ? "true" : "false");
    if (c->metrics.ptr) {
        fm_strbuf_add_c(out, ",\"operationMetrics\":");
        fm_strbuf_add(out, c->metrics);
    }
    if (c->user_metadata.ptr) {
        fm_strbuf_add_c(out, ",\"userMetadata\":");
        fm_strbuf_add_json(out, c->user_metadata);
    }
    fm_strbuf_printf(out, ",\"engineInfo\":\"floodmark\",\"txnId\":\"%s\"}}\n", uuid);
}

static void print_commit(const fm_delta_snapshot *s, const fm_delta_commit *c, int64_t now_ms, int64_t in_commit_ms, fm_strbuf *out)
{
    fm_delta_txn txn = {c->app_id, c->app_version, now_ms};

    print_info(s, c, now_ms, in_commit_ms, out); /* first, as in-commit timestamps want it */
    if (c->protocol) fm_delta_protocol_print(c->protocol, out);
    if (c->metadata) fm_delta_metadata_print(c->metadata, out);
    if (c->app_id.ptr) fm_delta_txn_print(&txn, out);
    for (int32_t i = 0; i < c->n_domains; i++) fm_delta_domain_print(&c->domains[i], out);
    for (int32_t i = 0; i < c->n_adds; i++) fm_delta_add_print(&c->adds[i], out);
    for (int32_t i = 0; i < c->n_removes; i++) fm_delta_remove_print(&c->removes[i], out);
    for (int32_t i = 0; i < c->n_cdcs; i++) fm_delta_cdc_print(&c->cdcs[i], out);
}

/* The time the commit says itself; -1: the table does not want one. */
static int64_t in_commit_time(const fm_delta_snapshot *s, const fm_delta_commit *c, int64_t now_ms)
{
    const fm_delta_metadata *m = c->metadata ? c->metadata : &s->metadata;

    if (!fm_delta_property(m, "delta.enableInCommitTimestamps", false)) return -1;
    return s->version >= 0 && now_ms <= s->timestamp_ms ? s->timestamp_ms + 1 : now_ms;
}

/* ---- Conflicts ---------------------------------------------------------------------------------------------- */

/* What a commit of another does to ours. */
typedef struct judge {
    fm_delta_snapshot *s;
    const fm_delta_commit *c;
    fm_delta_index ours;       /* keys of the files we remove */
    fm_strbuf key;
    const char *condition;     /* NULL: no conflict; the gravest wins by coming first */
    char what[256];
    bool is_blind, has_removes; /* of the commit of the other */
    bool adds_read;            /* it added, with a change of data, what we would have read */
    int64_t in_commit_ms;
} judge;

static void condemn(judge *j, const char *condition, fm_str what)
{
    if (j->condition) return;
    j->condition = condition;
    size_t n = what.len < sizeof j->what - 1 ? what.len : sizeof j->what - 1;
    if (n) memcpy(j->what, what.ptr, n);
    j->what[n] = 0;
}

static fm_status judge_remove(judge *j, const fm_delta_file *f, fm_error *err)
{
    fm_strbuf_clear(&j->key);
    FM_TRY(fm_delta_file_key(f, &j->key, err));
    if (fm_delta_index_find(&j->ours, fm_strbuf_str(&j->key)) >= 0) condemn(j, "DELTA_CONCURRENT_DELETE_DELETE", f->path);
    else if (j->c->read_files && (!j->c->would_read || j->c->would_read(j->c->ctx, f))) condemn(j, "DELTA_CONCURRENT_DELETE_READ", f->path);
    j->has_removes = true;
    return FM_OK;
}

static fm_status judge_action(void *ctx, const fm_delta_action *a, fm_error *err)
{
    judge *j = ctx;
    const fm_json *blind;

    switch (a->kind) {
    case FM_DELTA_COMMIT_INFO:
        j->in_commit_ms = a->u.commit_info.in_commit_ms;
        blind = fm_json_get(a->u.commit_info.json, "isBlindAppend");
        j->is_blind = blind && blind->kind == FM_JSON_BOOL && blind->boolean;
        break;
    case FM_DELTA_PROTOCOL: condemn(j, "DELTA_PROTOCOL_CHANGED", FM_STR("the protocol")); break;
    case FM_DELTA_METADATA: condemn(j, "DELTA_METADATA_CHANGED", FM_STR("the metadata")); break;
    case FM_DELTA_TXN:
        if (j->c->app_id.ptr && fm_str_eq(a->u.txn.app_id, j->c->app_id)) condemn(j, "DELTA_CONCURRENT_TRANSACTION", a->u.txn.app_id);
        break;
    case FM_DELTA_ADD:
        if (a->u.file.data_change && j->c->read_files && (!j->c->would_read || j->c->would_read(j->c->ctx, &a->u.file))) j->adds_read = true;
        break;
    case FM_DELTA_REMOVE: FM_TRY(judge_remove(j, &a->u.file, err)); break;
    case FM_DELTA_DOMAIN:
        for (int32_t i = 0; i < j->c->n_domains; i++) {
            if (fm_str_eq(j->c->domains[i].domain, a->u.domain.domain)) condemn(j, "DELTA_CONCURRENT_WRITE", a->u.domain.domain);
        }
        break;
    case FM_DELTA_CDC:
    case FM_DELTA_CHECKPOINT_METADATA:
    case FM_DELTA_SIDECAR:
    case FM_DELTA_OTHER: break;
    }
    return fm_delta_snapshot_apply(j->s, a, err);
}

static fm_status ours_by_key(judge *j, fm_arena *arena, fm_error *err)
{
    for (int32_t i = 0; i < j->c->n_removes; i++) {
        fm_strbuf_clear(&j->key);
        FM_TRY(fm_delta_file_key(&j->c->removes[i], &j->key, err));
        fm_str key = fm_arena_str(arena, fm_strbuf_str(&j->key));
        if (!key.ptr) return fm_no_memory(arena, err);
        FM_TRY(fm_delta_index_set(&j->ours, key, i, err));
    }
    return FM_OK;
}

/* Reads the commit that took our number, takes it into the snapshot, and says whether we may try the next. */
static fm_status read_winner(judge *j, fm_arena *scratch, fm_error *err)
{
    int64_t version = j->s->version + 1;
    fm_str name = fm_delta_commit_name(scratch, version), path = fm_delta_commit_path(j->s->log, scratch, version);
    fm_file_stat stat;

    if (!name.ptr || !path.ptr) return fm_no_memory(scratch, err);
    j->condition = NULL;
    j->is_blind = j->has_removes = j->adds_read = false;
    j->in_commit_ms = -1;
    FM_TRY(fm_delta_log_read(j->s->log, name, scratch, judge_action, j, err));
    FM_TRY(fm_fs_stat(j->s->log->fs, path.ptr, &stat, err));
    FM_TRY(fm_delta_snapshot_advance(j->s, j->in_commit_ms >= 0 ? j->in_commit_ms : stat.modified_ms, err));
    if (j->adds_read && (j->c->is_serializable || !j->is_blind)) condemn(j, "DELTA_CONCURRENT_APPEND", FM_STR("rows that this commit would have read"));
    if (!j->condition) return FM_OK;
    return fm_fail(err, FM_CONFLICT, j->condition,
                   "Transaction conflict detected: another writer committed version %" PRId64 " of the Delta table '%s' and changed %s, which "
                   "this commit stands on. Nothing was written; run the statement again.",
                   version, j->s->log->root.ptr, j->what);
}

/* ---- Committing --------------------------------------------------------------------------------------------- */

static fm_status apply_own(fm_delta_snapshot *s, fm_str text, int64_t version, int64_t in_commit_ms, fm_arena *scratch, fm_error *err)
{
    fm_file_stat stat;
    fm_delta_action a;

    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        fm_assert(end);
        FM_TRY(fm_delta_action_parse(scratch, (fm_str){text.ptr + at, (size_t)(end - text.ptr) - at}, &a, err));
        FM_TRY(fm_delta_snapshot_apply(s, &a, err));
        at = (size_t)(end - text.ptr) + 1;
    }
    if (in_commit_ms < 0) {
        fm_str path = fm_delta_commit_path(s->log, scratch, version);
        if (!path.ptr) return fm_no_memory(scratch, err);
        FM_TRY(fm_fs_stat(s->log->fs, path.ptr, &stat, err));
        in_commit_ms = stat.modified_ms;
    }
    return fm_delta_snapshot_advance(s, in_commit_ms, err);
}

static fm_status try_once(fm_delta_snapshot *s, const fm_delta_commit *c, fm_arena *scratch, bool *taken, fm_error *err)
{
    int64_t now_ms = fm_clock_now_us(s->log->clock) / FM_US_PER_MS, in_commit_ms = in_commit_time(s, c, now_ms);
    fm_str path = fm_delta_commit_path(s->log, scratch, s->version + 1);
    fm_strbuf text = {0};

    *taken = false;
    print_commit(s, c, now_ms, in_commit_ms, &text);
    fm_status st = path.ptr && fm_strbuf_ok(&text) ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) {
        st = fm_fs_write_atomic(s->log->fs, path.ptr, fm_strbuf_str(&text), false, err);
        *taken = st == FM_CONFLICT;
    }
    if (st == FM_OK) st = apply_own(s, fm_strbuf_str(&text), s->version + 1, in_commit_ms, scratch, err);
    fm_strbuf_fini(&text);
    return *taken ? FM_OK : st;
}

static fm_status check_commit(const fm_delta_snapshot *s, const fm_delta_commit *c, fm_error *err)
{
    const fm_delta_protocol *p = c->protocol ? c->protocol : &s->protocol;
    const fm_delta_metadata *m = c->metadata ? c->metadata : &s->metadata;
    bool changes = false;

    if (s->version >= 0) FM_TRY(fm_delta_check_write(&s->protocol, &s->metadata, s->schema, s->log->root, err));
    for (int32_t i = 0; i < c->n_removes; i++) changes |= c->removes[i].data_change;
    if (changes && fm_delta_property(m, "delta.appendOnly", false) && fm_delta_has_feature(p, "appendOnly")) {
        return fm_fail(err, FM_INVALID, "DELTA_CANNOT_MODIFY_APPEND_ONLY",
                       "This table is configured to only allow appends: '%s'. If you would like to permit updates or deletes, set its property "
                       "delta.appendOnly to false.",
                       s->log->root.ptr);
    }
    return FM_OK;
}

fm_status fm_delta_commit_run(fm_delta_snapshot *s, const fm_delta_commit *c, int64_t *version, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0), *scratch = fm_arena_new(0);
    judge j = {.s = s, .c = c};
    bool taken = true;
    fm_status st = arena && scratch ? check_commit(s, c, err) : fm_no_memory(NULL, err);

    if (st == FM_OK) st = ours_by_key(&j, arena, err);
    if (st == FM_OK) st = fm_fs_mkdirs(s->log->fs, s->log->dir.ptr, err);
    for (int tries = 0; st == FM_OK && taken; tries++) {
        fm_arena_reset(scratch);
        if (tries == FM_DELTA_COMMIT_TRIES_MAX) {
            st = fm_fail(err, FM_CONFLICT, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED_EXCEPTION",
                         "This commit has failed as it has been tried %d times but did not succeed: others commit to '%s' all the time.", tries,
                         s->log->root.ptr);
            break;
        }
        st = try_once(s, c, scratch, &taken, err);
        if (st == FM_OK && taken) st = read_winner(&j, scratch, err);
    }
    if (st == FM_OK) *version = s->version;
    fm_delta_index_fini(&j.ours);
    fm_strbuf_fini(&j.key);
    fm_arena_free(arena);
    fm_arena_free(scratch);
    return st;
}

void fm_delta_maintain(const fm_delta_snapshot *s)
{
    int64_t interval = fm_delta_property_i64(&s->metadata, "delta.checkpointInterval", 10);

    if (interval < 1 || s->version <= 0 || s->version % interval != 0) return;
    if (fm_delta_checkpoint_write(s, NULL) == FM_OK) fm_delta_log_clean(s, NULL);
}
