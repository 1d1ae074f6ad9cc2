/* engine/insert_table.c: INSERT INTO, INSERT OVERWRITE, REPLACE WHERE, into Delta tables. */
#include "engine/insert_table.h"

#include "base/time_text.h"
#include "engine/change_plan.h"
#include "engine/insert_plain.h"
#include "expr/cast.h"
#include "sql/sql.h"

typedef struct loading {
    fm_change *c;
    const fm_insertion *in;
    const fm_type *rows;         /* of the query, under the table's names and, where a cast is in place, its types */
    bool *cast;                  /* [rows->n_fields] */
    int64_t deleted;             /* by REPLACE WHERE */
    bool want_old;
} loading;

/* ---- Rows of the query ------------------------------------------------------------------------------------------------- */

static fm_status wrong_number(const loading *l, const fm_type *schema, fm_error *err)
{
    if (schema->n_fields < l->in->n_names) {
        return fm_fail_at(err, FM_INVALID, "DELTA_INSERT_COLUMN_ARITY_MISMATCH", l->in->pos.line, l->in->pos.column,
                          "Cannot write to '%s', not enough data columns; target table has %d column(s) but the inserted data has %d column(s).", l->c->log.root.ptr,
                          (int)l->in->n_names, (int)schema->n_fields);
    }
    return fm_fail_at(err, FM_INVALID, "DELTA_METADATA_MISMATCH", l->in->pos.line, l->in->pos.column,
                      "A schema mismatch detected when writing to the Delta table '%s': it takes %d column(s) here, and the inserted data has %d. To enable schema migration, SET "
                      "spark.databricks.delta.schema.autoMerge.enabled = true.",
                      l->c->log.root.ptr, (int)l->in->n_names, (int)schema->n_fields);
}

/* Names by position, and the table's types where values are cast on their way in, as Spark's store assignment does. */
static fm_status name_rows(loading *l, const fm_type *schema, fm_error *err)
{
    const fm_type *table = l->c->snapshot->version >= 0 && !l->in->wish.replace && !l->in->wish.overwrite_schema ? l->c->snapshot->schema->type : NULL;
    fm_field *fields = fm_arena_array(l->c->arena, fm_field, schema->n_fields);

    l->cast = fm_arena_array(l->c->arena, bool, schema->n_fields);
    if (!fields || !l->cast) return fm_no_memory(l->c->arena, err);
    bool more = schema->n_fields > l->in->n_names && l->in->merge_schema;
    if (l->in->names && schema->n_fields != l->in->n_names && !more) return wrong_number(l, schema, err);
    for (int32_t i = 0; i < schema->n_fields; i++) {
        fields[i] = schema->fields[i];
        if (l->in->names && i < l->in->n_names) fields[i].name = l->in->names[i];
        int32_t c = table && !l->in->merge_schema ? fm_delta_schema_find(table, fields[i].name) : -1;
        if (c < 0) continue;
        const fm_type *to = table->fields[c].type;
        l->cast[i] = !fm_type_eq(to, fields[i].type) && !fm_type_is_nested(to) && fm_cast_exists(fields[i].type, to, true);
        if (l->cast[i]) fields[i].type = to;
    }
    l->rows = fm_type_struct(l->c->arena, fields, schema->n_fields);
    return l->rows ? FM_OK : fm_no_memory(l->c->arena, err);
}

static fm_status begin_rows(void *ctx, const fm_type *schema, fm_error *err)
{
    loading *l = ctx;
    fm_delta_wish wish = l->in->wish;

    if (l->in->makes_table) FM_TRY(fm_columns_differ(&l->c->s->conf, schema, l->in->pos, err));
    FM_TRY(name_rows(l, schema, err));
    wish.rows = l->rows;
    wish.merge_schema = l->in->merge_schema;
    FM_TRY(fm_change_plan_rows(l->c, l->rows, &wish, l->in->mode == FM_INSERT_REPLACE, err));
    return l->in->replace_sql.ptr ? fm_delta_shape_require(l->c->shape, l->in->replace_sql, l->c->arena, err) : FM_OK;
}

static fm_status push_rows(void *ctx, const fm_batch *batch, fm_error *err)
{
    loading *l = ctx;
    int32_t *types = NULL;

    fm_arena_reset(l->c->batch);
    fm_vec *columns = fm_arena_array(l->c->batch, fm_vec, l->rows->n_fields);
    if (!columns) return fm_no_memory(l->c->batch, err);
    for (int32_t i = 0; i < l->rows->n_fields; i++) {
        columns[i] = batch->columns[i];
        if (l->cast[i]) FM_TRY(fm_cast_run(&batch->columns[i], l->rows->fields[i].type, FM_CAST_ANSI, &l->c->s->conf, l->c->batch, &columns[i], err));
    }
    if (l->c->changes) {
        types = fm_arena_array(l->c->batch, int32_t, batch->rows);
        if (!types) return fm_no_memory(l->c->batch, err);
        for (int32_t i = 0; i < batch->rows; i++) types[i] = FM_CHANGE_INSERTED;
    }
    fm_batch rows = {.schema = l->rows, .rows = batch->rows, .columns = columns};
    return fm_change_push(l->c, &rows, NULL, 0, types, err);
}

static fm_status note_reads(void *ctx, const fm_plan *optimized, fm_error *err)
{
    loading *l = ctx;

    return fm_change_note_reads(l->c, optimized, err);
}

/* ---- Rows that REPLACE WHERE takes away ------------------------------------------------------------------------------------ */

static fm_status begin_old(void *ctx, const fm_type *schema, fm_error *err) { return FM_OK; }

static fm_status take_old(void *ctx, const fm_batch *in, fm_error *err)
{
    loading *l = ctx;
    fm_batch old = {.schema = l->c->plan.schema->type, .rows = in->rows, .columns = in->columns + FM_CHANGE_COLUMNS};

    fm_arena_reset(l->c->batch);
    int32_t *types = fm_arena_array(l->c->batch, int32_t, in->rows);
    if (!types) return fm_no_memory(l->c->batch, err);
    for (int32_t i = 0; i < in->rows; i++) {
        bool fresh;
        FM_TRY(fm_change_hit(l->c, fm_vec_str(&in->columns[FM_CHANGE_FILE], i), fm_vec_i64(&in->columns[FM_CHANGE_ROW])[i], &fresh, err));
        types[i] = FM_CHANGE_DELETED;
    }
    l->deleted += in->rows;
    return l->want_old ? fm_change_note(l->c, &old, types, err) : FM_OK;
}

/* DELETE FROM the table WHERE replace, as a query. */
static fm_status remove_old(loading *l, fm_error *err)
{
    fm_arena *arena = l->c->arena;
    fm_plan *statement = fm_plan_new(arena, FM_PLAN_DELETE, l->in->pos), *relation = fm_plan_new(arena, FM_PLAN_RELATION, l->in->pos), *query;
    fm_merge_clause *clause = fm_arena_one(arena, fm_merge_clause);
    fm_plan **children = fm_arena_array(arena, fm_plan *, 1);
    fm_rows_to to = {.ctx = l, .begin = begin_old, .push = take_old, .planned = note_reads};
    int32_t none;

    if (!statement || !relation || !clause || !children) return fm_no_memory(arena, err);
    children[0] = relation;
    *clause = (fm_merge_clause){.when = FM_WHEN_MATCHED, .action = FM_MERGE_DELETE, .condition = (fm_expr *)(uintptr_t)l->in->replace, .pos = l->in->pos};
    statement->children = children;
    statement->n_children = 1;
    statement->clauses = clause;
    statement->n_clauses = 1;
    l->want_old = l->c->changes != NULL;
    FM_TRY(fm_change_declare_target(l->c, err));
    fm_change_query q = {.s = l->c->s, .statement = statement, .target = FM_STR(FM_CHANGE_TARGET), .have = l->c->snapshot->schema, .want = l->c->plan.schema, .want_old = l->want_old};
    FM_TRY(fm_change_plan(&q, arena, &query, &none, err));
    return fm_session_query_into(l->c->s, query, arena, &to, err);
}

/* ---- Partitions that rows come to --------------------------------------------------------------------------------------------- */

static fm_status partition_key(const loading *l, const fm_delta_file *f, fm_arena *arena, fm_str *out, fm_error *err)
{
    const fm_delta_schema *s = l->c->plan.schema;
    fm_strbuf text = {0};

    for (int32_t i = 0; i < s->n_partitions; i++) {
        const fm_str *v = fm_delta_map_find(&f->partition_values, s->fields[s->partitions[i]].physical);
        if (v && v->len) fm_strbuf_add_json(&text, *v);
        fm_strbuf_add_char(&text, ',');
    }
    *out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status remove_partitions(loading *l, fm_delta_commit *d, fm_change_totals *totals, fm_error *err)
{
    const fm_delta_snapshot *s = l->c->snapshot;
    fm_delta_index touched = {0};
    fm_delta_file *removes = fm_arena_array(l->c->arena, fm_delta_file, s->n_live);
    int64_t now_ms = fm_clock_now_us(l->c->s->env.clock) / FM_US_PER_MS;
    fm_status st = removes ? FM_OK : fm_no_memory(l->c->arena, err);
    fm_str key;

    for (int32_t i = 0; st == FM_OK && i < d->n_adds; i++) {
        st = partition_key(l, &d->adds[i], l->c->arena, &key, err);
        if (st == FM_OK) st = fm_delta_index_set(&touched, key, i, err);
    }
    for (int32_t i = 0; st == FM_OK && i < s->n_entries; i++) {
        if (!s->entries[i].is_live) continue;
        st = partition_key(l, &s->entries[i].file, l->c->arena, &key, err);
        if (st != FM_OK || fm_delta_index_find(&touched, key) < 0) continue;
        removes[d->n_removes] = s->entries[i].file;
        removes[d->n_removes].deleted_ms = now_ms;
        removes[d->n_removes++].data_change = true;
        totals->removed_bytes += s->entries[i].file.size;
    }
    fm_delta_index_fini(&touched);
    d->removes = removes;
    totals->removed_files = d->n_removes;
    return st;
}

/* ---- The commit ------------------------------------------------------------------------------------------------------------------- */

static fm_status describe(const loading *l, const fm_change_totals *t, fm_delta_commit *d, fm_error *err)
{
    fm_arena *arena = l->c->arena;
    bool overwrites = l->in->mode != FM_INSERT_APPEND;
    fm_strbuf sql = {0};
    fm_pair pairs[] = {{"mode", overwrites ? FM_STR("Overwrite") : FM_STR("Append")}, {"partitionBy", FM_STR("[]")}, {"predicate", (fm_str){0}}};
    fm_metric m[] = {{"numFiles", d->n_adds}, {"numOutputRows", l->c->rows_written}, {"numOutputBytes", t->added_bytes}, {"numRemovedFiles", t->removed_files},
                     {"numRemovedBytes", t->removed_bytes}, {"numCopiedRows", t->copied_rows}, {"numAddedChangeFiles", t->change_files}, {"numDeletedRows", l->deleted}};

    if (l->in->replace) fm_expr_sql(l->in->replace, &sql);
    pairs[2].value = fm_strbuf_str(&sql);
    d->parameters = l->in->parameters.ptr ? l->in->parameters : fm_pairs_json(arena, pairs, l->in->replace ? 3 : l->in->mode == FM_INSERT_DYNAMIC ? 2 : 2);
    d->metrics = fm_metrics_json(arena, m, l->in->mode == FM_INSERT_REPLACE ? 8 : overwrites ? 5 : 3);
    fm_strbuf_fini(&sql);
    return d->parameters.ptr && d->metrics.ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_insert_rows(fm_change *c, const fm_insertion *in, fm_error *err)
{
    loading l = {.c = c, .in = in};
    fm_rows_to to = {.ctx = &l, .begin = begin_rows, .push = push_rows, .planned = note_reads};
    fm_change_totals totals;
    fm_delta_commit d = {.operation = in->operation, .read_files = in->mode == FM_INSERT_OVERWRITE || in->mode == FM_INSERT_DYNAMIC};

    FM_TRY(fm_session_query_into(c->s, in->query, c->arena, &to, err));
    if (in->mode == FM_INSERT_REPLACE) FM_TRY(remove_old(&l, err));
    FM_TRY(fm_change_finish(c, in->mode == FM_INSERT_OVERWRITE, &d, &totals, err));
    if (in->mode == FM_INSERT_DYNAMIC) FM_TRY(remove_partitions(&l, &d, &totals, err));
    FM_TRY(describe(&l, &totals, &d, err));
    return fm_change_commit(c, &d, err);
}

/* ---- The statement ------------------------------------------------------------------------------------------------------------------- */

typedef struct statement {
    const fm_plan *p;
    fm_insertion in;
    fm_change *c;
    fm_session *s;
} statement;

static fm_status check_names(const fm_plan *p, const fm_type *table, bool evolve, fm_error *err)
{
    for (int32_t i = 0; i < p->n_column_names; i++) {
        for (int32_t k = 0; k < i; k++) {
            if (!fm_str_eq_ci(p->column_names[i], p->column_names[k])) continue;
            return fm_fail_at(err, FM_INVALID, "COLUMN_ALREADY_EXISTS", p->pos.line, p->pos.column,
                              "The column `%.*s` already exists. Choose another name or rename the existing column.", FM_STR_ARG(p->column_names[i]));
        }
        if (evolve || fm_delta_schema_find(table, p->column_names[i]) >= 0) continue;
        return fm_fail_at(err, FM_INVALID, "UNRESOLVED_COLUMN.WITH_SUGGESTION", p->pos.line, p->pos.column,
                          "A column, variable, or function parameter with name `%.*s` cannot be resolved: the table has none of that name.", FM_STR_ARG(p->column_names[i]));
    }
    return FM_OK;
}

/* The place in PARTITION (...) of a column; -1: none. */
static int32_t in_partition(const fm_plan *p, fm_str name)
{
    for (int32_t i = 0; p->n_clauses && i < p->clauses[0].n; i++) {
        if (fm_str_eq_ci(p->clauses[0].columns[i].parts[0], name)) return i;
    }
    return -1;
}

static fm_status check_partition(const statement *st, fm_error *err)
{
    const fm_delta_schema *schema = st->c->snapshot->schema;

    for (int32_t i = 0; st->p->n_clauses && i < st->p->clauses[0].n; i++) {
        fm_str name = st->p->clauses[0].columns[i].parts[0];
        int32_t c = fm_delta_schema_find(schema->type, name);
        if (c >= 0 && schema->is_partition[c] && in_partition(st->p, name) == i) continue;
        return fm_fail_at(err, FM_INVALID, "NON_PARTITION_COLUMN", st->p->pos.line, st->p->pos.column,
                          "PARTITION clause cannot contain the non-partition column: `%.*s`, and none twice.", FM_STR_ARG(name));
    }
    return FM_OK;
}

/* Columns by position: those of the list, or the table's; dynamic columns of PARTITION stand behind the others, fixed ones at the end. */
static fm_status choose_names(statement *st, fm_error *err)
{
    const fm_type *table = st->c->snapshot->schema->type;
    const fm_plan *p = st->p;
    int32_t n = 0, n_list = p->n_column_names ? p->n_column_names : table->n_fields, n_parts = p->n_clauses ? p->clauses[0].n : 0;
    fm_str *names = fm_arena_array(st->c->arena, fm_str, n_list + n_parts);

    FM_TRY(check_names(p, table, st->in.merge_schema, err));
    FM_TRY(check_partition(st, err));
    st->in.names = NULL;
    if (p->by_name && !n_parts) return FM_OK;
    if (!names) return fm_no_memory(st->c->arena, err);
    for (int32_t i = 0; i < n_list && !p->by_name; i++) {
        fm_str name = p->n_column_names ? p->column_names[i] : table->fields[i].name;
        if (in_partition(p, name) < 0) names[n++] = name;
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        for (int32_t i = 0; i < n_parts; i++) {
            if ((p->clauses[0].values[i] != NULL) == fixed && !(p->by_name && !fixed)) names[n++] = p->clauses[0].columns[i].parts[0];
        }
    }
    if (p->by_name) return FM_OK;
    st->in.names = names;
    st->in.n_names = n;
    return FM_OK;
}

/* DEFAULT, where a value of a column stands: in VALUES, and in the list of a SELECT. */
static fm_status put_default(statement *st, fm_expr **e, int32_t column, fm_error *err)
{
    const fm_delta_schema *schema = st->c->snapshot->schema;
    bool is_default = (*e)->kind == FM_EXPR_NAME && (*e)->n_parts == 1 && fm_str_eq_ci((*e)->parts[0], FM_STR("DEFAULT"));

    if (!is_default || !st->in.names || column >= st->in.n_names) return FM_OK;
    int32_t c = fm_delta_schema_find(schema->type, st->in.names[column]);
    if (c >= 0 && schema->fields[c].default_sql.ptr) return fm_sql_parse_expr(st->c->arena, schema->fields[c].default_sql, e, err);
    *e = fm_expr_literal_null(st->c->arena, c >= 0 ? schema->type->fields[c].type : fm_type_null());
    return *e ? FM_OK : fm_no_memory(st->c->arena, err);
}

static fm_status put_defaults(statement *st, const fm_plan **query, fm_error *err)
{
    const fm_plan *q = *query;

    if (q->kind != FM_PLAN_VALUES && q->kind != FM_PLAN_PROJECT) return FM_OK;
    fm_plan *copy = fm_plan_new(st->c->arena, q->kind, q->pos);
    fm_expr **exprs = fm_arena_array(st->c->arena, fm_expr *, q->n_exprs);
    if (!copy || !exprs) return fm_no_memory(st->c->arena, err);
    *copy = *q;
    copy->exprs = exprs;
    for (int32_t i = 0; i < q->n_exprs; i++) {
        exprs[i] = q->exprs[i];
        FM_TRY(put_default(st, &exprs[i], q->kind == FM_PLAN_VALUES ? i % q->n_columns : i, err));
    }
    *query = copy;
    return FM_OK;
}

/* SELECT *, <fixed values of PARTITION> FROM (query) */
fm_status fm_insert_fixed(const fm_plan *p, fm_arena *arena, const fm_plan **query, fm_error *err)
{
    const fm_merge_clause *parts = p->n_clauses ? &p->clauses[0] : NULL;
    int32_t n = 0;

    if (!parts) return FM_OK;
    fm_plan *project = fm_plan_new(arena, FM_PLAN_PROJECT, p->pos);
    fm_expr **list = fm_arena_array(arena, fm_expr *, parts->n + 1), *star = fm_expr_new(arena, FM_EXPR_STAR, p->pos);
    fm_plan **children = fm_arena_array(arena, fm_plan *, 1);
    if (!project || !list || !star || !children) return fm_no_memory(arena, err);
    list[n++] = star;
    for (int32_t i = 0; i < parts->n; i++) {
        if (!parts->values[i]) continue;
        fm_expr *alias = fm_expr_new(arena, FM_EXPR_ALIAS, p->pos);
        if (alias) alias->args = fm_arena_array(arena, fm_expr *, 1);
        if (!alias || !alias->args) return fm_no_memory(arena, err);
        alias->args[0] = parts->values[i];
        alias->n_args = 1;
        alias->name = parts->columns[i].parts[0];
        list[n++] = alias;
    }
    if (n == 1) return FM_OK;
    children[0] = (fm_plan *)(uintptr_t)*query;
    project->children = children;
    project->n_children = 1;
    project->exprs = list;
    project->n_exprs = n;
    *query = project;
    return FM_OK;
}

/* INSERT OVERWRITE ... PARTITION (k = 'a'): REPLACE WHERE k <=> 'a'. */
static fm_status fixed_condition(statement *st, fm_error *err)
{
    const fm_merge_clause *parts = st->p->n_clauses ? &st->p->clauses[0] : NULL;
    fm_arena *arena = st->c->arena;
    fm_expr *all = NULL;

    for (int32_t i = 0; parts && i < parts->n; i++) {
        fm_expr *name = fm_expr_new(arena, FM_EXPR_NAME, st->p->pos), **args = fm_arena_array(arena, fm_expr *, 2);
        if (!parts->values[i]) continue;
        if (!name || !args) return fm_no_memory(arena, err);
        name->parts = parts->columns[i].parts;
        name->n_parts = 1;
        args[0] = name;
        args[1] = parts->values[i];
        fm_expr *same = fm_expr_call(arena, FM_STR("<=>"), args, 2, st->p->pos);
        if (!same) return fm_no_memory(arena, err);
        if (all) {
            fm_expr *both = fm_expr_new(arena, FM_EXPR_AND, st->p->pos);
            if (both) both->args = fm_arena_array(arena, fm_expr *, 2);
            if (!both || !both->args) return fm_no_memory(arena, err);
            both->args[0] = all;
            both->args[1] = same;
            both->n_args = 2;
            same = both;
        }
        all = same;
    }
    st->in.replace = all;
    return FM_OK;
}

static fm_status choose_mode(statement *st, fm_error *err)
{
    fm_str mode = fm_options_get(&st->p->options, "partitionOverwriteMode", fm_options_get(&st->s->settings, "spark.sql.sources.partitionOverwriteMode", FM_STR("static")));

    st->in.mode = FM_INSERT_APPEND;
    if (st->p->n_exprs) {
        st->in.mode = FM_INSERT_REPLACE;
        st->in.replace = st->p->exprs[0];
        st->in.replace_sql = fm_options_get(&st->p->options, "replaceWhere", FM_STR(""));
        return FM_OK;
    }
    if (!st->p->all) return FM_OK;
    FM_TRY(fixed_condition(st, err));
    bool dynamic = fm_str_eq_ci(mode, FM_STR("dynamic")) && st->c->snapshot->schema->n_partitions;
    st->in.mode = dynamic ? FM_INSERT_DYNAMIC : st->in.replace ? FM_INSERT_REPLACE : FM_INSERT_OVERWRITE;
    if (dynamic) st->in.replace = NULL;
    return FM_OK;
}

static fm_status run(void *ctx, fm_error *err)
{
    statement *st = ctx;

    st->in.query = st->p->children[0];
    st->in.replace = NULL;
    FM_TRY(choose_mode(st, err));
    FM_TRY(choose_names(st, err));
    FM_TRY(put_defaults(st, &st->in.query, err));
    FM_TRY(fm_insert_fixed(st->p, st->c->arena, &st->in.query, err));
    return fm_insert_rows(st->c, &st->in, err);
}

fm_status fm_session_insert(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    const fm_table_def *table;
    fm_change c;
    statement st = {.p = p, .c = &c, .s = s, .in = {.operation = "WRITE", .pos = p->pos}};
    bool by_name = p->n_name_parts == 1 || (p->n_name_parts == 2 && fm_str_eq_ci(p->name_parts[0], FM_STR("default"))); /* no delta.`t` */
    const fm_relation *known = by_name ? fm_session_find(s, p->name) : NULL;

    if (known && known->table && !fm_str_eq_ci(known->table->format, FM_STR("delta"))) return fm_session_insert_plain(s, p, known->table, r, err);
    FM_TRY(fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, err));
    FM_TRY(fm_options_bool(&s->settings, "spark.databricks.delta.schema.autoMerge.enabled", false, &st.in.merge_schema, err));
    return fm_change_try(&c, s, table, fm_change_begin, run, &st, err);
}
