/* format/formats.c: the table of formats. */
#include "format/formats.h"

#include "format/lines.h"

static const fm_format *const formats[] = {
    &fm_format_csv,
    &fm_format_json,
    &fm_format_parquet,
    &fm_format_text,
};

const fm_format *const *fm_formats(int *n)
{
    *n = (int)(sizeof formats / sizeof formats[0]);
    return formats;
}

const fm_format *fm_format_find(fm_str name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(formats[i]->name))) return formats[i];
    return NULL;
}

fm_status fm_format_options(const fm_format *format, const fm_options *options, const fm_options *session, fm_arena *arena,
                            const fm_options **out, fm_error *err)
{
    fm_options *all = NULL;

    *out = options;
    for (const char *const *pair = format->session_options; session && pair && *pair; pair += 2) {
        const fm_option *set = fm_options_find(session, pair[0]);
        if (!set || fm_options_find(options, pair[1])) continue;
        if (!all) {
            all = fm_arena_one(arena, fm_options);
            for (int32_t i = 0; all && i < options->n; i++)
                if (!fm_options_set(arena, all, options->items[i].key, options->items[i].value)) return fm_no_memory(arena, err);
        }
        if (!all || !fm_options_set(arena, all, fm_str_c(pair[1]), set->value)) return fm_no_memory(arena, err);
        *out = all;
    }
    return FM_OK;
}

size_t fm_lines_whole(fm_str sep, const char *bytes, size_t len)
{
    if (sep.len > 0) {
        for (size_t at = len >= sep.len ? len - sep.len + 1 : 0; at-- > 0;)
            if (memcmp(bytes + at, sep.ptr, sep.len) == 0) return at + sep.len;
        return 0;
    }
    const char *nl = memrchr(bytes, '\n', len);
    if (nl) return (size_t)(nl - bytes) + 1;
    /* A file with \r alone; the very last byte may be the first half of \r\n. */
    const char *cr = len > 1 ? memrchr(bytes, '\r', len - 1) : NULL;
    return cr ? (size_t)(cr - bytes) + 1 : 0;
}

int64_t fm_lines_count(fm_str sep, const char *bytes, size_t len)
{
    fm_lines lines = {bytes, bytes + len, sep};
    fm_str line;
    int64_t n = 0;

    while (fm_lines_next(&lines, &line))
        if (line.ptr + line.len < bytes + len) n++; /* else it goes on behind them */
    return n;
}
