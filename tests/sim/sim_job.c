/* tests/sim/sim_job.c: see sim_job.h. */
#include "sim_job.h"

#include <stdlib.h>

void sim_write(fm_fs *fs, const char *path, const char *text)
{
    fm_error err = FM_ERROR_INIT;

    fm_assert(fm_fs_mkdirs(fs, "/in", &err) == FM_OK);
    fm_assert(fm_fs_write_atomic(fs, path, fm_str_c(text), true, &err) == FM_OK);
}

static int by_name(const void *a, const void *b) { return fm_str_cmp(((const fm_dir_entry *)a)->name, ((const fm_dir_entry *)b)->name); }

/* In the order of their names, so that they have one order of age. */
static void copy_folder(fm_fs *fs, const char *folder)
{
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n;
    fm_str text;
    fm_error err = FM_ERROR_INIT;

    fm_assert(arena && fm_fs_list(fm_fs_real(), folder, arena, &entries, &n, &err) == FM_OK);
    qsort(entries, n, sizeof *entries, by_name);
    for (size_t i = 0; i < n; i++) {
        fm_str from = fm_arena_printf(arena, "%s/%s", folder, entries[i].name.ptr), to = fm_arena_printf(arena, "/in/%s", entries[i].name.ptr);
        fm_assert(fm_fs_read_all(fm_fs_real(), from.ptr, 1 << 20, arena, &text, &err) == FM_OK);
        sim_write(fs, to.ptr, text.ptr);
    }
    fm_arena_free(arena);
}

fm_fs *sim_fs_with(const sim_job *job, int64_t fail_at)
{
    fm_fs *fs = fm_fs_sim_new(-1);

    fm_assert(fs);
    for (const sim_input *in = job->inputs; in && in->path; in++) sim_write(fs, in->path, in->text);
    if (!job->inputs) copy_folder(fs, job->folder);
    fm_fs_sim_restart(fs, fail_at); /* what is durable stays: all of it */
    return fs;
}

static int by_text(const void *a, const void *b) { return fm_str_cmp(*(const fm_str *)a, *(const fm_str *)b); }

/* Appends the rows of a result of one column of strings, sorted. */
static void take_rows(void *ctx, fm_str statement, const fm_result *result)
{
    fm_strbuf *answer = ctx;
    fm_str *rows = calloc((size_t)result->rows + 1, sizeof *rows);
    int64_t n = 0;

    fm_assert(rows && (result->rows == 0 || result->schema->n_fields == 1));
    for (int32_t b = 0; b < result->n_batches; b++) {
        const fm_vec *v = &result->batches[b]->columns[0];
        for (int64_t i = 0; i < result->batches[b]->rows; i++) rows[n++] = fm_vec_str(v, i);
    }
    qsort(rows, (size_t)n, sizeof *rows, by_text);
    for (int64_t i = 0; i < n; i++) {
        fm_strbuf_add(answer, rows[i]);
        fm_strbuf_add_char(answer, '\n');
    }
    free(rows);
}

static fm_status run_text(fm_session *session, const char *sql, fm_strbuf *answer, fm_error *err)
{
    static const fm_trigger available_now = {.kind = FM_TRIGGER_AVAILABLE_NOW};
    fm_job_spec spec = {.trigger = &available_now, .ctx = answer, .on_rows = answer ? take_rows : NULL};
    fm_job *job;
    bool ended;

    FM_TRY(fm_job_open(session, fm_str_c(sql), &spec, &job, err));
    fm_status st = fm_job_wait(job, -1, &ended, err);
    fm_job_free(job);
    return st;
}

static fm_status open_session(fm_fs *fs, const sim_job *job, fm_session **out, fm_error *err)
{
    fm_session_env env = {.fs = fs};
    fm_status st = fm_session_new(&env, out, err);

    if (st == FM_OK) st = fm_session_set(*out, FM_STR("spark.sql.session.timeZone"), FM_STR("UTC"), err);
    if (st == FM_OK) st = fm_session_set(*out, FM_STR("floodmark.workers"), FM_STR("1"), err);
    for (int i = 0; st == FM_OK && job->settings[i]; i += 2) st = fm_session_set(*out, fm_str_c(job->settings[i]), fm_str_c(job->settings[i + 1]), err);
    return st;
}

fm_status sim_run(fm_fs *fs, const sim_job *job, fm_strbuf *answer, fm_error *err)
{
    fm_session *session;
    fm_status st = open_session(fs, job, &session, err);

    if (st == FM_OK) st = run_text(session, job->sql, NULL, err);
    if (st == FM_OK && answer) st = run_text(session, job->look, answer, err);
    fm_session_free(session);
    return st;
}

fm_status sim_look(fm_fs *fs, const sim_job *job, fm_strbuf *answer, fm_error *err)
{
    fm_session *session;
    fm_status st = open_session(fs, job, &session, err);

    if (st == FM_OK) st = run_text(session, job->look, answer, err);
    fm_session_free(session);
    return st;
}
