/* source/rate_rows.h: rows (timestamp, value) made by counting: what both rate sources read. */
#ifndef FM_SOURCE_RATE_ROWS_H
#define FM_SOURCE_RATE_ROWS_H

#include "source/source.h"

/* What each rate source's struct starts with. */
typedef struct fm_rate_source {
    fm_source base;
    fm_source_env env;
    fm_arena *arena;
    const fm_type *out_schema; /* wanted columns, and the position */
    const int32_t *wanted;     /* [n_wanted] 0: timestamp, 1: value */
    int32_t n_wanted;
    bool want_position;
} fm_rate_source;

/* Values from .. to - 1 of a batch that begins with value `first` at start_ms. */
typedef struct fm_rate_split {
    int64_t from, to, first, start_ms;
    double ms_per_value;
} fm_rate_split;

fm_status fm_rate_schema(fm_arena *arena, const fm_type **out, fm_error *err);
/* Checks names of options and fills in *s. */
fm_status fm_rate_init(fm_rate_source *s, const fm_source_type *type, const fm_source_env *env,
                       const fm_source_spec *spec, fm_arena *arena, fm_error *err);
/* Cuts values first .. end - 1 into splits. */
fm_status fm_rate_splits(int64_t first, int64_t end, int64_t start_ms, double ms_per_value,
                         fm_arena *arena, fm_split **out, int32_t *n, fm_error *err);

void fm_rate_close(fm_source *source); /* nothing is to be given back: all lives in the arena */
fm_status fm_rate_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out,
                              fm_error *err);
fm_status fm_rate_reader_read(fm_split_reader *reader, const fm_split *split,
                              fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                              void *ctx, fm_wake *cancelled, fm_error *err);
void fm_rate_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad);
void fm_rate_reader_close(fm_split_reader *reader);

#endif
