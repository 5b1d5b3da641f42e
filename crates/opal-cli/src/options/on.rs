//! `--on`.

use opal_core::on::On;

use crate::failure::Failure;

/// Targets of `--on`, as they were typed.
pub(super) fn checked(text: String) -> Result<String, Failure> {
    On::parse(&text).map(|_| ()).map_err(|error| {
        Failure::usage(
            format!("`--on {text}`: {error}"),
            "name a host, several hosts (`web1,web2`), or hosts of an inventory (`hosts.ini#web`)",
        )
    })?;
    Ok(text)
}
