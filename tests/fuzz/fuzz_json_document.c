/* tests/fuzz/fuzz_json_document.c: the reader of whole JSON documents, and paths into them. */
#include "format/json.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_arena *arena = fm_arena_new((size_t)256 << 20);
    fm_str text = {(const char *)bytes, size};
    const fm_json *document;
    const fm_json_path *path;
    fm_strbuf out = {0};
    fm_error err = FM_ERROR_INIT;

    fm_assert(fm_json_read(arena, text, &document, &err) == FM_OK || err.message[0]);
    /* Up to the first newline: a path; behind it: what it looks into. */
    const char *line = size ? memchr(bytes, '\n', size) : NULL;
    size_t path_len = line ? (size_t)(line - text.ptr) : 0;
    if (line && fm_json_path_new(arena, (fm_str){text.ptr, path_len}, &path, &err) == FM_OK && path)
        fm_json_path_get(path, (fm_str){line + 1, size - path_len - 1}, &out);
    fm_strbuf_fini(&out);
    fm_arena_free(arena);
    return 0;
}
