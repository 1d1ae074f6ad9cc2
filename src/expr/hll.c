/* expr/hll.c: HyperLogLog++. */
#include "expr/hll.h"

#include <math.h>
#include <stdlib.h>

#include "expr/hll_table.h"

enum {
    LIST_FIRST = 4, /* registers a new list has room for */
    LIST_MAX = 64,  /* beyond: a byte for every register; a list is searched from end to end */
    RUN_BITS = 6,
    RUN_MASK = (1 << RUN_BITS) - 1,
    NEIGHBOURS = 6  /* entries of the table that a bias is the mean of */
};

struct fm_hll {
    uint16_t n, cap;   /* of the list; cap 0: registers, 2^n of them */
    uint32_t cells[];  /* list: register << RUN_BITS | run; registers: a byte each */
};

static size_t registers_of(int precision) { return (size_t)1 << precision; }
static bool is_list(const fm_hll *s) { return s->cap > 0; }
static uint8_t *bytes_of(fm_hll *s) { return (uint8_t *)s->cells; }
static const uint8_t *const_bytes_of(const fm_hll *s) { return (const uint8_t *)s->cells; }

int fm_hll_precision(double relative_sd)
{
    double p = ceil(2.0 * log(1.106 / relative_sd) / log(2.0));
    if (!(p >= 0)) return 0; /* NaN too */
    return p > 1000 ? 1000 : (int)p;
}

void fm_hll_free(fm_hll *sketch) { free(sketch); }

size_t fm_hll_memory(const fm_hll *sketch)
{
    if (!sketch) return 0;
    return sizeof *sketch + (is_list(sketch) ? sketch->cap * sizeof(uint32_t) : (size_t)1 << sketch->n);
}

static fm_status new_registers(int precision, fm_hll **out, fm_error *err)
{
    *out = calloc(1, sizeof **out + registers_of(precision));
    if (!*out) return fm_no_memory(NULL, err);
    (*out)->n = (uint16_t)precision;
    return FM_OK;
}

static fm_status spread(fm_hll **sketch, int precision, fm_error *err)
{
    fm_hll *list = *sketch, *full;
    FM_TRY(new_registers(precision, &full, err));
    for (int i = 0; i < list->n; i++) bytes_of(full)[list->cells[i] >> RUN_BITS] = list->cells[i] & RUN_MASK;
    free(list);
    *sketch = full;
    return FM_OK;
}

/* Room for one more in the list, or no list any more. */
static fm_status make_room(fm_hll **sketch, int precision, fm_error *err)
{
    fm_hll *s = *sketch;
    uint16_t cap = s ? (uint16_t)(s->cap * 2) : LIST_FIRST;
    if (s && s->n < s->cap) return FM_OK;
    if (cap > LIST_MAX) return spread(sketch, precision, err);
    s = realloc(s, sizeof *s + cap * sizeof(uint32_t));
    if (!s) return fm_no_memory(NULL, err);
    if (!*sketch) s->n = 0;
    s->cap = cap;
    *sketch = s;
    return FM_OK;
}

static fm_status raise(fm_hll **sketch, int precision, uint32_t index, uint32_t run, fm_error *err)
{
    if (*sketch && is_list(*sketch)) {
        fm_hll *s = *sketch;
        for (int i = 0; i < s->n; i++) {
            if (s->cells[i] >> RUN_BITS != index) continue;
            if ((s->cells[i] & RUN_MASK) < run) s->cells[i] = index << RUN_BITS | run;
            return FM_OK;
        }
    }
    if (!*sketch || is_list(*sketch)) FM_TRY(make_room(sketch, precision, err));
    if (is_list(*sketch)) {
        (*sketch)->cells[(*sketch)->n++] = index << RUN_BITS | run;
    } else {
        uint8_t *byte = bytes_of(*sketch) + index;
        if (*byte < run) *byte = (uint8_t)run;
    }
    return FM_OK;
}

fm_status fm_hll_add(fm_hll **sketch, int precision, uint64_t hash, fm_error *err)
{
    uint64_t rest = hash << precision | (uint64_t)1 << (precision - 1); /* a stop: never all zeros */
    fm_assert(precision >= FM_HLL_PRECISION_MIN && precision <= FM_HLL_PRECISION_MAX);
    return raise(sketch, precision, (uint32_t)(hash >> (64 - precision)), (uint32_t)__builtin_clzll(rest) + 1, err);
}

fm_status fm_hll_merge(fm_hll **dst, int precision, const fm_hll *src, fm_error *err)
{
    if (!src) return FM_OK;
    if (is_list(src)) {
        for (int i = 0; i < src->n; i++)
            FM_TRY(raise(dst, precision, src->cells[i] >> RUN_BITS, src->cells[i] & RUN_MASK, err));
        return FM_OK;
    }
    if (!*dst) FM_TRY(new_registers(precision, dst, err));
    if (is_list(*dst)) FM_TRY(spread(dst, precision, err));
    uint8_t *d = bytes_of(*dst);
    const uint8_t *s = const_bytes_of(src);
    for (size_t i = 0; i < registers_of(precision); i++) d[i] = d[i] > s[i] ? d[i] : s[i];
    return FM_OK;
}

/* ---- The estimate ------------------------------------------------------------------------------------------------- */

/* The mean bias of the NEIGHBOURS entries whose raw estimates lie nearest to e. */
static double bias_at(int precision, double e)
{
    const fm_hll_biases *t = &fm_hll_bias_table[precision - FM_HLL_BIAS_PRECISION_MIN];
    int at = 0, low, high;
    double sum = 0;
    while (at < t->n && t->raw[at] < e) at++;
    low = at - NEIGHBOURS + 1 > 0 ? at - NEIGHBOURS + 1 : 0;
    high = low + NEIGHBOURS < t->n ? low + NEIGHBOURS : t->n;
    while (high < t->n && (e - t->raw[high]) * (e - t->raw[high]) < (e - t->raw[low]) * (e - t->raw[low])) {
        low++;
        high++;
    }
    for (int i = low; i < high; i++) sum += t->bias[i];
    return sum / (high - low);
}

static double alpha_m2(int precision)
{
    double m = (double)registers_of(precision);
    switch (precision) {
    case 4: return 0.673 * m * m;
    case 5: return 0.697 * m * m;
    case 6: return 0.709 * m * m;
    default: return 0.7213 / (1.0 + 1.079 / m) * m * m;
    }
}

int64_t fm_hll_estimate(const fm_hll *sketch, int precision)
{
    /* Below these, counting empty registers is better. By precision - 4. */
    static const double thresholds[FM_HLL_BIAS_ROWS] = {10,   20,   40,   80,    220,   400,   900,   1800,
                                                        3100, 6500, 15500, 20000, 50000, 120000, 350000};
    size_t n = registers_of(precision);
    double m = (double)n, inverse = 0, empty = 0, e;
    bool has_table = precision < FM_HLL_BIAS_PRECISION_MIN + FM_HLL_BIAS_ROWS;
    if (!sketch) return 0;
    if (is_list(sketch)) {
        empty = m - sketch->n;
        inverse = empty;
        for (int i = 0; i < sketch->n; i++) inverse += 1.0 / (double)((uint64_t)1 << (sketch->cells[i] & RUN_MASK));
    } else {
        const uint8_t *runs = const_bytes_of(sketch);
        for (size_t i = 0; i < n; i++) {
            inverse += 1.0 / (double)((uint64_t)1 << runs[i]);
            empty += runs[i] == 0;
        }
    }
    e = alpha_m2(precision) / inverse;
    if (empty > 0) {
        double h = m * log(m / empty);
        if ((has_table && h <= thresholds[precision - FM_HLL_BIAS_PRECISION_MIN]) || e <= 2.5 * m)
            return (int64_t)floor(h + 0.5);
    }
    if (has_table && e < 5.0 * m) e -= bias_at(precision, e);
    return (int64_t)floor(e + 0.5);
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

enum { SAVED_EMPTY, SAVED_LIST, SAVED_REGISTERS };

void fm_hll_save(const fm_hll *sketch, int precision, fm_strbuf *out)
{
    uint8_t kind = !sketch ? SAVED_EMPTY : is_list(sketch) ? SAVED_LIST : SAVED_REGISTERS;
    fm_strbuf_add_char(out, (char)kind);
    if (kind == SAVED_LIST) {
        fm_strbuf_add(out, (fm_str){(const char *)&sketch->n, sizeof sketch->n});
        fm_strbuf_add(out, (fm_str){(const char *)sketch->cells, sketch->n * sizeof(uint32_t)});
    } else if (kind == SAVED_REGISTERS) {
        fm_strbuf_add(out, (fm_str){(const char *)const_bytes_of(sketch), registers_of(precision)});
    }
}

static fm_status corrupt(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED",
                   "A stored state of approx_count_distinct() does not have the form it was written in.");
}

static fm_status load_list(fm_str bytes, size_t *at, int precision, fm_hll **sketch, fm_error *err)
{
    uint16_t n;
    if (bytes.len - *at < sizeof n) return corrupt(err);
    memcpy(&n, bytes.ptr + *at, sizeof n);
    *at += sizeof n;
    if (n > LIST_MAX || bytes.len - *at < n * sizeof(uint32_t)) return corrupt(err);
    for (int i = 0; i < n; i++, *at += sizeof(uint32_t)) {
        uint32_t cell;
        memcpy(&cell, bytes.ptr + *at, sizeof cell);
        if (cell >> RUN_BITS >= registers_of(precision)) return corrupt(err);
        FM_TRY(raise(sketch, precision, cell >> RUN_BITS, cell & RUN_MASK, err));
    }
    return FM_OK;
}

fm_status fm_hll_load(fm_str bytes, size_t *at, int precision, fm_hll **sketch, fm_error *err)
{
    uint8_t kind;
    if (bytes.len - *at < 1) return corrupt(err);
    kind = (uint8_t)bytes.ptr[(*at)++];
    if (kind == SAVED_EMPTY) return FM_OK;
    if (kind == SAVED_LIST) return load_list(bytes, at, precision, sketch, err);
    if (kind != SAVED_REGISTERS || bytes.len - *at < registers_of(precision)) return corrupt(err);
    for (size_t i = 0; i < registers_of(precision); i++)
        if ((uint8_t)bytes.ptr[*at + i] > RUN_MASK) return corrupt(err);
    FM_TRY(new_registers(precision, sketch, err));
    memcpy(bytes_of(*sketch), bytes.ptr + *at, registers_of(precision));
    *at += registers_of(precision);
    return FM_OK;
}
