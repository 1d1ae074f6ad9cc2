/* expr/fn_struct.c: struct(a, b, ...) and named_struct('x', a, 'y', b, ...): columns side by side. No value is copied.
 *
 * Rule   Spark, CreateNamedStruct: struct names its fields after columns and aliases, and col1, col2, ... else; the result
 *        is never null. */
#include "expr/function.h"

/* The name a column of struct() gets. */
static fm_str field_name(fm_arena *arena, const fm_expr *e, int32_t i)
{
    if (e->kind == FM_EXPR_ALIAS || e->kind == FM_EXPR_ATTRIBUTE || e->kind == FM_EXPR_LAMBDA_VAR) return e->name;
    if (e->kind == FM_EXPR_FIELD && e->args[0]->type) return e->args[0]->type->fields[e->index].name;
    return fm_arena_printf(arena, "col%d", i + 1);
}

static fm_status bind_struct(fm_bind *b, fm_error *err)
{
    fm_field *fields = fm_arena_array(b->arena, fm_field, b->n_args);

    if (!fields) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < b->n_args; i++) {
        fields[i] = (fm_field){field_name(b->arena, b->args[i], i), b->args[i]->type, b->args[i]->nullable};
        if (!fields[i].name.ptr) return fm_no_memory(b->arena, err);
    }
    b->returns = fm_type_struct(b->arena, fields, b->n_args);
    b->nullable = false;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_named_struct(fm_bind *b, fm_error *err)
{
    int32_t n = b->n_args / 2;
    fm_field *fields = fm_arena_array(b->arena, fm_field, n);

    if (!fields) return fm_no_memory(b->arena, err);
    if (b->n_args % 2) {
        return fm_fail_at(err, FM_INVALID, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", b->pos.line, b->pos.column,
                          "The `named_struct` requires 2n (n > 0) parameters but the actual number is %d: write name and value in turn.", b->n_args);
    }
    for (int32_t i = 0; i < n; i++) {
        const fm_expr *name = b->args[2 * i];
        if (name->kind != FM_EXPR_LITERAL || name->type->id != FM_TYPE_STRING || fm_vec_is_null(&name->value, 0)) {
            return fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING", b->pos.line, b->pos.column,
                              "The names of `named_struct` must be texts in quotes; argument %d is none.", 2 * i + 1);
        }
        fields[i] = (fm_field){fm_vec_str(&name->value, 0), b->args[2 * i + 1]->type, b->args[2 * i + 1]->nullable};
    }
    b->returns = fm_type_struct(b->arena, fields, n);
    b->nullable = false;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

/* Every step-th argument, from the first-th on, becomes a field. */
static fm_status pack(fm_call *call, const fm_vec *args, int32_t first, int32_t step, fm_vec *out)
{
    int32_t n = out->type->n_fields;
    fm_vec *children = fm_arena_array(call->arena, fm_vec, n);

    if (!children) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < n; i++) children[i] = args[first + i * step];
    out->validity = NULL;
    out->children = children;
    return FM_OK;
}

static fm_status struct_of(fm_call *call, const fm_vec *args, fm_vec *out) { return pack(call, args, 0, 1, out); }
static fm_status named_struct(fm_call *call, const fm_vec *args, fm_vec *out) { return pack(call, args, 1, 2, out); }

const fm_function fm_fn_struct = {
    .name = "struct", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 0, .args_max = -1, .bind = bind_struct, .kernel = struct_of,
    .nulls = FM_NULLS_CUSTOM, .usage = "struct(a, b, ...)", .doc = "Returns a struct of the arguments.", .since = "1.4.0",
};

const fm_function fm_fn_named_struct = {
    .name = "named_struct", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = -1, .bind = bind_named_struct, .kernel = named_struct,
    .nulls = FM_NULLS_CUSTOM, .usage = "named_struct(name1, value1, name2, value2, ...)",
    .doc = "Returns a struct with the given field names and values.", .since = "1.5.0",
};
