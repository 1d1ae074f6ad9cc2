/* sql/settle.c: what a word is may hang on its neighbours.
 *
 * That is settled here, where looking ahead is easy, so that the grammar stays free of conflicts and no keyword is reserved:
 * DATE '2026-01-01' is a literal and date(x) a call, STREAM is a keyword before a name only, ORDER before BY only, (x, y) ->
 * begins a lambda, the type of a cast is one token. A keyword that is settled as a name has kind ID from then on; what remains
 * a keyword is still taken as a name where the grammar has no use for it (%fallback). Every step looks at a bounded number of
 * tokens, or jumps over parentheses that it knows the ends of. */
#include "sql/settle.h"

#include <stdio.h>

#include "sql/grammar_driver.h"

const fm_token *fm_settle_peek(const fm_settling *s, int32_t i)
{
    static const fm_token none;

    return i >= 0 && i < s->tokens->n ? &s->tokens->items[i] : &none;
}

static int kind_at(const fm_settling *s, int32_t i) { return fm_settle_peek(s, i)->kind; }

bool fm_token_is_word(const fm_token *t, const char *word)
{
    return t->text.ptr && !t->quoted && fm_str_eq_ci(t->text, fm_str_c(word));
}

static bool word_at(const fm_settling *s, int32_t i, const char *word) { return fm_token_is_word(fm_settle_peek(s, i), word); }

static bool is_word(const fm_token *t)
{
    char c = t->text.len && !t->quoted ? t->text.ptr[0] : 0;

    return t->kind != FM_TK_INTEGER && t->kind != FM_TK_NUMBER && (c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

void fm_settle_join(fm_settling *s, int32_t i, int32_t last, int kind)
{
    fm_token *t = &s->tokens->items[i];

    t->kind = kind;
    t->quoted = false;
    t->pos.to = s->tokens->items[last].pos.to;
    t->text = (fm_str){s->text.ptr + t->pos.from, (size_t)(t->pos.to - t->pos.from)};
    for (int32_t k = i + 1; k <= last; k++) s->tokens->items[k].kind = FM_TOKEN_TAKEN;
}

fm_status fm_settle_fail(const fm_settling *s, fm_pos pos, fm_status st, const char *condition, const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fm_sql_fail(s->text, pos, s->err, st, condition, "%s", what);
}

/* ---- What stands around a word ------------------------------------------------------------------------------- */

static bool is_call(const fm_settling *s, int32_t i) { return kind_at(s, i + 1) == FM_TK_LPAREN; }

/* A name may begin here: a word that begins no clause of its own. */
static bool begins_name(const fm_settling *s, int32_t i)
{
    static const int clauses[] = {
        FM_TK_WHERE, FM_TK_GROUP, FM_TK_HAVING, FM_TK_ORDER, FM_TK_LIMIT, FM_TK_OFFSET, FM_TK_JOIN, FM_TK_INNER, FM_TK_LEFT,
        FM_TK_RIGHT, FM_TK_FULL, FM_TK_CROSS, FM_TK_NATURAL, FM_TK_SEMI, FM_TK_ANTI, FM_TK_ON, FM_TK_USING, FM_TK_UNION,
        FM_TK_EXCEPT, FM_TK_INTERSECT, FM_TK_MINUS, FM_TK_LATERAL, FM_TK_WATERMARK, FM_TK_WITH, FM_TK_TABLESAMPLE, FM_TK_AS,
        FM_TK_SELECT, FM_TK_WINDOW, FM_TK_DELAY, FM_TK_FROM,
    };
    const fm_token *t = fm_settle_peek(s, i);

    if (t->quoted) return t->kind == FM_TK_ID;
    for (size_t k = 0; k < sizeof clauses / sizeof clauses[0]; k++) {
        if (t->kind == clauses[k]) return false;
    }
    return is_word(t);
}

static bool begins_query(const fm_settling *s, int32_t i)
{
    while (kind_at(s, i) == FM_TK_LPAREN) i++;
    switch (kind_at(s, i)) {
    case FM_TK_SELECT:
    case FM_TK_WITH:
    case FM_TK_VALUES: return true;
    case FM_TK_FROM:
    case FM_TK_TABLE: return begins_name(s, i + 1);
    default: return false;
    }
}

/* Whether a keyword stands between the '(' at i and its ')', not inside inner ones. */
static bool has_inside(const fm_settling *s, int32_t i, int kind)
{
    for (int32_t k = i + 1; k < s->match[i] && k < s->tokens->n; k++) {
        if (kind_at(s, k) == FM_TK_LPAREN) k = s->match[k];
        else if (kind_at(s, k) == kind) return true;
    }
    return false;
}

/* The word is the last of an operand: what follows is an operator. */
static bool ends_operand(const fm_token *t)
{
    switch (t->kind) {
    case FM_TK_ID:
    case FM_TK_STRING:
    case FM_TK_INTEGER:
    case FM_TK_NUMBER:
    case FM_TK_RPAREN:
    case FM_TK_RBRACKET: return true;
    default: return false;
    }
}

static bool begins_operand(const fm_settling *s, int32_t i)
{
    switch (kind_at(s, i)) {
    case FM_TK_LPAREN:
    case FM_TK_STRING:
    case FM_TK_INTEGER:
    case FM_TK_NUMBER:
    case FM_TK_NULL:
    case FM_TK_TRUE:
    case FM_TK_FALSE:
    case FM_TK_CASE:
    case FM_TK_CAST:
    case FM_TK_INTERVAL:
    case FM_TK_ID: return true;
    default: return false;
    }
}

/* ---- Keywords that are names unless their neighbours say otherwise -------------------------------------------- */

static bool is_keyword(const fm_settling *s, int32_t i)
{
    int before = kind_at(s, i - 1), next = kind_at(s, i + 1);
    bool call = next == FM_TK_LPAREN;

    switch (kind_at(s, i)) {
    case FM_TK_EXISTS: return (call && begins_query(s, i + 2)) || before == FM_TK_IF || (before == FM_TK_NOT && kind_at(s, i - 2) == FM_TK_IF);
    case FM_TK_EXTRACT:
    case FM_TK_SUBSTRING:
    case FM_TK_TRIM: return call && has_inside(s, i + 1, FM_TK_FROM);
    case FM_TK_OVERLAY: return call && has_inside(s, i + 1, FM_TK_PLACING);
    case FM_TK_POSITION: return call && has_inside(s, i + 1, FM_TK_IN) && !has_inside(s, i + 1, FM_TK_COMMA);
    case FM_TK_STREAM: return call || begins_name(s, i + 1);
    case FM_TK_WATERMARK: return call || kind_at(s, i + 1) == FM_TK_CAST || begins_name(s, i + 1);
    case FM_TK_FILTER: return call && kind_at(s, i + 2) == FM_TK_WHERE;
    case FM_TK_IF:
    case FM_TK_LEFT:
    case FM_TK_RIGHT:
    case FM_TK_REPLACE:
    case FM_TK_REFRESH: return !call;
    case FM_TK_CAST:
    case FM_TK_TRY_CAST:
    case FM_TK_TABLESAMPLE: return call;
    case FM_TK_FIRST:
    case FM_TK_LAST: return before == FM_TK_NULLS;
    case FM_TK_NULLS: return next == FM_TK_FIRST || next == FM_TK_LAST || before == FM_TK_IGNORE || before == FM_TK_RESPECT;
    case FM_TK_IGNORE:
    case FM_TK_RESPECT: return next == FM_TK_NULLS;
    case FM_TK_ANY:
    case FM_TK_SOME: return call && (before == FM_TK_LIKE || before == FM_TK_ILIKE);
    case FM_TK_GROUP: return next == FM_TK_BY || before == FM_TK_WITHIN;
    case FM_TK_ORDER:
    case FM_TK_PARTITION: return next == FM_TK_BY;
    case FM_TK_WITHIN: return next == FM_TK_GROUP;
    case FM_TK_OVER: return before == FM_TK_RPAREN || before == FM_TK_NULLS;
    case FM_TK_WINDOW: return kind_at(s, i + 2) == FM_TK_AS && kind_at(s, i + 3) == FM_TK_LPAREN;
    case FM_TK_LATERAL: return next == FM_TK_VIEW;
    case FM_TK_CURRENT: return next == FM_TK_ROW;
    case FM_TK_GROUPING: return next == FM_TK_SETS;
    case FM_TK_VALUES: return begins_operand(s, i + 1);
    case FM_TK_TABLE: return !call && (begins_name(s, i + 1) || kind_at(s, i + 1) == FM_TK_IF);
    default: return true;
    }
}

static void settle_keyword(fm_settling *s, int32_t i)
{
    fm_token *t = &s->tokens->items[i];

    bool describe = i == 0 && (t->kind == FM_TK_DESC || t->kind == FM_TK_DESCRIBE);
    if (describe && begins_query(s, 1) && kind_at(s, 1) != FM_TK_TABLE) {
        t->kind = FM_TK_DESCRIBE_QUERY;
    } else if (!is_keyword(s, i)) {
        t->kind = FM_TK_ID;
    } else if (t->kind == FM_TK_EXCEPT) {
        bool columns = kind_at(s, i - 1) == FM_TK_STAR && is_call(s, i) && !begins_query(s, i + 2);
        if (columns) t->kind = FM_TK_EXCEPT_COLUMNS;
    }
}

/* DATE '...', X'...': only before a text. */
static fm_status settle_name(fm_settling *s, int32_t i)
{
    static const char *const typed[] = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "X"};
    static const char *const untyped[] = {"TIME", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL",
                                          "STRING", "BINARY", "VARIANT"};
    fm_token *t = &s->tokens->items[i];

    if (t->quoted || kind_at(s, i + 1) != FM_TK_STRING) return FM_OK;
    for (size_t k = 0; k < sizeof typed / sizeof typed[0]; k++) {
        if (fm_token_is_word(t, typed[k])) t->kind = FM_TK_TYPED;
    }
    for (size_t k = 0; k < sizeof untyped / sizeof untyped[0]; k++) {
        if (!fm_token_is_word(t, untyped[k])) continue;
        return fm_settle_fail(s, t->pos, FM_INVALID, "UNSUPPORTED_TYPED_LITERAL",
                              "Literals of the type \"%s\" are not supported. Supported types are \"DATE\", \"TIMESTAMP_NTZ\", "
                              "\"TIMESTAMP_LTZ\", \"TIMESTAMP\", \"INTERVAL\", \"X\". Write CAST('...' AS %s).",
                              untyped[k], untyped[k]);
    }
    return FM_OK;
}

/* ---- Signs ----------------------------------------------------------------------------------------------------- */

/* >> and >>> come as '>' that touch, so that ARRAY<ARRAY<INT>> can be read. */
static void settle_shift(fm_settling *s, int32_t i)
{
    int32_t last = i;

    while (last < i + 2 && kind_at(s, last + 1) == FM_TK_GT && fm_settle_peek(s, last + 1)->pos.from == fm_settle_peek(s, last)->pos.to) last++;
    if (last > i) fm_settle_join(s, i, last, FM_TK_SHIFT);
}

static fm_status settle_colon(const fm_settling *s, int32_t i)
{
    const fm_token *t = fm_settle_peek(s, i);

    if (t->kind == FM_TK_COLON && ends_operand(fm_settle_peek(s, i - 1))) {
        return fm_settle_fail(s, t->pos, FM_UNSUPPORTED, "FLOODMARK_PATH_EXTRACTION",
                              "Paths with ':' into VARIANT values are not available. For JSON text use get_json_object or from_json.");
    }
    return fm_settle_fail(s, t->pos, FM_UNSUPPORTED, "UNBOUND_SQL_PARAMETER",
                          "Parameter markers (? and :name) are not available: write the value, or ${key} and give it with -c key=value.");
}

/* What the angle brackets of a type may hold. */
static bool in_type(const fm_token *t)
{
    switch (t->kind) {
    case FM_TK_LT:
    case FM_TK_GT:
    case FM_TK_NE: /* STRUCT<> */
    case FM_TK_LPAREN:
    case FM_TK_RPAREN:
    case FM_TK_COMMA:
    case FM_TK_COLON:
    case FM_TK_INTEGER:
    case FM_TK_STRING: return true;
    default: return t->kind == FM_TK_ID || is_word(t);
    }
}

/* x::type: a word, what belongs to it in parentheses or angle brackets, or an interval's units. */
static void settle_double_colon(fm_settling *s, int32_t i)
{
    static const char *const sized[] = {"DECIMAL", "DEC", "NUMERIC", "CHAR", "CHARACTER", "VARCHAR"};
    static const char *const nested[] = {"ARRAY", "MAP", "STRUCT"};
    int32_t last = i + 1;

    if (!is_word(fm_settle_peek(s, last))) return;
    for (size_t k = 0; k < sizeof sized / sizeof sized[0]; k++) {
        bool has_size = word_at(s, i + 1, sized[k]) && is_call(s, i + 1) && s->match[i + 2] < s->tokens->n;
        if (has_size) last = s->match[i + 2];
    }
    for (size_t k = 0; k < sizeof nested / sizeof nested[0]; k++) {
        if (!word_at(s, i + 1, nested[k])) continue;
        if (kind_at(s, i + 2) == FM_TK_NE) last = i + 2; /* STRUCT<> */
        if (kind_at(s, i + 2) != FM_TK_LT) continue;
        int depth = 0;
        for (int32_t j = i + 2; in_type(fm_settle_peek(s, j)); j++) {
            depth += (kind_at(s, j) == FM_TK_LT) - (kind_at(s, j) == FM_TK_GT);
            if (depth > 0) continue;
            last = j;
            break;
        }
    }
    if (word_at(s, i + 1, "INTERVAL") && is_word(fm_settle_peek(s, i + 2))) {
        last = word_at(s, i + 3, "TO") && is_word(fm_settle_peek(s, i + 4)) ? i + 4 : i + 2;
    }
    fm_settle_join(s, i + 1, last, FM_TK_TYPE);
}

/* CAST ( ... AS type ): what stands between AS, at the level of the cast, and its ')'. */
static void settle_cast(fm_settling *s, int32_t i)
{
    int32_t close = s->match[i + 1], as = -1;

    for (int32_t k = i + 2; k < close; k++) {
        if (kind_at(s, k) == FM_TK_LPAREN) k = s->match[k];
        else if (kind_at(s, k) == FM_TK_AS) as = k;
    }
    if (as >= 0 && as + 1 < close && close < s->tokens->n) fm_settle_join(s, as + 1, close - 1, FM_TK_TYPE);
}

/* ---- Options: keys are names, whatever they are called --------------------------------------------------------- */

static bool begins_options(const fm_settling *s, int32_t i)
{
    int kind = kind_at(s, i);
    bool create = kind_at(s, 0) == FM_TK_CREATE || kind_at(s, 0) == FM_TK_REPLACE_TABLE;
    bool clause = ((kind == FM_TK_OPTIONS || kind == FM_TK_TBLPROPERTIES) && create) || kind == FM_TK_SET_PROPERTIES || kind == FM_TK_UNSET_PROPERTIES;

    return is_call(s, i) && (clause || kind == FM_TK_WITH);
}

/* Settles all up to the ')'; returns its place. */
static int32_t settle_options(fm_settling *s, int32_t i)
{
    int32_t close = s->match[i + 1];

    for (int32_t k = i + 2; k < close && k < s->tokens->n; k++) {
        fm_token *t = &s->tokens->items[k];
        if (is_word(t) && t->kind != FM_TK_TRUE && t->kind != FM_TK_FALSE) t->kind = FM_TK_ID;
    }
    return close;
}

/* ---- What is understood, and not built --------------------------------------------------------------------------- */

static fm_status refuse(const fm_settling *s, int32_t i, const char *condition, const char *what)
{
    return fm_settle_fail(s, fm_settle_peek(s, i)->pos, FM_UNSUPPORTED, condition, "%s", what);
}

static fm_status refuse_missing(const fm_settling *s, int32_t i)
{
    int before = kind_at(s, i - 1), next = kind_at(s, i + 1);

    if (kind_at(s, i) == FM_TK_PIPE) return refuse(s, i, "FLOODMARK_PIPE", "Queries with |> are not available: write SELECT ... FROM ... .");
    if (next == FM_TK_BY && (word_at(s, i, "SORT") || word_at(s, i, "CLUSTER") || word_at(s, i, "DISTRIBUTE"))) {
        return refuse(s, i, "FLOODMARK_SORT_BY", "SORT BY, CLUSTER BY and DISTRIBUTE BY arrange the partitions of a cluster and are not available: write ORDER BY.");
    }
    if ((word_at(s, i, "PIVOT") || word_at(s, i, "UNPIVOT")) && is_call(s, i) && has_inside(s, i + 1, FM_TK_FOR)) {
        return refuse(s, i, "FLOODMARK_PIVOT", "PIVOT and UNPIVOT are not available: write sum(x) FILTER (WHERE kind = 'a') AS a, one for each column.");
    }
    if (word_at(s, i, "RECURSIVE") && before == FM_TK_WITH && begins_name(s, i + 1)) {
        return refuse(s, i, "FLOODMARK_RECURSION", "WITH RECURSIVE is not available.");
    }
    bool lateral = fm_token_is_word(fm_settle_peek(s, i), "LATERAL") && next != FM_TK_VIEW && (before == FM_TK_COMMA || before == FM_TK_JOIN || before == FM_TK_FROM) &&
                   (next == FM_TK_LPAREN || (begins_name(s, i + 1) && is_call(s, i + 1)));
    if (lateral) return refuse(s, i, "FLOODMARK_LATERAL", "LATERAL sub-queries and functions are not available: write LATERAL VIEW explode(...) t AS x.");
    return FM_OK;
}

/* ---- One by one ------------------------------------------------------------------------------------------------------ */

/* SELECT a, FROM t; WITH a AS (...), SELECT: else the keywords would be taken as names. */
static bool comma_too_many(const fm_settling *s, int32_t i)
{
    int kind = kind_at(s, i), next = kind_at(s, i + 1);

    if (kind_at(s, i - 1) != FM_TK_COMMA) return false;
    if (kind == FM_TK_FROM) return begins_name(s, i + 1) || next == FM_TK_LPAREN;
    return kind == FM_TK_SELECT && kind_at(s, i - 2) == FM_TK_RPAREN && next != FM_TK_AS && next != FM_TK_LPAREN && next != FM_TK_COMMA &&
           next != FM_TK_RPAREN && next != FM_TK_DOT;
}

static fm_status settle_token(fm_settling *s, int32_t i)
{
    fm_token *t = &s->tokens->items[i];

    switch (t->kind) {
    case FM_TK_QUESTION:
    case FM_TK_COLON: return settle_colon(s, i);
    case FM_TK_GT: settle_shift(s, i); return FM_OK;
    case FM_TK_DOUBLE_COLON: settle_double_colon(s, i); return FM_OK;
    case FM_TK_LPAREN:
        if (s->match[i] < s->tokens->n && kind_at(s, s->match[i] + 1) == FM_TK_ARROW) t->kind = FM_TK_LAMBDA_LPAREN;
        return FM_OK;
    default: break;
    }
    if (t->kind != FM_TK_PIPE && !is_word(t)) return FM_OK;
    if (kind_at(s, i - 1) == FM_TK_DOT) { /* a.end, window.end */
        t->kind = FM_TK_ID;
        return FM_OK;
    }
    if (fm_settle_travel(s, i)) return FM_OK;
    FM_TRY(refuse_missing(s, i));
    if (t->kind == FM_TK_ID) return settle_name(s, i);
    if (t->kind == FM_TK_INTERVAL) return fm_settle_interval(s, i);
    if (comma_too_many(s, i)) {
        bool select = fm_str_eq_ci(t->text, FM_STR("FROM"));
        return fm_settle_fail(s, t->pos, FM_INVALID, select ? "TRAILING_COMMA_IN_SELECT" : "PARSE_SYNTAX_ERROR",
                              "Syntax error at or near '%.*s'. The comma before it is one too many.",
                              FM_STR_ARG(t->text));
    }
    settle_keyword(s, i);
    if (t->kind == FM_TK_CAST || t->kind == FM_TK_TRY_CAST) settle_cast(s, i);
    return FM_OK;
}

fm_status fm_settle(fm_settling *s)
{
    FM_TRY(fm_settle_columns(s));
    FM_TRY(fm_settle_write(s));
    for (int32_t i = 0; i < s->tokens->n; i++) {
        if (begins_options(s, i)) i = settle_options(s, i);
        else if (s->tokens->items[i].kind != FM_TOKEN_TAKEN) FM_TRY(settle_token(s, i));
    }
    return FM_OK;
}
