// Runs real MCP clients against the built server and compares what they decode
// with golden/<protocol version>/.
//
//   run.sh BINARY [--vault FOLDER] [--only TEXT] [--update]
//
// run.sh installs what package.json pins and starts this file with the Node.js
// that came with it. BINARY is the built vault-mcp. Each client has a copy of
// the vault (by default the garden vault beside this folder) with a few notes
// more and times that are set. --only runs the clients whose name contains TEXT;
// --update rewrites the golden files. The exit code is 0 if everything was as
// expected; the last line says "N passed, N failed".
//
// Clients: the TypeScript SDK 1.x in each protocol version with a handshake,
// the client 2.x by default, pinned to 2026-07-28 and on automatic
// negotiation, and the command line of the Inspector in both eras. Each lists
// the tools, calls them as calls.mjs says, goes through lists page by page,
// reads resources, and does what prompts.mjs says; then it writes a note, changes it and takes that back, and
// nothing else in its vault may have changed. A tool that is listed without
// calls there is a failure; calls of a tool that is not listed are left out,
// with a note. In asks.mjs the user of a client is asked before a call runs.
//
// What is compared is what the client hands to its user, with sorted keys.
// Replaced are only cursors, ids of changes and requests and what is computed from
// them, the uptime, the program's version, times since this run began, and of the index
// which process keeps it. Each client has a state folder of its own, and its
// calls are compared once the index is ready. All that is served flat, where every tool
// is listed; surfaces.mjs is about the others. The Inspector starts a server for
// every request, so there only the first call of a tool is made in the old era
// and only the last in the new, it is repeated while its answer says that the
// index is still being loaded, and the state of the index itself is not
// compared. Everything runs on this machine over stdio, and every wait is
// bounded.
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, parseArgs } from 'node:util';

import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';

import { asks } from './asks.mjs';
import { surfaces } from './surfaces.mjs';
import { calls, left, missing, notes, ofIndex, paged, story, uris } from './calls.mjs';
import { follows, prompts } from './prompts.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    vault: { type: 'string', default: path.join(here, '../vaults/garden') },
    only: { type: 'string', default: '' },
    update: { type: 'boolean', default: false },
  },
});
if (positionals.length !== 1) {
  console.error('usage: run.sh BINARY [--vault FOLDER] [--only TEXT] [--update]');
  process.exit(2);
}
const binary = path.resolve(positionals[0]);
const requestTimeout = 10_000;
const inspectorTimeout = 40_000;
const indexTimeout = 20_000;
setTimeout(() => {
  console.error('the whole run took too long');
  process.exit(1);
}, 420_000).unref();

let passed = 0;
let failed = 0;

function fail(name, why) {
  failed++;
  console.log(`FAIL ${name}\n  ${why}`);
}

function check(name, ok, why) {
  if (ok) passed++;
  else fail(name, why);
}

// golden compares a decoded value with its file, or rewrites that.
function golden(name, version, file, value) {
  const text = JSON.stringify(normal(value), null, 2) + '\n';
  const full = path.join(here, 'golden', version, file + '.json');
  if (flags.update && !written.has(full)) {
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text);
    written.add(full);
  }
  const want = fs.existsSync(full) ? fs.readFileSync(full, 'utf8') : '';
  check(`${name}: ${version}/${file}`, want === text, difference(want, text));
}
const written = new Set(); // the first client of a version writes, the others compare

// among compares answers with those of a golden file that have their arguments.
function among(name, version, file, answers) {
  const full = path.join(here, 'golden', version, file + '.json');
  const all = fs.existsSync(full) ? JSON.parse(fs.readFileSync(full, 'utf8')) : [];
  const got = answers.map((a) => normal(a));
  const want = got.map((g) => all.find((w) => isDeepStrictEqual(w.arguments, g.arguments)) ?? null);
  const [w, g] = [want, got].map((v) => JSON.stringify(v, null, 2));
  check(`${name}: ${version}/${file}`, w === g, difference(w, g));
}

function difference(want, got) {
  const w = want.split('\n');
  const g = got.split('\n');
  const at = g.findIndex((line, i) => line !== w[i]);
  return `line ${at + 1}: want ${w[at]}\n  line ${at + 1}:  got ${g[at]}`;
}

const program = execFileSync(binary, ['version'], { encoding: 'utf8', timeout: requestTimeout }).trim().split(' ').pop();

const begun = Math.floor(Date.now() / 1000) * 1000;
const varying = new Set(['compared_at', 'reloaded_at', 'indexer', 'watching', 'args_hash', 'call_hash', 'request_id', 'state_fp']);
const varied = new RegExp(`\\b(${[...varying].join('|')})("?): ?("[^"]*"|[\\w:+-]+)`, 'g');

// normal sorts keys and replaces what differs from run to run. The ids of
// changes are numbered as they come, and ids has them afterwards.
function normal(v, ids = [], key) {
  if (Array.isArray(v)) return v.filter((x) => x?.type !== 'counter').map((x) => normal(x?.type === 'gauge' ? { ...x, value: 0 } : x, ids));
  if (v !== null && typeof v === 'object') {
    return Object.fromEntries(Object.keys(v).sort().map((k) => [k, normal(v[k], ids, k)]));
  }
  if (key === 'uptime_ms') return 0;
  if (key === 'level') return '<level>';
  if (varying.has(key) && v !== null) return `<${key}>`;
  if (key === 'version' && v === program) return '<version>';
  if (typeof v !== 'string') return v;
  return v
    .replace(/eyJ[\w-]+\.[0-9a-f]{8}\.[\w-]+/g, '<cursor>')
    .replace(/- \w+ \| counter \| \d+ \| \{\}\n/g, '') // some clients start a server for each call
    .replace(/\{"name":"\w+","type":"counter","value":\d+,"labels":\{\}\},/g, '')
    .replace(/\| gauge \| \d+ \|/g, '| gauge | 0 |')
    .replace(/("type":"gauge","value":)\d+/g, (_, before) => before + '0')
    .replace(/("log":\{"level":")\w+/g, '$1<level>')
    .replace(/(uptime_ms"?: ?)\d+/g, (_, key) => key + '0')
    .replace(varied, (_, key, quote) => `${key}${quote}: <${key}>`)
    .replace(/(vault-mcp elicit --hash )\w+(.* --state-fp )[\w.-]+/g, '$1<call_hash>$2<state_fp>')
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (at) => (Date.parse(at) < begun ? at : '<now>'))
    .replace(/\b[0-9a-f]{16}\b/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `<change ${ids.indexOf(id) + 1}>`;
    })
    .replace(`version: ${program}`, 'version: <version>')
    .replace(`"version":"${program}"`, '"version":"<version>"');
}

// outcome is a result, or what a client makes of an error of the protocol.
async function outcome(promise) {
  try {
    return { result: await promise };
  } catch (e) {
    if (typeof e.code !== 'number') throw e;
    return { error: { code: e.code, message: e.message.replace(/^MCP error -\d+: /, ''), ...(e.data && { data: e.data }) } };
  }
}

const box = fs.mkdtempSync(path.join(os.tmpdir(), 'vault-mcp-clients-'));
process.on('exit', () => fs.rmSync(box, { recursive: true, force: true }));

// plant makes the vault of one client. Its folder's name is the same each time.
let homes = 0;
function plant() {
  const vault = path.join(box, `${++homes}`, 'garden');
  fs.cpSync(flags.vault, vault, { recursive: true });
  for (const [name, text] of Object.entries(notes)) {
    fs.mkdirSync(path.dirname(path.join(vault, name)), { recursive: true });
    fs.writeFileSync(path.join(vault, name), text);
  }
  let minute = 0;
  for (const name of fs.readdirSync(vault, { recursive: true }).sort()) {
    const at = new Date(Date.UTC(2026, 4, 1, 8, minute++));
    fs.utimesSync(path.join(vault, name), at, at);
  }
  return vault;
}

// contents is all that a vault holds, by path.
function contents(vault) {
  const all = {};
  for (const name of fs.readdirSync(vault, { recursive: true }).sort()) {
    const full = path.join(vault, name);
    all[name.replaceAll(path.sep, '/')] = fs.statSync(full).isDirectory() ? null : fs.readFileSync(full, 'latin1');
  }
  return all;
}

// home is the environment of one client, which shares no state with others.
function home(vault) {
  const dir = path.join(vault, '../home');
  fs.mkdirSync(dir);
  return { PATH: process.env.PATH, HOME: dir, XDG_STATE_HOME: path.join(dir, 'state'), TZ: 'UTC', VAULT_MCP_LOG: 'error' };
}

// configured writes a config that serves a vault, and is its path.
function configured(vault, settings) {
  const file = path.join(vault, '../config.json');
  fs.writeFileSync(file, JSON.stringify({ vaults: [{ path: vault }], surface: 'flat', ...settings }));
  return file;
}

// server is how to start one.
function server(vault, settings) {
  return { command: binary, args: ['serve', configured(vault, settings)], env: home(vault), stderr: 'inherit' };
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ready waits for the index, which is built in the background.
async function ready(call) {
  const end = Date.now() + indexTimeout;
  for (;;) {
    const { index, compared_at } = data(await call('get_index_status', {}));
    if (index === 'ready' && compared_at) return;
    if (Date.now() > end) throw new Error(`the index is still ${index}`);
    await sleep(50);
  }
}

// unlisted are tools that are not in the list of all, since they lead to the others.
const unlisted = ['find_capability', 'describe_capability'];

// called returns the calls of the tools that are listed, and of others.
const absent = new Set();
function called(list, others) {
  const names = new Set([...others, ...list.map((t) => t.name)]);
  for (const tool of Object.keys(calls)) {
    if (names.has(tool) || unlisted.includes(tool) || absent.has(tool)) continue;
    absent.add(tool);
    console.log(`note: ${tool} is not listed, so it is not called`);
  }
  return Object.entries(calls).filter(([tool]) => names.has(tool));
}

// sdk runs one of the two TypeScript clients.
async function sdk(name, version, vault, client, transport, negotiated) {
  if (!name.includes(flags.only)) return;
  try {
    await client.connect(transport, { timeout: requestTimeout });
    check(`${name}: negotiated version`, negotiated() === version, `want ${version}, got ${negotiated()}`);
    await exercise(name, version, vault, client);
  } catch (e) {
    fail(name, e.stack);
  } finally {
    await client.close();
  }
}

async function exercise(name, version, vault, client) {
  const before = contents(vault);
  const opts = { timeout: requestTimeout };
  const call = (tool, args) => outcome(client instanceof Client1
    ? client.callTool({ name: tool, arguments: args }, undefined, opts)
    : client.callTool({ name: tool, arguments: args }, opts));
  golden(name, version, 'server', {
    server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions(),
  });

  const list = [];
  for (let cursor; ;) {
    const page = await client.listTools(cursor && { cursor }, opts);
    list.push(...page.tools);
    if (!(cursor = page.nextCursor)) break;
  }
  // Older protocols have no structured answers, so no schemas of them either.
  golden(name, version < '2025-06-18' ? 'textonly' : 'any', 'tools', list);
  covers(name, list);
  for (const [tool, all] of called(list, unlisted)) {
    const answers = [];
    for (const args of all) answers.push({ arguments: args, ...(await call(tool, args)) });
    golden(name, version, tool, answers);
    if (tool === 'server_health') await ready(call);
  }
  golden(name, version, 'unknown_tool', await call('read_nots', {}));

  for (const [tool, args, key, limit] of paged) {
    if (absent.has(tool)) continue;
    const first = data(await call(tool, { ...args, limit: 1000 }));
    const whole = first[key]; // or as much as the soft budget shows at once
    const items = [];
    let pages = 0;
    for (let cursor = null; pages === 0 || cursor; pages++) {
      const page = data(await call(tool, { ...args, limit, ...(cursor && { cursor }) }));
      items.push(...page[key]);
      cursor = page.next_cursor;
    }
    check(`${name}: pages of ${tool}`, pages > 1 && isDeepStrictEqual(first.cut ? items.slice(0, whole.length) : items, whole), `${items.length} items on ${pages} pages, ${whole.length} at once`);
  }

  if (!absent.has('changes_since')) await changes(name, vault, call);

  const { resourceTemplates } = await client.listResourceTemplates(undefined, opts);
  const resources = [];
  for (let cursor; ;) {
    const page = await client.listResources(cursor && { cursor }, opts);
    resources.push(...page.resources);
    if (!(cursor = page.nextCursor)) break;
  }
  golden(name, version, 'resource_lists', { resourceTemplates, resources });
  const read = [];
  for (const uri of uris) read.push({ uri, ...(await outcome(client.readResource({ uri }, opts))) });
  golden(name, version, 'resources', read);
  const gone = await outcome(client.readResource({ uri: missing }, opts));
  // The client 2.x turns the older code into the newer one.
  const code = version < '2026' && client instanceof Client1 ? -32002 : -32602;
  check(`${name}: ${missing}`, gone.error?.code === code && gone.error.data?.uri === missing, JSON.stringify(gone));
  for (const { uri, size } of resources) {
    const [c] = (await client.readResource({ uri }, opts)).contents;
    const bytes = c.text === undefined ? Buffer.from(c.blob, 'base64') : Buffer.from(c.text);
    check(`${name}: ${uri}`, bytes.length === size, `${bytes.length} bytes, listed with ${size}`);
  }
  await prompts(name, version, client, opts, { golden, outcome });
  await follows(name, version, vault, client, opts, { check });
  await tell(name, version, call);
  leaves(name, vault, before);
}

// tell goes through the story, in which later calls name the changes of earlier
// ones.
async function tell(name, version, call) {
  const ids = [];
  const answers = [];
  for (const [tool, args] of story) {
    const sent = Object.fromEntries(Object.entries(args).map(([k, v]) => [k, k === 'change_id' ? ids[v.match(/\d+/)[0] - 1] : v]));
    const answer = { tool, arguments: sent, ...(await call(tool, sent)) };
    answers.push(answer);
    normal(answer, ids);
  }
  golden(name, version, 'story', answers);
  // Not left to the golden file, into which --update would write a failure too.
  const undone = answers.filter(({ tool, result }) => tool === 'undo_change' && !result?.isError).length;
  check(`${name}: changes of the story`, ids.length === 5 && undone === 2, `${ids.length} changes, ${undone} of them taken back`);
}

// leaves checks that nothing in a vault has changed but what the story leaves.
function leaves(name, vault, before) {
  const want = { ...before, ...Object.fromEntries(Object.entries(left).map(([p, text]) => [p, Buffer.from(text).toString('latin1')])) };
  const got = contents(vault);
  const other = [...new Set([...Object.keys(want), ...Object.keys(got)])].filter((p) => want[p] !== got[p]);
  check(`${name}: what the vault holds afterwards`, other.length === 0, `not as expected: ${other}`);
}

// changes looks at what changes_since tells of a note that comes and goes.
async function changes(name, vault, call) {
  const file = 'Journal/Passing.md';
  const full = path.join(vault, file);
  let { next_cursor: cursor } = data(await call('changes_since', {}));
  const since = async (what, changed, removed) => {
    await call('index_vault', {}); // compares now, whatever the system reports
    const got = data(await call('changes_since', { cursor }));
    const ok = isDeepStrictEqual([got.changed.map((c) => c.path), got.removed, got.more], [changed, removed, false]);
    check(`${name}: changes_since ${what}`, ok, JSON.stringify(got));
    cursor = got.next_cursor;
  };
  try {
    await since('nothing', [], []);
    fs.writeFileSync(full, 'Here for a moment.\n');
    await since('a new note', [file], []);
    fs.rmSync(full);
    await since('a removed note', [], [file]);
  } finally {
    fs.rmSync(full, { force: true });
  }
}

// data is a data result's object, which older protocols have as text.
function data({ result }) {
  return result.structuredContent ?? JSON.parse(result.content[0].text);
}

function covers(name, list) {
  const without = list.map((t) => t.name).filter((t) => !calls[t]);
  check(`${name}: every tool is called`, without.length === 0, `no calls of ${without}`);
}

// inspector runs the Inspector's command line, one process for each request.
async function inspector(era, version) {
  const name = `inspector ${era}`;
  if (!name.includes(flags.only)) return;
  const cli = path.join(here, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const vault = plant();
  const before = contents(vault);
  const own = home(vault);
  let file = configured(vault);
  const run = (...args) => new Promise((done) => {
    const all = [cli, '--cli', '--protocol-era', era, '-q', '--format', 'json', ...args, '--', binary, 'serve', file];
    execFile(process.execPath, all, {
      timeout: inspectorTimeout, killSignal: 'SIGKILL', maxBuffer: 1 << 26,
      env: { ...own, MCP_CATALOG_PATH: path.join(own.HOME, 'catalog.json') },
    }, (err, stdout, stderr) => done({ code: err ? err.code : 0, stdout, stderr }));
  });
  const answer = ({ stdout, stderr }) => {
    const text = stdout.trim() || stderr.trim().split('\n').find((line) => line.startsWith('{"error"'));
    if (!text) throw new Error(`no answer: ${stderr}`);
    return JSON.parse(text);
  };
  const strict = (surface, { code, stderr }) => { // it exits with 0 after warnings
    check(`${name}: tools/list --strict of ${surface}`, code === 0 && !stderr.includes('Warning:'), `exit code ${code}: ${stderr}`);
  };
  try {
    for (const surface of ['core', 'triad', 'domain']) {
      file = configured(vault, { surface });
      const listed = await run('--method', 'tools/list', '--strict');
      strict(surface, listed);
      golden(name, 'any', `tools_${surface}`, answer(listed).result.tools);
    }
    file = configured(vault);
    const listed = await run('--method', 'tools/list', '--strict');
    strict('flat', listed);
    const { tools } = answer(listed).result;
    golden(name, 'any', 'tools', tools);
    covers(name, tools);
    const call = (tool, args) => run('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));
    for (const [tool, all] of called(tools, [])) { // it refuses to call what is not listed
      const answers = [];
      for (const args of [era === 'legacy' ? all[0] : all.at(-1)]) {
        let got = await call(tool, args);
        for (let i = 0; i < 10 && unsettled(tool, got.stdout); i++) got = await call(tool, args);
        const { result } = answer(got);
        check(`${name}: exit code of ${tool}`, got.code === (result?.isError ? 5 : 0), `exit code ${got.code}: ${got.stderr}`);
        answers.push({ arguments: args, result });
      }
      if (!ofIndex.includes(tool)) among(name, version, tool, answers);
    }
    const { result: { resources } } = answer(await run('--method', 'resources/list'));
    const { result: { resourceTemplates } } = answer(await run('--method', 'resources/templates/list'));
    golden(name, version, 'resource_lists', { resourceTemplates, resources });
    for (const uri of uris) {
      const { result } = answer(await run('--method', 'resources/read', '--uri', uri));
      check(`${name}: ${uri}`, result?.contents?.length === 1, JSON.stringify(result));
    }
    const { error } = answer(await run('--method', 'resources/read', '--uri', missing));
    check(`${name}: ${missing}`, error?.message === 'Resource not found', JSON.stringify(error));
    await tell(name, version, async (tool, args) => ({ result: answer(await call(tool, args)).result }));
    leaves(name, vault, before);
  } catch (e) {
    fail(name, e.stack);
  }
}

// unsettled tells whether an answer says that the index could not be used.
function unsettled(tool, text) {
  return !ofIndex.includes(tool) && /index_not_ready|\bindex(\\?")?: ?(\\?")?(loading|building)/.test(text);
}

// Versioned is a transport of the SDK 1.x that asks for one version.
class Versioned extends Stdio1 {
  constructor(params, version) {
    super(params);
    this.asked = version;
  }
  send(message) {
    if (message.method === 'initialize') message.params.protocolVersion = this.asked;
    return super.send(message);
  }
  setProtocolVersion(version) {
    this.negotiated = version;
  }
}

const info = { name: 'vault-mcp-test', version: '1.0.0' };
for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
  const vault = plant();
  const transport = new Versioned(server(vault), version);
  await sdk(`sdk 1 ${version}`, version, vault, new Client1(info), transport, () => transport.negotiated);
}
for (const [name, version, versionNegotiation] of [
  ['client 2 default', '2025-11-25', undefined],
  ['client 2 pinned', '2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['client 2 auto', '2026-07-28', { mode: 'auto' }],
]) {
  const vault = plant();
  const client = new Client2(info, versionNegotiation && { versionNegotiation });
  await sdk(name, version, vault, client, new Stdio2(server(vault)), () => client.getNegotiatedProtocolVersion());
}
const tools = { plant, contents, check, golden, configured, binary };
const asking = async (name, version, open) => {
  if (name.includes(flags.only)) await asks(name, version, { open, ...tools });
  const other = name.replace('asks', 'surfaces');
  if (other.includes(flags.only)) await surfaces(other, version === '2026-07-28', { open, ...tools });
};
for (const version of ['2025-06-18', '2025-11-25']) {
  await asking(`sdk 1 ${version} asks`, version, (vault, capabilities, settings) => (
    { client: new Client1(info, { capabilities }), transport: new Versioned(server(vault, settings), version) }));
}
await asking('client 2 pinned asks', '2026-07-28', (vault, capabilities, settings) => (
  { client: new Client2(info, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } }), transport: new Stdio2(server(vault, settings)) }));
await Promise.all([inspector('legacy', '2025-11-25'), inspector('modern', '2026-07-28')]);

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
