/* A 32-bit program without a C library. It reads `file` in ways that only 32-bit calls have. It exits
   with 3, or with the number of the step that went wrong. */
enum { EXIT = 1, FORK = 2, READ = 3, OPEN = 5, CLOSE = 6, MUNMAP = 91, WAIT4 = 114, LLSEEK = 140, PREAD64 = 180, MMAP2 = 192,
       STAT64 = 195, OPENAT = 295, PREADV2 = 378 };

int sixth; /* by its name in the call below */

static int call(int number, int first, int second, int third, int fourth, int fifth) {
    int result;
    __asm__ volatile("pushl %%ebp; movl sixth, %%ebp; int $0x80; popl %%ebp"
                     : "=a"(result) : "a"(number), "b"(first), "c"(second), "d"(third), "S"(fourth), "D"(fifth) : "memory");
    return result;
}

static void check(int truth, int step) {
    if (!truth) call(EXIT, step, 0, 0, 0, 0);
}

static char buffer[4096];

void _start(void) {
    long long position = -1;
    struct { void *base; unsigned bytes; } vector = {buffer, 3};
    int status = -1;

    int fd = call(OPEN, (int)"file", 0, 0, 0, 0);
    check(fd >= 0, 11);
    check(call(READ, fd, (int)buffer, 10, 0, 0) == 10, 12);
    check(call(PREAD64, fd, (int)buffer, 7, 100, 0) == 7, 13);
    check(call(PREAD64, fd, (int)buffer, 7, 5, 1) == 0, 14); /* beyond 4 GiB */
    check(call(LLSEEK, fd, 0, 200, (int)&position, 0) == 0 && position == 200, 15);
    check(call(READ, fd, (int)buffer, 5, 0, 0) == 5, 16);
    check(call(PREADV2, fd, (int)&vector, 1, -1, -1) == 3, 17); /* at the position */
    sixth = 1;
    int at = call(MMAP2, 0, 4096, 1, 2, fd); /* the second page */
    sixth = 0;
    check((unsigned)at < -4095u && *(char *)at == '.', 18);
    check(call(MUNMAP, at, 4096, 0, 0, 0) == 0, 19);
    int child = call(FORK, 0, 0, 0, 0, 0);
    if (child == 0) call(EXIT, call(READ, fd, (int)buffer, 1, 0, 0) == 1 ? 0 : 20, 0, 0, 0, 0);
    check(call(WAIT4, child, (int)&status, 0, 0, 0) == child && status == 0, 21);
    check(call(READ, fd, (int)buffer, 2, 0, 0) == 2, 22);
    check(call(CLOSE, fd, 0, 0, 0, 0) == 0, 23);
    check(call(OPENAT, -100, (int)"gone", 0, 0, 0) == -2, 24);
    check(call(STAT64, (int)"file", (int)buffer, 0, 0, 0) == 0, 25);
    call(EXIT, 3, 0, 0, 0, 0);
    __builtin_unreachable();
}
