/* sql/token.c: from the lexer's words to the grammar's tokens.
 *
 * What a word is may hang on its neighbours, and that is settled here, where looking ahead is easy, so that the grammar
 * stays free of conflicts: `DATE '2026-01-01'` is a literal and date(x) a call, STREAM is a keyword only before a name,
 * `(x, y) ->` begins a lambda, the type of a cast and the columns of CREATE TABLE are taken as raw text. */
#include "sql/token.h"

#include <stdio.h>

#include "base/limits.h"
#include "sql/grammar_driver.h"
#include "sql/lexer.h"

/* ---- Keywords ---------------------------------------------------------------------------------------------- */

#define K(word) {#word, FM_TK_##word}
static const struct {
    const char *word;
    int kind;
} keywords[] = {
    K(ALL), K(AND), K(ANTI), K(ANY), K(AS), K(ASC), K(BETWEEN), K(BOTH), K(BY), K(CASE), K(CAST), K(CODEGEN), K(COMMENT), K(COST),
    K(CREATE), K(CROSS), K(CUBE), K(CURRENT), K(DELAY), K(DESC), K(DESCRIBE), K(DISTINCT), K(DIV), K(DROP), K(ELSE), K(END),
    K(ESCAPE), K(EXCEPT), K(EXISTS), K(EXPLAIN), K(EXTENDED), K(EXTRACT), K(FALSE), K(FILTER), K(FIRST), K(FOLLOWING), K(FOR),
    K(FORMATTED), K(FROM), K(FULL), K(FUNCTION), K(FUNCTIONS), K(GROUP), K(GROUPING), K(HAVING), K(IF), K(IGNORE), K(ILIKE), K(IN),
    K(INNER), K(INTERSECT), K(IS), K(JOIN), K(LAST), K(LATERAL), K(LEADING), K(LEFT), K(LIKE), K(LIMIT), K(LOCATION), K(MINUS),
    K(NATURAL), K(NOT), K(NULL), K(NULLS), K(OF), K(OFFSET), K(ON), K(OPTIONS), K(OR), K(ORDER), K(OUTER), K(OVER), K(OVERLAY),
    K(PARTITION), K(PARTITIONED), K(PLACING), K(POSITION), K(PRECEDING), K(QUERY), K(RANGE), K(REFRESH), K(REPLACE), K(RESPECT),
    K(RIGHT), K(RLIKE), K(ROLLUP), K(ROW), K(ROWS), K(SELECT), K(SEMI), K(SETS), K(SHOW), K(SOME), K(STREAM), K(STREAMING), K(STREAMS),
    K(SUBSTRING), K(TABLE), K(TABLES), K(TABLESAMPLE), K(TBLPROPERTIES), K(TEMPORARY), K(THEN), K(TO), K(TRAILING), K(TRIM), K(TRUE),
    K(TRY_CAST), K(UNBOUNDED), K(UNION), K(UNKNOWN), K(USING), K(VALUES), K(VIEW), K(VIEWS), K(WATERMARK), K(WHEN), K(WHERE), K(WITH),
    K(WITHIN), {"TEMP", FM_TK_TEMPORARY}, {"REGEXP", FM_TK_RLIKE}, {"PERCENT", FM_TK_PERCENT_WORD}, {"SUBSTR", FM_TK_SUBSTRING},
};
#undef K

int fm_keyword_kind(const char *word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (fm_str_eq_ci(fm_str_c(word), fm_str_c(keywords[i].word))) return keywords[i].kind;
    }
    return 0;
}

const char *fm_keyword_nearest(fm_str word)
{
    const char *names[sizeof keywords / sizeof keywords[0]];
    int n = (int)(sizeof keywords / sizeof keywords[0]);

    for (int i = 0; i < n; i++) names[i] = keywords[i].word;
    return fm_str_nearest(word, names, n);
}

static int word_kind(fm_str word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (fm_str_eq_ci(word, fm_str_c(keywords[i].word))) return keywords[i].kind;
    }
    return FM_TK_ID;
}

static int symbol_kind(fm_str s)
{
    static const struct {
        const char *text;
        int kind;
    } symbols[] = {
        {"<=>", FM_TK_NSEQ}, {"<>", FM_TK_NE}, {"!=", FM_TK_NE}, {"<=", FM_TK_LE}, {">=", FM_TK_GE}, {"==", FM_TK_EQ}, {"||", FM_TK_CONCAT},
        {"->", FM_TK_ARROW}, {"=>", FM_TK_FAT_ARROW}, {"::", FM_TK_DOUBLE_COLON}, {"<<", FM_TK_SHIFT}, {">>>", FM_TK_SHIFT},
        {"-", FM_TK_MINUS_SIGN}, {"+", FM_TK_PLUS}, {"*", FM_TK_STAR}, {"/", FM_TK_SLASH}, {"%", FM_TK_PERCENT}, {"&", FM_TK_BITAND},
        {"|", FM_TK_BITOR}, {"^", FM_TK_BITXOR}, {"~", FM_TK_TILDE}, {"!", FM_TK_BANG}, {"=", FM_TK_EQ}, {"<", FM_TK_LT}, {">", FM_TK_GT},
        {"(", FM_TK_LPAREN}, {")", FM_TK_RPAREN}, {",", FM_TK_COMMA}, {".", FM_TK_DOT}, {"[", FM_TK_LBRACKET}, {"]", FM_TK_RBRACKET},
        {":", FM_TK_COLON},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (fm_str_eq(s, fm_str_c(symbols[i].text))) return symbols[i].kind;
    }
    return 0;
}

/* ---- Places and errors ------------------------------------------------------------------------------------- */

fm_pos fm_text_pos(fm_str text, size_t from, size_t to)
{
    fm_pos pos = {.line = 1, .column = 1, .from = (int32_t)from, .to = (int32_t)to};

    for (size_t i = 0; i < from && i < text.len; i++) {
        if (text.ptr[i] == '\n') pos.line++, pos.column = 1;
        else if (((unsigned char)text.ptr[i] & 0xC0) != 0x80) pos.column++;
    }
    return pos;
}

fm_status fm_syntax_error(fm_str text, fm_pos pos, fm_error *err, const char *format, ...)
{
    enum { SHOWN_MAX = 100 };
    char what[512], marks[SHOWN_MAX + 1];
    size_t begin = (size_t)pos.from < text.len ? (size_t)pos.from : text.len, end = begin;
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    while (begin > 0 && text.ptr[begin - 1] != '\n' && (size_t)pos.from - begin < SHOWN_MAX / 2) begin--;
    while (end < text.len && text.ptr[end] != '\n' && end - begin < SHOWN_MAX) end++;
    size_t indent = (size_t)pos.from - begin, n = 0;
    for (size_t i = 0; i < indent && n < SHOWN_MAX; i++) {
        char c = text.ptr[begin + i];
        if (((unsigned char)c & 0xC0) != 0x80) marks[n++] = c == '\t' ? '\t' : ' ';
    }
    marks[n] = 0;
    return fm_fail_at(err, FM_INVALID, "PARSE_SYNTAX_ERROR", pos.line, pos.column, "%s (line %d, column %d)\n\n  %.*s\n  %s^", what, pos.line, pos.column,
                      (int)(end - begin), text.ptr + begin, marks);
}

/* ---- Reading words ----------------------------------------------------------------------------------------- */

typedef struct reader {
    fm_arena *arena;
    fm_str text;
    fm_error *err;
    fm_tokens *out;
    int32_t line, column; /* of `counted` */
    size_t counted;
} reader;

/* As fm_text_pos, going on from the last place: a text is counted once, not once a word. */
static fm_pos place(reader *r, size_t from, size_t to)
{
    for (; r->counted < from; r->counted++) {
        if (r->text.ptr[r->counted] == '\n') r->line++, r->column = 1;
        else if (((unsigned char)r->text.ptr[r->counted] & 0xC0) != 0x80) r->column++;
    }
    return (fm_pos){.line = r->line, .column = r->column, .from = (int32_t)from, .to = (int32_t)to};
}

static fm_status add(reader *r, int kind, fm_str text, fm_pos pos)
{
    fm_tokens *t = r->out;

    if (t->n == t->cap) {
        int32_t cap = t->cap ? t->cap * 2 : 128;
        fm_token *more = fm_arena_array(r->arena, fm_token, cap);
        if (!more) return fm_no_memory(r->arena, r->err);
        if (t->n) memcpy(more, t->items, (size_t)t->n * sizeof *more);
        t->items = more;
        t->cap = cap;
    }
    t->items[t->n++] = (fm_token){.kind = kind, .text = text, .pos = pos};
    return FM_OK;
}

static void add_utf8(fm_strbuf *out, uint32_t c)
{
    if (c < 0x80) {
        fm_strbuf_add_char(out, (char)c);
    } else if (c < 0x800) {
        fm_strbuf_add_char(out, (char)(0xC0 | c >> 6));
        fm_strbuf_add_char(out, (char)(0x80 | (c & 63)));
    } else if (c < 0x10000) {
        fm_strbuf_add_char(out, (char)(0xE0 | c >> 12));
        fm_strbuf_add_char(out, (char)(0x80 | (c >> 6 & 63)));
        fm_strbuf_add_char(out, (char)(0x80 | (c & 63)));
    } else {
        fm_strbuf_add_char(out, (char)(0xF0 | c >> 18));
        fm_strbuf_add_char(out, (char)(0x80 | (c >> 12 & 63)));
        fm_strbuf_add_char(out, (char)(0x80 | (c >> 6 & 63)));
        fm_strbuf_add_char(out, (char)(0x80 | (c & 63)));
    }
}

static bool hex_digits(fm_str s, size_t at, int n, uint32_t *out)
{
    *out = 0;
    if (at + (size_t)n > s.len) return false;
    for (int i = 0; i < n; i++) {
        char c = s.ptr[at + (size_t)i];
        int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (d < 0) return false;
        *out = *out * 16 + (uint32_t)d;
    }
    return true;
}

/* One escape behind a backslash at s[i]; returns the index of its last character. Rule: Spark, unescapeSQLString. */
static size_t unescape_one(fm_str s, size_t i, fm_strbuf *out)
{
    static const char from[] = "0'\"bnrtZ\\", to[] = "\0'\"\b\n\r\t\x1A\\";
    uint32_t code;
    char c = s.ptr[i];

    if (c == 'u' && hex_digits(s, i + 1, 4, &code)) {
        uint32_t low;
        size_t last = i + 4;
        bool pair = code >= 0xD800 && code < 0xDC00 && last + 2 < s.len && s.ptr[last + 1] == '\\' && s.ptr[last + 2] == 'u' && hex_digits(s, last + 3, 4, &low) && low >= 0xDC00 && low < 0xE000;
        if (pair) {
            add_utf8(out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
            return last + 6;
        }
        add_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
        return last;
    }
    if (c == 'U' && hex_digits(s, i + 1, 8, &code) && code <= 0x10FFFF) {
        add_utf8(out, code);
        return i + 8;
    }
    bool octal = i + 2 < s.len && c >= '0' && c <= '1' && s.ptr[i + 1] >= '0' && s.ptr[i + 1] <= '7' && s.ptr[i + 2] >= '0' && s.ptr[i + 2] <= '7';
    if (octal) {
        add_utf8(out, (uint32_t)((c - '0') * 64 + (s.ptr[i + 1] - '0') * 8 + s.ptr[i + 2] - '0'));
        return i + 2;
    }
    if (c == '%' || c == '_') fm_strbuf_add_char(out, '\\'); /* for LIKE */
    const char *known = c ? strchr(from, c) : NULL;
    fm_strbuf_add_char(out, known ? to[known - from] : c);
    return i;
}

/* A quoted text without its quotes and escapes; long ones in arena. */
static fm_status unquote(reader *r, fm_str source, bool raw, fm_str *out)
{
    char quote = source.ptr[0];
    fm_str s = {source.ptr + 1, source.len - 2};
    fm_strbuf text = {0};

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!raw && c == '\\' && quote != '`' && i + 1 < s.len) {
            i = unescape_one(s, i + 1, &text);
        } else {
            if (!raw && c == quote) i++; /* two stand for one */
            fm_strbuf_add_char(&text, c);
        }
    }
    *out = fm_arena_str(r->arena, (fm_str){text.ptr ? text.ptr : "", text.len});
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(r->arena, r->err);
}

/* X'0AFF' */
static fm_status unhex(reader *r, fm_str source, fm_str *out)
{
    fm_str digits = {source.ptr + 2, source.len - 3};
    char *bytes = fm_arena_alloc(r->arena, digits.len / 2 + 1, 1);
    size_t n = 0, i = digits.len % 2;
    uint32_t x;

    if (!bytes) return fm_no_memory(r->arena, r->err);
    if (i && hex_digits(digits, 0, 1, &x)) bytes[n++] = (char)x; /* an odd first digit stands alone */
    for (; i < digits.len; i += 2) {
        hex_digits(digits, i, 2, &x);
        bytes[n++] = (char)x;
    }
    *out = (fm_str){bytes, n};
    return FM_OK;
}

static fm_status read_word(reader *r, fm_lex lex, fm_str source, fm_pos pos)
{
    fm_str text = source;

    switch (lex) {
    case FM_LEX_WORD: return add(r, word_kind(source), source, pos);
    case FM_LEX_BACKTICK:
        FM_TRY(unquote(r, source, false, &text));
        FM_TRY(add(r, FM_TK_ID, text, pos));
        r->out->items[r->out->n - 1].quoted = true;
        return FM_OK;
    case FM_LEX_STRING: FM_TRY(unquote(r, source, false, &text)); return add(r, FM_TK_STRING, text, pos);
    case FM_LEX_RAW_STRING: FM_TRY(unquote(r, (fm_str){source.ptr + 1, source.len - 1}, true, &text)); return add(r, FM_TK_STRING, text, pos);
    case FM_LEX_HEX: FM_TRY(unhex(r, source, &text)); return add(r, FM_TK_HEX, text, pos);
    case FM_LEX_INTEGER: return add(r, FM_TK_INTEGER, source, pos);
    case FM_LEX_DECIMAL:
    case FM_LEX_EXPONENT: return add(r, FM_TK_DECIMAL, source, pos);
    case FM_LEX_HINT_BEGIN: return add(r, FM_TK_HINT_BEGIN, source, pos);
    case FM_LEX_HINT_END: return add(r, FM_TK_HINT_END, source, pos);
    case FM_LEX_SYMBOL: {
        int kind = symbol_kind(source);
        if (kind) return add(r, kind, source, pos);
        return fm_syntax_error(r->text, pos, r->err, "Syntax error at or near '%.*s'.", FM_STR_ARG(source));
    }
    case FM_LEX_OPEN_COMMENT: return fm_syntax_error(r->text, pos, r->err, "This comment has no end: '*/' is missing");
    case FM_LEX_OPEN_STRING: return fm_syntax_error(r->text, pos, r->err, "This text has no closing quote");
    default: return fm_syntax_error(r->text, pos, r->err, "This character is not part of SQL");
    }
}

/* ---- Settling words by their neighbours -------------------------------------------------------------------- */

static const fm_token *peek(const fm_tokens *t, int32_t i)
{
    static const fm_token none;

    return i >= 0 && i < t->n ? &t->items[i] : &none;
}

static bool is_word(const fm_token *t, const char *word)
{
    return t->text.ptr && !t->quoted && (size_t)(t->pos.to - t->pos.from) == t->text.len && t->kind != FM_TK_STRING && fm_str_eq_ci(t->text, fm_str_c(word));
}

static bool begins_query(const fm_token *t)
{
    return t->kind == FM_TK_SELECT || t->kind == FM_TK_WITH || t->kind == FM_TK_VALUES || t->kind == FM_TK_LPAREN;
}

/* The ')' that closes the '(' at i, or n. */
static int32_t closing(const fm_tokens *t, int32_t i)
{
    int depth = 0;

    for (; i < t->n; i++) {
        if (t->items[i].kind == FM_TK_LPAREN) depth++;
        if (t->items[i].kind == FM_TK_RPAREN && --depth == 0) return i;
    }
    return t->n;
}

/* Whether a keyword stands between the '(' at i and its ')', not inside inner ones. */
static bool has_inside(const fm_tokens *t, int32_t i, int kind)
{
    int depth = 0;

    for (; i < t->n; i++) {
        int k = t->items[i].kind;
        if (k == FM_TK_LPAREN) depth++;
        if (k == FM_TK_RPAREN && --depth == 0) return false;
        if (depth == 1 && k == kind) return true;
    }
    return false;
}

/* Words that are keywords in some places only. */
static void settle_keyword(fm_tokens *t, int32_t i)
{
    fm_token *w = &t->items[i];
    const fm_token *next = peek(t, i + 1);
    bool call = next->kind == FM_TK_LPAREN, keep = true;

    switch (w->kind) {
    case FM_TK_EXISTS: keep = (call && begins_query(peek(t, i + 2)) && peek(t, i + 2)->kind != FM_TK_LPAREN) || peek(t, i - 1)->kind == FM_TK_IF || (peek(t, i - 1)->kind == FM_TK_NOT && peek(t, i - 2)->kind == FM_TK_IF); break;
    case FM_TK_EXTRACT:
    case FM_TK_SUBSTRING:
    case FM_TK_TRIM: keep = call && has_inside(t, i + 1, FM_TK_FROM); break;
    case FM_TK_OVERLAY: keep = call && has_inside(t, i + 1, FM_TK_PLACING); break;
    case FM_TK_POSITION: keep = call && has_inside(t, i + 1, FM_TK_IN) && !has_inside(t, i + 1, FM_TK_COMMA); break;
    case FM_TK_STREAM: keep = next->kind == FM_TK_ID || call; break;
    case FM_TK_FILTER: keep = call && peek(t, i + 2)->kind == FM_TK_WHERE; break;
    case FM_TK_IF: keep = !call; break;
    case FM_TK_LEFT:
    case FM_TK_RIGHT: keep = !call; break;
    case FM_TK_REPLACE: keep = !call; break;
    case FM_TK_TRUE:
    case FM_TK_FALSE: break;
    case FM_TK_FIRST:
    case FM_TK_LAST: keep = !call && peek(t, i - 1)->kind == FM_TK_NULLS; break;
    case FM_TK_ANY:
    case FM_TK_SOME: keep = call && (peek(t, i - 1)->kind == FM_TK_LIKE || peek(t, i - 1)->kind == FM_TK_ILIKE); break;
    case FM_TK_EXCEPT:
        if (peek(t, i - 1)->kind == FM_TK_STAR && call && !begins_query(peek(t, i + 2))) w->kind = FM_TK_EXCEPT_COLUMNS;
        break;
    default: break;
    }
    if (!keep) w->kind = FM_TK_ID;
    char first = w->text.len ? w->text.ptr[0] : 0;
    bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_';
    if (letter && peek(t, i - 1)->kind == FM_TK_DOT) w->kind = FM_TK_ID; /* a.end, window.end; not the star of t.* */
}

/* `x >> y` comes as two '>' that touch. */
static void settle_shift(fm_tokens *t, int32_t i)
{
    fm_token *a = &t->items[i];
    const fm_token *b = peek(t, i + 1);

    if (a->kind != FM_TK_GT || b->kind != FM_TK_GT || a->pos.to != b->pos.from) return;
    a->kind = FM_TK_SHIFT;
    a->text = FM_STR(">>");
    a->pos.to = b->pos.to;
    t->items[i + 1].kind = 0;
}

static void settle_paren(fm_tokens *t, int32_t i)
{
    int32_t k = i + 1;

    while (peek(t, k)->kind == FM_TK_ID && peek(t, k + 1)->kind == FM_TK_COMMA) k += 2;
    if (peek(t, k)->kind == FM_TK_ID && peek(t, k + 1)->kind == FM_TK_RPAREN && peek(t, k + 2)->kind == FM_TK_ARROW) {
        t->items[i].kind = FM_TK_LAMBDA_LPAREN;
        return;
    }
    /* FROM (a JOIN b ...): a relation in parentheses, no query */
    int before = peek(t, i - 1)->kind, inside = peek(t, i + 1)->kind;
    if ((before == FM_TK_FROM || before == FM_TK_JOIN) && (inside == FM_TK_ID || inside == FM_TK_STREAM)) t->items[i].kind = FM_TK_SUBRELATION_LPAREN;
}

static fm_str slice(const reader *r, size_t from, size_t to)
{
    return (fm_str){r->text.ptr + from, to - from};
}

/* Tokens i..last become one, of the given kind, with the text between them. The rest are left out (kind 0). */
static void join(reader *r, int32_t i, int32_t last, int kind)
{
    fm_token *w = &r->out->items[i];

    w->kind = kind;
    w->pos.to = r->out->items[last].pos.to;
    w->text = slice(r, (size_t)w->pos.from, (size_t)w->pos.to);
    for (int32_t k = i + 1; k <= last; k++) r->out->items[k].kind = 0;
}

/* CAST ( ... AS type ): everything between AS, at the level of the cast, and its ')' is the type. */
static void settle_cast(reader *r, int32_t i)
{
    fm_tokens *t = r->out;
    int32_t close = closing(t, i + 1), as = -1;
    int depth = 0;

    for (int32_t k = i + 1; k < close; k++) {
        int kind = t->items[k].kind;
        if (kind == FM_TK_LPAREN) depth++;
        if (kind == FM_TK_RPAREN) depth--;
        if (kind == FM_TK_AS && depth == 1) as = k;
    }
    if (as >= 0 && as + 1 < close && close < t->n) join(r, as + 1, close - 1, FM_TK_TYPE);
}

/* x::type: a word, what stands in parentheses behind it, and what stands in angle brackets. */
static void settle_double_colon(reader *r, int32_t i)
{
    fm_tokens *t = r->out;
    int32_t last = i + 1;
    int depth = 0;

    if (last >= t->n) return;
    if (peek(t, last + 1)->kind == FM_TK_LPAREN && peek(t, last + 2)->kind == FM_TK_INTEGER) {
        int32_t close = closing(t, last + 1);
        if (close < t->n) last = close;
    } else if (peek(t, last + 1)->kind == FM_TK_LT && (is_word(peek(t, last), "array") || is_word(peek(t, last), "map") || is_word(peek(t, last), "struct"))) {
        for (int32_t k = last + 1; k < t->n; k++) {
            if (t->items[k].kind == FM_TK_LT) depth++;
            if (t->items[k].kind == FM_TK_GT && --depth == 0) {
                last = k;
                break;
            }
        }
    }
    join(r, i + 1, last, FM_TK_TYPE);
}

/* CREATE ... TABLE name (columns): the columns as raw text. */
static void settle_columns(reader *r)
{
    fm_tokens *t = r->out;
    int32_t i = 0;

    if (peek(t, 0)->kind != FM_TK_CREATE) return;
    while (i < t->n && i < 6 && t->items[i].kind != FM_TK_TABLE) i++;
    if (peek(t, i)->kind != FM_TK_TABLE) return;
    i++;
    if (peek(t, i)->kind == FM_TK_IF) i += 3; /* NOT EXISTS */
    while (peek(t, i + 1)->kind == FM_TK_DOT) i += 2;
    if (peek(t, i + 1)->kind != FM_TK_LPAREN) return;
    int32_t close = closing(t, i + 1);
    if (close == t->n) return;
    join(r, i + 1, close, FM_TK_SCHEMA);
    fm_token *schema = &t->items[i + 1];
    schema->text = (fm_str){schema->text.ptr + 1, schema->text.len - 2};
}

/* ---- Typed literals and intervals -------------------------------------------------------------------------- */

static fm_status settle_typed(reader *r, int32_t i)
{
    fm_token *w = &r->out->items[i];
    const fm_token *value = peek(r->out, i + 1);
    size_t n = w->text.len + 1 + value->text.len;
    char *text = fm_arena_alloc(r->arena, n + 1, 1);

    if (!text) return fm_no_memory(r->arena, r->err);
    memcpy(text, w->text.ptr, w->text.len);
    text[w->text.len] = 0;
    if (value->text.len) memcpy(text + w->text.len + 1, value->text.ptr, value->text.len);
    text[n] = 0;
    fm_str joined = {text, n};
    join(r, i, i + 1, FM_TK_TYPED_LITERAL);
    w->text = joined;
    return FM_OK;
}

/* A unit of intervals, singular or plural; its field in interval types. */
static bool interval_unit(fm_str word, int8_t *field, const char **name)
{
    static const struct {
        const char *name;
        int8_t field;
    } units[] = {
        {"year", FM_UNIT_YEAR}, {"month", FM_UNIT_MONTH}, {"week", FM_UNIT_DAY}, {"day", FM_UNIT_DAY}, {"hour", FM_UNIT_HOUR},
        {"minute", FM_UNIT_MINUTE}, {"second", FM_UNIT_SECOND}, {"millisecond", FM_UNIT_SECOND}, {"microsecond", FM_UNIT_SECOND},
    };
    fm_str singular = word;

    if (word.len && (word.ptr[word.len - 1] | 32) == 's') singular.len--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (!fm_str_eq_ci(word, fm_str_c(units[i].name)) && !fm_str_eq_ci(singular, fm_str_c(units[i].name))) continue;
        *field = units[i].field;
        *name = units[i].name;
        return true;
    }
    return false;
}

static void widen(fm_token *w, int8_t field, bool first)
{
    if (first || field < w->unit_from) w->unit_from = field;
    if (first || field > w->unit_to) w->unit_to = field;
}

/* '1:30' HOUR TO MINUTE becomes "1 hour 30 minute". Fields are cut at '-', ' ' and ':'. */
static bool range_text(fm_str value, int8_t from, int8_t to, fm_strbuf *out)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};
    static const char before[] = {0, '-', 0, ' ', ':', ':'};
    fm_str rest = fm_str_trim(value);
    bool negative = rest.len && rest.ptr[0] == '-';

    if (negative || (rest.len && rest.ptr[0] == '+')) rest = (fm_str){rest.ptr + 1, rest.len - 1};
    for (int8_t f = from; f <= to; f++) {
        size_t n = 0;
        if (f > from) {
            if (rest.len == 0 || (rest.ptr[0] != before[f] && !(f == FM_UNIT_HOUR && rest.ptr[0] == 'T'))) return false;
            rest = (fm_str){rest.ptr + 1, rest.len - 1};
        }
        while (n < rest.len && ((rest.ptr[n] >= '0' && rest.ptr[n] <= '9') || (f == FM_UNIT_SECOND && rest.ptr[n] == '.'))) n++;
        if (n == 0) return false;
        fm_strbuf_printf(out, "%s%.*s %s ", negative ? "-" : "", (int)n, rest.ptr, names[f]);
        rest = (fm_str){rest.ptr + n, rest.len - n};
    }
    return rest.len == 0;
}

/* The units in a text such as '1 day 2 hours'. */
static bool text_units(fm_token *w, fm_str text)
{
    bool first = true;
    const char *name;

    for (size_t i = 0; i < text.len;) {
        size_t from = i;
        int8_t field;
        while (i < text.len && ((text.ptr[i] | 32) >= 'a' && (text.ptr[i] | 32) <= 'z')) i++;
        if (i == from) {
            i++;
            continue;
        }
        if (fm_str_eq_ci((fm_str){text.ptr + from, i - from}, FM_STR("interval"))) continue;
        if (!interval_unit((fm_str){text.ptr + from, i - from}, &field, &name)) return false;
        widen(w, field, first);
        first = false;
    }
    return !first;
}

/* INTERVAL ...: its tokens become one whose text is value and unit pairs. Not an interval: the word is a name. */
static fm_status settle_interval(reader *r, int32_t i)
{
    fm_tokens *t = r->out;
    fm_token *w = &t->items[i];
    fm_strbuf text = {0};
    int32_t k = i + 1;
    bool first = true, negative_all = false;
    int8_t field, to;
    const char *name;

    while (peek(t, k)->kind == FM_TK_MINUS_SIGN || peek(t, k)->kind == FM_TK_PLUS) negative_all ^= peek(t, k++)->kind == FM_TK_MINUS_SIGN;
    if (peek(t, k)->kind == FM_TK_STRING && !interval_unit(peek(t, k + 1)->text, &field, &name)) {
        if (!text_units(w, peek(t, k)->text)) {
            if (i == 0 || peek(t, i - 1)->kind != FM_TK_OF) return fm_syntax_error(r->text, peek(t, k)->pos, r->err, "'%.*s' is no interval: write INTERVAL '1' DAY or INTERVAL '1 day 2 hours'", FM_STR_ARG(peek(t, k)->text));
            w->unit_from = w->unit_to = FM_UNIT_SECOND;
        }
        fm_strbuf_add(&text, peek(t, k)->text);
        k++;
    } else {
        for (;;) {
            bool negative = negative_all && first;
            int32_t behind = k; /* a sign without value and unit belongs to what follows the interval */
            while (!first && (peek(t, k)->kind == FM_TK_MINUS_SIGN || peek(t, k)->kind == FM_TK_PLUS)) negative ^= peek(t, k++)->kind == FM_TK_MINUS_SIGN;
            const fm_token *value = peek(t, k);
            bool has_value = value->kind == FM_TK_STRING || value->kind == FM_TK_INTEGER || value->kind == FM_TK_DECIMAL;
            if (!has_value || !interval_unit(peek(t, k + 1)->text, &field, &name) || peek(t, k + 1)->kind == FM_TK_STRING) {
                k = behind;
                break;
            }
            if (is_word(peek(t, k + 2), "TO") && interval_unit(peek(t, k + 3)->text, &to, &name) && first && value->kind == FM_TK_STRING) {
                widen(w, field, true);
                widen(w, to, false);
                bool fine = field < to && (field <= FM_UNIT_MONTH) == (to <= FM_UNIT_MONTH) && range_text(value->text, field, to, &text);
                if (!fine) {
                    fm_strbuf_fini(&text);
                    return fm_syntax_error(r->text, value->pos, r->err, "'%.*s' does not fit the units of this interval", FM_STR_ARG(value->text));
                }
                k += 4;
                first = false;
                break;
            }
            fm_strbuf_printf(&text, "%s%.*s %s ", negative ? "-" : "", FM_STR_ARG(fm_str_trim(value->text)), name);
            widen(w, field, first);
            first = false;
            k += 2;
        }
        if (first) { /* no value follows: the word is a name */
            w->kind = FM_TK_ID;
            fm_strbuf_fini(&text);
            return FM_OK;
        }
    }
    if (w->unit_from <= FM_UNIT_MONTH && w->unit_to > FM_UNIT_MONTH) {
        fm_strbuf_fini(&text);
        if (i > 0 && peek(t, i - 1)->kind == FM_TK_OF) return fm_syntax_error(r->text, w->pos, r->err, "A delay mixes months and days: write it in days");
        return fm_syntax_error(r->text, w->pos, r->err, "An interval cannot mix years and months with days and times");
    }
    join(r, i, k - 1, FM_TK_INTERVAL);
    w->text = fm_arena_str(r->arena, fm_str_trim((fm_str){text.ptr ? text.ptr : "", text.len}));
    bool ok = fm_strbuf_ok(&text) && w->text.ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(r->arena, r->err);
}

static bool is_typed_word(const fm_token *w)
{
    return is_word(w, "DATE") || is_word(w, "TIMESTAMP") || is_word(w, "TIMESTAMP_NTZ") || is_word(w, "TIMESTAMP_LTZ");
}

static fm_status settle(reader *r)
{
    fm_tokens *t = r->out;

    settle_columns(r);
    for (int32_t i = 0; i < t->n; i++) {
        const fm_token *w = &t->items[i];
        if (w->kind == 0) continue;
        if (w->kind == FM_TK_CAST || w->kind == FM_TK_TRY_CAST) {
            if (peek(t, i + 1)->kind == FM_TK_LPAREN) settle_cast(r, i);
            else t->items[i].kind = FM_TK_ID;
        } else if (w->kind == FM_TK_DOUBLE_COLON) {
            settle_double_colon(r, i);
        } else if (w->kind == FM_TK_LPAREN) {
            settle_paren(t, i);
        } else if (w->kind == FM_TK_GT) {
            settle_shift(t, i);
        } else if (is_typed_word(w) && peek(t, i + 1)->kind == FM_TK_STRING) {
            FM_TRY(settle_typed(r, i));
        } else if (is_word(w, "INTERVAL") && peek(t, i - 1)->kind != FM_TK_DOT) {
            FM_TRY(settle_interval(r, i));
        } else if (w->kind != FM_TK_ID && w->pos.to > w->pos.from && !w->quoted) {
            settle_keyword(t, i);
        }
    }
    return FM_OK;
}

/* Leaves out what was joined, and puts strings that follow each other together. */
static fm_status compact(reader *r)
{
    fm_tokens *t = r->out;
    int32_t n = 0;

    for (int32_t i = 0; i < t->n; i++) {
        fm_token *w = &t->items[i];
        if (w->kind == 0) continue;
        if (n > 0 && w->kind == FM_TK_STRING && t->items[n - 1].kind == FM_TK_STRING) {
            fm_str joined = fm_arena_printf(r->arena, "%.*s%.*s", (int)t->items[n - 1].text.len, t->items[n - 1].text.ptr, (int)w->text.len, w->text.ptr);
            if (!joined.ptr) return fm_no_memory(r->arena, r->err);
            t->items[n - 1].text = joined;
            t->items[n - 1].pos.to = w->pos.to;
            continue;
        }
        t->items[n++] = *w;
    }
    t->n = n;
    return FM_OK;
}

fm_status fm_tokens_read(fm_arena *arena, fm_str text, size_t from, size_t to, fm_tokens *out, fm_error *err)
{
    reader r = {.arena = arena, .text = text, .err = err, .out = out, .line = 1, .column = 1};
    size_t at = from, begin = from;

    *out = (fm_tokens){0};
    for (;;) {
        fm_lex lex = fm_lex_next(text.ptr, text.len, &at, &begin);
        if (lex == FM_LEX_END || begin >= to) break;
        FM_TRY(read_word(&r, lex, slice(&r, begin, at), place(&r, begin, at)));
    }
    FM_TRY(settle(&r));
    FM_TRY(compact(&r));
    fm_pos end = place(&r, to, to);
    return add(&r, 0, FM_STR(""), end);
}
