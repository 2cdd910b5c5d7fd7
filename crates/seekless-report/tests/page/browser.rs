//! A headless browser, and what a reader of a page sees in it. The tests of the command share it.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// The first browser of the search path; without one, says that the test is skipped.
pub(crate) fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").iter().flat_map(std::env::split_paths).collect();
    let found = BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: no Chromium in the search path shows the page");
    }
    found
}

/// Opens a page, and gives what the browser writes to its standard output.
pub(crate) fn open(browser: &Path, page: &Path, arguments: &[&str]) -> String {
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
        ])
        .args(["--virtual-time-budget=4000", "--window-size=1180,900"])
        .arg(format!("--user-data-dir={}", page.with_extension("profile").display()))
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page with scripts of the test around its own, which its policy is made to allow.
fn watched(html: &str) -> String {
    let script = |text: &str| format!("<script nonce=\"test\">{text}</script>\n");
    let html = html.replacen("script-src '", "script-src 'nonce-test' '", 1);
    let errors = script(include_str!("errors.js"));
    let html = html.replacen("<title>", &(errors + "<title>"), 1);
    let rows = script(include_str!("rows.js"));
    let data = "<script type=\"application/json\"";
    let html = html.replacen(data, &(rows + data), 1);
    html.replacen("</body>", &(script(include_str!("use.js")) + "</body>"), 1)
}

/// What a reader of a page with this text saw.
pub(crate) fn seen_in(browser: &Path, html: &str) -> Value {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, watched(html)).unwrap();
    let dom = open(browser, &path, &["--dump-dom"]);
    let (_, seen) = dom.split_once("data-seen=\"").expect("the script of the test ended");
    let seen = seen.split_once('"').unwrap().0;
    let seen = seen.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
    serde_json::from_str(&seen.replace("&nbsp;", "\u{a0}").replace("&amp;", "&")).unwrap()
}
