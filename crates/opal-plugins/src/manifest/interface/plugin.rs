//! `x-opal-plugin`: the package, and what its code may take.

use opal_core::Code;
use opal_core::protocol::{MAX_MEMORY_MIB, MEMORY_MIB};
use opal_yaml::fields::{Field, Fields};
use opal_yaml::problems::Problems;
use semver::Version;

use super::Interface;
use crate::names::is_package_name;

pub(super) fn read(field: Field<'_>, found: &mut Interface, problems: &mut Problems) {
    let Some(mut fields) = Fields::of(field.value, "`x-opal-plugin`", problems) else { return };
    let mut text = |key: &str, is_fine: &dyn Fn(&str) -> bool, expects: &str| {
        let field = fields.take(key)?;
        let text = field.value.word().filter(|text| is_fine(text));
        if text.is_none() {
            let message = format!("invalid `{key}`");
            let help = format!("expects {expects}");
            problems.error(Code::PackageValue, field.value.head(), message, help);
        }
        text.map(str::to_owned)
    };
    let is_version = |text: &str| Version::parse(text).is_ok();
    found.name = text("name", &is_package_name, "the name of the package, as in `acme/house`");
    let version = text("version", &is_version, "a version as in `1.2.3`");
    let min_core = text("min_core", &is_version, "a version as in `1.2.3`");
    let is_memory = |text: &str| memory(text).is_some();
    let most = text("memory_mib", &is_memory, "a number of MiB from 64 to 512");
    found.memory_mib = most.and_then(|text| memory(&text));
    found.version = version.and_then(|text| text.parse().ok());
    found.min_core = min_core.and_then(|text| text.parse().ok());
    fields.typos(&["name", "version", "min_core", "memory_mib"], problems);
}

fn memory(text: &str) -> Option<u32> {
    text.parse().ok().filter(|mib| (MEMORY_MIB..=MAX_MEMORY_MIB).contains(mib))
}
