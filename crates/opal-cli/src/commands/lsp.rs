//! `opal lsp`: this process becomes the language server.

use opal_helper::{SERVE, become_part};

use crate::context::Context;
use crate::decorators::kept_packages;
use crate::failure::{Exit, Failure};
use crate::helpers;

pub(crate) fn run(context: &Context<'_>) -> Result<Exit, Failure> {
    let packages = context.registry.root().map(|root| kept_packages(root).into_os_string());
    let arguments: Vec<_> = packages.into_iter().collect();
    Err(helpers::failure(&become_part(SERVE, "lsp", &arguments)))
}
