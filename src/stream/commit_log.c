/* stream/commit_log.c: the text of the commit log. */
#include "stream/commit_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/json.h"

static fm_status damaged(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED",
                   "An entry of the commit log is damaged: it should be a line 'v1' and a line of JSON. Remove the "
                   "file to run that micro-batch again, or restore it from a backup.");
}

fm_status fm_commit_parse(fm_str text, fm_arena *arena, int64_t *next_watermark_ms, fm_error *err)
{
    const fm_json *root;

    *next_watermark_ms = 0;
    if (!fm_str_starts(text, FM_STR("v1\n")) && !fm_str_starts(text, FM_STR("v2\n"))) return damaged(err);
    fm_str line = fm_str_trim((fm_str){text.ptr + 3, text.len - 3});
    if (fm_json_read(arena, line, &root, NULL) != FM_OK || root->kind != FM_JSON_OBJECT) return damaged(err);
    const fm_json *watermark = fm_json_get(root, "nextBatchWatermarkMs");
    if (watermark && !fm_json_i64(watermark, next_watermark_ms)) return damaged(err);
    return FM_OK;
}

fm_status fm_commit_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena,
                             int64_t *next_watermark_ms, fm_error *err)
{
    fm_str text;

    FM_TRY(fm_batch_log_read(log, batch_id, arena, &text, err));
    fm_status st = fm_commit_parse(text, arena, next_watermark_ms, err);
    return fm_context(err, st, "reading '%s/%" PRId64 "'", log->dir, batch_id);
}

fm_status fm_commit_log_add(fm_batch_log *log, int64_t batch_id, int64_t next_watermark_ms,
                            fm_error *err)
{
    char text[80];
    int n = snprintf(text, sizeof text, "v1\n{\"nextBatchWatermarkMs\":%" PRId64 "}", next_watermark_ms);

    return fm_batch_log_add(log, batch_id, (fm_str){text, (size_t)n}, err);
}
