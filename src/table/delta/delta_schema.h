/* table/delta/delta_schema.h: the schema of a table: Spark's JSON, with what Delta keeps in the fields' metadata.
 *
 * Rule  Delta protocol, "Schema Serialization Format", "Column Mapping", "Generated Columns", "Default Columns" */
#ifndef FM_TABLE_DELTA_DELTA_SCHEMA_H
#define FM_TABLE_DELTA_DELTA_SCHEMA_H

#include "format/parquet.h"
#include "table/delta/delta_action.h"

typedef enum fm_delta_mapping { FM_DELTA_BY_NAME_ITSELF, FM_DELTA_BY_PHYSICAL_NAME, FM_DELTA_BY_ID } fm_delta_mapping;

/* A field, or an element, key or value; a tree of the shape of the type. */
typedef struct fm_delta_field fm_delta_field;
struct fm_delta_field {
    fm_str metadata;     /* JSON object as text; "{}" when there is none */
    fm_str physical;     /* its name in data files */
    int32_t id;          /* column mapping; FM_PARQUET_NO_ID */
    fm_str generated;    /* delta.generationExpression: SQL; no ptr: none */
    fm_str default_sql;  /* CURRENT_DEFAULT; no ptr: none */
    fm_str invariant;    /* SQL of delta.invariants; no ptr: none */
    bool is_identity;    /* delta.identity.*: we do not write it */
    fm_delta_field *children; /* [type->n_fields] */
};

typedef struct fm_delta_schema {
    const fm_type *type;           /* STRUCT: names as users see them */
    const fm_delta_field *fields;  /* [type->n_fields] */
    fm_delta_mapping mapping;
    const fm_type *physical;       /* the same shape, names as in data files */
    const fm_parquet_ids *ids;     /* [type->n_fields]; NULL: no mapping */
    int32_t *partitions;           /* [n_partitions] places of the partition columns */
    int32_t n_partitions;
    bool *is_partition;            /* [type->n_fields] */
    const fm_type *data;           /* STRUCT: physical names of the columns that stand in data files */
    const fm_parquet_ids *data_ids;
    int32_t *data_columns;         /* [data->n_fields] their places in type */
} fm_delta_schema;

/* The schema that a metaData action says, in arena. FM_CORRUPT; FM_UNSUPPORTED: a type that we do not have (variant). */
fm_status fm_delta_schema_read(fm_arena *arena, const fm_delta_metadata *m, const fm_delta_schema **out, fm_error *err);
/* Spark's JSON of a type; fields gives the metadata, NULL: none. */
void fm_delta_schema_print(const fm_type *type, const fm_delta_field *fields, fm_strbuf *out);
/* Column by name, any case (names of a table differ in more than case); -1. */
int32_t fm_delta_schema_find(const fm_type *type, fm_str name);
/* Whether a TIMESTAMP_NTZ stands in a type: the table feature is needed. */
bool fm_delta_type_has(const fm_type *type, fm_type_id id);

#endif
