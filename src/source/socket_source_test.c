/* source/socket_source_test.c: lines from a server on this machine. */
#include "source/source.h"

#include "expr/cast.h"
#include "os/thread.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    int listener, peer; /* -1: none */
    char port[8];
    fm_arena *arena;
    fm_clock *clock;
    fm_session_conf conf;
    fm_options session;
    fm_source_env env;
    fm_table_def table;
    fm_source *source;
    fm_error err;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    f->peer = -1;
    f->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(f->listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(f->listener, 4), 0);
    assert_int_equal(getsockname(f->listener, (struct sockaddr *)&at, &size), 0);
    snprintf(f->port, sizeof f->port, "%d", ntohs(at.sin_port));
    f->arena = fm_arena_new(0);
    f->clock = fm_clock_sim_new(INT64_C(1767225600123456));
    f->conf.zone = fm_zone_utc();
    f->table.format = FM_STR("socket");
    f->env = (fm_source_env){
        .fs = fm_fs_real(), .clock = f->clock, .conf = &f->conf, .session = &f->session};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    if (f->source) f->source->type->close(f->source);
    if (f->peer >= 0) close(f->peer);
    close(f->listener);
    fm_clock_free(f->clock);
    fm_arena_free(f->arena);
    free(f);
    return 0;
}

static void set(fixture *f, const char *key, const char *value)
{
    assert_true(fm_options_set(f->arena, &f->table.options, fm_str_c(key), fm_str_c(value)));
}

static void open_source(fixture *f, const char *start)
{
    static const int32_t wanted[] = {0, 1};
    const fm_source_type *type = fm_source_find(f->table.format);
    const fm_type *schema;

    set(f, "host", "localhost");
    set(f, "port", f->port);
    if (type->schema(&f->env, &f->table, true, f->arena, &schema, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    fm_source_spec spec = {.table = &f->table,
                           .schema = schema,
                           .wanted = wanted,
                           .n_wanted = schema->n_fields,
                           .want_position = true,
                           .metadata_dir = "/unused"};
    assert_int_equal(type->open(&f->env, &spec, f->arena, &f->source, &f->err), FM_OK);
    assert_int_equal(type->restore(f->source, fm_str_c(start), &f->err), FM_OK);
}

static fm_str latest(fixture *f, fm_str start)
{
    fm_str end, last;

    if (f->source->type->latest_offset(f->source, start, FM_READ_LIMITED, f->arena, &end, &last, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    return end;
}

/* Looks until the source is there; the lines come by another thread. */
static fm_str latest_is(fixture *f, fm_str start, const char *wanted)
{
    fm_str end = latest(f, start);

    for (int i = 0; i < 5000 && !fm_str_eq(end, fm_str_c(wanted)); i++) {
        fm_clock_sleep(fm_clock_real(), 1000, NULL);
        end = latest(f, start);
    }
    assert_string_equal(end.ptr, wanted);
    return end;
}

static fm_status collect(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_strbuf *text = ctx;

    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            if (i) fm_strbuf_add_char(text, '|');
            fm_value_text(&batch->columns[i], row, fm_zone_utc(), text);
        }
        fm_strbuf_add_char(text, ' ');
    }
    return FM_OK;
}

static void expect_rows(fixture *f, fm_str start, fm_str end, const char *wanted)
{
    const fm_source_type *type = f->source->type;
    fm_split_reader *reader;
    fm_split *splits;
    fm_strbuf text = {0};
    int32_t n;
    const char *port;

    if (type->plan_splits(f->source, start, end, 1, f->arena, &splits, &n, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    assert_int_equal(type->reader_open(f->source, f->arena, &reader, &f->err), FM_OK);
    fm_strbuf_add_c(&text, "");
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(type->reader_read(reader, &splits[i], collect, &text, NULL, &f->err), FM_OK);
    while ((port = strstr(text.ptr, f->port)) != NULL) memset((char *)(uintptr_t)port, 'P', strlen(f->port));
    for (size_t i = 0, k = 0; i <= text.len; i++) /* one P, however many digits */
        if (text.ptr[i] != 'P' || (i && text.ptr[i - 1] != 'P')) text.ptr[k++] = text.ptr[i];
    assert_string_equal(text.ptr, wanted);
    fm_strbuf_fini(&text);
    type->reader_close(reader);
}

static void accept_peer(fixture *f) { assert_true((f->peer = accept(f->listener, NULL, NULL)) >= 0); }
static void send_text(fixture *f, const char *text, size_t len) { assert_int_equal(send(f->peer, text, len, MSG_NOSIGNAL), len); }

static void test_lines(void **state)
{
    fixture *f = *state;
    static const char first[] = "a\r\nb\r\rd\xFFz\nope", second[] = "n\r";

    open_source(f, "");
    fm_str zero = latest(f, FM_STR(""));
    assert_string_equal(zero.ptr, "-1"); /* batch 0 is empty, and connects */
    expect_rows(f, FM_STR(""), zero, "");
    accept_peer(f);
    send_text(f, first, sizeof first - 1);
    fm_str three = latest_is(f, zero, "3");
    expect_rows(f, zero, three, "a|localhost:P@0 b|localhost:P@1 |localhost:P@2 d\xEF\xBF\xBDz|localhost:P@3 ");
    expect_rows(f, zero, three, "a|localhost:P@0 b|localhost:P@1 |localhost:P@2 d\xEF\xBF\xBDz|localhost:P@3 ");
    send_text(f, second, sizeof second - 1);
    fm_str four = latest_is(f, three, "4");
    assert_int_equal(f->source->type->commit(f->source, three, &f->err), FM_OK);
    expect_rows(f, three, four, "open|localhost:P@4 ");
    send_text(f, "\nlast", 5);
    close(f->peer); /* ends the last line, and the stream */
    f->peer = -1;
    fm_str five = latest_is(f, four, "5");
    expect_rows(f, four, five, "last|localhost:P@5 ");
    assert_int_equal(f->source->type->commit(f->source, five, &f->err), FM_OK);
    assert_string_equal(latest(f, five).ptr, "5");
}

/* Numbers go on; the batch that was begun before the restart has lost its lines. */
static void test_restart(void **state)
{
    fixture *f = *state;

    set(f, "includeTimestamp", "TRUE");
    open_source(f, "5");
    expect_rows(f, FM_STR("5"), FM_STR("9"), "");
    accept_peer(f);
    send_text(f, "x\n", 2);
    fm_str ten = latest_is(f, FM_STR("9"), "10");
    expect_rows(f, FM_STR("9"), ten, "x|2026-01-01 00:00:00.123|localhost:P@10 ");
}

/* A checkpoint without a begun batch: the first look connects. AvailableNow takes what is there, nothing. */
static void test_connects(void **state)
{
    fixture *f = *state;

    open_source(f, "7");
    assert_int_equal(f->source->type->fix_target(f->source, &f->err), FM_OK);
    assert_string_equal(latest(f, FM_STR("7")).ptr, "7");
    accept_peer(f);
    send_text(f, "x\n", 2);
    fm_clock_sleep(fm_clock_real(), 20000, NULL);
    assert_string_equal(latest(f, FM_STR("7")).ptr, "7");
}

static void test_errors(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *key, *value, *condition;
    } cases[] = {
        {"hosts", "h", "FLOODMARK_UNKNOWN_OPTION"},
        {"includeTimestamp", "yes", "_LEGACY_ERROR_TEMP_1297"},
        {"port", "70000", "FLOODMARK_INVALID_OPTION"},
        {NULL, NULL, "_LEGACY_ERROR_TEMP_1296"},
    };
    const fm_source_type *type = fm_source_find(f->table.format);
    const fm_type *schema;

    assert_int_equal(type->schema(&f->env, &f->table, true, f->arena, &schema, &f->err), FM_INVALID);
    assert_string_equal(f->err.condition, "_LEGACY_ERROR_TEMP_1295");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->table.options = (fm_options){0};
        set(f, "host", "localhost");
        if (i < 3) set(f, "port", f->port);
        if (cases[i].key) set(f, cases[i].key, cases[i].value);
        assert_int_equal(type->schema(&f->env, &f->table, true, f->arena, &schema, &f->err), FM_INVALID);
        if (strcmp(f->err.condition, cases[i].condition) != 0) fail_msg("%s: %s", f->err.condition, f->err.message);
    }
    f->table.options = (fm_options){0};
    open_source(f, "");
    close(f->listener); /* nobody listens */
    f->listener = -1;
    fm_split *splits;
    int32_t n;
    assert_int_equal(type->plan_splits(f->source, FM_STR(""), FM_STR("-1"), 1, f->arena, &splits, &n, &f->err),
                     FM_UNAVAILABLE);
    assert_non_null(strstr(f->err.message, f->port));
    assert_int_equal(type->restore(f->source, FM_STR("{\"a\":1}"), &f->err), FM_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(test_connects, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
