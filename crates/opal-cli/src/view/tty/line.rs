//! One line of text that is typed.

use super::Tty;
use super::keys::Key;
use crate::failure::Stopped;

/// The most characters that can be typed.
const LONGEST: usize = 10_000;

/// Changes a text as the key says.
pub(super) fn edit(text: &mut String, key: Key) {
    match key {
        Key::Text(c) if text.chars().count() < LONGEST => text.push(c),
        Key::Back => drop(text.pop()),
        Key::Clear => text.clear(),
        Key::ClearWord => {
            let kept = text.trim_end().rfind(' ').map_or(0, |blank| blank + 1);
            text.truncate(kept);
        }
        _ => {}
    }
}

impl Tty {
    /// A text that `read` accepts. What it says against one is shown above the line.
    pub(crate) fn text<T>(
        &mut self,
        label: &str,
        about: &[String],
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<(T, String), Stopped> {
        let (mut text, mut wrong): (String, Option<String>) = (String::new(), None);
        loop {
            let mut lines = about.to_vec();
            lines.extend(wrong.iter().map(|it| self.dye("31", it)));
            lines.push(format!("{label}{}", self.tail(&text, label)));
            self.draw(&lines);
            match self.key()? {
                Key::Enter => match read(&text) {
                    Ok(value) => {
                        self.leave(&[]);
                        return Ok((value, text));
                    }
                    Err(why) => wrong = Some(why),
                },
                key => edit(&mut text, key),
            }
        }
    }

    /// The end of a text that is longer than the screen is wide.
    fn tail<'t>(&self, text: &'t str, label: &str) -> &'t str {
        let room = self.size().0.saturating_sub(label.chars().count() + 2).max(10);
        let skipped = text.chars().count().saturating_sub(room);
        text.char_indices().nth(skipped).map_or("", |(at, _)| &text[at..])
    }
}
