//! Formats of other tools: small files, made by hand from the layouts that the tools document.

use seekless_trace::import::{self, Format, Options};
use seekless_trace::*;
use std::path::{Path, PathBuf};

pub(crate) fn file(folder: &tempfile::TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The rows of a file that shows its own format.
pub(crate) fn rows(name: &str, bytes: impl AsRef<[u8]>) -> (Vec<(Access, String)>, Metadata) {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, name, bytes);
    let trace = open_any(&path).unwrap();
    let metadata = trace.metadata().clone();
    (crate::support::rows(&path), metadata)
}

/// Time, operation, name, offset and bytes of each row.
pub(crate) fn brief(rows: &[(Access, String)]) -> Vec<(u64, Op, &str, i64, u64)> {
    rows.iter()
        .map(|(row, name)| (row.time_ns, row.op, name.as_str(), row.offset, row.bytes))
        .collect()
}

pub(crate) fn message(bytes: impl AsRef<[u8]>, format: Format) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "input", bytes);
    let options = Options { format: Some(format), ..Options::default() };
    let error = open_with(&path, &options).unwrap_err().to_string();
    error.replace(&path.display().to_string(), "input")
}

#[test]
fn msr_cambridge() {
    let text = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                128166372016382155,usr,1,Write,1317441536,8192,1963\n";
    let (rows, metadata) = rows("usr_0.csv", text);
    assert_eq!(
        brief(&rows),
        [
            (0, Op::Read, "usr.0", 7_014_609_920, 24_576),
            (1_332_052_600, Op::Write, "usr.1", 1_317_441_536, 8192),
        ]
    );
    assert_eq!(rows[0].0.latency_ns, Some(4_128_600));
    // 22 February 2007, 17:00:00.
    assert_eq!(metadata.kind, Kind::Blocks);
    assert_eq!(metadata.runs[0].started_unix_ns, Some(1_172_163_600_306_162_900));
    assert_eq!(
        message("128166372003061629,usr,0,Reed,x,1,2\n", Format::Msr),
        "input, line 1: has `x` as field 5, expected an offset in bytes, a whole number from 0"
    );
    assert!(message("1,usr,0,Read,0,1,2\n", Format::Msr).contains("after 1970"));
}

#[test]
fn alibaba_and_tencent() {
    let text =
        "419,W,8792731648,16384,1577808144360767\n725,R,59110326272,360448,1577808144360813\n";
    let (found, metadata) = rows("io_traces.csv", text);
    assert_eq!(
        brief(&found),
        [
            (0, Op::Write, "419", 8_792_731_648, 16_384),
            (46_000, Op::Read, "725", 59_110_326_272, 360_448),
        ]
    );
    assert_eq!(metadata.runs[0].started_unix_ns, Some(1_577_808_144_360_767_000));
    let text = "1538323200,12910952,128,0,1063\n1538323201,6265688,8,1,1071\n";
    let (found, metadata) = rows("2018100100", text);
    assert_eq!(
        brief(&found),
        [
            (0, Op::Read, "1063", 12_910_952 * 512, 65_536),
            (1_000_000_000, Op::Write, "1071", 6_265_688 * 512, 4096),
        ]
    );
    assert_eq!(metadata.runs[0].started_unix_ns, Some(1_538_323_200_000_000_000));
    assert!(
        message("1,2,3,4,5\n", Format::Tencent).contains("`4` as field 4, expected 0 for a read")
    );
    assert!(message("1,R,3\n", Format::Alibaba).contains("has 3 fields, expected a time in micro"));
}

#[test]
fn spc_and_systor() {
    let text = "0,20941264,8192,W,0.551706\n1,20939840,8192,r,1.554041,extra\n";
    let (found, _) = rows("Financial1.spc", text);
    assert_eq!(
        brief(&found),
        [
            (0, Op::Write, "asu 0", 20_941_264 * 512, 8192),
            (1_002_335_000, Op::Read, "asu 1", 20_939_840 * 512, 8192),
        ]
    );
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n\
                1455592531.078551000,0.000806000,W,4,8053063680,4096\n\
                1455592531.079000000,,,4,0,0\n\
                1455592531.178551000,0.001,R,4,4096,512\n";
    let (found, metadata) = rows("2016021612-LUN4.csv", text);
    assert_eq!(
        brief(&found),
        [(0, Op::Write, "lun 4", 8_053_063_680, 4096), (100_000_000, Op::Read, "lun 4", 4096, 512)]
    );
    assert_eq!(found[0].0.latency_ns, Some(806_000));
    assert_eq!(metadata.runs[0].started_unix_ns, Some(1_455_592_531_078_551_000));
}

#[test]
fn fiu_blocks_and_files() {
    let text = "89966179318 4234 pdflush 508388584 8 W 6 0 ce96b3c2\n\
                89966180000 17 cat 8 16 R 6 0 0b6d\n";
    let (found, metadata) = rows("homes.blkparse", text);
    assert_eq!(
        brief(&found),
        [(0, Op::Write, "6,0", 508_388_584 * 512, 4096), (682, Op::Read, "6,0", 4096, 8192)]
    );
    assert_eq!((found[0].0.pid, metadata.kind), (4234, Kind::Blocks));
    let text = "1 1000 OPEN 42 9000\n2 2000 READ 42 9000 4096 100 HIT\n3 2500 WRITE 42 9000 9000 10 APPEND\n\
                4 2600 FSYNC 42 9010\n5 3000 CLOSE 42 9010\n";
    let (found, metadata) = rows("trace.0", text);
    assert_eq!(
        brief(&found),
        [
            (0, Op::Open, "inode 42", 0, 0),
            (1000, Op::Read, "inode 42", 4096, 100),
            (1500, Op::Write, "inode 42", 9000, 10),
            (1600, Op::Sync, "inode 42", 0, 0),
            (2000, Op::Close, "inode 42", 0, 0),
        ]
    );
    assert_eq!((found[1].0.file_bytes, metadata.kind), (Some(9000), Kind::Files));
}

#[test]
fn blkparse_takes_what_was_queued_or_what_was_issued() {
    let text = "  8,0    1        1     0.000000000   697  A   W 223490 + 8 <- (8,1) 223427\n\
  8,0    1        2     0.000001829   697  Q   W 223490 + 8 [kjournald]\n\
  8,0    1        3     0.000100000   697  Q  RA 16 + 256 [cat]\n\
  8,0    1        4     0.000200000     0  Q FWS [kjournald]\n\
  8,0    1        5     0.000300000     0  Q   D 0 + 8 [fstrim]\n\
  8,0    1        6     0.000400000   697  D   W 223490 + 8 [kjournald]\n\
  8,0    1        7     0.000500000     0  C   W 223490 + 8 [0]\n\
  8,0    1        8     0.000600000     0  m   N cfq schedule dispatch\n\
CPU1 (8,0):\n Reads Queued:           1,      128KiB\n";
    let (found, metadata) = rows("sda.txt", text);
    assert_eq!(
        brief(&found),
        [(0, Op::Write, "8,0", 223_490 * 512, 4096), (98_171, Op::Read, "8,0", 16 * 512, 131_072)]
    );
    assert_eq!((found[0].0.pid, metadata.kind), (697, Kind::Blocks));
    let issued: String =
        text.lines().filter(|line| !line.contains(" Q ")).map(|line| format!("{line}\n")).collect();
    let (found, _) = rows("sda.txt", issued);
    assert_eq!(brief(&found), [(0, Op::Write, "8,0", 223_490 * 512, 4096)]);
}

/// A record of blktrace in either byte order.
fn blk(big: bool, time_ns: u64, sector: u64, bytes: u32, action: u32, data: &[u8]) -> Vec<u8> {
    let u16 = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let u32 = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let u64 = |value: u64| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut record = u32(0x6561_7407).to_vec();
    record.extend(u32(1));
    record.extend(u64(time_ns));
    record.extend(u64(sector));
    [bytes, action, 42, (8 << 20) | 16, 0].iter().for_each(|field| record.extend(u32(*field)));
    record.extend(u16(0));
    record.extend(u16(data.len() as u16));
    record.extend(data);
    record
}

const QUEUED_READ: u32 = 1 | 1 << 16;
const QUEUED_WRITE: u32 = 1 | 1 << 17;
const ISSUED_READ: u32 = 7 | 1 << 16;

#[test]
fn blktrace_in_both_byte_orders() {
    for big in [false, true] {
        let bytes = [
            blk(big, 900, 0, 0, 1 << 26, b"notice"),
            blk(big, 1000, 8, 4096, QUEUED_READ, b""),
            blk(big, 1500, 8, 4096, ISSUED_READ, b""),
            blk(big, 2000, 1 << 33, 512, QUEUED_WRITE | 1 << 8, b"a cgroup"),
            blk(big, 2500, 0, 512, QUEUED_WRITE | 1 << 29, b""),
        ]
        .concat();
        let (found, metadata) = rows("sda.blktrace.0", &bytes);
        assert_eq!(
            brief(&found),
            [(100, Op::Read, "8,16", 4096, 4096), (1100, Op::Write, "8,16", 512 << 33, 512)]
        );
        assert_eq!((found[0].0.pid, metadata.kind), (42, Kind::Blocks));
        let mut damaged = bytes.clone();
        damaged[48 + 6] = 0xaa;
        let said = message(&damaged, Format::Blktrace);
        assert!(said.starts_with("input, byte 102: ") && said.contains("no record"), "{said}");
        assert_eq!(
            message(&bytes[..70], Format::Blktrace),
            "input, byte 54: ends within a record of 48 bytes; it is cut short"
        );
    }
}

#[test]
fn files_of_all_processors_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let one = blk(false, 1000, 8, 4096, QUEUED_READ, b"");
    let two = blk(false, 500, 16, 4096, QUEUED_READ, b"");
    let files = [
        file(&folder, "sda.blktrace.0", &one),
        file(&folder, "sda.blktrace.1", &two),
        file(&folder, "sdb.blktrace.0", &two),
    ];
    let out = folder.path().join("out");
    let report = import::any(&files, &out, &Options::default(), &mut |_, _| {}).unwrap();
    assert_eq!((report.rows, report.runs), (3, 2));
    let found = crate::support::rows(&out);
    let found: Vec<_> = found.iter().map(|(row, _)| (row.run, row.time_ns, row.offset)).collect();
    assert_eq!(found, [(0, 0, 16 * 512), (0, 500, 8 * 512), (1, 0, 16 * 512)]);
}

/// A record of vscsi.
fn vscsi(
    version: u16,
    number: u32,
    command: u16,
    bytes: u32,
    sector: u64,
    time_us: u64,
) -> Vec<u8> {
    let mut record = Vec::new();
    let fields = |record: &mut Vec<u8>| {
        [number, bytes, 1].iter().for_each(|field| record.extend(field.to_le_bytes()));
    };
    let kind = |record: &mut Vec<u8>| {
        [command, version << 8].iter().for_each(|field| record.extend(field.to_le_bytes()));
    };
    if version == 1 {
        fields(&mut record);
        kind(&mut record);
    } else {
        kind(&mut record);
        fields(&mut record);
    }
    record.extend(sector.to_le_bytes());
    record.extend(time_us.to_le_bytes());
    if version == 2 {
        record.extend(77_u64.to_le_bytes());
    }
    record
}

#[test]
fn vscsi_of_both_versions() {
    for version in [1, 2] {
        let bytes = [
            vscsi(version, 1, 0x28, 4096, 8, 5_000),
            vscsi(version, 2, 0x12, 36, 0, 5_500),
            vscsi(version, 3, 0x8a, 512, 1 << 33, 6_000),
            vscsi(version, 4, 0x0a, 512, 2, 7_000),
        ]
        .concat();
        let (found, metadata) = rows("trace.vscsi", &bytes);
        assert_eq!(
            brief(&found),
            [
                (0, Op::Read, "disk", 4096, 4096),
                (1_000_000, Op::Write, "disk", 512 << 33, 512),
                (2_000_000, Op::Write, "disk", 1024, 512),
            ]
        );
        assert_eq!(metadata.kind, Kind::Blocks);
        assert_eq!(found[0].0.latency_ns, (version == 2).then_some(77_000));
        let record = bytes.len() / 4;
        let said = message(&bytes[..record * 3 + 5], Format::Vscsi);
        assert!(said.starts_with(&format!("input, byte {}: ends within", record * 3)), "{said}");
    }
}

#[test]
fn darshan() {
    let text = "# darshan log version: 3.41\n# exe: /bin/app --fast\n# start_time: 1700000000\n\
\n# DXT, file_id: 16457598720760448348, file_name: /scratch/a b\n# DXT, rank: 1, hostname: node7\n\
# DXT, write_count: 1, read_count: 1\n# DXT, mnt_pt: /scratch, fs_type: ext4\n\
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)\n\
 X_POSIX       1  write        0               0       262144      0.0029      0.0032\n\
 X_POSIX       1   read        0          262144         4096      0.0010      0.0011  [OST] [ 4]\n\
\n# DXT, file_id: 7, file_name: /scratch/mpi\n\
 X_MPIIO       1  write        0               0       262144      0.0029      0.0032\n";
    let (found, metadata) = rows("job.txt", text);
    assert_eq!(
        brief(&found),
        [
            (1_000_000, Op::Read, "/scratch/a b", 262_144, 4096),
            (2_900_000, Op::Write, "/scratch/a b", 0, 262_144),
        ]
    );
    assert_eq!((found[0].0.pid, found[0].0.latency_ns), (1, Some(100_000)));
    let run = &metadata.runs[0];
    assert_eq!(run.started_unix_ns, Some(1_700_000_000_000_000_000));
    assert_eq!(run.command, ["/bin/app", "--fast"]);
    let mpi = text.replace("X_POSIX", "X_OTHER");
    assert_eq!(brief(&rows("job.txt", mpi).0)[0].2, "/scratch/mpi");
    let wrong = text.replace("262144      0.0029", "x      0.0029");
    assert!(
        message(&wrong, Format::Dxt).contains("line 10: has `x` as field 6, expected a length")
    );
}

const FIO_3: &str = "fio version 3 iolog\n29 /data/f add\n31 /data/g add\n147 /data/f open\n\
150 /data/f read 0 4096\n343 /data/g write 20480 512\n400 /data/g sync 0 0\n588 /data/f close\n";

#[test]
fn fio_of_both_versions() {
    let (found, metadata) = rows("log", FIO_3);
    assert_eq!(
        brief(&found),
        [
            (0, Op::Open, "/data/f", 0, 0),
            (3_000, Op::Read, "/data/f", 0, 4096),
            (196_000, Op::Write, "/data/g", 20_480, 512),
            (253_000, Op::Sync, "/data/g", 0, 0),
            (441_000, Op::Close, "/data/f", 0, 0),
        ]
    );
    assert_eq!(metadata.kind, Kind::Files);
    let text = "fio version 2 iolog\n/f add\n/f open\n/f read 0 10\n/f wait 5 0\n/f read 10 10\n\
                /f wait 7 0\n/f write 0 1\n";
    let (found, _) = rows("log", text);
    let times: Vec<u64> = found.iter().map(|(row, _)| row.time_ns / 1000).collect();
    assert_eq!((found.len(), times), (4, vec![0, 0, 5, 12]));
    assert!(
        message("fio version 2 iolog\n/f red 0 1\n", Format::Fio).contains("line 2: has `red`")
    );
    assert!(message("/f read 0 1\n", Format::Fio).contains("does not begin with `fio version 2"));
}

/// Exports a trace, and gives the rows of the result.
fn through(path: &Path, format: export::Format) -> (Vec<u8>, Vec<(Access, String)>) {
    let mut out = Vec::new();
    format.write(&open_any(path).unwrap(), &mut out, &mut |_, _| {}).unwrap();
    let (rows, _) = rows("back", &out);
    (out, rows)
}

#[test]
fn a_log_of_fio_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "log", FIO_3);
    let moves = |rows: &[(Access, String)]| -> Vec<(Op, String, i64, u64)> {
        let moves =
            rows.iter().filter(|(row, _)| matches!(row.op, Op::Read | Op::Write | Op::Sync));
        moves.map(|(row, name)| (row.op, name.clone(), row.offset, row.bytes)).collect()
    };
    let before = crate::support::rows(&path);
    for version in [export::FioVersion::Two, export::FioVersion::Three] {
        let (text, after) = through(&path, export::Format::Fio(version));
        assert_eq!(moves(&after), moves(&before), "{}", text.escape_ascii());
        let times = |rows: &[(Access, String)]| -> Vec<u64> {
            let moved = rows.iter().filter(|(row, _)| matches!(row.op, Op::Read | Op::Write));
            moved.map(|(row, _)| row.time_ns / 1000).collect()
        };
        assert_eq!(times(&after), times(&before), "{}", text.escape_ascii());
    }
    let (text, _) = through(&path, export::Format::Fio(export::FioVersion::Three));
    assert_eq!(
        String::from_utf8(text).unwrap(),
        "fio version 3 iolog\n0 /data/f add\n0 /data/g add\n0 /data/f open\n0 /data/g open\n\
         3 /data/f read 0 4096\n196 /data/g write 20480 512\n253 /data/g sync 0 0\n\
         253 /data/f close\n253 /data/g close\n"
    );
}

#[test]
fn lcs_comes_back_in_all_versions() {
    use export::LcsVersion::{One, Three, Two};
    let folder = tempfile::tempdir().unwrap();
    let text = "0,16,8192,W,0\n0,32,512,r,1.5\n0,16,8192,r,2\n";
    let path = file(&folder, "run.spc", text);
    for (version, number, record) in [(One, 1_u64, 24), (Two, 2, 28), (Three, 3, 36)] {
        let (bytes, back) = through(&path, export::Format::Lcs(version));
        assert_eq!(bytes.len(), 8192 + 3 * record);
        let sums: Vec<u64> = bytes[8..88]
            .chunks(8)
            .map(|field| u64::from_le_bytes(field.try_into().unwrap()))
            .collect();
        // Version, version of the sums, requests, objects, their bytes, start, end, reads, writes.
        assert_eq!(sums, [number, 1, 3, 2, 16_896, 8704, 0, 2, 2, 1]);
        let found: Vec<_> =
            back.iter().map(|(row, name)| (row.time_ns, name.as_str(), row.bytes)).collect();
        assert_eq!(
            found,
            [(0, "16", 8192), (1_000_000_000, "32", 512), (2_000_000_000, "16", 8192)]
        );
        let next = |at: usize| {
            let end = 8192 + (at + 1) * record;
            i64::from_le_bytes(bytes[end - 8..end].try_into().unwrap())
        };
        assert_eq!((next(0), next(1), next(2)), (3, -1, -1));
    }
}
