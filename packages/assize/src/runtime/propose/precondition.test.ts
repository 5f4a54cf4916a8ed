import { backtest, deepReplay } from '@assize/audit/internal/replay';
import { describe, expect, test, vi } from 'vitest';
import { seededRandom } from '#oracle';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import {
  allEntries,
  deskOf,
  FaultyStore,
  payloads,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Assize } from '../assize.ts';
import type { PreconditionInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import { RecentCommits } from '../writer/known/recent-commits.ts';

const worker = writFor('agent');
const desk = deskOf('footprint');

function processOver(store: FaultyStore, name = 'one'): Assize {
  return runtimeOver(store, [desk, ward], { ports: { random: seededRandom(name) } });
}

async function begun(): Promise<{ store: FaultyStore; trajectory: Trajectory }> {
  const store = new FaultyStore();
  return {
    store,
    trajectory: await processOver(store).create(desk, { trajectoryId: 't', writs: [worker] }),
  };
}

/** Adds one if nothing changed. */
function addIf(
  trajectory: Trajectory,
  ifUnchanged: PreconditionInput,
  rest: object = {},
): Promise<Ruling> {
  return trajectory.propose(
    intent('add', { by: 1 }, worker, { precondition: ifUnchanged, ...rest }),
  );
}

function keep(trajectory: Trajectory, value: unknown): Promise<Ruling> {
  return trajectory.propose(intent('keep', { value }, worker));
}

const idOf = (ruling: Ruling): string => ('entry' in ruling ? ruling.entry.id : 'none');

const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'an answer',
    (error) => error.code,
  );

describe('a proposal that rests on places', () => {
  test('is adjudicated if no path changed, else refused with the changing entry', async () => {
    const { store, trajectory } = await begun();
    await keep(trajectory, { a: { b: 1 }, c: 2 });
    const since = trajectory.head;
    expect(await addIf(trajectory, { since, paths: ['/data'] })).toMatchObject({
      ruling: 'committed',
    });
    const changing = await keep(trajectory, { a: { b: 2 }, c: 2 });
    for (const place of ['/data/a/b', '/data/a', '/data', '/data/a/b/deeper'])
      expect(await addIf(trajectory, { since, paths: ['/asked', place] })).toMatchObject({
        ruling: 'rejected',
        reason: 'conflict',
        detail: `/data/a/b was changed by ${idOf(changing)}, after ${since}`,
      });
    for (const place of ['/data/c', '/data/a/x', '/asked'])
      expect(await addIf(trajectory, { since, paths: [place] })).toMatchObject({
        ruling: 'committed',
      });
    // Since that change, nothing has changed.
    expect(await addIf(trajectory, { since: idOf(changing), paths: ['/data'] })).toMatchObject({
      ruling: 'committed',
    });
    expect(await soundState(store, 't')).toContain('"n":5');
  });

  test('follows accepted changes only until it is adjudicated', async () => {
    const { trajectory } = await begun();
    const since = trajectory.head;
    await addIf(trajectory, { since, paths: ['/n'] });
    const followed = vi.spyOn(RecentCommits.prototype, 'follow');
    const asked = [
      addIf(trajectory, { since, paths: ['/data'] }, { idempotencyKey: 'k' }),
      addIf(trajectory, { since, paths: ['/data'] }, { idempotencyKey: 'k' }),
      addIf(trajectory, { since, paths: ['/n'] }),
      addIf(trajectory, { since: 'f'.repeat(64), paths: ['/n'] }),
      addIf(trajectory, { since, paths: ['/hidden'] }),
    ];
    const answers = await Promise.allSettled(asked);
    expect(
      answers.map((answer) =>
        answer.status === 'fulfilled' ? answer.value.ruling : answer.reason.code,
      ),
    ).toEqual(['committed', 'committed', 'rejected', 'not_found', 'bad_intent']);
    await keep(trajectory, 1);
    const [log] = followed.mock.contexts as RecentCommits[];
    expect([log!.followers, log!.size]).toEqual([0, 0]);
    followed.mockRestore();
  });

  test('conflicts with commits and approvals, but not rejected or pending ones', async () => {
    const { trajectory } = await begun();
    const since = trajectory.head;
    await trajectory.propose(intent('add', { by: 99 }, worker));
    const asked = await trajectory.propose(intent('ask', { amount: 5 }, worker));
    // Nothing has changed; the paths of `add` are not frozen.
    const places = ['/n', '/asked'];
    expect(await addIf(trajectory, { since, paths: ['/n'] })).toMatchObject({
      ruling: 'committed',
    });
    expect(await addIf(trajectory, { since, paths: ['/n'] })).toMatchObject({ reason: 'conflict' });
    const later = trajectory.head;
    expect(await addIf(trajectory, { since: later, paths: places })).toMatchObject({
      ruling: 'committed',
    });
    const last = trajectory.head;
    const approval = await trajectory.approvals.approve(
      asked.ruling === 'escalated' ? asked.pending : '',
      {
        principal: 'dr-who',
        method: 'test',
      },
    );
    expect(await addIf(trajectory, { since: last, paths: ['/asked'] })).toMatchObject({
      reason: 'conflict',
      detail: `/asked was changed by ${idOf(approval)}, after ${last}`,
    });
  });

  test('is refused before it runs, and only when it may be made at all', async () => {
    const { trajectory } = await begun();
    const since = trajectory.head;
    await keep(trajectory, 1);
    const ifUnchanged = { since, paths: ['/data'] };
    const asked = (action: string, args: object, rest: object = {}): Promise<Ruling> =>
      trajectory.propose(intent(action, args, worker, { precondition: ifUnchanged, ...rest }));
    expect(await asked('fail', {})).toMatchObject({ reason: 'conflict' });
    expect(await asked('add', { by: 99 })).toMatchObject({ reason: 'conflict' });
    expect(await asked('none', {})).toMatchObject({ reason: 'unknown_tool' });
    expect(await asked('add', {})).toMatchObject({ reason: 'type_mismatch' });
    const narrow = { precondition: ifUnchanged, writ: writFor('agent', { actions: ['ask'] }) };
    expect(await asked('add', { by: 1 }, narrow)).toMatchObject({ reason: 'invalid_authority' });
  });

  test('learns nothing about paths that its role does not fully see', async () => {
    const { store, trajectory } = await begun();
    const since = trajectory.head;
    const filer = (box: string, paths: string[]): Promise<Ruling> =>
      trajectory.propose(
        intent('put', { paper: 'p' }, worker, {
          role: { name: 'filer', params: { box } },
          precondition: { since, paths },
        }),
      );
    await filer('a', ['/boxes/a']);
    for (const place of ['/boxes/a', '/boxes', '/n', ''])
      expect(await codeOf(filer('b', ['/boxes/b', place]))).toBe('bad_intent');
    expect(await filer('b', ['/boxes/b'])).toMatchObject({ ruling: 'committed' });
    expect(await filer('a', ['/boxes/a/0'])).toMatchObject({ reason: 'conflict' });
    expect(await allEntries(store, 't')).toHaveLength(4);
  });

  test('names no end or length of a list, where nothing is ever changed', async () => {
    const { store, trajectory } = await begun();
    const since = trajectory.head;
    const put = (paths: string[], from = since): Promise<Ruling> =>
      trajectory.propose(
        intent('put', { paper: 'p' }, worker, {
          role: { name: 'filer', params: { box: 'a' } },
          precondition: { since: from, paths },
        }),
      );
    // While there is no list, the path may become an object with such a field.
    expect(await put(['/boxes/a/-'])).toMatchObject({ ruling: 'committed' });
    expect(await put(['/boxes/a/-'])).toMatchObject({ reason: 'conflict' });
    const later = trajectory.head;
    for (const end of ['-', 'length', '01', '-/deeper'])
      expect(await codeOf(put(['/boxes/a/0', `/boxes/a/${end}`], later))).toBe('bad_intent');
    expect(await put(['/boxes/a/1'], later)).toMatchObject({ ruling: 'committed' });
    expect(await put(['/boxes/a/1'], later)).toMatchObject({ reason: 'conflict' });
    expect(await allEntries(store, 't')).toHaveLength(5);
  });

  test('under a known key gets its ruling despite changes or other preconditions', async () => {
    const { store, trajectory } = await begun();
    const since = trajectory.head;
    const places = ['/data'];
    const keyed = (key: string, ifUnchanged?: PreconditionInput): Promise<Ruling> =>
      trajectory.propose(
        intent('add', { by: 1 }, worker, {
          idempotencyKey: key,
          ...(ifUnchanged === undefined ? {} : { precondition: ifUnchanged }),
        }),
      );
    const committed = await keyed('one', { since, paths: places });
    await keep(trajectory, 1);
    const refused = await keyed('two', { since, paths: places });
    expect([committed, refused]).toMatchObject([{ ruling: 'committed' }, { reason: 'conflict' }]);
    const others = [
      { since, paths: places },
      { since: '0'.repeat(64), paths: places },
      { since, paths: ['/n'] },
      undefined,
    ];
    for (const other of others) {
      expect(await keyed('one', other)).toEqual(committed);
      expect(await keyed('two', other)).toEqual(refused);
    }
    expect(await allEntries(store, 't')).toHaveLength(4);
    // Nor is it in the record.
    const recorded = JSON.stringify(await payloads(store, 't'));
    expect(recorded).not.toContain('nchanged":');
    expect(recorded).not.toContain('places');
  });

  test('that is pending was checked once, at its submission', async () => {
    const { trajectory } = await begun();
    const since = trajectory.head;
    const ifUnchanged = { since, paths: ['/data'] };
    const asked = await trajectory.propose(
      intent('ask', { amount: 5 }, worker, { precondition: ifUnchanged }),
    );
    expect(asked).toMatchObject({ ruling: 'escalated' });
    await keep(trajectory, 1);
    const approval = { principal: 'dr-who', method: 'test' };
    expect(await trajectory.approvals.approve(idOf(asked), approval)).toMatchObject({
      ruling: 'committed',
    });
  });
});

describe('a change since the given entry', () => {
  test('is detected while its write is in flight', async () => {
    const { trajectory } = await begun();
    await keep(trajectory, 0);
    const since = trajectory.head;
    const [first, second, third, fourth] = await Promise.all([
      addIf(trajectory, { since, paths: ['/data'] }),
      keep(trajectory, 1),
      addIf(trajectory, { since, paths: ['/data'] }),
      addIf(trajectory, { since, paths: ['/asked'] }),
    ]);
    const refused = { reason: 'conflict', detail: expect.stringContaining(idOf(second)) };
    // The first was checked before, and waited for a moment.
    expect([first, third]).toMatchObject([refused, refused]);
    expect(fourth).toMatchObject({ ruling: 'committed' });
  });

  describe('is seen while the ledger is read', () => {
    /**
     * The ruling if all of `meanwhile` happens after the entries were read, and before they are
     * inspected.
     */
    async function overtaken(
      paths: readonly string[],
      meanwhile: (trajectory: Trajectory, store: FaultyStore) => Promise<Ruling>,
    ): Promise<{ refused: Ruling; by: string }> {
      const { store, trajectory } = await begun();
      const since = trajectory.head;
      await trajectory.propose(intent('ask', { amount: 5 }, worker));
      let by: string | undefined;
      const honest = store.entries.bind(store);
      store.entries = async (name, options) => {
        const rows = await honest(name, options);
        if (by === undefined) {
          by = '';
          by = idOf(await meanwhile(trajectory, store));
        }
        return rows;
      };
      const refused = await addIf(trajectory, { since, paths });
      await soundState(store, 't');
      return { refused, by: by as string };
    }

    test('if it was committed', async () => {
      const { refused, by } = await overtaken(['/data'], (trajectory) => keep(trajectory, 1));
      expect(refused).toMatchObject({ reason: 'conflict', detail: expect.stringContaining(by) });
    });

    test('if a counselor approved it', async () => {
      const { refused, by } = await overtaken(['/asked'], (trajectory) =>
        trajectory.approvals.approve(trajectory.approvals.pending()[0]?.id as string, {
          principal: 'dr-who',
          method: 'test',
        }),
      );
      expect(refused).toMatchObject({ reason: 'conflict', detail: expect.stringContaining(by) });
    });

    test('if another process committed it and the cache has it by then', async () => {
      const { refused, by } = await overtaken(['/data'], async (trajectory, store) => {
        const changing = await keep(await processOver(store, 'two').open('t'), 1);
        await trajectory.propose(intent('add', { by: 1 }, worker));
        return changing;
      });
      expect(refused).toMatchObject({ reason: 'conflict', detail: expect.stringContaining(by) });
    });
  });

  test('does not count if its write failed', async () => {
    const { store, trajectory } = await begun();
    await keep(trajectory, 0);
    const since = trajectory.head;
    store.plan = new Map([[store.commits + 1, 'thrown, lost']]);
    const lost = keep(trajectory, 1);
    const asked = addIf(trajectory, { since, paths: ['/data'] });
    await expect(lost).rejects.toThrow();
    expect(await asked).toMatchObject({ ruling: 'committed' });
    // Nor does a head count if its first entry was lost.
    store.plan = new Map([[store.commits + 1, 'thrown, lost']]);
    const again = keep(trajectory, 1);
    const ahead = trajectory.head;
    const unfounded = codeOf(addIf(trajectory, { since: ahead, paths: ['/data'] }));
    await expect(again).rejects.toThrow();
    expect(await unfounded).toBe('not_found');
    expect(await soundState(store, 't')).toContain('"n":1');
  });

  test('of another process is detected, with only the paths that it changed', async () => {
    const { store, trajectory } = await begun();
    const other = await processOver(store, 'two').open('t');
    for (let i = 0; i < 3; i++) {
      const since = trajectory.head;
      const changing = await keep(other, i);
      // Not known here: the append reports it, and the new entries are inspected.
      expect(await addIf(trajectory, { since, paths: ['/data'] })).toMatchObject({
        reason: 'conflict',
        detail: `/data was changed by ${idOf(changing)}, after ${since}`,
      });
      const read = other.head;
      await keep(other, `${i} again`);
      expect(await addIf(trajectory, { since: read, paths: ['/n', '/asked'] })).toMatchObject({
        ruling: 'committed',
      });
    }
    expect(await soundState(store, 't')).toContain('"n":3');
  });

  test('is read from the entries since then, each once, for any state size', async () => {
    const { store, trajectory } = await begun();
    for (let i = 0; i < 20; i++) await keep(trajectory, i);
    const since = trajectory.head;
    const reads: [from: number | undefined, limit: number | undefined][] = [];
    const honest = store.entries.bind(store);
    store.entries = (name, options) => {
      reads.push([options?.from, options?.limit]);
      return honest(name, options);
    };
    await addIf(trajectory, { since, paths: ['/data'] });
    expect(reads).toEqual([]);
    for (let i = 0; i < 3; i++) await addIf(trajectory, { since, paths: ['/data'] });
    expect(reads).toEqual([
      [21, 1],
      [21, 2],
      [21, 3],
    ]);
  });

  test('is found by path: in changes in blobs, in sensitive or erased values', async () => {
    const { trajectory } = await begun();
    const since = trajectory.head;
    await keep(trajectory, { long: 'x'.repeat(40_000) });
    expect(await addIf(trajectory, { since, paths: ['/data/long'] })).toMatchObject({
      reason: 'conflict',
    });
    expect(await addIf(trajectory, { since, paths: ['/asked'] })).toMatchObject({
      ruling: 'committed',
    });

    const clinic = await processOver(new FaultyStore()).create(ward, {
      trajectoryId: 'w',
      writs: [worker],
    });
    const role = { name: 'nurse', params: { id: 'p' } };
    const nurse = (
      action: string,
      args: object,
      ifUnchanged?: PreconditionInput,
    ): Promise<Ruling> =>
      clinic.propose(
        intent(action, args, worker, {
          role,
          ...(ifUnchanged === undefined ? {} : { precondition: ifUnchanged }),
        }),
      );
    await nurse('admit', { name: 'David' });
    const admitted = clinic.head;
    await nurse('note', { text: 'well' });
    const noted = clinic.head;
    const note = (from: string, place: string): Promise<Ruling> =>
      nurse('note', { text: 'x' }, { since: from, paths: [`/patients/p/${place}`] });
    expect(await note(admitted, 'notes/0/text')).toMatchObject({ reason: 'conflict' });
    expect(await note(admitted, 'name')).toMatchObject({ ruling: 'committed' });
    const erased = await clinic.erase({
      at: ['/patients/p/name'],
      reason: 'asked for',
      writ: worker,
    });
    expect(erased).toMatchObject({ ruling: 'committed' });
    expect(await note(noted, 'name')).toMatchObject({
      reason: 'conflict',
      detail: `/patients/p/name was changed by ${idOf(erased)}, after ${noted}`,
    });
    expect(await note(clinic.head, 'name')).toMatchObject({ ruling: 'committed' });
    // A value that was read and is now erased still counts as changed.
    await clinic.erase({ at: ['/patients/p/notes/0'], reason: 'asked for', writ: worker });
    expect(await note(admitted, 'notes/0')).toMatchObject({ reason: 'conflict' });
  });
});

describe('an invalid precondition', () => {
  const good = { since: '0'.repeat(64), paths: ['/n'] };
  const wrong: [string, unknown][] = [
    ['nothing', null],
    ['a text', '/n'],
    ['a list of places alone', ['/n']],
    ['no since', { paths: ['/n'] }],
    ['a since that is not an id', { ...good, since: 'head' }],
    ['no places', { since: good.since }],
    ['an empty list', { ...good, paths: [] }],
    ['places that are one text', { ...good, paths: '/n' }],
    ['a place that is not a pointer', { ...good, paths: ['/n', 'n'] }],
    ['a place with a stray tilde', { ...good, paths: ['/~n'] }],
    ['a place that is a number', { ...good, paths: [1n] }],
    ['too many places', { ...good, paths: Array.from({ length: 1_001 }, () => '/n') }],
    ['a hole', { ...good, paths: new Array(2) }],
  ];
  test.each(wrong)('%s: an error, and nothing is recorded', async (_what, ifUnchanged) => {
    const { store, trajectory } = await begun();
    expect(await codeOf(addIf(trajectory, ifUnchanged as never))).toBe('bad_intent');
    expect(await allEntries(store, 't')).toHaveLength(1);
  });

  test('since a missing entry: unknown, or of another trajectory or the source', async () => {
    const { store, trajectory } = await begun();
    const there = idOf(await keep(trajectory, 1));
    const assize = processOver(store, 'two');
    const other = await assize.create(desk, { trajectoryId: 'other', writs: [worker] });
    const branch = await assize.branch('t', there, {
      trajectoryId: 'b',
      writs: [worker],
      note: 'a test',
    });
    for (const [where, since] of [
      [trajectory, 'f'.repeat(64)],
      [trajectory, other.head],
      [trajectory, branch.head],
      [branch, there],
    ] as const)
      expect(await codeOf(addIf(where, { since, paths: ['/n'] }))).toBe('not_found');
    expect([trajectory.length, other.length, branch.length]).toEqual([2, 1, 1]);
    expect(await addIf(branch, { since: branch.head, paths: ['/n'] })).toMatchObject({
      ruling: 'committed',
    });
  });
});

test('deep replay takes a conflict as recorded, and the ledger verifies', async () => {
  const { store, trajectory } = await begun();
  const since = trajectory.head;
  await keep(trajectory, 1);
  await addIf(trajectory, { since, paths: ['/data'] });
  const options = { domains: [desk] };
  const replayed = await deepReplay(store, 't', options);
  expect(replayed).toMatchObject({ same: true, preserved: true, taken_as_recorded: { other: 1 } });
  const tried = await backtest(store, 't', { ...options, instead: [deskOf('footprint', '2')] });
  expect(tried).toMatchObject({ difference_count: 0, not_judgeable: { other: 1 } });
  expect(await soundState(store, 't')).toContain('"n":0');
});
