/* engine/optimize_table.c: OPTIMIZE: small files of a partition become larger ones, and rows that are gone by deletion vectors go.
 *
 * The packing itself is table/delta/delta_compact.h; here are WHERE, the sizes that are aimed at, and what is told.
 *
 * Rule  Delta, OptimizeTableCommand: spark.databricks.delta.optimize.maxFileSize and minFileSize, 1 GB */
#include <inttypes.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "engine/compile_sql.h"
#include "engine/maintain.h"
#include "expr/eval.h"
#include "format/json.h"
#include "table/delta/delta_compact.h"
#include "table/delta/delta_value.h"

typedef struct optimizing {
    fm_maintenance *m;
    fm_delta_compaction spec;
    fm_eval *where;              /* over the partition columns, or NULL */
    const fm_type *columns;      /* STRUCT of them */
    fm_delta_packed packed;
} optimizing;

/* ---- Which files --------------------------------------------------------------------------------------------------------- */

/* WHERE over partition columns only. */
static fm_status compile_where(optimizing *o, fm_error *err)
{
    fm_maintenance *m = o->m;
    const fm_delta_schema *schema = m->c.snapshot->schema;
    fm_arena *arena = m->c.arena;
    fm_field *fields = fm_arena_array(arena, fm_field, schema->n_partitions);
    fm_expr *e;

    if (!m->p->n_exprs) return FM_OK;
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < schema->n_partitions; i++) fields[i] = schema->type->fields[schema->partitions[i]];
    o->columns = fm_type_struct(arena, fields, schema->n_partitions);
    if (!o->columns) return fm_no_memory(arena, err);
    fm_status st = fm_compile_sql(&m->s->conf, fm_options_get(&m->p->options, "where", FM_STR("")), o->columns, arena, &e, err);
    if (st == FM_INVALID && err && strncmp(err->condition, "UNRESOLVED_COLUMN", 17) == 0) {
        return fm_fail_at(err, FM_INVALID, "DELTA_NON_PARTITION_COLUMN_REFERENCE", m->p->pos.line, m->p->pos.column,
                          "The predicate references a column that is no partition column. Only the partition columns may be referenced in OPTIMIZE ... WHERE.");
    }
    if (st != FM_OK) return st;
    if (e->type->id != FM_TYPE_BOOL) return fm_fail(err, FM_INVALID, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "The condition of OPTIMIZE ... WHERE is no BOOLEAN.");
    return fm_eval_new(arena, &m->s->conf, e, &o->where, err);
}

static fm_status is_wanted(void *ctx, const fm_delta_file *f, bool *wanted, fm_error *err)
{
    optimizing *o = ctx;
    const fm_delta_schema *schema = o->m->c.snapshot->schema;
    fm_arena *arena = o->m->c.batch;
    fm_run_context run = {.now_us = o->m->c.started_us, .watermark_us = INT64_MIN};
    fm_vec holds;

    *wanted = true;
    if (!o->where) return FM_OK;
    fm_arena_reset(arena);
    fm_vec *columns = fm_arena_array(arena, fm_vec, schema->n_partitions + 1);
    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < schema->n_partitions; i++) {
        int32_t c = schema->partitions[i];
        const fm_str *text = fm_delta_map_find(&f->partition_values, schema->fields[c].physical);
        FM_TRY(fm_delta_partition_value(text ? *text : (fm_str){0}, schema->type->fields[c].type, o->m->s->conf.zone, arena, &columns[i], err));
    }
    fm_batch batch = {.schema = o->columns, .rows = 1, .columns = columns};
    FM_TRY(fm_eval_run(o->where, &run, &batch, arena, &holds, err));
    *wanted = !fm_vec_is_null(&holds, 0) && fm_vec_bool(&holds)[0];
    return FM_OK;
}

/* ---- What is told -------------------------------------------------------------------------------------------------------------- */

typedef struct sizes {
    int64_t min, max, total;
    int32_t n;
} sizes;

static sizes sizes_of(const fm_delta_file *files, int32_t n)
{
    sizes s = {.n = n};

    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || files[i].size < s.min) s.min = files[i].size;
        if (files[i].size > s.max) s.max = files[i].size;
        s.total += files[i].size;
    }
    return s;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static fm_status describe(optimizing *o, fm_delta_commit *d, fm_error *err)
{
    fm_arena *arena = o->m->c.arena;
    sizes added = sizes_of(o->packed.adds, o->packed.n_adds), removed = sizes_of(o->packed.removes, o->packed.n_removes);
    int64_t *ordered = fm_arena_array(arena, int64_t, o->packed.n_adds + 1), vectors = 0;
    fm_str where = fm_options_get(&o->m->p->options, "where", FM_STR(""));

    if (!ordered) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < o->packed.n_adds; i++) ordered[i] = o->packed.adds[i].size;
    qsort(ordered, (size_t)o->packed.n_adds, sizeof *ordered, by_size);
    for (int32_t i = 0; i < o->packed.n_removes; i++) vectors += o->packed.removes[i].dv != NULL;
    fm_metric m[] = {{"numRemovedFiles", removed.n}, {"numRemovedBytes", removed.total}, {"p25FileSize", ordered[o->packed.n_adds / 4]}, {"numDeletionVectorsRemoved", vectors},
                     {"minFileSize", added.min}, {"p75FileSize", ordered[o->packed.n_adds * 3 / 4]}, {"p50FileSize", ordered[o->packed.n_adds / 2]}, {"numAddedBytes", added.total},
                     {"numAddedFiles", added.n}, {"maxFileSize", added.max}};
    fm_strbuf text = {0};
    fm_str predicate = fm_names_json(arena, &where, where.len ? 1 : 0);
    fm_strbuf_add_c(&text, "{\"predicate\":");
    fm_strbuf_add_json(&text, predicate);
    fm_strbuf_add_c(&text, ",\"zOrderBy\":\"[]\",\"clusterBy\":\"[]\",\"auto\":false}");
    d->parameters = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    d->metrics = fm_metrics_json(arena, m, sizeof m / sizeof m[0]);
    fm_strbuf_fini(&text);
    return predicate.ptr && d->parameters.ptr && d->metrics.ptr ? FM_OK : fm_no_memory(arena, err);
}

static void add_sizes(fm_strbuf *out, const char *name, sizes s)
{
    fm_strbuf_printf(out, ",\"%s\":{", name);
    if (s.n) fm_strbuf_printf(out, "\"min\":%" PRId64 ",\"max\":%" PRId64 ",", s.min, s.max);
    fm_strbuf_printf(out, "\"avg\":%.17g,\"totalFiles\":%" PRId32 ",\"totalSize\":%" PRId64 "}", s.n ? (double)s.total / s.n : 0.0, s.n, s.total);
}

/* One row: the path, and a struct of metrics, made from JSON. */
static fm_status tell(optimizing *o, fm_error *err)
{
    static const char ddl[] =
        "path STRING, metrics STRUCT<numFilesAdded: BIGINT, numFilesRemoved: BIGINT, filesAdded: STRUCT<min: BIGINT, max: BIGINT, avg: DOUBLE, totalFiles: BIGINT, totalSize: BIGINT>, "
        "filesRemoved: STRUCT<min: BIGINT, max: BIGINT, avg: DOUBLE, totalFiles: BIGINT, totalSize: BIGINT>, partitionsOptimized: BIGINT, zOrderStats: STRUCT<strategyName: STRING, "
        "inputCubeFiles: STRUCT<num: BIGINT, size: BIGINT>, inputOtherFiles: STRUCT<num: BIGINT, size: BIGINT>, inputNumCubes: BIGINT, mergedFiles: STRUCT<num: BIGINT, size: BIGINT>, "
        "numOutputCubes: BIGINT, mergedNumCubes: BIGINT>, clusteringStats: STRUCT<inputZCubeFiles: STRUCT<numFiles: BIGINT, size: BIGINT>, inputOtherFiles: STRUCT<numFiles: BIGINT, "
        "size: BIGINT>, inputNumZCubes: BIGINT, mergedFiles: STRUCT<numFiles: BIGINT, size: BIGINT>, numOutputZCubes: BIGINT>, numBins: BIGINT, numBatches: BIGINT, "
        "totalConsideredFiles: BIGINT, totalFilesSkipped: BIGINT, preserveInsertionOrder: BOOLEAN, numFilesSkippedToReduceWriteAmplification: BIGINT, "
        "numBytesSkippedToReduceWriteAmplification: BIGINT, startTimeMs: BIGINT, endTimeMs: BIGINT, totalClusterParallelism: BIGINT, totalScheduledTasks: BIGINT, "
        "autoCompactParallelismStats: STRUCT<maxClusterActiveParallelism: BIGINT, minClusterActiveParallelism: BIGINT, maxSessionActiveParallelism: BIGINT, "
        "minSessionActiveParallelism: BIGINT>, deletionVectorStats: STRUCT<numDeletionVectorsRemoved: BIGINT, numDeletionVectorRowsRemoved: BIGINT>, numTableColumns: BIGINT, "
        "numTableColumnsWithStats: BIGINT>";
    fm_arena *arena = o->m->r->arena;
    int32_t columns = o->m->c.snapshot->schema->type->n_fields;
    fm_options none = {0};
    fm_json_parser *parser;
    fm_vec *out = fm_arena_array(arena, fm_vec, 2), text;
    fm_strbuf json = {0};
    const fm_type *type;

    FM_TRY(fm_type_parse_ddl(arena, fm_str_c(ddl), &type, err));
    fm_strbuf_printf(&json, "{\"numFilesAdded\":%" PRId32 ",\"numFilesRemoved\":%" PRId32, o->packed.n_adds, o->packed.n_removes);
    add_sizes(&json, "filesAdded", sizes_of(o->packed.adds, o->packed.n_adds));
    add_sizes(&json, "filesRemoved", sizes_of(o->packed.removes, o->packed.n_removes));
    fm_strbuf_printf(&json, ",\"partitionsOptimized\":%" PRId32 ",\"numBins\":%" PRId32 ",\"numBatches\":1,\"totalConsideredFiles\":%" PRId32 ",\"totalFilesSkipped\":%" PRId32
                     ",\"preserveInsertionOrder\":false,\"numFilesSkippedToReduceWriteAmplification\":0,\"numBytesSkippedToReduceWriteAmplification\":0,\"startTimeMs\":%" PRId64
                     ",\"endTimeMs\":%" PRId64 ",\"totalClusterParallelism\":1,\"totalScheduledTasks\":0,\"numTableColumns\":%" PRId32 ",\"numTableColumnsWithStats\":%" PRId32 "}",
                     o->packed.n_partitions, o->packed.n_bins, o->packed.n_considered, o->packed.n_considered - o->packed.n_removes, o->m->c.started_us / FM_US_PER_MS,
                     fm_clock_now_us(o->m->s->env.clock) / FM_US_PER_MS, columns, columns);
    fm_str line = fm_strbuf_ok(&json) ? fm_arena_str(arena, fm_strbuf_str(&json)) : (fm_str){0};
    fm_str path = fm_arena_printf(arena, "file:%s", o->m->c.log.root.ptr);
    fm_strbuf_fini(&json);
    if (!out || !line.ptr || !path.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_vec_init(&out[0], fm_type_string(), 1, arena, err));
    FM_TRY(fm_vec_init(&text, fm_type_string(), 1, arena, err));
    fm_vec_view_out(&out[0])[0] = fm_view_of(path.ptr, path.len);
    fm_vec_view_out(&text)[0] = fm_view_of(line.ptr, line.len);
    FM_TRY(fm_json_parser_new(arena, type->fields[1].type, &none, o->m->s->conf.zone, &parser, err));
    FM_TRY(fm_json_parse_vec(parser, &text, arena, &out[1], err));
    o->m->r->schema = type;
    fm_batch batch = {.schema = type, .rows = 1, .columns = out};
    return fm_result_push(o->m->r, &batch, err);
}

/* ---- The statement --------------------------------------------------------------------------------------------------------------- */

static fm_status run(optimizing *o, fm_error *err)
{
    enum { SIZE_DEFAULT = 1 << 30 };
    fm_maintenance *m = o->m;
    fm_delta_commit d = {.operation = "OPTIMIZE", .no_data_change = true};

    fm_delta_compaction *c = &o->spec;
    *c = (fm_delta_compaction){.take_vectors = true, .wants = is_wanted, .ctx = o, .zone = m->s->conf.zone};
    FM_TRY(fm_options_i64(&m->s->settings, "spark.databricks.delta.optimize.maxFileSize", SIZE_DEFAULT, 1, INT64_MAX / 4, &c->file_size, err));
    FM_TRY(fm_options_i64(&m->s->settings, "spark.databricks.delta.optimize.minFileSize", c->file_size < SIZE_DEFAULT ? c->file_size : SIZE_DEFAULT, 0, INT64_MAX / 4, &c->small_size, err));
    FM_TRY(compile_where(o, err));
    FM_TRY(fm_delta_pack(m->c.snapshot, c, m->c.arena, &o->packed, err));
    if (o->packed.n_removes) {
        d.adds = o->packed.adds;
        d.n_adds = o->packed.n_adds;
        d.removes = o->packed.removes;
        d.n_removes = o->packed.n_removes;
        FM_TRY(describe(o, &d, err));
        FM_TRY(fm_change_commit(&m->c, &d, err));
    }
    return FM_OK;
}

fm_status fm_optimize_table(fm_maintenance *m, fm_error *err)
{
    optimizing o = {.m = m};

    if (m->p->n_column_names) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_ZORDER", m->p->pos.line, m->p->pos.column, "OPTIMIZE ... ZORDER BY is not available: OPTIMIZE packs files as their rows come.");
    }
    fm_status st = run(&o, err);
    /* A commit whose end is not known may be there: its files must stay. */
    fm_delta_packed_free(&o.packed, st == FM_OK || st == FM_UNAVAILABLE);
    return st == FM_OK ? tell(&o, err) : st;
}
