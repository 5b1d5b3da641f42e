//! The language server beside `opal check` of the same file: how long edits and requests take.
//!
//! A bar is a ratio to `opal check` of the same file in the same session, which took 5.1 ms when the bars were
//! set. A slower `opal check` widens them, so what `bash -c true` makes of each bar is shown too.

mod client;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::client::Client;
use super::runs::UNIT_MS;
use super::{installed, judge, medians, text, write};
use crate::chores::release;
use crate::say;

const LINES: usize = 5_000;
const LARGE: usize = 60_000;

/// What `opal check` of the smaller file took where the bars were set; the larger one has as many such files.
const CHECK_MS: f64 = 5.1;
const LARGER: f64 = (LARGE / LINES) as f64;

/// Files of a workspace that use one function, all of them open.
const FILES: usize = 50;

const ROUNDS: usize = 1_000;
const QUICK_ROUNDS: usize = 100;

/// Rounds of what takes the whole workspace or a large file.
const FEW: usize = 50;

const STARTS: usize = 21;

/// Edits after which memory is compared with what it was before most of them.
const EDITS: usize = 100_000;
const QUICK_EDITS: usize = 5_000;

/// Kilobytes with all files open, and how much more there may be after many edits.
const MEMORY_KB: u64 = 60_000;
const GROWTH_KB: u64 = 2_000;

/// Requests at a place, about a file, and about the whole workspace: name, parameters, milliseconds.
const AT_PLACE: [&str; 5] =
    ["completion", "hover", "signatureHelp", "definition", "documentHighlight"];
const OF_FILE: [&str; 3] = ["semanticTokens/full", "documentSymbol", "foldingRange"];
const PLACE_MS: f64 = 5.0;
const FILE_MS: f64 = 10.0;
const EDIT_MS: f64 = 15.0;
const FORMAT_MS: f64 = 10.0;
const WORKSPACE_MS: f64 = 60.0;
const START_MS: f64 = 50.0;
const LARGE_MS: f64 = 120.0;

/// What a person types in the middle of a line.
const PIECES: [&str; 8] = ["x", "@var.", "\"", "@", "(", "echo ", "}", " @env.HOME"];

/// Says how long each takes; fails where a bar is missed and `bars` asks for that.
pub(crate) fn compare(root: &Path, bars: bool, quick: bool) -> Result<(), String> {
    release(root)?;
    let folder = root.join("target/bench/editor");
    let opal = installed(root)?;
    let rounds = if quick { QUICK_ROUNDS } else { ROUNDS };
    let mut bench = Bench {
        opal,
        folder,
        scale: 1.0,
        check: CHECK_MS,
        numbers: Numbers(7),
        missed: Vec::new(),
    };
    bench.reference()?;
    bench.file(rounds)?;
    bench.start()?;
    bench.large()?;
    bench.workspace(if quick { QUICK_EDITS } else { EDITS })?;
    judge(bars, &bench.missed)
}

struct Bench {
    opal: PathBuf,
    folder: PathBuf,
    /// How much slower this machine is than the one of the bars.
    scale: f64,
    /// What `opal check` takes here.
    check: f64,
    numbers: Numbers,
    missed: Vec<String>,
}

impl Bench {
    /// `opal check` of the same file: milliseconds.
    fn checked(&self, name: &str, lines: usize) -> Result<f64, String> {
        let folder = self.folder.join(name);
        write(&folder, "commands.opl", &source(lines))?;
        let line = [text(&self.opal)?, "check", "commands.opl"].map(str::to_owned).to_vec();
        Ok(millis(medians(&folder, &[line], STARTS)?[0]))
    }

    fn reference(&mut self) -> Result<(), String> {
        let took = self.checked("file", LINES)?;
        let line = ["bash", "-c", "true"].map(str::to_owned).to_vec();
        let unit = millis(medians(&self.folder, &[line], STARTS)?[0]);
        (self.scale, self.check) = (unit / UNIT_MS, took);
        say(&format!("bash -c true {unit:>43.2} ms ({UNIT_MS} where the bars were set)"));
        say(&format!("opal check, {LINES} lines {took:>31.2} ms"));
        Ok(())
    }

    fn open(&self, name: &str, lines: usize) -> Result<Opened, String> {
        let folder = self.folder.join(name);
        let text = source(lines);
        write(&folder, "commands.opl", &text)?;
        let mut client = Client::start(&self.opal, &folder)?;
        let uri = format!("file://{}/commands.opl", folder.display());
        client.open(&uri, &text)?;
        client.published(&uri, 1)?;
        Ok(Opened { client, uri, lines: lengths(&text), version: 1 })
    }

    fn tell(&mut self, name: &str, mut took: Vec<Duration>, bar: f64) {
        took.sort();
        let high = millis(took[(took.len() * 95).div_ceil(100) - 1]);
        let (middle, most) = (millis(took[took.len() / 2]), bar / CHECK_MS);
        let (ratio, shown) = (high / self.check, bar * self.scale);
        say(&format!(
            "{name:<36} p95 {high:>9.2} ms   median {middle:>8.2} ms   × {ratio:.2} of opal check (bar \
             {most:.2}); {bar:.0} ms are {shown:.1} here"
        ));
        if ratio > most {
            self.missed.push(format!("{name}: × {ratio:.2}, bar {most:.2}"));
        }
    }

    /// Requests at random places after random edits; each edit is taken back in the next round.
    fn file(&mut self, rounds: usize) -> Result<(), String> {
        let mut file = self.open("file", LINES)?;
        let mut edits = Vec::with_capacity(2 * rounds);
        let names = || AT_PLACE.into_iter().chain(OF_FILE).chain(["formatting"]);
        let mut took: Vec<Vec<Duration>> = names().map(|_| Vec::with_capacity(rounds)).collect();
        for _ in 0..rounds {
            let (line, column) = file.place(&mut self.numbers);
            let piece = PIECES[self.numbers.below(PIECES.len())];
            edits.push(file.edit(line, column, column, piece)?);
            for (name, took) in names().zip(&mut took) {
                let (line, character) = file.place(&mut self.numbers);
                let mut asked = json!({ "textDocument": { "uri": file.uri } });
                if AT_PLACE.contains(&name) {
                    asked["position"] = json!({ "line": line, "character": character });
                }
                if name == "formatting" {
                    asked["options"] = json!({ "tabSize": 4, "insertSpaces": true });
                }
                took.push(file.client.asked(&format!("textDocument/{name}"), &asked)?.0);
            }
            edits.push(file.edit(line, column, column + piece.len(), "")?);
        }
        file.client.end()?;
        self.tell("edit → diagnostics", edits, EDIT_MS);
        for (name, took) in names().zip(took) {
            let bar = match name {
                "formatting" => FORMAT_MS,
                name if OF_FILE.contains(&name) => FILE_MS,
                _ => PLACE_MS,
            };
            self.tell(name, took, bar);
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), String> {
        let mut took = Vec::with_capacity(STARTS);
        for _ in 0..STARTS {
            let since = Instant::now();
            let file = self.open("file", LINES)?;
            took.push(since.elapsed());
            file.client.end()?;
        }
        self.tell("start → first diagnostics", took, START_MS);
        Ok(())
    }

    fn large(&mut self) -> Result<(), String> {
        let check = self.checked("large", LARGE)?;
        say(&format!("opal check, {LARGE} lines {check:>30.2} ms"));
        let smaller = std::mem::replace(&mut self.check, check / LARGER);
        let mut file = self.open("large", LARGE)?;
        let mut took = Vec::with_capacity(2 * FEW);
        for _ in 0..FEW {
            let (line, column) = file.place(&mut self.numbers);
            took.push(file.edit(line, column, column, "x")?);
            took.push(file.edit(line, column, column + 1, "")?);
        }
        file.client.end()?;
        self.tell(&format!("{LARGE} lines: edit → diagnostics"), took, LARGE_MS);
        self.check = smaller;
        Ok(())
    }

    /// A function that all files use is looked for and renamed; then one file is edited for a long time.
    fn workspace(&mut self, edits: usize) -> Result<(), String> {
        let folder = self.folder.join("workspace");
        write(&folder, "lib.opl", "fun notify(text: String) {\n    echo @var.text\n}\n")?;
        let mut client = Client::start(&self.opal, &folder)?;
        let uri = |name: &str| format!("file://{}/{name}", folder.display());
        let body = source(LINES);
        let user = format!(
            "import \"lib.opl\"\n\nfun ship() {{\n    @cmd.lib.notify(\"x\")\n}}\n\n{body}"
        );
        for index in 0..FILES {
            let name = format!("part{index}.opl");
            write(&folder, &name, &user)?;
            client.open(&uri(&name), &user)?;
        }
        for index in 0..FILES {
            client.published(&uri(&format!("part{index}.opl")), 1)?;
        }
        let lib = uri("lib.opl");
        client.open(&lib, "fun notify(text: String) {\n    echo @var.text\n}\n")?;
        client.published(&lib, 1)?;
        let place = json!({ "line": 0, "character": 5 });
        for (name, more) in [
            ("references", json!({ "context": { "includeDeclaration": true } })),
            ("rename", json!({ "newName": "announce" })),
        ] {
            let mut asked = more;
            asked["textDocument"] = json!({ "uri": lib });
            asked["position"] = place.clone();
            let mut took = Vec::with_capacity(FEW);
            for _ in 0..FEW {
                let (time, found) = client.asked(&format!("textDocument/{name}"), &asked)?;
                let count = places(&found);
                if count != FILES + 1 {
                    return Err(format!("{name}: {count} places of {}", FILES + 1));
                }
                took.push(time);
            }
            self.tell(&format!("{name} over {FILES} files"), took, WORKSPACE_MS);
        }
        let opened = client.memory()?;
        self.most(&format!("memory with {FILES} files open"), opened, MEMORY_KB);
        let mut file =
            Opened { client, uri: uri("short.opl"), lines: lengths(&source(200)), version: 1 };
        file.client.open(&file.uri, &source(200))?;
        file.client.published(&file.uri, 1)?;
        let mut before = 0;
        for index in 0..edits / 2 {
            let (line, column) = file.place(&mut self.numbers);
            let piece = PIECES[self.numbers.below(PIECES.len())];
            file.edit(line, column, column, piece)?;
            file.edit(line, column, column + piece.len(), "")?;
            if index == edits / 20 {
                before = file.client.memory()?;
            }
        }
        let growth = file.client.memory()?.saturating_sub(before);
        file.client.end()?;
        self.most(&format!("growth over {edits} edits"), growth, GROWTH_KB);
        Ok(())
    }

    fn most(&mut self, name: &str, kilobytes: u64, bar: u64) {
        let megabytes = |kilobytes: u64| kilobytes as f64 / 1_000.0;
        let (found, most) = (megabytes(kilobytes), megabytes(bar));
        say(&format!("{name:<36} {found:>13.1} MB   (bar {most:.0})"));
        if kilobytes > bar {
            self.missed.push(format!("{name}: {found:.1} MB, bar {most:.0}"));
        }
    }
}

/// A file in the editor.
struct Opened {
    client: Client,
    uri: String,
    /// Bytes of each line.
    lines: Vec<usize>,
    version: i64,
}

impl Opened {
    fn place(&self, numbers: &mut Numbers) -> (usize, usize) {
        let line = numbers.below(self.lines.len());
        (line, numbers.below(self.lines[line] + 1))
    }

    /// Replaces a part of a line; how long until its diagnostics are there.
    fn edit(
        &mut self,
        line: usize,
        from: usize,
        to: usize,
        with: &str,
    ) -> Result<Duration, String> {
        self.version += 1;
        let at = |character: usize| json!({ "line": line, "character": character });
        let change = json!({ "range": { "start": at(from), "end": at(to) }, "text": with });
        let params = json!({
            "textDocument": { "uri": self.uri, "version": self.version },
            "contentChanges": [change],
        });
        let since = Instant::now();
        self.client.notify("textDocument/didChange", &params)?;
        Ok(self.client.published(&self.uri, self.version)? - since)
    }
}

/// Numbers that are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

fn lengths(text: &str) -> Vec<usize> {
    text.lines().map(str::len).collect()
}

/// Places in an answer: a list of locations, or edits by file.
fn places(answer: &Value) -> usize {
    if let Some(list) = answer.as_array() {
        return list.len();
    }
    let edits = |of: &Value| of["edits"].as_array().map_or(0, Vec::len);
    match answer["documentChanges"].as_array() {
        Some(files) => files.iter().map(edits).sum(),
        None => {
            let files = answer["changes"].as_object();
            files.map_or(0, |files| files.values().filter_map(Value::as_array).map(Vec::len).sum())
        }
    }
}

/// Functions of 23 lines with what people write.
fn source(lines: usize) -> String {
    let mut text = String::from("var REGISTRY = \"registry.example\"\nvar TAG = \"v1\"\n\n");
    for index in 0..(lines - 3) / 23 {
        let _ = write!(
            text,
            "// Builds and ships part {index}.\n\
             fun part{index}(target: \"dev\" | \"prod\", count: Int = {count}, fast: Bool = false) {{\n    \
                 var image = \"@var.REGISTRY/part{index}:@var.TAG\"\n    \
                 docker build --tag @var.image --build-arg TARGET=@var.target .\n    \
                 if fast {{\n        \
                     echo \"part {index} without tests for @var.target\"\n    \
                 }} else {{\n        \
                     cargo test --package part{index} && echo tested\n    \
                 }}\n    \
                 for zone in [\"a\", \"b\", \"c\"] {{\n        \
                     kubectl --namespace @var.target-@var.zone apply -f deploy/part{index}.yaml\n    \
                 }}\n    \
                 @retry(3, delay=1s) {{\n        \
                     curl --fail \"https://@env.HOST/part{index}/health?count=@var.count\"\n    \
                 }}\n    \
                 when target {{\n        \
                     \"prod\" -> docker push @var.image\n        \
                     \"dev\" -> echo \"not pushed\"\n    \
                 }}\n    \
                 echo done | tee part{index}.log\n\
             }}\n\n",
            count = index % 7
        );
    }
    text
}
