/* engine/alter_table.c: ALTER TABLE on Delta tables: columns, properties, constraints. One commit of metadata each.
 *
 * Rule  Delta, alterDeltaTableCommands: a new column is nullable and without a default; a column is renamed or dropped under column
 *       mapping only, since data files know it by another name then; a constraint must hold for the rows that are there */
#include <inttypes.h>

#include "engine/change_plan.h"
#include "engine/compile_sql.h"
#include "engine/change_rows.h"
#include "sql/sql.h"
#include "table/delta/delta_evolve.h"
#include "table/delta/delta_properties.h"

typedef struct alteration {
    fm_session *s;
    const fm_plan *p;
    fm_change c;
    fm_delta_metadata m;          /* as it will be */
    fm_delta_protocol protocol;
    fm_delta_commit d;
    fm_str name;                  /* of the table, for messages */
    bool is_nothing;              /* there is nothing to commit */
    fm_status (*act)(struct alteration *a, fm_error *err);
} alteration;

static fm_status commit(alteration *a, fm_error *err)
{
    const fm_delta_protocol *old = &a->c.snapshot->protocol;
    bool other = a->protocol.min_reader != old->min_reader || a->protocol.min_writer != old->min_writer || a->protocol.n_writer_features != old->n_writer_features ||
                 a->protocol.n_reader_features != old->n_reader_features;

    a->d.metadata = &a->m;
    if (other) a->d.protocol = &a->protocol;
    a->d.metrics = FM_STR("{}");
    return fm_change_commit(&a->c, &a->d, err);
}

static fm_status refuse_mapping(const alteration *a, const char *condition, const char *what, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, condition, a->p->pos.line, a->p->pos.column,
                      "%s is not supported for your Delta table: it needs column mapping. ALTER TABLE %.*s SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name').", what,
                      FM_STR_ARG(a->name));
}

static bool is_mapped(const alteration *a) { return a->c.snapshot->schema->mapping != FM_DELTA_BY_NAME_ITSELF; }

static fm_status no_column(const alteration *a, fm_str name, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "UNRESOLVED_COLUMN.WITH_SUGGESTION", a->p->pos.line, a->p->pos.column,
                      "A column, variable, or function parameter with name `%.*s` cannot be resolved: the table has none of that name.", FM_STR_ARG(name));
}

/* ---- Columns -------------------------------------------------------------------------------------------------------------- */

typedef struct columns {
    fm_field *fields;
    fm_delta_field *more;
    int32_t n;
} columns;

static fm_status columns_of(const alteration *a, int32_t room, columns *out, fm_error *err)
{
    const fm_delta_schema *s = a->c.snapshot->schema;

    out->n = s->type->n_fields;
    out->fields = fm_arena_array(a->c.arena, fm_field, out->n + room);
    out->more = fm_arena_array(a->c.arena, fm_delta_field, out->n + room);
    if (!out->fields || !out->more) return fm_no_memory(a->c.arena, err);
    for (int32_t i = 0; i < out->n; i++) {
        out->fields[i] = s->type->fields[i];
        out->more[i] = s->fields[i];
    }
    return FM_OK;
}

static int32_t find(const columns *c, fm_str name)
{
    for (int32_t i = 0; i < c->n; i++) {
        if (fm_str_eq_ci(c->fields[i].name, name)) return i;
    }
    return -1;
}

static fm_status set_columns(alteration *a, const columns *c, fm_error *err)
{
    const fm_type *type = fm_type_struct(a->c.arena, c->fields, c->n);

    if (!type) return fm_no_memory(a->c.arena, err);
    FM_TRY(fm_delta_set_columns(a->c.arena, &a->m, type, c->more, false, err));
    return fm_delta_features_for(a->c.arena, type, &a->m.configuration, &a->protocol, err);
}

static fm_status check_new(const alteration *a, const columns *have, const fm_field *f, const fm_column_def *def, fm_error *err)
{
    const fm_pos pos = a->p->pos;

    if (find(have, f->name) >= 0) {
        return fm_fail_at(err, FM_INVALID, "FIELD_ALREADY_EXISTS", pos.line, pos.column, "Cannot add column, because `%.*s` already exists in the table.", FM_STR_ARG(f->name));
    }
    if (!f->nullable) {
        return fm_fail_at(err, FM_INVALID, "DELTA_OPERATION_NOT_ALLOWED", pos.line, pos.column, "Operation not allowed: `NOT NULL in ALTER TABLE ADD COLUMNS` is not supported for Delta tables.");
    }
    if (def->default_sql.ptr) {
        return fm_fail_at(err, FM_INVALID, "WRONG_COLUMN_DEFAULTS_FOR_DELTA_ALTER_TABLE_ADD_COLUMN_NOT_SUPPORTED", pos.line, pos.column,
                          "Failed to execute the command because DEFAULT values are not supported when adding new columns to previously existing Delta tables.");
    }
    if (def->generated_sql.ptr) {
        return fm_fail_at(err, FM_INVALID, "DELTA_OPERATION_NOT_ALLOWED", pos.line, pos.column, "Operation not allowed: a generated column cannot be added to a table that is there.");
    }
    if (def->after.ptr && find(have, def->after) < 0) {
        return fm_fail_at(err, FM_INVALID, "FIELD_NOT_FOUND", pos.line, pos.column, "No such struct field `%.*s` in the table.", FM_STR_ARG(def->after));
    }
    return FM_OK;
}

/* {"column":{"name":...},"position":"AFTER id"} */
static void print_column(const fm_field *f, const fm_delta_field *more, const fm_column_def *def, fm_arena *arena, fm_strbuf *out)
{
    static const char head[] = "{\"type\":\"struct\",\"fields\":[", tail[] = "]}";
    const fm_type *one = fm_type_struct(arena, f, 1);
    fm_strbuf text = {0};

    if (!one) return;
    fm_delta_schema_print(one, more, &text);
    if (text.len < sizeof head + sizeof tail) {
        fm_strbuf_fini(&text);
        return;
    }
    fm_strbuf_add_c(out, "{\"column\":");
    fm_strbuf_add(out, (fm_str){text.ptr + sizeof head - 1, text.len - (sizeof head - 1) - (sizeof tail - 1)});
    if (def->first) fm_strbuf_add_c(out, ",\"position\":\"FIRST\"");
    if (def->after.ptr) {
        fm_strbuf after = {0};
        fm_strbuf_printf(&after, "AFTER %.*s", FM_STR_ARG(def->after));
        fm_strbuf_add_c(out, ",\"position\":");
        fm_strbuf_add_json(out, fm_strbuf_str(&after));
        fm_strbuf_fini(&after);
    }
    fm_strbuf_add_char(out, '}');
    fm_strbuf_fini(&text);
}

static fm_status add_columns(alteration *a, fm_error *err)
{
    const fm_table_def *def = a->p->table;
    fm_delta_field *fields;
    fm_strbuf text = {0};
    columns c;

    FM_TRY(columns_of(a, def->schema->n_fields, &c, err));
    FM_TRY(fm_column_fields(def->schema, def->columns, a->c.arena, &fields, err));
    fm_strbuf_add_char(&text, '[');
    fm_status st = FM_OK;
    for (int32_t i = 0; st == FM_OK && i < def->schema->n_fields; i++) {
        const fm_column_def *d = &def->columns[i];
        st = check_new(a, &c, &def->schema->fields[i], d, err);
        if (st != FM_OK) break;
        int32_t at = d->first ? 0 : d->after.ptr ? find(&c, d->after) + 1 : c.n;
        memmove(&c.fields[at + 1], &c.fields[at], (size_t)(c.n - at) * sizeof *c.fields);
        memmove(&c.more[at + 1], &c.more[at], (size_t)(c.n - at) * sizeof *c.more);
        c.fields[at] = def->schema->fields[i];
        c.fields[at].type = fm_type_as_nullable(a->c.arena, c.fields[at].type);
        c.more[at] = fields[i];
        if (!c.fields[at].type) st = fm_no_memory(a->c.arena, err);
        c.n++;
        if (i) fm_strbuf_add_char(&text, ',');
        if (st == FM_OK) print_column(&c.fields[at], &c.more[at], d, a->c.arena, &text);
    }
    fm_strbuf_add_char(&text, ']');
    fm_pair pair = {"columns", fm_strbuf_str(&text)};
    a->d.operation = "ADD COLUMNS";
    a->d.parameters = fm_pairs_json(a->c.arena, &pair, 1);
    fm_strbuf_fini(&text);
    return st == FM_OK ? set_columns(a, &c, err) : st;
}

typedef struct mention {
    fm_str name;
    bool found;
} mention;

static bool look_for_name(const fm_expr *e, void *ctx)
{
    mention *m = ctx;

    if (e->kind == FM_EXPR_NAME) m->found |= fm_str_eq_ci(e->parts[0], m->name) || (e->n_parts > 1 && fm_str_eq_ci(e->parts[1], m->name));
    return true;
}

/* A constraint or a generated column that is written over this column stands in the way. */
static fm_status check_free(const alteration *a, fm_str column, fm_error *err)
{
    const fm_delta_map *c = &a->m.configuration;
    const fm_delta_schema *schema = a->c.snapshot->schema;
    int32_t n = schema->type->n_fields;

    for (int32_t i = 0; i < c->n + n; i++) {
        bool constraint = i < c->n;
        fm_str sql = constraint ? (fm_str_starts(c->keys[i], FM_STR("delta.constraints.")) ? c->values[i] : (fm_str){0}) : schema->fields[i - c->n].generated;
        mention m = {.name = column};
        fm_expr *e;
        if (!sql.ptr) continue;
        if (fm_sql_parse_expr(a->c.arena, sql, &e, NULL) != FM_OK) m.found = true; /* who knows */
        else fm_expr_walk(e, look_for_name, &m);
        if (!m.found) continue;
        return fm_fail_at(err, FM_INVALID, constraint ? "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE" : "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE", a->p->pos.line, a->p->pos.column,
                          "Cannot alter column `%.*s`: '%.*s' is written over it. Drop that first.", FM_STR_ARG(column), FM_STR_ARG(sql));
    }
    return FM_OK;
}

static fm_status rename_column(alteration *a, fm_error *err)
{
    fm_str from = a->p->column_names[0], to = a->p->column_names[1];
    columns c;

    if (!is_mapped(a)) return refuse_mapping(a, "DELTA_UNSUPPORTED_RENAME_COLUMN", "Column rename", err);
    FM_TRY(columns_of(a, 0, &c, err));
    int32_t at = find(&c, from), other = find(&c, to);
    if (at < 0) return no_column(a, from, err);
    if (other >= 0 && other != at) {
        return fm_fail_at(err, FM_INVALID, "FIELD_ALREADY_EXISTS", a->p->pos.line, a->p->pos.column, "Cannot rename column, because `%.*s` already exists in the table.", FM_STR_ARG(to));
    }
    FM_TRY(check_free(a, from, err));
    fm_str *partitions = fm_arena_array(a->c.arena, fm_str, a->m.n_partition_columns);
    if (!partitions) return fm_no_memory(a->c.arena, err);
    for (int32_t i = 0; i < a->m.n_partition_columns; i++) partitions[i] = fm_str_eq(a->m.partition_columns[i], c.fields[at].name) ? to : a->m.partition_columns[i];
    a->m.partition_columns = partitions;
    fm_pair pairs[] = {{"oldColumnPath", c.fields[at].name}, {"newColumnPath", to}};
    c.fields[at].name = to;
    a->d.operation = "RENAME COLUMN";
    a->d.parameters = fm_pairs_json(a->c.arena, pairs, 2);
    return set_columns(a, &c, err);
}

static fm_status drop_columns(alteration *a, fm_error *err)
{
    columns c;

    if (!is_mapped(a)) return refuse_mapping(a, "DELTA_UNSUPPORTED_DROP_COLUMN", "DROP COLUMN", err);
    FM_TRY(columns_of(a, 0, &c, err));
    for (int32_t i = 0; i < a->p->n_column_names; i++) {
        fm_str name = a->p->column_names[i];
        int32_t at = find(&c, name);
        if (at < 0 && a->p->if_exists) continue;
        if (at < 0) return no_column(a, name, err);
        for (int32_t k = 0; k < a->m.n_partition_columns; k++) {
            if (!fm_str_eq(a->m.partition_columns[k], c.fields[at].name)) continue;
            return fm_fail_at(err, FM_INVALID, "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", a->p->pos.line, a->p->pos.column, "Dropping partition columns (%.*s) is not allowed.", FM_STR_ARG(name));
        }
        FM_TRY(check_free(a, name, err));
        c.n--;
        memmove(&c.fields[at], &c.fields[at + 1], (size_t)(c.n - at) * sizeof *c.fields);
        memmove(&c.more[at], &c.more[at + 1], (size_t)(c.n - at) * sizeof *c.more);
    }
    if (c.n == a->m.n_partition_columns) {
        return fm_fail_at(err, FM_INVALID, "DELTA_NON_PARTITION_COLUMN_ABSENT", a->p->pos.line, a->p->pos.column, "A Delta table keeps at least one column that it is not partitioned by.");
    }
    fm_pair pair = {"columns", fm_names_json(a->c.arena, a->p->column_names, a->p->n_column_names)};
    a->is_nothing = c.n == a->c.snapshot->schema->type->n_fields;
    a->d.operation = "DROP COLUMNS";
    a->d.parameters = fm_pairs_json(a->c.arena, &pair, 1);
    return set_columns(a, &c, err);
}

/* ---- Properties -------------------------------------------------------------------------------------------------------------- */

/* What a property means for what is there already. */
static fm_status check_switches(alteration *a, fm_error *err)
{
    const fm_delta_metadata *old = &a->c.snapshot->metadata;
    fm_str was = fm_delta_map_get(&old->configuration, "delta.columnMapping.mode", FM_STR("none")), is = fm_delta_map_get(&a->m.configuration, "delta.columnMapping.mode", FM_STR("none"));
    bool times = fm_delta_property(&a->m, "delta.enableInCommitTimestamps", false) && !fm_delta_property(old, "delta.enableInCommitTimestamps", false);

    if (times) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_IN_COMMIT_TIMESTAMPS", a->p->pos.line, a->p->pos.column,
                          "delta.enableInCommitTimestamps can be set here when a table is made, not later.");
    }
    if (fm_str_eq_ci(was, is)) return FM_OK;
    if (!fm_str_eq_ci(was, FM_STR("none")) || !fm_str_eq_ci(is, FM_STR("name"))) {
        return fm_fail_at(err, FM_INVALID, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", a->p->pos.line, a->p->pos.column,
                          "Changing column mapping mode from '%.*s' to '%.*s' is not supported.", FM_STR_ARG(was), FM_STR_ARG(is));
    }
    /* The columns stay in the files under the names they have. */
    return fm_delta_set_columns(a->c.arena, &a->m, a->c.snapshot->schema->type, a->c.snapshot->schema->fields, true, err);
}

static fm_status set_properties(alteration *a, fm_error *err)
{
    fm_delta_map asked = {0};
    fm_strbuf text = {0};

    for (int32_t i = 0; i < a->p->options.n; i++) FM_TRY(fm_delta_map_set(a->c.arena, &asked, a->p->options.items[i].key, a->p->options.items[i].value, err));
    FM_TRY(fm_delta_properties_set(a->c.arena, &asked, &a->m, &a->protocol, err));
    FM_TRY(check_switches(a, err));
    FM_TRY(fm_delta_features_for(a->c.arena, a->c.snapshot->schema->type, &a->m.configuration, &a->protocol, err));
    fm_delta_map_print(&asked, &text);
    fm_pair pair = {"properties", fm_strbuf_str(&text)};
    a->d.operation = "SET TBLPROPERTIES";
    a->d.parameters = fm_pairs_json(a->c.arena, &pair, 1);
    fm_strbuf_fini(&text);
    return FM_OK;
}

static fm_status unset_properties(alteration *a, fm_error *err)
{
    int32_t n = a->p->options.n;
    fm_str *keys = fm_arena_array(a->c.arena, fm_str, n);
    fm_strbuf text = {0};
    bool there;

    if (!keys) return fm_no_memory(a->c.arena, err);
    for (int32_t i = 0; i < n; i++) {
        keys[i] = a->p->options.items[i].key;
        FM_TRY(fm_delta_property_unset(a->c.arena, &a->m, keys[i], &there, err));
    }
    FM_TRY(check_switches(a, err));
    fm_str list = fm_names_json(a->c.arena, keys, n);
    fm_strbuf_add_c(&text, "{\"properties\":");
    fm_strbuf_add_json(&text, list);
    fm_strbuf_add_c(&text, ",\"ifExists\":true}");
    a->d.operation = "UNSET TBLPROPERTIES";
    a->d.parameters = fm_strbuf_ok(&text) ? fm_arena_str(a->c.arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return FM_OK;
}

/* ---- Constraints --------------------------------------------------------------------------------------------------------------- */

static fm_str lower(fm_arena *arena, fm_str s)
{
    fm_str out = fm_arena_str(arena, s);

    for (size_t i = 0; out.ptr && i < out.len; i++) {
        char *c = (char *)(uintptr_t)out.ptr + i;
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    }
    return out;
}

static fm_status begin_count(void *ctx, const fm_type *schema, fm_error *err) { return FM_OK; }

static fm_status count_rows(void *ctx, const fm_batch *batch, fm_error *err)
{
    int64_t *n = ctx;

    *n += batch->rows;
    return FM_OK;
}

/* Rows of which a check is not true. SELECT 1 FROM table WHERE NOT coalesce(check, false) */
static fm_status count_violations(alteration *a, fm_str sql, int64_t *n, fm_error *err)
{
    fm_arena *arena = a->c.arena;
    fm_str text = fm_arena_printf(arena, "SELECT 1 FROM %s WHERE NOT coalesce((%.*s), false)", FM_CHANGE_TARGET, FM_STR_ARG(sql));
    fm_rows_to to = {.ctx = n, .begin = begin_count, .push = count_rows};
    fm_plan *query;

    *n = 0;
    if (!text.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_change_declare_target(&a->c, err));
    FM_TRY(fm_sql_parse(arena, text, &query, err));
    return fm_session_query_into(a->s, query, arena, &to, err);
}

static fm_status add_constraint(alteration *a, fm_error *err)
{
    fm_str name = a->p->options.items[0].key, sql = a->p->options.items[0].value, low = lower(a->c.arena, name);
    fm_str key = fm_arena_printf(a->c.arena, "delta.constraints.%.*s", FM_STR_ARG(low));
    int64_t bad;
    fm_expr *e;

    if (!low.ptr || !key.ptr) return fm_no_memory(a->c.arena, err);
    if (fm_delta_map_find(&a->m.configuration, key)) {
        return fm_fail_at(err, FM_INVALID, "DELTA_CONSTRAINT_ALREADY_EXISTS", a->p->pos.line, a->p->pos.column, "Constraint '%.*s' already exists. Please delete the old constraint first.",
                          FM_STR_ARG(name));
    }
    FM_TRY(fm_compile_sql(&a->s->conf, sql, a->c.snapshot->schema->type, a->c.arena, &e, err));
    if (e->type->id != FM_TYPE_BOOL) {
        return fm_fail_at(err, FM_INVALID, "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", a->p->pos.line, a->p->pos.column, "CHECK constraint '%.*s' (%.*s) should be a boolean expression.",
                          FM_STR_ARG(name), FM_STR_ARG(sql));
    }
    FM_TRY(count_violations(a, sql, &bad, err));
    if (bad) {
        return fm_fail_at(err, FM_INVALID, "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", a->p->pos.line, a->p->pos.column, "%" PRId64 " rows in %.*s violate the new CHECK constraint (%.*s).", bad,
                          FM_STR_ARG(a->name), FM_STR_ARG(sql));
    }
    FM_TRY(fm_delta_map_set(a->c.arena, &a->m.configuration, key, sql, err));
    FM_TRY(fm_delta_features_for(a->c.arena, a->c.snapshot->schema->type, &a->m.configuration, &a->protocol, err));
    fm_pair pairs[] = {{"name", name}, {"expr", sql}};
    a->d.operation = "ADD CONSTRAINT";
    a->d.parameters = fm_pairs_json(a->c.arena, pairs, 2);
    a->d.read_files = true; /* a row that comes meanwhile may violate it */
    a->d.is_serializable = true;
    return FM_OK;
}

static fm_status drop_constraint(alteration *a, fm_error *err)
{
    fm_str name = a->p->column_names[0], low = lower(a->c.arena, name);
    fm_str key = fm_arena_printf(a->c.arena, "delta.constraints.%.*s", FM_STR_ARG(low));
    bool there;

    if (!low.ptr || !key.ptr) return fm_no_memory(a->c.arena, err);
    const fm_str *sql = fm_delta_map_find(&a->m.configuration, key);
    FM_TRY(fm_delta_property_unset(a->c.arena, &a->m, key, &there, err));
    if (!there && !a->p->if_exists) {
        return fm_fail_at(err, FM_INVALID, "DELTA_CONSTRAINT_DOES_NOT_EXIST", a->p->pos.line, a->p->pos.column,
                          "Cannot drop nonexistent constraint %.*s from table `%.*s`. To avoid throwing an error, provide the parameter IF EXISTS.", FM_STR_ARG(name), FM_STR_ARG(a->name));
    }
    fm_pair pairs[] = {{"name", name}, {"expr", sql ? *sql : (fm_str){0}}, {"existed", FM_STR("true")}};
    a->is_nothing = !there;
    a->d.operation = "DROP CONSTRAINT";
    a->d.parameters = fm_pairs_json(a->c.arena, pairs, 3);
    return FM_OK;
}

/* ---- All ------------------------------------------------------------------------------------------------------------------------- */

static fm_status run(void *ctx, fm_error *err)
{
    alteration *a = ctx;

    a->m = a->c.snapshot->metadata;
    a->protocol = a->c.snapshot->protocol;
    a->d = (fm_delta_commit){0};
    a->is_nothing = false;
    FM_TRY(a->act(a, err));
    return a->is_nothing ? FM_OK : commit(a, err);
}

fm_status fm_session_alter(fm_session *s, const fm_plan *p, fm_error *err)
{
    static const struct {
        const char *what;
        fm_status (*run)(alteration *a, fm_error *err);
    } actions[] = {{"ADD COLUMNS", add_columns}, {"SET PROPERTIES", set_properties}, {"UNSET PROPERTIES", unset_properties}, {"ADD CONSTRAINT", add_constraint},
                   {"DROP CONSTRAINT", drop_constraint}, {"RENAME COLUMN", rename_column}, {"DROP COLUMNS", drop_columns}};
    size_t action = 0, n = sizeof actions / sizeof actions[0];
    alteration a = {.s = s, .p = p, .name = p->name_parts[p->n_name_parts - 1]};
    const fm_table_def *table;

    FM_TRY(fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, err));
    while (action < n && !fm_str_eq(p->what, fm_str_c(actions[action].what))) action++;
    fm_assert(action < n);
    a.act = actions[action].run;
    return fm_change_try(&a.c, s, table, fm_change_begin, run, &a, err);
}
