/* sink/part_file.h: one data file of the file sink while it is written: a buffer, packed on the way out if so asked. */
#ifndef FM_SINK_PART_FILE_H
#define FM_SINK_PART_FILE_H

#include "os/fs.h"

typedef enum fm_pack { FM_PACK_NONE, FM_PACK_GZIP, FM_PACK_ZSTD } fm_pack;

/* The option compression: none, uncompressed, gzip, zstd, in any case. Others of Spark's: FM_UNSUPPORTED; else FM_INVALID. */
fm_status fm_pack_parse(fm_str name, fm_pack *out, fm_error *err);
const char *fm_pack_extension(fm_pack pack); /* "", ".gz" or ".zst" */

typedef struct fm_part_file fm_part_file;

/* Makes the file; FM_CONFLICT when it exists. The path is copied. */
fm_status fm_part_file_open(fm_fs *fs, const char *path, fm_pack pack, fm_part_file **out, fm_error *err);
/* Where rows are appended, as text. */
fm_strbuf *fm_part_file_text(fm_part_file *part);
/* Hands the text on when it has reached size_min bytes; call it after each batch. */
fm_status fm_part_file_flush(fm_part_file *part, size_t size_min, fm_error *err);
/* The rest is written, the file synced and closed; its folder is the caller's to sync. The part is gone in any case;
 * *stat is set on FM_OK. */
fm_status fm_part_file_finish(fm_part_file *part, fm_file_stat *stat, fm_error *err);
/* Closes it as it is. Accepts NULL. */
void fm_part_file_abandon(fm_part_file *part);

#endif
