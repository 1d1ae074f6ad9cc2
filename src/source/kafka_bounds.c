/* source/kafka_bounds.c: which partitions there are, how far they go, and what is said when something is gone. */
#include "source/kafka_source.h"

#include "base/limits.h"

#include <inttypes.h>
#include <stdio.h>

enum { ASSIGNED_US = 1000 * 1000 }; /* new partitions are seen within this time */

/* ---- partitions ---- */

static fm_status add(fm_kafka_offsets *all, int32_t *cap, const fm_kafka_partition *some, int32_t n, fm_arena *arena,
                     fm_error *err)
{
    if (all->n + n > *cap) {
        *cap = (all->n + n) * 2;
        fm_kafka_partition *items = fm_arena_array(arena, fm_kafka_partition, *cap);
        if (!items) return fm_no_memory(arena, err);
        if (all->n) memcpy(items, all->items, (size_t)all->n * sizeof *items);
        all->items = items;
    }
    if (n) memcpy(all->items + all->n, some, (size_t)n * sizeof *some);
    all->n += n;
    return FM_OK;
}

static fm_status topics_partitions(fm_kafka_source *s, const fm_str *topics, int32_t n_topics, fm_arena *arena,
                                   fm_kafka_offsets *out, fm_error *err)
{
    int32_t cap = 0;

    *out = (fm_kafka_offsets){0};
    for (int32_t i = 0; i < n_topics; i++) {
        fm_kafka_partition *some;
        int32_t n;
        FM_TRY(fm_kafka_client_partitions(s->client, topics[i], arena, &some, &n, err));
        FM_TRY(add(out, &cap, some, n, arena, err));
    }
    fm_kafka_offsets_sort(out);
    return FM_OK;
}

/* Those of the assigned partitions that exist. */
static fm_status assigned_partitions(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    const fm_kafka_offsets *want = &s->options.assigned;
    fm_str *topics = fm_arena_array(arena, fm_str, want->n);
    fm_kafka_offsets there;
    int32_t n_topics = 0, kept = 0;

    if (!topics) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < want->n; i++)
        if (i == 0 || !fm_str_eq(want->items[i].topic, want->items[i - 1].topic)) topics[n_topics++] = want->items[i].topic;
    FM_TRY(topics_partitions(s, topics, n_topics, arena, &there, err));
    for (int32_t i = 0; i < there.n; i++)
        if (fm_kafka_offsets_find(want, there.items[i].topic, there.items[i].partition)) there.items[kept++] = there.items[i];
    there.n = kept;
    *out = there;
    return FM_OK;
}

/* Rule: Spark: the pattern is found anywhere in a topic's name; Kafka's own topics are left out. */
static fm_status matching_partitions(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    bool found = false;
    int32_t kept = 0;
    fm_str topic = {"", 0}, ready;

    FM_TRY(fm_kafka_client_partitions(s->client, topic, arena, &out->items, &out->n, err));
    for (int32_t i = 0; i < out->n; i++) {
        if (!fm_str_eq(out->items[i].topic, topic)) {
            topic = out->items[i].topic;
            FM_TRY(fm_regex_begin(s->matching, topic, &ready, err));
            FM_TRY(fm_regex_find(s->matching, 0, &found, err));
        }
        if (found) out->items[kept++] = out->items[i];
    }
    out->n = kept;
    fm_kafka_offsets_sort(out);
    return FM_OK;
}

fm_status fm_kafka_assigned(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    if (s->options.choice == FM_KAFKA_ASSIGN) return assigned_partitions(s, arena, out, err);
    if (s->options.choice == FM_KAFKA_PATTERN) return matching_partitions(s, arena, out, err);
    return topics_partitions(s, s->options.topics, s->options.n_topics, arena, out, err);
}

/* ---- offsets ---- */

fm_status fm_kafka_ask(fm_kafka_source *s, fm_kafka_offsets *partitions, int64_t which, fm_error *err)
{
    for (int32_t i = 0; i < partitions->n; i++) partitions->items[i].offset = which;
    return fm_kafka_client_offsets(s->client, partitions->items, partitions->n, err);
}

/* Puts the entries of `partial` into the same partitions of `all`. */
static void put_back(fm_kafka_offsets *all, const fm_kafka_offsets *partial)
{
    for (int32_t i = 0; i < partial->n; i++) {
        const fm_kafka_partition *p = &partial->items[i];
        fm_kafka_partition *to = (fm_kafka_partition *)(uintptr_t)fm_kafka_offsets_find(all, p->topic, p->partition);
        if (to) to->offset = p->offset;
    }
}

/* Replaces -1 and -2 by what they are now. */
static fm_status make_definite(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *all, fm_error *err)
{
    fm_kafka_offsets vague = {fm_arena_array(arena, fm_kafka_partition, all->n), 0};

    if (!vague.items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < all->n; i++)
        if (all->items[i].offset == FM_KAFKA_LATEST || all->items[i].offset == FM_KAFKA_EARLIEST)
            vague.items[vague.n++] = all->items[i];
    FM_TRY(fm_kafka_client_offsets(s->client, vague.items, vague.n, err));
    put_back(all, &vague);
    return FM_OK;
}

static fm_status mismatch(const fm_kafka_offsets *given, const fm_kafka_offsets *there, bool times, bool starting,
                          fm_error *err)
{
    fm_strbuf a = {0}, b = {0};
    const char *which = starting ? "start" : "end";

    fm_kafka_partitions_print(given, &a);
    fm_kafka_partitions_print(there, &b);
    fm_status st = fm_fail(err, FM_INVALID,
                           times ? "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED" : "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED",
                           "The partitions given for the Kafka %s %s are not those that are read: all of them must be named%s. "
                           "Given: %.*s. There are: %.*s.",
                           which, times ? "times" : "offsets", times ? "" : ", with -1 for latest and -2 for earliest",
                           FM_STR_ARG(fm_strbuf_str(&a)), FM_STR_ARG(fm_strbuf_str(&b)));
    fm_strbuf_fini(&a);
    fm_strbuf_fini(&b);
    return st;
}

/* Offsets of the first messages at given times. */
static fm_status at_times(fm_kafka_source *s, fm_kafka_offsets *all, bool starting, fm_arena *arena, fm_error *err)
{
    fm_kafka_offsets asked;

    FM_TRY(fm_kafka_offsets_copy(all, arena, &asked, err));
    for (int32_t i = 0; i < all->n; i++)
        if (all->items[i].offset < 0) all->items[i].offset = 0; /* -1 and -2 would ask for something else */
    FM_TRY(fm_kafka_client_offsets(s->client, all->items, all->n, err));
    for (int32_t i = 0; i < all->n; i++) {
        fm_kafka_partition *p = &all->items[i];
        if (p->offset != FM_KAFKA_NONE) continue;
        if (starting && !s->options.latest_when_none)
            return fm_fail(err, FM_INVALID, "FLOODMARK_NO_OFFSET_AT_TIME",
                           "No offset matched from request of topic-partition %s-%" PRId32 " and timestamp %" PRId64
                           ": no message is so late. With option startingOffsetsByTimestampStrategy 'latest' it is read from "
                           "its end.",
                           p->topic.ptr, p->partition, asked.items[i].offset);
        p->offset = FM_KAFKA_LATEST;
    }
    return make_definite(s, arena, all, err);
}

/* A partition that is assigned and not there is a slip of the pen, when the query begins: it would be waited for in silence. */
static fm_status check_assigned(const fm_kafka_source *s, const fm_kafka_offsets *there, fm_error *err)
{
    const fm_kafka_offsets *want = &s->options.assigned;

    for (int32_t i = 0; s->options.choice == FM_KAFKA_ASSIGN && i < want->n; i++) {
        if (fm_kafka_offsets_find(there, want->items[i].topic, want->items[i].partition)) continue;
        return fm_fail(err, FM_INVALID, "UNKNOWN_TOPIC_OR_PARTITION", "Option assign names partition %s-%" PRId32 ", which there is not.",
                       want->items[i].topic.ptr, want->items[i].partition);
    }
    return FM_OK;
}

fm_status fm_kafka_resolve(fm_kafka_source *s, const fm_kafka_bound *bound, bool starting, fm_arena *arena,
                           fm_kafka_offsets *out, fm_error *err)
{
    fm_kafka_offsets there;

    FM_TRY(fm_kafka_assigned(s, arena, &there, err));
    FM_TRY(check_assigned(s, &there, err));
    switch (bound->kind) {
    case FM_KAFKA_AT_EARLIEST:
    case FM_KAFKA_AT_LATEST:
        *out = there;
        return fm_kafka_ask(s, out, bound->kind == FM_KAFKA_AT_LATEST ? FM_KAFKA_LATEST : FM_KAFKA_EARLIEST, err);
    case FM_KAFKA_AT_OFFSETS:
    case FM_KAFKA_AT_TIMES:
        if (!fm_kafka_offsets_same_partitions(&bound->offsets, &there))
            return mismatch(&bound->offsets, &there, bound->kind == FM_KAFKA_AT_TIMES, starting, err);
        FM_TRY(fm_kafka_offsets_copy(&bound->offsets, arena, out, err));
        return bound->kind == FM_KAFKA_AT_OFFSETS ? make_definite(s, arena, out, err) : at_times(s, out, starting, arena, err);
    case FM_KAFKA_AT_TIME:
        *out = there;
        for (int32_t i = 0; i < out->n; i++) out->items[i].offset = bound->time_ms;
        return at_times(s, out, starting, arena, err);
    }
    return FM_OK;
}

static bool went_back(const fm_kafka_offsets *known, const fm_kafka_offsets *now)
{
    for (int32_t i = 0; i < now->n; i++) {
        const fm_kafka_partition *p = fm_kafka_offsets_find(known, now->items[i].topic, now->items[i].partition);
        if (p && p->offset > now->items[i].offset) return true;
    }
    return false;
}

/* Whether a failed question may do better in a while: a leader that moves, a topic just made. */
static bool may_try_again(fm_status st) { return st == FM_UNAVAILABLE || st == FM_NOT_FOUND; }

/* The partitions as they were within the last second. */
static fm_status known_partitions(fm_kafka_source *s, bool anew, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    int64_t now_us = fm_clock_monotonic_us(s->env.clock);

    if (anew || s->assigned.n == 0 || now_us - s->assigned_us >= ASSIGNED_US) {
        s->assigned.n = 0;
        fm_arena_reset(s->assigned_arena);
        FM_TRY(fm_kafka_assigned(s, s->assigned_arena, &s->assigned, err));
        s->assigned_us = now_us;
    }
    return fm_kafka_offsets_copy(&s->assigned, arena, out, err);
}

fm_status fm_kafka_latest(fm_kafka_source *s, const fm_kafka_offsets *known, fm_arena *arena, fm_kafka_offsets *out,
                          fm_error *err)
{
    for (int64_t left = s->options.tries;; left--) {
        fm_status st = known_partitions(s, left < s->options.tries, arena, out, err);
        if (st == FM_OK) st = fm_kafka_ask(s, out, FM_KAFKA_LATEST, err);
        if (st != FM_OK) s->assigned.n = 0;
        if (left <= 1 || (st != FM_OK && !may_try_again(st))) return st;
        if (st == FM_OK && !went_back(known, out)) return st;
        fm_clock_sleep(s->env.clock, s->options.retry_ms * 1000, NULL);
    }
}

/* ---- what is gone ---- */

static void note_loss(fm_kafka_source *s, fm_str topic, int32_t partition, int64_t from, int64_t to, fm_str what)
{
    fm_mutex_lock(s->mutex);
    s->losses++;
    if (s->last_losses.len < 16384) {
        if (s->last_losses.len) fm_strbuf_add_char(&s->last_losses, ',');
        if (topic.len) {
            fm_strbuf_add_c(&s->last_losses, "{\"topic\":");
            fm_strbuf_add_json(&s->last_losses, topic);
            fm_strbuf_printf(&s->last_losses, ",\"partition\":%" PRId32 ",\"from\":%" PRId64 ",\"to\":%" PRId64 "}", partition,
                             from, to);
        } else {
            fm_strbuf_add_c(&s->last_losses, "{\"reason\":");
            fm_strbuf_add_json(&s->last_losses, what);
            fm_strbuf_add_char(&s->last_losses, '}');
        }
    }
    fm_mutex_unlock(s->mutex);
}

fm_status fm_kafka_data_loss(fm_kafka_source *s, const char *condition, fm_str topic, int32_t partition, int64_t from,
                             int64_t to, fm_str what, fm_error *err)
{
    if (!s->options.fail_on_data_loss) {
        note_loss(s, topic, partition, from, to, what);
        return FM_OK;
    }
    return fm_fail(err, FM_INVALID, condition,
                   "Some data may have been lost because they are not available in Kafka any more; either the data was aged out "
                   "by Kafka or the topic may have been deleted before all the data in the topic was processed. If you don't "
                   "want your streaming query to fail on such cases, set the source option failOnDataLoss to false. Reason: "
                   "%.*s",
                   FM_STR_ARG(what));
}
