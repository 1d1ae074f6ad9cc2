/* engine/checkpoint_text.h: what a checkpoint folder holds, in words. */
#ifndef FM_ENGINE_CHECKPOINT_TEXT_H
#define FM_ENGINE_CHECKPOINT_TEXT_H

#include "os/fs.h"

/* Reads only; takes no lock, so that a running query can be looked at. FM_NOT_FOUND: no such folder, or no checkpoint in it. */
fm_status fm_checkpoint_text(fm_fs *fs, const char *dir, fm_strbuf *out, fm_error *err);

#endif
