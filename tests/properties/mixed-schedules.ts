import { test } from 'vitest';
import { writId } from '#authority';
import { canonicalize, hashText } from '#canon';
import { type Domain, stateFault } from '#kernel';
import {
  type CommitPayload,
  type EntryRow,
  type Hash,
  isHalt,
  isRevocation,
  isSettlement,
  isUpgrade,
  payloadFault,
} from '#ledger';
import { hasUsualCases } from '../support/cases.ts';
import { payloadOf } from '../support/models/schedule.ts';
import { theorems } from '../support/models/shared-executions.ts';
import { carriedBy, openAt, tipsOf } from '../support/models/treasury/allowed.ts';
import {
  answered,
  expectAllowed,
  judged,
  madeBy,
  playWith,
  type Run,
} from '../support/models/treasury/answers.ts';
import { type Deed, roleOf } from '../support/models/treasury/deeds.ts';
import type { Model, Waiting } from '../support/models/treasury/model.ts';
import {
  type Call,
  callsOf,
  difference,
  findingsOf,
  resultOf,
} from '../support/models/treasury/naive.ts';
import { schedulesOf } from '../support/models/treasury/schedule.ts';
import type { Treasury } from '../support/models/treasury/versions.ts';
import { expect } from '../support/quick-expect.ts';

// The theorems of seed 000, A.2 and A.3, where calls, amendments, several approvers, reservations,
// upgrades, halts, branches, revocations, expiry, two processes and crashes occur in one schedule.

// ── the theorems ──

/** Theorem 1 and 1+: the approvers of a commit have overridden each rule that it breaks. */
function onlyOverridesBreak({ models }: Run): void {
  for (const { version, state, broken, overridden } of [...models.values()].flat()) {
    for (const { rule } of findingsOf(version, state, [])) expect([...broken]).toContain(rule);
    for (const rule of broken) {
      expect([...overridden]).toContain(rule);
      expect(rule === version.final).toBe(false);
    }
  }
}

/** Lemmas A.48 and A.49, and Theorem 3 and 3+, Progress: each deed gets the answer of the model. */
function answersAsModel(run: Run, does: readonly Deed['do'][]): void {
  for (const one of answered(run)) if (does.includes(one.deed.do)) expectAllowed(one);
}

/** Theorem 2 and 4, clauses (i) and (ii), for proposals. */
function recordsFaithfully(run: Run): void {
  for (const one of answered(run)) {
    const row = madeBy(one);
    if (row === undefined || one.deed.do !== 'ask') continue;
    const { action, writ, body } = one.deed;
    const payload = payloadOf(row);
    const previous = payloadOf(one.rows[row.seq - 1] as EntryRow);
    expect(payload.at).toBe(previous.at > one.at ? previous.at : one.at);
    const recorded = { name: action.name, role: roleOf(action), args: action.args };
    const before = one.models[row.seq - 1] as Model;
    if (payload.kind === 'rejection') {
      expect(payload.intent).toMatchObject({
        action: action.name,
        role: recorded.role,
        args: action.args,
      });
      expect(payload.writ_id).toBe(writId(writ));
      expect(payload).not.toHaveProperty('resolves');
      continue;
    }
    const candidate = resultOf(before.version, before.state, action) as Treasury;
    const calls = [...tipsOf(action, body), ...callsOf(before.version, candidate, action)];
    expect(plain(run.calls.get(row.id))).toEqual(calls);
    if (payload.kind === 'commit') {
      expect(payload.action).toEqual(recorded);
      expect(payload.writ_id).toBe(writId(writ));
      expect(payload.delta.state).toEqual(difference(before.state, candidate));
      for (const witness of ['resolves', 'counselor', 'approved_by', 'amended', 'detection_vector'])
        expect(payload).not.toHaveProperty(witness);
    } else if (payload.kind === 'pending_approval') {
      const { proposal } = payload;
      expect(proposal.action).toEqual(recorded);
      expect(proposal.writ_id).toBe(writId(writ));
      expect(proposal.at).toBe(payload.at);
      expect(proposal.delta.state).toEqual(difference(before.state, candidate));
    }
  }
}

/** Calls without their keys. */
function plain(calls: readonly Call[] = []): Call[] {
  return calls.map(({ tool, input }) => ({ tool, input }));
}

/** Theorem 4, clauses (vi) and (vii): commits and rejections of counselors. */
function recordsCounselors(run: Run): void {
  for (const one of answered(run)) {
    const { deed, models } = one;
    const row = madeBy(one);
    if (row === undefined || (deed.do !== 'approve' && deed.do !== 'reject')) continue;
    const payload = payloadOf(row);
    const before = models[row.seq - 1] as Model;
    const after = models[row.seq] as Model;
    const waiting = before.open.find(({ id }) => id === deed.pending) as Waiting;
    if (payload.kind === 'rejection') {
      const isDecided = payload.reason !== 'expired';
      expect(payload.counselor?.principal).toBe(isDecided ? deed.principal : undefined);
      expect(canonicalize(after.state)).toBe(canonicalize(before.state));
      continue;
    }
    if (payload.kind === 'pending_approval') {
      expect(payload.approved_by?.at(-1)?.principal).toBe(deed.principal);
      expect(canonicalize(payload.proposal)).toBe(canonicalize(waiting.payload.proposal));
      continue;
    }
    const commit = payload as CommitPayload;
    const { proposal } = waiting.payload;
    expect(commit.proposal_id).toBe(proposal.proposal_id);
    expect(commit.counselor?.principal).toBe(deed.principal);
    expect(commit.counselor?.override === true).toBe(after.overridden.size > 0);
    expect(
      commit.detection_vector
        ?.filter(({ result }) => result !== 'pass')
        .map((item) => item.invariant_id),
    ).toEqual(after.version.rules.filter((rule) => after.broken.has(rule)));
    const action = deed.amended ?? waiting.action;
    expect(commit.action).toEqual({ name: action.name, role: roleOf(action), args: action.args });
    expect(commit.amended === undefined).toBe(deed.amended === undefined);
    expect(commit.delta.state).toEqual(difference(before.state, after.state));
    const candidate = resultOf(before.version, before.state, action) as Treasury;
    const calls = plain(run.calls.get(row.id));
    const tips = plain(waiting.calls).filter(({ tool }) => tool === 'bank.tip');
    expect(calls).toEqual([...tips, ...callsOf(before.version, candidate, action)]);
    met(deed.amended === undefined ? 'approved' : 'amended');
    if (after.overridden.size > 0) met('overridden');
    if (commit.approved_by !== undefined) met('approved by several');
    if (calls.length > 0) met('approved with calls');
  }
}

/** Theorem 2, (iii) to (v), and Theorem 4, (iii+), (iv) and (v+). */
function appendsOnlyRulings(run: Run): void {
  const made = new Set([...answered(run)].flatMap((one) => madeBy(one)?.id ?? []));
  for (const { before, after } of run.happenings)
    for (const [trajectory, rows] of before) {
      const ids = (after.get(trajectory) ?? []).map(({ id }) => id);
      expect(ids.slice(0, rows.length)).toEqual(rows.map(({ id }) => id));
    }
  for (const [trajectory, rows] of run.rows) {
    const models = run.models.get(trajectory) as readonly Model[];
    for (const [seq, row] of rows.entries()) {
      expect(row.seq).toBe(seq);
      expect(row.parent).toBe(rows[seq - 1]?.id ?? null);
      if (seq === 0 || made.has(row.id)) continue;
      const payload = payloadOf(row);
      if (isSettlement(payload)) continue;
      // No deed made the entry: it is an expiry, or an upgrade closes a proposal.
      if (payload.kind !== 'rejection')
        throw new Error(`no deed made the entry ${row.id} (${row.kind})`);
      const waiting = models[seq - 1]?.open.find(({ id }) => id === payload.resolves);
      if (payload.reason === 'expired')
        expect(payload.at >= (waiting?.payload.expires ?? '')).toBe(true);
      else expect(payload.reason).toBe('upgraded');
      if (payload.reason === 'expired') met('expired');
    }
  }
}

/** Theorem 4, clause (viii), and each chain of approvals. */
function chainsResolutions({ rows }: Run): void {
  for (const list of rows.values()) {
    const open = new Map<Hash, number>();
    const resolved = new Set<Hash>();
    for (const row of list) {
      const payload = payloadOf(row);
      const resolves = 'resolves' in payload ? payload.resolves : undefined;
      if (resolves !== undefined) {
        expect(open.has(resolves)).toBe(true);
        expect(resolved.has(resolves)).toBe(false);
        resolved.add(resolves);
      }
      if (payload.kind === 'commit' && payload.counselor !== undefined)
        expect(resolves !== undefined || isUpgrade(payload)).toBe(true);
      if (payload.kind === 'pending_approval') open.set(row.id, row.seq);
    }
  }
}

/** Lemma A.65: while the whole state is frozen, no proposal is ruled on, and no other one waits. */
function freezesWorld({ rows, models }: Run): void {
  for (const [trajectory, list] of rows) {
    for (const [seq, row] of list.entries()) {
      const payload = payloadOf(row);
      const frozen =
        models.get(trajectory)?.[seq - 1]?.open.filter((one) => one.payload.freezes === 'world') ??
        [];
      expect(frozen.length).toBeLessThanOrEqual(1);
      const resolves = 'resolves' in payload ? payload.resolves : undefined;
      if (frozen.length === 0 || resolves !== undefined) continue;
      const name =
        payload.kind === 'commit'
          ? payload.action.name
          : 'intent' in payload
            ? payload.intent.action
            : '';
      expect(name.startsWith('assize.')).toBe(true);
    }
  }
}

/** Theorem 3 and 3+, Preservation. */
function keepsTypes({ models, domains, rows }: Run): void {
  for (const { state, version } of [...models.values()].flat())
    expect(stateFault((domains[version.number - 1] as Domain).state, state)).toBeUndefined();
  for (const row of [...rows.values()].flat()) expect(payloadFault(payloadOf(row))).toBeUndefined();
}

/** Every process has the state that the model computes from the committed actions. */
function remembersWhatIsCommitted({ happenings, reopened, models, rows, writs }: Run): void {
  for (const view of [...happenings.flatMap(({ views }) => views), ...reopened]) {
    const { trajectory, head, at } = view;
    const seq = (rows.get(trajectory) ?? []).findIndex(({ id }) => id === head);
    // The entry of another process came first. The memory is read again before its next use.
    if (seq < 0) continue;
    const model = models.get(trajectory)?.[seq] as Model;
    expect(view.state).toBe(canonicalize(model.state));
    expect(view.pending).toEqual(openAt(model, at).map(({ id }) => id));
    expect(view.isHalted).toBe(model.isHalted);
    expect(view.version).toBe(String(model.version.number));
  }
  for (const { trajectory, head } of reopened) {
    expect(head).toBe(rows.get(trajectory)?.at(-1)?.id);
    const { spent, revoked } = (models.get(trajectory) ?? []).at(-1) as Model;
    for (const listed of writs.get(trajectory) ?? []) {
      expect(listed.spent['cents'] ?? 0).toBe(spent.get(listed.id) ?? 0);
      expect(listed.revoked !== undefined).toBe(revoked.has(listed.id));
    }
  }
}

/** The bank has each call of each commit once, with its input, and nothing else. */
function callsOnce({ rows, calls, bank, unresolved }: Run): void {
  const commits = [...rows.values()].flat().filter(({ kind }) => kind === 'commit');
  const recorded = commits.flatMap(({ id }) => calls.get(id) ?? []);
  const texts = (list: readonly object[]): string[] => list.map((one) => canonicalize(one)).sort();
  expect(texts(bank.bookings)).toEqual(
    texts(recorded.map(({ key, tool, input }) => ({ key, tool, input }))),
  );
  expect(unresolved).toBe(0);
}

/** An approver decides on a hash of everything that the approval does, the calls included. */
function bindsByDigest({ rows, calls }: Run): void {
  for (const row of [...rows.values()].flat()) {
    const payload = payloadOf(row);
    if (payload.kind !== 'pending_approval') continue;
    expect(payload.digest).toBe(hashText(canonicalize(payload.proposal)));
    expect(payload.proposal.delta.effects.map(({ id }) => id)).toEqual(
      (calls.get(row.id) ?? []).map(({ key }) => key),
    );
  }
}

/**
 * No other commit spoils an approval: a rule that it breaks was broken by the proposal itself, or a
 * counselor has overridden a rule since, or the domain has another version.
 */
function spoilsNoApproval(run: Run): void {
  for (const one of answered(run)) {
    const { deed, models, outcome, from, rows } = one;
    if (deed.do !== 'approve' || deed.amended !== undefined || !(outcome instanceof Error))
      continue;
    const { code } = outcome as Error & { code?: string };
    if (code !== 'override_needed' && code !== 'final_rule') continue;
    const places = models.slice(Math.max(from - 1, 0), Math.max(rows.length, 1));
    const isExplained = places.some(({ open }) =>
      open.some(({ id, isDisturbed, brokenThen, payload }) => {
        const isOverride = payload.approved_by?.some(({ override }) => override === true) === true;
        return id === deed.pending && (isDisturbed || brokenThen.size > 0 || isOverride);
      }),
    );
    expect({ deed, isExplained }).toEqual({ deed, isExplained: true });
  }
}

/** Between a halt and its resume, only stops and outcomes are recorded. */
function halts({ rows, models }: Run): void {
  for (const [trajectory, list] of rows) {
    for (const [seq, row] of list.entries()) {
      if (models.get(trajectory)?.[seq - 1]?.isHalted !== true) continue;
      const payload = payloadOf(row);
      const isStop = isHalt(payload) || isRevocation(payload) || isSettlement(payload);
      const isRefused = payload.kind === 'rejection' && payload.resolves !== undefined;
      expect({ row, passes: isStop || isRefused }).toEqual({ row, passes: true });
      met('recorded in a halt');
    }
  }
}

/** An upgrade carries a proposal that stays the same under the new version, or closes it. */
function upgrades(run: Run): void {
  for (const [trajectory, list] of run.rows) {
    const models = run.models.get(trajectory) as readonly Model[];
    for (const [seq, row] of list.entries()) {
      const payload = payloadOf(row);
      if (!isUpgrade(payload)) continue;
      const [before, after] = [models[seq - 1] as Model, models[seq] as Model];
      const carried = carriedBy(before, after, payload.at);
      let last = seq;
      while (isClosing(list[last + 1])) last++;
      expect(models[last]?.open.map(({ id }) => id)).toEqual(carried);
      expect(after.version.number).toBe(Number(payload.action.args.to.version));
      expect(payload.detection_vector?.map(({ invariant_id }) => invariant_id)).toEqual([
        ...after.version.rules,
      ]);
      met('upgraded');
      if (carried.length > 0) met('carried');
      if (last > seq) met('closed by an upgrade');
    }
  }
}

function isClosing(row: EntryRow | undefined): boolean {
  const payload = row && payloadOf(row);
  return payload?.kind === 'rejection' && payload.reason === 'upgraded';
}

/** A key belongs to one proposal, on every branch that knows it, and is committed once. */
function keepsKeys(run: Run): void {
  for (const [trajectory, list] of run.rows) {
    const refs = new Map<number, number>();
    for (const row of list) {
      const payload = payloadOf(row);
      if (payload.kind !== 'commit' || payload.key_hash === undefined) continue;
      const { ref } = payload.action.args as unknown as { ref: number };
      expect({ trajectory, ref, times: refs.get(ref) }).toEqual({
        trajectory,
        ref,
        times: undefined,
      });
      refs.set(ref, 1);
    }
  }
  for (const one of answered(run)) {
    const given = one.deed.do === 'ask' && one.deed.key !== undefined ? judged(one) : undefined;
    if (given?.answer.is === 'repeated') met('repeated');
  }
}

function branches({ happenings, models, rows }: Run): void {
  for (const { done, before } of happenings) {
    for (const { deed, outcome } of done) {
      if (deed.do !== 'branch') continue;
      const seq = before.get(deed.source)?.findIndex(({ id }) => id === deed.entry) ?? -1;
      const isHalted = models.get(deed.source)?.[seq]?.isHalted;
      expect((outcome as { code?: string } | undefined)?.code).toBe(
        isHalted === true ? 'halted' : undefined,
      );
      if (isHalted === false) met('branched');
    }
  }
  expect(rows.size).toBe(models.size);
}

function verifies({ faults, differences }: Run): void {
  expect(faults).toEqual([]);
  expect(differences).toEqual([]);
}

// ── the schedules ──

const KINDS = [
  ...['approved', 'amended', 'overridden', 'approved by several', 'approved with calls', 'expired'],
  ...['recorded in a halt', 'upgraded', 'carried', 'closed by an upgrade', 'repeated', 'branched'],
] as const;
const seen = new Set<string>();

function met(kind: (typeof KINDS)[number]): void {
  seen.add(kind);
}

/** Checks the theorems over schedules of up to so many steps. `usual`: how many, usually. */
export function checkMixedSchedules(title: string, steps: number, usual: number): void {
  theorems(
    title,
    { input: schedulesOf(steps), play: playWith, usual },
    {
      'Theorems 1 and 1+: a state breaks only rules that its approvers overrode':
        onlyOverridesBreak,
      'Lemmas A.48, A.49: the candidate, and nothing else, decides': (run) =>
        answersAsModel(run, ['ask']),
      'Theorems 2 and 4: (i) and (ii) faithful entries': recordsFaithfully,
      'Theorems 2 and 4: (iii+) exclusivity, (iv) monotonicity, (v+) exactness': appendsOnlyRulings,
      'Theorem 4: (vi) and (vii) faithful decisions of counselors': recordsCounselors,
      'Theorem 4: (viii) every resolution is chained to its escalation': chainsResolutions,
      'Theorems 3 and 3+: Preservation': keepsTypes,
      'Theorems 3 and 3+: Progress: every deed has the answer of the model': (run) =>
        answersAsModel(run, ['approve', 'reject', 'upgrade', 'halt', 'resume', 'revoke']),
      'Lemma A.65: a frozen world rules on nothing': freezesWorld,
      'the memory of every process is the fold of the committed actions': remembersWhatIsCommitted,
      'each committed call is made once, with its input, and no other call': callsOnce,
      'a digest binds the calls': bindsByDigest,
      'no commit spoils an approval of another proposal': spoilsNoApproval,
      'a halted trajectory takes no work': halts,
      'an upgrade carries proposals that stay the same, and closes the rest': upgrades,
      'a key commits one proposal, after upgrades, crashes and branches': keepsKeys,
      'a branch starts where its source is not halted': branches,
      'the verifier and deep replay find nothing': verifies,
    },
  );

  test('every kind of deed occurred', () => {
    if (hasUsualCases()) expect(KINDS.filter((kind) => !seen.has(kind))).toEqual([]);
  });
}
