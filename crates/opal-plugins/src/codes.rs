//! The codes of everything that is wrong with files of packages.

use opal_core::Code;
use opal_yaml::problems::Codes;

pub(crate) const CODES: Codes = Codes {
    syntax: Code::PackageSyntax,
    unknown_key: Code::PackageUnknownKey,
    repeated_key: Code::PackageRepeatedKey,
    missing_key: Code::PackageMissingKey,
    value: Code::PackageValue,
};
