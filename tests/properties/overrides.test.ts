/**
 * Approvals of several people, against a naive model: sequences of approvers, overrides and final
 * rules, with violations that appear and go away between two approvals. A violation commits only
 * if every approver overrides it and its rule may be overridden, no final rule
 * is ever overridden, and the state has the name of
 * every approver in order.
 */

import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAssizeError } from '#base';
import type { CommitPayload } from '#ledger';
import { deepReplay } from '#replay';
import type { Trajectory } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { type ClaimRule, type ClaimTerms, claimsOf } from '../support/ledger/claims.ts';
import { payloads } from '../support/ledger/desk.ts';
import { doctor } from '../support/ledger/multi-approval.ts';
import { intent, runtimeOver, writFor } from '../support/ledger/runtime.ts';

const CLAIMANT = 'dr-claimant';
const PEOPLE = ['dr-a', 'dr-b', 'dr-c', CLAIMANT, 'dr-asker'];
const asker = writFor('dr-asker');

type Event =
  | { readonly do: 'approve'; readonly who: number; readonly override: boolean }
  | { readonly do: 'load'; readonly load: 'u' | 'v'; readonly to: 0 | 9 };

const approval: fc.Arbitrary<Event> = fc.record({
  do: fc.constant('approve' as const),
  who: fc.nat(PEOPLE.length - 1),
  override: fc.boolean(),
});
const load: fc.Arbitrary<Event> = fc.record({
  do: fc.constant('load' as const),
  load: fc.constantFrom('u' as const, 'v' as const),
  to: fc.constantFrom(0 as const, 9 as const),
});
const event = fc.oneof({ weight: 4, arbitrary: approval }, { weight: 1, arbitrary: load });

/** The violation that the first approver overrides can be gone before the second one decides. */
const passing = (which: 'u' | 'v', [override, again]: readonly [boolean, boolean]): Event[] => [
  { do: 'load', load: which, to: 9 },
  { do: 'approve', who: 0, override },
  { do: 'load', load: which, to: 0 },
  { do: 'approve', who: 1, override: again },
];
const begin: fc.Arbitrary<Event[]> = fc.oneof(
  fc.constant<Event[]>([]),
  fc
    .tuple(fc.constantFrom('u' as const, 'v' as const), fc.tuple(fc.boolean(), fc.boolean()))
    .map((choice) => passing(...choice)),
);
const events: fc.Arbitrary<Event[]> = fc
  .tuple(begin, fc.array(event, { minLength: 3, maxLength: 12 }))
  .map(([first, rest]) => [...first, ...rest]);

type Terms = Required<ClaimTerms>;

/** The state of the model: the approvers with their overridden violations, and the loads. */
class Model {
  readonly given: { readonly who: string; readonly overrides: readonly string[] }[] = [];
  readonly loads = { u: 0, v: 0 };
  committed = false;
  readonly #terms: Terms;

  constructor(terms: Terms) {
    this.#terms = terms;
  }

  load(load: 'u' | 'v', to: number): void {
    const after = { ...this.loads, [load]: to };
    const breaks = after.u >= 5 || after.v >= 5;
    if (!(breaks && this.#terms.final === 'LEVEL')) this.loads[load] = to;
  }

  approve(who: string, override: boolean): string {
    if (this.committed) return 'not_pending';
    if (who === 'dr-asker') return 'unauthorised_counselor';
    if (this.given.some((one) => one.who === who)) return 'already_approved';
    const broken = this.#broken([...this.given.map((one) => one.who), who]);
    const { final, overridable } = this.#terms;
    const isFinal = (rule: string | undefined) =>
      rule === final || (rule === 'NO_SELF' && !overridable);
    if (broken.some((item) => isFinal(item.split(' ')[0]))) return 'final_rule';
    const [first] = this.given;
    const isAsked = broken.length > 0 || (first?.overrides ?? []).length > 0;
    if (isAsked) {
      if (first !== undefined && first.overrides.length === 0) return 'override_needed';
      if (!override) return 'override_needed';
      if (first !== undefined && broken.some((item) => !first.overrides.includes(item)))
        return 'changed_since';
    }
    this.given.push({ who, overrides: first === undefined ? broken : first.overrides });
    this.committed = this.given.length === this.#terms.approvals;
    return this.committed ? 'committed' : 'escalated';
  }

  #broken(approvers: readonly string[]): string[] {
    const { u, v } = this.loads;
    const { approvals, names, mark } = this.#terms;
    const marked = mark === 'push' ? approvers : approvers.slice(-1);
    return [
      ...(names > (mark === 'push' ? approvals : 1) ? ['NAMES'] : []),
      ...(marked.includes(CLAIMANT) ? ['NO_SELF'] : []),
      ...(u >= 5 ? ['LEVEL u'] : v >= 5 ? ['LEVEL v'] : []),
    ];
  }
}

const SEEN = new Map<string, number>();
const TO_SEE = [
  ...[
    'committed',
    'escalated',
    'override_needed',
    'changed_since',
    'final_rule',
    'already_approved',
  ],
  ...['unauthorised_counselor', 'committed with override', 'committed without override'],
];

async function play(terms: Terms, events: readonly Event[]): Promise<void> {
  const domain = claimsOf(terms);
  const store = new MemoryStore();
  const trajectory = await runtimeOver(store, [domain]).create(domain, { trajectoryId: 't' });
  const model = new Model(terms);
  let pending = '';
  const ruled = await trajectory.propose(
    intent('claim', { euros: 7, claimant: CLAIMANT }, asker, { role: 'clerk' } as never),
  );
  if (ruled.ruling === 'escalated') pending = ruled.pending;
  for (const one of events) {
    if (model.committed) break;
    if (one.do === 'load') {
      await put(trajectory, one.load, one.to);
      model.load(one.load, one.to);
      expect(trajectory.state()).toMatchObject({ loads: model.loads });
      continue;
    }
    const principal = PEOPLE[one.who] as string;
    const expected = model.approve(principal, one.override);
    const answer = await trajectory.approvals
      .approve(pending, { principal, method: 'test', override: one.override })
      .catch((error: Error) => {
        if (!isAssizeError(error)) throw error;
        expect(error.message).not.toMatch(/approve it with override|pass override/);
        return error;
      });
    const said = isAssizeError(answer) ? answer.code : (answer as { ruling: string }).ruling;
    expect(said).toBe(expected);
    SEEN.set(said, (SEEN.get(said) ?? 0) + 1);
    if (!isAssizeError(answer) && answer.ruling === 'escalated') pending = answer.pending;
  }
  if (model.committed) {
    await checkCommit(store, model);
    const names = model.given.map(({ who }) => who);
    expect(trajectory.state()).toMatchObject({
      approvers: terms.mark === 'push' ? names : names.slice(-1),
    });
  }
  const report = await deepReplay(store, 't', { domains: [domain] });
  expect(report.differences).toEqual([]);
}

/** Changes a load as a counselor who overrides LEVEL, or not at all where LEVEL is final. */
async function put(trajectory: Trajectory, load: string, to: number): Promise<void> {
  const role = { name: 'loader', params: { load } };
  const ruling = await trajectory.propose({
    action: 'load',
    role,
    args: { to },
    writ: writFor('agent'),
  });
  if (ruling.ruling !== 'escalated') return;
  try {
    await trajectory.approvals.approve(ruling.pending, doctor('z', { override: true }));
  } catch (error) {
    if (!isAssizeError(error, 'final_rule')) throw error;
    await trajectory.approvals.reject(ruling.pending, { ...doctor('z'), reason: 'final' });
  }
}

/** The commit names every approver, and every override with its rules. */
async function checkCommit(store: MemoryStore, { given }: Model): Promise<void> {
  const commit = (await payloads(store, 't')).findLast(
    ({ kind }) => kind === 'commit',
  ) as CommitPayload;
  const approvers = [...(commit.approved_by ?? []), commit.counselor!];
  expect(approvers.map(({ principal }) => principal)).toEqual(given.map(({ who }) => who));
  for (const [i, { override, overridden = [] }] of approvers.entries()) {
    const rules = given[i]!.overrides.map((item) => item.split(' ')[0]);
    expect(override === true).toBe(rules.length > 0);
    expect(overridden.map(({ invariant_id }) => invariant_id)).toEqual(rules);
  }
  const how =
    given[0]!.overrides.length > 0 ? 'committed with override' : 'committed without override';
  SEEN.set(how, (SEEN.get(how) ?? 0) + 1);
}

test('every approver overrides the same violations, if the rules allow it', async () => {
  const final = fc.constantFrom<(ClaimRule | undefined)[]>(
    undefined,
    undefined,
    'NAMES',
    'NO_SELF',
    'LEVEL',
  );
  const missing = (): string[] => TO_SEE.filter((what) => !SEEN.has(what));
  for (let batch = 0; batch === 0 || (batch < 10 && missing().length > 0); batch++) {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom(0, 0, 0, 1),
        fc.constantFrom('push' as const, 'last' as const),
        final,
        fc.constantFrom(true, true, false),
        events,
        (approvals, more, mark, last, overridable, happened) =>
          play(
            {
              approvals,
              names: (mark === 'push' ? approvals : 1) + more,
              mark,
              final: last,
              overridable,
            },
            happened,
          ),
      ),
      { numRuns: cases(400) },
    );
  }
  if (hasUsualCases()) expect(missing()).toEqual([]);
});
