//! What holds on this machine and on every target: these tests run again over ssh and in a container.

mod resources;
pub(crate) mod session;
