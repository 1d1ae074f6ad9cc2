/* source/glob.h: path patterns, as Hadoop has them: * ? [a-z] [^a-z] {a,b} and \ before a plain
 * character. None of them but {} reaches over a '/'. */
#ifndef FM_SOURCE_GLOB_H
#define FM_SOURCE_GLOB_H

#include "os/fs.h"

bool fm_is_glob(fm_str path);
/* Whether one path component (or any text without '/') matches a pattern; braces are understood. */
bool fm_glob_match(fm_str pattern, fm_str name);
/* The paths that an absolute pattern stands for and that exist, sorted by bytes, each once; in
 * arena. A path without pattern characters gives itself if it exists. FM_INVALID: unbalanced
 * brackets, or too many alternatives. */
fm_status fm_glob_expand(fm_fs *fs, fm_str pattern, fm_arena *arena, fm_str **out, size_t *n,
                         fm_error *err);

#endif
