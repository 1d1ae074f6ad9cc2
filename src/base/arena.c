/* base/arena.c: blocks from malloc, handed out front to back.
 *
 *   arena -> block (current) -> block (older) -> ...
 *            | header | used ........ | free ....... |
 *
 * 1. Blocks double from 16 KiB to 4 MiB. A request over a quarter of the next block gets a block of
 *    its own, put behind the current one, so that the rest of the current one is not lost.
 * 2. The data of a block starts at a multiple of 64, so aligning an offset aligns the address.
 * 3. reset keeps the largest block, and remembers what the round needed: when that was more, the next
 *    block is made as large, so that a steady round soon lives in one block and never asks malloc.
 * 4. Under ASan, bytes not handed out are poisoned, and a gap is left behind each allocation. */
#include "base/arena.h"

#include "base/bits.h"
#include "base/checked.h"
#include "base/limits.h"

#include <stdio.h>
#include <assert.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#endif

#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
static void poison(const void *at, size_t size) { __asan_poison_memory_region(at, size); }
static void unpoison(const void *at, size_t size) { __asan_unpoison_memory_region(at, size); }
#define GAP_SIZE ((size_t)16)
#else
static void poison(const void *at, size_t size) { (void)at, (void)size; }
static void unpoison(const void *at, size_t size) { (void)at, (void)size; }
#define GAP_SIZE ((size_t)0)
#endif

enum {
    ALIGN_MAX = 64,
    BLOCK_SIZE_FIRST = 16 << 10,       /* many arenas stay small */
    BLOCK_SIZE_DOUBLED_MAX = 4 << 20,  /* beyond, malloc maps pages of its own: no gain in doubling */
    BLOCK_SIZE_LEARNED_MAX = 64 << 20, /* a block kept for the next round is not larger than this */
    HEADER_SIZE = 64
};

typedef struct block {
    struct block *next;
    size_t cap, used; /* bytes behind the header */
} block;

static_assert(sizeof(block) <= HEADER_SIZE, "the header fits before the first aligned byte");

typedef struct deferred {
    struct deferred *next;
    void (*done)(void *what);
    void *what;
} deferred;

struct fm_arena {
    block *blocks; /* the first is current */
    deferred *deferred; /* in memory of the arena itself */
    size_t budget_size, held_size, used_size;
    size_t next_size;    /* of the next shared block */
    size_t refused_size; /* the request that did not fit; 0: none yet */
};

static char *block_data(block *b) { return (char *)b + HEADER_SIZE; }

static void block_free(fm_arena *arena, block *b)
{
    unpoison(block_data(b), b->cap);
    arena->held_size -= b->cap + HEADER_SIZE;
    free(b);
}

/* NULL when budget or malloc is exhausted. cap is rounded up to a multiple of 64. */
static block *block_new(fm_arena *arena, size_t cap)
{
    size_t whole;

    if (!fm_add_size(cap, HEADER_SIZE + ALIGN_MAX, &whole)) return NULL;
    cap = fm_align_up(cap, ALIGN_MAX);
    whole = cap + HEADER_SIZE;
    if (whole > arena->budget_size - arena->held_size) return NULL;
    block *b = aligned_alloc(ALIGN_MAX, whole);
    if (!b) return NULL;
    *b = (block){.cap = cap};
    arena->held_size += whole;
    poison(block_data(b), cap);
    return b;
}

fm_arena *fm_arena_new(size_t budget_size)
{
    fm_arena *arena = calloc(1, sizeof *arena);

    if (!arena) return NULL;
    arena->budget_size = budget_size ? budget_size : FM_ARENA_BUDGET_DEFAULT;
    arena->next_size = BLOCK_SIZE_FIRST;
    return arena;
}

static void run_deferred(fm_arena *arena)
{
    for (deferred *d = arena->deferred; d; d = d->next) d->done(d->what);
    arena->deferred = NULL;
}

bool fm_arena_defer(fm_arena *arena, void (*done)(void *what), void *what)
{
    deferred *d = fm_arena_one(arena, deferred);

    if (!d) return false;
    *d = (deferred){arena->deferred, done, what};
    arena->deferred = d;
    return true;
}

void fm_arena_free(fm_arena *arena)
{
    if (!arena) return;
    run_deferred(arena);
    for (block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        block_free(arena, b);
    }
    free(arena);
}

void fm_arena_reset(fm_arena *arena)
{
    block *keep = NULL;
    size_t round_size = 0;

    run_deferred(arena);
    for (block *b = arena->blocks; b; b = b->next) {
        round_size += b->used;
        if (!keep || b->cap > keep->cap) keep = b;
    }
    for (block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        if (b != keep) block_free(arena, b);
    }
    arena->blocks = keep;
    arena->used_size = 0;
    arena->refused_size = 0;
    if (!keep) return;
    keep->next = NULL;
    keep->used = 0;
    poison(block_data(keep), keep->cap);
    if (round_size > keep->cap && round_size > arena->next_size) {
        size_t rounded = round_size + round_size / 8;
        arena->next_size = rounded < BLOCK_SIZE_LEARNED_MAX ? rounded : BLOCK_SIZE_LEARNED_MAX;
    }
}

/* Takes size bytes from b, or NULL when they do not fit. */
static void *block_take(block *b, size_t size, size_t align)
{
    size_t at = fm_align_up(b->used, align);

    if (at > b->cap || size > b->cap - at) return NULL;
    size_t left = b->cap - at - size;
    b->used = at + size + (left > GAP_SIZE ? GAP_SIZE : left);
    unpoison(block_data(b) + at, size);
    return block_data(b) + at;
}

static void *take_from_new_block(fm_arena *arena, size_t size, size_t align)
{
    bool alone = size > arena->next_size / 4;
    block *b = block_new(arena, alone ? size : arena->next_size);

    if (!b && !alone) b = block_new(arena, size), alone = true; /* near the budget: just enough */
    if (!b) {
        arena->refused_size = size;
        return NULL;
    }
    if (alone && arena->blocks) {
        b->next = arena->blocks->next;
        arena->blocks->next = b;
    } else {
        b->next = arena->blocks;
        arena->blocks = b;
    }
    if (!alone && arena->next_size < BLOCK_SIZE_DOUBLED_MAX) arena->next_size *= 2;
    return block_take(b, size, align);
}

void *fm_arena_alloc(fm_arena *arena, size_t size, size_t align)
{
    void *at = NULL;

    fm_assert(align > 0 && align <= ALIGN_MAX && (align & (align - 1)) == 0);
    if (size == 0) size = 1;
    if (arena->blocks) at = block_take(arena->blocks, size, align);
    if (!at) at = take_from_new_block(arena, size, align);
    if (at) arena->used_size += size;
    return at;
}

void *fm_arena_zalloc(fm_arena *arena, size_t size, size_t align)
{
    void *at = fm_arena_alloc(arena, size, align);

    if (at) memset(at, 0, size ? size : 1);
    return at;
}

void *fm_arena_array_bytes(fm_arena *arena, size_t size, size_t align, size_t n)
{
    size_t bytes;

    if (!fm_mul_size(size, n, &bytes)) {
        arena->refused_size = SIZE_MAX;
        return NULL;
    }
    return fm_arena_zalloc(arena, bytes, align);
}

bool fm_arena_grow(fm_arena *arena, void **ptr, size_t size, int32_t n, int32_t *cap)
{
    if (*cap > INT32_MAX / 2) return false;
    int32_t room = *cap ? *cap * 2 : 8;
    void *grown = fm_arena_array_bytes(arena, size, 16, (size_t)room);

    if (!grown) return false;
    if (n) memcpy(grown, *ptr, size * (size_t)n);
    *ptr = grown;
    *cap = room;
    return true;
}

void *fm_arena_buffer(fm_arena *arena, size_t size, bool zero)
{
    size_t padded;

    if (!fm_add_size(size, 2 * ALIGN_MAX, &padded)) {
        arena->refused_size = size;
        return NULL;
    }
    padded = fm_align_up(size, ALIGN_MAX) + ALIGN_MAX;
    char *at = fm_arena_alloc(arena, padded, ALIGN_MAX);
    if (!at) return NULL;
    size_t from = zero ? 0 : size;
    memset(at + from, 0, padded - from);
    return at;
}

fm_str fm_arena_str(fm_arena *arena, fm_str text)
{
    size_t whole;
    char *at = fm_add_size(text.len, 1, &whole) ? fm_arena_alloc(arena, whole, 1) : NULL;

    if (!at) return (fm_str){NULL, 0};
    if (text.len) memcpy(at, text.ptr, text.len);
    at[text.len] = 0;
    return (fm_str){at, text.len};
}

fm_str fm_arena_printf(fm_arena *arena, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    fm_assert(len >= 0);
    char *at = fm_arena_alloc(arena, (size_t)len + 1, 1);
    if (at) vsnprintf(at, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return at ? (fm_str){at, (size_t)len} : (fm_str){NULL, 0};
}

size_t fm_arena_used(const fm_arena *arena) { return arena->used_size; }
size_t fm_arena_held(const fm_arena *arena) { return arena->held_size; }

fm_status fm_no_memory(fm_arena *arena, fm_error *err)
{
    if (!arena) return fm_fail(err, FM_LIMIT, "FLOODMARK_OUT_OF_MEMORY", "The machine has no memory left.");
    return fm_fail(err, FM_LIMIT, "FLOODMARK_MEMORY_LIMIT",
                   "No memory left: %zu MiB are held, the limit is %zu MiB, and %zu bytes more were asked for. Raise "
                   "floodmark.memoryBudget, or read less at once (maxFilesPerTrigger, maxBytesPerTrigger).",
                   arena->held_size >> 20, arena->budget_size >> 20, arena->refused_size);
}
