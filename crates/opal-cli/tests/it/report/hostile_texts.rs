//! 200 texts that would be markup, script or style, end an element, or act on whoever reads them.

/// What must stay text.
const PAYLOADS: [&str; 25] = [
    "<script>document.title='owned'</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href=javascript:alert(1)>click</a>",
    "<body onload=alert(1)>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "<base href=//evil.example>",
    "<form action=//evil.example><input name=q></form>",
    "<object data=//evil.example></object>",
    "<template><b>x</b></template>",
    "<math><mtext></mtext><mglyph><style></math>",
    "<details open ontoggle=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;b&#62;&amp;&nbsp;&copy;",
    "<!-- <script> --> <![CDATA[ x ]]> <?xml version='1.0'?>",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)}",
    "\u{202e}tpircs\u{202c} \u{2066}hidden\u{2069} \u{200b}zero\u{200d}width\u{feff}",
    "\u{1b}]8;;//evil.example\u{7}link\u{1b}]8;;\u{7}",
    "\u{1b}[2J\u{1b}[H\u{9b}31mred",
    "\u{7}\u{8}\u{b}\u{c}\u{7f}\u{85}\u{2028}\u{2029}",
    "\u{e0041}\u{e0042}tags \u{fe0f}\u{34f}\u{ad}soft",
];

/// What they stand in: ends of elements, attributes and comments.
const AROUND: [(&str, &str); 8] = [
    ("", ""),
    ("</pre>", ""),
    ("\">", "<\""),
    ("'>", "<'"),
    ("</span></code></summary></details>", ""),
    ("</title></style></script>", ""),
    ("-->", "<!--"),
    ("]]>", "<![CDATA["),
];

/// Each is one line.
pub(crate) fn all() -> Vec<String> {
    let numbered = AROUND.iter().enumerate().flat_map(|(outer, (before, after))| {
        PAYLOADS.iter().enumerate().map(move |(inner, payload)| {
            format!("hostile-{outer}-{inner}: {before}{payload}{after} :end")
        })
    });
    let all: Vec<String> = numbered.collect();
    assert_eq!(all.len(), 200);
    all
}

/// The text as a page has it: sequences of terminals are left out, other characters that act or hide are drawn.
pub(crate) fn shown(text: &str) -> String {
    let links = text.replace("\u{1b}]8;;//evil.example\u{7}", "").replace("\u{1b}]8;;\u{7}", "");
    let plain = links.replace("\u{1b}[2J", "").replace("\u{1b}[H", "");
    plain.chars().map(opal_core::view::visible::character).collect()
}
