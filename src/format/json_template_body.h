/* format/json_template_body.h: the loop of the templates; included once per instruction set.
 *
 * The includer defines RUN_NAME, and one of
 *   LANES_X86   1: SSE4.2 intrinsics are there; WIDE 1: AVX2, too
 *   neither:    eight bytes in a word
 *
 * Each step reads up to 16 (32) bytes from where it stands, which may reach into the padding behind
 * the block: zeros, which end every value. */
#ifndef FM_FORMAT_JSON_TEMPLATE_BODY_H
#define FM_FORMAT_JSON_TEMPLATE_BODY_H

#include "base/time_text.h"
#include "format/json_template.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* A number without exponent of up to 15 digits. */
typedef struct number {
    uint64_t digits;   /* without the point */
    uint32_t fraction; /* digits behind it */
    uint32_t len;      /* bytes, without a sign; 0: of another form */
} number;

#if defined(LANES_X86)

/* ---- x86 ---- */

/* Vectors of one value each, and weights of digits. They are read from memory: what a compiler knows, it builds anew for
 * every line, in three instructions a constant. */
typedef struct constants {
    _Alignas(32) uint8_t quote[32], slash[32], low[32], zero[16], nine[16], tens[16];
    int16_t hundreds[8], ten_thousands[8], clock[8];
} constants;

#define FOUR(x) x, x, x, x
#define SIXTEEN(x) FOUR(x), FOUR(x), FOUR(x), FOUR(x)
static const constants constant_table = {
    .quote = {SIXTEEN('"'), SIXTEEN('"')},
    .slash = {SIXTEEN('\\'), SIXTEEN('\\')},
    .low = {SIXTEEN(0x1F), SIXTEEN(0x1F)},
    .zero = {SIXTEEN('0')},
    .nine = {SIXTEEN(9)},
    .tens = {10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1},
    .hundreds = {100, 1, 100, 1, 100, 1, 100, 1},
    .ten_thousands = {10000, 1, 10000, 1, 10000, 1, 10000, 1},
    .clock = {60, 1, 100, 1, 100, 1, 100, 1},
};
#undef SIXTEEN
#undef FOUR

/* The table, without the compiler's knowledge of what is in it. */
static inline const constants *hidden_constants(void)
{
    const constants *k = &constant_table;

    __asm__("" : "+r"(k));
    return k;
}

static inline __m128i load16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

static inline __m128i aligned16(const void *p) { return _mm_load_si128((const __m128i *)p); }

static inline bool literal_differs(const char *p, const fm_json_op *op)
{
    return !_mm_testz_si128(_mm_xor_si128(load16(p), aligned16(op->literal)), aligned16(op->mask));
}

/* The first byte that ends the plain part of a string: '"', '\', below a blank or above ASCII. As signed bytes both what
 * is below a blank and what is above ASCII is not greater than 0x1F. */
static inline const char *plain_end(const constants *k, const char *p)
{
#if defined(WIDE)
    for (;; p += 32) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i quotes = _mm256_cmpeq_epi8(x, _mm256_load_si256((const __m256i *)(const void *)k->quote));
        __m256i slashes = _mm256_cmpeq_epi8(x, _mm256_load_si256((const __m256i *)(const void *)k->slash));
        __m256i plain = _mm256_cmpgt_epi8(x, _mm256_load_si256((const __m256i *)(const void *)k->low));
        uint32_t bits = ~(uint32_t)_mm256_movemask_epi8(_mm256_andnot_si256(_mm256_or_si256(quotes, slashes), plain));
        if (LIKELY(bits)) return p + __builtin_ctz(bits);
    }
#else
    for (;; p += 16) {
        __m128i x = load16(p);
        __m128i special = _mm_or_si128(_mm_cmpeq_epi8(x, aligned16(k->quote)), _mm_cmpeq_epi8(x, aligned16(k->slash)));
        __m128i plain = _mm_andnot_si128(special, _mm_cmpgt_epi8(x, aligned16(k->low)));
        uint32_t bits = ~(uint32_t)_mm_movemask_epi8(plain) & 0xFFFF;
        if (LIKELY(bits)) return p + __builtin_ctz(bits);
    }
#endif
}

static inline void store_view(fm_view *out, const char *p, size_t len)
{
    if (LIKELY(len <= FM_VIEW_INLINE)) {
        __m128i keep = load16(fm_json_mask_bytes + 16 - len);
        __m128i x = _mm_slli_si128(_mm_and_si128(load16(p), keep), 4);
        _mm_storeu_si128((__m128i *)(void *)out, _mm_insert_epi32(x, (int)len, 0));
        return;
    }
    *out = fm_view_of(p, len);
}

static inline number read_number(const constants *k, const char *p)
{
    const number other = {0, 0, 0};
    __m128i d = _mm_sub_epi8(load16(p), aligned16(k->zero));
    /* Bits of what is no digit; those from 16 on are set. */
    uint32_t ends = ~(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(d, aligned16(k->nine)), d));
    uint32_t point = (uint32_t)__builtin_ctz(ends), len = point, fraction = 0, align = 15;

    if (LIKELY(p[point] == '.')) {
        align = point;
        len = (uint32_t)__builtin_ctz(ends & (ends - 1));
        fraction = len - point - 1;
        if (UNLIKELY(fraction == 0)) return other;
    }
    if (UNLIKELY(len > 15 || point == 0)) return other;
    if (UNLIKELY(p[0] == '0' && point > 1)) return other; /* a leading zero */
    if (UNLIKELY((p[len] | 0x20) == 'e')) return other;   /* a second point ends the number, and no literal begins so */
    /* Digits to the right end of the register, the point taken out. */
    __m128i digits = _mm_shuffle_epi8(d, load16(fm_json_align[align] + 16 * len));
    __m128i pairs = _mm_maddubs_epi16(digits, aligned16(k->tens));
    __m128i fours = _mm_madd_epi16(pairs, aligned16(k->hundreds));
    __m128i words = _mm_packus_epi32(fours, fours);
    __m128i eights = _mm_madd_epi16(words, aligned16(k->ten_thousands));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    return (number){(both & 0xFFFFFFFF) * 100000000 + (both >> 32), fraction, len};
}

/* HH:mm:ss and what follows by the form; false when it is not so. */
static inline bool read_clock(const constants *k, const char *p, const fm_json_clock *c, int64_t *us)
{
    __m128i x = _mm_xor_si128(load16(p), load16(c->zero));

    /* Digits have become their values, what stands between them zero. */
    if (UNLIKELY(_mm_movemask_epi8(
                     _mm_cmpeq_epi8(_mm_max_epu8(x, load16(c->max)), load16(c->max))) != 0xFFFF))
        return false;
    __m128i pairs = _mm_maddubs_epi16(_mm_shuffle_epi8(x, load16(c->order)), aligned16(k->tens));
    /* hours * 60 + minutes, seconds, hundredths and so on: 10000 = all of the fraction */
    __m128i fours = _mm_madd_epi16(pairs, aligned16(k->clock));
    uint64_t low = (uint64_t)_mm_cvtsi128_si64(fours), high = (uint64_t)_mm_extract_epi64(fours, 1);
    uint32_t minutes = (uint32_t)low, seconds_cs = (uint32_t)(low >> 32), rest = (uint32_t)high;
    *us = (int64_t)minutes * 60000000 + (int64_t)seconds_cs * 10000 + rest;
    return minutes < 1440;
}

#else

/* ---- any machine ---- */

typedef char constants; /* none */
static inline const constants *hidden_constants(void) { return NULL; }

static inline uint64_t load8(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static inline bool literal_differs(const char *p, const fm_json_op *op)
{
    const char *literal = (const char *)op->literal, *mask = (const char *)op->mask;

    return (((load8(p) ^ load8(literal)) & load8(mask)) | ((load8(p + 8) ^ load8(literal + 8)) & load8(mask + 8))) != 0;
}

static inline const char *plain_end(const constants *k, const char *p)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);

    (void)k;
    for (;; p += 8) {
        uint64_t x = load8(p), quote = x ^ (ones * '"'), slash = x ^ (ones * '\\');
        /* Borrows may mark a byte too many, but only behind one that is marked rightly. */
        uint64_t below = (x - ones * 0x20) & ~x, q = (quote - ones) & ~quote,
                 s = (slash - ones) & ~slash;
        uint64_t bits = (below | q | s | x) & high;
        if (LIKELY(bits)) return p + (__builtin_ctzll(bits) >> 3);
    }
}

static inline void store_view(fm_view *out, const char *p, size_t len)
{
    *out = fm_view_of(p, len);
}

static inline number read_number(const constants *k, const char *p)
{
    const number other = {0, 0, 0};
    uint64_t digits = 0;
    uint32_t len = 0, point = UINT32_MAX;

    (void)k;
    for (;; len++) {
        unsigned digit = (unsigned)(unsigned char)p[len] - '0';
        if (digit <= 9) {
            digits = digits * 10 + digit;
        } else {
            if (p[len] != '.' || point != UINT32_MAX) break;
            point = len;
        }
        if (UNLIKELY(len > 15)) return other;
    }
    bool has_point = point != UINT32_MAX;
    if (!has_point) point = len;
    if (UNLIKELY(len == 0 || point == 0 || (has_point && point + 1 == len) || len > 15))
        return other;
    if (UNLIKELY((p[0] == '0' && point > 1) || p[len] == '.' || (p[len] | 0x20) == 'e'))
        return other;
    return (number){digits, has_point ? len - point - 1 : 0, len};
}

static inline bool read_clock(const constants *k, const char *p, const fm_json_clock *c, int64_t *us)
{
    unsigned char x[16], y[16];

    for (int i = 0; i < 16; i++) {
        x[i] = (unsigned char)p[i] ^ c->zero[i];
        if (x[i] > c->max[i]) return false;
    }
    for (int i = 0; i < 16; i++) y[i] = c->order[i] & 0x80 ? 0 : x[c->order[i]];
    int32_t minutes = (y[0] * 10 + y[1]) * 60 + y[2] * 10 + y[3];
    *us = (int64_t)minutes * 60000000 + (y[4] * 10 + y[5]) * INT64_C(1000000) +
          (y[6] * 10 + y[7]) * 10000 + (y[8] * 10 + y[9]) * 100 + (y[10] * 10 + y[11]);
    return minutes < 1440;
}

#endif

/* ---- values ---- */

static inline const char *take_string(const constants *k, fm_json_run *run, fm_json_op *op, int32_t row, const char *p)
{
    const char *q = plain_end(k, p);

    if (UNLIKELY(*q != '"')) return fm_json_store_string(run, op, row, p);
    size_t len = (size_t)(q - p), last_len = op->last_len, guess = last_len;
    /* Lengths repeat: with a right guess the next step need not wait until this string's end is known. The empty asm hides
     * from the compiler that the guess is the length that was compared: it would take that, and wait. */
    __asm__("" : "+r"(guess));
    if (LIKELY(len == last_len)) q = p + guess;
    else op->last_len = (uint32_t)len;
    if (op->values) store_view((fm_view *)op->values + row, p, len);
    return q;
}

static const double powers_of_ten[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

/* A number of an unusual form: by its text. */
static const char *take_odd_number(const fm_json_op *op, int32_t row, const char *p, const char *end)
{
    const char *q = fm_json_number_end(p, end);

    return q && fm_json_store_number(op, row, (fm_str){p, (size_t)(q - p)}) ? q : NULL;
}

/* Behind the sign. By a branch, which is foreseen: added as a number, the sign would be waited for. The empty asm keeps the
 * compiler from that. */
static inline const char *digits_of(const char *p, bool negative)
{
    if (UNLIKELY(negative)) {
        p++;
        __asm__("" : "+r"(p));
    }
    return p;
}

static inline const char *take_f64(const constants *k, const fm_json_op *op, int32_t row, const char *p, const char *end)
{
    bool negative = *p == '-';
    const char *digits = digits_of(p, negative);
    number n = read_number(k, digits);

    if (UNLIKELY(n.len == 0)) return take_odd_number(op, row, p, end);
    double x = (double)(int64_t)n.digits / powers_of_ten[n.fraction]; /* both are exact, so the quotient is right */
    if (UNLIKELY(negative) && (n.digits | n.fraction)) x = -x; /* but -0, an integer, is 0.0 to Jackson */
    ((double *)op->values)[row] = x;
    return digits + n.len;
}

static inline const char *take_number(const constants *k, const fm_json_op *op, int32_t row, const char *p,
                                      const char *end)
{
    bool negative = *p == '-';
    const char *digits = digits_of(p, negative);
    number n = read_number(k, digits);

    if (UNLIKELY(n.len == 0)) return take_odd_number(op, row, p, end);
    int64_t whole = negative ? -(int64_t)n.digits : (int64_t)n.digits;
    switch (op->action) {
    case FM_JOP_I64:
        if (UNLIKELY(n.fraction)) return NULL;
        ((int64_t *)op->values)[row] = whole;
        break;
    case FM_JOP_F32: {
        if (UNLIKELY(n.digits > 1u << 24 || n.fraction > 10))
            return fm_json_store_number(op, row, (fm_str){p, negative + n.len})
                       ? p + negative + n.len
                       : NULL;
        float y = (float)n.digits / (float)powers_of_ten[n.fraction];
        if (negative && (n.digits | n.fraction)) y = -y;
        ((float *)op->values)[row] = y;
        break;
    }
    case FM_JOP_DECIMAL:
        if (UNLIKELY(!fm_json_store_decimal(op, row, whole, n.fraction)) &&
            !fm_json_store_number(op, row, (fm_str){p, negative + n.len}))
            return NULL;
        break;
    case FM_JOP_INTEGER:
        if (UNLIKELY(n.fraction || !fm_json_store_integer(op, row, whole))) return NULL;
        break;
    default: break;
    }
    return digits + n.len;
}

static inline const char *take_timestamp(const constants *k, fm_json_run *run, fm_json_op *op, int32_t row,
                                         const char *p)
{
    uint64_t a, b;
    int64_t us;

    if (UNLIKELY(!op->clock)) return fm_json_store_time(run, op, row, p);
    /* The eleven bytes of the date and the T behind it, as two words that overlap. */
    memcpy(&a, p, 8);
    memcpy(&b, op->day, 8);
    uint64_t differ = a ^ b;
    memcpy(&a, p + 3, 8);
    memcpy(&b, op->day + 3, 8);
    differ |= a ^ b;
    if (UNLIKELY(differ) && (p[10] == '"' || !fm_json_new_day(op, p))) /* a date alone is not of this form */
        return fm_json_store_time(run, op, row, p);
    if (UNLIKELY(!read_clock(k, p + 11, op->clock, &us))) return fm_json_store_time(run, op, row, p);
    us += op->day_us;
    if (UNLIKELY(op->form >= FM_JTF_S)) us = fm_zone_to_utc(run->converter->options->zone, us);
    ((int64_t *)op->values)[row] = us;
    return p + op->time_len;
}

static inline const char *take_date(fm_json_run *run, fm_json_op *op, int32_t row, const char *p)
{
    if ((memcmp(p, op->day, 10) != 0 && !fm_json_new_day(op, p)) || p[10] != '"')
        return fm_json_store_time(run, op, row, p);
    ((int32_t *)op->values)[row] =
        (int32_t)(op->day_us / FM_US_PER_DAY); /* exact: midnight */
    return p + 10;
}

static inline const char *take_word(const fm_json_op *op, int32_t row, const char *p)
{
    bool is_true = memcmp(p, "true", 4) == 0;

    if (op->action == FM_JOP_BOOL) {
        if (!is_true && memcmp(p, "false", 5) != 0) return NULL;
        ((uint8_t *)op->values)[row] = is_true;
        return p + 5 - is_true;
    }
    if (is_true || memcmp(p, "null", 4) == 0) return p + 4;
    return memcmp(p, "false", 5) == 0 ? p + 5 : NULL;
}

/* ---- lines ---- */

/* The place behind the line at p if the template matches; else NULL. */
static inline __attribute__((always_inline)) const char *take_line(const constants *k, fm_json_run *run, fm_json_template *t,
                                                                   int32_t row, const char *p, const char *end)
{
    for (fm_json_op *op = t->ops;; op++) {
        switch ((fm_json_action)op->action) {
        case FM_JOP_NONE: break;
        case FM_JOP_STRING:
        case FM_JOP_SKIP_STRING: p = take_string(k, run, op, row, p); break;
        case FM_JOP_F64: p = take_f64(k, op, row, p, end); break;
        case FM_JOP_F32:
        case FM_JOP_DECIMAL:
        case FM_JOP_I64:
        case FM_JOP_INTEGER:
        case FM_JOP_SKIP_NUMBER: p = take_number(k, op, row, p, end); break;
        case FM_JOP_TIMESTAMP: p = take_timestamp(k, run, op, row, p); break;
        case FM_JOP_DATE: p = take_date(run, op, row, p); break;
        case FM_JOP_BOOL:
        case FM_JOP_SKIP_WORD: p = take_word(op, row, p); break;
        case FM_JOP_CONVERT:
        case FM_JOP_SKIP_VALUE: p = fm_json_store_value(run, op, row, p); break;
        case FM_JOP_END:
            for (int32_t i = 0; i < t->n_absent; i++) fm_json_slot_null(t->absent[i], row);
            return p;
        default: __builtin_unreachable(); /* actions are ours: no check that they are in range */
        }
        if (UNLIKELY(!p || literal_differs(p, op))) {
            if (t->n_converted) fm_json_undo(t, row);
            return NULL;
        }
        p += op->literal_len;
    }
}

/* Another template than the first; one that takes three lines in a row becomes the first. */
static __attribute__((noinline)) const char *take_line_otherwise(fm_json_run *run, int32_t row, const char *p)
{
    run->miss_streak++;
    for (int32_t i = 1; i < run->n_templates; i++) {
        const char *q = take_line(hidden_constants(), run, &run->templates[i], row, p, run->end);
        if (!q) continue;
        run->templates[i].hits++;
        if (run->miss_streak >= 3) {
            fm_json_template t = run->templates[i];
            run->templates[i] = run->templates[0];
            run->templates[0] = t;
            run->miss_streak = 0;
        }
        return q;
    }
    return NULL;
}

void RUN_NAME(fm_json_run *run)
{
    const constants *k = hidden_constants();
    const char *p = run->at, *end = run->end;
    int32_t first = run->row, row = first, row_end = run->n_templates > 0 ? run->row_end : row;

    while (p < end && row < row_end) {
        const char *q = take_line(k, run, &run->templates[0], row, p, end);
        if (LIKELY(q)) {
            run->miss_streak = 0;
        } else {
            q = take_line_otherwise(run, row, p);
            if (!q) break;
        }
        p = q;
        if (run->lines) run->lines[row] = run->line++;
        row++;
    }
    run->at = p;
    run->row = row;
    if (run->n_templates > 0) run->templates[0].hits += (uint64_t)(row - first);
}

#endif
