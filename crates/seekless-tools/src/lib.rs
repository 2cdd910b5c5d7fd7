//! What joins crates into a job: pack a folder, synth, compare, tour.
