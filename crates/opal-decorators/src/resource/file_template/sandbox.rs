//! Renders a template in a process of its own, which may use so much memory and CPU time.
//!
//! A template that only puts values into text is rendered here. One that computes can ask for any
//! amount of memory in a few words (`batch(1000000000)`, a text doubled forty times), and no count of
//! steps sees that: only the system can refuse it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use opal_core::{Data, Secret, starting};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::engine::{Fault, MAX_OUTPUT, Reason, Template};
use opal_core::gather::Gather as _;

/// Memory of the process, in bytes.
const MAX_MEMORY: u64 = 768 << 20;

/// Its CPU time, in seconds.
const MAX_SECONDS: u64 = 30;

/// What precedes the output, or what is wrong.
const RENDERED: u8 = b'=';
const FAULTY: u8 = b'!';

/// How the program is found, and the word it is called with.
type Program = (fn() -> Option<PathBuf>, &'static str);

static PROGRAM: OnceLock<Program> = OnceLock::new();

/// From now on templates that compute are rendered by this program, which is opal, called with this
/// word.
pub fn render_with(program: fn() -> Option<PathBuf>, word: &'static str) {
    // The first one stays.
    let _ = PROGRAM.set((program, word));
}

/// Whether a template may be rendered in the process that runs everything else.
pub(super) fn is_tame(jinja: &str) -> bool {
    let mut rest = jinja;
    while let Some(at) = rest.find("{{").into_iter().chain(rest.find("{%")).min() {
        let end = if rest[at..].starts_with("{{") { "}}" } else { "%}" };
        let Some((tag, following)) = rest[at + 2..].split_once(end) else { return false };
        // Where a text holds what looks like the end of its tag, the tag goes on.
        if ends_in_text(tag) || !is_tame_tag(tag.trim_matches(['-', '+'])) {
            return false;
        }
        rest = following;
    }
    true
}

fn ends_in_text(tag: &str) -> bool {
    let (mut quote, mut chars) = (None, tag.chars());
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => drop(chars.next()),
            Some(open) if c == open => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    quote.is_some()
}

/// Names, literals, comparisons, and filters that make nothing longer than a few times its size.
fn is_tame_tag(tag: &str) -> bool {
    const FILTERS: [&str; 16] = [
        "abs",
        "bool",
        "capitalize",
        "d",
        "default",
        "e",
        "escape",
        "first",
        "float",
        "int",
        "last",
        "length",
        "lower",
        "safe",
        "trim",
        "upper",
    ];
    const WORDS: [&str; 10] = [
        "block",
        "call",
        "do",
        "extends",
        "filter",
        "import",
        "include",
        "macro",
        "recursive",
        "set",
    ];
    let mut filters = tag.split('|').skip(1).map(str::trim_start);
    let name = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
    };
    let is_known = |text: &str| name(text).is_some_and(|it| FILTERS.contains(&it.as_str()));
    let mut words = tag.split(|c: char| !c.is_alphanumeric() && c != '_');
    !tag.contains(['*', '~', '+', '%', '[', '{'])
        && filters.all(is_known)
        && !words.any(|word| WORDS.contains(&word))
        && !calls(tag)
}

/// Whether something but a filter is called.
fn calls(tag: &str) -> bool {
    let mut parts = tag.split('|');
    let first = parts.next().unwrap_or_default();
    let own = |filter: &str| filter.trim().split('(').next().is_some_and(is_name);
    first.contains('(')
        || parts.any(|filter| match filter.matches('(').count() {
            0 => false,
            count => count > 1 || !own(filter),
        })
}

fn is_name(text: &str) -> bool {
    text.trim_end().chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Renders in a process of its own; none where there is no program for it.
pub(super) fn render<'d>(
    source: &str,
    allow_missing: bool,
    values: impl Iterator<Item = (&'d str, &'d Data)>,
) -> Option<Result<Zeroizing<Vec<u8>>, Fault>> {
    let (program, word) = PROGRAM.get()?;
    let program = program()?;
    let values: Map<String, Value> =
        values.map(|(name, data)| (name.to_owned(), document(data))).gathered();
    let request = json!({"source": source, "allow_missing": allow_missing, "values": values});
    let request = Zeroizing::new(request.to_string().into_bytes());
    Some(match ask(&program, word, request) {
        Ok(answer) => rendered(&answer),
        Err(error) => Err(not_rendered(&error)),
    })
}

/// Who has answered nothing was ended by the system, which refused it memory or time.
fn rendered(answer: &[u8]) -> Result<Zeroizing<Vec<u8>>, Fault> {
    match answer.split_first() {
        Some((&RENDERED, output)) => Ok(Zeroizing::new(output.to_vec())),
        Some((&FAULTY, fault)) => Err(read_fault(fault)),
        _ => {
            let message = format!(
                "rendering needs more than {} MiB of memory or {MAX_SECONDS} seconds of CPU time",
                MAX_MEMORY >> 20
            );
            Err(Fault { line: None, reason: Reason::Other(message), help: None })
        }
    }
}

/// The process for it could not be started, or not be heard.
fn not_rendered(error: &io::Error) -> Fault {
    let message = format!("the process that renders it could not run: {}", error.kind());
    let help = "check the limits of this user (`ulimit -a`) and the free memory, and run again";
    Fault { line: None, reason: Reason::Other(message), help: Some(help.to_owned()) }
}

#[expect(clippy::disallowed_methods, reason = "opal itself, which ends with its answer")]
fn ask(program: &Path, word: &str, request: Zeroizing<Vec<u8>>) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut command = Command::new(program);
    command.arg(word).env_clear().stderr(Stdio::null());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = starting::shared(|| command.spawn())?;
    let writer = child.stdin.take().map(|mut stdin| {
        std::thread::spawn(move || {
            // Who has ended before does not want it.
            let _ = stdin.write_all(&request);
        })
    });
    let mut answer = Zeroizing::new(Vec::new());
    let read = child.stdout.take().map_or(Ok(0), |stdout| {
        stdout.take(MAX_OUTPUT as u64 + 64 * 1024).read_to_end(&mut answer)
    });
    let _ = child.kill();
    let _ = child.wait();
    writer.map(std::thread::JoinHandle::join);
    read?;
    Ok(answer)
}

/// The other side: reads a request from standard input and answers on standard output.
pub fn render_here() -> io::Result<()> {
    for (resource, most) in [(Resource::As, MAX_MEMORY), (Resource::Cpu, MAX_SECONDS)] {
        let known = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(known));
        setrlimit(resource, Rlimit { current: most, maximum: most })?;
    }
    let mut request = Zeroizing::new(Vec::new());
    io::stdin().lock().read_to_end(&mut request)?;
    let request: Value = serde_json::from_slice(&request).map_err(io::Error::other)?;
    let source = request["source"].as_str().unwrap_or_default();
    let values = request["values"].as_object().cloned().unwrap_or_default();
    let values: Vec<(String, Data)> =
        values.into_iter().map(|(name, value)| (name, data(value))).collect();
    let pairs = || values.iter().map(|(name, data)| (name.as_str(), data));
    let rendered = Template::new(source, request["allow_missing"] == true)
        .and_then(|template| template.render_within(pairs()));
    let mut out = io::stdout().lock();
    match rendered {
        Ok(output) => out.write_all(&[RENDERED]).and_then(|()| out.write_all(&output))?,
        Err(fault) => {
            out.write_all(&[FAULTY])?;
            out.write_all(fault_document(&fault).to_string().as_bytes())?;
        }
    }
    out.flush()
}

fn fault_document(fault: &Fault) -> Value {
    match &fault.reason {
        Reason::Missing(name) => json!({"line": fault.line, "missing": name, "help": fault.help}),
        Reason::Other(message) => json!({"line": fault.line, "other": message, "help": fault.help}),
    }
}

fn read_fault(bytes: &[u8]) -> Fault {
    let fault: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let line = fault["line"].as_u64().and_then(|line| usize::try_from(line).ok());
    let reason = match (fault["missing"].as_str(), fault["other"].as_str()) {
        (Some(name), _) => Reason::Missing(name.to_owned()),
        (None, message) => Reason::Other(message.unwrap_or("it cannot be rendered").to_owned()),
    };
    Fault { line, reason, help: fault["help"].as_str().map(str::to_owned) }
}

fn document(data: &Data) -> Value {
    match data {
        Data::Null => Value::Null,
        Data::Bool(value) => json!(value),
        Data::Int(value) => json!(value),
        Data::Float(value) => json!(value),
        Data::Text(text) => json!(text.expose()),
        Data::Duration(duration) => json!(duration.to_string()),
        Data::Array(items) => items.iter().map(document).collect(),
        Data::Map(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.to_string(), document(field)));
            Value::Object(fields.gathered())
        }
    }
}

fn data(value: Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(value) => Data::Bool(value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Data::Int(value),
            None => Data::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Data::Text(Secret::new(text)),
        Value::Array(items) => Data::Array(items.into_iter().map(data).collect()),
        Value::Object(fields) => {
            Data::Map(fields.into_iter().map(|(name, field)| (name, data(field))).gathered())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_cannot_run_is_not_a_template_that_needs_too_much() {
        let request = || Zeroizing::new(b"{}".to_vec());
        let error = ask(Path::new("/no/such/program"), "render", request()).unwrap_err();
        let fault = not_rendered(&error);
        let Reason::Other(message) = fault.reason else { panic!() };
        assert_eq!(message, "the process that renders it could not run: entity not found");
        assert!(fault.help.is_some());
        // One that ends without a word was refused what it needs.
        let answer = ask(Path::new("/bin/true"), "render", request()).unwrap();
        let Reason::Other(message) = rendered(&answer).unwrap_err().reason else { panic!() };
        assert!(message.starts_with("rendering needs more than 768 MiB"), "{message}");
    }

    #[test]
    fn only_what_puts_values_into_text_is_tame() {
        for tame in [
            "plain {text}",
            "{{ name }} {{- a.b }} {{ port | default(\"80\") | upper }}",
            "{% if a == \"x\" and not b %}y{% elif c %}z{% endif %}",
            "{% for x in list %}{{ x.name }}{{ loop.index }}{% endfor %}",
        ] {
            assert!(is_tame(tame), "{tame}");
        }
        for wild in [
            "{{ \"a\" * 1000000000 }}",
            "{{ x ~ x }}",
            "{{ x + x }}",
            "{{ \"%09d\" % 1 }}",
            "{{ x | batch(1000000000) }}",
            "{{ x | upper | indent(1000000000) }}",
            "{% for i in range(100000) %}{% endfor %}",
            "{% set s = s %}",
            "{% set s %}{{ s }}{{ s }}{% endset %}",
            "{% macro f(s) %}{{ f(s) }}{% endmacro %}",
            "{{ [x, x] }}",
            "{{ x | default(range(9)) }}",
            "{{ x | upper == y.replace('', z) }}",
            "{{ unclosed",
            "{{ \"}}\" ~ x }}",
            "{{ \"a'b\" == 'c}}' ~ x }}",
            "{{ \"\\\"}}\" ~ x }}",
            "{# {{ #}{{ x ~ x }}",
        ] {
            assert!(!is_tame(wild), "{wild}");
        }
    }
}
