/* expr/agg_bag.h: the values of a group, kept one by one: what collect_list, collect_set, mode, percentile and
 * DISTINCT stand on.
 *
 * A bag is on the heap; a state holds a pointer to it, NULL while empty. Lanes are kept encoded (fm_lane_encode), in
 * the order they came. A bag of distinct values finds a value again through a table of their places, and counts how
 * often each came. */
#ifndef FM_EXPR_AGG_BAG_H
#define FM_EXPR_AGG_BAG_H

#include "expr/agg_cell.h"

typedef struct fm_agg_bag {
    char *bytes;       /* entries: in a distinct bag an fm_agg_bag_head each, then the encoded lanes */
    size_t len, cap;   /* bytes; below 4 GB */
    int64_t n;         /* entries */
    uint32_t *slots;   /* distinct: offset of an entry + 1, 0 free; open addressing */
    uint32_t n_slots;  /* a power of two, at most half used */
} fm_agg_bag;

typedef struct fm_agg_bag_head {
    uint32_t size; /* bytes of the lanes */
    uint32_t hash;
    int64_t count;
} fm_agg_bag_head;

void fm_agg_bag_free(fm_agg_bag *bag); /* accepts NULL */
size_t fm_agg_bag_memory(const fm_agg_bag *bag);

/* Appends lane i of each of args[n_args], encoded one after the other. *bag is made when NULL. */
fm_status fm_agg_bag_add(fm_agg_bag **bag, const fm_vec *args, int32_t n_args, int64_t i,
                         fm_error *err);
fm_status fm_agg_bag_add_all(fm_agg_bag **dst, const fm_agg_bag *src, fm_error *err);
/* Adds `count` of a value to a distinct bag. */
fm_status fm_agg_bag_count(fm_agg_bag **bag, const fm_vec *args, int32_t n_args, int64_t i,
                           int64_t count, fm_error *err);
fm_status fm_agg_bag_count_all(fm_agg_bag **dst, const fm_agg_bag *src, fm_error *err);

/* Walks a distinct bag: *at 0 at first. false: no more. */
bool fm_agg_bag_next(const fm_agg_bag *bag, size_t *at, fm_agg_bag_head *head, fm_str *lanes);

fm_status fm_agg_bag_save(const fm_agg_bag *bag, fm_strbuf *out, fm_error *err);
/* is_distinct as the bag was filled; types[n_types] of the lanes of an entry. *bag is NULL before. */
fm_status fm_agg_bag_load(fm_str bytes, size_t *at, bool is_distinct, const fm_type *const *types,
                          int32_t n_types, fm_agg_bag **bag, fm_error *err);

/* The entries of an aggregate whose state is one bag, but for load, which knows the types. */
uint32_t fm_agg_bags_size(const fm_agg_call *call);
fm_status fm_agg_bags_merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n, fm_error *err);
fm_status fm_agg_bags_merge_distinct(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n, fm_error *err);
void fm_agg_bags_fini(const fm_agg_call *call, void *state);
fm_status fm_agg_bags_save(const fm_agg_call *call, const void *state, fm_strbuf *out, fm_error *err);
size_t fm_agg_bags_memory(const fm_agg_call *call, const void *state);

#endif
