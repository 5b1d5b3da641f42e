//! Signatures, policies, end dates, single use, and files that were tampered with.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use opal_core::hash::Algorithm;

use crate::support::{Opal, Ran};

const PROJECT: &str = "\
fun deploy() {
    kubectl scale --replicas=@env.REPLICAS
    curl --oauth2-bearer @secret.env.TOKEN https://example.com/
}
";

fn machine() -> Opal {
    Opal::machine(PROJECT).env("REPLICAS", "31337").env("TOKEN", "canary-token-5150")
}

/// A machine with a contract in `c.plan`.
fn with_contract(more: &[&str]) -> Opal {
    let opal = machine();
    make(&opal, more);
    opal
}

fn make(opal: &Opal, more: &[&str]) {
    opal.call(&[&["plan", "deploy", "-o", "c.plan"], more].concat()).code(0);
}

fn key(opal: &Opal, name: &str) -> String {
    opal.call(&["keys", "generate", name]).code(0).stdout.trim().to_owned()
}

/// A file that nobody else may write, whatever the umask.
fn private(opal: &Opal, name: &str, text: &str) {
    opal.write(name, text);
    fs::set_permissions(opal.path().join(name), fs::Permissions::from_mode(0o600)).unwrap();
}

const VERIFY: [&str; 3] = ["plan", "verify", "c.plan"];
const RUN: [&str; 4] = ["run", "--plan", "c.plan", "--dry-run"];

/// `plan verify` and `run --plan` both accept it.
#[track_caller]
fn accepted(opal: &Opal, more: &[&str]) {
    opal.call(&[&VERIFY, more].concat()).code(0).says("intact and accepted by the policy");
    opal.call(&[&RUN, more].concat()).code(0).says("the current plan");
}

/// `plan verify` and `run --plan` both refuse it, in the same words.
#[track_caller]
fn refused(opal: &Opal, more: &[&str], code: i32) -> Ran {
    let verify = opal.call(&[&VERIFY, more].concat());
    verify.code(code).stdout("");
    let run = opal.call(&[&RUN, more].concat());
    run.code(code).stdout("").stderr(&verify.stderr);
    assert!(run.stderr.contains("help: "), "{run:?}");
    let machine = opal.call(&[&VERIFY, more, &["--json"]].concat());
    assert!(machine.code(code).json()["error"]["help"][0].is_string(), "{machine:?}");
    run
}

#[test]
fn a_signature_is_made_shown_and_asked_for() {
    let opal = machine();
    let (release, other) = (key(&opal, "release"), key(&opal, "other"));
    make(&opal, &["--sign", "release"]);
    opal.call(&VERIFY).code(0).says(&format!("signed by {release}"));
    let document = opal.call(&[&VERIFY[..], &["--json"]].concat()).code(0).json();
    assert_eq!(document["signed_by"][0], release.as_str());
    let shown = opal.call(&["plan", "show", "c.plan", "--json"]).code(0).json();
    assert_eq!(shown["provenance"]["signed_by"][0], release.as_str());
    accepted(&opal, &[]);
    accepted(&opal, &["--require-signature=release"]);
    accepted(&opal, &[&format!("--require-signature={release}")]);
    let ran = refused(&opal, &["--require-signature=other"], 77);
    ran.says(&release).hides(&other);
    refused(&opal, &["--require-signature"], 77).says("trust");
    let path = opal.path().join("home/.opal/credentials/release.key").display().to_string();
    make(&opal, &["--sign", &path]);
    accepted(&opal, &["--require-signature=release"]);
}

#[test]
fn an_unsigned_contract_is_refused_where_a_signature_is_required() {
    let opal = with_contract(&[]);
    let release = key(&opal, "release");
    accepted(&opal, &[]);
    refused(&opal, &["--require-signature"], 77).says("not signed").says("--sign");
    refused(&opal, &["--require-signature"], 77).says("it was made with `opal plan -o");
    refused(&opal, &[&format!("--require-signature={release}")], 77).says("not signed");
    refused(&opal, &["--require-signature=nobody"], 66).says("nobody");
    refused(&opal, &["--require-signature=ed25519:AAAA"], 78);
}

#[test]
fn a_failure_is_json_wherever_json_was_asked_for() {
    let opal = machine();
    for line in [
        &["plan", "deploy", "-o", "c.plan", "--sign", "nobody", "--json"][..],
        &["--json", "plan", "-o", "c.plan", "--sign", "nobody", "deploy"],
        &["--format", "json", "--dry-run", "--sign", "nobody", "-o", "c.plan", "deploy"],
        &["--format=json", "plan", "verify", "gone.plan"],
        &["run", "--plan", "gone.plan", "--json"],
    ] {
        let document = opal.call(line).code(66).json();
        assert!(document["error"]["message"].is_string(), "{document}");
    }
}

#[test]
fn a_key_that_cannot_sign_makes_no_contract() {
    let opal = machine();
    opal.call(&["plan", "deploy", "-o", "c.plan", "--sign", "nobody"]).code(66).says("nobody");
    opal.call(&["keys", "generate", "ci", "--seal"]).code(0);
    let ran = opal.call(&["plan", "deploy", "-o", "c.plan", "--sign", "ci"]);
    ran.code(78).says("ci").hides("AGE-SECRET-KEY");
    assert!(!opal.path().join("c.plan").exists());
}

#[test]
fn the_rules_of_the_user_hold_for_every_contract() {
    let opal = with_contract(&[]);
    let (release, other) = (key(&opal, "release"), key(&opal, "other"));
    let rules = |text: &str| {
        fs::create_dir_all(opal.path().join("home/.opal/config")).unwrap();
        private(&opal, "home/.opal/config/policy.toml", text);
    };
    rules("require_signature = true\n");
    refused(&opal, &[], 77).says("not signed");
    rules(&format!("trusted_keys = [\"{release}\"]\n"));
    refused(&opal, &[], 77).says("not signed");
    make(&opal, &["--sign", "other"]);
    refused(&opal, &[], 77).says(&other);
    refused(&opal, &["--require-signature=other"], 77);
    make(&opal, &["--sign", "release"]);
    accepted(&opal, &[]);
    rules("require_expiry = true\n");
    refused(&opal, &[], 77).says("--expires");
    make(&opal, &["--expires", "1h"]);
    accepted(&opal, &[]);
    let document = opal.call(&[&VERIFY[..], &["--json"]].concat()).json();
    assert!(document["expires"].as_str().unwrap().ends_with('Z'), "{document}");
}

#[test]
fn a_project_can_only_tighten() {
    let opal = with_contract(&[]);
    let (release, other) = (key(&opal, "release"), key(&opal, "other"));
    opal.write("opal.mod", "name = \"shop\"\n\n[policy]\nrequire_signature = true\n");
    refused(&opal, &[], 77).says("not signed");
    fs::create_dir_all(opal.path().join("home/.opal/config")).unwrap();
    private(&opal, "home/.opal/config/policy.toml", &format!("trusted_keys = [\"{release}\"]\n"));
    for loose in [
        "require_signature = false\n".to_owned(),
        "require_expiry = false\nrandomness = \"any\"\nmax_age = \"9000h\"\n".to_owned(),
        format!("trusted_keys = [\"{release}\", \"{other}\"]\n"),
    ] {
        opal.write("opal.mod", format!("[policy]\n{loose}"));
        refused(&opal, &[], 77).says("not signed");
    }
    make(&opal, &["--sign", "other"]);
    refused(&opal, &[], 77);
    make(&opal, &["--sign", "release"]);
    accepted(&opal, &[]);
    opal.write("opal.mod", format!("[policy]\ntrusted_keys = [\"{other}\"]\n"));
    refused(&opal, &[], 77);
}

#[test]
fn a_rule_that_is_not_understood_stops_everything_at_its_line() {
    let opal = with_contract(&[]);
    let rules = |file: &str, text: &str| {
        fs::create_dir_all(opal.path().join("home/.opal/config")).unwrap();
        private(&opal, file, text);
    };
    let user = "home/.opal/config/policy.toml";
    rules(user, "# mine\nrequire_signatur = true\n");
    refused(&opal, &[], 78).says("policy.toml:2: ").says("`require_signature`");
    rules(user, "require_signature = \"yes\"\n");
    refused(&opal, &[], 78).says("policy.toml:1: ").says("true or false");
    rules(user, "\n\nmax_age = [\n");
    refused(&opal, &[], 78).says("policy.toml:");
    rules(user, "");
    rules("opal.mod", "name = \"x\"\n[policy]\nmax_age = \"soon\"\n");
    refused(&opal, &[], 78).says("opal.mod:3: ").says("24h");
    rules("opal.mod", "name = \"x\"\n");
    accepted(&opal, &[]);
}

#[test]
fn rules_that_others_may_write_are_no_rules() {
    let opal = with_contract(&[]);
    fs::create_dir_all(opal.path().join("home/.opal/config")).unwrap();
    opal.write("home/.opal/config/policy.toml", "require_signature = false\n");
    let path = opal.path().join("home/.opal/config/policy.toml");
    for (mode, code) in [(0o600, None), (0o644, None), (0o664, Some(77)), (0o646, Some(77))] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        match code {
            Some(code) => {
                refused(&opal, &[], code).says(&format!("`chmod go-w {}`", path.display()));
            }
            None => accepted(&opal, &[]),
        }
    }
}

#[test]
fn whoever_verifies_needs_only_the_public_half() {
    let opal = machine();
    key(&opal, "release");
    key(&opal, "other");
    make(&opal, &["--sign", "release"]);
    for name in ["release", "other"] {
        fs::remove_file(opal.path().join(format!("home/.opal/credentials/{name}.key"))).unwrap();
    }
    accepted(&opal, &["--require-signature=release"]);
    refused(&opal, &["--require-signature=other"], 77);
    refused(&opal, &["--require-signature=nobody"], 66).says("nobody");
}

#[test]
fn the_rules_of_the_project_are_found_from_anywhere() {
    let opal = with_contract(&[]);
    opal.write("opal.mod", "[policy]\nrequire_signature = true\n");
    fs::create_dir_all(opal.path().join("elsewhere")).unwrap();
    fs::rename(opal.path().join("c.plan"), opal.path().join("elsewhere/c.plan")).unwrap();
    for line in [&VERIFY[..], &RUN] {
        let mut command = opal.command();
        command.args(line).current_dir(opal.path().join("elsewhere"));
        Ran::from(command.output().unwrap()).code(77).says("not signed");
    }
    // Another checkout, without that rule.
    fs::rename(opal.path().join("elsewhere/c.plan"), opal.path().join("c.plan")).unwrap();
    let other = machine();
    let file = other.path().join("commands.opl").display().to_string();
    accepted(&opal, &["-f", &file]);
}

#[test]
fn a_contract_ends_when_it_says() {
    let opal = with_contract(&["--expires", "1s"]).later();
    refused(&opal, &[], 76)
        .says("it expired at 20")
        .says("make a new contract: `opal plan -o c.plan --expires 1s deploy`");
    let shown = opal.call(&["plan", "show", "c.plan"]);
    shown.code(0).says("Expires");
}

#[test]
fn a_contract_for_a_single_run_is_not_run_twice() {
    let opal = with_contract(&["--once"]);
    accepted(&opal, &[]);
    accepted(&opal, &[]);
    // What a run leaves behind.
    let ledger = opal.path().join("home/.opal/ledger");
    fs::create_dir_all(&ledger).unwrap();
    fs::write(ledger.join(Algorithm::Sha256.digest(&[&opal.bytes("c.plan")]).hex()), "").unwrap();
    refused(&opal, &[], 76)
        .says("this single-use contract has already been run")
        .says("make a new contract: `opal plan -o c.plan --once deploy`");
    make(&opal, &["--once"]);
    accepted(&opal, &[]);
}

/// Where the sections of a contract begin.
fn sections(bytes: &[u8]) -> [(&'static str, usize); 5] {
    let aligned = |offset: usize| offset.next_multiple_of(8);
    let number = |at: usize, size: usize| {
        bytes[at..at + size].iter().rev().fold(0, |sum, byte| sum * 256 + usize::from(*byte))
    };
    let envelope = aligned(96 + 2 + number(96, 2));
    let steps = aligned(envelope + 4 + number(envelope, 4));
    [
        ("HEADER", 0),
        ("TARGET", 96),
        ("ENVELOPE", envelope),
        ("STEPS", steps),
        ("the end", bytes.len() - 72),
    ]
}

#[test]
fn a_changed_bit_is_refused_wherever_it_is() {
    for signed in [false, true] {
        let opal = machine();
        key(&opal, "release");
        make(&opal, if signed { &["--sign", "release"] } else { &[] });
        let whole = opal.bytes("c.plan");
        opal.write("whole.plan", &whole);
        let starts = sections(&whole).map(|(_, offset)| offset);
        let spread = (0..whole.len()).step_by(whole.len() / 24);
        for offset in starts.into_iter().flat_map(|at| [at, at + 5]).chain(spread) {
            let mut changed = whole.clone();
            changed[offset] ^= 1 << (offset % 8);
            opal.write("c.plan", &changed);
            let ran = opal.call(&RUN);
            // The signature is the last thing, and whose it is is a matter of trust.
            assert!(ran.code == 76 || signed && ran.code == 77, "{offset}: {ran:?}");
            ran.says("`c.plan` is refused: ").says("help: ").hides("canary");
            // A changed envelope may be one for somebody else.
            for line in [&["plan", "show", "c.plan"][..], &["plan", "diff", "c.plan", "whole.plan"]]
            {
                let shown = opal.call(line);
                match shown.code {
                    76 | 77 => shown.stdout("").says(" is refused: "),
                    _ => shown.code(0).says("cannot check that it is intact"),
                };
            }
        }
    }
}

#[test]
fn a_refusal_names_the_section_and_the_offset() {
    let opal = with_contract(&[]);
    let whole = opal.bytes("c.plan");
    let [_, (_, target), (_, envelope), (_, steps), _] = sections(&whole);
    for (offset, words) in [
        (0, "HEADER at offset 0"),
        (4, "HEADER at offset 4"),
        (target + 1, "TARGET at offset 9"),
        (envelope + 3, "ENVELOPE at offset"),
        (envelope + 4, "sealed part"),
        (steps + 3, "STEPS at offset"),
        (steps + 12, "SIGNATURE at offset"),
        (whole.len() - 1, "SIGNATURE at offset"),
    ] {
        let mut changed = whole.clone();
        changed[offset] ^= 0x80;
        opal.write("c.plan", &changed);
        refused(&opal, &[], 76).says(words);
    }
}

#[test]
fn a_cut_file_is_refused_and_so_is_one_that_goes_on() {
    let opal = with_contract(&[]);
    let whole = opal.bytes("c.plan");
    for length in [1, 3, 4, 8, 95, 96, 97, 200, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
        opal.write("c.plan", &whole[..length]);
        refused(&opal, &[], 76).says("`c.plan` is refused: ").says(" at offset ");
    }
    for more in [&b"\0"[..], b"\0\0\0\0\0\0\0\0", b"OPAL"] {
        opal.write("c.plan", [&whole, more].concat());
        refused(&opal, &[], 76).says("`c.plan` is refused: ");
    }
}

#[test]
fn what_is_no_contract_is_refused_in_words() {
    let opal = machine();
    let quick = opal.call(&["plan", "deploy", "--json"]).stdout;
    let text = opal.call(&["plan", "deploy"]).stdout;
    for bytes in [quick.as_bytes(), text.as_bytes(), b"", b"OPAL", &[0; 4096], &[0xff; 4096]] {
        opal.write("c.plan", bytes);
        refused(&opal, &[], 76).says("HEADER at offset 0").says("opal plan TASK -o FILE");
    }
    let mut seed = 1u64;
    for _ in 0..8 {
        let mut noise = vec![0u8; 2_000];
        noise.iter_mut().for_each(|byte| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *byte = (seed >> 56) as u8;
        });
        noise[..12].copy_from_slice(b"OPAL\x01\0\0\0\x04\0\x01\0");
        opal.write("c.plan", &noise);
        refused(&opal, &[], 76);
    }
}

#[test]
fn a_quick_plan_is_no_contract() {
    let opal = with_contract(&[]);
    let mut bytes = opal.bytes("c.plan");
    bytes[10] = 0;
    opal.write("c.plan", &bytes);
    refused(&opal, &[], 76).says("quick plan");
}

#[test]
fn a_directory_and_a_file_beyond_all_limits_are_refused() {
    let opal = machine();
    fs::create_dir(opal.path().join("c.plan")).unwrap();
    refused(&opal, &[], 66).says("`c.plan` is a directory").hides(".opl");
    fs::remove_dir(opal.path().join("c.plan")).unwrap();
    let file = fs::File::create(opal.path().join("c.plan")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"OPAL\x01\0\0\0\x04\0\x01\0", 0).unwrap();
    file.set_len(100 << 20).unwrap();
    refused(&opal, &[], 76).says("`c.plan` is refused: ");
}
