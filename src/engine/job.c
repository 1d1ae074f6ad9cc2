/* engine/job.c: running a text of statements. */
#include "engine/job.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "engine/session_impl.h"
#include "os/thread.h"
#include "sql/sql.h"

enum { QUERIES_MAX = 256 }; /* streams one job may start: each has a thread */

/* One stream of a job. Its thread owns the query while it runs. */
typedef struct running {
    fm_job *job;
    fm_prepared *prepared;
    fm_thread *thread;
    fm_status status;          /* set by the thread before `over` */
    fm_error err;
    atomic_bool over;
} running;

struct fm_job {
    fm_arena *arena;           /* text and plans */
    fm_session *session;
    fm_job_spec spec;
    running *queries;          /* [QUERIES_MAX], so that threads may keep pointers */
    int32_t n;
    fm_mutex *mutex;           /* one callback at a time; guards `changed` */
    fm_wake *changed;          /* raised whenever a query is over */
};

/* ---- Statements -------------------------------------------------------------------------------------------- */

static void report(void *ctx, fm_progress_ref *ref)
{
    running *q = ctx;
    fm_job *job = q->job;

    if (!job->spec.on_progress) return;
    fm_mutex_lock(job->mutex);
    job->spec.on_progress(job->spec.ctx, q->prepared ? q->prepared->name : FM_STR(""), fm_progress_of(ref));
    fm_mutex_unlock(job->mutex);
}

/* The table that a stream writes can be read by its name afterwards. Sinks that no source reads (console) are no table. */
static fm_status declare_result(fm_job *job, const fm_plan *p, const fm_prepared *prepared, fm_error *err)
{
    fm_session *s = job->session;
    fm_table_def def = *p->table;
    const fm_source_type *type = fm_source_lookup(&s->source_env, def.format);
    fm_plan *analyzed;

    if (!type || !type->can_batch || fm_str_eq_ci(def.format, FM_STR("memory"))) return FM_OK;
    def.name = prepared->name;
    fm_str path = fm_options_get(&p->table->options, "path", FM_STR(""));
    def.options = (fm_options){0};
    if (path.len && !fm_options_set(job->arena, &def.options, FM_STR("path"), path)) return fm_no_memory(job->arena, err);
    FM_TRY(fm_session_analyze(s, p->children[0], job->arena, &analyzed, err));
    fm_field *fields = fm_arena_array(job->arena, fm_field, analyzed->n_output);
    if (!fields) return fm_no_memory(job->arena, err);
    for (int32_t i = 0; i < analyzed->n_output; i++) {
        fields[i] = (fm_field){analyzed->output[i].name, analyzed->output[i].type, true};
    }
    def.schema = fm_type_struct(job->arena, fields, analyzed->n_output);
    if (!def.schema) return fm_no_memory(job->arena, err);
    return fm_session_add_table(s, &def, false, true, err);
}

static fm_status add_stream(fm_job *job, const fm_plan *p, fm_error *err)
{
    bool is_table = p->kind == FM_PLAN_CREATE_STREAMING_TABLE;
    running *q = &job->queries[job->n];
    fm_start start = {.format = FM_STR("console"), .trigger = job->spec.trigger, .on_progress = report, .on_progress_ctx = q};
    int phase;

    if (job->n == QUERIES_MAX) {
        return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_STREAMS", "A job can start %d streams at most.", QUERIES_MAX);
    }
    if (is_table) {
        start.name = p->name_parts[p->n_name_parts - 1];
        start.format = p->table->format.len ? p->table->format : FM_STR("console");
        start.options = &p->table->options;
        start.makes_table = true;
        start.partition_by = p->table->partition_by;
        start.n_partition_by = p->table->n_partition_by;
        start.properties = &p->table->properties;
        start.comment = p->table->comment;
        start.columns = p->table->schema;
    }
    *q = (running){.job = job};
    fm_status st = fm_session_prepare(job->session, is_table ? p->children[0] : p, &start, &q->prepared, &phase, err);
    if (st != FM_OK) return is_table ? fm_context(err, st, "starting the stream '%.*s'", FM_STR_ARG(start.name)) : st;
    job->n++;
    return is_table ? declare_result(job, p, q->prepared, err) : FM_OK;
}

static fm_status begin_statement(fm_job *job, const fm_plan *p, fm_error *err)
{
    bool is_stream;
    fm_result *result;

    FM_TRY(fm_session_stopped(job->session, err));
    FM_TRY(fm_session_is_stream(job->session, p, &is_stream, err));
    if (is_stream) return add_stream(job, p, err);
    FM_TRY(fm_session_execute(job->session, p, &result, err));
    if (job->spec.on_rows) job->spec.on_rows(job->spec.ctx, p->sql, result);
    fm_result_free(result);
    return FM_OK;
}

bool fm_session_variable(void *session, fm_str name, fm_str *value)
{
    const fm_session *s = session;
    bool from_environment = fm_str_starts(name, FM_STR("env:"));
    char variable[256];

    if (from_environment) name = (fm_str){name.ptr + 4, name.len - 4};
    if (name.len >= sizeof variable) return false;
    memcpy(variable, name.ptr, name.len);
    variable[name.len] = 0;
    const char *text = from_environment ? getenv(variable) : NULL;
    const fm_option *o = from_environment ? NULL : fm_options_find(&s->settings, variable);
    if (text) *value = fm_str_c(text);
    if (o) *value = o->value;
    return text || o;
}

/* The caller's variables go before the settings. */
static bool look_up(void *ctx, fm_str name, fm_str *value)
{
    fm_job *job = ctx;
    bool own = !fm_str_starts(name, FM_STR("env:")) && job->spec.variable;

    return (own && job->spec.variable(job->spec.ctx, name, value)) || fm_session_variable(job->session, name, value);
}

/* What knows no place of its own is wrong with the statement. */
static fm_status run_statement(fm_job *job, const fm_plan *p, fm_error *err)
{
    return fm_error_at(err, begin_statement(job, p, err), p->pos.line, p->pos.column);
}

static fm_status run_text(fm_job *job, fm_str text, fm_error *err)
{
    fm_plan **statements;
    int32_t n;

    /* Views keep their plans for as long as the session lives, so the statements live there. */
    fm_arena *arena = job->session->arena;
    FM_TRY(fm_sql_substitute(arena, text, look_up, job, &text, err));
    FM_TRY(fm_sql_parse_script(arena, text, &statements, &n, err));
    for (int32_t i = 0; i < n; i++) FM_TRY(run_statement(job, statements[i], err));
    return FM_OK;
}

/* ---- Streams ----------------------------------------------------------------------------------------------- */

static void run_query(void *arg)
{
    running *q = arg;

    q->status = fm_query_run(q->prepared->query, &q->err);
    if (q->status != FM_OK && q->prepared->name.len) {
        fm_context(&q->err, q->status, "running the stream '%.*s'", FM_STR_ARG(q->prepared->name));
    }
    atomic_store(&q->over, true);
    fm_wake_raise(q->job->changed);
}

static fm_status start_all(fm_job *job, fm_error *err)
{
    for (int32_t i = 0; i < job->n; i++) {
        FM_TRY(fm_thread_start(run_query, &job->queries[i], "fm-query", &job->queries[i].thread, err));
    }
    return FM_OK;
}

fm_status fm_job_open(fm_session *session, fm_str text, const fm_job_spec *spec, fm_job **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_job *job = arena ? fm_arena_one(arena, fm_job) : NULL;

    *out = NULL;
    if (!job) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    job->arena = arena;
    job->session = session;
    if (spec) job->spec = *spec;
    job->queries = fm_arena_array(arena, running, QUERIES_MAX);
    job->mutex = fm_mutex_new();
    fm_status st = job->queries && job->mutex ? FM_OK : fm_no_memory(arena, err);
    if (st == FM_OK) st = fm_wake_new(&job->changed, err);
    if (st == FM_OK) st = run_text(job, text, err);
    if (st == FM_OK) st = start_all(job, err);
    if (st == FM_OK) *out = job;
    else fm_job_free(job);
    return st;
}

/* True when all are over; the first failure, in order of the statements, is handed out. */
static bool look(fm_job *job, fm_status *st, fm_error *err)
{
    bool over = true;

    *st = FM_OK;
    for (int32_t i = 0; i < job->n; i++) {
        running *q = &job->queries[i];
        if (!atomic_load(&q->over)) {
            over = false;
        } else if (q->status != FM_OK && *st == FM_OK) {
            *st = q->status;
            if (err) *err = q->err;
        }
    }
    return over;
}

fm_status fm_job_wait(fm_job *job, int64_t timeout_us, bool *ended, fm_error *err)
{
    fm_clock *clock = fm_clock_real();
    int64_t until_us = timeout_us < 0 ? INT64_MAX : fm_clock_monotonic_us(clock) + timeout_us;
    fm_status st;

    for (;;) {
        fm_wake_clear(job->changed); /* before looking: what changes after is seen by the sleep */
        *ended = look(job, &st, err);
        if (st != FM_OK) fm_job_stop(job, true);
        if (*ended) return st;
        int64_t left_us = until_us - fm_clock_monotonic_us(clock);
        if (left_us <= 0) return FM_OK;
        fm_clock_sleep(clock, left_us < FM_US_PER_HOUR ? left_us : FM_US_PER_HOUR, job->changed);
    }
}

void fm_job_stop(fm_job *job, bool now)
{
    for (int32_t i = 0; i < job->n; i++) fm_query_stop(job->queries[i].prepared->query, now);
}

void fm_job_free(fm_job *job)
{
    if (!job) return;
    for (int32_t i = 0; i < job->n; i++) {
        if (job->queries[i].thread) fm_query_stop(job->queries[i].prepared->query, false);
    }
    for (int32_t i = 0; i < job->n; i++) {
        fm_thread_join(job->queries[i].thread);
        fm_prepared_free(job->queries[i].prepared);
    }
    fm_wake_free(job->changed);
    fm_mutex_free(job->mutex);
    fm_arena_free(job->arena);
}

int32_t fm_job_queries(const fm_job *job) { return job->n; }
const fm_prepared *fm_job_query(const fm_job *job, int32_t i) { return job->queries[i].prepared; }
