//! Signatures of people, by real `ssh-keygen` and by a device that is pretended.

#![expect(clippy::disallowed_methods, reason = "real keys are made and used by `ssh-keygen`")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ed25519_dalek::Signer as _;
use opal_core::contract::approval::{Approval, Decision, Statement};
use opal_core::hash::{Algorithm, Digest};
use opal_trust::approvals::{
    BadSignature, Claim, KeyFile, NAMESPACE, Signer, Unmet, Why, check, judge,
};
use opal_trust::keys::PublicKey;
use opal_trust::policy::{Policy, Rule};
use sha2::{Digest as _, Sha256, Sha512};

fn statement() -> Statement {
    Statement {
        decision: Decision::Approve,
        contract: Digest([7; 32]),
        algorithm: Algorithm::Sha256,
        plan_hash: Digest([9; 32]),
        target: "deploy".into(),
        at: 1_700_000_000,
        note: None,
        compared: None,
    }
}

/// `string` of SSH: a length and bytes.
fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&length, bytes].concat()
}

/// What an SSHSIG has besides the statement.
#[derive(Clone, Copy)]
struct Form<'f> {
    version: u32,
    namespace: &'f str,
    reserved: &'f [u8],
    hash: &'f str,
    application: &'f str,
    flags: u8,
}

const USUAL: Form<'_> = Form {
    version: 1,
    namespace: NAMESPACE,
    reserved: b"",
    hash: "sha512",
    application: "ssh:",
    flags: 1,
};

/// A signature as a hardware key makes it.
fn by_device(form: Form<'_>) -> String {
    let key = ed25519_dalek::SigningKey::from_bytes(&[3; 32]);
    let statement = statement().bytes();
    let digest = match form.hash {
        "sha256" => Sha256::digest(&statement).to_vec(),
        _ => Sha512::digest(&statement).to_vec(),
    };
    let message = [
        b"SSHSIG".to_vec(),
        string(form.namespace.as_bytes()),
        string(form.reserved),
        string(form.hash.as_bytes()),
        string(&digest),
    ]
    .concat();
    let trailer = [&[form.flags][..], &5_u32.to_be_bytes()].concat();
    let signed =
        [&Sha256::digest(form.application)[..], &trailer, &Sha256::digest(&message)[..]].concat();
    let kind = "sk-ssh-ed25519@openssh.com";
    let public = [
        string(kind.as_bytes()),
        string(key.verifying_key().as_bytes()),
        string(form.application.as_bytes()),
    ]
    .concat();
    let signature =
        [string(kind.as_bytes()), string(&key.sign(&signed).to_bytes()), trailer].concat();
    let blob = [
        b"SSHSIG".to_vec(),
        form.version.to_be_bytes().to_vec(),
        string(&public),
        string(form.namespace.as_bytes()),
        string(form.reserved),
        string(form.hash.as_bytes()),
        string(&signature),
    ]
    .concat();
    armoured(&blob)
}

fn armoured(blob: &[u8]) -> String {
    use base64ct::{Base64, Encoding as _};
    let text = Base64::encode_string(blob);
    let lines: Vec<&str> =
        text.as_bytes().chunks(70).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n", lines.join("\n"))
}

#[test]
fn only_the_one_form_of_a_signature_is_accepted() {
    let found = |form| check(&Approval { statement: statement(), signature: by_device(form) });
    let checked = found(USUAL).unwrap();
    assert!(checked.touched && checked.signer.is_hardware());
    assert!(!found(Form { flags: 0, ..USUAL }).unwrap().touched);
    for (form, why) in [
        (Form { namespace: "file", ..USUAL }, BadSignature::Kind),
        (Form { namespace: "opal-approval-v1 ", ..USUAL }, BadSignature::Kind),
        (Form { reserved: b"x", ..USUAL }, BadSignature::Kind),
        (Form { hash: "sha256", ..USUAL }, BadSignature::Kind),
        (Form { version: 2, ..USUAL }, BadSignature::Format),
        (Form { version: 0, ..USUAL }, BadSignature::Kind),
        (Form { application: "https://example.com", ..USUAL }, BadSignature::Key),
    ] {
        assert_eq!(found(form).unwrap_err(), why);
    }
    let other = Statement { note: Some("x".into()), ..statement() };
    let moved = Approval { statement: other, signature: by_device(USUAL) };
    assert_eq!(check(&moved).unwrap_err(), BadSignature::Wrong);
}

fn keygen(words: &[&str], key: &Path) -> std::process::Output {
    let mut child = Command::new("ssh-keygen")
        .args(words)
        .arg(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&statement().bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_ssh_keygen_signs_is_read_and_what_opal_keys_show_is_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    for (kind, accepted) in [("ed25519", true), ("ecdsa", false), ("rsa", false)] {
        let key = folder.path().join(kind);
        assert!(keygen(&["-q", "-t", kind, "-N", "", "-C", "ann", "-f"], &key).status.success());
        let done = keygen(&["-q", "-Y", "sign", "-n", NAMESPACE, "-f"], &key);
        let signature = String::from_utf8(done.stdout).unwrap();
        let checked = check(&Approval { statement: statement(), signature });
        assert_eq!(checked.is_ok(), accepted, "{kind}");
        let private = KeyFile::parse(&std::fs::read_to_string(&key).unwrap());
        assert_eq!(private.as_ref().is_some_and(|it| it.is_open), accepted, "{kind}");
        let (Ok(checked), Some(private)) = (checked, private) else { continue };
        assert_eq!(checked.signer, private.signer);
        assert_eq!(private.comment.as_deref(), Some("ann"));
        let public = std::fs::read_to_string(key.with_added_extension("pub")).unwrap();
        assert_eq!(KeyFile::parse(&public).unwrap().signer, checked.signer);
        assert_eq!(Signer::parse(&checked.signer.to_string()).unwrap().0, checked.signer);
    }
}

#[test]
fn a_certificate_is_not_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (ca, user) = (folder.path().join("ca"), folder.path().join("user"));
    for key in [&ca, &user] {
        assert!(keygen(&["-q", "-t", "ed25519", "-N", "", "-f"], key).status.success());
    }
    let made = Command::new("ssh-keygen")
        .args(["-q", "-I", "ann", "-n", "ann", "-s"])
        .arg(&ca)
        .arg(user.with_added_extension("pub"))
        .status();
    assert!(made.unwrap().success());
    let text = std::fs::read_to_string(folder.path().join("user-cert.pub")).unwrap();
    assert!(text.starts_with("ssh-ed25519-cert-v01@openssh.com "));
    assert_eq!(Signer::parse(&text), None);
}

#[test]
fn a_key_with_a_passphrase_is_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    assert!(keygen(&["-q", "-t", "ed25519", "-N", "swordfish", "-f"], &key).status.success());
    let file = KeyFile::parse(&std::fs::read_to_string(&key).unwrap()).unwrap();
    assert!(!file.is_open);
}

/// Whatever the two lists call it: who made a contract does not approve it with the same key.
#[test]
fn the_key_of_the_maker_does_not_count_under_another_name() {
    use base64ct::{Base64, Encoding as _};
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    assert!(keygen(&["-q", "-t", "ed25519", "-N", "", "-f"], &key).status.success());
    let done = keygen(&["-q", "-Y", "sign", "-n", NAMESPACE, "-f"], &key);
    let signature = String::from_utf8(done.stdout).unwrap();
    let approval = Approval { statement: statement(), signature };
    let line = check(&approval).unwrap().signer.to_string();
    let blob = Base64::decode_vec(line.split_whitespace().nth(1).unwrap()).unwrap();
    let maker = PublicKey::from_bytes(blob[blob.len() - 32..].try_into().unwrap());
    let rule = |not_maker: bool| {
        let text = format!(
            "[[approval]]\nby = [\"{line} ann\"]\nmakers = [\"{maker} ci\"]\nnot_maker = {not_maker}\n"
        );
        Policy::parse(Path::new("policy.toml"), &text).unwrap()
    };
    let statement = statement();
    let claim = Claim {
        contract: statement.contract,
        algorithm: statement.algorithm,
        plan_hash: statement.plan_hash,
        target: "deploy",
        made: statement.at,
        maker: Some(maker),
        unseen: 0,
        is_limited: false,
        now: statement.at,
    };
    let judged = |policy: &Policy| {
        let rules: Vec<&Rule> = policy.rules.iter().collect();
        judge(&rules, std::slice::from_ref(&approval), &claim)
    };
    assert_eq!(judged(&rule(false)).unmet, []);
    let [Unmet::Approvals { ignored, .. }] = &judged(&rule(true)).unmet[..] else { panic!() };
    assert_eq!(ignored[0].why, Why::IsTheMaker);
}
