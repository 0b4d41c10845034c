//! A second reader of the wire format. It knows only the grammar in the specification.

use std::collections::{BTreeMap, BTreeSet};

use gridweave_core::wire::{HEADER, VERSION};

/// The grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grammar {
    types: BTreeMap<String, Shape>,
    sizes: BTreeMap<&'static str, usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    Fields(Vec<Type>),
    /// Each with its name, in the order of numbers.
    Variants(Vec<(String, Vec<Type>)>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Type {
    Byte,
    Bool,
    /// A varint of so many bits.
    Number(u32),
    Option(Box<Type>),
    List(usize, Box<Type>),
    Exactly(usize, Box<Type>),
    Array(usize, Box<Type>),
    Named(String),
}

/// Which variants of which types there are, or were read.
pub type Variants = BTreeSet<(String, usize)>;

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Read {
    /// Which variants of which types.
    pub variants: Variants,
    /// The numbers of the nodes, in the order of the bytes.
    pub nodes: Vec<u64>,
}

impl Grammar {
    /// Reads the grammar of the specification. `sizes` gives the sizes that it leaves open.
    pub fn parse(
        document: &str,
        sizes: impl Into<BTreeMap<&'static str, usize>>,
    ) -> Result<Self, String> {
        let mut grammar = Self {
            types: BTreeMap::new(),
            sizes: sizes.into(),
        };
        let mut last = String::new();
        let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
        for line in document.lines().filter(|line| !is_comment(line)) {
            grammar
                .line(line, &mut last)
                .map_err(|wrong| format!("{line}: {wrong}"))?;
        }
        Ok(grammar)
    }

    fn line(&mut self, line: &str, last: &mut String) -> Result<(), String> {
        if let Some(variant) = line.strip_prefix("  ") {
            let mut words = variant.splitn(3, ' ');
            let number: usize = words
                .next()
                .and_then(|word| word.parse().ok())
                .ok_or("no number")?;
            let name = words.next().ok_or("no name")?.to_owned();
            let fields = words
                .next()
                .map_or(Ok(Vec::new()), |text| self.fields(text))?;
            let Some(Shape::Variants(variants)) = self.types.get_mut(last) else {
                return Err("a variant of nothing".to_owned());
            };
            if number != variants.len() {
                return Err("not the next number".to_owned());
            }
            variants.push((name, fields));
            return Ok(());
        }
        let (name, shape) = line.split_once(" =").ok_or("no definition")?;
        let shape = match shape.trim() {
            "" => Shape::Variants(Vec::new()),
            text if text.contains(": ") => Shape::Fields(self.fields(text)?),
            text => Shape::Fields(vec![self.type_of(text)?]),
        };
        name.clone_into(last);
        match self.types.insert(name.to_owned(), shape) {
            None => Ok(()),
            Some(_) => Err("defined twice".to_owned()),
        }
    }

    fn fields(&self, text: &str) -> Result<Vec<Type>, String> {
        let fields = text.split(", ");
        let types = fields.map(|field| {
            let (_, text) = field.split_once(": ").ok_or("a field without a name")?;
            self.type_of(text)
        });
        types.collect()
    }

    fn type_of(&self, text: &str) -> Result<Type, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let sized = || {
            let (size, of) = rest.split_once(' ').ok_or("no size")?;
            let known = self.sizes.get(size).copied();
            let size = known.or_else(|| size.parse().ok()).ok_or("no number")?;
            Ok::<_, String>((size, Box::new(self.type_of(of)?)))
        };
        Ok(match word {
            "u8" => Type::Byte,
            "bool" => Type::Bool,
            "u16" => Type::Number(16),
            "u32" | "i32" => Type::Number(32),
            "u64" | "i64" => Type::Number(64),
            "option" => Type::Option(Box::new(self.type_of(rest)?)),
            "list" => sized().map(|(most, of)| Type::List(most, of))?,
            "exactly" => sized().map(|(count, of)| Type::Exactly(count, of))?,
            "array" => sized().map(|(count, of)| Type::Array(count, of))?,
            name => Type::Named(name.to_owned()),
        })
    }

    fn shape(&self, name: &str) -> Result<&Shape, String> {
        let shape = self.types.get(name);
        shape.ok_or_else(|| format!("{name} is not defined"))
    }

    /// Every variant of every type.
    pub fn variants(&self) -> Variants {
        let mut all = Variants::new();
        for (name, shape) in &self.types {
            if let Shape::Variants(variants) = shape {
                all.extend((0..variants.len()).map(|number| (name.clone(), number)));
            }
        }
        all
    }

    /// Reads a whole frame of this protocol, and adds what is in it to `read`.
    pub fn read(
        &self,
        protocol: &str,
        number: u8,
        frame: &[u8],
        read: &mut Read,
    ) -> Result<(), String> {
        let header = [VERSION, number];
        let mut body = frame.strip_prefix(&header).ok_or("another header")?;
        self.read_named(protocol, &mut body, read)?;
        if body.is_empty() {
            Ok(())
        } else {
            Err(format!("{} bytes are left", body.len()))
        }
    }

    fn read_named(&self, name: &str, bytes: &mut &[u8], read: &mut Read) -> Result<(), String> {
        if name == "NodeId" {
            read.nodes.push(varint(&mut { *bytes }, 64)?);
        }
        let fields = match self.shape(name)? {
            Shape::Fields(fields) => fields,
            Shape::Variants(variants) => {
                let number = usize::from(byte(bytes)?);
                let unknown = || format!("{name} has no variant {number}");
                let (_, fields) = variants.get(number).ok_or_else(unknown)?;
                read.variants.insert((name.to_owned(), number));
                fields
            }
        };
        for field in fields {
            self.read_type(field, bytes, read)?;
        }
        Ok(())
    }

    fn read_type(&self, of: &Type, bytes: &mut &[u8], read: &mut Read) -> Result<(), String> {
        let mut many = |of: &Type, count| {
            for _ in 0..count {
                self.read_type(of, bytes, read)?;
            }
            Ok(())
        };
        match of {
            Type::Byte => byte(bytes).map(drop),
            Type::Bool => yes_or_no(bytes).map(drop),
            Type::Number(bits) => varint(bytes, *bits).map(drop),
            Type::Option(of) => match yes_or_no(bytes)? {
                true => self.read_type(of, bytes, read),
                false => Ok(()),
            },
            Type::Array(count, of) => many(of, *count),
            Type::List(most, of) => match varint(bytes, 64)? as usize {
                count if count > *most => Err(format!("{count} are more than {most}")),
                count => (0..count).try_for_each(|_| self.read_type(of, bytes, read)),
            },
            Type::Exactly(count, of) => match varint(bytes, 64)? as usize {
                found if found != *count => Err(format!("{found} are not {count}")),
                found => (0..found).try_for_each(|_| self.read_type(of, bytes, read)),
            },
            Type::Named(name) => self.read_named(name, bytes, read),
        }
    }

    /// The name and the cap of the kind with these numbers, of which each is inside the one before.
    pub fn kind(&self, protocol: &str, numbers: &[u8]) -> Result<(String, usize), String> {
        let Shape::Variants(variants) = self.shape(protocol)? else {
            return Err(format!("{protocol} has no kinds"));
        };
        let [number, inner @ ..] = numbers else {
            return Err(format!("{protocol} has kinds"));
        };
        let kind = variants.get(usize::from(*number)).ok_or("no such kind")?;
        let (name, mut cap) = (kind.0.clone(), HEADER + 1);
        match (inner, kind.1.as_slice()) {
            ([], fields) => {
                for field in fields {
                    cap += self.most(field)?;
                }
                Ok((name, cap))
            }
            (inner, [Type::Named(message), fields @ ..]) => {
                let (inner, most) = self.kind(message, inner)?;
                for field in fields {
                    cap += self.most(field)?;
                }
                Ok((format!("{name}.{inner}"), cap + most - HEADER))
            }
            _ => Err(format!("{name} is around no message")),
        }
    }

    /// The most bytes of a type.
    fn most(&self, of: &Type) -> Result<usize, String> {
        let digits = |number: usize| (usize::BITS - number.leading_zeros()).div_ceil(7) as usize;
        Ok(match of {
            Type::Byte | Type::Bool => 1,
            Type::Number(bits) => bits.div_ceil(7) as usize,
            Type::Option(of) => 1 + self.most(of)?,
            Type::List(most, of) | Type::Exactly(most, of) => {
                digits(*most) + most * self.most(of)?
            }
            Type::Array(count, of) => count * self.most(of)?,
            Type::Named(name) => {
                let sum = |fields: &[Type]| -> Result<usize, String> {
                    fields.iter().map(|field| self.most(field)).sum()
                };
                match self.shape(name)? {
                    Shape::Fields(fields) => sum(fields)?,
                    Shape::Variants(variants) => {
                        let mut largest = 0;
                        for (_, fields) in variants {
                            largest = largest.max(sum(fields)?);
                        }
                        1 + largest
                    }
                }
            }
        })
    }
}

fn byte(bytes: &mut &[u8]) -> Result<u8, String> {
    let (first, rest) = bytes.split_first().ok_or("the bytes end")?;
    *bytes = rest;
    Ok(*first)
}

fn yes_or_no(bytes: &mut &[u8]) -> Result<bool, String> {
    match byte(bytes)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(format!("{other} is neither yes nor no")),
    }
}

/// A number of at most so many bits, in no more bytes than it takes.
fn varint(bytes: &mut &[u8], bits: u32) -> Result<u64, String> {
    let mut number = 0_u128;
    for place in 0.. {
        let byte = byte(bytes)?;
        number |= u128::from(byte & 0x7f) << (7 * place);
        if number >> bits != 0 {
            return Err(format!("more than {bits} bits"));
        }
        if byte & 0x80 == 0 {
            if byte == 0 && place > 0 {
                return Err("longer than it need be".to_owned());
            }
            break;
        }
        if 7 * (place + 1) >= bits {
            return Err("a number without end".to_owned());
        }
    }
    Ok(number as u64)
}
