//! Programs that asked a server, by their names in its log.

/// A program by a name of a few words: `Googlebot/2.1`, `Firefox on Windows`.
pub fn short_agent(agent: &str) -> String {
    const LONGEST: usize = 28;
    let agent = shown_name(agent);
    if let Some(rest) = agent.split("compatible; ").nth(1) {
        return first_letters(rest.split([';', ')', ' ']).next().unwrap_or(rest), LONGEST);
    }
    let browsers = [
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        // Pages within an app.
        ("AppleWebKit/", "WebKit"),
    ];
    let systems = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find = |all: &[(&str, &'static str)]| {
        all.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name)
    };
    match (find(&browsers).filter(|_| agent.starts_with("Mozilla/")), find(&systems)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ => first_letters(agent.split(' ').next().unwrap_or(&agent), LONGEST),
    }
}

/// A name as it may stand on a terminal.
pub fn shown_name(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

/// At most so many letters, with a sign where some are left out.
fn first_letters(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
