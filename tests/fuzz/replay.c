/* tests/fuzz/replay.c: runs a target on the files and folders named: the seeds, as a test, without a fuzzer.
 * Prints how many it ran; a target that finds a fault ends the process. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int replayed;

static void replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t cap = 1 << 20, size;
    uint8_t *bytes = malloc(cap);

    if (!f || !bytes) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    size = fread(bytes, 1, cap, f);
    fclose(f);
    uint8_t *exact = malloc(size ? size : 1); /* so that ASan sees a read behind the end */
    if (!exact) exit(1);
    for (size_t i = 0; i < size; i++) exact[i] = bytes[i];
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(bytes);
    replayed++;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            replay_file(argv[i]);
            continue;
        }
        for (struct dirent *e; (e = readdir(dir));) {
            char path[4096];
            if (e->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            replay_file(path);
        }
        closedir(dir);
    }
    printf("%d inputs\n", replayed);
    return replayed ? 0 : 1;
}
