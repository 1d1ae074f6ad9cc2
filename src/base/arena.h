/* base/arena.h: memory that dies together.
 *
 * An arena hands out memory by moving a pointer through large blocks and gives all of it back at
 * once. It has a budget, is passed and never ambient, and belongs to one thread at a time. Under
 * ASan, memory that reset gave back is poisoned.
 *
 * Lifetimes used here: query (plan, operators), batch (one column batch and what is made of it),
 * scratch (one call). */
#ifndef FM_BASE_ARENA_H
#define FM_BASE_ARENA_H

#include "base/status.h"
#include "base/str.h"

typedef struct fm_arena fm_arena;

/* budget_size  bytes it may hold at most; 0: FM_ARENA_BUDGET_DEFAULT. NULL when malloc fails. */
fm_arena *fm_arena_new(size_t budget_size);
void fm_arena_free(fm_arena *arena); /* accepts NULL */

/* Gives everything back, keeps the largest block for the next round. */
void fm_arena_reset(fm_arena *arena);

/* align a power of two, <= 64. Memory is NOT zeroed. NULL when the budget or malloc is exhausted; the
 * arena then remembers it, and fm_no_memory tells the user. size 0 gives a valid unique pointer. */
void *fm_arena_alloc(fm_arena *arena, size_t size, size_t align);
void *fm_arena_zalloc(fm_arena *arena, size_t size, size_t align); /* zeroed */

/* [n] of T, zeroed; NULL on overflow of the product, too. */
#define fm_arena_array(arena, T, n) \
    ((T *)fm_arena_array_bytes((arena), sizeof(T), _Alignof(T), (size_t)(n)))
#define fm_arena_one(arena, T) fm_arena_array(arena, T, 1)
void *fm_arena_array_bytes(fm_arena *arena, size_t size, size_t align, size_t n);

/* Grows an arena array of n elements, with room for cap, to hold one more; false when memory is out or cap would not fit.
 * Old copies stay in the arena: twice the memory at most. */
#define FM_GROW(arena, ptr, n, cap)                                                                \
    ((n) < (cap) || fm_arena_grow((arena), (void **)&(ptr), sizeof *(ptr), (n), &(cap)))
bool fm_arena_grow(fm_arena *arena, void **ptr, size_t size, int32_t n, int32_t *cap);

/* Calls done(what) before the arena gives its memory back, by reset or free, the last asked for first: for what a
 * library allocates by itself and a tree that lives in the arena holds. done must not allocate here. False: out of
 * memory, and done is not called. */
bool fm_arena_defer(fm_arena *arena, void (*done)(void *what), void *what);

/* A buffer for values of a vector: 64-byte aligned, padded to a multiple of 64 with at least 64 bytes
 * beyond `size` that may be read and hold zero. The first `size` bytes are zeroed iff `zero`. */
void *fm_arena_buffer(fm_arena *arena, size_t size, bool zero);

/* A NUL-terminated copy; {NULL, 0} when memory is out. */
fm_str fm_arena_str(fm_arena *arena, fm_str text);
fm_str fm_arena_printf(fm_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

size_t fm_arena_used(const fm_arena *arena); /* bytes handed out since the last reset */
size_t fm_arena_held(const fm_arena *arena); /* bytes held from malloc */

/* FM_LIMIT, with the arena's budget in the message. */
fm_status fm_no_memory(fm_arena *arena, fm_error *err);

#endif
