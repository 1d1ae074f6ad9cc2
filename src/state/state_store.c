/* state/state_store.c: a store, its parts, their buckets in order of time. */
#include <stdlib.h>

#include "base/limits.h"
#include "state/state_impl.h"

enum { MEMORY_SAMPLE = 256 }; /* values asked for the memory they point to, per bucket: the rest is estimated */

/* ---- Opening and closing ----------------------------------------------------------------------------------- */

static fm_status make_parts(fm_state *s, fm_error *err)
{
    int32_t n = s->spec.parts;

    s->parts = fm_arena_array(s->arena, fm_state_part, n);
    if (!s->parts) return fm_no_memory(s->arena, err);
    for (int32_t i = 0; i < n; i++) {
        s->parts[i] = (fm_state_part){.state = s, .index = i, .entry_size = FM_ENTRY_KEY_SIZE + s->spec.value_size};
        s->parts[i].chunk_log2 = fm_state_chunk_log2(s->parts[i].entry_size);
        for (int32_t shard = i * FM_VIRTUAL_SHARDS / n; shard < (i + 1) * FM_VIRTUAL_SHARDS / n; shard++) s->owner[shard] = (uint8_t)i;
    }
    return FM_OK;
}

static fm_status open_store(fm_state *s, const fm_state_spec *spec, int64_t version, fm_error *err)
{
    s->spec = *spec;
    if (s->spec.parts == 0) s->spec.parts = 1;
    s->spec.dir = spec->dir ? fm_arena_str(s->arena, fm_str_c(spec->dir)).ptr : NULL;
    s->spec.schema = fm_arena_str(s->arena, spec->schema);
    s->mark = FM_STATE_NO_MARK;
    FM_TRY(make_parts(s, err));
    if (!s->spec.schema.ptr || (spec->dir && !s->spec.dir)) return fm_no_memory(s->arena, err);
    if (!spec->in_memory) FM_TRY(fm_state_load(s, version, err));
    s->version = version;
    return FM_OK;
}

fm_status fm_state_open(const fm_state_spec *spec, int64_t version, fm_state **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_state *s = arena ? fm_arena_one(arena, fm_state) : NULL;

    fm_assert(spec->value_size % 8 == 0 && spec->value_size <= FM_STATE_VALUE_SIZE_MAX);
    fm_assert(spec->parts >= 0 && spec->parts <= FM_VIRTUAL_SHARDS);
    *out = NULL;
    if (!s) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    s->arena = arena;
    fm_status st = open_store(s, spec, version, err);
    if (st == FM_OK) *out = s;
    else fm_state_close(s);
    return st;
}

void fm_state_close(fm_state *s)
{
    if (!s) return;
    fm_file_close(s->saved, NULL);
    for (int32_t i = 0; s->parts && i < s->spec.parts; i++) {
        fm_state_part *p = &s->parts[i];
        for (int32_t k = 0; k < p->n_buckets; k++) fm_state_bucket_free(p, p->buckets[k]);
        free(p->buckets);
        free(p->dropped);
        fm_state_pieces_close(p);
    }
    fm_arena_free(s->arena);
}

/* ---- Parts ------------------------------------------------------------------------------------------------- */

int32_t fm_state_parts(const fm_state *s) { return s->spec.parts; }
fm_state_part *fm_state_part_at(fm_state *s, int32_t part) { return &s->parts[part]; }
int32_t fm_state_owner(const fm_state *s, uint64_t hash) { return s->owner[fm_key_shard(hash)]; }
int64_t fm_state_mark(const fm_state *s) { return s->mark; }
void fm_state_set_mark(fm_state *s, int64_t mark) { s->mark = mark; }

/* ---- Buckets ----------------------------------------------------------------------------------------------- */

int32_t fm_state_bucket_rank(const fm_state_part *p, int64_t time_us)
{
    int32_t low = 0, high = p->n_buckets;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (p->buckets[middle]->time_us < time_us) low = middle + 1;
        else high = middle;
    }
    return low;
}

fm_state_bucket *fm_state_bucket_find(const fm_state_part *p, int64_t time_us)
{
    int32_t i = fm_state_bucket_rank(p, time_us);

    return i < p->n_buckets && p->buckets[i]->time_us == time_us ? p->buckets[i] : NULL;
}

fm_status fm_state_bucket_at(fm_state_part *p, int64_t time_us, fm_state_bucket **out, fm_error *err)
{
    int32_t i = fm_state_bucket_rank(p, time_us);

    if (i < p->n_buckets && p->buckets[i]->time_us == time_us) {
        *out = p->buckets[i];
        return FM_OK;
    }
    if (p->n_buckets == p->cap_buckets) {
        int32_t cap = p->cap_buckets ? p->cap_buckets * 2 : 16;
        fm_state_bucket **more = realloc(p->buckets, (size_t)cap * sizeof *more);
        if (!more) return fm_no_memory(NULL, err);
        p->buckets = more;
        p->cap_buckets = cap;
    }
    fm_state_bucket *b = fm_state_bucket_new(p, time_us);
    if (!b) return fm_no_memory(NULL, err);
    memmove(p->buckets + i + 1, p->buckets + i, (size_t)(p->n_buckets - i) * sizeof *p->buckets);
    p->buckets[i] = b;
    p->n_buckets++;
    *out = b;
    return FM_OK;
}

fm_state_bucket *fm_state_bucket_nth(fm_state_part *p, int32_t i) { return i >= 0 && i < p->n_buckets ? p->buckets[i] : NULL; }
int64_t fm_state_bucket_time(const fm_state_bucket *b) { return b->time_us; }
int64_t fm_state_bucket_rows(const fm_state_bucket *b) { return b->rows; }
uint32_t fm_state_bucket_tag(const fm_state_bucket *b) { return b->tag; }
void fm_state_bucket_set_tag(fm_state_bucket *b, uint32_t tag) { b->tag = tag; }

void fm_state_bucket_forget(fm_state_part *p, fm_state_bucket *b)
{
    int32_t i = fm_state_bucket_rank(p, b->time_us);

    memmove(p->buckets + i, p->buckets + i + 1, (size_t)(p->n_buckets - i - 1) * sizeof *p->buckets);
    p->n_buckets--;
    fm_state_bucket_free(p, b);
}

void fm_state_bucket_drop(fm_state_part *p, fm_state_bucket *b)
{
    p->rows_removed += b->rows;
    p->rows_hint = b->rows;
    if (b->was_durable && !p->state->spec.in_memory) {
        if (p->n_dropped == p->cap_dropped) {
            int32_t cap = p->cap_dropped ? p->cap_dropped * 2 : 16;
            int64_t *more = realloc(p->dropped, (size_t)cap * sizeof *more);
            fm_assert(more); /* a few bytes per closed window */
            p->dropped = more;
            p->cap_dropped = cap;
        }
        p->dropped[p->n_dropped++] = b->time_us;
    }
    fm_state_bucket_forget(p, b);
}

/* ---- A micro-batch ----------------------------------------------------------------------------------------- */

void fm_state_begin(fm_state *s)
{
    for (int32_t i = 0; i < s->spec.parts; i++) {
        fm_state_part *p = &s->parts[i];
        for (int32_t k = 0; k < p->n_buckets; k++) fm_state_bucket_begin(p, p->buckets[k]);
        p->n_dropped = 0;
        p->rows_updated = p->rows_removed = 0;
    }
}

/* What the values of a bucket point to, told from a sample when there are many. */
static int64_t pointed_memory(const fm_state_part *p, const fm_state_bucket *b)
{
    const fm_state_codec *codec = &p->state->spec.codec;
    uint32_t step = b->rows / MEMORY_SAMPLE + 1, n = 0;
    int64_t size = 0;

    if (!codec->memory || b->rows == 0) return 0;
    for (uint32_t i = 0; i < b->rows; i += step, n++) size += (int64_t)codec->memory(codec->ctx, fm_state_value(fm_state_entry(p, b, i)));
    return size / n * b->rows + size % n * b->rows / n;
}

void fm_state_part_stats(const fm_state_part *p, fm_state_stats *out)
{
    *out = (fm_state_stats){.rows_updated = p->rows_updated, .rows_removed = p->rows_removed};
    out->memory_size = (int64_t)(p->live_size + p->spare_size + p->pool.spare);
    for (int32_t i = 0; i < p->n_buckets; i++) {
        const fm_state_bucket *b = p->buckets[i];
        out->rows += b->rows;
        out->memory_size += (b->keys ? (int64_t)fm_arena_held(b->keys) : 0) + pointed_memory(p, b);
    }
}

void fm_state_get_stats(const fm_state *s, fm_state_stats *out)
{
    fm_state_stats one;

    *out = (fm_state_stats){0};
    for (int32_t i = 0; i < s->spec.parts; i++) {
        fm_state_part_stats(&s->parts[i], &one);
        out->rows += one.rows;
        out->memory_size += one.memory_size;
        out->rows_updated += one.rows_updated;
        out->rows_removed += one.rows_removed;
    }
}
