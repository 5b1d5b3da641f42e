//! What systemd says about a unit, and what follows from it.

use opal_core::resolver::{Trouble, TroubleKind};
use opal_core::resource::Finding;

use crate::resource::properties::{Property, compared, differing};

#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) runs: bool,
    /// None leaves that alone.
    pub(super) enabled: Option<bool>,
}

/// The properties of a unit, in systemd's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unit {
    load: String,
    active: String,
    sub: String,
    file: String,
}

/// Whether a unit starts with the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boot {
    Enabled,
    Disabled,
    /// Nothing can be said: it is made by something else at every start.
    Generated,
    /// It is not enabled, and cannot be.
    Fixed,
}

impl Unit {
    /// `ActiveState=active` and so on, a line each.
    pub(super) fn read(properties: &str) -> Self {
        let value = |name: &str| {
            let of = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
            properties.lines().find_map(of).unwrap_or_default()
        };
        Self {
            load: value("LoadState"),
            active: value("ActiveState"),
            sub: value("SubState"),
            file: value("UnitFileState"),
        }
    }

    pub(super) fn decide(&self, wanted: &Wanted) -> Result<Finding, Trouble> {
        self.check(wanted)?;
        let mut properties =
            vec![Property::new("state", state(wanted.runs), self.shown_state(wanted.runs))];
        if let Some(enabled) = wanted.enabled {
            let actual = if self.boot() == Boot::Enabled { "enabled" } else { "disabled" };
            let expected = if enabled { "enabled" } else { "disabled" };
            properties.push(Property::new("at boot", expected, actual));
        }
        let name = &wanted.name;
        if !properties.iter().any(Property::differs) {
            let all: Vec<_> = properties.into_iter().map(|it| it.expected).collect();
            return Ok(Finding::satisfied(format!("`{name}` is {}", all.join(" and "))));
        }
        let different = differing(&properties);
        let finding = Finding::drifted(format!("`{name}` differs: {different}"));
        Ok(finding.with_details(compared(&format!("service {name}"), &properties)))
    }

    /// What has to be done, as `systemctl` calls it.
    pub(super) fn orders(&self, wanted: &Wanted) -> Vec<&'static str> {
        let boot = wanted.enabled.filter(|enabled| *enabled != (self.boot() == Boot::Enabled));
        let boot = boot.map(|enabled| if enabled { "enable" } else { "disable" });
        let order = if wanted.runs { "start" } else { "stop" };
        boot.into_iter().chain((!self.is(wanted.runs)).then_some(order)).collect()
    }

    /// Whether the desired state can be reached at all.
    fn check(&self, wanted: &Wanted) -> Result<(), Trouble> {
        let name = &wanted.name;
        let blocked = |kind, message: String, help: String| Err(Trouble::new(kind, message, help));
        let starts = wanted.runs || wanted.enabled == Some(true);
        match &*self.load {
            "loaded" => {}
            "not-found" => {
                let help = "install its package, or find its name with `systemctl \
                            list-unit-files`";
                let message = format!("unknown service `{name}`");
                return blocked(TroubleKind::Missing, message, help.to_owned());
            }
            "masked" if starts => {
                let message = format!("`{name}` is masked, so it cannot be started");
                let help = format!("allow it with `systemctl unmask {name}`");
                return blocked(TroubleKind::Denied, message, help);
            }
            "masked" => {}
            other => {
                let message = format!("systemd cannot load `{name}`: its state is `{other}`");
                let help = format!("`systemctl status {name}` says what is wrong with its file");
                return blocked(TroubleKind::Failed, message, help);
            }
        }
        let (file, help) = (&self.file, "omit `enabled`");
        match (wanted.enabled, self.boot()) {
            (Some(_), Boot::Generated) => {
                let message =
                    format!("`{name}` cannot be enabled or disabled: its unit file is generated");
                blocked(TroubleKind::Invalid, message, help.to_owned())
            }
            (Some(true), Boot::Fixed) => {
                let message = format!("`{name}` cannot be enabled: its file is `{file}`");
                blocked(TroubleKind::Invalid, message, help.to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether it runs, or whether it does not: on the way to either it is neither.
    fn is(&self, running: bool) -> bool {
        match &*self.active {
            "active" | "reloading" | "refreshing" => running,
            "inactive" | "failed" => !running,
            _ => false,
        }
    }

    /// As it was asked for, or in systemd's words.
    fn shown_state(&self, running: bool) -> String {
        match (self.is(running), &*self.active, &*self.sub) {
            (true, ..) => state(running).to_owned(),
            (false, active, "") => active.to_owned(),
            (false, active, sub) => format!("{active} ({sub})"),
        }
    }

    fn boot(&self) -> Boot {
        match &*self.file {
            "enabled" | "alias" => Boot::Enabled,
            // Until the next start only.
            "enabled-runtime" | "disabled" | "linked" | "linked-runtime" => Boot::Disabled,
            "generated" => Boot::Generated,
            // `static`, `indirect`, `transient`, `masked`, or no file at all.
            _ => Boot::Fixed,
        }
    }
}

fn state(runs: bool) -> &'static str {
    if runs { "running" } else { "stopped" }
}

#[cfg(test)]
mod tests {
    use opal_core::resource::Status;

    use super::*;

    fn unit(words: &str) -> Unit {
        let mut words = words.split(' ').map(str::to_owned);
        let mut next = || words.next().unwrap();
        Unit { load: next(), active: next(), sub: next(), file: next() }
    }

    fn wanted(runs: bool, enabled: Option<bool>) -> Wanted {
        Wanted { name: "nginx".into(), runs, enabled }
    }

    #[test]
    fn what_systemctl_shows_is_read() {
        let shown =
            "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=static\n";
        assert_eq!(Unit::read(shown), unit("loaded active running static"));
        assert_eq!(Unit::read(""), Unit::default());
    }

    #[test]
    fn each_state_of_a_unit_has_its_status_and_its_orders() {
        let (yes, no) = (Some(true), Some(false));
        for (words, runs, enabled, orders) in [
            ("loaded active running enabled", true, yes, &[][..]),
            ("loaded active exited disabled", true, None, &[]),
            ("loaded reloading reload enabled", true, None, &[]),
            ("loaded inactive dead enabled", true, None, &["start"]),
            ("loaded failed failed enabled", true, yes, &["start"]),
            ("loaded activating auto-restart enabled", true, None, &["start"]),
            ("loaded deactivating stop enabled", true, None, &["start"]),
            ("loaded active running disabled", true, yes, &["enable"]),
            ("loaded active running enabled-runtime", true, yes, &["enable"]),
            ("loaded inactive dead disabled", true, yes, &["enable", "start"]),
            ("loaded inactive dead disabled", false, no, &[]),
            ("loaded failed failed disabled", false, None, &[]),
            ("loaded inactive dead static", false, no, &[]),
            ("masked inactive dead masked", false, no, &[]),
            ("masked active running masked", false, None, &["stop"]),
            ("loaded activating start enabled", false, None, &["stop"]),
            ("loaded active running enabled", false, no, &["disable", "stop"]),
        ] {
            let (unit, wanted) = (unit(words), wanted(runs, enabled));
            let finding = unit.decide(&wanted).unwrap();
            let status = if orders.is_empty() { Status::Satisfied } else { Status::Drifted };
            assert_eq!((finding.status, &*unit.orders(&wanted)), (status, orders), "{words}");
        }
    }

    #[test]
    fn what_cannot_be_applied_is_blocked() {
        let (yes, no) = (Some(true), Some(false));
        for (words, runs, enabled, part) in [
            ("not-found inactive dead x", true, None, "unknown service `nginx`"),
            ("not-found inactive dead x", false, no, "unknown service `nginx`"),
            ("masked inactive dead masked", true, None, "`nginx` is masked"),
            ("masked inactive dead masked", false, yes, "`nginx` is masked"),
            ("bad-setting inactive dead enabled", true, None, "its state is `bad-setting`"),
            ("loaded active running static", true, yes, "its file is `static`"),
            ("loaded active running generated", true, no, "its unit file is generated"),
        ] {
            let trouble = unit(words).decide(&wanted(runs, enabled)).unwrap_err();
            assert!(trouble.message.contains(part), "{words}: {}", trouble.message);
        }
    }

    #[test]
    fn the_diff_has_the_words_of_systemd() {
        let unit = unit("loaded failed failed disabled");
        let finding = unit.decide(&wanted(true, Some(true))).unwrap();
        assert_eq!(
            finding.message.expose(),
            "`nginx` differs: state failed (failed), expected running; at boot disabled, expected enabled"
        );
        let details = finding.details.unwrap().report();
        let lines =
            "-state: running\n-at boot: enabled\n+state: failed (failed)\n+at boot: disabled\n";
        assert!(details.ends_with(lines), "{}", details);
    }
}
