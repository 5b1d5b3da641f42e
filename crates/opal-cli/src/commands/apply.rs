//! `opal apply`: applies what a configuration describes.

pub(crate) mod preview;

use clap::ArgMatches;

use super::{config_file, task};
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::options::Asked;

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let asked = Asked::from(matches)?.or(Asked::before(&context.typed.before)?);
    let path = config_file::given(context, matches)?;
    task::config(context, path, &[], asked)
}
