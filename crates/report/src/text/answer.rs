//! The answer on a screen: first, and again last where the screen is long.

use model::answer::AnswerDoc;
use model::doc::NextStep;

use super::logs_answers::shown_name;
use super::{Look, Tone, hang, width, wrap};

/// Lines of the smallest usual terminal: what stands above the last of them has scrolled away.
const SCREEN: usize = 24;

/// The sentence in front of a screen, with a full stop and a blank line behind it.
pub fn first(answer: Option<&AnswerDoc>, look: Look) -> String {
    let Some(answer) = answer else { return String::new() };
    let lines = wrap(&shown_name(&answer.sentence), look.columns);
    let mut out: String =
        lines.iter().map(|line| format!("{}\n", Tone::Bold.paint(line, look.paint))).collect();
    out.push('\n');
    out
}

/// True where the beginning of a screen scrolls away.
pub fn is_long(screen: &str) -> bool {
    screen.lines().count() > SCREEN
}

/// The screen with the sentence at its end, where its beginning has scrolled away.
pub fn last(mut screen: String, sentence: Option<&str>, look: Look) -> String {
    if let Some(sentence) = sentence.filter(|_| is_long(&screen)) {
        let head = format!("{:<7} ", "answer");
        screen.push('\n');
        screen.push_str(&hang(&head, &shown_name(sentence), look.columns.max(width(&head) + 8)));
    }
    screen
}

/// The next step of a comparison; what is not worth its time is no step to try.
pub fn next(step: &NextStep, look: Look) -> String {
    let head = format!("{:<7} ", if step.is_worth_trying() { "try" } else { "open" });
    hang(&head, &step.to_string(), look.columns.max(width(&head) + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_screen_ends_with_its_answer() {
        let answer = AnswerDoc { sentence: "36,400 requests/s".to_owned(), ..AnswerDoc::default() };
        assert_eq!(first(Some(&answer), Look::plain()), "36,400 requests/s\n\n");
        let screen = |lines: usize| last("x\n".repeat(lines), Some(&answer.sentence), Look::plain());
        assert!(!screen(24).contains("answer"));
        assert!(screen(25).ends_with("x\n\nanswer  36,400 requests/s\n"));
        assert_eq!(first(None, Look::plain()), "");
    }
}
