//! What processes have used.

use std::mem::MaybeUninit;

/// What this process's children have used whose end it has waited for, and theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in nanoseconds.
    pub cpu_ns: u64,
    /// Touches of pages that had to come from a device first.
    pub major_faults: u64,
}

impl Usage {
    /// What was used since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(before.cpu_ns),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
        }
    }
}

/// What this process's children have used up to now.
#[must_use]
pub fn of_children() -> Usage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel writes one structure to a live one, which all zeroes already makes valid.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |time: libc::timeval| {
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_usec.unsigned_abs() * 1000
    };
    Usage {
        cpu_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
        major_faults: usage.ru_majflt.unsigned_abs(),
    }
}

/// Of [`of_children`], the processor time in nanoseconds.
#[must_use]
pub fn cpu_of_children_ns() -> u64 {
    of_children().cpu_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_computes_adds_its_time() {
        let before = of_children();
        let script = "n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done";
        assert!(std::process::Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert!(of_children().since(before).cpu_ns > 0);
    }
}
