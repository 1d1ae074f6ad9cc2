/* source/kafka_offsets.h: where a reader stands in each partition: Spark's {"topic":{"0":23,"1":-2}}.
 *
 * An offset is the next one to read. Lists are sorted by topic and partition, each pair once. */
#ifndef FM_SOURCE_KAFKA_OFFSETS_H
#define FM_SOURCE_KAFKA_OFFSETS_H

#include "remote/kafka_client.h"

typedef struct fm_kafka_offsets {
    fm_kafka_partition *items; /* sorted */
    int32_t n;
} fm_kafka_offsets;

/* Sorts; of doubles the last stays. */
void fm_kafka_offsets_sort(fm_kafka_offsets *o);
const fm_kafka_partition *fm_kafka_offsets_find(const fm_kafka_offsets *o, fm_str topic, int32_t partition); /* or NULL */
/* The same partitions, whatever the offsets. */
bool fm_kafka_offsets_same_partitions(const fm_kafka_offsets *a, const fm_kafka_offsets *b);
bool fm_kafka_offsets_eq(const fm_kafka_offsets *a, const fm_kafka_offsets *b);
fm_status fm_kafka_offsets_copy(const fm_kafka_offsets *from, fm_arena *arena, fm_kafka_offsets *out, fm_error *err);

/* Reads the JSON. Everything lives in arena. `what` names it in the error: "option startingOffsets". */
fm_status fm_kafka_offsets_parse(fm_str text, const char *what, fm_arena *arena, fm_kafka_offsets *out, fm_error *err);
/* {"topic":[0,1]}: offsets are unset. */
fm_status fm_kafka_assignment_parse(fm_str text, fm_arena *arena, fm_kafka_offsets *out, fm_error *err);
void fm_kafka_offsets_print(const fm_kafka_offsets *o, fm_strbuf *out);
/* "t-0, t-1": for messages. */
void fm_kafka_partitions_print(const fm_kafka_offsets *o, fm_strbuf *out);

/* The share of a limit that each partition gets.
 *
 * start   where each stands; a partition that is not there stands at its entry in fresh, and in neither: is not limited
 * end     in: how far each could be read; out: how far it may be
 * rule    Spark, maxOffsetsPerTrigger: in proportion to what is there, rounded down, but up when it is less than one */
void fm_kafka_offsets_limit(const fm_kafka_offsets *start, const fm_kafka_offsets *fresh, int64_t limit,
                            fm_kafka_offsets *end);

/* One piece of a partition: offsets from .. to - 1. */
typedef struct fm_kafka_range {
    fm_str topic;
    int32_t partition;
    int64_t from, to;
} fm_kafka_range;

/* Cuts ranges into pieces: none is longer than records_max (0: no bound), and large ones are cut so that there are about
 * parts_min pieces (0: as many as ranges). Empty ranges are left out.
 *
 * rule  Spark, KafkaOffsetRangeCalculator: options minPartitions, maxRecordsPerPartition */
fm_status fm_kafka_ranges_cut(const fm_kafka_range *ranges, int32_t n, int64_t parts_min, int64_t records_max,
                              fm_arena *arena, fm_kafka_range **out, int32_t *n_out, fm_error *err);

#endif
