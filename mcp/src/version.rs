//! The versions of the protocol this server speaks, and which of them is used.
//!
//! A version the client offers is taken if it is known; anything else is answered with the newest one
//! known, and the client decides whether it can live with that. Versions from 2026-07-28 on have no
//! `initialize` and are not spoken.

/// A protocol version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolVersion {
    /// The one with batches.
    V2025_03_26,
    /// The one that dropped them.
    V2025_06_18,
    /// The newest spoken here.
    V2025_11_25,
}

impl ProtocolVersion {
    const KNOWN: [Self; 3] = [Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// The version to use with a client that offers `offered`.
    pub(crate) fn negotiate(offered: Option<&str>) -> Self {
        Self::KNOWN.into_iter().find(|known| offered == Some(known.as_str())).unwrap_or(Self::V2025_11_25)
    }

    /// Its name on the wire.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
        }
    }

    /// Whether an array of messages may stand on a line.
    pub(crate) const fn has_batches(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_version_is_echoed_and_anything_else_gets_the_newest() {
        for known in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(ProtocolVersion::negotiate(Some(known)).as_str(), known);
        }
        for other in [None, Some(""), Some("2026-07-28"), Some("2024-11-05"), Some("2025-11-25 ")] {
            assert_eq!(ProtocolVersion::negotiate(other).as_str(), "2025-11-25");
        }
    }
}
