/* exec/group_plan.c: what an AGGREGATE node asks for, laid out once for all workers. */
#include "base/time_text.h"
#include "exec/group.h"

enum { SLIDING_WINDOWS_MIN = 2 }; /* windows that overlap fewer times are not worth slices */

/* ---- Values: the states of the aggregates side by side ---------------------------------------------------------- */

static void init_value(void *ctx, char *value)
{
    const fm_group_spec *spec = ctx;

    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        if (c->aggregate->init) c->aggregate->init(c, value + c->offset);
    }
}

static void fini_value(void *ctx, char *value)
{
    const fm_group_spec *spec = ctx;

    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        if (c->aggregate->fini) c->aggregate->fini(c, value + c->offset);
    }
}

static fm_status save_value(void *ctx, const char *value, fm_strbuf *out, fm_error *err)
{
    const fm_group_spec *spec = ctx;

    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        if (c->aggregate->save) FM_TRY(c->aggregate->save(c, value + c->offset, out, err));
        else fm_strbuf_add(out, (fm_str){value + c->offset, c->aggregate->state_size(c)});
    }
    return FM_OK;
}

static fm_status load_value(void *ctx, fm_str bytes, char *value, fm_error *err)
{
    const fm_group_spec *spec = ctx;
    size_t at = 0;

    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        if (c->aggregate->load) {
            FM_TRY(c->aggregate->load(c, bytes, &at, value + c->offset, err));
            continue;
        }
        size_t size = c->aggregate->state_size(c);
        if (bytes.len - at < size) return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "the state of an aggregate is cut short");
        memcpy(value + c->offset, bytes.ptr + at, size);
        at += size;
    }
    return at == bytes.len ? FM_OK : fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "the state of an aggregate is too long");
}

static size_t value_memory(void *ctx, const char *value)
{
    const fm_group_spec *spec = ctx;
    size_t size = 0;

    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        if (c->aggregate->memory) size += c->aggregate->memory(c, value + c->offset);
    }
    return size;
}

fm_state_codec fm_group_codec(const fm_group_spec *spec)
{
    fm_state_codec codec = {.ctx = (void *)(uintptr_t)spec};

    if (spec->has_init) codec.init = init_value;
    if (spec->plain_values) return codec;
    codec.fini = fini_value;
    codec.save = save_value;
    codec.load = load_value;
    codec.memory = value_memory;
    return codec;
}

/* ---- Grouping columns ------------------------------------------------------------------------------------------- */

static bool note_use(const fm_expr *e, void *ctx)
{
    return e->kind != FM_EXPR_ATTRIBUTE || e->attr_id != *(const int32_t *)ctx;
}

static bool uses(const fm_expr *e, int32_t attr_id) { return e && !fm_expr_walk(e, note_use, &attr_id); }

/* Windows from right below that nothing but the grouping looks at: the column need not be made. */
static bool stands_on_its_window(const fm_plan *plan)
{
    const fm_plan *w = plan->children[0];
    bool grouped = false;

    if (w->kind != FM_PLAN_TIME_WINDOW) return false;
    for (int32_t g = 0; g < plan->n_group_exprs; g++) grouped |= plan->group_exprs[g]->attr_id == w->window_id;
    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        if (e->kind == FM_EXPR_AGGREGATE && uses(e, w->window_id)) return false;
        if (e->kind == FM_EXPR_AGGREGATE && uses(e->filter, w->window_id)) return false;
    }
    if (plan->event_time_id && plan->event_time_id != w->window_id) return false;
    return grouped && plan->late_row_id != w->window_id && plan->late_time_id != w->window_id;
}

/* Aggregates over slices are merged, and see the rows slice by slice instead of in the order they came. */
static bool can_slice(const fm_plan *plan)
{
    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        if (e->kind == FM_EXPR_AGGREGATE && (e->aggregate->order_dependent || e->aggregate->unsliced || !e->aggregate->merge)) return false;
    }
    return true;
}

typedef struct durations {
    int64_t us;
    bool differ;
} durations;

static bool note_duration(const fm_plan *plan, void *ctx)
{
    durations *d = ctx;

    if (plan->kind != FM_PLAN_TIME_WINDOW) return true;
    d->differ |= d->us && d->us != plan->window.duration_us;
    d->us = plan->window.duration_us;
    return true;
}

static void add_key(fm_group_spec *spec, int32_t column, const fm_type *type)
{
    spec->key_columns[spec->n_keys] = column;
    spec->key_types[spec->n_keys++] = type;
}

/* Width of the buckets of a plain timestamp: some tens of them stand for the time that the watermark waits. */
static int64_t bucket_width(int64_t delay_us)
{
    int64_t us = delay_us / 64;

    return us < FM_US_PER_SECOND ? FM_US_PER_SECOND : us > FM_US_PER_HOUR ? FM_US_PER_HOUR : us;
}

/* The grouping column that is a time. */
static void plan_time(fm_group_spec *spec, int32_t column, const fm_attr *attr)
{
    durations d = {0};

    spec->time_column = column;
    spec->time_type = attr->type;
    if (attr->type->id != FM_TYPE_STRUCT) {
        spec->kind = FM_GROUP_TIME;
        spec->bucket_us = bucket_width(attr->delay_us);
        add_key(spec, column, attr->type);
        return;
    }
    spec->kind = FM_GROUP_WINDOW;
    fm_plan_walk(spec->child, note_duration, &d);
    spec->window.duration_us = d.us;
    if (d.differ || d.us == 0) { /* the end does not tell the start */
        spec->window.duration_us = 0;
        add_key(spec, column, attr->type);
    }
}

static fm_status plan_keys(fm_group_spec *spec, fm_error *err)
{
    const fm_plan *plan = spec->plan, *below = plan->children[0];

    spec->time_column = -1;
    if (stands_on_its_window(plan)) {
        const fm_window_spec *w = &below->window;
        bool overlap = w->duration_us > w->slide_us;
        if (!overlap || (can_slice(plan) && w->duration_us / w->slide_us >= SLIDING_WINDOWS_MIN)) {
            spec->kind = overlap ? FM_GROUP_SLIDING : FM_GROUP_TUMBLING;
            spec->child = below->children[0];
            spec->window = *w;
        }
    }
    for (int32_t g = 0; g < plan->n_group_exprs; g++) {
        const fm_expr *e = plan->group_exprs[g];
        fm_assert(e->kind == FM_EXPR_ATTRIBUTE);
        int32_t in_below = fm_plan_column(below, e->attr_id);
        fm_assert(in_below >= 0);
        const fm_attr *attr = &below->output[in_below];
        if (spec->child != below && e->attr_id == below->window_id) {
            spec->time_type = attr->type;
            continue;
        }
        int32_t column = fm_plan_column(spec->child, e->attr_id);
        bool is_time = e->attr_id == plan->event_time_id || (!plan->event_time_id && attr->type->id == FM_TYPE_STRUCT && attr->type->is_window);
        if (is_time && spec->kind == FM_GROUP_PLAIN) plan_time(spec, column, attr);
        else add_key(spec, column, attr->type);
    }
    spec->is_global = plan->n_group_exprs == 0 && !plan->is_distinct;
    return FM_OK;
}

/* ---- Aggregates ------------------------------------------------------------------------------------------------- */

/* The index of an expression among the inputs; the same one is computed once. */
static int32_t add_input(fm_group_spec *spec, const fm_expr *e)
{
    for (int32_t i = 0; i < spec->n_inputs; i++) {
        if (e->deterministic && fm_expr_same(spec->inputs[i], e)) return i;
    }
    spec->inputs[spec->n_inputs] = e;
    return spec->n_inputs++;
}

static fm_status add_call(fm_tree *tree, fm_group_spec *spec, const fm_expr *e, fm_error *err)
{
    fm_group_call *g = &spec->calls[spec->n_calls++];
    fm_agg_call *c = &g->call;

    FM_TRY(fm_agg_call_init(c, tree->env->conf, e, tree->arena, err));
    if (c->n_args > FM_GROUP_ARGS_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_ARGUMENTS", "%s() takes at most %d arguments here.", c->aggregate->name, FM_GROUP_ARGS_MAX);
    c->offset = spec->value_size;
    uint32_t size = c->aggregate->state_size(c);
    fm_assert(size % 8 == 0 && size <= FM_AGG_STATE_SIZE_MAX);
    spec->value_size += size;
    if (spec->value_size > FM_STATE_VALUE_SIZE_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TOO_MANY_AGGREGATES", "The aggregates of one GROUP BY need more than %d bytes a group.", FM_STATE_VALUE_SIZE_MAX);
    spec->plain_values &= !c->aggregate->fini && !c->aggregate->save;
    spec->has_init |= c->aggregate->init != NULL;
    for (int32_t k = 0; k < c->n_args; k++) g->args[k] = c->aggregate->unread >> k & 1 ? FM_GROUP_NO_INPUT : add_input(spec, e->args[k]);
    g->filter = e->filter ? add_input(spec, e->filter) : FM_GROUP_NO_INPUT;
    return FM_OK;
}

static fm_status plan_outputs(fm_tree *tree, fm_group_spec *spec, fm_error *err)
{
    const fm_plan *plan = spec->plan, *below = plan->children[0];

    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        if (e->kind == FM_EXPR_AGGREGATE) {
            spec->outputs[i] = (fm_group_output){FM_FROM_AGGREGATE, spec->n_calls};
            FM_TRY(add_call(tree, spec, e, err));
            continue;
        }
        fm_assert(e->kind == FM_EXPR_ATTRIBUTE);
        int32_t column = fm_plan_column(spec->child, e->attr_id), key = spec->n_keys - 1;
        bool is_window = spec->child != below && e->attr_id == below->window_id;
        while (key >= 0 && (is_window || spec->key_columns[key] != column)) key--;
        spec->outputs[i] = key >= 0 ? (fm_group_output){FM_FROM_KEY, key} : (fm_group_output){FM_FROM_TIME, 0};
    }
    return FM_OK;
}

/* ---- What the state is made of, for the check when a query comes back to it ----------------------------------------- */

static fm_status make_schema_text(fm_tree *tree, fm_group_spec *spec, fm_error *err)
{
    static const char *const kinds[] = {"", " in windows", " in slices", " in windows", " by time"};
    fm_strbuf text = {0};

    fm_strbuf_add_c(&text, "keys:");
    for (int32_t k = 0; k < spec->n_keys; k++) {
        fm_strbuf_add_char(&text, ' ');
        fm_type_text(spec->key_types[k], &text);
    }
    fm_strbuf_add_c(&text, kinds[spec->kind]);
    if (spec->window.duration_us) fm_strbuf_printf(&text, " of %lld us", (long long)spec->window.duration_us);
    if (spec->kind == FM_GROUP_SLIDING) fm_strbuf_printf(&text, " every %lld us from %lld us", (long long)spec->window.slide_us, (long long)spec->window.start_us);
    fm_strbuf_add_c(&text, "; values:");
    for (int32_t i = 0; i < spec->n_calls; i++) {
        const fm_agg_call *c = &spec->calls[i].call;
        fm_strbuf_printf(&text, " %s(", c->aggregate->name);
        for (int32_t k = 0; k < c->n_args; k++) {
            if (k) fm_strbuf_add_char(&text, ',');
            fm_type_text(c->arg_types[k], &text);
        }
        fm_strbuf_add_char(&text, ')');
    }
    spec->schema_text = fm_arena_str(tree->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return spec->schema_text.ptr ? FM_OK : fm_no_memory(tree->arena, err);
}

/* ---- All of it -------------------------------------------------------------------------------------------------- */

static int32_t count_inputs(const fm_plan *plan)
{
    int32_t n = 0;

    for (int32_t i = 0; i < plan->n_exprs; i++) {
        const fm_expr *e = plan->exprs[i];
        while (e->kind == FM_EXPR_ALIAS) e = e->args[0];
        n += e->n_args + 1;
    }
    return n;
}

fm_status fm_group_plan(fm_tree *tree, const fm_plan *plan, int32_t operator_id, fm_group_spec *spec, fm_error *err)
{
    fm_arena *arena = tree->arena;

    *spec = (fm_group_spec){.plan = plan, .child = plan->children[0], .mode = tree->mode, .is_stream = tree->is_stream, .operator_id = operator_id, .plain_values = true};
    spec->key_columns = fm_arena_array(arena, int32_t, plan->n_group_exprs + 1);
    spec->key_types = fm_arena_array(arena, const fm_type *, plan->n_group_exprs + 1);
    spec->calls = fm_arena_array(arena, fm_group_call, plan->n_exprs);
    spec->outputs = fm_arena_array(arena, fm_group_output, plan->n_exprs);
    spec->inputs = fm_arena_array(arena, const fm_expr *, count_inputs(plan));
    spec->schema = fm_plan_schema(arena, plan);
    if (!spec->key_columns || !spec->key_types || !spec->calls || !spec->outputs || !spec->inputs || !spec->schema) return fm_no_memory(arena, err);
    FM_TRY(plan_keys(spec, err));
    FM_TRY(plan_outputs(tree, spec, err));
    bool has_time = spec->kind != FM_GROUP_PLAIN;
    spec->closes = tree->is_stream && plan->event_time_id && has_time && tree->mode != FM_MODE_COMPLETE;
    spec->event_column = plan->late_time_id ? fm_plan_column(spec->child, plan->late_time_id) : -1;
    spec->late_column = plan->late_row_id ? fm_plan_column(spec->child, plan->late_row_id) : -1;
    spec->allowed_us = spec->closes ? plan->lateness.allowed_us : 0;
    spec->by_event = spec->closes && plan->lateness.by_event && spec->event_column >= 0;
    return make_schema_text(tree, spec, err);
}

fm_group_bounds fm_group_bounds_of(const fm_group_spec *spec, const fm_op_batch *mb)
{
    fm_group_bounds bounds = {.late_us = INT64_MIN, .close_us = INT64_MIN, .event_us = INT64_MIN};

    if (!spec->closes || !mb->is_stream) return bounds;
    const fm_op_watermarks *w = &mb->watermarks[spec->operator_id];
    bounds.on = true;
    bounds.close_us = w->evict_us - spec->allowed_us; /* a watermark is >= 0: no overflow */
    if (spec->by_event) bounds.event_us = bounds.close_us;
    else bounds.late_us = w->late_us - spec->allowed_us;
    return bounds;
}
