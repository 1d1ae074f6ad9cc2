/* format/fn_json_keys.c: what JSON text holds at its top: json_tuple (a generator), json_array_length, json_object_keys.
 *
 * Rule   Spark, JsonTuple, LengthOfJsonArray, JsonObjectKeys: text behind the top value is not looked at; text that is no
 *        JSON, or has another top, gives nulls. json_tuple copies what is no text anew (1.50 becomes 1.5); of a field that
 *        stands twice the last counts.
 * Cases  tests/golden/functions/json.test */
#include "expr/call_args.h"
#include "expr/resolve_text.h"
#include "format/fn_json.h"
#include "format/json_reprint.h"
#include "format/utf8.h"

enum { SCAN_FLAGS = FM_JSON_CONTROL_CHARS | FM_JSON_SINGLE_QUOTES };

/* A scanner and what its names lie in, reused from text to text. */
typedef struct top_reader {
    fm_json_scan scan;
    fm_arena *names;
} top_reader;

static fm_status top_open(top_reader *r, fm_error *err)
{
    r->names = fm_arena_new(0);
    if (!r->names) return fm_no_memory(NULL, err);
    fm_status st = fm_json_scan_init(&r->scan, SCAN_FLAGS, err);
    if (st != FM_OK) fm_arena_free(r->names);
    return st;
}

static void top_close(top_reader *r)
{
    fm_json_scan_fini(&r->scan);
    fm_arena_free(r->names);
}

/* The first token of a text. */
static fm_status top_begin(top_reader *r, fm_str text, fm_json_token *first, fm_error *err)
{
    fm_arena_reset(r->names);
    fm_str clean = fm_utf8_repair(text, r->names);
    if (!clean.ptr && text.len) return fm_no_memory(r->names, err);
    fm_json_scan_start(&r->scan, clean.ptr ? clean : FM_STR(""), r->names);
    *first = fm_json_next(&r->scan);
    return FM_OK;
}

/* Text is wanted, not what could be cast to it. */
static fm_status check_text(fm_bind *b, fm_error *err)
{
    if (b->args[0]->type->id != FM_TYPE_STRING && b->args[0]->type->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 0, "\"STRING\"", err);
    b->cast_args[0] = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

/* ---- json_array_length -------------------------------------------------------------------------------------------- */

/* -1: no array. */
static int32_t count_elements(fm_json_scan *s)
{
    for (int32_t n = 0;; n++) {
        fm_json_token t = fm_json_next(s);
        if (t == FM_JT_ARRAY_END) return n;
        if (t == FM_JT_ERROR || t == FM_JT_NONE || !fm_json_skip_children(s)) return -1;
    }
}

static fm_status json_array_length(fm_call *call, const fm_vec *args, fm_vec *out)
{
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(out->len) * 8, true);
    top_reader r;
    fm_status st;
    if (!valid) return fm_no_memory(call->arena, call->err);
    st = top_open(&r, call->err);
    if (st != FM_OK) return st;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_json_token first = FM_JT_NONE;
        int32_t n;
        if (fm_vec_is_null(&args[0], i)) continue;
        st = top_begin(&r, fm_vec_str(&args[0], i), &first, call->err);
        n = st == FM_OK && first == FM_JT_ARRAY ? count_elements(&r.scan) : -1;
        if (n < 0) continue;
        fm_vec_i32_out(out)[i] = n;
        fm_bit_set(valid, i);
    }
    top_close(&r);
    out->validity = valid;
    return st;
}

const fm_function fm_fn_json_array_length = {
    .name = "json_array_length", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_i32, .bind = check_text,
    .kernel = json_array_length, .nulls = FM_NULLS_CUSTOM, .usage = "json_array_length(text)",
    .doc = "Returns how many elements the outermost JSON array has.", .since = "3.1.0",
};

/* ---- json_object_keys --------------------------------------------------------------------------------------------- */

static fm_status bind_keys(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, fm_type_string(), true);
    FM_TRY(check_text(b, err));
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static bool add_keys(fm_json_scan *s, fm_builder *keys)
{
    for (;;) {
        fm_json_token t = fm_json_next(s);
        if (t == FM_JT_OBJECT_END) return true;
        if (t != FM_JT_FIELD) return false;
        fm_builder_str(keys, fm_json_name(s));
        t = fm_json_next(s);
        if (t == FM_JT_ERROR || t == FM_JT_NONE || !fm_json_skip_children(s)) return false;
    }
}

static fm_status json_object_keys(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_builder *b = fm_builder_new(call->arena, out->type, out->len), *keys;
    top_reader r;
    fm_status st;
    if (!b) return fm_no_memory(call->arena, call->err);
    keys = fm_builder_child(b, 0);
    st = top_open(&r, call->err);
    if (st != FM_OK) return st;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_json_token first = FM_JT_NONE;
        int32_t before = fm_builder_len(keys);
        if (!fm_vec_is_null(&args[0], i)) st = top_begin(&r, fm_vec_str(&args[0], i), &first, call->err);
        if (st == FM_OK && first == FM_JT_OBJECT && add_keys(&r.scan, keys)) {
            fm_builder_end(b);
        } else {
            fm_builder_truncate(keys, before);
            fm_builder_null(b);
        }
    }
    top_close(&r);
    return st == FM_OK ? fm_builder_finish(b, out, call->err) : st;
}

const fm_function fm_fn_json_object_keys = {
    .name = "json_object_keys", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_keys,
    .kernel = json_object_keys, .nulls = FM_NULLS_CUSTOM, .usage = "json_object_keys(text)",
    .doc = "Returns the keys of the outermost JSON object.", .since = "3.1.0",
};

/* ---- json_tuple --------------------------------------------------------------------------------------------------- */

static fm_status bind_tuple(fm_bind *b, fm_error *err)
{
    int32_t n = b->n_args - 1;
    fm_field *fields = fm_arena_array(b->arena, fm_field, n + 1);
    if (!fields) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i <= n; i++)
        if (b->args[i]->type->id != FM_TYPE_STRING)
            return fm_fail_bind(b, err, "NON_STRING_TYPE", "All arguments of `json_tuple` must be strings, but there is %s.", b->args[i]->type, NULL);
    for (int32_t i = 0; i < n; i++) {
        fields[i] = (fm_field){fm_arena_printf(b->arena, "c%d", (int)i), fm_type_string(), true};
        if (!fields[i].name.ptr) return fm_no_memory(b->arena, err);
    }
    b->returns = fm_type_struct(b->arena, fields, n);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* What one text gave: of each column its text. */
typedef struct tuple {
    int32_t n;
    fm_strbuf *texts; /* [n] */
    bool *found;      /* [n] */
} tuple;

static bool take_value(fm_json_scan *s, fm_strbuf *out)
{
    fm_strbuf_clear(out);
    if (s->token != FM_JT_STRING) return fm_json_reprint(s, out);
    if (!fm_json_text(s)) return false;
    fm_strbuf_add(out, s->text);
    return true;
}

/* A field is written once and copied to the other columns of its name. */
static bool take_field(fm_json_scan *s, const fm_vec *args, int32_t row, tuple *t)
{
    fm_str name = fm_json_name(s);
    int32_t first = -1;
    for (int32_t c = 0; c < t->n && first < 0; c++)
        if (!fm_vec_is_null(&args[1 + c], row) && fm_str_eq(fm_vec_str(&args[1 + c], row), name)) first = c;
    fm_json_token token = fm_json_next(s);
    if (token == FM_JT_ERROR || token == FM_JT_NONE) return false;
    if (first < 0) return fm_json_skip_children(s);
    t->found[first] = token != FM_JT_NULL;
    if (t->found[first] && !take_value(s, &t->texts[first])) return false;
    for (int32_t c = first + 1; c < t->n; c++) {
        if (fm_vec_is_null(&args[1 + c], row) || !fm_str_eq(fm_vec_str(&args[1 + c], row), fm_vec_str(&args[1 + first], row))) continue;
        t->found[c] = t->found[first];
        fm_strbuf_clear(&t->texts[c]);
        fm_strbuf_add(&t->texts[c], fm_strbuf_str(&t->texts[first]));
    }
    return true;
}

static bool take_fields(fm_json_scan *s, const fm_vec *args, int32_t row, tuple *t)
{
    for (;;) {
        fm_json_token token = fm_json_next(s);
        if (token == FM_JT_OBJECT_END) return true;
        if (token != FM_JT_FIELD || !take_field(s, args, row, t)) return false;
    }
}

static fm_status tuples(top_reader *r, const fm_vec *args, int32_t rows, tuple *t, fm_builder **columns, fm_error *err)
{
    for (int32_t i = 0; i < rows; i++) {
        fm_json_token first = FM_JT_NONE;
        memset(t->found, 0, (size_t)t->n * sizeof *t->found);
        if (!fm_vec_is_null(&args[0], i)) FM_TRY(top_begin(r, fm_vec_str(&args[0], i), &first, err));
        bool whole = first == FM_JT_OBJECT && take_fields(&r->scan, args, i, t);
        for (int32_t c = 0; c < t->n; c++) {
            if (!fm_strbuf_ok(&t->texts[c])) return fm_no_memory(NULL, err);
            if (whole && t->found[c]) fm_builder_str(columns[c], fm_strbuf_str(&t->texts[c]));
            else fm_builder_null(columns[c]);
        }
    }
    return FM_OK;
}

static fm_status run_tuple(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args, int32_t rows, bool outer,
                           fm_arena *arena, fm_generated *out, fm_error *err)
{
    tuple t = {.n = e->n_args - 1};
    int32_t *row_of = fm_arena_array(arena, int32_t, rows + 1);
    fm_vec *columns = fm_arena_array(arena, fm_vec, t.n + 1);
    fm_builder **builders = fm_arena_array(arena, fm_builder *, t.n + 1);
    top_reader r;
    fm_status st;

    (void)conf;
    (void)outer; /* there is always a row */
    t.texts = fm_arena_array(arena, fm_strbuf, t.n + 1);
    t.found = fm_arena_array(arena, bool, t.n + 1);
    if (!row_of || !columns || !builders || !t.texts || !t.found) return fm_no_memory(arena, err);
    for (int32_t c = 0; c < t.n; c++) {
        builders[c] = fm_builder_new(arena, fm_type_string(), rows);
        if (!builders[c]) return fm_no_memory(arena, err);
    }
    for (int32_t i = 0; i < rows; i++) row_of[i] = i;
    st = top_open(&r, err);
    if (st != FM_OK) return st;
    st = tuples(&r, args, rows, &t, builders, err);
    top_close(&r);
    for (int32_t c = 0; c < t.n; c++) {
        if (st == FM_OK) st = fm_builder_finish(builders[c], &columns[c], err);
        fm_strbuf_fini(&t.texts[c]);
    }
    *out = (fm_generated){rows, row_of, columns};
    return st;
}

const fm_generator fm_generator_json_tuple = {
    .name = "json_tuple", .args_min = 2, .args_max = -1, .bind = bind_tuple, .run = run_tuple,
    .usage = "json_tuple(text, field, ...)", .since = "1.6.0",
    .doc = "Gives a column for each named field of a JSON object.",
};
