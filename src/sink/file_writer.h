/* sink/file_writer.h: one worker's part of the file sink: rows of one micro-batch into data files. Writers share nothing
 * that changes, so they need no locks. */
#ifndef FM_SINK_FILE_WRITER_H
#define FM_SINK_FILE_WRITER_H

#include "format/format.h"
#include "sink/part_file.h"
#include "sink/sink.h"

/* What all writers of a sink are told; fixed once the sink is open. */
typedef struct fm_file_target {
    fm_fs *fs;
    fm_str dir;                 /* absolute, without a slash at its end unless it is "/" */
    const fm_format *format;
    const fm_options *options;
    const fm_zone *zone;
    fm_pack pack;
    const char *pack_extension; /* of formats that pack inside the file; else "" */
    const fm_type *data_schema; /* columns that are written: all but the partition columns */
    const int32_t *data_columns; /* [data_schema->n_fields] their places in the result */
    const int32_t *partition_columns;
    int32_t n_partition_columns;
} fm_file_target;

/* From the options and columns of a spec; format may be NULL: then it is refused. Everything lives in arena and in spec.
 * errors  FLOODMARK_FORMAT_NOT_WRITTEN, FLOODMARK_PATH_MISSING, of options, of partition columns, of types that the format has not */
fm_status fm_file_target_init(const fm_sink_env *env, const fm_sink_spec *spec, const fm_format *format, fm_file_target *out, fm_arena *arena, fm_error *err);

/* A data file that is written, synced and closed. */
typedef struct fm_written_file {
    fm_str path, dir; /* absolute; NUL-terminated */
    fm_file_stat stat;
} fm_written_file;

typedef struct fm_file_writer {
    fm_sink_writer base;
    const fm_file_target *target;
    int32_t index;              /* of the writer: the task number in file names */
    fm_arena *arena;            /* this micro-batch: records and partitions */
    fm_arena *scratch;          /* one write */
    fm_arena *query;            /* as long as the sink */
    fm_writer *format_writer;   /* of formats without a footer: of all files */
    int64_t rows;
    fm_written_file *files;     /* [n_files] finished */
    int32_t n_files, cap_files;
    struct fm_partition *partitions; /* [n_partitions], the only one unless partitioned */
    int32_t n_partitions, cap_partitions;
    int32_t *slots;             /* [n_slots] hash table: index of a partition, or -1 */
    int32_t n_slots;
    int32_t n_open;             /* partitions with an open file */
    int64_t clock;              /* counts uses, to find the partition that was not used for longest */
} fm_file_writer;

/* Makes ready for a micro-batch. */
fm_status fm_file_writer_begin(fm_file_writer *w, fm_error *err);
fm_status fm_file_writer_write(fm_file_writer *w, const fm_batch *batch, fm_error *err);
/* All data files durable but for their folders' entries. */
fm_status fm_file_writer_finish(fm_file_writer *w, fm_error *err);
/* Removes what was written since begin, as well as that goes. */
void fm_file_writer_abort(fm_file_writer *w);
void fm_file_writer_fini(fm_file_writer *w);

#endif
