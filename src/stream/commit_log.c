/* stream/commit_log.c: the text of the commit log. */
#include "stream/commit_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/seal.h"
#include "format/json.h"

static fm_status damaged(fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED",
                   "An entry of the commit log is damaged: it should be a line 'v1' and a line of JSON. Remove the "
                   "file to run that micro-batch again, or restore it from a backup.");
}

fm_status fm_commit_parse(fm_str text, fm_arena *arena, fm_commit *out, fm_error *err)
{
    const fm_json *root;

    *out = (fm_commit){0};
    if (!fm_str_starts(text, FM_STR("v1\n")) && !fm_str_starts(text, FM_STR("v2\n"))) return damaged(err);
    fm_str line = fm_str_trim((fm_str){text.ptr + 3, text.len - 3});
    if (fm_json_read(arena, line, &root, NULL) != FM_OK || root->kind != FM_JSON_OBJECT || !fm_seal_holds(text)) return damaged(err);
    const fm_json *watermark = fm_json_get(root, "nextBatchWatermarkMs");
    if (watermark && !fm_log_ms(watermark, &out->next_watermark_ms)) return damaged(err);
    const fm_json *no_data = fm_json_get(root, "floodmarkNoDataNext");
    if (no_data && no_data->kind != FM_JSON_BOOL) return damaged(err);
    out->no_data_next = no_data && no_data->boolean;
    return FM_OK;
}

fm_status fm_commit_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_commit *out, fm_error *err)
{
    fm_str text;

    FM_TRY(fm_batch_log_read(log, batch_id, arena, &text, err));
    fm_status st = fm_commit_parse(text, arena, out, err);
    return fm_context(err, st, "reading '%s/%" PRId64 "'", log->dir, batch_id);
}

fm_status fm_commit_log_add(fm_batch_log *log, int64_t batch_id, const fm_commit *commit, fm_error *err)
{
    char text[160];
    int n = snprintf(text, sizeof text, "v1\n{\"nextBatchWatermarkMs\":%" PRId64 "%s" FM_SEAL_FIELD "}", commit->next_watermark_ms,
                     commit->no_data_next ? ",\"floodmarkNoDataNext\":true" : "");

    fm_seal(text, (size_t)n);
    return fm_batch_log_add(log, batch_id, (fm_str){text, (size_t)n}, err);
}
