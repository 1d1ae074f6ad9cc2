/* exec/exec.c: a query ready to run: its tree, its sink, what it tells of a micro-batch. */
#include "base/limits.h"
#include "base/time_text.h"
#include "exec/bad_rows.h"
#include "exec/exec_impl.h"
#include "os/thread.h"

enum { STATEFUL_MAX = 64, LATE_SINKS_MAX = 64, BAD_SINKS_MAX = 64, BAD_ROWS_MAX = 64 * FM_WORKERS_MAX, WATERMARKS_MAX = 64, COUNTED_MAX = FM_WORKERS_MAX };

/* Where the rows of one worker leave. */
typedef struct fm_way_out {
    fm_exec *exec;
    int32_t worker;
} fm_way_out;

struct fm_exec {
    fm_arena *arena;
    fm_exec_env env;
    fm_output_mode mode;
    bool is_stream;
    fm_crew *crew;
    fm_forest forest;
    struct fm_way_out *ways_out;        /* [workers] */
    int32_t next_operator, next_stream;
    fm_stateful stateful[STATEFUL_MAX]; /* by operator id */
    int32_t n_stateful;
    fm_op *watermarks[WATERMARKS_MAX];  /* in plan order from the sink */
    int32_t n_watermarks;
    fm_late_sink *late_sinks[LATE_SINKS_MAX];
    int32_t n_late_sinks;
    fm_bad_sink *bad_sinks[BAD_SINKS_MAX];
    int32_t n_bad_sinks;
    fm_op **bad_rows;                   /* [n_bad_rows] operators, of all workers */
    int32_t n_bad_rows;
    struct {
        fm_op *op;
        int64_t *into;
    } counted[COUNTED_MAX];
    int32_t n_counted;
    fm_sink *sink;
    fm_sink_writer *writers[FM_WORKERS_MAX]; /* while a micro-batch writes */
    const fm_type *sink_schema;
    int32_t *sink_columns;              /* of the plan's output that are not hidden */
    const fm_emit *collect;
    fm_exec_source *sources;            /* streams, by their index */
    int32_t n_sources;
};

fm_status fm_exec_add_stateful(fm_exec *exec, int32_t operator_id, fm_op *op, bool closes_by_time, fm_error *err)
{
    if (operator_id >= STATEFUL_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "A query can have %d stateful operators.", STATEFUL_MAX);
    exec->stateful[operator_id] = (fm_stateful){.op = op, .closes_by_time = closes_by_time, .counted_twice = exec->forest.trees[0].under_sort};
    if (operator_id >= exec->n_stateful) exec->n_stateful = operator_id + 1;
    return FM_OK;
}

fm_status fm_exec_add_watermark(fm_exec *exec, fm_op *op, fm_error *err)
{
    if (exec->n_watermarks == WATERMARKS_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "A query can have %d watermarks.", WATERMARKS_MAX);
    exec->watermarks[exec->n_watermarks++] = op;
    return FM_OK;
}

fm_status fm_exec_add_late_sink(fm_exec *exec, fm_late_sink *late, fm_error *err)
{
    if (exec->n_late_sinks == LATE_SINKS_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "A query can have %d sinks of late rows.", LATE_SINKS_MAX);
    exec->late_sinks[exec->n_late_sinks++] = late;
    return FM_OK;
}

fm_bad_sink *fm_exec_bad_sink(const fm_exec *exec, int32_t number)
{
    for (int32_t i = 0; i < exec->n_bad_sinks; i++)
        if (fm_bad_sink_number(exec->bad_sinks[i]) == number) return exec->bad_sinks[i];
    return NULL;
}

fm_status fm_exec_add_bad_sink(fm_exec *exec, fm_bad_sink *sink, fm_error *err)
{
    if (exec->n_bad_sinks == BAD_SINKS_MAX) {
        fm_bad_sink_close(sink);
        return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "A query can have %d sinks of bad rows.", BAD_SINKS_MAX);
    }
    exec->bad_sinks[exec->n_bad_sinks++] = sink;
    return FM_OK;
}

fm_status fm_exec_add_counted(fm_exec *exec, fm_op *op, const fm_plan *plan, fm_error *err)
{
    if (exec->n_counted == COUNTED_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "The rows of one place of a query can be counted.");
    exec->counted[exec->n_counted].op = op;
    exec->counted[exec->n_counted++].into = plan->rows_seen;
    return FM_OK;
}

fm_status fm_exec_add_bad_rows(fm_exec *exec, fm_op *op, fm_error *err)
{
    if (!exec->bad_rows) exec->bad_rows = fm_arena_array(exec->arena, fm_op *, BAD_ROWS_MAX);
    if (!exec->bad_rows) return fm_no_memory(exec->arena, err);
    if (exec->n_bad_rows == BAD_ROWS_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_OPERATORS", "A query has too many places where BAD_ROWS applies.");
    exec->bad_rows[exec->n_bad_rows++] = op;
    return FM_OK;
}

/* ---- The way out ------------------------------------------------------------------------------------------- */

/* Rows leave without the hidden columns. */
static fm_status give_out(void *ctx, const fm_batch *batch, fm_error *err)
{
    const fm_way_out *way = ctx;
    fm_exec *exec = way->exec;
    fm_sink_writer *writer = exec->writers[way->worker];
    fm_arena *arena = exec->forest.trees[way->worker].batch;
    int32_t n = exec->sink_schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n);

    if (batch->rows == 0) return FM_OK;
    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) columns[i] = batch->columns[exec->sink_columns[i]];
    fm_batch out = {.schema = exec->sink_schema, .rows = batch->rows, .columns = columns};
    if (exec->collect) return exec->collect->push(exec->collect->ctx, &out, err);
    return writer ? exec->sink->type->write(writer, &out, err) : FM_OK; /* no writer: the sink has this batch already */
}

static fm_status plan_way_out(fm_exec *exec, const fm_plan *plan, fm_error *err)
{
    fm_field *fields = fm_arena_array(exec->arena, fm_field, plan->n_output);
    int32_t n = 0;

    exec->sink_columns = fm_arena_array(exec->arena, int32_t, plan->n_output);
    if (!fields || !exec->sink_columns) return fm_no_memory(exec->arena, err);
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].hidden) continue;
        exec->sink_columns[n] = i;
        fields[n++] = (fm_field){plan->output[i].name, plan->output[i].type, plan->output[i].nullable};
    }
    exec->sink_schema = fm_type_struct(exec->arena, fields, n);
    return exec->sink_schema ? FM_OK : fm_no_memory(exec->arena, err);
}

/* ---- Opening ----------------------------------------------------------------------------------------------- */

static fm_status list_sources(fm_exec *exec, fm_error *err)
{
    exec->sources = fm_arena_array(exec->arena, fm_exec_source, exec->next_stream);
    if (!exec->sources) return fm_no_memory(exec->arena, err);
    exec->n_sources = exec->next_stream;
    for (int32_t i = 0; i < exec->forest.trees[0].n_leaves; i++) {
        const fm_leaf *leaf = &exec->forest.trees[0].leaves[i];
        if (leaf->stream_index >= 0) exec->sources[leaf->stream_index] = (fm_exec_source){leaf->source, leaf->node->plan->table};
    }
    return FM_OK;
}

static fm_status open_sink(fm_exec *exec, const fm_sink_spec *sink, fm_error *err)
{
    fm_sink_spec spec = *sink;
    spec.every_batch = true;
    const fm_sink_type *type = fm_sink_lookup(exec->env.sinks, sink->format);

    if (!type) return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "There is no sink '%.*s'.", FM_STR_ARG(sink->format));
    spec.schema = exec->sink_schema;
    return type->open(exec->env.sinks, &spec, exec->arena, &exec->sink, err);
}

/* Hidden columns left out, rows that are collected come one after the other. */
static fm_status build_forest(fm_exec *exec, const fm_plan *plan, const fm_sink_spec *sink, int64_t state_version, fm_error *err)
{
    int32_t n = exec->env.workers < 1 ? 1 : exec->env.workers > FM_WORKERS_MAX ? FM_WORKERS_MAX : exec->env.workers;
    fm_emit *ways = fm_arena_array(exec->arena, fm_emit, n);
    fm_tree first = {.exec = exec, .arena = exec->arena, .env = &exec->env, .mode = exec->mode, .is_stream = exec->is_stream, .next_operator = &exec->next_operator, .next_stream = &exec->next_stream, .state_version = state_version};

    first.query_id = fm_arena_str(exec->arena, sink ? sink->query_id : FM_STR(""));
    exec->ways_out = fm_arena_array(exec->arena, fm_way_out, n);
    if (!ways || !exec->ways_out || !first.query_id.ptr) return fm_no_memory(exec->arena, err);
    for (int32_t i = 0; i < n; i++) {
        exec->ways_out[i] = (fm_way_out){exec, i};
        ways[i] = (fm_emit){.ctx = &exec->ways_out[i], .push = give_out};
    }
    FM_TRY(fm_crew_new(n, exec->env.pin_threads, &exec->crew, err));
    return fm_forest_build(&exec->forest, exec->crew, &first, ways, exec->collect != NULL, plan, err);
}

fm_status fm_exec_open(const fm_exec_env *env, const fm_plan *plan, fm_output_mode mode, const fm_sink_spec *sink,
                       const fm_emit *collect, int64_t state_version, fm_exec **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_exec *exec = arena ? fm_arena_one(arena, fm_exec) : NULL;

    *out = NULL;
    if (!exec) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    exec->arena = arena;
    exec->env = *env;
    exec->mode = mode;
    exec->is_stream = plan->streaming;
    if (collect) {
        fm_emit *copy = fm_arena_one(arena, fm_emit);
        if (copy) *copy = *collect;
        exec->collect = copy;
    }
    fm_status st = plan_way_out(exec, plan, err);
    if (st == FM_OK) st = build_forest(exec, plan, sink, state_version, err);
    if (st == FM_OK) st = list_sources(exec, err);
    if (st == FM_OK && sink) st = open_sink(exec, sink, err);
    if (st == FM_OK) *out = exec;
    else fm_exec_close(exec);
    return st;
}

void fm_exec_close(fm_exec *exec)
{
    if (!exec) return;
    fm_forest_close(&exec->forest);
    fm_crew_free(exec->crew);
    for (int32_t i = 0; i < exec->n_late_sinks; i++) fm_late_sink_close(exec->late_sinks[i]);
    for (int32_t i = 0; i < exec->n_bad_sinks; i++) fm_bad_sink_close(exec->bad_sinks[i]);
    if (exec->sink) exec->sink->type->close(exec->sink);
    fm_arena_free(exec->arena);
}

/* ---- Asking ------------------------------------------------------------------------------------------------ */

int32_t fm_exec_sources(const fm_exec *exec, const fm_exec_source **out)
{
    *out = exec->sources;
    return exec->n_sources;
}

int32_t fm_exec_operators(const fm_exec *exec) { return exec->n_stateful; }
const fm_op_type *fm_exec_operator(const fm_exec *exec, int32_t operator_id) { return exec->stateful[operator_id].op->type; }
int32_t fm_exec_watermark_nodes(const fm_exec *exec) { return exec->n_watermarks; }
const fm_sink *fm_exec_sink(const fm_exec *exec) { return exec->sink; }

/* Every stateful operator built so far hands its input watermark on unchanged, so each sees the global one. */
fm_status fm_exec_propagate(const fm_exec *exec, int64_t global_us, int64_t *out_us, fm_error *err)
{
    for (int32_t i = 0; i < exec->n_stateful; i++) out_us[i] = exec->n_watermarks ? global_us : 0;
    return FM_OK;
}

bool fm_exec_wants_batch(const fm_exec *exec, int64_t global_us)
{
    for (int32_t i = 0; i < exec->n_stateful; i++) {
        const fm_stateful *s = &exec->stateful[i];
        if (s->closes_by_time && exec->n_watermarks && global_us > s->evict_us) return true;
    }
    return false;
}

/* ---- Running ----------------------------------------------------------------------------------------------- */

static fm_status run_forest(fm_exec *exec, const fm_op_batch *mb, const fm_exec_input *input, fm_error *err)
{
    for (int32_t i = 0; i < exec->n_late_sinks; i++) fm_late_sink_begin(exec->late_sinks[i]);
    for (int32_t i = 0; i < exec->n_bad_sinks; i++) fm_bad_sink_begin(exec->bad_sinks[i]);
    return fm_forest_run(&exec->forest, mb, input, err);
}

static fm_status open_writers(fm_exec *exec, fm_error *err)
{
    for (int32_t i = 0; i < exec->forest.n; i++) FM_TRY(exec->sink->type->writer_open(exec->sink, i, &exec->writers[i], err));
    return FM_OK;
}

/* Writers are closed at once: each may have a file to sync. */
typedef struct closing {
    fm_exec *exec;
    fm_status st[FM_WORKERS_MAX];
    fm_error err[FM_WORKERS_MAX];
} closing;

static void close_writer(void *ctx, int32_t worker)
{
    closing *c = ctx;
    fm_sink_writer *writer = c->exec->writers[worker];

    if (writer) c->st[worker] = c->exec->sink->type->writer_close(writer, &c->err[worker]);
    c->exec->writers[worker] = NULL;
}

static fm_status close_writers(fm_exec *exec, fm_error *err)
{
    closing *c = fm_arena_one(exec->forest.trees[0].batch, closing);

    if (!c) return fm_no_memory(exec->forest.trees[0].batch, err);
    c->exec = exec;
    fm_crew_run(exec->crew, close_writer, c);
    for (int32_t i = 0; i < exec->forest.n; i++) {
        if (c->st[i] == FM_OK) continue;
        if (err) *err = c->err[i];
        return c->st[i];
    }
    return FM_OK;
}

static fm_status save_state(fm_exec *exec, const fm_op_batch *mb, fm_error *err)
{
    for (int32_t i = 0; i < exec->n_stateful; i++) {
        fm_op *op = exec->stateful[i].op;
        if (op->type->save) FM_TRY(op->type->save(op, mb, err));
    }
    return FM_OK;
}

static fm_status commit_state(fm_exec *exec, const fm_op_batch *mb, fm_error *err)
{
    for (int32_t i = 0; i < exec->n_stateful; i++) {
        fm_op *op = exec->stateful[i].op;
        FM_TRY(op->type->commit(op, mb, err));
        exec->stateful[i].evict_us = mb->watermarks[i].evict_us;
    }
    return FM_OK;
}

static fm_status commit_sink(fm_exec *exec, int64_t batch_id, fm_exec_result *result, int64_t *rows, fm_error *err)
{
    int64_t late;

    if (!result->sink_skipped) FM_TRY(close_writers(exec, err));
    for (int32_t i = 0; i < exec->n_late_sinks; i++) {
        FM_TRY(fm_late_sink_commit(exec->late_sinks[i], batch_id, &late, err));
        result->late_rows_kept += late;
    }
    for (int32_t i = 0; i < exec->n_bad_sinks; i++) FM_TRY(fm_bad_sink_commit(exec->bad_sinks[i], batch_id, err));
    return result->sink_skipped ? FM_OK : exec->sink->type->commit(exec->sink, batch_id, rows, err);
}

/* The state being made durable, beside the sink. */
typedef struct committing {
    fm_exec *exec;
    const fm_op_batch *mb;
    fm_status st;
    fm_error err;
} committing;

static void commit_beside(void *arg)
{
    committing *c = arg;

    c->st = commit_state(c->exec, c->mb, &c->err);
}

/* Sink and state become durable. Which of them is first does not matter: until the commit log has the batch it will be run
 * again, from the state before it, and a sink that has it already leaves it out. Both mostly wait for the disk, so they do
 * it at the same time. */
static fm_status commit_both(fm_exec *exec, const fm_op_batch *mb, fm_exec_result *result, int64_t *rows, fm_error *err)
{
    committing beside = {.exec = exec, .mb = mb};
    fm_thread *thread = NULL;

    if (exec->n_stateful && exec->is_stream && fm_fs_sync_waits(exec->env.fs)) fm_thread_start(commit_beside, &beside, "fm-commit", &thread, NULL);
    fm_status st = commit_sink(exec, mb->run->batch_id, result, rows, err);
    if (st != FM_OK && !result->sink_skipped) exec->sink->type->abort(exec->sink, mb->run->batch_id); /* it has no batch to keep */
    if (!thread) return st == FM_OK ? commit_state(exec, mb, err) : st;
    fm_thread_join(thread);
    if (st == FM_OK && beside.st != FM_OK && err) *err = beside.err;
    return st == FM_OK ? beside.st : st;
}

/* The sink has batch N already when a run died after its commit: it is computed again for the state, and not written. */
static fm_status run_into_sink(fm_exec *exec, const fm_op_batch *mb, const fm_exec_input *input, fm_exec_result *result, fm_error *err)
{
    const fm_sink_type *type = exec->sink->type;
    int64_t batch_id = mb->run->batch_id, rows = -1;

    FM_TRY(type->begin(exec->sink, batch_id, exec->forest.n, &result->sink_skipped, err));
    fm_status st = result->sink_skipped ? FM_OK : open_writers(exec, err);
    if (st == FM_OK) st = run_forest(exec, mb, input, err);
    if (st == FM_OK) st = save_state(exec, mb, err);
    if (st == FM_OK) {
        st = commit_both(exec, mb, result, &rows, err);
        if (st == FM_OK && type->prints && exec->env.cancelled && fm_wake_is_raised(exec->env.cancelled))
            st = fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The batch was given up while it was printed.");
    } else if (!result->sink_skipped) {
        close_writers(exec, NULL);
        type->abort(exec->sink, batch_id);
    }
    for (int32_t i = 0; st != FM_OK && i < exec->n_bad_sinks; i++) fm_bad_sink_abort(exec->bad_sinks[i], batch_id);
    result->output_rows = type->counts_rows ? rows : -1;
    return st;
}

static fm_status tell(fm_exec *exec, fm_arena *arena, fm_exec_result *result, fm_error *err)
{
    result->source_rows = fm_arena_array(arena, int64_t, exec->n_sources);
    result->event_times = fm_arena_array(arena, fm_event_time_stats, exec->n_watermarks);
    result->operators = fm_arena_array(arena, fm_op_stats, exec->n_stateful);
    if (!result->source_rows || !result->event_times || !result->operators) return fm_no_memory(arena, err);
    result->late_texts = fm_arena_array(arena, fm_late_text, FM_LATE_TEXTS_MAX);
    result->windows = fm_arena_array(arena, fm_op_window, FM_WINDOWS_TOLD_MAX);
    if (!result->late_texts || !result->windows) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < exec->n_late_sinks; i++) {
        FM_TRY(fm_late_sink_tell(exec->late_sinks[i], exec->env.conf->zone, arena, result->late_texts, &result->n_late_texts, err));
    }
    for (int32_t i = 0; i < exec->n_stateful && result->n_windows == 0; i++) {
        fm_op *op = exec->stateful[i].op;
        if (op->type->windows) result->n_windows = op->type->windows(op, result->windows, FM_WINDOWS_TOLD_MAX);
    }
    for (int32_t i = 0; i < exec->forest.trees[0].n_leaves; i++) {
        int32_t stream = exec->forest.trees[0].leaves[i].stream_index;
        for (int32_t w = 0; w < exec->forest.n && stream >= 0; w++) {
            const fm_leaf *leaf = &exec->forest.trees[w].leaves[i];
            result->source_rows[stream] += leaf->rows;
            result->input_rows += leaf->rows;
            result->bad_rows += leaf->bad;
        }
    }
    for (int32_t i = 0; i < exec->n_counted; i++) *exec->counted[i].into += fm_op_project_rows(exec->counted[i].op);
    for (int32_t i = 0; i < exec->n_bad_rows; i++) result->bad_rows += fm_op_bad_rows_found(exec->bad_rows[i]);
    for (int32_t i = 0; i < exec->n_watermarks; i++) fm_op_watermark_stats(exec->watermarks[i], &result->event_times[i]);
    for (int32_t i = 0; i < exec->n_stateful; i++) {
        result->operators[i].custom_duplicates = -1;
        exec->stateful[i].op->type->stats(exec->stateful[i].op, &result->operators[i]);
        if (!exec->stateful[i].counted_twice) continue;
        result->operators[i].rows_total *= 2;
        result->operators[i].rows_updated *= 2;
    }
    return FM_OK;
}

fm_status fm_exec_run(fm_exec *exec, const fm_run_context *run, const fm_exec_input *input, const int64_t *late_us,
                      const int64_t *evict_us, fm_arena *arena, fm_exec_result *result, fm_error *err)
{
    fm_op_watermarks *watermarks = fm_arena_array(arena, fm_op_watermarks, exec->n_stateful);
    fm_op_batch mb = {.run = run, .watermarks = watermarks, .mode = exec->mode, .is_stream = exec->is_stream};

    *result = (fm_exec_result){.output_rows = -1};
    if (!watermarks) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < exec->n_stateful && late_us; i++) watermarks[i] = (fm_op_watermarks){late_us[i], evict_us[i]};
    if (exec->sink) {
        FM_TRY(run_into_sink(exec, &mb, input, result, err));
    } else {
        FM_TRY(run_forest(exec, &mb, input, err));
        FM_TRY(commit_state(exec, &mb, err));
    }
    return tell(exec, arena, result, err);
}

fm_status fm_exec_maintain(fm_exec *exec, int64_t oldest_version, fm_error *err)
{
    for (int32_t i = 0; i < exec->n_stateful; i++) {
        fm_op *op = exec->stateful[i].op;
        if (op->type->maintain) FM_TRY(op->type->maintain(op, oldest_version, err));
    }
    return FM_OK;
}
