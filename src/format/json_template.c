/* format/json_template.c: values of unusual forms, tables, and the choice of a body. */
#include "format/json_template.h"

#include "base/time_text.h"

#include <stdlib.h>

/* ---- tables ---- */

const uint8_t fm_json_mask_bytes[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                        255, 255, 255, 255, 255, 255, 255, 255};

#define DIGITS(len, point) ((len) - ((point) < (len)))
#define PLACE(j, len, point) ((j)-16 + DIGITS(len, point))
#define FROM(j, len, point)                                                                        \
    (PLACE(j, len, point) < 0 ? 0x80 : PLACE(j, len, point) + (PLACE(j, len, point) >= (point)))
#define NUMBER(len, point)                                                                         \
    FROM(0, len, point), FROM(1, len, point), FROM(2, len, point), FROM(3, len, point),            \
        FROM(4, len, point), FROM(5, len, point), FROM(6, len, point), FROM(7, len, point),        \
        FROM(8, len, point), FROM(9, len, point), FROM(10, len, point), FROM(11, len, point),      \
        FROM(12, len, point), FROM(13, len, point), FROM(14, len, point), FROM(15, len, point)
#define NUMBERS(point)                                                                             \
    {                                                                                              \
        NUMBER(0, point), NUMBER(1, point), NUMBER(2, point), NUMBER(3, point), NUMBER(4, point),  \
            NUMBER(5, point), NUMBER(6, point), NUMBER(7, point), NUMBER(8, point),                \
            NUMBER(9, point), NUMBER(10, point), NUMBER(11, point), NUMBER(12, point),             \
            NUMBER(13, point), NUMBER(14, point), NUMBER(15, point)                                \
    }

const uint8_t fm_json_align[16][16 * 16] = {
    NUMBERS(0),  NUMBERS(1),  NUMBERS(2),  NUMBERS(3),  NUMBERS(4),  NUMBERS(5),
    NUMBERS(6),  NUMBERS(7),  NUMBERS(8),  NUMBERS(9),  NUMBERS(10), NUMBERS(11),
    NUMBERS(12), NUMBERS(13), NUMBERS(14), NUMBERS(15),
};

#define CLOCK_ZERO '0', '0', ':', '0', '0', ':', '0', '0'
#define CLOCK_MAX 2, 9, 0, 5, 9, 0, 5, 9
#define CLOCK_ORDER 0, 1, 3, 4, 6, 7
#define NONE4 0x80, 0x80, 0x80, 0x80
#define ANY4 255, 255, 255, 255

const fm_json_clock fm_json_clocks[FM_JTF_COUNT] = {
    [FM_JTF_S_Z] = {{CLOCK_ZERO, 'Z'},
                    {CLOCK_MAX, 0, 255, 255, 255, ANY4},
                    {CLOCK_ORDER, 0x80, 0x80, NONE4, NONE4}},
    [FM_JTF_MS_Z] = {{CLOCK_ZERO, '.', '0', '0', '0', 'Z'},
                     {CLOCK_MAX, 0, 9, 9, 9, 0, 255, 255, 255},
                     {CLOCK_ORDER, 9, 10, 11, 0x80, 0x80, 0x80, NONE4}},
    [FM_JTF_US_Z] = {{CLOCK_ZERO, '.', '0', '0', '0', '0', '0', '0', 'Z'},
                     {CLOCK_MAX, 0, 9, 9, 9, 9, 9, 9, 0},
                     {CLOCK_ORDER, 9, 10, 11, 12, 13, 14, NONE4}},
    [FM_JTF_S] = {{CLOCK_ZERO}, {CLOCK_MAX, ANY4, ANY4}, {CLOCK_ORDER, 0x80, 0x80, NONE4, NONE4}},
    [FM_JTF_MS] = {{CLOCK_ZERO, '.', '0', '0', '0'},
                   {CLOCK_MAX, 0, 9, 9, 9, ANY4},
                   {CLOCK_ORDER, 9, 10, 11, 0x80, 0x80, 0x80, NONE4}},
    [FM_JTF_US] = {{CLOCK_ZERO, '.', '0', '0', '0', '0', '0', '0'},
                   {CLOCK_MAX, 0, 9, 9, 9, 9, 9, 9, 255},
                   {CLOCK_ORDER, 9, 10, 11, 12, 13, 14, NONE4}},
};

/* ---- the choice ---- */

fm_json_run_fn fm_json_run_choose(void)
{
    const char *forced = getenv("FLOODMARK_SIMD");

    if (forced && strcmp(forced, "none") == 0) return NULL;
#if defined(__x86_64__)
    bool sse42 = __builtin_cpu_supports("sse4.2");
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                __builtin_cpu_supports("bmi2");

    if (forced && strcmp(forced, "portable") == 0) return fm_json_run_portable;
    if (forced && strcmp(forced, "sse42") == 0 && sse42) return fm_json_run_sse42;
    if (avx2) return fm_json_run_avx2;
    if (sse42) return fm_json_run_sse42;
#endif
    return fm_json_run_portable;
}

void fm_json_run_begin(fm_json_run *run)
{
    for (int32_t i = 0; i < run->n_templates; i++) {
        fm_json_template *t = &run->templates[i];
        for (int32_t k = 0; k < t->n_ops; k++) t->ops[k].values = t->ops[k].slot ? t->ops[k].slot->values : NULL;
    }
}

/* ---- numbers ---- */

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

const char *fm_json_number_end(const char *p, const char *end)
{
    const char *start = p, *q;

    if (p < end && *p == '-') p++;
    q = skip_digits(p, end);
    if (q == p || (*p == '0' && q - p > 1)) return NULL;
    p = q;
    if (p < end && *p == '.') {
        q = skip_digits(++p, end);
        if (q == p) return NULL;
        p = q;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) p++;
        q = skip_digits(p, end);
        if (q == p) return NULL;
        p = q;
    }
    return p - start <= 1000 ? p : NULL; /* longer ones are too long for Jackson, or nearly */
}

bool fm_json_store_integer(const fm_json_op *op, int32_t row, int64_t x)
{
    fm_json_slot *slot = op->slot;

    switch (slot->type->id) {
    case FM_TYPE_I8:
        if (x < -128 || x > 255) return false;
        ((int8_t *)slot->values)[row] = (int8_t)(x > 127 ? x - 256 : x);
        return true;
    case FM_TYPE_I16:
        if (x < INT16_MIN || x > INT16_MAX) return false;
        ((int16_t *)slot->values)[row] = (int16_t)x;
        return true;
    case FM_TYPE_I32:
        if (x < INT32_MIN || x > INT32_MAX) return false;
        ((int32_t *)slot->values)[row] = (int32_t)x;
        return true;
    default: ((int64_t *)slot->values)[row] = x; return true;
    }
}

bool fm_json_store_decimal(const fm_json_op *op, int32_t row, int64_t digits, uint32_t fraction)
{
    const fm_type *type = op->slot->type;
    fm_i128 x = digits, limit = 1;

    if (fraction > type->scale || type->scale - fraction > 20) return false;
    for (uint32_t i = fraction; i < type->scale; i++) x *= 10;
    for (int i = 0; i < type->precision; i++) limit *= 10;
    if (x >= limit || x <= -limit) return false;
    ((fm_i128 *)op->slot->values)[row] = x;
    return true;
}

bool fm_json_store_number(const fm_json_op *op, int32_t row, fm_str text)
{
    fm_json_slot *slot = op->slot;
    int64_t x;

    switch (op->action) {
    case FM_JOP_F64: return fm_number_text_f64(text, &((double *)slot->values)[row]);
    case FM_JOP_F32: return fm_number_text_f32(text, &((float *)slot->values)[row]);
    case FM_JOP_DECIMAL:
        return fm_text_to_decimal(text, slot->type->precision, slot->type->scale,
                                  &((fm_i128 *)slot->values)[row]);
    case FM_JOP_I64:
    case FM_JOP_INTEGER:
        return fm_integer_text(text, false, &x) && fm_json_store_integer(op, row, x);
    default: return true;
    }
}

/* ---- strings, times, the rest ---- */

const char *fm_json_store_string(fm_json_run *run, const fm_json_op *op, int32_t row, const char *p)
{
    fm_json_converter *c = run->converter;
    const char *fault, *stop;
    bool plain, ok = true;
    const char *behind =
        fm_json_string(p, run->end, '"', c->options->flags, &plain, &c->bytes, &fault, &stop);

    if (!behind) return NULL;
    if (op->slot) {
        fm_str text = plain ? (fm_str){p, (size_t)(behind - 1 - p)} : fm_strbuf_str(&c->bytes);
        ((fm_view *)op->slot->values)[row] = plain
                                                 ? fm_view_of(text.ptr, text.len)
                                                 : fm_view_copy(c->arena, text.ptr, text.len, &ok);
    }
    if (!ok || !fm_strbuf_ok(&c->bytes)) c->no_memory = true;
    return behind - 1;
}

bool fm_json_new_day(fm_json_op *op, const char *p)
{
    fm_date_cache cache = {.filled = false};
    int64_t us;

    if (p[10] != 'T' && p[10] != ' ' && p[10] != '"') return false;
    if (!fm_file_day((fm_str){p, 10}, &cache, &us)) return false;
    memcpy(op->day, p, 11);
    op->day_us = us;
    return true;
}

const char *fm_json_store_time(fm_json_run *run, fm_json_op *op, int32_t row, const char *p)
{
    fm_json_converter *c = run->converter;
    const fm_json_options *o = c->options;
    const char *quote = p;
    int32_t day;
    int64_t us;

    while ((signed char)*quote >= 0x20 && *quote != '"' && *quote != '\\')
        quote++;                                  /* signed: stops beyond ASCII, too */
    if (*quote != '"' || quote == p) return NULL; /* escapes and the like are for the exact path */
    fm_str text = {p, (size_t)(quote - p)};
    if (op->action == FM_JOP_DATE) {
        if (!fm_text_to_date(text, &day)) return NULL;
        ((int32_t *)op->slot->values)[row] = day;
        return quote;
    }
    if (!fm_file_timestamp(text, o->zone, &c->dates, &us)) return NULL;
    ((int64_t *)op->slot->values)[row] = us;
    return quote;
}

/* Where the line that p stands in ends. */
static const char *line_end(const char *p, const char *end)
{
    while (p < end && *p != '\n' && *p != '\r') p++;
    return p;
}

const char *fm_json_store_value(fm_json_run *run, const fm_json_op *op, int32_t row, const char *p)
{
    fm_json_converter *c = run->converter;
    const char *end = line_end(p, run->end);

    fm_json_scan_start(&c->scan, (fm_str){p, (size_t)(end - p)}, c->arena);
    c->scan.at = p;    /* no byte order mark here */
    c->scan.depth = 1; /* within something: a number may be followed by anything */
    c->scan.levels[1] = (fm_json_level){.kind = '['};
    fm_json_token t = fm_json_next(&c->scan);
    if (t == FM_JT_ERROR || t == FM_JT_NONE || t == FM_JT_ARRAY_END) return NULL;
    if (!op->slot) {
        bool ok = c->scan.token == FM_JT_STRING ? fm_json_text(&c->scan)
                                                : fm_json_skip_children(&c->scan);
        return ok ? c->scan.at : NULL;
    }
    c->record++;
    return fm_json_convert_slot(c, op->slot, row) == FM_JSON_OK ? c->scan.at : NULL;
}

void fm_json_undo(const fm_json_template *t, int32_t row)
{
    for (int32_t i = 0; i < t->n_converted; i++) fm_json_slots_undo(t->converted[i], row);
}

void fm_json_run_fini(fm_json_run *run)
{
    for (int32_t i = 0; i < run->n_templates; i++) fm_arena_free(run->templates[i].arena);
    run->n_templates = 0;
}
