/* table/delta/delta_evolve.h: how rows of one schema get into a table of another: making the table, enforcing its schema, or
 * widening it. Decides and changes nothing: what it makes goes into a commit.
 *
 * Rule  Delta, ImplicitMetadataOperation and SchemaMergingUtils */
#ifndef FM_TABLE_DELTA_DELTA_EVOLVE_H
#define FM_TABLE_DELTA_DELTA_EVOLVE_H

#include "table/delta/delta_snapshot.h"

typedef struct fm_delta_wish {
    const fm_type *rows;          /* STRUCT: the rows to be written */
    const fm_str *partition_by;   /* [n_partition_by] as asked for; none: the table's own */
    int32_t n_partition_by;
    bool merge_schema;            /* columns that the table lacks are added, types widened as Spark widens */
    bool overwrite_schema;        /* the table gets the schema and the partitioning of the rows */
    bool replace;                 /* the table is made anew on top of what is there: CREATE OR REPLACE */
    bool keep_nullability;        /* of rows, when a table is made: CREATE TABLE; else all columns are nullable */
    const fm_delta_map *properties; /* of a table that is made; or NULL */
    const fm_delta_field *fields; /* [rows->n_fields] metadata of the columns of a table that is made; or NULL */
    fm_str name, description;     /* of a table that is made; may be empty */
} fm_delta_wish;

typedef struct fm_delta_plan {
    const fm_delta_protocol *protocol; /* NULL: as it is */
    const fm_delta_metadata *metadata; /* NULL: as it is */
    const fm_delta_schema *schema;     /* of the table that is written */
    const fm_delta_metadata *written;  /* the metadata in force: the new or the old */
    int32_t *from_row;                 /* [schema->type->n_fields] column of the rows; -1: the rows lack it */
} fm_delta_plan;

/* s: the table now (version -1: there is none). Everything in *out lives in arena or in `s` as it is now.
 * errors  FM_INVALID: DELTA_METADATA_MISMATCH (schema or partitioning differ), DELTA_FAILED_TO_MERGE_FIELDS,
 *         DELTA_PARTITION_COLUMN_NOT_FOUND, DELTA_INVALID_PARTITION_COLUMN_TYPE, DELTA_DUPLICATE_COLUMNS_FOUND,
 *         DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES, DELTA_NULL_SCHEMA_IN_STREAMING_WRITE */
fm_status fm_delta_plan_write(const fm_delta_snapshot *s, const fm_delta_wish *wish, fm_arena *arena, fm_delta_plan *out, fm_error *err);

/* The protocol and metadata of a table that is made, or of one that gets new properties: features that the schema and the
 * configuration ask for are added. */
fm_status fm_delta_features_for(fm_arena *arena, const fm_type *schema, const fm_delta_map *configuration, fm_delta_protocol *p, fm_error *err);

/* Sets the columns of m, which has its configuration. Under column mapping fields that have no id yet get one, and a physical name:
 * own_names: the name they have, for columns that stand in files already. errors as above. */
fm_status fm_delta_set_columns(fm_arena *arena, fm_delta_metadata *m, const fm_type *type, const fm_delta_field *fields, bool own_names, fm_error *err);

#endif
