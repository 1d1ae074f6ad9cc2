/* expr/charset.c: text to bytes and back, in the charsets that Spark knows. */
#include "expr/charset.h"

#include "expr/text.h"

static const char *const names[] = {"UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32"};

fm_charset fm_charset_find(fm_str name)
{
    for (int i = 0; i < FM_CHARSET_NONE; i++)
        if (fm_str_eq_ci(name, fm_str_c(names[i]))) return (fm_charset)i;
    return FM_CHARSET_NONE;
}

const char *fm_charset_names(void) { return "ISO-8859-1, US-ASCII, UTF-16, UTF-16BE, UTF-16LE, UTF-32, UTF-8"; }

/* ---- to bytes ---------------------------------------------------------------------------------------------- */

static void add_unit(fm_strbuf *out, uint32_t unit, bool little)
{
    fm_strbuf_add_char(out, (char)(little ? unit & 0xFF : unit >> 8));
    fm_strbuf_add_char(out, (char)(little ? unit >> 8 : unit & 0xFF));
}

static void add_utf16(fm_strbuf *out, uint32_t c, bool little)
{
    if (c < 0x10000) {
        add_unit(out, c, little);
        return;
    }
    add_unit(out, 0xD800 + ((c - 0x10000) >> 10), little);
    add_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF), little);
}

static bool add_char(fm_charset charset, uint32_t c, fm_strbuf *out)
{
    switch (charset) {
    case FM_CHARSET_US_ASCII:
    case FM_CHARSET_ISO_8859_1:
        if (c > (charset == FM_CHARSET_US_ASCII ? 0x7Fu : 0xFFu)) return false;
        fm_strbuf_add_char(out, (char)c);
        return true;
    case FM_CHARSET_UTF_32:
        add_unit(out, c >> 16, false);
        add_unit(out, c & 0xFFFF, false);
        return true;
    default: add_utf16(out, c, charset == FM_CHARSET_UTF_16LE); return true;
    }
}

bool fm_charset_encode(fm_charset charset, fm_str text, fm_strbuf *out)
{
    if (charset == FM_CHARSET_UTF_8) {
        fm_text_repair(text, out);
        return true;
    }
    if (charset == FM_CHARSET_UTF_16 && text.len) add_unit(out, 0xFEFF, false);
    for (size_t at = 0, size; at < text.len; at += size)
        if (!add_char(charset, fm_char_decode(text, at, &size), out)) return false;
    return true;
}

/* ---- to text ----------------------------------------------------------------------------------------------- */

static void add_code_point(fm_strbuf *out, uint32_t c)
{
    char utf8[4];
    fm_strbuf_add(out, (fm_str){utf8, fm_char_encode(c, utf8)});
}

static bool decode_8_bit(fm_str bytes, unsigned most, fm_strbuf *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        if ((unsigned char)bytes.ptr[i] > most) return false;
        add_code_point(out, (unsigned char)bytes.ptr[i]);
    }
    return true;
}

static uint32_t unit_at(fm_str bytes, size_t at, bool little)
{
    unsigned char a = (unsigned char)bytes.ptr[at], b = (unsigned char)bytes.ptr[at + 1];
    return little ? (uint32_t)b << 8 | a : (uint32_t)a << 8 | b;
}

static bool decode_utf16(fm_str bytes, bool little, bool marked, fm_strbuf *out)
{
    size_t at = 0;
    if (bytes.len % 2) return false;
    if (marked && bytes.len >= 2 && (unit_at(bytes, 0, false) == 0xFEFF || unit_at(bytes, 0, false) == 0xFFFE)) {
        little = unit_at(bytes, 0, false) == 0xFFFE;
        at = 2;
    }
    for (; at < bytes.len; at += 2) {
        uint32_t c = unit_at(bytes, at, little), low;
        if (c >= 0xDC00 && c < 0xE000) return false;
        if (c >= 0xD800 && c < 0xDC00) {
            if (at + 4 > bytes.len) return false;
            low = unit_at(bytes, at + 2, little);
            if (low < 0xDC00 || low >= 0xE000) return false;
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            at += 2;
        }
        add_code_point(out, c);
    }
    return true;
}

static bool decode_utf32(fm_str bytes, fm_strbuf *out)
{
    bool little = false;
    size_t at = 0;
    if (bytes.len % 4) return false;
    for (; at < bytes.len; at += 4) {
        uint32_t a = unit_at(bytes, at, little), b = unit_at(bytes, at + 2, little), c = little ? b << 16 | a : a << 16 | b;
        if (at == 0 && c == 0xFEFF) continue;
        if (at == 0 && c == 0xFFFE0000) {
            little = true;
            continue;
        }
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
        add_code_point(out, c);
    }
    return true;
}

bool fm_charset_decode(fm_charset charset, fm_str bytes, fm_strbuf *out)
{
    switch (charset) {
    case FM_CHARSET_UTF_8:
        fm_strbuf_add(out, bytes);
        return fm_text_is_valid(bytes);
    case FM_CHARSET_US_ASCII: return decode_8_bit(bytes, 0x7F, out);
    case FM_CHARSET_ISO_8859_1: return decode_8_bit(bytes, 0xFF, out);
    case FM_CHARSET_UTF_32: return decode_utf32(bytes, out);
    default: return decode_utf16(bytes, charset == FM_CHARSET_UTF_16LE, charset == FM_CHARSET_UTF_16, out);
    }
}
