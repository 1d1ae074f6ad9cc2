/* os/clock.h: what time it is, and waiting; real or simulated. */
#ifndef FM_OS_CLOCK_H
#define FM_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct fm_clock fm_clock;

fm_clock *fm_clock_real(void); /* shared, never freed */
/* Starts at now_us and stands still but for sleeping and fm_clock_sim_advance. */
fm_clock *fm_clock_sim_new(int64_t now_us);
void fm_clock_sim_advance(fm_clock *clock, int64_t by_us);
void fm_clock_free(fm_clock *clock); /* a simulated one; accepts NULL and the real one */

int64_t fm_clock_now_us(fm_clock *clock);       /* wall clock, µs since 1970 UTC */
int64_t fm_clock_monotonic_us(fm_clock *clock); /* for durations */

/* A flag another thread raises to end waits early: fm_wake_new; sleeping on it; fm_wake_raise.
 * Raising from a signal handler is allowed. */
typedef struct fm_wake fm_wake;
fm_status fm_wake_new(fm_wake **out, fm_error *err); /* FM_UNAVAILABLE: the process has too many files open */
void fm_wake_free(fm_wake *wake);
void fm_wake_raise(fm_wake *wake);          /* stays raised until cleared */
void fm_wake_clear(fm_wake *wake);
bool fm_wake_is_raised(const fm_wake *wake);

/* Sleeps up to us; returns true when woken early. wake may be NULL. */
bool fm_clock_sleep(fm_clock *clock, int64_t us, fm_wake *wake);

#endif
