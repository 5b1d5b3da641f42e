//! A client that keeps texts as an editor does, and talks to a process.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(super) struct Editor {
    child: Child,
    output: BufReader<ChildStdout>,
    next: u64,
    published: Vec<Value>,
}

impl Editor {
    pub(super) fn start(command: &mut Command, root: &Path) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).current_dir(root).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut editor = Self { child, output, next: 0, published: Vec::new() };
        let capabilities = json!({ "general": { "positionEncodings": ["utf-8"] } });
        let params = json!({
            "processId": null,
            "rootUri": format!("file://{}", root.display()),
            "capabilities": capabilities,
        });
        let hello = editor.request("initialize", &params);
        assert_eq!(hello["result"]["serverInfo"]["name"], "opal");
        editor.notify("initialized", &json!({}));
        editor
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kilobytes of memory that the server has now.
    pub(super) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    fn write(&mut self, message: &Value) {
        let text = message.to_string();
        let mut input = self.child.stdin.as_ref().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole answer to a request.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
            self.published.push(message);
        }
    }

    pub(super) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "opal", "version": 1, "text": text });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    pub(super) fn change(&mut self, uri: &str, version: i32, changes: &Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": changes });
        self.notify("textDocument/didChange", &params);
    }

    /// Waits for the diagnostics of a version.
    pub(super) fn diagnostics(&mut self, uri: &str, version: i32) -> Value {
        loop {
            let message = match self.published.is_empty() {
                true => self.read(),
                false => self.published.remove(0),
            };
            let params = &message["params"];
            if params["uri"] == uri && params["version"] == version {
                return params["diagnostics"].clone();
            }
        }
    }

    pub(super) fn end(mut self) -> Option<i32> {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.child.wait().unwrap().code()
    }
}

/// What random edits begin with.
pub(super) const START: &str = "import \"db.opl\"\n\n// Builds.\nfun build(target: \"dev\" | \"prod\", \
    fast: Bool = false) {\n    var out = \"dist\"\n    let.when = @shell(\"date\")\n    for name in \
    [\"a\", \"b\"] {\n        echo @var.target @var.name @var.out\n    }\n    if fast {\n        \
    echo \"@let.when.stdout\"\n    }\n}\n\nfun all() {\n    @needs.build(\"dev\")\n    \
    @cmd.db.migrate(steps=3)\n    @retry(3, delay=1s) {\n        curl @env.URL\n    }\n}\n";

const PIECES: [&str; 32] = [
    "fun ",
    "build(",
    ") {\n",
    "}\n",
    "\n",
    "var x = ",
    "@var.x",
    "@cmd.db.migrate()\n",
    "let.out = @shell(\"date\")\n",
    "@let.out",
    "echo ",
    "\"",
    "'",
    "if x == \"a\" {\n",
    "for n in [1, 2] {\n",
    "@retry(3) {\n",
    "// words\n",
    "ü",
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
    "plan",
    "import \"db.opl\" as z\n",
    "@",
    "\\",
];

/// Numbers that are the same each time.
pub(super) struct Numbers(u64);

impl Numbers {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// Where the lines begin, as the protocol counts them.
fn starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends = (0..bytes.len()).filter(|at| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    std::iter::once(0).chain(ends.map(|at| at + 1)).collect()
}

/// The byte of a position whose columns count bytes.
pub(super) fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    starts(text)[line] + position["character"].as_u64().unwrap() as usize
}

/// A position somewhere in a text.
pub(super) fn somewhere(text: &str, numbers: &mut Numbers) -> Value {
    let mut at = numbers.below(text.len() + 1);
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
        at -= 1;
    }
    position(text, at)
}

/// A text after edits.
pub(super) fn applied(text: &str, edits: &Value) -> String {
    let edits = edits.as_array().unwrap().iter();
    let mut edits: Vec<(usize, usize, &str)> = edits
        .map(|it| {
            let at = |end: &str| offset(text, &it["range"][end]);
            (at("start"), at("end"), it["newText"].as_str().unwrap())
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}

fn position(text: &str, at: usize) -> Value {
    let starts = starts(text);
    let line = starts.partition_point(|start| *start <= at) - 1;
    json!({ "line": line, "character": at - starts[line] })
}

/// One more edit of a text: the change as the protocol has it.
pub(super) fn edit(text: &mut String, numbers: &mut Numbers) -> Value {
    let boundary = |mut at: usize| {
        // The end of a line is never between its two bytes.
        while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
            at -= 1;
        }
        at
    };
    let start = boundary(numbers.below(text.len() + 1));
    let end = boundary((start + numbers.below(12)).min(text.len())).max(start);
    let piece = PIECES[numbers.below(PIECES.len())];
    let range = json!({ "start": position(text, start), "end": position(text, end) });
    text.replace_range(start..end, piece);
    json!({ "range": range, "text": piece })
}
