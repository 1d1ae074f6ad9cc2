/* expr/call.c: resolves calls of scalar functions: counts the arguments, casts them to what the function's
 * entry asks for, resolves lambdas, lets the entry bind.
 *
 * Rule  Spark, ImplicitCastInputTypes and ExpectsInputTypes with AnsiTypeCoercion.implicitCast. */
#include <stdio.h>

#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"

typedef struct resolving {
    fm_arena *arena;
    const fm_session_conf *conf;
    const fm_function *function;
    fm_str name;
    fm_pos pos;
} resolving;

static fm_status fail_count(const resolving *r, int32_t n, fm_error *err)
{
    const fm_function *f = r->function;
    char expected[48];
    if (f->args_max < 0)
        snprintf(expected, sizeof expected, "at least %d", f->args_min);
    else if (f->args_min == f->args_max)
        snprintf(expected, sizeof expected, "%d", f->args_min);
    else
        snprintf(expected, sizeof expected, "%d to %d", f->args_min, f->args_max);
    return fm_fail_at(err, FM_INVALID, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", r->pos.line,
                      r->pos.column,
                      "The `%.*s` requires %s parameters but the actual number is %d. Usage: %s.",
                      FM_STR_ARG(r->name), expected, (int)n, f->usage ? f->usage : f->name);
}

static fm_status fail_unknown(fm_str name, fm_pos pos, fm_error *err)
{
    enum { NAMES_MAX = 2048 };
    const char *names[NAMES_MAX];
    const char *nearest;
    int n, count = 0;
    const fm_function *const *table = fm_functions(&n);
    for (int i = 0; i < n && count < NAMES_MAX - 5; i++) {
        names[count++] = table[i]->name;
        for (int k = 0; k < 4 && table[i]->aliases[k]; k++) names[count++] = table[i]->aliases[k];
    }
    nearest = fm_str_nearest(name, names, count);
    return fm_fail_at(err, FM_INVALID, "UNRESOLVED_ROUTINE", pos.line, pos.column,
                      "Cannot resolve routine `%.*s` on search path [`system`.`builtin`, "
                      "`system`.`session`].%s%s%s",
                      FM_STR_ARG(name), nearest ? " Did you mean `" : "", nearest ? nearest : "",
                      nearest ? "`?" : "");
}

static const char *class_text(uint8_t class)
{
    switch (class) {
    case FM_ARG_BOOL: return "\"BOOLEAN\"";
    case FM_ARG_I32:
    case FM_ARG_I32_ONLY: return "\"INT\"";
    case FM_ARG_I64: return "\"BIGINT\"";
    case FM_ARG_INTEGRAL: return "\"INTEGRAL\"";
    case FM_ARG_NUMERIC: return "\"NUMERIC\"";
    case FM_ARG_F64: return "\"DOUBLE\"";
    case FM_ARG_STRING: return "\"STRING\"";
    case FM_ARG_BINARY: return "\"BINARY\"";
    case FM_ARG_STRING_OR_BINARY: return "\"STRING\" or \"BINARY\"";
    case FM_ARG_DATE: return "\"DATE\"";
    case FM_ARG_TIMESTAMP: return "\"TIMESTAMP\"";
    case FM_ARG_ANY_TIMESTAMP: return "\"TIMESTAMP\" or \"TIMESTAMP_NTZ\"";
    case FM_ARG_LIST: return "\"ARRAY\"";
    case FM_ARG_MAP: return "\"MAP\"";
    case FM_ARG_STRUCT: return "\"STRUCT\"";
    default: return "\"ANY\"";
    }
}

static const char *ordinal_text(int32_t i, char text[16])
{
    static const char *const words[] = {"first", "second", "third", "fourth", "fifth"};
    if (i < 5) return words[i];
    snprintf(text, 16, "%dth", (int)i + 1);
    return text;
}

static fm_status fail_type(const resolving *r, fm_expr *const *args, int32_t n, int32_t i,
                           const char *required, fm_error *err)
{
    fm_strbuf text = {0};
    char ordinal[16];
    fm_status st;
    fm_expr call = {.kind = FM_EXPR_UNRESOLVED_CALL, .name = r->name, .n_args = n,
                    .args = (fm_expr **)(uintptr_t)args};
    fm_strbuf_add_c(&text, "Cannot resolve \"");
    fm_expr_sql(&call, &text);
    fm_strbuf_printf(&text, "\" due to data type mismatch: The %s parameter requires the %s type, however \"",
                     ordinal_text(i, ordinal), required);
    fm_expr_sql(args[i], &text);
    fm_strbuf_add_c(&text, "\" has the type \"");
    fm_type_sql(args[i]->type, &text);
    fm_strbuf_add_c(&text, "\".");
    st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", r->pos.line,
                    r->pos.column, "%s", text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_fail_arg_type(const fm_bind *b, int32_t i, const char *required, fm_error *err)
{
    resolving r = {b->arena, b->conf, NULL, b->name, b->pos};
    return fail_type(&r, b->args, b->n_args, i, required, err);
}

/* The class of argument i: the last one listed repeats. */
static uint8_t class_of(const fm_function *f, int32_t i)
{
    uint8_t last = FM_ARG_ANY;
    for (int32_t k = 0; k < 8 && f->args[k] != FM_ARG_END && k <= i; k++) {
        /* An entry that lists fewer than 8 without FM_ARG_END ends in zeros, which read FM_ARG_ANY. */
        last = f->args[k];
    }
    return last;
}

/* The type an argument of type `from` is cast to for a class; NULL: it does not fit. */
static const fm_type *type_for_class(const resolving *r, uint8_t class, const fm_type *from)
{
    const fm_type *want = NULL;
    switch (class) {
    case FM_ARG_BOOL: want = fm_type_bool(); break;
    case FM_ARG_I32: want = fm_type_i32(); break;
    case FM_ARG_I32_ONLY: return from->id == FM_TYPE_I32 || from->id == FM_TYPE_NULL ? fm_type_i32() : NULL;
    case FM_ARG_I64: want = fm_type_i64(); break;
    case FM_ARG_INTEGRAL:
        if (fm_type_is_integer(from)) return from;
        return from->id == FM_TYPE_NULL ? fm_type_i32() : NULL;
    case FM_ARG_NUMERIC:
        if (fm_type_is_numeric(from)) return from;
        want = fm_type_f64();
        break;
    case FM_ARG_F64: want = fm_type_f64(); break;
    case FM_ARG_STRING: want = fm_type_string(); break;
    case FM_ARG_BINARY: want = fm_type_simple(FM_TYPE_BINARY); break;
    case FM_ARG_STRING_OR_BINARY:
        if (fm_type_is_view(from)) return from;
        want = fm_type_string();
        break;
    case FM_ARG_DATE: want = fm_type_simple(FM_TYPE_DATE); break;
    case FM_ARG_TIMESTAMP: want = fm_type_timestamp(); break;
    case FM_ARG_ANY_TIMESTAMP:
        if (fm_type_is_timestamp(from)) return from;
        want = fm_type_timestamp();
        break;
    case FM_ARG_LIST:
        if (from->id == FM_TYPE_LIST) return from;
        return from->id == FM_TYPE_NULL ? fm_type_list(r->arena, fm_type_null(), true) : NULL;
    case FM_ARG_MAP:
        if (from->id == FM_TYPE_MAP) return from;
        return from->id == FM_TYPE_NULL
                   ? fm_type_map(r->arena, fm_type_null(), fm_type_null(), true)
                   : NULL;
    case FM_ARG_STRUCT: return from->id == FM_TYPE_STRUCT ? from : NULL;
    default: return from;
    }
    if (r->function->exact) return from->id == FM_TYPE_NULL || fm_type_eq(from, want) ? want : NULL;
    return fm_type_implicit(r->conf, from, want) ? want : NULL;
}

static fm_status cast_to_classes(const resolving *r, fm_expr **args, int32_t n, fm_error *err)
{
    const fm_type *same = NULL;
    for (int32_t i = 0; i < n; i++) {
        uint8_t class = class_of(r->function, i);
        const fm_type *to;
        if (class == FM_ARG_LAMBDA || args[i]->kind == FM_EXPR_LAMBDA) continue;
        if (class == FM_ARG_SAME) {
            const fm_type *wider = same ? fm_type_common(r->arena, r->conf, same, args[i]->type)
                                        : args[i]->type;
            if (!wider) {
                fm_strbuf text = {0};
                fm_status st;
                fm_type_sql(same, &text);
                fm_strbuf_add_c(&text, "\" and \"");
                fm_type_sql(args[i]->type, &text);
                st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.DATA_DIFF_TYPES", r->pos.line,
                                r->pos.column,
                                "Cannot resolve \"%.*s\" due to data type mismatch: Input to `%.*s` should "
                                "all be the same type, but it's (\"%s\").",
                                FM_STR_ARG(r->name), FM_STR_ARG(r->name),
                                text.ptr ? text.ptr : "");
                fm_strbuf_fini(&text);
                return st;
            }
            same = wider;
            continue;
        }
        to = type_for_class(r, class, args[i]->type);
        if (!to) return fail_type(r, args, n, i, class_text(class), err);
        FM_TRY(fm_expr_cast(r->arena, r->conf, args[i], to, false, false, &args[i], err));
    }
    for (int32_t i = 0; same && i < n; i++)
        if (class_of(r->function, i) == FM_ARG_SAME)
            FM_TRY(fm_expr_cast(r->arena, r->conf, args[i], same, false, false, &args[i], err));
    return FM_OK;
}

fm_status fm_args_check(fm_arena *arena, const fm_session_conf *conf, const fm_function *shape,
                        fm_str name, fm_pos pos, fm_expr **args, int32_t n, fm_error *err)
{
    resolving r = {arena, conf, shape, name, pos};
    if (n < shape->args_min || (shape->args_max >= 0 && n > shape->args_max))
        return fail_count(&r, n, err);
    return cast_to_classes(&r, args, n, err);
}

static fm_status fail_lambda_count(const resolving *r, int32_t most, int32_t named, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH",
                      r->pos.line, r->pos.column,
                      "Invalid lambda function call. A higher order function expects %d arguments, "
                      "but got %d.",
                      (int)most, (int)named);
}

/* An expression where a lambda is wanted: one that looks at none of its parameters. */
static fm_status make_lambda(const resolving *r, fm_expr *body, fm_expr **out, fm_error *err)
{
    fm_expr *e = fm_expr_new(r->arena, FM_EXPR_LAMBDA, body->pos);
    if (!e) return fm_no_memory(r->arena, err);
    e->args = fm_arena_array(r->arena, fm_expr *, 1);
    if (!e->args) return fm_no_memory(r->arena, err);
    e->args[0] = body;
    e->n_args = 1;
    e->type = body->type;
    e->nullable = body->nullable;
    e->deterministic = body->deterministic;
    *out = e;
    return FM_OK;
}

static fm_status resolve_lambdas(const resolving *r, fm_bind *b, fm_expr **args, int32_t n,
                                 const fm_lambda_resolver *lambdas, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        const fm_type *types[FM_LAMBDA_PARAMS_MAX] = {0};
        bool nullable[FM_LAMBDA_PARAMS_MAX] = {0};
        int32_t most, named;
        if (args[i]->kind != FM_EXPR_LAMBDA) {
            if (class_of(r->function, i) != FM_ARG_LAMBDA) continue;
            FM_TRY(make_lambda(r, args[i], &args[i], err));
        }
        if (!r->function->lambda_params || !lambdas)
            return fm_fail_at(err, FM_INVALID,
                              "INVALID_LAMBDA_FUNCTION_CALL.NON_HIGHER_ORDER_FUNCTION", r->pos.line,
                              r->pos.column,
                              "Invalid lambda function call. A lambda function should only be used in a higher "
                              "order function. However, its class is `%.*s`, which is not one.",
                              FM_STR_ARG(r->name));
        named = most = args[i]->n_parts;
        if (named > FM_LAMBDA_PARAMS_MAX)
            return fail_lambda_count(r, FM_LAMBDA_PARAMS_MAX, named, err);
        FM_TRY(r->function->lambda_params(b, i, types, nullable, &most, err));
        if (named > most || (named < most && named && !(r->function->index_optional && named == most - 1)))
            return fail_lambda_count(r, most, named, err);
        if (args[i]->type) continue; /* resolved before */
        FM_TRY(lambdas->resolve(lambdas->ctx, args[i], types, nullable, named, &args[i], err));
    }
    return FM_OK;
}

/* Casts a resolved lambda's body. */
static fm_status cast_lambda(const resolving *r, fm_expr *lambda, const fm_type *to, fm_expr **out,
                             fm_error *err)
{
    fm_expr *copy;
    if (fm_type_eq(lambda->type, to)) {
        *out = lambda;
        return FM_OK;
    }
    copy = fm_expr_copy_node(r->arena, lambda);
    if (!copy) return fm_no_memory(r->arena, err);
    FM_TRY(fm_expr_cast(r->arena, r->conf, lambda->args[0], to, false, false, &copy->args[0], err));
    copy->type = copy->args[0]->type;
    copy->nullable = copy->args[0]->nullable;
    *out = copy;
    return FM_OK;
}

static fm_status bind(const resolving *r, fm_bind *b, fm_expr **args, int32_t n, fm_error *err)
{
    const fm_function *f = r->function;
    b->cast_args = fm_arena_array(r->arena, const fm_type *, n);
    if (!b->cast_args) return fm_no_memory(r->arena, err);
    if (f->returns) b->returns = f->returns();
    if (f->bind) FM_TRY(f->bind(b, err));
    for (int32_t i = 0; b->cast_args && i < n; i++) {
        if (!b->cast_args[i]) continue;
        if (args[i]->kind == FM_EXPR_LAMBDA)
            FM_TRY(cast_lambda(r, args[i], b->cast_args[i], &args[i], err));
        else
            FM_TRY(fm_expr_cast(r->arena, r->conf, args[i], b->cast_args[i], false, false, &args[i],
                                err));
    }
    fm_assert(b->returns);
    return FM_OK;
}

/* if(c, a, b) and nvl2(x, a, b) are CASE: their branches are evaluated on the rows that take them. *out stays
 * NULL for any other name. */
static fm_status resolve_as_case(const resolving *r, fm_expr **args, int32_t n, fm_expr **out,
                                 fm_error *err)
{
    bool is_if = fm_str_eq_ci(r->name, FM_STR("if"));
    fm_expr call = {.kind = FM_EXPR_UNRESOLVED_CALL, .name = r->name, .n_args = n, .args = args};
    fm_strbuf text = {0};
    fm_expr *node, *condition;

    *out = NULL;
    if (!is_if && !fm_str_eq_ci(r->name, FM_STR("nvl2"))) return FM_OK;
    if (n != 3) {
        static const fm_function usage[] = {
            {.name = "if", .args_min = 3, .args_max = 3, .usage = "if(condition, a, b)"},
            {.name = "nvl2", .args_min = 3, .args_max = 3, .usage = "nvl2(x, a, b)"},
        };
        resolving counted = *r;
        counted.function = &usage[is_if ? 0 : 1];
        return fail_count(&counted, n, err);
    }
    condition = args[0];
    if (!is_if)
        FM_TRY(fm_call_resolve(r->arena, r->conf, FM_STR("isnotnull"), args, 1, r->pos, NULL,
                               &condition, err));
    node = fm_expr_new(r->arena, FM_EXPR_CASE, r->pos);
    if (!node) return fm_no_memory(r->arena, err);
    fm_expr_sql(&call, &text);
    node->name = fm_arena_str(r->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    node->n_args = 3;
    return fm_expr_resolve_node(r->arena, r->conf, node, (fm_expr *[]){condition, args[1], args[2]},
                                out, err);
}

/* decode(x, search, result, search, result ...[, default]) is a CASE, too; null equals null. */
static fm_status resolve_decode(const resolving *r, fm_expr **args, int32_t n, fm_expr **out, fm_error *err)
{
    fm_expr call = {.kind = FM_EXPR_UNRESOLVED_CALL, .name = r->name, .n_args = n, .args = args};
    fm_expr **cases = fm_arena_array(r->arena, fm_expr *, n);
    fm_expr *node = fm_expr_new(r->arena, FM_EXPR_CASE, r->pos);
    fm_strbuf text = {0};
    if (!cases || !node) return fm_no_memory(r->arena, err);
    fm_expr_sql(&call, &text);
    node->name = fm_arena_str(r->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    node->n_args = n - 1;
    for (int32_t i = 1; i < n; i++) {
        cases[i - 1] = args[i];
        if (i % 2 == 1 && i + 1 < n)
            FM_TRY(fm_call_resolve(r->arena, r->conf, FM_STR("<=>"), (fm_expr *[]){args[0], args[i]}, 2, r->pos, NULL,
                                   &cases[i - 1], err));
    }
    return fm_expr_resolve_node(r->arena, r->conf, node, cases, out, err);
}

/* to_char(x, format) of a date or a timestamp is date_format; of bytes it is hex, base64 or decode, by the format. *out stays
 * NULL for numbers. */
static fm_status resolve_to_char(const resolving *r, fm_expr **args, fm_expr **out, fm_error *err)
{
    const fm_type *type = args[0]->type;
    fm_str format;
    fm_value value;
    *out = NULL;
    if (type->id == FM_TYPE_DATE || fm_type_is_timestamp(type))
        return fm_call_resolve(r->arena, r->conf, FM_STR("date_format"), args, 2, r->pos, NULL, out, err);
    if (type->id != FM_TYPE_BINARY) return FM_OK;
    FM_TRY(fm_eval_constant(r->arena, r->conf, args[1], &value, err));
    if (fm_vec_is_null(&value, 0) || value.type->id != FM_TYPE_STRING)
        format = FM_STR("null");
    else
        format = fm_vec_str(&value, 0);
    if (fm_str_eq_ci(format, FM_STR("utf-8")))
        return fm_call_resolve(r->arena, r->conf, FM_STR("decode"), args, 2, r->pos, NULL, out, err);
    if (fm_str_eq_ci(format, FM_STR("hex")) || fm_str_eq_ci(format, FM_STR("base64")))
        return fm_call_resolve(r->arena, r->conf, format.len == 3 ? FM_STR("hex") : FM_STR("base64"), args, 1, r->pos, NULL, out,
                               err);
    return fm_fail_at(err, FM_INVALID, "INVALID_PARAMETER_VALUE.BINARY_FORMAT", r->pos.line, r->pos.column,
                      "The value of parameter(s) `format` in `%.*s` is invalid: expects one of binary formats 'base64', 'hex', "
                      "'utf-8', but got '%.*s'.",
                      FM_STR_ARG(r->name), FM_STR_ARG(format));
}

/* int('5'), date(x) ...: casts by the name of their type. *out stays NULL for any other name. */
static fm_status resolve_as_cast(const resolving *r, fm_expr **args, int32_t n, fm_expr **out, fm_error *err)
{
    const fm_type *type = fm_cast_function_type(r->arena, r->name);
    *out = NULL;
    if (!type) return FM_OK;
    if (n != 1) {
        const fm_function usage = {.name = "cast", .args_min = 1, .args_max = 1, .usage = "type(x), a cast"};
        resolving counted = *r;
        counted.function = &usage;
        return fail_count(&counted, n, err);
    }
    FM_TRY(fm_expr_cast(r->arena, r->conf, args[0], type, true, false, out, err));
    (*out)->implicit = true; /* its text is that of its argument */
    (*out)->pos = r->pos;
    return FM_OK;
}

/* dateadd(unit, n, t) and datediff(unit, a, b) with a unit in front are other functions. */
const char *fm_unit_form(fm_str name)
{
    if (fm_str_eq_ci(name, FM_STR("dateadd")) || fm_str_eq_ci(name, FM_STR("date_add"))) return "timestampadd";
    if (fm_str_eq_ci(name, FM_STR("datediff")) || fm_str_eq_ci(name, FM_STR("date_diff")) ||
        fm_str_eq_ci(name, FM_STR("timediff")))
        return "timestampdiff";
    return NULL;
}

fm_status fm_call_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                          fm_expr **args, int32_t n_args, fm_pos pos,
                          const fm_lambda_resolver *lambdas, fm_expr **out, fm_error *err)
{
    resolving r = {arena, conf, NULL, name, pos};
    fm_bind b = {.arena = arena, .conf = conf, .name = name, .pos = pos, .n_args = n_args};
    fm_expr *e;

    if (n_args > 2 && fm_str_eq_ci(name, FM_STR("decode"))) return resolve_decode(&r, args, n_args, out, err);
    if (n_args == 2 && (fm_str_eq_ci(name, FM_STR("to_char")) || fm_str_eq_ci(name, FM_STR("to_varchar")))) {
        FM_TRY(resolve_to_char(&r, args, out, err));
        if (*out) return FM_OK;
    }
    /* The parser names both signs by their character. */
    if (n_args == 1 && fm_str_eq(name, FM_STR("-")))
        r.function = fm_function_find(FM_STR("negative"));
    else if (n_args == 1 && fm_str_eq(name, FM_STR("+")))
        r.function = fm_function_find(FM_STR("positive"));
    else if (n_args == 3 && fm_unit_form(name))
        r.function = fm_function_find(fm_str_c(fm_unit_form(name)));
    else
        r.function = fm_function_find(name);
    if (!r.function) {
        FM_TRY(resolve_as_case(&r, args, n_args, out, err));
        if (!*out) FM_TRY(resolve_as_cast(&r, args, n_args, out, err));
        if (*out) return FM_OK;
    }
    if (!r.function) return fail_unknown(name, pos, err);
    fm_expr *both[2];
    if (n_args == 2) {
        both[0] = args[0];
        both[1] = args[1];
        FM_TRY(fm_compare_as_whole(arena, fm_str_c(r.function->name), both, out, err));
        if (*out) return FM_OK;
        args = both;
    }
    if (n_args < r.function->args_min ||
        (r.function->args_max >= 0 && n_args > r.function->args_max))
        return fail_count(&r, n_args, err);

    e = fm_expr_new(arena, FM_EXPR_CALL, pos);
    if (!e) return fm_no_memory(arena, err);
    e->name = fm_arena_str(arena, name);
    e->function = r.function;
    e->ansi = conf->ansi;
    e->n_args = n_args;
    e->args = fm_arena_array(arena, fm_expr *, n_args);
    if (!e->args || (name.len && !e->name.ptr)) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n_args; i++) e->args[i] = args[i];
    b.args = e->args;

    FM_TRY(cast_to_classes(&r, e->args, n_args, err));
    FM_TRY(resolve_lambdas(&r, &b, e->args, n_args, lambdas, err));
    for (int32_t i = 0; i < n_args; i++) b.nullable |= e->args[i]->nullable;
    if (r.function->nulls == FM_NULLS_CUSTOM) b.nullable = true;
    FM_TRY(bind(&r, &b, e->args, n_args, err));

    e->type = b.returns;
    e->nullable = b.nullable;
    e->bound = b.bound;
    e->deterministic = !r.function->nondeterministic;
    for (int32_t i = 0; i < n_args; i++) e->deterministic &= e->args[i]->deterministic;
    *out = e;
    return FM_OK;
}
