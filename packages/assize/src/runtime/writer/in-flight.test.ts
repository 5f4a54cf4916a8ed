import { MemoryStore } from '@assize/testing/memory';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, sensitive } from '#kernel';
import type { Ruling, Trajectory } from '#runtime';
import { FaultyStore } from '../../../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';

// A pending proposal with values in blobs, while the store writes its entry.

const writ = writFor('agent');
const doctor = { principal: 'dr-who', method: 'desk' };

function letters(version: string) {
  return defineDomain({
    name: 'letters',
    version,
    freeze: 'reserve',
    state: z.object({ letters: z.record(z.string(), sensitive(z.string())) }),
    initial: { letters: {} },
    processes: { write: { writes: ['/letters/*'] } },
    roles: { clerk: { processes: ['write'] } },
    counselors: { md: (principal) => principal.startsWith('dr-') },
    actions: {
      write: {
        process: 'write',
        channel: 'md',
        args: z.object({ to: z.string(), text: sensitive(z.string()) }),
        apply: (state, { to, text }) => {
          state.letters[to] = text;
        },
      },
    },
    invariants: [],
  });
}

const [one, two] = [letters('1'), letters('2')];
const careful = writFor('careful', { require_approval: ['**'] });

let below: MemoryStore;
let store: FaultyStore;
let trajectory: Trajectory;
let proposed: Promise<Ruling>;
let pending: string;
/** Lets the store write the entry. */
let write: () => void;

function letter(to: string, by = writ) {
  return { action: 'write', role: 'clerk', args: { to, text: 'hello' }, writ: by };
}

beforeEach(async () => {
  below = new MemoryStore();
  store = new FaultyStore(below);
  trajectory = (await runtimeOver(store, [one, two]).create(one, {
    trajectoryId: 't',
  })) as unknown as Trajectory;
  const [asked, allowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  store.before = () => {
    asked.resolve();
    return allowed.promise;
  };
  write = allowed.resolve;
  proposed = trajectory.propose(letter('ann', careful));
  await asked.promise;
  pending = trajectory.approvals.pending()[0]?.id ?? '';
  expect(await below.resolve(pending)).toBeUndefined();
});

async function afterwards<T>(answer: Promise<T>): Promise<T> {
  // The values are looked for before the store has them.
  await new Promise(setImmediate);
  write();
  expect(await proposed).toMatchObject({ ruling: 'escalated', pending });
  return answer;
}

describe('a pending proposal that the store is writing', () => {
  test('reserves its values for a proposal beside it', async () => {
    expect(await afterwards(trajectory.propose(letter('bob')))).toMatchObject({
      ruling: 'committed',
    });
  });

  test('can be approved', async () => {
    expect(await afterwards(trajectory.approvals.approve(pending, doctor))).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.state()).toEqual({ letters: { ann: 'hello' } });
  });

  test('can be amended', async () => {
    const amending = trajectory.approvals.approve(pending, {
      ...doctor,
      args: { to: 'ann', text: 'bye' },
    });
    expect(await afterwards(amending)).toMatchObject({ ruling: 'committed' });
    expect(trajectory.state()).toEqual({ letters: { ann: 'bye' } });
  });

  test('can be rejected', async () => {
    const rejecting = trajectory.approvals.reject(pending, { ...doctor, reason: 'no' });
    expect(await afterwards(rejecting)).toMatchObject({
      ruling: 'rejected',
      reason: 'counselor_rejected',
    });
  });

  test('goes on under another version', async () => {
    const upgrading = trajectory.upgrade(two as never, { writ, reason: 'new' });
    expect(await afterwards(upgrading)).toMatchObject({ carried: [pending], closed: [] });
  });
});

describe('a pending proposal that another process overtook', () => {
  const by = { approve: {}, amend: { args: { to: 'ann', text: 'bye' } } };

  test.each(Object.entries(by))('was never pending: %s', async (_name, more) => {
    const other = await runtimeOver(below, [one, two]).open('t');
    await other.propose(letter('cem'));
    const answer = trajectory.approvals
      .approve(pending, { ...doctor, ...more })
      .catch((error: Error) => error);
    await new Promise(setImmediate);
    write();
    expect(await answer).toMatchObject({ code: 'not_pending' });
    expect(await proposed).toMatchObject({ ruling: 'escalated' });
  });
});
