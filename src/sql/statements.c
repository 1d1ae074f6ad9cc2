/* sql/statements.c: statements that the grammar does not see: SET and RESET, whose values are raw text, and those of
 * Spark that are not built, which are refused by name. */
#include "sql/statements.h"

#include <stdio.h>

#include "sql/lexer.h"
#include "sql/quoted.h"

/* ---- Not built ------------------------------------------------------------------------------------------------------- */

static bool word_is(const fm_tokens *tokens, int32_t i, const char *word)
{
    return i < tokens->n && !tokens->items[i].quoted && fm_str_eq_ci(tokens->items[i].text, fm_str_c(word));
}

static fm_status refuse(fm_str text, fm_pos pos, const char *name, const char *more, fm_error *err)
{
    return fm_sql_fail(text, pos, err, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
                       "%s is not available. There are queries, CREATE TABLE, CREATE VIEW, CREATE STREAMING TABLE, DROP, INSERT, UPDATE, DELETE, MERGE, ALTER TABLE, OPTIMIZE, VACUUM, "
                       "RESTORE, SET, RESET, EXPLAIN, SHOW and DESCRIBE.%s",
                       name, more);
}

/* What follows CREATE, DROP and SHOW. */
static const char *refused_object(const fm_tokens *tokens, int32_t i)
{
    static const char *const objects[] = {"DATABASE", "SCHEMA",  "NAMESPACE", "CATALOG", "FUNCTION",   "MATERIALIZED", "FLOW",     "INDEX",
                                          "EXTERNAL", "ROLE",    "MACRO",     "VARIABLE", "DATABASES", "SCHEMAS",      "CATALOGS",
                                          "PARTITIONS", "CREATE", "GRANT", "CURRENT"};

    while (word_is(tokens, i, "OR") || word_is(tokens, i, "REPLACE") || word_is(tokens, i, "REFRESH") || word_is(tokens, i, "TEMPORARY") ||
           word_is(tokens, i, "TEMP")) {
        i++;
    }
    for (size_t k = 0; k < sizeof objects / sizeof objects[0]; k++) {
        if (word_is(tokens, i, objects[k])) return objects[k];
    }
    return NULL;
}

fm_status fm_statement_check(fm_str text, const fm_tokens *tokens, fm_error *err)
{
    static const struct {
        const char *word, *more;
    } refused[] = {
        {"TRUNCATE", ""}, {"CACHE", ""}, {"UNCACHE", ""}, {"CLEAR", ""}, {"REFRESH", ""}, {"ANALYZE", ""}, {"USE", ""}, {"CALL", ""},
        {"DECLARE", ""}, {"EXECUTE", ""}, {"BEGIN", ""}, {"GRANT", ""}, {"REVOKE", ""}, {"LOAD", ""}, {"MSCK", ""}, {"REPAIR", ""}, {"ADD", ""},
        {"LIST", ""}, {"EXPORT", ""}, {"IMPORT", ""}, {"LOCK", ""}, {"UNLOCK", ""}, {"START", ""}, {"COMMIT", ""}, {"ROLLBACK", ""}, {"COPY", ""},
    };
    static const char *const verbs[] = {"CREATE", "DROP", "SHOW"};
    char name[64];

    if (tokens->n < 3) return FM_OK; /* one word and the end: a misspelt one */
    fm_pos pos = tokens->items[0].pos;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (word_is(tokens, 0, refused[i].word)) return refuse(text, pos, refused[i].word, refused[i].more, err);
    }
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        const char *object = word_is(tokens, 0, verbs[i]) ? refused_object(tokens, 1) : NULL;
        if (!object) continue;
        snprintf(name, sizeof name, "%s %s", verbs[i], object);
        return refuse(text, pos, name, "", err);
    }
    return FM_OK;
}

/* ---- SET, RESET --------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool has_blank(fm_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (is_blank(s.ptr[i])) return true;
    }
    return false;
}

/* A text in one pair of quotes is what stands in them. */
static fm_str unquoted(fm_arena *arena, fm_str s)
{
    size_t at = 0, begin = 0;
    bool quoted = s.len >= 2 && (s.ptr[0] == '\'' || s.ptr[0] == '"' || s.ptr[0] == '`');

    if (!quoted) return fm_arena_str(arena, s);
    /* The text goes on behind s, so that the lexer may look there; the word must end with s. */
    fm_lex lex = fm_lex_next(s.ptr, s.len, &at, &begin);
    bool whole = (lex == FM_LEX_STRING || lex == FM_LEX_BACKTICK) && at == s.len;
    return whole ? fm_unquote(arena, s) : fm_arena_str(arena, s);
}

static fm_status add_setting(fm_arena *arena, fm_plan *node, fm_str key, const fm_str *value, fm_pos pos, fm_error *err)
{
    fm_option *o = fm_arena_one(arena, fm_option);

    if (!o) return fm_no_memory(arena, err);
    o->key = unquoted(arena, key);
    if (value) o->value = unquoted(arena, *value);
    if (!o->key.ptr || (value && !o->value.ptr)) return fm_no_memory(arena, err);
    o->line = pos.line;
    o->column = pos.column;
    node->options = (fm_options){.items = o, .n = 1, .cap = 1};
    return FM_OK;
}

/* What follows a word at the begin of s, or {NULL, 0} when s begins with another one. */
static fm_str after_word(fm_str s, const char *word)
{
    size_t n = strlen(word);
    bool same = s.len >= n && fm_str_eq_ci((fm_str){s.ptr, n}, fm_str_c(word)) && (s.len == n || is_blank(s.ptr[n]));

    return same ? fm_str_trim((fm_str){s.ptr + n, s.len - n}) : (fm_str){NULL, 0};
}

/* SET TIME ZONE 'Europe/Berlin' | LOCAL */
static fm_status set_time_zone(fm_arena *arena, fm_str text, fm_plan *node, fm_str zone, fm_pos pos, fm_error *err)
{
    bool literal = zone.len >= 2 && (zone.ptr[0] == '\'' || zone.ptr[0] == '"');

    if (!literal) {
        return fm_sql_fail(text, pos, err, FM_UNSUPPORTED, "FLOODMARK_STATEMENT", "A zone is written as a text: SET TIME ZONE 'Europe/Berlin' or '+02:00'.");
    }
    return add_setting(arena, node, FM_STR("spark.sql.session.timeZone"), &zone, pos, err);
}

static fm_status set(fm_arena *arena, fm_str text, fm_plan *node, fm_str rest, fm_pos pos, fm_error *err)
{
    fm_str time = after_word(rest, "TIME"), zone = time.ptr ? after_word(time, "ZONE") : (fm_str){NULL, 0};
    const char *equals = rest.len ? memchr(rest.ptr, '=', rest.len) : NULL;

    if (rest.len == 0 || fm_str_eq_ci(rest, FM_STR("-v"))) return FM_OK;
    if (zone.ptr) return set_time_zone(arena, text, node, zone, pos, err);
    size_t key_len = equals ? (size_t)(equals - rest.ptr) : rest.len;
    fm_str key = fm_str_trim((fm_str){rest.ptr, key_len});
    if (key.len == 0 || (key.ptr[0] != '`' && has_blank(key))) {
        return fm_sql_fail(text, pos, err, FM_INVALID, "INVALID_SET_SYNTAX",
                           "Expected format is 'SET', 'SET key', or 'SET key=value'. If you want to include special characters in key, or include semicolon in "
                           "value, please use backquotes, e.g., SET `key`=`value`.");
    }
    if (!equals) return add_setting(arena, node, key, NULL, pos, err);
    fm_str value = fm_str_trim((fm_str){equals + 1, rest.len - key_len - 1});
    return add_setting(arena, node, key, &value, pos, err);
}

fm_status fm_statement_settings(fm_arena *arena, fm_place_counter *counter, size_t from, size_t to, fm_plan **out, fm_error *err)
{
    fm_str whole = fm_str_trim((fm_str){counter->text.ptr + from, to - from});
    fm_str to_set = after_word(whole, "SET"), to_reset = after_word(whole, "RESET");

    *out = NULL;
    if (!to_set.ptr && !to_reset.ptr) return FM_OK;
    fm_pos pos = fm_place(counter, from, from + (to_set.ptr ? 3 : 5));
    fm_plan *node = fm_plan_new(arena, FM_PLAN_SET, pos);
    if (!node) return fm_no_memory(arena, err);
    node->what = to_set.ptr ? FM_STR("SET") : FM_STR("RESET");
    if (to_set.ptr) FM_TRY(set(arena, counter->text, node, to_set, pos, err));
    else if (to_reset.len) FM_TRY(add_setting(arena, node, to_reset, NULL, pos, err));
    *out = node;
    return FM_OK;
}
