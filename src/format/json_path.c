/* format/json_path.c: get_json_object and json_tuple.
 *
 * A path is $ followed by .name, ['name'], [n], [*], .* ; Hive's rules, as Spark keeps them: one
 * match of [*] stands alone, several make an array; [*][*] flattens; a string found without [*] on
 * the way loses its quotes. What is found is written anew (1.50 becomes 1.5), and text behind the
 * value of the root is not looked at. */
#include "format/json_reprint.h"
#include "format/utf8.h"

#include "base/limits.h"
#include "format/json.h"

typedef enum step_kind { STEP_KEY, STEP_SUBSCRIPT, STEP_NAME, STEP_INDEX, STEP_ANY } step_kind;

typedef struct step {
    step_kind kind;
    fm_str name;
    int64_t index;
} step;

struct fm_json_path {
    bool valid; /* else it finds nothing */
    int32_t n;
    step *steps; /* [n] */
};

enum { PATH_FLAGS = FM_JSON_CONTROL_CHARS | FM_JSON_SINGLE_QUOTES };

/* ---- paths ---- */

typedef struct path_parser {
    const char *at, *end;
    step *steps;
    int32_t n;
} path_parser;

static void skip_blanks(path_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || (*p->at >= '\t' && *p->at <= '\r'))) p->at++;
}

static bool take(path_parser *p, const char *text)
{
    size_t len = strlen(text);

    if ((size_t)(p->end - p->at) < len || memcmp(p->at, text, len) != 0) return false;
    p->at += len;
    return true;
}

static void push(path_parser *p, step_kind kind, fm_str name, int64_t index)
{
    p->steps[p->n++] = (step){kind, name, index};
}

/* What stands up to one of the bytes of `stop`; false when that is nothing. */
static bool take_until(path_parser *p, const char *stop, fm_str *out)
{
    skip_blanks(p);
    const char *from = p->at;
    while (p->at < p->end && (!*p->at || !strchr(stop, *p->at))) p->at++;
    *out = (fm_str){from, (size_t)(p->at - from)};
    return out->len > 0;
}

static bool take_subscript(path_parser *p)
{
    int64_t index = 0;
    fm_str none = {"", 0}, digits;

    if (!take(p, "[")) return false;
    push(p, STEP_SUBSCRIPT, none, 0);
    if (take(p, "*")) {
        push(p, STEP_ANY, none, 0);
        return take(p, "]");
    }
    skip_blanks(p);
    digits.ptr = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') p->at++;
    digits.len = (size_t)(p->at - digits.ptr);
    if (!fm_str_to_i64(digits, &index)) return false;
    push(p, STEP_INDEX, none, index);
    return take(p, "]");
}

static bool take_step(path_parser *p)
{
    fm_str name, none = {"", 0};
    const char *from = p->at;

    if (take(p, ".*") || take(p, "['*']")) {
        push(p, STEP_ANY, none, 0);
        return true;
    }
    if (take(p, ".")) {
        if (!take_until(p, ".[", &name)) return false;
        push(p, STEP_KEY, none, 0);
        push(p, STEP_NAME, name, 0);
        return true;
    }
    if (take(p, "['")) {
        if (take_until(p, "'?", &name) && take(p, "']")) {
            push(p, STEP_KEY, none, 0);
            push(p, STEP_NAME, name, 0);
            return true;
        }
        p->at = from;
    }
    return take_subscript(p);
}

fm_status fm_json_path_new(fm_arena *arena, fm_str path, const fm_json_path **out, fm_error *err)
{
    fm_json_path *p = fm_arena_one(arena, fm_json_path);
    fm_str copy = fm_arena_str(arena, path);

    if (!p || !copy.ptr) return fm_no_memory(arena, err);
    path_parser parser = {copy.ptr, copy.ptr + copy.len,
                          fm_arena_array(arena, step, copy.len * 2 + 2), 0};
    if (!parser.steps) return fm_no_memory(arena, err);
    p->valid = take(&parser, "$");
    while (p->valid && parser.at < parser.end) {
        p->valid = take_step(&parser);
        const char *behind = parser.at;
        skip_blanks(&parser); /* they may stand before a name and at the end only */
        if (parser.at < parser.end) parser.at = behind;
    }
    p->n = parser.n;
    p->steps = parser.steps;
    *out = p;
    return FM_OK;
}

/* ---- looking ---- */

typedef enum style { RAW, QUOTED, FLAT } style;

typedef struct finder {
    fm_json_scan scan;
    bool failed; /* the text is no JSON: nothing is found at all */
} finder;

/* Where values go: with commas between them in an array. */
typedef struct sink {
    fm_strbuf *out;
    bool in_array, comma;
} sink;

static void separate(sink *g)
{
    if (g->comma) fm_strbuf_add_char(g->out, ',');
    g->comma = g->in_array;
}

static fm_json_token advance(finder *f)
{
    fm_json_token t = fm_json_next(&f->scan);

    if (t == FM_JT_ERROR || t == FM_JT_NONE) f->failed = true;
    return t;
}

/* To the next element; false behind the last, or on a failure. */
static bool next_element(finder *f)
{
    fm_json_token t = advance(f);
    return !f->failed && t != FM_JT_ARRAY_END;
}

static bool skip(finder *f)
{
    if (!fm_json_skip_children(&f->scan)) f->failed = true;
    return false;
}

static bool find(finder *f, sink *g, style s, const step *path, int32_t n);

/* All elements into an array of their own; returns how many gave something. */
static int64_t find_in_elements(finder *f, fm_strbuf *out, style s, const step *path, int32_t n)
{
    sink inner = {out, true, false};
    int64_t found = 0;

    while (next_element(f)) found += find(f, &inner, s, path, n);
    return found;
}

/* [*] with the rest of the path: an array is made only of several matches. */
static bool find_any(finder *f, sink *g, style s, const step *path, int32_t n)
{
    fm_strbuf matches = {0};
    int64_t found = find_in_elements(f, &matches, s == RAW ? QUOTED : s, path, n);

    if (found > 0) {
        separate(g);
        if (found > 1) fm_strbuf_add_char(g->out, '[');
        fm_strbuf_add(g->out, fm_strbuf_str(&matches));
        if (found > 1) fm_strbuf_add_char(g->out, ']');
    }
    if (!fm_strbuf_ok(&matches)) g->out->failed = true;
    fm_strbuf_fini(&matches);
    return found > 0;
}

/* As find_any, but the array is made in any case. */
static bool find_array(finder *f, sink *g, style s, const step *path, int32_t n)
{
    separate(g);
    fm_strbuf_add_char(g->out, '[');
    int64_t found = find_in_elements(f, g->out, s, path, n);
    fm_strbuf_add_char(g->out, ']');
    return found > 0;
}

static bool find_index(finder *f, sink *g, style s, int64_t index, const step *path, int32_t n)
{
    bool found = false;

    if (n >= 2 && path[0].kind == STEP_SUBSCRIPT && path[1].kind == STEP_ANY) s = QUOTED;
    for (int64_t i = 0; next_element(f); i++) {
        if (i == index)
            found = find(f, g, s, path, n);
        else
            skip(f);
    }
    return found;
}

static bool find_in_array(finder *f, sink *g, style s, const step *path, int32_t n)
{
    if (path[1].kind == STEP_INDEX) return find_index(f, g, s, path[1].index, path + 2, n - 2);
    if (n >= 4 && path[2].kind == STEP_SUBSCRIPT && path[3].kind == STEP_ANY)
        return find_array(f, g, FLAT, path + 4, n - 4);
    if (s != QUOTED) return find_any(f, g, s, path + 2, n - 2);
    return find_array(f, g, QUOTED, path + 2, n - 2);
}

static bool find_in_object(finder *f, sink *g, style s, const step *path, int32_t n)
{
    bool found = false;

    for (;;) {
        fm_json_token t = advance(f);
        if (f->failed || t == FM_JT_OBJECT_END) return found;
        if (found)
            skip(f); /* the first field of the name counts */
        else
            found = find(f, g, s, path, n);
    }
}

/* At the end of the path. */
static bool write_value(finder *f, sink *g, style s)
{
    if (f->scan.token == FM_JT_STRING && s == RAW) {
        if (!fm_json_text(&f->scan))
            f->failed = true;
        else
            fm_strbuf_add(g->out, f->scan.text);
        return true;
    }
    if (f->scan.token == FM_JT_ARRAY && s == FLAT) {
        bool found = false;
        while (next_element(f)) found |= write_value(f, g, s);
        return found;
    }
    separate(g);
    if (!fm_json_reprint(&f->scan, g->out)) f->failed = true;
    return true;
}

static bool find_field(finder *f, sink *g, style s, const step *path, int32_t n)
{
    if (path[0].kind == STEP_NAME) {
        if (!fm_str_eq(fm_json_name(&f->scan), path[0].name)) return false;
        if (advance(f) == FM_JT_NULL) return false;
    } else {
        advance(f);
    }
    return !f->failed && find(f, g, s, path + 1, n - 1);
}

static bool find(finder *f, sink *g, style s, const step *path, int32_t n)
{
    fm_json_token t = f->scan.token;

    if (n == 0) return write_value(f, g, s);
    if (t == FM_JT_OBJECT && path[0].kind == STEP_KEY)
        return find_in_object(f, g, s, path + 1, n - 1);
    if (t == FM_JT_ARRAY && path[0].kind == STEP_SUBSCRIPT) return find_in_array(f, g, s, path, n);
    if (t == FM_JT_FIELD && (path[0].kind == STEP_NAME || path[0].kind == STEP_ANY))
        return find_field(f, g, s, path, n);
    return skip(f);
}

bool fm_json_path_get(const fm_json_path *path, fm_str text, fm_strbuf *out)
{
    fm_arena *arena;
    finder f = {.failed = false};
    sink g = {out, false, false};
    size_t len = out->len;
    bool found = false;

    if (!path->valid) return false;
    arena = fm_arena_new(0);
    if (!arena || fm_json_scan_init(&f.scan, PATH_FLAGS, NULL) != FM_OK) {
        out->failed = true;
    } else {
        fm_str clean = fm_utf8_repair(text, arena);
        fm_json_scan_start(&f.scan, clean.ptr ? clean : (fm_str){"", 0}, arena);
        if (!clean.ptr) out->failed = true;
        if (advance(&f) != FM_JT_NONE && !f.failed) found = find(&f, &g, RAW, path->steps, path->n);
        fm_json_scan_fini(&f.scan);
    }
    fm_arena_free(arena);
    if (found && !f.failed) return true;
    if (out->ptr) out->ptr[len] = 0;
    out->len = len;
    return false;
}
