/* engine/settings.h: the settings a session knows, as a table: SET, -c, and the reference page are made from it. */
#ifndef FM_ENGINE_SETTINGS_H
#define FM_ENGINE_SETTINGS_H

#include "base/options.h"

typedef enum fm_setting_kind {
    FM_SETTING_BOOL, FM_SETTING_COUNT, /* whole number >= 0 */
    FM_SETTING_DURATION, FM_SETTING_TEXT, FM_SETTING_ZONE, FM_SETTING_SIZE
} fm_setting_kind;

typedef struct fm_setting {
    const char *key;
    fm_setting_kind kind;
    const char *absent;       /* default, as text */
    const char *doc;
} fm_setting;

const fm_setting *fm_settings(int *n);           /* sorted by key */
const fm_setting *fm_setting_find(fm_str key);   /* any case; NULL when not ours */
/* Checks a value; unknown keys below floodmark. are refused, naming the nearest; others of Spark pass. */
fm_status fm_setting_check(fm_str key, fm_str value, fm_error *err);

#endif
