/* format/csv_format.h: the options of CSV, and the two sides of the format. */
#ifndef FM_FORMAT_CSV_FORMAT_H
#define FM_FORMAT_CSV_FORMAT_H

#include "format/format.h"

/* What becomes of a value in quotes that holds a quote which is not escaped: option unescapedQuoteHandling. */
typedef enum fm_csv_handling {
    FM_CSV_STOP_AT_DELIMITER,
    FM_CSV_STOP_AT_CLOSING_QUOTE,
    FM_CSV_BACK_TO_DELIMITER,
    FM_CSV_SKIP_VALUE,
    FM_CSV_RAISE_ERROR
} fm_csv_handling;

/* Characters are bytes; 0: none (a quote that is none is -1, since a zero byte may stand in a file). */
typedef struct fm_csv_options {
    fm_str sep; /* one byte or more */
    int quote, escape, escape_escape, comment;
    bool header, enforce_schema, trim_left, trim_right, quote_all, multi_line;
    bool infer_schema, prefer_date;
    fm_csv_handling handling;
    int64_t columns_max, chars_max; /* chars_max -1: no limit */
    fm_str null_value, empty_value, nan_value, positive_inf, negative_inf;
    fm_str line_sep; /* empty: \n, \r\n or \r */
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

/* csv_infer.c: the inferrer, as format.h has it. */
fm_status fm_csv_infer_new(fm_arena *arena, const fm_read_spec *spec, fm_inferrer **out, fm_error *err);
fm_status fm_csv_infer_block(fm_inferrer *inferrer, const fm_block *block, fm_error *err);
size_t fm_csv_infer_whole(fm_inferrer *inferrer, const char *bytes, size_t len);
bool fm_csv_infer_enough(const fm_inferrer *inferrer);
fm_status fm_csv_infer_finish(fm_inferrer *inferrer, fm_arena *arena, const fm_type **out, fm_error *err);
void fm_csv_infer_free(fm_inferrer *inferrer);

#endif
