//! Pages of a small checkout, and the pages of this one.

use super::*;
use seekless_results::{Better, Contender, Figure, Table};

/// A checkout with one bench, one page and a README.
fn checkout() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let mut table = Table::new("seconds", "A scan", "size", "s", Better::Lower)
        .contenders([Contender::ours("wc"), Contender::rival("GNU")]);
    for size in [1.0, 2.0] {
        let figures = [0.25 * size, 3.0 * size].map(|seconds| Some(Figure::exact(seconds)));
        table.push(&format!("{size} GB"), Some(size), figures.to_vec());
    }
    table.measured.command = "./run bench scan".to_owned();
    let mut results = seekless_results::Results::new("scan");
    results.take(vec![table]);
    write("bench/results/.keep", "");
    results.write(&root.path().join("bench/results/scan.json")).unwrap();
    let page = "# Scanning\n\nTakes {{figure scan/seconds; 2 GB; wc}}.\n\n\
                {{plot scan.svg; scan/seconds; linear; log; A scan; GB}}\n\n{{table scan/seconds}}\n";
    write("bench/pages/scanning.md", page);
    write("bench/pages/README.md", "| scan | {{ratio scan/seconds; 1 GB}} times |\n");
    write("README.md", &format!("# Name\n\n{BEGIN}old\n{END}\nend\n"));
    root
}

fn write(root: &Path, made: &Made) {
    for (path, bytes) in made {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn pages_plots_and_readme_are_made() {
    let root = checkout();
    let made = make(root.path()).unwrap();
    let names: Vec<String> = made.keys().map(|path| path.display().to_string()).collect();
    assert_eq!(names, ["README.md", "docs/measured/scan.svg", "docs/measured/scanning.md"]);
    let text = |name: &str| String::from_utf8(made[Path::new(name)].clone()).unwrap();
    let page = text("docs/measured/scanning.md");
    assert!(page.contains("Takes 0.5 s.\n\n![A scan](scan.svg)\n"), "{page}");
    assert!(page.contains("| 2 GB | **0.5** | 6 | 12.00 × |\n"), "{page}");
    assert!(text("README.md").contains("-->\n\n| scan | 12.0 times |\n\n<!-- end"));
    write(root.path(), &made);
    compare(root.path(), &make(root.path()).unwrap()).unwrap();
}

#[test]
fn a_changed_digit_is_found_wherever_it_stands() {
    let root = checkout();
    let made = make(root.path()).unwrap();
    for (name, from, to) in [
        ("docs/measured/scanning.md", "| 2 GB | **0.5**", "| 2 GB | **0.6**"),
        ("docs/measured/scanning.md", "Takes 0.5 s", "Takes 0.4 s"),
        ("README.md", "12.0 times", "12.1 times"),
        ("bench/results/scan.json", "0.25", "0.26"),
    ] {
        write(root.path(), &made);
        let path = root.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        let error = compare(root.path(), &make(root.path()).unwrap()).unwrap_err().to_string();
        assert!(error.contains(".md:"), "{name}: {error}");
        fs::write(&path, text).unwrap();
    }
    fs::write(root.path().join("docs/measured/stray.md"), "text").unwrap();
    assert!(compare(root.path(), &made).unwrap_err().to_string().contains("stray.md"));
}

#[test]
fn a_table_without_a_page_and_a_name_without_a_table_are_errors() {
    let root = checkout();
    let page = root.path().join("bench/pages/scanning.md");
    let refused = |words: &str| {
        fs::write(&page, words).unwrap();
        format!("{:#}", make(root.path()).map(|made| made.len()).unwrap_err())
    };
    assert!(refused("# Scanning\n").contains("scan/seconds"));
    assert!(refused("{{table scan/minutes}}\n").contains("no table scan/minutes"));
    assert!(refused("{{figure scan/seconds; 9 GB; wc}}\n").contains("no case 9 GB"));
    assert!(refused("{{figure scan/seconds; 1 GB; mawk}}\n").contains("no contender mawk"));
    assert!(refused("it takes 12 ms\n").contains("was typed"));
}

/// The pages of this checkout: every cell is short and every figure is in the results.
#[test]
fn the_pages_of_this_checkout_are_what_the_results_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let made = make(&root).unwrap();
    assert!(made.len() > 10);
    compare(&root, &made).unwrap();
}
