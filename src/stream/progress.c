/* stream/progress.c: Spark's progress JSON. */
#include "stream/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/time_text.h"

/* A JSON text under construction, compact or pretty. */
typedef struct json_out {
    fm_strbuf *buf;
    bool pretty;
    int depth;
    bool first; /* nothing stands yet in the object or array that is open */
} json_out;

static void line_break(json_out *o)
{
    if (!o->pretty) return;
    fm_strbuf_add_char(o->buf, '\n');
    for (int i = 0; i < o->depth; i++) fm_strbuf_add_c(o->buf, "  ");
}

static void key(json_out *o, const char *name)
{
    if (!o->first) fm_strbuf_add_char(o->buf, ',');
    line_break(o);
    o->first = false;
    fm_strbuf_add_json(o->buf, fm_str_c(name));
    fm_strbuf_add_c(o->buf, o->pretty ? " : " : ":");
}

static void open_scope(json_out *o, char bracket)
{
    fm_strbuf_add_char(o->buf, bracket);
    o->depth++;
    o->first = true;
}

static void close_scope(json_out *o, char bracket)
{
    o->depth--;
    if (!o->first) line_break(o);
    else if (o->pretty) fm_strbuf_add_char(o->buf, ' ');
    fm_strbuf_add_char(o->buf, bracket);
    o->first = false;
}

/* The elements of an array of objects stand on the bracket's line, as Jackson prints them: [ {...}, {...} ]. */
static void next_object(json_out *o, int32_t i)
{
    if (i) fm_strbuf_add_char(o->buf, ',');
    if (o->pretty) fm_strbuf_add_char(o->buf, ' ');
    fm_strbuf_add_char(o->buf, '{');
    o->first = true;
}

static void add_i64(json_out *o, const char *name, int64_t x)
{
    key(o, name);
    fm_strbuf_printf(o->buf, "%" PRId64, x);
}

static void add_str(json_out *o, const char *name, fm_str text)
{
    key(o, name);
    fm_strbuf_add_json(o->buf, text);
}

static void add_time(json_out *o, const char *name, int64_t ms)
{
    char text[FM_ISO_TEXT_SIZE];

    add_str(o, name, (fm_str){text, fm_iso_ms(ms, text)});
}

/* One decimal, rounded half up; NaN and infinite values are left out. */
static void add_rate(json_out *o, const char *name, double x)
{
    if (!isfinite(x)) return;
    key(o, name);
    fm_strbuf_printf(o->buf, "%.1f", floor(x * 10 + 0.5) / 10);
}

/* An offset that is JSON is embedded; other text is quoted. */
static void add_offset(json_out *o, const char *name, fm_str text)
{
    key(o, name);
    if (text.len == 0) {
        fm_strbuf_add_c(o->buf, "null");
    } else if (text.ptr[0] == '{' || text.ptr[0] == '[' || text.ptr[0] == '-' ||
               (text.ptr[0] >= '0' && text.ptr[0] <= '9')) {
        fm_strbuf_add(o->buf, text);
    } else {
        fm_strbuf_add_json(o->buf, text);
    }
}

static void add_duration(json_out *o, const char *name, int64_t us)
{
    if (us >= 0) add_i64(o, name, us / FM_US_PER_MS);
}

static void add_durations(json_out *o, const fm_progress *p)
{
    key(o, "durationMs");
    open_scope(o, '{');
    add_duration(o, "addBatch", p->add_batch_us);
    add_duration(o, "commitOffsets", p->commit_offsets_us);
    add_duration(o, "getBatch", p->get_batch_us);
    add_duration(o, "latestOffset", p->latest_offset_us);
    add_duration(o, "queryPlanning", p->query_planning_us);
    add_duration(o, "triggerExecution", p->duration_us);
    add_duration(o, "walCommit", p->wal_commit_us);
    close_scope(o, '}');
}

static void add_event_time(json_out *o, const fm_progress *p)
{
    if (!p->has_watermark) return;
    key(o, "eventTime");
    open_scope(o, '{');
    if (p->event_count > 0) {
        add_time(o, "avg", (int64_t)p->event_avg_ms);
        add_time(o, "max", p->event_max_ms);
        add_time(o, "min", p->event_min_ms);
    }
    add_time(o, "watermark", p->watermark_ms);
    close_scope(o, '}');
}

static void add_operator(json_out *o, const fm_progress_operator *op, int64_t shards)
{
    const fm_op_stats *s = &op->stats;

    add_str(o, "operatorName", fm_str_c(op->name));
    add_i64(o, "numRowsTotal", s->rows_total);
    add_i64(o, "numRowsUpdated", s->rows_updated);
    add_i64(o, "allUpdatesTimeMs", s->updates_us / FM_US_PER_MS);
    add_i64(o, "numRowsRemoved", s->rows_removed);
    add_i64(o, "allRemovalsTimeMs", s->removals_us / FM_US_PER_MS);
    add_i64(o, "commitTimeMs", s->commit_us / FM_US_PER_MS);
    add_i64(o, "memoryUsedBytes", s->memory_size);
    add_i64(o, "numRowsDroppedByWatermark", s->rows_dropped_by_watermark);
    add_i64(o, "numShufflePartitions", shards);
    add_i64(o, "numStateStoreInstances", shards);
    if (s->custom_duplicates >= 0) {
        key(o, "customMetrics");
        open_scope(o, '{');
        add_i64(o, "numDroppedDuplicateRows", s->custom_duplicates);
        close_scope(o, '}');
    }
}

static double per_second(int64_t rows, int64_t us) { return us > 0 ? (double)rows * 1e6 / (double)us : 0; }

/* Rows per second of processing; a trigger counts for at least a millisecond, as in Spark. */
static double processed_rate(const fm_progress *p, int64_t rows)
{
    return per_second(rows, p->duration_us < FM_US_PER_MS ? FM_US_PER_MS : p->duration_us);
}

static void add_source(json_out *o, const fm_progress *p, const fm_progress_source *s)
{
    add_str(o, "description", s->description);
    add_offset(o, "startOffset", s->start);
    add_offset(o, "endOffset", s->end);
    add_offset(o, "latestOffset", s->latest);
    add_i64(o, "numInputRows", s->rows);
    add_rate(o, "inputRowsPerSecond", per_second(s->rows, p->since_last_us));
    add_rate(o, "processedRowsPerSecond", processed_rate(p, s->rows));
    if (s->n_metrics == 0) return;
    key(o, "metrics");
    open_scope(o, '{');
    for (int32_t i = 0; i < s->n_metrics; i++) {
        if (!o->first) fm_strbuf_add_char(o->buf, ',');
        line_break(o);
        o->first = false;
        fm_strbuf_add_json(o->buf, s->metrics[i].name);
        fm_strbuf_add_c(o->buf, o->pretty ? " : " : ":");
        fm_strbuf_add_json(o->buf, s->metrics[i].value);
    }
    close_scope(o, '}');
}

static void add_operators(json_out *o, const fm_progress *p)
{
    key(o, "stateOperators");
    fm_strbuf_add_char(o->buf, '[');
    for (int32_t i = 0; i < p->n_operators; i++) {
        next_object(o, i);
        o->depth++;
        add_operator(o, &p->operators[i], FM_VIRTUAL_SHARDS);
        close_scope(o, '}');
    }
    fm_strbuf_add_c(o->buf, o->pretty ? " ]" : "]");
    o->first = false;
}

static void add_sources(json_out *o, const fm_progress *p)
{
    key(o, "sources");
    fm_strbuf_add_char(o->buf, '[');
    for (int32_t i = 0; i < p->n_sources; i++) {
        next_object(o, i);
        o->depth++;
        add_source(o, p, &p->sources[i]);
        close_scope(o, '}');
    }
    fm_strbuf_add_c(o->buf, o->pretty ? " ]" : "]");
    o->first = false;
}

/* What Spark has no field for. */
static void add_own(json_out *o, const fm_progress *p)
{
    key(o, "floodmark");
    open_scope(o, '{');
    add_i64(o, "lateRows", p->late_rows);
    add_i64(o, "badRows", p->bad_rows);
    if (p->has_watermark) add_time(o, "nextWatermark", p->next_watermark_ms);
    close_scope(o, '}');
}

void fm_progress_json(const fm_progress *p, bool pretty, fm_strbuf *out)
{
    json_out o = {.buf = out, .pretty = pretty};

    open_scope(&o, '{');
    add_str(&o, "id", fm_str_c(p->query_id));
    add_str(&o, "runId", fm_str_c(p->run_id));
    if (p->name.len) {
        add_str(&o, "name", p->name);
    } else {
        key(&o, "name");
        fm_strbuf_add_c(out, "null");
    }
    add_time(&o, "timestamp", p->timestamp_ms);
    add_i64(&o, "batchId", p->batch_id);
    add_i64(&o, "batchDuration", p->duration_us / FM_US_PER_MS);
    add_i64(&o, "numInputRows", p->rows);
    add_rate(&o, "inputRowsPerSecond", per_second(p->rows, p->since_last_us));
    add_rate(&o, "processedRowsPerSecond", processed_rate(p, p->rows));
    add_durations(&o, p);
    add_event_time(&o, p);
    add_operators(&o, p);
    add_sources(&o, p);
    key(&o, "sink");
    open_scope(&o, '{');
    add_str(&o, "description", p->sink_description);
    add_i64(&o, "numOutputRows", p->sink_rows);
    close_scope(&o, '}');
    add_own(&o, p);
    close_scope(&o, '}');
}

struct fm_progress_ref {
    atomic_int owners;
    fm_arena *arena;
    fm_progress progress;
};

static fm_progress_source copy_source(fm_arena *arena, const fm_progress_source *s)
{
    fm_progress_source out = *s;
    fm_source_metric *metrics = fm_arena_array(arena, fm_source_metric, s->n_metrics);

    out.description = fm_arena_str(arena, s->description);
    out.start = fm_arena_str(arena, s->start);
    out.end = fm_arena_str(arena, s->end);
    out.latest = fm_arena_str(arena, s->latest);
    for (int32_t i = 0; metrics && i < s->n_metrics; i++) {
        metrics[i].name = fm_arena_str(arena, s->metrics[i].name);
        metrics[i].value = fm_arena_str(arena, s->metrics[i].value);
    }
    out.metrics = metrics;
    if (!metrics) out.n_metrics = 0;
    return out;
}

static bool copy_told(fm_arena *arena, const fm_progress *from, fm_progress *to)
{
    fm_late_text *late = fm_arena_array(arena, fm_late_text, from->n_late_texts);
    fm_op_window *windows = fm_arena_array(arena, fm_op_window, from->n_windows);

    if (!late || !windows) return false;
    for (int32_t i = 0; i < from->n_late_texts; i++) {
        late[i] = from->late_texts[i];
        late[i].row = fm_arena_str(arena, from->late_texts[i].row);
        late[i].source = fm_arena_str(arena, from->late_texts[i].source);
    }
    if (from->n_windows) memcpy(windows, from->windows, (size_t)from->n_windows * sizeof *windows);
    to->late_texts = late;
    to->windows = windows;
    return true;
}

fm_progress_ref *fm_progress_ref_new(const fm_progress *p)
{
    fm_arena *arena = fm_arena_new(0);
    fm_progress_ref *ref = arena ? fm_arena_one(arena, fm_progress_ref) : NULL;
    fm_progress_source *sources = ref ? fm_arena_array(arena, fm_progress_source, p->n_sources) : NULL;
    fm_progress_operator *operators = sources ? fm_arena_array(arena, fm_progress_operator, p->n_operators) : NULL;

    if (!operators || !copy_told(arena, p, &ref->progress)) {
        fm_arena_free(arena);
        return NULL;
    }
    const fm_late_text *late_texts = ref->progress.late_texts;
    const fm_op_window *windows = ref->progress.windows;
    atomic_init(&ref->owners, 1);
    ref->arena = arena;
    ref->progress = *p;
    ref->progress.late_texts = late_texts;
    ref->progress.windows = windows;
    ref->progress.name = fm_arena_str(arena, p->name);
    ref->progress.sink_description = fm_arena_str(arena, p->sink_description);
    for (int32_t i = 0; i < p->n_sources; i++) sources[i] = copy_source(arena, &p->sources[i]);
    if (p->n_operators) memcpy(operators, p->operators, (size_t)p->n_operators * sizeof *operators);
    ref->progress.sources = sources;
    ref->progress.operators = operators;
    return ref;
}

const fm_progress *fm_progress_of(const fm_progress_ref *ref) { return &ref->progress; }

fm_progress_ref *fm_progress_ref_take(fm_progress_ref *ref)
{
    atomic_fetch_add_explicit(&ref->owners, 1, memory_order_relaxed);
    return ref;
}

void fm_progress_unref(fm_progress_ref *ref)
{
    if (ref && atomic_fetch_sub_explicit(&ref->owners, 1, memory_order_acq_rel) == 1) fm_arena_free(ref->arena);
}
