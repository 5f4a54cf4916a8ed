import { MemoryStore } from '@assize/testing/memory';
import { writId } from 'assize/internal/authority';
import { type EntryRow, entryRow, integrateLog, readRow } from 'assize/internal/ledger';
import { describe, expect, test } from 'vitest';
import { incident } from '#incident-domain';
import { begun, granted, task, worker } from '../../../../tests/support/ledger/delegations.ts';
import { WITNESSES } from '../../../../tests/support/ledger/merkle-fixtures.ts';
import {
  AGENT_WRIT,
  ClaimsLedger,
  checkpointOf,
  SIGNER,
  WARDEN_WRIT,
  WATCHDOG_WRIT,
} from '../../../../tests/support/ledger/report-ledgers.ts';
import { intent, runtimeOver, writFor } from '../../../../tests/support/ledger/runtime.ts';
import { honestSettlements } from '../../../../tests/support/ledger/settlement-cases.ts';
import { FRAMEWORKS } from './frameworks/all.ts';
import type { Measure } from './measures/measure.ts';
import { reportHtml } from './render/html.ts';
import { reportMarkdown } from './render/markdown.ts';
import { type MeasureReport, makeReport, type ReportOptions } from './report.ts';

const DAY = 86_400_000;
const HALTER = writFor('security', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
  nonce: 'halter',
});

/** The finding of one measure. It is the same in each clause that has it. */
async function found(
  store: MemoryStore,
  id: string,
  options: ReportOptions = {},
): Promise<MeasureReport> {
  const report = await makeReport(store, options);
  const all = report.frameworks.flatMap(({ clauses }) =>
    clauses.flatMap(({ measures }) => measures),
  );
  const same = all.filter((measure) => measure.id === id);
  expect(same.length, id).toBeGreaterThan(0);
  for (const measure of same) expect(measure).toEqual(same[0]);
  return same[0]!;
}

async function claims(
  steps: (ledger: ClaimsLedger) => Promise<unknown> = async () => undefined,
  options = {},
) {
  const ledger = await ClaimsLedger.begin(options);
  await steps(ledger);
  return ledger.store;
}

const two = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.decided('dr-a');
  await ledger.decided('dr-b', { minutes: 5, reason: 'fits the rule' });
};

/** Each line: a measure, ledgers that show it or show a gap, and the figure of each. */
const LINES: readonly (readonly [
  id: string,
  status: MeasureReport['status'],
  figure: string | RegExp,
  make: () => Promise<MemoryStore>,
  options?: (store: MemoryStore) => Promise<ReportOptions>,
])[] = [
  ['records.entries', 'shown', '5 entries of 1 trajectory', () => claims(two)],
  ['records.entries', 'gap', '0 entries of 0 trajectories', async () => new MemoryStore()],
  ['records.verified', 'shown', '5 entries in scope verify', () => claims(two)],
  ['records.verified', 'gap', 'the log is empty', async () => new MemoryStore()],
  [
    'records.verified',
    'gap',
    /^1 fault\. The first: t seq 1: /,
    async () => tampered(await claims(two), 1),
  ],
  ['records.signed', 'shown', '5 of 5 entries signed', () => claims(two, { signer: SIGNER })],
  ['records.signed', 'gap', '0 of 5 entries signed', () => claims(two)],
  ['records.checkpoint', 'gap', 'no verified checkpoint', () => claims(two)],
  [
    'records.checkpoint',
    'shown',
    /^the checkpoint of .* covers the first 5 entries of the log$/,
    () => claims(two),
    withCheckpoint(),
  ],
  [
    'records.checkpoint',
    'gap',
    /ends at position 2$/,
    () => claims((l) => l.claim()),
    withCheckpoint(1),
  ],
  [
    'records.witness',
    'gap',
    'no cosignature of a named witness',
    () => claims(two),
    withCheckpoint(undefined, 0),
  ],
  [
    'records.witness',
    'shown',
    'cosigned by witness.example/w2 at 2026-03-23T09:00:00.000000Z',
    () => claims(two),
    withCheckpoint(),
  ],
  ['records.beginnings', 'shown', '1 version: gateway@7', () => claims(two)],
  ['records.retained', 'gap', /younger than six months$/, () => claims(two)],
  [
    'records.retained',
    'shown',
    /^from 2026-03-23T09:00:00.000000Z to 2026-09-23T09:00:00/,
    () => claims(aged(184)),
  ],
  ['records.retained', 'gap', /younger than six months$/, () => claims(aged(183))],
  ['records.retained', 'gap', /Z$/, async () => tampered(await claims(aged(184)), 1)],
  ['records.erasures', 'none', '0 erasures', () => claims(two)],
  ['oversight.asked', 'gap', '0 proposals asked a counselor', () => claims()],
  ['oversight.asked', 'shown', '2 proposals asked a counselor', () => claims(two)],
  ['oversight.decided', 'none', '0 approvals, 0 refusals', () => claims((l) => l.claim())],
  ['oversight.decided', 'shown', '1 approval, 1 refusal', () => claims(both)],
  ['oversight.time', 'none', 'no decision', () => claims((l) => l.claim())],
  ['oversight.time', 'shown', 'median 1 min, longest 5 min', () => claims(two)],
  ['oversight.expired', 'none', '0 expired, 0 still open', () => claims()],
  ['oversight.expired', 'shown', '0 expired, 1 still open', () => claims((l) => l.claim())],
  ['oversight.expired', 'gap', '1 proposal expired without a decision', () => claims(expired)],
  ['oversight.expired', 'gap', '1 proposal expired without a decision', () => claims(overdue)],
  ['oversight.not_self', 'none', '0 of 0 approvals by the requester', () => claims()],
  ['oversight.not_self', 'shown', '0 of 2 approvals by the requester', () => claims(two)],
  ['oversight.people', 'none', '0 counselors', () => claims()],
  ['oversight.people', 'gap', '1 counselor: dr-a (1)', () => claims((l) => l.decided('dr-a'))],
  ['oversight.people', 'shown', '2 counselors: dr-a (1), dr-b (1)', () => claims(both)],
  [
    'oversight.decided',
    'gap',
    '0 approvals, 0 refusals, and 2 decisions by agents',
    () => claims(byAgents),
  ],
  ['oversight.amended', 'none', '0 amended proposals', () => claims(byAgents)],
  ['oversight.people', 'gap', '0 counselors', () => claims(byAgents)],
  ['oversight.people', 'gap', '1 counselor: DR-a (2)', () => claims(respelt)],
  [
    'oversight.halts',
    'none',
    '0 halts, 0 resumes, 1 standing, and 1 entry by agents',
    () => claims(byAgents),
  ],
  ['oversight.overrides', 'none', '0 overrides, each with a reason', () => claims(two)],
  ['oversight.overrides', 'shown', '1 override, with a reason', () => claims(overridden('urgent'))],
  ['oversight.overrides', 'gap', '1 of 1 override without a reason', () => claims(overridden(' '))],
  ['oversight.halts', 'none', '0 halts, 0 resumes, 0 standing', () => claims(two)],
  ['oversight.halts', 'shown', '1 halt, 0 resumes, 1 standing', () => claims((l) => l.halt())],
  [
    'oversight.halts',
    'shown',
    '1 halt, 1 resume, 0 standing',
    () => claims((l) => l.halt().then(() => l.resume())),
  ],
  ['control.authority', 'shown', '1 refusal', () => claims(unauthorised)],
  ['control.revocations', 'shown', '1 revocation', () => claims(revoked)],
  ['control.changes', 'shown', '2 changes', () => claims(changed)],
  ['control.pinned', 'shown', '1 pinned definition', () => claims(changed)],
  ['control.responses', 'none', '0 responses, 0 outcomes', () => claims(changed)],
  ['control.responses', 'none', '0 responses, 0 outcomes', () => responded({ isApproved: false })],
  ['control.responses', 'shown', '1 response, 1 outcome', () => responded({ isApproved: true })],
  ['control.facts', 'shown', '1 entry with facts', () => claims(stated)],
  ['control.policy', 'none', '0 answers, 0 refusals', () => claims(two)],
  ['control.policy', 'shown', '2 answers, 2 refusals', () => claims(denied, { policy: DENIES })],
  ['control.in_doubt', 'none', '0 in doubt, 0 decisions, 0 open', () => claims(two)],
];

const DENIES = {
  id: 'no',
  digest: 'ab'.repeat(32),
  evaluate: () => ({ decision: 'deny', rule: 'closed', reasons: [], errors: [] }),
};

const both = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.decided('dr-a');
  await ledger.decided('dr-b', { rejects: true });
};
const byAgents = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.decided('agent:dr-1');
  await ledger.decided('Agent:dr-2', { rejects: true });
  await ledger.halt('strange claims', WATCHDOG_WRIT);
};
const respelt = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.decided('DR-a');
  await ledger.decided('dr-a');
};
const expired = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.claim();
  ledger.clock.forward(DAY);
  await ledger.claim();
};
const overdue = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.claim();
  ledger.clock.forward(DAY);
  await ledger.halt();
};
const unauthorised = async (ledger: ClaimsLedger): Promise<void> => {
  const writ = writFor('agent', { actions: ['other'], nonce: 'narrow' });
  await ledger.trajectory.propose(
    intent('claim', { claimant: '' }, writ, { role: 'clerk' } as never),
  );
};
const revoked = async ({ trajectory }: ClaimsLedger): Promise<void> => {
  await trajectory.writs.revoke({
    writ: writId(AGENT_WRIT),
    reason: 'stolen',
    by: writId(WARDEN_WRIT),
  });
};
const changed = async (ledger: ClaimsLedger): Promise<void> => {
  await ledger.change('configure');
  await ledger.change('pin');
};
const stated = async ({ trajectory }: ClaimsLedger): Promise<void> => {
  const memory = trajectory.memory({ space: 's', writ: AGENT_WRIT });
  await memory.assert({ subject: 'x', predicate: 'is', object: 'y' });
};
const denied = async (ledger: ClaimsLedger): Promise<void> => {
  for (const action of ['configure', 'pin'] as const) await ledger.change(action);
};

/** A response with one step, carried out if a person approves it. */
async function responded({ isApproved }: { readonly isApproved: boolean }): Promise<MemoryStore> {
  const store = new MemoryStore();
  const writ = writFor('agent:opener');
  const trajectory = await runtimeOver(store, [incident]).create(incident, {
    trajectoryId: 'incidents',
    writs: [writ],
  });
  const params = { incident: 'leak' };
  const plan = { start: { principal: 'agent:bad' }, because: 'a leak', openedBy: 'agent:opener' };
  const asked = await trajectory.propose({
    ...{ action: 'open', role: { name: 'opener', params }, writ },
    args: { ...plan, steps: [{ kind: 'halt', trajectory: 't' }], remains: [] },
  });
  if (asked.ruling !== 'escalated') throw new Error(`the response is ${asked.ruling}`);
  if (!isApproved) return store;
  await trajectory.approvals.approve(asked.pending, { principal: 'human:ida', method: 'test' });
  const carrier = { name: 'carrier', params } as const;
  await trajectory.propose({
    action: 'record',
    role: carrier,
    args: { step: 0, outcome: 'done' },
    writ,
  });
  await trajectory.propose({ action: 'close', role: carrier, args: {}, writ });
  return store;
}

function aged(days: number) {
  return async (ledger: ClaimsLedger): Promise<void> => {
    ledger.clock.forward(days * DAY);
    await ledger.change('pin');
  };
}

function overridden(reason: string) {
  return async (ledger: ClaimsLedger): Promise<void> => {
    await ledger.decide(await ledger.claim('dr-a'), 'dr-a', { override: true, reason });
  };
}

/** The options of a report with a checkpoint of the first entries, cosigned by some witnesses. */
function withCheckpoint(size?: number, witnesses = 1) {
  return async (store: MemoryStore): Promise<ReportOptions> => {
    if (size === undefined)
      return { checkpoint: await checkpointOf(store, WITNESSES.slice(0, witnesses)) };
    const part = new MemoryStore();
    await part.commit({ entries: (await store.entries('t')).slice(0, size), blobs: [] });
    return { checkpoint: await checkpointOf(part) };
  };
}

/** The store with the text of an entry changed, wherever it is read. */
function tampered(store: MemoryStore, at: number): MemoryStore {
  const forged = (text: string): string =>
    text.replace('agent', 'AGENT').replace('"at":"2026', '"at":"2025');
  return changedIn(store, (rows) =>
    rows.map((row) => (row.seq === at ? { ...row, payload: forged(row.payload) } : row)),
  );
}

/** The store without an entry. The entry keeps its place in the log. */
function without(store: MemoryStore, at: number): MemoryStore {
  return changedIn(store, (rows) => rows.filter(({ seq }) => seq !== at));
}

function changedIn(store: MemoryStore, change: (rows: EntryRow[]) => EntryRow[]): MemoryStore {
  const changing = new Set(['entries', 'logged', 'unlogged']);
  return new Proxy(store, {
    get: (target, name) => {
      const member = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = member.bind(target);
      return changing.has(String(name))
        ? async (...args: any[]) => change(await call(...args))
        : call;
    },
  });
}

describe('a measure says whether the ledger shows it', () => {
  const lines = LINES.map(([id, status, figure, make, optionsOf]) => ({
    id,
    status,
    figure,
    make,
    optionsOf,
  }));
  test.each(lines)('$id: $status, $figure', async ({ id, status, figure, make, optionsOf }) => {
    const store = await make();
    const measure = await found(store, id, await optionsOf?.(store));
    expect(measure).toMatchObject({
      status,
      figure: typeof figure === 'string' ? figure : expect.stringMatching(figure),
    });
    expect(measure.remedy === undefined).toBe(status !== 'gap');
  });

  test('with effects in doubt: there is a gap while one waits for a person', async () => {
    const { store } = await honestSettlements();
    const rows = await store.logged(0, await integrateLog(store));
    const statuses = new Set<string>();
    for (let size = 1; size <= rows.length; size++) {
      const read = rows.slice(0, size).map(readRow);
      const doubts = read.filter(({ payload }) => payload.kind === 'pending_approval');
      const open = doubts.filter(
        ({ id }) => !read.some(({ payload }) => 'resolves' in payload && payload.resolves === id),
      );
      const { status, figure } = await found(store, 'control.in_doubt', { size });
      expect(figure).toMatch(new RegExp(`^${doubts.length} in doubt, .*, ${open.length} open$`));
      expect(status).toBe(open.length > 0 ? 'gap' : doubts.length > 0 ? 'shown' : 'none');
      statuses.add(status);
    }
    expect([...statuses].sort()).toEqual(['gap', 'none', 'shown']);
  });

  test('with an approval by the requester, written by another program', async () => {
    const ledger = await claims((l) => l.decided('dr-a'));
    const [root, pending, commit] = (await ledger.entries('t')) as [EntryRow, EntryRow, EntryRow];
    const payload = JSON.parse(commit.payload);
    const forged = entryRow({
      ...payload,
      counselor: { ...payload.counselor, principal: 'agent' },
    });
    const store = new MemoryStore();
    await store.commit({ entries: [root, pending, forged], blobs: [] });
    expect(await found(store, 'oversight.not_self')).toMatchObject({
      ...{ status: 'gap', figure: '1 of 1 approval by the requester' },
      examples: [{ seq: 2, note: 'by agent as doctor' }],
    });
  });

  test('with an approval whose requester the store does not name', async () => {
    const made = await claims((l) => l.decided('dr-a', {}, writFor('other')));
    expect(await found(made, 'oversight.not_self')).toMatchObject({ status: 'shown' });
    const store = new MemoryStore();
    await store.commit({ entries: await made.entries('t'), blobs: [] });
    expect(await found(store, 'oversight.not_self')).toMatchObject({
      status: 'gap',
      figure: '0 of 1 approval by the requester; of 1 the requester is not in the store',
    });
  });

  test('with a halt that stays when the halt above it ends', async () => {
    const { store, trajectory, assize } = await begun({
      create: { writs: [granted, worker, HALTER] },
    });
    await trajectory.delegations.delegate(task());
    const child = await assize.open('c');
    const halting = { reason: 'own', writ: HALTER };
    await child.halt(halting);
    await trajectory.halt({ ...halting, reason: 'all' });
    await trajectory.resume(halting);
    const below = store.below as MemoryStore;
    expect((await found(below, 'oversight.halts')).figure).toBe('2 halts, 1 resume, 1 standing');
    await child.resume(halting);
    expect((await found(below, 'oversight.halts')).figure).toBe('2 halts, 2 resumes, 0 standing');
  });

  test.each(FRAMEWORKS)(
    'every measure of $id has a line here, or one of its kind',
    ({ clauses }) => {
      const lines = new Set(LINES.map(([id]) => id));
      const others: ReadonlySet<string> = new Set([
        ...[
          'oversight.several',
          'oversight.amended',
          'control.invariants',
          'control.calls',
          'control.budget',
        ],
        ...['control.refusals', 'control.irreversible', 'control.escalated', 'control.delegations'],
        ...['control.contradictions', 'control.incidents', 'control.undone'],
      ]);
      const measures: readonly Measure[] = clauses.flatMap((clause) => clause.measures);
      const missing = measures.filter(
        ({ id }) => !lines.has(id) && !others.has(id) && !id.startsWith('outside.'),
      );
      expect(missing.map(({ id }) => id)).toEqual([]);
    },
  );
});

describe('a report', () => {
  test('is equal for the same size and period, however the log grows', async () => {
    const ledger = await ClaimsLedger.begin();
    await two(ledger);
    const checkpoint = await checkpointOf(ledger.store);
    const first = await makeReport(ledger.store, { checkpoint });
    await both(ledger);
    await ledger.halt();
    await integrateLog(ledger.store);
    const again = await makeReport(ledger.store, { checkpoint, size: first.log.size });
    expect(again).toEqual(first);
    expect(reportHtml(again)).toBe(reportHtml(first));
    expect(reportMarkdown(again)).toBe(reportMarkdown(first));
    expect(await makeReport(ledger.store, { checkpoint })).not.toEqual(first);
  });

  test('names a later fault only if it is in what it read', async () => {
    const ledger = await ClaimsLedger.begin();
    await two(ledger);
    await integrateLog(ledger.store);
    const store = tampered(ledger.store, 3);
    expect(await makeReport(store, { size: 3 })).toMatchObject({ valid: true });
    const whole = await makeReport(store);
    expect(whole).toMatchObject({
      valid: false,
      faults: [{ seq: 3, code: 'tampered' }, { code: 'log_differs' }],
    });
  });

  test.each([
    [4, 'the last entry', [{ code: 'log_broken' }]],
    [2, 'an entry', [{ seq: 3, code: 'broken_chain' }, { code: 'log_broken' }]],
  ])('names the place of a missing entry: seq %i, %s', async (seq, _, faults) => {
    const ledger = await ClaimsLedger.begin();
    await two(ledger);
    await integrateLog(ledger.store);
    const report = await makeReport(without(ledger.store, seq));
    expect(report).toMatchObject({ valid: false, faults });
    expect(report.faults.at(-1)?.detail).toBe(`the entry at position ${seq} of the log is missing`);
  });

  test('of some trajectories counts their entries, and names what it cannot read', async () => {
    const make = () => claims(async (ledger) => two(ledger).then(() => ledger.other()));
    const scope = { trajectories: ['other'] };
    expect(await found(await make(), 'records.verified', scope)).toMatchObject({
      status: 'shown',
      figure: '1 entry in scope verifies',
    });
    // Another trajectory is at fault, and the entry may have been one of the scope.
    const store = tampered(await make(), 1);
    expect(await makeReport(store, scope)).toMatchObject({
      valid: false,
      faults: [{ code: 'unreadable' }],
    });
    expect(await found(store, 'records.verified', scope)).toMatchObject({ status: 'gap' });
  });

  test('shows no completeness without a checkpoint: the last entry may be gone', async () => {
    const whole = await claims(two);
    const store = new MemoryStore();
    await store.commit({ entries: (await whole.entries('t')).slice(0, 4), blobs: [] });
    const { frameworks, valid } = await makeReport(store);
    expect(valid).toBe(true);
    for (const { measures } of frameworks.flatMap(({ clauses }) => clauses)) {
      const claiming = measures.filter(({ id }) =>
        ['records.retained', 'records.checkpoint'].includes(id),
      );
      if (measures.some(({ id }) => id === 'records.retained'))
        expect(claiming.find(({ id }) => id === 'records.checkpoint')).toMatchObject({
          status: 'gap',
        });
      for (const { title, status } of measures.filter(({ status }) => status === 'shown'))
        expect([title, status]).not.toEqual([
          expect.stringMatching(/missing|removal|all entries/),
          'shown',
        ]);
    }
    const checkpoint = await checkpointOf(whole);
    expect(await makeReport(store, { checkpoint })).toMatchObject({
      valid: false,
      faults: [{ code: 'checkpoint' }],
    });
  });

  test('names a checkpoint that the log does not continue', async () => {
    const checkpoint = await checkpointOf(await claims(async (ledger) => two(ledger)));
    const store = await claims();
    expect(await makeReport(store, { checkpoint })).toMatchObject({
      valid: false,
      faults: [{ code: 'checkpoint' }],
      log: { checkpoint: null },
    });
  });

  test('counts only the trajectories and the period that it is asked for', async () => {
    const store = await claims(two);
    const of = async (options: ReportOptions) =>
      (await found(store, 'records.entries', options)).figure;
    expect(await of({ trajectories: ['t'] })).toBe('5 entries of 1 trajectory');
    expect(await of({ until: '2026-03-23T09:01:00.000000Z' })).toBe('1 entry of 1 trajectory');
    expect(await of({ since: '2026-03-23T09:01:00.000000Z' })).toBe('4 entries of 1 trajectory');
  });

  test('looks to the last entry where the period ends later', async () => {
    const store = await claims((ledger) => ledger.claim());
    const until = '2099-01-01T00:00:00.000000Z';
    expect(await makeReport(store, { until })).toMatchObject({
      log: { as_of: '2026-03-23T09:01:00.000000Z' },
    });
    expect(await found(store, 'records.retained', { until })).toMatchObject({ status: 'gap' });
    expect(await found(store, 'oversight.expired', { until })).toMatchObject({ status: 'shown' });
    const earlier = '2026-03-23T09:00:30.000000Z';
    expect(await makeReport(store, { until: earlier })).toMatchObject({ log: { as_of: earlier } });
  });

  test('says how far it is', async () => {
    const heard: [string, number, number][] = [];
    await makeReport(await claims(two), { onProgress: (...step) => heard.push(step) });
    expect(heard).toContainEqual(['entries read', 5, 5]);
    expect(heard.some(([step]) => step === 'verifying entries')).toBe(true);
  });

  test('has a gap in a clause for each gap in its measures', async () => {
    const { frameworks, gaps } = await makeReport(await claims(two));
    const clauses = frameworks.flatMap((framework) => framework.clauses);
    for (const { status, measures } of clauses)
      expect(status === 'gap').toBe(measures.some((measure) => measure.status === 'gap'));
    expect(gaps).toBe(clauses.filter(({ status }) => status === 'gap').length);
    expect(gaps).toBeGreaterThan(0);
  });
});

test.each([
  [{ frameworks: ['eu-ai-akt'] }, 'not_found', /Did you mean eu-ai-act\?/],
  [{ frameworks: ['zzz'] }, 'not_found', /Pass one of eu-ai-act, /],
  [
    { since: '2026-03-02T00:00:00.000000Z', until: '2026-03-02T00:00:00.000000Z' },
    'bad_argument',
    /before the end/,
  ],
  [{ trajectories: ['t', 'u'] }, 'not_found', /no trajectory "u"/],
  [{ size: 99 }, 'not_found', /the first 99/],
  [{ size: 0 }, 'not_found', /the first 0/],
  [{ size: 1.5 }, 'not_found', /the first 1.5/],
  [{ since: 'May' }, 'bad_argument', /since/],
  [{ sinc: 'May' }, 'bad_argument', /sinc/],
])('%j is refused with %s', async (options, code, message) => {
  const store = await claims();
  await integrateLog(store);
  await expect(makeReport(store, options as ReportOptions)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

test('text of the ledger is escaped in HTML and Markdown', async () => {
  const hostile = '<script>alert(1)</script>"\'&[x](http://evil.example)`\u202e\n# h';
  const store = await claims((ledger) => ledger.halt(hostile));
  const report = await makeReport(store);
  const page = reportHtml(report);
  expect(page).toContain(
    '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;[x](http://evil.example)`\\u{202e}\\u{a}# h',
  );
  expect(page).not.toMatch(/<script|\u202e/);
  const text = reportMarkdown(report);
  expect(text).toContain('&#60;script&#62;');
  expect(text).not.toMatch(/<script|\u202e|\]\(|^# h/m);
});
