//! Which tests reach which mutants, and which mutants they notice.
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::tree::Program;

/// Tests that take longer are left out.
const SLOWEST: Duration = Duration::from_secs(90);

pub struct Test {
    program: usize,
    name: String,
    took: Duration,
    reached: HashSet<usize>,
}

/// The outcome of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Caught,
    Hangs,
    NotReached,
    Survived,
    DoesNotCompile,
}

/// How a program ended.
#[derive(PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    TooLate,
}

pub struct Trials<'a> {
    pub programs: &'a [Program],
    pub jobs: usize,
    /// Where tests write which mutants they reach.
    pub folder: &'a Path,
}

impl Trials<'_> {
    /// Every test that passes in time when no mutant is on, the quickest first, with the mutants that it reaches.
    pub fn record(&self) -> Result<Vec<Test>> {
        fs::create_dir_all(self.folder)?;
        let mut names = Vec::new();
        for (program, tests) in self.programs.iter().enumerate() {
            let list = |more: &[&str]| -> Result<Vec<String>> {
                let listed = Command::new(&tests.path)
                    .args(["--list", "--format=terse"])
                    .args(more)
                    .output()?;
                ensure!(
                    listed.status.success(),
                    "{} cannot be run",
                    tests.path.display()
                );
                Ok(String::from_utf8(listed.stdout)?
                    .lines()
                    .filter_map(|line| line.strip_suffix(": test"))
                    .map(str::to_owned)
                    .collect())
            };
            let ignored = list(&["--ignored"])?;
            names.extend(
                list(&[])?
                    .into_iter()
                    .filter(|name| !ignored.contains(name))
                    .map(|name| (program, name)),
            );
        }
        eprintln!("{} tests", names.len());
        let tests = self.each(&names, |at, (program, name)| {
            let reached = self.folder.join(at.to_string());
            let _ = fs::remove_file(&reached);
            let began = Instant::now();
            let command = self.command(*program, [name.as_str()]);
            let recorded = run(command, SLOWEST, |command| {
                command.env("GRIDWEAVE_MUTANTS_REACHED", &reached)
            });
            let took = began.elapsed();
            // A test that counts allocations may fail because of the recording itself, so it runs again without.
            let end = match recorded {
                End::Failed => run(
                    self.command(*program, [name.as_str()]),
                    SLOWEST,
                    |command| command,
                ),
                end => end,
            };
            if end != End::Passed {
                let why = if end == End::Failed {
                    "fails without a mutant"
                } else {
                    "takes too long"
                };
                eprintln!(
                    "left out: {} {name}, which {why}",
                    self.programs[*program].name
                );
                return None;
            }
            let reached = fs::read_to_string(&reached).unwrap_or_default();
            let reached = reached
                .lines()
                .filter_map(|line| line.parse().ok())
                .collect();
            Some(Test {
                program: *program,
                name: name.clone(),
                took,
                reached,
            })
        });
        let mut tests: Vec<_> = tests.into_iter().flatten().collect();
        tests.sort_by_key(|test| test.took);
        Ok(tests)
    }

    /// Tries each mutant, and tells its outcome as soon as it is known.
    pub fn attempt(&self, mutants: &[usize], tests: &[Test], tell: impl Fn(usize, Outcome) + Sync) {
        self.each(mutants, |_, &mutant| {
            tell(mutant, self.attempt_one(mutant, tests))
        });
    }

    fn attempt_one(&self, mutant: usize, tests: &[Test]) -> Outcome {
        let mut tests: Vec<_> = tests
            .iter()
            .filter(|test| test.reached.contains(&mutant))
            .collect();
        if tests.is_empty() {
            return Outcome::NotReached;
        }
        // Most mutants are caught by the first few tests, so the budget starts small and grows.
        let mut budget = Duration::from_millis(100);
        while !tests.is_empty() {
            let mut sum = Duration::ZERO;
            let within = tests
                .iter()
                .take_while(|test| {
                    sum += test.took;
                    sum <= budget
                })
                .count();
            let batch: Vec<_> = tests.drain(..within.max(1)).collect();
            for (program, _) in self.programs.iter().enumerate() {
                let own: Vec<_> = batch
                    .iter()
                    .filter(|test| test.program == program)
                    .collect();
                if own.is_empty() {
                    continue;
                }
                let limit = own.iter().map(|test| test.took).sum::<Duration>() * 10
                    + Duration::from_secs(20);
                let command = self.command(program, own.iter().map(|test| test.name.as_str()));
                match run(command, limit, |command| {
                    command.env("GRIDWEAVE_MUTANT", mutant.to_string())
                }) {
                    End::Passed => {}
                    End::Failed => return Outcome::Caught,
                    End::TooLate => return Outcome::Hangs,
                }
            }
            budget *= 4;
        }
        Outcome::Survived
    }

    fn command<'t>(&self, program: usize, tests: impl IntoIterator<Item = &'t str>) -> Command {
        let Program { path, folder, .. } = &self.programs[program];
        let mut command = Command::new(path);
        command
            .args([
                "--exact",
                "--test-threads=1",
                "-Zunstable-options",
                "--fail-fast",
            ])
            .args(tests)
            .current_dir(folder)
            .env("RUSTC_BOOTSTRAP", "1")
            // One failure is enough: it is neither shrunk nor kept for the next mutant.
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Calls `work` for each item, several at a time, and returns the results in order.
    fn each<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    while let at = next.fetch_add(1, Ordering::Relaxed)
                        && let Some(item) = items.get(at)
                    {
                        let result = work(at, item);
                        done.lock()
                            .expect("nobody panics with it")
                            .push((at, result));
                    }
                });
            }
        });
        let mut done = done.into_inner().expect("nobody panicked with it");
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

fn run(
    mut command: Command,
    limit: Duration,
    with: impl FnOnce(&mut Command) -> &mut Command,
) -> End {
    let Ok(mut child) = with(&mut command).spawn() else {
        return End::Failed;
    };
    let end = wait(&mut child, limit);
    if end == End::TooLate {
        let _ = child.kill();
        let _ = child.wait();
    }
    end
}

fn wait(child: &mut Child, limit: Duration) -> End {
    let began = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(None) if began.elapsed() > limit => return End::TooLate,
            Ok(None) => std::thread::sleep(pause),
            Ok(Some(status)) if status.success() => return End::Passed,
            _ => return End::Failed,
        }
        pause = (pause * 5 / 4).min(Duration::from_millis(100));
    }
}
