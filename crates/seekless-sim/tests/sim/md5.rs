//! MD5 (RFC 1321), because the reference names the golden outputs by it.

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The first 16 hexadecimal digits of the MD5 of `bytes`.
pub(crate) fn prefix(bytes: &[u8]) -> String {
    let mut state: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let constants: Vec<u32> =
        (1..=64).map(|step: u32| (f64::from(step).sin().abs() * 4_294_967_296.0) as u32).collect();
    let (blocks, rest) = bytes.split_at(bytes.len() / 64 * 64);
    let mut tail = rest.to_vec();
    tail.push(0x80);
    tail.resize((rest.len() + 9).div_ceil(64) * 64 - 8, 0);
    tail.extend((bytes.len() as u64 * 8).to_le_bytes());
    for block in blocks.chunks_exact(64).chain(tail.chunks_exact(64)) {
        add_block(&mut state, block, &constants);
    }
    state[..2].iter().flat_map(|word| word.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

fn add_block(state: &mut [u32; 4], block: &[u8], constants: &[u32]) {
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| block[at * 4 + byte]));
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, at) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        let sum = a.wrapping_add(mixed).wrapping_add(constants[step]).wrapping_add(word(at));
        let next = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        (a, b, c, d) = (d, next, b, c);
    }
    for (total, part) in state.iter_mut().zip([a, b, c, d]) {
        *total = total.wrapping_add(part);
    }
}

#[test]
fn md5_is_that_of_the_rfc() {
    assert_eq!(prefix(b""), "d41d8cd98f00b204");
    assert_eq!(prefix(b"message digest"), "f96b697d7cb7938d");
    assert_eq!(prefix(&b"1234567890".repeat(8)), "57edf4a22be3c955");
}
