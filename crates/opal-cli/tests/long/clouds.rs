//! Objects of real clouds: `cargo xtask clouds` builds their providers and runs this.

mod aws;
mod docker;
