/* expr/agg_test.c: every aggregate over random rows: the rows cut into parts at random, parts saved and loaded in the
 * middle and merged, must give what one pass gives. And tables of small cases with their answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "column/builder.h"
#include "expr/aggregate.h"
#include "expr/cast.h"

enum { GROUPS = 7, ARGS_MAX = 4 };

static fm_session_conf conf = {.ansi = true};
static uint64_t seed;

static uint32_t rnd(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % below);
}

static const fm_type *type_of(fm_arena *arena, const char *text)
{
    const fm_type *type;
    fm_error err = FM_ERROR_INIT;
    if (fm_type_parse(arena, fm_str_c(text), &type, &err) != FM_OK) fail_msg("%s: %s", text, err.message);
    return type;
}

static void random_lane(fm_builder *b, const fm_type *t)
{
    static const char *const words[] = {"", "a", "b", "ab", "zebra crossing, long", "\xC3\xA9t\xC3\xA9"};
    if (rnd(6) == 0) {
        fm_builder_null(b);
        return;
    }
    switch (t->id) {
    case FM_TYPE_BOOL: fm_builder_bool(b, rnd(2)); break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: fm_builder_str(b, fm_str_c(words[rnd(6)])); break;
    case FM_TYPE_F32:
    case FM_TYPE_F64: fm_builder_f64(b, rnd(40) == 0 ? NAN : ((int)rnd(2000) - 1000) / 8.0); break;
    case FM_TYPE_DECIMAL: fm_builder_decimal(b, (int)rnd(2000) - 1000); break;
    case FM_TYPE_STRUCT:
        for (int32_t i = 0; i < t->n_fields; i++) random_lane(fm_builder_child(b, i), t->fields[i].type);
        fm_builder_end(b);
        break;
    case FM_TYPE_MAP:
        for (uint32_t n = rnd(3), k = 0; k < n; k++) {
            fm_builder_str(fm_builder_child(b, 0), (fm_str){&"abc"[k], 1});
            random_lane(fm_builder_child(b, 1), t->fields[1].type);
        }
        fm_builder_end(b);
        break;
    case FM_TYPE_LIST:
        for (uint32_t n = rnd(3); n > 0; n--) random_lane(fm_builder_child(b, 0), t->fields[0].type);
        fm_builder_end(b);
        break;
    default: fm_builder_i64(b, (int)rnd(200) - 100); break;
    }
}

/* ---- Parts ------------------------------------------------------------------------------------------------- */

typedef struct part {
    char *entries[GROUPS];
} part;

static part part_new(const fm_agg_call *call)
{
    part p;
    uint32_t size = call->aggregate->state_size(call);
    for (int g = 0; g < GROUPS; g++) {
        p.entries[g] = calloc(1, call->offset + size);
        if (call->aggregate->init) call->aggregate->init(call, p.entries[g] + call->offset);
    }
    return p;
}

static void part_free(const fm_agg_call *call, part *p)
{
    for (int g = 0; g < GROUPS; g++) {
        if (call->aggregate->fini) call->aggregate->fini(call, p->entries[g] + call->offset);
        free(p->entries[g]);
    }
}

/* Writes the states as the state store does and reads them into new ones. */
static void part_reload(const fm_agg_call *call, part *p)
{
    part fresh = part_new(call);
    const fm_aggregate *a = call->aggregate;
    fm_error err = FM_ERROR_INIT;
    for (int g = 0; g < GROUPS; g++) {
        void *from = p->entries[g] + call->offset, *to = fresh.entries[g] + call->offset;
        fm_strbuf bytes = {0};
        size_t at = 0;
        if (!a->save) {
            memcpy(to, from, a->state_size(call));
            continue;
        }
        if (a->save(call, from, &bytes, &err) != FM_OK) fail_msg("save: %s", err.message);
        if (a->load(call, fm_strbuf_str(&bytes), &at, to, &err) != FM_OK)
            fail_msg("%s: load: %s", a->name, err.message);
        assert_int_equal(at, bytes.len);
        /* A cut state is refused, whatever is missing; nothing leaks. */
        for (size_t len = 0; len < bytes.len; len += 1 + bytes.len / 7) {
            void *scrap = calloc(1, a->state_size(call));
            size_t from_start = 0;
            if (a->init) a->init(call, scrap);
            assert_int_equal(a->load(call, (fm_str){bytes.ptr, len}, &from_start, scrap, &err), FM_CORRUPT);
            if (a->fini) a->fini(call, scrap);
            free(scrap);
        }
        fm_strbuf_fini(&bytes);
    }
    part_free(call, p);
    *p = fresh;
}

static void add_rows(const fm_agg_call *call, part *p, const fm_vec *args, const uint8_t *group,
                     const uint8_t *keep, int32_t from, int32_t to, fm_arena *arena)
{
    char **entries = fm_arena_array(arena, char *, to - from);
    int32_t *rows = fm_arena_array(arena, int32_t, to - from);
    fm_vec some[ARGS_MAX];
    fm_error err = FM_ERROR_INIT;
    for (int32_t i = from; i < to; i++) {
        entries[i - from] = p->entries[group[i]];
        rows[i - from] = i;
    }
    for (int32_t a = 0; a < call->n_args; a++)
        assert_int_equal(fm_vec_gather(&some[a], &args[a], rows, to - from, arena, &err), FM_OK);
    if (call->aggregate->update(call, entries, some, keep ? keep + from : NULL, to - from, &err) != FM_OK)
        fail_msg("%s: update: %s", call->aggregate->name, err.message);
}

static void merge_into(const fm_agg_call *call, part *dst, part *src)
{
    fm_error err = FM_ERROR_INIT;
    if (call->aggregate->merge(call, dst->entries, src->entries, GROUPS, &err) != FM_OK)
        fail_msg("%s: merge: %s", call->aggregate->name, err.message);
    part_free(call, src);
}

static void text_of(const fm_agg_call *call, part *p, fm_arena *arena, fm_strbuf *text, fm_vec *out)
{
    fm_error err = FM_ERROR_INIT;
    if (call->aggregate->finish(call, p->entries, GROUPS, arena, out, &err) != FM_OK)
        fail_msg("%s: finish: %s", call->aggregate->name, err.message);
    if (fm_vec_verify(out, &err) != FM_OK) fail_msg("%s: %s", call->aggregate->name, err.message);
    for (int g = 0; g < GROUPS; g++) {
        if (fm_vec_is_null(out, g))
            fm_strbuf_add_c(text, "NULL");
        else
            fm_value_text(out, g, fm_zone_utc(), text);
        fm_strbuf_add_char(text, '\n');
    }
}

static bool near(double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Doubles may be rounded in another order. */
static void assert_same(const fm_agg_call *call, const fm_vec *a, const fm_vec *b, const char *text_a,
                        const char *text_b)
{
    for (int g = 0; g < GROUPS; g++) {
        bool same = fm_vec_same(a, g, b, g);
        if (a->type->id == FM_TYPE_F64 && !fm_vec_is_null(a, g) && !fm_vec_is_null(b, g))
            same = near(fm_vec_f64(a)[g], fm_vec_f64(b)[g]);
        if (!same)
            fail_msg("%s: group %d: one pass:\n%s\nin parts:\n%s", call->aggregate->name, g, text_a, text_b);
    }
}

/* ---- The property ------------------------------------------------------------------------------------------ */

typedef struct subject {
    const char *name;
    const char *types; /* "int;string": a column each; "=sql" is no column but a literal 0.5, 10, true */
    bool ignore_nulls;
} subject;

static fm_expr *argument(fm_arena *arena, const char *text, int32_t index)
{
    fm_expr *e;
    if (*text == '=') {
        char *end;
        double x = strtod(text + 1, &end);
        if (strcmp(text, "=true") == 0) return fm_expr_literal_bool(arena, true);
        if (end[-1] != '0' && strchr(text, '.') == NULL)
            return fm_expr_literal_i32(arena, (int32_t)x);
        if (strchr(text, '.') == NULL) return fm_expr_literal_i32(arena, (int32_t)x);
        return fm_expr_literal_f64(arena, fm_type_f64(), x);
    }
    e = fm_expr_new(arena, FM_EXPR_COLUMN, (fm_pos){0});
    e->type = type_of(arena, text);
    e->nullable = e->deterministic = true;
    e->index = index;
    e->name = FM_STR("x");
    return e;
}

static void resolve(const subject *s, fm_arena *arena, fm_agg_call *call)
{
    fm_expr *args[ARGS_MAX], *e;
    char text[128];
    int32_t n = 0;
    fm_error err = FM_ERROR_INIT;
    snprintf(text, sizeof text, "%s", s->types);
    for (char *save = NULL, *t = strtok_r(text, ";", &save); t; t = strtok_r(NULL, ";", &save), n++)
        args[n] = argument(arena, t, n);
    if (fm_aggregate_resolve(arena, &conf, fm_str_c(s->name), args, n, false, s->ignore_nulls, NULL,
                             (fm_pos){0}, &e, &err) != FM_OK)
        fail_msg("%s(%s): %s", s->name, s->types, err.message);
    assert_int_equal(fm_agg_call_init(call, &conf, e, arena, &err), FM_OK);
    call->offset = 16;
}

static void literal_or_random(const fm_agg_call *call, int32_t a, int32_t rows, fm_arena *arena, fm_vec *out)
{
    const fm_expr *e = call->expr->args[a];
    fm_error err = FM_ERROR_INIT;
    if (e->kind == FM_EXPR_LITERAL) {
        assert_int_equal(fm_vec_repeat(out, &e->value, 0, rows, arena, &err), FM_OK);
        return;
    }
    fm_builder *b = fm_builder_new(arena, e->type, rows);
    for (int32_t i = 0; i < rows; i++) random_lane(b, e->type);
    assert_int_equal(fm_builder_finish(b, out, &err), FM_OK);
}

static void parts_give_the_whole(const subject *s)
{
    for (int round = 0; round < 12; round++) {
        fm_arena *arena = fm_arena_new(0);
        int32_t rows = round == 0 ? 0 : 1 + (int32_t)rnd(round < 6 ? 12 : 1500);
        uint8_t *group = fm_arena_array(arena, uint8_t, rows + 1);
        uint8_t *keep = rnd(2) ? fm_arena_array(arena, uint8_t, rows + 1) : NULL;
        fm_vec args[ARGS_MAX], whole, merged;
        fm_strbuf whole_text = {0}, merged_text = {0};
        fm_agg_call call;

        resolve(s, arena, &call);
        for (int32_t a = 0; a < call.n_args; a++) literal_or_random(&call, a, rows, arena, &args[a]);
        for (int32_t i = 0; i < rows; i++) {
            group[i] = (uint8_t)rnd(GROUPS);
            if (keep) keep[i] = (uint8_t)rnd(4) != 0;
        }
        part all = part_new(&call);
        add_rows(&call, &all, args, group, keep, 0, rows, arena);
        text_of(&call, &all, arena, &whole_text, &whole);

        part sum = part_new(&call);
        for (int32_t from = 0; from < rows;) {
            int32_t to = from + 1 + (int32_t)rnd((uint32_t)(rows - from));
            part next = part_new(&call);
            int32_t middle = from + (int32_t)rnd((uint32_t)(to - from) + 1);
            add_rows(&call, &next, args, group, keep, from, middle, arena);
            if (rnd(2)) part_reload(&call, &next);
            add_rows(&call, &next, args, group, keep, middle, to, arena);
            merge_into(&call, &sum, &next);
            if (rnd(2)) part_reload(&call, &sum);
            from = to;
        }
        text_of(&call, &sum, arena, &merged_text, &merged);
        assert_same(&call, &whole, &merged, whole_text.ptr, merged_text.ptr);
        part_free(&call, &all);
        part_free(&call, &sum);
        fm_strbuf_fini(&whole_text);
        fm_strbuf_fini(&merged_text);
        fm_arena_free(arena);
    }
}

static const subject subjects[] = {
    {.name = "count", .types = "int"},
    {.name = "count", .types = "int;string"},
    {.name = "count_if", .types = "boolean"},
    {.name = "sum", .types = "tinyint"},
    {.name = "sum", .types = "bigint"},
    {.name = "sum", .types = "float"},
    {.name = "sum", .types = "double"},
    {.name = "sum", .types = "decimal(10,2)"},
    {.name = "sum", .types = "interval day to second"},
    {.name = "sum", .types = "interval year to month"},
    {.name = "try_sum", .types = "int"},
    {.name = "avg", .types = "smallint"},
    {.name = "mean", .types = "double"},
    {.name = "avg", .types = "decimal(12,3)"},
    {.name = "avg", .types = "interval day to second"},
    {.name = "try_avg", .types = "decimal(12,3)"},
    {.name = "min", .types = "boolean"},
    {.name = "max", .types = "tinyint"},
    {.name = "min", .types = "smallint"},
    {.name = "max", .types = "int"},
    {.name = "min", .types = "bigint"},
    {.name = "max", .types = "float"},
    {.name = "min", .types = "double"},
    {.name = "max", .types = "double"},
    {.name = "min", .types = "date"},
    {.name = "max", .types = "timestamp"},
    {.name = "min", .types = "string"},
    {.name = "max", .types = "binary"},
    {.name = "max", .types = "decimal(20,4)"},
    {.name = "min", .types = "struct<a:int,b:string>"},
    {.name = "max", .types = "array<int>"},
    {.name = "bool_and", .types = "boolean"},
    {.name = "any", .types = "boolean"},
    {.name = "bit_and", .types = "int"},
    {.name = "bit_or", .types = "tinyint"},
    {.name = "bit_xor", .types = "bigint"},
    {.name = "first", .types = "int"},
    {.name = "first", .types = "string", .ignore_nulls = true},
    {.name = "last", .types = "double"},
    {.name = "last_value", .types = "string;=true"},
    {.name = "any_value", .types = "struct<a:int,b:string>"},
    {.name = "last", .types = "map<string,int>"},
    {.name = "collect_list", .types = "int"},
    {.name = "array_agg", .types = "map<string,int>"},
    {.name = "collect_set", .types = "double"},
    {.name = "collect_set", .types = "struct<a:int,b:string>"},
    {.name = "min_by", .types = "string;int"},
    {.name = "max_by", .types = "double;string"},
    {.name = "max_by", .types = "array<string>;struct<a:int,b:string>"},
    {.name = "stddev", .types = "double"},
    {.name = "stddev_pop", .types = "double"},
    {.name = "variance", .types = "int"},
    {.name = "var_pop", .types = "double"},
    {.name = "skewness", .types = "double"},
    {.name = "kurtosis", .types = "double"},
    {.name = "covar_pop", .types = "double;double"},
    {.name = "covar_samp", .types = "double;double"},
    {.name = "corr", .types = "double;double"},
    {.name = "regr_count", .types = "double;double"},
    {.name = "regr_slope", .types = "double;double"},
    {.name = "regr_r2", .types = "double;double"},
    {.name = "approx_count_distinct", .types = "string"},
    {.name = "approx_count_distinct", .types = "double;=0.2"},
    {.name = "approx_count_distinct", .types = "struct<a:int,b:string>;=0.01"},
    {.name = "percentile", .types = "double;=0.5"},
    {.name = "percentile", .types = "interval day to second;=0.5"},
    {.name = "median", .types = "int"},
    {.name = "mode", .types = "string"},
    {.name = "mode", .types = "double;=true"},
    {.name = "percentile_approx", .types = "bigint;=0.5"}, /* few enough rows to be exact */
    {.name = "percentile_approx", .types = "decimal(12,3);=0.5"},
    {.name = "max_by", .types = "string;double;=3"},
    {.name = "min_by", .types = "array<int>;int;=40"},
    {.name = "listagg", .types = "string"},
    {.name = "string_agg", .types = "binary"},
};

static void test_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        seed = 7 + i;
        parts_give_the_whole(&subjects[i]);
    }
}

/* ---- Small cases ------------------------------------------------------------------------------------------- */

typedef struct small_case {
    const char *name, *type;
    double values[6]; /* NAN ends; INFINITY is null */
    const char *expected; /* text of the result, "NULL", or the condition of the error */
} small_case;

#define END NAN
#define NUL INFINITY

static const small_case small_cases[] = {
    {"count", "int", {END}, "0"},
    {"count", "int", {1, NUL, 3, END}, "2"},
    {"sum", "int", {END}, "NULL"},
    {"sum", "int", {NUL, END}, "NULL"},
    {"sum", "int", {2147483647, 1, END}, "2147483648"},
    {"sum", "bigint", {9.2e18, 9.2e18, END}, "ARITHMETIC_OVERFLOW"},
    {"sum", "bigint", {9.2e18, 9.2e18, -9.2e18, END}, "ARITHMETIC_OVERFLOW"}, /* the running sum */
    {"try_sum", "bigint", {9.2e18, 9.2e18, -9.2e18, END}, "NULL"},
    {"sum", "double", {-0.0, END}, "0.0"},
    {"sum", "double", {-0.0, NUL, -0.0, END}, "0.0"},
    {"sum", "double", {1.5, NUL, -1.5, END}, "0.0"},
    {"sum", "decimal(10,2)", {150, 250, END}, "4.00"},
    {"avg", "int", {1, 2, NUL, END}, "1.5"},
    {"avg", "bigint", {9e18, 9e18, END}, "9.0E18"},
    {"avg", "decimal(3,2)", {150, 225, END}, "1.875000"},
    {"avg", "decimal(38,37)", {1, 2, END}, "0.00000000000000000000000000000000000015"},
    {"avg", "interval year to month", {10, 1, END}, "INTERVAL '0-6' YEAR TO MONTH"},
    {"avg", "int", {NUL, END}, "NULL"},
    {"min", "double", {2, -1, END}, "-1.0"},
    {"max", "double", {-2, -1, NUL, END}, "-1.0"},
    {"max", "bigint", {-9e18, -8e18, END}, "-8000000000000000000"},
    {"min", "bigint", {NUL, 5, END}, "5"},
    {"max", "boolean", {0, 1, END}, "true"},
    {"bool_and", "boolean", {1, NUL, END}, "true"},
    {"bool_and", "boolean", {1, 0, END}, "false"},
    {"some", "boolean", {NUL, END}, "NULL"},
    {"bit_and", "smallint", {5, 3, END}, "1"},
    {"bit_or", "int", {5, 3, END}, "7"},
    {"bit_xor", "int", {5, 3, END}, "6"},
    {"first", "int", {NUL, 1, END}, "NULL"},
    {"last", "int", {NUL, 1, END}, "1"},
    {"stddev", "double", {1, END}, "NULL"},
    {"stddev_pop", "double", {1, END}, "0.0"},
    {"skewness", "double", {1, 2, 5, END}, "0.5280049792181881"},
    {"kurtosis", "double", {1, 2, 5, END}, "-1.5000000000000013"},
    {"kurtosis", "double", {1, 1, END}, "NULL"},
    {"variance", "double", {1, 2, 5, END}, "4.333333333333333"},
};

static fm_status run_small(const small_case *c, fm_arena *arena, fm_strbuf *text, fm_error *err)
{
    subject s = {.name = c->name, .types = c->type};
    fm_agg_call call;
    fm_builder *b;
    fm_vec column, out;
    char *entries[6], *entry;
    int32_t n = 0;
    fm_status st;

    resolve(&s, arena, &call);
    b = fm_builder_new(arena, call.arg_types[0], 6);
    entry = calloc(1, call.offset + call.aggregate->state_size(&call));
    for (; !isnan(c->values[n]); n++) {
        entries[n] = entry;
        if (isinf(c->values[n]))
            fm_builder_null(b);
        else if (call.arg_types[0]->id == FM_TYPE_F64)
            fm_builder_f64(b, c->values[n]);
        else if (call.arg_types[0]->id == FM_TYPE_DECIMAL)
            fm_builder_decimal(b, (fm_i128)c->values[n]);
        else if (call.arg_types[0]->id == FM_TYPE_BOOL)
            fm_builder_bool(b, c->values[n] != 0);
        else
            fm_builder_i64(b, (int64_t)c->values[n]);
    }
    assert_int_equal(fm_builder_finish(b, &column, err), FM_OK);
    if (call.aggregate->init) call.aggregate->init(&call, entry + call.offset);
    st = call.aggregate->update(&call, entries, &column, NULL, n, err);
    if (st == FM_OK) st = call.aggregate->finish(&call, &entry, 1, arena, &out, err);
    if (st == FM_OK && fm_vec_is_null(&out, 0))
        fm_strbuf_add_c(text, "NULL");
    else if (st == FM_OK)
        fm_value_text(&out, 0, fm_zone_utc(), text);
    else
        fm_strbuf_add_c(text, err->condition);
    if (call.aggregate->fini) call.aggregate->fini(&call, entry + call.offset);
    free(entry);
    return st;
}

static void test_small(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small_cases / sizeof small_cases[0]; i++) {
        const small_case *c = &small_cases[i];
        fm_arena *arena = fm_arena_new(0);
        fm_strbuf text = {0};
        fm_error err = FM_ERROR_INIT;
        run_small(c, arena, &text, &err);
        if (strcmp(text.ptr, c->expected) != 0)
            fail_msg("case %zu: %s(%s): %s, not %s", i, c->name, c->type, text.ptr, c->expected);
        fm_strbuf_fini(&text);
        fm_arena_free(arena);
    }
}

static void test_table_is_sorted(void **state)
{
    int n;
    const fm_aggregate *const *table = fm_aggregates(&n);
    (void)state;
    for (int i = 0; i < n; i++) {
        assert_non_null(table[i]->usage);
        assert_non_null(table[i]->doc);
        assert_non_null(table[i]->since);
        assert_true(!table[i]->save == !table[i]->load);
        if (i > 0 && strcmp(table[i - 1]->name, table[i]->name) >= 0)
            fail_msg("%s stands before %s", table[i - 1]->name, table[i]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_table_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
