//! Real servers for the tests, built from their Go modules and kept between runs: a Vault for `packages/vault`, an
//! OpenTelemetry collector for `--otlp`, and the newest NATS server, where Debian's is the oldest one that works.
//!
//! Modules are pinned by version, and Go checks their bytes against its public log of checksums. It takes some
//! minutes, so only the long tests use them.

use std::fs;
use std::path::Path;

use crate::chores::run;
use crate::{providers, say};

/// A server: its sources, where it is built, and the program.
struct Server {
    name: &'static str,
    sources: &'static str,
    folder: &'static str,
    program: &'static str,
}

const SERVERS: [Server; 3] = [
    Server {
        name: "Vault",
        sources: "crates/opal-cli/tests/fixtures/vault",
        folder: "target/tools/vault",
        program: "vault-server",
    },
    Server {
        name: "the OpenTelemetry collector",
        sources: "crates/opal-cli/tests/fixtures/otelcol",
        folder: "target/tools/otelcol",
        program: "otelcol",
    },
    Server {
        name: "the newest NATS server",
        sources: "crates/opal-queue/tests/fixtures/nats",
        folder: "target/tools/nats",
        program: "nats-server",
    },
];

/// Builds them where they are missing. The tests that need one say so where it could not be built.
pub(crate) fn provide(root: &Path) {
    for server in &SERVERS {
        if let Err(message) = build(root, server) {
            say(&format!("{} is missing: {message}", server.name));
        }
    }
}

fn build(root: &Path, server: &Server) -> Result<(), String> {
    let Server { sources, folder: path, program, .. } = *server;
    let go = providers::go(root)?;
    let folder = root.join(path);
    fs::create_dir_all(&folder).map_err(|error| format!("`{path}`: {error}"))?;
    let mut is_new = !folder.join(program).is_file();
    for name in ["go.mod", "main.go"] {
        let text = fs::read(root.join(sources).join(name));
        let text = text.map_err(|error| format!("`{sources}/{name}`: {error}"))?;
        // Go completes its `go.mod`, so what was built is compared with a copy.
        let copy = folder.join(format!("{name}.built"));
        if fs::read(&copy).is_ok_and(|known| known == text) {
            continue;
        }
        is_new = true;
        for file in [folder.join(name), copy] {
            fs::write(&file, &text).map_err(|error| format!("`{}`: {error}", file.display()))?;
        }
    }
    if !is_new {
        return Ok(());
    }
    let _ = fs::remove_file(folder.join(program));
    run(&folder, &[&go, "build", "-mod=mod", "-trimpath", "-o", program, "."])
}
