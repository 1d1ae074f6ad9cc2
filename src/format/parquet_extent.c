/* format/parquet_extent.c: least and greatest values, of pages, chunks and files.
 *
 * Values are compared as SQL does, which is the order that the format gives to our types. NaN has no place in it: with one among
 * them, values have no bounds in the file. Bounds of texts longer than BOUND_SIZE are cut: below for the least, and to the next
 * text of that length for the greatest. */
#include "format/parquet_leaf.h"

#include <math.h>

enum { BOUND_SIZE = 64 };

void fm_pq_extent_clear(fm_pq_extent *e)
{
    e->any = e->nan = false;
    fm_strbuf_clear(&e->min_text);
    fm_strbuf_clear(&e->max_text);
}

void fm_pq_extent_fini(fm_pq_extent *e)
{
    fm_strbuf_fini(&e->min_text);
    fm_strbuf_fini(&e->max_text);
    *e = (fm_pq_extent){0};
}

static void add_integers(fm_pq_extent *e, int64_t min, int64_t max)
{
    if (!e->any || min < e->min.i) e->min.i = min;
    if (!e->any || max > e->max.i) e->max.i = max;
}

static void add_doubles(fm_pq_extent *e, double min, double max)
{
    if (!e->any || min < e->min.f) e->min.f = min;
    if (!e->any || max > e->max.f) e->max.f = max;
}

static void add_decimals(fm_pq_extent *e, fm_i128 min, fm_i128 max)
{
    if (!e->any || min < e->min.d) e->min.d = min;
    if (!e->any || max > e->max.d) e->max.d = max;
}

static void set_text(fm_strbuf *to, fm_str text)
{
    fm_strbuf_clear(to);
    fm_strbuf_add(to, text);
}

static void add_texts(fm_pq_extent *e, fm_str min, fm_str max)
{
    if (!e->any || fm_str_cmp(min, fm_strbuf_str(&e->min_text)) < 0) set_text(&e->min_text, min);
    if (!e->any || fm_str_cmp(max, fm_strbuf_str(&e->max_text)) > 0) set_text(&e->max_text, max);
}

#define SPAN(T)                                             \
    const T *v = values;                                    \
    T min = v[0], max = v[0];                               \
    for (int64_t i = 1; i < n; i++) {                       \
        min = v[i] < min ? v[i] : min;                      \
        max = v[i] > max ? v[i] : max;                      \
    }

#define FLOATS(T)                                                          \
    const T *v = values;                                                   \
    T min = (T)INFINITY, max = -(T)INFINITY;                               \
    bool nan = false;                                                      \
    for (int64_t i = 0; i < n; i++) {                                      \
        nan |= v[i] != v[i];                                               \
        min = v[i] < min ? v[i] : min;                                     \
        max = v[i] > max ? v[i] : max;                                     \
    }                                                                      \
    e->nan |= nan;                                                         \
    if (min <= max) add_doubles(e, (double)min, (double)max);              \
    else e->nan = true;

static void add_views(fm_pq_extent *e, const fm_view *v, int64_t n)
{
    int64_t min = 0, max = 0;

    for (int64_t i = 1; i < n; i++) {
        if (fm_view_cmp(&v[i], &v[min]) < 0) min = i;
        else if (fm_view_cmp(&v[i], &v[max]) > 0) max = i;
    }
    add_texts(e, fm_view_str(&v[min]), fm_view_str(&v[max]));
}

void fm_pq_extent_add(fm_pq_extent *e, const fm_type *type, const void *values, int64_t n)
{
    if (n == 0) return;
    switch (type->id) {
    case FM_TYPE_BOOL: {
        SPAN(uint8_t);
        add_integers(e, min, max);
        break;
    }
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: {
        SPAN(int32_t);
        add_integers(e, min, max);
        break;
    }
    case FM_TYPE_I64:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: {
        SPAN(int64_t);
        add_integers(e, min, max);
        break;
    }
    case FM_TYPE_F32: {
        FLOATS(float);
        break;
    }
    case FM_TYPE_F64: {
        FLOATS(double);
        break;
    }
    case FM_TYPE_DECIMAL: {
        SPAN(fm_i128);
        add_decimals(e, min, max);
        break;
    }
    default: add_views(e, values, n);
    }
    e->any = true;
}

void fm_pq_extent_merge(fm_pq_extent *into, const fm_type *type, const fm_pq_extent *from)
{
    into->nan |= from->nan;
    if (!from->any) return;
    if (type->id == FM_TYPE_F32 || type->id == FM_TYPE_F64) add_doubles(into, from->min.f, from->max.f);
    else if (type->id == FM_TYPE_DECIMAL) add_decimals(into, from->min.d, from->max.d);
    else if (fm_type_is_view(type)) add_texts(into, fm_strbuf_str(&from->min_text), fm_strbuf_str(&from->max_text));
    else add_integers(into, from->min.i, from->max.i);
    into->any = true;
}

/* ---- As the file holds them --------------------------------------------------------------------------------- */

static void put_decimal(const fm_pq_storage *s, fm_i128 x, fm_strbuf *out)
{
    int64_t narrow = (int64_t)x;

    if (s->type != FM_PQ_FIXED) {
        fm_strbuf_add(out, (fm_str){(const char *)&narrow, s->type == FM_PQ_INT32 ? 4 : 8});
        return;
    }
    for (int32_t b = s->fixed_size; b-- > 0;) fm_strbuf_add_char(out, (char)(uint8_t)((fm_u128)x >> (b * 8)));
}

/* Whether a byte goes on with a UTF-8 character. */
static bool goes_on(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* The text that is the greatest one's bound: cut, and its last character replaced by the next one. */
static bool cut_above(fm_str text, bool utf8, fm_strbuf *out)
{
    size_t from = out->len, len = BOUND_SIZE;

    while (utf8 && len > 0 && goes_on(text.ptr[len])) len--;
    for (; len > 0; len--) {
        unsigned char last = (unsigned char)text.ptr[len - 1];
        if (utf8 ? last >= 0x7F : last == 0xFF) continue; /* in UTF-8, only ASCII is counted up */
        fm_strbuf_add(out, (fm_str){text.ptr, len});
        if (!fm_strbuf_ok(out)) return false;
        out->ptr[from + len - 1]++;
        return true;
    }
    return false;
}

static void put_text(fm_str text, bool is_min, bool utf8, fm_strbuf *out, bool *exact)
{
    size_t len = BOUND_SIZE;

    if (text.len > BOUND_SIZE && is_min) {
        while (utf8 && len > 0 && goes_on(text.ptr[len])) len--;
        fm_strbuf_add(out, (fm_str){text.ptr, len});
        *exact = false;
    } else if (text.len > BOUND_SIZE && cut_above(text, utf8, out)) {
        *exact = false;
    } else {
        fm_strbuf_add(out, text);
    }
}

void fm_pq_extent_put(const fm_pq_extent *e, const fm_type *type, const fm_pq_storage *s, bool is_min, fm_strbuf *out, bool *exact)
{
    int64_t i = is_min ? e->min.i : e->max.i;
    double f = is_min ? e->min.f : e->max.f;
    float narrow = (float)f;

    *exact = true;
    if (f == 0) f = narrow = is_min ? -0.0F : 0.0F; /* the format's rule: a zero bound stands for both zeros */
    switch (type->id) {
    case FM_TYPE_BOOL: fm_strbuf_add_char(out, (char)i); break;
    case FM_TYPE_F32: fm_strbuf_add(out, (fm_str){(const char *)&narrow, 4}); break;
    case FM_TYPE_F64: fm_strbuf_add(out, (fm_str){(const char *)&f, 8}); break;
    case FM_TYPE_DECIMAL: put_decimal(s, is_min ? e->min.d : e->max.d, out); break;
    case FM_TYPE_STRING: put_text(fm_strbuf_str(is_min ? &e->min_text : &e->max_text), is_min, true, out, exact); break;
    case FM_TYPE_BINARY: put_text(fm_strbuf_str(is_min ? &e->min_text : &e->max_text), is_min, false, out, exact); break;
    default:
        if (s->to_millis) i = i / 1000 - (i % 1000 < 0);
        fm_strbuf_add(out, (fm_str){(const char *)&i, s->type == FM_PQ_INT32 ? 4 : 8});
    }
}
