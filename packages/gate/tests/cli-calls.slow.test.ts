/** `assize effects calls`: calls without a known outcome are listed, and settled by a person. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Gate, openGate } from '#calls';
import { SHOP_RULES } from '../../../tests/support/gated-shop.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const CALLS = pathToFileURL(join(import.meta.dirname, '../src/calls/index.ts')).href;

const PAY = { run: 'r1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 5 } };
/** Pays, and is killed before the report. Its clock is behind by the minutes of its argument. */
const KILLED = `
import { appendFileSync } from 'node:fs';
const now = Date.now;
Date.now = () => now() - Number(process.argv[2]) * 60_000;
const { openGate } = await import('${CALLS}');
const gate = await openGate({ store: 'sqlite:./calls.db', rules: 'assize.yaml', agent: 'ada', server: 'shop', env: {} });
await gate.run(${JSON.stringify(PAY)}, async () => {
  appendFileSync('paid.log', 'bob 5\\n');
  process.kill(process.pid, 'SIGKILL');
});
`;
const LATE = { run: 'r1', id: 'c2', tool: 'pay', args: { to: 'eve', cents: 7 } };
const FINDING = ['--outcome', 'done', '--evidence', 'payment 17', '--as', 'manager:grace'];

interface Place {
  readonly folder: string;
  assize(...args: string[]): Promise<Ended>;
  json(...args: string[]): Promise<any>;
  open(): Promise<Gate>;
  /** Runs a process that is killed between its payment and the report of it. */
  killed(minutesAgo: number): void;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'assize-calls-'));
  const rules = join(folder, 'assize.yaml');
  const store = `sqlite:${join(folder, 'calls.db')}`;
  writeFileSync(rules, SHOP_RULES);
  const gates: Gate[] = [];
  onTestFinished(async () => {
    for (const gate of gates) await gate.close();
    rmSync(folder, { recursive: true });
  });
  const assize = (...args: string[]) => runCommand(folder, store, ...args);
  return {
    ...{ folder, assize },
    json: async (...args) => JSON.parse((await assize(...args, '--json')).out),
    open: async () => {
      const gate = await openGate({
        store,
        rules,
        agent: 'ada',
        server: 'shop',
        inFlightMs: 50,
        env: {},
      });
      gates.push(gate);
      return gate;
    },
    killed: (minutesAgo) => {
      writeFileSync(join(folder, 'killed.ts'), KILLED);
      const { signal } = spawnSync(process.execPath, ['killed.ts', `${minutesAgo}`], {
        cwd: folder,
      });
      expect(signal).toBe('SIGKILL');
      expect(readFileSync(join(folder, 'paid.log'), 'utf8')).toBe('bob 5\n');
    },
  };
}

/** Begins a call whose agent reports that it does not know the outcome. */
async function timedOut(gate: Gate): Promise<void> {
  const end = await gate.run(LATE, async () => {
    throw new DOMException('the shop was silent', 'TimeoutError');
  });
  expect(end.end).toBe('doubt');
}

const never = async (): Promise<never> => {
  throw new Error('a call in doubt is not made again');
};

test('no call is open', async () => {
  const { assize, json, open } = place();
  await open();
  expect(await assize('effects', 'calls')).toEqual({ code: 0, out: 'No call is open.\n', err: '' });
  expect(await json('effects', 'calls', 'calls')).toEqual({ calls: [] });
});

test('a call of a killed process is listed, and settled ten minutes later', async () => {
  const { assize, json, killed, open } = place();
  killed(11);
  const { out } = await assize('effects', 'calls');
  expect(out).toMatch(/^r1\.c1 +calls +ada +shop\/pay +\S+ +in doubt +\{"cents":5,"to":"bob"\}$/m);
  expect(out).toContain(
    '\nassize effects calls settle r1.c1 --outcome done|failed --evidence TEXT --as PRINCIPAL\n',
  );
  const listed = (await json('effects', 'calls')).calls;
  expect(listed).toMatchObject([
    { trajectory_id: 'calls', call: 'r1.c1', in_doubt: true, args: PAY.args },
  ]);
  const settled = await assize('effects', 'calls', 'settle', 'r1.c1', ...FINDING);
  expect(settled).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^committed as \w{12}, calls seq \d+\n$/),
  });
  const { log } = await json('log', 'calls');
  const { entry_id: last } = await json(
    'effects',
    'calls',
    'settle',
    'r1.c1',
    ...FINDING,
    '--trajectory',
    'calls',
  );
  const { payload } = await json('show', log.at(-1).id);
  expect(payload.action).toMatchObject({
    role: { name: 'admin' },
    args: {
      call: 'r1.c1',
      outcome: 'done',
      result: { settled_by: 'manager:grace', evidence: 'payment 17' },
    },
  });
  expect((await json('show', last)).payload).toMatchObject({ kind: 'rejection' });
  const end = await (await open()).run(PAY, never);
  expect(end).toMatchObject({ end: 'doubt', settled: 'done' });
  expect((await assize('effects', 'calls')).out).toBe('No call is open.\n');
  expect((await assize('verify', '--deep')).code).toBe(0);
});

test('a call that may be in progress is listed, and not settled', async () => {
  const { assize, killed } = place();
  killed(0);
  const { out } = await assize('effects', 'calls');
  expect(out).toMatch(/ not reported yet +\{/);
  expect(out).not.toContain('assize effects calls settle');
  const refused = await assize('effects', 'calls', 'settle', 'r1.c1', ...FINDING);
  expect(refused).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^rejected .* may be in progress; /),
  });
});

test('a call whose agent reports a time-out is settled immediately', async () => {
  const { assize, json, open } = place();
  const gate = await open();
  await timedOut(gate);
  const { ruling } = await json(
    'effects',
    'calls',
    'settle',
    'r1.c2',
    ...FINDING.with(1, 'failed'),
  );
  expect(ruling).toBe('committed');
  expect(await gate.run(LATE, never)).toMatchObject({ end: 'doubt', settled: 'failed' });
  const again = await assize('effects', 'calls', 'settle', 'r1.c2', ...FINDING);
  expect(again).toMatchObject({
    code: 2,
    err: expect.stringContaining('No trajectory has an open call r1.c2.'),
  });
});

test.each([
  ['by an agent', FINDING.with(5, 'agent:ada'), /agent:ada is not a counselor/],
  ['another outcome', FINDING.with(1, 'unknown'), /Allowed choices are done, failed/],
  ['no evidence', FINDING.with(3, ''), /1 to 4,096 characters/],
  ['no trajectory', [...FINDING, '--trajectory', 'none'], /no trajectory none/],
])('a settlement is refused: %s', async (_, finding, message) => {
  const { assize, json, open } = place();
  await timedOut(await open());
  expect(await assize('effects', 'calls', 'settle', 'r1.c2', ...finding)).toMatchObject({
    code: 2,
    err: expect.stringMatching(message),
  });
  expect((await json('effects', 'calls')).calls).toMatchObject([{ call: 'r1.c2', in_doubt: true }]);
});

test('in a project, a principal is a counselor or an administrator', async () => {
  const { assize, folder, open } = place();
  await timedOut(await open());
  const principals = { 'manager:grace': { kinds: ['auditor'] }, boss: { kinds: ['admin'] } };
  writeFileSync(join(folder, 'assize.config.json'), JSON.stringify({ principals }));
  const refused = await assize('effects', 'calls', 'settle', 'r1.c2', ...FINDING);
  expect(refused).toMatchObject({
    code: 2,
    err: expect.stringContaining('manager:grace is not a counselor'),
  });
  const settled = await assize('effects', 'calls', 'settle', 'r1.c2', ...FINDING.with(5, 'boss'));
  expect(settled).toMatchObject({ code: 0, err: '' });
});

test('the calls of another domain, and of a store on a server, are refused', async () => {
  const { assize, folder } = place();
  const demo = `sqlite:${join(folder, 'demo.db')}`;
  expect((await assize('demo', '--store', demo)).code).toBe(0);
  const other = await assize('effects', 'calls', 'payments-1', '--store', demo);
  expect(other).toMatchObject({
    code: 2,
    err: expect.stringContaining('The domain of payments-1 is not gateway'),
  });
  const far = await assize(
    'effects',
    'calls',
    'settle',
    'r1.c1',
    ...FINDING,
    '--store',
    'postgres://127.0.0.1:1/none',
  );
  expect(far).toMatchObject({ code: 2, err: expect.stringContaining('assize api calls.settle') });
});
