//! What an editor can ask, one file each. Each reads the facts of a [`View`] and changes nothing.

pub(crate) mod actions;
pub(crate) mod completion;
pub(crate) mod diagnostics;
pub(crate) mod documents;
pub(crate) mod extract;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod lens;
pub(crate) mod navigation;
pub(crate) mod outline;
pub(crate) mod place;
pub(crate) mod rename;
pub(crate) mod shape;
pub(crate) mod signature;
pub(crate) mod tokens;

use std::path::PathBuf;

use gen_lsp_types::{
    Edit, OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextDocumentIdentifier,
    TextEdit, WorkspaceEdit,
};
use opal_core::Span;

use crate::files::Files;

/// What the client understands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    pub(crate) snippets: bool,
    pub(crate) document_changes: bool,
    /// It has the commands of the lenses.
    pub(crate) commands: bool,
    /// It asks for diagnostics, and asks again when the server says so.
    pub(crate) refreshes: bool,
}

/// Changes of files, each with places in the text as it is.
pub(crate) type Changes = Vec<(PathBuf, Vec<(Span, String)>)>;

/// The changes as the protocol has them.
pub(crate) fn workspace_edit(files: &Files, client: Client, changes: Changes) -> WorkspaceEdit {
    let mut edited = Vec::new();
    for (path, edits) in changes {
        let Some(view) = files.view(&path) else { continue };
        let version = files.document(&path).map(|document| document.version);
        let edit =
            |(span, new_text): (Span, String)| TextEdit { range: view.text.range(span), new_text };
        let edits: Vec<TextEdit> = edits.into_iter().map(edit).collect();
        edited.push((files.uri(&path), version, edits));
    }
    if !client.document_changes {
        let changes = edited.into_iter().map(|(uri, _, edits)| (uri, edits)).collect();
        return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
    }
    let changes = edited.into_iter().map(|(uri, version, edits)| {
        let text_document = OptionalVersionedTextDocumentIdentifier {
            version,
            text_document_identifier: TextDocumentIdentifier { uri },
        };
        let edits = edits.into_iter().map(Edit::TextEdit).collect();
        TextDocumentEdit { text_document, edits }.into()
    });
    WorkspaceEdit { document_changes: Some(changes.collect()), ..WorkspaceEdit::default() }
}

/// A text with changes made to it; those of one file do not overlap.
pub(crate) fn changed(text: &str, edits: &[(Span, String)]) -> String {
    let mut sorted: Vec<&(Span, String)> = edits.iter().collect();
    sorted.sort_by_key(|(span, _)| *span);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (span, with) in sorted {
        out.push_str(text.get(at..span.start as usize).unwrap_or_default());
        out.push_str(with);
        at = at.max(span.end as usize);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
