//! `opal plugin`, for authors: pack, publish, yank, mirror.

use clap::{Arg, ArgAction, ArgGroup, Command, ValueHint};

use super::shared::{json, root};

fn directory() -> Arg {
    Arg::new("directory")
        .value_name("DIR")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::DirPath)
        .help("The directory of the package; the current one by default")
}

fn file(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("FILE")
        .value_parser(clap::value_parser!(std::path::PathBuf))
        .value_hint(ValueHint::FilePath)
        .help(help)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The registry, and who signs.
fn registry() -> [Arg; 5] {
    [
        option(
            "to",
            "ADDRESS",
            "The registry: file:DIR, https://… or oci://…; that of the namespace by default",
        ),
        option(
            "sign",
            "KEY",
            "The key that signs, a name of `opal keys` or a file; `signing` by default",
        ),
        flag("no-sign", "Sign nothing").conflicts_with("sign"),
        option(
            "index-key",
            "KEY",
            "The key that signs the index of the registry; that of --sign by default",
        ),
        option("expires", "PERIOD", "How long the index holds; 90d by default"),
    ]
}

pub(super) fn pack() -> Command {
    Command::new("pack")
        .about("Write the archive of a package: the same files, the same bytes")
        .args([
            directory(),
            file("output", "The file to write; NAMESPACE-NAME-VERSION.tar.gz by default")
                .short('o'),
            file("list", "Also write the list of files, whose SHA-256 is the checksum, for signers such as cosign"),
            root(),
            json(),
        ])
        .after_help(
            "Examples:\n  opal plugin pack\n  opal plugin pack plugins/vault -o vault.tar.gz",
        )
}

pub(super) fn publish() -> Command {
    Command::new("publish")
        .about("Pack, sign and upload a version of a package to a registry")
        .arg(directory())
        .args(registry())
        .args([
            file("report", "Sign this report of `opal plugin verify` too"),
            file("bundle", "Add this Sigstore bundle, which another signer made of the list of `opal plugin pack`"),
            flag("attest", "Only add the report or the bundle to a version that is in the registry")
                .requires("said"),
            option("verifier", "KEY", "Let reports count that this key has signed; can be repeated")
                .action(ArgAction::Append),
            flag("refresh", "Publish nothing: only write the index again, before it expires")
                .conflicts_with_all(["directory", "said"]),
            root(),
            json(),
        ])
        .group(ArgGroup::new("said").args(["report", "bundle"]).multiple(true))
        .after_help(
            "A version is published once. An interrupted upload leaves no version; run the command again.\n\n\
             Examples:\n  opal plugin publish --to file:/srv/registry\n  \
             opal plugin publish plugins/vault --to oci://reg.example/opal --sign release\n  \
             opal plugin publish --no-sign --bundle vault.sigstore.json --to https://reg.example\n  \
             opal plugin publish --refresh --to file:/srv/registry",
        )
}

pub(super) fn yank() -> Command {
    Command::new("yank")
        .about("Keep new projects from using a version, or undo that")
        .arg(
            Arg::new("package")
                .value_name("NAME@VERSION")
                .required(true)
                .help("The version: acme/vault@1.2.0"),
        )
        .args(registry())
        .args([
            option("reason", "TEXT", "Why, for those who use it").conflicts_with("undo"),
            flag("undo", "Let everybody use the version again"),
            root(),
            json(),
        ])
        .after_help(
            "Examples:\n  opal plugin yank acme/vault@1.2.0 --reason 'deletes too much'\n  \
             opal plugin yank acme/vault@1.2.0 --undo",
        )
}

pub(super) fn mirror() -> Command {
    Command::new("mirror")
        .about("Write the locked packages and providers of this project into a directory")
        .args([
            directory().required(true).help("The directory of the mirror"),
            option("platform", "OS_ARCH", "Mirror providers for this platform, such as linux_arm64")
                .action(ArgAction::Append),
            root(),
            json(),
        ])
        .after_help(
            "Packages are a registry in the directory: install from it on a machine without a network with \
             `opal plugin install --from DIR`. Terraform providers are in the layout of `terraform providers \
             mirror`; name the directory under `[[terraform.mirror]]` in config/settings.toml of the \
             runtime root.\n\n\
             Examples:\n  opal plugin mirror /media/usb/packages\n  \
             opal plugin mirror /srv/mirror --platform linux_amd64 --platform linux_arm64",
        )
}
