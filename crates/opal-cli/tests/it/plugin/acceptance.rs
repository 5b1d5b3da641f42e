//! The story that packages are accepted by, as one script: from an author to the machine of somebody else, and
//! everything that must be refused on the way. With Python it is in `tests/long`.

use opal_testing::guest;

use super::publish::servers::DockerRegistry;
use super::story::Story;
use super::templates;
use crate::support::binary;

#[test]
fn the_whole_story_of_packages_holds() {
    let registry = DockerRegistry::start("");
    let folder = tempfile::tempdir().unwrap();
    let component = folder.path().join("guest.wasm");
    std::fs::write(&component, guest::wasm()).unwrap();
    let has_javascript = templates::has("node_modules/.bin/componentize-qjs");
    let story = Story {
        programs: binary().parent().unwrap(),
        languages: if has_javascript { "rust javascript" } else { "rust" },
        guest: &component,
        registry: registry.as_ref().map(|it| it.host.as_str()),
    };
    story.run();
}
