/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a fuzz target over the files of its corpus: what the fuzzers once found stays found, without a fuzzer.
 * Usage: replay FOLDER */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    if (!f || !bytes) {
        perror(path);
        exit(1);
    }
    size_t size = fread(bytes, 1, (size_t)st.st_size, f);
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return 1;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    int count = 0;
    if (!folder) {
        fprintf(stderr, "usage: replay FOLDER\n");
        return 2;
    }
    for (struct dirent *e; (e = readdir(folder));) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        count += replay(path);
    }
    closedir(folder);
    printf("%d inputs replayed\n", count);
    return count == 0;
}
