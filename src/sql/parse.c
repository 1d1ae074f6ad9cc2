/* sql/parse.c: texts cut into statements, and each driven through the grammar. */
#include "sql/sql.h"

#include "base/limits.h"
#include "sql/grammar_driver.h"
#include "sql/lexer.h"
#include "sql/statements.h"
#include "sql/syntax_hint.h"

/* A text and how far it is read. */
typedef struct script {
    fm_arena *arena;
    fm_place_counter counter; /* its text is the whole one */
    fm_error *err;
} script;

/* text[from, to) through the grammar. */
static fm_status parse_range(script *s, size_t from, size_t to, bool just_expr, fm_parse *p)
{
    fm_misread m = {.arena = s->arena, .text = s->counter.text, .from = from, .to = to};
    fm_tokens tokens;
    int32_t i = 0;

    *p = (fm_parse){.arena = s->arena, .text = s->counter.text, .err = s->err};
    if (just_expr) m.first.kind = FM_TK_JUST_EXPR;
    FM_TRY(fm_tokens_read(s->arena, &s->counter, from, to, &tokens, s->err));
    if (!just_expr) FM_TRY(fm_statement_check(p->text, &tokens, s->err));
    fm_grammar_run *run = fm_grammar_run_new();
    if (!run) return fm_no_memory(s->arena, s->err);
    if (just_expr) fm_grammar_push(run, p, &m.first);
    while (i < tokens.n && fm_grammar_push(run, p, &tokens.items[i])) i++;
    fm_grammar_run_free(run);
    if (!p->unexpected) return p->status;
    m.tokens = &tokens;
    return fm_syntax_error(&m, i, s->err);
}

static fm_status parse_statement(script *s, size_t from, size_t to, fm_plan **out)
{
    fm_str text = fm_str_trim((fm_str){s->counter.text.ptr + from, to - from});
    fm_parse p;

    FM_TRY(fm_statement_settings(s->arena, &s->counter, from, to, out, s->err));
    if (!*out) {
        FM_TRY(parse_range(s, from, to, false, &p));
        *out = p.result;
    }
    if (!*out) return fm_no_memory(s->arena, s->err);
    (*out)->sql = text;
    return FM_OK;
}

/* The end of the statement that begins at `from`: a ';' outside of quotes and comments, or the end of the text. What never
 * ends is found again, and told, when the statement is read. */
static size_t statement_end(fm_str text, size_t from)
{
    size_t at = from, begin;

    for (;;) {
        fm_lex lex = fm_lex_next(text.ptr, text.len, &at, &begin);
        if (lex == FM_LEX_END || lex == FM_LEX_OPEN_COMMENT || lex == FM_LEX_OPEN_STRING || lex == FM_LEX_OPEN_BACKTICK) return text.len;
        if (lex == FM_LEX_SYMBOL && text.ptr[begin] == ';') return begin;
    }
}

/* The begin of the first word in text[from, to); `to`: there is none. */
static size_t statement_begin(fm_str text, size_t from, size_t to)
{
    size_t at = from, begin;

    return fm_lex_next(text.ptr, text.len, &at, &begin) == FM_LEX_END || begin >= to ? to : begin;
}

static fm_status script_init(script *s, fm_arena *arena, fm_str text, fm_error *err)
{
    *s = (script){.arena = arena, .err = err};
    if (text.len > FM_SQL_TEXT_SIZE_MAX) {
        return fm_fail(err, FM_LIMIT, "FLOODMARK_SQL_TOO_LONG", "The SQL text has %zu bytes; at most %d are taken.", text.len, FM_SQL_TEXT_SIZE_MAX);
    }
    FM_TRY(fm_text_check_utf8(text, err));
    /* The lexer knows the end by its NUL. */
    const char *nul = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    if (nul) {
        fm_pos pos = fm_text_pos(text, (size_t)(nul - text.ptr), (size_t)(nul - text.ptr) + 1);
        return fm_fail_at(err, FM_INVALID, "PARSE_SYNTAX_ERROR", pos.line, pos.column, "The SQL text has a zero byte, in line %d: take it out.", pos.line);
    }
    s->counter.text = fm_arena_str(arena, text.ptr ? text : FM_STR(""));
    return s->counter.text.ptr ? FM_OK : fm_no_memory(arena, err);
}

static bool grow(fm_arena *arena, fm_plan ***items, int32_t n, int32_t *cap)
{
    if (n < *cap) return true;
    fm_plan **more = fm_arena_array(arena, fm_plan *, *cap ? *cap * 2 : 16);
    if (!more) return false;
    if (n) memcpy(more, *items, (size_t)n * sizeof *more);
    *items = more;
    *cap = *cap ? *cap * 2 : 16;
    return true;
}

fm_status fm_sql_parse_script(fm_arena *arena, fm_str text, fm_plan ***out, int32_t *n, fm_error *err)
{
    int32_t cap = 0;
    script s;

    *out = NULL;
    *n = 0;
    FM_TRY(script_init(&s, arena, text, err));
    text = s.counter.text;
    for (size_t from = 0; from < text.len;) {
        size_t to = statement_end(text, from);
        from = statement_begin(text, from, to);
        if (from < to) {
            if (!grow(arena, out, *n, &cap)) return fm_no_memory(arena, err);
            FM_TRY(parse_statement(&s, from, to, &(*out)[*n]));
            (*n)++;
        }
        from = to + 1;
    }
    return FM_OK;
}

fm_status fm_sql_parse(fm_arena *arena, fm_str text, fm_plan **out, fm_error *err)
{
    script s;

    FM_TRY(script_init(&s, arena, text, err));
    text = s.counter.text;
    size_t to = statement_end(text, 0), from = statement_begin(text, 0, to);
    if (from == to) return fm_fail_at(err, FM_INVALID, "PARSE_EMPTY_STATEMENT", 1, 1, "Syntax error, unexpected empty statement.");
    for (size_t end = to; end < text.len;) { /* more ';' are fine */
        size_t next = statement_end(text, end + 1), word = statement_begin(text, end + 1, next);
        if (word < next) {
            return fm_sql_fail(text, fm_text_pos(text, word, word + 1), err, FM_INVALID, "PARSE_SYNTAX_ERROR",
                               "Syntax error: one statement is taken here, and another one begins.");
        }
        end = next;
    }
    return parse_statement(&s, from, to, out);
}

fm_status fm_sql_parse_expr(fm_arena *arena, fm_str text, fm_expr **out, fm_error *err)
{
    script s;
    fm_parse p;

    FM_TRY(script_init(&s, arena, text, err));
    FM_TRY(parse_range(&s, 0, s.counter.text.len, true, &p));
    *out = p.result_expr;
    return *out ? FM_OK : fm_no_memory(arena, err);
}
