/* os/pages.h: large pieces of memory straight from the system: zeroed, page by page as they are first touched, and given
 * back whole. Pieces of 2 MiB and more ask for huge pages, which save a TLB miss for each random access. */
#ifndef FM_OS_PAGES_H
#define FM_OS_PAGES_H

#include <stdbool.h>
#include <stddef.h>

/* size > 0, bytes; rounded up to pages. NULL when there is no memory. */
void *fm_pages_alloc(size_t size);
/* What is in them is forgotten. The system may take them back when memory is short; until then it costs nothing to use them
 * again. False: this system cannot do that. size: the one that was asked for. */
bool fm_pages_lend(void *p, size_t size);
void fm_pages_free(void *p, size_t size); /* the size that was asked for; accepts NULL */

#endif
