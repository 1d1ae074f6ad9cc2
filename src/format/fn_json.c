/* format/fn_json.c: the SQL functions over JSON text: from_json, to_json, get_json_object. They stand here and not in
 * src/expr, since they need the JSON reader; src/expr finds them through the two tables at the end. */
#include "expr/call_args.h"
#include "expr/eval.h"
#include "expr/resolve_text.h"
#include "format/fn_json.h"
#include "format/json.h"
#include "format/json_infer.h"

/* ---- Constant arguments ------------------------------------------------------------------------------------ */

static fm_status not_constant(const fm_bind *b, const char *what, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", b->pos.line, b->pos.column,
                      "The %s of `%.*s` must be a constant: a text in quotes.", what, FM_STR_ARG(b->name));
}

fm_status fm_bind_constant_text(const fm_bind *b, int32_t i, const char *what, fm_str *out, fm_error *err)
{
    fm_value value;

    if (!fm_expr_is_constant(b->args[i]) || b->args[i]->type->id != FM_TYPE_STRING) return not_constant(b, what, err);
    FM_TRY(fm_eval_constant(b->arena, b->conf, b->args[i], &value, err));
    if (fm_vec_is_null(&value, 0)) return not_constant(b, what, err);
    *out = fm_arena_str(b->arena, fm_vec_str(&value, 0));
    return out->ptr ? FM_OK : fm_no_memory(b->arena, err);
}

/* Spark reads the text as a type, then as columns; when it is neither, the first reading is the one that is told of. */
static fm_status fail_schema(fm_str schema, fm_error *as_type, fm_error *err)
{
    int open = 0;
    bool list = false;

    for (size_t i = 0; i < schema.len && strcmp(as_type->condition, "UNSUPPORTED_DATATYPE") == 0; i++) {
        char c = schema.ptr[i];
        open += (c == '<' || c == '(') - (c == '>' || c == ')');
        list |= open == 0 && (c == ',' || (c == ' ' && i && i + 1 < schema.len));
    }
    if (list) return fm_fail(err, FM_INVALID, "PARSE_SYNTAX_ERROR", "The schema '%.*s' cannot be read: write 'a INT, b STRING'.", FM_STR_ARG(schema));
    if (err) *err = *as_type;
    return FM_INVALID;
}

fm_status fm_bind_schema(const fm_bind *b, const fm_type **out, fm_error *err)
{
    fm_error as_type = FM_ERROR_INIT;
    fm_str text;

    if (!fm_expr_is_constant(b->args[1]) || fm_bind_constant_text(b, 1, "schema", &text, NULL) != FM_OK) {
        return fm_fail_at(err, FM_INVALID, "INVALID_SCHEMA.NON_STRING_LITERAL", b->pos.line, b->pos.column,
                          "The input schema of `%.*s` is not a valid schema string: it must be a text in quotes, and not null.",
                          FM_STR_ARG(b->name));
    }
    if (fm_type_parse(b->arena, text, out, &as_type) == FM_OK || fm_type_parse_ddl(b->arena, text, out, NULL) == FM_OK) return FM_OK;
    return fail_schema(text, &as_type, err);
}

/* map('mode', 'FAILFAST'): options. */
fm_status fm_bind_options(const fm_bind *b, int32_t i, fm_options *out, fm_error *err)
{
    fm_value value;

    *out = (fm_options){0};
    if (i >= b->n_args) return FM_OK;
    bool is_map = b->args[i]->type->id == FM_TYPE_MAP && fm_type_is_view(b->args[i]->type->fields[0].type) && fm_type_is_view(b->args[i]->type->fields[1].type);
    bool is_function = b->args[i]->kind == FM_EXPR_CALL && b->args[i]->function && strcmp(b->args[i]->function->name, "map") == 0;
    if (!is_map && is_function)
        return fm_fail_at(err, FM_INVALID, "INVALID_OPTIONS.NON_STRING_TYPE", b->pos.line, b->pos.column, "The options of `%.*s` must be a map of texts to texts: map('name', 'value', ...).", FM_STR_ARG(b->name));
    if (!is_map || !fm_expr_is_constant(b->args[i])) {
        return fm_fail_at(err, FM_INVALID, "INVALID_OPTIONS.NON_MAP_FUNCTION", b->pos.line, b->pos.column, "The options of `%.*s` must be map('name', 'value', ...).", FM_STR_ARG(b->name));
    }
    FM_TRY(fm_eval_constant(b->arena, b->conf, b->args[i], &value, err));
    for (int32_t k = value.offsets[0]; !fm_vec_is_null(&value, 0) && k < value.offsets[1]; k++) {
        if (!fm_options_set(b->arena, out, fm_vec_str(&value.children[0], k), fm_vec_str(&value.children[1], k))) return fm_no_memory(b->arena, err);
    }
    return FM_OK;
}

/* ---- from_json --------------------------------------------------------------------------------------------- */

/* What a parser is made of. A parser learns from row to row and belongs to one thread, while an expression is shared by all
 * workers: so each evaluator of the call makes one of its own, and keeps it. */
typedef struct json_call {
    const fm_type *type;
    fm_options options;
    const fm_zone *zone;
} json_call;

static fm_status bind_from_json(fm_bind *b, fm_error *err)
{
    const fm_type *type;
    json_call *made = fm_arena_one(b->arena, json_call);
    fm_json_parser *parser; /* made here only so that wrong options are said before the query runs */
    fm_error wrong = FM_ERROR_INIT;

    if (!made) return fm_no_memory(b->arena, err);
    if (b->args[0]->type->id != FM_TYPE_STRING && b->args[0]->type->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 0, "\"STRING\"", err);
    b->cast_args[0] = fm_type_string();
    FM_TRY(fm_bind_schema(b, &type, err));
    if (!fm_type_is_nested(type)) {
        return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_JSON_SCHEMA", b->pos.line, b->pos.column,
                          "Input schema of from_json must be a struct, an array or a map: write from_json(text, 'a INT, b STRING').");
    }
    type = fm_type_as_nullable(b->arena, type);
    if (!type) return fm_no_memory(b->arena, err);
    FM_TRY(fm_bind_options(b, 2, &made->options, err));
    fm_status st = fm_json_parser_new(b->arena, type, &made->options, b->conf->zone, &parser, &wrong);
    if (st != FM_OK && strcmp(wrong.condition, "PARSE_MODE_UNSUPPORTED") != 0) { /* that one fails as the query runs, as in Spark */
        if (err) *err = wrong;
        return st;
    }
    made->type = type;
    made->zone = b->conf->zone;
    b->returns = type;
    b->nullable = true;
    b->bound = made;
    return FM_OK;
}

static fm_status from_json(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const json_call *made = call->bound;
    fm_json_parser *parser = *call->state;

    if (!parser) {
        FM_TRY(fm_json_parser_new(call->keep, made->type, &made->options, made->zone, &parser, call->err));
        *call->state = parser;
    }
    return fm_json_parse_vec(parser, &args[0], call->arena, out, call->err);
}

static const fm_function fn_from_json = {
    .name = "from_json", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3, .bind = bind_from_json,
    .kernel = from_json, .nulls = FM_NULLS_CUSTOM, .can_fail = true, .usage = "from_json(jsonStr, schema[, options])",
    .doc = "Returns a struct, array or map parsed from JSON text.", .since = "2.2.0",
};

/* ---- to_json ----------------------------------------------------------------------------------------------- */

static fm_status bind_to_json(fm_bind *b, fm_error *err)
{
    fm_options options;
    fm_json_printer *printer;

    if (!fm_type_is_nested(b->args[0]->type)) {
        return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.INVALID_JSON_SCHEMA", b->pos.line, b->pos.column, "to_json takes a struct, an array or a map: write to_json(struct(a, b)).");
    }
    FM_TRY(fm_bind_options(b, 1, &options, err));
    FM_TRY(fm_json_printer_new(b->arena, b->args[0]->type, &options, b->conf->zone, &printer, err));
    b->returns = fm_type_string();
    b->bound = printer;
    return FM_OK;
}

static fm_status to_json(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_view *views = fm_vec_view_out(out);
    fm_strbuf text = {0};
    bool ok = true;

    for (int32_t i = 0; i < call->rows; i++) {
        if (fm_vec_is_null(&args[0], i)) continue;
        fm_strbuf_clear(&text);
        fm_json_print(call->bound, &args[0], i, &text);
        views[i] = fm_view_copy(call->arena, text.ptr, text.len, &ok);
    }
    ok &= fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(call->arena, call->err);
}

static const fm_function fn_to_json = {
    .name = "to_json", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_to_json, .kernel = to_json,
    .nulls = FM_NULLS_STRICT, .usage = "to_json(expr[, options])", .doc = "Returns a struct, array or map as JSON text.", .since = "2.2.0",
};

/* ---- get_json_object --------------------------------------------------------------------------------------- */

/* The path, compiled when it is a constant; else NULL, and each row compiles its own. */
static fm_status bind_get_json_object(fm_bind *b, fm_error *err)
{
    const fm_json_path *path = NULL;
    fm_str text;

    b->returns = fm_type_string();
    b->nullable = true;
    if (fm_expr_is_constant(b->args[1]) && fm_bind_constant_text(b, 1, "path", &text, NULL) == FM_OK) {
        if (fm_json_path_new(b->arena, text, &path, NULL) != FM_OK) path = NULL; /* no path: every row is null */
    }
    b->bound = path;
    return FM_OK;
}

static fm_status get_json_object(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_view *views = fm_vec_view_out(out);
    uint64_t *valid = fm_arena_buffer(call->arena, (size_t)fm_bit_words(call->rows) * 8, true);
    fm_strbuf text = {0};
    bool ok = valid != NULL;

    for (int32_t i = 0; ok && i < call->rows; i++) {
        const fm_json_path *path = call->bound;
        if (fm_vec_is_null(&args[0], i) || fm_vec_is_null(&args[1], i)) continue;
        if (!path && fm_json_path_new(call->arena, fm_vec_str(&args[1], i), &path, NULL) != FM_OK) continue;
        fm_strbuf_clear(&text);
        if (!fm_json_path_get(path, fm_vec_str(&args[0], i), &text)) continue;
        views[i] = fm_view_copy(call->arena, text.ptr ? text.ptr : "", text.len, &ok);
        fm_bit_set(valid, i);
    }
    ok &= fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    out->validity = valid;
    return ok ? FM_OK : fm_no_memory(call->arena, call->err);
}

static const fm_function fn_get_json_object = {
    .name = "get_json_object", .exact = true, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2, .bind = bind_get_json_object,
    .kernel = get_json_object, .nulls = FM_NULLS_CUSTOM, .usage = "get_json_object(json_txt, path)",
    .doc = "Returns the part of a JSON text that a path names, as text.", .since = "1.5.0",
};

/* ---- schema_of_json ------------------------------------------------------------------------------------------- */

static fm_status bind_schema_of_json(fm_bind *b, fm_error *err)
{
    fm_options options;
    const fm_type *type;
    fm_str *bound = fm_arena_one(b->arena, fm_str), text;
    fm_value value;
    fm_strbuf sql = {0};

    if (!bound) return fm_no_memory(b->arena, err);
    if (b->args[0]->type->id != FM_TYPE_STRING && b->args[0]->type->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 0, "\"STRING\"", err);
    if (!fm_expr_is_constant(b->args[0])) return not_constant(b, "json", err);
    FM_TRY(fm_eval_constant(b->arena, b->conf, b->args[0], &value, err));
    if (fm_vec_is_null(&value, 0)) return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The `json` must not be null.", NULL, NULL);
    text = fm_arena_str(b->arena, fm_vec_str(&value, 0));
    if (!text.ptr) return fm_no_memory(b->arena, err);
    FM_TRY(fm_bind_options(b, 1, &options, err));
    FM_TRY(fm_json_schema_of(&options, b->conf->zone, text, b->arena, &type, err));
    fm_type_sql(type, &sql);
    *bound = fm_arena_str(b->arena, fm_strbuf_str(&sql));
    bool ok = fm_strbuf_ok(&sql) && bound->ptr;
    fm_strbuf_fini(&sql);
    b->returns = fm_type_string();
    b->nullable = false;
    b->bound = bound;
    return ok ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status schema_of_json(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const fm_str *text = call->bound;

    (void)args;
    for (int32_t i = 0; i < out->len; i++) fm_vec_view_out(out)[i] = fm_view_of(text->ptr, text->len);
    return FM_OK;
}

static const fm_function fn_schema_of_json = {
    .name = "schema_of_json", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_schema_of_json,
    .kernel = schema_of_json, .nulls = FM_NULLS_CUSTOM, .usage = "schema_of_json(json[, options])",
    .doc = "Returns the type of a JSON text, as from_json takes it.", .since = "2.4.0",
};

const fm_function *const fm_json_function_table[] = {
    &fm_fn_from_csv, &fn_from_json, &fn_get_json_object, &fm_fn_json_array_length, &fm_fn_json_object_keys, &fn_schema_of_json,
    &fm_fn_to_csv, &fn_to_json, NULL,
};
const fm_generator *const fm_json_generator_table[] = {&fm_generator_json_tuple, NULL};
