/* sql/build_expr.c: expressions out of their parts. */
#include <stdlib.h>

#include "base/limits.h"
#include "expr/cast.h"
#include "sql/build.h"

static void no_memory(fm_parse *p)
{
    if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
}

static fm_pos span(fm_pos a, fm_pos b)
{
    if (b.from < a.from && b.line) a.line = b.line, a.column = b.column, a.from = b.from;
    if (b.to > a.to) a.to = b.to;
    return a;
}

static void take_text(fm_parse *p, fm_expr *e)
{
    if (e->pos.to > e->pos.from && (size_t)e->pos.to <= p->text.len) {
        e->sql = (fm_str){p->text.ptr + e->pos.from, (size_t)(e->pos.to - e->pos.from)};
    }
}

/* A node over args; its place spans theirs. Deep nesting is refused here, before anything walks the tree. */
static fm_expr *node(fm_parse *p, fm_expr_kind kind, fm_pos pos, fm_exprs args)
{
    fm_expr *e = fm_expr_new(p->arena, kind, pos);

    if (!e) {
        no_memory(p);
        return NULL;
    }
    e->args = args.items;
    e->n_args = args.n;
    for (int32_t i = 0; i < args.n; i++) {
        if (args.items[i]->depth >= e->depth) e->depth = args.items[i]->depth + 1;
        e->pos = span(e->pos, args.items[i]->pos);
    }
    if (e->depth > FM_EXPR_DEPTH_MAX) fm_parse_too_deep(p);
    take_text(p, e);
    return e;
}

static fm_exprs list2(fm_parse *p, fm_expr *a, fm_expr *b)
{
    fm_exprs list = fm_build_list(p, (fm_exprs){0}, a);
    return b ? fm_build_list(p, list, b) : list;
}

fm_expr *fm_build_call(fm_parse *p, const fm_token *t, fm_exprs args, int distinct)
{
    fm_expr *e = node(p, FM_EXPR_UNRESOLVED_CALL, t->pos, args);

    if (!e) return NULL;
    e->name = t->text;
    e->distinct = distinct;
    return e;
}

fm_expr *fm_build_call_c(fm_parse *p, const fm_token *t, const char *name, fm_expr *a, fm_expr *b)
{
    fm_expr *e = a ? node(p, FM_EXPR_UNRESOLVED_CALL, t->pos, list2(p, a, b)) : NULL;

    if (e) e->name = fm_str_c(name);
    return e;
}

fm_expr *fm_build_call3(fm_parse *p, const fm_token *t, const char *name, fm_expr *a, fm_expr *b, fm_expr *c)
{
    fm_expr *e = a && b && c ? node(p, FM_EXPR_UNRESOLVED_CALL, t->pos, fm_build_list(p, list2(p, a, b), c)) : NULL;

    if (e) e->name = fm_str_c(name);
    return e;
}

/* WITHIN GROUP (ORDER BY x): the ordered column becomes the first argument, as percentile_cont(0.5) WITHIN GROUP (ORDER BY
 * v) is percentile(v, 0.5). */
static fm_exprs ordered_first(fm_parse *p, fm_exprs args, fm_exprs within)
{
    fm_exprs all = {0};

    if (within.n == 0) return args;
    all = fm_build_list(p, all, within.items[0]->args[0]);
    return fm_build_concat(p, all, args);
}

/* timestampadd(HOUR, 8, ts): the unit is a word, not a column. */
static void take_unit(fm_parse *p, fm_str name, fm_exprs args)
{
    static const char *const names[] = {"timestampadd", "timestampdiff", "dateadd", "date_add", "datediff", "date_diff", "timediff"};

    if (args.n != 3 || args.items[0]->kind != FM_EXPR_NAME || args.items[0]->n_parts != 1) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!fm_str_eq_ci(name, fm_str_c(names[i]))) continue;
        fm_token word = {.text = args.items[0]->parts[0], .pos = args.items[0]->pos};
        fm_expr *unit = fm_build_string(p, &word);
        if (unit) args.items[0] = unit;
    }
}

fm_expr *fm_build_function(fm_parse *p, fm_names name, int distinct, fm_exprs args, fm_exprs within, int ignore_nulls, fm_expr *filter, int over)
{
    if (name.n == 0) return NULL;
    fm_token t = {.text = name.items[name.n - 1], .pos = name.pos};
    take_unit(p, t.text, args);
    fm_expr *e = fm_build_call(p, &t, ordered_first(p, args, within), distinct);

    if (!e) return NULL;
    e->ignore_nulls = ignore_nulls;
    e->filter = filter;
    if (filter && filter->depth >= e->depth) e->depth = filter->depth + 1;
    e->has_over = over;
    return e;
}

fm_expr *fm_build_alias(fm_parse *p, fm_expr *e, const fm_token *name)
{
    fm_expr *alias = e ? node(p, FM_EXPR_ALIAS, e->pos, list2(p, e, NULL)) : NULL;

    if (alias) alias->name = name->text;
    return alias;
}

fm_expr *fm_build_multi_alias(fm_parse *p, fm_expr *e, fm_names names)
{
    fm_expr *alias = e ? node(p, FM_EXPR_MULTI_ALIAS, e->pos, list2(p, e, NULL)) : NULL;

    if (!alias) return NULL;
    alias->parts = names.items;
    alias->n_parts = names.n;
    return alias;
}

/* * EXCEPT (a, b): the columns left out are string literals in args. */
fm_expr *fm_build_star(fm_parse *p, const fm_token *t, fm_names qualifier, fm_names except)
{
    fm_exprs args = {0};

    for (int32_t i = 0; i < except.n; i++) args = fm_build_list(p, args, fm_expr_literal_str(p->arena, fm_type_string(), except.items[i]));
    fm_expr *e = node(p, FM_EXPR_STAR, t->pos, args);
    if (!e) return NULL;
    e->parts = qualifier.items;
    e->n_parts = qualifier.n;
    return e;
}

fm_names fm_build_names_of(fm_parse *p, const fm_expr *e)
{
    if (!e) return (fm_names){0};
    if (e->kind == FM_EXPR_NAME) return (fm_names){.items = e->parts, .n = e->n_parts, .cap = e->n_parts, .pos = e->pos};
    fm_build_fail(p, fm_syntax_error(p->text, e->pos, p->err, "Only the columns of a table or of a struct column can be listed with '.*'"));
    return (fm_names){0};
}

fm_expr *fm_build_lambda(fm_parse *p, fm_names params, fm_expr *body, fm_pos pos)
{
    fm_expr *e = body ? node(p, FM_EXPR_LAMBDA, pos, list2(p, body, NULL)) : NULL;

    if (!e) return NULL;
    e->parts = params.items;
    e->n_parts = params.n;
    return e;
}

fm_expr *fm_build_logic(fm_parse *p, fm_expr_kind kind, const fm_token *t, fm_expr *a, fm_expr *b)
{
    return a ? node(p, kind, t->pos, list2(p, a, b)) : NULL;
}

fm_expr *fm_build_not(fm_parse *p, const fm_token *t, int negated, fm_expr *e)
{
    return negated ? fm_build_logic(p, FM_EXPR_NOT, t, e, NULL) : e;
}

fm_expr *fm_build_between(fm_parse *p, const fm_token *t, fm_expr *x, int negated, fm_expr *low, fm_expr *high)
{
    fm_expr *from = fm_build_call_c(p, t, ">=", x, low), *to = fm_build_call_c(p, t, "<=", x, high);

    fm_expr *both = from && to ? fm_build_logic(p, FM_EXPR_AND, t, from, to) : NULL;

    if (both) both->name = FM_STR("between"); /* columns are named by it */
    return fm_build_not(p, t, negated, both);
}

fm_expr *fm_build_in(fm_parse *p, const fm_token *t, fm_expr *x, fm_exprs list)
{
    return x ? node(p, FM_EXPR_IN_LIST, t->pos, fm_build_concat(p, fm_build_list(p, (fm_exprs){0}, x), list)) : NULL;
}

fm_expr *fm_build_like(fm_parse *p, const fm_token *t, const char *name, fm_expr *x, fm_expr *pattern, fm_expr *escape)
{
    return escape ? fm_build_call3(p, t, name, x, pattern, escape) : fm_build_call_c(p, t, name, x, pattern);
}

fm_expr *fm_build_like_many(fm_parse *p, const fm_token *t, fm_expr *x, int any, fm_exprs patterns)
{
    fm_expr *all = NULL;

    for (int32_t i = 0; i < patterns.n; i++) {
        fm_expr *one = fm_build_call_c(p, t, "like", x, patterns.items[i]);
        all = all ? fm_build_logic(p, any ? FM_EXPR_OR : FM_EXPR_AND, t, all, one) : one;
    }
    return all;
}

/* x IS TRUE is x <=> true. */
fm_expr *fm_build_is_bool(fm_parse *p, const fm_token *t, fm_expr *x, int negated, bool value)
{
    return fm_build_not(p, t, negated, fm_build_call_c(p, t, "<=>", x, fm_build_bool(p, t, value)));
}

fm_expr *fm_build_subquery(fm_parse *p, const fm_token *t, fm_expr_kind kind, fm_expr *x, fm_plan *query)
{
    fm_expr *e = node(p, kind, t->pos, x ? list2(p, x, NULL) : (fm_exprs){0});

    if (e) e->plan = query;
    return e;
}

/* ---- Literals ---------------------------------------------------------------------------------------------- */

static fm_expr *placed(fm_parse *p, fm_expr *e, fm_pos pos)
{
    if (!e) {
        no_memory(p);
        return NULL;
    }
    e->pos = pos;
    take_text(p, e);
    return e;
}

static fm_expr *bad_number(fm_parse *p, fm_pos pos, const char *why)
{
    fm_build_fail(p, fm_syntax_error(p->text, pos, p->err, "%s", why));
    return NULL;
}

static fm_expr *integer(fm_parse *p, fm_str digits, const char *suffix, fm_pos pos)
{
    int64_t x;

    if (fm_str_to_i64(digits, &x)) {
        char c = *suffix & 0x5F; /* upper case */
        if (c == 'Y') return x == (int8_t)x ? placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_I8), x), pos) : bad_number(p, pos, "The number does not fit a TINYINT");
        if (c == 'S') return x == (int16_t)x ? placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_I16), x), pos) : bad_number(p, pos, "The number does not fit a SMALLINT");
        if (c == 'L' || x != (int32_t)x) return placed(p, fm_expr_literal_i64(p->arena, fm_type_i64(), x), pos);
        return placed(p, fm_expr_literal_i32(p->arena, (int32_t)x), pos);
    }
    if (*suffix) return bad_number(p, pos, "The number does not fit its type");
    int precision = (int)digits.len - (digits.ptr[0] == '-');
    fm_i128 unscaled;
    if (precision > FM_DECIMAL_PRECISION_MAX || !fm_text_to_decimal(digits, precision, 0, &unscaled)) return bad_number(p, pos, "The number has more than 38 digits");
    return placed(p, fm_expr_literal_decimal(p->arena, fm_type_decimal(p->arena, precision, 0), unscaled), pos);
}

static fm_expr *decimal(fm_parse *p, fm_str text, fm_pos pos)
{
    int digits = 0, scale = 0, exponent = 0;
    bool point = false, leading = true;
    fm_i128 unscaled;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.') point = true;
        if (c == 'e' || c == 'E') {
            int64_t e;
            if (fm_str_to_i64((fm_str){text.ptr + i + 1, text.len - i - 1}, &e) && e > -100 && e < 100) exponent = (int)e;
            break;
        }
        if (c < '0' || c > '9') continue;
        if (c != '0') leading = false;
        digits += !leading || point;
        scale += point;
    }
    scale -= exponent;
    if (scale < 0) digits -= scale, scale = 0;
    if (digits < scale) digits = scale;
    if (digits < 1) digits = 1;
    if (digits > FM_DECIMAL_PRECISION_MAX || !fm_text_to_decimal(text, digits, scale, &unscaled)) return bad_number(p, pos, "The number has more than 38 digits");
    return placed(p, fm_expr_literal_decimal(p->arena, fm_type_decimal(p->arena, digits, scale), unscaled), pos);
}

/* 1, 1L, 1.5, 1e3, 1.5D, 2F, 1BD */
static fm_expr *number(fm_parse *p, fm_str text, fm_pos pos)
{
    fm_str body = text;
    char last = text.ptr[text.len - 1] & 0x5F;
    double x;

    if (last == 'L' || last == 'S' || last == 'Y') {
        static const char suffixes[3][2] = {"L", "S", "Y"};
        body.len--;
        return integer(p, body, last == 'L' ? suffixes[0] : last == 'S' ? suffixes[1] : suffixes[2], pos);
    }
    bool big = last == 'D' && text.len > 1 && (text.ptr[text.len - 2] & 0x5F) == 'B';
    if (big) return decimal(p, (fm_str){text.ptr, text.len - 2}, pos);
    bool is_double = last == 'D', is_float = last == 'F';
    if (is_double || is_float) body.len--;
    bool has_point = false, has_exponent = false;
    for (size_t i = 0; i < body.len; i++) {
        has_point |= body.ptr[i] == '.';
        has_exponent |= body.ptr[i] == 'e' || body.ptr[i] == 'E';
    }
    if (!is_double && !is_float && !has_exponent) return has_point ? decimal(p, body, pos) : integer(p, body, "", pos);
    if (!fm_text_to_double(body, &x)) return bad_number(p, pos, "This is no number");
    return placed(p, fm_expr_literal_f64(p->arena, is_float ? fm_type_simple(FM_TYPE_F32) : fm_type_f64(), x), pos);
}

fm_expr *fm_build_number(fm_parse *p, const fm_token *t) { return number(p, t->text, t->pos); }

/* -1 is a literal: -2147483648 is an INT though 2147483648 is not. */
fm_expr *fm_build_negative(fm_parse *p, const fm_token *t, fm_expr *x)
{
    if (!x) return NULL;
    bool literal = x->kind == FM_EXPR_LITERAL && x->type && fm_type_is_numeric(x->type) && x->sql.len && x->sql.ptr[0] >= '.' && x->sql.ptr[0] <= '9';
    if (!literal) return fm_build_call_c(p, t, "negative", x, NULL);
    fm_str text = fm_arena_printf(p->arena, "-%.*s", FM_STR_ARG(x->sql));
    if (!text.ptr) {
        no_memory(p);
        return NULL;
    }
    return number(p, text, span(t->pos, x->pos));
}

fm_expr *fm_build_string(fm_parse *p, const fm_token *t)
{
    return placed(p, fm_expr_literal_str(p->arena, fm_type_string(), t->text), t->pos);
}

fm_expr *fm_build_hex(fm_parse *p, const fm_token *t)
{
    return placed(p, fm_expr_literal_str(p->arena, fm_type_simple(FM_TYPE_BINARY), t->text), t->pos);
}

fm_expr *fm_build_null(fm_parse *p, const fm_token *t)
{
    return placed(p, fm_expr_literal_null(p->arena, fm_type_null()), t->pos);
}

fm_expr *fm_build_bool(fm_parse *p, const fm_token *t, bool value)
{
    return placed(p, fm_expr_literal_bool(p->arena, value), t->pos);
}

/* TIMESTAMP '...', DATE '...': a cast of the text, marked by its name. The zone of the session decides what a text
 * without one means, so the analyzer folds it; a text that is none fails there. Token text: "DATE" NUL the string. */
fm_expr *fm_build_typed(fm_parse *p, const fm_token *t)
{
    size_t word = strnlen(t->text.ptr, t->text.len);
    fm_str type = {t->text.ptr, word}, value = {t->text.ptr + word + 1, t->text.len - word - 1};
    fm_expr *literal = placed(p, fm_expr_literal_str(p->arena, fm_type_string(), value), t->pos);
    fm_expr *cast = literal ? node(p, FM_EXPR_CAST, t->pos, list2(p, literal, NULL)) : NULL;

    if (!cast) return NULL;
    cast->name = type;
    cast->ansi = true;
    fm_status st = fm_type_parse(p->arena, type, &cast->cast_type, p->err);
    if (st != FM_OK) fm_build_fail(p, st);
    return cast;
}

fm_expr *fm_build_interval(fm_parse *p, const fm_token *t)
{
    fm_interval x;
    int64_t us;
    fm_status st = fm_text_to_interval(t->text, &x, p->err);

    if (st != FM_OK) {
        if (p->err) p->err->line = t->pos.line, p->err->column = t->pos.column;
        fm_build_fail(p, st);
        return NULL;
    }
    const fm_type *type = fm_type_interval(p->arena, (fm_interval_unit)t->unit_from, (fm_interval_unit)t->unit_to);
    if (!type) {
        no_memory(p);
        return NULL;
    }
    if (type->id == FM_TYPE_INTERVAL_YM) return placed(p, fm_expr_literal_i64(p->arena, type, x.months), t->pos);
    if (__builtin_mul_overflow((int64_t)x.days, INT64_C(86400000000), &us) || __builtin_add_overflow(us, x.us, &us)) return bad_number(p, t->pos, "The interval is too long");
    return placed(p, fm_expr_literal_i64(p->arena, type, us), t->pos);
}

/* ---- The rest ---------------------------------------------------------------------------------------------- */

fm_expr *fm_build_row(fm_parse *p, const fm_token *t, fm_expr *first, fm_exprs rest)
{
    fm_token name = {.text = FM_STR("struct"), .pos = t->pos};

    return first ? fm_build_call(p, &name, fm_build_concat(p, fm_build_list(p, (fm_exprs){0}, first), rest), 0) : NULL;
}

fm_expr *fm_build_column(fm_parse *p, const fm_token *t)
{
    static const char *const calls[] = {"current_date", "current_timestamp", "current_user", "user", "session_user", "localtimestamp", "current_time"};
    fm_names name = fm_build_name(p, (fm_names){0}, t);
    fm_expr *e = node(p, FM_EXPR_NAME, t->pos, (fm_exprs){0});

    if (!e || !name.n) return NULL;
    for (size_t i = 0; !t->quoted && i < 3; i++) {
        if (fm_str_eq_ci(t->text, fm_str_c(calls[i]))) return fm_build_call(p, t, (fm_exprs){0}, 0);
    }
    e->parts = name.items;
    e->n_parts = name.n;
    return e;
}

fm_expr *fm_build_dot(fm_parse *p, fm_expr *e, const fm_token *name)
{
    if (!e) return NULL;
    if (e->kind == FM_EXPR_NAME) {
        fm_str *parts = fm_arena_array(p->arena, fm_str, e->n_parts + 1);
        fm_expr *longer = node(p, FM_EXPR_NAME, span(e->pos, name->pos), (fm_exprs){0});
        if (!parts || !longer) {
            no_memory(p);
            return NULL;
        }
        memcpy(parts, e->parts, (size_t)e->n_parts * sizeof *parts);
        parts[e->n_parts] = name->text;
        longer->parts = parts;
        longer->n_parts = e->n_parts + 1;
        if (longer->n_parts > FM_TYPE_DEPTH_MAX) fm_parse_too_deep(p);
        return longer;
    }
    fm_expr *field = placed(p, fm_expr_literal_str(p->arena, fm_type_string(), name->text), name->pos);
    fm_expr *out = field ? node(p, FM_EXPR_EXTRACT, e->pos, list2(p, e, field)) : NULL;
    return out;
}

fm_expr *fm_build_index(fm_parse *p, const fm_token *t, fm_expr *e, fm_expr *index)
{
    return e && index ? node(p, FM_EXPR_EXTRACT, t->pos, list2(p, e, index)) : NULL;
}

fm_expr *fm_build_cast(fm_parse *p, const fm_token *t, fm_expr *e, const fm_token *type, bool try_cast)
{
    fm_expr *cast = e ? node(p, FM_EXPR_CAST, span(t->pos, type->pos), list2(p, e, NULL)) : NULL;

    if (!cast) return NULL;
    cast->try_cast = try_cast;
    fm_status st = fm_type_parse(p->arena, type->text, &cast->cast_type, p->err);
    if (st != FM_OK) {
        if (p->err) p->err->line = type->pos.line, p->err->column = type->pos.column;
        fm_build_fail(p, st);
    }
    return cast;
}

/* CASE x WHEN a THEN b is CASE WHEN x = a THEN b. */
fm_expr *fm_build_case(fm_parse *p, const fm_token *t, fm_expr *x, fm_exprs whens, fm_expr *otherwise)
{
    fm_exprs args = {0};

    for (int32_t i = 0; i < whens.n; i++) {
        bool is_when = i % 2 == 0;
        args = fm_build_list(p, args, x && is_when ? fm_build_call_c(p, t, "=", x, whens.items[i]) : whens.items[i]);
    }
    if (otherwise) args = fm_build_list(p, args, otherwise);
    return node(p, FM_EXPR_CASE, t->pos, args);
}

fm_expr *fm_build_trim(fm_parse *p, const fm_token *t, const char *name, fm_expr *chars, fm_expr *text)
{
    /* As functions, trim, ltrim and rtrim take the characters first. */
    if (!chars) return fm_build_call_c(p, t, name, text, NULL);
    return fm_build_call_c(p, t, name, chars, text);
}

fm_expr *fm_build_sort_key(fm_parse *p, fm_expr *e, int descending, int nulls_first)
{
    fm_expr *key = e ? node(p, FM_EXPR_SORT_KEY, e->pos, list2(p, e, NULL)) : NULL;

    if (!key) return NULL;
    key->descending = descending;
    key->nulls_first = nulls_first < 0 ? !descending : nulls_first; /* Spark: nulls are smallest */
    return key;
}

/* a << b, a >> b, a >>> b */
fm_expr *fm_build_shift(fm_parse *p, const fm_token *t, fm_expr *a, fm_expr *b)
{
    const char *name = fm_str_eq(t->text, FM_STR("<<")) ? "shiftleft" : fm_str_eq(t->text, FM_STR(">>")) ? "shiftright" : "shiftrightunsigned";

    return fm_build_call_c(p, t, name, a, b);
}
