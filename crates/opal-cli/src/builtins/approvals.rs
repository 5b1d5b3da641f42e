//! `opal plan approve`, `reject`, `submit` and `inbox`.

use clap::{Arg, Command, ValueHint};

use super::shared::{flag, json, root};

pub(super) fn commands() -> [Command; 4] {
    [
        Command::new("approve")
            .about("Show a contract, ask, and sign that it may run")
            .args([contract(), key(), note(), touch(), show(), compared(), root(), json()])
            .after_help(
                "`ssh-keygen` signs, so SSH agents and hardware keys work. The signature is a line in \
                 FILE.approvals; whose approvals count is in the policy of the machine that runs the \
                 contract.\n\nExamples:\n  opal plan approve prod.plan\n  \
                 opal plan approve prod.plan --key ~/.ssh/id_ed25519_sk --note \"ticket 4711\"\n  \
                 opal plan approve 1f2e3d4c",
            ),
        Command::new("reject")
            .about("Show a contract, ask, and sign that it must not run")
            .args([contract(), key(), note(), touch(), show(), compared(), root(), json()])
            .after_help("Example:\n  opal plan reject prod.plan --note \"wrong region\""),
        Command::new("submit")
            .about("Copy a contract to the inbox, where it waits for approval")
            .args([
                Arg::new("file")
                    .required(true)
                    .value_name("FILE")
                    .value_hint(ValueHint::FilePath)
                    .help("A contract"),
                root(),
                json(),
            ])
            .after_help("Example:\n  opal plan submit prod.plan"),
        Command::new("inbox")
            .about("List the contracts of the inbox: waiting, approved, rejected, expired, used, changed")
            .args([root(), json()])
            .after_help("Examples:\n  opal plan inbox\n  opal plan inbox --json | jq -r '.contracts[].id'"),
    ]
}

fn contract() -> Arg {
    Arg::new("file")
        .required(true)
        .value_name("FILE|ID")
        .value_hint(ValueHint::FilePath)
        .help("A contract, or its id in the inbox")
}

fn key() -> Arg {
    Arg::new("key")
        .long("key")
        .value_name("KEY")
        .value_hint(ValueHint::FilePath)
        .help("The key to sign with: a file of `ssh-keygen`, or a name of `opal keys`; by default yours in ~/.ssh")
}

fn touch() -> Arg {
    flag("touch", "Do not ask on a terminal: the touch of a hardware key is the answer")
}

fn show() -> Arg {
    flag(
        "show",
        "Show what would be signed, with what differs from what the key approved last; sign nothing",
    )
}

/// For whoever has shown it to a person: `opal ui`.
fn compared() -> Arg {
    Arg::new("compared")
        .long("compared")
        .value_name("DIGEST")
        .hide(true)
        .help("Refuse if the key has approved another contract last, `none` for none")
}

fn note() -> Arg {
    Arg::new("note").long("note").value_name("TEXT").help("Why; it is signed, too")
}
