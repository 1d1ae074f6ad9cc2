/* sql/build.c: failures, lists, and bounds on what is built. */
#include "sql/build.h"

#include <stdio.h>

#include "base/limits.h"

void fm_parse_fail(fm_parse *p, fm_pos pos, fm_status st, const char *condition, const char *format, ...)
{
    char what[1024];
    va_list args;

    if (p->status != FM_OK) return;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    p->status = fm_sql_fail(p->text, pos, p->err, st, condition, "%s", what);
}

void fm_parse_no_memory(fm_parse *p)
{
    if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
}

void fm_parse_too_deep(fm_parse *p, const fm_token *at)
{
    fm_parse_fail(p, at ? at->pos : (fm_pos){.line = 1, .column = 1}, FM_LIMIT, "FLOODMARK_SQL_TOO_DEEP",
                  "The statement is nested too deeply: %d levels are taken at most. Split it with WITH or views.", FM_EXPR_DEPTH_MAX);
}

void fm_build_refuse(fm_parse *p, const fm_token *at, const char *what)
{
    fm_parse_fail(p, at->pos, FM_UNSUPPORTED, "FLOODMARK_STATEMENT", "%s", what);
}

fm_pos fm_pos_span(fm_pos a, fm_pos b)
{
    if (b.line && (b.from < a.from || !a.line)) {
        a.line = b.line;
        a.column = b.column;
        a.from = b.from;
    }
    if (b.to > a.to) a.to = b.to;
    return a;
}

void fm_build_measure(fm_parse *p, int32_t *depth, int32_t *nodes, int32_t depth_below, int32_t nodes_below, fm_pos pos)
{
    if (depth_below >= *depth) *depth = depth_below + 1;
    if (*depth > FM_EXPR_DEPTH_MAX) fm_parse_too_deep(p, &(fm_token){.pos = pos});
    if (__builtin_add_overflow(*nodes, nodes_below, nodes)) *nodes = INT32_MAX;
    if (*nodes > FM_EXPR_NODES_MAX) {
        *nodes = FM_EXPR_NODES_MAX;
        fm_parse_fail(p, pos, FM_LIMIT, "FLOODMARK_SQL_TOO_LARGE",
                      "The statement has too many parts: %d are taken at most, and x counts twice in x BETWEEN a AND b. Put data into a file.",
                      FM_EXPR_NODES_MAX);
    }
}

void *fm_build_grow(fm_parse *p, void *items, int32_t n, int32_t *cap, size_t size, size_t align)
{
    if (n < *cap) return items;
    int32_t more = *cap ? *cap * 2 : 4;
    void *grown = fm_arena_array_bytes(p->arena, size, align, (size_t)more);
    if (!grown) {
        fm_parse_no_memory(p);
        return NULL;
    }
    if (n) memcpy(grown, items, (size_t)n * size);
    *cap = more;
    return grown;
}

fm_exprs fm_build_list(fm_parse *p, fm_exprs list, fm_expr *e)
{
    fm_expr **items = FM_BUILD_GROW(p, &list, fm_expr *);

    if (!items || !e) return list;
    list.items = items;
    list.items[list.n++] = e;
    return list;
}

fm_exprs fm_build_concat(fm_parse *p, fm_exprs a, fm_exprs b)
{
    for (int32_t i = 0; i < b.n; i++) a = fm_build_list(p, a, b.items[i]);
    return a;
}

fm_names fm_build_name(fm_parse *p, fm_names list, const fm_token *t)
{
    fm_str *items = FM_BUILD_GROW(p, &list, fm_str);

    if (!items) return list;
    list.pos = list.n ? fm_pos_span(list.pos, t->pos) : t->pos;
    list.items = items;
    list.items[list.n++] = t->text;
    return list;
}

const fm_token *fm_build_keep(fm_parse *p, const fm_token *t)
{
    fm_token *kept = fm_arena_one(p->arena, fm_token);

    if (!kept) {
        fm_parse_no_memory(p);
        return NULL;
    }
    *kept = *t;
    return kept;
}
