//! Which service holds an object, and how it is reached. Settings and credentials come from where
//! the provider's own tools take them.

use crate::Access;
use crate::connector::Connector;
use crate::fault::Fault;
use crate::object::{Located, Service};
#[cfg(feature = "aws")]
use object_store::aws::AmazonS3ConfigKey;
#[cfg(feature = "azure")]
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder as Azure};
#[cfg(feature = "gcp")]
use object_store::gcp::{GoogleCloudStorageBuilder as Google, GoogleConfigKey};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use seekless_engine::{ObjectName, Scheme};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// The services that were reached so far, by scheme and bucket.
#[derive(Debug)]
pub(crate) struct Providers {
    access: Access,
    known: HashMap<(Scheme, String), Service>,
}

impl Providers {
    pub(crate) fn new(access: Access) -> Self {
        Self { access, known: HashMap::new() }
    }

    /// Where an object lies.
    ///
    /// # Errors
    /// The settings or credentials for it make no sense, or this build lacks its provider.
    pub(crate) fn locate(&mut self, name: &ObjectName) -> io::Result<Located> {
        let key = (name.scheme(), name.container().to_owned());
        let service = match self.known.get(&key) {
            Some(service) => service.clone(),
            // Retries are ours: they are counted, and go on from the byte that came last.
            None => {
                let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
                build(name, &self.access, retry, Connector::default())?
            }
        };
        self.known.insert(key, service.clone());
        Ok(Located::at(service, path(name)?))
    }
}

/// The object's path, as its store names it.
pub(crate) fn path(name: &ObjectName) -> io::Result<Path> {
    let path = match name.scheme().is_web() {
        true => Path::from_url_path(name.key()),
        false => Path::parse(name.key()),
    };
    path.map_err(|_| Fault::misnamed().into())
}

/// Reaches the service that holds `name`.
pub(crate) fn build(
    name: &ObjectName,
    access: &Access,
    retry: RetryConfig,
    connector: Connector,
) -> io::Result<Service> {
    let service = match name.scheme() {
        #[cfg(feature = "aws")]
        Scheme::S3 => {
            let builder = s3(name, access)?;
            let at = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
            builder
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| shared(store, name, [at, None]))
        }
        #[cfg(feature = "gcp")]
        Scheme::Gs => {
            let builder = with(Google::from_env(), access, |builder, key, value| {
                builder.with_config(key, value)
            });
            let at = builder.get_config_value(&GoogleConfigKey::BaseUrl);
            builder
                .with_bucket_name(name.container())
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| shared(store, name, [at, None]))
        }
        #[cfg(feature = "azure")]
        Scheme::Az => {
            let builder = with(Azure::from_env(), access, |builder, key, value| {
                builder.with_config(key, value)
            });
            let at = [AzureConfigKey::Endpoint, AzureConfigKey::AccountName]
                .map(|key| builder.get_config_value(&key));
            builder
                .with_container_name(name.container())
                .with_retry(retry)
                .with_http_connector(connector)
                .build()
                .map(|store| shared(store, name, at))
        }
        #[cfg(feature = "http")]
        Scheme::Https | Scheme::Http => object_store::http::HttpBuilder::new()
            .with_url(format!("{}{}", name.scheme().prefix(), name.container()))
            .with_client_options(ClientOptions::new().with_allow_http(true))
            .with_retry(retry)
            .with_http_connector(connector)
            .build()
            .map(|store| shared(store, name, [None, None])),
        _ => return Err(unsupported(name)),
    };
    service.map_err(|_| incomplete(name.scheme()))
}

/// The error of settings. That of the provider may hold what was found in the environment, so only
/// the kind is said.
pub(crate) fn incomplete(scheme: Scheme) -> io::Error {
    let message = format!(
        "the settings for {}… are incomplete or make no sense: check the environment ({})",
        scheme.prefix(),
        variables(scheme)
    );
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// S3 with the bucket of `name`, for this user.
#[cfg(feature = "aws")]
pub(crate) fn s3(
    name: &ObjectName,
    access: &Access,
) -> io::Result<object_store::aws::AmazonS3Builder> {
    let builder = with(crate::credentials::s3()?, access, |builder, key, value| {
        builder.with_config(key, value)
    });
    Ok(builder.with_bucket_name(name.container()))
}

/// Adds what the program itself gives.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn with<B, K: std::str::FromStr>(builder: B, access: &Access, set: fn(B, K, String) -> B) -> B {
    access.known().fold(builder, |builder, (key, value)| set(builder, key, value.clone()))
}

/// `at` is where the service lies and whose account it is, as far as that was said.
fn shared<S: ObjectStore>(store: S, name: &ObjectName, at: [Option<String>; 2]) -> Service {
    let at = at.map(Option::unwrap_or_default).join(" ");
    let name = format!("{}{} {at}", name.scheme().prefix(), name.container());
    Service { store: Arc::new(store), name: name.into() }
}

/// Where the credentials of a provider are looked for first.
fn variables(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL",
        Scheme::Gs => "GOOGLE_SERVICE_ACCOUNT, GOOGLE_APPLICATION_CREDENTIALS",
        Scheme::Az => "AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY",
        _ => "the name of the server",
    }
}

fn unsupported(name: &ObjectName) -> io::Error {
    let message = format!("this build has no provider for {}…", name.scheme().prefix());
    io::Error::new(io::ErrorKind::Unsupported, message)
}
