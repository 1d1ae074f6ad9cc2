/* source/decompress.h: the bytes of a file, unpacked if its name ends in .gz, .deflate or .zst, and made UTF-8 on demand. */
#ifndef FM_SOURCE_DECOMPRESS_H
#define FM_SOURCE_DECOMPRESS_H

#include "base/str.h"
#include "os/fs.h"

typedef struct fm_byte_stream fm_byte_stream;

/* Whether a file of this name is packed. */
bool fm_is_packed(fm_str name);

/* Opens a file at its beginning. FM_NOT_FOUND; FM_UNSUPPORTED: packed in a way that is not read
 * (.bz2, .lz4, .xz, .snappy); FM_UNAVAILABLE. */
fm_status fm_byte_stream_open(fm_fs *fs, const char *path, fm_byte_stream **out, fm_error *err);
/* Up to `size` bytes, the next ones; *got < size only at the end. FM_CORRUPT: a damaged file,
 * naming the path and the byte of the packed file. */
fm_status fm_byte_stream_read(fm_byte_stream *s, void *out, size_t size, size_t *got,
                              fm_error *err);
/* Right after opening: what is read is UTF-8, made of text in `encoding`. An empty one: by the zero bytes at the start of a plain
 * file, UTF-16, UTF-32 or UTF-8 (as JSON says of itself). */
fm_status fm_byte_stream_decode(fm_byte_stream *s, fm_str encoding, fm_error *err);
/* Plain files in UTF-8 only: the next byte read is the one at `offset`. */
void fm_byte_stream_seek(fm_byte_stream *s, int64_t offset);
void fm_byte_stream_close(fm_byte_stream *s); /* accepts NULL */

#endif
