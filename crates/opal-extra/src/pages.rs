//! Pages of the web.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use opal_core::data::Data;
use opal_core::pages::Pages as _;
use opal_core::resolver::Request;
use opal_helper::{Parcel, write_trouble};
use opal_http::Http;
use serde_json::{Value, json};

pub(crate) fn answer(request: &Parcel) -> Option<Parcel> {
    // Connections are kept for the pages of one run.
    static HTTP: OnceLock<Http> = OnceLock::new();
    let head = request.head.get("page")?;
    let names = |key: &str| -> Option<Vec<&str>> {
        head.get(key)?.as_array()?.iter().map(Value::as_str).collect()
    };
    let (headers, variables) = (names("headers")?, names("variables")?);
    let mut texts = (1..).map_while(|index| request.text(index));
    let headers: BTreeMap<String, Data> = headers
        .into_iter()
        .map(|name| Some((name.to_owned(), Data::text(texts.next()?))))
        .collect::<Option<_>>()?;
    let variables: Vec<(&str, &str)> =
        variables.into_iter().map(|name| Some((name, texts.next()?))).collect::<Option<_>>()?;
    let asked = Request {
        url: request.text(0)?,
        headers: &headers,
        timeout: Duration::from_millis(head.get("milliseconds")?.as_u64()?),
    };
    let variable =
        |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| *value);
    Some(match HTTP.get_or_init(Http::new).get(&asked, &variable) {
        Ok(page) => Parcel::new(json!({})).with(page.expose().as_bytes()),
        Err(trouble) => Parcel::new(json!({"trouble": write_trouble(&trouble)})),
    })
}
