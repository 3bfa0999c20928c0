// The page: from what the user types, drops or chooses to requests, and from replies to elements.
// Only `reply.html` is set as HTML: the module escapes every value in it.
"use strict";

const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const EXAMPLES = ["507035", "EI0006", "torch_npu 2.7.1", "HCCL_CONNECT_TIMEOUT=120", "Ascend910B3", "hccl timeout"];
const LISTS = ["families", "causes", "versions", "variables", "findings"];
const MOST_FILES = 5000;
const LONGEST_LINK = 300;
const LONGEST_COMMAND = 120;
const $ = (id) => document.getElementById(id);

let lang = "en";
let limit = 0;
// What is shown: { text } or { files }. A change of the language asks again.
let shown = null;
let listed = null;

/* Words */

function words(key, values = {}) {
  const text = TEXTS[key][lang];
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

function size(bytes) {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / (1 << 20))} MiB`;
}

function translate() {
  document.documentElement.lang = lang === "zh" ? "zh-CN" : "en";
  document.title = `ascend-doctor · ${words("subtitle")}`;
  for (const element of document.querySelectorAll("[data-text]")) {
    element.textContent = words(element.dataset.text, { limit: size(limit || 128 << 20) });
  }
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", words(element.dataset.label));
  }
  for (const button of document.querySelectorAll("[data-lang]")) {
    button.setAttribute("aria-pressed", String(button.dataset.lang === lang));
  }
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  if (className) made.className = className;
  return made;
}

/* The engine */

function decode(packed) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(packed);
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const engine = {
  module: null,
  worker: null,
  local: null,
  waiting: new Map(),
  last: 0,
  ready: null,

  async load() {
    const bytes = decode($("module").textContent);
    $("module").remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    this.module = await new Response(stream).arrayBuffer();
    await this.start();
  },

  async start() {
    try {
      await this.startWorker();
    } catch {
      this.worker = null;
      this.local = await startEngine(this.module);
      limit = this.local.limit;
    }
  },

  startWorker() {
    const source = `${$("engine").textContent}\nserveEngine(self);`;
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const worker = new Worker(address);
    this.worker = worker;
    return new Promise((resolve, reject) => {
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.onmessage = ({ data }) => {
        if (data.id === undefined) {
          URL.revokeObjectURL(address);
          limit = data.limit || limit;
          return data.error ? reject(new Error(data.error)) : resolve();
        }
        const waiting = this.waiting.get(data.id);
        this.waiting.delete(data.id);
        if (!waiting) return;
        if (data.error) waiting.reject(new Error(data.error));
        else waiting.resolve(data.reply);
      };
      worker.postMessage({ module: this.module });
    });
  },

  // Stops what runs: the worker is replaced.
  async stop() {
    for (const { reject } of this.waiting.values()) reject(new DOMException("", "AbortError"));
    this.waiting.clear();
    if (this.worker) {
      this.worker.terminate();
      this.ready = this.start();
    } else {
      this.local = await startEngine(this.module);
    }
  },

  async ask(head, contents = []) {
    await this.ready;
    const request = { ...head, lang, now: Math.floor(Date.now() / 1000) };
    if (!this.worker) return this.local.ask(request, contents);
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, head: request, contents });
    });
  },
};

/* Answers */

function clear() {
  for (const id of ["message", "content"]) $(id).replaceChildren();
  $("status").textContent = "";
  $("tools").hidden = true;
}

function say(key, values) {
  clear();
  $("status").textContent = words(key, values);
}

// The request for what is shown; files are read again, so that nothing large is kept.
async function request(target, want) {
  if (target.files) {
    const files = target.files.map(({ name, file }) => ({ name, size: file.size }));
    const contents = await Promise.all(target.files.map(({ file }) => file.arrayBuffer()));
    return engine.ask({ op: "files", files, want }, contents);
  }
  return engine.ask({ op: "ask", text: target.text, want });
}

function total(target) {
  if (target.files) return target.files.reduce((sum, { file }) => sum + file.size, 0);
  return new Blob([target.text]).size;
}

async function show(target, { focus = true } = {}) {
  shown = target;
  await engine.ready;
  if (total(target) > limit) return say("too_large", { size: size(total(target)), limit: size(limit) });
  const slow = setTimeout(() => { $("progress").hidden = false; }, 250);
  let reply;
  try {
    reply = await request(target);
  } catch (error) {
    if (shown !== target) return;
    if (error.name === "AbortError") say("cancelled");
    else if (error.name.startsWith("Not")) say("unreadable", { detail: error.message });
    else {
      say("broken", { detail: error.message });
      await engine.stop();
    }
    return;
  } finally {
    clearTimeout(slow);
    $("progress").hidden = true;
  }
  if (shown === target) present(reply, focus);
}

function present(reply, focus) {
  clear();
  const message = $("message");
  const input = reply.read_as && words("input", { what: reply.read_as });
  if (reply.outcome === "answered") {
    $("status").textContent = input;
    // Pasted lines are in the field above.
    const short = reply.command.length > LONGEST_COMMAND || reply.command.includes("\\n");
    $("command").textContent = short ? "" : reply.command;
    $("content").innerHTML = reply.html;
    $("tools").hidden = false;
    $("json").hidden = $("markdown").hidden = reply.html === "" || reply.command.includes(" report ");
  } else {
    $("status").textContent = input || words(reply.outcome, { detail: reply.detail });
    if (input) message.append(element("p", words(reply.outcome, { detail: reply.detail })));
  }
  if (reply.outcome === "needs_program") message.append(element("pre", reply.command));
  if (reply.outcome === "unknown") {
    message.append(element("p", words(reply.hits.length ? "unknown_next" : "unknown_alone")));
    const list = element("ul", "", "hits card");
    list.append(...reply.hits.map(hit));
    if (reply.hits.length) message.append(list);
  }
  const answer = $("answer");
  if (focus) {
    answer.focus({ preventScroll: true });
    answer.scrollIntoView({ block: "start", behavior: "instant" });
  }
}

async function copyMarkdown() {
  const { markdown } = await request(shown, "markdown");
  let copied = false;
  try {
    await navigator.clipboard.writeText(markdown);
    copied = true;
  } catch {
    const field = element("textarea");
    field.value = markdown;
    document.body.append(field);
    field.select();
    copied = document.execCommand("copy");
    field.remove();
    $("markdown").focus();
  }
  $("status").textContent = words(copied ? "copied" : "not_copied");
}

async function saveJson() {
  const { json } = await request(shown, "json");
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  link.download = "ascend-doctor.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/* Search and lists */

function hit(entry) {
  const button = element("button");
  button.type = "button";
  button.append(element("b", entry.name), " ", element("span", words(`kind_${entry.kind}`), "kind"));
  if (entry.title) button.append(element("small", entry.title));
  button.addEventListener("click", () => {
    if (entry.kind === "family") list(entry.ask);
    else ask(entry.ask);
  });
  const item = element("li");
  item.append(button);
  return item;
}

function showHits({ hits, more }) {
  $("hits").replaceChildren(...hits.map(hit));
  const n = hits.length;
  const key = n === 0 ? "hits_none" : more ? "hits_more" : n === 1 ? "hits_one" : "hits";
  $("count").textContent = words(key, { n, more });
}

function markList(of) {
  listed = of;
  for (const button of $("lists").children) {
    button.setAttribute("aria-pressed", String(button.dataset.of === of));
  }
}

async function list(of) {
  $("search").value = "";
  markList(of);
  const reply = await engine.ask({ op: "list", of });
  if (listed === of) showHits(reply);
}

async function search() {
  const text = $("search").value.trim();
  markList(null);
  if (!text) {
    $("hits").replaceChildren();
    $("count").textContent = "";
    return;
  }
  const reply = await engine.ask({ op: "search", words: text });
  if ($("search").value.trim() === text) showHits(reply);
}

/* The address of the page: language, and the question if it is short. */

function address(text) {
  const parts = new URLSearchParams({ lang });
  if (text && text.length <= LONGEST_LINK && !text.includes("\n")) parts.set("q", text);
  return `#${parts}`;
}

function ask(text) {
  $("text").value = text;
  const target = { text };
  const next = address(text);
  if (next.includes("q=") && next !== location.hash) {
    location.hash = next;
  } else {
    history.replaceState(null, "", next);
    show(target);
  }
}

function follow(focus) {
  const parts = new URLSearchParams(location.hash.slice(1));
  const wanted = parts.get("lang");
  if (wanted === "en" || wanted === "zh") lang = wanted;
  translate();
  const text = parts.get("q");
  if (text) {
    $("text").value = text;
    show({ text }, { focus });
  } else if (shown && !location.hash.includes("lang")) {
    shown = null;
    clear();
  }
}

function setLanguage(next) {
  lang = next;
  history.replaceState(null, "", address(shown && shown.text));
  translate();
  examples();
  if (shown) show(shown, { focus: false });
  if (listed) list(listed);
  else search();
}

/* Files */

async function filesOf(entry, path, found) {
  if (found.length > MOST_FILES) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ name: path + file.name, file });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (entries.length === 0) return;
    for (const inner of entries) await filesOf(inner, `${path}${entry.name}/`, found);
  }
}

async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  const plain = [...transfer.files].map((file) => ({ name: file.name, file }));
  const text = transfer.getData("text/plain");
  if (plain.length === 0) {
    if (text) ask(text);
    return;
  }
  const found = [];
  try {
    for (const entry of entries.filter(Boolean)) await filesOf(entry, "", found);
  } catch (error) {
    return say("unreadable", { detail: error.message });
  }
  if (found.length > MOST_FILES) return say("too_many", { n: MOST_FILES });
  askFiles(found.length ? found : plain);
}

function askFiles(files) {
  if (files.length === 0) return;
  history.replaceState(null, "", address());
  show({ files });
}

/* Start */

function examples() {
  const buttons = EXAMPLES.map((text) => {
    const button = element("button", text);
    button.type = "button";
    button.addEventListener("click", () => ask(text));
    const item = element("li");
    item.append(button);
    return item;
  });
  $("examples").replaceChildren(...buttons);
  const lists = LISTS.map((of) => {
    const button = element("button", words(`list_${of}`));
    button.type = "button";
    button.dataset.of = of;
    button.setAttribute("aria-pressed", String(of === listed));
    button.addEventListener("click", () => list(of));
    return button;
  });
  $("lists").replaceChildren(...lists);
}

function listen() {
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    if ($("text").value.trim()) ask($("text").value);
  });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $("ask").requestSubmit();
    }
  });
  $("search").addEventListener("input", search);
  $("files").addEventListener("change", () => {
    askFiles([...$("files").files].map((file) => ({ name: file.name, file })));
    $("files").value = "";
  });
  $("cancel").addEventListener("click", () => engine.stop());
  $("markdown").addEventListener("click", copyMarkdown);
  $("json").addEventListener("click", saveJson);
  for (const button of document.querySelectorAll("[data-lang]")) {
    button.addEventListener("click", () => setLanguage(button.dataset.lang));
  }
  addEventListener("hashchange", () => {
    if (location.hash !== "#answer") follow(true);
  });
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dragging");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    dropped(event.dataTransfer);
  });
}

lang = navigator.language.startsWith("zh") ? "zh" : "en";
translate();
listen();
engine.ready = engine.load();
engine.ready.then(translate, (error) => say("old_browser", { detail: error.message }));
follow(false);
examples();
