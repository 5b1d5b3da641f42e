//! What a fix and an extraction leave as it was: the plans of tasks.

use std::path::Path;
use std::process::{Command, Stdio};

use opal_helper::BUILD;
use serde_json::{Value, json};

use super::editor::{Editor, applied};
use super::{opal, server};

/// What a plan does: its steps, without their names, and without the calls of functions around them.
fn flat(steps: &Value) -> Value {
    let mut all = Vec::new();
    for step in steps.as_array().into_iter().flatten() {
        let mut step = step.clone();
        let block = flat(&step["block"]);
        if step["decorator"] == "@cmd" {
            all.extend(block.as_array().unwrap().iter().cloned());
            continue;
        }
        step["path"] = Value::Null;
        step["block"] = block;
        all.push(step);
    }
    Value::Array(all)
}

fn plan(root: &Path, task: &str) -> Value {
    let ran = Command::new(opal())
        .args(["run", task, "--dry-run", "--json"])
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let document: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    let steps = flat(&document["steps"]);
    assert_eq!(steps.as_array().unwrap().len(), 4, "{document}");
    steps
}

/// The first place of `word`.
fn range(text: &str, word: &str) -> Value {
    let at = text.find(word).unwrap();
    let position = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
        json!({ "line": text[..at].matches('\n').count(), "character": at - start })
    };
    json!({ "start": position(at), "end": position(at + word.len()) })
}

const TEXT: &str = "fun deploy() {\n    var place = \"site\"\n    mkdir -p \"@var.place/a\"\n    \
                    echo first\n    echo \"to @var.place\"\n    @retry(2, delay=1s) {\n        \
                    echo again\n    }\n}\n\nfun other() {\n    @cmd.deplyo()\n}\n";

#[test]
fn an_extraction_and_a_fix_leave_the_plan_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let file = root.join("commands.opl");
    let good = TEXT.replace("deplyo", "deploy");
    std::fs::write(&file, &good).unwrap();
    let before = plan(&root, "deploy");
    let mut editor = Editor::start(Command::new(server()).args(["lsp", BUILD]), &root);
    let uri = format!("file://{}", file.display());
    let cases = [
        (TEXT, "@cmd.deplyo", "write `@cmd.deploy`"),
        (&good, "\"site\"", "extract a variable"),
        (&good, "echo first\n    echo \"to @var.place\"", "extract a function"),
        (&good, "echo again", "extract a function"),
    ];
    for (version, (text, word, title)) in (1..).zip(cases) {
        if version == 1 {
            editor.open(&uri, text);
        } else {
            editor.change(&uri, version, &json!([{ "text": text }]));
        }
        editor.diagnostics(&uri, version);
        let params = json!({
            "textDocument": { "uri": uri },
            "range": range(text, word),
            "context": { "diagnostics": [] },
        });
        let answer = editor.request("textDocument/codeAction", &params);
        let mut actions = answer["result"].as_array().unwrap().iter();
        let action = actions.find(|it| it["title"] == title && it["edit"].is_object());
        let action = action.unwrap_or_else(|| panic!("{title}: {answer}"));
        let changed = applied(text, &action["edit"]["changes"][&uri]);
        assert_ne!(changed, text);
        std::fs::write(&file, &changed).unwrap();
        assert_eq!(plan(&root, "deploy"), before, "{title}:\n{changed}");
    }
    assert_eq!(editor.end(), Some(0));
}
