/* Prints the SLEDs of files and their times of delivery, like the panel in the paper's file manager
 * (Fig. 6). */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <seekless_sleds.h>
#include <stdio.h>
#include <unistd.h>

static int print_sleds(int fd)
{
    struct sled *sleds;
    size_t count;
    if (sleds_get(fd, &sleds, &count) < 0)
        return -1;
    for (size_t at = 0; at < count; at++) {
        printf("%12" PRId64 " %12" PRId64 " %-8s %.6f s", sleds[at].offset, sleds[at].length,
               sleds_level_name(sleds[at].level), sleds[at].latency);
        if (isfinite(sleds[at].bandwidth))
            printf(" %.1f MB/s", sleds[at].bandwidth / 1e6);
        putchar('\n');
    }
    sleds_free(sleds);
    return 0;
}

static int print_file(int fd)
{
    double low, high;
    if (print_sleds(fd) < 0 || sleds_delivery_time_range(fd, SLEDS_LINEAR, &low, &high) < 0)
        return -1;
    printf("linear: %.6f to %.6f s, best: %.6f s\n", low, high, sleds_total_delivery_time(fd, SLEDS_BEST));
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int at = 1; at < argc; at++) {
        int fd = open(argv[at], O_RDONLY);
        printf("%s\n", argv[at]);
        if (print_file(fd) < 0) {
            fprintf(stderr, "sleds_print: %s: %s\n", argv[at], sleds_error());
            status = 1;
        }
        if (fd >= 0)
            close(fd);
    }
    return status;
}
