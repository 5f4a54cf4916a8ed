import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fsck } from '@assize/audit/internal/checkpoints';
import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { canonicalize, contentHash, hashText } from '#canon';
import { integrateLog } from '#ledger';
import { type Question as Asked, type FactRow, readWitness } from '#memory';
import { attemptsOf, createOracle, listingKeyOf, type Question, systemClock } from '#oracle';
import { openStore, type Store } from '#stores';
import {
  ANSWERS,
  type Answered,
  ATTEMPTS,
  answered,
  keyIn,
  OTHERS,
} from '../../../../../tests/support/clinic/answers-about-patient.ts';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { committed, WHO } from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import { ward as patients } from '../../../../../tests/support/clinic/ward.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { nearBy, onEveryStore, type Place } from '../../../../../tests/support/ledger/stores.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Memory } from '../memory/index.ts';

const memory = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
const entries = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:entry:*'] });
const SINCE = '2026-01-01T00:00:00.000000Z';
const IN_MEMORY = { url: 'memory:', open: () => openStore('memory:') };

interface Ward extends Answered {
  readonly store: Store;
  /** All bytes of its files, or all rows of its oracle log. */
  readonly text: () => Promise<string>;
}

async function ward({ url, open }: Pick<Place, 'url' | 'open'>): Promise<Ward> {
  const store = await open();
  const all = await answered(store);
  const { asked } = all;
  const text = async (): Promise<string> => {
    if (url.startsWith('sqlite:')) {
      const file = url.slice('sqlite:'.length);
      const folder = dirname(file);
      const names = readdirSync(folder).filter((name) => join(folder, name).startsWith(file));
      return names.map((name) => readFileSync(join(folder, name)).toString('latin1')).join('');
    }
    const scopes = [
      ...[...asked.values()].map(({ scope }) => scope),
      { kind: 'memory', space: 'ward' } as const,
    ];
    const rows = scopes.map((scope) => store.oracleWithin?.(listingKeyOf(scope), { limit: 100 }));
    return JSON.stringify(await Promise.all(rows));
  };
  return { ...all, store, text };
}

const foundIn = (text: string, secrets: readonly string[]) =>
  secrets.filter((secret) => text.includes(secret));
const hers = { beliefs: [{ space: 'ward', subject: WHO }], reason: 'request 17', writ: memory };

async function exported(store: Store): Promise<string[]> {
  await integrateLog(store);
  const lines: string[] = [];
  for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
  return lines;
}

onEveryStore((stores) => {
  const near = nearBy(stores);
  const { kind, newPlace } = stores;

  test('answers about an erased subject are gone, and all others are unchanged', async () => {
    const { store, trajectory, asked, judged, vote, unused, text } = await ward(newPlace());
    expect(foundIn(await text(), [...ANSWERS, ...ATTEMPTS, ...OTHERS])).toEqual([
      ...ANSWERS,
      ...OTHERS,
    ]);
    const before = await Promise.all(OTHERS.map((name) => store.oracleGet(keyIn(asked, name))));
    // As an earlier version stored it.
    const old = canonicalize({ outcome: 'failed', error: { message: 'of an earlier version' } });
    await store.oraclePut({ key: contentHash({ attempt: 0, of: vote }), answer: old, at: '' });
    const { entry } = await committed(trajectory.erase(hers));
    expect(foundIn(await text(), [...ANSWERS, 'of an earlier version'])).toEqual([]);
    expect(await Promise.all(OTHERS.map((name) => store.oracleGet(keyIn(asked, name))))).toEqual(
      before,
    );
    for (const name of [...asked.keys()].filter((name) => ANSWERS.includes(name)))
      expect(await store.oracleGet(keyIn(asked, name))).toMatchObject({
        answer: '',
        erased_by: entry.id,
      });
    for (const key of [vote, unused])
      expect(await store.oracleGet(key)).toMatchObject({ answer: '', erased_by: entry.id });
    const attempts = await Promise.all(judged.slice(0, 2).map((key) => attemptsOf(store, key)));
    for (const attempt of attempts.flat())
      expect(
        Object.keys({ ...attempt, ...attempt.error }).filter((name) => /answer|message/.test(name)),
      ).toEqual([]);
    expect(await attemptsOf(store, vote)).toEqual([{ at: '', outcome: 'erased' }]);
    expect(new Set(judged.slice(0, 2)).size).toBeLessThanOrEqual(attempts.flat().length);
    for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
    expect((await store.selfCheck?.()) ?? []).toEqual([]);
    // A deep replay takes erased values as recorded.
    expect(await deepReplay(store, 't', { domains: [clinic], oracle: store })).toMatchObject({
      same: true,
    });
    await expect(trajectory.erase(hers)).rejects.toMatchObject({ code: 'nothing_to_erase' });
    await store.close();
    if (kind === 'sqlite') expect(foundIn(await text(), ANSWERS)).toEqual([]);
  });

  near('no hash by which an entry names an answer can be guessed or survives', async () => {
    const { store, trajectory, asked, text } = await ward(newPlace());
    const hashes = await Promise.all(
      ['observed by key', 'of a proposal refused'].map(async (name) =>
        hashText((await store.oracleGet(keyIn(asked, name)))!.answer),
      ),
    );
    expect(foundIn(JSON.stringify(await store.entries('t')), hashes)).toEqual([]);
    if (kind === 'sqlite') expect(foundIn(await text(), hashes)).toEqual(hashes);
    await committed(trajectory.erase(hers));
    if (kind === 'sqlite') expect(foundIn(await text(), hashes)).toEqual([]);
    const kept = await exported(store);
    expect(foundIn(kept.join(), hashes)).toEqual([]);
    await store.close();
  });

  near('a fact of an erased subject, stated again, makes another question', async () => {
    const store = await newPlace().open();
    const clock = new HandClock();
    const votes: string[] = [];
    const choose = ({ members }: Asked): string => {
      // First the member that is not chosen again.
      const { claim } = members.find(
        ({ object }) => object === (votes.length === 0 ? 'can wait' : 'urgent'),
      )!;
      votes.push(claim);
      return claim;
    };
    const opened = () =>
      runtimeOver(store, [clinic], {
        ports: { clock },
        oracle: store,
        memory: { judge: { oracle: createOracle({ store, clock, mode: 'record' }), choose } },
      });
    const writ = writFor('nurse');
    const trajectory = await opened().create(clinic, { trajectoryId: 't', writs: [writ] });
    const memories = [trajectory, await opened().open('t', clinic)].map((each) =>
      each.memory({ space: 'ward', writ }),
    );
    const triage = { subject: WHO, predicate: 'triage' };
    /** The current facts, and the votes that decided them. */
    const said = async (memory: Memory): Promise<unknown[]> => {
      for (const object of ['can wait', 'urgent']) {
        clock.forward(1_000);
        await committed(
          memory.assert({
            ...triage,
            object,
            valid: { from: SINCE },
            source: `letter: ${object}`,
          }),
        );
      }
      const [{ object }] = (await memory.recall(triage)).facts as [FactRow];
      const [lost] = await memory.history({ kind: 'audit' });
      return [object, readWitness(lost!).judge];
    };
    const believed: unknown[] = [];
    for (const memory of [...memories, memories[0]!]) {
      believed.push(...(await said(memory)));
      await committed(trajectory.erase(hers));
    }
    expect(believed.filter((_, n) => n % 2 === 0)).toEqual(['can wait', 'urgent', 'urgent']);
    expect(new Set(believed).size).toBe(5);
    expect(votes).toHaveLength(3);
    for (const key of believed.filter((_, n) => n % 2 === 1))
      expect(await store.oracleGet(key as string)).toMatchObject({
        answer: '',
        erased_by: expect.any(String),
      });
    await store.close();
  });

  near('a fact stated after an erasure without a time starts at the statement', async () => {
    const store = await newPlace().open();
    const clock = new HandClock();
    const choose = ({ members }: Asked): string =>
      members.find(({ object }) => object === 'urgent')!.claim;
    const judge = { oracle: createOracle({ store, clock, mode: 'record' }), choose };
    const writ = writFor('nurse');
    const assize = runtimeOver(store, [clinic], {
      ports: { clock },
      oracle: store,
      memory: { judge },
    });
    const trajectory = await assize.create(clinic, { trajectoryId: 't', writs: [writ] });
    const memory = trajectory.memory({ space: 'ward', writ });
    const triage = { subject: WHO, predicate: 'triage' };
    const times: string[] = [];
    for (let round = 0; round < 3; round++) {
      for (const object of ['can wait', 'urgent']) {
        clock.forward(1_000);
        await committed(memory.assert({ ...triage, object, source: `letter: ${object}` }));
      }
      const { valid_from, system_time_start } = (await memory.recall(triage)).facts[0]!;
      expect(valid_from).toBe(system_time_start);
      times.push(valid_from);
      await committed(trajectory.erase(hers));
    }
    expect(times).toEqual([...new Set(times)].sort());
    expect((await store.selfCheck?.()) ?? []).toEqual([]);
    await store.close();
  });

  test('an erased answer is never asked or stored again, and its use is an error', async () => {
    const { store, trajectory, asked, vote, text } = await ward(newPlace());
    const { entry } = await committed(trajectory.erase(hers));
    const question = asked.get('observed by key') as Question;
    const key = keyIn(asked, 'observed by key');
    let calls = 0;
    const call = () => {
      calls++;
      return 'observed by key';
    };
    for (const mode of ['record', 'replay'] as const) {
      const asking = createOracle({ store, clock: systemClock, mode }).ask({
        ...question,
        call,
        keepAttempts: true,
      });
      await expect(asking).rejects.toMatchObject({
        code: 'erased',
        evidence: { key, by: entry.id },
      });
    }
    expect(calls).toBe(0);
    // A process that read before the erasure, and gets its answer after it.
    const late = { oracleGet: async () => undefined, oraclePut: store.oraclePut.bind(store) };
    const asking = createOracle({ store: late, clock: systemClock, mode: 'record' });
    await expect(asking.ask({ ...question, call })).rejects.toMatchObject({ code: 'erased' });
    let looks = 0;
    const failing = {
      oracleGet: async (at: string) => (looks++ === 0 ? undefined : store.oracleGet(at)),
      oraclePut: store.oraclePut.bind(store),
    };
    const despair = () => {
      throw new Error('observed by key');
    };
    await expect(
      createOracle({ store: failing, clock: systemClock, mode: 'record' }).ask({
        ...question,
        call: despair,
        keepAttempts: true,
      }),
    ).rejects.toThrow('observed by key');
    expect(await attemptsOf(store, key)).toEqual([]);
    expect(await store.oraclePut({ key: vote, answer: '"observed by key"', at: '' })).toMatchObject(
      { answer: '' },
    );
    expect(foundIn(await text(), ['observed by key'])).toEqual([]);
    const observations = [{ name: 'extraction', value: 'observed by key', oracle_key: key }];
    const again = trajectory
      .memory({ space: 'ward', writ: writFor('nurse') })
      .assert({ subject: 'p9', predicate: 'allergy', object: 'anew' }, { observations });
    await expect(again).rejects.toMatchObject({ code: 'erased' });
    await store.close();
  });

  near('of an entry, what it has observed; of a claim, what says the same', async () => {
    const { store, trajectory, asked, text } = await ward(newPlace());
    const rows = await store.entries('t');
    const refused = rows.find(({ kind }) => kind === 'rejection')!.id;
    await committed(trajectory.erase({ entries: [refused], reason: 'request 18', writ: entries }));
    const left = ANSWERS.filter((name) => name !== 'of a proposal refused');
    expect(foundIn(await text(), ANSWERS)).toEqual(left);
    const { facts } = await trajectory
      .memory({ space: 'ward', writ: memory })
      .recall({ subject: WHO });
    const { lineage: claim } = facts.find(({ object }) => object === 'nuts')!;
    const nuts = { ...hers, beliefs: [{ space: 'ward', subject: WHO, claim }] };
    await committed(trajectory.erase(nuts));
    expect(foundIn(await text(), ANSWERS)).toEqual(
      left.filter((name) => name !== 'observed by key'),
    );
    expect(await store.oracleGet(keyIn(asked, 'of p9 alone'))).toMatchObject({ answer: /of p9/ });
    await store.close();
  });

  test('an answer that is gone, and that no entry says to be erased, is found', async () => {
    const { store, trajectory, asked, unused } = await ward(newPlace());
    const { entry } = await committed(trajectory.erase(hers));
    await integrateLog(store);
    expect(await fsck(store)).toMatchObject({ valid: true, faults: [] });
    const root = (await store.entries('t', { limit: 1 }))[0]!.id;
    const never = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string];
    const lost = [
      // By an entry that erases others, by one that is not an erasure, by none.
      { key: keyIn(asked, OTHERS[0]!), by: entry.id },
      { key: never[0], by: root },
      { key: never[1], by: never[1] },
    ];
    await store.commit({
      entries: [],
      blobs: [],
      erasedAnswers: [...lost, { key: unused, by: root }],
    });
    await store.scrub?.();
    const { valid, faults } = await fsck(store);
    expect(valid).toBe(false);
    const expected = lost.map(({ key, by }) => ({
      code: 'answer_lost',
      key,
      detail: expect.stringContaining(by),
    }));
    expect(faults).toHaveLength(expected.length);
    expect(faults).toEqual(expect.arrayContaining(expected));
    await store.close();
  });
});

test('where a log does not list its answers, those go that entries name', async () => {
  const { store, trajectory, asked, vote, unused } = await ward(IN_MEMORY);
  Object.assign(store, { oracleWithin: undefined });
  await committed(trajectory.erase(hers));
  const isGone = async (key: string) => (await store.oracleGet(key))?.erased_by !== undefined;
  const gone = await Promise.all(ANSWERS.slice(0, 4).map((name) => isGone(keyIn(asked, name))));
  expect(gone).toEqual([true, true, false, false]);
  expect([await isGone(vote), await isGone(unused)]).toEqual([true, false]);
});

test('an erasure of a path covers the observations of its writers', async () => {
  const store = new MemoryStore();
  const oracle = createOracle({ store, clock: systemClock, mode: 'record' });
  const trajectory = await runtimeOver(store, [patients], { oracle: store }).create(patients, {
    trajectoryId: 't',
  });
  const admit = async (id: string) => {
    const scope = { kind: 'call', trajectory: 't', branch: null, agent: 'a', ordinal: 0 } as const;
    const { value, oracle_key } = await oracle.consult({
      scope,
      request: { of: id },
      call: () => `told of ${id}`,
    });
    const proposal = {
      action: 'admit',
      role: { name: 'nurse', params: { id } },
      args: { name: `name of ${id}` },
    } as const;
    const observations = [{ name: 'model', value, oracle_key }];
    const { entry } = await committed(
      trajectory.propose({ ...proposal, writ: writFor('nurse'), observations }),
    );
    return { key: oracle_key, entry: entry.id };
  };
  const [one, two] = [await admit('p1'), await admit('p2')];
  await committed(
    trajectory.erase({ at: ['/patients/p1'], reason: 'request 20', writ: writFor('officer') }),
  );
  expect(await store.oracleGet(one.key)).toMatchObject({ answer: '' });
  expect(await store.oracleGet(two.key)).toMatchObject({ answer: '"told of p2"' });
  await committed(
    trajectory.erase({ at: ['/patients/p2'], reason: 'request 21', writ: writFor('officer') }),
  );
  expect(await store.oracleGet(two.key)).toMatchObject({ answer: '' });
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
});

test('an import erases answers where it is trusted, and counts them where not', async () => {
  const { store, trajectory, asked } = await ward(IN_MEMORY);
  const key = keyIn(asked, 'observed by key');
  const copy = new MemoryStore();
  const source = async function* (lines: readonly string[]) {
    yield* lines;
  };
  await importLines(copy, source(await exported(store)));
  const row = (await store.oracleGet(key))!;
  await copy.oraclePut(row);
  const { entry } = await committed(trajectory.erase(hers));
  const lines = await exported(store);
  const { unerased } = await importLines(copy, source(lines));
  expect(unerased).toBeGreaterThan(0);
  expect(await copy.oracleGet(key)).toEqual(row);
  await importLines(copy, source(lines), { erase: true });
  for (const name of ['observed by key', 'named by nobody'])
    expect(await copy.oracleGet(keyIn(asked, name))).toMatchObject({
      answer: '',
      erased_by: entry.id,
    });
  expect((await importLines(copy, source(lines))).unerased).toBe(0);
});
