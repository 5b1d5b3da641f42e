//! `opal mcp`: becomes the helper that answers agents.

use std::ffi::OsString;

use clap::ArgMatches;
use opal_helper::{SERVE, become_part};

use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::helpers;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let root = std::path::absolute(root.path())
        .map_err(|error| Failure::unreadable(root.path(), &error))?;
    let arguments: [OsString; 1] = [root.into()];
    Err(helpers::failure(&become_part(SERVE, "mcp", &arguments)))
}
