/* exec/tree.c: trees of operators: building them from a plan, and pushing rows through. */
#include "exec/exec_impl.h"

#include <stdio.h>

const fm_type *fm_plan_schema(fm_arena *arena, const fm_plan *plan)
{
    fm_field *fields = fm_arena_array(arena, fm_field, plan->n_output);

    if (!fields) return NULL;
    for (int32_t i = 0; i < plan->n_output; i++) {
        fields[i] = (fm_field){plan->output[i].name, plan->output[i].type, plan->output[i].nullable};
    }
    return fm_type_struct(arena, fields, plan->n_output);
}

int32_t fm_plan_column(const fm_plan *plan, int32_t attr_id)
{
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].id == attr_id) return i;
    }
    return -1;
}

fm_status fm_tree_eval(fm_tree *tree, const fm_expr *e, const fm_plan *input, fm_eval **out, fm_error *err)
{
    int32_t n = input ? input->n_output : 0;
    int32_t *ids = fm_arena_array(tree->arena, int32_t, n);
    fm_expr *bound;

    if (!ids) return fm_no_memory(tree->arena, err);
    for (int32_t i = 0; i < n; i++) ids[i] = input->output[i].id;
    FM_TRY(fm_expr_bind(tree->arena, e, ids, n, &bound, err));
    return fm_eval_new(tree->arena, tree->env->conf, bound, out, err);
}

fm_status fm_tree_state(fm_tree *tree, int32_t operator_id, uint32_t value_size, fm_str schema,
                        const fm_state_codec *codec, fm_state **out, fm_error *err)
{
    fm_state_spec spec = {.fs = tree->env->fs, .operator_id = operator_id, .value_size = value_size, .schema = schema};

    if (codec) spec.codec = *codec;
    spec.in_memory = !tree->is_stream || !tree->env->checkpoint;
    if (!spec.in_memory) {
        fm_str dir = fm_arena_printf(tree->arena, "%s/state/%d", tree->env->checkpoint, operator_id);
        if (!dir.ptr) return fm_no_memory(tree->arena, err);
        spec.dir = dir.ptr;
    }
    return fm_state_open(&spec, tree->state_version, out, err);
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

static fm_status push_up(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_node *node = ctx;
    fm_node *parent = node->parent;
    fm_tree *tree = node->tree;

    if (batch->rows == 0) return FM_OK;
    if (!parent) return tree->root_out.push(tree->root_out.ctx, batch, err);
    return parent->op->type->push(parent->op, tree->mb, node->input, batch, tree->batch, &parent->up, err);
}

static fm_status add_node(fm_tree *tree, const fm_plan *plan, fm_node *parent, int32_t input, fm_node **out, fm_error *err)
{
    fm_node *node = fm_arena_one(tree->arena, fm_node);

    if (!node) return fm_no_memory(tree->arena, err);
    *node = (fm_node){.tree = tree, .plan = plan, .parent = parent, .input = input};
    node->up = (fm_emit){.ctx = node, .push = push_up};
    *out = node;
    return FM_OK;
}

/* Nodes are listed when their children are: children come first. */
static fm_status list_node(fm_tree *tree, fm_node *node, fm_error *err)
{
    if (tree->n_nodes == tree->cap_nodes) {
        int32_t cap = tree->cap_nodes ? tree->cap_nodes * 2 : 16;
        fm_node **more = fm_arena_array(tree->arena, fm_node *, cap);
        if (!more) return fm_no_memory(tree->arena, err);
        if (tree->n_nodes) memcpy(more, tree->nodes, (size_t)tree->n_nodes * sizeof *more);
        tree->nodes = more;
        tree->cap_nodes = cap;
    }
    tree->nodes[tree->n_nodes++] = node;
    return FM_OK;
}

static fm_status add_leaf(fm_tree *tree, const fm_leaf *leaf, fm_error *err)
{
    if (tree->n_leaves == tree->cap_leaves) {
        int32_t cap = tree->cap_leaves ? tree->cap_leaves * 2 : 8;
        fm_leaf *more = fm_arena_array(tree->arena, fm_leaf, cap);
        if (!more) return fm_no_memory(tree->arena, err);
        if (tree->n_leaves) memcpy(more, tree->leaves, (size_t)tree->n_leaves * sizeof *more);
        tree->leaves = more;
        tree->cap_leaves = cap;
    }
    tree->leaves[tree->n_leaves++] = *leaf;
    return FM_OK;
}

/* The columns of the table that the plan wants, by their names. */
static fm_status wanted_columns(fm_tree *tree, const fm_plan *plan, fm_source_spec *spec, fm_error *err)
{
    const fm_type *schema = plan->table->schema;
    int32_t *wanted = fm_arena_array(tree->arena, int32_t, plan->n_output);

    if (!wanted) return fm_no_memory(tree->arena, err);
    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->position_id && plan->output[i].id == plan->position_id) {
            spec->want_position = true;
            continue;
        }
        int32_t c = 0;
        while (c < schema->n_fields && !fm_str_eq(schema->fields[c].name, plan->output[i].name)) c++;
        fm_assert(c < schema->n_fields); /* the analyzer made the output from the schema */
        wanted[spec->n_wanted++] = c;
    }
    spec->wanted = wanted;
    spec->schema = schema;
    return FM_OK;
}

static fm_status build_read(fm_tree *tree, const fm_plan *plan, fm_node *node, fm_error *err)
{
    fm_source_spec spec = {.table = plan->table};
    fm_leaf leaf = {.node = node, .stream_index = -1};
    const fm_source_type *type = fm_source_lookup(tree->env->sources, plan->table->format);

    if (!type) return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "There is no data source '%.*s'.", FM_STR_ARG(plan->table->format));
    FM_TRY(wanted_columns(tree, plan, &spec, err));
    if (plan->streaming) {
        if (!type->can_stream) return fm_fail(err, FM_INVALID, "UNSUPPORTED_STREAMING_SOURCE", "The source '%s' cannot be read as a stream.", type->name);
        leaf.stream_index = (*tree->next_stream)++;
        if (tree->env->checkpoint) {
            fm_str dir = fm_arena_printf(tree->arena, "%s/sources/%d", tree->env->checkpoint, leaf.stream_index);
            if (!dir.ptr) return fm_no_memory(tree->arena, err);
            spec.metadata_dir = dir.ptr;
        }
    }
    FM_TRY(type->open(tree->env->sources, &spec, tree->arena, &leaf.source, err));
    FM_TRY(add_leaf(tree, &leaf, err)); /* from here on it is closed with the tree */
    return type->reader_open(leaf.source, tree->arena, &tree->leaves[tree->n_leaves - 1].reader, err);
}

static fm_status unsupported(const char *what, const char *instead, fm_error *err)
{
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_OPERATOR", "%s are not built yet. %s", what, instead);
}

static fm_status new_op(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_op **out, fm_error *err)
{
    switch (plan->kind) {
    case FM_PLAN_PROJECT: return fm_op_project_new(tree, plan, out, err);
    case FM_PLAN_FILTER: return fm_op_filter_new(tree, plan, out, err);
    case FM_PLAN_WATERMARK: return fm_op_watermark_new(tree, plan, out, err);
    case FM_PLAN_TIME_WINDOW: return fm_op_window_new(tree, plan, out, err);
    case FM_PLAN_GENERATE: return fm_op_generate_new(tree, plan, out, err);
    case FM_PLAN_UNION:
    case FM_PLAN_SUBQUERY_ALIAS:
    case FM_PLAN_HINT: return fm_op_union_new(tree, plan, out, err);
    case FM_PLAN_AGGREGATE: return fm_op_aggregate_new(tree, plan, operator_id, out, err);
    case FM_PLAN_SORT: return fm_op_sort_new(tree, plan, out, err);
    case FM_PLAN_LIMIT: return fm_op_limit_new(tree, plan, operator_id, out, err);
    case FM_PLAN_JOIN: return fm_op_join_new(tree, plan, out, err);
    case FM_PLAN_VALUES:
    case FM_PLAN_ONE_ROW:
    case FM_PLAN_EMPTY: return fm_op_values_new(tree, plan, out, err);
    case FM_PLAN_DEDUPLICATE: return unsupported("dropDuplicates on a stream and in a batch", "Group by the columns instead.", err);
    case FM_PLAN_SESSION_WINDOW: return unsupported("Session windows", "Use tumbling or sliding windows.", err);
    case FM_PLAN_SET_OP: return unsupported("INTERSECT and EXCEPT", "Write them as LEFT SEMI JOIN and LEFT ANTI JOIN.", err);
    case FM_PLAN_OVER: return unsupported("OVER (...) functions", "Group by the columns instead.", err);
    case FM_PLAN_SAMPLE: return unsupported("Samples", "Filter with rand() < 0.1 instead.", err);
    default: return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_OPERATOR", "This plan node (%d) cannot be run.", (int)plan->kind);
    }
}

/* Stateful on a stream: it keeps something from micro-batch to micro-batch, and has a number. */
static bool is_stateful(const fm_tree *tree, const fm_plan *plan)
{
    if (!tree->is_stream || !plan->streaming) return false;
    return plan->kind == FM_PLAN_AGGREGATE || plan->kind == FM_PLAN_DEDUPLICATE ||
           (plan->kind == FM_PLAN_LIMIT && tree->mode == FM_MODE_APPEND);
}

static fm_status build(fm_tree *tree, const fm_plan *plan, fm_node *parent, int32_t input, fm_error *err)
{
    fm_node *node = NULL;
    int32_t operator_id = -1;

    FM_TRY(add_node(tree, plan, parent, input, &node, err));
    if (plan->kind == FM_PLAN_READ) {
        FM_TRY(build_read(tree, plan, node, err));
        return list_node(tree, node, err);
    }
    if (is_stateful(tree, plan)) operator_id = (*tree->next_operator)++; /* from the sink down: 0 is nearest to it */
    if (plan->kind == FM_PLAN_JOIN && plan->children[0]->streaming && plan->children[1]->streaming) return unsupported("Joins of two streams", "Join a stream with a table.", err);
    if (plan->kind == FM_PLAN_SORT && !(parent && parent->plan->kind == FM_PLAN_LIMIT)) tree->under_sort = true;
    FM_TRY(new_op(tree, plan, operator_id, &node->op, err));
    node->op->operator_id = operator_id;
    /* A join reads its table side by itself; only the other one is a child of the tree. */
    int32_t n = plan->kind == FM_PLAN_JOIN ? 1 : plan->n_children;
    for (int32_t i = 0; i < n; i++) {
        int32_t child = plan->kind == FM_PLAN_JOIN ? (plan->children[1]->streaming ? 1 : 0) : i;
        const fm_plan *below = plan->kind == FM_PLAN_AGGREGATE ? fm_op_aggregate_child(node->op) : plan->children[child];
        FM_TRY(build(tree, below, node, i, err));
    }
    return list_node(tree, node, err);
}

fm_status fm_tree_build(fm_tree *tree, const fm_plan *plan, fm_error *err)
{
    tree->batch = fm_arena_new(tree->env->memory_budget);
    if (!tree->batch) return fm_no_memory(NULL, err);
    return build(tree, plan, NULL, 0, err);
}

void fm_tree_close(fm_tree *tree)
{
    for (int32_t i = 0; i < tree->n_nodes; i++) {
        fm_op *op = tree->nodes[i]->op;
        if (op && op->type->close) op->type->close(op);
    }
    for (int32_t i = 0; i < tree->n_leaves; i++) {
        fm_leaf *leaf = &tree->leaves[i];
        if (leaf->reader) leaf->reader->type->reader_close(leaf->reader);
        if (leaf->source) leaf->source->type->close(leaf->source);
    }
    fm_arena_free(tree->batch);
    tree->batch = NULL;
    tree->n_nodes = tree->n_leaves = 0;
}

/* ---- Running ----------------------------------------------------------------------------------------------- */

static fm_status push_leaf(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_node *node = ctx;
    fm_batch named = *batch;

    fm_arena_reset(node->tree->batch);
    fm_status st = push_up(node, &named, err);
    return st;
}

static fm_status read_leaf(fm_tree *tree, fm_leaf *leaf, fm_str start, fm_str end, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    const fm_source_type *type = leaf->source->type;
    fm_split *splits = NULL;
    int32_t n = 0;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = type->plan_splits(leaf->source, start, end, 1, arena, &splits, &n, err);
    for (int32_t i = 0; st == FM_OK && i < n; i++) {
        st = type->reader_read(leaf->reader, &splits[i], push_leaf, leaf->node, tree->env->cancelled, err);
        if (st == FM_OK && tree->env->cancelled && fm_wake_is_raised(tree->env->cancelled)) {
            st = fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        }
    }
    int64_t rows = 0, bad = 0;
    type->reader_counts(leaf->reader, &rows, &bad);
    leaf->rows += rows;
    leaf->bad += bad;
    fm_arena_free(arena);
    return st;
}

fm_status fm_tree_run(fm_tree *tree, const fm_op_batch *mb, const fm_exec_input *input, fm_error *err)
{
    tree->mb = mb;
    for (int32_t i = 0; i < tree->n_nodes; i++) {
        fm_op *op = tree->nodes[i]->op;
        if (op && op->type->begin) FM_TRY(op->type->begin(op, mb, err));
    }
    for (int32_t i = 0; i < tree->n_leaves; i++) {
        fm_leaf *leaf = &tree->leaves[i];
        bool is_stream = leaf->stream_index >= 0;
        leaf->rows = leaf->bad = 0;
        if (!is_stream) {
            FM_TRY(read_leaf(tree, leaf, FM_STR(""), FM_STR(""), err));
        } else if (input && !fm_str_eq(input[leaf->stream_index].start, input[leaf->stream_index].end)) {
            FM_TRY(read_leaf(tree, leaf, input[leaf->stream_index].start, input[leaf->stream_index].end, err));
        }
    }
    for (int32_t i = 0; i < tree->n_nodes; i++) {
        fm_node *node = tree->nodes[i];
        fm_arena_reset(tree->batch);
        if (node->op && node->op->type->finish) FM_TRY(node->op->type->finish(node->op, mb, tree->batch, &node->up, err));
    }
    return FM_OK;
}
