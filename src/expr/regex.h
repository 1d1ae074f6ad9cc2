/* expr/regex.h: Java's regular expressions, matched by PCRE2; the only door to it.
 *
 * A compiled pattern is immutable: workers share it. What one thread needs while it matches is a fm_regex_run. Offsets are bytes
 * of the text that fm_regex_begin gives back. */
#ifndef FM_EXPR_REGEX_H
#define FM_EXPR_REGEX_H

#include "base/arena.h"

typedef struct fm_regex fm_regex;
typedef struct fm_regex_run fm_regex_run;

/* out     lives in memory of its own until fm_regex_free
 * errors  FM_INVALID, INVALID_PARAMETER_VALUE.PATTERN: no pattern for Java either; FM_UNSUPPORTED,
 *         FLOODMARK_PATTERN_NOT_SUPPORTED: PCRE2 cannot; FM_LIMIT. The message says only what is wrong with the pattern. */
fm_status fm_regex_compile(fm_str pattern, fm_regex **out, fm_error *err);
void fm_regex_free(fm_regex *regex); /* accepts NULL */
int32_t fm_regex_groups(const fm_regex *regex); /* capturing groups, the whole match not counted */
/* Number of a named group; 0: there is none. */
int32_t fm_regex_group_named(const fm_regex *regex, fm_str name);

/* regex outlives the run. */
fm_status fm_regex_run_new(const fm_regex *regex, fm_regex_run **out, fm_error *err);
void fm_regex_run_free(fm_regex_run *run); /* accepts NULL */

/* Sets the text to look in. Malformed UTF-8 in it becomes U+FFFD first, as Java reads it. Returns what is matched: `text`
 * itself, or a copy that lives until the next call. */
fm_status fm_regex_begin(fm_regex_run *run, fm_str text, fm_str *ready, fm_error *err);
/* The first match at or behind byte `from`, at a character's begin, <= the length. Anchors see the whole text.
 * errors  FM_LIMIT, FLOODMARK_PATTERN_TOO_COSTLY: FM_REGEX_STEPS_MAX steps and no answer */
fm_status fm_regex_find(fm_regex_run *run, size_t from, bool *found, fm_error *err);
/* Where group i of the last match lies, 0 the whole; false: it took no part, or is none. */
bool fm_regex_group(const fm_regex_run *run, int32_t i, size_t *start, size_t *end);
/* Where Java's find() goes on after the last match: its end, one character further when it was empty; beyond the length: no
 * more. */
size_t fm_regex_next(const fm_regex_run *run);

#endif
