/* sql/lexer.h: one word at a time. */
#ifndef FM_SQL_LEXER_H
#define FM_SQL_LEXER_H

#include "base/str.h"

/* What the lexer alone can tell; token.c makes grammar tokens of it. */
typedef enum fm_lex {
    FM_LEX_END, FM_LEX_ERROR, FM_LEX_WORD, FM_LEX_BACKTICK, FM_LEX_STRING, FM_LEX_RAW_STRING, FM_LEX_HEX, FM_LEX_INTEGER,
    FM_LEX_DECIMAL, FM_LEX_EXPONENT, FM_LEX_SYMBOL, FM_LEX_HINT_BEGIN, FM_LEX_HINT_END, FM_LEX_OPEN_COMMENT,
    FM_LEX_OPEN_STRING
} fm_lex;

/* The next word at *at; text ends with a NUL at text[len]. *from and *at are its ends. */
fm_lex fm_lex_next(const char *text, size_t len, size_t *at, size_t *from);

#endif
