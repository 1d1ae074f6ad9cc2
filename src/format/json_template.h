/* format/json_template.h: the fast path of JSON lines: rows like rows before.
 *
 * Lines of one stream look alike: the same keys in the same order, only the values differ. From a
 * line that the exact path has read a template is learned: the text between values, byte for byte,
 * and what to do with each value.
 *
 *     {"user_id":"u000123","amount":12.3,"event_time":"2026-01-01T10:00:00.123Z"}\n
 *     ------------       -----------    ----------------                        ---   literals:
 * compared
 *                 =======           ====                ========================      values:
 * STRING, F64, TIMESTAMP
 *
 * A further line is then checked rather than discovered: 16 bytes at a time. Whatever differs
 * (another order, a null, a number of an unusual form, anything bad) makes the line no match, and
 * it goes to the next template or the exact path, which begin it anew; so a template never decides
 * that a line is bad, and what it does accept, the exact path would have read to the same values.
 *
 * The body is compiled once per instruction set and chosen when a reader is made. */
#ifndef FM_FORMAT_JSON_TEMPLATE_H
#define FM_FORMAT_JSON_TEMPLATE_H

#include "format/json_convert.h"

enum {
    FM_JSON_TEMPLATES_MAX = 8,   /* field orders kept */
    FM_JSON_OPS_MAX = 512,       /* values of a line and pieces of literals; with more there is no template */
    FM_JSON_LEARN_DEPTH_MAX = 16 /* objects within objects that are taken apart */
};

typedef enum fm_json_action {
    FM_JOP_NONE, /* no value: before the first literal, and where a long one goes on */
    FM_JOP_STRING,
    FM_JOP_F64,
    FM_JOP_F32,
    FM_JOP_DECIMAL, /* from a number */
    FM_JOP_I64,     /* BIGINT */
    FM_JOP_INTEGER, /* the narrower ones */
    FM_JOP_TIMESTAMP,
    FM_JOP_DATE,
    FM_JOP_BOOL,
    FM_JOP_CONVERT, /* any other type: the exact path's conversion of this one value */
    FM_JOP_SKIP_STRING,
    FM_JOP_SKIP_NUMBER,
    FM_JOP_SKIP_WORD, /* true, false, null */
    FM_JOP_SKIP_VALUE, /* an array */
    FM_JOP_END         /* of the line; behind the last literal */
} fm_json_action;

/* Usual forms of timestamps: digits of the fraction, and whether Z follows. */
typedef enum fm_json_time_form {
    FM_JTF_OTHER,
    FM_JTF_S_Z,
    FM_JTF_MS_Z,
    FM_JTF_US_Z,
    FM_JTF_S,
    FM_JTF_MS,
    FM_JTF_US,
    FM_JTF_COUNT
} fm_json_time_form;

/* Bytes of a time behind its date, per form: x = byte ^ zero gives the value of a digit, and 0 for
 * what must stand between; x <= max holds iff all is well; x[order] are pairs of digits: HH mm ss
 * and the fraction's. */
typedef struct fm_json_clock {
    uint8_t zero[16], max[16], order[16]; /* order 0x80: a zero */
} fm_json_clock;

typedef struct fm_json_op {
    _Alignas(16) uint8_t literal[16]; /* what stands behind the value, */
    uint8_t mask[16];     /* and which of its bits are compared; longer ones go on in further ops */
    uint8_t action;       /* fm_json_action: a value before the literal */
    uint8_t literal_len;  /* 0..16 */
    uint8_t form;         /* fm_json_time_form, */
    uint8_t time_len;     /* and the bytes that it takes */
    uint32_t last_len;    /* of the last string: a guess for the next */
    void *values;         /* of the slot, in the batch being filled; NULL: the value goes nowhere */
    fm_json_slot *slot;
    int64_t day_us;       /* midnight of the date below */
    char day[16]; /* the date of the last timestamp and the byte behind it; day[0] 0: none */
    const fm_json_clock *clock; /* of the form; NULL: FM_JTF_OTHER */
} fm_json_op;

typedef struct fm_json_template {
    int32_t n_ops;
    fm_json_op *ops; /* the last is FM_JOP_END */
    int32_t n_absent; /* slots that get a null: not in the line, or null in it */
    fm_json_slot **absent;
    int32_t n_converted; /* slots of CONVERT, which must be undone when a line does not match in the
                            end */
    fm_json_slot **converted;
    fm_arena *arena; /* all of the above */
    uint64_t hits;
} fm_json_template;

/* The templates of a reader and the rows being decoded with them. */
typedef struct fm_json_run {
    fm_json_converter *converter;
    fm_json_template templates[FM_JSON_TEMPLATES_MAX];
    int32_t n_templates;
    int32_t miss_streak;  /* lines in a row that the first template did not take */
    const char *at, *end; /* lines; behind end stand FM_BLOCK_PADDING zeros */
    int32_t row, row_end; /* rows written go from row on */
    int64_t *lines;       /* [row_end] or NULL */
    int64_t line;         /* of the line at `at` */
    uint64_t misses;      /* lines left to the exact path */
    uint64_t learn_at;    /* misses at which the next template may replace one */
} fm_json_run;

/* A batch begins: slots have new arrays. */
void fm_json_run_begin(fm_json_run *run);
/* Decodes lines from run->at on, until row_end is reached, the lines end, or a line is no match. */
typedef void (*fm_json_run_fn)(fm_json_run *run);
void fm_json_run_portable(fm_json_run *run);
#if defined(__x86_64__)
void fm_json_run_sse42(fm_json_run *run);
void fm_json_run_avx2(fm_json_run *run);
#endif

/* The best for this machine. The environment variable FLOODMARK_SIMD (portable, sse42, avx2) forces
 * another one that the machine has, or with "none" the exact path for every line (NULL): for tests.
 */
fm_json_run_fn fm_json_run_choose(void);

/* Learns from a line that was read well: text with its \n or \r\n. root: the wanted slots; corrupt:
 * one more that gets nulls, or NULL. A line that does not suit is passed over. FM_LIMIT only. */
fm_status fm_json_learn(fm_json_run *run, fm_json_slot *root, fm_json_slot *corrupt, fm_str text,
                        fm_error *err);
void fm_json_run_fini(fm_json_run *run);

/* ---- what the bodies share: values of unusual forms ---- */

/* The place behind a number of JSON's grammar that starts at p; NULL when there is none. */
const char *fm_json_number_end(const char *p, const char *end);
bool fm_json_store_number(const fm_json_op *op, int32_t row, fm_str text);
/* Reads the rest of a string from p with escapes or characters beyond ASCII; stores a view when the
 * op has a slot. The place of the closing quote, or NULL. */
const char *fm_json_store_string(fm_json_run *run, const fm_json_op *op, int32_t row,
                                 const char *p);
/* A timestamp, date: text up to the closing quote. The place of that quote, or NULL. */
const char *fm_json_store_time(fm_json_run *run, fm_json_op *op, int32_t row, const char *p);
/* The exact conversion (or skipping) of the value at p. The place behind it, or NULL. */
const char *fm_json_store_value(fm_json_run *run, const fm_json_op *op, int32_t row, const char *p);
/* The midnight of the date at p ("2026-01-01" and one more byte), which the op keeps. */
bool fm_json_new_day(fm_json_op *op, const char *p);
/* Stores an integer into a narrow column; a decimal of up to 15 digits. False when it does not fit.
 */
bool fm_json_store_integer(const fm_json_op *op, int32_t row, int64_t x);
bool fm_json_store_decimal(const fm_json_op *op, int32_t row, int64_t digits, uint32_t fraction);
void fm_json_undo(const fm_json_template *t, int32_t row);

extern const fm_json_clock fm_json_clocks[FM_JTF_COUNT];
/* 16 bytes of ones, then 16 of zeros: from 16 - n on, a mask of n bytes. */
extern const uint8_t fm_json_mask_bytes[32];
/* [point][len * 16]: where the digits of a number of `len` bytes with its point at `point` (15:
 * none) come from, when they are moved to the right end of 16 bytes. */
extern const uint8_t fm_json_align[16][16 * 16];

#endif
