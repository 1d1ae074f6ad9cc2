/* sink/sinks.h: the entries of the table of sinks. */
#ifndef FM_SINK_SINKS_H
#define FM_SINK_SINKS_H

#include "base/limits.h"
#include "sink/sink.h"

enum {
    FM_SINK_WRITERS_MAX = FM_VIRTUAL_SHARDS > FM_WORKERS_MAX ? FM_VIRTUAL_SHARDS : FM_WORKERS_MAX, /* of one batch */
    FM_SINK_MODES_ALL = 1 << FM_MODE_APPEND | 1 << FM_MODE_UPDATE | 1 << FM_MODE_COMPLETE
};

extern const fm_sink_type fm_sink_console;
extern const fm_sink_type fm_sink_csv;
extern const fm_sink_type fm_sink_delta;
extern const fm_sink_type fm_sink_json;
extern const fm_sink_type fm_sink_kafka;
extern const fm_sink_type fm_sink_memory;
extern const fm_sink_type fm_sink_noop;
extern const fm_sink_type fm_sink_parquet;
extern const fm_sink_type fm_sink_text;

#endif
