/* stream/micro_batch.c: one micro-batch, step by step. Rules: semantics, chapters 0, 2 and 3. */
#include "stream/micro_batch.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "plan/analyze.h"

static fm_clock *clock_of(const fm_stream *s) { return s->spec->exec.clock; }

/* ---- Which micro-batch comes next ------------------------------------------------------------------------- */

/* A batch that was begun and never committed: the log has its offsets, its watermark, its time. */
static void plan_rerun(fm_stream *s, fm_batch_plan *out)
{
    out->run = true;
    out->logged = true;
    out->offsets = *s->rerun;
    for (int32_t i = 0; i < s->n_sources; i++) {
        if (!fm_str_eq(out->offsets.ends[i], s->starts[i])) out->has_data = true;
    }
}

/* How far each source can be read now. A source without offset that gives one has something new, even if that
 * range is empty: Kafka, rate and socket make an empty batch 0 that way. */
static fm_status ask_sources(fm_stream *s, fm_read_limit limit, fm_arena *scratch, fm_batch_plan *out,
                             fm_error *err)
{
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_source *source = s->sources[i].source;
        fm_str *end = &out->offsets.ends[i];
        FM_TRY(source->type->latest_offset(source, s->starts[i], limit, scratch, end, &out->latest[i], err));
        if (!fm_str_eq(*end, s->starts[i])) out->has_data = true;
    }
    return FM_OK;
}

static bool plan_wants_batch(const fm_stream *s)
{
    return fm_exec_wants_batch(s->exec, s->watermark.global_ms * FM_US_PER_MS);
}

fm_status fm_batch_plan_next(fm_stream *s, fm_read_limit limit, bool no_data_allowed, fm_arena *scratch,
                             fm_batch_plan *out, fm_step_times *times, fm_error *err)
{
    *out = (fm_batch_plan){.no_data_allowed = no_data_allowed && s->no_data_batches};
    out->latest = fm_arena_array(scratch, fm_str, s->n_sources);
    out->offsets.ends = fm_arena_array(scratch, fm_str, s->n_sources);
    if (!out->latest || !out->offsets.ends) return fm_no_memory(scratch, err);
    if (s->rerun) {
        plan_rerun(s, out);
        return FM_OK;
    }
    int64_t begun_us = fm_clock_monotonic_us(clock_of(s));
    FM_TRY(ask_sources(s, limit, scratch, out, err));
    times->latest_offset_us = fm_clock_monotonic_us(clock_of(s)) - begun_us;

    /* State may be waiting for the watermark that the last batch moved. After a restart the first batch
     * must have data, unless the run before was to go on without: what the plan wants is known only once it ran. */
    bool wants_no_data = out->no_data_allowed && (s->ran_one ? plan_wants_batch(s) : s->no_data_next);
    out->run = out->has_data || wants_no_data;
    out->offsets.n_sources = s->n_sources;
    out->offsets.conf = s->pinned;
    out->offsets.watermark_ms = s->watermark.global_ms;
    out->offsets.batch_time_ms = fm_floor_div(fm_clock_now_us(clock_of(s)), FM_US_PER_MS);
    return FM_OK;
}

/* ---- Running it ------------------------------------------------------------------------------------------- */

/* Entry N is durable before N runs. Then batch N - 1 can never run again, so its files may be cleaned. */
static fm_status log_offsets(fm_stream *s, const fm_batch_plan *plan, fm_error *err)
{
    if (plan->logged) return FM_OK;
    FM_TRY(fm_offset_log_add(&s->checkpoint.offsets, s->batch_id, &plan->offsets, err));
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_source *source = s->sources[i].source;
        if (source->type->commit && s->starts[i].len) FM_TRY(source->type->commit(source, s->starts[i], err));
    }
    int64_t keep_from = s->batch_id - s->batches_to_retain;
    if (keep_from > 0) {
        fm_batch_log_purge(&s->checkpoint.offsets, keep_from);
        fm_batch_log_purge(&s->checkpoint.commits, keep_from);
    }
    return FM_OK;
}

/* Late rows are told by the watermark of the batch before, finished state by that of this one: a row that was in
 * time when the batch before ended must not be dropped because its own batch moved the watermark. */
static fm_status propagate(fm_stream *s, const fm_batch_plan *plan, fm_arena *scratch, int64_t **late_us,
                           int64_t **evict_us, fm_error *err)
{
    int32_t n = fm_exec_operators(s->exec);

    *late_us = fm_arena_array(scratch, int64_t, n);
    *evict_us = fm_arena_array(scratch, int64_t, n);
    if (!*late_us || !*evict_us) return fm_no_memory(scratch, err);
    FM_TRY(fm_exec_propagate(s->exec, s->late_watermark_ms * FM_US_PER_MS, *late_us, err));
    return fm_exec_propagate(s->exec, plan->offsets.watermark_ms * FM_US_PER_MS, *evict_us, err);
}

static fm_status run(fm_stream *s, const fm_batch_plan *plan, fm_arena *scratch, fm_exec_result *result,
                     fm_step_times *times, fm_error *err)
{
    int64_t *late_us, *evict_us;
    fm_exec_input *input = fm_arena_array(scratch, fm_exec_input, s->n_sources);
    fm_run_context context = {
        .now_us = plan->offsets.batch_time_ms * FM_US_PER_MS,
        .watermark_us = s->watermark.n_nodes ? plan->offsets.watermark_ms * FM_US_PER_MS : INT64_MIN,
        .batch_id = s->batch_id,
    };

    if (!input) return fm_no_memory(scratch, err);
    for (int32_t i = 0; i < s->n_sources; i++) input[i] = (fm_exec_input){s->starts[i], plan->offsets.ends[i]};
    FM_TRY(fm_streaming_check_batch(s->spec->plan, s->spec->mode, plan->offsets.watermark_ms * FM_US_PER_MS, err));
    FM_TRY(propagate(s, plan, scratch, &late_us, &evict_us, err));
    int64_t begun_us = fm_clock_monotonic_us(clock_of(s));
    FM_TRY(fm_exec_run(s->exec, &context, plan->has_data ? input : NULL, late_us, evict_us, scratch, result, err));
    times->add_batch_us = fm_clock_monotonic_us(clock_of(s)) - begun_us;
    return FM_OK;
}

static fm_status advance_watermark(fm_stream *s, const fm_exec_result *result, fm_arena *scratch,
                                   fm_error *err)
{
    int32_t n = s->watermark.n_nodes;
    fm_watermark_seen *seen = fm_arena_array(scratch, fm_watermark_seen, n);

    if (!seen) return fm_no_memory(scratch, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_event_time_stats *e = &result->event_times[i];
        seen[i] = (fm_watermark_seen){e->count, e->max_ms, e->delay_us / FM_US_PER_MS};
    }
    fm_watermark_advance(&s->watermark, seen);
    return FM_OK;
}

/* The batch is done: the next one starts where it ended. */
static fm_status take_over(fm_stream *s, const fm_batch_plan *plan, fm_error *err)
{
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_str end = plan->offsets.ends[i];
        if (fm_str_eq(end, s->starts[i])) continue;
        char *copy = malloc(end.len + 1);
        if (!copy) return fm_no_memory(NULL, err);
        if (end.len) memcpy(copy, end.ptr, end.len);
        copy[end.len] = 0;
        free((char *)(uintptr_t)s->starts[i].ptr);
        s->starts[i] = (fm_str){copy, end.len};
    }
    s->late_watermark_ms = plan->offsets.watermark_ms;
    s->batch_id++;
    s->ran_one = true;
    s->rerun = NULL;
    return FM_OK;
}

/* ---- Telling what it did ---------------------------------------------------------------------------------- */

static fm_status describe_sources(fm_stream *s, const fm_batch_plan *plan, const fm_exec_result *result,
                                  fm_arena *scratch, fm_progress *p, fm_error *err)
{
    fm_progress_source *sources = fm_arena_array(scratch, fm_progress_source, s->n_sources);
    fm_strbuf text = {0};

    if (!sources) return fm_no_memory(scratch, err);
    for (int32_t i = 0; i < s->n_sources; i++) {
        const fm_source *source = s->sources[i].source;
        fm_strbuf_clear(&text);
        source->type->description(source, &text);
        sources[i] = (fm_progress_source){
            .description = fm_arena_str(scratch, fm_strbuf_str(&text)),
            .start = fm_arena_str(scratch, s->starts[i]), /* the batch that is told moves it on */
            .end = plan->offsets.ends[i],
            .latest = plan->latest[i],
            .rows = plan->has_data ? result->source_rows[i] : 0,
        };
        if (source->type->metrics) {
            fm_source_metric *metrics = NULL;
            source->type->metrics(source, scratch, &metrics, &sources[i].n_metrics);
            sources[i].metrics = metrics;
        }
    }
    fm_strbuf_clear(&text);
    const fm_sink *sink = fm_exec_sink(s->exec);
    sink->type->description(sink, &text);
    p->sink_description = fm_arena_str(scratch, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    p->sources = sources;
    p->n_sources = s->n_sources;
    return FM_OK;
}

static fm_status describe_operators(fm_stream *s, const fm_exec_result *result, fm_arena *scratch,
                                    fm_progress *p, fm_error *err)
{
    int32_t n = fm_exec_operators(s->exec);
    fm_progress_operator *operators = fm_arena_array(scratch, fm_progress_operator, n);

    if (!operators) return fm_no_memory(scratch, err);
    for (int32_t i = 0; i < n; i++) {
        operators[i].name = fm_exec_operator(s->exec, i)->spark_name;
        operators[i].stats = result->operators[i];
        p->late_rows += result->operators[i].late_rows;
    }
    p->operators = operators;
    p->n_operators = n;
    return FM_OK;
}

static void describe_event_time(const fm_stream *s, const fm_batch_plan *plan, const fm_exec_result *result,
                                fm_progress *p)
{
    p->has_watermark = s->watermark.n_nodes > 0;
    p->watermark_ms = plan->offsets.watermark_ms;
    p->next_watermark_ms = s->watermark.global_ms;
    for (int32_t i = 0; i < s->watermark.n_nodes; i++) {
        const fm_event_time_stats *e = &result->event_times[i];
        if (e->count == 0) continue;
        p->event_count = e->count;
        p->event_min_ms = e->min_ms;
        p->event_max_ms = e->max_ms;
        p->event_avg_ms = e->avg_ms;
        return; /* of several nodes, Spark reports the first that saw rows */
    }
}

static void tell_sources(const fm_stream *s, const fm_batch_plan *plan)
{
    for (int32_t i = 0; i < s->n_sources; i++) {
        fm_source *source = s->sources[i].source;
        if (source->type->committed && plan->offsets.ends[i].len) source->type->committed(source, plan->offsets.ends[i]);
    }
}

fm_status fm_batch_execute(fm_stream *s, const fm_batch_plan *plan, fm_arena *scratch,
                           fm_progress *progress, fm_step_times *times, fm_error *err)
{
    fm_exec_result result = {0};

    progress->batch_id = s->batch_id;
    int64_t begun_us = fm_clock_monotonic_us(clock_of(s));
    FM_TRY(log_offsets(s, plan, err));
    times->wal_us = fm_clock_monotonic_us(clock_of(s)) - begun_us;
    fm_status st = run(s, plan, scratch, &result, times, err);
    if (st != FM_OK) return fm_context(err, st, "running batch %" PRId64, s->batch_id);
    FM_TRY(advance_watermark(s, &result, scratch, err));
    begun_us = fm_clock_monotonic_us(clock_of(s));
    fm_commit commit = {s->watermark.global_ms, plan->no_data_allowed && plan_wants_batch(s)};
    FM_TRY(fm_commit_log_add(&s->checkpoint.commits, s->batch_id, &commit, err));
    times->commit_us = fm_clock_monotonic_us(clock_of(s)) - begun_us;
    tell_sources(s, plan);

    progress->rows = result.input_rows;
    progress->bad_rows = result.bad_rows;
    progress->sink_rows = result.output_rows;
    progress->late_texts = result.late_texts;
    progress->n_late_texts = result.n_late_texts;
    progress->windows = result.windows;
    progress->n_windows = result.n_windows;
    FM_TRY(describe_sources(s, plan, &result, scratch, progress, err));
    FM_TRY(describe_operators(s, &result, scratch, progress, err));
    describe_event_time(s, plan, &result, progress);
    return take_over(s, plan, err);
}
