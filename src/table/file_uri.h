/* table/file_uri.h: paths as Spark's logs write them: file:///in/b%20c.json. */
#ifndef FM_TABLE_FILE_URI_H
#define FM_TABLE_FILE_URI_H

#include "base/arena.h"

/* Appends the URI of an absolute path. Encoded is what java.net.URI quotes in a path: blanks,
 * control characters,
 * '%', '"', '<', '>', '#', '?', '[', ']', '\', '^', '`', '{', '|', '}'; and bytes of a name that is no UTF-8, which
 * no JSON could hold. Other bytes stay, UTF-8 too. */
void fm_file_uri(fm_str path, fm_strbuf *out);
/* The same for a part of a path: without the scheme. */
void fm_uri_quote(fm_str path, fm_strbuf *out);

/* The plain path of file:///a, file:/a, file://localhost/a (decoded), or of a text without a scheme
 * (as it is), in arena. FM_UNSUPPORTED for another scheme. */
fm_status fm_file_path(fm_arena *arena, fm_str uri, fm_str *out, fm_error *err);

/* The same for a path as users write it: the scheme goes, %XX stay what they are. */
fm_status fm_user_path(fm_arena *arena, fm_str text, fm_str *out, fm_error *err);

#endif
