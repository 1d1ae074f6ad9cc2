/* source/transcode.h: text in other encodings -> UTF-8, as it is read. What is no text becomes U+FFFD. */
#ifndef FM_SOURCE_TRANSCODE_H
#define FM_SOURCE_TRANSCODE_H

#include "base/arena.h"

typedef struct fm_transcoder fm_transcoder;

/* encoding: by its usual name, any case. FM_UNSUPPORTED when ICU does not know it. */
fm_status fm_transcoder_new(fm_str encoding, fm_transcoder **out, fm_error *err);
void fm_transcoder_free(fm_transcoder *t); /* accepts NULL */
/* Takes bytes from `in`, appends UTF-8 to out[size]; moves *used and *got on by what was taken and made. flush: no bytes follow
 * `in`. Done with all of it when *used is len and *got is below size. */
fm_status fm_transcoder_run(fm_transcoder *t, const char *in, size_t len, size_t *used, char *out, size_t size, size_t *got,
                            bool flush, fm_error *err);

#endif
