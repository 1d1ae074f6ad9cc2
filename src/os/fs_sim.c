/* os/fs_sim.c: a file system in memory that knows what a power cut would take.
 *
 * Everything exists twice: as running programs see it (the page cache), and as the disk has it.
 *
 *                now (seen)                       kept (on disk)
 *   file         bytes                            a prefix of them, or the bytes before a truncation
 *   folder       names -> nodes                   names -> nodes
 *
 * 1. A sync of a file makes its bytes kept, a sync of a folder the names in it. Nothing else does.
 * 2. A power cut makes now of kept, from the root down: a name that is kept but whose bytes never were
 *    synced is an empty file, as it would be on ext4 or xfs.
 * 3. Changes of names wait in a journal, oldest first. A sync of a folder keeps those that touch it,
 *    each whole: a rename between two folders is kept in both, so no cut can lose the file or show it
 *    under two names. What it builds on (older changes of the same names) is kept with it.
 * 4. Files only grow (fm_file_write appends), so kept bytes are a length into the same buffer. Only
 *    FM_OPEN_TRUNCATE needs a second buffer.
 * 5. A handle or lock of before a restart or kill belongs to a dead process: its calls fail.
 * 6. Nodes live as long as the file system. That keeps ownership simple, where a folder may be found
 *    at one place now and at another on disk. */
#include "os/fs.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/fs_impl.h"

typedef struct node node;

typedef struct name {
    char *text; /* owned */
    node *to;
} name;

typedef struct names {
    name *items;
    size_t n, cap;
} names;

struct node {
    node *next_made; /* all nodes, for the end */
    bool is_dir;
    int64_t modified_ms;
    fm_strbuf now;   /* file */
    size_t kept_len; /* file: bytes of `now` that are kept, unless `truncated` */
    bool truncated;  /* file: since the last sync; then `before` is what is kept */
    fm_strbuf before;
    names seen, kept; /* folder */
    bool behind;      /* while tearing: a change of this node was lost, so are all younger ones */
};

/* A change of names that no sync has kept yet: made (from_dir NULL), removed (to_dir NULL), renamed. */
typedef struct change {
    struct change *next; /* younger */
    node *what, *from_dir, *to_dir;
    char *from, *to; /* owned */
} change;

typedef struct sim_fs {
    fm_fs base;
    pthread_mutex_t mutex;
    node *root, *made;
    change *changes; /* the journal, oldest first */
    int64_t fail_at, operations;
    int64_t full_at, fail_once_at; /* < 0: never */
    int64_t free_bytes; /* < 0: never full */
    int64_t generation; /* counts restarts and kills */
    int64_t now_ms;
    bool tears; /* at a power cut, chance decides about what was not synced; else it is gone */
    uint64_t tear_state;
    char failed[256];
    struct sim_lock *locks;
} sim_fs;

typedef struct sim_file {
    fm_file base;
    node *node;
    int64_t generation;
    bool writes;
    char path[]; /* for messages */
} sim_file;

typedef struct sim_lock {
    fm_fs_lock base;
    struct sim_lock *next;
    node *node;
    int64_t generation;
} sim_lock;

enum {
    NAME_LEN_MAX = 255, /* bytes; as on Linux */
    PATH_PARTS_MAX = 256
};

/* ---- names and nodes ---- */

static name *names_find(const names *in, fm_str text)
{
    for (size_t i = 0; i < in->n; i++)
        if (fm_str_eq(fm_str_c(in->items[i].text), text)) return &in->items[i];
    return NULL;
}

/* Adds the name or lets it name another node; false: no memory. */
static bool names_put(names *in, fm_str text, node *to)
{
    name *found = names_find(in, text);

    if (found) {
        found->to = to;
        return true;
    }
    if (in->n == in->cap) {
        size_t cap = in->cap ? in->cap * 2 : 8;
        name *items = realloc(in->items, cap * sizeof *items);
        if (!items) return false;
        in->items = items;
        in->cap = cap;
    }
    char *copy = strndup(text.ptr, text.len);
    if (!copy) return false;
    in->items[in->n++] = (name){copy, to};
    return true;
}

static void names_remove(names *in, fm_str text)
{
    name *found = names_find(in, text);

    if (!found) return;
    free(found->text);
    *found = in->items[--in->n];
}

static void names_clear(names *in)
{
    for (size_t i = 0; i < in->n; i++) free(in->items[i].text);
    free(in->items);
    *in = (names){0};
}

static bool names_copy(names *to, const names *from)
{
    names_clear(to);
    for (size_t i = 0; i < from->n; i++)
        if (!names_put(to, fm_str_c(from->items[i].text), from->items[i].to)) return false;
    return true;
}

static node *node_new(sim_fs *sim, bool is_dir)
{
    node *n = calloc(1, sizeof *n);

    if (!n) return NULL;
    n->is_dir = is_dir;
    n->modified_ms = sim->now_ms;
    n->next_made = sim->made;
    sim->made = n;
    return n;
}

static void node_free(node *n)
{
    fm_strbuf_fini(&n->now);
    fm_strbuf_fini(&n->before);
    names_clear(&n->seen);
    names_clear(&n->kept);
    free(n);
}

/* ---- the journal ---- */

static void change_free(change *c)
{
    free(c->from);
    free(c->to);
    free(c);
}

static bool note_change(sim_fs *sim, node *what, node *from_dir, fm_str from, node *to_dir, fm_str to)
{
    change *c = calloc(1, sizeof *c), **end = &sim->changes;

    if (!c) return false;
    *c = (change){.what = what, .from_dir = from_dir, .to_dir = to_dir};
    c->from = from_dir ? strndup(from.ptr, from.len) : NULL;
    c->to = to_dir ? strndup(to.ptr, to.len) : NULL;
    if ((from_dir && !c->from) || (to_dir && !c->to)) {
        change_free(c);
        return false;
    }
    while (*end) end = &(*end)->next;
    *end = c;
    return true;
}

/* Makes the change on disk. */
static bool apply(const change *c)
{
    name *old = c->from_dir ? names_find(&c->from_dir->kept, fm_str_c(c->from)) : NULL;

    if (old && old->to == c->what) names_remove(&c->from_dir->kept, fm_str_c(c->from));
    return !c->to_dir || names_put(&c->to_dir->kept, fm_str_c(c->to), c->what);
}

static bool touches(const change *c, const node *dir, const char *text)
{
    return (c->from_dir == dir && strcmp(c->from, text) == 0) || (c->to_dir == dir && strcmp(c->to, text) == 0);
}

static bool builds_on(const change *younger, const change *older)
{
    return (younger->from_dir && touches(older, younger->from_dir, younger->from)) ||
           (younger->to_dir && touches(older, younger->to_dir, younger->to));
}

static change *take_change(sim_fs *sim, change *c)
{
    change **link = &sim->changes;

    while (*link != c) link = &(*link)->next;
    *link = c->next;
    return c;
}

/* Keeps c and what it builds on, oldest first; they leave the journal. */
static bool keep_change(sim_fs *sim, change *c)
{
    bool ok = true;

    for (change *older = sim->changes; older != c;) {
        if (!builds_on(c, older)) {
            older = older->next;
            continue;
        }
        ok = keep_change(sim, older) && ok;
        older = sim->changes; /* the journal is another now */
    }
    ok = apply(c) && ok;
    change_free(take_change(sim, c));
    return ok;
}

static bool keep_changes_of(sim_fs *sim, const node *dir)
{
    bool ok = true;

    for (change *c = sim->changes; c;) {
        if (c->from_dir != dir && c->to_dir != dir) {
            c = c->next;
            continue;
        }
        ok = keep_change(sim, c) && ok;
        c = sim->changes;
    }
    return ok;
}

/* ---- failures ---- */

static fm_status fail_as(fm_error *err, fm_status st, const char *doing, const char *path, const char *what)
{
    return fm_fail(err, st, st == FM_NOT_FOUND ? "PATH_NOT_FOUND" : "FLOODMARK_IO", "Cannot %s '%s': %s.", doing,
                   path, what);
}

static fm_status not_found(fm_error *err, const char *doing, const char *path)
{
    return fail_as(err, FM_NOT_FOUND, doing, path, "No such file or directory");
}

static void note_failed(sim_fs *sim, const char *doing, const char *path)
{
    if (!sim->failed[0])
        snprintf(sim->failed, sizeof sim->failed, "%s '%.200s'", doing, path);
}

/* Counts an operation that changes the disk; false when it is to fail. The first that fails is noted. */
static bool count(sim_fs *sim, const char *doing, const char *path)
{
    int64_t nth = sim->operations++;

    sim->now_ms++; /* so that files have an order of age */
    if ((sim->fail_at < 0 || nth < sim->fail_at) && nth != sim->fail_once_at) return true;
    note_failed(sim, doing, path);
    return false;
}

/* Whether the disk has no room for the operation just counted. */
static bool is_full(sim_fs *sim, const char *doing, const char *path)
{
    if (sim->full_at < 0 || sim->operations - 1 < sim->full_at) return false;
    note_failed(sim, doing, path);
    return true;
}

static fm_status fail_full(fm_error *err, const char *doing, const char *path)
{
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_IO", "Cannot %s '%s': No space left on device.", doing, path);
}

static fm_status fail_counted(sim_fs *sim, fm_error *err, const char *doing, const char *path)
{
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_IO",
                   "Cannot %s '%s': Input/output error (simulated, operation %" PRId64 ").", doing, path,
                   sim->operations - 1);
}

/* ---- paths ---- */

typedef struct place {
    node *dir;   /* the folder the last part is looked up in; NULL: the path is the root */
    fm_str last; /* within the path */
    node *found; /* NULL: nothing there */
} place;

/* Takes the next part off *rest; empty at the end. */
static fm_str next_part(fm_str *rest)
{
    while (rest->len && rest->ptr[0] == '/') rest->ptr++, rest->len--;
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != '/') len++;
    fm_str part = {rest->ptr, len};
    rest->ptr += len;
    rest->len -= len;
    return part;
}

/* False when a folder on the way is missing or is a file. ".." goes up by the folders walked, since
 * there are no links here. */
static bool walk(sim_fs *sim, const char *path, place *out)
{
    node *dirs[PATH_PARTS_MAX]; /* those walked through */
    fm_str parts[PATH_PARTS_MAX], rest = fm_str_c(path), part;
    int depth = 0;

    *out = (place){.found = sim->root};
    while ((part = next_part(&rest)).len) {
        if (fm_str_eq(part, FM_STR("."))) continue;
        if (!out->found || !out->found->is_dir || depth == PATH_PARTS_MAX || part.len > NAME_LEN_MAX) return false;
        if (fm_str_eq(part, FM_STR(".."))) {
            if (depth > 0) depth--;
            out->found = depth ? out->dir : sim->root;
            out->dir = depth ? dirs[depth - 1] : NULL;
            out->last = depth ? parts[depth - 1] : FM_STR("");
            continue;
        }
        dirs[depth] = out->found;
        parts[depth++] = part;
        out->dir = out->found;
        out->last = part;
        name *found = names_find(&out->dir->seen, part);
        out->found = found ? found->to : NULL;
    }
    return true;
}

/* ---- files ---- */

static void node_truncate(node *n)
{
    if (!n->truncated) {
        n->before = n->now;
        n->before.len = n->kept_len;
        n->truncated = true;
    } else {
        fm_strbuf_fini(&n->now);
    }
    n->now = (fm_strbuf){0};
    n->kept_len = 0;
}

static void node_sync(node *n)
{
    fm_strbuf_fini(&n->before);
    n->truncated = false;
    n->kept_len = n->now.len;
}

static fm_status open_node(sim_fs *sim, const char *path, fm_open_mode mode, node **out, fm_error *err)
{
    place at;
    bool known = walk(sim, path, &at);

    bool makes = mode == FM_OPEN_CREATE_NEW || mode == FM_OPEN_TRUNCATE ||
                 (mode == FM_OPEN_APPEND && !(known && at.found));
    if (makes && !count(sim, "make", path)) return fail_counted(sim, err, "make", path);
    if (makes && known && !at.found && is_full(sim, "make", path)) return fail_full(err, "make", path);
    if (!known || (!at.found && mode == FM_OPEN_READ)) return not_found(err, "open", path);
    if (at.found && mode == FM_OPEN_CREATE_NEW) return fail_as(err, FM_CONFLICT, "open", path, "File exists");
    if (at.found && at.found->is_dir) return fail_as(err, FM_UNAVAILABLE, "open", path, "Is a directory");
    if (!at.found) {
        at.found = node_new(sim, false);
        if (!at.found || !names_put(&at.dir->seen, at.last, at.found) ||
            !note_change(sim, at.found, NULL, FM_STR(""), at.dir, at.last))
            return fm_no_memory(NULL, err);
        at.dir->modified_ms = sim->now_ms;
    } else if (mode == FM_OPEN_TRUNCATE) {
        node_truncate(at.found);
        at.found->modified_ms = sim->now_ms;
    }
    *out = at.found;
    return FM_OK;
}

static sim_fs *enter(fm_fs *fs)
{
    sim_fs *sim = (sim_fs *)fs;

    pthread_mutex_lock(&sim->mutex);
    return sim;
}

static fm_status leave(sim_fs *sim, fm_status st)
{
    pthread_mutex_unlock(&sim->mutex);
    return st;
}

static fm_status sim_open(fm_fs *fs, const char *path, fm_open_mode mode, fm_file **out, fm_error *err)
{
    size_t len = strlen(path);
    sim_file *f = calloc(1, sizeof *f + len + 1);

    if (!f) return fm_no_memory(NULL, err);
    sim_fs *sim = enter(fs);
    f->base.fs = fs;
    f->generation = sim->generation;
    f->writes = mode != FM_OPEN_READ;
    memcpy(f->path, path, len + 1);
    fm_status st = open_node(sim, path, mode, &f->node, err);
    if (st == FM_OK) *out = &f->base;
    else free(f);
    return leave(sim, st);
}

static fm_status sim_close(fm_file *file, fm_error *err)
{
    (void)err;
    free(file);
    return FM_OK;
}

static fm_status check_alive(sim_fs *sim, const sim_file *f, const char *doing, fm_error *err)
{
    if (f->generation == sim->generation) return FM_OK;
    return fail_as(err, FM_UNAVAILABLE, doing, f->path, "the process that opened it is dead (simulated)");
}

static fm_status sim_read_at(fm_file *file, int64_t offset, void *out, size_t size, size_t *got, fm_error *err)
{
    sim_file *f = (sim_file *)file;
    sim_fs *sim = enter(file->fs);
    fm_status st = check_alive(sim, f, "read", err);

    *got = 0;
    if (st == FM_OK && (uint64_t)offset < f->node->now.len) {
        size_t left = f->node->now.len - (size_t)offset;
        *got = left < size ? left : size;
        memcpy(out, f->node->now.ptr + offset, *got);
    }
    return leave(sim, st);
}

/* As on a real disk, a write that fails may have written some of it. */
static fm_status write_node(sim_fs *sim, sim_file *f, fm_str bytes, fm_error *err)
{
    if (!f->writes) return fail_as(err, FM_UNAVAILABLE, "write", f->path, "Bad file descriptor");
    bool works = count(sim, "write", f->path), full = false;
    size_t len = works ? bytes.len : sim->operations - 1 == sim->fail_at ? bytes.len / 2 : 0;
    if (works && is_full(sim, "write", f->path)) {
        len = sim->operations - 1 == sim->full_at ? bytes.len / 2 : 0;
        full = true;
    }
    if (sim->free_bytes >= 0 && (uint64_t)sim->free_bytes < len) {
        len = (size_t)sim->free_bytes;
        full = true;
    }
    fm_strbuf_add(&f->node->now, (fm_str){bytes.ptr, len});
    if (!fm_strbuf_ok(&f->node->now)) return fm_no_memory(NULL, err);
    if (sim->free_bytes >= 0) sim->free_bytes -= (int64_t)len;
    f->node->modified_ms = sim->now_ms;
    if (!works) return fail_counted(sim, err, "write", f->path);
    if (full) return fail_full(err, "write", f->path);
    return FM_OK;
}

static fm_status sim_write(fm_file *file, const void *bytes, size_t size, fm_error *err)
{
    sim_file *f = (sim_file *)file;
    sim_fs *sim = enter(file->fs);
    fm_status st = check_alive(sim, f, "write", err);

    if (st == FM_OK) st = write_node(sim, f, (fm_str){bytes, size}, err);
    return leave(sim, st);
}

static fm_status sim_sync(fm_file *file, fm_error *err)
{
    sim_file *f = (sim_file *)file;
    sim_fs *sim = enter(file->fs);
    fm_status st = check_alive(sim, f, "sync", err);

    if (st == FM_OK && !count(sim, "sync", f->path)) st = fail_counted(sim, err, "sync", f->path);
    if (st == FM_OK) node_sync(f->node);
    return leave(sim, st);
}

static fm_file_stat stat_of(const node *n)
{
    return (fm_file_stat){.size = (int64_t)n->now.len, .modified_ms = n->modified_ms, .is_dir = n->is_dir};
}

static fm_status sim_file_stat(fm_file *file, fm_file_stat *out, fm_error *err)
{
    sim_file *f = (sim_file *)file;
    sim_fs *sim = enter(file->fs);
    fm_status st = check_alive(sim, f, "look at", err);

    if (st == FM_OK) *out = stat_of(f->node);
    return leave(sim, st);
}

/* ---- names ---- */

static fm_status sim_stat(fm_fs *fs, const char *path, bool follow, fm_file_stat *out, fm_error *err)
{
    sim_fs *sim = enter(fs);
    place at;

    if (!walk(sim, path, &at) || !at.found) return leave(sim, not_found(err, "look at", path));
    *out = stat_of(at.found);
    return leave(sim, FM_OK);
}

static fm_status list_node(const node *dir, fm_fs_skip skip, void *skip_ctx, fm_arena *arena, fm_dir_entry **out, size_t *n,
                           fm_error *err)
{
    fm_dir_entry *entries = fm_arena_array(arena, fm_dir_entry, dir->seen.n);
    size_t kept = 0;

    if (!entries) return fm_no_memory(arena, err);
    for (size_t i = 0; i < dir->seen.n; i++) {
        const char *text = dir->seen.items[i].text;
        if (skip && !dir->seen.items[i].to->is_dir && skip(skip_ctx, text)) continue;
        entries[kept].name = fm_arena_str(arena, fm_str_c(text));
        entries[kept].stat = stat_of(dir->seen.items[i].to);
        if (!entries[kept++].name.ptr) return fm_no_memory(arena, err);
    }
    *out = entries;
    *n = kept;
    return FM_OK;
}

static fm_status sim_list(fm_fs *fs, const char *path, bool follow, fm_fs_skip skip, void *skip_ctx, fm_arena *arena,
                          fm_dir_entry **out, size_t *n, fm_error *err)
{
    sim_fs *sim = enter(fs);
    place at;

    if (!walk(sim, path, &at) || !at.found || !at.found->is_dir) return leave(sim, not_found(err, "list", path));
    return leave(sim, list_node(at.found, skip, skip_ctx, arena, out, n, err));
}

static fm_status make_dir(sim_fs *sim, const char *path, fm_error *err)
{
    place at;

    if (!count(sim, "make the folder", path)) return fail_counted(sim, err, "make the folder", path);
    if (!walk(sim, path, &at)) return not_found(err, "make the folder", path);
    if (at.found) return FM_OK;
    if (is_full(sim, "make the folder", path)) return fail_full(err, "make the folder", path);
    node *made = node_new(sim, true);
    if (!made || !names_put(&at.dir->seen, at.last, made) ||
        !note_change(sim, made, NULL, FM_STR(""), at.dir, at.last))
        return fm_no_memory(NULL, err);
    at.dir->modified_ms = sim->now_ms;
    return FM_OK;
}

static fm_status sim_mkdir(fm_fs *fs, const char *path, fm_error *err)
{
    sim_fs *sim = enter(fs);

    return leave(sim, make_dir(sim, path, err));
}

static bool is_below(const node *dir, const node *top)
{
    if (dir == top) return true;
    for (size_t i = 0; top->is_dir && i < top->seen.n; i++)
        if (is_below(dir, top->seen.items[i].to)) return true;
    return false;
}

static fm_status rename_node(sim_fs *sim, const char *from, const char *to, bool replace, fm_error *err)
{
    place a, b;

    if (!count(sim, "rename a file to", to)) return fail_counted(sim, err, "rename a file to", to);
    if (!walk(sim, from, &a) || !a.found) return not_found(err, "rename", from);
    if (!walk(sim, to, &b)) return not_found(err, "rename a file to", to);
    if (!a.dir || !b.dir) return fail_as(err, FM_UNAVAILABLE, "rename a file to", to, "Device or resource busy");
    if (b.found && !replace) return fail_as(err, FM_CONFLICT, "rename a file to", to, "File exists");
    if (b.found == a.found) return FM_OK;
    if (b.found && b.found->is_dir != a.found->is_dir)
        return fail_as(err, FM_UNAVAILABLE, "rename a file to", to, a.found->is_dir ? "Not a directory" : "Is a directory");
    if (b.found && b.found->seen.n) return fail_as(err, FM_UNAVAILABLE, "rename a file to", to, "Directory not empty");
    if (a.found->is_dir && is_below(b.dir, a.found))
        return fail_as(err, FM_UNAVAILABLE, "rename a file to", to, "Invalid argument");
    if (!note_change(sim, a.found, a.dir, a.last, b.dir, b.last) || !names_put(&b.dir->seen, b.last, a.found))
        return fm_no_memory(NULL, err);
    names_remove(&a.dir->seen, a.last);
    a.dir->modified_ms = b.dir->modified_ms = sim->now_ms;
    return FM_OK;
}

static fm_status sim_rename(fm_fs *fs, const char *from, const char *to, bool replace, fm_error *err)
{
    sim_fs *sim = enter(fs);

    return leave(sim, rename_node(sim, from, to, replace, err));
}

static fm_status remove_node(sim_fs *sim, const char *path, bool is_dir, fm_error *err)
{
    place at;

    if (!count(sim, "remove", path)) return fail_counted(sim, err, "remove", path);
    if (!walk(sim, path, &at) || !at.found) return not_found(err, "remove", path);
    if (!at.dir) return fail_as(err, FM_UNAVAILABLE, "remove", path, "Device or resource busy");
    if (at.found->is_dir != is_dir)
        return fail_as(err, FM_UNAVAILABLE, "remove", path, is_dir ? "Not a directory" : "Is a directory");
    if (at.found->seen.n) return fail_as(err, FM_UNAVAILABLE, "remove", path, "Directory not empty");
    if (!note_change(sim, at.found, at.dir, at.last, NULL, FM_STR(""))) return fm_no_memory(NULL, err);
    names_remove(&at.dir->seen, at.last);
    at.dir->modified_ms = sim->now_ms;
    return FM_OK;
}

static fm_status sim_remove(fm_fs *fs, const char *path, bool is_dir, fm_error *err)
{
    sim_fs *sim = enter(fs);

    return leave(sim, remove_node(sim, path, is_dir, err));
}

static fm_status sync_dir(sim_fs *sim, const char *path, fm_error *err)
{
    place at;

    if (!count(sim, "sync the folder", path)) return fail_counted(sim, err, "sync the folder", path);
    if (!walk(sim, path, &at) || !at.found || !at.found->is_dir) return not_found(err, "open the folder", path);
    return keep_changes_of(sim, at.found) ? FM_OK : fm_no_memory(NULL, err);
}

static fm_status sim_sync_dir(fm_fs *fs, const char *path, fm_error *err)
{
    sim_fs *sim = enter(fs);

    return leave(sim, sync_dir(sim, path, err));
}

/* ---- locks ---- */

static fm_status take_lock(sim_fs *sim, const char *path, sim_lock *lock, fm_error *err)
{
    FM_TRY(open_node(sim, path, FM_OPEN_APPEND, &lock->node, err));
    for (const sim_lock *other = sim->locks; other; other = other->next)
        if (other->node == lock->node && other->generation == sim->generation)
            return fm_fail(err, FM_CONFLICT, "FLOODMARK_LOCKED", "'%s' is locked by another process.", path);
    lock->base.fs = &sim->base;
    lock->generation = sim->generation;
    lock->next = sim->locks;
    sim->locks = lock;
    return FM_OK;
}

static fm_status sim_lock_take(fm_fs *fs, const char *path, fm_fs_lock **out, fm_error *err)
{
    sim_lock *lock = calloc(1, sizeof *lock);

    if (!lock) return fm_no_memory(NULL, err);
    sim_fs *sim = enter(fs);
    fm_status st = take_lock(sim, path, lock, err);
    if (st == FM_OK) *out = &lock->base;
    else free(lock);
    return leave(sim, st);
}

static void sim_unlock(fm_fs_lock *base)
{
    sim_fs *sim = enter(base->fs);

    for (sim_lock **link = &sim->locks; *link; link = &(*link)->next) {
        if (*link != (sim_lock *)base) continue;
        *link = (*link)->next;
        break;
    }
    leave(sim, FM_OK);
    free(base);
}

/* ---- restarts ---- */

static uint64_t next_random(sim_fs *sim)
{
    sim->tear_state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t x = sim->tear_state;
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Some of what was not synced reached the disk: any prefix, with zeros where a block was not written. */
static void tear_file(sim_fs *sim, node *n)
{
    if (n->truncated && next_random(sim) % 2) return; /* still what it was before */
    size_t kept = n->truncated ? 0 : n->kept_len, more = n->now.len - kept;
    if (n->truncated) node_sync(n);
    size_t reached = more ? (size_t)(next_random(sim) % (more + 1)) : 0;
    size_t written = reached ? (size_t)(next_random(sim) % (reached + 1)) : 0;
    if (next_random(sim) % 2) written = reached;
    if (reached > written) memset(n->now.ptr + kept + written, 0, reached - written);
    n->kept_len = kept + reached;
}

/* Of the unsynced changes of each node, the first few reached the disk. */
static void tear(sim_fs *sim)
{
    for (change *c = sim->changes; c; c = c->next) {
        if (!c->what->behind && next_random(sim) % 2) fm_assert(apply(c));
        else c->what->behind = true;
    }
    for (node *n = sim->made; n; n = n->next_made) {
        n->behind = false;
        if (!n->is_dir) tear_file(sim, n);
    }
}

/* Makes now of kept. */
static void cut_power(sim_fs *sim)
{
    for (node *n = sim->made; n; n = n->next_made) {
        if (n->is_dir) {
            fm_assert(names_copy(&n->seen, &n->kept));
        } else if (n->truncated) {
            fm_strbuf_fini(&n->now);
            n->now = n->before;
            n->before = (fm_strbuf){0};
            n->truncated = false;
            n->kept_len = n->now.len;
        } else {
            n->now.len = n->kept_len;
        }
    }
    while (sim->changes) change_free(take_change(sim, sim->changes));
}

static void begin_process(sim_fs *sim, int64_t fail_at)
{
    sim->generation++;
    sim->operations = 0;
    sim->fail_at = fail_at;
    sim->full_at = sim->fail_once_at = -1;
    sim->failed[0] = 0;
}

void fm_fs_sim_restart(fm_fs *fs, int64_t fail_at)
{
    sim_fs *sim = enter(fs);

    if (sim->tears) tear(sim);
    cut_power(sim);
    begin_process(sim, fail_at);
    leave(sim, FM_OK);
}

void fm_fs_sim_kill(fm_fs *fs, int64_t fail_at)
{
    sim_fs *sim = enter(fs);

    begin_process(sim, fail_at);
    leave(sim, FM_OK);
}

void fm_fs_sim_tear(fm_fs *fs, uint64_t seed)
{
    sim_fs *sim = enter(fs);

    sim->tears = seed != 0;
    sim->tear_state = seed;
    leave(sim, FM_OK);
}

void fm_fs_sim_set_free(fm_fs *fs, int64_t bytes)
{
    sim_fs *sim = enter(fs);

    sim->free_bytes = bytes;
    leave(sim, FM_OK);
}

void fm_fs_sim_fill(fm_fs *fs, int64_t at)
{
    sim_fs *sim = enter(fs);

    sim->full_at = at;
    leave(sim, FM_OK);
}

void fm_fs_sim_fail_once(fm_fs *fs, int64_t at)
{
    sim_fs *sim = enter(fs);

    sim->fail_once_at = at;
    leave(sim, FM_OK);
}

void fm_fs_sim_set_time(fm_fs *fs, int64_t now_ms)
{
    sim_fs *sim = enter(fs);

    sim->now_ms = now_ms;
    leave(sim, FM_OK);
}

int64_t fm_fs_sim_operations(const fm_fs *fs)
{
    sim_fs *sim = enter((fm_fs *)(uintptr_t)fs);
    int64_t operations = sim->operations;

    leave(sim, FM_OK);
    return operations;
}

const char *fm_fs_sim_failed(const fm_fs *fs) { return ((const sim_fs *)fs)->failed; }

static void sim_free(fm_fs *fs)
{
    sim_fs *sim = (sim_fs *)fs;

    while (sim->changes) change_free(take_change(sim, sim->changes));
    for (node *n = sim->made, *next; n; n = next) {
        next = n->next_made;
        node_free(n);
    }
    pthread_mutex_destroy(&sim->mutex);
    free(sim);
}

fm_fs *fm_fs_sim_new(int64_t fail_at)
{
    static const fm_fs_ops ops = {
        .open = sim_open, .close = sim_close, .read_at = sim_read_at, .write = sim_write, .sync = sim_sync,
        .file_stat = sim_file_stat, .stat = sim_stat, .list = sim_list, .mkdir = sim_mkdir, .rename = sim_rename,
        .remove = sim_remove, .sync_dir = sim_sync_dir, .lock = sim_lock_take, .unlock = sim_unlock,
        .free = sim_free,
    };
    sim_fs *sim = calloc(1, sizeof *sim);

    if (!sim) return NULL;
    pthread_mutex_init(&sim->mutex, NULL);
    sim->base.ops = &ops;
    sim->fail_at = fail_at;
    sim->free_bytes = -1;
    sim->full_at = sim->fail_once_at = -1;
    sim->now_ms = INT64_C(1767225600000); /* 2026-01-01 */
    sim->root = node_new(sim, true);
    if (!sim->root) {
        sim_free(&sim->base);
        return NULL;
    }
    return &sim->base;
}
