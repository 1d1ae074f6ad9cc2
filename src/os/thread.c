/* os/thread.c: POSIX threads behind our names. */
#include "os/thread.h"

#include "base/arena.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_SIZE = 8 << 20 }; /* bytes; what the bounds of recursion in base/limits.h were checked with */

struct fm_thread {
    pthread_t id;
    fm_thread_fn fn;
    void *arg;
    char name[16];
};
struct fm_mutex {
    pthread_mutex_t mutex;
};
struct fm_cond {
    pthread_cond_t cond;
};
struct fm_mailbox {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int cap, n, first;
    bool closed;
    void *slots[];
};

static void *start(void *arg)
{
    fm_thread *t = arg;

    pthread_setname_np(pthread_self(), t->name);
    t->fn(t->arg);
    return NULL;
}

fm_status fm_thread_start(fm_thread_fn fn, void *arg, const char *name, fm_thread **out, fm_error *err)
{
    fm_thread *t = calloc(1, sizeof *t);

    if (!t) return fm_no_memory(NULL, err);
    t->fn = fn;
    t->arg = arg;
    snprintf(t->name, sizeof t->name, "%s", name);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_SIZE);
    int code = pthread_create(&t->id, &attr, start, t);
    pthread_attr_destroy(&attr);
    if (code != 0) {
        free(t);
        return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_NO_THREAD", "Cannot start a thread: %s. Lower floodmark.workers.",
                       strerror(code));
    }
    *out = t;
    return FM_OK;
}

void fm_thread_join(fm_thread *t)
{
    if (!t) return;
    pthread_join(t->id, NULL);
    free(t);
}

int fm_cpu_count(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? n : 1;
}

void fm_thread_pin(int i)
{
    cpu_set_t all, one;
    int seen = 0;

    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || seen++ != i) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

fm_mutex *fm_mutex_new(void)
{
    fm_mutex *m = calloc(1, sizeof *m);

    if (m) pthread_mutex_init(&m->mutex, NULL);
    return m;
}

void fm_mutex_free(fm_mutex *m)
{
    if (!m) return;
    pthread_mutex_destroy(&m->mutex);
    free(m);
}

void fm_mutex_lock(fm_mutex *m) { pthread_mutex_lock(&m->mutex); }
void fm_mutex_unlock(fm_mutex *m) { pthread_mutex_unlock(&m->mutex); }

fm_cond *fm_cond_new(void)
{
    fm_cond *c = calloc(1, sizeof *c);

    if (c) pthread_cond_init(&c->cond, NULL);
    return c;
}

void fm_cond_free(fm_cond *c)
{
    if (!c) return;
    pthread_cond_destroy(&c->cond);
    free(c);
}

void fm_cond_wait(fm_cond *c, fm_mutex *m) { pthread_cond_wait(&c->cond, &m->mutex); }
void fm_cond_broadcast(fm_cond *c) { pthread_cond_broadcast(&c->cond); }

fm_mailbox *fm_mailbox_new(int cap)
{
    fm_mailbox *b = calloc(1, sizeof *b + (size_t)cap * sizeof(void *));

    if (!b) return NULL;
    b->cap = cap;
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, NULL);
    return b;
}

void fm_mailbox_free(fm_mailbox *b)
{
    if (!b) return;
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    free(b);
}

bool fm_mailbox_send(fm_mailbox *b, void *message)
{
    pthread_mutex_lock(&b->mutex);
    while (b->n == b->cap && !b->closed) pthread_cond_wait(&b->changed, &b->mutex);
    bool open = !b->closed;
    if (open) {
        b->slots[(b->first + b->n++) % b->cap] = message;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->mutex);
    return open;
}

bool fm_mailbox_receive(fm_mailbox *b, void **out)
{
    pthread_mutex_lock(&b->mutex);
    while (b->n == 0 && !b->closed) pthread_cond_wait(&b->changed, &b->mutex);
    bool got = b->n > 0;
    if (got) {
        *out = b->slots[b->first];
        b->first = (b->first + 1) % b->cap;
        b->n--;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->mutex);
    return got;
}

void fm_mailbox_close(fm_mailbox *b)
{
    pthread_mutex_lock(&b->mutex);
    b->closed = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}
