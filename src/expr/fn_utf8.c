/* expr/fn_utf8.c: is_valid_utf8, make_valid_utf8, validate_utf8, try_validate_utf8.
 *
 * Cases  tests/golden/functions/binary.test */
#include <stdio.h>

#include "expr/kernel.h"
#include "expr/text.h"

static fm_status is_valid_utf8(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) fm_vec_bool_out(out)[i] = fm_text_is_valid(fm_vec_str(&args[0], i));
    return FM_OK;
}

static fm_status make_valid_utf8(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_text_is_valid(text)) {
            fm_out_slice(out, i, text);
            continue;
        }
        fm_text_repair(text, &buf);
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status fail_utf8(fm_call *call, fm_str text)
{
    enum { SHOWN_MAX = 32 }; /* bytes */
    char shown[4 * SHOWN_MAX + 4];
    size_t n = 0;
    for (size_t i = 0; i < text.len && i < SHOWN_MAX; i++)
        n += (size_t)snprintf(shown + n, sizeof shown - n, "\\x%02X", (unsigned char)text.ptr[i]);
    return fm_fail(call->err, FM_INVALID, "INVALID_UTF8_STRING", "Invalid UTF8 byte sequence found in string: %.*s%s.",
                   (int)n, shown, text.len > SHOWN_MAX ? "..." : "");
}

static fm_status validate(fm_call *call, const fm_vec *args, fm_vec *out, bool try)
{
    uint64_t *own = NULL;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_call_lane_null(out, i)) continue;
        if (fm_text_is_valid(text))
            fm_out_slice(out, i, text);
        else if (try)
            FM_TRY(fm_out_null(call, out, &own, i));
        else
            return fail_utf8(call, text);
    }
    return FM_OK;
}

static fm_status validate_utf8(fm_call *call, const fm_vec *args, fm_vec *out) { return validate(call, args, out, false); }
static fm_status try_validate_utf8(fm_call *call, const fm_vec *args, fm_vec *out) { return validate(call, args, out, true); }

static fm_status bind_nullable(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

#define ENTRY(ident, ...)                                                                                      \
    const fm_function fm_fn_##ident = {.name = #ident, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1,     \
                                       .args_max = 1, .nulls = FM_NULLS_STRICT, .kernel = ident,               \
                                       .usage = #ident "(str)", .since = "4.0.0", __VA_ARGS__}

ENTRY(is_valid_utf8, .returns = fm_type_bool, .doc = "Whether str is well-formed UTF-8.");
ENTRY(make_valid_utf8, .returns = fm_type_string, .doc = "Returns str with what is malformed replaced by U+FFFD.");
ENTRY(validate_utf8, .returns = fm_type_string, .can_fail = true, .doc = "Returns str if it is well-formed UTF-8, fails else.");
ENTRY(try_validate_utf8, .bind = bind_nullable, .doc = "Returns str if it is well-formed UTF-8, null else.");
