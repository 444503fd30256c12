//! What is wrong with a file, as one sentence that names the place and the fix.

use std::fmt;
use std::sync::Arc;

/// Where a value was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Without a name where the text was made in code: its lines say nothing to anybody.
    File { file: Arc<str>, line: u32 },
    /// A key and its value from the command line or from code; the label says which (`--set `).
    Override { label: Arc<str>, key: Arc<str>, raw: Arc<str> },
    /// Nowhere: the table of keys gives it.
    Default,
}

impl Origin {
    pub fn line(&self) -> Option<u32> {
        match self {
            Origin::File { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// What stands before a sentence about it: `run.toml:12: `.
    pub fn place(&self) -> String {
        match self {
            Origin::File { file, .. } if file.is_empty() => String::new(),
            Origin::File { file, line } => format!("{file}:{line}: "),
            Origin::Override { label, key, raw } => format!("{label}{key}={raw}: "),
            Origin::Default => String::new(),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub origin: Origin,
    /// Where in the file, `link.air.queue.kind`; empty for the whole file.
    pub key: String,
    /// What was found there, as the file has it.
    pub found: Option<String>,
    /// The rest of the sentence: `is no queue; did you mean ...`.
    pub says: String,
}

impl Problem {
    fn sentence(&self) -> String {
        let says = &self.says;
        match (&self.origin, &*self.key, &self.found) {
            // The override itself is the subject.
            (Origin::Override { label, key, raw }, own, Some(_)) if **key == *own => {
                format!("{label}{key}={raw} {says}")
            }
            (_, "", _) => format!("{}{says}", self.origin.place()),
            (_, key, Some(found)) => format!("{}{key} = {found} {says}", self.origin.place()),
            (_, key, None) => format!("{}{key} {says}", self.origin.place()),
        }
    }
}

impl fmt::Display for Problem {
    /// One line, whatever stood in the file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence().replace(is_unseen, " "))
    }
}

/// A character that a terminal would obey instead of showing it: controls, line ends, and those that change the
/// direction or hide what follows.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// All that is wrong, or as much of it as anybody reads, the first first. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors(pub Vec<Problem>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// Collects what is wrong while reading goes on.
#[derive(Debug, Default)]
pub struct Problems {
    said: Vec<Problem>,
    unsaid: u64,
}

/// A file of another kind may have a mistake in each line.
const MOST_SAID: usize = 100;

impl Problems {
    pub fn add(&mut self, origin: &Origin, key: &str, found: Option<&str>, says: impl Into<String>) {
        let problem = Problem {
            origin: origin.clone(),
            key: shortened(key),
            found: found.map(str::to_owned),
            says: says.into(),
        };
        // Both directions of a link, and every source of a flow, would repeat the same sentence.
        if self.said.contains(&problem) {
            return;
        }
        if self.said.len() < MOST_SAID {
            self.said.push(problem);
        } else {
            self.unsaid += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// No more is said of what is wrong: to look for the word that was meant, among all names of a file, is not worth it.
    pub fn is_full(&self) -> bool {
        self.said.len() >= MOST_SAID
    }

    /// In the order of the file's lines; what overrides brought comes first, as it was said last.
    pub fn into_result<T>(mut self, value: Option<T>) -> Result<T, Errors> {
        match value {
            Some(value) if self.said.is_empty() => Ok(value),
            _ => {
                self.said.sort_by_key(|p| p.origin.line().unwrap_or(0));
                if self.unsaid > 0 {
                    let says = format!("… and {} more mistakes", self.unsaid);
                    self.said.push(Problem {
                        origin: Origin::Default,
                        key: String::new(),
                        found: None,
                        says,
                    });
                }
                Err(Errors(self.said))
            }
        }
    }
}

/// ` did you mean "x"?` where something near is allowed, and nothing else otherwise.
pub fn did_you_mean<'a>(word: &str, allowed: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, allowed) {
        Some(near) => format!("; did you mean {near:?}?"),
        None => String::new(),
    }
}

const LONGEST_WORD: usize = 200;

/// The allowed word that was probably meant: a few letters differ, or only case, hyphens and the like do.
pub fn nearest<'a>(word: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nothing is called like that, and the distance takes time and memory by the product of both lengths.
    if word.len() > LONGEST_WORD {
        return None;
    }
    let plain = simplified(word);
    let mut best: Option<(usize, &str)> = None;
    for candidate in allowed {
        let other = simplified(candidate);
        // Of names of a letter or two any is near any other.
        let limit = plain.chars().count().max(other.chars().count()) / 3;
        let distance = strsim::damerau_levenshtein(&plain, &other);
        // A part of a long name says enough.
        let part = plain.len() >= 3 && (other.starts_with(&plain) || other.ends_with(&plain));
        let whole = other.len() >= 3 && plain.starts_with(&other);
        let distance = if part || whole { distance.min(limit) } else { distance };
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Keys are as long as a file has them: the end of one says more than its beginning.
fn shortened(key: &str) -> String {
    const SHOWN: usize = 200;
    match key.char_indices().nth_back(SHOWN - 1) {
        Some((cut, _)) if cut > 0 => format!("…{}", &key[cut..]),
        _ => key.to_owned(),
    }
}

fn simplified(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric() || *c == '.').flat_map(char::to_lowercase).collect()
}

/// ` (a, b, c)`, shortened where there are very many; nothing where there is nothing to list.
pub fn listed<'a>(allowed: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 60;
    let all: Vec<&str> = allowed.into_iter().collect();
    match all.len() {
        0 => String::new(),
        n if n > SHOWN => format!(" ({} and {} more)", all[..SHOWN].join(", "), n - SHOWN),
        _ => format!(" ({})", all.join(", ")),
    }
}
