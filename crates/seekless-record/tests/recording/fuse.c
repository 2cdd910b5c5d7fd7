/* A file system of one directory and one file, served by one thread of a process that is itself recorded, and a process
   that uses it: `fuse MOUNTPOINT BACKING`. The server reads BACKING with each answer, so that it stops at calls of its own
   while the other waits for it. Nothing is remembered by the kernel: it asks each time. Exits 77 where it may not mount. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROOT = 1, FILE_NODE = 2, LINK_NODE = 3, FILE_BYTES = 5000 };

#define CHECK(truth) do { if (!(truth)) { perror(#truth); _exit(99); } } while (0)

static char request[1 << 20], answer[1 << 17];
static int device;

static struct fuse_attr attributes(unsigned long node) {
    struct fuse_attr found = {.ino = node, .nlink = 1, .blksize = 4096};
    found.mode = node == ROOT ? S_IFDIR | 0755 : node == LINK_NODE ? S_IFLNK | 0777 : S_IFREG | 0644;
    found.size = node == FILE_NODE ? FILE_BYTES : 1;
    return found;
}

static void reply(unsigned long unique, int error, const void *bytes, size_t count) {
    struct fuse_out_header *head = (void *)answer;
    head->unique = unique;
    head->error = -error;
    head->len = (unsigned)(sizeof *head + (error ? 0 : count));
    if (!error) memcpy(head + 1, bytes, count);
    write(device, answer, head->len); /* ENOENT: it was interrupted */
}

static void look_up(struct fuse_in_header *head, const char *name) {
    struct fuse_entry_out entry = {0};
    if (strcmp(name, "file") == 0) entry.nodeid = FILE_NODE;
    else if (strcmp(name, "here") == 0) entry.nodeid = LINK_NODE;
    else return reply(head->unique, ENOENT, NULL, 0);
    entry.attr = attributes(entry.nodeid);
    reply(head->unique, 0, &entry, sizeof entry);
}

static void serve_one(struct fuse_in_header *head) {
    void *argument = head + 1;
    struct fuse_init_out start = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 1 << 16, .max_readahead = 1 << 16};
    struct fuse_attr_out attr = {.attr = attributes(head->nodeid)};
    struct fuse_open_out opened = {.fh = 1, .open_flags = FOPEN_DIRECT_IO};
    static char bytes[FILE_BYTES];
    switch (head->opcode) {
    case FUSE_INIT: return reply(head->unique, 0, &start, sizeof start);
    case FUSE_LOOKUP: return look_up(head, argument);
    case FUSE_GETATTR: return reply(head->unique, 0, &attr, sizeof attr);
    case FUSE_READLINK: return reply(head->unique, 0, ".", 1);
    case FUSE_OPEN: return reply(head->unique, 0, &opened, sizeof opened);
    case FUSE_OPENDIR: return reply(head->unique, 0, &opened, sizeof opened);
    case FUSE_READDIR: return reply(head->unique, 0, "", 0);
    case FUSE_RELEASE: case FUSE_RELEASEDIR: case FUSE_FLUSH: return reply(head->unique, 0, "", 0);
    case FUSE_FORGET: case FUSE_BATCH_FORGET: case FUSE_INTERRUPT: return;
    case FUSE_READ: {
        struct fuse_read_in *wanted = argument;
        size_t rest = wanted->offset < FILE_BYTES ? FILE_BYTES - wanted->offset : 0;
        return reply(head->unique, 0, bytes, wanted->size < rest ? wanted->size : rest);
    }
    default: return reply(head->unique, ENOSYS, NULL, 0);
    }
}

static void serve(const char *backing) {
    char byte;
    for (;;) {
        ssize_t got = read(device, request, sizeof request);
        if (got == -1 && errno == ENODEV) _exit(0); /* unmounted */
        if (got == -1 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        CHECK(got > 0);
        int fd = open(backing, O_RDONLY);
        CHECK(fd >= 0 && read(fd, &byte, 1) == 1 && close(fd) == 0);
        serve_one((void *)request);
    }
}

static void use(void) {
    char buffer[4096];
    struct stat found;
    size_t sum = 0;
    for (int round = 0; round < 20; round++) {
        int fd = open("file", O_RDONLY);
        ssize_t got;
        CHECK(fd >= 0);
        while ((got = read(fd, buffer, sizeof buffer)) > 0) sum += (size_t)got;
        CHECK(got == 0 && close(fd) == 0);
        CHECK(stat("gone", &found) == -1 && open("../mount/none", O_RDONLY) == -1);
        CHECK(stat("here/../elsewhere", &found) == -1);
        CHECK(stat("file", &found) == 0 && readlink("here", buffer, sizeof buffer) == 1);
        int directory = open(".", O_RDONLY | O_DIRECTORY);
        CHECK(directory >= 0 && fchdir(directory) == 0 && close(directory) == 0);
    }
    printf("%zu\n", sum);
}

int main(int count, char **words) {
    char options[100];
    pid_t server;
    int status;
    (void)count;
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device == -1) return 77;
    sprintf(options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
    if (mount("test", words[1], "fuse", MS_NOSUID | MS_NODEV, options) == -1) return 77;
    if ((server = fork()) == 0) serve(words[2]);
    CHECK(close(device) == 0 && chdir(words[1]) == 0);
    use();
    CHECK(chdir("/") == 0 && umount2(words[1], MNT_DETACH) == 0);
    CHECK(waitpid(server, &status, 0) == server && status == 0);
    return 0;
}
