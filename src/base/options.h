/* base/options.h: key-value settings: OPTIONS (...) of tables, SET and -c of sessions. Keys fold case. */
#ifndef FM_BASE_OPTIONS_H
#define FM_BASE_OPTIONS_H

#include "base/arena.h"

typedef struct fm_option {
    fm_str key, value; /* key as written */
    int32_t line, column; /* in the SQL text; 0: came from elsewhere */
} fm_option;

typedef struct fm_options {
    fm_option *items;
    int32_t n, cap;
} fm_options;

/* Copies key and value into arena; a later value for a key replaces the earlier. False: out of memory. */
bool fm_options_set(fm_arena *arena, fm_options *options, fm_str key, fm_str value);
/* NULL when absent. */
const fm_option *fm_options_find(const fm_options *options, const char *key);
fm_str fm_options_get(const fm_options *options, const char *key, fm_str absent);
/* Typed readers: FM_INVALID naming key, value and what is accepted. */
fm_status fm_options_bool(const fm_options *options, const char *key, bool absent, bool *out,
                          fm_error *err);
fm_status fm_options_i64(const fm_options *options, const char *key, int64_t absent, int64_t min,
                         int64_t max, int64_t *out, fm_error *err);
/* "7d", "10 minutes", "1 hour 30 minutes", "500ms", plain number = ms: µs. Never negative. */
fm_status fm_options_duration(const fm_options *options, const char *key, int64_t absent_us,
                              int64_t *out_us, fm_error *err);
/* FM_INVALID, naming the nearest known name, when a key is in none of the lists (NULL-terminated). */
fm_status fm_options_check(const fm_options *options, const char *what,
                           const char *const *const *known_lists, int n_lists, fm_error *err);

/* An option of the engine's own ('true'): the column of corrupt records holds why the record is bad, in one line, and in the lines
 * behind it the record. */
#define FM_BAD_REASON_OPTION "floodmark.badReason"

#endif
