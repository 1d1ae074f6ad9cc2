/* sql/keyword.h: the words that mean something to the grammar. None is reserved: see the %fallback of grammar.y. */
#ifndef FM_SQL_KEYWORD_H
#define FM_SQL_KEYWORD_H

#include "base/str.h"

typedef struct fm_keyword {
    const char *word; /* upper case */
    int kind;         /* FM_TK_* */
} fm_keyword;

/* By its text, any case; FM_TK_ID for other words. */
int fm_keyword_kind(fm_str word);
/* The whole table, sorted by word. */
const fm_keyword *fm_keywords(int *n);

#endif
