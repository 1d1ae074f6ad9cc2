/* table/delta/delta_checkpoint_schema.h: the columns of a checkpoint: one struct per action, of which one is set in each row.
 *
 * Rule  Delta protocol, "Checkpoint Schema". The parsed statistics that others write are not read: the text says the same. */
#ifndef FM_TABLE_DELTA_DELTA_CHECKPOINT_SCHEMA_H
#define FM_TABLE_DELTA_DELTA_CHECKPOINT_SCHEMA_H

#define FM_DELTA_DV_DDL "STRUCT<storageType: STRING, pathOrInlineDv: STRING, offset: INT, sizeInBytes: INT, cardinality: BIGINT>"

/* Columns, in this order. */
enum { FM_CP_TXN, FM_CP_ADD, FM_CP_REMOVE, FM_CP_METADATA, FM_CP_PROTOCOL, FM_CP_DOMAIN, FM_CP_CHECKPOINT, FM_CP_SIDECAR };
/* Fields of them, in this order. */
enum { FM_CP_TXN_APP, FM_CP_TXN_VERSION, FM_CP_TXN_UPDATED };
enum {
    FM_CP_ADD_PATH, FM_CP_ADD_VALUES, FM_CP_ADD_SIZE, FM_CP_ADD_MODIFIED, FM_CP_ADD_CHANGE, FM_CP_ADD_STATS, FM_CP_ADD_TAGS, FM_CP_ADD_DV,
    FM_CP_ADD_ROW_ID, FM_CP_ADD_ROW_VERSION, FM_CP_ADD_CLUSTERING
};
enum {
    FM_CP_REMOVE_PATH, FM_CP_REMOVE_DELETED, FM_CP_REMOVE_CHANGE, FM_CP_REMOVE_EXTENDED, FM_CP_REMOVE_VALUES, FM_CP_REMOVE_SIZE,
    FM_CP_REMOVE_DV, FM_CP_REMOVE_ROW_ID, FM_CP_REMOVE_ROW_VERSION
};
enum {
    FM_CP_META_ID, FM_CP_META_NAME, FM_CP_META_DESCRIPTION, FM_CP_META_FORMAT, FM_CP_META_SCHEMA, FM_CP_META_PARTITIONS,
    FM_CP_META_CONFIGURATION, FM_CP_META_CREATED
};
enum { FM_CP_PROTOCOL_READER, FM_CP_PROTOCOL_WRITER, FM_CP_PROTOCOL_READER_FEATURES, FM_CP_PROTOCOL_WRITER_FEATURES };
enum { FM_CP_DOMAIN_NAME, FM_CP_DOMAIN_CONFIGURATION, FM_CP_DOMAIN_REMOVED };
enum { FM_CP_SIDECAR_PATH, FM_CP_SIDECAR_SIZE, FM_CP_SIDECAR_MODIFIED };

#define FM_DELTA_CHECKPOINT_DDL                                                                                                    \
    "txn STRUCT<appId: STRING, version: BIGINT, lastUpdated: BIGINT>, "                                                            \
    "add STRUCT<path: STRING, partitionValues: MAP<STRING, STRING>, size: BIGINT, modificationTime: BIGINT, dataChange: BOOLEAN, " \
    "stats: STRING, tags: MAP<STRING, STRING>, deletionVector: " FM_DELTA_DV_DDL ", baseRowId: BIGINT, "                           \
    "defaultRowCommitVersion: BIGINT, clusteringProvider: STRING>, "                                                               \
    "remove STRUCT<path: STRING, deletionTimestamp: BIGINT, dataChange: BOOLEAN, extendedFileMetadata: BOOLEAN, "                  \
    "partitionValues: MAP<STRING, STRING>, size: BIGINT, deletionVector: " FM_DELTA_DV_DDL ", baseRowId: BIGINT, "                 \
    "defaultRowCommitVersion: BIGINT>, "                                                                                           \
    "metaData STRUCT<id: STRING, name: STRING, description: STRING, format: STRUCT<provider: STRING, options: MAP<STRING, STRING>>, " \
    "schemaString: STRING, partitionColumns: ARRAY<STRING>, configuration: MAP<STRING, STRING>, createdTime: BIGINT>, "            \
    "protocol STRUCT<minReaderVersion: INT, minWriterVersion: INT, readerFeatures: ARRAY<STRING>, writerFeatures: ARRAY<STRING>>, " \
    "domainMetadata STRUCT<domain: STRING, configuration: STRING, removed: BOOLEAN>"

/* What the v2 spec has besides. */
#define FM_DELTA_CHECKPOINT_V2_DDL                                            \
    ", checkpointMetadata STRUCT<version: BIGINT, tags: MAP<STRING, STRING>>, " \
    "sidecar STRUCT<path: STRING, sizeInBytes: BIGINT, modificationTime: BIGINT, tags: MAP<STRING, STRING>>"

#endif
