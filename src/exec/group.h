/* exec/group.h: the parts of a GROUP BY, for the files group_*.c and op_aggregate.c.
 *
 * A group is a key (the bytes of its grouping columns) in a bucket of the state (its time). How the two are cut:
 *
 *     FM_GROUP_PLAIN      no time: all groups in one bucket
 *     FM_GROUP_TUMBLING   right above window(): the bucket is the window, the key the other columns; the window column
 *                         itself is never made for a row
 *     FM_GROUP_SLIDING    as above, windows overlap: buckets are slices, stretches of time that no window's edge falls
 *                         into; a row goes to one slice, windows are put together when they are emitted (group_slices.c)
 *     FM_GROUP_WINDOW     a window column from further below: the bucket is its end
 *     FM_GROUP_TIME       a tagged timestamp column: buckets are stretches of time, the timestamp is part of the key
 *
 * What happens to a batch of rows:
 *
 *     input (group_input.c), on any worker    times, keys, arguments of the aggregates; late rows sorted out
 *       -> to the worker that owns the key (exchange.c), in the order of the input
 *     state (group_state.c), the owner        bucket of each row, upsert, update of the aggregates
 *     output (group_output.c), the owner      when the input is over: emit, evict */
#ifndef FM_EXEC_GROUP_H
#define FM_EXEC_GROUP_H

#include "base/checked.h"
#include "exec/exec_impl.h"

typedef enum fm_group_kind {
    FM_GROUP_PLAIN, FM_GROUP_TUMBLING, FM_GROUP_SLIDING, FM_GROUP_WINDOW, FM_GROUP_TIME
} fm_group_kind;

enum { FM_GROUP_ARGS_MAX = 8, FM_GROUP_NO_INPUT = -1 };

/* One aggregate: where its arguments stand among the inputs. */
typedef struct fm_group_call {
    fm_agg_call call;
    int32_t args[FM_GROUP_ARGS_MAX]; /* [call.n_args]; FM_GROUP_NO_INPUT: not read */
    int32_t filter;                  /* FM_GROUP_NO_INPUT: none */
} fm_group_call;

/* Where an output column comes from. */
typedef enum fm_group_from { FM_FROM_KEY, FM_FROM_TIME, FM_FROM_AGGREGATE } fm_group_from;
typedef struct fm_group_output {
    fm_group_from from;
    int32_t index;                   /* of the key column or the aggregate */
} fm_group_output;

/* What is fixed for a query; shared by all workers. */
typedef struct fm_group_spec {
    const fm_plan *plan;
    const fm_plan *child;            /* what rows come from: the plan's child, or that of its window() */
    fm_group_kind kind;
    fm_output_mode mode;
    bool is_stream;
    bool is_global;                  /* no grouping columns: one group, even of nothing */
    bool closes;                     /* tagged, and not complete mode: late rows are dropped and buckets end */
    int32_t operator_id;

    /* Times, µs. */
    fm_window_spec window;           /* TUMBLING, SLIDING; WINDOW: the duration only */
    int64_t bucket_us;               /* TIME: width of a bucket */
    int32_t time_column;             /* WINDOW, TIME: of the child; else -1 */
    const fm_type *time_type;        /* of the window or timestamp column that is given out */
    int64_t allowed_us;              /* allowed lateness */
    bool by_event;                   /* late means event time < EW - allowed */
    int32_t event_column;            /* of the child: the row's own event time; -1: unknown */
    int32_t late_column;             /* of the child: the row as it was; -1: late rows are not kept */

    /* Keys: columns of the child. */
    int32_t n_keys;
    int32_t *key_columns;
    const fm_type **key_types;

    /* Inputs: the distinct expressions that the aggregates are fed with. */
    int32_t n_inputs;
    const fm_expr **inputs;

    int32_t n_calls;
    fm_group_call *calls;
    uint32_t value_size;
    bool plain_values;               /* states are bytes: no memory of their own */
    bool has_init;

    const fm_type *schema;
    fm_group_output *outputs;        /* [schema->n_fields] */
    fm_str schema_text;              /* of the state */
} fm_group_spec;

fm_status fm_group_plan(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_group_spec *spec, fm_error *err);
/* How values are made, freed, saved; ctx is the spec. */
fm_state_codec fm_group_codec(const fm_group_spec *spec);

/* Rows on their way to the owner of their keys. */
typedef struct fm_group_rows {
    int32_t n;
    const int64_t *times;            /* [n] of their buckets; NULL: FM_STATE_NO_TIME all */
    const fm_key *keys;              /* [n] */
    const fm_vec *inputs;            /* [spec->n_inputs] */
    bool late;                       /* only their groups count: numRowsDroppedByWatermark */
} fm_group_rows;

/* The watermarks of a micro-batch in terms of windows. */
typedef struct fm_group_bounds {
    bool on;                         /* rows may be late, buckets may close */
    int64_t late_us;                 /* a group whose time (end of the window, or timestamp) is <= this is late */
    int64_t close_us;                /* and with this one it is finished */
    int64_t event_us;                /* by_event: rows before this are late */
} fm_group_bounds;
fm_group_bounds fm_group_bounds_of(const fm_group_spec *spec, const fm_op_batch *mb);

/* ---- group_input.c: rows in, at one worker --------------------------------------------------------------------------- */

typedef struct fm_group_input {
    const fm_group_spec *spec;
    fm_eval *time;                   /* TUMBLING, SLIDING: the event time */
    fm_eval **inputs;
    fm_late_sink *late_sink;         /* or NULL */
    int64_t late_rows;               /* that missed a window, in this micro-batch */
    /* Where rows go: to the owners of their keys. */
    fm_status (*take)(void *ctx, const fm_group_rows *rows, fm_arena *arena, fm_error *err);
    void *take_ctx;
} fm_group_input;

fm_status fm_group_input_init(fm_group_input *input, fm_tree *tree, const fm_group_spec *spec, fm_error *err);
fm_status fm_group_input_push(fm_group_input *input, const fm_op_batch *mb, const fm_batch *in, fm_arena *arena, fm_error *err);

/* ---- group_state.c: one part of the state, at one worker --------------------------------------------------------- */

typedef struct fm_slices fm_slices;

enum { FM_GROUP_CACHE = 256 };       /* buckets found lately, by a hash of their time */

typedef struct fm_group_part {
    const fm_group_spec *spec;
    fm_state_part *state;
    fm_state_part *late;             /* groups that late rows would have gone to, of this micro-batch */
    fm_slices *slices;               /* SLIDING */
    fm_arena *scratch;
    int64_t cached_times[FM_GROUP_CACHE];
    fm_state_bucket *cached[FM_GROUP_CACHE]; /* NULL: free */
    int64_t dropped;                 /* late groups */
    int64_t updated, removed;        /* SLIDING: windows of groups; else the state counts */
} fm_group_part;

fm_status fm_group_part_init(fm_group_part *part, const fm_group_spec *spec, fm_state_part *state, fm_state_part *late, int64_t mark, fm_error *err);
void fm_group_part_fini(fm_group_part *part);
void fm_group_part_begin(fm_group_part *part, const fm_group_bounds *bounds);
/* Applies rows whose keys this part owns. */
fm_status fm_group_apply(fm_group_part *part, const fm_group_rows *rows, fm_error *err);
void fm_group_part_stats(const fm_group_part *part, fm_op_stats *out);

/* ---- group_output.c ---------------------------------------------------------------------------------------------- */

/* The input is over: emits and evicts as the mode wants. arena: reset between the batches that go out. */
fm_status fm_group_finish(fm_group_part *part, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err);
/* The end of the window of a start. Beyond the calendar it is the last µs but one, as FM_STATE_NO_TIME is none. */
static inline int64_t fm_group_end(int64_t start_us, int64_t duration_us)
{
    int64_t end_us = fm_add_sat_i64(start_us, duration_us);

    return end_us == FM_STATE_NO_TIME ? end_us - 1 : end_us;
}
/* Gives out n groups: their times (ends of windows, or timestamps), keys and values. */
fm_status fm_group_emit(const fm_group_spec *spec, const int64_t *times, const fm_key *keys, char *const *values, int32_t n,
                        fm_arena *arena, const fm_emit *out, fm_error *err);

/* ---- group_slices.c ---------------------------------------------------------------------------------------------- */

/* mark: up to where windows were closed (the end of the last one, µs). */
fm_status fm_slices_new(fm_group_part *part, int64_t mark, fm_slices **out, fm_error *err);
void fm_slices_free(fm_slices *s);   /* accepts NULL */
void fm_slices_begin(fm_slices *s, const fm_group_bounds *bounds);
/* The slice that a time falls into: its start. */
int64_t fm_slice_start(const fm_window_spec *w, int64_t time_us);
/* The windows that the slice which starts here lies in. */
int64_t fm_slice_first_window(const fm_window_spec *w, int64_t slice_us);
int64_t fm_slice_last_window(const fm_window_spec *w, int64_t slice_us);
/* As fm_state_upsert, for rows with the times of their slices. */
fm_status fm_slices_upsert(fm_slices *s, const int64_t *times, const fm_key *keys, int32_t n, char **values, fm_error *err);
fm_status fm_slices_finish(fm_slices *s, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err);
/* Pairs of window and key that are live. */
int64_t fm_slices_rows(const fm_slices *s);
int64_t fm_slices_memory(const fm_slices *s);
/* How many late pairs of window and key the groups in part->late stand for. */
fm_status fm_slices_count_late(fm_slices *s, const fm_group_bounds *bounds, int64_t *dropped, fm_error *err);
/* Open windows, for people; see fm_op_type. */
int32_t fm_slices_windows(const fm_slices *s, fm_op_window *out, int32_t n);

#endif
