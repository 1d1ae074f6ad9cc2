/* format/json_reprint.c: copies JSON in normal form. */
#include "format/json_reprint.h"

#include "expr/cast.h"
#include "format/text_value.h"

#include <math.h>

/* In quotes. Characters beyond U+FFFF are written as two escapes, as Jackson's generator of bytes does. */
static void add_string(fm_str text, fm_strbuf *out)
{
    size_t start = out->len, plain = 0;

    fm_strbuf_add_json(out, text);
    if (!fm_strbuf_ok(out)) return;
    while (start + plain < out->len && (unsigned char)out->ptr[start + plain] < 0xF0) plain++;
    if (start + plain == out->len) return;
    fm_strbuf copy = {0};
    fm_strbuf_add(&copy, (fm_str){out->ptr + start, out->len - start});
    out->len = start;
    for (size_t i = 0; fm_strbuf_ok(&copy) && i < copy.len; i++) {
        const unsigned char *c = (const unsigned char *)copy.ptr + i;
        if (*c < 0xF0 || copy.len - i < 4) {
            fm_strbuf_add_char(out, (char)*c);
            continue;
        }
        uint32_t u = ((*c & 7u) << 18 | (c[1] & 63u) << 12 | (c[2] & 63u) << 6 | (c[3] & 63u)) - 0x10000;
        fm_strbuf_printf(out, "\\u%04X\\u%04X", (unsigned)(0xD800 + (u >> 10)), (unsigned)(0xDC00 + (u & 0x3FF)));
        i += 3;
    }
    if (!fm_strbuf_ok(&copy)) out->failed = true;
    fm_strbuf_fini(&copy);
}

static void add_integer(fm_str text, fm_strbuf *out)
{
    bool negative = text.len && text.ptr[0] == '-';
    size_t at = negative;

    while (at + 1 < text.len && text.ptr[at] == '0') at++;
    bool zero = at + 1 == text.len && text.ptr[at] == '0';
    if (negative && !zero) fm_strbuf_add_char(out, '-');
    fm_strbuf_add(out, (fm_str){text.ptr + at, text.len - at});
}

static bool add_float(fm_str text, fm_strbuf *out)
{
    char digits[FM_DOUBLE_TEXT_SIZE];
    double x;

    if (!fm_number_text_f64(text, &x)) return false;
    fm_str t = {digits, fm_double_text(x, digits)};
    if (!isfinite(x)) fm_strbuf_add_char(out, '"');
    fm_strbuf_add(out, t);
    if (!isfinite(x)) fm_strbuf_add_char(out, '"');
    return true;
}

bool fm_json_reprint_scalar(fm_json_scan *s, fm_strbuf *out)
{
    switch (s->token) {
    case FM_JT_STRING:
        if (!fm_json_text(s)) return false;
        add_string(s->text, out);
        return true;
    case FM_JT_INT: add_integer(s->number, out); return true;
    case FM_JT_FLOAT: return add_float(s->number, out);
    case FM_JT_TRUE: fm_strbuf_add_c(out, "true"); return true;
    case FM_JT_FALSE: fm_strbuf_add_c(out, "false"); return true;
    case FM_JT_NULL: fm_strbuf_add_c(out, "null"); return true;
    default: return false;
    }
}

bool fm_json_reprint(fm_json_scan *s, fm_strbuf *out)
{
    int64_t open = 0;

    for (bool comma = false;;) {
        fm_json_token t = s->token;
        bool closes = t == FM_JT_OBJECT_END || t == FM_JT_ARRAY_END;
        if (comma && !closes) fm_strbuf_add_char(out, ',');
        comma = true;
        switch (t) {
        case FM_JT_FIELD:
            add_string(fm_json_name(s), out);
            fm_strbuf_add_char(out, ':');
            comma = false;
            break;
        case FM_JT_OBJECT:
        case FM_JT_ARRAY:
            fm_strbuf_add_char(out, t == FM_JT_OBJECT ? '{' : '[');
            open++;
            comma = false;
            break;
        case FM_JT_OBJECT_END:
        case FM_JT_ARRAY_END:
            fm_strbuf_add_char(out, t == FM_JT_OBJECT_END ? '}' : ']');
            open--;
            break;
        default:
            if (!fm_json_reprint_scalar(s, out)) return false;
            break;
        }
        if (open == 0 && t != FM_JT_FIELD) return true;
        if (fm_json_next(s) == FM_JT_ERROR) return false;
    }
}
