/* tests/plan/fixture.h: a catalog of tables and views made of text, and queries run through the plan layer. */
#ifndef FM_TESTS_PLAN_FIXTURE_H
#define FM_TESTS_PLAN_FIXTURE_H

#include "plan/analyze.h"

typedef struct fixture fixture;

/* confs as Spark's defaults: ANSI on, UTC. Knows no table yet. */
fixture *fixture_new(void);
void fixture_free(fixture *f);
fm_arena *fixture_arena(fixture *f);
fm_session_conf *fixture_conf(fixture *f);

/* columns: DDL; is_stream: a stream even without the word STREAM. */
void fixture_table(fixture *f, const char *name, const char *columns, bool is_stream);
/* A view: a query, or a plan. */
fm_status fixture_view(fixture *f, const char *name, const char *sql, fm_error *err);
void fixture_view_plan(fixture *f, const char *name, fm_plan *plan);
fm_plan *fixture_relation(fixture *f, const char *name);
/* withWatermark(column, delay), dropDuplicates[WithinWatermark](columns) over a plan. */
fm_plan *fixture_watermark(fixture *f, fm_plan *child, const char *column, const char *delay);
fm_plan *fixture_deduplicate(fixture *f, fm_plan *child, const char *const *columns, int n, bool within);
fm_plan *fixture_hint(fixture *f, fm_plan *child, const char *name, const char *const *texts, int n);
/* A stream `name` (ts TIMESTAMP, k STRING, v BIGINT) with a watermark on ts, as most cases have; delay NULL: none. */
void fixture_events(fixture *f, const char *name, const char *delay);

fm_status fixture_parse(fixture *f, const char *sql, fm_plan **out, fm_error *err);
fm_status fixture_analyze(fixture *f, const char *sql, fm_plan **out, fm_error *err);
fm_status fixture_optimize(fixture *f, const char *sql, fm_plan **out, fm_error *err);

/* "k STRING, n BIGINT NOT NULL" of the visible columns; lives in the fixture's arena. */
const char *fixture_schema(fixture *f, const fm_plan *plan);
/* fm_plan_text without identities (#12) and window ids; lives in the fixture's arena. */
const char *fixture_text(fixture *f, const fm_plan *plan);

/* What must hold of every resolved plan: outputs are there, expressions are typed and use only columns of the
 * children, ids are unique. NULL, or what is wrong. */
const char *fixture_verify(fixture *f, const fm_plan *plan, bool optimized);

#endif
