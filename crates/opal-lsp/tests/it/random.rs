//! Random edits: after each, the server's text is the client's, and what it says agrees with itself.

use serde_json::{Value, json};

use super::client::{Client, abilities, uri, workspace};

/// Pieces that make a text right and wrong in turns.
pub(crate) const PIECES: [&str; 30] = [
    "fun ",
    "build(",
    ") {\n",
    "}\n",
    "\n",
    "var x = ",
    "@var.x",
    "@cmd.build()",
    "let.out = @shell(\"date\")\n",
    "@let.out",
    "echo ",
    "\"",
    "'",
    "if x == \"a\" {\n",
    "for n in [1, 2] {\n",
    "@retry(3) {\n",
    "// # Group\n",
    "// words\n",
    "ü",
    "𝄞",
    "\r\n",
    "\t",
    "    ",
    "@env.HOME",
    "@needs.build()\n",
    "$(",
    ")",
    "[",
    "]",
    "x",
];

const START: &str = "// # First\n\n// Builds.\nfun build(target: String, fast: Bool = false) {\n    var \
    out = \"dist\"\n    let.when = @shell(\"date\")\n    for name in [\"a\", \"b\"] {\n        echo \
    @var.target @var.name @var.out\n    }\n    if fast {\n        echo \"@let.when.stdout\"\n    \
    }\n}\n\nfun all() {\n    @needs.build(\"x\", fast=true)\n    @retry(3, delay=1s) {\n        \
    curl @env.URL\n    }\n}\n";

/// Numbers that are the same each time.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// What a column counts.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    Bytes,
    /// Of UTF-16: what a client counts that knows nothing else.
    Units,
}

impl Columns {
    /// The position of a byte.
    fn position(self, text: &str, at: usize) -> Value {
        let line = text[..at].matches('\n').count() + lone_returns(&text[..at], text);
        let start = text[..at].rfind(['\n', '\r']).map_or(0, |it| it + 1).min(at);
        // A line feed after a carriage return belongs to it.
        let character = match self {
            Self::Bytes => at - start,
            Self::Units => text[start..at].encode_utf16().count(),
        };
        json!({ "line": line, "character": character })
    }

    /// Bytes of a line before a column.
    fn bytes(self, line: &str, column: usize) -> usize {
        if self == Self::Bytes {
            return column;
        }
        let mut units = 0;
        let before = line.chars().take_while(|c| {
            units += c.len_utf16();
            units <= column
        });
        before.map(char::len_utf8).sum()
    }
}

/// Carriage returns that end a line by themselves.
fn lone_returns(before: &str, text: &str) -> usize {
    before.match_indices('\r').filter(|(at, _)| text.as_bytes().get(at + 1) != Some(&b'\n')).count()
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
        at -= 1;
    }
    at
}

fn rounds() -> u64 {
    let set = std::env::var("OPAL_TEST_ROUNDS").ok().and_then(|it| it.parse().ok());
    set.unwrap_or(300)
}

#[test]
fn after_random_edits_the_server_has_the_text_of_the_client_and_agrees_with_itself() {
    edited(Columns::Bytes, rounds());
}

#[test]
fn after_random_edits_it_also_agrees_where_columns_are_utf_16() {
    edited(Columns::Units, rounds() / 2);
}

fn edited(columns: Columns, rounds: u64) {
    let (_folder, root) = workspace(&[("commands.opl", "")]);
    let mut abilities = abilities();
    if columns == Columns::Units {
        abilities["general"] = json!({});
    }
    let mut client = Client::with(Some(&root), abilities);
    let uri = uri(&root.join("commands.opl"));
    let mut text = START.to_owned();
    client.open(&uri, &text);
    let mut numbers = Numbers::new(7);
    let mut version = 1;
    for round in 0..rounds {
        version += 1;
        let start = boundary(&text, numbers.below(text.len() + 1));
        let end = boundary(&text, (start + numbers.below(12)).min(text.len())).max(start);
        let piece = PIECES[numbers.below(PIECES.len())];
        let position = |at: usize| columns.position(&text, at);
        let range = json!({ "start": position(start), "end": position(end) });
        let (before, whole) =
            (client.send(SELECTION, last(&uri)), columns.position(&text, text.len()));
        client.change(&uri, version, json!([{ "range": range, "text": piece }]));
        text.replace_range(start..end, piece);
        let after = client.send(SELECTION, last(&uri));
        // Each answer is about the text that there was when it was asked for.
        let before = client.wait(&before).unwrap();
        assert_eq!(outermost(before)["end"], whole, "before the edit to {text:?}");
        let after = client.wait(&after).unwrap();
        assert_eq!(outermost(after)["end"], columns.position(&text, text.len()), "{text:?}");
        agrees(&mut client, columns, &uri, &text, i64::from(version), &mut numbers);
        if round % 40 == 39 {
            version += 1;
            text = START.to_owned();
            client.change(&uri, version, json!([{ "text": text }]));
        }
    }
    client.end();
}

const SELECTION: &str = "textDocument/selectionRange";

/// A question whose answer has the range of the whole text.
fn last(uri: &str) -> Value {
    let end = json!({ "line": 4_000_000, "character": 0 });
    json!({ "textDocument": { "uri": uri }, "positions": [end] })
}

fn outermost(mut answer: Value) -> Value {
    let mut outer = answer[0].take();
    while outer["parent"].is_object() {
        outer = outer["parent"].take();
    }
    outer["range"].take()
}

fn agrees(
    client: &mut Client,
    columns: Columns,
    uri: &str,
    text: &str,
    version: i64,
    numbers: &mut Numbers,
) {
    let whole = json!({ "textDocument": { "uri": uri } });
    let found = client.diagnostics(uri, version);
    let asked = client.request("textDocument/diagnostic", whole.clone()).unwrap();
    assert_eq!(asked["items"], found);
    let at = columns.position(text, boundary(text, numbers.below(text.len() + 1)));
    let here = json!({ "textDocument": { "uri": uri }, "position": at });
    for method in ["completion", "hover", "signatureHelp"] {
        client.request(&format!("textDocument/{method}"), here.clone()).unwrap();
    }
    let definition = client.request("textDocument/definition", here.clone()).unwrap();
    if definition.is_object() && definition["uri"] == uri {
        let start = &definition["range"]["start"];
        let mut params = json!({ "textDocument": { "uri": uri }, "position": start });
        params["context"] = json!({ "includeDeclaration": true });
        let references = client.request("textDocument/references", params).unwrap();
        let all = references.as_array().unwrap();
        assert!(all.contains(&definition), "a definition is among its references: {text:?}");
    }
    rename_and_back(client, columns, uri, text, &here);
}

/// Renaming and renaming back gives the same bytes.
fn rename_and_back(client: &mut Client, columns: Columns, uri: &str, text: &str, here: &Value) {
    let Ok(found) = client.request("textDocument/prepareRename", here.clone()) else { return };
    let Some(old) = found["placeholder"].as_str().map(str::to_owned) else { return };
    let rename = |client: &mut Client, at: &Value, name: &str| {
        let params = json!({ "textDocument": { "uri": uri }, "position": at, "newName": name });
        client.request("textDocument/rename", params)
    };
    let Ok(there) = rename(client, &found["range"]["start"], "fresh_name_7") else { return };
    let edits = &there["documentChanges"][0]["edits"];
    let changed = applied_in(columns, text, edits);
    assert_ne!(changed, text);
    let other = format!("{uri}.renamed.opl");
    client.open(&other, &changed);
    let place = edits.as_array().unwrap().first().unwrap()["range"]["start"].clone();
    let params = json!({ "textDocument": { "uri": other }, "position": place, "newName": old });
    let back = client.request("textDocument/rename", params).unwrap();
    let edits = &back["documentChanges"][0]["edits"];
    assert_eq!(applied_in(columns, &changed, edits), text, "renaming back `{old}`");
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": other } }));
}

/// A text after edits, whose columns count bytes.
pub(crate) fn applied(text: &str, edits: &Value) -> String {
    applied_in(Columns::Bytes, text, edits)
}

fn applied_in(columns: Columns, text: &str, edits: &Value) -> String {
    let mut starts = vec![0];
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' || byte == b'\r' && text.as_bytes().get(at + 1) != Some(&b'\n') {
            starts.push(at + 1);
        }
    }
    let offset = |at: &Value| {
        let start = starts[at["line"].as_u64().unwrap() as usize];
        start + columns.bytes(&text[start..], at["character"].as_u64().unwrap() as usize)
    };
    let mut all: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let range = &it["range"];
            (offset(&range["start"]), offset(&range["end"]), it["newText"].as_str().unwrap())
        })
        .collect();
    all.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in all.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}
