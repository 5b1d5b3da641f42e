//! What commands show: a human view and a machine view each.

pub(crate) mod diagnostics;
