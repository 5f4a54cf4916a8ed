import { describe, expect, test } from 'vitest';
import { attenuate, delegateWrit, type Writ, writId } from '#authority';
import { granted, lead, worker } from '../../../../../tests/support/ledger/delegations.ts';
import { FaultyStore } from '../../../../../tests/support/ledger/desk.ts';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  rootMembers,
  second,
} from '../../../../../tests/support/ledger/rows.ts';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';

describe('verification of the authority of a ledger', () => {
  const delegated = (rest: object = {}, above = granted, key = lead.privateKey): Writ =>
    delegateWrit(
      above,
      { subject: 'helper', nonce: 'd', trajectory: 'c', budget: { usd: 60 }, ...rest },
      key,
    );

  interface Told {
    readonly writ?: Writ;
    readonly spentBefore?: number;
    readonly spentInChild?: number;
    readonly said?: object;
    readonly spentAfter?: number;
    readonly under?: Writ;
    readonly concluded?: boolean;
  }

  /** A parent and its child as another program may have written them. */
  async function written(told: Told): Promise<FaultyStore> {
    const {
      writ = delegated(),
      spentBefore = 0,
      spentInChild = 0,
      spentAfter = 0,
      under = writ,
    } = told;
    const commit = (by: Writ, usd: number) =>
      commitMembers([], { writ_id: writId(by), budget_cost: { usd } });
    const parent = new ChainWriter('t');
    parent.add('root', { ...rootMembers(), writs: [granted] });
    parent.add('commit', commit(granted, spentBefore));
    const common = { child_trajectory_id: 'c', task: 'count', writ };
    const start = parent.add('delegation', common);
    const child = new ChainWriter('c');
    const delegated_from = { trajectory_id: 't', entry_id: start.id };
    const at = '2026-03-23T09:00:02.000000Z';
    const writs = under === writ ? [writ, granted] : [writ, granted, under];
    child.add('root', { ...rootMembers(), at, writs, delegated_from });
    child.add('commit', { ...commit(under, spentInChild), at });
    const said = {
      concludes: start.id,
      budget_cost: { usd: spentInChild },
      final_answer: 1,
      ...told.said,
    };
    const answer = child.add('delegation', { ...common, at, ...said });
    if (told.concluded !== false)
      parent.add('delegation', { ...common, ...said, child_head: answer.id });
    parent.add('commit', commit(granted, spentAfter));
    const store = new FaultyStore();
    for (const { rows } of [parent, child]) await store.commit({ entries: rows, blobs: [] });
    return store;
  }

  const faults = async (told: Told): Promise<unknown> =>
    (await verifyStore(await written(told))).map(({ fault }) => fault && [fault.seq, fault.code]);

  test.each<[string, Told, unknown]>([
    ['all in order', { spentBefore: 40, spentInChild: 60, spentAfter: 0 }, [undefined, undefined]],
    [
      'what was given back spent',
      { spentBefore: 40, spentInChild: 20, spentAfter: 40 },
      [undefined, undefined],
    ],
    [
      'more spent than was given back',
      { spentBefore: 40, spentInChild: 20, spentAfter: 41 },
      [[4, 'overspent'], undefined],
    ],
    ['delegated what was spent', { spentBefore: 41 }, [[1, 'overspent'], undefined]],
    [
      'spent what was set aside',
      { concluded: false, spentAfter: 41 },
      [[1, 'overspent'], undefined],
    ],
    ['spent what is not set aside', { concluded: false, spentAfter: 40 }, [undefined, undefined]],
    [
      'the child spent too much',
      { spentInChild: 61 },
      [
        [3, 'overspent'],
        [1, 'overspent'],
      ],
    ],
    [
      'the child says too little',
      { spentInChild: 20, said: { budget_cost: { usd: 19 } } },
      [undefined, [2, 'rule_broken']],
    ],
    [
      'the child says too much',
      { spentInChild: 20, said: { budget_cost: { usd: 21 } } },
      [undefined, [2, 'rule_broken']],
    ],
    [
      'the child says nothing',
      { spentInChild: 20, said: { budget_cost: undefined } },
      [undefined, [2, 'rule_broken']],
    ],
    [
      'the child says of a unit nobody has',
      { said: { budget_cost: { eur: 1 } } },
      [
        [3, 'overspent'],
        [2, 'rule_broken'],
      ],
    ],
    ['nothing spent, and so said', { said: { budget_cost: { eur: 0 } } }, [undefined, undefined]],
    [
      'a second writ for the child',
      { under: delegated({ nonce: 'more' }) },
      [undefined, [1, 'writ_tampered']],
    ],
    ['the parent’s own writ in the child', { under: granted }, [undefined, [1, 'writ_tampered']]],
    [
      // In the child it counts separately.
      'a root writ delegated',
      { writ: worker },
      [[2, 'writ_tampered'], undefined],
    ],
    [
      'a writ of another child',
      { writ: delegated({ trajectory: 'x' }) },
      [
        [2, 'writ_tampered'],
        [1, 'writ_tampered'],
      ],
    ],
    [
      'a writ for the parent itself',
      { writ: attenuate(granted, { subject: 'helper', nonce: 'n' }, lead.privateKey) },
      [
        [2, 'writ_tampered'],
        [1, 'writ_tampered'],
      ],
    ],
    [
      'a writ that was signed by nobody',
      { writ: { ...delegated(), signature: '0'.repeat(128) } },
      [
        [2, 'writ_tampered'],
        [1, 'writ_tampered'],
      ],
    ],
    [
      'a writ that had expired',
      { writ: delegated({ expires: '2026-03-23T09:00:02.000000Z' }) },
      [[2, 'writ_tampered'], undefined],
    ],
    [
      'no writ',
      { writ: { no: 'writ' } as never, under: granted },
      [
        [2, 'writ_tampered'],
        [0, 'writ_tampered'],
      ],
    ],
  ])('%s', async (_what, told, expected) => {
    expect(await faults(told)).toEqual(expected);
  });
});

test('a branch of any depth that spends its source’s budget is at fault', async () => {
  const store = new FaultyStore();
  const commit = (by: Writ) => commitMembers([], { writ_id: writId(by), budget_cost: { usd: 1 } });
  const first = new ChainWriter('t');
  first.add('root', { ...rootMembers(), writs: [granted] });
  const rows = [...first.rows];
  let source = first.add('commit', commit(granted));
  rows.push(source);
  for (const [i, name] of ['b1', 'b2', 'b3'].entries()) {
    const branch = new ChainWriter(name);
    const own = writFor(lead.publicKey, { nonce: name, trajectory: name, budget: { usd: 1 } });
    branch.add('branch', {
      ...branchMembers(source),
      writs: [own, granted],
      at: second(10 * i + 10),
    });
    source = branch.add('commit', { ...commit(own), at: second(10 * i + 10) });
    branch.add('commit', { ...commit(granted), at: second(10 * i + 10) });
    rows.push(...branch.rows);
  }
  await store.commit({ entries: rows, blobs: [] });
  const faults = (await verifyStore(store)).map(({ fault }) => fault && [fault.seq, fault.code]);
  expect(faults).toEqual([undefined, ...new Array(3).fill([2, 'writ_tampered'])]);
});
