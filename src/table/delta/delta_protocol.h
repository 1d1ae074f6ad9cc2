/* table/delta/delta_protocol.h: which tables we may read and write. A feature that we do not know is refused by its name.
 *
 * Rule  Delta protocol, "Table Features", "Reader and Writer Version Requirements" */
#ifndef FM_TABLE_DELTA_DELTA_PROTOCOL_H
#define FM_TABLE_DELTA_DELTA_PROTOCOL_H

#include "table/delta/delta_schema.h"

/* FM_UNSUPPORTED, DELTA_UNSUPPORTED_FEATURES_FOR_READ or DELTA_INVALID_PROTOCOL_VERSION, naming table and features. */
fm_status fm_delta_check_read(const fm_delta_protocol *p, fm_str table, fm_error *err);
/* As above for writing, and DELTA_UNSUPPORTED_FEATURES_FOR_WRITE; what a feature that is there does not use is no hindrance. */
fm_status fm_delta_check_write(const fm_delta_protocol *p, const fm_delta_metadata *m, const fm_delta_schema *schema, fm_str table,
                               fm_error *err);
/* Whether the protocol has a feature of writers: listed, or implied by an older version. */
bool fm_delta_has_feature(const fm_delta_protocol *p, const char *feature);
/* Adds a feature: to the lists, which are made from the versions when there are none. */
fm_status fm_delta_add_feature(fm_arena *arena, fm_delta_protocol *p, const char *feature, bool for_readers, fm_error *err);
/* A property of the table that is true or false; Delta's default for absent. */
bool fm_delta_property(const fm_delta_metadata *m, const char *key, bool absent);
/* A property that is an interval ("interval 7 days"), ms; absent or unreadable: `absent`. */
int64_t fm_delta_property_ms(const fm_delta_metadata *m, const char *key, int64_t absent);
int64_t fm_delta_property_i64(const fm_delta_metadata *m, const char *key, int64_t absent);

#endif
