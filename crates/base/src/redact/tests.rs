use super::*;

fn secrets(text: &str) -> String {
    let mut redactor = Redactor::new(Level::Secrets, []);
    String::from_utf8(redactor.bytes(text.as_bytes()).into_owned()).unwrap()
}

/// Texts, each with its secret between `«` and `»`. The secrets are assembled here so that secret
/// scanners do not report this repository.
fn planted() -> Vec<String> {
    let a = |n: usize| "aB3".repeat(n / 3 + 1)[..n].to_owned();
    vec![
        format!("key «AKIA{}» of the bucket", "Q".repeat(16)),
        format!("aws_secret_access_key = «{}»", a(40)),
        format!("HF_TOKEN=«hf_{}»", a(34)),
        format!("cloning with «ghp_{}»", a(36)),
        format!("«github_pat_{}» was used", a(40)),
        format!("OPENAI: «sk-{}»", a(30)),
        format!("jwt «eyJ{}.eyJ{}.{}»", a(10), a(20), a(20)),
        format!("WANDB_API_KEY=«{}» python train.py", a(40)),
        format!("{{\"password\": \"«my long pass»\", \"user\": \"joe\"}}"),
        format!("{{\\\"api_key\\\": \\\"«{}»\\\"}}", a(12)),
        "https://«joe:s3cret»@mirror.example/simple".to_owned(),
        "https://«joe:p@ss»@mirror.example/simple".to_owned(),
        "GET https://h.example/m?page=2&access_token=«abc»&x=1".to_owned(),
        "https://h.example/o?X-Amz-Signature=«1f2e»".to_owned(),
        format!("Authorization: Bearer «{}»", a(24)),
        format!("Authorization: Basic «{}=»", a(24)),
        "serve --api-key «abcd1234» --port 80".to_owned(),
        "machine h login joe password «hunter2»".to_owned(),
        "PASSWD: '«two words»' # see above".to_owned(),
        "密码：«hunter2x»，请勿外传".to_owned(),
        "密码: «x9»".to_owned(),
        "口令=«p4ss»".to_owned(),
        "初始密码是«admin123»。".to_owned(),
        "密码为：«Admin@123»".to_owned(),
        "\"密码\": \"«hunter2»\"".to_owned(),
        "密钥:«a8f3k»; 重试".to_owned(),
        "访问令牌：«tok-en1»".to_owned(),
        "私钥＝«zz-9»".to_owned(),
        "密码 «hunter2»".to_owned(),
        "password=«123456»".to_owned(),
        "密码：«123456»".to_owned(),
        "user joe passwd «hunter2»".to_owned(),
        format!("$ wandb login «{}»", a(40)),
        format!("$ wandb login --relogin --host=https://w.example «{}» # done", a(40)),
        "mysql -u joe -p«Secr3t» -h db".to_owned(),
        "mysqldump --all-databases -p'«two words»' > x".to_owned(),
        "sshpass -p «Secr3t» ssh joe@h ls".to_owned(),
        format!(
            "-----BEGIN RSA PRIVATE KEY-----«\n{}\n{}\n»-----END RSA PRIVATE KEY-----",
            a(64),
            a(20)
        ),
        format!("-----BEGIN OPENSSH PRIVATE KEY-----«\n{}»", a(64)),
        format!("«{}\n{}\n»-----END PRIVATE KEY-----", a(64), a(64)),
    ]
}

#[test]
fn every_planted_secret_is_taken_out_and_its_surroundings_stay() {
    for text in planted() {
        let bare = text.replace(['«', '»'], "");
        let open = text.find('«').unwrap();
        let close = text.find('»').unwrap();
        let secret = text[open + '«'.len_utf8()..close].trim();
        let shown = secrets(&bare);
        assert!(!shown.contains(secret), "{bare}: {shown}");
        for line in secret.lines() {
            assert!(!shown.contains(line), "{bare}: {shown}");
        }
        assert!(shown.starts_with(&text[..open]), "{bare}: {shown}");
        let after = &text[close + '»'.len_utf8()..];
        assert!(shown.ends_with(after), "{bare}: {shown}");
        assert_eq!(secrets(&shown), shown, "{bare}");
        // In place, with the same length.
        let mut redactor = Redactor::new(Level::Secrets, []);
        let masked = redactor.in_place(bare.as_bytes()).into_owned();
        assert_eq!(masked.len(), bare.len(), "{bare}");
        assert!(!String::from_utf8_lossy(&masked).contains(secret), "{bare}");
        assert!(redactor.count() > 0);
    }
}

#[test]
fn words_that_only_sound_like_secrets_stay() {
    for text in [
        "max_new_tokens=256 num_tokens: 512",
        "token = 128",
        "tokenizer=LlamaTokenizerFast pad_token_id=0",
        "--max-token 4096 --tokenizer-mode auto",
        "use_auth_token: False, token=None",
        "password required",
        "https://mirror.example/simple?page=2",
        "monkey=banana keyboard: qwerty",
        "torch_npu-2.6.0 [ERROR] error code is 507035",
        "the key: see https://example.org/a@b is fine? no",
        "密码错误，请重新输入",
        "密码：错误，请联系管理员",
        "密码: 已设置",
        "密码为空",
        "令牌数: 512 令牌: 512",
        "密码：******",
        "passwd:         files systemd",
        "passwd mei",
        "passwd -l mei2",
        "cannot read /etc/passwd line3",
        "no passwd entry for uid 1000",
        "wandb login succeeded",
        "run wandb login first",
        "mysql -P 3306 -h db --protocol=tcp",
        "cp -p a b; mkdir -pv c",
        "python -prof train.py",
    ] {
        // A path may contain `@`, which does not start user info.
        assert_eq!(secrets(text), text);
    }
}

#[test]
fn hosts_go_only_if_that_is_wanted() {
    let text = "node-07 (10.1.2.3, fe80::1, 00:1a:2b:3c:4d:5e) joe@corp.example in /home/joe/x; \
                driver 25.3.0 firmware 7.8.0.2.212 at 12:34:56";
    assert_eq!(secrets(text), text);
    let mut redactor = Redactor::new(Level::Hosts, ["node-07".to_owned(), "root".to_owned()]);
    let shown = String::from_utf8(redactor.bytes(text.as_bytes()).into_owned()).unwrap();
    for gone in ["node-07", "10.1.2.3", "fe80::1", "00:1a", "joe"] {
        assert!(!shown.contains(gone), "{gone}: {shown}");
    }
    for kept in ["25.3.0", "7.8.0.2.212", "12:34:56", "/home/***/x"] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
}

fn hosts(text: &str, names: &[&str]) -> String {
    let mut redactor = Redactor::new(Level::Hosts, names.iter().map(|&name| name.to_owned()));
    String::from_utf8(redactor.bytes(text.as_bytes()).into_owned()).unwrap()
}

#[test]
fn names_of_people_and_hosts_go_and_words_stay() {
    let names = ["mei", "li", "vm", "test", "node-17", "Wang Wei"];
    for (text, left) in [
        (
            "mei:x:1000:1000:Wang Wei,,,:/data/mei:/bin/sh\n",
            "***:x:1000:1000:***,,,:/data/***:/bin/sh\n",
        ),
        (
            "li:x:1001:1001::/d:/bin/sh\ntest:x:1002:1002::/t:/bin/sh",
            "***:x:1001:1001::/d:/bin/sh\n***:x:1002:1002::/t:/bin/sh",
        ),
        ("docker:x:998:li,test,mei\n", "docker:x:998:***,***,***\n"),
        ("vm\n", "***\n"),
        ("127.0.1.1\tvm vm.corp\n10 a", "127.0.1.1\t*** ***\n10 a"),
        ("open /data/mei/run.log as mei", "open /data/***/run.log as ***"),
        ("user=li host: vm", "user=*** host: ***"),
        ("Linux vm 5.10.0-60 #1", "Linux *** 5.10.0-60 #1"),
        ("no route to node-23.example.com:29500", "no route to ***:29500"),
        ("hostname: gpu7, nodename=\"a-b\"", "hostname: ***, nodename=\"***\""),
        ("  host      : worker-3\n  rank", "  host      : ***\n  rank"),
        ("[joe@gpu7 run]$ ls; scp joe@gpu8:/x .", "[*** run]$ ls; scp ***:/x ."),
        ("Nov 23 02:31:46 gpu7 kernel: devdrv", "Nov 23 02:31:46 *** kernel: devdrv"),
    ] {
        // Addresses are redacted too, but this test does not cover them.
        let text = text.replace("127.0.1.1", "::1");
        assert_eq!(hosts(&text, &names), left.replace("127.0.1.1", "::1"), "{text}");
    }
    for text in [
        "meish made a test of vm.max_map_count in /proc/sys/vm, li_st",
        "run the test, test: passed, a.test",
        "torch.distributed.launch --test threading.local",
        "host: 3 host=aclrtMalloc node: Conv_12 hostname: unknown",
        "memcpy@GLIBC_2.14 and f@CXXABI_1.3, pkg @ file:///x",
        "https://www.hiascend.com/document and https://pypi.org/simple",
        "--host=aarch64-linux-gnu on x86_64",
        "[ERROR] RUNTIME(1,python):2025-11-21-01:20:01.624.966 [a.cc:1]",
        "driver 25.3.0 firmware 7.8.0.2.212 torch2.5.dev libhccl.so.1",
    ] {
        assert_eq!(hosts(text, &names), text);
    }
    // Accounts of the system are evidence of faults and identify no person.
    let passwd = "root:x:0:0::/root:/bin/sh\nHwHiAiUser:x:1000:1000::/home/HwHiAiUser:/bin/sh\n\
        syslog:x:104:110::/x:/bin/sh\nmei:x:1001:1001:Mei Li,,,:/data/mei:/bin/sh\nbad line\n";
    let group = "HwHiAiUser:x:1000:mei,zhang\nadm:x:4:syslog\nx\n";
    assert_eq!(people(passwd, group), ["mei", "Mei Li", "mei", "/data/mei", "mei", "zhang"]);
    let text = "127.0.0.1 localhost\n10.0.0.5 gpu7.corp gpu7 # x\n10.0.0.6 pypi.org\n";
    assert_eq!(super::hosts(text), ["gpu7.corp", "gpu7", "gpu7"]);
}

#[test]
fn a_name_that_is_a_word_goes_where_the_key_says_so() {
    let mut value = serde_json::json!({
        "user": "li", "home": "/data/li/x /data/lib /li", "host": {"name": "vm", "arch": "li"}, "what": "vm", "path": "/data/mei/x"
    });
    Redactor::new(Level::Hosts, ["li", "vm", "mei", "/data/li"].map(str::to_owned))
        .json(&mut value);
    assert_eq!(
        value,
        serde_json::json!({
            "user": "***", "home": "/data/***/x /data/lib /li", "host": {"name": "***", "arch": "li"}, "what": "vm",
            "path": "/data/***/x"
        })
    );
}

#[test]
fn json_keeps_its_form() {
    let mut value = serde_json::json!({
        "env": {"HF_TOKEN": "short", "PATH": "/usr/bin"},
        "list": ["https://a:b@c/", {"https://x:y@z/": 1}],
        "tokens": "kept", "n": 1
    });
    Redactor::new(Level::Secrets, []).json(&mut value);
    assert_eq!(
        value,
        serde_json::json!({
            "env": {"HF_TOKEN": "***", "PATH": "/usr/bin"},
            "list": ["https://***@c/", {"https://***@z/": 1}],
            "tokens": "kept", "n": 1
        })
    );
}

#[test]
fn what_a_mark_completes_goes_with_it() {
    assert_eq!(secrets("token=://&@"), "token=***");
}

proptest::proptest! {
    #[test]
    fn any_bytes_can_be_redacted_and_keep_their_length(
        text in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
    ) {
        let mut redactor = Redactor::new(Level::Hosts, ["name".to_owned()]);
        proptest::prop_assert_eq!(redactor.in_place(&text).len(), text.len());
    }

    /// Found secrets stay found.
    #[test]
    fn redaction_is_idempotent(
        text in "(token=|password: |://|[a@&?;/=\"' \n]|sk-|[a-z0-9]{8}|bearer |Authorization: |\\*){0,16}",
    ) {
        let mut redactor = Redactor::new(Level::Secrets, []);
        let once = redactor.bytes(text.as_bytes()).into_owned();
        let twice = redactor.bytes(&once).into_owned();
        proptest::prop_assert_eq!(String::from_utf8_lossy(&once), String::from_utf8_lossy(&twice));
    }
}
