/* engine/memory_source.h: tables in memory as a source of batch reads. */
#ifndef FM_ENGINE_MEMORY_SOURCE_H
#define FM_ENGINE_MEMORY_SOURCE_H

#include "sink/memory_table.h"
#include "source/source.h"

/* The options of its tables: name. The environment's memory says where they are. */
extern const fm_source_type fm_memory_source;

#endif
