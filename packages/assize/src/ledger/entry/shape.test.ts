import { describe, expect, test } from 'vitest';
import type { Json } from '#base';
import {
  branchMembers,
  ChainWriter,
  COUNSELOR,
  commitMembers,
  delegationMembers,
  pendingMembers,
  RowsReader,
  rejectionMembers,
  rootMembers,
  VECTOR,
} from '../../../../../tests/support/ledger/rows.ts';
import {
  type EntryKind,
  type EntryRow,
  isPayload,
  payloadFault,
  Replayer,
  verifyTrajectory,
} from '../index.ts';

const HASH = 'a'.repeat(64);
const POLICY = { digest: HASH, decision: 'allow', rule: 'r' };
const OBSERVATIONS = [
  { name: 'by value', value: 1 },
  { name: 'by key', oracle_key: HASH, hash: HASH },
];
const SALTED = { $blob: HASH, bytes: 1, salted: true };
const SENSITIVE = [{ op: 'add', path: '/a', value: SALTED }];
const INTENT = {
  action: 'a',
  role: { name: 'r', params: { p: 'v' } },
  args: [],
  observations: OBSERVATIONS,
};

/** A payload of each kind with all its optional fields, and the names of its required fields. */
const WHOLE: Record<EntryKind, { members: object; required: string[] }> = {
  root: {
    members: {
      ...rootMembers(),
      policy_hash: HASH,
      delegated_from: { trajectory_id: 'p', entry_id: HASH },
      detection_vector: VECTOR,
      note: 'n',
      sensitive: SENSITIVE,
    },
    required: ['domain', 'initial_state', 'compiler_version', 'writs'],
  },
  branch: {
    members: {
      ...branchMembers({ id: HASH, trajectory_id: 's' } as EntryRow),
      policy_hash: HASH,
      detection_vector: VECTOR,
    },
    required: [
      'source_trajectory_id',
      'source_commit_id',
      'domain',
      'compiler_version',
      'writs',
      'note',
    ],
  },
  commit: {
    members: {
      ...commitMembers([], { observations: OBSERVATIONS, budget_cost: { usd: 1 } }),
      policy: POLICY,
      resolves: HASH,
      counselor: { ...COUNSELOR, override: true, reason: 'why' },
      approved_by: [COUNSELOR],
      detection_vector: [{ invariant_id: 'I', result: 'reject', detail: 'd' }],
    },
    required: [
      'proposal_id',
      'writ_id',
      'parent_commit',
      'action',
      'delta',
      'observations',
      'budget_cost',
      'compiler_version',
    ],
  },
  key_change: { members: { to: HASH, reason: 'why' }, required: ['to', 'reason'] },
  rejection: {
    members: {
      ...rejectionMembers(),
      intent: INTENT,
      proposal_id: HASH,
      writ_id: HASH,
      policy: POLICY,
      invariant_id: 'I',
      resolves: HASH,
      counselor: COUNSELOR,
    },
    required: ['intent', 'reason', 'detail'],
  },
  pending_approval: {
    members: {
      ...pendingMembers(),
      freezes: ['/a', '/b'],
      policy: POLICY,
      invariant_id: 'I',
      expires: '2026-03-23T09:00:00.000000Z',
      approvals: 2,
      resolves: HASH,
      approved_by: [
        COUNSELOR,
        { ...COUNSELOR, at: '2026-03-23T09:00:00.000000Z', overridden: VECTOR },
      ],
    },
    required: ['proposal', 'digest', 'channel', 'reason', 'detail', 'freezes', 'head'],
  },
  delegation: {
    members: {
      ...delegationMembers(),
      begins: { domain: rootMembers()['domain'], initial_state: {}, sensitive: SENSITIVE },
      child_head: HASH,
      final_answer: [1],
      concludes: HASH,
      budget_cost: { usd: 1 },
    },
    required: ['child_trajectory_id', 'task', 'writ'],
  },
};
const COMMON = ['trajectory_id', 'seq', 'parent', 'at'];
const KINDS = Object.keys(WHOLE) as EntryKind[];

type Loose = { [name: string]: any };

function whole(kind: EntryKind): Loose {
  return structuredClone({
    kind,
    trajectory_id: 't',
    seq: 1,
    parent: HASH,
    at: '2026-03-23T09:00:00.000000Z',
    parent_commit: HASH,
    head: HASH,
    ...WHOLE[kind].members,
  }) as Loose;
}
function payloadOf(kind: EntryKind): Loose {
  const payload = whole(kind);
  if (kind !== 'commit') delete payload['parent_commit'];
  if (kind !== 'pending_approval') delete payload['head'];
  return payload;
}

describe.each(KINDS)('%s', (kind) => {
  test('with every member it may have it is whole', () => {
    expect(payloadFault(payloadOf(kind))).toBeUndefined();
    expect(isPayload(payloadOf(kind))).toBe(true);
  });

  test('is complete with only its required fields', () => {
    const payload = payloadOf(kind);
    const must = new Set(['kind', ...COMMON, ...WHOLE[kind].required]);
    for (const name of Object.keys(payload)) if (!must.has(name)) delete payload[name];
    expect(payloadFault(payload)).toBeUndefined();
  });

  test.each([...COMMON, ...WHOLE[kind].required])('without %s it is not', (name) => {
    const payload = payloadOf(kind);
    delete payload[name];
    expect(payloadFault(payload)).toBe(`${name} is missing`);
  });

  test('every member that is of another type is named', () => {
    for (const name of Object.keys(payloadOf(kind))) {
      // These fields accept values of any type; other code validates them.
      if (['kind', 'initial_state', 'final_answer', 'writ'].includes(name)) continue;
      const old = payloadOf(kind)[name];
      if (kind === 'key_change' && name === 'reason') continue;
      const others = [null, true, 1.5, -1, 'text', '', [], [null], {}, { x: 1 }].filter(
        (other) => !(Array.isArray(old) && Array.isArray(other)) && !sameSort(name, other),
      );
      for (const other of others) {
        const fault = payloadFault({ ...payloadOf(kind), [name]: other });
        expect(fault, `${name} ${JSON.stringify(other)}`).toBe(`${name} is not valid`);
      }
    }
  });

  test.each(['extra', '__proto__', 'toString', 'Kind'])('with a member %s it is not', (name) => {
    const payload = payloadOf(kind);
    Object.defineProperty(payload, name, {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    expect(payloadFault(payload)).toBe(`${name} is not a known field`);
  });

  test('a member of another kind is not known', () => {
    for (const other of KINDS) {
      for (const name of Object.keys(payloadOf(other))) {
        if (Object.hasOwn(payloadOf(kind), name)) continue;
        expect(payloadFault({ ...payloadOf(kind), [name]: payloadOf(other)[name] })).toBe(
          `${name} is not a known field`,
        );
      }
    }
  });
});

/** Whether a wrong value happens to be of the right sort for that member. */
function sameSort(name: string, value: unknown): boolean {
  if (typeof value === 'string') {
    return (
      [
        'trajectory_id',
        'compiler_version',
        'note',
        'detail',
        'channel',
        'invariant_id',
        'task',
      ].includes(name) || ['source_trajectory_id', 'child_trajectory_id'].includes(name)
    );
  }
  if (value === null) return name === 'parent';
  if (Array.isArray(value)) return name === 'freezes' && value.length === 0;
  return name === 'budget_cost' && typeof value === 'object';
}

describe('members inside members', () => {
  const inside: [EntryKind, string, (payload: Loose) => void][] = [
    ['root', 'domain', (p) => delete p['domain'].hash],
    ['root', 'domain', (p) => (p['domain'].build = 'x')],
    ['root', 'delegated_from', (p) => (p['delegated_from'].entry_id = 'short')],
    ['root', 'detection_vector', (p) => (p['detection_vector'][0].result = 'maybe')],
    ['commit', 'proposal_id', (p) => (p['proposal_id'] = HASH.toUpperCase())],
    ['commit', 'action', (p) => delete p['action'].args],
    ['commit', 'action', (p) => (p['action'].role.params = { p: 1 })],
    ['commit', 'action', (p) => (p['action'].role.extra = 1)],
    ['commit', 'delta', (p) => delete p['delta'].effects],
    ['commit', 'delta', (p) => (p['delta'].more = [])],
    ['commit', 'observations', (p) => (p['observations'] = [{ value: 1 }])],
    ['commit', 'observations', (p) => (p['observations'] = [{ name: 'n', oracle_key: 'no hash' }])],
    ['commit', 'observations', (p) => (p['observations'] = [{ name: 'n', more: 1 }])],
    ['commit', 'budget_cost', (p) => (p['budget_cost'] = { usd: -1 })],
    ['commit', 'budget_cost', (p) => (p['budget_cost'] = { usd: 0.5 })],
    ['commit', 'budget_cost', (p) => (p['budget_cost'] = { usd: '1' })],
    ['commit', 'policy', (p) => (p['policy'].decision = 'perhaps')],
    ['commit', 'policy', (p) => (p['policy'].digest = 'd')],
    ['commit', 'counselor', (p) => delete p['counselor'].method],
    ['commit', 'counselor', (p) => (p['counselor'].override = false)],
    ['rejection', 'intent', (p) => delete p['intent'].observations],
    ['rejection', 'reason', (p) => (p['reason'] = 'because')],
    ['delegation', 'begins', (p) => delete p['begins'].domain],
    ['delegation', 'begins', (p) => delete p['begins'].initial_state],
    ['delegation', 'begins', (p) => (p['begins'].domain.hash = 'd')],
    ['delegation', 'begins', (p) => (p['begins'].more = 1)],
    ['delegation', 'budget_cost', (p) => (p['budget_cost'] = { usd: -1 })],
    ['pending_approval', 'proposal', (p) => delete p['proposal'].approval],
    ['pending_approval', 'proposal', (p) => (p['proposal'].at = '2026-02-30T09:00:00.000000Z')],
    ['pending_approval', 'proposal', (p) => (p['proposal'].more = 1)],
    ['pending_approval', 'reason', (p) => (p['reason'] = 'counselor_rejected')],
    ['pending_approval', 'freezes', (p) => (p['freezes'] = 'everything')],
    ['pending_approval', 'freezes', (p) => (p['freezes'] = [1])],
    ['pending_approval', 'expires', (p) => (p['expires'] = '2026-03-23T09:00:00Z')],
  ];
  test.each(inside)('%s: %s', (kind, name, change) => {
    const payload = payloadOf(kind);
    change(payload);
    expect(payloadFault(payload)).toBe(`${name} is not valid`);
  });
});

test('a value that is not an object, or of no known kind, is not a payload', () => {
  for (const value of [
    null,
    1,
    'root',
    [],
    {},
    { kind: 'seal' },
    { kind: 'toString' },
    { kind: '__proto__' },
    { kind: 1 },
  ]) {
    expect(payloadFault(value)).toBe('the payload has an unknown kind');
  }
});

test('verify names a malformed entry by its seq', async () => {
  const wrong: [EntryKind, Loose][] = [
    ['commit', { ...commitMembers(), extra: 1 }],
    ['commit', { ...commitMembers(), delta: undefined }],
    ['rejection', { ...rejectionMembers(), reason: 'because' }],
    ['seal' as EntryKind, {}],
  ];
  for (const [kind, members] of wrong) {
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers());
    writer.add(kind, members as Record<string, Json>);
    const report = await verifyTrajectory(new Replayer(new RowsReader(writer.rows)), 't');
    expect(report).toMatchObject({
      valid: false,
      entries: 1,
      fault: { seq: 1, code: 'malformed' },
    });
  }
});
