/* sql/parse.c: texts cut into statements, and each driven through the grammar. */
#include <stdlib.h>

#include "base/limits.h"
#include "sql/build.h"
#include "sql/grammar_driver.h"
#include "sql/lexer.h"
#include "sql/sql.h"

void fm_parse_too_deep(fm_parse *p)
{
    if (p->status != FM_OK) return;
    p->status = fm_fail(p->err, FM_LIMIT, "FLOODMARK_SQL_TOO_DEEP", "The statement is nested too deeply: %d levels are taken at most. Split it with WITH or views.", FM_EXPR_DEPTH_MAX);
}

/* What the grammar would take here, in words, and the keyword that may have been meant. */
static void hint_for(fm_parse *p, const fm_token *token, fm_strbuf *out)
{
    const char *nearest = token->quoted ? NULL : fm_keyword_nearest(token->text);
    static const struct {
        int kind;
        const char *text;
    } expected[] = {
        {FM_TK_RPAREN, "')'"}, {FM_TK_COMMA, "','"}, {FM_TK_FROM, "FROM"}, {FM_TK_SELECT, "SELECT"}, {FM_TK_AS, "AS"},
        {FM_TK_BY, "BY"}, {FM_TK_JOIN, "JOIN"}, {FM_TK_OF, "OF"}, {FM_TK_DELAY, "DELAY OF INTERVAL ..."}, {FM_TK_INTERVAL, "an interval"},
        {FM_TK_TABLE, "TABLE"}, {FM_TK_VIEW, "VIEW"}, {FM_TK_THEN, "THEN"}, {FM_TK_END, "END"}, {FM_TK_LPAREN, "'('"}, {FM_TK_ID, "a name"},
        {FM_TK_STRING, "a text in quotes"},
    };
    int n = 0;

    if (nearest && p->expects(p->expects_ctx, fm_keyword_kind(nearest))) {
        fm_strbuf_printf(out, " Did you mean %s?", nearest);
        return;
    }
    for (size_t i = 0; i < sizeof expected / sizeof expected[0] && n < 4; i++) {
        if (!p->expects(p->expects_ctx, expected[i].kind)) continue;
        fm_strbuf_printf(out, "%s%s", n++ ? ", " : " Expected here: ", expected[i].text);
    }
    if (n) fm_strbuf_add_char(out, '.');
}

void fm_parse_syntax_error(fm_parse *p, const fm_token *token)
{
    fm_strbuf hint = {0};

    if (p->status != FM_OK) return;
    hint_for(p, token, &hint);
    if (token->kind == 0) {
        p->status = fm_syntax_error(p->text, token->pos, p->err, "Syntax error: unexpected end of the statement.%s", hint.ptr ? hint.ptr : "");
    } else {
        size_t len = (size_t)(token->pos.to - token->pos.from);
        p->status = fm_syntax_error(p->text, token->pos, p->err, "Syntax error at or near '%.*s'.%s", (int)(len > 60 ? 60 : len), p->text.ptr + token->pos.from, hint.ptr ? hint.ptr : "");
    }
    fm_strbuf_fini(&hint);
}

/* ---- Statements of a text ---------------------------------------------------------------------------------- */

/* Statements that later versions will have. */
static fm_status refuse_others(fm_parse *p, const fm_tokens *tokens)
{
    static const char *const later[] = {"INSERT", "MERGE", "UPDATE", "DELETE", "ALTER", "TRUNCATE", "CACHE", "UNCACHE", "REFRESH", "ANALYZE", "USE", "CALL", "DECLARE"};
    const fm_token *t = &tokens->items[0];

    for (size_t i = 0; tokens->n > 1 && i < sizeof later / sizeof later[0]; i++) {
        if (t->quoted || !fm_str_eq_ci(t->text, fm_str_c(later[i]))) continue;
        return fm_fail_at(p->err, FM_UNSUPPORTED, "FLOODMARK_STATEMENT", t->pos.line, t->pos.column, "%s is not available. There are queries, CREATE TABLE, CREATE VIEW, CREATE STREAMING TABLE, DROP, SET, EXPLAIN, SHOW and DESCRIBE.", later[i]);
    }
    return FM_OK;
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* The first word of text[from, to), blanks and comments before it skipped. */
static fm_str first_word(fm_str text, size_t *from, size_t to)
{
    size_t at = *from, begin = *from;
    fm_lex lex = fm_lex_next(text.ptr, to, &at, &begin);

    *from = begin;
    return lex == FM_LEX_WORD ? (fm_str){text.ptr + begin, at - begin} : FM_STR("");
}

/* SET key = value: the value is raw text to the end, as in Spark. SET, SET key: a question. RESET is one, too. */
static fm_status parse_set(fm_arena *arena, fm_str text, size_t from, size_t to, fm_plan **out, fm_error *err)
{
    fm_plan *node = fm_plan_new(arena, FM_PLAN_SET, fm_text_pos(text, from, from + 3));
    fm_str rest = fm_str_trim((fm_str){text.ptr + from + 3, to - from - 3});
    ptrdiff_t equals = fm_str_find(rest, FM_STR("="));

    if (!node) return fm_no_memory(arena, err);
    *out = node;
    if (rest.len == 0) return FM_OK;
    fm_str key = fm_str_trim((fm_str){rest.ptr, equals < 0 ? rest.len : (size_t)equals});
    fm_str value = equals < 0 ? (fm_str){NULL, 0} : fm_str_trim((fm_str){rest.ptr + equals + 1, rest.len - (size_t)equals - 1});
    for (size_t i = 0; i < key.len; i++) {
        if (is_blank(key.ptr[i])) return fm_syntax_error(text, fm_text_pos(text, from, to), err, "SET wants a key without blanks: SET key = value");
    }
    bool quoted = value.len >= 2 && (value.ptr[0] == '\'' || value.ptr[0] == '"') && value.ptr[value.len - 1] == value.ptr[0];
    if (quoted) value = (fm_str){value.ptr + 1, value.len - 2};
    node->options.items = fm_arena_one(arena, fm_option);
    if (!node->options.items) return fm_no_memory(arena, err);
    node->options.n = node->options.cap = 1;
    node->options.items[0].key = fm_arena_str(arena, key);
    if (value.ptr) node->options.items[0].value = fm_arena_str(arena, value);
    return node->options.items[0].key.ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status parse_range(fm_arena *arena, fm_str text, size_t from, size_t to, bool just_expr, fm_plan **plan, fm_expr **expr, fm_error *err)
{
    fm_parse p = {.arena = arena, .text = text, .err = err};
    fm_tokens tokens = {0};

    FM_TRY(fm_tokens_read(arena, text, from, to, &tokens, err));
    FM_TRY(refuse_others(&p, &tokens));
    p.tokens = &tokens;
    FM_TRY(fm_grammar_run(&p, just_expr));
    if (plan) *plan = p.result;
    if (expr) *expr = p.result_expr;
    return FM_OK;
}

static fm_status parse_statement(fm_arena *arena, fm_str text, size_t from, size_t to, fm_plan **out, fm_error *err)
{
    fm_str word = first_word(text, &from, to);

    if (fm_str_eq_ci(word, FM_STR("SET"))) FM_TRY(parse_set(arena, text, from, to, out, err));
    else FM_TRY(parse_range(arena, text, from, to, false, out, NULL, err));
    (*out)->sql = fm_str_trim((fm_str){text.ptr + from, to - from});
    return FM_OK;
}

/* The end of the statement that begins at `from`: a ';' outside of quotes and comments, or the end of the text. */
static size_t statement_end(fm_str text, size_t from)
{
    size_t at = from, begin;

    for (;;) {
        fm_lex lex = fm_lex_next(text.ptr, text.len, &at, &begin);
        if (lex == FM_LEX_END || lex == FM_LEX_OPEN_COMMENT) return text.len;
        if (lex == FM_LEX_SYMBOL && text.ptr[begin] == ';') return begin;
    }
}

static bool is_empty(fm_str text, size_t from, size_t to)
{
    size_t at = from, begin;

    return fm_lex_next(text.ptr, to, &at, &begin) == FM_LEX_END || begin >= to;
}

static fm_status own_text(fm_arena *arena, fm_str *text, fm_error *err)
{
    if (text->len > FM_SQL_TEXT_SIZE_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_SQL_TOO_LONG", "The SQL text has %zu bytes; at most %d are taken.", text->len, FM_SQL_TEXT_SIZE_MAX);
    /* The lexer knows the end by its NUL: one within the text would stop it there for ever. */
    const char *nul = text->len ? memchr(text->ptr, 0, text->len) : NULL;
    if (nul) return fm_fail(err, FM_INVALID, "PARSE_SYNTAX_ERROR", "The SQL text holds a zero byte, at byte %zu: take it out.", (size_t)(nul - text->ptr));
    *text = fm_arena_str(arena, *text);
    return text->ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_sql_parse_script(fm_arena *arena, fm_str text, fm_plan ***out, int32_t *n, fm_error *err)
{
    int32_t cap = 0;

    *out = NULL;
    *n = 0;
    FM_TRY(own_text(arena, &text, err));
    for (size_t from = 0; from < text.len;) {
        size_t to = statement_end(text, from);
        if (!is_empty(text, from, to)) {
            if (*n == cap) {
                cap = cap ? cap * 2 : 16;
                fm_plan **more = fm_arena_array(arena, fm_plan *, cap);
                if (!more) return fm_no_memory(arena, err);
                if (*n) memcpy(more, *out, (size_t)*n * sizeof *more);
                *out = more;
            }
            FM_TRY(parse_statement(arena, text, from, to, &(*out)[*n], err));
            (*n)++;
        }
        from = to + 1;
    }
    return FM_OK;
}

fm_status fm_sql_parse(fm_arena *arena, fm_str text, fm_plan **out, fm_error *err)
{
    FM_TRY(own_text(arena, &text, err));
    size_t to = statement_end(text, 0);
    if (is_empty(text, 0, to)) return fm_fail(err, FM_INVALID, "PARSE_EMPTY_STATEMENT", "Syntax error, unexpected empty statement.");
    if (to < text.len && !is_empty(text, to + 1, text.len)) return fm_syntax_error(text, fm_text_pos(text, to, to + 1), err, "One statement is taken here, and another follows the ';'");
    return parse_statement(arena, text, 0, to, out, err);
}

fm_status fm_sql_parse_expr(fm_arena *arena, fm_str text, fm_expr **out, fm_error *err)
{
    FM_TRY(own_text(arena, &text, err));
    return parse_range(arena, text, 0, text.len, true, NULL, out, err);
}

/* ---- Variables --------------------------------------------------------------------------------------------- */

fm_status fm_sql_substitute(fm_arena *arena, fm_str text, bool (*lookup)(void *ctx, fm_str name, fm_str *value), void *ctx, fm_str *out, fm_error *err)
{
    fm_strbuf made = {0};
    size_t from = 0;

    for (size_t i = 0; i < text.len; i++) {
        bool line_comment = text.ptr[i] == '-' && i + 1 < text.len && text.ptr[i + 1] == '-';
        if (line_comment) {
            while (i < text.len && text.ptr[i] != '\n') i++;
            continue;
        }
        if (text.ptr[i] != '$' || i + 1 >= text.len || text.ptr[i + 1] != '{') continue;
        size_t close = i + 2;
        while (close < text.len && text.ptr[close] != '}' && text.ptr[close] != '\n') close++;
        fm_str name = {text.ptr + i + 2, close - i - 2}, value;
        if (close >= text.len || text.ptr[close] != '}' || !lookup(ctx, name, &value)) {
            fm_pos pos = fm_text_pos(text, i, close);
            fm_strbuf_fini(&made);
            return fm_fail_at(err, FM_INVALID, "FLOODMARK_UNKNOWN_VARIABLE", pos.line, pos.column, "Line %d: there is no value for ${%.*s}. Give it with -c %.*s=value, or as an environment variable that is written ${env:NAME}.", pos.line, FM_STR_ARG(name), FM_STR_ARG(name));
        }
        fm_strbuf_add(&made, (fm_str){text.ptr + from, i - from});
        fm_strbuf_add(&made, value);
        from = close + 1;
        i = close;
    }
    fm_strbuf_add(&made, (fm_str){text.ptr + from, text.len - from});
    *out = fm_arena_str(arena, (fm_str){made.ptr ? made.ptr : "", made.len});
    bool ok = fm_strbuf_ok(&made) && out->ptr;
    fm_strbuf_fini(&made);
    return ok ? FM_OK : fm_no_memory(arena, err);
}
