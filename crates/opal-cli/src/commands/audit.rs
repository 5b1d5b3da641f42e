//! `opal audit`: the records of contracts as evidence.

mod evidence;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use opal_trust::audit::{self, Signed};
use opal_trust::keys::Credentials;
use opal_vault::record::audit::{self as chain, Chain, Finding};
use opal_vault::record::reader::{Found, Run};
use opal_vault::root::{self, Root, RootError, Why};
use serde_json::{Value, json};

use super::runs::{moment, stored};
use crate::context::Context;
use crate::failure::record::root_failure;
use crate::failure::{Exit, Failure};
use crate::view;

/// Bytes of an export.
const MAX_EXPORT_BYTES: u64 = 1 << 30;

/// Bytes of a line about a call, which has less.
const MAX_CALL_BYTES: u64 = 1 << 20;

/// The calls of agents, in the runtime root.
const CALLS: &str = "logs/mcp";

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("export", matches)) => export(context, matches),
        Some((_, matches)) => verify(context, matches),
        None => Err(Failure::usage("`opal audit` needs a command", "see `opal audit --help`")),
    }
}

fn export(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let given = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let since = given("since").map(|it| moment("--since", it)).transpose()?;
    let key = given("sign").map(|key| Credentials::new(&root).signing_key(key));
    let key = key.transpose().map_err(Failure::key)?;
    let chain = chain::read(&root).map_err(root_failure)?;
    let runs: BTreeMap<PathBuf, Found> =
        stored::found(&root)?.into_iter().map(|found| (found.folder.clone(), found)).collect();
    let mut lines = Vec::new();
    for entry in &chain.entries {
        if since.as_deref().is_some_and(|since| entry.at.as_str() < since) {
            continue;
        }
        let run = runs.get(&entry.folder).and_then(|found| Run::load(found).ok());
        let run = run.map(|run| run.document());
        let is_refusal = run.as_ref().is_some_and(|run| run["refused"].is_object());
        let mut document = json!({
            "chain": entry.raw,
            "kind": if is_refusal { "refusal" } else { "run" },
            "record": entry.record,
            "run": run,
        });
        let faults = faults(&chain, entry.line);
        if !faults.is_empty() {
            document["faults"] = faults.into();
        }
        lines.extend(format!("{document}\n").into_bytes());
    }
    for document in evidence::of(&root, since.as_deref())? {
        lines.extend(format!("{document}\n").into_bytes());
    }
    calls(&root, since.as_deref(), &mut lines)?;
    if let Some(key) = &key {
        let line = audit::sign(&lines, key);
        lines.extend(line.into_bytes());
    }
    view::print_bytes(&lines)
}

/// What agents asked for, as `opal mcp` wrote it down, however much that is. Lines that are cut off are named.
fn calls(root: &Root, since: Option<&str>, lines: &mut Vec<u8>) -> Result<(), Failure> {
    let path = root.path().join(CALLS);
    let file = match root::open_guarded(&path) {
        Ok(file) => file,
        Err(RootError { why: Why::Missing | Why::NotADirectory, .. }) => return Ok(()),
        Err(error) => return Err(root_failure(error)),
    };
    let failed = |error| root_failure(RootError { path: path.clone(), why: Why::Io(error) });
    let mut file = BufReader::new(file);
    for number in 1.. {
        let mut line = Vec::new();
        if file.by_ref().take(MAX_CALL_BYTES).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let document = match serde_json::from_slice::<Value>(&line) {
            Ok(call) => {
                let at = call["at"].as_str().unwrap_or_default();
                if since.is_some_and(|since| at < since) {
                    continue;
                }
                json!({"call": call, "kind": "agent_call"})
            }
            Err(_) => {
                let why = format!("line {number} is not a call of an agent");
                json!({"kind": "damaged", "of": CALLS, "why": why})
            }
        };
        lines.extend(format!("{document}\n").into_bytes());
    }
    Ok(())
}

fn faults(chain: &Chain, line: usize) -> Vec<&'static str> {
    let found = chain.findings.iter().filter(|finding| finding.line == line);
    found.map(|finding| finding.fault.name()).collect()
}

fn verify(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let json = matches.get_flag("json");
    let Some(file) = matches.get_one::<String>("file") else {
        let chain = chain::read(&root).map_err(root_failure)?;
        return view::audit::checked(chain.entries.len(), &chain.findings, None, json);
    };
    let bytes = root::read_given(Path::new(file), MAX_EXPORT_BYTES).map_err(root_failure)?;
    let (lines, signed) = audit::check(&bytes);
    judge_signature(&root, file, signed, matches.get_one::<String>("key"))?;
    let documents = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let documents: Vec<Option<Value>> =
        documents.map(|line| serde_json::from_slice(line).ok()).collect();
    let mut findings: Vec<Finding> = Vec::new();
    let chained: Vec<&str> =
        documents.iter().flatten().filter_map(|it| it["chain"].as_str()).collect();
    findings.extend(chain::follow(chained.iter().copied()));
    for (line, document) in (1..).zip(&documents) {
        let Some(document) = document else {
            findings.push(Finding { line, record: None, fault: chain::Fault::Malformed });
            continue;
        };
        if evidence::is_edited(document) {
            let record = document["contract"].as_str().map(str::to_owned);
            findings.push(Finding { line, record, fault: chain::Fault::BadSignature });
        }
        if document["kind"] == "damaged" {
            let record = document["of"].as_str().map(str::to_owned);
            findings.push(Finding { line, record, fault: chain::Fault::Damaged });
        }
        let faults = document["faults"].as_array().into_iter().flatten();
        for fault in faults.filter_map(Value::as_str).filter_map(chain::Fault::named) {
            let record = document["record"].as_str().map(str::to_owned);
            findings.push(Finding { line, record, fault });
        }
    }
    let by = match signed {
        Signed::By(key) => Some(key.to_string()),
        Signed::None | Signed::Wrong => None,
    };
    view::audit::checked(chained.len(), &findings, Some(by), json)
}

/// Refuses an export whose signature is wrong, or not the one that is required.
fn judge_signature(
    root: &Root,
    file: &str,
    signed: Signed,
    required: Option<&String>,
) -> Result<(), Failure> {
    let required = required.map(|key| Credentials::new(root).public_key(key));
    let required = required.transpose().map_err(Failure::key)?;
    let refused = |why: &str| {
        let help = "get the export again from the machine that made it";
        Err(Failure::new(Exit::NotTrusted, format!("`{file}`: {why}"), help))
    };
    match (signed, required) {
        (Signed::Wrong, _) => refused("the signature does not match the lines"),
        (Signed::None, Some(_)) => refused("it is not signed"),
        (Signed::By(key), Some(required)) if key != required => {
            refused(&format!("it is signed by another key: {key}"))
        }
        _ => Ok(()),
    }
}
