/* format/json_format.c: the entry of JSON in the table of formats. */
#include "format/formats.h"
#include "format/json_infer.h"
#include "format/json_options.h"
#include "format/json_print.h"
#include "format/json_reader.h"

static bool can_split(const fm_options *options)
{
    fm_str sep = fm_options_get(options, "lineSep", FM_STR("\n"));
    bool multi_line = false;

    fm_options_bool(options, "multiLine", false, &multi_line, NULL);
    return !multi_line && fm_is_utf8(options) && fm_str_eq(sep, FM_STR("\n"));
}

const fm_format fm_format_json = {
    .name = "json",
    .extension = "json",
    .read_options = fm_json_read_options,
    .write_options = fm_json_write_options,
    .can_split = can_split,
    .infer_new = fm_json_infer_new,
    .infer_block = fm_json_infer_block,
    .infer_whole = fm_json_infer_whole,
    .infer_finish = fm_json_infer_finish,
    .infer_free = fm_json_infer_free,
    .reader_new = fm_json_reader_new,
    .read_block = fm_json_reader_block,
    .whole_records = fm_json_reader_whole,
    .reader_free = fm_json_reader_free,
    .writer_new = fm_json_writer_new,
    .write_batch = fm_json_writer_batch,
};
