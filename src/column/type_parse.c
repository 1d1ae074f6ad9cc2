/* column/type_parse.c: types from their text, in Spark's spellings. */
#include "base/limits.h"
#include "column/type.h"

typedef struct parser {
    fm_arena *arena;
    fm_str text;
    size_t at;
    fm_error *err;
} parser;

static fm_status syntax(parser *p, const char *expected)
{
    size_t left = p->text.len - p->at;

    return fm_fail(p->err, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error in the type '%.*s' at character %zu, near '%.*s': expected %s.",
                   FM_STR_ARG(p->text), p->at + 1, (int)(left > 20 ? 20 : left), p->text.ptr + p->at, expected);
}

static void skip_blanks(parser *p)
{
    while (p->at < p->text.len && (unsigned char)p->text.ptr[p->at] <= ' ') p->at++;
}

static bool is_word_char(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* The next word, or an empty text. */
static fm_str word(parser *p)
{
    skip_blanks(p);
    size_t from = p->at;
    while (p->at < p->text.len && is_word_char(p->text.ptr[p->at])) p->at++;
    return (fm_str){p->text.ptr + from, p->at - from};
}

static fm_str peek_word(parser *p)
{
    size_t at = p->at;
    fm_str w = word(p);
    p->at = at;
    return w;
}

static bool take_word(parser *p, const char *expected)
{
    if (!fm_str_eq_ci(peek_word(p), fm_str_c(expected))) return false;
    word(p);
    return true;
}

static bool take(parser *p, char c)
{
    skip_blanks(p);
    if (p->at >= p->text.len || p->text.ptr[p->at] != c) return false;
    p->at++;
    return true;
}

static bool number(parser *p, int64_t *out)
{
    return fm_str_to_i64(word(p), out);
}

/* A field name: a word, or anything in backticks, where two stand for one. */
static fm_status name(parser *p, fm_str *out)
{
    if (!take(p, '`')) {
        *out = word(p);
        return out->len ? FM_OK : syntax(p, "a name");
    }
    fm_strbuf text = {0};
    bool closed = false;
    while (p->at < p->text.len && !closed) {
        char c = p->text.ptr[p->at++];
        if (c == '`') {
            closed = p->at >= p->text.len || p->text.ptr[p->at] != '`';
            if (closed) break;
            p->at++;
        }
        fm_strbuf_add_char(&text, c);
    }
    *out = fm_arena_str(p->arena, (fm_str){text.ptr ? text.ptr : "", text.len});
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    if (!closed) return syntax(p, "a closing backtick");
    return ok ? FM_OK : fm_no_memory(p->arena, p->err);
}

static fm_status comment(parser *p)
{
    if (!take_word(p, "COMMENT")) return FM_OK;
    skip_blanks(p);
    char quote = p->at < p->text.len ? p->text.ptr[p->at] : 0;
    if (quote != '\'' && quote != '"') return syntax(p, "a quoted comment");
    for (p->at++; p->at < p->text.len; p->at++) {
        bool doubled = p->text.ptr[p->at] == quote && p->at + 1 < p->text.len && p->text.ptr[p->at + 1] == quote;
        if (p->text.ptr[p->at] == quote && !doubled) break;
        if ((doubled || p->text.ptr[p->at] == '\\') && p->at + 1 < p->text.len) p->at++;
    }
    return take(p, quote) ? FM_OK : syntax(p, "the end of the comment");
}

static const struct {
    const char *name;
    fm_type_id id;
} simple_names[] = {
    {"void", FM_TYPE_NULL}, {"boolean", FM_TYPE_BOOL}, {"tinyint", FM_TYPE_I8}, {"byte", FM_TYPE_I8},
    {"smallint", FM_TYPE_I16}, {"short", FM_TYPE_I16}, {"int", FM_TYPE_I32}, {"integer", FM_TYPE_I32},
    {"bigint", FM_TYPE_I64}, {"long", FM_TYPE_I64}, {"float", FM_TYPE_F32}, {"real", FM_TYPE_F32},
    {"double", FM_TYPE_F64}, {"string", FM_TYPE_STRING}, {"binary", FM_TYPE_BINARY}, {"date", FM_TYPE_DATE},
    {"timestamp", FM_TYPE_TIMESTAMP}, {"timestamp_ltz", FM_TYPE_TIMESTAMP}, {"timestamp_ntz", FM_TYPE_TIMESTAMP_NTZ},
};

static fm_status type(parser *p, int depth, const fm_type **out);

/* (p), (p, s) or nothing: (10, 0). */
static fm_status decimal(parser *p, const fm_type **out)
{
    int64_t precision = 10, scale = 0;

    if (take(p, '(')) {
        if (!number(p, &precision)) return syntax(p, "a precision");
        if (take(p, ',') && !number(p, &scale)) return syntax(p, "a scale");
        if (!take(p, ')')) return syntax(p, "')'");
    }
    if (precision < 1 || precision > FM_DECIMAL_PRECISION_MAX) {
        return fm_fail(p->err, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                       "Decimal precision %lld exceeds max precision %d.", (long long)precision, FM_DECIMAL_PRECISION_MAX);
    }
    if (scale < 0 || scale > precision) {
        return fm_fail(p->err, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
                       "Decimal scale %lld must be from 0 to the precision %lld.", (long long)scale, (long long)precision);
    }
    *out = fm_type_decimal(p->arena, (int)precision, (int)scale);
    return FM_OK;
}

static bool unit(fm_str w, fm_interval_unit *out)
{
    static const char *const names[] = {"year", "month", "day", "hour", "minute", "second"};

    for (int i = 0; i < 6; i++) {
        if (!fm_str_eq_ci(w, fm_str_c(names[i]))) continue;
        *out = (fm_interval_unit)i;
        return true;
    }
    return false;
}

static fm_status interval(parser *p, const fm_type **out)
{
    fm_interval_unit from, to;

    if (!unit(word(p), &from)) return syntax(p, "YEAR, MONTH, DAY, HOUR, MINUTE or SECOND");
    to = from;
    if (take_word(p, "TO") && !unit(word(p), &to)) return syntax(p, "a unit");
    if (to < from || (from <= FM_UNIT_MONTH) != (to <= FM_UNIT_MONTH)) return syntax(p, "a smaller unit of the same family");
    *out = fm_type_interval(p->arena, from, to);
    return FM_OK;
}

/* name [:] type [NOT NULL] [COMMENT '...'], up to `end` (0: the end of the text). */
static fm_status fields(parser *p, char end, int depth, const fm_type **out)
{
    fm_field *list = NULL;
    int32_t n = 0, cap = 0;

    skip_blanks(p);
    bool empty = end ? p->at < p->text.len && p->text.ptr[p->at] == end : p->at == p->text.len;
    while (!empty) {
        if (n == FM_SCHEMA_FIELDS_MAX) return syntax(p, "fewer fields");
        if (n == cap) {
            cap = cap ? cap * 2 : 8;
            fm_field *more = fm_arena_array(p->arena, fm_field, cap);
            if (!more) return fm_no_memory(p->arena, p->err);
            if (n) memcpy(more, list, (size_t)n * sizeof *more);
            list = more;
        }
        fm_field *f = &list[n++];
        f->nullable = true;
        FM_TRY(name(p, &f->name));
        take(p, ':');
        FM_TRY(type(p, depth + 1, &f->type));
        if (take_word(p, "NOT")) {
            if (!take_word(p, "NULL")) return syntax(p, "NULL");
            f->nullable = false;
        }
        FM_TRY(comment(p));
        if (!take(p, ',')) break;
    }
    *out = fm_type_struct(p->arena, list, n);
    return *out ? FM_OK : fm_no_memory(p->arena, p->err);
}

static fm_status nested(parser *p, fm_str w, int depth, const fm_type **out)
{
    const fm_type *first, *second;

    if (!take(p, '<')) {
        if (fm_str_eq_ci(w, FM_STR("STRUCT")) && take(p, '<')) return syntax(p, "fields");
        return syntax(p, "'<'");
    }
    if (fm_str_eq_ci(w, FM_STR("STRUCT"))) {
        FM_TRY(fields(p, '>', depth, out));
    } else {
        FM_TRY(type(p, depth + 1, &first));
        if (fm_str_eq_ci(w, FM_STR("ARRAY"))) {
            *out = fm_type_list(p->arena, first, true);
        } else {
            if (!take(p, ',')) return syntax(p, "',' and the type of the values");
            FM_TRY(type(p, depth + 1, &second));
            *out = fm_type_map(p->arena, first, second, true);
        }
    }
    return take(p, '>') ? FM_OK : syntax(p, "'>'");
}

static fm_status named(parser *p, fm_str w, int depth, const fm_type **out)
{
    int64_t length;

    for (size_t i = 0; i < sizeof simple_names / sizeof simple_names[0]; i++) {
        if (!fm_str_eq_ci(w, fm_str_c(simple_names[i].name))) continue;
        *out = fm_type_simple(simple_names[i].id);
        return FM_OK;
    }
    if (fm_str_eq_ci(w, FM_STR("decimal")) || fm_str_eq_ci(w, FM_STR("dec")) || fm_str_eq_ci(w, FM_STR("numeric"))) {
        return decimal(p, out);
    }
    if (fm_str_eq_ci(w, FM_STR("varchar")) || fm_str_eq_ci(w, FM_STR("char")) || fm_str_eq_ci(w, FM_STR("character"))) {
        if (!take(p, '(') || !number(p, &length) || !take(p, ')')) return syntax(p, "a length in parentheses");
        *out = fm_type_string();
        return FM_OK;
    }
    if (fm_str_eq_ci(w, FM_STR("interval"))) return interval(p, out);
    if (fm_str_eq_ci(w, FM_STR("array")) || fm_str_eq_ci(w, FM_STR("map")) || fm_str_eq_ci(w, FM_STR("struct"))) {
        return nested(p, w, depth, out);
    }
    return fm_fail(p->err, FM_INVALID, "UNSUPPORTED_DATATYPE", "Unsupported data type \"%.*s\".", FM_STR_ARG(w));
}

static fm_status type(parser *p, int depth, const fm_type **out)
{
    if (depth > FM_TYPE_DEPTH_MAX) return syntax(p, "fewer levels of nesting");
    fm_str w = word(p);
    if (w.len == 0) return syntax(p, "a type");
    FM_TRY(named(p, w, depth, out));
    return *out ? FM_OK : fm_no_memory(p->arena, p->err);
}

static fm_status at_end(parser *p)
{
    skip_blanks(p);
    return p->at == p->text.len ? FM_OK : syntax(p, "the end");
}

fm_status fm_type_parse(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    parser p = {.arena = arena, .text = text, .err = err};

    FM_TRY(type(&p, 0, out));
    return at_end(&p);
}

fm_status fm_type_parse_ddl(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err)
{
    parser p = {.arena = arena, .text = text, .err = err};
    fm_error ignored;

    /* Spark takes a type of a struct here too. */
    if (fm_str_eq_ci(peek_word(&p), FM_STR("struct")) && fm_type_parse(arena, text, out, &ignored) == FM_OK) return FM_OK;
    p.at = 0;
    FM_TRY(fields(&p, 0, 0, out));
    return at_end(&p);
}
