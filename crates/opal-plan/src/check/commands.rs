//! The commands of a shell text, word by word.

/// The commands of a text at its top level, as words; what is in brackets or quotes is one word.
pub(super) fn commands(text: &str) -> Vec<Vec<&str>> {
    let mut commands = vec![Vec::new()];
    let mut start = None;
    let (mut quote, mut depth, mut escaped) = (None, 0u32, false);
    let mut end_word = |start: &mut Option<usize>, at: usize, ends_command: bool| {
        let last = commands.len() - 1;
        commands[last].extend(start.take().map(|start| &text[start..at]));
        if ends_command {
            commands.push(Vec::new());
        }
    };
    let (mut heredocs, mut resume) = (Vec::new(), 0);
    for (at, c) in text.char_indices() {
        let plain = quote.is_none() && depth == 0 && !escaped;
        if at < resume {
            continue;
        }
        let begins =
            c == '<' && plain && text[at..].starts_with("<<") && !text[..at].ends_with('<');
        if begins {
            heredocs.extend(heredoc(&text[at + 2..]));
        }
        if c == '\n' && plain {
            // What is in a heredoc is data.
            for delimiter in heredocs.drain(..) {
                resume = after_heredoc(text, resume.max(at + 1), delimiter);
            }
        }
        match c {
            _ if std::mem::take(&mut escaped) => {}
            '\\' if quote != Some('\'') => {
                escaped = true;
                start.get_or_insert(at);
            }
            ' ' | '\t' if plain => end_word(&mut start, at, false),
            '\n' | ';' | '&' | '|' if plain => end_word(&mut start, at, true),
            _ => {
                start.get_or_insert(at);
                match c {
                    '"' | '\'' | '`' if quote == Some(c) => quote = None,
                    '"' | '\'' | '`' if quote.is_none() => quote = Some(c),
                    '(' | '{' if quote.is_none() => depth += 1,
                    ')' | '}' if quote.is_none() => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
    }
    end_word(&mut start, text.len(), false);
    commands.retain(|words: &Vec<&str>| !words.is_empty());
    commands
}

/// The word that ends a heredoc, from what follows its `<<`.
fn heredoc(after: &str) -> Option<&str> {
    let word = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
    let word = word.trim_start_matches(['\'', '"', '\\']);
    let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
    (end > 0 && !after.starts_with('<')).then_some(&word[..end])
}

/// Where the text goes on after the line that ends a heredoc.
fn after_heredoc(text: &str, from: usize, delimiter: &str) -> usize {
    let mut at = from.min(text.len());
    for line in text[at..].split_inclusive('\n') {
        at += line.len();
        if line.trim_end_matches(['\n', '\r']).trim_start_matches('\t') == delimiter {
            break;
        }
    }
    at
}
