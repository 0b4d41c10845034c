//! Answers of Slurm that were recorded, and an executor over commands that only write down how they were called.

use std::time::Duration;

use gridweave_core::id::{Epoch, JobId, OrganisationId, UserId};
use gridweave_core::job::{OwnJob, Submitter};

use super::command::is_of_contact;
use super::listing::{Hold, Listed, State as Stands, format, limit, parse};
use super::mirror::{Forecasts, Mirror};
use super::*;
use crate::executor::Program;
use crate::executor::folder::{Kind, Verdict};
use crate::settings::Jobs;

/// What `squeue` of Slurm 22.05 printed.
const LISTING: &str = "\
7f|2|PD|main|4|5:00|1795050510|1795050571|4294901758|root|Resources|odd|name x
7f|3_1|PD|main|1|2:00|1795050510|1795051080|4294901757|root|Priority|arr
7f|3_2|PD|main,big|1|UNLIMITED|1795050510|N/A|4294901757|root|Dependency|arr
7f|4|PD|main|4|30:00|1795050510|1795051200|0|root|JobHeldAdmin|gw-2-1-9
slurm_load_jobs: this is no line of it
|5|R|main|2|1:00|1795050510|1795050511|1|root|None|a name that pretends
7f|1|R|main|2|1:00|1795050510|1795050511|4294901759|root|None|gw-1-1-9
7f|8|CG|main|2|1:00|1795050510|1795050511|0|root|None|a
7f|9|NF|other|2|1:00|1795050510|1795050511|0|mia|NodeDown|b
";

const CONFIG: &str = "\
Configuration data as of 2026-11-19T01:08:36
PrivateData             = none
PriorityType            = priority/basic
SchedulerType           = sched/backfill
SelectType              = select/cons_tres
SLURM_VERSION           = 22.05.8
";

const PARTITIONS: &str = "\
PartitionName=main AllowGroups=ALL Default=YES ExclusiveUser=NO MaxTime=01:00:00 Nodes=c1n1 OverSubscribe=NO PreemptMode=OFF State=UP TotalCPUs=4
PartitionName=big AllowGroups=ALL Default=NO ExclusiveUser=NO MaxTime=UNLIMITED Nodes=c1n1 OverSubscribe=EXCLUSIVE PreemptMode=OFF State=UP TotalCPUs=4
";

const NODES: &str = "\
4|16000|(null)|unk*
16+|64000+|gpu:a100:4(S:0-1),shard:8|idle
32|64000|gpu:2|drain
64|64000|(null)|down*
";

fn shape() -> Shape {
    Shape::read(None, CONFIG, PARTITIONS, NODES).unwrap()
}

fn t(seconds: u64) -> Time {
    Time::from_secs(seconds)
}

#[test]
fn a_listing_is_read_line_by_line_and_names_cannot_pretend() {
    let listing = parse(LISTING, "7f");
    let ids: Vec<&str> = listing.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["2", "3_1", "3_2", "4", "1", "8", "9"]);
    assert_eq!(listing[0].name, "odd|name x");
    assert_eq!(listing[0].limit, Some(Span::from_secs(300)));
    assert_eq!((listing[2].limit, listing[2].start), (None, None));
    let states: Vec<Stands> = listing.iter().map(|one| one.state).collect();
    use Stands::{Ending, Held, Over, Running, Waiting};
    assert_eq!(
        states,
        [
            Waiting,
            Waiting,
            Held(Hold::Otherwise),
            Held(Hold::ByHand),
            Running,
            Ending,
            Over
        ]
    );
    assert_eq!(listing[4].start, Some(t(1_795_050_511)));
    assert!(parse(LISTING, "7e").is_empty());
    assert!(format("7f").starts_with("7f|%i|"));
}

#[test]
fn limits_are_read_as_slurm_writes_them() {
    let minutes = |text| limit(text).map(|span| span.as_micros() / 60_000_000);
    assert_eq!(minutes("5"), Some(5));
    assert_eq!(minutes("5:00"), Some(5));
    assert_eq!(minutes("1:00:00"), Some(60));
    assert_eq!(minutes("2-00:00:00"), Some(2880));
    assert_eq!(minutes("1-02"), Some(1560));
    assert_eq!(minutes("1-02:30"), Some(1590));
    for none in [
        "UNLIMITED",
        "NOT_SET",
        "",
        "-",
        "1-",
        "99999999999999999999:00",
        "9999999999999999:00:00",
    ] {
        assert_eq!(limit(none), None, "{none}");
    }
}

#[test]
fn a_partition_is_what_its_computers_that_are_up_have() {
    let shape = shape();
    assert_eq!(
        (shape.partition.as_str(), shape.version.as_str()),
        ("main", "22.05.8")
    );
    assert_eq!((shape.processors.get(), shape.cores.get()), (20, 16));
    assert_eq!((shape.memory, shape.accelerators), (62, 4));
    assert!(shape.backfills && shape.remarks.is_empty());
    assert_eq!(shape.longest, Some(3_600_000_000));
    let other = CONFIG.replace("priority/basic", "priority/multifactor");
    let other = other
        .replace("sched/backfill", "sched/builtin")
        .replace("none", "jobs,usage");
    let other = Shape::read(Some("main"), &other, PARTITIONS, NODES).unwrap();
    assert_eq!((other.backfills, other.remarks.len()), (false, 2));
}

#[test]
fn partitions_that_cannot_be_mirrored_are_refused_by_name() {
    let refused = |wanted, config: &str| match Shape::read(wanted, config, PARTITIONS, NODES) {
        Err(Unfit::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(Some("none"), CONFIG).contains("no partition 'none'"));
    assert!(refused(Some("big"), CONFIG).contains("OverSubscribe=EXCLUSIVE"));
    let linear = CONFIG.replace("cons_tres", "linear");
    assert!(refused(None, &linear).contains("select/linear"));
    let down = Shape::read(None, CONFIG, PARTITIONS, "4|1|(null)|down\n");
    assert!(matches!(down, Err(Unfit::Down(why)) if why.contains("no computer")));
}

#[test]
fn an_error_of_contact_is_not_a_refusal() {
    for silent in [
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation",
        "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
    ] {
        assert!(is_of_contact(silent), "{silent}");
    }
    assert!(!is_of_contact(
        "sbatch: error: Batch job submission failed: Invalid partition name specified"
    ));
}

fn own(report: &SiteReport) -> (OwnJob, Seen) {
    match report {
        SiteReport::Own { job, seen } => (*job, *seen),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_mirror_reports_what_is_new_in_the_order_of_the_site() {
    let mut mirror = Mirror::default();
    let shape = shape();
    let owns = |listed: &Listed| listed.name.starts_with("gw-");
    let mut listing = parse(LISTING, "7f");
    let now = t(1_795_050_572);
    let reports = mirror.report(&listing, &shape, now, owns);
    let (first, seen) = own(&reports[0]);
    assert_eq!((first.processors.get(), seen), (4, Seen::Queued));
    assert_eq!(first.estimate, Span::from_secs(300));
    assert_eq!(
        reports.len(),
        2,
        "held jobs, jobs that end, and ours are left out"
    );
    assert!(mirror.report(&listing, &shape, now, owns).is_empty());
    // One starts; an id is given to another job; one is gone.
    listing[0].state = Stands::Running;
    listing[1].submitted = t(1_795_060_000);
    let reports = mirror.report(&listing, &shape, now, owns);
    let seen: Vec<Seen> = reports.iter().map(|report| own(report).1).collect();
    let at = t(1_795_050_571);
    assert_eq!(seen, [Seen::Vanished, Seen::Started { at }, Seen::Queued]);
    assert_eq!(mirror.report(&[], &shape, now, owns).len(), 2);
}

fn of(user: &str, id: u32, state: Stands, start: Option<Time>) -> Listed {
    Listed {
        id: id.to_string(),
        state,
        partition: "main".to_owned(),
        processors: 1.try_into().unwrap(),
        limit: Some(Span::from_secs(3600)),
        submitted: t(100),
        start,
        priority: 1000,
        user: user.to_owned(),
        name: "one".to_owned(),
    }
}

#[test]
fn a_job_is_expected_to_take_what_the_last_ones_of_its_user_took() {
    let mut mirror = Mirror::default();
    let shape = shape();
    let mut estimates = |listing: &[Listed], at| -> Vec<u64> {
        let reports = mirror.report(listing, &shape, t(at), |_| false);
        let told = reports.iter().map(own);
        let there = told.filter(|(_, seen)| *seen != Seen::Vanished);
        there
            .map(|(job, _)| job.estimate.as_micros() / 1_000_000)
            .collect()
    };
    let runs = |id, at| of("ada", id, Stands::Running, Some(t(at)));
    let waits = [
        of("ada", 8, Stands::Waiting, None),
        of("ben", 9, Stands::Waiting, None),
    ];
    assert_eq!(
        estimates(&[&[runs(1, 100)][..], &waits].concat(), 200),
        [3600; 3]
    );
    // Ada's job took 400 s. Nothing is known of Ben.
    assert_eq!(estimates(&waits, 500), [400]);
    // A little more is not worth a report.
    assert_eq!(
        estimates(&[&[runs(2, 500)][..], &waits].concat(), 600),
        [400]
    );
    assert!(estimates(&waits, 1000).is_empty());
    // One that runs on and on takes twice as long, and never longer than its limit.
    let long = [of("ada", 3, Stands::Running, Some(t(1000)))];
    assert_eq!(estimates(&long, 1001), [425]);
    assert!(estimates(&long, 1424).is_empty());
    assert_eq!(estimates(&long, 1425), [850]);
    let [mut short] = long;
    short.limit = Some(Span::from_secs(600));
    assert_eq!(estimates(&[short], 1425), [600]);
    // The site was silent for a day: when the job ended in it is not known.
    assert_eq!(estimates(&waits[1..], 90_000), [3600]);
    assert_eq!(estimates(&waits[..1], 90_001), [425]);
}

#[test]
fn a_job_of_the_sites_own_that_passes_those_of_the_grid_is_told_to_have_come_before_them() {
    let mut mirror = Mirror::default();
    let waits = |id, priority, submitted| Listed {
        submitted: t(submitted),
        priority,
        ..of("ada", id, Stands::Waiting, None)
    };
    let came = |mirror: &mut Mirror, listing: &[Listed]| -> Vec<u64> {
        let owns = |listed: &Listed| listed.priority == 500;
        let reports = mirror.report(listing, &shape(), t(500), owns);
        let told = reports.iter().map(own);
        let there = told.filter(|(_, seen)| *seen != Seen::Vanished);
        there
            .map(|(job, _)| job.submitted.as_micros() / 1_000_000)
            .collect()
    };
    let grid = [waits(1, 500, 200), waits(2, 500, 300)];
    let all = [&grid[..], &[waits(3, 400, 400), waits(4, 1000, 400)]].concat();
    assert_eq!(came(&mut mirror, &all), [170, 400]);
    // When that job of the grid is gone, the others stand as before.
    assert!(came(&mut mirror, &all[1..]).is_empty());
}

#[test]
fn a_forecast_takes_the_order_of_slurm_and_is_compared_with_the_start() {
    let shape = Shape {
        processors: 4.try_into().unwrap(),
        ..shape()
    };
    let mut forecasts = Forecasts::default();
    let limit_of = |listed: &Listed| listed.limit.unwrap_or(Span::from_secs(3600));
    let mut listing = parse(LISTING, "7f");
    let now = t(1_795_050_512);
    assert!(forecasts.note(&listing, &shape, now, limit_of).is_empty());
    // Two of four processors are busy for a minute, and then the job wants all.
    listing[0].state = Stands::Running;
    listing[0].start = Some(t(1_795_050_580));
    let started = forecasts.note(&listing, &shape, now, limit_of);
    let [one] = &started[..] else {
        panic!("one has started: {started:?}");
    };
    assert_eq!(one.forecast.own, t(1_795_050_571));
    assert_eq!(one.forecast.slurm, Some(t(1_795_050_571)));
    assert_eq!(one.start, t(1_795_050_580));
}

#[test]
fn names_are_those_of_one_node() {
    let node = NodeId::new(9);
    let attempt = AttemptId {
        job: JobId::new(7),
        number: Epoch::new(2),
    };
    let name = script::name(attempt, node);
    assert_eq!(name, "gw-7-2-9");
    assert_eq!(script::attempt_of(&name, node), Some(attempt));
    for other in [
        "gw-7-2-8",
        "gw-7-2",
        "gw-7-2-9x",
        "gw-07-2-9",
        "g",
        "gw--",
        "",
    ] {
        assert_eq!(script::attempt_of(other, node), None, "{other}");
    }
}

#[test]
fn what_a_job_takes_goes_to_sbatch_as_words() {
    let settings = Settings {
        account: Some("physics".to_owned()),
        options: vec!["--licenses=matlab:1".to_owned()],
        ..Settings::default()
    };
    let needs = Needs {
        cores: 3,
        memory: 4,
        accelerators: 1,
        length: Span::from_secs(91),
    };
    let words = script::arguments("gw-7-2-9", &needs, Path::new("/f o"), &shape(), &settings);
    for word in [
        "--job-name=gw-7-2-9",
        "--no-requeue",
        "--partition=main",
        "--cpus-per-task=3",
        "--time=3",
        "--mem=4G",
        "--gres=gpu:1",
        "--account=physics",
        "--licenses=matlab:1",
        "--output=/f o/slurm.log",
    ] {
        assert!(words.iter().any(|given| given == word), "{word}: {words:?}");
    }
    assert_eq!(words.last().map(String::as_str), Some("/f o/script"));
    let script = script::script(Path::new("/bin/it's"), Path::new("/f o"));
    assert_eq!(
        script,
        "#!/bin/sh\nexec '/bin/it'\\''s' begin-at-site '/f o'\n"
    );
}

/// A folder with commands that write down their arguments, and do what a file says.
struct Fake {
    folder: tempfile::TempDir,
}

const NODE: NodeId = NodeId::new(9);

impl Fake {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = Self { folder };
        fs::create_dir(fake.path("bin")).unwrap();
        for name in ["sbatch", "squeue", "scontrol", "scancel"] {
            let file = fake.path("bin").join(name);
            let room = fake.path("");
            let text = format!(
                "#!/bin/sh\ncd {room}\necho {name} \"$@\" >>calls\n. ./{name}.does\n",
                room = room.display()
            );
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            fake.does(name, "exit 0");
        }
        fake.lists(&[]);
        fake
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn does(&self, name: &str, what: &str) {
        let draft = self.path("draft");
        fs::write(&draft, what).unwrap();
        fs::rename(draft, self.path(&format!("{name}.does"))).unwrap();
    }

    /// Has `squeue` list these jobs: id, state, reason, name.
    fn lists(&self, jobs: &[(u32, &str, &str, &str)]) {
        self.does("squeue", &Self::listing(jobs));
    }

    /// The same from the next submission on.
    fn lists_when_submitted(&self, jobs: &[(u32, &str, &str, &str)]) {
        fs::write(self.path("next"), Self::listing(jobs)).unwrap();
        self.does("sbatch", "mv next squeue.does");
    }

    fn listing(jobs: &[(u32, &str, &str, &str)]) -> String {
        let user = nix::unistd::User::from_uid(nix::unistd::geteuid());
        let user = user.unwrap().unwrap().name;
        let mut text = "for word; do case $word in --format=*) nonce=${word#--format=};; --states=all) exit 0;; esac; done\nnonce=${nonce%%|*}\n".to_owned();
        for (id, state, reason, name) in jobs {
            text += &format!(
                "echo \"$nonce|{id}|{state}|main|1|1:00|100|200|7|{user}|{reason}|{name}\"\n"
            );
        }
        text
    }

    fn calls(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let calls = text
            .lines()
            .filter(|line| line.split(' ').next() == Some(name));
        calls.map(str::to_owned).collect()
    }

    /// Waits for a submission and for what it changes at the site.
    fn wait_for_submission(&self, number: usize) {
        wait("it is submitted", || {
            self.calls("sbatch").len() == number && !self.path("next").exists()
        });
    }

    fn start(&self) -> Slurm {
        self.start_with(Span::from_secs(20))
    }

    fn start_with(&self, timeout: Span) -> Slurm {
        let site = Site {
            folder: self.folder.path().to_owned(),
            program: PathBuf::from("/bin/false"),
            jobs: Jobs {
                allow_root: true,
                ..Jobs::default()
            },
            clock_offset: 0,
        };
        let settings = Settings {
            commands: Some(self.path("bin").display().to_string()),
            interval: Some(Length(Span::from_millis(100))),
            timeout: Some(Length(timeout)),
            ..Settings::default()
        };
        let plan = Plan {
            folder: self.folder.path(),
            site,
            settings,
            shape: shape(),
            node: NODE,
            metrics: Arc::default(),
        };
        Slurm::new(plan, || {}).unwrap()
    }

    /// Starts it, with no attempts of an earlier life.
    fn first(&self) -> Slurm {
        let mut slurm = self.start();
        assert_eq!(slurm.survivors().unwrap(), []);
        slurm
    }

    fn attempt_folder(&self) -> PathBuf {
        self.path("attempts").join(attempt().to_string())
    }
}

fn attempt() -> AttemptId {
    AttemptId {
        job: JobId::new(7),
        number: Epoch::new(2),
    }
}

fn start() -> Start {
    Start {
        attempt: attempt(),
        until: crate::clock::wall(0) + Span::from_secs(60),
        submitter: Submitter {
            user: UserId::new(1),
            organisation: OrganisationId::new(1),
        },
        program: Program {
            argv: vec!["true".to_owned()],
            ..Program::default()
        },
        longest: None,
        rank: 0,
        nodes: vec!["n9".to_owned()],
        addresses: vec!["-".to_owned()],
    }
}

const NEEDS: Needs = Needs {
    cores: 1,
    memory: 0,
    accelerators: 0,
    length: Span::from_secs(10),
};

fn seen(seen: Seen) -> SiteReport {
    let AttemptId {
        job,
        number: attempt,
    } = attempt();
    SiteReport::Attempt { job, attempt, seen }
}

/// All that is reported until this is.
fn until(slurm: &mut Slurm, is_so: impl Fn(&SiteReport) -> bool) -> Vec<SiteReport> {
    let mut all = Vec::new();
    for _ in 0..6000 {
        let _ = slurm.look();
        let reports = slurm.reports();
        let found = reports.iter().any(&is_so);
        all.extend(reports);
        if found {
            return all;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it is not reported: {all:?}");
}

fn wait(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not in time: {what}");
}

#[test]
fn an_attempt_is_submitted_once_under_its_name_and_again_if_the_site_lost_it() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    fake.lists_when_submitted(&[(1, "PD", "Priority", "gw-7-2-9")]);
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.wait_for_submission(1);
    assert!(fake.calls("sbatch")[0].contains("--job-name=gw-7-2-9 --no-requeue"));
    // Asked again, it tells how it is.
    slurm.queue(&start(), &NEEDS).unwrap();
    until(&mut slurm, |report| *report == seen(Seen::Queued));
    assert_eq!(fake.calls("sbatch").len(), 1);
    // The controller has forgotten it, and has given its id to a job of a user.
    fake.lists_when_submitted(&[(2, "PD", "Priority", "gw-7-2-9")]);
    fake.lists(&[(1, "PD", "Priority", "mine")]);
    fake.wait_for_submission(2);
    assert_eq!(slurm.running(), 1);
    fake.does("sbatch", "exit 0");
    // After three times it is taken back, and the site is closed.
    fake.lists(&[]);
    let reports = until(&mut slurm, |report| *report == SiteReport::Unreachable);
    assert!(reports.contains(&seen(Seen::Vanished)), "{reports:?}");
    assert_eq!(fake.calls("sbatch").len(), 3);
}

#[test]
fn a_site_that_does_not_answer_is_silent_and_keeps_what_it_has() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    let silent = "echo 'error: Unable to contact slurm controller' >&2; exit 1";
    fake.does("sbatch", silent);
    fake.does("squeue", silent);
    slurm.queue(&start(), &NEEDS).unwrap();
    let reports = until(&mut slurm, |report| *report == SiteReport::Unreachable);
    assert_eq!(reports, [SiteReport::Unreachable]);
    slurm.withdraw(attempt());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(
        slurm.reports(),
        [],
        "nothing is concluded, and nothing moves"
    );
    assert_eq!(
        (fake.calls("sbatch").len(), fake.calls("scontrol").len()),
        (1, 0)
    );
    // It has done what it did not acknowledge.
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.lists(&[(1, "PD", "Priority", "gw-7-2-9")]);
    until(&mut slurm, |report| *report == seen(Seen::Queued));
    assert_eq!(fake.calls("sbatch").len(), 1);
}

#[test]
fn a_command_that_hangs_is_given_up() {
    let fake = Fake::new();
    let mut slurm = fake.start_with(Span::from_secs(2));
    assert_eq!(slurm.survivors().unwrap(), []);
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    fake.does("squeue", "exec sleep 60");
    until(&mut slurm, |report| *report == SiteReport::Unreachable);
    let site = slurm.site().unwrap();
    assert!(
        site["contact"].as_str().unwrap().contains("no answer in 2"),
        "{site}"
    );
}

#[test]
fn an_attempt_is_held_then_taken_back_then_cancelled_and_cannot_begin_any_more() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    fake.lists_when_submitted(&[(1, "PD", "Priority", "gw-7-2-9")]);
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.wait_for_submission(1);
    slurm.withdraw(attempt());
    until(&mut slurm, |report| *report == seen(Seen::Vanished));
    assert_eq!(fake.calls("scontrol"), ["scontrol hold jobname=gw-7-2-9"]);
    wait("it is cancelled", || !fake.calls("scancel").is_empty());
    assert!(fake.calls("scancel")[0].ends_with("--name=gw-7-2-9"));
    // Slurm starts it all the same.
    assert_eq!(begin_at_site(&fake.attempt_folder()).unwrap(), 75);
    assert!(!fake.attempt_folder().join("supervisor").exists());
    // Its folder goes when it is out of the queue.
    slurm.forget(attempt());
    assert!(fake.attempt_folder().exists());
    fake.lists(&[]);
    wait("its folder is removed", || !fake.attempt_folder().exists());
}

#[test]
fn an_attempt_that_has_begun_is_not_taken_back_and_its_end_is_told_once() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    fake.lists_when_submitted(&[(1, "R", "None", "gw-7-2-9")]);
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.wait_for_submission(1);
    let path = fake.attempt_folder();
    assert_eq!(
        Fate::Begun(5_000_000).decide(&path).unwrap(),
        fate::Decided::Now
    );
    slurm.withdraw(attempt());
    until(&mut slurm, |report| {
        *report == seen(Seen::Started { at: t(5) })
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(fake.calls("scancel").is_empty());
    assert_eq!(begin_at_site(&path).unwrap(), 75, "it begins once");
    let verdict = |how: &str| Verdict {
        outcome: Kind::Done,
        how: how.to_owned(),
        began: 5_000_000,
        ended: 6_000_000,
    };
    let folder = Folder::new(&path);
    folder.write_verdict(&verdict("exit status 0")).unwrap();
    let ended = slurm.look();
    assert_eq!((ended.len(), ended[0].1.outcome), (1, Outcome::Done));
    assert!(slurm.look().is_empty());
    slurm.forget(attempt());
    assert!(!path.exists());
}

#[test]
fn the_next_life_finds_what_was_submitted_and_cancels_what_is_left_over() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    fake.lists_when_submitted(&[(1, "PD", "Priority", "gw-7-2-9")]);
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.wait_for_submission(1);
    drop(slurm);
    fake.lists(&[
        (1, "PD", "JobHeldUser", "gw-7-2-9"),
        (2, "PD", "Priority", "gw-7-2-9"),
        (3, "PD", "Priority", "gw-8-1-9"),
        (4, "PD", "Priority", "gw-8-1-10"),
    ]);
    let mut slurm = fake.start();
    assert_eq!(slurm.survivors().unwrap(), [], "it only waited");
    let reports = until(&mut slurm, |report| *report == SiteReport::Reachable);
    assert_eq!(reports[0], seen(Seen::Queued));
    let own = |report: &&SiteReport| matches!(report, SiteReport::Own { .. });
    assert_eq!(
        reports.iter().filter(own).count(),
        1,
        "that of the other node"
    );
    wait("it is released", || {
        fake.calls("scontrol")
            .iter()
            .any(|call| call == "scontrol release jobname=gw-7-2-9")
    });
    let cancelled = fake.calls("scancel").join("\n");
    assert!(cancelled.contains("--name=gw-7-2-9 2"), "{cancelled}");
    assert!(cancelled.contains("--name=gw-8-1-9"), "{cancelled}");
    assert!(!cancelled.contains("gw-8-1-10"), "{cancelled}");
    assert_eq!(fake.calls("sbatch").len(), 1);
}

#[test]
fn what_began_in_an_earlier_life_survives_it() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    slurm.queue(&start(), &NEEDS).unwrap();
    fake.wait_for_submission(1);
    drop(slurm);
    let path = fake.attempt_folder();
    let _ = Fate::Begun(5_000_000).decide(&path).unwrap();
    let mut slurm = fake.start();
    let survivors = slurm.survivors().unwrap();
    assert!(
        matches!(survivors[..], [(_, Survivor::Runs { .. })]),
        "{survivors:?}"
    );
    drop(slurm);
    // Its site has ended it: its home hears that it ran, and then that it is lost.
    let verdict = Verdict {
        outcome: Kind::Broke,
        how: ENDED.to_owned(),
        began: 5_000_000,
        ended: 6_000_000,
    };
    Folder::new(&path).write_verdict(&verdict).unwrap();
    let mut slurm = fake.start();
    let survivors = slurm.survivors().unwrap();
    assert!(
        matches!(survivors[..], [(_, Survivor::Runs { .. })]),
        "{survivors:?}"
    );
    assert!(slurm.look().is_empty());
    assert!(slurm.reports().contains(&seen(Seen::Vanished)));
}

#[test]
fn what_began_on_a_computer_that_is_lost_is_not_extended_and_is_told_gone_when_its_time_is_over() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    let soon = crate::clock::wall(0) + Span::from_secs(2);
    let start = Start {
        until: soon,
        ..start()
    };
    fake.lists_when_submitted(&[(1, "R", "None", "gw-7-2-9")]);
    slurm.queue(&start, &NEEDS).unwrap();
    fake.wait_for_submission(1);
    let folder = Folder::new(&fake.attempt_folder());
    let _ = Fate::Begun(5_000_000).decide(folder.path()).unwrap();
    until(&mut slurm, |report| {
        matches!(
            report,
            SiteReport::Attempt {
                seen: Seen::Started { .. },
                ..
            }
        )
    });
    let polls = || fake.calls("squeue").len();
    let next_polls = |more: usize| {
        let before = polls();
        wait("it polls", || polls() > before + more);
    };
    // While it is listed, it may go on.
    let later = soon + Span::from_secs(1);
    slurm.extend(attempt(), later);
    assert_eq!(folder.until(), later);
    fake.lists(&[]);
    next_polls(2);
    slurm.extend(attempt(), later + Span::from_secs(60));
    assert_eq!(folder.until(), later);
    until(&mut slurm, |report| *report == seen(Seen::Vanished));
    assert!(crate::clock::wall(0) >= later);
}

#[test]
fn an_attempt_that_is_refused_is_told_gone_and_the_site_takes_no_more_for_a_while() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    fake.does(
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Invalid account' >&2; exit 1",
    );
    slurm.queue(&start(), &NEEDS).unwrap();
    let reports = until(&mut slurm, |report| *report == SiteReport::Unreachable);
    assert_eq!(reports, [seen(Seen::Vanished), SiteReport::Unreachable]);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(slurm.reports(), []);
}

#[test]
fn a_poke_makes_the_next_poll_sooner() {
    let fake = Fake::new();
    let mut slurm = fake.first();
    until(&mut slurm, |report| *report == SiteReport::Reachable);
    poke(fake.folder.path()).unwrap();
    wait("it polls again", || fake.calls("squeue").len() > 2);
}
