/* expr/resolve_node.c: types of the expressions that are not calls: AND, OR, NOT, CASE, IN, fields. */
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/resolve_text.h"

/* A condition: boolean, or what turns into one: NULL, and strings beside booleans under ANSI. */
static fm_status to_bool(fm_arena *arena, const fm_session_conf *conf, const fm_expr *whole,
                         fm_expr *e, fm_expr **out, fm_error *err)
{
    if (e->type->id == FM_TYPE_BOOL || e->type->id == FM_TYPE_NULL ||
        (e->type->id == FM_TYPE_STRING && conf->ansi && whole->kind != FM_EXPR_CASE))
        return fm_expr_cast(arena, conf, e, fm_type_bool(), false, false, out, err);
    if (whole->kind == FM_EXPR_AND || whole->kind == FM_EXPR_OR)
        return fm_fail_mismatch(err, whole, "BINARY_OP_WRONG_TYPE",
                                "the binary operator requires the input type \"BOOLEAN\", not %s.",
                                e->type, NULL);
    return fm_fail_mismatch(err, whole, "UNEXPECTED_INPUT_TYPE",
                            "The condition requires the \"BOOLEAN\" type, however it has the type %s.",
                            e->type, NULL);
}

static bool may_be_bool(const fm_session_conf *conf, const fm_type *t)
{
    return t->id == FM_TYPE_BOOL || t->id == FM_TYPE_NULL || (t->id == FM_TYPE_STRING && conf->ansi);
}

static fm_status resolve_logic(fm_arena *arena, const fm_session_conf *conf, fm_expr *e,
                               fm_error *err)
{
    if (e->n_args == 2) { /* sides of two types are told so, whatever they are */
        const fm_type *x = e->args[0]->type, *y = e->args[1]->type;
        if ((!may_be_bool(conf, x) || !may_be_bool(conf, y)) && !fm_type_eq(x, y))
            return fm_fail_mismatch(err, e, "BINARY_OP_DIFF_TYPES",
                                    "the left and right operands of the binary operator have incompatible types (%s and %s).",
                                    x, y);
    }
    for (int32_t i = 0; i < e->n_args; i++)
        FM_TRY(to_bool(arena, conf, e, e->args[i], &e->args[i], err));
    e->type = fm_type_bool();
    return FM_OK;
}

static fm_status resolve_case(fm_arena *arena, const fm_session_conf *conf, fm_expr *e,
                              fm_error *err)
{
    int32_t n = e->n_args, branches = n / 2, values = 0;
    bool has_else = n & 1;
    fm_expr **value = fm_arena_array(arena, fm_expr *, branches + 1);
    const fm_type *type;
    if (!value) return fm_no_memory(arena, err);
    for (int32_t k = 0; k < branches; k++) {
        FM_TRY(to_bool(arena, conf, e, e->args[2 * k], &e->args[2 * k], err));
        value[values++] = e->args[2 * k + 1];
    }
    if (has_else) value[values++] = e->args[n - 1];
    type = fm_type_common_of(arena, conf, value, values);
    if (!type)
        return fm_fail_mismatch(err, e, "DATA_DIFF_TYPES",
                                "Input to `casewhen` should all be the same type, but there are %s and %s.",
                                value[0]->type, value[values - 1]->type);
    e->type = type;
    e->nullable = !has_else;
    for (int32_t k = 0; k < branches; k++)
        FM_TRY(fm_expr_cast(arena, conf, e->args[2 * k + 1], type, false, false,
                            &e->args[2 * k + 1], err));
    if (has_else)
        FM_TRY(fm_expr_cast(arena, conf, e->args[n - 1], type, false, false, &e->args[n - 1], err));
    for (int32_t i = 0; i < n; i++)
        if ((i & 1) || i == n - 1) e->nullable |= e->args[i]->nullable;
    return FM_OK;
}

static fm_status resolve_in(fm_arena *arena, const fm_session_conf *conf, fm_expr *e, fm_error *err)
{
    const fm_type *type = fm_type_common_of(arena, conf, e->args, e->n_args);
    bool shape = !type;
    for (int32_t i = 1; shape && i < e->n_args; i++) shape = fm_type_same_shape(e->args[0]->type, e->args[i]->type);
    if (shape) type = e->args[0]->type;
    if (!type)
        return fm_fail_mismatch(err, e, "DATA_DIFF_TYPES",
                                "Input to `in` should all be the same type, but there are %s and %s.",
                                e->args[0]->type, e->args[e->n_args - 1]->type);
    for (int32_t i = 0; i < e->n_args; i++)
        FM_TRY(fm_expr_cast(arena, conf, e->args[i], type, false, false, &e->args[i], err));
    e->type = fm_type_bool();
    return FM_OK;
}

/* The index of a field by name; -1: none, -2: several. */
static int32_t field_index(const fm_session_conf *conf, const fm_type *type, fm_str name)
{
    int32_t found = -1;
    for (int32_t i = 0; i < type->n_fields; i++) {
        bool match = conf->case_sensitive ? fm_str_eq(type->fields[i].name, name)
                                          : fm_str_eq_ci(type->fields[i].name, name);
        if (!match) continue;
        if (found >= 0) return -2;
        found = i;
    }
    return found;
}

static fm_status fail_field(const fm_expr *e, const fm_type *type, fm_str name, int32_t index,
                            fm_error *err)
{
    fm_strbuf text = {0};
    fm_status st;
    for (int32_t i = 0; i < type->n_fields; i++)
        fm_strbuf_printf(&text, "%s`%.*s`", i ? ", " : "", FM_STR_ARG(type->fields[i].name));
    if (index == -2)
        st = fm_fail_at(err, FM_INVALID, "AMBIGUOUS_REFERENCE_TO_FIELDS", e->pos.line, e->pos.column,
                        "Ambiguous reference to the field `%.*s`. It appears several times in the "
                        "schema: %s.",
                        FM_STR_ARG(name), text.ptr ? text.ptr : "");
    else
        st = fm_fail_at(err, FM_INVALID, "FIELD_NOT_FOUND", e->pos.line, e->pos.column,
                        "No such struct field `%.*s` in %s.", FM_STR_ARG(name),
                        text.ptr ? text.ptr : "an empty struct");
    fm_strbuf_fini(&text);
    return st;
}

static fm_status resolve_field(fm_arena *arena, fm_expr *e, fm_error *err)
{
    const fm_type *type = e->args[0]->type;
    (void)arena;
    if (type->id != FM_TYPE_STRUCT || e->index < 0 || e->index >= type->n_fields)
        return fm_fail_mismatch(err, e, "UNEXPECTED_INPUT_TYPE",
                                "A field is taken of a \"STRUCT\", however the value has the type %s.", type,
                                NULL);
    e->type = type->fields[e->index].type;
    if (!e->name.len) e->name = type->fields[e->index].name;
    e->nullable = e->args[0]->nullable || type->fields[e->index].nullable;
    return FM_OK;
}

/* base.name, base[key]. A void base gives a void. */
static fm_status resolve_extract(fm_arena *arena, const fm_session_conf *conf, fm_expr *e,
                                 fm_expr **out, fm_error *err)
{
    fm_expr *base = e->args[0], *key = e->args[1];
    const fm_type *type = base->type;
    bool by_name = key->kind == FM_EXPR_LITERAL && key->type->id == FM_TYPE_STRING &&
                   !fm_vec_is_null(&key->value, 0);
    const fm_type *of = type->id == FM_TYPE_LIST ? type->fields[0].type : type;

    if (by_name && of->id == FM_TYPE_STRUCT) {
        fm_str name = fm_vec_str(&key->value, 0);
        int32_t index = field_index(conf, of, name);
        if (index < 0) return fail_field(e, of, name, index, err);
        if (type->id == FM_TYPE_LIST)
            return fm_call_resolve(arena, conf, FM_STR("."), e->args, 2, e->pos, NULL, out, err);
        e->kind = FM_EXPR_FIELD;
        e->index = index;
        e->n_args = 1;
        e->name = of->fields[index].name;
        *out = e;
        return resolve_field(arena, e, err);
    }
    if (type->id == FM_TYPE_LIST || type->id == FM_TYPE_MAP)
        return fm_call_resolve(arena, conf, FM_STR("[]"), e->args, 2, e->pos, NULL, out, err);
    if (type->id == FM_TYPE_STRUCT)
        return fm_fail_at(err, FM_INVALID, "INVALID_EXTRACT_FIELD", e->pos.line, e->pos.column,
                          "Cannot extract a field from a struct by a key that is not a name: write it as "
                          "base.field or base['field'].");
    if (type->id == FM_TYPE_NULL) {
        *out = fm_expr_literal_null(arena, fm_type_null());
        return *out ? FM_OK : fm_no_memory(arena, err);
    }
    return fm_fail_extract(err, e);
}

/* DATE '2026-01-01': the text is read now, on the session's clock. */
static fm_status resolve_typed(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e, fm_expr *text,
                               fm_expr **out, fm_error *err)
{
    fm_expr *literal = fm_expr_literal_null(arena, e->cast_type);
    fm_strbuf shown = {0};
    if (!literal) return fm_no_memory(arena, err);
    if (fm_cast_run(&text->value, e->cast_type, FM_CAST_TRY, conf, arena, &literal->value, err) != FM_OK ||
        fm_vec_is_null(&literal->value, 0))
        return fm_fail_at(err, FM_INVALID, "INVALID_TYPED_LITERAL", e->pos.line, e->pos.column,
                          "The value of the typed literal \"%.*s\" is invalid: '%.*s'.", FM_STR_ARG(e->name),
                          FM_STR_ARG(fm_vec_str(&text->value, 0)));
    literal->pos = e->pos;
    literal->sql = e->sql;
    literal->nullable = false;
    if (e->cast_type->id == FM_TYPE_TIMESTAMP) { /* a zone in the text is gone: it shows the session's clock */
        fm_strbuf_add_c(&shown, "TIMESTAMP '");
        fm_value_text(&literal->value, 0, conf->zone, &shown);
        fm_strbuf_add_c(&shown, "'");
    } else {
        fm_expr_sql(e, &shown);
    }
    literal->name = fm_arena_str(arena, fm_strbuf_str(&shown));
    fm_strbuf_fini(&shown);
    *out = literal;
    return FM_OK;
}

fm_status fm_expr_resolve_node(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e,
                               fm_expr **args, fm_expr **out, fm_error *err)
{
    fm_expr *copy = fm_expr_copy_node(arena, e);
    if (!copy) return fm_no_memory(arena, err);
    copy->args = fm_arena_array(arena, fm_expr *, e->n_args);
    if (!copy->args) return fm_no_memory(arena, err);
    copy->nullable = false;
    copy->deterministic = true;
    for (int32_t i = 0; i < e->n_args; i++) {
        copy->args[i] = args[i];
        copy->nullable |= args[i]->nullable;
        copy->deterministic &= args[i]->deterministic;
    }
    *out = copy;
    switch (e->kind) {
    case FM_EXPR_AND:
    case FM_EXPR_OR:
    case FM_EXPR_NOT: return resolve_logic(arena, conf, copy, err);
    case FM_EXPR_CASE: return resolve_case(arena, conf, copy, err);
    case FM_EXPR_IN_LIST: return resolve_in(arena, conf, copy, err);
    case FM_EXPR_FIELD: return resolve_field(arena, copy, err);
    case FM_EXPR_EXTRACT: return resolve_extract(arena, conf, copy, out, err);
    case FM_EXPR_ALIAS:
        copy->type = args[0]->type;
        return FM_OK;
    case FM_EXPR_CAST:
        if (e->name.len) return resolve_typed(arena, conf, e, args[0], out, err);
        return fm_expr_cast(arena, conf, args[0], e->cast_type, true, e->try_cast, out, err);
    case FM_EXPR_SORT_KEY:
        copy->type = args[0]->type;
        return FM_OK;
    default:
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_EXPRESSION_NOT_RESOLVABLE", e->pos.line,
                          e->pos.column, "This expression cannot be given a type by itself.");
    }
}
