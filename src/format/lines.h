/* format/lines.h: cuts text into lines: at a separator, or at \n, \r\n and \r when there is none
 * given. */
#ifndef FM_FORMAT_LINES_H
#define FM_FORMAT_LINES_H

#include "base/str.h"

typedef struct fm_lines {
    const char *at, *end;
    fm_str sep; /* empty: \n, \r\n or \r */
} fm_lines;

/* The next line without its end; false when there is none. What follows the last separator is a
 * line unless empty. */
static inline bool fm_lines_next(fm_lines *l, fm_str *line)
{
    const char *from = l->at, *stop, *cr;
    size_t left = (size_t)(l->end - from);

    if (left == 0) return false;
    if (l->sep.len > 0) {
        stop = (const char *)memmem(from, left, l->sep.ptr, l->sep.len);
        l->at = stop ? stop + l->sep.len : l->end;
        *line = (fm_str){from, stop ? (size_t)(stop - from) : left};
        return true;
    }
    stop = (const char *)memchr(from, '\n', left);
    l->at = stop ? stop + 1 : l->end;
    if (!stop) stop = l->end;
    cr = (const char *)memchr(from, '\r', (size_t)(stop - from));
    if (cr) {
        if (cr + 1 < stop || stop == l->end) l->at = cr + 1; /* else \r\n, which is one end */
        stop = cr;
    }
    *line = (fm_str){from, (size_t)(stop - from)};
    return true;
}

#endif
