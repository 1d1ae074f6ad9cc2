/* expr/text.h: text by characters, for the string functions.
 *
 * A character is what Spark's UTF8String counts: a lead byte and as many bytes as it asks for, cut at the end; any
 * other byte is a character of its own. For well-formed UTF-8 these are code points. */
#ifndef FM_EXPR_TEXT_H
#define FM_EXPR_TEXT_H

#include "expr/function.h"

enum { FM_TEXT_SIZE_MAX = INT32_MAX }; /* bytes of one value: Spark's arrays hold no more */

static inline size_t fm_char_size(unsigned char lead)
{
    if (lead < 0xC2 || lead > 0xF4) return 1;
    return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}
/* Bytes of the character at `at`, not beyond the end. */
static inline size_t fm_char_at(fm_str text, size_t at)
{
    size_t size = fm_char_size((unsigned char)text.ptr[at]);
    return size < text.len - at ? size : text.len - at;
}
bool fm_text_is_ascii(fm_str text);
bool fm_text_is_valid(fm_str text); /* well-formed UTF-8 */
/* Appends text, each malformed part (as long as it begins a character, or one byte) replaced by U+FFFD. */
void fm_text_repair(fm_str text, fm_strbuf *out);
int64_t fm_text_chars(fm_str text);
/* Byte offset of character n, counted from 0; text.len when there are fewer. */
size_t fm_text_offset(fm_str text, int64_t n);
/* Characters [from, to), cut to what there is. */
fm_str fm_text_slice(fm_str text, int64_t from, int64_t to);
/* The code point at `at` (U+FFFD when malformed), *size its bytes; and back, returning the bytes written. */
uint32_t fm_char_decode(fm_str text, size_t at, size_t *size);
size_t fm_char_encode(uint32_t c, char out[4]);
/* Byte index of the first `part` at or behind `from`, or -1. An empty part is found at `from`. */
ptrdiff_t fm_text_find(fm_str text, fm_str part, size_t from);

/* Lane i of a STRING or BINARY result: a copy of bytes in the call's arena; FM_LIMIT. */
fm_status fm_out_text(fm_call *call, fm_vec *out, int64_t i, fm_str bytes);
/* As fm_out_text, for a part of an argument: nothing is copied. */
static inline void fm_out_slice(fm_vec *out, int64_t i, fm_str part)
{
    fm_vec_view_out(out)[i] = fm_view_of(part.ptr, part.len);
}
/* What a scratch buffer holds, then clears it. */
fm_status fm_out_buffer(fm_call *call, fm_vec *out, int64_t i, fm_strbuf *buf);
/* Room for the bytes of a lane, which the caller fills and hands to fm_out_slice; NULL: failed, see *st. */
char *fm_out_room(fm_call *call, size_t size, fm_status *st);

/* ICU's full case mappings of the root locale; malformed bytes become U+FFFD. */
fm_status fm_text_upper(fm_str text, fm_strbuf *out, fm_error *err);
fm_status fm_text_lower(fm_str text, fm_strbuf *out, fm_error *err);
/* Each word, what stands between blanks (U+0020), in title case. */
fm_status fm_text_title(fm_str text, fm_strbuf *out, fm_error *err);
/* General categories: Lu, Ll, Nd. */
bool fm_char_is_upper(uint32_t c);
bool fm_char_is_lower(uint32_t c);
bool fm_char_is_digit(uint32_t c);
/* A letter or a digit, of any script. */
bool fm_char_is_alnum(uint32_t c);

#endif
