//! Prefetching of what the next event needs.

use gridweave_core::overlay::view::View;

/// Reads a word of each cache line of a view, so that the view is in the cache when the event is handled.
pub(crate) fn touch_view<const C: usize>(view: &View<C>) -> u64 {
    // A cache line holds eight ids, or ages.
    let links = view.links().step_by(8);
    links.fold(0, |word, link| word ^ link.id.get() ^ u64::from(link.age))
}
