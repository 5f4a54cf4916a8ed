import { describe, expect, test } from 'vitest';
import {
  answeredChild,
  answerMembers,
  branchMembers,
  ChainWriter,
  COUNSELOR,
  childMembers,
  commitMembers,
  conclusionMembers,
  DOMAIN,
  delegationMembers,
  HELD,
  pendingMembers,
  RowsReader,
  rejectionMembers,
  rootMembers,
  second,
  VECTOR,
} from '../../../../../tests/support/ledger/rows.ts';
import type { EntryRow } from '../entry/entry.ts';
import { checkRow } from '../entry/entry-text.ts';
import type { VerifiedRun } from '../entry/run.ts';
import { type FaultCode, LedgerFault } from '../errors.ts';
import { Replayer, type VerifyReport, verifyTrajectory } from '../replay/replay.ts';
import { runsOf } from '../replay/run.ts';
import { Chain } from './chain.ts';

const OTHER = 'f'.repeat(64);

/** A root and one commit. */
function begun(): ChainWriter {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: 1 }]));
  return writer;
}

function withPending(rest = {}): ChainWriter {
  const writer = begun();
  writer.add('pending_approval', pendingMembers(rest));
  return writer;
}

function approval(writer: ChainWriter, rest = {}) {
  return commitMembers([], {
    resolves: writer.head.id,
    counselor: COUNSELOR,
    detection_vector: VECTOR,
    ...rest,
  });
}

function refusal(writer: ChainWriter, rest = {}) {
  return rejectionMembers({
    proposal_id: commitMembers()['proposal_id'],
    reason: 'counselor_rejected',
    resolves: writer.head.id,
    counselor: COUNSELOR,
    ...rest,
  });
}

function delegated(): ChainWriter {
  const writer = begun();
  writer.add('delegation', delegationMembers());
  return writer;
}

function startsOf({ rows }: ChainWriter): EntryRow[] {
  return rows.filter(
    ({ kind, payload }) => kind === 'delegation' && !payload.includes('"concludes"'),
  );
}

/** The conclusion of the last started delegation, with the child's answer. */
function conclusion(writer: ChainWriter, rest = {}, said = {}) {
  return conclusionMembers(answeredChild(startsOf(writer).at(-1) as EntryRow, said).head, rest);
}

const parent = new ChainWriter('p');
parent.add('root', rootMembers());
const start = parent.add(
  'delegation',
  delegationMembers({ child_trajectory_id: 't', at: second(0) }),
);

/** A trajectory that received a delegation from the parent. */
function child(): ChainWriter {
  const writer = new ChainWriter('t');
  writer.add('root', childMembers(start));
  return writer;
}

function answer(writer: ChainWriter, rest = {}) {
  return answerMembers(start, { at: second(writer.rows.length), ...rest });
}

function verify(writer: ChainWriter, said = {}): Promise<VerifyReport> {
  const children = startsOf(writer).flatMap((row) => answeredChild(row, said).rows);
  return verifyTrajectory(
    new Replayer(new RowsReader([...writer.rows, ...children, ...parent.rows])),
    't',
  );
}

describe('an entry that follows the rules is accepted', () => {
  const lawful: [string, () => ChainWriter][] = [
    ['a root', () => new ChainWriter('t')],
    ['a commit', begun],
    [
      'an approval',
      () => {
        const writer = withPending();
        writer.add('commit', approval(writer));
        writer.add('commit', commitMembers());
        return writer;
      },
    ],
    [
      'a rejection by a counselor',
      () => {
        const writer = withPending();
        writer.add('rejection', refusal(writer));
        writer.add('commit', commitMembers());
        return writer;
      },
    ],
    [
      'an expiry',
      () => {
        const writer = withPending({ expires: second(3) });
        writer.add('rejection', refusal(writer, { reason: 'expired', counselor: undefined }));
        return writer;
      },
    ],
    [
      'other work beside what freezes a footprint only',
      () => {
        const writer = withPending({ freezes: ['/n'] });
        writer.add('commit', commitMembers());
        writer.add('rejection', rejectionMembers());
        writer.add('pending_approval', pendingMembers({ freezes: ['/m'] }));
        return writer;
      },
    ],
    [
      'an expiry of one of two under a frozen world',
      () => {
        const writer = withPending({ freezes: ['/n'], expires: second(4) });
        const expiring = writer.head.id;
        writer.add('pending_approval', pendingMembers());
        const expiry = { reason: 'expired', counselor: undefined, resolves: expiring };
        writer.add('rejection', refusal(writer, expiry));
        return writer;
      },
    ],
    ['a delegation', delegated],
    [
      'a delegation that concludes under a frozen world',
      () => {
        const writer = delegated();
        writer.add('pending_approval', pendingMembers());
        writer.add('delegation', conclusion(writer));
        return writer;
      },
    ],
    [
      'delegations to two children, the later one concluded first',
      () => {
        const writer = delegated();
        writer.add('delegation', delegationMembers({ child_trajectory_id: 'other' }));
        writer.add('delegation', conclusion(writer));
        writer.add('commit', commitMembers());
        const first = answeredChild(startsOf(writer)[0] as EntryRow).head;
        writer.add('delegation', conclusionMembers(first));
        return writer;
      },
    ],
    [
      'a final answer, whatever waits',
      () => {
        const writer = child();
        writer.add('pending_approval', pendingMembers());
        writer.add('delegation', answer(writer));
        return writer;
      },
    ],
    [
      'no final answer, by one that has delegated itself',
      () => {
        const writer = child();
        writer.add('delegation', delegationMembers({ child_trajectory_id: 'grandchild' }));
        writer.add('delegation', conclusion(writer));
        writer.add(
          'delegation',
          answer(writer, { final_answer: undefined, budget_cost: undefined }),
        );
        return writer;
      },
    ],
    [
      'two entries of one instant',
      () => {
        const writer = begun();
        writer.add('commit', commitMembers([], { at: second(1) }));
        return writer;
      },
    ],
  ];
  test.each(lawful)('%s', async (_name, write) => {
    const writer = write();
    if (writer.rows.length === 0) writer.add('root', rootMembers());
    expect(await verify(writer)).toMatchObject({
      valid: true,
      entries: writer.rows.length,
      head: writer.head.id,
    });
  });
});

interface Broken {
  readonly rule: string;
  readonly code: FaultCode;
  readonly detail: RegExp;
  /** Writes a chain with a last entry that breaks the rule. */
  readonly write: () => ChainWriter;
}

/** A chain with one more, invalid entry. */
const after =
  (start: () => ChainWriter, ...next: Parameters<ChainWriter['add']>) =>
  (): ChainWriter => {
    const writer = start();
    writer.add(...next);
    return writer;
  };
const thenWith = (
  start: () => ChainWriter,
  kind: Parameters<ChainWriter['add']>[0],
  members: (writer: ChainWriter) => Parameters<ChainWriter['add']>[1],
) => {
  return (): ChainWriter => {
    const writer = start();
    writer.add(kind, members(writer));
    return writer;
  };
};
const resolved = thenWith(withPending, 'commit', (writer) => approval(writer));
const empty = (): ChainWriter => new ChainWriter('t');

const BROKEN: readonly Broken[] = [
  {
    rule: 'a root after the first entry',
    code: 'rule_broken',
    detail: /root entry must be the first/,
    write: after(begun, 'root', rootMembers()),
  },
  {
    rule: 'a branch after the first entry',
    code: 'rule_broken',
    detail: /branch entry must be the first/,
    write: thenWith(begun, 'branch', (writer) => branchMembers(writer.head)),
  },
  ...(['commit', 'rejection', 'pending_approval', 'delegation'] as const).map((kind): Broken => {
    const members = {
      commit: commitMembers([], { parent_commit: OTHER }),
      rejection: rejectionMembers(),
      pending_approval: pendingMembers({ head: OTHER }),
      delegation: delegationMembers(),
    };
    return {
      rule: `a ${kind} as the first entry`,
      code: 'rule_broken',
      detail: /must start with a root or a branch/,
      write: after(empty, kind, members[kind]),
    };
  }),
  {
    rule: 'time back by a microsecond',
    code: 'rule_broken',
    detail: /time goes back/,
    write: after(begun, 'commit', commitMembers([], { at: '2026-03-23T09:00:00.999999Z' })),
  },
  {
    rule: 'the parent is not the entry before',
    code: 'broken_chain',
    detail: /the parent must be/,
    write: after(begun, 'commit', commitMembers([], { parent: OTHER })),
  },
  {
    rule: 'no parent after the first entry',
    code: 'broken_chain',
    detail: /the parent must be/,
    write: after(begun, 'commit', commitMembers([], { parent: null })),
  },
  {
    rule: 'a parent at the first entry',
    code: 'broken_chain',
    detail: /the parent must be null/,
    write: after(empty, 'root', { ...rootMembers(), parent: OTHER }),
  },
  {
    rule: 'a seq left out',
    code: 'broken_chain',
    detail: /seq 2 was expected/,
    write: after(begun, 'commit', commitMembers([], { seq: 3 })),
  },
  {
    rule: 'another parent_commit',
    code: 'rule_broken',
    detail: /parent_commit must be/,
    write: after(begun, 'commit', commitMembers([], { parent_commit: OTHER })),
  },
  {
    rule: 'parent_commit is a rejection',
    code: 'rule_broken',
    detail: /parent_commit must be/,
    write: () => {
      const writer = begun();
      const rejection = writer.add('rejection', rejectionMembers());
      writer.add('commit', commitMembers([], { parent_commit: rejection.id }));
      return writer;
    },
  },
  {
    rule: 'an approval of nothing',
    code: 'rule_broken',
    detail: /not pending/,
    write: thenWith(begun, 'commit', (writer) => approval(writer)),
  },
  {
    rule: 'a rejection of nothing',
    code: 'rule_broken',
    detail: /not pending/,
    write: thenWith(begun, 'rejection', (writer) => refusal(writer)),
  },
  {
    rule: 'approved twice',
    code: 'rule_broken',
    detail: /not pending, or was resolved earlier/,
    write: thenWith(resolved, 'commit', (writer) =>
      approval(writer, { resolves: writer.rows[2]?.id }),
    ),
  },
  {
    rule: 'rejected after it was approved',
    code: 'rule_broken',
    detail: /not pending, or was resolved earlier/,
    write: thenWith(resolved, 'rejection', (writer) =>
      refusal(writer, { resolves: writer.rows[2]?.id }),
    ),
  },
  {
    rule: 'an approval of another proposal',
    code: 'rule_broken',
    detail: /another proposal/,
    write: thenWith(withPending, 'commit', (writer) => approval(writer, { proposal_id: OTHER })),
  },
  {
    rule: 'an approval under another writ',
    code: 'rule_broken',
    detail: /differ from the pending ones/,
    write: thenWith(withPending, 'commit', (writer) => approval(writer, { writ_id: OTHER })),
  },
  {
    rule: 'an approval under a key that what was pending had not',
    code: 'rule_broken',
    detail: /differ from the pending ones/,
    write: thenWith(withPending, 'commit', (writer) => approval(writer, { key_hash: OTHER })),
  },
  {
    rule: 'a rejection under a key that what was pending had not',
    code: 'rule_broken',
    detail: /differs from the pending one/,
    write: thenWith(withPending, 'rejection', (writer) => refusal(writer, { key_hash: OTHER })),
  },
  {
    rule: 'an approval at another cost',
    code: 'rule_broken',
    detail: /differ from the pending ones/,
    write: thenWith(withPending, 'commit', (writer) =>
      approval(writer, { budget_cost: { calls: 7 } }),
    ),
  },
  {
    rule: 'a rejection of another proposal',
    code: 'rule_broken',
    detail: /another proposal/,
    write: thenWith(withPending, 'rejection', (writer) => refusal(writer, { proposal_id: OTHER })),
  },
  {
    rule: 'a rejection that names no proposal',
    code: 'rule_broken',
    detail: /another proposal/,
    write: thenWith(withPending, 'rejection', (writer) =>
      refusal(writer, { proposal_id: undefined }),
    ),
  },
  {
    rule: 'an approval without counselor',
    code: 'rule_broken',
    detail: /must name its counselor/,
    write: thenWith(withPending, 'commit', (writer) => approval(writer, { counselor: undefined })),
  },
  {
    rule: 'an approval without vector',
    code: 'rule_broken',
    detail: /the detection vector/,
    write: thenWith(withPending, 'commit', (writer) =>
      approval(writer, { detection_vector: undefined }),
    ),
  },
  {
    rule: 'a counselor rejection without counselor',
    code: 'rule_broken',
    detail: /must name its counselor/,
    write: thenWith(withPending, 'rejection', (writer) =>
      refusal(writer, { counselor: undefined }),
    ),
  },
  {
    rule: 'a counselor commits what was never pending',
    code: 'rule_broken',
    detail: /a pending proposal/,
    write: after(begun, 'commit', commitMembers([], { counselor: COUNSELOR })),
  },
  {
    rule: 'a counselor rejects what was never pending',
    code: 'rule_broken',
    detail: /a pending proposal/,
    write: after(begun, 'rejection', rejectionMembers({ reason: 'counselor_rejected' })),
  },
  {
    rule: 'an expiry of what was never pending',
    code: 'rule_broken',
    detail: /a pending proposal/,
    write: after(begun, 'rejection', rejectionMembers({ reason: 'expired' })),
  },
  {
    rule: 'an expiry before its time',
    code: 'rule_broken',
    detail: /has not expired/,
    write: thenWith(
      () => withPending({ expires: second(4) }),
      'rejection',
      (writer) => refusal(writer, { reason: 'expired' }),
    ),
  },
  {
    rule: 'an expiry of what never expires',
    code: 'rule_broken',
    detail: /has not expired/,
    write: thenWith(withPending, 'rejection', (writer) => refusal(writer, { reason: 'expired' })),
  },
  {
    rule: 'an approval at the instant of its expiry',
    code: 'rule_broken',
    detail: /approves a proposal that expired/,
    write: thenWith(
      () => withPending({ expires: second(3) }),
      'commit',
      (writer) => approval(writer),
    ),
  },
  {
    rule: 'a rejection by a counselor at the instant of its expiry',
    code: 'rule_broken',
    detail: /rejects a proposal that expired/,
    write: thenWith(
      () => withPending({ expires: second(3) }),
      'rejection',
      (writer) => refusal(writer),
    ),
  },
  {
    rule: 'an expiry by a counselor',
    code: 'rule_broken',
    detail: /an expiry has no counselor/,
    write: thenWith(
      () => withPending({ expires: second(3) }),
      'rejection',
      (writer) => refusal(writer, { reason: 'expired' }),
    ),
  },
  {
    rule: 'expired twice',
    code: 'rule_broken',
    detail: /not pending, or was resolved earlier/,
    write: () => {
      const writer = withPending({ expires: second(3) });
      const expiry = refusal(writer, { reason: 'expired', counselor: undefined });
      writer.add('rejection', expiry);
      writer.add('rejection', expiry);
      return writer;
    },
  },
  {
    rule: 'a counselor who refuses for another reason what was never pending',
    code: 'rule_broken',
    detail: /a pending proposal/,
    write: after(begun, 'rejection', rejectionMembers({ counselor: COUNSELOR })),
  },
  {
    rule: 'parent_commit is a delegation',
    code: 'rule_broken',
    detail: /parent_commit must be/,
    write: thenWith(delegated, 'commit', (writer) =>
      commitMembers([], { parent_commit: writer.head.id }),
    ),
  },
  {
    rule: 'a digest that is not the proposal’s',
    code: 'rule_broken',
    detail: /digest/,
    write: after(begun, 'pending_approval', pendingMembers({ digest: OTHER })),
  },
  {
    rule: 'a pending approval judged on another head',
    code: 'rule_broken',
    detail: /another head/,
    write: after(begun, 'pending_approval', pendingMembers({ head: OTHER })),
  },
  ...(['commit', 'rejection', 'pending_approval', 'delegation'] as const).map((kind): Broken => {
    const members = {
      commit: commitMembers(),
      rejection: rejectionMembers(),
      pending_approval: pendingMembers(),
      delegation: delegationMembers(),
    };
    return {
      rule: `a ${kind} in a frozen world`,
      code: 'rule_broken',
      detail: /the whole state is frozen until/,
      write: after(withPending, kind, members[kind]),
    };
  }),
  ...(['child_head', 'final_answer', 'budget_cost'] as const).map((name): Broken => {
    const value = { child_head: OTHER, final_answer: 'done', budget_cost: {} }[name];
    return {
      rule: `a delegation that starts with ${name}`,
      code: 'rule_broken',
      detail: new RegExp(`cannot have ${name}$`),
      write: after(begun, 'delegation', delegationMembers({ [name]: value })),
    };
  }),
  {
    rule: 'a delegation to itself',
    code: 'rule_broken',
    detail: /delegates back to t/,
    write: after(begun, 'delegation', delegationMembers({ child_trajectory_id: 't' })),
  },
  {
    rule: 'a delegation to who delegated',
    code: 'rule_broken',
    detail: /delegates back to p/,
    write: after(child, 'delegation', delegationMembers({ child_trajectory_id: 'p' })),
  },
  {
    rule: 'a second delegation to a child',
    code: 'rule_broken',
    detail: /already had a delegation/,
    write: after(delegated, 'delegation', delegationMembers({ task: 'do more' })),
  },
  {
    rule: 'a second delegation to a child that has answered',
    code: 'rule_broken',
    detail: /already had a delegation/,
    write: () => {
      const writer = delegated();
      writer.add('delegation', conclusion(writer));
      writer.add('delegation', delegationMembers());
      return writer;
    },
  },
  {
    rule: 'a delegation that concludes nothing',
    code: 'rule_broken',
    detail: /not an open delegation/,
    write: after(begun, 'delegation', delegationMembers({ concludes: OTHER, child_head: OTHER })),
  },
  {
    rule: 'a delegation concluded twice',
    code: 'rule_broken',
    detail: /not an open delegation/,
    write: () => {
      const writer = delegated();
      const members = conclusion(writer);
      writer.add('delegation', members);
      writer.add('delegation', members);
      return writer;
    },
  },
  {
    rule: 'a delegation concluded by another child',
    code: 'rule_broken',
    detail: /another child/,
    write: thenWith(delegated, 'delegation', (writer) =>
      conclusion(writer, { child_trajectory_id: 'changeling' }),
    ),
  },
  {
    rule: 'a conclusion of another task',
    code: 'rule_broken',
    detail: /task or writ/,
    write: thenWith(delegated, 'delegation', (writer) =>
      conclusion(writer, { task: 'do nothing' }),
    ),
  },
  {
    rule: 'a conclusion with another writ',
    code: 'rule_broken',
    detail: /task or writ/,
    write: thenWith(delegated, 'delegation', (writer) => conclusion(writer, { writ: HELD })),
  },
  {
    rule: 'a conclusion that does not pin the child’s head',
    code: 'rule_broken',
    detail: /must have the head/,
    write: thenWith(delegated, 'delegation', (writer) =>
      conclusion(writer, { child_head: undefined }),
    ),
  },
  {
    rule: 'a conclusion that says what the child begins with',
    code: 'rule_broken',
    detail: /only the start of a delegation/,
    write: thenWith(delegated, 'delegation', (writer) =>
      conclusion(writer, { begins: { domain: DOMAIN, initial_state: {} } }),
    ),
  },
  {
    rule: 'a final answer where nobody delegated',
    code: 'rule_broken',
    detail: /not created by the delegation/,
    write: thenWith(begun, 'delegation', (writer) => answer(writer)),
  },
  {
    rule: 'a final answer to another delegation',
    code: 'rule_broken',
    detail: /not created by the delegation/,
    write: thenWith(child, 'delegation', (writer) => answer(writer, { concludes: OTHER })),
  },
  {
    rule: 'a final answer that pins a head',
    code: 'rule_broken',
    detail: /cannot have child_head/,
    write: thenWith(child, 'delegation', (writer) =>
      answer(writer, { child_head: writer.head.id }),
    ),
  },
  {
    rule: 'a final answer that says what the child begins with',
    code: 'rule_broken',
    detail: /only the start of a delegation/,
    write: thenWith(child, 'delegation', (writer) =>
      answer(writer, { begins: { domain: DOMAIN, initial_state: {} } }),
    ),
  },
  {
    rule: 'a final answer before what was delegated is concluded',
    code: 'rule_broken',
    detail: /all delegations/,
    write: () => {
      const writer = child();
      writer.add('delegation', delegationMembers({ child_trajectory_id: 'grandchild' }));
      writer.add('delegation', answer(writer));
      return writer;
    },
  },
  ...(['commit', 'rejection', 'pending_approval', 'delegation', 'another answer'] as const).map(
    (what): Broken => {
      const write = (): ChainWriter => {
        const writer = child();
        writer.add('delegation', answer(writer));
        const members = {
          commit: commitMembers(),
          rejection: rejectionMembers(),
          pending_approval: pendingMembers(),
          delegation: delegationMembers(),
          'another answer': answer(writer),
        };
        writer.add(what === 'another answer' ? 'delegation' : what, members[what]);
        return writer;
      };
      return {
        rule: `${what} after the final answer`,
        code: 'rule_broken',
        detail: /no entry may follow/,
        write,
      };
    },
  ),
];

describe('every rule, broken once, is found and named', () => {
  test.each(BROKEN)('$rule', async ({ code, detail, write }) => {
    const writer = write();
    const report = await verify(writer);
    // The entry's own position may be the fault.
    const { seq } = writer.head;
    expect(report).toMatchObject({
      valid: false,
      entries: writer.rows.length - 1,
      head: writer.rows.at(-2)?.id ?? null,
      fault: { trajectory_id: 't', seq, code, detail: expect.stringMatching(detail) },
    });
  });
});

test('a fault names its rule, in its message and its evidence', () => {
  const { rows } = after(begun, 'pending_approval', pendingMembers({ digest: OTHER }))();
  const chain = new Chain('t');
  for (const row of rows.slice(0, -1)) chain.accept(checkRow(row));
  const accept = (): void => chain.accept(checkRow(rows.at(-1) as EntryRow));
  expect(accept).toThrow('t seq 2: the digest does not match the proposal (pending.digest)');
  expect(accept).toThrow(
    expect.objectContaining({ evidence: expect.objectContaining({ rule: 'pending.digest' }) }),
  );
});

test('an entry of another trajectory is not part of the chain', () => {
  const chain = new Chain('t');
  const foreign = new ChainWriter('elsewhere');
  const root = checkRow(foreign.add('root', rootMembers()));
  expect(() => chain.accept(root)).toThrow(/belongs to elsewhere/);
});

test('a pending proposal closes at the final answer, and no run joins it', () => {
  const writer = child();
  writer.add('pending_approval', pendingMembers());
  writer.add('delegation', answer(writer));
  const chain = new Chain('t');
  for (const row of writer.rows) chain.accept(checkRow(row));
  expect(chain.open.size).toBe(0);
  expect(chain.answered).toBe(writer.head.id);
  const [run] = runsOf([checkRow(writer.row('rejection', rejectionMembers()))]);
  expect(chain.join(run as VerifiedRun)).toBe(false);
});

describe('after a refusal the chain is as before', () => {
  const broken = BROKEN.filter(({ rule }) => !rule.includes('first entry'));
  test.each(broken)('$rule', ({ write }) => {
    const { rows } = write();
    const chain = new Chain('t');
    for (const row of rows.slice(0, -1)) chain.accept(checkRow(row));
    // The field `open` is an instance of a class, but its structured clone is not.
    const seen = () => ({ ...chain, open: new Map(chain.open), frozenBy: chain.frozenBy() });
    const before = structuredClone(seen());
    expect(() => chain.accept(checkRow(rows.at(-1) as (typeof rows)[0]))).toThrow(LedgerFault);
    expect(seen()).toEqual(before);
  });
});
