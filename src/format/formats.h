/* format/formats.h: the entries of the table of formats. */
#ifndef FM_FORMAT_FORMATS_H
#define FM_FORMAT_FORMATS_H

#include "format/format.h"

extern const fm_format fm_format_csv;
extern const fm_format fm_format_json;
extern const fm_format fm_format_parquet;
extern const fm_format fm_format_text;

#endif
