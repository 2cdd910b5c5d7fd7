//! Ozen 2018, on the eviction of cached blocks: the reads and writes of each policy, as he
//! published it and as its paper has it. Test 3 (copy and grep, 10,000 pages) is reproduced to the
//! byte. Test 4 (an office desktop, 16 pages) needs its trace. Tests 1 and 2 (a build) and 5 to 16
//! (SQLite) are run anew.

mod builds;
mod device_time;
mod figures;
mod picture;
mod replay;
pub(crate) mod sqlite;
mod tables;

use crate::data::stand_in;
use crate::{claims, output, picture as pictures, scratch};
use figures::{Experiment, TEST_3, TEST_3_STAND_IN, TEST_4, Test};
use replay::Played;
use seekless_results::{Table, published};
use std::path::{Path, PathBuf};

/// Options of the experiment.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Folder that holds ozen-2018/SequentialCopyGrep.txt.lzma.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Test 4 instead of test 3: the sector trace WebOfficeDesktop-3mins, which is not part of the
    /// data.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    builds: builds::BuildArgs,
    #[command(flatten)]
    sqlite: sqlite::SqliteArgs,
    #[command(flatten)]
    replay: replay::ReplayArgs,
    /// The policies in time, on the models of a disk and of a flash drive, and beside them eviction
    /// by device time: test 3, test 4 with --trace, tests 1 and 2 with --builds, tests 5 to 16 with
    /// --sqlite.
    #[arg(long, conflicts_with_all = ["picture", "replay"])]
    device_time: bool,
    /// Draws the published policies as bars, as his figures do (.svg or .png); of tests 5 to 16 a
    /// file each, FILE with -5 to -16.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Prints figures as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    pictures::check(args.picture.as_deref())?;
    if args.replay.replay {
        return replayed(args).map(|()| Vec::new());
    }
    if args.device_time {
        return in_time(args);
    }
    if args.builds.builds {
        return builds::run(&args.builds, args.json).map(|()| Vec::new());
    }
    if args.sqlite.sqlite {
        return sqlite::run(&args.sqlite, args.picture.as_deref(), args.json);
    }
    let experiment = scratch::within(&std::env::temp_dir(), "ozen2018", |folder| {
        let (test, trace) = test_and_trace(args, folder)?;
        Experiment::run(test, &trace, folder)
    })?;
    if args.json {
        output::json(&experiment)?;
    } else {
        output::text(&tables::words(&experiment))?;
        let claims = tables::claims(&experiment);
        if !claims.is_empty() {
            output::text(&format!("\n{}", claims::words(&claims)))?;
        }
    }
    if let Some(path) = &args.picture {
        pictures::save(path, &picture::draw(&experiment))?;
    }
    Ok(tables::saved(&experiment))
}

/// Plays the tests that the options name.
fn replayed(args: &Args) -> anyhow::Result<()> {
    replay::run(&args.replay, args.json, |replaying| {
        let folder = replaying.folder().to_path_buf();
        each_test(args, &folder, &mut |test| replaying.test(test))
    })
}

/// Simulates them in time.
fn in_time(args: &Args) -> anyhow::Result<Vec<Table>> {
    let mut times = Vec::new();
    scratch::within(&std::env::temp_dir(), "ozen2018", |folder| {
        each_test(args, folder, &mut |test| {
            times.push(device_time::measure(test)?);
            Ok(())
        })
    })?;
    if args.json {
        output::json(&times)?;
    } else {
        output::text(&device_time::words(&times)?)?;
    }
    Ok(device_time::tables(&times))
}

/// Hands over the tests that the options name. Their files lie in `folder`.
fn each_test(
    args: &Args,
    folder: &Path,
    play: &mut dyn FnMut(&Played<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if args.sqlite.sqlite {
        return sqlite::each_test(&args.sqlite, folder, play);
    }
    if args.builds.builds {
        return builds::each_test(&args.builds, folder, play);
    }
    let (test, trace) = test_and_trace(args, folder)?;
    let requests = figures::read(&trace, &folder.join("trace.parquet"))?;
    play(&Played {
        number: test.number,
        workload: test.workload.to_owned(),
        pages: test.pages,
        published: &requests,
        corrected: &requests,
    })
}

/// The test that the options name, and its trace. Without `--data`, if his trace is missing, a
/// made-up trace stands in, which is written to `scratch`.
fn test_and_trace(args: &Args, scratch: &Path) -> anyhow::Result<(&'static Test, PathBuf)> {
    if let Some(trace) = &args.trace {
        return Ok((&TEST_4, trace.clone()));
    }
    match published(args.data.as_deref(), "ozen-2018/SequentialCopyGrep.txt.lzma") {
        Ok(trace) => Ok((&TEST_3, trace)),
        Err(missing) if args.data.is_some() => Err(missing),
        Err(missing) => {
            eprintln!("{missing}");
            Ok((&TEST_3_STAND_IN, stand_in::copy_and_search(scratch)?))
        }
    }
}
