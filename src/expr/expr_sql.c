/* expr/expr_sql.c: the text of expressions, as Spark names columns and quotes them in messages.
 *
 * Rule  Spark, toPrettySQL: operators in brackets, strings and numbers bare, casts that the analyzer put in
 *       are not shown, struct fields by path, aliases by what they stand for. */
#include "expr/aggregate.h"
#include "expr/cast.h"
#include "expr/expr.h"

/* Parameters of the lambdas around: unresolved, they are names. */
typedef struct lambda_names {
    const struct lambda_names *outer;
    const fm_expr *lambda;
} lambda_names;

static void put(const fm_expr *e, fm_strbuf *out, const lambda_names *in);

static void add_list(fm_expr *const *args, int32_t n, fm_strbuf *out, const lambda_names *in)
{
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        put(args[i], out, in);
    }
}

static void add_lower(fm_str name, fm_strbuf *out)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        fm_strbuf_add_char(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
    }
}

static void add_upper(fm_str name, fm_strbuf *out)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        fm_strbuf_add_char(out, c >= 'a' && c <= 'z' ? (char)(c - 32) : c);
    }
}

static void add_hex(fm_str bytes, fm_strbuf *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        fm_strbuf_add_char(out, digits[c >> 4]);
        fm_strbuf_add_char(out, digits[c & 15]);
    }
}

static void add_literal(const fm_expr *e, fm_strbuf *out)
{
    const char *before = "", *after = "";
    if (e->name.len) { /* the text it was written as, before it was folded */
        fm_strbuf_add(out, e->name);
        return;
    }
    if (fm_vec_is_null(&e->value, 0)) {
        fm_strbuf_add_c(out, "NULL");
        return;
    }
    switch (e->value.type->id) {
    case FM_TYPE_DATE: before = "DATE '", after = "'"; break;
    case FM_TYPE_TIMESTAMP: before = "TIMESTAMP '", after = "'"; break;
    case FM_TYPE_TIMESTAMP_NTZ: before = "TIMESTAMP_NTZ '", after = "'"; break;
    case FM_TYPE_BINARY:
        fm_strbuf_add_c(out, "X'");
        add_hex(fm_vec_str(&e->value, 0), out);
        fm_strbuf_add_c(out, "'");
        return;
    default: break;
    }
    fm_strbuf_add_c(out, before);
    fm_value_text(&e->value, 0, fm_zone_utc(), out);
    fm_strbuf_add_c(out, after);
}

static void add_case(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    if (e->name.len) { /* what it was written as: if(), nvl2() */
        fm_strbuf_add(out, e->name);
        return;
    }
    fm_strbuf_add_c(out, "CASE");
    for (int32_t i = 0; i + 1 < e->n_args; i += 2) {
        fm_strbuf_add_c(out, " WHEN ");
        put(e->args[i], out, in);
        fm_strbuf_add_c(out, " THEN ");
        put(e->args[i + 1], out, in);
    }
    if (e->n_args & 1) {
        fm_strbuf_add_c(out, " ELSE ");
        put(e->args[e->n_args - 1], out, in);
    }
    fm_strbuf_add_c(out, " END");
}

static void add_wrapped(const char *before, const fm_expr *e, const char *after, fm_strbuf *out, const lambda_names *in)
{
    fm_strbuf_add_c(out, before);
    put(e, out, in);
    fm_strbuf_add_c(out, after);
}

static void add_infix(const fm_expr *e, const char *before, const char *op, const char *after,
                      fm_strbuf *out, const lambda_names *in)
{
    fm_strbuf_add_c(out, before);
    put(e->args[0], out, in);
    fm_strbuf_add_char(out, ' ');
    fm_strbuf_add_c(out, op);
    fm_strbuf_add_char(out, ' ');
    put(e->args[1], out, in);
    fm_strbuf_add_c(out, after);
}

static bool is_interval(const fm_type *t)
{
    return t && (t->id == FM_TYPE_INTERVAL_YM || t->id == FM_TYPE_INTERVAL_DT);
}

/* The type an argument was written with: below the casts that were put in. */
static const fm_type *written_type(const fm_expr *e)
{
    while (e->kind == FM_EXPR_CAST && e->implicit) e = e->args[0];
    return e->type;
}

/* Sums with dates and intervals, as what Spark makes of them: a time before its interval, without brackets, days as
 * date_add() and date_sub(), an interval before its factor. False: ordinary arithmetic. */
static bool add_time_arithmetic(const fm_expr *e, fm_str op, fm_strbuf *out, const lambda_names *in)
{
    const fm_type *x = written_type(e->args[0]), *y = written_type(e->args[1]);
    char sign = op.len == 1 ? op.ptr[0] : '\0';
    if (!x || !y || (sign != '+' && sign != '-' && sign != '*')) return false;
    if (is_interval(x) != is_interval(y)) {
        bool swap = is_interval(x) == (sign != '*'); /* an interval stands behind a time, before a number */
        const fm_expr *first = e->args[swap], *second = e->args[!swap];
        if (sign != '*' && e->type && e->type->id == FM_TYPE_DATE && (is_interval(x) ? x : y)->id == FM_TYPE_INTERVAL_DT) {
            add_wrapped("date_add(", first, sign == '+' ? ", " : ", (- ", out, in);
            add_wrapped("extractansiintervaldays(", second, sign == '+' ? "))" : ")))", out, in);
            return true;
        }
        if (sign == '*') fm_strbuf_add_char(out, '(');
        put(first, out, in);
        fm_strbuf_add(out, (fm_str){sign == '+' ? " + " : sign == '-' ? " - " : " * ", 3});
        put(second, out, in);
        if (sign == '*') fm_strbuf_add_char(out, ')');
        return true;
    }
    if (sign != '*' && (x->id == FM_TYPE_DATE || y->id == FM_TYPE_DATE) && e->type && e->type->id == FM_TYPE_DATE) {
        const fm_expr *date = x->id == FM_TYPE_DATE ? e->args[0] : e->args[1];
        fm_strbuf_add_c(out, sign == '+' ? "date_add(" : "date_sub(");
        put(date, out, in);
        add_wrapped(", ", date == e->args[0] ? e->args[1] : e->args[0], ")", out, in);
        return true;
    }
    return false;
}

/* Calls that are not printed as name(arguments). The name is one word for all spellings: functions are
 * looked at by the name they were called with. False: an ordinary call. */
static bool add_operator(const fm_expr *e, fm_str name, fm_strbuf *out, const lambda_names *in)
{
    static const char *const binary[] = {"+", "-", "*", "/", "%", "=", "<=>", "<", "<=", ">",
                                         ">=", "&", "|", "^", "<<", ">>", ">>>"};
    static const struct {
        const char *name, *before, *after;
    } unary[] = {
        {"-", "(- ", ")"},           {"+", "(+ ", ")"},
        {"positive", "(+ ", ")"},    {"~", "~", ""},
        {"isnull", "(", " IS NULL)"}, {"isnotnull", "(", " IS NOT NULL)"},
        {"istrue", "(", " <=> true)"}, {"isfalse", "(", " <=> false)"},
        {"isnottrue", "(NOT (", " <=> true))"}, {"isnotfalse", "(NOT (", " <=> false))"},
        {"isunknown", "(", " IS NULL)"}, {"isnotunknown", "(", " IS NOT NULL)"},
        {"not", "(NOT ", ")"}, {"!", "(NOT ", ")"},
    };
    if (e->n_args == 1) {
        for (size_t i = 0; i < sizeof unary / sizeof unary[0]; i++)
            if (fm_str_eq_ci(name, fm_str_c(unary[i].name))) {
                add_wrapped(unary[i].before, e->args[0], unary[i].after, out, in);
                return true;
            }
        return false;
    }
    if (fm_str_eq(name, FM_STR("||"))) {
        fm_strbuf_add_c(out, "concat(");
        add_list(e->args, e->n_args, out, in);
        fm_strbuf_add_c(out, ")");
        return true;
    }
    if (fm_str_eq_ci(name, FM_STR("like")) && e->n_args >= 2) {
        add_infix(e, "", "LIKE", "", out, in);
        if (e->n_args == 3) add_wrapped(" ESCAPE '", e->args[2], "'", out, in);
        return true;
    }
    if (e->n_args != 2) return false;
    if (add_time_arithmetic(e, name, out, in)) return true;
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++)
        if (fm_str_eq(name, fm_str_c(binary[i]))) {
            add_infix(e, "(", binary[i], ")", out, in);
            return true;
        }
    if (fm_str_eq(name, FM_STR("=="))) {
        add_infix(e, "(", "=", ")", out, in);
    } else if (fm_str_eq(name, FM_STR("!=")) || fm_str_eq(name, FM_STR("<>"))) {
        add_infix(e, "(NOT (", "=", "))", out, in);
    } else if (fm_str_eq_ci(name, FM_STR("div"))) {
        add_infix(e, "(", "div", ")", out, in);
    } else if (fm_str_eq(name, FM_STR("[]"))) {
        put(e->args[0], out, in);
        add_wrapped("[", e->args[1], "]", out, in);
    } else if (fm_str_eq(name, FM_STR("."))) {
        put(e->args[0], out, in);
        add_wrapped(".", e->args[1], "", out, in);
    } else {
        return false;
    }
    return true;
}

/* Functions that Spark's texts spell in capitals, and those they show by another name. */
static bool add_spelled(fm_str name, fm_strbuf *out)
{
    static const char *const capitals[] = {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "cos", "cosh", "cot",
        "csc", "degrees", "e", "exp", "expm1", "floor", "hypot", "log", "log10", "log1p", "log2", "pi",
        "power", "radians", "regexp", "regexp_like", "rlike", "sec", "signum", "sin", "sinh",
        "spark_partition_id", "sqrt", "tan", "tanh",
    };
    static const char *const others[][2] = {
        {"curdate", "current_date"}, {"dateadd", "date_add"}, {"random", "rand"},
        {"current_database", "current_schema"}, {"to_varchar", "to_char"},
    };
    for (size_t i = 0; i < sizeof capitals / sizeof capitals[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(capitals[i]))) {
            add_upper(name, out);
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(others[i][0]))) {
            fm_strbuf_add_c(out, others[i][1]);
            return true;
        }
    return false;
}

static bool is_cast_name(fm_str name)
{
    static const char *const names[] = {"boolean", "tinyint", "smallint", "int", "bigint", "float",
                                        "double", "decimal", "date", "timestamp", "binary", "string"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(names[i]))) return true;
    return false;
}

/* The word for the side that a call with characters trims; NULL: no such call. */
static const char *trim_side(fm_str name)
{
    return fm_str_eq_ci(name, FM_STR("trim"))    ? "BOTH"
           : fm_str_eq_ci(name, FM_STR("ltrim")) ? "LEADING"
           : fm_str_eq_ci(name, FM_STR("rtrim")) ? "TRAILING"
                                                 : NULL;
}

/* Calls whose texts are their own. False: none of them. */
static bool add_special_call(const fm_expr *e, fm_str name, fm_strbuf *out, const lambda_names *in)
{
    if (fm_str_eq_ci(name, FM_STR("extract")) || fm_str_eq_ci(name, FM_STR("datepart"))) {
        if (e->n_args != 2) return false;
        add_lower(name, out);
        add_wrapped("(", e->args[0], " FROM ", out, in);
        add_wrapped("", e->args[1], ")", out, in);
    } else if (e->n_args == 1 && e->kind == FM_EXPR_UNRESOLVED_CALL && is_cast_name(name)) {
        put(e->args[0], out, in); /* a cast that nobody wrote as CAST is not shown */
    } else if (e->n_args == 3 && fm_unit_form(name)) {
        fm_strbuf_add_c(out, fm_unit_form(name));
        fm_strbuf_add_c(out, "(");
        add_list(e->args, e->n_args, out, in);
        fm_strbuf_add_c(out, ")");
    } else if (fm_str_eq_ci(name, FM_STR("if")) && e->n_args == 3) {
        fm_strbuf_add_c(out, "(IF(");
        add_list(e->args, e->n_args, out, in);
        fm_strbuf_add_c(out, "))");
    } else if (fm_str_eq_ci(name, FM_STR("assert_true")) && e->n_args == 1) {
        add_wrapped("assert_true(", e->args[0], ", '", out, in);
        add_wrapped("", e->args[0], "' is not true!)", out, in);
    } else if (fm_str_eq_ci(name, FM_STR("raise_error")) && e->n_args == 1) {
        add_wrapped("raise_error(USER_RAISED_EXCEPTION, map(errorMessage, ", e->args[0], "))", out, in);
    } else if (fm_str_eq_ci(name, FM_STR("ilike")) && e->n_args == 3) { /* the escape is not shown */
        add_wrapped("ilike(", e->args[0], ", ", out, in);
        add_wrapped("", e->args[1], ")", out, in);
    } else if (e->n_args == 2 && trim_side(name)) {
        fm_strbuf_printf(out, "TRIM(%s ", trim_side(name));
        put(e->args[0], out, in);
        add_wrapped(" FROM ", e->args[1], ")", out, in);
    } else if (fm_str_eq_ci(name, FM_STR("from_json")) && e->type && e->type->id == FM_TYPE_MAP) {
        fm_strbuf_add_c(out, "entries");
    } else if (fm_str_eq_ci(name, FM_STR("log")) && e->n_args == 1) {
        add_wrapped("LOG(E(), ", e->args[0], ")", out, in);
    } else if ((fm_str_eq_ci(name, FM_STR("from_json")) || fm_str_eq_ci(name, FM_STR("schema_of_json")) ||
                fm_str_eq_ci(name, FM_STR("to_json")) || fm_str_eq_ci(name, FM_STR("from_csv")) ||
                fm_str_eq_ci(name, FM_STR("to_csv")) || fm_str_eq_ci(name, FM_STR("schema_of_csv"))) &&
               e->n_args >= 1) { /* schema and options are not shown */
        add_lower(name, out);
        add_wrapped("(", e->args[0], ")", out, in);
    } else {
        return false;
    }
    return true;
}

/* Text of the arguments that were left out, where Spark shows them. */
static void add_left_out(const fm_expr *e, fm_str name, int32_t n_args, fm_strbuf *out)
{
    static const struct {
        const char *name;
        int at;
        const char *text;
    } aggregates[] = {
        {"percentile", 2, "1"}, {"percentile_approx", 2, "10000"}, {"approx_percentile", 2, "10000"},
        {"listagg", 1, "NULL"}, {"string_agg", 1, "NULL"},
    };
    const fm_function *function = e->function ? e->function : fm_function_find(name);
    for (size_t i = 0; i < sizeof aggregates / sizeof aggregates[0]; i++)
        if (n_args == aggregates[i].at && fm_str_eq_ci(name, fm_str_c(aggregates[i].name))) {
            fm_strbuf_add_c(out, ", ");
            fm_strbuf_add_c(out, aggregates[i].text);
        }
    if ((fm_str_eq_ci(name, FM_STR("aggregate")) || fm_str_eq_ci(name, FM_STR("reduce"))) && n_args == 3)
        fm_strbuf_add_c(out, ", lambdafunction(namedlambdavariable(), namedlambdavariable())");
    if (!function || e->kind == FM_EXPR_AGGREGATE) return;
    for (int32_t i = n_args; i < 8 && function->shown[i]; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        fm_strbuf_add_c(out, function->shown[i]);
    }
}

/* In backticks where it could not stand bare. Rule: Spark, quoteIfNeeded. */
static void add_name(fm_str name, fm_strbuf *out)
{
    bool bare = name.len > 0, digits = true;

    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool digit = c >= '0' && c <= '9';
        digits &= digit;
        bare &= digit || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }
    bare &= !digits;
    if (!bare) fm_strbuf_add_char(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (!bare && name.ptr[i] == '`') fm_strbuf_add_char(out, '`');
        fm_strbuf_add_char(out, name.ptr[i]);
    }
    if (!bare) fm_strbuf_add_char(out, '`');
}

static const fm_expr *as_written(const fm_expr *e) { return e->written ? e->written : e; }

/* The columns of struct(): names that were given are shown. */
static void add_columns(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    for (int32_t i = 0; i < e->n_args; i++) {
        if (i) fm_strbuf_add_c(out, ", ");
        put(e->args[i], out, in);
        if (e->args[i]->kind != FM_EXPR_ALIAS) continue;
        fm_strbuf_add_c(out, " AS ");
        add_name(e->args[i]->name, out);
    }
}

/* Calls whose second argument is not shown: an accuracy, a flag, a seed. */
static bool hides_second(fm_str name)
{
    static const char *const names[] = {"approx_count_distinct", "first", "first_value", "last", "last_value", "any_value", "shuffle"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(names[i]))) return true;
    return false;
}

/* How many of the last arguments are keys of WITHIN GROUP. */
static int32_t keys_of(const fm_expr *e)
{
    int32_t n = 0;
    if (e->kind == FM_EXPR_AGGREGATE) return e->index >> FM_EXPR_KEYS_SHIFT;
    while (n < e->n_args && e->args[e->n_args - 1 - n]->kind == FM_EXPR_SORT_KEY) n++;
    return n;
}

/* Key k of n; resolved, its direction stands in the call's index. */
static void add_key(const fm_expr *e, int32_t k, int32_t n, bool plain, bool turned, fm_strbuf *out, const lambda_names *in)
{
    const fm_expr *key = e->args[e->n_args - n + k];
    bool resolved = e->kind == FM_EXPR_AGGREGATE;
    bool descending = resolved ? e->index >> 2 * k & FM_EXPR_KEY_DESCENDING : key->descending;
    bool nulls_first = resolved ? e->index >> 2 * k & FM_EXPR_KEY_NULLS_FIRST : key->nulls_first;
    put(resolved ? key : key->args[0], out, in);
    if (descending != turned) fm_strbuf_add_c(out, " DESC");
    else if (!plain) fm_strbuf_add_c(out, " ASC");
    if (!plain) fm_strbuf_add_c(out, nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

/* mode() names the order by which it looks for the last, percentile_cont() and percentile_disc() no nulls. */
static void add_within(const fm_expr *e, fm_str name, int32_t n_keys, fm_strbuf *out, const lambda_names *in)
{
    bool mode = fm_str_eq_ci(name, FM_STR("mode"));
    bool plain = mode || fm_str_eq_ci(name, FM_STR("percentile_cont")) || fm_str_eq_ci(name, FM_STR("percentile_disc"));
    if (n_keys == 0) return;
    fm_strbuf_add_c(out, " WITHIN GROUP (ORDER BY ");
    for (int32_t k = 0; k < n_keys; k++) {
        if (k) fm_strbuf_add_c(out, ", ");
        add_key(e, k, n_keys, plain, mode, out, in);
    }
    fm_strbuf_add_char(out, ')');
}

/* mode(x, true) is shown as the ordered form that it is. */
static bool add_mode(const fm_expr *e, fm_str name, fm_strbuf *out, const lambda_names *in)
{
    const fm_expr *flag = e->n_args == 2 && keys_of(e) == 0 ? e->args[1] : NULL;
    bool known = flag && flag->kind == FM_EXPR_LITERAL && flag->value.type->id == FM_TYPE_BOOL && !fm_vec_is_null(&flag->value, 0);
    if (!known || !fm_str_eq_ci(name, FM_STR("mode"))) return false;
    if (fm_vec_bool(&flag->value)[0]) add_wrapped("mode() WITHIN GROUP (ORDER BY ", e->args[0], " DESC)", out, in);
    else add_wrapped("mode(", e->args[0], ")", out, in);
    return true;
}

static void add_call(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    int32_t n_keys = keys_of(e);
    fm_str name = e->name;
    if (!name.len && e->function) name = fm_str_c(e->function->name);
    if (!name.len && e->aggregate) name = fm_str_c(e->aggregate->name);
    if (e->kind != FM_EXPR_AGGREGATE && (add_operator(e, name, out, in) || add_special_call(e, name, out, in)))
        return;
    if (add_mode(e, name, out, in)) return;
    if (fm_str_eq_ci(name, FM_STR("array_agg"))) name = FM_STR("collect_list");
    bool to_digits = e->n_args == 2 && (fm_str_eq_ci(name, FM_STR("ceil")) || fm_str_eq_ci(name, FM_STR("floor")));
    if (to_digits || !add_spelled(name, out)) add_lower(name, out);
    fm_strbuf_add_c(out, e->distinct ? "(DISTINCT " : "(");
    if (fm_str_eq_ci(name, FM_STR("count")) &&
        (e->n_args == 0 || (e->n_args == 1 && e->args[0]->kind == FM_EXPR_STAR)))
        fm_strbuf_add_c(out, "1");
    else if (fm_str_eq_ci(name, FM_STR("struct")))
        add_columns(e, out, in);
    else if (e->n_args == 2 && hides_second(name))
        add_list(e->args, 1, out, in);
    else
        add_list(e->args, e->n_args - n_keys, out, in);
    add_left_out(e, name, e->n_args - n_keys, out);
    fm_strbuf_add_c(out, ")");
    add_within(e, name, n_keys, out, in);
    if (e->filter) add_wrapped(" FILTER (WHERE ", e->filter, ")", out, in);
}

static bool is_parameter(fm_str name, const lambda_names *in)
{
    for (; in; in = in->outer)
        for (int32_t i = 0; i < in->lambda->n_parts; i++)
            if (fm_str_eq_ci(in->lambda->parts[i], name)) return true;
    return false;
}

static void add_parts(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    for (int32_t i = 0; i < e->n_parts; i++) {
        if (i) fm_strbuf_add_char(out, '.');
        if (i == 0 && is_parameter(e->parts[0], in))
            fm_strbuf_add_c(out, "namedlambdavariable()");
        else
            fm_strbuf_add(out, e->parts[i]);
    }
}

/* DATE '...' before it is folded: the parser makes a cast of it, named by the word. */
static bool add_typed(const fm_expr *e, fm_strbuf *out)
{
    const fm_expr *literal = e->args[0];
    char text[FM_TIME_TEXT_SIZE];
    fm_str written;
    size_t len;
    int64_t us;
    int32_t days;
    if (!e->name.len || !e->cast_type || literal->kind != FM_EXPR_LITERAL ||
        literal->value.type->id != FM_TYPE_STRING || fm_vec_is_null(&literal->value, 0))
        return false;
    written = fm_vec_str(&literal->value, 0);
    if (e->cast_type->id == FM_TYPE_DATE && fm_text_to_date(written, &days))
        len = fm_date_text(days, text);
    else if (fm_type_is_timestamp(e->cast_type) && fm_text_to_timestamp_ntz(written, &us))
        len = fm_timestamp_text(us, text);
    else
        return false;
    add_upper(e->name, out);
    fm_strbuf_add_c(out, " '");
    fm_strbuf_add(out, (fm_str){text, len});
    fm_strbuf_add_c(out, "'");
    return true;
}

static void add_cast(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    const fm_type *to = e->cast_type ? e->cast_type : e->type;
    if (e->implicit || fm_type_is_nested(to)) { /* as Spark, which shows no cast to a nested type */
        put(e->args[0], out, in);
        return;
    }
    if (add_typed(e, out)) return;
    fm_strbuf_add_c(out, e->try_cast ? "TRY_CAST(" : "CAST(");
    put(e->args[0], out, in);
    fm_strbuf_add_c(out, " AS ");
    fm_type_sql(to, out);
    fm_strbuf_add_c(out, ")");
}

static void add_field(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    const fm_type *type = e->args[0]->type;
    put(e->args[0], out, in);
    fm_strbuf_add_char(out, '.');
    if (e->name.len)
        fm_strbuf_add(out, e->name);
    else if (type && e->index >= 0 && e->index < type->n_fields)
        fm_strbuf_add(out, type->fields[e->index].name);
}

/* Unresolved base.field and base[key]; a literal name after a dot is the name. */
static void add_extract(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    const fm_expr *key = e->args[1];
    bool bracket = e->sql.len && (e->sql.ptr[0] == '[' || e->sql.ptr[e->sql.len - 1] == ']');
    bool dot = key->kind == FM_EXPR_LITERAL && key->value.type->id == FM_TYPE_STRING && !bracket;
    put(e->args[0], out, in);
    add_wrapped(dot ? "." : "[", key, dot ? "" : "]", out, in);
}

/* x LIKE ANY (texts) is shown without the texts: "likeany(x)". False: it is an AND or OR of another kind. */
static bool add_like_many(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    static const char *const names[] = {"likeall", "likeany", "notlikeall", "notlikeany"};
    bool lower = fm_str_starts(e->name, FM_STR("ilike")) || fm_str_starts(e->name, FM_STR("notilike"));
    const fm_expr *x = e;
    size_t k = 0;
    if (!e->name.len) return false;
    while (k < 4 && !(fm_str_ends(e->name, fm_str_c(names[k] + (k < 2 ? 0 : 3))) && (k >= 2) == fm_str_starts(e->name, FM_STR("not"))))
        k++;
    if (k == 4) return false;
    while (x->kind == FM_EXPR_AND || x->kind == FM_EXPR_OR || x->kind == FM_EXPR_NOT) x = x->args[0];
    fm_strbuf_add_c(out, names[k]);
    add_wrapped(lower ? "(lower(" : "(", x->args[0], lower ? "))" : ")", out, in);
    return true;
}

static void put(const fm_expr *e, fm_strbuf *out, const lambda_names *in)
{
    switch (e->kind) {
    case FM_EXPR_NAME: add_parts(e, out, in); break;
    case FM_EXPR_STAR:
        add_parts(e, out, NULL);
        fm_strbuf_add_c(out, e->n_parts ? ".*" : "*");
        break;
    case FM_EXPR_UNRESOLVED_CALL:
    case FM_EXPR_CALL:
    case FM_EXPR_AGGREGATE:
    case FM_EXPR_GENERATOR: add_call(e, out, in); break;
    case FM_EXPR_SUBQUERY: fm_strbuf_add_c(out, "scalarsubquery()"); break;
    case FM_EXPR_EXISTS_SUBQUERY: fm_strbuf_add_c(out, "exists()"); break;
    case FM_EXPR_IN_SUBQUERY: add_wrapped("(", e->args[0], " IN (listquery()))", out, in); break;
    case FM_EXPR_INTERVAL_TEXT:
    case FM_EXPR_LITERAL: add_literal(e, out); break;
    case FM_EXPR_ALIAS: put(e->args[0], out, in); break;
    case FM_EXPR_MULTI_ALIAS: put(e->args[0], out, in); break;
    case FM_EXPR_CAST: add_cast(e, out, in); break;
    case FM_EXPR_EXTRACT: add_extract(e, out, in); break;
    case FM_EXPR_LAMBDA:
        fm_strbuf_add_c(out, "lambdafunction(");
        put(e->args[0], out, &(lambda_names){in, e});
        for (int32_t i = 0; i < e->n_parts || i == 0; i++) fm_strbuf_add_c(out, ", namedlambdavariable()");
        fm_strbuf_add_c(out, ")");
        break;
    case FM_EXPR_LAMBDA_VAR: fm_strbuf_add_c(out, "namedlambdavariable()"); break;
    case FM_EXPR_SORT_KEY:
        put(e->args[0], out, in);
        fm_strbuf_add_c(out, e->descending ? " DESC" : " ASC");
        fm_strbuf_add_c(out, e->nulls_first ? " NULLS FIRST" : " NULLS LAST");
        break;
    case FM_EXPR_AND:
        if (fm_str_eq(e->name, FM_STR("between"))) {
            const fm_expr *low = as_written(e->args[0]), *high = as_written(e->args[1]);
            add_wrapped("between(", low->args[0], ", ", out, in);
            add_wrapped("", as_written(low->args[1]), ", ", out, in);
            add_wrapped("", as_written(high->args[1]), ")", out, in);
            break;
        }
        if (add_like_many(e, out, in)) break;
        add_infix(e, "(", "AND", ")", out, in);
        break;
    case FM_EXPR_OR:
        if (add_like_many(e, out, in)) break;
        add_infix(e, "(", "OR", ")", out, in);
        break;
    case FM_EXPR_NOT: add_wrapped("(NOT ", e->args[0], ")", out, in); break;
    case FM_EXPR_CASE: add_case(e, out, in); break;
    case FM_EXPR_IN_LIST:
        add_wrapped("(", e->args[0], " IN (", out, in);
        add_list(e->args + 1, e->n_args - 1, out, in);
        fm_strbuf_add_c(out, "))");
        break;
    case FM_EXPR_ATTRIBUTE: fm_strbuf_add(out, e->name); break;
    case FM_EXPR_COLUMN:
        if (e->name.len)
            fm_strbuf_add(out, e->name);
        else
            fm_strbuf_printf(out, "#%d", (int)e->index);
        break;
    case FM_EXPR_FIELD: add_field(e, out, in); break;
    }
}

void fm_expr_sql(const fm_expr *e, fm_strbuf *out) { put(e, out, NULL); }

/* A struct field reached from a column by names only: a.b.c. */
static bool is_path(const fm_expr *e)
{
    while (e->kind == FM_EXPR_FIELD) e = e->args[0];
    return e->kind == FM_EXPR_ATTRIBUTE || e->kind == FM_EXPR_COLUMN;
}

void fm_expr_auto_name(const fm_expr *e, fm_strbuf *out)
{
    /* A cast of a column keeps the column's name. */
    if (e->kind == FM_EXPR_CAST) {
        const fm_expr *child = e->args[0];
        if (child->kind == FM_EXPR_ATTRIBUTE || child->kind == FM_EXPR_COLUMN ||
            (child->kind == FM_EXPR_NAME && child->n_parts))
            e = child;
    }
    if (e->kind == FM_EXPR_ALIAS || e->kind == FM_EXPR_ATTRIBUTE) {
        fm_strbuf_add(out, e->name);
    } else if (e->kind == FM_EXPR_NAME && e->n_parts) {
        fm_strbuf_add(out, e->parts[e->n_parts - 1]);
    } else if (e->kind == FM_EXPR_FIELD && is_path(e)) {
        fm_str name = e->name.len ? e->name : e->args[0]->type->fields[e->index].name;
        fm_strbuf_add(out, name);
    } else {
        fm_expr_sql(e, out);
    }
}
