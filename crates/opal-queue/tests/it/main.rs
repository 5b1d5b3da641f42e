//! `opal dispatch` and `opal runner` with a real nats-server.
#![expect(clippy::disallowed_methods, reason = "a test starts programs, and waits for them")]

mod acceptance;
mod attacks;
mod dispatching;
mod faults;
mod nats;
mod runners;
mod shop;
