/* sql/lexer.re: the shapes of words, by re2c.
 *
 * The text ends with a NUL, which stands in no word, so that no rule runs past the end. It is valid UTF-8: a byte
 * from 0xC2 up begins a letter, with the exception of blanks and of U+2000..U+207F, where typographic quotes and
 * dashes are. Rule: Spark, SqlBaseLexer. */
#include "sql/lexer.h"

/* Skips a comment that may hold others; p stands behind its opening. NULL: it never ends. */
static const char *skip_comment(const char *p, const char *end)
{
    int depth = 1;

    while (p + 1 < end) {
        if (p[0] == '*' && p[1] == '/') {
            p += 2;
            if (--depth == 0) return p;
        } else if (p[0] == '/' && p[1] == '*') {
            p += 2;
            depth++;
        } else {
            p++;
        }
    }
    return NULL;
}

static bool goes_on(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

fm_lex fm_lex_next(const char *text, size_t len, size_t *at, size_t *from)
{
    const char *YYCURSOR = text + *at, *YYMARKER = YYCURSOR, *end = text + len, *begin;

#define FM_LEX_GIVE(kind)                \
    do {                                 \
        *from = (size_t)(begin - text);  \
        *at = (size_t)(YYCURSOR - text); \
        return kind;                     \
    } while (0)
/* A number that runs into letters is none; ".1st" is a point and the name 1st. */
#define FM_LEX_GIVE_NUMBER(kind)                                          \
    do {                                                                  \
        if (!goes_on(*YYCURSOR)) FM_LEX_GIVE(kind);                       \
        if (*begin == '.') {                                              \
            YYCURSOR = begin + 1;                                         \
            FM_LEX_GIVE(FM_LEX_SYMBOL);                                   \
        }                                                                 \
        while (goes_on(*YYCURSOR)) YYCURSOR++;                            \
        FM_LEX_GIVE(FM_LEX_BAD_NUMBER);                                   \
    } while (0)
next:
    begin = YYCURSOR;
    /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    re2c:indent:top = 1;

    cont = [\x80-\xBF];
    blank = [ \t\r\n\f\v] | "\xC2" [\x85\xA0] | "\xE1\x9A\x80" | "\xE2\x80" [\x80-\x8A\xA8\xA9\xAF] | "\xE2\x81\x9F"
        | "\xE3\x80\x80" | "\xEF\xBB\xBF";
    wide = "\xC2" [\x80-\x84\x86-\x9F\xA1-\xBF] | [\xC3-\xDF] cont
        | "\xE0" cont cont | "\xE1" ([\x80-\x99\x9B-\xBF] cont | "\x9A" [\x81-\xBF]) | "\xE2" [\x82-\xBF] cont
        | "\xE3" ([\x81-\xBF] cont | "\x80" [\x81-\xBF]) | [\xE4-\xEE] cont cont
        | "\xEF" ([\x80-\xBA\xBC-\xBF] cont | "\xBB" [\x80-\xBE]) | [\xF0-\xF4] cont cont cont;
    digit = [0-9];
    letter = [a-zA-Z_] | wide;
    number = digit+ "." digit* | "." digit+;
    exponent = [eE] [+-]? digit+;

    blank+ { goto next; }
    "--" ("\\\n" | [^\r\n\x00])* { goto next; }
    "/*+" { FM_LEX_GIVE(FM_LEX_HINT_BEGIN); }
    "*" "/" { FM_LEX_GIVE(FM_LEX_HINT_END); }
    "/*" {
        const char *after = skip_comment(YYCURSOR, end);
        if (!after) { YYCURSOR = end; FM_LEX_GIVE(FM_LEX_OPEN_COMMENT); }
        YYCURSOR = after;
        goto next;
    }
    [rR] "'" [^'\x00]* "'" { FM_LEX_GIVE(FM_LEX_RAW_STRING); }
    [rR] '"' [^"\x00]* '"' { FM_LEX_GIVE(FM_LEX_RAW_STRING); }
    "'" ([^'\\\x00] | "\\" [^\x00] | "''")* "'" { FM_LEX_GIVE(FM_LEX_STRING); }
    '"' ([^"\\\x00] | "\\" [^\x00] | '""')* '"' { FM_LEX_GIVE(FM_LEX_STRING); }
    "'" | '"' { FM_LEX_GIVE(FM_LEX_OPEN_STRING); }
    "`" ([^`\x00] | "``")* "`" { FM_LEX_GIVE(FM_LEX_BACKTICK); }
    "`" { FM_LEX_GIVE(FM_LEX_OPEN_BACKTICK); }
    digit+ [LlSsYy]? { FM_LEX_GIVE(FM_LEX_INTEGER); }
    number { FM_LEX_GIVE_NUMBER(FM_LEX_NUMBER); }
    (digit+ | number) exponent { FM_LEX_GIVE_NUMBER(FM_LEX_NUMBER); }
    (digit+ | number) exponent? ([dDfF] | [bB][dD]) { FM_LEX_GIVE_NUMBER(FM_LEX_NUMBER); }
    digit+ letter (letter | digit)* { FM_LEX_GIVE(FM_LEX_WORD); }
    letter (letter | digit)* { FM_LEX_GIVE(FM_LEX_WORD); }
    "<=>" | "<>" | "!=" | "<=" | ">=" | "==" | "||" | "->" | "=>" | "::" | "<<" | "|>" { FM_LEX_GIVE(FM_LEX_SYMBOL); }
    [-+*/%&|^~!=<>(),.;:[\]?] { FM_LEX_GIVE(FM_LEX_SYMBOL); }
    "\x00" {
        YYCURSOR--;
        if (YYCURSOR >= end) FM_LEX_GIVE(FM_LEX_END);
        YYCURSOR++;
        FM_LEX_GIVE(FM_LEX_ERROR);
    }
    "\xE2" cont cont { FM_LEX_GIVE(FM_LEX_ERROR); }
    * { FM_LEX_GIVE(FM_LEX_ERROR); }
    */
#undef FM_LEX_GIVE
#undef FM_LEX_GIVE_NUMBER
}
