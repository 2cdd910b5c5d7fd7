/* Counts lines, words and bytes of files, as wc does in the C locale, before the program adopts
 * SLEDs. The differences to wc_sleds.c are what adopting them takes (Van Meter and Gao 2000,
 * Table 4). */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct counts {
    uint64_t lines, words, bytes;
    int in_word;
};

static void count(struct counts *counts, const unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length; at++) {
        unsigned char byte = bytes[at];
        int space = byte == ' ' || (byte >= '\t' && byte <= '\r');
        counts->lines += byte == '\n';
        counts->words += !space && !counts->in_word;
        counts->in_word = !space;
    }
    counts->bytes += length;
}

static int count_file(int fd, struct counts *counts)
{
    size_t size = 256 << 10;
    unsigned char *buffer = malloc(size);
    ssize_t got = -1;
    if (!buffer)
        return -1;
    while ((got = read(fd, buffer, size)) > 0)
        count(counts, buffer, (size_t)got);
    free(buffer);
    return got < 0 ? -1 : 0;
}

static void print(const struct counts *counts, const char *name)
{
    printf("%7llu %7llu %7llu %s\n", (unsigned long long)counts->lines, (unsigned long long)counts->words,
           (unsigned long long)counts->bytes, name);
}

int main(int argc, char **argv)
{
    struct counts total = {0};
    int status = 0;
    for (int at = 1; at < argc; at++) {
        struct counts counts = {0};
        int fd = open(argv[at], O_RDONLY);
        if (fd < 0 || count_file(fd, &counts) < 0) {
            fprintf(stderr, "wc: %s: %s\n", argv[at], strerror(errno));
            status = 1;
        } else {
            print(&counts, argv[at]);
            total.lines += counts.lines;
            total.words += counts.words;
            total.bytes += counts.bytes;
        }
        if (fd >= 0)
            close(fd);
    }
    if (argc > 2)
        print(&total, "total");
    return status;
}
