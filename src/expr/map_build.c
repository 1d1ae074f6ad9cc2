/* expr/map_build.c: maps made of keys and values.
 *
 * Rule  Spark, ArrayBasedMapBuilder. */
#include "expr/map_build.h"

#include "expr/aggregates.h"
#include "expr/cast.h"
#include "expr/lane_set.h"
#include "expr/resolve_text.h"

int32_t *fm_map_offsets(fm_call *call, int32_t len) { return fm_arena_buffer(call->arena, ((size_t)len + 1) * sizeof(int32_t), true); }

fm_status fm_bind_map_type(fm_bind *b, const fm_type *key, const fm_type *value, bool value_nullable, const fm_type **out,
                           fm_error *err)
{
    if (!fm_type_orders(key))
        return fm_fail_bind(b, err, "INVALID_MAP_KEY_TYPE", "The key of map cannot be/contain %s.", key, NULL);
    *out = fm_type_map(b->arena, key, value, value_nullable);
    return *out ? FM_OK : fm_no_memory(b->arena, err);
}

static fm_status fail_duplicate(fm_call *call, const fm_vec *key, int64_t i)
{
    fm_strbuf text = {0};
    fm_status st;
    fm_value_text(key, i, call->conf->zone ? call->conf->zone : fm_zone_utc(), &text);
    st = fm_fail(call->err, FM_INVALID, "DUPLICATED_MAP_KEY",
                 "Duplicate map key %.*s was found, please check the input data. If you want to remove the duplicated keys, set "
                 "\"spark.sql.mapKeyDedupPolicy\" to \"LAST_WIN\" so that the key inserted at last takes precedence.",
                 FM_STR_ARG(fm_strbuf_str(&text)));
    fm_strbuf_fini(&text);
    return st;
}

/* Which lanes stay: keys[n_kept] and values[n_kept], and how many of each lane. */
typedef struct kept {
    int32_t *keys, *values, *offsets;
    int32_t n;
    bool all;
} kept;

static fm_status keep_lane(fm_call *call, const fm_vec *keys, int32_t from, int32_t to, fm_lane_set *set, int32_t *place, kept *k)
{
    FM_TRY(fm_lane_set_begin(set, call->arena, to - from, call->err));
    for (int32_t i = from; i < to; i++) {
        int32_t before;
        if (fm_vec_is_null(keys, i)) return fm_fail(call->err, FM_INVALID, "NULL_MAP_KEY", "Cannot use null as map key.");
        before = fm_lane_set_add(set, keys, i);
        if (before < 0) {
            place[i] = k->n;
            k->keys[k->n] = k->values[k->n] = i;
            k->n++;
            continue;
        }
        if (!call->conf->map_last_wins) return fail_duplicate(call, keys, i);
        k->values[place[before]] = i;
        k->all = false;
    }
    return FM_OK;
}

fm_status fm_map_build(fm_call *call, const fm_vec *keys, const fm_vec *values, const int32_t *offsets,
                       const uint64_t *validity, fm_vec *out)
{
    int32_t n = offsets[out->len], *place = fm_arena_array(call->arena, int32_t, n + 1);
    fm_vec *children = fm_arena_array(call->arena, fm_vec, 2);
    fm_lane_set set = {0};
    kept k = {.keys = fm_arena_array(call->arena, int32_t, n + 1), .values = fm_arena_array(call->arena, int32_t, n + 1),
              .offsets = fm_map_offsets(call, out->len), .all = true};

    if (!place || !children || !k.keys || !k.values || !k.offsets) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len; i++) {
        FM_TRY(keep_lane(call, keys, offsets[i], offsets[i + 1], &set, place, &k));
        k.offsets[i + 1] = k.n;
    }
    children[0] = *keys;
    children[1] = *values;
    if (!k.all) {
        FM_TRY(fm_vec_gather(&children[0], keys, k.keys, k.n, call->arena, call->err));
        FM_TRY(fm_vec_gather(&children[1], values, k.values, k.n, call->arena, call->err));
    }
    out->offsets = k.all ? offsets : k.offsets;
    out->children = children;
    out->validity = validity;
    return FM_OK;
}
