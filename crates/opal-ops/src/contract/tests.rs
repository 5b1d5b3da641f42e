//! One test for every way in which a contract is refused, and for what is allowed.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opal_core::contract::{Encoding, Provenance, Section, encode};
use opal_core::hash::{Algorithm, Digest};
use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource::Status;
use opal_session::Session;
use opal_testing::{LoggedSession, MemoryWorld};
use opal_trust::contracts::{Making, OwnKeys, make};
use opal_trust::keys::{Envelope, OpenError, Recipient, SigningKey};
use opal_trust::policy::Refusal as PolicyRefusal;
use opal_vault::event::Status as Ended;
use opal_vault::ledger::ClaimError;
use opal_vault::record::Reason;

use super::*;

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
        let aim = Aim { algorithm, purpose, selection: Selection::default() };
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
        let rules = Rules { policy: &self.policy, ledger, resumed: Some(run), time: self.time };
        match accept(bytes, &opened, &rules) {
            Ok(()) => true,
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
            rules: Rules { policy: &self.policy, ledger, resumed: None, time: self.time },
            now: Now {
                source: &loaded,
                registry: &self.registry,
                probe: &self.world,
                place: &place,
                root: Some(&self.root),
                stop,
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

#[test]
fn a_contract_runs_where_nothing_differs() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
    assert_eq!(machine.how(&bytes, OTHER_TEXT), How::SourceMoved);
}

#[test]
fn what_is_not_a_contract_is_refused() {
    let refusal = Machine::new().refusal(b"#!/bin/sh\nrm -rf /\n", SOURCE);
    assert!(matches!(&refusal, Refusal::Damaged(_)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_of_another_major_version_is_refused() {
    let machine = Machine::new();
    let mut bytes = machine.contract(SOURCE, Terms::default());
    bytes[4] = 9;
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(&refusal, Refusal::OtherVersion(_)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_whose_bytes_were_changed_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let steps = bytes.windows(4).position(|it| it == b"echo").unwrap();
    let refusal = machine.refusal(&changed(&bytes, steps), SOURCE);
    let Refusal::Damaged(error) = &refusal else { panic!("{refusal}") };
    assert_eq!(error.section, Section::Signature);
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_that_is_sealed_to_others_is_refused() {
    let (machine, other) = (Machine::new(), Machine::new());
    let bytes = other.contract(SOURCE, Terms::default());
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(refusal, Refusal::SealedToOthers), "{refusal}");
    assert_eq!(refusal.reason(), Reason::NotSealed);
    let recipients = &[machine.runner().recipient()];
    let bytes = other.contract(SOURCE, Terms { recipients, ..Terms::default() });
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
}

#[test]
fn a_contract_with_a_damaged_envelope_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let envelope = Frame::read(&bytes).unwrap().envelope();
    let last = offset(&bytes, envelope) + envelope.len() - 1;
    let refusal = machine.refusal(&changed(&bytes, last), SOURCE);
    assert!(matches!(refusal, Refusal::EnvelopeDamaged(OpenError::Damaged)), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_whose_signature_is_not_its_signers_is_refused() {
    let (machine, key) = (Machine::new(), SigningKey::generate());
    let bytes = machine.contract(SOURCE, Terms { signer: Some(&key), ..Terms::default() });
    let (signature, _) = Frame::read(&bytes).unwrap().ed25519().unwrap();
    let refusal = machine.refusal(&changed(&bytes, offset(&bytes, signature)), SOURCE);
    let Refusal::ForgedSignature(signer) = &refusal else { panic!("{refusal}") };
    assert_eq!(*signer, key.public());
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn a_contract_with_another_seed_is_refused() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let frame = Frame::read(&bytes).unwrap();
    let sealed = Envelope::open(frame.envelope(), &machine.runner()).unwrap();
    let opened = open(&bytes, &machine.runner()).unwrap();
    let mut provenance = opened.contract.provenance().clone();
    provenance.seed.as_mut().unwrap().seed_hash = Digest([1; 32]);
    let plan = opened.contract.plan().clone();
    let other = Contract::new(plan, opened.contract.created(), provenance).unwrap();
    let auth_key = &sealed.secret.auth_key();
    let encoding = Encoding { envelope: frame.envelope(), auth_key, compress: false, signer: None };
    let refusal = machine.refusal(&encode(&other, &encoding).unwrap(), SOURCE);
    assert!(matches!(refusal, Refusal::OtherSeed), "{refusal}");
    assert_eq!(refusal.reason(), Reason::Tampered);
}

#[test]
fn what_the_policy_forbids_is_refused() {
    let trusted = SigningKey::generate();
    let other = SigningKey::generate();
    let signature = Policy::requiring_signature(Some(trusted.public()));
    let age = Policy { max_age: Some(HALF_AN_HOUR), ..Policy::default() };
    let expiry = Policy { require_expiry: true, ..Policy::default() };
    let none = Terms::default();
    let by_other = Terms { signer: Some(&other), ..none };
    let by_trusted = Terms { signer: Some(&trusted), ..none };
    let ending = Terms { expires: Some(NOW + HOUR), ..none };
    let signer = Some(other.public());
    let not_trusted = PolicyRefusal::NotTrusted { signer, by_nobody: false };
    let too_old = PolicyRefusal::TooOld { max_age: HALF_AN_HOUR };
    let table = [
        (&signature, none, Some((PolicyRefusal::NotSigned, Reason::Unsigned))),
        (&signature, by_other, Some((not_trusted, Reason::NotTrusted))),
        (&signature, by_trusted, None),
        (&age, none, Some((too_old, Reason::NotTrusted))),
        (&expiry, none, Some((PolicyRefusal::NoExpiry, Reason::NotTrusted))),
        (&expiry, ending, None),
    ];
    for (policy, terms, expected) in table {
        let machine = Machine { policy: policy.clone(), ..Machine::new() };
        let bytes = machine.contract(SOURCE, terms);
        let found = match machine.run(&bytes, SOURCE) {
            Ok(_) => None,
            Err(Stopped::Refused(refusal)) => {
                let Refusal::Policy(all) = &refusal else { panic!("{refusal}") };
                Some((all[0], refusal.reason()))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{policy:?}");
    }
}

#[test]
fn a_contract_that_is_dated_in_the_future_is_refused_where_its_age_matters() {
    let policy = Policy { max_age: Some(HALF_AN_HOUR), ..Policy::default() };
    let machine = Machine { policy, time: NOW - 2 * HOUR, ..Machine::new() };
    let refusal = machine.refusal(&machine.contract(SOURCE, Terms::default()), SOURCE);
    let expected = PolicyRefusal::InTheFuture { max_age: HALF_AN_HOUR };
    assert!(matches!(&refusal, Refusal::Policy(all) if *all == [expected]));
}

#[test]
fn a_contract_is_refused_from_the_second_of_its_end() {
    let mut machine = Machine::new();
    let end = NOW + HOUR;
    let bytes = machine.contract(SOURCE, Terms { expires: Some(end), ..Terms::default() });
    machine.time = end - 1;
    assert_eq!(machine.how(&bytes, SOURCE), How::Same);
    machine.time = end;
    let refusal = machine.refusal(&bytes, SOURCE);
    assert!(matches!(refusal, Refusal::Expired { end: found } if found == end), "{refusal}");
    assert_eq!(refusal.to_string(), "it expired at 2025-01-31T15:05:00Z");
    assert_eq!(refusal.reason(), Reason::Expired);
}

#[test]
fn a_single_use_contract_that_has_run_is_refused_and_others_run_again() {
    let machine = Machine::new();
    let ledger = Ledger::new(&machine.root);
    for once in [true, false] {
        let bytes = machine.contract(SOURCE, Terms { once, ..Terms::default() });
        assert_eq!(machine.how(&bytes, SOURCE), How::Same);
        ledger.claim(&Algorithm::Sha256.digest(&[&bytes])).unwrap();
        let decided = machine.run(&bytes, SOURCE);
        if !once {
            assert_eq!(decided.unwrap().how, How::Same);
            continue;
        }
        let refusal = refusal(decided);
        assert!(matches!(refusal, Refusal::Used), "{refusal}");
        assert_eq!(refusal.reason(), Reason::Used);
    }
}

#[test]
fn a_failed_run_of_a_single_use_contract_is_continued_once_and_no_other_run_is() {
    let machine = Machine::new();
    let ledger = Ledger::new(&machine.root);
    let terms = Terms { once: true, ..Terms::default() };
    let bytes = machine.contract(SOURCE, terms);
    let id = Algorithm::Sha256.digest(&[&bytes]);
    let first = crate::resume::tests::record(&machine.root, 1, Some(id), Ended::Failed);
    let other = crate::resume::tests::record(&machine.root, 2, None, Ended::Failed);
    ledger.claim(&id).unwrap();
    assert!(matches!(machine.refusal(&bytes, SOURCE), Refusal::Used));
    assert!(machine.may_continue(&bytes, &first));
    assert!(!machine.may_continue(&bytes, &other));
    let another = machine.contract(SOURCE, terms);
    ledger.claim(&Algorithm::Sha256.digest(&[&another])).unwrap();
    assert!(!machine.may_continue(&another, &first));
    ledger.claim_continuation(&id, &first.id).unwrap();
    assert!(!machine.may_continue(&bytes, &first));
    assert!(matches!(ledger.claim_continuation(&id, &first.id), Err(ClaimError::AlreadyUsed)));
    // It failed as well: what is left of the one use is there.
    let second = crate::resume::tests::record(&machine.root, 3, Some(id), Ended::Failed);
    assert!(machine.may_continue(&bytes, &second));
    assert!(matches!(machine.refusal(&bytes, SOURCE), Refusal::Used));
}

#[test]
fn a_contract_without_a_plan_now_is_refused_with_what_is_gone() {
    let unreachable = || {
        let trouble = Trouble::new(TroubleKind::Unreachable, "nobody answers", "try again");
        MemoryWorld::default().failing_page("https://example.org/v", trouble)
    };
    let with_page = "fun deploy() {\n    echo @http.get(\"https://example.org/v\")\n}\n";
    let with_file = "fun deploy() {\n    echo @file.read(\"VERSION\")\n}\n";
    let broken = "fun deploy() {\n    @file.symlink(wrong=1)\n}\n";
    let gone = "fun other() {\n    echo hi\n}\n";
    let empty = MemoryWorld::default;
    let table = [
        (SOURCE, empty(), Drift::EnvChanged),
        (with_file, empty(), Drift::InfraMissing),
        (with_page, unreachable(), Drift::InfraMissing),
        (broken, empty(), Drift::SourceChanged),
        (gone, empty(), Drift::SourceChanged),
    ];
    for (source, world, expected) in table {
        let mut machine = Machine::new();
        let bytes = machine.contract(SOURCE, Terms::default());
        machine.world = world;
        let refusal = machine.refusal(&bytes, source);
        let Refusal::NotPlannable { errors, code } = &refusal else { panic!("{refusal}") };
        assert!(!errors.is_empty());
        assert_eq!(*code, expected, "{source}");
        assert_eq!(refusal.reason(), Reason::NotPlannable);
    }
}

#[test]
fn other_steps_are_refused_and_cannot_be_forced() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    for force in [false, true] {
        machine.tolerance = Tolerance { force, ..Tolerance::default() };
        let refusal = machine.refusal(&bytes, OTHER_STEP);
        let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
        assert_eq!(codes(compared), [(Change::Changed, Drift::SourceChanged)]);
        assert_eq!(refusal.reason(), Reason::Drifted);
    }
}

#[test]
fn other_values_are_refused_unless_forced() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    machine.world = MemoryWorld::default().env("REGION", "us-east-1");
    let refusal = machine.refusal(&bytes, SOURCE);
    let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
    assert_eq!(codes(compared), [(Change::Value, Drift::EnvChanged)]);
    let words = "the plan is not the plan of the contract: 1 difference (env_changed)";
    assert_eq!(refusal.to_string(), words);
    assert!(!format!("{refusal:?}").contains("us-east-1"));
    assert_eq!(refusal.reason(), Reason::Drifted);
    machine.tolerance = Tolerance { force: true, ..Tolerance::default() };
    assert_eq!(machine.how(&bytes, SOURCE), How::Forced);
}

#[test]
fn another_text_of_the_source_is_refused_where_it_counts() {
    let mut machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    for force in [false, true] {
        machine.tolerance = Tolerance { force, strict_source: true };
        assert_eq!(machine.how(&bytes, SOURCE), How::Same);
        let refusal = machine.refusal(&bytes, OTHER_TEXT);
        assert!(matches!(refusal, Refusal::SourceChanged(_)), "{refusal}");
        assert_eq!(refusal.reason(), Reason::Drifted);
    }
    // Forced values do not make it the same text.
    machine.world = MemoryWorld::default().env("REGION", "us-east-1");
    let refusal = machine.refusal(&bytes, OTHER_TEXT);
    assert!(matches!(refusal, Refusal::SourceChanged(_)), "{refusal}");
}

#[test]
fn other_resources_are_refused_unless_they_are_in_the_desired_state() {
    let machine = Machine::new();
    let bytes = machine.contract(WITH_LINK, Terms::default());
    let opened = open(&bytes, &machine.runner()).unwrap();
    assert_eq!(opened.contract.provenance().resources[0].status, Status::Missing);
    let run = |files| machine.run_at(&bytes, WITH_LINK, (files, &Stop::new()), &|_| {});
    assert_eq!(run(MemoryWorld::default()).unwrap().how, How::Same);
    assert_eq!(run(MemoryWorld::default().link("current", "v2")).unwrap().how, How::Same);
    let refusal = refusal(run(MemoryWorld::default().link("current", "v1")));
    let Refusal::Differs(compared) = &refusal else { panic!("{refusal}") };
    assert_eq!(compared.verdict.differences[0].change, Change::Resource);
    assert_eq!(refusal.reason(), Reason::Drifted);
}

#[test]
fn nothing_is_decided_where_it_is_stopped() {
    let mut machine = Machine::new();
    let table = [(SOURCE, Part::Planning), (WITH_LINK, Part::Resources)];
    let contracts = table.map(|(source, _)| machine.contract(source, Terms::default()));
    machine.world = MemoryWorld::default();
    let stop = Stop::new();
    stop.ask(opal_core::action::Why::Cancelled);
    for ((source, expected), bytes) in table.into_iter().zip(contracts) {
        let decided = machine.run_at(&bytes, source, (MemoryWorld::default(), &stop), &|_| {});
        let Err(Stopped::Undecided(Undecided::CutOff(part))) = decided else {
            panic!("{decided:?}")
        };
        assert_eq!(part, expected);
    }
}

#[test]
fn resources_that_an_unknown_run_may_have_changed_are_not_refused_and_that_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    let bytes = machine.contract(WITH_LINK, Terms::default());
    let heard = RefCell::new(0);
    let tell = |news: News<'_>| {
        if matches!(news, News::InterruptedRun) {
            *heard.borrow_mut() += 1;
        }
    };
    // Records that others could have changed cannot be asked.
    let runs = machine.root.path().join("logs/run");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::set_permissions(&runs, PermissionsExt::from_mode(0o777)).unwrap();
    let files = MemoryWorld::default().link("current", "v1");
    let decided = machine.run_at(&bytes, WITH_LINK, (files, &Stop::new()), &tell);
    assert_eq!(decided.unwrap().how, How::Same);
    assert_eq!(*heard.borrow(), 1);
}

#[test]
fn the_caller_hears_of_errors_elsewhere_and_of_the_plan() {
    let machine = Machine::new();
    let bytes = machine.contract(SOURCE, Terms::default());
    let source = format!("{SOURCE}\nfun other() {{\n    @file.symlink(wrong=1)\n}}\n");
    let heard = RefCell::new(Vec::new());
    let tell = |news: News<'_>| {
        heard.borrow_mut().push(match news {
            News::Elsewhere(errors, subject) => format!("{errors} beside {}", subject.target()),
            News::Planned(resolved) => format!("planned {}", resolved.plan.target.name),
            News::InterruptedRun => "interrupted".to_owned(),
        });
    };
    let here = (MemoryWorld::default(), &Stop::new());
    assert_eq!(machine.run_at(&bytes, &source, here, &tell).unwrap().how, How::SourceMoved);
    assert_eq!(*heard.borrow(), ["1 beside deploy", "planned deploy"]);
}
