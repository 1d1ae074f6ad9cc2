/* expr/quantile_summary.h: quantiles of many numbers, nearly, in little memory: the summary of Greenwald and Khanna
 * ("Space-Efficient Online Computation of Quantile Summaries", 2001).
 *
 * Samples are kept sorted; each carries how many numbers lie between it and the one before (gap), and by how much its
 * rank may be wrong (slack). Neighbours are folded into one as long as gap and slack stay below twice the error allowed.
 * New numbers gather in a head, which is sorted in when it is full.
 *
 * Rule  Spark, QuantileSummaries and ApproximatePercentile.PercentileDigest: the same sizes, the same moments of
 *       compression, so that the answers are the same values. In a stream, Spark keeps a summary of each micro-batch
 *       and merges it into the state; `earlier` is that state, the rest is of the batch at work. */
#ifndef FM_EXPR_QUANTILE_SUMMARY_H
#define FM_EXPR_QUANTILE_SUMMARY_H

#include "base/arena.h"
#include "base/str.h"

typedef struct fm_quantile_sample {
    double value;
    int64_t gap, slack;
} fm_quantile_sample;

typedef struct fm_quantile_list {
    fm_quantile_sample *samples; /* [n] by value, on the heap */
    int32_t n;
    int64_t count;               /* numbers they stand for */
} fm_quantile_list;

/* On the heap; NULL is one of nothing. All of one aggregate have the same error. */
typedef struct fm_quantile_summary {
    fm_quantile_list earlier, fresh; /* both compressed but for fresh while there is a head */
    double *head;                    /* [n_head] as they came */
    int32_t n_head, cap_head;
} fm_quantile_summary;

void fm_quantile_summary_free(fm_quantile_summary *s); /* accepts NULL */
size_t fm_quantile_summary_memory(const fm_quantile_summary *s);

/* Takes a number in; *s is made when NULL. error: relative, of ranks, above 0. FM_LIMIT: out of memory. */
fm_status fm_quantile_summary_add(fm_quantile_summary **s, double error, double x, fm_error *err);
/* The micro-batch is over: what it brought is merged into `earlier`. */
fm_status fm_quantile_summary_settle(fm_quantile_summary *s, double error, fm_error *err);
/* *dst takes src in; both are settled first. */
fm_status fm_quantile_summary_merge(fm_quantile_summary **dst, fm_quantile_summary *src, double error, fm_error *err);
/* out[i] = the value at percentages[i] (each in [0, 1]) of a settled summary. false: it is empty. */
bool fm_quantile_summary_query(const fm_quantile_summary *s, double error, const double *percentages, int32_t n, double *out);

/* Of a settled summary: i64 count, u32 samples, of each f64 value, i64 gap, i64 slack. */
void fm_quantile_summary_save(const fm_quantile_summary *s, fm_strbuf *out);
/* Reads what save wrote from *at on; *s is NULL before. FM_CORRUPT. */
fm_status fm_quantile_summary_load(fm_str bytes, size_t *at, fm_quantile_summary **s, fm_error *err);

#endif
