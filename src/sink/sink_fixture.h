/* sink/sink_fixture.h: what the tests of sinks share: an environment, rows from text, and one batch written whole. */
#ifndef FM_SINK_SINK_FIXTURE_H
#define FM_SINK_SINK_FIXTURE_H

#include "sink/sink.h"

typedef struct sink_fixture {
    fm_arena *arena;
    fm_error err;
    fm_session_conf conf;
    fm_options session, options;
    fm_strbuf printed;
    fm_sink_env env;
    fm_sink_spec spec;
} sink_fixture;

/* spec: the columns of `ddl`, append mode. fs NULL: the real one. */
void sink_fixture_init(sink_fixture *f, const char *ddl, fm_fs *fs);
void sink_fixture_fini(sink_fixture *f);
void sink_fixture_option(sink_fixture *f, const char *key, const char *value);

/* rows of the fixture's schema, cells [rows * columns] as CAST reads them, NULL for null. In the fixture's arena. */
const fm_batch *sink_fixture_batch(sink_fixture *f, const char *const *cells, int32_t rows);

/* One micro-batch: writer i writes parts[i]. Stops at the first failure, as the engine does: abort. */
fm_status sink_fixture_write(sink_fixture *f, fm_sink *sink, int64_t batch_id, const fm_batch *const *parts,
                             int32_t writers, int64_t *rows);

#endif
