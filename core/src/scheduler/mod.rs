//! Whole schedulers: each composes the layers below into one machine per node, with the commands and notices of
//! [`crate::job`].
//!
//! | scheduler | what it does |
//! |---|---|
//! | [`asap`] | a gang of nodes, as soon as possible, over a random overlay with cached schedules |
//! | [`criteria`] | a gang of nodes by the user's cost function, found along links to nodes that are good together |
//! | [`aria`] | one site for each job, offered by sites that keep their own policies, and moved while it waits |
//! | [`desktop`] | some cores of one node for each job, found in a space of what nodes have, and moved while it waits |
//!
//! The [`desk`] is the common part of the schedulers that reserve time ([`asap`], [`criteria`]). [`agent`] builds nodes
//! of all four as `gridweave-node` has them.
//!
//! # Example
//! A grid of one node, which gets a job, runs it, and tells its user. All schedulers take these commands and give these
//! notices; only the way in which a node is built differs.
//! ```
//! use core::num::NonZeroU32;
//! use gridweave_core::commit::Everyone;
//! use gridweave_core::id::{JobId, NodeId};
//! use gridweave_core::job::{Command, Demand, Job, News, Outcome};
//! use gridweave_core::machine::{Effect, Event, Host};
//! use gridweave_core::scheduler::{Bootstrap, asap};
//! use gridweave_core::time::{Span, Time};
//! # use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};
//! # let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! let (me, mut now) = (NodeId::new(1), Time::ZERO);
//! let mut host = Host::new();
//! let node = asap::Asap::<20, 8>::new(me, asap::Config::DEFAULT, Bootstrap::Alone, Everyone)?;
//! host.start(node, now, &mut rng);
//! let job = Job::new(JobId::new(7), Demand::Nodes(NonZeroU32::MIN), Span::from_secs(600))?;
//! host.handle(Event::Command(Command::submit(job)), now, &mut rng);
//!
//! let mut heard = Vec::new();
//! while !heard.iter().any(News::is_last) {
//!     while let Some(effect) = host.execute() {
//!         match effect {
//!             // The only node there is: the message is to itself.
//!             Effect::Send { message, .. } => host.handle(Event::Message { from: me, message }, now, &mut rng),
//!             Effect::Notify(notice) => {
//!                 if let News::Started { attempt, .. } = notice.news {
//!                     // The program takes no time here.
//!                     let ended = Command::Ended { job: notice.job, attempt, outcome: Outcome::Done };
//!                     host.handle(Event::Command(ended), now, &mut rng);
//!                 }
//!                 heard.push(notice.news);
//!             }
//!             _ => {}
//!         }
//!     }
//!     now = host.next_at().expect("a node always has its next exchange ahead");
//!     host.fire(now, &mut rng);
//! }
//! assert!(matches!(heard[..], [News::Assigned(_), News::Accepted(_), News::Started { .. }, News::Finished]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "wire")]
pub mod agent;
pub mod aria;
pub mod asap;
mod bootstrap;
pub mod criteria;
pub mod desk;
pub mod desktop;
mod duty;
mod phase;

pub(crate) use bootstrap::Approach;
pub use bootstrap::{Bootstrap, Introducers, IntroducersError};
