/* sql/grammar_driver.h: feeding tokens to the grammar that Lemon made. */
#ifndef FM_SQL_GRAMMAR_DRIVER_H
#define FM_SQL_GRAMMAR_DRIVER_H

#include "grammar.h" /* FM_TK_*: made by Lemon */
#include "sql/build.h"

/* One run over the tokens of a statement. NULL: memory is out. */
typedef struct fm_grammar_run fm_grammar_run;
fm_grammar_run *fm_grammar_run_new(void);
void fm_grammar_run_free(fm_grammar_run *run); /* accepts NULL */
/* Takes one token more; the last has kind 0. False: p->status is set; p->unexpected tells a token that
 * cannot stand there from what a builder refused. */
bool fm_grammar_push(fm_grammar_run *run, fm_parse *p, const fm_token *token);
/* Whether the grammar would take a token of this kind next, as it is: a keyword not as a name. */
bool fm_grammar_takes(const fm_grammar_run *run, int kind);

#endif
