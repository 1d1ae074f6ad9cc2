/* expr/java_regex_class.c: characters and sets of characters in Java's regular expressions: escapes and [...].
 *
 * PCRE2 knows neither nested classes nor &&. A set is kept as what may stand between PCRE2's brackets and, beside it,
 * patterns that take one character each; so unions join both, an intersection A && B is (?=A)B, and the complement of a set
 * with such patterns is (?!A)[\s\S]. */
#include "expr/java_regex_internal.h"

/* ---- sets -------------------------------------------------------------------------------------------------- */

void jre_set_fini(jre_set *set)
{
    fm_strbuf_fini(&set->flat);
    fm_strbuf_fini(&set->others);
}

static bool is_empty(const jre_set *set) { return !set->flat.len && !set->others.len; }

void jre_set_print(const jre_set *set, bool negated, fm_strbuf *out)
{
    if (!set->others.len) {
        if (!set->flat.len) {
            fm_strbuf_add_c(out, negated ? "[\\s\\S]" : "(?!)");
            return;
        }
        fm_strbuf_add_c(out, negated ? "[^" : "[");
        fm_strbuf_add(out, fm_strbuf_str(&set->flat));
        fm_strbuf_add_char(out, ']');
        return;
    }
    fm_strbuf_add_c(out, negated ? "(?:(?!" : "(?:");
    if (set->flat.len) {
        fm_strbuf_add_char(out, '[');
        fm_strbuf_add(out, fm_strbuf_str(&set->flat));
        fm_strbuf_add_c(out, "]|");
    }
    fm_strbuf_add(out, fm_strbuf_str(&set->others));
    fm_strbuf_add_c(out, negated ? ")[\\s\\S])" : ")");
}

/* A pattern of one character joins the set. */
static void add_other(jre_set *set, fm_str pattern)
{
    if (set->others.len) fm_strbuf_add_char(&set->others, '|');
    fm_strbuf_add(&set->others, pattern);
}

static bool folds_unicode(unsigned flags) { return (flags & JRE_I) && (flags & JRE_U); }

static void add_range_text(fm_strbuf *out, int32_t from, int32_t to)
{
    jre_add_char(out, from);
    if (to == from) return;
    fm_strbuf_add_char(out, '-');
    jre_add_char(out, to);
}

/* The part of [from, to] within [low, high] again, `by` further on. */
static void add_folded(fm_strbuf *out, int32_t from, int32_t to, int32_t low, int32_t high, int32_t by)
{
    if (from < low) from = low;
    if (to > high) to = high;
    if (from <= to) add_range_text(out, from + by, to + by);
}

static void add_range(jre_set *set, int32_t from, int32_t to, unsigned flags)
{
    fm_strbuf text = {0};
    from = jre_plain(from);
    to = jre_plain(to);
    /* Half pairs stand in no text, and PCRE2 refuses them. */
    if (from >= 0xD800 && from < 0xE000) from = 0xE000;
    if (to >= 0xD800 && to < 0xE000) to = 0xD7FF;
    if (from > to) return;
    if (folds_unicode(flags) && (from != to || from >= 0x80 || ((from | 32) >= 'a' && (from | 32) <= 'z'))) {
        fm_strbuf_add_c(&text, "(?i:[");
        add_range_text(&text, from, to);
        fm_strbuf_add_c(&text, "])");
        add_other(set, fm_strbuf_str(&text));
        fm_strbuf_fini(&text);
        return;
    }
    add_range_text(&set->flat, from, to);
    if (!(flags & JRE_I)) return;
    add_folded(&set->flat, from, to, 'a', 'z', -32);
    add_folded(&set->flat, from, to, 'A', 'Z', 32);
}

void jre_set_add_char(jre_set *set, int32_t c, unsigned flags) { add_range(set, c, c, flags); }

/* ---- escapes ----------------------------------------------------------------------------------------------- */

static int hex_digit(int32_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c < 0x80 && (c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

static fm_status hex(jre_parser *p, int digits, int32_t *out)
{
    int32_t x = 0;
    for (int i = 0; i < digits; i++) {
        int d = hex_digit(jre_take(p));
        if (d < 0) return jre_invalid(p, "an escape that needs more hexadecimal digits");
        x = x * 16 + d;
    }
    *out = x;
    return FM_OK;
}

/* Behind "\x". */
static fm_status hex_escape(jre_parser *p, int32_t *out)
{
    int32_t x = 0, n = 0, c;
    if (p->at >= p->n || p->chars[p->at] != '{') return hex(p, 2, out);
    p->at++;
    for (; (c = jre_take(p)) != '}'; n++) {
        int d = hex_digit(c);
        if (d < 0) return jre_invalid(p, "\\x{...} is of hexadecimal digits");
        x = x * 16 + d;
        if (x > 0x10FFFF) return jre_invalid(p, "a code point beyond 10FFFF");
    }
    if (!n) return jre_invalid(p, "an empty \\x{}");
    *out = x;
    return FM_OK;
}

/* Behind "\u"; two halves make one character. */
static fm_status unicode_escape(jre_parser *p, int32_t *out)
{
    int32_t low = 0, at;
    FM_TRY(hex(p, 4, out));
    at = p->at;
    if (*out < 0xD800 || *out >= 0xDC00 || at + 6 > p->n || p->chars[at] != '\\' || p->chars[at + 1] != 'u')
        return FM_OK;
    p->at += 2;
    FM_TRY(hex(p, 4, &low));
    if (low >= 0xDC00 && low < 0xE000)
        *out = 0x10000 + ((*out - 0xD800) << 10) + (low - 0xDC00);
    else
        p->at = at;
    return FM_OK;
}

/* Behind "\0": one to three digits, the value below 256. */
static fm_status octal_escape(jre_parser *p, int32_t *out)
{
    int32_t x = 0, n = 0;
    while (n < 3 && p->at < p->n && p->chars[p->at] >= '0' && p->chars[p->at] <= '7' &&
           x * 8 + p->chars[p->at] - '0' < 256) {
        x = x * 8 + jre_take(p) - '0';
        n++;
    }
    if (!n) return jre_invalid(p, "\\0 is followed by octal digits");
    *out = x;
    return FM_OK;
}

fm_status jre_char_escape(jre_parser *p, int32_t *c)
{
    static const char letters[] = "tnrfae", values[] = "\t\n\r\f\a\x1b";
    int32_t x = p->at < p->n ? p->chars[p->at] : JRE_END;
    const char *simple;
    *c = JRE_END;
    if (x == JRE_END) return jre_invalid(p, "a '\\' at the end");
    p->at++;
    if (x > 0 && x < 0x80 && (simple = strchr(letters, (char)x))) {
        *c = values[simple - letters];
        return FM_OK;
    }
    switch (x) {
    case 'x': return hex_escape(p, c);
    case 'u': return unicode_escape(p, c);
    case '0': return octal_escape(p, c);
    case 'c':
        if (p->at >= p->n) return jre_invalid(p, "\\c is followed by a character");
        *c = jre_take(p) ^ 64;
        return FM_OK;
    case 'N': return jre_unsupported(p, "\\N{name}");
    default: break;
    }
    if (x < 0x80 && (((x | 32) >= 'a' && (x | 32) <= 'z') || (x >= '0' && x <= '9')))
        p->at--; /* another kind of escape, or none */
    else
        *c = x;
    return FM_OK;
}

/* Behind "\p" or "\P". */
static fm_status property_escape(jre_parser *p, jre_set *set, bool negated)
{
    fm_strbuf name = {0};
    bool known = false;
    fm_status st = FM_OK;
    int32_t c = jre_take(p);
    if (c == '{') {
        while ((c = jre_take(p)) != '}' && c != JRE_END && c > 0 && c < 0x80) fm_strbuf_add_char(&name, (char)c);
        if (c != '}') st = jre_invalid(p, "unclosed \\p{...}");
    } else if (c > 0 && c < 0x80) {
        fm_strbuf_add_char(&name, (char)c);
    }
    if (st == FM_OK) st = jre_property(p, fm_strbuf_str(&name), set, negated, &known);
    if (st == FM_OK && !known) st = jre_invalid(p, "a \\p{...} that is not known");
    fm_strbuf_fini(&name);
    return st;
}

fm_status jre_class_escape(jre_parser *p, jre_set *set, bool *found)
{
    static const struct { char letter; const char *ascii, *unicode; } sets[] = {
        {'d', "0-9", "\\p{Nd}"},
        {'D', "[^0-9]", "\\P{Nd}"},
        {'s', " \\t\\n\\x{b}\\f\\r", "\\p{White_Space}"},
        {'S', "[^ \\t\\n\\x{b}\\f\\r]", "\\P{White_Space}"},
        {'w', "a-zA-Z_0-9", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"},
        {'W', "[^a-zA-Z_0-9]", "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}]"},
        {'h', "\\h", "\\h"}, {'H', "\\H", "\\H"}, {'v', "\\v", "\\v"}, {'V', "\\V", "\\V"},
    };
    int32_t c = p->at < p->n ? p->chars[p->at] : JRE_END;
    *found = true;
    if (c == 'p' || c == 'P') {
        p->at++;
        return property_escape(p, set, c == 'P');
    }
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const char *text = p->flags & JRE_UCLASS ? sets[i].unicode : sets[i].ascii;
        if (c != sets[i].letter) continue;
        p->at++;
        if (text[0] == '[')
            add_other(set, fm_str_c(text));
        else
            fm_strbuf_add_c(&set->flat, text);
        return FM_OK;
    }
    *found = false;
    return FM_OK;
}

/* ---- [...] ------------------------------------------------------------------------------------------------- */

static fm_status set_of_class(jre_parser *p, bool closes, fm_strbuf *out);

/* One character of a class, *c, or a set added to `set`, *c then JRE_END. */
static fm_status class_char(jre_parser *p, jre_set *set, int32_t *c)
{
    bool found;
    *c = jre_peek(p);
    if (*c == JRE_END) return jre_invalid(p, "unclosed character class");
    p->at++;
    if (*c != '\\') return FM_OK;
    FM_TRY(jre_class_escape(p, set, &found));
    if (found) {
        *c = JRE_END;
        return FM_OK;
    }
    FM_TRY(jre_char_escape(p, c));
    return *c == JRE_END ? jre_invalid(p, "an escape that means nothing in a class") : FM_OK;
}

/* A character, a range or an escape. */
static fm_status class_item(jre_parser *p, jre_set *set)
{
    int32_t from, to;
    FM_TRY(class_char(p, set, &from));
    if (from == JRE_END) return FM_OK;
    if (jre_peek(p) == '-' && p->at + 1 < p->n && p->chars[p->at + 1] != '[' && p->chars[p->at + 1] != ']') {
        p->at++;
        FM_TRY(class_char(p, set, &to));
        if (to == JRE_END) return jre_invalid(p, "a range that ends in a set");
        if (jre_plain(to) < jre_plain(from)) return jre_invalid(p, "a range whose end lies before its begin");
        add_range(set, from, to, p->flags);
        return FM_OK;
    }
    jre_set_add_char(set, from, p->flags);
    return FM_OK;
}

static void clear(jre_set *set)
{
    fm_strbuf_clear(&set->flat);
    fm_strbuf_clear(&set->others);
}

/* Behind "&&": what stands on the right, up to "&&" or ']'. */
static fm_status right_side(jre_parser *p, fm_strbuf *right, bool *any)
{
    int32_t c;
    *any = false;
    while ((c = jre_peek(p)) != ']' && c != '&') {
        fm_strbuf one = {0};
        fm_status st;
        bool nested = c == '[';
        if (nested) p->at++;
        st = set_of_class(p, nested, &one);
        if (st == FM_OK) {
            if (nested && *any)
                fm_strbuf_add_char(right, '|'); /* [..][..]: both */
            else
                fm_strbuf_clear(right); /* plain text takes the place of what stood before, as in Java */
            fm_strbuf_add(right, fm_strbuf_str(&one));
            *any = true;
        }
        fm_strbuf_fini(&one);
        FM_TRY(st);
    }
    return FM_OK;
}

/* set = set && right. */
static fm_status intersect(jre_parser *p, jre_set *set)
{
    fm_strbuf right = {0}, both = {0};
    bool any;
    fm_status st = right_side(p, &right, &any);
    if (st == FM_OK && !any && is_empty(set)) st = jre_invalid(p, "'&&' between nothing");
    if (st == FM_OK && any) {
        fm_strbuf_add_c(&both, "(?:");
        if (!is_empty(set)) {
            fm_strbuf_add_c(&both, "(?=");
            jre_set_print(set, false, &both);
            fm_strbuf_add_char(&both, ')');
        }
        fm_strbuf_add_c(&both, "(?:");
        fm_strbuf_add(&both, fm_strbuf_str(&right));
        fm_strbuf_add_c(&both, "))");
        clear(set);
        add_other(set, fm_strbuf_str(&both));
    }
    fm_strbuf_fini(&right);
    fm_strbuf_fini(&both);
    return st;
}

static fm_status fill_class(jre_parser *p, bool closes, jre_set *set, bool *negated)
{
    bool first = true;
    for (;; first = false) {
        int32_t c = jre_peek(p);
        if (c == '^' && first && closes) {
            p->at++;
            *negated = true;
        } else if (c == '[') {
            fm_strbuf one = {0};
            fm_status st;
            p->at++;
            st = set_of_class(p, true, &one);
            if (st == FM_OK) add_other(set, fm_strbuf_str(&one));
            fm_strbuf_fini(&one);
            FM_TRY(st);
        } else if (c == '&' && p->at + 1 < p->n && p->chars[p->at + 1] == '&') {
            if (!closes) return FM_OK; /* the right side of "&&" ends */
            p->at += 2;
            FM_TRY(intersect(p, set));
        } else if (c == ']' && !is_empty(set)) {
            if (closes) p->at++;
            return FM_OK;
        } else {
            FM_TRY(class_item(p, set));
        }
    }
}

static fm_status set_of_class(jre_parser *p, bool closes, fm_strbuf *out)
{
    jre_set set = {0};
    bool negated = false;
    fm_status st;
    if (++p->depth > FM_JAVA_REGEX_DEPTH_MAX) return jre_unsupported(p, "classes more than 200 deep");
    st = fill_class(p, closes, &set, &negated);
    if (st == FM_OK) jre_set_print(&set, negated, out);
    jre_set_fini(&set);
    p->depth--;
    return st;
}

fm_status jre_class(jre_parser *p, fm_strbuf *out) { return set_of_class(p, true, out); }
