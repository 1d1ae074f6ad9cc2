/* expr/zone.h: time zones: offsets of instants and local times, by ICU's data. */
#ifndef FM_EXPR_ZONE_H
#define FM_EXPR_ZONE_H

#include "base/arena.h"

typedef struct fm_zone fm_zone; /* immutable; shared by threads */

/* "UTC", "Z", "+02:00", "GMT+1", "Europe/Berlin". FM_INVALID, INVALID_TIMEZONE for an unknown one. Lives in
 * arena; transitions are cached so that a lookup costs nanoseconds. */
fm_status fm_zone_open(fm_arena *arena, fm_str id, const fm_zone **out, fm_error *err);
const fm_zone *fm_zone_utc(void);
fm_str fm_zone_id(const fm_zone *zone);
/* Seconds east of UTC in force at an instant (µs). */
int32_t fm_zone_offset_s(const fm_zone *zone, int64_t utc_us);
/* Local clock of an instant, and back. In a gap: shifted forward by the gap's length; in an overlap: the
 * earlier offset (java.time's rule). */
int64_t fm_zone_to_local(const fm_zone *zone, int64_t utc_us);
int64_t fm_zone_to_utc(const fm_zone *zone, int64_t local_us);

#endif
