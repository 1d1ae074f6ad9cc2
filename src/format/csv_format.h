/* format/csv_format.h: the options of CSV, and the two sides of the format. */
#ifndef FM_FORMAT_CSV_FORMAT_H
#define FM_FORMAT_CSV_FORMAT_H

#include "format/format.h"

typedef struct fm_csv_options {
    char sep, quote, escape, comment; /* quote, escape, comment 0: none */
    bool header, trim_left, trim_right, quote_all;
    fm_str null_value, empty_value;
} fm_csv_options;

extern const char *const fm_csv_read_options[], *const fm_csv_write_options[];

/* writing: Spark's defaults differ for the two sides. Texts live in arena. */
fm_status fm_csv_options_read(fm_arena *arena, const fm_options *options, bool writing,
                              fm_csv_options *out, fm_error *err);

fm_status fm_csv_reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out,
                            fm_error *err);
fm_status fm_csv_reader_block(fm_reader *reader, const fm_block *block, fm_arena *arena,
                              fm_batch_out *out, fm_read_counts *counts, fm_error *err);
size_t fm_csv_reader_whole(fm_reader *reader, const char *bytes, size_t len);
void fm_csv_reader_free(fm_reader *reader);
/* One record, whatever lines it has: for from_csv. begin (arena: reset between batches), records, end. */
fm_status fm_csv_records_begin(fm_reader *reader, const fm_block *block, fm_arena *arena, fm_batch_out *out, fm_read_counts *counts, fm_error *err);
fm_status fm_csv_record(fm_reader *reader, fm_str record, fm_error *err);
fm_status fm_csv_records_end(fm_reader *reader, fm_error *err);

/* A writer that takes nested values, too, as their text: for to_csv. Appends row i of columns, without the end of the line. */
fm_status fm_csv_printer_new(fm_arena *arena, const fm_type *schema, const fm_options *options, const fm_zone *zone, fm_writer **out, fm_error *err);
void fm_csv_print_row(fm_writer *writer, const fm_vec *columns, int32_t row, fm_strbuf *text, fm_strbuf *out);

#endif
