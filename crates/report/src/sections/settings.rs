//! The settings in which runs differ, each with its value on both sides.

use maud::{Markup, html};
use model::doc::{SettingDoc, SettingsDoc};
use model::format::count;

use crate::many::{Line, together};
use crate::page::{self, Column};
use crate::section::{ReportInput, Section};
use crate::theme::Trust;

pub static SECTION: Section = Section::new(6, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let all = &input.compare.as_ref()?.settings;
    if input.has_many() { of_many(all) } else { section(all) }
}

/// Each difference once, behind the sides that have it.
fn of_many(all: &[SettingsDoc]) -> Option<Markup> {
    let first = all.first()?;
    let lines = all.iter().flat_map(|one| {
        one.differ.iter().map(|setting| Line {
            trust: Trust::Info,
            name: one.arm.clone(),
            text: setting.text(),
        })
    });
    Some(page::section("settings", &title(first), &together(lines.collect())))
}

fn section(all: &[SettingsDoc]) -> Option<Markup> {
    let title = title(all.first()?);
    let body = html! { @for one in all {
        @if all.len() > 1 { h3 { (one.base) " and " (one.arm) } }
        (table(one))
    } };
    Some(page::section("settings", &title, &body))
}

/// How many differ, and the one that may matter most.
fn title(one: &SettingsDoc) -> String {
    let how_many = count(one.differ.len(), "setting");
    let first = one.differ.first().map(SettingDoc::text).unwrap_or_default();
    match one.differ.len() {
        1 => format!("{} and {} differ in one setting: {first}", one.base, one.arm),
        _ => format!("{} and {} differ in {how_many}, such as {first}", one.base, one.arm),
    }
}

fn table(one: &SettingsDoc) -> Markup {
    let head =
        [("setting", Column::Text), (one.base.as_str(), Column::Text), (one.arm.as_str(), Column::Text)];
    let row = |setting: &SettingDoc| {
        vec![html! { (setting.name) }, html! { (setting.base) }, html! { (setting.arm) }]
    };
    page::table(&head, &one.differ.iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(settings: &[SettingsDoc]) -> Option<String> {
        section(settings).map(Markup::into_string)
    }

    fn side(arm: &str, names: &[&str]) -> SettingsDoc {
        let differ = names.iter().map(|name| SettingDoc {
            name: (*name).to_owned(),
            key: None,
            base: "8".to_owned(),
            arm: "<4096>".to_owned(),
        });
        SettingsDoc {
            base: "before".to_owned(),
            arm: arm.to_owned(),
            same_machine: true,
            differ: differ.collect(),
        }
    }

    #[test]
    fn each_side_has_a_table_and_the_title_names_the_first_setting() {
        assert_eq!(drawn(&[]), None);
        let one = drawn(&[side("after", &["net.core.somaxconn"])]).unwrap();
        assert!(
            one.contains(
                "before and after differ in one setting: net.core.somaxconn (8 against &lt;4096&gt;)"
            ),
            "{one}"
        );
        assert!(!one.contains("<h3>") && one.contains("&lt;4096&gt;</td>"), "{one}");
        let two = drawn(&[side("after", &["a", "b"]), side("later", &["c"])]).unwrap();
        assert!(two.contains("differ in 2 settings, such as a (8 against"), "{two}");
        assert_eq!(two.matches("<table").count(), 2);
        assert!(two.contains("<h3>before and later</h3>"), "{two}");
    }
}
