/* sql/lexer.re: the shapes of words, by re2c. The text ends with a NUL, which stands in no word. */
#include "sql/lexer.h"

/* Skips a comment that may hold others; cursor stands behind its opening. NULL: it never ends. */
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

fm_lex fm_lex_next(const char *text, size_t len, size_t *at, size_t *from)
{
    const char *YYCURSOR = text + *at, *YYMARKER = YYCURSOR, *end = text + len, *begin;

#define FM_LEX_GIVE(kind)                      \
    do {                                       \
        *from = (size_t)(begin - text);        \
        *at = (size_t)(YYCURSOR - text);       \
        return kind;                           \
    } while (0)
next:
    begin = YYCURSOR;
    /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:yyfill:enable = 0;
    re2c:indent:top = 1;

    blank = [ \t\r\n\f\v];
    digit = [0-9];
    letter = [a-zA-Z_\x80-\xff];
    exponent = [eE] [+-]? digit+;
    suffix = "L" | "l" | "S" | "s" | "Y" | "y";

    blank+ { goto next; }
    "--" [^\n\x00]* { goto next; }
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
    [xX] "'" [0-9a-fA-F]* "'" { FM_LEX_GIVE(FM_LEX_HEX); }
    "'" ([^'\\\x00] | "\\" [^\x00] | "''")* "'" { FM_LEX_GIVE(FM_LEX_STRING); }
    '"' ([^"\\\x00] | "\\" [^\x00] | '""')* '"' { FM_LEX_GIVE(FM_LEX_STRING); }
    "'" | '"' { FM_LEX_GIVE(FM_LEX_OPEN_STRING); }
    "`" ([^`\x00] | "``")* "`" { FM_LEX_GIVE(FM_LEX_BACKTICK); }
    digit+ suffix? { FM_LEX_GIVE(FM_LEX_INTEGER); }
    (digit+ "." digit* | "." digit+) { FM_LEX_GIVE(FM_LEX_DECIMAL); }
    (digit+ | digit+ "." digit* | "." digit+) exponent { FM_LEX_GIVE(FM_LEX_EXPONENT); }
    (digit+ | digit+ "." digit* | "." digit+) exponent? ([dDfF] | [bB][dD]) { FM_LEX_GIVE(FM_LEX_EXPONENT); }
    digit+ letter (letter | digit)* { FM_LEX_GIVE(FM_LEX_WORD); }
    letter (letter | digit)* { FM_LEX_GIVE(FM_LEX_WORD); }
    "<=>" | "<>" | "!=" | "<=" | ">=" | "==" | "||" | "->" | "=>" | "::" | ">>>" | "<<" { FM_LEX_GIVE(FM_LEX_SYMBOL); }
    [-+*/%&|^~!=<>(),.;:[\]{}?@#$\\] { FM_LEX_GIVE(FM_LEX_SYMBOL); }
    "\x00" {
        YYCURSOR--;
        FM_LEX_GIVE(YYCURSOR >= end ? FM_LEX_END : FM_LEX_ERROR);
    }
    * { FM_LEX_GIVE(FM_LEX_ERROR); }
    */
#undef FM_LEX_GIVE
}
