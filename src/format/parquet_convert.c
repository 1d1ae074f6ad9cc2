/* format/parquet_convert.c: physical values become values of our types.
 *
 * Rule  Spark, ParquetVectorUpdaterFactory: which type a column may be read as. Integers are cut to narrower ones, as there;
 *       INT96 is nanoseconds of a day and a Julian day; nanoseconds are rounded down to microseconds. */
#include "base/checked.h"
#include "base/time_text.h"
#include "format/parquet_impl.h"

enum { JULIAN_1970 = 2440588, INT96_SIZE = 12 };

static fm_i128 pow10_128(int n)
{
    fm_i128 x = 1;

    while (n-- > 0) x *= 10;
    return x;
}

/* ---- Which conversion --------------------------------------------------------------------------------------- */

/* Decimals and integers as decimals: no digit may be lost on either side of the point. */
static bool widens(int32_t precision, int32_t scale, const fm_type *want, fm_pq_conversion *out)
{
    if (want->scale < scale || want->precision - want->scale < precision - scale) return false;
    out->scale_up = want->scale - scale;
    return true;
}

static bool from_i32(const fm_pq_element *e, const fm_type *have, const fm_type *want, fm_pq_conversion *out)
{
    bool is_unsigned = e->logical == FM_PQ_INTEGER && !e->is_signed;

    switch (want->id) {
    case FM_TYPE_I8: out->kind = FM_PQ_I32_TO_I8; return fm_type_is_integer(have);
    case FM_TYPE_I16: out->kind = is_unsigned && e->bits == 8 ? FM_PQ_U8_TO_I16 : FM_PQ_I32_TO_I16; return fm_type_is_integer(have);
    case FM_TYPE_I32: out->kind = is_unsigned && e->bits == 16 ? FM_PQ_U16_TO_I32 : FM_PQ_SAME; return fm_type_is_integer(have);
    case FM_TYPE_I64: out->kind = is_unsigned ? FM_PQ_U32_TO_I64 : FM_PQ_I32_TO_I64; return fm_type_is_integer(have);
    case FM_TYPE_F64: out->kind = FM_PQ_I32_TO_F64; return fm_type_is_integer(have) && !is_unsigned;
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: return have->id == want->id || (want->id == FM_TYPE_INTERVAL_YM && have->id == FM_TYPE_I32);
    case FM_TYPE_TIMESTAMP_NTZ: out->kind = FM_PQ_DAYS_TO_US; return have->id == FM_TYPE_DATE;
    case FM_TYPE_DECIMAL:
        out->kind = FM_PQ_I32_TO_DECIMAL;
        if (have->id == FM_TYPE_DECIMAL) return widens(have->precision, have->scale, want, out);
        return have->id <= FM_TYPE_I32 && !is_unsigned && fm_type_is_integer(have) && widens(10, 0, want, out);
    default: return false;
    }
}

static bool from_i64(const fm_pq_element *e, const fm_type *have, const fm_type *want, fm_pq_conversion *out)
{
    switch (want->id) {
    case FM_TYPE_I64: return have->id == FM_TYPE_I64;
    case FM_TYPE_INTERVAL_DT: return have->id == FM_TYPE_I64 || have->id == FM_TYPE_INTERVAL_DT;
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
        if (e->unit == FM_PQ_MILLIS) out->kind = FM_PQ_MILLIS_TO_US;
        if (e->unit == FM_PQ_NANOS) out->kind = FM_PQ_NANOS_TO_US;
        return have->id == want->id || have->id == FM_TYPE_TIMESTAMP_NTZ;
    case FM_TYPE_DECIMAL:
        out->kind = e->logical == FM_PQ_INTEGER && !e->is_signed ? FM_PQ_U64_TO_DECIMAL : FM_PQ_I64_TO_DECIMAL;
        if (have->id == FM_TYPE_DECIMAL) return widens(have->precision, have->scale, want, out);
        return have->id == FM_TYPE_I64 && widens(20, 0, want, out);
    default: return false;
    }
}

static bool from_bytes(const fm_pq_element *e, const fm_type *have, const fm_type *want, fm_pq_conversion *out)
{
    bool fixed = e->type == FM_PQ_FIXED;

    switch (want->id) {
    case FM_TYPE_F32:
    case FM_TYPE_F64: out->kind = FM_PQ_F16_TO_F32; return want->id == FM_TYPE_F32 && have->id == FM_TYPE_F32;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        out->kind = fixed ? FM_PQ_FIXED_TO_VIEW : FM_PQ_SAME;
        return have->id == want->id || (!fixed && fm_type_is_view(have));
    case FM_TYPE_DECIMAL:
        out->kind = fixed ? FM_PQ_FIXED_TO_DECIMAL : FM_PQ_VIEW_TO_DECIMAL;
        return have->id == FM_TYPE_DECIMAL && widens(have->precision, have->scale, want, out);
    default: return false;
    }
}

bool fm_pq_conversion_of(const fm_pq_element *e, const fm_type *have, const fm_type *want, fm_pq_conversion *out)
{
    static const uint8_t sizes[FM_PQ_TYPES] = {1, 4, 8, INT96_SIZE, 4, 8, sizeof(fm_view), 0};

    *out = (fm_pq_conversion){.kind = FM_PQ_SAME, .want = want, .size = (int32_t)fm_type_width(want)};
    out->raw_size = e->type == FM_PQ_FIXED ? e->type_length : sizes[e->type];
    if (have->id == FM_TYPE_NULL || want->id == FM_TYPE_NULL) {
        out->kind = FM_PQ_TO_VOID;
        return have->id == FM_TYPE_NULL;
    }
    switch (e->type) {
    case FM_PQ_BOOLEAN: return want->id == FM_TYPE_BOOL;
    case FM_PQ_INT32: return from_i32(e, have, want, out);
    case FM_PQ_INT64: return from_i64(e, have, want, out);
    case FM_PQ_INT96: out->kind = FM_PQ_INT96_TO_US; return want->id == FM_TYPE_TIMESTAMP;
    case FM_PQ_FLOAT: out->kind = want->id == FM_TYPE_F64 ? FM_PQ_F32_TO_F64 : FM_PQ_SAME; return want->id == FM_TYPE_F32 || want->id == FM_TYPE_F64;
    case FM_PQ_DOUBLE: return want->id == FM_TYPE_F64;
    default: return from_bytes(e, have, want, out);
    }
}

/* ---- Conversions -------------------------------------------------------------------------------------------- */

#define LOAD(T, raw, i) \
    T x;                \
    memcpy(&x, (const char *)(raw) + (i) * (int64_t)sizeof(T), sizeof x)

#define NUMBERS(name, FROM, TO, MADE)                               \
    static void name(const void *raw, int64_t n, TO *restrict out) \
    {                                                               \
        for (int64_t i = 0; i < n; i++) {                           \
            LOAD(FROM, raw, i);                                     \
            out[i] = (TO)(MADE);                                    \
        }                                                           \
    }
NUMBERS(i32_to_i8, uint32_t, int8_t, x)
NUMBERS(i32_to_i16, uint32_t, int16_t, x)
NUMBERS(i32_to_i64, int32_t, int64_t, x)
NUMBERS(u8_to_i16, uint32_t, int16_t, x & 0xFF)
NUMBERS(u16_to_i32, uint32_t, int32_t, x & 0xFFFF)
NUMBERS(u32_to_i64, uint32_t, int64_t, x)
NUMBERS(i32_to_f64, int32_t, double, x)
NUMBERS(f32_to_f64, float, double, x)
NUMBERS(nanos_to_us, int64_t, int64_t, fm_floor_div(x, 1000))
#undef NUMBERS

static bool millis_to_us(const void *raw, int64_t n, int64_t *out)
{
    bool ok = true;

    for (int64_t i = 0; i < n; i++) {
        LOAD(int64_t, raw, i);
        ok &= fm_mul_i64(x, FM_US_PER_MS, &out[i]);
    }
    return ok;
}

static bool days_to_us(const void *raw, int64_t n, int64_t *out)
{
    bool ok = true;

    for (int64_t i = 0; i < n; i++) {
        LOAD(int32_t, raw, i);
        ok &= fm_mul_i64(x, FM_US_PER_DAY, &out[i]);
    }
    return ok;
}

/* Days too far away wrap around, as in Spark. */
static void int96_to_us(const void *raw, int64_t n, int64_t *out)
{
    const char *at = raw;

    for (int64_t i = 0; i < n; i++, at += INT96_SIZE) {
        int64_t nanos;
        int32_t day;
        memcpy(&nanos, at, 8);
        memcpy(&day, at + 8, 4);
        out[i] = (int64_t)((uint64_t)((int64_t)day - JULIAN_1970) * (uint64_t)FM_US_PER_DAY + (uint64_t)(nanos / 1000));
    }
}

static float half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 0x3FF, bits;
    float x;

    if (exponent == 0) {
        x = (float)fraction * 0x1p-24F;
        return sign ? -x : x;
    }
    bits = sign | (exponent == 31 ? 255U : exponent + 112) << 23 | fraction << 13;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void f16_to_f32(const void *raw, int64_t n, float *out)
{
    for (int64_t i = 0; i < n; i++) {
        LOAD(uint16_t, raw, i);
        out[i] = half(x);
    }
}

/* Big-endian two's complement of any length. False: more than 128 bits. */
static bool big_decimal(const unsigned char *p, size_t len, fm_i128 *out)
{
    unsigned char fill = len && p[0] & 0x80 ? 0xFF : 0;
    fm_u128 x = fill ? ~(fm_u128)0 : 0;

    for (; len > 16; p++, len--)
        if (*p != fill) return false;
    if (len == 16 && (p[0] & 0x80) != (fill & 0x80)) return false;
    for (size_t i = 0; i < len; i++) x = x << 8 | p[i];
    *out = (fm_i128)x;
    return true;
}

/* Scales up, in place, and checks that every value has at most the type's digits. */
static bool fit_decimals(const fm_pq_conversion *c, int64_t n, fm_i128 *out)
{
    fm_i128 limit = pow10_128(c->want->precision), before = pow10_128(c->want->precision - c->scale_up), factor = pow10_128(c->scale_up);
    bool ok = true;

    if (c->scale_up == 0) {
        for (int64_t i = 0; i < n; i++) ok &= out[i] < limit && out[i] > -limit;
        return ok;
    }
    for (int64_t i = 0; i < n; i++) {
        if (out[i] >= before || out[i] <= -before) return false;
        out[i] *= factor;
    }
    return ok;
}

static bool decimals(const fm_pq_conversion *c, const void *raw, int64_t n, fm_i128 *out)
{
    const unsigned char *bytes = raw;

    for (int64_t i = 0; i < n; i++) {
        if (c->kind == FM_PQ_I32_TO_DECIMAL) {
            LOAD(int32_t, raw, i);
            out[i] = x;
        } else if (c->kind == FM_PQ_I64_TO_DECIMAL) {
            LOAD(int64_t, raw, i);
            out[i] = x;
        } else if (c->kind == FM_PQ_U64_TO_DECIMAL) {
            LOAD(uint64_t, raw, i);
            out[i] = x;
        } else if (c->kind == FM_PQ_FIXED_TO_DECIMAL) {
            if (!big_decimal(bytes + i * c->raw_size, (size_t)c->raw_size, &out[i])) return false;
        } else {
            LOAD(fm_view, raw, i);
            if (!big_decimal((const unsigned char *)fm_view_ptr(&x), x.len, &out[i])) return false;
        }
    }
    return fit_decimals(c, n, out);
}

static void fixed_to_view(const fm_pq_conversion *c, const char *raw, int64_t n, fm_view *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = fm_view_of(raw + i * c->raw_size, (size_t)c->raw_size);
}

bool fm_pq_convert_run(const fm_pq_conversion *c, const void *raw, int64_t n, void *out)
{
    switch (c->kind) {
    case FM_PQ_SAME:
        if (n) memcpy(out, raw, (size_t)n * (size_t)c->size);
        return true;
    case FM_PQ_I32_TO_I8: i32_to_i8(raw, n, out); return true;
    case FM_PQ_I32_TO_I16: i32_to_i16(raw, n, out); return true;
    case FM_PQ_I32_TO_I64: i32_to_i64(raw, n, out); return true;
    case FM_PQ_U8_TO_I16: u8_to_i16(raw, n, out); return true;
    case FM_PQ_U16_TO_I32: u16_to_i32(raw, n, out); return true;
    case FM_PQ_U32_TO_I64: u32_to_i64(raw, n, out); return true;
    case FM_PQ_I32_TO_F64: i32_to_f64(raw, n, out); return true;
    case FM_PQ_F32_TO_F64: f32_to_f64(raw, n, out); return true;
    case FM_PQ_F16_TO_F32: f16_to_f32(raw, n, out); return true;
    case FM_PQ_DAYS_TO_US: return days_to_us(raw, n, out);
    case FM_PQ_NANOS_TO_US: nanos_to_us(raw, n, out); return true;
    case FM_PQ_MILLIS_TO_US: return millis_to_us(raw, n, out);
    case FM_PQ_INT96_TO_US: int96_to_us(raw, n, out); return true;
    case FM_PQ_I32_TO_DECIMAL:
    case FM_PQ_I64_TO_DECIMAL:
    case FM_PQ_U64_TO_DECIMAL:
    case FM_PQ_FIXED_TO_DECIMAL:
    case FM_PQ_VIEW_TO_DECIMAL: return decimals(c, raw, n, out);
    case FM_PQ_FIXED_TO_VIEW: fixed_to_view(c, raw, n, out); return true;
    case FM_PQ_TO_VOID: return true;
    }
    return false;
}
