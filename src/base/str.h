/* base/str.h: text as pointer and length, and a growing buffer to write text into. */
#ifndef FM_BASE_STR_H
#define FM_BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes, usually UTF-8; not NUL-terminated unless the maker says so. */
typedef struct fm_str {
    const char *ptr;
    size_t len;
} fm_str;

#define FM_STR(literal) ((fm_str){("" literal), sizeof(literal) - 1})
/* For printf("%.*s", FM_STR_ARG(s)). */
#define FM_STR_ARG(s) (int)((s).len > 4096 ? 4096 : (s).len), ((s).ptr ? (s).ptr : "")

static inline fm_str fm_str_c(const char *text)
{
    return (fm_str){text, text ? strlen(text) : 0};
}

static inline bool fm_str_eq(fm_str a, fm_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool fm_str_eq_ci(fm_str a, fm_str b);      /* ASCII letters fold */
int fm_str_cmp(fm_str a, fm_str b);         /* unsigned bytes; <0, 0, >0 */
bool fm_str_starts(fm_str text, fm_str prefix);
bool fm_str_ends(fm_str text, fm_str suffix);
fm_str fm_str_trim(fm_str text);            /* ASCII blanks and control characters off both ends */
ptrdiff_t fm_str_find(fm_str text, fm_str part); /* byte index of the first, or -1 */
/* Whole text as a decimal integer with optional sign; false when it is none or does not fit. */
bool fm_str_to_i64(fm_str text, int64_t *out);

/* The name among names[n] that is closest to `text` (edit distance, case folded), or NULL when none
 * is near enough to be worth suggesting. */
const char *fm_str_nearest(fm_str text, const char *const *names, int n);
/* The same as the end of a message: " Did you mean 'x'?", or an empty text. Returns out. */
enum { FM_DID_YOU_MEAN_SIZE = 96 };
const char *fm_str_did_you_mean(fm_str text, const char *const *names, int n, char out[FM_DID_YOU_MEAN_SIZE]);
/* The same; where nothing is near, " There are a, b and c.". */
enum { FM_ONE_OF_SIZE = 512 };
const char *fm_str_one_of(fm_str text, const char *const *names, int n, char out[FM_ONE_OF_SIZE]);

/* Bytes being written, on the heap. Appending never fails at the call: a failed allocation is kept
 * and asked for once, with fm_strbuf_ok. ptr is always NUL-terminated once anything was appended. */
typedef struct fm_strbuf {
    char *ptr;
    size_t len, cap;
    bool failed;
} fm_strbuf;

void fm_strbuf_fini(fm_strbuf *buf);
bool fm_strbuf_reserve(fm_strbuf *buf, size_t more); /* room for `more` bytes beyond len */
void fm_strbuf_add(fm_strbuf *buf, fm_str text);
void fm_strbuf_add_c(fm_strbuf *buf, const char *text);
void fm_strbuf_add_char(fm_strbuf *buf, char c);
void fm_strbuf_printf(fm_strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline bool fm_strbuf_ok(const fm_strbuf *buf) { return !buf->failed; }
static inline fm_str fm_strbuf_str(const fm_strbuf *buf) { return (fm_str){buf->ptr, buf->len}; }
static inline void fm_strbuf_clear(fm_strbuf *buf) { buf->len = 0; }

/* JSON text of a string, quotes included, escapes as Jackson writes them; a byte that is not UTF-8 becomes U+FFFD. */
void fm_strbuf_add_json(fm_strbuf *buf, fm_str text);

#endif
