/* source/kafka_group.c: how far a query has come, noted with a consumer group, where Kafka's own tools show it: option commitOffsets.
 *
 * Nothing is ever read back: a query goes on from its checkpoint. So notes may come late or get lost: at most one a second is handed
 * over, and the last one is waited for, a little, when the query ends. */
#include "source/kafka_source.h"

enum { INTERVAL_US = 1000 * 1000, LAST_WAIT_MS = 3000 };

struct fm_kafka_group {
    fm_kafka_client *client; /* under the group's name */
    fm_arena *arena;         /* of offsets */
    fm_kafka_offsets offsets;
    bool pending;            /* they are not handed over yet */
    int64_t last_us;
};

fm_status fm_kafka_group_open(fm_kafka_source *s, fm_error *err)
{
    fm_kafka_settings settings = s->options.settings;

    if (!s->options.group.len || !s->metadata_dir) return FM_OK;
    s->group = fm_arena_one(s->arena, fm_kafka_group);
    if (!s->group) return fm_no_memory(s->arena, err);
    s->group->arena = fm_arena_new(0);
    if (!s->group->arena) return fm_no_memory(NULL, err);
    FM_TRY(fm_kafka_settings_set(&settings, "group.id", s->options.group, err));
    return fm_kafka_client_new(&settings, &s->group->client, err);
}

static void hand_over(fm_kafka_source *s, int32_t wait_ms)
{
    fm_kafka_group *g = s->group;

    fm_kafka_group_note(g->client, g->offsets.items, g->offsets.n, wait_ms, NULL);
    g->pending = false;
    g->last_us = fm_clock_monotonic_us(s->env.clock);
}

void fm_kafka_group_tick(fm_kafka_source *s)
{
    if (s->group && s->group->pending && fm_clock_monotonic_us(s->env.clock) - s->group->last_us >= INTERVAL_US) hand_over(s, 0);
}

void fm_kafka_group_committed(fm_source *source, fm_str end)
{
    fm_kafka_source *s = (fm_kafka_source *)source;
    fm_kafka_group *g = s->group;

    if (!g) return;
    fm_arena_reset(g->arena);
    g->pending = fm_kafka_offsets_parse(end, "", g->arena, &g->offsets, NULL) == FM_OK && g->offsets.n > 0;
    fm_kafka_group_tick(s);
}

void fm_kafka_group_close(fm_kafka_source *s)
{
    if (!s->group) return;
    /* One that was handed over may not be there yet, so the last is always said again. */
    if (s->group->client && s->group->offsets.n) hand_over(s, LAST_WAIT_MS);
    fm_kafka_client_free(s->group->client);
    fm_arena_free(s->group->arena);
}
