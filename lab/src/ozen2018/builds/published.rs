//! His tables of tests 1 and 2: reads and writes of each policy, in pages of 4096 bytes, in the
//! order of the policies of tests 5 to 16. The thesis has no row of CAR in test 1.

/// Test 1, with 10,000 pages, and test 2, with 2,000.
#[rustfmt::skip]
pub(super) const TESTS: [[Option<(u64, u64)>; 10]; 2] = [
    [
        Some((218_102, 284_603)), Some((199_849, 287_966)), Some((208_026, 289_128)), Some((204_673, 292_278)), Some((222_473, 284_602)),
        Some((249_772, 289_559)), Some((207_518, 286_570)), Some((209_661, 285_915)), Some((249_304, 286_636)), None,
    ],
    [
        Some((445_644, 294_163)), Some((451_792, 294_453)), Some((529_762, 295_091)), Some((488_947, 295_398)), Some((457_784, 293_662)),
        Some((1_080_066, 297_306)), Some((458_587, 295_172)), Some((443_881, 293_780)), Some((496_553, 295_713)), Some((444_338, 295_903)),
    ],
];
