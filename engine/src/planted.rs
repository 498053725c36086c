//! Deliberate defects, for one test: that the suite notices each of them.
//!
//! Outside tests there are none and the questions cost nothing: [`is_planted`] is constantly false.
//! `docs/design/TESTING.md` lists them with what catches each.

/// A defect that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// The end is published before the frames are written.
    PublishBeforeWrite,
    /// With durability `Each`, a batch is visible before it is synced.
    PublishBeforeSync,
    /// Where to write is taken from `head` and not from the file's length.
    PositionFromHead,
    /// A segment behind a torn tail begins where the proved bytes end, so that positions are used again.
    PositionReused,
    /// A new segment's name is not made durable.
    NoDirectorySync,
    /// A frame's checksum does not depend on where it stands.
    NoSalt,
    /// The index is believed without looking whether the machine has started again since.
    IndexTrustedAfterCrash,
    /// The newest edit of a line is not stored.
    LostNewestEdit,
    /// A failed sync is not written down, and the next one makes all durable.
    FailedSyncForgotten,
    /// Bytes behind a bad frame are not asked whether it had been durable.
    SyncDistanceIgnored,
    /// A batch without its last frame counts.
    BatchEndIgnored,
    /// An edit behind a snapshot's end is applied.
    EditPastSnapshot,
    /// Sleepers are woken before the end is stored.
    BellBeforeEnd,
    /// What a dead writer left is published before it is synced.
    RecoveredUnsynced,
    /// Room in the index is made after the frames are written.
    IndexRoomAfterFrames,
    /// After a failed sync the cache is believed.
    CacheBelievedAfterFailedSync,
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Defect>> = const { std::cell::Cell::new(None) };
}

/// Whether this defect is planted in this thread.
#[cfg(test)]
pub(crate) fn is_planted(defect: Defect) -> bool {
    PLANTED.get() == Some(defect)
}

/// Whether this defect is planted: never.
#[cfg(not(test))]
#[inline]
pub(crate) const fn is_planted(_defect: Defect) -> bool {
    false
}

/// Runs `suite` with a defect planted.
#[cfg(test)]
pub(crate) fn with_planted<T>(defect: Defect, suite: impl FnOnce() -> T) -> T {
    PLANTED.set(Some(defect));
    let result = suite();
    PLANTED.set(None);
    result
}
