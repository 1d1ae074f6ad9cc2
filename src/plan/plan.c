/* plan/plan.c: making and walking plan nodes, and the output modes. */
#include "plan/plan.h"

#include "base/limits.h"

fm_plan *fm_plan_new(fm_arena *arena, fm_plan_kind kind, fm_pos pos)
{
    fm_plan *p = fm_arena_one(arena, fm_plan);

    if (!p) return NULL;
    p->kind = kind;
    p->pos = pos;
    p->limit = -1;
    return p;
}

static const char *const mode_names[] = {"append", "update", "complete"};

fm_status fm_output_mode_parse(fm_str text, fm_output_mode *out, fm_error *err)
{
    for (int i = 0; i < 3; i++) {
        if (fm_str_eq_ci(text, fm_str_c(mode_names[i]))) {
            *out = (fm_output_mode)i;
            return FM_OK;
        }
    }
    return fm_fail(err, FM_INVALID, "STREAMING_OUTPUT_MODE.INVALID",
                   "Invalid streaming output mode: %.*s. Write append (rows that are final), update "
                   "(rows that changed) or complete (the whole result each time).",
                   FM_STR_ARG(text));
}

const char *fm_output_mode_name(fm_output_mode mode)
{
    fm_assert((unsigned)mode < 3);
    return mode_names[mode];
}

static bool walk(const fm_plan *plan, bool (*visit)(const fm_plan *plan, void *ctx), void *ctx,
                 int depth)
{
    /* The analyzer refuses deeper queries, and puts a few nodes around each of theirs. */
    fm_assert(depth < 8 * FM_PLAN_DEPTH_MAX);
    if (!visit(plan, ctx)) return false;
    for (int32_t i = 0; i < plan->n_children; i++) {
        if (!walk(plan->children[i], visit, ctx, depth + 1)) return false;
    }
    return true;
}

bool fm_plan_walk(const fm_plan *plan, bool (*visit)(const fm_plan *plan, void *ctx), void *ctx)
{
    return walk(plan, visit, ctx, 0);
}
