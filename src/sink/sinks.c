/* sink/sinks.c: the table of sinks, by name. */
#include "sink/sinks.h"

static const fm_sink_type *const table[] = {
    &fm_sink_console, &fm_sink_csv, &fm_sink_delta, &fm_sink_json, &fm_sink_kafka, &fm_sink_memory, &fm_sink_noop, &fm_sink_parquet, &fm_sink_text,
};

const fm_sink_type *const *fm_sinks(int *n)
{
    *n = (int)(sizeof table / sizeof table[0]);
    return table;
}

const fm_sink_type *fm_sink_find(fm_str format)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (fm_str_eq_ci(format, fm_str_c(table[i]->name))) return table[i];
    }
    return NULL;
}
