/* Counts lines, words and bytes of files, as wc does in the C locale, the cheapest bytes first. The
 * differences to wc_plain.c are what adopting SLEDs takes (Van Meter and Gao 2000, Table 4). */
#include <errno.h>
#include <fcntl.h>
#include <seekless_sleds.h>
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
    int64_t size = sleds_pick_init(fd, 256 << 10, '\n');
    unsigned char *buffer = size > 0 ? malloc((size_t)size) : NULL;
    int64_t offset, next = 0;
    size_t length;
    int more = -1;
    if (!buffer)
        return -1;
    while ((more = sleds_pick_next_read(fd, (size_t)size, 0, &offset, &length)) == 1) {
        if (offset != next)
            counts->in_word = 0;
        next = offset + (int64_t)length;
        ssize_t got = sleds_pick_read(fd, buffer, length, offset);
        if (got != (ssize_t)length) {
            errno = got < 0 ? errno : ESTALE;
            more = -1;
            break;
        }
        count(counts, buffer, length);
    }
    free(buffer);
    sleds_pick_finish(fd);
    return more;
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
