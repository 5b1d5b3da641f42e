//! Packages whose publisher signs with an identity: Sigstore bundles of an authority of our own.

mod authority;

use std::fs;

use opal_core::hash::Algorithm;
use serde_json::{Value, json};

use super::publish::Author;
use super::shelf::Shelf;
use crate::support::Opal;
use authority::{Authority, IDENTITY, ISSUER, Person, base64};

fn publisher() -> String {
    format!("sigstore:{IDENTITY} ({ISSUER})")
}

/// What a publisher says about the list of files that `opal plugin pack` wrote.
fn provenance(author: &Author) -> Value {
    author.opal.call(&["plugin", "pack", "vault", "--list", "vault.list"]).code(0);
    let list = author.opal.bytes("vault.list");
    json!({
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{
            "name": "vault.list",
            "digest": {"sha256": Algorithm::Sha256.digest(&[&list]).hex()},
        }],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {"buildDefinition": {}, "runDetails": {}},
    })
}

/// From now on a machine trusts an instance.
fn trusts(opal: &Opal, root: &Value, more: &str) {
    let file = opal.path().join(".opal/config/root.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, root.to_string()).unwrap();
    let policy = format!("[plugins]\nsigstore = [\"{}\"]\n{more}", file.display());
    opal.write(".opal/config/policy.toml", policy);
}

/// A project of somebody else, and a list that accepts what the author published.
fn shop(author: &Author) -> (Opal, Shelf, String) {
    let opal = super::rooted("fun hi() = @vault.hello()\n").file(
        "opal.mod",
        format!("name = \"shop\"\n\n[registries]\nacme = \"{}\"\n", author.address()),
    );
    let packed = author.opal.call(&["plugin", "pack", "vault", "--json"]).code(0).json();
    let shelf = Shelf::new();
    let checksum = packed["packed"]["checksum"].as_str().unwrap();
    let list = shelf.accepting("acme/vault", "1.0.0", checksum, "");
    (opal, shelf, list)
}

const SIGNED: [&str; 3] = ["--no-sign", "--bundle", "vault.json"];

#[test]
fn a_bundle_says_who_published_a_package() {
    let Some(authority) = Authority::new() else { return };
    let author = Author::new();
    let signer = authority.signer("own", &Person::default());
    let bundle = authority.bundle(&signer, &provenance(&author), 0);
    author.opal.write("vault.json", serde_json::to_string_pretty(&bundle).unwrap());
    author.publish(&SIGNED).code(77).says("no trust root").says("sigstore = [");
    trusts(&author.opal, &authority.root(true), "");
    author.publish(&SIGNED).code(0).says(&format!("Publisher: {}\n", publisher()));
    let (opal, _shelf, list) = shop(&author);
    let add = ["plugin", "add", "acme/vault@1", "--accept", &list];
    trusts(&opal, &authority.root(true), "");
    opal.call(&["plugin", "add", "acme/vault@1"])
        .code(77)
        .says(&format!("Publisher: {}\n", publisher()));
    opal.call(&add).code(0);
    assert!(opal.read("opal.lock").contains(&format!("signed_by = \"{}\"\n", publisher())));
    opal.call(&["hi"]).code(0).says("hello");
    fs::rename(&author.registry, author.opal.path().join("away")).unwrap();
    opal.call(&["plan", "hi", "-o", "hi.plan"]).code(0);
    opal.call(&["run", "--plan", "hi.plan"]).code(0);
    let shown = opal.call(&["plan", "show", "hi.plan", "--json"]);
    shown.code(0);
    assert!(shown.stdout.contains(&publisher()), "{}", shown.stdout);
    // A policy can name the publisher, or refuse it.
    let named = format!("publishers = [\"{}\"]\n", publisher());
    let other = format!("publishers = [\"sigstore:{IDENTITY} (https://other.example)\"]\n");
    let denied = format!("deny = [\"{}\"]\n", publisher());
    for (more, code) in [(&named, 0), (&other, 77), (&denied, 77)] {
        trusts(&opal, &authority.root(true), more);
        opal.call(&["hi"]).code(code);
    }
}

#[test]
fn a_pinned_identity_is_verified_whenever_the_package_is_read() {
    let Some(authority) = Authority::new() else { return };
    let author = Author::new();
    let signer = authority.signer("own", &Person::default());
    let bundle = authority.bundle(&signer, &provenance(&author), 0);
    author.opal.write("vault.json", bundle.to_string());
    let root = authority.root(true);
    trusts(&author.opal, &root, "");
    author.publish(&SIGNED).code(0);
    let (opal, _shelf, list) = shop(&author);
    trusts(&opal, &root, "");
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0);
    // Without the trust root, with that of strangers, and with one that is none.
    let strangers = Authority::new().unwrap().root(true);
    trusts(&opal, &strangers, "");
    opal.call(&["hi"]).code(77).says("is not signed by its publisher sigstore:");
    trusts(&opal, &json!({}), "");
    opal.call(&["hi"]).code(78).says("is not a trust root of Sigstore");
    opal.write(".opal/config/policy.toml", "");
    opal.call(&["hi"]).code(77).says("has no trust root to verify that");
    let text = opal.read("opal.mod");
    let file = opal.path().join(".opal/config/root.json").display().to_string();
    opal.write("opal.mod", format!("{text}[policy.plugins]\nsigstore = [\"{file}\"]\n"));
    opal.call(&["hi"]).code(77).says("has no trust root to verify that");
    trusts(&opal, &root, "");
    opal.call(&["hi"]).code(78).says("sigstore");
    opal.write("opal.mod", text);
    opal.call(&["hi"]).code(0);
    // A name that somebody wrote into the lock, and bundles that are gone from the cache.
    let lock = opal.read("opal.lock");
    opal.write("opal.lock", lock.replace("acme/vault/release.yml", "acme/vault/other.yml"));
    opal.call(&["hi"]).code(77).says("other.yml");
    opal.write("opal.lock", &lock);
    let kept = fs::read_dir(opal.path().join(".opal/plugins")).unwrap();
    let kept = kept.map(|it| it.unwrap().path().join("statements.jsonl"));
    let file = kept.into_iter().find(|it| it.exists()).unwrap();
    let lines = fs::read_to_string(&file).unwrap();
    fs::write(&file, "").unwrap();
    opal.call(&["hi"]).code(77).says("is not signed by its publisher");
    fs::write(&file, lines).unwrap();
    opal.call(&["hi"]).code(0);
}

/// Who has no trust root learns nothing from a bundle, and an own key goes before an identity.
#[test]
fn a_bundle_without_a_trust_root_says_nothing() {
    let Some(authority) = Authority::new() else { return };
    let author = Author::new();
    author.publish(&[]).code(0);
    let signer = authority.signer("own", &Person::default());
    let bundle = authority.bundle(&signer, &provenance(&author), 0);
    author.opal.write("vault.json", bundle.to_string());
    trusts(&author.opal, &authority.root(true), "");
    let added = author.publish(&["--attest", "--no-sign", "--bundle", "vault.json"]);
    added.code(0).says("added the bundle about acme/vault 1.0.0");
    author.publish(&["--attest"]).code(2).says("--bundle");
    let key = author.key("signing").to_string();
    for root in [Some(authority.root(true)), None] {
        let (opal, _shelf, list) = shop(&author);
        if let Some(root) = &root {
            trusts(&opal, root, "");
        }
        opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0);
        assert!(opal.read("opal.lock").contains(&format!("signed_by = \"{key}\"\n")));
        opal.call(&["hi"]).code(0);
    }
    let unsigned = Author::new();
    let bundle = authority.bundle(&signer, &provenance(&unsigned), 0);
    unsigned.opal.write("vault.json", bundle.to_string());
    trusts(&unsigned.opal, &authority.root(true), "");
    unsigned.publish(&SIGNED).code(0);
    let (opal, _shelf, list) = shop(&unsigned);
    opal.call(&["plugin", "add", "acme/vault@1", "--accept", &list]).code(0);
    assert!(!opal.read("opal.lock").contains("signed_by"));
    // What was locked without a publisher is used on machines that could verify one, too.
    trusts(&opal, &authority.root(true), "");
    opal.call(&["hi"]).code(0);
}

#[test]
fn a_timestamp_is_enough_where_an_instance_has_no_log() {
    let Some(authority) = Authority::new() else { return };
    let author = Author::new();
    let signer =
        authority.signer("own", &Person { name: "email:ann@acme.example", ..Person::default() });
    let statement = provenance(&author);
    trusts(&author.opal, &authority.root(false), "");
    let stamped = authority.stamped(&signer, &statement);
    let mut unstamped = stamped.clone();
    unstamped["verificationMaterial"]["timestampVerificationData"] = json!({});
    author.opal.write("vault.json", unstamped.to_string());
    author.publish(&SIGNED).code(77);
    // Nor where the instance has a log.
    author.opal.write("vault.json", stamped.to_string());
    trusts(&author.opal, &authority.root(true), "");
    author.publish(&SIGNED).code(77);
    trusts(&author.opal, &authority.root(false), "");
    author.publish(&SIGNED).code(0).says("Publisher: sigstore:ann@acme.example (");
    let neither = {
        let mut root = authority.root(false);
        root["timestampAuthorities"] = json!([]);
        root
    };
    trusts(&author.opal, &neither, "");
    author.publish(&SIGNED).code(78).says("neither a transparency log nor");
}

/// An author who trusts the instance, and has tried each of these bundles in vain.
fn refuses(authority: &Authority, author: &Author, cases: Vec<(&str, Value)>) {
    trusts(&author.opal, &authority.root(true), "");
    for (what, bundle) in cases {
        author.opal.write("vault.json", bundle.to_string());
        let ran = author.publish(&SIGNED);
        assert_eq!(ran.code, 77, "{what}: {ran:?}");
        ran.says("does not say who published acme/vault 1.0.0");
    }
    assert!(!author.registry.join("acme/vault/1.0.0").exists());
}

/// Each would make somebody the publisher of what they have not published.
#[test]
fn a_bundle_that_does_not_hold_is_not_published() {
    let Some(authority) = Authority::new() else { return };
    let author = Author::new();
    let statement = provenance(&author);
    let own = authority.signer("own", &Person::default());
    let good = authority.bundle(&own, &statement, 0);
    let said = |pointer: &str, value: Value| {
        let mut other = statement.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        authority.bundle(&own, &other, 0)
    };
    let changed = |pointer: &str, value: Value| {
        let mut other = good.clone();
        *other.pointer_mut(pointer).unwrap() = value;
        other
    };
    let entry = |rest: &str, value: Value| {
        changed(&format!("/verificationMaterial/tlogEntries/0{rest}"), value)
    };
    let other_payload = said("/predicate", json!({"more": 1}))["dsseEnvelope"]["payload"].clone();
    let mut message = good.clone();
    message.as_object_mut().unwrap().remove("dsseEnvelope");
    message["messageSignature"] =
        json!({"signature": good["dsseEnvelope"]["signatures"][0]["sig"]});
    let older = "application/vnd.dev.sigstore.bundle+json;version=0.2";
    let (digest, zeros) = ("/subject/0/digest/sha256", "00".repeat(32));
    let cases = vec![
        ("other files", said(digest, json!(zeros))),
        ("no subject", said("/subject", json!([]))),
        ("not provenance", said("/predicateType", json!("https://x.example/scan"))),
        ("not a statement", said("/_type", json!("https://in-toto.io/Statement/v9"))),
        ("another payload", changed("/dsseEnvelope/payload", other_payload)),
        ("only a signature", message),
        ("another time", entry("/integratedTime", json!("1700000000"))),
        ("no promise", entry("/inclusionPromise/signedEntryTimestamp", json!(base64(b"x")))),
        ("another proof", entry("/inclusionProof/hashes", json!([base64(&[7; 32])]))),
        ("no proof", entry("/inclusionProof", Value::Null)),
        ("no entry", changed("/verificationMaterial/tlogEntries", json!([]))),
        ("an older format", changed("/mediaType", json!(older))),
        ("nothing", json!({})),
    ];
    refuses(&authority, &author, cases);
    author.opal.write("vault.json", "not json");
    author.publish(&SIGNED).code(65);
    author.opal.write("vault.json", good.to_string());
    author.publish(&SIGNED).code(0);
}

/// Each would make somebody a publisher who is nobody, or somebody else.
#[test]
fn a_certificate_that_does_not_hold_names_no_publisher() {
    let Some(authority) = Authority::new() else { return };
    let Some(strangers) = Authority::new() else { return };
    let author = Author::new();
    let statement = provenance(&author);
    let plain = Person::default();
    let own = authority.signer("own", &plain);
    let log = authority.bundle(&own, &statement, 0)["verificationMaterial"]["tlogEntries"].clone();
    let foreign = strangers.bundle(&strangers.signer("own", &plain), &statement, 0);
    let mut mixed = foreign.clone();
    mixed["verificationMaterial"]["tlogEntries"] = log;
    let by =
        |person: &Person<'_>| authority.bundle(&authority.signer("other", person), &statement, 0);
    let cases = vec![
        ("another authority", foreign),
        ("another certificate", mixed),
        ("no identity", by(&Person { name: "", ..plain })),
        ("no issuer", by(&Person { issuer: "", ..plain })),
        ("a name with a space", by(&Person { name: "email:a b@acme.example", ..plain })),
        ("a certificate for servers", by(&Person { usage: "serverAuth", ..plain })),
        ("logged before the certificate", authority.bundle(&own, &statement, -86_400)),
        ("logged in the future", authority.bundle(&own, &statement, 86_000)),
    ];
    refuses(&authority, &author, cases);
}
