mod unit;

use std::path::Path;

use opal_core::action::{Action, Halt, Stage};
use opal_core::decorator::{Capability, Descriptor, Example, Param, Presence, Resource};
use opal_core::resolver::{Inputs, Probe, Trouble, TroubleKind};
use opal_core::resource::{Finding, Verify};
use opal_core::types::Choices;
use opal_core::{Data, Type, Value};

use self::unit::{Unit, Wanted};
use super::programs::{Program, reason};
use crate::common::{DEPENDS_ON, ID, VERIFY_TIMEOUT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "service.running",
    summary: "a system service that runs",
    docs: "Starts a systemd service that is not running, or, with `state=\"stopped\"`, stops one \
           that is. A service in the desired state is not touched: it is not restarted, not even \
           after its configuration has changed.\n\n\
           Whether it also starts at boot is checked only if `enabled` is given.\n\n\
           If systemd does not run, does not know the service, or has it masked, the step is \
           blocked; so is enabling a service that cannot be enabled. A failed service counts as \
           stopped.\n\n\
           ## Statuses\n\n\
           - `satisfied`: the service runs, or is stopped, as `state` says, and, if `enabled` is \
           given, starts at boot or does not, as `enabled` says.\n\
           - `drifted`: one of the two differs.\n\
           - `blocked`: systemd does not run, does not know the service or cannot load it; the \
           service should start and is masked; or its unit file does not allow `enabled`.",
    params: &[
        Param::required("name", "the service, with or without `.service`"),
        Param {
            name: "enabled",
            ty: Type::Bool,
            presence: Presence::Optional,
            docs: "whether the service starts at boot; not changed by default",
            ..Param::BASE
        },
        Param {
            name: "state",
            ty: Type::OneOf(Choices::Static(&["running", "stopped"])),
            presence: Presence::Default(Value::text("running")),
            docs: "whether the service runs now",
            ..Param::BASE
        },
        ID,
        DEPENDS_ON,
        VERIFY_TIMEOUT,
    ],
    resource: Some(Resource { yaml: "service", key: &["name"], verify: &ServiceRunning }),
    capabilities: &[Capability::Processes, Capability::Services],
    examples: &[
        Example {
            title: "run a service now and after a restart",
            source: "fun serve() {\n    @service.running(\"nginx\", enabled=true)\n}\n",
        },
        Example {
            title: "turn a service off",
            source: "fun quiet() {\n    \
                     @service.running(\"cups\", enabled=false, state=\"stopped\")\n}\n",
        },
    ],
    action: Some(&ServiceRunning),
    ..Descriptor::BASE
};

#[derive(Debug)]
struct ServiceRunning;

impl Verify for ServiceRunning {
    fn verify(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Finding, Trouble> {
        let (wanted, unit) = inspect(inputs, probe)?;
        unit.decide(&wanted)
    }
}

impl Action for ServiceRunning {
    fn act(&self, inputs: &Inputs, stage: &mut dyn Stage) -> Result<Data, Halt> {
        let inspected = inspect(inputs, &*stage.probe());
        let decided = inspected.and_then(|(wanted, unit)| {
            unit.decide(&wanted)?;
            Ok((unit.orders(&wanted), wanted.name))
        });
        let (orders, name) = decided.map_err(|trouble| stage.fail(1, trouble))?;
        for order in orders {
            let program = Program::new("systemctl", "--no-ask-password --no-pager");
            let code = program.text(order).text("--").word(&*name).run(stage)?;
            if code != 0 {
                let message = format!("`systemctl {order} {name}` ended with {code}");
                let help = format!(
                    "`systemctl status {name}` and `journalctl --unit={name}` say why; system \
                     services require root, as in `sudo opal …`"
                );
                return Err(stage.fail(code, Trouble::new(TroubleKind::Failed, message, help)));
            }
        }
        Ok(Data::Null)
    }
}

fn inspect(inputs: &Inputs, probe: &dyn Probe) -> Result<(Wanted, Unit), Trouble> {
    let wanted = wanted(inputs)?;
    let program = Program::new("systemctl", "show --no-pager");
    let program = program.text("--property=LoadState,ActiveState,SubState,UnitFileState --");
    let answer = program.word(&*wanted.name).ask(probe).map_err(|trouble| match trouble.kind {
        TroubleKind::Missing => no_systemd("this machine has no systemd"),
        _ => trouble,
    })?;
    if answer.code == 0 {
        return Ok((wanted, Unit::read(answer.stdout.expose())));
    }
    if probe.stat(Path::new("/run/systemd/system"))?.is_none() {
        return Err(no_systemd("this machine was not started with systemd"));
    }
    let said = reason(answer.stderr.expose());
    let message = format!("systemd reports nothing about `{}`: {said}", wanted.name);
    let help = format!("try `systemctl status {}`", wanted.name);
    Err(Trouble::new(TroubleKind::Failed, message, help))
}

fn wanted(inputs: &Inputs) -> Result<Wanted, Trouble> {
    let name = inputs.text("name").unwrap_or_default();
    // Among the signs that are left out are those of patterns and paths.
    let is_usual = |c: char| c.is_ascii_alphanumeric() || ":_.@\\-".contains(c);
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_usual) {
        let message = format!("invalid service name `{name}`");
        let help = "write it as `systemctl list-units` does";
        return Err(Trouble::new(TroubleKind::Invalid, message, help));
    }
    let enabled = match inputs.data("enabled") {
        Some(Data::Bool(enabled)) => Some(*enabled),
        _ => None,
    };
    let runs = inputs.text("state") != Some("stopped");
    Ok(Wanted { name: name.to_owned(), runs, enabled })
}

fn no_systemd(message: &'static str) -> Trouble {
    let help = "start the service with `@shell(…, check=…)`, or run this where systemd runs";
    Trouble::new(TroubleKind::Missing, message, help)
}
