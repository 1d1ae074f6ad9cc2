/* exec/late_rows.c: rows that missed a window, kept in a sink of their own: LATE_ROWS('json', 'late/').
 *
 * The table has the row's own columns, then late STRUCT<operator, windows, watermark, lateness, batch_id, source>: see
 * tests/conformance/README.md, "Beyond Spark". A row that missed several windows is written once. Rows are gathered
 * during the micro-batch and committed under its id before the main sink, so that a replay writes them once.
 * A Delta table has no intervals: lateness is text there, as it is in JSON. */
#include "column/builder.h"
#include "exec/exec_impl.h"
#include "expr/cast.h"

enum { LATE_FIELDS = 6, LATENESS = 3 };

typedef struct missed {
    int64_t start_us, end_us;
} missed;

struct fm_late_sink {
    fm_late_sink *next;       /* the way in of the next worker; its sink is NULL */
    fm_arena *arena;          /* one micro-batch's rows */
    fm_arena *query;
    fm_sink *sink;
    const char *operator_name;
    const fm_type *row_type;  /* STRUCT of the row's own columns */
    const fm_type *late_type; /* STRUCT of what is known of a row */
    const fm_type *schema;    /* of the table */
    fm_builder *row;          /* rows so far */
    fm_builder *late;         /* their late structs, up to the last row's, which is still open */
    int64_t rows;
    fm_vec told_rows, told_late; /* what was written, for people; len 0: nothing */
    bool open;                /* a row is open: its windows are still coming */
    missed *windows;
    int32_t n_windows, cap_windows;
    int64_t watermark_us, time_us, batch_id;
    fm_str source;            /* in arena; ptr NULL: unknown */
};

static const fm_type *late_type(fm_arena *arena, fm_type_id lateness)
{
    const fm_type *t = fm_type_timestamp();
    fm_field window[2] = {{FM_STR("start"), t, true}, {FM_STR("end"), t, true}};
    const fm_type *window_type = fm_type_struct(arena, window, 2);
    const fm_type *windows = window_type ? fm_type_list(arena, window_type, true) : NULL;
    fm_field fields[LATE_FIELDS] = {
        {FM_STR("operator"), fm_type_string(), true}, {FM_STR("windows"), windows, true}, {FM_STR("watermark"), t, true},
        {FM_STR("lateness"), fm_type_simple(lateness), true}, {FM_STR("batch_id"), fm_type_i64(), true},
        {FM_STR("source"), fm_type_string(), true},
    };
    return windows ? fm_type_struct(arena, fields, LATE_FIELDS) : NULL;
}

static const fm_type *table_type(fm_arena *arena, const fm_type *row, fm_str format)
{
    const fm_type *late = late_type(arena, fm_str_eq_ci(format, FM_STR("delta")) ? FM_TYPE_STRING : FM_TYPE_INTERVAL_DT);
    fm_field *fields = fm_arena_array(arena, fm_field, row->n_fields + 1);

    if (!late || !fields) return NULL;
    memcpy(fields, row->fields, (size_t)row->n_fields * sizeof *fields);
    fields[row->n_fields] = (fm_field){FM_STR("late"), late, true};
    return fm_type_struct(arena, fields, row->n_fields + 1);
}

static fm_status open_sink(fm_tree *tree, const fm_plan *plan, fm_late_sink *late, fm_error *err)
{
    const fm_lateness *l = &plan->lateness;
    const fm_sink_type *type = fm_sink_lookup(tree->env->sinks, l->late_format);
    fm_options *options = fm_arena_one(tree->arena, fm_options);

    if (!options) return fm_no_memory(tree->arena, err);
    if (!type) return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "LATE_ROWS names the sink '%.*s', which there is not.", FM_STR_ARG(l->late_format));
    for (int32_t i = 0; i < l->late_options.n; i++) {
        if (!fm_options_set(tree->arena, options, l->late_options.items[i].key, l->late_options.items[i].value)) return fm_no_memory(tree->arena, err);
    }
    bool by_name = fm_str_eq_ci(l->late_format, FM_STR("memory"));
    if (l->late_path.len && !by_name && !fm_options_set(tree->arena, options, FM_STR("path"), l->late_path)) return fm_no_memory(tree->arena, err);
    fm_sink_spec spec = {.format = l->late_format, .query_name = by_name ? l->late_path : FM_STR("late"), .query_id = tree->query_id, .options = options, .schema = late->schema, .mode = FM_MODE_APPEND};
    return type->open(tree->env->sinks, &spec, tree->arena, &late->sink, err);
}

fm_status fm_late_sink_open(fm_tree *tree, const fm_plan *plan, const fm_plan *child, const char *operator_name, fm_late_sink **out, fm_error *err)
{
    int32_t column = fm_plan_column(child, plan->late_row_id);
    fm_late_sink *late = fm_arena_one(tree->arena, fm_late_sink);

    *out = NULL;
    if (!late) return fm_no_memory(tree->arena, err);
    fm_assert(column >= 0);
    late->arena = fm_arena_new(0);
    late->query = tree->arena;
    late->operator_name = operator_name;
    late->row_type = child->output[column].type->fields[0].type;
    late->late_type = late_type(tree->arena, FM_TYPE_INTERVAL_DT);
    late->schema = table_type(tree->arena, late->row_type, plan->lateness.late_format);
    *out = late;
    if (!late->arena || !late->late_type || !late->schema) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_exec_add_late_sink(tree->exec, late, err)); /* closed with the query from here on */
    return open_sink(tree, plan, late, err);
}

fm_status fm_late_sink_join(fm_tree *tree, fm_late_sink *main, fm_late_sink **out, fm_error *err)
{
    fm_late_sink *late = fm_arena_one(tree->arena, fm_late_sink);

    *out = late;
    if (!late) return fm_no_memory(tree->arena, err);
    *late = (fm_late_sink){.next = main->next, .arena = fm_arena_new(0), .query = main->query, .operator_name = main->operator_name, .row_type = main->row_type, .late_type = main->late_type, .schema = main->schema};
    main->next = late; /* closed with it from here on */
    return late->arena ? FM_OK : fm_no_memory(NULL, err);
}

static void begin_one(fm_late_sink *late)
{
    fm_arena_reset(late->arena);
    late->row = late->late = NULL;
    late->windows = NULL;
    late->n_windows = late->cap_windows = 0;
    late->rows = 0;
    late->open = false;
    late->told_rows.len = 0;
}

void fm_late_sink_begin(fm_late_sink *late)
{
    for (; late; late = late->next) begin_one(late);
}

static int by_start(const missed *a, const missed *b) { return (a->start_us > b->start_us) - (a->start_us < b->start_us); }

/* The open row's windows are complete: its late struct is written, windows in order of time. */
static void close_row(fm_late_sink *late)
{
    fm_builder *b = late->late, *windows = fm_builder_child(b, 1), *window = fm_builder_child(windows, 0);

    if (!late->open) return;
    for (int32_t i = 1; i < late->n_windows; i++) { /* few: insertion sort */
        missed m = late->windows[i];
        int32_t k = i;
        for (; k > 0 && by_start(&late->windows[k - 1], &m) > 0; k--) late->windows[k] = late->windows[k - 1];
        late->windows[k] = m;
    }
    fm_builder_str(fm_builder_child(b, 0), fm_str_c(late->operator_name));
    for (int32_t i = 0; i < late->n_windows; i++) {
        fm_builder_i64(fm_builder_child(window, 0), late->windows[i].start_us);
        fm_builder_i64(fm_builder_child(window, 1), late->windows[i].end_us);
        fm_builder_end(window);
    }
    fm_builder_end(windows);
    fm_builder_i64(fm_builder_child(b, 2), late->watermark_us);
    fm_builder_i64(fm_builder_child(b, LATENESS), late->watermark_us - late->time_us);
    fm_builder_i64(fm_builder_child(b, 4), late->batch_id);
    if (late->source.ptr) fm_builder_str(fm_builder_child(b, 5), late->source);
    else fm_builder_null(fm_builder_child(b, 5));
    fm_builder_end(b);
    late->open = false;
}

/* Another window of the row that is open: it comes from the same place, and an earlier window follows a later one. */
static bool same_row(const fm_late_sink *late, const fm_vec *sources, int32_t row, int64_t start_us)
{
    if (!late->open || late->n_windows == 0 || fm_vec_is_null(sources, row) || !late->source.ptr) return false;
    return start_us < late->windows[late->n_windows - 1].start_us && fm_str_eq(fm_vec_str(sources, row), late->source);
}

static fm_status add_window(fm_late_sink *late, int64_t start_us, int64_t end_us, fm_error *err)
{
    if (late->n_windows == late->cap_windows) {
        int32_t cap = late->cap_windows ? late->cap_windows * 2 : 8;
        missed *more = fm_arena_array(late->arena, missed, cap);
        if (!more) return fm_no_memory(late->arena, err);
        if (late->n_windows) memcpy(more, late->windows, (size_t)late->n_windows * sizeof *more);
        late->windows = more;
        late->cap_windows = cap;
    }
    late->windows[late->n_windows++] = (missed){start_us, end_us};
    return FM_OK;
}

static fm_status begin_row(fm_late_sink *late, const fm_op_batch *mb, const fm_vec *late_rows, int32_t row, int64_t watermark_us, int64_t time_us, fm_error *err)
{
    const fm_vec *rows = &late_rows->children[0], *sources = &late_rows->children[1];
    fm_vec one, kept;

    close_row(late);
    /* Strings of the row live as long as its batch only: they are copied. */
    FM_TRY(fm_vec_gather(&one, rows, &row, 1, late->arena, err));
    FM_TRY(fm_vec_copy(&kept, &one, late->arena, err));
    fm_builder_lane(late->row, &kept, 0);
    late->n_windows = 0;
    late->open = true;
    late->rows++;
    late->watermark_us = watermark_us;
    late->time_us = time_us;
    late->batch_id = mb->run->batch_id;
    late->source = fm_vec_is_null(sources, row) ? (fm_str){NULL, 0} : fm_arena_str(late->arena, fm_vec_str(sources, row));
    return FM_OK;
}

static fm_status make_builders(fm_late_sink *late, fm_error *err)
{
    if (late->row) return FM_OK;
    late->row = fm_builder_new(late->arena, late->row_type, 64);
    late->late = fm_builder_new(late->arena, late->late_type, 64);
    return late->row && late->late ? FM_OK : fm_no_memory(late->arena, err);
}

fm_status fm_late_sink_add(fm_late_sink *late, const fm_op_batch *mb, const fm_vec *late_rows, int32_t row,
                           int64_t start_us, int64_t end_us, bool has_window, int64_t watermark_us, int64_t time_us, fm_error *err)
{
    FM_TRY(make_builders(late, err));
    if (!same_row(late, &late_rows->children[1], row, start_us)) FM_TRY(begin_row(late, mb, late_rows, row, watermark_us, time_us, err));
    return has_window ? add_window(late, start_us, end_us, err) : FM_OK;
}

fm_status fm_late_sink_add_windows(fm_late_sink *late, const fm_op_batch *mb, const fm_vec *late_rows, int32_t row, const fm_window_spec *w,
                                   int64_t first, int64_t last, int64_t watermark_us, int64_t time_us, fm_error *err)
{
    FM_TRY(make_builders(late, err));
    FM_TRY(begin_row(late, mb, late_rows, row, watermark_us, time_us, err));
    for (int64_t k = first; k <= last; k++) {
        int64_t end_us = fm_window_end(w, k);
        FM_TRY(add_window(late, end_us - w->duration_us, end_us, err));
    }
    return FM_OK;
}

/* The late structs as the table has them: an interval that it cannot hold becomes text. */
static fm_status fit_lates(fm_late_sink *late, fm_vec *lates, fm_error *err)
{
    const fm_type *type = late->schema->fields[late->schema->n_fields - 1].type;
    fm_strbuf text = {0};

    if (type->fields[LATENESS].type->id == FM_TYPE_INTERVAL_DT) return FM_OK;
    fm_vec *children = fm_arena_array(late->arena, fm_vec, LATE_FIELDS);
    fm_builder *b = fm_builder_new(late->arena, type->fields[LATENESS].type, lates->len);
    if (!children || !b) return fm_no_memory(late->arena, err);
    memcpy(children, lates->children, LATE_FIELDS * sizeof *children);
    for (int32_t i = 0; i < lates->len; i++) {
        fm_strbuf_clear(&text);
        fm_value_text(&lates->children[LATENESS], i, NULL, &text);
        fm_builder_str(b, fm_strbuf_str(&text));
    }
    bool ok = fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    if (!ok) return fm_no_memory(late->arena, err);
    lates->type = type;
    lates->children = children;
    return fm_builder_finish(b, &children[LATENESS], err);
}

/* The rows of one worker. */
static fm_status write_one(fm_late_sink *late, const fm_sink_type *type, fm_sink_writer *writer, fm_error *err)
{
    fm_vec rows, lates;
    int32_t n = late->row_type->n_fields;

    if (late->rows == 0) return FM_OK;
    close_row(late);
    FM_TRY(fm_builder_finish(late->row, &rows, err));
    FM_TRY(fm_builder_finish(late->late, &lates, err));
    late->told_rows = rows;
    late->told_late = lates;
    FM_TRY(fit_lates(late, &lates, err));
    fm_vec *columns = fm_arena_array(late->arena, fm_vec, n + 1);
    if (!columns) return fm_no_memory(late->arena, err);
    memcpy(columns, rows.children, (size_t)n * sizeof *columns);
    columns[n] = lates;
    fm_batch all = {.schema = late->schema, .rows = rows.len, .columns = columns};
    return type->write(writer, &all, err);
}

static fm_status write_rows(fm_late_sink *main, fm_error *err)
{
    const fm_sink_type *type = main->sink->type;
    fm_sink_writer *writer;

    FM_TRY(type->writer_open(main->sink, 0, &writer, err));
    fm_status st = FM_OK;
    for (fm_late_sink *late = main; st == FM_OK && late; late = late->next) st = write_one(late, type, writer, err);
    fm_status closed = type->writer_close(writer, st == FM_OK ? err : NULL);
    return st == FM_OK ? closed : st;
}

fm_status fm_late_sink_commit(fm_late_sink *main, int64_t batch_id, int64_t *rows, fm_error *err)
{
    const fm_sink_type *type = main->sink->type;
    bool skip = false;
    int64_t written;

    *rows = 0;
    for (const fm_late_sink *late = main; late; late = late->next) *rows += late->rows;
    if (*rows == 0) return FM_OK; /* nothing missed a window: no file */
    FM_TRY(type->begin(main->sink, batch_id, 1, &skip, err));
    if (skip) return FM_OK;
    fm_status st = write_rows(main, err);
    if (st == FM_OK) st = type->commit(main->sink, batch_id, &written, err);
    if (st != FM_OK) type->abort(main->sink, batch_id);
    return fm_context(err, st, "keeping late rows");
}

static void tell_one(const fm_late_sink *late, const fm_zone *zone, fm_arena *arena, fm_strbuf *text, fm_late_text *out, int32_t *n)
{
    for (int32_t i = 0; i < late->told_rows.len && *n < FM_LATE_TEXTS_MAX; i++) {
        const fm_vec *fields = late->told_late.children;
        fm_late_text *t = &out[(*n)++];
        fm_strbuf_clear(text);
        fm_value_text(&late->told_rows, i, zone, text);
        *t = (fm_late_text){.row = fm_arena_str(arena, fm_strbuf_str(text)), .late_us = fm_vec_i64(&fields[LATENESS])[i]};
        if (!fm_vec_is_null(&fields[5], i)) t->source = fm_arena_str(arena, fm_vec_str(&fields[5], i));
        if (fields[1].offsets[i + 1] == fields[1].offsets[i]) continue;
        int32_t last = fields[1].offsets[i + 1] - 1;
        t->start_us = fm_vec_i64(&fields[1].children[0].children[0])[last];
        t->end_us = fm_vec_i64(&fields[1].children[0].children[1])[last];
    }
}

fm_status fm_late_sink_tell(fm_late_sink *late, const fm_zone *zone, fm_arena *arena, fm_late_text *out, int32_t *n, fm_error *err)
{
    fm_strbuf text = {0};

    for (; late; late = late->next) tell_one(late, zone, arena, &text, out, n);
    bool ok = fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(arena, err);
}

void fm_late_sink_close(fm_late_sink *late)
{
    if (late->sink) late->sink->type->close(late->sink);
    for (; late; late = late->next) fm_arena_free(late->arena);
}
