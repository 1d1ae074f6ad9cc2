/* exec/explain.c: the physical plan as text. */
#include <stdio.h>

#include "exec/exec_impl.h"
#include "plan/condition_text.h"

enum { PUSHED_MAX = 64 /* columns said not to be null */ };

typedef struct explaining {
    const fm_source_env *sources;
    fm_output_mode mode;
    int32_t next_operator;
    fm_strbuf *out;
} explaining;

static const char *operator_name(const fm_plan *p)
{
    switch (p->kind) {
    case FM_PLAN_PROJECT: return "Project";
    case FM_PLAN_FILTER: return "Filter";
    case FM_PLAN_WATERMARK: return "EventTimeWatermark";
    case FM_PLAN_TIME_WINDOW: return "TimeWindow";
    case FM_PLAN_SESSION_WINDOW: return "SessionWindow";
    case FM_PLAN_GENERATE: return "Generate";
    case FM_PLAN_UNION: return "Union";
    case FM_PLAN_AGGREGATE: return p->streaming ? "StateAggregate" : "HashAggregate";
    case FM_PLAN_SORT: return "Sort";
    case FM_PLAN_LIMIT: return p->streaming ? "StateLimit" : "Limit";
    case FM_PLAN_JOIN: return "BroadcastHashJoin";
    case FM_PLAN_VALUES:
    case FM_PLAN_ONE_ROW:
    case FM_PLAN_EMPTY: return "LocalTableScan";
    case FM_PLAN_READ: return p->streaming ? "StreamScan" : "Scan";
    case FM_PLAN_DEDUPLICATE: return "StateDeduplicate";
    case FM_PLAN_SAMPLE: return "Sample";
    case FM_PLAN_BAD_ROWS: return "BadRows";
    default: return "Node";
    }
}

static void add_exprs(fm_expr *const *exprs, int32_t n, fm_strbuf *out)
{
    fm_strbuf_add_c(out, " [");
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        fm_expr_sql(exprs[i], out);
    }
    fm_strbuf_add_char(out, ']');
}

static void add_details(const fm_plan *p, fm_output_mode mode, fm_strbuf *out)
{
    if (p->kind == FM_PLAN_READ) {
        fm_strbuf_printf(out, " %.*s [", FM_STR_ARG(p->table->format));
        for (int32_t i = 0; i < p->n_output; i++) {
            fm_strbuf_printf(out, "%s%.*s", i ? ", " : "", FM_STR_ARG(p->output[i].name));
        }
        fm_str path = fm_options_get(&p->table->options, "path", FM_STR(""));
        fm_strbuf_printf(out, "] %.*s", FM_STR_ARG(path));
        return;
    }
    if (p->kind == FM_PLAN_WATERMARK) fm_strbuf_printf(out, " delay %.3f s", (double)p->delay_us / 1e6);
    if (p->kind == FM_PLAN_TIME_WINDOW) fm_strbuf_printf(out, " %.3f s every %.3f s", (double)p->window.duration_us / 1e6, (double)p->window.slide_us / 1e6);
    if (p->n_group_exprs) add_exprs(p->group_exprs, p->n_group_exprs, out);
    if (p->kind == FM_PLAN_SAMPLE) fm_strbuf_printf(out, " %g", p->fraction);
    else if (p->n_exprs) add_exprs(p->exprs, p->n_exprs, out);
    if (p->kind == FM_PLAN_AGGREGATE && p->streaming) fm_strbuf_printf(out, ", %s mode", fm_output_mode_name(mode));
    if (p->kind == FM_PLAN_LIMIT) fm_strbuf_printf(out, " %lld", (long long)p->limit);
}

/* ---- Filters that sources are told ------------------------------------------------------------------------------ */

/* FILTERs as Spark shows them: conditions on columns known before reading as they stand, then all others by what sources call them,
 * before them that what is compared is not null. */
typedef struct told {
    const fm_plan *read;
    bool *is_partition; /* [schema->n_fields]; NULL: none is */
    const fm_zone *zone;
    fm_strbuf *out;
    int32_t n;          /* printed of the list */
} told;

static void add_item(told *t)
{
    if (t->n++) fm_strbuf_add_c(t->out, ", ");
}

/* Columns that are not null wherever the condition holds, as Spark infers them: seen [*n_seen], each once. */
static void not_null(const fm_condition *c, fm_condition *seen, int32_t *n_seen)
{
    if (c->op == FM_COND_AND) {
        not_null(c->left, seen, n_seen);
        not_null(c->right, seen, n_seen);
        return;
    }
    if (c->op == FM_COND_NOT) c = c->left;
    if (!c->n_path || c->op == FM_COND_IS_NULL || c->op == FM_COND_SAME || c->op == FM_COND_IN || *n_seen == PUSHED_MAX) return;
    for (int32_t i = 0; i < *n_seen; i++) {
        if (seen[i].n_path == c->n_path && memcmp(seen[i].path, c->path, (size_t)c->n_path * sizeof *c->path) == 0) return;
    }
    seen[*n_seen] = *c;
    seen[(*n_seen)++].op = FM_COND_NOT_NULL;
}

static bool in_folders(const told *t, int32_t i) { return t->is_partition && fm_condition_within(t->read->conditions[i], t->is_partition); }

/* Columns that the conditions on folders, or the others, say are not null. */
static int32_t columns_not_null(const told *t, bool folders, fm_condition *seen)
{
    int32_t n = 0;

    for (int32_t i = 0; i < t->read->n_exprs; i++) {
        if (in_folders(t, i) == folders) not_null(t->read->conditions[i], seen, &n);
    }
    return n;
}

static void add_told(told *t)
{
    const fm_plan *p = t->read;
    const fm_type *schema = p->table->schema;
    fm_condition seen[PUSHED_MAX];
    int32_t n = columns_not_null(t, true, seen);

    fm_strbuf_add_c(t->out, ", PartitionFilters: [");
    for (int32_t i = 0; i < n; i++) {
        add_item(t);
        fm_strbuf_printf(t->out, "isnotnull(%.*s)", FM_STR_ARG(schema->fields[seen[i].path[0]].name));
    }
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (!in_folders(t, i) || p->conditions[i]->op == FM_COND_NOT_NULL) continue;
        add_item(t);
        fm_expr_sql(p->exprs[i], t->out);
    }
    fm_strbuf_add_c(t->out, "], PushedFilters: [");
    t->n = 0;
    n = columns_not_null(t, false, seen);
    for (int32_t i = 0; i < n; i++) {
        add_item(t);
        fm_condition_text(&seen[i], schema, t->zone, t->out);
    }
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (in_folders(t, i) || p->conditions[i]->op == FM_COND_NOT_NULL) continue;
        add_item(t);
        fm_condition_text(p->conditions[i], schema, t->zone, t->out);
    }
    fm_strbuf_add_char(t->out, ']');
}

static fm_status add_filters(const explaining *x, const fm_plan *p, fm_error *err)
{
    const fm_source_type *type = fm_source_lookup(x->sources, p->table->format);
    told t = {.read = p, .zone = x->sources->conf->zone, .out = x->out};

    if (!type || !type->prunes || p->n_exprs == 0) return FM_OK;
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = type->partitions ? type->partitions(x->sources, p->table, arena, &t.is_partition, err) : FM_OK;
    if (st == FM_OK) add_told(&t);
    fm_arena_free(arena);
    return st;
}

static fm_status add_plan(explaining *x, const fm_plan *p, int depth, fm_error *err)
{
    bool stateful = p->streaming && (p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_DEDUPLICATE || p->kind == FM_PLAN_LIMIT);

    for (int i = 0; i < depth; i++) fm_strbuf_add_c(x->out, i + 1 < depth ? "   " : "+- ");
    fm_strbuf_add_c(x->out, operator_name(p));
    if (stateful) fm_strbuf_printf(x->out, " (operator %d)", (int)x->next_operator++);
    add_details(p, x->mode, x->out);
    if (p->kind == FM_PLAN_READ) FM_TRY(add_filters(x, p, err));
    fm_strbuf_add_char(x->out, '\n');
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(add_plan(x, p->children[i], depth + 1, err));
    return FM_OK;
}

fm_status fm_exec_explain(const fm_plan *plan, fm_output_mode mode, const fm_source_env *sources, fm_strbuf *out, fm_error *err)
{
    explaining x = {.sources = sources, .mode = mode, .out = out};

    FM_TRY(add_plan(&x, plan, 0, err));
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}
