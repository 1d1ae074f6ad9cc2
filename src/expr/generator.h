/* expr/generator.h: functions that give several rows for one: explode, posexplode, inline, stack, json_tuple and
 * their _outer forms. They stand in a select list or in LATERAL VIEW; the Generate operator runs them.
 *
 * A resolved generator is an expression of kind FM_EXPR_GENERATOR: its args are cast, its type is a STRUCT
 * with one field per output column, named as Spark names them (col; pos, col; key, value; c0, c1, ...), and
 * bound is its fm_generator_bound. */
#ifndef FM_EXPR_GENERATOR_H
#define FM_EXPR_GENERATOR_H

#include "expr/function.h"

/* What a batch of rows became. */
typedef struct fm_generated {
    int32_t rows;          /* may exceed FM_BATCH_ROWS_MAX: the operator cuts */
    const int32_t *row_of; /* [rows] the input row each comes from, never falling */
    const fm_vec *columns; /* [n_fields of the expression's type], `rows` lanes each */
} fm_generated;

typedef struct fm_generator {
    const char *name;      /* lower case */
    bool has_outer;        /* name "_outer" exists too */
    int8_t args_min, args_max; /* args_max -1: any number */
    /* Sets b->returns, a STRUCT, b->cast_args and b->bound; nullability for the form without outer. */
    fm_status (*bind)(fm_bind *b, fm_error *err);
    /* args: [e->n_args] of `rows` lanes. outer: an input row that gives nothing gives one row of nulls. */
    fm_status (*run)(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args, int32_t rows,
                     bool outer, fm_arena *arena, fm_generated *out, fm_error *err);
    const char *usage, *doc, *since;
} fm_generator;

typedef struct fm_generator_bound {
    const fm_generator *generator;
    bool outer;
    const void *own;       /* what bind of the entry made */
} fm_generator_bound;

/* Each row once for each of n_sets masks: columns of the set (bit i: columns[i]) as they are, the others null; then their
 * grouping id; then, numbered, the set's number. For GROUPING SETS: the analyzer makes it, no name does. */
fm_status fm_generator_expand(fm_arena *arena, fm_expr *const *columns, int32_t n, const uint64_t *masks, int32_t n_sets,
                              bool numbered, fm_pos pos, fm_expr **out, fm_error *err);
/* A bit for each column that the set leaves out, the first column's the highest of n. */
int64_t fm_grouping_id(int32_t n, uint64_t mask);

/* What FROM range(...) becomes: no function that can be called by name. */
#define FM_GENERATOR_RANGE "range()"

/* By name, any case, _outer forms included; NULL when it is no generator. */
const fm_generator *fm_generator_find(fm_str name, bool *outer);
const fm_generator *const *fm_generators(int *n);

/* Resolves a call of a generator over resolved arguments. outer: LATERAL VIEW OUTER, as the _outer name.
 * Errors: WRONG_NUM_ARGS.WITHOUT_SUGGESTION, DATATYPE_MISMATCH.*; FM_NOT_FOUND when it is no generator. */
fm_status fm_generator_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                               fm_expr **args, int32_t n_args, bool outer, fm_pos pos,
                               fm_expr **out, fm_error *err);
/* Runs a resolved generator: args are the vectors of its argument expressions. Memory in arena; elements are
 * shared with args where their layout allows. */
fm_status fm_generator_run(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                           int32_t rows, fm_arena *arena, fm_generated *out, fm_error *err);

/* json_tuple stands in src/format, beside the JSON reader it needs, which this layer cannot include. A
 * link-time table instead of a registration, so that there is no order of initialisation. NULL ends it. */
extern const fm_generator *const fm_json_generator_table[];

#endif
