//! Formats of `-printf`.

use crate::random::Random;

pub(super) fn format(random: &mut Random) -> Vec<u8> {
    let mut format = Vec::new();
    for _ in 0..1 + random.below(4) {
        match random.below(12) {
            0..=7 => directive(&mut format, random),
            8 => format.extend_from_slice(random.pick(&[
                b"\\a", b"\\b", b"\\f", b"\\r", b"\\t", b"\\v", b"\\\\", b"\\0", b"\\7", b"\\101",
                b"\\1019", b"\\400",
            ])),
            9 => format.extend_from_slice(random.pick(&[
                b"|",
                b" ",
                b"x",
                b"\xc3\xa4",
                b"\xff",
                b"9",
                b"%%",
            ])),
            10 if random.chance(30) => format.extend_from_slice(random.pick(&[
                b"\\c", b"\\q", b"\\8", b"%(", b"%[", b"%5(", b"%q", b"%5.3x", b"%", b"%5", b"%.",
                b"%T", b"%-C", b"%5%", b"%\xff", b"%0-5d", b"%+.2-d", b"%B",
            ])),
            _ => format.extend_from_slice(b"\\n"),
        }
    }
    // A lone backslash stands only at the end. Before other text, GNU find may pass on to printf(3)
    // a directive without its argument.
    match random.below(50) {
        0 => format.push(b'\\'),
        1..=40 => format.extend_from_slice(b"\\n"),
        _ => {}
    }
    format
}

fn directive(format: &mut Vec<u8>, random: &mut Random) {
    format.push(b'%');
    if random.chance(25) {
        for _ in 0..random.below(3) {
            format.push(random.pick(b"-+ #"));
        }
        if random.chance(50) {
            format.extend_from_slice(random.pick(&[b"5", b"05", b"12", b"1", b"007", b"20"]));
        }
        if random.chance(40) {
            format.push(b'.');
            format.extend_from_slice(random.pick(&[b"", b"0", b"1", b"3", b"9"]));
        }
    }
    if random.chance(30) {
        format.push(random.pick(b"ACT"));
        format.push(random.pick(b"aAbBcCdDeFgGhHIjklmMnpQrRsSTtuUVwWxXyYzZ@+%E5-_ "));
    } else {
        format.push(random.pick(b"abcdDfFgGhHiklmMnpPsStuUyY%"));
    }
}
