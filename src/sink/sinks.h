/* sink/sinks.h: the entries of the table of sinks. */
#ifndef FM_SINK_SINKS_H
#define FM_SINK_SINKS_H

#include "sink/sink.h"

extern const fm_sink_type fm_console_sink, fm_memory_sink, fm_noop_sink;

#endif
