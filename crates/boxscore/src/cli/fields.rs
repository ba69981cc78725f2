//! The fields of every JSON document as Markdown, a line a field, read from the documents' schemas.
//!
//! Objects that several documents hold are listed once, behind the documents. The schemas themselves are longer and
//! more exact: `boxscore schema VERB` prints them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Documents and the objects in them; the documents by verb.
pub fn list(documents: &[(&str, Value)]) -> String {
    let mut parts: BTreeMap<&str, &Value> = BTreeMap::new();
    let mut verbs: Vec<(Vec<&str>, &Value)> = Vec::new();
    for (verb, schema) in documents {
        let inner = schema.get("$defs").and_then(Value::as_object);
        parts.extend(inner.into_iter().flatten().map(|(name, part)| (name.as_str(), part)));
        match verbs.iter_mut().find(|(_, known)| *known == schema) {
            Some((same, _)) => same.push(*verb),
            None => verbs.push((vec![*verb], schema)),
        }
    }
    let mut text = String::from("\n# Documents\n");
    for (verbs, schema) in verbs {
        text.push_str(&entry(2, &verbs.join(", "), schema));
    }
    text.push_str("\n# Objects within them\n");
    for (name, part) in parts {
        text.push_str(&entry(3, name, part));
    }
    text
}

/// A heading, what the object is, and its fields or the values that it can have.
fn entry(level: usize, name: &str, schema: &Value) -> String {
    let mut text = format!("\n{} {name}\n\n", "#".repeat(level));
    let about = says(schema);
    if !about.is_empty() {
        text.push_str(&format!("{about}\n\n"));
    }
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        text.push_str(&format!("- `{name}` ({}){}\n", kind(field), behind(&says(field))));
    }
    let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    for choice in choices.into_iter().flatten() {
        let fields = choice.get("properties").and_then(Value::as_object).map(values).unwrap_or_default();
        text.push_str(&format!("- {}{fields}{}\n", kind(choice), behind(&says(choice))));
    }
    if fields.is_none() && choices.is_none() {
        text.push_str(&format!("- {}\n", kind(schema)));
    }
    text
}

/// ` with a, b` of the fields of one of several forms; the field that names the form has its value.
fn values(fields: &Map<String, Value>) -> String {
    let one = |(name, field): (&String, &Value)| match field.get("const") {
        Some(value) => format!("`{name}` = {value}"),
        None => format!("`{name}`"),
    };
    format!(" with {}", fields.iter().map(one).collect::<Vec<_>>().join(", "))
}

/// The description of a schema on one line.
fn says(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A description behind a field; nothing where there is none.
fn behind(says: &str) -> String {
    if says.is_empty() { String::new() } else { format!(": {says}") }
}

/// The type in words: `number or null`, `list of RowDoc`.
fn kind(schema: &Value) -> String {
    let get = |key: &str| schema.get(key);
    if let Some(name) = get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    if let Some(value) = get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = get("enum").and_then(Value::as_array) {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(forms) = get("anyOf").and_then(Value::as_array) {
        return forms.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    let plain = |name: &str| match name {
        "array" if get("prefixItems").is_some() => {
            let items = get("prefixItems").and_then(Value::as_array).into_iter().flatten();
            format!("[{}]", items.map(kind).collect::<Vec<_>>().join(", "))
        }
        "array" => format!("list of {}", get("items").map_or("any".to_owned(), kind)),
        "object" => match get("additionalProperties").filter(|other| other.is_object()) {
            Some(value) => format!("map from text to {}", kind(value)),
            None => "object".to_owned(),
        },
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    match get("type") {
        Some(Value::String(name)) => plain(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(plain).collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_one_line_and_a_shared_object_stands_once() {
        let part = json!({"type": "object", "properties": {"unit": {"enum": ["s", "B"]}}});
        let schema = |says: &str| {
            json!({
                "description": says,
                "properties": {
                    "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}, "description": "In\norder."},
                    "why": {"type": ["string", "null"]},
                    "at": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}]},
                    "errors": {"type": "object", "additionalProperties": {"type": "integer"}},
                    "peak": {"anyOf": [{"$ref": "#/$defs/Row"}, {"type": "null"}]},
                },
                "$defs": {"Row": part.clone()},
            })
        };
        let text =
            list(&[("run", schema("Of a run.")), ("show", schema("Of a run.")), ("load", schema("x"))]);
        for line in [
            "## run, show",
            "- `rows` (list of Row): In order.",
            "- `why` (text or null)",
            "- `at` ([number, number])",
            "- `errors` (map from text to integer)",
            "- `peak` (Row or null)",
            "- `unit` (`\"s\"`, `\"B\"`)",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert_eq!((text.matches("### Row").count(), text.matches("## load").count()), (1, 1));
    }

    #[test]
    fn forms_are_told_apart_by_their_values() {
        let schema = json!({"oneOf": [
            {"const": "tie", "description": "Neither."},
            {"type": "object", "properties": {"kind": {"const": "held"}, "runs": {"type": "integer"}}},
        ]});
        let text = entry(3, "Why", &schema);
        assert!(text.contains("- `\"tie\"`: Neither.\n"), "{text}");
        assert!(text.contains("- object with `kind` = \"held\", `runs`\n"), "{text}");
    }
}
