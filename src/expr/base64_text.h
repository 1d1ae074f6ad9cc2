/* expr/base64_text.h: bytes as base64, as Java's MIME coders write and read it. */
#ifndef FM_EXPR_BASE64_TEXT_H
#define FM_EXPR_BASE64_TEXT_H

#include "base/str.h"

/* Appends bytes in lines of 76 characters with \r\n between. */
void fm_base64_add(fm_strbuf *out, fm_str bytes);
/* Appends the bytes that text stands for; characters of no meaning are passed over. NULL, or what is wrong with it. */
const char *fm_base64_read(fm_strbuf *out, fm_str text);
/* Whether text is base64 in the strict sense of RFC 4648, blanks before the padding aside, which is optional. */
bool fm_base64_is_strict(fm_str text);

#endif
