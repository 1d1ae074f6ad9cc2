/* tests/fuzz/fuzz.h: the entry that libFuzzer and replay.c call. 0: carry on. */
#ifndef FM_TESTS_FUZZ_H
#define FM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
