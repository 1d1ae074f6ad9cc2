/* table/delta/delta_path.c: paths in a log. */
#include "table/delta/delta_path.h"

#include "table/file_uri.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void fm_delta_path_decode(fm_str path, fm_strbuf *out)
{
    for (size_t i = 0; i < path.len; i++) {
        int high = -1, low = -1;
        if (path.ptr[i] == '%' && path.len - i > 2) {
            high = hex_digit(path.ptr[i + 1]);
            low = hex_digit(path.ptr[i + 2]);
        }
        if (high < 0 || low < 0) {
            fm_strbuf_add_char(out, path.ptr[i]);
            continue;
        }
        fm_strbuf_add_char(out, (char)(high * 16 + low));
        i += 2;
    }
}

void fm_delta_path_encode(fm_str path, fm_strbuf *out)
{
    fm_uri_quote(path, out);
}

/* Whether a part of the path is "..". */
static bool climbs(fm_str path)
{
    for (size_t i = 0; i < path.len;) {
        size_t end = i;
        while (end < path.len && path.ptr[end] != '/') end++;
        if (end - i == 2 && path.ptr[i] == '.' && path.ptr[i + 1] == '.') return true;
        i = end + 1;
    }
    return false;
}

static bool has_scheme(fm_str path)
{
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (c == ':') return i > 1;
        if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'))) return false;
    }
    return false;
}

/* Takes empty parts and "." out of a path from `from` on, so that one file has one path. */
static void simplify(fm_strbuf *text, size_t from)
{
    size_t to = from;

    for (size_t i = from; i < text->len;) {
        size_t end = i;
        while (end < text->len && text->ptr[end] != '/') end++;
        size_t len = end - i;
        bool drops = (len == 0 && i > from) || (len == 1 && text->ptr[i] == '.');
        if (!drops) {
            if (len) memmove(text->ptr + to, text->ptr + i, len);
            to += len;
            if (end < text->len) text->ptr[to++] = '/';
        }
        i = end + 1;
    }
    text->len = to;
}

fm_status fm_delta_path_resolve(fm_arena *arena, fm_str root, fm_str path, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st = FM_OK;

    if (has_scheme(path)) return fm_file_path(arena, path, out, err);
    bool relative = path.len == 0 || path.ptr[0] != '/';
    if (relative) {
        fm_strbuf_add(&text, root);
        fm_strbuf_add_char(&text, '/');
    }
    size_t from = text.len;
    fm_delta_path_decode(path, &text);
    if (fm_strbuf_ok(&text)) simplify(&text, from);
    if (!fm_strbuf_ok(&text)) {
        st = fm_no_memory(NULL, err);
    } else if (text.len == from || memchr(text.ptr, 0, text.len) || (relative && climbs((fm_str){text.ptr + from, text.len - from}))) {
        st = fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "The Delta log names a data file '%.*s', which is no path below the table.",
                     FM_STR_ARG(path));
    } else {
        *out = fm_arena_str(arena, fm_strbuf_str(&text));
        if (!out->ptr) st = fm_no_memory(arena, err);
    }
    fm_strbuf_fini(&text);
    return st;
}

static void escape(fm_str text, fm_strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ' || c == 0x7F || strchr("\"#%'*/:=?\\{[]^", c)) fm_strbuf_printf(out, "%%%02X", c);
        else fm_strbuf_add_char(out, (char)c);
    }
}

void fm_delta_partition_folder(fm_str name, fm_str value, fm_strbuf *out)
{
    escape(name, out);
    fm_strbuf_add_char(out, '=');
    if (value.len) escape(value, out);
    else fm_strbuf_add_c(out, "__HIVE_DEFAULT_PARTITION__");
}
