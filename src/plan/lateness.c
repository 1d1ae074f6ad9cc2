/* plan/lateness.c: lateness beyond Spark: the hints, who obeys them, and how a late row gets to its sink.
 *
 *     late_rows wanted here          AGGREGATE  late_row_id, late_time_id
 *                                        |
 *     both columns let through       PROJECT, FILTER, TIME_WINDOW, UNION, ...
 *                                        |
 *     the row packed, as it is here  PROJECT    STRUCT<row STRUCT<...>, source STRING>, hidden
 *                                        |
 *                                    WATERMARK  the event time
 *                                        |
 *     the position let through       PROJECT, FILTER, ...
 *                                        |
 *     where it came from             READ       position_id
 *
 * Rule  tests/conformance/README.md, "Beyond Spark"; plan.h, fm_lateness. */
#include "plan/analyze_impl.h"

#include "base/checked.h"
#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/coerce.h"

/* --- hints ------------------------------------------------------------------------------------------- */

fm_status fm_hint_fail(const fm_plan *p, const char *why, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "FLOODMARK_HINT_ARGUMENTS", p->pos.line, p->pos.column, "The hint %.*s %s.",
                      FM_STR_ARG(p->name), why);
}

/* As in LATE_POLICY(event). */
fm_status fm_hint_text(const fm_plan *p, int32_t i, const char *why, fm_str *out, fm_error *err)
{
    fm_expr *e = p->exprs[i];

    if (e->kind == FM_EXPR_NAME && e->n_parts == 1) {
        *out = e->parts[0];
        return FM_OK;
    }
    bool text = e->kind == FM_EXPR_LITERAL && e->type->id == FM_TYPE_STRING && !fm_vec_is_null(&e->value, 0);
    if (!text && e->kind != FM_EXPR_INTERVAL_TEXT) return fm_hint_fail(p, why, err);
    *out = fm_vec_str(&e->value, 0);
    return FM_OK;
}

static fm_status read_allowed(fm_analyzer *an, const fm_plan *p, fm_lateness *out, fm_error *err)
{
    static const char why[] = "takes one length of time, not negative: ALLOWED_LATENESS('6 hours')";
    fm_interval x;
    fm_str text;
    int64_t days_us;

    if (p->n_exprs != 1) return fm_hint_fail(p, why, err);
    if (p->exprs[0]->kind == FM_EXPR_LITERAL && p->exprs[0]->type->id == FM_TYPE_INTERVAL_DT &&
        !fm_vec_is_null(&p->exprs[0]->value, 0)) {
        out->allowed_us = fm_vec_i64(&p->exprs[0]->value)[0];
        return out->allowed_us < 0 ? fm_hint_fail(p, why, err) : FM_OK;
    }
    FM_TRY(fm_hint_text(p, 0, why, &text, err));
    FM_TRY(fm_text_to_interval(text, &x, err));
    if (!fm_mul_i64((int64_t)x.months * 31 + x.days, FM_US_PER_DAY, &days_us) ||
        !fm_add_i64(days_us, x.us, &out->allowed_us) || out->allowed_us < 0) {
        return fm_hint_fail(p, why, err);
    }
    return FM_OK;
}

static fm_status read_policy(fm_analyzer *an, const fm_plan *p, fm_lateness *out, fm_error *err)
{
    static const char why[] = "takes 'window' (a row is late when its window is closed) or 'event' (when its event time "
                              "is below the watermark)";
    fm_str text;

    if (p->n_exprs != 1) return fm_hint_fail(p, why, err);
    FM_TRY(fm_hint_text(p, 0, why, &text, err));
    out->by_event = fm_str_eq_ci(text, FM_STR("event"));
    return out->by_event || fm_str_eq_ci(text, FM_STR("window")) ? FM_OK : fm_hint_fail(p, why, err);
}

static fm_status read_late_rows(fm_analyzer *an, const fm_plan *p, fm_lateness *out, fm_error *err)
{
    static const char why[] = "takes a format, a path, and pairs of option and value: LATE_ROWS('json', 'late/')";
    fm_str key, value;

    if (p->n_exprs < 2 || p->n_exprs % 2) return fm_hint_fail(p, why, err);
    FM_TRY(fm_hint_text(p, 0, why, &out->late_format, err));
    FM_TRY(fm_hint_text(p, 1, why, &out->late_path, err));
    if (!out->late_format.len || !out->late_path.len) return fm_hint_fail(p, why, err);
    for (int32_t i = 2; i < p->n_exprs; i += 2) {
        FM_TRY(fm_hint_text(p, i, why, &key, err));
        FM_TRY(fm_hint_text(p, i + 1, why, &value, err));
        if (!fm_options_set(an->arena, &out->late_options, key, value)) return fm_no_memory(an->arena, err);
    }
    return FM_OK;
}

fm_status fm_hint_read(fm_analyzer *an, const fm_plan *p, fm_lateness *out, bool *known, fm_error *err)
{
    *known = true;
    if (fm_str_eq_ci(p->name, FM_STR("allowed_lateness"))) return read_allowed(an, p, out, err);
    if (fm_str_eq_ci(p->name, FM_STR("late_policy"))) return read_policy(an, p, out, err);
    if (fm_str_eq_ci(p->name, FM_STR("late_rows"))) return read_late_rows(an, p, out, err);
    *known = false;
    return FM_OK;
}

/* --- who obeys --------------------------------------------------------------------------------------- */

typedef struct hints {
    const fm_plan *hint;
    const struct hints *next; /* above: farther away; below: in any order */
} hints;

static bool is_stateless(const fm_plan *p, void *ctx)
{
    (void)ctx;
    return !fm_plan_is_stateful(p);
}

static void obey(fm_lateness *lateness, const fm_plan *hint)
{
    if (fm_str_eq_ci(hint->name, FM_STR("allowed_lateness"))) lateness->allowed_us = hint->lateness.allowed_us;
    if (fm_str_eq_ci(hint->name, FM_STR("late_policy"))) lateness->by_event = hint->lateness.by_event;
    if (!fm_str_eq_ci(hint->name, FM_STR("late_rows"))) return;
    lateness->late_format = hint->lateness.late_format;
    lateness->late_path = hint->lateness.late_path;
    lateness->late_options = hint->lateness.late_options;
}

/* The nearest is heard last, and so wins. */
static void obey_all(fm_lateness *lateness, const hints *list)
{
    if (!list) return;
    obey_all(lateness, list->next);
    obey(lateness, list->hint);
}

static fm_status add_hint(fm_analyzer *an, const fm_plan *hint, const hints **list, fm_error *err)
{
    hints *link = fm_arena_one(an->arena, hints);

    if (!link) return fm_no_memory(an->arena, err);
    *link = (hints){hint, *list};
    *list = link;
    return FM_OK;
}

static fm_status hand_out(fm_analyzer *an, fm_plan *p, const hints *above, const hints **below, fm_plan **out,
                          fm_error *err);

static fm_status hand_out_hint(fm_analyzer *an, fm_plan *p, const hints *above, const hints **below, fm_plan **out,
                               fm_error *err)
{
    bool for_below = !fm_plan_walk(p->children[0], is_stateless, NULL);

    if (for_below) FM_TRY(add_hint(an, p, &above, err));
    FM_TRY(hand_out(an, p->children[0], above, below, out, err));
    return for_below ? FM_OK : add_hint(an, p, below, err);
}

static fm_status hand_out(fm_analyzer *an, fm_plan *p, const hints *above, const hints **below, fm_plan **out,
                          fm_error *err)
{
    bool stateful = fm_plan_is_stateful(p);
    const hints *from_below = NULL;
    fm_plan **children = fm_arena_array(an->arena, fm_plan *, p->n_children);

    if (p->kind == FM_PLAN_HINT) return hand_out_hint(an, p, above, below, out, err);
    if (!children) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < p->n_children; i++) {
        FM_TRY(hand_out(an, p->children[i], stateful ? NULL : above, stateful ? &from_below : below, &children[i],
                        err));
    }
    FM_TRY(fm_plan_with_children(an->arena, p, children, out, err));
    if (!stateful || (!above && !from_below)) return FM_OK;
    if (*out == p) {
        *out = fm_arena_one(an->arena, fm_plan);
        if (!*out) return fm_no_memory(an->arena, err);
        **out = *p;
    }
    obey_all(&(*out)->lateness, above);
    obey_all(&(*out)->lateness, from_below);
    return FM_OK;
}

/* --- columns that travel up ---------------------------------------------------------------------------- */

enum { ROW, TIME, CARRIED }; /* what is carried; a source position travels as ROW */

typedef struct carried {
    fm_attr attrs[CARRIED]; /* id 0: there is none */
} carried;

typedef struct journey {
    fm_analyzer *an;
    bool want_row;
    bool of_position; /* from READ to WATERMARK; else from WATERMARK up */
} journey;

static fm_status travel(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err);

/* PROJECT over `child`: these columns of it (all when NULL), and `more`, hidden. */
static fm_status hide_columns(fm_analyzer *an, fm_plan *child, int32_t left_out, fm_expr *const *more, int32_t n_more,
                              fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, child->n_output + n_more);
    int32_t n = 0, shown;

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < child->n_output; i++) {
        if (child->output[i].id != left_out || !left_out) exprs[n++] = fm_attr_expr(an->arena, &child->output[i]);
    }
    shown = n;
    for (int32_t i = 0; i < n_more; i++) exprs[n++] = more[i];
    FM_TRY(fm_plan_project(an->arena, child, exprs, n, child->pos, out, err));
    for (int32_t i = shown; i < n; i++) (*out)->output[i].hidden = true;
    return FM_OK;
}

static fm_status named_struct(fm_analyzer *an, const fm_str *names, fm_expr *const *values, int32_t n, fm_expr **out,
                              fm_error *err)
{
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2 * (size_t)n);

    if (!args) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) {
        args[2 * i] = fm_expr_literal_str(an->arena, fm_type_string(), names[i]);
        args[2 * i + 1] = values[i];
        if (!args[2 * i] || !args[2 * i + 1]) return fm_no_memory(an->arena, err);
    }
    return fm_call_resolve(an->arena, an->conf, FM_STR("named_struct"), args, 2 * n, (fm_pos){0}, NULL, out, err);
}

/* STRUCT<row, source>. */
static fm_status packed(fm_analyzer *an, fm_expr *row, fm_expr *source, fm_expr **out, fm_error *err)
{
    if (!source) source = fm_expr_literal_null(an->arena, fm_type_string());
    return named_struct(an, (fm_str[]){FM_STR("row"), FM_STR("source")}, (fm_expr *[]){row, source}, 2, out, err);
}

static fm_status field(fm_analyzer *an, fm_expr *base, int32_t index, fm_expr **out, fm_error *err)
{
    fm_expr *e = fm_expr_new(an->arena, FM_EXPR_FIELD, (fm_pos){0});

    if (!e || !base) return fm_no_memory(an->arena, err);
    e->index = index;
    e->n_args = 1;
    return fm_expr_resolve_node(an->arena, an->conf, e, &base, out, err);
}

/* The event time of a tagged column: of a window its window time. */
static fm_status event_time(fm_analyzer *an, const fm_attr *tagged, fm_expr **out, fm_error *err)
{
    fm_expr *e = fm_attr_expr(an->arena, tagged);

    *out = e;
    if (!e) return fm_no_memory(an->arena, err);
    if (fm_type_is_timestamp(tagged->type)) return FM_OK;
    if (tagged->type->is_window) {
        fm_expr **args = fm_arena_array(an->arena, fm_expr *, 1);
        if (!args) return fm_no_memory(an->arena, err);
        args[0] = e;
        return fm_call_resolve(an->arena, an->conf, FM_STR("window_time"), args, 1, (fm_pos){0}, NULL, out, err);
    }
    for (int32_t i = 0; i < tagged->type->n_fields; i++) {
        if (fm_str_eq(tagged->type->fields[i].name, FM_STR("end"))) return field(an, e, i, out, err);
    }
    return FM_OK;
}

/* Packs the rows of `p` as they are. position: a hidden column of p that goes into the pack, or 0. */
static fm_status pack_here(const journey *j, fm_plan *p, const fm_attr *position, fm_plan **out, carried *c,
                           fm_error *err)
{
    fm_analyzer *an = j->an;
    fm_str *names = fm_arena_array(an->arena, fm_str, p->n_output);
    fm_expr **values = fm_arena_array(an->arena, fm_expr *, p->n_output), *more[CARRIED], *row, *time;
    const fm_attr *tagged = NULL;
    int32_t n = 0, n_more = 0;
    int slots[CARRIED];

    if (!names || !values) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < p->n_output; i++) {
        if (p->output[i].watermark_node && !tagged) tagged = &p->output[i];
        if (p->output[i].hidden) continue;
        names[n] = p->output[i].name;
        values[n++] = fm_attr_expr(an->arena, &p->output[i]);
    }
    if (j->want_row) {
        fm_expr *source = position ? fm_attr_expr(an->arena, position) : NULL;
        FM_TRY(named_struct(an, names, values, n, &row, err));
        FM_TRY(packed(an, row, source, &row, err));
        slots[n_more] = ROW;
        more[n_more++] = fm_alias_expr(an->arena, row, FM_STR("__late_row"), an->next_id++);
    }
    if (tagged && fm_type_is_timestamp(tagged->type)) {
        c->attrs[TIME] = *tagged;
    } else if (tagged) {
        FM_TRY(event_time(an, tagged, &time, err));
        slots[n_more] = TIME;
        more[n_more++] = fm_alias_expr(an->arena, time, FM_STR("__event_time"), an->next_id++);
    }
    *out = p;
    if (!n_more) return FM_OK;
    for (int32_t i = 0; i < n_more; i++) {
        if (!more[i]) return fm_no_memory(an->arena, err);
        c->attrs[slots[i]] = fm_attr_of(more[i], p->output, p->n_output);
    }
    return hide_columns(an, p, position ? position->id : 0, more, n_more, out, err);
}

static fm_status from_watermark(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    journey down = {.an = j->an, .want_row = true, .of_position = true};
    carried position = {0};
    fm_plan *child = p->children[0], *w;

    if (j->want_row) FM_TRY(travel(&down, child, &child, &position, err));
    FM_TRY(fm_plan_with_children(j->an->arena, p, &child, &w, err));
    return pack_here(j, w, position.attrs[ROW].id ? &position.attrs[ROW] : NULL, out, c, err);
}

static fm_status from_read(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    fm_analyzer *an = j->an;
    fm_plan *read = fm_arena_one(an->arena, fm_plan);

    if (!read) return fm_no_memory(an->arena, err);
    *read = *p;
    *out = read;
    if (!p->position_id) {
        read->position_id = an->next_id++;
        read->output = fm_arena_array(an->arena, fm_attr, p->n_output + 1);
        if (!read->output) return fm_no_memory(an->arena, err);
        if (p->n_output) memcpy(read->output, p->output, sizeof(fm_attr) * (size_t)p->n_output);
        read->output[read->n_output++] = (fm_attr){.id = read->position_id, .name = FM_STR("__source"),
                                                   .type = fm_type_string(), .nullable = true, .hidden = true};
    }
    c->attrs[ROW] = read->output[read->n_output - 1];
    return FM_OK;
}

static fm_status through_project(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    fm_arena *arena = j->an->arena;
    fm_plan *child;
    fm_expr **exprs = fm_arena_array(arena, fm_expr *, p->n_exprs + CARRIED);
    int32_t n = p->n_exprs;

    FM_TRY(travel(j, p->children[0], &child, c, err));
    if (!exprs) return fm_no_memory(arena, err);
    if (n) memcpy(exprs, p->exprs, sizeof *exprs * (size_t)n);
    for (int k = 0; k < CARRIED; k++) {
        if (!c->attrs[k].id || fm_attr_find(p->output, p->n_output, c->attrs[k].id)) continue;
        exprs[n++] = fm_attr_expr(arena, &c->attrs[k]);
    }
    FM_TRY(fm_plan_project(arena, child, exprs, n, p->pos, out, err));
    for (int32_t i = 0; i < n; i++) {
        (*out)->output[i].hidden = i >= p->n_exprs || p->output[i].hidden;
        if (i < p->n_exprs) (*out)->output[i].qualifier = p->output[i].qualifier;
    }
    return FM_OK;
}

static fm_status through_join(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    fm_plan *children[2] = {p->children[0], p->children[1]};
    int side = p->children[0]->streaming ? 0 : 1;

    FM_TRY(travel(j, children[side], &children[side], c, err));
    return fm_plan_with_children(j->an->arena, p, children, out, err);
}

/* --- unions: rows of different shapes ------------------------------------------------------------------ */

/* The field of a struct type by name; -1 when it has none. */
static int32_t field_index(const fm_type *type, fm_str name)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (fm_str_eq(type->fields[i].name, name)) return i;
    }
    return -1;
}

/* Adds the fields of `type` that the list lacks; those of one name get a common type, in the end text. */
static fm_status merge_fields(fm_analyzer *an, const fm_type *type, fm_field **list, int32_t *n, int32_t *cap,
                              fm_error *err)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        int32_t k = 0;
        while (k < *n && !fm_str_eq((*list)[k].name, type->fields[i].name)) k++;
        if (k == *n) {
            if (!FM_GROW(an->arena, *list, *n, *cap)) return fm_no_memory(an->arena, err);
            (*list)[(*n)++] = (fm_field){type->fields[i].name, type->fields[i].type, true};
            continue;
        }
        const fm_type *known = (*list)[k].type, *more = type->fields[i].type, *wider = NULL;
        if (fm_type_eq(known, more)) continue;
        if (known->id != FM_TYPE_STRING && more->id != FM_TYPE_STRING) { /* text to number could fail */
            wider = fm_type_common(an->arena, an->conf, known, more);
        }
        (*list)[k].type = wider ? wider : fm_type_string();
    }
    return FM_OK;
}

/* A packed row in another shape: fields by name, missing ones null. */
static fm_status reshape(fm_analyzer *an, const fm_attr *row, const fm_field *fields, int32_t n, fm_expr **out,
                         fm_error *err)
{
    const fm_type *old = row->type->fields[0].type;
    fm_str *names = fm_arena_array(an->arena, fm_str, n);
    fm_expr **values = fm_arena_array(an->arena, fm_expr *, n), *inner, *source;

    if (!names || !values) return fm_no_memory(an->arena, err);
    FM_TRY(field(an, fm_attr_expr(an->arena, row), 0, &inner, err));
    FM_TRY(field(an, fm_attr_expr(an->arena, row), 1, &source, err));
    for (int32_t i = 0; i < n; i++) {
        int32_t k = field_index(old, fields[i].name);
        names[i] = fields[i].name;
        if (k >= 0) FM_TRY(field(an, inner, k, &values[i], err));
        else values[i] = fm_expr_literal_null(an->arena, fields[i].type);
        if (!values[i]) return fm_no_memory(an->arena, err);
        FM_TRY(fm_expr_cast(an->arena, an->conf, values[i], fields[i].type, true, false, &values[i], err));
    }
    FM_TRY(named_struct(an, names, values, n, &inner, err));
    return packed(an, inner, source, out, err);
}

typedef struct union_shape {
    bool any[CARRIED];
    fm_field *fields;      /* of packed rows */
    int32_t n_fields, cap_fields;
    const fm_type *time;
} union_shape;

static fm_status find_shape(const journey *j, const carried *c, int32_t n, union_shape *shape, fm_error *err)
{
    for (int32_t k = 0; k < n; k++) {
        for (int slot = 0; slot < CARRIED; slot++) shape->any[slot] |= c[k].attrs[slot].id != 0;
        if (c[k].attrs[ROW].id && !j->of_position) {
            FM_TRY(merge_fields(j->an, c[k].attrs[ROW].type->fields[0].type, &shape->fields, &shape->n_fields,
                                &shape->cap_fields, err));
        }
        if (c[k].attrs[TIME].id && !shape->time) shape->time = c[k].attrs[TIME].type;
    }
    return FM_OK;
}

/* What one child of a union gives for a slot. */
static fm_status union_value(const journey *j, const carried *c, const union_shape *shape, int slot, fm_expr **out,
                             fm_error *err)
{
    fm_analyzer *an = j->an;
    const fm_attr *a = &c->attrs[slot];

    *out = NULL;
    if (slot == ROW && a->id && !j->of_position) {
        FM_TRY(reshape(an, a, shape->fields, shape->n_fields, out, err));
    } else if (a->id) {
        *out = fm_attr_expr(an->arena, a);
        if (*out && slot == TIME && !fm_type_eq(a->type, shape->time)) {
            FM_TRY(fm_expr_cast(an->arena, an->conf, *out, shape->time, true, false, out, err));
        }
    } else {
        *out = fm_expr_literal_null(an->arena, slot == TIME ? shape->time : fm_type_string());
    }
    if (*out) *out = fm_alias_expr(an->arena, *out, slot == TIME ? FM_STR("__event_time") : FM_STR("__late_row"),
                                   an->next_id++);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

/* A child of a union: its columns as they were, then the carried ones. */
static fm_status union_child(const journey *j, const fm_plan *before, fm_plan *child, const carried *c,
                             const union_shape *shape, fm_plan **out, fm_error *err)
{
    fm_analyzer *an = j->an;
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, before->n_output + CARRIED);
    int32_t n = before->n_output;

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < n; i++) exprs[i] = fm_attr_expr(an->arena, &before->output[i]);
    for (int slot = 0; slot < CARRIED; slot++) {
        if (shape->any[slot]) FM_TRY(union_value(j, c, shape, slot, &exprs[n++], err));
    }
    FM_TRY(fm_plan_project(an->arena, child, exprs, n, child->pos, out, err));
    for (int32_t i = before->n_output; i < n; i++) (*out)->output[i].hidden = true;
    return FM_OK;
}

static fm_status through_union(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    fm_analyzer *an = j->an;
    fm_plan **children = fm_arena_array(an->arena, fm_plan *, p->n_children);
    carried *each = fm_arena_array(an->arena, carried, p->n_children);
    fm_plan *u = fm_arena_one(an->arena, fm_plan);
    union_shape shape = {0};

    if (!children || !each || !u) return fm_no_memory(an->arena, err);
    for (int32_t k = 0; k < p->n_children; k++) {
        FM_TRY(travel(j, p->children[k], &children[k], &each[k], err));
        if (each[k].attrs[ROW].id || j->of_position || !j->want_row) continue;
        FM_TRY(pack_here(j, children[k], NULL, &children[k], &each[k], err)); /* a child without a watermark */
    }
    FM_TRY(find_shape(j, each, p->n_children, &shape, err));
    for (int32_t k = 0; k < p->n_children; k++) {
        FM_TRY(union_child(j, p->children[k], children[k], &each[k], &shape, &children[k], err));
    }
    *u = *p;
    u->children = children;
    u->output = fm_arena_array(an->arena, fm_attr, p->n_output + CARRIED);
    if (!u->output) return fm_no_memory(an->arena, err);
    if (p->n_output) memcpy(u->output, p->output, sizeof(fm_attr) * (size_t)p->n_output);
    for (int slot = 0; slot < CARRIED; slot++) {
        if (!shape.any[slot]) continue;
        u->output[u->n_output] = children[0]->output[u->n_output];
        u->output[u->n_output].id = an->next_id++;
        u->output[u->n_output].nullable = true;
        c->attrs[slot] = u->output[u->n_output++];
    }
    *out = u;
    return fm_plan_finish(an->arena, u, err);
}

static fm_status travel(const journey *j, fm_plan *p, fm_plan **out, carried *c, fm_error *err)
{
    fm_plan *child;

    *out = p;
    if (!p->streaming) return FM_OK;
    if (p->kind == FM_PLAN_READ) return j->of_position ? from_read(j, p, out, c, err) : FM_OK;
    if (p->kind == FM_PLAN_WATERMARK && !j->of_position) return from_watermark(j, p, out, c, err);
    if (fm_plan_is_stateful(p)) return j->of_position ? FM_OK : pack_here(j, p, NULL, out, c, err);
    switch (p->kind) {
    case FM_PLAN_PROJECT: return through_project(j, p, out, c, err);
    case FM_PLAN_JOIN: return through_join(j, p, out, c, err);
    case FM_PLAN_UNION: return through_union(j, p, out, c, err);
    case FM_PLAN_FILTER:
    case FM_PLAN_HINT:
    case FM_PLAN_BAD_ROWS:
    case FM_PLAN_SUBQUERY_ALIAS:
    case FM_PLAN_SORT:
    case FM_PLAN_LIMIT:
    case FM_PLAN_SAMPLE:
    case FM_PLAN_WATERMARK:
    case FM_PLAN_TIME_WINDOW:
    case FM_PLAN_SESSION_WINDOW:
    case FM_PLAN_GENERATE:
    case FM_PLAN_OVER:
        FM_TRY(travel(j, p->children[0], &child, c, err));
        return fm_plan_with_children(j->an->arena, p, &child, out, err);
    default: return FM_OK;
    }
}

/* Children first, so that a stateful node over another takes the other's rows as they will be. */
static fm_status plumb(fm_analyzer *an, fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan **children = fm_arena_array(an->arena, fm_plan *, p->n_children);
    bool row = p->lateness.late_format.len != 0;
    bool one_input = p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_DEDUPLICATE;
    carried c = {0};

    if (!children) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(plumb(an, p->children[i], &children[i], err));
    if (one_input && (row || p->lateness.by_event)) {
        journey j = {.an = an, .want_row = row};
        FM_TRY(travel(&j, children[0], &children[0], &c, err));
    }
    FM_TRY(fm_plan_with_children(an->arena, p, children, out, err));
    if (!c.attrs[ROW].id && !c.attrs[TIME].id) return FM_OK;
    if (*out == p) {
        *out = fm_arena_one(an->arena, fm_plan);
        if (!*out) return fm_no_memory(an->arena, err);
        **out = *p;
    }
    (*out)->late_row_id = c.attrs[ROW].id;
    (*out)->late_time_id = c.attrs[TIME].id;
    return FM_OK;
}

fm_status fm_carry_position(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_attr *position, fm_error *err)
{
    journey j = {.an = an, .want_row = true, .of_position = true};
    carried c = {0};

    FM_TRY(travel(&j, plan, out, &c, err));
    *position = c.attrs[ROW];
    return FM_OK;
}

fm_status fm_apply_lateness(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_error *err)
{
    const hints *unheard = NULL;

    FM_TRY(hand_out(an, plan, NULL, &unheard, out, err));
    return plumb(an, *out, out, err);
}
