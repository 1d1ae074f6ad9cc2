/* format/parquet_codec.h: the ways the values of a page are packed. */
#ifndef FM_FORMAT_PARQUET_CODEC_H
#define FM_FORMAT_PARQUET_CODEC_H

#include "format/parquet_meta.h"

/* Memory that packing and unpacking keep from page to page; zero it first. Belongs to one thread. */
typedef struct fm_pq_packer {
    void *zstd_in, *zstd_out;
} fm_pq_packer;
void fm_pq_packer_fini(fm_pq_packer *p);

/* The name for messages; NULL: no codec has this number. */
const char *fm_pq_codec_name(int32_t codec);
/* Whether this build unpacks it. */
bool fm_pq_codec_known(int32_t codec);

/* Fills out[size] with what `in` packs; false when it does not unpack to exactly `size` bytes. */
bool fm_pq_unpack(fm_pq_packer *p, int32_t codec, fm_str in, void *out, size_t size);
/* Appends `in`, packed. False: no memory. level 0: the codec's default. */
bool fm_pq_pack(fm_pq_packer *p, int32_t codec, int32_t level, fm_str in, fm_strbuf *out);

#endif
