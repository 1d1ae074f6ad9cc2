/* source/sources.h: the entries of the table of sources. */
#ifndef FM_SOURCE_SOURCES_H
#define FM_SOURCE_SOURCES_H

#include "source/source.h"

extern const fm_source_type fm_source_csv;
extern const fm_source_type fm_source_delta;
extern const fm_source_type fm_source_json;
extern const fm_source_type fm_source_parquet;
extern const fm_source_type fm_source_kafka;
extern const fm_source_type fm_source_rate;
extern const fm_source_type fm_source_rate_micro_batch;
extern const fm_source_type fm_source_socket;
extern const fm_source_type fm_source_text;

#endif
