/**
 * Attacks 1 to 6 of docs/design/threats.md: text that two readers can read differently, or too much
 * text.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#base';
import { canonicalize, parseStrict } from '#canon';
import { exportLines, importLines } from '#export';
import { integrateLog, readRow } from '#ledger';
import type { Ruling, Trajectory } from '#runtime';
import type { Store } from '#stores';
import { smallWorld } from '../../examples/domains/airline/testing/small-world.ts';
import { batchOf, blobOf, entryAfter } from '../../packages/testing/src/store-rows.ts';
import { canonFault } from '../support/canon-fault.ts';
import { type DeskState, desk, soundState } from '../support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { onEveryStore, type Place } from '../support/ledger/stores.ts';
import { allOf } from '../support/process/async-items.ts';
import { runCommand } from '../support/process/command.ts';

const worker = writFor('agent');
const counselor = { principal: 'dr-who', method: 'test' };

const DUPLICATES = [
  '{"amount":1,"amount":9e6}',
  '{"a":{"amount":1,"\\u0061mount":9e6}}',
  '{"a":1,"\\u0061":2}',
];
const UNSAFE = ['9007199254740993', '{"n":-9007199254740992}', '[1e16]'];
const LONE = ['"\\ud800"', '{"\\udc00":1}', '["a\\ud800\\ud800b"]'];
const TOO_DEEP = '['.repeat(100_000);
const MANY_KEYS = `{${Array.from({ length: 1_000_000 }, (_, n) => `"${n}":0`).join()}}`;
/** Not UTF-8 either, so that a reader of its bytes would report it. */
const TOO_LONG = Buffer.alloc(64 * 2 ** 20, 0xff);

onEveryStore((stores) => {
  interface Begun {
    readonly place: Place;
    readonly store: Store;
    readonly trajectory: Trajectory;
  }

  async function begun(): Promise<Begun> {
    const place = stores.newPlace();
    const store = await place.open();
    const trajectory = await runtimeOver(store, [desk]).create(desk, {
      trajectoryId: 't',
      writs: [worker],
    });
    return { place, store, trajectory };
  }

  const keep = (trajectory: Trajectory, value: unknown): Promise<Ruling> =>
    trajectory.propose(intent('keep', { value }, worker));

  /** Like a server for agents: parses the body strictly and proposes it. */
  const send = async (trajectory: Trajectory, body: string | Uint8Array): Promise<Ruling> =>
    keep(trajectory, parseStrict(body));

  /** Refused for that fault, nothing appended, and the next one is ruled on. */
  async function expectRefused(
    calls: readonly ((trajectory: Trajectory) => Promise<Ruling>)[],
    fault: string,
  ) {
    const { store, trajectory } = await begun();
    const head = await store.head('t');
    for (const call of calls) expect(await call(trajectory).catch(canonFault)).toBe(fault);
    expect(await store.head('t')).toEqual(head);
    expect(await send(trajectory, '{"amount":1}')).toMatchObject({
      ruling: 'committed',
      entry: { seq: 1 },
    });
  }

  const sent = (bodies: readonly (string | Uint8Array)[]) =>
    bodies.map((body) => (trajectory: Trajectory) => send(trajectory, body));

  test('attack 1: a duplicate name, even if escaped: refused, no entry', () =>
    expectRefused(sent(DUPLICATES), 'duplicate_key'));

  test('attack 2: an integer that doubles round: refused, no entry', async () => {
    await expectRefused(sent(UNSAFE), 'unsafe_integer');
    // As a value it is rounded already, to another integer beyond what is safe.
    await expectRefused([(trajectory) => keep(trajectory, { n: 2 ** 53 + 2 })], 'unsafe_integer');
  });

  test('attack 3: a lone surrogate in a name or text: refused, any store', async () => {
    await expectRefused(sent(LONE), 'lone_surrogate');
    const values = ['\ud800', { '\udc00': 1 }, ['\ud83d']];
    await expectRefused(
      values.map((value) => (trajectory: Trajectory) => keep(trajectory, value)),
      'lone_surrogate',
    );
    // And for a caller with the store itself.
    const { store } = await begun();
    const row = entryAfter(undefined, 'u');
    for (const batch of [
      batchOf({ ...row, trajectory_id: 'u\ud800' }),
      batchOf({ ...row, payload: '{"a":"\ud800"}' }),
      batchOf([], [{ ...blobOf('b'), text: '"\udc00"' }]),
    ]) {
      await expect(store.commit(batch)).rejects.toMatchObject({ code: 'store_invalid_input' });
    }
    expect((await store.trajectories()).map(({ trajectory_id }) => trajectory_id)).toEqual(['t']);
  });

  test('attack 4: __proto__ or constructor.prototype: data or refused, no change', async () => {
    const { store, trajectory } = await begun();
    for (const text of [
      '{"__proto__":{"x":1}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '{"a":[{"__proto__":{"x":1}}]}',
    ]) {
      expect(await send(trajectory, text)).toMatchObject({ ruling: 'committed' });
      const { data } = trajectory.state() as DeskState;
      expect(canonicalize(data as Json)).toBe(text);
      expect((data as { x?: unknown }).x).toBeUndefined();
    }
    for (const box of ['__proto__', 'constructor']) {
      const role = { name: 'filer', params: { box } };
      const put = await trajectory.propose(intent('put', { paper: 'x' }, worker, { role }));
      expect(put).toMatchObject({ ruling: 'committed' });
      expect(Object.hasOwn((trajectory.state() as DeskState).boxes, box)).toBe(true);
    }
    const asked = await trajectory.propose(intent('ask', { amount: 1 }, worker));
    const pending = asked.ruling === 'escalated' ? asked.pending : '';
    for (const path of [
      '/__proto__/x',
      '/constructor/prototype/x',
      '/boxes/__proto__/__proto__/x',
    ]) {
      const replacement = [{ op: 'add', path, value: 1 }] as const;
      await expect(
        trajectory.approvals.approve(pending, { ...counselor, replacement }),
      ).rejects.toMatchObject({
        code: 'invalid_state',
        message: expect.stringContaining('x cannot be applied: the'),
        name: 'KernelError',
      });
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
    expect(([] as { x?: unknown }).x).toBeUndefined();
    expect(await soundState(store, 't')).toBe(canonicalize(trajectory.state() as Json));
  });

  test('attack 5: 10^5 nested lists, 64 MiB, 10^6 names: refused before reading', async () => {
    await expectRefused(sent([TOO_DEEP]), 'too_deep');
    await expectRefused(sent([TOO_LONG, MANY_KEYS]), 'too_large');
    const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
    await expectRefused([(trajectory) => keep(trajectory, deep(5_000))], 'too_deep');
    await expectRefused(
      [(trajectory) => keep(trajectory, new Array(300_000).fill(0))],
      'too_many_nodes',
    );
    await expectRefused([(trajectory) => keep(trajectory, 'x'.repeat(2 ** 21))], 'too_large');
  });

  describe('attack 6: U+0000, U+2028, é as NFC and NFD: same bytes, no ids confused', () => {
    const ODD = 'a\u0000b\u2028c\u2029d\ufeff\u007f\u{1F600}';
    const [NFC, NFD] = ['\u00e9', 'e\u0301'];

    test('in a proposal, read back by the same store and by an importing store', async () => {
      const { place, store, trajectory } = await begun();
      const given = { [ODD]: ODD, [NFC]: NFD };
      const value = { [ODD]: ODD, [NFC]: NFC };
      const { entry } = (await keep(trajectory, given)) as Extract<Ruling, { ruling: 'committed' }>;
      const again = await place.open();
      expect(await again.resolve(entry.id)).toEqual(entry);
      expect(readRow(entry).payload).toMatchObject({ action: { args: { value } } });
      const copy = await stores.newPlace().open();
      await integrateLog(store);
      const exported = await allOf(exportLines(store));
      await importLines(copy, withoutNewlines(exported));
      await integrateLog(copy);
      expect(await allOf(exportLines(copy))).toEqual(exported);
      expect(JSON.parse(await soundState(copy, 't')).data).toEqual(value);
    });

    test('as ids', async () => {
      const { store, trajectory } = await begun();
      const filed = [NFC, NFD].map((box) =>
        trajectory.propose(
          intent('put', { paper: 'p' }, worker, { role: { name: 'filer', params: { box } } }),
        ),
      );
      expect(await Promise.all(filed)).toMatchObject([
        { ruling: 'committed' },
        { ruling: 'committed' },
      ]);
      expect((trajectory.state() as DeskState).boxes).toEqual({ [NFC]: ['p', 'p'] });
      const keyed = [NFC, NFD, NFC].map((idempotencyKey) =>
        trajectory.propose(intent('add', { by: 1 }, worker, { idempotencyKey })),
      );
      const [first, second, third] = (await Promise.all(keyed)) as { entry: { id: string } }[];
      expect(third?.entry.id).toBe(first?.entry.id);
      expect(second?.entry.id).not.toBe(first?.entry.id);
      // Names of trajectories use letters with one form only. The store would also keep the forms
      // apart.
      for (const trajectoryId of [NFC, NFD, ODD]) {
        const naming = runtimeOver(store, [desk]).create(desk, { trajectoryId, writs: [worker] });
        await expect(naming).rejects.toMatchObject({
          code: 'bad_argument',
          message: expect.stringContaining('letters, digits, dots, colons, dashes or underscores.'),
        });
      }
      const rows = [NFC, NFD].map((name) => entryAfter(undefined, name));
      for (const row of rows)
        expect(await store.commit(batchOf(row))).toEqual({ status: 'committed' });
      for (const row of rows) expect(await store.entries(row.trajectory_id)).toEqual([row]);
    });
  });
});

async function* withoutNewlines(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield line.slice(0, -1);
}

test('bodies as in attack 5 are refused in a 32 MB heap, the process continues', () => {
  const script = `
    import { parseStrict } from '#canon';
    const bodies = ['['.repeat(100_000), Buffer.alloc(64 * 2 ** 20, 0xff), Buffer.alloc(64 * 2 ** 20, '{"a":'), '1'];
    for (const body of bodies) {
      try { console.log(parseStrict(body)); } catch (error) { console.log(error.code); }
    }`;
  const args = ['--max-old-space-size=32', '--input-type=module', '--eval', script];
  const out = execFileSync(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  });
  expect(out).toBe('too_complex\ntoo_large\ntoo_large\n1\n');
});

describe('the same bodies in a file, on the command line: exit 2, a line, no store', () => {
  let here: string;
  beforeAll(() => {
    here = mkdtempSync(join(tmpdir(), 'assize-input-'));
    const { users, flights, reservations } = smallWorld();
    for (const [name, value] of Object.entries({ users, flights, reservations })) {
      writeFileSync(join(here, `${name}.json`), JSON.stringify(value));
    }
  });
  afterAll(() => rmSync(here, { recursive: true }));

  test.each<[string, string | Uint8Array, string]>([
    ['1', DUPLICATES[0]!, 'twice'],
    ['2', UNSAFE[0]!, 'beyond 2^53-1'],
    ['3', LONE[0]!, 'surrogate'],
    ['5, deep', TOO_DEEP, 'deep'],
    ['5, long', TOO_LONG, 'bytes'],
  ])('attack %s', async (_row, body, word) => {
    writeFileSync(join(here, 'runs.jsonl'), Buffer.concat([Buffer.from(body), Buffer.from('\n')]));
    const command = [
      'assize-experiments',
      'adjudicate',
      'airline',
      '--data',
      '.',
      '--runs',
      'runs.jsonl',
    ];
    const { code, out, err } = await runCommand(here, 'sqlite:./d.db', ...command);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^assize: runs\.jsonl, line 1 .*\n$/);
    expect(err).toContain(word);
    expect(existsSync(join(here, 'd.db'))).toBe(false);
    writeFileSync(join(here, 'e.jsonl'), Buffer.concat([Buffer.from(body), Buffer.from('\n')]));
    expect(await runCommand(here, 'sqlite:./imported.db', 'import', 'e.jsonl')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^assize: (Line 1 of the export is .*|e\.jsonl is not an export.*)\n$/,
      ),
    });
  });
});
