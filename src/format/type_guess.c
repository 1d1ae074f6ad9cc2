/* format/type_guess.c: widening guesses. */
#include "format/type_guess.h"

#include "base/limits.h"
#include "format/utf8.h"

#include <stdlib.h>

fm_guess *fm_guess_field_of(fm_guess *g, fm_str name, int32_t hint, fm_arena *arena)
{
    if (hint < g->n && fm_str_eq(g->fields[hint].name, name)) return &g->fields[hint].guess;
    for (int32_t i = 0; i < g->n; i++)
        if (fm_str_eq(g->fields[i].name, name)) return &g->fields[i].guess;
    if (g->n == FM_SCHEMA_FIELDS_MAX) return NULL;
    if (g->n == g->cap) {
        int32_t cap = g->cap ? g->cap * 2 : 8;
        fm_guess_field *fields = fm_arena_array(arena, fm_guess_field, cap);
        if (!fields) return NULL;
        if (g->n) memcpy(fields, g->fields, (size_t)g->n * sizeof *fields);
        g->fields = fields;
        g->cap = cap;
    }
    g->fields[g->n] = (fm_guess_field){.name = name};
    return &g->fields[g->n++].guess;
}

static fm_status too_many(fm_arena *arena, const fm_guess *g, fm_error *err)
{
    if (g->n < FM_SCHEMA_FIELDS_MAX) return fm_no_memory(arena, err);
    return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                   "Inferring the schema found more than %d fields of one struct. Are its names data? Declare it as "
                   "MAP<STRING, ...>, or as STRING.",
                   FM_SCHEMA_FIELDS_MAX);
}

/* ---- merging ---- */

/* A BIGINT among decimals has 20 digits, as Spark counts. */
static void as_decimal(const fm_guess *g, int *whole, int *scale)
{
    *whole = g->id == FM_TYPE_I64 ? 20 : g->precision - g->scale;
    *scale = g->id == FM_TYPE_I64 ? 0 : g->scale;
}

static void merge_numbers(fm_guess *into, const fm_guess *from)
{
    int whole[2], scale[2];

    if (into->id == FM_TYPE_I64 && from->id == FM_TYPE_I64) return;
    if (into->id == FM_TYPE_F64 || from->id == FM_TYPE_F64) {
        *into = (fm_guess){.id = FM_TYPE_F64};
        return;
    }
    as_decimal(into, &whole[0], &scale[0]);
    as_decimal(from, &whole[1], &scale[1]);
    int w = whole[0] > whole[1] ? whole[0] : whole[1], s = scale[0] > scale[1] ? scale[0] : scale[1];
    *into = w + s > FM_DECIMAL_PRECISION_MAX
                ? (fm_guess){.id = FM_TYPE_F64}
                : (fm_guess){.id = FM_TYPE_DECIMAL, .precision = (uint8_t)(w + s), .scale = (uint8_t)s};
}

static fm_status merge_structs(fm_guess *into, const fm_guess *from, fm_arena *arena, fm_error *err)
{
    for (int32_t i = 0; i < from->n; i++) {
        int32_t before = into->n;
        fm_guess *g = fm_guess_field_of(into, from->fields[i].name, i, arena);
        if (!g) return too_many(arena, into, err);
        if (into->n > before) { /* the name is kept */
            fm_str name = fm_arena_str(arena, from->fields[i].name);
            if (!name.ptr) return fm_no_memory(arena, err);
            into->fields[before].name = name;
        }
        FM_TRY(fm_guess_merge(g, &from->fields[i].guess, arena, err));
    }
    return FM_OK;
}

static bool is_number(fm_type_id id) { return id == FM_TYPE_I64 || id == FM_TYPE_F64 || id == FM_TYPE_DECIMAL; }
static bool is_time(fm_type_id id) { return id == FM_TYPE_TIMESTAMP || id == FM_TYPE_TIMESTAMP_NTZ; }

/* Recursion is bounded: guesses nest as deep as JSON may (FM_JSON_DEPTH_MAX). */
fm_status fm_guess_merge(fm_guess *into, const fm_guess *from, fm_arena *arena, fm_error *err)
{
    if (from->id == FM_TYPE_NULL || into->id == FM_TYPE_STRING) return FM_OK;
    if (into->id == FM_TYPE_NULL) {
        *into = (fm_guess){.id = from->id, .precision = from->precision, .scale = from->scale};
        if (from->id == FM_TYPE_LIST && !(into->element = fm_arena_one(arena, fm_guess))) return fm_no_memory(arena, err);
    }
    if (is_number(into->id) && is_number(from->id)) {
        merge_numbers(into, from);
        return FM_OK;
    }
    if (is_time(into->id) && is_time(from->id)) {
        if (into->id != from->id) into->id = FM_TYPE_TIMESTAMP;
        return FM_OK;
    }
    if (into->id != from->id) {
        *into = (fm_guess){.id = FM_TYPE_STRING};
        return FM_OK;
    }
    if (into->id == FM_TYPE_LIST) return fm_guess_merge(into->element, from->element, arena, err);
    return into->id == FM_TYPE_STRUCT ? merge_structs(into, from, arena, err) : FM_OK;
}

/* ---- the type ---- */

/* The next UTF-16 unit's place in the order; well-formed or not, any two names compare the same way always. */
static uint32_t order_of(const unsigned char *p, int len)
{
    static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & mask[len];

    for (int i = 1; i < len; i++) c = c << 6 | (p[i] & 0x3F);
    return c < 0x10000 ? c << 16 : (0xD800 + ((c - 0x10000) >> 10)) << 16 | (c & 0x3FF) | 0xDC00;
}

static int compare_names(const void *pa, const void *pb)
{
    fm_str a = ((const fm_guess_field *)pa)->name, b = ((const fm_guess_field *)pb)->name;
    const unsigned char *p = (const unsigned char *)a.ptr, *q = (const unsigned char *)b.ptr;
    const unsigned char *p_end = p + a.len, *q_end = q + b.len;

    while (p < p_end && q < q_end) {
        int n = fm_utf8_char_len(p, p_end), m = fm_utf8_char_len(q, q_end);
        uint32_t x = order_of(p, n ? n : 1), y = order_of(q, m ? m : 1);
        if (x != y) return x < y ? -1 : 1;
        p += n ? n : 1;
        q += m ? m : 1;
    }
    return p < p_end ? 1 : q < q_end ? -1 : 0;
}

static fm_status struct_type(const fm_guess *g, const fm_type *null_type, fm_arena *arena, const fm_type **out,
                             fm_error *err)
{
    fm_guess_field *sorted = fm_arena_array(arena, fm_guess_field, g->n);
    fm_field *fields = fm_arena_array(arena, fm_field, g->n);
    int32_t n = 0;

    *out = NULL;
    if (!sorted || !fields) return fm_no_memory(arena, err);
    if (g->n == 0) return FM_OK;
    memcpy(sorted, g->fields, (size_t)g->n * sizeof *sorted);
    qsort(sorted, (size_t)g->n, sizeof *sorted, compare_names);
    for (int32_t i = 0; i < g->n; i++) {
        const fm_type *type;
        if (sorted[i].name.len == 0) continue;
        FM_TRY(fm_guess_type(&sorted[i].guess, null_type, arena, &type, err));
        if (type) fields[n++] = (fm_field){sorted[i].name, type, true};
    }
    if (n == 0) return FM_OK;
    *out = fm_type_struct(arena, fields, n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_guess_type(const fm_guess *g, const fm_type *null_type, fm_arena *arena, const fm_type **out, fm_error *err)
{
    const fm_type *element;

    switch (g->id) {
    case FM_TYPE_NULL: *out = null_type; return FM_OK;
    case FM_TYPE_DECIMAL: *out = fm_type_decimal(arena, g->precision, g->scale); break;
    case FM_TYPE_STRUCT: return struct_type(g, null_type, arena, out, err);
    case FM_TYPE_LIST:
        *out = NULL;
        FM_TRY(fm_guess_type(g->element, null_type, arena, &element, err));
        if (!element) return FM_OK;
        *out = fm_type_list(arena, element, true);
        break;
    default: *out = fm_type_simple(g->id); break;
    }
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* ---- numbers in text ---- */

bool fm_decimal_shape(fm_str text, int64_t *precision, int64_t *scale)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    int64_t digits = 0, significant = 0, behind_point = 0, exponent = 0;
    bool point = false;

    if (p < end && (*p == '-' || *p == '+')) p++;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        digits++;
        behind_point += point;
        if (significant || *p != '0') significant++;
    }
    if (digits == 0) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        fm_str rest = {p + 1, (size_t)(end - p - 1)};
        if (!fm_str_to_i64(rest, &exponent) || exponent > INT32_MAX || exponent < -INT32_MAX) return false;
        p = end;
    }
    if (p < end) return false;
    *precision = significant ? significant : 1;
    *scale = behind_point - exponent;
    return true;
}
