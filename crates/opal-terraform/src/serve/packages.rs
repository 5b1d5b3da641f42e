//! The calls about packages.
//!
//! ```text
//! package.find    source platform [version] [mirror] documents ──▶ fetch | versions | archive … | packed | unpacked
//! package.open    source version platform, what was downloaded, what is locked, into ──▶ h1 hashes signed_by …
//! package.covers  ──▶ covers
//! package.schema  source version platform, program directory h1 ──▶ manifest and index, as files
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::protocol::{Body, Kind, Refusal};
use opal_core::recipe::Recipes;
use opal_core::wiped::Wiped;

use crate::client::Provider;
use crate::package::find::{self, Next, Place};
use crate::package::open::{self, From, Open};
use crate::package::source::{Platform, Source, Version};
use crate::package::{Rejected, manifest};
use crate::process::{Start, cover, environment};
use crate::trusted;

/// How long a call of a provider may take while it is described.
const LIMIT: Duration = Duration::from_secs(30);

type Bytes = Wiped<Vec<u8>>;

/// What every call names.
struct Named {
    source: Source,
    platform: Platform,
    version: Option<Version>,
}

impl Named {
    fn read(params: &Body) -> Result<Self, Refusal> {
        let text = |name: &str| params.get::<String>(name).ok_or_else(incomplete);
        let invalid = |rejected: Rejected| rejected.refusal("the package");
        let version: Option<String> = params.get("version").ok_or_else(incomplete)?;
        let version = match version {
            None => None,
            Some(text) => Some(Version::read(&text).ok_or_else(|| {
                Rejected::invalid(format!("{text:?} is not a version")).refusal("the package")
            })?),
        };
        Ok(Self {
            source: Source::read(&text("source")?).map_err(invalid)?,
            platform: Platform::read(&text("platform")?).map_err(invalid)?,
            version,
        })
    }

    fn refusal(&self, rejected: &Rejected) -> Refusal {
        rejected.refusal(&match &self.version {
            Some(version) => format!("{} {version}", self.source),
            None => self.source.to_string(),
        })
    }
}

fn incomplete() -> Refusal {
    Refusal::new(Kind::Invalid, "an incomplete call about a package")
}

pub(super) fn find(params: &Body) -> Result<Body, Refusal> {
    let named = Named::read(params)?;
    let mirror: Option<String> = params.get("mirror").ok_or_else(incomplete)?;
    let documents: Vec<(String, Bytes)> = params.get("documents").ok_or_else(incomplete)?;
    let ask = find::Ask {
        source: named.source.clone(),
        platform: named.platform.clone(),
        version: named.version.clone(),
        place: Place::read(mirror.as_deref()).map_err(|it| named.refusal(&it))?,
        documents: documents.into_iter().map(|(url, bytes)| (url, bytes.to_vec())).collect(),
    };
    let body = Body::default();
    Ok(match find::next(&ask).map_err(|it| named.refusal(&it))? {
        Next::Fetch(url) => body.with("fetch", &url),
        Next::Versions(all) => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            body.with("versions", &all)
        }
        Next::Archive(at, record) => body
            .with("record", &at)
            .with("archive", &record.archive)
            .with("sums", &record.sums)
            .with("signature", &record.signature),
        Next::Mirrored(found) => body.with("archive", &found.archive).with("hashes", &found.hashes),
        Next::Packed(path) => body.with("packed", &path.display().to_string()),
        Next::Unpacked(path) => body.with("unpacked", &path.display().to_string()),
    })
}

pub(super) fn open(params: &Body) -> Result<Body, Refusal> {
    let named = Named::read(params)?;
    let version = named.version.clone().ok_or_else(incomplete)?;
    let path = |name: &str| -> Result<Option<PathBuf>, Refusal> {
        let path: Option<String> = params.get(name).ok_or_else(incomplete)?;
        Ok(path.map(PathBuf::from))
    };
    let bytes = |name: &str| -> Result<Vec<u8>, Refusal> {
        params.get::<Bytes>(name).map(|it| it.to_vec()).ok_or_else(incomplete)
    };
    let from = match (path("archive")?, path("packed")?, path("unpacked")?) {
        (Some(archive), None, None) => From::Registry {
            at: params.get("at").ok_or_else(incomplete)?,
            record: bytes("record")?,
            sums: bytes("sums")?,
            signature: bytes("signature")?,
            archive,
        },
        (None, Some(archive), None) => From::Packed(archive),
        (None, None, Some(directory)) => From::Unpacked(directory),
        _ => return Err(incomplete()),
    };
    let ask = Open {
        source: named.source.clone(),
        version,
        platform: named.platform.clone(),
        from,
        hashes: params.get::<Option<_>>("hashes").ok_or_else(incomplete)?.unwrap_or_default(),
        signed_by: params.get("signed_by").ok_or_else(incomplete)?,
        trust: params.get("trust").ok_or_else(incomplete)?,
        now: params.get("now").ok_or_else(incomplete)?,
        into: path("into")?.ok_or_else(incomplete)?,
    };
    let opened = open::open(&ask).map_err(|it| named.refusal(&it))?;
    Ok(Body::default()
        .with("h1", &opened.h1)
        .with("hashes", &opened.hashes)
        .with("signed_by", &opened.signed_by)
        .with("first_use", &opened.is_first_use)
        .with("program", &opened.program))
}

/// Whether directories can be covered here, so that providers do not see them.
pub(super) fn covers(launcher: &Path) -> Body {
    Body::default().with("covers", &cover::works(launcher))
}

/// Starts an accepted provider once, and writes what it describes.
pub(super) async fn schema(
    params: &Body,
    launcher: &Path,
    temporary: &Path,
) -> Result<Body, Refusal> {
    let named = Named::read(params)?;
    let version = named.version.clone().ok_or_else(incomplete)?;
    let text = |name: &str| params.get::<String>(name).ok_or_else(incomplete);
    let (program, into) = (PathBuf::from(text("program")?), PathBuf::from(text("into")?));
    let rejected = |it: Rejected| named.refusal(&it);
    let checked = trusted::open(&program, Some(&text("hash")?), None).map_err(rejected)?;
    let given: Vec<(String, Secret)> = params.get("environment").ok_or_else(incomplete)?;
    let given: BTreeMap<_, _> =
        given.iter().map(|(name, value)| (name.clone(), value.expose().into())).collect();
    let covered: Vec<String> = params.get::<Option<_>>("covered").flatten().unwrap_or_default();
    let start = Start {
        launcher: launcher.to_owned(),
        program: checked,
        directory: text("directory")?.into(),
        environment: environment::of_provider(&BTreeMap::new(), &[], &given),
        temporary: temporary.to_owned(),
        covered: covered.into_iter().map(PathBuf::from).collect(),
    };
    let name = format!("{} {version}", named.source.name);
    let started = Provider::start(&start, LIMIT).await;
    let provider = started.map_err(|trouble| {
        let mut refusal = Refusal::new(trouble.kind(), "");
        refusal.message = trouble.message(&name);
        refusal
    })?;
    let recipes = Recipes::new(&BTreeMap::new()).unwrap_or_default();
    let first = text("namespace")?;
    let protocol = u32::from(provider.process().protocol.number());
    let made = manifest::manifest(provider.schemas(), &recipes, &named.source, &version, &first);
    provider.stop().await;
    write(&into, &made).map_err(|error| rejected(Rejected::failed("the manifest", &error)))?;
    let kinds: BTreeSet<&str> = made.unnamed.iter().map(String::as_str).collect();
    let unnamed: Vec<String> = kinds.into_iter().map(str::to_owned).collect();
    Ok(Body::default()
        .with("checksum", &made.checksum)
        .with("protocol", &protocol)
        .with("unnamed", &unnamed))
}

/// Two files of a directory: `manifest.yaml` and `index.jsonl`.
fn write(into: &Path, made: &manifest::Manifest) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    for (name, text) in [("manifest.yaml", &made.text), ("index.jsonl", &made.index)] {
        let path = into.join(name);
        let options =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o444).open(path);
        options?.write_all(text.as_bytes())?;
    }
    Ok(())
}
