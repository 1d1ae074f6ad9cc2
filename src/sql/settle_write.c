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

/* The place behind a name that begins at i. */
static int32_t behind_name(const fm_settling *s, int32_t i)
{
    while (kind_at(s, i + 1) == FM_TK_DOT) i += 2;
    return i + 1;
}

/* INSERT INTO [TABLE] name [PARTITION (...)] [(columns) | BY NAME] [REPLACE WHERE ...] query; INSERT stands at `at`. */
static void settle_insert(fm_settling *s, int32_t at)
{
    int32_t i = at + 2;

    set_kind(s, at, FM_TK_INSERT);
    set_kind(s, at + 1, word_at(s, at + 1, "INTO") ? FM_TK_INTO : FM_TK_OVERWRITE);
    if (kind_at(s, i) == FM_TK_TABLE) i++;
    i = behind_name(s, i);
    if (word_at(s, i, "PARTITION") && kind_at(s, i + 1) == FM_TK_LPAREN) {
        set_kind(s, i, FM_TK_INSERT_PARTITION);
        i = s->match[i + 1] + 1;
    }
    if (kind_at(s, i) == FM_TK_LPAREN && !begins_query(s, i)) set_kind(s, i, FM_TK_COLUMNS_LPAREN);
    bool by_name = kind_at(s, i) == FM_TK_BY && word_at(s, i + 1, "NAME");
    int32_t replace = by_name ? i + 2 : i;
    if (kind_at(s, replace) == FM_TK_REPLACE && kind_at(s, replace + 1) == FM_TK_WHERE) {
        fm_settle_join(s, i, replace + 1, by_name ? FM_TK_BY_NAME_REPLACE_WHERE : FM_TK_REPLACE_WHERE);
    } else if (by_name) {
        fm_settle_join(s, i, i + 1, FM_TK_BY_NAME);
    }
}

static bool is_insert(const fm_settling *s, int32_t i) { return word_at(s, i, "INSERT") && (word_at(s, i + 1, "INTO") || word_at(s, i + 1, "OVERWRITE")); }

/* WITH a AS (...) INSERT INTO ... */
static void settle_with(fm_settling *s)
{
    for (int32_t i = 1; i < s->tokens->n; i++) {
        if (kind_at(s, i) == FM_TK_LPAREN) {
            i = s->match[i];
        } else if (kind_at(s, i - 1) == FM_TK_RPAREN && is_insert(s, i)) {
            settle_insert(s, i);
            return;
        }
    }
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

static void settle_optimize(fm_settling *s)
{
    set_kind(s, 0, FM_TK_OPTIMIZE);
    for (int32_t i = 2; i < s->tokens->n; i++) {
        if (word_at(s, i, "ZORDER") && kind_at(s, i + 1) == FM_TK_BY) fm_settle_join(s, i, i + 1, FM_TK_ZORDER_BY);
    }
}

static fm_status settle_alter(fm_settling *s)
{
    static const struct {
        const char *first, *second;
        int kind;
    } actions[] = {
        {"ADD", "COLUMNS", FM_TK_ADD_COLUMNS}, {"ADD", "COLUMN", FM_TK_ADD_COLUMNS}, {"ADD", "CONSTRAINT", FM_TK_ADD_CONSTRAINT},
        {"DROP", "CONSTRAINT", FM_TK_DROP_CONSTRAINT}, {"DROP", "COLUMNS", FM_TK_DROP_COLUMNS}, {"DROP", "COLUMN", FM_TK_DROP_COLUMNS},
        {"RENAME", "COLUMN", FM_TK_RENAME_COLUMN}, {"SET", "TBLPROPERTIES", FM_TK_SET_PROPERTIES}, {"UNSET", "TBLPROPERTIES", FM_TK_UNSET_PROPERTIES},
    };
    int32_t i = behind_name(s, 2);

    for (size_t k = 0; k < sizeof actions / sizeof actions[0]; k++) {
        if (!word_at(s, i, actions[k].first) || !word_at(s, i + 1, actions[k].second)) continue;
        set_kind(s, 0, FM_TK_ALTER);
        fm_settle_join(s, i, i + 1, actions[k].kind);
        if (actions[k].kind == FM_TK_ADD_COLUMNS) return fm_settle_column_list(s, i + 2, s->tokens->n);
        if (actions[k].kind == FM_TK_ADD_CONSTRAINT && word_at(s, i + 3, "CHECK")) set_kind(s, i + 3, FM_TK_CHECK);
        if (actions[k].kind == FM_TK_RENAME_COLUMN && word_at(s, i + 3, "TO")) set_kind(s, i + 3, FM_TK_TO_WORD);
        return FM_OK;
    }
    return fm_settle_fail(s, fm_settle_peek(s, i)->pos, FM_UNSUPPORTED, "FLOODMARK_ALTER_TABLE",
                          "ALTER TABLE has ADD COLUMNS, RENAME COLUMN, DROP COLUMNS, SET TBLPROPERTIES, UNSET TBLPROPERTIES, ADD CONSTRAINT and DROP CONSTRAINT.");
}

fm_status fm_settle_write(fm_settling *s)
{
    bool describe = kind_at(s, 0) == FM_TK_DESCRIBE || kind_at(s, 0) == FM_TK_DESC, more = s->tokens->n > 2;

    if (word_at(s, 0, "ALTER") && kind_at(s, 1) == FM_TK_TABLE && more) return settle_alter(s);
    if (is_insert(s, 0)) settle_insert(s, 0);
    else if (kind_at(s, 0) == FM_TK_WITH) settle_with(s);
    else if (word_at(s, 0, "REPLACE") && kind_at(s, 1) == FM_TK_TABLE) set_kind(s, 0, FM_TK_REPLACE_TABLE);
    else if (word_at(s, 0, "UPDATE") && more) {
        set_kind(s, 0, FM_TK_UPDATE);
        settle_set(s, 2);
    } else if (word_at(s, 0, "DELETE") && kind_at(s, 1) == FM_TK_FROM) {
        set_kind(s, 0, FM_TK_DELETE);
    } else if (word_at(s, 0, "MERGE") && more) {
        settle_merge(s);
    } else if (word_at(s, 0, "OPTIMIZE") && s->tokens->n > 1) {
        settle_optimize(s);
    } else if (word_at(s, 0, "VACUUM") && s->tokens->n > 1) {
        settle_vacuum(s);
    } else if (word_at(s, 0, "RESTORE") && more) {
        settle_restore(s);
    } else if (describe && more && (word_at(s, 1, "HISTORY") || word_at(s, 1, "DETAIL"))) {
        set_kind(s, 1, word_at(s, 1, "HISTORY") ? FM_TK_HISTORY : FM_TK_DETAIL);
    }
    return FM_OK;
}

bool fm_settle_travel(fm_settling *s, int32_t i)
{
    bool version = word_at(s, i, "VERSION"), time = word_at(s, i, "TIMESTAMP");

    if ((!version && !time) || kind_at(s, i + 1) != FM_TK_AS || kind_at(s, i + 2) != FM_TK_OF) return false;
    fm_settle_join(s, i, i + 2, version ? FM_TK_VERSION_AS_OF : FM_TK_TIMESTAMP_AS_OF);
    return true;
}
