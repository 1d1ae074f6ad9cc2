/* expr/functions.c: the table of scalar functions. A line per function, sorted by the name it is called by. */
#include "expr/function.h"

/* X(entry): fm_fn_<entry>. Sorted by `.name` of the entry, as strcmp has it: operators first. */
#define FM_FUNCTION_LIST(X) \
    X(op_ne)                   \
    X(op_rem)                  \
    X(op_bit_and)              \
    X(op_mul)                  \
    X(op_add)                  \
    X(op_sub)                  \
    X(op_fields)               \
    X(op_div)                  \
    X(op_lt)                   \
    X(op_le)                   \
    X(op_eq_null)              \
    X(op_eq)                   \
    X(op_gt)                   \
    X(op_ge)                   \
    X(op_item)                 \
    X(op_bit_xor)              \
    X(abs)                     \
    X(acos)                    \
    X(acosh)                   \
    X(add_months)              \
    X(aes_decrypt)             \
    X(aes_encrypt)             \
    X(aggregate)               \
    X(array)                   \
    X(array_append)            \
    X(array_compact)           \
    X(array_contains)          \
    X(array_distinct)          \
    X(array_except)            \
    X(array_insert)            \
    X(array_intersect)         \
    X(array_join)              \
    X(array_max)               \
    X(array_min)               \
    X(array_position)          \
    X(array_prepend)           \
    X(array_remove)            \
    X(array_repeat)            \
    X(array_size)              \
    X(array_sort)              \
    X(array_union)             \
    X(arrays_overlap)          \
    X(arrays_zip)              \
    X(ascii)                   \
    X(asin)                    \
    X(asinh)                   \
    X(assert_true)             \
    X(atan)                    \
    X(atan2)                   \
    X(atanh)                   \
    X(base64)                  \
    X(bin)                     \
    X(bit_count)               \
    X(bit_get)                 \
    X(bit_length)              \
    X(bround)                  \
    X(btrim)                   \
    X(cbrt)                    \
    X(ceil)                    \
    X(char)                    \
    X(coalesce)                \
    X(collation)               \
    X(concat)                  \
    X(concat_ws)               \
    X(contains)                \
    X(conv)                    \
    X(convert_timezone)        \
    X(cos)                     \
    X(cosh)                    \
    X(cot)                     \
    X(crc32)                   \
    X(csc)                     \
    X(current_catalog)         \
    X(current_date)            \
    X(current_schema)          \
    X(current_timestamp)       \
    X(current_timezone)        \
    X(current_user)            \
    X(current_watermark)       \
    X(date_add)                \
    X(date_format)             \
    X(date_from_unix_date)     \
    X(date_part)               \
    X(date_sub)                \
    X(date_trunc)              \
    X(datediff)                \
    X(day)                     \
    X(dayname)                 \
    X(dayofweek)               \
    X(dayofyear)               \
    X(decode)                  \
    X(degrees)                 \
    X(op_int_div)              \
    X(e)                       \
    X(element_at)              \
    X(elt)                     \
    X(encode)                  \
    X(endswith)                \
    X(exists)                  \
    X(exp)                     \
    X(expm1)                   \
    X(extract)                 \
    X(factorial)               \
    X(filter)                  \
    X(find_in_set)             \
    X(flatten)                 \
    X(floor)                   \
    X(forall)                  \
    X(format_number)           \
    X(format_string)           \
    X(from_base32)             \
    X(from_unixtime)           \
    X(from_utc_timestamp)      \
    X(get)                     \
    X(greatest)                \
    X(hash)                    \
    X(hex)                     \
    X(hmac)                    \
    X(hour)                    \
    X(hypot)                   \
    X(ilike)                   \
    X(initcap)                 \
    X(instr)                   \
    X(is_valid_utf8)           \
    X(isfalse)                 \
    X(isnan)                   \
    X(isnotfalse)              \
    X(isnotnull)               \
    X(isnottrue)               \
    X(isnotunknown)            \
    X(isnull)                  \
    X(istrue)                  \
    X(isunknown)               \
    X(jaro_winkler_similarity) \
    X(last_day)                \
    X(least)                   \
    X(left)                    \
    X(length)                  \
    X(levenshtein)             \
    X(like)                    \
    X(ln)                      \
    X(localtimestamp)          \
    X(locate)                  \
    X(log)                     \
    X(log10)                   \
    X(log1p)                   \
    X(log2)                    \
    X(lower)                   \
    X(lpad)                    \
    X(ltrim)                   \
    X(luhn_check)              \
    X(make_date)               \
    X(make_dt_interval)        \
    X(make_timestamp)          \
    X(make_timestamp_ntz)      \
    X(make_valid_utf8)         \
    X(make_ym_interval)        \
    X(map)                     \
    X(map_concat)              \
    X(map_contains_key)        \
    X(map_entries)             \
    X(map_filter)              \
    X(map_from_arrays)         \
    X(map_from_entries)        \
    X(map_keys)                \
    X(map_values)              \
    X(map_zip_with)            \
    X(mask)                    \
    X(md5)                     \
    X(minute)                  \
    X(monotonically_increasing_id)\
    X(month)                   \
    X(monthname)               \
    X(months_between)          \
    X(named_struct)            \
    X(nanvl)                   \
    X(negative)                \
    X(next_day)                \
    X(not)                     \
    X(nullif)                  \
    X(nullifzero)              \
    X(octet_length)            \
    X(overlay)                 \
    X(parse_url)               \
    X(pi)                      \
    X(pmod)                    \
    X(positive)                \
    X(power)                   \
    X(quarter)                 \
    X(quote)                   \
    X(radians)                 \
    X(raise_error)             \
    X(rand)                    \
    X(randn)                   \
    X(randstr)                 \
    X(regexp_count)            \
    X(regexp_extract)          \
    X(regexp_extract_all)      \
    X(regexp_instr)            \
    X(regexp_replace)          \
    X(regexp_substr)           \
    X(repeat)                  \
    X(replace)                 \
    X(reverse)                 \
    X(right)                   \
    X(rint)                    \
    X(rlike)                   \
    X(round)                   \
    X(rpad)                    \
    X(rtrim)                   \
    X(sec)                     \
    X(second)                  \
    X(sentences)               \
    X(sequence)                \
    X(sha)                     \
    X(sha2)                    \
    X(shiftleft)               \
    X(shiftright)              \
    X(shiftrightunsigned)      \
    X(shuffle)                 \
    X(sign)                    \
    X(sin)                     \
    X(sinh)                    \
    X(size)                    \
    X(slice)                   \
    X(sort_array)              \
    X(soundex)                 \
    X(space)                   \
    X(spark_partition_id)      \
    X(split)                   \
    X(split_part)              \
    X(sqrt)                    \
    X(startswith)              \
    X(str_to_map)              \
    X(struct)                  \
    X(substring)               \
    X(substring_index)         \
    X(tan)                     \
    X(tanh)                    \
    X(timestamp_micros)        \
    X(timestamp_millis)        \
    X(timestamp_seconds)       \
    X(timestampadd)            \
    X(timestampdiff)           \
    X(to_base32)               \
    X(to_binary)               \
    X(to_char)                 \
    X(to_date)                 \
    X(to_number)               \
    X(to_timestamp)            \
    X(to_timestamp_ntz)        \
    X(to_unix_timestamp)       \
    X(to_utc_timestamp)        \
    X(transform)               \
    X(transform_keys)          \
    X(transform_values)        \
    X(translate)               \
    X(trim)                    \
    X(trunc)                   \
    X(try_add)                 \
    X(try_aes_decrypt)         \
    X(try_divide)              \
    X(try_element_at)          \
    X(try_make_timestamp)      \
    X(try_make_timestamp_ntz)  \
    X(try_mod)                 \
    X(try_multiply)            \
    X(try_parse_url)           \
    X(try_subtract)            \
    X(try_to_binary)           \
    X(try_to_date)             \
    X(try_to_number)           \
    X(try_to_timestamp)        \
    X(try_url_decode)          \
    X(try_validate_utf8)       \
    X(typeof)                  \
    X(unbase64)                \
    X(unhex)                   \
    X(uniform)                 \
    X(unix_date)               \
    X(unix_micros)             \
    X(unix_millis)             \
    X(unix_seconds)            \
    X(unix_timestamp)          \
    X(upper)                   \
    X(url_decode)              \
    X(url_encode)              \
    X(uuid)                    \
    X(validate_utf8)           \
    X(version)                 \
    X(weekday)                 \
    X(weekofyear)              \
    X(width_bucket)            \
    X(window_time)             \
    X(xxhash64)                \
    X(year)                    \
    X(zeroifnull)              \
    X(zip_with)                \
    X(op_bit_or)               \
    X(op_bit_not)

#define DECLARE(entry) extern const fm_function fm_fn_##entry;
FM_FUNCTION_LIST(DECLARE)
#undef DECLARE

#define ADDRESS(entry) &fm_fn_##entry,
static const fm_function *const table[] = {FM_FUNCTION_LIST(ADDRESS)};
#undef ADDRESS

enum { FUNCTION_COUNT = sizeof table / sizeof table[0], NAME_LEN_MAX = 63 };

const fm_function *const *fm_functions(int *n)
{
    *n = FUNCTION_COUNT;
    return table;
}

const fm_function *fm_function_find(fm_str name)
{
    char lower[NAME_LEN_MAX + 1];
    int from = 0, to = FUNCTION_COUNT;

    if (name.len == 0 || name.len > NAME_LEN_MAX) return NULL;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    lower[name.len] = 0;

    while (from < to) {
        int middle = from + (to - from) / 2;
        int order = strcmp(lower, table[middle]->name);
        if (order == 0) return table[middle];
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    for (int i = 0; i < FUNCTION_COUNT; i++)
        for (int k = 0; k < 4 && table[i]->aliases[k]; k++)
            if (strcmp(lower, table[i]->aliases[k]) == 0) return table[i];
    for (int i = 0; fm_json_function_table[i]; i++)
        if (strcmp(lower, fm_json_function_table[i]->name) == 0) return fm_json_function_table[i];
    return NULL;
}
