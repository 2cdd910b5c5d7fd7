//! The probe behind an engine that a device model slows, on the model's clock: the same inside as
//! of the bare model. A test program of its own, since the clock stands still while another test
//! works.

use seekless_device::{Disk, DiskZone, Flash, Nanos};
use seekless_engine::{AlignedBuf, Clock, Completion, Engine, Noop, Read, Throttled};
use seekless_measure::Error;
use seekless_measure::inside::{Request, Span, Timed, disk_inside, flash_inside, planted};
use std::fs::File;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// An engine with a file, and the clock that it keeps.
struct Behind {
    engine: Throttled<Noop>,
    file: Arc<File>,
    clock: Clock,
    bytes: u64,
}

impl Timed for Behind {
    fn run(&mut self, requests: &[Request]) -> Result<Vec<Span>, Error> {
        let (done, ended) = channel::<Completion>();
        let begin = self.engine.now();
        let reads = requests.iter().zip(0..).map(|(request, tag)| Read {
            file: Arc::clone(&self.file),
            offset: request.offset,
            buffer: AlignedBuf::with_capacity(request.bytes as usize),
            tag,
            done: done.clone().into(),
        });
        self.engine.submit(reads.collect());
        let mut spans = vec![Span { begin, end: begin }; requests.len()];
        for _ in requests {
            let completion = ended.recv().expect("each read completes");
            spans[completion.tag as usize].end = self.engine.now();
        }
        Ok(spans)
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn pause(&mut self, nanos: Nanos) {
        self.clock.pass(nanos);
    }

    fn capacity_bytes(&self) -> u64 {
        self.bytes
    }

    fn grain_bytes(&self) -> u64 {
        4096
    }
}

fn behind(model: Box<dyn seekless_device::DeviceModel + Send>, bytes: u64) -> Behind {
    let file = tempfile::tempfile().expect("a file");
    file.set_len(bytes).expect("sparse");
    let clock = Clock::of_the_model();
    let engine = Throttled::new(Arc::new(Noop::zeroed()), model, clock.clone()).expect("a timer");
    Behind { engine, file: Arc::new(file), clock, bytes }
}

#[test]
fn a_slowed_engine_shows_the_inside_of_its_model() {
    let mut disk = planted::disk(5);
    (disk.capacity_bytes, disk.zones) =
        (8 << 30, vec![DiskZone { from_byte: 0, track_bytes: 200 * 4096 }]);
    let model = Disk::new(disk.clone()).expect("a disk");
    let mut device = behind(Box::new(model), disk.capacity_bytes);
    let (found, _) = disk_inside(&mut device, Nanos::MAX / 4, 1, &mut |_, _| {}).expect("it reads");
    assert_eq!(found.rpm.value, Some(disk.rpm), "{found:#?}");
    assert_eq!(found.track_bytes.value, Some(200 * 4096), "{found:#?}");
    assert_eq!(found.segments.value, Some(disk.cache.segments), "{found:#?}");

    let mut flash = planted::flash(3);
    (flash.channels, flash.dies, flash.planes) = (4, 4, 1);
    let model = Flash::new(flash.clone()).expect("a drive");
    let mut device = behind(Box::new(model), flash.capacity_bytes);
    let (found, _) =
        flash_inside(&mut device, false, Nanos::MAX / 4, 1, &mut |_, _| {}).expect("it reads");
    assert_eq!(found.degree.value, Some(16), "{found:#?}");
    assert_eq!(found.chunk_bytes.value, Some(flash.chunk_bytes), "{found:#?}");
}
