/* engine/change_rows.c: rows that go and rows that come. */
#include "engine/change_rows.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/time_text.h"

/* ---- Texts of commits ---------------------------------------------------------------------------------------------- */

fm_str fm_pairs_json(fm_arena *arena, const fm_pair *pairs, int32_t n)
{
    fm_strbuf text = {0};

    fm_strbuf_add_char(&text, '{');
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_char(&text, ',');
        fm_strbuf_add_json(&text, fm_str_c(pairs[i].key));
        fm_strbuf_add_char(&text, ':');
        if (pairs[i].value.ptr) fm_strbuf_add_json(&text, pairs[i].value);
        else fm_strbuf_add_c(&text, "null");
    }
    fm_strbuf_add_char(&text, '}');
    fm_str out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out;
}

fm_str fm_metrics_json(fm_arena *arena, const fm_metric *m, int32_t n)
{
    fm_pair pairs[FM_METRICS_MAX];

    fm_assert(n <= FM_METRICS_MAX);
    for (int32_t i = 0; i < n; i++) pairs[i] = (fm_pair){m[i].name, fm_number_text(arena, m[i].value)};
    return fm_pairs_json(arena, pairs, n);
}

fm_str fm_number_text(fm_arena *arena, int64_t x) { return fm_arena_printf(arena, "%" PRId64, x); }

fm_str fm_names_json(fm_arena *arena, const fm_str *names, int32_t n)
{
    fm_strbuf text = {0};

    fm_strbuf_add_char(&text, '[');
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_char(&text, ',');
        fm_strbuf_add_json(&text, names[i]);
    }
    fm_strbuf_add_char(&text, ']');
    fm_str out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out;
}

/* ---- Begin and end ---------------------------------------------------------------------------------------------------- */

typedef enum purpose { TO_CHANGE, TO_MAKE, TO_READ } purpose;

static fm_status load(fm_change *c, fm_str path, purpose why, fm_error *err)
{
    FM_TRY(fm_delta_log_init(&c->log, c->s->env.fs, c->s->env.clock, path, c->arena, err));
    fm_status st = fm_delta_snapshot_load(&c->log, -1, &c->snapshot, err);
    if (st == FM_NOT_FOUND && why == TO_MAKE) return fm_delta_snapshot_empty(&c->log, &c->snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", c->log.root.ptr);
    if (st != FM_OK) return st;
    if (why == TO_READ) return FM_OK;
    FM_TRY(fm_delta_check_write(&c->snapshot->protocol, &c->snapshot->metadata, c->snapshot->schema, c->log.root, err));
    c->hits = fm_arena_array(c->arena, fm_delta_rows, c->snapshot->n_entries);
    if (!c->hits) return fm_no_memory(c->arena, err);
    for (int32_t i = 0; i < c->snapshot->n_entries; i++) {
        if (c->snapshot->entries[i].is_live) FM_TRY(fm_delta_index_set(&c->by_path, c->snapshot->entries[i].file.path, i, err));
    }
    return FM_OK;
}

static fm_status begin(fm_change *c, fm_session *s, fm_str path, purpose why, fm_error *err)
{
    *c = (fm_change){.s = s, .arena = fm_arena_new(0), .batch = fm_arena_new(0), .started_us = fm_clock_now_us(s->env.clock)};
    return c->arena && c->batch ? load(c, path, why, err) : fm_no_memory(NULL, err);
}

fm_status fm_change_begin(fm_change *c, fm_session *s, const fm_table_def *table, fm_error *err)
{
    return begin(c, s, fm_options_get(&table->options, "path", FM_STR("")), TO_CHANGE, err);
}

fm_status fm_change_begin_new(fm_change *c, fm_session *s, fm_str path, fm_error *err) { return begin(c, s, path, TO_MAKE, err); }

fm_status fm_change_begin_read(fm_change *c, fm_session *s, const fm_table_def *table, fm_error *err)
{
    return begin(c, s, fm_options_get(&table->options, "path", FM_STR("")), TO_READ, err);
}

void fm_change_end(fm_change *c, fm_status st)
{
    /* A commit whose end is not known may be there: its files must stay. */
    bool keep = st == FM_OK || st == FM_UNAVAILABLE;

    fm_delta_rewrite_free(c->rewrite, keep);
    fm_delta_feed_writer_free(c->changes, keep);
    fm_session_drop(c->s, FM_STR(FM_CHANGE_TARGET), false, true, NULL);
    fm_delta_snapshot_free(c->snapshot);
    fm_delta_index_fini(&c->by_path);
    fm_arena_free(c->batch);
    fm_arena_free(c->arena);
    c->arena = c->batch = NULL;
}

fm_status fm_change_try(fm_change *c, fm_session *s, const fm_table_def *table, fm_change_begin_fn begin_try, fm_status (*run)(void *ctx, fm_error *err),
                        void *ctx, fm_error *err)
{
    fm_status st = FM_CONFLICT;

    for (int tries = 0; st == FM_CONFLICT && tries < FM_CHANGE_TRIES_MAX; tries++) {
        st = begin_try(c, s, table, err);
        if (st == FM_OK) st = run(ctx, err);
        fm_change_end(c, st);
    }
    return st;
}

/* ---- What was read ---------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    fm_change *c;
    fm_status st;
    fm_error *err;
} reading;

/* Conditions that a read was given, over the columns of the snapshot. */
static fm_status note_read(fm_change *c, const fm_plan *read, fm_error *err)
{
    const fm_type *have = read->table->schema;
    int32_t *columns = fm_arena_array(c->arena, int32_t, have->n_fields);
    const fm_condition **conditions = fm_arena_array(c->arena, const fm_condition *, read->n_exprs);
    fm_delta_pruner p = {.schema = c->snapshot->schema, .conditions = conditions, .zone = c->s->conf.zone};

    if (!columns || !conditions) return fm_no_memory(c->arena, err);
    for (int32_t i = 0; i < have->n_fields; i++) columns[i] = fm_delta_schema_find(p.schema->type, have->fields[i].name);
    for (int32_t i = 0; i < read->n_exprs && read->conditions; i++) {
        const fm_condition *known;
        FM_TRY(fm_condition_remap(read->conditions[i], columns, c->arena, &known, err));
        if (known) conditions[p.n_conditions++] = known;
    }
    if (!FM_GROW(c->arena, c->reads, c->n_reads, c->cap_reads)) return fm_no_memory(c->arena, err);
    c->reads[c->n_reads++] = p;
    return FM_OK;
}

static bool look_at_read(const fm_plan *p, void *ctx)
{
    reading *r = ctx;
    fm_delta_log log;

    if (p->kind != FM_PLAN_READ || !fm_str_eq_ci(p->table->format, FM_STR("delta")) || r->c->snapshot->version < 0) return true;
    r->st = fm_delta_log_of(r->c->s, p->table, r->c->arena, &log, r->err);
    if (r->st == FM_OK && fm_str_eq(log.root, r->c->log.root)) r->st = note_read(r->c, p, r->err);
    return r->st == FM_OK;
}

fm_status fm_change_note_reads(fm_change *c, const fm_plan *optimized, fm_error *err)
{
    reading r = {.c = c, .err = err};

    fm_plan_walk(optimized, look_at_read, &r);
    return r.st;
}

/* Whether one of the reads would have seen rows of a file that another added, or saw some of one that another removed. */
static bool would_read(void *ctx, const fm_delta_file *file)
{
    fm_change *c = ctx;
    fm_arena *scratch = fm_arena_new(0);
    bool may = !scratch;

    for (int32_t i = 0; i < c->n_reads && !may; i++) {
        /* A remove may come without partition values: then it may be of any. */
        bool blank = c->reads[i].schema->n_partitions && file->partition_values.n == 0;
        if (blank || fm_delta_file_may_hold(&c->reads[i], file, scratch, &may, NULL) != FM_OK) may = true;
    }
    fm_arena_free(scratch);
    return may;
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------------- */

fm_status fm_change_plan_rows(fm_change *c, const fm_type *rows, const fm_delta_wish *wish, bool want_changes, fm_error *err)
{
    fm_delta_wish own = wish ? *wish : (fm_delta_wish){0};

    c->rows = rows;
    if (!own.rows) own.rows = rows;
    FM_TRY(fm_delta_plan_write(c->snapshot, &own, c->arena, &c->plan, err));
    for (int32_t i = 0; i < c->plan.schema->type->n_fields; i++) c->plan.from_row[i] = fm_delta_schema_find(rows, c->plan.schema->type->fields[i].name);
    FM_TRY(fm_delta_shape_new(&c->s->sink_env, &c->plan, rows, c->arena, &c->shape, err));
    const fm_delta_protocol *protocol = c->plan.protocol ? c->plan.protocol : &c->snapshot->protocol;
    fm_delta_rewrite_spec spec = {.log = &c->log, .schema = c->plan.schema, .metadata = c->plan.written, .zone = c->s->conf.zone, .files_max = c->snapshot->n_live};
    spec.use_vectors = fm_delta_property(c->plan.written, "delta.enableDeletionVectors", false) && fm_delta_has_feature(protocol, "deletionVectors");
    FM_TRY(fm_delta_rewrite_new(&spec, &c->rewrite, err));
    if (!want_changes || !fm_delta_property(c->plan.written, "delta.enableChangeDataFeed", false)) return FM_OK;
    return fm_delta_feed_writer_new(&c->log, c->plan.schema, c->plan.written, c->s->conf.zone, &c->changes, err);
}

fm_status fm_change_hit(fm_change *c, fm_str path, int64_t row, bool *fresh, fm_error *err)
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
    return FM_OK;
}

fm_status fm_change_note(fm_change *c, const fm_batch *rows, const int32_t *types, fm_error *err)
{
    static const fm_delta_change_type kinds[] = {
        [FM_CHANGE_DELETED] = FM_DELTA_DELETE, [FM_CHANGE_UPDATED] = FM_DELTA_UPDATE_POSTIMAGE, [FM_CHANGE_INSERTED] = FM_DELTA_INSERT,
        [FM_CHANGE_UPDATED_FROM] = FM_DELTA_UPDATE_PREIMAGE};
    int32_t *some = c->changes ? fm_arena_array(c->batch, int32_t, rows->rows) : NULL;
    const fm_batch *taken;

    if (!c->changes || rows->rows == 0) return FM_OK;
    if (!some) return fm_no_memory(c->batch, err);
    for (int32_t type = FM_CHANGE_DELETED; type <= FM_CHANGE_UPDATED_FROM; type++) {
        int32_t n = 0;
        for (int32_t i = 0; i < rows->rows; i++) {
            if (types[i] == type) some[n++] = i;
        }
        if (n == 0) continue;
        taken = rows;
        if (n != rows->rows) FM_TRY(fm_batch_gather(rows, some, n, c->batch, &taken, err));
        FM_TRY(fm_delta_feed_writer_add(c->changes, kinds[type], taken, err));
    }
    return FM_OK;
}

fm_status fm_change_push(fm_change *c, const fm_batch *in, const int32_t *some, int32_t n, const int32_t *types, fm_error *err)
{
    fm_batch rows = {.schema = c->rows, .rows = in->rows, .columns = in->columns};
    const fm_batch *taken = &rows, *shaped;

    if (!some) n = in->rows;
    if (n == 0) return FM_OK;
    if (some && n != in->rows) FM_TRY(fm_batch_gather(&rows, some, n, c->batch, &taken, err));
    FM_TRY(fm_delta_shape_run(c->shape, taken, c->batch, &shaped, err));
    c->rows_written += n;
    FM_TRY(fm_delta_writer_write(fm_delta_rewrite_writer(c->rewrite), shaped, err));
    if (!c->changes || !types) return FM_OK;
    int32_t *kept = fm_arena_array(c->batch, int32_t, n);
    if (!kept) return fm_no_memory(c->batch, err);
    for (int32_t i = 0; i < n; i++) kept[i] = types[some ? some[i] : i];
    return fm_change_note(c, shaped, kept, err);
}

/* ---- The commit ----------------------------------------------------------------------------------------------------------------- */

static fm_status remove_all_files(fm_change *c, fm_delta_commit *d, fm_error *err)
{
    const fm_delta_snapshot *s = c->snapshot;
    fm_delta_file *removes = fm_arena_array(c->arena, fm_delta_file, s->n_live);
    int64_t now_ms = fm_clock_now_us(c->s->env.clock) / FM_US_PER_MS;

    if (!removes) return fm_no_memory(c->arena, err);
    for (int32_t i = 0; i < s->n_entries; i++) {
        if (!s->entries[i].is_live) continue;
        removes[d->n_removes] = s->entries[i].file;
        removes[d->n_removes].deleted_ms = now_ms;
        removes[d->n_removes++].data_change = true;
    }
    d->removes = removes;
    return FM_OK;
}

/* A file that is removed and added with a vector is one whose vector is new, or another than before. */
static fm_status count_totals(const fm_change *c, const fm_delta_commit *d, fm_change_totals *t, fm_error *err)
{
    fm_delta_index marked = {0};
    fm_status st = FM_OK;

    *t = (fm_change_totals){.change_files = d->n_cdcs};
    for (int32_t i = 0; st == FM_OK && i < d->n_adds; i++) {
        if (d->adds[i].dv) {
            st = fm_delta_index_set(&marked, d->adds[i].path, i, err);
            continue;
        }
        t->added_files++;
        t->added_bytes += d->adds[i].size;
    }
    for (int32_t i = 0; st == FM_OK && i < d->n_removes; i++) {
        bool stays = fm_delta_index_find(&marked, d->removes[i].path) >= 0, had = d->removes[i].dv != NULL;
        t->vectors_added += stays && !had;
        t->vectors_updated += stays && had;
        t->vectors_removed += !stays && had;
        t->removed_files += !stays;
        if (!stays && d->removes[i].size > 0) t->removed_bytes += d->removes[i].size;
    }
    t->copied_rows = fm_delta_writer_rows(fm_delta_rewrite_writer(c->rewrite)) - c->rows_written;
    fm_delta_index_fini(&marked);
    return st;
}

fm_status fm_change_finish(fm_change *c, bool remove_all, fm_delta_commit *d, fm_change_totals *totals, fm_error *err)
{
    d->protocol = c->plan.protocol;
    d->metadata = c->plan.metadata;
    if (!d->read_files) {
        d->read_files = c->n_reads > 0;
        d->would_read = would_read;
        d->ctx = c;
    }
    d->is_serializable = fm_str_eq_ci(fm_delta_map_get(&c->plan.written->configuration, "delta.isolationLevel", FM_STR("")), FM_STR("Serializable"));
    for (int32_t i = 0; !remove_all && i < c->snapshot->n_entries; i++) {
        if (c->hits[i].bits) FM_TRY(fm_delta_rewrite_file(c->rewrite, &c->snapshot->entries[i].file, &c->hits[i], err));
    }
    FM_TRY(fm_delta_rewrite_finish(c->rewrite, &d->adds, &d->n_adds, &d->removes, &d->n_removes, err));
    if (remove_all) {
        d->n_removes = 0;
        FM_TRY(remove_all_files(c, d, err));
    }
    if (c->changes) FM_TRY(fm_delta_feed_writer_finish(c->changes, &d->cdcs, &d->n_cdcs, err));
    return count_totals(c, d, totals, err);
}

fm_status fm_change_commit(fm_change *c, fm_delta_commit *d, fm_error *err)
{
    const fm_option *user = fm_options_find(&c->s->settings, "spark.databricks.delta.commitInfo.userMetadata");

    if (!d->parameters.ptr) return fm_no_memory(c->arena, err);
    if (user) d->user_metadata = user->value;
    FM_TRY(fm_delta_commit_run(c->snapshot, d, &c->version, err));
    fm_delta_maintain(c->snapshot);
    return FM_OK;
}

fm_status fm_change_declare_target(fm_change *c, fm_error *err)
{
    fm_table_def def = {.name = FM_STR(FM_CHANGE_TARGET), .format = FM_STR("delta")};
    fm_str version = fm_number_text(c->arena, c->snapshot->version);
    bool ok = version.ptr && fm_options_set(c->arena, &def.options, FM_STR("path"), c->log.root) && fm_options_set(c->arena, &def.options, FM_STR("versionAsOf"), version) &&
              fm_options_set(c->arena, &def.options, FM_STR("floodmarkRows"), FM_STR("true"));

    return ok ? fm_session_add_table(c->s, &def, false, true, err) : fm_no_memory(c->arena, err);
}
