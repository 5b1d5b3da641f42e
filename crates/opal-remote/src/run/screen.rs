//! What a command on a target may do to opal's terminal.
//!
//! Text, colours, and moving, erasing and scrolling on the screen pass. Everything else is dropped:
//! what sets the clipboard (OSC 52) or the title, what a terminal answers as if it had been typed
//! (reports), what prints or loads files. The list says what passes, so a sequence that nobody here
//! has heard of does not.

use opal_core::stream::{Closed, Stream};
use opal_session::Taker;

/// Parameters of one sequence.
const MAX_PARAMETER_BYTES: usize = 256;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// Asks the terminal who it is.
const ENQUIRY: u8 = 0x05;
/// Both end a sequence before its time.
const CANCEL: [u8; 2] = [0x18, 0x1a];

/// Passes output on to a terminal.
pub(super) struct Screen<'a> {
    to: &'a mut dyn Taker,
    filters: [Filter; 2],
}

impl<'a> Screen<'a> {
    pub(super) fn new(to: &'a mut dyn Taker) -> Self {
        Self { to, filters: <[Filter; 2]>::default() }
    }
}

impl Taker for Screen<'_> {
    fn take(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), Closed> {
        let passed = self.filters[usize::from(stream == Stream::Stderr)].pass(bytes);
        if passed.is_empty() { Ok(()) } else { self.to.take(stream, &passed) }
    }

    fn idle(&mut self) {
        self.to.idle();
    }
}

/// Where in a sequence the output is.
#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    /// So many bytes of a character are still to come.
    Character(u8),
    /// The first byte of a character that may be a control character.
    Control,
    /// After `ESC`, with what lies between it and the end.
    Escape(Vec<u8>),
    /// After `ESC [`.
    Parameters(Vec<u8>),
    /// A text for the terminal itself, up to its end.
    Message { is_ending: bool },
}

#[derive(Debug, Default)]
struct Filter {
    state: State,
}

impl Filter {
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut output = Vec::with_capacity(bytes.len());
        bytes.iter().for_each(|byte| self.step(*byte, &mut output));
        output
    }

    fn step(&mut self, byte: u8, output: &mut Vec<u8>) {
        self.state = match (std::mem::take(&mut self.state), byte) {
            (State::Control, 0x80..=0x9f) => control(byte, output),
            (State::Control, _) => {
                output.push(0xc2);
                character(1, byte, output)
            }
            (State::Character(left), _) => character(left, byte, output),
            (_, ESCAPE) => State::Escape(Vec::new()),
            (State::Text, _) => text(byte, output),
            (State::Message { .. }, BELL) => State::Text,
            // The end in two bytes.
            (State::Message { is_ending: true }, 0x9c) => State::Text,
            (State::Message { .. }, _) => State::Message { is_ending: byte == 0xc2 },
            (_, _) if CANCEL.contains(&byte) => State::Text,
            // A terminal does what a control character says, and goes on with the sequence.
            (state, 0..0x20) => {
                control_character(byte, output);
                state
            }
            (State::Escape(between), _) => escape(between, byte, output),
            (State::Parameters(parameters), _) => self::parameters(parameters, byte, output),
        };
    }
}

fn control_character(byte: u8, output: &mut Vec<u8>) {
    if byte != ENQUIRY {
        output.push(byte);
    }
}

fn text(byte: u8, output: &mut Vec<u8>) -> State {
    match byte {
        0xc2 => return State::Control,
        // Outside of a character they are control characters of one byte.
        0x80..=0x9f => return State::Text,
        0..0x20 => {
            control_character(byte, output);
            return State::Text;
        }
        _ => output.push(byte),
    }
    match byte {
        0xc3..=0xdf => State::Character(1),
        0xe0..=0xef => State::Character(2),
        0xf0..=0xf7 => State::Character(3),
        _ => State::Text,
    }
}

/// A byte that may go on with a character, of which `left` are to come: at least one.
fn character(left: u8, byte: u8, output: &mut Vec<u8>) -> State {
    match byte {
        0x80..=0xbf => {
            output.push(byte);
            if left > 1 { State::Character(left - 1) } else { State::Text }
        }
        ESCAPE => State::Escape(Vec::new()),
        // The character is cut off.
        _ => text(byte, output),
    }
}

/// A control character of two bytes: what `ESC` and another byte say, too.
fn control(byte: u8, output: &mut Vec<u8>) -> State {
    escape(Vec::new(), byte - 0x40, output)
}

fn escape(mut between: Vec<u8>, byte: u8, output: &mut Vec<u8>) -> State {
    match (&*between, byte) {
        ([], b'[') => return State::Parameters(Vec::new()),
        // Device control, start of string, system command, privacy message, program command.
        ([], b'P' | b'X' | b']' | b'^' | b'_') => return State::Message { is_ending: false },
        (_, 0x20..=0x2f) if between.len() < 2 => {
            between.push(byte);
            return State::Escape(between);
        }
        _ => {}
    }
    let passes = match (&*between, byte) {
        ([], _) => b"78=>DEHMcno".contains(&byte),
        // Which characters are drawn; the test pattern and double lines.
        ([b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'#'], 0x30..=0x7e) => true,
        _ => false,
    };
    if passes {
        output.push(ESCAPE);
        output.extend_from_slice(&between);
        output.push(byte);
    }
    State::Text
}

fn parameters(mut parameters: Vec<u8>, byte: u8, output: &mut Vec<u8>) -> State {
    match byte {
        0x20..=0x3f => {
            // What is too long is dropped with its end.
            if parameters.len() <= MAX_PARAMETER_BYTES {
                parameters.push(byte);
            }
            State::Parameters(parameters)
        }
        0x40..=0x7e => {
            if parameters.len() <= MAX_PARAMETER_BYTES && is_drawing(&parameters, byte) {
                output.extend_from_slice(&[ESCAPE, b'[']);
                output.extend_from_slice(&parameters);
                output.push(byte);
            }
            State::Text
        }
        0x7f => State::Parameters(parameters),
        // No sequence has such a byte.
        _ => text(byte, output),
    }
}

/// Whether a sequence only draws, or sets how it is drawn or how keys are sent.
fn is_drawing(parameters: &[u8], last: u8) -> bool {
    let start = parameters.iter().take_while(|byte| (0x3c..=0x3f).contains(*byte)).count();
    let end = parameters.iter().rev().take_while(|byte| (0x20..=0x2f).contains(*byte)).count();
    let numbers = &parameters[start..(parameters.len() - end).max(start)];
    if !numbers.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':')) {
        return false;
    }
    let between = &parameters[(parameters.len() - end).max(start)..];
    match (&parameters[..start], between) {
        ([], []) => b"@ABCDEFGHIJKLMPSTXZ`abdefghlmrsu".contains(&last),
        ([b'?'], []) => b"hlJKrs".contains(&last),
        // The shape of the cursor, and a soft reset.
        ([], [b' ']) => last == b'q',
        ([], [b'!']) => last == b'p',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(bytes: &[u8], size: usize) -> Vec<u8> {
        let mut filter = Filter::default();
        bytes.chunks(size).flat_map(|piece| filter.pass(piece)).collect()
    }

    #[test]
    fn what_draws_passes_however_it_is_cut() {
        for drawn in [
            &b"text\r\n\ttab\x08\x07"[..],
            "größer 日本 🦀 ü".as_bytes(),
            b"\x1b[1;31mred\x1b[0m\x1b[38:2:1:2:3mx\x1b[m",
            b"\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[3A\x1b[1;24r\x1bM\x1b7\x1b8\x1b=\x1b>\x1bc",
            b"\x1b[?1049h\x1b[?25l\x1b[?1000h\x1b[?2004h\x1b[?1049l",
            b"\x1b(B\x1b)0\x0elqk\x0f\x1b#8\x1b[4 q\x1b[!p\x1b[4h\x1b[10b",
        ] {
            for size in 1..=drawn.len() {
                assert_eq!(passed(drawn, size), drawn, "{size}");
            }
        }
    }

    #[test]
    fn what_reaches_beyond_the_screen_is_dropped_however_it_is_cut() {
        for (name, sequence) in [
            ("clipboard", &b"\x1b]52;c;aGk=\x07"[..]),
            ("clipboard, string terminator", b"\x1b]52;c;aGk=\x1b\\"),
            ("clipboard, C1", b"\xc2\x9d52;c;aGk=\xc2\x9c"),
            ("clipboard, one byte", b"\x9d"),
            ("title", b"\x1b]0;mine\x07\x1b]2;mine\x1b\\\x1b[22;0t\x1b[21t"),
            ("link, notification", b"\x1b]8;;http://x\x07\x1b]777;notify;a;b\x07\x1b]9;a\x07"),
            ("file", b"\x1b]1337;File=name=eA==:AAAA\x07"),
            ("device status", b"\x1b[5n\x1b[6n\x1b[?6n\xc2\x9b6n"),
            ("device attributes", b"\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ\xc2\x9a"),
            ("version, modes, checksum", b"\x1b[>q\x1b[?25$p\x1b[4$p\x1b[1;1;1;1;1;1*y\x1b[1$w"),
            ("window", b"\x1b[18t\x1b[8;1;1t\x1b[1t"),
            ("terminal parameters", b"\x1b[x\x1b[1x\x1b['|"),
            ("keyboard", b"\x1b[?u\x1b[>1u\x1b[>4;2m"),
            ("setting, capability", b"\x1bP$qm\x1b\\\x1bP+q544e\x1b\\\xc2\x90$qm\xc2\x9c"),
            ("graphics, program", b"\x1b_Gi=1,a=q;AAAA\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\"),
            ("printer", b"\x1b[5i\x1b[?5i"),
            ("enquiry", b"\x05"),
            ("other characters", b"\x1b%@\x1b%G\x1b F"),
            ("hidden in another", b"\x1b[3\x1b]52;c;aGk=\x07\x1b]0;\x1b]52;c;x\x07"),
            ("cancelled", b"\x1b[6\x18\x1b[6\x1a"),
        ] {
            let all = [b"a", sequence, b"b"].concat();
            for size in 1..=all.len() {
                let passed = passed(&all, size);
                assert_eq!(passed, b"ab", "{name} {size} {}", passed.escape_ascii());
            }
        }
    }

    #[test]
    fn a_control_character_within_a_sequence_is_done_and_the_sequence_goes_on() {
        assert_eq!(passed(b"\x1b[1\n;2H", 1), b"\n\x1b[1;2H");
        assert_eq!(passed(b"\x1b[6\x05n", 1), b"");
        let long = [b"\x1b[", "1;".repeat(1_000).as_bytes(), b"mx"].concat();
        assert_eq!(passed(&long, 7), b"x");
    }

    #[test]
    fn what_is_not_text_never_holds_back_what_follows() {
        assert_eq!(passed(b"\xe2\x1b[0mx\xc2x\xf0\n", 1), b"\xe2\x1b[0mx\xc2x\xf0\n");
    }
}
