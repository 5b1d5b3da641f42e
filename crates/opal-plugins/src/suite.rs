//! `opal plugin verify`: whether a package does what its manifest says.
//!
//! The tests of a package (`tests/*.yaml`) say what is called, what the world answers, and what the call
//! must give. The suite makes each call, then makes it again and again with one thing changed: another
//! argument that the manifest allows, one question that is refused, an answer that nobody waits for. What
//! must hold then are the laws of [`report::LAWS`].
//!
//! | what | where |
//! |---|---|
//! | the tests | `cases`, their worlds in `worlds` |
//! | a world that answers a call, and changes | `world` |
//! | one call | `calls` |
//! | the laws of every call | `laws`, arguments to try in `variations` |
//! | the laws of resources, wrappers and policies | `states`, `blocks` |
//! | what came out | [`report`] |

mod blocks;
mod calls;
mod cases;
mod laws;
pub mod report;
mod states;
mod variations;
mod world;
mod worlds;

use std::collections::BTreeSet;

use opal_core::decorator::Block;
use opal_core::protocol::call::Function;

use crate::adapt::Code;
use crate::capability::Capability;
use crate::client::CallFailure;
use crate::client::grants::Grants;
use crate::installed::{Installed, wire};
use crate::manifest::{Body, Declared, Faulty};

use laws::Bench;
use report::{Broken, Report};
use world::{Asked, World};

/// Why nothing can be said about a package.
#[derive(Debug)]
pub enum SuiteError {
    /// What is wrong with its tests, file by file.
    Faulty(Vec<Faulty>),
    /// No helper runs its code.
    NoHelper(CallFailure),
}

/// Verifies a package.
///
/// # Errors
/// Its tests cannot be read, or nothing runs its code.
pub fn run(one: &Installed) -> Result<Report, SuiteError> {
    let cases = cases::read(one.package(), &one.manifest).map_err(SuiteError::Faulty)?;
    // Native code is not answered by the world of a test: it is the machine that it would run on.
    let is_native = one.engine() == "native";
    let code = (!is_native).then(|| wire::code(one)).flatten();
    let mut report = Report::default();
    let Some(code) = code else {
        let code = one.manifest.decorators.iter().filter(|it| matches!(it.body, Body::Code));
        report.skipped = code.map(|it| (it.path.clone(), "it is native code")).collect();
        report.holds("package");
        return Ok(report);
    };
    report.tests = cases.len();
    if !exports_agree(code, &mut report).map_err(SuiteError::NoHelper)? {
        return Ok(report);
    }
    let granted: BTreeSet<Capability> = one.manifest.capabilities.clone();
    let grants = Grants::pretended(granted.iter().cloned());
    let mut asked = Vec::new();
    for case in &cases {
        let adapter = wire::adapter(case.declared, &case.declared.descriptor, code);
        let mut bench = Bench { adapter, grants: &grants, case, report: &mut report };
        asked.extend(bench.all().map_err(SuiteError::NoHelper)?);
    }
    for declared in one.manifest.decorators.iter().filter(|it| matches!(it.body, Body::Code)) {
        let has_test = |function: Option<Function>| {
            let is_it = |case: &cases::Case<'_>| {
                case.declared.path == declared.path && function.is_none_or(|it| it == case.function)
            };
            cases.iter().any(is_it)
        };
        match uncalled(declared) {
            Some(why) => report.skipped.push((declared.path.clone(), why)),
            None if has_test(None) => report.holds("tests"),
            None => report.breaks(Broken {
                law: "tests",
                decorator: Some(declared.path.clone()),
                test: None,
                input: None,
                message: "no test calls it: add one to `tests/`".to_owned(),
            }),
        }
    }
    if !cases.is_empty() {
        declares(&granted, &asked, &mut report);
    }
    Ok(report)
}

/// What this suite does not call.
fn uncalled(declared: &Declared) -> Option<&'static str> {
    let it = &declared.descriptor;
    let has_block = matches!(it.block, Block::Optional | Block::Required);
    match () {
        () if it.boundary.is_some() => Some("targets are opened by the project that uses it"),
        () if !has_block && !it.is_value() && !it.is_action() && (it.reads || it.writes) => {
            Some("redirections are tested by the project that uses it")
        }
        () => None,
    }
}

/// Whether the code exports what the manifest says.
fn exports_agree(code: &'static Code, report: &mut Report) -> Result<bool, CallFailure> {
    match code.exported()? {
        Ok(exports) if exports.iter().eq(code.exports.iter()) => {
            report.holds("package");
            Ok(true)
        }
        found => {
            let message = match found {
                Ok(exports) => format!(
                    "the code exports {}, and the manifest needs {}",
                    listed(&exports),
                    listed(&code.exports)
                ),
                Err(why) => format!("the code cannot be used: {why}"),
            };
            let (decorator, test, input) = (None, None, None);
            report.breaks(Broken { law: "package", decorator, test, input, message });
            Ok(false)
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// L6, the second half: nothing is declared that no test needs.
fn declares(granted: &BTreeSet<Capability>, asked: &[Asked], report: &mut Report) {
    for capability in granted {
        let needs_no_question = matches!(
            capability,
            Capability::Shell | Capability::Set(_) | Capability::Transport(_) | Capability::Ssh(_)
        );
        if needs_no_question || asked.iter().any(|asked| World::uses(asked, capability)) {
            report.holds("L6");
            continue;
        }
        report.breaks(Broken {
            law: "L6",
            decorator: None,
            test: Some(capability.to_string()),
            input: None,
            message: format!("the manifest declares `{capability}`, and no test needs it"),
        });
    }
}
