/* sql/source_text.h: places in SQL text, and errors that show them. */
#ifndef FM_SQL_SOURCE_TEXT_H
#define FM_SQL_SOURCE_TEXT_H

#include "expr/expr.h"

/* Counts lines and columns (code points) up to places that only move on: a text is counted once, not once a word. */
typedef struct fm_place_counter {
    fm_str text;
    int32_t line, column; /* of byte `at`; zero: not begun */
    size_t at;
} fm_place_counter;

fm_pos fm_place(fm_place_counter *counter, size_t from, size_t to);
/* The same for a single place. */
fm_pos fm_text_pos(fm_str text, size_t from, size_t to);

/* As fm_fail_at, and the message ends with the place, the line of the text and a mark under it:
 *
 *     Syntax error at or near 'SELEC'. Did you mean SELECT? (line 1, column 1)
 *
 *       SELEC k FROM t
 *       ^^^^^
 */
fm_status fm_sql_fail(fm_str text, fm_pos pos, fm_error *err, fm_status st, const char *condition, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* FM_INVALID, naming the byte, when text is not UTF-8. */
fm_status fm_text_check_utf8(fm_str text, fm_error *err);

#endif
