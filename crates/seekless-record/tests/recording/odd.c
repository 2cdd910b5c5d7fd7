/* Programs that do what a recorder could disturb, one a mode: `odd MODE`. Each says what it found, so that a run under the
   recorder can be held against one without. What a machine refuses, it refuses in both. Any surprise exits 99. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(truth) do { if (!(truth)) { perror(#truth); _exit(99); } } while (0)
/* With one write and no other call. */
#define SAY(...) do { char said[8192]; int bytes = snprintf(said, sizeof said, __VA_ARGS__); CHECK(write(1, said, (size_t)bytes) == bytes); } while (0)

extern char **environ;
static char buffer[1 << 16];
static volatile sig_atomic_t caught, last_code, last_value;

static void pause_ms(long ms) {
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {}
}

static int status_of(pid_t child) {
    int status;
    while (waitpid(child, &status, __WALL) == -1) CHECK(errno == EINTR);
    return status;
}

static void say_status(const char *what, int status) {
    if (WIFEXITED(status)) SAY("%s exited %d\n", what, WEXITSTATUS(status));
    else if (WIFSIGNALED(status)) SAY("%s killed %d\n", what, WTERMSIG(status));
    else if (WIFSTOPPED(status)) SAY("%s stopped %d\n", what, WSTOPSIG(status));
    else if (WIFCONTINUED(status)) SAY("%s continued\n", what);
}

static void count(int signal) { (void)signal; caught++; }
static void inform(int signal, siginfo_t *info, void *context) {
    (void)context;
    (void)signal;
    caught++;
    last_code = info->si_code;
    last_value = info->si_value.sival_int;
}

static void handle(int signal, int flags) {
    struct sigaction action = {.sa_flags = flags};
    if (flags & SA_SIGINFO) action.sa_sigaction = inform;
    else action.sa_handler = count;
    CHECK(sigaction(signal, &action, NULL) == 0);
}

/* Processes */

static void *exits_late(void *unused) { (void)unused; pause_ms(30); SAY("late\n"); exit(3); }
static void main_thread_first(void) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, exits_late, NULL) == 0);
    pthread_exit(NULL);
}

static void *executes(void *unused) { (void)unused; execl("/bin/sh", "sh", "-c", "echo of a thread; exit 4", NULL); _exit(99); }
static void *rests(void *unused) { (void)unused; for (;;) pause(); }
static void exec_of_a_thread(void) {
    pthread_t thread;
    for (int at = 0; at < 4; at++) CHECK(pthread_create(&thread, NULL, rests, NULL) == 0);
    CHECK(pthread_create(&thread, NULL, executes, NULL) == 0);
    pause();
}

static void vforks(void) {
    volatile int order = 0;
    pid_t child = vfork();
    if (child == 0) { order = 1; execl("/nonexistent", "x", NULL); _exit(127); }
    SAY("order %d\n", order);
    say_status("vfork", status_of(child));
    child = vfork();
    if (child == 0) { execl("/bin/echo", "echo", "executed", NULL); _exit(127); }
    say_status("vfork", status_of(child));
}

static int deep(int left) {
    if (left == 0) return 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(deep(left - 1));
    return WEXITSTATUS(status_of(child)) + 1;
}
static void deep_tree(void) { SAY("deep %d\n", deep(60)); }

static void wide_tree(void) {
    int sum = 0;
    for (int at = 0; at < 100; at++) if (fork() == 0) _exit(at % 7);
    for (int status; wait(&status) > 0;) sum += WEXITSTATUS(status);
    SAY("sum %d\n", sum);
}

static void *forks(void *sum) {
    for (int at = 0; at < 10; at++) {
        pid_t child = fork();
        if (child == 0) { execl("/bin/sh", "sh", "-c", "exit 2", NULL); _exit(99); }
        __atomic_add_fetch((int *)sum, WEXITSTATUS(status_of(child)), __ATOMIC_SEQ_CST);
    }
    return NULL;
}
static void threads_that_fork(void) {
    pthread_t threads[8];
    int sum = 0;
    for (int at = 0; at < 8; at++) CHECK(pthread_create(&threads[at], NULL, forks, &sum) == 0);
    for (int at = 0; at < 8; at++) pthread_join(threads[at], NULL);
    SAY("sum %d\n", sum);
}

static void daemon_outlives(void) {
    int ends[2], told[2];
    CHECK(pipe(ends) == 0 && pipe(told) == 0);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() != 0) _exit(0);
        CHECK(read(told[0], buffer, 1) == 1);
        SAY("orphan of a session %d\n", getsid(0) != getpid());
        CHECK(write(ends[1], "x", 1) == 1);
        _exit(9);
    }
    close(ends[1]);
    say_status("leader", status_of(child));
    CHECK(write(told[1], "x", 1) == 1);
    SAY("read %zd\n", read(ends[0], buffer, 2));
    SAY("read %zd\n", read(ends[0], buffer, 2));
}

static void subreaper(void) {
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) { pause_ms(30); _exit(getppid() == 1 ? 98 : 5); }
        _exit(4);
    }
    say_status("child", status_of(child));
    int status;
    CHECK(wait(&status) > 0);
    say_status("orphan", status);
}

static void parent_death(void) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGUSR1);
            handle(SIGUSR1, 0);
            CHECK(write(ends[1], "r", 1) == 1);
            while (!caught) pause_ms(1);
            SAY("told of a death\n");
            _exit(0);
        }
        CHECK(read(ends[0], buffer, 1) == 1);
        _exit(0);
    }
    status_of(child);
    close(ends[1]);
    SAY("end %zd\n", read(ends[0], buffer, 1));
}

static int shares(void *unused) {
    (void)unused;
    CHECK(chdir("/") == 0);
    return close(50) == 0 ? 7 : 98;
}
static void clone_flags(void) {
    static char stack[1 << 16];
    CHECK(dup2(1, 50) == 50);
    pid_t child = clone(shares, stack + sizeof stack, CLONE_FILES | CLONE_FS | SIGCHLD, NULL);
    say_status("sharer", status_of(child));
    SAY("closed %d, in %s\n", fcntl(50, F_GETFD) == -1, getcwd(buffer, sizeof buffer));
    child = clone(shares, stack + sizeof stack, 0, NULL);
    int status;
    SAY("silent %d\n", waitpid(child, &status, WNOHANG) == -1 && errno == ECHILD);
    CHECK(waitpid(child, &status, __WCLONE) == child);
    say_status("silent", status);
    pid_t parents;
    struct clone_args how = {.flags = CLONE_PARENT_SETTID | CLONE_PIDFD, .exit_signal = SIGCHLD};
    int pidfd = -1;
    how.parent_tid = (uintptr_t)&parents;
    how.pidfd = (uintptr_t)&pidfd;
    child = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (child == 0) _exit(6);
    CHECK(child > 0 && parents == child);
    siginfo_t info;
    CHECK(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0);
    SAY("pidfd %d\n", info.si_status);
}

static void sibling(void) {
    pid_t child = fork();
    if (child == 0) {
        pid_t other = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
        if (other == 0) _exit(8);
        SAY("not mine %d\n", waitpid(other, NULL, 0) == -1 && errno == ECHILD);
        _exit(4);
    }
    int sum = 0;
    for (int status; wait(&status) > 0;) sum += WEXITSTATUS(status);
    SAY("sum %d\n", sum);
}

static void execs_by_descriptor(void) {
    for (int at = 0; at < 2; at++) {
        pid_t child = fork();
        if (child == 0) {
            char *words[] = {"echo", at ? "memory" : "file", NULL};
            int file = open("/bin/echo", O_RDONLY | O_CLOEXEC), fd = file;
            if (at) {
                struct stat found;
                fd = memfd_create("copy", MFD_CLOEXEC);
                CHECK(fstat(file, &found) == 0);
                for (off_t left = found.st_size; left > 0;) left -= sendfile(fd, file, NULL, (size_t)left);
            }
            syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH);
            _exit(99);
        }
        say_status("execveat", status_of(child));
    }
}

static void big_environment(void) {
    char *words[] = {"sh", "-c", "echo ${#BIG} ${#1}", "sh", NULL, NULL}, *places[2] = {NULL, NULL};
    places[0] = malloc(100100);
    words[4] = malloc(100100);
    sprintf(places[0], "BIG=%0100000d", 0);
    sprintf(words[4], "%0100000d", 0);
    execve("/bin/sh", words, places);
    _exit(99);
}

static void names(void) {
    char name[17] = "";
    CHECK(prctl(PR_SET_NAME, "a strange name") == 0 && prctl(PR_GET_NAME, name) == 0);
    int fd = open("/proc/self/comm", O_RDONLY);
    ssize_t got = read(fd, buffer, sizeof buffer);
    SAY("%s, %.*s", name, (int)got, buffer);
    SAY("dumpable %d, keeps %d\n", prctl(PR_GET_DUMPABLE), prctl(PR_GET_KEEPCAPS));
}

static void traces(void) {
    pid_t child = fork();
    if (child == 0) {
        /* What is recorded cannot be traced: then it goes on without. */
        if (ptrace(PTRACE_TRACEME, 0, 0, 0) == 0) raise(SIGSTOP);
        _exit(6);
    }
    int status = status_of(child);
    if (WIFSTOPPED(status)) {
        CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
        status = status_of(child);
    }
    say_status("tracee", status);
}

/* Signals */

static void job_control(void) {
    int ends[2], status;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        CHECK(read(ends[0], buffer, 1) == 1);
        _exit(5);
    }
    // By both, as a shell does: SIGTSTP and SIGTTIN do not stop a group without a parent in its session.
    setpgid(child, child);
    for (int round = 0; round < 3; round++) {
        int signal = round == 0 ? SIGSTOP : round == 1 ? SIGTSTP : SIGTTIN;
        CHECK(kill(child, signal) == 0 && waitpid(child, &status, WUNTRACED) == child);
        say_status("child", status);
        CHECK(kill(child, SIGCONT) == 0 && waitpid(child, &status, WCONTINUED) == child);
        say_status("child", status);
    }
    CHECK(write(ends[1], "x", 1) == 1);
    say_status("child", status_of(child));
}

static void stopped_and_killed(void) {
    int status;
    pid_t child = fork();
    if (child == 0) { raise(SIGSTOP); _exit(5); }
    CHECK(waitpid(child, &status, WUNTRACED) == child);
    say_status("child", status);
    kill(child, SIGTERM);
    SAY("still there %d\n", waitpid(child, &status, WNOHANG) == 0);
    kill(child, SIGKILL);
    say_status("child", status_of(child));
}

static void children_ignored(void) {
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0) _exit(1);
    SAY("nobody %d\n", waitpid(child, NULL, 0) == -1 && errno == ECHILD);
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_NOCLDWAIT | SA_NOCLDSTOP | SA_RESTART};
    CHECK(sigaction(SIGCHLD, &action, NULL) == 0);
    child = fork();
    if (child == 0) _exit(1);
    SAY("nobody %d\n", waitpid(child, NULL, 0) == -1 && errno == ECHILD);
    SAY("told %d\n", caught);
}

static void children_tell(void) {
    handle(SIGCHLD, SA_SIGINFO | SA_RESTART);
    for (int at = 0; at < 3; at++) {
        int status;
        pid_t child = fork();
        if (child == 0) { if (at == 1) raise(SIGKILL); if (at == 2) raise(SIGSTOP); _exit(3); }
        CHECK(waitpid(child, &status, WUNTRACED) == child);
        while (caught <= at) pause_ms(1);
        SAY("told %d of %d\n", caught, last_code);
        if (at == 2) { kill(child, SIGKILL); status_of(child); }
    }
}

static void queued(void) {
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    for (int at = 0; at < 3; at++) sigaddset(&set, SIGRTMIN + at);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int at = 5; at >= 0; at--) CHECK(sigqueue(getpid(), SIGRTMIN + at % 3, (union sigval){.sival_int = at}) == 0);
    for (int at = 0; at < 6; at++) {
        int signal = sigwaitinfo(&set, &info);
        SAY("%d: %d from %d by me %d\n", signal - SIGRTMIN, info.si_value.sival_int, info.si_code, info.si_pid == getpid());
    }
    handle(SIGUSR1, SA_SIGINFO);
    CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42}) == 0);
    SAY("handled %d: %d from %d\n", caught, last_value, last_code);
}

static volatile int nudge_with;
static void *nudges(void *target) {
    for (; nudge_with; pause_ms(2)) pthread_kill(*(pthread_t *)target, nudge_with);
    return NULL;
}
static void restarted(int signal) { if (++caught >= 5) nudge_with = SIGALRM; (void)signal; }
static void interrupted_reads(void) {
    int ends[2], fails = 0;
    pthread_t nudger, me = pthread_self();
    struct sigaction again = {.sa_handler = restarted, .sa_flags = SA_RESTART};
    CHECK(pipe(ends) == 0);
    handle(SIGUSR1, 0);
    handle(SIGALRM, 0);
    nudge_with = SIGUSR1;
    CHECK(pthread_create(&nudger, NULL, nudges, &me) == 0);
    while (fails < 5) if (read(ends[0], buffer, 1) == -1 && errno == EINTR) fails++;
    SAY("interrupted %d\n", fails);
    caught = 0;
    CHECK(sigaction(SIGUSR1, &again, NULL) == 0);
    fails = read(ends[0], buffer, 1) == -1 && errno == EINTR;
    SAY("restarted until the alarm %d\n", fails && caught >= 5);
    nudge_with = 0;
    pthread_join(nudger, NULL);
}

static void interrupted_rests(void) {
    pid_t child = fork();
    if (child == 0) {
        struct timespec long_time = {0, 500000000}, rest = {0, 0};
        int whole = nanosleep(&long_time, &rest) == 0; /* stopped and continued: it sleeps on */
        struct pollfd none = {.fd = -1};
        whole += poll(&none, 1, 100) == 0;
        _exit(whole);
    }
    for (int at = 0; at < 3; at++) {
        int status;
        pause_ms(20);
        kill(child, SIGSTOP);
        CHECK(waitpid(child, &status, WUNTRACED) == child);
        kill(child, SIGCONT);
    }
    say_status("sleeper", status_of(child));
    handle(SIGALRM, 0);
    struct itimerval in = {.it_value = {0, 20000}};
    struct timespec long_time = {20, 0}, rest = {0, 0};
    setitimer(ITIMER_REAL, &in, NULL);
    int woken = nanosleep(&long_time, &rest) == -1 && errno == EINTR;
    SAY("woken %d, long before its time %d\n", woken, rest.tv_sec > 5);
}

static sigjmp_buf back;
static void jump_back(int signal) { siglongjmp(back, signal); }
static void faults(void) {
    static char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = jump_back, .sa_flags = SA_ONSTACK | SA_NODEFER};
    CHECK(sigaltstack(&other, NULL) == 0);
    int signals[] = {SIGSEGV, SIGTRAP, SIGILL, SIGFPE, SIGBUS};
    for (int at = 0; at < 5; at++) CHECK(sigaction(signals[at], &action, NULL) == 0);
    for (volatile int at = 0; at < 4; at++) {
        int signal = sigsetjmp(back, 1);
        if (signal) { SAY("fault %d\n", signal); continue; }
        if (at == 0) *(volatile int *)8 = 1;
        if (at == 1) raise(SIGTRAP);
        if (at == 2) __builtin_trap();
        if (at == 3) raise(SIGFPE);
    }
    int fd = memfd_create("empty", 0);
    char *beyond = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    int signal = sigsetjmp(back, 1);
    if (signal == 0) SAY("%d\n", *(volatile char *)beyond);
    SAY("fault %d\n", signal);
}

static void dies_of_a_fault(void) { *(volatile int *)8 = 1; }
static void dies_of_a_trap(void) { raise(SIGTRAP); }
static void dies_of_a_limit(void) {
    struct rlimit small = {1000, 1000};
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    int fd = open("limited", O_WRONLY | O_CREAT, 0644);
    while (write(fd, buffer, 600) > 0) {}
    _exit(98);
}

static void descriptors_of_events(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fds[3] = {signalfd(-1, &set, 0), eventfd(3, EFD_SEMAPHORE), timerfd_create(CLOCK_MONOTONIC, 0)};
    struct itimerspec soon = {.it_value = {0, 5000000}};
    CHECK(timerfd_settime(fds[2], 0, &soon, NULL) == 0 && raise(SIGUSR1) == 0);
    pause_ms(20);
    int all = epoll_create1(0);
    for (int at = 0; at < 3; at++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = at};
        CHECK(epoll_ctl(all, EPOLL_CTL_ADD, fds[at], &event) == 0);
    }
    struct epoll_event found[4];
    SAY("ready %d\n", epoll_wait(all, found, 4, 1000));
    for (int at = 0; at < 3; at++) SAY("%zd bytes\n", read(fds[at], buffer, sizeof buffer));
}

static void seccomp_of_its_own(void) {
#ifdef __x86_64__
    /* getppid is refused, getpgrp traps, sched_yield asks for a tracer that is not there, read is looked at and let go. */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 42),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 7),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | 5),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_lseek, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    int fd = open("/bin/sh", O_RDONLY);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    handle(SIGSYS, SA_SIGINFO);
    SAY("getppid %d\n", syscall(SYS_getppid) == -1 ? errno : 0);
    syscall(SYS_getpgrp);
    SAY("trapped %d\n", caught);
    SAY("sched_yield %d\n", syscall(SYS_sched_yield) == -1 ? errno : 0);
    SAY("lseek %d\n", syscall(SYS_lseek, fd, 5, SEEK_SET) == -1 ? errno : 0);
    SAY("read %zd\n", read(fd, buffer, 4));
#endif
}

/* Files */

static void passed_descriptors(void) {
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr head; } control = {{0}};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    pid_t child = fork();
    if (child == 0) {
        int fd = open("passed", O_RDWR | O_CREAT, 0644);
        CHECK(write(fd, "hello", 5) == 5 && lseek(fd, 1, SEEK_SET) == 1);
        control.head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
        CHECK(sendmsg(ends[0], &message, 0) == 1);
        _exit(0);
    }
    char byte;
    part = (struct iovec){&byte, 1};
    CHECK(recvmsg(ends[1], &message, 0) == 1);
    int fd;
    memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    status_of(child);
    SAY("read %zd: %.4s\n", read(fd, buffer, 10), buffer);
}

static void abstract_sockets(void) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t bytes = sizeof(sa_family_t); /* the kernel picks a name */
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(bind(listener, (void *)&name, bytes) == 0 && listen(listener, 5) == 0);
    bytes = sizeof name;
    CHECK(getsockname(listener, (void *)&name, &bytes) == 0);
    pid_t child = fork();
    if (child == 0) {
        int out = socket(AF_UNIX, SOCK_STREAM, 0);
        CHECK(connect(out, (void *)&name, bytes) == 0 && write(out, "abstract", 8) == 8);
        _exit(0);
    }
    int in = accept(listener, NULL, NULL);
    ssize_t got = read(in, buffer, 100);
    SAY("%.*s\n", (int)got, buffer);
    say_status("client", status_of(child));
}

static void closed_streams(void) {
    int out = dup2(1, 20);
    for (int fd = 0; fd < 3; fd++) close(fd);
    int first = open("/dev/null", O_RDWR), second = open(".", O_RDONLY);
    dprintf(out, "lowest %d and %d\n", first, second);
    dprintf(out, "read %d\n", read(2, buffer, 1) == -1 ? errno : 0);
}

static void moved_descriptors(void) {
    int fd = open("/bin/sh", O_RDONLY), pipes[2];
    CHECK(pipe(pipes) == 0 && dup2(fd, pipes[0]) == pipes[0] && dup2(fd, fd) == fd);
    CHECK(read(pipes[0], buffer, 3) == 3 && lseek(fd, 0, SEEK_CUR) == 3);
    CHECK(dup3(fd, 60, O_CLOEXEC) == 60 && fcntl(60, F_GETFD) == FD_CLOEXEC);
    SAY("dup3 %d\n", dup3(fd, fd, 0) == -1 ? errno : 0);
    SAY("range %ld\n", syscall(SYS_close_range, 3, 100, 0));
    SAY("then %d\n", open("/bin/sh", O_RDONLY));
    SAY("far %d\n", fcntl(3, F_DUPFD, 1 << 20) == -1 ? errno : 0);
}

static void paths_only(void) {
    struct stat found;
    int folder = open("/bin", O_PATH | O_DIRECTORY), file = openat(folder, "sh", O_PATH);
    CHECK(folder >= 0 && file >= 0 && fstatat(file, "", &found, AT_EMPTY_PATH) == 0);
    SAY("read %d\n", read(file, buffer, 1) == -1 ? errno : 0);
    sprintf(buffer, "/proc/self/fd/%d", file);
    int again = open(buffer, O_RDONLY);
    SAY("again %zd\n", read(again, buffer, 4));
    SAY("fchdir %d\n", fchdir(folder));
}

static void odd_paths(void) {
    char *long_name = malloc(5001), bytes[] = "odd\n\xff\xfe name", last[4096];
    memset(long_name, 'x', 5000);
    long_name[5000] = 0;
    SAY("long %d\n", open(long_name, O_RDONLY) == -1 ? errno : 0);
    SAY("empty %d\n", open("", O_RDONLY) == -1 ? errno : 0);
    SAY("bad %d\n", syscall(SYS_openat, AT_FDCWD, (void *)8, O_RDONLY) == -1 ? errno : 0);
    SAY("bad stat %d\n", syscall(SYS_newfstatat, AT_FDCWD, (void *)-1L, buffer, 0) == -1 ? errno : 0);
    SAY("bytes %d\n", open(bytes, O_WRONLY | O_CREAT | O_EXCL, 0644) >= 0);
    CHECK(symlink(bytes, "link") == 0 && symlink("loop", "loop") == 0);
    SAY("loop %d\n", open("loop", O_RDONLY) == -1 ? errno : 0);
    strcpy(last, "link");
    ssize_t got = readlink(last, last, sizeof last); /* the answer over the question */
    SAY("link %zd\n", got);
    /* A path that ends with its page, and nothing behind it. */
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(munmap(pages + 4096, 4096) == 0);
    strcpy(pages + 4096 - 5, "gone");
    SAY("at the edge %d\n", open(pages + 4096 - 5, O_RDONLY) == -1 ? errno : 0);
    SAY("over it %d\n", open(pages + 4096, O_RDONLY) == -1 ? errno : 0);
}

static void copies(void) {
    int in = open("/bin/sh", O_RDONLY), out = open("copy", O_RDWR | O_CREAT, 0644), ends[2];
    loff_t from = 10, into = 3;
    off_t place = 7;
    CHECK(in >= 0 && out >= 0 && pipe(ends) == 0);
    SAY("sendfile %zd", sendfile(out, in, &place, 100));
    SAY(" to %ld\n", (long)place);
    ssize_t moved = copy_file_range(in, &from, out, &into, 50, 0);
    SAY("copy_file_range %zd %ld %ld\n", moved, (long)from, (long)into);
    SAY("splice %zd %ld\n", splice(in, &from, ends[1], NULL, 20, 0), (long)from);
    SAY("splice %zd\n", splice(ends[0], NULL, out, &into, 20, 0));
    struct iovec part = {"memory", 6};
    SAY("vmsplice %zd\n", vmsplice(ends[1], &part, 1, 0));
    SAY("into %ld, length %ld\n", (long)into, (long)lseek(out, 0, SEEK_END));
}

static void maps(void) {
    int fd = open("mapped", O_RDWR | O_CREAT, 0644);
    CHECK(write(fd, buffer, 8192) == 8192);
    char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    private[1] = 'p';
    shared[0] = 's';
    CHECK(close(fd) == 0 && msync(shared, 8192, MS_SYNC) == 0);
    shared = mremap(shared, 8192, 4096, 0);
    CHECK(shared != MAP_FAILED && munmap(private, 4096) == 0);
    fd = open("mapped", O_RDONLY);
    CHECK(read(fd, buffer, 2) == 2);
    SAY("%c %d\n", buffer[0], buffer[1]);
    SAY("mapping nothing %d\n", mmap(NULL, 0, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? errno : 0);
}

static void rings(void) {
    char parameters[120] = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, parameters);
    SAY("ring %d\n", ring >= 0 ? 0 : errno);
    SAY("enter %d\n", syscall(SYS_io_uring_enter, ring, 0, 0, 0, NULL, 0) == -1 ? errno : 0);
}

static void limits(void) {
    struct rlimit few = {10, 10}, found;
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    int opened = 0;
    while (open("/dev/null", O_RDONLY) >= 0) opened++;
    SAY("opened %d, then %d\n", opened, errno);
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        CHECK(getrlimit(which, &found) == 0);
        SAY("%d: %ld %ld\n", which, (long)found.rlim_cur, (long)found.rlim_max);
    }
    sigset_t set;
    sigprocmask(SIG_SETMASK, NULL, &set);
    for (int signal = 1; signal < 32; signal++) {
        struct sigaction action;
        sigaction(signal, NULL, &action);
        if (sigismember(&set, signal) || action.sa_handler != SIG_DFL) SAY("signal %d is set\n", signal);
    }
    SAY("nice %d, umask %o\n", getpriority(PRIO_PROCESS, 0), umask(0));
}

static void inherited(void) {
    DIR *all = opendir("/proc/self/fd");
    for (struct dirent *one; (one = readdir(all));) if (atoi(one->d_name) != dirfd(all)) SAY("%s ", one->d_name);
    SAY("are open\n");
    SAY("leads its session %d, its group %d\n", getsid(0) == getpid(), getpgrp() == getpid());
    SAY("no new privileges %d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) && geteuid() == 0);
}

static void locks(void) {
    int fd = open("locked", O_RDWR | O_CREAT, 0644);
    CHECK(flock(fd, LOCK_EX) == 0 && lockf(fd, F_LOCK, 0) == 0);
    pid_t child = fork();
    if (child == 0) {
        int other = open("locked", O_RDWR);
        SAY("flock %d", flock(other, LOCK_EX | LOCK_NB) == -1 ? errno : 0);
        SAY(", shared %d", flock(fd, LOCK_EX | LOCK_NB));
        SAY(", lockf %d\n", lockf(other, F_TLOCK, 0) == -1);
        _exit(0);
    }
    status_of(child);
}

static void fifos(void) {
    CHECK(mkfifo("fifo", 0644) == 0);
    pid_t child = fork();
    if (child == 0) {
        int out = open("fifo", O_WRONLY);
        pause_ms(20);
        CHECK(write(out, "through", 7) == 7);
        _exit(0);
    }
    int in = open("fifo", O_RDONLY);
    ssize_t got = read(in, buffer, 100);
    SAY("%.*s, then %zd\n", (int)got, buffer, read(in, buffer, 100));
    status_of(child);
}

static void watches(void) {
    int watch = inotify_init1(IN_NONBLOCK);
    CHECK(inotify_add_watch(watch, ".", IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_OPEN | IN_CLOSE_WRITE) >= 0);
    pause_ms(400); /* longer than a batch of the recorder */
    CHECK(close(open("mine", O_WRONLY | O_CREAT, 0644)) == 0 && unlink("mine") == 0);
    for (ssize_t got; (got = read(watch, buffer, sizeof buffer)) > 0;)
        for (char *at = buffer; at < buffer + got; at += sizeof(struct inotify_event) + ((struct inotify_event *)at)->len) {
            struct inotify_event *event = (void *)at;
            SAY("%x %s\n", event->mask, event->len ? event->name : "");
        }
}

static void users(void) {
    CHECK(close(open("secret", O_WRONLY | O_CREAT, 0600)) == 0);
    if (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0) {
        SAY("secret %d\n", open("secret", O_RDONLY) == -1 ? errno : 0);
        SAY("back %d\n", setuid(0) == -1 ? errno : 0);
    }
    int fd = open("/bin/sh", O_RDONLY);
    SAY("read %zd\n", read(fd, buffer, 4));
    execl("/bin/sh", "sh", "-c", "cat secret 2>/dev/null; echo $?", NULL);
}

static void roots(void) {
    CHECK(mkdir("root", 0755) == 0 && close(open("root/within", O_WRONLY | O_CREAT, 0644)) == 0);
    if (chroot("root") == -1 || chdir("/") == -1) { SAY("chroot %d\n", errno); return; }
    SAY("within %d, without %d\n", open("/within", O_RDONLY) >= 0, open("/bin/sh", O_RDONLY) == -1 ? errno : 0);
}

static void namespaces(void) {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUTS) == -1 && unshare(CLONE_NEWUSER | CLONE_NEWPID) == -1) {
        SAY("unshare %d\n", errno);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        pid_t orphan = fork();
        if (orphan == 0) { if (fork() == 0) { pause_ms(20); _exit(3); } _exit(2); }
        SAY("number %d, then %d\n", getpid(), orphan);
        int sum = 0;
        for (int status; wait(&status) > 0;) sum += WEXITSTATUS(status);
        _exit(sum);
    }
    say_status("first of its kind", status_of(child));
}

static void positions(void) {
    int fd = open("log", O_RDWR | O_CREAT | O_APPEND, 0644);
    for (int at = 0; at < 4; at++) if (fork() == 0) {
        for (int round = 0; round < 50; round++) CHECK(write(fd, "line\n", 5) == 5);
        _exit(0);
    }
    while (wait(NULL) > 0) {}
    SAY("length %ld\n", (long)lseek(fd, 0, SEEK_END));
    fd = open("log", O_RDONLY);
    for (int at = 0; at < 4; at++) if (fork() == 0) { while (read(fd, buffer, 5) == 5) SAY("%.4s\n", buffer); _exit(0); }
    while (wait(NULL) > 0) {}
}

#ifdef __x86_64__
static void old_calls(void) {
    long result = 0;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20), "b"(0) : "memory", "r8", "r9", "r10", "r11");
    SAY("32-bit getpid %d\n", result == getpid() ? 0 : (int)result);
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(3), "b"(99), "c"(0), "d"(0) : "memory", "r8", "r9", "r10", "r11");
    SAY("32-bit read %d\n", (int)result);
    __asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000L) : "rcx", "r11", "memory");
    SAY("x32 read %ld\n", result);
    SAY("no call %ld\n", syscall(-1) == -1 ? errno : 0L);
    SAY("no call %ld\n", syscall(5000) == -1 ? errno : 0L);
}
#else
static void old_calls(void) {}
#endif

static const struct { const char *name; void (*act)(void); } modes[] = {
#define MODE(act) {#act, act}
    MODE(main_thread_first), MODE(exec_of_a_thread), MODE(vforks), MODE(deep_tree), MODE(wide_tree), MODE(threads_that_fork),
    MODE(daemon_outlives), MODE(subreaper), MODE(parent_death), MODE(clone_flags), MODE(sibling), MODE(execs_by_descriptor),
    MODE(big_environment), MODE(names), MODE(traces), MODE(job_control), MODE(stopped_and_killed), MODE(children_ignored),
    MODE(children_tell), MODE(queued), MODE(interrupted_reads), MODE(interrupted_rests), MODE(faults), MODE(dies_of_a_fault),
    MODE(dies_of_a_trap), MODE(dies_of_a_limit), MODE(descriptors_of_events), MODE(seccomp_of_its_own),
    MODE(passed_descriptors), MODE(abstract_sockets), MODE(closed_streams), MODE(moved_descriptors), MODE(paths_only),
    MODE(odd_paths), MODE(copies), MODE(maps), MODE(rings), MODE(limits), MODE(inherited), MODE(locks), MODE(fifos),
    MODE(watches), MODE(users), MODE(roots), MODE(namespaces), MODE(positions), MODE(old_calls),
};

int main(int words_of, char **words) {
    for (size_t at = 0; at < sizeof modes / sizeof *modes; at++) {
        if (words_of < 2) puts(modes[at].name);
        else if (strcmp(words[1], modes[at].name) == 0) { modes[at].act(); return 0; }
    }
    return words_of < 2 ? 0 : 99;
}
