/* expr/agg_histogram_numeric.c: histogram_numeric(x, bins): centres and heights of bins of different widths.
 *
 * State   bins sorted by centre, on the heap. A value gets a bin of its own, or adds to one with its centre; when there are
 *         too many, the two closest become one.
 * Rule    Spark, HistogramNumeric and NumericHistogram (Ben-Haim and Tom-Tov, "A Streaming Parallel Decision Tree
 *         Algorithm"). Of pairs equally close java.util.Random picks, with the seed Spark gives it. As Spark merges what a
 *         micro-batch brought into the state, the state is `earlier`, the bins of the batch at work are `fresh`.
 * Cases   tests/golden/functions/histogram_numeric.test */
#include <math.h>
#include <stdlib.h>

#include "expr/agg_cell.h"
#include "expr/agg_decimal.h"
#include "expr/call_args.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

enum { BINS_MAX = 1000000, BINS_FIRST = 8 };

typedef struct bin {
    double x, y;
} bin;

typedef struct bins {
    bin *bins;
    int32_t n, cap;
    uint64_t random; /* state of java.util.Random; 0: not begun */
} bins;

typedef struct histogram {
    bins earlier, fresh;
} histogram;

typedef struct bound {
    int32_t n;
} bound;

static int32_t most_of(const fm_agg_call *call) { return ((const bound *)call->bound)->n; }

static fm_status bind_bins(fm_bind *b, int32_t *out, fm_error *err)
{
    fm_expr *cast;
    fm_value value;
    if (!fm_type_implicit(b->conf, b->args[1]->type, fm_type_i32())) return fm_fail_arg_type(b, 1, "\"INT\"", err);
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `nb` should be a foldable %s expression.", fm_type_i32(), NULL);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[1], fm_type_i32(), false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    if (fm_vec_is_null(&value, 0)) return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The `nb` must not be null.", NULL, NULL);
    *out = fm_vec_i32(&value)[0];
    if (*out < 2 || *out > BINS_MAX)
        return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE", "The `nb` must be between [2, 1000000].", NULL, NULL);
    return FM_OK;
}

static fm_status bind(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type, *pair;
    bound *own = fm_arena_one(b->arena, bound);
    if (!own) return fm_no_memory(b->arena, err);
    if (t->id == FM_TYPE_STRING || t->id == FM_TYPE_NULL) b->cast_args[0] = t = fm_type_f64();
    if (!fm_type_is_numeric(t) && t->id != FM_TYPE_DATE && !fm_type_is_timestamp(t) && t->id != FM_TYPE_INTERVAL_YM &&
        t->id != FM_TYPE_INTERVAL_DT)
        return fm_fail_arg_type(b, 0,
                                "(\"NUMERIC\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\" or \"INTERVAL YEAR TO MONTH\" or "
                                "\"INTERVAL DAY TO SECOND\")", err);
    FM_TRY(bind_bins(b, &own->n, err));
    b->bound = own;
    fm_field fields[2] = {{FM_STR("x"), t, true}, {FM_STR("y"), fm_type_f64(), true}};
    pair = fm_type_struct(b->arena, fields, 2);
    b->returns = pair ? fm_type_list(b->arena, pair, true) : NULL;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(histogram *);
}

/* ---- Bins --------------------------------------------------------------------------------------------------------- */

static uint32_t next_bits(bins *b, int bits)
{
    if (!b->random) b->random = (UINT64_C(31183) ^ UINT64_C(0x5DEECE66D)) & ((UINT64_C(1) << 48) - 1);
    b->random = (b->random * UINT64_C(0x5DEECE66D) + 0xB) & ((UINT64_C(1) << 48) - 1);
    return (uint32_t)(b->random >> (48 - bits));
}

/* java.util.Random.nextDouble() */
static double next_double(bins *b)
{
    uint64_t high = next_bits(b, 26);
    return (double)(high << 27 | next_bits(b, 27)) * 0x1p-53;
}

static void trim(bins *b, int32_t most)
{
    while (b->n > most) {
        double closest = b->bins[1].x - b->bins[0].x, sum;
        int32_t at = 0, ties = 1;
        for (int32_t i = 1; i < b->n - 1; i++) {
            double gap = b->bins[i + 1].x - b->bins[i].x;
            if (gap < closest) {
                closest = gap;
                at = i;
                ties = 1;
            } else if (gap == closest && next_double(b) <= 1.0 / ++ties) {
                at = i;
            }
        }
        bin *left = &b->bins[at], *right = left + 1;
        sum = left->y + right->y;
        left->x *= left->y / sum;
        left->x += right->x / sum * right->y;
        left->y = sum;
        memmove(right, right + 1, (size_t)(b->n - at - 2) * sizeof *right);
        b->n--;
    }
}

static fm_status reserve(bins *b, int32_t n, fm_error *err)
{
    int32_t cap = b->cap ? b->cap : BINS_FIRST;
    bin *grown;
    if (n <= b->cap) return FM_OK;
    while (cap < n) cap *= 2;
    grown = realloc(b->bins, (size_t)cap * sizeof *grown);
    if (!grown) return fm_no_memory(NULL, err);
    b->bins = grown;
    b->cap = cap;
    return FM_OK;
}

static fm_status add(bins *b, double x, int32_t most, fm_error *err)
{
    int32_t at = 0;
    for (int32_t low = 0, high = b->n; low < high;) {
        at = low + (high - low) / 2;
        if (b->bins[at].x > x) high = at;
        else if (b->bins[at].x < x) low = ++at;
        else break;
    }
    if (at < b->n && b->bins[at].x == x) {
        b->bins[at].y++;
        return FM_OK;
    }
    FM_TRY(reserve(b, b->n + 1, err));
    memmove(&b->bins[at + 1], &b->bins[at], (size_t)(b->n - at) * sizeof(bin));
    b->bins[at] = (bin){x, 1};
    b->n++;
    trim(b, most);
    return FM_OK;
}

static int by_centre(const bin *a, const bin *b)
{
    if (isnan(a->x) || isnan(b->x)) return (isnan(a->x) != 0) - (isnan(b->x) != 0);
    return (a->x > b->x) - (a->x < b->x);
}

static fm_status take_in(bins *dst, const bins *src, int32_t most, fm_error *err)
{
    int32_t n = dst->n + src->n, i = dst->n, j = src->n;
    FM_TRY(reserve(dst, n ? n : 1, err));
    dst->n = n;
    while (j > 0) { /* from the end; of equal ones dst's stand first */
        if (i > 0 && by_centre(&dst->bins[i - 1], &src->bins[j - 1]) > 0) dst->bins[--n] = dst->bins[--i];
        else dst->bins[--n] = src->bins[--j];
    }
    trim(dst, most);
    return FM_OK;
}

static fm_status settle(histogram *h, int32_t most, fm_error *err)
{
    if (!h) return FM_OK;
    h->earlier.random = 0; /* Spark reads its state back, with a new Random */
    if (h->fresh.n == 0) return FM_OK;
    FM_TRY(take_in(&h->earlier, &h->fresh, most, err));
    h->earlier.random = 0;
    free(h->fresh.bins);
    h->fresh = (bins){0};
    return FM_OK;
}

static fm_status open(histogram **h, fm_error *err)
{
    if (!*h) *h = calloc(1, sizeof **h);
    return *h ? FM_OK : fm_no_memory(NULL, err);
}

/* ---- The entry ---------------------------------------------------------------------------------------------------- */

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    double wide[FM_AGG_CHUNK];
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, 1, keep, from, len, buffer);
        const double *x = fm_agg_doubles(&args[0], from, len, wide);
        for (int32_t i = 0; i < len; i++) {
            histogram **h = fm_agg_state(call, entries[from + i]);
            if (live && !live[i]) continue;
            FM_TRY(open(h, err));
            FM_TRY(add(&(*h)->fresh, x[i], most_of(call), err));
        }
    }
    return FM_OK;
}

static fm_status merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        histogram **d = fm_agg_state(call, dst[i]), *s = *(histogram **)fm_agg_state(call, src[i]);
        if (!s) continue;
        FM_TRY(open(d, err));
        FM_TRY(settle(*d, most_of(call), err));
        FM_TRY(settle(s, most_of(call), err));
        FM_TRY(take_in(&(*d)->earlier, &s->earlier, most_of(call), err));
    }
    return FM_OK;
}

static int64_t whole(double x)
{
    if (isnan(x)) return 0;
    if (x >= 9223372036854775807.0) return INT64_MAX;
    if (x <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)x;
}

static void put(fm_builder *b, double x)
{
    const fm_type *t = fm_builder_type(b);
    char text[FM_DOUBLE_TEXT_SIZE];
    fm_i128 unscaled;
    if (t->id == FM_TYPE_F64 || t->id == FM_TYPE_F32) {
        fm_builder_f64(b, x);
    } else if (t->id != FM_TYPE_DECIMAL) {
        fm_builder_i64(b, whole(x));
    } else {
        size_t len = fm_double_text(x, text);
        if (fm_text_to_decimal((fm_str){text, len}, t->precision, t->scale, &unscaled)) fm_builder_decimal(b, unscaled);
        else fm_builder_null(b);
    }
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    fm_builder *b = fm_builder_new(arena, call->returns, n), *pair;
    if (!b) return fm_no_memory(arena, err);
    pair = fm_builder_child(b, 0);
    for (int32_t i = 0; i < n; i++) {
        histogram *h = *(histogram **)fm_agg_state(call, entries[i]);
        FM_TRY(settle(h, most_of(call), err));
        if (!h || h->earlier.n == 0) {
            fm_builder_null(b);
            continue;
        }
        for (int32_t k = 0; k < h->earlier.n; k++) {
            put(fm_builder_child(pair, 0), h->earlier.bins[k].x);
            fm_builder_f64(fm_builder_child(pair, 1), h->earlier.bins[k].y);
            fm_builder_end(pair);
        }
        fm_builder_end(b);
    }
    return fm_builder_finish(b, out, err);
}

static void fini(const fm_agg_call *call, void *state)
{
    histogram *h = *(histogram **)state;
    (void)call;
    if (!h) return;
    free(h->earlier.bins);
    free(h->fresh.bins);
    free(h);
    *(histogram **)state = NULL;
}

/* u32 bins, of each f64 centre, f64 height. */
static fm_status save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err)
{
    histogram *h = *(histogram *const *)state;
    FM_TRY(settle(h, most_of(call), err));
    uint32_t n = h ? (uint32_t)h->earlier.n : 0;
    fm_agg_put(out, &n, sizeof n);
    if (n) fm_agg_put(out, h->earlier.bins, n * sizeof(bin));
    return fm_agg_saved(out, err);
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    histogram **h = state;
    uint32_t n;
    if (!fm_agg_get(bytes, at, &n, sizeof n) || n > (uint32_t)most_of(call) || (bytes.len - *at) / sizeof(bin) < n)
        return fm_agg_corrupt(call, err);
    if (n == 0) return FM_OK;
    FM_TRY(open(h, err));
    FM_TRY(reserve(&(*h)->earlier, (int32_t)n, err));
    fm_agg_get(bytes, at, (*h)->earlier.bins, n * sizeof(bin));
    (*h)->earlier.n = (int32_t)n;
    return FM_OK;
}

static size_t memory(const fm_agg_call *call, const void *state)
{
    const histogram *h = *(histogram *const *)state;
    (void)call;
    return h ? sizeof *h + ((size_t)h->earlier.cap + (size_t)h->fresh.cap) * sizeof(bin) : 0;
}

const fm_aggregate fm_agg_histogram_numeric = {
    .name = "histogram_numeric", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .unread = 1 << 1, .unsliced = true, .bind = bind, .state_size = state_size, .update = update, .merge = merge,
    .finish = finish, .fini = fini, .save = save, .load = load, .memory = memory,
    .usage = "histogram_numeric(expr, bins)", .since = "3.3.0",
    .doc = "Returns the centres and heights of the bins of a histogram.",
};
