/* source/file_prune.c: what the filters above a table of files leave out: folders by the values in their names, and what a format
 * that has statistics (Parquet) finds by them. */
#include "source/file_source.h"

/* Where the columns of conditions come from: [schema->n_fields] places among what the format delivers and among the values of
 * paths; -1. */
typedef struct places {
    int32_t *in_format, *in_path;
} places;

static fm_status find_places(const fm_file_source *s, const fm_source_spec *spec, places *out, fm_error *err)
{
    int32_t n = spec->schema->n_fields;

    *out = (places){fm_arena_array(s->arena, int32_t, n), fm_arena_array(s->arena, int32_t, n)};
    if (!out->in_format || !out->in_path) return fm_no_memory(s->arena, err);
    for (int32_t i = 0; i < n; i++) out->in_format[i] = out->in_path[i] = -1;
    for (int32_t i = 0; i < spec->n_wanted; i++) {
        out->in_format[spec->wanted[i]] = s->columns[i].from_format;
        out->in_path[spec->wanted[i]] = s->columns[i].from_path;
    }
    return FM_OK;
}

fm_status fm_file_prune_init(fm_file_source *s, const fm_source_spec *spec, fm_error *err)
{
    const fm_condition **told = fm_arena_array(s->arena, const fm_condition *, spec->n_conditions);
    places p;
    bool push;

    if (!told) return fm_no_memory(s->arena, err);
    FM_TRY(find_places(s, spec, &p, err));
    s->conditions = spec->conditions;
    s->n_conditions = spec->n_conditions;
    s->in_path = p.in_path;
    s->read.conditions = told;
    FM_TRY(fm_options_bool(s->env.session, "spark.sql.parquet.filterPushdown", true, &push, err));
    for (int32_t i = 0; push && i < spec->n_conditions; i++) {
        FM_TRY(fm_condition_remap(spec->conditions[i], p.in_format, s->arena, &told[s->read.n_conditions], err));
        s->read.n_conditions += told[s->read.n_conditions] != NULL;
    }
    return FM_OK;
}

typedef struct folder {
    const fm_file_source *s;
    const fm_vec *values; /* [n_partitions] */
} folder;

static void bounds_of(void *ctx, const fm_condition *leaf, fm_bounds *out)
{
    const folder *f = ctx;
    int32_t at = f->s->in_path[leaf->path[0]];

    if (at < 0 || leaf->n_path != 1) return;
    const fm_vec *value = &f->values[at];
    bool is_null = fm_vec_is_null(value, 0);
    if (!is_null && !fm_type_eq(value->type, leaf->type)) return;
    *out = (fm_bounds){is_null ? NULL : value, is_null ? NULL : value, 1, is_null, is_null};
}

bool fm_file_prune_keeps(const fm_file_source *s, const fm_vec *values)
{
    folder f = {s, values};

    for (int32_t i = 0; i < s->n_conditions; i++) {
        if (!fm_condition_may_hold(s->conditions[i], bounds_of, &f)) return false;
    }
    return true;
}
