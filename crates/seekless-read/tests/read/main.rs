//! What SLEDs and readers say and do on file systems and for users that a unit test cannot have: each test runs again in a
//! process of its own that has them.

mod other_user;
mod overlay;
mod support;
