/* column/vec_verify.c: the rules of vec.h and batch.h, checked: between operators in debug builds, and by tests. */
#include "base/limits.h"
#include "column/batch.h"

static fm_status broken(const fm_vec *v, const char *rule, int32_t lane, fm_error *err)
{
    fm_strbuf type = {0};

    if (v->type) fm_type_text(v->type, &type);
    fm_status st = fm_fail(err, FM_CORRUPT, "FLOODMARK_BAD_VECTOR", "A vector of type %s breaks a rule at lane %d: %s. This is a bug.",
                           type.ptr ? type.ptr : "?", lane, rule);
    fm_strbuf_fini(&type);
    return st;
}

static bool is_aligned(const void *p) { return ((uintptr_t)p & 63) == 0; }

static bool is_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) return false;
    }
    return true;
}

static bool is_view_good(const fm_view *v)
{
    if (v->len <= FM_VIEW_INLINE) return is_zero(v->u.inlined + v->len, FM_VIEW_INLINE - v->len);
    return v->u.out.ptr && memcmp(v->u.out.ptr, v->u.out.prefix, sizeof v->u.out.prefix) == 0;
}

static bool fits_precision(fm_i128 x, int precision)
{
    fm_i128 bound = 1;

    for (int i = 0; i < precision; i++) bound *= 10;
    return x < bound && x > -bound;
}

static fm_status verify_values(const fm_vec *v, fm_error *err)
{
    size_t width = fm_type_width(v->type);

    if (width == 0) return FM_OK;
    if (!v->values || !is_aligned(v->values)) return broken(v, "values are missing or not aligned to 64 bytes", -1, err);
    for (int32_t i = 0; i < v->len; i++) {
        const char *value = (const char *)v->values + (size_t)i * width;
        if (fm_vec_is_null(v, i) && !is_zero(value, width)) return broken(v, "a null lane is not zero", i, err);
        if (v->type->id == FM_TYPE_BOOL && *(const uint8_t *)value > 1) return broken(v, "a boolean is neither 0 nor 1", i, err);
        if (fm_type_is_view(v->type) && !is_view_good((const fm_view *)(const void *)value)) {
            return broken(v, "a view is not padded with zeros, or its prefix is not that of its bytes", i, err);
        }
        if (v->type->id == FM_TYPE_DECIMAL && !fits_precision(fm_vec_decimal(v)[i], v->type->precision)) {
            return broken(v, "a decimal has more digits than its precision", i, err);
        }
    }
    return FM_OK;
}

static fm_status verify_offsets(const fm_vec *v, fm_error *err)
{
    if (!v->offsets || !is_aligned(v->offsets)) return broken(v, "offsets are missing or not aligned to 64 bytes", -1, err);
    if (v->offsets[0] < 0) return broken(v, "an offset is negative", 0, err);
    for (int32_t i = 0; i < v->len; i++) {
        if (v->offsets[i + 1] < v->offsets[i]) return broken(v, "offsets fall", i, err);
        if (fm_vec_is_null(v, i) && v->offsets[i + 1] != v->offsets[i]) return broken(v, "a null list is not empty", i, err);
    }
    for (int32_t c = 0; c < v->type->n_fields; c++) {
        if (v->children[c].len < v->offsets[v->len]) return broken(v, "offsets point behind the elements", v->len, err);
    }
    if (v->type->id != FM_TYPE_MAP) return FM_OK;
    for (int32_t j = v->offsets[0]; j < v->offsets[v->len]; j++) {
        if (fm_vec_is_null(&v->children[0], j)) return broken(v, "a map key is null", j, err);
    }
    return FM_OK;
}

static fm_status verify(const fm_vec *v, int depth, fm_error *err)
{
    bool is_struct = v->type && v->type->id == FM_TYPE_STRUCT;

    if (!v->type || v->len < 0 || depth > 2 * FM_TYPE_DEPTH_MAX) return broken(v, "type or length is missing, or it is too deep", -1, err);
    if (v->validity && !is_aligned(v->validity)) return broken(v, "validity is not aligned to 64 bytes", -1, err);
    FM_TRY(verify_values(v, err));
    if (!fm_type_is_nested(v->type)) return FM_OK;
    if (v->type->n_fields && !v->children) return broken(v, "children are missing", -1, err);
    for (int32_t c = 0; c < v->type->n_fields; c++) {
        const fm_vec *child = &v->children[c];
        if (!child->type || !fm_type_eq(child->type, v->type->fields[c].type)) return broken(v, "a child has another type than its field", -1, err);
        if (is_struct && child->len != v->len) return broken(v, "a child of a struct has another length", -1, err);
        FM_TRY(verify(child, depth + 1, err));
    }
    return is_struct ? FM_OK : verify_offsets(v, err);
}

fm_status fm_vec_verify(const fm_vec *v, fm_error *err) { return verify(v, 0, err); }

fm_status fm_batch_verify(const fm_batch *batch, fm_error *err)
{
    if (!batch->schema || batch->schema->id != FM_TYPE_STRUCT || batch->rows < 0) {
        return fm_fail(err, FM_CORRUPT, "FLOODMARK_BAD_VECTOR", "A batch has no struct for its schema, or fewer than no rows. This is a bug.");
    }
    for (int32_t c = 0; c < batch->schema->n_fields; c++) {
        const fm_vec *v = &batch->columns[c];
        if (v->len != batch->rows) return broken(v, "a column has another length than its batch", v->len, err);
        if (!v->type || !fm_type_eq(v->type, batch->schema->fields[c].type)) return broken(v, "a column has another type than its schema says", -1, err);
        FM_TRY(fm_context(err, fm_vec_verify(v, err), "checking column %d, %.*s", c, FM_STR_ARG(batch->schema->fields[c].name)));
    }
    return FM_OK;
}
