import { MemoryStore } from '@assize/testing/memory';
import { issueWrit } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import { type Domain, defineDomain, escalate, pass } from 'assize/internal/kernel';
import {
  type CommitPayload,
  type EntryRow,
  type Hash,
  OPEN_END,
  readRow,
} from 'assize/internal/ledger';
import { type Assize, Trajectory } from 'assize/internal/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { blastRadius, type IncidentStart } from '#blast';
import { incident, stepText } from '#incident-domain';
import { cases } from '../../../../tests/support/cases.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { affectedSince } from './affected-since.ts';
import { carryOut } from './carry-out.ts';
import { openIncident, type WritFor } from './open-incident.ts';
import { planResponse } from './plan-response.ts';

/** Notes of a group. A big one needs an approval. */
const notes = defineDomain({
  name: 'notes',
  version: '1',
  state: z.object({ notes: z.record(z.string(), z.number()), big: z.number() }),
  initial: { notes: {}, big: 0 },
  processes: { noting: { writes: ['/notes/*', '/big'] } },
  roles: { worker: { processes: ['noting'] } },
  actions: {
    note: {
      process: 'noting',
      args: z.object({ key: z.string(), big: z.boolean() }),
      apply: (state, { key, big }) => {
        state.notes[key] = (state.notes[key] ?? 0) + 1;
        if (big) state.big += 1;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant('BIG', ['/big'], ({ big }) => (big > 0 ? escalate('a big note') : pass)),
  ],
  counselors: { boss: (principal) => principal === 'human:ida' },
  freeze: 'footprint',
  memory: {
    predicates: {
      is: { cardinality: 'multi-valued', strategy: 'lww' },
      lives: { cardinality: 'single-valued', strategy: 'lww' },
    },
  },
}) as unknown as Domain;

const BAD = writFor('agent:bad');
const GOOD = writFor('agent:good');
const START: IncidentStart = { principal: 'agent:bad' };
const START_OF_MARCH = '2026-03-01';

const step = fc.record({
  does: fc.constantFrom('note', 'big', 'say', 'branch'),
  isBad: fc.boolean(),
  on: fc.nat(3),
  key: fc.constantFrom('k', 'l'),
});
const history = fc.array(step, { minLength: 4, maxLength: 14 });

/** A store with a history, and a way to open it as another process. */
async function worldOf(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) {
  const store = new MemoryStore();
  const clock = new HandClock();
  const open = (over: MemoryStore = store): Assize =>
    runtimeOver(over, [notes, incident], { ports: { clock } });
  const assize = open();
  const ids = ['t', 'u'];
  for (const trajectoryId of ids) await assize.create(notes, { trajectoryId, writs: [BAD, GOOD] });
  for (const [i, { does, isBad, on, key }] of steps.entries()) {
    clock.forward(1_000);
    const trajectory = await assize.open(ids[on % ids.length] as string);
    const writ = isBad ? BAD : GOOD;
    if (does === 'say')
      await trajectory
        .memory({ space: 's', writ })
        .assert({ subject: key, predicate: 'is', object: `${i}` });
    else if (does === 'branch') {
      const head = await store.head(trajectory.id);
      if (head?.kind === 'pending_approval' || head?.kind === 'rejection') continue;
      const trajectoryId = `b${i}`;
      await assize.branch(trajectory.id, trajectory.head, { note: 'what if', trajectoryId });
      ids.push(trajectoryId);
    } else
      await trajectory.propose({
        action: 'note',
        role: 'worker',
        args: { key, big: does === 'big' },
        writ,
      } as never);
  }
  clock.forward(1_000);
  return { store, clock, open, assize, ids };
}

type World = Awaited<ReturnType<typeof worldOf>>;

function writsOf({ clock }: Pick<World, 'clock'>, subject = 'human:ops'): WritFor {
  return async (action, scope, trajectory) =>
    issueWrit(
      {
        ...{ issuer: operator.publicKey, subject, trajectory, actions: [action], scopes: [scope] },
        not_before: addMicros(clock.now(), -1_000_000),
        expires: addMicros(clock.now(), 600_000_000),
        ...{ max_depth: 0, nonce: `${action} ${scope}` },
      },
      operator.privateKey,
    );
}

async function opened(world: World, period: Pick<IncidentStart, 'until'> = {}) {
  const { store, assize } = world;
  const plan = await planResponse(store, await blastRadius(store, { ...START, ...period }));
  const input = { plan, because: 'the key leaked', openedBy: 'human:ops', writFor: writsOf(world) };
  const proposed = await openIncident(assize, input);
  return { plan, ...proposed, pending: proposed.pending as Hash };
}

const approve = async ({ assize }: World, pending: Hash): Promise<void> => {
  const ruling = await (await assize.open(INCIDENTS)).approvals.approve(pending, {
    principal: 'human:ida',
    method: 'test',
  });
  expect(ruling.ruling).toBe('committed');
};

/** A process that ends at its nth commit: before it, or after it without an answer. */
function dying(store: MemoryStore, at: number, isWritten: boolean): MemoryStore {
  let left = at;
  const died = (): never => {
    throw new Error('the process has ended');
  };
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (left < 0) died();
        if (name !== 'commit' || left-- > 0) return member.apply(target, args);
        if (isWritten) await member.apply(target, args);
        return died();
      };
    },
  });
}

async function commitsOf(store: MemoryStore): Promise<EntryRow[]> {
  const all = await Promise.all(
    (await store.trajectories()).map((each) => store.entries(each.trajectory_id)),
  );
  return all.flat().filter(({ kind }) => kind === 'commit');
}

/** Each act by its trajectory, action and object, with the number of its commits. */
async function acts(store: MemoryStore): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const row of await commitsOf(store)) {
    const { action, trajectory_id } = readRow(row).payload as CommitPayload;
    const args = action.args as { writ?: string; step?: number; from?: object } | undefined;
    const role = (action.role as { params?: { incident?: string } }).params?.incident ?? '';
    if (!['assize.revoke', 'assize.halt', 'record', 'close'].includes(action.name)) continue;
    const key = [trajectory_id, action.name, args?.writ ?? '', args?.step ?? '', role].join(' ');
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

async function expectCarriedOut(
  world: World,
  { plan, incident: id }: Awaited<ReturnType<typeof opened>>,
): Promise<void> {
  const { store, open } = world;
  const assize = open();
  const state = (await assize.open(INCIDENTS)).state() as any;
  expect(state.incidents[id]).toMatchObject({
    approvedBy: 'human:ida',
    closedAt: expect.any(String),
  });
  const outcomes = Object.values<{ outcome: string }>(state.incidents[id].outcomes).map(
    ({ outcome }) => outcome,
  );
  expect(outcomes).toHaveLength(plan.steps.length);
  expect(outcomes).not.toContain('failed');
  const counts = await acts(store);
  expect(
    [...counts.values()].every((count) => count === 1),
    JSON.stringify([...counts]),
  ).toBe(true);
  const after = await blastRadius(store, START);
  const planned = plan.steps.flatMap((each) => (each.kind === 'withdraw' ? each.statements : []));
  const entries = new Set(planned.map(({ entry }) => entry));
  expect(after.facts.filter(({ entry }) => entries.has(entry))).toEqual([]);
  for (const each of plan.steps) {
    const trajectory = await assize.open(each.trajectory);
    if (each.kind === 'halt') expect(trajectory.halted).toBeDefined();
    if (each.kind === 'revoke') expect(trajectory.writs.revoked()).toContain(each.writ);
  }
}

async function settled(call: Promise<unknown>): Promise<void> {
  await call.catch((error: Error) => {
    if (
      !/ended|commit_unknown|unknown/.test(`${error.message} ${(error as { code?: string }).code}`)
    )
      throw error;
  });
}

describe('a response', () => {
  test('is carried out once, also after a crash at any commit and by two callers', async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(fc.tuple(fc.nat(8), fc.boolean()), { maxLength: 4 }),
        async (steps, ends) => {
          const world = await worldOf(steps);
          const { store, open } = world;
          if ((await blastRadius(store, START)).entries.length === 0) return;
          const made = await opened(world);
          await approve(world, made.pending);
          const carry = (over: MemoryStore, by: string) =>
            carryOut(open(over), over, { incident: made.incident, writFor: writsOf(world, by) });
          for (const [at, isWritten] of ends)
            await settled(carry(dying(store, at, isWritten), 'human:ops'));
          await Promise.all([carry(store, 'human:ops'), carry(store, 'assize:server')]);
          await expectCarriedOut(world, made);
          const before = await store.trajectories();
          expect(await carry(store, 'human:ops')).toMatchObject({ recorded: 0 });
          expect(await store.trajectories()).toEqual(before);
        },
      ),
      { numRuns: cases(600) },
    );
  });

  test('of two processes that crash together is carried out by a third', async () => {
    const end = fc.tuple(fc.nat(8), fc.boolean());
    await fc.assert(
      fc.asyncProperty(history, end, end, async (steps, one, other) => {
        const world = await worldOf(steps);
        const { store, open } = world;
        if ((await blastRadius(store, START)).entries.length === 0) return;
        const made = await opened(world);
        await approve(world, made.pending);
        const carry = (over: MemoryStore, by: string) =>
          carryOut(open(over), over, { incident: made.incident, writFor: writsOf(world, by) });
        await Promise.all(
          [one, other].map(([at, isWritten], i) =>
            settled(carry(dying(store, at, isWritten), `human:ops${i}`)),
          ),
        );
        await carry(store, 'human:ops');
        await expectCarriedOut(world, made);
      }),
      { numRuns: cases(400) },
    );
  });

  test('has no effect before its approval, and none after a rejection', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.boolean(), async (steps, isRejected) => {
        const world = await worldOf(steps);
        const { store, assize, open } = world;
        if ((await blastRadius(store, START)).entries.length === 0) return;
        const made = await opened(world);
        const trajectory = await assize.open(INCIDENTS);
        if (isRejected)
          await trajectory.approvals.reject(made.pending, {
            principal: 'human:ida',
            method: 'test',
            reason: 'no',
          });
        const before = await store.trajectories();
        const carrying = carryOut(open(), store, {
          incident: made.incident,
          writFor: writsOf(world),
        });
        await expect(carrying).rejects.toMatchObject({
          code: 'not_found',
          message: expect.stringMatching(/waits for a person|was not approved/),
        });
        expect(await store.trajectories()).toEqual(before);
      }),
      { numRuns: cases(200) },
    );
  });

  test('of one plan is one incident while it is open, and another one after it', async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.constantFrom('waits', 'approved', 'closed', 'rejected'),
        async (steps, until) => {
          const world = await worldOf(steps);
          const { store, assize, open } = world;
          if ((await blastRadius(store, START)).entries.length === 0) return;
          const made = await opened(world);
          expect(made.status).toBe('proposed');
          const input = {
            plan: made.plan,
            because: 'again',
            openedBy: 'human:ops',
            writFor: writsOf(world),
          };
          if (until === 'rejected')
            await (await assize.open(INCIDENTS)).approvals.reject(made.pending, {
              ...{ principal: 'human:ida', method: 'test', reason: 'no' },
            });
          else if (until !== 'waits') await approve(world, made.pending);
          if (until === 'closed')
            await carryOut(open(), store, { incident: made.incident, writFor: writsOf(world) });
          const again = await openIncident(assize, input);
          const expected = {
            waits: { status: 'waiting', incident: made.incident, pending: made.pending },
            approved: { status: 'approved', incident: made.incident },
            closed: { status: 'proposed', incident: `${made.incident}-2` },
            rejected: { status: 'proposed', incident: made.incident },
          };
          expect(again).toMatchObject(expected[until]);
          const other = await openIncident(open(), input);
          expect(other.incident).toBe(again.incident);
          expect((await assize.open(INCIDENTS)).approvals.pending()).toHaveLength(
            until === 'approved' ? 0 : 1,
          );
        },
      ),
      { numRuns: cases(100) },
    );
  });

  test('of two concurrent processes opens one incident', async () => {
    const world = await worldOf(
      Array.from({ length: 4 }, () => ({ does: 'say', isBad: true, on: 0, key: 'k' })),
    );
    const { store, open } = world;
    const plan = await planResponse(store, await blastRadius(store, START));
    const input = { plan, because: 'b', openedBy: 'human:ops', writFor: writsOf(world) };
    await open().create(incident, { trajectoryId: INCIDENTS });
    const [one, two] = await Promise.all([
      openIncident(open(), input),
      openIncident(open(), input),
    ]);
    expect([one.incident, one.pending]).toEqual([two.incident, two.pending]);
    expect([one.status, two.status].sort()).toEqual(['proposed', 'waiting']);
  });

  test('without a step is not proposed; a missing approval has its cause', async () => {
    const world = await worldOf([]);
    const { assize, store } = world;
    const remains = [{ what: 'a letter', why: 'it was sent', advice: 'write another one' }];
    const input = { because: 'b', openedBy: 'human:ops', writFor: writsOf(world) };
    for (const plan of [
      { start: START, steps: [], remains: [] },
      { start: START, steps: [], remains },
    ])
      await expect(openIncident(assize, { ...input, plan })).rejects.toMatchObject({
        ...{
          code: 'wrong_state',
          message: expect.stringContaining('The response has no step that'),
          evidence: { remains: plan.remains.length },
        },
      });
    expect(await store.head(INCIDENTS)).toBeUndefined();
    const plan = { start: START, steps: [{ kind: 'halt', trajectory: 't' } as const], remains: [] };
    const { incident: id, pending } = await openIncident(assize, { ...input, plan });
    const carry = (incident: string) =>
      carryOut(assize, store, { incident, writFor: writsOf(world) });
    await expect(carry('none')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('the command that proposed the'),
    });
    await expect(carry(id)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/Approve its proposal|its plan was rejected, or the/),
      evidence: { approval: pending },
    });
    const rejection = { principal: 'human:ida', method: 'test', reason: 'no' };
    await (await assize.open(INCIDENTS)).approvals.reject(pending as Hash, rejection);
    await expect(carry(id)).rejects.toMatchObject({
      ...{ code: 'not_found', message: expect.stringContaining('was rejected') },
    });
  });

  test('does not know the entries that follow its opening', async () => {
    const world = await worldOf(
      Array.from({ length: 4 }, () => ({ does: 'say', isBad: true, on: 0, key: 'k' })),
    );
    const { store, clock, assize } = world;
    const made = await opened(world);
    await approve(world, made.pending);
    const incidentNow = async () =>
      ((await assize.open(INCIDENTS)).state() as any).incidents[made.incident];
    expect(await affectedSince(store, await incidentNow())).toEqual([]);
    clock.forward(1_000);
    const late = { action: 'note', role: 'worker', args: { key: 'k', big: false }, writ: BAD };
    const { entry } = (await (await assize.open('u')).propose(late as never)) as {
      entry: EntryRow;
    };
    await carryOut(assize, store, { incident: made.incident, writFor: writsOf(world) });
    expect((await affectedSince(store, await incidentNow())).map(({ id }) => id)).toEqual([
      entry.id,
    ]);
  });

  test('leaves the writs of other principals alone, and their facts', async () => {
    const say = (isBad: boolean, on = 0) => ({ does: 'say', isBad, on, key: 'k' }) as const;
    const world = await worldOf([
      say(true),
      say(false),
      say(true, 1),
      { ...say(true), does: 'big' },
    ]);
    const made = await opened(world);
    expect(made.plan.steps.map(({ kind, trajectory }) => `${kind} ${trajectory}`)).toEqual([
      ...['revoke t', 'revoke u', 'withdraw t', 'halt t'],
    ]);
    await approve(world, made.pending);
    await carryOut(world.open(), world.store, { incident: made.incident, writFor: writsOf(world) });
    await expectCarriedOut(world, made);
    const trajectory = await world.open().open('u');
    const propose = (writ: typeof BAD) =>
      trajectory.propose({
        action: 'note',
        role: 'worker',
        args: { key: 'k', big: false },
        writ,
      } as never);
    expect((await propose(GOOD)).ruling).toBe('committed');
    expect(await propose(BAD)).toMatchObject({ ruling: 'rejected' });
    const believed = await trajectory.memory({ space: 's', writ: GOOD }).recall({ subject: 'k' });
    expect(believed.facts.map(({ object }) => object)).toEqual(['1']);
  });

  test('an incident that waits for its approval holds up no other one', async () => {
    const world = await worldOf([{ does: 'note', isBad: true, on: 0, key: 'k' }]);
    const waiting = await opened(world, { until: '2100-01-01T00:00:00.000000Z' });
    const made = await opened(world);
    await approve(world, made.pending);
    await carryOut(world.open(), world.store, { incident: made.incident, writFor: writsOf(world) });
    await expectCarriedOut(world, made);
    await approve(world, waiting.pending);
    const { incident: second } = await carryOut(world.open(), world.store, {
      ...{ incident: waiting.incident, writFor: writsOf(world) },
    });
    expect(second.outcomes).toMatchObject({ 0: { outcome: 'already' } });
  });

  test('gives back what the withdrawn statements alone had displaced', async () => {
    const world = await worldOf([]);
    const { store, clock, assize } = world;
    const trajectory = await assize.open('t');
    const lives = async (writ: typeof BAD, object: string, more: object = {}) => {
      const memory = trajectory.memory({ space: 's', writ });
      await memory.assert({
        subject: 'k',
        predicate: 'lives',
        object,
        valid: { from: START_OF_MARCH },
        ...more,
      });
      clock.forward(1_000);
    };
    await lives(GOOD, 'Bonn');
    await lives(BAD, 'Oslo');
    await lives(BAD, 'Moscow');
    const believed = async () =>
      (await trajectory.memory({ space: 's', writ: GOOD }).recall({ subject: 'k' })).facts.map(
        ({ object }) => object,
      );
    expect(await believed()).toEqual(['Moscow']);
    const made = await opened(world);
    expect(made.plan.steps.map(stepText)).toContain(
      'withdraw the statements about k lives in s: Moscow; gives back Bonn',
    );
    expect(
      made.plan.remains.filter(({ why }) => why.startsWith('an affected entry retracted it')),
    ).toEqual([]);
    await approve(world, made.pending);
    await carryOut(world.open(), store, { incident: made.incident, writFor: writsOf(world) });
    await expectCarriedOut(world, made);
    await Trajectory.catchUp(trajectory);
    expect(await believed()).toEqual(['Bonn']);
    const after = await blastRadius(store, START);
    expect([after.facts, after.ended]).toEqual([[], []]);
    expect((await planResponse(store, after)).steps).toEqual([]);
    // The same source may restate, and a person too.
    await lives(GOOD, 'Bonn', { source: 'letter' });
    expect(await believed()).toEqual(['Bonn']);
  });

  test('withdraws an end, and keeps a retraction among the remaining items', async () => {
    const world = await worldOf([]);
    const { store, clock, assize } = world;
    const trajectory = await assize.open('t');
    const [good, bad] = [GOOD, BAD].map((writ) => trajectory.memory({ space: 's', writ }));
    const of = { subject: 'k', predicate: 'is' };
    const other = { subject: 'l', predicate: 'is', object: 'old' };
    const valid = { from: START_OF_MARCH };
    await good!.assertMany([
      { ...of, object: 'tall', valid },
      { ...other, valid },
    ]);
    clock.forward(1_000);
    await bad!.assert({ ...of, object: 'tall', valid: { to: '2026-03-05' }, ends: true });
    await bad!.retract({ ...other, valid: { from: START_OF_MARCH, to: OPEN_END } });
    clock.forward(1_000);
    expect((await good!.recall(of)).facts).toEqual([]);
    const made = await opened(world);
    const ended = made.plan.remains.filter(({ why }) =>
      why.startsWith('an affected entry retracted it'),
    );
    expect(ended.map(({ what }) => what)).toEqual(['the fact l is old in s']);
    await approve(world, made.pending);
    await carryOut(world.open(), store, { incident: made.incident, writFor: writsOf(world) });
    await expectCarriedOut(world, made);
    await Trajectory.catchUp(trajectory);
    expect((await good!.recall(of)).facts.map(({ object }) => object)).toEqual(['tall']);
  });

  test('carries out a retraction of an earlier plan', async () => {
    const world = await worldOf([{ does: 'say', isBad: true, on: 0, key: 'k' }]);
    const radius = await blastRadius(world.store, START);
    const [{ entry, factId, subject, predicate, object, space }] = radius.facts as [
      (typeof radius.facts)[number],
    ];
    const about = { trajectory: 't', space, subject, predicate, object };
    const step = { kind: 'retract' as const, ...about, fact: factId, entry };
    const plan = { start: START, steps: [step], remains: [] };
    const input = { plan, because: 'b', openedBy: 'human:ops', writFor: writsOf(world) };
    const { incident: id, pending } = await openIncident(world.assize, input);
    await approve(world, pending as Hash);
    const carried = await carryOut(world.open(), world.store, {
      incident: id,
      writFor: writsOf(world),
    });
    expect(carried.incident.outcomes).toMatchObject({ 0: { outcome: 'done' } });
    expect((await blastRadius(world.store, START)).facts).toEqual([]);
  });

  test('withdraws a fact whose object is cut within a character', async () => {
    const world = await worldOf([]);
    const trajectory = await world.assize.open('t');
    const object = `${'a'.repeat(499)}😀`;
    await trajectory
      .memory({ space: 's', writ: BAD })
      .assert({ subject: 'k', predicate: 'is', object });
    world.clock.forward(1_000);
    const made = await opened(world);
    expect(made.plan.steps).toContainEqual(
      expect.objectContaining({ object: `${'a'.repeat(499)}\ufffd` }),
    );
    await approve(world, made.pending);
    await carryOut(world.open(), world.store, { incident: made.incident, writFor: writsOf(world) });
    await expectCarriedOut(world, made);
  });

  test('the opener cannot approve its own plan', async () => {
    const world = await worldOf([{ does: 'note', isBad: true, on: 0, key: 'k' }]);
    const { pending } = await opened(world);
    const trajectory = await world.assize.open(INCIDENTS);
    const approving = trajectory.approvals.approve(pending, {
      principal: 'human:ops',
      method: 'test',
    });
    await expect(approving).rejects.toMatchObject({ code: 'unauthorised_counselor' });
  });
});

test('an incident of a first state, and one in a branch, is never carried out', async () => {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [notes, incident]);
  await assize.create(notes, { trajectoryId: 't', writs: [BAD] });
  const forgedState = {
    incidents: {
      i: {
        ...{
          start: { principal: 'agent:bad' },
          because: 'forged',
          openedBy: 'human:eve',
          approvedBy: 'human:ida',
        },
        ...{ openedAt: '2026-03-23T09:00:00.000000Z', outcomes: {}, remains: [] },
        steps: [{ kind: 'halt', trajectory: 't' }],
      },
    },
  };
  const forged = await assize.create(incident, { trajectoryId: INCIDENTS, initial: forgedState });
  await assize.branch(INCIDENTS, forged.head as Hash, { trajectoryId: 'branch', note: 'copy' });
  const writFor: WritFor = async () => {
    throw new Error('no writ is asked for');
  };
  for (const trajectoryId of [INCIDENTS, 'branch']) {
    const carried = carryOut(assize, store, { incident: 'i', writFor, trajectoryId });
    await expect(carried).rejects.toMatchObject({
      code: 'wrong_state',
      message: expect.stringMatching(/Name another trajectory for|did not begin without/),
    });
  }
  expect((await assize.open('t')).length).toBe(1);
});
