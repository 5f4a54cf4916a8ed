import { describe, expect, test } from 'vitest';
import { disclosureInitial } from './index.ts';
import {
  type ActionName,
  committed,
  DIGEST,
  Office,
  type Place,
  SETTINGS,
  START,
} from './testing/office.ts';
import { addDays } from './time.ts';

const BETA = { organisation: 'beta', maintainer: 'libc' };

async function embargoed(): Promise<Office> {
  const office = await Office.open();
  await office.embargoed('a');
  await office.embargoed('b', BETA);
  return office;
}

const OTHERS: readonly (readonly [ActionName, string, unknown, Place?])[] = [
  ['assign_agent', 'b', { role: 'PatchTracking' }, { agent: 'ann' }],
  ['revise_severity', 'b', { severity: 'critical', reference: 'https://beta/advisory' }, BETA],
  ['observe_patch', 'b', { kind: 'commit', reference: 'https://beta/fix' }, BETA],
  ['publish_commitment', 'b', committed('b').publish, BETA],
  ['extend_embargo', 'b', { days: 1, reason: 'asked for' }, BETA],
];

/** All work on another vulnerability continues while a coordinator's decision is pending. */
async function goesOn(office: Office): Promise<void> {
  for (const proposal of OTHERS)
    expect(await office.propose(...proposal)).toMatchObject({ ruling: 'committed' });
}

describe('an action that reverts something needs a coordinator', () => {
  const table: readonly [
    rule: string,
    says: string,
    proposal: readonly [ActionName, string, unknown, Place?],
    given?: (office: Office) => Promise<void>,
  ][] = [
    [
      'EMBARGO_EXTENSION_IS_APPROVED',
      '15 days more',
      ['extend_embargo', 'a', { days: 15, reason: 'asked for' }],
    ],
    [
      'EMBARGO_EXTENSION_IS_APPROVED',
      'one day after 14 that nobody approved',
      ['extend_embargo', 'a', { days: 1, reason: 'asked for again' }],
      (office) => office.done('extend_embargo', 'a', { days: 14, reason: 'asked for' }),
    ],
    [
      'SEVERITY_LOWERED_IS_APPROVED',
      'a lower severity',
      ['revise_severity', 'a', { severity: 'medium', reference: 'https://acme/advisory' }],
    ],
    [
      'PUBLIC_KNOWLEDGE_IS_CONFIRMED',
      'that it is publicly known',
      ['observe_publication', 'a', { status: 'publicly-known', reference: 'https://blog' }],
    ],
    [
      'GROUP_LEFT_IS_APPROVED',
      'leaving a group',
      ['leave_group', 'a', { reason: 'b is stuck' }],
      (office) => office.done('join_group', 'a', { planned_at: START }),
    ],
  ];

  test.each(table)('%s: %s', async (rule, _, proposal, given = async () => {}) => {
    const office = await embargoed();
    await given(office);
    const before = office.state;
    const ruling = await office.propose(...proposal);
    expect(ruling).toMatchObject({
      ruling: 'escalated',
      invariantId: rule,
      channel: 'coordinator',
    });
    expect(office.state).toEqual(before);
    if (ruling.ruling !== 'escalated') return;
    const nobody = { principal: 'agent:Disclosure', method: 'test' };
    await expect(office.trajectory.approvals.approve(ruling.pending, nobody)).rejects.toMatchObject(
      {
        code: 'unauthorised_counselor',
      },
    );

    await goesOn(office);
    const grace = { principal: 'coordinator:grace', method: 'test' };
    expect(await office.trajectory.approvals.approve(ruling.pending, grace)).toMatchObject({
      ruling: 'committed',
    });
    expect(JSON.stringify(office.state)).toContain('coordinator:grace');
  });

  test.each(table)(
    '%s: %s, may be refused',
    async (_rule, _says, proposal, given = async () => {}) => {
      const office = await embargoed();
      await given(office);
      const before = office.state;
      const ruling = await office.propose(...proposal);
      if (ruling.ruling !== 'escalated') throw new Error('it must wait');
      const no = { principal: 'coordinator:grace', method: 'test', reason: 'not yet' };
      expect(await office.trajectory.approvals.reject(ruling.pending, no)).toMatchObject({
        reason: 'counselor_rejected',
      });
      expect(office.state).toEqual(before);
    },
  );

  test('an action that reverts nothing needs no coordinator', async () => {
    const office = await embargoed();
    await office.done('extend_embargo', 'a', { days: 14, reason: 'asked for' });
    await office.done('revise_severity', 'a', {
      severity: 'critical',
      reference: 'https://acme/advisory',
    });
    await office.done('observe_publication', 'a', {
      status: 'suspected',
      reference: 'https://blog',
    });
    expect(office.state.queue['acme']?.['kernel']?.['a']?.embargo?.deadline).toBe(
      addDays(START, 104),
    );
    expect(office.state.severities['a']).toMatchObject({ initial: 'high', current: 'critical' });
  });

  test('an extension that was approved leaves the days that are free', async () => {
    const office = await embargoed();
    await office.approved('extend_embargo', 'a', { days: 30, reason: 'asked for' });
    await office.done('extend_embargo', 'a', { days: 14, reason: 'asked for again' });
    expect(office.state.queue['acme']?.['kernel']?.['a']?.embargo?.deadline).toBe(
      addDays(START, 134),
    );
  });
});

describe('each role sees the slice that Table 3 gives it', () => {
  const seen = (office: Office, role: string, params: Record<string, string>): string[] =>
    leaves(office.trajectory.slice(role, params)).filter((path) => !path.startsWith('/settings/'));

  /** The keys of a slice, two levels deep below the collections with several keys. */
  function leaves(slice: unknown): string[] {
    return Object.entries(slice as Record<string, Record<string, Record<string, object>>>).flatMap(
      ([name, rows]) => {
        const depth = name === 'queue' ? 3 : name === 'reports' ? 2 : 1;
        return keysTo(rows, depth).map((keys) => `/${name}/${keys.join('/')}`);
      },
    );
  }

  function keysTo(rows: unknown, depth: number): string[][] {
    const entries = Object.entries(rows as Record<string, unknown>);
    if (depth === 1) return entries.map(([key]) => [key]);
    return entries.flatMap(([key, inner]) =>
      keysTo(inner, depth - 1).map((keys) => [key, ...keys]),
    );
  }

  async function busy(): Promise<Office> {
    const office = await embargoed();
    await office.registered('c', { maintainer: 'net' });
    for (const [v, place] of [
      ['a', {}],
      ['b', BETA],
    ] as const) {
      await office.fixed(v, place);
      await office.done(
        'observe_cve',
        v,
        { cve: v === 'a' ? 'CVE-2026-1000' : 'CVE-2026-1001', source: 'assigned' },
        place,
      );
      await office.done('publish_commitment', v, committed(v).publish, place);
      await office.ready(v, { ...place, group: 'g' }, { cves: [] });
    }
    return office;
  }

  test('Reporter Coordination: its queue and rate status', async () => {
    const kernel = { organisation: 'acme', maintainer: 'kernel', vulnerability: 'a' };
    expect(seen(await busy(), 'ReporterCoordination', kernel)).toEqual([
      '/queue/acme/kernel/a',
      '/reports/acme/kernel',
    ]);
  });

  test('Patch Tracking: one vulnerability', async () => {
    const slice = seen(await busy(), 'PatchTracking', {
      agent: 'tracker@acme',
      vulnerability: 'a',
    });
    expect(slice).toEqual([
      '/assignments/tracker@acme',
      '/cves/a',
      '/patches/a',
      '/severities/a',
      '/signals/a',
    ]);
  });

  test('Commitment Management: the hashes of one vulnerability', async () => {
    const slice = seen(await busy(), 'CommitmentManagement', {
      agent: 'keeper@acme',
      vulnerability: 'a',
    });
    expect(slice).toEqual(['/assignments/keeper@acme', '/commitments/a']);
  });

  test('Disclosure: its vulnerability, and the group entries of its peers', async () => {
    const office = await busy();
    const params = { group: 'g', organisation: 'acme', maintainer: 'kernel', vulnerability: 'a' };
    expect(seen(office, 'Disclosure', params)).toEqual([
      '/commitments/a',
      '/cves/a',
      '/groups/g',
      '/patches/a',
      '/queue/acme/kernel/a',
      '/records/a',
      '/signals/a',
    ]);
    const { groups } = office.trajectory.slice('Disclosure', params) as {
      groups: Record<string, { members: object }>;
    };
    expect(Object.keys(groups['g']?.members ?? {})).toEqual(['a', 'b']);
  });

  test('and an unassigned agent can do nothing', async () => {
    const office = await busy();
    for (const agent of ['eve', 'tracker@beta', 'keeper@acme']) {
      expect(await office.propose('request_cve', 'a', {}, { agent })).toMatchObject({
        reason: 'precondition_failed',
      });
    }
  });
});

test('an initial state with a patch that no signal mentions is refused', async () => {
  const initial = disclosureInitial(SETTINGS);
  const at = START;
  const developed = { signal: 0, at };
  const signal = { kind: 'commit', reference: 'https://acme/fix', at } as const;
  const with_ = (signals: (typeof signal)[], patch: object) =>
    Office.open({
      initial: { ...initial, signals: { a: signals }, patches: { a: [{ developed, ...patch }] } },
    });
  await expect(with_([], {})).rejects.toThrow(/PATCH_RESTS_ON_SIGNALS/);
  await expect(with_([signal], { released: developed })).rejects.toThrow(/PATCH_RESTS_ON_SIGNALS/);
  await expect(with_([signal], {})).resolves.toBeInstanceOf(Office);
});

test('a nonsensical record is refused before any rule is checked', async () => {
  const office = await embargoed();
  const refused: readonly (readonly [ActionName, string, unknown, Place?])[] = [
    ['register_vulnerability', 'a', { component: 'x', severity: 'low' }],
    ['triage_vulnerability', 'a', { note: 'x' }],
    ['triage_vulnerability', 'none', { note: 'x' }],
    ['submit_report', 'a', { digest: DIGEST }],
    ['submit_report', 'none', { digest: DIGEST }],
    ['acknowledge_report', 'a', { reference: 'ticket 2' }],
    ['begin_embargo', 'a', { regime: 'standard' }],
    ['review_patch', 'a', { robust: true, note: 'x' }],
    ['observe_release', 'a', { kind: 'release', reference: 'x' }],
    ['revise_severity', 'a', { severity: 'high', reference: 'x' }],
    ['assert_readiness', 'a', { cves: [], attribution: [] }],
    ['execute_disclosure', 'a', { resolved: [] }],
    ['leave_group', 'a', { reason: 'x' }],
    ['assign_agent', 'none', { role: 'PatchTracking' }, { agent: 'ann' }],
    ['release_agent', 'a', {}, { agent: 'ann' }],
  ];
  const before = office.state;
  for (const proposal of refused) {
    expect(await office.propose(...proposal), proposal[0]).toMatchObject({
      reason: 'precondition_failed',
    });
  }
  expect(office.state).toEqual(before);
});
