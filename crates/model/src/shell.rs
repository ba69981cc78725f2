//! Words of commands that people paste into a shell.

/// The text as one word of a shell command, quoted if needed.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=~@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// `` `boxscore run` ``, or `` on north `boxscore run` `` where it has to run on another machine.
pub fn placed(on: Option<&str>, command: &str) -> String {
    let on = on.map_or_else(String::new, |on| format!("on {on} "));
    format!("{on}`{command}`")
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_split_or_expand_it() {
        assert_eq!(
            [word("box-1.a"), word("a b"), word(""), word("it's")],
            ["box-1.a", "'a b'", "''", "'it'\\''s'"]
        );
    }
}
