/* base/options.c: settings by name. */
#include "base/options.h"

#include <inttypes.h>

#include "base/time_text.h"

static fm_option *find(const fm_options *options, fm_str key)
{
    for (int32_t i = 0; i < options->n; i++) {
        if (fm_str_eq_ci(options->items[i].key, key)) return &options->items[i];
    }
    return NULL;
}

bool fm_options_set(fm_arena *arena, fm_options *options, fm_str key, fm_str value)
{
    fm_option *o = find(options, key);

    if (!o && options->n == options->cap) {
        int32_t cap = options->cap ? options->cap * 2 : 8;
        fm_option *more = fm_arena_array(arena, fm_option, cap);
        if (!more) return false;
        if (options->n) memcpy(more, options->items, (size_t)options->n * sizeof *more);
        options->items = more;
        options->cap = cap;
    }
    fm_option made = {.key = fm_arena_str(arena, key), .value = fm_arena_str(arena, value)};
    if (!made.key.ptr || !made.value.ptr) return false;
    if (!o) o = &options->items[options->n++];
    *o = made;
    return true;
}

const fm_option *fm_options_find(const fm_options *options, const char *key)
{
    return options ? find(options, fm_str_c(key)) : NULL;
}

fm_str fm_options_get(const fm_options *options, const char *key, fm_str absent)
{
    const fm_option *o = fm_options_find(options, key);

    return o ? o->value : absent;
}

static fm_status bad_value(const fm_option *o, const char *accepted, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", o->line, o->column,
                      "The option '%.*s' cannot be '%.*s': write %s.", FM_STR_ARG(o->key), FM_STR_ARG(o->value), accepted);
}

fm_status fm_options_bool(const fm_options *options, const char *key, bool absent, bool *out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);
    fm_str text = o ? fm_str_trim(o->value) : FM_STR("");

    *out = absent;
    if (!o) return FM_OK;
    *out = fm_str_eq_ci(text, FM_STR("true"));
    if (*out || fm_str_eq_ci(text, FM_STR("false"))) return FM_OK;
    return bad_value(o, "true or false", err);
}

fm_status fm_options_i64(const fm_options *options, const char *key, int64_t absent, int64_t min, int64_t max,
                         int64_t *out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);

    *out = absent;
    if (!o || (fm_str_to_i64(fm_str_trim(o->value), out) && *out >= min && *out <= max)) return FM_OK;
    return fm_fail_at(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", o->line, o->column,
                      "The option '%.*s' cannot be '%.*s': write a whole number from %" PRId64 " to %" PRId64 ".",
                      FM_STR_ARG(o->key), FM_STR_ARG(o->value), min, max);
}

/* The unit behind a number, in µs; 0: none. */
static int64_t unit_us(fm_str unit)
{
    static const struct {
        const char *names[4];
        int64_t us;
    } units[] = {
        {{"us", "microsecond", "microseconds", NULL}, 1},
        {{"ms", "millisecond", "milliseconds", ""}, FM_US_PER_MS},
        {{"s", "second", "seconds", "sec"}, FM_US_PER_SECOND},
        {{"m", "minute", "minutes", "min"}, FM_US_PER_MINUTE},
        {{"h", "hour", "hours", NULL}, FM_US_PER_HOUR},
        {{"d", "day", "days", NULL}, FM_US_PER_DAY},
        {{"w", "week", "weeks", NULL}, 7 * FM_US_PER_DAY},
    };

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        for (int j = 0; j < 4 && units[i].names[j]; j++) {
            if (fm_str_eq_ci(unit, fm_str_c(units[i].names[j]))) return units[i].us;
        }
    }
    return 0;
}

/* The leading digits, or the leading letters, off the front of *text, and the blanks behind them. */
static fm_str take_run(fm_str *text, bool digits)
{
    size_t len = 0;

    for (; len < text->len; len++) {
        char c = text->ptr[len], letter = (char)(c | 0x20);
        if (digits ? c < '0' || c > '9' : letter < 'a' || letter > 'z') break;
    }
    fm_str run = {text->ptr, len};
    *text = fm_str_trim((fm_str){text->ptr + len, text->len - len});
    return run;
}

/* "1 hour 30 minutes": one or more of number and unit; a unit may be missing only when there is one number. */
static bool parse_duration(fm_str text, int64_t *out_us)
{
    int64_t total = 0, number, part;

    text = fm_str_trim(text);
    if (text.len > 9 && fm_str_eq_ci((fm_str){text.ptr, 9}, FM_STR("interval "))) {
        text = fm_str_trim((fm_str){text.ptr + 9, text.len - 9});
    }
    bool one_number = true;
    do {
        fm_str digits = take_run(&text, true), unit = take_run(&text, false);
        int64_t us = unit_us(unit);
        if (us == 0 || (unit.len == 0 && !(one_number && text.len == 0))) return false;
        if (!fm_str_to_i64(digits, &number)) return false;
        if (__builtin_mul_overflow(number, us, &part) || __builtin_add_overflow(total, part, &total)) return false;
        one_number = false;
    } while (text.len);
    *out_us = total;
    return true;
}

fm_status fm_options_duration(const fm_options *options, const char *key, int64_t absent_us, int64_t *out_us, fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);

    *out_us = absent_us;
    if (!o || parse_duration(o->value, out_us)) return FM_OK;
    return bad_value(o, "a duration such as '7d', '10 minutes' or '500ms'", err);
}

enum { KNOWN_NAMES_MAX = 256 };

fm_status fm_options_check(const fm_options *options, const char *what, const char *const *const *known_lists,
                           int n_lists, fm_error *err)
{
    const char *names[KNOWN_NAMES_MAX];
    int n = 0;

    for (int i = 0; i < n_lists; i++) {
        for (const char *const *name = known_lists[i]; name && *name && n < KNOWN_NAMES_MAX; name++) names[n++] = *name;
    }
    for (int32_t i = 0; options && i < options->n; i++) {
        const fm_option *o = &options->items[i];
        bool known = false;
        for (int j = 0; j < n && !known; j++) known = fm_str_eq_ci(o->key, fm_str_c(names[j]));
        if (known) continue;
        char hint[FM_DID_YOU_MEAN_SIZE];
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_UNKNOWN_OPTION", o->line, o->column, "%s has no option '%.*s'.%s", what,
                          FM_STR_ARG(o->key), fm_str_did_you_mean(o->key, names, n, hint));
    }
    return FM_OK;
}
