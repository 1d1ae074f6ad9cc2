/* format/fn_csv.c: the SQL functions over CSV text: from_csv, to_csv.
 *
 * Rule   Spark, CsvToStructs, StructsToCsv: one record a text; modes PERMISSIVE and FAILFAST.
 * Cases  tests/golden/functions/csv.test */
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/resolve_text.h"
#include "format/csv_format.h"
#include "format/fn_json.h"
#include "format/json_options.h"

/* ---- from_csv ----------------------------------------------------------------------------------------------------- */

typedef struct csv_call {
    const fm_type *type;
    fm_options options;
    const fm_zone *zone;
    int32_t *wanted; /* all */
} csv_call;

static fm_status new_reader(fm_arena *arena, const csv_call *made, fm_reader **out, fm_error *err)
{
    fm_read_spec spec = {.schema = made->type, .wanted = made->wanted, .n_wanted = made->type->n_fields, .options = &made->options,
                         .zone = made->zone, .corrupt_column = fm_options_get(&made->options, "columnNameOfCorruptRecord", FM_STR("_corrupt_record"))};
    return fm_csv_reader_new(arena, &spec, out, err);
}

static fm_status check_mode(const fm_bind *b, const fm_options *options, fm_error *err)
{
    fm_bad_mode mode;
    FM_TRY(fm_bad_mode_option(options, &mode, err));
    if (mode != FM_BAD_DROPMALFORMED) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "PARSE_MODE_UNSUPPORTED", b->pos.line, b->pos.column,
                      "The function `from_csv` doesn't support the DROPMALFORMED mode. Acceptable modes are PERMISSIVE and FAILFAST.");
}

static fm_status bind_from_csv(fm_bind *b, fm_error *err)
{
    csv_call *made = fm_arena_one(b->arena, csv_call);
    const fm_type *type;
    fm_reader *reader; /* made here only so that wrong options are said before the query runs */

    if (!made) return fm_no_memory(b->arena, err);
    if (b->args[0]->type->id != FM_TYPE_STRING && b->args[0]->type->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 0, "\"STRING\"", err);
    b->cast_args[0] = fm_type_string();
    FM_TRY(fm_bind_schema(b, &type, err));
    if (type->id != FM_TYPE_STRUCT)
        return fm_fail_at(err, FM_INVALID, "INVALID_SCHEMA.NON_STRUCT_TYPE", b->pos.line, b->pos.column,
                          "The input schema of from_csv is not a valid schema string: it should be a struct, as in 'a INT, b STRING'.");
    made->type = type = fm_type_as_nullable(b->arena, type);
    made->wanted = type ? fm_arena_array(b->arena, int32_t, type->n_fields + 1) : NULL;
    if (!made->wanted) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) made->wanted[i] = i;
    made->zone = b->conf->zone;
    FM_TRY(fm_bind_options(b, 2, &made->options, err));
    FM_TRY(check_mode(b, &made->options, err));
    FM_TRY(new_reader(b->arena, made, &reader, err));
    fm_csv_reader_free(reader);
    b->returns = type;
    b->nullable = true;
    b->bound = made;
    return FM_OK;
}

/* Rows as the reader gives them, a builder a column. */
typedef struct gathered {
    fm_builder **columns;
    int32_t n;
} gathered;

static fm_status take_rows(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    gathered *g = ctx;
    fm_strbuf bytes = {0};
    fm_status st = FM_OK;

    (void)lines;
    for (int32_t c = 0; c < g->n && st == FM_OK; c++)
        for (int32_t i = 0; i < batch->rows && st == FM_OK; i++) { /* by way of bytes: the batch's strings do not stay */
            size_t at = 0;
            fm_strbuf_clear(&bytes);
            st = fm_lane_encode(&batch->columns[c], i, &bytes, err);
            if (st == FM_OK) st = fm_lane_decode(fm_strbuf_str(&bytes), &at, g->columns[c], err);
        }
    fm_strbuf_fini(&bytes);
    return st;
}

static fm_status read_texts(fm_call *call, fm_reader *reader, const fm_vec *texts, gathered *g, fm_arena *scratch)
{
    fm_batch_out out = {g, take_rows};
    fm_read_counts counts = {0};
    fm_block block = {.file = FM_STR("from_csv()")};

    FM_TRY(fm_csv_records_begin(reader, &block, scratch, &out, &counts, call->err));
    for (int32_t i = 0; i < texts->len; i++) {
        if (fm_vec_is_null(texts, i)) continue;
        fm_str text = fm_vec_str(texts, i);
        block.bytes = text.ptr ? text.ptr : "";
        FM_TRY(fm_csv_record(reader, (fm_str){block.bytes, text.len}, call->err));
    }
    return fm_csv_records_end(reader, call->err);
}

/* The rows of the texts that are not null, spread over all lanes. */
static fm_status spread(fm_call *call, gathered *g, const fm_vec *texts, fm_vec *out)
{
    int32_t *from = fm_arena_array(call->arena, int32_t, texts->len + 1), n = 0;
    fm_vec *columns = fm_arena_array(call->arena, fm_vec, g->n + 1);

    if (!from || !columns) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < texts->len; i++) from[i] = fm_vec_is_null(texts, i) ? -1 : n++;
    for (int32_t c = 0; c < g->n; c++) {
        fm_vec dense;
        FM_TRY(fm_builder_finish(g->columns[c], &dense, call->err));
        FM_TRY(fm_vec_gather(&columns[c], &dense, from, texts->len, call->arena, call->err));
    }
    out->children = columns;
    out->validity = texts->validity;
    return FM_OK;
}

static fm_status from_csv(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const csv_call *made = call->bound;
    gathered g = {fm_arena_array(call->arena, fm_builder *, made->type->n_fields + 1), made->type->n_fields};
    fm_arena *scratch = fm_arena_new(0);
    fm_reader *reader = NULL;
    fm_status st = g.columns && scratch ? FM_OK : fm_no_memory(call->arena, call->err);

    for (int32_t c = 0; c < g.n && st == FM_OK; c++) {
        g.columns[c] = fm_builder_new(call->arena, made->type->fields[c].type, out->len);
        if (!g.columns[c]) st = fm_no_memory(call->arena, call->err);
    }
    if (st == FM_OK) st = new_reader(call->arena, made, &reader, call->err);
    if (st == FM_OK) st = read_texts(call, reader, &args[0], &g, scratch);
    if (reader) fm_csv_reader_free(reader);
    fm_arena_free(scratch);
    return st == FM_OK ? spread(call, &g, &args[0], out) : st;
}

const fm_function fm_fn_from_csv = {
    .name = "from_csv", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3, .bind = bind_from_csv,
    .kernel = from_csv, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "from_csv(csvStr, schema[, options])",
    .doc = "Returns a struct parsed from a CSV record.", .since = "3.0.0",
};

/* ---- to_csv ------------------------------------------------------------------------------------------------------- */

static fm_status bind_to_csv(fm_bind *b, fm_error *err)
{
    const fm_type *type = b->args[0]->type;
    fm_options options;
    fm_writer *writer;

    b->returns = fm_type_string();
    if (type->id == FM_TYPE_NULL) return FM_OK;
    if (type->id != FM_TYPE_STRUCT)
        return fm_fail_bind(b, err, "UNSUPPORTED_INPUT_TYPE", "The input of `to_csv` can't be %s type data: write to_csv(struct(a, b)).", type, NULL);
    FM_TRY(fm_bind_options(b, 1, &options, err));
    FM_TRY(fm_csv_printer_new(b->arena, type, &options, b->conf->zone, &writer, err));
    b->bound = writer;
    return FM_OK;
}

static fm_status to_csv(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_view *views = fm_vec_view_out(out);
    fm_strbuf record = {0}, text = {0};
    bool ok = true;

    for (int32_t i = 0; i < call->rows && call->bound; i++) {
        if (fm_vec_is_null(&args[0], i)) continue;
        fm_strbuf_clear(&record);
        fm_csv_print_row((fm_writer *)(uintptr_t)call->bound, args[0].children, i, &text, &record);
        views[i] = fm_view_copy(call->arena, record.ptr ? record.ptr : "", record.len, &ok);
    }
    ok &= fm_strbuf_ok(&record) && fm_strbuf_ok(&text);
    fm_strbuf_fini(&record);
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(call->arena, call->err);
}

const fm_function fm_fn_to_csv = {
    .name = "to_csv", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_to_csv, .kernel = to_csv,
    .nulls = FM_NULLS_STRICT, .usage = "to_csv(expr[, options])", .doc = "Returns a struct as a CSV record.", .since = "3.0.0",
};
