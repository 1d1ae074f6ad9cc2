/* engine/story.h: a micro-batch told to a person: what came in, which windows opened and closed, how the watermark moved,
 * which rows were late. */
#ifndef FM_ENGINE_STORY_H
#define FM_ENGINE_STORY_H

#include "stream/progress.h"

/* What was told last of a query: which windows were open. Zero it before the first. */
typedef struct fm_story {
    fm_op_window windows[FM_WINDOWS_TOLD_MAX];
    int32_t n_windows;
} fm_story;

/* Appends the lines of one micro-batch; idle reports tell nothing. Times are shown in `zone`. */
void fm_story_tell(fm_story *story, const fm_progress *p, const fm_zone *zone, fm_strbuf *out);

#endif
