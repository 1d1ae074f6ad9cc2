/* plan/analyze_names.c: what names mean: columns, struct fields, stars.
 *
 * Rule  Spark, AttributeSeq.resolve: a path is tried as qualifier.column.field..., then as column.field...; two
 *       different columns are ambiguous, one column twice is not. */
#include "plan/analyze_impl.h"

#include <stdlib.h>

#include "base/limits.h"
#include "expr/coerce.h"

bool fm_name_eq(const fm_analyzer *an, fm_str a, fm_str b)
{
    return an->conf->case_sensitive ? fm_str_eq(a, b) : fm_str_eq_ci(a, b);
}

static void add_quoted(fm_strbuf *out, fm_str name)
{
    fm_strbuf_add_char(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '`') fm_strbuf_add_char(out, '`');
        fm_strbuf_add_char(out, name.ptr[i]);
    }
    fm_strbuf_add_char(out, '`');
}

static void add_path(fm_strbuf *out, const fm_str *parts, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_char(out, '.');
        add_quoted(out, parts[i]);
    }
}

static void add_attr(fm_strbuf *out, const fm_attr *a, bool qualified)
{
    if (qualified && a->qualifier.len) {
        add_quoted(out, a->qualifier);
        fm_strbuf_add_char(out, '.');
    }
    add_quoted(out, a->name);
}

typedef struct match {
    const fm_attr *attr;
    int32_t used;   /* parts of the path that name the column */
    bool ambiguous;
} match;

static void consider(match *m, const fm_attr *a, int32_t used)
{
    if (m->attr && m->attr->id != a->id) m->ambiguous = true;
    if (!m->attr) {
        m->attr = a;
        m->used = used;
    }
}

/* Visible columns win over hidden ones, as those that USING leaves behind. */
static match find(const fm_analyzer *an, const fm_attr *attrs, int32_t n, const fm_str *parts,
                  int32_t n_parts, bool hidden)
{
    match m = {0};

    for (int32_t i = 0; i < n && n_parts >= 2; i++) {
        if (attrs[i].hidden != hidden || !attrs[i].qualifier.len) continue;
        if (fm_name_eq(an, attrs[i].qualifier, parts[0]) && fm_name_eq(an, attrs[i].name, parts[1])) {
            consider(&m, &attrs[i], 2);
        }
    }
    for (int32_t i = 0; i < n && !m.attr; i++) {
        if (attrs[i].hidden != hidden || !fm_name_eq(an, attrs[i].name, parts[0])) continue;
        for (int32_t j = i; j < n; j++) {
            if (attrs[j].hidden == hidden && fm_name_eq(an, attrs[j].name, parts[0])) consider(&m, &attrs[j], 1);
        }
    }
    return m;
}

static int compare_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static fm_status fail_ambiguous(const fm_scope *s, const fm_attr *attrs, int32_t n, const fm_expr *name,
                                const match *m, fm_error *err)
{
    fm_strbuf path = {0}, all = {0};
    const char **texts = fm_arena_array(s->an->arena, const char *, n);
    int32_t count = 0;

    if (!texts) return fm_no_memory(s->an->arena, err);
    add_path(&path, name->parts, name->n_parts);
    for (int32_t i = 0; i < n; i++) {
        const fm_attr *a = &attrs[i];
        if (a->hidden != m->attr->hidden || !fm_name_eq(s->an, a->name, m->attr->name)) continue;
        if (m->used == 2 && !fm_name_eq(s->an, a->qualifier, name->parts[0])) continue;
        fm_strbuf_clear(&all);
        add_attr(&all, a, true);
        fm_str text = fm_arena_str(s->an->arena, fm_strbuf_str(&all));
        if (text.ptr) texts[count++] = text.ptr;
    }
    qsort(texts, (size_t)count, sizeof *texts, compare_text);
    fm_strbuf_clear(&all);
    for (int32_t i = 0; i < count; i++) {
        if (i) fm_strbuf_add_c(&all, ", ");
        fm_strbuf_add_c(&all, texts[i]);
    }
    fm_status st = fm_fail_at(err, FM_INVALID, "AMBIGUOUS_REFERENCE", name->pos.line, name->pos.column,
                              "Reference %s is ambiguous, could be: [%s]. Write the table before the column.",
                              path.ptr ? path.ptr : "", all.ptr ? all.ptr : "");
    fm_strbuf_fini(&path);
    fm_strbuf_fini(&all);
    return st;
}

/* base.field.field..., as FIELDs (or element access, where the base is a list of structs or a map). */
static fm_status take_fields(const fm_analyzer *an, fm_expr *base, const fm_str *fields, int32_t n, fm_pos pos,
                             fm_expr **out, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        fm_expr *key = fm_expr_literal_str(an->arena, fm_type_string(), fields[i]);
        fm_expr *extract = fm_expr_new(an->arena, FM_EXPR_EXTRACT, pos);
        if (!key || !extract) return fm_no_memory(an->arena, err);
        extract->n_args = 2;
        FM_TRY(fm_expr_resolve_node(an->arena, an->conf, extract, (fm_expr *[]){base, key}, &base, err));
    }
    *out = base;
    return FM_OK;
}

fm_status fm_find_column(const fm_scope *s, const fm_attr *attrs, int32_t n, const fm_expr *name,
                         fm_expr **out, fm_error *err)
{
    const fm_analyzer *an = s->an;
    const fm_str *parts = name->parts;
    int32_t n_parts = name->n_parts;
    match m = {0};

    *out = NULL;
    /* Three goes: visible columns, hidden ones, and both without a catalog or schema in front. */
    while (!m.attr && n_parts > 0) {
        m = find(an, attrs, n, parts, n_parts, false);
        if (!m.attr && (n_parts >= 2 || (an->wants_metadata && fm_str_eq_ci(parts[0], FM_STR("_metadata"))))) m = find(an, attrs, n, parts, n_parts, true);
        if (m.attr || n_parts < 3) break;
        if (!fm_str_eq_ci(parts[0], FM_STR("default")) && !fm_str_eq_ci(parts[0], FM_STR("spark_catalog"))) break;
        parts++;
        n_parts--;
    }
    if (!m.attr) return FM_OK;
    if (m.ambiguous) return fail_ambiguous(s, attrs, n, name, &m, err);
    fm_expr *e = fm_attr_expr(an->arena, m.attr);
    if (!e) return fm_no_memory(an->arena, err);
    e->pos = name->pos;
    return take_fields(an, e, parts + m.used, n_parts - m.used, name->pos, out, err);
}

/* Levenshtein's distance; names beyond the bound count as far away. */
static int distance(fm_str a, fm_str b)
{
    enum { LEN_MAX = 128 };
    int row[LEN_MAX + 1];

    if (a.len > LEN_MAX || b.len > LEN_MAX) return 2 * LEN_MAX;
    for (size_t j = 0; j <= b.len; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a.len; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            int replaced = diagonal + (a.ptr[i - 1] != b.ptr[j - 1]);
            int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            diagonal = row[j];
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[b.len];
}

typedef struct suggestion {
    fm_str text;
    int far;
} suggestion;

static int compare_suggestions(const void *a, const void *b)
{
    const suggestion *x = a, *y = b;
    return x->far != y->far ? x->far - y->far : fm_str_cmp(x->text, y->text);
}

/* "[`k`, `ts`]": the nearest five. Qualifiers are shown only when they differ or were written. */
static fm_status suggest(const fm_scope *s, const fm_expr *name, fm_strbuf *out, fm_error *err)
{
    enum { SHOWN_MAX = 5 };
    fm_arena *arena = s->an->arena;
    int32_t n = 0;
    bool qualified = name->n_parts > 1;
    suggestion *list = fm_arena_array(arena, suggestion, s->n_attrs);
    fm_strbuf text = {0}, written = {0};

    if (!list) return fm_no_memory(arena, err);
    for (int32_t i = 1; i < s->n_attrs; i++) {
        qualified |= !fm_str_eq(s->attrs[i].qualifier, s->attrs[0].qualifier);
    }
    for (int32_t i = 0; i < name->n_parts; i++) {
        if (i) fm_strbuf_add_char(&written, '.');
        fm_strbuf_add(&written, name->parts[i]);
    }
    for (int32_t i = 0; i < s->n_attrs; i++) {
        if (s->attrs[i].hidden) continue;
        fm_strbuf_clear(&text);
        add_attr(&text, &s->attrs[i], qualified);
        list[n].text = fm_arena_str(arena, fm_strbuf_str(&text));
        list[n].far = distance(list[n].text, fm_strbuf_str(&written));
        n++;
    }
    qsort(list, (size_t)n, sizeof *list, compare_suggestions);
    for (int32_t i = 0; i < n && i < SHOWN_MAX; i++) {
        fm_strbuf_add_c(out, i ? ", " : "[");
        fm_strbuf_add(out, list[i].text);
    }
    if (n) fm_strbuf_add_char(out, ']');
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&written);
    return FM_OK;
}

/* window, window.start, session_window.end, ... */
static bool is_of_window(const fm_expr *name)
{
    return name->n_parts && (fm_str_eq_ci(name->parts[0], FM_STR("window")) || fm_str_eq_ci(name->parts[0], FM_STR("session_window")));
}

fm_status fm_fail_column(const fm_scope *s, const fm_expr *name, fm_error *err)
{
    fm_strbuf path = {0}, near = {0};
    fm_status st = FM_OK;

    add_path(&path, name->parts, name->n_parts);
    for (const fm_scope *o = s->outer; o && st == FM_OK; o = o->outer) {
        fm_expr *found;
        if (fm_find_column(o, o->attrs, o->n_attrs, name, &found, err) == FM_OK && !found) continue;
        st = fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_CORRELATED_SUBQUERY", name->pos.line, name->pos.column,
                        "The subquery uses %s of the query around it. Such correlated subqueries are not built; "
                        "write it as a join.",
                        path.ptr ? path.ptr : "");
    }
    if (st == FM_OK) st = suggest(s, name, &near, err);
    if (st == FM_OK && s->below && s->below->refusal && is_of_window(name)) {
        st = fm_fail_at(err, FM_INVALID, near.len ? "UNRESOLVED_COLUMN.WITH_SUGGESTION" : "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
                        name->pos.line, name->pos.column,
                        "A column, variable, or function parameter with name %s cannot be resolved: the call that would make it is wrong. %s",
                        path.ptr ? path.ptr : "", s->below->refusal->message);
    } else if (st == FM_OK) {
        st = fm_fail_at(err, FM_INVALID,
                        near.len ? "UNRESOLVED_COLUMN.WITH_SUGGESTION" : "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
                        name->pos.line, name->pos.column,
                        "A column, variable, or function parameter with name %s cannot be resolved.%s%s%s",
                        path.ptr ? path.ptr : "", near.len ? " Did you mean one of the following? " : "",
                        near.len ? near.ptr : "", near.len ? "." : "");
    }
    fm_strbuf_fini(&path);
    fm_strbuf_fini(&near);
    return st;
}

bool fm_is_aggregate_call(const fm_expr *e)
{
    return e->kind == FM_EXPR_UNRESOLVED_CALL && !e->has_over && fm_aggregate_find(e->name);
}

static bool is_no_aggregate(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return !fm_is_aggregate_call(e);
}

bool fm_has_aggregate_call(const fm_expr *e) { return !fm_expr_walk(e, is_no_aggregate, NULL); }

static bool is_lambda_name(const fm_scope *s, const fm_expr *name)
{
    for (const fm_lambda_frame *f = s->lambdas; f; f = f->up) {
        for (int32_t i = 0; i < f->n; i++) {
            if (fm_name_eq(s->an, f->names[i], name->parts[0])) return true;
        }
    }
    return false;
}

/* Functions that SQL lets one write without parentheses. */
static bool is_bare_function(const fm_expr *name)
{
    static const char *const names[] = {"current_date", "current_timestamp", "localtimestamp", "current_user",
                                        "user", "session_user", "current_catalog", "current_database",
                                        "current_timezone", "current_time"};
    for (size_t i = 0; name->n_parts == 1 && i < sizeof names / sizeof *names; i++) {
        if (fm_str_eq_ci(name->parts[0], fm_str_c(names[i]))) return true;
    }
    return false;
}

/* A lateral alias: an earlier item of the same select list. */
static fm_status find_alias(fm_scope *s, const fm_expr *name, fm_expr **out, fm_error *err)
{
    const fm_attr *found = NULL;
    int32_t n = 0;

    *out = NULL;
    for (int32_t i = 0; i < s->n_aliases; i++) {
        if (!fm_name_eq(s->an, s->aliases[i].name, name->parts[0])) continue;
        found = &s->aliases[i];
        n++;
    }
    if (!found) return FM_OK;
    if (n > 1) {
        return fm_fail_at(err, FM_INVALID, "AMBIGUOUS_LATERAL_COLUMN_ALIAS", name->pos.line, name->pos.column,
                          "Lateral column alias `%.*s` is ambiguous and has %d matches.",
                          FM_STR_ARG(name->parts[0]), (int)n);
    }
    s->used_alias = true;
    fm_expr *e = fm_attr_expr(s->an->arena, found);
    if (!e) return fm_no_memory(s->an->arena, err);
    e->pos = name->pos;
    return take_fields(s->an, e, name->parts + 1, name->n_parts - 1, name->pos, out, err);
}

static fm_status resolve_name(fm_scope *s, fm_expr *name, fm_expr **out, fm_error *err)
{
    fm_assert(name->n_parts > 0);
    *out = name;
    if (is_lambda_name(s, name)) return FM_OK;
    FM_TRY(fm_find_column(s, s->attrs, s->n_attrs, name, out, err));
    if (!*out && s->n_more) FM_TRY(fm_find_column(s, s->more, s->n_more, name, out, err));
    if (!*out && s->below && s->below->window) {
        FM_TRY(fm_find_column(s, &s->below->window_attr, 1, name, out, err));
    }
    if (!*out) FM_TRY(find_alias(s, name, out, err));
    if (*out) return FM_OK;
    if (is_bare_function(name)) {
        *out = fm_expr_call(s->an->arena, name->parts[0], NULL, 0, name->pos);
        return *out ? FM_OK : fm_no_memory(s->an->arena, err);
    }
    /* A condition of WHERE may look at the query around it; analyze_subquery.c takes it out. */
    if (s->outer && strcmp(s->clause, "the WHERE clause") == 0) {
        FM_TRY(fm_find_column(s->outer, s->outer->attrs, s->outer->n_attrs, name, out, err));
    }
    return *out ? FM_OK : fm_fail_column(s, name, err);
}

/* The columns that * EXCEPT (...) leaves out stand in args, as text. */
static bool is_excepted(const fm_analyzer *an, const fm_expr *star, fm_str name)
{
    for (int32_t i = 0; i < star->n_args; i++) {
        if (fm_name_eq(an, fm_vec_str(&star->args[i]->value, 0), name)) return true;
    }
    return false;
}

/* s.*, where s is a column that is a struct. */
static fm_status expand_struct(const fm_scope *s, const fm_expr *star, fm_expr ***list, int32_t *n,
                               int32_t *cap, fm_error *err)
{
    fm_analyzer *an = s->an;
    fm_expr name = {.kind = FM_EXPR_NAME, .pos = star->pos, .parts = star->parts, .n_parts = star->n_parts};
    fm_expr *base;

    FM_TRY(fm_find_column(s, s->attrs, s->n_attrs, &name, &base, err));
    if (!base || base->type->id != FM_TYPE_STRUCT) {
        fm_strbuf path = {0}, near = {0};
        add_path(&path, star->parts, star->n_parts);
        fm_status st = suggest(s, &name, &near, err);
        if (st == FM_OK) {
            st = fm_fail_at(err, FM_INVALID, "CANNOT_RESOLVE_STAR_EXPAND", star->pos.line, star->pos.column,
                            "Cannot resolve %s.* given input columns %s. Please check that the specified table or "
                            "struct exists and is accessible in the input columns.",
                            path.ptr ? path.ptr : "", near.len ? near.ptr : "[]");
        }
        fm_strbuf_fini(&path);
        fm_strbuf_fini(&near);
        return st;
    }
    for (int32_t i = 0; i < base->type->n_fields; i++) {
        fm_str field = base->type->fields[i].name;
        fm_expr *e = fm_expr_new(an->arena, FM_EXPR_FIELD, star->pos);
        if (!e) return fm_no_memory(an->arena, err);
        if (is_excepted(an, star, field)) continue;
        e->index = i;
        e->n_args = 1;
        FM_TRY(fm_expr_resolve_node(an->arena, an->conf, e, &base, &e, err));
        e = fm_alias_expr(an->arena, e, field, 0);
        if (!e || !FM_GROW(an->arena, *list, *n, *cap)) return fm_no_memory(an->arena, err);
        (*list)[(*n)++] = e;
    }
    return FM_OK;
}

/* Every name in EXCEPT (...) must be one of the columns. */
static fm_status check_except(const fm_scope *s, const fm_expr *star, fm_error *err)
{
    for (int32_t i = 0; i < star->n_args && !star->n_parts; i++) {
        fm_str text = fm_vec_str(&star->args[i]->value, 0);
        fm_expr name = {.kind = FM_EXPR_NAME, .pos = star->pos, .parts = &text, .n_parts = 1}, *found;
        FM_TRY(fm_find_column(s, s->attrs, s->n_attrs, &name, &found, err));
        if (!found) return fm_fail_column(s, &name, err);
    }
    return FM_OK;
}

fm_status fm_expand_star(const fm_scope *s, const fm_expr *star, fm_expr ***list, int32_t *n,
                         int32_t *cap, fm_error *err)
{
    fm_analyzer *an = s->an;
    bool any = false;

    FM_TRY(check_except(s, star, err));
    for (int32_t i = 0; i < s->n_attrs; i++) {
        const fm_attr *a = &s->attrs[i];
        if (star->n_parts && (!a->qualifier.len || a->hidden ||
                              !fm_name_eq(an, a->qualifier, star->parts[star->n_parts - 1]))) {
            continue;
        }
        any = true;
        if (a->hidden || is_excepted(an, star, a->name)) continue;
        fm_expr *e = fm_attr_expr(an->arena, a);
        if (!e || !FM_GROW(an->arena, *list, *n, *cap)) return fm_no_memory(an->arena, err);
        e->pos = star->pos;
        (*list)[(*n)++] = e;
    }
    return any || !star->n_parts ? FM_OK : expand_struct(s, star, list, n, cap, err);
}

/* Arguments of a call; stars in them become columns, count(*) counts 1. */
static fm_status resolve_args(fm_scope *s, fm_expr *e, fm_error *err)
{
    fm_expr **list = NULL;
    int32_t n = 0, cap = 0;

    if (fm_str_eq_ci(e->name, FM_STR("count")) && !e->distinct && e->n_args == 1 &&
        e->args[0]->kind == FM_EXPR_STAR && !e->args[0]->n_parts && !e->args[0]->n_args) {
        e->args[0] = fm_expr_literal_i32(s->an->arena, 1);
        return e->args[0] ? FM_OK : fm_no_memory(s->an->arena, err);
    }
    for (int32_t i = 0; i < e->n_args; i++) {
        fm_expr *now;
        if (e->args[i]->kind == FM_EXPR_STAR) {
            FM_TRY(fm_expand_star(s, e->args[i], &list, &n, &cap, err));
            continue;
        }
        FM_TRY(fm_resolve_names(s, e->args[i], &now, err));
        if (!FM_GROW(s->an->arena, list, n, cap)) return fm_no_memory(s->an->arena, err);
        list[n++] = now;
    }
    e->args = list;
    e->n_args = n;
    return FM_OK;
}

static fm_status resolve_lambda_names(fm_scope *s, fm_expr *e, fm_error *err)
{
    fm_lambda_frame frame = {.names = e->parts, .n = e->n_parts, .up = s->lambdas};

    s->lambdas = &frame;
    fm_status st = fm_resolve_names(s, e->args[0], &e->args[0], err);
    s->lambdas = frame.up;
    return st;
}

static fm_status resolve_names_in(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    if (e->kind == FM_EXPR_NAME) return resolve_name(s, e, out, err);
    *out = e;
    if (e->type) return FM_OK; /* resolved already, or a literal */
    if (e->kind == FM_EXPR_STAR) {
        return fm_fail_at(err, FM_INVALID, "INVALID_USAGE_OF_STAR_OR_REGEX", e->pos.line, e->pos.column,
                          "Invalid usage of '*' in %s.", s->clause);
    }
    fm_expr *copy = fm_expr_copy_node(s->an->arena, e);
    if (!copy) return fm_no_memory(s->an->arena, err);
    *out = copy;
    if (copy->filter) FM_TRY(fm_resolve_names(s, copy->filter, &copy->filter, err));
    if (e->kind == FM_EXPR_UNRESOLVED_CALL) return resolve_args(s, copy, err);
    if (e->kind == FM_EXPR_LAMBDA) return resolve_lambda_names(s, copy, err);
    for (int32_t i = 0; i < copy->n_args; i++) FM_TRY(fm_resolve_names(s, copy->args[i], &copy->args[i], err));
    return FM_OK;
}

fm_status fm_resolve_names(fm_scope *s, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_scope inner;

    if (++s->depth > 2 * FM_EXPR_DEPTH_MAX) {
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_EXPRESSION_TOO_DEEP", e->pos.line, e->pos.column,
                          "The expression is nested more than %d deep.", 2 * FM_EXPR_DEPTH_MAX);
    }
    if (s->agg_attrs && fm_is_aggregate_call(e)) {
        inner = *s;
        inner.attrs = s->agg_attrs;
        inner.n_attrs = s->n_agg_attrs;
        inner.agg_attrs = NULL;
        inner.n_more = inner.n_aliases = 0;
        s->depth--;
        return fm_resolve_names(&inner, e, out, err);
    }
    fm_status st = resolve_names_in(s, e, out, err);
    s->depth--;
    return st;
}
