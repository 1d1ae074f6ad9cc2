/* expr/resolve_text.c: the messages of expressions whose types do not fit. */
#include "expr/resolve_text.h"

#include <stdio.h>

#include "expr/function.h"

/* Appends `why`, its "%s" replaced by types. */
static void add_why(fm_strbuf *text, const char *why, const fm_type *a, const fm_type *b)
{
    const fm_type *next = a;
    for (const char *p = why; *p; p++) {
        if (p[0] != '%' || p[1] != 's') {
            fm_strbuf_add_char(text, *p);
            continue;
        }
        p++;
        fm_strbuf_add_char(text, '"');
        if (next) fm_type_sql(next, text);
        fm_strbuf_add_char(text, '"');
        next = b;
    }
}

fm_status fm_fail_mismatch(fm_error *err, const fm_expr *e, const char *kind, const char *why,
                           const fm_type *a, const fm_type *b)
{
    fm_strbuf text = {0};
    char condition[FM_ERROR_CONDITION_SIZE];
    fm_status st;
    snprintf(condition, sizeof condition, "DATATYPE_MISMATCH.%s", kind);
    fm_strbuf_add_c(&text, "Cannot resolve \"");
    fm_expr_sql(e, &text);
    fm_strbuf_add_c(&text, "\" due to data type mismatch: ");
    add_why(&text, why, a, b);
    st = fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column, "%s",
                    text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

fm_status fm_fail_bind(const fm_bind *b, fm_error *err, const char *kind, const char *why,
                       const fm_type *x, const fm_type *y)
{
    fm_expr call = {.kind = FM_EXPR_UNRESOLVED_CALL, .name = b->name, .n_args = b->n_args,
                    .args = (fm_expr **)(uintptr_t)b->args, .pos = b->pos};
    return fm_fail_mismatch(err, &call, kind, why, x, y);
}

fm_status fm_fail_extract(fm_error *err, const fm_expr *e)
{
    fm_strbuf text = {0};
    fm_status st;
    fm_strbuf_add_c(&text, "Can't extract a value from \"");
    fm_expr_sql(e->args[0], &text);
    fm_strbuf_add_c(&text, "\". Need a complex type [STRUCT, ARRAY, MAP] but got \"");
    fm_type_sql(e->args[0]->type, &text);
    fm_strbuf_add_c(&text, "\".");
    st = fm_fail_at(err, FM_INVALID, "INVALID_EXTRACT_BASE_FIELD_TYPE", e->pos.line, e->pos.column,
                    "%s", text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}
