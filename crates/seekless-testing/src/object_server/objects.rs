//! Objects in memory, by S3's protocol: whole or ranges, conditions, uploads in parts.

use super::message::{Request, Response};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

/// What a server holds.
#[derive(Debug, Default)]
pub(super) struct Objects {
    objects: HashMap<String, Object>,
    uploads: HashMap<String, Upload>,
    /// Makes each ETag and each upload another.
    made: u64,
}

#[derive(Clone, Debug)]
struct Object {
    content: Arc<[u8]>,
    tag: String,
    /// What its maker said of it.
    about: Vec<(String, String)>,
}

#[derive(Debug)]
struct Upload {
    path: String,
    about: Vec<(String, String)>,
    parts: BTreeMap<u32, Vec<u8>>,
}

impl Objects {
    pub(super) fn put(&mut self, path: &str, content: Vec<u8>, about: Vec<(String, String)>) {
        self.made += 1;
        let tag = format!("\"{:x}\"", self.made);
        self.objects.insert(path.to_owned(), Object { content: content.into(), tag, about });
    }

    pub(super) fn tag_weakly(&mut self, path: &str) {
        if let Some(object) = self.objects.get_mut(path) {
            object.tag = format!("W/{}", object.tag);
        }
    }

    pub(super) fn content(&self, path: &str) -> Option<&[u8]> {
        self.objects.get(path).map(|object| &*object.content)
    }

    pub(super) fn parts(&self) -> usize {
        self.uploads.values().map(|upload| upload.parts.len()).sum()
    }

    pub(super) fn handle(&mut self, request: &Request) -> Response {
        let upload = request.query("uploadId").map(str::to_owned);
        match (&*request.method, upload) {
            ("GET" | "HEAD", None) => self.get(request),
            ("PUT", None) => self.put_whole(request),
            ("POST", None) if request.query("uploads").is_some() => self.begin(request),
            ("PUT", Some(upload)) => self.put_part(&upload, request),
            ("POST", Some(upload)) => self.complete(&upload, request),
            ("DELETE", Some(upload)) => {
                self.uploads.remove(&upload);
                Response::of(204)
            }
            _ => Response::error(501, "NotImplemented"),
        }
    }

    fn get(&self, request: &Request) -> Response {
        let Some(object) = self.objects.get(request.path()) else {
            return Response::error(404, "NoSuchKey");
        };
        if request.header("if-match").is_some_and(|tag| tag != object.tag) {
            return Response::error(412, "PreconditionFailed");
        }
        let bytes = object.content.len() as u64;
        let mut response = match request.header("range").map(|range| asked(range, bytes)) {
            Some(None) => return Response::error(416, "InvalidRange"),
            Some(Some(range)) => {
                let says = format!("bytes {}-{}/{bytes}", range.start, range.end - 1);
                let content = &object.content[range.start as usize..range.end as usize];
                Response { body: content.to_vec(), ..Response::of(206) }.with("Content-Range", says)
            }
            None => Response { body: object.content.to_vec(), ..Response::of(200) },
        };
        response.set("ETag", &object.tag);
        response.set("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT");
        object.about.iter().for_each(|(name, value)| response.set(name, value));
        response
    }

    /// Whether a request may make an object of its path.
    fn may_make(&self, request: &Request) -> bool {
        let found = self.objects.get(request.path());
        request.header("if-none-match").is_none_or(|_| found.is_none())
            && request
                .header("if-match")
                .is_none_or(|tag| found.is_some_and(|object| object.tag == tag))
    }

    fn put_whole(&mut self, request: &Request) -> Response {
        if !self.may_make(request) {
            return Response::error(412, "PreconditionFailed");
        }
        self.put(request.path(), request.body.clone(), about(request));
        let tag = self.objects[request.path()].tag.clone();
        Response::of(200).with("ETag", tag)
    }

    fn begin(&mut self, request: &Request) -> Response {
        self.made += 1;
        let upload = self.made.to_string();
        let path = request.path().to_owned();
        let (about, parts) = (about(request), BTreeMap::new());
        self.uploads.insert(upload.clone(), Upload { path, about, parts });
        let body = format!(
            "<InitiateMultipartUploadResult><UploadId>{upload}</UploadId>\
             </InitiateMultipartUploadResult>"
        );
        Response { body: body.into_bytes(), ..Response::of(200) }
    }

    fn put_part(&mut self, upload: &str, request: &Request) -> Response {
        let copied = request.header("x-amz-copy-source").map(|_| self.copied(request));
        let number = request.query("partNumber").and_then(|number| number.parse().ok());
        let (Some(upload), Some(number)) = (self.uploads.get_mut(upload), number) else {
            return Response::error(404, "NoSuchUpload");
        };
        let tag = format!("\"part-{number}\"");
        match copied {
            None => {
                upload.parts.insert(number, request.body.clone());
                Response::of(200).with("ETag", tag)
            }
            Some(Err(answer)) => answer,
            Some(Ok(part)) => {
                upload.parts.insert(number, part);
                let tag = tag.replace('"', "&quot;");
                let body = format!("<CopyPartResult><ETag>{tag}</ETag></CopyPartResult>");
                Response { body: body.into_bytes(), ..Response::of(200) }
            }
        }
    }

    /// The range of another object that is to be a part.
    fn copied(&self, request: &Request) -> Result<Vec<u8>, Response> {
        let source = request.header("x-amz-copy-source").unwrap_or_default();
        let Some(object) = self.objects.get(&format!("/{}", source.trim_start_matches('/'))) else {
            return Err(Response::error(404, "NoSuchKey"));
        };
        let tag = request.header("x-amz-copy-source-if-match");
        if tag.is_some_and(|tag| tag != object.tag) {
            return Err(Response::error(412, "PreconditionFailed"));
        }
        let range = request.header("x-amz-copy-source-range").unwrap_or_default();
        let range = asked(range, object.content.len() as u64);
        let range = range.ok_or_else(|| Response::error(400, "InvalidArgument"))?;
        Ok(object.content[range.start as usize..range.end as usize].to_vec())
    }

    fn complete(&mut self, id: &str, request: &Request) -> Response {
        if !self.uploads.contains_key(id) {
            return Response::error(404, "NoSuchUpload");
        }
        if !self.may_make(request) {
            return Response::error(412, "PreconditionFailed");
        }
        if let Some(Upload { path, about, parts }) = self.uploads.remove(id) {
            self.put(&path, parts.into_values().flatten().collect(), about);
        }
        let tag = self.objects[request.path()].tag.replace('"', "&quot;");
        let body = format!(
            "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
        );
        Response { body: body.into_bytes(), ..Response::of(200) }
    }
}

/// The headers that stay with an object.
fn about(request: &Request) -> Vec<(String, String)> {
    let kept = |(name, _): &&(String, String)| name.to_ascii_lowercase().starts_with("x-amz-meta-");
    request.headers.iter().filter(kept).cloned().collect()
}

/// The bytes that a header `Range` names of an object of this size; `None` if it has no such bytes.
fn asked(range: &str, bytes: u64) -> Option<Range<u64>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let range = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) => first..(last + 1).min(bytes),
        (Ok(first), Err(_)) => first..bytes,
        (Err(_), Ok(suffix)) => bytes.saturating_sub(suffix)..bytes,
        (Err(_), Err(_)) => return None,
    };
    (range.start < range.end).then_some(range)
}
