//! Text cases: `test_data/FEATURE/NAME.md` has a source with a cursor, `$0`, or a range, `$0…$1`, and what
//! the server answers. `UPDATE_EXPECT=1` writes the answers again: read the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::client::{Client, uri, workspace};

/// A case: files, the place of the request, what comes with it, and the answer.
struct Case {
    title: String,
    /// The first one has the place.
    files: Vec<(String, String)>,
    at: Option<(usize, usize)>,
    with: Option<String>,
    answer: String,
}

fn parse(text: &str) -> Case {
    let mut case = Case {
        title: String::new(),
        files: Vec::new(),
        at: None,
        with: None,
        answer: String::new(),
    };
    let mut lines = text.lines();
    case.title = lines.next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let mut open: Option<(String, String)> = None;
    for line in lines {
        match (&mut open, line.strip_prefix("````")) {
            (None, Some(info)) => open = Some((info.trim().to_owned(), String::new())),
            (Some(_), Some(_)) => {
                let (info, body) = open.take().unwrap();
                match info.split_once(' ').unwrap_or((&info, "")) {
                    ("file", name) => case.files.push((name.to_owned(), body)),
                    ("with", _) => case.with = Some(body.trim_end().to_owned()),
                    ("answer", _) => case.answer = body,
                    other => panic!("an unknown block {other:?}"),
                }
            }
            (Some((_, body)), None) => {
                body.push_str(line);
                body.push('\n');
            }
            (None, None) => {}
        }
    }
    let (_, source) = case.files.first_mut().expect("a case has a file");
    if let Some(start) = source.find("$0") {
        source.replace_range(start..start + 2, "");
        let end = source.find("$1");
        if let Some(end) = end {
            source.replace_range(end..end + 2, "");
        }
        case.at = Some((start, end.unwrap_or(start)));
    }
    case
}

fn position(text: &str, at: usize) -> Value {
    let line = text[..at].matches('\n').count();
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    json!({ "line": line, "character": at - start })
}

/// The text of a range.
fn slice<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |at: &Value| {
        let line = at["line"].as_u64().unwrap() as usize;
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
        let start = starts.into_iter().nth(line).unwrap_or(text.len());
        (start + at["character"].as_u64().unwrap() as usize).min(text.len())
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

fn place(range: &Value) -> String {
    let at = |it: &Value| {
        format!("{}:{}", it["line"].as_u64().unwrap() + 1, it["character"].as_u64().unwrap() + 1)
    };
    format!("{}-{}", at(&range["start"]), at(&range["end"]))
}

struct Session {
    client: Client,
    root: PathBuf,
    files: Vec<(String, String)>,
}

impl Session {
    fn uri(&self) -> String {
        uri(&self.root.join(&self.files[0].0))
    }

    fn name(&self, uri: &Value) -> String {
        let top = super::client::uri(&self.root);
        uri.as_str().unwrap().trim_start_matches(&top).trim_start_matches('/').to_owned()
    }

    fn text(&self, name: &str) -> &str {
        self.files.iter().find(|(it, _)| it == name).map_or("", |(_, text)| text)
    }

    fn places(&self, answer: &Value) -> String {
        let mut out = String::new();
        for it in answer.as_array().into_iter().flatten() {
            let name = self.name(&it["uri"]);
            let text = slice(self.text(&name), &it["range"]);
            let _ = writeln!(out, "{name} {} {text:?}", place(&it["range"]));
        }
        out
    }

    /// Every file that a change touches, as it is afterwards.
    fn edited(&self, edit: &Value) -> String {
        let mut out = String::new();
        for change in edit["documentChanges"].as_array().into_iter().flatten() {
            let name = self.name(&change["textDocument"]["uri"]);
            let after = apply(self.text(&name), &change["edits"]);
            let _ = write!(out, "--- {name}\n{after}");
        }
        out
    }
}

/// A text after edits.
fn apply(text: &str, edits: &Value) -> String {
    let mut all: Vec<(usize, usize, &str)> = edits
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let old = slice(text, &it["range"]);
            let start = old.as_ptr() as usize - text.as_ptr() as usize;
            (start, start + old.len(), it["newText"].as_str().unwrap())
        })
        .collect();
    all.sort();
    let mut out = text.to_owned();
    for (start, end, new) in all.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

fn run(feature: &str, case: &Case) -> String {
    let files: Vec<(&str, &str)> =
        case.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let (_folder, root) = workspace(&files);
    let mut client = Client::start(Some(&root));
    let (name, text) = files[0];
    client.open(&uri(&root.join(name)), text);
    let files = case.files.clone();
    let mut session = Session { client, root, files };
    let answer = match request(feature, case, &mut session, text) {
        Ok(answer) => answer,
        Err(refused) => format!("refused: {refused}\n"),
    };
    assert_eq!(session.client.end(), opal_lsp::Ended::Well, "{}", case.title);
    answer
}

/// What is sent with a request about a place.
struct Asked {
    document: Value,
    range: Value,
    here: Value,
}

fn request(
    feature: &str,
    case: &Case,
    session: &mut Session,
    text: &str,
) -> Result<String, String> {
    let document = json!({ "uri": session.uri() });
    let (start, end) = case.at.unwrap_or_default();
    let range = json!({ "start": position(text, start), "end": position(text, end) });
    let here = json!({ "textDocument": document, "position": position(text, start) });
    let asked = Asked { document, range, here };
    match at_cursor(feature, case, session, text, &asked) {
        Some(answer) => answer,
        None => match feature {
            "diagnostics" => diagnostics(session, text, &asked),
            "actions" => actions(session, &asked),
            "formatting" => formatting(case, session, text, &asked),
            "symbols" => all_symbols(case, session, &asked),
            _ => of_file(feature, session, text, &asked),
        },
    }
}

fn at_cursor(
    feature: &str,
    case: &Case,
    session: &mut Session,
    text: &str,
    asked: &Asked,
) -> Option<Result<String, String>> {
    let with = |more: Value| {
        let mut params = asked.here.clone();
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        params
    };
    let (method, more) = match feature {
        "hover" => ("hover", json!({})),
        "completion" => ("completion", json!({})),
        "signature" => ("signatureHelp", json!({})),
        "definition" => ("definition", json!({})),
        "references" => ("references", json!({ "context": { "includeDeclaration": true } })),
        "highlights" => ("documentHighlight", json!({})),
        "rename" => ("rename", json!({ "newName": case.with })),
        _ => return None,
    };
    if feature == "rename" {
        let prepared = session.client.request("textDocument/prepareRename", with(json!({})));
        if let Err(refused) = prepared {
            return Some(Err(refused));
        }
    }
    let found = match session.client.request(&format!("textDocument/{method}"), with(more)) {
        Ok(found) => found,
        Err(refused) => return Some(Err(refused)),
    };
    let highlight = |it: &Value| {
        let kind = if it["kind"] == 3 { "write" } else { "read" };
        format!("{} {kind}\n", place(&it["range"]))
    };
    Some(Ok(match feature {
        "hover" => found["contents"]["value"]
            .as_str()
            .map_or("nothing\n".to_owned(), |it| format!("{}\n", it.trim_end())),
        "completion" => completions(text, &found, &case.with),
        "signature" => signatures(&found),
        "definition" => session.places(&json!(if found.is_null() { vec![] } else { vec![found] })),
        "references" => session.places(&found),
        "highlights" => found.as_array().into_iter().flatten().map(highlight).collect(),
        _ => session.edited(&found),
    }))
}

fn diagnostics(session: &mut Session, text: &str, asked: &Asked) -> Result<String, String> {
    let uri = session.uri();
    let found = session.client.diagnostics(&uri, 1);
    let params = json!({ "textDocument": asked.document });
    let pulled = session.client.request("textDocument/diagnostic", params)?;
    assert_eq!(pulled["items"], found, "what is asked for is what is published");
    Ok(shown_diagnostics(session, text, &found))
}

fn actions(session: &mut Session, asked: &Asked) -> Result<String, String> {
    let context = json!({ "diagnostics": [] });
    let params =
        json!({ "textDocument": asked.document, "range": asked.range, "context": context });
    let found = session.client.request("textDocument/codeAction", params)?;
    let mut out = String::new();
    for action in found.as_array().into_iter().flatten() {
        let _ = writeln!(out, "=== {}", action["title"].as_str().unwrap());
        match action["disabled"]["reason"].as_str() {
            Some(reason) => drop(writeln!(out, "disabled: {reason}")),
            None => out.push_str(&session.edited(&action["edit"])),
        }
    }
    Ok(out)
}

fn formatting(
    case: &Case,
    session: &mut Session,
    text: &str,
    asked: &Asked,
) -> Result<String, String> {
    let method = match case.at {
        Some(_) => "textDocument/rangeFormatting",
        None => "textDocument/formatting",
    };
    let options = json!({ "tabSize": 4, "insertSpaces": true });
    let params =
        json!({ "textDocument": asked.document, "options": options, "range": asked.range });
    let found = session.client.request(method, params)?;
    Ok(if found.is_null() { "nothing\n".to_owned() } else { apply(text, &found) })
}

fn all_symbols(case: &Case, session: &mut Session, asked: &Asked) -> Result<String, String> {
    let mut out = String::new();
    let Some(query) = &case.with else {
        let params = json!({ "textDocument": asked.document });
        symbols(&session.client.request("textDocument/documentSymbol", params)?, 0, &mut out);
        return Ok(out);
    };
    let found = session.client.request("workspace/symbol", json!({ "query": query }))?;
    for it in found.as_array().into_iter().flatten() {
        let container = it["containerName"].as_str().unwrap();
        let _ = writeln!(out, "{} in {container}", it["name"].as_str().unwrap());
    }
    Ok(out)
}

fn of_file(
    feature: &str,
    session: &mut Session,
    text: &str,
    asked: &Asked,
) -> Result<String, String> {
    let method = match feature {
        "folding" => "foldingRange",
        "selection" => "selectionRange",
        "tokens" => "semanticTokens/full",
        "lens" => "codeLens",
        other => panic!("no feature is called {other}"),
    };
    let positions = [&asked.here["position"]];
    let params = json!({ "textDocument": asked.document, "positions": positions });
    let found = session.client.request(&format!("textDocument/{method}"), params)?;
    let all = found.as_array().into_iter().flatten();
    Ok(match feature {
        "folding" => all
            .map(|it| {
                let line = |end: &str| it[end].as_u64().unwrap() + 1;
                let kind = it["kind"].as_str().unwrap_or("block");
                format!("{}-{} {kind}\n", line("startLine"), line("endLine"))
            })
            .collect(),
        "selection" => {
            let (mut out, mut next) = (String::new(), &found[0]);
            while next.is_object() {
                let _ = writeln!(out, "{:?}", slice(text, &next["range"]));
                next = &next["parent"];
            }
            out
        }
        "tokens" => tokens(text, &found),
        _ => all
            .map(|it| {
                let line = it["range"]["start"]["line"].as_u64().unwrap() + 1;
                let command = &it["command"];
                let title = command["title"].as_str().unwrap();
                format!("{line}: {title} {}\n", command["arguments"][1])
            })
            .collect(),
    })
}

fn shown_diagnostics(session: &Session, text: &str, found: &Value) -> String {
    let mut out = String::new();
    for it in found.as_array().into_iter().flatten() {
        let (code, range) = (it["code"].as_str().unwrap(), &it["range"]);
        let href = it["codeDescription"]["href"].as_str().unwrap();
        assert_eq!(href, format!("opal-page:/{code}.md"));
        let message = it["message"].as_str().unwrap().replace('\n', "\n  ");
        let tags =
            if it["tags"].is_null() { String::new() } else { format!(" tags {}", it["tags"]) };
        let _ =
            writeln!(out, "{} {code} {:?}{tags}\n  {message}", place(range), slice(text, range));
        for related in it["relatedInformation"].as_array().into_iter().flatten() {
            let location = &related["location"];
            let name = session.name(&location["uri"]);
            let said = related["message"].as_str().unwrap();
            let _ = writeln!(out, "  {name} {}: {said}", place(&location["range"]));
        }
    }
    out
}

/// The items in their order: all, or those whose label begins with a text.
fn completions(text: &str, found: &Value, wanted: &Option<String>) -> String {
    let mut items: Vec<&Value> = found.as_array().into_iter().flatten().collect();
    let key = |it: &&Value| it["sortText"].as_str().or(it["label"].as_str()).unwrap().to_owned();
    items.sort_by_key(key);
    let mut out = String::new();
    for it in items {
        let label = it["label"].as_str().unwrap();
        if wanted.as_ref().is_some_and(|wanted| !label.starts_with(wanted)) {
            continue;
        }
        let edit = &it["textEdit"];
        let old = slice(text, &edit["range"]);
        let new = edit["newText"].as_str().unwrap();
        let detail = it["detail"].as_str().unwrap_or_default();
        let _ = writeln!(out, "{label}: {old:?} -> {new:?} {detail}");
    }
    out
}

fn signatures(found: &Value) -> String {
    let Some(one) = found["signatures"].get(0) else { return "nothing\n".to_owned() };
    let active =
        found["activeParameter"].as_u64().map(|at| &one["parameters"][at as usize]["label"]);
    format!("{}\nactive: {}\n", one["label"].as_str().unwrap(), active.unwrap_or(&Value::Null))
}

fn symbols(all: &Value, depth: usize, out: &mut String) {
    for it in all.as_array().into_iter().flatten() {
        let detail = it["detail"].as_str().unwrap_or_default();
        let (name, kind) = (it["name"].as_str().unwrap(), &it["kind"]);
        let place = place(&it["selectionRange"]);
        let _ =
            writeln!(out, "{:indent$}{name} {detail} kind {kind} {place}", "", indent = depth * 2);
        symbols(&it["children"], depth + 1, out);
    }
}

fn tokens(text: &str, found: &Value) -> String {
    let types = [
        "variable",
        "parameter",
        "runTimeValue",
        "function",
        "namespace",
        "planTimeDecorator",
        "runTimeDecorator",
        "property",
    ];
    let numbers: Vec<u64> =
        found["data"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).collect();
    let (mut line, mut column, mut out) = (0, 0, String::new());
    for it in numbers.chunks(5) {
        column = if it[0] == 0 { column + it[1] } else { it[1] };
        line += it[0];
        let end = json!({ "line": line, "character": column + it[2] });
        let range = json!({ "start": { "line": line, "character": column }, "end": end });
        let modifiers = ["", " declared", " changed"][it[4] as usize];
        let _ = writeln!(
            out,
            "{}: {:?} {}{modifiers}",
            line + 1,
            slice(text, &range),
            types[it[3] as usize]
        );
    }
    out
}

fn with_answer(text: &str, answer: &str) -> String {
    let start = text.find("````answer\n").expect("a case has an answer") + "````answer\n".len();
    let end = start + text[start..].find("````").expect("a block ends");
    format!("{}{answer}{}", &text[..start], &text[end..])
}

#[test]
fn every_case_has_the_answer_that_it_says() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_data");
    let mut count = 0;
    let mut failed = Vec::new();
    let mut features: Vec<PathBuf> =
        std::fs::read_dir(&top).unwrap().map(|it| it.unwrap().path()).collect();
    features.sort();
    for feature in features {
        let name = feature.file_name().unwrap().to_string_lossy().into_owned();
        let mut cases: Vec<PathBuf> =
            std::fs::read_dir(&feature).unwrap().map(|it| it.unwrap().path()).collect();
        cases.sort();
        for path in cases {
            count += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let case = parse(&text);
            let answer = run(&name, &case);
            if answer == case.answer {
                continue;
            }
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                std::fs::write(&path, with_answer(&text, &answer)).unwrap();
            } else {
                failed.push(format!("{}\n{answer}", path.display()));
            }
        }
    }
    assert!(count > 40, "only {count} cases were found");
    assert!(failed.is_empty(), "other answers than expected:\n{}", failed.join("\n"));
}
