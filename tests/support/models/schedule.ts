import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { type Policy, type Writ, writId } from '#authority';
import { canonicalize } from '#canon';
import type { Domain, PatchOperation } from '#kernel';
import type { EntryRow, Payload } from '#ledger';
import type { Assize, AssizeOptions, ProposalInput, Ruling, Trajectory } from '#runtime';
import { HandClock, runtimeOver, writFor } from '../ledger/runtime.ts';
import {
  askingRule,
  EVILS,
  type Evil,
  type Generated,
  generatedDomain,
  intentOf,
  type NaiveAction,
  naiveAction,
  naiveAll,
  type RuleSpec,
  ruleSpec,
  type ShopState,
  shopState,
} from './generated-domain.ts';
import { clone } from './json.ts';
import { naiveDiff } from './naive-patch.ts';

/** An agent's proposal. The agent's code may be malicious. */
export interface Proposal {
  readonly agent: number;
  readonly action: NaiveAction;
  readonly evil: Evil;
}

export type Step =
  | { readonly do: 'propose'; readonly proposals: readonly Proposal[] }
  | { readonly do: 'approve'; readonly override: boolean; readonly own: ShopState | undefined }
  | {
      readonly do: 'reject' | 'misuse' | 'junk' | 'plunder' | 'reopen' | 'wait';
      readonly n: number;
    };

/** The requesters. The last requester is a counselor too, but never for its own proposals. */
export const AGENTS: readonly string[] = ['alice', 'bob', 'doc carol'];
const WRITS: readonly Writ[] = AGENTS.map((subject) => writFor(subject));

export const proposal: fc.Arbitrary<Proposal> = fc.record({
  agent: fc.nat(AGENTS.length - 1),
  action: naiveAction,
  evil: fc.oneof(
    { weight: 3, arbitrary: fc.constant<Evil>('nothing') },
    { weight: 2, arbitrary: fc.constantFrom<Evil[]>(...EVILS) },
  ),
});

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('propose' as const),
      proposals: fc.array(proposal, { minLength: 1, maxLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('propose' as const),
      proposals: fc.array(proposal, { minLength: 2, maxLength: 5 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('approve' as const),
      override: fc.boolean(),
      own: fc.option(shopState, { nil: undefined, freq: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'reject' as const,
        'misuse' as const,
        'junk' as const,
        'plunder' as const,
        'reopen' as const,
        'wait' as const,
      ),
      n: fc.nat(7),
    }),
  },
);

export const schedule: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 10 });
export const rules: fc.Arbitrary<RuleSpec[]> = fc.array(
  fc.oneof({ weight: 3, arbitrary: ruleSpec }, { weight: 1, arbitrary: askingRule }),
  { minLength: 1, maxLength: 5 },
);
/** Rules for tests of counselors. */
export const askingRules: fc.Arbitrary<RuleSpec[]> = fc.array(
  fc.oneof({ weight: 1, arbitrary: ruleSpec }, { weight: 2, arbitrary: askingRule }),
  { minLength: 1, maxLength: 3 },
);
export { shopState };

/** The rules, adjusted to pass on the state: an execution then starts as the theorems require. */
export function fitted(specs: readonly RuleSpec[], start: ShopState): RuleSpec[] {
  return specs.flatMap((spec) => {
    for (let salt = spec.salt; salt < spec.salt + 20; salt++) {
      if (naiveAll([{ ...spec, salt }], start).length === 0) return [{ ...spec, salt }];
    }
    return [];
  });
}

/** One step of an execution, with the whole ledger before and after it. */
export interface Happening {
  readonly step: Step;
  readonly before: readonly EntryRow[];
  readonly after: readonly EntryRow[];
  readonly asked: readonly {
    readonly proposal: Proposal;
    readonly input: ProposalInput;
    readonly outcome: Ruling | Error;
  }[];
  /** Set for an approval or rejection. `pending` is the proposal that it resolves. */
  readonly resolved?: { readonly pending: string | undefined; readonly outcome: Ruling | Error };
  /** Of an intent that is ill-typed. */
  readonly junk?: Ruling | Error;
  /** The pending proposals after the step. */
  readonly pending: readonly string[];
  /** The live state after the step, as its canonical text. */
  readonly state: string;
}

export interface Execution {
  readonly generated: Generated;
  readonly store: MemoryStore;
  readonly happenings: readonly Happening[];
}

/** Plays a schedule through the real runtime. */
export async function play(
  specs: readonly RuleSpec[],
  start: ShopState,
  steps: readonly Step[],
  options: {
    readonly freeze?: 'world' | 'footprint' | 'reserve';
    readonly override?: boolean;
    readonly policy?: Policy;
    /** Of the runtimes, for this domain. */
    readonly runtime?: (domain: Domain) => Partial<AssizeOptions>;
  } = {},
): Promise<Execution> {
  const generated = generatedDomain(specs, options.freeze);
  const { policy } = options;
  const stage = new Stage(generated, {
    ...(policy && { policy }),
    ...options.runtime?.(generated.domain),
  });
  await stage.begin(start, options.override === true);
  const happenings: Happening[] = [];
  for (const one of steps) happenings.push(await stage.play(one));
  return { generated, store: stage.store, happenings };
}

class Stage {
  readonly store = new MemoryStore();
  readonly #generated: Generated;
  readonly #clock = new HandClock();
  #assize: Assize;
  #trajectory!: Trajectory;
  /** Numbers keys and observations, so that no two proposals are the same one. */
  #count = 0;

  readonly #options: Partial<AssizeOptions>;

  constructor(generated: Generated, options: Partial<AssizeOptions> = {}) {
    this.#generated = generated;
    this.#options = options;
    this.#assize = this.#runtime();
  }

  #runtime(): Assize {
    return runtimeOver(this.store, [this.#generated.domain], {
      ...this.#options,
      ports: { clock: this.#clock, ...this.#options.ports },
    });
  }

  async begin(start: ShopState, override: boolean): Promise<void> {
    this.#trajectory = await this.#assize.create(this.#generated.domain, {
      trajectoryId: 't',
      initial: clone(start),
      override,
    });
  }

  async play(step: Step): Promise<Happening> {
    const before = await this.#rows();
    const asked: Happening['asked'][number][] = [];
    let resolved: Happening['resolved'];
    let junk: Happening['junk'];
    switch (step.do) {
      case 'propose': {
        const inputs = step.proposals.map((proposal) => ({
          proposal,
          input: this.#input(proposal),
        }));
        const outcomes = await Promise.all(
          inputs.map(({ input }) => settled(this.#trajectory.propose(input))),
        );
        for (const [i, { proposal, input }] of inputs.entries()) {
          asked.push({ proposal, input, outcome: outcomes[i] as Ruling | Error });
        }
        break;
      }
      case 'approve':
        resolved = await this.#approve(step);
        break;
      case 'reject': {
        const pending = this.#trajectory.approvals.pending()[0]?.id;
        const outcome = await settled(
          this.#trajectory.approvals.reject(pending ?? '0'.repeat(64), {
            principal: 'doc',
            method: 'test',
            reason: `no ${step.n}`,
          }),
        );
        resolved = { pending, outcome };
        break;
      }
      case 'junk':
        junk = await settled(
          this.#trajectory.propose({ ...(JUNK[step.n] as Junk).intent, writ: WRITS[0] as Writ }),
        );
        break;
      case 'misuse':
        await this.#misuse(step.n);
        break;
      case 'plunder':
        this.#generated.loot.plunder();
        break;
      case 'reopen':
        this.#assize = this.#runtime();
        this.#trajectory = await this.#assize.open('t');
        break;
      case 'wait':
        this.#clock.forward(step.n * 1_000);
        break;
    }
    return {
      step,
      before,
      after: await this.#rows(),
      asked,
      ...(resolved === undefined ? {} : { resolved }),
      ...(junk === undefined ? {} : { junk }),
      pending: this.#trajectory.approvals.pending().map(({ id }) => id),
      state: canonicalize(this.#trajectory.state()),
    };
  }

  #input({ agent, action, evil }: Proposal): ProposalInput {
    return {
      ...intentOf(action, evil),
      writ: WRITS[agent] as Writ,
      observations: [{ name: 'weather', value: { seen: `sun ${this.#count++}` } }],
    };
  }

  async #approve({
    override,
    own,
  }: Extract<Step, { do: 'approve' }>): Promise<NonNullable<Happening['resolved']>> {
    const [open] = this.#trajectory.approvals.pending();
    const replacement =
      own === undefined
        ? {}
        : {
            replacement: naiveDiff(
              this.#trajectory.state() as never,
              clone(own) as never,
            ) as PatchOperation[],
          };
    const outcome = await settled(
      this.#trajectory.approvals.approve(open?.id ?? '0'.repeat(64), {
        principal: 'doc',
        method: 'test',
        override,
        ...replacement,
      }),
    );
    return { pending: open?.id, outcome };
  }

  /** Calls that are refused with an error in every situation. */
  async #misuse(n: number): Promise<void> {
    const t = this.#trajectory;
    const [open] = t.approvals.pending();
    const id = open?.id ?? 'f'.repeat(64);
    const by = { principal: 'doc', method: 'test' };
    const requester =
      AGENTS.find((_, i) => open?.payload.proposal.writ_id === this.#writId(i)) ?? 'nobody';
    const acts: (() => Promise<unknown>)[] = [
      () => t.approvals.approve(id, { ...by, principal: 'stranger', override: true }),
      () => t.approvals.approve(id, { ...by, principal: requester, override: true }),
      () => t.approvals.reject(id, { ...by, principal: 'stranger', reason: 'no' }),
      () => t.approvals.approve(id, { ...by, digest: '0'.repeat(64), override: true }),
      () => t.approvals.approve('e'.repeat(64), { ...by, override: true }),
      () => t.propose({ action: 'note', role: 'logger', args: Number.NaN, writ: WRITS[0] as Writ }),
      () => t.propose({ action: 'note', role: 'logger', args: 1, writ: 'a'.repeat(64) }),
      () =>
        t.approvals.approve(id, {
          ...by,
          override: true,
          replacement: [{ op: 'add', path: '/nowhere', value: 1 }],
        }),
    ];
    const outcome = await settled((acts[n] as () => Promise<Ruling>)());
    if (!(outcome instanceof Error))
      throw new Error(`misuse ${n} was answered with ${outcome.ruling}`);
  }

  #writId(agent: number): string {
    return this.#ids[agent] as string;
  }

  readonly #ids: readonly string[] = WRITS.map((writ) => writId(writ));

  #rows(): Promise<EntryRow[]> {
    return this.store.entries('t', { limit: 10_000 });
  }
}

interface Junk {
  readonly intent: Pick<ProposalInput, 'action' | 'role' | 'args'>;
  readonly reason: 'unknown_tool' | 'type_mismatch' | 'invalid_authority';
}

/** Canonical but ill-typed intents, with the reasons of their refusals. */
export const JUNK: readonly Junk[] = [
  { intent: { action: 'fly', role: 'worker', args: 1 }, reason: 'unknown_tool' },
  { intent: { action: '__proto__', role: 'worker', args: {} }, reason: 'unknown_tool' },
  { intent: { action: 'note', role: 'logger', args: 'one' }, reason: 'type_mismatch' },
  { intent: { action: 'edit', role: 'worker', args: { edits: [] } }, reason: 'type_mismatch' },
  { intent: { action: 'note', role: 'nobody', args: 1 }, reason: 'type_mismatch' },
  { intent: { action: 'count', role: 'clerk', args: 1 }, reason: 'type_mismatch' },
  {
    intent: { action: 'note', role: { name: 'logger', params: { user: 'a' } }, args: 1 },
    reason: 'type_mismatch',
  },
  { intent: { action: 'note', role: 'worker', args: 1 }, reason: 'invalid_authority' },
];

async function settled(promise: Promise<Ruling>): Promise<Ruling | Error> {
  try {
    return await promise;
  } catch (error) {
    return error as Error;
  }
}

/** Callers must not change it: later calls with the same row return the same object. */
export function payloadOf(row: EntryRow): Payload {
  let payload = PAYLOADS.get(row);
  if (payload === undefined) {
    payload = JSON.parse(row.payload) as Payload;
    PAYLOADS.set(row, payload);
  }
  return payload;
}

const PAYLOADS = new WeakMap<EntryRow, Payload>();
