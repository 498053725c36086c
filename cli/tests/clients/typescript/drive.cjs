// Drives a server through an official TypeScript client: does what the plan asks and prints a report of what came back.
//
// usage: drive.cjs PLAN MODULES 1|2, both the plan and the report as clients/plan.rs describes them. MODULES is the
// folder that holds node_modules. 1 is the SDK most clients are built with, 2 its successor, which first asks the server
// for newer ways of speaking.

const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { setTimeout: pause } = require("node:timers/promises");

const [, , planPath, modules, generation] = process.argv;
const installed = createRequire(`${modules}/`);

function connection(plan) {
  const server = { command: plan.command, args: plan.args, env: plan.env };
  const about = { name: "drive", version: "1" };
  if (generation === "1") {
    const { Client } = installed("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = installed("@modelcontextprotocol/sdk/client/stdio.js");
    const { getDefaultEnvironment } = installed("@modelcontextprotocol/sdk/client/stdio.js");
    server.env = { ...getDefaultEnvironment(), ...plan.env };
    return [new Client(about), new StdioClientTransport(server)];
  }
  const { Client } = installed("@modelcontextprotocol/client");
  const { StdioClientTransport, getDefaultEnvironment } = installed("@modelcontextprotocol/client/stdio");
  server.env = { ...getDefaultEnvironment(), ...plan.env };
  return [new Client(about, { versionNegotiation: { mode: "auto" } }), new StdioClientTransport(server)];
}

function call(client, { tool, arguments: values }, options) {
  const params = values === null ? { name: tool } : { name: tool, arguments: values };
  return generation === "1" ? client.callTool(params, undefined, options) : client.callTool(params, options);
}

async function outcome(answer) {
  try {
    const result = await answer;
    return { text: result.content[0].text, is_error: Boolean(result.isError) };
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return { code: error.code };
  }
}

// Takes a call back while it is being worked on, once another one has been answered beside it.
async function interrupted(client, plan) {
  const taken = new AbortController();
  const waiting = call(client, plan.wait, { signal: taken.signal }).then(
    () => { throw new Error("the wait ended by itself"); },
    () => undefined,
  );
  await pause(plan.pause_ms);
  const meanwhile = await outcome(call(client, plan.meanwhile));
  taken.abort();
  await waiting;
  await client.ping();
  return meanwhile;
}

async function prompts(client) {
  if (!client.getServerCapabilities().prompts) return [];
  const told = [];
  for (const { name } of (await client.listPrompts()).prompts) {
    const [message] = (await client.getPrompt({ name })).messages;
    told.push({ name, role: message.role, text: message.content.text });
  }
  return told;
}

async function drive(plan) {
  const [client, transport] = connection(plan);
  await client.connect(transport);
  const tools = (await client.listTools()).tools.map((tool) => tool.name);
  const report = { server: client.getServerVersion().name, tools, calls: [] };
  for (const step of plan.calls) report.calls.push(await outcome(call(client, step)));
  report.prompts = await prompts(client);
  report.meanwhile = tools.includes(plan.wait.tool) ? await interrupted(client, plan) : null;
  await client.close();
  console.log(JSON.stringify(report));
}

drive(JSON.parse(readFileSync(planPath, "utf8"))).catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
