/* conformance/compare.h: recorded values against rows: tests/conformance/README.md, "Canonical values". */
#ifndef FM_TESTS_CONFORMANCE_COMPARE_H
#define FM_TESTS_CONFORMANCE_COMPARE_H

#include "column/batch.h"
#include "format/json.h"

/* Whether lane i of v is the recorded value. */
bool conf_value_equals(const fm_json *expected, const fm_vec *v, int64_t i);
/* Whether row i of the batch is the recorded object: the same columns in the same order, equal values. */
bool conf_row_equals(const fm_json *expected, const fm_batch *batch, int32_t i);
/* Row i in the canonical JSON, for messages. */
void conf_row_text(const fm_batch *batch, int32_t i, fm_strbuf *out);
void conf_value_text(const fm_vec *v, int64_t i, fm_strbuf *out);

#endif
