/* column/random_vec.c: random types and vectors. */
#include "column/random_vec.h"

#include <math.h>

uint64_t fm_random_next(fm_random *r, uint64_t bound)
{
    r->state += UINT64_C(0x9E3779B97F4A7C15); /* splitmix64 */
    uint64_t z = r->state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % bound;
}

static const fm_type *random_type(fm_random *r, fm_arena *arena, int depth, bool for_key)
{
    uint64_t pick = fm_random_next(r, depth < 3 ? 22 : 18);
    int precision = 1 + (int)fm_random_next(r, 38);

    if (pick == FM_TYPE_DECIMAL) return fm_type_decimal(arena, precision, (int)fm_random_next(r, (uint64_t)precision + 1));
    if (pick == 16) return fm_type_interval(arena, FM_UNIT_HOUR, FM_UNIT_SECOND);
    if (pick == 17) return fm_type_string();
    if (pick < FM_TYPE_LIST) return fm_type_simple((fm_type_id)pick);
    if (pick == 18 || pick == 19) {
        const fm_type *element = random_type(r, arena, depth + 1, for_key || pick == 19);
        if (pick == 18 || for_key) return fm_type_list(arena, element, true);
        const fm_type *value = random_type(r, arena, depth + 1, false);
        if (element->id == FM_TYPE_NULL) element = fm_type_i32(); /* keys are never null */
        return fm_type_map(arena, element, value, true);
    }
    fm_field fields[4];
    int32_t n = (int32_t)fm_random_next(r, 5);
    for (int32_t i = 0; i < n; i++) {
        fields[i] = (fm_field){fm_arena_printf(arena, "f%d", i), random_type(r, arena, depth + 1, for_key), true};
    }
    return fm_type_struct(arena, fields, n);
}

const fm_type *fm_random_type(fm_random *r, fm_arena *arena, bool for_key) { return random_type(r, arena, 0, for_key); }

typedef struct shape {
    uint64_t null_of;  /* one value of so many is null; 0: none */
    uint64_t distinct; /* how many values there are */
} shape;

static fm_i128 random_i128(uint64_t seed)
{
    fm_random s = {seed};
    fm_u128 high = fm_random_next(&s, UINT64_MAX), low = fm_random_next(&s, UINT64_MAX);

    return (fm_i128)(high << 64 | low) >> (seed * 7 % 120);
}

static double random_double(uint64_t seed)
{
    static const double special[] = {0.0, -0.0, 1.5, -1e300, 5e-324, (double)INFINITY, (double)-INFINITY, (double)NAN};
    double x;

    if (seed % 3 == 0) return special[seed / 3 % 8];
    seed *= UINT64_C(0x9E3779B97F4A7C15); /* all kinds of NaN among them */
    memcpy(&x, &seed, sizeof x);
    return x;
}

static fm_i128 within(fm_i128 x, int precision)
{
    fm_i128 bound = 1;

    for (int i = 0; i < precision; i++) bound *= 10;
    return x % bound;
}

static void add_value(fm_random *r, fm_builder *b, shape s);

static void add_nested(fm_random *r, fm_builder *b, shape s)
{
    const fm_type *type = fm_builder_type(b);
    uint64_t n = type->id == FM_TYPE_STRUCT ? 1 : fm_random_next(r, 4);

    for (uint64_t k = 0; k < n; k++) {
        for (int32_t c = 0; c < type->n_fields; c++) {
            bool is_key = type->id == FM_TYPE_MAP && c == 0;
            add_value(r, fm_builder_child(b, c), (shape){is_key ? 0 : s.null_of, s.distinct});
        }
    }
    fm_builder_end(b);
}

static void add_value(fm_random *r, fm_builder *b, shape s)
{
    const fm_type *type = fm_builder_type(b);
    uint64_t seed = fm_random_next(r, s.distinct);
    char text[64];
    size_t len = seed % 7 == 0 ? seed % sizeof text : seed % 17;

    if (type->id == FM_TYPE_NULL || (s.null_of && fm_random_next(r, s.null_of) == 0)) {
        fm_builder_null(b);
        return;
    }
    switch (type->id) {
    case FM_TYPE_BOOL: fm_builder_bool(b, seed & 1); break;
    case FM_TYPE_F32:
    case FM_TYPE_F64: fm_builder_f64(b, random_double(seed)); break;
    case FM_TYPE_DECIMAL: fm_builder_decimal(b, within(random_i128(seed), type->precision)); break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        for (size_t i = 0; i < len; i++) text[i] = (char)(seed * (i + 3) >> 2);
        fm_builder_str(b, (fm_str){text, len});
        break;
    case FM_TYPE_LIST:
    case FM_TYPE_MAP:
    case FM_TYPE_STRUCT: add_nested(r, b, s); break;
    default: fm_builder_i64(b, (int64_t)random_i128(seed)); break;
    }
}

fm_vec fm_random_vec(fm_random *r, fm_arena *arena, const fm_type *type, int32_t n)
{
    static const uint64_t null_of[] = {0, 0, 5, 2, 1}, distinct[] = {2, 10, 1000, UINT64_MAX};
    shape s = {null_of[fm_random_next(r, 5)], distinct[fm_random_next(r, 4)]};
    fm_error err = FM_ERROR_INIT;
    fm_builder *b = fm_builder_new(arena, type, (int32_t)fm_random_next(r, 200));
    fm_vec v;

    fm_assert(b);
    for (int32_t i = 0; i < n; i++) add_value(r, b, s);
    fm_assert(fm_builder_finish(b, &v, &err) == FM_OK);
    fm_assert(fm_vec_verify(&v, &err) == FM_OK);
    return v;
}
