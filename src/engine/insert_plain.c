/* engine/insert_plain.c: INSERT into tables that are no Delta tables, and CREATE TABLE AS of such: files (json, csv, text, parquet), and
 * what any other sink takes (kafka).
 *
 * Rule  Spark, INSERT INTO a table of a file source: columns by position, those of PARTITIONED BY last; values are stored under the
 *       ANSI store assignment policy, which refuses at once what it would not cast; a column that a list leaves out is null */
#include "engine/insert_plain.h"

#include "engine/tables.h"

#include "expr/cast.h"
#include "format/format.h"
#include "sink/file_batch.h"
#include "sink/sinks.h"

typedef struct plain {
    fm_session *s;
    const fm_plan *p;
    fm_arena *arena, *batch;
    const fm_table_def *table;
    const fm_format *format;     /* of files; NULL: some other sink */
    const fm_type *columns;      /* STRUCT: of the table; NULL: the rows' own */
    const fm_type *rows;         /* STRUCT: what is written */
    int32_t *from;               /* [rows->n_fields] column of the query; -1: none: null */
    fm_options options;
    fm_file_batch *files;
    fm_sink *sink;
    fm_sink_writer *writer;
    bool by_name;
} plain;

/* ---- Types --------------------------------------------------------------------------------------------------------------- */

/* Rule: Spark, Cast.canANSIStoreAssign. */
static bool can_store(const fm_type *from, const fm_type *to)
{
    if (fm_type_eq(from, to) || from->id == FM_TYPE_NULL) return true;
    if (fm_type_is_nested(from) || fm_type_is_nested(to)) {
        if (from->id != to->id || from->n_fields != to->n_fields) return false;
        for (int32_t i = 0; i < from->n_fields; i++) {
            if (!can_store(from->fields[i].type, to->fields[i].type)) return false;
        }
        return true;
    }
    if (fm_type_is_numeric(from) && fm_type_is_numeric(to)) return true;
    if (to->id == FM_TYPE_STRING) return from->id != FM_TYPE_BINARY;
    bool a = from->id == FM_TYPE_DATE || fm_type_is_timestamp(from), b = to->id == FM_TYPE_DATE || fm_type_is_timestamp(to);
    return a && b;
}

static fm_status cannot_store(const plain *l, fm_str name, const fm_type *from, const fm_type *to, fm_error *err)
{
    fm_strbuf a = {0}, b = {0};

    fm_type_sql(from, &a);
    fm_type_sql(to, &b);
    fm_status st = fm_fail_at(err, FM_INVALID, "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", l->p->pos.line, l->p->pos.column,
                              "Cannot write incompatible data for the table `%.*s`: Cannot safely cast `%.*s` \"%s\" to \"%s\".", FM_STR_ARG(l->table->name), FM_STR_ARG(name),
                              a.ptr ? a.ptr : "", b.ptr ? b.ptr : "");
    fm_strbuf_fini(&a);
    fm_strbuf_fini(&b);
    return st;
}

static int32_t find(const fm_type *type, fm_str name)
{
    for (int32_t i = 0; i < type->n_fields; i++) {
        if (fm_str_eq_ci(type->fields[i].name, name)) return i;
    }
    return -1;
}

static bool is_partition(const fm_table_def *table, fm_str name)
{
    for (int32_t i = 0; i < table->n_partition_by; i++) {
        if (fm_str_eq_ci(table->partition_by[i], name)) return true;
    }
    return false;
}

/* ---- Which column of the query is which of the table ----------------------------------------------------------------------------- */

static fm_status wrong_number(const plain *l, int32_t have, int32_t want, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, have < want ? "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS" : "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", l->p->pos.line,
                      l->p->pos.column, "Cannot write to `%.*s`, the reason is %s: it takes %d columns here, and the query gives %d.", FM_STR_ARG(l->table->name),
                      have < want ? "not enough data columns" : "too many data columns", (int)want, (int)have);
}

static int32_t in_partition(const fm_plan *p, fm_str name)
{
    for (int32_t i = 0; p->kind == FM_PLAN_INSERT && p->n_clauses && i < p->clauses[0].n; i++) {
        if (fm_str_eq_ci(p->clauses[0].columns[i].parts[0], name)) return i;
    }
    return -1;
}

/* The table's columns in the order that an INSERT without a list gives them; fixed values of PARTITION at the end. */
static fm_status choose_names(const plain *l, const fm_type *schema, fm_str **out, int32_t *n, fm_error *err)
{
    const fm_plan *p = l->p;
    int32_t n_list = p->n_column_names ? p->n_column_names : l->columns->n_fields, n_fixed = p->n_clauses ? p->clauses[0].n : 0;
    fm_str *names = fm_arena_array(l->arena, fm_str, n_list + n_fixed);

    *n = 0;
    *out = names;
    if (!names) return fm_no_memory(l->arena, err);
    for (int last = 0; last < 2; last++) {
        for (int32_t i = 0; i < n_list; i++) {
            fm_str name = p->n_column_names ? p->column_names[i] : l->columns->fields[i].name;
            bool behind = !p->n_column_names && is_partition(l->table, name);
            if (behind == last && in_partition(p, name) < 0) names[(*n)++] = name;
        }
    }
    for (int fixed = 0; fixed < 2; fixed++) {
        for (int32_t i = 0; i < n_fixed; i++) {
            if ((p->clauses[0].values[i] != NULL) == fixed) names[(*n)++] = p->clauses[0].columns[i].parts[0];
        }
    }
    if (*n != schema->n_fields) return wrong_number(l, schema->n_fields, *n, err);
    for (int32_t i = 0; i < *n; i++) {
        bool twice = false;
        for (int32_t k = 0; k < i; k++) twice |= fm_str_eq_ci(names[i], names[k]);
        if (find(l->columns, names[i]) >= 0 && !twice) continue;
        return fm_fail_at(err, FM_INVALID, twice ? "COLUMN_ALREADY_EXISTS" : "UNRESOLVED_COLUMN.WITH_SUGGESTION", p->pos.line, p->pos.column,
                          twice ? "The column `%.*s` already exists. Choose another name or rename the existing column."
                                : "A column, variable, or function parameter with name `%.*s` cannot be resolved: the table has none of that name.",
                          FM_STR_ARG(names[i]));
    }
    return FM_OK;
}

static fm_status match_columns(plain *l, const fm_type *schema, fm_error *err)
{
    int32_t n = l->columns->n_fields, n_names = schema->n_fields;
    fm_str *names = fm_arena_array(l->arena, fm_str, n_names);

    l->from = fm_arena_array(l->arena, int32_t, n);
    if (!l->from || !names) return fm_no_memory(l->arena, err);
    if (l->by_name) {
        for (int32_t i = 0; i < n_names; i++) {
            names[i] = schema->fields[i].name;
            for (int32_t k = 0; k < i; k++) {
                if (!fm_str_eq_ci(names[i], names[k])) continue;
                return fm_fail_at(err, FM_INVALID, "INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME", l->p->pos.line, l->p->pos.column,
                                  "Cannot write incompatible data for the table `%.*s`: Ambiguous column name in the input data `%.*s`.",
                                  FM_STR_ARG(l->table->name), FM_STR_ARG(names[i]));
            }
            if (find(l->columns, names[i]) >= 0) continue;
            return fm_fail_at(err, FM_INVALID, "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS", l->p->pos.line, l->p->pos.column,
                              "Cannot write incompatible data for the table `%.*s`: Cannot write extra columns `%.*s`.", FM_STR_ARG(l->table->name), FM_STR_ARG(names[i]));
        }
    } else {
        FM_TRY(choose_names(l, schema, &names, &n_names, err));
    }
    for (int32_t i = 0; i < n; i++) {
        const fm_field *f = &l->columns->fields[i];
        l->from[i] = -1;
        for (int32_t k = 0; k < n_names; k++) {
            if (fm_str_eq_ci(names[k], f->name)) l->from[i] = k;
        }
        if (l->from[i] >= 0 && !can_store(schema->fields[l->from[i]].type, f->type)) return cannot_store(l, f->name, schema->fields[l->from[i]].type, f->type, err);
    }
    l->rows = l->columns;
    return FM_OK;
}

/* ---- Where rows go ----------------------------------------------------------------------------------------------------------------- */

/* The folder that INSERT OVERWRITE ... PARTITION (k = 'a') empties: of the fixed values that come first. */
static fm_status scope_of(const plain *l, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0}, value = {0};
    fm_status st = FM_OK;

    for (int32_t i = 0; st == FM_OK && i < l->table->n_partition_by; i++) {
        int32_t at = in_partition(l->p, l->table->partition_by[i]);
        const fm_expr *e = at >= 0 ? l->p->clauses[0].values[at] : NULL;
        if (!e) break;
        fm_strbuf_clear(&value);
        if (e->kind != FM_EXPR_LITERAL) {
            st = fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_PARTITION_VALUE", l->p->pos.line, l->p->pos.column, "The value of `%.*s` in PARTITION must be a literal here.",
                            FM_STR_ARG(l->table->partition_by[i]));
            break;
        }
        if (!fm_vec_is_null(&e->value, 0)) fm_value_text(&e->value, 0, l->s->conf.zone, &value);
        fm_file_partition_folder(l->table->partition_by[i], fm_strbuf_str(&value), &text);
        fm_strbuf_add_char(&text, '/');
    }
    *out = fm_strbuf_ok(&text) ? fm_arena_str(l->arena, text.len ? fm_strbuf_str(&text) : FM_STR("")) : (fm_str){0};
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&value);
    return st != FM_OK ? st : out->ptr ? FM_OK : fm_no_memory(l->arena, err);
}

static fm_status open_files(plain *l, fm_error *err)
{
    fm_str mode_text = fm_options_get(&l->s->settings, "spark.sql.sources.partitionOverwriteMode", FM_STR("static")), scope = FM_STR("");
    fm_file_batch_mode mode = FM_FILES_APPEND;

    if (l->p->kind == FM_PLAN_INSERT && l->p->all) {
        bool dynamic = fm_str_eq_ci(mode_text, FM_STR("dynamic")) && l->table->n_partition_by;
        mode = dynamic ? FM_FILES_OVERWRITE_PARTITIONS : FM_FILES_OVERWRITE;
        if (!dynamic) FM_TRY(scope_of(l, &scope, err));
    }
    FM_TRY(fm_file_options_of(l->format, &l->table->options, l->arena, &l->options, err));
    fm_sink_spec spec = {.format = l->table->format, .options = &l->options, .schema = l->rows, .partition_by = l->table->partition_by, .n_partition_by = l->table->n_partition_by};
    return fm_file_batch_open(&l->s->sink_env, &spec, mode, scope, l->arena, &l->files, err);
}

/* A Kafka table is declared for reading, too: its writer gets what is for both, and the topic. */
static fm_status sink_options(plain *l, const fm_sink_type *type, fm_error *err)
{
    bool kafka = fm_str_eq_ci(l->table->format, FM_STR("kafka"));
    const fm_options *given = &l->table->options;

    for (int32_t i = 0; i < given->n; i++) {
        fm_str key = given->items[i].key, value = given->items[i].value;
        bool known = kafka && key.len > 6 && fm_str_eq_ci((fm_str){key.ptr, 6}, FM_STR("kafka."));
        for (const char *const *o = type->options; o && *o; o++) known |= fm_str_eq_ci(key, fm_str_c(*o));
        if (known && !fm_options_set(l->arena, &l->options, key, value)) return fm_no_memory(l->arena, err);
    }
    fm_str subscribed = fm_options_get(given, "subscribe", FM_STR(""));
    bool one = kafka && subscribed.len && !memchr(subscribed.ptr, ',', subscribed.len) && !fm_options_find(&l->options, "topic") && find(l->rows, FM_STR("topic")) < 0;
    if (one && !fm_options_set(l->arena, &l->options, FM_STR("topic"), subscribed)) return fm_no_memory(l->arena, err);
    return FM_OK;
}

static fm_status open_sink(plain *l, fm_error *err)
{
    const fm_sink_type *type = fm_sink_lookup(&l->s->sink_env, l->table->format);
    bool skip;

    if (!type || !(type->modes & 1 << FM_MODE_APPEND)) {
        return fm_fail_at(err, FM_UNSUPPORTED, "UNSUPPORTED_INSERT.RDD_BASED", l->p->pos.line, l->p->pos.column,
                          "Can't insert into the target: a table of the format '%.*s' is not written. There are delta, parquet, json, csv, text and kafka.", FM_STR_ARG(l->table->format));
    }
    if (l->p->all) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_INSERT_OVERWRITE", l->p->pos.line, l->p->pos.column, "INSERT OVERWRITE is for tables of files: '%.*s' only takes more.",
                          FM_STR_ARG(l->table->format));
    }
    FM_TRY(sink_options(l, type, err));
    fm_sink_spec spec = {.format = l->table->format, .options = &l->options, .schema = l->rows, .mode = FM_MODE_APPEND};
    FM_TRY(type->open(&l->s->sink_env, &spec, l->arena, &l->sink, err));
    FM_TRY(type->begin(l->sink, 0, 1, &skip, err));
    return type->writer_open(l->sink, 0, &l->writer, err);
}

/* ---- Rows --------------------------------------------------------------------------------------------------------------------------- */

/* Names of a list, for a sink that takes columns by name. */
static fm_status rename_rows(plain *l, const fm_type *schema, fm_error *err)
{
    fm_field *fields = fm_arena_array(l->arena, fm_field, schema->n_fields);

    l->rows = schema;
    if (!l->p->n_column_names) return FM_OK;
    if (l->p->n_column_names != schema->n_fields) return wrong_number(l, schema->n_fields, l->p->n_column_names, err);
    if (!fields) return fm_no_memory(l->arena, err);
    for (int32_t i = 0; i < schema->n_fields; i++) {
        fields[i] = schema->fields[i];
        fields[i].name = l->p->column_names[i];
    }
    l->rows = fm_type_struct(l->arena, fields, schema->n_fields);
    return l->rows ? FM_OK : fm_no_memory(l->arena, err);
}

static fm_status begin_rows(void *ctx, const fm_type *schema, fm_error *err)
{
    plain *l = ctx;

    if (l->p->kind != FM_PLAN_INSERT) FM_TRY(fm_columns_differ(&l->s->conf, schema, l->p->pos, err));
    if (l->columns) FM_TRY(match_columns(l, schema, err));
    else FM_TRY(rename_rows(l, schema, err));
    return l->format ? open_files(l, err) : open_sink(l, err);
}

static fm_status push_rows(void *ctx, const fm_batch *in, fm_error *err)
{
    plain *l = ctx;
    int32_t n = l->rows->n_fields;

    fm_arena_reset(l->batch);
    fm_vec *columns = fm_arena_array(l->batch, fm_vec, n);
    if (!columns) return fm_no_memory(l->batch, err);
    for (int32_t i = 0; i < n; i++) {
        int32_t c = l->from ? l->from[i] : i;
        const fm_type *to = l->rows->fields[i].type;
        if (c < 0) FM_TRY(fm_vec_nulls(&columns[i], to, in->rows, l->batch, err));
        else if (fm_type_eq(in->columns[c].type, to)) columns[i] = in->columns[c];
        else FM_TRY(fm_cast_run(&in->columns[c], to, FM_CAST_ANSI, &l->s->conf, l->batch, &columns[i], err));
    }
    fm_batch rows = {.schema = l->rows, .rows = in->rows, .columns = columns};
    return l->format ? fm_file_batch_write(l->files, &rows, err) : l->sink->type->write(l->writer, &rows, err);
}

static fm_status finish(plain *l, fm_error *err)
{
    int64_t rows;

    if (l->format) return fm_file_batch_commit(l->files, err);
    FM_TRY(l->sink->type->writer_close(l->writer, err));
    return l->sink->type->commit(l->sink, 0, &rows, err);
}

static fm_status load(plain *l, const fm_plan *query, fm_error *err)
{
    fm_rows_to to = {.ctx = l, .begin = begin_rows, .push = push_rows};

    l->batch = fm_arena_new(0);
    if (!l->batch) return fm_no_memory(NULL, err);
    fm_status st = fm_session_query_into(l->s, query, l->arena, &to, err);
    if (st == FM_OK) st = finish(l, err);
    if (st != FM_OK && l->sink && l->sink->type->abort) l->sink->type->abort(l->sink, 0);
    if (l->sink) l->sink->type->close(l->sink);
    fm_file_batch_close(l->files);
    fm_arena_free(l->batch);
    return st;
}

/* ---- INSERT ----------------------------------------------------------------------------------------------------------------------------- */

static fm_status check_statement(const plain *l, fm_error *err)
{
    const fm_plan *p = l->p;

    if (p->n_exprs) {
        return fm_fail_at(err, FM_UNSUPPORTED, "UNSUPPORTED_OVERWRITE.TABLE", p->pos.line, p->pos.column, "Can't overwrite the target table `%.*s` by a filter: REPLACE WHERE is for Delta tables.",
                          FM_STR_ARG(l->table->name));
    }
    for (int32_t i = 0; p->n_clauses && i < p->clauses[0].n; i++) {
        fm_str name = p->clauses[0].columns[i].parts[0];
        if (l->format && is_partition(l->table, name) && in_partition(p, name) == i) continue;
        return fm_fail_at(err, FM_INVALID, "NON_PARTITION_COLUMN", p->pos.line, p->pos.column, "PARTITION clause cannot contain the non-partition column: `%.*s`, and none twice.",
                          FM_STR_ARG(name));
    }
    return FM_OK;
}

fm_status fm_session_insert_plain(fm_session *s, const fm_plan *p, const fm_table_def *table, fm_result *r, fm_error *err)
{
    plain l = {.s = s, .p = p, .arena = r->arena, .table = table, .format = fm_format_find(table->format), .by_name = p->by_name};
    const fm_plan *query = p->children[0];

    FM_TRY(check_statement(&l, err));
    l.columns = l.format ? table->schema : NULL;
    if (l.format && !l.columns) FM_TRY(s->catalog.schema(s->catalog.ctx, table, false, r->arena, &l.columns, err));
    FM_TRY(fm_insert_fixed(p, r->arena, &query, err));
    return load(&l, query, err);
}

/* ---- CREATE TABLE --------------------------------------------------------------------------------------------------------------------------- */

/* Whether a folder has data in it. */
static bool has_data(fm_session *s, fm_str dir, fm_arena *arena)
{
    fm_dir_entry *entries;
    size_t n;

    if (fm_fs_list(s->env.fs, dir.ptr, arena, &entries, &n, NULL) != FM_OK) return false;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].name.ptr[0] != '_' && entries[i].name.ptr[0] != '.') return true;
    }
    return false;
}

fm_status fm_session_place_table(fm_session *s, fm_table_def *def, fm_error *err)
{
    fm_str path;

    FM_TRY(fm_location_of(&def->options, &path, err));
    if (!fm_format_find(def->format) || path.len) return FM_OK;
    fm_options written = def->options;
    bool ok = true;
    FM_TRY(fm_warehouse_path(s, def->name, &path, err));
    def->options = (fm_options){0};
    for (int32_t i = 0; i < written.n; i++) ok = ok && fm_options_set(s->arena, &def->options, written.items[i].key, written.items[i].value);
    if (!ok || !fm_options_set(s->arena, &def->options, FM_STR("path"), path)) return fm_no_memory(s->arena, err);
    return fm_fs_mkdirs(s->env.fs, path.ptr, err);
}

fm_status fm_session_create_plain_as(fm_session *s, const fm_plan *p, fm_table_def *def, fm_result *r, fm_error *err)
{
    plain l = {.s = s, .p = p, .arena = r->arena, .table = def, .format = fm_format_find(def->format)};
    fm_str path = fm_str_trim(fm_options_get(&def->options, "path", FM_STR(""))), dir;

    if (def->schema) return fm_fail_at(err, FM_INVALID, "PARSE_SYNTAX_ERROR", p->pos.line, p->pos.column, "A schema may not be specified in a Create Table As Select (CTAS) statement.");
    if (!l.format) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_CREATE_TABLE_AS", p->pos.line, p->pos.column,
                          "CREATE TABLE ... AS is for Delta tables and tables of files: declare the table, and INSERT INTO it.");
    }
    FM_TRY(fm_fs_absolute(s->env.fs, path, r->arena, &dir, err));
    if (has_data(s, dir, r->arena)) {
        return fm_fail_at(err, FM_INVALID, "LOCATION_ALREADY_EXISTS", p->pos.line, p->pos.column,
                          "Cannot name the managed table as `%.*s`, as its associated location '%s' already exists. Please pick a different table name, or remove the existing location first.",
                          FM_STR_ARG(def->name), dir.ptr);
    }
    FM_TRY(load(&l, p->children[0], err));
    def->schema = fm_type_as_nullable(s->arena, l.rows);
    return def->schema ? FM_OK : fm_no_memory(s->arena, err);
}
