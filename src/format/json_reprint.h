/* format/json_reprint.h: JSON tokens written anew, as Jackson's generator copies them. */
#ifndef FM_FORMAT_JSON_REPRINT_H
#define FM_FORMAT_JSON_REPRINT_H

#include "format/json_scan.h"

/* Appends the current value, with all below it, without blanks: strings escaped anew, fractional
 * numbers as Java prints doubles (1.50 becomes 1.5). The scanner stands on its last token then.
 * False on a failure. */
bool fm_json_reprint(fm_json_scan *s, fm_strbuf *out);
/* Appends the current token when it is a scalar; strings with quotes. */
bool fm_json_reprint_scalar(fm_json_scan *s, fm_strbuf *out);

#endif
