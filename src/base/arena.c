/* base/arena.c: blocks that double, a pointer that moves. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/limits.h"

#if defined(__SANITIZE_ADDRESS__)
#define FM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FM_ASAN 1
#endif
#endif
#ifdef FM_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum {
    BLOCK_SIZE_FIRST = 16 << 10, /* bytes: many arenas stay small */
    BLOCK_SIZE_MAX = 4 << 20,    /* blocks double up to this; larger requests get a block of their own */
    BLOCK_ALIGN = 64
};

typedef struct block {
    struct block *next;
    size_t size; /* usable bytes behind the header */
    size_t used;
    char pad[BLOCK_ALIGN - 3 * sizeof(size_t)];
} block;
_Static_assert(sizeof(block) == BLOCK_ALIGN, "the memory of a block begins aligned");

struct fm_arena {
    block *head; /* the one being filled */
    size_t budget, held, used;
    bool exhausted;
};

fm_arena *fm_arena_new(size_t budget_size)
{
    fm_arena *a = calloc(1, sizeof *a);

    if (a) a->budget = budget_size ? budget_size : FM_ARENA_BUDGET_DEFAULT;
    return a;
}

static void free_blocks(block *b)
{
    while (b) {
        block *next = b->next;
        ASAN_UNPOISON_MEMORY_REGION(b + 1, b->size);
        free(b);
        b = next;
    }
}

void fm_arena_free(fm_arena *a)
{
    if (!a) return;
    free_blocks(a->head);
    free(a);
}

void fm_arena_reset(fm_arena *a)
{
    block *keep = NULL;

    for (block *b = a->head; b; b = b->next) {
        if (!keep || b->size > keep->size) keep = b;
    }
    for (block **link = &a->head; *link;) {
        block *b = *link;
        if (b == keep) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        a->held -= b->size + sizeof *b;
        ASAN_UNPOISON_MEMORY_REGION(b + 1, b->size);
        free(b);
    }
    if (keep) {
        keep->used = 0;
        ASAN_POISON_MEMORY_REGION(keep + 1, keep->size);
    }
    a->used = 0;
    a->exhausted = false;
}

/* A new block with room for `size` bytes. One made for a single large request goes behind the block being filled,
 * so that the rest of that one is not wasted. */
static block *add_block(fm_arena *a, size_t size)
{
    size_t want = a->head ? a->head->size * 2 : BLOCK_SIZE_FIRST;

    if (want > BLOCK_SIZE_MAX) want = BLOCK_SIZE_MAX;
    bool large = a->head && size > want / 2;
    if (large || want < size) want = fm_align_up(size, BLOCK_ALIGN);
    if (want > a->budget || a->held > a->budget - want) return NULL;
    block *b = aligned_alloc(BLOCK_ALIGN, sizeof(block) + fm_align_up(want, BLOCK_ALIGN));
    if (!b) return NULL;
    b->size = fm_align_up(want, BLOCK_ALIGN);
    b->used = 0;
    a->held += b->size + sizeof *b;
    ASAN_POISON_MEMORY_REGION(b + 1, b->size);
    if (large) {
        b->next = a->head->next;
        a->head->next = b;
    } else {
        b->next = a->head;
        a->head = b;
    }
    return b;
}

void *fm_arena_alloc(fm_arena *a, size_t size, size_t align)
{
    fm_assert(align && (align & (align - 1)) == 0 && align <= BLOCK_ALIGN);
    block *b = a->head;
    size_t at = b ? fm_align_up(b->used, align) : 0;

    if (size > (size_t)1 << 60) return a->exhausted = true, NULL;
    if (!b || at > b->size || size > b->size - at) {
        b = add_block(a, size ? size : 1);
        if (!b) return a->exhausted = true, NULL;
        at = 0;
    }
    char *p = (char *)(b + 1) + at;
    b->used = at + size;
    a->used += size;
    ASAN_UNPOISON_MEMORY_REGION(p, size);
    return p;
}

void *fm_arena_zalloc(fm_arena *a, size_t size, size_t align)
{
    void *p = fm_arena_alloc(a, size, align);

    return p ? memset(p, 0, size) : NULL;
}

void *fm_arena_array_bytes(fm_arena *a, size_t size, size_t align, size_t n)
{
    size_t bytes;

    if (__builtin_mul_overflow(size, n, &bytes)) return a->exhausted = true, NULL;
    return fm_arena_zalloc(a, bytes, align);
}

void *fm_arena_buffer(fm_arena *a, size_t size, bool zero)
{
    if (size > (size_t)1 << 60) return a->exhausted = true, NULL;
    size_t padded = fm_align_up(size, 64) + FM_BLOCK_PADDING;
    char *p = fm_arena_alloc(a, padded, 64);

    if (!p) return NULL;
    if (zero) return memset(p, 0, padded);
    memset(p + size, 0, padded - size);
    return p;
}

fm_str fm_arena_str(fm_arena *a, fm_str text)
{
    char *p = fm_arena_alloc(a, text.len + 1, 1);

    if (!p) return (fm_str){NULL, 0};
    if (text.len) memcpy(p, text.ptr, text.len);
    p[text.len] = 0;
    return (fm_str){p, text.len};
}

fm_str fm_arena_printf(fm_arena *a, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *p = n < 0 ? NULL : fm_arena_alloc(a, (size_t)n + 1, 1);
    if (!p) return (fm_str){NULL, 0};
    va_start(args, format);
    vsnprintf(p, (size_t)n + 1, format, args);
    va_end(args);
    return (fm_str){p, (size_t)n};
}

size_t fm_arena_used(const fm_arena *a) { return a->used; }
size_t fm_arena_held(const fm_arena *a) { return a->held; }

fm_status fm_no_memory(fm_arena *a, fm_error *err)
{
    if (!a) return fm_fail(err, FM_LIMIT, "FLOODMARK_OUT_OF_MEMORY", "The machine has no memory left.");
    return fm_fail(err, FM_LIMIT, "FLOODMARK_MEMORY_LIMIT",
                   "No memory left: %zu MiB are held and the limit is %zu MiB. Raise floodmark.memoryBudget, or "
                   "read less at once (maxFilesPerTrigger, maxBytesPerTrigger).",
                   a->held >> 20, a->budget >> 20);
}
