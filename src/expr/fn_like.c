/* expr/fn_like.c: LIKE, ILIKE.
 *
 * Rule   Spark, Like: NULL in, NULL out; the escape is one constant character, '\' if none is given. ILIKE compares both
 *        sides in lower case.
 * Cases  tests/golden/functions/like.test */
#include "expr/kernel.h"
#include "expr/like_pattern.h"
#include "expr/text.h"

/* What bind leaves. */
typedef struct bound_like {
    uint32_t escape;
    const fm_like *like; /* of a constant pattern; NULL: it is none, or a bad one, which must fail no sooner than on a row */
} bound_like;

static fm_status fail_escape(const fm_bind *b, fm_str text, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "INVALID_ESCAPE_CHAR", b->pos.line, b->pos.column,
                      "`EscapeChar` should be a string literal of length one, but got \"%.*s\".", FM_STR_ARG(text));
}

static fm_status bind_escape(const fm_bind *b, bound_like *bound, fm_error *err)
{
    fm_value value;
    fm_str text;
    size_t size;
    bound->escape = '\\';
    if (b->n_args < 3) return FM_OK;
    if (!fm_bind_is_constant(b, 2)) return fail_escape(b, FM_STR("an expression"), err);
    FM_TRY(fm_eval_constant_of(b, 2, &value, err));
    if (fm_vec_is_null(&value, 0)) return fail_escape(b, FM_STR("NULL"), err);
    text = fm_vec_str(&value, 0);
    if (fm_text_chars(text) != 1) return fail_escape(b, text, err);
    bound->escape = fm_char_decode(text, 0, &size);
    return FM_OK;
}

static fm_status bind(fm_bind *b, bool lower, fm_error *err)
{
    bound_like *bound = fm_arena_one(b->arena, bound_like);
    fm_error ignored = FM_ERROR_INIT;
    fm_strbuf buf = {0};
    fm_value value;
    fm_str pattern;
    b->returns = fm_type_bool();
    b->bound = bound;
    if (!bound) return fm_no_memory(b->arena, err);
    FM_TRY(bind_escape(b, bound, err));
    if (!fm_bind_is_constant(b, 1) || fm_eval_constant_of(b, 1, &value, &ignored) != FM_OK ||
        fm_vec_is_null(&value, 0))
        return FM_OK;
    pattern = fm_vec_str(&value, 0);
    if (!lower || fm_text_lower(pattern, &buf, &ignored) == FM_OK)
        fm_like_compile(b->arena, lower ? fm_strbuf_str(&buf) : pattern, bound->escape, &bound->like, &ignored);
    fm_strbuf_fini(&buf);
    return FM_OK;
}

static fm_status bind_like(fm_bind *b, fm_error *err) { return bind(b, false, err); }
static fm_status bind_ilike(fm_bind *b, fm_error *err) { return bind(b, true, err); }

static fm_status like(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const bound_like *bound = call->bound;
    uint8_t *to = fm_vec_bool_out(out);
    const fm_like *like = bound->like;
    fm_str last = {NULL, 0};
    for (int32_t i = 0; i < out->len; i++) {
        if (fm_call_lane_null(out, i)) continue;
        if (!bound->like) {
            fm_str pattern = fm_vec_str(&args[1], i);
            if (!last.ptr || !fm_str_eq(pattern, last)) {
                FM_TRY(fm_like_compile(call->arena, pattern, bound->escape, &like, call->err));
                last = pattern;
            }
        }
        to[i] = fm_like_matches(like, fm_vec_str(&args[0], i));
    }
    return FM_OK;
}

/* text in lower case, in buf. */
static fm_status lower_case(fm_str text, fm_strbuf *buf, fm_str *out, fm_error *err)
{
    fm_strbuf_clear(buf);
    if (fm_text_is_ascii(text)) {
        if (!fm_strbuf_reserve(buf, text.len)) return fm_no_memory(NULL, err);
        for (size_t i = 0; i < text.len; i++)
            buf->ptr[i] = (char)(text.ptr[i] + ((text.ptr[i] >= 'A' && text.ptr[i] <= 'Z') ? 32 : 0));
        buf->len = text.len;
    } else {
        FM_TRY(fm_text_lower(text, buf, err));
    }
    *out = fm_strbuf_str(buf);
    return FM_OK;
}

static fm_status ilike(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const bound_like *bound = call->bound;
    fm_strbuf text_buf = {0}, pattern_buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        const fm_like *like = bound->like;
        fm_str text, pattern;
        if (fm_call_lane_null(out, i)) continue;
        if (!like) {
            st = lower_case(fm_vec_str(&args[1], i), &pattern_buf, &pattern, call->err);
            if (st == FM_OK) st = fm_like_compile(call->arena, pattern, bound->escape, &like, call->err);
        }
        if (st == FM_OK) st = lower_case(fm_vec_str(&args[0], i), &text_buf, &text, call->err);
        if (st == FM_OK) fm_vec_bool_out(out)[i] = fm_like_matches(like, text);
    }
    fm_strbuf_fini(&text_buf);
    fm_strbuf_fini(&pattern_buf);
    return st;
}

const fm_function fm_fn_like = {
    .name = "like", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_like, .kernel = like, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "str like pattern[ ESCAPE escape]", .since = "1.0.0",
    .doc = "Whether str matches a pattern in which % stands for any characters and _ for one.",
};

const fm_function fm_fn_ilike = {
    .name = "ilike", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .bind = bind_ilike, .kernel = ilike, .nulls = FM_NULLS_STRICT, .can_fail = true,
    .usage = "str ilike pattern[ ESCAPE escape]", .since = "3.3.0",
    .doc = "Whether str matches a pattern of LIKE, upper and lower case being equal.",
};
