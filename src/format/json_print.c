/* format/json_print.c: values as JSON, as Spark's to_json and JSON writer do.
 *
 * Rules: null fields of structs are left out unless ignoreNullFields is false; nulls in arrays and
 * maps are written. Times have milliseconds and the zone's offset, NaN and infinities are strings,
 * decimals are written as Java's BigDecimal prints them, binary values in base64. Writing results
 * costs as much as reading input, so the names of fields are made ready once and values are written
 * straight into the buffer. */
#include "format/json_print.h"

#include "base/time_text.h"
#include "expr/cast.h"
#include "format/json_options.h"

#include <math.h>

typedef struct node {
    const fm_type *type;
    fm_str name; /* of the field: "\"name\":"; empty elsewhere */
    int32_t n;
    struct node *children; /* [n] */
} node;

struct fm_json_printer {
    node root;
    bool skip_nulls, ascii;
    const fm_zone *zone;
    const fm_time_format *timestamp_format, *ntz_format, *date_format; /* NULL: the default forms */
};

const char *const fm_json_write_options[] = {"timestampFormat",
                                             "timestampNTZFormat",
                                             "dateFormat",
                                             "timeZone",
                                             "ignoreNullFields",
                                             "lineSep",
                                             "encoding",
                                             "compression",
                                             "writeNonAsciiCharacterAsCodePoint",
                                             NULL};

/* ---- making ---- */

static fm_status make_node(fm_arena *arena, const fm_type *type, node *out, fm_error *err)
{
    *out = (node){.type = type, .n = type->n_fields};
    out->children = fm_arena_array(arena, node, type->n_fields);
    if (!out->children) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        FM_TRY(make_node(arena, type->fields[i].type, &out->children[i], err));
        if (type->id != FM_TYPE_STRUCT) continue;
        fm_strbuf name = {0};
        fm_strbuf_add_json(&name, type->fields[i].name);
        fm_strbuf_add_char(&name, ':');
        out->children[i].name = fm_arena_str(arena, fm_strbuf_str(&name));
        bool ok = fm_strbuf_ok(&name) && out->children[i].name.ptr;
        fm_strbuf_fini(&name);
        if (!ok) return fm_no_memory(arena, err);
    }
    return FM_OK;
}

fm_status fm_json_printer_new(fm_arena *arena, const fm_type *type, const fm_options *options,
                              const fm_zone *zone, fm_json_printer **out, fm_error *err)
{
    fm_json_printer *p = fm_arena_one(arena, fm_json_printer);

    if (!p) return fm_no_memory(arena, err);
    FM_TRY(make_node(arena, type, &p->root, err));
    FM_TRY(fm_options_bool(options, "ignoreNullFields", true, &p->skip_nulls, err));
    FM_TRY(fm_options_bool(options, "writeNonAsciiCharacterAsCodePoint", false, &p->ascii, err));
    FM_TRY(fm_zone_option(options, zone, arena, &p->zone, err));
    FM_TRY(fm_time_format_option(options, "timestampFormat", arena, &p->timestamp_format, err));
    FM_TRY(fm_time_format_option(options, "timestampNTZFormat", arena, &p->ntz_format, err));
    FM_TRY(fm_time_format_option(options, "dateFormat", arena, &p->date_format, err));
    *out = p;
    return FM_OK;
}

/* ---- text ---- */

/* Room for len bytes and a NUL behind them. */
static inline bool room(fm_strbuf *out, size_t len)
{
    return (out->cap - out->len > len && !out->failed) || fm_strbuf_reserve(out, len);
}

static void add(fm_strbuf *out, const char *bytes, size_t len)
{
    if (!room(out, len)) return;
    memcpy(out->ptr + out->len, bytes, len);
    out->len += len;
}

static void add_char(fm_strbuf *out, char c)
{
    if (room(out, 1)) out->ptr[out->len++] = c;
}

/* Whether one of eight bytes must be escaped: below a blank, '"' or '\'. May say so for nothing
 * (behind a byte that must be), never the other way. */
static bool has_special(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    uint64_t quote = x ^ (ones * '"'), slash = x ^ (ones * '\\');
    uint64_t below = (x - ones * 0x20) & ~x, q = (quote - ones) & ~quote,
             s = (slash - ones) & ~slash;

    return ((below | q | s) & high) != 0;
}

static void add_string(fm_strbuf *out, const char *text, size_t len)
{
    size_t i = 0;

    if (!room(out, len + 2)) return;
    char *w = out->ptr + out->len + 1;
    for (; i + 8 <= len; i += 8) {
        uint64_t x;
        memcpy(&x, text + i, 8);
        if (has_special(x)) break;
        memcpy(w + i, &x, 8);
    }
    for (; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\') break;
        w[i] = (char)c;
    }
    if (i < len) {
        fm_strbuf_add_json(out, (fm_str){text, len});
        return;
    }
    w[-1] = '"';
    w[len] = '"';
    out->len += len + 2;
}

/* The same with every character beyond ASCII as \uXXXX. */
static void add_ascii_string(fm_strbuf *out, fm_str text)
{
    fm_strbuf json = {0};

    fm_strbuf_add_json(&json, text);
    for (size_t i = 0; i < json.len; i++) {
        const unsigned char *p = (const unsigned char *)json.ptr + i;
        int more = p[0] < 0xC0 ? 0 : p[0] < 0xE0 ? 1 : p[0] < 0xF0 ? 2 : 3;
        if (more == 0 || json.len - i <= (size_t)more) {
            add_char(out, json.ptr[i]);
            continue;
        }
        uint32_t c = p[0] & (0x3Fu >> more);
        for (int k = 1; k <= more; k++) c = c << 6 | (p[k] & 0x3F);
        if (c >= 0x10000) fm_strbuf_printf(out, "\\u%04X", 0xD800 + ((c - 0x10000) >> 10));
        fm_strbuf_printf(out, "\\u%04X", c >= 0x10000 ? 0xDC00 + (c & 0x3FF) : c);
        i += (size_t)more;
    }
    if (!fm_strbuf_ok(&json)) out->failed = true;
    fm_strbuf_fini(&json);
}

static void add_base64(fm_strbuf *out, fm_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    add_char(out, '"');
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i;
        const unsigned char *p = (const unsigned char *)bytes.ptr + i;
        uint32_t x = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0u);
        char four[4] = {digits[x >> 18], digits[x >> 12 & 63], n > 1 ? digits[x >> 6 & 63] : '=',
                        n > 2 ? digits[x & 63] : '='};
        add(out, four, 4);
    }
    add_char(out, '"');
}

/* ---- numbers ---- */

static void add_i64(fm_strbuf *out, int64_t x)
{
    if (room(out, 24)) out->len += fm_i64_text(x, out->ptr + out->len);
}

static void add_floating(fm_strbuf *out, double x, bool narrow)
{
    if (!room(out, FM_DOUBLE_TEXT_SIZE + 2)) return;
    bool quoted = !isfinite(x);
    if (quoted) out->ptr[out->len++] = '"';
    char *w = out->ptr + out->len;
    out->len += narrow ? fm_float_text((float)x, w) : fm_double_text(x, w);
    if (quoted) out->ptr[out->len++] = '"';
}

static void add_decimal(fm_strbuf *out, fm_i128 unscaled, int scale)
{
    if (room(out, FM_DECIMAL_TEXT_SIZE)) out->len += fm_decimal_java_text(unscaled, scale, out->ptr + out->len);
}

/* ---- times ---- */

static char *two(char *w, int32_t x)
{
    w[0] = (char)('0' + x / 10);
    w[1] = (char)('0' + x % 10);
    return w + 2;
}

/* "2026-01-01T10:00:00.123" of a local clock. */
static char *local_text(char *w, int64_t local_us)
{
    int64_t day = fm_floor_div(local_us, FM_US_PER_DAY);
    int32_t ms = (int32_t)(fm_floor_mod(local_us, FM_US_PER_DAY) / 1000);

    w += fm_date_text((int32_t)day, w);
    *w++ = 'T';
    w = two(w, ms / 3600000);
    *w++ = ':';
    w = two(w, ms / 60000 % 60);
    *w++ = ':';
    w = two(w, ms / 1000 % 60);
    *w++ = '.';
    *w++ = (char)('0' + ms % 1000 / 100);
    return two(w, ms % 100);
}

static char *offset_text(char *w, int32_t offset_s)
{
    if (offset_s == 0) {
        *w++ = 'Z';
        return w;
    }
    *w++ = offset_s < 0 ? '-' : '+';
    if (offset_s < 0) offset_s = -offset_s;
    w = two(w, offset_s / 3600);
    *w++ = ':';
    return two(w, offset_s / 60 % 60);
}

static size_t time_text(const fm_json_printer *p, int64_t us, bool ntz, char *text)
{
    char *w = text;

    *w++ = '"';
    w = local_text(w, ntz ? us : fm_zone_to_local(p->zone, us));
    if (!ntz) w = offset_text(w, fm_zone_offset_s(p->zone, us));
    *w++ = '"';
    return (size_t)(w - text);
}

/* The text of a pattern, as a JSON string; it is freed. */
static void add_text(fm_strbuf *text, fm_strbuf *out)
{
    fm_strbuf_add_json(out, fm_strbuf_str(text));
    if (!fm_strbuf_ok(text)) out->failed = true;
    fm_strbuf_fini(text);
}

static void add_pattern(const fm_time_format *f, int64_t us, const fm_zone *zone, fm_strbuf *out)
{
    fm_strbuf text = {0};

    fm_time_format_print(f, us, zone, &text);
    add_text(&text, out);
}

static void add_time(const fm_json_printer *p, fm_json_print_cache *cache, int64_t us, bool ntz,
                     fm_strbuf *out)
{
    const fm_time_format *format = ntz ? p->ntz_format : p->timestamp_format;
    char text[2 * FM_TIME_TEXT_SIZE];

    if (format) {
        add_pattern(format, us, ntz ? fm_zone_utc() : p->zone, out);
        return;
    }
    for (int i = 0; cache && i < 4; i++) {
        if (cache->times[i].us != us || !cache->times[i].len || cache->times[i].ntz != ntz)
            continue;
        add(out, cache->times[i].text, cache->times[i].len);
        return;
    }
    size_t len = time_text(p, us, ntz, text);
    add(out, text, len);
    if (!cache || len > sizeof cache->times[0].text) return;
    unsigned at = cache->next++ & 3;
    cache->times[at].us = us;
    cache->times[at].ntz = ntz;
    cache->times[at].len = (uint8_t)len;
    memcpy(cache->times[at].text, text, len);
}

static void add_date(const fm_json_printer *p, int32_t day, fm_strbuf *out)
{
    if (p->date_format) {
        fm_strbuf text = {0};
        fm_time_format_print_day(p->date_format, day, &text);
        add_text(&text, out);
        return;
    }
    if (!room(out, FM_TIME_TEXT_SIZE + 2)) return;
    out->ptr[out->len++] = '"';
    out->len += fm_date_text(day, out->ptr + out->len);
    out->ptr[out->len++] = '"';
}

/* ---- values ---- */

static void add_value(const fm_json_printer *p, fm_json_print_cache *c, const node *n,
                      const fm_vec *v, int64_t i, fm_strbuf *out);

/* Names of maps are the text of the key as Spark holds it: times as their number. */
static void add_key(const fm_json_printer *p, const fm_vec *keys, int64_t i, fm_strbuf *out)
{
    fm_strbuf text = {0};

    switch (keys->type->id) {
    case FM_TYPE_STRING: {
        fm_str key = fm_vec_str(keys, i);
        if (p->ascii)
            add_ascii_string(out, key);
        else
            add_string(out, key.ptr, key.len);
        return;
    }
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: fm_strbuf_printf(&text, "%d", fm_vec_i32(keys)[i]); break;
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: add_i64(&text, fm_vec_i64(keys)[i]); break;
    default: fm_value_text(keys, i, p->zone, &text); break;
    }
    fm_strbuf_add_json(out, fm_strbuf_str(&text));
    if (!fm_strbuf_ok(&text)) out->failed = true;
    fm_strbuf_fini(&text);
}

static void add_struct(const fm_json_printer *p, fm_json_print_cache *c, const node *n,
                       const fm_vec *v, int64_t i, fm_strbuf *out)
{
    bool comma = false;

    add_char(out, '{');
    for (int32_t f = 0; f < n->n; f++) {
        const node *child = &n->children[f];
        if (p->skip_nulls && fm_vec_is_null(&v->children[f], i)) continue;
        if (comma) add_char(out, ',');
        comma = true;
        add(out, child->name.ptr, child->name.len);
        add_value(p, c, child, &v->children[f], i, out);
    }
    add_char(out, '}');
}

static void add_list(const fm_json_printer *p, fm_json_print_cache *c, const node *n,
                     const fm_vec *v, int64_t i, fm_strbuf *out)
{
    add_char(out, '[');
    for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++) {
        if (k > v->offsets[i]) add_char(out, ',');
        add_value(p, c, &n->children[0], &v->children[0], k, out);
    }
    add_char(out, ']');
}

static void add_map(const fm_json_printer *p, fm_json_print_cache *c, const node *n,
                    const fm_vec *v, int64_t i, fm_strbuf *out)
{
    add_char(out, '{');
    for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++) {
        if (k > v->offsets[i]) add_char(out, ',');
        add_key(p, &v->children[0], k, out);
        add_char(out, ':');
        add_value(p, c, &n->children[1], &v->children[1], k, out);
    }
    add_char(out, '}');
}

static void add_value(const fm_json_printer *p, fm_json_print_cache *c, const node *n,
                      const fm_vec *v, int64_t i, fm_strbuf *out)
{
    if (fm_vec_is_null(v, i)) {
        add(out, "null", 4);
        return;
    }
    switch (n->type->id) {
    case FM_TYPE_BOOL: fm_vec_bool(v)[i] ? add(out, "true", 4) : add(out, "false", 5); break;
    case FM_TYPE_I8: add_i64(out, fm_vec_i8(v)[i]); break;
    case FM_TYPE_I16: add_i64(out, fm_vec_i16(v)[i]); break;
    case FM_TYPE_I32: add_i64(out, fm_vec_i32(v)[i]); break;
    case FM_TYPE_I64: add_i64(out, fm_vec_i64(v)[i]); break;
    case FM_TYPE_F32: add_floating(out, (double)fm_vec_f32(v)[i], true); break;
    case FM_TYPE_F64: add_floating(out, fm_vec_f64(v)[i], false); break;
    case FM_TYPE_DECIMAL: add_decimal(out, fm_vec_decimal(v)[i], n->type->scale); break;
    case FM_TYPE_STRING: {
        const fm_view *view = &fm_vec_view(v)[i];
        if (p->ascii)
            add_ascii_string(out, fm_view_str(view));
        else
            add_string(out, fm_view_ptr(view), view->len);
        break;
    }
    case FM_TYPE_BINARY: add_base64(out, fm_vec_str(v, i)); break;
    case FM_TYPE_DATE: add_date(p, fm_vec_i32(v)[i], out); break;
    case FM_TYPE_TIMESTAMP: add_time(p, c, fm_vec_i64(v)[i], false, out); break;
    case FM_TYPE_TIMESTAMP_NTZ: add_time(p, c, fm_vec_i64(v)[i], true, out); break;
    case FM_TYPE_LIST: add_list(p, c, n, v, i, out); break;
    case FM_TYPE_MAP: add_map(p, c, n, v, i, out); break;
    case FM_TYPE_STRUCT: add_struct(p, c, n, v, i, out); break;
    default: /* intervals: INTERVAL '1' DAY, as text */
        add_char(out, '"');
        fm_value_text(v, i, p->zone, out);
        add_char(out, '"');
        break;
    }
}

void fm_json_print_cached(const fm_json_printer *printer, fm_json_print_cache *cache,
                          const fm_vec *v, int64_t i, fm_strbuf *out)
{
    add_value(printer, cache, &printer->root, v, i, out);
    if (room(out, 1)) out->ptr[out->len] = 0;
}

void fm_json_print(const fm_json_printer *printer, const fm_vec *v, int64_t i, fm_strbuf *out)
{
    fm_json_print_cached(printer, NULL, v, i, out);
}

/* ---- files ---- */

/* Rows of a file are written straight into the buffer, column by column of a row: room for the whole row is made at once,
 * names and times are copied in pieces of a fixed size. Values of other types than the usual ones go the way above. */
enum {
    PIECE = 16,
    TIMES_KEPT = 1024, /* windows of a few seconds over an hour */
    TIME_PIECES_SIZE = 48,
    F64_PIECES_SIZE = 32,
    FLAT_VALUE_SIZE = 2 * FM_TIME_TEXT_SIZE
};
_Static_assert((int)FM_DOUBLE_TEXT_SIZE <= (int)F64_PIECES_SIZE, "any double's text can be kept");

typedef enum flat_kind { FLAT_I64, FLAT_I32, FLAT_F64, FLAT_STRING, FLAT_TIME, FLAT_OTHER } flat_kind;

/* A time printed before: of windows, many rows have the same. */
typedef struct kept_time {
    int64_t us;
    size_t len; /* 0: none yet */
    char text[TIME_PIECES_SIZE];
} kept_time;

typedef struct flat_column {
    flat_kind kind;
    const char *name; /* ",\"name\":", with zeros up to a multiple of PIECE */
    size_t name_len;
    const node *node;
    kept_time *times;  /* FLAT_TIME: [TIMES_KEPT] by kept_place */
    uint64_t f64_bits; /* FLAT_F64: the number printed last; f64_len 0: none yet */
    size_t f64_len;
    char f64_text[F64_PIECES_SIZE];
} flat_column;

typedef struct json_writer {
    const fm_json_printer *printer;
    fm_json_print_cache cache;
    fm_str line_sep;
    flat_column *columns;
    size_t row_size; /* room that a row needs at most, besides its strings and what is of other types */
} json_writer;

static flat_kind flat_kind_of(const fm_json_printer *p, const fm_type *type)
{
    switch (type->id) {
    case FM_TYPE_I64: return FLAT_I64;
    case FM_TYPE_I32: return FLAT_I32;
    case FM_TYPE_F64: return FLAT_F64;
    case FM_TYPE_STRING: return p->ascii ? FLAT_OTHER : FLAT_STRING;
    case FM_TYPE_TIMESTAMP: return p->timestamp_format ? FLAT_OTHER : FLAT_TIME;
    case FM_TYPE_TIMESTAMP_NTZ: return p->ntz_format ? FLAT_OTHER : FLAT_TIME;
    default: return FLAT_OTHER;
    }
}

static fm_status plan_columns(json_writer *w, fm_arena *arena, fm_error *err)
{
    const node *root = &w->printer->root;

    w->columns = fm_arena_array(arena, flat_column, root->n);
    if (!w->columns) return fm_no_memory(arena, err);
    w->row_size = w->line_sep.len + 2 * PIECE;
    for (int32_t i = 0; i < root->n; i++) {
        const node *n = &root->children[i];
        size_t len = n->name.len + 1, size = (len + PIECE) / PIECE * PIECE;
        char *name = fm_arena_alloc(arena, size, 1);
        if (!name) return fm_no_memory(arena, err);
        memset(name, 0, size);
        name[0] = ',';
        memcpy(name + 1, n->name.ptr, n->name.len);
        flat_column *c = &w->columns[i];
        *c = (flat_column){.kind = flat_kind_of(w->printer, n->type), .name = name, .name_len = len, .node = n};
        if (c->kind == FLAT_TIME && !(c->times = fm_arena_array(arena, kept_time, TIMES_KEPT))) return fm_no_memory(arena, err);
        w->row_size += size + FLAT_VALUE_SIZE;
    }
    return FM_OK;
}

fm_status fm_json_writer_new(fm_arena *arena, const fm_type *schema, const fm_options *options,
                             const fm_zone *zone, fm_writer **out, fm_error *err)
{
    json_writer *w = fm_arena_one(arena, json_writer);
    fm_json_printer *printer;

    if (!w) return fm_no_memory(arena, err);
    FM_TRY(fm_json_printer_new(arena, schema, options, zone, &printer, err));
    FM_TRY(fm_line_sep_option(options, arena, &w->line_sep, err));
    if (w->line_sep.len == 0) w->line_sep = FM_STR("\n");
    w->printer = printer;
    *out = (fm_writer *)w;
    return plan_columns(w, arena, err);
}

static inline char *put_name(char *to, const flat_column *c)
{
    for (size_t i = 0; i < c->name_len; i += PIECE) memcpy(to + i, c->name + i, PIECE);
    return to + c->name_len;
}

static inline uint32_t kept_place(int64_t us)
{
    _Static_assert(TIMES_KEPT == 1024, "ten bits of the product");
    return (uint32_t)(((uint64_t)us * UINT64_C(0x9E3779B97F4A7C15)) >> 54);
}

static inline char *put_time(const fm_json_printer *p, char *to, flat_column *c, int64_t us)
{
    kept_time *kept = &c->times[kept_place(us)];

    if (kept->us != us || kept->len == 0) {
        char text[2 * FM_TIME_TEXT_SIZE];
        size_t len = time_text(p, us, c->node->type->id == FM_TYPE_TIMESTAMP_NTZ, text);
        if (len > TIME_PIECES_SIZE) { /* a year of many digits */
            memcpy(to, text, len);
            return to + len;
        }
        kept->us = us;
        kept->len = len;
        memcpy(kept->text, text, len);
    }
    memcpy(to, kept->text, TIME_PIECES_SIZE);
    return to + kept->len;
}

/* Of overlapping windows, neighbours often have the same sum. */
static inline char *put_f64(char *to, flat_column *c, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    if (bits != c->f64_bits || c->f64_len == 0) {
        c->f64_bits = bits;
        c->f64_len = fm_double_text(x, c->f64_text);
    }
    memcpy(to, c->f64_text, F64_PIECES_SIZE);
    return to + c->f64_len;
}

/* A string of up to 12 bytes; NULL: something in it must be escaped. */
static inline char *put_short_string(char *to, const fm_view *v)
{
    const uint64_t blanks = UINT64_C(0x2020202020202020);
    uint64_t low;
    uint32_t high;

    memcpy(&low, v->u.inlined, sizeof low);
    memcpy(&high, v->u.inlined + sizeof low, sizeof high);
    /* The zeros behind the text are not looked at. */
    uint64_t low_behind = v->len >= 8 ? 0 : blanks << (8 * v->len);
    uint64_t high_behind = v->len <= 8 ? blanks : blanks << (8 * (v->len - 8));
    if ((int)has_special(low | low_behind) | (int)has_special(high | high_behind)) return NULL;
    to[0] = '"';
    memcpy(to + 1, &low, sizeof low);
    memcpy(to + 1 + sizeof low, &high, sizeof high);
    to[1 + v->len] = '"';
    return to + v->len + 2;
}

/* Values that may need any amount of room: through the buffer. */
static char *put_unbounded(json_writer *w, const flat_column *c, const fm_vec *v, int32_t i, char *to, fm_strbuf *out)
{
    out->len = (size_t)(to - out->ptr);
    add_value(w->printer, &w->cache, c->node, v, i, out);
    return room(out, w->row_size) ? out->ptr + out->len : NULL;
}

static inline char *put_flat(json_writer *w, flat_column *c, const fm_vec *v, int32_t i, char *to, fm_strbuf *out)
{
    switch (c->kind) {
    case FLAT_I64: return to + fm_i64_text(fm_vec_i64(v)[i], to);
    case FLAT_I32: return to + fm_i64_text(fm_vec_i32(v)[i], to);
    case FLAT_F64:
        if (!isfinite(fm_vec_f64(v)[i])) break;
        return put_f64(to, c, fm_vec_f64(v)[i]);
    case FLAT_TIME: return put_time(w->printer, to, c, fm_vec_i64(v)[i]);
    case FLAT_STRING: {
        const fm_view *view = &fm_vec_view(v)[i];
        char *end = view->len <= FM_VIEW_INLINE ? put_short_string(to, view) : NULL;
        if (end) return end;
        break;
    }
    case FLAT_OTHER: break;
    }
    return put_unbounded(w, c, v, i, to, out);
}

static bool put_row(json_writer *w, const fm_batch *batch, int32_t i, fm_strbuf *out)
{
    int32_t n = w->printer->root.n;

    if (!room(out, w->row_size)) return false;
    size_t begin = out->len;
    char *to = out->ptr + begin;
    for (int32_t k = 0; k < n; k++) {
        flat_column *c = &w->columns[k];
        const fm_vec *v = &batch->columns[k];
        bool is_null = fm_vec_is_null(v, i);
        if (is_null && w->printer->skip_nulls) continue;
        to = put_name(to, c);
        to = is_null ? (char *)memcpy(to, "null", 4) + 4 : put_flat(w, c, v, i, to, out);
        if (!to) return false;
    }
    if (to == out->ptr + begin) to++; /* nothing in it */
    out->ptr[begin] = '{'; /* instead of the first comma */
    *to++ = '}';
    memcpy(to, w->line_sep.ptr, w->line_sep.len);
    out->len = (size_t)(to - out->ptr) + w->line_sep.len;
    return true;
}

fm_status fm_json_writer_batch(fm_writer *writer, const fm_batch *batch, fm_strbuf *out,
                               fm_error *err)
{
    json_writer *w = (json_writer *)writer;

    for (int32_t i = 0; i < batch->rows; i++) {
        if (!put_row(w, batch, i, out)) break;
    }
    if (room(out, 1)) out->ptr[out->len] = 0;
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}
