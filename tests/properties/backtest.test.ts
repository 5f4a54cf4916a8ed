import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Policy, type Rule, ruleTable, writId } from '#authority';
import {
  type Authority,
  adjudicate,
  type Domain,
  defineDomain,
  type Intent,
  type PolicyRuling,
  World,
} from '#kernel';
import {
  applyPatches,
  type CommitPayload,
  type EntryRow,
  fresh,
  type Patch,
  type PendingPayload,
  type RejectionPayload,
  type RootPayload,
} from '#ledger';
import { type BacktestReport, backtest } from '#replay';
import { cases } from '../support/cases.ts';
import { writFor } from '../support/ledger/runtime.ts';
import {
  generatedDomain,
  type RuleSpec,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone } from '../support/models/json.ts';
import {
  AGENTS,
  askingRules,
  type Execution,
  fitted,
  payloadOf,
  play,
  rules,
  type Step,
  schedule,
  shopState,
} from '../support/models/schedule.ts';

// Backtest over generated domains, policies, agents and schedules, compared with a naive backtest
// without folding. The naive backtest builds a new `World` for every proposal, from a state that it
// copies and patches itself.

const freezing = fc.constantFrom('world' as const, 'footprint' as const);

const ACTIONS = ['edit', 'note', 'own', 'count'];

/** A rule table over what generated agents do. */
const policies: fc.Arbitrary<Policy> = fc
  .array(
    fc.record(
      {
        effect: fc.constantFrom<Rule['effect']>('allow', 'deny', 'needs_approval'),
        actions: fc.subarray(ACTIONS, { minLength: 1 }),
        principals: fc.constantFrom(['alice'], ['bob'], ['alice', 'doc carol']),
        where: fc.constantFrom(
          [{ path: '', min: 0 }],
          [{ path: '/edits/1', exists: true }],
          [{ path: '/edits/0/key', exists: true, is: 'a' }],
        ),
      },
      { requiredKeys: ['effect', 'actions'] },
    ),
    { maxLength: 3 },
  )
  .map((drawn) =>
    ruleTable({
      id: 'drawn',
      otherwise: 'allow',
      rules: drawn.map((rule, i) => ({ ...rule, id: `r${i}` })),
    }),
  );
const maybePolicy = fc.option(policies, { nil: undefined });

function rowsOf({ happenings }: Execution): readonly EntryRow[] {
  return happenings.at(-1)?.after ?? [];
}

function verdictsOf({ differences }: BacktestReport): string[] {
  return differences.map(({ seq, now }) => `${seq} ${shown(now)}`);
}

function shown({
  ruling,
  reason,
  invariant_id,
  channel,
  approvals,
}: {
  readonly [member: string]: unknown;
}): string {
  const by = ruling === 'escalated' ? `${approvals ?? 1} ${channel}` : null;
  return JSON.stringify([ruling, reason ?? null, invariant_id ?? null, by]);
}

describe('a trajectory', () => {
  test('is ruled as it was by the policy and the domain that ruled it', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(rules, askingRules),
        shopState,
        schedule,
        freezing,
        maybePolicy,
        async (specs, start, steps, freeze, policy) => {
          const run = await play(specs, start, steps, {
            freeze,
            override: true,
            ...(policy && { policy }),
          });
          const rows = rowsOf(run);
          const domains = [run.generated.domain];
          for (const tried of [{ domains }, { domains, ...(policy && { policy }) }]) {
            const report = await backtest(run.store, 't', tried);
            expect(report.differences).toEqual([]);
            expect(report).toMatchObject({
              entries: rows.length,
              changes: {},
              not_judgeable: {},
              assumed: 0,
            });
            expect(report.judged + report.resolutions).toBe(rows.length - 1);
            expect(report.same).toBe(report.judged);
          }
        },
      ),
      { numRuns: cases(500) },
    ));

  test('differs under another policy exactly as a model without folding says', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(rules, askingRules),
        shopState,
        schedule,
        maybePolicy,
        policies,
        async (drawn, start, steps, before, policy) => {
          const run = await play(fitted(drawn, start), start, steps, {
            ...(before && { policy: before }),
          });
          await expectAsNaive(run, run.generated.specs, policy);
        },
      ),
      { numRuns: cases(500) },
    ));

  test('and without a rule, with an added rule, or with changed rules', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(rules, askingRules),
        shopState,
        schedule,
        maybePolicy,
        fc.constantFrom('removed', 'added', 'changed'),
        fc.nat(2_000),
        async (drawn, start, steps, policy, what, salt) => {
          const specs = fitted(drawn, start);
          // The rules that are tried come first, so that the last is the one more or less.
          const played = what === 'added' ? specs.slice(0, -1) : specs;
          const tried =
            what === 'removed'
              ? specs.slice(0, -1)
              : specs.map((spec): RuleSpec => (what === 'changed' ? { ...spec, salt } : spec));
          const run = await play(played, start, steps.map(withoutOverride), {
            ...(policy && { policy }),
          });
          await expectAsNaive(run, tried, undefined);
        },
      ),
      { numRuns: cases(800) },
    ));

  test('and with other or more approvers required, with or without a policy', () =>
    fc.assert(
      fc.asyncProperty(
        askingRules,
        shopState,
        schedule,
        fc.array(asking, { minLength: 3, maxLength: 3 }),
        maybePolicy,
        async (drawn, start, steps, approvers, policy) => {
          const specs = fitted(drawn, start);
          const run = await play(specs, start, steps.map(withoutOverride));
          await expectAsNaive(run, specs, policy, (domain) => askedOf(domain, approvers));
        },
      ),
      { numRuns: cases(300) },
    ));
});

/** The approvers that a rule's escalation requires. */
const asking = fc.record({
  approvals: fc.constantFrom(undefined, 1, 2, 8),
  channel: fc.constantFrom(undefined, 'doctor'),
});

/** The domain with its first rules asking these, one each. */
function askedOf({ declared, rules }: Domain, approvers: readonly object[]): Domain {
  return defineDomain<any, any>({
    ...declared,
    invariants: rules.map(({ spec }, i) => ({ ...spec, ...approvers[i] })),
  });
}

/** Of a rule that was overridden the record does not say for which members. */
function withoutOverride(step: Step): Step {
  return step.do === 'approve' ? { ...step, override: false } : step;
}

async function expectAsNaive(
  run: Execution,
  specs: readonly RuleSpec[],
  policy: Policy | undefined,
  change: (domain: Domain) => Domain = (domain) => domain,
): Promise<void> {
  const rows = rowsOf(run);
  const made = (): Domain => change(generatedDomain(specs).domain);
  const domain = made();
  const tried = { domains: [], instead: [domain], limit: 100_000, ...(policy && { policy }) };
  const report = await backtest(run.store, 't', tried);
  const naive = await naively(rows, made, policy);
  expect(verdictsOf(report)).toEqual(
    naive.filter(({ was, now }) => was !== now).map(({ seq, now }) => `${seq} ${now}`),
  );
  expect(report.judged).toBe(naive.length);
  expect(Object.values(report.changes).reduce((sum, n) => sum + n, 0)).toBe(
    report.difference_count,
  );
}

type Proposed = CommitPayload | RejectionPayload | PendingPayload;

/** The ruling on every proposal, each on its own `World`. */
async function naively(rows: readonly EntryRow[], made: () => Domain, policy: Policy | undefined) {
  let state = clone(
    (payloadOf(rows[0] as EntryRow) as RootPayload).initial_state,
  ) as unknown as ShopState;
  // An earlier failure that the record does not have counts only against proposals that touch it.
  let broken = new Set<string>();
  const ruled: { seq: number; was: string; now: string }[] = [];
  for (const row of rows.slice(1)) {
    const payload = payloadOf(row) as Proposed;
    if (!('resolves' in payload) || payload.resolves === undefined) {
      const domain = made();
      const world = new World(domain, fresh(clone(state) as never).state as never, undefined);
      for (const [key, { rule }] of world.checks.failing)
        if (!broken.has(rule.id)) world.checks.failing.delete(key);
      const { intent, inputs, authority, was } = asked(payload, policy);
      const parsed = payload.kind !== 'rejection';
      const judged = adjudicate(world, intent, authority, inputs, { parsed });
      const now =
        judged.verdict === 'approved'
          ? shown({ ruling: 'committed' })
          : shown({ ...judged, ruling: judged.verdict, invariant_id: judged.invariantId });
      ruled.push({ seq: row.seq, was, now });
    }
    if (payload.kind !== 'commit') continue;
    state = after(state, payload);
    const vector = payload.detection_vector ?? [];
    broken = new Set(
      vector.filter(({ result }) => result !== 'pass').map(({ invariant_id }) => invariant_id),
    );
  }
  return ruled;
}

function asked(payload: Proposed, policy: Policy | undefined) {
  const proposal = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const action =
    'intent' in proposal ? { ...proposal.intent, name: proposal.intent.action } : proposal.action;
  const { observations } = 'intent' in proposal ? proposal.intent : proposal;
  const intent = { action: action.name, role: action.role, args: action.args } as unknown as Intent;
  const principal = AGENTS.find((name) => writId(writFor(name)) === proposal.writ_id) as string;
  const decides: Authority['decides'] = (question) => {
    if (policy === undefined) {
      const { policy: ruling } = payload;
      return ruling === undefined ? undefined : { ruling: ruling as PolicyRuling, detail: '' };
    }
    const query = {
      ...question,
      principal,
      writ_id: proposal.writ_id as string,
      trajectory_id: 't',
      at: proposal.at,
    };
    const { decision, rule } = policy.evaluate(query);
    return {
      ruling: { digest: policy.digest, decision, ...(rule === undefined ? {} : { rule }) },
      detail: '',
    };
  };
  const authority: Authority = {
    admits: () => ({ ok: true, needsApproval: false }),
    decides,
    affords: () => ({ ok: true }),
  };
  const inputs = { at: proposal.at, observations: clone(observations as never) as never };
  const { kind } = payload;
  const was =
    kind === 'commit'
      ? shown({ ruling: 'committed' })
      : shown({ ...payload, ruling: kind === 'rejection' ? 'rejected' : 'escalated' } as never);
  return { intent, inputs, authority, was };
}

function after(state: ShopState, { delta }: CommitPayload): ShopState {
  const fold = fresh(clone(state) as never);
  applyPatches(fold, delta.state as readonly Patch[]);
  return fold.state as unknown as ShopState;
}
