/* sink/table_text.c: tables of text. Rule: semantics 10.1. */
#include "sink/table_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "expr/cast.h"

enum { WIDTH_MIN = 3 };

/* The character at p (bytes left: n); *size its bytes. Broken UTF-8 counts byte by byte. */
static uint32_t character(const unsigned char *p, size_t n, size_t *size)
{
    static const uint8_t first_bits[] = {0x7F, 0x1F, 0x0F, 0x07};
    size_t more = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : *p >= 0xC0 ? 1 : 0;
    uint32_t c = *p & first_bits[more];

    *size = 1;
    if (more >= n) return *p;
    for (size_t i = 1; i <= more; i++) {
        if ((p[i] & 0xC0) != 0x80) return *p;
        c = c << 6 | (p[i] & 0x3F);
    }
    *size = more + 1;
    return c;
}

/* Full-width characters take two places: the ranges that Spark counts so. */
static bool is_wide(uint32_t c)
{
    return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0xFE30 && c <= 0xFE4F) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6);
}

static size_t width_of(fm_str text)
{
    size_t width = 0, size;

    for (size_t i = 0; i < text.len; i += size) width += is_wide(character((const unsigned char *)text.ptr + i, text.len - i, &size)) ? 2 : 1;
    return width;
}

/* UTF-16 units, which is what Spark counts when it cuts. */
static size_t units_of(fm_str text)
{
    size_t n = 0, size;

    for (size_t i = 0; i < text.len; i += size) n += character((const unsigned char *)text.ptr + i, text.len - i, &size) >= 0x10000 ? 2 : 1;
    return n;
}

static fm_str first_units(fm_str text, size_t units)
{
    size_t i = 0, n = 0, size;

    while (i < text.len) {
        n += character((const unsigned char *)text.ptr + i, text.len - i, &size) >= 0x10000 ? 2 : 1;
        if (n > units) break;
        i += size;
    }
    return (fm_str){text.ptr, i};
}

/* Control characters as escapes, so that a row stays on its line. */
static void add_escaped(fm_str text, fm_strbuf *out)
{
    static const char names[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";

    for (size_t i = 0; i < text.len; i++) {
        const char *at = text.ptr[i] ? strchr(names, text.ptr[i]) : NULL;
        if (at) fm_strbuf_printf(out, "\\%c", letters[at - names]);
        else fm_strbuf_add_char(out, text.ptr[i]);
    }
}

/* All cells of the rows shown, header first, in one buffer. */
typedef struct cells {
    fm_strbuf text;
    size_t *ends; /* [n] */
    size_t n, cap;
    bool failed;
} cells;

static void end_cell(cells *c)
{
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 256;
        size_t *more = realloc(c->ends, cap * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->ends = more;
        c->cap = cap;
    }
    c->ends[c->n++] = c->text.len;
}

static fm_str cell(const cells *c, size_t i)
{
    size_t from = i ? c->ends[i - 1] : 0;

    return (fm_str){c->text.ptr + from, c->ends[i] - from};
}

static void add_value(cells *c, const fm_vec *v, int32_t row, int truncate, const fm_zone *zone, fm_strbuf *scratch)
{
    fm_strbuf_clear(scratch);
    if (fm_vec_is_null(v, row)) {
        fm_strbuf_add_c(scratch, "NULL");
    } else if (v->type->id == FM_TYPE_BINARY) {
        fm_str bytes = fm_vec_str(v, row);
        fm_strbuf_add_char(scratch, '[');
        for (size_t i = 0; i < bytes.len; i++) fm_strbuf_printf(scratch, "%s%02X", i ? " " : "", (unsigned char)bytes.ptr[i]);
        fm_strbuf_add_char(scratch, ']');
    } else {
        fm_value_text(v, row, zone, scratch);
    }
    fm_strbuf escaped = {0};
    add_escaped(fm_strbuf_str(scratch), &escaped);
    fm_str text = {escaped.ptr ? escaped.ptr : "", escaped.len};
    if (truncate > 0 && units_of(text) > (size_t)truncate) {
        size_t keep = truncate < 4 ? (size_t)truncate : (size_t)truncate - 3;
        fm_strbuf_add(&c->text, first_units(text, keep));
        if (truncate >= 4) fm_strbuf_add_c(&c->text, "...");
    } else {
        fm_strbuf_add(&c->text, text);
    }
    c->failed |= !fm_strbuf_ok(&escaped);
    fm_strbuf_fini(&escaped);
    end_cell(c);
}

static void add_line(const cells *c, size_t first, int32_t n, const size_t *widths, bool right, fm_strbuf *out)
{
    for (int32_t i = 0; i < n; i++) {
        fm_str text = cell(c, first + (size_t)i);
        size_t pad = widths[i] - width_of(text);
        fm_strbuf_add_char(out, '|');
        for (size_t k = 0; right && k < pad; k++) fm_strbuf_add_char(out, ' ');
        fm_strbuf_add(out, text);
        for (size_t k = 0; !right && k < pad; k++) fm_strbuf_add_char(out, ' ');
    }
    fm_strbuf_add_c(out, n ? "|\n" : "||\n");
}

static void add_ruler(const size_t *widths, int32_t n, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '+');
    for (int32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < widths[i]; k++) fm_strbuf_add_char(out, '-');
        fm_strbuf_add_char(out, '+');
    }
    fm_strbuf_add_c(out, n ? "\n" : "+\n");
}

void fm_table_text(const fm_type *schema, const fm_batch *const *batches, int32_t n_batches, int64_t rows_max, int truncate,
                   const fm_zone *zone, fm_strbuf *out)
{
    int32_t n = schema->n_fields;
    size_t *widths = calloc((size_t)n + 1, sizeof *widths);
    cells c = {0};
    fm_strbuf scratch = {0};
    int64_t shown = 0, total = 0;

    for (int32_t i = 0; i < n; i++) {
        add_escaped(schema->fields[i].name, &c.text);
        end_cell(&c);
    }
    for (int32_t b = 0; b < n_batches; b++) {
        total += batches[b]->rows;
        for (int32_t r = 0; r < batches[b]->rows && shown < rows_max; r++, shown++) {
            for (int32_t i = 0; i < n; i++) add_value(&c, &batches[b]->columns[i], r, truncate, zone, &scratch);
        }
    }
    if (!widths || c.failed || !fm_strbuf_ok(&c.text)) {
        out->failed = true;
    } else {
        for (int32_t i = 0; i < n; i++) widths[i] = WIDTH_MIN;
        for (size_t i = 0; i < c.n; i++) {
            size_t w = width_of(cell(&c, i));
            if (w > widths[i % (size_t)n]) widths[i % (size_t)n] = w;
        }
        add_ruler(widths, n, out);
        add_line(&c, 0, n, widths, truncate > 0, out);
        add_ruler(widths, n, out);
        for (int64_t r = 0; r < shown; r++) add_line(&c, (size_t)(r + 1) * (size_t)n, n, widths, truncate > 0, out);
        add_ruler(widths, n, out);
        if (total > shown) fm_strbuf_printf(out, "only showing top %" PRId64 " %s\n", shown, shown == 1 ? "row" : "rows");
    }
    fm_strbuf_fini(&scratch);
    fm_strbuf_fini(&c.text);
    free(c.ends);
    free(widths);
}
