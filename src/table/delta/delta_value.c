/* table/delta/delta_value.c: values of partition columns. */
#include "table/delta/delta_value.h"

#include "base/time_text.h"
#include "expr/cast.h"

fm_status fm_delta_partition_check(fm_str name, const fm_type *type, fm_error *err)
{
    fm_strbuf text = {0};

    if (!fm_type_is_nested(type) && type->id != FM_TYPE_NULL && type->id != FM_TYPE_INTERVAL_YM && type->id != FM_TYPE_INTERVAL_DT) return FM_OK;
    fm_type_sql(type, &text);
    fm_status st = fm_fail(err, FM_INVALID, "DELTA_INVALID_PARTITION_COLUMN_TYPE",
                           "Using column %.*s of type %s as a partition column is not supported. Partition by a part of it that is a plain value, "
                           "such as window.start.",
                           FM_STR_ARG(name), text.ptr ? text.ptr : "");
    fm_strbuf_fini(&text);
    return st;
}

bool fm_delta_partition_text(const fm_vec *v, int64_t i, fm_strbuf *out)
{
    size_t before = out->len;
    char iso[FM_ISO_TEXT_SIZE];

    if (fm_vec_is_null(v, i)) return false;
    if (v->type->id == FM_TYPE_TIMESTAMP) {
        fm_iso_us(fm_vec_i64(v)[i], iso);
        fm_strbuf_add_c(out, iso);
    } else if (v->type->id == FM_TYPE_BINARY) {
        fm_strbuf_add(out, fm_vec_str(v, i));
    } else {
        fm_value_text(v, i, fm_zone_utc(), out);
    }
    return out->len > before;
}

fm_status fm_delta_partition_value(fm_str text, const fm_type *type, const fm_zone *zone, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_session_conf conf = {.ansi = true, .zone = zone};
    fm_vec in;

    if (text.len == 0) return fm_vec_nulls(out, type, 1, arena, err);
    FM_TRY(fm_vec_init(&in, fm_type_string(), 1, arena, err));
    fm_str copy = fm_arena_str(arena, text);
    if (!copy.ptr) return fm_no_memory(arena, err);
    fm_vec_view_out(&in)[0] = fm_view_of(copy.ptr, copy.len);
    if (type->id == FM_TYPE_STRING) {
        *out = in;
        return FM_OK;
    }
    FM_TRY(fm_cast_run(&in, type, FM_CAST_TRY, &conf, arena, out, err));
    if (!fm_vec_is_null(out, 0)) return FM_OK;
    fm_strbuf name = {0};
    fm_type_sql(type, &name);
    fm_status st = fm_fail(err, FM_CORRUPT, "DELTA_PARTITION_COLUMN_CAST_FAILED", "Failed to cast value `%.*s` to `%s` for a partition column.",
                           FM_STR_ARG(text), name.ptr ? name.ptr : "");
    fm_strbuf_fini(&name);
    return st;
}
