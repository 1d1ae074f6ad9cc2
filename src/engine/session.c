/* engine/session.c: settings and names of a session. */
#include "engine/compile_sql.h"
#include "engine/session_impl.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "engine/memory_source.h"
#include "engine/settings.h"
#include "os/random.h"
#include "os/thread.h"

static void print_stdout(void *ctx, fm_str text)
{
    fwrite(text.ptr, 1, text.len, stdout);
    fflush(stdout);
}

fm_status fm_session_new(const fm_session_env *env, fm_session **out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_session *s = arena ? fm_arena_one(arena, fm_session) : NULL;

    *out = NULL;
    if (!s) {
        fm_arena_free(arena);
        return fm_no_memory(NULL, err);
    }
    s->arena = arena;
    if (env) s->env = *env;
    if (!s->env.fs) s->env.fs = fm_fs_real();
    if (!s->env.clock) s->env.clock = fm_clock_real();
    if (!s->env.print) s->env.print = print_stdout;
    fm_random_bytes(s->conf.entropy, sizeof s->conf.entropy);
    s->memory = fm_memory_tables_new();
    fm_status st = s->memory ? fm_wake_new(&s->stop, err) : fm_no_memory(NULL, err);
    if (st == FM_OK) st = fm_session_apply(s, err);
    if (st != FM_OK) {
        fm_session_free(s);
        return st;
    }
    fm_session_init_catalog(s);
    *out = s;
    return FM_OK;
}

void fm_session_free(fm_session *s)
{
    if (!s) return;
    fm_memory_tables_free(s->memory);
    fm_wake_free(s->stop);
    fm_arena_free(s->arena);
}

void fm_session_stop(fm_session *s) { fm_wake_raise(s->stop); }

fm_status fm_session_stopped(const fm_session *s, fm_error *err)
{
    return fm_wake_is_raised(s->stop) ? fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The statement was stopped.") : FM_OK;
}

/* The zone of the machine: TZ, or /etc/timezone, or UTC. */
static fm_str system_zone(fm_session *s)
{
    const char *tz = getenv("TZ");
    fm_str text;
    const fm_zone *zone;

    if (tz && *tz) {
        fm_str id = fm_str_c(*tz == ':' ? tz + 1 : tz);
        if (fm_zone_open(s->arena, id, &zone, NULL) == FM_OK) return id;
    }
    if (fm_fs_read_all(fm_fs_real(), "/etc/timezone", 256, s->arena, &text, NULL) == FM_OK) {
        text = fm_str_trim(text);
        if (text.len && fm_zone_open(s->arena, text, &zone, NULL) == FM_OK) return text;
    }
    return FM_STR("UTC");
}

static bool is_stopped(void *ctx) { return fm_wake_is_raised(((fm_session *)ctx)->stop); }

/* Memory tables are read through the session's own source; then what the host added. */
static const fm_source_type *find_source(void *ctx, fm_str format)
{
    fm_session *s = ctx;

    if (fm_str_eq_ci(format, FM_STR("memory"))) return &fm_memory_source;
    return s->env.find_source ? s->env.find_source(s->env.find_ctx, format) : NULL;
}

static const fm_sink_type *find_sink(void *ctx, fm_str format)
{
    fm_session *s = ctx;

    return s->env.find_sink ? s->env.find_sink(s->env.find_ctx, format) : NULL;
}

static fm_status read_map_policy(fm_session *s, fm_error *err)
{
    fm_str policy = fm_options_get(&s->settings, "spark.sql.mapKeyDedupPolicy", FM_STR("EXCEPTION"));

    s->conf.map_last_wins = fm_str_eq_ci(policy, FM_STR("LAST_WIN"));
    if (s->conf.map_last_wins || fm_str_eq_ci(policy, FM_STR("EXCEPTION"))) return FM_OK;
    return fm_fail(err, FM_INVALID, "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS",
                   "The value '%.*s' in the config \"spark.sql.mapKeyDedupPolicy\" is invalid. Use EXCEPTION or LAST_WIN.", FM_STR_ARG(policy));
}

fm_status fm_session_apply(fm_session *s, fm_error *err)
{
    const fm_option *zone = fm_options_find(&s->settings, "spark.sql.session.timeZone");

    FM_TRY(fm_options_bool(&s->settings, "spark.sql.ansi.enabled", true, &s->conf.ansi, err));
    FM_TRY(fm_options_bool(&s->settings, "spark.sql.caseSensitive", false, &s->conf.case_sensitive, err));
    FM_TRY(read_map_policy(s, err));
    if (!s->conf.zone || (zone && !fm_str_eq(fm_zone_id(s->conf.zone), zone->value))) {
        FM_TRY(fm_zone_open(s->arena, zone ? zone->value : system_zone(s), &s->conf.zone, err));
    }
    const char *user = getenv("USER");
    s->conf.user = user && *user ? fm_str_c(user) : FM_STR("floodmark");
    s->source_env = (fm_source_env){
        .fs = s->env.fs,
        .clock = s->env.clock,
        .conf = &s->conf,
        .session = &s->settings,
        .corrupt_column = fm_options_get(&s->settings, "spark.sql.columnNameOfCorruptRecord",
                                         FM_STR("_corrupt_record")),
        .memory = s->memory,
        .warn = s->env.warn,
        .warn_ctx = s->env.warn_ctx,
        .stopped = is_stopped,
        .stopped_ctx = s,
        .find_more = find_source,
        .find_more_ctx = s,
    };
    s->sink_env = (fm_sink_env){
        .fs = s->env.fs,
        .clock = s->env.clock,
        .conf = &s->conf,
        .session = &s->settings,
        .memory = s->memory,
        .print = s->env.print,
        .print_ctx = s->env.print_ctx,
        .warn = s->env.warn,
        .warn_ctx = s->env.warn_ctx,
        .find_more = find_sink,
        .find_more_ctx = s,
        .compile = fm_compile_sql,
    };
    return FM_OK;
}

fm_status fm_session_set(fm_session *s, fm_str key, fm_str value, fm_error *err)
{
    FM_TRY(fm_setting_check(key, value, err));
    if (!fm_options_set(s->arena, &s->settings, key, value)) return fm_no_memory(s->arena, err);
    return fm_session_apply(s, err);
}

fm_status fm_session_configure(fm_session *s, fm_str key, fm_str value, fm_error *err)
{
    FM_TRY(fm_session_set(s, key, value, err));
    return fm_options_set(s->arena, &s->initial, key, value) ? FM_OK : fm_no_memory(s->arena, err);
}

fm_status fm_session_reset(fm_session *s, fm_str key, fm_error *err)
{
    fm_options old = s->settings, fresh = {0};
    bool ok = true;

    for (int32_t i = 0; key.len && i < old.n && ok; i++)
        if (!fm_str_eq_ci(old.items[i].key, key)) ok = fm_options_set(s->arena, &fresh, old.items[i].key, old.items[i].value);
    for (int32_t i = 0; i < s->initial.n && ok; i++) {
        const fm_option *o = &s->initial.items[i];
        if (key.len == 0 || fm_str_eq_ci(o->key, key)) ok = fm_options_set(s->arena, &fresh, o->key, o->value);
    }
    if (!ok) return fm_no_memory(s->arena, err);
    s->settings = fresh;
    return fm_session_apply(s, err);
}

const fm_options *fm_session_settings(const fm_session *s) { return &s->settings; }
const fm_session_conf *fm_session_conf_of(const fm_session *s) { return &s->conf; }
fm_arena *fm_session_arena(fm_session *s) { return s->arena; }

fm_exec_env fm_session_exec_env(fm_session *s)
{
    int64_t workers = 0, budget = 0;
    bool pin = false;

    /* The settings were checked when they were set. */
    fm_options_i64(&s->settings, "floodmark.workers", 0, 0, FM_WORKERS_MAX, &workers, NULL);
    fm_options_i64(&s->settings, "floodmark.memoryBudget", 0, 0, INT64_MAX, &budget, NULL);
    fm_options_bool(&s->settings, "floodmark.pinThreads", false, &pin, NULL);
    if (workers == 0) workers = fm_cpu_count();
    if (workers > FM_WORKERS_MAX) workers = FM_WORKERS_MAX;
    return (fm_exec_env){
        .fs = s->env.fs,
        .clock = s->env.clock,
        .conf = &s->conf,
        .sources = &s->source_env,
        .sinks = &s->sink_env,
        .workers = (int32_t)workers,
        .pin_threads = pin,
        .memory_budget = (size_t)budget,
        .cancelled = s->stop,
    };
}

fm_relation *fm_session_find(fm_session *s, fm_str name)
{
    for (int32_t i = 0; i < s->n_relations; i++) {
        fm_relation *r = &s->relations[i];
        if (s->conf.case_sensitive ? fm_str_eq(r->name, name) : fm_str_eq_ci(r->name, name)) return r;
    }
    return NULL;
}

static fm_status add_relation(fm_session *s, const fm_relation *relation, bool replace, fm_error *err)
{
    fm_relation *old = fm_session_find(s, relation->name);

    if (old && !replace) {
        return fm_fail(err, FM_INVALID, "TABLE_OR_VIEW_ALREADY_EXISTS",
                       "Cannot create table or view `%.*s` because it already exists. Choose a different name, drop the "
                       "existing one first, or write IF NOT EXISTS or OR REPLACE.",
                       FM_STR_ARG(relation->name));
    }
    if (!old && s->n_relations == s->cap_relations) {
        int32_t cap = s->cap_relations ? s->cap_relations * 2 : 16;
        fm_relation *more = fm_arena_array(s->arena, fm_relation, cap);
        if (!more) return fm_no_memory(s->arena, err);
        if (s->n_relations) memcpy(more, s->relations, (size_t)s->n_relations * sizeof *more);
        s->relations = more;
        s->cap_relations = cap;
    }
    if (!old) old = &s->relations[s->n_relations++];
    *old = *relation;
    old->name = fm_arena_str(s->arena, relation->name);
    return old->name.ptr ? FM_OK : fm_no_memory(s->arena, err);
}

static bool copy_strs(fm_arena *arena, const fm_str *in, int32_t n, fm_str **out)
{
    *out = fm_arena_array(arena, fm_str, n);
    for (int32_t i = 0; *out && i < n; i++) {
        (*out)[i] = fm_arena_str(arena, in[i]);
        if (!(*out)[i].ptr) return false;
    }
    return *out != NULL;
}

fm_status fm_session_add_table(fm_session *s, const fm_table_def *table, bool is_stream, bool replace,
                               fm_error *err)
{
    fm_table_def *copy = fm_arena_one(s->arena, fm_table_def);

    if (!copy) return fm_no_memory(s->arena, err);
    *copy = *table;
    copy->name = fm_arena_str(s->arena, table->name);
    copy->format = fm_arena_str(s->arena, table->format);
    copy->comment = fm_arena_str(s->arena, table->comment);
    copy->schema = table->schema ? fm_type_copy(s->arena, table->schema) : NULL;
    copy->options = (fm_options){0};
    if (!copy->name.ptr || !copy->format.ptr || (table->schema && !copy->schema) ||
        !copy_strs(s->arena, table->partition_by, table->n_partition_by, &copy->partition_by)) {
        return fm_no_memory(s->arena, err);
    }
    for (int32_t i = 0; i < table->options.n; i++) {
        const fm_option *o = &table->options.items[i];
        if (!fm_options_set(s->arena, &copy->options, o->key, o->value)) return fm_no_memory(s->arena, err);
    }
    return add_relation(s, &(fm_relation){.name = table->name, .table = copy, .is_stream = is_stream}, replace, err);
}

fm_status fm_session_add_view(fm_session *s, fm_str name, const fm_plan *plan, bool replace, fm_error *err)
{
    return add_relation(s, &(fm_relation){.name = name, .view = plan}, replace, err);
}

fm_status fm_session_drop(fm_session *s, fm_str name, bool is_view, bool if_exists, fm_error *err)
{
    fm_relation *r = fm_session_find(s, name);

    if (!r) {
        if (if_exists) return FM_OK;
        return fm_fail(err, FM_INVALID, "TABLE_OR_VIEW_NOT_FOUND",
                       "The table or view `%.*s` cannot be found. SHOW TABLES lists what there is; write IF EXISTS to drop "
                       "only what exists.",
                       FM_STR_ARG(name));
    }
    if (is_view != (r->view != NULL)) {
        return fm_fail(err, FM_INVALID, "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "`%.*s` is a %s: write DROP %s.",
                       FM_STR_ARG(name), r->view ? "view" : "table", r->view ? "VIEW" : "TABLE");
    }
    *r = s->relations[--s->n_relations];
    return FM_OK;
}

fm_status fm_session_analyze(fm_session *s, const fm_plan *plan, fm_arena *arena, fm_plan **out, fm_error *err)
{
    fm_analysis analysis = {.arena = arena, .conf = &s->conf, .catalog = &s->catalog};

    return fm_analyze(&analysis, plan, out, err);
}
