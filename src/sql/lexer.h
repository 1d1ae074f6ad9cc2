/* sql/lexer.h: one word at a time. */
#ifndef FM_SQL_LEXER_H
#define FM_SQL_LEXER_H

#include "base/str.h"

/* What the lexer alone can tell; token.c makes tokens of the grammar of it. */
typedef enum fm_lex {
    FM_LEX_END,
    FM_LEX_ERROR,        /* a character that is not part of SQL, one code point */
    FM_LEX_WORD,         /* a keyword or a name; may begin with a digit: 1st_table */
    FM_LEX_BACKTICK,
    FM_LEX_STRING,       /* '...' or "..." */
    FM_LEX_RAW_STRING,   /* r'...' */
    FM_LEX_INTEGER,      /* 12, 12L, 12S, 12Y */
    FM_LEX_NUMBER,       /* 1.5, 1e3, 1D, 1.5F, 1BD */
    FM_LEX_BAD_NUMBER,   /* 1.5x */
    FM_LEX_SYMBOL,
    FM_LEX_HINT_BEGIN,
    FM_LEX_HINT_END,
    FM_LEX_OPEN_COMMENT, /* these three never end */
    FM_LEX_OPEN_STRING,
    FM_LEX_OPEN_BACKTICK
} fm_lex;

/* The next word at *at; text is UTF-8 with a NUL at text[len]. *from and *at become its ends. Blanks and comments
 * are left out. */
fm_lex fm_lex_next(const char *text, size_t len, size_t *at, size_t *from);

#endif
