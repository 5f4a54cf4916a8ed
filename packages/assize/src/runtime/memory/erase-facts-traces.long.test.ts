import { faultAt } from '@assize/testing/internal/faults.ts';
import { faultyStore } from '@assize/testing/internal/faulty-store.ts';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { type CommitPayload, type EntryRow, readRow, ValueReader } from '#ledger';
import { readWitness } from '#memory';
import { seededRandom } from '#oracle';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  begun,
  day,
  doctor,
  erasing,
  everything,
  expectSound,
  foundIn,
  gone,
  rowsOf,
  type Ward,
  writ,
} from '../../../../../tests/support/clinic/clinic-erasure.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
} from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { nearBy, onEveryStore } from '../../../../../tests/support/ledger/stores.ts';
import { someOf } from '../../../../../tests/support/some-of.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Trajectory } from '../trajectory.ts';
import { checkMemory } from './maintain/check.ts';
import { rowOf } from './visible/facts.ts';

onEveryStore((stores) => {
  const near = nearBy(stores);

  test('a process with erased facts in its cache does not write them again', async () => {
    const ward = await begun(stores);
    const { store, clock, memory, trajectory } = ward;
    const weighed = (object: string, confidence: number) => ({
      subject: WHO,
      predicate: 'weight',
      object,
      confidence,
    });
    await committed(memory.assert(weighed('81.3 kg', 0.5)));
    await committed(memory.assert({ subject: WHO, predicate: 'drug', object: 'penizillin 500' }));
    // Another runtime over the same store, and another trajectory of this one, with plans on the
    // fact.
    const elsewhere = runtimeOver(store, [clinic], {
      ports: { clock, random: seededRandom('elsewhere') },
    });
    const trajectories = [
      await elsewhere.create(clinic, { trajectoryId: 'u', writs: [writ] }),
      await ward.assize.create(clinic, { trajectoryId: 'v', writs: [writ] }),
    ];
    const views = trajectories.map((one) => (one as Trajectory).memory({ space: 'ward', writ }));
    for (const view of views)
      for (const predicate of ['weight', 'drug'])
        await committed(
          view.retract({
            subject: WHO,
            predicate,
            valid: { from: day('2001-01-01'), to: day('2001-01-02') },
          }),
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
    // Caches of the same process are evicted, others find out at the commit: of the weight and of
    // the drug.
    expect(statuses.filter((status) => status === 'outdated')).toHaveLength(2);
    const audits = await rowsOf(store, 'ward', {
      subject: WHO,
      predicate: 'weight',
      kind: 'audit',
    });
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
    'a branch merges no assertion with a cached %s erased in its source',
    async (predicate) => {
      const ward = await begun(stores);
      const { store, clock, assize, trajectory, memory } = ward;
      const said = { subject: WHO, predicate, object: 'penizillin 500' };
      await committed(memory.assert({ ...said, source: 'first' }));
      const branch = await assize.branch('t', trajectory.head, {
        trajectoryId: 'b',
        note: 'what if',
        writs: [writ],
      });
      const inBranch = (branch as Trajectory).memory({ space: 'ward', writ });
      clock.forward(1_000);
      // It has the source's row by then, inherited and as its own.
      await committed(inBranch.assert({ ...said, source: 'first' }));
      await committed(inBranch.assert({ ...said, source: 'second' }));
      const elsewhere = runtimeOver(store, [clinic], {
        ports: { clock, random: seededRandom('elsewhere') },
      });
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
    const { entry } = await committed(trajectory.approvals.approve(asked.pending, doctor));
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
    // One is called before the commit, and the commit observes its answer. The other is called
    // last, and its answer is recorded when it settles.
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
    const options = { tools: [look, letter], ports: { clock: ward.clock } };
    const assize = runtimeOver(ward.store, [clinic], options);
    const trajectory = (await assize.create(clinic, {
      trajectoryId: 'tools',
      writs: [writ],
    })) as Trajectory;
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
      const { entry } = await committed(trajectory.approvals.approve(ruling.pending, doctor));
      expect(await assize.awaitEffects(entry.id)).toHaveLength(1);
    }
    await assize.close();
    const hers = [WHO, `seen of ${WHO}`, `sent to ${WHO}`, '81.3 kg'];
    expect(foundIn(await everything(ward), hers)).toEqual(hers);
    const again = (await runtimeOver(ward.store, [clinic], { ports: { clock: ward.clock } }).open(
      'tools',
      clinic,
    )) as Trajectory;
    await committed(erasing(again, {}));
    expect(foundIn(await everything(ward), hers)).toEqual([]);
    expect(foundIn(await everything(ward), ['seen of p8', 'sent to p8', '70 kg'])).toHaveLength(3);
    await expectSound(ward);
  });

  near(
    'what tools have answered goes with it whatever their class is, and whenever they were called',
    async () => {
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
      const assize = runtimeOver(ward.store, [clinic], { tools, ports: { clock: ward.clock } });
      const trajectory = (await assize.create(clinic, {
        trajectoryId: 'tools',
        writs: [writ],
      })) as Trajectory;
      for (const [n, patient] of [WHO, 'p8'].entries()) {
        const { ruling } = await trajectory.transaction(
          { writ, writes: ['**'], name: `visit ${n}` },
          async (tx) => {
            await tx.call('later', { to: patient });
            await tx.call('now', { to: patient });
            tx.propose({ ...intent('visit', { patient, weight: '80 kg' }, writ), role: 'nurse' });
          },
        );
        if (ruling.ruling !== 'committed') throw new Error(ruling.ruling);
        expect(await assize.awaitEffects(ruling.entry.id)).toHaveLength(2);
      }
      await assize.close();
      const of = (patient: string) =>
        ['later', 'now'].map((name) => `${name} has done it for ${patient}`);
      expect(foundIn(await everything(ward), [WHO, ...of(WHO)])).toHaveLength(3);
      const again = (await runtimeOver(ward.store, [clinic], { ports: { clock: ward.clock } }).open(
        'tools',
        clinic,
      )) as Trajectory;
      await committed(erasing(again, {}));
      expect(foundIn(await everything(ward), [WHO, ...of(WHO)])).toEqual([]);
      expect(foundIn(await everything(ward), of('p8'))).toHaveLength(2);
      await expectSound(ward);
    },
  );

  near(
    'an erasure of two entries is searched for once, and what is said of her elsewhere in between is not lost with her name',
    async () => {
      for (const isSaid of [false, true]) {
        const ward = await begun(stores);
        const { store, clock, memory } = ward;
        for (let part = 0; part < 9; part++)
          await committed(
            memory.assertMany(
              Array.from({ length: 250 }, (_, i) => ({
                subject: WHO,
                predicate: 'allergy',
                object: `note ${part}-${i} of hers`,
              })),
            ),
          );
        const other = (await runtimeOver(store, [clinic], { ports: { clock } }).create(clinic, {
          trajectoryId: 'other',
          writs: [writFor('nurse')],
        })) as Trajectory;
        const elsewhere = other.memory({ space: 'ward', writ: writFor('nurse') });
        let searches = 0;
        let erasures = 0;
        const watched = new Proxy(store, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name, target);
            if (typeof value !== 'function') return value;
            return (...args: readonly unknown[]): unknown => {
              if (name === 'branches') searches += 1;
              const answer: unknown = Reflect.apply(value, target, args);
              if (name !== 'commit' || !(answer instanceof Promise)) return answer;
              return answer.then(async (result: unknown) => {
                erasures += 1;
                if (isSaid && erasures === 1)
                  await committed(
                    elsewhere.assert({
                      subject: WHO,
                      predicate: 'allergy',
                      object: 'said elsewhere',
                    }),
                  );
                return result;
              });
            };
          },
        });
        const there = (await runtimeOver(watched, [clinic], { ports: { clock } }).open(
          't',
          clinic,
        )) as Trajectory;
        const ruling = await erasing(there, {});
        expect(ruling).toMatchObject({ ruling: 'committed', remaining: isSaid ? ['other'] : [] });
        expect(erasures).toBe(2);
        const rows = await rowsOf(store);
        expect(
          rows.filter(({ subject, object }) => subject === WHO && object === 'said elsewhere'),
        ).toHaveLength(isSaid ? 1 : 0);
        expect(rows.filter(({ object }) => object.includes('of hers'))).toEqual([]);
        // Each search reads the memories twice.
        expect(searches).toBe(isSaid ? 4 : 2);
        await expectSound(ward);
      }
    },
  );

  near(
    'an erasure of several entries that is cut off between or in them is gone on with when it is asked for again',
    async () => {
      // Somewhat more than two entries hold.
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
        (await store.entries('t')).filter(({ payload }) =>
          payload.includes('"name":"assize.erase"'),
        );
      await say(whole);
      await committed(erasing(whole.trajectory, {}));
      const steps = (await entriesOf(whole)).length;
      // The statements, with the arguments of each proposal, and the names.
      const all = PARTS * (EACH + 1) + 1;
      expect(steps).toBe(3);

      // Each entry is not written, or written with its answer lost; then the erasing process ends.
      // For a file one step in between is enough.
      const cuts = (stores.kind === 'memory' ? [1, 2, 3] : [2]).flatMap((step) => [
        { step, sent: false },
        { step, sent: true },
      ]);
      for (const { step, sent } of someOf(cuts, () => stores.kind)) {
        const ward = await begun(stores);
        await say(ward);
        const torn = faultyStore(ward.store, faultAt(step, { kind: 'torn', sent }, 'commit'));
        const crashing = runtimeOver(torn, [clinic], { ports: { clock: ward.clock } });
        const there = (await crashing.open('t', clinic)) as Trajectory;
        await expect(erasing(there, {})).rejects.toMatchObject({
          code: expect.stringMatching(/^(commit_unknown|store_)/),
        });
        const done = step - (sent ? 0 : 1);
        // The sent batch arrives without its sender.
        await expect.poll(async () => (await entriesOf(ward)).length).toBe(done);
        // The rest is found by the names. They are erased last; other names stay.
        const left = (await rowsOf(ward.store)).filter(({ subject }) => subject === WHO);
        expect(left.length > 0).toBe(done < steps);

        const again = (await runtimeOver(ward.store, [clinic], {
          ports: { clock: ward.clock },
        }).open('t', clinic)) as Trajectory;
        if (done < steps) await committed(erasing(again, {}));
        else await expect(erasing(again, {})).rejects.toMatchObject({ code: 'nothing_to_erase' });
        const reader = new ValueReader(ward.store);
        const erasures = (await entriesOf(ward)).map((row) =>
          reader.erasure(row, readRow(row).payload as CommitPayload),
        );
        const values = (await Promise.all(erasures)).flatMap((erasure) =>
          erasure!.values.map(({ hash }) => hash),
        );
        expect([values.length, new Set(values).size]).toEqual([all, all]);
        const text = await everything(ward);
        expect([text.includes('of hers'), text.includes(WHO), text.includes('nuts')]).toEqual([
          false,
          false,
          true,
        ]);
        expect(await checkMemory(ward.store)).toMatchObject({ valid: true });
        expect(await verifyStore(ward.store)).toMatchObject([{ valid: true }]);
      }
    },
  );
});
