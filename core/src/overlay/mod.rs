//! Overlays: which nodes know each other, on top of the network that carries their messages.
//!
//! A grid without a centre has no list of its nodes. Each node knows a few peers, its [`View`](view::View). An overlay
//! keeps these links alive, well mixed and connected while nodes come and go. A scheduler finds its candidates there.
//!
//! | module | what it is |
//! |---|---|
//! | [`view`] | the links that a node has: bounded, distinct, never to itself |
//! | [`blatant`] | links that ants add and remove, so that all ways are short (needs `alloc`) |
//! | [`can`] | a space of capabilities that is cut into zones, one for each node around its own point (needs `alloc`) |
//! | [`cyclon`] | links that are shuffled all the time, so that the overlay looks random |
//! | [`flood`] | messages that reach many nodes over a few links of each (needs `alloc`) |
//! | [`vicinity`] | links to the nearest nodes, under any distance, found through random links |
//! | [`vivaldi`] | where a node is in the space of network delays, from the delays that it observes |
//!
//! What a node knows about its neighbours, such as their schedules, is not part of an overlay. The notices of an
//! overlay tell when a neighbour comes and goes, so that a scheduler can keep such things beside it.
//!
//! ```
//! use gridweave_core::id::{Incarnation, NodeId};
//! use gridweave_core::overlay::view::{Link, NotInserted, View};
//!
//! let mut view = View::<20>::new(NodeId::new(1), 20);
//! let link = Link { id: NodeId::new(2), incarnation: Incarnation::new(0), age: 0 };
//! view.insert(link)?;
//! assert_eq!(view.insert(link), Err(NotInserted::Known));
//! assert_eq!(view.insert(Link { id: NodeId::new(1), ..link }), Err(NotInserted::Own));
//! # Ok::<(), NotInserted>(())
//! ```

#[cfg(feature = "alloc")]
pub mod blatant;
#[cfg(feature = "alloc")]
pub mod can;
mod contacts;
pub mod cyclon;
#[cfg(feature = "alloc")]
pub mod flood;
pub mod vicinity;
pub mod view;
pub mod vivaldi;
