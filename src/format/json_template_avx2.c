/* format/json_template_avx2.c: the templates' loop with AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "format/json_template.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif

#define LANES_X86 1
#define WIDE 1
#define RUN_NAME fm_json_run_avx2
#include "format/json_template_body.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
typedef int fm_json_template_avx2_is_empty;
#endif
