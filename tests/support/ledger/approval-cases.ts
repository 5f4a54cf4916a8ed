import type { CounselorRecord, VectorItem } from '#ledger';
import type { ErasureCase } from './erasure-cases.ts';
import {
  ChainWriter,
  commitMembers,
  type Members,
  pendingMembers,
  rejectionMembers,
  rootMembers,
  second,
  VECTOR,
} from './rows.ts';

const A: CounselorRecord = { principal: 'dr-a', as: 'md', method: 'test' };
const B: CounselorRecord = { principal: 'dr-b', as: 'md', method: 'test' };
const C: CounselorRecord = { principal: 'dr-c', as: 'md', method: 'test' };
const GOOD: VectorItem = { invariant_id: 'GOOD', result: 'pass' };
const BAD: VectorItem = { invariant_id: 'BAD', result: 'escalate', detail: 'high' };
const WORSE: VectorItem = { invariant_id: 'WORSE', result: 'reject' };
const saw = (one: CounselorRecord, ...overridden: VectorItem[]): CounselorRecord => ({
  ...one,
  override: true,
  overridden,
});
const over = (one: CounselorRecord): CounselorRecord => saw(one, BAD);
/** An approver with a token that others made. */
const madeBy = (one: CounselorRecord, ...token_by: string[]): CounselorRecord => ({
  ...one,
  token_by,
});
/** The last approver, with an override if a rule does not pass, and the vector. */
function seeing(one: CounselorRecord, ...vector: VectorItem[]): [CounselorRecord, Members] {
  const broken = vector.filter(({ result }) => result !== 'pass');
  return [broken.length > 0 ? saw(one, ...broken) : one, { detection_vector: vector }];
}

/** A trajectory in which something waits for the approval of several people. */
class Case {
  readonly writer = new ChainWriter('t');
  readonly putUp: Members;
  /** The approvers of the last step, each with the time of the approval. */
  #given: CounselorRecord[] = [];

  /** An entry omits `approvals` if it needs a single approval. */
  constructor(approvals = 3, rest: Members = {}) {
    this.putUp = pendingMembers({ ...(approvals === 1 ? {} : { approvals }), ...rest });
    this.writer.add('root', rootMembers({ n: 0 }));
    this.writer.add('pending_approval', this.putUp);
  }

  /** One more has approved, and is not the last. */
  step(approved_by: readonly CounselorRecord[] | undefined, rest: Members = {}): this {
    const at = second(this.writer.rows.length);
    if (Array.isArray(approved_by))
      this.#given = approved_by.map((one, i) => ({
        ...one,
        at: one.at ?? this.#given[i]?.at ?? at,
      }));
    const given = Array.isArray(approved_by) ? this.#given : approved_by;
    this.writer.add('pending_approval', {
      ...this.putUp,
      resolves: this.writer.head.id,
      approved_by: given,
      ...rest,
    });
    return this;
  }

  commit(counselor: CounselorRecord, rest: Members = {}): this {
    const members = {
      resolves: this.writer.head.id,
      counselor,
      ...(this.#given.length === 0 ? {} : { approved_by: this.#given }),
      detection_vector: VECTOR,
      ...rest,
    };
    this.writer.add('commit', commitMembers([], members));
    return this;
  }

  reject(rest: Members): this {
    const { proposal_id } = commitMembers();
    this.writer.add(
      'rejection',
      rejectionMembers({ proposal_id, resolves: this.writer.head.id, ...rest }),
    );
    return this;
  }

  other(): this {
    this.writer.add('commit', commitMembers());
    return this;
  }
}

/** The kind that may decide for a doctor from the third entry on. */
const DEPUTY = { of: 'md', kind: 'head', from: second(2) };

/** Decisions by a deputy: due, too early, of another kind, and for one of two kinds. */
function deputised(
  valid: (name: string, made: Case) => ErasureCase,
  broken: (name: string, seq: number, made: Case) => ErasureCase,
): ErasureCase[] {
  const head = (one: CounselorRecord, as = 'head'): CounselorRecord => ({ ...one, as });
  const due = (approvals = 1, rest: Members = {}): Case =>
    new Case(approvals, { deputies: [DEPUTY], ...rest });
  const late = { deputies: [{ ...DEPUTY, from: second(3) }] };
  const both = { channel: 'boss+md' };
  return [
    valid('a deputy that is due', due().commit(head(A))),
    valid('the kind itself beside its deputy', due().commit(A)),
    valid(
      'a deputy and then the kind itself',
      due(2)
        .step([head(A)])
        .commit(B),
    ),
    valid('the second of two is a deputy, due since', due(2, late).step([A]).commit(head(B))),
    valid('a deputy rejects', due().reject({ reason: 'counselor_rejected', counselor: head(A) })),
    valid('a deputy for one of two kinds', due(1, both).commit(head(A, 'boss+head'))),
    broken('a deputy one second early', 2, due(1, late).commit(head(A))),
    broken('the first of two is a deputy too early', 2, due(2, late).step([head(A)])),
    broken('a deputy that the request does not name', 2, new Case(1).commit(head(A))),
    broken(
      'a deputy of another kind',
      2,
      due(1, { channel: 'boss', deputies: [{ ...DEPUTY, of: 'boss' }] }).commit(head(A, 'md')),
    ),
    broken('a deputy for one of two kinds alone', 2, due(1, both).commit(head(A))),
    broken('a deputy beside all kinds', 2, due().commit(head(A, 'head+md'))),
    broken('a deputy in the place of the other kind', 2, due(1, both).commit(head(A, 'head+md'))),
    broken(
      'a deputy rejects too early',
      2,
      due(1, late).reject({ reason: 'counselor_rejected', counselor: head(A) }),
    ),
  ];
}

/** Decisions that take several people: lawful ones, and each rule broken in every way. */
export function approvalCases(): ErasureCase[] {
  const given = (name: string, verdict: string, made: Case): ErasureCase => ({
    name,
    verdict,
    ledger: { rows: made.writer.rows, blobs: [], erased: [] },
  });
  const valid = (name: string, made: Case): ErasureCase => given(name, 'valid', made);
  const broken = (name: string, seq: number, made: Case): ErasureCase =>
    given(name, `${seq} rule_broken`, made);
  const started = (rest: Members = {}): Case => new Case(3, rest).step([A]);
  const composed = { ...A, principal: 'dr-\u00e9' };
  const decomposed = { ...A, principal: 'dr-e\u0301' };
  const named = (length: number): CounselorRecord => ({
    ...A,
    principal: '\u{1f9d1}'.repeat(length / 2),
  });
  return [
    valid('three approvals, and work goes on', started().step([A, B]).commit(C).other()),
    valid('eight approvals are asked for', new Case(8)),
    valid(
      'the second of three rejects',
      started().reject({ reason: 'counselor_rejected', counselor: B }),
    ),
    valid(
      'who approved before rejects',
      started().reject({ reason: 'counselor_rejected', counselor: A }),
    ),
    valid(
      'an approval finds a conflict',
      new Case(1, { freezes: ['/n'] }).reject({ reason: 'conflict', counselor: A }),
    ),
    valid(
      'the second approval finds one',
      started({ freezes: ['/n'] }).reject({ reason: 'conflict', counselor: B }),
    ),
    broken(
      'a conflict without a counselor',
      2,
      new Case(1, { freezes: ['/n'] }).reject({ reason: 'conflict' }),
    ),
    broken(
      'a conflict under a frozen world',
      2,
      new Case(1).reject({ reason: 'conflict', counselor: A }),
    ),
    broken(
      'a conflict that another channel finds',
      2,
      new Case(1, { freezes: ['/n'] }).reject({
        reason: 'conflict',
        counselor: { ...A, as: 'clerk' },
      }),
    ),
    broken(
      'a conflict after the expiry',
      2,
      new Case(1, { freezes: ['/n'], expires: second(2) }).reject({
        reason: 'conflict',
        counselor: A,
      }),
    ),
    broken(
      'another reason after an approval',
      2,
      new Case(1, { freezes: ['/n'] }).reject({ reason: 'precondition_failed', counselor: A }),
    ),
    valid('it expires between two', started({ expires: second(3) }).reject({ reason: 'expired' })),
    valid('all override', new Case(2).step([over(A)]).commit(over(B))),
    broken(
      'the first one overrides alone, and all passes now',
      3,
      new Case(2).step([over(A)]).commit(B),
    ),
    broken(
      'the second of three does not override',
      3,
      new Case(3).step([over(A)]).step([over(A), B]),
    ),
    broken('the second of three overrides alone', 3, new Case(3).step([A]).step([A, over(B)])),
    broken('the second of three overrides something else', 3, otherOverride()),
    broken(
      'a violation that nobody overrides',
      2,
      new Case(1).commit(A, { detection_vector: [GOOD, BAD] }),
    ),
    broken('an override that names nothing', 2, new Case(1).commit({ ...A, override: true })),
    broken('an override of an empty list', 2, new Case(1).commit(saw(A))),
    broken('overridden, and no override', 2, new Case(1).commit({ ...A, overridden: [BAD] })),
    broken('the first override names nothing', 2, new Case(2).step([{ ...A, override: true }])),
    valid('one overrides alone, where one approves', new Case(1).commit(...seeing(A, GOOD, BAD))),
    broken(
      'the commit leaves out who approved',
      3,
      new Case(2).step([A]).commit(B, { approved_by: undefined }),
    ),
    broken(
      'the commit names another one',
      3,
      new Case(2).step([A]).commit(B, { approved_by: [C] }),
    ),
    broken(
      'the commit names somebody, where one approves',
      2,
      new Case(1).commit(A, { approved_by: [B] }),
    ),
    broken(
      'the commit leaves out an override',
      3,
      new Case(2).step([over(A)]).commit(over(B), { approved_by: [A] }),
    ),
    broken('a direct commit names who approved', 1, direct()),
    broken('another time than that of the entry', 2, new Case(2).step([{ ...A, at: second(1) }])),
    broken('no time', 2, new Case(2).step([A], { approved_by: [A] })),
    valid(
      'a footprint is frozen, and other work goes on between',
      new Case(2, { freezes: ['/n'] }).step([A]).other(),
    ),
    broken('one approval of two commits', 2, new Case(2).commit(A)),
    broken('two of three commit', 3, started().commit(B)),
    broken('three of two: the last is not a commit', 3, new Case(2).step([A]).step([A, B])),
    broken('the only approval is not a commit', 2, new Case(1).step([A])),
    broken('a second approval of what takes one', 2, new Case(1).step([A], { approvals: 2 })),
    broken('two together', 2, new Case(4).step([A, B])),
    broken('none', 3, started().step([A])),
    broken('nobody is named', 2, new Case().step(undefined)),
    broken('another one in the place of who approved', 3, started().step([C, B])),
    broken('who approved is left out', 3, started().step([B])),
    broken('one approves twice', 3, started().step([A, A])),
    broken('one approves twice, and commits', 3, new Case(2).step([A]).commit(A)),
    broken('one approves twice, and overrides the second time', 3, started().step([A, over(A)])),
    broken(
      'one approves twice, in two forms of Unicode',
      3,
      new Case(2).step([composed]).commit(decomposed),
    ),
    broken(
      'one approves twice, in two forms, before the last',
      3,
      new Case(3).step([composed]).step([composed, decomposed]),
    ),
    valid('one has a token of another person', new Case(2).step([madeBy(A, 'x')]).commit(B)),
    broken(
      'the maker of the first token approves',
      3,
      new Case(2).step([madeBy(A, B.principal)]).commit(B),
    ),
    broken(
      'one approves by a token of the first',
      3,
      new Case(2).step([A]).commit(madeBy(B, 'x', A.principal)),
    ),
    broken(
      'one made both tokens',
      3,
      new Case(3).step([madeBy(A, 'x')]).step([madeBy(A, 'x'), madeBy(B, 'x')]),
    ),
    broken(
      'the maker of a token has a longer name',
      3,
      new Case(2).step([A]).commit(madeBy(B, 'x'.repeat(513))),
    ),
    given(
      'the maker of a token is a number',
      '2 malformed',
      new Case(1).commit({ ...A, token_by: [1] } as never),
    ),
    valid('a name of 512 UTF-16 units', new Case(2).step([named(512)]).commit(A)),
    broken('the second name is longer', 3, new Case(2).step([A]).commit(named(514))),
    broken('the first name is longer', 3, new Case(2).step([named(514)]).commit(A)),
    broken('a longer name before the last', 3, new Case(3).step([A]).step([A, named(514)])),
    valid('a longer name, of who decides alone', new Case(1).commit(named(514))),
    broken('one of another channel', 2, new Case().step([{ ...A, as: 'clerk' }])),
    ...deputised(valid, broken),
    broken('after it expired', 2, new Case(3, { expires: second(2) }).step([A])),
    broken('the last one overrides alone', 3, new Case(2).step([A]).commit(over(B))),
    valid(
      'each has overridden all that does not pass',
      new Case(2)
        .step([saw(A, BAD, WORSE)])
        .commit(saw(B, WORSE, BAD), { detection_vector: [GOOD, BAD] }),
    ),
    broken(
      'the second one overrides fewer',
      3,
      new Case(2).step([saw(A, BAD, WORSE)]).commit(...seeing(B, GOOD, BAD)),
    ),
    broken(
      'all passes again, without an override',
      3,
      new Case(2).step([saw(A, BAD)]).commit(...seeing(B, GOOD)),
    ),
    valid(
      'all passes again',
      new Case(2).step([saw(A, BAD)]).commit(saw(B, BAD), { detection_vector: [GOOD] }),
    ),
    valid('in other words of the rule that escalated', otherWords('BAD')),
    broken('in other words of another rule', 3, otherWords('GOOD')),
    broken(
      'the first one has not overridden it',
      3,
      new Case(2).step([saw(A, BAD)]).commit(...seeing(B, BAD, WORSE)),
    ),
    broken(
      'in other words, by a rule that did not escalate',
      3,
      new Case(2).step([saw(A, { ...BAD, detail: 'low' })]).commit(...seeing(B, BAD)),
    ),
    broken(
      'none of three overrides what does not pass',
      4,
      new Case(3)
        .step([saw(A, BAD)])
        .step([saw(A, BAD), saw(B, BAD)])
        .commit(saw(C, BAD), { detection_vector: [WORSE] }),
    ),
    broken('approved from the beginning', 1, new Case(2, { approved_by: [A] })),
    broken('nobody has approved, and a list says so', 1, new Case(2, { approved_by: [] })),
    broken(
      'what was submitted before is submitted again',
      5,
      started().step([A, B]).commit(C).step([A, B, C]),
    ),
    broken('the first one, approved by somebody, is approved again', 3, twice()),
    broken('while something else freezes the world', 3, beside()),
    broken('work between two, under a frozen world', 3, started().other()),
    ...Object.entries({
      channel: 'any',
      reason: 'writ_requires_approval',
      detail: 'something else',
      freezes: ['/n'],
      approvals: 4,
      invariant_id: 'ANOTHER',
      expires: second(90),
      deputies: [DEPUTY],
      policy: { digest: 'a'.repeat(64), decision: 'needs_approval' },
    }).map(([member, value]) =>
      broken(`${member} is another`, 2, new Case().step([A], { [member]: value })),
    ),
    broken(
      'expires is left out',
      2,
      new Case(3, { expires: second(90) }).step([A], { expires: undefined }),
    ),
    broken('approvals are left out', 2, new Case().step([A], { approvals: undefined })),
    broken('the proposal is another, and its digest', 2, new Case().step([A], otherProposal())),
    broken('the head is another', 2, new Case().step([A], { head: 'e'.repeat(64) })),
    ...[
      [],
      [DEPUTY, DEPUTY],
      [DEPUTY, { ...DEPUTY, kind: 'boss' }],
      [{ ...DEPUTY, of: 'boss' }],
      [{ ...DEPUTY, of: 'md+boss' }],
      [{ ...DEPUTY, from: second(1) }],
      [{ ...DEPUTY, from: second(0) }],
    ].map((deputies) =>
      broken(`deputies of ${JSON.stringify(deputies)}`, 1, new Case(1, { deputies })),
    ),
    valid(
      'a deputy for each of two kinds',
      new Case(1, { channel: 'boss+md', deputies: [DEPUTY, { ...DEPUTY, of: 'boss' }] }),
    ),
    ...[[{}], [{ ...DEPUTY, from: 'soon' }], [{ ...DEPUTY, afterMs: 1 }], DEPUTY, null].map(
      (deputies) =>
        given(`deputies of ${JSON.stringify(deputies)}`, '1 malformed', new Case(1, { deputies })),
    ),
    ...[1, 9, 0, -2, 2.5, '2', null].map((approvals) =>
      given(`approvals of ${approvals}`, '1 malformed', new Case(1, { approvals })),
    ),
    given('approved by no list', '2 malformed', new Case().step('dr-a' as never)),
    given(
      'approved by no counselor',
      '2 malformed',
      new Case().step([{ principal: 'dr-a' } as never]),
    ),
  ];
}

function otherProposal(): Members {
  const { proposal, digest } = pendingMembers({}, { budget_cost: { usd: 1 } });
  return { proposal, digest };
}

/** A rule says something else after the second approval. */
function otherWords(invariant_id: string): Case {
  const made = new Case(2, { invariant_id }).step([saw(A, { ...BAD, detail: '1 of 3' })]);
  return made.commit(...seeing(B, { ...BAD, detail: '2 of 3' }));
}

function otherOverride(): Case {
  return new Case(3)
    .step([saw(A, BAD)])
    .step([saw(A, BAD), saw(B, WORSE)])
    .commit(saw(C, BAD), { detection_vector: [BAD] });
}

function direct(): Case {
  const made = new Case(1);
  made.writer.rows.pop();
  made.writer.add('commit', commitMembers([], { approved_by: [A] }));
  return made;
}

/** Two go on from one: the second is too late. */
function twice(): Case {
  const made = new Case(3);
  const first = made.writer.head.id;
  return made.step([A]).step([B], { resolves: first });
}

function beside(): Case {
  const made = new Case(3, { freezes: ['/n'] });
  const first = made.writer.head.id;
  made.writer.add('pending_approval', pendingMembers());
  return made.step([A], { resolves: first });
}
