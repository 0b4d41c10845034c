//! Reading ahead of events.

use gridweave_core::overlay::view::View;

/// Reads a word of each part of a view, so that it is in the cache for what comes next.
pub(crate) fn touch_view<const C: usize>(view: &View<C>) -> u64 {
    // A cache line has eight ids, or ages.
    let links = view.links().step_by(8);
    links.fold(0, |word, link| word ^ link.id.get() ^ u64::from(link.age))
}
