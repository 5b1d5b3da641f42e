//! Who can get the secrets that a package handles: a person should know it before accepting.

use super::Installed;
use crate::capability::Capability;

impl Installed {
    /// The hosts that it may reach.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        let host = |it: Capability| match it {
            Capability::Net(service) | Capability::Query(service) => Some(service.host),
            _ => None,
        };
        let mut all: Vec<String> = self.granted().into_iter().filter_map(host).collect();
        all.dedup();
        all
    }

    /// The hosts and programs that its secrets can be sent to; nothing where it handles no secrets.
    #[must_use]
    pub fn sends_secrets_to(&self) -> Vec<String> {
        let granted = self.granted();
        let is_secret =
            |it: &Capability| matches!(it, Capability::Env { .. } | Capability::Secrets);
        let takes_secrets = self.manifest.decorators.iter().any(|declared| {
            let params = declared.descriptor.params.iter();
            params.into_iter().any(|param| param.shape.is_some_and(|shape| shape.secret))
        });
        if !takes_secrets && !granted.iter().any(is_secret) {
            return Vec::new();
        }
        if self.engine() == "native" {
            // opal checks nothing of what it does by itself.
            let is_net = |it: &Capability| matches!(it, Capability::Net(_) | Capability::Query(_));
            let is_run = |it: &Capability| matches!(it, Capability::Ask(_) | Capability::Run(_));
            let all = [
                granted.iter().any(is_net).then_some("any host"),
                granted.iter().any(is_run).then_some("any program"),
            ];
            return all.into_iter().flatten().map(str::to_owned).collect();
        }
        let program = |it: &Capability| match it {
            Capability::Ask(command) | Capability::Run(command) => Some(command.program.clone()),
            _ => None,
        };
        let mut all = self.hosts();
        all.extend(granted.iter().filter_map(program));
        all.dedup();
        all
    }
}
