/* expr/zone_names.h: the short names of time zones. */
#ifndef FM_EXPR_ZONE_NAMES_H
#define FM_EXPR_ZONE_NAMES_H

#include "base/str.h"

/* "CET" or "CEST" for Europe/Berlin; NULL for an id without a name. Rule: java.time on JDK 17, pattern letter z, en_US. */
const char *fm_zone_short_name(fm_str id, bool summer);

#endif
