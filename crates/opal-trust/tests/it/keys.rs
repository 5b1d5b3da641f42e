//! Keys on a real file system, and the formats against the programs that define them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use opal_testing::needs;

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::thread;

use opal_core::Secret;
use opal_core::contract::Sign;
use opal_core::hash::Algorithm;
use opal_core::placeholder::PlaceholderKey;
use opal_core::wiped::Wiped;
use opal_trust::keys::{
    ContractSecret, Credentials, Envelope, IdentitySource, KeyErrorKind, KeyKind, KeyName,
    MAX_ENVELOPE_BYTES, OpenError, PublicKey, Recipient, Runner, SealError, SigningKey, recipients,
    verify,
};
use opal_vault::ledger::{ClaimError, Ledger};
use opal_vault::root::{Root, Why};
use tempfile::TempDir;

fn root() -> (TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(folder.path().join("opal"));
    (folder, root)
}

fn runner_file(root: &Root) -> std::path::PathBuf {
    root.path().join("credentials/runner.key")
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn envelope() -> Envelope {
    Envelope {
        secret: ContractSecret::fresh(),
        placeholder_key: PlaceholderKey::new([7; 32]),
        regen: BTreeMap::from([("random.password#db".to_owned(), Wiped::new([9; 32]))]),
    }
}

#[expect(clippy::disallowed_methods, reason = "the programs that define the formats")]
fn program(name: &str) -> Command {
    Command::new(name)
}

#[test]
fn the_runner_key_is_made_once_and_only_its_owner_can_read_it() {
    let (_folder, root) = root();
    let one = Runner::of_machine(&root).unwrap();
    assert!(!one.is_ephemeral());
    assert_eq!(Runner::of_machine(&root).unwrap().recipient(), one.recipient());
    assert_eq!(mode(&runner_file(&root)), 0o600);
    assert_eq!(mode(root.path()), 0o700);
    assert_eq!(mode(&root.path().join("credentials")), 0o700);
    let left: Vec<_> = fs::read_dir(root.path().join("credentials")).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file stays: {left:?}");
}

#[test]
fn many_at_once_end_with_one_key() {
    let (_folder, root) = root();
    let start = Barrier::new(8);
    let all: Vec<String> = thread::scope(|scope| {
        let each = || {
            start.wait();
            Runner::of_machine(&root).unwrap().recipient().to_string()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
}

#[test]
fn where_nothing_can_be_kept_the_key_ends_with_the_process_and_says_why() {
    let (folder, _) = root();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for root in [Root::new(&file), Root::new(file.join("below")), Root::new("/dev/null/opal")] {
        let runner = Runner::of_machine(&root).unwrap();
        assert!(runner.is_ephemeral());
        assert!(runner.why_ephemeral().unwrap().contains("not a directory"), "{runner:?}");
        assert_ne!(runner.recipient(), Runner::of_machine(&root).unwrap().recipient());
    }
    let read_only = folder.path().join("read-only");
    fs::create_dir(&read_only).unwrap();
    chmod(&read_only, 0o500);
    let runner = Runner::of_machine(&Root::new(read_only.join("opal"))).unwrap();
    // Root may write anywhere.
    assert_eq!(runner.is_ephemeral(), !rustix::process::geteuid().is_root());
    chmod(&read_only, 0o700);
}

#[test]
fn a_key_that_others_could_have_read_is_refused_with_the_chmod_to_type() {
    let (_folder, root) = root();
    Runner::of_machine(&root).unwrap();
    let file = runner_file(&root);
    for open in [0o640, 0o604, 0o620, 0o666] {
        chmod(&file, open);
        let error = Runner::of_machine(&root).unwrap_err();
        assert_eq!(error.kind, KeyErrorKind::Exposed);
        assert!(error.message.contains(&format!("{open:04o}")), "{error}");
        assert!(error.help.contains(&format!("chmod 600 {}", file.display())), "{error:?}");
    }
    chmod(&file, 0o400);
    assert!(Runner::of_machine(&root).is_ok(), "stricter is fine");
}

#[test]
fn a_directory_that_others_may_write_into_is_refused() {
    let (_folder, root) = root();
    Runner::of_machine(&root).unwrap();
    for folder in [root.path().to_path_buf(), root.path().join("credentials")] {
        chmod(&folder, 0o770);
        let error = Runner::of_machine(&root).unwrap_err();
        assert_eq!(error.kind, KeyErrorKind::Exposed);
        assert!(error.help.contains("chmod go-w"), "{error:?}");
        chmod(&folder, 0o755);
        assert!(Runner::of_machine(&root).is_ok(), "others may look");
    }
}

#[test]
fn a_key_of_another_user_is_refused() {
    if !needs::root() {
        return;
    }
    let (_folder, root) = root();
    Runner::of_machine(&root).unwrap();
    std::os::unix::fs::chown(runner_file(&root), Some(4242), None).unwrap();
    let error = Runner::of_machine(&root).unwrap_err();
    assert_eq!(error.kind, KeyErrorKind::Exposed);
    assert!(error.message.contains("4242"), "{error}");
}

#[test]
fn garbage_in_place_of_a_key_is_an_error_and_stays_as_it_is() {
    let (_folder, root) = root();
    Runner::of_machine(&root).unwrap();
    let file = runner_file(&root);
    let pem = SigningKey::generate().to_pem();
    let long = vec![b'A'; 1 << 20];
    let cases: [&[u8]; 6] =
        [b"", b"\xff\xfe", b"AGE-SECRET-KEY-1QQ", b"# only a comment\n", pem.as_bytes(), &long];
    for bytes in cases {
        fs::write(&file, bytes).unwrap();
        let error = Runner::of_machine(&root).unwrap_err();
        assert_eq!(error.kind, KeyErrorKind::Invalid, "{error}");
        assert!(!error.help.is_empty());
        assert_eq!(fs::read(&file).unwrap(), bytes);
    }
}

#[test]
fn a_recipient_that_would_share_a_secret_of_zeros_is_refused() {
    let weak = [
        "age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z",
        "AGE1QYQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQJ7VRYA",
        "age1ur4h5lpmgxu2u9jku0a0r87ydtdqnr0tnsetrlvxvgz3vh6fhqqqzyt4v9",
        "age1amlllllllllllllllllllllllllllllllllllllllllllllllllsam3fc4",
    ];
    for text in weak {
        assert_eq!(text.parse::<Recipient>().unwrap_err().kind, KeyErrorKind::Invalid);
    }
}

#[test]
fn a_pipe_in_place_of_a_key_never_hangs() {
    let (_folder, root) = root();
    Runner::of_machine(&root).unwrap();
    let pipe = root.path().join("credentials/pipe.key");
    assert!(program("mkfifo").arg(&pipe).status().unwrap().success());
    let listed = Credentials::new(&root).list().unwrap();
    assert_eq!(listed[0].found.as_ref().unwrap_err().kind, KeyErrorKind::Unreachable);
    let folder = root.path().join("credentials/folder.key");
    fs::create_dir(&folder).unwrap();
    assert!(Credentials::new(&root).show(&"folder".parse().unwrap()).is_err());
}

#[test]
fn a_dangling_link_never_hangs() {
    let (folder, root) = root();
    Runner::of_machine(&root).unwrap();
    fs::remove_file(runner_file(&root)).unwrap();
    symlink(folder.path().join("nowhere"), runner_file(&root)).unwrap();
    assert!(Runner::of_machine(&root).unwrap().is_ephemeral());
}

#[test]
fn what_derives_from_a_runner_depends_on_every_part() {
    let (_folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    let key = |project, target| *runner.placeholder_key(project, target).expose();
    assert_eq!(key("shop", "deploy"), key("shop", "deploy"));
    assert_ne!(key("shop", "deploy"), key("shopd", "eploy"));
    assert_ne!(
        key("shop", "deploy"),
        *Runner::ephemeral("test").placeholder_key("shop", "deploy").expose()
    );
    let sub =
        |parts: [&str; 4]| *runner.regen_subkey(parts[0], parts[1], parts[2], parts[3].as_bytes());
    let one = sub(["shop", "random.password", "v1", "p"]);
    assert_eq!(one, sub(["shop", "random.password", "v1", "p"]));
    for other in [
        ["shop2", "random.password", "v1", "p"],
        ["shop", "crypto.generate_key", "v1", "p"],
        ["shop", "random.password", "v2", "p"],
        ["shop", "random.password", "v1", "q"],
        ["shop", "random.password", "v1p", ""],
    ] {
        assert_ne!(one, sub(other), "{other:?}");
    }
}

#[test]
fn the_secret_of_a_contract_gives_separate_keys() {
    let secret = ContractSecret::fresh();
    assert_ne!(*secret.auth_key(), *secret.seed());
    assert_ne!(*secret.seed(), *ContractSecret::fresh().seed());
    assert_eq!(secret.seed_hash(), secret.clone().seed_hash());
    let plain = Algorithm::Sha256.digest(&[&*secret.seed()]);
    assert_ne!(secret.seed_hash(), plain, "the hash has a domain of its own");
}

#[test]
fn an_envelope_opens_for_its_recipients_and_nobody_else() {
    let (_folder, root) = root();
    let maker = Runner::of_machine(&root).unwrap();
    let other = Runner::ephemeral("test");
    let envelope = envelope();
    let sealed = envelope.seal(&maker, &[other.recipient(), other.recipient()]).unwrap();
    for runner in [&maker, &other] {
        let opened = Envelope::open(&sealed, runner).unwrap();
        assert_eq!(*opened.secret.seed(), *envelope.secret.seed());
        assert_eq!(opened.placeholder_key.expose(), envelope.placeholder_key.expose());
        assert_eq!(opened.regen, envelope.regen);
    }
    let stranger = Runner::ephemeral("test");
    assert_eq!(Envelope::open(&sealed, &stranger).unwrap_err(), OpenError::NotARecipient);
    assert_eq!(sealed.windows(6).filter(|w| w == b"X25519").count(), 2, "no recipient twice");
}

#[test]
fn every_changed_or_missing_byte_of_an_envelope_is_found() {
    let (_folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    let sealed = envelope().seal(&runner, &[]).unwrap();
    for at in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        assert!(Envelope::open(&changed, &runner).is_err(), "byte {at}");
        assert!(Envelope::open(&sealed[..at], &runner).is_err(), "cut at {at}");
    }
    let longer = [&sealed[..], b"x"].concat();
    assert_eq!(Envelope::open(&longer, &runner).unwrap_err(), OpenError::Damaged);
    let huge = vec![b'a'; MAX_ENVELOPE_BYTES + 1];
    assert_eq!(Envelope::open(&huge, &runner).unwrap_err(), OpenError::TooLarge);
}

#[test]
fn a_contract_that_nobody_could_open_is_not_sealed() {
    let gone = Runner::ephemeral("test");
    assert_eq!(envelope().seal(&gone, &[]).unwrap_err(), SealError::NobodyCouldOpen);
    let (_folder, root) = root();
    let other = Runner::of_machine(&root).unwrap();
    let sealed = envelope().seal(&gone, &[other.recipient()]).unwrap();
    assert!(Envelope::open(&sealed, &other).is_ok());
    assert_eq!(Envelope::open(&sealed, &gone).unwrap_err(), OpenError::NotARecipient);
}

#[test]
fn nothing_of_a_key_is_in_debug_or_errors() {
    let (_folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    let text = fs::read_to_string(runner_file(&root)).unwrap();
    let secret = text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1")).unwrap();
    let source = IdentitySource::from_variable(&Secret::new(secret), None).unwrap();
    let envelope = envelope();
    let errors = [
        IdentitySource::from_option(secret).unwrap_err(),
        secret.parse::<Recipient>().unwrap_err(),
        recipients(secret).unwrap_err(),
        recipients(&secret.to_lowercase()).unwrap_err(),
        recipients(runner_file(&root).to_str().unwrap()).unwrap_err(),
        secret.parse::<PublicKey>().unwrap_err(),
        IdentitySource::from_variable(&Secret::new(format!("{secret}x")), None)
            .unwrap()
            .load()
            .unwrap_err(),
    ];
    let shown = format!("{runner:?} {source:?} {envelope:?} {errors:?} {:?}", envelope.secret);
    let start = &secret[15..40];
    assert!(!shown.to_uppercase().contains(start), "{shown}");
    assert!(!shown.contains("7, 7") && !shown.contains("9, 9"), "{shown}");
}

#[test]
fn an_identity_replaces_the_runner_key_from_a_file_a_program_or_the_variable() {
    let (folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    let file = runner_file(&root);
    let path = file.to_str().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let variable =
        |text: &str| IdentitySource::from_variable(&Secret::new(text), Some(folder.path()));
    let sources = [
        IdentitySource::from_option(path),
        IdentitySource::from_option(&format!("cmd:cat {path}")),
        variable(&text),
        variable(text.lines().nth(1).unwrap()),
        variable(path),
        variable("~/opal/credentials/runner.key"),
        variable(&format!("cmd:cat  {path}")),
    ];
    for source in sources {
        let source = source.unwrap();
        let loaded = source.load().unwrap();
        assert_eq!(loaded.recipient(), runner.recipient(), "{source:?}");
        assert!(!loaded.is_ephemeral());
    }
}

#[test]
fn a_program_that_gives_no_key_fails_without_its_words() {
    let (folder, _) = root();
    let script = folder.path().join("fail");
    fs::write(&script, "#!/bin/sh\necho canary-1\necho canary-2 >&2\nexit 3\n").unwrap();
    chmod(&script, 0o700);
    let cases = [
        (format!("cmd:{}", script.display()), KeyErrorKind::Failed, "exit code 3"),
        ("cmd:/nowhere/at/all".into(), KeyErrorKind::Failed, "cannot be started"),
        ("cmd:echo canary-3".into(), KeyErrorKind::Invalid, "not a runner key"),
        ("cmd:true".into(), KeyErrorKind::Invalid, "not a runner key"),
    ];
    for (source, kind, words) in cases {
        let error = IdentitySource::from_option(&source).unwrap().load().unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.message.contains(words) && !error.message.contains("canary"), "{error}");
    }
    assert!(IdentitySource::from_option("cmd: ").is_err());
    let missing = IdentitySource::from_option("/nowhere/at/all").unwrap().load().unwrap_err();
    assert_eq!(missing.kind, KeyErrorKind::Missing);
}

#[test]
fn recipients_come_one_by_one_or_from_a_file() {
    let (folder, _) = root();
    let (one, two) = (Runner::ephemeral("").recipient(), Runner::ephemeral("").recipient());
    assert_eq!(recipients(&one.to_string()).unwrap(), std::slice::from_ref(&one));
    let file = folder.path().join("team");
    fs::write(&file, format!("# the team\n{one}\n\n  {two}\n")).unwrap();
    assert_eq!(recipients(file.to_str().unwrap()).unwrap(), [one, two]);
    for bad in ["", "# nobody\n", "age1x\n", "hello\n"] {
        fs::write(&file, bad).unwrap();
        assert!(recipients(file.to_str().unwrap()).is_err(), "{bad:?}");
    }
    let error = recipients("/nowhere").unwrap_err();
    assert!(error.help.contains("age1"), "{error:?}");
}

#[test]
fn age_itself_opens_an_envelope_with_the_runner_key_and_opal_opens_what_age_seals() {
    if !needs::program("age") {
        return;
    }
    let (folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    let sealed = folder.path().join("sealed.age");
    fs::write(&sealed, envelope().seal(&runner, &[]).unwrap()).unwrap();
    let mut opens = program("age");
    let opened = opens.arg("-d").arg("-i").arg(runner_file(&root)).arg(&sealed).output().unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
    assert!(opened.stdout.starts_with(b"opal envelope v1"));

    let mut seals = program("age");
    seals.arg("-r").arg(runner.recipient().to_string()).arg("-o").arg(folder.path().join("back"));
    let mut child = seals.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&opened.stdout).unwrap();
    assert!(child.wait().unwrap().success());
    let back = fs::read(folder.path().join("back")).unwrap();
    assert_eq!(Envelope::open(&back, &runner).unwrap().regen, envelope().regen);
}

#[test]
fn a_sealed_text_that_is_not_an_envelope_is_wrong_content() {
    if !needs::program("age") {
        return;
    }
    let (folder, root) = root();
    let runner = Runner::of_machine(&root).unwrap();
    fs::write(folder.path().join("text"), "something else").unwrap();
    let output = program("age")
        .arg("-r")
        .arg(runner.recipient().to_string())
        .arg(folder.path().join("text"))
        .output()
        .unwrap();
    assert_eq!(Envelope::open(&output.stdout, &runner).unwrap_err(), OpenError::WrongContent);
}

#[test]
fn a_signature_holds_for_its_key_and_its_bytes_only() {
    let key = SigningKey::generate();
    let public: PublicKey = key.public().to_string().parse().unwrap();
    let signature = key.sign(b"bytes");
    assert!(verify(&public, &signature, b"bytes"));
    assert!(!verify(&public, &signature, b"bytez"));
    assert!(!verify(&SigningKey::generate().public(), &signature, b"bytes"));
    for at in 0..64 {
        let mut changed = signature;
        changed[at] ^= 1;
        assert!(!verify(&public, &changed, b"bytes"), "byte {at}");
    }
    let again = SigningKey::from_pem(&key.to_pem()).unwrap();
    assert_eq!(again.public(), public);
}

#[test]
fn a_key_of_small_order_signs_nothing() {
    // The neutral point verifies every message under the lenient rules.
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = [0; 64];
    signature[0] = 1;
    assert!(!verify(&PublicKey::from_bytes(neutral), &signature, b"anything"));
}

#[test]
fn what_is_not_a_public_key_is_refused() {
    let good = SigningKey::generate().public().to_string();
    for bad in [
        "",
        "ed25519:",
        "ed25519:AAAA",
        &good[8..],
        &good[..good.len() - 1],
        &format!("{good}="),
        &format!("{good}AAAA"),
        &good.replace("ed25519", "Ed25519"),
    ] {
        assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
    }
}

#[test]
fn openssl_reads_a_signing_key_and_opal_reads_one_of_openssl() {
    if !needs::program("openssl") {
        return;
    }
    let (folder, root) = root();
    let credentials = Credentials::new(&root);
    let entry = credentials.generate(&KeyName::signing(), KeyKind::Sign).unwrap();
    let mut reads = program("openssl");
    reads.args(["pkey", "-pubout", "-outform", "DER", "-in"]).arg(&entry.path);
    let output = reads.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let public: PublicKey = entry.public.parse().unwrap();
    assert!(output.stdout.ends_with(public.as_bytes()));

    let path = folder.path().join("theirs.pem");
    let mut makes = program("openssl");
    makes.args(["genpkey", "-algorithm", "ed25519", "-out"]).arg(&path);
    assert!(makes.output().unwrap().status.success());
    chmod(&path, 0o600);
    let key = credentials.signing_key(path.to_str().unwrap()).unwrap();
    assert!(verify(&key.public(), &key.sign(b"x"), b"x"));
}

#[test]
fn named_keys_are_never_overwritten_and_stay_in_their_directory() {
    let (_folder, root) = root();
    let credentials = Credentials::new(&root);
    let name: KeyName = "release".parse().unwrap();
    let entry = credentials.generate(&name, KeyKind::Sign).unwrap();
    assert_eq!(credentials.show(&name).unwrap(), entry);
    assert_eq!(mode(&entry.path), 0o600);
    let public = fs::read_to_string(entry.path.with_extension("pub")).unwrap();
    assert_eq!(public.trim(), entry.public);
    for kind in [KeyKind::Sign, KeyKind::Seal] {
        assert_eq!(credentials.generate(&name, kind).unwrap_err().kind, KeyErrorKind::Exists);
    }
    fs::remove_file(entry.path.with_extension("pub")).unwrap();
    let again = credentials.generate(&name, KeyKind::Seal).unwrap_err();
    assert_eq!(again.kind, KeyErrorKind::Exists);
    assert_eq!(credentials.show(&name).unwrap(), entry);
    let long = "x".repeat(65);
    for bad in ["", ".", "..", "../x", "a/b", "/x", "-x", ".x", "a b", "ä", "a\0", &long] {
        assert_eq!(bad.parse::<KeyName>().unwrap_err().kind, KeyErrorKind::Name, "{bad:?}");
    }
}

#[test]
fn the_list_shows_every_key_and_what_is_wrong_with_one() {
    let (_folder, root) = root();
    let credentials = Credentials::new(&root);
    assert_eq!(credentials.list().unwrap(), []);
    assert!(!root.path().exists(), "looking makes nothing");
    credentials.generate(&"b".parse().unwrap(), KeyKind::Sign).unwrap();
    credentials.generate(&"a".parse().unwrap(), KeyKind::Seal).unwrap();
    let folder = root.path().join("credentials");
    fs::write(folder.join("broken.key"), "x").unwrap();
    chmod(&folder.join("broken.key"), 0o600);
    fs::write(folder.join("notes.txt"), "x").unwrap();
    let listed = credentials.list().unwrap();
    let names: Vec<&str> = listed.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "broken"]);
    assert_eq!(listed[0].found.as_ref().unwrap().kind, KeyKind::Seal);
    assert_eq!(listed[2].found.as_ref().unwrap_err().kind, KeyErrorKind::Invalid);
}

#[test]
fn a_key_to_seal_with_cannot_sign_and_a_public_key_is_found_by_name_text_or_file() {
    let (_folder, root) = root();
    let credentials = Credentials::new(&root);
    let sign = credentials.generate(&"s".parse().unwrap(), KeyKind::Sign).unwrap();
    credentials.generate(&"e".parse().unwrap(), KeyKind::Seal).unwrap();
    assert_eq!(credentials.signing_key("e").unwrap_err().kind, KeyErrorKind::Invalid);
    assert_eq!(credentials.signing_key("none").unwrap_err().kind, KeyErrorKind::Missing);
    let file = sign.path.with_extension("pub");
    for key in ["s", &sign.public, file.to_str().unwrap()] {
        assert_eq!(credentials.public_key(key).unwrap().to_string(), sign.public);
    }
    assert!(credentials.public_key("e").is_err());
    fs::remove_file(&sign.path).unwrap();
    assert_eq!(credentials.public_key("s").unwrap().to_string(), sign.public);
    assert_eq!(credentials.public_key("none").unwrap_err().kind, KeyErrorKind::Missing);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(credentials.public_key("s").unwrap_err().kind, KeyErrorKind::Exposed);
}

#[test]
fn a_contract_is_claimed_once_whoever_comes_first() {
    let (_folder, root) = root();
    let ledger = Ledger::new(&root);
    let contract = Algorithm::Sha256.digest(&[b"contract"]);
    assert!(!ledger.is_used(&contract));
    let start = Barrier::new(8);
    let won: usize = thread::scope(|scope| {
        let each = || {
            start.wait();
            match ledger.claim(&contract) {
                Ok(()) => 1,
                Err(ClaimError::AlreadyUsed) => 0,
                Err(ClaimError::Root(error)) => panic!("{error}"),
            }
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(won, 1);
    assert!(ledger.is_used(&contract));
    assert!(!ledger.is_used(&Algorithm::Sha256.digest(&[b"another"])));
    let nowhere = Root::new("/dev/null/opal");
    let error = Ledger::new(&nowhere).claim(&contract).unwrap_err();
    assert!(matches!(error, ClaimError::Root(error) if matches!(error.why, Why::NotADirectory)));
}
