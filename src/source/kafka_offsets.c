/* source/kafka_offsets.c: lists of offsets: text, shares, pieces. */
#include "source/kafka_offsets.h"

#include "base/checked.h"
#include "format/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- lists ---- */

static int compare(const void *a, const void *b)
{
    const fm_kafka_partition *x = a, *y = b;
    int c = fm_str_cmp(x->topic, y->topic);

    return c ? c : (x->partition > y->partition) - (x->partition < y->partition);
}

void fm_kafka_offsets_sort(fm_kafka_offsets *o)
{
    int32_t kept = 0;

    if (o->n > 1) qsort(o->items, (size_t)o->n, sizeof *o->items, compare);
    for (int32_t i = 0; i < o->n; i++) {
        if (kept && compare(&o->items[kept - 1], &o->items[i]) == 0) kept--;
        o->items[kept++] = o->items[i];
    }
    o->n = kept;
}

const fm_kafka_partition *fm_kafka_offsets_find(const fm_kafka_offsets *o, fm_str topic, int32_t partition)
{
    fm_kafka_partition key = {.topic = topic, .partition = partition};

    return o->n ? bsearch(&key, o->items, (size_t)o->n, sizeof *o->items, compare) : NULL;
}

bool fm_kafka_offsets_same_partitions(const fm_kafka_offsets *a, const fm_kafka_offsets *b)
{
    if (a->n != b->n) return false;
    for (int32_t i = 0; i < a->n; i++)
        if (compare(&a->items[i], &b->items[i]) != 0) return false;
    return true;
}

bool fm_kafka_offsets_eq(const fm_kafka_offsets *a, const fm_kafka_offsets *b)
{
    if (!fm_kafka_offsets_same_partitions(a, b)) return false;
    for (int32_t i = 0; i < a->n; i++)
        if (a->items[i].offset != b->items[i].offset) return false;
    return true;
}

fm_status fm_kafka_offsets_copy(const fm_kafka_offsets *from, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    *out = (fm_kafka_offsets){fm_arena_array(arena, fm_kafka_partition, from->n), from->n};
    if (!out->items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < from->n; i++) {
        out->items[i] = from->items[i];
        out->items[i].topic = fm_arena_str(arena, from->items[i].topic);
        if (!out->items[i].topic.ptr) return fm_no_memory(arena, err);
    }
    return FM_OK;
}

/* ---- text ---- */

static bool parse_offset(fm_str key, const fm_json *value, int32_t *partition, int64_t *offset)
{
    int64_t p;

    if (!fm_str_to_i64(key, &p) || p < 0 || p > INT32_MAX) return false;
    *partition = (int32_t)p;
    return fm_json_i64(value, offset);
}

static int64_t count_inner(const fm_json *root, fm_json_kind inner)
{
    int64_t n = 0;

    if (root->kind != FM_JSON_OBJECT) return -1;
    for (int32_t t = 0; t < root->n; t++) {
        if (root->items[t].kind != inner) return -1;
        n += root->items[t].n;
    }
    return n;
}

static bool take_inner(const fm_json *parts, int32_t i, fm_kafka_partition *p)
{
    int64_t number;

    if (parts->kind == FM_JSON_OBJECT) return parse_offset(parts->keys[i], &parts->items[i], &p->partition, &p->offset);
    p->offset = FM_KAFKA_NONE;
    if (!fm_json_i64(&parts->items[i], &number) || number < 0 || number > INT32_MAX) return false;
    p->partition = (int32_t)number;
    return true;
}

/* Objects of objects, or of arrays. *ok false: it is something else. */
static fm_status parse(fm_str text, fm_json_kind inner, fm_arena *arena, fm_kafka_offsets *out, bool *ok, fm_error *err)
{
    const fm_json *root = NULL;
    fm_error ignored = FM_ERROR_INIT;

    *ok = fm_json_read(arena, text, &root, &ignored) == FM_OK;
    int64_t n = *ok ? count_inner(root, inner) : -1;
    *ok = n >= 0 && n <= INT32_MAX;
    if (!*ok) return FM_OK;
    *out = (fm_kafka_offsets){fm_arena_array(arena, fm_kafka_partition, n), 0};
    if (!out->items) return fm_no_memory(arena, err);
    for (int32_t t = 0; t < root->n; t++) {
        fm_str topic = fm_arena_str(arena, root->keys[t]);
        if (!topic.ptr) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < root->items[t].n; i++) {
            fm_kafka_partition *p = &out->items[out->n++];
            p->topic = topic;
            *ok = *ok && take_inner(&root->items[t], i, p);
        }
    }
    fm_kafka_offsets_sort(out);
    return FM_OK;
}

fm_status fm_kafka_offsets_parse(fm_str text, const char *what, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    bool ok;

    FM_TRY(parse(text, FM_JSON_OBJECT, arena, out, &ok, err));
    if (ok) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "%s: expected e.g. {\"topicA\":{\"0\":23,\"1\":-1},\"topicB\":{\"0\":-2}}, got %.*s", what,
                   FM_STR_ARG(text));
}

fm_status fm_kafka_assignment_parse(fm_str text, fm_arena *arena, fm_kafka_offsets *out, fm_error *err)
{
    bool ok;

    FM_TRY(parse(text, FM_JSON_ARRAY, arena, out, &ok, err));
    if (ok) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option assign: expected e.g. {\"topicA\":[0,1],\"topicB\":[0,1]}, got %.*s", FM_STR_ARG(text));
}

void fm_kafka_offsets_print(const fm_kafka_offsets *o, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '{');
    for (int32_t i = 0; i < o->n; i++) {
        const fm_kafka_partition *p = &o->items[i];
        bool same = i > 0 && fm_str_eq(p->topic, o->items[i - 1].topic);
        if (!same) {
            if (i > 0) fm_strbuf_add_c(out, "},");
            fm_strbuf_add_json(out, p->topic);
            fm_strbuf_add_c(out, ":{");
        }
        fm_strbuf_printf(out, "%s\"%" PRId32 "\":%" PRId64, same ? "," : "", p->partition, p->offset);
    }
    fm_strbuf_add_c(out, o->n ? "}}" : "}");
}

void fm_kafka_partitions_print(const fm_kafka_offsets *o, fm_strbuf *out)
{
    for (int32_t i = 0; i < o->n; i++)
        fm_strbuf_printf(out, "%s%.*s-%" PRId32, i ? ", " : "", FM_STR_ARG(o->items[i].topic), o->items[i].partition);
}

/* ---- shares ---- */

static const fm_kafka_partition *begin_of(const fm_kafka_offsets *start, const fm_kafka_offsets *fresh,
                                          const fm_kafka_partition *p)
{
    const fm_kafka_partition *at = fm_kafka_offsets_find(start, p->topic, p->partition);

    return at ? at : fm_kafka_offsets_find(fresh, p->topic, p->partition);
}

/* What is there for a partition; 0 when it is not known where it begins. */
static int64_t size_of(const fm_kafka_partition *begin, const fm_kafka_partition *end)
{
    return begin && end->offset > begin->offset ? end->offset - begin->offset : 0;
}

void fm_kafka_offsets_limit(const fm_kafka_offsets *start, const fm_kafka_offsets *fresh, int64_t limit,
                            fm_kafka_offsets *end)
{
    uint64_t sum = 0;

    for (int32_t i = 0; i < end->n; i++) sum += (uint64_t)size_of(begin_of(start, fresh, &end->items[i]), &end->items[i]);
    double total = (double)sum;
    if (total < 1) return;
    for (int32_t i = 0; i < end->n; i++) {
        fm_kafka_partition *p = &end->items[i];
        const fm_kafka_partition *begin = begin_of(start, fresh, p);
        int64_t size = size_of(begin, p), share;
        if (size == 0) continue;
        double part = (double)limit * ((double)size / total);
        part = part < 1 ? ceil(part) : floor(part); /* a small partition is not starved */
        share = part >= (double)size ? size : (int64_t)part;
        p->offset = begin->offset + share;
    }
}

/* ---- pieces ---- */

/* Rule: Java's Math.round, at least 1. */
static int64_t part_count(int64_t size, int64_t total, int64_t parts_min)
{
    double exact = (double)size / (double)total * (double)parts_min;
    int64_t n = (int64_t)floor(exact + 0.5);

    return n < 1 ? 1 : n;
}

typedef struct pieces {
    fm_kafka_range *items;
    int64_t n, cap;
    fm_arena *arena;
} pieces;

static fm_status add_pieces(pieces *p, const fm_kafka_range *r, int64_t parts, fm_error *err)
{
    int64_t from = r->from, left = r->to - r->from;

    if (p->n + parts > INT32_MAX / 2)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "A micro-batch would be cut into more than a billion pieces: raise maxRecordsPerPartition or lower "
                       "minPartitions.");
    if (p->n + parts > p->cap) {
        int64_t cap = (p->n + parts) * 2;
        fm_kafka_range *items = fm_arena_array(p->arena, fm_kafka_range, cap);
        if (!items) return fm_no_memory(p->arena, err);
        if (p->n) memcpy(items, p->items, (size_t)p->n * sizeof *items);
        p->items = items;
        p->cap = cap;
    }
    for (int64_t i = 0; i < parts; i++) {
        int64_t size = left / (parts - i); /* the last takes what rounding left */
        if (size > 0) p->items[p->n++] = (fm_kafka_range){r->topic, r->partition, from, from + size};
        from += size;
        left -= size;
    }
    return FM_OK;
}

static fm_status cut_long(const fm_kafka_range *ranges, int32_t n, int64_t records_max, pieces *out, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t size = ranges[i].to - ranges[i].from;
        if (size <= 0) continue;
        FM_TRY(add_pieces(out, &ranges[i], records_max > 0 ? (size - 1) / records_max + 1 : 1, err));
    }
    return FM_OK;
}

/* Ranges that are small stay whole, and only the rest share the pieces that are still wanted. */
static fm_status cut_into(const pieces *whole, int64_t parts_min, pieces *out, fm_error *err)
{
    int64_t total = 0, small = 0, n_small = 0;

    for (int64_t i = 0; i < whole->n; i++) total += whole->items[i].to - whole->items[i].from;
    for (int64_t i = 0; i < whole->n; i++) {
        int64_t size = whole->items[i].to - whole->items[i].from;
        if (part_count(size, total, parts_min) > 1) continue;
        small += size;
        n_small++;
    }
    int64_t wanted = parts_min - n_small > 1 ? parts_min - n_small : 1;
    for (int64_t i = 0; i < whole->n; i++) {
        int64_t size = whole->items[i].to - whole->items[i].from;
        int64_t parts = part_count(size, total, parts_min) > 1 ? part_count(size, total - small, wanted) : 1;
        FM_TRY(add_pieces(out, &whole->items[i], parts, err));
    }
    return FM_OK;
}

fm_status fm_kafka_ranges_cut(const fm_kafka_range *ranges, int32_t n, int64_t parts_min, int64_t records_max,
                              fm_arena *arena, fm_kafka_range **out, int32_t *n_out, fm_error *err)
{
    pieces whole = {.arena = arena}, cut = {.arena = arena}, *result = &whole;

    FM_TRY(cut_long(ranges, n, records_max, &whole, err));
    if (whole.n > 0 && whole.n < parts_min) {
        FM_TRY(cut_into(&whole, parts_min, &cut, err));
        result = &cut;
    }
    *out = result->items;
    *n_out = (int32_t)result->n;
    return FM_OK;
}
