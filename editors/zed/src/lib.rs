//! Opal in Zed: says how the language server is started.
//!
//! The program is `opal` on the PATH. Nothing is downloaded, and no setting of a project is read.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

const MISSING: &str = "`opal` is not on the PATH: install it, and start Zed again";

struct Opal;

impl zed::Extension for Opal {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        _: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let command = worktree.which("opal").ok_or(MISSING)?;
        Ok(Command { command, args: vec!["lsp".to_owned()], env: Vec::new() })
    }
}

zed::register_extension!(Opal);
