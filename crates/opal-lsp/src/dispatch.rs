//! From the name of a request to the feature that answers it.

use gen_lsp_types::{
    CodeActionParams, DocumentDiagnosticParams, DocumentFormattingParams,
    DocumentRangeFormattingParams, FoldingRangeParams, ReferenceParams, RenameParams,
    SelectionRangeParams, TextDocumentIdentifier, TextDocumentPositionParams,
    WorkspaceSymbolParams,
};
use lsp_server::ErrorCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::features::diagnostics::Importers;
use crate::features::{
    Client, actions, completion, diagnostics, formatting, hover, lens, navigation, outline, rename,
    shape, signature, tokens,
};
use crate::files::{Files, View};
use crate::pages;
use crate::transport;

/// Why a request has no answer.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) code: i32,
    pub(crate) message: String,
}

/// An answer is JSON.
type Answer = Result<String, Failed>;

/// Answers a request from what is known now.
pub(crate) fn answer(files: &Files, client: Client, method: &str, params: Value) -> Answer {
    if let Some(answer) = at_position(files, client, method, &params) {
        return answer;
    }
    match method {
        "textDocument/references" => {
            let params: ReferenceParams = read(params)?;
            let at = params.text_document_position_params;
            let all = placed(files, &at).map(|(view, at)| {
                navigation::references(files, &view, at, params.context.include_declaration)
            });
            give(all)
        }
        "textDocument/rename" => {
            let params: RenameParams = read(params)?;
            let at = params.text_document_position_params;
            let Some((view, at)) = placed(files, &at) else { return nothing() };
            give(rename::of(files, client, &view, at, &params.new_name).map_err(refused)?)
        }
        "textDocument/formatting" => {
            let params: DocumentFormattingParams = read(params)?;
            give(files.view_of(&params.text_document.uri).and_then(|view| formatting::of(&view)))
        }
        "textDocument/rangeFormatting" => {
            let params: DocumentRangeFormattingParams = read(params)?;
            let view = files.view_of(&params.text_document.uri);
            give(view.and_then(|view| formatting::range(&view, &params.range)))
        }
        "textDocument/codeAction" => {
            let params: CodeActionParams = read(params)?;
            let only = params.context.only.as_deref();
            let view = files.view_of(&params.text_document.uri);
            give(view.map(|view| actions::of(files, client, &view, &params.range, only)))
        }
        "textDocument/selectionRange" => {
            let params: SelectionRangeParams = read(params)?;
            let view = files.view_of(&params.text_document.uri);
            give(view.map(|view| shape::selections(&view, &params.positions)))
        }
        "textDocument/diagnostic" => {
            let params: DocumentDiagnosticParams = read(params)?;
            let path = files.key(&params.text_document.uri);
            // A client that asks again when the server says so need not wait for the importers of what it edits.
            let importers = if client.refreshes { Importers::Known } else { Importers::All };
            let before = params.previous_result_id.as_deref();
            give(Some(diagnostics::report(files, &path, before, importers)))
        }
        "workspace/symbol" => {
            let params: WorkspaceSymbolParams = read(params)?;
            give(Some(outline::workspace(files, &params.query)))
        }
        "opal/page" => {
            let page = params["code"].as_str().and_then(pages::of);
            give(page)
        }
        _ => of_document(files, client, method, params),
    }
}

/// Requests about one place of one document.
fn at_position(files: &Files, client: Client, method: &str, params: &Value) -> Option<Answer> {
    type Feature = fn(&Files, Client, &View, u32) -> Answer;
    let feature: Feature = match method {
        "textDocument/completion" => {
            |files, client, view, at| give(Some(completion::of(files, client, view, at)))
        }
        "textDocument/hover" => |_, _, view, at| give(hover::of(view, at)),
        "textDocument/signatureHelp" => |_, _, view, at| give(signature::of(view, at)),
        "textDocument/definition" => {
            |files, _, view, at| give(navigation::definition(files, view, at))
        }
        "textDocument/documentHighlight" => {
            |_, _, view, at| give(Some(navigation::highlights(view, at)))
        }
        "textDocument/prepareRename" => {
            |_, _, view, at| give(rename::prepare(view, at).map_err(refused)?)
        }
        _ => return None,
    };
    let params = match read::<TextDocumentPositionParams>(params.clone()) {
        Ok(params) => params,
        Err(failed) => return Some(Err(failed)),
    };
    let Some((view, at)) = placed(files, &params) else { return Some(nothing()) };
    Some(feature(files, client, &view, at))
}

/// Requests about a whole document.
fn of_document(files: &Files, client: Client, method: &str, params: Value) -> Answer {
    type Feature = fn(&Files, Client, &View) -> Answer;
    let feature: Feature = match method {
        "textDocument/documentSymbol" => |_, _, view| give(Some(outline::of(view))),
        "textDocument/foldingRange" => |_, _, view| give(Some(shape::folding(view))),
        "textDocument/semanticTokens/full" => |_, _, view| give(Some(tokens::of(view))),
        "textDocument/codeLens" => |files, client, view| give(Some(lens::of(files, client, view))),
        _ => {
            let message = format!("no request `{}` is known", method.escape_debug());
            return Err(Failed { code: ErrorCode::MethodNotFound as i32, message });
        }
    };
    let FoldingRangeParams { text_document: TextDocumentIdentifier { uri }, .. } = read(params)?;
    files.view_of(&uri).map_or_else(nothing, |view| feature(files, client, &view))
}

fn placed(files: &Files, params: &TextDocumentPositionParams) -> Option<(View, u32)> {
    let view = files.view_of(&params.text_document.uri)?;
    let at = view.text.offset(params.position);
    Some((view, at))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Failed> {
    serde_json::from_value(params).map_err(|error| Failed {
        code: ErrorCode::InvalidParams as i32,
        message: error.to_string(),
    })
}

fn give<T: Serialize>(answer: Option<T>) -> Answer {
    Ok(transport::json(&answer))
}

pub(crate) fn nothing() -> Answer {
    give(None::<Value>)
}

fn refused(message: String) -> Failed {
    Failed { code: ErrorCode::RequestFailed as i32, message }
}
