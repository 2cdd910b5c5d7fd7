//! The server on loopback, and our proxy before it.

use super::Args;
use anyhow::{Context, bail, ensure};
use seekless::device::{DeviceSpec, ObjectStoreParameters, Parameters, Quantile};
use seekless::remote::{Access, Settings};
use seekless_testing::{Conduct, ObjectServer, Served};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Where `./run` put what it built.
const BUILT: &str = "SEEKLESS_RIVALS";
pub(super) const KEY: &str = "access";
pub(super) const SECRET: &str = "secret-of-the-bench";
/// Of the folder of objects.
pub(super) const BUCKET: &str = "bucket";
const PATIENCE: Duration = Duration::from_secs(30);

/// A program that `./run` built, else the system's of this name.
pub(super) fn built(program: &str) -> PathBuf {
    let built = std::env::var_os(BUILT).map(|folder| Path::new(&folder).join(program));
    built.filter(|path| path.exists()).unwrap_or_else(|| program.into())
}

/// An object store of the objects in a folder. Ends with this.
pub(super) struct Storage {
    server: Child,
    /// Of the server itself.
    address: SocketAddr,
    proxy: ObjectServer,
}

impl Storage {
    /// Serves the buckets below `root`.
    pub(super) fn start(root: &Path) -> anyhow::Result<Self> {
        let address = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let mut command = Command::new(built("versitygw"));
        command.args(["--access", KEY, "--secret", SECRET, "--quiet", "--port"]);
        command.arg(address.to_string()).args(["posix", "--default-etag", "made"]).arg(root);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let how = "there is no versitygw: install Go, then ./run builds it";
        let server = command.spawn().context(how)?;
        let proxy = ObjectServer::before(address, Conduct::plain())?;
        let mut storage = Self { server, address, proxy };
        let began = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = storage.server.try_wait()? {
                bail!("versitygw ended: {status}");
            }
            ensure!(began.elapsed() < PATIENCE, "versitygw does not answer");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(storage)
    }

    /// From now on answers come after this delay, at the bandwidth of `args`.
    pub(super) fn slow(&self, args: &Args, delay_ms: u64) {
        let delay = Duration::from_millis(delay_ms);
        let conduct = Conduct::plain().delayed(delay, delay.mul_f64(args.spread));
        self.proxy.conduct(conduct.limited(args.stream));
    }

    /// From now on answers come as fast as this machine can make them.
    pub(super) fn hurry(&self) {
        self.proxy.conduct(Conduct::plain());
    }

    /// The address of the proxy, as clients are told it.
    pub(super) fn endpoint(&self) -> String {
        format!("http://{}", self.proxy.address())
    }

    /// Lets a client of ours in, through the proxy.
    pub(super) fn access(&self) -> Access {
        access(self.proxy.address())
    }

    /// The same past the proxy.
    pub(super) fn access_directly(&self) -> Access {
        access(self.address)
    }

    /// What was asked of it so far.
    pub(super) fn served(&self) -> Served {
        self.proxy.served()
    }
}

fn access(address: SocketAddr) -> Access {
    Access::default()
        .with("aws_endpoint", format!("http://{address}"))
        .with("aws_allow_http", "true")
        .with("aws_access_key_id", KEY)
        .with("aws_secret_access_key", SECRET)
        .with("aws_region", "us-east-1")
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The proxy as a device.
pub(super) fn device(args: &Args, delay_ms: u64) -> anyhow::Result<DeviceSpec> {
    let mean_ns = delay_ms * 1_000_000;
    let spread_ns = (mean_ns as f64 * args.spread) as u64;
    let point = |permille, latency_ns| Quantile { permille, latency_ns };
    let parameters = ObjectStoreParameters {
        bytes_per_second: args.stream,
        streams: Settings::default().streams,
        seed: 1,
        first_byte: vec![
            point(0, mean_ns.saturating_sub(spread_ns)),
            point(1000, mean_ns + spread_ns),
        ],
    };
    Ok(DeviceSpec::new("proxy", Parameters::ObjectStore(parameters))?)
}
