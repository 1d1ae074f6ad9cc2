/* conformance/runner.c: runs recorded cases on the engine, in one process.
 *
 *   runner [--workers N] [--restarts] [--verbose] [--known FILE] FOLDER|FILE...
 *
 * Prints a line for each case that failed or was skipped, a table by area, and as last line
 * "N passed, N failed, N skipped". --known: cases that are known to fail, a line "case: reason" each; they count as
 * skipped, with their reason, until they pass. --restarts puts a restart between any two steps of the cases with one watermark,
 * in continuous mode. The format of a case: tests/conformance/README.md. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "engine/session.h"
#include "base/time_text.h"
#include "expr/cast.h"
#include "os/thread.h"
#include "sql/sql.h"

enum { AREAS_MAX = 64, BATCHES_MAX = 256, WHY_SIZE = 4096 };

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

/* One micro-batch as the test sink and the progress saw it. */
typedef struct seen_batch {
    int64_t batch_id, watermark_ms, dropped;
    bool has_watermark;
    const fm_batch **parts; /* copied */
    int32_t n_parts;
    int64_t rows;
} seen_batch;

/* One case under way. */
typedef struct run {
    fm_arena *arena;         /* the case's */
    const fm_json *root;
    char dir[192];           /* its folder below $TMPDIR, or /tmp */
    fm_session *session;
    fm_prepared *query;
    bool available_now, restarts;
    int32_t files;           /* written so far: names and times follow it */
    seen_batch batches[BATCHES_MAX];
    int32_t n_batches;       /* in this step */
    int64_t state_rows[16];  /* after the last batch */
    int32_t n_state_rows;
    int64_t late_rows_before; /* rows of the table late before this step */
    fm_error err;
    const char *phase;       /* "analysis", "start", "run": of a failure */
    char why[WHY_SIZE];
} run;

static void complain(run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void complain(run *r, const char *format, ...)
{
    va_list args;

    if (r->why[0]) return; /* the first reason stays */
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
}

static fm_arena *texts; /* of the case under way: JSON strings do not end with a NUL */

static const char *c_text(fm_str text) { return fm_arena_str(texts, text).ptr; }

static const char *text_of(const fm_json *object, const char *key, const char *absent)
{
    const fm_json *v = fm_json_get(object, key);
    return v && v->kind == FM_JSON_STRING ? c_text(v->text) : absent;
}

/* ---- The test sink: keeps a copy of what each batch delivered ---------------------------------------------- */

typedef struct capture {
    fm_sink base;
    fm_sink_writer writer;
    run *r;
    seen_batch *batch;
    const fm_type *schema;
} capture;

static run *capturing; /* one case at a time */

static fm_status capture_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    capture *c = fm_arena_one(capturing->arena, capture);
    c->base.type = fm_sink_lookup(env, FM_STR("capture"));
    c->r = capturing;
    c->schema = fm_type_copy(capturing->arena, spec->schema);
    *out = &c->base;
    return FM_OK;
}

static fm_status capture_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    capture *c = (capture *)sink;

    *skip = false;
    if (c->r->n_batches == BATCHES_MAX) return fm_fail(err, FM_LIMIT, "TEST", "too many batches");
    c->batch = &c->r->batches[c->r->n_batches++];
    *c->batch = (seen_batch){.batch_id = batch_id};
    return FM_OK;
}

/* Writers of one sink may work at the same time; here they share one list, so they take turns. */
static fm_mutex *capture_lock;

static fm_status capture_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    capture *c = (capture *)sink;
    fm_mutex_lock(capture_lock);
    fm_sink_writer *w = fm_arena_one(c->r->arena, fm_sink_writer);
    fm_mutex_unlock(capture_lock);
    w->sink = sink;
    *out = w;
    return FM_OK;
}

static fm_status capture_write(fm_sink_writer *writer, const fm_batch *in, fm_error *err)
{
    capture *c = (capture *)writer->sink;
    int32_t n = in->schema->n_fields;
    fm_status st = FM_OK;

    if (in->rows == 0) return FM_OK;
    fm_mutex_lock(capture_lock);
    fm_batch *copy = fm_arena_one(c->r->arena, fm_batch);
    fm_vec *columns = fm_arena_array(c->r->arena, fm_vec, n);
    for (int32_t i = 0; i < n && st == FM_OK; i++) st = fm_vec_copy_as(&columns[i], &in->columns[i], c->schema->fields[i].type, c->r->arena, err);
    *copy = (fm_batch){c->schema, in->rows, columns};
    const fm_batch **parts = fm_arena_array(c->r->arena, const fm_batch *, c->batch->n_parts + 1);
    if (c->batch->n_parts) memcpy(parts, c->batch->parts, (size_t)c->batch->n_parts * sizeof *parts);
    parts[c->batch->n_parts++] = copy;
    c->batch->parts = parts;
    c->batch->rows += in->rows;
    fm_mutex_unlock(capture_lock);
    return st;
}

static fm_status capture_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }
static fm_status capture_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    *rows = ((capture *)sink)->batch->rows;
    return FM_OK;
}
static void capture_abort(fm_sink *sink, int64_t batch_id) {}
static void capture_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "capture"); }
static void capture_close(fm_sink *sink) {}

static const fm_sink_type *find_capture(void *ctx, fm_str format)
{
    static const char *const no_options[] = {NULL};
    static const fm_sink_type type = {
        .name = "capture", .options = no_options, .modes = 7, .counts_rows = true, .open = capture_open,
        .begin = capture_begin, .writer_open = capture_writer_open, .write = capture_write,
        .writer_close = capture_writer_close, .commit = capture_commit, .abort = capture_abort,
        .description = capture_description, .close = capture_close,
    };
    return fm_str_eq(format, FM_STR("capture")) ? &type : NULL;
}

static void on_progress(void *ctx, fm_progress_ref *ref)
{
    run *r = ctx;
    const fm_progress *p = fm_progress_of(ref);

    if (p->idle || r->n_batches == 0) return;
    seen_batch *b = &r->batches[r->n_batches - 1];
    b->has_watermark = p->has_watermark;
    b->watermark_ms = p->watermark_ms;
    r->n_state_rows = p->n_operators < 16 ? p->n_operators : 16;
    for (int32_t i = 0; i < r->n_state_rows; i++) {
        b->dropped += p->operators[i].stats.rows_dropped_by_watermark;
        r->state_rows[i] = p->operators[i].stats.rows_total;
    }
}

/* ---- Setting a case up ------------------------------------------------------------------------------------- */

static void write_json(const fm_json *v, fm_strbuf *out)
{
    switch (v->kind) {
    case FM_JSON_NULL: fm_strbuf_add_c(out, "null"); break;
    case FM_JSON_BOOL: fm_strbuf_add_c(out, v->boolean ? "true" : "false"); break;
    case FM_JSON_NUMBER: fm_strbuf_add(out, v->text); break;
    case FM_JSON_STRING: fm_strbuf_add_json(out, v->text); break;
    case FM_JSON_ARRAY:
    case FM_JSON_OBJECT:
        fm_strbuf_add_char(out, v->kind == FM_JSON_ARRAY ? '[' : '{');
        for (int32_t i = 0; i < v->n; i++) {
            if (i) fm_strbuf_add_char(out, ',');
            if (v->kind == FM_JSON_OBJECT) {
                fm_strbuf_add_json(out, v->keys[i]);
                fm_strbuf_add_char(out, ':');
            }
            write_json(&v->items[i], out);
        }
        fm_strbuf_add_char(out, v->kind == FM_JSON_ARRAY ? ']' : '}');
    }
}

/* One FILE of a case becomes a file of its stream; files are in order of their times and names. */
static fm_status write_file(run *r, fm_str stream, const fm_json *file)
{
    const fm_json *raw = file->kind == FM_JSON_OBJECT ? fm_json_get(file, "raw") : NULL;
    const fm_json *rows = raw ? raw : file;
    fm_strbuf text = {0};
    char path[256];

    for (int32_t i = 0; i < rows->n; i++) {
        if (raw) fm_strbuf_add(&text, rows->items[i].text);
        else write_json(&rows->items[i], &text);
        fm_strbuf_add_char(&text, '\n');
    }
    snprintf(path, sizeof path, "%s/%.*s/%06d.json", r->dir, FM_STR_ARG(stream), r->files++);
    fm_status st = fm_fs_write_atomic(fm_fs_real(), path, text.ptr ? fm_strbuf_str(&text) : FM_STR(""), false, &r->err);
    fm_strbuf_fini(&text);
    struct timespec times[2] = {{.tv_sec = 1700000000 + r->files}, {.tv_sec = 1700000000 + r->files}};
    utimensat(AT_FDCWD, path, times, 0);
    return st;
}

static fm_plan *relation(run *r, fm_str name)
{
    fm_plan *p = fm_plan_new(r->arena, FM_PLAN_RELATION, (fm_pos){0});
    p->name_parts = fm_arena_array(r->arena, fm_str, 1);
    p->name_parts[0] = name;
    p->n_name_parts = 1;
    return p;
}

/* plan with a watermark on one of its columns, as withWatermark(column, delay) does. */
static fm_plan *with_watermark(run *r, fm_plan *plan, const fm_json *watermark)
{
    if (!watermark) return plan;
    fm_plan *p = fm_plan_new(r->arena, FM_PLAN_WATERMARK, (fm_pos){0});
    fm_expr *column = fm_expr_new(r->arena, FM_EXPR_NAME, (fm_pos){0});
    column->parts = fm_arena_array(r->arena, fm_str, 1);
    column->parts[0] = fm_str_c(text_of(watermark, "column", ""));
    column->n_parts = 1;
    p->children = fm_arena_array(r->arena, fm_plan *, 1);
    p->children[0] = plan;
    p->n_children = 1;
    p->exprs = fm_arena_array(r->arena, fm_expr *, 1);
    p->exprs[0] = column;
    p->n_exprs = 1;
    p->delay_text = fm_str_c(text_of(watermark, "delay", ""));
    p->delay_is_text = true;
    return p;
}

static fm_status add_view(run *r, fm_str name, fm_plan *plan)
{
    fm_plan *analyzed;

    FM_TRY(fm_session_analyze(r->session, plan, r->arena, &analyzed, &r->err));
    return fm_session_add_view(r->session, name, plan, true, &r->err);
}

static fm_status declare_stream(run *r, fm_str name, const fm_json *spec)
{
    fm_table_def def = {.format = FM_STR("json")};
    const fm_json *options = fm_json_get(spec, "options");
    fm_str table = fm_arena_printf(r->arena, "%.*s__files", FM_STR_ARG(name));
    fm_str path = fm_arena_printf(r->arena, "%s/%.*s", r->dir, FM_STR_ARG(name));

    FM_TRY(fm_fs_mkdirs(fm_fs_real(), path.ptr, &r->err));
    def.name = table;
    FM_TRY(fm_type_parse_ddl(r->arena, fm_str_c(text_of(spec, "schema", "")), &def.schema, &r->err));
    fm_options_set(r->arena, &def.options, FM_STR("path"), path);
    fm_options_set(r->arena, &def.options, FM_STR("maxFilesPerTrigger"), FM_STR("1"));
    for (int32_t i = 0; options && i < options->n; i++) {
        fm_options_set(r->arena, &def.options, options->keys[i], options->items[i].text);
    }
    FM_TRY(fm_session_add_table(r->session, &def, true, true, &r->err));
    return add_view(r, name, with_watermark(r, relation(r, table), fm_json_get(spec, "watermark")));
}

static fm_status declare_table(run *r, fm_str name, const fm_json *spec)
{
    fm_table_def def = {.name = name, .format = FM_STR("json")};

    FM_TRY(fm_fs_mkdirs(fm_fs_real(), fm_arena_printf(r->arena, "%s/%.*s", r->dir, FM_STR_ARG(name)).ptr, &r->err));
    FM_TRY(write_file(r, name, fm_json_get(spec, "rows")));
    FM_TRY(fm_type_parse_ddl(r->arena, fm_str_c(text_of(spec, "schema", "")), &def.schema, &r->err));
    fm_options_set(r->arena, &def.options, FM_STR("path"), fm_arena_printf(r->arena, "%s/%.*s", r->dir, FM_STR_ARG(name)));
    return fm_session_add_table(r->session, &def, false, true, &r->err);
}

static fm_status declare_view(run *r, const fm_json *spec)
{
    fm_str name = fm_str_c(text_of(spec, "name", ""));
    const fm_json *columns = fm_json_get(spec, "dropDuplicates"), *within = fm_json_get(spec, "withinWatermark");
    fm_plan *plan;

    if (columns) {
        plan = fm_plan_new(r->arena, FM_PLAN_DEDUPLICATE, (fm_pos){0});
        plan->children = fm_arena_array(r->arena, fm_plan *, 1);
        plan->children[0] = relation(r, fm_str_c(text_of(spec, "from", "")));
        plan->n_children = 1;
        plan->column_names = fm_arena_array(r->arena, fm_str, columns->n);
        for (int32_t i = 0; i < columns->n; i++) plan->column_names[i] = columns->items[i].text;
        plan->n_column_names = columns->n;
        plan->within_watermark = within && within->boolean;
    } else {
        FM_TRY(fm_sql_parse(r->arena, fm_str_c(text_of(spec, "sql", "")), &plan, &r->err));
    }
    return add_view(r, name, with_watermark(r, plan, fm_json_get(spec, "watermark")));
}

static fm_status apply_conf(run *r, const fm_json *conf)
{
    for (int32_t i = 0; conf && i < conf->n; i++) {
        const fm_json *v = &conf->items[i];
        fm_str text = v->kind == FM_JSON_BOOL ? (v->boolean ? FM_STR("true") : FM_STR("false")) : v->text;
        FM_TRY(fm_session_set(r->session, conf->keys[i], text, &r->err));
    }
    return FM_OK;
}

static fm_status set_up(run *r, const char *workers)
{
    fm_session_env env = {.find_sink = find_capture};
    const fm_json *streams = fm_json_get(r->root, "streams"), *tables = fm_json_get(r->root, "tables");
    const fm_json *views = fm_json_get(r->root, "views");

    r->phase = "analysis";
    FM_TRY(fm_session_new(&env, &r->session, &r->err));
    FM_TRY(fm_session_set(r->session, FM_STR("spark.sql.session.timeZone"), FM_STR("UTC"), &r->err));
    FM_TRY(fm_session_set(r->session, FM_STR("floodmark.workers"), fm_str_c(workers), &r->err));
    FM_TRY(apply_conf(r, fm_json_get(r->root, "conf")));
    for (int32_t i = 0; streams && i < streams->n; i++) FM_TRY(declare_stream(r, streams->keys[i], &streams->items[i]));
    for (int32_t i = 0; tables && i < tables->n; i++) FM_TRY(declare_table(r, tables->keys[i], &tables->items[i]));
    for (int32_t i = 0; views && i < views->n; i++) FM_TRY(declare_view(r, &views->items[i]));
    return FM_OK;
}

static fm_status start(run *r)
{
    fm_plan *plan;
    fm_options options = {0};
    fm_trigger trigger = {.kind = r->available_now ? FM_TRIGGER_AVAILABLE_NOW : FM_TRIGGER_ASAP};
    fm_start spec = {.format = FM_STR("capture"), .options = &options, .trigger = &trigger, .on_progress = on_progress,
                     .on_progress_ctx = r};
    int phase;

    r->phase = "analysis";
    FM_TRY(fm_sql_parse(r->arena, fm_str_c(text_of(r->root, "query", "")), &plan, &r->err));
    fm_options_set(r->arena, &options, FM_STR("outputMode"), fm_str_c(text_of(r->root, "outputMode", "append")));
    fm_options_set(r->arena, &options, FM_STR("checkpointLocation"), fm_arena_printf(r->arena, "%s/checkpoint", r->dir));
    fm_status st = fm_session_prepare(r->session, plan, &spec, &r->query, &phase, &r->err);
    r->phase = phase ? "start" : "analysis";
    return st;
}

static void stop(run *r)
{
    fm_prepared_free(r->query);
    r->query = NULL;
}

/* ---- Steps ------------------------------------------------------------------------------------------------- */

static fm_status run_until_idle(run *r)
{
    fm_step what;

    r->phase = "run";
    do {
        FM_TRY(fm_query_step(r->query->query, &what, &r->err));
    } while (what == FM_STEP_RAN);
    return FM_OK;
}

static fm_status feed(run *r, const fm_json *step)
{
    const fm_json *add = fm_json_get(step, "add"), *many = fm_json_get(step, "addMany");
    const fm_json *streams = add ? add : many;

    for (int32_t i = 0; streams && i < streams->n; i++) {
        const fm_json *files = &streams->items[i];
        if (add) {
            FM_TRY(write_file(r, streams->keys[i], files));
            continue;
        }
        for (int32_t f = 0; f < files->n; f++) FM_TRY(write_file(r, streams->keys[i], &files->items[f]));
    }
    return FM_OK;
}

static bool parse_iso_ms(const fm_json *v, int64_t *out)
{
    int64_t us;
    if (!v || v->kind != FM_JSON_STRING || !fm_text_to_timestamp(v->text, fm_zone_utc(), &us)) return false;
    *out = us / 1000;
    return true;
}

static const fm_batch *row_at(const seen_batch *b, int64_t row, int32_t *index)
{
    for (int32_t p = 0; p < b->n_parts; p++) {
        if (row < b->parts[p]->rows) {
            *index = (int32_t)row;
            return b->parts[p];
        }
        row -= b->parts[p]->rows;
    }
    return NULL;
}

static void compare_rows(run *r, const fm_json *expected, const seen_batch *b, bool ordered, int step, int64_t batch_id)
{
    bool *used = calloc((size_t)b->rows + 1, 1);
    fm_strbuf text = {0};

    if (expected->n != b->rows) {
        complain(r, "step %d batch %" PRId64 ": %" PRId64 " rows, expected %d", step, batch_id, b->rows, expected->n);
    }
    for (int32_t e = 0; e < expected->n && !r->why[0]; e++) {
        bool found = false;
        for (int64_t i = ordered ? e : 0; i < (ordered ? e + 1 : b->rows) && !found; i++) {
            int32_t index = 0;
            const fm_batch *part = used[i] ? NULL : row_at(b, i, &index);
            if (part && conf_row_equals(&expected->items[e], part, index)) used[i] = found = true;
        }
        if (found) continue;
        write_json(&expected->items[e], &text);
        complain(r, "step %d batch %" PRId64 ": expected row %s", step, batch_id, text.ptr);
        size_t len = strlen(r->why);
        for (int64_t i = 0; i < b->rows && i < 6; i++) {
            int32_t index = 0;
            const fm_batch *part = row_at(b, i, &index);
            fm_strbuf_clear(&text);
            conf_row_text(part, index, &text);
            snprintf(r->why + len, sizeof r->why - len, "\n        got %s", text.ptr);
            len = strlen(r->why);
        }
    }
    if (r->why[0] && expected->n != b->rows) {
        size_t len = strlen(r->why);
        for (int64_t i = 0; i < b->rows && i < 6; i++) {
            int32_t index = 0;
            const fm_batch *part = row_at(b, i, &index);
            fm_strbuf_clear(&text);
            conf_row_text(part, index, &text);
            snprintf(r->why + len, sizeof r->why - len, "\n        got %s", text.ptr);
            len = strlen(r->why);
        }
    }
    fm_strbuf_fini(&text);
    free(used);
}

static void compare_watermark(run *r, const fm_json *expected, const seen_batch *b, int step, const char *what)
{
    int64_t ms;

    if (!expected) return;
    if (expected->kind == FM_JSON_NULL) {
        if (b && b->has_watermark) complain(r, "step %d %s: a watermark where none is expected", step, what);
    } else if (!b || !b->has_watermark || !parse_iso_ms(expected, &ms) || ms != b->watermark_ms) {
        char text[FM_ISO_TEXT_SIZE] = "none";
        if (b && b->has_watermark) fm_iso_ms(b->watermark_ms, text);
        complain(r, "step %d %s: watermark %s, expected %s", step, what, text, c_text(expected->text));
    }
}

/* What the step added to the table late, against lateRows. Its first columns are the row, then a struct late. */
static void compare_late(run *r, const fm_json *expected, int step)
{
    fm_plan *plan;
    fm_result *result = NULL;

    if (fm_sql_parse(r->arena, FM_STR("SELECT *, late.windows AS windows, late.watermark AS watermark FROM late"), &plan, &r->err) !=
            FM_OK ||
        fm_session_execute(r->session, plan, &result, &r->err) != FM_OK) {
        complain(r, "step %d: table late: %s", step, r->err.message);
        return;
    }
    seen_batch all = {.parts = result->batches, .n_parts = result->n_batches, .rows = result->rows};
    seen_batch fresh = {0};
    int32_t n_columns = result->schema->n_fields;
    fm_field *fields = fm_arena_array(r->arena, fm_field, n_columns);
    const fm_batch **parts = fm_arena_array(r->arena, const fm_batch *, all.rows + 1);
    int32_t n = 0;
    for (int32_t c = 0; c < n_columns; c++) {
        if (!fm_str_eq(result->schema->fields[c].name, FM_STR("late"))) fields[n++] = result->schema->fields[c];
    }
    const fm_type *schema = fm_type_struct(r->arena, fields, n);
    for (int64_t i = r->late_rows_before; i < all.rows; i++) {
        int32_t index = 0, k = 0;
        const fm_batch *part = row_at(&all, i, &index);
        fm_batch *one = fm_arena_one(r->arena, fm_batch);
        fm_vec *columns = fm_arena_array(r->arena, fm_vec, n);
        for (int32_t c = 0; c < n_columns; c++) {
            if (fm_str_eq(result->schema->fields[c].name, FM_STR("late"))) continue;
            fm_vec lane;
            fm_vec_gather(&lane, &part->columns[c], &index, 1, r->arena, &r->err);
            fm_vec_copy(&columns[k++], &lane, r->arena, &r->err);
        }
        *one = (fm_batch){schema, 1, columns};
        parts[fresh.n_parts++] = one;
        fresh.rows++;
    }
    fresh.parts = parts;
    r->late_rows_before = all.rows;
    compare_rows(r, expected, &fresh, false, step, -1);
    if (r->why[0]) {
        size_t len = strlen(r->why);
        snprintf(r->why + len, sizeof r->why - len, " (late rows)");
    }
    fm_result_free(result);
}

static void compare_step(run *r, const fm_json *expected, int step)
{
    const fm_json *batches = fm_json_get(expected, "batches"), *dropped, *state = fm_json_get(expected, "stateRows");
    const fm_json *ordered = fm_json_get(r->root, "ordered"), *late = fm_json_get(expected, "lateRows");
    int64_t number, sum = 0;
    char what[32];

    if (batches->n != r->n_batches) {
        complain(r, "step %d: %d batches ran, expected %d", step, r->n_batches, batches->n);
        return;
    }
    for (int32_t i = 0; i < batches->n && !r->why[0]; i++) {
        const seen_batch *b = &r->batches[i];
        const fm_json *e = &batches->items[i];
        snprintf(what, sizeof what, "batch %" PRId64, b->batch_id);
        if (!fm_json_i64(fm_json_get(e, "batchId"), &number) || number != b->batch_id) {
            complain(r, "step %d: %s ran, expected batch %" PRId64, step, what, number);
        }
        compare_watermark(r, fm_json_get(e, "watermark"), b, step, what);
        dropped = fm_json_get(e, "dropped");
        sum += b->dropped;
        if (dropped && fm_json_i64(dropped, &number) && number != b->dropped) {
            complain(r, "step %d %s: dropped %" PRId64 ", expected %" PRId64, step, what, b->dropped, number);
        }
        compare_rows(r, fm_json_get(e, "rows"), b, ordered && ordered->boolean, step, b->batch_id);
    }
    compare_watermark(r, fm_json_get(expected, "watermark"), r->n_batches ? &r->batches[r->n_batches - 1] : NULL, step, "end");
    dropped = fm_json_get(expected, "dropped");
    if (dropped && fm_json_i64(dropped, &number) && number != sum) complain(r, "step %d: dropped %" PRId64 ", expected %" PRId64, step, sum, number);
    if (state && r->n_batches) {
        if (state->n != r->n_state_rows) complain(r, "step %d: %d stateful operators, expected %d", step, r->n_state_rows, state->n);
        for (int32_t i = 0; i < state->n && !r->why[0]; i++) {
            if (fm_json_i64(&state->items[i], &number) && number != r->state_rows[i]) {
                complain(r, "step %d: state of operator %d has %" PRId64 " rows, expected %" PRId64, step, i, r->state_rows[i], number);
            }
        }
    }
    if (late && late->kind == FM_JSON_ARRAY && !r->why[0]) compare_late(r, late, step);
}

/* ---- A case ------------------------------------------------------------------------------------------------ */

static bool is_proper(fm_str condition)
{
    return condition.len && !fm_str_starts(condition, FM_STR("_LEGACY_ERROR")) && !fm_str_starts(condition, FM_STR("INTERNAL_ERROR"));
}

/* The failure, against expectError. */
static void compare_error(run *r, const fm_json *expected, int step)
{
    const char *at = text_of(expected, "at", "");
    const fm_json *condition = fm_json_get(expected, "condition"), *expected_step = fm_json_get(expected, "step");
    int64_t number = -1;
    bool earlier = strcmp(at, "start") == 0 && strcmp(r->phase, "analysis") == 0;

    if (strcmp(at, r->phase) != 0 && !earlier) {
        complain(r, "failed at %s, expected at %s: [%s] %s", r->phase, at, r->err.condition, r->err.message);
    }
    if (strcmp(at, "run") == 0 && expected_step && fm_json_i64(expected_step, &number) && number != step) {
        complain(r, "failed in step %d, expected in step %" PRId64 ": [%s] %s", step, number, r->err.condition, r->err.message);
    }
    if (condition && condition->kind == FM_JSON_STRING && is_proper(condition->text) &&
        !fm_str_eq(condition->text, fm_str_c(r->err.condition))) {
        complain(r, "condition %s, expected %s: %s", r->err.condition, c_text(condition->text), r->err.message);
    }
}

/* Runs all steps; returns the index of the step that failed (in r->err), or -1. */
static int run_steps(run *r, fm_status *st)
{
    const fm_json *steps = fm_json_get(r->root, "steps"), *expect = fm_json_get(r->root, "expect");
    int32_t e = 0;

    if (!r->available_now && (*st = start(r)) != FM_OK) return 0;
    for (int32_t i = 0; i < steps->n && !r->why[0]; i++) {
        const fm_json *step = &steps->items[i];
        if (fm_json_get(step, "restart") || (r->restarts && i > 0)) {
            stop(r);
            if ((*st = apply_conf(r, fm_json_get(step, "conf"))) != FM_OK) return i;
            if (!r->available_now && (*st = start(r)) != FM_OK) return i;
        }
        if (fm_json_get(step, "restart")) continue;
        if ((*st = feed(r, step)) != FM_OK) return i;
        r->n_batches = 0;
        if (r->available_now && (*st = start(r)) != FM_OK) return i;
        if ((*st = run_until_idle(r)) != FM_OK) return i;
        if (r->available_now) stop(r);
        if (expect && expect->kind == FM_JSON_ARRAY && e < expect->n) compare_step(r, &expect->items[e++], i);
    }
    return -1;
}

static bool has_one_watermark(const fm_json *root)
{
    const fm_json *streams = fm_json_get(root, "streams"), *views = fm_json_get(root, "views");
    int n = 0;

    for (int32_t i = 0; streams && i < streams->n; i++) n += fm_json_get(&streams->items[i], "watermark") != NULL;
    for (int32_t i = 0; views && i < views->n; i++) n += fm_json_get(&views->items[i], "watermark") != NULL;
    return n <= 1;
}

/* A restart makes a no-data batch wait for data (rule 3.2), so with restarts after a step that closes windows the
 * batches stay the same: every step runs until idle before the restart. */
static outcome run_case(const fm_json *root, fm_arena *arena, const char *workers, bool restarts, char why[WHY_SIZE])
{
    run *r = calloc(1, sizeof *r);
    const fm_json *expect = fm_json_get(root, "expect"), *error = fm_json_get(root, "expectError");
    fm_status st = FM_OK;
    outcome result = PASSED;

    if ((!expect || expect->kind == FM_JSON_NULL) && (!error || error->kind == FM_JSON_NULL)) {
        snprintf(why, WHY_SIZE, "not recorded yet");
        free(r);
        return SKIPPED;
    }
    r->arena = arena;
    r->root = root;
    r->available_now = strcmp(text_of(root, "mode", "continuous"), "availableNow") == 0;
    r->restarts = restarts && has_one_watermark(root) && !r->available_now;
    capturing = r;
    const char *temp = getenv("TMPDIR");
    snprintf(r->dir, sizeof r->dir, "%.128s/floodmark-conformance-XXXXXX", temp && *temp ? temp : "/tmp");
    if (!mkdtemp(r->dir)) {
        snprintf(why, WHY_SIZE, "cannot make a folder '%s'", r->dir);
        free(r);
        return FAILED;
    }
    int failed_step = -1;
    st = set_up(r, workers);
    if (st == FM_OK) failed_step = run_steps(r, &st);
    bool wants_error = error && error->kind == FM_JSON_OBJECT;
    if (r->why[0] == 0 && st != FM_OK && st == FM_UNSUPPORTED && !wants_error) {
        snprintf(why, WHY_SIZE, "%s", r->err.message);
        result = SKIPPED;
    } else {
        if (st != FM_OK && wants_error) compare_error(r, error, failed_step);
        else if (st != FM_OK) complain(r, "failed at %s: [%s] %s", r->phase, r->err.condition, r->err.message);
        else if (wants_error) complain(r, "ran well, expected to fail with %s", text_of(error, "condition", "an error"));
        if (r->why[0]) result = FAILED;
        memcpy(why, r->why, WHY_SIZE);
        if (result == FAILED && st == FM_UNSUPPORTED) result = SKIPPED;
    }
    stop(r);
    fm_session_free(r->session);
    fm_fs_remove_all(fm_fs_real(), r->dir, NULL);
    free(r);
    return result;
}

/* ---- All cases --------------------------------------------------------------------------------------------- */

typedef struct area {
    char name[64];
    int counts[3];
} area;

typedef struct totals {
    area areas[AREAS_MAX];
    int n_areas, counts[3];
    const char *workers;
    bool restarts, verbose;
    fm_str known;          /* text of the list of known failures */
} totals;

static area *area_of(totals *t, const char *name)
{
    for (int i = 0; i < t->n_areas; i++) {
        if (strcmp(t->areas[i].name, name) == 0) return &t->areas[i];
    }
    if (t->n_areas == AREAS_MAX) return &t->areas[AREAS_MAX - 1];
    area *a = &t->areas[t->n_areas++];
    snprintf(a->name, sizeof a->name, "%s", name);
    return a;
}

/* The reason in the list of known failures; len 0: the case is not in it. */
static fm_str known_reason(const totals *t, const char *name)
{
    fm_str rest = t->known;

    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        fm_str line = {rest.ptr, end ? (size_t)(end - rest.ptr) : rest.len};
        ptrdiff_t colon = fm_str_find(line, FM_STR(": "));
        if (colon > 0 && fm_str_eq((fm_str){line.ptr, (size_t)colon}, fm_str_c(name))) return (fm_str){line.ptr + colon + 2, line.len - (size_t)colon - 2};
        rest = end ? (fm_str){end + 1, rest.len - line.len - 1} : (fm_str){NULL, 0};
    }
    return (fm_str){NULL, 0};
}

static void run_file(totals *t, const char *path)
{
    static const char *const words[] = {"passed", "FAILED", "skipped"};
    fm_arena *arena = fm_arena_new(0);
    fm_str text;
    fm_error err = FM_ERROR_INIT;
    const fm_json *root;
    char why[WHY_SIZE] = "";
    outcome result = FAILED;
    const char *name = path, *area_name = "?";

    texts = arena;
    if (fm_fs_read_all(fm_fs_real(), path, 64 << 20, arena, &text, &err) == FM_OK &&
        fm_json_read(arena, text, &root, &err) == FM_OK) {
        name = text_of(root, "case", path);
        area_name = text_of(root, "area", "?");
        result = run_case(root, arena, t->workers, t->restarts, why);
    } else {
        snprintf(why, sizeof why, "%s", err.message);
    }
    fm_str known = known_reason(t, name);
    if (known.len && result == FAILED) {
        char failure[WHY_SIZE];
        memcpy(failure, why, sizeof failure);
        snprintf(why, sizeof why, "known: %.*s (%.300s)", FM_STR_ARG(known), failure);
        result = SKIPPED;
    } else if (known.len && result == PASSED) {
        printf("passes   %s: it stands in the list of known failures; take it out\n", name);
    }
    t->counts[result]++;
    area_of(t, area_name)->counts[result]++;
    if (result != PASSED || t->verbose) printf("%-8s %s: %s\n", words[result], name, why);
    fflush(stdout);
    fm_arena_free(arena);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void run_path(totals *t, const char *path)
{
    struct stat st;
    char **names = NULL;
    size_t n = 0;

    if (stat(path, &st) != 0) {
        printf("FAILED   %s: no such file or folder\n", path);
        t->counts[FAILED]++;
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        run_file(t, path);
        return;
    }
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        if (e->d_name[0] == '.') continue;
        names = realloc(names, (n + 1) * sizeof *names);
        size_t size = strlen(path) + len + 2;
        names[n] = malloc(size);
        snprintf(names[n++], size, "%s/%s", path, e->d_name);
    }
    if (dir) closedir(dir);
    if (n) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        if (stat(names[i], &st) == 0 && (S_ISDIR(st.st_mode) || fm_str_ends(fm_str_c(names[i]), FM_STR(".json")))) {
            run_path(t, names[i]);
        }
        free(names[i]);
    }
    free(names);
}

int main(int argc, char **argv)
{
    static totals t = {.workers = "1"};
    fm_arena *list = fm_arena_new(0);
    int paths = 0;

    capture_lock = fm_mutex_new();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--workers") == 0 && i + 1 < argc) {
            t.workers = argv[++i];
        } else if (strcmp(argv[i], "--known") == 0 && i + 1 < argc) {
            fm_error err = FM_ERROR_INIT;
            if (fm_fs_read_all(fm_fs_real(), argv[++i], 1 << 20, list, &t.known, &err) != FM_OK) {
                fprintf(stderr, "%s\n", err.message);
                return 2;
            }
        } else if (strcmp(argv[i], "--restarts") == 0) {
            t.restarts = true;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            t.verbose = true;
        } else {
            run_path(&t, argv[i]);
            paths++;
        }
    }
    if (!paths) {
        fprintf(stderr, "usage: runner [--workers N] [--restarts] [--verbose] FOLDER|FILE...\n");
        return 2;
    }
    printf("\n%-12s %7s %7s %7s\n", "area", "passed", "failed", "skipped");
    for (int i = 0; i < t.n_areas; i++) {
        area *a = &t.areas[i];
        printf("%-12s %7d %7d %7d\n", a->name, a->counts[PASSED], a->counts[FAILED], a->counts[SKIPPED]);
    }
    printf("\n%d passed, %d failed, %d skipped\n", t.counts[PASSED], t.counts[FAILED], t.counts[SKIPPED]);
    fm_mutex_free(capture_lock);
    fm_arena_free(list);
    return t.counts[FAILED] ? 1 : 0;
}
