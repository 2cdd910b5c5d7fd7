/* What the tests record: one small act a mode, `helper MODE ARGUMENT...`. Any surprise exits 99. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];
static const char *file;
extern char **environ;

#ifdef __x86_64__
#define IO_PGETEVENTS 333
#else
#define IO_PGETEVENTS 292
#endif
#define CHECK(truth) do { if (!(truth)) { perror(#truth); _exit(99); } } while (0)

static int opened(int flags) { int fd = open(file, flags, 0644); CHECK(fd >= 0); return fd; }

static void child_ends(pid_t child) { int status; CHECK(waitpid(child, &status, __WALL) == child && status == 0); }

static void preads(long count, long bytes) {
    unsigned long state = 12345;
    int fd = opened(O_RDONLY);
    for (long i = 0; i < count; i++) {
        state = state * 6364136223846793005UL + 1442695040888963407UL;
        CHECK(pread(fd, buffer, 4096, (off_t)((state >> 33) % (unsigned long)bytes)) >= 0);
    }
}

static void sharing(void) {
    int fd = opened(O_RDONLY), twin = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 100);
    CHECK(read(fd, buffer, 10) == 10 && read(twin, buffer, 10) == 10 && third >= 100);
    pid_t child = fork();
    if (child == 0) { CHECK(read(fd, buffer, 10) == 10); _exit(0); }
    child_ends(child);
    CHECK(dup2(third, 50) == 50 && lseek(fd, 5, SEEK_CUR) == 35 && read(50, buffer, 10) == 10);
}

static void executes(char *self) {
    int kept = opened(O_RDONLY), closed = opened(O_RDONLY | O_CLOEXEC);
    char numbers[2][16];
    CHECK(read(kept, buffer, 7) == 7 && read(closed, buffer, 7) == 7);
    sprintf(numbers[0], "%d", kept);
    sprintf(numbers[1], "%d", closed);
    execl(self, self, "inherited", numbers[0], numbers[1], NULL);
    _exit(99);
}

static void inherited(int kept, int closed) {
    CHECK(read(kept, buffer, 7) == 7);
    CHECK(read(closed, buffer, 7) == -1 && errno == EBADF);
}

/* A file comes from a child through a socket, by a number that was the socket's before. */
static void passes(void) {
    int ends[2], fd;
    char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
    struct iovec one = {&byte, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        fd = opened(O_RDONLY);
        CHECK(read(fd, buffer, 10) == 10);
        struct cmsghdr *passed = CMSG_FIRSTHDR(&message);
        passed->cmsg_level = SOL_SOCKET, passed->cmsg_type = SCM_RIGHTS, passed->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(passed), &fd, sizeof fd);
        CHECK(sendmsg(ends[1], &message, 0) == 1);
        _exit(0);
    }
    child_ends(child);
    CHECK(write(ends[1], "x", 1) == 1 && close(ends[1]) == 0);
    CHECK(recvmsg(ends[0], &message, 0) == 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    CHECK(fd == ends[1] && read(fd, buffer, 5) == 5 && close(fd) == 0);
}

static void *part(void *number) {
    long at = (long)number;
    int fd = opened(O_RDONLY);
    CHECK(pread(fd, buffer + at * 100, 100, at * 100) == 100);
    close(fd);
    return NULL;
}

static void threads(void) {
    pthread_t all[4];
    for (long i = 0; i < 4; i++) CHECK(pthread_create(&all[i], NULL, part, (void *)i) == 0);
    for (int i = 0; i < 4; i++) pthread_join(all[i], NULL);
}

static void *execs(void *unused) {
    (void)unused;
    execlp("cat", "cat", file, NULL);
    _exit(99);
}

static void exec_in_thread(void) {
    pthread_t thread, other;
    int fd = opened(O_RDONLY);
    CHECK(read(fd, buffer, 3) == 3);
    CHECK(pthread_create(&other, NULL, (void *(*)(void *))pause, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, execs, NULL) == 0);
    pause();
}

static void spawns(void) {
    pid_t child;
    char *words[] = {"cat", (char *)file, NULL};
    CHECK(posix_spawnp(&child, "cat", NULL, NULL, words, environ) == 0);
    child_ends(child);
    child = vfork();
    if (child == 0) { execlp("cat", "cat", file, NULL); _exit(99); }
    child_ends(child);
}

static int clone_child(void *unused) {
    (void)unused;
    int fd = open(file, O_RDONLY);
    return fd >= 0 && read(fd, buffer, 9) == 9 ? 0 : 98;
}

static void untraced(void) {
    static char stack[1 << 16];
    child_ends(clone(clone_child, stack + sizeof stack, CLONE_UNTRACED | SIGCHLD, NULL));
}

static void untraced_by_size(void) {
    struct clone_args how = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
    pid_t child = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (child == 0) _exit(clone_child(NULL));
    child_ends(child);
    CHECK(how.flags == CLONE_UNTRACED);
}

static void undumpable(void) {
    struct stat stat_of;
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0);
    CHECK(read(opened(O_RDONLY), buffer, 5) == 5 && stat(file, &stat_of) == 0);
}

static void refused(void) {
    int fd = opened(O_RDONLY);
    CHECK(pread(fd, buffer, 10, -1) == -1 && errno == EINVAL);
    CHECK(openat(99, "relative", O_RDONLY) == -1 && errno == EBADF);
}

static void missing(void) {
    int here = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(open("gone/one", O_RDONLY) == -1 && openat(here, "./two", O_RDONLY) == -1);
    CHECK(mkdir("below", 0755) == 0 && chdir("below") == 0);
    CHECK(open("../three", O_RDONLY) == -1);
    CHECK(open("/proc/nonexistent", O_RDONLY) == -1);
}

static void open_ways(void) {
    struct open_how how = {.flags = O_RDONLY};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, file, &how, sizeof how);
    CHECK(fd >= 0 && read(fd, buffer, 1) == 1);
    fd = (int)syscall(SYS_open, file, O_RDONLY);
    CHECK(fd >= 0 && read(fd, buffer, 2) == 2);
    fd = creat("created", 0644);
    CHECK(fd >= 0 && write(fd, "abc", 3) == 3 && fsync(fd) == 0 && fdatasync(fd) == 0);
}

static void close_ranges(void) {
    int first = opened(O_RDONLY);
    opened(O_RDONLY);
    opened(O_RDONLY);
    CHECK(syscall(SYS_close_range, first, ~0U, 0) == 0);
    CHECK(opened(O_RDONLY) == first);
}

static void vectors(void) {
    struct iovec parts[2] = {{buffer, 3}, {buffer + 100, 4}};
    int fd = opened(O_RDONLY);
    CHECK(readv(fd, parts, 2) == 7 && preadv(fd, parts, 2, 20) == 7);
    CHECK(preadv2(fd, parts, 2, -1, 0) == 7 && preadv2(fd, parts, 2, 40, 0) == 7 && read(fd, buffer, 1) == 1);
}

static void maps(void) {
    struct stat stat;
    int fd = opened(O_RDONLY);
    CHECK(fstat(fd, &stat) == 0);
    size_t bytes = (size_t)stat.st_size;
    char *all = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(all != MAP_FAILED && close(fd) == 0);
    CHECK(msync(all + 4096, 4096, MS_ASYNC) == 0);
    CHECK(munmap(all, 4096) == 0 && munmap(all + 4096, bytes - 4096) == 0);
}

/* Touches pages 0, 150 (in a child), 300 (by the kernel) and 450 of a mapping, and a part of it that
 * other memory has replaced; then populates pages 220 to 229 of another. */
static void touches(void) {
    int fd = opened(O_RDONLY), ends[2];
    const size_t page = 4096;
    volatile char *all = mmap(NULL, 500 * page, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(all != MAP_FAILED && pipe(ends) == 0);
    char *other = mmap((char *)all + 60 * page, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(other != MAP_FAILED && *(volatile char *)other == 0 && all[0] == '.');
    pid_t child = fork();
    if (child == 0)
        _exit(all[150 * page] != '.');
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
    CHECK(write(ends[1], (char *)all + 300 * page, 10) == 10);
    CHECK(all[450 * page] == '.' && all[450 * page + 1] == '.');
    char *part = mmap(NULL, 10 * page, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 220 * page);
    CHECK(part != MAP_FAILED && part[4 * page] == '.');
}

static void transfers(const char *output) {
    int in = opened(O_RDONLY), out = open(output, O_RDWR | O_CREAT | O_TRUNC, 0644), ends[2];
    off_t at = 100, to = 50;
    CHECK(out >= 0 && pipe(ends) == 0);
    CHECK(sendfile(out, in, NULL, 10) == 10 && sendfile(out, in, &at, 10) == 10);
    CHECK(copy_file_range(in, NULL, out, &to, 10, 0) == 10);
    CHECK(splice(in, NULL, ends[1], NULL, 10, 0) == 10 && splice(ends[0], NULL, out, NULL, 10, 0) == 10);
    CHECK(read(in, buffer, 1) == 1);
}

static void appends(void) {
    int fd = opened(O_WRONLY | O_APPEND), other = opened(O_WRONLY);
    CHECK(write(fd, "12345", 5) == 5 && pwrite(other, "xy", 2, 3) == 2);
    CHECK(fcntl(other, F_SETFL, O_APPEND) == 0 && write(other, "678", 3) == 3);
}

static void asks(void) {
    struct stat stat_of;
    CHECK(syscall(SYS_stat, file, &stat_of) == 0 && syscall(SYS_lstat, file, &stat_of) == 0);
    CHECK(fstatat(AT_FDCWD, file, &stat_of, 0) == 0 && access(file, R_OK) == 0 && faccessat(AT_FDCWD, file, R_OK, AT_EACCESS) == 0);
    CHECK(statx(AT_FDCWD, file, 0, STATX_SIZE, (struct statx *)buffer) == 0);
    CHECK(readlink(file, buffer, 100) == -1 && errno == EINVAL);
    CHECK(stat("nowhere", &stat_of) == -1);
}

static void rings(void) {
    char parameters[120] = {0};
    syscall(SYS_io_uring_setup, 4, parameters); /* a sandbox may refuse it: the attempt counts */
}

/* Hands one request after the other to a ring, and waits for it. Exits 3 if there is no io_uring. */
static struct io_uring_params ring;
static int ring_fd;
static char *ring_queue, *ring_done;
static struct io_uring_sqe *ring_entries;

static void ring_opened(unsigned flags) {
    memset(&ring, 0, sizeof ring);
    ring.flags = flags;
    ring_fd = (int)syscall(SYS_io_uring_setup, 8, &ring);
    if (ring_fd < 0) _exit(3);
    int both = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_POPULATE;
    ring_queue = mmap(NULL, ring.sq_off.array + ring.sq_entries * 4, both, how, ring_fd, IORING_OFF_SQ_RING);
    ring_done = mmap(NULL, ring.cq_off.cqes + ring.cq_entries * 16, both, how, ring_fd, IORING_OFF_CQ_RING);
    ring_entries = mmap(NULL, ring.sq_entries * 64, both, how, ring_fd, IORING_OFF_SQES);
    CHECK(ring_queue != MAP_FAILED && ring_done != MAP_FAILED && ring_entries != MAP_FAILED);
}

static int requested(unsigned char operation, int fd, long at, void *memory, unsigned length, unsigned char flags) {
    unsigned *tail = (unsigned *)(ring_queue + ring.sq_off.tail), mask = *(unsigned *)(ring_queue + ring.sq_off.ring_mask);
    struct io_uring_sqe *entry = ring_entries + (*tail & mask);
    memset(entry, 0, sizeof *entry);
    *entry = (struct io_uring_sqe){.opcode = operation, .flags = flags, .fd = fd, .off = (unsigned long)at, .addr = (unsigned long)memory, .len = length};
    ((unsigned *)(ring_queue + ring.sq_off.array))[*tail & mask] = *tail & mask;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    unsigned kick = ring.flags & IORING_SETUP_SQPOLL ? IORING_ENTER_SQ_WAKEUP : 0;
    CHECK(syscall(SYS_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS | kick, NULL, 0) == 1);
    unsigned *head = (unsigned *)(ring_done + ring.cq_off.head), done_mask = *(unsigned *)(ring_done + ring.cq_off.ring_mask);
    while (__atomic_load_n((unsigned *)(ring_done + ring.cq_off.tail), __ATOMIC_ACQUIRE) == *head) usleep(100);
    int result = ((struct io_uring_cqe *)(ring_done + ring.cq_off.cqes))[*head & done_mask].res;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return result;
}

static void ring_reads(unsigned flags) {
    ring_opened(flags);
    int fd = opened(O_RDWR), other = opened(O_RDONLY);
    struct iovec parts[2] = {{buffer, 3}, {buffer + 100, 4}};
    CHECK(requested(IORING_OP_READ, fd, 100, buffer, 50, 0) == 50);
    CHECK(requested(IORING_OP_READV, fd, 200, parts, 2, 0) == 7);
    CHECK(requested(IORING_OP_READ, fd, -1, buffer, 10, 0) == 10 && read(fd, buffer, 5) == 5);
    CHECK(requested(IORING_OP_READ, fd, 9990, buffer, 50, 0) == 10);
    CHECK(requested(IORING_OP_READ, 999, 0, buffer, 50, 0) == -EBADF);
    CHECK(syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_FILES, &other, 1) == 0);
    CHECK(close(other) == 0 && requested(IORING_OP_READ, 0, 300, buffer, 8, IOSQE_FIXED_FILE) == 8);
    CHECK(requested(IORING_OP_READ, 0, 308, buffer, 8, IOSQE_FIXED_FILE | IOSQE_ASYNC) == 8);
    struct iovec fixed = {buffer + 4096, 4096};
    CHECK(syscall(SYS_io_uring_register, ring_fd, IORING_REGISTER_BUFFERS, &fixed, 1) == 0);
    CHECK(requested(IORING_OP_READ_FIXED, fd, 500, buffer + 4096, 9, 0) == 9);
    CHECK(requested(IORING_OP_WRITE, fd, 400, "abc", 3, 0) == 3);
    CHECK(requested(IORING_OP_FSYNC, fd, 0, NULL, 0, 0) == 0);
}

/* A ring with several requests in one call, that are not waited for, and of which the last is never looked at. */
static void ring_batch(void) {
    ring_opened(0);
    int fd = opened(O_RDONLY);
    /* What is mapped stays in the page cache, so that each request ends before the next begins. */
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0) != MAP_FAILED);
    unsigned *tail = (unsigned *)(ring_queue + ring.sq_off.tail), mask = *(unsigned *)(ring_queue + ring.sq_off.ring_mask);
    for (unsigned i = 0; i < 4; i++) {
        ring_entries[(*tail + i) & mask] = (struct io_uring_sqe){.opcode = i == 1 ? IORING_OP_NOP : IORING_OP_READ, .fd = fd, .off = 1000 * i, .addr = (unsigned long)buffer + 100 * i, .len = 10 + i};
        ((unsigned *)(ring_queue + ring.sq_off.array))[(*tail + i) & mask] = (*tail + i) & mask;
    }
    __atomic_store_n(tail, *tail + 4, __ATOMIC_RELEASE);
    CHECK(syscall(SYS_io_uring_enter, ring_fd, 3, 0, 0, NULL, 0) == 3);
    /* From Linux 5.18 on a ring may be named by a number of its own. */
    struct { unsigned number, reserved; unsigned long data; } registered = {~0U, 0, ring_fd};
    int is_registered = syscall(SYS_io_uring_register, ring_fd, 20, &registered, 1) == 1;
    int named = is_registered ? (int)registered.number : ring_fd, how = is_registered ? 1 << 4 : 0;
    CHECK(syscall(SYS_io_uring_enter, named, 1, 1, IORING_ENTER_GETEVENTS | how, NULL, 0) == 1);
}

/* Requests by io_submit. Exits 3 where there is no such thing. */
static aio_context_t context;

static struct iocb block(int operation, int fd, void *memory, unsigned long length, long at) {
    return (struct iocb){.aio_lio_opcode = operation, .aio_fildes = fd, .aio_buf = (unsigned long)memory, .aio_nbytes = length, .aio_offset = at};
}

static void submits_opened(void) { if (syscall(SYS_io_setup, 16, &context) != 0) _exit(3); }

static void ended(long count, struct io_event *events) { CHECK(syscall(SYS_io_getevents, context, count, count, events, NULL) == count); }

static void submits(void) {
    submits_opened();
    int fd = opened(O_RDWR);
    struct iovec parts[2] = {{buffer, 3}, {buffer + 100, 4}};
    struct io_event events[8];
    struct iocb blocks[] = {block(IOCB_CMD_PREAD, fd, buffer, 50, 100), block(IOCB_CMD_PREADV, fd, parts, 2, 200), block(IOCB_CMD_PWRITE, fd, "abc", 3, 400), block(IOCB_CMD_PREAD, fd, buffer, 50, 9990), block(IOCB_CMD_PREAD, 999, buffer, 50, 0)};
    struct iocb *first[] = {&blocks[0], &blocks[1]}, *second[] = {&blocks[2], &blocks[3], &blocks[4]}, *bad[] = {&blocks[4]};
    CHECK(pread(fd, buffer, 5, 300) == 5 && syscall(SYS_io_submit, context, 2, first) == 2);
    ended(2, events);
    CHECK(events[0].res + events[1].res == 57);
    CHECK(syscall(SYS_io_submit, context, 3, second) == 2); /* the third has no file */
    ended(2, events);
    CHECK(syscall(SYS_io_submit, context, 1, bad) == -1 && errno == EBADF);
    blocks[0] = block(IOCB_CMD_FDSYNC, fd, NULL, 0, 0);
    if (syscall(SYS_io_submit, context, 1, first) == 1) ended(1, events); /* Linux 4.18 */
    blocks[0] = block(IOCB_CMD_PREAD, fd, buffer, 20, 0);
    CHECK(syscall(SYS_io_submit, context, 1, first) == 1);
    struct timespec wait = {5, 0};
    CHECK(syscall(IO_PGETEVENTS, context, 1, 8, events, &wait, NULL) == 1 && events[0].res == 20);
}

static void *reaps(void *nothing) {
    struct io_event events[4];
    for (int i = 0; i < 50; i++) { ended(1, events); CHECK(events[0].res == (long)events[0].data); }
    return NULL;
}

/* One thread submits, and one takes results. The blocks are overwritten once the kernel has read them. */
static void submits_apart(void) {
    submits_opened();
    int fd = opened(O_RDONLY);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, reaps, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        static struct iocb blocks[50];
        struct iocb *list[] = {&blocks[i]};
        blocks[i] = block(IOCB_CMD_PREAD, fd, buffer, 10 + i, 100 * i);
        blocks[i].aio_data = 10 + i;
        CHECK(syscall(SYS_io_submit, context, 1, list) == 1);
        usleep(2000);
        memset(&blocks[i], 0xff, sizeof blocks[i]);
    }
    CHECK(pthread_join(thread, NULL) == 0);
}

/* Requests whose results no call shows. */
static void submits_unseen(void) {
    submits_opened();
    int fd = opened(O_RDONLY);
    for (int i = 0; i < 2; i++) {
        static struct iocb one;
        one = block(IOCB_CMD_PREAD, fd, buffer, 50, i ? 9990 : 100);
        struct iocb *list[] = {&one};
        CHECK(syscall(SYS_io_submit, context, 1, list) == 1);
    }
}

/* This many requests in one call. */
static void submits_many(long count) {
    CHECK(count <= 1000);
    if (syscall(SYS_io_setup, 1000, &context) != 0) _exit(3);
    int fd = opened(O_RDONLY);
    static struct iocb blocks[1000], *list[1000];
    static struct io_event events[1000];
    for (long i = 0; i < count; i++) { blocks[i] = block(IOCB_CMD_PREAD, fd, buffer, 10, i); list[i] = &blocks[i]; }
    CHECK(syscall(SYS_io_submit, context, count, list) == count);
    ended(count, events);
}

/* A file whose absolute path is longer than a path may be. */
static void deep(void) {
    char part[201];
    memset(part, 'd', 200);
    part[200] = 0;
    for (int i = 0; i < 25; i++) CHECK(mkdir(part, 0755) == 0 && chdir(part) == 0);
    int fd = open("deep", O_CREAT | O_RDWR, 0644);
    CHECK(fd >= 0 && write(fd, "deep", 4) == 4 && close(fd) == 0);
    fd = open("deep", O_RDONLY);
    CHECK(fd >= 0 && close(fd) == 0);
}

#ifdef __x86_64__
/* A 32-bit call from 64-bit code. */
static long old_call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third) : "memory", "r8", "r9", "r10", "r11");
    return (int)result;
}

static void old_calls(void) {
    char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(low != MAP_FAILED);
    strcpy(low, file);
    long fd = old_call(5, (long)low, O_RDONLY, 0);
    CHECK(fd >= 0 && old_call(3, fd, (long)low + 4096, 10) == 10 && old_call(6, fd, 0, 0) == 0);
    CHECK(low[4096] == '.');
}

static long x32_call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000L + number), "D"(first), "S"(second), "d"(third) : "rcx", "r11", "memory");
    return result;
}

/* Says what they came to: on most machines, that there is no such call. */
static void x32_calls(void) {
    char *low = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    CHECK(low != MAP_FAILED);
    strcpy(low, file);
    long fd = x32_call(SYS_open, (long)low, O_RDONLY, 0);
    long got = x32_call(SYS_read, fd, (long)low + 4096, 10);
    printf("%ld %ld %ld\n", fd, got, x32_call(SYS_close, fd, 0, 0));
    fflush(stdout);
}
#else
static void old_calls(void) { _exit(77); }
static void x32_calls(void) { _exit(77); }
#endif

static volatile sig_atomic_t caught;
static void count(int signal) { (void)signal; caught++; }

static void pause_ms(long ms) {
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {}
}

/* Exits with the number of interrupts that it got. */
static int interrupted(void) {
    struct sigaction action = {.sa_handler = count};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    CHECK(write(1, "ready\n", 6) == 6);
    while (!caught) pause_ms(1);
    pause_ms(300);
    return caught;
}

/* Signals that restart no call come all the time: they interrupt no call on a file, and a read that waits. */
static void alarms(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0}};
    struct sigaction action = {.sa_handler = count};
    struct stat stat_of;
    int ends[2];
    CHECK(pipe(ends) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 4000; i++) {
        int fd = opened(O_RDONLY);
        CHECK(pread(fd, buffer, 10, 5) == 10 && read(fd, buffer, 10) == 10 && lseek(fd, 3, SEEK_SET) == 3);
        CHECK(stat(file, &stat_of) == 0 && close(fd) == 0);
    }
    CHECK(read(ends[0], buffer, 1) == -1 && errno == EINTR);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && caught > 0);
}

static int realtime(void) {
    signal(SIGRTMIN + 3, count);
    signal(SIGRTMAX, count);
    for (int i = 0; i < 5; i++) { raise(SIGRTMIN + 3); raise(SIGRTMAX); }
    return caught;
}

/* Reads, forks and execs until it is killed, but not for longer than ten seconds. */
static void busy(void) {
    time_t end = time(NULL) + 10;
    dprintf(1, "%d\n", getpid());
    while (time(NULL) < end) {
        int fd = opened(O_RDONLY);
        while (read(fd, buffer, 512) > 0) {}
        close(fd);
        pid_t child = fork();
        if (child == 0) { execlp("cat", "cat", file, NULL); _exit(99); }
        while (waitpid(child, NULL, 0) == -1 && errno == EINTR) {}
    }
}

/* Stops itself if told so, or waits to be stopped; ends well when it goes on. */
static void waits(void) {
    dprintf(1, "%d\n", getpid());
    CHECK(read(0, buffer, 1) >= 0);
    int fd = opened(O_RDONLY);
    CHECK(read(fd, buffer, 5) == 5);
}

/* Makers of children, and these with them, are killed while they make more: of some nobody ever tells. Their numbers come
   round again, as those of children that are waited for. */
enum { MAKERS = 4 };

static void storm(long rounds) {
    unsigned state = 1;
    for (long i = 0; i < rounds; i++) {
        pid_t makers[MAKERS];
        for (int at = 0; at < MAKERS; at++) {
            if ((makers[at] = fork()) != 0) continue;
            setpgid(0, 0);
            signal(SIGCHLD, SIG_IGN);
            for (;;) if (fork() == 0) _exit(0);
        }
        state = state * 1103515245 + 12345;
        usleep(state / 65536 % 4000);
        for (int at = 0; at < MAKERS; at++) if (makers[at] > 0 && kill(-makers[at], SIGKILL) == -1) kill(makers[at], SIGKILL);
        for (int at = 0; at < MAKERS; at++) if (makers[at] > 0) CHECK(waitpid(makers[at], NULL, 0) == makers[at]);
        for (int at = 0; at < MAKERS; at++) {
            pid_t child = fork();
            if (child == 0) _exit(0);
            if (child > 0) child_ends(child);
        }
    }
}

static void outlived(void) {
    if (fork() == 0) {
        pause_ms(200);
        int fd = opened(O_RDONLY);
        CHECK(read(fd, buffer, 11) == 11);
        _exit(5);
    }
}

int main(int count_of, char **words) {
    const char *mode = count_of > 1 ? words[1] : "";
    file = count_of > 2 ? words[2] : "";
#define MODE(name) else if (strcmp(mode, name) == 0)
    if (count_of < 2) return 99;
    MODE("preads") preads(atol(words[3]), atol(words[4]));
    MODE("sharing") sharing();
    MODE("executes") executes(words[0]);
    MODE("inherited") inherited(atoi(words[2]), atoi(words[3]));
    MODE("passes") passes();
    MODE("threads") threads();
    MODE("exec-in-thread") exec_in_thread();
    MODE("spawns") spawns();
    MODE("untraced") untraced();
    MODE("untraced-by-size") untraced_by_size();
    MODE("undumpable") undumpable();
    MODE("refused") refused();
    MODE("missing") missing();
    MODE("open-ways") open_ways();
    MODE("close-ranges") close_ranges();
    MODE("vectors") vectors();
    MODE("maps") maps();
    MODE("touches") touches();
    MODE("transfers") transfers(words[3]);
    MODE("appends") appends();
    MODE("asks") asks();
    MODE("rings") rings();
    MODE("ring-reads") ring_reads(0);
    MODE("deep") deep();
    MODE("ring-batch") ring_batch();
    MODE("submits") submits();
    MODE("submits-apart") submits_apart();
    MODE("submits-unseen") submits_unseen();
    MODE("submits-many") submits_many(atol(words[3]));
    MODE("polled-ring-reads") ring_reads(IORING_SETUP_SQPOLL);
    MODE("old-calls") old_calls();
    MODE("x32-calls") x32_calls();
    MODE("interrupted") return interrupted();
    MODE("alarms") alarms();
    MODE("realtime") return realtime();
    MODE("busy") busy();
    MODE("waits") waits();
    MODE("storm") storm(atol(words[2]));
    MODE("outlived") outlived();
    MODE("exits") return atoi(words[2]);
    MODE("dies") { signal(atoi(words[2]), SIG_DFL); raise(atoi(words[2])); }
    else return 99;
    return 0;
}
