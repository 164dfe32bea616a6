// Lets the built vault-mcp set up real clients, and asks each what it has read.
//
//   run.sh BINARY
//
// Each client has a fresh home with a file of its own settings in it. After
// install it has to list the entry, and those that start servers for that have
// to connect; after --uninstall it lists none, and the file is the first one,
// byte for byte, unless the client itself has written to it. None needs an
// account for this, and none may leave this machine. Their exit codes tell
// nothing: Claude Code's is 0 when every server fails. The exit code is 0 if
// everything was as expected; the last line says "N passed, N failed".
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
if (process.argv.length !== 3) {
  console.error('usage: run.sh BINARY');
  process.exit(2);
}
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'vault-mcp-install-'));
const vault = path.join(root, 'Notes of Ana');
fs.cpSync(path.join(here, '../vaults/garden'), vault, { recursive: true });
// By another name the binary would not be known as ours.
const binary = path.join(root, 'vault-mcp');
fs.copyFileSync(path.resolve(process.argv[2]), binary);
fs.chmodSync(binary, 0o755);

let passed = 0;
let failed = 0;

function check(name, ok, why) {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAIL ${name}\n  ${why}`);
  }
}

// command runs a program in a home and tells all that it printed.
function command(home, program, ...args) {
  const got = spawnSync(program, args, {
    cwd: path.join(home, 'work'),
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
    env: {
      HOME: home,
      PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      GEMINI_TELEMETRY_ENABLED: 'false',
      HTTPS_PROXY: 'http://127.0.0.1:9', // nobody is there
      HTTP_PROXY: 'http://127.0.0.1:9',
    },
  });
  return { stdout: got.stdout ?? '', all: `${got.stdout}${got.stderr}${got.error ?? ''}`, code: got.status };
}

const bin = (name) => path.join(here, 'node_modules/.bin', name);
const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

const clients = [
  {
    name: 'claude-code',
    file: '.claude.json',
    first: '{\n\t"theme": "dark",\n\t"mcpServers": {}\n}',
    writes: true, // what it has seen, with each start
    listed(home) {
      const list = command(home, bin('claude'), 'mcp', 'list');
      const get = command(home, bin('claude'), 'mcp', 'get', 'vault');
      return { ok: /^vault: .*✔ Connected$/m.test(list.stdout) && get.stdout.includes('✔ Connected'), said: list.all + get.all };
    },
  },
  {
    name: 'codex',
    file: '.codex/config.toml',
    first: '# mine\r\nmodel = "gpt"  # any\r\n\r\n[mcp_servers.other]\r\ncommand = "true"\r\nargs = [\r\n  "a", # first\r\n]',
    listed(home) {
      const list = command(home, bin('codex'), 'mcp', 'list', '--json');
      const get = command(home, bin('codex'), 'mcp', 'get', 'vault', '--json');
      const one = parsed(get.stdout);
      const ok =
        parsed(list.stdout)?.map((e) => e.name).sort().join() === 'other,vault' &&
        one?.enabled && one.transport.command === binary && one.transport.args[1] === vault && one.tool_timeout_sec === 300;
      return { ok, said: list.all + get.all };
    },
  },
  {
    name: 'gemini',
    file: '.gemini/settings.json',
    first: '// mine\n{\n    /* looks */ "ui": {"theme": "Default"}\n}\n',
    before(home) {
      fs.writeFileSync(path.join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [path.join(home, 'work')]: 'TRUST_FOLDER' }));
    },
    listed(home) {
      const list = command(home, bin('gemini'), 'mcp', 'list');
      return { ok: /✓ vault: .* - Connected/.test(list.all), said: list.all };
    },
  },
];

for (const c of clients) {
  const home = path.join(root, c.name);
  const file = path.join(home, c.file);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.mkdirSync(path.join(home, 'work'));
  fs.writeFileSync(file, c.first, { mode: 0o600 });
  c.before?.(home);
  const install = (...args) => command(home, binary, 'install', c.name, ...args);

  const before = c.listed(home);
  check(`${c.name}: not there at first`, !before.ok, before.said);
  if (c.writes) c.first = fs.readFileSync(file, 'utf8');
  const added = install('--vault', vault);
  check(`${c.name}: install`, added.code === 0 && added.stdout.includes('was added'), added.all);
  const there = c.listed(home);
  check(`${c.name}: the client has it`, there.ok, `${there.said}\n${fs.readFileSync(file, 'utf8')}`);
  const again = install();
  check(`${c.name}: again`, again.code === 0 && again.stdout.includes('is current; nothing was written'), again.all);
  const out = install('--uninstall');
  check(`${c.name}: uninstall`, out.code === 0, out.all);
  const now = fs.readFileSync(file, 'utf8');
  check(`${c.name}: the file afterwards`, c.writes ? !now.includes('vault-mcp') : now === c.first, now);
  check(`${c.name}: its mode`, (fs.statSync(file).mode & 0o777) === 0o600, String(fs.statSync(file).mode));
  const gone = c.listed(home);
  check(`${c.name}: the client has it no more`, !gone.ok, gone.said);
}

fs.rmSync(root, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
