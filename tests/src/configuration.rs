//! The reference page of the configuration, made from the types: each key with its type, its default and its
//! documentation.
//!
//! It reads the source, so that the program carries no text that only this page needs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The tables of a configuration, each with the struct that has its keys.
const TABLES: [(&str, &str, &str); 14] = [
    ("grid", "lab/src/config/mod.rs", "GridConfig"),
    ("[grid.kinds]", "lab/src/config/kind.rs", "KindConfig"),
    ("workload", "lab/src/config/workload.rs", "WorkloadConfig"),
    (
        "[workload.requires]",
        "lab/src/config/kind.rs",
        "RequiresConfig",
    ),
    ("workload.aria", "lab/src/workload/generate/aria.rs", "Aria"),
    (
        "workload.desktop",
        "lab/src/workload/generate/desktop.rs",
        "Desktop",
    ),
    (
        "workload.grid5000_like",
        "lab/src/workload/generate/grid5000.rs",
        "Grid5000Like",
    ),
    ("network", "sim/src/network/mod.rs", "NetworkConfig"),
    ("report", "lab/src/config/mod.rs", "ReportConfig"),
    ("asap", "lab/src/schedulers/asap/config.rs", "AsapConfig"),
    (
        "criteria",
        "lab/src/schedulers/criteria/config.rs",
        "CriteriaConfig",
    ),
    ("aria", "lab/src/schedulers/aria/config.rs", "AriaConfig"),
    (
        "desktop",
        "lab/src/schedulers/desktop/config.rs",
        "DesktopConfig",
    ),
    ("flood", "lab/src/schedulers/flood/config.rs", "FloodConfig"),
];

/// What stands above the tables.
const HEAD: &str = "# Configuration

Made from the types by `cargo test -p gridweave-tests --test suites -- --ignored regenerate_the_configuration`.

`gridweave run --config FILE` reads these keys, `--set table.key=value` sets one of them, and every run writes all of them into its `config.toml`. \
Times are text: `'90s'`, `'5m'`, `'1h'`, `'7d'`. `gridweave validate FILE` checks a file without a run. Beside the tables there are `scheduler` (a name), `seed` (a number), and `[[faults]]` ([crashes and joins](simulation.md#nodes-crashes-and-disks)); \
[the simulation](simulation.md#network) has the kinds of delay. `PROTOCOLS` with a number is a rule of [the papers](rules.md).
";

/// A key of a table.
struct Key {
    name: String,
    kind: String,
    default: String,
    says: String,
}

/// The source of the workspace.
pub struct Source {
    root: PathBuf,
    /// All of `lab` and `core`, in which the words of enums stand.
    files: Vec<String>,
}

impl Source {
    /// The source below this folder.
    pub fn at(root: &Path) -> Self {
        let mut files = Vec::new();
        let mut folders = vec![root.join("lab/src"), root.join("core/src")];
        while let Some(folder) = folders.pop() {
            let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
                .expect("it is a folder")
                .map(|entry| entry.expect("it can be read").path())
                .collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    files.push(fs::read_to_string(path).expect("source is text"));
                }
            }
        }
        let root = root.to_owned();
        Self { root, files }
    }

    /// The whole page.
    pub fn page(&self) -> String {
        let mut page = HEAD.to_owned();
        for (table, file, name) in TABLES {
            let keys = self.keys(file, name);
            assert!(!keys.is_empty(), "{file} has no keys of {name}");
            let _ = write!(
                page,
                "\n## `[{table}]`\n| key | type | default | meaning |\n|---|---|---|---|\n"
            );
            for key in keys {
                let Key {
                    name,
                    kind,
                    default,
                    says,
                } = key;
                let default = if default.is_empty() {
                    default
                } else {
                    format!("`{default}`")
                };
                let _ = writeln!(page, "| `{name}` | {kind} | {default} | {says} |");
            }
        }
        page
    }

    fn keys(&self, file: &str, name: &str) -> Vec<Key> {
        let text = fs::read_to_string(self.root.join(file)).expect("the file is there");
        let start = [
            format!("pub struct {name} {{"),
            format!("pub struct {name}<D = Delay> {{"),
        ];
        let body = start.iter().find_map(|start| text.split_once(start));
        let (_, body) = body.expect("the struct is there");
        let mut keys = Vec::new();
        let mut says = Vec::new();
        let mut field = String::new();
        for line in body.lines().map(str::trim) {
            if line == "}" && field.is_empty() {
                break;
            }
            if let Some(doc) = line.strip_prefix("///") {
                says.push(doc.trim().to_owned());
                continue;
            }
            field.push_str(line);
            let opened = field.matches(['{', '(']).count();
            if opened == field.matches(['}', ')']).count() && field.ends_with(',') {
                keys.extend(self.key(&field, &says.join(" ")));
                says.clear();
                field.clear();
            }
        }
        keys
    }

    /// A field such as `pub name: Type = default,`.
    fn key(&self, field: &str, says: &str) -> Option<Key> {
        let field = field.strip_prefix("pub ")?.strip_suffix(',')?;
        let (name, rest) = field.split_once(": ")?;
        let (kind, default) = rest.split_once(" = ").unwrap_or((rest, ""));
        let says = says
            .replace('|', "\\|")
            .replace("[`Drift::Late`]", "`late`");
        Some(Key {
            name: name.to_owned(),
            kind: self.kind(kind),
            default: self.default(kind, default),
            says,
        })
    }

    fn kind(&self, kind: &str) -> String {
        let inner = |outer: &str| kind.strip_prefix(outer)?.strip_suffix('>');
        if let Some(inner) = inner("Option<") {
            return self.kind(inner);
        }
        if let Some(inner) = inner("Vec<") {
            return format!("list of {}", self.kind(inner));
        }
        match kind {
            "Span" => "time".into(),
            "bool" => "`true`, `false`".into(),
            "f64" => "number".into(),
            "u8" | "u16" => {
                let bits: u32 = kind[1..].parse().expect("a number of bits");
                format!("0 to {}", (1_u64 << bits) - 1)
            }
            "u32" | "u64" | "usize" => "whole number".into(),
            "PathBuf" => "file".into(),
            "String" => "text".into(),
            _ => {
                let words = self.words(kind);
                let words: Vec<String> =
                    words.iter().map(|(_, word)| format!("`{word}`")).collect();
                if words.is_empty() {
                    "table".into()
                } else {
                    words.join(", ")
                }
            }
        }
    }

    /// The words that stand for the values of an enum.
    fn words(&self, name: &str) -> Vec<(String, String)> {
        for start in [format!("names!({name} {{"), format!("enum {name} {{")] {
            for file in &self.files {
                let Some((_, body)) = file.split_once(&start) else {
                    continue;
                };
                let (body, _) = body.split_once('}').unwrap_or((body, ""));
                let words = body.split([',', '\n']).filter_map(|line| {
                    let (value, word) = line.trim().split_once(" = \"")?;
                    Some((value.to_owned(), word.split_once('"')?.0.to_owned()))
                });
                let words: Vec<_> = words.collect();
                if !words.is_empty() {
                    return words;
                }
            }
        }
        Vec::new()
    }

    fn default(&self, kind: &str, default: &str) -> String {
        let time = |unit: &str| default.strip_prefix(unit)?.strip_suffix(')');
        if let Some(secs) = time("Span::from_secs(") {
            let secs = secs.split('*').map(|part| part.trim().replace('_', ""));
            let secs: u64 = secs
                .map(|part| part.parse::<u64>().expect("a number"))
                .product();
            return match secs {
                0 => "0s".into(),
                secs if secs % 86_400 == 0 => format!("{}d", secs / 86_400),
                secs if secs % 3600 == 0 => format!("{}h", secs / 3600),
                secs if secs % 60 == 0 => format!("{}m", secs / 60),
                secs => format!("{secs}s"),
            };
        }
        if let Some(millis) = time("Span::from_millis(") {
            return format!("{millis}ms");
        }
        if let Some((_, value)) = default.split_once("::") {
            let word = self.words(kind).into_iter().find(|(name, _)| name == value);
            return match (word, value) {
                (Some((_, word)), _) => word,
                (None, "MAX") => u8::MAX.to_string(),
                _ => String::new(),
            };
        }
        match default {
            "None" => String::new(),
            "" => self.first_value(kind),
            other => other.replace('_', ""),
        }
    }

    /// The word of the value that is marked as the default of an enum.
    fn first_value(&self, kind: &str) -> String {
        let start = format!("enum {kind} {{");
        let body = |file: &String| {
            let body = file.split_once(&start)?.1.split_once('}')?.0;
            Some(
                body.split_once("#[default]")?
                    .1
                    .split('"')
                    .nth(1)?
                    .to_owned(),
            )
        };
        self.files.iter().find_map(body).unwrap_or_default()
    }
}
