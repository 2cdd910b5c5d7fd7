//! An upload of which some parts are copied. `object_store` copies no parts, but signs any request.

use crate::connector::Connector;
use crate::fault::{Fault, Kind};
use crate::pause::Pauses;
use crate::plan::{Part, Plan};
use crate::provider;
use crate::put::{self, Condition, PARTS_AT_ONCE, Target, Version};
use crate::{Access, Settings};
use futures_util::stream::{self, StreamExt};
use object_store::aws::AmazonS3;
use object_store::client::{HttpClient, HttpErrorKind, HttpRequest, HttpRequestBody};
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::signer::{HeaderName, HeaderValue, Method, SignedUrlOptions, Signer};
use object_store::{MultipartId, PutMultipartOptions};
use seekless_engine::ObjectName;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a signed request stands.
const SIGNED_FOR: Duration = Duration::from_secs(15 * 60);
/// A copy of a part has no byte to show meanwhile.
const COPY_PATIENCE: Duration = Duration::from_secs(5 * 60);

pub(super) struct Copying {
    target: Target,
    /// The same bucket, and the client that speaks to it.
    store: AmazonS3,
    client: HttpClient,
    path: Path,
    /// `bucket/key`, as a header has it.
    source: String,
    old: Version,
    content: Arc<File>,
    plan: Plan,
    settings: Settings,
}

impl Copying {
    pub(super) fn new(
        name: &ObjectName,
        content: Arc<File>,
        plan: Plan,
        old: Version,
        access: &Access,
        settings: &Settings,
    ) -> io::Result<Self> {
        let condition = Condition::Same(old.clone());
        let connector = Connector::new(put::on_complete(name.scheme(), &condition));
        let target = Target::new(name, condition, access, settings)?;
        let builder = provider::s3(name, access)?
            .with_retry(put::retries(settings))
            .with_http_connector(connector.clone());
        let incomplete = || provider::incomplete(name.scheme());
        let store = builder.build().map_err(|_| incomplete())?;
        let client = connector.client().ok_or_else(incomplete)?;
        let path = provider::path(name)?;
        let source = format!("{}/{}", name.container(), encoded(path.as_ref()));
        Ok(Self { target, store, client, path, source, old, content, plan, settings: *settings })
    }

    pub(super) async fn run(self, mut progress: impl FnMut(u64) -> bool) -> io::Result<()> {
        let options = PutMultipartOptions {
            attributes: self.target.attributes(),
            ..PutMultipartOptions::default()
        };
        let begun = self.store.create_multipart_opts(&self.path, options).await;
        let upload = begun.map_err(|error| io::Error::from(Fault::of(&error)))?;
        let parts = match self.parts(&upload, &mut progress).await {
            Ok(parts) => parts,
            Err(error) => return Err(self.given_up(&upload, &error).await),
        };
        // Some servers of S3's protocol do not know the condition.
        if let Err(error) = self.target.check().await {
            return Err(self.given_up(&upload, &error).await);
        }
        match self.store.complete_multipart(&self.path, &upload, parts).await {
            Ok(_) => Ok(()),
            Err(error) => {
                // An answer may have been lost: if the object is ours, all is well.
                let ours = self.target.conflicted().await;
                if ours.is_ok() {
                    return Ok(());
                }
                let _ = self.store.abort_multipart(&self.path, &upload).await;
                match Fault::of(&error) {
                    Fault {
                        kind: Kind::Lasting(io::ErrorKind::StaleNetworkFileHandle), ..
                    } => ours,
                    fault => Err(fault.into()),
                }
            }
        }
    }

    /// Sends and copies the parts, several at once, and gives them in their order.
    async fn parts(
        &self,
        upload: &MultipartId,
        progress: &mut impl FnMut(u64) -> bool,
    ) -> io::Result<Vec<PartId>> {
        let (mut parts, mut done) = (Vec::new(), 0);
        let each =
            self.plan.parts.clone().into_iter().enumerate().map(|(number, part)| async move {
                let (Part::Copy(range) | Part::Send(range)) = &part;
                let made = match &part {
                    Part::Copy(range) => self.copy(upload, number, range).await?,
                    Part::Send(range) => self.send(upload, number, range).await?,
                };
                Ok::<_, io::Error>((made, range.end - range.start))
            });
        let mut running = stream::iter(each).buffered(PARTS_AT_ONCE);
        while let Some(part) = running.next().await {
            let (part, bytes) = part?;
            parts.push(part);
            done += bytes;
            if !progress(done) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was interrupted"));
            }
        }
        Ok(parts)
    }

    async fn send(
        &self,
        upload: &MultipartId,
        number: usize,
        range: &Range<u64>,
    ) -> io::Result<PartId> {
        let content = put::part(&self.content, range.clone())?;
        let sent = self.store.put_part(&self.path, upload, number, content.into()).await;
        sent.map_err(|error| Fault::of(&error).into())
    }

    /// Has the provider copy a range of the old version. What fails in passing is tried again.
    async fn copy(
        &self,
        upload: &MultipartId,
        number: usize,
        range: &Range<u64>,
    ) -> io::Result<PartId> {
        let mut pauses = Pauses::new(&self.settings);
        let deadline = Instant::now() + self.settings.deadline.max(COPY_PATIENCE);
        loop {
            let fault = match timeout(COPY_PATIENCE, self.ask(upload, number, range)).await {
                Ok(Ok(part)) => return Ok(part),
                Ok(Err(fault)) => fault,
                Err(_) => Fault::passing("the server did not answer in time"),
            };
            let pause = pauses.next();
            if fault.kind != Kind::Passing || Instant::now() + pause >= deadline {
                return Err(fault.into());
            }
            tokio::time::sleep(pause).await;
        }
    }

    async fn ask(
        &self,
        upload: &MultipartId,
        number: usize,
        range: &Range<u64>,
    ) -> Result<PartId, Fault> {
        let mut headers = vec![
            ("x-amz-copy-source", self.source.clone()),
            ("x-amz-copy-source-range", format!("bytes={}-{}", range.start, range.end - 1)),
        ];
        headers.extend(self.old.e_tag.clone().map(|tag| ("x-amz-copy-source-if-match", tag)));
        let part = (number + 1).to_string();
        let query = [("partNumber", part.as_str()), ("uploadId", upload.as_str())];
        let mut options = SignedUrlOptions::new().with_query(query);
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        for (name, value) in headers {
            let value = HeaderValue::from_str(&value).map_err(|_| Fault::misnamed())?;
            let name = HeaderName::from_static(name);
            request.headers_mut().insert(name.clone(), value.clone());
            options = options.with_signed_header(name, value);
        }
        let signed = self.store.signed_url_opts(Method::PUT, &self.path, SIGNED_FOR, &options);
        let url = signed.await.map_err(|error| Fault::of(&error))?;
        *request.method_mut() = Method::PUT;
        *request.uri_mut() = url.as_str().parse().map_err(|_| Fault::misnamed())?;
        let lost = |error: object_store::client::HttpError| match error.kind() {
            HttpErrorKind::Connect => Fault::passing("the server cannot be reached"),
            HttpErrorKind::Timeout => Fault::passing("the server did not answer in time"),
            _ => Fault::passing("the connection was lost"),
        };
        let answer = self.client.execute(request).await.map_err(lost)?;
        let status = answer.status().as_u16();
        let body = answer.into_body().bytes().await.map_err(lost)?;
        part_of(status, &String::from_utf8_lossy(&body))
    }

    async fn given_up(&self, upload: &MultipartId, error: &io::Error) -> io::Error {
        let removed = self.store.abort_multipart(&self.path, upload).await;
        put::gave_up(error, removed.is_ok())
    }
}

/// The part that an answer names. An answer of success may hold an error, too.
fn part_of(status: u16, body: &str) -> Result<PartId, Fault> {
    use io::ErrorKind as E;
    let within = |tag: &str| {
        let (_, after) = body.split_once(&format!("<{tag}>"))?;
        Some(after.split_once(&format!("</{tag}>"))?.0)
    };
    match (status, within("ETag")) {
        (200, Some(tag)) => Ok(PartId { content_id: tag.replace("&quot;", "\"") }),
        (412, _) => Err(Fault::replaced(Kind::Lasting)),
        (200 | 408 | 409 | 429 | 500 | 502..=599, _) => {
            Err(Fault::passing(format!("the server answered {status} to a copy of a part")))
        }
        (403, _) => Err(Fault::lasting(
            E::PermissionDenied,
            "the storage refuses to copy parts: check what the credentials allow",
        )),
        (404, _) => Err(Fault::lasting(E::NotFound, "there is no such object")),
        (status, _) => {
            let words = format!(
                "the server answered {status} to a copy of a part, which it may not know: write \
                 the object anew instead"
            );
            Err(Fault::lasting(E::Unsupported, words))
        }
    }
}

/// A key as a header has it: what is not plain as `%HH`.
fn encoded(key: &str) -> String {
    let mut encoded = String::with_capacity(key.len());
    for byte in key.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => _ = write!(encoded, "%{byte:02X}"), // writing to a string cannot fail
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_a_part_or_says_whether_to_ask_again() {
        let part = part_of(200, "<CopyPartResult><ETag>&quot;abc&quot;</ETag></CopyPartResult>");
        assert_eq!(part.unwrap().content_id, "\"abc\"");
        let kind = |status, body| part_of(status, body).unwrap_err().kind;
        assert_eq!(kind(200, "<Error><Code>InternalError</Code></Error>"), Kind::Passing);
        assert_eq!(kind(503, ""), Kind::Passing);
        assert_eq!(kind(412, ""), Kind::Lasting(io::ErrorKind::StaleNetworkFileHandle));
        assert_eq!(kind(501, ""), Kind::Lasting(io::ErrorKind::Unsupported));
        assert_eq!(encoded("a b/ü~.zip"), "a%20b/%C3%BC~.zip");
    }
}
