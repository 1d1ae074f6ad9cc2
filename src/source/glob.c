/* source/glob.c: matches and expands path patterns. */
#include "source/glob.h"

#include <stdlib.h>

enum {
    ALTERNATIVES_MAX = 10000, /* patterns that braces may make of one */
    BRACE_DEPTH_MAX = 16
};

bool fm_is_glob(fm_str path)
{
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] && strchr("*?[{\\", path.ptr[i])) return true;
    return false;
}

/* ---- matching ---- */

/* [a-z] at p, which points behind '['. Sets *next behind ']'; false in *ok when there is none. */
static bool match_class(const char *p, const char *end, unsigned char c, const char **next,
                        bool *ok)
{
    bool negated = p < end && (*p == '^' || *p == '!'), hit = false, first = true;

    if (negated) p++;
    for (; p < end && (*p != ']' || first); first = false) {
        if (*p == '\\' && p + 1 < end) p++;
        unsigned char low = (unsigned char)*p++, high = low;
        if (end - p >= 2 && *p == '-' && p[1] != ']') {
            high = (unsigned char)p[1];
            p += 2;
        }
        if (c >= low && c <= high) hit = true;
    }
    *ok = p < end;
    *next = p < end ? p + 1 : end;
    return hit != negated;
}

/* Without braces. '*' is retried at the last place only, so this is quadratic at worst. */
static bool match_plain(fm_str pattern, fm_str name)
{
    const char *p = pattern.ptr, *pe = p + pattern.len, *s = name.ptr, *se = s + name.len;
    const char *star = NULL, *star_at = NULL;

    while (s < se) {
        bool hit = false;
        const char *next = p + 1;
        if (p < pe && *p == '*') {
            star = ++p;
            star_at = s;
            continue;
        }
        if (p < pe && *p == '[') {
            bool ok;
            hit = match_class(p + 1, pe, (unsigned char)*s, &next, &ok) && ok;
        } else if (p < pe && *p == '?') { /* one character, not one byte */
            while (s + 1 < se && ((unsigned char)s[1] & 0xC0) == 0x80) s++;
            hit = true;
        } else if (p < pe) {
            if (*p == '\\' && p + 1 < pe) next = ++p + 1;
            hit = *p == *s;
        }
        if (hit) {
            p = next;
            s++;
        } else if (star) {
            p = star;
            s = ++star_at;
        } else {
            return false;
        }
    }
    while (p < pe && *p == '*') p++;
    return p == pe;
}

/* ---- braces ---- */

/* The first group of braces: [*open, *close], -1 when there is none. False when unbalanced. */
static bool find_braces(fm_str text, ptrdiff_t *open, ptrdiff_t *close)
{
    int depth = 0;

    *open = *close = -1;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == '{') {
            if (depth++ == 0) *open = (ptrdiff_t)i;
        } else if (text.ptr[i] == '}' && depth > 0) {
            if (--depth == 0) {
                *close = (ptrdiff_t)i;
                return true;
            }
        }
    }
    return depth == 0;
}

/* Whether each [ has its ]: one without matches nothing, silently. */
static bool classes_close(fm_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool ok;
        const char *next;
        if (text.ptr[i] == '\\') {
            i++;
        } else if (text.ptr[i] == '[') {
            match_class(text.ptr + i + 1, text.ptr + text.len, 0, &next, &ok);
            if (!ok) return false;
            i = (size_t)(next - text.ptr) - 1;
        }
    }
    return true;
}

typedef struct alternatives {
    fm_arena *arena;
    fm_str *items;
    size_t n, cap;
} alternatives;

static bool push_str(alternatives *a, fm_str text)
{
    if (a->n == a->cap) {
        size_t cap = a->cap ? a->cap * 2 : 16;
        fm_str *items = fm_arena_array(a->arena, fm_str, cap);
        if (!items) return false;
        if (a->n) memcpy(items, a->items, a->n * sizeof *items);
        a->items = items;
        a->cap = cap;
    }
    a->items[a->n++] = text;
    return true;
}

static fm_status expand_braces(alternatives *a, fm_str text, int depth, fm_error *err)
{
    ptrdiff_t open, close;

    if (!find_braces(text, &open, &close) || depth > BRACE_DEPTH_MAX || a->n > ALTERNATIVES_MAX)
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_PATTERN",
                       "Path pattern '%.*s': braces that do not close, nest deeper than %d or "
                       "stand for more than %d "
                       "patterns.",
                       FM_STR_ARG(text), BRACE_DEPTH_MAX, ALTERNATIVES_MAX);
    if (open < 0) return push_str(a, text) ? FM_OK : fm_no_memory(a->arena, err);
    int nested = 0;
    ptrdiff_t from = open + 1;
    for (ptrdiff_t i = open + 1; i <= close; i++) {
        char c = text.ptr[i];
        if (c == '\\')
            i++;
        else if (c == '{')
            nested++;
        else if (c == '}' && i < close)
            nested--;
        if ((c != ',' || nested > 0) && i < close) continue;
        fm_str one = fm_arena_printf(a->arena, "%.*s%.*s%.*s", (int)open, text.ptr, (int)(i - from),
                                     text.ptr + from, (int)((ptrdiff_t)text.len - close - 1),
                                     text.ptr + close + 1);
        if (!one.ptr) return fm_no_memory(a->arena, err);
        FM_TRY(expand_braces(a, one, depth + 1, err));
        from = i + 1;
    }
    return FM_OK;
}

bool fm_glob_match(fm_str pattern, fm_str name)
{
    bool hit = false;

    if (!memchr(pattern.ptr, '{', pattern.len)) return match_plain(pattern, name);
    fm_arena *arena = fm_arena_new(0);
    alternatives a = {.arena = arena};
    if (arena && expand_braces(&a, pattern, 0, NULL) == FM_OK)
        for (size_t i = 0; i < a.n && !hit; i++) hit = match_plain(a.items[i], name);
    fm_arena_free(arena);
    return hit;
}

/* ---- expanding ---- */

static fm_str unescaped(fm_arena *arena, fm_str text)
{
    fm_str copy = fm_arena_str(arena, text);
    size_t n = 0;

    if (!copy.ptr) return copy;
    char *p = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < copy.len; i++) {
        if (p[i] == '\\' && i + 1 < copy.len) i++;
        p[n++] = p[i];
    }
    p[n] = 0;
    return (fm_str){p, n};
}

static fm_str join(fm_arena *arena, fm_str dir, fm_str name)
{
    bool root = dir.len == 1;
    return fm_arena_printf(arena, "%.*s/%.*s", root ? 0 : (int)dir.len, dir.ptr, (int)name.len,
                           name.ptr);
}

/* Adds to `out` what the component stands for below dir. */
static fm_status expand_component(fm_fs *fs, fm_str dir, fm_str component, alternatives *out,
                                  fm_error *err)
{
    fm_file_stat stat;

    if (!fm_is_glob(component) || !strpbrk(component.ptr, "*?[")) {
        fm_str name = unescaped(out->arena, component);
        fm_str path = name.ptr ? join(out->arena, dir, name) : name;
        if (!path.ptr) return fm_no_memory(out->arena, err);
        fm_status st = fm_fs_stat(fs, path.ptr, &stat, err);
        if (st == FM_NOT_FOUND) return FM_OK;
        if (st != FM_OK) return st;
        return push_str(out, path) ? FM_OK : fm_no_memory(out->arena, err);
    }
    fm_dir_entry *entries;
    size_t n;
    if (fm_fs_stat(fs, dir.ptr, &stat, NULL) != FM_OK || !stat.is_dir) return FM_OK;
    FM_TRY(fm_fs_list(fs, dir.ptr, out->arena, &entries, &n, err));
    for (size_t i = 0; i < n; i++) {
        if (!match_plain(component, entries[i].name)) continue;
        fm_str path = join(out->arena, dir, entries[i].name);
        if (!path.ptr || !push_str(out, path)) return fm_no_memory(out->arena, err);
    }
    return FM_OK;
}

static fm_status expand_plain(fm_fs *fs, fm_str pattern, fm_arena *arena, alternatives *out,
                              fm_error *err)
{
    alternatives dirs = {.arena = arena};

    if (!push_str(&dirs, FM_STR("/"))) return fm_no_memory(arena, err);
    for (size_t at = 0; at < pattern.len;) {
        while (at < pattern.len && pattern.ptr[at] == '/') at++;
        size_t from = at;
        while (at < pattern.len && pattern.ptr[at] != '/') at++;
        if (from == at) break;
        fm_str component = fm_arena_str(arena, (fm_str){pattern.ptr + from, at - from});
        if (!component.ptr) return fm_no_memory(arena, err);
        alternatives next = {.arena = arena};
        for (size_t i = 0; i < dirs.n; i++)
            FM_TRY(expand_component(fs, dirs.items[i], component, &next, err));
        dirs = next;
    }
    for (size_t i = 0; i < dirs.n; i++)
        if (!push_str(out, dirs.items[i])) return fm_no_memory(arena, err);
    return FM_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return fm_str_cmp(*(const fm_str *)a, *(const fm_str *)b);
}

fm_status fm_glob_expand(fm_fs *fs, fm_str pattern, fm_arena *arena, fm_str **out, size_t *n,
                         fm_error *err)
{
    alternatives patterns = {.arena = arena}, paths = {.arena = arena};
    size_t kept = 0;

    if (!classes_close(pattern))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_PATTERN",
                       "Path pattern '%.*s': a '[' that does not close. Write \\[ for the character itself.", FM_STR_ARG(pattern));
    FM_TRY(expand_braces(&patterns, pattern, 0, err));
    for (size_t i = 0; i < patterns.n; i++)
        FM_TRY(expand_plain(fs, patterns.items[i], arena, &paths, err));
    if (paths.n) qsort(paths.items, paths.n, sizeof *paths.items, by_bytes);
    for (size_t i = 0; i < paths.n; i++)
        if (i == 0 || !fm_str_eq(paths.items[i], paths.items[kept - 1]))
            paths.items[kept++] = paths.items[i];
    *out = paths.items;
    *n = kept;
    return FM_OK;
}
