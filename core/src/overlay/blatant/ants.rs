//! Discovery ants: how nodes learn of nodes beyond their neighbours (PROTOCOLS 4.3).

use alloc::vec::Vec;

use super::{Blatant, Life, MOST_LINKS, MOST_RECORDS, Message, Neighbour, Neighbourhood};
use crate::id::NodeId;
use crate::machine::Context;
use crate::rng::Choose;

impl Blatant {
    /// Sends out a new ant, with the probability [`Config::birth`](super::Config::birth).
    pub(super) fn bear_ant(&mut self, cx: &mut dyn Context<Self>) {
        let is_born = cx.rng().below(1000) < u32::from(self.config.birth);
        if is_born && let Some(own) = self.neighbourhood() {
            let left = self.config.lifespan.saturating_sub(1);
            self.send_ant(left, [own].into_iter().collect(), cx);
        }
    }

    /// An ant arrives: this node learns its records, adds its own, and sends the ant on.
    pub(super) fn on_ant(
        &mut self,
        from: NodeId,
        left: u8,
        mut visited: Vec<Neighbourhood>,
        cx: &mut dyn Context<Self>,
    ) {
        // A liar may send more records than allowed.
        visited.truncate(MOST_RECORDS);
        let Some(last) = visited.last() else {
            return;
        };
        let last = last.clone();
        if !self.hear(from, last, cx) {
            return;
        }
        for record in &visited {
            self.learn(record);
        }
        let me = self.me;
        if let Some(left) = left.min(self.config.lifespan).checked_sub(1)
            && self.has_room_for_an_ant()
            && let Some(own) = self.neighbourhood()
        {
            visited.retain(|record| record.node != me);
            visited.push(own);
            let memory = usize::from(self.config.memory);
            visited.drain(..visited.len().saturating_sub(memory));
            self.send_ant(left, visited, cx);
        }
    }

    /// Counts an ant that goes on, if it is not one too many in this iteration: a network that delivers twice makes two
    /// of it at each link, and a liar lets it live again.
    fn has_room_for_an_ant(&mut self) -> bool {
        let most = self.config.most_ants();
        let Life::Running(running) = &mut self.life else {
            return false;
        };
        running.ants = running.ants.saturating_add(1);
        running.ants <= most
    }

    /// An ant goes to the neighbour with the least pheromone that it has not visited, or of all if it visited all.
    fn send_ant(&self, left: u8, visited: Vec<Neighbourhood>, cx: &mut dyn Context<Self>) {
        let is_new = |it: &Neighbour| !visited.iter().any(|record| record.node == it.id);
        // A neighbour that leaves pings unanswered may be dead, and the ant would be lost.
        let answers = |it: &&Neighbour| it.pings == 0;
        let candidates = || self.neighbours.iter().filter(answers);
        let anywhere_new = candidates().any(is_new);
        let candidates = || candidates().filter(|it| !anywhere_new || is_new(it));
        let Some(least) = candidates().map(Neighbour::pheromone).min() else {
            return;
        };
        let faintest: heapless::Vec<NodeId, MOST_LINKS> = candidates()
            .filter(|it| it.pheromone() == least)
            .map(|it| it.id)
            .collect();
        if let Some(to) = cx.rng().pick(&faintest) {
            cx.send(*to, Message::Ant { left, visited });
        }
    }

    /// Learns a record from any sender, unless it is about this node or a neighbour: these tell their own lists.
    pub(super) fn learn(&mut self, record: &Neighbourhood) {
        if let Life::Running(running) = &self.life
            && record.node != self.me
            && !self.neighbours.contains(record.node)
        {
            self.alpha.learn(record.clone().tidied(), running.iteration);
        }
    }
}
