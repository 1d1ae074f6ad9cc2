/* os/pages.c: memory by mmap. */
#include "os/pages.h"

#include <stdint.h>
#include <sys/mman.h>

enum { PAGE_SIZE = 64 << 10, /* a multiple of what any kernel uses */ HUGE_PAGE_SIZE = 2 << 20 };

static size_t rounded(size_t size) { return (size + PAGE_SIZE - 1) & ~(size_t)(PAGE_SIZE - 1); }

void *fm_pages_alloc(size_t size)
{
    if (size > SIZE_MAX - 2 * (size_t)HUGE_PAGE_SIZE) return NULL;
    size = rounded(size);
    /* The kernel makes huge pages only of aligned ones, so a large piece is cut out of a larger one. */
    size_t slack = size >= HUGE_PAGE_SIZE ? HUGE_PAGE_SIZE : 0;
    char *p = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) return NULL;
    if (!slack) return p;
    size_t before = (size_t)(-(uintptr_t)p & (HUGE_PAGE_SIZE - 1)), after = slack - before;
    if (before) munmap(p, before);
    if (after) munmap(p + before + size, after);
    madvise(p + before, size, MADV_HUGEPAGE);
    return p + before;
}

bool fm_pages_lend(void *p, size_t size)
{
#ifdef MADV_FREE
    return madvise(p, rounded(size), MADV_FREE) == 0;
#else
    return false;
#endif
}

void fm_pages_free(void *p, size_t size)
{
    if (p) munmap(p, rounded(size));
}
