import { DatabaseSync } from 'node:sqlite';
import { fsck } from '@assize/audit/internal/checkpoints';
import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import { afterEach, describe, expect, test } from 'vitest';
import { hashText } from '#canon';
import { bodyText, type LogRecord, textsOf as namedBy, recordsText } from '#effects';
import {
  abandonedArgs,
  type BlobRow,
  type CommitPayload,
  type ErasureArgs,
  integrateLog,
  isEffectEntry,
  loggedErasedBy,
  pendingEffectIn,
  readRow,
  storeSalted,
} from '#ledger';
import { seededRandom } from '#oracle';
import { openStore, type Store } from '#stores';
import { committed } from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import {
  MAX,
  type Patient,
  textsOf,
  treated,
  WAYS,
  type Way,
  ZOE,
} from '../../../../../tests/support/clinic/treatment-trajectory.ts';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  closedAfterEach,
  type Databases,
  onEveryDatabase,
  type Place,
  sqlitePlaces,
} from '../../../../../tests/support/ledger/stores.ts';
import { verifyStore } from '../inspect/verify.ts';
import { rebuildMemory } from '../memory/index.ts';
import type { Ruling } from '../records/ruling.ts';
import { randomHex } from '../records/salts.ts';

const writ = writFor('officer');
const reason = 'request 17';
const HERS = { beliefs: [{ space: 'ward', subject: ZOE.who }], reason, writ };
const AT = { at: ['/patients/p1'], reason, writ };

/** Without a proposal, so that no path leads there. */
const UNPROPOSED: readonly Way[] = ['thrown', 'doubt', 'silent'];

const runtimes: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of runtimes.splice(0)) await each.close();
});

/** A store in which each patient's transaction ended in each way. */
async function stage(place: Place, ways: readonly Way[] = WAYS) {
  const store = await place.open();
  const made = await treated(store);
  runtimes.push(made.assize);
  const epochs = new Map<Way, number>();
  for (const way of ways) {
    epochs.set(way, await made.go(way, ZOE));
    await made.go(way, MAX);
  }
  return { ...made, place, store, epochs };
}

/** The texts of a patient that are anywhere in the files or tables. */
async function left(
  place: Place,
  patient: Patient,
  ways: readonly Way[] = WAYS,
): Promise<string[]> {
  const text = await place.everything();
  return allOf(patient, ways).filter((each) => text.includes(each));
}

function allOf(patient: Patient, ways: readonly Way[] = WAYS): string[] {
  return ways.flatMap((way) => textsOf(way, patient));
}

async function expectSound(store: Store): Promise<void> {
  const { faults, trajectories } = await fsck(store);
  expect([...faults, ...trajectories.flatMap(({ fault }) => fault ?? [])]).toEqual([]);
}

function argsOf(ruling: Ruling & { readonly ruling: 'committed' }): ErasureArgs {
  return (readRow(ruling.entry).payload as CommitPayload).action.args as unknown as ErasureArgs;
}

/** Entries that record effects of one transaction, and settle nothing. */
async function entriesOf(store: Store, epoch: number): Promise<string[]> {
  const rows = await store.entries('t');
  const of = rows.filter((row) => {
    const { payload } = readRow(row);
    return (
      isEffectEntry(payload) &&
      (abandonedArgs(payload) ?? pendingEffectIn(payload))?.epoch === epoch
    );
  });
  const ids = of.map(({ id }) => id);
  const resolving = rows.filter((row) =>
    ids.includes(String((readRow(row).payload as CommitPayload).resolves)),
  );
  return [...ids, ...resolving.map(({ id }) => id)];
}

onEveryDatabase(({ newPlace }: Databases) => {
  test('erasing a subject clears inputs, answers, residues of any aborted effect', async () => {
    const { place, store, trajectory, assize } = await stage(newPlace());
    expect(await left(place, ZOE)).toEqual(allOf(ZOE));
    const ruling = await committed(trajectory.erase(HERS));
    expect(await left(place, ZOE)).toEqual([]);
    expect(await place.everything()).not.toContain(ZOE.who);
    expect(await left(place, MAX)).toEqual(allOf(MAX));
    expect(ruling).not.toHaveProperty('open');
    await expectSound(store);
    // A reader of the log sees that it was erased, and everything else.
    const listed = await assize.effects({ all: true });
    const residues = listed.flatMap(({ effects }) =>
      effects.flatMap(({ residue, differs }) => residue ?? differs ?? []),
    );
    const erasers = await Promise.all(residues.map(({ $blob }) => store.erasedBy($blob)));
    expect(erasers.filter((by) => by === ruling.entry.id)).toHaveLength(residues.length / 2);
    await expect(
      trajectory.erase({ ...HERS, beliefs: [{ space: 'ward', subject: 'nobody' }] }),
    ).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
  });

  test('erasing a path clears its proposals; entries and transactions, the rest', async () => {
    const { place, store, trajectory, epochs } = await stage(newPlace());
    await committed(trajectory.erase(AT));
    expect(await left(place, ZOE)).toEqual(allOf(ZOE, UNPROPOSED));
    const told = [
      ...(await entriesOf(store, epochs.get('thrown')!)),
      ...(await entriesOf(store, epochs.get('doubt')!)),
    ];
    expect(told).toHaveLength(4);
    await committed(trajectory.erase({ entries: told, reason, writ }));
    expect(await left(place, ZOE)).toEqual(allOf(ZOE, ['silent']));
    await committed(trajectory.erase({ transactions: [epochs.get('silent')!], reason, writ }));
    expect(await left(place, ZOE)).toEqual([]);
    expect(await left(place, MAX)).toEqual(allOf(MAX));
    await expectSound(store);
  });
});

describe('on a file', () => {
  const newPlace = sqlitePlaces();
  const close = closedAfterEach();

  test('the log can be asked for all texts that it names', async () => {
    const { store } = await stage(newPlace());
    for (const logged of await store.listEffects({ limit: 100 })) {
      const all = [...logged.records.join().matchAll(/"\$blob":"([0-9a-f]{64})"/g)].map(
        ([, hash]) => hash,
      );
      expect(
        namedBy(logged)
          .map(({ hash }) => hash)
          .sort(),
      ).toEqual(all.sort());
    }
  });

  test('erasing an entry clears its proposal’s log, not data of other proposals', async () => {
    const { place, store, trajectory, epochs } = await stage(newPlace(), ['rejected', 'failed']);
    const rejections = (await store.entries('t')).filter(({ payload }) =>
      payload.includes('"invariant_rejected"'),
    );
    await committed(trajectory.erase({ entries: [rejections[0]!.id], reason, writ }));
    expect(await left(place, ZOE, ['rejected', 'failed'])).toEqual(textsOf('failed', ZOE));
    // Its inputs and answers are in the commit.
    await committed(trajectory.erase({ transactions: [epochs.get('failed')!], reason, writ }));
    expect(await left(place, ZOE, ['rejected', 'failed'])).toEqual(
      textsOf('failed', ZOE).slice(0, 2),
    );
    expect(await left(place, MAX, ['rejected', 'failed'])).toEqual(
      allOf(MAX, ['rejected', 'failed']),
    );
  });

  test('data of an active transaction stays until its end, and is reported', async () => {
    const { place, store, trajectory } = await stage(newPlace(), []);
    const [given, answered] = ['given-by-her-zq', 'answered-by-her-zq'];
    const goesOn = Promise.withResolvers<void>();
    const acted = Promise.withResolvers<void>();
    const made = trajectory.transaction(
      { writ: writFor('nurse'), writes: ['test:**'] },
      async (tx) => {
        await tx.call('act', { who: ZOE.who, what: given });
        acted.resolve();
        await goesOn.promise;
        throw new Error('no');
      },
    );
    await acted.promise;
    await expect(trajectory.erase(HERS)).rejects.toMatchObject({
      code: 'nothing_to_erase',
      evidence: { open: [1] },
    });
    const note = { who: ZOE.who, note: 'a note' };
    await committed(
      trajectory.propose({
        action: 'treat',
        role: { name: 'nurse', params: { id: 'p1' } },
        args: note,
        writ,
      }),
    );
    expect(await committed(trajectory.erase(HERS))).toMatchObject({ open: [1] });
    expect(await place.everything()).toContain(given);
    goesOn.resolve();
    await expect(made).rejects.toThrow('no');
    expect(await committed(trajectory.erase(HERS))).not.toHaveProperty('open');
    const text = await place.everything();
    for (const each of [given, answered, ZOE.who]) expect(text).not.toContain(each);
    await expectSound(store);
  });

  test('a transaction is erased in its own trajectory under a covering writ', async () => {
    const { trajectory, assize } = await stage(newPlace(), ['silent']);
    const [epoch] = (await assize.effects({ all: true })).map((each) => each.epoch);
    const erase = (transactions: readonly number[], by = writ) =>
      trajectory.erase({ transactions, reason, writ: by });
    const other = await assize.create(trajectory.domain as never, {
      trajectoryId: 'other',
      writs: [writ],
    });
    for (const none of [99, epoch! + 1])
      await expect(erase([none])).rejects.toMatchObject({ code: 'not_found' });
    await expect(other.erase({ transactions: [epoch!], reason, writ })).rejects.toMatchObject({
      code: 'not_found',
    });
    for (const odd of [0, 1.5, '1'])
      await expect(erase([odd as number])).rejects.toMatchObject({ code: 'bad_intent' });
    const mine = writFor('me', {
      actions: ['assize.erase'],
      scopes: [`erase:effects:${epoch! - 1}`],
    });
    expect(await erase([epoch!], mine)).toMatchObject({
      ruling: 'rejected',
      reason: 'invalid_authority',
    });
    const its = writFor('it', { actions: ['assize.erase'], scopes: [`erase:effects:${epoch}`] });
    expect(argsOf(await committed(erase([epoch!], its)))).toMatchObject({
      transactions: [epoch],
      values: [],
      logged: [{ epoch, n: 0 }],
    });
    await expect(erase([epoch!])).rejects.toMatchObject({ code: 'nothing_to_erase' });
  });

  test('a lost log value is found, and so is an erasure of an absent one', async () => {
    const { place, store, trajectory, assize } = await stage(newPlace(), ['branch']);
    const ruling = await committed(trajectory.erase(HERS));
    const [erased] = loggedErasedBy(argsOf(ruling));
    const listed = await assize.effects({ all: true });
    const there = await Promise.all(
      listed.flatMap(({ epoch, effects }) =>
        effects.map(async ({ n, residue }) => ({
          epoch,
          n,
          hash: residue!.$blob,
          text: await store.blob(residue!.$blob),
        })),
      ),
    );
    const { epoch, n, hash } = there.find(({ text }) => text !== undefined)!;
    const lost = (why: string) => [
      { code: 'effect_text_lost', epoch, n, detail: expect.stringContaining(why) },
    ];
    const tampered = async (...statements: string[]) => {
      const path = `${place.url.slice('sqlite:'.length)}.${Math.random()}`;
      copyOf(place, path);
      const db = new DatabaseSync(path);
      for (const statement of statements) db.exec(statement);
      db.close();
      return close(await openStore(`sqlite:${path}`));
    };
    const of = `WHERE hash = x'${hash}'`;
    const faultsOf = async (changed: Store) => (await fsck(changed)).faults;
    expect(await faultsOf(await tampered())).toEqual([]);
    expect(await faultsOf(await tampered(`UPDATE blob SET text = '{}' ${of}`))).toEqual([
      { code: 'damaged', detail: '1 texts do not have their hash' },
      ...lost('does not hash'),
    ]);
    const gone = (by: string) => tampered(`UPDATE blob SET text = '', erased_by = x'${by}' ${of}`);
    expect(await faultsOf(await gone(ruling.entry.id))).toEqual(lost('does not erase it'));
    expect(await faultsOf(await gone('a'.repeat(64)))).toEqual(lost('does not erase it'));
    const other = 'b'.repeat(64);
    const replaced = await tampered(
      `UPDATE effect_record SET record = replace(record, '${erased!.hash}', '${other}')`,
      `UPDATE effect_transaction SET first = replace(first, '${erased!.hash}', '${other}')`,
    );
    const [report] = await verifyStore(replaced);
    expect(report).toMatchObject({
      valid: false,
      fault: { code: 'effects_differ', seq: ruling.entry.seq },
    });
  });

  test('more than one entry takes goes with several', async () => {
    const store = new MemoryStore();
    const { trajectory, assize } = await treated(store);
    runtimes.push(assize);
    const { fence, release } = await store.leaseEffects();
    const [random, blobs] = [seededRandom('many'), [] as BlobRow[]];
    const kept = (value: string) => storeSalted(value, randomHex(random, 16), blobs);
    const sort = { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' } as const;
    const calls = Array.from({ length: 101 }, (_, n) => n);
    const epochs = Array.from({ length: 10 }, (_, n) => n + 1);
    for (const epoch of epochs) {
      const records: LogRecord[] = [
        ...calls.map(
          (n) =>
            ({
              is: 'intended',
              key: hashText(`${epoch} ${n}`),
              tool: 'act',
              class: sort,
              payload: kept('given'),
            }) as const,
        ),
        ...calls.map((n) => ({ is: 'executed', n, result: kept('answered') }) as const),
        { is: 'aborting', cause: 'rejected' },
        ...calls.map((n) => ({ is: 'undone', n }) as const),
        { is: 'aborted' },
      ];
      const body = bodyText({
        transaction: `x${epoch}`,
        principal: 'nurse',
        writ_id: hashText('writ'),
        claims: [],
      });
      const begun = [{ epoch, trajectory_id: 't', body }];
      await store.logEffects(
        {
          fence,
          begun,
          records: [{ epoch, place: 0, record: recordsText(records) }],
          ended: [epoch],
        },
        blobs,
      );
    }
    await release();
    const ruling = await committed(trajectory.erase({ transactions: epochs, reason, writ }));
    expect(ruling.entry.seq).toBe(2);
    for (const { hash } of blobs) expect(await store.blob(hash)).toBeUndefined();
    await expectSound(store);
  });

  test('an export lists log erasures: sound on import, it erases trusting copies', async () => {
    const { place, store, trajectory } = await stage(newPlace(), ['branch', 'thrown']);
    const path = `${place.url.slice('sqlite:'.length)}.copy`;
    copyOf(place, path);
    const ruling = await committed(trajectory.erase(HERS));
    const { length } = loggedErasedBy(argsOf(ruling));
    expect(length).toBeGreaterThan(2);
    await integrateLog(store);
    const lines: string[] = [];
    for await (const line of exportLines(store)) lines.push(line.slice(0, -1));
    const given = async function* (): AsyncGenerator<string> {
      yield* lines;
    };
    const fresh = new MemoryStore();
    // Its own effect log has none of it.
    await (await fresh.leaseEffects()).release();
    expect(await importLines(fresh, given())).toMatchObject({ unerased: 0 });
    await rebuildMemory(fresh);
    await expectSound(fresh);
    const copy = close(await openStore(`sqlite:${path}`));
    const kept = await importLines(copy, given());
    expect(kept.unerased).toBeGreaterThan(length);
    expect(await importLines(copy, given(), { erase: true })).toMatchObject({ unerased: 0 });
    for (const { hash } of loggedErasedBy(argsOf(ruling))) {
      expect(await copy.blob(hash)).toBeUndefined();
      expect(await copy.erasedBy(hash)).toBe(ruling.entry.id);
    }
    await rebuildMemory(copy);
    await expectSound(copy);
  });
});

/** Writes a copy of the file. */
function copyOf({ url }: { readonly url: string }, path: string): void {
  const db = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
  db.exec(`VACUUM INTO '${path}'`);
  db.close();
}
