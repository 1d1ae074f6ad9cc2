/* expr/java_regex.c: alternatives, groups, quantifiers, anchors and flags of Java's regular expressions.
 *
 * A recursive descent over code points that prints as it goes. A quantifier binds to the atom printed before it: an atom of
 * several items is wrapped in (?:...) then. */
#include "expr/java_regex_internal.h"

#include "expr/text.h"

#define TERMINATORS "\\n\\r\\x{85}\\x{2028}\\x{2029}"
#define WORD "\\p{L}\\p{Nd}_\\p{Mn}"
#define WORD_UNICODE "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"

static fm_status alternatives(jre_parser *p);
static fm_status look_behind(jre_parser *p, unsigned flags_before);

/* ---- characters -------------------------------------------------------------------------------------------- */

fm_status jre_invalid(jre_parser *p, const char *why)
{
    return fm_fail(p->err, FM_INVALID, "INVALID_PARAMETER_VALUE.PATTERN", "%s near character %d", why, (int)p->at + 1);
}

fm_status jre_unsupported(jre_parser *p, const char *what)
{
    return fm_fail(p->err, FM_UNSUPPORTED, "FLOODMARK_PATTERN_NOT_SUPPORTED", "%s near character %d", what, (int)p->at + 1);
}

static bool is_blank(int32_t c) { return c == ' ' || (c >= 9 && c <= 13); }

static bool ends_comment(const jre_parser *p, int32_t c)
{
    if (p->flags & JRE_D) return c == '\n';
    return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

int32_t jre_peek(jre_parser *p)
{
    if (p->flags & JRE_X)
        while (p->at < p->n && (is_blank(p->chars[p->at]) || p->chars[p->at] == '#')) {
            if (p->chars[p->at] == '#')
                while (p->at < p->n && !ends_comment(p, p->chars[p->at])) p->at++;
            if (p->at < p->n) p->at++;
        }
    return p->at < p->n ? p->chars[p->at] : JRE_END;
}

int32_t jre_take(jre_parser *p) { return p->at < p->n ? p->chars[p->at++] : JRE_END; }

bool jre_take_if(jre_parser *p, int32_t c)
{
    if (jre_peek(p) != c) return false;
    p->at++;
    return true;
}

void jre_add_char(fm_strbuf *out, int32_t c)
{
    char utf8[4];
    c = jre_plain(c);
    if (c < 0x20 || c == 0x7F) {
        fm_strbuf_printf(out, "\\x{%x}", (unsigned)c);
        return;
    }
    if (c < 0x80 && !((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') && c != '_')
        fm_strbuf_add_char(out, '\\');
    fm_strbuf_add(out, (fm_str){utf8, fm_char_encode((uint32_t)c, utf8)});
}

void jre_add_literal(fm_strbuf *out, int32_t c, unsigned flags)
{
    bool letter;
    c = jre_plain(c);
    letter = (c | 32) >= 'a' && (c | 32) <= 'z' && c < 0x80;
    if (c >= 0xD800 && c < 0xE000) {
        fm_strbuf_add_c(out, "(?!)"); /* half a pair: no text holds one */
    } else if ((flags & JRE_I) && (flags & JRE_U) && (letter || c >= 0x80)) {
        fm_strbuf_add_c(out, "(?i:");
        jre_add_char(out, c);
        fm_strbuf_add_char(out, ')');
    } else if ((flags & JRE_I) && letter) {
        fm_strbuf_printf(out, "[%c%c]", (char)(c | 32), (char)(c & ~32));
    } else {
        jre_add_char(out, c);
    }
}

/* ---- anchors ----------------------------------------------------------------------------------------------- */

static void add_dot(jre_parser *p)
{
    fm_strbuf_add_c(&p->out->text, p->flags & JRE_S   ? "[\\s\\S]"
                                   : p->flags & JRE_D ? "[^\\n]"
                                                      : "[^" TERMINATORS "]");
}

/* '^'. Not at the very end, under (?m). */
static void add_caret(jre_parser *p)
{
    if (!(p->flags & JRE_M))
        fm_strbuf_add_c(&p->out->text, "\\A");
    else if (p->flags & JRE_D)
        fm_strbuf_add_c(&p->out->text, "(?:(?!\\z)(?:\\A|(?<=\\n)))");
    else
        fm_strbuf_add_c(&p->out->text, "(?:(?!\\z)(?:\\A|(?<=[\\n\\x{85}\\x{2028}\\x{2029}])|(?<=\\r)(?!\\n)))");
}

/* '$' and \Z: before the last line terminator, too; not between \r and \n. */
static void add_dollar(jre_parser *p, bool multiline)
{
    if (p->flags & JRE_D)
        fm_strbuf_add_c(&p->out->text, multiline ? "(?=\\n|\\z)" : "(?=\\n?\\z)");
    else if (multiline)
        fm_strbuf_add_c(&p->out->text, "(?:\\z|(?=[\\r\\x{85}\\x{2028}\\x{2029}])|(?<!\\r)(?=\\n))");
    else
        fm_strbuf_add_c(&p->out->text, "(?:\\z|(?=(?:\\r\\n|[\\r\\x{85}\\x{2028}\\x{2029}]|(?<!\\r)\\n)\\z))");
}

/* \b and \B. In JDK 17 they look at letters and digits of all scripts, unlike \w. */
static void add_boundary(jre_parser *p, bool is)
{
    const char *word = p->flags & JRE_UCLASS ? WORD_UNICODE : WORD;
    fm_strbuf_printf(&p->out->text,
                     is ? "(?:(?<=[%s])(?![%s])|(?<![%s])(?=[%s]))" : "(?:(?<=[%s])(?=[%s])|(?<![%s])(?![%s]))",
                     word, word, word, word);
}

/* ---- groups ------------------------------------------------------------------------------------------------ */

static bool is_name_char(int32_t c, bool first)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z' && c < 0x80) || (!first && c >= '0' && c <= '9');
}

/* Takes "name>". */
static fm_status group_name(jre_parser *p, fm_strbuf *name)
{
    for (;;) {
        int32_t c = jre_take(p);
        if (c == '>' && name->len > 0) return FM_OK;
        if (c == JRE_END || !is_name_char(c, name->len == 0)) {
            return jre_invalid(p, name->len ? "a group's name ends with '>'" : "a group's name begins with a letter");
        }
        fm_strbuf_add_char(name, (char)c);
    }
}

int32_t fm_java_regex_group_named(fm_str names, fm_str name)
{
    for (size_t at = 0; at < names.len;) {
        fm_str one = fm_str_c(names.ptr + at + 2);
        if (fm_str_eq(one, name))
            return (unsigned char)names.ptr[at] | (unsigned char)names.ptr[at + 1] << 8;
        at += 2 + one.len + 1;
    }
    return 0;
}

/* Counts and names a capturing group whose '(' is to be printed. */
static fm_status open_capture(jre_parser *p, fm_str name)
{
    p->groups_seen++;
    if (p->groups_seen > FM_JAVA_REGEX_GROUPS_MAX) return jre_unsupported(p, "more than 1000 groups");
    fm_strbuf_add_char(&p->out->text, '(');
    if (!name.len) return FM_OK;
    if (fm_java_regex_group_named(fm_strbuf_str(&p->out->names), name))
        return jre_invalid(p, "a group's name that is taken");
    fm_strbuf_add_char(&p->out->names, (char)(p->groups_seen & 0xFF));
    fm_strbuf_add_char(&p->out->names, (char)(p->groups_seen >> 8));
    fm_strbuf_add(&p->out->names, name);
    fm_strbuf_add_char(&p->out->names, 0);
    return FM_OK;
}

static fm_status close_group(jre_parser *p, unsigned flags_before)
{
    FM_TRY(alternatives(p));
    p->flags = flags_before;
    if (!jre_take_if(p, ')')) return jre_invalid(p, "unclosed group");
    fm_strbuf_add_char(&p->out->text, ')');
    return FM_OK;
}

/* "idmsuxU-idmsuxU" up to ')' or ':'. *has_body: it was ':'. */
static fm_status inline_flags(jre_parser *p, bool *has_body)
{
    static const struct { char letter; unsigned on, off; } known[] = {
        {'i', JRE_I, JRE_I}, {'d', JRE_D, JRE_D}, {'m', JRE_M, JRE_M}, {'s', JRE_S, JRE_S},
        {'u', JRE_U, JRE_U}, {'x', JRE_X, JRE_X}, {'U', JRE_UCLASS | JRE_U, JRE_UCLASS | JRE_U},
    };
    bool off = false;
    for (;;) {
        int32_t c = jre_take(p);
        size_t k = 0;
        if (c == ')' || c == ':') {
            *has_body = c == ':';
            return FM_OK;
        }
        if (c == '-' && !off) {
            off = true;
            continue;
        }
        while (k < sizeof known / sizeof known[0] && known[k].letter != c) k++;
        if (k == sizeof known / sizeof known[0]) return jre_invalid(p, "unknown inline flag");
        p->flags = off ? p->flags & ~known[k].off : p->flags | known[k].on;
    }
}

/* Behind '('. */
static fm_status group(jre_parser *p)
{
    unsigned before = p->flags;
    fm_strbuf name = {0};
    bool has_body = false;
    fm_status st;

    if (!jre_take_if(p, '?')) {
        FM_TRY(open_capture(p, (fm_str){NULL, 0}));
        return close_group(p, before);
    }
    switch (jre_take(p)) {
    case ':': fm_strbuf_add_c(&p->out->text, "(?:"); break;
    case '=': fm_strbuf_add_c(&p->out->text, "(?="); break;
    case '!': fm_strbuf_add_c(&p->out->text, "(?!"); break;
    case '>': fm_strbuf_add_c(&p->out->text, "(?>"); break;
    case '<':
        if (p->at < p->n && (p->chars[p->at] == '=' || p->chars[p->at] == '!')) {
            fm_strbuf_add_c(&p->out->text, jre_take(p) == '=' ? "(?<=" : "(?<!");
            return look_behind(p, before);
        }
        st = group_name(p, &name);
        if (st == FM_OK) st = open_capture(p, fm_strbuf_str(&name));
        fm_strbuf_fini(&name);
        FM_TRY(st);
        break;
    default:
        p->at--;
        FM_TRY(inline_flags(p, &has_body));
        if (!has_body) return FM_OK; /* until the group around it ends */
        fm_strbuf_add_c(&p->out->text, "(?:");
    }
    return close_group(p, before);
}

/* ---- atoms ------------------------------------------------------------------------------------------------- */

static void add_back_reference(jre_parser *p, int32_t number)
{
    if (number > p->groups_total)
        fm_strbuf_add_c(&p->out->text, "(?!)"); /* a group that is not there matches nothing */
    else
        fm_strbuf_printf(&p->out->text, p->flags & JRE_I ? "(?i:\\g{%d})" : "\\g{%d}", (int)number);
}

/* \1 takes more digits as long as there are that many groups. */
static void back_reference(jre_parser *p, int32_t number)
{
    while (p->at < p->n && p->chars[p->at] >= '0' && p->chars[p->at] <= '9') {
        int32_t longer = number * 10 + p->chars[p->at] - '0';
        if (longer > p->groups_seen) break;
        number = longer;
        p->at++;
    }
    add_back_reference(p, number);
}

static fm_status named_reference(jre_parser *p)
{
    fm_strbuf name = {0};
    fm_status st = jre_take(p) == '<' ? group_name(p, &name) : jre_invalid(p, "\\k is followed by <name>");
    int32_t number = fm_java_regex_group_named(fm_strbuf_str(&p->out->names), fm_strbuf_str(&name));
    fm_strbuf_fini(&name);
    FM_TRY(st);
    if (!number) return jre_invalid(p, "a reference to a group that does not stand before it");
    add_back_reference(p, number);
    return FM_OK;
}

/* Behind '\'. */
static fm_status escape(jre_parser *p)
{
    fm_strbuf *out = &p->out->text;
    jre_set set = {0};
    bool found;
    int32_t c;
    fm_status st = jre_class_escape(p, &set, &found);

    if (st == FM_OK && found) jre_set_print(&set, false, out);
    jre_set_fini(&set);
    if (st != FM_OK || found) return st;
    FM_TRY(jre_char_escape(p, &c));
    if (c != JRE_END) {
        jre_add_literal(out, c, p->flags);
        return FM_OK;
    }
    c = jre_take(p);
    switch (c) {
    case 'A': fm_strbuf_add_c(out, "\\A"); return FM_OK;
    case 'G': fm_strbuf_add_c(out, "\\G"); return FM_OK;
    case 'R': fm_strbuf_add_c(out, "(?:\\r\\n|[\\n\\x{b}\\f\\r\\x{85}\\x{2028}\\x{2029}])"); return FM_OK;
    case 'X': fm_strbuf_add_c(out, "\\X"); return FM_OK;
    case 'z': fm_strbuf_add_c(out, "\\z"); return FM_OK;
    case 'Z': add_dollar(p, false); return FM_OK;
    case 'B': add_boundary(p, false); return FM_OK;
    case 'b':
        if (p->at < p->n && p->chars[p->at] == '{') return jre_unsupported(p, "\\b{g}");
        add_boundary(p, true);
        return FM_OK;
    case 'k': return named_reference(p);
    default:
        if (c >= '1' && c <= '9') {
            back_reference(p, c - '0');
            return FM_OK;
        }
        return jre_invalid(p, "an escape that means nothing");
    }
}

/* One atom; *quantifiable false: an inline flag, which prints nothing. */
static fm_status atom(jre_parser *p, int32_t c, bool *single)
{
    fm_strbuf *out = &p->out->text;
    *single = true;
    switch (c) {
    case '(': return group(p);
    case '[': return jre_class(p, out);
    case '\\': *single = false; return escape(p);
    case '.': add_dot(p); return FM_OK;
    case '^': *single = false; add_caret(p); return FM_OK;
    case '$': *single = false; add_dollar(p, p->flags & JRE_M); return FM_OK;
    case '*':
    case '+':
    case '?': p->at--; return jre_invalid(p, "dangling '*', '+' or '?'");
    default: jre_add_literal(out, c, p->flags); return FM_OK;
    }
}

static fm_status repeat_number(jre_parser *p, int32_t *out)
{
    int64_t x = 0;
    int32_t c = jre_peek(p);
    if (c < '0' || c > '9') return jre_invalid(p, "'{' is followed by a number");
    for (; c >= '0' && c <= '9'; c = jre_peek(p)) {
        x = x * 10 + c - '0';
        if (x > INT32_MAX) return jre_invalid(p, "a repetition that is out of range");
        p->at++;
    }
    if (x > FM_JAVA_REGEX_REPEAT_MAX) return jre_unsupported(p, "a repetition of more than 65535");
    *out = (int32_t)x;
    return FM_OK;
}

/* Behind '{'. */
static fm_status counted(jre_parser *p, fm_strbuf *text)
{
    int32_t least = 0, most = 0;
    FM_TRY(repeat_number(p, &least));
    if (!jre_take_if(p, ',')) {
        fm_strbuf_printf(text, "{%d}", (int)least);
    } else if (jre_peek(p) == '}') {
        fm_strbuf_printf(text, "{%d,}", (int)least);
    } else {
        FM_TRY(repeat_number(p, &most));
        if (most < least) return jre_invalid(p, "a repetition whose end lies before its begin");
        fm_strbuf_printf(text, "{%d,%d}", (int)least, (int)most);
    }
    return jre_take_if(p, '}') ? FM_OK : jre_invalid(p, "unclosed repetition");
}

/* The quantifier behind an atom that was printed from `start` on, if there is one. */
static fm_status quantifier(jre_parser *p, size_t start, bool single)
{
    fm_strbuf *out = &p->out->text, text = {0};
    int32_t c = jre_peek(p);
    fm_status st = FM_OK;
    if (c != '*' && c != '+' && c != '?' && c != '{') return FM_OK;
    p->at++;
    if (c == '{')
        st = counted(p, &text);
    else
        fm_strbuf_add_char(&text, (char)c);
    c = jre_peek(p);
    if (c == '?' || c == '+') {
        p->at++;
        fm_strbuf_add_char(&text, (char)c);
    }
    if (st == FM_OK && (!single || out->len == start) && fm_strbuf_reserve(out, 5)) {
        memmove(out->ptr + start + 3, out->ptr + start, out->len - start);
        memcpy(out->ptr + start, "(?:", 3);
        out->len += 3;
        fm_strbuf_add_char(out, ')');
    }
    fm_strbuf_add(out, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return st;
}

static fm_status sequence(jre_parser *p)
{
    for (;;) {
        int32_t c = jre_peek(p);
        size_t start = p->out->text.len;
        bool single;
        if (c == JRE_END || c == '|' || c == ')') return FM_OK;
        if (c == '{') { /* repeats nothing */
            FM_TRY(quantifier(p, start, false));
            continue;
        }
        p->at++;
        FM_TRY(atom(p, c, &single));
        if (c == '(' && p->out->text.len == start) continue; /* flags only */
        FM_TRY(quantifier(p, start, single));
    }
}

static fm_status alternatives(jre_parser *p)
{
    if (++p->depth > FM_JAVA_REGEX_DEPTH_MAX) return jre_unsupported(p, "groups more than 200 deep");
    for (;;) {
        FM_TRY(sequence(p));
        if (!jre_take_if(p, '|')) break;
        fm_strbuf_add_char(&p->out->text, '|');
    }
    p->depth--;
    return FM_OK;
}

/* ---- looking behind ---------------------------------------------------------------------------------------- */

/* PCRE2 looks behind by alternatives of a fixed length each, Java by anything whose longest length is plain. So what stands in
 * there is written out: a{1,2}b becomes a{1}b|a{2}b. Variants stand one after the other, a zero byte behind each; no pattern
 * holds one. */
enum { VARIANTS_MAX = 1000, VARIANTS_SIZE_MAX = 1 << 18 /* bytes */, SPREAD_MAX = 255 /* of a repetition */ };

static fm_status behind_alternatives(jre_parser *p, fm_strbuf *out);

static fm_status product(jre_parser *p, fm_str a, fm_str b, fm_strbuf *out)
{
    int n = 0;
    for (size_t i = 0; i < a.len; i += strlen(a.ptr + i) + 1)
        for (size_t k = 0; k < b.len; k += strlen(b.ptr + k) + 1) {
            fm_strbuf_add_c(out, a.ptr + i);
            fm_strbuf_add_c(out, b.ptr + k);
            fm_strbuf_add_char(out, 0);
            if (++n > VARIANTS_MAX || out->len > VARIANTS_SIZE_MAX) return jre_unsupported(p, "too much to look behind for");
        }
    return FM_OK;
}

/* set = set x more. */
static fm_status append_product(jre_parser *p, fm_strbuf *set, const fm_strbuf *more)
{
    fm_strbuf both = {0};
    fm_status st = product(p, fm_strbuf_str(set), fm_strbuf_str(more), &both);
    fm_strbuf_fini(set);
    *set = both;
    return st;
}

/* How often an atom stands there. */
static fm_status behind_quantifier(jre_parser *p, int32_t *least, int32_t *most)
{
    int32_t c = jre_peek(p);
    *least = *most = 1;
    if (c != '*' && c != '+' && c != '?' && c != '{') return FM_OK;
    p->at++;
    if (c == '?') *least = 0;
    if (c == '{') {
        FM_TRY(repeat_number(p, least));
        *most = *least;
        if (jre_take_if(p, ',')) {
            if (jre_peek(p) == '}') c = '*';
            else FM_TRY(repeat_number(p, most));
        }
        if (!jre_take_if(p, '}')) return jre_invalid(p, "unclosed repetition");
        if (*most < *least) return jre_invalid(p, "a repetition whose end lies before its begin");
    }
    if (c == '*' || c == '+') return jre_invalid(p, "what is looked for behind has no longest length");
    if (*most - *least > SPREAD_MAX) return jre_unsupported(p, "too much to look behind for");
    c = jre_peek(p);
    if (c == '?' || c == '+') p->at++;
    return FM_OK;
}

/* Variants of one atom, without its quantifier. *plain: it is one text, to which {n} may be put. */
static fm_status behind_atom(jre_parser *p, fm_strbuf *out, bool *plain)
{
    unsigned before = p->flags;
    fm_strbuf kept = p->out->text;
    bool single = true;
    int32_t c = jre_take(p);
    fm_status st;
    *plain = false;
    if (c == '(' && p->at + 1 < p->n && p->chars[p->at] == '?' && p->chars[p->at + 1] == ':') {
        p->at += 2;
        FM_TRY(behind_alternatives(p, out));
        p->flags = before;
        return jre_take_if(p, ')') ? FM_OK : jre_invalid(p, "unclosed group");
    }
    p->out->text = (fm_strbuf){0};
    st = atom(p, c, &single);
    *plain = true;
    fm_strbuf_add_c(out, single ? "" : "(?:");
    fm_strbuf_add(out, fm_strbuf_str(&p->out->text));
    fm_strbuf_add_c(out, single ? "" : ")");
    fm_strbuf_add_char(out, 0);
    fm_strbuf_fini(&p->out->text);
    p->out->text = kept;
    return st;
}

/* An atom with its quantifier, put behind the variants in `set`. */
static fm_status behind_item(jre_parser *p, fm_strbuf *set)
{
    fm_strbuf one = {0}, choices = {0}, power = {0};
    int32_t least = 1, most = 1;
    bool plain = false;
    fm_status st = behind_atom(p, &one, &plain);
    if (st == FM_OK) st = behind_quantifier(p, &least, &most);
    if (st == FM_OK && plain && one.len > 1) {
        for (int32_t k = least; k <= most; k++) {
            if (k) fm_strbuf_add_c(&choices, one.ptr);
            if (k > 1) fm_strbuf_printf(&choices, "{%d}", (int)k);
            fm_strbuf_add_char(&choices, 0);
        }
    } else if (st == FM_OK) {
        fm_strbuf_add_char(&power, 0);
        for (int32_t k = 0; k <= most && st == FM_OK; k++) {
            if (k >= least) fm_strbuf_add(&choices, fm_strbuf_str(&power));
            if (k < most) st = append_product(p, &power, &one);
        }
    }
    if (st == FM_OK && (!fm_strbuf_ok(&one) || !fm_strbuf_ok(&choices) || !fm_strbuf_ok(&power))) st = fm_no_memory(NULL, p->err);
    if (st == FM_OK) st = append_product(p, set, &choices);
    fm_strbuf_fini(&one);
    fm_strbuf_fini(&choices);
    fm_strbuf_fini(&power);
    return st;
}

static fm_status behind_alternatives(jre_parser *p, fm_strbuf *out)
{
    if (++p->depth > FM_JAVA_REGEX_DEPTH_MAX) return jre_unsupported(p, "groups more than 200 deep");
    do {
        fm_strbuf set = {0};
        fm_status st = FM_OK;
        int32_t c;
        fm_strbuf_add_char(&set, 0);
        while (st == FM_OK && (c = jre_peek(p)) != JRE_END && c != '|' && c != ')') st = behind_item(p, &set);
        fm_strbuf_add(out, fm_strbuf_str(&set));
        fm_strbuf_fini(&set);
        FM_TRY(st);
        if (out->len > VARIANTS_SIZE_MAX) return jre_unsupported(p, "too much to look behind for");
    } while (jre_take_if(p, '|'));
    p->depth--;
    return FM_OK;
}

/* Behind "(?<=" or "(?<!", which is printed. Capturing groups must not be written twice: with those it is for PCRE2 to say
 * whether it can. */
static fm_status look_behind(jre_parser *p, unsigned flags_before)
{
    const jre_parser begin = *p;
    size_t names_len = p->out->names.len;
    fm_strbuf variants = {0};
    fm_status st = behind_alternatives(p, &variants);
    if (st == FM_OK && p->groups_seen > begin.groups_seen) {
        fm_strbuf_fini(&variants);
        *p = begin;
        p->out->names.len = names_len;
        return close_group(p, flags_before);
    }
    for (size_t i = 0; st == FM_OK && i < variants.len; i += strlen(variants.ptr + i) + 1) {
        if (i) fm_strbuf_add_char(&p->out->text, '|');
        fm_strbuf_add_c(&p->out->text, variants.ptr + i);
    }
    if (st == FM_OK && !fm_strbuf_ok(&variants)) st = fm_no_memory(NULL, p->err);
    fm_strbuf_fini(&variants);
    FM_TRY(st);
    p->flags = flags_before;
    if (!jre_take_if(p, ')')) return jre_invalid(p, "unclosed group");
    fm_strbuf_add_char(&p->out->text, ')');
    return FM_OK;
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

/* Code points, with what stands between \Q and \E marked. Returns how many, at most pattern.len. */
static int32_t read_chars(fm_str pattern, int32_t *chars)
{
    int32_t n = 0;
    bool quoted = false;
    for (size_t at = 0, size; at < pattern.len; at += size) {
        int32_t c = (int32_t)fm_char_decode(pattern, at, &size);
        char next = at + 1 < pattern.len ? pattern.ptr[at + 1] : 0;
        if (c == '\\' && next == (quoted ? 'E' : 'Q')) {
            quoted = !quoted;
            size = 2;
            continue;
        }
        chars[n++] = quoted ? c | JRE_QUOTED : c;
        if (c == '\\' && !quoted && next) { /* the pair stays together: in \\Q nothing is quoted */
            at += size;
            c = (int32_t)fm_char_decode(pattern, at, &size);
            chars[n++] = c;
        }
    }
    return n;
}

/* Capturing groups: '(' outside of classes, not followed by '?', but by "?<" and a letter. */
static int32_t count_groups(const int32_t *chars, int32_t n)
{
    int32_t count = 0, in_class = 0;
    for (int32_t i = 0; i < n; i++) {
        if (chars[i] == '\\') i++;
        else if (chars[i] == '[') in_class++;
        else if (chars[i] == ']' && in_class) in_class--;
        else if (chars[i] == '(' && !in_class)
            count += i + 1 >= n || chars[i + 1] != '?' ||
                     (i + 3 < n && chars[i + 2] == '<' && chars[i + 3] != '=' && chars[i + 3] != '!');
    }
    return count;
}

fm_status fm_java_regex_translate(fm_str pattern, fm_java_regex *out, fm_error *err)
{
    jre_parser p = {.out = out, .err = err};
    fm_strbuf room = {0}; /* of the code points */
    fm_status st;

    if (pattern.len > INT32_MAX / 64 || !fm_strbuf_reserve(&room, (pattern.len + 1) * sizeof(int32_t))) {
        fm_strbuf_fini(&room);
        return fm_no_memory(NULL, err);
    }
    p.chars = (int32_t *)(void *)room.ptr; /* from malloc: aligned */
    p.n = read_chars(pattern, (int32_t *)(void *)room.ptr);
    p.groups_total = count_groups(p.chars, p.n);
    st = alternatives(&p);
    if (st == FM_OK && p.at < p.n) st = jre_invalid(&p, "unmatched ')'");
    out->groups = p.groups_seen;
    fm_strbuf_fini(&room);
    if (st == FM_OK && (!fm_strbuf_ok(&out->text) || !fm_strbuf_ok(&out->names))) st = fm_no_memory(NULL, err);
    return st;
}

void fm_java_regex_fini(fm_java_regex *regex)
{
    fm_strbuf_fini(&regex->text);
    fm_strbuf_fini(&regex->names);
}
