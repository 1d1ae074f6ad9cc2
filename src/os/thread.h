/* os/thread.h: threads, locks, atomics' homes, and the bounded mailbox. */
#ifndef FM_OS_THREAD_H
#define FM_OS_THREAD_H

#include "base/status.h"

typedef struct fm_thread fm_thread;
typedef void (*fm_thread_fn)(void *arg);
/* name: up to 15 characters, shown by tools. */
fm_status fm_thread_start(fm_thread_fn fn, void *arg, const char *name, fm_thread **out,
                          fm_error *err);
void fm_thread_join(fm_thread *thread); /* waits, then frees; accepts NULL */
int fm_cpu_count(void);                 /* cores this process may use; >= 1 */
/* Pins the calling thread to the i-th core it may use; best effort. */
void fm_thread_pin(int i);

typedef struct fm_mutex fm_mutex;
fm_mutex *fm_mutex_new(void);
void fm_mutex_free(fm_mutex *mutex);
void fm_mutex_lock(fm_mutex *mutex);
void fm_mutex_unlock(fm_mutex *mutex);

typedef struct fm_cond fm_cond;
fm_cond *fm_cond_new(void);
void fm_cond_free(fm_cond *cond);
void fm_cond_wait(fm_cond *cond, fm_mutex *mutex);
void fm_cond_broadcast(fm_cond *cond);

/* A bounded queue of pointers, many senders, many receivers. A full one slows its sender. */
typedef struct fm_mailbox fm_mailbox;
fm_mailbox *fm_mailbox_new(int cap);
void fm_mailbox_free(fm_mailbox *box);
bool fm_mailbox_send(fm_mailbox *box, void *message); /* waits; false once closed */
bool fm_mailbox_receive(fm_mailbox *box, void **out); /* waits; false once closed and empty */
void fm_mailbox_close(fm_mailbox *box);

#endif
