/** Runs that take turns at the places of their tools, and take back what they have done. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from 'assize/internal/base';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../tests/support/cases.ts';
import { type Gate, openGate } from './index.ts';

const RULES = `
id: counters
default: allow
tools:
  store/get: { class: read, reads: /key }
  store/set: { class: reversible, writes: /key, undo: { tool: store/reset, args: { key: /args/key, to: /result/was } } }
  store/reset: { class: reversible, writes: /key }
  store/send: { class: irreversible }
  store/held: { class: irreversible }
rules:
  - { id: held, ask: store/held }
turns:
  - { id: counter, tools: store/* }
`;
const KEYS = ['/a', '/b', '/c'];

interface Place {
  readonly values: Map<string, number>;
  open(options?: { readonly turnMs?: number; readonly rules?: string }): Promise<Gate>;
}

function place(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'assize-turns-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return {
    values: new Map(KEYS.map((key) => [key, 0])),
    open: async ({ turnMs, rules = RULES } = {}) => {
      writeFileSync(join(folder, 'assize.yaml'), rules);
      return openGate({
        store: `sqlite:${join(folder, 'calls.db')}`,
        rules: join(folder, 'assize.yaml'),
        ...{ agent: 'ada', server: 'store', env: {} },
        ...(turnMs !== undefined && { turnMs }),
      });
    },
  };
}

/** The tools of the store, as calls of one run. */
function toolsOf(gate: Gate, values: Map<string, number>, run: string) {
  let calls = 0;
  const call = (tool: string, args: Record<string, Json>) => ({
    ...{ run, id: `c${++calls}`, tool, args },
  });
  return {
    get: (key: string) =>
      gate.result(call('get', { key }), async () => {
        await pause(1);
        return values.get(key) as number;
      }),
    set: (key: string, to: number) =>
      gate.result(call('set', { key, to }), async () => {
        const was = values.get(key) as number;
        values.set(key, to);
        return { was };
      }),
  };
}

const resetting = (values: Map<string, number>) => ({
  reset: async ({ args }: { readonly args: Readonly<Record<string, Json>> }) => {
    values.set(args['key'] as string, args['to'] as number);
    return null;
  },
});

test('eight runs that read and write one counter add up to eight', async () => {
  const { values, open } = place();
  const gate = await open();
  const runs = Array.from({ length: 8 }, (_, i) =>
    gate.inRun(`r${i}`, async (run) => {
      const { get, set } = toolsOf(gate, values, run);
      await set('/a', (await get('/a')) + 1);
    }),
  );
  await Promise.all(runs);
  await gate.close();
  expect(values.get('/a')).toBe(8);
});

const step = fc.record({ key: fc.constantFrom(...KEYS), fails: fc.integer({ min: 0, max: 7 }) });

test('runs are as if each had the store alone, also those that fail', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 5 }),
      async (plans) => {
        const { values, open } = place();
        const gate = await open();
        const wanted = new Map(KEYS.map((key) => [key, 0]));
        const ends = await Promise.allSettled(
          plans.map((steps, i) =>
            gate.inRun(
              `r${i}`,
              async (run) => {
                const { get, set } = toolsOf(gate, values, run);
                for (const { key, fails } of steps) {
                  await set(key, (await get(key)) + 1);
                  if (fails === 0) throw new Error('the run fails');
                }
              },
              { tools: resetting(values), attempts: 50 },
            ),
          ),
        );
        await gate.close();
        for (const [i, { status }] of ends.entries()) {
          const steps = plans[i]!;
          expect(status).toBe(steps.some(({ fails }) => fails === 0) ? 'rejected' : 'fulfilled');
          if (status === 'fulfilled')
            for (const { key } of steps) wanted.set(key, wanted.get(key)! + 1);
        }
        expect(values).toEqual(wanted);
      },
    ),
    { numRuns: cases(200) },
  );
});

test('a run that fails takes its calls back, the newest first, once', async () => {
  const { values, open } = place();
  const gate = await open();
  const failed = gate.inRun(
    'r1',
    async (run) => {
      const { set } = toolsOf(gate, values, run);
      await set('/a', 5);
      await set('/a', 7);
      throw new Error('no more');
    },
    { tools: resetting(values) },
  );
  await expect(failed).rejects.toThrow('no more');
  expect(values.get('/a')).toBe(0);
  expect(await gate.takeBack('r1', resetting(values))).toEqual({ undone: [], left: [] });
  await gate.close();
});

test('a call without its tool is left, and named', async () => {
  const { values, open } = place();
  const gate = await open();
  await toolsOf(gate, values, 'r1').set('/a', 5);
  expect(await gate.takeBack('r1', {})).toMatchObject({
    undone: [],
    left: [{ call: 'r1.c1', reason: expect.stringContaining('store/reset') }],
  });
  await gate.close();
  expect(values.get('/a')).toBe(5);
});

const plain = (run: string, id: string, tool: string, args: Record<string, Json> = {}) => ({
  ...{ run, id, tool, args },
});

test('calls that nothing takes back are named, and not made again', async () => {
  const { values, open } = place();
  const gate = await open();
  let sent = 0;
  const run = (to: number) =>
    gate.inRun(
      'r1',
      async (name) => {
        await gate.result(plain(name, 's', 'send'), async () => ++sent);
        await toolsOf(gate, values, name).set('/a', to);
        const lost = async () => Promise.reject(new DOMException('silent', 'TimeoutError'));
        await gate.result(plain(name, 'l', 'set', { key: '/b' }), lost);
      },
      { tools: resetting(values) },
    );
  await expect(run(5)).rejects.toMatchObject({ code: 'call_in_doubt' });
  await expect(run(6)).rejects.toThrow('the run r1 has failed and is taken back');
  expect([sent, values.get('/a')]).toEqual([1, 0]);
  expect(await gate.takeBack('r1', resetting(values))).toEqual({
    undone: [],
    left: [
      { call: 'r1.l', reason: 'the outcome of store/set is not known' },
      { call: 'r1.s', reason: 'the rules have no undo of store/send' },
    ],
  });
  await gate.close();
});

test('a run that was taken back starts again under another name', async () => {
  const { values, open } = place();
  const gate = await open();
  const names: string[] = [];
  const run = (fails: boolean) =>
    gate.inRun(
      'r1',
      async (name) => {
        names.push(name);
        const { get, set } = toolsOf(gate, values, name);
        await set('/a', (await get('/a')) + 1);
        if (fails) throw new Error('no more');
      },
      { tools: resetting(values) },
    );
  await expect(run(true)).rejects.toThrow('no more');
  values.set('/a', 7);
  await run(false);
  await run(false);
  expect(names).toEqual(['r1', 'r1', 'r1~2', 'r1', 'r1~2']);
  expect(values.get('/a')).toBe(8);
  await gate.close();
});

test('a run whose model learns that it must start again does so', async () => {
  const { values, open } = place();
  const gate = await open();
  const add = (name: string, keys: readonly string[]) =>
    gate.inRun(
      name,
      async (run) => {
        const { get, set } = toolsOf(gate, values, run);
        for (const key of keys) {
          await set(key, (await get(key)) + 1).catch(() => undefined);
          await pause(20);
        }
      },
      { tools: resetting(values), attempts: 1_000 },
    );
  await Promise.all([add('r1', ['/a', '/b']), add('r2', ['/b', '/a'])]);
  await gate.close();
  expect([values.get('/a'), values.get('/b')]).toEqual([2, 2]);
});

test('a run keeps its turn while a person decides, and is not taken back', async () => {
  const { values, open } = place();
  const gate = await open({ turnMs: 30 });
  let made = 0;
  const run = () =>
    gate.inRun(
      'r1',
      async (name) => {
        await toolsOf(gate, values, name).set('/a', 5);
        return gate.run(plain(name, 'h', 'held'), async () => ++made);
      },
      { tools: resetting(values) },
    );
  const end = await run();
  expect(end).toMatchObject({ end: 'pending' });
  const other = toolsOf(gate, values, 'r2');
  await expect(other.get('/a')).rejects.toThrow('the run r1 holds /a until it ends');
  const { approval } = end as Extract<typeof end, { readonly end: 'pending' }>;
  const { digest = '' } = (await gate.port.shown(approval)) ?? {};
  const by = { by: 'manager:grace', method: 'test', digest } as const;
  await gate.port.decide(approval, { decision: 'approve', ...by });
  expect(await run()).toMatchObject({ end: 'done', result: 1 });
  expect(await toolsOf(gate, values, 'r3').get('/a')).toBe(5);
  await gate.close();
});

test('a call waits no longer than its gate', async () => {
  const { values, open } = place();
  const gate = await open({ turnMs: 30 });
  await toolsOf(gate, values, 'r1').get('/a');
  const other = toolsOf(gate, values, 'r2');
  await expect(other.get('/a')).rejects.toThrow('the run r1 holds /a until it ends');
  expect(await other.get('/b')).toBe(0);
  await gate.port.end('r1');
  expect(await toolsOf(gate, values, 'r3').get('/a')).toBe(0);
  await gate.close();
});
