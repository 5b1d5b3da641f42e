//! Ranges of addresses: `10.20.0.0/16`, `fd00::/8`, or one address.

use std::net::IpAddr;

/// An address, and how many of its bits the whole range shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    address: IpAddr,
    bits: u32,
}

impl Range {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let is_number = |bits: &str| !bits.is_empty() && bits.bytes().all(|it| it.is_ascii_digit());
        let bits = match bits {
            Some(bits) if is_number(bits) => bits.parse().ok().filter(|bits| *bits <= most)?,
            Some(_) => return None,
            None => most,
        };
        Some(Self { address, bits })
    }

    #[must_use]
    pub fn is_inside(self, outer: Self) -> bool {
        self.address.is_ipv4() == outer.address.is_ipv4()
            && self.bits >= outer.bits
            && prefix(self.address, outer.bits) == prefix(outer.address, outer.bits)
    }
}

/// The first bits of an address.
fn prefix(address: IpAddr, bits: u32) -> u128 {
    let (whole, length) = match address {
        IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        IpAddr::V6(address) => (u128::from(address), 128),
    };
    whole.checked_shr(length - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_inside_another_of_its_family_with_the_same_first_bits() {
        let range = |text: &str| Range::parse(text).unwrap();
        for (inner, outer, inside) in [
            ("10.20.0.0/16", "10.0.0.0/8", true),
            ("10.0.0.0/8", "10.20.0.0/16", false),
            ("10.20.0.0/16", "10.20.0.0/16", true),
            ("10.20.1.7", "10.20.0.0/16", true),
            ("10.21.0.0/24", "10.20.0.0/16", false),
            ("192.0.2.1/32", "0.0.0.0/0", true),
            ("fd00:1::/32", "fd00::/8", true),
            ("fe80::/64", "fd00::/8", false),
            ("::1", "::/0", true),
            ("::1", "0.0.0.0/0", false),
        ] {
            assert_eq!(range(inner).is_inside(range(outer)), inside, "{inner} in {outer}");
        }
        for other in ["", "10.0.0/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "::/129", "a/8"] {
            assert_eq!(Range::parse(other), None, "{other}");
        }
    }
}
