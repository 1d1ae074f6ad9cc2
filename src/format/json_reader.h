/* format/json_reader.h: the JSON format's reading side. */
#ifndef FM_FORMAT_JSON_READER_H
#define FM_FORMAT_JSON_READER_H

#include "format/format.h"

fm_status fm_json_reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out,
                             fm_error *err);
fm_status fm_json_reader_block(fm_reader *reader, const fm_block *block, fm_arena *arena,
                               fm_batch_out *out, fm_read_counts *counts, fm_error *err);
size_t fm_json_reader_whole(fm_reader *reader, const char *bytes, size_t len);
void fm_json_reader_free(fm_reader *reader);

#endif
