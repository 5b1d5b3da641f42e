//! The laws for what is made from a seed.

use opal_core::Data;
use opal_core::decorator::{Capability, Descriptor};
use opal_core::placeholder::bytes;
use opal_core::resolver::{Generator, Inputs, Stream};

use super::{Findings, Law, deferred_when_expensive, inputs};

/// Bytes that look random, and follow from the seed.
struct Bytes(u64);

impl Stream for Bytes {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (self.0 >> 56) as u8;
        }
    }
}

pub(super) fn check(
    descriptor: &Descriptor,
    generator: &dyn Generator,
    given: &Inputs,
    found: &mut Findings,
) {
    deferred_when_expensive(descriptor, &[], found);
    found.demand(Law::L6, descriptor.capabilities == [Capability::Randomness], || {
        "a generator needs randomness, and nothing else".to_owned()
    });
    let least = inputs::least(descriptor, given, "");
    for inputs in inputs::allowed(descriptor, &least) {
        let generate = |seed| generator.generate(&inputs, &mut Bytes(seed));
        match (generate(1), generate(1), generate(2)) {
            (Ok(first), Ok(second), Ok(other)) => {
                values(descriptor, [&first, &second, &other], found);
            }
            _ => found.add(Law::L1, "allowed inputs are refused"),
        }
    }
    for inputs in inputs::allowed(descriptor, &least).iter().chain(&inputs::broken(&least)) {
        let checked = generator.check(inputs).is_ok();
        let made = generator.generate(inputs, &mut Bytes(3)).is_ok();
        found.demand(Law::L8, checked == made, || {
            format!("`check` says {checked} and `generate` {made}")
        });
    }
}

fn values(descriptor: &Descriptor, [first, second, other]: [&Data; 3], found: &mut Findings) {
    let promised = descriptor.returns.as_ref().map(|returns| &returns.ty);
    found.demand(Law::L1, promised.is_some_and(|ty| ty.accepts(&first.type_of())), || {
        format!("it gives {}, which it does not promise", first.type_of())
    });
    let (value, same, another) = (bytes(first), bytes(second), bytes(other));
    found.demand(Law::L8, value == same, || "one stream gives two values".to_owned());
    found.demand(Law::L8, value != another, || "two streams give one value".to_owned());
    let shown = format!("{first:?}");
    found.demand(Law::L4, !first.as_text().is_some_and(|text| shown.contains(text)), || {
        "a value can be seen".to_owned()
    });
}
