/* exec/exec_impl.h: how operators are built into trees; for the files of exec/ only. */
#ifndef FM_EXEC_EXEC_IMPL_H
#define FM_EXEC_EXEC_IMPL_H

#include "exec/crew.h"
#include "exec/exchange.h"
#include "exec/operator.h"
#include "exec/query.h"

typedef struct fm_tree fm_tree;
typedef struct fm_forest fm_forest;
typedef struct fm_node fm_node;
typedef struct fm_late_sink fm_late_sink;
typedef struct fm_bad_sink fm_bad_sink;

/* One operator in a tree, or a leaf that a source pushes into (op NULL). */
struct fm_node {
    fm_tree *tree;
    const fm_plan *plan;
    fm_op *op;             /* NULL in the trees of other workers when it stands at worker 0 alone, too */
    fm_exchange *inlet;    /* of one that stands at worker 0 alone: where the others send their rows; NULL: one worker */
    fm_node *parent;       /* NULL: the root, whose rows leave the tree */
    int32_t input;         /* which child of the parent it is */
    fm_emit up;            /* hands a batch to the parent */
    struct fm_rows *held;  /* of one that stands at worker 0 alone with an exchange above it: rows wait here until the input is
                              over, since only one exchange is open at a time; NULL: they go up at once */
    bool gives;            /* they go up now */
};

/* A leaf: a source of the plan. */
typedef struct fm_leaf {
    fm_node *node;
    fm_source *source;
    fm_split_reader *reader;
    int32_t stream_index;  /* among the streams of the query; -1: a batch read */
    int64_t rows, bad;     /* of the micro-batch */
} fm_leaf;

/* A tree of operators with all it needs to run on one worker. Rows leave through `root_out`. All trees of a forest have
 * the same nodes and leaves, by number. */
struct fm_tree {
    fm_forest *forest;
    int32_t worker;
    fm_exec *exec;
    fm_arena *arena;       /* the query's: operators; only while building */
    fm_arena *evals;       /* evaluators, which keep things there as they run: of this worker alone */
    fm_arena *batch;       /* one batch on its way up; reset by whoever starts it */
    bool busy;             /* a batch is on its way up */
    const fm_exec_env *env;
    fm_output_mode mode;
    bool is_stream;
    const fm_op_batch *mb; /* the micro-batch under way */
    fm_emit root_out;
    fm_node **nodes;       /* children before parents: the order of finish */
    int32_t n_nodes, cap_nodes;
    fm_op **made;          /* operators in the order they were made: the same in every tree of a forest */
    int32_t n_made, cap_made;
    fm_leaf *leaves;
    int32_t n_leaves, cap_leaves;
    int32_t *next_operator;   /* numbers stateful operators; shared by trees of one query */
    int32_t *next_stream;
    int64_t state_version;
    fm_str query_id;       /* of the checkpoint: sinks of late rows tell by it whose batches they have */
    bool under_sort;       /* while building: a global sort stands above, and no LIMIT on top of it */
};

/* The trees of all workers. */
struct fm_forest {
    fm_crew *crew;
    int32_t n;
    fm_tree *trees;        /* [n] */
    bool single_root;      /* rows leave at worker 0 alone, in the order of the input */
    fm_exchange *root_inlet; /* then, with several workers */
    fm_exchange *sharing;  /* shares out pieces where rows change no worker; NULL: one worker */
};

/* Builds the trees of a plan, each like `first`, whose fields up to next_stream are set. Sources are opened, state is
 * loaded. crew: whose workers they are for. root_out[n]: of each tree. */
fm_status fm_forest_build(fm_forest *forest, fm_crew *crew, const fm_tree *first, const fm_emit *root_out, bool single_root,
                          const fm_plan *plan, fm_error *err);
void fm_forest_close(fm_forest *forest);
/* Reads every batch leaf to its end, and each stream leaf over its range (input NULL: no streams); then finish. */
fm_status fm_forest_run(fm_forest *forest, const fm_op_batch *mb, const fm_exec_input *input, fm_error *err);
/* The operator of worker 0 that the one being made in this tree is the twin of; NULL in its own. */
fm_op *fm_tree_twin(const fm_tree *tree);

/* The columns of a node as a STRUCT. NULL: out of memory. */
const fm_type *fm_plan_schema(fm_arena *arena, const fm_plan *plan);
/* Index of an attribute among a node's columns; -1: none. */
int32_t fm_plan_column(const fm_plan *plan, int32_t attr_id);
/* FM_CANCELLED once the query, or the statement, was given up (cancelled may be NULL): for loops that give many rows for one batch. */
fm_status fm_exec_go_on(const fm_wake *cancelled, fm_error *err);
/* Binds an expression to a node's columns and compiles it. */
fm_status fm_tree_eval(fm_tree *tree, const fm_expr *e, const fm_plan *input, fm_eval **out, fm_error *err);

/* What a projection, filter, ... is made of: op_*.c. Each sets *out (whose schema is that of plan's output). */
fm_status fm_op_project_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_bad_rows_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_sample_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_filter_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_watermark_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_window_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_generate_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_union_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_aggregate_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err);
fm_status fm_op_join_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_sort_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_limit_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err);
fm_status fm_op_values_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err);
fm_status fm_op_dedup_new(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err);

/* The plan that an aggregation takes its rows from: its child, or what is below its window(). */
const fm_plan *fm_op_aggregate_child(const fm_op *op);

/* Windows are numbered by (start - w->start_us) / slide. The end of one; at the ends of the calendar, the nearest that exists. */
int64_t fm_window_end(const fm_window_spec *w, int64_t window);
/* The last window whose end is at or before a time; INT64_MIN for INT64_MIN. */
int64_t fm_last_window_ended(const fm_window_spec *w, int64_t time_us);

/* The exchange that takes rows to the owners of their keys; NULL: one worker. */
fm_exchange *fm_op_aggregate_exchange(const fm_op *op);

/* The watermark node's numbers of the micro-batch under way, of all workers. */
void fm_op_watermark_stats(const fm_op *op, fm_event_time_stats *out);

/* Whether a stateful operator wants a micro-batch without data, once the watermark is past what it last evicted with. */
typedef struct fm_stateful {
    fm_op *op;
    bool closes_by_time;   /* a tagged key, and a mode in which the watermark closes state */
    int64_t evict_us;      /* of the last micro-batch */
    bool counted_twice;    /* below a global sort: Spark samples its input first, and its numbers count both runs */
} fm_stateful;
fm_status fm_exec_add_stateful(fm_exec *exec, int32_t operator_id, fm_op *op, bool closes_by_time, fm_error *err);
fm_status fm_exec_add_watermark(fm_exec *exec, fm_op *op, fm_error *err);

/* Opens an operator's state, cut into parts. */
fm_status fm_tree_state(fm_tree *tree, int32_t operator_id, int32_t parts, uint32_t value_size, fm_str schema,
                        const fm_state_codec *codec, fm_state **out, fm_error *err);

/* Rows that missed a window: to a sink of their own (exec/late_rows.c). NULL lateness.late_format: *out NULL. */
/* child: whose rows are seen, late_row_id among their columns. */
fm_status fm_late_sink_open(fm_tree *tree, const fm_plan *plan, const fm_plan *child, const char *operator_name, fm_late_sink **out, fm_error *err);
/* One more worker's way in to the same sink. */
fm_status fm_late_sink_join(fm_tree *tree, fm_late_sink *main, fm_late_sink **out, fm_error *err);
void fm_late_sink_begin(fm_late_sink *late); /* all of them */
/* Lane `row` of the late-row column missed the window [start, end). Lanes with the same source that follow each other
 * are one row. time_us: its event time. */
fm_status fm_late_sink_add(fm_late_sink *late, const fm_op_batch *mb, const fm_vec *late_rows, int32_t row,
                           int64_t start_us, int64_t end_us, bool has_window, int64_t watermark_us, int64_t time_us, fm_error *err);
/* Lane `row` missed the windows first..last, by number: see fm_window_end. */
fm_status fm_late_sink_add_windows(fm_late_sink *late, const fm_op_batch *mb, const fm_vec *late_rows, int32_t row, const fm_window_spec *w,
                                   int64_t first, int64_t last, int64_t watermark_us, int64_t time_us, fm_error *err);
/* Writes and commits micro-batch N; *rows: how many. */
fm_status fm_late_sink_commit(fm_late_sink *late, int64_t batch_id, int64_t *rows, fm_error *err);
/* Adds up to FM_LATE_TEXTS_MAX of the rows of the micro-batch to out, in arena. */
fm_status fm_late_sink_tell(fm_late_sink *late, const fm_zone *zone, fm_arena *arena, fm_late_text *out, int32_t *n, fm_error *err);
void fm_late_sink_close(fm_late_sink *late);
fm_status fm_exec_add_late_sink(fm_exec *exec, fm_late_sink *late, fm_error *err);

/* Records that cannot be read: to a sink of their own (exec/bad_rows.h). */
int32_t fm_bad_sink_number(const fm_bad_sink *s);
void fm_bad_sink_begin(fm_bad_sink *s);
/* Makes the records of micro-batch N durable; nothing when there are none. */
fm_status fm_bad_sink_commit(fm_bad_sink *s, int64_t batch_id, fm_error *err);
void fm_bad_sink_abort(fm_bad_sink *s, int64_t batch_id);
void fm_bad_sink_close(fm_bad_sink *s);
fm_bad_sink *fm_exec_bad_sink(const fm_exec *exec, int32_t number); /* of a hint; NULL: not open */
fm_status fm_exec_add_bad_sink(fm_exec *exec, fm_bad_sink *sink, fm_error *err);
/* Each worker's PROJECT whose rows are counted; what it has seen goes to plan->rows_seen when the run is over. */
fm_status fm_exec_add_counted(fm_exec *exec, fm_op *op, const fm_plan *plan, fm_error *err);
int64_t fm_op_project_rows(const fm_op *op);
fm_status fm_exec_add_bad_rows(fm_exec *exec, fm_op *op, fm_error *err); /* each worker's: they are counted */

#endif
