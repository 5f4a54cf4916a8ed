/** `fsck` compares the oracle log with the hashes that entries pin. */

import { integrateLog } from 'assize/internal/ledger';
import { createOracle } from 'assize/internal/oracle';
import { rebuildMemory } from 'assize/internal/runtime';
import { openStore, type Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { exportLines, importLines } from '#export';
import { answered, keyIn } from '../../../../tests/support/clinic/answers-about-patient.ts';
import { WHO } from '../../../../tests/support/clinic/mentions-of-patient.ts';
import { HandClock, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { onEveryDatabase, type Place } from '../../../../tests/support/ledger/stores.ts';
import { fsck } from './fsck.ts';

const eraser = writFor('officer', { actions: ['assize.erase'], scopes: ['**'] });

async function faultsIn(place: Place): Promise<readonly unknown[]> {
  const store = await place.open({ checkpoint: false });
  const { faults, valid, answersElsewhere } = await fsck(store);
  expect({ valid, answersElsewhere }).toEqual({
    valid: faults.length === 0,
    answersElsewhere: undefined,
  });
  await store.close();
  return faults;
}

onEveryDatabase(({ kind, newPlace }) => {
  const literal = (key: string): string => (kind === 'sqlite' ? `x'${key}'` : `'\\x${key}'`);

  /** A closed store, whose entries pin answers, and the keys of two of them. */
  async function made(): Promise<{ place: Place; keys: readonly [string, string] }> {
    const place = newPlace();
    const store = await place.open();
    const { asked } = await answered(store);
    await store.close();
    return {
      place,
      keys: [keyIn(asked, 'observed by key'), keyIn(asked, 'of a proposal refused')],
    };
  }

  test('an untouched oracle log has no faults', async () => {
    const { place } = await made();
    expect(await faultsIn(place)).toEqual([]);
  });

  const CHANGES: Readonly<Record<string, (one: string, two: string) => string>> = {
    'a changed answer': (one) => `UPDATE oracle SET answer = '"another answer"' WHERE key = ${one}`,
    'one more space': (one) => `UPDATE oracle SET answer = answer || ' ' WHERE key = ${one}`,
    'an emptied answer': (one) => `UPDATE oracle SET answer = '' WHERE key = ${one}`,
    'the answer of another question': (one, two) =>
      `UPDATE oracle SET answer = (SELECT answer FROM oracle WHERE key = ${two}) WHERE key = ${one}`,
  };
  test.each(Object.entries(CHANGES))(
    '%s is found with the entry that pins it',
    async (_, change) => {
      const { place, keys } = await made();
      await place.sql(change(literal(keys[0]), literal(keys[1])));
      const [fault, ...more] = await faultsIn(place);
      expect(fault).toMatchObject({ code: 'answer_differs', key: keys[0], trajectory_id: 't' });
      expect(fault).toMatchObject({
        detail: expect.stringMatching(/does not have the hash that t seq \d+ pins; restore/),
      });
      expect(more).toEqual([]);
    },
  );

  test('a deleted answer is found', async () => {
    const { place, keys } = await made();
    await place.sql(`DELETE FROM oracle WHERE key = ${literal(keys[1])}`);
    expect(await faultsIn(place)).toContainEqual(
      expect.objectContaining({ code: 'answer_lost', key: keys[1] }),
    );
  });

  test('an answer that an entry erased is not a fault', async () => {
    const place = newPlace();
    const store = await place.open();
    const { trajectory } = await answered(store);
    await trajectory.erase({
      beliefs: [{ space: 'ward', subject: WHO }],
      reason: 'request 17',
      writ: eraser,
    });
    await store.close();
    expect(await faultsIn(place)).toEqual([]);
  });

  test('answers of imported entries are counted, though in another store', async () => {
    const { place } = await made();
    const from = await place.open();
    await integrateLog(from);
    const into = await newPlace().open();
    expect((await importLines(into, linesOf(from))).marked).toBe(0);
    await rebuildMemory(into);
    const report = await fsck(into);
    expect(report).toMatchObject({ valid: true, faults: [], answersElsewhere: 3 });
    // A second import, and an answer of this store, change nothing about the others.
    await importLines(into, linesOf(from));
    const oracle = createOracle({ store: into, clock: new HandClock(), mode: 'record' });
    await oracle.ask({ ...QUESTION, call: () => 'new' });
    expect(await fsck(into)).toMatchObject({ valid: true, answersElsewhere: 3 });
  });
});

const QUESTION = { scope: { kind: 'memory', space: 'ward' }, request: 'q', theta: {} } as const;

test('the answers of a trajectory with another oracle log are counted', async () => {
  const store = await openStore('memory:');
  const { answersElsewhere, valid } = await fsck(await copied(store));
  expect({ answersElsewhere, valid }).toEqual({
    answersElsewhere: expect.any(Number),
    valid: true,
  });
});

/** A store whose entries were written with another store's oracle log. */
async function copied(store: Store): Promise<Store> {
  await answered(store);
  const none = async (): Promise<undefined> => undefined;
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'oracleGet') return none;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

async function* linesOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}
