/* exec/crew.h: the workers of a query: threads that run one job at a time, all together. The coordinator is worker 0. */
#ifndef FM_EXEC_CREW_H
#define FM_EXEC_CREW_H

#include "base/status.h"

typedef struct fm_crew fm_crew;

/* size: 1..FM_WORKERS_MAX. One worker has no thread but the caller's. */
fm_status fm_crew_new(int32_t size, bool pin, fm_crew **out, fm_error *err);
void fm_crew_free(fm_crew *crew); /* accepts NULL; ends the threads */
int32_t fm_crew_size(const fm_crew *crew);

/* Runs job(ctx, worker) on every worker at once; returns when all are done. */
typedef void (*fm_crew_job)(void *ctx, int32_t worker);
void fm_crew_run(fm_crew *crew, fm_crew_job job, void *ctx);

#endif
