import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalize } from '#canon';
import {
  applyPatches,
  type CommitPayload,
  type EntryRow,
  fresh,
  type Patch,
  type PendingPayload,
  type RejectionPayload,
  Replayer,
  type RootPayload,
  verifyTrajectory,
} from '#ledger';
import type { ProposalInput, Ruling } from '#runtime';
import { cases } from '../support/cases.ts';
import {
  detailOf,
  naiveAll,
  naiveFirst,
  naiveMark,
  naiveResult,
  naiveVector,
  REFUSED,
  type RuleSpec,
  type ShopState,
} from '../support/generated-domain.ts';
import { clone } from '../support/json.ts';
import {
  askingRules,
  type Execution,
  fitted,
  type Happening,
  type Proposal,
  payloadOf,
  play,
  rules,
  schedule,
  shopState,
} from '../support/schedule.ts';

// Seed 000, A.2 and A.3, over generated domains, agents and schedules, through the runtime. Theorem 3 and the rest of
// the + forms come with the floors that they speak of.

/** What the state would be if the proposal were committed; or why it does not compile. */
function applied(state: ShopState, { action, evil }: Proposal): { next: ShopState } | { reason: string } {
  const next = naiveResult(state, action);
  if (next === undefined) return { reason: 'precondition_failed' };
  const reason = action.name === 'edit' ? REFUSED[evil] : undefined;
  if (reason !== undefined) return { reason };
  if (action.name === 'edit' && evil === 'puts its arguments into the state') {
    return { next: { ...next, orders: { ...next.orders, mine: { user: 'a', total: 1 } } } };
  }
  return { next };
}

/** The states of the ledger, folded by hand: after the beginning, and after each entry. */
function statesOf(rows: readonly EntryRow[]): ShopState[] {
  const states: ShopState[] = [];
  let state = clone((payloadOf(rows[0] as EntryRow) as RootPayload).initial_state) as unknown as ShopState;
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload.kind === 'commit') {
      const fold = fresh(clone(state) as never);
      applyPatches(fold, payload.delta.state as readonly Patch[]);
      state = fold.state as unknown as ShopState;
    }
    states.push(state);
  }
  return states;
}

/** Every step as one adjudication after another, each with the state before it, in the order of the ledger. */
function* adjudications(happenings: readonly Happening[]): Iterable<{
  readonly happening: Happening;
  readonly row: EntryRow;
  readonly state: ShopState;
  readonly proposal: Proposal;
  readonly input: ProposalInput;
  readonly ruling: Ruling;
}> {
  for (const happening of happenings) {
    const states = statesOf(happening.after);
    for (const row of happening.after.slice(happening.before.length)) {
      const asked = happening.asked.find(
        ({ outcome }) => !(outcome instanceof Error) && 'entry' in outcome && outcome.entry.id === row.id,
      );
      if (asked === undefined) continue;
      yield {
        happening,
        row,
        state: states[row.seq - 1] as ShopState,
        proposal: asked.proposal,
        input: asked.input,
        ruling: asked.outcome as Ruling,
      };
    }
  }
}

const execution = (
  check: (run: Execution, specs: readonly RuleSpec[], start: ShopState) => void | Promise<void>,
  options: {
    readonly usual: number;
    readonly override?: boolean;
    readonly asking?: boolean;
    readonly freeze?: 'world' | 'footprint';
  },
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      options.asking === true ? askingRules : rules,
      shopState,
      schedule,
      async (drawn, start, steps) => {
        const specs = options.override === true ? drawn : fitted(drawn, start);
        const safe =
          options.override === true
            ? steps
            : steps.map((step) => (step.do === 'approve' ? { ...step, override: false } : step));
        await check(await play(specs, start, safe, options), specs, start);
      },
    ),
    { numRuns: cases(options.usual) },
  );

describe('Theorem 1 (Invariant Preservation)', () => {
  test('every reachable state satisfies every invariant, whatever actions, agents and schedules do', () =>
    execution(
      async ({ happenings, store }, specs) => {
        const states = statesOf(happenings.at(-1)?.after ?? []);
        for (const reached of states) expect(naiveAll(specs, reached)).toEqual([]);
        for (const { state, after } of happenings) {
          expect(naiveAll(specs, JSON.parse(state))).toEqual([]);
          // What is live is what the ledger says, and nothing that somebody did beside it.
          expect(state).toBe(canonicalize(states[after.length - 1]));
        }
        const report = await verifyTrajectory(new Replayer(store), 't');
        expect(report).toMatchObject({ valid: true });
      },
      { usual: 2_000 },
    ));

  test('Lemma A.48 (Approval soundness), A.49 (Non-approval witness): the candidate, and nothing else, decides', () =>
    execution(
      ({ happenings }, specs) => {
        for (const { row, state, proposal, ruling } of adjudications(happenings)) {
          const outcome = applied(state, proposal);
          if ('reason' in outcome) {
            expect(ruling).toMatchObject({ ruling: 'rejected', reason: outcome.reason });
            continue;
          }
          const first = naiveFirst(specs, outcome.next);
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
      },
      { usual: 700 },
    ));
});

describe('Theorem 2 (Audit Log Integrity)', () => {
  test('(i) faithful approval entries, (ii) faithful non-approval entries with their witness', () =>
    execution(
      ({ happenings }, specs) => {
        for (const { happening, row, state, proposal, input, ruling } of adjudications(happenings)) {
          const payload = payloadOf(row);
          const { action, role, args } = input;
          const previous = payloadOf(happening.after[row.seq - 1] as EntryRow);
          // The clock stands within a step; and time never goes back.
          expect(payload.at >= previous.at).toBe(true);
          const outcome = applied(state, proposal);
          const first = 'next' in outcome ? naiveFirst(specs, outcome.next) : undefined;
          if (ruling.ruling === 'committed') {
            const commit = payload as CommitPayload;
            expect(commit.kind).toBe('commit');
            expect(commit.action).toEqual({ name: action, role, args });
            for (const witness of ['reason', 'detail', 'invariant_id', 'resolves', 'counselor', 'detection_vector']) {
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
      },
      { usual: 700 },
    ));

  test('(iii) exclusivity of provenance, (iv) append-only monotonicity, (v) per-step exactness', () =>
    execution(
      ({ happenings }) => {
        for (const { step, before, after, asked, resolved } of happenings) {
          expect(after.slice(0, before.length)).toEqual(before);
          const rulings = [
            ...asked.map(({ outcome }) => outcome),
            ...(resolved === undefined ? [] : [resolved.outcome]),
          ];
          const ruled = rulings.filter((outcome) => !(outcome instanceof Error) && outcome.ruling !== 'frozen');
          // One entry for each ruling, and each ruling's entry is there; from everything else comes none.
          expect(after.length - before.length).toBe(ruled.length);
          const added = after.slice(before.length).map(({ id }) => id);
          expect(ruled.map((outcome) => (outcome as { entry: EntryRow }).entry.id).sort()).toEqual(added.sort());
          if (!['propose', 'approve', 'reject'].includes(step.do)) expect(added).toEqual([]);
          after.forEach((row, seq) => {
            expect(row.seq).toBe(seq);
            expect(row.parent).toBe(after[seq - 1]?.id ?? null);
          });
        }
      },
      { usual: 2_000, override: true },
    ));
});

describe('Agentic Redux+', () => {
  test('Lemma A.65 (Queue cardinality bound): at most one proposal is pending, and while one is nothing else is ruled', () =>
    execution(
      ({ happenings }) => {
        for (const { before, after, asked, pending } of happenings) {
          expect(pending.length).toBeLessThanOrEqual(1);
          const open = openAt(before);
          for (const { outcome } of asked) {
            if (outcome instanceof Error) throw outcome;
            if (open !== undefined) expect(outcome).toMatchObject({ ruling: 'frozen', by: open });
            // Frozen in the middle of a burst by what another proposal of it escalated.
            else if (outcome.ruling === 'frozen') expect(outcome.by).toBe(after.at(-1)?.id);
          }
          expect(pending).toEqual([openAt(after)].filter((id) => id !== undefined));
        }
      },
      { usual: 700, override: true, asking: true },
    ));

  test('Lemma A.66 (Extended audit append discipline), Definition A.63: a counselor’s act is one entry with its vector', () =>
    execution(
      ({ happenings }, specs) => {
        for (const { step, before, after, resolved } of happenings) {
          if (resolved === undefined) continue;
          const { pending, outcome } = resolved;
          if (pending === undefined) {
            expect(outcome).toMatchObject({ code: 'not_pending' });
            continue;
          }
          const waiting = payloadOf(before.find(({ id }) => id === pending) as EntryRow) as PendingPayload;
          const was = statesOf(before).at(-1) as ShopState;
          const now = statesOf(after).at(-1) as ShopState;
          if (step.do === 'reject') {
            const entry = payloadOf(after.at(-1) as EntryRow);
            expect(outcome).toMatchObject({ ruling: 'rejected', reason: 'counselor_rejected', detail: `no ${step.n}` });
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
            counselor: { principal: 'doc', as: 'doctor', method: 'test', ...(broken ? { override: true } : {}) },
            detection_vector: vector,
          });
        }
      },
      { usual: 1_000, override: true, asking: true },
    ));

  test('Theorem 1+ (Invariant Preservation under safe counselor commits): only an override leaves a broken state', () =>
    execution(
      ({ happenings }, specs, start) => {
        const rows = happenings.at(-1)?.after ?? [];
        const states = statesOf(rows);
        let broken = naiveAll(specs, start).length > 0;
        for (const row of rows) {
          const payload = payloadOf(row);
          if (payload.kind === 'commit') broken = payload.counselor?.override === true;
          expect(naiveAll(specs, states[row.seq] as ShopState).length > 0).toBe(broken);
        }
      },
      { usual: 700, override: true, asking: true },
    ));
});

function openAt(rows: readonly EntryRow[]): string | undefined {
  const open = new Set<string>();
  for (const row of rows) {
    const payload = payloadOf(row);
    if (payload.kind === 'pending_approval') open.add(row.id);
    else if ('resolves' in payload && payload.resolves !== undefined) open.delete(payload.resolves);
  }
  expect(open.size).toBeLessThanOrEqual(1);
  return [...open][0];
}

function folded(state: ShopState, patches: readonly Patch[]): ShopState {
  const fold = fresh(clone(state) as never);
  applyPatches(fold, clone(patches) as never);
  return fold.state as unknown as ShopState;
}
