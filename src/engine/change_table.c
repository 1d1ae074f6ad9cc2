/* engine/change_table.c: UPDATE, DELETE and MERGE on Delta tables: rows that go and rows that come, in one commit. */
#include <inttypes.h>

#include "base/bits.h"
#include "engine/change_plan.h"
#include "engine/tables.h"
#include "sink/delta_shape.h"
#include "table/delta/delta_commit.h"
#include "table/delta/delta_rewrite.h"

enum { TRIES_MAX = 20 };
#define TARGET "__floodmark_target"

typedef struct change {
    fm_session *s;
    const fm_plan *statement;
    fm_arena *arena, *batch;      /* one try; one batch */
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    fm_delta_rewrite *rewrite;
    fm_delta_plan plan;
    fm_delta_shape *shape;
    int32_t *columns, n_columns;  /* of the table, in the query's order */
    const fm_type *rows;          /* STRUCT of them */
    fm_delta_index by_path;
    fm_delta_rows *hits;          /* [n_entries] bits are made with the first hit */
    int64_t counts[4];            /* by FM_CHANGE_*; [0]: all */
} change;

/* ---- Rows -------------------------------------------------------------------------------------------------------------------- */

/* Two rows of the source for one of the table: fine only when all that can happen is that it goes. */
static bool may_repeat(const fm_plan *statement)
{
    int32_t matched = 0;
    bool only_delete = true;

    for (int32_t i = 0; i < statement->n_clauses; i++) {
        if (statement->clauses[i].when != FM_WHEN_MATCHED) continue;
        matched++;
        only_delete &= statement->clauses[i].action == FM_MERGE_DELETE && !statement->clauses[i].condition;
    }
    return matched == 1 && only_delete;
}

/* false in *fresh: the row was hit before. */
static fm_status hit(change *c, fm_str path, int64_t row, bool *fresh, fm_error *err)
{
    int32_t at = fm_delta_index_find(&c->by_path, path);

    fm_assert(at >= 0); /* the query read the snapshot's own files */
    fm_delta_rows *h = &c->hits[at];
    if (!h->bits) {
        FM_TRY(fm_delta_file_rows(&c->log, &c->snapshot->entries[at].file, &h->rows, err));
        h->bits = fm_arena_array(c->arena, uint64_t, fm_bit_words(h->rows) + 1);
        if (!h->bits) return fm_no_memory(c->arena, err);
    }
    fm_assert(row >= 0 && row < h->rows);
    *fresh = !fm_bit_get(h->bits, row);
    fm_bit_set(h->bits, row);
    h->gone += *fresh;
    if (*fresh || may_repeat(c->statement)) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
                   "Cannot perform Merge as multiple source rows matched and attempted to modify the same target row in the Delta table in possibly conflicting ways. "
                   "Make the source unique by the columns of ON, or narrow the conditions.");
}

static fm_status take_rows(void *ctx, const fm_batch *in, fm_error *err)
{
    change *c = ctx;
    const fm_vec *action = &in->columns[FM_CHANGE_ACTION], *file = &in->columns[FM_CHANGE_FILE], *row = &in->columns[FM_CHANGE_ROW];
    const fm_batch *some, *shaped;
    int32_t n = 0;

    fm_arena_reset(c->batch);
    int32_t *comes = fm_arena_array(c->batch, int32_t, in->rows);
    if (!comes) return fm_no_memory(c->batch, err);
    for (int32_t i = 0; i < in->rows; i++) {
        int32_t what = fm_vec_i32(action)[i];
        bool fresh = true;
        if (what != FM_CHANGE_INSERTED) FM_TRY(hit(c, fm_vec_str(file, i), fm_vec_i64(row)[i], &fresh, err));
        c->counts[what] += fresh;
        c->counts[0] += fresh;
        if (what != FM_CHANGE_DELETED) comes[n++] = i;
    }
    if (n == 0) return FM_OK;
    fm_batch rows = {.schema = c->rows, .rows = in->rows, .columns = in->columns + FM_CHANGE_COLUMNS};
    FM_TRY(fm_batch_gather(&rows, comes, n, c->batch, &some, err));
    FM_TRY(fm_delta_shape_run(c->shape, some, c->batch, &shaped, err));
    return fm_delta_writer_write(fm_delta_rewrite_writer(c->rewrite), shaped, err);
}

static fm_status begin_rows(void *ctx, const fm_type *schema, fm_error *err)
{
    change *c = ctx;
    fm_delta_wish wish = {0};
    fm_delta_rewrite_spec spec = {.log = &c->log, .schema = c->snapshot->schema, .metadata = &c->snapshot->metadata, .zone = c->s->conf.zone, .files_max = c->snapshot->n_live};

    c->rows = fm_type_struct(c->arena, schema->fields + FM_CHANGE_COLUMNS, schema->n_fields - FM_CHANGE_COLUMNS);
    if (!c->rows) return fm_no_memory(c->arena, err);
    wish.rows = c->rows;
    FM_TRY(fm_delta_plan_write(c->snapshot, &wish, c->arena, &c->plan, err));
    FM_TRY(fm_delta_shape_new(&c->s->sink_env, &c->plan, c->rows, c->arena, &c->shape, err));
    spec.use_vectors = fm_delta_property(&c->snapshot->metadata, "delta.enableDeletionVectors", false) && fm_delta_has_feature(&c->snapshot->protocol, "deletionVectors");
    return fm_delta_rewrite_new(&spec, &c->rewrite, err);
}

/* ---- One try ------------------------------------------------------------------------------------------------------------------- */

static fm_status index_files(change *c, fm_error *err)
{
    c->hits = fm_arena_array(c->arena, fm_delta_rows, c->snapshot->n_entries);
    if (!c->hits) return fm_no_memory(c->arena, err);
    for (int32_t i = 0; i < c->snapshot->n_entries; i++) {
        if (c->snapshot->entries[i].is_live) FM_TRY(fm_delta_index_set(&c->by_path, c->snapshot->entries[i].file.path, i, err));
    }
    return FM_OK;
}

/* The table as the query reads it: at the version that the commit stands on, rows with their places. */
static fm_status declare_target(change *c, fm_error *err)
{
    fm_table_def def = {.name = FM_STR(TARGET), .format = FM_STR("delta")};
    fm_str version = fm_arena_printf(c->arena, "%" PRId64, c->snapshot->version);
    bool ok = version.ptr && fm_options_set(c->arena, &def.options, FM_STR("path"), c->log.root) && fm_options_set(c->arena, &def.options, FM_STR("versionAsOf"), version) &&
              fm_options_set(c->arena, &def.options, FM_STR("floodmarkRows"), FM_STR("true"));

    return ok ? fm_session_add_table(c->s, &def, false, true, err) : fm_no_memory(c->arena, err);
}

static fm_status commit(change *c, fm_error *err)
{
    static const char *const operations[] = {"UPDATE", "DELETE", "MERGE"};
    int64_t version;
    fm_delta_commit d = {.operation = operations[c->statement->kind - FM_PLAN_UPDATE], .read_files = true};

    for (int32_t i = 0; i < c->snapshot->n_entries; i++) {
        if (c->hits[i].bits) FM_TRY(fm_delta_rewrite_file(c->rewrite, &c->snapshot->entries[i].file, &c->hits[i], err));
    }
    if (c->counts[0] == 0) return FM_OK;
    FM_TRY(fm_delta_rewrite_finish(c->rewrite, &d.adds, &d.n_adds, &d.removes, &d.n_removes, err));
    d.metrics = fm_arena_printf(c->arena, "{\"numAffectedRows\":\"%" PRId64 "\",\"numAddedFiles\":\"%" PRId32 "\",\"numRemovedFiles\":\"%" PRId32 "\"}", c->counts[0], d.n_adds, d.n_removes);
    if (!d.metrics.ptr) return fm_no_memory(c->arena, err);
    return fm_delta_commit_run(c->snapshot, &d, &version, err);
}

static fm_status check_table(change *c, fm_error *err)
{
    FM_TRY(fm_delta_check_write(&c->snapshot->protocol, &c->snapshot->metadata, c->snapshot->schema, c->log.root, err));
    if (!fm_delta_property(&c->snapshot->metadata, "delta.enableChangeDataFeed", false)) return FM_OK;
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_DELTA_CHANGE_DATA_FEED",
                   "The table '%s' has delta.enableChangeDataFeed; rows that are changed in it would need change files, which are not written here yet.", c->log.root.ptr);
}

static fm_status run(change *c, const fm_table_def *table, fm_error *err)
{
    fm_plan *query;
    fm_rows_to to = {.ctx = c, .begin = begin_rows, .push = take_rows};

    FM_TRY(fm_delta_log_of(c->s, table, c->arena, &c->log, err));
    fm_status st = fm_delta_snapshot_load(&c->log, -1, &c->snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", c->log.root.ptr);
    if (st != FM_OK) return st;
    FM_TRY(check_table(c, err));
    FM_TRY(index_files(c, err));
    FM_TRY(declare_target(c, err));
    FM_TRY(fm_change_plan(c->statement, FM_STR(TARGET), c->snapshot->schema, c->arena, &query, &c->columns, &c->n_columns, err));
    FM_TRY(fm_session_query_into(c->s, query, c->arena, &to, err));
    return commit(c, err);
}

static fm_status try_once(change *c, const fm_table_def *table, fm_error *err)
{
    c->arena = fm_arena_new(0);
    c->batch = fm_arena_new(0);
    for (int i = 0; i < 4; i++) c->counts[i] = 0;
    fm_status st = c->arena && c->batch ? run(c, table, err) : fm_no_memory(NULL, err);
    /* A commit whose end is not known may be there: its files must stay. */
    fm_delta_rewrite_free(c->rewrite, st == FM_OK || st == FM_UNAVAILABLE);
    c->rewrite = NULL;
    fm_session_drop(c->s, FM_STR(TARGET), false, true, NULL);
    if (st == FM_OK && c->counts[0]) fm_delta_maintain(c->snapshot);
    fm_delta_snapshot_free(c->snapshot);
    c->snapshot = NULL;
    fm_delta_index_fini(&c->by_path);
    fm_arena_free(c->batch);
    fm_arena_free(c->arena);
    return st;
}

fm_status fm_session_change(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    static const char *const names[] = {"num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"};
    change c = {.s = s, .statement = p};
    const fm_plan *relation = p->children[0]->kind == FM_PLAN_SUBQUERY_ALIAS ? p->children[0]->children[0] : p->children[0];
    const fm_table_def *table;
    fm_status st = FM_CONFLICT;

    if (p->kind == FM_PLAN_MERGE && p->outer) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_MERGE_SCHEMA_EVOLUTION", p->pos.line, p->pos.column,
                          "MERGE WITH SCHEMA EVOLUTION is not available: add the columns first, by a stream or an INSERT with mergeSchema.");
    }
    FM_TRY(fm_delta_table_of(s, relation->name_parts, relation->n_name_parts, p->pos, &table, err));
    for (int tries = 0; st == FM_CONFLICT && tries < TRIES_MAX; tries++) st = try_once(&c, table, err);
    if (st != FM_OK) return st;
    int64_t counts[] = {c.counts[0], c.counts[FM_CHANGE_UPDATED], c.counts[FM_CHANGE_DELETED], c.counts[FM_CHANGE_INSERTED]};
    return fm_result_counts(r, names, counts, p->kind == FM_PLAN_MERGE ? 4 : 1, err);
}
