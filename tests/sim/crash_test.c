/* tests/sim/crash_test.c: exactly once, proven where it breaks: a job is stopped at each of its writes, syncs, renames,
 * links, unlinks and new folders in turn, and started again until it is through. What comes out must be what an undisturbed
 * run gives, row for row, late rows included.
 *
 * Three ways to stop: a kill (what was written stays), a power cut (what was never synced is gone) and one that tears (chance
 * decides what of it is gone). The run after the stop is stopped as well, at a place that chance chooses, and then the next.
 *
 * FLOODMARK_CRASH_EVERY: 1 stops at every operation of every job; by default the longer jobs are stopped at each n-th,
 * beginning at a place that changes from run to run (FLOODMARK_SEED holds it still). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/hash.h"
#include "os/clock.h"
#include "sim_job.h"
#include "sim_jobs.h"

enum { STOPS_MAX = 3 }; /* before a run is left alone */

typedef enum way { KILL, POWER_CUT, TEAR, WAYS } way;
static const char *const way_names[] = {"kill", "power cut", "power cut that tears"};

static void stop_process(fm_fs *fs, way how, int64_t fail_at)
{
    if (how == KILL) fm_fs_sim_kill(fs, fail_at);
    else fm_fs_sim_restart(fs, fail_at);
}

static void must(fm_status st, const fm_error *err, const sim_job *job, const char *what)
{
    if (st != FM_OK) fail_msg("%s: %s: [%s] %s", job->name, what, err->condition, err->message);
}

/* Everything else was read: the last file comes, the job runs to its end, and what came out is told. */
static void finish(fm_fs *fs, const sim_job *job, fm_strbuf *answer, const char *what)
{
    fm_error err = FM_ERROR_INIT;

    if (job->last) sim_write(fs, job->last->path, job->last->text);
    must(sim_run(fs, job, job->looks_inside ? answer : NULL, &err), &err, job, what);
    if (!job->looks_inside) must(sim_look(fs, job, answer, &err), &err, job, what);
}

/* The answer of a run that nobody disturbs, and how many operations it has. */
static int64_t run_calm(const sim_job *job, fm_strbuf *answer)
{
    fm_error err = FM_ERROR_INIT;
    fm_fs *fs = sim_fs_with(job, -1);

    must(sim_run(fs, job, NULL, &err), &err, job, "the undisturbed run");
    int64_t operations = fm_fs_sim_operations(fs);
    finish(fs, job, answer, "the end of the undisturbed run");
    fm_fs_free(fs);
    return operations;
}

static bool has_line(fm_str text, fm_str line)
{
    for (const char *end; text.len; text.len -= (size_t)(end + 1 - text.ptr), text.ptr = end + 1) {
        end = memchr(text.ptr, '\n', text.len);
        if (fm_str_eq(line, (fm_str){text.ptr, (size_t)(end - text.ptr)})) return true;
    }
    return false;
}

static void print_lines_only_in(fm_str text, fm_str other, char sign)
{
    for (const char *end; text.len; text.len -= (size_t)(end + 1 - text.ptr), text.ptr = end + 1) {
        end = memchr(text.ptr, '\n', text.len);
        fm_str line = {text.ptr, (size_t)(end - text.ptr)};
        if (!has_line(other, line)) print_error("%c %.*s\n", sign, FM_STR_ARG(line));
    }
}

static void compare(const sim_job *job, const char *what, fm_str answer, fm_str expected)
{
    if (fm_str_eq(answer, expected)) return;
    print_lines_only_in(expected, answer, '-');
    print_lines_only_in(answer, expected, '+');
    fail_msg("%s: %s: %d bytes came out instead of %d", job->name, what, (int)answer.len, (int)expected.len);
}

/* Stops the k-th operation, then some later ones. */
static void stop_at(const sim_job *job, way how, int64_t k, int64_t operations, fm_str expected)
{
    fm_fs *fs = sim_fs_with(job, k);
    fm_error err = FM_ERROR_INIT;
    fm_strbuf answer = {0};
    char first[256], what[512];
    uint64_t chance = fm_hash_mix((uint64_t)k, (uint64_t)how + 1);

    if (how == TEAR) fm_fs_sim_tear(fs, 1 + (uint64_t)k);
    assert_int_not_equal(sim_run(fs, job, NULL, &err), FM_OK);
    snprintf(first, sizeof first, "%s", fm_fs_sim_failed(fs));
    snprintf(what, sizeof what, "%s at operation %d: %s", way_names[how], (int)k, first);
    if (!first[0]) fail_msg("%s: %s: it failed before it was stopped: %s", job->name, what, err.message);
    for (int stops = 1; stops < STOPS_MAX; stops++) {
        chance = fm_hash_mix(chance, (uint64_t)stops);
        stop_process(fs, how, (int64_t)(chance % (uint64_t)operations));
        if (sim_run(fs, job, NULL, &err) == FM_OK) break;
        if (!fm_fs_sim_failed(fs)[0]) fail_msg("%s: %s; started again, it does not go on: [%s] %s", job->name, what, err.condition, err.message);
    }
    stop_process(fs, how, -1);
    must(sim_run(fs, job, NULL, &err), &err, job, what);
    finish(fs, job, &answer, what);
    compare(job, what, fm_strbuf_str(&answer), expected);
    fm_strbuf_fini(&answer);
    fm_fs_free(fs);
}

/* Every how many operations a job is stopped, and where that begins. */
static void choose_stops(int64_t operations, int64_t runs, int64_t *first, int64_t *every)
{
    const char *wish = getenv("FLOODMARK_CRASH_EVERY"), *seed = getenv("FLOODMARK_SEED");
    int64_t number = 0;

    if (getenv("FLOODMARK_SANITIZED")) runs /= 4;
    *every = operations / runs + 1;
    if (wish && fm_str_to_i64(fm_str_c(wish), &number) && number > 0) *every = number;
    if (!seed || !fm_str_to_i64(fm_str_c(seed), &number)) number = fm_clock_now_us(fm_clock_real());
    *first = (int64_t)((uint64_t)number % (uint64_t)*every);
    if (*every > 1) print_message("%d operations, stopped at each %d-th from the %d-th on\n", (int)operations, (int)*every, (int)*first);
}

static void stop_everywhere(const sim_job *job, int64_t runs)
{
    fm_strbuf expected = {0};
    int64_t operations = run_calm(job, &expected), first, every;

    assert_true(operations > 50);
    assert_true(expected.len > 100); /* or the job gives too little to prove anything */
    for (int how = 0; how < WAYS; how++) {
        choose_stops(operations, runs, &first, &every);
        for (int64_t k = first; k < operations; k += every) stop_at(job, (way)how, k, operations, fm_strbuf_str(&expected));
    }
    fm_strbuf_fini(&expected);
}

/* The canary: a job that is stopped and not started again does not give what an undisturbed run gives. */
static void finds_a_missing_restart(void **state)
{
    fm_strbuf expected = {0}, answer = {0};
    int64_t operations = run_calm(&sim_job_demo, &expected);
    fm_fs *fs = sim_fs_with(&sim_job_demo, operations / 2);
    fm_error err = FM_ERROR_INIT;

    assert_int_not_equal(sim_run(fs, &sim_job_demo, NULL, &err), FM_OK);
    fm_fs_sim_restart(fs, -1);
    assert_int_equal(sim_look(fs, &sim_job_demo, &answer, &err), FM_OK);
    assert_false(fm_str_eq(fm_strbuf_str(&answer), fm_strbuf_str(&expected)));
    fm_strbuf_fini(&answer);
    fm_strbuf_fini(&expected);
    fm_fs_free(fs);
}

static void demo(void **state) { stop_everywhere(&sim_job_demo, 10000); }
static void two_operators(void **state) { stop_everywhere(&sim_job_two_operators, 40); }
static void complete_mode(void **state) { stop_everywhere(&sim_job_complete, 60); }
static void update_mode(void **state) { stop_everywhere(&sim_job_update, 60); }

static void delta(void **state) { stop_everywhere(&sim_job_delta, 60); }
static void delta_upsert(void **state) { stop_everywhere(&sim_job_delta_upsert, 60); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_missing_restart),
        cmocka_unit_test(demo),
        cmocka_unit_test(two_operators),
        cmocka_unit_test(complete_mode),
        cmocka_unit_test(update_mode),
        cmocka_unit_test(delta),
        cmocka_unit_test(delta_upsert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
