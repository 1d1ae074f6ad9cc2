/* plan/plan_text.c: plans as EXPLAIN shows them:
 *
 *     Aggregate [k#2], [k#2, count(1) AS n#4L]
 *     +- Filter (v#3L > 1)
 *        +- EventTimeWatermark ts#1: timestamp, 10 seconds
 *           +- StreamingRelation json, [ts#1, k#2, v#3L]
 *
 * Rule  Spark, TreeNode.treeString: a column is name#id, with L behind a bigint; what is not resolved starts with '. */
#include "plan/plan_impl.h"

#include <inttypes.h>

#include "base/time_text.h"

typedef struct printing {
    fm_arena *arena; /* for copies of expressions with marked names */
    fm_strbuf *out;
} printing;

static void add_attr(fm_strbuf *out, const fm_attr *a)
{
    fm_strbuf_printf(out, "%.*s#%d%s", FM_STR_ARG(a->name), (int)a->id, a->type->id == FM_TYPE_I64 ? "L" : "");
}

static void add_attrs(fm_strbuf *out, const fm_attr *attrs, int32_t from, int32_t n)
{
    fm_strbuf_add_char(out, '[');
    for (int32_t i = from; i < n; i++) {
        if (i > from) fm_strbuf_add_c(out, ", ");
        add_attr(out, &attrs[i]);
    }
    fm_strbuf_add_char(out, ']');
}

/* Columns get their identity, names their mark. */
static fm_status mark(void *ctx, fm_expr **e, fm_error *err)
{
    fm_arena *arena = ctx;
    fm_expr *copy;

    if ((*e)->kind != FM_EXPR_ATTRIBUTE && ((*e)->kind != FM_EXPR_NAME || !(*e)->n_parts)) return FM_OK;
    copy = fm_expr_copy_node(arena, *e);
    if (!copy) return fm_no_memory(arena, err);
    if (copy->kind == FM_EXPR_ATTRIBUTE) {
        copy->name = fm_arena_printf(arena, "%.*s#%d%s", FM_STR_ARG(copy->name), (int)copy->attr_id,
                                     copy->type && copy->type->id == FM_TYPE_I64 ? "L" : "");
    } else {
        copy->parts = fm_arena_array(arena, fm_str, copy->n_parts);
        if (!copy->parts) return fm_no_memory(arena, err);
        memcpy(copy->parts, (*e)->parts, sizeof(fm_str) * (size_t)copy->n_parts);
        copy->parts[0] = fm_arena_printf(arena, "'%.*s", FM_STR_ARG(copy->parts[0]));
    }
    *e = copy;
    return FM_OK;
}

static void add_expr(const printing *p, const fm_expr *e)
{
    fm_expr *marked;

    if (fm_expr_rewrite(p->arena, (fm_expr *)(uintptr_t)e, mark, p->arena, &marked, NULL) != FM_OK) return;
    fm_expr_sql(marked, p->out);
    if (e->kind != FM_EXPR_ALIAS) return;
    fm_strbuf_printf(p->out, " AS %.*s", FM_STR_ARG(e->name));
    if (e->attr_id) fm_strbuf_printf(p->out, "#%d%s", (int)e->attr_id, e->type->id == FM_TYPE_I64 ? "L" : "");
}

static void add_exprs(const printing *p, fm_expr *const *exprs, int32_t n)
{
    fm_strbuf_add_char(p->out, '[');
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_c(p->out, ", ");
        add_expr(p, exprs[i]);
    }
    fm_strbuf_add_char(p->out, ']');
}

static void add_names(fm_strbuf *out, const fm_str *names, int32_t n)
{
    fm_strbuf_add_char(out, '[');
    for (int32_t i = 0; i < n; i++) fm_strbuf_printf(out, "%s%.*s", i ? ", " : "", FM_STR_ARG(names[i]));
    fm_strbuf_add_char(out, ']');
}

/* The largest unit that gives a whole number. */
static void add_duration(fm_strbuf *out, int64_t us)
{
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"day", FM_US_PER_DAY},       {"hour", FM_US_PER_HOUR},      {"minute", FM_US_PER_MINUTE},
                 {"second", FM_US_PER_SECOND}, {"millisecond", FM_US_PER_MS}, {"microsecond", 1}};
    size_t i = 0;

    if (us == 0) i = 3;
    while (us % units[i].us) i++;
    int64_t n = us / units[i].us;
    fm_strbuf_printf(out, "%" PRId64 " %s%s", n, units[i].name, n == 1 ? "" : "s");
}

static void add_lateness(fm_strbuf *out, const fm_lateness *l)
{
    if (l->allowed_us) {
        fm_strbuf_add_c(out, ", allowed lateness ");
        add_duration(out, l->allowed_us);
    }
    if (l->by_event) fm_strbuf_add_c(out, ", late by event time");
    if (l->late_format.len) {
        fm_strbuf_printf(out, ", late rows to %.*s `%.*s`", FM_STR_ARG(l->late_format), FM_STR_ARG(l->late_path));
    }
}

static void add_bad_rows(const printing *p, const fm_plan *n)
{
    const fm_bad_rows *b = &n->bad_rows;

    fm_strbuf_add_c(p->out, b->action == FM_BAD_ROWS_FAIL ? "BadRows fail" : b->action == FM_BAD_ROWS_DROP ? "BadRows drop" : "BadRows to ");
    if (b->action == FM_BAD_ROWS_KEEP) fm_strbuf_printf(p->out, "%.*s `%.*s`", FM_STR_ARG(b->format), FM_STR_ARG(b->path));
}

static const char *join_text(fm_join_type type)
{
    static const char *const names[] = {"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi", "LeftAnti"};
    return names[type];
}

static void add_join(const printing *p, const fm_plan *j)
{
    fm_strbuf_printf(p->out, "Join %s%s", j->natural ? "Natural " : "", join_text(j->join_type));
    if (j->n_column_names) {
        fm_strbuf_add_c(p->out, ", USING ");
        add_names(p->out, j->column_names, j->n_column_names);
    }
    if (j->n_exprs) {
        fm_strbuf_add_c(p->out, ", ");
        add_expr(p, j->exprs[0]);
    }
}

static void add_watermark(const printing *p, const fm_plan *w)
{
    fm_strbuf type = {0};

    fm_strbuf_add_c(p->out, "EventTimeWatermark ");
    add_expr(p, w->exprs[0]);
    if (w->exprs[0]->type) {
        fm_type_text(w->exprs[0]->type, &type);
        fm_strbuf_printf(p->out, ": %s", type.ptr ? type.ptr : "");
    }
    fm_strbuf_add_c(p->out, ", ");
    if (w->delay_is_text && !w->resolved) fm_strbuf_add(p->out, w->delay_text);
    else add_duration(p->out, w->delay_us);
    fm_strbuf_fini(&type);
}

static void add_window(const printing *p, const fm_plan *w)
{
    fm_strbuf_add_c(p->out, w->kind == FM_PLAN_TIME_WINDOW ? "TimeWindow " : "SessionWindow ");
    add_expr(p, w->exprs[0]);
    fm_strbuf_add_c(p->out, ", ");
    if (w->kind == FM_PLAN_SESSION_WINDOW) {
        add_expr(p, w->exprs[1]);
    } else {
        add_duration(p->out, w->window.duration_us);
        if (w->window.slide_us != w->window.duration_us) {
            fm_strbuf_add_c(p->out, ", slide ");
            add_duration(p->out, w->window.slide_us);
        }
        if (w->window.start_us) {
            fm_strbuf_add_c(p->out, ", start ");
            add_duration(p->out, w->window.start_us);
        }
    }
    fm_strbuf_printf(p->out, " AS %s#%d", w->kind == FM_PLAN_TIME_WINDOW ? "window" : "session_window",
                     (int)w->window_id);
}

static void add_read(const printing *p, const fm_plan *r)
{
    fm_strbuf_printf(p->out, "%s %.*s, ", r->streaming ? "StreamingRelation" : "Relation", FM_STR_ARG(r->table->format));
    add_attrs(p->out, r->output, 0, r->n_output);
}

static void add_aggregate(const printing *p, const fm_plan *a)
{
    if (a->is_distinct && a->n_exprs == a->n_group_exprs) fm_strbuf_add_c(p->out, "Distinct ");
    else fm_strbuf_add_c(p->out, "Aggregate ");
    add_exprs(p, a->group_exprs, a->n_group_exprs);
    fm_strbuf_add_c(p->out, ", ");
    add_exprs(p, a->exprs, a->n_exprs);
    add_lateness(p->out, &a->lateness);
}

static void add_limit(const printing *p, const fm_plan *l)
{
    if (l->limit_expr || l->limit >= 0) fm_strbuf_add_c(p->out, "GlobalLimit ");
    if (l->limit_expr) add_expr(p, l->limit_expr);
    else if (l->limit >= 0) fm_strbuf_printf(p->out, "%" PRId64, l->limit);
    if (!l->offset_expr && l->offset == 0) return;
    fm_strbuf_add_c(p->out, l->limit_expr || l->limit >= 0 ? ", Offset " : "Offset ");
    if (l->offset_expr) add_expr(p, l->offset_expr);
    else fm_strbuf_printf(p->out, "%" PRId64, l->offset);
}

static void add_list(const printing *p, const char *name, fm_expr *const *exprs, int32_t n)
{
    fm_strbuf_printf(p->out, "%s ", name);
    add_exprs(p, exprs, n);
}

static void add_named(const printing *p, const char *name, fm_str what)
{
    fm_strbuf_printf(p->out, "%s%s%.*s", name, what.len ? " " : "", FM_STR_ARG(what));
}

static const char *command_name(fm_plan_kind kind)
{
    switch (kind) {
    case FM_PLAN_CREATE_TABLE: return "CreateTable";
    case FM_PLAN_CREATE_VIEW: return "CreateView";
    case FM_PLAN_CREATE_STREAMING_TABLE: return "CreateStreamingTable";
    case FM_PLAN_DROP: return "Drop";
    case FM_PLAN_SET: return "SetCommand";
    case FM_PLAN_EXPLAIN: return "ExplainCommand";
    case FM_PLAN_SHOW: return "Show";
    default: return "Describe";
    }
}

static void add_node(const printing *p, const fm_plan *n)
{
    fm_strbuf *out = p->out;

    if (!n->resolved) fm_strbuf_add_char(out, '\'');
    switch (n->kind) {
    case FM_PLAN_RELATION:
        fm_strbuf_add_c(out, "UnresolvedRelation ");
        add_names(out, n->name_parts, n->n_name_parts);
        fm_strbuf_printf(out, ", [], %s", n->streaming ? "true" : "false");
        break;
    case FM_PLAN_TABLE_FUNCTION:
        fm_strbuf_printf(out, "UnresolvedTableValuedFunction [%.*s], ", FM_STR_ARG(n->name));
        add_exprs(p, n->exprs, n->n_exprs);
        break;
    case FM_PLAN_WITH:
        fm_strbuf_add_c(out, "CTE [");
        for (int32_t i = 0; i < n->n_ctes; i++) {
            fm_strbuf_printf(out, "%s%.*s", i ? ", " : "", FM_STR_ARG(n->ctes[i].name));
        }
        fm_strbuf_add_char(out, ']');
        break;
    case FM_PLAN_LATERAL_VIEW:
    case FM_PLAN_GENERATE:
        fm_strbuf_add_c(out, "Generate ");
        add_expr(p, n->exprs[0]);
        fm_strbuf_printf(out, ", %s, ", n->outer ? "true" : "false");
        if (n->resolved) add_attrs(out, n->output, n->generator_first, n->n_output);
        else add_names(out, n->column_names, n->n_column_names);
        break;
    case FM_PLAN_HINT: add_named(p, "UnresolvedHint", n->name); break;
    case FM_PLAN_ONE_ROW: fm_strbuf_add_c(out, "OneRowRelation"); break;
    case FM_PLAN_VALUES:
        fm_strbuf_add_c(out, n->resolved ? "LocalRelation " : "UnresolvedInlineTable ");
        if (n->resolved) add_attrs(out, n->output, 0, n->n_output);
        break;
    case FM_PLAN_EMPTY:
        fm_strbuf_add_c(out, "LocalRelation <empty>, ");
        add_attrs(out, n->output, 0, n->n_output);
        break;
    case FM_PLAN_PROJECT: add_list(p, "Project", n->exprs, n->n_exprs); break;
    case FM_PLAN_FILTER:
        fm_strbuf_add_c(out, n->is_having && !n->resolved ? "UnresolvedHaving " : "Filter ");
        add_expr(p, n->exprs[0]);
        break;
    case FM_PLAN_AGGREGATE: add_aggregate(p, n); break;
    case FM_PLAN_JOIN: add_join(p, n); break;
    case FM_PLAN_UNION: fm_strbuf_add_c(out, "Union"); break;
    case FM_PLAN_SET_OP:
        fm_strbuf_printf(out, "%s %s", fm_str_eq_ci(n->set_op, FM_STR("EXCEPT")) ? "Except" : "Intersect",
                         n->all ? "true" : "false");
        break;
    case FM_PLAN_DISTINCT: fm_strbuf_add_c(out, "Distinct"); break;
    case FM_PLAN_SORT:
        add_list(p, "Sort", n->exprs, n->n_exprs);
        fm_strbuf_add_c(out, ", true");
        break;
    case FM_PLAN_LIMIT: add_limit(p, n); break;
    case FM_PLAN_SUBQUERY_ALIAS: add_named(p, "SubqueryAlias", n->name); break;
    case FM_PLAN_WATERMARK: add_watermark(p, n); break;
    case FM_PLAN_DEDUPLICATE:
        fm_strbuf_add_c(out, n->within_watermark ? "DeduplicateWithinWatermark " : "Deduplicate ");
        if (n->resolved) add_exprs(p, n->exprs, n->n_exprs);
        else add_names(out, n->column_names, n->n_column_names);
        add_lateness(out, &n->lateness);
        break;
    case FM_PLAN_SAMPLE:
        if (n->resolved) fm_strbuf_printf(out, "Sample %g", n->fraction);
        else fm_strbuf_add_c(out, "Sample");
        break;
    case FM_PLAN_READ: add_read(p, n); break;
    case FM_PLAN_TIME_WINDOW:
    case FM_PLAN_SESSION_WINDOW: add_window(p, n); break;
    case FM_PLAN_BAD_ROWS: add_bad_rows(p, n); break;
    case FM_PLAN_OVER: add_list(p, "Window", n->exprs, n->n_exprs); break;
    default: add_named(p, command_name(n->kind), n->name); break;
    }
}

/* `indent` is what stands before the children of the node. */
static void add_tree(const printing *p, const fm_plan *n, fm_strbuf *indent, bool root, bool last)
{
    size_t len = indent->len;

    if (!root) {
        fm_strbuf_add(p->out, fm_strbuf_str(indent));
        fm_strbuf_add_c(p->out, last ? "+- " : ":- ");
        fm_strbuf_add_c(indent, last ? "   " : ":  ");
    }
    add_node(p, n);
    fm_strbuf_add_char(p->out, '\n');
    for (int32_t i = 0; i < n->n_children; i++) {
        add_tree(p, n->children[i], indent, false, i == n->n_children - 1);
    }
    indent->len = len;
}

void fm_plan_text(const fm_plan *plan, fm_strbuf *out)
{
    printing p = {.arena = fm_arena_new(0), .out = out};
    fm_strbuf indent = {0};

    if (!p.arena) {
        out->failed = true;
        return;
    }
    add_tree(&p, plan, &indent, true, true);
    out->failed |= indent.failed;
    fm_strbuf_fini(&indent);
    fm_arena_free(p.arena);
}
