/* format/json_convert.h: a JSON record -> values of a type, exactly as Spark's converter does.
 *
 * Three outcomes. OK: there is a value. PARTIAL: there is one, but something within was wrong (a
 * field of a struct became null), so the record is bad. BAD: there is none. A struct field and a
 * map take a BAD value in and go on; a list hands it up; a failure of the text between values goes
 * up to the record, which then has no values at all. */
#ifndef FM_FORMAT_JSON_CONVERT_H
#define FM_FORMAT_JSON_CONVERT_H

#include "format/json_options.h"
#include "format/json_scan.h"
#include "format/json_slots.h"
#include "format/text_value.h"

typedef enum fm_json_outcome { FM_JSON_OK, FM_JSON_PARTIAL, FM_JSON_BAD } fm_json_outcome;

/* Why a record is bad: the first thing found. Decides the error of FAILFAST. */
typedef enum fm_json_cause {
    FM_JSON_CAUSE_NONE,
    FM_JSON_CAUSE_TEXT,          /* not JSON: scan->fault, at scan->fault_at */
    FM_JSON_CAUSE_TYPE,          /* a value of another kind than the column's */
    FM_JSON_CAUSE_STRING_NUMBER, /* a string where a number belongs */
    FM_JSON_CAUSE_ARRAY,         /* an array at the top, which cannot be rows */
    FM_JSON_CAUSE_ROOT           /* neither object nor array at the top */
} fm_json_cause;

typedef struct fm_json_converter {
    const fm_json_options *options;
    fm_json_scan scan;
    fm_arena *arena; /* for values; the batch's */
    uint64_t record; /* number of the record (or element) being read; never 0 */
    fm_date_cache dates;
    fm_strbuf bytes; /* scratch */
    bool no_memory;
    fm_json_cause cause;
    fm_str cause_field; /* name, or empty */
    const fm_type *cause_type;
    size_t cause_at; /* byte of the record, from 0 */
} fm_json_converter;

/* options are borrowed for the converter's life. */
fm_status fm_json_converter_init(fm_json_converter *c, const fm_json_options *options,
                                 fm_error *err);
void fm_json_converter_fini(fm_json_converter *c);

/* Puts the text before the converter and reads its first token: FM_JT_ERROR, FM_JT_NONE for a blank
 * text, ... */
fm_json_token fm_json_convert_start(fm_json_converter *c, fm_str text, fm_arena *arena);

/* The current token is an OBJECT: its fields -> row `row` of root's children, all of them written
 * (nulls for what is missing) unless BAD. */
fm_json_outcome fm_json_convert_row(fm_json_converter *c, fm_json_slot *root, int32_t row);
/* The value of the current token (or behind the current name) -> one more lane, unless BAD. */
fm_json_outcome fm_json_convert_lane(fm_json_converter *c, const fm_type *type, fm_builder *out);
/* The same, into row `row` of a slot, unless BAD (then the slot keeps what it had at `row`). */
fm_json_outcome fm_json_convert_slot(fm_json_converter *c, fm_json_slot *slot, int32_t row);

/* Whether values of a type can be read from JSON: map keys must be strings, ... FM_UNSUPPORTED,
 * FM_INVALID. */
fm_status fm_json_type_check(const fm_type *type, fm_error *err);

/* The condition and text of the error of FAILFAST. */
const char *fm_json_cause_condition(const fm_json_converter *c);
void fm_json_cause_text(const fm_json_converter *c, fm_strbuf *out);
/* What the column of corrupt records holds: the record, or with FM_BAD_REASON_OPTION the reason and the record, in arena. ptr NULL:
 * no memory. */
fm_str fm_json_corrupt_text(const fm_json_converter *c, fm_str record, fm_arena *arena);
/* The same of any reason, which is made one line. */
fm_str fm_corrupt_text(fm_strbuf *reason, fm_str record, fm_arena *arena);

#endif
