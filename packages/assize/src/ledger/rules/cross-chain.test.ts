import { describe, expect, test } from 'vitest';
import {
  answeredChild,
  answerMembers,
  branchMembers,
  ChainWriter,
  childMembers,
  commitMembers,
  conclusionMembers,
  DOMAIN,
  delegationMembers,
  HELD,
  type Members,
  RowsReader,
  rootMembers,
  second,
  withByte,
} from '../../../../../tests/support/ledger/rows.ts';
import type { EntryRow } from '../entry/entry.ts';
import { type FaultCode, LedgerFault } from '../errors.ts';
import { Replayer, type VerifyReport, verifyTrajectory } from '../replay/replay.ts';

const OTHER = 'f'.repeat(64);

/** A parent that has delegated to `child`, at the second second. */
function parentOf(start: Members = {}): ChainWriter {
  const parent = new ChainWriter('parent');
  parent.add('root', rootMembers());
  parent.add('commit', commitMembers());
  parent.add('delegation', delegationMembers(start));
  return parent;
}

function verify(
  name: string,
  ...writers: (ChainWriter | readonly EntryRow[])[]
): Promise<VerifyReport> {
  const rows = writers.flatMap((writer) => ('rows' in writer ? writer.rows : writer));
  return verifyTrajectory(new Replayer(new RowsReader(rows)), name);
}

async function expectFault(
  report: Promise<VerifyReport>,
  seq: number,
  code: FaultCode,
  detail: RegExp,
) {
  const { trajectory_id, ...rest } = await report;
  const fault = { trajectory_id, seq, code, detail: expect.stringMatching(detail) };
  expect(rest).toMatchObject({ valid: false, entries: seq, fault });
}

test('a whole delegation is valid from either end, and says while it is open', async () => {
  const parent = parentOf({ begins: { domain: DOMAIN, initial_state: { n: 1 } } });
  expect(await verify('parent', parent)).toMatchObject({ valid: true, open: 0, delegated: 1 });
  const child = answeredChild(parent.head);
  expect(await verify('child', parent, child.rows.slice(0, 1))).toMatchObject({
    valid: true,
    entries: 1,
  });
  expect(await verify('child', parent, child)).toMatchObject({
    valid: true,
    entries: 2,
    delegated: 0,
  });
  parent.add('delegation', conclusionMembers(child.head));
  expect(await verify('parent', parent, child)).toMatchObject({
    valid: true,
    entries: 4,
    delegated: 0,
  });
});

describe('a child that was started by', () => {
  const parent = parentOf({ begins: { domain: DOMAIN, initial_state: { n: 1 } } });
  const start = parent.head;
  function begun(members: Members): ChainWriter {
    const child = new ChainWriter('child');
    child.add('root', { ...childMembers(start), ...members });
    return child;
  }
  const from = (members: Members): Members => ({
    delegated_from: { trajectory_id: 'parent', entry_id: start.id, ...members },
  });
  const elsewhere = new ChainWriter('elsewhere');
  elsewhere.add('root', rootMembers());
  elsewhere.add('delegation', delegationMembers({ child_trajectory_id: 'another' }));
  const concluded = new ChainWriter('concluding');
  concluded.add('root', rootMembers());
  concluded.add('delegation', delegationMembers());
  const ended = concluded.add('delegation', conclusionMembers(answeredChild(concluded.head).head));

  const wrong: [string, Members, FaultCode, RegExp][] = [
    ['nothing', from({ entry_id: OTHER }), 'source_missing', /parent has no entry/],
    ['nobody', from({ trajectory_id: 'nobody' }), 'source_missing', /nobody has no entry/],
    ['nobody with an odd name', from({ trajectory_id: 'a\0b' }), 'source_missing', /has no entry/],
    [
      'a commit',
      from({ entry_id: parent.rows[1]?.id }),
      'rule_broken',
      /does not delegate to child/,
    ],
    [
      'a delegation to another',
      from({ trajectory_id: 'elsewhere', entry_id: elsewhere.head.id }),
      'rule_broken',
      /does not delegate to child/,
    ],
    [
      'a conclusion',
      from({ trajectory_id: 'concluding', entry_id: ended.id }),
      'rule_broken',
      /does not delegate to child/,
    ],
    [
      'what came later',
      { at: '2026-03-23T09:00:01.999999Z' },
      'rule_broken',
      /before its delegation/,
    ],
    ['another writ', { writs: [HELD] }, 'rule_broken', /first writ/],
    ['no writ', { writs: [] }, 'rule_broken', /first writ/],
    [
      'another state',
      { initial_state: { n: 2 } },
      'rule_broken',
      /its initial state differs from the delegation/,
    ],
    [
      'another domain',
      { domain: { ...DOMAIN, version: '2' } },
      'rule_broken',
      /its initial state differs from the delegation/,
    ],
  ];
  test.each(wrong)('%s is at fault', async (_what, members, code, detail) => {
    const others = [parent, elsewhere, concluded];
    expect(await verify('child', begun({}), ...others)).toMatchObject({ valid: true });
    await expectFault(verify('child', begun(members), ...others), 0, code, detail);
  });

  test('an entry that was changed is at fault', async () => {
    const changed = parent.rows.with(2, { ...start, payload: withByte(start.payload, 30, 1) });
    await expectFault(
      verify('child', begun({}), changed),
      0,
      'source_missing',
      /not valid: .*seq 2/,
    );
  });

  test('a later instant is as good', async () => {
    expect(await verify('child', begun({ at: second(100) }), parent)).toMatchObject({
      valid: true,
    });
  });

  test('a start without a recorded initial state may start with any state', async () => {
    const free = parentOf();
    const child = new ChainWriter('child');
    child.add('root', { ...childMembers(free.head), initial_state: { n: 7 } });
    expect(await verify('child', child, free)).toMatchObject({ valid: true });
  });
});

describe('a final answer', () => {
  const parent = parentOf();
  test.each<[string, Members]>([
    ['another task', { task: 'something else' }],
    ['another writ', { writ: HELD }],
  ])('to %s is at fault', async (_what, members) => {
    const child = answeredChild(parent.head, members);
    await expectFault(verify('child', child, parent), 1, 'rule_broken', /task or writ/);
  });
});

describe('a conclusion', () => {
  const parent = parentOf();
  const start = parent.head;
  function concluding(answer: EntryRow, rest: Members = {}): ChainWriter {
    const writer = new ChainWriter('parent');
    for (const row of parent.rows) writer.push(row);
    writer.add('delegation', { ...conclusionMembers(answer), ...rest });
    return writer;
  }
  const child = answeredChild(start, { budget_cost: { usd: 1 } });
  const answer = child.head;

  const wrong: [string, Members, FaultCode, RegExp][] = [
    ['pins nothing', { child_head: OTHER }, 'source_missing', /child has no entry/],
    [
      'pins an entry of the parent',
      { child_head: parent.rows[1]?.id },
      'source_missing',
      /child has no entry/,
    ],
    [
      'pins another entry of the child',
      { child_head: child.rows[0]?.id },
      'rule_broken',
      /not the final answer/,
    ],
    [
      'gives another answer',
      { final_answer: 'undone' },
      'rule_broken',
      /differs from the final answer/,
    ],
    [
      'gives no answer',
      { final_answer: undefined },
      'rule_broken',
      /differs from the final answer/,
    ],
    [
      'gives another cost',
      { budget_cost: { usd: 0 } },
      'rule_broken',
      /differs from the final answer/,
    ],
    ['gives no cost', { budget_cost: undefined }, 'rule_broken', /differs from the final answer/],
  ];
  test.each(wrong)('that %s is at fault', async (_what, members, code, detail) => {
    expect(await verify('parent', concluding(answer), child)).toMatchObject({ valid: true });
    await expectFault(verify('parent', concluding(answer, members), child), 3, code, detail);
  });

  test('that is older than the answer is at fault', async () => {
    const late = answeredChild(start, { at: second(50) });
    await expectFault(
      verify('parent', concluding(late.head), late),
      3,
      'rule_broken',
      /older than the final answer/,
    );
    expect(await verify('parent', concluding(late.head, { at: second(50) }), late)).toMatchObject({
      valid: true,
    });
  });

  test('of a child that is not there is at fault', async () => {
    await expectFault(
      verify('parent', concluding(answer)),
      3,
      'source_missing',
      /the trajectory child does not exist/,
    );
  });

  test('of a child with a changed root or answer is at fault', async () => {
    for (const seq of [0, 1]) {
      const row = child.rows[seq] as EntryRow;
      const changed = child.rows.with(seq, { ...row, payload: withByte(row.payload, 30, 1) });
      await expectFault(
        verify('parent', concluding(answer), changed),
        3,
        'source_missing',
        /child seq \d/,
      );
    }
  });

  test('of a trajectory of that name with another start is at fault', async () => {
    const stranger = new ChainWriter('child');
    stranger.add('root', rootMembers());
    const branch = new ChainWriter('child');
    branch.add('branch', { ...branchMembers(parent.rows[1] as EntryRow), at: second(5) });
    const other = parentOf({ task: 'another one' });
    const others = answeredChild(other.head);
    for (const rows of [stranger.rows, branch.rows, others.rows]) {
      await expectFault(
        verify('parent', concluding(answer), rows),
        3,
        'rule_broken',
        /not created by the delegation/,
      );
    }
  });

  test('of a child with an impossible name is at fault, and verification ends', async () => {
    const odd = new ChainWriter('parent');
    odd.add('root', rootMembers());
    const from = odd.add('delegation', delegationMembers({ child_trajectory_id: 'a\0b' }));
    const { head } = answeredChild(from);
    odd.add('delegation', conclusionMembers(head));
    await expectFault(
      verify('parent', odd),
      2,
      'source_missing',
      /the trajectory a\0b does not exist/,
    );
  });
});

describe('a delegation back to where it comes from', () => {
  /** Trajectories `t0`, `t1`, …, each delegated by the previous one. */
  function line(length: number): ChainWriter[] {
    const writers = [new ChainWriter('t0')];
    writers[0]?.add('root', rootMembers());
    for (let i = 1; i < length; i++) {
      const above = writers[i - 1] as ChainWriter;
      const at = second(10 * i);
      const start = above.add(
        'delegation',
        delegationMembers({ child_trajectory_id: `t${i}`, at }),
      );
      const child = new ChainWriter(`t${i}`);
      child.add('root', childMembers(start));
      writers.push(child);
    }
    return writers;
  }

  test.each([0, 1, 2, 3, 4])(
    'over any number of others (to t%d of t0 to t4) is at fault',
    async (to) => {
      const writers = line(5);
      const last = writers.at(-1) as ChainWriter;
      expect(await verify('t4', ...writers)).toMatchObject({ valid: true });
      last.add('delegation', delegationMembers({ child_trajectory_id: `t${to}`, at: second(50) }));
      await expectFault(
        verify('t4', ...writers),
        1,
        'rule_broken',
        new RegExp(`delegates back to t${to}$`),
      );
    },
  );

  test('is not one to a trajectory that is only beside it', async () => {
    const writers = line(3);
    const [first, , last] = writers as [ChainWriter, ChainWriter, ChainWriter];
    first.add('delegation', delegationMembers({ child_trajectory_id: 'beside', at: second(40) }));
    last.add('delegation', delegationMembers({ child_trajectory_id: 'new', at: second(50) }));
    expect(await verify('t2', ...writers)).toMatchObject({ valid: true, delegated: 1 });
    expect(await verify('t0', ...writers)).toMatchObject({ valid: true, delegated: 2 });
  });

  test('that was forged into a circle is at fault, and verification ends', async () => {
    const writers = line(3);
    const [first, second_, third] = writers as [ChainWriter, ChainWriter, ChainWriter];
    // The beginning of the first is exchanged for one that the last has delegated to.
    const back = third.add(
      'delegation',
      delegationMembers({ child_trajectory_id: 't0', at: second(60) }),
    );
    const forged = new ChainWriter('t0');
    forged.add('root', { ...childMembers(back), at: second(60) });
    const rows = [...forged.rows, ...first.rows.slice(1), ...second_.rows, ...third.rows];
    for (const name of ['t0', 't2'])
      expect(await verify(name, rows)).toMatchObject({ valid: false });
  });

  test('is looked for as far up as the ledger goes', async () => {
    const writers = line(4);
    const last = writers.at(-1) as ChainWriter;
    last.add('delegation', delegationMembers({ child_trajectory_id: 't0', at: second(50) }));
    // Without t1 no entry shows that t0 is an ancestor. A verification of t2 then reports that t1
    // is missing.
    const partly = writers.filter((_, i) => i !== 1);
    expect(await verify('t3', ...partly)).toMatchObject({ valid: true });
    await expectFault(verify('t2', ...partly), 0, 'source_missing', /t1 has no entry/);
  });
});

test('a branch starts at no delegation entry: start, answer or conclusion', async () => {
  const parent = parentOf();
  const start = parent.head;
  const child = answeredChild(start);
  const conclusion = parent.add('delegation', conclusionMembers(child.head));
  for (const source of [start, child.head, conclusion]) {
    const branch = new ChainWriter('branch');
    branch.add('branch', { ...branchMembers(source), at: second(50) });
    await expectFault(
      verify('branch', branch, parent, child),
      0,
      'rule_broken',
      /a branch must start at a commit/,
    );
  }
});

test('a branch of a child continues after the child has ended', async () => {
  const parent = parentOf();
  const child = new ChainWriter('child');
  child.add('root', childMembers(parent.head));
  const commit = child.add(
    'commit',
    commitMembers([{ op: 'add', path: '/n', value: 1 }], { at: second(3) }),
  );
  child.add('delegation', answerMembers(parent.head, { at: second(4) }));
  const branch = new ChainWriter('branch');
  branch.add('branch', { ...branchMembers(commit), at: second(5) });
  branch.add('commit', commitMembers([{ op: 'add', path: '/m', value: 2 }], { at: second(6) }));
  const replayer = new Replayer(new RowsReader([...parent.rows, ...child.rows, ...branch.rows]));
  expect((await replayer.replay('branch')).fold.state).toEqual({ n: 1, m: 2 });
  // Not without the delegation that started its source.
  const orphan = new Replayer(new RowsReader([...child.rows, ...branch.rows]));
  await expect(orphan.replay('branch')).rejects.toThrow(LedgerFault);
});
