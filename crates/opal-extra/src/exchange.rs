//! Requests of plugins.

use std::sync::OnceLock;
use std::time::Duration;

use opal_core::data::Secret;
use opal_core::pages::{ExchangeRequest, Exchanges as _};
use opal_helper::{Parcel, write_trouble};
use opal_http::Exchanger;
use serde_json::{Value, json};

pub(crate) fn answer(request: &Parcel) -> Option<Parcel> {
    // Connections are kept for one run.
    static EXCHANGER: OnceLock<Exchanger> = OnceLock::new();
    let head = request.head.get("exchange")?;
    let names = |key: &str| -> Option<Vec<&str>> {
        head.get(key)?.as_array()?.iter().map(Value::as_str).collect()
    };
    let (headers, variables) = (names("headers")?, names("variables")?);
    let mut texts = (0..).map_while(|index| request.text(index));
    let url = Secret::new(texts.next()?);
    let body = Secret::new(texts.next()?);
    let headers: Vec<(String, Secret)> = headers
        .into_iter()
        .map(|name| Some((name.to_owned(), Secret::new(texts.next()?))))
        .collect::<Option<_>>()?;
    let variables: Vec<(&str, &str)> =
        variables.into_iter().map(|name| Some((name, texts.next()?))).collect::<Option<_>>()?;
    let asked = ExchangeRequest {
        method: head.get("method")?.as_str()?,
        url: &url,
        headers: &headers,
        body: &body,
        is_private: head.get("private")?.as_bool()?,
        timeout: Duration::from_millis(head.get("milliseconds")?.as_u64()?),
    };
    let variable =
        |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    Some(match EXCHANGER.get_or_init(Exchanger::default).exchange(&asked, &variable) {
        Ok(found) => {
            let names: Vec<&str> = found.headers.iter().map(|(name, _)| name.as_str()).collect();
            let head = json!({"status": found.status, "headers": names});
            let parcel = Parcel::new(head).with(&found.body);
            let values = found.headers.iter();
            values.fold(parcel, |parcel, (_, value)| parcel.with(value.expose().as_bytes()))
        }
        Err(trouble) => Parcel::new(json!({"trouble": write_trouble(&trouble)})),
    })
}
