/* exec/explain.c: the physical plan as text. */
#include <stdio.h>

#include "exec/exec_impl.h"

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

static void add_plan(const fm_plan *p, fm_output_mode mode, int depth, int32_t *next_operator, fm_strbuf *out)
{
    bool stateful = p->streaming && (p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_DEDUPLICATE || p->kind == FM_PLAN_LIMIT);

    for (int i = 0; i < depth; i++) fm_strbuf_add_c(out, i + 1 < depth ? "   " : "+- ");
    fm_strbuf_add_c(out, operator_name(p));
    if (stateful) fm_strbuf_printf(out, " (operator %d)", (*next_operator)++);
    add_details(p, mode, out);
    fm_strbuf_add_char(out, '\n');
    for (int32_t i = 0; i < p->n_children; i++) add_plan(p->children[i], mode, depth + 1, next_operator, out);
}

fm_status fm_exec_explain(const fm_plan *plan, fm_output_mode mode, const fm_session_conf *conf, fm_strbuf *out, fm_error *err)
{
    int32_t next_operator = 0;

    add_plan(plan, mode, 0, &next_operator, out);
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}
