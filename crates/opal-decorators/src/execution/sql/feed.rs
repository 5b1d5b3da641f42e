//! A client that reads from pipes which the shell writes itself: `printf` is part of every shell, so no
//! value is an argument of a program.
//!
//! ```sh
//! { trap '' PIPE; printf %s OPTIONS 2>/dev/null; :; } | {
//!   { trap '' PIPE; printf %s INPUT 2>/dev/null; :; } | CLIENT --options=/dev/fd/4
//! } 4<&0
//! ```
//!
//! The exit code is the client's: one that ends before it has read everything does not fail.

use opal_core::context::{Context, Place};
use opal_core::resolver::ScriptPart;
use opal_core::{Data, Secret};

pub(crate) struct Feed {
    /// What the client reads at `/dev/fd/4`.
    pub(crate) options: Option<Secret>,
    pub(crate) input: Secret,
    /// Settings of the environment that are constants: `NAME=value`.
    pub(crate) settings: &'static str,
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
}

impl Feed {
    pub(crate) fn script(self) -> Vec<ScriptPart> {
        let mut parts = Vec::new();
        let text = |text: &str| ScriptPart::Text(text.to_owned());
        let has_options = self.options.is_some();
        if let Some(options) = self.options {
            written(&mut parts, options);
            parts.push(text("{ "));
        }
        written(&mut parts, self.input);
        parts.push(text(self.settings));
        for (index, data) in self.words.into_iter().enumerate() {
            let before = if index == 0 && self.settings.is_empty() { "" } else { " " };
            parts.push(text(before));
            parts.push(word(Data::text(data)));
        }
        if has_options {
            parts.push(text("; } 4<&0"));
        }
        parts
    }
}

/// A writer, and the pipe after it.
fn written(parts: &mut Vec<ScriptPart>, data: Secret) {
    parts.push(ScriptPart::Text("{ trap '' PIPE; printf %s ".to_owned()));
    parts.push(word(Data::Text(data)));
    parts.push(ScriptPart::Text(" 2>/dev/null; :; } | ".to_owned()));
}

fn word(data: Data) -> ScriptPart {
    let context = Context::new(Place::Word).starts_word(true).whole_word(true).dash(true);
    ScriptPart::Data(data, context)
}
