//! `init` and `invite`: a grid's authority, and folders for its nodes.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use gridweave_core::id::OrganisationId;
use gridweave_core::scheduler::agent::Distance;
use gridweave_core::time::Span;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Init, Invite, input, other};
use crate::identity::{Authority, NewNode, is_name};
use crate::settings::{FILE, Grid, Introducer, Length, Scheduler, Settings, Times};

/// The file of a grid.
const GRID: &str = "grid.toml";

/// The list of nodes in the folder of a grid.
const NODES: &str = "nodes";

/// What all nodes of a grid have in common, as the administrator's file has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    grid: Grid,
    #[serde(default)]
    times: Times,
}

/// Makes a folder that must not be there yet.
fn make(folder: &Path, mode: u32) -> Done {
    let made = fs::DirBuilder::new().mode(mode).create(folder);
    made.map_err(|error| {
        input(format!(
            "cannot make the folder {}: {error}",
            folder.display()
        ))
    })
}

fn write(folder: &Path, name: &str, text: &str, mode: u32) -> Done {
    let file = folder.join(name);
    let mut options = OpenOptions::new();
    let opened = options.create_new(true).write(true).mode(mode).open(&file);
    let written = opened.and_then(|mut opened| {
        opened.write_all(text.as_bytes())?;
        opened.sync_all()
    });
    written.map_err(|error| other(format!("cannot write {}: {error}", file.display())))
}

fn read(folder: &Path, name: &str) -> Result<String, Failure> {
    let file = folder.join(name);
    fs::read_to_string(&file).map_err(|error| {
        input(format!(
            "cannot read {}: {error}; 'gridweave-node init' makes a grid",
            file.display()
        ))
    })
}

pub(super) fn init(order: &Init) -> Done {
    let authority = Authority::new(&order.name, i64::from(order.days)).map_err(input)?;
    let scheduler = Scheduler::from(order.scheduler);
    let grid = Grid {
        name: order.name.clone(),
        scheduler,
        distance: order.distance.into(),
        most: (scheduler == Scheduler::Desktop).then_some([256, 2048, 16]),
    };
    let times = match (scheduler, grid.distance) {
        (Scheduler::Asap, Distance::Lan) => quick(),
        _ => Times::default(),
    };
    let common = toml::to_string(&Common { grid, times }).map_err(other)?;
    make(&order.grid, 0o700)?;
    write(&order.grid, GRID, &common, 0o600)?;
    write(
        &order.grid,
        "authority.pem",
        authority.certificate_pem(),
        0o644,
    )?;
    write(&order.grid, "authority.key", authority.key_pem(), 0o600)?;
    let shown = order.grid.display();
    tell!(
        "the grid '{}' is in {shown}; keep {shown}/authority.key secret",
        order.name
    );
    tell!("next: gridweave-node invite {shown} NAME --output FOLDER --address HOST:4850");
    Ok(())
}

/// Jobs start within half a second: a search and a commit of a few computers take some hundredths. The core's own times are
/// for local networks of many.
fn quick() -> Times {
    let millis = |millis| Some(Length(Span::from_millis(millis)));
    Times {
        slot: millis(50),
        lead: millis(250),
        commit_lead: millis(100),
        ..Times::default()
    }
}

/// The nodes that were invited with an address, at most four.
fn introducers(grid: &Path) -> Result<Vec<Introducer>, Failure> {
    let text = fs::read_to_string(grid.join(NODES)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split(' ').nth(1));
    let known = lines.filter(|word| word.contains('@')).take(4);
    known
        .map(|word| Introducer::try_from(word.to_owned()).map_err(input))
        .collect()
}

pub(super) fn invite(order: &Invite) -> Done {
    let common: Common = toml::from_str(&read(&order.grid, GRID)?).map_err(|error| {
        input(format!(
            "{}/{GRID}: {}",
            order.grid.display(),
            error.message()
        ))
    })?;
    let certificate = read(&order.grid, "authority.pem")?;
    let key = read(&order.grid, "authority.key")?;
    if !is_name(&order.name) {
        return Err(input(format!(
            "'{}' is no name of a node: use 1 to 40 of a-z, 0-9 and -",
            order.name
        )));
    }
    let mut given = Vec::new();
    for text in &order.introducer {
        given.push(Introducer::try_from(text.clone()).map_err(input)?);
    }
    if given.is_empty() {
        given = introducers(&order.grid)?;
    }
    if given.len() > 4 {
        return Err(input("name at most four introducers"));
    }
    let authority = Authority::from_pem(common.grid.name.clone(), certificate, key);
    let node = NewNode {
        name: &order.name,
        organisation: OrganisationId::new(order.organisation),
        days: order.days,
    };
    let issued = authority.issue(&node).map_err(other)?;
    let id = issued.identity.node;
    let mut line = format!("{} {id}", order.name);
    let mut settings = Settings {
        grid: common.grid,
        times: common.times,
        ..Settings::default()
    };
    if let Some(address) = &order.address {
        let own = Introducer::try_from(format!("{id}@{address}")).map_err(input)?;
        line = format!("{} {own}", order.name);
        settings.network.advertise = address.parse::<SocketAddr>().ok();
    }
    settings.network.listen = order.listen;
    settings.network.introducers = given;
    // Jobs may run as another user, and their folders are below this one.
    make(&order.output, 0o711)?;
    write(&order.output, FILE, &settings.to_toml(), 0o644)?;
    write(&order.output, "node.pem", &issued.certificate_pem, 0o644)?;
    write(&order.output, "node.key", &issued.key_pem, 0o600)?;
    write(
        &order.output,
        "authority.pem",
        authority.certificate_pem(),
        0o644,
    )?;
    let file = order.grid.join(NODES);
    let listed = OpenOptions::new().create(true).append(true).open(&file);
    let listed = listed.and_then(|mut file| writeln!(file, "{line}"));
    listed.map_err(|error| other(format!("cannot write {}: {error}", file.display())))?;
    tell!(
        "node '{}' is {id}; its folder is {}",
        order.name,
        order.output.display()
    );
    tell!("next: copy it to its computer, and there: gridweave-node run --folder FOLDER");
    Ok(())
}
