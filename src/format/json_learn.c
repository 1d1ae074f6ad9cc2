/* format/json_learn.c: makes a template of a line.
 *
 * The line was read well a moment ago, so this walk needs no judgement: it notes where values begin
 * and end. Objects are taken apart, those of unwanted fields, too; a null of a wanted field is part
 * of the literal, so lines with and without it are two templates. */
#include "format/json_template.h"

enum { LEARN_AGAIN_MISSES = 32 }; /* when all places are taken, one of so many lines is learned */

typedef struct learner {
    fm_json_converter *c;
    fm_arena *arena;
    fm_json_template *t;
    const char *literal; /* where the literal being passed began */
    fm_json_slot
        *objects[FM_JSON_LEARN_DEPTH_MAX + 1]; /* slot of each open object; NULL: unwanted */
    int32_t depth;
    fm_json_slot **used; /* slots that have their place */
    int32_t n_used;
    bool no_memory;
} learner;

static bool use(learner *l, fm_json_slot *slot)
{
    for (int32_t i = 0; i < l->n_used; i++)
        if (l->used[i] == slot) return false; /* a key that comes twice */
    if (l->n_used == FM_JSON_OPS_MAX) return false;
    l->used[l->n_used++] = slot;
    return true;
}

static bool is_used(const learner *l, const fm_json_slot *slot)
{
    for (int32_t i = 0; i < l->n_used; i++)
        if (l->used[i] == slot) return true;
    return false;
}

static bool push_op(learner *l, fm_json_op op)
{
    if (l->t->n_ops == FM_JSON_OPS_MAX) return false;
    op.values = op.slot ? op.slot->values : NULL;
    l->t->ops[l->t->n_ops++] = op;
    return true;
}

/* Ends the literal before `at` and begins the next one at `resume`, with a value between. */
static bool add_op(learner *l, fm_json_op op, const char *at, const char *resume)
{
    size_t len = (size_t)(at - l->literal);

    if (len == 0) return false;
    for (const char *from = l->literal; from < at; from += 16) {
        size_t n = (size_t)(at - from) < 16 ? (size_t)(at - from) : 16;
        if (from > l->literal && !push_op(l, (fm_json_op){.action = FM_JOP_NONE})) return false;
        fm_json_op *before = &l->t->ops[l->t->n_ops - 1];
        memcpy(before->literal, from, n);
        memset(before->mask, 0xFF, n);
        before->literal_len = (uint8_t)n;
    }
    l->literal = resume;
    return push_op(l, op);
}

static uint8_t time_form(fm_str text)
{
    static const struct {
        uint8_t len, point, form;
    } forms[] = {{20, 0, FM_JTF_S_Z}, {24, 1, FM_JTF_MS_Z}, {27, 1, FM_JTF_US_Z},
                 {19, 0, FM_JTF_S},   {23, 1, FM_JTF_MS},   {26, 1, FM_JTF_US}};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (text.len != forms[i].len) continue;
        bool z = text.ptr[text.len - 1] == 'Z';
        if (z == (forms[i].form < FM_JTF_S) && (!forms[i].point || text.ptr[19] == '.'))
            return forms[i].form;
    }
    return FM_JTF_OTHER;
}

static fm_json_action number_action(fm_type_id id)
{
    switch (id) {
    case FM_TYPE_F64: return FM_JOP_F64;
    case FM_TYPE_F32: return FM_JOP_F32;
    case FM_TYPE_DECIMAL: return FM_JOP_DECIMAL;
    case FM_TYPE_I64: return FM_JOP_I64;
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32: return FM_JOP_INTEGER;
    default: return FM_JOP_CONVERT;
    }
}

static bool convert(learner *l, fm_json_slot *slot)
{
    const char *from = l->c->scan.value;
    fm_json_scan *s = &l->c->scan;
    bool ok = s->token == FM_JT_STRING ? fm_json_text(s) : fm_json_skip_children(s);

    if (!ok) return false;
    if (slot) l->t->converted[l->t->n_converted++] = slot;
    return add_op(l,
                  (fm_json_op){.action = slot ? FM_JOP_CONVERT : FM_JOP_SKIP_VALUE, .slot = slot},
                  from, s->at);
}

static bool learn_string(learner *l, fm_json_slot *slot)
{
    fm_json_scan *s = &l->c->scan;
    const fm_json_options *o = l->c->options;
    const char *quote = s->value;
    fm_json_op op = {.action = FM_JOP_SKIP_STRING, .slot = slot};

    if (*quote != '"') return convert(l, slot);
    if (slot) {
        fm_type_id id = slot->type->id;
        op.action = id == FM_TYPE_STRING                              ? FM_JOP_STRING
                    : id == FM_TYPE_TIMESTAMP && !o->timestamp_format ? FM_JOP_TIMESTAMP
                    : id == FM_TYPE_DATE && !o->date_format           ? FM_JOP_DATE
                                                                      : FM_JOP_CONVERT;
    }
    if (op.action == FM_JOP_CONVERT) return convert(l, slot);
    if (!fm_json_text(s)) return false;
    fm_str raw = {quote + 1, (size_t)(s->at - quote) - 2};
    if (op.action == FM_JOP_TIMESTAMP) {
        op.form = time_form(raw);
        op.clock = op.form == FM_JTF_OTHER ? NULL : &fm_json_clocks[op.form];
        op.time_len = (uint8_t)raw.len; /* of the forms that have one */
    }
    op.last_len = (uint32_t)raw.len;
    return add_op(l, op, raw.ptr, raw.ptr + raw.len);
}

/* One value of the field whose slot is given (NULL: unwanted). */
static bool learn_value(learner *l, fm_json_token t, fm_json_slot *slot)
{
    fm_json_scan *s = &l->c->scan;
    fm_json_op op = {.slot = slot};

    if (t == FM_JT_NULL && slot) return !is_used(l, slot); /* stays in the literal; the slot is absent */
    if (slot && !use(l, slot)) return false;
    switch (t) {
    case FM_JT_OBJECT:
        if (slot && slot->type->id != FM_TYPE_STRUCT) return convert(l, slot);
        if (l->depth == FM_JSON_LEARN_DEPTH_MAX) return false;
        l->objects[++l->depth] = slot;
        return true;
    case FM_JT_ARRAY: return convert(l, slot);
    case FM_JT_STRING: return learn_string(l, slot);
    case FM_JT_INT:
    case FM_JT_FLOAT:
        op.action = slot ? (uint8_t)number_action(slot->type->id) : FM_JOP_SKIP_NUMBER;
        if (op.action == FM_JOP_CONVERT || !fm_json_number_end(s->value, s->at))
            return convert(l, slot);
        return add_op(l, op, s->value, s->at);
    case FM_JT_TRUE:
    case FM_JT_FALSE:
    case FM_JT_NULL:
        if (slot && slot->type->id != FM_TYPE_BOOL) return convert(l, slot);
        op.action = slot ? FM_JOP_BOOL : FM_JOP_SKIP_WORD;
        return add_op(l, op, s->value, s->at);
    default: return false;
    }
}

static bool learn_line(learner *l, fm_json_slot *root, fm_str text)
{
    fm_json_scan *s = &l->c->scan;

    l->objects[0] = root;
    for (;;) {
        fm_json_token t = fm_json_next(s);
        if (t == FM_JT_OBJECT_END && l->depth-- == 0) break;
        if (t == FM_JT_OBJECT_END) continue;
        if (t != FM_JT_FIELD) return false;
        fm_json_slot *object = l->objects[l->depth];
        int32_t i = object ? fm_json_names_find(&object->names, fm_json_name(s)) : -1;
        t = fm_json_next(s);
        if (!learn_value(l, t, i >= 0 ? &object->children[i] : NULL)) return false;
    }
    if (fm_json_next(s) != FM_JT_NONE)
        return false; /* what follows an object is ignored, but not always the same */
    return add_op(l, (fm_json_op){.action = FM_JOP_END}, text.ptr + text.len, NULL);
}

/* The slots that the line leaves out. */
static bool add_absent(learner *l, fm_json_slot *slot)
{
    if (l->t->n_absent == FM_JSON_OPS_MAX) return false;
    if (!is_used(l, slot)) {
        l->t->absent[l->t->n_absent++] = slot;
        return true;
    }
    for (int32_t i = 0; i < slot->n_children; i++)
        if (slot->type->id == FM_TYPE_STRUCT && !add_absent(l, &slot->children[i])) return false;
    return true;
}

static bool learn_all(learner *l, fm_json_slot *root, fm_json_slot *corrupt, fm_str text)
{
    if (!learn_line(l, root, text)) return false;
    for (int32_t i = 0; i < root->n_children; i++)
        if (!add_absent(l, &root->children[i])) return false;
    return !corrupt || add_absent(l, corrupt);
}

/* The place for one more template: a free one, or now and then that of the one least used, but
 * never the first. */
static fm_json_template *place(fm_json_run *run)
{
    int32_t least = 1;

    if (run->n_templates < FM_JSON_TEMPLATES_MAX) return &run->templates[run->n_templates];
    if (run->misses < run->learn_at) return NULL;
    run->learn_at = run->misses + LEARN_AGAIN_MISSES;
    for (int32_t i = 0; i < run->n_templates; i++) {
        if (i > 1 && run->templates[i].hits < run->templates[least].hits) least = i;
        run->templates[i].hits /= 2; /* what was long ago counts less */
    }
    return &run->templates[least];
}

fm_status fm_json_learn(fm_json_run *run, fm_json_slot *root, fm_json_slot *corrupt, fm_str text,
                        fm_error *err)
{
    fm_json_template t = {.n_ops = 1}, *at = place(run);

    if (!at) return FM_OK;
    t.arena = fm_arena_new(0);
    if (!t.arena) return fm_no_memory(NULL, err);
    learner l = {.c = run->converter, .arena = t.arena, .t = &t, .literal = text.ptr};
    t.ops = fm_arena_array(t.arena, fm_json_op, FM_JSON_OPS_MAX);
    t.absent = fm_arena_array(t.arena, fm_json_slot *, FM_JSON_OPS_MAX);
    t.converted = fm_arena_array(t.arena, fm_json_slot *, FM_JSON_OPS_MAX);
    l.used = fm_arena_array(t.arena, fm_json_slot *, FM_JSON_OPS_MAX);
    bool ok = t.ops && t.absent && t.converted && l.used;
    l.no_memory = !ok;
    if (ok) ok = fm_json_convert_start(run->converter, text, run->converter->arena) == FM_JT_OBJECT;
    if (ok) ok = learn_all(&l, root, corrupt, text);
    if (!ok) {
        fm_arena_free(t.arena);
        return l.no_memory ? fm_no_memory(NULL, err) : FM_OK;
    }
    if (at < run->templates + run->n_templates)
        fm_arena_free(at->arena);
    else
        run->n_templates++;
    *at = t;
    return FM_OK;
}
