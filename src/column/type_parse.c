/* column/type_parse.c: types and column lists from their text.
 *
 *   type    := name [ '(' number [ ',' number ] ')' ]
 *            | ARRAY '<' type '>' | MAP '<' type ',' type '>' | STRUCT '<' [ fields ] '>'
 *            | INTERVAL unit [ TO unit ] | TIMESTAMP (WITH LOCAL | WITHOUT) TIME ZONE
 *   fields  := field { ',' field }
 *   field   := name [ ':' ] type [ NOT NULL ] [ COMMENT string ]
 *
 * Rule: Spark's SqlBaseParser.g4, dataType and colTypeList. Words fold case; names are kept as written. Comments
 * are read and dropped: nothing here shows them. */
#include "base/limits.h"
#include "column/type.h"

typedef enum token_kind { END, WORD, QUOTED, NUMBER, TEXT, SIGN } token_kind;

typedef struct token {
    token_kind kind;
    fm_str text; /* WORD, NUMBER, SIGN: as written; QUOTED: without its backticks, still doubled inside */
    size_t at;   /* byte index */
} token;

typedef struct parser {
    fm_arena *arena;
    fm_str text;
    size_t at;
    token tok; /* the one looked at */
    int depth;
    fm_error *err;
} parser;

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_digits(fm_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
    }
    return s.len > 0;
}

static fm_status syntax_error(parser *p, const char *wanted)
{
    fm_str t = p->tok.text;

    if (t.len > 40) t.len = 40;
    if (p->tok.kind == END) {
        return fm_fail(p->err, FM_INVALID, "PARSE_SYNTAX_ERROR",
                       "Syntax error at the end of the type '%.*s': %s expected.", FM_STR_ARG(p->text), wanted);
    }
    return fm_fail(p->err, FM_INVALID, "PARSE_SYNTAX_ERROR",
                   "Syntax error at or near '%.*s' (position %zu) in the type '%.*s': %s expected.",
                   FM_STR_ARG(t), p->tok.at + 1, FM_STR_ARG(p->text), wanted);
}

/* The end of what opens with the quote at `at`; a doubled quote, and behind a backslash (in texts) any
 * character, does not close it. text.len when it never closes. */
static size_t quote_end(fm_str text, size_t at, bool backslash)
{
    char quote = text.ptr[at];

    for (size_t i = at + 1; i < text.len; i++) {
        if (backslash && text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == quote) {
            if (i + 1 >= text.len || text.ptr[i + 1] != quote) return i;
            i++;
        }
    }
    return text.len;
}

static fm_status next(parser *p)
{
    fm_str s = p->text;

    while (p->at < s.len && (unsigned char)s.ptr[p->at] <= ' ') p->at++;
    size_t from = p->at;
    p->tok = (token){.kind = END, .at = from};
    if (from == s.len) return FM_OK;
    char c = s.ptr[from];
    if (is_word(c)) {
        while (p->at < s.len && is_word(s.ptr[p->at])) p->at++;
        p->tok.text = (fm_str){s.ptr + from, p->at - from};
        p->tok.kind = is_digits(p->tok.text) ? NUMBER : WORD;
    } else if (c == '`' || c == '\'' || c == '"') {
        size_t end = quote_end(s, from, c != '`');
        p->tok.kind = c == '`' ? QUOTED : TEXT;
        p->tok.text = (fm_str){s.ptr + from + 1, end - from - 1};
        p->at = end + 1;
        if (end == s.len) {
            p->at = end;
            return fm_fail(p->err, FM_INVALID, "PARSE_SYNTAX_ERROR",
                           "The %c opened at position %zu of the type '%.*s' is never closed.", c, from + 1,
                           FM_STR_ARG(s));
        }
    } else {
        p->tok.kind = SIGN;
        p->tok.text = (fm_str){s.ptr + from, 1};
        p->at++;
    }
    return FM_OK;
}

static bool at_word(const parser *p, const char *word)
{
    return p->tok.kind == WORD && fm_str_eq_ci(p->tok.text, fm_str_c(word));
}

static bool at_sign(const parser *p, char c) { return p->tok.kind == SIGN && p->tok.text.ptr[0] == c; }

static fm_status take_sign(parser *p, char c)
{
    char wanted[4] = {'\'', c, '\'', 0};

    return at_sign(p, c) ? next(p) : syntax_error(p, wanted);
}

static fm_status take_word(parser *p, const char *word)
{
    return at_word(p, word) ? next(p) : syntax_error(p, word);
}

/* ( n [, n] ): how many numbers stood there, 0 without parentheses. */
static fm_status parse_numbers(parser *p, int64_t out[2], int *n)
{
    *n = 0;
    if (!at_sign(p, '(')) return FM_OK;
    do {
        FM_TRY(next(p));
        if (p->tok.kind != NUMBER || *n == 2) return syntax_error(p, *n == 2 ? "')'" : "a number");
        if (!fm_str_to_i64(p->tok.text, &out[*n])) return syntax_error(p, "a smaller number");
        ++*n;
        FM_TRY(next(p));
    } while (at_sign(p, ','));
    return take_sign(p, ')');
}

static fm_status parse_type(parser *p, const fm_type **out);

/* A name, backticks taken off. */
static fm_status parse_name(parser *p, fm_str *out)
{
    if (p->tok.kind == WORD) {
        *out = p->tok.text;
        return next(p);
    }
    if (p->tok.kind != QUOTED || p->tok.text.len == 0) return syntax_error(p, "a column name");
    char *name = fm_arena_alloc(p->arena, p->tok.text.len, 1);
    if (!name) return fm_no_memory(p->arena, p->err);
    size_t len = 0;
    for (size_t i = 0; i < p->tok.text.len; i++) {
        name[len++] = p->tok.text.ptr[i];
        if (p->tok.text.ptr[i] == '`') i++; /* always doubled inside */
    }
    *out = (fm_str){name, len};
    return next(p);
}

static fm_status parse_field(parser *p, fm_field *out)
{
    FM_TRY(parse_name(p, &out->name));
    if (at_sign(p, ':')) FM_TRY(next(p));
    FM_TRY(parse_type(p, &out->type));
    out->nullable = true;
    if (at_word(p, "NOT")) {
        FM_TRY(next(p));
        FM_TRY(take_word(p, "NULL"));
        out->nullable = false;
    }
    if (at_word(p, "COMMENT")) {
        FM_TRY(next(p));
        if (p->tok.kind != TEXT) return syntax_error(p, "the comment, in quotes,");
        FM_TRY(next(p));
    }
    return FM_OK;
}

/* Fields up to what no comma follows. */
static fm_status parse_fields(parser *p, const fm_type **out)
{
    fm_field *fields = NULL;
    int32_t n = 0, cap = 0;

    for (;;) {
        if (n == FM_SCHEMA_FIELDS_MAX) {
            return fm_fail(p->err, FM_LIMIT, "FLOODMARK_TOO_MANY_FIELDS", "A type may have %d fields at most.",
                           FM_SCHEMA_FIELDS_MAX);
        }
        if (n == cap) {
            cap = cap ? 2 * cap : 8;
            fm_field *grown = fm_arena_array(p->arena, fm_field, cap);
            if (!grown) return fm_no_memory(p->arena, p->err);
            if (n) memcpy(grown, fields, (size_t)n * sizeof *fields);
            fields = grown;
        }
        FM_TRY(parse_field(p, &fields[n++]));
        if (!at_sign(p, ',')) break;
        FM_TRY(next(p));
    }
    *out = fm_type_struct(p->arena, fields, n);
    return *out ? FM_OK : fm_no_memory(p->arena, p->err);
}

static fm_status parse_struct(parser *p, const fm_type **out)
{
    FM_TRY(take_sign(p, '<'));
    if (at_sign(p, '>')) {
        *out = fm_type_struct(p->arena, NULL, 0);
        return *out ? next(p) : fm_no_memory(p->arena, p->err);
    }
    FM_TRY(parse_fields(p, out));
    return take_sign(p, '>');
}

static fm_status parse_list(parser *p, const fm_type **out)
{
    const fm_type *element;

    FM_TRY(take_sign(p, '<'));
    FM_TRY(parse_type(p, &element));
    *out = fm_type_list(p->arena, element, true);
    return *out ? take_sign(p, '>') : fm_no_memory(p->arena, p->err);
}

static fm_status parse_map(parser *p, const fm_type **out)
{
    const fm_type *key, *value;

    FM_TRY(take_sign(p, '<'));
    FM_TRY(parse_type(p, &key));
    if (fm_type_holds_map(key)) {
        return fm_fail(p->err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE",
                       "The key of a map cannot be or hold a map, as it does in the type '%.*s'.",
                       FM_STR_ARG(p->text));
    }
    FM_TRY(take_sign(p, ','));
    FM_TRY(parse_type(p, &value));
    *out = fm_type_map(p->arena, key, value, true);
    return *out ? take_sign(p, '>') : fm_no_memory(p->arena, p->err);
}

static bool find_unit(const parser *p, fm_interval_unit *out)
{
    static const char *const names[] = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"};

    for (int i = 0; i < 6; i++) {
        if (!at_word(p, names[i])) continue;
        *out = (fm_interval_unit)i;
        return true;
    }
    return false;
}

static fm_status parse_interval(parser *p, const fm_type **out)
{
    fm_interval_unit from, to;

    if (!find_unit(p, &from)) {
        return fm_fail(p->err, FM_UNSUPPORTED, "UNSUPPORTED_DATATYPE",
                       "The legacy type INTERVAL is not supported; write its units, as in INTERVAL DAY TO SECOND or "
                       "INTERVAL YEAR TO MONTH.");
    }
    FM_TRY(next(p));
    to = from;
    if (at_word(p, "TO")) {
        FM_TRY(next(p));
        if (!find_unit(p, &to)) return syntax_error(p, "MONTH, HOUR, MINUTE or SECOND");
        if (to <= from || (from <= FM_UNIT_MONTH) != (to <= FM_UNIT_MONTH)) {
            return syntax_error(p, "a smaller unit of the same family (YEAR TO MONTH; DAY TO HOUR, MINUTE, SECOND)");
        }
        FM_TRY(next(p));
    }
    *out = fm_type_interval(p->arena, from, to);
    return *out ? FM_OK : fm_no_memory(p->arena, p->err);
}

static fm_status make_decimal(parser *p, const int64_t *numbers, int n, const fm_type **out)
{
    int64_t precision = n > 0 ? numbers[0] : 10, scale = n > 1 ? numbers[1] : 0;

    if (precision > FM_DECIMAL_PRECISION_MAX || precision < 1) {
        return fm_fail(p->err, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                       "A decimal has 1 to %d digits, not %lld: '%.*s'.", FM_DECIMAL_PRECISION_MAX,
                       (long long)precision, FM_STR_ARG(p->text));
    }
    if (scale > precision) {
        return fm_fail(p->err, FM_INVALID, "FLOODMARK_DECIMAL_SCALE",
                       "The scale %lld of a decimal cannot be greater than its precision %lld: '%.*s'.",
                       (long long)scale, (long long)precision, FM_STR_ARG(p->text));
    }
    *out = fm_type_decimal(p->arena, (int)precision, (int)scale);
    return *out ? FM_OK : fm_no_memory(p->arena, p->err);
}

static const struct named {
    const char *name;
    fm_type_id id;
} names[] = {
    {"BOOLEAN", FM_TYPE_BOOL},       {"TINYINT", FM_TYPE_I8},
    {"BYTE", FM_TYPE_I8},            {"SMALLINT", FM_TYPE_I16},
    {"SHORT", FM_TYPE_I16},          {"INT", FM_TYPE_I32},
    {"INTEGER", FM_TYPE_I32},        {"BIGINT", FM_TYPE_I64},
    {"LONG", FM_TYPE_I64},           {"FLOAT", FM_TYPE_F32},
    {"REAL", FM_TYPE_F32},           {"DOUBLE", FM_TYPE_F64},
    {"DECIMAL", FM_TYPE_DECIMAL},    {"DEC", FM_TYPE_DECIMAL},
    {"NUMERIC", FM_TYPE_DECIMAL},    {"STRING", FM_TYPE_STRING},
    {"VARCHAR", FM_TYPE_STRING},     {"CHAR", FM_TYPE_STRING},
    {"CHARACTER", FM_TYPE_STRING},   {"BINARY", FM_TYPE_BINARY},
    {"DATE", FM_TYPE_DATE},          {"TIMESTAMP", FM_TYPE_TIMESTAMP},
    {"TIMESTAMP_LTZ", FM_TYPE_TIMESTAMP}, {"TIMESTAMP_NTZ", FM_TYPE_TIMESTAMP_NTZ},
    {"VOID", FM_TYPE_NULL},          {"ARRAY", FM_TYPE_LIST},
    {"MAP", FM_TYPE_MAP},            {"STRUCT", FM_TYPE_STRUCT},
};
enum { N_NAMES = sizeof names / sizeof names[0] };

static fm_status unknown_type(parser *p, fm_str word)
{
    const char *known[N_NAMES];

    for (int i = 0; i < N_NAMES; i++) known[i] = names[i].name;
    const char *near = fm_str_nearest(word, known, N_NAMES);
    return fm_fail(p->err, FM_INVALID, "UNSUPPORTED_DATATYPE", "Unsupported data type \"%.*s\".%s%s%s",
                   FM_STR_ARG(word), near ? " Did you mean " : "", near ? near : "", near ? "?" : "");
}

/* What may follow TIMESTAMP and STRING. */
static fm_status parse_suffix(parser *p, fm_str word, const fm_type **out)
{
    if (fm_str_eq_ci(word, FM_STR("TIMESTAMP")) && (at_word(p, "WITH") || at_word(p, "WITHOUT"))) {
        if (at_word(p, "WITHOUT")) {
            *out = fm_type_simple(FM_TYPE_TIMESTAMP_NTZ);
            FM_TRY(next(p));
        } else {
            FM_TRY(next(p));
            FM_TRY(take_word(p, "LOCAL"));
        }
        FM_TRY(take_word(p, "TIME"));
        return take_word(p, "ZONE");
    }
    if ((*out)->id == FM_TYPE_STRING && at_word(p, "COLLATE")) {
        FM_TRY(next(p));
        if (!at_word(p, "UTF8_BINARY")) {
            return fm_fail(p->err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.COLLATION",
                           "The collation '%.*s' is not supported; strings compare by their bytes (UTF8_BINARY).",
                           FM_STR_ARG(p->tok.text));
        }
        return next(p);
    }
    return FM_OK;
}

static fm_status parse_plain(parser *p, const fm_type **out)
{
    fm_str word = p->tok.text;
    int64_t numbers[2] = {0, 0};
    int n_numbers, i = 0;

    FM_TRY(next(p));
    while (i < N_NAMES && !fm_str_eq_ci(word, fm_str_c(names[i].name))) i++;
    if (i == N_NAMES) return unknown_type(p, word);
    switch (names[i].id) {
    case FM_TYPE_LIST: return parse_list(p, out);
    case FM_TYPE_MAP: return parse_map(p, out);
    case FM_TYPE_STRUCT: return parse_struct(p, out);
    default: break;
    }
    bool sized = names[i].id == FM_TYPE_STRING && !fm_str_eq_ci(word, FM_STR("STRING"));
    if (names[i].id == FM_TYPE_DECIMAL || sized) {
        FM_TRY(parse_numbers(p, numbers, &n_numbers));
        if (names[i].id == FM_TYPE_DECIMAL) return make_decimal(p, numbers, n_numbers, out);
        if (n_numbers != 1) {
            return fm_fail(p->err, FM_INVALID, "DATATYPE_MISSING_SIZE",
                           "DataType \"%.*s\" requires a length parameter, for example \"%.*s\"(10).",
                           FM_STR_ARG(word), FM_STR_ARG(word));
        }
    }
    *out = fm_type_simple(names[i].id);
    return parse_suffix(p, word, out);
}

static fm_status parse_type(parser *p, const fm_type **out)
{
    if (p->tok.kind != WORD) return syntax_error(p, "a type");
    if (p->depth == FM_TYPE_DEPTH_MAX) {
        return fm_fail(p->err, FM_LIMIT, "FLOODMARK_TYPE_DEPTH", "Types may be nested %d deep.", FM_TYPE_DEPTH_MAX);
    }
    p->depth++;
    if (at_word(p, "INTERVAL")) {
        FM_TRY(next(p));
        FM_TRY(parse_interval(p, out));
    } else {
        FM_TRY(parse_plain(p, out));
    }
    p->depth--;
    return FM_OK;
}

static fm_status parse_end(parser *p) { return p->tok.kind == END ? FM_OK : syntax_error(p, "the end of the type"); }

fm_status fm_type_parse(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    parser p = {.arena = arena, .text = text, .err = err};

    FM_TRY(next(&p));
    FM_TRY(parse_type(&p, out));
    return parse_end(&p);
}

fm_status fm_type_parse_ddl(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    parser p = {.arena = arena, .text = text, .err = err};

    FM_TRY(next(&p));
    if (at_word(&p, "STRUCT")) { /* a whole type instead of a list; or a column of this name */
        FM_TRY(next(&p));
        if (at_sign(&p, '<')) return fm_type_parse(arena, text, out, err);
        p.at = 0;
        FM_TRY(next(&p));
    }
    if (p.tok.kind == END) {
        *out = fm_type_struct(arena, NULL, 0);
        return *out ? FM_OK : fm_no_memory(arena, err);
    }
    FM_TRY(parse_fields(&p, out));
    return parse_end(&p);
}
