/* expr/coerce.c: Spark's implicit casts: the common type of two, what a function takes, CAST nodes.
 *
 * Rule  Spark, AnsiTypeCoercion (ANSI) and TypeCoercion (not): findTightestCommonType, then
 *       findWiderTypeForDecimal, then string promotion, then the same inside arrays, maps and structs. */
#include "expr/coerce.h"

#include "base/limits.h"
#include "expr/cast.h"
#include "expr/decimal.h"

/* How a common type may be looked for. */
typedef enum widening {
    WIDEN_TIGHT,          /* no loss, no strings */
    WIDEN_WITHOUT_STRING, /* decimals may round; strings stay strings */
    WIDEN_ALL
} widening;

static const fm_type *common(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                             const fm_type *b, widening how);

/* --- numbers ----------------------------------------------------------------------------------------- */

static const fm_type *wider_decimal(fm_arena *arena, const fm_type *a, const fm_type *b)
{
    int pa, sa, pb, sb, scale, digits;
    fm_decimal_of_type(a, &pa, &sa);
    fm_decimal_of_type(b, &pb, &sb);
    scale = sa > sb ? sa : sb;
    digits = pa - sa > pb - sb ? pa - sa : pb - sb;
    /* Beyond 38 digits those before the point are kept. */
    if (digits + scale > FM_DECIMAL_PRECISION_MAX) {
        int less = digits + scale - FM_DECIMAL_PRECISION_MAX;
        scale = scale > less ? scale - less : 0;
        digits = FM_DECIMAL_PRECISION_MAX - scale;
    }
    return fm_type_decimal(arena, digits + scale, scale);
}

static bool is_float(const fm_type *t) { return t->id == FM_TYPE_F32 || t->id == FM_TYPE_F64; }

static const fm_type *common_number(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                                    const fm_type *b, widening how)
{
    if (a->id == FM_TYPE_DECIMAL || b->id == FM_TYPE_DECIMAL) {
        const fm_type *decimal = a->id == FM_TYPE_DECIMAL ? a : b;
        const fm_type *other = decimal == a ? b : a;
        int p, s;
        if (is_float(other)) return how == WIDEN_TIGHT ? NULL : fm_type_f64();
        fm_decimal_of_type(other, &p, &s);
        if (fm_type_is_integer(other) && decimal->precision - decimal->scale >= p) return decimal;
        return how == WIDEN_TIGHT ? NULL : wider_decimal(arena, a, b);
    }
    /* An integer beside a FLOAT: under ANSI they meet in DOUBLE, where no digit is lost. */
    if (conf->ansi && (a->id == FM_TYPE_F32) != (b->id == FM_TYPE_F32)) return fm_type_f64();
    return a->id > b->id ? a : b;
}

/* --- time -------------------------------------------------------------------------------------------- */

static bool is_datetime(const fm_type *t)
{
    return t->id == FM_TYPE_DATE || fm_type_is_timestamp(t);
}

static const fm_type *common_datetime(const fm_session_conf *conf, const fm_type *a, const fm_type *b)
{
    bool instant = a->id == FM_TYPE_TIMESTAMP || b->id == FM_TYPE_TIMESTAMP;
    (void)conf;
    return instant ? fm_type_timestamp() : fm_type_simple(FM_TYPE_TIMESTAMP_NTZ);
}

/* --- nested ------------------------------------------------------------------------------------------ */

static bool names_match(const fm_session_conf *conf, fm_str a, fm_str b)
{
    return conf->case_sensitive ? fm_str_eq(a, b) : fm_str_eq_ci(a, b);
}

/* Whether a cast may turn a value into null, so that an element type must be nullable. */
static bool may_become_null(const fm_type *from, const fm_type *to)
{
    if (fm_type_eq(from, to)) return false;
    if (from->id == FM_TYPE_NULL) return true;
    if (from->id == FM_TYPE_STRING) return to->id != FM_TYPE_BINARY;
    if (to->id == FM_TYPE_DECIMAL && fm_type_is_numeric(from)) {
        int p, s;
        if (is_float(from)) return true;
        fm_decimal_of_type(from, &p, &s);
        return p - s > to->precision - to->scale || s > to->scale;
    }
    if (is_float(from)) return !fm_type_is_numeric(to) && to->id != FM_TYPE_STRING;
    return false;
}

static const fm_type *common_nested(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                                    const fm_type *b, widening how)
{
    fm_field *fields;
    if (a->n_fields != b->n_fields) return NULL;
    fields = fm_arena_array(arena, fm_field, a->n_fields);
    if (!fields) return NULL;
    for (int32_t i = 0; i < a->n_fields; i++) {
        const fm_field *fa = &a->fields[i], *fb = &b->fields[i];
        bool force;
        if (a->id == FM_TYPE_STRUCT && !names_match(conf, fa->name, fb->name)) return NULL;
        fields[i] = *fa;
        fields[i].type = common(arena, conf, fa->type, fb->type, how);
        if (!fields[i].type) return NULL;
        force = may_become_null(fa->type, fields[i].type) || may_become_null(fb->type, fields[i].type);
        if (a->id == FM_TYPE_MAP && i == 0 && force) return NULL; /* keys are never null */
        fields[i].nullable = fa->nullable || fb->nullable || force;
    }
    if (a->id == FM_TYPE_LIST) return fm_type_list(arena, fields[0].type, fields[0].nullable);
    if (a->id == FM_TYPE_MAP)
        return fm_type_map(arena, fields[0].type, fields[1].type, fields[1].nullable);
    return fm_type_struct(arena, fields, a->n_fields);
}

/* --- strings ----------------------------------------------------------------------------------------- */

/* ANSI: the string becomes what it meets; not ANSI: what it meets becomes a string. */
static const fm_type *common_with_string(const fm_session_conf *conf, const fm_type *other)
{
    if (fm_type_is_nested(other)) return NULL;
    if (!conf->ansi)
        return other->id == FM_TYPE_BINARY || other->id == FM_TYPE_BOOL ? NULL : fm_type_string();
    if (fm_type_is_integer(other)) return fm_type_i64();
    if (fm_type_is_numeric(other)) return fm_type_f64();
    if (other->id == FM_TYPE_INTERVAL_YM || other->id == FM_TYPE_INTERVAL_DT) return NULL;
    return other;
}

static const fm_type *common(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                             const fm_type *b, widening how)
{
    if (a->id == FM_TYPE_NULL) return b;
    if (b->id == FM_TYPE_NULL) return a;
    if (fm_type_is_nested(a) || fm_type_is_nested(b))
        return a->id == b->id ? common_nested(arena, conf, a, b, how) : NULL;
    if (fm_type_eq(a, b)) return a;
    if (fm_type_is_numeric(a) && fm_type_is_numeric(b)) return common_number(arena, conf, a, b, how);
    if (is_datetime(a) && is_datetime(b)) return common_datetime(conf, a, b);
    if (a->id == b->id) /* intervals of different units */
        return fm_type_interval(arena, (fm_interval_unit)(a->unit_from < b->unit_from ? a->unit_from : b->unit_from),
                                (fm_interval_unit)(a->unit_to > b->unit_to ? a->unit_to : b->unit_to));
    if (how != WIDEN_ALL) return NULL;
    if (a->id == FM_TYPE_STRING) return common_with_string(conf, b);
    if (b->id == FM_TYPE_STRING) return common_with_string(conf, a);
    return NULL;
}

const fm_type *fm_type_common(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                              const fm_type *b)
{
    return common(arena, conf, a, b, WIDEN_ALL);
}

bool fm_type_same_shape(const fm_type *a, const fm_type *b)
{
    if (!fm_type_is_nested(a)) return fm_type_eq(a, b);
    if (a->id != b->id || a->n_fields != b->n_fields) return false;
    for (int32_t i = 0; i < a->n_fields; i++)
        if (!fm_type_same_shape(a->fields[i].type, b->fields[i].type)) return false;
    return true;
}

const fm_type *fm_type_common_no_string(fm_arena *arena, const fm_session_conf *conf, const fm_type *a,
                                        const fm_type *b)
{
    return common(arena, conf, a, b, WIDEN_WITHOUT_STRING);
}

static int digits_of(const fm_type *t)
{
    static const int digits[] = {3, 5, 10, 20}; /* I8 .. I64, as decimals that hold them */
    return digits[t->id - FM_TYPE_I8];
}

const fm_type *fm_type_tightest(fm_arena *arena, const fm_type *a, const fm_type *b)
{
    if (fm_type_eq(a, b) || b->id == FM_TYPE_NULL) return a;
    if (a->id == FM_TYPE_NULL) return b;
    if (a->id >= FM_TYPE_I8 && a->id <= FM_TYPE_F64 && b->id >= FM_TYPE_I8 && b->id <= FM_TYPE_F64) return a->id > b->id ? a : b;
    if (a->id == FM_TYPE_DECIMAL && fm_type_is_integer(b)) return a->precision - a->scale >= digits_of(b) ? a : NULL;
    if (b->id == FM_TYPE_DECIMAL && fm_type_is_integer(a)) return b->precision - b->scale >= digits_of(a) ? b : NULL;
    if ((a->id == FM_TYPE_DATE && fm_type_is_timestamp(b)) || (b->id == FM_TYPE_DATE && fm_type_is_timestamp(a))) return a->id == FM_TYPE_DATE ? b : a;
    if (fm_type_is_timestamp(a) && fm_type_is_timestamp(b)) return fm_type_timestamp();
    if (a->id == FM_TYPE_LIST && b->id == FM_TYPE_LIST) {
        const fm_type *element = fm_type_tightest(arena, a->fields[0].type, b->fields[0].type);
        return element ? fm_type_list(arena, element, a->fields[0].nullable || b->fields[0].nullable) : NULL;
    }
    return NULL;
}

/* Without ANSI the order matters: strings are folded in first, so that (DATE, INT, STRING) meet. */
static bool has_string(const fm_type *t)
{
    return t->id == FM_TYPE_STRING || (t->id == FM_TYPE_LIST && has_string(t->fields[0].type));
}

const fm_type *fm_type_common_of(fm_arena *arena, const fm_session_conf *conf,
                                 fm_expr *const *args, int32_t n)
{
    const fm_type *all = fm_type_null();
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < n; i++) {
            bool first = !conf->ansi && has_string(args[i]->type);
            if (first != (pass == 0)) continue;
            all = fm_type_common(arena, conf, all, args[i]->type);
            if (!all) return NULL;
        }
    return all;
}

bool fm_type_implicit(const fm_session_conf *conf, const fm_type *from, const fm_type *to)
{
    if (fm_type_eq(from, to) || from->id == FM_TYPE_NULL) return true;
    if (fm_type_is_numeric(from) && fm_type_is_numeric(to)) return true;
    if (is_datetime(from) && is_datetime(to)) return true;
    if (to->id == FM_TYPE_STRING) return !fm_type_is_nested(from);
    if (from->id == FM_TYPE_STRING) {
        if (fm_type_is_nested(to)) return false;
        return conf->ansi || (to->id != FM_TYPE_BOOL && to->id != FM_TYPE_INTERVAL_YM &&
                              to->id != FM_TYPE_INTERVAL_DT);
    }
    if (from->id != to->id) return false;
    if (from->id == FM_TYPE_INTERVAL_DT || from->id == FM_TYPE_INTERVAL_YM) return true;
    if (!fm_type_is_nested(from) || from->n_fields != to->n_fields) return false;
    for (int32_t i = 0; i < from->n_fields; i++)
        if (!fm_type_implicit(conf, from->fields[i].type, to->fields[i].type)) return false;
    return true;
}

/* --- casts ------------------------------------------------------------------------------------------- */

static fm_status fail_cast(const fm_session_conf *conf, const fm_expr *cast, fm_error *err)
{
    const fm_expr *e = cast->args[0];
    fm_strbuf text = {0}, from = {0}, to = {0};
    const char *condition = "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", *function = NULL;
    fm_status st;
    fm_type_sql(e->type, &from);
    fm_type_sql(cast->type, &to);
    fm_strbuf_add_c(&text, "Cannot resolve \"");
    fm_expr_sql(cast, &text);
    fm_strbuf_printf(&text, "\" due to data type mismatch: cannot cast \"%s\" to \"%s\"",
                     from.ptr ? from.ptr : "", to.ptr ? to.ptr : "");
    if (e->type->id == FM_TYPE_DATE && fm_type_is_numeric(cast->type))
        function = "UNIX_DATE";
    else if (fm_type_is_numeric(e->type) && cast->type->id == FM_TYPE_DATE)
        function = "DATE_FROM_UNIX_DATE";
    if ((conf->ansi || cast->try_cast) && function) {
        condition = "DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION";
        fm_strbuf_printf(&text, ". To convert values from \"%s\" to \"%s\", you can use the functions `%s` instead",
                         from.ptr ? from.ptr : "", to.ptr ? to.ptr : "", function);
    } else if (conf->ansi && !cast->try_cast && fm_cast_exists(e->type, cast->type, false)) {
        condition = "DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION";
        fm_strbuf_printf(&text, " with ANSI mode on. If you have to cast \"%s\" to \"%s\", you can set "
                                "\"spark.sql.ansi.enabled\" as \"false\"",
                         from.ptr ? from.ptr : "", to.ptr ? to.ptr : "");
    }
    fm_strbuf_add_c(&text, ".");
    st = fm_fail_at(err, FM_INVALID, condition, e->pos.line, e->pos.column, "%s",
                    text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&from);
    fm_strbuf_fini(&to);
    return st;
}

const fm_type *fm_cast_function_type(fm_arena *arena, fm_str name)
{
    static const struct {
        const char *name;
        fm_type_id id;
    } names[] = {
        {"boolean", FM_TYPE_BOOL}, {"tinyint", FM_TYPE_I8}, {"smallint", FM_TYPE_I16}, {"int", FM_TYPE_I32},
        {"bigint", FM_TYPE_I64}, {"float", FM_TYPE_F32}, {"double", FM_TYPE_F64},
        {"decimal", FM_TYPE_DECIMAL}, {"date", FM_TYPE_DATE}, {"timestamp", FM_TYPE_TIMESTAMP},
        {"binary", FM_TYPE_BINARY}, {"string", FM_TYPE_STRING},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!fm_str_eq_ci(name, fm_str_c(names[i].name))) continue;
        return names[i].id == FM_TYPE_DECIMAL ? fm_type_decimal(arena, 10, 0) : fm_type_simple(names[i].id);
    }
    return NULL;
}

/* A literal that an implicit cast applies to is cast at once; one that cannot be stays, to fail when run. */
static fm_expr *folded(fm_arena *arena, const fm_session_conf *conf, const fm_expr *e,
                       const fm_type *to)
{
    fm_error ignored = FM_ERROR_INIT;
    fm_strbuf text = {0};
    fm_expr *literal;
    fm_value value;
    fm_cast_mode mode = conf->ansi ? FM_CAST_ANSI : FM_CAST_LEGACY;
    /* The empty text could not be kept as the literal's name. */
    if (e->type->id == FM_TYPE_STRING && !fm_vec_is_null(&e->value, 0) && fm_vec_str(&e->value, 0).len == 0) return NULL;
    if (fm_cast_run(&e->value, to, mode, conf, arena, &value, &ignored) != FM_OK) return NULL;
    literal = fm_expr_copy_node(arena, e);
    if (!literal) return NULL;
    literal->value = value;
    literal->type = to;
    literal->nullable = fm_vec_is_null(&value, 0);
    fm_expr_sql(e, &text); /* columns are named by what was written */
    literal->name = fm_arena_str(arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return literal;
}

fm_status fm_expr_cast(fm_arena *arena, const fm_session_conf *conf, fm_expr *e, const fm_type *to,
                       bool is_explicit, bool try_cast, fm_expr **out, fm_error *err)
{
    fm_expr *cast;
    if (!is_explicit && fm_type_eq(e->type, to)) {
        *out = e;
        return FM_OK;
    }
    if (!is_explicit && e->kind == FM_EXPR_LITERAL) {
        fm_expr *literal = NULL;
        if (e->type->id == FM_TYPE_NULL) {
            literal = fm_expr_literal_null(arena, to);
            if (!literal) return fm_no_memory(arena, err);
            literal->pos = e->pos;
            literal->name = FM_STR("NULL");
        } else if (fm_cast_exists(e->type, to, conf->ansi)) {
            literal = folded(arena, conf, e, to);
        }
        if (literal) {
            *out = literal;
            return FM_OK;
        }
    }
    cast = fm_expr_new(arena, FM_EXPR_CAST, e->pos);
    if (!cast) return fm_no_memory(arena, err);
    cast->args = fm_arena_array(arena, fm_expr *, 1);
    if (!cast->args) return fm_no_memory(arena, err);
    cast->args[0] = e;
    cast->n_args = 1;
    cast->type = cast->cast_type = to;
    cast->ansi = conf->ansi;
    cast->try_cast = try_cast;
    cast->implicit = !is_explicit;
    cast->deterministic = e->deterministic;
    cast->nullable = e->nullable || try_cast || (!conf->ansi && may_become_null(e->type, to)) ||
                     e->type->id == FM_TYPE_NULL;
    if (!fm_cast_exists(e->type, to, conf->ansi || try_cast)) return fail_cast(conf, cast, err);
    *out = cast;
    return FM_OK;
}
