/* tests/fuzz/fuzz_infer.h: a schema from hostile text. What comes of it is not looked at: it must end, and in order. */
#ifndef FM_TESTS_FUZZ_INFER_H
#define FM_TESTS_FUZZ_INFER_H

#include "format/format.h"
#include "fuzz.h"

static inline void fuzz_infer(const fm_format *format, const fm_read_spec *spec, fm_str text, fm_arena *arena)
{
    fm_error err = FM_ERROR_INIT;
    fm_inferrer *inferrer;
    const fm_type *inferred;
    char *padded = fm_arena_buffer(arena, text.len, true);

    if (!padded || !format->infer_new || format->infer_new(arena, spec, &inferrer, &err) != FM_OK) return;
    if (text.len) memcpy(padded, text.ptr, text.len);
    fm_block block = {.bytes = padded, .len = text.len, .file = FM_STR("f")};
    if (format->infer_block(inferrer, &block, &err) == FM_OK) format->infer_finish(inferrer, arena, &inferred, &err);
    format->infer_free(inferrer);
}

#endif
