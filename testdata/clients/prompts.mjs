// What real clients do besides calling tools: they fill in prompts, have values
// completed, and are told of resources that change.
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

const gets = [
  ['summarize_note', { path: 'plants/tomato' }],
  ['find_connections', { topic: 'tomato', tag: '#plant' }],
  ['decompose_and_research', { question: 'What does the tomato need?', max_variants: '2' }],
  ['recent_changes_digest', { limit: '3' }],
  ['summarize_note', {}],
  ['summarize_note', { path: 'Plants/Nothing' }],
  ['summarise_note', { path: 'plants/tomato' }],
];

const prompt = (name) => ({ type: 'ref/prompt', name });
const template = { type: 'ref/resource', uri: 'vault://{+path}' };
const completes = [
  [prompt('summarize_note'), 'path', 'Bed'],
  [prompt('summarize_note'), 'path', 'grün'],
  [prompt('find_connections'), 'tag', 'journal'],
  [prompt('find_connections'), 'property', 's'],
  [template, 'path', 'main/Plants'],
  [template, 'path', 'map'],
  [prompt('nothing'), 'path', 'x'],
];

// prompts goes through all of them with one client.
export async function prompts(name, version, client, opts, { golden, outcome }) {
  golden(name, version, 'prompt_list', await client.listPrompts(undefined, opts));
  const filled = [];
  for (const [prompt, args] of gets) filled.push({ prompt, arguments: args, ...(await outcome(client.getPrompt({ name: prompt, arguments: args }, opts))) });
  golden(name, version, 'prompts', filled);
  const completed = [];
  for (const [ref, arg, value] of completes) {
    completed.push({ ref, argument: arg, value, ...(await outcome(client.complete({ ref, argument: { name: arg, value } }, opts))) });
  }
  golden(name, version, 'completions', completed);
}

const patience = 10_000;

// follows looks at what a client is told of two notes that are changed from
// outside: both, then only the one that it goes on to follow, then none.
export async function follows(name, version, vault, client, opts, { check }) {
  check(`${name}: subscribe is declared`, client.getServerCapabilities().resources.subscribe === true, 'it is not');
  const told = [];
  let wake = () => {};
  const heard = ({ params }) => {
    told.push(params.uri);
    wake();
  };
  if (client instanceof Client1) client.setNotificationHandler(ResourceUpdatedNotificationSchema, heard);
  else client.setNotificationHandler('notifications/resources/updated', heard);
  const until = async (uri) => {
    const end = Date.now() + patience;
    while (!told.includes(uri)) {
      if (Date.now() > end) throw new Error(`nothing is told of ${uri}; told: ${told}`);
      await new Promise((done) => {
        wake = done;
        setTimeout(done, 100);
      });
    }
  };
  const follow = async (uri) => {
    if (version >= '2026') {
      const subscription = await client.listen({ resourceSubscriptions: [uri] }, opts);
      check(`${name}: ${uri} is followed`, isDeepStrictEqual(subscription.honoredFilter, { resourceSubscriptions: [uri] }), JSON.stringify(subscription.honoredFilter));
      return () => subscription.close();
    }
    await client.subscribeResource({ uri }, opts);
    return () => client.unsubscribeResource({ uri }, opts);
  };
  const files = ['Journal/Followed one.md', 'Journal/Followed two.md'];
  const [one, two] = files.map((f) => 'vault://main/' + encodeURI(f));
  const write = (i, text) => {
    const next = path.join(vault, '.next');
    fs.writeFileSync(next, text);
    fs.renameSync(next, path.join(vault, files[i]));
  };
  try {
    write(0, 'first');
    write(1, 'first');
    const leave = await follow(one);
    const last = await follow(two);
    write(0, 'second');
    await until(one);
    write(1, 'second');
    await until(two);
    await leave();
    told.length = 0;
    write(0, 'unheard');
    write(1, 'third');
    await until(two);
    told.length = 0;
    fs.rmSync(path.join(vault, files[1]));
    await until(two);
    check(`${name}: what is told after one note is left`, isDeepStrictEqual(told, [two]), `${told}`);
    await last();
  } finally {
    for (const f of files) fs.rmSync(path.join(vault, f), { force: true });
  }
}
