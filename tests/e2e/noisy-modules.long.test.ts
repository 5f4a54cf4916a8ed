import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

// Modules that keep the process alive, or print, while a command loads them, calls their functions,
// or ends.

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-noisy-'));
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function moduleWith(line: string): string {
  const path = join(folder, 'domain.ts');
  writeFileSync(
    path,
    `import { defineDomain } from 'assize';
import { z } from 'zod';
${line}
export const odd = defineDomain({ name: 'odd', version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [] });
`,
  );
  return path;
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const domains = (line: string): Promise<Ended> =>
  command('domains', '--domain', moduleWith(line), 'odd');

async function command(...line: readonly string[]): Promise<Ended> {
  const args = [join(root, 'packages/cli/bin/assize.js'), ...line, '--json'];
  const child = spawn(process.execPath, args, { cwd: folder });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => (out += text));
  child.stderr.on('data', (text) => (err += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out, err };
}

test.each([
  ['a timer', 'setInterval(() => {}, 1_000);'],
  ['a server', "import { createServer } from 'node:http';\ncreateServer().listen(0);"],
  ['a watcher', "import { watch } from 'node:fs';\nwatch(import.meta.dirname);"],
  [
    'a worker',
    "import { Worker } from 'node:worker_threads';\nnew Worker('setInterval(() => {}, 9)', { eval: true });",
  ],
])('a command ends although its module keeps %s', { timeout: 30_000 }, async (_, line) => {
  const { code, out } = await domains(line);
  expect([code, JSON.parse(out)]).toEqual([0, expect.anything()]);
});

test.each([
  ['console.log', "console.log('injecting env (0)');"],
  ['the stream', "process.stdout.write('injecting env (0)\\n');"],
  ['a later turn', "await null;\nconsole.info('injecting env (0)');"],
  [
    'at the exit',
    "import own from 'node:process';\nown.on('exit', () => console.log('injecting env (0)'));",
  ],
  [
    'without a pause',
    "console.log('injecting env (0)');\nsetImmediate(function again() { console.log('x'); setImmediate(again); });",
  ],
  [
    'a timer',
    "await new Promise((done) => setTimeout(done, 5));\nconsole.table([['injecting env (0)']]);",
  ],
])('what a module prints goes to standard error: %s', { timeout: 30_000 }, async (_, line) => {
  const { code, out, err } = await domains(line);
  expect([code, JSON.parse(out), err]).toEqual([
    0,
    expect.anything(),
    expect.stringContaining('injecting env (0)'),
  ]);
});

/** A domain whose every function prints, and a ledger of it with an open approval. */
function noisyLedger(): { domain: string; tools: string; url: string } {
  const domain = join(folder, 'noisy.ts');
  writeFileSync(
    domain,
    `import { defineDomain, escalate, pass } from 'assize';
import { z } from 'zod';
const say = (what: string): void => console.log('printed by ' + what);
export const noisy = defineDomain({
  name: 'noisy', version: '1', state: z.object({ n: z.number(), asked: z.number(), agreed: z.number() }), initial: { n: 0, asked: 0, agreed: 0 },
  unjudgedCalls: 'allow',
  counselors: { boss: (principal) => { say('counselors'); return principal === 'human:boss'; } },
  processes: { all: { reads: ['/n'], writes: ['/n', '/asked', '/agreed'] } },
  roles: { worker: { processes: ['all'] } },
  actions: {
    add: { process: 'all', args: z.number(), cost: () => { say('cost'); return {}; }, apply: (state, by) => { say('apply'); state.n += by; } },
    ask: { process: 'all', args: z.number(), apply: (state, by) => { say('apply'); state.asked += by; }, onApprove: (state, by) => { say('onApprove'); state.agreed += by; } },
  },
  invariants: ({ invariant }) => [
    invariant('ASKED', ['/asked', '/agreed'], ({ asked, agreed }) => { say('invariant'); return asked <= agreed ? pass : escalate('shall it be?', { channel: 'boss' }); }),
  ],
});
`,
  );
  const tools = join(folder, 'tools.ts');
  writeFileSync(
    tools,
    `import { declareTool } from 'assize/effects';
import { z } from 'zod';
export const bell = declareTool({
  name: 'bell.ring', input: z.strictObject({}), class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bell:one'], execute: () => { console.log('printed by execute'); return 'rung'; },
});
`,
  );
  const url = `sqlite:${join(folder, 'noisy.db')}`;
  const script = join(folder, 'script.ts');
  writeFileSync(
    script,
    `import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { noisy } from './noisy.ts';
import { bell } from './tools.ts';
import { writeFileSync } from 'node:fs';
const keys = generateKeys();
const store = await openStore(process.argv[2]!);
const assize = new Assize({ store, domains: [noisy], anchors: [keys.publicKey], tools: [bell] });
const trajectory = await assize.create(noisy, { trajectoryId: 't' });
const writ = issueWrit({ issuer: keys.publicKey, subject: 'agent:a', trajectory: 't', actions: ['**'], scopes: ['**'], budget: {}, not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z', max_depth: 0, nonce: 'n' }, keys.privateKey);
await trajectory.propose({ action: 'add', role: 'worker', args: 1, writ });
await trajectory.transaction({ writ, writes: ['bell:one'] }, async (tx) => {
  await tx.call('bell.ring', {});
  tx.propose({ action: 'ask', role: 'worker', args: 1 });
});
await assize.close();
await store.close();
writeFileSync(process.argv[2]!.slice('sqlite:'.length) + '.anchors.json', JSON.stringify([keys.publicKey]));
`,
  );
  execFileSync(process.execPath, [script, url], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { domain, tools, url };
}

test('what functions of modules print when called goes to standard error', {
  timeout: 60_000,
}, async () => {
  const { domain, tools, url } = noisyLedger();
  const replayed = await command('verify', '--deep', '--domain', domain, '--store', url);
  expect([replayed.code, JSON.parse(replayed.out)]).toEqual([0, expect.anything()]);
  for (const what of ['apply', 'invariant']) expect(replayed.err).toContain(`printed by ${what}`);
  const open = JSON.parse((await command('pending', '--store', url)).out);
  const given = ['--as', 'human:boss', '--domain', domain, '--tools', tools, '--store', url];
  const approved = await command('approve', open.pending[0].id, ...given);
  expect([approved.code, JSON.stringify(JSON.parse(approved.out))]).toEqual([
    0,
    expect.stringContaining('"effects":"settled"'),
  ]);
  for (const what of ['counselors', 'apply', 'onApprove', 'invariant', 'execute'])
    expect(approved.err).toContain(`printed by ${what}`);
});
