/* sql/quoted.h: what stands in quotes. */
#ifndef FM_SQL_QUOTED_H
#define FM_SQL_QUOTED_H

#include "base/arena.h"

/* The text of '...', "...", r'...' or `...`, whose source has its quotes. Two quotes stand for one; a backslash escapes
 * (not in r'...' and `...`). A copy in arena, NUL-terminated; {NULL, 0} when memory is out.
 * Rule: Spark, unescapeSQLString. */
fm_str fm_unquote(fm_arena *arena, fm_str source);

/* Bytes of hex digits, blanks not taken; an odd first digit stands alone. False: no hex digits. out in arena; a NULL ptr
 * when memory is out. */
bool fm_unhex(fm_arena *arena, fm_str digits, fm_str *out);

#endif
