//! The Python reader was written from `docs/plan-format.md` alone: it must see what is there.

use std::path::Path;
use std::process::Command;

use opal_core::Value;
use opal_core::contract::Contract;
use opal_core::decorator::BLOCK_TEXT;
use opal_core::hash::Algorithm;
use opal_core::plan::{Arg, Node, Step};

use crate::contract::golden::{self, FORMATS};
use crate::contract::support::{CREATED, VARIANTS, additions, plan, provenance, write};

#[expect(clippy::disallowed_methods, reason = "the reader is another program, run by a test")]
fn python(file: &Path) -> (bool, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader.py");
    let output = Command::new("python3").arg(script).arg(file).output();
    let output = output.expect("python3 is needed for this test; install it");
    let shown = if output.status.success() { output.stdout } else { output.stderr };
    (output.status.success(), String::from_utf8(shown).unwrap())
}

fn expected(contract: &Contract) -> String {
    fn walk(step: &Step, depth: usize, lines: &mut Vec<String>) {
        let reason = step.reason().map_or_else(String::new, |reason| format!(" {reason}"));
        lines.push(format!("step {}{} {}{reason}", "  ".repeat(depth), step.node, step.path));
        if step.node == Node::Dependency {
            lines.push(format!("needed by {}", step.dependents().join(" ")));
        }
        if let Some(Arg::Const(Value::String(text))) = step.arg(BLOCK_TEXT) {
            lines.extend(text.lines().map(|line| format!("text {line}")));
        }
        step.block.iter().for_each(|inner| walk(inner, depth + 1, lines));
    }
    let plan = contract.plan();
    let mut lines = vec![
        format!("target {}", plan.target.name),
        format!("created {}", contract.created()),
        format!("plan hash {}", contract.plan_hash().hex()),
    ];
    plan.steps.iter().for_each(|step| walk(step, 0, &mut lines));
    for (key, value) in &plan.values {
        let found = &value.placeholder;
        let (length, name) = (found.length, found.algorithm.name());
        lines.push(format!("value {key} {length} {name} {}", found.digest.hex()));
    }
    lines.push(format!("compiler {}", contract.provenance().compiler));
    lines.join("\n") + "\n"
}

#[test]
fn a_stranger_reads_the_golden_files() {
    for (format, variant) in FORMATS.iter().flat_map(|it| VARIANTS.map(|variant| (it, variant))) {
        let (success, shown) = python(&golden::path(format, variant));
        assert!(success, "{format} {}: {shown}", variant.name);
        // Python has no BLAKE3, so its reader says that it could not check the hash.
        let shown = shown.replace(" (not checked)", "");
        assert_eq!(shown, expected(&variant.contract()), "{format} {}", variant.name);
    }
}

fn python_of(bytes: &[u8]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("any.plan");
    std::fs::write(&file, bytes).unwrap();
    python(&file)
}

#[test]
fn a_stranger_reads_dependencies_and_texts() {
    let (success, shown) = python(&golden::additions_path());
    assert!(success, "{shown}");
    assert!(shown.contains("needed by deploy test\n") && shown.contains("text   print(1)\n"));
    assert_eq!(shown, expected(&additions()));
}

#[test]
fn a_stranger_sees_why_a_step_is_there() {
    let mut plan = plan(Algorithm::Sha256);
    plan.steps[1].note = Some("if \"größe\" == size &&\n    replicas > 2".into());
    let contract = Contract::new(plan, CREATED, provenance()).unwrap();
    let (success, shown) = python_of(&write(&contract, false, false));
    assert!(success && shown.contains("if \"größe\" == size && replicas > 2\n"), "{shown}");
    assert_eq!(shown, expected(&contract));
}

#[test]
fn a_stranger_refuses_a_changed_step() {
    let mut bytes = VARIANTS[0].bytes();
    let at = bytes.windows(7).position(|window| window == b"kubectl").unwrap();
    bytes[at] = b'K';
    let (success, shown) = python_of(&bytes);
    assert!(!success && shown.contains("PlanHash"), "{shown}");
}

#[test]
fn a_stranger_refuses_a_changed_step_in_a_packed_file_too() {
    let contract = Contract::new(plan(Algorithm::Sha256), CREATED, provenance()).unwrap();
    let whole = write(&contract, true, false);
    let (success, shown) = python_of(&whole);
    assert!(success, "{shown}");
    assert_eq!(shown, expected(&contract));
    let mut bytes = whole.clone();
    // PlanHash, which the unpacked steps no longer give.
    bytes[64] ^= 1;
    let (success, shown) = python_of(&bytes);
    assert!(!success && shown.contains("PlanHash"), "{shown}");
    let frame =
        whole.windows(4).position(|window| window == 0xfd2f_b528_u32.to_le_bytes()).unwrap();
    let mut bytes = whole;
    bytes[frame - 4] ^= 1;
    let (success, shown) = python_of(&bytes);
    assert!(!success && shown.contains("zstd"), "{shown}");
}
