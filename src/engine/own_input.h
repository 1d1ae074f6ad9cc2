/* engine/own_input.h: a stream that would read what it writes is not begun. */
#ifndef FM_ENGINE_OWN_INPUT_H
#define FM_ENGINE_OWN_INPUT_H

#include "plan/plan.h"
#include "sink/sink.h"
#include "source/source.h"

/* Looks whether a streaming source of an analyzed plan reads files of the folder that its sink writes, of its checkpoint, or of the sinks of
 * its hints.
 *
 * sink    format and options are looked at
 * errors  FLOODMARK_READS_OWN_OUTPUT, naming the folder; of options that are no paths */
fm_status fm_check_own_input(const fm_source_env *env, const fm_plan *plan, const fm_sink_spec *sink, fm_str checkpoint, fm_arena *arena, fm_error *err);

#endif
