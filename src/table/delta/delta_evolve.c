/* table/delta/delta_evolve.c: schemas of tables that are written. */
#include "table/delta/delta_evolve.h"

#include "table/delta/delta_properties.h"

#include <inttypes.h>

#include "base/time_text.h"
#include "expr/cast.h"
#include "os/random.h"
#include "table/delta/delta_value.h"

/* ---- Checks --------------------------------------------------------------------------------------------------- */

static fm_status check_names(const fm_type *type, bool mapped, fm_error *err)
{
    fm_delta_index seen = {0};
    fm_arena *scratch = fm_arena_new(0);
    fm_status st = scratch ? FM_OK : fm_no_memory(NULL, err);

    for (int32_t i = 0; st == FM_OK && i < type->n_fields; i++) {
        fm_str name = type->fields[i].name, folded = fm_arena_str(scratch, name);
        if (!folded.ptr) st = fm_no_memory(scratch, err);
        for (size_t k = 0; folded.ptr && k < folded.len; k++) {
            char *c = (char *)(uintptr_t)folded.ptr + k;
            if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
            if (!mapped && strchr(" ,;{}()\n\t=", *c)) {
                st = fm_fail(err, FM_INVALID, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
                             "Found invalid character(s) among ' ,;{}()\\n\\t=' in the column names of your schema. Invalid column names: %.*s. Please "
                             "use other characters and try again. Alternatively, enable Column Mapping to keep using these characters.",
                             FM_STR_ARG(name));
                break;
            }
        }
        if (st == FM_OK && fm_delta_index_find(&seen, folded) >= 0) {
            st = fm_fail(err, FM_INVALID, "DELTA_DUPLICATE_COLUMNS_FOUND", "Found duplicate column(s): %.*s.", FM_STR_ARG(name));
        }
        if (st == FM_OK) st = fm_delta_index_set(&seen, folded, i, err);
    }
    fm_delta_index_fini(&seen);
    fm_arena_free(scratch);
    for (int32_t i = 0; st == FM_OK && i < type->n_fields; i++) {
        const fm_type *t = type->fields[i].type;
        while (t->id == FM_TYPE_LIST) t = t->fields[0].type;
        if (t->id == FM_TYPE_STRUCT) st = check_names(t, mapped, err);
    }
    return st;
}

static fm_status check_types(const fm_type *type, fm_str name, fm_error *err)
{
    if (type->id == FM_TYPE_NULL) {
        return fm_fail(err, FM_INVALID, "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE",
                       "Delta doesn't accept NullTypes in the schema for streaming writes: cast the column `%.*s` to a type.", FM_STR_ARG(name));
    }
    if (type->id == FM_TYPE_INTERVAL_YM || type->id == FM_TYPE_INTERVAL_DT) {
        return fm_fail(err, FM_INVALID, "DELTA_UNSUPPORTED_DATA_TYPES", "Found columns using unsupported data types: [%.*s: INTERVAL].", FM_STR_ARG(name));
    }
    for (int32_t i = 0; i < type->n_fields; i++) FM_TRY(check_types(type->fields[i].type, type->id == FM_TYPE_STRUCT ? type->fields[i].name : name, err));
    return FM_OK;
}

/* ---- A new table ----------------------------------------------------------------------------------------------- */

fm_status fm_delta_features_for(fm_arena *arena, const fm_type *schema, const fm_delta_map *configuration, fm_delta_protocol *p, fm_error *err)
{
    static const struct {
        const char *key, *feature;
        bool for_readers;
    } switches[] = {
        {"delta.enableDeletionVectors", "deletionVectors", true}, {"delta.enableChangeDataFeed", "changeDataFeed", false},
        {"delta.enableInCommitTimestamps", "inCommitTimestamp", false}, {"delta.appendOnly", "appendOnly", false},
        {"delta.enableTypeWidening", "typeWidening", true},
    };
    fm_delta_metadata m = {.configuration = *configuration};

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (!fm_delta_property(&m, switches[i].key, false) || fm_delta_has_feature(p, switches[i].feature)) continue;
        FM_TRY(fm_delta_add_feature(arena, p, switches[i].feature, switches[i].for_readers, err));
    }
    fm_str mapping = fm_delta_map_get(configuration, "delta.columnMapping.mode", FM_STR("none"));
    if (!fm_str_eq_ci(mapping, FM_STR("none"))) FM_TRY(fm_delta_add_feature(arena, p, "columnMapping", true, err));
    if (fm_str_eq_ci(fm_delta_map_get(configuration, "delta.checkpointPolicy", FM_STR("classic")), FM_STR("v2"))) {
        FM_TRY(fm_delta_add_feature(arena, p, "v2Checkpoint", true, err));
    }
    for (int32_t i = 0; i < configuration->n; i++) {
        if (fm_str_starts(configuration->keys[i], FM_STR("delta.constraints.")) && !fm_delta_has_feature(p, "checkConstraints")) {
            FM_TRY(fm_delta_add_feature(arena, p, "checkConstraints", false, err));
        }
    }
    if (fm_delta_type_has(schema, FM_TYPE_TIMESTAMP_NTZ)) FM_TRY(fm_delta_add_feature(arena, p, "timestampNtz", true, err));
    return FM_OK;
}

/* Names as the log has them, from names as the user wrote them. */
static fm_status find_partition_columns(const fm_type *type, const fm_str *asked, int32_t n, fm_arena *arena, fm_str **out, fm_error *err)
{
    *out = fm_arena_array(arena, fm_str, n);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        int32_t c = fm_delta_schema_find(type, asked[i]);
        if (c < 0) return fm_fail(err, FM_INVALID, "DELTA_PARTITION_COLUMN_NOT_FOUND", "Partition column %.*s not found in schema.", FM_STR_ARG(asked[i]));
        for (int32_t k = 0; k < i; k++) {
            if (fm_str_eq((*out)[k], type->fields[c].name)) {
                return fm_fail(err, FM_INVALID, "DELTA_DUPLICATE_COLUMNS_FOUND", "Found duplicate column(s) among the partition columns: %.*s.", FM_STR_ARG(asked[i]));
            }
        }
        FM_TRY(fm_delta_partition_check(type->fields[c].name, type->fields[c].type, err));
        (*out)[i] = type->fields[c].name;
    }
    if (n && n == type->n_fields) {
        return fm_fail(err, FM_INVALID, "DELTA_NON_PARTITION_COLUMN_ABSENT", "Data written into Delta needs to contain at least one non-partitioned column.");
    }
    return FM_OK;
}

/* Column mapping: each field that has none gets an id and a physical name of its own. */
typedef struct mapper {
    fm_arena *arena;
    int64_t next_id;
    bool own_names; /* a field's physical name is its own */
} mapper;

static fm_status map_field(mapper *m, fm_str name, fm_delta_field *f, fm_error *err)
{
    fm_str rest = {f->metadata.ptr + 1, f->metadata.len - 1}; /* behind its brace */
    char uuid[FM_UUID_TEXT_SIZE];
    fm_strbuf text = {0};

    fm_uuid(uuid);
    fm_strbuf_printf(&text, "{\"delta.columnMapping.id\":%" PRId64 ",\"delta.columnMapping.physicalName\":", ++m->next_id);
    if (m->own_names) fm_strbuf_add_json(&text, name);
    else fm_strbuf_printf(&text, "\"col-%s\"", uuid);
    if (rest.len > 1) fm_strbuf_add_char(&text, ',');
    fm_strbuf_add(&text, rest);
    f->metadata = fm_strbuf_ok(&text) ? fm_arena_str(m->arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return f->metadata.ptr ? FM_OK : fm_no_memory(m->arena, err);
}

static fm_status map_fields(mapper *m, const fm_type *type, const fm_delta_field *old, fm_delta_field **out, fm_error *err)
{
    fm_delta_field *made = fm_arena_array(m->arena, fm_delta_field, type->n_fields);

    if (!made) return fm_no_memory(m->arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        made[i] = old ? old[i] : (fm_delta_field){.metadata = FM_STR("{}"), .id = FM_PARQUET_NO_ID};
        if (made[i].metadata.len == 0) made[i].metadata = FM_STR("{}");
        if (type->id == FM_TYPE_STRUCT && (!old || old[i].id == FM_PARQUET_NO_ID)) {
            FM_TRY(map_field(m, type->fields[i].name, &made[i], err));
        }
        FM_TRY(map_fields(m, type->fields[i].type, old ? old[i].children : NULL, &made[i].children, err));
    }
    *out = made;
    return FM_OK;
}

/* Sets schema and partition columns of m, which has its configuration; with column mapping new fields are mapped. */
static fm_status set_schema(fm_arena *arena, fm_delta_metadata *m, const fm_type *type, const fm_delta_field *fields, bool own_names, fm_error *err)
{
    fm_strbuf text = {0};
    bool mapped = !fm_str_eq_ci(fm_delta_map_get(&m->configuration, "delta.columnMapping.mode", FM_STR("none")), FM_STR("none"));

    FM_TRY(check_names(type, mapped, err));
    for (int32_t i = 0; i < type->n_fields; i++) FM_TRY(check_types(type->fields[i].type, type->fields[i].name, err));
    if (mapped) {
        mapper map = {arena, fm_delta_property_i64(m, "delta.columnMapping.maxColumnId", 0), own_names};
        fm_delta_field *made;
        FM_TRY(map_fields(&map, type, fields, &made, err));
        fields = made;
        fm_str id = fm_arena_printf(arena, "%" PRId64, map.next_id);
        if (!id.ptr) return fm_no_memory(arena, err);
        FM_TRY(fm_delta_map_set(arena, &m->configuration, FM_STR("delta.columnMapping.maxColumnId"), id, err));
    }
    fm_delta_schema_print(type, fields, &text);
    m->schema = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return m->schema.ptr ? FM_OK : fm_no_memory(arena, err);
}

/* What DEFAULT and GENERATED ALWAYS AS of the columns ask for. */
static fm_status features_of_fields(fm_arena *arena, const fm_delta_wish *wish, fm_delta_protocol *p, fm_error *err)
{
    for (int32_t i = 0; wish->fields && i < wish->rows->n_fields; i++) {
        const fm_delta_field *f = &wish->fields[i];
        if (f->generated.ptr && !fm_delta_has_feature(p, "generatedColumns")) FM_TRY(fm_delta_add_feature(arena, p, "generatedColumns", false, err));
        if (f->default_sql.ptr && !fm_delta_has_feature(p, "allowColumnDefaults")) FM_TRY(fm_delta_add_feature(arena, p, "allowColumnDefaults", false, err));
    }
    return FM_OK;
}

static fm_status make_table(const fm_delta_snapshot *s, const fm_delta_wish *wish, fm_arena *arena, fm_delta_plan *out, fm_error *err)
{
    fm_delta_metadata *m = fm_arena_one(arena, fm_delta_metadata);
    fm_delta_protocol *p = fm_arena_one(arena, fm_delta_protocol);
    char uuid[FM_UUID_TEXT_SIZE];
    const fm_type *type = wish->keep_nullability ? wish->rows : fm_type_as_nullable(arena, wish->rows);

    if (!m || !p || !type) return fm_no_memory(arena, err);
    fm_uuid(uuid);
    *m = (fm_delta_metadata){.id = fm_arena_str(arena, fm_str_c(uuid)), .provider = FM_STR("parquet"),
                             .created_ms = fm_clock_now_us(s->log->clock) / FM_US_PER_MS};
    if (wish->name.len) m->name = wish->name;
    if (wish->description.len) m->description = wish->description;
    if (!m->id.ptr) return fm_no_memory(arena, err);
    *p = wish->replace && s->version >= 0 ? s->protocol : (fm_delta_protocol){.min_reader = 1, .min_writer = 2};
    if (wish->properties) FM_TRY(fm_delta_properties_set(arena, wish->properties, m, p, err));
    FM_TRY(find_partition_columns(type, wish->partition_by, wish->n_partition_by, arena, &m->partition_columns, err));
    m->n_partition_columns = wish->n_partition_by;
    FM_TRY(set_schema(arena, m, type, wish->fields, false, err));
    FM_TRY(fm_delta_features_for(arena, type, &m->configuration, p, err));
    FM_TRY(features_of_fields(arena, wish, p, err));
    out->metadata = m;
    out->protocol = p;
    return FM_OK;
}

/* ---- A table that is there --------------------------------------------------------------------------------------- */

static fm_status mismatch(const fm_delta_snapshot *s, fm_str column, const char *what, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_METADATA_MISMATCH",
                   "A schema mismatch detected when writing to the Delta table '%s': %s '%.*s'. To enable schema migration, set the option "
                   "mergeSchema to 'true'.",
                   s->log->root.ptr, what, FM_STR_ARG(column));
}

static fm_status cannot_merge(fm_str name, const fm_type *have, const fm_type *want, fm_error *err)
{
    fm_strbuf a = {0}, b = {0};

    fm_type_sql(have, &a);
    fm_type_sql(want, &b);
    fm_status st = fm_fail(err, FM_INVALID, "DELTA_FAILED_TO_MERGE_FIELDS", "Failed to merge fields '%.*s' and '%.*s': the table has %s, the rows have %s.",
                           FM_STR_ARG(name), FM_STR_ARG(name), a.ptr ? a.ptr : "", b.ptr ? b.ptr : "");
    fm_strbuf_fini(&a);
    fm_strbuf_fini(&b);
    return st;
}

/* Types that files of the old one are read as without a table feature: what Delta's mergeSchema widens. */
static bool widens(const fm_type *have, const fm_type *want)
{
    return have->id >= FM_TYPE_I8 && have->id < FM_TYPE_I32 && want->id > have->id && want->id <= FM_TYPE_I32;
}

/* Whether rows of `want` may be cast on the way in: Spark's store assignment. */
static bool can_store(const fm_type *want, const fm_type *have)
{
    if (fm_type_eq(want, have)) return true;
    if (want->id == FM_TYPE_NULL) return true;
    if (fm_type_is_nested(want) || fm_type_is_nested(have)) return false;
    if (fm_type_is_numeric(want) && fm_type_is_numeric(have)) return true;
    if (have->id == FM_TYPE_STRING) return want->id != FM_TYPE_BINARY;
    return (want->id == FM_TYPE_DATE && fm_type_is_timestamp(have)) || (fm_type_is_timestamp(want) && have->id == FM_TYPE_DATE) ||
           (fm_type_is_timestamp(want) && fm_type_is_timestamp(have));
}

/* The table's schema with the rows' taken in. */
typedef struct merger {
    const fm_delta_snapshot *s;
    fm_arena *arena;
    bool merge;
    bool changed;
} merger;

static fm_status merge_type(merger *m, fm_str name, const fm_type *have, const fm_delta_field *fields, const fm_type *want, const fm_type **out,
                            fm_delta_field **out_fields, fm_error *err);

static fm_status merge_struct(merger *m, const fm_type *have, const fm_delta_field *fields, const fm_type *want, const fm_type **out,
                              fm_delta_field **out_fields, fm_error *err)
{
    int32_t n = have->n_fields, room = have->n_fields + want->n_fields;
    fm_field *made = fm_arena_array(m->arena, fm_field, room);
    fm_delta_field *metadata = fm_arena_array(m->arena, fm_delta_field, room);

    if (!made || !metadata) return fm_no_memory(m->arena, err);
    for (int32_t i = 0; i < n; i++) {
        made[i] = have->fields[i];
        metadata[i] = fields[i];
    }
    for (int32_t i = 0; i < want->n_fields; i++) {
        const fm_field *w = &want->fields[i];
        int32_t c = fm_delta_schema_find(have, w->name);
        if (c >= 0) {
            FM_TRY(merge_type(m, w->name, have->fields[c].type, fields[c].children, w->type, &made[c].type, &metadata[c].children, err));
            continue;
        }
        if (!m->merge) return mismatch(m->s, w->name, "the table has no column", err);
        made[n] = (fm_field){w->name, fm_type_as_nullable(m->arena, w->type), true};
        metadata[n] = (fm_delta_field){.metadata = FM_STR("{}"), .physical = w->name, .id = FM_PARQUET_NO_ID};
        if (!made[n].type) return fm_no_memory(m->arena, err);
        n++;
        m->changed = true;
    }
    *out = fm_type_struct(m->arena, made, n);
    *out_fields = metadata;
    return *out ? FM_OK : fm_no_memory(m->arena, err);
}

static fm_status merge_type(merger *m, fm_str name, const fm_type *have, const fm_delta_field *fields, const fm_type *want, const fm_type **out,
                            fm_delta_field **out_fields, fm_error *err)
{
    const fm_type *a, *b = NULL;
    fm_delta_field *children;

    *out = have;
    *out_fields = (fm_delta_field *)(uintptr_t)fields;
    if (fm_type_eq(have, want)) return FM_OK;
    if (have->id != want->id || !fm_type_is_nested(have)) {
        if (m->merge && widens(have, want)) {
            *out = want;
            m->changed = true;
            return FM_OK;
        }
        return can_store(want, have) ? FM_OK : cannot_merge(name, have, want, err);
    }
    if (have->id == FM_TYPE_STRUCT) return merge_struct(m, have, fields, want, out, out_fields, err);
    children = fm_arena_array(m->arena, fm_delta_field, 2);
    if (!children) return fm_no_memory(m->arena, err);
    for (int32_t i = 0; i < have->n_fields; i++) children[i] = fields[i];
    FM_TRY(merge_type(m, name, have->fields[0].type, fields[0].children, want->fields[0].type, &a, &children[0].children, err));
    if (have->id == FM_TYPE_MAP) FM_TRY(merge_type(m, name, have->fields[1].type, fields[1].children, want->fields[1].type, &b, &children[1].children, err));
    *out = have->id == FM_TYPE_LIST ? fm_type_list(m->arena, a, have->fields[0].nullable) : fm_type_map(m->arena, a, b, have->fields[1].nullable);
    *out_fields = children;
    return *out ? FM_OK : fm_no_memory(m->arena, err);
}

static fm_status check_partitioning(const fm_delta_snapshot *s, const fm_delta_wish *wish, fm_error *err)
{
    bool same = wish->n_partition_by == s->metadata.n_partition_columns;

    if (wish->n_partition_by == 0) return FM_OK;
    for (int32_t i = 0; same && i < wish->n_partition_by; i++) same = fm_str_eq_ci(wish->partition_by[i], s->metadata.partition_columns[i]);
    if (same) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_METADATA_MISMATCH",
                   "Partition columns do not match the partition columns of the table '%s', which has %" PRId32 " of them. Leave PARTITIONED BY out, or "
                   "write it as the table has it.",
                   s->log->root.ptr, s->metadata.n_partition_columns);
}

static fm_status new_metadata(const fm_delta_snapshot *s, fm_arena *arena, fm_delta_metadata **m, fm_delta_protocol **p, fm_error *err)
{
    *m = fm_arena_one(arena, fm_delta_metadata);
    *p = fm_arena_one(arena, fm_delta_protocol);
    if (!*m || !*p) return fm_no_memory(arena, err);
    **m = s->metadata;
    **p = s->protocol;
    return FM_OK;
}

fm_status fm_delta_set_columns(fm_arena *arena, fm_delta_metadata *m, const fm_type *type, const fm_delta_field *fields, bool own_names, fm_error *err)
{
    return set_schema(arena, m, type, fields, own_names, err);
}

static fm_status evolve_table(const fm_delta_snapshot *s, const fm_delta_wish *wish, fm_arena *arena, fm_delta_plan *out, fm_error *err)
{
    merger m = {.s = s, .arena = arena, .merge = wish->merge_schema};
    const fm_type *type = NULL;
    fm_delta_field *fields = NULL;
    fm_delta_metadata *metadata;
    fm_delta_protocol *protocol;

    if (wish->overwrite_schema) {
        FM_TRY(new_metadata(s, arena, &metadata, &protocol, err));
        type = fm_type_as_nullable(arena, wish->rows);
        if (!type) return fm_no_memory(arena, err);
        FM_TRY(find_partition_columns(type, wish->partition_by, wish->n_partition_by, arena, &metadata->partition_columns, err));
        metadata->n_partition_columns = wish->n_partition_by;
        FM_TRY(set_schema(arena, metadata, type, wish->fields, false, err));
    } else {
        FM_TRY(check_partitioning(s, wish, err));
        FM_TRY(check_names(wish->rows, true, err));
        FM_TRY(merge_struct(&m, s->schema->type, s->schema->fields, wish->rows, &type, &fields, err));
        if (!m.changed) return FM_OK;
        FM_TRY(new_metadata(s, arena, &metadata, &protocol, err));
        FM_TRY(set_schema(arena, metadata, type, fields, false, err));
    }
    FM_TRY(fm_delta_features_for(arena, type, &metadata->configuration, protocol, err));
    out->metadata = metadata;
    if (protocol->n_writer_features != s->protocol.n_writer_features || protocol->min_writer != s->protocol.min_writer) out->protocol = protocol;
    return FM_OK;
}

fm_status fm_delta_plan_write(const fm_delta_snapshot *s, const fm_delta_wish *wish, fm_arena *arena, fm_delta_plan *out, fm_error *err)
{
    *out = (fm_delta_plan){0};
    if (s->version < 0 || wish->replace) FM_TRY(make_table(s, wish, arena, out, err));
    else FM_TRY(evolve_table(s, wish, arena, out, err));
    out->written = out->metadata ? out->metadata : &s->metadata;
    out->schema = s->schema;
    if (out->metadata) FM_TRY(fm_delta_schema_read(arena, out->metadata, &out->schema, err));
    if (s->version >= 0) FM_TRY(fm_delta_check_write(&s->protocol, out->written, out->schema, s->log->root, err));
    out->from_row = fm_arena_array(arena, int32_t, out->schema->type->n_fields);
    if (!out->from_row) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < out->schema->type->n_fields; i++) out->from_row[i] = fm_delta_schema_find(wish->rows, out->schema->type->fields[i].name);
    return FM_OK;
}
