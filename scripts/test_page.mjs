// Tests the offline page in Chromium, opened from disk: equal answers, accessibility, keyboard, no
// requests, time and size.
//
//   node scripts/test_page.mjs --page PAGE.html --program target/debug/ascend-doctor --modules DIR \
//       [--pasted FILE] [--logs DIR] [--screens DIR] [--chromium FILE] [--only NAME]
//
// DIR has playwright-core and axe-core in node_modules. Exit status 1: a test failed.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: Object.fromEntries(
    ["page", "program", "modules", "pasted", "logs", "screens", "chromium", "only"].map((name) => [name, { type: "string" }]),
  ),
});
// Packed logs are made in another directory.
for (const name of ["page", "modules", "program", "logs", "pasted", "screens"]) {
  if (options[name]) options[name] = resolve(options[name]);
}
const require = createRequire(resolve(options.modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const LEAST_INPUTS = 300;
const MOST_BYTES = 6_000_000;
const MOST_SECONDS = 1;
const root = resolve(import.meta.dirname, "..");
const work = mkdtempSync(join(tmpdir(), "page-"));
const address = pathToFileURL(resolve(options.page)).href;
const failures = [];
const requests = [];

function check(holds, what) {
  if (!holds) {
    failures.push(what);
    console.log(`FAILED: ${what}`);
  }
}

const browser = await chromium.launchPersistentContext(join(work, "profile"), {
  executablePath: options.chromium ?? "/usr/bin/chromium",
  headless: true,
  viewport: { width: 1280, height: 900 },
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
// Whoever connects to it got a request of the page.
const server = createServer((socket) => {
  requests.push("a connection");
  socket.destroy();
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const outside = `127.0.0.1:${server.address().port}`;
browser.on("requestfinished", (request) => {
  if (!/^(file|blob|data):/.test(request.url())) requests.push(request.url());
});

async function open(hash = "", setting = {}) {
  const page = await browser.newPage();
  await page.setViewportSize({ width: setting.width ?? 1280, height: 900 });
  await page.emulateMedia({ colorScheme: setting.scheme ?? "light" });
  page.on("pageerror", (error) => check(false, `error on the page: ${error}`));
  page.on("dialog", (dialog) => {
    check(false, `a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.goto(address + hash);
  await page.evaluate("engine.ready");
  return page;
}

/* Equal answers */

// The answer of the program: its document, or the exit status if it wrote none.
function native(args, cwd) {
  const home = join(work, "home");
  const result = spawnSync(resolve(options.program), [...args, "--format", "json", "--lang", "en"], {
    cwd, encoding: "utf8", maxBuffer: 1 << 30, env: { HOME: home, PATH: "/usr/bin:/bin", LANG: "C.UTF-8" },
  });
  let document = null;
  try {
    document = JSON.parse(result.stdout);
  } catch {
    // A refusal has no document.
  }
  return { status: result.status, document };
}

// Without what differs between two runs of the program.
function settled(document) {
  const { created, ...rest } = document;
  if (rest.data) delete rest.data.age_days;
  return rest;
}

function difference(one, other, path = "") {
  if (isDeepStrictEqual(one, other)) return "";
  const both = [one, other].every((value) => value && typeof value === "object");
  if (!both) return `${path}: ${JSON.stringify(one)?.slice(0, 120)} instead of ${JSON.stringify(other)?.slice(0, 120)}`;
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const found = difference(one[key], other[key], `${path}.${key}`);
    if (found) return found;
  }
  return "";
}

async function collectTexts(page) {
  const list = async (of) => (await page.evaluate(`engine.ask({ op: "list", of: ${JSON.stringify(of)} })`)).hits.map((hit) => hit.ask);
  const every = (names, count) => names.filter((_, at) => at % Math.max(1, Math.floor(names.length / count)) === 0);
  const texts = [];
  for (const family of await list("families")) texts.push(family, ...every(await list(family), 4));
  texts.push(...every(await list("causes"), 40), ...every(await list("versions"), 40));
  texts.push(...every(await list("variables"), 20), ...every(await list("findings"), 20));
  texts.push("Ascend910B3", "Ascend310P3", "910b", "a3", "Atlas 800T A2", "19e5:d802", "torch_npu 2.7.1 CANN 8.2.RC1",
    "torch 2.5.1 torch_npu 2.6.0", "HCCL_CONNECT_TIMEOUT=120", "HCCL_CONNECT_TIMEOUT=abc", "ASCEND_RT_VISIBLE_DEVICES=0,0",
    "torch.cuda.Event", "apex", "CUDA_VISIBLE_DEVICES=0", "“５０７０３５”，", "错误码507035", "-8005", "0x80CB800A",
    "EI006", "nonsense", "hello", "1.0", "https://example.org/issues/1", "建链超时", "hccl timeout", "out of memory",
    "torch_npu-2.7.1-cp311-cp311-manylinux_2_28_aarch64.whl", "quay.io/ascend/vllm-ascend:v0.9.1", "libascendcl.so",
    "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB", "<img src=x onerror=alert(1)>");
  if (options.pasted) texts.push(...JSON.parse(readFileSync(options.pasted, "utf8")).rows.map((row) => row.input));
  return [...new Set(texts)];
}

// Packs a log in every way that the program reads.
function pack(log, name) {
  const script = `
import bz2, gzip, lzma, sys, tarfile, zipfile
log, name = sys.argv[1:]
data = open(log, "rb").read()
for packer, end in ((gzip, "gz"), (bz2, "bz2"), (lzma, "xz")):
    with packer.open(f"{name}.log.{end}", "wb") as file:
        file.write(data)
for kind, end in (("gz", "tar.gz"), ("", "tar")):
    with tarfile.open(f"{name}.{end}", f"w:{kind}") as archive:
        archive.add(log, "logs/rank0.log")
        archive.add(log, "logs/rank1.log")
with zipfile.ZipFile(f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write(log, "logs/rank0.log")
    archive.write(f"{name}.log.gz", "logs/rank1.log.gz")
open(f"{name}-cut.log.gz", "wb").write(gzip.compress(data)[:-9])
`;
  execFileSync("python3", ["-c", script, log, name], { cwd: join(work, "files") });
}

function collectFiles() {
  const dir = join(work, "files");
  mkdirSync(dir);
  mkdirSync(join(work, "home"));
  const found = [];
  const visit = (from) => {
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      const path = join(from, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && statSync(path).size < 4 << 20 && !/\.(json|toml|md)$/.test(entry.name)) found.push(path);
    }
  };
  visit(join(root, "tests/fixtures/logs"));
  if (options.logs) visit(options.logs);
  const names = new Set();
  for (const path of found.slice(0, 240)) {
    let name = basename(path);
    while (names.has(name)) name = `x-${name}`;
    names.add(name);
    writeFileSync(join(dir, name), readFileSync(path));
  }
  found.filter((_, at) => at % Math.max(1, Math.floor(found.length / 4)) === 0).forEach((path, at) => pack(path, `packed${at}`));
  return readdirSync(dir).sort();
}

async function testAnswers() {
  const page = await open("#lang=en");
  let compared = 0;
  let documents = 0;
  const differences = [];
  const compare = (input, expected, reply) => {
    compared += 1;
    const json = reply.json && JSON.parse(reply.json);
    if (expected.document && json) {
      documents += 1;
      const found = difference(settled(json), settled(expected.document));
      if (found) differences.push(`${input}: ${found}`);
      else if (reply.status !== expected.status) differences.push(`${input}: status ${reply.status} instead of ${expected.status}`);
    } else if (reply.outcome === "needs_program") {
      // The program examines other files than those of the page.
    } else if (expected.document || json || (reply.status !== expected.status && reply.outcome !== "needs_file")) {
      differences.push(`${input}: ${reply.outcome} (${reply.status}), program ${expected.status}`);
    }
  };
  const files = collectFiles();
  for (const text of await collectTexts(page)) {
    const reply = await page.evaluate((text) => engine.ask({ op: "ask", text, want: "json" }), text);
    compare(text.slice(0, 80), native([text], work), reply);
  }
  const texts = compared;
  for (const name of files) {
    const bytes = readFileSync(join(work, "files", name)).toString("base64");
    const reply = await page.evaluate(([name, bytes]) => {
      const content = Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0));
      return engine.ask({ op: "files", files: [{ name, size: content.length }], want: "json" }, [content.buffer]);
    }, [name, bytes]);
    compare(name, native([name], join(work, "files")), reply);
  }
  console.log(`answers: ${texts} texts and ${compared - texts} files compared, ${documents} of them with a document, ${differences.length} differences`);
  differences.slice(0, 40).forEach((line) => console.log(`  ${line}`));
  check(differences.length === 0, "the page and the program answer differently");
  check(compared >= LEAST_INPUTS, `only ${compared} inputs compared`);
  await page.close();
}

/* Screens */

const ISSUE = `### Environment
- torch 2.5.1, torch_npu 2.6.0, CANN 8.0.0, Ascend910B3

### Problem
Training hangs.
\`\`\`
[ERROR] HCCL(1234,python):2026-03-01-10:00:00.123.456 [mod.cc:12] EI0006: Getting socket times out.
RuntimeError: HcclAllreduce, error code is 9
\`\`\`
`;
const SCREENS = {
  home: async () => {},
  code: (page) => ask(page, "507035"),
  conflict: (page) => ask(page, "torch_npu 2.6.0 torch 2.5.1"),
  variable: (page) => ask(page, "HCCL_CONNECT_TIMEOUT=120"),
  log: (page) => page.setInputFiles("#files", logOf("ranks")).then(() => answered(page)),
  issue: (page) => ask(page, ISSUE),
  unknown: (page) => ask(page, "EI006"),
  program: (page) => ask(page, "train.py"),
  failed: (page) => page.setInputFiles("#files", { name: "cut.gz", mimeType: "", buffer: Buffer.from([0x1f, 0x8b, 8]) }).then(() => answered(page)),
  search: (page) => page.fill("#search", "timeout").then(() => page.waitForSelector("#hits li")),
  list: (page) => page.click('#lists [data-of="versions"]').then(() => page.waitForSelector("#hits li")),
};

function logOf(name) {
  const lines = [];
  for (let rank = 0; rank < 4; rank += 1) {
    lines.push(`[rank${rank}]: [ERROR] 2026-03-01-10:0${rank}:00 (PID:${rank}, Device:${rank}, RankID:${rank}) ERR02200 DIST call hccl api failed.`);
  }
  lines.push("[rank2]: RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 2; 60.97 GiB total capacity; 58.00 GiB already allocated)");
  return { name: `${name}.log`, mimeType: "text/plain", buffer: Buffer.from(lines.join("\n")) };
}

async function answered(page) {
  await page.waitForFunction(() => document.getElementById("status").textContent !== "" && document.getElementById("progress").hidden);
}

async function ask(page, text) {
  await page.evaluate(() => { clear(); });
  await page.fill("#text", text);
  await page.press("#text", "Enter");
  await answered(page);
}

async function testScreens() {
  const violations = new Map();
  let screens = 0;
  const examine = async ({ lang, width, scheme }) => {
    const page = await open(`#lang=${lang}`, { width, scheme });
    await page.evaluate(axe);
    for (const [name, show] of Object.entries(SCREENS)) {
      await page.evaluate(() => { clear(); $("text").value = $("search").value = ""; return search(); });
      await show(page);
      await page.evaluate(() => document.querySelectorAll("details").forEach((details) => { details.open = true; }));
      const { violations: found } = await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      for (const one of found) {
        const key = `${one.id}: ${one.nodes[0].html.slice(0, 140)}`;
        violations.set(key, [...(violations.get(key) ?? []), `${name}/${lang}/${width}/${scheme}`]);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      check(wide <= 0, `${name} ${lang} ${width}: ${wide} pixels too wide`);
      if (options.screens) {
        mkdirSync(options.screens, { recursive: true });
        await page.screenshot({ path: join(options.screens, `${name}-${lang}-${width}-${scheme}.png`), fullPage: true });
      }
      screens += 1;
    }
    await page.close();
  };
  const settings = ["en", "zh"].flatMap((lang) => [1280, 360].flatMap((width) => ["light", "dark"].map((scheme) => ({ lang, width, scheme }))));
  const next = async () => {
    for (let setting = settings.pop(); setting; setting = settings.pop()) await examine(setting);
  };
  await Promise.all([next(), next()]);
  for (const [what, where] of violations) check(false, `axe ${what} (${where.length} screens, such as ${where[0]})`);
  console.log(`screens: ${screens} examined by axe, ${violations.size} kinds of violations`);
}

/* Keyboard */

async function testKeyboard() {
  const page = await open("#lang=en");
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.dataset.lang || document.activeElement.textContent.trim().slice(0, 30));
  const seen = [];
  for (let step = 0; step < 16; step += 1) {
    await page.keyboard.press("Tab");
    seen.push(await focus());
  }
  for (const name of ["Skip to the answer", "en", "zh", "text", "Answer", "files", "507035", "search", "Error codes"]) {
    check(seen.includes(name), `Tab does not reach ${name}: ${seen}`);
  }
  await page.focus("#text");
  await page.keyboard.type("507035");
  await page.keyboard.press("Enter");
  await answered(page);
  check((await focus()) === "answer", "the answer has no focus");
  check((await page.textContent("#content")).includes("507035"), "Enter gives no answer");
  await page.focus("#markdown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent === "Copied.");
  await page.focus("#json");
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  const saved = JSON.parse(readFileSync(await (await download).path(), "utf8"));
  check(saved.schema === "ascend-doctor/codes/1", `the saved document is ${saved.schema}`);
  await page.focus("#search");
  await page.keyboard.type("socket timeout");
  await page.waitForSelector("#hits li");
  while ((await page.evaluate(() => document.activeElement.closest("#hits") === null))) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.id === "answer");
  check(new URL(page.url()).hash.includes("q="), "a chosen name is not in the address");
  await page.focus('[data-lang="zh"]');
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.documentElement.lang === "zh-CN");
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("输入类型"));
  check(page.url().includes("lang=zh"), "the language is not in the address");
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("content").textContent.includes("507035"));
  await page.focus("#text");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("first");
  await page.keyboard.press("Shift+Enter");
  check((await page.inputValue("#text")) === "first\n", "Shift+Enter starts no line");
  await page.close();
  console.log("keyboard: done");
}

/* Nothing leaves */

async function testClosed() {
  const page = await open("#lang=en");
  const blocked = await page.evaluate(async (outside) => {
    const policies = [];
    addEventListener("securitypolicyviolation", (event) => policies.push(event.effectiveDirective));
    const results = {};
    const refused = (name, promise) => promise.then(() => { results[name] = "sent"; }, () => { results[name] = "refused"; });
    await refused("fetch", fetch(`http://${outside}/`, { mode: "no-cors" }));
    await refused("image", new Promise((done, fail) => Object.assign(new Image(), { onload: done, onerror: fail, src: `http://${outside}/x.png` })));
    results.beacon = navigator.sendBeacon(`http://${outside}/`, "x") ? "queued" : "refused";
    await refused("socket", new Promise((done, fail) => { try { const socket = new WebSocket(`ws://${outside}/`); socket.onopen = done; socket.onerror = fail; } catch (error) { fail(error); } }));
    const script = `fetch('http://${outside}/', { mode: 'no-cors' }).then(() => postMessage('sent'), () => postMessage('refused'))`;
    const worker = new Worker(URL.createObjectURL(new Blob([script])));
    results.worker = await new Promise((done) => { worker.onmessage = ({ data }) => done(data); });
    const inline = document.createElement("script");
    inline.textContent = "window.injected = true";
    document.body.append(inline);
    results.script = window.injected ? "ran" : "refused";
    await new Promise((done) => setTimeout(done, 1000));
    return { results, policies };
  }, outside);
  for (const [name, result] of Object.entries(blocked.results)) {
    check(result === "refused" || name === "beacon", `${name} is not blocked: ${result}`);
  }
  check(blocked.policies.includes("connect-src") && blocked.policies.includes("img-src"), `violations: ${blocked.policies}`);
  const stored = await page.evaluate(() => {
    try { return localStorage.length + sessionStorage.length + document.cookie.length; } catch { return 0; }
  });
  check(stored === 0, "the page stores something");
  const bad = "<img src=x onerror=alert(1)>";
  await ask(page, `RuntimeError: NPU out of memory ${bad}`);
  await page.setInputFiles("#files", { name: `${bad.replace("/", "")}.log`, mimeType: "", buffer: Buffer.from(`EI0006 ${bad}\n`) });
  await answered(page);
  check((await page.locator("main img, main script").count()) === 0, "a value became an element");
  await page.close();
  console.log(`closed: ${JSON.stringify(blocked.results)}, ${blocked.policies.length} violations reported`);
}

/* Time and size */

async function testLimits() {
  const bytes = statSync(options.page).size;
  check(bytes <= MOST_BYTES, `the page has ${bytes} bytes`);
  const times = [];
  for (let run = 0; run < 3; run += 1) {
    const page = await browser.newPage();
    await page.goto(`${address}#lang=en&q=507035`);
    await page.waitForFunction(() => document.getElementById("content").children.length > 0, null, { polling: 10 });
    times.push(await page.evaluate(() => performance.now() / 1000));
    await page.close();
  }
  const best = Math.min(...times);
  check(best < MOST_SECONDS, `the first answer takes ${best} s`);
  const page = await open("#lang=en");
  const large_seconds = await page.evaluate(async () => {
    const line = "[INFO] 2026-03-01 10:00:00 step 1234 loss 0.1234 lr 0.0001 tokens per second 12345 memory 40 GiB\n";
    const text = line.repeat(Math.ceil((100 << 20) / line.length)) + "RuntimeError: NPU out of memory\n";
    const file = new File([text], "large.log");
    const started = performance.now();
    await show({ files: [{ name: "large.log", file }] });
    return (performance.now() - started) / 1000;
  });
  check((await page.textContent("#content")).includes("device_oom"), "a large log has no answer");
  await page.evaluate(() => { clear(); askFiles([{ name: "huge.log", file: { size: 2 ** 31 } }]); });
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("at most"));
  // A running analysis ends at once.
  await page.evaluate(() => {
    clear();
    const file = new File([new Uint8Array(100 << 20).fill(69)], "long.log");
    askFiles([{ name: "long.log", file }]);
  });
  await page.click("#cancel").catch(() => {});
  await ask(page, "507035");
  check((await page.textContent("#content")).includes("507035"), "no answer after a cancelled one");
  await page.close();
  console.log(`limits: ${bytes} bytes, first answer ${times.map((time) => time.toFixed(2))} s after opening, 100 MiB in ${large_seconds.toFixed(1)} s`);
}

const TESTS = { answers: testAnswers, screens: testScreens, keyboard: testKeyboard, closed: testClosed, limits: testLimits };
try {
  for (const [name, test] of Object.entries(TESTS)) {
    if (!options.only || options.only === name) await test();
  }
  check(requests.length === 0, `requests: ${requests}`);
} finally {
  await browser.close();
  server.close();
  if (existsSync(work)) rmSync(work, { recursive: true, force: true });
}
console.log(failures.length === 0 ? "passed" : `${failures.length} failures`);
process.exitCode = failures.length === 0 ? 0 : 1;
