/* stream/streaming_query.c: opening a query where its checkpoint left it, and the loop around its micro-batches. */
#include "stream/streaming_query.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/time_text.h"
#include "os/thread.h"
#include "stream/micro_batch.h"

/* Housekeeping of the state runs after every so many micro-batches, off their path. */
enum { MAINTAIN_EVERY = 10 };

struct fm_query {
    fm_query_spec spec;
    fm_stream stream;
    fm_recovery recovery;
    fm_arena *arena;            /* the query's */
    fm_arena *scratch;          /* one micro-batch's */
    fm_wake *stop;              /* raised: end after the batch in flight */
    const fm_source_env *outer; /* as it was given */
    fm_wake *cancel;            /* raised: give up the batch in flight */
    fm_mutex *mutex;            /* guards last_progress */
    fm_progress_ref *last_progress;
    int64_t last_trigger_us;    /* monotonic; 0: none yet */
    int64_t last_report_us;     /* monotonic: when an idle report is due */
    int64_t idle_report_us;     /* spark.sql.streaming.noDataProgressEventInterval */
    int64_t polling_us;         /* spark.sql.streaming.pollingDelay */
};

/* ---- Opening ---------------------------------------------------------------------------------------------- */

/* Settings that the first start fixes for the life of the checkpoint. Those of Spark that mean nothing here are written
 * all the same, for its tools. */
static const struct {
    const char *key, *absent;
} pinned_settings[] = {
    {"spark.sql.streaming.multipleWatermarkPolicy", "min"},
    {"spark.sql.shuffle.partitions", "64"},
    {"spark.sql.streaming.aggregation.stateFormatVersion", "2"},
    {"spark.sql.streaming.join.stateFormatVersion", "2"},
    {"spark.sql.streaming.statefulOperator.useStrictDistribution", "true"},
};

static fm_status pin_settings(fm_query *q, fm_error *err)
{
    const fm_options *logged = q->recovery.has_last ? &q->recovery.last.conf : NULL;

    for (size_t i = 0; i < sizeof pinned_settings / sizeof pinned_settings[0]; i++) {
        const char *key = pinned_settings[i].key;
        fm_str value = fm_options_get(q->spec.session, key, fm_str_c(pinned_settings[i].absent));
        if (logged) value = fm_options_get(logged, key, fm_str_c(pinned_settings[i].absent));
        if (!fm_options_set(q->arena, &q->stream.pinned, fm_str_c(key), value)) {
            return fm_no_memory(q->arena, err);
        }
    }
    /* What a Spark run wrote beside is kept. */
    for (int32_t i = 0; logged && i < logged->n; i++) {
        if (fm_options_find(&q->stream.pinned, logged->items[i].key.ptr)) continue;
        if (!fm_options_set(q->arena, &q->stream.pinned, logged->items[i].key, logged->items[i].value)) {
            return fm_no_memory(q->arena, err);
        }
    }
    return FM_OK;
}

static fm_status read_settings(fm_query *q, fm_error *err)
{
    const fm_options *session = q->spec.session;
    fm_stream *s = &q->stream;

    FM_TRY(fm_options_bool(session, "spark.sql.streaming.noDataMicroBatches.enabled", true, &s->no_data_batches, err));
    FM_TRY(fm_options_i64(session, "spark.sql.streaming.minBatchesToRetain", 100, 1, INT32_MAX,
                          &s->batches_to_retain, err));
    FM_TRY(fm_options_duration(session, "spark.sql.streaming.noDataProgressEventInterval", 10 * FM_US_PER_SECOND,
                               &q->idle_report_us, err));
    return fm_options_duration(session, "spark.sql.streaming.pollingDelay", 1 * FM_US_PER_MS, &q->polling_us, err);
}

static fm_status sources_differ(const fm_query *q, int32_t logged, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_SOURCES_CHANGED",
                   "The query reads %d streams, but its checkpoint '%s' was made by one that reads %d. A changed set of "
                   "streams cannot go on from old offsets: start it with a new checkpointLocation.",
                   q->stream.n_sources, q->spec.checkpoint, logged);
}

/* Where batch_id begins: the end offsets of the batch before it. */
static fm_status restore_sources(fm_query *q, fm_error *err)
{
    const fm_recovery *r = &q->recovery;
    const fm_offsets *from = r->rerun ? (r->has_before ? &r->before : NULL) : r->has_last ? &r->last : NULL;
    fm_stream *s = &q->stream;

    s->starts = fm_arena_array(q->arena, fm_str, s->n_sources);
    if (!s->starts) return fm_no_memory(q->arena, err);
    if (r->has_last && r->last.n_sources != s->n_sources) return sources_differ(q, r->last.n_sources, err);
    if (from && from->n_sources != s->n_sources) return sources_differ(q, from->n_sources, err);
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_str start = from ? from->ends[i] : FM_STR("");
        char *copy = malloc(start.len + 1);
        if (!copy) return fm_no_memory(NULL, err);
        if (start.len) memcpy(copy, start.ptr, start.len);
        copy[start.len] = 0;
        s->starts[i] = (fm_str){copy, start.len};
        fm_source *source = s->sources[i].source;
        if (source->type->restore) FM_TRY(source->type->restore(source, s->starts[i], err));
    }
    if (q->spec.trigger.kind != FM_TRIGGER_AVAILABLE_NOW) return FM_OK;
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_source *source = s->sources[i].source;
        if (source->type->fix_target) FM_TRY(source->type->fix_target(source, err));
    }
    return FM_OK;
}

/* What sources that wait ask: this query, or who opens it. */
static bool is_stopped(void *ctx)
{
    const fm_query *q = ctx;

    return fm_wake_is_raised(q->stop) || (q->outer->stopped && q->outer->stopped(q->outer->stopped_ctx));
}

/* The query's sources stop waiting when it is stopped. */
static fm_status own_sources(fm_query *q, fm_error *err)
{
    fm_source_env *own = fm_arena_one(q->arena, fm_source_env);

    if (!own) return fm_no_memory(q->arena, err);
    q->outer = q->spec.exec.sources;
    *own = *q->outer;
    own->stopped = is_stopped;
    own->stopped_ctx = q;
    q->spec.exec.sources = own;
    return FM_OK;
}

static fm_status open_exec(fm_query *q, fm_error *err)
{
    fm_stream *s = &q->stream;
    fm_exec_env env = q->spec.exec;
    fm_sink_spec sink = q->spec.sink;

    env.checkpoint = q->spec.checkpoint;
    env.cancelled = q->cancel;
    sink.query_id = fm_str_c(s->checkpoint.query_id);
    sink.query_name = q->spec.name;
    sink.mode = q->spec.mode;
    FM_TRY(fm_exec_open(&env, q->spec.plan, q->spec.mode, &sink, NULL, s->batch_id, &s->exec, err));
    s->n_sources = fm_exec_sources(s->exec, &s->sources);
    return FM_OK;
}

/* State of an operator that the query does not have: it was another query. An operator without its state is found out when
 * that is opened. */
static fm_status check_operators(const fm_query *q, fm_error *err)
{
    fm_fs *fs = q->spec.exec.fs;
    fm_str dir = fm_arena_printf(q->arena, "%s/state", q->spec.checkpoint);
    int32_t n = fm_exec_operators(q->stream.exec);
    fm_dir_entry *entries;
    size_t n_entries;
    int64_t id;

    if (!dir.ptr) return fm_no_memory(q->arena, err);
    fm_status st = fm_fs_list(fs, dir.ptr, q->arena, &entries, &n_entries, err);
    if (st != FM_OK) return st == FM_NOT_FOUND ? FM_OK : st;
    for (size_t i = 0; i < n_entries; i++) {
        if (!fm_str_to_i64(entries[i].name, &id) || id < n) continue;
        return fm_fail(err, FM_INVALID, "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
                       "The query does not fit the state in '%s': there is state of stateful operator %" PRId64 ", but the "
                       "query has %d such operators. Run the query as it was, or start this one with a new "
                       "checkpointLocation.",
                       dir.ptr, id, n);
    }
    return FM_OK;
}

static fm_status open_watermark(fm_query *q, fm_error *err)
{
    fm_str text = fm_options_get(&q->stream.pinned, "spark.sql.streaming.multipleWatermarkPolicy", FM_STR("min"));
    fm_watermark_policy policy;

    FM_TRY(fm_watermark_policy_parse(text, &policy, err));
    return fm_watermark_init(&q->stream.watermark, policy, fm_exec_watermark_nodes(q->stream.exec),
                             q->recovery.watermark_ms, q->arena, err);
}

static fm_status open_parts(fm_query *q, fm_error *err)
{
    fm_stream *s = &q->stream;

    FM_TRY(fm_checkpoint_open(&s->checkpoint, q->spec.exec.fs, q->spec.checkpoint, q->arena, err));
    FM_TRY(fm_checkpoint_recover(&s->checkpoint, q->arena, &q->recovery, err));
    s->batch_id = q->recovery.batch_id;
    s->late_watermark_ms = q->recovery.late_watermark_ms;
    s->no_data_next = q->recovery.no_data_next;
    s->rerun = q->recovery.rerun ? &q->recovery.last : NULL;
    FM_TRY(pin_settings(q, err));
    FM_TRY(read_settings(q, err));
    FM_TRY(open_exec(q, err));
    FM_TRY(open_watermark(q, err));
    FM_TRY(restore_sources(q, err));
    return check_operators(q, err);
}

fm_status fm_query_open(const fm_query_spec *spec, fm_query **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_query *q = arena ? fm_arena_one(arena, fm_query) : NULL;

    *out = NULL;
    if (!q) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    q->spec = *spec;
    q->arena = arena;
    q->stream.spec = &q->spec;
    q->scratch = fm_arena_new(0);
    q->mutex = fm_mutex_new();
    fm_uuid(q->stream.run_id);
    fm_status st = q->scratch && q->mutex ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) st = fm_wake_new(&q->stop, err);
    if (st == FM_OK) st = fm_wake_new(&q->cancel, err);
    if (st == FM_OK) st = own_sources(q, err);
    if (st == FM_OK) st = open_parts(q, err);
    if (st != FM_OK) {
        q->spec.checkpoint_is_temporary = false;
        fm_query_close(q);
        return st;
    }
    *out = q;
    return FM_OK;
}

void fm_query_close(fm_query *q)
{
    if (!q) return;
    fm_exec_close(q->stream.exec);
    for (int32_t i = 0; q->stream.starts && i < q->stream.n_sources; i++) {
        free((char *)(uintptr_t)q->stream.starts[i].ptr);
    }
    fm_checkpoint_close(&q->stream.checkpoint);
    if (q->spec.checkpoint_is_temporary) fm_fs_remove_all(q->spec.exec.fs, q->spec.checkpoint, NULL);
    fm_progress_unref(q->last_progress);
    fm_wake_free(q->stop);
    fm_wake_free(q->cancel);
    fm_mutex_free(q->mutex);
    fm_arena_free(q->scratch);
    fm_arena_free(q->arena);
}

/* ---- Stepping --------------------------------------------------------------------------------------------- */

static void publish(fm_query *q, fm_progress *p, const fm_step_times *times, int64_t begun_us)
{
    int64_t now_us = fm_clock_monotonic_us(q->spec.exec.clock);

    memcpy(p->query_id, q->stream.checkpoint.query_id, sizeof p->query_id);
    memcpy(p->run_id, q->stream.run_id, sizeof p->run_id);
    p->name = q->spec.name;
    p->duration_us = now_us - begun_us;
    p->since_last_us = q->last_trigger_us ? begun_us - q->last_trigger_us : 0;
    p->timestamp_ms = fm_floor_div(fm_clock_now_us(q->spec.exec.clock) - p->duration_us, FM_US_PER_MS);
    p->latest_offset_us = times->latest_offset_us;
    p->get_batch_us = times->get_batch_us;
    p->query_planning_us = times->planning_us;
    p->wal_commit_us = times->wal_us;
    p->add_batch_us = times->add_batch_us;
    p->commit_offsets_us = times->commit_us;
    q->last_trigger_us = begun_us;
    q->last_report_us = now_us;

    fm_progress_ref *ref = fm_progress_ref_new(p);
    if (!ref) return; /* a report lost for want of memory is no reason to end the query */
    fm_mutex_lock(q->mutex);
    fm_progress_ref *old = q->last_progress;
    q->last_progress = ref;
    fm_mutex_unlock(q->mutex);
    if (q->spec.on_progress) q->spec.on_progress(q->spec.on_progress_ctx, ref);
    fm_progress_unref(old);
}

/* When nothing happens for a while, a report says so: the last one's numbers with nothing in them. */
static void report_idle(fm_query *q, const fm_step_times *times, int64_t begun_us)
{
    if (!q->last_progress || begun_us - q->last_report_us < q->idle_report_us) return;
    fm_progress_ref *last = fm_query_last_progress(q);
    fm_progress p = *fm_progress_of(last);
    fm_progress_operator *operators = fm_arena_array(q->scratch, fm_progress_operator, p.n_operators);
    fm_progress_source *sources = fm_arena_array(q->scratch, fm_progress_source, p.n_sources);

    if (operators && sources) {
        for (int32_t i = 0; i < p.n_operators; i++) {
            operators[i] = p.operators[i];
            operators[i].stats.rows_updated = operators[i].stats.rows_removed = 0;
            operators[i].stats.rows_dropped_by_watermark = operators[i].stats.late_rows = 0;
        }
        for (int32_t i = 0; i < p.n_sources; i++) {
            sources[i] = p.sources[i];
            sources[i].start = sources[i].end;
            sources[i].rows = 0;
        }
        p.operators = operators;
        p.sources = sources;
        p.batch_id = q->stream.batch_id;
        p.rows = p.bad_rows = p.late_rows = p.event_count = 0;
        p.sink_rows = p.sink_rows < 0 ? p.sink_rows : 0;
        p.watermark_ms = p.next_watermark_ms;
        p.idle = true;
        publish(q, &p, times, begun_us);
    }
    fm_progress_unref(last);
}

static fm_status step(fm_query *q, fm_read_limit limit, bool no_data, fm_step *what, fm_error *err)
{
    fm_step_times times = {-1, -1, -1, -1, -1, -1};
    fm_batch_plan plan;
    fm_progress progress = {0};
    int64_t begun_us = fm_clock_monotonic_us(q->spec.exec.clock);

    fm_arena_reset(q->scratch);
    *what = FM_STEP_IDLE;
    FM_TRY(fm_batch_plan_next(&q->stream, limit, no_data, q->scratch, &plan, &times, err));
    if (!plan.run) {
        report_idle(q, &times, begun_us);
        return FM_OK;
    }
    FM_TRY(fm_batch_execute(&q->stream, &plan, q->scratch, &progress, &times, err));
    *what = FM_STEP_RAN;
    publish(q, &progress, &times, begun_us);
    if (q->stream.batch_id % MAINTAIN_EVERY == 0) {
        int64_t oldest = q->stream.batch_id - q->stream.batches_to_retain;
        FM_TRY(fm_exec_maintain(q->stream.exec, oldest > 0 ? oldest : 0, err));
    }
    return FM_OK;
}

fm_status fm_query_step(fm_query *q, fm_step *what, fm_error *err)
{
    bool once = q->spec.trigger.kind == FM_TRIGGER_ONCE;

    return step(q, once ? FM_READ_ALL : FM_READ_LIMITED, !once, what, err);
}

/* ---- Running ---------------------------------------------------------------------------------------------- */

static bool stopping(const fm_query *q) { return fm_wake_is_raised(q->stop) || fm_wake_is_raised(q->cancel); }

/* A run that was cancelled in the middle of a batch, or stopped while a source waited, ends well: the batch left no trace, or is run
 * again. */
static fm_status end_of_run(fm_query *q, fm_status st)
{
    if (st == FM_CANCELLED && stopping(q)) return FM_OK;
    if (st != FM_OK) q->spec.checkpoint_is_temporary = false;
    return st;
}

/* Sleeps until the next tick or, when there is none, for a polling delay after an idle look. */
static void wait_for_trigger(fm_query *q, int64_t tick_us, fm_step last)
{
    fm_clock *clock = q->spec.exec.clock;
    int64_t now_us = fm_clock_now_us(clock);
    int64_t wait_us = q->spec.trigger.kind == FM_TRIGGER_PROCESSING
                          ? fm_trigger_next_us(&q->spec.trigger, tick_us, now_us) - now_us
                      : last == FM_STEP_IDLE ? q->polling_us
                                             : 0;
    if (wait_us > 0) fm_clock_sleep(clock, wait_us, q->stop);
}

fm_status fm_query_run(fm_query *q, fm_error *err)
{
    bool ends_by_itself = q->spec.trigger.kind == FM_TRIGGER_ONCE || q->spec.trigger.kind == FM_TRIGGER_AVAILABLE_NOW;

    while (!stopping(q)) {
        fm_step what;
        int64_t tick_us = fm_clock_now_us(q->spec.exec.clock);
        fm_status st = fm_query_step(q, &what, err);
        if (st != FM_OK) return end_of_run(q, st);
        if (q->spec.trigger.kind == FM_TRIGGER_ONCE) return FM_OK;
        if (ends_by_itself && what == FM_STEP_IDLE) return FM_OK;
        wait_for_trigger(q, tick_us, what);
    }
    return FM_OK;
}

void fm_query_stop(fm_query *q, bool now)
{
    fm_wake_raise(q->stop);
    if (now) fm_wake_raise(q->cancel);
}

const char *fm_query_id(const fm_query *q) { return q->stream.checkpoint.query_id; }

fm_progress_ref *fm_query_last_progress(fm_query *q)
{
    fm_mutex_lock(q->mutex);
    fm_progress_ref *ref = q->last_progress ? fm_progress_ref_take(q->last_progress) : NULL;
    fm_mutex_unlock(q->mutex);
    return ref;
}
