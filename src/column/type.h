/* column/type.h: SQL types, as Spark has them.
 *
 * A type is immutable. Types without parameters are shared constants (fm_type_i64()); others live in
 * an arena. Compare with fm_type_eq, never by pointer. */
#ifndef FM_COLUMN_TYPE_H
#define FM_COLUMN_TYPE_H

#include "base/arena.h"

typedef enum fm_type_id {
    FM_TYPE_NULL,          /* void: the type of a bare NULL */
    FM_TYPE_BOOL,
    FM_TYPE_I8,            /* TINYINT */
    FM_TYPE_I16,           /* SMALLINT */
    FM_TYPE_I32,           /* INT */
    FM_TYPE_I64,           /* BIGINT */
    FM_TYPE_F32,           /* FLOAT */
    FM_TYPE_F64,           /* DOUBLE */
    FM_TYPE_DECIMAL,       /* precision 1..38, scale 0..precision */
    FM_TYPE_STRING,        /* UTF-8 */
    FM_TYPE_BINARY,
    FM_TYPE_DATE,          /* days since 1970-01-01 */
    FM_TYPE_TIMESTAMP,     /* µs since 1970 UTC: an instant */
    FM_TYPE_TIMESTAMP_NTZ, /* µs since 1970 of a local clock */
    FM_TYPE_INTERVAL_YM,   /* months */
    FM_TYPE_INTERVAL_DT,   /* µs */
    FM_TYPE_LIST,          /* ARRAY */
    FM_TYPE_MAP,
    FM_TYPE_STRUCT,
    FM_TYPE_COUNT
} fm_type_id;

/* Units of interval types, from..to: INTERVAL DAY TO SECOND. */
typedef enum fm_interval_unit {
    FM_UNIT_YEAR, FM_UNIT_MONTH, /* of INTERVAL_YM */
    FM_UNIT_DAY, FM_UNIT_HOUR, FM_UNIT_MINUTE, FM_UNIT_SECOND /* of INTERVAL_DT */
} fm_interval_unit;

typedef struct fm_type fm_type;

typedef struct fm_field {
    fm_str name;
    const fm_type *type;
    bool nullable;
} fm_field;

struct fm_type {
    fm_type_id id;
    uint8_t precision, scale;    /* DECIMAL */
    uint8_t unit_from, unit_to;  /* intervals: fm_interval_unit */
    bool is_window;              /* STRUCT made by window() or session_window(): window_time() wants it */
    int32_t n_fields;            /* LIST 1 (element), MAP 2 (key, value), STRUCT any, else 0 */
    const fm_field *fields;
};

const fm_type *fm_type_simple(fm_type_id id); /* a shared type of an id without parameters; interval
                                                 ids give YEAR TO MONTH and DAY TO SECOND */
static inline const fm_type *fm_type_null(void) { return fm_type_simple(FM_TYPE_NULL); }
static inline const fm_type *fm_type_bool(void) { return fm_type_simple(FM_TYPE_BOOL); }
static inline const fm_type *fm_type_i32(void) { return fm_type_simple(FM_TYPE_I32); }
static inline const fm_type *fm_type_i64(void) { return fm_type_simple(FM_TYPE_I64); }
static inline const fm_type *fm_type_f64(void) { return fm_type_simple(FM_TYPE_F64); }
static inline const fm_type *fm_type_string(void) { return fm_type_simple(FM_TYPE_STRING); }
static inline const fm_type *fm_type_timestamp(void) { return fm_type_simple(FM_TYPE_TIMESTAMP); }

/* Each returns NULL when the arena is exhausted. Names are copied, child types are shared. */
const fm_type *fm_type_decimal(fm_arena *arena, int precision, int scale);
const fm_type *fm_type_interval(fm_arena *arena, fm_interval_unit from, fm_interval_unit to);
const fm_type *fm_type_list(fm_arena *arena, const fm_type *element, bool contains_null);
const fm_type *fm_type_map(fm_arena *arena, const fm_type *key, const fm_type *value,
                           bool value_contains_null);
const fm_type *fm_type_struct(fm_arena *arena, const fm_field *fields, int32_t n);
/* struct<start, end> of `time` (TIMESTAMP or TIMESTAMP_NTZ), marked is_window. */
const fm_type *fm_type_window(fm_arena *arena, const fm_type *time);
/* A deep copy into arena. */
const fm_type *fm_type_copy(fm_arena *arena, const fm_type *type);
/* As `type`, nullable at every level. */
const fm_type *fm_type_as_nullable(fm_arena *arena, const fm_type *type);

/* Same type; nullability and the window mark are not looked at; field names compare exactly. */
bool fm_type_eq(const fm_type *a, const fm_type *b);

/* Bytes of one value in a value buffer: 1, 2, 4, 8, 16; 0 for NULL, LIST, MAP, STRUCT. */
size_t fm_type_width(const fm_type *type);
static inline bool fm_type_is_view(const fm_type *t)
{
    return t->id == FM_TYPE_STRING || t->id == FM_TYPE_BINARY;
}
static inline bool fm_type_is_integer(const fm_type *t)
{
    return t->id >= FM_TYPE_I8 && t->id <= FM_TYPE_I64;
}
static inline bool fm_type_is_numeric(const fm_type *t)
{
    return t->id >= FM_TYPE_I8 && t->id <= FM_TYPE_DECIMAL;
}
static inline bool fm_type_is_timestamp(const fm_type *t)
{
    return t->id == FM_TYPE_TIMESTAMP || t->id == FM_TYPE_TIMESTAMP_NTZ;
}
/* Either interval family. */
static inline bool fm_type_is_interval(const fm_type *t)
{
    return t->id == FM_TYPE_INTERVAL_YM || t->id == FM_TYPE_INTERVAL_DT;
}
/* How many ARRAY, MAP and STRUCT stand within each other: 0 for INT. */
int fm_type_depth(const fm_type *t);
/* Whether it is a MAP or holds one. */
bool fm_type_holds_map(const fm_type *t);
static inline bool fm_type_is_nested(const fm_type *t) { return t->id >= FM_TYPE_LIST; }

/* Spark's catalog text, as typeof() gives it: "bigint", "decimal(10,2)", "struct<a:int,b:string>". */
void fm_type_text(const fm_type *type, fm_strbuf *out);
/* Spark's SQL text, as error messages quote it: "BIGINT", "DECIMAL(10,2)", "STRUCT<a: INT>". */
void fm_type_sql(const fm_type *type, fm_strbuf *out);
/* Parses either spelling ("bigint", "ARRAY<STRUCT<a: INT, b: STRING NOT NULL>>") and, with
 * fm_type_parse_ddl, a column list ("a INT, b STRING COMMENT 'x'") into a STRUCT.
 * Errors: FM_INVALID, PARSE_SYNTAX_ERROR / UNSUPPORTED_DATATYPE, naming the place. */
fm_status fm_type_parse(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err);
fm_status fm_type_parse_ddl(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err);

#endif
