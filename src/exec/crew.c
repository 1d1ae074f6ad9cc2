/* exec/crew.c: threads that wait for the next job. */
#include "exec/crew.h"

#include <stdlib.h>

#include "base/arena.h"
#include "os/thread.h"

typedef struct member {
    fm_crew *crew;
    fm_thread *thread;
    int32_t worker;
} member;

struct fm_crew {
    int32_t size;
    bool pin, ends;
    fm_mutex *mutex;
    fm_cond *changed;
    int64_t jobs;           /* begun so far: a member that has run fewer has something to do */
    int32_t running;        /* members that are still at the job */
    fm_crew_job job;
    void *ctx;
    member members[];       /* [size]; 0 is the coordinator */
};

static void work(void *arg)
{
    member *m = arg;
    fm_crew *crew = m->crew;
    int64_t done = 0;

    if (crew->pin) fm_thread_pin(m->worker);
    fm_mutex_lock(crew->mutex);
    for (;;) {
        while (!crew->ends && crew->jobs == done) fm_cond_wait(crew->changed, crew->mutex);
        if (crew->ends) break;
        done = crew->jobs;
        fm_mutex_unlock(crew->mutex);
        crew->job(crew->ctx, m->worker);
        fm_mutex_lock(crew->mutex);
        if (--crew->running == 0) fm_cond_broadcast(crew->changed);
    }
    fm_mutex_unlock(crew->mutex);
}

static fm_status start(fm_crew *crew, fm_error *err)
{
    char name[16] = "fm-worker";

    crew->mutex = fm_mutex_new();
    crew->changed = fm_cond_new();
    if (!crew->mutex || !crew->changed) return fm_no_memory(NULL, err);
    for (int32_t i = 1; i < crew->size; i++) {
        crew->members[i] = (member){.crew = crew, .worker = i};
        FM_TRY(fm_thread_start(work, &crew->members[i], name, &crew->members[i].thread, err));
    }
    return FM_OK;
}

fm_status fm_crew_new(int32_t size, bool pin, fm_crew **out, fm_error *err)
{
    fm_crew *crew = calloc(1, sizeof *crew + (size_t)size * sizeof crew->members[0]);

    *out = NULL;
    if (!crew) return fm_no_memory(NULL, err);
    crew->size = size;
    crew->pin = pin;
    fm_status st = size > 1 ? start(crew, err) : FM_OK;
    if (pin) fm_thread_pin(0); /* after the others began: they inherit the cores that they choose theirs from */
    if (st == FM_OK) *out = crew;
    else fm_crew_free(crew);
    return st;
}

void fm_crew_free(fm_crew *crew)
{
    if (!crew) return;
    if (crew->mutex && crew->changed) {
        fm_mutex_lock(crew->mutex);
        crew->ends = true;
        fm_cond_broadcast(crew->changed);
        fm_mutex_unlock(crew->mutex);
        for (int32_t i = 1; i < crew->size; i++) fm_thread_join(crew->members[i].thread);
    }
    fm_mutex_free(crew->mutex);
    fm_cond_free(crew->changed);
    free(crew);
}

int32_t fm_crew_size(const fm_crew *crew) { return crew->size; }

void fm_crew_run(fm_crew *crew, fm_crew_job job, void *ctx)
{
    if (crew->size > 1) {
        fm_mutex_lock(crew->mutex);
        crew->job = job;
        crew->ctx = ctx;
        crew->running = crew->size - 1;
        crew->jobs++;
        fm_cond_broadcast(crew->changed);
        fm_mutex_unlock(crew->mutex);
    }
    job(ctx, 0);
    if (crew->size == 1) return;
    fm_mutex_lock(crew->mutex);
    while (crew->running) fm_cond_wait(crew->changed, crew->mutex);
    fm_mutex_unlock(crew->mutex);
}
