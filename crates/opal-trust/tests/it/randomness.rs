//! Random values: determined by their seed, fair, and in forms that other programs read.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use opal_testing::needs;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use opal_core::data::Data;
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Generator, Input, Inputs, Stream};
use opal_trust::keys::Runner;
use opal_trust::randomness::{Drbg, Site, canonical_parameters};

/// What draws the values of a decorator.
fn generator(path: &str) -> &'static dyn Generator {
    let descriptor = opal_decorators::registry().get(path).unwrap();
    descriptor.generator.unwrap()
}

fn inputs(pairs: &[(&'static str, Data)]) -> Inputs {
    let args = pairs.iter().map(|(name, data)| (*name, Input::Data(data.clone())));
    Inputs { args: args.collect(), ..Inputs::default() }
}

fn password(length: i64, alphabet: &str) -> Inputs {
    inputs(&[("length", Data::Int(length)), ("alphabet", Data::text(alphabet))])
}

fn text(data: Data) -> String {
    data.as_text().unwrap().to_owned()
}

fn plan() -> Digest {
    Algorithm::Sha256.digest(&[b"plan"])
}

fn stream(counter: u64) -> Drbg {
    let site =
        Site { plan: &plan(), path: "deploy.shell[0]", decorator: "random.password", counter };
    Drbg::of_site(&[5; 32], &site)
}

fn bytes(mut stream: Drbg) -> [u8; 32] {
    let mut bytes = [0xff; 32];
    stream.fill(&mut bytes);
    bytes
}

#[test]
fn a_stream_depends_on_the_seed_and_every_part_of_the_site() {
    let plan = plan();
    let site = Site { plan: &plan, path: "a.b", decorator: "c", counter: 0 };
    let one = bytes(Drbg::of_site(&[5; 32], &site));
    assert_eq!(one, bytes(Drbg::of_site(&[5; 32], &site)));
    let other_plan = Algorithm::Sha256.digest(&[b"other"]);
    let others = [
        Drbg::of_site(&[6; 32], &site),
        Drbg::of_site(&[5; 32], &Site { plan: &other_plan, ..site }),
        Drbg::of_site(&[5; 32], &Site { path: "a.", decorator: "bc", ..site }),
        Drbg::of_site(&[5; 32], &Site { counter: 1, ..site }),
        Drbg::of_regen(&[5; 32]),
    ];
    for other in others {
        assert_ne!(one, bytes(other));
    }
}

#[test]
fn a_stream_is_the_same_however_it_is_read() {
    let mut whole = [0; 200];
    stream(0).fill(&mut whole);
    let mut parts = [0xaa; 200];
    let mut pieces = stream(0);
    parts.chunks_mut(7).for_each(|part| pieces.fill(part));
    assert_eq!(whole, parts);
}

#[test]
fn the_values_never_change() {
    // A contract of this version must give the same values in every later one; this one was
    // worked out with another implementation of HKDF and ChaCha20.
    let drawn = text(
        generator("random.password").generate(&password(16, "A-Za-z0-9"), &mut stream(0)).unwrap(),
    );
    assert_eq!(drawn, "Eg4ZlMu5gZPN7IJg");
}

#[test]
fn a_password_has_its_length_and_only_its_characters() {
    for (length, alphabet, allowed) in
        [(4, "01", "01"), (1024, "a-f-", "abcdef-"), (64, "äöü€", "äöü€")]
    {
        let made = generator("random.password")
            .generate(&password(length, alphabet), &mut stream(1))
            .unwrap();
        let made = text(made);
        assert_eq!(made.chars().count(), length as usize);
        assert!(made.chars().all(|c| allowed.contains(c)), "{alphabet}");
    }
}

#[test]
fn every_character_has_the_same_chance() {
    for alphabet in ["0-9", "A-Za-z0-9", "一-丂\u{4e03}-\u{51e7}"] {
        let mut counts: BTreeMap<char, u32> = BTreeMap::new();
        let mut source = stream(2);
        let inputs = password(1024, alphabet);
        let rounds = 50;
        for _ in 0..rounds {
            for c in
                text(generator("random.password").generate(&inputs, &mut source).unwrap()).chars()
            {
                *counts.entry(c).or_default() += 1;
            }
        }
        let cells = counts.len() as f64;
        let expected = f64::from(1024 * rounds) / cells;
        let chi_squared: f64 =
            counts.values().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // Mean k, variance 2k: six standard deviations never happen by chance, and the stream is
        // the same each time anyway.
        let k = cells - 1.0;
        assert!(chi_squared < k + 6.0 * (2.0 * k).sqrt(), "{alphabet}: {chi_squared} for {k}");
    }
}

#[test]
fn numbers_that_would_favour_a_character_are_drawn_again() {
    struct Row(Vec<u16>);
    impl Stream for Row {
        fn fill(&mut self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.0.remove(0).to_le_bytes());
        }
    }
    // Of 10 characters 65530 numbers are fair: the six beyond are passed over.
    let mut row = Row(vec![65535, 65530, 65529, 0, 65533, 1, 12]);
    let made = generator("random.password").generate(&password(4, "0-9"), &mut row).unwrap();
    assert_eq!(text(made), "9012");
    assert!(row.0.is_empty());
}

#[test]
fn inputs_without_sense_are_refused_before_there_is_a_seed() {
    let refused = [
        password(3, "a-z"),
        password(1025, "a-z"),
        password(-1, "a-z"),
        password(8, "z-a"),
        password(8, "a"),
        inputs(&[("alphabet", Data::text("a-z"))]),
        inputs(&[("length", Data::text("8")), ("alphabet", Data::text("a-z"))]),
        inputs(&[("length", Data::Int(8)), ("alphabet", Data::Int(1))]),
    ];
    for inputs in refused {
        let trouble = generator("random.password").check(&inputs).unwrap_err();
        assert!(!trouble.help.is_empty());
        assert!(generator("random.password").generate(&inputs, &mut stream(0)).is_err());
    }
    assert!(generator("random.password").check(&password(8, "a-z")).is_ok());
    for ty in [Data::text("rsa"), Data::text(""), Data::Int(1)] {
        assert!(generator("crypto.generate_key").check(&inputs(&[("type", ty)])).is_err());
    }
    assert!(generator("crypto.generate_key").check(&inputs(&[])).is_err());
}

fn key(ty: &str) -> String {
    let inputs = inputs(&[("type", Data::text(ty))]);
    generator("crypto.generate_key").check(&inputs).unwrap();
    text(generator("crypto.generate_key").generate(&inputs, &mut stream(3)).unwrap())
}

#[test]
fn keys_have_the_forms_their_documentation_promises() {
    for ty in ["ed25519", "x25519"] {
        let pem = key(ty);
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2V"), "{ty}");
        assert!(pem.ends_with("\n-----END PRIVATE KEY-----\n"), "{ty}");
        assert_eq!(pem.lines().count(), 3);
    }
    let aes = key("aes256");
    assert_eq!(aes.len(), 44);
    assert!(aes.ends_with('='));
    let all: BTreeSet<String> = ["ed25519", "x25519", "aes256"].map(key).into();
    assert_eq!(all.len(), 3);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "openssl says what a private key is")]
fn openssl_reads_the_keys() {
    if !needs::program("openssl") {
        return;
    }
    for (ty, algorithm) in [("ed25519", "ED25519"), ("x25519", "X25519")] {
        let mut child = Command::new("openssl")
            .args(["pkey", "-text", "-noout"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(key(ty).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{ty}");
        assert!(String::from_utf8_lossy(&output.stdout).starts_with(algorithm), "{ty}");
    }
}

#[test]
fn a_lasting_value_changes_with_its_parameters_and_not_with_how_it_is_used() {
    let runner = Runner::ephemeral("test");
    let value = |length: i64, more: &[(&'static str, Data)]| {
        let mut inputs = password(length, "a-z");
        inputs.args.extend(more.iter().map(|(name, data)| (*name, Input::Data(data.clone()))));
        let parameters = canonical_parameters(&inputs);
        let subkey = runner.regen_subkey("shop", "random.password", "v1", &parameters);
        text(generator("random.password").generate(&inputs, &mut Drbg::of_regen(&subkey)).unwrap())
    };
    let one = value(32, &[]);
    assert_eq!(one, value(32, &[("dash", Data::Bool(true)), ("regen_key", Data::text("v1"))]));
    assert_ne!(one, value(33, &[])[..32]);
}

#[test]
fn the_descriptors_carry_their_generators() {
    let registry = opal_decorators::registry();
    for path in ["random.password", "crypto.generate_key"] {
        assert!(registry.get(path).unwrap().generator.is_some(), "{path}");
    }
}
