/* plan/streaming_check.c: what streams cannot do, said before the query starts.
 *
 * Rule  Spark, UnsupportedOperationChecker: output mode against the first aggregation from the top; then every node,
 *       children first; then chains of stateful nodes. Messages begin with Spark's, and go on with what to write. */
#include "plan/analyze.h"
#include "plan/join_time.h"
#include "plan/plan_impl.h"

#define LEGACY "_LEGACY_ERROR_TEMP_3102"

typedef struct checking {
    fm_output_mode mode;
    fm_arena *arena; /* scratch */
    fm_error *err;
    fm_status st;
    const fm_plan *aggregate; /* the first from the top */
    const fm_plan *top;       /* the stateful node whose chain is looked at */
} checking;

static fm_status fail(const checking *c, const fm_plan *p, const char *text)
{
    return fm_fail_at(c->err, FM_INVALID, LEGACY, p->pos.line, p->pos.column, "%s", text);
}

static const char *mode_name(fm_output_mode mode)
{
    return mode == FM_MODE_APPEND ? "Append" : mode == FM_MODE_UPDATE ? "Update" : "Complete";
}

static const char *join_name(fm_join_type type)
{
    switch (type) {
    case FM_JOIN_INNER: return "Inner";
    case FM_JOIN_CROSS: return "Cross";
    case FM_JOIN_LEFT: return "LeftOuter";
    case FM_JOIN_RIGHT: return "RightOuter";
    case FM_JOIN_FULL: return "FullOuter";
    case FM_JOIN_LEFT_SEMI: return "LeftSemi";
    default: return "LeftAnti";
    }
}

/* --- output mode ------------------------------------------------------------------------------------- */

static bool find_aggregate(const fm_plan *p, void *ctx)
{
    checking *c = ctx;

    if (p->kind == FM_PLAN_AGGREGATE && p->streaming) c->aggregate = p;
    return !c->aggregate;
}

static fm_status fail_mode(const checking *c, const fm_plan *p, const char *operation, const char *advice)
{
    return fm_fail_at(c->err, FM_INVALID, "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION", p->pos.line, p->pos.column,
                      "Invalid streaming output mode: %s. This output mode is not supported for %s on streaming "
                      "DataFrames/DataSets. %s",
                      fm_output_mode_name(c->mode), operation, advice);
}

static bool groups_by_session(const fm_plan *agg)
{
    const fm_plan *child = agg->children[0];

    for (int32_t i = 0; i < agg->n_group_exprs; i++) {
        const fm_expr *g = agg->group_exprs[i];
        const fm_attr *a = g->kind == FM_EXPR_ATTRIBUTE ? fm_attr_find(child->output, child->n_output, g->attr_id) : NULL;
        if (a && a->is_session) return true;
    }
    return false;
}

static fm_status check_mode(const checking *c, const fm_plan *plan)
{
    const fm_plan *agg = c->aggregate;

    if (c->mode == FM_MODE_COMPLETE && !agg) {
        return fail_mode(c, plan, "no streaming aggregations",
                         "Use append: complete mode gives the whole result each time, which only aggregations keep.");
    }
    if (!agg) return FM_OK;
    if (c->mode == FM_MODE_APPEND && !agg->event_time_id) {
        return fail_mode(c, agg, "streaming aggregations without watermark",
                         "Group by window(time, ...) or by the time itself, with WATERMARK time DELAY OF INTERVAL ... on "
                         "the stream, so that groups come to an end; or use update or complete mode.");
    }
    if (c->mode == FM_MODE_UPDATE && groups_by_session(agg)) {
        return fail_mode(c, agg, "session window streaming aggregations",
                         "Use append or complete: a session that grows into another cannot be updated.");
    }
    return FM_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------- */

static bool is_not_distinct(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return e->kind != FM_EXPR_AGGREGATE || !e->distinct;
}

static fm_status check_aggregate(const checking *c, const fm_plan *p)
{
    for (int32_t i = 0; p->streaming && i < p->n_exprs; i++) {
        if (fm_expr_walk(p->exprs[i], is_not_distinct, NULL)) continue;
        return fail(c, p, "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using "
                          "approx_count_distinct() instead.");
    }
    return FM_OK;
}

static fm_status check_stream_join(const checking *c, const fm_plan *p)
{
    fm_join_key *keys;
    fm_expr *rest;
    int32_t n, id;
    int64_t offset;
    bool left = p->join_type != FM_JOIN_RIGHT && fm_join_state_offset(p, 0, &id, &offset);
    bool right = (p->join_type == FM_JOIN_RIGHT || p->join_type == FM_JOIN_FULL) &&
                 fm_join_state_offset(p, 1, &id, &offset);

    FM_TRY(fm_join_keys(c->arena, p, &keys, &n, &rest, c->err));
    if (fm_join_key_is_tagged(p, keys, n) || left || right) return FM_OK;
    return fm_fail_at(c->err, FM_INVALID, LEGACY, p->pos.line, p->pos.column,
                      "Stream-stream %s join between two streaming DataFrame/Datasets is not supported without a "
                      "watermark in the join keys, or a watermark on the nullable side and an appropriate range "
                      "condition. Set WATERMARK on both streams, and bound the time in ON: r.time BETWEEN l.time AND "
                      "l.time + INTERVAL 1 HOUR.",
                      join_name(p->join_type));
}

/* One stream, one table. */
static fm_status check_static_join(const checking *c, const fm_plan *p)
{
    bool left = p->children[0]->streaming;

    switch (p->join_type) {
    case FM_JOIN_FULL:
        return left ? fail(c, p, "FullOuter joins with streaming DataFrames/Datasets on the left and a static "
                                 "DataFrame/Dataset on the right is not supported")
                    : fail(c, p, "FullOuter joins with streaming DataFrames/Datasets on the right and a static "
                                 "DataFrame/Dataset on the left is not supported");
    case FM_JOIN_LEFT:
    case FM_JOIN_LEFT_SEMI:
        if (left) return FM_OK;
        return fm_fail_at(c->err, FM_INVALID, LEGACY, p->pos.line, p->pos.column,
                          "%s join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the "
                          "left is not supported. Put the stream on the left.",
                          join_name(p->join_type));
    case FM_JOIN_RIGHT:
        return left ? fail(c, p, "RightOuter join with a streaming DataFrame/Dataset on the left and a static "
                                 "DataFrame/DataSet on the right not supported")
                    : FM_OK;
    default: return FM_OK;
    }
}

static fm_status check_join(const checking *c, const fm_plan *p)
{
    bool left = p->children[0]->streaming, right = p->children[1]->streaming;
    bool inner = p->join_type == FM_JOIN_INNER || p->join_type == FM_JOIN_CROSS;

    if (p->join_type == FM_JOIN_LEFT_ANTI && right) {
        return fail(c, p, "LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported");
    }
    if (left != right) return check_static_join(c, p);
    if (!left) return FM_OK;
    if (c->mode != FM_MODE_APPEND && !(inner && c->mode == FM_MODE_UPDATE)) {
        return fm_fail_at(c->err, FM_INVALID, LEGACY, p->pos.line, p->pos.column,
                          "%s join between two streaming DataFrames/Datasets is not supported in %s output mode, only in "
                          "Append output mode",
                          join_name(p->join_type), mode_name(c->mode));
    }
    return inner ? FM_OK : check_stream_join(c, p);
}

static fm_status check_union(const checking *c, const fm_plan *p)
{
    for (int32_t i = 1; i < p->n_children; i++) {
        if (p->children[i]->streaming == p->children[0]->streaming) continue;
        return fail(c, p, "Union between streaming and batch DataFrames/Datasets is not supported");
    }
    return FM_OK;
}

static fm_status check_set_op(const checking *c, const fm_plan *p)
{
    if (!p->streaming) return FM_OK;
    if (fm_str_eq_ci(p->set_op, FM_STR("INTERSECT"))) {
        return fail(c, p, "Intersect of streaming DataFrames/Datasets is not supported");
    }
    if (p->children[1]->streaming) return fail(c, p, "Except on a streaming DataFrame/Dataset on the right is not supported");
    /* The distinct rows of it are an aggregation that Spark makes after this check: there it fails when the stream runs. */
    for (int32_t i = 0; i < p->children[0]->n_output; i++)
        if (p->children[0]->output[i].watermark_node) return FM_OK;
    if (c->mode != FM_MODE_APPEND) return FM_OK;
    return fm_fail_at(c->err, FM_INVALID, "UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK", p->pos.line, p->pos.column,
                      "append output mode not supported for aggregate on streaming DataFrames/DataSets without watermark: EXCEPT gives "
                      "each row once, so it keeps all. Set WATERMARK on a column of the stream that is selected, or use update mode.");
}

static fm_status check_limit(const checking *c, const fm_plan *p)
{
    if (p->offset > 0) return fail(c, p, "Offset is not supported on streaming DataFrames/Datasets");
    if (p->limit < 0 || !p->streaming || c->mode != FM_MODE_UPDATE) return FM_OK;
    return fail(c, p, "Limits are not supported on streaming DataFrames/Datasets in Update output mode");
}

static bool is_no_real_aggregate(const fm_plan *p, void *ctx)
{
    (void)ctx;
    return p->kind != FM_PLAN_AGGREGATE || !p->streaming || p->is_distinct;
}

static fm_status check_sort(const checking *c, const fm_plan *p)
{
    bool whole = c->mode == FM_MODE_COMPLETE && !fm_plan_walk(p, is_no_real_aggregate, NULL);

    if (!p->streaming || whole) return FM_OK;
    return fail(c, p, "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated "
                      "DataFrame/Dataset in Complete output mode");
}

static fm_status check_deduplicate(const checking *c, const fm_plan *p)
{
    if (!p->streaming || !p->within_watermark || p->event_time_id) return FM_OK;
    return fail(c, p, "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets without watermark. "
                      "Set WATERMARK time DELAY OF INTERVAL ... on the stream.");
}

static fm_status check_over(const checking *c, const fm_plan *p)
{
    fm_strbuf text = {0};

    if (!p->streaming) return FM_OK;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        const fm_expr *call = p->exprs[i]->args[0];
        if (i) fm_strbuf_add_c(&text, ", ");
        for (size_t k = 0; k < call->name.len; k++) {
            char ch = call->name.ptr[k];
            fm_strbuf_add_char(&text, ch >= 'a' && ch <= 'z' ? (char)(ch - 32) : ch);
        }
        fm_strbuf_printf(&text, "(%s) (as column `%.*s`)", call->n_args ? "..." : "", FM_STR_ARG(p->exprs[i]->name));
    }
    fm_status st = fm_fail_at(c->err, FM_INVALID, "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", p->pos.line, p->pos.column,
                              "Window function is not supported in %s on streaming DataFrames/Datasets. Windows of a "
                              "stream are windows of time: GROUP BY window(time, '5 minutes').",
                              text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

static bool is_no_counter(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return e->kind != FM_EXPR_CALL || strcmp(e->function->name, "monotonically_increasing_id") != 0;
}

static fm_status check_expressions(const checking *c, const fm_plan *p)
{
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (fm_expr_walk(p->exprs[i], is_no_counter, NULL)) continue;
        return fail(c, p, "Expression(s): monotonically_increasing_id() is not supported with streaming "
                          "DataFrames/Datasets");
    }
    return FM_OK;
}

static fm_status check_node(const checking *c, const fm_plan *p)
{
    switch (p->kind) {
    case FM_PLAN_AGGREGATE: FM_TRY(check_aggregate(c, p)); break;
    case FM_PLAN_JOIN: FM_TRY(check_join(c, p)); break;
    case FM_PLAN_UNION: FM_TRY(check_union(c, p)); break;
    case FM_PLAN_SET_OP: FM_TRY(check_set_op(c, p)); break;
    case FM_PLAN_LIMIT: FM_TRY(check_limit(c, p)); break;
    case FM_PLAN_SORT: FM_TRY(check_sort(c, p)); break;
    case FM_PLAN_DEDUPLICATE: FM_TRY(check_deduplicate(c, p)); break;
    case FM_PLAN_OVER: FM_TRY(check_over(c, p)); break;
    case FM_PLAN_SAMPLE:
        if (p->streaming) return fail(c, p, "Sampling is not supported on streaming DataFrames/Datasets");
        break;
    default: break;
    }
    return check_expressions(c, p);
}

static fm_status check_children_first(const checking *c, const fm_plan *p)
{
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(check_children_first(c, p->children[i]));
    return check_node(c, p);
}

/* --- chains ------------------------------------------------------------------------------------------ */

static bool is_tagged_column(const fm_expr *e, const fm_plan *child)
{
    const fm_attr *a = fm_attr_find(child->output, child->n_output, e->attr_id);

    return a && a->watermark_node;
}

/* Duplicates that are found by a key without time are not counted here, as Spark has it. */
static bool is_chained(const fm_plan *p)
{
    if (!fm_plan_is_stateful(p)) return false;
    if (p->kind != FM_PLAN_DEDUPLICATE || p->within_watermark) return true;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (is_tagged_column(p->exprs[i], p->children[0])) return true;
    }
    return false;
}

static bool is_no_aggregate_below(const fm_plan *p, void *ctx)
{
    const checking *c = ctx;
    return p == c->top || p->kind != FM_PLAN_AGGREGATE || !p->streaming;
}

static bool check_chain(const fm_plan *p, void *ctx)
{
    checking *c = ctx;

    c->top = p;
    if (c->mode == FM_MODE_APPEND || !is_chained(p) || fm_plan_walk(p, is_no_aggregate_below, c)) return true;
    c->st = fail(c, p, "Detected pattern of possible 'correctness' issue due to global watermark. The query contains "
                       "stateful operation which can emit rows older than the current watermark plus allowed late record "
                       "delay, which are \"late rows\" in downstream stateful operations and these rows can be discarded. "
                       "Use append mode for an aggregation of an aggregation.");
    return false;
}

fm_status fm_streaming_check(const fm_plan *plan, fm_output_mode mode, fm_error *err)
{
    checking c = {.mode = mode, .err = err};

    if (!plan->streaming) {
        return fm_fail_at(err, FM_INVALID, "WRITE_STREAM_NOT_ALLOWED", plan->pos.line, plan->pos.column,
                          "`writeStream` can be called only on streaming Dataset/DataFrame. Read a table as a stream: FROM "
                          "STREAM name.");
    }
    c.arena = fm_arena_new(0);
    if (!c.arena) return fm_no_memory(NULL, err);
    fm_plan_walk(plan, find_aggregate, &c);
    c.st = check_mode(&c, plan);
    if (c.st == FM_OK) c.st = check_children_first(&c, plan);
    if (c.st == FM_OK) fm_plan_walk(plan, check_chain, &c);
    fm_arena_free(c.arena);
    return c.st;
}

/* --- what only a batch shows ----------------------------------------------------------------------------- */

static fm_status check_join_keys(const checking *c, const fm_plan *p)
{
    if (fm_join_has_key(p)) return FM_OK;
    return fm_fail_at(c->err, FM_INVALID, "_LEGACY_ERROR_TEMP_1181", p->pos.line, p->pos.column,
                      "Stream-stream join without equality predicate is not supported. Join on at least one column of "
                      "each side: ON l.k = r.k AND ...");
}

/* Only tagged columns among `only` count, when it is given. */
static fm_status check_one_event_time(const checking *c, const fm_plan *node, const fm_plan *input, fm_expr *const *only,
                                      int32_t n)
{
    const fm_attr *first = NULL;

    for (int32_t i = 0; i < input->n_output; i++) {
        const fm_attr *a = &input->output[i];
        bool counts = !only;
        for (int32_t k = 0; k < n; k++) counts |= only[k]->kind == FM_EXPR_ATTRIBUTE && only[k]->attr_id == a->id;
        if (!a->watermark_node || a->hidden || !counts || (first && first->id == a->id)) continue;
        if (!first) {
            first = a;
            continue;
        }
        return fm_fail_at(c->err, FM_INVALID, "MULTIPLE_EVENT_TIME_COLUMNS", node->pos.line, node->pos.column,
                          "More than one event time columns are available. Please ensure there is at most one event time "
                          "column per stream. event time columns: (%.*s, %.*s). Leave one of them out of the select list "
                          "below.",
                          FM_STR_ARG(first->name), FM_STR_ARG(a->name));
    }
    return FM_OK;
}

/* Whether rows come with a watermark. Stateful nodes hand one on, if only that of the epoch. */
static bool has_watermark(const fm_plan *p)
{
    if (p->kind == FM_PLAN_WATERMARK || fm_plan_is_stateful(p)) return true;
    for (int32_t i = 0; i < p->n_children; i++) {
        if (has_watermark(p->children[i])) return true;
    }
    return false;
}

static fm_status check_batch_node(const checking *c, const fm_plan *p, int64_t watermark_us)
{
    bool stateful = fm_plan_is_stateful(p);

    if (p->kind == FM_PLAN_WATERMARK && watermark_us > 0 && has_watermark(p->children[0])) {
        return fm_fail_at(c->err, FM_INVALID, "_LEGACY_ERROR_TEMP_3076", p->pos.line, p->pos.column,
                          "Redefining watermark is disallowed: there is a watermark below this one. Declare it once, on the "
                          "stream.");
    }
    if (!stateful) return FM_OK;
    if (p->kind == FM_PLAN_JOIN) {
        FM_TRY(check_join_keys(c, p));
        for (int i = 0; i < 2; i++) FM_TRY(check_one_event_time(c, p, p->children[i], NULL, 0));
    }
    if (p->kind == FM_PLAN_DEDUPLICATE) return check_one_event_time(c, p, p->children[0], NULL, 0);
    if (p->kind != FM_PLAN_AGGREGATE) return FM_OK;
    if (groups_by_session(p) && p->n_group_exprs == 1) {
        return fm_fail_at(c->err, FM_INVALID, "_LEGACY_ERROR_TEMP_3068", p->pos.line, p->pos.column,
                          "Global aggregation with session window in streaming query is not supported. Group by a further "
                          "column, at least by a constant one of a sub-query.");
    }
    if (c->mode == FM_MODE_COMPLETE) return FM_OK;
    return check_one_event_time(c, p, p->children[0], p->group_exprs, p->n_group_exprs);
}

static fm_status check_batch_tree(const checking *c, const fm_plan *p, int64_t watermark_us)
{
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(check_batch_tree(c, p->children[i], watermark_us));
    return check_batch_node(c, p, watermark_us);
}

fm_status fm_streaming_check_batch(const fm_plan *plan, fm_output_mode mode, int64_t watermark_us, fm_error *err)
{
    checking c = {.mode = mode, .err = err};

    return check_batch_tree(&c, plan, watermark_us);
}
