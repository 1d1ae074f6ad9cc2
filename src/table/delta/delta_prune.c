/* table/delta/delta_prune.c: data skipping. */
#include "table/delta/delta_prune.h"

/* A file while conditions are held against it. */
typedef struct one_file {
    const fm_delta_pruner *p;
    const fm_delta_file *file;
    fm_arena *scratch;
    const fm_json *stats; /* once read; NULL: none, or not legible */
    bool is_read;
    fm_status st;         /* memory ran out, or a partition value is no value of its type */
    fm_error *err;
} one_file;

static void partition_bounds(one_file *f, const fm_condition *leaf, fm_bounds *out)
{
    const fm_delta_schema *schema = f->p->schema;
    int32_t c = leaf->path[0];
    const fm_str *text = fm_delta_map_find(&f->file->partition_values, schema->fields[c].physical);
    fm_vec *value = fm_arena_one(f->scratch, fm_vec);

    f->st = value ? fm_delta_partition_value(text ? *text : (fm_str){0}, schema->type->fields[c].type, f->p->zone, f->scratch, value, f->err)
                  : fm_no_memory(f->scratch, f->err);
    if (f->st != FM_OK) return;
    bool is_null = fm_vec_is_null(value, 0);
    *out = (fm_bounds){is_null ? NULL : value, is_null ? NULL : value, 1, is_null, is_null};
}

static void stats_bounds(one_file *f, const fm_condition *leaf, fm_bounds *out)
{
    const fm_type *at = f->p->schema->physical;
    fm_str path[FM_CONDITION_PATH_MAX];
    fm_delta_bounds b;

    if (!f->is_read && f->file->stats.len && fm_json_read(f->scratch, f->file->stats, &f->stats, NULL) != FM_OK) f->stats = NULL;
    f->is_read = true;
    if (!f->stats) return;
    for (int32_t i = 0; i < leaf->n_path; i++) {
        if (at->id != FM_TYPE_STRUCT || leaf->path[i] >= at->n_fields) return;
        path[i] = at->fields[leaf->path[i]].name;
        at = at->fields[leaf->path[i]].type;
    }
    f->st = fm_delta_stats_bounds(f->stats, path, leaf->n_path, leaf->type, f->scratch, &b, f->err);
    if (f->st == FM_OK) *out = (fm_bounds){b.min, b.max, b.rows, b.null_count, false};
}

static void bounds_of(void *ctx, const fm_condition *leaf, fm_bounds *out)
{
    one_file *f = ctx;

    if (f->st != FM_OK) return;
    if (f->p->schema->is_partition[leaf->path[0]]) partition_bounds(f, leaf, out);
    else if (!f->p->no_stats) stats_bounds(f, leaf, out);
}

fm_status fm_delta_file_may_hold(const fm_delta_pruner *p, const fm_delta_file *file, fm_arena *scratch, bool *may, fm_error *err)
{
    one_file f = {.p = p, .file = file, .scratch = scratch, .err = err};

    *may = true;
    for (int32_t i = 0; i < p->n_conditions && *may && f.st == FM_OK; i++) *may = fm_condition_may_hold(p->conditions[i], bounds_of, &f);
    return f.st;
}
