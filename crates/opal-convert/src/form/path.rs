//! `PATH` of all tasks: opal looks programs up before a step starts, so a step sets it for its shell.

use super::{Expr, Piece, Sheet, Step, Task};
use crate::commands::is_shell;

const PATH: &str = "PATH";

impl Sheet {
    /// Sets `PATH` at the start of each step where its value is text around the `PATH` of the
    /// environment.
    pub(crate) fn set_path_in_steps(&mut self) {
        let variables = std::mem::take(&mut self.variables);
        let value_of = |name: &str| variables.iter().find(|it| it.name == name).map(|it| &it.value);
        for task in &mut self.tasks {
            let Some(index) = task.environment.iter().rposition(|(name, _)| name == PATH) else {
                continue;
            };
            let value = match &task.environment[index].1 {
                Expr::Name(name) => value_of(name),
                value => Some(value),
            };
            let Some(command) = value.and_then(command) else { continue };
            if task.can_begin_with() {
                task.environment.retain(|(name, _)| name != PATH);
                task.body
                    .iter_mut()
                    .chain(&mut task.finally)
                    .for_each(|it| it.begin_with(&command));
            }
        }
        self.variables = variables;
        let is_read = self.reads(PATH);
        self.variables.retain(|it| it.name != PATH || is_read);
    }

    fn reads(&self, name: &str) -> bool {
        let mut count = 0;
        let mut look =
            |it: &Expr| count += usize::from(matches!(it, Expr::Name(other) if other == name));
        self.tasks.iter().for_each(|it| it.visit(&mut look));
        self.variables.iter().for_each(|it| it.value.visit(&mut look));
        count > 0
    }
}

/// `export PATH="…"`; none where a part of it is computed.
fn command(value: &Expr) -> Option<String> {
    let parts: &[Expr] = match value {
        Expr::Concat(parts) => parts,
        one => std::slice::from_ref(one),
    };
    let mut text = String::new();
    for part in parts {
        match part {
            Expr::Text(part) => {
                let is_plain = |c: char| !c.is_control() && !"\"\\$`!@".contains(c);
                text.push_str(Some(part).filter(|it| it.chars().all(is_plain))?);
            }
            Expr::Env(name, _) if name == PATH => text.push_str("$PATH"),
            _ => return None,
        }
    }
    Some(format!("export PATH=\"{text}\""))
}

impl Task {
    fn can_begin_with(&self) -> bool {
        self.body.iter().chain(&self.finally).all(Step::can_begin_with)
    }
}

impl Step {
    fn can_begin_with(&self) -> bool {
        match self {
            Self::Script { program, .. } => is_shell(program),
            Self::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).all(Self::can_begin_with)
            }
            Self::For { body, .. } => body.iter().all(Self::can_begin_with),
            _ => true,
        }
    }

    fn begin_with(&mut self, command: &str) {
        match self {
            Self::Line { pieces, .. } => pieces.insert(0, Piece::Text(format!("{command}; "))),
            Self::Script { text, .. } => text.insert(0, Piece::Text(format!("{command}\n"))),
            Self::If { then, otherwise, .. } => {
                then.iter_mut().chain(otherwise).for_each(|it| it.begin_with(command));
            }
            Self::For { body, .. } => body.iter_mut().for_each(|it| it.begin_with(command)),
            Self::Call { .. } | Self::Fail(_) | Self::Comment(_) => {}
        }
    }
}
