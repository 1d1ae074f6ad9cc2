/* source/transcode.c: ICU's converters, from one piece of text to the next. */
#include "source/transcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <unicode/ucnv.h>

enum { PIVOT_UNITS = 1024 }; /* UTF-16 units between the two converters */

struct fm_transcoder {
    UConverter *from, *to;
    bool started;
    UChar pivot[PIVOT_UNITS], *pivot_from, *pivot_to;
};

fm_status fm_transcoder_new(fm_str encoding, fm_transcoder **out, fm_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    fm_transcoder *t = calloc(1, sizeof *t);
    char name[64];

    if (!t) return fm_no_memory(NULL, err);
    snprintf(name, sizeof name, "%.*s", FM_STR_ARG(encoding));
    t->from = ucnv_open(name, &code);
    t->to = ucnv_open("UTF-8", &code);
    if (U_FAILURE(code)) {
        fm_transcoder_free(t);
        return fm_fail(err, FM_UNSUPPORTED, "INVALID_PARAMETER_VALUE.CHARSET", "Option encoding '%s' is not known here.", name);
    }
    t->pivot_from = t->pivot_to = t->pivot;
    *out = t;
    return FM_OK;
}

void fm_transcoder_free(fm_transcoder *t)
{
    if (!t) return;
    if (t->from) ucnv_close(t->from);
    if (t->to) ucnv_close(t->to);
    free(t);
}

fm_status fm_transcoder_run(fm_transcoder *t, const char *in, size_t len, size_t *used, char *out, size_t size, size_t *got,
                            bool flush, fm_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    const char *source = in + *used;
    char *target = out + *got;

    ucnv_convertEx(t->to, t->from, &target, out + size, &source, in + len, t->pivot, &t->pivot_from, &t->pivot_to,
                   t->pivot + PIVOT_UNITS, !t->started, flush, &code);
    t->started = true;
    *used = (size_t)(source - in);
    *got = (size_t)(target - out);
    if (code == U_BUFFER_OVERFLOW_ERROR || U_SUCCESS(code)) return FM_OK;
    return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT", "The text cannot be converted to UTF-8: %s.", u_errorName(code));
}
