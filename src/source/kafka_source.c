/* source/kafka_source.c: topics of Kafka as a source, batch and stream: schema, offsets, splits.
 *
 * Rule: semantics 9.2. An offset is Spark's JSON of all partitions, {"clicks":{"0":120,"1":87}}: the next one to read of
 * each. sources/<i>/0 holds where the query began, in Spark's words too, so that a checkpoint may come from Spark and go
 * back. */
#include "source/kafka_source.h"

#include "base/limits.h"
#include "expr/cast.h"
#include "source/sources.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- schema ---- */

static const fm_type *headers_type(fm_arena *arena)
{
    fm_field fields[] = {{FM_STR("key"), fm_type_string(), true}, {FM_STR("value"), fm_type_simple(FM_TYPE_BINARY), true}};
    const fm_type *header = fm_type_struct(arena, fields, 2);

    return header ? fm_type_list(arena, header, true) : NULL;
}

static fm_status kafka_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream, fm_arena *arena,
                              const fm_type **out, fm_error *err)
{
    bool headers;

    (void)env;
    (void)is_stream;
    FM_TRY(fm_kafka_options_check(&table->options, "source kafka", arena, &headers, err));
    const fm_type *headers_of = headers_type(arena);
    fm_field fields[FM_KAFKA_COLUMNS] = {{FM_STR("key"), fm_type_simple(FM_TYPE_BINARY), true},
                                         {FM_STR("value"), fm_type_simple(FM_TYPE_BINARY), true},
                                         {FM_STR("topic"), fm_type_string(), true},
                                         {FM_STR("partition"), fm_type_i32(), true},
                                         {FM_STR("offset"), fm_type_i64(), true},
                                         {FM_STR("timestamp"), fm_type_timestamp(), true},
                                         {FM_STR("timestampType"), fm_type_i32(), true},
                                         {FM_STR("headers"), headers_of, true}};
    *out = headers_of ? fm_type_struct(arena, fields, FM_KAFKA_COLUMNS - !headers) : NULL;
    if (!*out) return fm_no_memory(arena, err);
    if (!table->schema || fm_type_eq(table->schema, *out)) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_FIXED_SCHEMA",
                   "Kafka source has a fixed schema and cannot be set with a custom one: leave the columns of table %.*s out, and "
                   "take its messages apart in the query: from_json(CAST(value AS STRING), 'a INT, ...').",
                   FM_STR_ARG(table->name));
}

/* ---- opening ---- */

static fm_status plan_columns(fm_kafka_source *s, const fm_source_spec *spec, fm_error *err)
{
    s->n_wanted = spec->n_wanted;
    s->want_position = spec->want_position;
    return fm_source_columns(spec, s->arena, &s->wanted, &s->out_schema, err);
}

static fm_status init(fm_kafka_source *s, const fm_source_spec *spec, fm_error *err)
{
    FM_TRY(fm_kafka_options_read(&spec->table->options, "source kafka", spec->metadata_dir != NULL, s->arena, &s->options, err));
    s->options.settings.warn = s->env.warn;
    s->options.settings.warn_ctx = s->env.warn_ctx;
    s->options.settings.stopped = s->env.stopped;
    s->options.settings.stopped_ctx = s->env.stopped_ctx;
    FM_TRY(plan_columns(s, spec, err));
    if (spec->metadata_dir) {
        s->metadata_dir = fm_arena_str(s->arena, fm_str_c(spec->metadata_dir)).ptr;
        if (!s->metadata_dir) return fm_no_memory(s->arena, err);
    }
    s->initial_arena = fm_arena_new(0);
    s->target_arena = fm_arena_new(0);
    s->latest_arena = fm_arena_new(0);
    s->assigned_arena = fm_arena_new(0);
    s->mutex = fm_mutex_new();
    if (!s->initial_arena || !s->target_arena || !s->latest_arena || !s->assigned_arena || !s->mutex) return fm_no_memory(NULL, err);
    if (s->options.choice == FM_KAFKA_PATTERN) {
        FM_TRY(fm_regex_compile(s->options.pattern, &s->pattern, err));
        FM_TRY(fm_regex_run_new(s->pattern, &s->matching, err));
    }
    FM_TRY(fm_kafka_group_open(s, err));
    return fm_kafka_client_new(&s->options.settings, &s->client, err);
}

static void kafka_close(fm_source *source)
{
    fm_kafka_source *s = (fm_kafka_source *)source;

    if (!s) return;
    if (s->mutex) fm_kafka_feeds_close(s);
    for (int i = 0; i < FM_KAFKA_LANES_MAX; i++) fm_kafka_client_free(s->lanes[i]);
    fm_kafka_client_free(s->client);
    fm_kafka_group_close(s);
    fm_regex_run_free(s->matching);
    fm_regex_free(s->pattern);
    fm_mutex_free(s->mutex);
    fm_strbuf_fini(&s->last_losses);
    fm_arena_free(s->initial_arena);
    fm_arena_free(s->target_arena);
    fm_arena_free(s->latest_arena);
    fm_arena_free(s->assigned_arena);
}

static fm_status kafka_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena, fm_source **out,
                            fm_error *err)
{
    fm_kafka_source *s = fm_arena_one(arena, fm_kafka_source);

    if (!s) return fm_no_memory(arena, err);
    s->base.type = &fm_source_kafka;
    s->env = *env;
    s->arena = arena;
    fm_status st = init(s, spec, err);
    if (st == FM_OK) *out = &s->base;
    else kafka_close(&s->base);
    return st;
}

/* ---- where the query began ---- */

/* Spark writes a zero byte before the version, so that its 2.0 fails on the file rather than misreads it. */
static fm_status read_initial(fm_kafka_source *s, const char *path, fm_error *err)
{
    fm_str text;

    FM_TRY(fm_fs_read_all(s->env.fs, path, FM_LOG_ENTRY_SIZE_MAX, s->initial_arena, &text, err));
    if (text.len && text.ptr[0] == 0) text = (fm_str){text.ptr + 1, text.len - 1};
    if (fm_str_starts(text, FM_STR("v1\n"))) text = (fm_str){text.ptr + 3, text.len - 3};
    else if (text.len == 0 || text.ptr[0] != '{') text = FM_STR("");
    fm_status st = fm_kafka_offsets_parse(fm_str_trim(text), "initial offsets", s->initial_arena, &s->initial, err);
    if (st != FM_INVALID) return st;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "'%s' should hold v1 and the offsets where the query began. Restore it from a backup, or start with a new "
                   "checkpointLocation.",
                   path);
}

static fm_status write_initial(fm_kafka_source *s, const char *path, fm_error *err)
{
    fm_strbuf text = {0};

    fm_strbuf_add(&text, (fm_str){"\0v1\n", 4});
    fm_kafka_offsets_print(&s->initial, &text);
    fm_status st = fm_strbuf_ok(&text) ? fm_fs_mkdirs(s->env.fs, s->metadata_dir, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) st = fm_fs_write_atomic(s->env.fs, path, fm_strbuf_str(&text), false, err);
    fm_strbuf_fini(&text);
    return st;
}

/* Decided once for the life of a checkpoint. */
static fm_status initial_offsets(fm_kafka_source *s, fm_error *err)
{
    if (s->has_initial) return FM_OK;
    fm_str path = fm_arena_printf(s->initial_arena, "%s/0", s->metadata_dir);
    if (!path.ptr) return fm_no_memory(s->initial_arena, err);
    fm_status st = read_initial(s, path.ptr, err);
    if (st == FM_NOT_FOUND) {
        st = fm_kafka_resolve(s, &s->options.starting, true, s->initial_arena, &s->initial, err);
        if (st == FM_OK) st = write_initial(s, path.ptr, err);
    }
    s->has_initial = st == FM_OK;
    return st;
}

/* Where a batch starts: what the log says, or the beginning. */
static fm_status start_of(fm_kafka_source *s, fm_str start, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    if (start.len == 0) {
        FM_TRY(initial_offsets(s, err));
        *out = s->initial;
        return FM_OK;
    }
    fm_status st = fm_kafka_offsets_parse(start, "The checkpoint's offset", arena, out, err);
    if (st != FM_INVALID) return st;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "The checkpoint's offset %.*s is none of a Kafka source. Was the source of the query changed? Use a new "
                   "checkpointLocation then.",
                   FM_STR_ARG(start));
}

static fm_status kafka_restore(fm_source *source, fm_str start, fm_error *err)
{
    fm_kafka_source *s = (fm_kafka_source *)source;
    fm_arena *arena = fm_arena_new(0);
    fm_kafka_offsets at;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = start.len ? start_of(s, start, arena, &at, err) : FM_OK;
    fm_arena_free(arena);
    return st;
}

/* ---- how far a batch may go ---- */

/* Rule: Spark, minOffsetsPerTrigger: a batch waits until so much is there, or maxTriggerDelay has passed since the last. */
static bool waits_for_more(fm_kafka_source *s, const fm_kafka_offsets *start, const fm_kafka_offsets *end)
{
    int64_t now_ms = fm_clock_now_us(s->env.clock) / 1000;
    double fresh = 0;

    if (s->options.offsets_min == 0) return false;
    for (int32_t i = 0; i < end->n; i++) {
        const fm_kafka_partition *p = fm_kafka_offsets_find(start, end->items[i].topic, end->items[i].partition);
        fresh += (double)(end->items[i].offset - (p ? p->offset : 0));
    }
    if (now_ms - s->last_trigger_ms < s->options.delay_max_ms && fresh < (double)s->options.offsets_min) return true;
    s->last_trigger_ms = now_ms;
    return false;
}

/* Partitions of `end` that `start` lacks, at their beginning. */
static fm_status fresh_partitions(fm_kafka_source *s, const fm_kafka_offsets *start, const fm_kafka_offsets *end,
                                  fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    *out = (fm_kafka_offsets){fm_arena_array(arena, fm_kafka_partition, end->n), 0};
    if (!out->items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < end->n; i++)
        if (!fm_kafka_offsets_find(start, end->items[i].topic, end->items[i].partition)) out->items[out->n++] = end->items[i];
    return fm_kafka_ask(s, out, FM_KAFKA_EARLIEST, err);
}

static fm_status limit_batch(fm_kafka_source *s, const fm_kafka_offsets *start, fm_arena *arena, fm_kafka_offsets *end,
                             fm_error *err)
{
    fm_kafka_offsets fresh;

    if (waits_for_more(s, start, end)) return fm_kafka_offsets_copy(start, arena, end, err);
    if (s->options.offsets_max == 0) return FM_OK;
    FM_TRY(fresh_partitions(s, start, end, arena, &fresh, err));
    fm_kafka_offsets_limit(start, &fresh, s->options.offsets_max, end);
    return FM_OK;
}

static fm_status print(const fm_kafka_offsets *o, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0};

    fm_kafka_offsets_print(o, &text);
    *out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){NULL, 0};
    fm_strbuf_fini(&text);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

/* Keeps what was told last, for the metrics. */
static fm_status keep_latest(fm_kafka_source *s, const fm_kafka_offsets *latest, const fm_kafka_offsets *end, fm_error *err)
{
    fm_arena_reset(s->latest_arena);
    s->latest = s->consumed = (fm_kafka_offsets){0};
    FM_TRY(fm_kafka_offsets_copy(latest, s->latest_arena, &s->latest, err));
    return fm_kafka_offsets_copy(end, s->latest_arena, &s->consumed, err);
}

/* Idle since Kafka was asked a moment ago, and nothing has come to the feeds that wait since. So an idle query asks ten times a second,
 * however often it looks. */
static bool is_quiet(fm_kafka_source *s)
{
    enum { ASK_US = 100 * 1000 };

    if (!s->is_idle || fm_clock_monotonic_us(s->env.clock) - s->asked_us >= ASK_US) return false;
    return fm_kafka_feeds_quiet(s, &s->latest);
}

/* ---- what is gone ---- */

static fm_status report_missing(fm_kafka_source *s, const fm_kafka_offsets *start, const fm_kafka_offsets *end,
                                fm_arena *arena, fm_error *err)
{
    fm_kafka_offsets gone = {fm_arena_array(arena, fm_kafka_partition, start->n), 0};
    fm_strbuf what = {0};

    if (!gone.items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < start->n; i++)
        if (!fm_kafka_offsets_find(end, start->items[i].topic, start->items[i].partition)) gone.items[gone.n++] = start->items[i];
    if (gone.n == 0) return FM_OK;
    fm_strbuf_add_c(&what, "Partitions ");
    fm_kafka_partitions_print(&gone, &what);
    fm_strbuf_add_c(&what, " have been deleted.");
    fm_status st = fm_kafka_data_loss(s, "KAFKA_DATA_LOSS.PARTITIONS_DELETED", (fm_str){"", 0}, 0, -1, -1, fm_strbuf_str(&what), err);
    fm_strbuf_fini(&what);
    return st;
}

static fm_status range_of(fm_kafka_source *s, const fm_kafka_offsets *start, const fm_kafka_offsets *fresh,
                          const fm_kafka_partition *end, fm_kafka_range *out, fm_error *err)
{
    const fm_kafka_partition *from = fm_kafka_offsets_find(start, end->topic, end->partition);
    char what[512];

    *out = (fm_kafka_range){end->topic, end->partition, from ? from->offset : 0, end->offset};
    if (!from) {
        const fm_kafka_partition *first = fm_kafka_offsets_find(fresh, end->topic, end->partition);
        out->from = first->offset;
        if (first->offset == 0) return FM_OK;
        snprintf(what, sizeof what, "Added partition %.*s-%" PRId32 " starts from %" PRId64 " instead of 0.", FM_STR_ARG(end->topic),
                 end->partition, first->offset);
        return fm_kafka_data_loss(s, "KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO", end->topic, end->partition, 0,
                                  first->offset, fm_str_c(what), err);
    }
    if (out->to >= out->from) return FM_OK;
    snprintf(what, sizeof what,
             "Partition %.*s-%" PRId32 " offset was changed from %" PRId64 " to %" PRId64
             ". This could either be a user error that the start offset is set too high and this is the first batch, or the kafka "
             "topic-partition is broken, and some data may have been missed.",
             FM_STR_ARG(end->topic), end->partition, out->from, out->to);
    return fm_kafka_data_loss(s, "KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED", end->topic, end->partition, out->to, out->from,
                              fm_str_c(what), err);
}

/* What would fail a batch for ever once it stands in the offset log is said before it does: when the cause is gone (another topic in the options, an
 * offset too high) the query goes on. A query that has not begun may begin elsewhere. */
static fm_status check_lost(fm_kafka_source *s, const fm_kafka_offsets *start, bool begun, const fm_kafka_offsets *latest, fm_arena *arena,
                            fm_error *err)
{
    fm_kafka_range range;

    if (!s->options.fail_on_data_loss) return FM_OK; /* counted when the batch is planned */
    fm_status st = report_missing(s, start, latest, arena, err);
    for (int32_t i = 0; i < latest->n && st == FM_OK; i++)
        if (fm_kafka_offsets_find(start, latest->items[i].topic, latest->items[i].partition)) st = range_of(s, start, NULL, &latest->items[i], &range, err);
    if (st == FM_OK || begun) return st;
    fm_str path = fm_arena_printf(arena, "%s/0", s->metadata_dir);
    if (path.ptr) fm_fs_remove(s->env.fs, path.ptr, NULL);
    s->has_initial = false;
    return st;
}

/* ---- how far, then ---- */

static fm_status kafka_latest(fm_source *source, fm_str start_text, fm_read_limit limit, fm_arena *arena, fm_str *end_text,
                              fm_str *latest_text, fm_error *err)
{
    fm_kafka_source *s = (fm_kafka_source *)source;
    fm_kafka_offsets start, latest, end;

    fm_kafka_group_tick(s);
    if (is_quiet(s)) { /* s->latest is where the last batch ended */
        *end_text = start_text;
        return print(&s->latest, arena, latest_text, err);
    }
    FM_TRY(start_of(s, start_text, arena, &start, err));
    if (s->has_target) latest = s->target;
    else FM_TRY(fm_kafka_latest(s, &start, arena, &latest, err));
    FM_TRY(check_lost(s, &start, start_text.len > 0, &latest, arena, err));
    FM_TRY(fm_kafka_offsets_copy(&latest, arena, &end, err));
    if (limit == FM_READ_LIMITED) FM_TRY(limit_batch(s, &start, arena, &end, err));
    FM_TRY(keep_latest(s, &latest, &end, err));
    s->is_idle = start_text.len && !s->has_target && fm_kafka_offsets_eq(&start, &latest);
    s->asked_us = fm_clock_monotonic_us(s->env.clock);
    if (s->is_idle) fm_kafka_feeds_wait(s, &s->latest);
    *end_text = *latest_text = (fm_str){"", 0};
    if (latest.n) FM_TRY(print(&latest, arena, latest_text, err));
    if (end.n == 0) return FM_OK;
    /* The same offsets in other words (Spark's order of topics is another) are nothing new. */
    if (start_text.len && fm_kafka_offsets_eq(&start, &end)) *end_text = start_text;
    else FM_TRY(print(&end, arena, end_text, err));
    return FM_OK;
}

static fm_status kafka_fix_target(fm_source *source, fm_error *err)
{
    fm_kafka_source *s = (fm_kafka_source *)source;
    static const fm_kafka_offsets none = {0};

    fm_arena_reset(s->target_arena);
    s->has_target = false;
    if (s->metadata_dir) FM_TRY(initial_offsets(s, err)); /* "latest" means now, not when the first batch runs */
    FM_TRY(fm_kafka_latest(s, &none, s->target_arena, &s->target, err));
    s->has_target = true;
    return FM_OK;
}

/* ---- splits ---- */

static fm_status batch_bounds(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *start, fm_kafka_offsets *end, fm_error *err)
{
    FM_TRY(fm_kafka_resolve(s, &s->options.starting, true, arena, start, err));
    FM_TRY(fm_kafka_resolve(s, &s->options.ending, false, arena, end, err));
    for (int32_t i = 0; i < end->n && fm_kafka_offsets_same_partitions(start, end); i++)
        if (start->items[i].offset > end->items[i].offset)
            return fm_fail(err, FM_INVALID, "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET",
                           "The resolved start offset %" PRId64 " is greater than the resolved end offset %" PRId64
                           " for topic %s partition %" PRId32 ".",
                           start->items[i].offset, end->items[i].offset, end->items[i].topic.ptr, end->items[i].partition);
    return FM_OK;
}

static fm_status kafka_plan_splits(fm_source *source, fm_str start_text, fm_str end_text, int32_t workers, fm_arena *arena,
                                   fm_split **out, int32_t *n, fm_error *err)
{
    fm_kafka_source *s = (fm_kafka_source *)source;
    fm_kafka_offsets start, end, fresh;
    fm_kafka_range *pieces;

    (void)workers;
    fm_strbuf_clear(&s->last_losses);
    if (!s->metadata_dir) {
        FM_TRY(batch_bounds(s, arena, &start, &end, err));
    } else {
        FM_TRY(start_of(s, start_text, arena, &start, err));
        FM_TRY(start_of(s, end_text, arena, &end, err));
    }
    FM_TRY(fresh_partitions(s, &start, &end, arena, &fresh, err));
    FM_TRY(report_missing(s, &start, &end, arena, err));
    fm_kafka_range *ranges = fm_arena_array(arena, fm_kafka_range, end.n);
    if (!ranges) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < end.n; i++) FM_TRY(range_of(s, &start, &fresh, &end.items[i], &ranges[i], err));
    FM_TRY(fm_kafka_ranges_cut(ranges, end.n, s->options.parts_min, s->options.records_max, arena, &pieces, n, err));
    *out = fm_arena_array(arena, fm_split, *n);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < *n; i++) (*out)[i] = (fm_split){i, pieces[i].to - pieces[i].from, &pieces[i]};
    return FM_OK;
}

/* ---- what is told ---- */

static void kafka_description(const fm_source *source, fm_strbuf *out)
{
    const fm_kafka_source *s = (const fm_kafka_source *)source;
    static const char *const names[] = {"Assign", "Subscribe", "SubscribePattern"};

    fm_strbuf_printf(out, "KafkaV2[%s[", names[s->options.choice]);
    if (s->options.choice == FM_KAFKA_ASSIGN) fm_kafka_partitions_print(&s->options.assigned, out);
    for (int32_t i = 0; i < s->options.n_topics; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        fm_strbuf_add(out, s->options.topics[i]);
    }
    if (s->options.choice == FM_KAFKA_PATTERN) fm_strbuf_add(out, s->options.pattern);
    fm_strbuf_add_c(out, "]]");
}

/* The backlog of each partition when the batch was planned: what was there, less what the batch takes. */
static bool add_lag(const fm_kafka_source *s, fm_arena *arena, fm_source_metric *out, int32_t *n)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    double sum = 0;
    fm_kafka_offsets lag;
    char text[FM_DOUBLE_TEXT_SIZE];
    fm_error ignored = FM_ERROR_INIT;
    fm_strbuf json = {0};

    if (s->latest.n == 0 || fm_kafka_offsets_copy(&s->latest, arena, &lag, &ignored) != FM_OK) return s->latest.n == 0;
    for (int32_t i = 0; i < lag.n; i++) {
        fm_kafka_partition *p = &lag.items[i];
        const fm_kafka_partition *at = fm_kafka_offsets_find(&s->consumed, p->topic, p->partition);
        if (at) p->offset -= at->offset;
        if (p->offset < least) least = p->offset;
        if (p->offset > most) most = p->offset;
        sum += (double)p->offset;
    }
    size_t len = fm_double_text(sum / lag.n, text);
    fm_kafka_offsets_print(&lag, &json);
    out[(*n)++] = (fm_source_metric){FM_STR("avgOffsetsBehindLatest"), fm_arena_str(arena, (fm_str){text, len})};
    out[(*n)++] = (fm_source_metric){FM_STR("maxOffsetsBehindLatest"), fm_arena_printf(arena, "%" PRId64, most)};
    out[(*n)++] = (fm_source_metric){FM_STR("minOffsetsBehindLatest"), fm_arena_printf(arena, "%" PRId64, least)};
    out[(*n)++] = (fm_source_metric){FM_STR("offsetsBehindLatest"), fm_arena_str(arena, fm_strbuf_str(&json))};
    fm_strbuf_fini(&json);
    for (int32_t i = 0; i < *n; i++)
        if (!out[i].value.ptr) return false;
    return true;
}

static void kafka_metrics(const fm_source *source, fm_arena *arena, fm_source_metric **out, int32_t *n)
{
    const fm_kafka_source *s = (const fm_kafka_source *)source;

    *n = 0;
    *out = fm_arena_array(arena, fm_source_metric, 6);
    if (!*out) return;
    if (!add_lag(s, arena, *out, n)) *n = 0;
    if (s->losses == 0) return;
    fm_str losses = fm_arena_printf(arena, "%" PRId64, s->losses);
    fm_str last = fm_arena_printf(arena, "[%.*s]", (int)s->last_losses.len, s->last_losses.len ? s->last_losses.ptr : "");
    if (!losses.ptr || !last.ptr) return;
    (*out)[(*n)++] = (fm_source_metric){FM_STR("dataLoss"), losses};
    (*out)[(*n)++] = (fm_source_metric){FM_STR("lostOffsets"), last};
}

const fm_source_type fm_source_kafka = {
    .name = "kafka",
    .options = fm_kafka_option_names,
    .can_stream = true,
    .can_batch = true,
    .fixed_schema = true,
    .schema = kafka_schema,
    .open = kafka_open,
    .close = kafka_close,
    .restore = kafka_restore,
    .latest_offset = kafka_latest,
    .fix_target = kafka_fix_target,
    .plan_splits = kafka_plan_splits,
    .committed = fm_kafka_group_committed,
    .description = kafka_description,
    .metrics = kafka_metrics,
    .reader_open = fm_kafka_reader_open,
    .reader_read = fm_kafka_reader_read,
    .reader_counts = fm_kafka_reader_counts,
    .reader_close = fm_kafka_reader_close,
};
