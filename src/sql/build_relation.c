/* sql/build_relation.c: what stands in FROM. */
#include "sql/build.h"

#include "base/checked.h"
#include "base/time_text.h"
#include "sql/grammar_driver.h"

fm_plan *fm_build_join(fm_parse *p, const fm_token *at, fm_plan *a, fm_join_type type, bool natural, fm_plan *b, fm_join_cond cond)
{
    fm_plan *node = fm_build_node2(p, FM_PLAN_JOIN, at->pos, a, b);

    if (!node) return NULL;
    node->join_type = type;
    node->natural = natural;
    node->column_names = cond.using_names.items;
    node->n_column_names = cond.using_names.n;
    return cond.on ? fm_build_with_expr(p, node, cond.on) : node;
}

fm_plan *fm_build_table(fm_parse *p, fm_names name, bool streaming, fm_options *options)
{
    fm_plan *node = name.n ? fm_build_node(p, FM_PLAN_RELATION, name.pos, NULL) : NULL;

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    node->streaming = streaming;
    if (options) node->options = *options;
    return node;
}

/* Named arguments come as ALIAS: their names are the function's, not Spark's. */
fm_plan *fm_build_table_function(fm_parse *p, fm_names name, fm_exprs args, bool streaming)
{
    fm_plan *node = name.n ? fm_build_node(p, FM_PLAN_TABLE_FUNCTION, name.pos, NULL) : NULL;

    for (int32_t i = 0; i < args.n; i++) {
        const fm_expr *e = args.items[i];
        bool named = e->kind == FM_EXPR_ALIAS;
        bool after = named && e->pos.from >= e->args[0]->pos.from; /* value AS key */
        bool late = i > 0 && !named && args.items[i - 1]->kind == FM_EXPR_ALIAS;
        if (after) fm_parse_fail(p, e->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error: an argument is named key => value, not value AS key.");
        if (late) {
            fm_parse_fail(p, e->pos, FM_INVALID, "UNEXPECTED_POSITIONAL_ARGUMENT",
                          "Cannot invoke routine `%.*s` because it contains positional argument(s) following the named argument assigned to `%.*s`; please "
                          "rearrange them so the positional arguments come first and then retry the query again.",
                          FM_STR_ARG(name.items[name.n - 1]), FM_STR_ARG(args.items[i - 1]->name));
        }
    }
    if (!node) return NULL;
    node->name = name.items[name.n - 1];
    node->streaming = streaming;
    return args.n ? fm_build_with_exprs(p, node, args) : node;
}

/* What a query calls its tables is not seen outside of it. Rule: Spark gives a query without an alias one that
 * nobody writes. */
fm_plan *fm_build_query_relation(fm_parse *p, fm_plan *query)
{
    fm_plan *node = query ? fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, query->pos, query) : NULL;

    if (node) node->name = FM_STR("__auto_generated_subquery_name");
    return node;
}

fm_sample fm_build_sample(fm_parse *p, const fm_token *at, fm_expr *size, fm_expr *of, const char *unit, const fm_token *seed)
{
    fm_sample s = {*at, size, of, unit, 0, seed->kind != 0};

    if (s.has_seed && !fm_str_to_i64(seed->text, &s.seed)) {
        fm_parse_fail(p, seed->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "The seed %.*s is larger than a BIGINT.", FM_STR_ARG(seed->text));
    }
    return s;
}

void fm_build_expect_word(fm_parse *p, const fm_token *word, const char *wanted)
{
    if (fm_str_eq_ci(word->text, fm_str_c(wanted))) return;
    fm_parse_fail(p, word->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near '%.*s'. Expected here: %s.", FM_STR_ARG(word->text), wanted);
}

static fm_plan *add_sample(fm_parse *p, fm_plan *base, const fm_sample *sample)
{
    fm_exprs sizes = fm_build_list(p, (fm_exprs){0}, sample->size);

    if (sample->of) sizes = fm_build_list(p, sizes, sample->of);
    fm_plan *node = fm_build_with_exprs(p, fm_build_node(p, FM_PLAN_SAMPLE, sample->at.pos, base), sizes);
    if (!node) return NULL;
    node->what = fm_str_c(sample->unit);
    node->seed = sample->seed;
    node->has_seed = sample->has_seed;
    return node;
}

/* A delay counts a month as 31 days. Rule: Spark, EventTimeWatermark.getDelayMs. */
static bool delay_us(const fm_interval *x, int64_t *out)
{
    int64_t days = (int64_t)x->months * 31 + x->days;

    return fm_mul_i64(days, FM_US_PER_DAY, out) && fm_add_i64(*out, x->us, out);
}

static fm_plan *add_watermark(fm_parse *p, fm_plan *base, const fm_watermark_clause *w)
{
    fm_plan *node = fm_build_with_expr(p, fm_build_node(p, FM_PLAN_WATERMARK, w->at.pos, base), w->expr);

    if (!node) return NULL;
    node->delay_text = w->delay.text;
    if (!delay_us(&w->delay.interval->value, &node->delay_us)) {
        fm_parse_fail(p, w->delay.pos, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "The delay is longer than 64 bits of microseconds hold.");
    }
    return node;
}

/* JOIN and kin cannot be aliases, so that a word too many is found where it stands. Rule: Spark, strictNonReserved. */
fm_alias_clause fm_build_table_alias(fm_parse *p, const fm_token *name, fm_names column_names)
{
    static const int strict[] = {FM_TK_ANTI,    FM_TK_CROSS,   FM_TK_EXCEPT, FM_TK_FULL, FM_TK_INNER, FM_TK_INTERSECT, FM_TK_JOIN,  FM_TK_LATERAL, FM_TK_LEFT,
                                 FM_TK_NATURAL, FM_TK_ON,      FM_TK_RIGHT,  FM_TK_SEMI, FM_TK_MINUS, FM_TK_UNION,     FM_TK_USING};

    for (size_t i = 0; i < sizeof strict / sizeof strict[0]; i++) {
        if (name->kind != strict[i]) continue;
        fm_parse_fail(p, name->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near '%.*s'. As the name of a table it must stand in backticks.",
                      FM_STR_ARG(name->text));
    }
    return (fm_alias_clause){name->text, column_names};
}

fm_plan *fm_build_relation(fm_parse *p, fm_plan *base, fm_sample sample, fm_watermark_clause watermark, fm_alias_clause alias)
{
    if (base && sample.at.kind) base = add_sample(p, base, &sample);
    if (base && watermark.expr) base = add_watermark(p, base, &watermark);
    if (!base || !alias.name.len) return base;
    fm_plan *node = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, base->pos, base);
    if (!node) return NULL;
    node->name = alias.name;
    node->column_names = alias.column_names.items;
    node->n_column_names = alias.column_names.n;
    return node;
}
