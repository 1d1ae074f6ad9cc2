/* engine/change_table.c: UPDATE, DELETE and MERGE on Delta tables, in one commit each. */
#include <inttypes.h>

#include "base/time_text.h"
#include "engine/change_plan.h"
#include "engine/change_rows.h"


typedef struct statement {
    fm_change c;
    const fm_plan *p;
    const fm_table_def *table;
    const fm_type *source;        /* STRUCT: of MERGE */
    const fm_type *evolving;      /* STRUCT: columns of the source that the table takes over, or NULL */
    bool evolve, want_old;
    fm_plan *query;
    int32_t n_new;
    int64_t source_rows;          /* of MERGE */
    int64_t counts[4];            /* by FM_CHANGE_*; [0]: all */
    int64_t by_source[4], matched[4]; /* likewise, of clauses of that kind */
} statement;

/* ---- Rows -------------------------------------------------------------------------------------------------------------------- */

/* Two rows of the source for one of the table: fine only when all that can happen is that it goes. */
static bool may_repeat(const fm_plan *p)
{
    int32_t matched = 0;
    bool only_delete = true;

    for (int32_t i = 0; i < p->n_clauses; i++) {
        if (p->clauses[i].when != FM_WHEN_MATCHED) continue;
        matched++;
        only_delete &= p->clauses[i].action == FM_MERGE_DELETE && !p->clauses[i].condition;
    }
    return matched == 1 && only_delete;
}

static fm_status refuse_repeat(fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
                   "Cannot perform Merge as multiple source rows matched and attempted to modify the same target row in the Delta table in possibly conflicting ways. "
                   "By SQL semantics of Merge, when multiple source rows match on the same target row, the result may be ambiguous as it is unclear which source row "
                   "should be used. Make the source unique by the columns of ON, or narrow the conditions.");
}

/* The rows that went, for the change files. */
static fm_status note_old(statement *s, const fm_batch *in, const int32_t *types, const int32_t *some, int32_t n, fm_error *err)
{
    const fm_type *table = s->c.plan.schema->type;
    fm_batch old = {.schema = table, .rows = in->rows, .columns = in->columns + FM_CHANGE_COLUMNS + s->n_new};
    const fm_batch *taken;
    int32_t *kept = fm_arena_array(s->c.batch, int32_t, n);

    if (!kept) return fm_no_memory(s->c.batch, err);
    for (int32_t i = 0; i < n; i++) kept[i] = types[some[i]] == FM_CHANGE_UPDATED ? FM_CHANGE_UPDATED_FROM : FM_CHANGE_DELETED;
    FM_TRY(fm_batch_gather(&old, some, n, s->c.batch, &taken, err));
    return fm_change_note(&s->c, taken, kept, err);
}

static fm_status take_rows(void *ctx, const fm_batch *in, fm_error *err)
{
    statement *s = ctx;
    const fm_vec *action = &in->columns[FM_CHANGE_ACTION], *clause = &in->columns[FM_CHANGE_CLAUSE], *file = &in->columns[FM_CHANGE_FILE],
                 *row = &in->columns[FM_CHANGE_ROW];
    int32_t n_come = 0, n_go = 0;

    fm_arena_reset(s->c.batch);
    int32_t *comes = fm_arena_array(s->c.batch, int32_t, in->rows), *goes = fm_arena_array(s->c.batch, int32_t, in->rows);
    if (!comes || !goes) return fm_no_memory(s->c.batch, err);
    for (int32_t i = 0; i < in->rows; i++) {
        int32_t what = fm_vec_i32(action)[i];
        fm_merge_when when = s->p->clauses[fm_vec_i32(clause)[i]].when;
        bool fresh = true;
        if (what != FM_CHANGE_INSERTED) {
            FM_TRY(fm_change_hit(&s->c, fm_vec_str(file, i), fm_vec_i64(row)[i], &fresh, err));
            if (!fresh && !may_repeat(s->p)) return refuse_repeat(err);
            if (fresh) goes[n_go++] = i;
        }
        s->counts[what] += fresh;
        s->counts[0] += fresh;
        if (when == FM_WHEN_MATCHED) s->matched[what] += fresh;
        if (when == FM_WHEN_NOT_MATCHED_BY_SOURCE) s->by_source[what] += fresh;
        if (what != FM_CHANGE_DELETED) comes[n_come++] = i;
    }
    if (s->want_old && n_go) FM_TRY(note_old(s, in, fm_vec_i32(action), goes, n_go, err));
    fm_batch rows = {.schema = s->c.rows, .rows = in->rows, .columns = in->columns + FM_CHANGE_COLUMNS};
    return fm_change_push(&s->c, &rows, comes, n_come, fm_vec_i32(action), err);
}

static fm_status begin_rows(void *ctx, const fm_type *schema, fm_error *err)
{
    statement *s = ctx;
    const fm_type *rows = fm_type_struct(s->c.arena, schema->fields + FM_CHANGE_COLUMNS, s->n_new);
    fm_delta_wish wish = {.rows = s->evolving ? s->evolving : rows, .merge_schema = s->evolving != NULL};

    return rows ? fm_change_plan_rows(&s->c, rows, &wish, true, err) : fm_no_memory(s->c.arena, err);
}

/* ---- MERGE: the source -------------------------------------------------------------------------------------------------------------- */

static bool names_column(const fm_merge_clause *c, fm_str target, fm_str name)
{
    if (c->star) return true;
    for (int32_t i = 0; i < c->n; i++) {
        const fm_name_path *path = &c->columns[i];
        bool alone = path->n == 1 || (path->n == 2 && fm_str_eq_ci(path->parts[0], target));
        if (alone && fm_str_eq_ci(path->parts[path->n - 1], name)) return true;
    }
    return false;
}

/* Columns of the source, and which of them the table takes over: those that a clause names. */
static fm_status look_at_source(statement *s, fm_error *err)
{
    fm_plan *analyzed;
    int32_t n = 0, n_taken = 0;

    FM_TRY(fm_session_analyze(s->c.s, s->p->children[1], s->c.arena, &analyzed, err));
    fm_field *fields = fm_arena_array(s->c.arena, fm_field, analyzed->n_output), *taken = fm_arena_array(s->c.arena, fm_field, analyzed->n_output);
    if (!fields || !taken) return fm_no_memory(s->c.arena, err);
    for (int32_t i = 0; i < analyzed->n_output; i++) {
        const fm_attr *a = &analyzed->output[i];
        if (a->hidden) continue;
        fields[n++] = (fm_field){a->name, a->type, a->nullable};
        bool wanted = false;
        for (int32_t k = 0; k < s->p->n_clauses; k++) wanted |= names_column(&s->p->clauses[k], fm_change_name_of(s->p->children[0]), a->name);
        if (wanted) taken[n_taken++] = fields[n - 1];
    }
    s->source = fm_type_struct(s->c.arena, fields, n);
    s->evolving = s->evolve ? fm_type_struct(s->c.arena, taken, n_taken) : NULL;
    return s->source && (s->evolving || !s->evolve) ? FM_OK : fm_no_memory(s->c.arena, err);
}

/* ---- What the commit says ------------------------------------------------------------------------------------------------------------ */

/* ["(id = 1)"] */
static fm_str predicate_text(const statement *s, const fm_expr *e)
{
    fm_strbuf text = {0};

    if (e) fm_expr_sql(e, &text);
    fm_str one = e ? fm_strbuf_str(&text) : FM_STR("true"), out = fm_names_json(s->c.arena, &one, 1);
    fm_strbuf_fini(&text);
    return out;
}

/* [{"predicate":"(a > 1)","actionType":"update"}] */
static fm_str clauses_text(const statement *s, fm_merge_when when)
{
    static const char *const actions[] = {"update", "delete", "insert"};
    fm_strbuf text = {0};

    fm_strbuf_add_char(&text, '[');
    for (int32_t i = 0; i < s->p->n_clauses; i++) {
        const fm_merge_clause *c = &s->p->clauses[i];
        fm_strbuf condition = {0};
        if (c->when != when) continue;
        fm_strbuf_add_c(&text, text.len > 1 ? ",{" : "{");
        if (c->condition) {
            fm_expr_sql(c->condition, &condition);
            fm_strbuf_add_c(&text, "\"predicate\":");
            fm_strbuf_add_json(&text, fm_strbuf_str(&condition));
            fm_strbuf_add_char(&text, ',');
        }
        fm_strbuf_printf(&text, "\"actionType\":\"%s\"}", actions[c->action]);
        fm_strbuf_fini(&condition);
    }
    fm_strbuf_add_char(&text, ']');
    fm_str out = fm_strbuf_ok(&text) ? fm_arena_str(s->c.arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out;
}

static fm_str parameters(const statement *s)
{
    if (s->p->kind == FM_PLAN_MERGE) {
        fm_pair pairs[] = {{"predicate", predicate_text(s, s->p->exprs[0])},
                           {"matchedPredicates", clauses_text(s, FM_WHEN_MATCHED)},
                           {"notMatchedPredicates", clauses_text(s, FM_WHEN_NOT_MATCHED)},
                           {"notMatchedBySourcePredicates", clauses_text(s, FM_WHEN_NOT_MATCHED_BY_SOURCE)}};
        return fm_pairs_json(s->c.arena, pairs, 4);
    }
    fm_pair pair = {"predicate", predicate_text(s, s->p->clauses[0].condition)};
    return fm_pairs_json(s->c.arena, &pair, 1);
}

static fm_str metrics(const statement *s, const fm_change_totals *t)
{
    int64_t ms = (fm_clock_now_us(s->c.s->env.clock) - s->c.started_us) / FM_US_PER_MS;
    bool update = s->p->kind == FM_PLAN_UPDATE;

    if (s->p->kind != FM_PLAN_MERGE) {
        fm_metric m[] = {{"numRemovedFiles", t->removed_files}, {"numRemovedBytes", t->removed_bytes}, {"numCopiedRows", t->copied_rows},
                      {"numDeletionVectorsAdded", t->vectors_added}, {"numDeletionVectorsRemoved", t->vectors_removed},
                      {"numDeletionVectorsUpdated", t->vectors_updated}, {"numAddedChangeFiles", t->change_files}, {"executionTimeMs", ms},
                      {update ? "numUpdatedRows" : "numDeletedRows", s->counts[0]}, {"numAddedFiles", t->added_files}, {"numAddedBytes", t->added_bytes}};
        return fm_metrics_json(s->c.arena, m, sizeof m / sizeof m[0]);
    }
    fm_metric m[] = {{"numSourceRows", s->source_rows}, {"numTargetRowsInserted", s->counts[FM_CHANGE_INSERTED]}, {"numTargetRowsUpdated", s->counts[FM_CHANGE_UPDATED]},
                  {"numTargetRowsDeleted", s->counts[FM_CHANGE_DELETED]}, {"numTargetRowsMatchedUpdated", s->matched[FM_CHANGE_UPDATED]},
                  {"numTargetRowsMatchedDeleted", s->matched[FM_CHANGE_DELETED]}, {"numTargetRowsNotMatchedBySourceUpdated", s->by_source[FM_CHANGE_UPDATED]},
                  {"numTargetRowsNotMatchedBySourceDeleted", s->by_source[FM_CHANGE_DELETED]}, {"numTargetRowsCopied", t->copied_rows},
                  {"numOutputRows", t->copied_rows + s->c.rows_written}, {"numTargetFilesAdded", t->added_files}, {"numTargetFilesRemoved", t->removed_files},
                  {"numTargetBytesAdded", t->added_bytes}, {"numTargetBytesRemoved", t->removed_bytes}, {"numTargetChangeFilesAdded", t->change_files},
                  {"numTargetDeletionVectorsAdded", t->vectors_added}, {"numTargetDeletionVectorsRemoved", t->vectors_removed},
                  {"numTargetDeletionVectorsUpdated", t->vectors_updated}, {"executionTimeMs", ms}};
    return fm_metrics_json(s->c.arena, m, sizeof m / sizeof m[0]);
}

/* ---- One try ------------------------------------------------------------------------------------------------------------------- */

static fm_status commit(statement *s, fm_error *err)
{
    static const char *const operations[] = {"UPDATE", "DELETE", "MERGE"};
    fm_change_totals totals;
    fm_delta_commit d = {.operation = operations[s->p->kind - FM_PLAN_UPDATE]};

    if (s->counts[0] == 0 && !s->c.plan.metadata) return FM_OK; /* nothing changed: no commit */
    FM_TRY(fm_change_finish(&s->c, false, &d, &totals, err));
    d.parameters = parameters(s);
    d.metrics = metrics(s, &totals);
    return fm_change_commit(&s->c, &d, err);
}

/* The schema that the rows will have, to make the query by. */
static fm_status plan_schema(statement *s, fm_delta_plan *plan, fm_error *err)
{
    const fm_type *none = fm_type_struct(s->c.arena, NULL, 0);
    fm_delta_wish wish = {.rows = s->evolving ? s->evolving : none, .merge_schema = s->evolving != NULL};

    return none ? fm_delta_plan_write(s->c.snapshot, &wish, s->c.arena, plan, err) : fm_no_memory(s->c.arena, err);
}

static fm_status note_reads(void *ctx, const fm_plan *optimized, fm_error *err)
{
    statement *s = ctx;

    return fm_change_note_reads(&s->c, optimized, err);
}

static fm_status run(void *ctx, fm_error *err)
{
    statement *s = ctx;
    fm_delta_plan plan;
    fm_rows_to to = {.ctx = s, .begin = begin_rows, .push = take_rows, .planned = note_reads};

    s->source_rows = 0;
    for (int i = 0; i < 4; i++) s->counts[i] = s->matched[i] = s->by_source[i] = 0;
    s->evolving = NULL;
    if (s->p->kind == FM_PLAN_MERGE) FM_TRY(look_at_source(s, err));
    FM_TRY(plan_schema(s, &plan, err));
    FM_TRY(fm_change_declare_target(&s->c, err));
    s->want_old = fm_delta_property(plan.written, "delta.enableChangeDataFeed", false);
    fm_change_query q = {.s = s->c.s, .statement = s->p, .target = FM_STR(FM_CHANGE_TARGET), .have = s->c.snapshot->schema, .want = plan.schema, .source = s->source,
                         .evolve = s->evolve, .want_old = s->want_old, .source_rows = &s->source_rows};
    FM_TRY(fm_change_plan(&q, s->c.arena, &s->query, &s->n_new, err));
    FM_TRY(fm_session_query_into(s->c.s, s->query, s->c.arena, &to, err));
    return commit(s, err);
}

fm_status fm_session_change(fm_session *session, const fm_plan *p, fm_result *r, fm_error *err)
{
    static const char *const names[] = {"num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"};
    statement s = {.p = p, .evolve = p->outer};
    const fm_plan *relation = p->children[0]->kind == FM_PLAN_SUBQUERY_ALIAS ? p->children[0]->children[0] : p->children[0];
    bool automatic = false;

    FM_TRY(fm_options_bool(&session->settings, "spark.databricks.delta.schema.autoMerge.enabled", false, &automatic, err));
    if (p->kind == FM_PLAN_MERGE) s.evolve |= automatic;
    FM_TRY(fm_delta_table_of(session, relation->name_parts, relation->n_name_parts, relation->pos, &s.table, err));
    FM_TRY(fm_change_try(&s.c, session, s.table, fm_change_begin, run, &s, err));
    int64_t counts[] = {s.counts[0], s.counts[FM_CHANGE_UPDATED], s.counts[FM_CHANGE_DELETED], s.counts[FM_CHANGE_INSERTED]};
    return fm_result_counts(r, names, counts, p->kind == FM_PLAN_MERGE ? 4 : 1, err);
}
