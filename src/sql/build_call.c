/* sql/build_call.c: calls of functions, and the special forms that are calls. */
#include "sql/build.h"

/* Arguments have no names but those of struct(). */
static bool is_struct(fm_str name) { return fm_str_eq_ci(name, FM_STR("struct")); }

/* key => value is told from value AS key by its place: the key stands in front. */
static bool is_named_argument(const fm_expr *e) { return e->kind == FM_EXPR_ALIAS && e->pos.from < e->args[0]->pos.from; }

static void check_arguments(fm_parse *p, fm_str name, fm_exprs args)
{
    for (int32_t i = 0; i < args.n; i++) {
        const fm_expr *e = args.items[i];
        if (e->kind != FM_EXPR_ALIAS) continue;
        if (is_named_argument(e)) {
            fm_parse_fail(p, e->pos, FM_UNSUPPORTED, "NAMED_PARAMETERS_NOT_SUPPORTED",
                          "Named parameters are not supported for function `%.*s`; please, retry the query with positional arguments to the function call "
                          "instead.",
                          FM_STR_ARG(name));
        } else if (!is_struct(name)) {
            fm_parse_fail(p, e->pos, FM_INVALID, "PARSE_SYNTAX_ERROR",
                          "Syntax error: an argument of `%.*s` has no name, as `%.*s` would be. Only struct(x AS a) takes names.", FM_STR_ARG(name),
                          FM_STR_ARG(e->name));
        }
    }
}

static bool is_unit(fm_str word)
{
    static const char *const units[] = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (fm_str_eq_ci(word, fm_str_c(units[i]))) return true;
    return false;
}

/* The unit in front of timestampadd(HOUR, 1, ts) is a word of the syntax, not a column: it becomes a text. */
static void take_unit(fm_parse *p, fm_str name, fm_exprs args)
{
    static const char *const functions[] = {"timestampadd", "dateadd", "date_add", "timestampdiff", "datediff", "date_diff", "timediff"};
    bool has_unit = false;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) has_unit |= fm_str_eq_ci(name, fm_str_c(functions[i]));
    if (!has_unit || args.n != 3 || args.items[0]->kind != FM_EXPR_NAME || args.items[0]->n_parts != 1) return;
    if (!is_unit(args.items[0]->parts[0]) && (fm_str_eq_ci(name, FM_STR("timestampadd")) || fm_str_eq_ci(name, FM_STR("timestampdiff")))) {
        fm_parse_fail(p, args.items[0]->pos, FM_INVALID, "UNRESOLVED_ROUTINE",
                      "Cannot resolve routine `%.*s` with the unit %.*s. Units are YEAR, QUARTER, MONTH, WEEK, DAY, DAYOFYEAR, HOUR, MINUTE, "
                      "SECOND, MILLISECOND and MICROSECOND.", FM_STR_ARG(name), FM_STR_ARG(args.items[0]->parts[0]));
        return;
    }
    fm_expr *unit = fm_build_word(p, &(fm_token){.text = args.items[0]->parts[0], .pos = args.items[0]->pos});
    if (unit) args.items[0] = unit;
}

/* The keys of WITHIN GROUP (ORDER BY ...) follow the arguments. */
static fm_exprs with_keys(fm_parse *p, fm_call_parts call)
{
    fm_exprs args = call.args;

    for (int32_t i = 0; i < call.within.n; i++) args = fm_build_list(p, args, call.within.items[i]);
    return args;
}

static fm_expr *function(fm_parse *p, fm_pos pos, fm_str name, fm_call_parts call)
{
    check_arguments(p, name, call.args);
    take_unit(p, name, call.args);
    if (call.close.kind) pos = fm_pos_span(pos, call.close.pos);
    fm_expr *e = fm_build_call(p, pos, name, with_keys(p, call));
    if (!e) return NULL;
    e->distinct = call.distinct;
    e->ignore_nulls = call.ignore_nulls;
    e->filter = call.filter;
    e->has_over = call.over;
    if (call.filter) fm_build_measure(p, &e->depth, &e->nodes, call.filter->depth, call.filter->nodes, pos);
    return e;
}

/* A name with dots is one name; builtin.f and system.builtin.f are f. */
static fm_str joined_name(fm_parse *p, const fm_str *parts, int32_t n)
{
    bool builtin = (n == 2 || (n == 3 && fm_str_eq_ci(parts[0], FM_STR("system")))) && fm_str_eq_ci(parts[n - 2], FM_STR("builtin"));
    fm_str name = parts[builtin ? n - 1 : 0];

    for (int32_t i = 1; i < n && !builtin; i++) {
        name = fm_arena_printf(p->arena, "%.*s.%.*s", (int)name.len, name.ptr, (int)parts[i].len, parts[i].ptr);
        if (!name.ptr) fm_parse_no_memory(p);
    }
    return name;
}

fm_expr *fm_build_function(fm_parse *p, fm_names name, fm_call_parts call)
{
    return name.n ? function(p, name.pos, joined_name(p, name.items, name.n), call) : NULL;
}

fm_expr *fm_build_qualified_function(fm_parse *p, fm_expr *qualifier, const fm_token *name, fm_call_parts call)
{
    if (!qualifier) return NULL;
    if (qualifier->kind != FM_EXPR_NAME) {
        fm_parse_fail(p, name->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near '(': a value has fields, not functions. Write %.*s(x).",
                      FM_STR_ARG(name->text));
        return NULL;
    }
    fm_names all = {.items = qualifier->parts, .n = qualifier->n_parts, .cap = qualifier->n_parts, .pos = qualifier->pos};
    return fm_build_function(p, fm_build_name(p, all, name), call);
}

/* EXTRACT(a FROM b) and kin: arguments up to the first NULL. */
fm_expr *fm_build_special(fm_parse *p, const fm_token *at, const fm_token *close, const char *name, fm_expr *a, fm_expr *b, fm_expr *c, fm_expr *d)
{
    fm_expr *const all[] = {a, b, c, d};
    fm_exprs args = {0};

    for (int i = 0; i < 4 && all[i]; i++) args = fm_build_list(p, args, all[i]);
    return fm_build_call(p, fm_pos_span(at->pos, close->pos), fm_str_c(name), args);
}

fm_expr *fm_build_named_argument(fm_parse *p, const fm_token *name, fm_expr *e)
{
    fm_expr *alias = fm_build_alias(p, e, name);

    if (alias) alias->pos = fm_pos_span(name->pos, alias->pos);
    return alias;
}

fm_expr *fm_build_lambda(fm_parse *p, fm_pos pos, fm_names params, fm_expr *body)
{
    fm_expr *e = body ? fm_build_expr(p, FM_EXPR_LAMBDA, pos, fm_build_list(p, (fm_exprs){0}, body)) : NULL;

    if (!e) return NULL;
    for (int32_t i = 0; i < params.n; i++) {
        for (int32_t k = 0; k < i; k++) {
            if (!fm_str_eq_ci(params.items[i], params.items[k])) continue;
            fm_parse_fail(p, params.pos, FM_INVALID, "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES",
                          "The lambda function has duplicate arguments `%.*s`. Please, consider to rename the argument names.", FM_STR_ARG(params.items[i]));
        }
    }
    e->parts = params.items;
    e->n_parts = params.n;
    return e;
}

fm_expr *fm_build_hint(fm_parse *p, const fm_token *name, fm_exprs args) { return fm_build_call(p, name->pos, name->text, args); }
