import fc from 'fast-check';
import { test } from 'vitest';
import { canonicalize } from '#canon';
import { stateFault } from '#kernel';
import {
  applyPatches,
  type CommitPayload,
  type EntryRow,
  fresh,
  type Patch,
  type PendingPayload,
  payloadFault,
  type RejectionPayload,
  Replayer,
  verifyTrajectory,
} from '#ledger';
import type { ProposalInput, Ruling } from '#runtime';
import { hasUsualCases } from '../support/cases.ts';
import {
  detailOf,
  idOf,
  KEYS,
  type NaiveFinding,
  naiveAll,
  naiveFirst,
  naiveMark,
  naiveResult,
  naiveVector,
  REFUSED,
  type RuleSpec,
  readBy,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import { naiveDiff } from '../support/models/naive-patch.ts';
import {
  askingRules,
  type Execution,
  fitted,
  type Happening,
  JUNK,
  type Proposal,
  payloadOf,
  play,
  rules,
  type Step,
  schedule,
  shopState,
} from '../support/models/schedule.ts';
import { theorems } from '../support/models/shared-executions.ts';
import { expect } from '../support/quick-expect.ts';

// Seed 000, A.2 and A.3, over generated domains, agents and schedules, through the runtime.
// Propositions 1 and 1+ are about agents. They are in confinement.test.ts and
// confinement-with-counselor.test.ts.

/** The state after a commit of the proposal, or the reason that the proposal does not compile. */
function applied(
  state: ShopState,
  { action, evil }: Proposal,
): { next: ShopState } | { reason: string } {
  const next = naiveResult(state, action);
  if (next === undefined) return { reason: 'precondition_failed' };
  const reason = action.name === 'edit' ? REFUSED[evil] : undefined;
  if (reason !== undefined) return { reason };
  if (action.name === 'edit' && evil === 'puts its arguments into the state') {
    return { next: { ...next, orders: { ...next.orders, mine: { user: 'a', total: 1 } } } };
  }
  return { next };
}

/**
 * The states of the ledger, folded by hand: after the root, and after each entry. Callers must not
 * change them.
 */
function statesOf(rows: readonly EntryRow[]): readonly ShopState[] {
  const states: ShopState[] = [];
  for (const row of rows) states.push(stateAfter(row, states.at(-1)));
  return states;
}

/** Remembered by the entry's id. The id commits to all before it. */
function stateAfter(row: EntryRow, before: ShopState | undefined): ShopState {
  let state = STATES.get(row.id);
  if (state !== undefined) return state;
  const payload = payloadOf(row);
  if (payload.kind === 'root') state = clone(payload.initial_state) as unknown as ShopState;
  else if (payload.kind === 'commit')
    state = folded(before as ShopState, payload.delta.state as readonly Patch[]);
  else state = before as ShopState;
  if (STATES.size > 1_000) STATES.clear();
  STATES.set(row.id, state);
  return state;
}

const STATES = new Map<string, ShopState>();

interface Adjudication {
  readonly happening: Happening;
  readonly row: EntryRow;
  readonly proposal: Proposal;
  readonly input: ProposalInput;
  readonly ruling: Ruling;
  /**
   * The result of the proposal on the state before it, and the first rule that the result fails.
   */
  readonly outcome: ReturnType<typeof applied>;
  readonly first: NaiveFinding | undefined;
}

/**
 * Every step as one adjudication after another, in ledger order. Computed once, for every theorem.
 */
function adjudications({ happenings, specs }: Run): readonly Adjudication[] {
  let all = ADJUDICATIONS.get(happenings);
  if (all === undefined) {
    all = [...adjudicated(happenings, specs)];
    ADJUDICATIONS.set(happenings, all);
  }
  return all;
}

const ADJUDICATIONS = new WeakMap<readonly Happening[], readonly Adjudication[]>();

function* adjudicated(
  happenings: readonly Happening[],
  specs: readonly RuleSpec[],
): Iterable<Adjudication> {
  for (const happening of happenings) {
    const states = statesOf(happening.after);
    for (const row of happening.after.slice(happening.before.length)) {
      const asked = happening.asked.find(
        ({ outcome }) =>
          !(outcome instanceof Error) && 'entry' in outcome && outcome.entry.id === row.id,
      );
      if (asked === undefined) continue;
      const { proposal, input } = asked;
      const outcome = applied(states[row.seq - 1] as ShopState, proposal);
      const first = 'next' in outcome ? naiveFirst(specs, outcome.next) : undefined;
      yield { happening, row, proposal, input, ruling: asked.outcome as Ruling, outcome, first };
    }
  }
}

interface Run extends Execution {
  readonly specs: readonly RuleSpec[];
  readonly start: ShopState;
}

type Input = readonly [drawn: RuleSpec[], start: ShopState, steps: readonly Step[]];

/**
 * Agentic Redux: the run starts with a state that passes every rule, and no counselor commits one
 * that does not.
 */
async function playSafe([drawn, start, steps]: Input): Promise<Run> {
  const specs = fitted(drawn, start);
  const safe = steps.map((step) => (step.do === 'approve' ? { ...step, override: false } : step));
  return { ...(await play(specs, start, safe)), specs, start };
}

/**
 * Agentic Redux+: counselors may override half of the time. The start may have violations that they
 * would have to repair.
 */
async function playFree([drawn, start, steps]: Input): Promise<Run> {
  if (steps.length % 2 === 0) return playSafe([drawn, start, steps]);
  return { ...(await play(drawn, start, steps, { override: true })), specs: drawn, start };
}

/** The same beside pending proposals (docs/decisions/009-freeze.md). */
async function playReserved([drawn, start, steps]: Input): Promise<Run> {
  const specs = fitted(drawn, start);
  return { ...(await play(specs, start, steps, { freeze: 'reserve' })), specs, start };
}

const lastOf = ({ happenings }: Run): readonly EntryRow[] => happenings.at(-1)?.after ?? [];

/** The findings of `naiveAll` in a state, or in the text of a state, computed once for each. */
function findingsIn(
  specs: readonly RuleSpec[],
  state: ShopState | string,
): readonly NaiveFinding[] {
  const known = FINDINGS.get(specs) ?? new Map<ShopState | string, readonly NaiveFinding[]>();
  FINDINGS.set(specs, known);
  let found = known.get(state);
  if (found === undefined) {
    found = naiveAll(specs, typeof state === 'string' ? JSON.parse(state) : state);
    known.set(state, found);
  }
  return found;
}

const FINDINGS = new WeakMap<
  readonly RuleSpec[],
  Map<ShopState | string, readonly NaiveFinding[]>
>();

// ── what the theorems say ──

/** Theorem 1. */
async function preservesInvariants({ happenings, store, specs, ...run }: Run): Promise<void> {
  const states = statesOf(lastOf({ happenings, store, specs, ...run }));
  for (const reached of states) expect(findingsIn(specs, reached)).toEqual([]);
  for (const { state, after } of happenings) {
    expect(findingsIn(specs, state)).toEqual([]);
    // The live state is the state of the ledger, without changes from another source.
    expect(state).toBe(canonicalize(states[after.length - 1]));
  }
  const report = await verifyTrajectory(new Replayer(store), 't');
  expect(report).toMatchObject({ valid: true });
}

/** Lemmas A.48 and A.49. */
function decidesByCandidate(run: Run): void {
  const { happenings, specs } = run;
  for (const { row, ruling, outcome, first } of adjudications(run)) {
    if ('reason' in outcome) {
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: outcome.reason });
      continue;
    }
    if (first === undefined) {
      expect(ruling.ruling).toBe('committed');
      const states = statesOf(happenings.at(-1)?.after ?? []);
      expect(canonicalize(states[row.seq])).toBe(canonicalize(outcome.next));
    } else {
      expect(ruling).toMatchObject({
        ruling: first.answer.result === 'reject' ? 'rejected' : 'escalated',
        invariantId: first.id,
        detail: detailOf(first, specs, first.id),
      });
    }
  }
}

/** Theorem 2, clauses (i) and (ii), also those of Theorem 4. */
function recordsFaithfully(run: Run): void {
  const { specs } = run;
  for (const { happening, row, input, ruling, outcome, first } of adjudications(run)) {
    const payload = payloadOf(row);
    const { action, role, args } = input;
    const previous = payloadOf(happening.after[row.seq - 1] as EntryRow);
    // The clock stands within a step; and time never goes back.
    expect(payload.at >= previous.at).toBe(true);
    if (ruling.ruling === 'committed') {
      const commit = payload as CommitPayload;
      expect(commit.kind).toBe('commit');
      expect(commit.action).toEqual({ name: action, role, args });
      for (const witness of [
        'reason',
        'detail',
        'invariant_id',
        'resolves',
        'counselor',
        'detection_vector',
      ]) {
        expect(commit).not.toHaveProperty(witness);
      }
    } else if (ruling.ruling === 'rejected') {
      const rejection = payload as RejectionPayload;
      expect(rejection.kind).toBe('rejection');
      expect(rejection.intent).toMatchObject({ action, role, args });
      if (first === undefined) {
        // Refused before it was adjudicated: there is no candidate for an invariant to judge.
        expect(rejection).not.toHaveProperty('invariant_id');
        expect(rejection.reason).toBe('reason' in outcome ? outcome.reason : undefined);
      } else {
        expect(rejection).toMatchObject({
          reason: 'invariant_rejected',
          invariant_id: first.id,
          detail: detailOf(first, specs, first.id),
        });
        expect(first.answer.result).toBe('reject');
      }
    } else if (ruling.ruling === 'escalated') {
      const pending = payload as PendingPayload;
      expect(pending.kind).toBe('pending_approval');
      expect(pending.proposal.action).toEqual({ name: action, role, args });
      expect(pending.proposal.at).toBe(pending.at);
      expect(pending).toMatchObject({
        invariant_id: first?.id,
        detail: detailOf(first as never, specs, first?.id as string),
      });
      expect(first?.answer.result).toBe('escalate');
      expect(ruling.pending).toBe(row.id);
    }
  }
}

/** Theorem 2, clauses (iii) to (v), and Theorem 4, (iii+), (iv) and (v+). */
function appendsOnlyRulings({ happenings }: Run): void {
  for (const { step, before, after, asked, resolved, junk } of happenings) {
    expect(after.slice(0, before.length)).toEqual(before);
    const rulings = [
      ...asked.map(({ outcome }) => outcome),
      ...(resolved === undefined ? [] : [resolved.outcome]),
      ...(junk === undefined ? [] : [junk]),
    ];
    const ruled = rulings.filter(
      (outcome) => !(outcome instanceof Error) && outcome.ruling !== 'frozen',
    );
    // One entry for each ruling, and each ruling's entry is there; from everything else comes none.
    expect(after.length - before.length).toBe(ruled.length);
    const added = after.slice(before.length).map(({ id }) => id);
    expect(ruled.map((outcome) => (outcome as { entry: EntryRow }).entry.id).sort()).toEqual(
      added.sort(),
    );
    if (!['propose', 'approve', 'reject', 'junk'].includes(step.do)) expect(added).toEqual([]);
    after.forEach((row, seq) => {
      expect(row.seq).toBe(seq);
      expect(row.parent).toBe(after[seq - 1]?.id ?? null);
    });
  }
}

/** Theorem 3, Preservation: the state after a step keeps its types. */
function keepsTypes({ happenings, generated, ...run }: Run): void {
  for (const reached of statesOf(lastOf({ happenings, generated, ...run }))) {
    expect(stateFault(generated.domain.state, reached)).toBeUndefined();
  }
  for (const { before, after } of happenings) {
    for (const row of after.slice(before.length))
      expect(payloadFault(payloadOf(row))).toBeUndefined();
  }
}

/**
 * Theorem 3, Progress: each proposal, ill-typed ones included, has an outcome. An ill-typed
 * proposal is refused for its type.
 */
function alwaysRules({ happenings }: Run): void {
  for (const { step, asked, junk } of happenings) {
    for (const { outcome } of asked) {
      expect(outcome).not.toBeInstanceOf(Error);
      expect(['committed', 'rejected', 'escalated', 'frozen']).toContain(
        (outcome as Ruling).ruling,
      );
    }
    if (junk === undefined) continue;
    expect(junk).not.toBeInstanceOf(Error);
    if ((junk as Ruling).ruling === 'frozen') continue;
    const { reason } = JUNK[(step as { n: number }).n] as { reason: string };
    expect(junk).toMatchObject({ ruling: 'rejected', reason });
  }
}

/**
 * Theorem 3+, Progress: awaiting a counselor is stuck only on an empty queue and for a principal
 * that is not a counselor.
 */
function counselorsDecide({ happenings }: Run): void {
  for (const { step, resolved } of happenings) {
    if (resolved === undefined) continue;
    const { pending, outcome } = resolved;
    if (pending === undefined) expect(outcome).toMatchObject({ code: 'not_pending' });
    else if (step.do === 'reject') expect(outcome).toMatchObject({ ruling: 'rejected' });
    else if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'override_needed' });
    else expect(outcome).toMatchObject({ ruling: 'committed' });
  }
}

/** Lemma A.65. */
function boundsQueue({ happenings }: Run): void {
  for (const { before, after, asked, pending } of happenings) {
    expect(pending.length).toBeLessThanOrEqual(1);
    const open = openAt(before);
    for (const { outcome } of asked) {
      if (outcome instanceof Error) throw outcome;
      if (open !== undefined) expect(outcome).toMatchObject({ ruling: 'frozen', by: open });
      // In the middle of a burst, the escalation of another proposal of the burst freezes this one.
      else if (outcome.ruling === 'frozen') expect(outcome.by).toBe(after.at(-1)?.id);
    }
    expect(pending).toEqual([openAt(after)].filter((id) => id !== undefined));
  }
}

/** Lemma A.66 and Definition A.63; Theorem 4, clauses (vi) and (vii). */
function recordsCounselors({ happenings, specs }: Run): void {
  for (const { step, before, after, resolved } of happenings) {
    if (resolved === undefined) continue;
    const { pending, outcome } = resolved;
    if (pending === undefined) {
      expect(outcome).toMatchObject({ code: 'not_pending' });
      continue;
    }
    const waiting = payloadOf(
      before.find(({ id }) => id === pending) as EntryRow,
    ) as PendingPayload;
    const was = statesOf(before).at(-1) as ShopState;
    const now = statesOf(after).at(-1) as ShopState;
    if (step.do === 'reject') {
      const entry = payloadOf(after.at(-1) as EntryRow);
      expect(outcome).toMatchObject({
        ruling: 'rejected',
        reason: 'counselor_rejected',
        detail: `no ${step.n}`,
      });
      expect(entry).toMatchObject({
        kind: 'rejection',
        resolves: pending,
        counselor: { principal: 'doc', as: 'doctor', method: 'test' },
      });
      expect(now).toEqual(was);
      continue;
    }
    if (step.do !== 'approve') throw new Error(step.do);
    const proposed = folded(was, waiting.proposal.delta.state as readonly Patch[]);
    const next = step.own ?? naiveMark(specs, proposed, waiting.invariant_id as string);
    const vector = naiveVector(specs, next);
    const broken = vector.some(({ result }) => result !== 'pass');
    if (broken && !step.override) {
      expect(outcome).toMatchObject({ code: 'override_needed' });
      expect(after).toEqual(before);
      continue;
    }
    expect(outcome).toMatchObject({ ruling: 'committed' });
    expect(canonicalize(now)).toBe(canonicalize(next));
    expect(payloadOf(after.at(-1) as EntryRow)).toMatchObject({
      kind: 'commit',
      resolves: pending,
      proposal_id: waiting.proposal.proposal_id,
      counselor: {
        principal: 'doc',
        as: 'doctor',
        method: 'test',
        ...(broken ? { override: true } : {}),
      },
      detection_vector: vector,
    });
  }
}

/**
 * The same under reservations, where the state may have changed since the submission: the commit is
 * what was submitted, or a conflict shows that the proposal does something else now.
 */
function recordsConflicts(run: Run): void {
  const { happenings, specs } = run;
  const proposals = new Map(adjudications(run).map(({ row, proposal }) => [row.id, proposal]));
  for (const { step, before, after, resolved, pending: open } of happenings) {
    if (open.length > 1) met.several++;
    if (step.do !== 'approve' || resolved?.pending === undefined) continue;
    const { pending, outcome } = resolved;
    const waiting = payloadOf(
      before.find(({ id }) => id === pending) as EntryRow,
    ) as PendingPayload;
    const was = statesOf(before).at(-1) as ShopState;
    if (outcome instanceof Error) {
      expect(['override_needed', 'invalid_state', 'frozen']).toContain(
        (outcome as Error & { code: string }).code,
      );
      expect(after).toEqual(before);
      continue;
    }
    if (step.own !== undefined) {
      expect(outcome.ruling).toBe('committed');
      continue;
    }
    const now = applied(was, proposals.get(pending) as Proposal);
    const first = 'next' in now ? naiveFirst(specs, now.next) : undefined;
    const isSame =
      'next' in now &&
      canonicalize(naiveDiff(was as never, now.next as never)) ===
        canonicalize(waiting.proposal.delta.state) &&
      first?.id === waiting.invariant_id &&
      first?.answer.result === 'escalate';
    if (outcome.ruling === 'rejected') {
      met.conflicts++;
      expect(outcome).toMatchObject({ reason: 'conflict' });
      // Else the mark differs: it is a function of what the rule reads.
      if (isSame)
        expect(
          canonicalize(naiveMark(specs, now.next, first?.id as string)) === canonicalize(now.next),
        ).toBe(false);
    } else {
      met.approved++;
      expect(outcome.ruling).toBe('committed');
      expect(isSame).toBe(true);
    }
  }
}

/** Theorem 4, clause (viii). */
function chainsResolutions(run: Run): void {
  const rows = lastOf(run);
  const resolved = new Set<string>();
  rows.forEach((row, seq) => {
    const payload = payloadOf(row);
    const isCounselors = 'counselor' in payload && payload.counselor !== undefined;
    const resolves = 'resolves' in payload ? payload.resolves : undefined;
    expect(resolves !== undefined).toBe(isCounselors);
    if (resolves === undefined) return;
    const [escalation, ...more] = rows.slice(0, seq).filter(({ id }) => id === resolves);
    expect(escalation?.kind).toBe('pending_approval');
    expect(more).toEqual([]);
    expect(resolved.has(resolves)).toBe(false);
    resolved.add(resolves);
  });
}

/**
 * Theorem 1+, also without its premise: every violation comes from an override, and from nothing
 * else.
 */
function onlyOverridesBreak({ specs, start, ...run }: Run): void {
  const rows = lastOf({ specs, start, ...run });
  const states = statesOf(rows);
  let broken = naiveAll(specs, start).length > 0;
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload.kind === 'commit') broken = payload.counselor?.override === true;
    expect(findingsIn(specs, states[row.seq] as ShopState).length > 0).toBe(broken);
  }
}

/** Rules that no role of the schedule sees the whole of (Definition A.10). */
function crossCutting(specs: readonly RuleSpec[]): number[] {
  const seen = [['/n/*', '/users/*'], ['/log'], ['/orders/*', '/users/*']];
  return specs.flatMap((spec, index) =>
    seen.some((footprint) =>
      readBy(spec, index).every((read) => footprint.some((place) => within(read, place))),
    )
      ? []
      : [index],
  );
}

function within(read: string, place: string): boolean {
  const [inner, outer] = [read.split('/'), place.split('/')];
  return outer.every(
    (segment, i) => inner[i] !== undefined && (segment === '*' || segment === inner[i]),
  );
}

/**
 * Corollaries 1 and 1+, by Definition A.55, if no counselor commits a violation. In effect, of
 * proposals that pass alone and not together, one is refused. `seen` counts the cases that could
 * have a skew.
 */
function freeOfSkew(seen: { skews: number }, run: Run): void {
  const { specs, start: first, happenings } = run;
  const isOverridden = lastOf(run).some(
    (row) => row.kind === 'commit' && row.payload.includes('"override":true'),
  );
  if (isOverridden || naiveAll(specs, first).length > 0) return;
  const cross = crossCutting(specs);
  for (const { state } of happenings) {
    const broken = findingsIn(specs, state).map(({ id }) => id);
    for (const index of cross) expect(broken).not.toContain(idOf(index));
  }
  for (const { before, asked } of happenings) {
    if (before.length === 0 || asked.length < 2) continue;
    const start = statesOf(before).at(-1) as ShopState;
    const proposals = asked.map(({ proposal }) => proposal);
    if (
      !proposals.every((proposal) => passes(specs, start, [proposal])) ||
      passes(specs, start, proposals)
    )
      continue;
    if (openAt(before, Number.POSITIVE_INFINITY) === undefined) seen.skews++;
    expect(asked.every(({ outcome }) => (outcome as Ruling).ruling === 'committed')).toBe(false);
  }
}

/**
 * Whether the proposals lead to a state that passes every rule, when applied in order without
 * adjudication.
 */
function passes(
  specs: readonly RuleSpec[],
  start: ShopState,
  proposals: readonly Proposal[],
): boolean {
  let state = start;
  for (const proposal of proposals) {
    const outcome = applied(state, proposal);
    if ('reason' in outcome) return false;
    state = outcome.next;
  }
  return naiveAll(specs, state).length === 0;
}

// ── over what ──

const CASES = 10_000;

/** Agents that act concurrently. None of them sees the whole state that the rules are about. */
const confined: fc.Arbitrary<Step[]> = schedule.map((steps) =>
  steps.map((step): Step => {
    if (step.do !== 'propose') return step;
    const proposals = step.proposals.flatMap((proposal, i) => [
      proposal,
      { ...proposal, agent: i % 2 },
    ]);
    return {
      ...step,
      proposals: proposals.map(({ action, ...rest }, i) => ({
        ...rest,
        evil: 'nothing',
        action:
          action.name === 'edit'
            ? {
                name: (['count', 'own', 'note'] as const)[i % 3] as never,
                user: KEYS[i % 3] as string,
                by: i - 1,
              }
            : action,
      })),
    };
  }),
);

const schedules = fc.oneof(schedule, confined);
const skewed = { base: { skews: 0 }, plus: { skews: 0 }, reserve: { skews: 0 } };

theorems(
  'Agentic Redux',
  { input: fc.tuple(rules, shopState, schedules), play: playSafe, usual: CASES },
  {
    'Theorem 1 (Invariant Preservation): every reachable state satisfies every invariant, whatever actions, agents and schedules do':
      preservesInvariants,
    'Lemma A.48 (Approval soundness), A.49 (Non-approval witness): the candidate, and nothing else, decides':
      decidesByCandidate,
    'Theorem 2 (Audit Log Integrity): (i) faithful approval entries, (ii) faithful non-approval entries with their witness':
      recordsFaithfully,
    'Theorem 2 (Audit Log Integrity): (iii) exclusivity of provenance, (iv) append-only monotonicity, (v) per-step exactness':
      appendsOnlyRulings,
    'Theorem 3 (Type Safety): Preservation: states and entries keep their types': keepsTypes,
    'Theorem 3 (Type Safety): Progress: every proposal has an outcome, and an ill-typed one is refused as such':
      alwaysRules,
    'Corollary 1 (Write Skew Freedom): what passes alone and not together is not committed together':
      (run) => freeOfSkew(skewed.base, run),
  },
);

theorems(
  'Agentic Redux+',
  { input: fc.tuple(askingRules, shopState, schedules), play: playFree, usual: CASES },
  {
    'Theorem 1+ (Invariant Preservation under Safe Counselor Commits): only an override leaves a broken state':
      onlyOverridesBreak,
    'Theorem 3+ (Type Safety): Preservation': keepsTypes,
    'Theorem 3+ (Type Safety): Progress: a proposal has an outcome, and a counselor decides what there is to decide':
      (run) => {
        alwaysRules(run);
        counselorsDecide(run);
      },
    'Theorem 4 (Extended Audit Log Integrity): (i) and (ii) faithful entries': recordsFaithfully,
    'Theorem 4 (Extended Audit Log Integrity): (iii+) exclusivity of provenance, (iv) monotonicity, (v+) exactness':
      appendsOnlyRulings,
    'Theorem 4 (Extended Audit Log Integrity): (vi) faithful commits and (vii) rejections of counselors; Lemma A.66 (Extended audit append discipline)':
      recordsCounselors,
    'Theorem 4 (Extended Audit Log Integrity): (viii) every resolution is chained to its escalation, which has no other':
      chainsResolutions,
    'Lemma A.65 (Queue cardinality bound): at most one proposal is pending, and while one is nothing else is ruled':
      boundsQueue,
    'Corollary 1+ (Write Skew Freedom under Safe Counselor Commits)': (run) =>
      freeOfSkew(skewed.plus, run),
  },
);

const met = { several: 0, conflicts: 0, approved: 0 };

theorems(
  'Agentic Redux+ with reservations',
  { input: fc.tuple(askingRules, shopState, schedules), play: playReserved, usual: 2_000 },
  {
    'Reserved: Theorem 1 and 1+: every reachable state satisfies every invariant, unless a counselor overrides it':
      onlyOverridesBreak,
    'Reserved: Lemma A.48, A.49: the candidate, and nothing else, decides what is recorded':
      decidesByCandidate,
    'Reserved: Theorem 2 and 4: (i) and (ii) faithful entries': recordsFaithfully,
    'Reserved: Theorem 2 and 4: (iii+) exclusivity of provenance, (iv) monotonicity, (v+) exactness':
      appendsOnlyRulings,
    'Reserved: Theorem 3 and 3+: Preservation': keepsTypes,
    'Reserved: Theorem 3 and 3+: Progress': alwaysRules,
    'Reserved: Theorem 4: (vi) and (vii) an approval commits what was submitted, or is a conflict':
      recordsConflicts,
    'Reserved: Theorem 4: (viii) every resolution is chained to its escalation, which has no other':
      chainsResolutions,
    'Reserved: Corollary 1 and 1+: Write Skew Freedom': (run) => freeOfSkew(skewed.reserve, run),
  },
);

test('several proposals waited, and some had a conflict', () => {
  if (!hasUsualCases()) return;
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(0);
});

test('there were write skews to be free of', () => {
  const { base, plus, reserve } = skewed;
  expect(base.skews + plus.skews + reserve.skews).toBeGreaterThan(0);
  if (!hasUsualCases()) return;
  for (const { skews } of [base, plus, reserve]) expect(skews).toBeGreaterThan(0);
});

function openAt(rows: readonly EntryRow[], most = 1): string | undefined {
  const open = new Set<string>();
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload.kind === 'pending_approval') open.add(row.id);
    else if ('resolves' in payload && payload.resolves !== undefined) open.delete(payload.resolves);
  }
  expect(open.size).toBeLessThanOrEqual(most);
  return [...open][0];
}

function folded(state: ShopState, patches: readonly Patch[]): ShopState {
  const fold = fresh(clone(state) as never);
  applyPatches(fold, clone(patches) as never);
  return fold.state as unknown as ShopState;
}
