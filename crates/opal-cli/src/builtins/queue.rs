//! `opal dispatch` and `opal runner` in the table.

use clap::{Arg, Command, ValueHint};

use super::shared::{flag, json, root};

pub(super) fn dispatch() -> Command {
    Command::new("dispatch")
        .about("Send a contract to a pool of runners, and follow it to its end")
        .args([
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .value_parser(clap::value_parser!(std::path::PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The contract: one block on targets. Its approvals are in FILE.approvals"),
            pool().required(true),
            Arg::new("sign")
                .long("sign")
                .value_name("KEY")
                .value_hint(ValueHint::FilePath)
                .help("Sign the order with this key; by default with the only one of `opal keys`"),
            Arg::new("end")
                .long("end")
                .value_name("DURATION")
                .help("When the order ends, as in 2h; by default after 24h, at most 30 days"),
            flag("detach", "Send it and do not follow it"),
        ])
        .args(server())
        .args([root(), json()])
        .after_help(
            "Sources, contract and approvals are sealed to the runners that `[queue.pools]` of \
             config/settings.toml names. Ctrl+C stops the order: no further target starts.\n\nExit: as `opal run` \
             of the whole contract; 65 a contract that cannot be shared, 76 and 77 refused by the runners, 124 past \
             its end, 130 stopped.\n\nExamples:\n  opal dispatch prod.plan --pool eu\n  opal dispatch prod.plan \
             --pool eu --end 2h --detach",
        )
}

pub(super) fn runner() -> Command {
    Command::new("runner")
        .about("Take contracts from a pool and run them until it is stopped")
        .args([
            pool().required_unless_present("keys"),
            Arg::new("capacity")
                .long("capacity")
                .value_name("N")
                .value_parser(clap::value_parser!(u64).range(1..=10_000))
                .help("Targets at a time; by default 100, and always at least one share of 50"),
            flag("check", "Check keys, policy, server and clock, and run nothing"),
            flag("keys", "Print the keys of this runner, for `[queue.pools]` of a dispatcher"),
            flag("permissions", "Print what the server must allow a runner of the pool"),
        ])
        .args(server())
        .args([root()])
        .after_help(
            "A runner takes orders that a key of `dispatchers` (or `trusted_keys`) in its policy has signed, and no \
             others. It runs each share with `opal run`. TERM or Ctrl+C: what runs is stopped with its cleanup, \
             and its shares go back to the pool.\n\nExit: 0 stopped, 69 no server, 77 a file that others can write, \
             78 no dispatchers or another wrong setting.\n\nExamples:\n  opal runner --pool eu --capacity 100\n  \
             opal runner --pool eu --check\n  opal runner --keys",
        )
}

/// Which runners.
pub(super) fn pool() -> Arg {
    Arg::new("pool").long("pool").value_name("POOL").help("The pool of runners")
}

/// Where the queue is.
pub(super) fn server() -> [Arg; 3] {
    [
        Arg::new("server").long("server").value_name("URL").help(
            "The NATS server, as in tls://queue.example:4222; by default `[queue]` or $NATS_URL",
        ),
        Arg::new("creds")
            .long("creds")
            .value_name("FILE")
            .value_parser(clap::value_parser!(std::path::PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("Its credentials, a file that only you can read"),
        flag("insecure-queue", "Allow a server without TLS, for tests"),
    ]
}
