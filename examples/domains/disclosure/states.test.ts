import { type Domain, detectionVector } from 'assize/internal/kernel';
import { beforeAll, expect, test } from 'vitest';
import { type DisclosureState, disclosure } from './index.ts';
import { committed, DIGEST, Office, START } from './testing/office.ts';
import { addDays } from './time.ts';

// States that no action writes are refused too: rules check states of any origin.

const BETA = { organisation: 'beta', maintainer: 'libc', group: 'g' };
const A = committed('a');
let base: DisclosureState;

/**
 * Two vulnerabilities in a group, one of them disclosed, and a third that was reported after the
 * first.
 */
beforeAll(async () => {
  const office = await Office.open();
  await office.embargoed('a');
  await office.embargoed('b', BETA);
  await office.registered('c');
  office.later({ hours: 1 });
  await office.done('submit_report', 'c', { digest: DIGEST });
  await office.done('publish_commitment', 'a', A.publish);
  await office.done('revise_severity', 'a', { severity: 'critical', reference: 'acme says so' });
  for (const cve of ['CVE-2026-1000', 'CVE-2026-1001'])
    await office.done('observe_cve', 'a', { cve, source: 'assigned' });
  await office.fixed('a');
  await office.fixed('b', BETA);
  office.later({ days: 90 });
  await office.done('resolve_commitment', 'a', A.resolve);
  await office.ready('a', { group: 'g' }, { cves: ['CVE-2026-1000', 'CVE-2026-1001'] });
  await office.ready('b', BETA);
  await office.done('execute_disclosure', 'a', { resolved: [A.hash] }, { group: 'g' });
  base = office.state;
});

const failing = (state: DisclosureState): string[] =>
  detectionVector(disclosure as Domain, state as never)
    .filter(({ result }) => result !== 'pass')
    .map(({ invariant_id }) => invariant_id);

const entryOf = ({ queue }: DisclosureState) => queue['acme']!['kernel']!['a']!;
const reportsOf = ({ reports }: DisclosureState) => reports['acme']!['kernel']!;
const LATER = addDays(START, 200);

const FORGED: readonly (readonly [
  rule: string,
  says: string,
  forge: (state: DisclosureState) => void,
])[] = [
  [
    'MAINTAINER_RATE_LIMIT',
    'a report by another limit',
    (state) => {
      reportsOf(state)[0]!.limit = 3;
    },
  ],
  [
    'MAINTAINER_RATE_LIMIT',
    'reports out of order',
    (state) => {
      reportsOf(state)[0]!.at = LATER;
    },
  ],
  [
    'COMMITMENT_REGISTRY_CONSISTENCY',
    'an opening before its commitment',
    ({ commitments }) => {
      commitments['a']![A.hash]!.at = LATER;
    },
  ],
  [
    'DISCLOSURE_TIMELINE_CONSISTENCY',
    'a peer that was ready for another group',
    ({ records }) => {
      records['b']!.group = 'h';
    },
  ],
  [
    'DISCLOSURE_TIMELINE_CONSISTENCY',
    'a peer that was not ready by then',
    ({ records }) => {
      records['b']!.ready_at = LATER;
    },
  ],
  [
    'CVE_ATTRIBUTION_CONSISTENCY',
    'one of two identifiers, and one that came later',
    ({ records, cves }) => {
      cves['a']!.assigned['CVE-2026-1002'] = { source: 'assigned', at: LATER };
      records['a']!.cves = ['CVE-2026-1000', 'CVE-2026-1002'];
    },
  ],
  [
    'DISCLOSURE_COMPLETENESS',
    'neither a link nor a reason, though it is fixed',
    ({ records }) => {
      delete records['a']!.patch_link;
      records['a']!.patch_unavailable = 'they do not answer';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'an entry with another maintainer’s queue',
    ({ vulnerabilities }) => {
      vulnerabilities['a']!.maintainer = 'net';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'an entry with another organisation’s queue',
    ({ vulnerabilities }) => {
      vulnerabilities['a']!.organisation = 'beta';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'a record of somebody else',
    ({ records }) => {
      records['a']!.maintainer = 'net';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'another phase',
    (state) => {
      entryOf(state).phase = 'EMBARGOED';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'a triage after its report',
    (state) => {
      entryOf(state).triaged = { at: LATER, note: 'late' };
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'another one’s report',
    (state) => {
      reportsOf(state)[0]!.vulnerability = 'c';
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'another time of the report',
    (state) => {
      reportsOf(state)[0]!.at = addDays(START, -1);
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'an embargo of other days',
    (state) => {
      entryOf(state).embargo!.days = 89;
    },
  ],
  [
    'PHASE_FOLLOWS_RECORD',
    'another deadline',
    (state) => {
      entryOf(state).embargo!.deadline = START;
    },
  ],
  [
    'PATCH_RESTS_ON_SIGNALS',
    'a release that no signal is of',
    ({ signals }) => {
      for (const signal of signals['a']!) if (signal.kind === 'release') signal.kind = 'cve';
    },
  ],
  [
    'SEVERITY_LOWERED_IS_APPROVED',
    'a revision of another severity',
    ({ severities }) => {
      severities['a']!.revisions[0]!.from = 'low';
    },
  ],
  [
    'SEVERITY_LOWERED_IS_APPROVED',
    'a severity that no revision leads to',
    ({ severities }) => {
      severities['a']!.current = 'low';
    },
  ],
];

test('nothing is wrong with the state that is forged', () => expect(failing(base)).toEqual([]));

test.each(FORGED)('%s refuses %s', (rule, _, forge) => {
  const state = structuredClone(base);
  forge(state);
  expect(failing(state)).toContain(rule);
});
