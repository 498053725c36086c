//! Searching every session: what is found is what other readers see, and nothing is passed over in silence.

// The allowance for tests does not reach the functions that tests share.
#![allow(clippy::unwrap_used)]

use std::fs;

use ambient_engine::editing::{self, Matching, Pattern, Reach, Repair, Selection};
use ambient_engine::search::{Needle, Page, Search, search};
use ambient_engine::session::{Directory, SessionDirectory, SessionId};
use ambient_engine::{Event, Line, Opened, Options, Origin, SystemClock, Track};
use tempfile::TempDir;

struct Sessions(TempDir);

impl Sessions {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A session that began on this day of March and holds these lines, a second apart.
    fn add(&self, day: u32, texts: &[&str]) -> SessionDirectory {
        let id = format!("2026-03-{day:02}T0930");
        fs::create_dir(self.0.path().join(&id)).unwrap();
        let root = Directory::open(self.0.path()).unwrap();
        let session = SessionDirectory::open(&root, &SessionId::new(&id).unwrap()).unwrap().unwrap();
        let opened = Event::Opened(Opened {
            id: id.clone(),
            name: None,
            started_at: format!("2026-03-{day:02}T09:30:00Z"),
            origin: Origin::Transcribed,
            program: "a test".to_owned(),
            tracks: Vec::new(),
        });
        let line = |(second, text): (u64, &&str)| {
            Event::Line(Line {
                track: if second % 2 == 0 { Track::Room } else { Track::Call },
                start_ms: second * 1_000,
                end_ms: second * 1_000 + 900,
                text: (*text).to_owned(),
                confidence: 0.9,
                language: None,
                generation: 0,
                audio: None,
                overlap: false,
            })
        };
        let events: Vec<Event> = [opened].into_iter().chain((0..).zip(texts).map(line)).collect();
        session.create_log(Options::default()).unwrap().append(&events).unwrap();
        session
    }

    /// A session of the older layout.
    fn add_older(&self, id: &str, texts: &[&str]) {
        let folder = self.0.path().join(id);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("session.json"), format!("{{\"id\":\"{id}\"}}")).unwrap();
        let record = |(second, text): (u64, &&str)| {
            let times = format!("\"start_ms\":{},\"end_ms\":{}", second * 1_000, second * 1_000 + 900);
            format!("{{\"track\":\"room\",{times},\"text\":\"{text}\",\"confidence\":0.9}}\n")
        };
        fs::write(folder.join("raw.jsonl"), (0..).zip(texts).map(record).collect::<String>()).unwrap();
    }

    fn search(&self, wanted: &Search) -> Page {
        search(self.0.path(), wanted, &SystemClock).unwrap()
    }

    fn words(&self, words: &str) -> Vec<String> {
        hits(&self.search(&Search::new(Needle::words(words).unwrap())))
    }
}

/// Day and number of each line that was found.
fn hits(page: &Page) -> Vec<String> {
    page.hits.iter().map(|hit| format!("{}:{}", &hit.session[8..10], hit.line)).collect()
}

#[test]
fn words_are_found_in_every_layout_newest_session_first() {
    let sessions = Sessions::new();
    sessions.add(1, &["the budget", "nothing", "Budget again"]);
    sessions.add_older("2026-03-02T0930", &["a BÜDGET of one's own"]);
    sessions.add(3, &["no money", "budgets"]);
    assert_eq!(sessions.words("budget"), ["03:1", "02:0", "01:0", "01:2"]);
    assert_eq!(sessions.words("  büdget "), ["03:1", "02:0", "01:0", "01:2"]);
    assert_eq!(sessions.words("the budget"), ["01:0"]);
    let whole = Search::new(Needle::whole_words("budget").unwrap());
    assert_eq!(hits(&sessions.search(&whole)), ["02:0", "01:0", "01:2"]);
    let regex = Search::new(Needle::regex("^B.*n$").unwrap());
    assert_eq!(hits(&sessions.search(&regex)), ["01:2"]);
}

#[test]
fn any_script_and_any_sign_is_looked_for_as_it_is() {
    let sessions = Sessions::new();
    sessions.add(1, &["今日の会議は長い", "ticket bd-q3fy is C++", "foo_bar(x)", "a* b", "Ёлка"]);
    let cases = [
        ("会議", "01:0"),
        ("BD-Q3FY", "01:1"),
        ("c++", "01:1"),
        ("foo_bar(", "01:2"),
        ("a*", "01:3"),
        ("елка", "01:4"),
    ];
    for (words, wanted) in cases {
        assert_eq!(sessions.words(words), [wanted], "{words}");
    }
    assert!(sessions.words("会長").is_empty());
}

#[test]
fn what_was_hidden_or_repaired_is_found_as_it_reads_now_at_once() {
    let sessions = Sessions::new();
    let session = sessions.add(1, &["ask Crea", "my salary", "Crea again"]);
    editing::apply(&session, |draft| {
        let lines = Selection { lines: vec![1..=1], ..Selection::default() };
        draft.hide(&lines, Matching::Any, "private")
    })
    .unwrap();
    let crea = Pattern::words("Crea").unwrap();
    let repair = Repair { from: &crea, to: "Priya", reach: Reach::All };
    editing::apply(&session, |draft| draft.repair(&Selection::default(), repair)).unwrap();
    assert!(sessions.words("salary").is_empty());
    assert!(sessions.words("crea").is_empty());
    assert_eq!(sessions.words("priya"), ["01:0", "01:2"]);
    editing::apply(&session, |draft| draft.undo(None)).unwrap();
    assert_eq!(sessions.words("crea"), ["01:0", "01:2"]);
}

#[test]
fn pages_follow_each_other_without_a_gap() {
    let sessions = Sessions::new();
    for day in 1..=9 {
        sessions.add(day, &["one word", "other", "the word"]);
    }
    let all = sessions.words("word");
    assert_eq!((all.len(), all[0].as_str()), (18, "09:0"));
    let mut paged = Vec::new();
    let mut wanted = Search { limit: 5, ..Search::new(Needle::words("word").unwrap()) };
    loop {
        let page = sessions.search(&wanted);
        paged.extend(hits(&page));
        wanted.skip += page.hits.len();
        if !page.more {
            break;
        }
        assert_eq!(page.hits.len(), 5);
    }
    assert_eq!(paged, all);
    let nothing = Search { skip: 99, ..wanted };
    assert!(sessions.search(&nothing).hits.is_empty());
}

#[test]
fn a_search_is_narrowed_by_session_time_speaker_and_track() {
    let sessions = Sessions::new();
    let first = sessions.add(1, &["word", "word"]);
    sessions.add(2, &["word", "word"]);
    editing::apply(&first, |draft| {
        draft.name(&Selection { lines: vec![0..=0], ..Selection::default() }, "Ada")
    })
    .unwrap();
    let word = || Search::new(Needle::words("word").unwrap());
    let at = |moment: &str| Some(moment.parse().unwrap());
    let of_session = Search { session: Some("2026-03-01".into()), ..word() };
    assert_eq!(hits(&sessions.search(&of_session)), ["01:0", "01:1"]);
    let of_ada = Search { speaker: Some("Ada".into()), ..word() };
    assert_eq!(hits(&sessions.search(&of_ada)), ["01:0"]);
    let of_call = Search { track: Some(Track::Call), ..word() };
    assert_eq!(hits(&sessions.search(&of_call)), ["02:1", "01:1"]);
    let later = Search { since: at("2026-03-02T00:00:00Z"), ..word() };
    assert_eq!(hits(&sessions.search(&later)), ["02:0", "02:1"]);
    let earlier = Search { until: at("2026-03-02T00:00:00Z"), ..word() };
    assert_eq!(hits(&sessions.search(&earlier)), ["01:0", "01:1"]);
}

#[test]
fn a_hit_tells_where_and_what_stands_beside() {
    let sessions = Sessions::new();
    sessions.add(1, &["one", "two", "the café, Café", "four", "five"]);
    let wanted = Search { context: 1, ..Search::new(Needle::words("cafe").unwrap()) };
    let page = sessions.search(&wanted);
    let hit = &page.hits[0];
    assert_eq!((hit.line, hit.start_ms, hit.places.as_slice()), (2, 2_000, &[(4, 8), (10, 14)][..]));
    let beside =
        |lines: &[ambient_engine::search::Beside]| lines.iter().map(|line| line.line).collect::<Vec<_>>();
    assert_eq!((beside(&hit.before), beside(&hit.behind)), (vec![1], vec![3]));
}

#[test]
fn the_best_come_first_when_ranked() {
    let sessions = Sessions::new();
    sessions.add(
        1,
        &["rust rust rust", "a long talk in which nobody mentions anything but trust and more of that"],
    );
    sessions.add(2, &["rust"]);
    let ranked = Search { is_ranked: true, ..Search::new(Needle::words("rust").unwrap()) };
    assert_eq!(hits(&sessions.search(&ranked)), ["01:0", "02:0", "01:1"]);
    assert_eq!(hits(&sessions.search(&Search { limit: 1, ..ranked })), ["01:0"]);
}

#[test]
fn a_session_that_cannot_be_read_is_named_and_the_others_are_searched() {
    let sessions = Sessions::new();
    sessions.add(1, &["word"]);
    sessions.add(2, &["word"]);
    let segment = sessions.0.path().join("2026-03-02T0930/log/0000000000.seg");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[..8].fill(0);
    fs::write(&segment, bytes).unwrap();
    let page = sessions.search(&Search::new(Needle::words("word").unwrap()));
    assert_eq!(hits(&page), ["01:0"]);
    assert_eq!(page.unsearched.len(), 1);
    assert_eq!(page.unsearched[0].session, "2026-03-02T0930");
    assert!(!page.unsearched[0].error.is_empty());
}
