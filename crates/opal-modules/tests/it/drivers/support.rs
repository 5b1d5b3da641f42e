//! A release in a temporary directory, and runs of its modules.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::sync::Arc;

use opal_core::schema::Schemas;
use opal_modules::load;
use opal_modules::run::driver::{Outputs, Place, Request, Setting, Work};
use opal_modules::run::{Command, drivers};
use opal_modules::{Hints, ModuleRef, NotFound, Places, Profile, Spec};
use serde_json::{Map, Value};

/// A module that can be run.
pub(crate) struct Bench {
    pub(crate) spec: Spec,
    pub(crate) profile: Profile,
    pub(crate) profile_path: PathBuf,
    pub(crate) stack: PathBuf,
    pub(crate) inputs: Map<String, Value>,
    /// Where programs are looked for.
    pub(crate) path: Vec<PathBuf>,
    /// The runtime root.
    pub(crate) root: tempfile::TempDir,
    runs: Cell<usize>,
}

/// What is left of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) stack: PathBuf,
    pub(crate) steps: Vec<Step>,
    pub(crate) outputs: Option<Outputs>,
    pub(crate) differs: bool,
}

#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) label: String,
    pub(crate) code: i32,
    pub(crate) printed: String,
    pub(crate) complained: String,
}

impl Ran {
    pub(crate) fn labels(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.label.as_str()).collect()
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        let failed = self.steps.iter().find(|step| step.code != 0);
        assert!(failed.is_none(), "{self:#?}\n{}", failed.unwrap().complained);
        self
    }

    #[track_caller]
    pub(crate) fn output(&self, name: &str) -> &Value {
        &self.outputs.as_ref().expect("there are outputs").values[name]
    }
}

/// The files of a release: a module `trial` of a driver, its profile and its pack.
pub(crate) fn release(driver: &str, profile: &str, stack: &[(&str, &str)]) -> tempfile::TempDir {
    let release = tempfile::tempdir().unwrap();
    let spec = format!(
        "api_version: hybridops/v1\nkind: ModuleSpec\nmodule_ref: trial\ninputs: {{defaults: {{}}}}\n\
         requirements: {{credentials: []}}\n\
         execution: {{driver: {driver}, profile: local@v1.0, pack_ref: {{id: trial}}}}\n"
    );
    let profile = format!(
        "api_version: hybridops/v1\nkind: DriverProfile\nprofile_ref: local@v1.0\ndriver: {driver}\n\
         {profile}"
    );
    write(&release.path().join("modules/trial/spec.yml"), &spec);
    let profiles = release.path().join("drivers").join(driver).join("profiles");
    write(&profiles.join("local@v1.0.profile.yml"), &profile);
    let pack = release.path().join("packs").join(driver).join("trial/stack");
    fs::create_dir_all(&pack).unwrap();
    for (name, text) in stack {
        write(&pack.join(name), text);
    }
    release
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn program(path: &Path, text: &str) {
    write(path, text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The module of this name in `examples/modules`.
pub(crate) fn example(module: &str) -> Bench {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Bench::of(&here.join("../../examples/modules"), module)
}

/// The directories of the PATH.
#[expect(clippy::disallowed_methods, reason = "the real tools are where the tests find them")]
pub(crate) fn ambient() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

impl Bench {
    pub(crate) fn of(release: &Path, module: &str) -> Self {
        let modules = release.join("modules");
        let schemas: Arc<dyn Schemas> = Arc::new(opal_extra::schemas::Engine);
        let hints = Hints { module_root: Some(&modules), ..Hints::none(&schemas) };
        let places = Places::find(&hints).unwrap();
        let module = ModuleRef::parse(module).unwrap();
        let spec = load::spec(&places, &module).unwrap().checked.found.expect("a spec");
        let read = load::profile(&places, &spec).unwrap();
        let stack = places.stack(&spec.execution.driver, &spec.execution.pack).unwrap();
        Self {
            inputs: spec.defaults.clone(),
            profile: read.checked.found.expect("a profile"),
            profile_path: read.path,
            stack,
            path: ambient(),
            root: tempfile::tempdir().unwrap(),
            runs: Cell::new(0),
            spec,
        }
    }

    pub(crate) fn input(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.inputs.insert(key.to_owned(), value.into());
        self
    }

    /// Only the programs in this directory are there, beside those of every system.
    pub(crate) fn only(mut self, folder: &Path) -> Self {
        self.path = vec![folder.to_owned()];
        self
    }

    pub(crate) fn find(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }

    fn with<T>(
        &self,
        command: Command,
        ask: impl FnOnce(&Request<'_>) -> Result<T, NotFound>,
    ) -> Result<T, NotFound> {
        let find = |name: &str| self.find(name);
        let templates = drivers::templates(&self.profile, &self.profile_path)?;
        ask(&Request {
            command,
            module: &self.spec.module_ref,
            instance: None,
            inputs: &self.inputs,
            execution: &self.spec.execution,
            credentials: &self.spec.credentials,
            profile: &self.profile,
            templates: &templates,
            stack: &self.stack,
            find: &find,
        })
    }

    pub(crate) fn work(&self, command: Command) -> Result<Work, NotFound> {
        let driver = drivers::find(&self.spec.execution.driver).unwrap();
        self.with(command, |request| driver.work(request))
    }

    /// The words of all tools, each joined.
    pub(crate) fn words(&self, command: Command) -> Vec<String> {
        let work = self.work(command).unwrap();
        work.tools.iter().map(|tool| tool.words.join(" ")).collect()
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.root.path().join("state/tools").join(self.spec.module_ref.id())
    }

    pub(crate) fn setting(&self, command: Command, stack: &Path) -> Result<Setting, NotFound> {
        let driver = drivers::find(&self.spec.execution.driver).unwrap();
        let memory = self.memory();
        let place = Place {
            run_id: "trial-1",
            stack,
            memory: &memory,
            root: self.root.path(),
            colour: false,
        };
        self.with(command, |request| driver.setting(request, &place))
    }

    /// Runs the tools in a fresh copy of the stack; a tool that fails is the last.
    pub(crate) fn run(&self, command: Command) -> Ran {
        let work = self.work(command).unwrap();
        self.runs.set(self.runs.get() + 1);
        let stack = self.root.path().join(format!("work/{}/stack", self.runs.get()));
        copy(&self.stack, &stack);
        fs::create_dir_all(self.memory()).unwrap();
        let setting = self.setting(command, &stack).unwrap();
        let inputs = serde_json::to_string(&self.inputs).unwrap();
        for name in ["inputs.auto.tfvars.json", "hyops.inputs.json"] {
            write(&stack.join(name), &inputs);
        }
        write(&stack.join("hyops.meta.json"), "{}");
        for (path, text) in &setting.files {
            write(&stack.join(path), text.expose());
        }
        let driver = drivers::find(&self.spec.execution.driver).unwrap();
        let (mut steps, mut differs) = (Vec::new(), false);
        for tool in &work.tools {
            let mut process = self.process(&tool.words, &stack);
            let variables = setting.variables.iter().map(|(name, value)| (name, value.expose()));
            process.envs(variables);
            if let Some(outputs) = &work.outputs {
                process.env("HYOPS_OUTPUTS_FILE", stack.join(outputs));
            }
            let output = process.stdin(Stdio::null()).output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            if let Some(path) = &tool.stdout {
                write(&stack.join(path), &printed);
            }
            let code = output.status.code().unwrap_or(-1);
            if matches!(command, Command::Plan | Command::Verify) {
                let report = work.report.as_ref().map(|path| fs::read_to_string(stack.join(path)));
                let report = report.and_then(Result::ok);
                differs = driver.differs(code, report.as_deref()).unwrap();
            }
            let complained = String::from_utf8_lossy(&output.stderr).into_owned();
            steps.push(Step { label: tool.label.clone(), code, printed, complained });
            if code != 0 && !tool.may_fail {
                break;
            }
        }
        let outputs = work.outputs.and_then(|path| fs::read_to_string(stack.join(path)).ok());
        let outputs = outputs.map(|text| driver.outputs(&text).unwrap());
        Ran { stack, steps, outputs, differs }
    }

    #[expect(clippy::disallowed_methods, reason = "the tests stand for the runtime here")]
    fn process(&self, words: &[String], stack: &Path) -> Process {
        let program = match words[0].strip_prefix("./") {
            Some(name) => stack.join(name),
            None => self.find(&words[0]).unwrap_or_else(|| words[0].clone().into()),
        };
        let path = self.path.iter().cloned().chain(["/usr/bin".into(), "/bin".into()]);
        let mut process = Process::new(program);
        process.args(&words[1..]).current_dir(stack);
        process.env("PATH", std::env::join_paths(path).unwrap());
        process
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(fs::copy(entry.path(), target))
        }
    }
}
