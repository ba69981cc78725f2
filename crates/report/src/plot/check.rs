//! Checks on finished markup for tests: tags balance, numbers are numbers, text stays inside.

/// Attributes of a tag, without quotes.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let mark = format!(" {name}=\"");
    let start = tag.find(&mark)? + mark.len();
    tag[start..].split('"').next()
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Every opening tag has its closing one, in order.
pub fn balanced(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in text.split('<').skip(1) {
        let tag = part.split('>').next().expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap_or("");
        if tag.starts_with('!') || ["meta", "br", "hr", "input", "link"].contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "near {}", &part[..part.len().min(80)]);
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

/// No attribute of the drawing holds anything but finite numbers.
pub fn finite(text: &str) {
    for tag in text.split('<').skip(1).filter_map(|p| p.split('>').next()) {
        for name in ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "d", "viewBox"] {
            let Some(value) = attribute(tag, name) else { continue };
            assert!(!value.contains("NaN") && !value.contains("inf"), "{tag}");
            if ["width", "height"].contains(&name) {
                assert!(!value.starts_with('-'), "{tag}");
            }
        }
    }
}

/// Every text of every drawing with a viewBox lies inside it, and no two overlap.
pub fn inside(text: &str) {
    for drawing in text.split("<svg").skip(1) {
        let Some(view) = drawing.split('>').next().and_then(|tag| attribute(tag, "viewBox")) else {
            continue;
        };
        let sides: Vec<f64> = view.split(' ').map(|n| n.parse().expect("a number")).collect();
        let mut seen: Vec<(super::labels::Area, String)> = Vec::new();
        for label in drawing.split("<text").skip(1) {
            let (tag, rest) = label.split_once('>').expect("a tag ends");
            let said = unescape(rest.split('<').next().unwrap_or(""));
            let number =
                |name| attribute(tag, name).and_then(|n| n.parse::<f64>().ok()).expect("a coordinate");
            let bold = if tag.contains("\"sl") { 1.08 } else { 1.0 };
            // The estimate of widths is generous; a tenth of it is not drawn.
            let width = super::text_width(&said) * bold * 0.9;
            let (x, y) = (number("x"), number("y"));
            let start = match attribute(tag, "text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            let area = super::labels::Area { x: start, y: y - 8.0, width, height: 9.0 };
            let within = start >= -1.0 && start + width <= sides[2] + 1.0 && y >= 7.0 && y <= sides[3];
            assert!(within, "{said:?} at {area:?} leaves {view}");
            let other = seen.iter().find(|(a, _)| a.meets(area));
            assert!(other.is_none(), "{said:?} at {area:?} meets {other:?}");
            seen.push((area, said));
        }
    }
}
