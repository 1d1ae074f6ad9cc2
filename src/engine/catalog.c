/* engine/catalog.c: what the analyzer asks: tables and views by name, and table functions. */
#include <stdio.h>

#include "engine/memory_source.h"
#include "engine/tables.h"
#include "expr/cast.h"
#include "format/format.h"

/* format.`path` names files directly: json.`in/`, and Delta tables: delta.`gold/totals`. */
static fm_status direct_files(fm_session *s, const fm_str *parts, fm_arena *arena, const fm_table_def **table,
                              fm_error *err)
{
    if (!fm_format_find(parts[0]) && !fm_str_eq_ci(parts[0], FM_STR("delta"))) return FM_NOT_FOUND;
    fm_table_def *def = fm_arena_one(arena, fm_table_def);
    if (!def) return fm_no_memory(arena, err);
    def->name = parts[1];
    def->format = parts[0];
    if (!fm_options_set(arena, &def->options, FM_STR("path"), parts[1])) return fm_no_memory(arena, err);
    const fm_source_type *type = fm_source_lookup(&s->source_env, def->format);
    fm_assert(type); /* every format is read by a source */
    /* A Delta table's hangs on the version, which the query may name: it is looked up later. */
    if (!fm_str_eq_ci(parts[0], FM_STR("delta"))) {
        fm_status st = type->schema(&s->source_env, def, false, arena, &def->schema, err);
        if (st != FM_OK) return st == FM_NOT_FOUND ? FM_INVALID : st; /* the path is missing, and said so: no table of that name is looked for */
    }
    *table = def;
    return FM_OK;
}

static fm_status memory_table(fm_session *s, fm_str name, const fm_table_def **table, fm_error *err)
{
    const fm_type *schema = fm_memory_table_schema(s->memory, name, s->arena);
    if (!schema) return FM_NOT_FOUND;
    fm_table_def *def = fm_arena_one(s->arena, fm_table_def);
    if (!def) return fm_no_memory(s->arena, err);
    def->name = fm_arena_str(s->arena, name);
    def->format = FM_STR("memory");
    def->schema = schema;
    if (!def->name.ptr || !fm_options_set(s->arena, &def->options, FM_STR("name"), name)) {
        return fm_no_memory(s->arena, err);
    }
    *table = def;
    return FM_OK;
}

static fm_status find(void *ctx, const fm_str *parts, int32_t n_parts, const fm_plan **view,
                      const fm_table_def **table, bool *table_is_stream, fm_error *err)
{
    fm_session *s = ctx;

    *view = NULL;
    *table = NULL;
    *table_is_stream = false;
    if (n_parts == 2 && !fm_str_eq_ci(parts[0], FM_STR("default"))) {
        return direct_files(s, parts, s->arena, table, err);
    }
    fm_relation *r = n_parts <= 2 ? fm_session_find(s, parts[n_parts - 1]) : NULL;
    if (!r) {
        fm_status st = n_parts <= 2 ? memory_table(s, parts[n_parts - 1], table, err) : FM_NOT_FOUND;
        if (st == FM_NOT_FOUND && n_parts <= 2) st = fm_warehouse_find(s, parts[n_parts - 1], table, err);
        return st;
    }
    *view = r->view;
    *table = r->table;
    *table_is_stream = r->is_stream;
    return FM_OK;
}

/* What a batch read of a table found is kept, so that a job looks through its files once. */
static fm_status schema_of(void *ctx, const fm_table_def *table, bool streaming, fm_arena *arena, const fm_type **out,
                           fm_error *err)
{
    fm_session *s = ctx;
    const fm_source_type *type = fm_source_lookup(&s->source_env, table->format);
    fm_relation *r = fm_session_find(s, table->name);
    bool infers = true;

    if (!type) return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "There is no data source '%.*s'.", FM_STR_ARG(table->format));
    if (streaming) FM_TRY(fm_options_bool(&s->settings, "spark.sql.streaming.schemaInference", false, &infers, err));
    /* A Delta table has the schema of its log, which may change between two statements. */
    bool kept = r && r->table == table && infers && !fm_str_eq(table->format, FM_STR("delta"));
    if (!kept) return type->schema(&s->source_env, table, streaming, arena, out, err);
    if (!r->inferred) FM_TRY(type->schema(&s->source_env, table, streaming, s->arena, &r->inferred, err));
    *out = r->inferred;
    return FM_OK;
}

static const fm_type *metadata_of(void *ctx, const fm_table_def *table)
{
    const fm_session *s = ctx;
    const fm_source_type *type = fm_source_lookup(&s->source_env, table->format);

    return type && type->metadata ? type->metadata(table) : NULL;
}

static const char *const *names(void *ctx, fm_arena *arena)
{
    fm_session *s = ctx;
    const char **out = fm_arena_array(arena, const char *, s->n_relations + 1);

    for (int32_t i = 0; out && i < s->n_relations; i++) out[i] = s->relations[i].name.ptr;
    return out;
}

/* A literal argument as text, for options. */
static fm_status argument_text(const fm_expr *e, fm_str function, fm_arena *arena, fm_str *out, fm_error *err)
{
    if (e->kind != FM_EXPR_LITERAL || fm_vec_is_null(&e->value, 0)) {
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_TABLE_FUNCTION_ARGUMENT", e->pos.line, e->pos.column,
                          "The arguments of %.*s() must be literals: read_files('in/', format => 'json', schema => 'k STRING').",
                          FM_STR_ARG(function));
    }
    fm_strbuf text = {0};
    fm_value_text(&e->value, 0, fm_zone_utc(), &text);
    *out = fm_arena_str(arena, fm_strbuf_str(&text));
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(arena, err);
}

/* The format of files that read_files() was not told: by the end of their path, compressed or not; json when that tells nothing. */
static fm_str format_of_path(fm_str path)
{
    static const char *const packed[] = {".gz", ".zst", ".bz2", ".deflate", ".snappy", ".lz4"};
    static const struct {
        const char *end, *format;
    } known[] = {{".csv", "csv"}, {".parquet", "parquet"}, {".txt", "text"}};

    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (!fm_str_ends(path, fm_str_c(packed[i]))) continue;
        path.len -= strlen(packed[i]);
        break;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (fm_str_ends(path, fm_str_c(known[i].end))) return fm_str_c(known[i].format);
    }
    return FM_STR("json");
}

/* read_files(path, format => ..., schema => ..., option => value ...). */
static fm_status read_files(fm_session *s, const fm_plan *call, bool streaming, fm_arena *arena, fm_table_def *def,
                            fm_error *err)
{
    def->format = FM_STR("");
    for (int32_t i = 0; i < call->n_exprs; i++) {
        const fm_expr *arg = call->exprs[i];
        fm_str key = FM_STR("path"), value;
        if (arg->kind == FM_EXPR_ALIAS) {
            key = arg->name;
            arg = arg->args[0];
        } else if (i > 0) {
            return fm_fail_at(err, FM_INVALID, "FLOODMARK_TABLE_FUNCTION_ARGUMENT", arg->pos.line, arg->pos.column,
                              "Only the path of read_files() goes without a name; write the others as name => value.");
        }
        FM_TRY(argument_text(arg, call->name, arena, &value, err));
        if (fm_str_eq_ci(key, FM_STR("format"))) {
            def->format = value;
        } else if (fm_str_eq_ci(key, FM_STR("schema"))) {
            FM_TRY(fm_type_parse_ddl(arena, value, &def->schema, err));
        } else if (!fm_options_set(arena, &def->options, key, value)) {
            return fm_no_memory(arena, err);
        }
    }
    if (!fm_options_find(&def->options, "path")) {
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_TABLE_FUNCTION_ARGUMENT", call->pos.line, call->pos.column,
                          "read_files() needs a path: read_files('in/', format => 'json', schema => 'k STRING').");
    }
    if (def->format.len == 0) def->format = format_of_path(fm_options_get(&def->options, "path", FM_STR("")));
    const fm_source_type *type = fm_format_find(def->format) ? fm_source_lookup(&s->source_env, def->format) : NULL;
    if (!type) {
        return fm_fail_at(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", call->pos.line, call->pos.column,
                          "read_files() knows no format '%.*s'; it reads json, csv, parquet and text.", FM_STR_ARG(def->format));
    }
    return type->schema(&s->source_env, def, streaming, arena, &def->schema, err);
}

/* read_kafka(bootstrapServers => 'host:port', subscribe => 'topic', option => value ...); options whose names have dots are
 * quoted: `kafka.security.protocol` => 'SSL'. */
static fm_status read_kafka(fm_session *s, const fm_plan *call, bool streaming, fm_arena *arena, fm_table_def *def,
                            fm_error *err)
{
    def->format = FM_STR("kafka");
    for (int32_t i = 0; i < call->n_exprs; i++) {
        const fm_expr *arg = call->exprs[i];
        fm_str value;
        if (arg->kind != FM_EXPR_ALIAS) {
            return fm_fail_at(err, FM_INVALID, "FLOODMARK_TABLE_FUNCTION_ARGUMENT", arg->pos.line, arg->pos.column,
                              "The arguments of read_kafka() go by name: read_kafka(bootstrapServers => 'host:9092', "
                              "subscribe => 'topic').");
        }
        fm_str key = fm_str_eq_ci(arg->name, FM_STR("bootstrapServers")) ? FM_STR("kafka.bootstrap.servers") : arg->name;
        FM_TRY(argument_text(arg->args[0], call->name, arena, &value, err));
        if (!fm_options_set(arena, &def->options, key, value)) return fm_no_memory(arena, err);
    }
    const fm_source_type *type = fm_source_lookup(&s->source_env, def->format);
    return type->schema(&s->source_env, def, streaming, arena, &def->schema, err);
}

/* One end of table_changes(): a number is a version, a text a time. */
static fm_status change_boundary(const fm_expr *e, bool is_start, fm_str function, fm_arena *arena, fm_table_def *def, fm_error *err)
{
    fm_str text, key = is_start ? FM_STR("startingVersion") : FM_STR("endingVersion");

    if (e->kind == FM_EXPR_LITERAL && fm_vec_is_null(&e->value, 0)) {
        return fm_fail_at(err, FM_INVALID, "DELTA_CDC_READ_NULL_RANGE_BOUNDARY", e->pos.line, e->pos.column,
                          "CDC read start/end parameters cannot be null. Please provide a valid version or timestamp.");
    }
    FM_TRY(argument_text(e, function, arena, &text, err));
    if (!fm_type_is_integer(e->type)) key = is_start ? FM_STR("startingTimestamp") : FM_STR("endingTimestamp");
    return fm_options_set(arena, &def->options, key, text) ? FM_OK : fm_no_memory(arena, err);
}

/* table_changes('table', start[, end]) and table_changes_by_path('folder', start[, end]): rows of the change data feed. */
static fm_status table_changes(fm_session *s, const fm_plan *call, bool streaming, fm_arena *arena, fm_table_def *def, fm_error *err)
{
    bool by_path = fm_str_eq_ci(call->name, FM_STR("table_changes_by_path")), is_stream;
    const fm_plan *view = NULL;
    const fm_table_def *table = NULL;
    fm_str name;

    if (call->n_exprs < 2 || call->n_exprs > 3) {
        return fm_fail_at(err, FM_INVALID, "WRONG_NUM_ARGS.WITHOUT_SUGGESTION", call->pos.line, call->pos.column,
                          "%.*s() takes a table and where its changes start, and perhaps where they end: %.*s('events', 3, 7).", FM_STR_ARG(call->name),
                          FM_STR_ARG(call->name));
    }
    FM_TRY(argument_text(call->exprs[0], call->name, arena, &name, err));
    fm_str delta = FM_STR("delta.`"), parts[1] = {name};
    if (name.len > delta.len && fm_str_eq_ci((fm_str){name.ptr, delta.len}, delta) && name.ptr[name.len - 1] == '`') {
        by_path = true;
        name = (fm_str){name.ptr + delta.len, name.len - delta.len - 1};
    }
    if (!by_path) {
        fm_status st = find(s, parts, 1, &view, &table, &is_stream, err);
        if (st != FM_OK && st != FM_NOT_FOUND) return st;
        by_path = st == FM_NOT_FOUND && memchr(name.ptr, '/', name.len);
    }
    if (!by_path && !table) {
        return fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_NOT_FOUND", call->pos.line, call->pos.column,
                          "The table `%.*s` of %.*s() cannot be found. Verify the spelling, or name a folder: table_changes_by_path('folder', start).",
                          FM_STR_ARG(name), FM_STR_ARG(call->name));
    }
    if (table && !fm_str_eq_ci(table->format, FM_STR("delta"))) {
        return fm_fail_at(err, FM_INVALID, "DELTA_TABLE_ONLY_OPERATION", call->pos.line, call->pos.column,
                          "`%.*s` is not a Delta table: only those record changes.", FM_STR_ARG(name));
    }
    def->format = FM_STR("delta");
    fm_str path = table ? fm_options_get(&table->options, "path", FM_STR("")) : name;
    if (!fm_options_set(arena, &def->options, FM_STR("path"), path) || !fm_options_set(arena, &def->options, FM_STR("readChangeFeed"), FM_STR("true"))) {
        return fm_no_memory(arena, err);
    }
    FM_TRY(change_boundary(call->exprs[1], true, call->name, arena, def, err));
    if (call->n_exprs > 2) FM_TRY(change_boundary(call->exprs[2], false, call->name, arena, def, err));
    return fm_source_lookup(&s->source_env, def->format)->schema(&s->source_env, def, streaming, arena, &def->schema, err);
}

static fm_status table_function(void *ctx, const fm_plan *call, bool streaming, fm_arena *arena,
                                const fm_table_def **table, fm_error *err)
{
    fm_session *s = ctx;

    static const struct {
        const char *name;
        fm_status (*make)(fm_session *s, const fm_plan *call, bool streaming, fm_arena *arena, fm_table_def *def, fm_error *err);
    } functions[] = {{"read_files", read_files}, {"read_kafka", read_kafka}, {"table_changes", table_changes}, {"table_changes_by_path", table_changes}};
    size_t at = 0, n = sizeof functions / sizeof *functions;

    while (at < n && !fm_str_eq_ci(call->name, fm_str_c(functions[at].name))) at++;
    if (at == n) return FM_NOT_FOUND;
    fm_table_def *def = fm_arena_one(arena, fm_table_def);
    if (!def) return fm_no_memory(arena, err);
    def->name = call->name;
    def->pos = call->pos;
    fm_status st = functions[at].make(s, call, streaming, arena, def, err);
    if (st == FM_NOT_FOUND) { /* a path or a topic; the function was found */
        st = FM_INVALID;
        if (err) err->status = st;
    }
    *table = def;
    return st;
}

void fm_session_init_catalog(fm_session *s)
{
    s->catalog = (fm_catalog){.ctx = s, .find = find, .schema = schema_of, .metadata = metadata_of, .table_function = table_function, .names = names};
}
