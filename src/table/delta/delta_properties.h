/* table/delta/delta_properties.h: properties of tables as users set them: TBLPROPERTIES, SET and UNSET.
 *
 * Rule  Delta, DeltaConfigs: a key that begins with delta. must be one of its own, in any case; delta.feature.X and delta.minReaderVersion,
 *       delta.minWriterVersion go into the protocol and are not kept */
#ifndef FM_TABLE_DELTA_DELTA_PROPERTIES_H
#define FM_TABLE_DELTA_DELTA_PROPERTIES_H

#include "table/delta/delta_protocol.h"

/* Takes properties into m and p, which this changes; m's map is made anew. errors  DELTA_UNKNOWN_CONFIGURATION, DELTA_INVALID_PROPERTY_VALUE,
 * DELTA_UNSUPPORTED_FEATURES_IN_CONFIG, DELTA_ADD_CONSTRAINTS; FM_UNSUPPORTED for what we cannot honour */
fm_status fm_delta_properties_set(fm_arena *arena, const fm_delta_map *properties, fm_delta_metadata *m, fm_delta_protocol *p, fm_error *err);
/* Takes a property out; *there: it was there. */
fm_status fm_delta_property_unset(fm_arena *arena, fm_delta_metadata *m, fm_str key, bool *there, fm_error *err);
/* Whether a feature is one that we can honour; *for_readers: readers must know it, too. */
bool fm_delta_feature_known(fm_str name, bool *for_readers);

#endif
