/* engine/show.c: statements that tell: SHOW, DESCRIBE, EXPLAIN, SET without a value. */
#include <stdlib.h>

#include "engine/tables.h"
#include "expr/generator.h"
#include "engine/settings.h"

/* Rows of text under construction. */
typedef struct rows {
    fm_arena *arena;
    fm_str *cells;
    int64_t n, cap;
    bool failed;
} rows;

static void add_cell(rows *r, fm_str cell)
{
    if (r->n == r->cap) {
        int64_t cap = r->cap ? r->cap * 2 : 64;
        fm_str *more = fm_arena_array(r->arena, fm_str, cap);
        if (!more) {
            r->failed = true;
            return;
        }
        if (r->n) memcpy(more, r->cells, (size_t)r->n * sizeof *more);
        r->cells = more;
        r->cap = cap;
    }
    r->cells[r->n++] = cell;
}

static void add_cell_c(rows *r, const char *text) { add_cell(r, fm_str_c(text)); }

static fm_status give(rows *r, fm_result *result, const char *const *names, int32_t n_columns, fm_error *err)
{
    if (r->failed) return fm_no_memory(r->arena, err);
    return fm_result_strings(result, names, n_columns, r->cells, r->n / n_columns, err);
}

/* SHOW ... LIKE 'a*|b': '*' stands for any text, '|' for or; folds case. */
static bool like_one(fm_str pattern, fm_str name)
{
    size_t p = 0, n = 0, star = SIZE_MAX, resume = 0;

    while (n < name.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            resume = n;
        } else if (p < pattern.len && fm_str_eq_ci((fm_str){pattern.ptr + p, 1}, (fm_str){name.ptr + n, 1})) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') p++;
    return p == pattern.len;
}

static bool like(fm_str pattern, fm_str name)
{
    if (pattern.len == 0) return true;
    for (size_t from = 0; from <= pattern.len;) {
        size_t to = from;
        while (to < pattern.len && pattern.ptr[to] != '|') to++;
        if (like_one((fm_str){pattern.ptr + from, to - from}, name)) return true;
        from = to + 1;
    }
    return false;
}

/* Tables of the warehouse that the session has not named itself: those are there for the next session, too. */
static fm_status add_stored(fm_session *s, const fm_plan *p, rows *r, fm_error *err)
{
    fm_str *stored;
    int32_t n;

    FM_TRY(fm_warehouse_names(s, r->arena, &stored, &n, err));
    for (int32_t i = 0; i < n; i++) {
        if (fm_session_find(s, stored[i]) || !like(p->name, stored[i])) continue;
        add_cell_c(r, "default");
        add_cell(r, stored[i]);
        add_cell_c(r, "false");
        add_cell_c(r, "delta");
    }
    return FM_OK;
}

/* A Delta table without a LOCATION, which the next session finds again. */
static bool is_stored(fm_session *s, const fm_relation *relation)
{
    fm_str path;

    if (!relation->table || !fm_str_eq_ci(relation->table->format, FM_STR("delta"))) return false;
    return fm_warehouse_path(s, relation->name, &path, NULL) == FM_OK && fm_str_eq(fm_options_get(&relation->table->options, "path", FM_STR("")), path);
}

/* Rule: Spark's columns, and provider; what the session declares itself ends with it, as Spark's temporary views do. */
static fm_status show_relations(fm_session *s, const fm_plan *p, bool views, fm_result *result, fm_error *err)
{
    const char *const names[] = {"namespace", views ? "viewName" : "tableName", "isTemporary", "provider"};
    rows r = {.arena = result->arena};

    for (int32_t i = 0; i < s->n_relations; i++) {
        const fm_relation *relation = &s->relations[i];
        if ((views && !relation->view) || !like(p->name, relation->name)) continue;
        add_cell_c(&r, "default");
        add_cell(&r, relation->name);
        add_cell_c(&r, is_stored(s, relation) ? "false" : "true");
        add_cell(&r, relation->table ? relation->table->format : FM_STR(""));
    }
    if (!views) FM_TRY(add_stored(s, p, &r, err));
    return give(&r, result, names, 4, err);
}

/* Functions that the analyzer knows without a table. */
typedef struct special_function {
    const char *name, *kind, *usage, *doc;
} special_function;

static const special_function special_functions[] = {
    {"window", "grouping", "window(time, duration[, slide[, start]])", "Groups by windows of time: a struct of start and end."},
    {"read_files", "table", "read_files(path[, format => 'csv'][, schema => 'a INT'][, option => value ...])", "Reads files; under STREAM, as they come."},
    {"read_kafka", "table", "read_kafka(bootstrapServers => 'host:9092', subscribe => 'topic'[, option => value ...])",
     "Reads topics of Kafka; under STREAM, as messages come."},
    {"table_changes", "table", "table_changes('table', start[, end])", "Reads the change data feed of a Delta table."},
    {"table_changes_by_path", "table", "table_changes_by_path('folder', start[, end])", "Reads the change data feed of a Delta table in a folder."},
    {"range", "table", "range([start, ]end[, step])", "Gives a row for each number."},
};

static void add_function(rows *r, const fm_plan *p, const char *name, const char *kind, const char *usage, const char *doc)
{
    if (!like(p->name, fm_str_c(name))) return;
    add_cell_c(r, name);
    add_cell_c(r, kind);
    add_cell_c(r, usage ? usage : "");
    add_cell_c(r, doc ? doc : "");
}

static fm_status show_functions(const fm_plan *p, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"function", "kind", "usage", "description"};
    rows r = {.arena = result->arena};
    int n;

    const fm_function *const *functions = fm_functions(&n);
    for (int i = 0; i < n; i++) add_function(&r, p, functions[i]->name, "scalar", functions[i]->usage, functions[i]->doc);
    for (const fm_function *const *f = fm_json_function_table; *f; f++) add_function(&r, p, (*f)->name, "scalar", (*f)->usage, (*f)->doc);
    const fm_aggregate *const *aggregates = fm_aggregates(&n);
    for (int i = 0; i < n; i++) add_function(&r, p, aggregates[i]->name, "aggregate", aggregates[i]->usage, aggregates[i]->doc);
    const fm_generator *const *generators = fm_generators(&n);
    for (int i = 0; i < n; i++) add_function(&r, p, generators[i]->name, "generator", generators[i]->usage, generators[i]->doc);
    for (const fm_generator *const *g = fm_json_generator_table; *g; g++) add_function(&r, p, (*g)->name, "generator", (*g)->usage, (*g)->doc);
    for (size_t i = 0; i < sizeof special_functions / sizeof special_functions[0]; i++) {
        const special_function *f = &special_functions[i];
        add_function(&r, p, f->name, f->kind, f->usage, f->doc);
    }
    return give(&r, result, names, 4, err);
}

static fm_status describe_function(const fm_plan *p, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"function_desc"};
    rows r = {.arena = result->arena};
    bool outer;
    special_function found = {0};
    const fm_function *f = fm_function_find(p->name);
    const fm_aggregate *a = f ? NULL : fm_aggregate_find(p->name);
    const fm_generator *g = f || a ? NULL : fm_generator_find(p->name, &outer);

    for (size_t i = 0; i < sizeof special_functions / sizeof special_functions[0]; i++) {
        if (fm_str_eq_ci(p->name, fm_str_c(special_functions[i].name))) found = special_functions[i];
    }
    if (f) found = (special_function){f->name, NULL, f->usage, f->doc};
    if (a) found = (special_function){a->name, NULL, a->usage, a->doc};
    if (g && !found.name) found = (special_function){g->name, NULL, g->usage, g->doc};
    if (!found.name) {
        return fm_fail_at(err, FM_INVALID, "UNRESOLVED_ROUTINE", p->pos.line, p->pos.column,
                          "Cannot resolve routine `%.*s`. SHOW FUNCTIONS lists what there is.", FM_STR_ARG(p->name));
    }
    add_cell(&r, fm_arena_printf(r.arena, "Function: %s", found.name));
    add_cell(&r, fm_arena_printf(r.arena, "Usage: %s", found.usage ? found.usage : ""));
    add_cell_c(&r, found.doc ? found.doc : "");
    return give(&r, result, names, 1, err);
}

static fm_status describe_columns(fm_session *s, const fm_plan *query, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"col_name", "data_type", "comment"};
    rows r = {.arena = result->arena};
    fm_plan *analyzed;
    fm_strbuf text = {0};

    FM_TRY(fm_session_analyze(s, query, result->arena, &analyzed, err));
    for (int32_t i = 0; i < analyzed->n_output; i++) {
        fm_strbuf_clear(&text);
        fm_type_text(analyzed->output[i].type, &text);
        add_cell(&r, analyzed->output[i].name);
        add_cell(&r, fm_arena_str(r.arena, fm_strbuf_str(&text)));
        add_cell(&r, (fm_str){NULL, 0});
    }
    r.failed |= !fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    return give(&r, result, names, 3, err);
}

static fm_status show_columns(fm_session *s, const fm_plan *p, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"col_name"};
    rows r = {.arena = result->arena};
    fm_plan *relation = fm_plan_new(result->arena, FM_PLAN_RELATION, p->pos), *analyzed;

    if (!relation) return fm_no_memory(result->arena, err);
    relation->name_parts = p->name_parts;
    relation->n_name_parts = p->n_name_parts;
    FM_TRY(fm_session_analyze(s, relation, result->arena, &analyzed, err));
    for (int32_t i = 0; i < analyzed->n_output; i++) add_cell(&r, analyzed->output[i].name);
    return give(&r, result, names, 1, err);
}

static bool reads_another_version(const fm_table_def *table)
{
    static const char *const options[] = {"versionAsOf", "timestampAsOf", "readChangeFeed", "readChangeData"};

    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (fm_options_find(&table->options, options[i])) return true;
    }
    return false;
}

static fm_status describe(fm_session *s, const fm_plan *p, fm_result *result, fm_error *err)
{
    const fm_table_def *table;

    if (fm_str_eq_ci(p->what, FM_STR("FUNCTION"))) return describe_function(p, result, err);
    if (p->n_children) return describe_columns(s, p->children[0], result, err);
    /* A Delta table knows more of its columns; one that is read as it was shows those it had. */
    if (fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, NULL) == FM_OK && !reads_another_version(table)) {
        return fm_session_maintain(s, p, result, err);
    }
    fm_plan *relation = fm_plan_new(result->arena, FM_PLAN_RELATION, p->pos);
    if (!relation) return fm_no_memory(result->arena, err);
    relation->name_parts = p->name_parts;
    relation->n_name_parts = p->n_name_parts;
    return describe_columns(s, relation, result, err);
}

static void section(fm_strbuf *out, const char *title)
{
    if (out->len) fm_strbuf_add_char(out, '\n');
    fm_strbuf_printf(out, "== %s ==\n", title);
}

/* EXPLAIN: the phases of a plan. A stream is explained as it would be started, with the session's output mode. */
static fm_status explain_text(fm_session *s, const fm_plan *p, fm_arena *arena, fm_strbuf *out, fm_error *err)
{
    const fm_plan *query = p->children[0];
    fm_plan *analyzed, *optimized;
    fm_output_mode mode = FM_MODE_APPEND;
    fm_str mode_text = fm_options_get(&s->settings, "floodmark.outputMode", FM_STR("append"));

    if (query->kind == FM_PLAN_CREATE_STREAMING_TABLE) {
        mode_text = fm_options_get(&query->table->options, "outputMode", mode_text);
        query = query->children[0];
    }
    FM_TRY(fm_output_mode_parse(mode_text, &mode, err));
    if (p->explain_mode == FM_EXPLAIN_EXTENDED) {
        section(out, "Parsed Logical Plan");
        fm_plan_text(query, out);
    }
    FM_TRY(fm_session_analyze(s, query, arena, &analyzed, err));
    if (p->explain_mode == FM_EXPLAIN_EXTENDED) {
        section(out, "Analyzed Logical Plan");
        fm_plan_text(analyzed, out);
    }
    FM_TRY(fm_optimize(arena, &s->conf, analyzed, &optimized, err));
    if (p->explain_mode == FM_EXPLAIN_EXTENDED) {
        section(out, "Optimized Logical Plan");
        fm_plan_text(optimized, out);
    }
    section(out, "Physical Plan");
    return fm_exec_explain(optimized, mode, &s->source_env, out, err);
}

static fm_status explain(fm_session *s, const fm_plan *p, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"plan"};
    fm_strbuf text = {0};

    fm_status st = explain_text(s, p, result->arena, &text, err);
    fm_str cell = fm_arena_str(result->arena, fm_strbuf_str(&text));
    if (st == FM_OK && (!fm_strbuf_ok(&text) || !cell.ptr)) st = fm_no_memory(result->arena, err);
    fm_strbuf_fini(&text);
    result->is_text = true;
    return st == FM_OK ? fm_result_strings(result, names, 1, &cell, 1, err) : st;
}

static fm_status show_settings(fm_session *s, const fm_plan *p, fm_result *result, fm_error *err)
{
    static const char *const names[] = {"key", "value", "meaning"};
    rows r = {.arena = result->arena};
    int n;

    if (p->options.n) { /* SET key */
        fm_str key = p->options.items[0].key;
        const fm_setting *setting = fm_setting_find(key);
        fm_str value = fm_options_get(&s->settings, key.ptr, setting ? fm_str_c(setting->absent) : FM_STR("<undefined>"));
        add_cell(&r, key);
        add_cell(&r, value);
        add_cell_c(&r, setting ? setting->doc : "");
        return give(&r, result, names, 3, err);
    }
    const fm_setting *all = fm_settings(&n);
    for (int i = 0; i < n; i++) {
        add_cell_c(&r, all[i].key);
        add_cell(&r, fm_options_get(&s->settings, all[i].key, fm_str_c(all[i].absent)));
        add_cell_c(&r, all[i].doc);
    }
    for (int32_t i = 0; i < s->settings.n; i++) {
        if (fm_setting_find(s->settings.items[i].key)) continue;
        add_cell(&r, s->settings.items[i].key);
        add_cell(&r, s->settings.items[i].value);
        add_cell_c(&r, "");
    }
    return give(&r, result, names, 3, err);
}

fm_status fm_session_show(fm_session *s, const fm_plan *p, fm_result *result, fm_error *err)
{
    switch (p->kind) {
    case FM_PLAN_SET: return show_settings(s, p, result, err);
    case FM_PLAN_EXPLAIN: return explain(s, p, result, err);
    case FM_PLAN_DESCRIBE: return describe(s, p, result, err);
    default: break;
    }
    if (fm_str_eq_ci(p->what, FM_STR("COLUMNS"))) return show_columns(s, p, result, err);
    if (fm_str_eq_ci(p->what, FM_STR("FUNCTIONS"))) return show_functions(p, result, err);
    if (fm_str_eq_ci(p->what, FM_STR("VIEWS"))) return show_relations(s, p, true, result, err);
    if (fm_str_eq_ci(p->what, FM_STR("TABLES"))) return show_relations(s, p, false, result, err);
    return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_SHOW", p->pos.line, p->pos.column,
                      "SHOW %.*s is not available here; there are SHOW TABLES, VIEWS, FUNCTIONS, COLUMNS and TBLPROPERTIES.", FM_STR_ARG(p->what));
}
