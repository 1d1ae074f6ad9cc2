/* tests/sim/sim_job.h: a job on a simulated file system, stopped where a test wants it and looked at afterwards. */
#ifndef FM_TESTS_SIM_JOB_H
#define FM_TESTS_SIM_JOB_H

#include "engine/job.h"

/* A file that the job reads. */
typedef struct sim_input {
    const char *path, *text;
} sim_input;

typedef struct sim_job {
    const char *name;
    const char *sql;          /* the streams; run until nothing is left to read */
    const char *look;         /* a SELECT of one STRING column: what must come out, in whatever order */
    bool looks_inside;        /* `look` reads memory tables: it is asked in the session that ran `last` */
    const char *settings[16]; /* key, value, ...; NULL */
    const sim_input *inputs;  /* there from the start; path NULL ends them; or NULL: the files of `folder`, in /in */
    const char *folder;       /* of the real file system */
    const sim_input *last;    /* comes when everything else was read; or NULL */
} sim_job;

/* A new file system with the inputs on it, durable. */
fm_fs *sim_fs_with(const sim_job *job, int64_t fail_at);
void sim_write(fm_fs *fs, const char *path, const char *text);

/* Runs the job until nothing is left to read; the status of what ended it. answer: also asks `look` in the same session
 * and appends the rows, sorted, a line each; or NULL. */
fm_status sim_run(fm_fs *fs, const sim_job *job, fm_strbuf *answer, fm_error *err);
/* Asks `look` in a session of its own. */
fm_status sim_look(fm_fs *fs, const sim_job *job, fm_strbuf *answer, fm_error *err);

#endif
