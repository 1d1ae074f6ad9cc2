/* expr/fn_regexp.c: RLIKE, regexp_extract, regexp_extract_all, regexp_count, regexp_substr, regexp_instr, regexp_replace, split.
 *
 * Rule   Spark: patterns of java.util.regex; places count characters from 1. A constant pattern is compiled once, when the
 *        call is bound; what is wrong with it fails on the first row that needs it. Groups that took no part are ''.
 *        regexp_replace: $1 is a group, ${name} a named one, \c the character itself; what stands before `pos` is not looked
 *        at, not even by ^ and (?<=...). split: see split_text.
 * Cases  tests/golden/functions/regexp.test, split.test */
#include "column/builder.h"
#include "expr/kernel.h"
#include "expr/regex.h"
#include "expr/resolve_text.h"
#include "expr/text.h"

/* ---- patterns of a call ------------------------------------------------------------------------------------ */

static void free_regex(void *regex) { fm_regex_free(regex); }

/* bound: the fm_regex of a constant pattern (argument 1), or NULL. */
static fm_status bind_pattern(fm_bind *b, fm_error *err)
{
    fm_error ignored = FM_ERROR_INIT;
    fm_regex *regex;
    fm_value value;
    if (!fm_bind_is_constant(b, 1) || fm_eval_constant_of(b, 1, &value, &ignored) != FM_OK ||
        fm_vec_is_null(&value, 0) || fm_regex_compile(fm_vec_str(&value, 0), &regex, &ignored) != FM_OK)
        return FM_OK;
    if (!fm_arena_defer(b->arena, free_regex, regex)) {
        fm_regex_free(regex);
        return fm_no_memory(b->arena, err);
    }
    b->bound = regex;
    return FM_OK;
}

/* The pattern in use while a kernel goes over its lanes. */
typedef struct matcher {
    fm_call *call;
    const char *told_as; /* what errors call the function */
    const fm_regex *regex;
    fm_regex *own;       /* of a pattern that is not constant */
    fm_str own_text;
    fm_regex_run *run;
} matcher;

static void matcher_fini(matcher *m)
{
    fm_regex_run_free(m->run);
    fm_regex_free(m->own);
}

/* Spark shows the pattern as a SQL literal. */
static fm_status fail_pattern(const matcher *m, fm_str pattern)
{
    fm_error why = *m->call->err;
    fm_strbuf text = {0};
    fm_status st;
    if (why.status != FM_INVALID && why.status != FM_UNSUPPORTED) return why.status;
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '\\' || pattern.ptr[i] == '\'') fm_strbuf_add_char(&text, '\\');
        fm_strbuf_add_char(&text, pattern.ptr[i]);
    }
    if (why.status == FM_INVALID)
        st = fm_fail(m->call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.PATTERN",
                     "The value of parameter(s) `regexp` in `%s` is invalid: '%.*s': %s.", m->told_as,
                     FM_STR_ARG(fm_strbuf_str(&text)), why.message);
    else
        st = fm_fail(m->call->err, FM_UNSUPPORTED, why.condition,
                     "The pattern '%.*s' of `%s` holds what floodmark cannot match: %s.", FM_STR_ARG(fm_strbuf_str(&text)),
                     m->told_as, why.message);
    fm_strbuf_fini(&text);
    return st;
}

/* Makes the matcher ready for the pattern of lane i, and that for `text`. */
static fm_status use(matcher *m, const fm_vec *args, int32_t i, fm_str text, fm_str *ready)
{
    fm_str pattern = fm_vec_str(&args[1], i);
    if (m->call->bound) {
        m->regex = m->call->bound;
    } else if (!m->own || !fm_str_eq(pattern, m->own_text)) {
        matcher_fini(m);
        m->run = NULL;
        m->own = NULL;
        if (fm_regex_compile(pattern, &m->own, m->call->err) != FM_OK) return fail_pattern(m, pattern);
        m->own_text = pattern;
        m->regex = m->own;
    }
    if (!m->run) FM_TRY(fm_regex_run_new(m->regex, &m->run, m->call->err));
    return fm_regex_begin(m->run, text, ready, m->call->err);
}

static fm_str group_of(const matcher *m, fm_str text, int32_t group)
{
    size_t start, end;
    if (!fm_regex_group(m->run, group, &start, &end)) return (fm_str){text.ptr, 0};
    return (fm_str){text.ptr + start, end - start};
}

static fm_status check_group(const matcher *m, int32_t group)
{
    int32_t groups = fm_regex_groups(m->regex);
    if (group >= 0 && group <= groups) return FM_OK;
    return fm_fail(m->call->err, FM_INVALID, "INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX",
                   "The value of parameter(s) `idx` in `%s` is invalid: Expects group index between 0 and %d, but got %d.",
                   m->told_as, (int)groups, (int)group);
}

/* Runs `lane` over the lanes that are not null. */
typedef fm_status (*lane_fn)(matcher *m, const fm_vec *args, fm_vec *out, int32_t i);

static fm_status each_lane(fm_call *call, const char *told_as, const fm_vec *args, fm_vec *out, lane_fn lane)
{
    matcher m = {.call = call, .told_as = told_as};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++)
        if (!fm_call_lane_null(out, i)) st = lane(&m, args, out, i);
    matcher_fini(&m);
    return st;
}

/* ---- rlike, regexp_extract, regexp_count, regexp_instr ------------------------------------------------------- */

static fm_status rlike_lane(matcher *m, const fm_vec *args, fm_vec *out, int32_t i)
{
    fm_str text;
    bool found;
    FM_TRY(use(m, args, i, fm_vec_str(&args[0], i), &text));
    FM_TRY(fm_regex_find(m->run, 0, &found, m->call->err));
    fm_vec_bool_out(out)[i] = found;
    return FM_OK;
}

static fm_status rlike(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_lane(call, "rlike", args, out, rlike_lane);
}

static fm_status extract_lane(matcher *m, const fm_vec *args, fm_vec *out, int32_t i)
{
    int32_t group = m->call->expr->n_args > 2 ? fm_vec_i32(&args[2])[i] : 1;
    fm_str text;
    bool found;
    FM_TRY(use(m, args, i, fm_vec_str(&args[0], i), &text));
    FM_TRY(fm_regex_find(m->run, 0, &found, m->call->err));
    if (!found) return FM_OK;
    FM_TRY(check_group(m, group));
    return fm_out_text(m->call, out, i, group_of(m, text, group));
}

static fm_status regexp_extract(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_lane(call, "regexp_extract", args, out, extract_lane);
}

static fm_status bind_substr(fm_bind *b, fm_error *err)
{
    b->nullable = true;
    return bind_pattern(b, err);
}

/* nullif(regexp_extract(str, regexp, 0), ''). */
static fm_status regexp_substr(fm_call *call, const fm_vec *args, fm_vec *out)
{
    matcher m = {.call = call, .told_as = "regexp_extract"};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text, part = {NULL, 0};
        bool found = false;
        if (fm_call_lane_null(out, i)) continue;
        st = use(&m, args, i, fm_vec_str(&args[0], i), &text);
        if (st == FM_OK) st = fm_regex_find(m.run, 0, &found, call->err);
        if (st == FM_OK && found) part = group_of(&m, text, 0);
        if (st == FM_OK) st = part.len ? fm_out_text(call, out, i, part) : fm_out_null(call, out, &own, i);
    }
    matcher_fini(&m);
    return st;
}

static fm_status count_lane(matcher *m, const fm_vec *args, fm_vec *out, int32_t i)
{
    fm_str text;
    bool found;
    FM_TRY(use(m, args, i, fm_vec_str(&args[0], i), &text));
    for (size_t at = 0; at <= text.len; at = fm_regex_next(m->run)) {
        FM_TRY(fm_regex_find(m->run, at, &found, m->call->err));
        if (!found) break;
        fm_vec_i32_out(out)[i]++;
    }
    return FM_OK;
}

static fm_status regexp_count(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_lane(call, "regexp_extract_all", args, out, count_lane);
}

static fm_status instr_lane(matcher *m, const fm_vec *args, fm_vec *out, int32_t i)
{
    fm_str text;
    size_t start, end;
    bool found;
    FM_TRY(use(m, args, i, fm_vec_str(&args[0], i), &text));
    FM_TRY(fm_regex_find(m->run, 0, &found, m->call->err));
    if (found && fm_regex_group(m->run, 0, &start, &end))
        fm_vec_i32_out(out)[i] = (int32_t)fm_text_chars((fm_str){text.ptr, start}) + 1;
    return FM_OK;
}

static fm_status regexp_instr(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_lane(call, "regexp_instr", args, out, instr_lane);
}

/* ---- lists: regexp_extract_all, split ---------------------------------------------------------------------- */

/* Adds the elements of lane i to `element`. */
typedef fm_status (*list_lane_fn)(matcher *m, const fm_vec *args, int32_t i, fm_builder *element);

static fm_status each_list(fm_call *call, const char *told_as, const fm_vec *args, fm_vec *out, list_lane_fn lane)
{
    matcher m = {.call = call, .told_as = told_as};
    fm_builder *list = fm_builder_new(call->arena, out->type, out->len);
    fm_status st = FM_OK;
    if (!list) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        if (fm_call_lane_null(out, i)) {
            fm_builder_null(list);
            continue;
        }
        st = lane(&m, args, i, fm_builder_child(list, 0));
        fm_builder_end(list);
    }
    matcher_fini(&m);
    return st == FM_OK ? fm_builder_finish(list, out, call->err) : st;
}

static fm_status extract_all_lane(matcher *m, const fm_vec *args, int32_t i, fm_builder *element)
{
    int32_t group = m->call->expr->n_args > 2 ? fm_vec_i32(&args[2])[i] : 1;
    fm_str text;
    bool found;
    FM_TRY(use(m, args, i, fm_vec_str(&args[0], i), &text));
    for (size_t at = 0; at <= text.len; at = fm_regex_next(m->run)) {
        FM_TRY(fm_regex_find(m->run, at, &found, m->call->err));
        if (!found) break;
        FM_TRY(check_group(m, group));
        fm_builder_str(element, group_of(m, text, group));
    }
    return FM_OK;
}

static fm_status regexp_extract_all(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_list(call, "regexp_extract_all", args, out, extract_all_lane);
}

/* By an empty pattern: characters, the last of `limit` elements being the rest. */
static void split_chars(fm_str text, int32_t limit, fm_builder *element)
{
    for (size_t at = 0, size; at < text.len; at += size) {
        size = limit == 1 ? text.len - at : fm_char_at(text, at);
        fm_builder_str(element, (fm_str){text.ptr + at, size});
        limit -= limit > 0;
    }
}

/* A limit above 0 is how many elements there may be, the last being the rest; else there is none, and empty elements at the end
 * stay. A match of nothing at the very begin does not split. */
static fm_status split_lane(matcher *m, const fm_vec *args, int32_t i, fm_builder *element)
{
    int32_t limit = m->call->expr->n_args > 2 ? fm_vec_i32(&args[2])[i] : -1, n = 1;
    fm_str text = fm_vec_str(&args[0], i);
    size_t begin = 0, start, end;
    bool found;
    if (text.len && !fm_vec_str(&args[1], i).len) {
        split_chars(text, limit, element);
        return FM_OK;
    }
    FM_TRY(use(m, args, i, text, &text));
    for (size_t at = 0; at <= text.len && (limit <= 0 || n < limit); at = fm_regex_next(m->run)) {
        FM_TRY(fm_regex_find(m->run, at, &found, m->call->err));
        if (!found || !fm_regex_group(m->run, 0, &start, &end)) break;
        if (end == 0) continue;
        fm_builder_str(element, (fm_str){text.ptr + begin, start - begin});
        begin = end;
        n++;
    }
    fm_builder_str(element, (fm_str){text.ptr + begin, text.len - begin});
    return FM_OK;
}

static fm_status split(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_list(call, "split", args, out, split_lane);
}

static fm_status bind_strings(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, fm_type_string(), false);
    if (!b->returns) return fm_no_memory(b->arena, err);
    return bind_pattern(b, err);
}

/* Extracted groups may be null, as Spark declares it, though none is. */
static fm_status bind_extracted(fm_bind *b, fm_error *err)
{
    b->returns = fm_type_list(b->arena, fm_type_string(), true);
    if (!b->returns) return fm_no_memory(b->arena, err);
    return bind_pattern(b, err);
}

/* ---- regexp_replace ---------------------------------------------------------------------------------------- */

/* "${name}" behind '$': the group, or -1. Moves *at behind it. */
static int32_t named_group(const matcher *m, fm_str by, size_t *at)
{
    ptrdiff_t close = fm_text_find(by, FM_STR("}"), *at);
    int32_t group;
    if (close < 0) return -1;
    group = fm_regex_group_named(m->regex, (fm_str){by.ptr + *at + 1, (size_t)close - *at - 1});
    *at = (size_t)close + 1;
    return group ? group : -1;
}

/* "$12" behind '$': as many digits as still name a group; -1: there is none. */
static int32_t numbered_group(const matcher *m, fm_str by, size_t *at)
{
    int32_t group = 0, groups = fm_regex_groups(m->regex);
    size_t start = *at;
    for (; *at < by.len && by.ptr[*at] >= '0' && by.ptr[*at] <= '9'; ++*at) {
        int32_t longer = group * 10 + by.ptr[*at] - '0';
        if (longer > groups && *at > start) break;
        if (longer > groups) return -1;
        group = longer;
    }
    return *at == start ? -1 : group;
}

/* What one match is replaced by; false: `by` is no replacement. */
static bool add_replacement(const matcher *m, fm_str text, fm_str by, fm_strbuf *out)
{
    for (size_t at = 0; at < by.len;) {
        char c = by.ptr[at++];
        int32_t group;
        if (c == '\\') {
            if (at >= by.len) return false;
            fm_strbuf_add_char(out, by.ptr[at++]);
            continue;
        }
        if (c != '$') {
            fm_strbuf_add_char(out, c);
            continue;
        }
        if (at >= by.len) return false;
        group = by.ptr[at] == '{' ? named_group(m, by, &at) : numbered_group(m, by, &at);
        if (group < 0) return false;
        fm_strbuf_add(out, group_of(m, text, group));
    }
    return true;
}

static fm_status fail_replace(const matcher *m, const fm_vec *args, int32_t i, int32_t pos)
{
    return fm_fail(m->call->err, FM_INVALID, "INVALID_REGEXP_REPLACE",
                   "Could not perform regexp_replace for source = \"%.*s\", pattern = \"%.*s\", replacement = \"%.*s\" and "
                   "position = %d.",
                   FM_STR_ARG(fm_vec_str(&args[0], i)), FM_STR_ARG(fm_vec_str(&args[1], i)),
                   FM_STR_ARG(fm_vec_str(&args[2], i)), (int)pos);
}

static fm_status replace_lane(matcher *m, const fm_vec *args, fm_vec *out, int32_t i)
{
    int32_t pos = m->call->expr->n_args > 3 ? fm_vec_i32(&args[3])[i] : 1;
    fm_str whole = fm_vec_str(&args[0], i), text;
    size_t skipped = pos > 1 ? fm_text_offset(whole, pos - 1) : 0, copied = 0, start, end;
    fm_strbuf buf = {0};
    bool found, any = false;
    fm_status st;

    FM_TRY(use(m, args, i, (fm_str){whole.ptr + skipped, whole.len - skipped}, &text));
    if (skipped > 0 && skipped == whole.len) {
        fm_out_slice(out, i, whole);
        return FM_OK;
    }
    fm_strbuf_add(&buf, (fm_str){whole.ptr, skipped});
    st = FM_OK;
    for (size_t at = 0; st == FM_OK && at <= text.len; at = fm_regex_next(m->run)) {
        st = fm_regex_find(m->run, at, &found, m->call->err);
        if (st != FM_OK || !found || !fm_regex_group(m->run, 0, &start, &end)) break;
        any = true;
        fm_strbuf_add(&buf, (fm_str){text.ptr + copied, start - copied});
        if (!add_replacement(m, text, fm_vec_str(&args[2], i), &buf)) st = fail_replace(m, args, i, pos);
        else if (buf.len > FM_TEXT_SIZE_MAX) st = fm_out_buffer(m->call, out, i, &buf); /* fails */
        copied = end;
    }
    if (st == FM_OK && !any) {
        fm_out_slice(out, i, whole);
    } else if (st == FM_OK) {
        fm_strbuf_add(&buf, (fm_str){text.ptr + copied, text.len - copied});
        st = fm_out_buffer(m->call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status regexp_replace(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return each_lane(call, "regexp_replace", args, out, replace_lane);
}

static fm_status bind_replace(fm_bind *b, fm_error *err)
{
    fm_value pos;
    if (b->n_args > 3) {
        FM_TRY(fm_eval_constant_of(b, 3, &pos, err));
        if (!fm_vec_is_null(&pos, 0) && fm_vec_i32(&pos)[0] <= 0)
            return fm_fail_bind(b, err, "VALUE_OUT_OF_RANGE",
                                "The position must be between (0, 2147483647].", NULL, NULL);
    }
    return bind_pattern(b, err);
}

/* ---- entries ----------------------------------------------------------------------------------------------- */

const fm_function fm_fn_rlike = {
    .name = "rlike", .aliases = {"regexp", "regexp_like"}, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END},
    .args_min = 2, .args_max = 2, .returns = fm_type_bool, .bind = bind_pattern, .kernel = rlike,
    .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "rlike(str, regexp)", .since = "1.0.0",
    .doc = "Whether a regular expression matches some part of str.",
};

const fm_function fm_fn_regexp_extract = {
    .name = "regexp_extract", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2,
    .args_max = 3, .returns = fm_type_string, .bind = bind_pattern, .kernel = regexp_extract,
    .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "regexp_extract(str, regexp[, idx])",
    .shown = {NULL, NULL, "1"}, .since = "1.5.0",
    .doc = "Returns what group idx of the first match of regexp took; '' where nothing matches.",
};

const fm_function fm_fn_regexp_extract_all = {
    .name = "regexp_extract_all", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2,
    .args_max = 3, .bind = bind_extracted, .kernel = regexp_extract_all, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "regexp_extract_all(str, regexp[, idx])", .shown = {NULL, NULL, "1"}, .since = "3.1.0",
    .doc = "Returns what group idx took in each match of regexp.",
};

const fm_function fm_fn_regexp_count = {
    .name = "regexp_count", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .returns = fm_type_i32, .bind = bind_pattern, .kernel = regexp_count, .nulls = FM_NULLS_STRICT,
    .can_fail = true, .usage = "regexp_count(str, regexp)", .since = "3.4.0",
    .doc = "Returns how often regexp matches in str.",
};

const fm_function fm_fn_regexp_substr = {
    .name = "regexp_substr", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2,
    .returns = fm_type_string, .bind = bind_substr, .kernel = regexp_substr, .nulls = FM_NULLS_STRICT,
    .can_fail = true, .usage = "regexp_substr(str, regexp)", .since = "3.4.0",
    .doc = "Returns the first match of regexp in str; null where nothing matches.",
};

const fm_function fm_fn_regexp_instr = {
    .name = "regexp_instr", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2,
    .args_max = 3, .returns = fm_type_i32, .bind = bind_pattern, .kernel = regexp_instr, .nulls = FM_NULLS_STRICT,
    .can_fail = true, .usage = "regexp_instr(str, regexp[, idx])", .shown = {NULL, NULL, "0"}, .since = "3.4.0",
    .doc = "Returns where regexp first matches in str, counted from 1; 0 if nowhere.",
};

const fm_function fm_fn_regexp_replace = {
    .name = "regexp_replace", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END},
    .args_min = 3, .args_max = 4, .returns = fm_type_string, .bind = bind_replace, .kernel = regexp_replace,
    .nulls = FM_NULLS_STRICT, .can_fail = true, .usage = "regexp_replace(str, regexp, rep[, position])",
    .shown = {NULL, NULL, NULL, "1"}, .since = "1.5.0",
    .doc = "Replaces what regexp matches by rep, in which $1 stands for the first group.",
};

const fm_function fm_fn_split = {
    .name = "split", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_strings, .kernel = split, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "split(str, regex[, limit])", .shown = {NULL, NULL, "-1"}, .since = "1.5.0",
    .doc = "Splits str where regex matches, into limit parts at most.",
};
