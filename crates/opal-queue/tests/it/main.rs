//! `opal dispatch` and `opal runner` with a real nats-server.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

mod acceptance;
mod attacks;
mod dispatching;
mod ends;
mod enemy;
mod faults;
mod hosts;
mod nats;
mod refusals;
mod runners;
mod shop;
