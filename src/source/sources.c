/* source/sources.c: the table of sources. */
#include "source/sources.h"

static const fm_source_type *const sources[] = {
    &fm_source_csv,
    &fm_source_delta,
    &fm_source_json,
    &fm_source_kafka,
    &fm_source_parquet,
    &fm_source_rate,
    &fm_source_rate_micro_batch,
    &fm_source_socket,
    &fm_source_text,
};

const fm_source_type *const *fm_sources(int *n)
{
    *n = (int)(sizeof sources / sizeof sources[0]);
    return sources;
}

const fm_source_type *fm_source_find(fm_str format)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (fm_str_eq_ci(format, fm_str_c(sources[i]->name))) return sources[i];
    return NULL;
}
