/* format/json_reprint.c: copies JSON in normal form. */
#include "format/json_reprint.h"

#include "expr/cast.h"
#include "format/text_value.h"

#include <math.h>

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
        fm_strbuf_add_json(out, s->text);
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
            fm_strbuf_add_json(out, fm_json_name(s));
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
