/* expr/fn_case.c: upper(s), lower(s), initcap(s).
 *
 * Rule   Spark, Upper, Lower, InitCap with ICU mappings: full case mapping ("ß" becomes "SS"). initcap: words
 *        are what stands between blanks.
 * Cases  tests/golden/functions/upper.test, initcap.test */
#include "expr/text.h"

static void ascii_upper(char *restrict out, const char *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = (char)(in[i] - ((in[i] >= 'a' && in[i] <= 'z') ? 32 : 0));
}

static void ascii_lower(char *restrict out, const char *restrict in, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i] = (char)(in[i] + ((in[i] >= 'A' && in[i] <= 'Z') ? 32 : 0));
}

static fm_status change_case(fm_call *call, const fm_vec *x, fm_vec *out,
                             void (*ascii)(char *restrict, const char *restrict, size_t),
                             fm_status (*any)(fm_str, fm_strbuf *, fm_error *))
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(x, i);
        char small[FM_VIEW_INLINE], *to = small;
        if (text.len == 0) continue;
        if (!ascii || !fm_text_is_ascii(text)) {
            st = any(text, &buf, call->err);
            if (st == FM_OK) st = fm_out_buffer(call, out, i, &buf);
            continue;
        }
        if (text.len > FM_VIEW_INLINE) to = fm_out_room(call, text.len, &st);
        if (!to) break;
        ascii(to, text.ptr, text.len);
        fm_out_slice(out, i, (fm_str){to, text.len});
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status upper(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return change_case(call, &args[0], out, ascii_upper, fm_text_upper);
}

static fm_status lower(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return change_case(call, &args[0], out, ascii_lower, fm_text_lower);
}

static fm_status initcap(fm_call *call, const fm_vec *args, fm_vec *out)
{
    return change_case(call, &args[0], out, NULL, fm_text_title);
}

const fm_function fm_fn_upper = {
    .name = "upper", .aliases = {"ucase"}, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = upper, .nulls = FM_NULLS_STRICT, .usage = "upper(str)",
    .doc = "Returns str in upper case.", .since = "1.0.1",
};

const fm_function fm_fn_lower = {
    .name = "lower", .aliases = {"lcase"}, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = lower, .nulls = FM_NULLS_STRICT, .usage = "lower(str)",
    .doc = "Returns str in lower case.", .since = "1.0.1",
};

const fm_function fm_fn_initcap = {
    .name = "initcap", .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_string, .kernel = initcap, .nulls = FM_NULLS_STRICT, .usage = "initcap(str)",
    .doc = "Returns str with each word in title case.", .since = "1.5.0",
};
