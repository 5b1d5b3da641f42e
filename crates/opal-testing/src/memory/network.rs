//! Ports, pages and targets of a world of plain data.

use opal_core::Secret;
use opal_core::resolver::Trouble;

use super::MemoryWorld;

impl MemoryWorld {
    /// A target that can be reached from here.
    #[must_use]
    pub fn target(mut self, name: &str, world: Self) -> Self {
        self.targets.insert(name.to_owned(), world);
        self
    }

    /// A port that takes connections: `host:port`.
    #[must_use]
    pub fn port(mut self, place: &str) -> Self {
        self.ports.insert(place.to_owned());
        self
    }

    #[must_use]
    pub fn page(mut self, url: &str, body: &str) -> Self {
        self.pages.insert(url.to_owned(), Ok(Secret::new(body)));
        self
    }

    #[must_use]
    pub fn failing_page(mut self, url: &str, trouble: Trouble) -> Self {
        self.pages.insert(url.to_owned(), Err(trouble));
        self
    }
}
