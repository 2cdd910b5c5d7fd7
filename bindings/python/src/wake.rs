//! Loads for event loops. The store's threads say by a descriptor (an eventfd) that loads have
//! arrived, so that they never wait for the interpreter's lock.

use crate::buffer;
use crate::failure::{Class, Failure};
use crate::fork::OfProcess;
use crate::job::lock;
use crate::store::Store;
use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};
use seekless::io::LoadAsync;
use std::collections::HashMap;
use std::future::Future;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// The loads of one event loop that are under way.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct Arrivals {
    arrived: Arc<Arrived>,
    under_way: OfProcess<Mutex<UnderWay>>,
}

#[derive(Default)]
struct UnderWay {
    next: u64,
    loads: HashMap<u64, LoadAsync>,
}

/// Messages of the store's threads.
struct Arrived {
    tickets: Mutex<Vec<u64>>,
    event: OwnedFd,
}

struct Ticket {
    number: u64,
    arrived: Arc<Arrived>,
}

impl Wake for Ticket {
    fn wake(self: Arc<Self>) {
        lock(&self.arrived.tickets).push(self.number);
        // Any number wakes. It fails only if it counts so many already that one more changes
        // nothing.
        let _ = rustix::io::write(&self.arrived.event, &1_u64.to_le_bytes());
    }
}

/// A load that has ended: its ticket, its content, its error.
type Ended<'py> = (u64, Option<Bound<'py, PyAny>>, Option<PyErr>);

#[pymethods]
impl Arrivals {
    #[new]
    fn new() -> PyResult<Self> {
        let none = |error| Failure::new(Class::System, format!("no eventfd for the loop: {error}"));
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(none)?;
        let arrived = Arc::new(Arrived { tickets: Mutex::default(), event });
        Ok(Self { arrived, under_way: OfProcess::new(Mutex::default()) })
    }

    /// The descriptor that is readable when loads have arrived.
    fn fileno(&self) -> RawFd {
        self.arrived.event.as_raw_fd()
    }

    /// Begins to load a file. Returns its content if it is there, and else a ticket for it.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        store: &Store,
        name: &str,
    ) -> PyResult<(Option<Bound<'py, PyAny>>, u64)> {
        let under_way = self.under_way()?;
        let store = store.current()?;
        let (content, ticket) = py.detach(|| {
            let mut load = store.load_async(name);
            let under_way = &mut *lock(under_way);
            under_way.next += 1;
            let ticket = under_way.next;
            match Pin::new(&mut load).poll(&mut Context::from_waker(&self.waker(ticket))) {
                Poll::Ready(content) => (Some(content), ticket),
                Poll::Pending => {
                    under_way.loads.insert(ticket, load);
                    (None, ticket)
                }
            }
        });
        let content = content.transpose().map_err(Failure::from)?;
        Ok((content.map(|content| buffer::view(py, content)).transpose()?, ticket))
    }

    /// The loads that have ended since the last call.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Vec<Ended<'py>>> {
        let under_way = self.under_way()?;
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.arrived.event, &mut count); // empties it
        let tickets = std::mem::take(&mut *lock(&self.arrived.tickets));
        let mut ended = Vec::new();
        for ticket in tickets {
            let Some(content) = self.poll(under_way, ticket) else { continue };
            let content = content.map_err(|error| PyErr::from(Failure::from(error)));
            ended.push(match content.and_then(|content| buffer::view(py, content)) {
                Ok(content) => (ticket, Some(content), None),
                Err(error) => (ticket, None, Some(error)),
            });
        }
        Ok(ended)
    }

    /// Releases a load whose caller waits no longer.
    fn forget(&self, ticket: u64) -> PyResult<()> {
        lock(self.under_way()?).loads.remove(&ticket);
        Ok(())
    }
}

impl Arrivals {
    fn under_way(&self) -> PyResult<&Mutex<UnderWay>> {
        let message = "an event loop does not live on after a fork: begin another in the child";
        Ok(self.under_way.get().ok_or_else(|| Failure::usage(message))?)
    }

    fn waker(&self, number: u64) -> Waker {
        Arc::new(Ticket { number, arrived: self.arrived.clone() }).into()
    }

    fn poll(
        &self,
        under_way: &Mutex<UnderWay>,
        ticket: u64,
    ) -> Option<Result<seekless::io::Buffer, seekless::io::Error>> {
        let loads = &mut lock(under_way).loads;
        let load = loads.get_mut(&ticket)?;
        let waker = self.waker(ticket);
        match Pin::new(load).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(content) => {
                loads.remove(&ticket);
                Some(content)
            }
            Poll::Pending => None,
        }
    }
}
