//! `opal keys`: making and showing keys.

use std::process::Command;

use clap::ArgMatches;
use opal_trust::approvals::KeyFile;
use opal_trust::keys::{Credentials, KeyKind, KeyName, Runner};
use opal_vault::root::Root;

use crate::ambient::IDENTITY;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::{planning, view};

pub(crate) fn run(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    match matches.subcommand() {
        Some(("generate", matches)) => generate(context, matches),
        Some(("list", matches)) => list(context, matches),
        Some((_, matches)) => show(context, matches),
        None => Err(Failure::usage("`opal keys` needs a command", "see `opal keys --help`")),
    }
}

fn generate(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    if matches.get_flag("approve") {
        return generate_approving(&root, matches);
    }
    let kind = if matches.get_flag("seal") { KeyKind::Seal } else { KeyKind::Sign };
    let name = match (matches.get_one::<String>("name"), kind) {
        (Some(name), _) => name.parse().map_err(Failure::key)?,
        (None, KeyKind::Seal) => KeyName::runner(),
        (None, KeyKind::Sign | KeyKind::Approve) => KeyName::signing(),
    };
    if name == KeyName::runner() && kind == KeyKind::Sign {
        return Err(Failure::usage(
            "`runner` is the name of the key that contracts are sealed to",
            "choose another name, or `opal keys generate --seal`",
        ));
    }
    let entry = Credentials::new(&root).generate(&name, kind).map_err(Failure::key)?;
    view::keys::generated(&entry, matches.get_flag("json"))
}

/// A key that approves: `ssh-keygen` makes it, and asks for the passphrase.
#[expect(clippy::disallowed_methods, reason = "the program that holds the person's key")]
fn generate_approving(root: &Root, matches: &ArgMatches) -> Result<Exit, Failure> {
    let name = matches.get_one::<String>("name").map_or("approve", String::as_str);
    let name: KeyName = name.parse().map_err(Failure::key)?;
    let credentials = Credentials::new(root);
    let path = credentials.place(&name).map_err(Failure::key)?;
    let public = path.with_added_extension("pub");
    let failed = |what: String| {
        let help = "see what it printed; it asks for a passphrase on the terminal";
        Failure::new(Exit::Unavailable, format!("`ssh-keygen` {what}"), help)
    };
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-C", name.as_str(), "-f"]).arg(&path);
    let made = command.env_remove(IDENTITY).stdout(std::io::stderr()).status();
    let made = made.map_err(|error| failed(format!("cannot be started: {error}")))?;
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let Some(file) = KeyFile::parse(&text).filter(|_| made.success()) else {
        return Err(failed("did not make a key".to_owned()));
    };
    if file.is_open {
        for path in [&path, &public] {
            let _ = std::fs::remove_file(path);
        }
        let message =
            "a key that approves needs a passphrase: every program of this account could use it";
        return Err(Failure::new(
            Exit::Usage,
            message,
            "run the command again, and type a passphrase",
        ));
    }
    let kept = credentials.public_path(&name);
    std::fs::rename(&public, &kept)
        .map_err(|error| Failure::unwritable(&format!("`{}`", kept.display()), &error))?;
    let entry = credentials.show(&name).map_err(Failure::key)?;
    view::keys::generated(&entry, matches.get_flag("json"))
}

fn list(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let root = context.needed_root(matches.get_one("root"))?;
    let listed = Credentials::new(&root).list().map_err(Failure::key)?;
    if matches.get_flag("json") {
        return view::keys::list_json(&listed);
    }
    view::keys::list(&listed, context.out())
}

fn show(context: &Context<'_>, matches: &ArgMatches) -> Result<Exit, Failure> {
    let json = matches.get_flag("json");
    let name = matches.get_one::<String>("name");
    let identity = matches.get_one::<String>("identity").map(String::as_str);
    if name.is_none()
        && let Some(runner) = planning::brought(context, identity).map_err(Failure::key)?
    {
        return view::keys::brought(&runner.recipient(), json);
    }
    let name = name.map_or(Ok(KeyName::runner()), |name| name.parse()).map_err(Failure::key)?;
    let root = context.needed_root(matches.get_one("root"))?;
    if name == KeyName::runner() {
        // Whoever asks for the runner's public half is about to need it.
        let runner = Runner::of_machine(&root).map_err(Failure::key)?;
        if let Some(why) = runner.why_ephemeral() {
            let help = "name a directory for it with `--root DIR`";
            let message = format!("this machine has no runner key, and none can be created: {why}");
            return Err(Failure::new(Exit::Write, message, help));
        }
    }
    let entry = Credentials::new(&root).show(&name).map_err(Failure::key)?;
    view::keys::shown(&entry, json)
}
