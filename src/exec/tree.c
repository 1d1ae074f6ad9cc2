/* exec/tree.c: trees of operators: building them from a plan, and pushing rows through. */
#include "exec/exec_impl.h"
#include "exec/rows.h"

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
    FM_TRY(fm_eval_new(tree->evals, tree->env->conf, bound, out, err));
    fm_eval_set_partition(*out, tree->worker);
    return FM_OK;
}

fm_status fm_tree_state(fm_tree *tree, int32_t operator_id, int32_t parts, uint32_t value_size, fm_str schema,
                        const fm_state_codec *codec, fm_state **out, fm_error *err)
{
    fm_state_spec spec = {.fs = tree->env->fs, .operator_id = operator_id, .value_size = value_size, .schema = schema};

    spec.parts = parts;
    if (codec) spec.codec = *codec;
    spec.in_memory = !tree->is_stream || !tree->env->checkpoint;
    if (!spec.in_memory) {
        fm_str dir = fm_arena_printf(tree->arena, "%s/state/%d", tree->env->checkpoint, operator_id);
        if (!dir.ptr) return fm_no_memory(tree->arena, err);
        spec.dir = dir.ptr;
    }
    return fm_state_open(&spec, tree->state_version, out, err);
}

/* ---- Handing on ------------------------------------------------------------------------------------------------- */

/* A batch under way to worker 0. */
typedef struct batch_parcel {
    fm_batch batch;
    int32_t input;
} batch_parcel;

static fm_status copy_batch(const fm_batch *in, fm_arena *arena, fm_batch *out, fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, in->schema->n_fields);

    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->schema->n_fields; i++) FM_TRY(fm_vec_copy(&columns[i], &in->columns[i], arena, err));
    *out = (fm_batch){.schema = in->schema, .rows = in->rows, .columns = columns};
    return FM_OK;
}

static fm_status send_batch(fm_exchange *ex, int32_t worker, int32_t input, const fm_batch *batch, fm_error *err)
{
    if (fm_exchange_is_direct(ex, worker, 0)) {
        batch_parcel here = {*batch, input};
        return fm_exchange_direct(ex, worker, 0, &here, err);
    }
    fm_parcel *parcel = fm_exchange_parcel(ex);
    batch_parcel *content = parcel ? fm_arena_one(parcel->arena, batch_parcel) : NULL;
    fm_status st = content ? copy_batch(batch, parcel->arena, &content->batch, err) : fm_no_memory(NULL, err);
    if (content) content->input = input;
    if (st == FM_OK) parcel->content = content;
    if (st == FM_OK) fm_exchange_send(ex, worker, 0, parcel);
    else if (parcel) fm_exchange_discard(ex, parcel);
    return st;
}

static fm_status push_up(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_node *node = ctx, *parent = node->parent;
    fm_tree *tree = node->tree;

    if (batch->rows == 0) return FM_OK;
    if (node->held && !node->gives) return fm_rows_push(node->held, batch, err);
    if (!parent && tree->forest->root_inlet) return send_batch(tree->forest->root_inlet, tree->worker, 0, batch, err);
    if (!parent) return tree->root_out.push(tree->root_out.ctx, batch, err);
    if (parent->inlet) return send_batch(parent->inlet, tree->worker, node->input, batch, err);
    return parent->op->type->push(parent->op, tree->mb, node->input, batch, tree->batch, &parent->up, err);
}

/* Between batches of its own, worker 0 gives back what an arrived batch needed. */
static void reset_when_idle(fm_tree *tree)
{
    if (!tree->busy) fm_arena_reset(tree->batch);
}

static fm_status apply_at_node(void *ctx, int32_t receiver, const void *content, fm_error *err)
{
    fm_node *node = ctx;
    fm_tree *tree = node->tree;
    const batch_parcel *parcel = content;

    reset_when_idle(tree);
    return node->op->type->push(node->op, tree->mb, parcel->input, &parcel->batch, tree->batch, &node->up, err);
}

static fm_status apply_at_root(void *ctx, int32_t receiver, const void *content, fm_error *err)
{
    fm_tree *tree = ctx;
    const batch_parcel *parcel = content;

    reset_when_idle(tree);
    return tree->root_out.push(tree->root_out.ctx, &parcel->batch, err);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

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
        if (plan->metadata_id && plan->output[i].id == plan->metadata_id) {
            spec->want_metadata = true;
            continue;
        }
        int32_t c = 0;
        while (c < schema->n_fields && !fm_str_eq(schema->fields[c].name, plan->output[i].name)) c++;
        fm_assert(c < schema->n_fields); /* the analyzer made the output from the schema */
        wanted[spec->n_wanted++] = c;
    }
    spec->wanted = wanted;
    spec->schema = schema;
    spec->conditions = plan->conditions;
    spec->n_conditions = plan->n_exprs;
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
    if (tree->worker) leaf.source = tree->forest->trees[0].leaves[tree->n_leaves].source;
    else FM_TRY(type->open(tree->env->sources, &spec, tree->arena, &leaf.source, err));
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
    case FM_PLAN_BAD_ROWS: return fm_op_bad_rows_new(tree, plan, out, err);
    case FM_PLAN_SAMPLE: return fm_op_sample_new(tree, plan, out, err);
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

/* Sort and limit, and rows that stand in the query itself: worker 0 alone. */
static bool is_single(const fm_plan *plan)
{
    switch (plan->kind) {
    case FM_PLAN_SORT:
    case FM_PLAN_LIMIT:
    case FM_PLAN_SAMPLE:
    case FM_PLAN_VALUES:
    case FM_PLAN_ONE_ROW:
    case FM_PLAN_EMPTY: return true;
    default: return false;
    }
}

static fm_status list_op(fm_tree *tree, fm_op *op, fm_error *err)
{
    if (tree->n_made == tree->cap_made) {
        int32_t cap = tree->cap_made ? tree->cap_made * 2 : 16;
        fm_op **more = fm_arena_array(tree->arena, fm_op *, cap);
        if (!more) return fm_no_memory(tree->arena, err);
        if (tree->n_made) memcpy(more, tree->made, (size_t)tree->n_made * sizeof *more);
        tree->made = more;
        tree->cap_made = cap;
    }
    tree->made[tree->n_made++] = op;
    return FM_OK;
}

fm_op *fm_tree_twin(const fm_tree *tree) { return tree->worker ? tree->forest->trees[0].made[tree->n_made] : NULL; }

/* The inlet of worker 0's node; the other trees' nodes send to it. */
static fm_status make_inlet(fm_tree *tree, fm_node *node, fm_error *err)
{
    fm_node *first = node;

    if (tree->forest->n == 1 || node->plan->n_children == 0) return FM_OK;
    if (tree->worker == 0) return fm_exchange_new(tree->forest->n, 1, apply_at_node, node, &node->inlet, err);
    for (int32_t i = 0; i < tree->forest->trees[0].n_nodes; i++) {
        first = tree->forest->trees[0].nodes[i];
        if (first->op == tree->forest->trees[0].made[tree->n_made]) break;
    }
    node->inlet = first->inlet;
    return FM_OK;
}

static fm_status make_op(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_node *node, fm_error *err)
{
    bool single = is_single(plan);

    if (single) FM_TRY(make_inlet(tree, node, err));
    if (single && tree->worker) return list_op(tree, NULL, err);
    fm_status st = new_op(tree, plan, operator_id, &node->op, err);
    if (node->op) node->op->operator_id = operator_id;
    fm_status listed = list_op(tree, node->op, st == FM_OK ? err : NULL); /* from here on it is closed with the tree */
    return st == FM_OK ? listed : st;
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
    if (plan->kind == FM_PLAN_SORT && !(parent && parent->plan->kind == FM_PLAN_LIMIT)) tree->under_sort = true;
    if (is_stateful(tree, plan)) operator_id = (*tree->next_operator)++; /* from the sink down: 0 is nearest to it */
    if (plan->kind == FM_PLAN_JOIN && plan->children[0]->streaming && plan->children[1]->streaming) return unsupported("Joins of two streams", "Join a stream with a table.", err);
    FM_TRY(make_op(tree, plan, operator_id, node, err));
    /* A join reads its table side by itself; only the other one is a child of the tree. */
    int32_t n = plan->kind == FM_PLAN_JOIN ? 1 : plan->n_children;
    for (int32_t i = 0; i < n; i++) {
        int32_t child = plan->kind == FM_PLAN_JOIN ? (plan->children[1]->streaming ? 1 : 0) : i;
        const fm_plan *below = plan->kind == FM_PLAN_AGGREGATE ? fm_op_aggregate_child(node->op) : plan->children[child];
        FM_TRY(build(tree, below, node, i, err));
    }
    return list_node(tree, node, err);
}

static fm_status build_tree(fm_forest *forest, int32_t worker, const fm_tree *first, const fm_emit *root_out, const fm_plan *plan, fm_error *err)
{
    fm_tree *tree = &forest->trees[worker];
    int32_t operator_id = *first->next_operator, stream = *first->next_stream;

    *tree = *first;
    tree->forest = forest;
    tree->worker = worker;
    tree->root_out = root_out[worker];
    tree->batch = fm_arena_new(first->env->memory_budget);
    tree->evals = fm_arena_new(0);
    if (!tree->batch || !tree->evals) return fm_no_memory(NULL, err);
    if (worker) { /* the same numbers again */
        tree->next_operator = &operator_id;
        tree->next_stream = &stream;
        operator_id = stream = 0;
    }
    FM_TRY(build(tree, plan, NULL, 0, err));
    tree->next_operator = first->next_operator;
    tree->next_stream = first->next_stream;
    return FM_OK;
}

/* Whether rows of a node meet an exchange on their way up. */
static bool has_exchange_above(const fm_forest *forest, const fm_node *node)
{
    for (const fm_node *at = node->parent; at; at = at->parent)
        if (at->inlet || (at->op && at->op->type->placement == FM_OP_KEYED)) return true;
    return forest->root_inlet != NULL;
}

static fm_status make_held(fm_forest *forest, fm_error *err)
{
    fm_tree *tree = &forest->trees[0];

    for (int32_t i = 0; i < tree->n_nodes; i++) {
        fm_node *node = tree->nodes[i];
        if (!node->inlet || !has_exchange_above(forest, node)) continue;
        fm_rows *held = fm_arena_one(tree->arena, fm_rows);
        if (!held) return fm_no_memory(tree->arena, err);
        FM_TRY(fm_rows_init(held, node->op->schema, tree->env->memory_budget, err));
        node->held = held;
    }
    return FM_OK;
}

fm_status fm_forest_build(fm_forest *forest, fm_crew *crew, const fm_tree *first, const fm_emit *root_out, bool single_root,
                          const fm_plan *plan, fm_error *err)
{
    *forest = (fm_forest){.crew = crew, .n = fm_crew_size(crew), .single_root = single_root};
    forest->trees = fm_arena_array(first->arena, fm_tree, forest->n);
    if (!forest->trees) return fm_no_memory(first->arena, err);
    for (int32_t i = 0; i < forest->n; i++) FM_TRY(build_tree(forest, i, first, root_out, plan, err));
    if (forest->n == 1) return FM_OK;
    if (single_root) FM_TRY(fm_exchange_new(forest->n, 1, apply_at_root, &forest->trees[0], &forest->root_inlet, err));
    FM_TRY(make_held(forest, err));
    return fm_exchange_new(forest->n, 0, NULL, NULL, &forest->sharing, err);
}

static void close_tree(fm_tree *tree)
{
    /* Twins first: they borrow from worker 0's. */
    for (int32_t i = 0; i < tree->n_made; i++) {
        fm_op *op = tree->made[i];
        if (op && op->type->close) op->type->close(op);
    }
    for (int32_t i = 0; i < tree->n_nodes; i++) {
        if (tree->worker == 0) fm_exchange_free(tree->nodes[i]->inlet);
        if (tree->nodes[i]->held) fm_rows_fini(tree->nodes[i]->held);
    }
    for (int32_t i = 0; i < tree->n_leaves; i++) {
        fm_leaf *leaf = &tree->leaves[i];
        if (leaf->reader) leaf->reader->type->reader_close(leaf->reader);
        if (leaf->source && tree->worker == 0) leaf->source->type->close(leaf->source);
    }
    fm_arena_free(tree->batch);
    fm_arena_free(tree->evals);
    tree->batch = tree->evals = NULL;
    tree->n_nodes = tree->n_made = tree->n_leaves = 0;
}

void fm_forest_close(fm_forest *forest)
{
    for (int32_t i = forest->n; forest->trees && i-- > 0;) close_tree(&forest->trees[i]);
    fm_exchange_free(forest->root_inlet);
    fm_exchange_free(forest->sharing);
    *forest = (fm_forest){0};
}
