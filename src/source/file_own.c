/* source/file_own.c: whether a file that is not there yet would be read: what a query writes must not come in again, and what is archived
 * must not either. Told by the text of paths, links are not followed. */
#include "source/file_source.h"
#include "source/glob.h"
#include "table/file_uri.h"

/* Takes the first part off a path that begins with '/'; false: there is none. */
static bool next_part(fm_str *path, fm_str *part)
{
    while (path->len && path->ptr[0] == '/') *path = (fm_str){path->ptr + 1, path->len - 1};
    size_t n = 0;
    while (n < path->len && path->ptr[n] != '/') n++;
    *part = (fm_str){path->ptr, n};
    *path = (fm_str){path->ptr + n, path->len - n};
    return n > 0;
}

bool fm_file_path_in(fm_str path, fm_str pattern, fm_str *below)
{
    fm_str part, want;

    while (next_part(&pattern, &want))
        if (!next_part(&path, &part) || !fm_glob_match(want, part)) return false;
    *below = path;
    return true;
}

fm_status fm_file_reads(const fm_source_env *env, const fm_table_def *table, fm_str path, fm_arena *arena, bool *out, fm_error *err)
{
    fm_str named = fm_options_get(&table->options, "path", (fm_str){"", 0});
    fm_str filter = fm_options_get(&table->options, "pathGlobFilter", (fm_str){"", 0});
    fm_str pattern, below, part, name = {"", 0};
    bool recursive, in_partition = false;

    *out = false;
    FM_TRY(fm_options_bool(&table->options, "recursiveFileLookup", false, &recursive, err));
    FM_TRY(fm_user_path(arena, named, &pattern, err));
    FM_TRY(fm_fs_absolute(env->fs, pattern, arena, &pattern, err));
    if (named.len == 0 || !fm_file_path_in(path, pattern, &below)) return FM_OK;
    for (bool first = true; next_part(&below, &part); first = false) {
        if (!first && !recursive && !(in_partition |= fm_file_is_partition_folder(name))) return FM_OK;
        if (fm_file_is_hidden(part)) return FM_OK;
        name = part;
    }
    const char *slash = memrchr(path.ptr, '/', path.len);
    if (name.len == 0 && slash) name = (fm_str){slash + 1, (size_t)(path.ptr + path.len - slash - 1)};
    *out = filter.len == 0 || fm_glob_match(filter, name);
    return FM_OK;
}
