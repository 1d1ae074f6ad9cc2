/* engine/host.h: sources and sinks that the host of the C API is: floodmark_source and floodmark_sink. */
#ifndef FM_ENGINE_HOST_H
#define FM_ENGINE_HOST_H

#include <floodmark.h>

#include "sink/sink.h"
#include "source/source.h"

enum { FM_HOST_FORMATS_MAX = 64 };

/* Each entry carries its own type, so that the callbacks are found from it. */
typedef struct fm_host_source_entry {
    fm_source_type type;
    char name[64];
    floodmark_source callbacks;
} fm_host_source_entry;
typedef struct fm_host_sink_entry {
    fm_sink_type type;
    char name[64];
    floodmark_sink callbacks;
} fm_host_sink_entry;

typedef struct fm_host_formats {
    fm_host_source_entry *sources[FM_HOST_FORMATS_MAX];
    fm_host_sink_entry *sinks[FM_HOST_FORMATS_MAX];
    int n_sources, n_sinks;
} fm_host_formats;

/* FM_INVALID: the name is taken or too long. */
fm_status fm_host_add_source(fm_host_formats *hosts, const char *name, const floodmark_source *source, fm_error *err);
fm_status fm_host_add_sink(fm_host_formats *hosts, const char *name, const floodmark_sink *sink, fm_error *err);
void fm_host_formats_fini(fm_host_formats *hosts);
/* For fm_session_env: ctx is the fm_host_formats. */
const fm_source_type *fm_host_find_source(void *ctx, fm_str format);
const fm_sink_type *fm_host_find_sink(void *ctx, fm_str format);

#endif
