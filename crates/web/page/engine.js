// Starts the module and answers requests. The page runs it in a worker, from the text of this script,
// and in itself where a browser allows no worker for files.
"use strict";

async function startEngine(bytes) {
  const compiled = await WebAssembly.compile(bytes);
  // The module calls nothing outside. The glue of a library that it contains, and never runs, names
  // some functions.
  const imports = {};
  for (const { module, name } of WebAssembly.Module.imports(compiled)) {
    imports[module] = { ...imports[module], [name]: () => { throw new Error(name); } };
  }
  const instance = await WebAssembly.instantiate(compiled, imports);
  const { memory, request, run, answer, limit } = instance.exports;
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  return {
    limit: limit() >>> 0,
    // A request is its length, its JSON and the contents of its files.
    ask(head, contents) {
      const json = encoder.encode(JSON.stringify(head));
      const size = contents.reduce((sum, part) => sum + part.byteLength, 4 + json.length);
      const start = request(size) >>> 0;
      const target = new Uint8Array(memory.buffer, start, size);
      new DataView(memory.buffer, start, 4).setUint32(0, json.length, true);
      target.set(json, 4);
      let at = 4 + json.length;
      for (const part of contents) {
        target.set(new Uint8Array(part), at);
        at += part.byteLength;
      }
      const length = run() >>> 0;
      return JSON.parse(decoder.decode(new Uint8Array(memory.buffer, answer() >>> 0, length)));
    },
  };
}

function serveEngine(scope) {
  let engine;
  scope.onmessage = async ({ data }) => {
    try {
      if (data.module) {
        engine = await startEngine(data.module);
        scope.postMessage({ limit: engine.limit });
      } else {
        scope.postMessage({ id: data.id, reply: engine.ask(data.head, data.contents) });
      }
    } catch (error) {
      scope.postMessage({ id: data.id, error: String(error) });
    }
  };
}
