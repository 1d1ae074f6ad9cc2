/* expr/test_eval.c: for unit tests: see test_eval.h. */
#include "expr/test_eval.h"

#include <stdio.h>
#include <stdlib.h>

#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval.h"

enum { ARGS_MAX = 32, COLUMNS_MAX = 64 };

typedef struct reader {
    fm_arena *arena;
    const fm_session_conf *conf;
    const char *p;
    bool columns;
    int32_t n_columns;
    fm_vec values[COLUMNS_MAX];
    fm_field fields[COLUMNS_MAX];
    fm_error *err;
} reader;

static fm_expr *read_expr(reader *r);

static void blanks(reader *r)
{
    while (*r->p == ' ' || *r->p == '\n') r->p++;
}

static fm_expr *broken(reader *r, const char *what)
{
    fm_fail(r->err, FM_INVALID, "TEST_TEXT", "%s at '%s'", what, r->p);
    return NULL;
}

/* A literal, or a column of three lanes: the value, null, the value. */
static fm_expr *given(reader *r, fm_expr *literal)
{
    const int32_t rows[] = {0, -1, 0};
    fm_expr *column;
    if (!r->columns || !literal) return literal;
    column = fm_expr_new(r->arena, FM_EXPR_COLUMN, (fm_pos){0});
    column->index = r->n_columns;
    column->type = literal->type;
    column->name = FM_STR("c");
    r->fields[r->n_columns] = (fm_field){column->name, literal->type, true};
    if (fm_vec_gather(&r->values[r->n_columns++], &literal->value, rows, 3, r->arena, r->err) != FM_OK)
        return NULL;
    return column;
}

static fm_expr *read_number(reader *r)
{
    const char *start = r->p, *digits;
    fm_str text;
    int64_t x = 0;
    double d = 0;
    if (*r->p == '-' || *r->p == '+') r->p++;
    digits = r->p;
    while ((*r->p >= '0' && *r->p <= '9') || *r->p == '.' || *r->p == 'e' || *r->p == 'E' ||
           (*r->p == '-' && r->p > digits && (r->p[-1] | 32) == 'e'))
        r->p++;
    text = (fm_str){start, (size_t)(r->p - start)};
    switch (*r->p) {
    case 'D':
    case 'F':
        if (!fm_text_to_double(text, &d)) return broken(r, "bad number");
        return fm_expr_literal_f64(r->arena, fm_type_simple(*r->p++ == 'D' ? FM_TYPE_F64 : FM_TYPE_F32), d);
    default: break;
    }
    if (memchr(text.ptr, '.', text.len) || *r->p == 'B') {
        const char *point = memchr(text.ptr, '.', text.len);
        int scale = point ? (int)(text.ptr + text.len - point) - 1 : 0;
        int precision = 0;
        fm_i128 unscaled;
        for (const char *c = digits; c < r->p; c++)
            if (*c != '.' && (precision || *c != '0' || c > point)) precision++;
        if (precision < scale) precision = scale;
        if (precision == 0) precision = 1;
        if (!fm_text_to_decimal(text, 38, scale, &unscaled)) return broken(r, "bad decimal");
        if (*r->p == 'B') r->p += 2;
        return fm_expr_literal_decimal(r->arena, fm_type_decimal(r->arena, precision, scale), unscaled);
    }
    if (!fm_text_to_i64(text, &x)) return broken(r, "bad number");
    switch (*r->p) {
    case 'Y': r->p++; return fm_expr_literal_i64(r->arena, fm_type_simple(FM_TYPE_I8), x);
    case 'S': r->p++; return fm_expr_literal_i64(r->arena, fm_type_simple(FM_TYPE_I16), x);
    case 'L': r->p++; return fm_expr_literal_i64(r->arena, fm_type_i64(), x);
    default: return fm_expr_literal_i32(r->arena, (int32_t)x);
    }
}

static fm_str read_quoted(reader *r, char quote)
{
    const char *start = ++r->p;
    while (*r->p && *r->p != quote) r->p++;
    fm_str text = {start, (size_t)(r->p - start)};
    if (*r->p) r->p++;
    return text;
}

static fm_expr *read_atom(reader *r)
{
    static const char *const words[] = {"null", "true", "false"};
    if (*r->p == '\'')
        return fm_expr_literal_str(r->arena, fm_type_string(), read_quoted(r, '\''));
    for (int i = 0; i < 3; i++)
        if (strncmp(r->p, words[i], strlen(words[i])) == 0) {
            r->p += strlen(words[i]);
            if (i) return fm_expr_literal_bool(r->arena, i == 1);
            return fm_expr_literal_null(r->arena, fm_type_null());
        }
    return read_number(r);
}

static fm_expr *read_cast(reader *r, bool try_cast)
{
    fm_expr *e = read_expr(r), *out;
    const fm_type *type;
    if (!e) return NULL;
    blanks(r);
    if (*r->p != '"') return broken(r, "a type is missing");
    if (fm_type_parse(r->arena, read_quoted(r, '"'), &type, r->err) != FM_OK) return NULL;
    blanks(r);
    if (*r->p++ != ')') return broken(r, ") is missing");
    return fm_expr_cast(r->arena, r->conf, e, type, true, try_cast, &out, r->err) == FM_OK ? out : NULL;
}

static fm_expr *read_list(reader *r)
{
    static const struct {
        const char *name;
        fm_expr_kind kind;
    } kinds[] = {{"and", FM_EXPR_AND}, {"or", FM_EXPR_OR}, {"case", FM_EXPR_CASE}, {"in", FM_EXPR_IN_LIST},
                 {"extract", FM_EXPR_EXTRACT}};
    fm_expr *args[ARGS_MAX], *out = NULL;
    int32_t n = 0;
    const char *start;
    fm_str name;
    blanks(r);
    start = r->p;
    while (*r->p && *r->p != ' ' && *r->p != ')') r->p++;
    name = (fm_str){start, (size_t)(r->p - start)};
    if (fm_str_eq(name, FM_STR("cast"))) return read_cast(r, false);
    if (fm_str_eq(name, FM_STR("try_cast"))) return read_cast(r, true);
    for (;;) {
        blanks(r);
        if (*r->p == ')') break;
        if (!*r->p || n == ARGS_MAX) return broken(r, ") is missing");
        args[n] = read_expr(r);
        if (!args[n++]) return NULL;
    }
    r->p++;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (fm_str_eq(name, fm_str_c(kinds[i].name))) {
            fm_expr *node = fm_expr_new(r->arena, kinds[i].kind, (fm_pos){0});
            node->n_args = n;
            return fm_expr_resolve_node(r->arena, r->conf, node, args, &out, r->err) == FM_OK ? out : NULL;
        }
    return fm_call_resolve(r->arena, r->conf, name, args, n, (fm_pos){0}, NULL, &out, r->err) == FM_OK
               ? out
               : NULL;
}

static fm_expr *read_expr(reader *r)
{
    blanks(r);
    if (*r->p == '(') {
        r->p++;
        return read_list(r);
    }
    return given(r, read_atom(r));
}

fm_expr *fm_test_read(fm_arena *arena, const fm_session_conf *conf, const char *text, fm_error *err)
{
    reader *r = fm_arena_one(arena, reader);
    r->arena = arena;
    r->conf = conf;
    r->p = text;
    r->err = err;
    return read_expr(r);
}

static void lane_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    if (fm_vec_is_null(v, i))
        fm_strbuf_add_c(out, "NULL");
    else
        fm_value_text(v, i, zone, out);
}

static bool run_case(const fm_test_case *c, const fm_session_conf *conf, bool columns)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_run_context run = {.now_us = INT64_C(1767225600000000), .watermark_us = INT64_MIN};
    reader *r = fm_arena_one(arena, reader);
    fm_strbuf got = {0};
    fm_eval *eval;
    fm_vec out = {0};
    fm_expr *e;
    bool same;

    r->arena = arena;
    r->conf = conf;
    r->p = c->expr;
    r->err = &err;
    r->columns = columns;
    e = read_expr(r);
    if (e && fm_eval_new(arena, conf, e, &eval, &err) == FM_OK) {
        fm_batch batch = {fm_type_struct(arena, r->fields, r->n_columns), columns ? 3 : 1, r->values};
        if (fm_eval_run(eval, &run, &batch, arena, &out, &err) == FM_OK) {
            lane_text(&out, 0, conf->zone, &got);
            if (fm_vec_verify(&out, &err) != FM_OK) fm_strbuf_printf(&got, " (verify: %s)", err.message);
            if (!fm_type_eq(out.type, e->type)) fm_strbuf_add_c(&got, " (another type than promised)");
            if (columns) {
                fm_strbuf last = {0};
                lane_text(&out, 2, conf->zone, &last);
                if (!fm_str_eq(fm_strbuf_str(&got), fm_strbuf_str(&last)))
                    fm_strbuf_printf(&got, " (and behind a null %s)", last.ptr);
                fm_strbuf_fini(&last);
            }
        }
    }
    if (err.status != FM_OK && !got.len) fm_strbuf_printf(&got, "!%s", err.condition);
    same = fm_str_eq(fm_strbuf_str(&got), fm_str_c(c->expected));
    if (!same)
        fprintf(stderr, "%s%s%s\n    expected  %s\n    got       %s  %s\n", c->expr,
                conf->ansi ? "" : "  [not ANSI]", columns ? "  [columns]" : "", c->expected,
                got.ptr ? got.ptr : "", err.message);
    fm_strbuf_fini(&got);
    fm_arena_free(arena);
    return same;
}

int fm_test_cases(const fm_test_case *cases, int n, fm_test_setting setting)
{
    fm_arena *arena = fm_arena_new(0);
    fm_session_conf conf = {.ansi = setting.ansi, .zone = fm_zone_utc()};
    fm_error err = FM_ERROR_INIT;
    int failed = 0;
    if (setting.zone && fm_zone_open(arena, fm_str_c(setting.zone), &conf.zone, &err) != FM_OK) {
        fprintf(stderr, "%s\n", err.message);
        failed++;
    }
    for (int i = 0; i < n; i++)
        failed += !run_case(&cases[i], &conf, setting.columns);
    fm_arena_free(arena);
    return failed;
}
