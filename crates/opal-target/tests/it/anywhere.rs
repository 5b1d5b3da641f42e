//! What holds on this machine and on every target: these tests run again over ssh and in a container.

pub(crate) mod resources;
pub(crate) mod session;
