//! One test for every way in which a contract is refused, and for what is allowed.

mod bytes;
mod comparison;
mod terms;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::contract::{Drift, Encoding, Provenance, Section, encode};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource::Status;
use opal_core::selection::Selection;
use opal_plan::plan::Purpose;
use opal_session::Session;
use opal_testing::{LoggedSession, MemoryWorld};
use opal_trust::contracts::{Making, OwnKeys, make};
use opal_trust::keys::{Envelope, OpenError, Recipient, SigningKey};
use opal_trust::policy::Refusal as PolicyRefusal;
use opal_vault::event::Status as Ended;
use opal_vault::ledger::ClaimError;
use opal_vault::record::Reason;

use super::*;
use crate::planning::Aim;

/// When every contract here is run.
const NOW: i64 = 1_738_332_300;
const HOUR: i64 = 3600;
const HALF_AN_HOUR: opal_core::Duration = opal_core::Duration::from_nanos(1_800_000_000_000);

const SOURCE: &str = "fun deploy() {\n    echo @env.REGION\n}\n";
const OTHER_TEXT: &str = "// moved\nfun deploy() {\n    echo @env.REGION\n}\n";
const OTHER_STEP: &str = "fun deploy() {\n    echo @env.REGION now\n}\n";
const WITH_LINK: &str = "fun deploy() {\n    @file.symlink(source=\"v2\", target=\"current\")\n}\n";

/// A machine with a key and a ledger of its own, and the source of a task `deploy`.
struct Machine {
    root: Root,
    registry: Registry,
    world: MemoryWorld,
    policy: Policy,
    approvals: Vec<Approval>,
    tolerance: Tolerance,
    time: i64,
    _folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            root: Root::new(folder.path().join("opal")),
            registry: opal_decorators::registry(),
            world: MemoryWorld::default().env("REGION", "eu-west-1"),
            policy: Policy::default(),
            approvals: Vec::new(),
            tolerance: Tolerance::default(),
            time: NOW,
            _folder: folder,
        }
    }

    fn runner(&self) -> Runner {
        Runner::of_machine(&self.root).unwrap()
    }

    fn load(&self, source: &str) -> Loaded {
        let name = "commands.opl".to_owned();
        Loaded::language(PathBuf::from(&name), name, source.to_owned(), &self.registry)
    }

    fn place(&self, world: MemoryWorld) -> Place<'static> {
        let session: Arc<dyn Session + Send> = Arc::new(LoggedSession::new().world(world));
        Place {
            reach: None,
            session: Box::new(move || Arc::clone(&session)),
            start: "/p".into(),
            base: "/p".into(),
            clock: || SystemTime::UNIX_EPOCH + Duration::from_secs(NOW.unsigned_abs()),
        }
    }

    /// The contract of `deploy`, as it is now.
    fn contract(&self, source: &str, terms: Terms<'_>) -> Vec<u8> {
        let loaded = self.load(source);
        let (function, arguments) = (Some("deploy".to_owned()), Default::default());
        let subject = Subject { loaded: &loaded, function, arguments };
        let mut keys =
            OwnKeys::new("deploy", Box::new(|| Ok((self.runner(), "project".to_owned()))));
        let program = subject.examine(&self.registry).unwrap().program;
        let (algorithm, purpose) = (Algorithm::Sha256, Purpose::Contract);
        let aim = Aim { algorithm, purpose, selection: Selection::default(), may_skip: false };
        let resolved =
            subject.resolve(&self.registry, &program, aim, &self.world, &mut keys).unwrap();
        let key = keys.placeholder_key().unwrap();
        let place = self.place(MemoryWorld::default());
        let seen = resources::of_contract(&resolved, &self.registry, &key, &place, &Stop::new());
        let making = Making {
            created: NOW - HOUR,
            provenance: Provenance {
                expires: terms.expires,
                once: terms.once,
                resources: resources::seen(&seen.unwrap()),
                ..Provenance::default()
            },
            recipients: terms.recipients,
            signer: terms.signer,
            registry: &self.registry,
        };
        make(resolved.plan, &mut keys, making).unwrap()
    }

    /// What happens to it here, with this source.
    fn run(&self, bytes: &[u8], source: &str) -> Result<Allowed, Stopped> {
        self.run_at(bytes, source, (MemoryWorld::default(), &Stop::new()), &|_| {})
    }

    /// Whether the rules let `run` be continued.
    fn may_continue(&self, bytes: &[u8], run: &Run) -> bool {
        let opened = open(bytes, &self.runner()).unwrap();
        let ledger = Some(Ledger::new(&self.root));
        let rules = Rules { resumed: Some(run), ..Rules::new(&self.policy, ledger, self.time) };
        match accept(bytes, &opened, &rules) {
            Ok(_) => true,
            Err(Refusal::Used) => false,
            Err(other) => panic!("{other}"),
        }
    }

    fn run_at(
        &self,
        bytes: &[u8],
        source: &str,
        (files, stop): (MemoryWorld, &Stop),
        tell: &dyn Fn(News<'_>),
    ) -> Result<Allowed, Stopped> {
        let mut opened = open(bytes, &self.runner())?;
        let (loaded, place) = (self.load(source), self.place(files));
        let ledger = Some(Ledger::new(&self.root));
        let request = Request {
            bytes,
            rules: Rules {
                approvals: &self.approvals,
                ..Rules::new(&self.policy, ledger, self.time)
            },
            now: Now {
                source: &loaded,
                registry: &self.registry,
                probe: &self.world,
                place: &place,
                root: Some(&self.root),
                stop,
                limit: None,
            },
            tolerance: self.tolerance,
        };
        decide(&mut opened, &request, tell)
    }

    fn refusal(&self, bytes: &[u8], source: &str) -> Refusal {
        refusal(self.run(bytes, source))
    }

    fn how(&self, bytes: &[u8], source: &str) -> How {
        self.run(bytes, source).unwrap().how
    }
}

#[derive(Clone, Copy, Default)]
struct Terms<'t> {
    expires: Option<i64>,
    once: bool,
    recipients: &'t [Recipient],
    signer: Option<&'t SigningKey>,
}

fn refusal(decided: Result<Allowed, Stopped>) -> Refusal {
    match decided {
        Err(Stopped::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

/// Where `part` is in `whole`.
fn offset(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// The same bytes with one bit changed.
fn changed(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

fn codes(compared: &Compared) -> Vec<(Change, Drift)> {
    compared.verdict.differences.iter().map(|one| (one.change, one.code)).collect()
}
