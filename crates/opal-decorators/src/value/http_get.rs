use std::collections::BTreeMap;
use std::time::Duration;

use opal_core::Data;
use opal_core::decorator::{Capability, Cost, Descriptor, Effect, Example, Param};
use opal_core::resolver::{Inputs, Probe, Request, Resolver, Trouble};

use super::reading::required;
use crate::common::{DASH, PUBLIC, TEXT};

pub(crate) static DESCRIPTOR: Descriptor = Descriptor {
    path: "http.get",
    summary: "the response of a web address",
    docs: "Fetches a URL at plan time and gives the body of the response as text. Any status but \
           success fails the plan, and so does a body that is not UTF-8.\n\nQuick plans do not \
           use the network and show the value as deferred. A contract fetches again before it \
           runs and is refused if the response has changed, so use it for URLs whose content does \
           not change, such as a released version.",
    params: &[
        Param {
            name: "url",
            pattern: Some("https?://.+"),
            docs: "the URL to fetch, beginning with `https://` or `http://`",
            ..Param::BASE
        },
        PUBLIC,
        DASH,
    ],
    returns: Some(TEXT),
    effect: Effect::Read,
    cost: Cost::Expensive,
    capabilities: &[Capability::Network],
    resolver: Some(&HttpGet),
    examples: &[Example {
        title: "install the version that a server names",
        source: "var RELEASE = @http.get(\"https://example.com/app/stable.txt\", public=true)\n\n\
                 fun install() {\n    \
                 curl -fLO \"https://example.com/app/@var.RELEASE()/app.tar.gz\"\n}\n",
    }],
    ..Descriptor::BASE
};

/// From the first look for the server to the last byte of the page.
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct HttpGet;

impl Resolver for HttpGet {
    fn resolve(&self, inputs: &Inputs, probe: &dyn Probe) -> Result<Data, Trouble> {
        let url = required(inputs, "url")?;
        let request = Request { url, headers: &BTreeMap::new(), timeout: TIMEOUT };
        probe.get(&request).map(Data::Text)
    }
}
