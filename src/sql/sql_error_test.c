/* sql/sql_error_test.c: what is said of wrong texts, and that hostile ones end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "base/limits.h"
#include "sql/sql.h"

static const struct {
    const char *sql;
    int line, column;
    fm_status status;
    const char *condition, *says;
} cases[] = {
    {"SELEC k FROM t", 1, 1, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean SELECT?"},
    {"SELECT a FORM t", 1, 15, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean FROM instead of 'FORM'?"},
    {"SELECT a FROM t WHER b = 1", 1, 22, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean WHERE instead of 'WHER'?"},
    {"SELECT a FROM t GROP BY a", 1, 22, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean GROUP instead of 'GROP'?"},
    {"SELECT a FROM t ORDER BI a", 1, 23, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean BY?"},
    {"SELECT a FROM t LIMT 5", 1, 22, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean LIMIT instead of 'LIMT'?"},
    {"SELECT (a FROM t", 1, 11, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an operator, ')', ',', AS, '(' or '.'. The '(' in line 1, column 8 is open."},
    {"SELECT f(a FROM t", 1, 17, FM_INVALID, "PARSE_SYNTAX_ERROR", /* struct(a FROM) has a column FROM, so FROM alone is no mistake */
     "Expected here: ')' or ','. The '(' in line 1, column 9 is open."},
    {"SELECT a FROM (SELECT b FROM t", 1, 31, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a name, ')', ',', WHERE, GROUP BY, HAVING, ORDER BY, LIMIT or UNION. The '(' in line 1, "
     "column 15 is open."},
    {"SELECT a) FROM t", 1, 9, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "No '(' is open here."},
    {"SELECT a, FROM t", 1, 11, FM_INVALID, "TRAILING_COMMA_IN_SELECT",
     "The comma before it is one too many."},
    {"SELECT f(a,) FROM t", 1, 12, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "The comma before it is one too many."},
    {"SELECT a FROM t,", 1, 17, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "The comma before it is one too many."},
    {"WITH a AS (SELECT 1), SELECT 2", 1, 23, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "The comma before it is one too many."},
    {"SELECT a FROM t WHERE", 1, 22, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an expression."},
    {"SELECT a b c FROM t", 1, 12, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: ',', FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, UNION or the end of the statement."},
    {"SELECT", 1, 7, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an expression."},
    {"SELECT a FROM", 1, 14, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a name or '('."},
    {"SELECT CASE WHEN a THEN 1", 1, 26, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an operator, WHEN, ELSE, END or '.'."},
    {"SELECT CASE WHEN a 1 END", 1, 20, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an operator, THEN, '(' or '.'."},
    {"SELECT a BETWEEN 1 OR 2", 1, 20, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an operator, AND or '.'."},
    {"SELECT a IN ()", 1, 14, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an expression or SELECT."},
    {"SELECT a IS b", 1, 13, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or NOT."},
    {"SELECT * FROM a JOIN b USING x", 1, 30, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: '('."},
    {"SELECT * FROM a ON a.x = b.x", 1, 17, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a name, ',', WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, UNION or JOIN."},
    {"SELECT 'abc", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: this text has no closing quote."},
    {"SELECT `abc", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: this name has no closing backtick."},
    {"SELECT ``", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "A name in backticks cannot be empty."},
    {"SELECT a /* b", 1, 10, FM_INVALID, "UNCLOSED_BRACKETED_COMMENT",
     "Found an unclosed bracketed comment. Please, append */ at the end of"},
    {"SELECT 1.5x", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error at or near '1.5x': a number runs into letters."},
    {"SELECT a # b", 1, 10, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: the character '#' is not part of SQL."},
    {"SELECT ‘a’", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: the character '‘' is not part of SQL. It is a typographic quote: write ' or \"."},
    {"SELECT ?", 1, 8, FM_UNSUPPORTED, "UNBOUND_SQL_PARAMETER",
     "Parameter markers (? and :name) are not available: write the value,"},
    {"SELECT :x", 1, 8, FM_UNSUPPORTED, "UNBOUND_SQL_PARAMETER",
     "Parameter markers (? and :name) are not available: write the value,"},
    {"SELECT a:b FROM t", 1, 9, FM_UNSUPPORTED, "FLOODMARK_PATH_EXTRACTION",
     "Paths with ':' into VARIANT values are not available. For JSON text"},
    {"SELECT 300Y", 1, 8, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 300Y is outside the valid range for tinyint with"},
    {"SELECT 40000S", 1, 8, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 40000S is outside the valid range for smallint with"},
    {"SELECT 9223372036854775808L", 1, 8, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 9223372036854775808L is outside the valid range for"},
    {"SELECT 1e400", 1, 8, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 1e400 is outside the valid range for double with"},
    {"SELECT 1e39F", 1, 8, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
     "Numeric literal 1e39F is outside the valid range for float with"},
    {"SELECT 99999999999999999999999999999999999999999", 1, 8, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
     "Decimal precision 41 exceeds max precision 38."},
    {"SELECT 1e50BD", 1, 8, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
     "Decimal precision 51 exceeds max precision 38."},
    {"SELECT DATE '2026-13-01'", 1, 13, FM_INVALID, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"DATE\" is invalid: '2026-13-01'."},
    {"SELECT TIMESTAMP 'x'", 1, 18, FM_INVALID, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"TIMESTAMP\" is invalid: 'x'."},
    {"SELECT TIMESTAMP_NTZ 'x'", 1, 22, FM_INVALID, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"TIMESTAMP_NTZ\" is invalid: 'x'."},
    {"SELECT X'0G'", 1, 9, FM_INVALID, "INVALID_TYPED_LITERAL",
     "The value of the typed literal \"X\" is invalid: '0G'."},
    {"SELECT BIGINT '1'", 1, 8, FM_INVALID, "UNSUPPORTED_TYPED_LITERAL",
     "Literals of the type \"BIGINT\" are not supported. Supported types are"},
    {"SELECT INTERVAL 1 MONTH 2 DAYS", 1, 8, FM_INVALID, "_LEGACY_ERROR_TEMP_0029",
     "Cannot mix year-month and day-time fields: INTERVAL 1 MONTH 2 DAYS."},
    {"SELECT INTERVAL '1 month 2 days'", 1, 8, FM_INVALID, "_LEGACY_ERROR_TEMP_0029",
     "Cannot mix year-month and day-time fields: INTERVAL '1 month 2 days'."},
    {"SELECT INTERVAL 5", 1, 17, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected behind it: a unit, one of YEAR, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND."},
    {"SELECT INTERVAL 'x' DAY", 1, 17, FM_INVALID, "INVALID_INTERVAL_FORMAT.INVALID_VALUE",
     "Can only use numbers in the interval value part, but got invalid"},
    {"SELECT INTERVAL '1:70' HOUR TO MINUTE", 1, 17, FM_INVALID, "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING",
     "The interval '1:70' does not match its units: [+|-]h:m is expected."},
    {"SELECT INTERVAL '1' DAY TO YEAR", 1, 28, FM_INVALID, "INVALID_INTERVAL_FORMAT.UNSUPPORTED_FROM_TO_EXPRESSION",
     "Intervals from DAY to YEAR are not supported: there are YEAR TO"},
    {"SELECT INTERVAL 'nonsense'", 1, 8, FM_INVALID, "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER",
     "Error parsing 'nonsense' to interval. Please ensure that the value"},
    {"SELECT INTERVAL 1.5 HOURS", 1, 8, FM_INVALID, "INVALID_INTERVAL_FORMAT.INVALID_FRACTION",
     "Error parsing '1.5 hour' to interval. Please ensure that the value"},
    {"SELECT INTERVAL 9999999999 DAYS", 1, 8, FM_INVALID, "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION",
     "Error parsing '9999999999 day' to interval. Please ensure that the"},
    {"SELECT CAST(a AS QUUX)", 1, 18, FM_INVALID, "UNSUPPORTED_DATATYPE",
     "Unsupported data type \"QUUX\"."},
    {"SELECT CAST(a AS ARRAY<INT)", 1, 18, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "the type 'ARRAY<INT'"},
    {"SELECT CAST(a INT)", 1, 15, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an operator, AS, '(' or '.'."},
    {"SELECT a LIKE 'x' ESCAPE 'ab'", 1, 26, FM_INVALID, "INVALID_ESC",
     "Found an invalid escape string: 'ab'. The escape string must contain only one character."},
    {"SELECT f(a AS b)", 1, 10, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: an argument of `f` has no name, as `b` would be. Only struct(x AS a) takes names."},
    {"SELECT f(1, a b)", 1, 13, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: an argument of `f` has no name, as `b` would be. Only struct(x AS a) takes names."},
    {"SELECT f(a => 1)", 1, 10, FM_UNSUPPORTED, "NAMED_PARAMETERS_NOT_SUPPORTED",
     "Named parameters are not supported for function `f`; please, retry"},
    {"SELECT (x, x) -> 1", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an expression."},
    {"SELECT f((x, x) -> 1)", 1, 11, FM_INVALID, "INVALID_LAMBDA_FUNCTION_CALL.DUPLICATE_ARG_NAMES",
     "The lambda function has duplicate arguments `x`. Please, consider to"},
    {"SELECT a.* + 1 FROM t", 1, 12, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: ',', FROM, WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, UNION or the end of the statement."},
    {"SELECT f(a).* FROM t", 1, 8, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Only a table or a column that is a struct can stand in front of '.*'."},
    {"SELECT a FROM STREAM t WATERMARK ts DELAY OF '10 minutes'", 1, 46, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an interval with a unit, such as INTERVAL 10 MINUTES."},
    {"SELECT a FROM STREAM t WATERMARK ts DELAY OF INTERVAL '10 minutes'", 1, 46, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: an interval with a unit, such as INTERVAL 10 MINUTES."},
    {"SELECT a FROM STREAM t WATERMARK ts", 1, 36, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a name, DELAY OF, AS, '(' or '.'."},
    {"SELECT * FROM read_files(format => 'json', 'in/')", 1, 44, FM_INVALID, "UNEXPECTED_POSITIONAL_ARGUMENT",
     "Cannot invoke routine `read_files` because it contains positional"},
    {"VALUES (1, 2), (3)", 1, 17, FM_INVALID, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
     "Inline table expected 2 columns but found 1 columns in row 1."},
    {"SELECT a FROM t SORT BY a", 1, 17, FM_UNSUPPORTED, "FLOODMARK_SORT_BY",
     "SORT BY, CLUSTER BY and DISTRIBUTE BY arrange the partitions of a"},
    {"SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2))", 1, 17, FM_UNSUPPORTED, "FLOODMARK_PIVOT",
     "PIVOT and UNPIVOT are not available: write sum(x) FILTER (WHERE kind"},
    {"SELECT * FROM t, LATERAL (SELECT 1)", 1, 18, FM_UNSUPPORTED, "FLOODMARK_LATERAL",
     "LATERAL sub-queries and functions are not available: write LATERAL"},
    {"FROM t |> SELECT a", 1, 8, FM_UNSUPPORTED, "FLOODMARK_PIPE",
     "Queries with |> are not available: write SELECT ... FROM ... ."},
    {"WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a", 1, 6, FM_UNSUPPORTED, "FLOODMARK_RECURSION",
     "WITH RECURSIVE is not available."},
    {"ALTER TABLE t RECOVER PARTITIONS", 1, 15, FM_UNSUPPORTED, "FLOODMARK_ALTER_TABLE",
     "ALTER TABLE has ADD COLUMNS"},
    {"ALTER VIEW v AS SELECT 1", 1, 1, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "near 'ALTER'"},
    {"INSERT INTO t (a, b) BY NAME SELECT 1", 1, 22, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "near 'BY'"},
    {"MERGE INTO t USING u ON a WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET *", 1, 27, FM_INVALID, "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
     "only the last one can omit the condition"},
    {"CREATE FUNCTION f AS 'x'", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "CREATE FUNCTION is not available"},
    {"CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT 1", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "CREATE MATERIALIZED is not available"},
    {"CREATE TABLE IF NOT EXISTS u LIKE t", 1, 30, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "CREATE TABLE ... LIKE is not available. CREATE TABLE ... USING delta AS SELECT"},
    {"CREATE DATABASE d", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "CREATE DATABASE is not available"},
    {"DROP SCHEMA d", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "DROP SCHEMA is not available"},
    {"SHOW PARTITIONS t", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "SHOW PARTITIONS is not available"},
    {"SHOW PRICES FROM t", 1, 6, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: TABLES, VIEWS, FUNCTIONS, STREAMS or COLUMNS"},
    {"SELECT a COLLATE UTF8_LCASE FROM t", 1, 10, FM_UNSUPPORTED, "FLOODMARK_COLLATION",
     "COLLATE is not available"},
    {"SELECT * FROM t TABLESAMPLE (BUCKETS 1 OUT OF 2)", 1, 30, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "BUCKET"},
    {"CREATE STREAMING TABLE t USING json", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STREAMING_TABLE_WITHOUT_QUERY",
     "CREATE STREAMING TABLE needs its query: CREATE STREAMING TABLE name"},
    {"CREATE TABLE t (a)", 1, 18, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a type."},
    {"CREATE TABLE t (a INTT)", 1, 19, FM_INVALID, "UNSUPPORTED_DATATYPE",
     "Unsupported data type \"INTT\"."},
    {"CREATE TABLE t (a INT b STRING)", 1, 19, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "in the type 'INT b STRING'"},
    {"CREATE TABLE t (a INT) USING json USING csv", 1, 35, FM_INVALID, "DUPLICATE_CLAUSES",
     "Found duplicate clauses: USING. Please, remove one of them."},
    {"CREATE TABLE t (a INT) USING json OPTIONS (a 'x', A 'y')", 1, 51, FM_INVALID, "DUPLICATE_KEY",
     "Found duplicate keys `A`."},
    {"CREATE TABLE t (a INT) USING json OPTIONS (path)", 1, 48, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a text in quotes, TRUE, FALSE, '.' or '='."},
    {"CREATE TABLE t (a INT) USNG json", 1, 24, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean USING?"},
    {"CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1", 1, 8, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "Global temporary views are not available: write CREATE TEMPORARY VIEW"},
    {"CREATE OR REFRESH TABLE t (a INT)", 1, 1, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "OR REFRESH is for CREATE STREAMING TABLE: write CREATE OR REPLACE."},
    {"CREATE INDEX i ON t (a)", 1, 1, FM_UNSUPPORTED, "FLOODMARK_STATEMENT",
     "CREATE INDEX is not available"},
    {"CREAT TABLE t (a INT)", 1, 1, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean CREATE?"},
    {"EXPLAIN EXTNDED SELECT 1", 1, 9, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean EXTENDED?"},
    {"SHOW TABELS", 1, 6, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Did you mean TABLES?"},
    {"DESCRIBE", 1, 9, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Expected here: a name, TABLE, FUNCTION or QUERY."},
    {"SET a b = c", 1, 1, FM_INVALID, "INVALID_SET_SYNTAX",
     "Expected format is 'SET', 'SET key', or 'SET key=value'. If you want"},
    {"SELECT 1; SELECT 2", 1, 11, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "Syntax error: one statement is taken here, and another one begins."},
    {"SELECT 1 SELECT 2", 1, 17, FM_INVALID, "PARSE_SYNTAX_ERROR",
     "The SELECT before it was taken as a name: is a ';' or UNION ALL missing in front of it?"},
    {"", 1, 1, FM_INVALID, "PARSE_EMPTY_STATEMENT", "empty statement"},
    {" ; -- x", 1, 1, FM_INVALID, "PARSE_EMPTY_STATEMENT", "empty statement"},
    {"SELECT a\nFROM t\n  WHRE b = 1", 3, 8, FM_INVALID, "PARSE_SYNTAX_ERROR", "WHERE instead of 'WHRE'"},
    {"SELECT 'x\ty',\n\t1 2", 2, 4, FM_INVALID, "PARSE_SYNTAX_ERROR", "\n\n  \t1 2\n  \t  ^"},
    {"SELECT 'äöü' 1", 1, 14, FM_INVALID, "PARSE_SYNTAX_ERROR", "\n  SELECT 'äöü' 1\n               ^"},
    {"SELECT \xFF", 1, 8, FM_INVALID, "FLOODMARK_SQL_NOT_UTF8", "byte 8"},
    {"SELECT 'a\xE2\x82", 1, 10, FM_INVALID, "FLOODMARK_SQL_NOT_UTF8", "byte 10"},
    {"SELECT a\xC2\xA0" "b c", 1, 12, FM_INVALID, "PARSE_SYNTAX_ERROR", "'c'"}, /* U+00A0 is a blank */
};

static void test_errors(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan = NULL;
        fm_status st = fm_sql_parse(arena, fm_str_c(cases[i].sql), &plan, &err);
        bool same = st == cases[i].status && err.line == cases[i].line && err.column == cases[i].column &&
                    strcmp(err.condition, cases[i].condition) == 0 && strstr(err.message, cases[i].says);
        if (!same) fail_msg("%s: %s %s %d:%d %s", cases[i].sql, fm_status_name(st), err.condition, err.line, err.column, err.message);
        fm_arena_free(arena);
    }
}

/* Texts of one part again and again, of 1 MB: they are taken or refused, soon, and nothing crashes. */
static void test_bombs(void **state)
{
    enum { SIZE = 1 << 20 };
    static const struct {
        const char *begin, *part, *end;
        fm_status status;
    } bombs[] = {
        {"SELECT ", "(", "", FM_LIMIT},
        {"SELECT ", "a + ", "a", FM_LIMIT},
        {"SELECT ", "a AND ", "a", FM_OK},
        {"SELECT ", "a OR ", "a", FM_OK},
        {"SELECT ", "NOT ", "a", FM_LIMIT},
        {"SELECT ", "- ", "a", FM_LIMIT},
        {"SELECT ", "!", "a", FM_LIMIT},
        {"SELECT ", "f(", "", FM_LIMIT},
        {"SELECT ", "trim(", "", FM_LIMIT},
        {"SELECT ", "CAST(", "", FM_LIMIT},
        {"SELECT ", "exists(", "", FM_LIMIT},
        {"SELECT ", "CASE WHEN ", "", FM_LIMIT},
        {"SELECT ", "(x, ", "", FM_LIMIT},
        {"SELECT a", "::int", "", FM_LIMIT},
        {"SELECT a", "[1]", "", FM_LIMIT},
        {"SELECT a", ".b", "", FM_LIMIT},
        {"SELECT f(x)", ".b", "", FM_LIMIT},
        {"SELECT f(", "x -> ", "", FM_INVALID},
        {"SELECT x::", "array<", "", FM_INVALID},
        {"SELECT ", "x::array<", "", FM_INVALID},
        {"SELECT ", "INTERVAL ", "", FM_INVALID},
        {"SELECT ", "INTERVAL 1 DAY + ", "a", FM_LIMIT},
        {"SELECT INTERVAL ", "1 DAY ", "", FM_OK},
        {"SELECT ", "'' ", "", FM_OK},
        {"SELECT ", "/*", "", FM_INVALID},
        {"SELECT ", "a, ", "a", FM_OK},
        {"SELECT a LIKE ANY (", "'x', ", "'y')", FM_OK},
        {"SELECT ", "a LIKE ANY (", "", FM_LIMIT},
        {"SELECT * FROM ", "(SELECT * FROM ", "t", FM_LIMIT},
        {"SELECT * FROM ", "(a JOIN ", "", FM_LIMIT},
        {"SELECT * FROM a", " JOIN a", "", FM_LIMIT},
        {"SELECT * FROM a", ", a", "", FM_LIMIT},
        {"SELECT 1", " UNION ALL SELECT 1", "", FM_OK},
        {"SELECT 1", " UNION SELECT 1", "", FM_LIMIT},
        {"SELECT 1", " LATERAL VIEW explode(a) b", "", FM_LIMIT},
        {"SELECT /*+ ", "a ", "*/ 1", FM_LIMIT},
        {"", "EXPLAIN ", "SELECT 1", FM_LIMIT},
        {"VALUES 1", ", 1", "", FM_OK},
        {"VALUES (1)", ",\n(1)", "", FM_OK},
        {"CREATE TABLE t (a ", "STRUCT<a ", "", FM_INVALID},
        {"CREATE TABLE t (a INT) USING json OPTIONS (a 'x'", ", b 'y'", ")", FM_INVALID},
        {"CREATE TABLE t (a INT) USING json OPTIONS (a", ".b", " 'x')", FM_LIMIT},
    };
    for (size_t i = 0; i < sizeof bombs / sizeof bombs[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        fm_strbuf text = {0};
        fm_strbuf_add_c(&text, bombs[i].begin);
        while (text.len < SIZE) fm_strbuf_add_c(&text, bombs[i].part);
        fm_strbuf_add_c(&text, bombs[i].end);
        fm_status st = fm_sql_parse(arena, fm_strbuf_str(&text), &plan, &err);
        if (st != bombs[i].status) fail_msg("%s%s...%s: %s %s", bombs[i].begin, bombs[i].part, bombs[i].end, fm_status_name(st), err.message);
        fm_strbuf_fini(&text);
        fm_arena_free(arena);
    }
}

/* x stands twice in what x BETWEEN a AND b becomes: nested, that would double each time. */
static void test_shared_parts_are_counted(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    fm_strbuf text = {0};

    fm_strbuf_add_c(&text, "SELECT ");
    for (int i = 0; i < 60; i++) fm_strbuf_add_char(&text, '(');
    fm_strbuf_add_char(&text, 'a');
    for (int i = 0; i < 60; i++) fm_strbuf_add_c(&text, " BETWEEN 0 AND 1)");
    assert_int_equal(fm_sql_parse(arena, fm_strbuf_str(&text), &plan, &err), FM_LIMIT);
    assert_string_equal(err.condition, "FLOODMARK_SQL_TOO_LARGE");
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
}

static void test_zero_bytes(void **state)
{
    static const char text[] = "SELECT 1;\nSELECT '\0'";
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan **plans;
    int32_t n;

    assert_int_equal(fm_sql_parse_script(arena, (fm_str){text, sizeof text - 1}, &plans, &n, &err), FM_INVALID);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 9);
    fm_arena_free(arena);
}

static void test_long_texts(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan, **plans;
    fm_strbuf text = {0};
    int32_t n;

    for (int i = 0; i < 20000; i++) fm_strbuf_add_c(&text, "SELECT 1;\n");
    assert_int_equal(fm_sql_parse_script(arena, fm_strbuf_str(&text), &plans, &n, &err), FM_OK);
    assert_int_equal(n, 20000);
    assert_int_equal(plans[n - 1]->pos.line, 20000);
    while (text.len <= FM_SQL_TEXT_SIZE_MAX) fm_strbuf_add_c(&text, "                                                                ");
    assert_int_equal(fm_sql_parse(arena, fm_strbuf_str(&text), &plan, &err), FM_LIMIT);
    assert_string_equal(err.condition, "FLOODMARK_SQL_TOO_LONG");
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
}

/* Every prefix of a statement, and every statement with one byte changed, gives a plan or an error. */
static void test_damaged_texts(void **state)
{
    static const char text[] = "WITH a AS (SELECT CAST(b AS ARRAY<INT>), 'x''\\u00e4', INTERVAL '1:30' HOUR TO MINUTE, c::decimal(3, 1) FROM STREAM t "
                               "WITH (k = 'v') WATERMARK ts DELAY OF INTERVAL 1 DAY x JOIN (u JOIN v) USING (y) WHERE NOT a BETWEEN 1 AND 2 GROUP BY ALL) "
                               "SELECT /*+ H(1) */ f(x -> x.y[0], (p, q) -> 1e3) OVER w FROM a ORDER BY 1 DESC NULLS LAST LIMIT 5 -- end";
    static const char bytes[] = "( )'`\"\\/*-+<>.,:;?1aE\n";

    for (size_t i = 0; i < sizeof text - 1; i++) {
        for (size_t k = 0; k < sizeof bytes; k++) {
            fm_arena *arena = fm_arena_new(0);
            fm_error err = FM_ERROR_INIT;
            fm_plan *plan = NULL;
            char changed[sizeof text];
            memcpy(changed, text, sizeof text);
            changed[i] = bytes[k]; /* the last is NUL: a prefix */
            fm_status st = fm_sql_parse(arena, (fm_str){changed, k == sizeof bytes - 1 ? i : sizeof text - 1}, &plan, &err);
            if (st == FM_OK ? !plan : err.message[0] == 0) fail_msg("byte %zu as %d: %s", i, bytes[k], fm_status_name(st));
            fm_arena_free(arena);
        }
    }
}

/* ---- ${...} ------------------------------------------------------------------------------------------------------------ */

static bool look_up(void *ctx, fm_str name, fm_str *value)
{
    (void)ctx;
    if (fm_str_eq(name, FM_STR("env:HOME"))) *value = FM_STR("/root");
    else if (fm_str_eq(name, FM_STR("day"))) *value = FM_STR("2026-01-01");
    else if (fm_str_eq(name, FM_STR("tick"))) *value = FM_STR("${day}");
    else if (fm_str_eq(name, FM_STR("none"))) *value = FM_STR("");
    else return false;
    return true;
}

static void test_variables(void **state)
{
    static const struct {
        const char *text, *made;
    } good[] = {
        {"", ""},
        {"SELECT 1", "SELECT 1"},
        {"SELECT '${day}', ${ day }", "SELECT '2026-01-01', 2026-01-01"},
        {"PATH '${env:HOME}/x' -- ${nope}\n, '-- ${day}', \"${day}\" /* ${nope} */ `${day}`",
         "PATH '/root/x' -- ${nope}\n, '-- 2026-01-01', \"2026-01-01\" /* ${nope} */ `2026-01-01`"},
        {"a${none}b ${tick} $ {day} $1", "ab ${day} $ {day} $1"},
        {"t_${day}", "t_2026-01-01"},
        {"${day}${day}", "2026-01-012026-01-01"},
        {"r'${day}' 'open ${day}", "r'2026-01-01' 'open 2026-01-01"},
    };
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } bad[] = {
        {"SELECT\n '${nope}'", 2, 3, "${nope}"},
        {"${env:NOPE}", 1, 1, "environment has no variable NOPE"},
        {"a ${day\n}", 1, 3, "no }"},
        {"'${'", 1, 2, "no }"},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_str made;
        if (fm_sql_substitute(arena, fm_str_c(good[i].text), look_up, NULL, &made, &err) != FM_OK) fail_msg("%s: %s", good[i].text, err.message);
        assert_string_equal(made.ptr, good[i].made);
        fm_arena_free(arena);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_str made;
        assert_int_equal(fm_sql_substitute(arena, fm_str_c(bad[i].text), look_up, NULL, &made, &err), FM_INVALID);
        bool same = err.line == bad[i].line && err.column == bad[i].column && strstr(err.message, bad[i].says);
        if (!same) fail_msg("%s: %d:%d %s", bad[i].text, err.line, err.column, err.message);
        fm_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_shared_parts_are_counted),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_damaged_texts),
        cmocka_unit_test(test_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
