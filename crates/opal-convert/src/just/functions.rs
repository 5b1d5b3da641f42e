//! Functions and constants of just.

use super::{casing, places};
use crate::form::{Cond, Expr, INVOCATION, MAIN, Piece};

/// Names that just itself defines.
pub(super) fn constant(name: &str) -> Option<Expr> {
    let code = match name {
        "NORMAL" => "0",
        "BOLD" => "1",
        "ITALIC" => "3",
        "UNDERLINE" => "4",
        "INVERT" => "7",
        "HIDE" => "8",
        "STRIKETHROUGH" => "9",
        "BLACK" => "30",
        "RED" => "31",
        "GREEN" => "32",
        "YELLOW" => "33",
        "BLUE" => "34",
        "MAGENTA" => "35",
        "CYAN" => "36",
        "WHITE" => "37",
        "BG_BLACK" => "40",
        "BG_RED" => "41",
        "BG_GREEN" => "42",
        "BG_YELLOW" => "43",
        "BG_BLUE" => "44",
        "BG_MAGENTA" => "45",
        "BG_CYAN" => "46",
        "BG_WHITE" => "47",
        "CLEAR" => return Some(Expr::text("\u{1b}c")),
        "HEX" | "HEXLOWER" => return Some(Expr::text("0123456789abcdef")),
        "HEXUPPER" => return Some(Expr::text("0123456789ABCDEF")),
        "PATH_SEP" => return Some(Expr::text("/")),
        "PATH_VAR_SEP" => return Some(Expr::text(":")),
        _ => return None,
    };
    Some(Expr::Text(format!("\u{1b}[{code}m")))
}

pub(super) fn call(name: &str, args: Vec<Expr>, recipe: Option<&str>) -> Expr {
    let found = match args.len() {
        0 => fact(name, recipe).or_else(|| places::function(name)),
        1 => text(name, &args)
            .or_else(|| command(name, &args))
            .or_else(|| casing::call(name, &args[0])),
        _ => text(name, &args),
    };
    found.unwrap_or_else(|| Expr::Unsupported(format!("the function `{name}`")))
}

/// Functions without arguments.
fn fact(name: &str, recipe: Option<&str>) -> Option<Expr> {
    Some(match name {
        "os" => Expr::Fact("os.name"),
        "os_family" => Expr::text("unix"),
        "arch" => Expr::Fact("os.arch"),
        "num_cpus" => Expr::output("nproc"),
        "uuid" => Expr::output("uuidgen"),
        "justfile_directory" | "justfile_dir" => Expr::here(),
        "justfile" => Expr::Name(MAIN.to_owned()),
        "invocation_directory"
        | "invocation_dir"
        | "invocation_directory_native"
        | "invocation_dir_native" => Expr::Fact(INVOCATION),
        "just_executable" => Expr::text("just"),
        "recipe_name" => Expr::text(recipe?),
        "is_dependency" => Expr::text("false"),
        "home_directory" | "home_dir" => Expr::Env("HOME".to_owned(), None),
        "cache_directory" | "cache_dir" => under_home("/.cache"),
        "config_directory" | "config_dir" | "config_local_directory" => under_home("/.config"),
        "data_directory" | "data_dir" | "data_local_directory" => under_home("/.local/share"),
        "executable_directory" | "executable_dir" => under_home("/.local/bin"),
        _ => return None,
    })
}

/// Functions of texts.
fn text(name: &str, args: &[Expr]) -> Option<Expr> {
    let applied = |function| Expr::Apply(function, args.to_vec());
    Some(match (name, args) {
        ("env" | "env_var", [Expr::Text(name)]) if is_variable(name) => {
            Expr::Env(name.clone(), None)
        }
        ("env" | "env_var_or_default", [Expr::Text(name), default]) if is_variable(name) => {
            Expr::Env(name.clone(), Some(Box::new(default.clone())))
        }
        ("uppercase", [_]) => applied("upper"),
        ("lowercase", [_]) => applied("lower"),
        ("trim" | "trim_start" | "trim_end", [_]) => applied("trim"),
        ("trim_start_match" | "trim_start_matches", [text, Expr::Text(part)]) => {
            stripped(name, text, part, |text, part| text.strip_prefix(part).map(str::to_owned))?
        }
        ("trim_end_match" | "trim_end_matches", [text, Expr::Text(part)]) => {
            stripped(name, text, part, |text, part| text.strip_suffix(part).map(str::to_owned))?
        }
        ("replace", [_, _, _]) => applied("replace"),
        ("file_name", [_]) => applied("basename"),
        ("parent_directory" | "parent_dir", [_]) => applied("dirname"),
        ("join", [_, _, ..]) => applied("path"),
        ("clean", [path]) => path.clone(),
        ("without_extension" | "file_stem", [Expr::Text(path)]) => Expr::Text(stem(name, path)),
        ("quote", [text]) => Expr::Quoted(Box::new(text.clone())),
        ("error", [message]) => Expr::Fail(Box::new(message.clone())),
        ("style", [_]) => Expr::text(""),
        ("path_exists", [path]) => {
            Expr::choice(Cond::Exists(path.clone()), Expr::text("true"), Expr::text("false"))
        }
        _ => return None,
    })
}

/// Functions that a command computes.
fn command(name: &str, args: &[Expr]) -> Option<Expr> {
    let [Expr::Text(text)] = args else { return None };
    let is_path = is_plain_path(text);
    Some(Expr::output(&match name {
        "shell" => text.clone(),
        "require" if is_path => format!("command -v {text}"),
        "which" if is_path => format!("command -v {text} || true"),
        "absolute_path" | "canonicalize" if is_path => format!("realpath -m {text}"),
        "sha256_file" if is_path => format!("sha256sum {text} | cut -d' ' -f1"),
        "read" if is_path => format!("cat {text}"),
        "datetime" if !text.contains('\'') => format!("date '+{text}'"),
        "datetime_utc" if !text.contains('\'') => format!("date -u '+{text}'"),
        _ => return None,
    }))
}

/// Without a part at one end: of a constant here, of what a command prints by `sed`.
fn stripped(
    name: &str,
    text: &Expr,
    part: &str,
    strip: fn(&str, &str) -> Option<String>,
) -> Option<Expr> {
    let is_plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match text {
        Expr::Text(text) => Some(Expr::Text(strip(text, part).unwrap_or_else(|| text.clone()))),
        Expr::Output(pieces) if is_plain && !name.ends_with("matches") => {
            let pattern =
                if name.contains("start") { format!("^{part}") } else { format!("{part}$") };
            let mut pieces = pieces.clone();
            pieces.insert(0, Piece::Text("( ".to_owned()));
            pieces.push(Piece::Text(format!(" ) | sed 's/{pattern}//'")));
            Some(Expr::Output(pieces))
        }
        _ => None,
    }
}

fn under_home(path: &str) -> Expr {
    Expr::Concat(vec![Expr::Env("HOME".to_owned(), None), Expr::text(path)])
}

fn stem(function: &str, path: &str) -> String {
    let (directory, file) = path.rsplit_once('/').map_or(("", path), |(dir, file)| (dir, file));
    let stem = match file.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => file,
    };
    match function {
        "without_extension" if path.contains('/') => format!("{directory}/{stem}"),
        _ => stem.to_owned(),
    }
}

/// `==`, where both sides of just are strings.
pub(super) fn equal(left: Expr, right: Expr) -> Cond {
    let truth = |it: &Expr| match it {
        Expr::Text(text) if text == "true" => Some(true),
        Expr::Text(text) if text == "false" => Some(false),
        _ => None,
    };
    let exists = |it: &Expr| match it {
        Expr::Choice(condition, then, otherwise) => {
            match (&**condition, truth(then), truth(otherwise)) {
                (Cond::Exists(path), Some(true), Some(false)) => Some(Cond::Exists(path.clone())),
                _ => None,
            }
        }
        _ => None,
    };
    for (value, other) in [(&left, &right), (&right, &left)] {
        if let (Some(exists), Some(expected)) = (exists(value), truth(other)) {
            return if expected { exists } else { Cond::Not(Box::new(exists)) };
        }
    }
    Cond::Equal(left, right)
}

fn is_variable(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_name) && !name.starts_with(|c: char| c.is_ascii_digit())
}

fn is_plain_path(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('-')
        && path.chars().all(|c| c.is_ascii_alphanumeric() || "._-/+".contains(c))
}
