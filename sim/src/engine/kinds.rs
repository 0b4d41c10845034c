//! The kinds of a protocol's messages, flat, and which of them an encoding begins with.

use gridweave_core::wire::Kind;

/// The innermost kinds of a protocol, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Kinds {
    /// How many kinds the protocol itself has.
    roots: usize,
    /// The kinds of the protocol itself, then the kinds of the messages that these wrap, and so on.
    tree: Vec<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Node {
    /// The kind with this number; it wraps no message.
    Innermost(u16),
    /// A kind that wraps a message, whose kinds are `count` nodes from `first` on.
    Around { first: u16, count: u16 },
}

impl Kinds {
    /// These kinds, and their names. A message in a message has both names, with a dot in between.
    pub(super) fn new(kinds: &'static [Kind]) -> (Self, Vec<String>) {
        let mut flat = Self {
            roots: kinds.len(),
            tree: vec![Node::Innermost(0); kinds.len()],
        };
        let mut names = Vec::new();
        flat.add(0, "", kinds, &mut names);
        (flat, names)
    }

    fn add(&mut self, at: usize, prefix: &str, kinds: &'static [Kind], names: &mut Vec<String>) {
        for (number, kind) in kinds.iter().enumerate() {
            let name = format!("{prefix}{}", kind.name());
            let within = kind.within();
            self.tree[at + number] = if within.is_empty() {
                names.push(name);
                Node::Innermost(names.len() as u16 - 1)
            } else {
                let first = self.tree.len();
                self.tree.resize(first + within.len(), Node::Innermost(0));
                self.add(first, &format!("{name}."), within, names);
                Node::Around {
                    first: first as u16,
                    count: within.len() as u16,
                }
            };
        }
    }

    /// The number of the kind that an encoding begins with.
    pub(super) fn of(&self, encoding: &[u8]) -> Option<usize> {
        let (mut first, mut count) = (0, self.roots);
        for number in encoding {
            let number = usize::from(*number);
            match *self.tree.get(first + number).filter(|_| number < count)? {
                Node::Innermost(kind) => return Some(usize::from(kind)),
                Node::Around {
                    first: next,
                    count: of,
                } => (first, count) = (next.into(), of.into()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_the_first_bytes() {
        const INNER: &[Kind] = &[Kind::new("Ping", 2), Kind::new("Pong", 2)];
        const KINDS: &[Kind] = &[
            Kind::new("Hello", 1),
            Kind::around("Beat", INNER, 0),
            Kind::new("Bye", 0),
        ];
        let (kinds, names) = Kinds::new(KINDS);
        assert_eq!(names, ["Hello", "Beat.Ping", "Beat.Pong", "Bye"]);
        assert_eq!(kinds.of(&[0, 7]), Some(0));
        assert_eq!(kinds.of(&[1, 0, 9]), Some(1));
        assert_eq!(kinds.of(&[1, 1]), Some(2));
        assert_eq!(kinds.of(&[2]), Some(3));
        for unknown in [&[][..], &[1], &[3], &[1, 2]] {
            assert_eq!(kinds.of(unknown), None);
        }
    }
}
