//! Names of objects in object storage: where a pack is named, `s3://bucket/key` is one. They are
//! parsed here alone, so that each build knows them, whether or not it can reach such storage.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

/// Which service holds an object, as the beginning of its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// `s3://BUCKET/KEY`: Amazon S3, and what speaks its protocol.
    S3,
    /// `gs://BUCKET/KEY`: Google Cloud Storage.
    Gs,
    /// `az://CONTAINER/KEY`: Azure Blob Storage.
    Az,
    /// `https://HOST/PATH`: a file of a web server, which can only be read.
    Https,
    /// `http://HOST/PATH`: the same without encryption.
    Http,
}

const SCHEMES: [(&str, Scheme); 5] = [
    ("s3://", Scheme::S3),
    ("gs://", Scheme::Gs),
    ("az://", Scheme::Az),
    ("https://", Scheme::Https),
    ("http://", Scheme::Http),
];

impl Scheme {
    /// What names begin with: `s3://`.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        SCHEMES.iter().find(|(_, scheme)| *scheme == self).map_or("", |(prefix, _)| prefix)
    }

    /// Whether it is a plain web server.
    #[must_use]
    pub fn is_web(self) -> bool {
        matches!(self, Self::Https | Self::Http)
    }
}

const UNSUPPORTED: &str = "this build reads no object storage; build the command with it by `cargo \
     build --release --package seekless-cli --features remote`, or use the crate's feature `remote`";

/// The name of one object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName {
    scheme: Scheme,
    container: String,
    key: String,
}

impl ObjectName {
    /// Whether `path` is meant as the name of an object. A file of such a name is `./s3://…`.
    #[must_use]
    pub fn is_meant(path: &Path) -> bool {
        split(path).is_some()
    }

    /// The object that `path` names; `None` if it is meant as the name of a file.
    ///
    /// # Errors
    /// `InvalidInput`: the name has no bucket or key, or holds what may be secret. The message
    /// names the object, without the secret.
    #[must_use]
    pub fn parse(path: &Path) -> Option<io::Result<Self>> {
        let (scheme, rest) = split(path)?;
        Some(Self::of(scheme, rest).map_err(|why| {
            let message = format!("{}: {why}", without_secrets(scheme, rest));
            io::Error::new(io::ErrorKind::InvalidInput, message)
        }))
    }

    fn of(scheme: Scheme, rest: &[u8]) -> Result<Self, &'static str> {
        let rest = str::from_utf8(rest).map_err(|_| "the name of an object must be UTF-8")?;
        let (container, key) = rest.split_once('/').unwrap_or((rest, ""));
        if container.contains('@') {
            return Err("a name must not hold credentials, which messages would show: give them \
                 as the provider's own tools take them");
        }
        if scheme.is_web() && rest.contains(['?', '#']) {
            return Err("a name with a query, such as a signed link, is not supported: messages \
                 would show the signature. Name the object itself, as s3://BUCKET/KEY");
        }
        if container.is_empty() {
            return Err(
                "there is no bucket in the name: give s3://BUCKET/KEY, or https://HOST/PATH",
            );
        }
        if key.is_empty() || key.ends_with('/') {
            return Err("this names a folder: name an object, as in s3://BUCKET/KEY");
        }
        if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err("the key has an empty, \".\" or \"..\" part: name the object by its key");
        }
        Ok(Self { scheme, container: container.to_owned(), key: key.to_owned() })
    }

    /// The error of a build that cannot reach object storage.
    #[must_use]
    pub fn unsupported(&self) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, format!("{self}: {UNSUPPORTED}"))
    }

    /// The same for who names the object.
    #[must_use]
    pub fn unsupported_here() -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, UNSUPPORTED)
    }

    /// A text for people without the credentials that names in it hold: those that are no names of
    /// objects for that reason, too.
    #[must_use]
    pub fn without_secrets(text: &str) -> Cow<'_, str> {
        let first = |text: &str| {
            let places = SCHEMES
                .iter()
                .filter_map(|(prefix, scheme)| Some((text.find(prefix)?, prefix.len(), *scheme)));
            places.min_by_key(|(at, length, _)| (*at, usize::MAX - length))
        };
        let (mut shown, mut rest) = (String::new(), text);
        while let Some((at, prefix, scheme)) = first(rest) {
            let name = &rest[at + prefix..];
            let is_end = |char: char| char.is_whitespace() || "\"'`".contains(char);
            let end = name.find(is_end).unwrap_or(name.len());
            shown += &rest[..at];
            shown += &without_secrets(scheme, &name.as_bytes()[..end]);
            rest = &name[end..];
        }
        match shown.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(shown + rest),
        }
    }

    /// Which service it is.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The bucket, the container, or the web server with its port.
    #[must_use]
    pub fn container(&self) -> &str {
        &self.container
    }

    /// What holds the object: the scheme and the bucket. The device table names its costs so.
    #[must_use]
    pub fn storage(&self) -> String {
        format!("{}{}", self.scheme.prefix(), self.container)
    }

    /// The object's name in its bucket.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}/{}", self.scheme.prefix(), self.container, self.key)
    }
}

fn split(path: &Path) -> Option<(Scheme, &[u8])> {
    let text = path.as_os_str().as_encoded_bytes();
    SCHEMES
        .iter()
        .find_map(|(prefix, scheme)| Some((*scheme, text.strip_prefix(prefix.as_bytes())?)))
}

/// The name up to a query, and without what stands before an `@`.
fn without_secrets(scheme: Scheme, rest: &[u8]) -> String {
    let rest = String::from_utf8_lossy(rest);
    let (plain, cut) = match rest.split_once(['?', '#']) {
        Some((plain, _)) => (plain, "?…"),
        None => (&*rest, ""),
    };
    let (container, key) = plain.split_at(plain.find('/').unwrap_or(plain.len()));
    let container = container.rsplit_once('@').map_or(container, |(_, host)| host);
    format!("{}{container}{key}{cut}", scheme.prefix())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> io::Result<ObjectName> {
        ObjectName::parse(Path::new(text)).expect("meant as an object")
    }

    #[test]
    fn a_name_has_a_service_a_bucket_and_a_key() {
        let name = parsed("s3://data/packs/app 1.zip").unwrap();
        let parts = (name.scheme(), name.container(), name.key());
        assert_eq!(parts, (Scheme::S3, "data", "packs/app 1.zip"));
        assert_eq!(name.to_string(), "s3://data/packs/app 1.zip");
        let name = parsed("http://127.0.0.1:8080/a.zip").unwrap();
        assert_eq!((name.scheme(), name.container()), (Scheme::Http, "127.0.0.1:8080"));
    }

    #[test]
    fn files_are_no_objects() {
        for file in ["a.zip", "./s3://data/a", "/s3://data/a", "s3:/data/a", "file:///a", "-", ""] {
            assert!(ObjectName::parse(Path::new(file)).is_none(), "{file}");
        }
    }

    #[test]
    fn what_names_no_object_is_an_error() {
        let wrong = ["s3://", "s3://data", "s3://data/", "gs:///a", "az://c/d/", "s3://c/a//b"];
        for text in wrong {
            let message = parsed(text).unwrap_err().to_string();
            assert!(message.starts_with(text.split("//").next().unwrap()), "{message}");
        }
    }

    #[test]
    fn messages_hold_no_secret() {
        for text in ["https://user:word@host/a", "https://host/a?X-Amz-Signature=word"] {
            let message = parsed(text).unwrap_err().to_string();
            assert!(!message.contains("word") && message.contains("host/a"), "{message}");
            let message = format!("{text}: cannot be read: {text}\n");
            let shown = ObjectName::without_secrets(&message);
            assert!(!shown.contains("word") && shown.contains("host/a"), "{shown}");
            assert!(
                shown.ends_with('\n') && shown.contains(" cannot be read: https://"),
                "{shown}"
            );
        }
        let plain = "s3://bucket/a: as in `https://HOST/PATH`, and no more";
        assert_eq!(ObjectName::without_secrets(plain), plain);
    }
}
