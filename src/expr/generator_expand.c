/* expr/generator_expand.c: rows multiplied for GROUPING SETS: each row once for each set, the columns that the set leaves out
 * null. Only the analyzer makes it.
 *
 * Rule   Spark, Expand: behind the columns comes their grouping id, a bit for each that is left out, the first column's the
 *        highest; and the set's number where two sets are the same.
 * Cases  tests/golden/functions/grouping_sets.test */
#include "expr/generator.h"

typedef struct expansion {
    int32_t n, n_sets;
    uint64_t *masks;   /* [n_sets] bit i: column i belongs to the set */
    bool numbered;
} expansion;

static fm_status run_expand(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args, int32_t rows, bool outer,
                            fm_arena *arena, fm_generated *out, fm_error *err);

static const fm_generator generator_expand = {
    .name = "expand", .run = run_expand, .usage = "GROUP BY ... GROUPING SETS", .doc = "Gives each row once for each grouping set.",
    .since = "1.5.0",
};

int64_t fm_grouping_id(int32_t n, uint64_t mask)
{
    uint64_t id = 0;
    for (int32_t i = 0; i < n; i++)
        if (!(mask >> i & 1)) id |= (uint64_t)1 << (n - 1 - i);
    return (int64_t)id;
}

static fm_status expansion_type(fm_arena *arena, fm_expr *const *columns, const expansion *x, const fm_type **out, fm_error *err)
{
    fm_field *fields = fm_arena_array(arena, fm_field, x->n + 2);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < x->n; i++) {
        fields[i] = (fm_field){fm_arena_printf(arena, "_group_%d", (int)i), columns[i]->type, true};
        if (!fields[i].name.ptr) return fm_no_memory(arena, err);
    }
    fields[x->n] = (fm_field){FM_STR("_grouping_id"), fm_type_i64(), false};
    fields[x->n + 1] = (fm_field){FM_STR("_grouping_number"), fm_type_i32(), false};
    *out = fm_type_struct(arena, fields, x->n + 1 + x->numbered);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_generator_expand(fm_arena *arena, fm_expr *const *columns, int32_t n, const uint64_t *masks, int32_t n_sets,
                              bool numbered, fm_pos pos, fm_expr **out, fm_error *err)
{
    fm_expr *e = fm_expr_new(arena, FM_EXPR_GENERATOR, pos);
    fm_generator_bound *bound = fm_arena_one(arena, fm_generator_bound);
    expansion *x = fm_arena_one(arena, expansion);
    if (!e || !bound || !x) return fm_no_memory(arena, err);
    *x = (expansion){n, n_sets, fm_arena_array(arena, uint64_t, n_sets), numbered};
    e->args = fm_arena_array(arena, fm_expr *, n + 1);
    if (!x->masks || !e->args) return fm_no_memory(arena, err);
    memcpy(x->masks, masks, (size_t)n_sets * sizeof *masks);
    for (int32_t i = 0; i < n; i++) e->args[i] = columns[i];
    e->n_args = n;
    e->name = FM_STR("expand");
    e->deterministic = true;
    *bound = (fm_generator_bound){&generator_expand, false, x};
    e->bound = bound;
    FM_TRY(expansion_type(arena, columns, x, &e->type, err));
    *out = e;
    return FM_OK;
}

/* Row r of the output is of set r % n_sets. */
static fm_status run_expand(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args, int32_t rows, bool outer,
                            fm_arena *arena, fm_generated *out, fm_error *err)
{
    const expansion *x = ((const fm_generator_bound *)e->bound)->own;
    int64_t total = (int64_t)rows * x->n_sets;
    int32_t *row_of, *from;
    fm_vec *columns = fm_arena_array(arena, fm_vec, x->n + 2);
    (void)conf, (void)outer;
    if (total > INT32_MAX) return fm_no_memory(NULL, err);
    row_of = fm_arena_array(arena, int32_t, total + 1);
    from = fm_arena_array(arena, int32_t, total + 1);
    if (!columns || !row_of || !from) return fm_no_memory(arena, err);
    for (int32_t r = 0; r < (int32_t)total; r++) row_of[r] = r / x->n_sets;
    for (int32_t c = 0; c < x->n; c++) {
        for (int32_t r = 0; r < (int32_t)total; r++) from[r] = x->masks[r % x->n_sets] >> c & 1 ? row_of[r] : -1;
        FM_TRY(fm_vec_gather(&columns[c], &args[c], from, (int32_t)total, arena, err));
    }
    FM_TRY(fm_vec_init(&columns[x->n], fm_type_i64(), (int32_t)total, arena, err));
    FM_TRY(fm_vec_init(&columns[x->n + 1], fm_type_i32(), (int32_t)total, arena, err));
    for (int32_t r = 0; r < (int32_t)total; r++) {
        fm_vec_i64_out(&columns[x->n])[r] = fm_grouping_id(x->n, x->masks[r % x->n_sets]);
        fm_vec_i32_out(&columns[x->n + 1])[r] = r % x->n_sets;
    }
    *out = (fm_generated){(int32_t)total, row_of, columns};
    return FM_OK;
}
