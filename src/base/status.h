/* base/status.h: what a function that can fail gives back, and the error a person reads.
 *
 * The status says what the caller can do about it; the error says what happened, once, in the words
 * of the place that knew. Callers add where they were with fm_context; only the top prints it. */
#ifndef FM_BASE_STATUS_H
#define FM_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum fm_status {
    FM_OK = 0,
    FM_INVALID,     /* the user's query, option or data is wrong: tell the user */
    FM_UNSUPPORTED, /* right, but not built: tell the user */
    FM_NOT_FOUND,   /* carry on without it */
    FM_CONFLICT,    /* somebody else wrote: read again */
    FM_UNAVAILABLE, /* I/O failed or a peer is away: back off and retry, or give up */
    FM_LIMIT,       /* out of memory budget or over a bound of base/limits.h: give up the query */
    FM_CORRUPT,     /* bytes on disk are not what we wrote: give up the query */
    FM_CANCELLED    /* asked to stop */
} fm_status;

enum { FM_ERROR_MESSAGE_SIZE = 2048, FM_ERROR_CONDITION_SIZE = 96 };

/* One failure. The caller owns the struct (zero it, or FM_ERROR_INIT); no allocation inside.
 *
 * condition  Spark's error condition where it has one ("UNRESOLVED_COLUMN.WITH_SUGGESTION"), else
 *            one of ours (FLOODMARK_...); never empty after a failure
 * line, column  1-based place in the SQL text; 0 when the error has no such place */
typedef struct fm_error {
    fm_status status;
    int32_t line, column;
    char condition[FM_ERROR_CONDITION_SIZE];
    char message[FM_ERROR_MESSAGE_SIZE]; /* UTF-8, one or more lines, no newline at the end */
} fm_error;

#define FM_ERROR_INIT {.status = FM_OK}

/* Sets *err (which may be NULL) and returns st. A message that does not fit is cut at a character
 * boundary. An error that is already set is replaced: the first failure must not be called twice. */
fm_status fm_fail(fm_error *err, fm_status st, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* As fm_fail, with a place in the SQL text. */
fm_status fm_fail_at(fm_error *err, fm_status st, const char *condition, int32_t line,
                     int32_t column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Appends " (while <format>)" to the message when st is a failure. Returns st; FM_OK passes through. */
fm_status fm_context(fm_error *err, fm_status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives a failure that has no place in the SQL text this one; a failure that has one keeps it. Returns st; FM_OK passes through. */
fm_status fm_error_at(fm_error *err, fm_status st, int32_t line, int32_t column);

/* The name of a status, for logs: "FM_INVALID". */
const char *fm_status_name(fm_status st);

/* Returns early on failure. For functions that own nothing but arena memory. */
#define FM_TRY(expr)                         \
    do {                                     \
        fm_status fm_try_st = (expr);        \
        if (fm_try_st != FM_OK) return fm_try_st; \
    } while (0)

/* Stays on in release builds. A failed assertion prints the fact and aborts. Never on input. */
#define fm_assert(fact) ((fact) ? (void)0 : fm_assert_failed(#fact, __FILE__, __LINE__))
_Noreturn void fm_assert_failed(const char *fact, const char *file, int line);

#endif
