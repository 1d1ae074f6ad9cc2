/* expr/fn_url.c: url_encode, url_decode, try_url_decode, parse_url, try_parse_url.
 *
 * Rule   Spark: java.net.URLEncoder and URLDecoder with UTF-8; parse_url by java.net.URI, the key of a query parameter being a
 *        piece of a regular expression: (&|^)key=([^&]*).
 * Cases  tests/golden/functions/url.test */
#include "expr/java_uri.h"
#include "expr/kernel.h"
#include "expr/regex.h"
#include "expr/text.h"

/* ---- url_encode, url_decode -------------------------------------------------------------------------------- */

static fm_status url_encode(fm_call *call, const fm_vec *args, fm_vec *out)
{
    static const char digits[] = "0123456789ABCDEF";
    fm_strbuf buf = {0}, whole = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        fm_strbuf_clear(&whole);
        fm_text_repair(text, &whole);
        for (size_t k = 0; k < whole.len; k++) {
            char c = whole.ptr[k];
            if (((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-_.*", c))) {
                fm_strbuf_add_char(&buf, c);
            } else if (c == ' ') {
                fm_strbuf_add_char(&buf, '+');
            } else {
                fm_strbuf_add_char(&buf, '%');
                fm_strbuf_add_char(&buf, digits[(unsigned char)c >> 4]);
                fm_strbuf_add_char(&buf, digits[(unsigned char)c & 15]);
            }
        }
        st = fm_strbuf_ok(&whole) ? fm_out_buffer(call, out, i, &buf) : fm_no_memory(NULL, call->err);
    }
    fm_strbuf_fini(&buf);
    fm_strbuf_fini(&whole);
    return st;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 32) >= 'a' && (c | 32) <= 'f') return (c | 32) - 'a' + 10;
    return -1;
}

static bool decode_url(fm_str text, fm_strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int high, low;
            if (text.len - i < 3) return false;
            high = hex_value(text.ptr[i + 1]);
            low = hex_value(text.ptr[i + 2]);
            if (high < 0 || low < 0) return false;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        fm_strbuf_add_char(out, c);
    }
    return true;
}

static fm_status decode_lanes(fm_call *call, const fm_vec *args, fm_vec *out, bool try)
{
    fm_strbuf bytes = {0}, buf = {0};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        if (fm_call_lane_null(out, i)) continue;
        fm_strbuf_clear(&bytes);
        if (decode_url(text, &bytes)) {
            fm_text_repair(fm_strbuf_str(&bytes), &buf);
            st = fm_strbuf_ok(&bytes) ? fm_out_buffer(call, out, i, &buf) : fm_no_memory(NULL, call->err);
        } else if (try) {
            st = fm_out_null(call, out, &own, i);
        } else {
            st = fm_fail(call->err, FM_INVALID, "CANNOT_DECODE_URL",
                         "The provided URL cannot be decoded: %.*s. Please ensure that the URL is properly formatted and try "
                         "again.", FM_STR_ARG(text));
        }
    }
    fm_strbuf_fini(&bytes);
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status url_decode(fm_call *call, const fm_vec *args, fm_vec *out) { return decode_lanes(call, args, out, false); }
static fm_status try_url_decode(fm_call *call, const fm_vec *args, fm_vec *out) { return decode_lanes(call, args, out, true); }

static fm_status bind_nullable(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = true;
    return FM_OK;
}

/* ---- parse_url --------------------------------------------------------------------------------------------- */

/* A part by its name; FILE is path and query, which `buf` joins. */
static fm_str part_of(const fm_java_uri *uri, fm_str name, fm_strbuf *buf)
{
    if (fm_str_eq(name, FM_STR("HOST"))) return uri->host;
    if (fm_str_eq(name, FM_STR("PATH"))) return uri->path;
    if (fm_str_eq(name, FM_STR("QUERY"))) return uri->query;
    if (fm_str_eq(name, FM_STR("REF"))) return uri->fragment;
    if (fm_str_eq(name, FM_STR("PROTOCOL"))) return uri->scheme;
    if (fm_str_eq(name, FM_STR("AUTHORITY"))) return uri->authority;
    if (fm_str_eq(name, FM_STR("USERINFO"))) return uri->user_info;
    if (!fm_str_eq(name, FM_STR("FILE")) || !uri->path.ptr) return (fm_str){NULL, 0};
    if (!uri->query.ptr) return uri->path;
    fm_strbuf_add(buf, uri->path);
    fm_strbuf_add_char(buf, '?');
    fm_strbuf_add(buf, uri->query);
    return fm_strbuf_str(buf);
}

/* The pattern of the key that was looked for last. */
typedef struct key_pattern {
    fm_str key; /* ptr NULL: none yet */
    fm_regex *regex;
    fm_regex_run *run;
} key_pattern;

static void key_pattern_fini(key_pattern *p)
{
    fm_regex_run_free(p->run);
    fm_regex_free(p->regex);
    *p = (key_pattern){0};
}

static fm_status use_key(key_pattern *p, fm_str key, fm_call *call)
{
    fm_strbuf text = {0};
    fm_error why = FM_ERROR_INIT;
    fm_status st;
    if (p->run && fm_str_eq(key, p->key)) return FM_OK;
    key_pattern_fini(p);
    fm_strbuf_add_c(&text, "(&|^)");
    fm_strbuf_add(&text, key);
    fm_strbuf_add_c(&text, "=([^&]*)");
    st = fm_regex_compile(fm_strbuf_str(&text), &p->regex, &why);
    if (st == FM_OK) st = fm_regex_run_new(p->regex, &p->run, &why);
    if (st != FM_OK)
        fm_fail(call->err, st, why.condition, "The key '%.*s' of %s is not a piece of a regular expression: %s.",
                FM_STR_ARG(key), call->function->name, why.message);
    fm_strbuf_fini(&text);
    p->key = key;
    return st;
}

/* The value of a parameter; ptr NULL: there is none. */
static fm_status parameter(key_pattern *p, fm_str query, fm_str key, fm_str *out, fm_call *call)
{
    size_t start, end;
    bool found;
    *out = (fm_str){NULL, 0};
    if (!query.ptr) return FM_OK;
    FM_TRY(use_key(p, key, call));
    FM_TRY(fm_regex_begin(p->run, query, &query, call->err));
    FM_TRY(fm_regex_find(p->run, 0, &found, call->err));
    if (found && fm_regex_group(p->run, 2, &start, &end)) *out = (fm_str){query.ptr + start, end - start};
    return FM_OK;
}

static fm_status parse_lane(fm_call *call, const fm_vec *args, int32_t i, key_pattern *keys, fm_strbuf *buf, bool quiet,
                            fm_str *found)
{
    fm_str text = fm_vec_str(&args[0], i), name = fm_vec_str(&args[1], i);
    fm_java_uri uri;
    *found = (fm_str){NULL, 0};
    if (!fm_java_uri_parse(text, &uri)) {
        if (quiet) return FM_OK;
        return fm_fail(call->err, FM_INVALID, "INVALID_URL",
                       "The url is invalid: %.*s. Use `try_parse_url` to tolerate invalid URL and return NULL instead.",
                       FM_STR_ARG(text));
    }
    if (call->expr->n_args > 2) {
        if (!fm_str_eq(name, FM_STR("QUERY"))) return FM_OK;
        return parameter(keys, uri.query, fm_vec_str(&args[2], i), found, call);
    }
    *found = part_of(&uri, name, buf);
    return FM_OK;
}

static fm_status parse_lanes(fm_call *call, const fm_vec *args, fm_vec *out, bool quiet)
{
    key_pattern keys = {0};
    fm_strbuf buf = {0};
    uint64_t *own = NULL;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str found;
        if (fm_call_lane_null(out, i)) continue;
        fm_strbuf_clear(&buf);
        st = parse_lane(call, args, i, &keys, &buf, quiet, &found);
        if (st == FM_OK) st = found.ptr ? fm_out_text(call, out, i, found) : fm_out_null(call, out, &own, i);
    }
    key_pattern_fini(&keys);
    fm_strbuf_fini(&buf);
    return st;
}

static fm_status parse_url(fm_call *call, const fm_vec *args, fm_vec *out) { return parse_lanes(call, args, out, !call->ansi); }
static fm_status try_parse_url(fm_call *call, const fm_vec *args, fm_vec *out) { return parse_lanes(call, args, out, true); }

/* ---- entries ----------------------------------------------------------------------------------------------- */

#define ENTRY(ident, ...) \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_STRICT, .kernel = ident, __VA_ARGS__}

ENTRY(url_encode, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
      .usage = "url_encode(str)", .since = "3.4.0", .doc = "Writes str as application/x-www-form-urlencoded.");
ENTRY(url_decode, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
      .can_fail = true, .usage = "url_decode(str)", .since = "3.4.0", .doc = "Reads str as application/x-www-form-urlencoded.");
ENTRY(try_url_decode, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_nullable,
      .usage = "try_url_decode(str)", .since = "4.0.0", .doc = "As url_decode, null where that would fail.");
ENTRY(parse_url, .exact = true, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
      .bind = bind_nullable, .can_fail = true, .usage = "parse_url(url, part[, key])", .since = "2.0.0",
      .doc = "Returns a part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY, USERINFO, or a parameter of QUERY.");
ENTRY(try_parse_url, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 3,
      .bind = bind_nullable, .can_fail = true, .usage = "try_parse_url(url, part[, key])", .since = "4.0.0",
      .doc = "As parse_url, null where the URL is none.");
