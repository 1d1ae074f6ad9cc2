/* plan/condition_text.c: conditions as EXPLAIN shows them. */
#include "plan/condition_text.h"

#include "expr/cast.h"

static const char *name_of(fm_condition_op op)
{
    static const char *const names[] = {"EqualTo", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual", "EqualNullSafe", "In",
                                        "StringStartsWith", "StringEndsWith", "StringContains", "IsNull", "IsNotNull", "And", "Or", "Not"};
    return names[op];
}

static void add_column(const fm_condition *c, const fm_type *schema, fm_strbuf *out)
{
    for (int32_t i = 0; i < c->n_path; i++) {
        const fm_field *f = &schema->fields[c->path[i]];
        bool odd = memchr(f->name.ptr, '.', f->name.len) != NULL;
        fm_strbuf_printf(out, "%s%s%.*s%s", i ? "." : "", odd ? "`" : "", FM_STR_ARG(f->name), odd ? "`" : "");
        schema = f->type;
    }
}

/* Times as the classes print them that Spark has them in: java.sql.Timestamp always with a fraction, java.time.LocalDateTime with T,
 * without seconds when there are none, and with three or six digits of a fraction. */
static void add_value(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    size_t from = out->len;

    fm_value_text(v, i, zone, out);
    if (!fm_type_is_timestamp(v->type) || !fm_strbuf_ok(out)) return;
    bool has_fraction = memchr(out->ptr + from, '.', out->len - from) != NULL;
    if (v->type->id == FM_TYPE_TIMESTAMP) {
        if (!has_fraction) fm_strbuf_add_c(out, ".0");
        return;
    }
    char *blank = memchr(out->ptr + from, ' ', out->len - from);
    if (blank) *blank = 'T';
    if (has_fraction) {
        size_t digits = out->len - (size_t)((char *)memchr(out->ptr + from, '.', out->len - from) - out->ptr) - 1;
        for (; digits % 3; digits++) fm_strbuf_add_char(out, '0');
    } else if (out->len - from > 3 && memcmp(out->ptr + out->len - 3, ":00", 3) == 0) {
        out->len -= 3;
    }
}

void fm_condition_text(const fm_condition *c, const fm_type *schema, const fm_zone *zone, fm_strbuf *out)
{
    fm_strbuf_printf(out, "%s(", name_of(c->op));
    if (c->left) {
        fm_condition_text(c->left, schema, zone, out);
        if (c->right) fm_strbuf_add_char(out, ',');
        if (c->right) fm_condition_text(c->right, schema, zone, out);
    } else {
        add_column(c, schema, out);
        int32_t n = c->op == FM_COND_IS_NULL || c->op == FM_COND_NOT_NULL ? 0 : c->value.len;
        if (c->op == FM_COND_IN) fm_strbuf_add_c(out, ", [");
        else if (n) fm_strbuf_add_char(out, ',');
        for (int32_t i = 0; i < n; i++) {
            if (i) fm_strbuf_add_char(out, ',');
            add_value(&c->value, i, zone, out);
        }
        if (c->op == FM_COND_IN) fm_strbuf_add_char(out, ']');
    }
    fm_strbuf_add_char(out, ')');
}
