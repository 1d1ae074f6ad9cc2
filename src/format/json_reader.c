/* format/json_reader.c: blocks of JSON lines -> batches.
 *
 * Each line is a record: an object gives a row, an array of objects a row for each. A record that
 * is bad follows the mode: PERMISSIVE gives a row of what could be read, with the text in the
 * corrupt-record column if there is one; DROPMALFORMED leaves it out; FAILFAST ends the query. With
 * multiLine the block is one record. */
#include "format/json_reader.h"

#include "format/formats.h"
#include "format/json_template.h"
#include "format/lines.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct json_reader {
    const fm_format *format;
    fm_json_options options;
    fm_json_converter converter;
    fm_json_slot root;        /* the wanted columns, but the corrupt-record column */
    fm_json_slot corrupt;     /* that one, STRING */
    const fm_type *schema;    /* of batches */
    int32_t corrupt_at;       /* its index in schema, or -1 */
    fm_json_run run;          /* what was learned of the lines */
    fm_json_run_fn run_lines; /* NULL: with these options every line takes the exact path */
    bool plain_row;           /* the last record was an object, and good */
    /* the batch being filled: */
    bool begun;
    int32_t rows;
    int64_t *lines; /* [FM_BATCH_ROWS_DECODE] */
    /* the call being served: */
    const fm_block *block;
    fm_arena *arena;
    fm_batch_out *out;
    fm_read_counts *counts;
    int64_t line; /* 1-based, of the record being read; 0: not known */
    fm_error *err;
} json_reader;

static fm_status make_types(json_reader *r, fm_arena *arena, const fm_read_spec *spec,
                            fm_error *err)
{
    fm_field *all = fm_arena_array(arena, fm_field, spec->n_wanted);
    fm_field *parsed = fm_arena_array(arena, fm_field, spec->n_wanted);
    int32_t n = 0;

    if (!all || !parsed) return fm_no_memory(arena, err);
    r->corrupt_at = -1;
    for (int32_t i = 0; i < spec->n_wanted; i++) {
        all[i] = spec->schema->fields[spec->wanted[i]];
        FM_TRY(fm_json_type_check(all[i].type, err));
        if (!fm_str_eq(all[i].name, r->options.corrupt_column)) {
            parsed[n++] = all[i];
            continue;
        }
        if (all[i].type->id != FM_TYPE_STRING)
            return fm_fail(
                err, FM_INVALID, "INVALID_CORRUPT_RECORD_TYPE",
                "Column %.*s holds the text of bad records (columnNameOfCorruptRecord): it must be "
                "a nullable STRING.",
                FM_STR_ARG(all[i].name));
        r->corrupt_at = i;
    }
    if (spec->n_wanted == 1 && r->corrupt_at == 0)
        return fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN",
                       "A query of JSON files cannot use the column %.*s alone: whether a record "
                       "is bad depends on "
                       "the other columns. Use at least one of them, too.",
                       FM_STR_ARG(r->options.corrupt_column));
    r->schema = fm_type_struct(arena, all, spec->n_wanted);
    const fm_type *root = fm_type_struct(arena, parsed, n);
    if (!r->schema || !root) return fm_no_memory(arena, err);
    FM_TRY(fm_json_slots_init(&r->root, root, arena, err));
    return fm_json_slots_init(&r->corrupt, fm_type_string(), arena, err);
}

/* A template finds the ends of strings and lines by bytes: options under which a line's end may
 * stand within a string are not for it. */
static bool takes_templates(const fm_json_options *o)
{
    bool newline = o->line_sep.len == 0 || fm_str_eq(o->line_sep, FM_STR("\n"));

    return !o->multi_line && newline && !(o->flags & (FM_JSON_ANY_ESCAPE | FM_JSON_CONTROL_CHARS));
}

fm_status fm_json_reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out,
                             fm_error *err)
{
    json_reader *r = fm_arena_one(arena, json_reader);

    if (!r) return fm_no_memory(arena, err);
    r->format = &fm_format_json;
    FM_TRY(fm_json_options_read(arena, spec->options, spec->zone, spec->corrupt_column, &r->options,
                                err));
    FM_TRY(fm_read_encoding_option(spec->options, true, err));
    FM_TRY(make_types(r, arena, spec, err));
    FM_TRY(fm_json_converter_init(&r->converter, &r->options, err));
    r->run.converter = &r->converter;
    if (takes_templates(&r->options)) r->run_lines = fm_json_run_choose();
    *out = (fm_reader *)r;
    return FM_OK;
}

void fm_json_reader_free(fm_reader *reader)
{
    json_reader *r = (json_reader *)reader;

    if (!r) return;
    fm_json_run_fini(&r->run);
    fm_json_converter_fini(&r->converter);
}

size_t fm_json_reader_whole(fm_reader *reader, const char *bytes, size_t len)
{
    json_reader *r = (json_reader *)reader;

    return r->options.multi_line ? 0 : fm_lines_whole(r->options.line_sep, bytes, len);
}

/* ---- batches ---- */

static fm_status begin(json_reader *r)
{
    fm_arena_reset(r->arena);
    r->rows = 0;
    FM_TRY(fm_json_slots_begin(&r->root, r->arena, r->err));
    if (r->corrupt_at >= 0) FM_TRY(fm_json_slots_begin(&r->corrupt, r->arena, r->err));
    fm_json_run_begin(&r->run);
    r->lines = NULL;
    if (r->line) {
        r->lines = fm_arena_array(r->arena, int64_t, FM_BATCH_ROWS_DECODE);
        if (!r->lines) return fm_no_memory(r->arena, r->err);
    }
    r->begun = true;
    return FM_OK;
}

static fm_status flush(json_reader *r)
{
    const fm_vec *parsed;
    fm_vec corrupt;

    if (!r->begun || r->rows == 0) return FM_OK;
    r->begun = false;
    FM_TRY(fm_json_slots_finish(&r->root, r->rows, r->arena, &parsed, r->err));
    fm_vec *columns = fm_arena_array(r->arena, fm_vec, r->schema->n_fields);
    if (!columns) return fm_no_memory(r->arena, r->err);
    if (r->corrupt_at >= 0)
        FM_TRY(fm_json_slot_finish(&r->corrupt, r->rows, r->arena, &corrupt, r->err));
    for (int32_t i = 0; i < r->schema->n_fields; i++)
        columns[i] = i == r->corrupt_at ? corrupt : *parsed++;
    fm_batch batch = {.schema = r->schema, .rows = r->rows, .columns = columns};
    r->counts->rows += r->rows;
    return r->out->push(r->out->ctx, &batch, r->lines, r->err);
}

/* The row at r->rows is complete. record: its text when it is bad, else ptr NULL. */
static fm_status commit(json_reader *r, fm_str record)
{
    if (r->corrupt_at >= 0) {
        if (record.ptr)
            ((fm_view *)r->corrupt.values)[r->rows] = fm_view_of(record.ptr, record.len);
        else
            fm_json_slot_null(&r->corrupt, r->rows);
    }
    if (r->lines) r->lines[r->rows] = r->line;
    r->rows++;
    if (r->rows < FM_BATCH_ROWS_DECODE) return FM_OK;
    FM_TRY(flush(r));
    return begin(r);
}

/* ---- records ---- */

static fm_status fail_fast(json_reader *r, fm_str record)
{
    fm_strbuf why = {0};
    char line[32] = "";

    fm_json_cause_text(&r->converter, &why);
    if (r->line) snprintf(line, sizeof line, " line %" PRId64 ",", r->line);
    fm_str shown = {record.ptr, record.len < 200 ? record.len : 200};
    fm_status st =
        fm_fail(r->err, FM_INVALID, fm_json_cause_condition(&r->converter),
                "Malformed records are detected in record parsing: %.*s. File %.*s,%s byte %" PRId64
                ": %.*s. To read such records as nulls, set option mode to 'PERMISSIVE'; to leave "
                "them out, to "
                "'DROPMALFORMED'.",
                FM_STR_ARG(shown), FM_STR_ARG(r->block->file), line,
                r->block->offset + (int64_t)(record.ptr - r->block->bytes),
                FM_STR_ARG(fm_strbuf_str(&why)));
    fm_strbuf_fini(&why);
    return st;
}

/* A bad record whose row at r->rows holds what could be read (has_row), or nothing. */
static fm_status bad_record(json_reader *r, fm_str record, bool has_row)
{
    r->counts->bad++;
    if (r->options.mode == FM_BAD_FAILFAST) return fail_fast(r, record);
    if (r->options.mode == FM_BAD_DROPMALFORMED) {
        fm_json_slots_undo(&r->root, r->rows);
        return FM_OK;
    }
    if (!has_row)
        for (int32_t i = 0; i < r->root.n_children; i++)
            fm_json_slot_null(&r->root.children[i], r->rows);
    fm_str kept = r->corrupt_at >= 0 ? fm_json_corrupt_text(&r->converter, record, r->arena) : record;
    return kept.ptr ? commit(r, kept) : fm_no_memory(r->arena, r->err);
}

/* A bad record of several rows, as one row that holds nothing but it. */
static fm_status keep_once(json_reader *r, fm_str record)
{
    r->counts->bad--; /* bad_record counts it */
    return bad_record(r, record, false);
}

/* The elements of an array at the top, each a row. keep: commits them, as rows of a bad record if
 * `bad`. */
static fm_status read_elements(json_reader *r, fm_str record, bool keep, bool bad,
                               fm_json_outcome *outcome)
{
    fm_json_converter *c = &r->converter;

    *outcome = FM_JSON_OK;
    for (;;) {
        fm_json_token t = fm_json_next(&c->scan);
        if (t == FM_JT_ARRAY_END || t == FM_JT_NONE) return FM_OK;
        fm_json_outcome o = FM_JSON_BAD;
        if (t == FM_JT_OBJECT) o = fm_json_convert_row(c, &r->root, r->rows);
        if (c->no_memory) return fm_no_memory(r->arena, r->err);
        if (o > *outcome) *outcome = o;
        if (o == FM_JSON_BAD || !keep) fm_json_slots_undo(&r->root, r->rows);
        if (o == FM_JSON_BAD) {
            if (c->cause == FM_JSON_CAUSE_NONE)
                c->cause = t == FM_JT_ERROR ? FM_JSON_CAUSE_TEXT : FM_JSON_CAUSE_ROOT;
            return FM_OK;
        }
        if (keep) FM_TRY(commit(r, bad ? record : (fm_str){NULL, 0}));
    }
}

/* Whether any element is bad decides about all of them, so they are looked at before the first is
 * kept. */
static fm_status read_array(json_reader *r, fm_str record)
{
    fm_json_outcome outcome, again;

    FM_TRY(read_elements(r, record, false, false, &outcome));
    if (outcome == FM_JSON_BAD) return bad_record(r, record, false);
    bool bad = outcome == FM_JSON_PARTIAL;
    if (bad) {
        r->counts->bad++;
        if (r->options.mode == FM_BAD_FAILFAST) return fail_fast(r, record);
        if (r->options.mode == FM_BAD_DROPMALFORMED) return FM_OK;
        if (r->options.corrupt_reason) return keep_once(r, record);
    }
    fm_json_convert_start(&r->converter, record, r->arena);
    return read_elements(r, record, true, bad, &again);
}

static fm_status read_record(json_reader *r, fm_str record)
{
    fm_json_converter *c = &r->converter;
    fm_json_outcome outcome = FM_JSON_BAD;

    r->plain_row = false;
    if (!r->begun) FM_TRY(begin(r));
    switch (fm_json_convert_start(c, record, r->arena)) {
    case FM_JT_NONE: return FM_OK; /* a blank line */
    case FM_JT_ARRAY: return read_array(r, record);
    case FM_JT_OBJECT: outcome = fm_json_convert_row(c, &r->root, r->rows); break;
    case FM_JT_ERROR: break;
    default: c->cause = FM_JSON_CAUSE_ROOT; break;
    }
    if (c->no_memory) return fm_no_memory(r->arena, r->err);
    r->plain_row = outcome == FM_JSON_OK;
    if (outcome == FM_JSON_OK) return commit(r, (fm_str){NULL, 0});
    return bad_record(r, record, outcome == FM_JSON_PARTIAL);
}

/* Takes as many lines as the templates do, from *at on. */
static fm_status take_lines(json_reader *r, const char **at, const char *end)
{
    fm_json_run *run = &r->run;

    if (!r->begun) FM_TRY(begin(r));
    r->converter.arena = r->arena;
    run->at = *at;
    run->end = end;
    run->row = r->rows;
    run->row_end = FM_BATCH_ROWS_DECODE;
    run->lines = r->lines;
    run->line = r->line;
    r->run_lines(run);
    *at = run->at;
    r->rows = run->row;
    if (r->line) r->line = run->line;
    if (r->converter.no_memory) return fm_no_memory(r->arena, r->err);
    if (r->rows < FM_BATCH_ROWS_DECODE) return FM_OK;
    FM_TRY(flush(r));
    return begin(r);
}

static fm_status learn(json_reader *r, fm_str text)
{
    r->run.misses++;
    if (!r->plain_row || text.ptr[text.len - 1] != '\n') return FM_OK;
    return fm_json_learn(&r->run, &r->root, r->corrupt_at >= 0 ? &r->corrupt : NULL, text, r->err);
}

static fm_status read_lines(json_reader *r)
{
    fm_lines lines = {r->block->bytes, r->block->bytes + r->block->len, r->options.line_sep};
    fm_str line;

    for (;;) {
        if (r->run.n_templates > 0) FM_TRY(take_lines(r, &lines.at, lines.end));
        const char *from = lines.at;
        if (!fm_lines_next(&lines, &line)) return FM_OK;
        FM_TRY(read_record(r, line));
        if (r->line) r->line++;
        if (r->run_lines) FM_TRY(learn(r, (fm_str){from, (size_t)(lines.at - from)}));
    }
}

fm_status fm_json_reader_block(fm_reader *reader, const fm_block *block, fm_arena *arena,
                               fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    json_reader *r = (json_reader *)reader;

    r->block = block;
    r->arena = arena;
    r->out = out;
    r->counts = counts;
    r->line = block->first_line;
    r->err = err;
    r->begun = false;
    if (r->options.multi_line)
        FM_TRY(read_record(r, (fm_str){block->bytes, block->len}));
    else
        FM_TRY(read_lines(r));
    return flush(r);
}
