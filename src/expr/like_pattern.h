/* expr/like_pattern.h: the patterns of LIKE, without a regular expression. */
#ifndef FM_EXPR_LIKE_PATTERN_H
#define FM_EXPR_LIKE_PATTERN_H

#include "base/arena.h"

typedef struct fm_like fm_like;

/* escape  the code point that takes the meaning of '%' and '_' and of itself
 * out     immutable, in arena
 * errors  FM_INVALID, INVALID_FORMAT.ESC_AT_THE_END, INVALID_FORMAT.ESC_IN_THE_MIDDLE */
fm_status fm_like_compile(fm_arena *arena, fm_str pattern, uint32_t escape, const fm_like **out, fm_error *err);
/* '%' is any characters, '_' is one; the pattern has to take the whole text. */
bool fm_like_matches(const fm_like *like, fm_str text);

#endif
