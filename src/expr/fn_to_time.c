/* expr/fn_to_time.c: text to times and back: to_timestamp, to_date, unix_timestamp, date_format, from_unixtime.
 *
 * Rule   Spark: without a pattern the rules of CAST; with one java.time's. A pattern that is constant is compiled once. Under
 *        ANSI text that does not fit is an error, else null; try_ forms always give null.
 * Cases  tests/golden/functions/to_time.test */
#include "base/limits.h"
#include "expr/cast.h"
#include "expr/coerce.h"
#include "expr/eval_internal.h"
#include "expr/kernel.h"
#include "expr/resolve_text.h"
#include "expr/time_format.h"

/* What bind keeps: a kernel, the constant pattern, and what becomes of text that does not fit. */
typedef struct parsing {
    fm_picked picked;
    const fm_time_format *format; /* NULL: the pattern is an argument that varies */
    bool fails;
    bool ntz;
} parsing;

/* The pattern of a lane: the constant one, or compiled anew when it differs from the lane before. */
typedef struct pattern_reader {
    const fm_time_format *format;
    bool constant, parses;
} pattern_reader;

static fm_status pattern_of(fm_call *call, const fm_vec *patterns, int64_t i, pattern_reader *r)
{
    if (r->constant) return FM_OK;
    if (r->format && fm_str_eq(r->format->text, fm_vec_str(patterns, i))) return FM_OK;
    FM_TRY(fm_time_format_new(call->arena, fm_vec_str(patterns, i), &r->format, call->err));
    return r->parses ? fm_time_format_for_parsing(r->format, call->err) : FM_OK;
}

static fm_status fail_parse(fm_call *call, fm_str text, const char *kind)
{
    return fm_fail(call->err, FM_INVALID, "CANNOT_PARSE_TIMESTAMP",
                   "Text '%.*s' could not be parsed by the pattern. Use `%s` to tolerate invalid input string and "
                   "return NULL instead.",
                   FM_STR_ARG(text), kind);
}

/* args[0] text, args[1] pattern -> µs */
static fm_status parse_pattern(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const parsing *p = call->bound;
    pattern_reader reader = {p->format, p->format != NULL, true};
    uint64_t *own = NULL;
    for (int64_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        int64_t *to = &fm_vec_i64_out(out)[i];
        fm_time_zone_found zone;
        if (fm_call_lane_null(out, i)) continue;
        FM_TRY(pattern_of(call, &args[1], i, &reader));
        if (p->ntz ? fm_time_format_parse_local(reader.format, text, to, &zone)
                   : fm_time_format_parse(reader.format, text, call->conf->zone, to))
            continue;
        if (p->fails) return fail_parse(call, text, "try_to_timestamp");
        *to = 0;
        FM_TRY(fm_out_null(call, out, &own, i));
    }
    return FM_OK;
}

/* As parse_pattern, in whole seconds. */
static fm_status parse_seconds(fm_call *call, const fm_vec *args, fm_vec *out)
{
    FM_TRY(parse_pattern(call, args, out));
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_i64_out(out)[i] = fm_vec_i64_out(out)[i] / FM_US_PER_SECOND;
    return FM_OK;
}

/* As parse_pattern, the day of it. */
static fm_status parse_date(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_vec us = {0};
    FM_TRY(fm_vec_init(&us, fm_type_timestamp(), out->len, call->arena, call->err));
    us.validity = out->validity;
    FM_TRY(parse_pattern(call, args, &us));
    out->validity = us.validity;
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_i32_out(out)[i] = fm_day_of_us(fm_zone_to_local(call->conf->zone, fm_vec_i64(&us)[i]));
    return FM_OK;
}

/* The cast that was inserted has done it. */
static fm_status cast_already(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return fm_vec_mask(out, &args[0], out->validity, call->arena, call->err);
}

static fm_status seconds_of(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_i64_out(out)[i] = fm_vec_i64(&args[0])[i] / FM_US_PER_SECOND; /* Spark cuts: -0.5 s is 0 */
    return FM_OK;
}

/* try_ forms: a cast that gives null. */
static fm_status try_cast(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return fm_cast_run(&args[0], call->expr->type, FM_CAST_TRY, call->conf, call->arena, out, call->err);
}

/* A cast of the text that was made of the argument. */
static fm_status cast_text(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return fm_cast_run(&args[0], call->expr->type, call->ansi ? FM_CAST_ANSI : FM_CAST_LEGACY, call->conf, call->arena,
                       out, call->err);
}

static fm_status now_seconds(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    for (int64_t i = 0; i < out->len; i++)
        fm_vec_i64_out(out)[i] = fm_floor_div(call->run->now_us, FM_US_PER_SECOND);
    return FM_OK;
}

/* --- binding ----------------------------------------------------------------------------------------- */

static fm_status bind_pattern(fm_bind *b, int32_t i, bool parses, const fm_time_format **format, fm_error *err)
{
    fm_value pattern;
    *format = NULL;
    if (!fm_bind_is_constant(b, i)) return FM_OK;
    FM_TRY(fm_eval_constant_of(b, i, &pattern, err));
    if (fm_vec_is_null(&pattern, 0)) return FM_OK; /* strict: the kernel sees no valid lane */
    fm_error later = FM_ERROR_INIT; /* a wrong pattern fails for the first row that needs it, as in Spark */
    const fm_time_format *made = NULL;
    fm_status st = fm_time_format_new(b->arena, fm_vec_str(&pattern, 0), &made, &later);
    if (st == FM_OK && parses) st = fm_time_format_for_parsing(made, &later);
    if (st == FM_OK) *format = made;
    else if (st != FM_INVALID && err) *err = later;
    return st == FM_INVALID ? FM_OK : st;
}

static fm_status fail_argument(const fm_bind *b, fm_error *err)
{
    return fm_fail_bind(b, err, "UNEXPECTED_INPUT_TYPE",
                        "The first parameter requires the (\"STRING\" or \"DATE\" or \"TIMESTAMP\" or "
                        "\"TIMESTAMP_NTZ\") type, however it has the type %s.",
                        b->args[0]->type, NULL);
}

/* type: of the result. try: null instead of failing. */
static fm_status bind_to(fm_bind *b, const fm_type *type, bool try, fm_error *err)
{
    parsing *p = fm_arena_one(b->arena, parsing);
    const fm_type *from = b->args[0]->type;
    bool text = from->id == FM_TYPE_STRING;
    if (!p) return fm_no_memory(b->arena, err);
    p->fails = b->conf->ansi && !try;
    p->ntz = type->id == FM_TYPE_TIMESTAMP_NTZ;
    b->bound = p;
    b->returns = type;
    if (!p->fails) b->nullable = true;
    if (b->n_args == 2 && text) {
        p->picked.kernel = type->id == FM_TYPE_DATE ? parse_date : parse_pattern;
        return bind_pattern(b, 1, true, &p->format, err);
    }
    if (from->id != FM_TYPE_NULL && from->id != FM_TYPE_DATE && !fm_type_is_timestamp(from) && !text &&
        (!fm_type_is_numeric(from) || type->id != FM_TYPE_TIMESTAMP)) {
        if (fm_type_is_nested(from)) return fail_argument(b, err);
        b->cast_args[0] = fm_type_string(); /* any other value is read as its text */
        p->picked.kernel = try ? try_cast : cast_text;
    } else if (try && text) {
        p->picked.kernel = try_cast;
    } else {
        b->cast_args[0] = type;
        p->picked.kernel = cast_already;
    }
    return FM_OK;
}

static fm_status bind_to_timestamp(fm_bind *b, fm_error *err)
{
    return bind_to(b, fm_type_timestamp(), false, err);
}
static fm_status bind_to_ntz(fm_bind *b, fm_error *err)
{
    return bind_to(b, fm_type_simple(FM_TYPE_TIMESTAMP_NTZ), false, err);
}
static fm_status bind_to_date(fm_bind *b, fm_error *err)
{
    return bind_to(b, fm_type_simple(FM_TYPE_DATE), false, err);
}
static fm_status bind_try_to_timestamp(fm_bind *b, fm_error *err)
{
    return bind_to(b, fm_type_timestamp(), true, err);
}
static fm_status bind_try_to_date(fm_bind *b, fm_error *err)
{
    return bind_to(b, fm_type_simple(FM_TYPE_DATE), true, err);
}

/* unix_timestamp(x[, pattern]): times are counted, text is read by the pattern. */
static fm_status bind_unix(fm_bind *b, fm_error *err)
{
    parsing *p = fm_arena_one(b->arena, parsing);
    const fm_type *from;
    if (!p) return fm_no_memory(b->arena, err);
    b->bound = p;
    b->returns = fm_type_i64();
    p->fails = b->conf->ansi;
    if (b->n_args == 0) {
        b->nullable = false;
        p->picked.kernel = now_seconds;
        return FM_OK;
    }
    from = b->args[0]->type;
    if (!p->fails) b->nullable = true;
    if (from->id == FM_TYPE_STRING) {
        p->picked.kernel = parse_seconds;
        if (b->n_args == 2) return bind_pattern(b, 1, true, &p->format, err);
        return fm_time_format_new(b->arena, FM_STR("yyyy-MM-dd HH:mm:ss"), &p->format, err);
    }
    if (from->id != FM_TYPE_DATE && !fm_type_is_timestamp(from) && from->id != FM_TYPE_NULL)
        return fail_argument(b, err);
    b->cast_args[0] = fm_type_timestamp();
    p->picked.kernel = seconds_of;
    return FM_OK;
}

/* --- printing ---------------------------------------------------------------------------------------- */

/* args[0] µs or seconds, args[1] pattern, if any. */
static fm_status print(fm_call *call, const fm_vec *args, bool seconds, fm_vec *out)
{
    const parsing *p = call->bound;
    pattern_reader reader = {p->format, p->format != NULL, false};
    fm_strbuf text = {0};
    fm_status st = FM_OK;
    for (int64_t i = 0; st == FM_OK && i < out->len; i++) {
        int64_t us = fm_vec_i64(&args[0])[i];
        bool ok = true;
        if (fm_call_lane_null(out, i)) continue;
        if (seconds) us = (int64_t)((uint64_t)us * (uint64_t)FM_US_PER_SECOND);
        st = call->expr->n_args == 2 ? pattern_of(call, &args[1], i, &reader) : FM_OK;
        if (st != FM_OK) break;
        fm_strbuf_clear(&text);
        fm_time_format_print(reader.format, us, call->conf->zone, &text);
        fm_vec_view_out(out)[i] = fm_view_copy(call->arena, text.ptr, text.len, &ok);
        if (!ok || !fm_strbuf_ok(&text)) st = fm_no_memory(call->arena, call->err);
    }
    fm_strbuf_fini(&text);
    return st;
}

static fm_status date_format(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return print(call, args, false, out);
}

static fm_status from_unixtime(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return print(call, args, true, out);
}

static fm_status bind_print(fm_bind *b, fm_error *err)
{
    parsing *p = fm_arena_one(b->arena, parsing);
    if (!p) return fm_no_memory(b->arena, err);
    b->bound = p;
    b->returns = fm_type_string();
    if (b->n_args == 2) return bind_pattern(b, 1, false, &p->format, err);
    return fm_time_format_new(b->arena, FM_STR("yyyy-MM-dd HH:mm:ss"), &p->format, err);
}

/* --- entries ----------------------------------------------------------------------------------------- */

#define ENTRY(ident, bound_by, ...)                                                           \
    const fm_function fm_fn_##ident = {                                                       \
        .name = #ident, .args = {FM_ARG_ANY, FM_ARG_STRING, FM_ARG_END}, .args_max = 2, .bind = bound_by, \
        .nulls = FM_NULLS_STRICT, .kernel = fm_run_picked, __VA_ARGS__}

ENTRY(to_timestamp, bind_to_timestamp, .aliases = {"to_timestamp_ltz"}, .args_min = 1, .can_fail = true,
      .usage = "to_timestamp(text[, pattern])", .since = "2.2.0", .doc = "Returns the timestamp a text spells.");
ENTRY(to_timestamp_ntz, bind_to_ntz, .args_min = 1, .can_fail = true,
      .usage = "to_timestamp_ntz(text[, pattern])", .since = "3.4.0",
      .doc = "Returns the timestamp without time zone a text spells.");
ENTRY(try_to_timestamp, bind_try_to_timestamp, .args_min = 1, .can_fail = true, .usage = "try_to_timestamp(text[, pattern])",
      .since = "3.5.0", .doc = "Returns the timestamp a text spells, null when it spells none.");
ENTRY(to_date, bind_to_date, .args_min = 1, .can_fail = true, .usage = "to_date(text[, pattern])",
      .since = "1.5.0", .doc = "Returns the date a text spells.");
ENTRY(try_to_date, bind_try_to_date, .args_min = 1, .can_fail = true, .usage = "try_to_date(text[, pattern])", .since = "4.0.0",
      .doc = "Returns the date a text spells, null when it spells none.");
ENTRY(to_unix_timestamp, bind_unix, .args_min = 1, .can_fail = true, .shown = {[1] = "yyyy-MM-dd HH:mm:ss"},
      .usage = "to_unix_timestamp(time[, pattern])", .since = "1.6.0",
      .doc = "Returns the seconds since 1970 UTC of a time.");
ENTRY(unix_timestamp, bind_unix, .args_min = 0, .can_fail = true, .per_batch = true,
      .shown = {"current_timestamp()", "yyyy-MM-dd HH:mm:ss"}, .usage = "unix_timestamp([time[, pattern]])",
      .since = "1.5.0", .doc = "Returns the seconds since 1970 UTC of a time, or of the micro-batch.");

const fm_function fm_fn_date_format = {
    .name = "date_format",
    .args = {FM_ARG_TIMESTAMP, FM_ARG_STRING, FM_ARG_END},
    .args_min = 2,
    .args_max = 2,
    .bind = bind_print,
    .kernel = date_format,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .usage = "date_format(ts, pattern)",
    .doc = "Returns a timestamp as text, by a pattern such as yyyy-MM-dd.",
    .since = "1.5.0",
};

const fm_function fm_fn_from_unixtime = {
    .name = "from_unixtime",
    .args = {FM_ARG_I64, FM_ARG_STRING, FM_ARG_END},
    .args_min = 1,
    .args_max = 2,
    .bind = bind_print,
    .kernel = from_unixtime,
    .nulls = FM_NULLS_STRICT,
    .can_fail = true,
    .shown = {[1] = "yyyy-MM-dd HH:mm:ss"},
    .usage = "from_unixtime(seconds[, pattern])",
    .doc = "Returns seconds since 1970 UTC as text, by a pattern.",
    .since = "1.5.0",
};
