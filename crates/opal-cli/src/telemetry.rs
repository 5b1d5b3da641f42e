//! Telemetry: after a run, its record leaves as a trace and metrics, where the user has asked for that. The
//! helper `opal-serve` makes and sends them; opal is linked with none of it.
//!
//! The variables `OTEL_EXPORTER_OTLP_*` say where to. They are those of opal's own process, never of a project
//! or an env file, and alone they enable nothing: they may be meant for the program of a step.

use std::path::Path;

use opal_core::class::shape;
use opal_core::pages::REACHING;
use opal_core::{Data, Secret};
use opal_helper::{Helper, Parcel, SERVE};
use opal_trust::policy::Settings;
use opal_vault::Vault;
use serde_json::{Value, json};

use crate::ambient::variable;
use crate::context::Context;
use crate::failure::{Exit, Failure};
use crate::helpers;
use crate::options::Asked;
use crate::view;

/// The part of the helper.
const PART: &str = "otlp";

const PREFIX: &str = "OTEL_EXPORTER_OTLP_";

/// For all signals, and for one of them.
const SIGNALS: [&str; 3] = ["", "TRACES_", "METRICS_"];

const HEADERS: &str = "HEADERS";

/// What is read of the variables.
const SETTINGS: [&str; 5] = ["CERTIFICATE", "ENDPOINT", HEADERS, "PROTOCOL", "TIMEOUT"];

/// Where telemetry goes, as the environment of opal says it.
#[derive(Debug)]
pub(crate) struct Telemetry {
    variables: Vec<(String, Secret)>,
}

/// What a collector has accepted.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) spans: usize,
    pub(crate) points: usize,
    /// The server, and its port.
    pub(crate) to: String,
}

impl Telemetry {
    /// That of a run, with its values hidden; none where nobody has asked for it, and where there is no
    /// record to send.
    pub(crate) fn of_run(
        context: &Context<'_>,
        asked: &Asked,
        vault: &Vault,
    ) -> Result<Option<Self>, Failure> {
        if asked.run.no_record || !(asked.run.otlp || is_usual(context, asked)?) {
            return Ok(None);
        }
        let telemetry = Self::read();
        telemetry.hide(vault);
        Ok(Some(telemetry))
    }

    pub(crate) fn read() -> Self {
        let own = SIGNALS.iter().flat_map(|signal| {
            SETTINGS.iter().map(move |setting| format!("{PREFIX}{signal}{setting}"))
        });
        let all = own.chain(REACHING.iter().map(|name| (*name).to_owned()));
        let set = all.filter_map(|name| {
            let value = variable(&name)?.into_string().ok()?;
            Some((name, Secret::new(value)))
        });
        Self { variables: set.collect() }
    }

    /// Hides the values of headers, and passwords in addresses, whoever says them. What has not the form
    /// of headers is hidden too.
    pub(crate) fn hide(&self, vault: &Vault) {
        for (name, value) in &self.variables {
            let (label, value) = (format!("<env.{name}>"), value.expose());
            let mut hide = |text: &str| vault.register(&Data::Text(Secret::new(text)), &label);
            if name.ends_with(HEADERS) {
                for header in value.split(',') {
                    let text = header.split_once('=').map_or(header, |(_, text)| text).trim();
                    let decoded = opal_core::percent::decoded(text);
                    // Programs print a token without the word before it.
                    let token = decoded.rsplit(' ').next().unwrap_or_default();
                    [text, &decoded, token].into_iter().for_each(&mut hide);
                }
            } else {
                shape::passwords(value).into_iter().for_each(|at| hide(&value[at]));
            }
        }
    }

    /// Sends the run of a record.
    pub(crate) fn send(&self, folder: &Path) -> Result<Sent, Failure> {
        let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let Some(path) = path.to_str() else {
            let help = "use another runtime root: `--root DIR`";
            return Err(Failure::usage("the path of the record is not UTF-8", help));
        };
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        let request = Parcel::new(json!({"record": path, "variables": names}));
        let values = self.variables.iter().map(|(_, value)| value.expose().as_bytes());
        let request = values.fold(request, Parcel::with);
        let unusable = |unusable| helpers::failure(&unusable);
        let mut helper = Helper::start_part(SERVE, PART).map_err(unusable)?;
        let answer = helper.ask(&request, &mut |_| Parcel::default()).map_err(unusable)?;
        let text = |name: &str| answer.head.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| {
            let number = answer.head.get(name).and_then(Value::as_u64);
            number.and_then(|it| it.try_into().ok()).unwrap_or_default()
        };
        match text("error") {
            "" => Ok(Sent {
                spans: number("spans"),
                points: number("points"),
                to: text("to").to_owned(),
            }),
            error => Err(Failure::new(Exit::Unavailable, error, text("help"))),
        }
    }

    /// Sends a run that has just ended. That it cannot be sent changes nothing.
    pub(crate) fn after(&self, folder: Option<&Path>, context: &Context<'_>, asked: &Asked) {
        let Some(folder) = folder else {
            let why = Failure::new(Exit::Unavailable, "the run has no record", "");
            return view::telemetry::unsent(&why, None);
        };
        if let Err(failure) = self.send(folder) {
            let id = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let again =
                format!("{} export {id} --otlp", context.opal_runs(asked.plan.root.as_ref()));
            view::telemetry::unsent(&failure, Some(&again));
        }
    }
}

/// Whether the user has set it for all runs.
fn is_usual(context: &Context<'_>, asked: &Asked) -> Result<bool, Failure> {
    let Some(root) = context.root(asked.plan.root.as_ref()) else { return Ok(false) };
    let settings = Settings::load(root.path()).map_err(|error| {
        let exit = if error.is_unsafe() { Exit::NotTrusted } else { Exit::Configuration };
        Failure::new(exit, error.to_string(), error.help())
    })?;
    Ok(settings.otlp)
}
