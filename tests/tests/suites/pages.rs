//! Pages: every link leads somewhere, the README is short, and its waits are those that the gate compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gridweave_tests::configuration::Source;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The README, the other pages at the top, and all below `docs`, sorted.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![];
    let mut folders = vec![root(), root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it can be read").path();
            let is_below_docs = folder != root();
            if path.is_dir() && is_below_docs {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The text without blocks of code, in which brackets are no links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The anchor that a heading gets: lower case, spaces to hyphens, other signs left out.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        _ => sign.is_alphanumeric().then_some(sign),
    });
    kept.collect()
}

fn anchors(text: &str) -> Vec<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let headings = headings.map(|line| anchor(line.trim_start_matches('#').trim()));
    headings.collect()
}

/// What is between `](` and `)`.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let after = prose.split("](").skip(1);
    let links = after.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    links.collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page is text");
        let folder = page.parent().expect("a file is in a folder");
        for link in links(&text) {
            if link.starts_with("http") {
                continue;
            }
            checked += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                folder.join(file)
            };
            let is_there = target.exists();
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                anchors(&text).iter().any(|anchor| anchor == heading)
            };
            if !is_there || !(heading.is_empty() || has_heading()) {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(checked > 100, "only {checked} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_below_docs_is_in_the_summary() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("it is there");
    let listed = links(&summary);
    for page in pages() {
        let Ok(name) = page.strip_prefix(&docs) else {
            continue;
        };
        let name = name.to_string_lossy().into_owned();
        assert!(
            name == "SUMMARY.md" || listed.contains(&name),
            "{name} is not listed"
        );
    }
}

/// The length of a page without the tables that commands put between markers.
fn without_tables(page: &Path) -> usize {
    let text = fs::read_to_string(page).expect("it is there");
    let tables = text.split("<!-- end of ").skip(1).map(|after| {
        let (name, _) = after.split_once(" -->").expect("it ends");
        let (_, table) = text.split_once(&format!("<!-- {name} -->")).expect(name);
        let (table, _) = table.split_once("<!-- end of").expect("it ends");
        table.len()
    });
    text.len() - tables.sum::<usize>()
}

#[test]
fn pages_are_as_short_as_they_are_meant_to_be() {
    let length = |path: &Path| fs::metadata(path).expect("it is there").len();
    assert!(length(&root().join("README.md")) <= 9_000);
    let by_hand = pages().into_iter().filter(|page| {
        let text = page.to_string_lossy();
        let is_generated = text.ends_with("/configuration.md");
        !is_generated && (text.contains("/docs/guide/") || text.contains("/docs/reference/"))
    });
    let sum: usize = by_hand.map(|page| without_tables(&page)).sum();
    assert!(sum <= 155_000, "{sum} bytes of guide and reference");
}

#[test]
fn the_readme_counts_the_verdicts_of_the_pages() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    for paper in 1..=4 {
        let page = root().join(format!("docs/results/p{paper}.md"));
        let page = fs::read_to_string(page).expect("it is there");
        let (_, listed) = page.split_once("## Verdicts").expect("the table");
        let (listed, _) = listed.split_once("<!-- part ").expect("its end");
        let verdicts = listed.lines().filter(|line| line.starts_with("| "));
        let verdicts = verdicts.filter_map(|line| line.split(" | ").nth(2)).skip(1);
        let verdicts: Vec<&str> = verdicts.map(|cell| cell.trim_end_matches(" |")).collect();
        let counted = |wanted: fn(&str) -> bool| verdicts.iter().filter(|it| wanted(it)).count();
        let kinds: [fn(&str) -> bool; 7] = [
            |it| it.starts_with("agrees"),
            |it| it.starts_with("direction only"),
            |it| it.starts_with("differs"),
            |it| it.starts_with("not measured"),
            |it| it.starts_with("nothing published"),
            |it| it.starts_with("quick run"),
            |it| it.ends_with("stale"),
        ];
        let row = kinds.map(|wanted| counted(wanted).to_string()).join(" | ");
        let row = format!("| P{paper} | {row} |");
        assert!(
            readme.contains(&row),
            "{row}: record verdicts anew (.ci/verdicts)"
        );
    }
}

#[test]
fn the_waits_in_the_readme_are_those_that_the_gate_compares() {
    let ratchet = fs::read_to_string(root().join(".ci/ratchet")).expect("it is there");
    let waits: BTreeMap<&str, &str> = ratchet
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?.strip_prefix("waits.")?, words.next()?))
        })
        .collect();
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let (_, rest) = readme
        .split_once("| scheduler | 1,984 parallel jobs")
        .expect("the table");
    let rows = rest
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut compared = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let name = cells[1].split('`').nth(1).expect("a scheduler");
        for (table, cell) in [
            ("gangs", cells[2]),
            ("requested", cells[3]),
            ("serial", cells[4]),
        ] {
            if cell != "–" {
                let key = format!("{table}.{name}");
                let cell = cell.replace(',', "");
                assert_eq!(waits.get(key.as_str()), Some(&cell.as_str()), "{key}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 14);
}

fn configuration() -> PathBuf {
    root().join("docs/reference/configuration.md")
}

#[test]
fn the_page_of_the_configuration_is_what_the_types_say() {
    let page = fs::read_to_string(configuration()).expect("it is there");
    assert!(
        page == Source::at(&root()).page(),
        "regenerate it: see its first line"
    );
}

/// `cargo test -p gridweave-tests --test suites -- --ignored regenerate_the_configuration`
#[test]
#[ignore = "writes the page of the configuration"]
fn regenerate_the_configuration() {
    fs::write(configuration(), Source::at(&root()).page()).expect("it can be written");
}
