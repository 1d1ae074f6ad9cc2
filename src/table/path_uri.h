/* table/path_uri.h: paths as the logs of sources and sinks write them ("file:///in/b%20c.json"), and as users and
 * partition folders write them.
 *
 * Rule: Spark writes java.net.URI's text of an absolute path: what is illegal in a URI's path is written %XX, letters
 * beyond ASCII stay as they are. */
#ifndef FM_TABLE_PATH_URI_H
#define FM_TABLE_PATH_URI_H

#include "os/fs.h"

/* A path option as a plain, absolute path without "." and "..": takes "file:" off, and for relative paths puts the
 * working folder before. FM_UNSUPPORTED for another scheme ("s3a://...") and FM_INVALID for an empty one. */
fm_status fm_path_of_option(fm_fs *fs, fm_str text, fm_arena *arena, fm_str *out, fm_error *err);

/* "/in/b c.json" -> "file:///in/b%20c.json". `path` must be absolute. */
void fm_path_to_uri(fm_str path, fm_strbuf *out);
/* The other way: "file:///x", "file:/x" or a plain "/x"; %XX is read. FM_CORRUPT when it is none of these. */
fm_status fm_path_of_uri(fm_str uri, fm_arena *arena, fm_str *out, fm_error *err);

/* The value of a partition column as a folder's name: Hive's escaping. NULL and empty values are
 * FM_PARTITION_NULL, which the caller writes. Rule: Spark, ExternalCatalogUtils.escapePathName. */
#define FM_PARTITION_NULL "__HIVE_DEFAULT_PARTITION__"
void fm_partition_escape(fm_str value, fm_strbuf *out);
/* Undoes it; a % without two hex digits stands for itself. */
void fm_partition_unescape(fm_str text, fm_strbuf *out);

#endif
