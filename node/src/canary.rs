//! Mistakes that are made on purpose, one at a time, to see that the test bed notices them. Only with `--cfg canary`; an
//! ordinary build has none of it.
//!
//! The variable `GRIDWEAVE_CANARY` of an agent names the one that it makes:
//!
//! | name | mistake |
//! |---|---|
//! | `record-not-synced` | a message is sent before the records that it depends on are in the file |
//! | `dead-child-adopted` | an attempt counts as running although its supervisor does not |
//! | `other-id-accepted` | a certificate may have the id of another node's key |

/// Whether the mistake of this name is made.
#[cfg(canary)]
pub(crate) fn is_planted(name: &str) -> bool {
    std::env::var("GRIDWEAVE_CANARY").is_ok_and(|planted| planted == name)
}

/// Whether a mistake is made on purpose.
#[cfg(canary)]
macro_rules! canary {
    ($name:literal) => {
        $crate::canary::is_planted($name)
    };
}

/// Whether a mistake is made on purpose: none is.
#[cfg(not(canary))]
macro_rules! canary {
    ($name:literal) => {
        false
    };
}
