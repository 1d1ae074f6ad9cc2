/* engine/insert_plain.h: tables that are no Delta tables, written by SQL. */
#ifndef FM_ENGINE_INSERT_PLAIN_H
#define FM_ENGINE_INSERT_PLAIN_H

#include "engine/tables.h"

/* INSERT into a table of files, or one that another sink takes. */
fm_status fm_session_insert_plain(fm_session *s, const fm_plan *p, const fm_table_def *table, fm_result *r, fm_error *err);
/* A table of files without a path gets its folder in the warehouse, made if need be. def->options may become others. */
fm_status fm_session_place_table(fm_session *s, fm_table_def *def, fm_error *err);
/* Writes the rows of CREATE TABLE ... AS and sets def->schema. errors  LOCATION_ALREADY_EXISTS */
fm_status fm_session_create_plain_as(fm_session *s, const fm_plan *p, fm_table_def *def, fm_result *r, fm_error *err);
/* SELECT *, <fixed values of PARTITION> FROM (query), when there are such (insert_table.c). */
fm_status fm_insert_fixed(const fm_plan *p, fm_arena *arena, const fm_plan **query, fm_error *err);

#endif
