//! What the server can do, and what its client says that it can.

use std::path::{Path, PathBuf};

use gen_lsp_types::{Uri, WorkspaceFolder};
use serde_json::{Value, json};

use crate::features::{Client, tokens};
use crate::positions::Encoding;
use crate::uri;

/// What a client has said when it started.
#[derive(Debug, Default)]
pub(crate) struct Hello {
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) encoding: Encoding,
    pub(crate) client: Client,
    /// It tells of changed files where it is asked to.
    pub(crate) watches: bool,
    /// It can do so for a directory outside the workspace.
    watches_elsewhere: bool,
    /// It asks for diagnostics itself.
    pub(crate) pulls: bool,
}

impl Hello {
    /// What is missing or of another form than expected is what the client cannot do.
    pub(crate) fn read(params: &Value) -> Self {
        let can = &params["capabilities"];
        let is = |value: &Value| value.as_bool().unwrap_or_default();
        let documents = &can["textDocument"];
        let encodings = can["general"]["positionEncodings"].as_array();
        let has_bytes = encodings.is_some_and(|all| all.iter().any(|it| it == "utf-8"));
        let commands = params["initializationOptions"]["commands"].as_array();
        let is_command = |it: &Value| it.as_str().is_some_and(|it| it.starts_with("opal."));
        let (watched, pulls) =
            (&can["workspace"]["didChangeWatchedFiles"], documents["diagnostic"].is_object());
        Self {
            roots: roots(params),
            encoding: if has_bytes { Encoding::Utf8 } else { Encoding::Utf16 },
            client: Client {
                snippets: is(&documents["completion"]["completionItem"]["snippetSupport"]),
                document_changes: is(&can["workspace"]["workspaceEdit"]["documentChanges"]),
                commands: commands.is_some_and(|all| all.iter().any(is_command)),
                refreshes: pulls && is(&can["workspace"]["diagnostics"]["refreshSupport"]),
            },
            watches: is(&watched["dynamicRegistration"]),
            watches_elsewhere: is(&watched["relativePatternSupport"]),
            pulls,
        }
    }
}

fn roots(params: &Value) -> Vec<PathBuf> {
    let folders: Vec<WorkspaceFolder> =
        serde_json::from_value(params["workspaceFolders"].clone()).unwrap_or_default();
    let folders: Vec<PathBuf> = folders.iter().filter_map(|it| uri::path(&it.uri)).collect();
    if !folders.is_empty() {
        return folders;
    }
    let root = params["rootUri"].as_str().and_then(|root| uri::path(&Uri::from(root)));
    let path = params["rootPath"].as_str().filter(|path| path.starts_with('/')).map(PathBuf::from);
    root.or(path).into_iter().collect()
}

pub(crate) fn of_server(hello: &Hello, version: &str) -> Value {
    let encoding = match hello.encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16 => "utf-16",
    };
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            "textDocumentSync": { "openClose": true, "change": 2, "save": true },
            "completionProvider": { "triggerCharacters": ["@", ".", "(", ",", "=", "\""] },
            "hoverProvider": true,
            "signatureHelpProvider": { "triggerCharacters": ["(", ",", "="] },
            "definitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "codeActionProvider": { "codeActionKinds": ["quickfix", "refactor.extract"] },
            "codeLensProvider": { "resolveProvider": false },
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": true,
            "renameProvider": { "prepareProvider": true },
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "semanticTokensProvider": {
                "legend": { "tokenTypes": tokens::TYPES, "tokenModifiers": tokens::MODIFIERS },
                "full": true,
            },
            "diagnosticProvider": {
                "identifier": "opal",
                "interFileDependencies": true,
                "workspaceDiagnostics": false,
            },
            "workspace": {
                "workspaceFolders": { "supported": true, "changeNotifications": true },
            },
        },
        "serverInfo": { "name": "opal", "version": version },
    })
}

/// The request for reports of files that change that are not open, and of packages that are installed.
pub(crate) fn watchers(hello: &Hello, cache: Option<&Path>) -> Value {
    let watch = |glob: &str| json!({ "globPattern": glob });
    let globs =
        ["**/*.opl", "**/opal.mod", "**/opal.lock", "**/opal.toml", "**/*.env", "**/.env.*"];
    let cache = cache
        .filter(|_| hello.watches_elsewhere)
        .map(|folder| json!({ "globPattern": { "baseUri": uri::of(folder), "pattern": "*" } }));
    let watchers: Vec<Value> = globs.into_iter().map(watch).chain(cache).collect();
    json!({ "registrations": [{
        "id": "files",
        "method": "workspace/didChangeWatchedFiles",
        "registerOptions": { "watchers": watchers },
    }] })
}
