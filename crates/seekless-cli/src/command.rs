//! The verbs, a file each: `Args` is what was typed, `run` does it.
