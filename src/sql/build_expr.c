/* sql/build_expr.c: expressions out of their parts. */
#include "sql/build.h"

#include "base/limits.h"

static void take_text(const fm_parse *p, fm_expr *e)
{
    bool fits = e->pos.to > e->pos.from && (size_t)e->pos.to <= p->text.len;

    if (fits) e->sql = (fm_str){p->text.ptr + e->pos.from, (size_t)(e->pos.to - e->pos.from)};
}

/* A node over args; its place spans theirs. NULL when one is missing. */
fm_expr *fm_build_expr(fm_parse *p, fm_expr_kind kind, fm_pos pos, fm_exprs args)
{
    fm_expr *e = p->status == FM_OK ? fm_expr_new(p->arena, kind, pos) : NULL;

    if (!e) {
        fm_parse_no_memory(p);
        return NULL;
    }
    e->args = args.items;
    e->n_args = args.n;
    e->nodes = 1;
    for (int32_t i = 0; i < args.n; i++) {
        e->pos = fm_pos_span(e->pos, args.items[i]->pos);
        fm_build_measure(p, &e->depth, &e->nodes, args.items[i]->depth, args.items[i]->nodes, pos);
    }
    take_text(p, e);
    return e;
}

static fm_exprs list1(fm_parse *p, fm_expr *a) { return fm_build_list(p, (fm_exprs){0}, a); }
static fm_exprs list2(fm_parse *p, fm_expr *a, fm_expr *b) { return fm_build_list(p, list1(p, a), b); }

fm_expr *fm_build_call(fm_parse *p, fm_pos pos, fm_str name, fm_exprs args)
{
    fm_expr *e = fm_build_expr(p, FM_EXPR_UNRESOLVED_CALL, pos, args);

    if (e) e->name = name;
    return e;
}

fm_expr *fm_build_unary(fm_parse *p, const fm_token *at, const char *name, fm_expr *x)
{
    return x ? fm_build_call(p, at->pos, fm_str_c(name), list1(p, x)) : NULL;
}

fm_expr *fm_build_binary(fm_parse *p, const fm_token *at, const char *name, fm_expr *a, fm_expr *b)
{
    return a && b ? fm_build_call(p, at->pos, fm_str_c(name), list2(p, a, b)) : NULL;
}

fm_expr *fm_build_shift(fm_parse *p, const fm_token *at, fm_expr *a, fm_expr *b)
{
    const char *name = at->text.len == 3 ? ">>>" : at->text.ptr[0] == '<' ? "<<" : ">>";

    return fm_build_binary(p, at, name, a, b);
}

/* ---- Logic ------------------------------------------------------------------------------------------------------- */

/* Items low..high under a balanced tree, in their order. Rule: Spark, AstBuilder.visitLogicalBinary. */
static fm_expr *balanced(fm_parse *p, fm_expr_kind kind, fm_expr *const *items, int32_t low, int32_t high)
{
    if (low == high) return items[low];
    int32_t middle = low + (high - low) / 2;
    fm_expr *a = balanced(p, kind, items, low, middle), *b = balanced(p, kind, items, middle + 1, high);
    return a && b ? fm_build_expr(p, kind, a->pos, list2(p, a, b)) : NULL;
}

fm_expr *fm_build_balanced(fm_parse *p, fm_expr_kind kind, fm_exprs list)
{
    return list.n ? balanced(p, kind, list.items, 0, list.n - 1) : NULL;
}

fm_expr *fm_build_not(fm_parse *p, const fm_token *at, int negated, fm_expr *e)
{
    return negated && e ? fm_build_expr(p, FM_EXPR_NOT, at->pos, list1(p, e)) : e;
}

/* x >= low AND x <= high; its name says how it was written. */
fm_expr *fm_build_between(fm_parse *p, const fm_token *at, fm_expr *x, fm_expr *low, fm_expr *high)
{
    fm_expr *from = fm_build_binary(p, at, ">=", x, low), *to = fm_build_binary(p, at, "<=", x, high);
    fm_expr *both = from && to ? fm_build_expr(p, FM_EXPR_AND, at->pos, list2(p, from, to)) : NULL;

    if (both) both->name = FM_STR("between");
    return both;
}

fm_expr *fm_build_in(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *x, fm_exprs list)
{
    return x ? fm_build_expr(p, FM_EXPR_IN_LIST, fm_pos_span(at->pos, close->pos), fm_build_concat(p, list1(p, x), list)) : NULL;
}

/* The escape character becomes a third argument. */
fm_expr *fm_build_like(fm_parse *p, const fm_token *at, const char *name, fm_expr *x, fm_expr *pattern, const fm_token *escape)
{
    if (!x || !pattern) return NULL;
    fm_exprs args = list2(p, x, pattern);
    if (escape) {
        int characters = 0;
        for (size_t i = 0; i < escape->text.len; i++) characters += ((unsigned char)escape->text.ptr[i] & 0xC0) != 0x80;
        if (characters != 1) {
            fm_parse_fail(p, escape->pos, FM_INVALID, "INVALID_ESC",
                          "Found an invalid escape string: '%.*s'. The escape string must contain only one character.", FM_STR_ARG(escape->text));
            return NULL;
        }
        args = fm_build_list(p, args, fm_build_word(p, escape));
    }
    return fm_build_call(p, at->pos, fm_str_c(name), args);
}

/* x LIKE ANY (a, b) is x LIKE a OR x LIKE b; with ALL it is AND; NOT stands in front of each. When all patterns are texts
 * its name says how it was written, as Spark's columns show that. */
fm_expr *fm_build_like_many(fm_parse *p, const fm_token *at, const char *name, fm_expr *x, int negated, int any, fm_exprs patterns)
{
    static const char *const names[2][4] = {{"likeall", "likeany", "notlikeall", "notlikeany"},
                                            {"ilikeall", "ilikeany", "notilikeall", "notilikeany"}};
    fm_exprs each = {0};
    fm_expr *whole;
    bool texts = patterns.n > 1;

    for (int32_t i = 0; i < patterns.n; i++) {
        const fm_expr *pattern = patterns.items[i];
        texts = texts && pattern && pattern->kind == FM_EXPR_LITERAL && pattern->type && pattern->type->id == FM_TYPE_STRING &&
                !fm_vec_is_null(&pattern->value, 0);
        each = fm_build_list(p, each, fm_build_not(p, at, negated, fm_build_like(p, at, name, x, patterns.items[i], NULL)));
    }
    whole = fm_build_balanced(p, any ? FM_EXPR_OR : FM_EXPR_AND, each);
    if (whole && texts) whole->name = fm_str_c(names[name[0] == 'i'][2 * (negated != 0) + (any != 0)]);
    return whole;
}

/* x IS TRUE is x <=> true. */
fm_expr *fm_build_is_bool(fm_parse *p, const fm_token *at, int negated, fm_expr *x, bool value)
{
    return fm_build_not(p, at, negated, fm_build_binary(p, at, "<=>", x, fm_build_bool(p, at, value)));
}

fm_expr *fm_build_subquery(fm_parse *p, fm_expr_kind kind, const fm_token *at, const fm_token *close, fm_expr *x, fm_plan *query)
{
    bool complete = query && (x || kind != FM_EXPR_IN_SUBQUERY);
    fm_expr *e = complete ? fm_build_expr(p, kind, fm_pos_span(at->pos, close->pos), x ? list1(p, x) : (fm_exprs){0}) : NULL;

    if (!e) return NULL;
    e->plan = query;
    fm_build_measure(p, &e->depth, &e->nodes, query->depth, query->nodes, at->pos);
    return e;
}

/* (e): the text of what stands around it has the brackets, too; line and column stay those of e. */
fm_expr *fm_build_bracketed(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *e)
{
    (void)p;
    if (!e) return NULL;
    e->pos.from = at->pos.from;
    e->pos.to = close->pos.to;
    return e;
}

fm_expr *fm_build_row(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *first, fm_exprs rest)
{
    return first ? fm_build_call(p, fm_pos_span(at->pos, close->pos), FM_STR("struct"), fm_build_concat(p, list1(p, first), rest)) : NULL;
}

/* CASE x WHEN a THEN b is CASE WHEN x = a THEN b. */
fm_expr *fm_build_case(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *x, fm_exprs whens, fm_expr *otherwise)
{
    fm_exprs args = {0};

    for (int32_t i = 0; i < whens.n; i++) {
        fm_expr *e = whens.items[i];
        args = fm_build_list(p, args, x && i % 2 == 0 ? fm_build_call(p, e->pos, FM_STR("="), list2(p, x, e)) : e);
    }
    if (otherwise) args = fm_build_list(p, args, otherwise);
    return fm_build_expr(p, FM_EXPR_CASE, fm_pos_span(at->pos, close->pos), args);
}

/* ---- Columns, fields, casts ---------------------------------------------------------------------------------------- */

fm_expr *fm_build_column_name(fm_parse *p, const fm_token *t)
{
    fm_names name = fm_build_name(p, (fm_names){0}, t);
    fm_expr *e = fm_build_expr(p, FM_EXPR_NAME, t->pos, (fm_exprs){0});

    if (!e) return NULL;
    e->parts = name.items;
    e->n_parts = name.n;
    return e;
}

static fm_expr *longer_name(fm_parse *p, const fm_expr *e, const fm_token *t)
{
    fm_str *parts = fm_arena_array(p->arena, fm_str, e->n_parts + 1);
    fm_expr *name = fm_build_expr(p, FM_EXPR_NAME, fm_pos_span(e->pos, t->pos), (fm_exprs){0});

    if (!parts || !name) {
        fm_parse_no_memory(p);
        return NULL;
    }
    memcpy(parts, e->parts, (size_t)e->n_parts * sizeof *parts);
    parts[e->n_parts] = t->text;
    name->parts = parts;
    name->n_parts = e->n_parts + 1;
    if (name->n_parts > FM_TYPE_DEPTH_MAX) fm_parse_too_deep(p, t);
    return name;
}

fm_expr *fm_build_dot(fm_parse *p, fm_expr *e, const fm_token *t)
{
    if (!e) return NULL;
    bool bracketed = e->pos.to > e->pos.from && p->text.ptr[e->pos.from] == '('; /* (a).b is a field of a for sure */
    if (e->kind == FM_EXPR_NAME && !bracketed) return longer_name(p, e, t);
    fm_expr *field = fm_build_word(p, t);
    return field ? fm_build_expr(p, FM_EXPR_EXTRACT, e->pos, list2(p, e, field)) : NULL;
}

fm_expr *fm_build_index(fm_parse *p, const fm_token *close, fm_expr *e, fm_expr *index)
{
    return e && index ? fm_build_expr(p, FM_EXPR_EXTRACT, fm_pos_span(e->pos, close->pos), list2(p, e, index)) : NULL;
}

fm_expr *fm_build_cast(fm_parse *p, const fm_token *at, const fm_token *close, fm_expr *e, const fm_token *type, bool try_cast)
{
    fm_error why = FM_ERROR_INIT;

    if (!e) return NULL;
    fm_expr *cast = fm_build_expr(p, FM_EXPR_CAST, fm_pos_span(at ? at->pos : e->pos, close->pos), list1(p, e));
    if (!cast) return NULL;
    cast->try_cast = try_cast;
    fm_status st = fm_type_parse(p->arena, type->text, &cast->cast_type, &why);
    if (st != FM_OK) fm_parse_fail(p, type->pos, st, why.condition, "%s", why.message);
    return cast;
}

/* ---- Items of lists -------------------------------------------------------------------------------------------------- */

fm_expr *fm_build_alias(fm_parse *p, fm_expr *e, const fm_token *name)
{
    fm_expr *alias = e ? fm_build_expr(p, FM_EXPR_ALIAS, e->pos, list1(p, e)) : NULL;

    if (alias) alias->name = name->text;
    return alias;
}

fm_expr *fm_build_multi_alias(fm_parse *p, fm_expr *e, fm_names names)
{
    fm_expr *alias = e ? fm_build_expr(p, FM_EXPR_MULTI_ALIAS, e->pos, list1(p, e)) : NULL;

    if (!alias) return NULL;
    alias->parts = names.items;
    alias->n_parts = names.n;
    return alias;
}

/* * or t.*, without the columns of EXCEPT (a, b): their names are string literals in args. */
fm_expr *fm_build_star(fm_parse *p, fm_expr *qualifier, const fm_token *at, fm_names except)
{
    fm_exprs args = {0};

    if (qualifier && qualifier->kind != FM_EXPR_NAME) {
        fm_parse_fail(p, qualifier->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Only a table or a column that is a struct can stand in front of '.*'.");
        return NULL;
    }
    for (int32_t i = 0; i < except.n; i++) {
        args = fm_build_list(p, args, fm_build_word(p, &(fm_token){.text = except.items[i], .pos = except.pos}));
    }
    fm_expr *e = fm_build_expr(p, FM_EXPR_STAR, qualifier ? fm_pos_span(qualifier->pos, at->pos) : at->pos, args);
    if (!e || !qualifier) return e;
    e->parts = qualifier->parts;
    e->n_parts = qualifier->n_parts;
    return e;
}

fm_expr *fm_build_sort_key(fm_parse *p, fm_expr *e, int descending, int nulls_first)
{
    fm_expr *key = e ? fm_build_expr(p, FM_EXPR_SORT_KEY, e->pos, list1(p, e)) : NULL;

    if (!key) return NULL;
    key->descending = descending;
    key->nulls_first = nulls_first < 0 ? !descending : nulls_first; /* nulls are smallest */
    return key;
}
