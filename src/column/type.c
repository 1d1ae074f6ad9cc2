/* column/type.c: making, comparing and spelling types. */
#include "column/type.h"

#include "base/limits.h"

static const fm_type simple[FM_TYPE_COUNT] = {
    [FM_TYPE_NULL] = {.id = FM_TYPE_NULL},
    [FM_TYPE_BOOL] = {.id = FM_TYPE_BOOL},
    [FM_TYPE_I8] = {.id = FM_TYPE_I8},
    [FM_TYPE_I16] = {.id = FM_TYPE_I16},
    [FM_TYPE_I32] = {.id = FM_TYPE_I32},
    [FM_TYPE_I64] = {.id = FM_TYPE_I64},
    [FM_TYPE_F32] = {.id = FM_TYPE_F32},
    [FM_TYPE_F64] = {.id = FM_TYPE_F64},
    [FM_TYPE_DECIMAL] = {.id = FM_TYPE_DECIMAL, .precision = 10},
    [FM_TYPE_STRING] = {.id = FM_TYPE_STRING},
    [FM_TYPE_BINARY] = {.id = FM_TYPE_BINARY},
    [FM_TYPE_DATE] = {.id = FM_TYPE_DATE},
    [FM_TYPE_TIMESTAMP] = {.id = FM_TYPE_TIMESTAMP},
    [FM_TYPE_TIMESTAMP_NTZ] = {.id = FM_TYPE_TIMESTAMP_NTZ},
    [FM_TYPE_INTERVAL_YM] = {.id = FM_TYPE_INTERVAL_YM, .unit_from = FM_UNIT_YEAR, .unit_to = FM_UNIT_MONTH},
    [FM_TYPE_INTERVAL_DT] = {.id = FM_TYPE_INTERVAL_DT, .unit_from = FM_UNIT_DAY, .unit_to = FM_UNIT_SECOND},
};

const fm_type *fm_type_simple(fm_type_id id)
{
    fm_assert(id < FM_TYPE_LIST);
    return &simple[id];
}

static fm_type *make(fm_arena *arena, fm_type_id id)
{
    fm_type *t = fm_arena_one(arena, fm_type);

    if (t) t->id = id;
    return t;
}

const fm_type *fm_type_decimal(fm_arena *arena, int precision, int scale)
{
    fm_assert(precision >= 1 && precision <= FM_DECIMAL_PRECISION_MAX && scale >= 0 && scale <= precision);
    fm_type *t = make(arena, FM_TYPE_DECIMAL);

    if (!t) return NULL;
    t->precision = (uint8_t)precision;
    t->scale = (uint8_t)scale;
    return t;
}

const fm_type *fm_type_interval(fm_arena *arena, fm_interval_unit from, fm_interval_unit to)
{
    fm_assert(from <= to && (from <= FM_UNIT_MONTH) == (to <= FM_UNIT_MONTH));
    fm_type *t = make(arena, from <= FM_UNIT_MONTH ? FM_TYPE_INTERVAL_YM : FM_TYPE_INTERVAL_DT);

    if (!t) return NULL;
    t->unit_from = (uint8_t)from;
    t->unit_to = (uint8_t)to;
    return t;
}

static fm_type *make_nested(fm_arena *arena, fm_type_id id, const fm_field *fields, int32_t n)
{
    fm_type *t = make(arena, id);
    fm_field *copy = fm_arena_array(arena, fm_field, n);

    if (!t || !copy) return NULL;
    for (int32_t i = 0; i < n; i++) {
        copy[i] = fields[i];
        copy[i].name = fm_arena_str(arena, fields[i].name);
        if (!copy[i].name.ptr) return NULL;
    }
    t->fields = copy;
    t->n_fields = n;
    return t;
}

const fm_type *fm_type_list(fm_arena *arena, const fm_type *element, bool contains_null)
{
    fm_field field = {FM_STR("element"), element, contains_null};

    return make_nested(arena, FM_TYPE_LIST, &field, 1);
}

const fm_type *fm_type_map(fm_arena *arena, const fm_type *key, const fm_type *value, bool value_contains_null)
{
    fm_field fields[2] = {{FM_STR("key"), key, false}, {FM_STR("value"), value, value_contains_null}};

    return make_nested(arena, FM_TYPE_MAP, fields, 2);
}

const fm_type *fm_type_struct(fm_arena *arena, const fm_field *fields, int32_t n)
{
    return make_nested(arena, FM_TYPE_STRUCT, fields, n);
}

const fm_type *fm_type_window(fm_arena *arena, const fm_type *time)
{
    fm_field fields[2] = {{FM_STR("start"), time, true}, {FM_STR("end"), time, true}};
    fm_type *t = make_nested(arena, FM_TYPE_STRUCT, fields, 2);

    if (t) t->is_window = true;
    return t;
}

static const fm_type *copy(fm_arena *arena, const fm_type *type, bool make_nullable)
{
    fm_type *t = make(arena, type->id);
    fm_field *fields = fm_arena_array(arena, fm_field, type->n_fields);

    if (!t || !fields) return NULL;
    *t = *type;
    for (int32_t i = 0; i < type->n_fields; i++) {
        bool is_map_key = type->id == FM_TYPE_MAP && i == 0;
        fields[i].name = fm_arena_str(arena, type->fields[i].name);
        fields[i].type = copy(arena, type->fields[i].type, make_nullable);
        fields[i].nullable = type->fields[i].nullable || (make_nullable && !is_map_key);
        if (!fields[i].name.ptr || !fields[i].type) return NULL;
    }
    t->fields = fields;
    return t;
}

const fm_type *fm_type_copy(fm_arena *arena, const fm_type *type) { return copy(arena, type, false); }
const fm_type *fm_type_as_nullable(fm_arena *arena, const fm_type *type) { return copy(arena, type, true); }

int fm_type_depth(const fm_type *t)
{
    int most = 0;

    if (!fm_type_is_nested(t)) return 0;
    for (int32_t i = 0; i < t->n_fields; i++) {
        int depth = fm_type_depth(t->fields[i].type);
        if (depth > most) most = depth;
    }
    return most + 1;
}

bool fm_type_eq(const fm_type *a, const fm_type *b)
{
    if (a == b) return true;
    if (a->id != b->id || a->precision != b->precision || a->scale != b->scale || a->unit_from != b->unit_from ||
        a->unit_to != b->unit_to || a->n_fields != b->n_fields) {
        return false;
    }
    for (int32_t i = 0; i < a->n_fields; i++) {
        if (!fm_type_eq(a->fields[i].type, b->fields[i].type)) return false;
        if (a->id == FM_TYPE_STRUCT && !fm_str_eq(a->fields[i].name, b->fields[i].name)) return false;
    }
    return true;
}

bool fm_type_holds_map(const fm_type *t)
{
    if (t->id == FM_TYPE_MAP) return true;
    for (int32_t i = 0; i < t->n_fields; i++) {
        if (fm_type_holds_map(t->fields[i].type)) return true;
    }
    return false;
}

size_t fm_type_width(const fm_type *type)
{
    switch (type->id) {
    case FM_TYPE_BOOL:
    case FM_TYPE_I8: return 1;
    case FM_TYPE_I16: return 2;
    case FM_TYPE_I32:
    case FM_TYPE_F32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: return 4;
    case FM_TYPE_I64:
    case FM_TYPE_F64:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT: return 8;
    case FM_TYPE_DECIMAL:
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: return 16;
    default: return 0;
    }
}

static const char *const catalog_names[FM_TYPE_COUNT] = {
    [FM_TYPE_NULL] = "void", [FM_TYPE_BOOL] = "boolean", [FM_TYPE_I8] = "tinyint", [FM_TYPE_I16] = "smallint",
    [FM_TYPE_I32] = "int", [FM_TYPE_I64] = "bigint", [FM_TYPE_F32] = "float", [FM_TYPE_F64] = "double",
    [FM_TYPE_DECIMAL] = "decimal", [FM_TYPE_STRING] = "string", [FM_TYPE_BINARY] = "binary", [FM_TYPE_DATE] = "date",
    [FM_TYPE_TIMESTAMP] = "timestamp", [FM_TYPE_TIMESTAMP_NTZ] = "timestamp_ntz", [FM_TYPE_INTERVAL_YM] = "interval",
    [FM_TYPE_INTERVAL_DT] = "interval", [FM_TYPE_LIST] = "array", [FM_TYPE_MAP] = "map", [FM_TYPE_STRUCT] = "struct",
};
static const char *const unit_names[] = {"year", "month", "day", "hour", "minute", "second"};

static void add_word(fm_strbuf *out, const char *word, bool upper)
{
    for (; *word; word++) fm_strbuf_add_char(out, upper && *word >= 'a' && *word <= 'z' ? (char)(*word - 32) : *word);
}

/* A field name as DDL needs it: in backticks when it is no plain word. */
static void add_name(fm_strbuf *out, fm_str name)
{
    bool plain = name.len > 0;

    for (size_t i = 0; i < name.len && plain; i++) {
        char c = name.ptr[i];
        plain = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9' && i > 0);
    }
    if (plain) {
        fm_strbuf_add(out, name);
        return;
    }
    fm_strbuf_add_char(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '`') fm_strbuf_add_char(out, '`');
        fm_strbuf_add_char(out, name.ptr[i]);
    }
    fm_strbuf_add_char(out, '`');
}

static void spell(const fm_type *type, fm_strbuf *out, bool sql)
{
    add_word(out, catalog_names[type->id], sql);
    switch (type->id) {
    case FM_TYPE_DECIMAL: fm_strbuf_printf(out, "(%d,%d)", type->precision, type->scale); return;
    case FM_TYPE_INTERVAL_YM:
    case FM_TYPE_INTERVAL_DT:
        fm_strbuf_add_char(out, ' ');
        add_word(out, unit_names[type->unit_from], sql);
        if (type->unit_from == type->unit_to) return;
        add_word(out, " to ", sql);
        add_word(out, unit_names[type->unit_to], sql);
        return;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP:
    case FM_TYPE_STRUCT: break;
    default: return;
    }
    fm_strbuf_add_char(out, '<');
    for (int32_t i = 0; i < type->n_fields; i++) {
        const fm_field *f = &type->fields[i];
        if (i) fm_strbuf_add_c(out, sql ? ", " : ",");
        if (type->id == FM_TYPE_STRUCT) {
            if (sql) add_name(out, f->name);
            else fm_strbuf_add(out, f->name);
            fm_strbuf_add_c(out, sql ? ": " : ":");
        }
        spell(f->type, out, sql);
        if (sql && type->id == FM_TYPE_STRUCT && !f->nullable) fm_strbuf_add_c(out, " NOT NULL");
    }
    fm_strbuf_add_char(out, '>');
}

void fm_type_text(const fm_type *type, fm_strbuf *out) { spell(type, out, false); }
void fm_type_sql(const fm_type *type, fm_strbuf *out) { spell(type, out, true); }
