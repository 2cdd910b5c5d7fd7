//! Formats of the field of caches: published traces of objects, by name, and records of one length,
//! by their layout.

use crate::foreign_formats::{brief, file, message, rows};
use seekless_trace::import::{self, Format, Options};
use seekless_trace::*;

/// Imports with options; the rows, and what was left out.
fn imported(
    name: &str,
    bytes: impl AsRef<[u8]>,
    options: &Options,
) -> (Vec<(Access, String)>, import::Report, Kind) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (file(&folder, name, bytes), folder.path().join("out.parquet"));
    let report = import::any(&[path], &out, options, &mut |_, _| ()).unwrap();
    let kind = Trace::open(&out).unwrap().metadata().kind;
    (crate::support::rows(&out), report, kind)
}

fn of(format: Format) -> Options {
    Options { format: Some(format), ..Options::default() }
}

#[test]
fn twitters_caches() {
    let text = "0,k-a,10,90,1,get,0\n1,k-b,10,200,1,set,60\n2,k-a,10,90,2,delete,0\n";
    let (rows, report, kind) = imported("cluster1", text, &of(Format::Twitter));
    let expected = [(0, Op::Load, "k-a", 0, 100), (1_000_000_000, Op::Load, "k-b", 0, 210)];
    assert_eq!((brief(&rows), kind), (expected.to_vec(), Kind::Ids));
    assert_eq!(report.left_out["row by its operation delete"], 1);
    let removes = Options { ops: "delete=remove".parse().unwrap(), ..of(Format::Twitter) };
    let (rows, ..) = imported("cluster1", text, &removes);
    assert_eq!(brief(&rows)[2].1, Op::Remove);
    assert!(message("0,k,10,x,1,get,0\n", Format::Twitter).contains("column 4"));
}

#[test]
fn cachelibs_keys_in_any_order_and_with_repeats() {
    let text = "op_count,key,op,key_size,size\n2,a,GET,4,96\n1,b,SET,4,6\n0,c,GET,1,1\n";
    let (rows, ..) = imported("kv.csv", text, &of(Format::CacheLib));
    let names: Vec<_> = rows.iter().map(|(row, name)| (name.as_str(), row.bytes)).collect();
    assert_eq!(names, [("a", 100), ("a", 100), ("b", 10)]);
    let many = "op_count,key,op,key_size,size\n99999999999,a,GET,4,96\n";
    assert!(message(many, Format::CacheLib).contains("expected a number of times"));
    assert!(message("key,op\n", Format::CacheLib).contains("has no column `key_size`"));
}

#[test]
fn arcs_and_lrbs_traces() {
    let (rows, metadata) = rows("P1.lis", "1 2 0 0\n100 1 0 1\n");
    assert_eq!(
        brief(&rows),
        [(0, Op::Read, "disk", 512, 1024), (1, Op::Read, "disk", 51_200, 512)]
    );
    assert_eq!(metadata.kind, Kind::Blocks);
    let (rows, _, kind) = imported("wiki.tr", "10 7 500 1\n12 8 600\n", &of(Format::Lrb));
    let expected = [(0, Op::Load, "7", 0, 500), (2_000_000_000, Op::Load, "8", 0, 600)];
    assert_eq!((brief(&rows), kind), (expected.to_vec(), Kind::Ids));
    assert!(message("10 7\n", Format::Lrb).contains("has 2 fields"));
}

#[test]
fn numbers_with_stars_between_phases() {
    let (rows, metadata) = rows("multi.trc", "1\n2\n*\n1\n");
    assert_eq!(rows.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>(), ["1", "2", "1"]);
    assert_eq!(metadata.runs[0].not_imported["phase mark"], 1);
}

#[test]
fn records_by_their_layout() {
    let records = |bytes: &[u8]| -> Vec<u8> {
        (0..3_u32)
            .flat_map(|at| {
                [&(at + 5).to_le_bytes()[..], bytes, &u64::from(at % 2).to_le_bytes()].concat()
            })
            .collect()
    };
    let with =
        |layout: &str| Options { layout: Some(layout.parse().unwrap()), ..of(Format::Binary) };
    let content = records(&512_u32.to_le_bytes());
    for layout in
        ["u32:time,u32:bytes,u64:key", "format=<IIQ,obj-id-col=3,obj-size-col=2,time-col=1"]
    {
        let (rows, _, kind) = imported("b.bin", &content, &with(layout));
        let second = 1_000_000_000;
        let expected: Vec<_> = [(5, "0"), (6, "1"), (7, "0")]
            .map(|(time, name)| (time * second, Op::Load, name, 0, 512))
            .to_vec();
        assert_eq!((brief(&rows), kind), (expected, Kind::Ids), "{layout}");
    }
    let (rows, ..) = imported("b.bin", &content, &with("u32,u32,u64:key"));
    assert!(rows.iter().all(|(row, _)| (row.bytes, row.file_bytes) == (1, Some(1))));
    let (rows, _, kind) = imported("b.bin", &content, &with("u32,u32:bytes,u64:offset:sectors"));
    assert_eq!(brief(&rows)[1], (1, Op::Read, "disk", 512, 512));
    assert_eq!(kind, Kind::Blocks);
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "cut.bin", &content[..40]);
    let error = open_with(&path, &with("u32:time,u32:bytes,u64:key")).unwrap_err().to_string();
    assert!(error.contains("byte 32") && error.contains("within a record of 16 bytes"), "{error}");
    let error = open_with(&path, &of(Format::Binary)).unwrap_err().to_string();
    assert!(error.contains("--binary"), "{error}");
}

#[test]
fn metas_keys_of_2024_have_times_and_tenants() {
    let text = "op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n\
                5,a,4,GET,1,96,1,60,u1,-\n6,b,4,SET,1,6,0,60,u2,-\n7,a,4,DELETE,1,0,0,0,u1,-\n";
    let (rows, report, _) = imported("kv.csv", text, &of(Format::CacheLib));
    let second = 1_000_000_000;
    let expected = [(5 * second, Op::Load, "a", 0, 100), (6 * second, Op::Load, "b", 0, 10)];
    assert_eq!(brief(&rows), expected);
    assert_eq!(report.left_out["row by its operation delete"], 1);
    let select =
        import::Select { wheres: vec!["tenant=u2".parse().unwrap()], ..Default::default() };
    let (rows, ..) = imported("kv.csv", text, &Options { select, ..of(Format::CacheLib) });
    assert_eq!(brief(&rows), expected[1..]);
}

#[test]
fn metas_network_of_caches() {
    let text = "timestamp,cacheKey,OpType,objectSize,responseSize,responseHeaderSize,rangeStart,\
                rangeEnd,TTL,SamplingRate,cache_hit,item_value,RequestHandler,cdn_content_type_id,\
                vip_type\n100,k1,1,5000,5300,300,-1,-1,60,1,1,1,2,-,9\n";
    let (rows, _, kind) = imported("cdn.csv", text, &of(Format::MetaCdn));
    assert_eq!(brief(&rows), [(100_000_000_000, Op::Load, "k1", 0, 5000)]);
    assert_eq!(kind, Kind::Ids);
    assert!(message("timestamp,cacheKey\n1,2\n", Format::MetaCdn).contains("`objectSize`"));
}

#[test]
fn metas_storage_is_read_and_written_inside_of_blocks() {
    let text = "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,\
                op_count,host_name,rs_shard_id\n\
                3,900,40,4096,8192,u1,n,getChunkData.Permanent,2,h,0\n\
                4,901,40,100,0,u2,n,putChunk.NotInitialized,1,h,0\n";
    let (rows, _, kind) = imported("storage.csv", text, &of(Format::MetaStorage));
    let read = (3_000_000_000, Op::Read, "900", 8192, 4096);
    let write = (4_000_000_000, Op::Write, "901", 0, 100);
    assert_eq!((brief(&rows), kind), (vec![read, read, write], Kind::Files));
}

#[test]
fn ibms_object_stores() {
    let text = "1219008 REST.PUT.OBJECT 8d4f 1056\n1232488 REST.GET.OBJECT 95d3 1168 0 1167\n\
                1232490 REST.HEAD.OBJECT 95d3 1168\n1232499 REST.DELETE.OBJECT 8d4f\n";
    let (rows, report, _) = imported("IBM000", text, &of(Format::IbmObjectStore));
    let ms = 1_000_000;
    let expected =
        [(1_219_008 * ms, Op::Load, "8d4f", 0, 1056), (1_232_488 * ms, Op::Load, "95d3", 0, 1168)];
    assert_eq!(brief(&rows), expected);
    assert_eq!(report.left_out["row by its operation rest.head.object"], 1);
    let ops = "rest.delete.object=remove".parse().unwrap();
    let (rows, ..) = imported("IBM000", text, &Options { ops, ..of(Format::IbmObjectStore) });
    assert_eq!(brief(&rows)[2], (1_232_499 * ms, Op::Remove, "8d4f", 0, 0));
    let sizeless = message("1 REST.GET.OBJECT 8d4f\n", Format::IbmObjectStore);
    assert!(sizeless.contains("line 1") && sizeless.contains("at least 4 columns"), "{sizeless}");
}

#[test]
fn wikimedias_text_and_uploads() {
    let second = 1_000_000_000;
    let text = "relative_unix\thashed_host_path_query\tresponse_size\ttime_firstbyte\n\
                0\t-833\t4041\t0.0001\n2\t17\t9\t0.2\n";
    let (rows, report, kind) = imported("cache-t-00.tsv", text, &of(Format::Wiki));
    let expected = [(0, Op::Load, "-833", 0, 4041), (2 * second, Op::Load, "17", 0, 9)];
    assert_eq!((brief(&rows), kind), (expected.to_vec(), Kind::Ids));
    assert!(report.left_out.is_empty(), "{:?}", report.left_out);
    let uploads = "relative_unix\thashed_path_query\timage_type\tresponse_size\ttime_firstbyte\n\
                   7\t18\tjpeg\t700\t0.1\n";
    let (rows, ..) = imported("cache-u-00.tsv", uploads, &of(Format::Wiki));
    assert_eq!(brief(&rows), [(0, Op::Load, "18", 0, 700)], "times count from the first");
    assert!(message("0\t1\t2\n", Format::Wiki).contains("has 3 fields"));
}

#[test]
fn tencents_photos_in_each_size_are_objects() {
    let text = "20160201000000 9A5F 5 m 2000 1 PHONE 0\n20160201000001 9A5F 0 l 90 0 PC 12\n";
    let (rows, _, kind) = imported("photo", text, &of(Format::TencentPhoto));
    let expected =
        [(0, Op::Load, "9A5F/5/m", 0, 2000), (1_000_000_000, Op::Load, "9A5F/0/l", 0, 90)];
    assert_eq!((brief(&rows), kind), (expected.to_vec(), Kind::Ids));
    let commas = text.replace(' ', ",");
    assert_eq!(brief(&imported("photo", commas, &of(Format::TencentPhoto)).0), expected);
    let wrong = message("20161301000000 9A5F 5 m 2000 1 PHONE 0\n", Format::TencentPhoto);
    assert!(wrong.contains("line 1") && wrong.contains("YYYYMMDDHHMMSS"), "{wrong}");
}
