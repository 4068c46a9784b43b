// One session of the TypeScript SDK's client with our server: every tool, resource and prompt.
// usage: node check-clients.mjs sdk|client legacy|auto stdio COMMAND...
//        node check-clients.mjs sdk|client legacy|auto http|sse URL TOKEN
// Prints one line of JSON for each step: {"step", "problem"}; started by check-clients.

const [, , generation, mode, transportName, ...target] = process.argv;

async function parts() {
  if (generation === "client") {
    const all = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    return { ...all, StdioClientTransport };
  }
  const base = "@modelcontextprotocol/sdk/client";
  return {
    ...(await import(`${base}/index.js`)),
    ...(await import(`${base}/stdio.js`)),
    ...(await import(`${base}/sse.js`)),
    ...(await import(`${base}/streamableHttp.js`)),
  };
}

function transport(sdk) {
  if (transportName === "stdio") {
    const [command, ...args] = target;
    return new sdk.StdioClientTransport({ command, args, env: process.env, stderr: "ignore" });
  }
  const [url, token] = target;
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const kind = transportName === "sse" ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport;
  return new kind(new URL(url), { requestInit });
}

async function step(name, work) {
  let problem = "";
  try {
    problem = (await work()) || "";
  } catch (error) {
    problem = String(error);
  }
  console.log(JSON.stringify({ step: name, problem }));
}

function wanted(holds, shown) {
  return holds ? "" : JSON.stringify(shown).slice(0, 300);
}

const sdk = await parts();
const options = generation === "client" ? { versionNegotiation: { mode } } : {};
const client = new sdk.Client({ name: "check-clients", version: "1" }, options);
const text = (result) => result.content.map((part) => part.text).join("\n");
let note = {};

async function call(name, args, holds) {
  await step(name, async () => {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError) return text(result);
    const data = result.structuredContent;
    if (name === "remember" || name === "read") note = { id: data.id, etag: data.etag };
    return wanted(data && holds(text(result), data), result);
  });
}

await step("connect", async () => client.connect(transport(sdk)));
await step("tools/list", async () => {
  const names = (await client.listTools()).tools.map((tool) => tool.name).sort().join(" ");
  return wanted(names === "brief forget read recall remember revise", names);
});
await call("remember", { text: "网关 Gateway listens on 8443.", type: "Decision" }, (_, d) => d.id);
await call("recall", { query: "8443" }, (shown) => shown.includes("网关 Gateway"));
await call("read", { id: note.id }, (shown) => shown.includes("8443"));
await call("revise", { ...note, find: "8443", replace: "9443" }, (_, d) => d.etag !== note.etag);
await call("brief", {}, (shown) => shown.includes("9443"));
await step("resources", async () => {
  const fixed = (await client.listResources()).resources.map((one) => one.uri);
  const shapes = (await client.listResourceTemplates()).resourceTemplates;
  const read = (uri) => client.readResource({ uri }).then((found) => found.contents[0].text);
  const shown = await read(`memorix://notes/${note.id}`);
  const brief = await read("memorix://brief");
  const good = fixed.includes("memorix://status") && shapes.length === 1;
  return wanted(good && shown.includes("9443") && brief.includes("9443"), { fixed, shapes, shown });
});
await step("prompts", async () => {
  const names = (await client.listPrompts()).prompts.map((one) => one.name).sort();
  const shown = await client.getPrompt({ name: "save-session" });
  return wanted(names.includes("reflect") && shown.messages[0].content.text, names);
});
await call("forget", { id: note.id }, (shown) => shown.includes(note.id));
await step("an error is told", async () => {
  const result = await client.callTool({ name: "read", arguments: { id: "no-such-note" } });
  return wanted(result.isError && /no note/i.test(text(result)), result);
});
await step("close", async () => client.close());
process.exit(0);
