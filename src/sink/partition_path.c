/* sink/partition_path.c: folders of partition columns. */
#include "sink/partition_path.h"

#include "expr/cast.h"

void fm_partition_escape(fm_str text, fm_strbuf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < ' ' || c == 0x7F || strchr("\"#%'*/:=?\\{[]^", c)) fm_strbuf_printf(out, "%%%02X", c);
        else fm_strbuf_add_char(out, (char)c);
    }
}

void fm_partition_path(const fm_batch *batch, const int32_t *columns, int32_t n, int64_t i, const fm_zone *zone,
                       fm_strbuf *out)
{
    fm_strbuf value = {0};

    for (int32_t k = 0; k < n; k++) {
        const fm_vec *v = &batch->columns[columns[k]];
        if (k) fm_strbuf_add_char(out, '/');
        fm_partition_escape(batch->schema->fields[columns[k]].name, out);
        fm_strbuf_add_char(out, '=');
        fm_strbuf_clear(&value);
        if (!fm_vec_is_null(v, i)) fm_value_text(v, i, zone, &value);
        if (value.len) fm_partition_escape(fm_strbuf_str(&value), out);
        else fm_strbuf_add_c(out, "__HIVE_DEFAULT_PARTITION__");
    }
    out->failed |= value.failed;
    fm_strbuf_fini(&value);
}
