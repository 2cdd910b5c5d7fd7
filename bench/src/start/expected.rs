//! What `run` expects that the device serves, by `run --dry-run --json` when nothing is cached.

use super::way::Way;
use anyhow::Context;
use seekless::measure::ReadsServed;
use serde_json::Value;

/// What a prediction says of starts by some ways.
pub(super) fn of(decision: &Value, ways: &[Way]) -> anyhow::Result<Vec<(Way, ReadsServed)>> {
    let pack = &decision["pack"];
    let has_pack = pack.is_object() && pack["without"].is_null();
    let is_helped = has_pack || decision["warms"] == true;
    let mut expected = Vec::new();
    for &way in ways {
        let waits = match way {
            Way::Plain | Way::LaidPlain => &decision["plain"],
            // A start that is not helped is a plain one.
            _ if !is_helped => &decision["plain"],
            _ => &decision["warmed"],
        };
        let number = |name: &str| waits[name].as_u64().context("the prediction has no figures");
        let (requests, bytes) = (number("requests")?, number("bytes")?);
        expected.push((way, ReadsServed { requests, bytes }));
    }
    Ok(expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_start_without_help_is_expected_to_be_plain() {
        let mut decision = json!({
            "plain": { "requests": 9, "bytes": 900 },
            "warmed": { "requests": 4, "bytes": 1000 },
            "warms": true,
        });
        let ways = [Way::Plain, Way::Run];
        let requests = |decision: &Value| -> Vec<u64> {
            of(decision, &ways).unwrap().iter().map(|(_, served)| served.requests).collect()
        };
        assert_eq!(requests(&decision), [9, 4]);
        decision["warms"] = false.into();
        assert_eq!(requests(&decision), [9, 9]);
        decision["pack"] = json!({ "folders": [] });
        assert_eq!(requests(&decision), [9, 4]);
        decision["pack"]["without"] = "it would not pay".into();
        assert_eq!(requests(&decision), [9, 9]);
        assert!(of(&Value::Null, &ways).is_err());
    }
}
