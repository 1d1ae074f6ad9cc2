/* engine/job.h: a text of statements, and the streams it starts, each on a thread of its own. */
#ifndef FM_ENGINE_JOB_H
#define FM_ENGINE_JOB_H

#include "engine/session.h"

typedef struct fm_job fm_job;

typedef struct fm_job_spec {
    const fm_trigger *trigger; /* overrides what the statements say; or NULL */
    void *ctx;
    /* Rows of a statement that is no stream. */
    void (*on_rows)(void *ctx, fm_str statement, const fm_result *result);
    /* From the queries' threads, one at a time. */
    void (*on_progress)(void *ctx, fm_str name, const fm_progress *progress);
    bool (*variable)(void *ctx, fm_str name, fm_str *value); /* ${name}; NULL: settings only */
} fm_job_spec;

/* What ${name} stands for: ${env:NAME} is of the environment, ${key} a setting. For fm_sql_substitute; ctx: the session. */
bool fm_session_variable(void *session, fm_str name, fm_str *value);

/* Statements run in order; streams are opened as they come and start once the text is done, so that an error anywhere
 * starts nothing. */
fm_status fm_job_open(fm_session *session, fm_str text, const fm_job_spec *spec, fm_job **out, fm_error *err);
/* *ended: all queries are over. The failure of a query stops the others and comes back here. timeout_us < 0: for ever. */
fm_status fm_job_wait(fm_job *job, int64_t timeout_us, bool *ended, fm_error *err);
void fm_job_stop(fm_job *job, bool now); /* signal-safe */
void fm_job_free(fm_job *job);           /* stops and waits; accepts NULL */

int32_t fm_job_queries(const fm_job *job);
const fm_prepared *fm_job_query(const fm_job *job, int32_t i);

#endif
