//! Requests of plugins, sent by the helper `opal-extra`.

use opal_core::data::Secret;
use opal_core::pages::{ExchangeRequest, ExchangeResponse, Exchanges, REACHING, Variables};
use opal_core::resolver::Trouble;
use serde_json::{Value, json};

use crate::extra::{EXTRA, Extra, trouble};
use crate::{Parcel, Unusable, read_trouble};

impl Exchanges for Extra {
    fn exchange(
        &self,
        request: &ExchangeRequest<'_>,
        variables: &Variables<'_>,
    ) -> Result<ExchangeResponse, Trouble> {
        let (url, body) = (request.url.expose(), request.body.expose());
        let mut parcel = Parcel::default().with(url.as_bytes()).with(body.as_bytes());
        for (_, value) in request.headers {
            parcel = parcel.with(value.expose().as_bytes());
        }
        let reaching = REACHING.iter().filter_map(|name| Some((*name, variables(name)?)));
        let reaching: Vec<(&str, &str)> = reaching.collect();
        for (_, value) in &reaching {
            parcel = parcel.with(value.as_bytes());
        }
        parcel.head = json!({
            "exchange": {
                "method": request.method,
                "headers": request.headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
                "variables": reaching.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
                "private": request.is_private,
                "milliseconds": u64::try_from(request.timeout.as_millis()).unwrap_or(u64::MAX),
            }
        });
        let answer =
            self.ask(&parcel, &mut |_| Parcel::default()).map_err(|unusable| trouble(&unusable))?;
        if let Some(found) = answer.head.get("trouble").and_then(read_trouble) {
            return Err(found);
        }
        response(answer).ok_or_else(|| trouble(&Unusable::Silent { name: EXTRA }))
    }
}

fn response(mut answer: Parcel) -> Option<ExchangeResponse> {
    let status = u16::try_from(answer.head.get("status")?.as_u64()?).ok()?;
    let names = answer.head.get("headers")?.as_array()?.iter().map(Value::as_str);
    let headers = names
        .enumerate()
        .map(|(index, name)| Some((name?.to_owned(), Secret::new(answer.text(index + 1)?))));
    let headers = headers.collect::<Option<_>>()?;
    let body = std::mem::take(answer.blobs.first_mut()?);
    Some(ExchangeResponse { status, headers, body })
}
