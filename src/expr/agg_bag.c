/* expr/agg_bag.c: the values of a group, kept one by one. */
#include "expr/agg_bag.h"

#include <stdlib.h>

#include "base/hash.h"
#include "column/key.h"

enum { BYTES_FIRST = 64, SLOTS_FIRST = 8 };

void fm_agg_bag_free(fm_agg_bag *bag)
{
    if (!bag) return;
    free(bag->bytes);
    free(bag->slots);
    free(bag);
}

size_t fm_agg_bag_memory(const fm_agg_bag *bag)
{
    return bag ? sizeof *bag + bag->cap + bag->n_slots * sizeof(uint32_t) : 0;
}

static fm_status open(fm_agg_bag **bag, fm_error *err)
{
    if (!*bag) *bag = calloc(1, sizeof **bag);
    return *bag ? FM_OK : fm_no_memory(NULL, err);
}

static fm_status reserve(fm_agg_bag *bag, size_t more, fm_error *err)
{
    size_t cap = bag->cap ? bag->cap : BYTES_FIRST;
    char *bytes;
    if (more > UINT32_MAX || bag->len + more > UINT32_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_AGGREGATE_TOO_LARGE",
                       "An aggregate that keeps the values of its rows has come to 4 GB for one group; group more "
                       "finely, or use one that keeps a summary.");
    while (cap < bag->len + more) cap *= 2;
    if (cap == bag->cap) return FM_OK;
    bytes = realloc(bag->bytes, cap);
    if (!bytes) return fm_no_memory(NULL, err);
    bag->bytes = bytes;
    bag->cap = cap;
    return FM_OK;
}

static fm_status append(fm_agg_bag *bag, const void *bytes, size_t size, fm_error *err)
{
    FM_TRY(reserve(bag, size, err));
    if (size) memcpy(bag->bytes + bag->len, bytes, size);
    bag->len += size;
    return FM_OK;
}

static fm_status encode(const fm_vec *args, int32_t n_args, int64_t i, fm_strbuf *out, fm_error *err)
{
    for (int32_t a = 0; a < n_args; a++) FM_TRY(fm_lane_encode(&args[a], i, out, err));
    return FM_OK;
}

/* ---- Plain bags -------------------------------------------------------------------------------------------- */

fm_status fm_agg_bag_add(fm_agg_bag **bag, const fm_vec *args, int32_t n_args, int64_t i,
                         fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st = open(bag, err);
    if (st == FM_OK) st = encode(args, n_args, i, &text, err);
    if (st == FM_OK) st = append(*bag, text.ptr, text.len, err);
    if (st == FM_OK) (*bag)->n++;
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_agg_bag_add_all(fm_agg_bag **dst, const fm_agg_bag *src, fm_error *err)
{
    if (!src) return FM_OK;
    FM_TRY(open(dst, err));
    FM_TRY(append(*dst, src->bytes, src->len, err));
    (*dst)->n += src->n;
    return FM_OK;
}

/* ---- Distinct bags ----------------------------------------------------------------------------------------- */

/* Entries lie unaligned: heads are copied out and in. */
static fm_agg_bag_head head_at(const fm_agg_bag *bag, size_t at)
{
    fm_agg_bag_head head;
    memcpy(&head, bag->bytes + at, sizeof head);
    return head;
}

static fm_status grow_slots(fm_agg_bag *bag, fm_error *err)
{
    uint32_t n = bag->n_slots ? bag->n_slots * 2 : SLOTS_FIRST;
    uint32_t *slots;
    if ((uint64_t)(bag->n + 1) * 2 <= bag->n_slots) return FM_OK;
    slots = calloc(n, sizeof *slots);
    if (!slots) return fm_no_memory(NULL, err);
    for (size_t at = 0; at < bag->len;) {
        fm_agg_bag_head head = head_at(bag, at);
        uint32_t slot = head.hash & (n - 1);
        while (slots[slot]) slot = (slot + 1) & (n - 1);
        slots[slot] = (uint32_t)at + 1;
        at += sizeof head + head.size;
    }
    free(bag->slots);
    bag->slots = slots;
    bag->n_slots = n;
    return FM_OK;
}

static fm_status count_bytes(fm_agg_bag *bag, fm_str lanes, int64_t count, fm_error *err)
{
    uint64_t wide = fm_hash_bytes(lanes.ptr, lanes.len);
    fm_agg_bag_head head = {(uint32_t)lanes.len, (uint32_t)(wide ^ wide >> 32), count};
    uint32_t slot;
    FM_TRY(grow_slots(bag, err));
    for (slot = head.hash & (bag->n_slots - 1); bag->slots[slot]; slot = (slot + 1) & (bag->n_slots - 1)) {
        size_t at = bag->slots[slot] - 1;
        fm_agg_bag_head old = head_at(bag, at);
        if (old.hash != head.hash || old.size != head.size ||
            memcmp(bag->bytes + at + sizeof old, lanes.ptr, lanes.len) != 0)
            continue;
        old.count += count;
        memcpy(bag->bytes + at, &old, sizeof old);
        return FM_OK;
    }
    FM_TRY(reserve(bag, sizeof head + lanes.len, err));
    bag->slots[slot] = (uint32_t)bag->len + 1;
    FM_TRY(append(bag, &head, sizeof head, err));
    FM_TRY(append(bag, lanes.ptr, lanes.len, err));
    bag->n++;
    return FM_OK;
}

fm_status fm_agg_bag_count(fm_agg_bag **bag, const fm_vec *args, int32_t n_args, int64_t i,
                           int64_t count, fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st = open(bag, err);
    if (st == FM_OK) st = encode(args, n_args, i, &text, err);
    if (st == FM_OK) st = count_bytes(*bag, fm_strbuf_str(&text), count, err);
    fm_strbuf_fini(&text);
    return st;
}

bool fm_agg_bag_next(const fm_agg_bag *bag, size_t *at, fm_agg_bag_head *head, fm_str *lanes)
{
    if (!bag || *at >= bag->len) return false;
    *head = head_at(bag, *at);
    *lanes = (fm_str){bag->bytes + *at + sizeof *head, head->size};
    *at += sizeof *head + head->size;
    return true;
}

fm_status fm_agg_bag_count_all(fm_agg_bag **dst, const fm_agg_bag *src, fm_error *err)
{
    fm_agg_bag_head head;
    fm_str lanes;
    if (!src) return FM_OK;
    FM_TRY(open(dst, err));
    for (size_t at = 0; fm_agg_bag_next(src, &at, &head, &lanes);)
        FM_TRY(count_bytes(*dst, lanes, head.count, err));
    return FM_OK;
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

/* u64 bytes, u64 entries, the entries. */
fm_status fm_agg_bag_save(const fm_agg_bag *bag, fm_strbuf *out, fm_error *err)
{
    uint64_t len = bag ? bag->len : 0;
    int64_t n = bag ? bag->n : 0;
    fm_agg_put(out, &len, sizeof len);
    fm_agg_put(out, &n, sizeof n);
    if (bag) fm_strbuf_add(out, (fm_str){bag->bytes, bag->len});
    return fm_agg_saved(out, err);
}

/* Whether the entry's lanes parse, and take up all of it. */
static fm_status check_lanes(fm_arena *arena, fm_str bytes, size_t *at, const fm_type *const *types,
                             int32_t n_types, fm_error *err)
{
    for (int32_t t = 0; t < n_types; t++) {
        fm_builder *scrap = fm_builder_new(arena, types[t], 1);
        if (!scrap) return fm_no_memory(arena, err);
        FM_TRY(fm_lane_decode(bytes, at, scrap, err));
    }
    return FM_OK;
}

static fm_status load_entries(fm_str entries, int64_t n, bool is_distinct,
                              const fm_type *const *types, int32_t n_types, fm_agg_bag *bag,
                              fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_status st = arena ? FM_OK : fm_no_memory(NULL, err);
    size_t at = 0;
    for (int64_t k = 0; k < n && st == FM_OK; k++) {
        fm_str lanes = entries;
        fm_agg_bag_head head;
        fm_arena_reset(arena);
        if (!is_distinct) {
            st = check_lanes(arena, entries, &at, types, n_types, err);
            continue;
        }
        size_t from = 0;
        if (!fm_agg_get(entries, &at, &head, sizeof head) || entries.len - at < head.size) {
            st = fm_agg_corrupt(NULL, err);
            break;
        }
        lanes = (fm_str){entries.ptr + at, head.size};
        at += head.size;
        st = check_lanes(arena, lanes, &from, types, n_types, err);
        if (st == FM_OK && from != lanes.len) st = fm_agg_corrupt(NULL, err);
        if (st == FM_OK) st = count_bytes(bag, lanes, head.count, err);
    }
    if (st == FM_OK && at != entries.len) st = fm_agg_corrupt(NULL, err);
    if (st == FM_OK && !is_distinct) {
        st = append(bag, entries.ptr, entries.len, err);
        bag->n = n;
    }
    fm_arena_free(arena);
    return st;
}

fm_status fm_agg_bag_load(fm_str bytes, size_t *at, bool is_distinct, const fm_type *const *types,
                          int32_t n_types, fm_agg_bag **bag, fm_error *err)
{
    uint64_t len;
    int64_t n;
    if (!fm_agg_get(bytes, at, &len, sizeof len) || !fm_agg_get(bytes, at, &n, sizeof n) || n < 0 ||
        bytes.len - *at < len)
        return fm_agg_corrupt(NULL, err);
    *at += len;
    if (n == 0) return len == 0 ? FM_OK : fm_agg_corrupt(NULL, err);
    FM_TRY(open(bag, err));
    return load_entries((fm_str){bytes.ptr + *at - len, len}, n, is_distinct, types, n_types, *bag, err);
}

/* ---- States that are one bag ---------------------------------------------------------------------------------------- */

uint32_t fm_agg_bags_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(fm_agg_bag *);
}

fm_status fm_agg_bags_merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        FM_TRY(fm_agg_bag_add_all(fm_agg_state(call, dst[i]), *(fm_agg_bag **)fm_agg_state(call, src[i]), err));
    return FM_OK;
}

fm_status fm_agg_bags_merge_distinct(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++)
        FM_TRY(fm_agg_bag_count_all(fm_agg_state(call, dst[i]), *(fm_agg_bag **)fm_agg_state(call, src[i]), err));
    return FM_OK;
}

void fm_agg_bags_fini(const fm_agg_call *call, void *state)
{
    (void)call;
    fm_agg_bag_free(*(fm_agg_bag **)state);
    *(fm_agg_bag **)state = NULL;
}

fm_status fm_agg_bags_save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err)
{
    (void)call;
    return fm_agg_bag_save(*(fm_agg_bag *const *)state, out, err);
}

size_t fm_agg_bags_memory(const fm_agg_call *call, const void *state)
{
    (void)call;
    return fm_agg_bag_memory(*(fm_agg_bag *const *)state);
}
