import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { writId } from '#authority';
import { canonicalize, type Instant } from '#canon';
import { declareTool } from '#effects';
import { defineDomain } from '#kernel';
import {
  type CommitPayload,
  checkRow,
  type EntryRow,
  type ErasureArgs,
  exportLines,
  type FactStore,
  type FactVersion,
  type FactWrite,
  factWrites,
  integrateLog,
  readRow,
  Values,
} from '#ledger';
import { readWitness } from '#memory';
import { seededRandom } from '#oracle';
import { openStore, type Store } from '#stores';
import { clinic } from '../../../tests/support/clinic.ts';
import { HandClock, intent, runtimeOver, writFor } from '../../../tests/support/runtime.ts';
import { nearBy, onEveryStore, type Stores } from '../../../tests/support/stores.ts';
import { committed, SECRETS, told, WHO } from '../../../tests/support/told-of-her.ts';
import { faultAt } from '../../testing/faults.ts';
import { faultyStore } from '../../testing/faulty-store.ts';
import { type Assize, deepReplay, type ErasureRuling, type Memory, type Trajectory, verifyStore } from '../index.ts';
import { rowOf } from './believe.ts';
import { checkMemory } from './check.ts';

const writ = writFor('nurse');
const officer = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
const doctor = { principal: 'dr house', method: 'test' };
const day = (text: string): Instant => `${text}T00:00:00.000000Z`;

interface Ward {
  readonly url: string;
  readonly store: Store & FactStore;
  readonly clock: HandClock;
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly memory: Memory;
}

async function begun({ newPlace }: Stores): Promise<Ward> {
  const place = newPlace();
  const { url } = place;
  const store = await place.open();
  const clock = new HandClock();
  const assize = runtimeOver(store, [clinic], { clock });
  const trajectory = (await assize.create(clinic, { trajectoryId: 't', writs: [writ] })) as Trajectory;
  return { url, store, clock, assize, trajectory, memory: trajectory.memory({ space: 'ward', writ }) };
}

async function exported(store: Store): Promise<string> {
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

async function rowsOf(store: FactStore, space = 'ward', more: object = {}): Promise<FactVersion[]> {
  return store.facts({ space, kind: 'all', limit: 10_000, ...more });
}

/** All that the store has, and, of a file, its bytes: also what is no row any more. */
async function everything({ store, url }: Ward): Promise<string> {
  let text = await exported(store);
  for (const space of await store.spaces()) text += JSON.stringify(await rowsOf(store, space));
  if (!url.startsWith('sqlite:')) return text;
  const file = url.slice('sqlite:'.length);
  const folder = dirname(file);
  for (const name of readdirSync(folder).filter((each) => join(folder, each).startsWith(file)))
    text += readFileSync(join(folder, name)).toString('latin1');
  return text;
}

function foundIn(text: string, secrets: readonly string[]): string[] {
  return secrets.filter((secret) => text.includes(secret) || text.includes(Buffer.from(secret).toString('latin1')));
}

/** The facts as they are made anew from the ledger. */
async function rebuilt(store: Store & FactStore): Promise<void> {
  const writes: FactWrite[] = [];
  for (const { trajectory_id } of await store.trajectories())
    for (const row of await store.entries(trajectory_id))
      writes.push(...(await factWrites(checkRow(row), new Values(store))));
  await store.rebuildFacts(
    (async function* () {
      yield writes.sort((a, b) => a.version - b.version);
    })(),
  );
}

async function expectSound({ store }: Ward): Promise<void> {
  for (const report of await verifyStore(store)) expect(report).toMatchObject({ valid: true });
  for (const { trajectory_id } of await store.trajectories())
    expect(await deepReplay(store, trajectory_id, { domains: [clinic] })).toMatchObject({
      same: true,
      differences: [],
    });
  expect((await store.selfCheck?.()) ?? []).toEqual([]);
  const spaces = await store.spaces();
  const before = await Promise.all(spaces.map((space) => rowsOf(store, space)));
  await rebuilt(store);
  expect(await store.spaces()).toEqual(spaces);
  expect(await Promise.all(spaces.map((space) => rowsOf(store, space)))).toEqual(before);
}

const erasing = (trajectory: Trajectory, place: object): Promise<ErasureRuling> =>
  trajectory.erase({ beliefs: [{ space: 'ward', subject: WHO, ...place }], reason: 'request 17', writ: officer });

onEveryStore((stores) => {
  const near = nearBy(stores);

  test('nothing is left of a subject that is erased, and all else is as it was', async () => {
    const ward = await begun(stores);
    const { store, trajectory, memory } = ward;
    await told(ward);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS);
    const all = await rowsOf(store);
    const his = all.filter(({ subject }) => subject !== WHO);
    const texts = await exported(store);
    const { left, entry } = await committed(erasing(trajectory, {}));
    expect(left).toEqual([]);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    expect(await rowsOf(store)).toEqual(his);
    // The gap stands where it stood, by hash.
    const names = namesIn(entry);
    expect(names).toHaveLength(3);
    // What others are recognised by goes last, so that who goes on after a crash finds the rest.
    expect(
      argsOf(entry)
        .values.slice(-3)
        .map(({ hash }) => hash)
        .sort(),
    ).toEqual(names);
    const gaps = (await Promise.all(names.map((hash) => rowsOf(store, gone(hash))))).flat();
    expect(gaps).toHaveLength(all.length - his.length);
    for (const { object, content, subject } of gaps) {
      expect(object).toBe(gone(content.hash));
      expect(names.map(gone)).toContain(subject);
    }
    expect((await memory.recall({ subject: WHO, valid: 'any', system: 'any', kind: 'all' })).facts).toEqual([]);
    await expectSound(ward);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    // Not one text more than what says something of her.
    const kept = /"(of p8|more of p8|of p9|70 kg|p8|p9)"/g;
    expect([...(await exported(store)).matchAll(kept)].length).toBe([...texts.matchAll(kept)].length);
    await store.close();
    if (stores.kind === 'sqlite') {
      const again = await openStore(ward.url);
      expect(foundIn(await everything({ ...ward, store: again }), SECRETS)).toEqual([]);
      await again.close();
    }
  });

  near('the recalls of others that named her are gone, and no others', async () => {
    const ward = await begun(stores);
    await told(ward);
    const erased = async () => {
      const rows = await ward.store.entries('t');
      const values = rows.flatMap((row) =>
        row.kind === 'commit' ? (readRow(row).payload as CommitPayload).observations : [],
      );
      const recalls = values
        .filter(({ name }) => name === 'recall')
        .map(({ value }) => (value as { $blob: string }).$blob);
      return Promise.all(recalls.map(async (hash) => (await ward.store.erasedBy(hash)) !== undefined));
    };
    expect(await erased()).toEqual([false, false, false]);
    await committed(erasing(ward.trajectory, {}));
    expect(await erased()).toEqual([true, true, false]);
  });

  near.each([
    ['The Who', 'concert The Who secretly', 'concert secretly, the'],
    ['the patients of 7', 'what has patient 7?', 'the number of 8'],
    ['IT', 'it', 'what patient 7 has'],
  ])('of %s a recall by %j is gone, and none by %j', async (subject, text, other) => {
    const { store, trajectory, memory } = await begun(stores);
    await committed(memory.assert({ subject, predicate: 'drug', object: 'aspirin' }));
    const recalls = [await memory.recall({ text }), await memory.recall({ text: other })];
    const said = await committed(
      memory.assert(
        { subject: 'p8', predicate: 'drug', object: 'none' },
        { observations: recalls.map(({ observation }) => observation) },
      ),
    );
    const { observations } = readRow(said.entry).payload as CommitPayload;
    await committed(erasing(trajectory, { subject }));
    const gone = await Promise.all(
      observations.map(async ({ value }) => (await store.erasedBy((value as { $blob: string }).$blob)) !== undefined),
    );
    expect(gone).toEqual([true, false]);
  });

  near('of a predicate, the others stay', async () => {
    const ward = await begun(stores);
    await told(ward);
    const drugs = SECRETS.filter((text) => /illin|ibuprofen|sure|stamped|letter/.test(text));
    const before = (await rowsOf(ward.store)).filter(
      ({ subject, predicate }) => subject === WHO && predicate !== 'drug',
    );
    await committed(erasing(ward.trajectory, { predicate: 'drug' }));
    const text = await everything(ward);
    // What nobody can read is erased wherever it names her.
    const gone = [...drugs, 'mistyped'];
    expect(foundIn(text, SECRETS)).toEqual(SECRETS.filter((each) => !gone.includes(each)));
    expect((await rowsOf(ward.store)).filter(({ subject }) => subject === WHO)).toEqual(before);
    await expectSound(ward);
  });

  test('of a claim, its text and its witnesses; names and other claims stay', async () => {
    const ward = await begun(stores);
    const { store, clock, memory, trajectory } = ward;
    await told(ward);
    const before = await rowsOf(store);
    const { lineage: claim } = before.find(({ object }) => object === '79.4 kg')!;
    const { entry } = await committed(erasing(trajectory, { predicate: 'weight', claim }));
    expect(entry.payload).toContain(claim);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS.filter((each) => each !== '79.4 kg'));
    const after = await rowsOf(store);
    const lost = before.filter(
      (row) => row.lineage === claim || (row.row_kind === 'audit' && row.object.includes(claim)),
    );
    expect(lost.length).toBeGreaterThan(2);
    expect(after).toEqual(before.map((row) => (lost.includes(row) ? { ...row, object: gone(row.content.hash) } : row)));
    // It is still believed, without a text, and stays so where it is written again.
    clock.forward(1_000);
    await committed(
      memory.retract({ subject: WHO, predicate: 'weight', valid: { from: day('2020-01-01'), to: day('2026-06-01') } }),
    );
    clock.forward(1_000);
    await committed(memory.assert({ subject: WHO, predicate: 'weight', object: '60 kg', confidence: 0.2 }));
    const rows = await rowsOf(store);
    const content = lost.find(({ row_kind }) => row_kind === 'current')!.content;
    expect(rows.length).toBeGreaterThan(after.length + 1);
    for (const row of rows)
      if (row.lineage === claim && row.row_kind === 'current')
        expect(row).toMatchObject({ content, object: gone(content.hash) });
    expect(foundIn(await everything(ward), ['79.4 kg'])).toEqual([]);
    await expectSound(ward);
    await expect(erasing(trajectory, { predicate: 'weight', claim })).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
  });

  near('of a claim also what says the same in another form of Unicode', async () => {
    const ward = await begun(stores);
    const { store, memory, trajectory } = ward;
    const forms = ['cafe\u0301 au lait', 'caf\u00e9 au lait'];
    for (const object of [...forms, ...forms])
      await committed(
        memory.assert({ subject: WHO, predicate: 'allergy', object, valid: { from: day('2026-01-01') } }),
      );
    const rows = await rowsOf(store);
    expect(new Set(rows.map(({ object }) => object))).toEqual(new Set(forms.slice(0, 1)));
    expect(foundIn(await everything(ward), forms)).toEqual(forms);
    await committed(erasing(trajectory, { claim: rows[0]!.lineage }));
    expect(foundIn(await everything(ward), forms)).toEqual([]);
    await expectSound(ward);
  });

  near('of a claim that others contradict, also what somebody is asked to choose between', async () => {
    const ward = await begun(stores);
    await told(ward);
    const { lineage: claim } = (await rowsOf(ward.store)).find(({ object }) => object === 'pneumonia of hers')!;
    await committed(erasing(ward.trajectory, { claim }));
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS.filter((each) => each !== 'pneumonia of hers'));
    await expectSound(ward);
  });

  near('what is said of her later begins anew', async () => {
    const ward = await begun(stores);
    const { store, memory, trajectory } = ward;
    await told(ward);
    const old = await store.partition({ space: 'ward', subject: WHO, predicate: 'drug' });
    await committed(erasing(trajectory, {}));
    const said = { subject: WHO, predicate: 'drug', object: 'paracetamol', source: `letter of ${WHO}` };
    const { entry } = await committed(memory.assert(said));
    const { delta } = readRow(entry).payload as CommitPayload;
    expect(delta.beliefs).toMatchObject([{ version: 1, close: [] }]);
    expect(delta.beliefs[0]!.partition.$blob).not.toBe(old!.names.hash);
    expect((await memory.recall({ subject: WHO })).facts).toMatchObject([{ object: 'paracetamol', seq: 1 }]);
    const tombstone = await store.partition({
      space: gone(old!.names.hash),
      subject: gone(old!.names.hash),
      predicate: gone(old!.names.hash),
    });
    expect(tombstone).toMatchObject({ names: old!.names, version: old!.version + 1 });
    await expectSound(ward);
    await committed(erasing(trajectory, {}));
    expect(foundIn(await everything(ward), [...SECRETS, 'paracetamol'])).toEqual([]);
    await expectSound(ward);
  });

  near('what another trajectory has said is left, named, and erased there; the names go with the last', async () => {
    const ward = await begun(stores);
    const { store, assize, clock, memory, trajectory } = ward;
    const weighed = (object: string, confidence: number) => ({ subject: WHO, predicate: 'weight', object, confidence });
    await committed(memory.assert(weighed('81.3 kg', 0.5)));
    await committed(memory.assert({ subject: WHO, predicate: 'drug', object: 'penizillin 500' }));
    clock.forward(1_000);
    const other = (await assize.create(clinic, { trajectoryId: 'u', writs: [writ] })) as Trajectory;
    // It loses, and the row of the loss has what both say.
    await committed(other.memory({ space: 'ward', writ }).assert(weighed('79.4 kg', 0.1)));
    const bystander = (await assize.create(clinic, { trajectoryId: 'v', writs: [writ] })) as Trajectory;
    await expect(erasing(bystander, {})).rejects.toMatchObject({
      code: 'nothing_to_erase',
      evidence: { left: ['t', 'u'] },
    });
    // It has recalled what they said, and says nothing of it itself.
    const { observation } = await bystander.memory({ space: 'ward', writ }).recall();
    const view = bystander.memory({ space: 'ward', writ });
    await committed(view.assert({ subject: 'p8', predicate: 'drug', object: 'x' }, { observations: [observation] }));
    expect(argsOf((await committed(erasing(bystander, {}))).entry).values).toHaveLength(1);
    const { left, entry } = await committed(erasing(trajectory, {}));
    expect(left).toEqual(['u']);
    expect(namesIn(entry)).toHaveLength(2);
    expect((await store.partition({ space: 'ward', subject: WHO, predicate: 'drug' })) ?? 'gone').toBe('gone');
    expect((await memory.recall({ subject: WHO, kind: 'all', valid: 'any', system: 'any' })).facts).toMatchObject([
      { object: expect.stringContaining('$erased') },
      { object: expect.stringContaining('81.3 kg'), row_kind: 'audit' },
    ]);
    await expectSound(ward);
    expect((await committed(erasing(other, {}))).left).toEqual([]);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    await expectSound(ward);
  });

  near('what another trajectory says while it is looked for is left too', async () => {
    const { store, assize, memory, trajectory } = await begun(stores);
    await committed(memory.assert({ subject: WHO, predicate: 'allergy', object: 'nuts' }));
    const other = (await assize.create(clinic, { trajectoryId: 'u', writs: [writ] })) as Trajectory;
    const { partition } = store;
    let isFirst = true;
    store.partition = async (name) => {
      const isNow = isFirst;
      isFirst = false;
      const said = { subject: WHO, predicate: 'allergy', object: 'milk' };
      if (isNow) await committed(other.memory({ space: 'ward', writ }).assert(said));
      return partition.call(store, name);
    };
    expect((await committed(erasing(trajectory, {}))).left).toEqual(['u']);
    expect((await memory.recall({ subject: WHO })).facts.map(({ object }) => object)).toContain('milk');
  });

  test('who has it in memory writes none of it down again', async () => {
    const ward = await begun(stores);
    const { store, clock, memory, trajectory } = ward;
    const weighed = (object: string, confidence: number) => ({ subject: WHO, predicate: 'weight', object, confidence });
    await committed(memory.assert(weighed('81.3 kg', 0.5)));
    await committed(memory.assert({ subject: WHO, predicate: 'drug', object: 'penizillin 500' }));
    // Another runtime over the same store, and another trajectory of this one, that have planned on it.
    const elsewhere = runtimeOver(store, [clinic], { clock, random: seededRandom('elsewhere') });
    const trajectories = [
      await elsewhere.create(clinic, { trajectoryId: 'u', writs: [writ] }),
      await ward.assize.create(clinic, { trajectoryId: 'v', writs: [writ] }),
    ];
    const views = trajectories.map((one) => (one as Trajectory).memory({ space: 'ward', writ }));
    for (const view of views)
      for (const predicate of ['weight', 'drug'])
        await committed(
          view.retract({ subject: WHO, predicate, valid: { from: day('2001-01-01'), to: day('2001-01-02') } }),
        );
    const [row] = await rowsOf(store, 'ward', { subject: WHO, predicate: 'weight' });
    const statuses: string[] = [];
    const { commit } = store;
    store.commit = async (batch) => {
      const answer = await commit.call(store, batch);
      statuses.push(answer.status);
      return answer;
    };
    clock.forward(1_000);
    await committed(erasing(trajectory, { predicate: 'weight', claim: row!.lineage }));
    await committed(erasing(trajectory, { predicate: 'drug' }));
    for (const [i, view] of [...views, memory].entries()) {
      clock.forward(1_000);
      await committed(view.assert(weighed(`${40 + i} kg`, 0.1)));
      await committed(view.assert({ subject: WHO, predicate: 'drug', object: `aspirin ${i}` }));
    }
    // Those of its own process are told, others find out: of the weight and of the drug.
    expect(statuses.filter((status) => status === 'outdated')).toHaveLength(2);
    const audits = await rowsOf(store, 'ward', { subject: WHO, predicate: 'weight', kind: 'audit' });
    expect(audits).toHaveLength(3);
    for (const row of audits) expect(readWitness(rowOf(row)).members).toHaveLength(2);
    const text = await everything(ward);
    expect(foundIn(text, ['81.3 kg', 'penizillin 500'])).toEqual([]);
    expect(foundIn(text, ['aspirin 0', 'aspirin 1', 'aspirin 2', WHO])).toHaveLength(4);
    const { facts } = await memory.recall({ subject: WHO, predicate: 'drug' });
    expect(facts).toMatchObject([{ object: 'aspirin 2', seq: 3 }]);
    await expectSound(ward);
  });

  near.each(['drug', 'allergy'])(
    'a branch that has a %s in memory which is erased where it was said does not merge with it what it is told',
    async (predicate) => {
      const ward = await begun(stores);
      const { store, clock, assize, trajectory, memory } = ward;
      const said = { subject: WHO, predicate, object: 'penizillin 500' };
      await committed(memory.assert({ ...said, source: 'first' }));
      const branch = await assize.branch('t', trajectory.head, { trajectoryId: 'b', note: 'what if', writs: [writ] });
      const inBranch = (branch as Trajectory).memory({ space: 'ward', writ });
      clock.forward(1_000);
      // It has the source's row by then, once as what it takes over and once as its own.
      await committed(inBranch.assert({ ...said, source: 'first' }));
      await committed(inBranch.assert({ ...said, source: 'second' }));
      const elsewhere = runtimeOver(store, [clinic], { clock, random: seededRandom('elsewhere') });
      await committed(erasing((await elsewhere.open('t')) as Trajectory, {}));
      clock.forward(1_000);
      await committed(inBranch.assert({ ...said, source: 'third' }));
      const { facts } = await inBranch.recall({ subject: WHO, predicate });
      expect(facts.map(({ object }) => object)).toContain(said.object);
      await expectSound(ward);
    },
  );

  near('an erasure that waits for a person is as good when it is approved', async () => {
    const ward = await begun(stores);
    const { store, trajectory, memory } = ward;
    await told(ward);
    const careful = writFor('careful', { require_approval: ['assize.erase'] });
    const beliefs = [{ space: 'ward', subject: WHO }];
    const asked = await trajectory.erase({ beliefs, reason: 'request 17', writ: careful });
    if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS);
    const names = await store.partition({ space: 'ward', subject: WHO, predicate: 'drug' });
    const { entry } = await committed(trajectory.approve(asked.pending, doctor));
    expect((readRow(entry).payload as CommitPayload).delta.beliefs).toHaveLength(3);
    expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
    const name = gone(names!.names.hash);
    const partition = { space: name, subject: name, predicate: name };
    expect(await store.partition(partition)).toMatchObject({ version: names!.version + 1 });
    await committed(memory.assert({ subject: WHO, predicate: 'drug', object: 'anew' }));
    await expectSound(ward);
  });

  near('what tools were given and have answered goes with what was said', async () => {
    const ward = await begun(stores);
    // One is called before the commit, and its answer observed by it; the other after all else, and it is told when it is settled.
    const input = z.object({ to: z.string() });
    const look = declareTool({
      name: 'letter.look',
      class: 'read',
      sensitive: true,
      input,
      execute: ({ to }) => `seen of ${to}`,
    });
    const letter = declareTool({
      name: 'letter.send',
      class: { reversibility: 'irreversible', delivery: 'externalised', sink: 'keyed' },
      sensitive: true,
      input,
      writes: ['letters'],
      execute: ({ to }) => `sent to ${to}`,
    });
    const options = { tools: [look, letter], clock: ward.clock };
    const assize = runtimeOver(ward.store, [clinic], options);
    const trajectory = (await assize.create(clinic, { trajectoryId: 'tools', writs: [writ] })) as Trajectory;
    for (const [patient, weight] of [
      [WHO, '81.3 kg'],
      ['p8', '70 kg'],
    ] as const) {
      const { ruling } = await trajectory.transaction({ writ, writes: ['**'] }, async (tx) => {
        await tx.call('letter.look', { to: patient });
        await tx.call('letter.send', { to: patient });
        tx.propose({ ...intent('visit', { patient, weight }, writ), role: 'nurse' });
      });
      if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
      const { entry } = await committed(trajectory.approve(ruling.pending, doctor));
      expect(await assize.awaitEffects(entry.id)).toHaveLength(1);
    }
    await assize.close();
    const hers = [WHO, `seen of ${WHO}`, `sent to ${WHO}`, '81.3 kg'];
    expect(foundIn(await everything(ward), hers)).toEqual(hers);
    const again = (await runtimeOver(ward.store, [clinic], { clock: ward.clock }).open('tools', clinic)) as Trajectory;
    await committed(erasing(again, {}));
    expect(foundIn(await everything(ward), hers)).toEqual([]);
    expect(foundIn(await everything(ward), ['seen of p8', 'sent to p8', '70 kg'])).toHaveLength(3);
    await expectSound(ward);
  });

  near('what tools have answered goes with it whatever their class is, and whenever they were called', async () => {
    const ward = await begun(stores);
    const input = z.object({ to: z.string() });
    const declared = (name: string, delivery: 'buffered' | 'externalised') =>
      declareTool({
        name,
        class: { reversibility: 'reversible', delivery, sink: 'keyed' },
        sensitive: true,
        input,
        writes: [name],
        plan: () => 'planned',
        execute: ({ to }: { to: string }) => `${name} has done it for ${to}`,
        compensate: () => undefined,
      } as never);
    const tools = [declared('later', 'buffered'), declared('now', 'externalised')] as never;
    const assize = runtimeOver(ward.store, [clinic], { tools, clock: ward.clock });
    const trajectory = (await assize.create(clinic, { trajectoryId: 'tools', writs: [writ] })) as Trajectory;
    for (const [n, patient] of [WHO, 'p8'].entries()) {
      const { ruling } = await trajectory.transaction({ writ, writes: ['**'], name: `visit ${n}` }, async (tx) => {
        await tx.call('later', { to: patient });
        await tx.call('now', { to: patient });
        tx.propose({ ...intent('visit', { patient, weight: '80 kg' }, writ), role: 'nurse' });
      });
      if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
      expect(await assize.awaitEffects(ruling.entry.id)).toHaveLength(2);
    }
    await assize.close();
    const of = (patient: string) => ['later', 'now'].map((name) => `${name} has done it for ${patient}`);
    expect(foundIn(await everything(ward), [WHO, ...of(WHO)])).toHaveLength(3);
    const again = (await runtimeOver(ward.store, [clinic], { clock: ward.clock }).open('tools', clinic)) as Trajectory;
    await committed(erasing(again, {}));
    expect(foundIn(await everything(ward), [WHO, ...of(WHO)])).toEqual([]);
    expect(foundIn(await everything(ward), of('p8'))).toHaveLength(2);
    await expectSound(ward);
  });

  near(
    'an erasure of several entries that is cut off between or in them is gone on with when it is asked for again',
    async () => {
      // Some more than go into two entries.
      const [PARTS, EACH] = [17, 250];
      const secret = (n: number) => `note ${n} of hers`;
      const whole = await begun(stores);
      const say = async ({ memory }: Ward): Promise<void> => {
        for (let part = 0; part < PARTS; part++)
          await committed(
            memory.assertMany(
              Array.from({ length: EACH }, (_, i) => ({
                subject: WHO,
                predicate: 'allergy',
                object: secret(part * EACH + i),
              })),
            ),
          );
        await committed(memory.assert({ subject: 'p8', predicate: 'allergy', object: 'nuts' }));
      };
      const entriesOf = async ({ store }: Ward): Promise<EntryRow[]> =>
        (await store.entries('t')).filter(({ payload }) => payload.includes('"name":"assize.erase"'));
      await say(whole);
      await committed(erasing(whole.trajectory, {}));
      const steps = (await entriesOf(whole)).length;
      // What was said, with the arguments of each proposal, and the names.
      const all = PARTS * (EACH + 1) + 1;
      expect(steps).toBe(3);

      // Each entry is not written, or written and its answer lost; and the process that erases ends with that.
      // A store is a store: of a file one place in between is enough.
      for (const step of stores.kind === 'memory' ? [1, 2, 3] : [2])
        for (const sent of [false, true]) {
          const ward = await begun(stores);
          await say(ward);
          const torn = faultyStore(ward.store, faultAt(step, { kind: 'torn', sent }, 'commit'));
          const crashing = runtimeOver(torn, [clinic], { clock: ward.clock });
          const there = (await crashing.open('t', clinic)) as Trajectory;
          await expect(erasing(there, {})).rejects.toMatchObject({
            code: expect.stringMatching(/^(commit_unknown|store_)/),
          });
          const done = step - (sent ? 0 : 1);
          // What was sent arrives without its sender.
          await expect.poll(async () => (await entriesOf(ward)).length).toBe(done);
          // What is left is found by the names, which go last; and no other names are touched.
          const left = (await rowsOf(ward.store)).filter(({ subject }) => subject === WHO);
          expect(left.length > 0).toBe(done < steps);

          const again = (await runtimeOver(ward.store, [clinic], { clock: ward.clock }).open(
            't',
            clinic,
          )) as Trajectory;
          if (done < steps) await committed(erasing(again, {}));
          else await expect(erasing(again, {})).rejects.toMatchObject({ code: 'nothing_to_erase' });
          const reader = new Values(ward.store);
          const erasures = (await entriesOf(ward)).map((row) =>
            reader.erasure(row, readRow(row).payload as CommitPayload),
          );
          const values = (await Promise.all(erasures)).flatMap((erasure) => erasure!.values.map(({ hash }) => hash));
          expect([values.length, new Set(values).size]).toEqual([all, all]);
          const text = await everything(ward);
          expect([text.includes('of hers'), text.includes(WHO), text.includes('nuts')]).toEqual([false, false, true]);
          expect(await checkMemory(ward.store)).toMatchObject({ valid: true });
          expect(await verifyStore(ward.store)).toMatchObject([{ valid: true }]);
        }
    },
  );

  near('a memory erases of its own space, by its own writ where that covers it', async () => {
    const { store, trajectory, memory } = await begun(stores);
    const other = trajectory.memory({ space: 'icu', writ });
    const drug = { subject: WHO, predicate: 'drug', object: 'penizillin 500' };
    for (const view of [memory, other])
      for (const said of [drug, { ...drug, predicate: 'allergy' }, { ...drug, subject: 'p8' }])
        await committed(view.assert(said));
    const believed = async () =>
      (await rowsOf(store)).map(({ subject, predicate, object }) => `${subject} ${predicate} ${object}`);
    const rest = [`p8 drug penizillin 500`];
    const [{ lineage: claim }] = (await memory.recall({ subject: WHO, predicate: 'allergy' })).facts as [FactVersion];
    const { entry } = await committed(
      memory.erase({ subject: WHO, predicate: 'allergy', claim, reason: 'request 18', writ: officer }),
    );
    expect(JSON.parse(entry.payload)).toMatchObject({
      writ_id: writId(officer),
      action: { args: { reason: 'request 18', beliefs: [{ claim }] } },
    });
    expect(await believed()).toEqual(
      [
        `${WHO} allergy ${gone((await rowsOf(store, 'ward', { predicate: 'allergy' }))[0]!.content.hash)}`,
        `${WHO} drug penizillin 500`,
        ...rest,
      ].toSorted(),
    );
    const own = await committed(memory.erase({ subject: WHO, predicate: 'drug', reason: 'request 19' }));
    expect(JSON.parse(own.entry.payload)).toMatchObject({ writ_id: writId(writ) });
    expect((await believed()).filter((row) => row.includes('drug'))).toEqual(rest);
    const named = trajectory.memory({ space: 'ward', writ, principal: 'nurse' });
    // Each writ has its own holder.
    expect(await named.erase({ subject: WHO, reason: 'r', principal: 'officer' })).toMatchObject({
      ruling: 'rejected',
    });
    const last = await named.erase({ subject: WHO, reason: 'request 20', writ: officer });
    expect(last).toMatchObject({ ruling: 'committed', left: [] });
    expect(await believed()).toEqual(rest);
    expect(await rowsOf(store, 'icu')).toHaveLength(3);
    const believing = writFor('scribe', { scopes: ['memory:ward:**'] });
    const scribe = trajectory.memory({ space: 'ward', writ: believing });
    expect(await scribe.erase({ subject: 'p8', reason: 'r' })).toMatchObject({ reason: 'invalid_authority' });
    expect(await believed()).toEqual(rest);
  });

  near('its writ covers the space; what is refused names nobody', async () => {
    const ward = await begun(stores);
    const { store, trajectory, memory } = ward;
    await told(ward);
    const said = { subject: WHO, predicate: 'drug' };
    for (const scopes of [['erase:memory:other'], ['memory:ward:**'], ['erase:/**'], ['erase:entry:*']]) {
      const other = writFor('other', { actions: ['assize.erase'], scopes, nonce: scopes[0]! });
      const input = { beliefs: [{ space: 'ward', ...said }], reason: 'r', writ: other };
      const ruling = await trajectory.erase(input);
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
      expect(foundIn((ruling as { entry: EntryRow }).entry.payload, SECRETS)).toEqual([]);
    }
    expect((await memory.recall(said)).facts).toHaveLength(1);
    const wrong = async (beliefs: unknown) =>
      trajectory.erase({ beliefs: beliefs as never, reason: 'r', writ: officer }).then(
        () => 'done',
        (error: { code: string; message: string }) => [error.code, foundIn(error.message, SECRETS)],
      );
    const length = trajectory.length;
    for (const beliefs of [
      [],
      [null],
      'all',
      [{ space: 'ward' }],
      [{ space: '', ...said }],
      [{ space: 'ward', subject: 'A\u030a' }],
    ])
      expect(await wrong(beliefs)).toEqual(['bad_intent', []]);
    expect(await wrong([{ space: 'ward', ...said, claim: 'penizillin 500' }])).toEqual(['bad_intent', []]);
    expect(await wrong([{ space: 'ward', ...said, claim: 'ab'.repeat(32) }])).toEqual(['not_found', []]);
    expect(await wrong([{ space: 'ward', ...said, subject: `${WHO}!` }])).toEqual(['nothing_to_erase', []]);
    expect(trajectory.length).toBe(length);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(SECRETS);
    await store.close();
  });

  near('a slip in the name of a member, or a member without a value, erases nothing', async () => {
    const ward = await begun(stores);
    const { store, trajectory } = ward;
    await told(ward);
    const erasable = trajectory.memory({ space: 'ward', writ: officer });
    const [all, length] = [await rowsOf(store), trajectory.length];
    const claim = all.find(({ subject }) => subject === WHO)!.lineage;
    const refused = async (erase: () => Promise<unknown>): Promise<unknown> => {
      const answer = await Promise.resolve()
        .then(erase)
        .catch(({ code, message }) => ({ code, message }));
      expect(trajectory.length).toBe(length);
      expect(await rowsOf(store)).toEqual(all);
      return answer;
    };
    const valid = { from: day('2026-01-01'), to: day('2026-02-01') };
    const slips: (readonly [string, object])[] = [
      ['predicat', { predicat: 'drug' }],
      ['predicat', Object.create({ predicat: 'drug' })],
      ['valid', { predicate: 'drug', valid }],
      ['predicate', { predicate: undefined }],
      ['claim', { predicate: 'drug', claim: undefined }],
      ['Claim', { Claim: claim }],
    ];
    for (const [member, place] of slips) {
      const beliefs = [
        { space: 'ward', subject: 'p8' },
        Object.assign(Object.create(place), { space: 'ward', subject: WHO }),
      ];
      expect(await refused(() => trajectory.erase({ beliefs, reason: 'r', writ: officer }))).toEqual({
        code: 'bad_intent',
        message: expect.stringContaining(`"${member}"`),
      });
      const forgotten = Object.assign(place, { subject: WHO, reason: 'r' });
      expect(await refused(() => erasable.erase(forgotten))).toEqual({
        code: 'bad_argument',
        message: expect.stringContaining(`erased.${member} must be left out`),
      });
    }
    const whole: readonly (readonly [string, object])[] = [
      ['entrys', { entrys: [all[0]!.lineage] }],
      ['place', Object.create({ place: ['/visits'] })],
      ['at', { at: undefined }],
      ['principal', { principal: undefined }],
    ];
    for (const [member, beside] of whole) {
      const beliefs = [{ space: 'ward', subject: WHO }];
      const erasure = Object.assign(Object.create(beside), beside, { beliefs, reason: 'r', writ: officer });
      expect(await refused(() => trajectory.erase(erasure))).toEqual({
        code: 'bad_intent',
        message: expect.stringContaining(`"${member}", which must be left out`),
      });
    }
    for (const missing of ['subject', 'reason'])
      for (const without of [{}, { [missing]: undefined }]) {
        const { [missing]: _, ...rest } = { subject: WHO, reason: 'r' } as Record<string, string>;
        expect(await refused(() => erasable.erase({ ...rest, ...without } as never))).toEqual({
          code: 'bad_argument',
          message: `The argument erased.${missing} must be given; nothing was done.`,
        });
      }
    const elsewhere = { subject: WHO, space: 'other', reason: 'r' };
    expect(await refused(() => erasable.erase(elsewhere))).toMatchObject({ code: 'bad_argument' });
    await store.close();
  });

  near('a place is read as it was looked at, also where it inherits a member', async () => {
    const ward = await begun(stores);
    await told(ward);
    const memory = ward.trajectory.memory({ space: 'ward', writ: officer });
    const his = (await rowsOf(ward.store)).filter(({ subject, predicate }) => subject !== WHO || predicate !== 'drug');
    await committed(memory.erase(Object.assign(Object.create({ predicate: 'drug' }), { subject: WHO, reason: 'r' })));
    expect(await rowsOf(ward.store)).toEqual(his);
    await ward.store.close();
  });
});

function gone(hash: string): string {
  return canonicalize({ $erased: hash });
}

/** What an erasure says. */
function argsOf(entry: EntryRow): ErasureArgs {
  return JSON.parse(entry.payload).action.args;
}

/** Hashes of the names that an erasure says it was asked for. */
function namesIn(entry: EntryRow): string[] {
  return argsOf(entry).beliefs!.flatMap(({ partitions }) => partitions);
}

test('an action that says something else by now is known by what it said then', async () => {
  let patient = WHO;
  const { declared } = clinic;
  const visit = { ...declared.actions.visit, beliefs: () => [{ ...said, subject: patient }] };
  const said = { verb: 'assert' as const, space: 'ward', predicate: 'weight', object: 'seen' };
  const changing = defineDomain({ ...declared, actions: { visit } } as typeof declared);
  const store = await openStore('memory:');
  const trajectory = (await runtimeOver(store, [changing]).create(changing, {
    trajectoryId: 't',
    writs: [writ],
  })) as Trajectory;
  await committed(trajectory.propose({ ...intent('visit', { patient: WHO, weight: '81.3 kg' }, writ), role: 'nurse' }));
  patient = 'p8';
  await committed(erasing(trajectory, {}));
  expect(foundIn(await exported(store), [WHO, '81.3 kg', 'seen'])).toEqual([]);
});
