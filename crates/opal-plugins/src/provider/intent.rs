//! What a provider is about to do: recorded before it is done, so that a run that ends in between leaves
//! what it was about. A create that may only look necessary is refused or warned about.

use std::time::Duration;

use opal_core::action::{Halt, Level, ObjectNews, Stage};
use opal_core::data::{Data, Secret};
use opal_core::protocol::call::{Deed, Intent};
use opal_core::protocol::request::Service;
use opal_core::protocol::{Body, Kind, Refusal};
use opal_core::resolver::{Inputs, Trouble, TroubleKind};

use super::adapt::ProviderAdapter;
use super::bridge::{Bridge, denied};
use super::deletion::named_account;
use crate::client::Serve;

/// How long a provider may take to stop a change that is no longer wanted.
const PARTING: Duration = Duration::from_secs(15);

/// Variables that name the region where a block does not.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];

/// Hears what a provider is about to do.
pub(super) struct Acts<'a> {
    pub(super) adapter: &'a ProviderAdapter,
    pub(super) bridge: &'a Bridge,
    pub(super) inputs: &'a Inputs,
    pub(super) region: Option<String>,
    pub(super) stage: &'a mut dyn Stage,
    /// Why the step ends.
    pub(super) halt: Option<Halt>,
}

impl Acts<'_> {
    fn hear(&mut self, intent: &Intent) -> Result<(), Halt> {
        let is_doubtful = intent.hides_denied && intent.deed == Deed::Create;
        if is_doubtful {
            self.doubt(intent)?;
        }
        let news = ObjectNews::Intended(intent.deed.word());
        self.adapter.note(self.stage, Some(&intent.by), news)
    }

    /// What may not be read looks as if it were missing: a contract must have seen that too, and who runs
    /// it without one is warned.
    fn doubt(&mut self, intent: &Intent) -> Result<(), Halt> {
        let (of, by) = (self.adapter.kind(), intent.by.expose());
        let step = self.inputs.step.as_deref().unwrap_or_default();
        match self.bridge.contract_saw_missing(step) {
            Some(true) => Ok(()),
            Some(false) => {
                let message = format!(
                    "`{of}` is not created: where it may not be read it looks as if it were missing, and \
                     the contract did not see it missing"
                );
                let help = "verify with credentials that may read it, and make a new contract";
                Err(self.stage.fail(1, Trouble::new(TroubleKind::Denied, message, help)))
            }
            None => {
                let account = named_account(intent.account.as_ref());
                let region =
                    self.region.as_ref().map_or_else(String::new, |it| format!(", region {it}"));
                let message = format!(
                    "`{of}` {by} is not found, which is also what you see where you may not read it; it \
                     is created ({account}{region})"
                );
                self.stage.log(Level::Warn, &Secret::new(message))
            }
        }
    }
}

impl Serve for Acts<'_> {
    fn serve(&mut self, service: Service, params: &Body) -> Result<Body, Refusal> {
        let Some(intent) = params.read::<Intent>().filter(|_| service == Service::StageKeep) else {
            return denied();
        };
        match self.hear(&intent) {
            Ok(()) => Ok(Body::default()),
            Err(halt) => {
                self.halt = Some(halt);
                Err(Refusal::new(Kind::Denied, "opal refuses it"))
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stage.go_on().is_err()
    }

    fn parting(&self) -> Duration {
        PARTING
    }
}

/// The region that a step is about, where its block or the environment names one.
pub(super) fn region(inputs: &Inputs, environment: &[(String, Secret)]) -> Option<String> {
    let settings = inputs.settings().and_then(|it| it.get("region")).and_then(Data::as_text);
    let variable = |name: &&str| environment.iter().find(|(it, _)| it == name);
    let variable = || REGIONS.iter().find_map(variable).map(|(_, value)| value.expose().to_owned());
    settings.map(str::to_owned).or_else(variable)
}
