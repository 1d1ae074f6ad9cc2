/* format/json_print.h: values -> JSON text; what json.h offers, and the writer of files. */
#ifndef FM_FORMAT_JSON_PRINT_H
#define FM_FORMAT_JSON_PRINT_H

#include "format/format.h"
#include "format/json.h"

/* Texts of the last times printed: results of windows repeat them. Belongs to one thread; zero it.
 */
typedef struct fm_json_print_cache {
    struct {
        int64_t us;
        uint8_t len; /* 0: empty */
        bool ntz;
        char text[47]; /* with its quotes */
    } times[4];
    unsigned next;
} fm_json_print_cache;

/* As fm_json_print. cache may be NULL. */
void fm_json_print_cached(const fm_json_printer *printer, fm_json_print_cache *cache,
                          const fm_vec *v, int64_t i, fm_strbuf *out);

extern const char *const fm_json_write_options[];
fm_status fm_json_writer_new(fm_arena *arena, const fm_type *schema, const fm_options *options,
                             const fm_zone *zone, fm_writer **out, fm_error *err);
fm_status fm_json_writer_batch(fm_writer *writer, const fm_batch *batch, fm_strbuf *out,
                               fm_error *err);

#endif
