/* A 32-bit program without a C library: says a word. */
void _start(void) {
    int result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(4), "b"(1), "c"("word\n"), "d"(5) : "memory");
    __asm__ volatile("int $0x80" : : "a"(1), "b"(result == 5 ? 3 : 99));
    __builtin_unreachable();
}
