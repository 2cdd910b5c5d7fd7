//! The last lines of `seekless compare`: how much faster the pack is, and what its order gains.

use seekless::tools::compare::Comparison;

/// The pack against the loose files, and its order against the fastest other pack.
pub(super) fn of(comparison: &Comparison) -> String {
    if !comparison.decides() {
        return match comparison.rounds {
            1 => "One round decides nothing: give --rounds 3 or more.\n".to_owned(),
            rounds => format!("{rounds} rounds decide nothing: give --rounds 3 or more.\n"),
        };
    }
    let ratio = comparison.pack().ratio;
    let than_loose = if ratio >= 1.0 {
        format!("The pack is {ratio:.1} times as fast as the loose files.\n")
    } else {
        format!("The pack takes {:.1} times as long as the loose files.\n", 1.0 / ratio)
    };
    let medians = comparison.rivals.iter().map(|rival| (rival.name.as_str(), rival.median_ns));
    than_loose + &order_gains(&medians.collect::<Vec<_>>())
}

/// Medians nearer than this share are called equal.
const EQUAL: f64 = 0.02;

/// What the pack's order gains over that of the fastest other pack, both on demand; nothing if
/// there is no other pack. `medians` has the name and median of each rival, the loose files first.
fn order_gains(medians: &[(&str, u64)]) -> String {
    let mut packs = medians.iter().skip(1).filter_map(|&(name, median_ns)| {
        name.strip_suffix(", on demand").map(|name| (name, median_ns))
    });
    let Some((_, own_ns)) = packs.next() else { return String::new() };
    let Some((name, best_ns)) = packs.min_by_key(|(_, median_ns)| *median_ns) else {
        return String::new();
    };
    let gain = best_ns as f64 / own_ns.max(1) as f64;
    if (gain - 1.0).abs() < EQUAL {
        format!("The {name} is as fast: the pack's order gains nothing here.\n")
    } else if gain < 1.0 {
        let faster = 1.0 / gain;
        format!("The {name} is {faster:.2} times as fast as the pack: its order is better here.\n")
    } else {
        format!("Its order makes it {gain:.2} times as fast as the {name}.\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_weighed_against_the_fastest_other_pack() {
        let gains = |own: u64, name: u64, recent: u64| {
            order_gains(&[
                ("loose files, on demand", 900),
                ("pack, on demand", own),
                ("pack, list known", 1),
                ("pack by name, on demand", name),
                ("pack by name, list known", 1),
                ("pack by the newest run, on demand", recent),
            ])
        };
        assert_eq!(
            gains(200, 300, 240),
            "Its order makes it 1.20 times as fast as the pack by the newest run.\n"
        );
        assert_eq!(
            gains(200, 199, 240),
            "The pack by name is as fast: the pack's order gains nothing here.\n"
        );
        assert_eq!(
            gains(200, 160, 240),
            "The pack by name is 1.25 times as fast as the pack: its order is better here.\n"
        );
        assert_eq!(order_gains(&[("loose files, on demand", 9), ("pack, on demand", 3)]), "");
    }
}
