/* table/delta/delta_action.h: the actions of a Delta log, as values, from JSON and back.
 *
 * A commit is a file of lines, each an object with one member, named for the action. What an action has beyond the fields
 * known here is not kept; an action of an unknown name is no error, by the protocol: a change that readers must know
 * of comes with a table feature (delta_protocol.h).
 *
 * Rule  Delta protocol, "Actions" */
#ifndef FM_TABLE_DELTA_DELTA_ACTION_H
#define FM_TABLE_DELTA_DELTA_ACTION_H

#include "base/arena.h"
#include "format/json.h"

/* Pairs in the order of the log. A null value has no ptr. */
typedef struct fm_delta_map {
    fm_str *keys, *values; /* [n] */
    int32_t n;
} fm_delta_map;

/* NULL: no such key; its .ptr is NULL when the value is null. */
const fm_str *fm_delta_map_find(const fm_delta_map *map, fm_str key);
/* The value, or `absent` when there is none. */
fm_str fm_delta_map_get(const fm_delta_map *map, const char *key, fm_str absent);
/* Sets a pair in a map whose arrays this makes anew in arena; others that share the old arrays see no change. */
fm_status fm_delta_map_set(fm_arena *arena, fm_delta_map *map, fm_str key, fm_str value, fm_error *err);
void fm_delta_map_print(const fm_delta_map *map, fm_strbuf *out);

typedef struct fm_delta_protocol {
    int32_t min_reader, min_writer;
    fm_str *reader_features, *writer_features;
    int32_t n_reader_features, n_writer_features;
    bool has_reader_features, has_writer_features; /* the lists are there, empty or not */
} fm_delta_protocol;

/* The schema of metadata that have none. */
#define FM_DELTA_NO_COLUMNS "{\"type\":\"struct\",\"fields\":[]}"

typedef struct fm_delta_metadata {
    fm_str id, name, description; /* name, description: no ptr when absent */
    fm_str provider;              /* of format: "parquet" */
    fm_delta_map format_options;
    fm_str schema;                /* JSON text */
    fm_str *partition_columns;
    int32_t n_partition_columns;
    fm_delta_map configuration;
    int64_t created_ms;           /* -1: absent */
} fm_delta_metadata;

/* Which rows of a data file are gone. */
typedef struct fm_delta_dv {
    char storage;        /* 'u' beside the data, named by UUID; 'p' absolute path; 'i' in the log */
    fm_str path;         /* path, UUID in Z85 behind a prefix, or the bytes in Z85 */
    int64_t offset;      /* in the file, bytes; -1: absent */
    int64_t size;        /* bytes, serialized */
    int64_t cardinality; /* rows */
} fm_delta_dv;

/* A data file: add, remove and cdc. */
typedef struct fm_delta_file {
    fm_str path;              /* as in the log: a URI, relative to the table or absolute */
    fm_delta_map partition_values;
    int64_t size;             /* bytes; -1: absent (remove) */
    int64_t modified_ms;      /* add */
    int64_t deleted_ms;       /* remove; -1: absent */
    bool data_change;
    bool extended;            /* remove: extendedFileMetadata */
    fm_str stats;             /* JSON text; no ptr: none */
    fm_delta_map tags;
    bool has_tags;
    const fm_delta_dv *dv;    /* NULL: none */
    int64_t base_row_id, row_commit_version; /* row tracking; -1: absent */
    fm_str clustering_provider;
} fm_delta_file;

typedef struct fm_delta_txn {
    fm_str app_id;
    int64_t version, updated_ms; /* updated_ms -1: absent */
} fm_delta_txn;

typedef struct fm_delta_domain {
    fm_str domain, configuration;
    bool removed;
} fm_delta_domain;

/* A sidecar file of a v2 checkpoint. */
typedef struct fm_delta_sidecar {
    fm_str path;
    int64_t size, modified_ms;
} fm_delta_sidecar;

/* Who made a commit. The members that we use; `json` has all. */
typedef struct fm_delta_commit_info {
    int64_t timestamp_ms, in_commit_ms; /* -1: absent */
    fm_str operation;
    const fm_json *json;
} fm_delta_commit_info;

typedef enum fm_delta_kind {
    FM_DELTA_PROTOCOL, FM_DELTA_METADATA, FM_DELTA_ADD, FM_DELTA_REMOVE, FM_DELTA_CDC, FM_DELTA_TXN, FM_DELTA_DOMAIN,
    FM_DELTA_COMMIT_INFO, FM_DELTA_CHECKPOINT_METADATA, FM_DELTA_SIDECAR,
    FM_DELTA_OTHER /* unknown: to be passed over */
} fm_delta_kind;

typedef struct fm_delta_action {
    fm_delta_kind kind;
    union {
        fm_delta_protocol protocol;
        fm_delta_metadata metadata;
        fm_delta_file file;
        fm_delta_txn txn;
        fm_delta_domain domain;
        fm_delta_commit_info commit_info;
        fm_delta_sidecar sidecar;
    } u;
} fm_delta_action;

/* One line; *out points into arena. FM_CORRUPT, DELTA_LOG_LINE: no JSON object, or a member of the wrong kind. */
fm_status fm_delta_action_parse(fm_arena *arena, fm_str line, fm_delta_action *out, fm_error *err);

/* Each appends one line with its \n. */
void fm_delta_protocol_print(const fm_delta_protocol *p, fm_strbuf *out);
void fm_delta_metadata_print(const fm_delta_metadata *m, fm_strbuf *out);
void fm_delta_add_print(const fm_delta_file *f, fm_strbuf *out);
void fm_delta_remove_print(const fm_delta_file *f, fm_strbuf *out);
void fm_delta_cdc_print(const fm_delta_file *f, fm_strbuf *out);
void fm_delta_txn_print(const fm_delta_txn *t, fm_strbuf *out);
void fm_delta_domain_print(const fm_delta_domain *d, fm_strbuf *out);

/* The identity of a logical file: its path (decoded), and its deletion vector's. Appends to key. */
fm_status fm_delta_file_key(const fm_delta_file *f, fm_strbuf *key, fm_error *err);
/* A value of any kind as JSON text, as it was read. */
void fm_delta_json_print(const fm_json *v, fm_strbuf *out);

#endif
