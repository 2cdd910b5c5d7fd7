//! Loads as futures: under an executor made by hand and under others', and dropped at any time.

use crate::support::{Gate, Sample};
use futures_lite::future::{or, poll_once, zip};
use seekless_io::{ErrorKind, Store};
use seekless_pack::Codec;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// An executor of one task: sleeps until it is woken, and counts that.
struct Woken {
    thread: Thread,
    times: AtomicUsize,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.times.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// The result, and how often the task was polled before it had one.
fn run<F: Future>(future: F) -> (F::Output, usize) {
    let woken = Arc::new(Woken { thread: thread::current(), times: AtomicUsize::new(0) });
    let waker = Waker::from(woken.clone());
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    let mut polls = 0;
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return (result, polls),
            Poll::Pending => polls += 1,
        }
        while woken.times.swap(0, Ordering::SeqCst) == 0 {
            thread::park();
        }
    }
}

fn held() -> (Sample, Arc<Gate>, Store) {
    let sample = Sample::of_sizes([40_000; 20], Codec::Stored);
    let gate = Arc::new(Gate::new());
    let builder = Store::builder().shared_engine(gate.clone()).read_ahead_cache(0);
    let store = builder.open(&sample.path).unwrap();
    (sample, gate, store)
}

#[test]
fn a_future_is_woken_once_its_file_is_there() {
    let (sample, gate, store) = held();
    gate.close();
    let load = store.load_async(sample.name(3));
    let opener = thread::spawn({
        let gate = gate.clone();
        move || {
            gate.wait_for(1);
            gate.open();
        }
    });
    let (result, polls) = run(load);
    opener.join().unwrap();
    assert_eq!(&result.unwrap()[..], sample.bytes(3));
    assert!(polls <= 1, "it is woken for its result alone: {polls}");
    let (result, polls) = run(store.load_async(sample.name(3)));
    assert_eq!((result.unwrap().len(), polls), (40_000, 0), "a hit needs no waiting");
    let error = run(store.load_async("nowhere")).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn loads_run_while_nobody_polls_and_share_one_read() {
    let (sample, gate, store) = held();
    gate.close();
    let (first, second) = (store.load_async(sample.name(1)), store.load_async(sample.name(1)));
    let other = store.load_async(sample.name(9));
    gate.wait_for(2);
    gate.open();
    let ((first, second), other) = pollster::block_on(zip(zip(first, second), other));
    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.ptr_eq(&second));
    assert_eq!(&other.unwrap()[..], sample.bytes(9));
    assert_eq!(gate.submitted().len(), 2);
    let statistics = store.statistics();
    assert_eq!((statistics.misses, statistics.joined), (2, 1));
}

#[test]
fn a_dropped_future_leaves_a_store_that_works() {
    let (sample, gate, store) = held();
    gate.close();
    let mut dropped = store.load_async(sample.name(0));
    assert!(pollster::block_on(poll_once(&mut dropped)).is_none());
    drop(dropped);
    let kept = store.load_async(sample.name(0));
    drop(store.load_async(sample.name(5)));
    gate.open();
    assert_eq!(&futures_lite::future::block_on(kept).unwrap()[..], sample.bytes(0));
    // What was dropped is cached all the same.
    assert_eq!(&store.load(sample.name(5)).unwrap()[..], sample.bytes(5));
    assert_eq!(store.statistics().misses, 2);
    // The slower of two is dropped where it stands.
    let (a, b) = (store.load_async(sample.name(7)), store.load_async(sample.name(8)));
    let first = pollster::block_on(or(a, b)).unwrap();
    assert_eq!(first.len(), 40_000);
    for number in 0..20 {
        assert_eq!(&store.load(sample.name(number)).unwrap()[..], sample.bytes(number));
    }
}

#[test]
fn a_future_outlives_its_store() {
    let (sample, gate, store) = held();
    gate.close();
    let load = store.load_async(sample.name(2));
    drop(store);
    gate.open();
    assert_eq!(&pollster::block_on(load).unwrap()[..], sample.bytes(2));
}

/// Runs in the thread that wakes it, which is one of the store's.
struct AtOnce(std::sync::Mutex<Option<seekless_io::LoadAsync>>, std::sync::mpsc::Sender<usize>);

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let taken = self.0.lock().unwrap().take();
        if let Some(mut load) = taken {
            match std::pin::Pin::new(&mut load).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(result) => self.1.send(result.unwrap().len()).unwrap(),
                Poll::Pending => *self.0.lock().unwrap() = Some(load),
            }
        }
    }
}

#[test]
fn a_task_may_run_where_it_is_woken_and_drop_the_last_store_there() {
    let (sample, gate, store) = held();
    gate.close();
    let load = store.load_async(sample.name(4));
    drop(store);
    let (sender, receiver) = std::sync::mpsc::channel();
    let task = Arc::new(AtOnce(std::sync::Mutex::new(Some(load)), sender));
    task.clone().wake();
    gate.open();
    let limit = std::time::Duration::from_secs(60);
    assert_eq!(receiver.recv_timeout(limit), Ok(40_000));
}
