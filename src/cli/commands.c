/* cli/commands.c: run, sql, explain, checkpoint. */
#include <errno.h>
#include <floodmark.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_fail(const char *file, const floodmark_error *err)
{
    if (file && err->line) fprintf(stderr, "%s:%d:%d: ", file, err->line, err->column);
    else fprintf(stderr, "floodmark: ");
    fprintf(stderr, "[%s] %s\n", err->condition, err->message);
    return 1;
}

floodmark_session *cli_session(const cli_options *o)
{
    floodmark_error err = {0};
    floodmark_session *session = floodmark_session_new(&err);

    for (int i = 0; session && i < o->n_settings; i++) {
        const char *equals = strchr(o->settings[i], '=');
        char *key = strndup(o->settings[i], (size_t)(equals - o->settings[i]));
        int failed = !key || floodmark_session_set(session, key, equals + 1, &err);
        free(key);
        if (!failed) continue;
        floodmark_session_free(session);
        session = NULL;
    }
    if (!session) cli_fail(NULL, &err);
    return session;
}

enum { TEXT_SIZE_MAX = 64 << 20 }; /* bytes read of a job: more than the engine takes, so that it says what it takes */

char *cli_read_text(const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    size_t len = 0, cap = 1 << 16;
    char *text = in ? malloc(cap) : NULL;

    if (!in) {
        fprintf(stderr, "floodmark: cannot open '%s': %s\n", path, strerror(errno));
        return NULL;
    }
    for (size_t n = 1; text && n > 0 && len <= TEXT_SIZE_MAX;) {
        n = fread(text + len, 1, cap - len - 1, in);
        len += n;
        if (len + 1 == cap) {
            char *more = realloc(text, cap *= 2);
            if (!more) free(text);
            text = more;
        }
    }
    if (!text) {
        fprintf(stderr, "floodmark: cannot read '%s': %s\n", path, strerror(ENOMEM));
    } else if (len > TEXT_SIZE_MAX) { /* a device may never end */
        fprintf(stderr, "floodmark: '%s' is longer than %d MiB: no job is. Name a file of SQL.\n", path, TEXT_SIZE_MAX >> 20);
        free(text);
        text = NULL;
    } else if (ferror(in)) {
        fprintf(stderr, "floodmark: cannot read '%s': %s\n", path, strerror(errno));
        free(text);
        text = NULL;
    } else if (text && memchr(text, 0, len)) { /* what is behind it would be passed over in silence */
        fprintf(stderr, "floodmark: [FLOODMARK_SQL_ZERO_BYTE] '%s' has a zero byte at offset %zu: it is no text. Save it as UTF-8.\n", path,
                (size_t)((const char *)memchr(text, 0, len) - text));
        free(text);
        text = NULL;
    } else if (text) {
        text[len] = 0;
    }
    if (!standard) fclose(in);
    return text;
}

enum { EXIT_INTERRUPTED = 130 };

/* ---- run --------------------------------------------------------------------------------------------------- */

/* The job that signals stop. A second signal gives the batch in flight up; a third ends the process. Before there is a job, its
 * statements are what runs: the first signal ends them. */
static floodmark_job *_Atomic signalled_job;
static floodmark_session *_Atomic signalled_session;
static volatile sig_atomic_t signals;
static atomic_int output_error; /* errno of the first write to standard output that failed */

static void on_signal(int number)
{
    int n = ++signals;

    if (n >= 3) _exit(128 + number);
    floodmark_job *job = signalled_job;
    floodmark_session *session = signalled_session;
    if (job) floodmark_job_stop(job, n > 1);
    else if (session) floodmark_session_stop(session);
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no more (ulimit -f) is an error of the write, which names it */
}

/* Rows that nobody can see are lost, so the job ends when its output cannot be written: a full disk, 'floodmark run ... | head'. */
static void flush_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return;
    int none = 0;
    atomic_compare_exchange_strong(&output_error, &none, errno ? errno : EIO);
    floodmark_job *job = signalled_job;
    if (job) floodmark_job_stop(job, 1);
}

/* Says why the output could not be written; returns the exit code. A reader that has gone wants to hear nothing. */
static int output_failed(void)
{
    if (output_error == EPIPE) return 128 + SIGPIPE;
    fprintf(stderr, "floodmark: cannot write to standard output: %s. The job was stopped.\n", strerror(output_error));
    return 1;
}

static void print_console(void *ctx, const char *text, int64_t size)
{
    cli_progress_clear(ctx);
    fwrite(text, 1, (size_t)size, stdout);
    flush_output();
}

static void print_warning(void *ctx, const char *line)
{
    cli_progress_clear(ctx);
    fprintf(stderr, "floodmark: warning: %s\n", line);
}

static void print_rows(void *ctx, const char *statement, const char *text)
{
    cli_progress_clear(ctx);
    fputs(text, stdout);
    flush_output();
}

static void print_story(void *ctx, const char *query, const char *text)
{
    cli_progress_clear(ctx);
    printf("%s%s%s\n", query, *query ? ", " : "", text);
    flush_output();
}

/* Runs a text as a job until it ends or is stopped; file: where the text comes from, for messages, or NULL. */
static int run_job(const cli_options *o, const char *text, const char *file)
{
    floodmark_session *session = cli_session(o);
    cli_progress *progress = session ? cli_progress_new(o->progress) : NULL;
    floodmark_error err = {0};
    floodmark_job_options options = {.trigger = o->trigger, .on_rows = print_rows, .on_progress = cli_progress_report, .on_story = o->story ? print_story : NULL, .ctx = progress};
    int code = 1;

    if (progress) {
        floodmark_session_on_print(session, print_console, progress);
        floodmark_session_on_warning(session, print_warning, progress);
        signalled_session = session;
        catch_signals();
        floodmark_job *job = floodmark_job_open(session, text, &options, &err);
        if (job) {
            signalled_job = job;
            if (signals || output_error) floodmark_job_stop(job, output_error != 0); /* it came while the job was opened */
            code = floodmark_job_wait(job, -1, &err) < 0;
            signalled_job = NULL;
        }
        signalled_session = NULL;
        cli_progress_clear(progress);
        if (output_error) code = output_failed();
        else if (code) cli_fail(file, &err);
        if (code == 1 && signals && strcmp(err.condition, "FLOODMARK_CANCELLED") == 0) code = EXIT_INTERRUPTED;
        floodmark_job_free(job);
    }
    cli_progress_free(progress);
    floodmark_session_free(session);
    return code;
}

int cli_run(const cli_options *o)
{
    char *text = cli_read_text(o->words[1]);
    int code = text ? run_job(o, text, o->words[1]) : 1;

    free(text);
    return code;
}

/* ---- The others -------------------------------------------------------------------------------------------- */

static int print_sql(const cli_options *o, const char *sql, const char *format)
{
    floodmark_session *session = cli_session(o);
    floodmark_error err = {0};

    if (!session) return 1;
    floodmark_session_on_warning(session, print_warning, NULL);
    char *text = floodmark_sql_text(session, sql, format, &err);
    if (text) fputs(text, stdout);
    int code = text ? 0 : cli_fail(NULL, &err);
    if (fflush(stdout) != 0 && code == 0) {
        fprintf(stderr, "floodmark: cannot write the result: %s\n", strerror(errno));
        code = 1;
    }
    floodmark_free(text);
    floodmark_session_free(session);
    return code;
}

/* SQL on the command line may start streams, too: then it is a job. */
int cli_sql(const cli_options *o)
{
    bool is_table = strcmp(o->format, "table") == 0;

    return is_table ? run_job(o, o->words[1], NULL) : print_sql(o, o->words[1], o->format);
}

/* The plan of a query, or of each query of a job file. */
int cli_explain(const cli_options *o)
{
    floodmark_session *session = cli_session(o);
    floodmark_error err = {0};

    if (!session) return 1;
    bool is_file = strpbrk(o->words[1], " \t\n(") == NULL || access(o->words[1], R_OK) == 0; /* no query is one word */
    char *sql = is_file ? cli_read_text(o->words[1]) : strdup(o->words[1]);
    char *text = sql ? floodmark_explain_text(session, sql, &err) : NULL;
    int code = text == NULL;
    if (text) fputs(text, stdout);
    else if (sql) cli_fail(is_file ? o->words[1] : NULL, &err); /* of a file that could not be read all is said */
    floodmark_free(text);
    free(sql);
    floodmark_session_free(session);
    return code;
}

int cli_checkpoint(const cli_options *o)
{
    floodmark_error err = {0};
    char *text = floodmark_checkpoint_text(o->words[1], &err);

    if (!text) return cli_fail(NULL, &err);
    fputs(text, stdout);
    floodmark_free(text);
    return 0;
}
