/** An entry of another server overtakes a proposal in flight at one server. */

import type { Store } from 'assize/internal/stores';
import { expect, test } from 'vitest';
import { LastingMemory } from '../../../../tests/support/ledger/lasting-memory.ts';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

/**
 * Two servers on one store. `proposing` proposes at the first one as soon as that server compares
 * its memory with the store; the entry of the second server is recorded before the proposal.
 */
async function overtaken(): Promise<{
  readonly one: TestServer;
  readonly propose: () => Promise<unknown>;
}> {
  const store = new LastingMemory();
  const commits = Promise.withResolvers<void>();
  let proposing: Promise<unknown> | undefined;
  let isArmed = false;
  const head: Store['head'] = async (trajectory) => {
    const found = await store.head(trajectory);
    if (!isArmed || proposing !== undefined) return found;
    proposing = succeed(one, 'proposals.create', pay('a', 200, 'k'));
    await commits.promise;
    return found;
  };
  const commit: Store['commit'] = async (batch) => {
    if (isArmed) {
      isArmed = false;
      commits.resolve();
      await succeed(two, 'proposals.create', pay('b', 1, 'other'));
    }
    return store.commit(batch);
  };
  const methods: Readonly<Record<string | symbol, unknown>> = { head, commit };
  const overtakable = new Proxy<Store>(store, {
    get: (target, name) => {
      const member: unknown = methods[name] ?? Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const one = await start({ store: overtakable });
  const two = await start({ store });
  await succeed(two, 'proposals.create', pay('d', 1, 'first'));
  await succeed(one, 'proposals.create', pay('c', 300, 'second'));
  isArmed = true;
  return { one, propose: () => proposing as Promise<unknown> };
}

test.each([{ mine: 'true' }, {}])(
  'a list leaves out a proposal that was never recorded: %o',
  async (query) => {
    const { one, propose } = await overtaken();
    const desks = (approvals: any[]) => approvals.map(({ action }) => action.role.params.desk);
    const { status, body } = await callOperation(one, 'approvals.list', { as: 'boss:ada', query });
    expect(await propose()).toMatchObject({ ruling: 'escalated' });
    expect({ status, desks: desks(body.approvals ?? []) }).toEqual({ status: 200, desks: ['c'] });
    const { approvals } = await succeed(one, 'approvals.list', { as: 'boss:ada', query });
    expect(desks(approvals)).toEqual(['c', 'a']);
  },
);
