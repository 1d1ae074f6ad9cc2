/* sink/file_batch.h: the rows of one query as files of a folder: what INSERT and CREATE TABLE AS write. No log says which files count:
 * those that lie there do.
 *
 *     out/_temporary/<uuid>/k=a/part-00000-...    while it is written; readers pass over names that begin with '_'
 *     out/k=a/part-00000-<uuid>.c000.json         commit: renamed, one after the other
 *     out/_SUCCESS                                and then this: all is there
 *
 * A process that dies before commit leaves nothing that readers see; one that dies within it leaves some of the files, and no _SUCCESS.
 *
 * Rule  Spark, InsertIntoHadoopFsRelationCommand with FileOutputCommitter */
#ifndef FM_SINK_FILE_BATCH_H
#define FM_SINK_FILE_BATCH_H

#include "format/format.h"
#include "sink/sink.h"

typedef enum fm_file_batch_mode {
    FM_FILES_APPEND,
    FM_FILES_OVERWRITE,    /* what is in the folder, or below `scope` of it, goes at commit */
    FM_FILES_OVERWRITE_PARTITIONS /* the folders of partitions go that rows come to */
} fm_file_batch_mode;

typedef struct fm_file_batch fm_file_batch;

/* scope: a folder below that of the table, "k=a/"; empty: all of it. spec as for sinks; it lives as long as the batch.
 * errors  of the spec; FLOODMARK_OUTPUT_OF_A_STREAM: a stream keeps a log of the folder's files */
fm_status fm_file_batch_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_file_batch_mode mode, fm_str scope, fm_arena *arena, fm_file_batch **out,
                             fm_error *err);
fm_status fm_file_batch_write(fm_file_batch *b, const fm_batch *batch, fm_error *err);
fm_status fm_file_batch_commit(fm_file_batch *b, fm_error *err);
/* What was not committed goes. Accepts NULL. */
void fm_file_batch_close(fm_file_batch *b);
/* Of a table's options those that its writer knows. */
fm_status fm_file_options_of(const fm_format *format, const fm_options *options, fm_arena *arena, fm_options *out, fm_error *err);
/* The folder of a partition: "k=a". value.ptr NULL: null. Appends. */
void fm_file_partition_folder(fm_str name, fm_str value, fm_strbuf *out);

#endif
