/* source/kafka_options.c: options of the Kafka source. */
#include "source/kafka_options.h"

#include <inttypes.h>
#include <stdio.h>

const char *const fm_kafka_option_names[] = {"assign",
                                             "subscribe",
                                             "subscribePattern",
                                             "startingOffsets",
                                             "startingOffsetsByTimestamp",
                                             "startingOffsetsByTimestampStrategy",
                                             "startingTimestamp",
                                             "endingOffsets",
                                             "endingOffsetsByTimestamp",
                                             "endingTimestamp",
                                             "failOnDataLoss",
                                             "maxOffsetsPerTrigger",
                                             "minOffsetsPerTrigger",
                                             "maxTriggerDelay",
                                             "minPartitions",
                                             "maxRecordsPerPartition",
                                             "groupIdPrefix",
                                             "commitOffsets",
                                             "kafkaConsumer.pollTimeoutMs",
                                             "fetchOffset.numRetries",
                                             "fetchOffset.retryIntervalMs",
                                             "includeHeaders",
                                             "topic",         /* of a table that is written, too */
                                             "transactional", /* likewise */
                                             NULL};

static const char *const bound_names[2][3] = {
    {"startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets"},
    {"endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets"},
};

static fm_status invalid(fm_error *err, const char *key, fm_str value, const char *why)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option %s '%.*s': %s.", key, FM_STR_ARG(value), why);
}

/* ---- names ---- */

static bool is_client_option(const fm_option *o)
{
    return o->key.len > 6 && fm_str_eq_ci((fm_str){o->key.ptr, 6}, FM_STR("kafka."));
}

/* Unknown names, but for kafka.*, which the client checks. */
static fm_status check_names(const fm_options *o, const char *what, fm_arena *arena, fm_error *err)
{
    const char *const *known[] = {fm_kafka_option_names};
    fm_options rest = {fm_arena_array(arena, fm_option, o->n), 0, o->n};

    if (!rest.items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < o->n; i++)
        if (!is_client_option(&o->items[i])) rest.items[rest.n++] = o->items[i];
    return fm_options_check(&rest, what, known, 1, err);
}

/* ---- which partitions ---- */

static fm_status read_topics(fm_str text, fm_arena *arena, fm_kafka_options *out, fm_error *err)
{
    size_t commas = 0;

    for (size_t i = 0; i < text.len; i++) commas += text.ptr[i] == ',';
    out->topics = fm_arena_array(arena, fm_str, commas + 1);
    if (!out->topics) return fm_no_memory(arena, err);
    for (size_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != ',') continue;
        fm_str topic = fm_str_trim((fm_str){text.ptr + from, i - from});
        from = i + 1;
        if (topic.len == 0) continue;
        topic = fm_arena_str(arena, topic);
        if (!topic.ptr) return fm_no_memory(arena, err);
        bool twice = false;
        for (int32_t k = 0; k < out->n_topics; k++) twice = twice || fm_str_eq(out->topics[k], topic);
        if (!twice) out->topics[out->n_topics++] = topic;
    }
    return out->n_topics ? FM_OK : invalid(err, "subscribe", text, "there are no topics to subscribe to");
}

static fm_status read_choice(const fm_options *o, fm_arena *arena, fm_kafka_options *out, fm_error *err)
{
    const fm_option *assign = fm_options_find(o, "assign"), *topics = fm_options_find(o, "subscribe"),
                    *pattern = fm_options_find(o, "subscribePattern");
    int given = (assign != NULL) + (topics != NULL) + (pattern != NULL);

    if (given != 1)
        return fm_fail(err, FM_INVALID, given ? "FLOODMARK_INVALID_OPTION" : "FLOODMARK_MISSING_OPTION",
                       "%s of the following options %s be specified for Kafka source: subscribe (topics, 'a,b'), "
                       "subscribePattern (a regular expression), assign ('{\"a\":[0,1]}').",
                       given ? "Only one" : "One", given ? "can" : "must");
    const fm_option *chosen = assign ? assign : topics ? topics : pattern;
    fm_str value = fm_str_trim(chosen->value);
    out->written = fm_arena_str(arena, value);
    if (!out->written.ptr) return fm_no_memory(arena, err);
    out->choice = assign ? FM_KAFKA_ASSIGN : topics ? FM_KAFKA_SUBSCRIBE : FM_KAFKA_PATTERN;
    if (assign) {
        if (value.len == 0 || value.ptr[0] != '{')
            return invalid(err, "assign", value, "there are no partitions to assign; write {\"topic\":[0,1]}");
        FM_TRY(fm_kafka_assignment_parse(value, arena, &out->assigned, err));
        return out->assigned.n ? FM_OK : invalid(err, "assign", value, "there are no partitions to assign; write {\"topic\":[0,1]}");
    }
    if (topics) return read_topics(value, arena, out, err);
    out->pattern = out->written;
    return value.len ? FM_OK : invalid(err, "subscribePattern", value, "the pattern is empty");
}

/* ---- where from and where to ---- */

static fm_status read_time(const fm_option *o, fm_kafka_bound *out, fm_error *err)
{
    out->kind = FM_KAFKA_AT_TIME;
    if (fm_str_to_i64(fm_str_trim(o->value), &out->time_ms) && out->time_ms >= 0) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option %.*s: expected a single long value (milliseconds since 1970), got %.*s.", FM_STR_ARG(o->key),
                   FM_STR_ARG(o->value));
}

/* Offsets from -2 (earliest) and -1 (latest) on; times from 1970 on. */
static fm_status read_offsets(const fm_option *o, int64_t least, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    char what[64];

    snprintf(what, sizeof what, "Option %.*s", FM_STR_ARG(o->key));
    FM_TRY(fm_kafka_offsets_parse(fm_str_trim(o->value), what, arena, out, err));
    for (int32_t i = 0; i < out->n; i++)
        if (out->items[i].offset < least)
            return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "%s: %" PRId64 " for %s-%" PRId32 " is %s.", what, out->items[i].offset,
                           out->items[i].topic.ptr, out->items[i].partition, least ? "no offset: write one from 0 on, -1 for latest or -2 for earliest" : "no time since 1970");
    return FM_OK;
}

/* The most special one counts: one time, times by partition, offsets. */
static fm_status read_bound(const fm_options *o, const char *const names[3], fm_kafka_bound_kind absent, fm_arena *arena,
                            fm_kafka_bound *out, fm_error *err)
{
    const fm_option *time = fm_options_find(o, names[0]), *times = fm_options_find(o, names[1]),
                    *offsets = fm_options_find(o, names[2]);

    *out = (fm_kafka_bound){.kind = absent};
    if (time) return read_time(time, out, err);
    if (times) {
        out->kind = FM_KAFKA_AT_TIMES;
        return read_offsets(times, 0, arena, &out->offsets, err);
    }
    if (!offsets) return FM_OK;
    fm_str value = fm_str_trim(offsets->value);
    if (fm_str_eq_ci(value, FM_STR("earliest"))) out->kind = FM_KAFKA_AT_EARLIEST;
    else if (fm_str_eq_ci(value, FM_STR("latest"))) out->kind = FM_KAFKA_AT_LATEST;
    else {
        out->kind = FM_KAFKA_AT_OFFSETS;
        return read_offsets(offsets, FM_KAFKA_EARLIEST, arena, &out->offsets, err);
    }
    return FM_OK;
}

static fm_status read_strategy(const fm_options *o, fm_kafka_options *out, fm_error *err)
{
    fm_str value = fm_options_get(o, "startingOffsetsByTimestampStrategy", FM_STR("error"));

    out->latest_when_none = fm_str_eq_ci(value, FM_STR("latest"));
    if (out->latest_when_none || fm_str_eq_ci(value, FM_STR("error"))) return FM_OK;
    return invalid(err, "startingOffsetsByTimestampStrategy", value, "use error or latest");
}

/* A batch goes from a known place to a known place. */
static fm_status check_batch_bound(const fm_kafka_bound *b, bool ending, fm_error *err)
{
    int64_t refused = ending ? FM_KAFKA_EARLIEST : FM_KAFKA_LATEST;
    const char *word = ending ? "earliest" : "latest", *which = ending ? "endingOffsets" : "startingOffsets";

    if (b->kind == (ending ? FM_KAFKA_AT_EARLIEST : FM_KAFKA_AT_LATEST))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option %s can't be %s for batch queries on Kafka.",
                       which, word);
    for (int32_t i = 0; b->kind == FM_KAFKA_AT_OFFSETS && i < b->offsets.n; i++) {
        const fm_kafka_partition *p = &b->offsets.items[i];
        if (p->offset == refused)
            return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                           "Option %s for %s-%" PRId32 " can't be %s (%" PRId64 ") for batch queries on Kafka.", which,
                           p->topic.ptr, p->partition, word, refused);
    }
    return FM_OK;
}

static fm_status check_order(const fm_kafka_bound *from, const fm_kafka_bound *to, fm_error *err)
{
    if (from->kind != to->kind || (from->kind != FM_KAFKA_AT_OFFSETS && from->kind != FM_KAFKA_AT_TIMES)) return FM_OK;
    if (!fm_kafka_offsets_same_partitions(&from->offsets, &to->offsets))
        return fm_fail(err, FM_INVALID, "MISMATCHED_TOPIC_PARTITIONS_BETWEEN_START_OFFSET_AND_END_OFFSET",
                       "The start and the end must name the same partitions of the same topics.");
    for (int32_t i = 0; i < from->offsets.n; i++) {
        const fm_kafka_partition *a = &from->offsets.items[i], *b = &to->offsets.items[i];
        if (a->offset < 0 || b->offset < 0 || a->offset <= b->offset) continue;
        return fm_fail(err, FM_INVALID, "UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET",
                       "The specified start %" PRId64 " is greater than the end %" PRId64 " for topic %s partition %" PRId32
                       ".",
                       a->offset, b->offset, a->topic.ptr, a->partition);
    }
    return FM_OK;
}

static fm_status read_bounds(const fm_options *o, bool is_stream, fm_arena *arena, fm_kafka_options *out, fm_error *err)
{
    FM_TRY(read_strategy(o, out, err));
    FM_TRY(read_bound(o, bound_names[0], is_stream ? FM_KAFKA_AT_LATEST : FM_KAFKA_AT_EARLIEST, arena, &out->starting, err));
    FM_TRY(read_bound(o, bound_names[1], FM_KAFKA_AT_LATEST, arena, &out->ending, err));
    for (int i = 0; is_stream && i < 3; i++)
        if (fm_options_find(o, bound_names[1][i]))
            return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                           "Option %s is not valid in streaming queries: a stream has no end. Leave it out, or read the "
                           "topic as a batch.",
                           bound_names[1][i]);
    if (is_stream) return FM_OK;
    FM_TRY(check_batch_bound(&out->starting, false, err));
    FM_TRY(check_batch_bound(&out->ending, true, err));
    return check_order(&out->starting, &out->ending, err);
}

/* ---- numbers ---- */

static fm_status read_group(const fm_options *o, fm_kafka_options *out, fm_error *err)
{
    bool commits;

    FM_TRY(fm_options_bool(o, "commitOffsets", false, &commits, err));
    out->group = commits ? fm_options_get(o, "kafka.group.id", FM_STR("")) : (fm_str){"", 0};
    if (commits && !out->group.len)
        return fm_fail(err, FM_INVALID, "FLOODMARK_MISSING_OPTION", "Option commitOffsets needs the group: kafka.group.id 'name'.");
    return FM_OK;
}

static fm_status read_numbers(const fm_options *o, fm_kafka_options *out, fm_error *err)
{
    int64_t delay_us;

    FM_TRY(fm_options_bool(o, "failOnDataLoss", true, &out->fail_on_data_loss, err));
    FM_TRY(fm_options_bool(o, "includeHeaders", false, &out->headers, err));
    FM_TRY(fm_options_i64(o, "maxOffsetsPerTrigger", 0, 1, INT64_MAX, &out->offsets_max, err));
    FM_TRY(fm_options_i64(o, "minOffsetsPerTrigger", 0, 1, INT64_MAX, &out->offsets_min, err));
    FM_TRY(fm_options_i64(o, "minPartitions", 0, 1, INT32_MAX, &out->parts_min, err));
    FM_TRY(fm_options_i64(o, "maxRecordsPerPartition", 0, 1, INT64_MAX, &out->records_max, err));
    FM_TRY(fm_options_i64(o, "fetchOffset.numRetries", 3, 0, INT32_MAX, &out->tries, err));
    FM_TRY(fm_options_i64(o, "fetchOffset.retryIntervalMs", 1000, 0, INT32_MAX, &out->retry_ms, err));
    FM_TRY(fm_options_i64(o, "kafkaConsumer.pollTimeoutMs", 120000, 0, INT64_MAX / 2000, &out->poll_timeout_ms, err));
    FM_TRY(read_group(o, out, err));
    FM_TRY(fm_options_duration(o, "maxTriggerDelay", INT64_C(15) * 60 * 1000000, &delay_us, err));
    out->delay_max_ms = delay_us / 1000;
    if (out->offsets_min && out->offsets_max && out->offsets_min > out->offsets_max)
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "The value of minOffsetsPerTrigger (%" PRId64 ") is higher than that of maxOffsetsPerTrigger (%" PRId64
                       ").",
                       out->offsets_min, out->offsets_max);
    return FM_OK;
}

fm_status fm_kafka_options_read(const fm_options *o, const char *what, bool is_stream, fm_arena *arena,
                                fm_kafka_options *out, fm_error *err)
{
    *out = (fm_kafka_options){0};
    FM_TRY(check_names(o, what, arena, err));
    FM_TRY(read_choice(o, arena, out, err));
    FM_TRY(read_bounds(o, is_stream, arena, out, err));
    FM_TRY(read_numbers(o, out, err));
    FM_TRY(fm_kafka_settings_read(o, FM_KAFKA_CONSUMER, arena, &out->settings, err));
    return fm_kafka_check(&out->settings, err);
}

fm_status fm_kafka_options_check(const fm_options *o, const char *what, fm_arena *arena, bool *headers, fm_error *err)
{
    fm_kafka_options read = {0};

    FM_TRY(check_names(o, what, arena, err));
    FM_TRY(read_choice(o, arena, &read, err));
    FM_TRY(read_numbers(o, &read, err));
    FM_TRY(fm_kafka_settings_read(o, FM_KAFKA_CONSUMER, arena, &read.settings, err));
    *headers = read.headers;
    return fm_kafka_check(&read.settings, err);
}
