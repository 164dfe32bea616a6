// Real clients whose user is asked before a call runs: what becomes of the call,
// and what the vault holds afterwards. Each case has a vault and a server of its
// own.
import { isDeepStrictEqual } from 'node:util';

import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';

const note = 'Plants/Bean.md';
const content = 'Other words.\n';
const replace = { name: 'write_note', arguments: { path: note, content, mode: 'overwrite' } };

// A person takes longer than any program that answers for one.
const thinking = 250;
const impatience = 1_000;
const patience = 10_000;
const atOnce = 4;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const never = new Promise(() => {});
const answers = (answer) => async () => {
  await sleep(thinking);
  return answer;
};
const yes = answers({ action: 'accept', content: { approve: true } });

const form = { elicitation: { form: {} } };
const notObtained = 'elicit_required approval_not_obtained';
const declined = 'elicit_required approval_declined';
const required = 'elicit_required approval_required';
const done = 'done';

// The first protocol that knows addresses.
const urls = '2025-11-25';

// Cases: what the client declares, how its user answers, and what is to come of
// it with a handshake and without. Only done may change the vault.
const cases = [
  { name: 'accept', declares: form, user: yes, want: [done, done] },
  { name: 'accept, and not approve', declares: form, user: answers({ action: 'accept', content: { approve: false } }), want: [declined, declined] },
  { name: 'decline', declares: form, user: answers({ action: 'decline' }), want: [declined, declined] },
  { name: 'cancel', declares: form, user: answers({ action: 'cancel' }), want: [notObtained, notObtained] },
  {
    name: 'handler throws', declares: form, want: [notObtained, 'throws'],
    user: async () => {
      await sleep(thinking);
      throw new Error('no window to show it in');
    },
  },
  { name: 'no capability', declares: {}, want: [required, required] },
  { name: '{}', declares: { elicitation: {} }, user: yes, want: [done, done] },
  { name: 'form and url', declares: { elicitation: { form: {}, url: {} } }, user: yes, want: [done, done] },
  { name: 'url only', declares: { elicitation: { url: {} } }, user: yes, page: 'approve', want: [done, done], since: urls },
  { name: 'url only, and no', declares: { elicitation: { url: {} } }, user: yes, page: 'decline', want: [declined, declined], since: urls },
  { name: 'url only, and not opened', declares: { elicitation: { url: {} } }, user: answers({ action: 'decline' }), want: [declined, declined], since: urls },
  { name: 'never answers', declares: form, user: () => never, timeout: impatience, want: ['throws', 'throws'] },
  { name: 'closes stdin', declares: form, user: () => never, closes: true, want: [notObtained, 'throws'] },
];

// answerOn does what a person does with a page: opens its address in a browser, reads
// the form there, and presses one of its buttons.
async function answerOn(address, button) {
  let at = new URL(address);
  let res = await fetch(at, { redirect: 'manual' });
  const cookie = res.headers.get('set-cookie').split(';')[0];
  at = new URL(res.headers.get('location'), at);
  const text = await (await fetch(at, { headers: { cookie } })).text();
  const fields = new URLSearchParams([...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(([, k, v]) => [k, v]));
  fields.set(button, text.match(new RegExp(`<button name="${button}" value="([0-9a-f]{32})"`))[1]);
  res = await fetch(new URL('answer', at), { method: 'POST', body: fields, headers: { cookie, origin: at.origin }, redirect: 'manual' });
  return text.includes(note) && res.status === 303;
}

// asks runs every case with one client. open makes the client and its transport
// for a vault and what it declares; the rest is what run.mjs uses itself.
export async function asks(name, version, { open, plant, contents, check }) {
  const waiting = [...cases];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let c; (c = waiting.shift());) await one(`${name}: ${c.name}`, c);
  }));

  async function one(label, c) {
    const vault = plant();
    const before = contents(vault);
    const { client, transport } = open(vault, c.declares);
    let shown = 0;
    let closed;
    if (c.user) {
      const user = (request) => {
        shown++;
        if (request.params.mode === 'url') {
          const { message, url } = request.params;
          check(`${label}: the address`, !message.includes(note) && url.startsWith('http://127.0.0.1:'), JSON.stringify(request.params));
          if (c.page) sleep(thinking).then(() => answerOn(url, c.page)).then((ok) => check(`${label}: the page`, ok, 'it shows something else'), (e) => check(`${label}: the page`, false, e.stack));
          return c.user();
        }
        const { message, requestedSchema: { required, properties } } = request.params;
        check(`${label}: the form`, message.includes(note) && isDeepStrictEqual(required, ['approve']) && !('default' in properties.approve), JSON.stringify(request.params));
        if (c.closes) {
          const server = transport._process;
          closed = new Promise((exited) => server.once('close', (code, signal) => exited(signal ?? code)));
          server.stdin.end();
        }
        return c.user();
      };
      client.setRequestHandler(client instanceof Client1 ? ElicitRequestSchema : 'elicitation/create', user);
    }
    let got;
    try {
      await client.connect(transport, { timeout: patience });
      got = await outcome(client, c.timeout ?? patience);
      if (closed) check(`${label}: the server ends by itself`, await within(closed) === 0, 'it did not, or not with 0');
    } catch (e) {
      got = e.stack;
    } finally {
      await client.close();
    }
    const want = version < c.since ? required : c.want[version === '2026-07-28' ? 1 : 0];
    check(`${label}: outcome`, got === want, `want ${want}, got ${got}`);
    check(`${label}: forms shown`, shown === (want === required ? 0 : 1), `${shown}`);
    const after = want === done ? { ...before, [note]: content } : before;
    const now = contents(vault);
    const other = [...new Set([...Object.keys(after), ...Object.keys(now)])].filter((p) => after[p] !== now[p]);
    check(`${label}: what the vault holds afterwards`, other.length === 0, `not as expected: ${other}`);
  }
}

// outcome is done, throws, or a code and its reason.
async function outcome(client, timeout) {
  const options = { timeout, maxTotalTimeout: timeout };
  const call = client instanceof Client1 ? client.callTool(replace, undefined, options) : client.callTool(replace, options);
  call.catch(() => {}); // it may fail after nobody waits any more
  try {
    const result = await within(call, timeout + impatience);
    if (!result.isError) return done;
    const { code, details } = result.structuredContent;
    return `${code} ${details.reason}`;
  } catch {
    return 'throws';
  }
}

// within is a promise, or an error after some time.
function within(promise, ms = patience) {
  let timer;
  const late = new Promise((_, fail) => (timer = setTimeout(() => fail(new Error('too late')), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
