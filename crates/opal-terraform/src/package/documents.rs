//! The documents of registries and of mirrors in the network. Their text is data: nothing of it is shown.

use serde_json::{Map, Value as Json};

use super::Rejected;
use super::source::{Platform, Source, Version};
use super::sums::digest_of;

/// A document, at most. The list of versions of a large provider has a megabyte.
const MAX: usize = 16 << 20;

/// Versions of a provider, at most.
const MAX_VERSIONS: usize = 10_000;

fn read(bytes: &[u8], what: &str) -> Result<Map<String, Json>, Rejected> {
    match serde_json::from_slice(bytes) {
        Ok(Json::Object(fields)) if bytes.len() <= MAX => Ok(fields),
        _ => Err(invalid(what)),
    }
}

fn invalid(what: &str) -> Rejected {
    Rejected::invalid(format!("its registry has an invalid {what}"))
}

fn text<'a>(fields: &'a Map<String, Json>, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}

/// Where the providers of a host are: `/.well-known/terraform.json`.
pub fn discovery(bytes: &[u8], at: &str) -> Result<String, Rejected> {
    let what = "discovery document";
    let fields = read(bytes, what)?;
    let base = text(&fields, "providers.v1")
        .ok_or_else(|| Rejected::missing("its host does not have providers (`providers.v1`)"))?;
    let base = join(at, base).ok_or_else(|| invalid(what))?;
    Ok(if base.ends_with('/') { base } else { format!("{base}/") })
}

/// The versions that run on a platform and speak a protocol of ours, the newest first.
pub fn versions(bytes: &[u8], platform: &Platform) -> Result<Vec<Version>, Rejected> {
    let what = "list of versions";
    let fields = read(bytes, what)?;
    let listed = fields.get("versions").and_then(Json::as_array).ok_or_else(|| invalid(what))?;
    if listed.len() > MAX_VERSIONS {
        return Err(invalid(what));
    }
    let mut found = Vec::new();
    for one in listed {
        let one = one.as_object().ok_or_else(|| invalid(what))?;
        // Versions that opal cannot read are not used; others may be fine.
        let Some(version) = text(one, "version").and_then(Version::read) else { continue };
        let runs = one.get("platforms").and_then(Json::as_array).is_none_or(|all| {
            all.iter().filter_map(Json::as_object).any(|it| is_platform(it, platform))
        });
        if runs && speaks(one) {
            found.push(version);
        }
    }
    Ok(newest_first(found))
}

fn newest_first(mut found: Vec<Version>) -> Vec<Version> {
    found.sort_by(|left, right| right.cmp(left));
    found.dedup();
    found
}

fn is_platform(fields: &Map<String, Json>, platform: &Platform) -> bool {
    text(fields, "os") == Some(&platform.os) && text(fields, "arch") == Some(&platform.arch)
}

/// Whether one of the protocols is 5 or 6. Who says nothing is asked at the start.
fn speaks(fields: &Map<String, Json>) -> bool {
    let listed = fields.get("protocols").and_then(Json::as_array);
    listed.is_none_or(|all| {
        all.is_empty()
            || all
                .iter()
                .filter_map(Json::as_str)
                .any(|it| matches!(it.split('.').next(), Some("5" | "6")))
    })
}

/// What a registry says about one archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub archive: String,
    pub sums: String,
    pub signature: String,
    pub digest: [u8; 32],
    /// Armored. None: the registry has no keys.
    pub keys: Vec<String>,
}

/// Reads the download record of a version. It must be about this archive.
pub fn record(
    bytes: &[u8],
    at: &str,
    source: &Source,
    version: &Version,
    platform: &Platform,
) -> Result<Record, Rejected> {
    let what = "download record";
    let fields = read(bytes, what)?;
    let url =
        |name: &str| text(&fields, name).and_then(|it| join(at, it)).ok_or_else(|| invalid(what));
    if !is_platform(&fields, platform)
        || text(&fields, "filename") != Some(&source.archive(version, platform))
    {
        return Err(Rejected::untrusted("its download record is about another archive"));
    }
    if !speaks(&fields) {
        let why = "it speaks neither protocol 5 nor 6; expected one of: 5, 6";
        return Err(Rejected::invalid(why));
    }
    let digest = text(&fields, "shasum").and_then(digest_of).ok_or_else(|| invalid(what))?;
    // A list of keys must be there, even an empty one: a record that lost its keys is not unsigned.
    let listed = fields.get("signing_keys").and_then(|it| it.get("gpg_public_keys"));
    let mut keys = Vec::new();
    match listed {
        Some(Json::Null) => {}
        Some(Json::Array(all)) if all.len() <= 64 => {
            for key in all {
                let armored = key.get("ascii_armor").and_then(Json::as_str);
                keys.push(armored.ok_or_else(|| invalid(what))?.to_owned());
            }
        }
        _ => return Err(invalid(what)),
    }
    Ok(Record {
        archive: url("download_url")?,
        sums: url("shasums_url")?,
        signature: url("shasums_signature_url")?,
        digest,
        keys,
    })
}

/// The versions of a mirror: `index.json`.
pub fn mirrored(bytes: &[u8]) -> Result<Vec<Version>, Rejected> {
    let what = "index.json";
    let fields = read(bytes, what)?;
    let listed = fields.get("versions").and_then(Json::as_object).ok_or_else(|| invalid(what))?;
    Ok(newest_first(listed.keys().filter_map(|it| Version::read(it)).collect()))
}

/// An archive of a mirror, and the digests that the mirror says it has: `V.json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    pub archive: String,
    pub hashes: Vec<String>,
}

pub fn mirrored_archive(bytes: &[u8], at: &str, platform: &Platform) -> Result<Mirrored, Rejected> {
    let what = "description of an archive";
    let fields = read(bytes, what)?;
    let all = fields.get("archives").and_then(Json::as_object).ok_or_else(|| invalid(what))?;
    let one = all
        .get(&platform.to_string())
        .ok_or_else(|| Rejected::missing(format!("the mirror does not have it for {platform}")))?;
    let archive = one.get("url").and_then(Json::as_str).and_then(|it| join(at, it));
    let hashes = one.get("hashes").and_then(Json::as_array).into_iter().flatten();
    let hashes = hashes.map(|it| it.as_str().filter(|it| is_hash(it)).map(str::to_owned));
    Ok(Mirrored {
        archive: archive.ok_or_else(|| invalid(what))?,
        hashes: hashes.collect::<Option<_>>().ok_or_else(|| invalid(what))?,
    })
}

/// `zh:` with digits, or `h1:` with base64.
#[must_use]
pub fn is_hash(text: &str) -> bool {
    match text.split_once(':') {
        Some(("zh", digits)) => digest_of(digits).is_some(),
        Some(("h1", digest)) => {
            digest.len() == 44
                && digest.bytes().all(|it| it.is_ascii_alphanumeric() || b"+/=".contains(&it))
        }
        _ => false,
    }
}

/// An address, as it is written in a document that came from another one. Only `https:`.
#[must_use]
pub fn join(at: &str, reference: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}#".contains(&byte);
    if reference.is_empty() || reference.len() > 4096 || !reference.bytes().all(plain) {
        return None;
    }
    let (own, rest) = parts(at)?;
    let url = if reference.contains("://") {
        // What is encrypted leads to nothing that is not.
        let (other, _) = parts(reference)?;
        (own == "http" || other == "https").then(|| reference.to_owned())?
    } else if reference.starts_with("//") || has_scheme(reference) {
        return None;
    } else if reference.starts_with('/') {
        format!("{own}://{}{reference}", rest.split('/').next()?)
    } else {
        let path = rest.split('?').next()?;
        let directory = path.rsplit_once('/').map_or(path, |(directory, _)| directory);
        format!("{own}://{directory}/{reference}")
    };
    let (_, rest) = parts(&url)?;
    let host = rest.split(['/', '?']).next()?;
    let fits = !host.is_empty() && !host.contains('@');
    (fits && !url.split('/').any(|part| part == "..")).then_some(url)
}

/// The scheme of an address and what follows it. Only this machine may do without encryption.
fn parts(url: &str) -> Option<(&str, &str)> {
    let (found, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?']).next()?;
    (found == scheme(host) || found == "https").then_some((found, rest))
}

/// The scheme for a host: only this machine does without encryption.
#[must_use]
pub fn scheme(host: &str) -> &'static str {
    match host.split(':').next() {
        Some("localhost" | "127.0.0.1") => "http",
        _ => "https",
    }
}

fn has_scheme(reference: &str) -> bool {
    let word = reference.split(['/', '?']).next().unwrap_or_default();
    word.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_document_stays_encrypted_and_inside() {
        let at = "https://reg.example/v1/providers/a/b/1.0.0/download/linux/amd64";
        let joined = |reference| join(at, reference);
        assert_eq!(joined("https://cdn.example/x.zip").unwrap(), "https://cdn.example/x.zip");
        assert_eq!(joined("/files/x.zip").unwrap(), "https://reg.example/files/x.zip");
        let below = "https://reg.example/v1/providers/a/b/1.0.0/download/linux/x.zip";
        assert_eq!(joined("x.zip").unwrap(), below);
        for reference in [
            "",
            "http://cdn.example/x",
            "//cdn.example/x",
            "file:///etc/passwd",
            "ftp://x",
            "../x.zip",
            "https://u@cdn.example/x",
            "https://cdn.example/\nx",
            "x y",
            "https:///x",
            "javascript:x",
            "x#y",
        ] {
            assert_eq!(joined(reference), None, "{reference}");
        }
    }

    #[test]
    fn versions_are_those_of_the_platform_and_protocol() {
        let linux = Platform::read("linux_amd64").unwrap();
        let list = r#"{"versions":[
            {"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]},
            {"version":"1.2.0","protocols":["4.0"],"platforms":[{"os":"linux","arch":"amd64"}]},
            {"version":"1.3.0","protocols":["6.0"],"platforms":[{"os":"darwin","arch":"amd64"}]},
            {"version":"1.10.0","protocols":["4.0","6.1"],"platforms":[{"os":"linux","arch":"amd64"}]},
            {"version":"odd"}]}"#;
        let all = versions(list.as_bytes(), &linux).unwrap();
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(all, ["1.10.0", "1.0.0"]);
        for bad in ["", "[]", "{}", r#"{"versions":{}}"#, r#"{"versions":[1]}"#] {
            assert!(versions(bad.as_bytes(), &linux).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_mirror_says_what_it_has() {
        let all = mirrored(br#"{"versions":{"2.0.0":{},"2.0.1":{},"x":{}}}"#).unwrap();
        assert_eq!(all.len(), 2);
        let zh = format!("zh:{}", "ab".repeat(32));
        let text =
            format!(r#"{{"archives":{{"linux_amd64":{{"url":"x.zip","hashes":["{zh}"]}}}}}}"#);
        let at = "https://m.example/h/n/t/2.0.0.json";
        let read =
            |platform| mirrored_archive(text.as_bytes(), at, &Platform::read(platform).unwrap());
        let found = read("linux_amd64").unwrap();
        assert_eq!(
            (found.archive.as_str(), &found.hashes[..]),
            ("https://m.example/h/n/t/x.zip", &[zh][..])
        );
        assert_eq!(
            read("plan9_amd64").unwrap_err().why,
            "the mirror does not have it for plan9_amd64"
        );
    }
}
