/* format/json_parse_vec.c: from_json: a vector of texts -> a vector of structs, lists or maps.
 *
 * Structs are made as rows of a file are: the texts are laid one behind the other, each with a newline, into slots by
 * templates (json_template.h), and by the exact path when no template takes one. A template may not run over the end of its
 * text, so each text is a run of its own. Lists and maps are built lane by lane. */
#include "format/json_convert.h"
#include "format/json_template.h"
#include "format/utf8.h"

#include "format/json.h"

#include <inttypes.h>

struct fm_json_parser {
    fm_json_options options;
    fm_arena *arena;
    const fm_type *type;   /* of the result */
    const fm_type *parsed; /* the same without the corrupt-record column */
    int32_t corrupt_at;    /* index of that column in a struct; -1: none */
    fm_json_converter converter;
    /* STRUCT: */
    fm_json_slot root;        /* of `parsed` */
    fm_json_slot corrupt;
    fm_json_run run;          /* what was learned of the texts */
    fm_json_run_fn run_texts; /* NULL: with these options every text takes the exact path */
    bool learned_newlines;    /* some text learned from had a newline within */
};

static fm_status find_corrupt_column(fm_json_parser *p, fm_error *err)
{
    const fm_type *type = p->type;
    int32_t n = 0;

    p->corrupt_at = -1;
    p->parsed = type;
    if (type->id != FM_TYPE_STRUCT) return FM_OK;
    fm_field *fields = fm_arena_array(p->arena, fm_field, type->n_fields);
    if (!fields) return fm_no_memory(p->arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (!fm_str_eq(type->fields[i].name, p->options.corrupt_column)) {
            fields[n++] = type->fields[i];
            continue;
        }
        if (type->fields[i].type->id != FM_TYPE_STRING)
            return fm_fail(err, FM_INVALID, "INVALID_CORRUPT_RECORD_TYPE",
                           "Field %.*s holds the text of bad records (columnNameOfCorruptRecord): "
                           "it must be a "
                           "nullable STRING.",
                           FM_STR_ARG(type->fields[i].name));
        p->corrupt_at = i;
    }
    p->parsed = fm_type_struct(p->arena, fields, n);
    return p->parsed ? FM_OK : fm_no_memory(p->arena, err);
}

static void parser_fini(void *parser)
{
    fm_json_parser *p = parser;

    fm_json_run_fini(&p->run);
    fm_json_converter_fini(&p->converter);
}

/* A template finds the ends of strings by bytes: options under which a newline may stand within one are not for it. */
static fm_status make_slots(fm_json_parser *p, fm_error *err)
{
    FM_TRY(fm_json_slots_init(&p->root, p->parsed, p->arena, err));
    FM_TRY(fm_json_slots_init(&p->corrupt, fm_type_string(), p->arena, err));
    p->run.converter = &p->converter;
    if (!(p->options.flags & (FM_JSON_ANY_ESCAPE | FM_JSON_CONTROL_CHARS))) p->run_texts = fm_json_run_choose();
    return FM_OK;
}

fm_status fm_json_parser_new(fm_arena *arena, const fm_type *type, const fm_options *options,
                             const fm_zone *zone, fm_json_parser **out, fm_error *err)
{
    fm_json_parser *p = fm_arena_one(arena, fm_json_parser);

    if (!p) return fm_no_memory(arena, err);
    p->arena = arena;
    p->type = type;
    if (type->id != FM_TYPE_STRUCT && type->id != FM_TYPE_LIST && type->id != FM_TYPE_MAP)
        return fm_fail(
            err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_JSON_SCHEMA",
            "from_json makes a struct, an array or a map: give a schema like 'a INT, b STRING'.");
    FM_TRY(fm_json_type_check(type, err));
    FM_TRY(fm_json_options_read(arena, options, zone, FM_STR("_corrupt_record"), &p->options, err));
    if (p->options.mode == FM_BAD_DROPMALFORMED)
        return fm_fail(err, FM_INVALID, "PARSE_MODE_UNSUPPORTED",
                       "The function from_json does not support the mode DROPMALFORMED. Use "
                       "PERMISSIVE or FAILFAST.");
    p->options.exact_text = false;
    p->options.array_is_rows = false;
    FM_TRY(find_corrupt_column(p, err));
    FM_TRY(fm_json_converter_init(&p->converter, &p->options, err));
    if (!fm_arena_defer(arena, parser_fini, p)) {
        parser_fini(p);
        return fm_no_memory(arena, err);
    }
    if (type->id == FM_TYPE_STRUCT) FM_TRY(make_slots(p, err));
    *out = p;
    return FM_OK;
}

/* One call's state. */
typedef struct parsing {
    fm_json_parser *p;
    fm_json_converter *c;
    fm_builder *values; /* lists and maps */
    fm_arena *arena;
    fm_error *err;
} parsing;

/* A list of structs is also made of one object. */
static fm_json_outcome list_of_one(parsing *s)
{
    int32_t len = fm_builder_len(s->values);
    fm_json_outcome o =
        fm_json_convert_lane(s->c, s->p->parsed->fields[0].type, fm_builder_child(s->values, 0));

    if (o == FM_JSON_BAD)
        fm_builder_truncate(s->values, len);
    else
        fm_builder_end(s->values);
    return o;
}

static fm_json_outcome convert_root(parsing *s, fm_json_token t)
{
    const fm_type *type = s->p->parsed;

    if (t == FM_JT_ERROR) return FM_JSON_BAD;
    if (t == FM_JT_OBJECT && type->id == FM_TYPE_LIST && type->fields[0].type->id == FM_TYPE_STRUCT)
        return list_of_one(s);
    if (t == FM_JT_OBJECT || t == FM_JT_ARRAY) return fm_json_convert_lane(s->c, type, s->values);
    s->c->cause = FM_JSON_CAUSE_ROOT;
    return FM_JSON_BAD;
}

static fm_status fail_fast(parsing *s, fm_str text)
{
    fm_strbuf why = {0};
    fm_str shown = {text.ptr, text.len < 200 ? text.len : 200};

    fm_json_cause_text(s->c, &why);
    fm_status st = fm_fail(s->err, FM_INVALID, fm_json_cause_condition(s->c),
                           "Malformed records are detected in record parsing: %.*s: %.*s. To get "
                           "nulls for such texts, "
                           "call from_json with the option mode 'PERMISSIVE'.",
                           FM_STR_ARG(shown), FM_STR_ARG(fm_strbuf_str(&why)));
    fm_strbuf_fini(&why);
    return st;
}

static fm_status parse_lane(parsing *s, fm_str text)
{
    fm_str clean = fm_utf8_repair(text, s->arena);

    if (!clean.ptr) return fm_no_memory(s->arena, s->err);
    fm_json_token t = fm_json_convert_start(s->c, clean, s->arena);
    if (t == FM_JT_NONE) { /* nothing but blanks */
        fm_builder_null(s->values);
        return FM_OK;
    }
    s->c->record++;
    fm_json_outcome o = convert_root(s, t);
    if (s->c->no_memory) return fm_no_memory(s->arena, s->err);
    if (o != FM_JSON_OK && s->p->options.mode == FM_BAD_FAILFAST) return fail_fast(s, text);
    if (o == FM_JSON_BAD) fm_builder_null(s->values);
    return FM_OK;
}

static fm_status parse_lanes(parsing *s, const fm_vec *texts, fm_vec *out)
{
    s->values = fm_builder_new(s->arena, s->p->parsed, texts->len);
    if (!s->values) return fm_no_memory(s->arena, s->err);
    for (int64_t i = 0; i < texts->len; i++) {
        if (fm_vec_is_null(texts, i)) fm_builder_null(s->values);
        else FM_TRY(parse_lane(s, fm_vec_str(texts, i)));
    }
    return fm_builder_finish(s->values, out, s->err);
}

/* ---- rows ---- */

/* Row `row` is a null struct. */
static void null_row(parsing *s, int32_t row)
{
    for (int32_t i = 0; i < s->p->root.n_children; i++) fm_json_slot_null(&s->p->root.children[i], row);
    fm_bit_clear(s->p->root.validity, row);
    s->p->root.has_null = true;
    if (s->p->corrupt_at >= 0) fm_json_slot_null(&s->p->corrupt, row);
}

static fm_json_outcome convert_row(parsing *s, fm_json_token t, int32_t row)
{
    if (t == FM_JT_OBJECT) return fm_json_convert_row(s->c, &s->p->root, row);
    if (t != FM_JT_ERROR) s->c->cause = t == FM_JT_ARRAY ? FM_JSON_CAUSE_ARRAY : FM_JSON_CAUSE_ROOT;
    return FM_JSON_BAD;
}

static fm_status keep_corrupt(parsing *s, fm_str text, int32_t row)
{
    fm_str kept = fm_json_corrupt_text(s->c, text, s->arena);

    if (!kept.ptr) return fm_no_memory(s->arena, s->err);
    ((fm_view *)s->p->corrupt.values)[row] = fm_view_of(kept.ptr, kept.len);
    return FM_OK;
}

/* The exact path. text: with its newline, in the block. */
static fm_status parse_row(parsing *s, fm_str text, int32_t row)
{
    fm_json_parser *p = s->p;
    fm_str clean = fm_utf8_repair((fm_str){text.ptr, text.len - 1}, s->arena);

    if (!clean.ptr) return fm_no_memory(s->arena, s->err);
    fm_json_token t = fm_json_convert_start(s->c, clean, s->arena);
    if (t == FM_JT_NONE) { /* nothing but blanks */
        null_row(s, row);
        return FM_OK;
    }
    fm_json_outcome o = convert_row(s, t, row);
    if (s->c->no_memory) return fm_no_memory(s->arena, s->err);
    if (o != FM_JSON_OK && p->options.mode == FM_BAD_FAILFAST) return fail_fast(s, clean);
    if (o == FM_JSON_BAD) {
        for (int32_t i = 0; i < p->root.n_children; i++) fm_json_slot_null(&p->root.children[i], row);
    }
    if (p->corrupt_at >= 0) {
        if (o == FM_JSON_OK) fm_json_slot_null(&p->corrupt, row);
        else FM_TRY(keep_corrupt(s, clean, row));
    }
    p->run.misses++;
    if (!p->run_texts || o != FM_JSON_OK || clean.ptr != text.ptr) return FM_OK;
    if (memchr(text.ptr, '\n', text.len - 1)) p->learned_newlines = true;
    return fm_json_learn(&p->run, &p->root, p->corrupt_at >= 0 ? &p->corrupt : NULL, text, s->err);
}

/* The texts of rows from .. to - 1 as they lie in the block. */
typedef struct laid_out {
    char *at;
    int32_t from, to;
    bool one_line_each; /* no text has a newline within */
} laid_out;

/* Each text with a newline behind it, and padding behind the last. */
static fm_status lay_out(parsing *s, const fm_vec *texts, int32_t from, int32_t to, laid_out *out)
{
    size_t size = 0;

    for (int32_t i = from; i < to; i++) size += fm_vec_str(texts, i).len + 1;
    char *block = fm_arena_buffer(s->arena, size + FM_BLOCK_PADDING, false), *at = block;
    if (!block) return fm_no_memory(s->arena, s->err);
    *out = (laid_out){block, from, to, true};
    for (int32_t i = from; i < to; i++) {
        fm_str text = fm_vec_str(texts, i);
        if (text.len) memcpy(at, text.ptr, text.len);
        if (text.len && memchr(at, '\n', text.len)) out->one_line_each = false;
        at[text.len] = '\n';
        at += text.len + 1;
    }
    memset(at, 0, FM_BLOCK_PADDING);
    return FM_OK;
}

/* Lets the templates take texts from row i on, as many as they can if each is a line; returns how many they took. A template
 * goes by bytes: where newlines stand within texts it may take a part of one, or two, and nothing is taken then. */
static int32_t take_rows(parsing *s, const fm_vec *texts, const laid_out *block, const char *at, int32_t i)
{
    fm_json_run *run = &s->p->run;
    bool lines = block->one_line_each && !s->p->learned_newlines;
    int32_t to = i + 1, first = i - block->from;
    const char *end = at + fm_vec_str(texts, i).len + 1;

    for (; lines && to < block->to && !fm_vec_is_null(texts, to); to++) end += fm_vec_str(texts, to).len + 1;
    run->at = at;
    run->end = end;
    run->row = first;
    run->row_end = to - block->from;
    s->p->run_texts(run);
    if (lines || run->at == run->end || run->row == first) return run->row - first;
    fm_json_slots_undo(&s->p->root, first);
    if (s->p->corrupt_at >= 0) fm_json_slots_undo(&s->p->corrupt, first);
    return 0;
}

/* The parsed fields, with the corrupt-record column put back in its place. */
static fm_status finish_rows(parsing *s, int32_t rows, fm_vec *out)
{
    const fm_json_parser *p = s->p;
    fm_vec corrupt, *children = fm_arena_array(s->arena, fm_vec, p->type->n_fields);

    if (!children) return fm_no_memory(s->arena, s->err);
    FM_TRY(fm_json_slot_finish(&s->p->root, rows, s->arena, out, s->err));
    if (p->corrupt_at < 0) return FM_OK;
    FM_TRY(fm_json_slot_finish(&s->p->corrupt, rows, s->arena, &corrupt, s->err));
    const fm_vec *parsed = out->children;
    for (int32_t i = 0; i < p->type->n_fields; i++) children[i] = i == p->corrupt_at ? corrupt : *parsed++;
    out->type = p->type;
    out->children = children;
    return FM_OK;
}

/* At most FM_BATCH_ROWS_DECODE rows: what slots hold. */
static fm_status parse_rows(parsing *s, const fm_vec *texts, int32_t from, int32_t to, fm_vec *out)
{
    fm_json_parser *p = s->p;
    laid_out block = {0};

    FM_TRY(fm_json_slots_begin(&p->root, s->arena, s->err));
    if (p->corrupt_at >= 0) FM_TRY(fm_json_slots_begin(&p->corrupt, s->arena, s->err));
    FM_TRY(lay_out(s, texts, from, to, &block));
    fm_json_run_begin(&p->run);
    s->c->arena = s->arena;
    const char *at = block.at;
    for (int32_t i = from; i < to; i++) {
        bool null = fm_vec_is_null(texts, i);
        int32_t taken = !null && p->run.n_templates > 0 ? take_rows(s, texts, &block, at, i) : 0;
        if (s->c->no_memory) return fm_no_memory(s->arena, s->err);
        for (; taken > 0; taken--) at += fm_vec_str(texts, i++).len + 1;
        if (i >= to) break;
        fm_str text = {at, fm_vec_str(texts, i).len + 1};
        at += text.len;
        if (fm_vec_is_null(texts, i)) null_row(s, i - from);
        else FM_TRY(parse_row(s, text, i - from));
    }
    return finish_rows(s, to - from, out);
}

fm_status fm_json_parse_vec(fm_json_parser *parser, const fm_vec *texts, fm_arena *arena,
                            fm_vec *out, fm_error *err)
{
    parsing s = {.p = parser, .c = &parser->converter, .arena = arena, .err = err};
    int32_t n_parts = (texts->len - 1) / FM_BATCH_ROWS_DECODE + 1, n = 0;

    parser->converter.no_memory = false;
    if (parser->type->id != FM_TYPE_STRUCT) return parse_lanes(&s, texts, out);
    if (texts->len <= FM_BATCH_ROWS_DECODE) return parse_rows(&s, texts, 0, texts->len, out);
    fm_vec *parts = fm_arena_array(arena, fm_vec, n_parts);
    const fm_vec **all = fm_arena_array(arena, const fm_vec *, n_parts);
    if (!parts || !all) return fm_no_memory(arena, err);
    for (int32_t from = 0, to; from < texts->len; from = to) {
        to = texts->len - from > FM_BATCH_ROWS_DECODE ? from + FM_BATCH_ROWS_DECODE : texts->len;
        FM_TRY(parse_rows(&s, texts, from, to, &parts[n]));
        all[n] = &parts[n];
        n++;
    }
    return fm_vec_concat(out, all, n, arena, err);
}
