/* exec/forest_run.c: a micro-batch, stage by stage.
 *
 * Each source is read, all workers taking its splits; then each operator that kept something gives it out, children
 * before parents. Between two of these all workers are done. With one worker nothing is shared out and nothing sent. */
#include "exec/exec_impl.h"
#include "exec/rows.h"

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* The exchange that rows of a node come to next on their way up; where there is none, one that only shares out pieces. */
static fm_exchange *next_exchange(const fm_forest *forest, const fm_node *node)
{
    for (const fm_node *at = node->parent; at; at = at->parent) {
        if (at->inlet) return at->inlet;
        if (at->op && at->op->type->placement == FM_OP_KEYED) return fm_op_aggregate_exchange(at->op);
    }
    return forest->root_inlet ? forest->root_inlet : forest->sharing;
}

/* A source being read. */
typedef struct reading {
    fm_forest *forest;
    int32_t leaf;
    const fm_split *splits;
    fm_exchange *ex;     /* NULL: one worker */
} reading;

typedef struct pusher {
    fm_tree *tree;
    fm_node *node;
    fm_exchange *ex;
} pusher;

fm_status fm_exec_go_on(const fm_wake *cancelled, fm_error *err)
{
    return cancelled && fm_wake_is_raised(cancelled) ? fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.") : FM_OK;
}

static fm_status push_leaf(void *ctx, const fm_batch *batch, fm_error *err)
{
    pusher *p = ctx;

    if (p->ex) FM_TRY(fm_exchange_next_batch(p->ex, p->tree->worker));
    fm_arena_reset(p->tree->batch);
    p->tree->busy = true;
    fm_status st = p->node->up.push(p->node->up.ctx, batch, err);
    p->tree->busy = false;
    return st;
}

static fm_status read_split(fm_tree *tree, fm_leaf *leaf, const fm_split *split, fm_exchange *ex, fm_error *err)
{
    const fm_source_type *type = leaf->source->type;
    pusher p = {tree, leaf->node, ex};
    fm_status st = type->reader_read(leaf->reader, split, push_leaf, &p, tree->env->cancelled, err);

    return st == FM_OK ? fm_exec_go_on(tree->env->cancelled, err) : st;
}

static void read_pieces(void *ctx, int32_t worker)
{
    reading *r = ctx;
    fm_tree *tree = &r->forest->trees[worker];
    int64_t piece;

    while ((piece = fm_exchange_take(r->ex, worker)) >= 0) {
        fm_error err = FM_ERROR_INIT;
        fm_status st = read_split(tree, &tree->leaves[r->leaf], &r->splits[piece], r->ex, &err);
        fm_exchange_end_piece(r->ex, worker, st, &err);
    }
    fm_exchange_drain(r->ex, worker);
}

static fm_status read_all(reading *r, int32_t n, fm_error *err)
{
    fm_tree *tree = &r->forest->trees[0];

    if (!r->ex) {
        for (int32_t i = 0; i < n; i++) FM_TRY(read_split(tree, &tree->leaves[r->leaf], &r->splits[i], NULL, err));
        return FM_OK;
    }
    bool solo = n == 1; /* waking the others would cost more than they could do */
    fm_exchange_begin(r->ex, n, false, solo, tree->env->cancelled);
    if (solo) read_pieces(r, 0);
    else fm_crew_run(r->forest->crew, read_pieces, r);
    return fm_exchange_result(r->ex, err);
}

static void count_rows(fm_forest *forest, int32_t number)
{
    for (int32_t i = 0; i < forest->n; i++) {
        fm_leaf *leaf = &forest->trees[i].leaves[number];
        int64_t rows = 0, bad = 0;
        leaf->reader->type->reader_counts(leaf->reader, &rows, &bad);
        leaf->rows += rows;
        leaf->bad += bad;
    }
}

static fm_status read_leaf(fm_forest *forest, int32_t number, fm_str start, fm_str end, fm_error *err)
{
    fm_leaf *leaf = &forest->trees[0].leaves[number];
    fm_arena *arena = fm_arena_new(0);
    fm_split *splits = NULL;
    int32_t n = 0;

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = leaf->source->type->plan_splits(leaf->source, start, end, forest->n, arena, &splits, &n, err);
    if (st == FM_OK) {
        reading r = {forest, number, splits, forest->n > 1 ? next_exchange(forest, leaf->node) : NULL};
        st = read_all(&r, n, err);
    }
    count_rows(forest, number);
    fm_arena_free(arena);
    return st;
}

static fm_status read_leaves(fm_forest *forest, const fm_exec_input *input, fm_error *err)
{
    for (int32_t i = 0; i < forest->trees[0].n_leaves; i++) {
        int32_t stream = forest->trees[0].leaves[i].stream_index;
        for (int32_t w = 0; w < forest->n; w++) forest->trees[w].leaves[i].rows = forest->trees[w].leaves[i].bad = 0;
        if (stream < 0) FM_TRY(read_leaf(forest, i, FM_STR(""), FM_STR(""), err));
        else if (input && !fm_str_eq(input[stream].start, input[stream].end)) FM_TRY(read_leaf(forest, i, input[stream].start, input[stream].end, err));
    }
    return FM_OK;
}

/* ---- Giving out ------------------------------------------------------------------------------------------------- */

/* An operator that gives out what it kept. */
typedef struct giving {
    fm_forest *forest;
    int32_t node;
    fm_exchange *ex;
} giving;

static fm_status finish_node(fm_tree *tree, int32_t number, fm_error *err)
{
    fm_node *node = tree->nodes[number];
    fm_status st = FM_OK;

    tree->busy = true;
    node->gives = true;
    for (int32_t i = 0; node->held && st == FM_OK && i < node->held->n; i++) {
        fm_arena_reset(tree->batch);
        st = node->up.push(node->up.ctx, node->held->batches[i], err);
    }
    fm_arena_reset(tree->batch);
    if (st == FM_OK && node->op->type->finish) st = node->op->type->finish(node->op, tree->mb, tree->batch, &node->up, err);
    node->gives = false;
    tree->busy = false;
    return st;
}

static void give_pieces(void *ctx, int32_t worker)
{
    giving *g = ctx;

    if (fm_exchange_take(g->ex, worker) >= 0) {
        fm_error err = FM_ERROR_INIT;
        fm_status st = finish_node(&g->forest->trees[worker], g->node, &err);
        fm_exchange_end_piece(g->ex, worker, st, &err);
    }
    fm_exchange_drain(g->ex, worker);
}

static fm_status finish_all(fm_forest *forest, int32_t number, fm_error *err)
{
    fm_node *node = forest->trees[0].nodes[number];
    bool keyed = node->op->type->placement == FM_OP_KEYED;

    if (forest->n == 1) return finish_node(&forest->trees[0], number, err);
    giving g = {forest, number, next_exchange(forest, node)};
    fm_exchange_begin(g.ex, keyed ? forest->n : 1, true, !keyed, forest->trees[0].env->cancelled);
    if (keyed) fm_crew_run(forest->crew, give_pieces, &g);
    else give_pieces(&g, 0);
    return fm_exchange_result(g.ex, err);
}

fm_status fm_forest_run(fm_forest *forest, const fm_op_batch *mb, const fm_exec_input *input, fm_error *err)
{
    const fm_tree *first = &forest->trees[0];

    for (int32_t w = 0; w < forest->n; w++) {
        fm_tree *tree = &forest->trees[w];
        tree->mb = mb;
        for (int32_t i = 0; i < tree->n_nodes; i++) {
            fm_op *op = tree->nodes[i]->op;
            if (tree->nodes[i]->held) fm_rows_reset(tree->nodes[i]->held);
            if (op && op->type->begin) FM_TRY(op->type->begin(op, mb, err));
        }
    }
    FM_TRY(read_leaves(forest, input, err));
    for (int32_t i = 0; i < first->n_nodes; i++) {
        fm_op *op = first->nodes[i]->op;
        if (op && (op->type->finish || first->nodes[i]->held)) FM_TRY(finish_all(forest, i, err));
    }
    return FM_OK;
}
