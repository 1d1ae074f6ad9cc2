/* expr/call_args.h: the arguments of calls, as functions, aggregates and generators check them alike. */
#ifndef FM_EXPR_CALL_ARGS_H
#define FM_EXPR_CALL_ARGS_H

#include "expr/function.h"

/* Counts args[n] and casts them in place to what shape's args, args_min and args_max ask for; nothing else of
 * `shape` but its usage is looked at. Errors as fm_call_resolve. */
fm_status fm_args_check(fm_arena *arena, const fm_session_conf *conf, const fm_function *shape,
                        fm_str name, fm_pos pos, fm_expr **args, int32_t n, fm_error *err);
/* FM_INVALID, DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE: argument i of the call being bound is not what it
 * should be. required: quoted types, "\"STRING\" or \"BINARY\"". */
fm_status fm_fail_arg_type(const fm_bind *b, int32_t i, const char *required, fm_error *err);

#endif
