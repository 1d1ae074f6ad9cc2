/* table/path_uri.c: paths to URIs and back. */
#include "table/path_uri.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void add_percent(fm_strbuf *out, char c)
{
    static const char digits[] = "0123456789ABCDEF";

    fm_strbuf_add_char(out, '%');
    fm_strbuf_add_char(out, digits[(unsigned char)c >> 4]);
    fm_strbuf_add_char(out, digits[(unsigned char)c & 15]);
}

/* %41 -> A, in place or to a buffer as long as text. Returns the length. */
static size_t decode(fm_str text, char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < text.len; i++) {
        int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        if (low >= 0) i += 2;
        out[len++] = low >= 0 ? (char)(high * 16 + low) : text.ptr[i];
    }
    return len;
}

/* The scheme in front of a ':', or an empty text: letters, at least two (one is a drive). */
static fm_str scheme_of(fm_str text)
{
    size_t n = 0;

    while (n < text.len && ((text.ptr[n] >= 'a' && text.ptr[n] <= 'z') || (text.ptr[n] >= 'A' && text.ptr[n] <= 'Z') ||
                            (n && text.ptr[n] >= '0' && text.ptr[n] <= '9'))) {
        n++;
    }
    return (fm_str){text.ptr, n > 1 && n < text.len && text.ptr[n] == ':' ? n : 0};
}

/* file:/x, file:///x and file://localhost/x are /x. False: an authority we do not know. */
static bool strip_file(fm_str *text)
{
    fm_str rest = {text->ptr + 5, text->len - 5};

    if (fm_str_starts(rest, FM_STR("//"))) {
        rest = (fm_str){rest.ptr + 2, rest.len - 2};
        if (fm_str_starts(rest, FM_STR("localhost/"))) rest = (fm_str){rest.ptr + 9, rest.len - 9};
        if (rest.len == 0 || rest.ptr[0] != '/') return false;
    }
    *text = rest;
    return true;
}

fm_status fm_path_of_option(fm_fs *fs, fm_str text, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_str path = fm_str_trim(text), scheme = scheme_of(path);

    if (scheme.len && !fm_str_eq_ci(scheme, FM_STR("file"))) {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNKNOWN_FILE_SYSTEM",
                       "'%.*s': files of '%.*s:' cannot be reached; give a path on this machine.", FM_STR_ARG(text),
                       FM_STR_ARG(scheme));
    }
    if ((scheme.len && !strip_file(&path)) || path.len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_PATH",
                       "'%.*s' is no path; write a folder or file such as '/data/in' or 'file:///data/in'.",
                       FM_STR_ARG(text));
    }
    return fm_fs_absolute(fs, path, arena, out, err);
}

void fm_path_to_uri(fm_str path, fm_strbuf *out)
{
    fm_assert(path.len && path.ptr[0] == '/');
    fm_strbuf_add_c(out, "file://");
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if ((unsigned char)c <= ' ' || c == 0x7F || strchr("\"#%<>?[\\]^`{|}", c)) {
            add_percent(out, c);
        } else {
            fm_strbuf_add_char(out, c);
        }
    }
}

fm_status fm_path_of_uri(fm_str uri, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_str path = uri;
    bool is_file = fm_str_eq_ci(scheme_of(uri), FM_STR("file"));

    if ((is_file && !strip_file(&path)) || path.len == 0 || path.ptr[0] != '/') {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_PATH", "'%.*s' in a log of files is no path on this machine.",
                       FM_STR_ARG(uri));
    }
    fm_str copy = fm_arena_str(arena, path);
    if (!copy.ptr) return fm_no_memory(arena, err);
    char *bytes = (char *)(uintptr_t)copy.ptr;
    copy.len = decode(copy, bytes);
    bytes[copy.len] = 0;
    if (memchr(bytes, 0, copy.len)) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_PATH", "'%.*s' in a log of files holds a zero byte.", FM_STR_ARG(uri));
    }
    *out = copy;
    return FM_OK;
}

void fm_partition_escape(fm_str value, fm_strbuf *out)
{
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if ((unsigned char)c < ' ' || c == 0x7F || strchr("\"#%'*/:=?\\{[]^", c)) {
            add_percent(out, c);
        } else {
            fm_strbuf_add_char(out, c);
        }
    }
}

void fm_partition_unescape(fm_str text, fm_strbuf *out)
{
    if (!fm_strbuf_reserve(out, text.len + 1)) return;
    out->len += decode(text, out->ptr + out->len);
    out->ptr[out->len] = 0;
}
