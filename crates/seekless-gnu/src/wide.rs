//! Loops over large texts with the widest vectors that this processor has.

#![expect(unsafe_code, reason = "calls what is compiled for a processor that has been asked")]

/// Below this many bytes it costs more to ask the processor what it can do than wide vectors save: in a virtual machine the
/// question leaves the machine. grep looks at 96 KiB at a time, as GNU's does.
const ASKED_FROM: usize = 80 << 10;

/// Does `work` over `bytes` bytes of text, compiled for wide vectors where that pays. Only what is inlined into `work` is
/// compiled so.
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

/// What is inlined here is compiled for AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<T>(work: impl FnOnce() -> T) -> T {
    work()
}
