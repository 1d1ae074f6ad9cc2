/* sql/interval_literal.c: INTERVAL in its three forms:
 *
 *     INTERVAL 10 MINUTES          INTERVAL -1 DAY 2.5 SECONDS       values and units
 *     INTERVAL '1:30' HOUR TO MINUTE                                 a text, cut by its units
 *     INTERVAL '1 day 2 hours'                                       a text with units
 *
 * Rule: Spark, AstBuilder.visitInterval, IntervalUtils. */
#include "base/checked.h"
#include "sql/grammar_driver.h"
#include "sql/settle.h"

/* A literal being read. */
typedef struct interval {
    fm_settling *s;
    fm_interval_token *out;
    fm_strbuf text; /* "10 minute 3 second": what fm_text_to_interval reads */
    int32_t next;   /* the token behind what was read */
    bool fields[6]; /* by fm_interval_unit: the units that stand there */
} interval;

static const fm_token *token_at(const interval *x, int32_t i) { return fm_settle_peek(x->s, i); }

/* A unit in singular or plural, with the field of interval types that it counts in. */
static bool unit_of(fm_str word, bool singular_only, fm_interval_unit *field, const char **name)
{
    static const struct {
        const char *name;
        fm_interval_unit field;
    } units[] = {
        {"year", FM_UNIT_YEAR},     {"month", FM_UNIT_MONTH},   {"week", FM_UNIT_DAY},           {"day", FM_UNIT_DAY},
        {"hour", FM_UNIT_HOUR},     {"minute", FM_UNIT_MINUTE}, {"second", FM_UNIT_SECOND},      {"millisecond", FM_UNIT_SECOND},
        {"microsecond", FM_UNIT_SECOND},
    };
    fm_str singular = word;

    if (!singular_only && word.len && (word.ptr[word.len - 1] | 32) == 's') singular.len--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!fm_str_eq_ci(singular, fm_str_c(units[i].name))) continue;
        *field = units[i].field;
        *name = units[i].name;
        return true;
    }
    return false;
}

static bool unit_at(const interval *x, int32_t i, bool singular_only, fm_interval_unit *field, const char **name)
{
    const fm_token *t = token_at(x, i);

    return !t->quoted && unit_of(t->text, singular_only, field, name);
}

static bool is_value(const fm_token *t)
{
    return t->kind == FM_TK_STRING || t->kind == FM_TK_INTEGER || t->kind == FM_TK_NUMBER;
}

/* [sign] digits [. digits] */
static bool is_plain_number(fm_str text)
{
    bool digits = false, point = false;
    size_t i = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');

    for (; i < text.len; i++) {
        if (text.ptr[i] >= '0' && text.ptr[i] <= '9') digits = true;
        else if (text.ptr[i] == '.' && !point) point = true;
        else return false;
    }
    return digits;
}

static fm_status bad_value(const interval *x, const fm_token *value)
{
    return fm_settle_fail(x->s, value->pos, FM_INVALID, "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
                          "Can only use numbers in the interval value part, but got invalid value: %.*s.", FM_STR_ARG(value->text));
}

/* Adds "value unit"; a sign in front of the value turns one inside of a text around. */
static fm_status add_pair(interval *x, bool negative, const fm_token *value, const char *unit)
{
    fm_str number = fm_str_trim(value->text);

    if (!is_plain_number(number)) return bad_value(x, value);
    bool sign = number.ptr[0] == '-' || number.ptr[0] == '+';
    if (sign) {
        negative ^= number.ptr[0] == '-';
        number = (fm_str){number.ptr + 1, number.len - 1};
    }
    fm_strbuf_printf(&x->text, "%s%.*s %s ", negative ? "-" : "", FM_STR_ARG(number), unit);
    return FM_OK;
}

/* ---- '1:30' HOUR TO MINUTE -------------------------------------------------------------------------------------- */

/* The digits of one field: at most `most` when it is not the first. */
static bool take_field(fm_str *rest, fm_interval_unit f, bool first, fm_str *digits)
{
    static const int64_t most[] = {0, 11, 0, 23, 59, 59};
    size_t n = 0;
    int64_t value;

    while (n < rest->len && rest->ptr[n] >= '0' && rest->ptr[n] <= '9') n++;
    if (!fm_str_to_i64((fm_str){rest->ptr, n}, &value) || (!first && value > most[f])) return false;
    if (f == FM_UNIT_SECOND && n < rest->len && rest->ptr[n] == '.') {
        size_t point = n++;
        while (n < rest->len && rest->ptr[n] >= '0' && rest->ptr[n] <= '9') n++;
        if (n == point + 1 || n > point + 10) return false; /* one to nine digits */
    }
    *digits = (fm_str){rest->ptr, n};
    *rest = (fm_str){rest->ptr + n, rest->len - n};
    return true;
}

static bool take_range(interval *x, fm_str value, bool negative, fm_interval_unit from, fm_interval_unit to)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};
    static const char between[] = {0, '-', 0, ' ', ':', ':'}; /* in front of a field */
    fm_str rest = fm_str_trim(value), digits;
    bool sign = rest.len && (rest.ptr[0] == '-' || rest.ptr[0] == '+');

    if (sign) {
        negative ^= rest.ptr[0] == '-';
        rest = (fm_str){rest.ptr + 1, rest.len - 1};
    }
    for (fm_interval_unit f = from; f <= to; f++) {
        if (f > from) {
            bool separated = rest.len && (rest.ptr[0] == between[f] || (f == FM_UNIT_HOUR && rest.ptr[0] == 'T'));
            if (!separated) return false;
            rest = (fm_str){rest.ptr + 1, rest.len - 1};
        }
        if (!take_field(&rest, f, f == from, &digits)) return false;
        fm_strbuf_printf(&x->text, "%s%.*s %s ", negative ? "-" : "", FM_STR_ARG(digits), names[f]);
        x->fields[f] = true;
    }
    return rest.len == 0;
}

static fm_status read_range(interval *x, const fm_token *value, bool negative, fm_interval_unit from, fm_interval_unit to, int32_t to_at)
{
    bool fine = from < to && (from <= FM_UNIT_MONTH) == (to <= FM_UNIT_MONTH);

    if (!fine) {
        return fm_settle_fail(x->s, token_at(x, to_at)->pos, FM_INVALID, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION",
                              "Intervals from %.*s to %.*s are not supported: there are YEAR TO MONTH, and from DAY, HOUR, MINUTE to a smaller one of "
                              "HOUR, MINUTE, SECOND.",
                              FM_STR_ARG(token_at(x, to_at - 2)->text), FM_STR_ARG(token_at(x, to_at)->text));
    }
    if (!take_range(x, value->text, negative, from, to)) {
        static const char *const forms[] = {"y", "m", "d", "h", "m", "s"};
        static const char *const between[] = {"", "-", "", " ", ":", ":"};
        fm_strbuf form = {0};
        for (fm_interval_unit f = from; f <= to; f++) fm_strbuf_printf(&form, "%s%s", f > from ? between[f] : "", forms[f]);
        fm_status st = fm_settle_fail(x->s, value->pos, FM_INVALID, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING",
                                      "The interval '%.*s' does not match its units: [+|-]%s is expected.", FM_STR_ARG(value->text), form.ptr ? form.ptr : "");
        fm_strbuf_fini(&form);
        return st;
    }
    x->next = to_at + 1;
    return FM_OK;
}

/* ---- 10 MINUTES, and all together --------------------------------------------------------------------------------- */

/* Value and unit, again and again. Nothing at all: x->next stays. */
static fm_status read_pairs(interval *x)
{
    fm_interval_unit field, to;
    const char *name, *to_name;

    for (int32_t i = x->next;;) {
        int sign = token_at(x, i)->kind;
        bool has_sign = sign == FM_TK_MINUS_SIGN || sign == FM_TK_PLUS, first = i == x->next && !x->text.len;
        int32_t k = i + has_sign;
        const fm_token *value = token_at(x, k);
        if (!is_value(value) || !unit_at(x, k + 1, false, &field, &name)) return FM_OK;
        bool range = first && value->kind == FM_TK_STRING && fm_token_is_word(token_at(x, k + 2), "TO") && unit_at(x, k + 1, true, &field, &name) &&
                     unit_at(x, k + 3, true, &to, &to_name);
        if (range) return read_range(x, value, sign == FM_TK_MINUS_SIGN, field, to, k + 3);
        FM_TRY(add_pair(x, sign == FM_TK_MINUS_SIGN, value, name));
        x->fields[field] = true;
        x->next = i = k + 2;
    }
}

/* The units in a text such as '1 day 2 hours': they say the type. */
static void note_units(interval *x, fm_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        size_t from = i;
        fm_interval_unit field;
        const char *name;
        while (i < text.len && (text.ptr[i] | 32) >= 'a' && (text.ptr[i] | 32) <= 'z') i++;
        if (i > from && unit_of((fm_str){text.ptr + from, i - from}, false, &field, &name)) x->fields[field] = true;
    }
}

static fm_status finish(interval *x, int32_t at, int kind)
{
    fm_interval_token *out = x->out;
    fm_pos pos = token_at(x, at)->pos;
    fm_error why = FM_ERROR_INIT;
    bool first = true;

    if (!fm_strbuf_ok(&x->text)) return fm_no_memory(x->s->arena, x->s->err);
    pos.to = token_at(x, x->next - 1)->pos.to;
    fm_status st = fm_text_to_interval(fm_strbuf_str(&x->text), &out->value, &why);
    if (st != FM_OK) return fm_settle_fail(x->s, pos, st, why.condition, "%s", why.message);
    for (fm_interval_unit f = FM_UNIT_YEAR; f <= FM_UNIT_SECOND; f++) {
        if (!x->fields[f]) continue;
        if (f <= FM_UNIT_MONTH) out->has_months = true;
        else out->has_time = true;
        if (first) out->unit_from = f;
        out->unit_to = f;
        first = false;
    }
    fm_settle_join(x->s, at, x->next - 1, kind);
    x->s->tokens->items[at].interval = out;
    return FM_OK;
}

fm_status fm_settle_interval(fm_settling *s, int32_t i)
{
    interval x = {.s = s, .out = fm_arena_one(s->arena, fm_interval_token), .next = i + 1};
    fm_interval_unit field;
    const char *name;
    const fm_token *value = fm_settle_peek(s, i + 1);
    fm_status st = FM_OK;

    if (!x.out) return fm_no_memory(s->arena, s->err);
    bool text = value->kind == FM_TK_STRING && !unit_at(&x, i + 2, false, &field, &name);
    if (text) {
        fm_strbuf_add(&x.text, value->text);
        note_units(&x, value->text);
        x.next = i + 2;
    } else {
        st = read_pairs(&x);
    }
    bool no_unit = st == FM_OK && x.next == i + 1 && (value->kind == FM_TK_INTEGER || value->kind == FM_TK_NUMBER);
    if (no_unit) {
        st = fm_settle_fail(s, value->pos, FM_INVALID, "PARSE_SYNTAX_ERROR",
                            "Syntax error at or near '%.*s'. Expected behind it: a unit, one of YEAR, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, MILLISECOND, "
                            "MICROSECOND.",
                            FM_STR_ARG(value->text));
    }
    if (st == FM_OK && x.next > i + 1) st = finish(&x, i, text ? FM_TK_INTERVAL_TEXT : FM_TK_INTERVAL);
    else if (st == FM_OK) s->tokens->items[i].kind = FM_TK_ID;
    fm_strbuf_fini(&x.text);
    return st;
}
