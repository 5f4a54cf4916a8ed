import { describe, expect, test } from 'vitest';
import { type SlicedAgent, skewOf } from '../../../tests/support/models/write-skew.ts';
import { disclosure } from './index.ts';
import { committed, DIGEST, Office, RECORD, START } from './testing/office.ts';

// Each agent decides by its slice alone, and proposes the next step of its work.

interface Case {
  readonly says: string;
  readonly rule: string;
  readonly given: (office: Office) => Promise<void>;
  readonly agents: readonly [SlicedAgent, SlicedAgent];
}

const ACME = { organisation: 'acme', maintainer: 'kernel' };
const BETA = { organisation: 'beta', maintainer: 'libc' };
const B_IN_G = { ...BETA, group: 'g' };
const { publish } = committed('a');

/** Reports the pending vulnerabilities of the queue, within the limit of the maintainer. */
const reporter = (vulnerability: string): SlicedAgent => ({
  role: { name: 'ReporterCoordination', params: { ...ACME, vulnerability } },
  decide: ({ reports, settings }) =>
    reports.acme.kernel.length < settings.rate_limit.reports
      ? { action: 'submit_report', args: { digest: DIGEST } }
      : undefined,
});

/** Requests a longer embargo, within the days that need no approval. */
const extender = (vulnerability: string): SlicedAgent => ({
  role: { name: 'ReporterCoordination', params: { ...BETA, vulnerability } },
  decide: ({ queue, settings }) =>
    queue.beta.libc[vulnerability].phase === 'EMBARGOED'
      ? {
          action: 'extend_embargo',
          args: { days: settings.embargo.extension_days, reason: 'the release slips' },
        }
      : undefined,
});

/** Has seen an identifier in an advisory, and the record of its vulnerability has none. */
const tracker = (
  vulnerability: string,
  { organisation }: { organisation: string },
): SlicedAgent => ({
  role: { name: 'PatchTracking', params: { agent: `tracker@${organisation}`, vulnerability } },
  decide: ({ cves }) =>
    Object.keys(cves[vulnerability].assigned).length === 0
      ? { action: 'observe_cve', args: { cve: 'CVE-2026-1000', source: 'assigned' } }
      : undefined,
});

/** Commits to the artifacts of its vulnerability, unless it has done so. */
const keeper = (
  vulnerability: string,
  { organisation }: { organisation: string },
): SlicedAgent => ({
  role: {
    name: 'CommitmentManagement',
    params: { agent: `keeper@${organisation}`, vulnerability },
  },
  decide: ({ commitments }) =>
    commitments?.[vulnerability] === undefined
      ? { action: 'publish_commitment', args: publish }
      : undefined,
});

/**
 * Discloses a ready vulnerability with all commitments (none here), once each member of its group
 * is ready.
 */
const discloser = (vulnerability: string, group: string): SlicedAgent => ({
  role: { name: 'Disclosure', params: { ...ACME, group, vulnerability } },
  decide: ({ groups, commitments }) =>
    Object.values<any>(groups[group].members).every(({ ready_at }) => ready_at !== undefined) &&
    commitments?.[vulnerability] === undefined
      ? { action: 'execute_disclosure', args: { resolved: [] } }
      : undefined,
});

const CASES: readonly Case[] = [
  {
    says: 'two reports, each the last that a maintainer may get',
    rule: 'MAINTAINER_RATE_LIMIT',
    given: async (office) => {
      for (const v of ['a', 'b', 'c']) await office.registered(v);
      await office.done('submit_report', 'a', { digest: DIGEST });
      office.later({ hours: 1 });
    },
    agents: [reporter('b'), reporter('c')],
  },
  {
    says: 'one identifier, observed by the agents of two vulnerabilities',
    rule: 'CVE_ATTRIBUTION_UNIQUENESS',
    given: async (office) => {
      await office.registered('a');
      await office.registered('b', BETA);
    },
    agents: [tracker('a', ACME), tracker('b', BETA)],
  },
  {
    says: 'one hash, published by the agents of two vulnerabilities',
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY_PUBLISHED_ONCE',
    given: async (office) => {
      await office.registered('a');
      await office.registered('b', BETA);
    },
    agents: [keeper('a', ACME), keeper('b', BETA)],
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
    agents: [discloser('a', 'g'), extender('b')],
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
    agents: [discloser('a', 'a'), keeper('a', ACME)],
  },
];

describe.each(CASES)('$says', ({ rule, given, agents }) => {
  test('agents right by slice together break the rule; kernel stops the second', async () => {
    const office = await Office.open();
    await given(office);
    expect(skewOf(disclosure, office.state, office.now, agents)).toEqual({
      alone: [[], []],
      withoutKernel: [[rule], [rule]],
      withKernel: [
        ['approved', rule],
        ['approved', rule],
      ],
      broken: [],
    });
  });
});
