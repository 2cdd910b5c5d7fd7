//! Runs loops over large texts with the widest vectors that this processor has. aarch64 has vectors
//! of one width everywhere, so there is nothing to ask there.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "calls what is compiled for a processor that has been asked")
)]

/// The size in bytes from which wide vectors are used. Below it, asking the processor what it
/// supports costs more than they save: in a virtual machine the question traps to the host. grep
/// searches 96 KiB at a time, as GNU's does.
#[cfg(target_arch = "x86_64")]
const ASKED_FROM: usize = 80 << 10;

/// Runs `work` on `bytes` bytes of text, compiled for wide vectors where that pays. Only code that
/// is inlined into `work` is compiled so.
#[inline(always)]
pub(crate) fn widely<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    if bytes >= ASKED_FROM && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { with_avx2(work) };
    }
    let _ = bytes;
    work()
}

/// Compiles the code inlined here for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}
