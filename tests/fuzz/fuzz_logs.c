/* tests/fuzz/fuzz_logs.c: entries of the offset and commit logs. What is read must read the same when printed. */
#include "fuzz.h"
#include "stream/commit_log.h"
#include "stream/offset_log.h"

static void check_same(const fm_offsets *a, const fm_offsets *b)
{
    fm_assert(a->watermark_ms == b->watermark_ms && a->batch_time_ms == b->batch_time_ms);
    fm_assert(a->n_sources == b->n_sources && a->conf.n == b->conf.n);
    for (int32_t i = 0; i < a->n_sources; i++) fm_assert(fm_str_eq(a->ends[i], b->ends[i]));
    for (int32_t i = 0; i < a->conf.n; i++) fm_assert(fm_str_eq(a->conf.items[i].value, b->conf.items[i].value));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_arena *arena = fm_arena_new((size_t)256 << 20);
    /* As files are read: with a NUL behind the text. */
    fm_str text = fm_arena_str(arena, (fm_str){(const char *)bytes, size});
    fm_offsets offsets, again;
    fm_strbuf printed = {0};
    fm_commit commit;
    fm_error err = FM_ERROR_INIT;

    if (fm_offsets_parse(text, arena, &offsets, &err) == FM_OK) {
        fm_offsets_print(&offsets, &printed);
        fm_assert(fm_offsets_parse(fm_strbuf_str(&printed), arena, &again, &err) == FM_OK);
        check_same(&offsets, &again);
    }
    fm_commit_parse(text, arena, &commit, &err);
    fm_strbuf_fini(&printed);
    fm_arena_free(arena);
    return 0;
}
