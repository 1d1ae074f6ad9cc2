/* expr/text_case.c: upper, lower and title case, by ICU; the only file that includes ICU's character data. */
#include <unicode/uchar.h>
#include <unicode/ucasemap.h>

#include "expr/text.h"

typedef int32_t (*case_mapper)(const UCaseMap *map, char *out, int32_t cap, const char *in,
                               int32_t len, UErrorCode *code);

static fm_status map_case(case_mapper mapper, fm_str text, fm_strbuf *out, fm_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    UCaseMap *map;
    int32_t len = 0, cap;
    if (text.len > FM_TEXT_SIZE_MAX / 4)
        return fm_fail(err, FM_INVALID, "FLOODMARK_VALUE_TOO_LONG",
                       "A text of %zu bytes is too long to change its case.", text.len);
    map = ucasemap_open("", 0, &code);
    if (U_FAILURE(code)) return fm_fail(err, FM_LIMIT, "FLOODMARK_ICU", "ICU: %s.", u_errorName(code));
    cap = (int32_t)text.len + 16;
    for (int tries = 0; tries < 2; tries++) {
        if (!fm_strbuf_reserve(out, (size_t)cap + 1)) break;
        code = U_ZERO_ERROR;
        len = mapper(map, out->ptr + out->len, cap, text.ptr, (int32_t)text.len, &code);
        if (code != U_BUFFER_OVERFLOW_ERROR) break;
        cap = len;
    }
    ucasemap_close(map);
    if (!fm_strbuf_ok(out)) return fm_no_memory(NULL, err);
    if (U_FAILURE(code)) return fm_fail(err, FM_INVALID, "FLOODMARK_ICU", "ICU: %s.", u_errorName(code));
    out->len += (size_t)len;
    return FM_OK;
}

fm_status fm_text_upper(fm_str text, fm_strbuf *out, fm_error *err)
{
    if (text.len == 0) return FM_OK;
    return map_case(ucasemap_utf8ToUpper, text, out, err);
}

fm_status fm_text_lower(fm_str text, fm_strbuf *out, fm_error *err)
{
    if (text.len == 0) return FM_OK;
    return map_case(ucasemap_utf8ToLower, text, out, err);
}

/* The title form of one character: mostly one code point; "ß" and ligatures have several, as their upper case has,
 * all but the first of which are small. */
static fm_status add_title(fm_str c, fm_strbuf *out, fm_error *err)
{
    size_t size;
    uint32_t point = fm_char_decode(c, 0, &size);
    char utf8[4];
    fm_strbuf upper = {0};
    fm_status st;
    if ((uint32_t)u_totitle((UChar32)point) != point) {
        fm_strbuf_add(out, (fm_str){utf8, fm_char_encode((uint32_t)u_totitle((UChar32)point), utf8)});
        return FM_OK;
    }
    st = fm_text_upper(c, &upper, err);
    if (st == FM_OK && upper.len > 0) {
        size_t first = fm_char_at(fm_strbuf_str(&upper), 0);
        if (first == upper.len) {
            fm_strbuf_add(out, c);
        } else {
            fm_strbuf_add(out, (fm_str){upper.ptr, first});
            st = fm_text_lower((fm_str){upper.ptr + first, upper.len - first}, out, err);
        }
    }
    fm_strbuf_fini(&upper);
    return st;
}

fm_status fm_text_title(fm_str text, fm_strbuf *out, fm_error *err)
{
    size_t at = 0;
    while (at < text.len) {
        size_t start = at, first;
        if (text.ptr[at] == ' ') {
            fm_strbuf_add_char(out, ' ');
            at++;
            continue;
        }
        first = fm_char_at(text, at);
        while (at < text.len && text.ptr[at] != ' ') at++;
        FM_TRY(add_title((fm_str){text.ptr + start, first}, out, err));
        FM_TRY(fm_text_lower((fm_str){text.ptr + start + first, at - start - first}, out, err));
    }
    return FM_OK;
}

bool fm_char_is_upper(uint32_t c) { return u_charType((UChar32)c) == U_UPPERCASE_LETTER; }
bool fm_char_is_lower(uint32_t c) { return u_charType((UChar32)c) == U_LOWERCASE_LETTER; }
bool fm_char_is_alnum(uint32_t c) { return u_isalnum((UChar32)c); }
bool fm_char_is_digit(uint32_t c) { return u_charType((UChar32)c) == U_DECIMAL_DIGIT_NUMBER; }
