// Runs real MCP clients against the built server and compares what they decode
// with golden/<protocol version>/.
//
//   run.sh BINARY [--vault FOLDER] [--only TEXT] [--update]
//
// run.sh installs what package.json pins and starts this file with the Node.js
// that came with it. BINARY is the built vault-mcp. The vault (by default the
// garden vault beside this folder) is copied first, and the times of its files
// are set. --only runs the clients whose name contains TEXT; --update rewrites
// the golden files. The exit code is 0 if everything was as expected; the last
// line says "N passed, N failed".
//
// Clients: the TypeScript SDK 1.x in each protocol version with a handshake,
// the client 2.x by default, pinned to 2026-07-28 and on automatic
// negotiation, and the command line of the Inspector in both eras. Each lists
// the tools, calls every one of them, goes through lists page by page, and
// reads resources.
//
// What is compared is what the client hands to its user, with sorted keys.
// Only cursors, the uptime and the program's version are replaced. Everything
// runs on this machine over stdio, and every wait is bounded.
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
setTimeout(() => {
  console.error('the whole run took too long');
  process.exit(1);
}, 300_000).unref();

// Calls of every tool. One that is listed and not here is a failure.
const calls = {
  server_health: [{}], // first, so that nothing was counted yet
  list_vaults: [{}],
  get_vault: [{}],
  list_notes: [{}, { folder: 'Plants', sort: '-mtime', limit: 2 }, { glob: 'Journal/**' }, { folder: 'Nowhere' }],
  note_exists: [{ path: 'plants/tomato' }, { path: 'Nowhere' }],
  read_note: [{ path: 'Plants/Grünkohl' }, { path: 'Plants/Tomato.md', from_line: 9, lines: 3, format: 'json' }, { path: 'Plants/Tomatoes' }, { pth: 'x' }],
  read_notes: [{ paths: ['Garden', 'Nowhere.md', 'Journal/From Windows.md'] }],
  read_section: [
    { path: 'Plants/Tomato.md', heading: ['Varieties'] },
    { path: 'Plants/Bean.md', block: 'bean-poles' },
    { path: 'Plants/Tomato.md', heading: ['Care'] },
  ],
  read_frontmatter: [{ path: 'Plants/Tomato.md' }, { path: 'Plants/Bean.md' }, { path: 'Reference/Broken.md' }],
  read_property: [{ path: 'Plants/Tomato.md', key: 'Aliases' }, { path: 'Journal/2026-03-14.md', key: 'weather.sky', nested: true }, { path: 'Garden.md', key: 'nothing' }],
  search_text: [{ query: 'tomato' }, { query: 'frost', whole_word: true, verbosity: 'terse', limit: 3 }],
  search_regex: [{ pattern: '^# ', limit: 5 }, { pattern: '(' }],
  list_attachments: [{}],
  get_attachment: [{ path: 'attachments/bed-plan.png' }, { path: 'attachments/seed-bag.pdf' }, { path: 'attachments/bed-plan.png', format: 'json' }],
  bundle_folder: [{ root: 'Beds' }, { root: 'Plants', max_files: 2 }],
  bundle_files: [{ paths: ['Plants/Bean', 'Nowhere'], format: 'xml' }],
};

// Lists that are also gone through page by page: what they hold, and how much
// of it on a page.
const paged = [
  ['list_notes', {}, 'notes', 4],
  ['list_notes', { sort: 'size' }, 'notes', 3],
  ['search_text', { query: 'tomato' }, 'items', 2],
  ['search_regex', { pattern: '^#+ ' }, 'items', 7],
  ['list_attachments', {}, 'attachments', 1],
];

const uris = [
  'vault://main/Plants/Gr%C3%BCnkohl.md',
  'obsidian-tc://main/Journal/2026-04-02.md',
  'vault://main/Notes%20%26%20Ends/50%25%20shade%2C%20100%25%20luck.md',
  'vault://main/attachments/bed-plan.png',
  'vault://main/Map.canvas',
];
const missing = 'vault://main/Nowhere.md';

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

function difference(want, got) {
  const w = want.split('\n');
  const g = got.split('\n');
  const at = g.findIndex((line, i) => line !== w[i]);
  return `line ${at + 1}: want ${w[at]}\n  line ${at + 1}:  got ${g[at]}`;
}

const program = execFileSync(binary, ['version'], { encoding: 'utf8', timeout: requestTimeout }).trim().split(' ').pop();

// normal sorts keys and replaces what differs from run to run.
function normal(v, key) {
  if (Array.isArray(v)) return v.map((x) => normal(x));
  if (v !== null && typeof v === 'object') {
    return Object.fromEntries(Object.keys(v).sort().map((k) => [k, normal(v[k], k)]));
  }
  if (key === 'uptime_ms') return 0;
  if (key === 'version' && v === program) return '<version>';
  if (typeof v !== 'string') return v;
  return v
    .replace(/eyJ[\w-]+\.[0-9a-f]{8}\.[\w-]+/g, '<cursor>')
    .replace(/(uptime_ms"?: ?)\d+/g, (_, key) => key + '0')
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
const vault = path.join(box, 'garden');
fs.cpSync(flags.vault, vault, { recursive: true });
let minute = 0;
for (const name of fs.readdirSync(vault, { recursive: true }).sort()) {
  const at = new Date(Date.UTC(2026, 4, 1, 8, minute++));
  fs.utimesSync(path.join(vault, name), at, at);
}
const env = { PATH: process.env.PATH, HOME: box, XDG_STATE_HOME: path.join(box, 'state'), TZ: 'UTC', VAULT_MCP_LOG: 'error' };
const server = { command: binary, args: ['serve', vault], env, stderr: 'inherit' };

// sdk runs one of the two TypeScript clients.
async function sdk(name, version, client, transport, negotiated) {
  if (!name.includes(flags.only)) return;
  try {
    await client.connect(transport, { timeout: requestTimeout });
    check(`${name}: negotiated version`, negotiated() === version, `want ${version}, got ${negotiated()}`);
    await exercise(name, version, client);
  } catch (e) {
    fail(name, e.stack);
  } finally {
    await client.close();
  }
}

async function exercise(name, version, client) {
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
  golden(name, 'any', 'tools', list);
  covers(name, list);
  for (const [tool, all] of Object.entries(calls)) {
    const answers = [];
    for (const args of all) answers.push({ arguments: args, ...(await call(tool, args)) });
    golden(name, version, tool, answers);
  }
  golden(name, version, 'unknown_tool', await call('read_nots', {}));

  for (const [tool, args, key, limit] of paged) {
    const whole = data(await call(tool, { ...args, limit: 1000 }))[key];
    const items = [];
    let pages = 0;
    for (let cursor = null; pages === 0 || cursor; pages++) {
      const page = data(await call(tool, { ...args, limit, ...(cursor && { cursor }) }));
      items.push(...page[key]);
      cursor = page.next_cursor;
    }
    check(`${name}: pages of ${tool}`, pages > 1 && isDeepStrictEqual(items, whole), `${items.length} items on ${pages} pages, ${whole.length} at once`);
  }

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
  const run = (...args) => new Promise((done) => {
    const all = [cli, '--cli', '--protocol-era', era, '-q', '--format', 'json', ...args, '--', binary, 'serve', vault];
    execFile(process.execPath, all, {
      timeout: inspectorTimeout, killSignal: 'SIGKILL', maxBuffer: 1 << 26,
      env: { ...env, MCP_CATALOG_PATH: path.join(box, 'catalog.json') },
    }, (err, stdout, stderr) => done({ code: err ? err.code : 0, stdout, stderr }));
  });
  const answer = ({ stdout, stderr }) => {
    const text = stdout.trim() || stderr.trim().split('\n').find((line) => line.startsWith('{"error"'));
    if (!text) throw new Error(`no answer: ${stderr}`);
    return JSON.parse(text);
  };
  try {
    const listed = await run('--method', 'tools/list', '--strict');
    check(`${name}: tools/list --strict`, listed.code === 0, `exit code ${listed.code}: ${listed.stderr}`);
    const { tools } = answer(listed).result;
    golden(name, 'any', 'tools', tools);
    covers(name, tools);
    for (const [tool, all] of Object.entries(calls)) {
      const answers = [];
      for (const args of all) {
        const got = await run('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));
        const { result } = answer(got);
        check(`${name}: exit code of ${tool}`, got.code === (result?.isError ? 5 : 0), `exit code ${got.code}: ${got.stderr}`);
        answers.push({ arguments: args, result });
      }
      golden(name, version, tool, answers);
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
  } catch (e) {
    fail(name, e.stack);
  }
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
  const transport = new Versioned(server, version);
  await sdk(`sdk 1 ${version}`, version, new Client1(info), transport, () => transport.negotiated);
}
for (const [name, version, versionNegotiation] of [
  ['client 2 default', '2025-11-25', undefined],
  ['client 2 pinned', '2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['client 2 auto', '2026-07-28', { mode: 'auto' }],
]) {
  const client = new Client2(info, versionNegotiation && { versionNegotiation });
  await sdk(name, version, client, new Stdio2(server), () => client.getNegotiatedProtocolVersion());
}
await inspector('legacy', '2025-11-25');
await inspector('modern', '2026-07-28');

console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
