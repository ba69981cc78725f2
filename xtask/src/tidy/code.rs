//! Rust text with everything that is not code blanked, and where its tests and functions are.
//!
//! A scanner, not a parser: enough for house rules. Positions and line numbers stay those of the text.

/// The text with comments, string and character literals replaced by spaces; newlines stay.
pub fn blanked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end > at {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            // An identifier is taken whole, so that the `r` of `for"` is never a raw string.
            let start = at;
            while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                at += 1;
            }
            at = at.max(start + 1);
            out.extend(&chars[start..at]);
        }
    }
    out
}

/// The end of the comment or literal that starts at `at`, or `at` itself where none does.
fn literal_end(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied().unwrap_or('\0');
    match chars[at] {
        '/' if next(1) == '/' => position(chars, at, |c| c == '\n'),
        '/' if next(1) == '*' => block_comment_end(chars, at),
        '"' => quoted_end(chars, at),
        'b' | 'c' if next(1) == '"' => quoted_end(chars, at + 1),
        'r' if next(1) == '"' || next(1) == '#' => raw_end(chars, at, at + 1),
        'b' | 'c' if next(1) == 'r' && (next(2) == '"' || next(2) == '#') => raw_end(chars, at, at + 2),
        'b' if next(1) == '\'' => char_end(chars, at + 1),
        '\'' => char_end(chars, at).max(at),
        _ => at,
    }
}

fn position(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    let from = from.min(chars.len());
    chars[from..].iter().position(|c| wanted(*c)).map_or(chars.len(), |offset| from + offset)
}

fn block_comment_end(chars: &[char], from: usize) -> usize {
    let (mut depth, mut at) = (0_usize, from);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn quoted_end(chars: &[char], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// `hashes` is where the `#`s of a raw string begin; a raw identifier (`r#type`) is code.
fn raw_end(chars: &[char], start: usize, hashes: usize) -> usize {
    let open = position(chars, hashes, |c| c != '#');
    if chars.get(open) != Some(&'"') {
        return start;
    }
    let count = open - hashes;
    let mut at = open + 1;
    while at < chars.len() {
        if chars[at] == '"' && chars[at + 1..].iter().take_while(|c| **c == '#').count() >= count {
            return at + 1 + count;
        }
        at += 1;
    }
    chars.len()
}

/// The end of a character literal; a lifetime is code.
fn char_end(chars: &[char], quote: usize) -> usize {
    let next = |offset: usize| chars.get(quote + offset).copied().unwrap_or('\0');
    if next(1) == '\\' {
        return position(chars, quote + 3, |c| c == '\'').saturating_add(1).min(chars.len());
    }
    if next(2) == '\'' { quote + 3 } else { quote }
}

/// The line (from 1) after which a file holds only tests, where it ends in `#[cfg(test)] mod`.
pub fn first_test_line(code: &str) -> usize {
    let mut attribute = None;
    for (number, line) in super::source::lines(code) {
        let line = line.trim();
        if line.starts_with("#[cfg(test)]") {
            attribute = Some(number);
        } else if line.contains("mod ") && line.ends_with('{') && attribute.is_some() {
            return attribute.unwrap_or(number);
        } else if !line.is_empty() && !line.starts_with("#[") {
            attribute = None;
        }
    }
    usize::MAX
}

/// A function with its first and last line (from 1).
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub first: usize,
    pub last: usize,
}

/// Every function that has a body, in order of its first line.
pub fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let (mut depth, mut brackets) = (0_i64, 0_i64);
    let mut pending: Option<(String, usize)> = None;
    let mut open: Vec<(i64, String, usize)> = Vec::new();
    for (number, line) in super::source::lines(code) {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let word: &str =
                &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())];
            if word == "fn" {
                let name = rest[2..].trim_start();
                let name =
                    &name[..name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len())];
                if !name.is_empty() {
                    pending = Some((name.into(), number));
                    brackets = 0;
                }
            }
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                ';' if brackets == 0 => pending = None,
                '{' => {
                    depth += 1;
                    if let Some((name, first)) = pending.take() {
                        open.push((depth, name, first));
                    }
                }
                '}' => {
                    if let Some((_, name, first)) = open.pop_if(|(at, ..)| *at == depth) {
                        found.push(Function { name, first, last: number });
                    }
                    depth -= 1;
                }
                _ => {}
            }
            rest = &rest[word.len().max(c.len_utf8())..];
        }
    }
    found.sort_by_key(|function| function.first);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_literals_and_keeps_the_lines() {
        let text = "let a = \"x // \\\" y\"; // note\n\
                    let b = r#\"one \" two\n\"#; /* a /* b */ c */ \
                    f('\\'', 'x', &'s)";
        let code = blanked(text);
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(code.chars().count(), text.chars().count());
        let words: Vec<&str> = code.split_whitespace().collect();
        assert_eq!(words.join(" "), "let a = ; let b = ; f( , , &'s)");
    }

    #[test]
    fn lifetimes_and_raw_identifiers_are_code() {
        let text = "fn f<'a>(x: &'a str, r#type: u8) {}";
        assert_eq!(blanked(text), text);
    }

    #[test]
    fn text_that_ends_midway_is_no_trouble() {
        for text in ["\"abc", "/* abc", "r##\"abc\"#", "'", "'\\", "b'", "b'\\", "//", "\"\\"] {
            assert_eq!(blanked(text).chars().count(), text.chars().count(), "{text}");
        }
    }

    #[test]
    fn functions_have_their_lines_whatever_is_nested() {
        let text = "impl A {\n    fn one(&self) -> [u8; 4] {\n        if x { y() }\n    }\n    fn two();\n}\n\
                    fn three(f: fn(u8) -> u8) where A: B {\n    fn inner() {}\n}\n";
        let names: Vec<(String, usize, usize)> =
            functions(text).into_iter().map(|f| (f.name, f.first, f.last)).collect();
        let expected = [("one", 2, 4), ("three", 7, 9), ("inner", 8, 8)];
        assert_eq!(names, expected.map(|(name, first, last)| (name.to_owned(), first, last)));
    }

    #[test]
    fn tests_begin_at_their_attribute() {
        assert_eq!(first_test_line("fn a() {}\n#[cfg(test)]\nmod tests {\n}\n"), 2);
        assert_eq!(first_test_line("#[cfg(test)]\nuse x;\nfn a() {}\n"), usize::MAX);
    }
}
