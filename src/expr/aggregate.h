/* expr/aggregate.h: the contract of aggregate functions, and their table.
 *
 * A state is `state_size` bytes inside the entry of a group, beside the states of the other aggregates. It is
 * moved with memcpy, so it must not point into itself. What does not fit a fixed size (collect_list,
 * percentile, a max of strings) points to memory of its own, and then fini, save and load are given; a state
 * without them is plain bytes and is written to the checkpoint as it is.
 *
 * update gets one state per row: rows of one group may follow each other in a batch and are then applied in
 * row order, so that first, last and running sums see the order of the input. */
#ifndef FM_EXPR_AGGREGATE_H
#define FM_EXPR_AGGREGATE_H

#include "expr/function.h"

typedef struct fm_agg_call {
    const struct fm_aggregate *aggregate;
    const fm_session_conf *conf;
    const void *bound;
    const fm_expr *expr;           /* the FM_EXPR_AGGREGATE node */
    const fm_type *const *arg_types;
    int32_t n_args;
    const fm_type *returns;
    bool ansi;
    uint32_t offset;               /* of this state inside an entry: state = (char *)entry + offset */
} fm_agg_call;

/* f(...) WITHIN GROUP (ORDER BY ...). The keys follow the other arguments; args_min and args_max count those alone. */
typedef enum fm_within_rule {
    FM_WITHIN_NEVER,
    FM_WITHIN_ONE,    /* one key, required */
    FM_WITHIN_MAYBE   /* any number of keys */
} fm_within_rule;

typedef struct fm_aggregate {
    const char *name;              /* lower case */
    const char *aliases[4];
    uint8_t args[8];               /* fm_arg_class, as in fm_function */
    int8_t args_min, args_max;
    const fm_type *(*returns)(void); /* fixed, or NULL: bind decides */
    fm_status (*bind)(fm_bind *b, fm_error *err);
    /* The entry that serves these (cast) arguments, where types want states of another make: min of a string owns
     * memory, min of a number is plain bytes. NULL: this one. */
    const struct fm_aggregate *(*choose)(const fm_bind *b);
    uint32_t (*state_size)(const fm_agg_call *call); /* bytes, a multiple of 8; <= FM_AGG_STATE_SIZE_MAX */
    bool never_null;               /* count: 0 over nothing */
    bool order_dependent;          /* first, last, collect_list */
    bool unsliced;                 /* rows in turn and parts merged give different answers: no slices of windows */
    uint8_t within;                /* fm_within_rule */
    uint8_t unread;                /* bit i: argument i is constant and known to bind; update gets no values for it */
    void (*init)(const fm_agg_call *call, void *state); /* NULL: zero bytes are the empty state */
    /* entries[n]: the group entry of each row; args[n_args] of n lanes; keep: [n] 0 where FILTER or lateness
     * leaves the row out, or NULL. */
    fm_status (*update)(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err);
    /* dst[i] takes src[i] in; src stays. Order: dst's rows came before src's. */
    fm_status (*merge)(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                       fm_error *err);
    /* NULL: cannot take rows back, so no running window by subtraction. */
    fm_status (*retract)(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                         fm_error *err);
    /* out: n lanes of the result type (call->returns); memory in arena. States stay as they are. */
    fm_status (*finish)(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err);
    void (*fini)(const fm_agg_call *call, void *state); /* frees the state's own memory; NULL: none */
    fm_status (*save)(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err);
    /* Reads what save wrote from bytes at *at, moves *at; state holds init's bytes. FM_CORRUPT. */
    fm_status (*load)(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err);
    size_t (*memory)(const fm_agg_call *call, const void *state); /* bytes of its own; NULL: none */
    const char *usage, *doc, *since;
} fm_aggregate;

enum { FM_AGG_STATE_SIZE_MAX = 4096 };

const fm_aggregate *fm_aggregate_find(fm_str name);
const fm_aggregate *const *fm_aggregates(int *n);

/* As fm_call_resolve, for aggregates; *out is a FM_EXPR_AGGREGATE. filter: resolved boolean or NULL. */
fm_status fm_aggregate_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                               fm_expr **args, int32_t n_args, bool distinct, bool ignore_nulls,
                               fm_expr *filter, fm_pos pos, fm_expr **out, fm_error *err);
/* Fills a call from a resolved node; offset is left to the caller. */
fm_status fm_agg_call_init(fm_agg_call *call, const fm_session_conf *conf, const fm_expr *node,
                           fm_arena *arena, fm_error *err);

#endif
