/* SLEDs: what each range of a file costs to read now, and in which order to read it (Van Meter and Gao, "Latency Management in
 * Storage Systems", OSDI 2000). Link with -lseekless_sleds, or ask pkg-config for seekless-sleds.
 *
 * A program opens its file as ever, and then:
 *
 *     int64_t bytes = sleds_pick_init(fd, 1 << 20, '\n');          the size of the buffer to use
 *     while ((more = sleds_pick_next_read(fd, bytes, 0, &offset, &length)) == 1)
 *         sleds_pick_read(fd, buffer, length, offset) ...          the cheapest bytes first, as pread() would
 *     sleds_pick_finish(fd);
 *
 * Descriptors are of regular files, open for reading; their positions stay where they are. Every call may be made from any
 * thread; threads that ask for the next read of one descriptor get different ones. Nothing here opens the file again: to close that
 * would release the program's record locks (fcntl). seekless_sleds(3) is the manual.
 *
 * A call that fails returns a negative value, sets errno, and sleds_error() says what happened in words. */
#ifndef SEEKLESS_SLEDS_H
#define SEEKLESS_SLEDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: major * 1000000 + minor * 1000 + patch. sleds_version() is that of the library that runs. */
#define SEEKLESS_SLEDS_VERSION 1000

/* Who would deliver a range. */
enum sleds_level {
    SLEDS_HOLE = 0,    /* nobody: zeros */
    SLEDS_MEMORY = 1,  /* the page cache */
    SLEDS_DEVICE = 2,  /* a device of this machine */
    SLEDS_NETWORK = 3, /* another machine */
    SLEDS_ARCHIVE = 4, /* recalled first, from tape or the like */
    SLEDS_UNKNOWN = 5  /* nothing that may be asked without reading tells */
};

/* How sure the level is. */
enum sleds_confidence {
    SLEDS_EXACT = 0,   /* each page was asked */
    SLEDS_SAMPLED = 1, /* most pages are so */
    SLEDS_UNSURE = 2   /* nothing is known of its state */
};

/* In which order all of a file is read. */
enum sleds_attack_plan {
    SLEDS_LINEAR = 0, /* from the first byte to the last */
    SLEDS_BEST = 1    /* the cheapest first */
};

/* What one range of a file costs (the paper's Fig. 2, and three fields more). */
struct sled {
    int64_t offset;     /* bytes from the start of the file */
    int64_t length;     /* bytes, never 0 */
    double latency;     /* seconds to the first byte */
    double bandwidth;   /* bytes per second from then on; infinite for a hole */
    double age;         /* seconds since it was asked */
    int32_t level;      /* enum sleds_level */
    int32_t confidence; /* enum sleds_confidence */
};

/* Any byte is a record: no delimiter. */
#define SLEDS_NO_RECORDS (-1)

/* All SLEDs of the file, in order and without gaps, for sleds_free(). An empty file has none, and *sleds is NULL.
 * 0, or -1. */
int sleds_get(int fd, struct sled **sleds, size_t *count);

/* Gives back what sleds_get() returned; NULL is fine. */
void sleds_free(struct sled *sleds);

/* Seconds to deliver the whole file; where the state is unknown, or a linear reader might lose what is cached, at worst.
 * Negative if it fails. */
double sleds_total_delivery_time(int fd, int attack_plan);

/* The same at best and at worst. 0, or -1. */
int sleds_delivery_time_range(int fd, int attack_plan, double *low, double *high);

/* Begins to advise on a descriptor, or begins again. `record` is the byte that ends a record ('\n'), or SLEDS_NO_RECORDS. Returns
 * the size of the buffer to use: the preferred one, rounded up to whole pages; 256 KiB if that is 0. Negative if it fails.
 * What is appended to the file later is not advised. */
int64_t sleds_pick_init(int fd, size_t preferred_buffer_bytes, int record);

/* The same for records of one length, the first of which starts at `origin`; what lies before it is not advised, nor is a part of
 * a record at the end. The buffer holds whole records. */
int64_t sleds_pick_init_fixed(int fd, size_t preferred_buffer_bytes, int64_t origin, int64_t record_bytes);

/* Where to read next: *length bytes at *offset, the cheapest first, the lowest offset among equals, every byte exactly once. The
 * program is presumed to follow; nobody checks. Never more than `buffer_bytes`, and whole records, with one exception, a record
 * longer than the buffer. With `whole_records` 0 it comes in pieces, one after the other; else the call fails with ERANGE,
 * *length says how large the buffer must be, and the next call asks again.
 * 1; or 0 when every byte was advised; or -1: ESTALE when the file became shorter or the descriptor is of another file. */
int sleds_pick_next_read(int fd, size_t buffer_bytes, int whole_records, int64_t *offset, size_t *length);

/* As pread(), but what is cached stays cached, and what is not comes into the cache only while there is room; once it is full it is
 * read past the cache (Linux 6.14 and later; before, through it). Whether there is room is looked up at the first read of a pick, at
 * the tightest of machine and memory cgroup, and counted down; where all that is missing finds room, the read is a plain pread().
 * Any `offset` may be read, advised or not, by any number of threads at a time. Signals do not cut it short.
 *
 * Where there is not room for all, the descriptor is advised POSIX_FADV_RANDOM until sleds_pick_finish(), for others who read
 * by it too; and what is cached is read through a mapping, for which the library puts a handler of SIGBUS in front of the program's,
 * which it asks about all but its own mappings: a program that installs one should do so before the first read.
 * The number of bytes, less than `bytes` only at the end of the file; or -1: EINVAL when nothing was begun, ESTALE when the descriptor
 * is of another file, else what pread() says. */
ssize_t sleds_pick_read(int fd, void *buffer, size_t bytes, int64_t offset);

/* Holds up to so many bytes that are cached and not yet advised, the last first, at most half of what may be cached: they are not pushed
 * out, by nobody, until they are advised, held anew or finished with. Locked as far as RLIMIT_MEMLOCK allows, and else mapped, which
 * protects less. It is bought at the expense of others' cached bytes. The number of bytes held; or -1. */
ssize_t sleds_pick_hold(int fd, size_t bytes);

/* Looks at the file again now. sleds_pick_next_read() does so itself when the last look is half a second old. 0, or -1. */
int sleds_pick_refresh(int fd);

/* Ends the advice, before close() or after. 0, or -1 if none was begun. */
int sleds_pick_finish(int fd);

/* The same in units of data elements, for programs that think in numbers rather than bytes: `elements` of `element_bytes` each
 * (all that fit if negative), the first of which starts at byte `origin`. Elements are numbered from 0; sizes of buffers, and what is
 * read, are in elements too, and only whole ones count. */
int64_t ff_sleds_pick_init(int fd, int64_t preferred_buffer_elements, int64_t origin, int64_t element_bytes, int64_t elements);
int ff_sleds_pick_next_read(int fd, int64_t buffer_elements, int64_t *first, int64_t *count);
int64_t ff_sleds_pick_read(int fd, void *buffer, int64_t elements, int64_t first);
int ff_sleds_pick_refresh(int fd);
int ff_sleds_pick_finish(int fd);
double ff_sleds_total_delivery_time(int fd, int attack_plan);

/* The version of the library, as SEEKLESS_SLEDS_VERSION is that of the header: not less, or something is missing. */
int sleds_version(void);

/* "memory" for SLEDS_MEMORY; NULL if there is no such level. Not to be freed. */
const char *sleds_level_name(int level);

/* Why the last call of this thread that failed did so; "" if none has. Valid until the thread's next call that fails. */
const char *sleds_error(void);

#ifdef __cplusplus
}
#endif

#endif
