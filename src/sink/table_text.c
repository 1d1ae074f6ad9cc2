/* sink/table_text.c: rows as a table of characters. */
#include "sink/table_text.h"

#include "expr/cast.h"

enum { COLUMN_WIDTH_MIN = 3 };

/* ---- Cells ------------------------------------------------------------------------------------------------- */

static void binary_text(fm_str bytes, fm_strbuf *out)
{
    static const char digits[] = "0123456789ABCDEF";

    fm_strbuf_add_char(out, '[');
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (i) fm_strbuf_add_char(out, ' ');
        fm_strbuf_add_char(out, digits[c >> 4]);
        fm_strbuf_add_char(out, digits[c & 15]);
    }
    fm_strbuf_add_char(out, ']');
}

void fm_cell_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    if (fm_vec_is_null(v, i)) {
        fm_strbuf_add_c(out, "NULL");
        return;
    }
    switch (v->type->id) {
    case FM_TYPE_BINARY: binary_text(fm_vec_str(v, i), out); return;
    case FM_TYPE_STRUCT:
        fm_strbuf_add_char(out, '{');
        for (int32_t f = 0; f < v->type->n_fields; f++) {
            if (f) fm_strbuf_add_c(out, ", ");
            fm_cell_text(&v->children[f], i, zone, out);
        }
        fm_strbuf_add_char(out, '}');
        return;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP: {
        bool map = v->type->id == FM_TYPE_MAP;
        fm_strbuf_add_char(out, map ? '{' : '[');
        for (int32_t j = v->offsets[i]; j < v->offsets[i + 1]; j++) {
            if (j > v->offsets[i]) fm_strbuf_add_c(out, ", ");
            fm_cell_text(&v->children[0], j, zone, out);
            if (!map) continue;
            fm_strbuf_add_c(out, " -> ");
            fm_cell_text(&v->children[1], j, zone, out);
        }
        fm_strbuf_add_char(out, map ? '}' : ']');
        return;
    }
    default: fm_value_text(v, i, zone, out);
    }
}

/* The character at `at` and its length in bytes; a byte that is no UTF-8 is a character of its own. */
static uint32_t character(fm_str s, size_t at, size_t *len)
{
    unsigned char c = (unsigned char)s.ptr[at];
    size_t n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    uint32_t code = n <= 1 ? c : c & (0x7Fu >> n);

    *len = 1;
    if (n == 0 || at + n > s.len) return 0xFFFD;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s.ptr[at + i] & 0xC0) != 0x80) return 0xFFFD;
        code = code << 6 | ((unsigned char)s.ptr[at + i] & 0x3F);
    }
    *len = n;
    return code;
}

/* Columns of the terminal that a character takes. Rule: Spark, Utils.stringHalfWidth; beyond the basic plane every
 * character counts 2, since Java has two units for it. */
static int width_of(uint32_t c)
{
    bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE10 && c <= 0xFE19) || (c >= 0xFE30 && c <= 0xFE6F) ||
                (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6) || c > 0xFFFF;

    return wide ? 2 : 1;
}

static int64_t width_of_text(fm_str s)
{
    int64_t width = 0;
    size_t len;

    for (size_t at = 0; at < s.len; at += len) width += width_of(character(s, at, &len));
    return width;
}

/* Characters as Java counts them: UTF-16 units. */
static int64_t java_length(fm_str s)
{
    int64_t n = 0;
    size_t len;

    for (size_t at = 0; at < s.len; at += len) n += character(s, at, &len) > 0xFFFF ? 2 : 1;
    return n;
}

/* Bytes of the first n characters; never half a one. */
static size_t prefix_size(fm_str s, int64_t n)
{
    size_t at = 0, len;

    while (at < s.len) {
        n -= character(s, at, &len) > 0xFFFF ? 2 : 1;
        if (n < 0) break;
        at += len;
    }
    return at;
}

/* Appends text with the control characters that Spark escapes written as escapes. */
static void add_escaped(fm_strbuf *out, fm_str text)
{
    static const char escapes[32] = {['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['\f'] = 'f', ['\b'] = 'b', ['\v'] = 'v', ['\a'] = 'a'};

    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 32 && escapes[c]) {
            fm_strbuf_add_char(out, '\\');
            fm_strbuf_add_char(out, escapes[c]);
        } else {
            fm_strbuf_add_char(out, (char)c);
        }
    }
}

/* ---- The table --------------------------------------------------------------------------------------------- */

/* All cells, row after row, the header first, as one text with its ends. */
typedef struct grid {
    fm_arena *arena;
    fm_strbuf text;
    size_t *ends;   /* [(rows + 1) * columns] */
    int64_t *widths; /* [columns] */
    int64_t rows;
    int32_t columns;
    bool failed;
} grid;

static fm_str grid_cell(const grid *g, int64_t row, int32_t column)
{
    int64_t k = row * g->columns + column;
    size_t from = k ? g->ends[k - 1] : 0;

    return (fm_str){g->text.ptr + from, g->ends[k] - from};
}

/* Closes the cell that began at byte `from`. */
static void end_cell(grid *g, int64_t row, int32_t column, size_t from, int32_t truncate)
{
    fm_str cell = {g->text.ptr + from, g->text.len - from};

    if (!fm_strbuf_ok(&g->text)) return;
    if (truncate > 0 && java_length(cell) > truncate) {
        g->text.len = from + prefix_size(cell, truncate < 4 ? truncate : truncate - 3);
        if (truncate >= 4) fm_strbuf_add_c(&g->text, "...");
        cell = (fm_str){g->text.ptr + from, g->text.len - from};
    }
    int64_t width = width_of_text(cell);
    if (width > g->widths[column]) g->widths[column] = width;
    g->ends[row * g->columns + column] = g->text.len;
}

static void fill(grid *g, const fm_type *schema, const fm_batch *const *batches, int32_t n, int32_t truncate,
                 const fm_zone *zone)
{
    fm_strbuf raw = {0};
    int64_t row = 1;

    for (int32_t c = 0; c < g->columns; c++) {
        size_t from = g->text.len;
        g->widths[c] = COLUMN_WIDTH_MIN;
        add_escaped(&g->text, schema->fields[c].name);
        end_cell(g, 0, c, from, 0);
    }
    for (int32_t b = 0; b < n; b++) {
        for (int32_t i = 0; i < batches[b]->rows && row <= g->rows; i++, row++) {
            for (int32_t c = 0; c < g->columns; c++) {
                size_t from = g->text.len;
                fm_strbuf_clear(&raw);
                fm_cell_text(&batches[b]->columns[c], i, zone, &raw);
                add_escaped(&g->text, fm_strbuf_str(&raw));
                end_cell(g, row, c, from, truncate);
            }
        }
    }
    g->failed = !fm_strbuf_ok(&g->text) || !fm_strbuf_ok(&raw);
    fm_strbuf_fini(&raw);
}

static void add_times(fm_strbuf *out, char c, int64_t n)
{
    for (; n > 0; n--) fm_strbuf_add_char(out, c);
}

static void add_ruler(const grid *g, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '+');
    for (int32_t c = 0; c < g->columns; c++) {
        add_times(out, '-', g->widths[c]);
        if (c + 1 < g->columns) fm_strbuf_add_char(out, '+');
    }
    fm_strbuf_add_c(out, "+\n");
}

static void add_row(const grid *g, int64_t row, bool right, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '|');
    for (int32_t c = 0; c < g->columns; c++) {
        fm_str cell = grid_cell(g, row, c);
        int64_t blanks = g->widths[c] - width_of_text(cell);
        if (c) fm_strbuf_add_char(out, '|');
        if (right) add_times(out, ' ', blanks);
        fm_strbuf_add(out, cell);
        if (!right) add_times(out, ' ', blanks);
    }
    fm_strbuf_add_c(out, "|\n");
}

static void print_grid(const grid *g, bool right, bool more, fm_strbuf *out)
{
    add_ruler(g, out);
    add_row(g, 0, right, out);
    add_ruler(g, out);
    for (int64_t row = 1; row <= g->rows; row++) add_row(g, row, right, out);
    add_ruler(g, out);
    if (more) fm_strbuf_printf(out, "only showing top %lld %s\n", (long long)g->rows, g->rows == 1 ? "row" : "rows");
}

void fm_table_text(const fm_type *schema, const fm_batch *const *batches, int32_t n, int64_t rows_max,
                   int32_t truncate, const fm_zone *zone, fm_strbuf *out)
{
    grid g = {.arena = fm_arena_new(0), .columns = schema->n_fields};
    int64_t total = 0;

    for (int32_t b = 0; b < n; b++) total += batches[b]->rows;
    g.rows = total < rows_max ? total : rows_max < 0 ? 0 : rows_max;
    g.ends = g.arena ? fm_arena_array(g.arena, size_t, (g.rows + 1) * g.columns) : NULL;
    g.widths = g.arena ? fm_arena_array(g.arena, int64_t, g.columns) : NULL;
    if (g.ends && g.widths) fill(&g, schema, batches, n, truncate, zone);
    else g.failed = true;
    if (g.failed) out->failed = true;
    else print_grid(&g, truncate > 0, total > g.rows, out);
    fm_strbuf_fini(&g.text);
    fm_arena_free(g.arena);
}
