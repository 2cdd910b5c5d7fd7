/* Every call of the header as C makes it, on a file of 100 bytes with lines of 8 whose mock says: 30 bytes in an archive, 40 in
 * memory, 30 on a device. `calls FILE`. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <seekless_sleds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

_Static_assert(sizeof(struct sled) == 48, "as in Rust");
_Static_assert(offsetof(struct sled, bandwidth) == 24 && offsetof(struct sled, age) == 32, "as in Rust");
_Static_assert(offsetof(struct sled, level) == 40 && offsetof(struct sled, confidence) == 44, "as in Rust");

/* Ends the program with words if the condition does not hold. */
#define must(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s (errno %d: %s)\n", __LINE__, #condition, errno, sleds_error()); \
            exit(1); \
        } \
    } while (0)

static void sleds_of(int fd)
{
    struct sled *sleds = NULL;
    size_t count = 0;
    must(sleds_get(fd, &sleds, &count) == 0 && count == 3);
    must(sleds[0].offset == 0 && sleds[0].length == 30 && sleds[0].level == SLEDS_ARCHIVE);
    must(sleds[0].latency == 40.0 && sleds[0].bandwidth == 5e6 && sleds[0].confidence == SLEDS_EXACT);
    must(sleds[1].level == SLEDS_MEMORY && sleds[2].level == SLEDS_DEVICE && sleds[2].offset == 70);
    must(strcmp(sleds_level_name(sleds[1].level), "memory") == 0 && !sleds_level_name(99));
    sleds_free(sleds);
    double low = 0, high = 0, best = sleds_total_delivery_time(fd, SLEDS_BEST);
    must(best > 40.0 && best < 40.1 && ff_sleds_total_delivery_time(fd, SLEDS_BEST) > 40.0);
    must(sleds_delivery_time_range(fd, SLEDS_LINEAR, &low, &high) == 0 && low > 40.0 && low <= high);
}

static void next(int fd, size_t buffer, int64_t offset, size_t length)
{
    int64_t found = -1;
    size_t bytes = 0;
    must(sleds_pick_next_read(fd, buffer, 1, &found, &bytes) == 1);
    must(found == offset && bytes == length);
}

static void picks(int fd)
{
    int64_t offset;
    size_t length;
    must(sleds_pick_init(fd, 10, '\n') == 4096);
    next(fd, 24, 32, 24);
    must(sleds_pick_refresh(fd) == 0);
    next(fd, 24, 56, 8);
    next(fd, 100, 64, 36);
    must(sleds_pick_next_read(fd, 7, 1, &offset, &length) == -1 && errno == ERANGE && length == 8);
    next(fd, length, 0, 8);
    next(fd, 100, 8, 24);
    must(sleds_pick_next_read(fd, 100, 1, &offset, &length) == 0 && length == 0);
    must(sleds_pick_finish(fd) == 0);
    must(sleds_pick_finish(fd) == -1 && errno == EINVAL && strstr(sleds_error(), "sleds_pick_init"));
    must(sleds_pick_init_fixed(fd, 0, 10, 8) == 262144);
    next(fd, 4096, 34, 32);
    must(sleds_pick_finish(fd) == 0);
}

static void elements(int fd)
{
    int64_t first = 0, count = 0, seen = 0;
    must(ff_sleds_pick_init(fd, 6, 4, 4, 20) == 6);
    must(ff_sleds_pick_refresh(fd) == 0);
    must(ff_sleds_pick_next_read(fd, 6, &first, &count) == 1 && first == 7 && count == 6);
    for (seen = count; ff_sleds_pick_next_read(fd, 6, &first, &count) == 1; seen += count)
        must(count > 0 && count <= 6 && first >= 0 && first + count <= 20);
    must(seen == 20 && ff_sleds_pick_finish(fd) == 0);
}

/* Reads are those of pread, whether the place was advised or not. */
static void reads(int fd)
{
    char got[128], expected[128];
    must(sleds_pick_read(fd, got, 10, 0) == -1 && errno == EINVAL && strstr(sleds_error(), "sleds_pick_init"));
    must(sleds_pick_init(fd, 0, '\n') > 0);
    for (int64_t offset = 0; offset < 110; offset++)
        for (size_t bytes = 0; bytes < sizeof got; bytes += 9) {
            ssize_t read = pread(fd, expected, bytes, offset);
            memset(got, '?', sizeof got);
            must(sleds_pick_read(fd, got, bytes, offset) == read && memcmp(got, expected, (size_t)read) == 0);
            must(got[read] == '?');
        }
    must(sleds_pick_read(fd, NULL, 0, 0) == 0);
    must(sleds_pick_read(fd, NULL, 1, 0) == -1 && errno == EINVAL && strcmp(sleds_error(), "buffer is NULL") == 0);
    must(sleds_pick_read(fd, got, 1, -1) == -1 && errno == EINVAL);
    must(sleds_pick_read(fd, got, SIZE_MAX, 0) == -1 && errno == EINVAL);
    must(ff_sleds_pick_read(fd, got, 1, 0) == -1 && strstr(sleds_error(), "sleds_pick_read"));
    must(sleds_pick_hold(fd, 1 << 20) >= 0 && sleds_pick_hold(fd, 0) == 0);
    must(sleds_pick_finish(fd) == 0);
    must(sleds_pick_hold(fd, 1) == -1 && errno == EINVAL);
    must(ff_sleds_pick_init(fd, 6, 4, 4, 20) == 6);
    must(ff_sleds_pick_read(fd, got, 3, 18) == 2 && pread(fd, expected, 8, 76) == 8 && memcmp(got, expected, 8) == 0);
    must(ff_sleds_pick_read(fd, got, 3, 20) == 0 && ff_sleds_pick_read(fd, got, 3, 99) == 0);
    must(ff_sleds_pick_read(fd, got, 3, -1) == -1 && ff_sleds_pick_read(fd, got, INT64_MAX, 0) == -1);
    must(ff_sleds_pick_init(fd, 6, 3, 10, -1) == 6);
    must(ff_sleds_pick_read(fd, got, 12, 0) == 9 && sleds_pick_finish(fd) == 0);
}

/* Whether another process finds the file locked by this one. */
static int is_locked(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK && lock.l_pid == getppid() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* A call that succeeds and leaves the lock. */
#define leaves_lock(call) must((call) && is_locked(fd))

/* A descriptor that was opened and closed on the way would have released it. */
static void record_locks_stay(int fd)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    struct sled *sleds;
    double low, high;
    int64_t offset, first, count;
    size_t length;
    char got[100];
    leaves_lock(fcntl(fd, F_SETLK, &lock) == 0);
    leaves_lock(sleds_get(fd, &sleds, &length) == 0);
    sleds_free(sleds);
    leaves_lock(sleds_total_delivery_time(fd, SLEDS_BEST) >= 0);
    leaves_lock(ff_sleds_total_delivery_time(fd, SLEDS_LINEAR) >= 0);
    leaves_lock(sleds_delivery_time_range(fd, SLEDS_LINEAR, &low, &high) == 0);
    leaves_lock(sleds_pick_init(fd, 0, '\n') > 0);
    leaves_lock(sleds_pick_hold(fd, 100) >= 0);
    leaves_lock(sleds_pick_refresh(fd) == 0);
    while (sleds_pick_next_read(fd, sizeof got, 0, &offset, &length) == 1)
        leaves_lock(sleds_pick_read(fd, got, length, offset) == (ssize_t)length);
    leaves_lock(sleds_pick_finish(fd) == 0);
    leaves_lock(sleds_pick_init_fixed(fd, 0, 10, 8) > 0 && sleds_pick_finish(fd) == 0);
    leaves_lock(ff_sleds_pick_init(fd, 6, 4, 4, 20) == 6);
    leaves_lock(ff_sleds_pick_refresh(fd) == 0);
    leaves_lock(ff_sleds_pick_next_read(fd, 6, &first, &count) == 1);
    leaves_lock(ff_sleds_pick_read(fd, got, count, first) == count);
    leaves_lock(ff_sleds_pick_finish(fd) == 0);
}

static int shared;

/* Counts the bytes advised to this thread. */
static void *share(void *bytes)
{
    int64_t offset;
    size_t length;
    char got[3];
    while (sleds_pick_next_read(shared, 3, 0, &offset, &length) == 1) {
        must(sleds_pick_read(shared, got, length, offset) == (ssize_t)length);
        for (size_t at = 0; at < length; at++)
            must(got[at] == ((offset + (int64_t)at) % 8 == 7 ? '\n' : 'a'));
        *(size_t *)bytes += length;
    }
    return NULL;
}

static void threads(int fd)
{
    pthread_t threads[4];
    size_t bytes[4] = {0}, all = 0;
    shared = fd;
    must(sleds_pick_init(fd, 1, SLEDS_NO_RECORDS) == 4096);
    for (int at = 0; at < 4; at++)
        must(pthread_create(&threads[at], NULL, share, &bytes[at]) == 0);
    for (int at = 0; at < 4; at++) {
        pthread_join(threads[at], NULL);
        all += bytes[at];
    }
    must(all == 100 && sleds_pick_finish(fd) == 0);
}

int main(int argc, char **argv)
{
    int fd = open(argv[argc - 1], O_RDONLY), other = open("/dev/null", O_RDONLY);
    int64_t offset;
    size_t length;
    char byte;
    must(fd >= 0);
    must(sleds_version() == SEEKLESS_SLEDS_VERSION);
    sleds_of(fd);
    picks(fd);
    reads(fd);
    elements(fd);
    threads(fd);
    record_locks_stay(fd);
    must(lseek(fd, 0, SEEK_CUR) == 0);
    must(sleds_pick_init(other, 0, SLEDS_NO_RECORDS) == -1 && errno == EINVAL);
    must(sleds_pick_init(fd, 0, SLEDS_NO_RECORDS) > 0 && dup2(other, fd) == fd);
    must(sleds_pick_next_read(fd, 10, 0, &offset, &length) == -1 && errno == ESTALE);
    must(sleds_pick_read(fd, &byte, 1, 0) == -1 && errno == ESTALE);
    close(fd);
    must(sleds_pick_next_read(fd, 10, 0, &offset, &length) == -1 && errno == EBADF);
    must(sleds_pick_read(fd, &byte, 1, 0) == -1 && errno == EBADF);
    must(sleds_pick_finish(fd) == 0);
    puts("every call does as the header says");
    return 0;
}
