/* column/condition.h: conditions on columns that can be held against what is known of many rows at once: the least and greatest
 * value of a file, of a row group, of a page, or the value that stands in a folder's name.
 *
 * They prune only. Whoever reads a table may leave out rows that cannot meet a condition; the filter that it came from stays
 * above and decides. So "not known" always means: the row may be there.
 *
 * A condition is of three values, as SQL's are: a row is of interest when it holds; under NOT, when what is below fails. Of
 * null it is neither. */
#ifndef FM_COLUMN_CONDITION_H
#define FM_COLUMN_CONDITION_H

#include "column/vec.h"

typedef enum fm_condition_op {
    FM_COND_EQ, FM_COND_LT, FM_COND_LE, FM_COND_GT, FM_COND_GE,
    FM_COND_SAME,        /* <=> a value */
    FM_COND_IN,          /* equal to one of the lanes of `value` */
    FM_COND_STARTS_WITH, /* STRING; value is not empty */
    FM_COND_ENDS_WITH, FM_COND_CONTAINS, /* prune nothing */
    FM_COND_IS_NULL, FM_COND_NOT_NULL,
    FM_COND_AND, FM_COND_OR, FM_COND_NOT
} fm_condition_op;

enum { FM_CONDITION_PATH_MAX = 8, FM_CONDITION_DEPTH_MAX = 100 };

typedef struct fm_condition fm_condition;
struct fm_condition {
    fm_condition_op op;
    /* A comparison: */
    int32_t path[FM_CONDITION_PATH_MAX]; /* [n_path] index of the column, then of fields of structs */
    int32_t n_path;
    const fm_type *type; /* of the column or field */
    fm_vec value;        /* one lane (IN: any number) of `type`, none null; unused by IS_NULL, NOT_NULL */
    /* AND, OR: two; NOT: one. */
    const fm_condition *left, *right;
};

/* What is known of a column's values in some rows. NaN may be among them without min and max saying so. */
typedef struct fm_bounds {
    const fm_vec *min, *max; /* one lane each, no value lies outside; NULL: not known */
    int64_t rows, nulls;     /* -1: not known */
    bool all_null;
} fm_bounds;
#define FM_BOUNDS_UNKNOWN ((fm_bounds){.rows = -1, .nulls = -1})

/* Whether a row with such values may meet a comparison (negated: may fail it, without being null). */
bool fm_condition_leaf_may(const fm_condition *leaf, bool negated, const fm_bounds *bounds);

/* Gives the bounds of a leaf's column; what it does not know it leaves as it finds it: unknown. */
typedef void (*fm_condition_bounds)(void *ctx, const fm_condition *leaf, fm_bounds *out);
/* Whether a row may meet the condition. */
bool fm_condition_may_hold(const fm_condition *c, fm_condition_bounds bounds_of, void *ctx);

/* The condition over other columns: column i becomes columns[i]; < 0: there is none. *out NULL: it uses such a one. */
fm_status fm_condition_remap(const fm_condition *c, const int32_t *columns, fm_arena *arena, const fm_condition **out, fm_error *err);
/* Whether every column of it is one for which `is` [column] holds. */
bool fm_condition_within(const fm_condition *c, const bool *is);

#endif
