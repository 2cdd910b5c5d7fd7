//! The thread on which all requests of an engine run, with tokio's runtime. None of it shows
//! outside: callers need no runtime of their own, and may have one.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Threads that read the disk cache or look up a server's name.
const BLOCKING_THREADS: usize = 16;

/// A look-up of a server's name that hangs is not waited for any longer.
const PATIENCE: Duration = Duration::from_millis(200);

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A thread that runs tasks. Dropping it drops those that have not ended.
#[derive(Debug)]
pub(crate) struct Runtime {
    tasks: Option<UnboundedSender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Runtime {
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(BLOCKING_THREADS)
            .enable_all()
            .build()?;
        let (tasks, mut come) = unbounded_channel::<Task>();
        let thread =
            thread::Builder::new().name("seekless-remote".to_owned()).spawn(move || {
                runtime.block_on(async {
                    while let Some(task) = come.recv().await {
                        tokio::spawn(task);
                    }
                });
                // Tasks that wait in line are dropped with the channel, others with the runtime.
                drop(come);
                // Idle threads end at once: a process that forks after this has one thread again.
                runtime.shutdown_timeout(PATIENCE);
            })?;
        Ok(Self { tasks: Some(tasks), thread: Some(thread) })
    }

    /// Begins a task. It is dropped if the thread has ended.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = &self.tasks {
            let _ = tasks.send(Box::pin(task));
        }
    }

    /// Runs a task to its end, and waits for it.
    ///
    /// # Errors
    /// The thread ended before the task.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        task: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> io::Result<T> {
        let (done, ended) = mpsc::sync_channel(1);
        self.spawn(async move {
            let _ = done.send(task.await);
        });
        ended.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of requests has ended")))
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.tasks = None;
        // A task may drop the last owner of an engine: its thread then ends by itself.
        let is_another = |thread: &JoinHandle<()>| thread.thread().id() != thread::current().id();
        if let Some(thread) = self.thread.take().filter(is_another) {
            let _ = thread.join();
        }
    }
}
