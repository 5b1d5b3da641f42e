//! A vocabulary for tests, independent of the real registry.

use opal_syntax::{PathKind, Vocabulary};

#[derive(Debug)]
pub(crate) struct Words;

impl Vocabulary for Words {
    fn lookup(&self, path: &str) -> Option<PathKind> {
        let named = path == "secret.env";
        let text = path == "script";
        let kind =
            |value, action, endpoint| Some(PathKind { value, action, endpoint, text, named });
        match path {
            "args" | "raw" | "git.commit" | "git.branch" | "shell.output" | "secret.env"
            | "os.name" => kind(true, false, false),
            "file.read" => kind(true, false, true),
            "retry" | "timeout" | "parallel" | "shell" | "log" | "cmd" | "needs" | "workdir"
            | "script" => kind(false, true, false),
            "file.write" | "to.display" => kind(false, true, true),
            _ => None,
        }
    }
}
