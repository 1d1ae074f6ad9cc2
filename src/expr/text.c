/* expr/text.c: text by characters; and the lanes of text results. */
#include "expr/text.h"

bool fm_text_is_ascii(fm_str text)
{
    unsigned char all = 0;
    for (size_t i = 0; i < text.len; i++) all |= (unsigned char)text.ptr[i];
    return all < 0x80;
}

/* Bytes at `at` that are well-formed, or begin a character that goes wrong after them; *ok says which. */
static size_t formed_size(fm_str text, size_t at, bool *ok)
{
    const unsigned char *p = (const unsigned char *)text.ptr + at;
    size_t n = fm_char_size(p[0]), left = text.len - at;
    unsigned char low = 0x80, high = 0xBF;
    *ok = p[0] < 0x80;
    if (n == 1) return 1;
    if (p[0] == 0xE0) low = 0xA0;
    if (p[0] == 0xED) high = 0x9F;
    if (p[0] == 0xF0) low = 0x90;
    if (p[0] == 0xF4) high = 0x8F;
    for (size_t k = 1; k < n; k++) {
        if (k >= left || p[k] < low || p[k] > high) return k;
        low = 0x80;
        high = 0xBF;
    }
    *ok = true;
    return n;
}

bool fm_text_is_valid(fm_str text)
{
    size_t at = 0;
    while (at < text.len) {
        bool ok;
        if (text.len - at >= 8) { /* ASCII by eight */
            uint64_t word;
            memcpy(&word, text.ptr + at, 8);
            if (!(word & 0x8080808080808080u)) {
                at += 8;
                continue;
            }
        }
        at += formed_size(text, at, &ok);
        if (!ok) return false;
    }
    return true;
}

void fm_text_repair(fm_str text, fm_strbuf *out)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        bool ok;
        size = formed_size(text, at, &ok);
        fm_strbuf_add(out, ok ? (fm_str){text.ptr + at, size} : FM_STR("\xEF\xBF\xBD"));
    }
}

int64_t fm_text_chars(fm_str text)
{
    int64_t n = 0;
    for (size_t at = 0; at < text.len; n++) at += fm_char_size((unsigned char)text.ptr[at]);
    return n;
}

size_t fm_text_offset(fm_str text, int64_t n)
{
    size_t at = 0;
    for (int64_t i = 0; i < n && at < text.len; i++) at += fm_char_at(text, at);
    return at;
}

fm_str fm_text_slice(fm_str text, int64_t from, int64_t to)
{
    size_t start, size;
    if (from < 0) from = 0;
    if (to <= from) return (fm_str){text.ptr, 0};
    start = fm_text_offset(text, from);
    size = fm_text_offset((fm_str){text.ptr + start, text.len - start}, to - from);
    return (fm_str){text.ptr + start, size};
}

uint32_t fm_char_decode(fm_str text, size_t at, size_t *size)
{
    const unsigned char *p = (const unsigned char *)text.ptr + at;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = fm_char_size(p[0]);
    uint32_t c;
    *size = 1;
    if (p[0] < 0x80) return p[0];
    if (n == 1 || n > text.len - at) return 0xFFFD;
    c = p[0] & (0xFFu >> (n + 1));
    for (size_t k = 1; k < n; k++) {
        if ((p[k] & 0xC0) != 0x80) return 0xFFFD;
        c = c << 6 | (p[k] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0xFFFD;
    *size = n;
    return c;
}

size_t fm_char_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

ptrdiff_t fm_text_find(fm_str text, fm_str part, size_t from)
{
    const char *found;
    if (from > text.len) return -1;
    if (part.len == 0) return (ptrdiff_t)from;
    found = memmem(text.ptr + from, text.len - from, part.ptr, part.len);
    return found ? found - text.ptr : -1;
}

/* ---- Results ----------------------------------------------------------------------------------------------- */

char *fm_out_room(fm_call *call, size_t size, fm_status *st)
{
    char *room;
    *st = FM_OK;
    if (size > FM_TEXT_SIZE_MAX) {
        *st = fm_fail(call->err, FM_INVALID, "FLOODMARK_VALUE_TOO_LONG",
                      "The result of %s would have %zu bytes; the most is %d.", call->function->name,
                      size, FM_TEXT_SIZE_MAX);
        return NULL;
    }
    room = fm_arena_alloc(call->arena, size, 1);
    if (!room) *st = fm_no_memory(call->arena, call->err);
    return room;
}

fm_status fm_out_text(fm_call *call, fm_vec *out, int64_t i, fm_str bytes)
{
    fm_status st = FM_OK;
    char *room;
    if (bytes.len <= FM_VIEW_INLINE) {
        fm_out_slice(out, i, bytes);
        return FM_OK;
    }
    room = fm_out_room(call, bytes.len, &st);
    if (!room) return st;
    memcpy(room, bytes.ptr, bytes.len);
    fm_out_slice(out, i, (fm_str){room, bytes.len});
    return FM_OK;
}

fm_status fm_out_buffer(fm_call *call, fm_vec *out, int64_t i, fm_strbuf *buf)
{
    fm_status st;
    if (!fm_strbuf_ok(buf)) return fm_no_memory(NULL, call->err);
    st = fm_out_text(call, out, i, fm_strbuf_str(buf));
    fm_strbuf_clear(buf);
    return st;
}
