//! Workloads with made-up times: who runs when, what is thrown away, and what is refused.

use super::*;
use crate::BoxError;
use std::cell::RefCell;
use std::error::Error as _;
use std::time::Duration;

/// Takes the next of its times at each run, and writes its name into the common diary.
struct Scripted<'a> {
    name: &'static str,
    times_ms: Vec<u64>,
    trial: Trial,
    diary: &'a RefCell<Vec<String>>,
}

fn scripted<'a>(
    name: &'static str,
    times_ms: &[u64],
    diary: &'a RefCell<Vec<String>>,
) -> Scripted<'a> {
    let trial = Trial {
        elapsed: Duration::ZERO,
        requests: Some(7),
        bytes: None,
        delivered_bytes: 10,
        checksum: 3,
    };
    Scripted { name, times_ms: times_ms.to_vec(), trial, diary }
}

impl Workload for Scripted<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn make_cold(&mut self) -> Result<Coldness, BoxError> {
        self.diary.borrow_mut().push(format!("cold {}", self.name));
        let left = self.times_ms.len() as u64;
        Ok(Coldness { resident_bytes_after_drop: left, ..Coldness::default() })
    }

    fn run(&mut self, progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
        progress(0.5);
        self.diary.borrow_mut().push(self.name.to_owned());
        if self.times_ms.is_empty() {
            return Err("the disk is on fire".into());
        }
        let elapsed = Duration::from_millis(self.times_ms.remove(0));
        Ok(Trial { elapsed, ..self.trial })
    }
}

#[test]
fn the_first_round_is_thrown_away_and_ratios_are_to_the_first_workload() {
    let diary = RefCell::default();
    let mut loose = scripted("loose", &[9_000, 100, 300, 200], &diary);
    let mut pack = scripted("pack", &[1, 10, 10, 40], &diary);
    let figures = alternate(&mut [&mut loose, &mut pack], 3).unwrap();
    assert_eq!((figures[0].median_ns, figures[0].ratio), (200_000_000, 1.0));
    assert_eq!((figures[0].min_ns, figures[0].max_ns), (100_000_000, 300_000_000));
    assert_eq!((figures[1].median_ns, figures[1].ratio), (10_000_000, 20.0));
    assert_eq!(figures[1].round_ratios, [10.0, 30.0, 5.0]);
    assert_eq!(figures[1].rounds_ns, [10_000_000, 10_000_000, 40_000_000]);
    assert_eq!((figures[1].requests, figures[1].bytes), (Some(7), None));
    assert!((figures[1].slower_by() + 0.95).abs() < 1e-9);
    assert_eq!(figures[0].at_start.resident_bytes_after_drop, 4, "before the discarded round");
    assert_eq!(figures[0].least_cold.resident_bytes_after_drop, 3, "the worst of the counted ones");
}

#[test]
fn each_trial_is_made_cold_and_another_workload_goes_first_each_round() {
    let diary = RefCell::default();
    let [mut a, mut b, mut c] = ["a", "b", "c"].map(|name| scripted(name, &[1; 4], &diary));
    let mut reported = Vec::new();
    alternate_with_progress(&mut [&mut a, &mut b, &mut c], 3, &mut |done, total| {
        reported.push((done, total))
    })
    .unwrap();
    let diary = diary.into_inner();
    assert!(diary.chunks(2).all(|pair| pair[0] == format!("cold {}", pair[1])));
    let runs: String = diary.chunks(2).map(|pair| pair[1].as_str()).collect();
    assert_eq!(runs, "abcbcacababc");
    let expected: Vec<(u64, u64)> = (0..=24).map(|half| (half * 500, 12_000)).collect();
    assert_eq!(reported, expected, "at each trial's start and half way through it");
}

#[test]
fn rivals_that_deliver_other_bytes_are_refused() {
    let diary = RefCell::default();
    let mut loose = scripted("loose", &[1; 3], &diary);
    let mut pack = scripted("pack", &[1; 3], &diary);
    pack.trial.checksum = 4;
    let error = alternate(&mut [&mut loose, &mut pack], 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Disagree);
    let message = error.to_string();
    assert!(
        message.contains("pack delivered 10 bytes") && message.contains("but loose"),
        "{message}"
    );
}

#[test]
fn a_failure_names_the_workload_and_the_round() {
    let diary = RefCell::default();
    let mut loose = scripted("loose", &[1, 1], &diary);
    let error = alternate(&mut [&mut loose], 5).unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Workload, "loose failed in round 2".to_owned())
    );
    assert_eq!(error.source().expect("its cause").to_string(), "the disk is on fire");
    assert_eq!(alternate(&mut [], 5).unwrap_err().kind(), ErrorKind::Nothing);
    assert_eq!(alternate(&mut [&mut loose], 0).unwrap_err().kind(), ErrorKind::Nothing);
}

#[test]
fn unknown_in_one_round_is_unknown_and_figures_go_to_json() {
    struct Forgetful(u64);
    impl Workload for Forgetful {
        fn name(&self) -> &str {
            "forgetful"
        }
        fn make_cold(&mut self) -> Result<Coldness, BoxError> {
            Ok(Coldness::default())
        }
        fn run(&mut self, progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
            progress(0.5);
            self.0 += 1;
            let requests = (self.0 != 3).then_some(self.0);
            Ok(Trial {
                elapsed: Duration::from_secs(1),
                requests,
                bytes: Some(self.0),
                delivered_bytes: 0,
                checksum: 0xAB,
            })
        }
    }
    let figures = alternate(&mut [&mut Forgetful(0)], 3).unwrap();
    assert_eq!((figures[0].requests, figures[0].bytes), (None, Some(3)));
    let json = serde_json::to_value(&figures[0]).unwrap();
    assert_eq!(json["requests"], serde_json::Value::Null);
    assert_eq!(json["checksum"], "00000000000000ab");
    assert_eq!(json["median_ns"], 1_000_000_000u64);
}
