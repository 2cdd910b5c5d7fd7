//! Policies that are written in Python, in the simulator beside ours. The simulator keeps track of
//! what is resident; it reports each use to the Python class, which names the victims.

use crate::failure::Failure;
use crate::job::lock;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use seekless::policy::eviction::{Id, Pool, Request, Resident, Rule};
use seekless::sim::{Figures, Options, Requests, simulate_own};
use std::sync::{Arc, Mutex};

/// A class of Python that is a policy.
pub(crate) struct Maker {
    class: Py<PyAny>,
    name: String,
}

/// The first error of a policy's calls. After it nothing more is called.
type FirstError = Arc<Mutex<Option<PyErr>>>;

impl Maker {
    /// Checks that `class` can be called and has the methods of a policy.
    pub(crate) fn new(py: Python<'_>, class: Py<PyAny>) -> PyResult<Self> {
        let bound = class.bind(py);
        let has = |name| bound.hasattr(name).unwrap_or(false);
        if !bound.is_callable() || !has("request") || !has("evict") {
            let message = format!(
                "{} is no policy: give the name of one of ours (seekless.policies()) or a class with \
                 request(id, weight, hit) and evict()",
                bound.repr()?
            );
            return Err(PyTypeError::new_err(message));
        }
        let name = match bound.getattr("name").and_then(|name| name.extract::<String>()) {
            Ok(name) => name,
            Err(_) => bound.getattr("__name__")?.extract()?,
        };
        Ok(Self { class, name })
    }

    /// Runs the policy in a cache of `capacity` bytes (for bare ids: ids), on this thread.
    pub(crate) fn simulate(
        &self,
        py: Python<'_>,
        requests: &Requests,
        capacity: u64,
        options: &Options,
    ) -> PyResult<Figures> {
        let error = FirstError::default();
        let make =
            |units| Resident::with_rule(units, Own::new(py, &self.class, units, error.clone()));
        let figures = simulate_own(requests, (&self.name, capacity), options, make);
        match lock(&error).take() {
            Some(error) => Err(error),
            None => Ok(figures.map_err(Failure::from)?),
        }
    }
}

/// A policy at work.
struct Own {
    /// `request` and `evict` of the object; `None` after an error.
    calls: Option<(Py<PyAny>, Py<PyAny>)>,
    resident: Vec<bool>,
    error: FirstError,
}

impl Own {
    fn new(py: Python<'_>, class: &Py<PyAny>, capacity: u64, error: FirstError) -> Self {
        let made = || {
            let policy = class.call1(py, (capacity,))?;
            PyResult::Ok((policy.getattr(py, "request")?, policy.getattr(py, "evict")?))
        };
        let mut own = Self { calls: None, resident: Vec::new(), error };
        match made() {
            Ok(calls) => own.calls = Some(calls),
            Err(error) => own.fail(error),
        }
        own
    }

    fn fail(&mut self, error: PyErr) {
        self.calls = None;
        lock(&self.error).get_or_insert(error);
    }

    fn tell(&mut self, request: &Request, hit: bool) {
        let Some((call, _)) = &self.calls else { return };
        let told = Python::attach(|py| call.call1(py, (request.id, request.weight, hit)).map(drop));
        if let Err(error) = told {
            self.fail(error);
        }
    }

    /// What the policy says leaves.
    fn named(&mut self) -> PyResult<Option<Id>> {
        let Some((_, call)) = &self.calls else { return Ok(None) };
        let answer = Python::attach(|py| call.call0(py)?.extract::<Id>(py))?;
        if self.contains(answer) {
            return Ok(Some(answer));
        }
        let message = format!(
            "evict() named id {answer}, which is not in the cache; it must return an id that \
             request() was given and that evict() has not returned since"
        );
        Err(PyValueError::new_err(message))
    }
}

impl Rule for Own {
    fn grow(&mut self, ids: u32) {
        self.resident.resize(self.resident.len().max(ids as usize), false);
    }

    fn contains(&self, id: Id) -> bool {
        self.resident.get(id as usize).copied().unwrap_or(false)
    }

    fn hit(&mut self, request: &Request) {
        self.tell(request, true);
    }

    fn enter(&mut self, request: &Request) {
        self.resident[request.id as usize] = true;
        self.tell(request, false);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        self.named().unwrap_or_else(|error| {
            self.fail(error);
            None
        })
    }

    fn leave(&mut self, id: Id) {
        self.resident[id as usize] = false;
    }
}
