/* expr/zone_cache.c: zones that rows name: opened once each within an evaluation. */
#include "expr/zone_cache.h"

fm_status fm_zone_cache_get(fm_zone_cache *cache, fm_str id, const fm_zone **out, fm_error *err)
{
    for (int i = 0; i < cache->n; i++)
        if (fm_str_eq(fm_zone_id(cache->zones[i]), id)) {
            *out = cache->zones[i];
            return FM_OK;
        }
    FM_TRY(fm_zone_open(cache->arena, id, out, err));
    cache->zones[cache->next] = *out; /* when full, the oldest makes room */
    cache->next = (cache->next + 1) % FM_ZONE_CACHE_SIZE;
    if (cache->n < FM_ZONE_CACHE_SIZE) cache->n++;
    return FM_OK;
}
