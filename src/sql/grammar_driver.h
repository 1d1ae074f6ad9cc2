/* sql/grammar_driver.h: feeding tokens to the grammar that Lemon made. */
#ifndef FM_SQL_GRAMMAR_DRIVER_H
#define FM_SQL_GRAMMAR_DRIVER_H

#include "grammar.h" /* FM_TK_*: made by Lemon */
#include "sql/build.h"

/* Runs p->tokens through; p->result or p->result_expr is set on FM_OK. */
fm_status fm_grammar_run(fm_parse *p, bool just_expr);
/* The token kind of a keyword, by its text; 0: none. */
int fm_keyword_kind(const char *word);

#endif
