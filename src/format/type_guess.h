/* format/type_guess.h: a type that widens while values are looked at: what schema inference works with.
 *
 * Guesses of values merge into one guess that takes them all. Merging is by fm_guess_merge only, and its order does not
 * matter: NULL gives way to everything, STRING takes everything.
 *
 *     BOOL   I64 - DECIMAL - F64   TIMESTAMP_NTZ - TIMESTAMP   STRUCT (by name)   LIST (by element)     else STRING
 *
 * Rule: Spark, JsonInferSchema.compatibleType. */
#ifndef FM_FORMAT_TYPE_GUESS_H
#define FM_FORMAT_TYPE_GUESS_H

#include "column/type.h"

typedef struct fm_guess fm_guess;
typedef struct fm_guess_field fm_guess_field;
struct fm_guess {
    fm_type_id id;            /* NULL (a zeroed guess), BOOL, I64, F64, DECIMAL, TIMESTAMP(_NTZ), STRING, LIST, STRUCT */
    uint8_t precision, scale; /* DECIMAL */
    fm_guess *element;        /* LIST */
    int32_t n, cap;           /* STRUCT */
    fm_guess_field *fields;   /* [n] in the order they were first seen */
};
struct fm_guess_field {
    fm_str name;
    fm_guess guess;
};

/* The field of a STRUCT by that name, made (as NULL) when it is not there. hint: where it may be. The name is borrowed when
 * made. NULL: out of memory, or more than FM_SCHEMA_FIELDS_MAX. */
fm_guess *fm_guess_field_of(fm_guess *guess, fm_str name, int32_t hint, fm_arena *arena);
/* Widens *into to take what `from` takes; what is kept of `from` is copied into arena. */
fm_status fm_guess_merge(fm_guess *into, const fm_guess *from, fm_arena *arena, fm_error *err);

/* The type. Fields are sorted by name, in the order of UTF-16 units; those with no name and structs with no fields are left out.
 *
 * null_type  what NULL becomes: STRING, or NULL to leave it out
 * out        NULL when nothing is left
 * rule       Spark, JsonInferSchema.canonicalizeType */
fm_status fm_guess_type(const fm_guess *guess, const fm_type *null_type, fm_arena *arena, const fm_type **out,
                        fm_error *err);

/* Precision and scale that a decimal number in text has, as java.math.BigDecimal says; false when it is none. The scale may be
 * negative (1E3 has -3), and both larger than a DECIMAL takes. */
bool fm_decimal_shape(fm_str text, int64_t *precision, int64_t *scale);

#endif
