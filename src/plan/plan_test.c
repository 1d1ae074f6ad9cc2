/* plan/plan_test.c: nodes, walks, output modes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/plan.h"

static void modes_parse_in_any_case(void **state)
{
    static const struct {
        const char *text;
        fm_output_mode mode;
    } cases[] = {{"append", FM_MODE_APPEND}, {"Update", FM_MODE_UPDATE}, {"COMPLETE", FM_MODE_COMPLETE}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fm_output_mode mode;
        fm_error err = FM_ERROR_INIT;
        assert_int_equal(fm_output_mode_parse(fm_str_c(cases[i].text), &mode, &err), FM_OK);
        assert_int_equal(mode, cases[i].mode);
        assert_true(fm_str_eq_ci(fm_str_c(fm_output_mode_name(mode)), fm_str_c(cases[i].text)));
    }
    fm_output_mode mode;
    fm_error err = FM_ERROR_INIT;
    assert_int_equal(fm_output_mode_parse(FM_STR("upsert"), &mode, &err), FM_INVALID);
    assert_string_equal(err.condition, "STREAMING_OUTPUT_MODE.INVALID");
}

typedef struct trace {
    fm_plan_kind kinds[8];
    int n, stop_after;
} trace;

static bool note(const fm_plan *plan, void *ctx)
{
    trace *t = ctx;
    t->kinds[t->n++] = plan->kind;
    return t->n != t->stop_after;
}

static void walk_visits_parents_first(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_plan *join = fm_plan_new(arena, FM_PLAN_JOIN, (fm_pos){0});
    fm_plan *kids[2] = {fm_plan_new(arena, FM_PLAN_ONE_ROW, (fm_pos){0}),
                        fm_plan_new(arena, FM_PLAN_VALUES, (fm_pos){0})};
    (void)state;

    join->children = kids;
    join->n_children = 2;
    trace all = {.stop_after = -1}, cut = {.stop_after = 2};
    assert_true(fm_plan_walk(join, note, &all));
    assert_int_equal(all.n, 3);
    assert_int_equal(all.kinds[0], FM_PLAN_JOIN);
    assert_int_equal(all.kinds[1], FM_PLAN_ONE_ROW);
    assert_int_equal(all.kinds[2], FM_PLAN_VALUES);
    assert_false(fm_plan_walk(join, note, &cut));
    assert_int_equal(cut.n, 2);
    assert_int_equal(join->limit, -1);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_parse_in_any_case),
        cmocka_unit_test(walk_visits_parents_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
