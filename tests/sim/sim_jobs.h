/* tests/sim/sim_jobs.h: the jobs that are stopped, starved and restarted. */
#ifndef FM_TESTS_SIM_JOBS_H
#define FM_TESTS_SIM_JOBS_H

#include "sim_job.h"

extern const sim_job sim_job_demo;          /* the demo: windows, late rows, a bad line; JSON in, JSON out */
extern const sim_job sim_job_two_operators; /* two aggregates, 24 batches: snapshots, compaction of logs, upkeep of state */
extern const sim_job sim_job_complete;      /* complete mode into a memory table */
extern const sim_job sim_job_update;        /* update mode into a memory table; sliding windows */
extern const sim_job sim_job_delta;         /* appended to a Delta table in partitions, with checkpoints of its log */
extern const sim_job sim_job_delta_upsert;  /* upserted into a Delta table with deletion vectors */

#endif
