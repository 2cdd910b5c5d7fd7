//! A program that has the kernel read all of it at once, when it is cold. Else each part that is
//! touched costs a request of the device, one after the other: what a program touches until `main`
//! lies all over it. A static program that may lie anywhere in memory touches most of that while it
//! adapts its own addresses, before any function of its own is called: so it is entered here.

/// Has the kernel read all of this program before its first instruction but these, if its first
/// argument is `run`. For the file of a program's `main`, once; the program is linked with the
/// entry `seekless_entry` (`-e`).
///
/// The code makes system calls alone, keeps what the kernel gave the program, and goes on at
/// `_start`. Pieces are of 512 KiB: the kernel reads no more for one call on common devices.
#[macro_export]
macro_rules! read_itself {
    () => {
        #[cfg(target_arch = "x86_64")]
        ::std::arch::global_asm!(
            ".pushsection .text.seekless_entry,\"ax\",@progbits",
            ".globl seekless_entry",
            ".type seekless_entry,@function",
            "seekless_entry:",
            "cmp qword ptr [rsp], 2", // how many arguments
            "jl 3f",
            "mov rax, [rsp + 16]", // the first one after the program's name
            "cmp dword ptr [rax], 0x006e7572", // "run" and a zero byte
            "jne 3f",
            "mov r12, rdx", // what `_start` expects
            "lea rdi, [rip + 4f]",
            "mov esi, 0x80000", // read only, closed by exec
            "xor edx, edx",
            "mov eax, 2", // open
            "syscall",
            "test eax, eax",
            "js 2f",
            "mov r13d, eax",
            "lea r14, [rip + edata]",
            "lea rax, [rip + __executable_start]",
            "sub r14, rax", // bytes of the file that are mapped
            "xor r15d, r15d",
            "1: mov edi, r13d",
            "mov rsi, r15",
            "mov edx, 0x80000",
            "mov eax, 187", // readahead
            "syscall",
            "add r15, 0x80000",
            "cmp r15, r14",
            "jb 1b",
            "mov edi, r13d",
            "mov eax, 3", // close
            "syscall",
            "2: mov rdx, r12",
            "3: jmp _start",
            "4: .asciz \"/proc/self/exe\"",
            ".popsection",
        );
        #[cfg(target_arch = "aarch64")]
        ::std::arch::global_asm!(
            ".pushsection .text.seekless_entry,\"ax\",@progbits",
            ".globl seekless_entry",
            ".type seekless_entry,@function",
            "seekless_entry:",
            "ldr x9, [sp]", // how many arguments
            "cmp x9, #2",
            "b.lt 3f",
            "ldr x9, [sp, #16]", // the first one after the program's name
            "ldr w9, [x9]",
            "mov w10, #0x7572", // "run" and a zero byte
            "movk w10, #0x006e, lsl #16",
            "cmp w9, w10",
            "b.ne 3f",
            "mov x19, x0", // what `_start` expects
            "mov x0, #-100",
            "adr x1, 4f",
            "mov x2, #0x80000", // read only, closed by exec
            "mov x3, #0",
            "mov x8, #56", // openat
            "svc #0",
            "tbnz w0, #31, 2f",
            "mov x20, x0",
            "adrp x21, edata",
            "add x21, x21, :lo12:edata",
            "adrp x22, __executable_start",
            "add x22, x22, :lo12:__executable_start",
            "sub x21, x21, x22", // bytes of the file that are mapped
            "mov x22, #0",
            "1: mov x0, x20",
            "mov x1, x22",
            "mov x2, #0x80000",
            "mov x8, #213", // readahead
            "svc #0",
            "add x22, x22, #0x80, lsl #12",
            "cmp x22, x21",
            "b.lo 1b",
            "mov x0, x20",
            "mov x8, #57", // close
            "svc #0",
            "2: mov x0, x19",
            "3: b _start",
            "4: .asciz \"/proc/self/exe\"",
            ".balign 4",
            ".popsection",
        );
    };
}
