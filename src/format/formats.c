/* format/formats.c: the table of formats. */
#include "format/formats.h"

#include "format/lines.h"

static const fm_format *const formats[] = {
    &fm_format_csv,
    &fm_format_json,
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
