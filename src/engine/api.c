/* engine/api.c: floodmark.h, on top of sessions and jobs. */
#include <errno.h>
#include <floodmark.h>
#include <stdio.h>
#include <stdlib.h>

#include "column/arrow_export.h"
#include "engine/checkpoint_text.h"
#include "engine/host.h"
#include "engine/job.h"
#include "engine/session_impl.h"
#include "engine/story.h"
#include "format/format.h"
#include "os/thread.h"
#include "sink/table_text.h"
#include "sql/sql.h"

_Static_assert((int)FM_CANCELLED == (int)FLOODMARK_CANCELLED, "the two enums name the same states");
_Static_assert(sizeof(((floodmark_error *)0)->message) == FM_ERROR_MESSAGE_SIZE, "messages fit");

struct floodmark_session {
    fm_session *session;
    fm_host_formats hosts;
    void (*print)(void *ctx, const char *text, int64_t size);
    void *print_ctx;
    void (*warn)(void *ctx, const char *line);
    void *warn_ctx;
    fm_mutex *print_mutex; /* one piece or line at a time */
};

struct floodmark_job {
    fm_job *job;
    floodmark_job_options options;
    const fm_session *session;
    fm_trigger trigger;
    fm_story *stories; /* [n_stories] by query name */
    fm_str *story_names;
    int n_stories;
};

/* Hands an error out; returns the status. */
static int give(const fm_error *from, fm_status st, floodmark_error *out)
{
    if (st == FM_OK || !out) return (int)st;
    out->status = (int)st;
    out->line = from->line;
    out->column = from->column;
    memcpy(out->condition, from->condition, sizeof out->condition);
    memcpy(out->message, from->message, sizeof out->message);
    return (int)st;
}

/* ---- Sessions ---------------------------------------------------------------------------------------------- */

static void print_text(void *ctx, fm_str text)
{
    floodmark_session *s = ctx;

    fm_mutex_lock(s->print_mutex);
    if (s->print) {
        s->print(s->print_ctx, text.ptr, (int64_t)text.len);
    } else {
        fwrite(text.ptr, 1, text.len, stdout);
        fflush(stdout);
    }
    fm_mutex_unlock(s->print_mutex);
}

static void pass_warning(void *ctx, fm_str line)
{
    floodmark_session *s = ctx;
    fm_strbuf text = {0};

    fm_strbuf_add(&text, line);
    fm_mutex_lock(s->print_mutex);
    if (s->warn && fm_strbuf_ok(&text)) s->warn(s->warn_ctx, text.ptr);
    fm_mutex_unlock(s->print_mutex);
    fm_strbuf_fini(&text);
}

floodmark_session *floodmark_session_new(floodmark_error *err)
{
    floodmark_session *s = calloc(1, sizeof *s);
    fm_error e = FM_ERROR_INIT;
    fm_session_env env = {.print = print_text, .print_ctx = s, .warn = pass_warning, .warn_ctx = s, .find_source = fm_host_find_source, .find_sink = fm_host_find_sink};

    fm_status st = FM_LIMIT;
    if (s && (s->print_mutex = fm_mutex_new())) {
        env.find_ctx = &s->hosts;
        st = fm_session_new(&env, &s->session, &e);
    } else {
        fm_no_memory(NULL, &e);
    }
    if (st == FM_OK) return s;
    give(&e, st, err);
    floodmark_session_free(s);
    return NULL;
}

void floodmark_session_free(floodmark_session *s)
{
    if (!s) return;
    fm_session_free(s->session);
    fm_host_formats_fini(&s->hosts);
    fm_mutex_free(s->print_mutex);
    free(s);
}

int floodmark_session_set(floodmark_session *s, const char *key, const char *value, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;

    return give(&e, fm_session_configure(s->session, fm_str_c(key), fm_str_c(value), &e), err);
}

void floodmark_session_stop(floodmark_session *s) { fm_session_stop(s->session); }

void floodmark_session_on_print(floodmark_session *s, void (*print)(void *ctx, const char *text, int64_t size), void *ctx)
{
    s->print = print;
    s->print_ctx = ctx;
}

void floodmark_session_on_warning(floodmark_session *s, void (*warn)(void *ctx, const char *line), void *ctx)
{
    s->warn = warn;
    s->warn_ctx = ctx;
}

int floodmark_register_source(floodmark_session *s, const char *name, const floodmark_source *source, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;

    return give(&e, fm_host_add_source(&s->hosts, name, source, &e), err);
}

int floodmark_register_sink(floodmark_session *s, const char *name, const floodmark_sink *sink, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;

    return give(&e, fm_host_add_sink(&s->hosts, name, sink, &e), err);
}

/* ---- Statements -------------------------------------------------------------------------------------------- */

static fm_status run_parsed(floodmark_session *s, const fm_plan *statement, fm_result **out, fm_error *err)
{
    bool is_stream;

    FM_TRY(fm_session_is_stream(s->session, statement, &is_stream, err));
    if (is_stream) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_STARTS_A_STREAM",
                       "This statement starts a stream, which has no end to hand out: run it as a job (floodmark_job_open, or "
                       "'floodmark run').");
    }
    return fm_session_execute(s->session, statement, out, err);
}

static fm_status run_statement(floodmark_session *s, const char *sql, fm_result **out, fm_error *err)
{
    fm_plan *statement;

    FM_TRY(fm_sql_parse(fm_session_arena(s->session), fm_str_c(sql), &statement, err));
    return run_parsed(s, statement, out, err);
}

/* An ArrowArrayStream over a result. */
typedef struct result_stream {
    fm_result *result;
    int32_t at;
    fm_error err;
} result_stream;

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    result_stream *r = stream->private_data;

    return fm_arrow_export_schema(r->result->schema, out, &r->err) == FM_OK ? 0 : ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    result_stream *r = stream->private_data;

    memset(out, 0, sizeof *out); /* release NULL: the end */
    if (r->at == r->result->n_batches) return 0;
    return fm_arrow_export_batch(r->result->batches[r->at++], out, &r->err) == FM_OK ? 0 : ENOMEM;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const result_stream *r = stream->private_data;

    return r->err.message[0] ? r->err.message : NULL;
}

static void stream_release(struct ArrowArrayStream *stream)
{
    result_stream *r = stream->private_data;

    fm_result_free(r->result);
    free(r);
    stream->release = NULL;
}

int floodmark_sql(floodmark_session *s, const char *sql, struct ArrowArrayStream *out, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    fm_result *result = NULL;
    result_stream *r = calloc(1, sizeof *r);
    fm_status st = r ? run_statement(s, sql, &result, &e) : fm_no_memory(NULL, &e);

    if (st != FM_OK) {
        free(r);
        *out = (struct ArrowArrayStream){0};
        return give(&e, st, err);
    }
    r->result = result;
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, r};
    return 0;
}

static fm_status formatted(const fm_session *s, const fm_result *r, fm_str format, fm_strbuf *out, fm_error *err)
{
    static const fm_options no_options;
    fm_options header = {.items = &(fm_option){.key = FM_STR("header"), .value = FM_STR("true")}, .n = 1};
    const fm_session_conf *conf = fm_session_conf_of(s);
    const fm_format *f = fm_format_find(format);
    fm_writer *writer;

    if (fm_str_eq_ci(format, FM_STR("table"))) {
        if (r->is_text && r->rows == 1) fm_strbuf_add(out, fm_vec_str(&r->batches[0]->columns[0], 0));
        else if (r->schema->n_fields) fm_table_text(r->schema, r->batches, r->n_batches, INT64_MAX, 0, conf->zone, out);
        return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
    }
    if (!f || !f->writer_new) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_FORMAT", "Rows can be printed as table, csv or json, not as '%.*s'.", FM_STR_ARG(format));
    }
    const fm_options *options = fm_str_eq_ci(format, FM_STR("csv")) ? &header : &no_options;
    FM_TRY(f->writer_new(r->arena, r->schema, options, conf->zone, &writer, err));
    if (f->write_header) FM_TRY(f->write_header(writer, out, err));
    for (int32_t i = 0; i < r->n_batches; i++) FM_TRY(f->write_batch(writer, r->batches[i], out, err));
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}

/* The text of a buffer, now the caller's; an empty one, too. */
static char *take_text(fm_strbuf *text)
{
    fm_strbuf_add_c(text, "");
    return text->ptr;
}

/* The statements of a text, its variables replaced; they live as long as the session, since views keep their plans. */
static fm_status parse_text(floodmark_session *s, const char *text, fm_plan ***out, int32_t *n, fm_error *err)
{
    fm_arena *arena = fm_session_arena(s->session);
    fm_str replaced;

    FM_TRY(fm_sql_substitute(arena, fm_str_c(text), fm_session_variable, s->session, &replaced, err));
    return fm_sql_parse_script(arena, replaced, out, n, err);
}

char *floodmark_sql_text(floodmark_session *s, const char *sql, const char *format, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    fm_plan **statements;
    int32_t n = 0;
    fm_strbuf text = {0};

    fm_status st = parse_text(s, sql, &statements, &n, &e);
    for (int32_t i = 0; st == FM_OK && i < n; i++) {
        fm_result *result = NULL;
        st = run_parsed(s, statements[i], &result, &e);
        if (st == FM_OK) st = formatted(s->session, result, fm_str_c(format), &text, &e);
        fm_result_free(result);
    }
    if (st == FM_OK) return take_text(&text);
    fm_strbuf_fini(&text);
    give(&e, st, err);
    return NULL;
}

/* Declarations are run, so that queries below them resolve; every query is explained. */
static fm_status explain_statement(floodmark_session *s, fm_plan *statement, fm_strbuf *out, fm_error *err)
{
    bool is_query = statement->kind < FM_PLAN_CREATE_TABLE || statement->kind == FM_PLAN_CREATE_STREAMING_TABLE;
    fm_result *result;

    if (is_query) {
        fm_arena *arena = fm_session_arena(s->session);
        fm_plan *explain = fm_plan_new(arena, FM_PLAN_EXPLAIN, statement->pos);
        fm_plan **children = fm_arena_array(arena, fm_plan *, 1);
        if (!explain || !children) return fm_no_memory(arena, err);
        children[0] = statement;
        explain->children = children;
        explain->n_children = 1;
        explain->explain_mode = FM_EXPLAIN_EXTENDED;
        statement = explain;
    }
    FM_TRY(fm_session_execute(s->session, statement, &result, err));
    if (statement->kind == FM_PLAN_EXPLAIN && result->rows) {
        fm_strbuf_add(out, fm_vec_str(&result->batches[0]->columns[0], 0));
        fm_strbuf_add_char(out, '\n');
    }
    fm_result_free(result);
    return FM_OK;
}

char *floodmark_explain_text(floodmark_session *s, const char *text, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    fm_plan **statements;
    int32_t n = 0;
    fm_strbuf out = {0};

    fm_status st = parse_text(s, text, &statements, &n, &e);
    for (int32_t i = 0; st == FM_OK && i < n; i++)
        st = fm_error_at(&e, explain_statement(s, statements[i], &out, &e), statements[i]->pos.line, statements[i]->pos.column);
    if (st == FM_OK) return take_text(&out);
    fm_strbuf_fini(&out);
    give(&e, st, err);
    return NULL;
}

/* ---- Jobs -------------------------------------------------------------------------------------------------- */

static void on_rows(void *ctx, fm_str statement, const fm_result *result)
{
    floodmark_job *j = ctx;
    fm_strbuf sql = {0}, text = {0};

    if (!j->options.on_rows || result->schema->n_fields == 0) return;
    fm_strbuf_add(&sql, statement);
    if (formatted(j->session, result, FM_STR("table"), &text, NULL) == FM_OK && fm_strbuf_ok(&sql)) {
        j->options.on_rows(j->options.ctx, sql.ptr ? sql.ptr : "", text.ptr ? text.ptr : "");
    }
    fm_strbuf_fini(&sql);
    fm_strbuf_fini(&text);
}

/* What was told of a query so far; NULL: no memory. */
static fm_story *story_of(floodmark_job *j, const char *run_id)
{
    fm_str id = fm_str_c(run_id);

    for (int i = 0; i < j->n_stories; i++) {
        if (fm_str_eq(j->story_names[i], id)) return &j->stories[i];
    }
    fm_story *stories = realloc(j->stories, (size_t)(j->n_stories + 1) * sizeof *stories);
    if (stories) j->stories = stories;
    fm_str *names = stories ? realloc(j->story_names, (size_t)(j->n_stories + 1) * sizeof *names) : NULL;
    if (names) j->story_names = names;
    char *copy = names ? strdup(run_id) : NULL;
    if (!copy) return NULL;
    names[j->n_stories] = fm_str_c(copy);
    stories[j->n_stories] = (fm_story){0};
    return &stories[j->n_stories++];
}

static void on_progress(void *ctx, fm_str name, const fm_progress *progress)
{
    floodmark_job *j = ctx;
    fm_strbuf json = {0}, query = {0};

    fm_strbuf_add(&query, name);
    if (j->options.on_progress) {
        fm_progress_json(progress, false, &json);
        if (fm_strbuf_ok(&json) && fm_strbuf_ok(&query)) j->options.on_progress(j->options.ctx, query.ptr ? query.ptr : "", json.ptr);
    }
    fm_story *story = j->options.on_story ? story_of(j, progress->run_id) : NULL;
    if (story) {
        fm_strbuf_clear(&json);
        fm_story_tell(story, progress, fm_session_conf_of(j->session)->zone, &json);
        if (fm_strbuf_ok(&json) && json.len && fm_strbuf_ok(&query)) j->options.on_story(j->options.ctx, query.ptr ? query.ptr : "", json.ptr);
    }
    fm_strbuf_fini(&json);
    fm_strbuf_fini(&query);
}

static bool variable(void *ctx, fm_str name, fm_str *value)
{
    floodmark_job *j = ctx;
    fm_strbuf text = {0};

    if (!j->options.variable) return false;
    fm_strbuf_add(&text, name);
    const char *found = fm_strbuf_ok(&text) ? j->options.variable(j->options.ctx, text.ptr) : NULL;
    fm_strbuf_fini(&text);
    if (found) *value = fm_str_c(found);
    return found != NULL;
}

floodmark_job *floodmark_job_open(floodmark_session *s, const char *text, const floodmark_job_options *options, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    floodmark_job *j = calloc(1, sizeof *j);
    fm_job_spec spec = {.ctx = j, .on_rows = on_rows, .on_progress = on_progress, .variable = variable};

    fm_status st = j ? FM_OK : fm_no_memory(NULL, &e);
    if (st == FM_OK) {
        if (options) j->options = *options;
        j->session = s->session;
        if (j->options.trigger) {
            st = fm_trigger_parse(fm_str_c(j->options.trigger), &j->trigger, &e);
            spec.trigger = &j->trigger;
        }
    }
    if (st == FM_OK) st = fm_job_open(s->session, fm_str_c(text), &spec, &j->job, &e);
    if (st == FM_OK) return j;
    free(j);
    give(&e, st, err);
    return NULL;
}

int floodmark_job_wait(floodmark_job *j, int64_t timeout_ms, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    bool ended;
    int64_t timeout_us = timeout_ms < 0 ? -1 : timeout_ms > INT64_MAX / 1000 ? INT64_MAX : timeout_ms * 1000;

    fm_status st = fm_job_wait(j->job, timeout_us, &ended, &e);
    if (st == FM_OK) return ended;
    give(&e, st, err);
    return -1;
}

void floodmark_job_stop(floodmark_job *j, int now) { fm_job_stop(j->job, now != 0); }

void floodmark_job_free(floodmark_job *j)
{
    if (!j) return;
    fm_job_free(j->job);
    for (int i = 0; i < j->n_stories; i++) free((char *)(uintptr_t)j->story_names[i].ptr);
    free(j->stories);
    free(j->story_names);
    free(j);
}

int floodmark_job_queries(const floodmark_job *j) { return fm_job_queries(j->job); }

static bool has_query(const floodmark_job *j, int query) { return query >= 0 && query < fm_job_queries(j->job); }

const char *floodmark_query_name(const floodmark_job *j, int query) { return has_query(j, query) ? fm_job_query(j->job, query)->name.ptr : NULL; }
const char *floodmark_query_id(const floodmark_job *j, int query) { return has_query(j, query) ? fm_query_id(fm_job_query(j->job, query)->query) : NULL; }

char *floodmark_query_progress(const floodmark_job *j, int query, int pretty)
{
    fm_progress_ref *ref = has_query(j, query) ? fm_query_last_progress(fm_job_query(j->job, query)->query) : NULL;
    fm_strbuf json = {0};

    if (!ref) return NULL;
    fm_progress_json(fm_progress_of(ref), pretty != 0, &json);
    fm_progress_unref(ref);
    if (fm_strbuf_ok(&json)) return json.ptr;
    fm_strbuf_fini(&json);
    return NULL;
}

char *floodmark_checkpoint_text(const char *folder, floodmark_error *err)
{
    fm_error e = FM_ERROR_INIT;
    fm_strbuf text = {0};

    fm_status st = fm_checkpoint_text(fm_fs_real(), folder, &text, &e);
    if (st == FM_OK) return take_text(&text);
    fm_strbuf_fini(&text);
    give(&e, st, err);
    return NULL;
}

void floodmark_free(void *text) { free(text); }
