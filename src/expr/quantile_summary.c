/* expr/quantile_summary.c: the summary of Greenwald and Khanna. */
#include "expr/quantile_summary.h"

#include <math.h>
#include <stdlib.h>

enum {
    HEAD_FIRST = 16,
    HEAD_MAX = 50000,       /* numbers that wait to be sorted in */
    COMPRESS_FROM = 10000   /* samples from which on sorting in is followed by compressing */
};

typedef fm_quantile_sample sample;
typedef fm_quantile_list list;

static const list empty_list = {0};

void fm_quantile_summary_free(fm_quantile_summary *s)
{
    if (!s) return;
    free(s->earlier.samples);
    free(s->fresh.samples);
    free(s->head);
    free(s);
}

size_t fm_quantile_summary_memory(const fm_quantile_summary *s)
{
    if (!s) return 0;
    return sizeof *s + ((size_t)s->earlier.n + (size_t)s->fresh.n) * sizeof(sample) + (size_t)s->cap_head * sizeof(double);
}

static sample *new_samples(int64_t n) { return malloc((size_t)(n ? n : 1) * sizeof(sample)); }

static void replace(list *l, sample *samples, int32_t n, int64_t count)
{
    free(l->samples);
    *l = (list){samples, n, count};
}

/* floor of a share of a count; beyond 63 bits it is as good as all. */
static int64_t allowance(double error, int64_t count)
{
    double x = floor(2 * error * (double)count);
    return x < 9.2e18 ? (int64_t)x : INT64_MAX / 4;
}

/* ---- Sorting in, folding ------------------------------------------------------------------------------------------ */

/* As Java orders doubles: -0.0 before 0.0, NaN last. */
static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (x < y) return -1;
    if (x > y) return 1;
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    return (signbit(y) != 0) - (signbit(x) != 0);
}

/* Sorts the head into the samples. */
static fm_status sort_in(fm_quantile_summary *s, double error, fm_error *err)
{
    const list *old = &s->fresh;
    sample *merged;
    int32_t at = 0, n = 0;
    int64_t count = old->count;

    if (s->n_head == 0) return FM_OK;
    merged = new_samples((int64_t)old->n + s->n_head);
    if (!merged) return fm_no_memory(NULL, err);
    qsort(s->head, (size_t)s->n_head, sizeof *s->head, by_value);
    for (int32_t i = 0; i < s->n_head; i++) {
        double x = s->head[i];
        bool is_end;
        while (at < old->n && old->samples[at].value <= x) merged[n++] = old->samples[at++];
        count++;
        /* The ranks of the smallest and of the largest are known. */
        is_end = n == 0 || (at == old->n && i == s->n_head - 1);
        merged[n++] = (sample){x, 1, is_end ? 0 : allowance(error, count)};
    }
    while (at < old->n) merged[n++] = old->samples[at++];
    replace(&s->fresh, merged, n, count);
    s->n_head = 0;
    return FM_OK;
}

/* Folds neighbours, from the last down, as long as what a sample then stands for is below the threshold; the first
 * and the last stay. In place: returns how many are left. */
static int32_t fold(sample *samples, int32_t n, double threshold)
{
    int32_t to = n - 1; /* what is kept is gathered at the end, from here down */
    sample first, head;
    if (n == 0) return 0;
    first = samples[0];
    head = samples[n - 1];
    for (int32_t i = n - 2; i >= 1; i--) {
        sample x = samples[i];
        if ((double)x.gap + (double)head.gap + (double)head.slack < threshold) {
            head.gap += x.gap;
        } else {
            samples[to--] = head;
            head = x;
        }
    }
    samples[to--] = head;
    if (first.value <= head.value && n > 1) samples[to--] = first;
    memmove(samples, samples + to + 1, (size_t)(n - 1 - to) * sizeof *samples);
    return n - 1 - to;
}

static void compress(list *l, double error) { l->n = fold(l->samples, l->n, 2 * error * (double)l->count); }

fm_status fm_quantile_summary_add(fm_quantile_summary **s, double error, double x, fm_error *err)
{
    fm_quantile_summary *q = *s;
    int64_t most = (int64_t)fmin(1 / error, 1e9) * 4; /* samples */

    if (!q) *s = q = calloc(1, sizeof *q);
    if (!q) return fm_no_memory(NULL, err);
    if (q->n_head == q->cap_head) {
        int32_t cap = q->cap_head ? q->cap_head * 2 : HEAD_FIRST;
        double *head = realloc(q->head, (size_t)cap * sizeof *head);
        if (!head) return fm_no_memory(NULL, err);
        q->head = head;
        q->cap_head = cap;
    }
    q->head[q->n_head++] = x;
    if (q->n_head >= HEAD_MAX) {
        FM_TRY(sort_in(q, error, err));
        if (q->fresh.n >= COMPRESS_FROM) compress(&q->fresh, error);
    }
    if (q->fresh.n >= most) { /* checked after every number, as Spark does: the head goes in early */
        FM_TRY(sort_in(q, error, err));
        compress(&q->fresh, error);
    }
    return FM_OK;
}

/* ---- Merging ------------------------------------------------------------------------------------------------------ */

/* dst becomes dst and src, both compressed. Samples that lie among those of the other side are less sure than they
 * were, by what the other side may be wrong. */
static fm_status take_in(list *dst, const list *src, double error, fm_error *err)
{
    int64_t count = dst->count + src->count;
    int64_t more_of_dst = allowance(error, src->count), more_of_src = allowance(error, dst->count);
    int32_t i = 0, j = 0, n = 0;
    sample *merged;

    if (src->count == 0) return FM_OK;
    merged = new_samples((int64_t)dst->n + src->n);
    if (!merged) return fm_no_memory(NULL, err);
    if (dst->count == 0) {
        memcpy(merged, src->samples, (size_t)src->n * sizeof *merged);
        replace(dst, merged, src->n, src->count);
        return FM_OK;
    }
    while (i < dst->n && j < src->n) {
        if (dst->samples[i].value < src->samples[j].value) {
            merged[n] = dst->samples[i++];
            if (j > 0) merged[n].slack += more_of_dst;
        } else {
            merged[n] = src->samples[j++];
            if (i > 0) merged[n].slack += more_of_src;
        }
        n++;
    }
    while (i < dst->n) merged[n++] = dst->samples[i++];
    while (j < src->n) merged[n++] = src->samples[j++];
    replace(dst, merged, n, count);
    compress(dst, error);
    return FM_OK;
}

fm_status fm_quantile_summary_settle(fm_quantile_summary *s, double error, fm_error *err)
{
    if (!s || (s->n_head == 0 && s->fresh.count == 0)) return FM_OK;
    FM_TRY(sort_in(s, error, err));
    free(s->head);
    s->head = NULL;
    s->cap_head = 0;
    compress(&s->fresh, error);
    if (s->earlier.count == 0) {
        free(s->earlier.samples);
        s->earlier = s->fresh;
    } else {
        FM_TRY(take_in(&s->earlier, &s->fresh, error, err));
        free(s->fresh.samples);
    }
    s->fresh = empty_list;
    return FM_OK;
}

fm_status fm_quantile_summary_merge(fm_quantile_summary **dst, fm_quantile_summary *src, double error, fm_error *err)
{
    if (!src) return FM_OK;
    if (!*dst) *dst = calloc(1, sizeof **dst);
    if (!*dst) return fm_no_memory(NULL, err);
    FM_TRY(fm_quantile_summary_settle(*dst, error, err));
    FM_TRY(fm_quantile_summary_settle(src, error, err));
    return take_in(&(*dst)->earlier, &src->earlier, error, err);
}

/* ---- Asking ------------------------------------------------------------------------------------------------------- */

static double value_at(const list *l, double error, int64_t off, double percentage)
{
    int64_t rank, least = 0;
    if (percentage <= error || l->n == 1) return l->samples[0].value;
    if (percentage >= 1 - error) return l->samples[l->n - 1].value;
    rank = (int64_t)ceil(percentage * (double)l->count);
    for (int32_t i = 0; i < l->n - 1; i++) {
        least += l->samples[i].gap;
        if (least + l->samples[i].slack - off <= rank && rank <= least + off) return l->samples[i].value;
    }
    return l->samples[l->n - 1].value;
}

bool fm_quantile_summary_query(const fm_quantile_summary *s, double error, const double *percentages, int32_t n, double *out)
{
    int64_t widest = 0;
    if (!s || s->earlier.count == 0) return false;
    for (int32_t i = 0; i < s->earlier.n; i++) {
        int64_t width = s->earlier.samples[i].slack + s->earlier.samples[i].gap;
        if (width > widest) widest = width;
    }
    for (int32_t i = 0; i < n; i++) out[i] = value_at(&s->earlier, error, widest / 2, percentages[i]);
    return true;
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

enum { SAMPLE_SIZE = sizeof(double) + 2 * sizeof(int64_t) };

_Static_assert(SAMPLE_SIZE == sizeof(sample), "samples are written as they lie");

void fm_quantile_summary_save(const fm_quantile_summary *s, fm_strbuf *out)
{
    const list *l = s ? &s->earlier : &empty_list;
    uint32_t n = (uint32_t)l->n;
    fm_strbuf_add(out, (fm_str){(const char *)&l->count, sizeof l->count});
    fm_strbuf_add(out, (fm_str){(const char *)&n, sizeof n});
    if (n) fm_strbuf_add(out, (fm_str){(const char *)l->samples, n * sizeof(sample)});
}

static bool read_samples(fm_str bytes, size_t at, int64_t count, uint32_t n, sample *out)
{
    int64_t sum = 0;
    memcpy(out, bytes.ptr + at, n * sizeof *out);
    for (uint32_t i = 0; i < n; i++) {
        if (out[i].gap < 1 || out[i].slack < 0 || out[i].gap > count - sum || out[i].slack > INT64_MAX / 2) return false;
        sum += out[i].gap;
    }
    return true;
}

static fm_status damaged(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED",
                   "A stored state of percentile_approx() does not have the form it was written in.");
}

fm_status fm_quantile_summary_load(fm_str bytes, size_t *at, fm_quantile_summary **s, fm_error *err)
{
    int64_t count;
    uint32_t n;

    if (bytes.len - *at < sizeof count + sizeof n) return damaged(err);
    memcpy(&count, bytes.ptr + *at, sizeof count);
    memcpy(&n, bytes.ptr + *at + sizeof count, sizeof n);
    *at += sizeof count + sizeof n;
    if (count < 0 || count > INT64_MAX / 4 || n > INT32_MAX || (n == 0) != (count == 0) || (bytes.len - *at) / sizeof(sample) < n) return damaged(err);
    if (n == 0) return FM_OK;
    *s = calloc(1, sizeof **s);
    if (!*s) return fm_no_memory(NULL, err);
    (*s)->earlier = (list){new_samples(n), (int32_t)n, count};
    if (!(*s)->earlier.samples) return fm_no_memory(NULL, err);
    if (!read_samples(bytes, *at, count, n, (*s)->earlier.samples)) return damaged(err);
    *at += n * sizeof(sample);
    return FM_OK;
}
