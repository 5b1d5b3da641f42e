//! Where an archive is: which document comes next, from those that opal has downloaded so far.
//!
//! ```text
//! registry  /.well-known/terraform.json ─▶ …/versions ─▶ …/VERSION/download/OS/ARCH ─▶ archive, sums, signature
//! mirror    …/index.json ─▶ …/VERSION.json ─▶ archive
//! directory ─▶ archive, or a directory with its files
//! ```
//!
//! The same question gets the same answer, whoever asks: nothing is kept between calls.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Rejected;
use super::documents::{self, Mirrored, Record};
use super::source::{Platform, Source, Version};

/// What is asked for. Without a version the answer is a list of versions.
#[derive(Clone, Debug)]
pub struct Ask {
    pub source: Source,
    pub platform: Platform,
    pub version: Option<Version>,
    pub place: Place,
    /// What was downloaded, by address.
    pub documents: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The registry of the host of the address.
    Registry,
    /// A mirror in the network, by its address.
    Mirror(String),
    /// A mirror in a directory.
    Directory(PathBuf),
}

impl Place {
    /// Nothing, an address, or the path of a directory.
    pub fn read(mirror: Option<&str>) -> Result<Self, Rejected> {
        match mirror {
            None => Ok(Self::Registry),
            Some(path) if path.starts_with('/') => Ok(Self::Directory(path.into())),
            Some(url) => {
                let base = documents::join(url, url).filter(|_| !url.contains('?'));
                let base = base.ok_or_else(|| {
                    Rejected::invalid("a mirror is an https address or an absolute path")
                })?;
                Ok(Self::Mirror(if base.ends_with('/') { base } else { format!("{base}/") }))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The address of the document that is missing.
    Fetch(String),
    /// The newest first.
    Versions(Vec<Version>),
    /// An archive of a registry, and the address of its record.
    Archive(String, Record),
    Mirrored(Mirrored),
    /// An archive, or a directory, on this machine.
    Packed(PathBuf),
    Unpacked(PathBuf),
}

/// The next step.
pub fn next(ask: &Ask) -> Result<Next, Rejected> {
    match &ask.place {
        Place::Registry => registry(ask),
        Place::Mirror(base) => mirror(ask, base),
        Place::Directory(path) => directory(ask, path),
    }
}

fn none(ask: &Ask, version: &Version) -> Rejected {
    Rejected::missing(format!("there is no version {version} for {}", ask.platform))
}

fn registry(ask: &Ask) -> Result<Next, Rejected> {
    let Source { host, namespace, name } = &ask.source;
    let discovery = format!("{}://{host}/.well-known/terraform.json", documents::scheme(host));
    let Some(bytes) = ask.documents.get(&discovery) else { return Ok(Next::Fetch(discovery)) };
    let base = documents::discovery(bytes, &discovery)?;
    let versions = format!("{base}{namespace}/{name}/versions");
    let Some(bytes) = ask.documents.get(&versions) else { return Ok(Next::Fetch(versions)) };
    let listed = documents::versions(bytes, &ask.platform)?;
    let Some(version) = &ask.version else { return Ok(Next::Versions(listed)) };
    if !listed.contains(version) {
        return Err(none(ask, version));
    }
    let Platform { os, arch } = &ask.platform;
    let record = format!("{base}{namespace}/{name}/{version}/download/{os}/{arch}");
    let Some(bytes) = ask.documents.get(&record) else { return Ok(Next::Fetch(record)) };
    let read = documents::record(bytes, &record, &ask.source, version, &ask.platform)?;
    Ok(Next::Archive(record, read))
}

fn mirror(ask: &Ask, base: &str) -> Result<Next, Rejected> {
    let index = format!("{base}{}/index.json", ask.source);
    let Some(bytes) = ask.documents.get(&index) else { return Ok(Next::Fetch(index)) };
    let listed = documents::mirrored(bytes)?;
    let Some(version) = &ask.version else { return Ok(Next::Versions(listed)) };
    if !listed.contains(version) {
        return Err(none(ask, version));
    }
    let one = format!("{base}{}/{version}.json", ask.source);
    let Some(bytes) = ask.documents.get(&one) else { return Ok(Next::Fetch(one)) };
    documents::mirrored_archive(bytes, &one, &ask.platform).map(Next::Mirrored)
}

/// `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip`, or `…/VERSION/OS_ARCH/`.
fn directory(ask: &Ask, root: &Path) -> Result<Next, Rejected> {
    let Source { host, namespace, name } = &ask.source;
    let own = root.join(host).join(namespace).join(name);
    let Some(version) = &ask.version else {
        let entries = std::fs::read_dir(&own).map_err(|error| {
            Rejected::failed(&format!("the mirror `{}`", own.display()), &error)
        })?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<Version> = names.filter_map(|name| named(ask, &own, &name)).collect();
        found.sort_by(|left, right| right.cmp(left));
        found.dedup();
        return Ok(Next::Versions(found));
    };
    let packed = own.join(ask.source.archive(version, &ask.platform));
    let unpacked = own.join(version.to_string()).join(ask.platform.to_string());
    if packed.is_file() {
        Ok(Next::Packed(packed))
    } else if unpacked.is_dir() {
        Ok(Next::Unpacked(unpacked))
    } else {
        Err(none(ask, version))
    }
}

/// The version that a name in a directory is about, if it is one for the platform.
fn named(ask: &Ask, own: &Path, name: &str) -> Option<Version> {
    if let Some(version) = Version::read(name) {
        return own.join(name).join(ask.platform.to_string()).is_dir().then_some(version);
    }
    let rest = name.strip_prefix(&format!("{}_", ask.source.program()))?;
    Version::read(rest.strip_suffix(&format!("_{}.zip", ask.platform))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(place: Place, version: Option<&str>) -> Ask {
        Ask {
            source: Source::read("reg.example/acme/box").unwrap(),
            platform: Platform::read("linux_amd64").unwrap(),
            version: version.map(|it| Version::read(it).unwrap()),
            place,
            documents: BTreeMap::new(),
        }
    }

    #[test]
    fn a_registry_is_asked_for_one_document_after_the_other() {
        let mut ask = ask(Place::Registry, None);
        let digest = "ab".repeat(32);
        let record = format!(
            r#"{{"os":"linux","arch":"amd64","filename":"terraform-provider-box_1.2.3_linux_amd64.zip",
            "download_url":"https://cdn.example/box.zip","shasums_url":"sums","shasums_signature_url":"sums.sig",
            "shasum":"{digest}","protocols":["6.0"],"signing_keys":{{"gpg_public_keys":[]}}}}"#
        );
        let steps: [(&str, &[u8]); 3] = [
            ("https://reg.example/.well-known/terraform.json", br#"{"providers.v1":"/p"}"#),
            ("https://reg.example/p/acme/box/versions", br#"{"versions":[{"version":"1.2.3"}]}"#),
            ("https://reg.example/p/acme/box/1.2.3/download/linux/amd64", record.as_bytes()),
        ];
        for (url, bytes) in steps {
            let said = next(&ask).unwrap();
            if let Next::Versions(all) = &said {
                ask.version = all.first().cloned();
            }
            assert_eq!(next(&ask).unwrap(), Next::Fetch(url.to_owned()));
            ask.documents.insert(url.to_owned(), bytes.to_vec());
        }
        let Next::Archive(_, found) = next(&ask).unwrap() else { panic!("no archive") };
        assert_eq!(found.archive, "https://cdn.example/box.zip");
        let sums = "https://reg.example/p/acme/box/1.2.3/download/linux/sums";
        assert_eq!(found.sums, sums);
        ask.version = Version::read("9.9.9");
        let said = next(&ask).unwrap_err().why;
        assert_eq!(said, "there is no version 9.9.9 for linux_amd64");
    }

    #[test]
    fn both_layouts_of_a_directory_are_read() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("reg.example/acme/box");
        std::fs::create_dir_all(own.join("1.0.0/linux_amd64")).unwrap();
        std::fs::create_dir_all(own.join("3.0.0/darwin_arm64")).unwrap();
        let zip = own.join("terraform-provider-box_2.0.0_linux_amd64.zip");
        std::fs::write(&zip, "").unwrap();
        std::fs::write(own.join("terraform-provider-box_4.0.0_darwin_arm64.zip"), "").unwrap();
        let place = || Place::read(root.path().to_str()).unwrap();
        let Next::Versions(all) = next(&ask(place(), None)).unwrap() else { panic!("no list") };
        assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2.0.0", "1.0.0"]);
        assert_eq!(next(&ask(place(), Some("2.0.0"))).unwrap(), Next::Packed(zip));
        let unpacked = own.join("1.0.0/linux_amd64");
        assert_eq!(next(&ask(place(), Some("1.0.0"))).unwrap(), Next::Unpacked(unpacked));
        assert!(next(&ask(place(), Some("3.0.0"))).is_err());
    }

    #[test]
    fn a_mirror_in_the_network_is_asked_for_two_documents() {
        let place = Place::read(Some("https://m.example/tf")).unwrap();
        let mut ask = ask(place, Some("2.0.0"));
        let base = "https://m.example/tf/reg.example/acme/box";
        assert_eq!(next(&ask).unwrap(), Next::Fetch(format!("{base}/index.json")));
        ask.documents
            .insert(format!("{base}/index.json"), br#"{"versions":{"2.0.0":{}}}"#.to_vec());
        assert_eq!(next(&ask).unwrap(), Next::Fetch(format!("{base}/2.0.0.json")));
        let one = br#"{"archives":{"linux_amd64":{"url":"b.zip"}}}"#;
        ask.documents.insert(format!("{base}/2.0.0.json"), one.to_vec());
        let archive = format!("{base}/b.zip");
        assert_eq!(next(&ask).unwrap(), Next::Mirrored(Mirrored { archive, hashes: vec![] }));
        assert!(Place::read(Some("http://m.example")).is_err());
        assert!(Place::read(Some("relative/path")).is_err());
    }
}
