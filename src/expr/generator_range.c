/* expr/generator_range.c: FROM range([start,] end[, step[, slices]]): the numbers from start on, below end, as column id.
 *
 * Rule   Spark, the table function range: BIGINT; constants only; how many slices there are changes nothing here.
 * Cases  tests/golden/functions/generators.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/generator.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"

enum { ROWS_MAX = 1 << 29 };

typedef struct range_bound {
    int64_t start, step, n;
} range_bound;

static fm_status read_number(const fm_bind *b, int32_t i, int64_t *out, fm_error *err)
{
    fm_expr *cast;
    fm_value value;
    if (!fm_bind_is_constant(b, i) || !fm_type_implicit(b->conf, b->args[i]->type, fm_type_i64()) || b->args[i]->type->id == FM_TYPE_NULL)
        return fm_fail_at(err, FM_INVALID, "UNEXPECTED_INPUT_TYPE", b->pos.line, b->pos.column,
                          "Parameter %d of the function `range` requires a constant of the \"BIGINT\" type.", (int)i + 1);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[i], fm_type_i64(), false, false, &cast, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, cast, &value, err));
    *out = fm_vec_i64(&value)[0];
    return FM_OK;
}

static fm_status bind_range(fm_bind *b, fm_error *err)
{
    range_bound *r = fm_arena_one(b->arena, range_bound);
    fm_field id = {FM_STR("id"), fm_type_i64(), false};
    int64_t end;
    if (!r) return fm_no_memory(b->arena, err);
    r->step = 1;
    FM_TRY(read_number(b, b->n_args > 1 ? 1 : 0, &end, err));
    if (b->n_args > 1) FM_TRY(read_number(b, 0, &r->start, err));
    if (b->n_args > 2) FM_TRY(read_number(b, 2, &r->step, err));
    if (r->step == 0)
        return fm_fail_at(err, FM_INVALID, "INVALID_PARAMETER_VALUE.STEP", b->pos.line, b->pos.column, "The step of `range` must not be 0.");
    fm_i128 span = (fm_i128)end - r->start, step = r->step;
    if ((span > 0) == (step > 0) && span != 0) {
        fm_i128 n = (span + step + (step > 0 ? -1 : 1)) / step;
        if (n > ROWS_MAX)
            return fm_fail_at(err, FM_LIMIT, "FLOODMARK_RANGE_TOO_LONG", b->pos.line, b->pos.column, "range() gives at most %d rows here.", ROWS_MAX);
        r->n = (int64_t)n;
    }
    b->bound = r;
    b->returns = fm_type_struct(b->arena, &id, 1);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status run_range(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args, int32_t rows, bool outer,
                           fm_arena *arena, fm_generated *out, fm_error *err)
{
    const range_bound *r = ((const fm_generator_bound *)e->bound)->own;
    int32_t n = rows ? (int32_t)r->n : 0; /* it stands over one row */
    int32_t *row_of = fm_arena_array(arena, int32_t, n + 1);
    fm_vec *id = fm_arena_one(arena, fm_vec);
    (void)conf, (void)args, (void)outer;
    if (!row_of || !id) return fm_no_memory(arena, err);
    FM_TRY(fm_vec_init(id, fm_type_i64(), n, arena, err));
    for (int32_t i = 0; i < n; i++) fm_vec_i64_out(id)[i] = (int64_t)((uint64_t)r->start + (uint64_t)r->step * (uint64_t)i);
    *out = (fm_generated){n, row_of, id};
    return FM_OK;
}

const fm_generator fm_generator_range = {
    .name = FM_GENERATOR_RANGE, .args_min = 1, .args_max = 4, .bind = bind_range, .run = run_range,
    .usage = "FROM range([start,] end[, step])", .since = "2.0.0", .doc = "Gives the numbers from start on, below end.",
};
