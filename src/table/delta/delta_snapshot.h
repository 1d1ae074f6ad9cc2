/* table/delta/delta_snapshot.h: the state of a table at a version: what the log comes to.
 *
 *     checkpoint c  +  commits c+1 ... v  =  the snapshot at v
 *
 * 1. A file is of the table iff the last action on it (its path and deletion vector) is an add.
 * 2. Of protocol, metadata, a txn's application and a domain the last action counts.
 * 3. A snapshot grows with the log: fm_delta_snapshot_update reads the commits that came since. It belongs to one thread. */
#ifndef FM_TABLE_DELTA_DELTA_SNAPSHOT_H
#define FM_TABLE_DELTA_DELTA_SNAPSHOT_H

#include "table/delta/delta_index.h"
#include "table/delta/delta_log.h"
#include "table/delta/delta_protocol.h"

typedef struct fm_delta_entry {
    fm_delta_file file;
    fm_str key;      /* fm_delta_file_key */
    bool is_live;    /* of the table; else a tombstone */
    int64_t version; /* of the commit that said so last; the checkpoint's for what stands there */
} fm_delta_entry;

typedef struct fm_delta_snapshot {
    const fm_delta_log *log;
    fm_arena *arena;
    int64_t version;
    int64_t timestamp_ms;        /* of the commit */
    int64_t checkpoint_version;  /* it began with; -1: none */
    bool has_protocol, has_metadata;
    fm_delta_protocol protocol;
    fm_delta_metadata metadata;
    const fm_delta_schema *schema;
    int64_t metadata_version;    /* of the commit that set it */
    fm_delta_entry *entries;     /* [n_entries] in the order they came; live ones and tombstones */
    int32_t n_entries, cap_entries;
    int32_t n_live;
    fm_delta_index by_key;
    fm_delta_txn *txns;          /* [n_txns] */
    int32_t n_txns, cap_txns;
    fm_delta_index by_app;
    fm_delta_domain *domains;    /* [n_domains] removed ones too */
    int32_t n_domains, cap_domains;
    int64_t listed_us;           /* monotonic: when the folder was listed last */
} fm_delta_snapshot;

/* The table at `version`; < 0: the latest.
 *
 * out     freed by the caller; log must live as long
 * errors  FM_NOT_FOUND, DELTA_TABLE_NOT_FOUND: no log, or an empty one; FM_INVALID, DELTA_VERSION_NOT_FOUND,
 *         DELTA_VERSIONS_NOT_CONTIGUOUS; FM_UNSUPPORTED by name of the feature; FM_CORRUPT */
fm_status fm_delta_snapshot_load(const fm_delta_log *log, int64_t version, fm_delta_snapshot **out, fm_error *err);
void fm_delta_snapshot_free(fm_delta_snapshot *s); /* accepts NULL */
/* Reads what was committed since, up to the latest. A failure leaves a snapshot that may only be freed. */
fm_status fm_delta_snapshot_update(fm_delta_snapshot *s, fm_error *err);
/* As if commit s->version + 1 had these actions; for update, and for who wrote it. */
fm_status fm_delta_snapshot_apply(fm_delta_snapshot *s, const fm_delta_action *action, fm_error *err);
/* Ends commit s->version + 1: checks, and moves the version on. timestamp_ms: of the file, or in the commit. */
fm_status fm_delta_snapshot_advance(fm_delta_snapshot *s, int64_t timestamp_ms, fm_error *err);

/* A snapshot of a table that is not there yet: version -1, no metadata. */
fm_status fm_delta_snapshot_empty(const fm_delta_log *log, fm_delta_snapshot **out, fm_error *err);

/* The highest version an application has committed; INT64_MIN: none. */
int64_t fm_delta_snapshot_txn(const fm_delta_snapshot *s, fm_str app_id);

/* What a time travel by timestamp comes to: the version that was the latest at `at_ms`. FM_INVALID:
 * DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION, DELTA_TIMESTAMP_GREATER_THAN_COMMIT (unless clamp: then the latest). */
fm_status fm_delta_version_at(const fm_delta_log *log, int64_t at_ms, bool clamp, int64_t *version, fm_error *err);
/* Timestamps of commits, which never fall: [*n] versions and ms, ascending, of all commits that are there. */
typedef struct fm_delta_commit_time {
    int64_t version, timestamp_ms;
} fm_delta_commit_time;
fm_status fm_delta_commit_times(const fm_delta_log *log, fm_arena *arena, fm_delta_commit_time **out, int32_t *n, fm_error *err);

#endif
