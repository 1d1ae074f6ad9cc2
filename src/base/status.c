/* base/status.c: filling in an fm_error. */
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a UTF-8 text that filled its buffer back to the last whole character. */
static void cut_at_character(char *text, size_t size)
{
    size_t len = strnlen(text, size - 1);

    text[len] = 0;
    if (len + 1 < size) return;
    size_t at = len;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80) at--;
    if (at > 0 && (unsigned char)text[at - 1] >= 0xC0) text[at - 1] = 0;
}

static fm_status fail_v(fm_error *err, fm_status st, const char *condition, int32_t line,
                        int32_t column, const char *format, va_list args)
    __attribute__((format(printf, 6, 0)));

static fm_status fail_v(fm_error *err, fm_status st, const char *condition, int32_t line,
                        int32_t column, const char *format, va_list args)
{
    if (!err) return st;
    char message[FM_ERROR_MESSAGE_SIZE]; /* the arguments may point into err itself */
    vsnprintf(message, sizeof message, format, args);
    cut_at_character(message, sizeof message);
    char name[FM_ERROR_CONDITION_SIZE];
    snprintf(name, sizeof name, "%s", condition ? condition : "FLOODMARK_ERROR");
    memcpy(err->message, message, sizeof message);
    memcpy(err->condition, name, sizeof name);
    err->status = st;
    err->line = line;
    err->column = column;
    return st;
}

fm_status fm_fail(fm_error *err, fm_status st, const char *condition, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    st = fail_v(err, st, condition, 0, 0, format, args);
    va_end(args);
    return st;
}

fm_status fm_fail_at(fm_error *err, fm_status st, const char *condition, int32_t line,
                     int32_t column, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    st = fail_v(err, st, condition, line, column, format, args);
    va_end(args);
    return st;
}

fm_status fm_context(fm_error *err, fm_status st, const char *format, ...)
{
    if (st == FM_OK || !err) return st;
    char where[512];
    va_list args;

    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    cut_at_character(where, sizeof where);
    size_t len = strlen(err->message);
    snprintf(err->message + len, sizeof err->message - len, " (while %s)", where);
    cut_at_character(err->message, sizeof err->message);
    return st;
}

fm_status fm_error_at(fm_error *err, fm_status st, int32_t line, int32_t column)
{
    if (st == FM_OK || !err || err->line) return st;
    err->line = line;
    err->column = column;
    return st;
}

const char *fm_status_name(fm_status st)
{
    static const char *const names[] = {
        [FM_OK] = "FM_OK",
        [FM_INVALID] = "FM_INVALID",
        [FM_UNSUPPORTED] = "FM_UNSUPPORTED",
        [FM_NOT_FOUND] = "FM_NOT_FOUND",
        [FM_CONFLICT] = "FM_CONFLICT",
        [FM_UNAVAILABLE] = "FM_UNAVAILABLE",
        [FM_LIMIT] = "FM_LIMIT",
        [FM_CORRUPT] = "FM_CORRUPT",
        [FM_CANCELLED] = "FM_CANCELLED",
    };
    size_t n = sizeof names / sizeof names[0];

    return (size_t)st < n && names[st] ? names[st] : "unknown status";
}

_Noreturn void fm_assert_failed(const char *fact, const char *file, int line)
{
    fprintf(stderr, "floodmark: assertion failed: %s (%s:%d). This is a bug.\n", fact, file, line);
    abort();
}
