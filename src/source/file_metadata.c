/* source/file_metadata.c: the hidden column _metadata of files: where a row comes from.
 *
 * Rule  Spark, FileFormat.BASE_METADATA_FIELDS: file_path is the file's URI with one slash, file_name its last part; ParquetFileFormat
 *       adds row_index, the row's place in the file from 0. Delta's format has the base fields, of its data files */
#include "source/file_source.h"
#include "table/file_uri.h"

#define TEXT(literal) {("" literal), sizeof(literal) - 1}

enum { PATH, NAME, SIZE, BLOCK_START, BLOCK_LENGTH, MODIFIED, ROW_INDEX, FIELDS };

const fm_type *fm_file_metadata_type(const fm_table_def *table)
{
    static const fm_type string = {.id = FM_TYPE_STRING}, number = {.id = FM_TYPE_I64}, time = {.id = FM_TYPE_TIMESTAMP};
    static const fm_field fields[FIELDS] = {
        [PATH] = {TEXT("file_path"), &string, false},
        [NAME] = {TEXT("file_name"), &string, false},
        [SIZE] = {TEXT("file_size"), &number, false},
        [BLOCK_START] = {TEXT("file_block_start"), &number, false},
        [BLOCK_LENGTH] = {TEXT("file_block_length"), &number, false},
        [MODIFIED] = {TEXT("file_modification_time"), &time, false},
        [ROW_INDEX] = {TEXT("row_index"), &number, false},
    };
    static const fm_type numbered = {.id = FM_TYPE_STRUCT, .n_fields = FIELDS, .fields = fields};
    static const fm_type plain = {.id = FM_TYPE_STRUCT, .n_fields = ROW_INDEX, .fields = fields};

    return fm_str_eq_ci(table->format, FM_STR("parquet")) ? &numbered : &plain;
}

/* "file:/in/b%20c.json" in arena. */
static fm_status uri_of(fm_str path, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0};

    fm_file_uri(path, &text);
    fm_str uri = fm_strbuf_str(&text); /* file:///in */
    *out = fm_strbuf_ok(&text) ? fm_arena_printf(arena, "file:%.*s", (int)(uri.len - 7), uri.ptr + 7) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status texts(fm_str text, int32_t rows, fm_arena *arena, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), rows, arena, err));
    for (int32_t i = 0; i < rows; i++) fm_vec_view_out(out)[i] = fm_view_of(text.ptr, text.len);
    return FM_OK;
}

static fm_status numbers(const fm_type *type, int64_t x, int32_t rows, fm_arena *arena, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, type, rows, arena, err));
    for (int32_t i = 0; i < rows; i++) fm_vec_i64_out(out)[i] = x;
    return FM_OK;
}

fm_status fm_file_metadata(const fm_type *type, const fm_file_split *split, const int64_t *lines, int32_t rows, fm_arena *arena, fm_vec *out,
                           fm_error *err)
{
    fm_vec *c = fm_arena_array(arena, fm_vec, FIELDS);
    fm_str path;

    if (!c) return fm_no_memory(arena, err);
    FM_TRY(uri_of(split->path, arena, &path, err));
    size_t slash = path.len;
    while (slash > 0 && path.ptr[slash - 1] != '/') slash--;
    FM_TRY(texts(path, rows, arena, &c[PATH], err));
    FM_TRY(texts((fm_str){path.ptr + slash, path.len - slash}, rows, arena, &c[NAME], err));
    FM_TRY(numbers(fm_type_i64(), split->size, rows, arena, &c[SIZE], err));
    FM_TRY(numbers(fm_type_i64(), split->from, rows, arena, &c[BLOCK_START], err));
    FM_TRY(numbers(fm_type_i64(), split->length, rows, arena, &c[BLOCK_LENGTH], err));
    FM_TRY(numbers(fm_type_timestamp(), split->modified_ms * 1000, rows, arena, &c[MODIFIED], err));
    if (type->n_fields == FIELDS) {
        FM_TRY(numbers(fm_type_i64(), 0, rows, arena, &c[ROW_INDEX], err));
        for (int32_t i = 0; lines && i < rows; i++) fm_vec_i64_out(&c[ROW_INDEX])[i] = lines[i] - 1;
    }
    *out = (fm_vec){.type = type, .len = rows, .children = c};
    return FM_OK;
}
