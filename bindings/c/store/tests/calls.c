/* Every call of the header as C makes it: `calls PACK FOLDER [threads]`. With the last word no ring
 * reads: valgrind lets no other thread run while one waits for a ring. The pack has art/wall.dds ("brick"
 * 1000 times), a stored file `plain` (0 to 255, 40 times) and `empty`; the folder has art/wall.dds
 * ("mod"). */
#include <errno.h>
#include <pthread.h>
#include <seekless_store.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct seekless_store_options) == 80, "as in Rust");
_Static_assert(offsetof(struct seekless_store_options, policy) == 40, "as in Rust");
_Static_assert(offsetof(struct seekless_store_options, depth) == 64, "as in Rust");
_Static_assert(sizeof(struct seekless_store_source) == 16, "as in Rust");
_Static_assert(sizeof(struct seekless_store_statistics) % 8 == 0, "numbers alone");

/* Ends the program with words if the condition does not hold. */
#define must(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s (errno %d: %s)\n", __LINE__, #condition, errno, \
                    seekless_store_error()); \
            exit(1); \
        } \
    } while (0)

/* The call fails with this number, and its text has this word. */
#define fails(call, number, word) \
    do { \
        errno = 0; \
        must(!(call) && errno == (number) && strstr(seekless_store_error(), word)); \
    } while (0)

/* The options of stores that need no others. */
static const struct seekless_store_options *usual;

static int is(const seekless_buffer *buffer, const char *words, size_t times)
{
    size_t length = strlen(words);
    if (!buffer || seekless_buffer_bytes(buffer) != length * times)
        return 0;
    for (size_t at = 0; at < times; at++)
        if (memcmp(seekless_buffer_data(buffer) + at * length, words, length) != 0)
            return 0;
    return 1;
}

static void loads(seekless_store *store)
{
    seekless_buffer *wall = seekless_store_load(store, "art/wall.dds");
    must(is(wall, "brick", 1000));
    seekless_buffer *again = seekless_store_load(store, "./art\\wall.dds");
    must(again && seekless_buffer_data(again) == seekless_buffer_data(wall));
    seekless_buffer_release(again);
    seekless_buffer_release(wall);
    seekless_buffer *empty = seekless_store_load(store, "empty");
    must(empty && seekless_buffer_bytes(empty) == 0 && seekless_buffer_data(empty));
    seekless_buffer_release(empty);
    fails(seekless_store_load(store, "nowhere"), ENOENT, "nowhere");
    fails(seekless_store_load(store, NULL), EINVAL, "name is NULL");
    fails(seekless_store_load(store, "\xff"), EINVAL, "UTF-8");
    fails(seekless_store_load(NULL, "x"), EINVAL, "store is NULL");
    must(seekless_store_hint(store, "plain", SEEKLESS_STORE_COST, 7) == 0);
    must(seekless_store_hint(store, "plain", 99, 0) == -1 && errno == EINVAL);
    must(seekless_store_hint(store, "nowhere", SEEKLESS_STORE_ONCE, 0) == -1 && errno == ENOENT);
}

static void ranges(seekless_store *store)
{
    seekless_buffer *part = seekless_store_read_range(store, "plain", 250, 10);
    must(part && seekless_buffer_bytes(part) == 10);
    for (size_t at = 0; at < 10; at++)
        must(seekless_buffer_data(part)[at] == (250 + at) % 256);
    seekless_buffer_release(part);
    part = seekless_store_read_range(store, "plain", 10239, UINT64_MAX);
    must(part && seekless_buffer_bytes(part) == 1);
    seekless_buffer_release(part);
    part = seekless_store_read_range(store, "plain", UINT64_MAX, 1);
    must(part && seekless_buffer_bytes(part) == 0);
    seekless_buffer_release(part);
}

static void lists(seekless_store *store)
{
    const char *names[] = {"plain", "nowhere", "art/wall.dds"};
    seekless_store_many *many = seekless_store_load_many(store, names, 3);
    must(many);
    int seen[3] = {0, 0, 0}, more;
    size_t position;
    seekless_buffer *buffer;
    while ((more = seekless_store_many_next(many, &position, &buffer)) != 0) {
        must(position < 3 && !seen[position]++);
        must(position == 1 ? more == -1 && !buffer : more == 1 && buffer);
        seekless_buffer_release(buffer);
    }
    must(seen[0] && seen[1] && seen[2]);
    seekless_store_many_end(many);
    many = seekless_store_load_many(store, names, 3);
    must(seekless_store_many_next(many, &position, NULL) == -1 && errno == EINVAL);
    seekless_store_many_end(many);
    fails(seekless_store_load_many(store, NULL, 2), EINVAL, "names is NULL");
    many = seekless_store_load_many(store, NULL, 0);
    must(many && seekless_store_many_next(many, &position, &buffer) == 0);
    seekless_store_many_end(many);
}

static void *load_often(void *store)
{
    for (int at = 0; at < 2000; at++) {
        seekless_buffer *wall = seekless_store_load((seekless_store *)store, "art/wall.dds");
        must(is(wall, "brick", 1000));
        seekless_buffer_release(wall);
    }
    return NULL;
}

static void threads(seekless_store *store)
{
    pthread_t ids[3];
    for (int at = 0; at < 3; at++)
        must(pthread_create(&ids[at], NULL, load_often, store) == 0);
    for (int at = 0; at < 3; at++)
        must(pthread_join(ids[at], NULL) == 0);
}

static void statistics(const seekless_store *store)
{
    struct seekless_store_statistics found;
    must(seekless_store_get_statistics(store, &found, sizeof found) == 0);
    must(found.hits >= 6000 && found.ranges >= 1 && found.delivered_bytes > 0);
    must(found.waits >= 1 && found.reads >= 1 && found.depth_max >= 1);
    must(found.predicted_used_bytes <= found.predicted_bytes);
    must(found.wait_p50_ns <= found.wait_p99_ns && found.wait_p99_ns <= found.wait_max_ns);
    /* A program with an older header has a shorter struct: nothing behind it is written. */
    struct { uint64_t hits, after; } old = {0, 42};
    void *place = &old;
    must(seekless_store_get_statistics(store, (struct seekless_store_statistics *)place, 8) == 0);
    must(old.hits == found.hits && old.after == 42);
    must(seekless_store_get_statistics(store, NULL, 8) == -1 && errno == EINVAL);
}

static void options_and_sources(const char *pack, const char *folder)
{
    struct seekless_store_options options;
    memset(&options, 0, sizeof options);
    fails(seekless_store_open(pack, &options), EINVAL, "seekless_store_options_init");
    seekless_store_options_init(&options, sizeof options);
    must(options.struct_bytes == sizeof options && options.cache_bytes == SEEKLESS_STORE_USUAL);
    options.policy = "s3-fifo";
    options.engine = SEEKLESS_STORE_THREADS;
    options.direct = 0;
    options.max_entry_bytes = 4000;
    options.request_ns = 1000, options.bytes_per_second = 1000000000, options.depth = 4;
    struct seekless_store_source sources[2] = {{SEEKLESS_STORE_ARCHIVE, pack},
                                               {SEEKLESS_STORE_FOLDER, folder}};
    seekless_store *store = seekless_store_open_all(sources, 2, &options);
    must(store);
    seekless_buffer *wall = seekless_store_load(store, "art/wall.dds");
    must(is(wall, "mod", 1));
    fails(seekless_store_load(store, "plain"), EFBIG, "max_entry_bytes");
    seekless_store_close(store);
    must(is(wall, "mod", 1)); /* a buffer outlives its store */
    seekless_buffer_release(wall);
    options.policy = "no such";
    fails(seekless_store_open(pack, &options), EINVAL, "no such");
    options.policy = NULL, options.engine = 9;
    fails(seekless_store_open(pack, &options), EINVAL, "engine");
    options.engine = 0, options.depth = 0;
    fails(seekless_store_open(pack, &options), EINVAL, "depth");
    sources[1].kind = 5;
    fails(seekless_store_open_all(sources, 2, NULL), EINVAL, "kind");
    fails(seekless_store_open_all(NULL, 0, NULL), EINVAL, "nothing to load from");
    fails(seekless_store_open("absent.zip", usual), ENOENT, "absent.zip");
    fails(seekless_store_open(NULL, NULL), EINVAL, "path is NULL");
}

/* A loose file, read backward and past its end. */
static void loose(void)
{
    enum { BYTES = 300001, STEP = 7000 };
    static unsigned char content[BYTES], part[STEP];
    for (size_t at = 0; at < BYTES; at++)
        content[at] = (unsigned char)(at * 31 + at / 256);
    FILE *made = fopen("loose", "wb");
    must(made && fwrite(content, 1, BYTES, made) == BYTES && fclose(made) == 0);
    fails(seekless_page_cache_make(100, NULL, NULL), EINVAL, "too few");
    fails(seekless_page_cache_make(1 << 20, "luru", NULL), EINVAL, "luru");
    fails(seekless_page_cache_make(1 << 20, NULL, "stream"), EINVAL, "streams");
    seekless_page_cache *cache = seekless_page_cache_make(1 << 20, "s3-fifo", NULL);
    must(cache);
    fails(seekless_file_open(cache, "nowhere"), ENOENT, "nowhere");
    fails(seekless_file_open(cache, NULL), EINVAL, "path is NULL");
    fails(seekless_file_open(NULL, "loose"), EINVAL, "cache is NULL");
    seekless_file *file = seekless_file_open(cache, "loose");
    must(file && seekless_file_bytes(file) == BYTES);
    seekless_page_cache_free(cache); /* the file goes on */
    for (size_t at = BYTES - STEP; at >= STEP; at -= STEP) {
        must(seekless_file_read_at(file, part, STEP, at) == STEP);
        must(memcmp(part, content + at, STEP) == 0);
    }
    must(seekless_file_read_at(file, part, STEP, BYTES - 5) == 5);
    must(seekless_file_read_at(file, part, STEP, BYTES) == 0);
    must(seekless_file_read_at(file, NULL, 0, 0) == 0);
    must(seekless_file_read_at(file, NULL, 1, 0) == -1 && errno == EINVAL);
    must(seekless_file_read_at(NULL, part, 1, 0) == -1 && errno == EINVAL);
    must(seekless_file_bytes(NULL) == -1 && errno == EINVAL);
    seekless_file_close(file);
    seekless_file_close(NULL);
    seekless_page_cache_free(NULL);
}

int main(int argc, char **argv)
{
    must(argc >= 3 && seekless_store_version() == SEEKLESS_STORE_VERSION);
    must(seekless_store_error()[0] == 0);
    struct seekless_store_options threads_only;
    seekless_store_options_init(&threads_only, sizeof threads_only);
    threads_only.engine = SEEKLESS_STORE_THREADS;
    usual = argc > 3 ? &threads_only : NULL;
    seekless_store *store = seekless_store_open(argv[1], usual);
    must(store);
    ranges(store);
    loads(store);
    lists(store);
    threads(store);
    statistics(store);
    seekless_store_close(store);
    options_and_sources(argv[1], argv[2]);
    if (argc == 3)
        loose();
    seekless_store_close(NULL);
    seekless_buffer_release(NULL);
    seekless_store_many_end(NULL);
    return 0;
}
