//! The rate of learning, which follows the hit rate.

use super::Form;
use crate::lehmer64::Lehmer64;

const LEAST: f64 = 0.001;
/// Periods without gain until the rate is drawn anew.
const PATIENCE: u32 = 10;

/// Looks at the hit rate once in a period, of as many requests as the capacity.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    form: Form,
    period: u64,
    requests: u64,
    hits: u64,
    hit_rate_before: f64,
    rate: f64,
    rate_before: f64,
    vain: u32,
}

impl Rate {
    pub(super) fn new(capacity: u64, form: Form, draws: &mut Lehmer64) -> Self {
        Self {
            form,
            period: capacity.max(1),
            requests: 0,
            hits: 0,
            hit_rate_before: 0.0,
            rate: drawn(draws),
            rate_before: 0.0,
            vain: 0,
        }
    }

    pub(super) fn resize(&mut self, capacity: u64) {
        self.period = capacity.max(1);
    }

    /// What a mistake leaves of an expert's weight.
    #[inline]
    pub(super) fn loss(&self) -> f64 {
        (-self.rate).exp()
    }

    #[inline]
    pub(super) fn count(&mut self, is_hit: bool, draws: &mut Lehmer64) {
        self.requests += 1;
        self.hits += u64::from(is_hit);
        if self.requests >= self.period {
            self.adapt(draws);
            self.requests = 0;
            self.hits = 0;
        }
    }

    fn adapt(&mut self, draws: &mut Lehmer64) {
        let hit_rate = match self.form {
            Form::Paper => self.hits as f64 / self.requests as f64,
            Form::Program => (self.hits / self.period) as f64,
        };
        let gain = hit_rate - std::mem::replace(&mut self.hit_rate_before, hit_rate);
        let step = self.rate - std::mem::replace(&mut self.rate_before, self.rate);
        if step != 0.0 {
            let size = (self.rate * step).abs();
            let next = if gain / step > 0.0 { self.rate + size } else { self.rate - size };
            self.rate = match self.form {
                Form::Paper => next.clamp(LEAST, 1.0),
                Form::Program if next > LEAST => next,
                Form::Program => 0.0001,
            };
            self.vain = 0;
        } else if hit_rate == 0.0 || gain <= 0.0 {
            self.vain += 1;
            if self.form == Form::Paper && self.vain >= PATIENCE {
                self.restart(draws);
            }
        } else if self.form == Form::Program && self.vain >= PATIENCE {
            self.restart(draws);
        }
    }

    fn restart(&mut self, draws: &mut Lehmer64) {
        self.vain = 0;
        self.rate = drawn(draws);
    }
}

/// A rate from 0.001 to 1.
fn drawn(draws: &mut Lehmer64) -> f64 {
    LEAST + draws.below(1000) as f64 / 1000.0
}
