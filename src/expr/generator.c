/* expr/generator.c: explode, posexplode, inline and stack; the table and calls of generators.
 *
 * Rule   Spark, ExplodeBase, Inline, Stack: a null or empty collection gives no row; the outer form gives one row
 *        of nulls for it. A null struct in inline(array) is a row of nulls.
 * Cases  tests/golden/functions/explode.test, inline.test, stack.test */
#include "expr/generator.h"

#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval_internal.h"
#include "expr/resolve_text.h"

extern const fm_generator fm_generator_range; /* generator_range.c: not in the table, since only FROM range() makes it */
extern const fm_generator fm_generator_explode, fm_generator_inline, fm_generator_posexplode,
    fm_generator_stack;

static const fm_generator *const table[] = {
    &fm_generator_explode,
    &fm_generator_inline,
    &fm_generator_posexplode,
    &fm_generator_stack,
};

enum { GENERATOR_COUNT = sizeof table / sizeof table[0] };

const fm_generator *const *fm_generators(int *n)
{
    *n = GENERATOR_COUNT;
    return table;
}

static bool is_named(const fm_generator *g, fm_str name, bool *outer)
{
    static const fm_str suffix = {"_outer", 6};
    *outer = false;
    if (fm_str_eq_ci(name, fm_str_c(g->name))) return true;
    if (!g->has_outer || name.len <= suffix.len) return false;
    *outer = fm_str_eq_ci((fm_str){name.ptr + name.len - suffix.len, suffix.len}, suffix) &&
             fm_str_eq_ci((fm_str){name.ptr, name.len - suffix.len}, fm_str_c(g->name));
    return *outer;
}

const fm_generator *fm_generator_find(fm_str name, bool *outer)
{
    for (int i = 0; i < GENERATOR_COUNT; i++)
        if (is_named(table[i], name, outer)) return table[i];
    *outer = false;
    if (fm_str_eq(name, fm_str_c(fm_generator_range.name))) return &fm_generator_range;
    for (int i = 0; fm_json_generator_table[i]; i++)
        if (is_named(fm_json_generator_table[i], name, outer)) return fm_json_generator_table[i];
    return NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

fm_status fm_generator_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                               fm_expr **args, int32_t n_args, bool outer, fm_pos pos,
                               fm_expr **out, fm_error *err)
{
    bool outer_name;
    const fm_generator *generator = fm_generator_find(name, &outer_name);
    fm_bind b = {.arena = arena, .conf = conf, .name = name, .pos = pos, .n_args = n_args};
    fm_function shape;
    fm_generator_bound *bound;
    fm_expr *e;

    if (!generator) return FM_NOT_FOUND;
    shape = (fm_function){.name = generator->name, .args_min = generator->args_min, .args = {FM_ARG_ANY, FM_ARG_END},
                          .args_max = generator->args_max, .usage = generator->usage};
    e = fm_expr_new(arena, FM_EXPR_GENERATOR, pos);
    bound = fm_arena_one(arena, fm_generator_bound);
    if (!e || !bound) return fm_no_memory(arena, err);
    e->name = fm_arena_str(arena, name);
    e->ansi = conf->ansi;
    e->n_args = n_args;
    e->args = fm_arena_array(arena, fm_expr *, n_args);
    b.cast_args = fm_arena_array(arena, const fm_type *, n_args);
    if (!e->args || !b.cast_args || !e->name.ptr) return fm_no_memory(arena, err);
    e->deterministic = true;
    for (int32_t i = 0; i < n_args; i++) {
        e->args[i] = args[i];
        e->deterministic &= args[i]->deterministic;
    }
    FM_TRY(fm_args_check(arena, conf, &shape, name, pos, e->args, n_args, err));
    b.args = e->args;
    FM_TRY(generator->bind(&b, err));
    for (int32_t i = 0; i < n_args; i++)
        if (b.cast_args[i])
            FM_TRY(fm_expr_cast(arena, conf, e->args[i], b.cast_args[i], false, false, &e->args[i],
                                err));
    fm_assert(b.returns && b.returns->id == FM_TYPE_STRUCT);
    *bound = (fm_generator_bound){generator, outer || outer_name, b.bound};
    e->bound = bound;
    e->type = b.returns;
    if (bound->outer) {
        fm_field *fields = fm_arena_array(arena, fm_field, b.returns->n_fields);
        if (!fields) return fm_no_memory(arena, err);
        for (int32_t i = 0; i < b.returns->n_fields; i++) {
            fields[i] = b.returns->fields[i];
            fields[i].nullable = true;
        }
        e->type = fm_type_struct(arena, fields, b.returns->n_fields);
    }
    if (!e->type) return fm_no_memory(arena, err);
    *out = e;
    return FM_OK;
}

fm_status fm_generator_run(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                           int32_t rows, fm_arena *arena, fm_generated *out, fm_error *err)
{
    const fm_generator_bound *bound = e->bound;
    return bound->generator->run(e, conf, args, rows, bound->outer, arena, out, err);
}

/* ---- explode, posexplode, inline --------------------------------------------------------------------------- */

static fm_status fail_size(fm_error *err)
{
    return fm_fail(err, FM_LIMIT, "FLOODMARK_GENERATOR_TOO_LARGE",
                   "A generator gives more than %d rows for one batch.", INT32_MAX);
}

/* One output row per element: which input row, which element (-1: a row of nulls), its place in the list. */
typedef struct elements {
    int32_t rows;
    int32_t *row_of, *from, *place;
} elements;

static fm_status list_elements(const fm_vec *list, int32_t rows, bool outer, fm_arena *arena,
                               elements *out, fm_error *err)
{
    int64_t total = 0;
    int32_t at = 0;
    for (int32_t i = 0; i < rows; i++) {
        int32_t n = list->offsets[i + 1] - list->offsets[i]; /* 0 where null */
        total += n == 0 ? outer : n;
    }
    if (total > INT32_MAX) return fail_size(err);
    out->rows = (int32_t)total;
    out->row_of = fm_arena_array(arena, int32_t, total);
    out->from = fm_arena_array(arena, int32_t, total);
    out->place = fm_arena_array(arena, int32_t, total);
    if (!out->row_of || !out->from || !out->place) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < rows; i++) {
        int32_t start = list->offsets[i], n = list->offsets[i + 1] - start;
        for (int32_t k = 0; k < n; k++) {
            out->row_of[at] = i;
            out->from[at] = start + k;
            out->place[at++] = k;
        }
        if (n == 0 && outer) {
            out->row_of[at] = i;
            out->from[at] = -1;
            out->place[at++] = -1;
        }
    }
    return FM_OK;
}

static fm_status place_column(const elements *el, fm_arena *arena, fm_vec *out, fm_error *err)
{
    uint64_t *valid = fm_arena_buffer(arena, (size_t)fm_bit_words(el->rows) * 8, true);
    FM_TRY(fm_vec_init(out, fm_type_i32(), el->rows, arena, err));
    if (!valid) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < el->rows; i++) {
        if (el->place[i] < 0) continue;
        fm_bit_set(valid, i);
        fm_vec_i32_out(out)[i] = el->place[i];
    }
    out->validity = valid;
    return FM_OK;
}

static fm_status run_elements(const fm_vec *list, int32_t rows, bool outer, bool with_place,
                              fm_arena *arena, fm_generated *out, fm_error *err)
{
    elements el = {0};
    int32_t at = 0;
    fm_vec *columns = fm_arena_array(arena, fm_vec, 3);
    if (!columns) return fm_no_memory(arena, err);
    FM_TRY(list_elements(list, rows, outer, arena, &el, err));
    if (with_place) FM_TRY(place_column(&el, arena, &columns[at++], err));
    for (int32_t c = 0; c < list->type->n_fields; c++)
        FM_TRY(fm_vec_gather(&columns[at++], &list->children[c], el.from, el.rows, arena, err));
    *out = (fm_generated){el.rows, el.row_of, columns};
    return FM_OK;
}

static fm_status bind_elements(fm_bind *b, bool with_place, fm_error *err)
{
    const fm_type *t = b->args[0]->type;
    fm_field fields[3];
    int32_t n = 0;
    if (t->id != FM_TYPE_LIST && t->id != FM_TYPE_MAP)
        return fm_fail_arg_type(b, 0, "(\"ARRAY\" or \"MAP\")", err);
    if (with_place) fields[n++] = (fm_field){FM_STR("pos"), fm_type_i32(), false};
    if (t->id == FM_TYPE_LIST) {
        fields[n++] = (fm_field){FM_STR("col"), t->fields[0].type, t->fields[0].nullable};
    } else {
        fields[n++] = (fm_field){FM_STR("key"), t->fields[0].type, false};
        fields[n++] = (fm_field){FM_STR("value"), t->fields[1].type, t->fields[1].nullable};
    }
    b->returns = fm_type_struct(b->arena, fields, n);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status bind_explode(fm_bind *b, fm_error *err) { return bind_elements(b, false, err); }
static fm_status bind_posexplode(fm_bind *b, fm_error *err) { return bind_elements(b, true, err); }

static fm_status run_explode(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                             int32_t rows, bool outer, fm_arena *arena, fm_generated *out,
                             fm_error *err)
{
    (void)e;
    (void)conf;
    return run_elements(&args[0], rows, outer, false, arena, out, err);
}

static fm_status run_posexplode(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                                int32_t rows, bool outer, fm_arena *arena, fm_generated *out,
                                fm_error *err)
{
    (void)e;
    (void)conf;
    return run_elements(&args[0], rows, outer, true, arena, out, err);
}

static fm_status bind_inline(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[0]->type, *element;
    fm_field *fields;
    if (t->id != FM_TYPE_LIST || t->fields[0].type->id != FM_TYPE_STRUCT)
        return fm_fail_arg_type(b, 0, "\"ARRAY<STRUCT>\"", err);
    element = t->fields[0].type;
    fields = fm_arena_array(b->arena, fm_field, element->n_fields);
    if (!fields) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < element->n_fields; i++) {
        fields[i] = element->fields[i];
        fields[i].nullable |= t->fields[0].nullable;
    }
    b->returns = fm_type_struct(b->arena, fields, element->n_fields);
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status run_inline(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                            int32_t rows, bool outer, fm_arena *arena, fm_generated *out,
                            fm_error *err)
{
    fm_generated structs;
    fm_vec *columns = fm_arena_array(arena, fm_vec, e->type->n_fields);
    (void)conf;
    if (!columns) return fm_no_memory(arena, err);
    FM_TRY(run_elements(&args[0], rows, outer, false, arena, &structs, err));
    for (int32_t i = 0; i < e->type->n_fields; i++) {
        const fm_vec *whole = &structs.columns[0];
        columns[i] = whole->children[i];
        if (whole->validity)
            FM_TRY(fm_vec_mask(&columns[i], &whole->children[i], whole->validity, arena, err));
    }
    *out = (fm_generated){structs.rows, structs.row_of, columns};
    return FM_OK;
}

/* ---- stack ------------------------------------------------------------------------------------------------- */

/* What bind learns of stack(n, ...). */
typedef struct stack_shape {
    int32_t rows, columns;
} stack_shape;

/* The type of column c: that of its first argument that is not a bare NULL. */
static const fm_type *stack_type(const fm_bind *b, const stack_shape *s, int32_t c)
{
    for (int32_t i = 1 + c; i < b->n_args; i += s->columns)
        if (b->args[i]->type->id != FM_TYPE_NULL) return b->args[i]->type;
    return fm_type_null();
}

static fm_status bind_stack(fm_bind *b, fm_error *err)
{
    stack_shape *s = fm_arena_one(b->arena, stack_shape);
    fm_field *fields;
    fm_expr *count;
    fm_value n;
    if (!s) return fm_no_memory(b->arena, err);
    if (!fm_expr_is_constant(b->args[0]))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT",
                            "the input `n` should be a foldable \"INT\" expression.", NULL, NULL);
    if (!fm_type_implicit(b->conf, b->args[0]->type, fm_type_i32()) || b->args[0]->type->id == FM_TYPE_NULL)
        return fm_fail_arg_type(b, 0, "\"INT\"", err);
    FM_TRY(fm_expr_cast(b->arena, b->conf, b->args[0], fm_type_i32(), false, false, &count, err));
    FM_TRY(fm_eval_constant(b->arena, b->conf, count, &n, err));
    if (fm_vec_is_null(&n, 0))
        return fm_fail_bind(b, err, "UNEXPECTED_NULL", "The `n` must not be null.", NULL, NULL);
    if (fm_vec_i32(&n)[0] < 1)
        return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE",
                            "The `n` must be between (0, 2147483647] (current value <= 0).", NULL,
                            NULL);
    s->rows = fm_vec_i32(&n)[0];
    s->columns = (int32_t)(((int64_t)b->n_args - 1 + s->rows - 1) / s->rows);
    fields = fm_arena_array(b->arena, fm_field, s->columns);
    if (!fields) return fm_no_memory(b->arena, err);
    for (int32_t c = 0; c < s->columns; c++) {
        fm_str name = fm_arena_printf(b->arena, "col%d", (int)c);
        const fm_type *type = stack_type(b, s, c);
        if (!name.ptr) return fm_no_memory(b->arena, err);
        fields[c] = (fm_field){name, type, true};
        for (int32_t i = 1 + c; i < b->n_args; i += s->columns) {
            if (b->args[i]->type->id == FM_TYPE_NULL)
                b->cast_args[i] = type;
            else if (!fm_type_eq(b->args[i]->type, type))
                return fm_fail_bind(b, err, "STACK_COLUMN_DIFF_TYPES",
                                    "The data type of one column do not have the same type: %s and %s.",
                                    type, b->args[i]->type);
        }
    }
    b->returns = fm_type_struct(b->arena, fields, s->columns);
    b->bound = s;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status run_stack(const fm_expr *e, const fm_session_conf *conf, const fm_vec *args,
                           int32_t rows, bool outer, fm_arena *arena, fm_generated *out,
                           fm_error *err)
{
    const stack_shape *s = ((const fm_generator_bound *)e->bound)->own;
    int64_t total = (int64_t)rows * s->rows;
    int32_t *row_of, *from;
    fm_vec *columns = fm_arena_array(arena, fm_vec, s->columns);
    const fm_vec **parts = fm_arena_array(arena, const fm_vec *, e->n_args);
    (void)conf;
    (void)outer; /* there is always a row */
    if (total > INT32_MAX) return fail_size(err);
    row_of = fm_arena_array(arena, int32_t, total);
    from = fm_arena_array(arena, int32_t, total);
    if (!columns || !parts || !row_of || !from) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < (int32_t)total; i++) row_of[i] = i / s->rows;
    for (int32_t c = 0; c < s->columns; c++) {
        fm_vec all;
        int32_t n = 0;
        for (int32_t i = 1 + c; i < e->n_args; i += s->columns) parts[n++] = &args[i];
        FM_TRY(fm_vec_concat(&all, parts, n, arena, err));
        for (int32_t i = 0; i < (int32_t)total; i++) {
            int32_t part = i % s->rows;
            from[i] = part < n ? part * rows + row_of[i] : -1;
        }
        FM_TRY(fm_vec_gather(&columns[c], &all, from, (int32_t)total, arena, err));
    }
    *out = (fm_generated){(int32_t)total, row_of, columns};
    return FM_OK;
}

/* ---- Entries ----------------------------------------------------------------------------------------------- */

const fm_generator fm_generator_explode = {
    .name = "explode", .has_outer = true, .args_min = 1, .args_max = 1, .bind = bind_explode,
    .run = run_explode, .usage = "explode(collection)", .since = "1.0.0",
    .doc = "Gives a row for each element of an array or entry of a map.",
};

const fm_generator fm_generator_posexplode = {
    .name = "posexplode", .has_outer = true, .args_min = 1, .args_max = 1, .bind = bind_posexplode,
    .run = run_posexplode, .usage = "posexplode(collection)", .since = "2.0.0",
    .doc = "Gives a row for each element of an array or entry of a map, with its position.",
};

const fm_generator fm_generator_inline = {
    .name = "inline", .has_outer = true, .args_min = 1, .args_max = 1, .bind = bind_inline,
    .run = run_inline, .usage = "inline(array_of_structs)", .since = "2.0.0",
    .doc = "Gives a row for each struct of an array, a column for each field.",
};

const fm_generator fm_generator_stack = {
    .name = "stack", .args_min = 2, .args_max = -1, .bind = bind_stack, .run = run_stack,
    .usage = "stack(n, expr, ...)", .since = "2.0.0",
    .doc = "Deals the expressions out to n rows.",
};
