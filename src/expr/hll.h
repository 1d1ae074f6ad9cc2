/* expr/hll.h: HyperLogLog++ of 64-bit hashes: how many different ones there were, nearly, in little memory.
 *
 * The first p bits of a hash name one of 2^p registers; a register keeps the longest run of zeros (plus one) that the
 * rest of a hash began with. Many different hashes give long runs: the harmonic mean over the registers is the
 * estimate, put right by a table of what it is wrong by, or by counting empty registers while most are empty.
 *
 * A sketch is on the heap; NULL is an empty one. Few registers are kept as a list, many as bytes.
 *
 * Rule  Spark, HyperLogLogPlusPlusHelper: the same registers and the same estimate, bit for bit. */
#ifndef FM_EXPR_HLL_H
#define FM_EXPR_HLL_H

#include "base/arena.h"
#include "base/str.h"

enum {
    FM_HLL_PRECISION_MIN = 4,
    FM_HLL_PRECISION_MAX = 24 /* 16 million registers, 16 MB: a relative error of 0.03 % */
};

typedef struct fm_hll fm_hll;

/* The precision for a wanted relative standard deviation; < FM_HLL_PRECISION_MIN: too coarse. May be above
 * FM_HLL_PRECISION_MAX, which no sketch takes. */
int fm_hll_precision(double relative_sd);

void fm_hll_free(fm_hll *sketch); /* accepts NULL */
size_t fm_hll_memory(const fm_hll *sketch);

/* Takes one hash in; *sketch is made when NULL. precision: FM_HLL_PRECISION_MIN..MAX, always the same. */
fm_status fm_hll_add(fm_hll **sketch, int precision, uint64_t hash, fm_error *err);
/* *dst takes src in, which is of the same precision. */
fm_status fm_hll_merge(fm_hll **dst, int precision, const fm_hll *src, fm_error *err);
/* How many different hashes there were. */
int64_t fm_hll_estimate(const fm_hll *sketch, int precision);

/* u8: 0 empty, 1 list, 2 registers; list: u16 count, u32 each (register << 6 | run); registers: a byte each. */
void fm_hll_save(const fm_hll *sketch, int precision, fm_strbuf *out);
/* Reads what save wrote from *at on; *sketch is NULL before. FM_CORRUPT. */
fm_status fm_hll_load(fm_str bytes, size_t *at, int precision, fm_hll **sketch, fm_error *err);

#endif
