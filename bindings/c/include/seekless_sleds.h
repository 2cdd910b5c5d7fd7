/* SLEDs: what each range of a file costs to read now, and in which order to read it (Van Meter and
 * Gao, "Latency Management in Storage Systems", OSDI 2000). Link with -lseekless_sleds, or ask
 * pkg-config for seekless-sleds.
 *
 * A program opens its file as usual, and then:
 *
 *     int64_t bytes = sleds_pick_init(fd, 1 << 20, '\n');    the size of the buffer to use
 *     while ((more = sleds_pick_next_read(fd, bytes, 0, &offset, &length)) == 1)
 *         sleds_pick_read(fd, buffer, length, offset) ...    the cheapest bytes first, like pread()
 *     sleds_pick_finish(fd);
 *
 * Descriptors must be of regular files, open for reading. Their positions do not change. Every call
 * may be made from any thread; threads that ask for the next read of one descriptor get different
 * ones. No call opens the file again: closing a second descriptor would release the program's
 * record locks (fcntl). The manual is seekless_sleds(3).
 *
 * A call that fails returns a negative value and sets errno. sleds_error() then describes the
 * failure. */
#ifndef SEEKLESS_SLEDS_H
#define SEEKLESS_SLEDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: major * 1000000 + minor * 1000 + patch. sleds_version() returns that
 * of the library in use. */
#define SEEKLESS_SLEDS_VERSION 1000

/* What would deliver a range. */
enum sleds_level {
    SLEDS_HOLE = 0,    /* no storage: zeros */
    SLEDS_MEMORY = 1,  /* the page cache */
    SLEDS_DEVICE = 2,  /* a device of this machine */
    SLEDS_NETWORK = 3, /* another machine */
    SLEDS_ARCHIVE = 4, /* an archive: recalled first, from tape or the like */
    SLEDS_UNKNOWN = 5  /* it cannot be found out without reading */
};

/* How sure the level is. */
enum sleds_confidence {
    SLEDS_EXACT = 0,   /* every page was asked about */
    SLEDS_SAMPLED = 1, /* most pages are at this level */
    SLEDS_UNSURE = 2   /* nothing is known about the range */
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
    double age;         /* seconds since the system was asked */
    int32_t level;      /* enum sleds_level */
    int32_t confidence; /* enum sleds_confidence */
};

/* Every byte is a record: there is no delimiter. */
#define SLEDS_NO_RECORDS (-1)

/* Stores all SLEDs of the file, in order and without gaps; free them with sleds_free(). An empty
 * file has no SLEDs, and *sleds is NULL. Returns 0, or -1. */
int sleds_get(int fd, struct sled **sleds, size_t *count);

/* Frees what sleds_get() returned. NULL is allowed. */
void sleds_free(struct sled *sleds);

/* Estimates the seconds to deliver the whole file. Where the state is unknown, or a linear reader
 * might lose cached bytes before it reads them, this is the worst case. Negative on failure. */
double sleds_total_delivery_time(int fd, int attack_plan);

/* Estimates the seconds at best and at worst. Returns 0, or -1. */
int sleds_delivery_time_range(int fd, int attack_plan, double *low, double *high);

/* Begins a session on a descriptor, or begins it again. `record` is the byte that ends a record
 * ('\n'), or SLEDS_NO_RECORDS. Returns the size of the buffer to use: the preferred size rounded up
 * to whole pages, or 256 KiB if that is 0. Negative on failure. Bytes appended to the file later
 * are not handed out. */
int64_t sleds_pick_init(int fd, size_t preferred_buffer_bytes, int record);

/* Begins a session with records of one length; the first starts at `origin`. Bytes before
 * it are not handed out, nor is an incomplete record at the end. The buffer holds whole records. */
int64_t sleds_pick_init_fixed(int fd, size_t preferred_buffer_bytes, int64_t origin, int64_t record_bytes);

/* Says where to read next: *length bytes at *offset. The cheapest bytes come first, and the lowest
 * offset among equals. Every byte is handed out exactly once; the library does not check that the
 * program reads it.
 *
 * A range holds whole records and at most `buffer_bytes`. A record longer than the buffer is the
 * exception. With `whole_records` 0 it comes in pieces, one after the other. Otherwise the call
 * fails with ERANGE, *length is the size that the buffer must have, and the next call asks again.
 *
 * Returns 1; or 0 when every byte was handed out; or -1. ESTALE: the file became shorter, or the
 * descriptor is of another file. */
int sleds_pick_next_read(int fd, size_t buffer_bytes, int whole_records, int64_t *offset, size_t *length);

/* Reads like pread(), but leaves cached bytes in the page cache, and brings others in only while
 * there is room. Once the cache is full, they are read past it (Linux 6.14 and later; before,
 * through it).
 *
 * The first read of a session looks up whether there is room, at the tighter of machine and memory
 * cgroup, and further reads count it down. If there is room for all that is missing, a read is a
 * plain pread(). Any `offset` may be read, handed out or not, by any number of threads at a time.
 * Signals do not cut a read short.
 *
 * If there is not room for all, two things change until sleds_pick_finish(). The descriptor is
 * advised POSIX_FADV_RANDOM, which other reads through it notice. And cached bytes are read through
 * a mapping, for which the library installs a handler of SIGBUS. It calls the program's handler for
 * all faults outside its own mappings. A program that installs one should do so before the first
 * read.
 *
 * Returns the number of bytes, fewer than `bytes` only at the end of the file; or -1. EINVAL: no
 * session was begun. ESTALE: the descriptor is of another file. Other errors are those of pread().
 */
ssize_t sleds_pick_read(int fd, void *buffer, size_t bytes, int64_t offset);

/* Holds up to `bytes` cached bytes in memory that were not yet handed out, those at the end of the
 * file first, and at most half of what may be cached. They stay until they are handed out, or until
 * the next call of this function or sleds_pick_finish(). They are locked as far as RLIMIT_MEMLOCK
 * allows. Beyond that they are mapped, which protects them less. Other programs' cached bytes leave
 * in their place. Returns the number of bytes held; or -1. */
ssize_t sleds_pick_hold(int fd, size_t bytes);

/* Looks at the file again now. sleds_pick_next_read() does so itself when the last look is half a
 * second old. Returns 0, or -1. */
int sleds_pick_refresh(int fd);

/* Ends the session, before close() or after. Returns 0, or -1 if no session was begun. */
int sleds_pick_finish(int fd);

/* The same calls in units of data elements, for programs that count in numbers rather than bytes:
 * `elements` of `element_bytes` each (all that fit if negative); the first starts at byte
 * `origin`. Elements are numbered from 0. Buffer sizes and results are in elements, too, and only
 * whole elements count. */
int64_t ff_sleds_pick_init(int fd, int64_t preferred_buffer_elements, int64_t origin, int64_t element_bytes, int64_t elements);
int ff_sleds_pick_next_read(int fd, int64_t buffer_elements, int64_t *first, int64_t *count);
int64_t ff_sleds_pick_read(int fd, void *buffer, int64_t elements, int64_t first);
int ff_sleds_pick_refresh(int fd);
int ff_sleds_pick_finish(int fd);
double ff_sleds_total_delivery_time(int fd, int attack_plan);

/* The version of the library. It must not be less than SEEKLESS_SLEDS_VERSION, that of the header,
 * or calls may be missing. */
int sleds_version(void);

/* The name of a level, such as "memory" for SLEDS_MEMORY; NULL for other numbers. Do not free it.
 */
const char *sleds_level_name(int level);

/* Why the last failed call of this thread failed; "" if no call has failed. The text is valid until
 * the thread's next failure. */
const char *sleds_error(void);

#ifdef __cplusplus
}
#endif

#endif
