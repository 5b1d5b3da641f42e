use crate::Vocabulary;
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    pub migrate: bool,
}
pub fn format(_: &str, _: &dyn Vocabulary, _: Style) -> String {
    String::new()
}
