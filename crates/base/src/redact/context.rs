//! Secrets recognized by their context: options of programs, headers, pairs of name and value,
//! blocks. The forms are in the same notation as those of [`super::patterns`].

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::patterns::Care;

/// A value: in quotes, or up to a blank.
const VALUE: &str = r#"(?:'([^'\n]{1,400})'|"([^"\n]{1,400})"|([^\s'"]{1,400}))"#;
/// The text between a program and its option, on one line and in one command.
const ARGUMENTS: &str = r"[^\n|;&]{0,300}?";

/// Forms of programs, headers and files. `VALUE` and `ARGUMENTS` are those above.
pub(super) const FORMS: &[(&str, Care)] = &[
    // `-u user:password`
    (
        r#"\b(?:curl|wget|https?|etcdctl|aria2c|lftp)\sARGUMENTS(?:-u|--user|--proxy-user)[ =]{0,2}(?:'[^':\n]{0,100}:([^'\n]{1,400})'|"[^":\n]{0,100}:([^"\n]{1,400})"|[^\s:'"]{0,100}:([^\s'"]{1,400}))"#,
        Care::Sure,
    ),
    (r#"(?:^|\s)(?:-u|--user)[ =][^\s:'"]{1,100}:([^\s'"]{6,400})"#, Care::Mixed),
    // `login … -p password`
    (r"\blogin\s(?:ARGUMENTS\s)?(?:-p|-k|--password|--key)[ =]VALUE", Care::Login),
    (
        r"\b(?:registry|docker|podman|nerdctl|helm|oras|skopeo|swanlab)\slogin\s(?:ARGUMENTS\s)?-[pk][ =]?VALUE",
        Care::Login,
    ),
    (r"\b(?:mysql\w{0,12}|mariadb[\w-]{0,12})\s(?:ARGUMENTS\s)?-pVALUE", Care::Sure),
    (r"\bredis-cli\s(?:ARGUMENTS\s)?(?:-a|--pass)[ =]VALUE", Care::Sure),
    (r"\bipmitool\s(?:ARGUMENTS\s)?-P[ =]?VALUE", Care::Sure),
    (r"\bldap\w{3,10}\s(?:ARGUMENTS\s)?-w[ =]?VALUE", Care::Sure),
    (r"\b(?:unzip|zip)\s(?:ARGUMENTS\s)?-P[ =]?VALUE", Care::Sure),
    (r"\b(?:7z|7za|7zr|rar|unrar)\s(?:ARGUMENTS\s)?-(?:hp|p)VALUE", Care::Sure),
    (r"\bopenssl\s(?:ARGUMENTS\s)?pass:VALUE", Care::Sure),
    (r"\bsmbclient\s(?:ARGUMENTS\s)?(?:-U|--user)[ =]?[^\s%]{1,100}%VALUE", Care::Sure),
    (r"\bobsutil\s(?:ARGUMENTS\s)?-i[ =]VALUE", Care::Sure),
    (r"\bobsutil\s(?:ARGUMENTS\s)?-k[ =]VALUE", Care::Sure),
    (r"\bmount[\w.]{0,20}\s(?:ARGUMENTS[\s,])?(?:password|passwd|pass)=VALUE", Care::Sure),
    (r"\bnet\s+user\s+\S{1,100}\s+VALUE\s+/add", Care::Sure),
    // `echo password | program`
    (
        r"\b(?:echo|printf)\s+(?:-\w+\s+)?VALUE\s*\|\s*[^\n|]{0,200}?(?:--password-stdin|--stdin|sudo\s+-S|passwd|cryptsetup|kinit)",
        Care::Sure,
    ),
    (r#"\bchpasswd\s*<<<\s*["']?[^:\s"']{1,100}:([^\s"']{1,400})"#, Care::Sure),
    (r#"assword[^\n]{0,80}?\bsend\s+(?:--\s+)?\\?["']([^"'\\\n]{1,400})"#, Care::Sure),
    // Headers.
    (
        r#"(?i)\b(?:set-)?cookie["']?\s*[:=]\s*["']?([^\s"'=;]{1,100}=[^\r\n"']{1,4000})"#,
        Care::Sure,
    ),
    // Addresses that give access by their path.
    (r"(?i)\bhooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{8,200})", Care::Sure),
    (
        r"(?i)/(?:bot/v2/hook|webhooks?|webhookb2|incoming)/([\w-]{16,200}(?:[/@][\w-]{1,200})*)",
        Care::Sure,
    ),
    // Names in text: `password X`, `passphrase "X"`, `access_key_id 'X'`.
    (
        r#"(?i)\b(?:passphrase|password|passwd)\s+(?:is\s+|was\s+)?\\?(?:"([^"\\\n]{3,400})"|'([^'\\\n]{3,400})')"#,
        Care::Password,
    ),
    (r#"(?i)(?:NAMES)\s+["']([A-Za-z0-9+/=_.-]{8,400})["']"#, Care::Mixed),
    (r"(?i)\b(?:password|passwd|passphrase)\s+([^\s,;:=(){}<>]{6,400})", Care::Mixed),
    (
        r#"(?:密码|口令)[ \t]{1,4}([^\s"',;&<>\x80-\xff/-][^\s"',;&<>\x80-\xff]{3,400})"#,
        Care::Mixed,
    ),
    (
        r#"(?:密钥|私钥|令牌|凭证)\s{0,2}(?i:id)\s{0,4}(?:[:=]|：|＝)\s{0,4}["']?([^\s"',;&<>\x80-\xff]{8,400})"#,
        Care::Value,
    ),
    // Short names: access key, secret key, password.
    (
        r#"(?i)(?:^|[^A-Za-z0-9])(?:ak|sk)["']?\s{0,4}[:=]\s{0,4}\\?["']?([A-Za-z0-9+/=_-]{16,400})"#,
        Care::Value,
    ),
    (r#"\b[A-Z0-9_]*PASS=["']?([^\s"';&]{4,400})"#, Care::Password),
    (
        r#"(?i)(?:^|[\s"'{,;_.-])pass\\?["']?\s{0,2}[:=]\s{0,2}\\?["']([^"'\\\n]{3,400})"#,
        Care::Password,
    ),
    (r#"(?i)(?:^|[\s"'{,;_.-])pass=([^\s"',;&]{4,400})"#, Care::Mixed),
    (
        r#"(?i)(?:^|[\s"'{,;_.-])auth\\?["']?\s{0,2}[:=]\s{0,2}\\?["']?([A-Za-z0-9+/=_-]{12,400})"#,
        Care::Mixed,
    ),
    // A value of several words in a list of variables.
    (
        r"(?m)^(?:export\s+)?[A-Z0-9_]{0,60}(?:PASSPHRASE|PASSWORD|PASSWD)=([^\s\x22'=;&|]{1,100}(?: [^\s\x22'=;&|/.-]{1,100}){1,7})\r?$",
        Care::Sure,
    ),
    // Pairs of name and value.
    (
        r#"(?i)\bname\\?["']?\s*[:=]\s*\\?["']?[\w.-]{0,60}(?:NAMES|pass)\\?["']?\s*,?\s*\\?["']?value\\?["']?\s*[:=]\s*\\?(?:"([^"\\\n]{1,4000})|'([^'\\\n]{1,4000})|([^\s"',;&<>}]{4,4000}))"#,
        Care::Password,
    ),
    (
        r#"(?i)\b(?:key|name)\s*=\s*["'][\w.-]{0,60}(?:NAMES)["']\s+value\s*=\s*["']([^"'\n]{1,4000})"#,
        Care::Password,
    ),
    (r"(?i)<(?:[\w:.-]{0,60})(?:NAMES)(?:\s[^>]{0,200})?>\s*([^<\n]{1,4000})</", Care::Password),
    (
        r#"(?i)\b(?:passwords|passwds|secrets|api_?keys|密码)\\?["']?\s*[:=]\s*\[([^\]]{1,4000})\]"#,
        Care::Password,
    ),
    (r#"(?i)\b(?:ENV|ARG)\s+\w{0,60}(?:NAMES|pass)\s+["']?([^\s"']{4,4000})"#, Care::Password),
    // Blocks of YAML.
    (
        r"(?im)(?:NAMES)[\x22']?\s*:[ \t]*[>|][+-]?\d?[ \t]*\r?\n((?:[ \t]+\S[^\n]{0,400}\n?){1,200})",
        Care::Sure,
    ),
    // Files of passwords.
    (r"(?m)^[\w.-]{1,64}:(\$[0-9a-z]{1,8}\$[^:\s]{8,400})(?::|$)", Care::Sure),
    (r"(?m)^[\w.*-]{1,253}:(?:\d{1,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:(\S{4,400})$", Care::Mixed),
    (r"(?i)\bPrivate-Lines:\s*\d{1,4}\s*\n((?:[A-Za-z0-9+/=]{1,80}\r?\n){1,200})", Care::Sure),
    (r"(?i)\bPrivate-MAC:\s*([0-9a-f]{16,128})", Care::Sure),
];

/// A form with its parts in place.
pub(super) fn expand(form: &str) -> String {
    form.replace("VALUE", VALUE).replace("ARGUMENTS", ARGUMENTS)
}

static SECRET: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m-u)^[ \t]*kind:[ \t]*[\x22']?Secret[\x22']?[ \t]*\r?$")
        .expect("the expression is proved by a test")
});
static BLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m-u)^([ \t]*)(?:data|stringData):[ \t]*\r?\n")
        .expect("the expression is proved by a test")
});

/// The values of Kubernetes secrets in YAML: every value below `data` and `stringData`.
pub(super) fn find_manifests(text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    if !SECRET.is_match(text) {
        return spans;
    }
    for block in BLOCK.captures_iter(text) {
        let (Some(whole), Some(indent)) = (block.get(0), block.get(1)) else { continue };
        let mut at = whole.end();
        while at < text.len() {
            let end =
                text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |n| at + n);
            let line = &text[at..end];
            let depth = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if !line.trim_ascii().is_empty() && depth <= indent.len() {
                break;
            }
            let value = line.iter().position(|&byte| byte == b':').map_or(depth, |colon| colon + 1);
            let value = at + value;
            let from =
                value + text[value..end].iter().take_while(|b| b.is_ascii_whitespace()).count();
            let is_mark = text[from..end].iter().all(|byte| matches!(byte, b'*' | b'\r'));
            if from < end && !is_mark {
                spans.push((from, end));
            }
            at = end + 1;
        }
    }
    spans
}
