//! What processes have used.

use std::mem::MaybeUninit;

/// Processor time of this process's children whose end it has waited for, and of theirs, in
/// nanoseconds.
#[must_use]
pub fn cpu_of_children_ns() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one structure to a live one, which all zeroes already makes valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| {
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
    };
    ns(usage.ru_utime) + ns(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_computes_adds_its_time() {
        let before = cpu_of_children_ns();
        let script = "n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert!(cpu_of_children_ns() > before);
    }
}
