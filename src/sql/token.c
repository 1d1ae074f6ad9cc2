/* sql/token.c: from the lexer's words to the grammar's tokens. */
#include "sql/token.h"

#include "sql/grammar_driver.h"
#include "sql/keyword.h"
#include "sql/lexer.h"
#include "sql/quoted.h"
#include "sql/settle.h"

typedef struct reader {
    fm_arena *arena;
    fm_place_counter *counter;
    fm_str text;
    fm_error *err;
    fm_tokens *out;
} reader;

static fm_status add(reader *r, fm_token token)
{
    fm_tokens *t = r->out;

    if (t->n == t->cap) {
        int32_t cap = t->cap ? t->cap * 2 : 64;
        fm_token *more = fm_arena_array(r->arena, fm_token, cap);
        if (!more) return fm_no_memory(r->arena, r->err);
        if (t->n) memcpy(more, t->items, (size_t)t->n * sizeof *more);
        t->items = more;
        t->cap = cap;
    }
    t->items[t->n++] = token;
    return FM_OK;
}

static int symbol_kind(fm_str s)
{
    static const struct {
        const char *text;
        int kind;
    } symbols[] = {
        {"<=>", FM_TK_NSEQ}, {"<>", FM_TK_NE}, {"!=", FM_TK_NE}, {"<=", FM_TK_LE}, {">=", FM_TK_GE}, {"==", FM_TK_EQ},
        {"||", FM_TK_CONCAT}, {"->", FM_TK_ARROW}, {"=>", FM_TK_FAT_ARROW}, {"::", FM_TK_DOUBLE_COLON}, {"<<", FM_TK_SHIFT},
        {"|>", FM_TK_PIPE}, {"-", FM_TK_MINUS_SIGN}, {"+", FM_TK_PLUS}, {"*", FM_TK_STAR}, {"/", FM_TK_SLASH}, {"%", FM_TK_PERCENT},
        {"&", FM_TK_BITAND}, {"|", FM_TK_BITOR}, {"^", FM_TK_BITXOR}, {"~", FM_TK_TILDE}, {"!", FM_TK_BANG}, {"=", FM_TK_EQ},
        {"<", FM_TK_LT}, {">", FM_TK_GT}, {"(", FM_TK_LPAREN}, {")", FM_TK_RPAREN}, {",", FM_TK_COMMA}, {".", FM_TK_DOT},
        {"[", FM_TK_LBRACKET}, {"]", FM_TK_RBRACKET}, {":", FM_TK_COLON}, {"?", FM_TK_QUESTION},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        if (fm_str_eq(s, fm_str_c(symbols[i].text))) return symbols[i].kind;
    }
    return FM_TK_ILLEGAL;
}

static fm_status add_quoted(reader *r, fm_token token)
{
    token.text = fm_unquote(r->arena, token.text);
    token.quoted = true;
    if (!token.text.ptr) return fm_no_memory(r->arena, r->err);
    if (token.kind == FM_TK_ID && token.text.len == 0) {
        return fm_sql_fail(r->text, token.pos, r->err, FM_INVALID, "PARSE_SYNTAX_ERROR", "A name in backticks cannot be empty.");
    }
    return add(r, token);
}

/* A character that is not part of SQL; quotes and dashes that editors put in are told. */
static fm_status fail_character(reader *r, fm_token t)
{
    const unsigned char *c = (const unsigned char *)t.text.ptr;
    const char *hint = "";

    if (t.text.len == 3 && c[1] == 0x80) {
        if (c[2] >= 0x98 && c[2] <= 0x9F) hint = " It is a typographic quote: write ' or \".";
        if (c[2] >= 0x90 && c[2] <= 0x95) hint = " It is a typographic dash: write -.";
        if (c[2] >= 0x8B && c[2] <= 0x8F) hint = " It is an invisible character: delete it.";
    }
    return fm_sql_fail(r->text, t.pos, r->err, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error: the character '%.*s' is not part of SQL.%s",
                       c[0] < 0x20 ? 1 : (int)t.text.len, c[0] < 0x20 ? "?" : t.text.ptr, hint);
}

static fm_status read_word(reader *r, fm_lex lex, size_t from, size_t to)
{
    fm_token t = {.text = {r->text.ptr + from, to - from}, .pos = fm_place(r->counter, from, to)};
    const char *condition = "PARSE_SYNTAX_ERROR", *why;

    switch (lex) {
    case FM_LEX_WORD: t.kind = fm_keyword_kind(t.text); return add(r, t);
    case FM_LEX_BACKTICK: t.kind = FM_TK_ID; return add_quoted(r, t);
    case FM_LEX_STRING:
    case FM_LEX_RAW_STRING: t.kind = FM_TK_STRING; return add_quoted(r, t);
    case FM_LEX_INTEGER: t.kind = FM_TK_INTEGER; return add(r, t);
    case FM_LEX_NUMBER: t.kind = FM_TK_NUMBER; return add(r, t);
    case FM_LEX_HINT_BEGIN: t.kind = FM_TK_HINT_BEGIN; return add(r, t);
    case FM_LEX_HINT_END: t.kind = FM_TK_HINT_END; return add(r, t);
    case FM_LEX_SYMBOL: t.kind = symbol_kind(t.text); return add(r, t);
    case FM_LEX_BAD_NUMBER:
        return fm_sql_fail(r->text, t.pos, r->err, FM_INVALID, condition, "Syntax error at or near '%.*s': a number runs into letters.", FM_STR_ARG(t.text));
    case FM_LEX_OPEN_COMMENT:
        condition = "UNCLOSED_BRACKETED_COMMENT";
        why = "Found an unclosed bracketed comment. Please, append */ at the end of the comment.";
        t.pos.to = t.pos.from + 2;
        break;
    case FM_LEX_OPEN_STRING: why = "Syntax error: this text has no closing quote."; break;
    case FM_LEX_OPEN_BACKTICK: why = "Syntax error: this name has no closing backtick."; break;
    default: return fail_character(r, t);
    }
    return fm_sql_fail(r->text, t.pos, r->err, FM_INVALID, condition, "%s", why);
}

/* For each parenthesis the other one, in one pass. */
static fm_status match_parens(reader *r, const int32_t **out)
{
    const fm_tokens *t = r->out;
    int32_t *match = fm_arena_array(r->arena, int32_t, t->n), *open = fm_arena_array(r->arena, int32_t, t->n), n = 0;

    if (!match || !open) return fm_no_memory(r->arena, r->err);
    for (int32_t i = 0; i < t->n; i++) {
        match[i] = t->n;
        if (t->items[i].kind == FM_TK_LPAREN) open[n++] = i;
        if (t->items[i].kind == FM_TK_RPAREN && n > 0) {
            match[i] = open[--n];
            match[match[i]] = i;
        }
    }
    *out = match;
    return FM_OK;
}

static void compact(fm_tokens *t)
{
    int32_t n = 0;

    for (int32_t i = 0; i < t->n; i++) {
        if (t->items[i].kind != FM_TOKEN_TAKEN) t->items[n++] = t->items[i];
    }
    t->n = n;
}

fm_status fm_tokens_read(fm_arena *arena, fm_place_counter *counter, size_t from, size_t to, fm_tokens *out, fm_error *err)
{
    reader r = {.arena = arena, .counter = counter, .text = counter->text, .err = err, .out = out};
    fm_settling s = {.arena = arena, .text = r.text, .err = err, .tokens = out};
    size_t at = from, begin = from;

    *out = (fm_tokens){0};
    for (;;) {
        fm_lex lex = fm_lex_next(r.text.ptr, r.text.len, &at, &begin);
        if (lex == FM_LEX_END || begin >= to) break;
        FM_TRY(read_word(&r, lex, begin, at));
    }
    FM_TRY(match_parens(&r, &s.match));
    FM_TRY(fm_settle(&s));
    compact(out);
    return add(&r, (fm_token){.kind = 0, .text = FM_STR(""), .pos = fm_place(counter, to, to)});
}
