/* expr/java_uri.h: the parts of a URI, as java.net.URI reads them. */
#ifndef FM_EXPR_JAVA_URI_H
#define FM_EXPR_JAVA_URI_H

#include "base/str.h"

/* Parts as they are written; ptr NULL: not there. All point into the text. */
typedef struct fm_java_uri {
    fm_str scheme, authority, user_info, host, path, query, fragment;
} fm_java_uri;

/* False: java.net.URI refuses the text.
 * rule  RFC 2396 as java.net.URI deviates from it: characters beyond ASCII may stand wherever an escape may; an authority that
 *       is no server is a registry name, without a host; an empty authority may stand before a path. */
bool fm_java_uri_parse(fm_str text, fm_java_uri *out);

#endif
