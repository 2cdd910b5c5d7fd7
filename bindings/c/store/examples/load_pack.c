/* Loads files of a pack and prints their sizes and the sums of their bytes: `load_pack PACK
 * [NAME ...]`. The names are loaded together first, then one after the other, which the cache
 * serves. Compiles as C and as C++. */
#include <errno.h>
#include <seekless_store.h>
#include <stdio.h>

static unsigned long sum(const seekless_buffer *buffer)
{
    const unsigned char *data = seekless_buffer_data(buffer);
    unsigned long total = 0;
    for (size_t at = 0; at < seekless_buffer_bytes(buffer); at++)
        total += data[at];
    return total;
}

/* Files come in the order in which they arrive. */
static int load_together(seekless_store *store, const char *const *names, size_t count)
{
    seekless_store_many *many = seekless_store_load_many(store, names, count);
    if (!many)
        return 1;
    int failed = 0, more;
    size_t position;
    seekless_buffer *buffer;
    while ((more = seekless_store_many_next(many, &position, &buffer)) != 0) {
        if (more < 0) {
            fprintf(stderr, "%s\n", seekless_store_error());
            failed = 1;
        }
        seekless_buffer_release(buffer);
    }
    seekless_store_many_end(many);
    return failed;
}

static int print_file(seekless_store *store, const char *name)
{
    seekless_buffer *whole = seekless_store_load(store, name);
    if (!whole)
        return 1;
    seekless_buffer *start = seekless_store_read_range(store, name, 0, 4);
    printf("%s: %zu bytes, sum %lu, %zu of them first\n", name, seekless_buffer_bytes(whole),
           sum(whole), start ? seekless_buffer_bytes(start) : 0);
    seekless_buffer_release(start);
    seekless_buffer_release(whole);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: load_pack PACK [NAME ...]\n");
        return 2;
    }
    struct seekless_store_options options;
    seekless_store_options_init(&options, sizeof options);
    options.cache_bytes = 32 << 20;
    seekless_store *store = seekless_store_open(argv[1], &options);
    if (!store) {
        fprintf(stderr, "%s\n", seekless_store_error());
        return 1;
    }
    const char *const *names = (const char *const *)(argv + 2);
    size_t count = (size_t)argc - 2;
    int failed = load_together(store, names, count);
    for (size_t at = 0; at < count; at++)
        failed |= print_file(store, names[at]);
    struct seekless_store_statistics statistics;
    if (seekless_store_get_statistics(store, &statistics, sizeof statistics) == 0)
        printf("%llu hits, %llu misses\n", (unsigned long long)statistics.hits,
               (unsigned long long)statistics.misses);
    seekless_store_close(store);
    return failed;
}
