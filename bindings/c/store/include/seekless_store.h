/* Loads files from packs (ordered Zip archives, made by `seekless pack`) and loose folders: through
 * a cache, with what lies around them, decoded by threads of the store. Link with -lseekless_store,
 * or ask pkg-config for seekless-store.
 *
 *     seekless_store *store = seekless_store_open("data.zip", NULL);
 *     seekless_buffer *wall = seekless_store_load(store, "art/wall.dds");
 *     fwrite(seekless_buffer_data(wall), 1, seekless_buffer_bytes(wall), stdout);
 *     seekless_buffer_release(wall);
 *     seekless_store_close(store);
 *
 * Large loose files are read through a page cache with a readahead that follows backward, strided
 * and interleaved reads:
 *
 *     seekless_page_cache *cache = seekless_page_cache_make(64 << 20, NULL, NULL);
 *     seekless_file *file = seekless_file_open(cache, "huge.bin");
 *     int64_t read = seekless_file_read_at(file, buffer, sizeof buffer, 1 << 30);
 *     seekless_file_close(file);
 *     seekless_page_cache_free(cache);
 *
 * Every call may be made from any thread, also for one store at once; an iterator is for one thread
 * at a time. A store or page cache does not outlive fork(). Names are UTF-8.
 *
 * A call that fails returns NULL or a negative value and sets errno; seekless_store_error() then
 * describes the failure. errno is ENOENT where there is no such file, EIO where a read failed,
 * EBADMSG where an archive is damaged, EFBIG where a file is larger than the store may load, and
 * EINVAL for wrong arguments and archives that cannot be opened. Where the system gave a number,
 * it is that. The manual is seekless_store(3). */
#ifndef SEEKLESS_STORE_H
#define SEEKLESS_STORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header: major * 1000000 + minor * 1000 + patch. seekless_store_version()
 * returns that of the library in use. */
#define SEEKLESS_STORE_VERSION 1000

/* In an option: what the library usually does. */
#define SEEKLESS_STORE_USUAL UINT64_MAX

/* An open store, a file's content, an iterator over loads. */
typedef struct seekless_store seekless_store;
typedef struct seekless_buffer seekless_buffer;
typedef struct seekless_store_many seekless_store_many;

/* A cache of pages, and a file that is read through it. */
typedef struct seekless_page_cache seekless_page_cache;
typedef struct seekless_file seekless_file;

/* What reads. */
enum seekless_store_engine {
    SEEKLESS_STORE_BEST = 0,   /* the best that the kernel allows */
    SEEKLESS_STORE_RING = 1,   /* io_uring */
    SEEKLESS_STORE_THREADS = 2 /* pread in threads */
};

/* How long a file will be needed. */
enum seekless_store_hint {
    SEEKLESS_STORE_ONCE = 0,       /* once: it leaves the cache first */
    SEEKLESS_STORE_NO_HINT = 1,    /* nothing is known */
    SEEKLESS_STORE_LONG_LIVED = 2, /* for long: it stays for longer */
    SEEKLESS_STORE_COST = 3,       /* the cost of losing it; without a hint 1 */
    SEEKLESS_STORE_URGENT = 4      /* of reads that wait, its goes first */
};

/* Where to load from. */
enum seekless_store_source_kind {
    SEEKLESS_STORE_ARCHIVE = 0, /* a Zip archive */
    SEEKLESS_STORE_FOLDER = 1   /* a folder of loose files */
};
struct seekless_store_source {
    int32_t kind; /* enum seekless_store_source_kind */
    const char *path;
};

/* How to load. seekless_store_options_init() fills it in; then change what you know better. Later
 * versions may append fields: struct_bytes says which there are. */
struct seekless_store_options {
    size_t struct_bytes;       /* sizeof (struct seekless_store_options) */
    uint64_t cache_bytes;      /* content that the cache keeps: 64 MiB */
    uint64_t read_ahead_bytes; /* kept of reads for files not yet asked for */
    uint64_t window_bytes;     /* how far a list of loads is read ahead */
    uint64_t max_entry_bytes;  /* the largest file that is loaded: 1 GiB */
    const char *policy;        /* of eviction; NULL is landlord */
    uint64_t request_ns;       /* what a request costs on the device; 0 is unknown */
    uint64_t bytes_per_second; /* what the device delivers; 0 is unknown */
    uint32_t depth;            /* requests that it serves at once; 0 is unknown */
    uint32_t workers;          /* threads that decode; 0 is as many as cores */
    int32_t engine;            /* enum seekless_store_engine */
    int32_t direct;            /* 0 reads through the page cache; 1, the usual, past it */
};

/* What became of the loads so far. Later versions may append fields. */
struct seekless_store_statistics {
    uint64_t hits;            /* loads of files that the cache had */
    uint64_t joined;          /* loads that waited for a read under way */
    uint64_t revived;         /* loads of files evicted but still held */
    uint64_t misses;          /* loads of files that were fetched and kept */
    uint64_t bypassed;        /* loads of files that were fetched and not kept */
    uint64_t read_ahead_hits; /* of these, files read ahead with another */
    uint64_t ranges;          /* parts of stored files that were read */
    uint64_t failed;          /* loads that ended with an error */
    uint64_t delivered_bytes; /* content handed out */
    uint64_t coded_bytes;     /* coded size of what was decoded */
    uint64_t read_bytes;      /* read for entries */
    uint64_t unused_bytes;    /* of these, not asked for so far */
    uint64_t reads;           /* reads sent to the device for entries */
    uint64_t depth_max;       /* most of them in flight at one time */
    uint64_t waits;           /* loads that waited for a read, and have ended */
    uint64_t wait_ns;         /* how long, together */
    uint64_t wait_p50_ns;     /* half of them waited no longer */
    uint64_t wait_p99_ns;     /* 99 in 100 waited no longer */
    uint64_t wait_max_ns;     /* the longest */
    uint64_t predicted_bytes; /* read ahead because the files in them were expected */
    uint64_t predicted_used_bytes; /* of these, bytes of files that were loaded since */
};

/* Fills in what the library usually does; struct_bytes is sizeof *options. */
void seekless_store_options_init(struct seekless_store_options *options, size_t struct_bytes);

/* Opens an archive; options may be NULL. Close it with seekless_store_close(). */
seekless_store *seekless_store_open(const char *path, const struct seekless_store_options *options);

/* Opens several archives and folders as one store: of files with one name, the last source's is
 * loaded. */
seekless_store *seekless_store_open_all(const struct seekless_store_source *sources, size_t count, const struct seekless_store_options *options);

/* Closes a store; NULL does nothing. Buffers stay valid until they are released. */
void seekless_store_close(seekless_store *store);

/* Loads a file, from the cache if that has it. Release the buffer with seekless_buffer_release(). */
seekless_buffer *seekless_store_load(seekless_store *store, const char *name);

/* Reads bytes of a file from offset on; fewer where the file ends before, as pread() does. Of a
 * stored entry only these blocks are read; of a deflated one of over 4 MiB in a pack that Seekless
 * made, the chunks of 1 MiB that hold them. Any other compressed one is loaded whole, if the cache
 * can keep it; if not, it is decoded as a stream, in memory for these bytes alone. */
seekless_buffer *seekless_store_read_range(seekless_store *store, const char *name, uint64_t offset, uint64_t bytes);

/* Begins to load many files; they come in the order in which they arrive. End the iterator with
 * seekless_store_many_end(). The names are copied. */
seekless_store_many *seekless_store_load_many(seekless_store *store, const char *const *names, size_t count);

/* Waits for the next file: 1 with its position in the list and its buffer, -1 with its position if
 * it failed (go on with the next), 0 after the last. */
int seekless_store_many_next(seekless_store_many *many, size_t *position, seekless_buffer **buffer);

/* Ends the iterator, also early: what is not yet being read is not read. NULL does nothing. */
void seekless_store_many_end(seekless_store_many *many);

/* The content of a file: read-only, and never NULL. */
const unsigned char *seekless_buffer_data(const seekless_buffer *buffer);
size_t seekless_buffer_bytes(const seekless_buffer *buffer);

/* Gives a buffer back; NULL does nothing. */
void seekless_buffer_release(seekless_buffer *buffer);

/* Says how long a file will be needed (enum seekless_store_hint); cost is for SEEKLESS_STORE_COST. */
int seekless_store_hint(seekless_store *store, const char *name, int hint, uint32_t cost);

/* Writes the statistics; struct_bytes is sizeof *statistics. */
int seekless_store_get_statistics(const seekless_store *store, struct seekless_store_statistics *statistics, size_t struct_bytes);

/* Makes a page cache of this many bytes, at least 64 KiB. policy, what leaves it, and readahead may
 * be NULL: lru and streams. Give it back with seekless_page_cache_free(). */
seekless_page_cache *seekless_page_cache_make(uint64_t bytes, const char *policy, const char *readahead);

/* Gives a page cache back; NULL does nothing. Its open files stay usable. */
void seekless_page_cache_free(seekless_page_cache *cache);

/* Opens a file for reading, past the system's page cache where the file system allows it. */
seekless_file *seekless_file_open(seekless_page_cache *cache, const char *path);

/* Reads bytes from offset on, as pread() does: returns how many, fewer where the file ends. */
int64_t seekless_file_read_at(seekless_file *file, void *buffer, size_t bytes, uint64_t offset);

/* The size of the file, now. */
int64_t seekless_file_bytes(seekless_file *file);

/* Closes a file; NULL does nothing. */
void seekless_file_close(seekless_file *file);

/* The version of the library. */
int seekless_store_version(void);

/* Why the last failed call of this thread failed; valid until its next failure. */
const char *seekless_store_error(void);

#ifdef __cplusplus
}
#endif

#endif
