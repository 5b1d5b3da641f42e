//! What a transport and a login said before the hello. It is shown to people and decides nothing:
//! a server can write all of it.

use opal_core::view::visible;

/// Of noise and of complaints.
const KEPT_BYTES: usize = 64 * 1024;

/// Of one line in a message.
const LINE_CHARS: usize = 200;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    noise: Vec<u8>,
    complaints: Vec<u8>,
}

impl Said {
    /// What a login printed.
    pub(crate) fn noise(&mut self, bytes: &[u8]) {
        keep(&mut self.noise, bytes);
    }

    /// What a transport complained about.
    pub(crate) fn complaint(&mut self, bytes: &[u8]) {
        keep(&mut self.complaints, bytes);
    }

    /// Whether a password is asked for. The prompt is taken away.
    pub(super) fn take_prompt(&mut self, prompt: &str) -> bool {
        let prompt = prompt.as_bytes();
        let found = self.complaints.windows(prompt.len()).position(|it| it == prompt);
        if let Some(at) = found {
            self.complaints.drain(at..at + prompt.len());
        }
        found.is_some()
    }

    /// The last line that says anything, with visible symbols: of the complaints, else of the noise.
    #[must_use]
    pub fn last_line(&self) -> Option<String> {
        last_line(&self.complaints).or_else(|| last_line(&self.noise))
    }

    /// The first line of the complaints.
    pub(super) fn first_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.complaints);
        text.lines().map(str::trim).find(|line| !line.is_empty()).map(shown)
    }

    /// The last line of the complaints that is about an error, or else the last: some programs name
    /// their help after it.
    pub(super) fn error_line(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.complaints);
        let error = text.lines().rev().map(str::trim).find(|line| line.contains("rror"));
        error.map(shown).or_else(|| last_line(&self.complaints))
    }

    /// What `ssh` says about its own configuration, where it does not get further than that.
    pub(super) fn setting(&self) -> Option<String> {
        const ENDS: [&str; 3] =
            ["terminating, ", "Bad configuration option", "Bad owner or permissions on "];
        let text = String::from_utf8_lossy(&self.complaints);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        let is_it = ENDS.iter().any(|end| last.contains(end));
        is_it.then(|| self.first_line()).flatten()
    }

    /// What kind of failure `ssh` complains about: for the words of a message.
    pub(super) fn refusal(&self, is_of_ssh: bool) -> &'static str {
        let mentions = |texts: &[&str]| texts.iter().any(|text| self.mentions(text));
        match is_of_ssh {
            false => "the login has ended",
            _ if mentions(&["Permission denied", "Too many authentication failures"]) => {
                "login refused"
            }
            _ if mentions(&["Host key verification failed"]) => "host key not accepted",
            _ => "host unreachable",
        }
    }

    /// Whether a text is among the complaints: for choosing a hint.
    #[must_use]
    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.complaints.windows(text.len()).any(|it| it == text.as_bytes())
    }
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    if kept.len() > KEPT_BYTES {
        kept.drain(..kept.len() - KEPT_BYTES);
    }
}

fn last_line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(shown(line))
}

fn shown(line: &str) -> String {
    visible::brief(line, LINE_CHARS).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_shown_with_visible_symbols_and_never_long() {
        let mut said = Said::default();
        assert_eq!(said.last_line(), None);
        said.noise(b"Welcome\n");
        assert_eq!(said.last_line().unwrap(), "Welcome");
        said.complaint(b"one\n\x1b]52;c;eA==\x07\r\n\n");
        assert_eq!(said.last_line().unwrap(), "␛]52;c;eA==␇");
        said.complaint(&vec![b'x'; 10_000_000]);
        assert!(said.last_line().unwrap().chars().count() <= LINE_CHARS + 1);
        assert!(said.complaints.len() <= KEPT_BYTES);
    }

    #[test]
    fn what_ssh_says_about_its_configuration_is_the_first_line() {
        for (text, expected) in [
            (
                "/u/.ssh/config: line 3: Bad configuration option: foo\r\n\
                 /u/.ssh/config: terminating, 1 bad configuration options\r\n",
                Some("/u/.ssh/config: line 3: Bad configuration option: foo"),
            ),
            (
                "Bad owner or permissions on /u/.ssh/config\r\n",
                Some("Bad owner or permissions on /u/.ssh/config"),
            ),
            ("Bad configuration option: x\nPermission denied (publickey).\n", None),
            ("", None),
        ] {
            let mut said = Said::default();
            said.complaint(text.as_bytes());
            assert_eq!(said.setting().as_deref(), expected, "{text}");
        }
    }
}
