/* tests/sim/fault_test.c: the disk is full, or an operation fails while those after it work, at each operation of a job in
 * turn. The job ends with one error that says what and where, what was written can be read, and once the cause is gone it
 * goes on in the same process as if nothing had been: nothing is lost, nothing comes twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim_job.h"
#include "sim_jobs.h"

typedef enum fault { FULL, FAILS_ONCE, FAULTS } fault;
static const char *const fault_names[] = {"a full disk", "a fault that passes"};

static void set_fault(fm_fs *fs, fault kind, int64_t at)
{
    if (kind == FULL) fm_fs_sim_fill(fs, at);
    else fm_fs_sim_fail_once(fs, at);
}

static void must(fm_status st, const fm_error *err, const sim_job *job, const char *what)
{
    if (st != FM_OK) fail_msg("%s: %s: [%s] %s", job->name, what, err->condition, err->message);
}

/* Something that was never there is no loss: before the first batch there is no output folder. */
static void check_readable(fm_fs *fs, const sim_job *job, const char *what)
{
    fm_strbuf answer = {0};
    fm_error err = FM_ERROR_INIT;
    fm_status st = sim_look(fs, job, &answer, &err);

    if (st != FM_OK && !strstr(err.message, "does not exist") && !strstr(err.message, "doesn't exist")) must(st, &err, job, what);
    fm_strbuf_fini(&answer);
}

/* False: the fault came where it does no harm, such as clean-up; the job ran to its end. */
static bool fails(fm_fs *fs, const sim_job *job, fault kind, int64_t at, char what[512])
{
    fm_error err = FM_ERROR_INIT;

    set_fault(fs, kind, at);
    fm_status st = sim_run(fs, job, NULL, &err);
    snprintf(what, 512, "%s at operation %d: %.256s", fault_names[kind], (int)at, fm_fs_sim_failed(fs));
    if (st == FM_OK) return false;
    if (!fm_fs_sim_failed(fs)[0]) fail_msg("%s: %s: failed without the fault: %s", job->name, what, err.message);
    if (st != FM_UNAVAILABLE) fail_msg("%s: %s: the status is %s: %s", job->name, what, fm_status_name(st), err.message);
    const char *cause = kind == FULL ? "No space left" : "Input/output error";
    if (!strstr(err.message, cause) || !strchr(err.message, '/')) fail_msg("%s: %s: the message does not say it: %s", job->name, what, err.message);
    return true;
}

static void fail_everywhere(const sim_job *job, int64_t step)
{
    fm_strbuf expected = {0}, answer = {0};
    fm_error err = FM_ERROR_INIT;
    fm_fs *calm = sim_fs_with(job, -1);
    int64_t harmed = 0;
    char what[512];

    must(sim_run(calm, job, NULL, &err), &err, job, "the undisturbed run");
    int64_t operations = fm_fs_sim_operations(calm);
    must(sim_look(calm, job, &expected, &err), &err, job, "the undisturbed run");
    fm_fs_free(calm);
    if (getenv("FLOODMARK_SANITIZED")) step *= 5;
    for (int64_t i = 0; i < FAULTS * operations; i += step) {
        fm_fs *fs = sim_fs_with(job, -1);
        fault kind = (fault)(i / operations);
        if (fails(fs, job, kind, i % operations, what)) {
            harmed++;
            check_readable(fs, job, what);
            set_fault(fs, kind, -1);
            must(sim_run(fs, job, NULL, &err), &err, job, what);
        }
        set_fault(fs, kind, -1);
        fm_strbuf_clear(&answer);
        must(sim_look(fs, job, &answer, &err), &err, job, what);
        if (!fm_str_eq(fm_strbuf_str(&answer), fm_strbuf_str(&expected))) fail_msg("%s: %s: another result:\n%.*s", job->name, what, FM_STR_ARG(fm_strbuf_str(&answer)));
        fm_fs_free(fs);
    }
    assert_true(harmed * step > operations / 2); /* or the faults were none */
    fm_strbuf_fini(&expected);
    fm_strbuf_fini(&answer);
}

static void demo(void **state) { fail_everywhere(&sim_job_demo, 1); }
static void two_operators(void **state) { fail_everywhere(&sim_job_two_operators, 17); }

static void delta(void **state) { fail_everywhere(&sim_job_delta, 3); }
static void delta_upsert(void **state) { fail_everywhere(&sim_job_delta_upsert, 7); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(demo),
        cmocka_unit_test(two_operators),
        cmocka_unit_test(delta),
        cmocka_unit_test(delta_upsert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
