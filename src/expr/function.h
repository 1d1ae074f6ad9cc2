/* expr/function.h: the contract of scalar functions, and their table.
 *
 * One file fn_<name>.c exports const entries; expr/functions.c lists them, sorted by name. Operators are
 * functions too, by the names of Spark's FunctionRegistry: "+", "-", "*", "/", "%", "div", "=", "<=>", "<",
 * "<=", ">", ">=", "!=" , "negative", "positive", "&", "|", "^", "~", "||" (concat), "like", "ilike",
 * "rlike", "isnull", "isnotnull", "istrue"..., "between" is parsed into AND. */
#ifndef FM_EXPR_FUNCTION_H
#define FM_EXPR_FUNCTION_H

#include "expr/expr.h"
#include "expr/zone.h"

/* What stands fixed for a query: settings that change results. */
typedef struct fm_session_conf {
    bool ansi;             /* spark.sql.ansi.enabled */
    bool case_sensitive;   /* spark.sql.caseSensitive, default false */
    bool map_last_wins;    /* spark.sql.mapKeyDedupPolicy is LAST_WIN, not EXCEPTION */
    const fm_zone *zone;   /* spark.sql.session.timeZone */
    fm_str user;           /* current_user() */
    uint64_t entropy[2];   /* what rand() and uuid() without a seed draw from; the session's */
} fm_session_conf;

/* What stands fixed for a micro-batch. */
typedef struct fm_run_context {
    int64_t now_us;        /* batch time: current_timestamp(), now(), current_date() */
    int64_t watermark_us;  /* current_watermark(); INT64_MIN: no watermark in the query */
    int64_t batch_id;
} fm_run_context;

/* Argument types as a function asks for them; ANY takes what comes. Implicit casts follow. */
typedef enum fm_arg_class {
    FM_ARG_ANY, FM_ARG_BOOL, FM_ARG_I32, FM_ARG_I32_ONLY /* no cast but of NULL */, FM_ARG_I64, FM_ARG_INTEGRAL, FM_ARG_NUMERIC, FM_ARG_F64,
    FM_ARG_STRING, FM_ARG_BINARY, FM_ARG_STRING_OR_BINARY, FM_ARG_DATE, FM_ARG_TIMESTAMP,
    FM_ARG_ANY_TIMESTAMP, FM_ARG_LIST, FM_ARG_MAP, FM_ARG_STRUCT, FM_ARG_LAMBDA,
    FM_ARG_SAME,      /* all arguments of this class are cast to their common type */
    FM_ARG_END = 0xFF
} fm_arg_class;

/* What bind is told, and what it decides. Everything made lives in arena, as long as the query. */
typedef struct fm_bind {
    fm_arena *arena;
    const fm_session_conf *conf;
    fm_str name;               /* as written */
    fm_pos pos;
    int32_t n_args;
    fm_expr *const *args;      /* resolved, implicit casts of the entry's classes applied */
    bool ignore_nulls;         /* aggregates: IGNORE NULLS was written */
    bool distinct;             /* aggregates: DISTINCT was written */
    int32_t n_keys;            /* aggregates: WITHIN GROUP (ORDER BY ...): the last n_keys of args */
    fm_expr *const *keys;      /* [n_keys] FM_EXPR_SORT_KEY: directions */
    /* decided by bind: */
    const fm_type *returns;    /* required */
    bool nullable;             /* preset: by the entry's null rule */
    const void *bound;         /* passed to the kernel as call->bound */
    const fm_type **cast_args; /* [n_args] NULL, or types to cast arguments to before the call; preset NULL */
} fm_bind;

typedef struct fm_call {
    const struct fm_function *function;
    const fm_session_conf *conf;
    const fm_run_context *run;
    const void *bound;
    const fm_expr *expr;       /* the call node: literals, types, lambda bodies, position for messages */
    bool ansi;
    int32_t rows;
    fm_arena *arena;           /* for the result: the batch's */
    fm_error *err;
    struct fm_eval *eval;      /* for higher-order functions: fm_eval_lambda */
    void **state;              /* what the function keeps from batch to batch: of this call in this evaluator; NULL at first */
    fm_arena *keep;            /* where *state may live: as long as the evaluator */
    int32_t partition;         /* number of the worker */
} fm_call;

typedef enum fm_null_rule {
    FM_NULLS_STRICT, /* null in, null out: the evaluator sets validity; the kernel runs over null lanes,
                        which hold zeros, and must not fail on them (fm_call_lane_null tells) */
    FM_NULLS_CUSTOM  /* the kernel sets out->validity itself */
} fm_null_rule;

/* Evaluates one vector. `out` comes with type and len set; for fixed width and view types its value buffer is
 * allocated and zeroed; nested types are set whole by the kernel (fm_builder). Under STRICT out->validity
 * is preset and may be replaced by a narrower one (fm_vec_and_validity). Failures are given with
 * fm_fail on call->err, naming the value. Only lanes that are valid may fail. */
typedef fm_status (*fm_kernel)(fm_call *call, const fm_vec *args, fm_vec *out);

enum { FM_LAMBDA_PARAMS_MAX = 4 };

/* Whether a lane is null by the validity that a STRICT call was given. */
static inline bool fm_call_lane_null(const fm_vec *out, int64_t i)
{
    return !fm_bit_valid(out->validity, i);
}

typedef struct fm_function {
    const char *name;            /* lower case */
    const char *aliases[4];
    uint8_t args[8];             /* fm_arg_class of each argument, then FM_ARG_END; */
    int8_t args_min;             /* with args_max: count accepted; args_max -1: any number, the last */
    int8_t args_max;             /* class repeats */
    const fm_type *(*returns)(void); /* fixed result type, or NULL: bind decides */
    fm_status (*bind)(fm_bind *b, fm_error *err); /* or NULL when returns is set */
    /* Higher-order functions: what the lambda argument i takes, once the arguments before it are resolved. On
     * entry *n is how many parameters the lambda names; sets types[], nullable[] (FM_LAMBDA_PARAMS_MAX) and *n, the
     * number it names (index_optional: or one less, or none). Bind then sees the lambda resolved: args[i]->type is its body's;
     * cast_args[i] casts the body. */
    fm_status (*lambda_params)(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable,
                               int32_t *n, fm_error *err);
    bool index_optional;
    fm_kernel kernel;
    fm_null_rule nulls;
    bool exact;                /* arguments are not cast to the classes, but for NULL (Spark: ExpectsInputTypes) */
    bool can_fail;               /* under ANSI or always: evaluated only on lanes that need it */
    bool nondeterministic;       /* rand(), uuid(): never folded, never moved */
    bool per_batch;              /* current_timestamp(): constant in a micro-batch, not foldable before */
    const char *usage;           /* "substring(str, pos[, len])" */
    const char *doc;             /* one sentence */
    const char *since;           /* Spark version */
    const char *shown[8];        /* by position: text of an argument that was left out, where Spark's column
                                    names show its default: substring(s, 2, 2147483647) */
} fm_function;

/* By name or alias, any case; NULL when unknown. */
const fm_function *fm_function_find(fm_str name);
/* The whole table, sorted by name. */
const fm_function *const *fm_functions(int *n);
/* from_json, to_json, get_json_object, schema_of_json: they stand in src/format, beside the JSON reader they need,
 * which this layer cannot include. A link-time table instead of a registration, so that there is no order of
 * initialisation; fm_function_find looks there too. Sorted by name; NULL ends it. */
extern const fm_function *const fm_json_function_table[];

/* Resolves a call: counts arguments, inserts implicit casts, binds. `args` are resolved expressions; lambda
 * arguments come unresolved and are resolved by the callback given in `lambdas` once the other arguments'
 * types are known. *out is a FM_EXPR_CALL.
 * Errors: UNRESOLVED_ROUTINE, WRONG_NUM_ARGS.WITHOUT_SUGGESTION, DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE, ... */
typedef struct fm_lambda_resolver {
    fm_status (*resolve)(void *ctx, const fm_expr *lambda, const fm_type *const *param_types,
                         const bool *param_nullable, int n_params, fm_expr **out, fm_error *err);
    void *ctx;
} fm_lambda_resolver;
fm_status fm_call_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                          fm_expr **args, int32_t n_args, fm_pos pos,
                          const fm_lambda_resolver *lambdas, fm_expr **out, fm_error *err);

#endif
