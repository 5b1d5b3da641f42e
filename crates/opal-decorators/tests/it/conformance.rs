//! Every built-in value decorator obeys the laws, and each law can be broken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use opal_core::crossing::Facts;
use opal_core::decorator::{Capability, Cost, Descriptor, Effect, Param, Presence, Returns, Site};
use opal_core::resolver::{
    Generator, Input, Inputs, Probe, Request, Resolver, Run, Stream, Trouble, TroubleKind,
};
use opal_core::{Data, Type, Value};
use opal_decorators::BUILT_IN;
use opal_testing::conformance::{Law, check};

/// The planner answers for these itself.
const OF_THE_LANGUAGE: [&str; 4] = ["args", "let", "raw", "var"];

#[test]
fn every_built_in_value_obeys_the_laws() {
    let mut checked = 0;
    for descriptor in BUILT_IN.iter().filter(|it| it.is_value()) {
        if OF_THE_LANGUAGE.contains(&descriptor.path) {
            assert!(descriptor.resolver.is_none() && descriptor.generator.is_none());
            continue;
        }
        let mut given = Inputs::default();
        if descriptor.path == "http.get" {
            given.args.insert("url", Input::Data(Data::text("https://example.com/")));
        }
        if descriptor.site == Site::Facts {
            let vars = [("CONFORMANCE".to_owned(), Ok(Data::text("text")))].into();
            let (name, host) = ("web1".to_owned(), "web1".to_owned());
            let facts = Facts { name, host, vars, ..Facts::default() };
            given.target = Some(Arc::new(facts));
        }
        let found = check(descriptor, &given);
        assert!(found.is_empty(), "@{}: {found:#?}", descriptor.path);
        checked += 1;
    }
    assert_eq!(checked, 24);
}

type Answer = Result<Data, Trouble>;

/// A resolver made of a function.
#[derive(Debug)]
struct Made(fn(&Inputs, &dyn Probe) -> Answer);

impl Resolver for Made {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Answer {
        self.0(inputs, probe)
    }
}

#[derive(Debug)]
struct Drawn {
    check: fn(&Inputs) -> Result<(), Trouble>,
    generate: fn(&Inputs, &mut dyn Stream) -> Answer,
}

impl Generator for Drawn {
    fn check(&self, inputs: &Inputs) -> Result<(), Trouble> {
        (self.check)(inputs)
    }

    fn may_begin_with_dash(&self, _: &Inputs) -> bool {
        false
    }

    fn generate(&self, inputs: &Inputs, stream: &mut dyn Stream) -> Answer {
        (self.generate)(inputs, stream)
    }
}

const TEXT: Returns = Returns { version: "1.0.0", ty: Type::String };

const READER: Descriptor = Descriptor {
    path: "made.up",
    returns: Some(TEXT),
    effect: Effect::Read,
    capabilities: &[Capability::Environment],
    resolver: Some(&Made(honest)),
    ..Descriptor::BASE
};

const DRAWER: Descriptor = Descriptor {
    path: "made.up",
    returns: Some(TEXT),
    effect: Effect::Read,
    cost: Cost::Expensive,
    capabilities: &[Capability::Randomness],
    generator: Some(&Drawn { check: fine, generate: draw }),
    ..Descriptor::BASE
};

fn honest(_: &Inputs, probe: &dyn Probe) -> Answer {
    probe.env("X")?.map(Data::Text).ok_or_else(|| missing("set `X`"))
}

fn missing(help: &'static str) -> Trouble {
    Trouble::new(TroubleKind::Missing, "`X` is not set", help)
}

fn fine(_: &Inputs) -> Result<(), Trouble> {
    Ok(())
}

fn draw(_: &Inputs, stream: &mut dyn Stream) -> Answer {
    let mut bytes = [0; 8];
    stream.fill(&mut bytes);
    Ok(Data::text(u64::from_le_bytes(bytes).to_string()))
}

#[track_caller]
fn breaks(descriptor: &Descriptor, law: Law) {
    let found = check(descriptor, &Inputs::default());
    assert!(found.iter().all(|it| it.law == law) && !found.is_empty(), "{found:#?}");
}

#[test]
fn what_obeys_the_laws_breaks_none() {
    assert_eq!(check(&READER, &Inputs::default()), []);
    assert_eq!(check(&DRAWER, &Inputs::default()), []);
}

#[test]
fn l1_what_the_schema_allows_is_answered_as_promised() {
    breaks(&Descriptor { resolver: None, ..READER }, Law::L1);
    breaks(&Descriptor { generator: DRAWER.generator, ..READER }, Law::L1);
    breaks(&Descriptor { returns: Some(Returns { ty: Type::Int, ..TEXT }), ..READER }, Law::L1);
    fn picky(inputs: &Inputs, probe: &dyn Probe) -> Answer {
        match inputs.data("count") {
            Some(Data::Int(1)) => honest(inputs, probe),
            _ => Err(Trouble::new(TroubleKind::Invalid, "only one", "say one")),
        }
    }
    let count = &[Param {
        name: "count",
        ty: Type::Int,
        range: Some((1, 9)),
        presence: Presence::Default(Value::Int(1)),
        ..Param::BASE
    }];
    breaks(&Descriptor { params: count, resolver: Some(&Made(picky)), ..READER }, Law::L1);
}

#[test]
fn l2_the_same_world_gives_the_same_value() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    fn counting(inputs: &Inputs, probe: &dyn Probe) -> Answer {
        honest(inputs, probe)?;
        Ok(Data::text(CALLS.fetch_add(1, Ordering::SeqCst).to_string()))
    }
    breaks(&Descriptor { resolver: Some(&Made(counting)), ..READER }, Law::L2);
}

#[test]
fn l3_processes_network_and_randomness_are_expensive() {
    fn runs(_: &Inputs, probe: &dyn Probe) -> Answer {
        probe.run(&Run::Program(&["kubectl", "get"])).map(Data::Text)
    }
    let runner = Descriptor {
        capabilities: &[Capability::Processes],
        resolver: Some(&Made(runs)),
        ..READER
    };
    breaks(&runner, Law::L3);
    assert_eq!(check(&Descriptor { cost: Cost::Expensive, ..runner }, &Inputs::default()), []);
    fn gets(_: &Inputs, probe: &dyn Probe) -> Answer {
        let (url, headers) = ("https://example.com", &Default::default());
        let timeout = std::time::Duration::from_secs(1);
        probe.get(&Request { url, headers, timeout }).map(Data::Text)
    }
    let network = &[Capability::Network];
    breaks(&Descriptor { capabilities: network, resolver: Some(&Made(gets)), ..READER }, Law::L3);
    breaks(&Descriptor { cost: Cost::Cheap, ..DRAWER }, Law::L3);
}

#[test]
fn l4_troubles_do_not_repeat_what_was_read() {
    fn talks(inputs: &Inputs, probe: &dyn Probe) -> Answer {
        use std::io::Read;
        let mut bytes = Vec::new();
        let _ = probe.open("x")?.take(99).read_to_end(&mut bytes);
        match String::from_utf8(bytes) {
            Ok(_) => honest(inputs, probe),
            Err(error) => {
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                Err(Trouble::new(TroubleKind::NotText, text, "no"))
            }
        }
    }
    let both = &[Capability::Environment, Capability::FilesRead];
    breaks(&Descriptor { capabilities: both, resolver: Some(&Made(talks)), ..READER }, Law::L4);
}

#[test]
fn l5_absence_is_missing_and_helps() {
    fn shrugs(_: &Inputs, probe: &dyn Probe) -> Answer {
        Ok(probe.env("X")?.map_or(Data::text(""), Data::Text))
    }
    fn claims(_: &Inputs, probe: &dyn Probe) -> Answer {
        Ok(Data::Bool(probe.env("X")?.is_none()))
    }
    fn fails(_: &Inputs, probe: &dyn Probe) -> Answer {
        let failed = || Trouble::new(TroubleKind::Failed, "no", "try");
        probe.env("X")?.map(Data::Text).ok_or_else(failed)
    }
    fn leaves_alone(_: &Inputs, probe: &dyn Probe) -> Answer {
        probe.env("X")?.map(Data::Text).ok_or_else(|| missing(""))
    }
    let broken = [&Made(shrugs), &Made(fails), &Made(leaves_alone)];
    for resolver in broken {
        breaks(&Descriptor { resolver: Some(resolver), ..READER }, Law::L5);
    }
    let returns =
        Some(opal_core::decorator::Returns { version: "1.0.0", ty: opal_core::Type::Bool });
    breaks(&Descriptor { resolver: Some(&Made(claims)), returns, ..READER }, Law::L5);
}

#[test]
fn l6_reads_are_declared_and_declarations_used() {
    fn looks_around(inputs: &Inputs, probe: &dyn Probe) -> Answer {
        let _ = probe.now();
        honest(inputs, probe)
    }
    breaks(&Descriptor { resolver: Some(&Made(looks_around)), ..READER }, Law::L6);
    let more = &[Capability::Clock, Capability::Environment];
    breaks(&Descriptor { capabilities: more, ..READER }, Law::L6);
    breaks(&Descriptor { capabilities: &[], ..DRAWER }, Law::L6);
}

#[test]
fn l7_what_is_too_large_is_called_so_and_never_given() {
    fn slurps(_: &Inputs, probe: &dyn Probe) -> Answer {
        use std::io::Read;
        let mut bytes = Vec::new();
        let _ = probe.open("x")?.read_to_end(&mut bytes);
        Ok(Data::text(String::from_utf8(bytes).unwrap_or_default()))
    }
    fn misnames(_: &Inputs, probe: &dyn Probe) -> Answer {
        match probe.env("X") {
            Err(_) => Err(Trouble::new(TroubleKind::Failed, "no", "try")),
            Ok(value) => value.map(Data::Text).ok_or_else(|| missing("set it")),
        }
    }
    let files = &[Capability::FilesRead];
    breaks(&Descriptor { capabilities: files, resolver: Some(&Made(slurps)), ..READER }, Law::L7);
    breaks(&Descriptor { resolver: Some(&Made(misnames)), ..READER }, Law::L7);
}

#[test]
fn l8_generators_follow_their_stream_and_their_check() {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    fn counts(_: &Inputs, _: &mut dyn Stream) -> Answer {
        Ok(Data::text(format!("value {}", CALLS.fetch_add(1, Ordering::SeqCst))))
    }
    fn ignores(_: &Inputs, _: &mut dyn Stream) -> Answer {
        Ok(Data::text("always"))
    }
    fn refuses(_: &Inputs) -> Result<(), Trouble> {
        Err(missing("no"))
    }
    let broken = [
        &Drawn { check: fine, generate: counts },
        &Drawn { check: fine, generate: ignores },
        &Drawn { check: refuses, generate: draw },
    ];
    for generator in broken {
        breaks(&Descriptor { generator: Some(generator), ..DRAWER }, Law::L8);
    }
}
