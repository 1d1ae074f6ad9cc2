/* engine/job_fixture.h: what tests of whole jobs share: a folder of their own, input files, runs whose rows are caught. */
#ifndef FM_ENGINE_JOB_FIXTURE_H
#define FM_ENGINE_JOB_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOB_COLUMNS = 7, JOB_BATCHES_MAX = 64 };

/* A row of the result: columns of eight bytes each, as they are in memory. */
typedef struct job_row {
    int64_t batch_id;
    int64_t columns[JOB_COLUMNS];
} job_row;

/* The numbers of the first stateful operator after a micro-batch. */
typedef struct job_state {
    int64_t batch_id, total, updated, removed, dropped;
} job_state;

typedef struct job_fixture {
    char dir[64];           /* in/ and ck/ are below it */
    int files;              /* written so far */
    job_row *rows;          /* of the last run, as they came */
    size_t n_rows, cap_rows;
    job_state states[JOB_BATCHES_MAX];
    int n_states;
    int64_t last_told;      /* batch id of the last progress report: idle ones repeat it */
} job_fixture;

void job_fixture_init(job_fixture *f);  /* where files cost least: in memory, if the machine has such a folder */
void job_fixture_fini(job_fixture *f);  /* removes the folder */
/* A file of the input; files are read in the order they were written. */
void job_fixture_write(job_fixture *f, const char *text, size_t size);
/* Runs the job over everything there is (trigger available-now), goes on from its checkpoint, and catches what the sink
 * `capture` gets; all columns of the result take eight bytes and are never null. job: a text with one %s after the other for
 * the folder. */
void job_fixture_run(job_fixture *f, const char *job, int workers);
/* By batch, then by columns. */
void job_rows_sort(job_row *rows, size_t n);

#endif
