/* expr/number_template.c: the templates of to_number and to_char.
 *
 * A template is a row of tokens; digits with their separators make one token, a group of pieces: "99,000" is 9*2 , 0*3. */
#include "expr/number_template.h"

#include "base/limits.h"
#include "expr/cast.h"
#include "expr/text.h"

enum { TOKENS_MAX = 64, PIECES_MAX = 64 /* more than the digits there may be */ };

typedef enum token_kind { GROUP, POINT, DOLLAR, SIGN, MINUS, OPEN, CLOSE, OTHER } token_kind;
typedef enum piece_kind { EXACTLY, AT_MOST, COMMA } piece_kind;

typedef struct piece {
    piece_kind kind;
    int digits;
} piece;

typedef struct token {
    token_kind kind;
    int from, to;   /* GROUP: pieces */
} token;

struct fm_number_template {
    fm_str text;
    int n, n_pieces;
    token tokens[TOKENS_MAX];
    piece pieces[PIECES_MAX];
    int before, after; /* digits on both sides of the point */
};

/* ---- reading a template ------------------------------------------------------------------------------------ */

static fm_status fail(const fm_number_template *t, const char *kind, const char *why, fm_error *err)
{
    char condition[FM_ERROR_CONDITION_SIZE];
    memcpy(condition, "INVALID_FORMAT.", 15);
    memcpy(condition + 15, kind, strlen(kind) + 1);
    return fm_fail(err, FM_INVALID, condition, "The format is invalid: '%.*s'. %s", FM_STR_ARG(t->text), why);
}

static bool add_token(fm_number_template *t, token_kind kind)
{
    if (t->n >= TOKENS_MAX - 1) return false; /* one is left for OPEN */
    t->tokens[t->n++] = (token){kind, t->n_pieces, t->n_pieces};
    return true;
}

/* Adds to the group that ends the tokens, or begins one. */
static bool add_piece(fm_number_template *t, piece_kind kind, int digits)
{
    if (t->n_pieces >= PIECES_MAX) return false;
    if ((!t->n || t->tokens[t->n - 1].kind != GROUP) && !add_token(t, GROUP)) return false;
    t->pieces[t->n_pieces++] = (piece){kind, digits};
    t->tokens[t->n - 1].to = t->n_pieces;
    return true;
}

static void open_before_all(fm_number_template *t)
{
    memmove(t->tokens + 1, t->tokens, (size_t)t->n * sizeof t->tokens[0]);
    t->tokens[0] = (token){OPEN, 0, 0};
    t->n++;
}

/* False: more tokens than there is room for. */
static bool read_tokens(fm_number_template *t)
{
    bool point = false, ok = true;
    fm_str s = t->text;
    for (size_t at = 0; at < s.len && ok;) {
        char c = s.ptr[at], next = at + 1 < s.len ? s.ptr[at + 1] : 0;
        size_t start = at++;
        if (c == '0' || c == '9') {
            while (at < s.len && (s.ptr[at] == '0' || s.ptr[at] == '9')) at++;
            if (at - start > 1000) return false;
            ok = add_piece(t, c == '0' && !point ? EXACTLY : AT_MOST, (int)(at - start));
            *(point ? &t->after : &t->before) += (int)(at - start);
        } else if (c == '.' || c == 'D') {
            point = true;
            ok = add_token(t, POINT);
        } else if (c == ',' || c == 'G') {
            ok = add_piece(t, COMMA, 0);
        } else if (c == '$') {
            ok = add_token(t, DOLLAR);
        } else if (c == 'S') {
            ok = add_token(t, SIGN);
        } else if (c == 'M' && next == 'I') {
            at++;
            ok = add_token(t, MINUS);
        } else if (c == 'P' && next == 'R') {
            at++;
            ok = add_token(t, CLOSE) && t->n < TOKENS_MAX - 1;
            if (ok) open_before_all(t);
        } else {
            ok = add_token(t, OTHER);
        }
    }
    return ok;
}

static int first_of(const fm_number_template *t, token_kind kind)
{
    for (int i = 0; i < t->n; i++)
        if (t->tokens[i].kind == kind) return i;
    return -1;
}

static int count_of(const fm_number_template *t, token_kind kind)
{
    int n = 0;
    for (int i = 0; i < t->n; i++) n += t->tokens[i].kind == kind;
    return n;
}

static bool commas_stand_alone(const fm_number_template *t, const token *group)
{
    for (int i = group->from; i < group->to; i++)
        if (t->pieces[i].kind == COMMA &&
            (i == group->from || i + 1 == group->to || t->pieces[i - 1].kind == COMMA || t->pieces[i + 1].kind == COMMA))
            return false;
    return true;
}

static bool has_comma(const fm_number_template *t, const token *group)
{
    for (int i = group->from; i < group->to; i++)
        if (t->pieces[i].kind == COMMA) return true;
    return false;
}

/* Tokens that the order of templates allows, from the first on. */
static int tokens_in_order(const fm_number_template *t)
{
    static const unsigned allowed[] = {1u << OPEN, 1u << MINUS | 1u << SIGN, 1u << DOLLAR, 1u << GROUP, 1u << POINT, 1u << GROUP,
                                       1u << DOLLAR, 1u << MINUS | 1u << SIGN | 1u << CLOSE};
    int at = 0;
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++)
        if (at < t->n && (allowed[k] >> t->tokens[at].kind & 1)) at++;
    return at;
}

static fm_status check(const fm_number_template *t, fm_error *err)
{
    static const token_kind once[] = {POINT, SIGN, MINUS, DOLLAR, CLOSE};
    static const char *const names[] = {". or D", "S", "MI", "$", "PR"};
    int dollar = first_of(t, DOLLAR), digit = first_of(t, GROUP), point = first_of(t, POINT);
    if (!t->text.len) return fail(t, "EMPTY", "The number format string cannot be empty.", err);
    if (digit < 0) return fail(t, "WRONG_NUM_DIGIT", "The format string requires at least one number digit.", err);
    if (digit < dollar)
        return fail(t, "CUR_MUST_BEFORE_DIGIT", "Currency characters must appear before digits in the number format.", err);
    if (point >= 0 && point < dollar)
        return fail(t, "CUR_MUST_BEFORE_DEC", "Currency characters must appear before any decimal point in the number format.",
                    err);
    for (int i = 0; i < t->n; i++)
        if (t->tokens[i].kind == GROUP && (point < 0 || i < point) && !commas_stand_alone(t, &t->tokens[i]))
            return fail(t, "CONT_THOUSANDS_SEPS",
                        "Thousands separators (, or G) must have digits in between them in the number format.", err);
    for (int i = point < 0 ? t->n : point + 1; i < t->n; i++)
        if (t->tokens[i].kind == GROUP && has_comma(t, &t->tokens[i]))
            return fail(t, "THOUSANDS_SEPS_MUST_BEFORE_DEC",
                        "Thousands separators (, or G) may not appear after the decimal point in the number format.", err);
    for (size_t k = 0; k < sizeof once / sizeof once[0]; k++)
        if (count_of(t, once[k]) > 1)
            return fm_fail(err, FM_INVALID, "INVALID_FORMAT.WRONG_NUM_TOKEN",
                           "The format is invalid: '%.*s'. At most one %s is allowed in the number format.",
                           FM_STR_ARG(t->text), names[k]);
    if (tokens_in_order(t) < t->n)
        return fail(t, "UNEXPECTED_TOKEN",
                    "The structure of the format string must match: `[MI|S]` `[$]` `[0|9|G|,]*` `[.|D]` `[0|9]*` `[$]` "
                    "`[PR|MI|S]`.", err);
    if (t->before + t->after > FM_DECIMAL_PRECISION_MAX)
        return fm_fail(err, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                       "Decimal precision %d exceeds max precision %d.", t->before + t->after, FM_DECIMAL_PRECISION_MAX);
    return FM_OK;
}

fm_status fm_number_template_new(fm_arena *arena, fm_str text, const fm_number_template **out, fm_error *err)
{
    fm_number_template *t = fm_arena_one(arena, fm_number_template);
    fm_str copy = fm_arena_str(arena, text);
    char *capitals = (char *)(uintptr_t)copy.ptr;
    if (!t || !copy.ptr) return fm_no_memory(arena, err);
    for (size_t i = 0; i < copy.len; i++)
        if (capitals[i] >= 'a' && capitals[i] <= 'z') capitals[i] = (char)(capitals[i] - 32);
    t->text = copy;
    if (!read_tokens(t)) return fail(t, "UNEXPECTED_TOKEN", "It has too many parts.", err);
    FM_TRY(check(t, err));
    *out = t;
    return FM_OK;
}

void fm_number_template_digits(const fm_number_template *t, int *precision, int *scale)
{
    *precision = t->before + t->after;
    *scale = t->after;
}

fm_str fm_number_template_text(const fm_number_template *t) { return t->text; }

/* ---- reading numbers --------------------------------------------------------------------------------------- */

typedef struct reading {
    fm_str text;
    size_t at;
    bool point, negative, open, closed;
    fm_i128 value;
    int digits, after;
} reading;

static char peek(const reading *r) { return r->at < r->text.len ? r->text.ptr[r->at] : 0; }

/* Digits with commas. Their groups are compared from the right, so that those on the left may be left out. */
static bool read_group(const fm_number_template *t, const token *group, reading *r)
{
    int sizes[PIECES_MAX + 1], n = 0, size = 0, k;
    for (; r->at < r->text.len; r->at++) {
        char c = r->text.ptr[r->at];
        if (c >= '0' && c <= '9') {
            size++;
            if (++r->digits > FM_DECIMAL_PRECISION_MAX) return false;
            r->after += r->point;
            r->value = r->value * 10 + (c - '0');
        } else if (c == ',') {
            if (n >= PIECES_MAX) return false;
            sizes[n++] = size;
            size = 0;
        } else if (c != ' ' && !(c >= 9 && c <= 13)) {
            break;
        }
    }
    sizes[n++] = size;
    k = n;
    for (int i = group->to - 1; i >= group->from; i--) {
        int actual;
        if (t->pieces[i].kind == COMMA) continue;
        actual = k > 0 ? sizes[--k] : 0;
        if (t->pieces[i].kind == EXACTLY ? actual != t->pieces[i].digits : actual > t->pieces[i].digits) return false;
    }
    return k == 0; /* else it has more commas than the template */
}

static bool read_token(const fm_number_template *t, const token *k, reading *r)
{
    char c = peek(r);
    switch (k->kind) {
    case GROUP: return read_group(t, k, r);
    case POINT:
        if (c == '.') r->point = true, r->at++;
        return true;
    case DOLLAR:
        if (r->at == r->text.len) return true;
        r->at++;
        return c == '$';
    case SIGN:
    case MINUS:
        if (c == '-') r->negative = !r->negative;
        if (c == '-' || (c == '+' && k->kind == SIGN)) r->at++;
        return true;
    case OPEN:
        if (c == '<') r->open = true, r->at++;
        return true;
    case CLOSE:
        if (c != '>') return true;
        r->closed = true;
        r->negative = !r->negative;
        r->at++;
        return r->open;
    default: return false;
    }
}

bool fm_number_template_read(const fm_number_template *t, fm_str text, fm_i128 *out)
{
    reading r = {.text = text};
    for (int i = 0; i < t->n; i++)
        if (!read_token(t, &t->tokens[i], &r)) return false;
    if (r.at < text.len || r.open != r.closed || r.digits == 0 || r.after > t->after || r.digits - r.after > t->before)
        return false;
    for (int i = r.after; i < t->after; i++) r.value *= 10;
    *out = r.negative ? -r.value : r.value;
    return true;
}

/* ---- printing numbers -------------------------------------------------------------------------------------- */

/* The digits of a number on both sides, as many as the template has: blanks before, zeros behind; or '#'. */
typedef struct places {
    char before[FM_DECIMAL_PRECISION_MAX + 1], after[FM_DECIMAL_PRECISION_MAX + 1];
} places;

static void fill_places(const fm_number_template *t, fm_i128 unscaled, int scale, places *p)
{
    char text[FM_DECIMAL_TEXT_SIZE];
    fm_str s = {text, fm_decimal_text(unscaled, scale, text)};
    const char *point = memchr(s.ptr, '.', s.len);
    fm_str before = {s.ptr, point ? (size_t)(point - s.ptr) : s.len};
    fm_str after = {point ? point + 1 : NULL, point ? s.len - before.len - 1 : 0};
    while (before.len && (before.ptr[0] == '-' || before.ptr[0] == '0')) before.ptr++, before.len--;
    while (after.len && after.ptr[after.len - 1] == '0') after.len--;
    if ((int)before.len > t->before || (int)after.len > t->after) {
        memset(p->before, '#', (size_t)t->before);
        memset(p->after, '#', (size_t)t->after);
        return;
    }
    memset(p->before, ' ', (size_t)t->before);
    memset(p->after, '0', (size_t)t->after);
    if (before.len) memcpy(p->before + t->before - before.len, before.ptr, before.len);
    if (after.len) memcpy(p->after, after.ptr, after.len);
}

/* A blank, before the signs that end the text. */
static void add_blank(fm_strbuf *out, size_t start)
{
    fm_strbuf_add_char(out, ' ');
    if (!fm_strbuf_ok(out)) return;
    for (size_t i = out->len - 1; i > start && strchr("+-<", out->ptr[i - 1]) && out->ptr[i - 1]; i--) {
        out->ptr[i] = out->ptr[i - 1];
        out->ptr[i - 1] = ' ';
    }
}

/* A sign, before the blanks that end the text. */
static void add_sign(fm_strbuf *out, size_t start, char c)
{
    fm_strbuf_add_char(out, c);
    if (!fm_strbuf_ok(out)) return;
    for (size_t i = out->len - 1; i > start && out->ptr[i - 1] == ' '; i--) {
        out->ptr[i] = ' ';
        out->ptr[i - 1] = c;
    }
}

/* A point without digits behind it becomes a blank. */
static void strip_point(fm_strbuf *out, size_t start)
{
    char *point = out->len > start ? memchr(out->ptr + start, '.', out->len - start) : NULL;
    if (point && (point + 1 == out->ptr + out->len || point[1] == ' ')) *point = ' ';
}

static void print_group(const fm_number_template *t, const token *group, const places *p, bool point, int *used, fm_strbuf *out,
                        size_t start)
{
    for (int i = group->from; i < group->to; i++) {
        const piece *one = &t->pieces[i];
        if (one->kind == COMMA) {
            char last = out->len > start ? out->ptr[out->len - 1] : 0;
            if (last >= '0' && last <= '9')
                fm_strbuf_add_char(out, ',');
            else
                add_blank(out, start);
        }
        for (int k = 0; k < one->digits; k++) {
            char c = point ? p->after[(*used)++] : p->before[(*used)++];
            if (c == ' ' && one->kind == EXACTLY)
                fm_strbuf_add_char(out, '0');
            else if (c == ' ')
                add_blank(out, start);
            else
                fm_strbuf_add_char(out, c);
        }
    }
}

void fm_number_template_print(const fm_number_template *t, fm_i128 unscaled, int scale, fm_strbuf *out)
{
    size_t start = out->len;
    bool point = false, negative = unscaled < 0;
    int used = 0; /* places of the side of the point */
    places p;
    fm_str printed;
    fill_places(t, unscaled, scale, &p);
    for (int i = 0; i < t->n && fm_strbuf_ok(out); i++) {
        switch (t->tokens[i].kind) {
        case GROUP: print_group(t, &t->tokens[i], &p, point, &used, out, start); break;
        case POINT:
            if (out->len > start && out->ptr[out->len - 1] == ' ') out->ptr[out->len - 1] = '0';
            fm_strbuf_add_char(out, '.');
            point = true;
            used = 0;
            break;
        case DOLLAR: fm_strbuf_add_char(out, '$'); break;
        case SIGN:
            strip_point(out, start);
            add_sign(out, start, negative ? '-' : '+');
            break;
        case MINUS:
            if (negative) strip_point(out, start);
            if (negative)
                add_sign(out, start, '-');
            else
                fm_strbuf_add_char(out, ' ');
            break;
        case OPEN:
            if (negative) fm_strbuf_add_char(out, '<');
            break;
        default: /* CLOSE */
            strip_point(out, start);
            if (negative)
                add_sign(out, start, '>');
            else
                fm_strbuf_add_c(out, "  ");
        }
    }
    strip_point(out, start);
    printed = (fm_str){out->ptr + start, out->len - start};
    if (!printed.len || fm_str_eq(printed, FM_STR("+")) || fm_str_eq(printed, FM_STR("-"))) {
        out->len = start;
        fm_strbuf_add_char(out, '0');
    }
}
