/* table/file_uri.c: file URIs to paths and back. */
#include "table/file_uri.h"

#include "format/utf8.h"

static bool is_quoted(unsigned char c)
{
    return c <= ' ' || c == 0x7F || strchr("%\"<>#?[\\]^`{|}", c) != NULL;
}

void fm_uri_quote(fm_str path, fm_strbuf *out)
{
    const unsigned char *p = (const unsigned char *)path.ptr, *end = p + path.len;

    while (p < end) {
        int n = fm_utf8_char_len(p, end);
        if (n == 0 || is_quoted(*p)) {
            fm_strbuf_printf(out, "%%%02X", *p++);
            continue;
        }
        fm_strbuf_add(out, (fm_str){(const char *)p, (size_t)n});
        p += n;
    }
}

void fm_file_uri(fm_str path, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "file://");
    fm_uri_quote(path, out);
}

/* Length of a scheme with its ':', or 0. */
static size_t scheme_len(fm_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool more = (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
        if (c == ':') return i > 1 ? i + 1 : 0;
        if (!letter && !(more && i > 0)) return 0;
    }
    return 0;
}

/* The path behind the scheme and the host of this machine. */
static fm_status without_scheme(fm_str text, fm_str *out, bool *is_uri, fm_error *err)
{
    size_t n = scheme_len(text);

    *is_uri = n > 0;
    *out = text;
    if (n == 0) return FM_OK;
    if (!fm_str_eq_ci((fm_str){text.ptr, n}, FM_STR("file:")))
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_FILE_SYSTEM",
                       "Path '%.*s': only files of this machine are read and written. Use a plain "
                       "path or file:///.",
                       FM_STR_ARG(text));
    fm_str rest = {text.ptr + n, text.len - n};
    if (fm_str_starts(rest, FM_STR("//localhost/")))
        rest = (fm_str){rest.ptr + 11, rest.len - 11};
    else if (fm_str_starts(rest, FM_STR("///")))
        rest = (fm_str){rest.ptr + 2, rest.len - 2};
    *out = rest;
    return FM_OK;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

fm_status fm_user_path(fm_arena *arena, fm_str text, fm_str *out, fm_error *err)
{
    bool is_uri;

    FM_TRY(without_scheme(text, &text, &is_uri, err));
    *out = fm_arena_str(arena, text);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_file_path(fm_arena *arena, fm_str uri, fm_str *out, fm_error *err)
{
    bool is_uri;
    size_t n = 0;

    FM_TRY(without_scheme(uri, &uri, &is_uri, err));
    fm_str copy = fm_arena_str(arena, uri);
    if (!copy.ptr) return fm_no_memory(arena, err);
    char *text = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < copy.len; i++) {
        int high = -1, low = -1;
        if (is_uri && text[i] == '%' && copy.len - i > 2) {
            high = hex_value(text[i + 1]);
            low = hex_value(text[i + 2]);
        }
        if (high < 0 || low < 0) {
            text[n++] = text[i];
            continue;
        }
        text[n++] = (char)(high * 16 + low);
        i += 2;
    }
    text[n] = 0;
    *out = (fm_str){text, n};
    return FM_OK;
}
