/* expr/fn_session.c: what a session says of itself: current_user, current_catalog, current_schema, version, collation.
 *
 * Rule   Spark: there is one catalog, spark_catalog, with one schema, default; the user is whoever started the program.
 * Cases  tests/golden/functions/session.test */
#include "expr/kernel.h"
#include "expr/text.h"

static fm_status bind_text(fm_bind *b, fm_error *err)
{
    (void)err;
    b->returns = fm_type_string();
    b->nullable = false;
    return FM_OK;
}

static fm_status everywhere(fm_vec *out, fm_str text)
{
    for (int32_t i = 0; i < out->len; i++) fm_out_slice(out, i, text);
    return FM_OK;
}

static fm_status current_user(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)args;
    return everywhere(out, call->conf->user); /* lives with the session */
}

static fm_status current_catalog(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call, (void)args;
    return everywhere(out, FM_STR("spark_catalog"));
}

static fm_status current_schema(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call, (void)args;
    return everywhere(out, FM_STR("default"));
}

/* Jobs look at the version of Spark whose rules they get; where Spark names its revision we name ourselves. */
static fm_status version(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call, (void)args;
    return everywhere(out, FM_STR("4.3.0 floodmark"));
}

static fm_status collation(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call, (void)args;
    return everywhere(out, FM_STR("SYSTEM.BUILTIN.UTF8_BINARY"));
}

#define ENTRY(ident, ...)                                                                              \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_CUSTOM, .bind = bind_text,    \
                                       .kernel = ident, __VA_ARGS__}

ENTRY(current_user, .aliases = {"user", "session_user"}, .args = {FM_ARG_END}, .usage = "current_user()", .since = "3.2.0",
      .doc = "Returns the name of the user who runs the session.");
ENTRY(current_catalog, .args = {FM_ARG_END}, .usage = "current_catalog()", .since = "3.1.0",
      .doc = "Returns the name of the catalog.");
ENTRY(current_schema, .aliases = {"current_database"}, .args = {FM_ARG_END}, .usage = "current_schema()", .since = "3.4.0",
      .doc = "Returns the name of the schema.");
ENTRY(version, .args = {FM_ARG_END}, .usage = "version()", .since = "3.0.0",
      .doc = "Returns the version of Spark whose rules hold.");
ENTRY(collation, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .usage = "collation(expr)", .since = "4.0.0",
      .doc = "Returns the name of a text's collation: texts compare as bytes.");
