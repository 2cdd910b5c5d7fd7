//! Refuses cases that cannot be simulated before the work begins, and says what to use instead.

use crate::case::{Case, Options};
use crate::requests::{Requests, Totals};
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_policy::cache::{Cache, Config};
use seekless_policy::eviction::{named, needs_of};

/// Checks that every case can be simulated: the policy exists, the requests supply what it needs,
/// and they have what the rules use. [`simulate_with`](crate::simulate_with) checks its own case. A
/// caller with many cases checks all before the first.
///
/// # Errors
/// Of the first case that cannot be simulated.
pub fn check_cases(requests: &Requests, cases: &[Case], options: &Options) -> Result<()> {
    check_options(requests, options)?;
    let totals = requests.totals();
    cases.iter().try_for_each(|case| {
        check_policy(&totals, &case.policy)?;
        check_future(&case.policy, options)
    })
}

fn check_options(requests: &Requests, options: &Options) -> Result<()> {
    if options.write_back.needs_times() && !requests.has_times() && !requests.is_empty() {
        let message = "write-back by time needs requests that were read with their times";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if options.write_back.chooses() && !requests.unit_weights() {
        let message = "expire, background and limit are for pages; use --unit page";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if options.write_back.on_sync && requests.unit() != Unit::Page {
        let message = "write-back on sync is for pages; use --unit page";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if options.expiry.is_some() && !requests.has_lifetimes() && !requests.is_empty() {
        let message = "there are no lifetimes to expire: --columns ttl:s=COLUMN names them, and \
                       they are of objects (--unit object)";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if let Some(warm_up) = options.warm_up {
        warm_up.requests(requests)?;
        if options.every.is_some() {
            let message = "--every counts from the first request: give it or --warm-up";
            return Err(Error::new(ErrorKind::Usage, message));
        }
    }
    Ok(())
}

/// Refuses policies that know the future where it depends on more than the requests.
fn check_future(name: &str, options: &Options) -> Result<()> {
    if options.expiry.is_none() || !needs_of(name)?.next_use {
        return Ok(());
    }
    let message = format!("{name} knows the next use of an object, not the ends of lifetimes");
    Err(Error::new(ErrorKind::Policy, message))
}

/// Checks that the policy can run on requests with these sums.
pub(crate) fn check_policy(totals: &Totals, name: &str) -> Result<()> {
    let Err(error) = Cache::with_offer(named(name, 1)?, Config::pages(1), totals.offer()) else {
        return Ok(());
    };
    let hint = match totals.unit {
        Unit::Page => "",
        Unit::File | Unit::Object => {
            "; --unit page has pages of one weight, --unit-weights weighs each 1"
        }
    };
    let of_sizes = match needs_of(name) {
        Ok(needs) if needs.equal_weights => "; belady-size is for different sizes",
        _ => "",
    };
    Err(Error::new(ErrorKind::Policy, format!("{name}: {error}{of_sizes}{hint}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate;
    use seekless_policy::eviction::{NAMES, Needs, needs_of};

    #[test]
    fn a_policy_for_pages_is_refused_by_name_on_files() {
        let requests = Requests::from_files(&[0, 1], &[5, 6]);
        let only = Needs { unit_weights: true, ..Needs::default() };
        let policy =
            NAMES.iter().find(|name| needs_of(name).is_ok_and(|needs| needs == only)).unwrap();
        let case = Case { policy: (*policy).to_owned(), capacity: 4 };
        let error =
            check_cases(&requests, std::slice::from_ref(&case), &Options::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Policy);
        assert!(error.to_string().starts_with(&format!("{policy}: ")), "{error}");
        assert_eq!(simulate(&requests, &case).unwrap_err().to_string(), error.to_string());
        simulate(&requests.with_unit_weights(), &case).unwrap();
    }
}
