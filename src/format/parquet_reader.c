/* format/parquet_reader.c: wanted columns of a file, batch after batch. */
#include <stdlib.h>

#include "base/limits.h"
#include "format/parquet_prune.h"

struct fm_parquet_reader {
    const fm_parquet_file *file;
    fm_parquet_read spec;
    fm_arena *arena;       /* the reader's */
    fm_arena *group_arena; /* of the row group: ranges, page locations */
    fm_pq_packer packer;
    fm_pq_want *want;      /* [spec.schema->n_fields] */
    fm_pq_column *columns; /* [n_columns] leaves that are read */
    int32_t n_columns;
    fm_pq_leaf_rows *read; /* [n_columns] */
    int32_t batch_rows;
    int32_t from, to;      /* row groups */
    bool by_bytes;
    int64_t byte_from, byte_to;
    int32_t group;         /* being read; -1: none yet */
    fm_pq_range *ranges;   /* [n_ranges] of its rows */
    int32_t n_ranges, range;
    int64_t row;           /* next, in the group */
};

static fm_status reader_init(fm_parquet_reader *r, const fm_parquet_read *spec, fm_error *err)
{
    fm_pq_match match = {.file = r->file, .case_sensitive = spec->case_sensitive, .arena = r->arena};
    int32_t n = spec->schema->n_fields;

    r->want = fm_arena_array(r->arena, fm_pq_want, n);
    const fm_condition **conditions = fm_arena_array(r->arena, const fm_condition *, spec->n_conditions);
    if (!r->want || !conditions) return fm_no_memory(r->arena, err);
    for (int32_t i = 0; i < spec->n_conditions; i++) conditions[i] = spec->conditions[i];
    r->spec.conditions = conditions;
    fm_status st = fm_pq_match_fields(&match, &r->file->root, spec->schema, spec->file_names ? spec->file_names : spec->schema, spec->ids, r->want, err);
    r->columns = match.columns;
    r->n_columns = match.n_columns;
    for (int32_t i = 0; i < r->n_columns; i++) r->columns[i].pages.packer = &r->packer;
    r->read = fm_arena_array(r->arena, fm_pq_leaf_rows, r->n_columns);
    if (st == FM_OK && !r->read) st = fm_no_memory(r->arena, err);
    return st;
}

fm_status fm_parquet_reader_new(const fm_parquet_file *file, const fm_parquet_read *spec, fm_parquet_reader **out, fm_error *err)
{
    fm_parquet_reader *r = calloc(1, sizeof *r);

    *out = NULL;
    if (!r) return fm_no_memory(NULL, err);
    r->file = file;
    r->spec = *spec;
    r->arena = fm_arena_new(0);
    r->group_arena = fm_arena_new(0);
    r->batch_rows = spec->batch_rows > 0 && spec->batch_rows <= FM_BATCH_ROWS_MAX ? spec->batch_rows : FM_BATCH_ROWS_DECODE;
    r->to = file->footer.n_groups;
    r->group = -1;
    fm_status st = r->arena && r->group_arena ? reader_init(r, spec, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) *out = r;
    else fm_parquet_reader_free(r);
    return st;
}

void fm_parquet_reader_free(fm_parquet_reader *r)
{
    if (!r) return;
    for (int32_t i = 0; i < r->n_columns; i++) fm_pq_column_fini(&r->columns[i]);
    fm_pq_packer_fini(&r->packer);
    fm_arena_free(r->arena);
    fm_arena_free(r->group_arena);
    free(r);
}

static void restart(fm_parquet_reader *r)
{
    r->group = r->from - 1;
    r->n_ranges = r->range = 0;
}

void fm_parquet_reader_range(fm_parquet_reader *r, int32_t from, int32_t to)
{
    fm_assert(from >= 0 && from <= to && to <= r->file->footer.n_groups);
    r->from = from;
    r->to = to;
    r->by_bytes = false;
    restart(r);
}

void fm_parquet_reader_bytes(fm_parquet_reader *r, int64_t from, int64_t to)
{
    r->from = 0;
    r->to = r->file->footer.n_groups;
    r->by_bytes = true;
    r->byte_from = from;
    r->byte_to = to;
    restart(r);
}

/* The next row group that has rows to read; false at the end. */
static fm_status next_group(fm_parquet_reader *r, bool *found, fm_error *err)
{
    *found = false;
    while (++r->group < r->to) {
        const fm_pq_row_group *g = &r->file->footer.groups[r->group];
        int64_t middle = g->offset + g->packed_size / 2;
        if (r->by_bytes && (middle < r->byte_from || middle >= r->byte_to)) continue;
        fm_arena_reset(r->group_arena);
        FM_TRY(fm_pq_prune(r->file, r->group, &r->spec, r->want, r->group_arena, &r->ranges, &r->n_ranges, err));
        if (r->n_ranges == 0) continue;
        bool whole = r->n_ranges == 1 && r->ranges[0].to - r->ranges[0].from == g->rows;
        for (int32_t i = 0; i < r->n_columns; i++) {
            fm_pq_location *locations = NULL;
            int32_t n = 0;
            if (!whole) FM_TRY(fm_pq_locations(r->file, r->group, r->columns[i].leaf, r->group_arena, &locations, &n, err));
            FM_TRY(fm_pq_column_start(&r->columns[i], r->group, locations, n, err));
        }
        r->range = 0;
        r->row = r->ranges[0].from;
        *found = true;
        return FM_OK;
    }
    r->group = r->to;
    return FM_OK;
}

enum { GREGORIAN_DAY = -141427 /* 1582-10-15 */ };
#define GREGORIAN_US INT64_C(-2208988800000000) /* 1900-01-01: from then on zones agree, too */

/* Dates that a file has in the hybrid calendar are the same days from 1582 on; older ones would be others. */
static fm_status check_calendar(const fm_parquet_file *file, const fm_pq_leaf *leaf, const fm_vec *v, fm_error *err)
{
    bool legacy = leaf->element->type == FM_PQ_INT96 ? file->legacy_int96 : file->legacy_dates, ancient = false;

    if (!legacy) return FM_OK;
    if (v->type->id == FM_TYPE_DATE)
        for (int32_t i = 0; i < v->len; i++) ancient |= fm_vec_i32(v)[i] < GREGORIAN_DAY;
    if (v->type->id == FM_TYPE_TIMESTAMP)
        for (int32_t i = 0; i < v->len; i++) ancient |= fm_vec_i64(v)[i] < GREGORIAN_US;
    if (!ancient) return FM_OK;
    return fm_fail(err, FM_UNSUPPORTED, "INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME",
                   "Column '%.*s' of file '%.*s' has dates before 1582-10-15 or timestamps before 1900-01-01, and the file was written by Spark "
                   "in the old hybrid calendar, which is not built in. Write the file again with Spark 3 or later.",
                   FM_STR_ARG(leaf->element->name), FM_STR_ARG(file->path));
}

static fm_status read_rows(fm_parquet_reader *r, int32_t rows, fm_arena *arena, const fm_batch **out, fm_error *err)
{
    fm_batch *batch = fm_arena_one(arena, fm_batch);
    fm_vec *vecs = fm_arena_array(arena, fm_vec, r->spec.schema->n_fields);

    if (!batch || !vecs) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < r->n_columns; i++) {
        FM_TRY(fm_pq_column_seek(&r->columns[i], r->row, err));
        FM_TRY(fm_pq_column_read(&r->columns[i], rows, arena, &r->read[i], err));
        FM_TRY(check_calendar(r->file, r->columns[i].leaf, &r->read[i].vec, err));
    }
    for (int32_t i = 0; i < r->spec.schema->n_fields; i++)
        FM_TRY(fm_pq_nest(r->file, &r->want[i], r->read, (fm_pq_lanes){rows, 0, 0}, arena, &vecs[i], err));
    *batch = (fm_batch){.schema = r->spec.schema, .rows = rows, .columns = vecs};
    *out = batch;
    return FM_OK;
}

fm_status fm_parquet_reader_next(fm_parquet_reader *r, fm_arena *arena, const fm_batch **out, int64_t *first_row, fm_error *err)
{
    bool found = true;

    *out = NULL;
    while (r->range < r->n_ranges && r->row == r->ranges[r->range].to)
        if (++r->range < r->n_ranges) r->row = r->ranges[r->range].from;
    if (r->range >= r->n_ranges) FM_TRY(next_group(r, &found, err));
    if (!found) {
        r->n_ranges = r->range = 0;
        return FM_OK;
    }
    int64_t left = r->ranges[r->range].to - r->row;
    int32_t rows = left < r->batch_rows ? (int32_t)left : r->batch_rows;
    *first_row = r->file->footer.groups[r->group].first_row + r->row;
    FM_TRY(read_rows(r, rows, arena, out, err));
    r->row += rows;
    return FM_OK;
}
