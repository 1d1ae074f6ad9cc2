/* format/json_infer.h: the inferrer of JSON, as format.h has it. */
#ifndef FM_FORMAT_JSON_INFER_H
#define FM_FORMAT_JSON_INFER_H

#include "format/formats.h"
#include "format/json_options.h"

fm_status fm_json_infer_new(fm_arena *arena, const fm_read_spec *spec, fm_inferrer **out, fm_error *err);
fm_status fm_json_infer_block(fm_inferrer *inferrer, const fm_block *block, fm_error *err);
size_t fm_json_infer_whole(fm_inferrer *inferrer, const char *bytes, size_t len);
fm_status fm_json_infer_finish(fm_inferrer *inferrer, fm_arena *arena, const fm_type **out, fm_error *err);
void fm_json_infer_free(fm_inferrer *inferrer);

/* The type of one JSON text, whatever stands at its top: what schema_of_json() tells. Rule: Spark, SchemaOfJsonEvaluator.
 * Errors: MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION. */
fm_status fm_json_schema_of(const fm_options *options, const fm_zone *zone, fm_str text, fm_arena *arena, const fm_type **out, fm_error *err);

#endif
