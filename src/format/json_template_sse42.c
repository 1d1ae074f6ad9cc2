/* format/json_template_sse42.c: the templates' loop with SSE4.2. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "format/json_template.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("sse4.2")
#endif

#define LANES_X86 1
#define RUN_NAME fm_json_run_sse42
#include "format/json_template_body.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
typedef int fm_json_template_sse42_is_empty;
#endif
