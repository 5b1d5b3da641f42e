//! `opal plugin pack`, `publish`, `yank` and `mirror`: from a directory to a registry.
//!
//! The helper makes archives and documents and writes them. Keys stay here: it asks for the signature of an
//! index (`index`), and of nothing else.

use std::path::PathBuf;

use clap::ArgMatches;
use opal_core::Duration;
use opal_core::hash::Digest;
use opal_helper::Parcel;
use opal_plugins::installed::{Installed, LoadError};
use opal_plugins::names::{Version, is_package_name};
use opal_trust::keys::{Credentials, PublicKey, SigningKey};
use opal_trust::policy::Policy;
use opal_trust::statements::{self, Origin, Subject};
use opal_vault::root::Root;
use serde_json::{Value, json};

use super::files::write_bytes;
use super::index::{self, IndexChange};
use super::project::Project;
use super::rebuild::Rebuild;
use super::{bundle, mirroring, reaching, report, verify, word};
use crate::context::Context;
use crate::decorators::{effective, failure};
use crate::failure::{Exit, Failure};
use crate::{planning, rules, view};

/// How long an index holds where nobody says.
const EXPIRES: &str = "90d";

/// What is said about a version.
fn with_subject<T>(one: &Installed, make: impl FnOnce(&Subject<'_>) -> T) -> T {
    let version = one.version().to_string();
    make(&Subject { name: one.name(), version: &version, checksum: one.checksum })
}

/// The package of a directory, which keeps what it promises; an exit code where its errors have been shown.
fn verified(
    context: &Context<'_>,
    matches: &ArgMatches,
) -> Result<Result<Installed, Exit>, Failure> {
    let (one, found) = match verify::tested(context, matches, &given(matches))? {
        Ok(tested) => tested,
        Err(exit) => return Ok(Err(exit)),
    };
    if found.passed() {
        return Ok(Ok(one));
    }
    view::verified::show(&one, &found, &Rebuild::not_run(&one), matches.get_flag("json"))?;
    Ok(Err(Exit::Differs))
}

fn given(matches: &ArgMatches) -> PathBuf {
    matches.get_one::<PathBuf>("directory").cloned().unwrap_or_else(|| ".".into())
}

/// A request to the helper.
struct Request<'r> {
    root: &'r Root,
    document: Value,
    files: Vec<u8>,
    statements: String,
    index_key: Option<&'r SigningKey>,
    /// The package whose versions change.
    package: Option<String>,
}

impl Request<'_> {
    fn send(mut self, what: &str) -> Result<Parcel, Failure> {
        self.document["what"] = json!(what);
        self.document["folder"] = json!(planning::here()?.display().to_string());
        self.document["index_key"] = json!(self.index_key.map(|key| key.public().to_string()));
        let parcel = Parcel::default().with(&self.files).with(self.statements.as_bytes());
        let mut parcel = reaching::add(self.root, &mut self.document, parcel)?;
        parcel.head = json!({"publish": self.document});
        let change = change(&self.document, self.package);
        let mut keys = self.index_key.into_iter();
        // One index is signed, and no second one.
        reaching::ask(&parcel, &mut |question| match keys.next() {
            Some(key) => index::sign(question, key, &change),
            None => Parcel::default(),
        })
    }
}

/// What a request changes about the index.
fn change(document: &Value, package: Option<String>) -> IndexChange {
    let number = |name: &str| document.get(name).and_then(Value::as_u64).unwrap_or_default();
    let to = document.get("to").and_then(Value::as_str).unwrap_or_default();
    let verifiers = document.get("verifiers").and_then(Value::as_array).into_iter().flatten();
    IndexChange {
        package,
        verifiers: verifiers.filter_map(Value::as_str).map(str::to_owned).collect(),
        now: number("now"),
        period: number("expires"),
        may_be_unsigned: to.starts_with("file:"),
    }
}

pub(super) fn pack(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let directory = given(matches);
    let whole =
        directory.canonicalize().map_err(|error| Failure::unreadable(&directory, &error))?;
    let found = match verify::read(&directory, &whole) {
        Ok(found) => found,
        Err(LoadError::Manifest { faulty, .. }) => {
            return verify::wrong(context, &directory, faulty);
        }
        Err(error) => return Err(failure(&whole.join("opal.toml"), error)),
    };
    let root = context.needed_root(matches.get_one("root"))?;
    let (files, bytes) = found.package().joined();
    let request = Request {
        root: &root,
        document: json!({"files": files}),
        files: bytes,
        statements: String::new(),
        index_key: None,
        package: None,
    };
    let answer = request.send("pack")?;
    let archive = answer.blobs.first().ok_or_else(reaching::silent)?;
    let file = matches.get_one::<PathBuf>("output").cloned().unwrap_or_else(|| {
        let name = found.name().replace('/', "-");
        format!("{name}-{}.tar.gz", found.version()).into()
    });
    write_bytes(&file, archive)?;
    if let Some(file) = matches.get_one::<PathBuf>("list") {
        write_bytes(file, found.package().list().as_bytes())?;
    }
    view::publishing::packed(&answer.head, &file, matches.get_flag("json"))
}

pub(super) fn publish(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let keys = Keys::of(&root, matches)?;
    let json = matches.get_flag("json");
    if matches.get_flag("refresh") {
        let to = address(context, matches, &root, None)?;
        let mut request = keys.request(&root, &to, matches)?;
        request.document["verifiers"] = json!(verifiers(&root, matches)?);
        return view::publishing::refreshed(&request.send("refresh")?.head, &to, json);
    }
    let found = match verified(context, matches)? {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    if found.name().starts_with("local/") {
        let message = format!("`{}` has the namespace of packages that stay local", found.name());
        let help = "give the package your own namespace in `opal.toml`: `name = \"acme/…\"`";
        return Err(Failure::new(Exit::Configuration, message, help));
    }
    let to = address(context, matches, &root, Some(found.name()))?;
    let passed = match matches.get_one::<PathBuf>("report") {
        Some(file) => {
            let key = keys.signer.as_ref().ok_or_else(unsigned_report)?;
            let digest = report::read(file, &found)?;
            Some(with_subject(&found, |it| statements::passed(it, digest, key)))
        }
        None => None,
    };
    let bundle = matches.get_one::<PathBuf>("bundle");
    let bundle = bundle.map(|file| bundle::read(file, &found, &root)).transpose()?;
    let (files, bytes) = found.package().joined();
    let mut request = keys.request(&root, &to, matches)?;
    request.document["files"] = files;
    request.files = bytes;
    request.package = Some(found.name().to_owned());
    let line = bundle.iter().map(|bundle| bundle.line.as_str());
    if matches.get_flag("attest") {
        request.statements = passed.iter().map(String::as_str).chain(line).collect();
        let what = match (&passed, &bundle) {
            (Some(_), Some(_)) => "the report and the bundle",
            (None, _) => "the bundle",
            (_, None) => "the report",
        };
        return view::publishing::attested(&request.send("attest")?.head, what, &to, json);
    }
    request.document["verifiers"] = json!(verifiers(&root, matches)?);
    if let Some(key) = &keys.signer {
        let origin = origin(&found, &root, &request)?;
        request.statements = with_subject(&found, |it| statements::provenance(it, &origin, key));
    }
    request.statements.extend(passed.iter().map(String::as_str).chain(line));
    let answer = request.send("publish")?;
    let own = keys.signer.as_ref().map(|key| key.public().to_string());
    let publishers: Vec<String> = own.into_iter().chain(bundle.map(|it| it.publisher)).collect();
    view::publishing::published(&answer.head, &to, &publishers, json)
}

/// What a publisher says about where a package comes from.
fn origin(one: &Installed, root: &Root, request: &Request<'_>) -> Result<Origin, Failure> {
    let packing = Request {
        root,
        document: json!({"files": request.document["files"]}),
        files: request.files.clone(),
        statements: String::new(),
        index_key: None,
        package: None,
    };
    let packed = packing.send("pack")?;
    let archive = packed.head.get("archive").and_then(Value::as_str);
    let archive = archive.and_then(|it| Digest::parse(it.strip_prefix("sha256:")?));
    // What was built is seldom in the repository; what it was built from must be.
    let paths = one.package().paths().map(|path| path.as_str());
    let files = paths.filter(|path| !path.starts_with("plugins/"));
    let files = files.map(|path| one.directory.join(path));
    let is_committed = planning::is_modified(&files.collect::<Vec<_>>()) == Some(false);
    let commit = planning::commit(&one.directory.join("opal.toml")).filter(|_| is_committed);
    Ok(Origin {
        archive: Some(archive.ok_or_else(reaching::silent)?),
        repository: one.manifest.description.repository.clone(),
        commit,
        opal: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn unsigned_report() -> Failure {
    let help = "leave out `--no-sign`";
    Failure::usage("a report counts only where a verifier signs it", help)
}

pub(super) fn yank(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let given = word(matches, "package");
    let found = given.split_once('@').and_then(|(name, version)| {
        let version: Version = version.parse().ok()?;
        is_package_name(name).then(|| (name.to_owned(), version.to_string()))
    });
    let Some((name, version)) = found else {
        let message = format!("`{given}` is not a version of a package");
        return Err(Failure::usage(message, "write it like `acme/vault@1.2.0`"));
    };
    let is_undone = matches.get_flag("undo");
    let keys = Keys::of(&root, matches)?;
    let to = address(context, matches, &root, Some(&name))?;
    let mut request = keys.request(&root, &to, matches)?;
    request.document["name"] = json!(name);
    request.package = Some(name.clone());
    request.document["version"] = json!(version);
    if !is_undone {
        let reason = matches.get_one::<String>("reason").map_or("", String::as_str);
        request.document["reason"] = json!(reason);
    }
    let answer = request.send("yank")?;
    let is_changed = answer.head.get("changed").and_then(Value::as_bool) == Some(true);
    let what =
        view::publishing::Yanked { name: &name, version: &version, to: &to, is_undone, is_changed };
    view::publishing::yanked(&what, matches.get_flag("json"))
}

pub(super) fn mirror(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let project = Project::here(context, matches)?;
    let packages = project.lock.as_ref().map_or(&[][..], |lock| &lock.packages);
    // A directory of the project travels with the project.
    let checksums: Vec<String> = packages
        .iter()
        .filter_map(|locked| Some(format!("sha256:{}", locked.checksum?.hex())))
        .collect();
    let directory: &PathBuf = matches.get_one("directory").expect("clap demands it");
    let whole = planning::here()?.join(directory);
    let providers = mirroring::providers(context, matches, &project, &whole)?;
    if checksums.is_empty() && providers.is_empty() {
        let message = "`opal.lock` has no packages of registries or git, and no providers";
        return Err(Failure::new(Exit::Configuration, message, "add one with `opal plugin add`"));
    }
    let json = matches.get_flag("json");
    if checksums.is_empty() {
        return view::publishing::mirrored(&Value::Null, directory, 0, &providers, json);
    }
    let request = Request {
        root: &root,
        document: json!({
            "to": format!("file:{}", whole.display()),
            "checksums": checksums,
            "expires": expires(EXPIRES)?,
        }),
        files: Vec::new(),
        statements: String::new(),
        index_key: None,
        package: None,
    };
    let answer = request.send("mirror")?;
    view::publishing::mirrored(&answer.head, directory, checksums.len(), &providers, json)
}

/// Who signs.
struct Keys {
    /// Packages and reports.
    signer: Option<SigningKey>,
    /// The index of the registry.
    index: Option<SigningKey>,
}

impl Keys {
    fn of(root: &Root, matches: &ArgMatches) -> Result<Self, Failure> {
        let key = |name: &str| Credentials::new(root).signing_key(name).map_err(Failure::key);
        let index = matches.get_one::<String>("index-key").map(|name| key(name)).transpose()?;
        if matches.get_flag("no-sign") {
            return Ok(Self { signer: None, index });
        }
        let signer = key(matches.get_one::<String>("sign").map_or("signing", String::as_str))?;
        let index = index.or_else(|| Some(signer.clone()));
        Ok(Self { signer: Some(signer), index })
    }

    fn request<'r>(
        &'r self,
        root: &'r Root,
        to: &str,
        matches: &ArgMatches,
    ) -> Result<Request<'r>, Failure> {
        let period = matches.get_one::<String>("expires").map_or(EXPIRES, String::as_str);
        let document = json!({"to": to, "expires": expires(period)?});
        // An OCI registry has no index.
        let index_key = self.index.as_ref().filter(|_| !to.starts_with("oci://"));
        Ok(Request {
            root,
            document,
            files: Vec::new(),
            statements: String::new(),
            index_key,
            package: None,
        })
    }
}

fn expires(period: &str) -> Result<u64, Failure> {
    let found = Duration::parse(period).ok().filter(|it| it.as_nanos() > 0);
    let found = found.and_then(|it| u64::try_from(it.as_nanos() / 1_000_000_000).ok());
    let wrong = || Failure::usage(format!("`{period}` is not a period"), "write it like `90d`");
    found.filter(|seconds| *seconds > 0).ok_or_else(wrong)
}

fn verifiers(root: &Root, matches: &ArgMatches) -> Result<Vec<String>, Failure> {
    let given = matches.get_many::<String>("verifier").into_iter().flatten();
    let key = |name: &String| -> Result<String, Failure> {
        let key: PublicKey = Credentials::new(root).public_key(name).map_err(Failure::key)?;
        Ok(key.to_string())
    };
    given.map(key).collect()
}

/// The registry: what `--to` says, or the one of the namespace.
fn address(
    context: &Context<'_>,
    matches: &ArgMatches,
    root: &Root,
    name: Option<&str>,
) -> Result<String, Failure> {
    let given = matches.get_one::<String>("to").cloned();
    let found = match (given, name) {
        (Some(given), _) => Some(given),
        (None, None) => None,
        (None, Some(name)) => {
            let project = Project::here(context, matches)?;
            let policy =
                rules::of(Some(root), Policy::default(), std::slice::from_ref(&project.file))?;
            let space = name.split('/').next().unwrap_or_default();
            let all = effective(&policy.plugins, &project.registries);
            let of = |space: &str| all.iter().find(|(it, _)| it == space).map(|(_, to)| to.clone());
            of(space).or_else(|| of("default"))
        }
    };
    let help = "name it: `--to file:DIR`, `--to https://…` or `--to oci://…`";
    let Some(found) = found else {
        return Err(Failure::usage("nothing says which registry to write to", help));
    };
    let is_known = ["file:", "https://", "oci://"].iter().any(|start| found.starts_with(start));
    match is_known || is_here(&found) {
        true => Ok(found.trim_end_matches('/').to_owned()),
        false => Err(Failure::usage(format!("`{found}` is not the address of a registry"), help)),
    }
}

/// A web server on this machine needs no certificate.
fn is_here(address: &str) -> bool {
    let host = address.strip_prefix("http://").and_then(|rest| rest.split(['/', ':']).next());
    host.is_some_and(|host| matches!(host, "localhost" | "127.0.0.1"))
}
