import { type Authority, adjudicate, detectionVector, type Intent, initialState, World } from 'assize/kernel';
import { describe, expect, test } from 'vitest';
import { rfc6902 } from '../../tests/support/naive-patch.ts';
import { ROLE_OF } from './actions.ts';
import { type DisclosureState, disclosure } from './index.ts';
import { roles } from './processes.ts';
import { type ActionName, committed, DIGEST, Office, type Place, RECORD, START } from './testing/office.ts';

// Write skew (seed 000, Definition A.55): two agents each propose something lawful on what they see, and together it is not.

type Proposal = readonly [action: ActionName, vulnerability: string, args: unknown, place?: Place];

interface Skew {
  readonly says: string;
  readonly rule: string;
  readonly given: (office: Office) => Promise<void>;
  readonly both: readonly [Proposal, Proposal];
}

const BETA = { organisation: 'beta', maintainer: 'libc' };
const B_IN_G = { ...BETA, group: 'g' };

const SKEWS: readonly Skew[] = [
  {
    says: 'two reports, each the last that a maintainer may get',
    rule: 'MAINTAINER_RATE_LIMIT',
    given: async (office) => {
      for (const v of ['a', 'b', 'c']) await office.registered(v);
      await office.done('submit_report', 'a', { digest: DIGEST });
      office.later({ hours: 1 });
    },
    both: [
      ['submit_report', 'b', { digest: DIGEST }],
      ['submit_report', 'c', { digest: DIGEST }],
    ],
  },
  {
    says: 'one identifier, observed by the agents of two vulnerabilities',
    rule: 'CVE_ATTRIBUTION_UNIQUENESS',
    given: async (office) => {
      await office.registered('a');
      await office.registered('b', BETA);
    },
    both: [
      ['observe_cve', 'a', { cve: 'CVE-2026-1000', source: 'assigned' }],
      ['observe_cve', 'b', { cve: 'CVE-2026-1000', source: 'assigned' }, BETA],
    ],
  },
  {
    says: 'one hash, published by the agents of two vulnerabilities',
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY_PUBLISHED_ONCE',
    given: async (office) => {
      await office.registered('a');
      await office.registered('b', BETA);
    },
    both: [
      ['publish_commitment', 'a', committed('a').publish],
      ['publish_commitment', 'b', committed('a').publish, BETA],
    ],
  },
  {
    says: 'a disclosure, and a longer embargo of a vulnerability in its group',
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    given: async (office) => {
      await office.embargoed('a');
      await office.embargoed('b', BETA);
      await office.fixed('a');
      await office.fixed('b', BETA);
      office.later({ days: 90 });
      await office.ready('a', { group: 'g' });
      await office.done('join_group', 'b', { planned_at: START }, B_IN_G);
      await office.done('assert_readiness', 'b', RECORD, B_IN_G);
    },
    both: [
      ['execute_disclosure', 'a', { resolved: [] }, { group: 'g' }],
      ['extend_embargo', 'b', { days: 10, reason: 'the release slips' }, BETA],
    ],
  },
  {
    says: 'a disclosure, and a commitment to the same vulnerability',
    rule: 'DISCLOSURE_COMPLETENESS',
    given: async (office) => {
      await office.embargoed('a');
      await office.fixed('a');
      office.later({ days: 90 });
      await office.ready('a');
    },
    both: [
      ['execute_disclosure', 'a', { resolved: [] }],
      ['publish_commitment', 'a', committed('a').publish],
    ],
  },
];

const ANYONE: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/** What an agent that asks nobody would write to the log: lawful, as far as it goes by the state that it began with. */
function written({ state, now }: Office, proposal: Proposal): object[] {
  const world = new World(disclosure as never, initialState(disclosure as never, state));
  const ruling = adjudicate(world, intentOf(proposal), ANYONE, { at: now, observations: [] });
  if (ruling.verdict !== 'approved') throw new Error(`alone it is not lawful either: ${JSON.stringify(ruling)}`);
  return structuredClone(ruling.patches());
}

function intentOf([action, vulnerability, args, { organisation = 'acme', ...place } = {}]: Proposal): Intent {
  const name = ROLE_OF[action];
  const agent = `${name === 'CommitmentManagement' ? 'keeper' : 'tracker'}@${organisation}`;
  const all: Record<string, string> = {
    organisation,
    maintainer: 'kernel',
    agent,
    group: vulnerability,
    ...place,
    vulnerability,
  };
  const params = Object.fromEntries(roles[name].params.map((param) => [param, all[param] as string]));
  return { action, role: { name, params }, args } as unknown as Intent;
}

/** The rules that a state breaks. */
function brokenIn(state: DisclosureState): string[] {
  const vector = detectionVector(disclosure as never, initialState(disclosure as never, state));
  return vector.filter(({ result }) => result !== 'pass').map(({ invariant_id }) => invariant_id);
}

describe.each(SKEWS)('$says', ({ rule, given, both }) => {
  test('without the kernel both are written, and the rule is broken', async () => {
    const office = await Office.open();
    await given(office);
    const log = both.map((proposal) => written(office, proposal));
    const merged = log.reduce(
      (state, patch) => rfc6902(state as never, renumbered(state, patch) as never) as never,
      office.state,
    );
    expect(brokenIn(merged)).toContain(rule);
  });

  test.each([[both], [[...both].reverse()]])(
    'with it the first is committed, and the second refused, in either order',
    async (ordered) => {
      const office = await Office.open();
      await given(office);
      const rulings = await Promise.all(ordered.map((proposal) => office.propose(...(proposal as Proposal))));
      expect(rulings).toMatchObject([{ ruling: 'committed' }, { ruling: 'rejected', invariantId: rule }]);
      expect(brokenIn(office.state)).toEqual([]);
    },
  );
});

/** A shared log puts what is appended to a list behind what others have appended. */
function renumbered(state: object, patch: readonly object[]): object[] {
  return (patch as { op: string; path: string; value: unknown }[]).map((operation) => {
    const [, list = '', index] = /^(\/reports\/.*)\/(\d+)$/.exec(operation.path) ?? [];
    if (operation.op !== 'add' || index === undefined) return operation;
    const rows = list
      .split('/')
      .slice(1)
      .reduce((here, key) => (here as Record<string, object>)[key] as object, state);
    return { ...operation, path: `${list}/${(rows as unknown[]).length}` };
  });
}
