/* expr/expr.h: expression trees, from parsed to ready to run.
 *
 * One node type serves all phases. The parser makes unresolved nodes (names, calls by name); the analyzer
 * (plan/) turns them into resolved ones, with a type, a nullability, function entries and inserted
 * casts; binding replaces attributes by column indexes; fm_eval (expr/eval.h) runs the result.
 * Trees live in an arena and are immutable once made: a rewrite makes new nodes and shares the rest. */
#ifndef FM_EXPR_EXPR_H
#define FM_EXPR_EXPR_H

#include "column/vec.h"

typedef struct fm_expr fm_expr;
struct fm_function;
struct fm_aggregate;
struct fm_plan; /* plan/plan.h; only carried here */

typedef enum fm_expr_kind {
    /* unresolved: made by the parser */
    FM_EXPR_NAME,        /* parts[]: a column or field path: a, t.a, t.a.b */
    FM_EXPR_STAR,        /* parts[]: qualifier or none; args none */
    FM_EXPR_UNRESOLVED_CALL, /* name, args, distinct, filter, ignore_nulls, over */
    FM_EXPR_SUBQUERY,    /* plan: scalar subquery */
    FM_EXPR_EXISTS_SUBQUERY, /* plan */
    FM_EXPR_IN_SUBQUERY, /* args[0]; plan */
    FM_EXPR_INTERVAL_TEXT, /* never resolved by itself: see sql; value is a string literal */
    /* both */
    FM_EXPR_LITERAL,     /* value: 1 lane of `type` */
    FM_EXPR_ALIAS,       /* args[0] AS name; attr_id once resolved */
    FM_EXPR_MULTI_ALIAS, /* args[0] AS (parts[]): of generators */
    FM_EXPR_CAST,        /* args[0] to cast_type; try_cast; ansi */
    FM_EXPR_EXTRACT,     /* args[0] . / [ args[1] ]: struct field by literal name, list by index, map by key.
                            Resolved: FM_EXPR_FIELD, or a call of the internal functions */
    FM_EXPR_LAMBDA,      /* parts[]: parameter names; args[0] body. Resolved: args[1..n_parts] are the
                            FM_EXPR_LAMBDA_VAR nodes of the parameters; type is the body's */
    FM_EXPR_SORT_KEY,    /* args[0], descending, nulls_first; also the last args of a call with WITHIN GROUP */
    FM_EXPR_AND, FM_EXPR_OR, FM_EXPR_NOT,
    FM_EXPR_CASE,        /* args: when, then, when, then, ..., [else]; if() and CASE x WHEN become it */
    FM_EXPR_IN_LIST,     /* args[0] IN (args[1..]) */
    /* resolved only */
    FM_EXPR_ATTRIBUTE,   /* attr_id, name: a column of a child, by identity */
    FM_EXPR_COLUMN,      /* index: a column of the input batch; made by binding */
    FM_EXPR_FIELD,       /* args[0] is a STRUCT; index of the field */
    FM_EXPR_LAMBDA_VAR,  /* attr_id; while running: a column of the lambda's own input */
    FM_EXPR_CALL,        /* function, args (cast already), bound */
    FM_EXPR_AGGREGATE,   /* aggregate, args, filter, bound; stands only in Aggregate nodes */
    FM_EXPR_GENERATOR    /* name: explode, explode_outer, posexplode, inline, stack, json_tuple; args */
} fm_expr_kind;

/* index of an AGGREGATE: how many of its last args are keys of WITHIN GROUP, and their directions, two bits each. */
enum { FM_EXPR_KEYS_SHIFT = 24, FM_EXPR_KEYS_MAX = 12, FM_EXPR_KEY_DESCENDING = 1, FM_EXPR_KEY_NULLS_FIRST = 2 };

/* Where a node stands in the SQL text: 1-based line and column, byte offsets [from, to). */
typedef struct fm_pos {
    int32_t line, column, from, to;
} fm_pos;

struct fm_expr {
    fm_expr_kind kind;
    fm_pos pos;
    const fm_type *type;  /* NULL until resolved */
    bool nullable;        /* resolved: may it be null */
    bool deterministic;   /* resolved: the same inputs give the same value, children included */
    bool ansi;            /* CAST and CALL: fails where Spark's ANSI mode fails; else null or wrap */
    bool try_cast;        /* CAST: null instead of any failure */
    bool implicit;        /* CAST: put in by the analyzer; the text of the tree does not show it */
    bool distinct, ignore_nulls, descending, nulls_first;
    bool has_over;        /* UNRESOLVED_CALL with OVER (...): refused on streams by name */
    fm_str name;          /* function as written, alias, attribute */
    const struct fm_expr *written; /* LITERAL that was put for another expression: that one, which the name of BETWEEN shows; or NULL */
    fm_str *parts;        /* see kinds */
    int32_t n_parts;
    int32_t n_args;
    fm_expr **args;
    fm_expr *filter;      /* aggregate FILTER (WHERE ...), or NULL */
    fm_value value;       /* LITERAL */
    const fm_type *cast_type;
    int32_t attr_id;      /* unique in a query; 0 none */
    int32_t index;        /* COLUMN, FIELD; AGGREGATE: of WITHIN GROUP, see below */
    const struct fm_function *function;
    const struct fm_aggregate *aggregate;
    const void *bound;    /* what the entry's bind made of the constant arguments; lives with the tree */
    const struct fm_plan *plan;
    int32_t depth;        /* levels of nodes below, as parsed; bounded by FM_EXPR_DEPTH_MAX */
    int32_t nodes;        /* nodes of the tree, as parsed, shared ones each time; bounded by FM_EXPR_NODES_MAX */
    fm_str sql;           /* original text of the node where the parser knows it: names columns */
};

/* Literals. Strings are copied. Each returns NULL when the arena is exhausted. */
fm_expr *fm_expr_new(fm_arena *arena, fm_expr_kind kind, fm_pos pos);
fm_expr *fm_expr_literal_null(fm_arena *arena, const fm_type *type);
fm_expr *fm_expr_literal_bool(fm_arena *arena, bool x);
fm_expr *fm_expr_literal_i32(fm_arena *arena, int32_t x);
fm_expr *fm_expr_literal_i64(fm_arena *arena, const fm_type *type, int64_t x); /* any type stored as integer */
fm_expr *fm_expr_literal_f64(fm_arena *arena, const fm_type *type, double x);  /* F32, F64 */
fm_expr *fm_expr_literal_decimal(fm_arena *arena, const fm_type *type, fm_i128 unscaled);
fm_expr *fm_expr_literal_str(fm_arena *arena, const fm_type *type, fm_str x); /* STRING, BINARY */
fm_expr *fm_expr_call(fm_arena *arena, fm_str name, fm_expr **args, int32_t n, fm_pos pos); /* unresolved */
fm_expr *fm_expr_copy_node(fm_arena *arena, const fm_expr *e); /* shallow: args array copied, nodes shared */

/* True for a resolved tree without columns that always gives the same value. */
bool fm_expr_is_constant(const fm_expr *e);
/* Semantic equality of resolved trees: same value for every row (names and places are not looked at). */
bool fm_expr_same(const fm_expr *a, const fm_expr *b);
/* Calls visit for every node, parents first; stops and returns false when visit does. */
bool fm_expr_walk(const fm_expr *e, bool (*visit)(const fm_expr *e, void *ctx), void *ctx);

/* dateadd, datediff and kin with three arguments, a unit first, are timestampadd and timestampdiff: that name; NULL
 * for other names. */
const char *fm_unit_form(fm_str name);

/* SQL text in Spark's form, as column names and messages show it: "(v + 1)", "sum(amount)",
 * "CAST(a AS STRING)", "window(ts, 10 seconds)". */
void fm_expr_sql(const fm_expr *e, fm_strbuf *out);
/* The name Spark gives an unnamed column of a select list. */
void fm_expr_auto_name(const fm_expr *e, fm_strbuf *out);

#endif
