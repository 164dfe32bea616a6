// Real clients that see another surface than all tools: what is listed, and calls of
// tools that are not, through those that are. Each case has a vault and a server of its
// own.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';

const patience = 10_000;
const note = 'Plants/Bean.md';
const thinking = 250; // a person takes longer than any program that answers for one

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// inside are the shapes of one call.
const inside = {
  core: (tool, args) => ['call_capability', { name: tool, args }],
  triad: (tool, args) => ['call_capability', { name: tool, args }],
  domain: (tool, args) => ['notes', { action: tool, args }],
};

// surfaces runs every case with one client; see asks.mjs.
export async function surfaces(name, modern, { open, plant, contents, check, golden, binary }) {
  await Promise.all(Object.entries(inside).map(async ([surface, shape]) => {
    const each = (label, declares, settings, use) => one(`${name} ${surface}: ${label}`, { declares, settings: { surface, ...settings }, use });
    const form = { elicitation: { form: {} } };

    await each('listing and reading', {}, {}, async ({ client, call, label }) => {
      const { tools } = await client.listTools(undefined, { timeout: patience });
      golden(label, 'any', `tools_${surface}`, tools);
      const direct = await call('read_note', { path: note });
      const through = await call(...shape('read_note', { path: note }));
      check(`${label}: the same answer`, !direct.isError && isDeepStrictEqual(direct.content, through.content), JSON.stringify(through));
      const none = await call(...shape('read_nots', {}));
      check(`${label}: a tool that is none`, none.isError && JSON.stringify(none).includes('read_note'), JSON.stringify(none));
    });

    for (const [label, drifts] of [['a form is approved', false], ['the note changes before the approval', true]]) {
      await each(label, form, {}, async ({ client, call, vault, label }) => {
        let shown = 0;
        client.setRequestHandler(client instanceof Client1 ? ElicitRequestSchema : 'elicitation/create', async (request) => {
          shown++;
          check(`${label}: the form`, request.params.message.includes(note), request.params.message);
          await sleep(thinking);
          if (drifts) fs.appendFileSync(path.join(vault, note), 'More.\n');
          return { action: 'accept', content: { approve: true } };
        });
        const before = contents(vault);
        const got = await call(...shape('delete_note', { path: note }));
        const code = got.isError ? got.structuredContent.code : 'done';
        check(`${label}: outcome`, code === (drifts ? 'replay_drift' : 'done') && shown === 1, JSON.stringify(got));
        const now = contents(vault);
        check(`${label}: the note`, drifts ? now[note] === before[note] + 'More.\n' : now[note] === undefined, 'not as expected');
      });
    }

    for (const beside of [false, true]) {
      await each(`a token ${beside ? 'beside' : 'among'} the arguments`, {}, { elicit: { unattended: true, allow_client_shell: true } }, async ({ call, vault, env, label, file }) => {
        const args = { path: note };
        const blocked = await call(...shape('delete_note', args));
        const { call_hash: hash, state_fp: fp } = blocked.structuredContent.details;
        const command = ['elicit', '--hash', hash, '--tool', 'delete_note', '--state-fp', fp, '--config', file];
        const token = execFileSync(binary, command, { env, encoding: 'utf8', timeout: patience }).trim();
        const [tool, outer] = shape('delete_note', beside ? args : { ...args, elicit_token: token });
        const other = await call(...shape('delete_note', { path: 'Garden.md', elicit_token: token }));
        check(`${label}: on another note`, other.isError && contents(vault)['Garden.md'] !== undefined, JSON.stringify(other));
        const got = await call(tool, beside ? { ...outer, elicit_token: token } : outer);
        check(`${label}: outcome`, !got.isError && contents(vault)[note] === undefined, JSON.stringify(got));
      });
    }
  }));

  async function one(label, { declares, settings, use }) {
    const vault = plant();
    const { client, transport } = open(vault, declares, settings);
    const options = { timeout: patience };
    const call = (tool, args) => (client instanceof Client1
      ? client.callTool({ name: tool, arguments: args }, undefined, options)
      : client.callTool({ name: tool, arguments: args }, options));
    try {
      await client.connect(transport, options);
      await use({ client, call, vault, label, env: transport._serverParams.env, file: transport._serverParams.args[1] });
    } catch (e) {
      check(label, false, e.stack);
    } finally {
      await client.close();
    }
  }
}
