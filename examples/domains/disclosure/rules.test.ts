import { type Domain, defineDomain } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { disclosure } from './index.ts';
import {
  type ActionName,
  committed,
  DIGEST,
  Office,
  type Place,
  RECORD,
  START,
} from './testing/office.ts';
import { addDays } from './time.ts';

/** The lines of Agentic Redux, Table 2, by name. One line has three rules. */
const TABLE_2 = [
  'MAINTAINER_RATE_LIMIT',
  'COMMITMENT_REGISTRY_CONSISTENCY',
  'COMMITMENT_REGISTRY_CONSISTENCY_PUBLISHED_ONCE',
  'COMMITMENT_REGISTRY_CONSISTENCY_RESOLVED_ONCE',
  'DISCLOSURE_TIMELINE_CONSISTENCY',
  'RECEIVING_ORG_CONFINEMENT',
  'PATCH_BEFORE_DISCLOSURE',
  'EMBARGO_ENFORCEMENT',
  'CVE_ATTRIBUTION_CONSISTENCY',
  'CVE_ATTRIBUTION_UNIQUENESS',
  'DISCLOSURE_COMPLETENESS',
];

test('the rules are Table 2, process preconditions and human decisions', () => {
  expect(disclosure.rules.map(({ id }) => id)).toEqual([
    ...TABLE_2,
    'PHASE_FOLLOWS_RECORD',
    'OPENED_AFTER_EMBARGO',
    'PATCH_RESTS_ON_SIGNALS',
    'EMBARGO_EXTENSION_IS_APPROVED',
    'SEVERITY_LOWERED_IS_APPROVED',
    'PUBLIC_KNOWLEDGE_IS_CONFIRMED',
    'GROUP_LEFT_IS_APPROVED',
  ]);
});

type Proposal = readonly [action: ActionName, vulnerability: string, args?: unknown, place?: Place];

interface Case {
  readonly rule: string;
  readonly says: string;
  /** The state before the proposal. */
  readonly given: (office: Office) => Promise<void>;
  readonly blocked: Proposal;
  /** The change that makes it pass: the preceding steps, and another proposal if it differs. */
  readonly but: readonly [
    says: string,
    first: (office: Office) => Promise<void>,
    instead?: Proposal,
  ][];
}

const BETA = { organisation: 'beta', maintainer: 'libc' };
const nothing = async () => {};
const A = committed('a');

async function overdue(office: Office): Promise<void> {
  await office.embargoed('a');
  office.later({ days: 90 });
}

/** Fixed, ready and past its embargo: only the disclosure is left. */
async function due(office: Office): Promise<void> {
  await overdue(office);
  await office.fixed('a');
  await office.ready('a');
}

async function pair(office: Office): Promise<void> {
  await office.embargoed('a');
  await office.embargoed('b', BETA);
  await office.fixed('a');
  office.later({ days: 90 });
  await office.ready('a', { group: 'g' });
  await office.done('join_group', 'b', { planned_at: START }, { ...BETA, group: 'g' });
}

async function twoCves(office: Office): Promise<void> {
  await overdue(office);
  await office.fixed('a');
  for (const cve of ['CVE-2026-1000', 'CVE-2026-1001']) {
    await office.done('observe_cve', 'a', { cve, source: 'assigned' });
  }
}

async function openable(office: Office): Promise<void> {
  await office.embargoed('a');
  await office.done('publish_commitment', 'a', A.publish);
}

const execute: Proposal = ['execute_disclosure', 'a', { resolved: [] }];
const executeInG: Proposal = ['execute_disclosure', 'a', { resolved: [] }, { group: 'g' }];

const CASES: readonly Case[] = [
  {
    rule: 'MAINTAINER_RATE_LIMIT',
    says: 'a third report to a maintainer in 48 hours',
    given: async (office) => {
      for (const v of ['a', 'b']) {
        await office.registered(v);
        await office.done('submit_report', v, { digest: DIGEST });
        office.later({ hours: 1 });
      }
      await office.registered('c');
      await office.registered('d', { maintainer: 'net' });
      await office.registered('e', { ...BETA, maintainer: 'kernel' });
      office.later({ hours: 45 });
    },
    blocked: ['submit_report', 'c', { digest: DIGEST }],
    but: [
      ['48 hours after the first of two', async (office) => office.later({ hours: 1 })],
      [
        'to another maintainer',
        nothing,
        ['submit_report', 'd', { digest: DIGEST }, { maintainer: 'net' }],
      ],
      [
        'to a maintainer of that name elsewhere',
        nothing,
        ['submit_report', 'e', { digest: DIGEST }, { ...BETA, maintainer: 'kernel' }],
      ],
    ],
  },
  {
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY',
    says: 'an opening with another salt',
    given: async (office) => {
      await openable(office);
      office.later({ days: 90 });
    },
    blocked: ['resolve_commitment', 'a', { ...A.resolve, salt: 'another salt' }],
    but: [['with the salt that was used', nothing, ['resolve_commitment', 'a', A.resolve]]],
  },
  {
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY',
    says: 'an opening with another artifact',
    given: async (office) => {
      await openable(office);
      office.later({ days: 90 });
    },
    blocked: ['resolve_commitment', 'a', { ...A.resolve, digest: A.hash }],
    but: [['with the artifact itself', nothing, ['resolve_commitment', 'a', A.resolve]]],
  },
  {
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY',
    says: 'an opening of what was never published',
    given: async (office) => {
      await overdue(office);
    },
    blocked: ['resolve_commitment', 'a', A.resolve],
    but: [['once it is published', (office) => office.done('publish_commitment', 'a', A.publish)]],
  },
  {
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY_PUBLISHED_ONCE',
    says: 'a hash for two vulnerabilities',
    given: async (office) => {
      await openable(office);
      await office.registered('b');
    },
    blocked: ['publish_commitment', 'b', A.publish],
    but: [['its own hash', nothing, ['publish_commitment', 'b', committed('b').publish]]],
  },
  {
    rule: 'COMMITMENT_REGISTRY_CONSISTENCY_RESOLVED_ONCE',
    says: 'a second opening',
    given: async (office) => {
      await openable(office);
      await office.done('publish_commitment', 'a', committed('a', 'poc').publish);
      office.later({ days: 90 });
      await office.done('resolve_commitment', 'a', A.resolve);
    },
    blocked: ['resolve_commitment', 'a', A.resolve],
    but: [
      [
        'of another commitment',
        nothing,
        ['resolve_commitment', 'a', committed('a', 'poc').resolve],
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a member while its peer has not been found ready',
    given: async (office) => {
      await pair(office);
      await office.fixed('b', BETA);
    },
    blocked: executeInG,
    but: [
      [
        'when it has',
        (office) => office.done('assert_readiness', 'b', RECORD, { ...BETA, group: 'g' }),
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a member while its peer has no fix',
    given: async (office) => {
      await pair(office);
      await office.done('assert_readiness', 'b', RECORD, { ...BETA, group: 'g' });
    },
    blocked: executeInG,
    but: [['when it has one', (office) => office.fixed('b', BETA)]],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a member while its peer is under embargo',
    given: async (office) => {
      await pair(office);
      await office.fixed('b', BETA);
      await office.done('extend_embargo', 'b', { days: 10, reason: 'asked for' }, BETA);
      await office.done('assert_readiness', 'b', RECORD, { ...BETA, group: 'g' });
    },
    blocked: executeInG,
    but: [['ten days later', async (office) => office.later({ days: 10 })]],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a group before the time that is planned',
    given: async (office) => {
      await overdue(office);
      await office.fixed('a');
      await office.done('join_group', 'a', { planned_at: addDays(START, 91) });
      await office.done('assert_readiness', 'a', RECORD);
    },
    blocked: execute,
    but: [['at that time', async (office) => office.later({ days: 1 })]],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a longer embargo when a peer is disclosed',
    given: async (office) => {
      await pair(office);
      await office.fixed('b', BETA);
      await office.done('assert_readiness', 'b', RECORD, { ...BETA, group: 'g' });
      await office.done(...executeInG);
    },
    blocked: ['extend_embargo', 'b', { days: 1, reason: 'late' }, BETA],
    but: [
      [
        'but the peer’s own disclosure',
        nothing,
        ['execute_disclosure', 'b', { resolved: [] }, { ...BETA, group: 'g' }],
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_TIMELINE_CONSISTENCY',
    says: 'a member that is disclosed with another group',
    given: async (office) => {
      await pair(office);
      await office.done('join_group', 'a', { planned_at: START });
      await office.done('assert_readiness', 'a', RECORD);
    },
    blocked: execute,
    but: [
      [
        'when a coordinator has let it go',
        async (office) => {
          await office.approved('leave_group', 'a', { reason: 'b is stuck' }, { group: 'g' });
          await office.done('assert_readiness', 'a', RECORD);
        },
      ],
    ],
  },
  {
    rule: 'RECEIVING_ORG_CONFINEMENT',
    says: 'an agent for two organisations',
    given: async (office) => {
      await due(office);
      await office.registered('b', BETA);
    },
    blocked: ['assign_agent', 'b', { role: 'PatchTracking' }, { agent: 'tracker@acme' }],
    but: [
      [
        'another agent',
        nothing,
        ['assign_agent', 'b', { role: 'PatchTracking' }, { agent: 'eve' }],
      ],
      ['when the first is disclosed', (office) => office.done(...execute)],
      [
        'when the first is taken from it',
        (office) => office.done('release_agent', 'a', {}, { agent: 'tracker@acme' }),
      ],
    ],
  },
  {
    rule: 'PATCH_BEFORE_DISCLOSURE',
    says: 'a fix that nobody has reviewed',
    given: async (office) => {
      await overdue(office);
      await office.done('observe_patch', 'a', { kind: 'commit', reference: 'https://acme/fix' });
      await office.done('observe_release', 'a', { kind: 'release', reference: 'acme 1.2' });
      await office.ready('a');
    },
    blocked: execute,
    but: [
      [
        'when it is reviewed',
        (office) => office.done('review_patch', 'a', { robust: true, note: 'closes it' }),
      ],
      [
        'when the record says why',
        (office) =>
          office.done('assert_readiness', 'a', {
            ...RECORD,
            patch_unavailable: 'they answer no more',
          }),
      ],
      [
        'when it is publicly known',
        async (office) => {
          await office.approved('observe_publication', 'a', {
            status: 'publicly-known',
            reference: 'https://blog',
          });
        },
      ],
    ],
  },
  {
    rule: 'EMBARGO_ENFORCEMENT',
    says: 'a disclosure before the end of the embargo',
    given: async (office) => {
      await office.embargoed('a');
      await office.fixed('a');
      await office.ready('a');
      office.later({ days: 89, hours: 23 });
    },
    blocked: execute,
    but: [
      ['at its end', async (office) => office.later({ hours: 1 })],
      [
        'when it is publicly known',
        async (office) => {
          await office.approved('observe_publication', 'a', {
            status: 'publicly-known',
            reference: 'https://blog',
          });
        },
      ],
    ],
  },
  {
    rule: 'CVE_ATTRIBUTION_CONSISTENCY',
    says: 'a record that names one of two identifiers',
    given: async (office) => {
      await twoCves(office);
      await office.ready('a', {}, { cves: ['CVE-2026-1001'] });
    },
    blocked: execute,
    but: [
      [
        'when it names both',
        (office) =>
          office.done('assert_readiness', 'a', {
            ...RECORD,
            cves: ['CVE-2026-1001', 'CVE-2026-1000'],
          }),
      ],
    ],
  },
  {
    rule: 'CVE_ATTRIBUTION_CONSISTENCY',
    says: 'a draft that names what is not assigned',
    given: async (office) => {
      await twoCves(office);
      await office.ready('a');
    },
    blocked: ['assert_readiness', 'a', { ...RECORD, cves: ['CVE-2026-2000'] }],
    but: [['what is', nothing, ['assert_readiness', 'a', { ...RECORD, cves: ['CVE-2026-1000'] }]]],
  },
  {
    rule: 'CVE_ATTRIBUTION_CONSISTENCY',
    says: 'a request where an identifier is on record',
    given: async (office) => {
      const known = { component: 'parser', severity: 'high', known_cve: 'CVE-2026-1000' };
      await office.done('register_vulnerability', 'a', known);
      await office.done('assign_agent', 'a', { role: 'PatchTracking' }, { agent: 'tracker@acme' });
      await office.registered('b');
    },
    blocked: ['request_cve', 'a'],
    but: [['where none is', nothing, ['request_cve', 'b']]],
  },
  {
    rule: 'CVE_ATTRIBUTION_CONSISTENCY',
    says: 'another identifier than the one on record',
    given: async (office) => {
      await overdue(office);
      await office.fixed('a');
      await office.done('observe_cve', 'a', { cve: 'CVE-2026-1000', source: 'deduplication' });
      await office.done('observe_cve', 'a', { cve: 'CVE-2026-1001', source: 'assigned' });
      await office.ready('a', {}, { cves: ['CVE-2026-1001'] });
    },
    blocked: execute,
    but: [
      [
        'that one',
        (office) => office.done('assert_readiness', 'a', { ...RECORD, cves: ['CVE-2026-1000'] }),
      ],
    ],
  },
  {
    rule: 'CVE_ATTRIBUTION_UNIQUENESS',
    says: 'an identifier for two vulnerabilities',
    given: async (office) => {
      await office.registered('a');
      await office.registered('b', BETA);
      await office.done('observe_cve', 'a', { cve: 'CVE-2026-1000', source: 'assigned' });
    },
    blocked: ['observe_cve', 'b', { cve: 'CVE-2026-1000', source: 'assigned' }, BETA],
    but: [
      [
        'its own',
        nothing,
        ['observe_cve', 'b', { cve: 'CVE-2026-1001', source: 'assigned' }, BETA],
      ],
    ],
  },
  ...(
    [
      ['attribution to nobody', { attribution: [' '] }, { attribution: ['Ann'] }],
      ['no link to the patch', { patch_link: undefined }, { patch_link: 'acme 1.2' }],
      [
        'a link to something else',
        { patch_link: 'https://elsewhere' },
        { patch_link: 'https://acme/fix' },
      ],
    ] as const
  ).map(
    ([says, lacks, has]): Case => ({
      rule: 'DISCLOSURE_COMPLETENESS',
      says,
      given: async (office) => {
        await overdue(office);
        await office.fixed('a');
        await office.done('join_group', 'a', { planned_at: START });
        await office.done('assert_readiness', 'a', withoutUndefined({ ...RECORD, ...lacks }));
      },
      blocked: execute,
      but: [['with it', (office) => office.done('assert_readiness', 'a', { ...RECORD, ...has })]],
    }),
  ),
  {
    rule: 'DISCLOSURE_COMPLETENESS',
    says: 'a link to a patch that a review found wanting, where a better one is released',
    given: async (office) => {
      await overdue(office);
      await office.done('observe_patch', 'a', { kind: 'commit', reference: 'https://acme/half' });
      await office.done('observe_release', 'a', { kind: 'release', reference: 'acme 1.1' });
      await office.done('review_patch', 'a', { robust: false, note: 'closes half of it' });
      await office.fixed('a');
      await office.ready('a', {}, { patch_link: 'https://acme/half' });
    },
    blocked: execute,
    but: [
      [
        'with where the better one was seen',
        (office) => office.done('assert_readiness', 'a', RECORD),
      ],
      [
        'with its release',
        (office) =>
          office.done('assert_readiness', 'a', {
            ...RECORD,
            patch_link: 'acme 1.2',
            attribution: [' ', 'Ann'],
          }),
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_COMPLETENESS',
    says: 'a link to a patch that is not released',
    given: async (office) => {
      await office.registered('a');
      await office.approved('observe_publication', 'a', {
        status: 'publicly-known',
        reference: 'https://blog',
      });
      await office.done('observe_patch', 'a', { kind: 'commit', reference: 'https://acme/fix' });
      await office.ready('a');
    },
    blocked: execute,
    but: [
      [
        'when it is released',
        (office) => office.done('observe_release', 'a', { kind: 'release', reference: 'acme 1.2' }),
      ],
      [
        'when the record says why there is none instead',
        (office) =>
          office.done('assert_readiness', 'a', {
            patch_unavailable: 'not yet',
            cves: [],
            attribution: ['Ann'],
          }),
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_COMPLETENESS',
    says: 'no identifier where one is assigned',
    given: async (office) => {
      await twoCves(office);
      await office.ready('a');
    },
    blocked: execute,
    but: [
      [
        'with both',
        (office) =>
          office.done('assert_readiness', 'a', {
            ...RECORD,
            cves: ['CVE-2026-1000', 'CVE-2026-1001'],
          }),
      ],
    ],
  },
  {
    rule: 'DISCLOSURE_COMPLETENESS',
    says: 'a commitment that is not opened',
    given: async (office) => {
      await due(office);
      await office.done('publish_commitment', 'a', A.publish);
    },
    blocked: ['execute_disclosure', 'a', { resolved: [A.hash] }],
    but: [['when it is', (office) => office.done('resolve_commitment', 'a', A.resolve)]],
  },
  {
    rule: 'DISCLOSURE_COMPLETENESS',
    says: 'a commitment that the record does not name',
    given: async (office) => {
      await due(office);
      await office.done('publish_commitment', 'a', A.publish);
      await office.done('resolve_commitment', 'a', A.resolve);
    },
    blocked: execute,
    but: [['when it does', nothing, ['execute_disclosure', 'a', { resolved: [A.hash] }]]],
  },
  {
    rule: 'PHASE_FOLLOWS_RECORD',
    says: 'an embargo that nobody has agreed to',
    given: async (office) => {
      await office.registered('a');
      await office.done('submit_report', 'a', { digest: DIGEST });
      office.later({ days: 6, hours: 23 });
    },
    blocked: ['begin_embargo', 'a', { regime: 'standard' }],
    but: [
      ['when the days for a reply are over', async (office) => office.later({ hours: 1 })],
      [
        'when there is a receipt',
        (office) => office.done('acknowledge_report', 'a', { reference: 'ticket 1' }),
      ],
    ],
  },
  {
    rule: 'OPENED_AFTER_EMBARGO',
    says: 'an opening under embargo',
    given: async (office) => {
      await openable(office);
      office.later({ days: 89 });
    },
    blocked: ['resolve_commitment', 'a', A.resolve],
    but: [
      ['after its end', async (office) => office.later({ days: 1 })],
      [
        'when it is publicly known',
        async (office) => {
          await office.approved('observe_publication', 'a', {
            status: 'publicly-known',
            reference: 'https://blog',
          });
        },
      ],
    ],
  },
];

function withoutUndefined(record: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function without(rule: string): Domain {
  const invariants = disclosure.rules.map(({ spec }) => spec).filter(({ id }) => id !== rule);
  return defineDomain({ ...disclosure.declared, invariants }) as Domain;
}

describe.each(CASES)('$rule: $says', ({ rule, given, blocked, but }) => {
  test('is refused, by this rule', async () => {
    const office = await Office.open();
    await given(office);
    expect(await office.propose(...blocked)).toMatchObject({
      ruling: 'rejected',
      invariantId: rule,
    });
  });

  test('is refused by no other', async () => {
    const office = await Office.open({ domain: without(rule) });
    await given(office);
    expect(await office.propose(...blocked)).toMatchObject({ ruling: 'committed' });
  });

  test.each(but)('%s it passes', async (_, first, instead = blocked) => {
    const office = await Office.open();
    await given(office);
    await first(office);
    expect(await office.propose(...instead)).toMatchObject({ ruling: 'committed' });
  });
});

test('a peer that is not EMBARGOED blocks disclosure, regardless of its record', async () => {
  const office = await Office.open();
  await pair(office);
  await office.fixed('b', BETA);
  await office.done('assert_readiness', 'b', RECORD, { ...BETA, group: 'g' });
  const initial = structuredClone(office.state);
  const entry = initial.queue['beta']?.['libc']?.['b'];
  if (entry !== undefined) entry.phase = 'ACKNOWLEDGED';
  const other = await Office.open({ initial, domain: without('PHASE_FOLLOWS_RECORD') });
  other.later({ days: 90 });
  expect(await other.propose(...executeInG)).toMatchObject({
    invariantId: 'DISCLOSURE_TIMELINE_CONSISTENCY',
  });
});

test.each(['CVE-2026-01000', 'CVE-2026-0001000', 'cve-2026-1000', 'CVE-2026-100'])(
  'an identifier has one spelling, so %s is not free for a second case',
  async (cve) => {
    const office = await Office.open();
    await office.registered('a');
    await office.registered('b');
    await office.done('observe_cve', 'a', { cve: 'CVE-2026-1000', source: 'assigned' });
    const known = { component: 'parser', severity: 'high', known_cve: cve };
    const refused = { ruling: 'rejected', reason: 'type_mismatch' };
    expect(await office.propose('observe_cve', 'b', { cve, source: 'assigned' })).toMatchObject(
      refused,
    );
    expect(await office.propose('register_vulnerability', 'c', known)).toMatchObject(refused);
    await office.done('observe_cve', 'b', { cve: 'CVE-2026-0100', source: 'assigned' });
    await office.done('observe_cve', 'b', { cve: 'CVE-2026-10000', source: 'assigned' });
  },
);

test('every line of Table 2 has its cases', () => {
  expect(
    [...new Set(CASES.map(({ rule }) => rule))].filter((rule) => TABLE_2.includes(rule)),
  ).toEqual(TABLE_2);
});
