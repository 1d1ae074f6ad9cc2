/* sql/settle_columns.c: the columns of CREATE TABLE: name type [NOT NULL] [COMMENT '...'] [DEFAULT x].
 *
 * A type is made of words, brackets and commas that mean other things elsewhere, so it becomes one token here. */
#include "sql/grammar_driver.h"
#include "sql/settle.h"

static int kind_at(const fm_settling *s, int32_t i) { return fm_settle_peek(s, i)->kind; }

/* The '(' of the columns in CREATE ... TABLE name ( , or in CREATE ... VIEW name (...) USING; -1: there is none. */
static int32_t columns_at(const fm_settling *s)
{
    enum { WORDS_MAX = 8 }; /* EXPLAIN EXTENDED CREATE OR REFRESH TEMPORARY STREAMING TABLE */
    int32_t i = 0;
    bool create = false;

    while (i < WORDS_MAX && kind_at(s, i) != FM_TK_TABLE && kind_at(s, i) != FM_TK_VIEW) create |= kind_at(s, i++) == FM_TK_CREATE;
    create |= kind_at(s, 0) == FM_TK_REPLACE && i == 1; /* REPLACE TABLE */
    if (!create || i == WORDS_MAX) return -1;
    bool view = kind_at(s, i++) == FM_TK_VIEW;
    if (kind_at(s, i) == FM_TK_IF && kind_at(s, i + 1) == FM_TK_NOT) i += 3;
    while (kind_at(s, i + 1) == FM_TK_DOT) i += 2;
    i++;
    if (kind_at(s, i) != FM_TK_LPAREN || s->match[i] == s->tokens->n) return -1;
    return view && kind_at(s, s->match[i] + 1) != FM_TK_USING ? -1 : i;
}

/* Behind the last token of the type that begins at i. */
static int32_t type_end(const fm_settling *s, int32_t i, int32_t close)
{
    int depth = 0;

    for (; i < close; i++) {
        int kind = kind_at(s, i);
        if (kind == FM_TK_LPAREN) i = s->match[i];
        depth += (kind == FM_TK_LT) - (kind == FM_TK_GT);
        if (depth > 0) continue;
        if (kind == FM_TK_COMMA || kind == FM_TK_NOT || kind == FM_TK_COMMENT || kind == FM_TK_DEFAULT) break;
        static const char *const ends[] = {"GENERATED", "PRIMARY", "FIRST", "AFTER"};
        bool end = false;
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) end |= fm_token_is_word(fm_settle_peek(s, i), ends[k]);
        if (end) break;
    }
    return i < close ? i : close;
}

/* What stands behind a type, up to the comma of the column. */
static fm_status column_rest(fm_settling *s, int32_t i, int32_t close, int32_t *end)
{
    for (; i < close && kind_at(s, i) != FM_TK_COMMA; i++) {
        const fm_token *t = fm_settle_peek(s, i);
        if (t->kind == FM_TK_LPAREN) i = s->match[i];
        if (t->kind == FM_TK_NOT && kind_at(s, i + 1) == FM_TK_NULL) fm_settle_join(s, i, i + 1, FM_TK_NOT_NULL);
        if (fm_token_is_word(t, "FIRST")) s->tokens->items[i].kind = FM_TK_FIRST_COLUMN;
        if (fm_token_is_word(t, "AFTER")) s->tokens->items[i].kind = FM_TK_AFTER;
        bool generated = fm_token_is_word(t, "GENERATED") && fm_token_is_word(fm_settle_peek(s, i + 1), "ALWAYS") && kind_at(s, i + 2) == FM_TK_AS && kind_at(s, i + 3) == FM_TK_LPAREN;
        if (generated) {
            fm_settle_join(s, i, i + 2, FM_TK_GENERATED_AS);
            i = s->match[i + 3];
            continue;
        }
        if (fm_token_is_word(t, "GENERATED") || fm_token_is_word(t, "PRIMARY")) {
            return fm_settle_fail(s, t->pos, FM_UNSUPPORTED, "FLOODMARK_COLUMN_CONSTRAINT",
                                  "Keys and identity columns are not available. A column is: name type [NOT NULL] [COMMENT 'text'] [DEFAULT value] [GENERATED ALWAYS AS (value)].");
        }
    }
    *end = i;
    return FM_OK;
}

fm_status fm_settle_column_list(fm_settling *s, int32_t i, int32_t end)
{
    if (kind_at(s, i) == FM_TK_LPAREN) {
        s->tokens->items[i].kind = FM_TK_COLUMNS_LPAREN;
        end = s->match[i++];
    }
    while (i < end) {
        int32_t type = i + 1;
        if (kind_at(s, type) == FM_TK_COLON) s->tokens->items[type++].kind = FM_TOKEN_TAKEN;
        int32_t behind = type_end(s, type, end);
        if (behind > type) fm_settle_join(s, type, behind - 1, FM_TK_TYPE);
        FM_TRY(column_rest(s, behind, end, &i));
        i++; /* the comma */
    }
    return FM_OK;
}

fm_status fm_settle_columns(fm_settling *s)
{
    int32_t open = columns_at(s);

    return open < 0 ? FM_OK : fm_settle_column_list(s, open, 0);
}
