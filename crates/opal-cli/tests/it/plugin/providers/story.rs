//! The story that Terraform providers are accepted by, as one script with real ones. `tests/long` kills their
//! processes more often.

#[test]
fn the_whole_story_of_providers_holds() {
    super::script::run(1);
}
