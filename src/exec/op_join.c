/* exec/op_join.c: a stream (or a batch) joined with a table: the table side is read anew at the start of each micro-batch
 * and hashed; the rows of the other side look their partners up. Rule: semantics 5.4.
 *
 * One side is the probe: the stream, or the left of two batches; the other is built. Equalities of the condition between
 * the sides are the key; what is left of the condition is tested pair by pair. Null keys find nobody. */
#include "exec/exec_impl.h"
#include "exec/rows.h"

enum { PAIRS = 4096, KEYS_MAX = 64 };

/* The table side, which all workers look into. Worker 0's join reads it, alone. */
typedef struct join_table {
    int32_t no_numbers;       /* a table side has no stateful operators and no streams */
    fm_crew *crew;            /* of one */
    fm_forest forest;
    fm_rows rows;
    fm_state *index;          /* key -> number of its first row in `chain`, from 1 */
    fm_row_ref *refs;         /* [rows] by number */
    int32_t *next;            /* [rows] the row before of the same key; 0: none */
} join_table;

typedef struct join_op {
    fm_op base;
    struct join_op *twins;    /* worker 0: the copies of the others, a list */
    join_table *table;
    bool owns_table;
    const fm_plan *plan;
    fm_join_type type;
    bool probe_is_right;
    bool keeps_probe, keeps_build; /* outer on that side */
    int32_t n_keys;
    fm_eval *probe_keys[KEYS_MAX], *build_keys[KEYS_MAX];
    bool null_safe[KEYS_MAX];
    fm_eval *residual;        /* over all columns, left then right; or NULL */
    const fm_type *pair_schema; /* left then right */
    fm_arena *marks;          /* of build_matched */
    uint8_t *build_matched;   /* [rows] that this worker found a partner for */
    const fm_wake *cancelled;
} join_op;

/* ---- The build side ---------------------------------------------------------------------------------------- */

static fm_status encode_keys(join_op *self, fm_eval *const *evals, const fm_op_batch *mb, const fm_batch *in, fm_arena *arena,
                             fm_key *keys, uint8_t *usable, fm_error *err)
{
    fm_vec *values = fm_arena_array(arena, fm_vec, self->n_keys);
    const fm_vec **columns = fm_arena_array(arena, const fm_vec *, self->n_keys);

    if (!values || !columns) return fm_no_memory(arena, err);
    memset(usable, 1, (size_t)in->rows);
    for (int32_t k = 0; k < self->n_keys; k++) {
        FM_TRY(fm_eval_run(evals[k], mb->run, in, arena, &values[k], err));
        columns[k] = &values[k];
        for (int32_t i = 0; !self->null_safe[k] && i < in->rows; i++) usable[i] &= !fm_vec_is_null(&values[k], i);
    }
    return fm_keys_encode(columns, self->n_keys, in->rows, arena, keys, err);
}

static fm_status index_batch(join_op *self, const fm_op_batch *mb, int32_t batch, int32_t *number, fm_arena *arena, fm_error *err)
{
    const fm_batch *in = self->table->rows.batches[batch];
    fm_key *keys = fm_arena_alloc(arena, ((size_t)in->rows + 1) * sizeof *keys, 8);
    uint8_t *usable = fm_arena_alloc(arena, (size_t)in->rows + 1, 1);
    fm_state_bucket *bucket;

    if (!keys || !usable) return fm_no_memory(arena, err);
    FM_TRY(encode_keys(self, self->build_keys, mb, in, arena, keys, usable, err));
    fm_state_part *part = fm_state_part_at(self->table->index, 0);
    FM_TRY(fm_state_bucket_at(part, FM_STATE_NO_TIME, &bucket, err));
    for (int32_t i = 0; i < in->rows; i++) {
        char *value;
        int32_t row = (*number)++;
        self->table->refs[row] = (fm_row_ref){batch, i};
        if (!usable[i]) continue;
        FM_TRY(fm_state_upsert_in(part, bucket, &keys[i], 1, &value, NULL, err));
        int64_t *first = (int64_t *)(void *)value;
        self->table->next[row] = (int32_t)*first;
        *first = row + 1;
    }
    return FM_OK;
}

static fm_status read_build_side(join_op *self, const fm_op_batch *mb, fm_error *err)
{
    fm_op_batch batch = {.run = mb->run, .mode = FM_MODE_COMPLETE};
    fm_state_bucket *bucket;
    int32_t number = 0;

    fm_rows_reset(&self->table->rows);
    fm_state_part *part = fm_state_part_at(self->table->index, 0);
    while ((bucket = fm_state_bucket_nth(part, 0))) fm_state_bucket_drop(part, bucket);
    FM_TRY(fm_forest_run(&self->table->forest, &batch, NULL, err));
    if (self->table->rows.rows >= INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_TABLE_TOO_LARGE", "The table side of a join has more than 2^31 rows.");
    self->table->refs = fm_arena_array(self->table->rows.arena, fm_row_ref, self->table->rows.rows);
    self->table->next = fm_arena_array(self->table->rows.arena, int32_t, self->table->rows.rows);
    fm_arena *scratch = fm_arena_new(0);
    fm_status st = self->table->refs && self->table->next && scratch ? FM_OK : fm_no_memory(NULL, err);
    for (int32_t b = 0; st == FM_OK && b < self->table->rows.n; b++) {
        fm_arena_reset(scratch);
        st = index_batch(self, mb, b, &number, scratch, err);
    }
    fm_arena_free(scratch);
    return st;
}

/* Worker 0's begins first. */
static fm_status join_begin(fm_op *op, const fm_op_batch *mb, fm_error *err)
{
    join_op *self = (join_op *)op;

    if (self->owns_table) FM_TRY(fm_context(err, read_build_side(self, mb, err), "reading the table side of a join"));
    fm_arena_reset(self->marks);
    self->build_matched = fm_arena_array(self->marks, uint8_t, self->table->rows.rows);
    return self->build_matched ? FM_OK : fm_no_memory(self->marks, err);
}

/* ---- Pairs ------------------------------------------------------------------------------------------------- */

/* Pairs under construction: rows of the probe batch and numbers of build rows (-1: none). */
typedef struct pairs {
    int32_t *probe, *build;
    int32_t n;
} pairs;

/* Left columns, then right columns, of the pairs. */
static fm_status make_batch(join_op *self, const fm_batch *probe, const pairs *p, fm_arena *arena, const fm_type *schema, fm_batch *out, fm_error *err)
{
    int32_t n_probe = probe ? probe->schema->n_fields : self->pair_schema->n_fields - self->table->rows.schema->n_fields;
    int32_t n_build = self->table->rows.schema->n_fields;
    fm_vec *columns = fm_arena_array(arena, fm_vec, n_probe + n_build);
    fm_row_ref *refs = fm_arena_array(arena, fm_row_ref, p->n);
    int32_t probe_at = self->probe_is_right ? n_build : 0, build_at = self->probe_is_right ? 0 : n_probe;

    if (!columns || !refs) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < p->n; i++) refs[i] = p->build[i] < 0 ? (fm_row_ref){-1, 0} : self->table->refs[p->build[i]];
    for (int32_t c = 0; c < n_probe; c++) {
        if (probe) FM_TRY(fm_vec_gather(&columns[probe_at + c], &probe->columns[c], p->probe, p->n, arena, err));
        else FM_TRY(fm_vec_nulls(&columns[probe_at + c], self->pair_schema->fields[probe_at + c].type, p->n, arena, err));
    }
    for (int32_t c = 0; c < n_build; c++) FM_TRY(fm_rows_gather(&self->table->rows, c, refs, p->n, arena, &columns[build_at + c], err));
    *out = (fm_batch){.schema = schema, .rows = p->n, .columns = columns};
    return FM_OK;
}

/* Tests what is left of the condition; pairs that pass mark both their rows, and go out unless only the mark counts. */
static fm_status flush(join_op *self, const fm_op_batch *mb, const fm_batch *probe, pairs *p, uint8_t *matched, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    bool emits = self->type != FM_JOIN_LEFT_SEMI && self->type != FM_JOIN_LEFT_ANTI;
    fm_batch batch;
    const fm_batch *kept = &batch;
    const uint8_t *keep = NULL;
    fm_vec condition;

    if (p->n == 0) return FM_OK;
    FM_TRY(fm_exec_go_on(self->cancelled, err));
    if (emits || self->residual) FM_TRY(make_batch(self, probe, p, arena, self->pair_schema, &batch, err));
    if (self->residual) {
        FM_TRY(fm_eval_run(self->residual, mb->run, &batch, arena, &condition, err));
        if (condition.type->id == FM_TYPE_NULL) {
            p->n = 0;
            return FM_OK;
        }
        keep = fm_vec_bool(&condition);
        if (emits) FM_TRY(fm_batch_filter(&batch, keep, arena, &kept, err));
    }
    for (int32_t i = 0; i < p->n; i++) {
        if (keep && !keep[i]) continue;
        matched[p->probe[i]] = 1;
        self->build_matched[p->build[i]] = 1;
    }
    p->n = 0;
    if (!emits || kept->rows == 0) return FM_OK;
    fm_batch named = {.schema = self->base.schema, .rows = kept->rows, .columns = kept->columns};
    return out->push(out->ctx, &named, err);
}

/* Rows of the probe that found a partner (semi), or none (anti, outer). */
static fm_status give_probe(join_op *self, const fm_batch *probe, const uint8_t *matched, pairs *p, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    bool wants_matched = self->type == FM_JOIN_LEFT_SEMI;
    bool alone = self->type == FM_JOIN_LEFT_SEMI || self->type == FM_JOIN_LEFT_ANTI;
    const fm_batch *some;
    fm_batch batch;

    if (!alone && !self->keeps_probe) return FM_OK;
    p->n = 0;
    for (int32_t i = 0; i < probe->rows; i++) {
        if ((matched[i] != 0) != wants_matched) continue;
        p->probe[p->n] = i;
        p->build[p->n++] = -1;
    }
    if (p->n == 0) return FM_OK;
    if (alone) {
        FM_TRY(fm_batch_gather(probe, p->probe, p->n, arena, &some, err));
        batch = (fm_batch){.schema = self->base.schema, .rows = some->rows, .columns = some->columns};
    } else {
        FM_TRY(make_batch(self, probe, p, arena, self->base.schema, &batch, err));
    }
    return out->push(out->ctx, &batch, err);
}

static fm_status join_push(fm_op *op, const fm_op_batch *mb, int32_t input, const fm_batch *in, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    join_op *self = (join_op *)op;
    int32_t n = in->rows, cap = n > PAIRS ? n : PAIRS;
    fm_key *keys = fm_arena_alloc(arena, ((size_t)n + 1) * sizeof *keys, 8);
    uint8_t *usable = fm_arena_alloc(arena, (size_t)n + 1, 1), *matched = fm_arena_array(arena, uint8_t, n);
    char **values = fm_arena_array(arena, char *, n);
    pairs p = {fm_arena_array(arena, int32_t, cap), fm_arena_array(arena, int32_t, cap), 0};
    fm_state_part *part = fm_state_part_at(self->table->index, 0);
    fm_state_bucket *bucket = fm_state_bucket_nth(part, 0);

    if (!keys || !usable || !matched || !values || !p.probe || !p.build) return fm_no_memory(arena, err);
    FM_TRY(encode_keys(self, self->probe_keys, mb, in, arena, keys, usable, err));
    if (bucket) fm_state_lookup(part, bucket, keys, n, values);
    for (int32_t i = 0; bucket && i < n; i++) {
        if (!usable[i] || !values[i]) continue;
        for (int32_t row = (int32_t)*(int64_t *)(void *)values[i]; row; row = self->table->next[row - 1]) {
            if (p.n == PAIRS) FM_TRY(flush(self, mb, in, &p, matched, arena, out, err));
            p.probe[p.n] = i;
            p.build[p.n++] = row - 1;
        }
    }
    FM_TRY(flush(self, mb, in, &p, matched, arena, out, err));
    return give_probe(self, in, matched, &p, arena, out, err);
}

/* Right and full joins of batches: rows of the table that nobody asked for. */
static fm_status join_finish(fm_op *op, const fm_op_batch *mb, fm_arena *arena, const fm_emit *out, fm_error *err)
{
    join_op *self = (join_op *)op;

    if (!self->keeps_build) return FM_OK;
    for (const join_op *twin = self->twins; twin; twin = twin->twins) {
        for (int64_t i = 0; i < self->table->rows.rows; i++) self->build_matched[i] |= twin->build_matched[i];
    }
    for (int64_t from = 0; from < self->table->rows.rows;) {
        fm_arena_reset(arena);
        pairs p = {fm_arena_array(arena, int32_t, PAIRS), fm_arena_array(arena, int32_t, PAIRS), 0};
        fm_batch batch;
        if (!p.probe || !p.build) return fm_no_memory(arena, err);
        for (; from < self->table->rows.rows && p.n < PAIRS; from++) {
            if (!self->build_matched[from]) p.build[p.n++] = (int32_t)from;
        }
        if (p.n == 0) break;
        FM_TRY(make_batch(self, NULL, &p, arena, self->base.schema, &batch, err));
        FM_TRY(out->push(out->ctx, &batch, err));
    }
    return FM_OK;
}

static void join_close(fm_op *op)
{
    join_op *self = (join_op *)op;

    fm_arena_free(self->marks);
    if (!self->owns_table) return;
    fm_forest_close(&self->table->forest);
    fm_crew_free(self->table->crew);
    fm_rows_fini(&self->table->rows);
    fm_state_close(self->table->index);
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

typedef struct used {
    const fm_plan *plan;
    bool inside, outside;
} used;

static bool note_use(const fm_expr *e, void *ctx)
{
    used *u = ctx;

    if (e->kind != FM_EXPR_ATTRIBUTE) return true;
    if (fm_plan_column(u->plan, e->attr_id) >= 0) u->inside = true;
    else u->outside = true;
    return true;
}

/* Uses columns of this plan only. */
static bool belongs_to(const fm_expr *e, const fm_plan *plan)
{
    used u = {.plan = plan};

    fm_expr_walk(e, note_use, &u);
    return u.inside && !u.outside;
}

static bool is_call(const fm_expr *e, const char *name)
{
    return e->kind == FM_EXPR_CALL && strcmp(e->function->name, name) == 0;
}

/* Takes the condition apart at its ANDs: equalities between the sides become keys, the rest is tested on pairs. */
static fm_status take_apart(fm_tree *tree, join_op *self, const fm_expr *e, const fm_plan *probe, const fm_plan *build, const fm_expr **rest, fm_error *err)
{
    if (e->kind == FM_EXPR_AND) {
        for (int32_t i = 0; i < e->n_args; i++) FM_TRY(take_apart(tree, self, e->args[i], probe, build, rest, err));
        return FM_OK;
    }
    bool equality = (is_call(e, "=") || is_call(e, "<=>")) && e->n_args == 2 && self->n_keys < KEYS_MAX;
    for (int32_t side = 0; equality && side < 2; side++) {
        const fm_expr *a = e->args[side], *b = e->args[1 - side];
        if (!belongs_to(a, probe) || !belongs_to(b, build)) continue;
        int32_t k = self->n_keys++;
        self->null_safe[k] = is_call(e, "<=>");
        FM_TRY(fm_tree_eval(tree, a, probe, &self->probe_keys[k], err));
        return self->owns_table ? fm_tree_eval(tree, b, build, &self->build_keys[k], err) : FM_OK;
    }
    if (*rest) {
        fm_expr *both = fm_expr_new(tree->arena, FM_EXPR_AND, e->pos);
        fm_expr **args = fm_arena_array(tree->arena, fm_expr *, 2);
        if (!both || !args) return fm_no_memory(tree->arena, err);
        args[0] = (fm_expr *)(uintptr_t)*rest;
        args[1] = (fm_expr *)(uintptr_t)e;
        both->args = args;
        both->n_args = 2;
        both->type = fm_type_bool();
        both->nullable = true;
        both->deterministic = true;
        *rest = both;
    } else {
        *rest = e;
    }
    return FM_OK;
}

static fm_status bind_residual(fm_tree *tree, join_op *self, const fm_expr *rest, const fm_plan *left, const fm_plan *right, fm_error *err)
{
    int32_t n = left->n_output + right->n_output;
    int32_t *ids = fm_arena_array(tree->arena, int32_t, n);
    fm_field *fields = fm_arena_array(tree->arena, fm_field, n);
    fm_expr *bound;

    if (!ids || !fields) return fm_no_memory(tree->arena, err);
    for (int32_t i = 0; i < n; i++) {
        const fm_attr *a = i < left->n_output ? &left->output[i] : &right->output[i - left->n_output];
        ids[i] = a->id;
        fields[i] = (fm_field){a->name, a->type, true};
    }
    self->pair_schema = fm_type_struct(tree->arena, fields, n);
    if (!self->pair_schema) return fm_no_memory(tree->arena, err);
    if (!rest) return FM_OK;
    FM_TRY(fm_expr_bind(tree->arena, rest, ids, n, &bound, err));
    return fm_eval_new(tree->evals, tree->env->conf, bound, &self->residual, err);
}

/* Reads of the table side go to one worker: rows keep the order of the input. */
static fm_status open_table(fm_tree *tree, join_table *t, const fm_plan *build, fm_error *err)
{
    const fm_type *schema = fm_plan_schema(tree->arena, build);
    fm_tree first = {.exec = tree->exec, .arena = tree->arena, .env = tree->env, .mode = FM_MODE_COMPLETE, .next_operator = &t->no_numbers, .next_stream = &t->no_numbers};
    fm_emit to_rows = {.ctx = &t->rows, .push = fm_rows_push};

    if (!schema) return fm_no_memory(tree->arena, err);
    FM_TRY(fm_rows_init(&t->rows, schema, tree->env->memory_budget, err));
    FM_TRY(fm_state_open(&(fm_state_spec){.in_memory = true, .value_size = 8}, 0, &t->index, err));
    FM_TRY(fm_crew_new(1, false, &t->crew, err));
    return fm_forest_build(&t->forest, t->crew, &first, &to_rows, true, build, err);
}

fm_status fm_op_join_new(fm_tree *tree, const fm_plan *plan, fm_op **out, fm_error *err)
{
    static const fm_op_type type = {.name = "BroadcastHashJoin", .begin = join_begin, .push = join_push, .finish = join_finish, .close = join_close};
    join_op *self = fm_arena_one(tree->arena, join_op), *twin = (join_op *)fm_tree_twin(tree);
    const fm_expr *rest = NULL;

    if (!self) return fm_no_memory(tree->arena, err);
    self->base = (fm_op){.type = &type, .schema = fm_plan_schema(tree->arena, plan)};
    self->plan = plan;
    self->cancelled = tree->env->cancelled;
    self->type = plan->join_type;
    self->probe_is_right = plan->children[1]->streaming;
    const fm_plan *probe = plan->children[self->probe_is_right], *build = plan->children[!self->probe_is_right];
    self->keeps_probe = self->type == FM_JOIN_FULL || self->type == (self->probe_is_right ? FM_JOIN_RIGHT : FM_JOIN_LEFT);
    self->keeps_build = self->type == FM_JOIN_FULL || self->type == (self->probe_is_right ? FM_JOIN_LEFT : FM_JOIN_RIGHT);
    self->owns_table = twin == NULL;
    self->table = twin ? twin->table : fm_arena_one(tree->arena, join_table);
    if (!self->base.schema || !self->table) return fm_no_memory(tree->arena, err);
    if (twin) {
        self->twins = twin->twins;
        twin->twins = self;
    }
    *out = &self->base; /* from here on close() frees what is open */
    self->marks = fm_arena_new(0);
    if (!self->marks) return fm_no_memory(NULL, err);
    if (self->owns_table) FM_TRY(open_table(tree, self->table, build, err));
    if (plan->n_exprs) FM_TRY(take_apart(tree, self, plan->exprs[0], probe, build, &rest, err));
    return bind_residual(tree, self, rest, plan->children[0], plan->children[1], err);
}
