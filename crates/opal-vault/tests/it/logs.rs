//! Logs as programs write them, always the same.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fmt::Write as _;

use opal_core::Data;
use opal_vault::Vault;

pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    pub(crate) fn text(&mut self, letters: &str, length: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        let mut letter = || letters[usize::try_from(self.next()).unwrap() % letters.len()];
        (0..length).map(|_| letter()).collect()
    }
}

pub(crate) const WORDS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// About `length` bytes of what programs print.
pub(crate) fn logs(noise: &mut Noise, length: usize) -> String {
    let mut text = String::new();
    while text.len() < length {
        let (a, b, c) = (noise.next(), noise.next() % 60, noise.next() % 1000);
        match a % 9 {
            0 => writeln!(text, "2026-11-15T08:{b:02}:17.{c:03}Z INFO api::server: GET /v1/users/{c} 200 {b} ms"),
            1 => writeln!(text, "{{\"level\":\"info\",\"ts\":{a},\"id\":\"{a:016x}\",\"took\":{c},\"path\":\"/srv/app\"}}"),
            2 => writeln!(text, "    at com.example.Handler.handle(Handler.java:{c}) ~[app.jar:1.{b}.0]"),
            3 => writeln!(text, "\x1b[32m   Compiling\x1b[0m serde_json v1.0.{c} (/home/ci/build/{a:x}/out)"),
            4 => writeln!(text, "[{b:3}%] Building CXX object src/CMakeFiles/core.dir/module_{c}.cpp.o\r"),
            5 => writeln!(text, "sha256:{a:016x}{:016x}{:016x}", noise.next(), noise.next()),
            6 => writeln!(text, "{:08x}: {:04x} {:04x} {:04x} {:04x}  ....", c * 16, c, b, c * b, a & 0xffff),
            7 => writeln!(text, "-rw-r--r-- 1 ci ci {a} Nov 15 08:{b:02} /srv/app/releases/{c}/main.js"),
            _ => writeln!(text, "{}", noise.text(WORDS, 76)),
        }
        .unwrap();
    }
    text
}

/// Letters in no order.
pub(crate) fn noise(length: usize) -> String {
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    (0..length).map(|_| letter()).collect()
}

/// A vault with so many values of several kinds.
pub(crate) fn values(count: u64) -> Vault {
    let mut noise = Noise(7);
    let vault = Vault::new();
    for index in 0..count {
        let value = match index % 5 {
            0 => noise.text(WORDS, 20),
            1 => noise.text("0123456789abcdef", 32),
            2 => format!("https://{}.example.com/hook", noise.text(WORDS, 12)),
            3 => format!("/srv/{}/releases", noise.text(WORDS, 9)),
            _ => noise.text("0123456789", 12),
        };
        vault.register(&Data::text(value), "‹v›");
    }
    vault
}
