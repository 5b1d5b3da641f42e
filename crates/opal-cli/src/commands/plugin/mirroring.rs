//! `opal plugin mirror` for Terraform providers: archives that were checked, in the layout that Terraform
//! reads from directories and over https.
//!
//! ```text
//! HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH.zip
//! HOST/NAMESPACE/TYPE/index.json      {"versions": {"1.2.0": {}}}
//! HOST/NAMESPACE/TYPE/1.2.0.json      {"archives": {"linux_amd64": {"hashes": ["h1:…"], "url": "…zip"}}}
//! ```

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::ArgMatches;
use opal_files::atomic::{self, Unfinished};
use opal_plugins::lock::LockedProvider;
use opal_plugins::provider::bridge::{Session, platform};
use opal_plugins::provider::fetch::{Fetched, Wish, fetch};
use opal_plugins::provider::wanted::{Origin, WantedProvider};
use serde_json::{Value, json};

use super::project::Project;
use super::providers::{Downloads, Getting, failed, unfetched};
use super::reaching;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::view::publishing::MirroredProvider;

/// Bytes of a document of a mirror.
const MOST_DOCUMENT: u64 = 16 << 20;

/// Writes the archives of all locked providers.
pub(super) fn providers(
    context: &Context<'_>,
    matches: &ArgMatches,
    project: &Project,
    into: &Path,
) -> Result<Vec<MirroredProvider>, Failure> {
    let getting = Getting::new(context, matches, project)?;
    let given = matches.get_many::<String>("platform").into_iter().flatten().cloned();
    let mut platforms: Vec<String> = given.collect();
    if platforms.is_empty() {
        platforms.push(platform());
    }
    let mut written = Vec::new();
    for locked in getting.locked {
        // What is no longer wanted is not needed elsewhere.
        let wanted = project.providers.iter().find(|it| it.key == locked.name);
        let Some(one) = wanted else { continue };
        for platform in &platforms {
            let fetched = getting.archive(one, locked, platform)?;
            written.push(keep(one, locked, platform, &fetched, into)?);
        }
    }
    Ok(written)
}

impl Getting<'_> {
    /// The archive of a locked provider for a platform, checked against the lock.
    fn archive(
        &self,
        one: &WantedProvider,
        locked: &LockedProvider,
        platform: &str,
    ) -> Result<Fetched, Failure> {
        let Origin::Version(requirement) = &one.origin else {
            return Err(Failure::new(Exit::Bug, "a local provider is not locked", "report this"));
        };
        let session = Session::start().map_err(|why| failed(one, why))?;
        let full = one.full_source();
        let wish = Wish {
            wanted: one,
            requirement,
            locked: Some(locked),
            signed_by: locked.signed_by.as_deref(),
            mirror: self.mirrors.mirror(&full),
            platform,
            trust: false,
            now: reaching::seconds(),
        };
        fetch(wish, &session, &Downloads(&self.root), &self.root)
            .map_err(|error| unfetched(one, error))
    }
}

/// Writes an archive, and says so in the documents beside it.
fn keep(
    one: &WantedProvider,
    locked: &LockedProvider,
    platform: &str,
    fetched: &Fetched,
    into: &Path,
) -> Result<MirroredProvider, Failure> {
    let Some(archive) = &fetched.archive else {
        let message = format!("`{}` has no archive: its mirror has only its files", one.key);
        let help = "copy that mirror, or fetch the provider from its registry";
        return Err(Failure::new(Exit::Unavailable, message, help));
    };
    let (full, version) = (one.full_source(), locked.version.to_string());
    let name = format!("terraform-provider-{}_{version}_{platform}.zip", one.short());
    let folder = into.join(&full);
    let failed = |path: &Path| {
        let shown = format!("`{}`", path.display());
        move |error: std::io::Error| Failure::unwritable(&shown, &error)
    };
    std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
    let file = folder.join(&name);
    File::open(archive).and_then(|mut from| put(&file, &mut from)).map_err(failed(&file))?;
    let entry = json!({"hashes": [fetched.h1], "url": name});
    for (document, key, at, entry) in [
        // The version is listed last: whoever reads it finds what it lists.
        (format!("{version}.json"), "archives", platform, entry),
        ("index.json".to_owned(), "versions", version.as_str(), json!({})),
    ] {
        let path = folder.join(document);
        let mut all = read(&path).map_err(failed(&path))?;
        if !all[key].is_object() {
            all = json!({key: {}});
        }
        all[key][at] = entry;
        let text = format!("{all:#}\n");
        put(&path, &mut text.as_bytes()).map_err(failed(&path))?;
    }
    let file = format!("{full}/{name}");
    Ok(MirroredProvider { name: one.key.clone(), version, platform: platform.to_owned(), file })
}

/// A document of an earlier mirror; nothing where there is none that can be read.
fn read(path: &Path) -> std::io::Result<Value> {
    match opal_files::regular::read_to_string(path, MOST_DOCUMENT) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(error),
    }
}

/// A whole file, or the one that was there before.
fn put(path: &Path, from: &mut dyn std::io::Read) -> std::io::Result<()> {
    let usual = atomic::usual_mode(atomic::directory_of(path)?)?;
    let mut file = Unfinished::beside(path)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match from.read(&mut buffer)? {
            0 => break,
            read => file.write_all(&buffer[..read])?,
        }
    }
    file.file().set_permissions(PermissionsExt::from_mode(0o644 & usual))?;
    file.file().sync_all()?;
    Ok(file.replace(rustix::fs::CWD, path)?)
}
