//! The programs to start: imports of Python, and others that are copied beside their files.

use super::{Args, whole};
use crate::programs::cases::{Case, Places};
use crate::programs::{Words, words};
use std::path::Path;

/// Reads what no start needs.
const READS_TESTS: &str = "import glob, os\nfor path in glob.glob(os.environ['PYTHONPATH'] + \
    '/*/**/tests/**/*.py', recursive=True): open(path, 'rb').read()";

/// A program to start.
pub(super) struct Start {
    pub(super) case: Case,
    /// Reads what the start does not need.
    pub(super) wrong: Option<Words>,
    /// A start of the same kind that stays, for preload to see.
    pub(super) stays: Option<Words>,
}

/// The imports. All lies at `mounted` if the whole start is cold.
pub(super) fn imports(args: &Args, mounted: &Path) -> anyhow::Result<Vec<Start>> {
    let Some(packages) = args.imports_from()? else { return Ok(Vec::new()) };
    let python = if args.whole { whole::python(mounted) } else { args.python.clone() };
    let mut starts = Vec::new();
    for import in &args.imports {
        let gone = import.split('+').map(|name| name.split('.').next().unwrap_or(name));
        let mut gone = gone.filter(|name| !is_there(packages, name));
        if let Some(gone) = gone.next() {
            eprintln!("bench: {} has no {gone}: left out", packages.display());
            continue;
        }
        let (names, last) =
            (import.replace('+', ", "), import.rsplit('+').next().unwrap_or(import));
        let alike = format!("import {names}\nprint(len(dir({last})))");
        let script = |text: &str| words(&python, ["-c", text]);
        let mut environment = vec![("PYTHONDONTWRITEBYTECODE", "1".into())];
        if args.whole {
            environment.push(("LD_LIBRARY_PATH", whole::libraries(mounted).into()));
        }
        starts.push(Start {
            case: Case {
                name: import.clone(),
                start: script(&format!("import {names}, sys; sys.exit(0)")),
                alike: script(&alike),
                environment,
                tree: None,
            },
            wrong: Some(script(READS_TESTS)),
            stays: Some(script(&format!("{alike}\nimport time; time.sleep(60)"))),
        });
    }
    Ok(starts)
}

/// Whether a folder of packages has a package, or a module of this name.
fn is_there(packages: &Path, name: &str) -> bool {
    packages.join(name).is_dir() || packages.join(format!("{name}.py")).is_file()
}

/// The other programs, made in `made`.
pub(super) fn programs(args: &Args, places: &Places) -> anyhow::Result<Vec<Start>> {
    let mut starts = Vec::new();
    for kind in &args.program {
        let case = kind.case(places)?;
        starts.extend(case.map(|case| Start { case, wrong: None, stays: None }));
    }
    Ok(starts)
}
