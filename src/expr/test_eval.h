/* expr/test_eval.h: for unit tests: expressions written as text in prefix form, resolved and evaluated.
 *
 *     (+ 1 2L)   (cast 'x' "INT")   (case (> 1 0) 'a' 'b')   (in 1 2 3)   (and true null)   (array 1 2)
 *
 * Numbers: 1 INT, 1Y TINYINT, 1S SMALLINT, 1L BIGINT, 1.5 DECIMAL, 1.5D DOUBLE, 1.5F FLOAT. Text in single
 * quotes. In double quotes a type, the second argument of cast and try_cast. */
#ifndef FM_EXPR_TEST_EVAL_H
#define FM_EXPR_TEST_EVAL_H

#include "expr/expr.h"
#include "expr/function.h"

typedef struct fm_test_case {
    const char *expr;
    const char *expected; /* value as CAST gives it, "NULL", or "!CONDITION" */
} fm_test_case;

typedef struct fm_test_setting {
    bool ansi;
    const char *zone; /* NULL: UTC */
    bool columns;     /* literals become columns with a null lane between two of the value */
} fm_test_setting;

/* Evaluates and compares every case; prints those that fail and returns how many. */
int fm_test_cases(const fm_test_case *cases, int n, fm_test_setting setting);
#define FM_TEST_CASES(cases, ...)                                                             \
    fm_test_cases(cases, (int)(sizeof(cases) / sizeof(cases)[0]), (fm_test_setting){__VA_ARGS__})

/* Reads an expression; NULL after a failure (see err). */
fm_expr *fm_test_read(fm_arena *arena, const fm_session_conf *conf, const char *text, fm_error *err);

#endif
