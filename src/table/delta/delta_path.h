/* table/delta/delta_path.h: paths of data files in a log: URIs, relative to the table or absolute. */
#ifndef FM_TABLE_DELTA_DELTA_PATH_H
#define FM_TABLE_DELTA_DELTA_PATH_H

#include "base/arena.h"

/* Appends the path with %XX decoded. */
void fm_delta_path_decode(fm_str path, fm_strbuf *out);
/* Appends a relative path as the log writes it: what java.net.URI quotes is encoded, so a '%' in a folder's name is %25. */
void fm_delta_path_encode(fm_str path, fm_strbuf *out);
/* Where a file of the log lies: NUL-terminated, in arena. root: the table's folder, absolute. A relative path that climbs out of
 * the table ("../x") is refused: FM_CORRUPT; FM_UNSUPPORTED: a scheme other than file:. */
fm_status fm_delta_path_resolve(fm_arena *arena, fm_str root, fm_str path, fm_str *out, fm_error *err);
/* Appends a folder of a partition: name=value, escaped as Hive does; value.ptr NULL or empty: __HIVE_DEFAULT_PARTITION__. */
void fm_delta_partition_folder(fm_str name, fm_str value, fm_strbuf *out);

#endif
