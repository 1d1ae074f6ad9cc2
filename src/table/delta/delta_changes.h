/* table/delta/delta_changes.h: what a commit did to the rows of a table, piece by piece: the change data feed.
 *
 *     cdc files in the commit      they have every changed row, and say in _change_type what became of it; nothing else counts
 *     a file added                 its rows were inserted
 *     a file removed               its rows were deleted
 *     both, of one data file       its deletion vector is another one now: rows that it marks anew were deleted, rows that it marks
 *                                  no more were inserted again
 *
 * Only actions that change data count. Rule  Delta protocol, "Change Data Files"; Delta, CDCReader */
#ifndef FM_TABLE_DELTA_DELTA_CHANGES_H
#define FM_TABLE_DELTA_DELTA_CHANGES_H

#include "table/delta/delta_scan.h"

#define FM_DELTA_CHANGE_TYPE "_change_type"
#define FM_DELTA_CHANGE_FOLDER "_change_data/"

typedef enum fm_delta_change_kind { FM_DELTA_ROWS, FM_DELTA_INSERTED, FM_DELTA_DELETED, FM_DELTA_CHANGE_FILE } fm_delta_change_kind;

/* Rows of one file; ROWS: just those, of no feed. */
typedef struct fm_delta_change {
    fm_delta_change_kind kind;
    fm_delta_file file;      /* rows that its deletion vector marks are left out */
    const fm_delta_dv *only; /* rows that this one does not mark are left out, too; NULL: none are */
    int64_t version, timestamp_ms; /* of the commit */
} fm_delta_change;

typedef struct fm_delta_changes {
    fm_delta_change *items; /* [n] in the order of the commit */
    int32_t n, cap;
    bool has_metadata, has_protocol;
    fm_delta_metadata metadata;
    fm_delta_protocol protocol;
    int64_t timestamp_ms; /* in the commit, or of its file */
} fm_delta_changes;

/* What commit `version` did; all in arena. FM_NOT_FOUND: it is not there; FM_CORRUPT. */
fm_status fm_delta_changes_read(const fm_delta_log *log, int64_t version, fm_arena *arena, fm_delta_changes *out, fm_error *err);

/* Whether a table records its changes: delta.enableChangeDataFeed. */
bool fm_delta_feed_is_on(const fm_delta_metadata *m);
/* DELTA_MISSING_CHANGE_DATA. */
fm_status fm_delta_feed_is_off(int64_t start, int64_t end, int64_t version, fm_error *err);

/* The table's schema with one more column of data files, _change_type. */
fm_status fm_delta_schema_of_changes(const fm_delta_schema *schema, fm_arena *arena, const fm_delta_schema **out, fm_error *err);

/* As fm_delta_scan_file, of a piece. */
fm_status fm_delta_scan_change(fm_delta_scan *scan, const fm_delta_log *log, const fm_delta_change *change, fm_delta_push push, void *ctx, fm_error *err);

#endif
