/* In place of the config.h that ./configure of coreutils makes, and of the headers of gnulib that
 * wc.c includes: what it needs of them on Linux with glibc. Short, so that wc builds in a second. */
#ifndef ADOPTING_CONFIG_H
#define ADOPTING_CONFIG_H

#define _GNU_SOURCE 1
#include <ctype.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTRIBUTE_PURE
#define FALLTHROUGH __attribute__((fallthrough))
#define _GL_ARG_NONNULL(arguments)
#define _GL_ATTRIBUTE_DEALLOC(function, argument)
#define _GL_ATTRIBUTE_PURE

/* Words of the program are not translated, and names are not quoted. */
#define _(text) text
#define PACKAGE "coreutils"
#define LOCALEDIR ""
#define bindtextdomain(package, folder) ((void)0)
#define textdomain(package) ((void)0)
#define quotef(name) (name)
#define quoteaf(name) (name)

#define GETOPT_HELP_OPTION_DECL "help", no_argument, NULL, CHAR_MAX + 100
#define GETOPT_VERSION_OPTION_DECL "version", no_argument, NULL, CHAR_MAX + 101
#define HELP_OPTION_DESCRIPTION ""
#define VERSION_OPTION_DESCRIPTION ""
#define case_GETOPT_HELP_CHAR case CHAR_MAX + 100: usage(EXIT_SUCCESS)
#define case_GETOPT_VERSION_CHAR(name, authors) case CHAR_MAX + 101: exit(puts(name) < 0)
#define emit_ancillary_info(name) ((void)0)
#define emit_stdin_note() ((void)0)
#define emit_try_help() ((void)0)
void usage(int status);

#define FADVISE_SEQUENTIAL POSIX_FADV_SEQUENTIAL
#define INT_BUFSIZE_BOUND(type) (3 * sizeof(type) + 1)
#define O_BINARY 0
#define STREQ(one, other) (strcmp(one, other) == 0)
#define close_stdout fflush_stdout
#define die(status, ...) (error(status, __VA_ARGS__), exit(status))
#define fdadvise(fd, offset, length, advice) ((void)posix_fadvise(fd, offset, length, advice))
#define initialize_main(argc, argv) ((void)0)
#define physmem_available() ((double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE))
#define program_name program_invocation_name
#define set_program_name(name) ((void)0)
#define to_uchar(letter) ((unsigned char)(letter))
#define umaxtostr(number, text) (sprintf(text, "%ju", (uintmax_t)(number)), text)
#define xalloc_die() abort()
#define xnmalloc(count, size) calloc(count, size)
#define xset_binary_mode(fd, mode) ((void)0)

static inline bool usable_st_size(const struct stat *status)
{
    return S_ISREG(status->st_mode);
}

/* The letters of C, which are one byte in each encoding. */
static inline bool is_basic(char letter)
{
    return letter > 0;
}

static inline void fflush_stdout(void)
{
    if (fflush(stdout) != 0)
        _exit(EXIT_FAILURE);
}

#endif
