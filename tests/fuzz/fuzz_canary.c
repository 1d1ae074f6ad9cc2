/* tests/fuzz/fuzz_canary.c: a parser with a fault. A fuzzer that does not find it is blind. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size >= 4 && bytes[0] == 'b' && bytes[1] == 'u' && bytes[2] == 'g' && bytes[3] == '!') __builtin_trap();
    return 0;
}
