//! Thirteen classes of secrets, in every form that real programs print them in, cut in many ways:
//! nothing of any of them is seen.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use opal_core::Data;
use opal_vault::Vault;

const LABEL: &str = "‹value›";

/// A long value costs too much without optimisation.
const LONG: usize = if cfg!(debug_assertions) { 2 << 10 } else { 100 << 10 };

/// Longer forms are cut in fewer ways.
const MANY_CUTS: usize = if cfg!(debug_assertions) { 500 } else { 20_000 };

fn pem() -> String {
    let mut text = String::from("-----BEGIN PRIVATE KEY-----\n");
    let mut noise = Noise(3);
    for _ in 0..12 {
        text.extend(std::iter::repeat_with(|| noise.letter()).take(64));
        text.push('\n');
    }
    text + "Qm9vIQ==\n-----END PRIVATE KEY-----\n"
}

fn long() -> String {
    let mut noise = Noise(5);
    std::iter::repeat_with(|| noise.letter()).take(LONG).collect()
}

fn classes() -> Vec<(&'static str, String)> {
    vec![
        ("a password", "correct-horse-7Battery".into()),
        ("blanks at its ends", "  open sesame now \t".into()),
        ("quotes and the like", r#"a'b"c\d$e`f&g<h>i;j|k*l(m)n{o}p[q]r~s!t#u^v%w/x,y=z"#.into()),
        ("other scripts", "Pässwörd–密码🔑ñandú€".into()),
        ("a key of many lines", pem()),
        (
            "a document",
            "{\n  \"user\": \"admin\",\n  \"key\": \"v4lu3/+=\\n\",\n  \"n\": [1, 2]\n}".into(),
        ),
        ("a URL", "postgres://admin:s3cr3t%2Fpw@db.example.com:5432/main?sslmode=require".into()),
        ("base64", "dGhpcyBpcyBub3QgYSBzZWNyZXQ+Pz8/".into()),
        ("hexadecimal", "9f86d081884c7d659a2feaa0c55ad015".into()),
        ("a short one", "k9#x!".into()),
        ("a long one", long()),
        (
            "control characters",
            "one\ttwo\u{1}\u{7f}\nthree\u{8}four\u{c}\r\nfive\u{1b}[1msixty".into(),
        ),
        (
            "backslashes",
            r"-----BEGIN KEY-----\nMIIEvQIBADANBgkq\tx\101\0102\x43\u20AC\nC:\\dir\\it's\qEND KEY"
                .into(),
        ),
    ]
}

/// A generator of numbers that is the same everywhere.
struct Noise(u64);

impl Noise {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn letter(&mut self) -> char {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        char::from(letters[self.below(letters.len())])
    }
}

/// How a stream is cut: each length in turn, or random ones.
enum Cut {
    Every(usize),
    Random(u64),
}

const CUTS: [Cut; 12] = [
    Cut::Every(usize::MAX),
    Cut::Every(4096),
    Cut::Every(64),
    Cut::Every(13),
    Cut::Every(7),
    Cut::Random(1),
    Cut::Random(2),
    Cut::Random(3),
    Cut::Every(5),
    Cut::Every(3),
    Cut::Every(2),
    Cut::Every(1),
];

fn scrubbed(vault: &Vault, mut text: &[u8], cut: &Cut) -> Vec<u8> {
    let mut scrubber = vault.scrubber();
    let mut out = Vec::new();
    let mut noise = Noise(match cut {
        Cut::Every(_) => 0,
        Cut::Random(seed) => *seed,
    });
    while !text.is_empty() {
        let length = match cut {
            Cut::Every(length) => *length,
            Cut::Random(_) => 1 + noise.below(40),
        };
        let (now, rest) = text.split_at(length.min(text.len()));
        out.extend_from_slice(scrubber.push(now).bytes());
        text = rest;
    }
    out.extend_from_slice(scrubber.finish().bytes());
    out
}

#[expect(clippy::disallowed_methods, reason = "the programs that define the forms")]
fn forms(secrets: &[(&str, String)]) -> Vec<(usize, String, Vec<u8>)> {
    let mut list = String::from("[");
    for (index, (_, secret)) in secrets.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(list, "{comma}\"").unwrap();
        secret.encode_utf16().for_each(|unit| write!(list, "\\u{unit:04x}").unwrap());
        list.push('"');
    }
    list.push(']');
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/vault/forms.py");
    let mut python = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is installed");
    let mut stdin = python.stdin.take().unwrap();
    stdin.write_all(list.as_bytes()).unwrap();
    drop(stdin);
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    let form = |line: &str| {
        let [index, name, hex] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (index.parse().unwrap(), name.to_owned(), (0..hex.len()).step_by(2).map(byte).collect())
    };
    lines.lines().map(form).collect()
}

/// What some forms have around the secret.
const AROUND: &[&str] = &[
    LABEL,
    "app-1  | ",
    "{\n  \"a\": 1,\n  \"v\": \"",
    "declare -- x=\"",
    "declare -- x=$'",
    "\x1b]8;;https://x/?t=",
    "\x1b\\here\x1b]8;;\x1b\\",
    // The end of the last line is not hidden.
    "\x1b[0m\n\x1b[0m",
];

/// Eight bytes in a row of `form` in what is shown, outside of what was there anyway.
fn leak<'o>(form: &[u8], out: &'o [u8]) -> Option<&'o [u8]> {
    let windows = out.windows(8);
    let around = |window: &[u8]| AROUND.iter().any(|around| memmem(around.as_bytes(), window));
    windows.filter(|window| memmem(form, window)).find(|window| !around(window))
}

fn memmem(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

#[test]
fn no_form_of_any_secret_is_seen_however_the_stream_is_cut() {
    let secrets = classes();
    let vaults: Vec<Vault> = secrets
        .iter()
        .map(|(_, secret)| {
            let vault = Vault::new();
            vault.register(&Data::text(secret.as_str()), LABEL);
            vault
        })
        .collect();
    let mut verified = [0; 13];
    let mut failures = Vec::new();
    for (index, name, form) in forms(&secrets) {
        let (class, secret) = &secrets[index];
        let short = secret.chars().count() < 8;
        if form.is_empty() || short && !memmem(&form, secret.as_bytes()) {
            continue;
        }
        verified[index] += 1;
        let mut text = b"2026 [\x1b[32mINFO\x1b[0m] ".to_vec();
        let opening = text.len();
        text.extend_from_slice(&form);
        text.extend_from_slice(b" ok\nnext\n");
        let cuts = if form.len() > MANY_CUTS { &CUTS[..6] } else { &CUTS[..] };
        let whole = scrubbed(&vaults[index], &text, &CUTS[0]);
        for cut in cuts {
            let out = scrubbed(&vaults[index], &text, cut);
            let seen = if short {
                memmem(&out, secret.as_bytes()).then_some(secret.as_bytes())
            } else {
                leak(&form, &out[opening..])
            };
            let kept = out.starts_with(&text[..opening]) && out.ends_with(b"next\n");
            if seen.is_some() || !kept || out != whole || !memmem(&out, LABEL.as_bytes()) {
                let [seen, out] = [seen.unwrap_or_default(), &out].map(String::from_utf8_lossy);
                failures.push(format!("{class}, {name}: {seen:?} in {out:?}"));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    for (count, (class, _)) in verified.iter().zip(&secrets) {
        let least = if *class == "a short one" { 10 } else { 80 };
        assert!(*count >= least, "{class}: only {count} forms");
    }
}
