/* sql/settle_write.c: the words of statements that write tables. Elsewhere none of them is a keyword. */
#include "sql/grammar_driver.h"
#include "sql/settle.h"

static bool word_at(const fm_settling *s, int32_t i, const char *word) { return fm_token_is_word(fm_settle_peek(s, i), word); }
static int kind_at(const fm_settling *s, int32_t i) { return fm_settle_peek(s, i)->kind; }
static void set_kind(fm_settling *s, int32_t i, int kind) { s->tokens->items[i].kind = kind; }

static bool begins_query(const fm_settling *s, int32_t i)
{
    while (kind_at(s, i) == FM_TK_LPAREN) i++;
    return kind_at(s, i) == FM_TK_SELECT || kind_at(s, i) == FM_TK_WITH || kind_at(s, i) == FM_TK_VALUES || kind_at(s, i) == FM_TK_FROM || kind_at(s, i) == FM_TK_TABLE;
}

/* INSERT INTO [TABLE] name [(columns) | BY NAME] query */
static void settle_insert(fm_settling *s)
{
    int32_t i = 2;

    set_kind(s, 0, FM_TK_INSERT);
    set_kind(s, 1, word_at(s, 1, "INTO") ? FM_TK_INTO : FM_TK_OVERWRITE);
    if (kind_at(s, i) == FM_TK_TABLE) i++;
    while (kind_at(s, i + 1) == FM_TK_DOT) i += 2;
    i++;
    if (kind_at(s, i) == FM_TK_LPAREN && !begins_query(s, i)) set_kind(s, i, FM_TK_COLUMNS_LPAREN);
    else if (kind_at(s, i) == FM_TK_BY && word_at(s, i + 1, "NAME")) fm_settle_join(s, i, i + 1, FM_TK_BY_NAME);
}

/* SET of UPDATE: the first outside of brackets, behind the table. */
static void settle_set(fm_settling *s, int32_t i)
{
    for (; i < s->tokens->n; i++) {
        if (kind_at(s, i) == FM_TK_LPAREN) i = s->match[i];
        else if (word_at(s, i, "SET")) {
            set_kind(s, i, FM_TK_SET_WORD);
            return;
        }
    }
}

/* NOT MATCHED [BY SOURCE | BY TARGET], MATCHED, and the action behind THEN. */
static void settle_merge(fm_settling *s)
{
    int32_t i = 1;

    set_kind(s, 0, FM_TK_MERGE);
    if (kind_at(s, 1) == FM_TK_WITH && word_at(s, 2, "SCHEMA") && word_at(s, 3, "EVOLUTION")) {
        fm_settle_join(s, 1, 3, FM_TK_SCHEMA_EVOLUTION);
        i = 4;
    }
    if (word_at(s, i, "INTO")) set_kind(s, i, FM_TK_INTO);
    for (; i < s->tokens->n; i++) {
        if (kind_at(s, i) == FM_TK_LPAREN) {
            i = s->match[i];
        } else if (kind_at(s, i) == FM_TK_WHEN && word_at(s, i + 1, "MATCHED")) {
            set_kind(s, i + 1, FM_TK_MATCHED);
        } else if (kind_at(s, i) == FM_TK_WHEN && kind_at(s, i + 1) == FM_TK_NOT && word_at(s, i + 2, "MATCHED")) {
            bool source = kind_at(s, i + 3) == FM_TK_BY && word_at(s, i + 4, "SOURCE"), target = kind_at(s, i + 3) == FM_TK_BY && word_at(s, i + 4, "TARGET");
            fm_settle_join(s, i + 1, source || target ? i + 4 : i + 2, source ? FM_TK_NOT_MATCHED_BY_SOURCE : FM_TK_NOT_MATCHED);
        } else if (kind_at(s, i) == FM_TK_THEN && word_at(s, i + 1, "UPDATE") && word_at(s, i + 2, "SET")) {
            set_kind(s, i + 1, FM_TK_UPDATE);
            set_kind(s, i + 2, FM_TK_SET_WORD);
        } else if (kind_at(s, i) == FM_TK_THEN && word_at(s, i + 1, "DELETE")) {
            set_kind(s, i + 1, FM_TK_DELETE);
        } else if (kind_at(s, i) == FM_TK_THEN && word_at(s, i + 1, "INSERT")) {
            set_kind(s, i + 1, FM_TK_INSERT);
            if (kind_at(s, i + 2) == FM_TK_LPAREN) set_kind(s, i + 2, FM_TK_COLUMNS_LPAREN);
        }
    }
}

static void settle_vacuum(fm_settling *s)
{
    set_kind(s, 0, FM_TK_VACUUM);
    for (int32_t i = 2; i < s->tokens->n; i++) {
        if (word_at(s, i, "RETAIN")) set_kind(s, i, FM_TK_RETAIN);
        else if (word_at(s, i, "HOURS")) set_kind(s, i, FM_TK_HOURS);
        else if (word_at(s, i, "DRY") && word_at(s, i + 1, "RUN")) fm_settle_join(s, i, i + 1, FM_TK_DRY_RUN);
    }
}

static void settle_restore(fm_settling *s)
{
    set_kind(s, 0, FM_TK_RESTORE);
    for (int32_t i = 2; i < s->tokens->n; i++) {
        if (word_at(s, i, "TO") && (word_at(s, i + 1, "VERSION") || word_at(s, i + 1, "TIMESTAMP"))) set_kind(s, i, FM_TK_TO_WORD);
    }
}

void fm_settle_write(fm_settling *s)
{
    bool describe = kind_at(s, 0) == FM_TK_DESCRIBE || kind_at(s, 0) == FM_TK_DESC, more = s->tokens->n > 2;

    if (word_at(s, 0, "INSERT") && (word_at(s, 1, "INTO") || word_at(s, 1, "OVERWRITE"))) settle_insert(s);
    else if (word_at(s, 0, "UPDATE") && more) {
        set_kind(s, 0, FM_TK_UPDATE);
        settle_set(s, 2);
    } else if (word_at(s, 0, "DELETE") && kind_at(s, 1) == FM_TK_FROM) {
        set_kind(s, 0, FM_TK_DELETE);
    } else if (word_at(s, 0, "MERGE") && more) {
        settle_merge(s);
    } else if (word_at(s, 0, "OPTIMIZE") && s->tokens->n > 1) {
        set_kind(s, 0, FM_TK_OPTIMIZE);
    } else if (word_at(s, 0, "VACUUM") && s->tokens->n > 1) {
        settle_vacuum(s);
    } else if (word_at(s, 0, "RESTORE") && more) {
        settle_restore(s);
    } else if (describe && more && (word_at(s, 1, "HISTORY") || word_at(s, 1, "DETAIL"))) {
        set_kind(s, 1, word_at(s, 1, "HISTORY") ? FM_TK_HISTORY : FM_TK_DETAIL);
    }
}

bool fm_settle_travel(fm_settling *s, int32_t i)
{
    bool version = word_at(s, i, "VERSION"), time = word_at(s, i, "TIMESTAMP");

    if ((!version && !time) || kind_at(s, i + 1) != FM_TK_AS || kind_at(s, i + 2) != FM_TK_OF) return false;
    fm_settle_join(s, i, i + 2, version ? FM_TK_VERSION_AS_OF : FM_TK_TIMESTAMP_AS_OF);
    return true;
}
