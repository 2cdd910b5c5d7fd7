use super::*;
use proptest::prelude::*;

#[test]
fn reads_the_form_of_the_help() {
    let spec: DeviceSpec = "iops=120,bandwidth=150MB/s".parse().unwrap();
    assert_eq!(spec, DeviceSpec::Volume { iops: 120, bytes_per_second: 150_000_000 });
    assert_eq!(spec.to_string(), "iops=120,bandwidth=150MB/s");
    assert_eq!(
        "bandwidth = 1GiB , iops = 5".parse::<DeviceSpec>().unwrap().costs().bytes_per_second,
        1 << 30
    );
}

#[test]
fn a_preset_is_a_device_by_its_name() {
    for preset in Preset::all() {
        let spec: DeviceSpec = preset.name().parse().unwrap();
        assert_eq!(spec.to_string(), preset.name());
        assert_eq!(spec.parameters(), preset.parameters());
    }
}

#[test]
fn a_volume_may_have_a_latency_and_a_burst() {
    let text = "iops=100,bandwidth=50MB/s,latency=1500us,burst=3000x540000";
    let spec: DeviceSpec = text.parse().unwrap();
    assert_eq!(spec.to_string(), text);
    let burst = Some(Burst { iops: 3000, credit: 540_000 });
    let (iops, bytes_per_second) = (100, 50_000_000);
    let volume = VolumeParameters { iops, bytes_per_second, latency_ns: 1_500_000, burst };
    assert_eq!(spec.parameters(), Parameters::Volume(volume));
}

#[test]
fn an_object_store_has_streams() {
    let text = "streams=128,latency=20ms,bandwidth=50MB/s";
    let spec: DeviceSpec = text.parse().unwrap();
    assert_eq!(spec.to_string(), text);
    let costs = spec.costs();
    let expected = Costs { request_ns: 20_000_000, bytes_per_second: 50_000_000, depth: 128 };
    assert_eq!(costs, expected);
    for text in ["streams=1,latency=1ms", "streams=1,bandwidth=1MB", "streams=1,iops=1"] {
        let error = text.parse::<DeviceSpec>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing, "{text}");
        assert!(error.to_string().contains("streams=64,latency=30ms"), "{error}");
    }
    let kind = |text: &str| text.parse::<DeviceSpec>().unwrap_err().kind();
    assert_eq!(kind("streams=many,latency=1ms,bandwidth=1MB"), ErrorKind::NotANumber);
    assert_eq!(kind("streams=0,latency=1ms,bandwidth=1MB"), ErrorKind::Zero);
}

#[test]
fn what_is_no_device_is_refused_and_the_form_is_shown() {
    let bad = [
        ("", ErrorKind::UnknownSetting),
        ("disk", ErrorKind::UnknownSetting),
        ("iops=120,seek=3ms", ErrorKind::UnknownSetting),
        ("iops=120", ErrorKind::Missing),
        ("bandwidth=1MB", ErrorKind::Missing),
        ("iops=1,iops=2,bandwidth=1MB", ErrorKind::Missing),
        ("iops=0,bandwidth=1MB", ErrorKind::Zero),
        ("iops=many,bandwidth=1MB", ErrorKind::NotANumber),
    ];
    for (text, kind) in bad {
        let error = text.parse::<DeviceSpec>().expect_err(text);
        assert_eq!(error.kind(), kind, "{text}");
        assert!(error.to_string().contains("iops=120,bandwidth=150MB/s"), "{error}");
    }
    let kind = |text: &str| text.parse::<DeviceSpec>().unwrap_err().kind();
    assert_eq!(kind("iops=9,bandwidth=9M"), ErrorKind::UnknownUnit);
    assert_eq!(kind("iops=9,bandwidth=9MB,burst=10"), ErrorKind::NotANumber);
    assert_eq!(kind("iops=9,bandwidth=9MB,burst=9x1"), ErrorKind::Order);
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(iops in 1u64.., bytes_per_second in 1u64.., latency_ns: u64) {
        let spec = DeviceSpec::Volume { iops, bytes_per_second };
        prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
        let volume = VolumeParameters { iops, bytes_per_second, latency_ns: latency_ns | 1, burst: None };
        let spec = DeviceSpec::new(&words(&volume), Parameters::Volume(volume)).unwrap();
        prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
    }
}
