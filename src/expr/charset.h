/* expr/charset.h: text to bytes and back, in the charsets that Spark knows. */
#ifndef FM_EXPR_CHARSET_H
#define FM_EXPR_CHARSET_H

#include "base/str.h"

typedef enum fm_charset {
    FM_CHARSET_UTF_8, FM_CHARSET_US_ASCII, FM_CHARSET_ISO_8859_1, FM_CHARSET_UTF_16, FM_CHARSET_UTF_16BE,
    FM_CHARSET_UTF_16LE, FM_CHARSET_UTF_32, FM_CHARSET_NONE
} fm_charset;

/* By its name, any case; FM_CHARSET_NONE: it is none. */
fm_charset fm_charset_find(fm_str name);
/* The names there are, for messages: "ISO-8859-1, US-ASCII, ...". */
const char *fm_charset_names(void);

/* Appends text (UTF-8) in a charset, as Java does: UTF-16 begins with FE FF unless it is empty. Malformed text counts as
 * U+FFFD. False: the charset lacks a character; what was appended is then of no use. */
bool fm_charset_encode(fm_charset charset, fm_str text, fm_strbuf *out);
/* Appends the text that bytes hold. UTF-16 and UTF-32 obey a byte order mark, and are big-endian without. False: the
 * bytes are malformed. */
bool fm_charset_decode(fm_charset charset, fm_str bytes, fm_strbuf *out);

#endif
