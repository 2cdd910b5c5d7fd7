//! `Cache`: a policy of ours, request by request, for experiments.

use crate::failure::Failure;
use crate::job::lock;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use seekless::policy::cache::{self, Config, Sink};
use seekless::policy::eviction::{Id, Named, Outcome, Request, named};
use std::sync::Mutex;

/// The ids that the last request pushed out, and those that the policy has forgotten.
#[derive(Default)]
struct Gone {
    victims: Vec<Id>,
    forgotten: Vec<Id>,
}

impl Sink for Gone {
    fn dropped(&mut self, id: Id) {
        self.victims.push(id);
    }

    fn write_back(&mut self, _id: Id) -> bool {
        false
    }

    fn forgotten(&mut self, id: Id) {
        self.forgotten.push(id);
    }
}

/// A cache whose policy decides with the simulator's and the store's own code. It holds no bytes.
#[pyclass(module = "seekless._seekless")]
pub(crate) struct Cache {
    // Behind a lock, since a policy may be used by one thread at a time only.
    cache: Mutex<cache::Cache<Named>>,
    policy: String,
    /// From Python's ids to numbers, and back.
    numbers: Py<PyDict>,
    ids: Vec<Option<Py<PyAny>>>,
    free: Vec<Id>,
    victims: Py<PyList>,
    /// Numbers below this have room.
    room: u32,
}

#[pymethods]
impl Cache {
    #[new]
    fn new(py: Python<'_>, policy: &str, capacity: u64) -> PyResult<Self> {
        let made = named(policy, capacity)
            .and_then(|policy| cache::Cache::new(policy, Config::pages(capacity)))
            .map_err(Failure::from)?;
        Ok(Self {
            cache: Mutex::new(made),
            policy: policy.to_owned(),
            numbers: PyDict::new(py).unbind(),
            ids: Vec::new(),
            free: Vec::new(),
            victims: PyList::empty(py).unbind(),
            room: 0,
        })
    }

    /// Whether `id` is in the cache; if not, it comes in, unless it is too large.
    #[pyo3(signature = (id, weight=1))]
    fn request(&mut self, py: Python<'_>, id: Bound<'_, PyAny>, weight: u64) -> PyResult<bool> {
        let number = self.number(py, &id)?;
        let mut gone = Gone::default();
        let outcome = lock(&self.cache).access_with(&Request::file(number, weight), &mut gone);
        self.take(py, gone)?;
        Ok(outcome == Outcome::Hit)
    }

    /// Takes `id` out of the cache; True if it was there.
    fn remove(&mut self, py: Python<'_>, id: Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(number) = self.numbers.bind(py).get_item(id)? else { return Ok(false) };
        let number: Id = number.extract()?;
        let mut gone = Gone::default();
        let mut cache = lock(&self.cache);
        let resident = cache.resident(number);
        cache.discard(number, &mut gone);
        drop(cache);
        self.take(py, Gone { victims: Vec::new(), ..gone })?;
        Ok(resident)
    }

    fn __contains__(&self, py: Python<'_>, id: Bound<'_, PyAny>) -> PyResult<bool> {
        match self.numbers.bind(py).get_item(id)? {
            Some(number) => Ok(lock(&self.cache).resident(number.extract()?)),
            None => Ok(false),
        }
    }

    /// The ids that the last request pushed out.
    #[getter]
    fn victims(&self, py: Python<'_>) -> Py<PyList> {
        self.victims.clone_ref(py)
    }

    /// The policy's name.
    #[getter]
    fn policy(&self) -> &str {
        &self.policy
    }

    /// Units of weight that may be in the cache.
    #[getter]
    fn capacity(&self) -> u64 {
        lock(&self.cache).config().capacity
    }

    /// The weight of what is in the cache.
    #[getter]
    fn used(&self) -> u64 {
        lock(&self.cache).resident_weight()
    }

    fn __repr__(&self) -> String {
        format!("seekless.Cache({:?}, {}): {} used", self.policy, self.capacity(), self.used())
    }
}

impl Cache {
    /// The number of an id, which is new if the id is.
    fn number(&mut self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Id> {
        let numbers = self.numbers.bind(py);
        if let Some(number) = numbers.get_item(id)? {
            return number.extract();
        }
        let number = match self.free.last() {
            Some(&number) => number,
            None => Id::try_from(self.ids.len())
                .map_err(|_| Failure::usage("a cache knows at most 2^32 ids at a time"))?,
        };
        numbers.set_item(id, number)?;
        if self.free.pop().is_none() {
            self.ids.push(None);
        }
        self.ids[number as usize] = Some(id.clone().unbind());
        if number >= self.room {
            self.room = (number + 1).saturating_mul(2);
            lock(&self.cache).grow(self.room);
        }
        Ok(number)
    }

    /// Notes the victims, and frees the numbers of what the policy has forgotten.
    fn take(&mut self, py: Python<'_>, gone: Gone) -> PyResult<()> {
        let id = |number: Id| self.ids[number as usize].as_ref().map(|id| id.clone_ref(py));
        let victims: Vec<_> = gone.victims.into_iter().filter_map(id).collect();
        self.victims = PyList::new(py, victims)?.unbind();
        for number in gone.forgotten {
            if lock(&self.cache).resident(number) {
                continue; // it came back with this very request
            }
            if let Some(id) = self.ids[number as usize].take() {
                self.numbers.bind(py).del_item(id)?;
                self.free.push(number);
            }
        }
        Ok(())
    }
}
