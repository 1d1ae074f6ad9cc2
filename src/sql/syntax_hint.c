/* sql/syntax_hint.c: what is said about a token that cannot stand where it stands.
 *
 * A misspelt keyword is often taken for a name at first ("FROM t GROP BY a": GROP is an alias), and the error comes a word
 * later. So the hint tries: it replaces the token, then the one before, by the keyword nearest to it and parses again; the
 * first replacement with which the text is understood beyond the error is what was meant. Else it says what could stand
 * there. All of this happens once, on the way to an error. */
#include "sql/syntax_hint.h"

#include "sql/grammar_driver.h"
#include "sql/keyword.h"

/* Gives tokens to a new run until one is refused, or tokens[word] is a keyword that would be taken as a name. Returns how many
 * were taken; the run is the caller's. */
static int32_t push(const fm_misread *m, fm_str text, const fm_tokens *tokens, int32_t n, int32_t word, fm_grammar_run **run)
{
    fm_parse p = {.arena = m->arena, .text = text};
    int32_t i = 0;

    *run = fm_grammar_run_new();
    if (!*run || (m->first.kind && !fm_grammar_push(*run, &p, &m->first))) return 0;
    while (i < n && (i != word || fm_grammar_takes(*run, tokens->items[i].kind)) && fm_grammar_push(*run, &p, &tokens->items[i])) i++;
    return i;
}

/* ---- A keyword that was meant ---------------------------------------------------------------------------------------- */

/* Whether the statement is understood up to behind tokens[at] when tokens[i] is written as `word`. */
static bool helps(const fm_misread *m, int32_t at, int32_t i, const char *word)
{
    const fm_token *old = &m->tokens->items[i], *bad = &m->tokens->items[at];
    size_t len = strlen(word), shorter = (size_t)(old->pos.to - old->pos.from);
    fm_strbuf changed = {0};
    fm_tokens tokens;
    fm_grammar_run *run = NULL;

    fm_strbuf_add(&changed, (fm_str){m->text.ptr, (size_t)old->pos.from});
    fm_strbuf_add_c(&changed, word);
    fm_strbuf_add(&changed, (fm_str){m->text.ptr + old->pos.to, m->text.len - (size_t)old->pos.to});
    fm_str text = fm_strbuf_ok(&changed) ? fm_arena_str(m->arena, fm_strbuf_str(&changed)) : (fm_str){NULL, 0};
    fm_strbuf_fini(&changed);
    if (!text.ptr) return false;
    bool read = fm_tokens_read(m->arena, &(fm_place_counter){.text = text}, m->from, m->to + len - shorter, &tokens, NULL) == FM_OK;
    if (!read) return false;
    int32_t placed = 0;
    while (placed < tokens.n && tokens.items[placed].pos.from != old->pos.from) placed++;
    if (placed == tokens.n || tokens.items[placed].kind == FM_TK_ID) return false;
    int32_t taken = push(m, text, &tokens, tokens.n, placed, &run);
    fm_grammar_run_free(run);
    if (taken == tokens.n) return true;
    return bad->kind && taken > placed + 1 && (size_t)tokens.items[taken].pos.from >= (size_t)bad->pos.to + len - shorter;
}

/* The keywords nearest to a word, tried one after the other. NULL: none makes sense of the text. */
static const char *meant(const fm_misread *m, int32_t at, int32_t i)
{
    enum { TRIALS_MAX = 3, WORDS_MAX = 256, TEXT_SIZE_MAX = 1 << 16 };
    const char *words[WORDS_MAX];
    int n, left = 0;
    const fm_keyword *all = fm_keywords(&n);
    const fm_token *token = &m->tokens->items[i];
    bool word = !token->quoted && (token->kind == FM_TK_ID || fm_keyword_kind(token->text) != FM_TK_ID);

    if (!word || m->text.len > TEXT_SIZE_MAX) return NULL;
    for (int k = 0; k < n && left < WORDS_MAX; k++) {
        if (!fm_str_eq_ci(token->text, fm_str_c(all[k].word))) words[left++] = all[k].word;
    }
    for (int trials = 0; trials < TRIALS_MAX; trials++) {
        const char *nearest = fm_str_nearest(token->text, words, left);
        if (!nearest || helps(m, at, i, nearest)) return nearest;
        for (int k = 0; k < left; k++) {
            if (words[k] == nearest) words[k] = words[--left];
        }
    }
    return NULL;
}

/* ---- What could stand there --------------------------------------------------------------------------------------------- */

/* Signs and words in the order they are named. */
static const struct {
    int kind;
    const char *text;
} expected_words[] = {
    {FM_TK_RPAREN, "')'"}, {FM_TK_RBRACKET, "']'"}, {FM_TK_COMMA, "','"},
    {FM_TK_HINT_END, "'*/'"}, {FM_TK_TYPE, "a type"},
    {FM_TK_INTERVAL, "an interval with a unit, such as INTERVAL 10 MINUTES"}, {FM_TK_SELECT, NULL}, {FM_TK_FROM, NULL}, {FM_TK_WHERE, NULL},
    {FM_TK_GROUP, "GROUP BY"}, {FM_TK_HAVING, NULL}, {FM_TK_ORDER, "ORDER BY"}, {FM_TK_LIMIT, NULL}, {FM_TK_UNION, NULL}, {FM_TK_JOIN, NULL},
    {FM_TK_ON, NULL}, {FM_TK_WATERMARK, NULL}, {FM_TK_DELAY, "DELAY OF"}, {FM_TK_OF, NULL}, {FM_TK_AS, NULL}, {FM_TK_BY, NULL}, {FM_TK_AND, NULL},
    {FM_TK_WHEN, NULL}, {FM_TK_THEN, NULL}, {FM_TK_ELSE, NULL}, {FM_TK_END, NULL}, {FM_TK_NULL, NULL}, {FM_TK_TRUE, NULL}, {FM_TK_FALSE, NULL}, {FM_TK_UNKNOWN, NULL},
    {FM_TK_DISTINCT, "DISTINCT FROM"}, {FM_TK_TABLE, NULL}, {FM_TK_FUNCTION, NULL}, {FM_TK_QUERY, NULL},
    {FM_TK_VIEW, NULL}, {FM_TK_STREAMING, "STREAMING TABLE"}, {FM_TK_TEMPORARY, NULL}, {FM_TK_REPLACE, NULL}, {FM_TK_REFRESH, NULL},
    {FM_TK_EXISTS, NULL}, {FM_TK_NOT, NULL}, {FM_TK_USING, NULL}, {FM_TK_OPTIONS, NULL}, {FM_TK_PARTITIONED, "PARTITIONED BY"},
    {FM_TK_TABLES, NULL}, {FM_TK_VIEWS, NULL}, {FM_TK_FUNCTIONS, NULL}, {FM_TK_STREAMS, NULL}, {FM_TK_COLUMNS, NULL}, {FM_TK_CREATE, NULL}, {FM_TK_DROP, NULL},
    {FM_TK_EXPLAIN, NULL}, {FM_TK_SHOW, NULL}, {FM_TK_DESCRIBE, NULL}, {FM_TK_FIRST, NULL}, {FM_TK_LAST, NULL}, {FM_TK_SETS, NULL},
    {FM_TK_ROWS, NULL}, {FM_TK_PERCENT_WORD, "PERCENT"}, {FM_TK_PRECEDING, NULL}, {FM_TK_FOLLOWING, NULL}, {FM_TK_PLACING, NULL},
    {0, "the end of the statement"}, {FM_TK_LPAREN, "'('"}, {FM_TK_COLUMNS_LPAREN, "'('"}, {FM_TK_DOT, "'.'"}, {FM_TK_EQ, "'='"}, {FM_TK_ARROW, "'->'"},
};

static const char *word_of(int kind)
{
    int n;
    const fm_keyword *all = fm_keywords(&n);

    for (int i = 0; i < n; i++) {
        if (all[i].kind == kind) return all[i].word;
    }
    return "";
}

/* Words that go without saying: an expression may be many things, and after one may come any operator. */
static bool goes_without_saying(const fm_grammar_run *run, int kind, bool expression)
{
    switch (kind) {
    case FM_TK_LPAREN:
    case FM_TK_NULL:
    case FM_TK_TRUE:
    case FM_TK_FALSE:
    case FM_TK_EXISTS:
    case FM_TK_INTERVAL:
    case FM_TK_FROM:
    case FM_TK_TABLE:
    case FM_TK_DISTINCT: return expression;
    case FM_TK_NOT: return expression || fm_grammar_takes(run, FM_TK_STAR);
    case FM_TK_EQ: return fm_grammar_takes(run, FM_TK_STAR);
    case FM_TK_AND: return fm_grammar_takes(run, FM_TK_OR);
    default: return false;
    }
}

static void add_expected(const fm_grammar_run *run, fm_strbuf *out)
{
    enum { NAMED_MAX = 9 };
    const char *items[NAMED_MAX];
    int n = 0;
    bool expression = fm_grammar_takes(run, FM_TK_CASE), name = fm_grammar_takes(run, FM_TK_ID), text = fm_grammar_takes(run, FM_TK_STRING);

    if (expression) items[n++] = "an expression";
    else if (fm_grammar_takes(run, FM_TK_STAR) && !name) items[n++] = "an operator";
    else if (name) items[n++] = "a name";
    if (text && !expression) items[n++] = "a text in quotes";
    for (size_t i = 0; i < sizeof expected_words / sizeof expected_words[0] && n < NAMED_MAX; i++) {
        int kind = expected_words[i].kind;
        if (goes_without_saying(run, kind, expression) || !fm_grammar_takes(run, kind)) continue;
        items[n++] = expected_words[i].text ? expected_words[i].text : word_of(kind);
    }
    for (int i = 0; i < n; i++) {
        fm_strbuf_add_c(out, i == 0 ? " Expected here: " : i == n - 1 ? " or " : ", ");
        fm_strbuf_add_c(out, items[i]);
    }
    if (n) fm_strbuf_add_char(out, '.');
}

/* The '(' that is still open in front of `at`, or NULL. */
static const fm_token *open_paren(const fm_tokens *tokens, int32_t at)
{
    int depth = 0;

    for (int32_t i = at - 1; i >= 0; i--) {
        int kind = tokens->items[i].kind;
        if (kind == FM_TK_RPAREN) depth++;
        bool opens = kind == FM_TK_LPAREN || kind == FM_TK_LAMBDA_LPAREN || kind == FM_TK_COLUMNS_LPAREN;
        if (opens && depth-- == 0) return &tokens->items[i];
    }
    return NULL;
}

static void add_hint(const fm_misread *m, int32_t at, fm_strbuf *out)
{
    const fm_token *token = &m->tokens->items[at], *before = at > 0 ? &m->tokens->items[at - 1] : NULL;
    const fm_token *open = open_paren(m->tokens, at);
    const char *word = meant(m, at, at);
    fm_grammar_run *run = NULL;

    if (word) {
        fm_strbuf_printf(out, " Did you mean %s?", word);
        return;
    }
    if (before && before->kind == FM_TK_ID && (word = meant(m, at, at - 1))) {
        fm_strbuf_printf(out, " Did you mean %s instead of '%.*s'?", word, FM_STR_ARG(before->text));
        return;
    }
    if (token->kind == FM_TK_RPAREN && !open) {
        fm_strbuf_add_c(out, " No '(' is open here.");
        return;
    }
    if (at > 1 && before->kind == FM_TK_SELECT) {
        fm_strbuf_add_c(out, " The SELECT before it was taken as a name: is a ';' or UNION ALL missing in front of it?");
        return;
    }
    bool comma = before && before->kind == FM_TK_COMMA && (token->kind == 0 || token->kind == FM_TK_RPAREN || fm_keyword_kind(token->text) != FM_TK_ID);
    if (comma) {
        fm_strbuf_add_c(out, " The comma before it is one too many.");
        return;
    }
    push(m, m->text, m->tokens, at, -1, &run);
    if (run) add_expected(run, out);
    static const int begins[] = {FM_TK_CREATE, FM_TK_DROP, FM_TK_SHOW, FM_TK_DESCRIBE, FM_TK_EXPLAIN};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (token->kind == begins[i] && at > 0 && !open) fm_strbuf_add_c(out, " Is a ';' missing in front of it?");
    }
    bool unclosed = run && open && fm_grammar_takes(run, FM_TK_RPAREN);
    if (unclosed) fm_strbuf_printf(out, " The '(' in line %d, column %d is open.", open->pos.line, open->pos.column);
    fm_grammar_run_free(run);
}

fm_status fm_syntax_error(const fm_misread *m, int32_t at, fm_error *err)
{
    enum { SHOWN_SIZE_MAX = 60 };
    fm_pos pos = m->tokens->items[at].pos;
    fm_str shown = {m->text.ptr + pos.from, (size_t)(pos.to - pos.from)};
    fm_strbuf hint = {0};

    for (int32_t i = at > 0 ? at - 1 : 0; i <= at; i++) { /* taken for an alias at first */
        const fm_token *word = &m->tokens->items[i];
        if (word->quoted || !fm_str_eq_ci(word->text, FM_STR("COLLATE"))) continue;
        return fm_sql_fail(m->text, word->pos, err, FM_UNSUPPORTED, "FLOODMARK_COLLATION",
                           "COLLATE is not available: texts are compared byte by byte (UTF8_BINARY). To fold case, compare lower(x).");
    }
    const fm_token *word = &m->tokens->items[at];
    bool after_name = at > 1 && (fm_str_eq_ci(word[-2].text, FM_STR("TABLE")) || fm_str_eq_ci(word[-2].text, FM_STR("EXISTS")));
    if (after_name && !word->quoted && fm_str_eq_ci(word->text, FM_STR("LIKE"))) {
        return fm_sql_fail(m->text, pos, err, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
                           "CREATE TABLE ... LIKE is not available. CREATE TABLE ... USING delta AS SELECT * FROM t LIMIT 0 makes an empty table with the columns of t.");
    }
    add_hint(m, at, &hint);
    if (shown.len > SHOWN_SIZE_MAX) {
        shown.len = SHOWN_SIZE_MAX;
        while (((unsigned char)shown.ptr[shown.len] & 0xC0) == 0x80) shown.len--;
    }
    const char *more = hint.ptr ? hint.ptr : "";
    fm_status st = m->tokens->items[at].kind == 0
                       ? fm_sql_fail(m->text, pos, err, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near end of input.%s", more)
                       : fm_sql_fail(m->text, pos, err, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near '%.*s'.%s", (int)shown.len, shown.ptr, more);
    fm_strbuf_fini(&hint);
    return st;
}
