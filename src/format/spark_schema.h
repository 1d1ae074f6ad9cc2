/* format/spark_schema.h: schemas as the JSON that Spark keeps beside data: in Parquet footers and table logs. */
#ifndef FM_FORMAT_SPARK_SCHEMA_H
#define FM_FORMAT_SPARK_SCHEMA_H

#include "column/type.h"

/* {"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]} */
void fm_spark_schema_print(const fm_type *schema, fm_strbuf *out);
/* The reverse. FM_INVALID: no such JSON, or a type that is not known here (user-defined ones). */
fm_status fm_spark_schema_parse(fm_arena *arena, fm_str text, const fm_type **out, fm_error *err);

#endif
