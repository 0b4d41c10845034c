//! What users ask an agent.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::batch::{self, Batch};
use super::{AgainName, Done, Failure, Submit, input, other};
use crate::control::{Again, Client, ClientError, Request, Submission};
use crate::executor::{Limits, Program};
use crate::settings::length;

/// Asks the agent in a folder.
pub(super) struct Asker<'a> {
    pub(super) folder: &'a Path,
    /// Whether answers are printed as JSON.
    pub(super) json: bool,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::NotThere { .. } => input(error),
            _ => other(error),
        }
    }
}

impl Asker<'_> {
    fn ask(&self, request: &Request) -> Result<Value, Failure> {
        Ok(Client::connect(self.folder)?.ask(request)?)
    }

    /// Asks, and prints the answer in this way, or as JSON.
    fn show(&self, request: &Request, print: impl FnOnce(&Value)) -> Done {
        let answer = self.ask(request)?;
        match self.json {
            true => tell!("{answer}"),
            false => print(&answer),
        }
        Ok(())
    }

    pub(super) fn submit(&self, mut order: Submit) -> Done {
        let batch = match &order.batch {
            None => Batch::default(),
            Some(file) => {
                let batch = read_batch(file, &order.program)?;
                order.program.clone_from(&batch.argv);
                batch
            }
        };
        let span = match &order.time {
            Some(time) => length(time).map_err(input)?,
            None => batch.time.ok_or_else(|| {
                input("for how long may it run? Write #SBATCH --time into the script, or --time")
            })?,
        };
        let mut environment = batch.environment;
        for variable in &order.environment {
            let wrong = || input(format!("'{variable}' is no variable: write NAME=VALUE"));
            let (name, value) = variable.split_once('=').ok_or_else(wrong)?;
            environment.insert(name.to_owned(), value.to_owned());
        }
        let program = Program {
            argv: order.program,
            environment,
            folder: order.workdir.or(batch.folder),
            output: order.output.or(batch.output),
            error: order.error.or(batch.error),
            limits: Limits {
                memory: order.limit_memory,
                files: order.limit_files,
                processes: order.limit_processes,
            },
        };
        program.to_payload().map_err(input)?;
        let submission = Submission {
            program,
            nodes: order.nodes,
            cores: order.cores.or(batch.cores),
            memory: order.memory.or(batch.memory).unwrap_or(0),
            accelerators: order.accelerators.or(batch.accelerators).unwrap_or(0),
            seconds: span.as_micros() as f64 / 1e6,
            count: order.count,
            again: match batch.runs_again {
                true if matches!(order.again, AgainName::Never) => Again::Lost,
                _ => order.again.into(),
            },
            times: order.times,
        };
        let answer = self.ask(&Request::Submit(Box::new(submission)))?;
        let jobs = text(&answer, "jobs");
        let jobs: Vec<&str> = jobs.split(' ').collect();
        match self.json {
            true => tell!("{answer}"),
            false => tell!("{}", jobs.join("\n")),
        }
        let waits = jobs.iter().filter(|_| order.wait || batch.waits);
        // All of them, before the first failure is told.
        let outcomes: Vec<Done> = waits.map(|job| self.wait_for(job)).collect();
        outcomes.into_iter().collect()
    }

    /// Waits for the end of a job.
    fn wait_for(&self, job: &str) -> Done {
        let request = Request::Job {
            job: job.to_owned(),
        };
        loop {
            // The agent may be restarted in the meantime.
            if let Ok(row) = self.ask(&request) {
                match text(&row, "phase").as_str() {
                    "done" => return Ok(()),
                    "failed" => return Err(other(format!("{job} failed: {}", text(&row, "why")))),
                    "cancelled" => return Err(other(format!("{job} was cancelled"))),
                    _ => {}
                }
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    pub(super) fn jobs(&self, all: bool) -> Done {
        self.show(&Request::Jobs { all }, |jobs| {
            tell!(
                "{:<15} {:<10} {:>6} {:>5}  program",
                "job",
                "phase",
                "user",
                "nodes"
            );
            for job in jobs.as_array().into_iter().flatten() {
                tell!(
                    "{:<15} {:<10} {:>6} {:>5}  {}",
                    text(job, "job"),
                    text(job, "phase"),
                    text(job, "user"),
                    text(job, "nodes"),
                    text(job, "argv"),
                );
            }
        })
    }

    pub(super) fn job(&self, job: String) -> Done {
        self.show(&Request::Job { job }, print_fields)
    }

    pub(super) fn status(&self) -> Done {
        self.show(&Request::Status, print_fields)
    }

    pub(super) fn cancel(&self, job: String) -> Done {
        self.show(&Request::Cancel { job }, |answer| {
            tell!("{} is being cancelled", text(answer, "job"));
        })
    }

    pub(super) fn drain(&self, wait: bool) -> Done {
        self.show(&Request::Drain, |_| tell!("the node takes no new jobs"))?;
        while wait && self.ask(&Request::Status)?.get("drained") != Some(&Value::Bool(true)) {
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(())
    }

    pub(super) fn resume(&self) -> Done {
        self.show(&Request::Resume, |_| tell!("the node takes jobs again"))
    }

    pub(super) fn peers(&self) -> Done {
        self.show(&Request::Peers, |peers| {
            tell!(
                "{:<16} {:<22} {:<24} {:>12}",
                "name",
                "node",
                "address",
                "clock ahead"
            );
            for peer in peers.as_array().into_iter().flatten() {
                let ahead = peer
                    .get("clock_ahead")
                    .and_then(Value::as_f64)
                    .unwrap_or(0.0);
                tell!(
                    "{:<16} {:<22} {:<24} {:>10.1}ms",
                    text(peer, "name"),
                    text(peer, "node"),
                    text(peer, "address"),
                    ahead * 1e3,
                );
            }
        })
    }

    pub(super) fn usage(&self) -> Done {
        self.show(&Request::Usage, |usage| {
            tell!(
                "{:>12} {:>8} {:>9} {:>14}",
                "organisation",
                "user",
                "attempts",
                "node seconds"
            );
            for row in usage.as_array().into_iter().flatten() {
                tell!(
                    "{:>12} {:>8} {:>9} {:>14}",
                    text(row, "organisation"),
                    text(row, "user"),
                    text(row, "attempts"),
                    text(row, "node_seconds"),
                );
            }
        })
    }

    pub(super) fn figures(&self) -> Done {
        self.show(&Request::Figures, |figures| {
            tell!("{}", figures.as_str().unwrap_or_default().trim_end());
        })
    }

    pub(super) fn events(&self) -> Done {
        let mut client = Client::connect(self.folder)?;
        client.ask(&Request::Events)?;
        client.wait_for_ever().map_err(other)?;
        loop {
            tell!("{}", client.line()?);
        }
    }
}

/// Reads a batch script, and says what its options mean here.
fn read_batch(file: &Path, arguments: &[String]) -> Result<Batch, Failure> {
    let text = std::fs::read_to_string(file);
    let text = text.map_err(|error| input(format!("{}: {error}", file.display())))?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let batch = batch::read(&text, &name, arguments).map_err(input)?;
    for note in &batch.notes {
        eprintln!("{note}");
    }
    Ok(batch)
}

/// A field as a user reads it.
fn text(value: &Value, field: &str) -> String {
    match value.get(field) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(all)) => {
            let words = all.iter().map(|word| match word {
                Value::String(word) => word.clone(),
                other => other.to_string(),
            });
            words.collect::<Vec<_>>().join(" ")
        }
        Some(other) => other.to_string(),
    }
}

fn print_fields(value: &Value) {
    for name in value
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys())
    {
        tell!("{name:<14} {}", text(value, name));
    }
}
