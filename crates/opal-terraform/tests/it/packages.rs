//! Packages from a registry of our own, which then lies: each byte of what it serves is changed.

mod registry;

use std::path::Path;

use base64ct::Encoding as _;
use opal_core::protocol::Kind;
use opal_terraform::package::open::{From, Open, open};
use opal_terraform::package::source::Source;
use opal_terraform::package::{archive, dirhash, hex};
use sha2::{Digest as _, Sha256};

use crate::support::directory;
use registry::{Cache, FILES, Gpg, Served, fingerprint, honest, key, now, odd, public, serve, zip};

#[test]
fn an_honest_package_is_unpacked_with_all_its_hashes() {
    let key = key();
    let (cache, served) = (Cache::new(), honest(&key));
    let opened = open(&cache.ask(&served)).unwrap();
    assert_eq!(opened.signed_by, Some(fingerprint(&key)));
    assert!(opened.is_first_use);
    assert_eq!(opened.program, "terraform-provider-box_v1.2.3");
    let zh = |digest: &str| format!("zh:{digest}");
    let own = zh(&hex(&Sha256::digest(&served.zip)));
    let mut hashes = vec![opened.h1.clone(), own, zh(&"ab".repeat(32))];
    hashes.sort();
    assert_eq!(opened.hashes, hashes);
    // The digest of what is there now is the digest of what was unpacked.
    assert_eq!(dirhash::of_directory(&cache.unpacked()).unwrap(), opened.h1);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |name: &str| {
        std::fs::metadata(cache.unpacked().join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(FILES[0].0), mode(FILES[1].0)), (0o444, 0o555));
}

#[test]
fn h1_is_the_digest_of_sorted_lines_of_digests() {
    let home = directory();
    std::fs::create_dir(home.path().join("b")).unwrap();
    std::fs::write(home.path().join("a"), "x\n").unwrap();
    std::fs::write(home.path().join("b/c"), "").unwrap();
    let lines = [("x\n", "a"), ("", "b/c")]
        .map(|(bytes, name)| format!("{}  {name}\n", hex(&Sha256::digest(bytes))));
    let digest = Sha256::digest(lines.concat());
    let expected = format!("h1:{}", base64ct::Base64::encode_string(&digest));
    assert_eq!(dirhash::of_directory(home.path()).unwrap(), expected);
    // A symlink is not a file of a package.
    std::os::unix::fs::symlink("a", home.path().join("link")).unwrap();
    assert!(dirhash::of_directory(home.path()).is_err());
}

#[test]
fn each_changed_byte_is_refused_or_means_nothing() {
    let key = key();
    let (cache, served) = (Cache::new(), honest(&key));
    let good = cache.open(&served).unwrap();
    let refused = |changed: &Served| match cache.open(changed) {
        Err(rejected) => Some(rejected.why),
        // What passes must be the same package of the same signer.
        Ok(opened) => {
            assert_eq!((&opened.h1, &opened.signed_by), (&good.h1, &good.signed_by));
            assert_eq!(opened.hashes, good.hashes);
            None
        }
    };
    let flip = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    for at in 0..served.zip.len() {
        let changed = Served { zip: flip(&served.zip, at), ..served.clone() };
        assert_eq!(refused(&changed).unwrap(), "the archive is not what SHA256SUMS lists", "{at}");
    }
    for at in 0..served.sums.len() {
        let changed = Served { sums: flip(&served.sums, at), ..served.clone() };
        assert_eq!(refused(&changed).unwrap(), "the signature of SHA256SUMS is not valid", "{at}");
    }
    let mut unsigned = 0;
    for at in 0..served.signature.len() {
        let changed = Served { signature: flip(&served.signature, at), ..served.clone() };
        // Some bytes of a signature are not signed, and say nothing about who made it.
        let Some(why) = refused(&changed) else {
            unsigned += 1;
            continue;
        };
        let expected = [
            "the signature of SHA256SUMS is not an OpenPGP signature",
            "the signature of SHA256SUMS is not valid",
            "SHA256SUMS is signed by none of the registry's keys",
        ];
        assert!(expected.contains(&why.as_str()), "{at}: {why}");
    }
    assert!(unsigned < 8, "{unsigned} of {}", served.signature.len());
    let mut passed = 0;
    for at in 0..served.record.len() {
        let changed = Served { record: flip(&served.record, at), ..served.clone() };
        passed += usize::from(refused(&changed).is_none());
    }
    // Addresses of files that were downloaded already, and comments of keys.
    assert!(passed < served.record.len() / 2, "{passed} of {}", served.record.len());
}

#[test]
fn each_signature_that_does_not_count_is_refused_by_name() {
    let (own, foreign) = (key(), key());
    let cache = Cache::new();
    let say = |served: &Served| {
        let rejected = cache.open(served).unwrap_err();
        assert_eq!(rejected.kind, Kind::Denied, "{}", rejected.why);
        rejected.why
    };
    let by_foreign = serve(zip(&FILES), &foreign, &[public(&own)]);
    assert_eq!(say(&by_foreign), "SHA256SUMS is signed by none of the registry's keys");
    let twice = honest(&own);
    let twice = Served { signature: [&twice.signature[..], &twice.signature].concat(), ..twice };
    assert_eq!(say(&twice), "the signature of SHA256SUMS is not an OpenPGP signature");
    let none = Served { signature: vec![], ..honest(&own) };
    assert_eq!(say(&none), "the signature of SHA256SUMS is not an OpenPGP signature");
    // One good key among others is enough, in any place.
    let among = serve(zip(&FILES), &own, &[public(&foreign), public(&own)]);
    assert_eq!(cache.open(&among).unwrap().signed_by, Some(fingerprint(&own)));
}

#[test]
fn another_key_than_the_locked_or_the_known_one_is_refused() {
    let (own, other) = (key(), key());
    let cache = Cache::new();
    let served = honest(&own);
    let locked = Open { signed_by: Some(fingerprint(&other)), ..cache.ask(&served) };
    let why = cache.judge(&locked).unwrap_err().why;
    let (own, other) = (fingerprint(&own), fingerprint(&other));
    assert_eq!(why, format!("it is signed by {own}, and {other} is locked"));
    assert_eq!(cache.judge(&Open { trust: true, ..locked }).unwrap().signed_by, Some(own.clone()));
    // Whoever is trusted: the key of a known publisher does not change.
    let source = Source::read("hashicorp/box").unwrap();
    let known = Open { source, trust: true, ..cache.ask(&served) };
    let rejected = cache.judge(&known).unwrap_err();
    assert_eq!(rejected.kind, Kind::Denied);
    assert_eq!(
        rejected.why,
        format!(
            "it is signed by {own}, expected openpgp:E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80, \
             the key of its publisher"
        )
    );
}

#[test]
fn a_registry_without_keys_is_unsigned_and_never_replaces_a_signer() {
    let key = key();
    let cache = Cache::new();
    let unsigned = serve(zip(&FILES), &key, &[]);
    let opened = cache.open(&unsigned).unwrap();
    assert_eq!((opened.signed_by, opened.is_first_use), (None, true));
    let locked = Open { signed_by: Some("openpgp:AB".to_owned()), ..cache.ask(&unsigned) };
    let why = cache.judge(&locked).unwrap_err().why;
    assert_eq!(why, "it is signed by nobody, and openpgp:AB is locked");
}

#[test]
fn a_record_about_something_else_is_refused() {
    let key = key();
    let cache = Cache::new();
    let served = honest(&key);
    let text = String::from_utf8(served.record.clone()).unwrap();
    let digest = hex(&Sha256::digest(&served.zip));
    for (from, to, why) in [
        ("linux_amd64.zip", "linux_arm64.zip", "its download record is about another archive"),
        (r#""os":"linux""#, r#""os":"plan9""#, "its download record is about another archive"),
        ("1.2.3", "1.2.4", "its download record is about another archive"),
        ("6.0", "4.0", "it speaks neither protocol 5 nor 6; expected one of: 5, 6"),
        (&digest, &"cd".repeat(32), "its download record has another digest than SHA256SUMS"),
        (&digest, "cd", "its registry has an invalid download record"),
        (
            "https://cdn.example/box.zip",
            "http://cdn.example/box.zip",
            "its registry has an invalid download record",
        ),
        ("{", "[", "its registry has an invalid download record"),
    ] {
        let record = text.replacen(from, to, 1).into_bytes();
        let said = cache.open(&Served { record, ..served.clone() }).unwrap_err().why;
        assert_eq!(said, why, "{from}");
    }
}

#[test]
fn signatures_of_gnupg_count_until_its_key_expires_or_is_revoked() {
    let cache = Cache::new();
    for kind in ["rsa2048", "ed25519"] {
        let Some(gpg) = Gpg::start() else { return };
        gpg.run(&["--quick-generate-key", "box", kind, "cert", "10d"], b"");
        let listed = String::from_utf8(gpg.run(&["--with-colons", "--list-keys"], b"")).unwrap();
        let print = listed.lines().find_map(|line| line.strip_prefix("fpr:::::::::"));
        let print = print.unwrap().trim_end_matches(':').to_owned();
        // As publishers do: the primary key certifies, a key below it signs.
        gpg.run(&["--quick-add-key", &print, kind, "sign", "5d"], b"");
        let served = gpg.serve();
        let opened = cache.open(&served).unwrap();
        assert_eq!(opened.signed_by, Some(format!("openpgp:{print}")), "{kind}");
        let in_days = |days: u64| Open { now: now() + days * 86_400, ..cache.ask(&served) };
        assert!(cache.judge(&in_days(4)).is_ok());
        let expired = "SHA256SUMS is signed by a key that has expired";
        assert_eq!(cache.judge(&in_days(6)).unwrap_err().why, expired);
        assert_eq!(cache.judge(&in_days(11)).unwrap_err().why, expired);
        // The revocation that gpg writes for every key.
        let file = gpg.0.path().join(format!("openpgp-revocs.d/{print}.rev"));
        let text = std::fs::read_to_string(file).unwrap().replace(":-----BEGIN", "-----BEGIN");
        gpg.run(&["--import"], text.as_bytes());
        let revoked = serve_with(&served, &gpg.armored());
        let why = "SHA256SUMS is signed by a key that was revoked";
        assert_eq!(cache.open(&revoked).unwrap_err().why, why, "{kind}");
    }
}

/// The same package with another key in its record.
fn serve_with(served: &Served, armored: &str) -> Served {
    let mut record: serde_json::Value = serde_json::from_slice(&served.record).unwrap();
    record["signing_keys"]["gpg_public_keys"][0]["ascii_armor"] = armored.into();
    Served { record: record.to_string().into_bytes(), ..served.clone() }
}

#[test]
fn archives_that_leave_their_directory_or_grow_are_refused() {
    let key = key();
    let cache = Cache::new();
    let open = |zip: Vec<u8>| cache.open(&serve(zip, &key, &[public(&key)]));
    assert!(open(odd("docs/readme.md", None, b"x")).is_ok());
    let outside = "its archive has a name that leads out of it";
    let irregular = "its archive contains something that is not a regular file";
    let twice = "its archive has a name twice";
    for (name, mode, why) in [
        ("../evil", None, outside),
        ("a/../../evil", None, outside),
        ("/etc/evil", None, outside),
        ("a\\..\\evil", None, outside),
        ("a//b", None, outside),
        ("./evil", None, outside),
        ("a\nb", None, outside),
        ("link", Some(0o120_777), irregular),
        ("device", Some(0o020_666), irregular),
        ("pipe", Some(0o010_666), irregular),
        ("license", None, twice),
        ("LICENSE/x", None, twice),
        ("terraform-provider-box", None, "its archive does not have exactly one provider in it"),
    ] {
        assert_eq!(open(odd(name, mode, b"x")).unwrap_err().why, why, "{name:?}");
    }
    assert!(!Path::new("/tmp/evil").exists());
    let none = zip(&[("README.md", b"x")]);
    let why = "its archive does not have exactly one provider in it";
    assert_eq!(open(none).unwrap_err().why, why);
    for bytes in [b"".to_vec(), b"PK".to_vec(), vec![0; 4096]] {
        assert_eq!(open(bytes).unwrap_err().why, "its archive is damaged or not a zip file");
    }
    let cut = zip(&FILES);
    assert!(open(cut[..cut.len() - 30].to_vec()).is_err());
}

#[test]
fn an_archive_that_grows_over_the_limit_is_refused() {
    assert_eq!(dirhash::MAX_BYTES, 1 << 30);
    let home = directory();
    let zeros = vec![0; 3 << 20];
    let bomb = zip(&[FILES[1], ("zeros", &zeros)]);
    assert!(bomb.len() < 64 << 10);
    let (path, into) = (home.path().join("zip"), home.path().join("into"));
    std::fs::write(&path, bomb).unwrap();
    let unpack = |most| {
        let file = std::fs::File::open(&path).unwrap();
        archive::unpack_within(file, &into, "terraform-provider-box", most)
    };
    let why = unpack(2 << 20).unwrap_err().why;
    assert_eq!(why, "its archive has more than 1 GiB of files");
    assert!(!into.exists());
    assert!(unpack(4 << 20).is_ok());
}

#[test]
fn a_mirror_matches_a_locked_hash_or_is_trusted_by_a_person() {
    let key = key();
    let cache = Cache::new();
    let served = honest(&key);
    let origin = cache.open(&served).unwrap();
    let ask = cache.ask(&served);
    let From::Registry { archive, .. } = ask.from.clone() else { unreachable!() };
    let packed = Open { from: From::Packed(archive), ..ask };
    let directory = cache.0.path().join("mirror");
    std::fs::create_dir(&directory).unwrap();
    for (name, bytes) in FILES {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
    let unpacked = Open { from: From::Unpacked(directory.clone()), ..packed.clone() };
    let nobody = "nothing vouches for the files of the mirror";
    for ask in [&packed, &unpacked] {
        assert_eq!(cache.judge(ask).unwrap_err().why, nobody);
        let trusted = Open { trust: true, ..ask.clone() };
        assert_eq!(cache.judge(&trusted).unwrap().h1, origin.h1);
        let locked = Open { hashes: origin.hashes.clone(), ..ask.clone() };
        assert_eq!(cache.judge(&locked).unwrap().h1, origin.h1);
        // What is locked is not replaced, whoever is trusted.
        let other = vec![format!("zh:{}", "cd".repeat(32))];
        let other = Open { hashes: other, trust: true, ..ask.clone() };
        assert_eq!(cache.judge(&other).unwrap_err().why, "its files are not what is locked");
    }
    std::fs::write(directory.join("LICENSE"), "other bytes").unwrap();
    let locked = Open { hashes: origin.hashes, ..unpacked.clone() };
    assert_eq!(cache.judge(&locked).unwrap_err().why, "its files are not what is locked");
    std::os::unix::fs::symlink("/etc/passwd", directory.join("passwd")).unwrap();
    let irregular = "its archive contains something that is not a regular file";
    assert_eq!(cache.judge(&Open { trust: true, ..unpacked }).unwrap_err().why, irregular);
}
