/* engine/maintain.h: the inside of the statements that look after Delta tables, for their files only. */
#ifndef FM_ENGINE_MAINTAIN_H
#define FM_ENGINE_MAINTAIN_H

#include "engine/change_rows.h"

typedef struct fm_maintenance {
    fm_session *s;
    const fm_plan *p;
    fm_str name;              /* of the table, as written */
    fm_change c;              /* the table at its latest version; its arena is this try's */
    fm_result *r;
    fm_status (*act)(struct fm_maintenance *m, fm_error *err);
} fm_maintenance;

fm_status fm_describe_columns(fm_maintenance *m, fm_error *err);
fm_status fm_describe_history(fm_maintenance *m, fm_error *err);
fm_status fm_describe_detail(fm_maintenance *m, fm_error *err);
fm_status fm_show_properties(fm_maintenance *m, fm_error *err);
fm_status fm_optimize_table(fm_maintenance *m, fm_error *err);

#endif
