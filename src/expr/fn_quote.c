/* expr/fn_quote.c: quote(s), to_base32(x), from_base32(s).
 *
 * Rule   Spark: quote puts a backslash before each single quote. Base 32 by Apache Commons Codec: RFC 4648, small letters are
 *        read too; reading ends at '=', other characters are passed over, bits beyond whole bytes are lost.
 * Cases  tests/golden/functions/text.test */
#include "expr/kernel.h"
#include "expr/text.h"

static fm_status quote(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        fm_strbuf_add_char(&buf, '\'');
        for (size_t k = 0; k < text.len; k++) {
            if (text.ptr[k] == '\'') fm_strbuf_add_char(&buf, '\\');
            fm_strbuf_add_char(&buf, text.ptr[k]);
        }
        fm_strbuf_add_char(&buf, '\'');
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

/* Five bytes are eight digits. */
static void add_base32(fm_strbuf *out, fm_str bytes)
{
    for (size_t at = 0; at < bytes.len; at += 5) {
        static const size_t digits_of[] = {0, 2, 4, 5, 7, 8};
        size_t left = bytes.len - at < 5 ? bytes.len - at : 5;
        uint64_t x = 0;
        for (size_t k = 0; k < 5; k++) x = x << 8 | (k < left ? (unsigned char)bytes.ptr[at + k] : 0u);
        for (size_t k = 0; k < 8; k++)
            fm_strbuf_add_char(out, k < digits_of[left] ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[x >> (35 - 5 * k) & 31] : '=');
    }
}

static void read_base32(fm_strbuf *out, fm_str text)
{
    uint64_t bits = 0;
    int n = 0; /* bits that wait */
    size_t digits = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] != '='; i++) {
        char c = text.ptr[i];
        int value = c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' : c >= '2' && c <= '7' ? c - '2' + 26 : -1;
        if (value < 0) continue;
        digits++;
        bits = (bits << 5 | (uint64_t)value) & 0xFFFF;
        n += 5;
        if (n < 8) continue;
        n -= 8;
        fm_strbuf_add_char(out, (char)(bits >> n));
    }
    if (digits % 8 == 1) fm_strbuf_add_char(out, (char)((bits & 31) >> 2)); /* a digit alone: as Commons Codec has it */
}

static fm_status recode(fm_call *call, const fm_vec *args, fm_vec *out, void (*how)(fm_strbuf *out, fm_str in))
{
    fm_strbuf buf = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        how(&buf, fm_vec_str(&args[0], i));
        st = fm_out_buffer(call, out, i, &buf);
    }
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status to_base32(fm_call *call, const fm_vec *args, fm_vec *out) { return recode(call, args, out, add_base32); }
static fm_status from_base32(fm_call *call, const fm_vec *args, fm_vec *out) { return recode(call, args, out, read_base32); }

static const fm_type *binary(void) { return fm_type_simple(FM_TYPE_BINARY); }

#define ENTRY(ident, class, type, ...)                                                                              \
    const fm_function fm_fn_##ident = {.name = #ident, .args = {class, FM_ARG_END}, .args_min = 1, .args_max = 1,   \
                                       .returns = type, .nulls = FM_NULLS_STRICT, .kernel = ident, __VA_ARGS__}

ENTRY(quote, FM_ARG_STRING, fm_type_string, .usage = "quote(str)", .since = "4.1.0",
      .doc = "Returns str between single quotes, those in it behind a backslash.");
ENTRY(to_base32, FM_ARG_BINARY, fm_type_string, .usage = "to_base32(bin)", .since = "4.3.0", .doc = "Returns bytes as base 32.");
ENTRY(from_base32, FM_ARG_STRING, binary, .usage = "from_base32(str)", .since = "4.3.0",
      .doc = "Returns the bytes that base 32 stands for.");
