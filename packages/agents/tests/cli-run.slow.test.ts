/** `assize run`: agents with a model, from one file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  completion,
  message,
  STUB_KEY,
  StubProvider,
  type StubReply,
} from '../../../tests/support/models/stub-provider.ts';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const MAIN = join(root, 'packages/cli/src/main.ts');
const STORE = 'sqlite:./claims.db';
const FILE = `
import { defineDomain, pass, reject } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
export const domain = defineDomain({
  name: 'claims',
  version: '1',
  state: z.object({ paid: z.record(z.string(), z.int()) }),
  initial: { paid: {} },
  processes: { paying: { writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.strictObject({ id: z.string(), cents: z.int() }),
      apply: (state, { id, cents }) => { state.paid[id] = cents; },
    },
  },
  invariants: ({ each }) => [each('CAP', '/paid/*', {}, (cents) => (cents <= 100 ? pass : reject('over 100')))],
});
export const trajectory = 'claims';
export const agents = [{ name: 'ada', role: 'clerk', instructions: 'Pay the claims.' }];
`;

let folder: string;
let stub: StubProvider | undefined;

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

async function model(replies: readonly StubReply[]): Promise<readonly string[]> {
  stub = await StubProvider.listen('openai', replies, { key: null });
  return ['--model', `openai:llama@${stub.origin}/v1`, '--writ', 'ada.json'];
}

const pay = (cents: unknown): StubReply => completion([['pay', { id: 'c1', cents }]]);
const DONE = completion([['done', {}]]);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-run-'));
  writeFileSync(join(folder, 'desk.ts'), FILE);
  const { public_key } = await json(0, 'writ', 'key', 'root.key');
  writeFileSync(join(folder, 'claims.db.anchors.json'), JSON.stringify([public_key]));
  const grant = ['--action', '**', '--scope', '**', '--max-depth', '0', '--expires', '2100-01-01'];
  await assize(
    'writ',
    'issue',
    '--key',
    'root.key',
    '--subject',
    'ada',
    ...grant,
    '--out',
    'ada.json',
  );
});
afterEach(async () => {
  await stub?.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a run prints each turn with its ruling, and the ledger verifies', async () => {
  const ended = await assize(
    'run',
    'desk.ts',
    ...(await model([pay('ten'), pay(200), pay(50), DONE])),
  );
  expect(ended.code, ended.err).toBe(0);
  const lines = ended.out
    .replaceAll(/[0-9a-f]{12}/g, '…')
    .trim()
    .split('\n');
  expect(lines).toEqual([
    'Began the trajectory claims.',
    expect.stringMatching(
      /^0 ada pay \{"cents":"ten","id":"c1"\}: rejected as …, claims seq 1: .*\(type_mismatch\)$/,
    ),
    expect.stringMatching(/^ {2}args\/cents: /),
    expect.stringMatching(/^1 ada pay .*: rejected as …, claims seq 2: .*over 100 \(CAP\)$/),
    '2 ada pay {"cents":50,"id":"c1"}: committed as …, claims seq 3',
    '3 ada is done',
    'All agents are done. claims has 4 turns, head ….',
  ]);
  expect(await json(0, 'state', 'claims')).toMatchObject({ state: { paid: { c1: 50 } } });
  expect((await assize('verify')).code).toBe(0);
});

test('a run ends after its turns, and the next one goes on', async () => {
  const options = await model([pay(1), pay(2), DONE]);
  const first = await json(1, 'run', 'desk.ts', ...options, '--turns', '1');
  expect(first).toMatchObject({
    trajectory_id: 'claims',
    new_trajectory: true,
    ended: 'turns',
    turns: 1,
    rulings: [
      {
        turn: 0,
        agent: 'ada',
        does: 'propose',
        action: 'pay',
        args: { id: 'c1', cents: 1 },
        ruling: 'committed',
      },
    ],
  });
  const second = await json(0, 'run', 'desk.ts', ...options);
  expect(second).toMatchObject({ new_trajectory: false, ended: 'done', turns: 3 });
  expect(stub!.requests).toHaveLength(3);
});

test('an agent that waits ends the run with 1', async () => {
  expect(
    await json(1, 'run', 'desk.ts', ...(await model([completion([['wait', {}]])]))),
  ).toMatchObject({
    ended: 'waiting',
  });
});

test('a failing model is an error with its code; what was committed stays', async () => {
  const options = await model([
    pay(1),
    { status: 400, body: { error: { message: 'context too long' } } },
  ]);
  const { error } = await json(2, 'run', 'desk.ts', ...options);
  expect(error).toMatchObject({
    code: 'request_refused',
    message: expect.stringContaining('context too long'),
  });
  stub!.add(DONE);
  expect(await json(0, 'run', 'desk.ts', ...options)).toMatchObject({ ended: 'done', turns: 2 });
});

test('a server without tool calls gets the actions in the prompt', async () => {
  const options = await model([
    completion('<think>{}</think>{"action":"pay","args":{"id":"c1","cents":5}}'),
    DONE,
  ]);
  expect(await json(0, 'run', 'desk.ts', ...options, '--text-tools')).toMatchObject({
    ended: 'done',
  });
  expect(stub!.requests[0]!.body.tools).toBeUndefined();
});

test('a key comes from the environment, and stands nowhere in store or output', async () => {
  stub = await StubProvider.listen('anthropic', [
    message([['pay', { id: 'c1', cents: 5 }]]),
    message([['done', {}]]),
  ]);
  const args = [
    'run',
    'desk.ts',
    '--store',
    STORE,
    '--model',
    `anthropic:claude@${stub.origin}`,
    '--writ',
    'ada.json',
  ];
  const env = { ...process.env, ASSIZE_MODEL_KEY: STUB_KEY };
  const ended = await endOf(spawn(process.execPath, [MAIN, ...args], { cwd: folder, env }));
  expect(ended.code, ended.err).toBe(0);
  expect(ended.out + ended.err).not.toContain(STUB_KEY);
  for (const file of readdirSync(folder))
    expect(readFileSync(join(folder, file), 'latin1')).not.toContain(STUB_KEY);
});

test.each<[string, readonly string[], string, RegExp]>([
  ['no model', ['--writ', 'ada.json'], 'usage', /needs a model.*--model/],
  ['a model of no provider', ['--model', 'llama', '--writ', 'ada.json'], 'usage', /openai:NAME/],
  [
    'a model without its key',
    ['--model', 'anthropic:claude', '--writ', 'ada.json'],
    'usage',
    /ANTHROPIC_API_KEY/,
  ],
  ['no writ', ['--model', 'openai:m@http://127.0.0.1:1'], 'usage', /--writ/],
  ['no turns', ['--turns', '0'], 'usage', /from 1/],
  [
    'a server by plain HTTP',
    ['--model', 'openai:m@http://u:p@h.example', '--writ', 'ada.json'],
    'bad_argument',
    /user/,
  ],
])('%s is refused, and no store is made', async (_, args, code, says) => {
  const { error } = await json(2, 'run', 'desk.ts', ...args);
  expect(error).toMatchObject({ code, message: expect.stringMatching(says) });
});

test.each<[string, string, RegExp]>([
  ['no agents', 'export const domain = 1', /exports no agents/],
  [
    'an agent without a role',
    "export const trajectory = 't'; export const agents = [{ name: 'ada' }]",
    /no trajectory|no role/,
  ],
  ['a syntax error', 'export const agents = [', /Cannot load/],
])('a file with %s is refused', async (_, text, says) => {
  writeFileSync(join(folder, 'bad.ts'), text);
  const { error } = await json(2, 'run', 'bad.ts', ...(await model([])));
  expect(error.message).toMatch(says);
});

test('agents may be functions of their own, made from the model', async () => {
  writeFileSync(
    join(folder, 'own.ts'),
    `import { domain } from './desk.ts';
     export default {
       domain,
       trajectory: 'own',
       agents: ({ writs: [writ], model }) => [{
         name: 'ada', role: 'clerk', writ,
         async decide({ paid }, oracle) {
           if (paid.c1 !== undefined) return 'done';
           console.log('noise');
           const request = { system: '', messages: [{ from: 'user', text: 'How many cents?' }], tools: [] };
           const { text } = await oracle.ask({ name: 'model', request, call: () => model.ask(request) });
           return { action: 'pay', args: { id: 'c1', cents: Number(text) } };
         },
       }],
     };`,
  );
  expect(await json(0, 'run', 'own.ts', ...(await model([completion('42')])))).toMatchObject({
    trajectory_id: 'own',
    ended: 'done',
    rulings: [{ args: { cents: 42 }, ruling: 'committed' }, { does: 'done' }],
  });
});

test('Ctrl-C ends a question in progress, and the next run goes on', async () => {
  const options = await model([pay(1), { ...pay(2), ends: 'hang' }]);
  const running = startCommand(folder, STORE, 'run', 'desk.ts', ...options);
  let err = '';
  running.stderr?.on('data', (chunk) => (err += chunk));
  for await (const chunk of running.stdout ?? []) {
    if (!String(chunk).includes('committed')) continue;
    while (stub!.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    running.kill('SIGINT');
    break;
  }
  const [code] = running.exitCode === null ? await once(running, 'exit') : [running.exitCode];
  expect(code, err).toBe(130);
  expect(err).toMatch(/Stopped by SIGINT; committed entries stay: the next run goes on/);
  stub!.add(DONE);
  expect(await json(0, 'run', 'desk.ts', ...options)).toMatchObject({ ended: 'done', turns: 2 });
});
