/* expr/zone_cache.h: zones that rows name: opened once each within an evaluation. */
#ifndef FM_EXPR_ZONE_CACHE_H
#define FM_EXPR_ZONE_CACHE_H

#include "expr/zone.h"

enum { FM_ZONE_CACHE_SIZE = 16 };

typedef struct fm_zone_cache {
    fm_arena *arena; /* the zones live there */
    int n, next;
    const fm_zone *zones[FM_ZONE_CACHE_SIZE];
} fm_zone_cache;

/* The zone of that id. FM_INVALID, INVALID_TIMEZONE. */
fm_status fm_zone_cache_get(fm_zone_cache *cache, fm_str id, const fm_zone **out, fm_error *err);

#endif
