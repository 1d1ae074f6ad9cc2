/* os/clock.c: real and simulated time, and waking sleepers. */
#include "os/clock.h"

#include "base/arena.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct fm_clock {
    bool simulated;
    _Atomic int64_t now_us;
};

struct fm_wake {
    int fd; /* an eventfd: sleepers poll it; writing to it is safe in a signal handler */
    atomic_bool raised;
};

fm_clock *fm_clock_real(void)
{
    static fm_clock real;
    return &real;
}

fm_clock *fm_clock_sim_new(int64_t now_us)
{
    fm_clock *c = calloc(1, sizeof *c);

    if (!c) return NULL;
    c->simulated = true;
    atomic_init(&c->now_us, now_us);
    return c;
}

void fm_clock_sim_advance(fm_clock *c, int64_t by_us) { atomic_fetch_add(&c->now_us, by_us); }

void fm_clock_free(fm_clock *c)
{
    if (c && c->simulated) free(c);
}

static int64_t read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t fm_clock_now_us(fm_clock *c)
{
    return c->simulated ? atomic_load(&c->now_us) : read_clock(CLOCK_REALTIME);
}

int64_t fm_clock_monotonic_us(fm_clock *c)
{
    return c->simulated ? atomic_load(&c->now_us) : read_clock(CLOCK_MONOTONIC);
}

fm_status fm_wake_new(fm_wake **out, fm_error *err)
{
    fm_wake *w = calloc(1, sizeof *w);
    char text[128];

    *out = NULL;
    if (!w) return fm_no_memory(NULL, err);
    w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->fd < 0) {
        int code = errno;
        free(w);
        return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_IO", "Cannot make an event for threads to wait for: %s.%s",
                       strerror_r(code, text, sizeof text), code == EMFILE ? " Raise the limit: ulimit -n." : "");
    }
    *out = w;
    return FM_OK;
}

void fm_wake_free(fm_wake *w)
{
    if (!w) return;
    close(w->fd);
    free(w);
}

void fm_wake_raise(fm_wake *w)
{
    int saved = errno;
    uint64_t one = 1;

    atomic_store(&w->raised, true);
    ssize_t n = write(w->fd, &one, sizeof one); /* full only when it is raised already */
    (void)n;
    errno = saved;
}

void fm_wake_clear(fm_wake *w)
{
    uint64_t count;

    /* The flag first: of a raise in between, the flag stays, and the next sleep sees it. */
    atomic_store(&w->raised, false);
    ssize_t n = read(w->fd, &count, sizeof count);
    (void)n;
}

bool fm_wake_is_raised(const fm_wake *w) { return atomic_load(&((fm_wake *)(uintptr_t)w)->raised); }

bool fm_clock_sleep(fm_clock *c, int64_t us, fm_wake *w)
{
    if (w && fm_wake_is_raised(w)) return true;
    if (us < 0) us = 0;
    if (c->simulated) {
        atomic_fetch_add(&c->now_us, us);
        return false;
    }
    struct pollfd p = {.fd = w ? w->fd : -1, .events = POLLIN};
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    int n = ppoll(&p, 1, &t, NULL);
    /* A raise that was overtaken by a clear has left the eventfd set: it counts as raised after the clear. */
    if (w && n > 0) atomic_store(&w->raised, true);
    return w && fm_wake_is_raised(w);
}
