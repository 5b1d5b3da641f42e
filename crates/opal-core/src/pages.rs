//! Pages of the web, as value decorators read them.
//!
//! A page is always read on opal's machine, whichever machine the steps act on.

use std::fmt;

use crate::data::Secret;
use crate::resolver::{Request, Trouble};

/// Reads pages. Nothing is loaded or connected before it is asked for.
pub trait Pages: Send + Sync + fmt::Debug {
    /// The body of a page, at most [`crate::resolver::MAX_VALUE_BYTES`].
    fn get(&self, request: &Request<'_>, variables: &Variables<'_>) -> Result<Secret, Trouble>;
}

/// The environment of who asks, which may name a proxy.
pub type Variables<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;
