//! How connections are made, and what is added to requests: an upload in parts is completed only if
//! there is no such object yet, or still the version that it replaces. `object_store` offers that
//! for an object in one part alone.

use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::{ClientOptions, HeaderValue};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

/// What the request that completes an upload must carry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum OnComplete {
    /// Nothing: an object that is there is replaced.
    #[default]
    Replace,
    /// This header, by which the provider refuses to replace another object.
    Require(&'static str, String),
}

/// Makes connections as `object_store` does by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connector {
    on_complete: OnComplete,
    made: Arc<OnceLock<HttpClient>>,
}

impl Connector {
    pub(crate) fn new(on_complete: OnComplete) -> Self {
        Self { on_complete, made: Arc::default() }
    }

    /// The client that was made for the provider, with the user's settings, for requests that
    /// `object_store` does not make.
    pub(crate) fn client(&self) -> Option<HttpClient> {
        self.made.get().cloned()
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        provide_encryption();
        let client = ReqwestConnector::default().connect(options)?;
        let _ = self.made.set(client.clone());
        Ok(HttpClient::new(Service { client, on_complete: self.on_complete.clone() }))
    }
}

/// TLS is rustls with ring, unless the program has chosen already.
fn provide_encryption() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

#[derive(Debug)]
struct Service {
    client: HttpClient,
    on_complete: OnComplete,
}

impl HttpService for Service {
    fn call<'a, 'b>(
        &'a self,
        mut request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        if let OnComplete::Require(header, value) = &self.on_complete
            && let Ok(value) = HeaderValue::from_str(value)
            && completes(&request)
        {
            request.headers_mut().insert(*header, value);
        }
        Box::pin(self.client.execute(request))
    }
}

/// Whether a request makes an object of the parts that were uploaded: in S3's protocol, which
/// Google's storage speaks too.
fn completes(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    request.method().as_str() == "POST"
        && query.split('&').any(|part| part.starts_with("uploadId="))
}
