//! Every built-in driver obeys the laws, and each law catches who breaks it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use opal_core::Secret;
use opal_modules::run::conformance::{Law, Sample, check};
use opal_modules::run::driver::{Driver, Outputs, Place, Request, Setting, Tool, Work};
use opal_modules::run::{Command, drivers};
use opal_modules::{NotFound, Profile};
use serde_json::{Map, Value, json};

use crate::drivers::support::{program, write};

const CANARIES: [&str; 3] = ["canary-password", "canary-token", "canary-key"];

fn inputs() -> Map<String, Value> {
    let inputs = json!({
        "name": "trial", "ansible_password": CANARIES[0], "apply_mode": "",
        "nested": {"token": CANARIES[1], "list": [CANARIES[2]]},
    });
    inputs.as_object().unwrap().clone()
}

fn profile(driver: &str) -> Profile {
    let text = format!(
        "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1.0\ndriver: {driver}\n\
         hooks: {{export_infra: {{command: [a]}}}}\n"
    );
    Profile::read(&text).found.unwrap()
}

/// The laws that a driver breaks, with a stack that any of the built-in ones can run.
fn broken(driver: &dyn Driver) -> Vec<Law> {
    let folder = tempfile::tempdir().unwrap();
    let (fit, empty) = (folder.path().join("fit"), folder.path().join("empty"));
    program(&fit.join("run.sh"), "#!/bin/sh\n");
    for name in ["playbook.yml", "destroy.playbook.yml"] {
        write(&fit.join(name), "[]\n");
    }
    write(&fit.join("main.tf"), "");
    std::fs::create_dir(&empty).unwrap();
    let (profile, inputs) = (profile(driver.reference()), inputs());
    let sample = Sample {
        fit: &fit,
        unfit: &[&empty],
        inputs: &inputs,
        secrets: &CANARIES,
        profile: &profile,
        templates: &BTreeMap::new(),
    };
    let mut laws: Vec<Law> = check(driver, &sample).into_iter().map(|breach| breach.law).collect();
    laws.dedup();
    laws
}

#[test]
fn every_built_in_driver_obeys_the_laws() {
    let mut count = 0;
    for driver in drivers::all() {
        assert_eq!(broken(driver), [], "{}", driver.reference());
        count += 1;
    }
    assert_eq!(count, 3);
}

#[test]
fn the_table_is_in_order_and_a_stranger_learns_what_there_is() {
    let names: Vec<&str> = drivers::all().map(Driver::reference).collect();
    assert!(names.is_sorted(), "{names:?}");
    let stranger = opal_modules::Name::parse("images/packer", "driver").unwrap();
    let missing = drivers::find(&stranger).unwrap_err();
    assert!(missing.help.contains("`config/ansible`, `iac/terragrunt`"), "{missing:?}");
}

/// What a driver does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    OtherWork,
    OtherSetting,
    NamesThePack,
    SecretInWord,
    SecretInFacts,
    SecretInWarnings,
    SecretInRefusal,
    SecretInFileName,
    SameLabel,
    StrangeLabel,
    FileOutside,
    OutputsOutside,
    EarlierOutputsOutside,
    FileOfTheRuntime,
    TakesAnything,
    FitsAnything,
    FitsNothing,
    RefusesWithoutWords,
    NamesNoProgram,
    TakesAnyOutputs,
    QuotesOutputs,
}

#[derive(Debug)]
struct Faulty(Fault, AtomicUsize);

impl Faulty {
    /// Another word each time.
    fn drawn(&self) -> String {
        self.1.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

impl Driver for Faulty {
    fn reference(&self) -> &'static str {
        "trial/faulty"
    }

    fn fits(&self, request: &Request<'_>) -> Result<(), NotFound> {
        let words = || "no".to_owned();
        match self.0 {
            Fault::FitsAnything => Ok(()),
            Fault::FitsNothing => Err(NotFound { message: words(), help: words() }),
            _ => self.work(request).map(drop),
        }
    }

    fn work(&self, request: &Request<'_>) -> Result<Work, NotFound> {
        let secret = request.inputs["ansible_password"].as_str().unwrap();
        let is_fit = request.stack.join("run.sh").exists();
        if !is_fit && self.0 != Fault::TakesAnything {
            let said = if self.0 == Fault::SecretInRefusal { secret } else { "no `run.sh`" };
            let said = if self.0 == Fault::RefusesWithoutWords { "" } else { said };
            return Err(NotFound { message: said.to_owned(), help: said.to_owned() });
        }
        let word = match self.0 {
            Fault::OtherWork => self.drawn(),
            Fault::NamesThePack => request.stack.join("run.sh").display().to_string(),
            Fault::SecretInWord => format!("--password={secret}"),
            _ => "word".to_owned(),
        };
        let label = match self.0 {
            Fault::SameLabel => "faulty_first",
            Fault::StrangeLabel => "other_second",
            _ => "faulty_second",
        };
        let mut tools =
            vec![Tool::new("faulty_first", &["tool", &word]), Tool::new(label, &["tool"])];
        if self.0 == Fault::NamesNoProgram {
            tools[1].words.clear();
        }
        let warnings = match self.0 {
            Fault::SecretInWarnings => vec![format!("it is {secret}")],
            _ => Vec::new(),
        };
        let mut facts = Map::new();
        if self.0 == Fault::SecretInFacts {
            facts.insert("password".to_owned(), secret.into());
        }
        let (outputs, earlier_outputs) = match self.0 {
            Fault::OutputsOutside => ("/tmp/outputs", None),
            Fault::EarlierOutputsOutside => ("outputs", Some("../outputs".to_owned())),
            _ => ("outputs", None),
        };
        let outputs = Some(outputs.to_owned());
        Ok(Work { tools, outputs, earlier_outputs, report: None, facts, warnings })
    }

    fn setting(&self, request: &Request<'_>, place: &Place<'_>) -> Result<Setting, NotFound> {
        let secret = request.inputs["ansible_password"].as_str().unwrap();
        let path = match self.0 {
            Fault::FileOutside => "a/../../b".to_owned(),
            Fault::FileOfTheRuntime => "hyops.meta.json".to_owned(),
            Fault::SecretInFileName => secret.to_owned(),
            _ => "file".to_owned(),
        };
        let text = if self.0 == Fault::OtherSetting { self.drawn() } else { secret.to_owned() };
        let mut setting = Setting::default();
        setting.files.insert(path, Secret::new(text));
        setting.variables.insert("PLACE".to_owned(), Secret::new(place.run_id));
        Ok(setting)
    }

    fn outputs(&self, text: &str) -> Result<Outputs, String> {
        match serde_json::from_str(text) {
            Ok(Value::Object(values)) => Ok(Outputs { values, sensitive: Vec::new() }),
            _ if self.0 == Fault::TakesAnyOutputs => Ok(Outputs::default()),
            _ if self.0 == Fault::QuotesOutputs => Err(format!("no object: {text}")),
            _ => Err("no object".to_owned()),
        }
    }

    fn differs(&self, code: i32, _: Option<&str>) -> Result<bool, String> {
        Ok(code == 2)
    }
}

#[test]
fn each_law_catches_who_breaks_it() {
    for (fault, laws) in [
        (Fault::None, vec![]),
        (Fault::OtherWork, vec![Law::D1]),
        (Fault::OtherSetting, vec![Law::D1]),
        (Fault::NamesThePack, vec![Law::D1]),
        (Fault::SecretInWord, vec![Law::D2]),
        (Fault::SecretInFacts, vec![Law::D2]),
        (Fault::SecretInWarnings, vec![Law::D2]),
        (Fault::SecretInRefusal, vec![Law::D2]),
        (Fault::SecretInFileName, vec![Law::D2]),
        (Fault::SameLabel, vec![Law::D3]),
        (Fault::StrangeLabel, vec![Law::D3]),
        (Fault::FileOutside, vec![Law::D4]),
        (Fault::OutputsOutside, vec![Law::D4]),
        (Fault::EarlierOutputsOutside, vec![Law::D4]),
        (Fault::FileOfTheRuntime, vec![Law::D4]),
        (Fault::TakesAnything, vec![Law::D5]),
        (Fault::FitsAnything, vec![Law::D5]),
        (Fault::FitsNothing, vec![Law::D5]),
        (Fault::RefusesWithoutWords, vec![Law::D5]),
        (Fault::NamesNoProgram, vec![Law::D5]),
        (Fault::TakesAnyOutputs, vec![Law::D6]),
        (Fault::QuotesOutputs, vec![Law::D6]),
    ] {
        assert_eq!(broken(&Faulty(fault, AtomicUsize::new(0))), laws, "{fault:?}");
    }
}

#[test]
fn every_label_of_every_command_is_one_that_was_promised() {
    let promised = [
        "ansible_apply ansible_plan ansible_validate ansible_verify ansible_destroy",
        "shell_apply shell_plan shell_validate shell_verify shell_destroy",
        "terragrunt_init terragrunt_plan terragrunt_apply terragrunt_validate terragrunt_destroy \
         terragrunt_output terragrunt_output_before",
    ];
    let promised: Vec<&str> = promised.iter().flat_map(|names| names.split(' ')).collect();
    for module in ["demo/motd", "demo/network", "demo/label"] {
        for command in Command::ALL {
            for tool in crate::drivers::support::example(module).work(command).unwrap().tools {
                assert!(promised.contains(&tool.label.as_str()), "{}", tool.label);
                assert!(!Path::new(&tool.words[0]).is_absolute());
            }
        }
    }
}
