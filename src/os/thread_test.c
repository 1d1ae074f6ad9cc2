/* os/thread_test.c: threads, mailboxes, clocks, wakes, random bytes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/clock.h"
#include "os/random.h"
#include "os/thread.h"

enum { SENDERS = 3, MESSAGES = 2000 };

typedef struct traffic {
    fm_mailbox *box;
    int64_t received_sum, received;
} traffic;

typedef struct sender {
    fm_mailbox *box;
    intptr_t first;
} sender;

static void send_some(void *arg)
{
    sender *s = arg;

    for (intptr_t i = 0; i < MESSAGES; i++) assert_true(fm_mailbox_send(s->box, (void *)(s->first + i)));
}

static void receive_all(void *arg)
{
    traffic *t = arg;
    void *message;

    while (fm_mailbox_receive(t->box, &message)) {
        t->received++;
        t->received_sum += (intptr_t)message;
    }
}

static void mailbox_hands_over_everything_once(void **state)
{
    fm_mailbox *box = fm_mailbox_new(4);
    traffic receivers[2] = {{.box = box}, {.box = box}};
    sender senders[SENDERS];
    fm_thread *threads[SENDERS + 2];
    int64_t n = (int64_t)SENDERS * MESSAGES;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(fm_thread_start(receive_all, &receivers[i], "receiver", &threads[SENDERS + i], NULL), FM_OK);
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (sender){box, 1 + (intptr_t)i * MESSAGES};
        assert_int_equal(fm_thread_start(send_some, &senders[i], "sender", &threads[i], NULL), FM_OK);
    }
    for (int i = 0; i < SENDERS; i++) fm_thread_join(threads[i]);
    fm_mailbox_close(box);
    for (int i = 0; i < 2; i++) fm_thread_join(threads[SENDERS + i]);
    assert_int_equal(receivers[0].received + receivers[1].received, n);
    assert_int_equal(receivers[0].received_sum + receivers[1].received_sum, n * (n + 1) / 2);
    assert_false(fm_mailbox_send(box, NULL));
    fm_mailbox_free(box);
    fm_mailbox_free(NULL);
    fm_thread_join(NULL);
}

static void closed_mailbox_gives_what_it_holds(void **state)
{
    fm_mailbox *box = fm_mailbox_new(3);
    int a, b;
    void *out;

    (void)state;
    assert_true(fm_mailbox_send(box, &a));
    assert_true(fm_mailbox_send(box, &b));
    fm_mailbox_close(box);
    assert_true(fm_mailbox_receive(box, &out) && out == &a);
    assert_true(fm_mailbox_receive(box, &out) && out == &b);
    assert_false(fm_mailbox_receive(box, &out));
    fm_mailbox_free(box);
}

static void simulated_clock(void **state)
{
    fm_clock *clock = fm_clock_sim_new(1000);

    (void)state;
    assert_int_equal(fm_clock_now_us(clock), 1000);
    fm_clock_sim_advance(clock, 5);
    assert_false(fm_clock_sleep(clock, 10, NULL));
    assert_false(fm_clock_sleep(clock, -10, NULL));
    assert_int_equal(fm_clock_now_us(clock), 1015);
    assert_int_equal(fm_clock_monotonic_us(clock), 1015);
    fm_clock_free(clock);
    fm_clock_free(fm_clock_real());
    fm_clock_free(NULL);
}

static fm_wake *raised_by_signal;
static void on_signal(int number) { (void)number, fm_wake_raise(raised_by_signal); }

static fm_wake *new_wake(void)
{
    fm_wake *wake;

    assert_int_equal(fm_wake_new(&wake, NULL), FM_OK);
    return wake;
}

static void wakes(void **state)
{
    fm_clock *clock = fm_clock_real();
    fm_wake *wake = new_wake();

    (void)state;
    int64_t begin = fm_clock_monotonic_us(clock);
    assert_false(fm_clock_sleep(clock, 2000, wake));
    assert_true(fm_clock_monotonic_us(clock) - begin >= 2000);
    raised_by_signal = wake;
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    for (int i = 0; i < 2; i++) { /* it stays raised */
        assert_true(fm_wake_is_raised(wake));
        assert_true(fm_clock_sleep(clock, INT64_C(3600000000), wake));
    }
    fm_wake_clear(wake);
    assert_false(fm_wake_is_raised(wake));
    assert_false(fm_clock_sleep(clock, 1000, wake));
    fm_wake_free(wake);
    fm_wake_free(NULL);
}

static void raise_soon(void *arg)
{
    fm_clock_sleep(fm_clock_real(), 3000, NULL);
    fm_wake_raise(arg);
}

static void wake_from_another_thread(void **state)
{
    fm_wake *wake = new_wake();
    fm_thread *thread;

    (void)state;
    assert_int_equal(fm_thread_start(raise_soon, wake, "a name longer than fifteen", &thread, NULL), FM_OK);
    assert_true(fm_clock_sleep(fm_clock_real(), INT64_C(3600000000), wake));
    fm_thread_join(thread);
    fm_wake_free(wake);
}

typedef struct race {
    fm_wake *wake;
    int raises;
} race;

static void raise_often(void *arg)
{
    race *r = arg;

    for (int i = 0; i < r->raises; i++) fm_wake_raise(r->wake);
}

/* However raises and clears interleave: after the last raise, with no clear behind it, a sleep ends. */
static void raise_is_never_lost(void **state)
{
    race r = {new_wake(), 2000};
    fm_thread *thread;

    (void)state;
    assert_int_equal(fm_thread_start(raise_often, &r, "raiser", &thread, NULL), FM_OK);
    for (int i = 0; i < 2000; i++) fm_wake_clear(r.wake);
    fm_thread_join(thread);
    fm_wake_clear(r.wake);
    assert_false(fm_clock_sleep(fm_clock_real(), 100, r.wake));
    fm_wake_raise(r.wake);
    assert_true(fm_clock_sleep(fm_clock_real(), INT64_C(3600000000), r.wake));
    fm_wake_free(r.wake);
}

static void uuids(void **state)
{
    char a[FM_UUID_TEXT_SIZE], b[FM_UUID_TEXT_SIZE];

    (void)state;
    fm_uuid(a);
    fm_uuid(b);
    assert_int_equal(strlen(a), 36);
    assert_string_not_equal(a, b);
    assert_int_equal(a[14], '4');
    assert_non_null(strchr("89ab", a[19]));
    assert_int_equal(strspn(a, "0123456789abcdef-"), 36);
}

static void cores(void **state)
{
    (void)state;
    assert_true(fm_cpu_count() >= 1);
    fm_thread_pin(0);
    assert_int_equal(fm_cpu_count(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mailbox_hands_over_everything_once),
        cmocka_unit_test(closed_mailbox_gives_what_it_holds),
        cmocka_unit_test(simulated_clock),
        cmocka_unit_test(wakes),
        cmocka_unit_test(wake_from_another_thread),
        cmocka_unit_test(raise_is_never_lost),
        cmocka_unit_test(uuids),
        cmocka_unit_test(cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
