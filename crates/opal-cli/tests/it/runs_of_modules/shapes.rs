//! A script that prints secrets in every shape it can think of: none of them is seen anywhere.

use super::release::{Release, tree};
use crate::support::Ran;

/// Of an input, which goes by its key.
const PASSWORD: &str = "k7#Qx/p+z\"w0%Vt";
/// Of an input that only the schema calls secret.
const PIN: &str = "48151623429";
/// In a file of credentials, in one of the vault.
const CREDENTIAL: &str = "hcred-2Nf8vYx0qL";
const VAULTED: &str = "vaulted-93jfKq71z";

/// What opal has never seen, in the shapes that give it away; `%` stands between the halves of each, so
/// that no file of the pack holds one.
const UNKNOWN: [(&str, &str); 16] = [
    ("an assignment", "password=aa%1-Qm3xT9z"),
    ("a long option", "--db-password=aa%2-Qm3xT9z"),
    ("a compound key", "AWS_SECRET_ACCESS_KEY=aa%3-Qm3xT9z"),
    ("a line of YAML", "token: aa%4-Qm3xT9z"),
    ("JSON", "{\"api_key\": \"aa%5-Qm3xT9z\", \"a\": 1}"),
    ("JSON in JSON", "{\\\"client_secret\\\": \\\"aa%6-Qm3xT9z\\\"}"),
    ("a bearer header", "Authorization: Bearer aa%7-Qm3xT9z"),
    ("a basic header", "authorization: Basic YWE4%OlFtM3hUOXo="),
    ("a header of another name", "X-Auth-Token: aa%9-Qm3xT9z"),
    ("a URL", "postgres://admin:aa%10-Qm3xT9z@db.example/x"),
    ("a token of GitHub", "ghp_aa%11Qm3xT9zAbCdEfGhIjKlMnOpQrStUv01"),
    ("a key of AWS", "AKIAQM3X%T9ZABCDEFGHI"),
    (
        "a JWT",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNry%P4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ),
    ("a token of Slack", "xoxb-1234%56789012-aaQm3xT9zAbCdEfGh"),
    (
        "a key of PEM in one line",
        "-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADAN%BgkqhkiG9w0BAQEFAASC\\n-----END PRIVATE KEY-----",
    ),
    (
        "a key of PEM",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA%1c7+9z5Pad7OejecsQ0bu3aumtest\n-----END RSA PRIVATE KEY-----",
    ),
];

/// The part of an unknown one that must not be seen.
fn core(shape: &str) -> String {
    let (before, after) = shape.split_once('%').unwrap();
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || "-_=+".contains(c);
    let start = before.rfind(|c| !is_of_it(c)).map_or(0, |at| at + 1);
    let start = before[start..].rfind('=').map_or(start, |at| start + at + 1);
    let end = after.find(|c| !is_of_it(c)).unwrap_or(after.len());
    format!("{}{}", &before[start..], &after[..end])
}

/// Prints each known value in each form, on both streams, whole and letter by letter, behind a stretch
/// that ends within it; then everything unknown.
fn script() -> String {
    let mut script = String::from(
        ". ./hyops.inputs.sh\n\
         cat > say.py <<'PY'\n\
         import base64, json, sys, time, urllib.parse, binascii\n\
         for value in sys.argv[1:]:\n\
         \x20   raw = value.encode()\n\
         \x20   forms = [value, base64.b64encode(raw).decode(), urllib.parse.quote(value, safe=''),\n\
         \x20       urllib.parse.quote_plus(value), json.dumps(value), json.dumps({'k': value}),\n\
         \x20       binascii.hexlify(raw).decode(), repr(value), 'x=' + value + ';', value * 3,\n\
         \x20       base64.b64encode(b'user:' + raw).decode()]\n\
         \x20   for out in (sys.stdout, sys.stderr):\n\
         \x20       for form in forms:\n\
         \x20           out.write('<' + form + '>\\n')\n\
         \x20       for size in (4096, 8192, 16384, 65536):\n\
         \x20           out.write('.' * (size - len(value) // 2) + value + '\\n')\n\
         \x20       out.flush()\n\
         \x20       for letter in value:\n\
         \x20           out.write(letter); out.flush(); time.sleep(0.001)\n\
         \x20       out.write('\\n'); out.flush()\n\
         PY\n\
         vaulted=\"$(sed -n 's/^VAULTED=//p' \"$HYOPS_RUNTIME_ROOT/vault/more.env\")\"\n\
         python3 say.py \"$input_db__password\" \"$input_pin\" \"$HCLOUD_TOKEN\" \"$vaulted\"\n\
         env; cat hyops.inputs.json hyops.inputs.sh inputs.auto.tfvars.json >&2\n",
    );
    for (_, shape) in UNKNOWN {
        let (before, after) = shape.split_once('%').unwrap();
        let line = format!("printf '%s%s\\n' '{before}' '{after}'");
        script.push_str(&format!("{line}\n{line} >&2\n"));
    }
    script.push_str("sh -c 'printf \"%s: %s is wrong\\n\" \"$0\" \"$1\" >&2; exit 7' fatal \"$input_db__password\"\n");
    script
}

fn release() -> Release {
    Release::new(&script())
        .spec(&[("credentials: []", "credentials: [hetzner]")])
        .file(
            "rel/modules/core/net/inputs.schema.json",
            r#"{"properties": {"pin": {"type": "string", "writeOnly": true}}}"#,
        )
        .private(
            "root/credentials/hetzner.credentials.env",
            &format!("HCLOUD_TOKEN={CREDENTIAL}\n"),
        )
        .private("root/vault/more.env", &format!("VAULTED={VAULTED}\n"))
        .env(
            "HYOPS_INPUTS_JSON",
            &serde_json::json!({"db": {"password": PASSWORD}, "pin": PIN}).to_string(),
        )
}

/// Everything that must not be seen: of the known values each form that the script prints.
fn secrets() -> Vec<(String, String)> {
    let mut secrets: Vec<(String, String)> =
        UNKNOWN.iter().map(|(name, shape)| ((*name).to_owned(), core(shape))).collect();
    for (name, value) in [
        ("the password", PASSWORD),
        ("the pin", PIN),
        ("the credential", CREDENTIAL),
        ("the vault", VAULTED),
    ] {
        let mut form = |what: &str, text: String| secrets.push((format!("{name}, {what}"), text));
        form("as it is", value.to_owned());
        form("in JSON", serde_json::json!(value).to_string().trim_matches('"').to_owned());
        form("in hexadecimal", value.bytes().map(|byte| format!("{byte:02x}")).collect());
        let quoted = |byte: u8| match byte {
            byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        };
        form("in a URL", value.bytes().map(quoted).collect());
        form("in base64", base64(value.as_bytes()));
        form("in base64 behind a name", base64(format!("user:{value}").as_bytes())[8..].to_owned());
    }
    secrets
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte))
            << (8 * (3 - chunk.len()));
        for at in 0..=chunk.len() {
            text.push(char::from(LETTERS[(group >> (18 - 6 * at) & 63) as usize]));
        }
    }
    text
}

/// Everything that a run leaves and shows.
fn leaks(release: &Release, shown: &[&Ran], files: &[&str]) -> Vec<String> {
    let mut texts: Vec<(String, String)> = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for ran in shown {
        texts.push(("standard output".to_owned(), ran.stdout.clone()));
        texts.push(("standard error".to_owned(), ran.stderr.clone()));
    }
    for folder in ["root/logs", "root/state", "root/meta", "root/work", "records", "home"] {
        let entries = tree(&release.path(folder)).into_iter();
        texts.extend(entries.map(|(path, .., content)| {
            let path = path.display().to_string();
            (path.clone(), format!("{path}\n{}", text(&content)))
        }));
    }
    for file in files {
        texts.push(((*file).to_owned(), text(&std::fs::read(release.path(file)).unwrap())));
    }
    let secrets = secrets();
    let seen = |(place, text): &(String, String)| -> Vec<String> {
        let found = secrets.iter().filter(|(_, secret)| text.contains(secret));
        found.map(|(name, _)| format!("{name} in {place}")).collect()
    };
    texts.iter().flat_map(seen).collect()
}

#[test]
fn no_secret_is_in_what_a_run_leaves_and_shows_whatever_its_tool_prints() {
    let release = release();
    let ran = release.apply(&["--events", "events", "--verbose", "--debug", "detailed"]);
    ran.code(7).says("<redacted>");
    let found = leaks(&release, &[&ran], &["events"]);
    assert!(found.is_empty(), "{found:#?}");
    let stdout = std::fs::read(release.evidence().join("shell_apply.stdout.txt")).unwrap();
    assert!(stdout.len() > 4 * (4096 + 8192 + 16384 + 65536), "what was printed is there");
}

#[test]
fn no_secret_is_in_a_plan_a_contract_or_a_document_of_a_run() {
    let release = release();
    let lines: [&[&str]; 5] = [
        &["--dry-run"],
        &["--dry-run", "--json"],
        &["--dry-run", "--resolve"],
        &["--dry-run", "-o", "net.plan"],
        &["--json"],
    ];
    let mut shown: Vec<Ran> = lines.iter().map(|line| release.apply(line)).collect();
    assert_eq!(shown.iter().map(|ran| ran.code).collect::<Vec<_>>(), [0, 0, 0, 0, 7]);
    let opal = release.opal();
    for line in [
        &["plan", "show", "net.plan"][..],
        &["plan", "diff", "net.plan", "--json"],
        &["plan", "verify", "net.plan", "--json"],
        &["run", "--plan", "net.plan", "--json"],
        &["runs", "show", "last", "--json"],
        &["module", "preflight", "core/net", "--json"],
        &["module", "validate", "core/net", "--json"],
    ] {
        shown.push(opal.call(line));
    }
    let shown: Vec<&Ran> = shown.iter().collect();
    let found = leaks(&release, &shown, &["net.plan"]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_shapes_are_what_they_seem() {
    for (name, shape) in UNKNOWN {
        assert!(core(shape).len() > 10, "{name}: {}", core(shape));
    }
    assert_eq!(core("password=aa%1-Qm3xT9z"), "aa1-Qm3xT9z");
    assert_eq!(base64(b"user:ab"), "dXNlcjphYg");
}
