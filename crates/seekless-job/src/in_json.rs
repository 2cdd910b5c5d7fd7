//! How a path stands in JSON, which holds text alone: as it is, or escaped as in a trace if it is
//! not UTF-8. (serde refuses such a path, and a whole report would be lost for it.)

use seekless_trace::escape_path;
use serde::Serializer;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// For `serialize_with`.
pub fn path<S: Serializer>(path: &(impl AsRef<Path> + ?Sized), to: S) -> Result<S::Ok, S::Error> {
    let path = path.as_ref().as_os_str();
    match path.to_str() {
        Some(text) => to.serialize_str(text),
        None => to.serialize_str(&escape_path(path.as_bytes())),
    }
}

/// For `serialize_with`, of a path that may be missing.
pub fn some_path<S: Serializer>(
    found: &Option<impl AsRef<Path>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match found {
        Some(found) => path(found, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::PathBuf;

    #[derive(Serialize)]
    struct Paths {
        #[serde(serialize_with = "super::path")]
        one: PathBuf,
        #[serde(serialize_with = "super::some_path")]
        other: Option<PathBuf>,
    }

    #[test]
    fn every_path_has_its_text() {
        let text = |one: &[u8], other: Option<&str>| {
            let one = OsStr::from_bytes(one).into();
            serde_json::to_string(&Paths { one, other: other.map(PathBuf::from) }).unwrap()
        };
        assert_eq!(text(b"/a\\b", Some("/c")), r#"{"one":"/a\\b","other":"/c"}"#);
        assert_eq!(text(b"/a\xff", None), r#"{"one":"/a\\xff","other":null}"#);
    }
}
