import { issueWrit, type Writ } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import {
  addMicros,
  generateKeys,
  type Instant,
  instantFromMillis,
  instantToMillis,
  type KeyPair,
  readInstant,
} from 'assize/internal/canon';
import type { CounselorPredicate } from 'assize/internal/kernel';
import { Assize, type AssizeOptions, type Trajectory } from 'assize/internal/runtime';
import { gateway } from '../gateway.ts';
import { rulesIn } from '../rule-text.ts';
import type { ReadCase, RulesFile } from '../rules/read-rules.ts';
import { enforcing } from '../rules/rules.ts';
import { listOf, type WrittenStep } from '../rules/written.ts';
import { rulesPolicy } from '../rules-policy.ts';

/** One step of a case, with the ruling on it. */
export interface StepResult {
  readonly case: string;
  readonly file: string;
  /** The line of the case in its file. */
  readonly line: number;
  /** From 1. */
  readonly step: number;
  readonly call: string;
  readonly expected: string;
  readonly was: string;
  /** The written rules that decided. */
  readonly rules: readonly string[];
  readonly detail: string;
  readonly ok: boolean;
}

export interface CaseOptions {
  /** An empty store, such as one in memory. */
  readonly store: AssizeOptions['store'];
  readonly counselors?: Readonly<Record<string, CounselorPredicate>>;
}

/**
 * Runs cases through the domain and the policy of the rules, each in a trajectory of its own.
 * A rule that is only observed counts too. Assize calls no tool: every call is asked for, and
 * reported by the case.
 */
export async function runCases(
  { rules: written, cases: own }: Pick<RulesFile, 'rules' | 'cases'>,
  { store, counselors }: CaseOptions,
  more: readonly ReadCase[] = [],
): Promise<readonly StepResult[]> {
  const rules = enforcing(written);
  const domain = gateway({ rules, ...(counselors === undefined ? {} : { counselors }) });
  const keys = generateKeys();
  const clock = new CaseClock();
  const assize = new Assize({
    store,
    domains: [domain],
    anchors: [keys.publicKey],
    policy: rulesPolicy(rules),
    ports: { clock },
    approvals: { timeoutMs: 'never' },
    maxClockAheadMs: 'unlimited',
  });
  const results: StepResult[] = [];
  for (const each of [...own, ...more]) {
    clock.restart();
    const writs = writsFor(each, keys);
    const trajectory = await assize.create(domain, { writs: [...writs.values()] });
    for (const [index, step] of each.steps.entries()) {
      clock.moveTo(step.at);
      results.push(await new Step(trajectory, each, step, index + 1, writs, clock).run());
    }
  }
  await assize.close();
  return results;
}

const AGENT_NAME = 'agent';
const START = '2026-01-01T00:00:00.000000Z';

/** A clock that moves only forward: by a step of a case, and a little with each reading. */
class CaseClock {
  #now: Instant = START;

  restart(): void {
    this.#now = addMicros(this.#now, 1_000_000);
  }

  moveTo(at: string | undefined): void {
    if (at === undefined) return;
    const span = /^\+(\d+)([smhd])$/.exec(at);
    const next =
      span === null
        ? readInstant(at)
        : instantFromMillis(
            instantToMillis(this.#now) + Number(span[1]) * MILLIS[span[2] as keyof typeof MILLIS],
          );
    if (next !== undefined && next > this.#now) this.#now = next;
  }

  now(): Instant {
    this.#now = addMicros(this.#now, 1);
    return this.#now;
  }
}

const MILLIS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function writsFor({ steps }: ReadCase, keys: KeyPair): Map<string, Writ> {
  const agents = new Set([AGENT_NAME, ...steps.map(({ agent = AGENT_NAME }) => agent)]);
  return new Map(
    [...agents].map((agent) => [
      agent,
      issueWrit(
        {
          issuer: keys.publicKey,
          subject: `agent:${agent}`,
          actions: ['call', 'report', 'stand'],
          scopes: ['role:agent:*', 'tool:**'],
          not_before: '2000-01-01T00:00:00.000000Z',
          expires: '9000-01-01T00:00:00.000000Z',
          max_depth: 0,
          nonce: agent,
        },
        keys.privateKey,
      ),
    ]),
  );
}

interface Asked {
  readonly was: string;
  readonly detail: string;
  readonly pending?: string;
}

/** One step of a case: the proposal, its approvals and the report of its outcome. */
class Step {
  readonly #trajectory: Trajectory;
  readonly #case: ReadCase;
  readonly #step: WrittenStep;
  readonly #number: number;
  readonly #agent: string;
  readonly #writ: Writ;
  readonly #clock: CaseClock;

  constructor(
    trajectory: Trajectory,
    each: ReadCase,
    step: WrittenStep,
    number: number,
    writs: ReadonlyMap<string, Writ>,
    clock: CaseClock,
  ) {
    this.#clock = clock;
    this.#trajectory = trajectory;
    this.#case = each;
    this.#step = step;
    this.#number = number;
    this.#agent = step.agent ?? AGENT_NAME;
    this.#writ = writs.get(this.#agent) as Writ;
  }

  async run(): Promise<StepResult> {
    const { call, stand, expect = 'ask', approved_by, outcome = 'done', rule } = this.#step;
    const id = `step-${this.#number}`;
    const ruled = await (stand === undefined
      ? this.#propose('call', this.#callArgs(id))
      : this.#stand(id));
    let { was, detail } = ruled;
    const { pending } = ruled;
    const rules = rulesIn(detail);
    let isCommitted = was === 'allow';
    if (pending !== undefined && approved_by !== undefined) {
      const approved = await this.#approve(pending, listOf(approved_by));
      isCommitted = approved === undefined;
      if (approved !== undefined) [was, detail] = ['not approved', approved];
    }
    if (isCommitted && call !== undefined && outcome !== 'open')
      await this.#propose('report', { call: id, outcome });
    const isRule = rule === undefined || rules.includes(rule);
    return {
      case: this.#case.name,
      file: this.#case.file,
      line: this.#case.place.line,
      step: this.#number,
      call: call ?? 'stand',
      expected: rule === undefined ? expect : `${expect} (${rule})`,
      was,
      rules,
      detail: detail.replace(/^\/(?:calls|standing)\/[a-z0-9-]+: /, ''),
      ok: was === expect && isRule,
    };
  }

  #callArgs(id: string): object {
    const { call = '', args = {}, parts, reaches, project } = this.#step;
    const named = (name: string): { readonly server: string; readonly tool: string } => {
      const slash = name.indexOf('/');
      return { server: name.slice(0, slash), tool: name.slice(slash + 1) };
    };
    return {
      ...{ id, ...named(call), args },
      ...(parts && {
        parts: parts.map(({ call: part, ...more }) => ({ ...named(part), ...more })),
      }),
      ...(reaches && { reaches }),
      ...(project !== undefined && { project }),
    };
  }

  #stand(id: string): Promise<Asked> {
    const {
      tools,
      uses,
      amounts = {},
      hours,
    } = this.#step.stand as NonNullable<WrittenStep['stand']>;
    const expires = addMicros(this.#clock.now(), Math.round(hours * MILLIS.h * 1_000));
    const args = {
      id,
      agent: this.#agent,
      tools: listOf(tools),
      uses,
      amounts,
      expires,
      because: this.#case.name,
    };
    return this.#propose('stand', args);
  }

  async #propose(action: string, args: object): Promise<Asked> {
    const role = { name: 'agent', params: { agent: this.#agent } } as never;
    const ruling = await this.#trajectory.propose({ action, role, args, writ: this.#writ });
    if (ruling.ruling === 'committed') return { was: 'allow', detail: '' };
    if (ruling.ruling === 'escalated')
      return { was: 'ask', detail: ruling.detail, pending: ruling.pending };
    if (ruling.ruling === 'rejected') return { was: 'deny', detail: ruling.detail };
    return { was: 'frozen', detail: ruling.detail };
  }

  /** The reason why the proposal is not approved, if it is not. */
  async #approve(first: string, names: readonly string[]): Promise<string | undefined> {
    let pending = first;
    for (const principal of names) {
      try {
        const ruling = await this.#trajectory.approvals.approve(pending, {
          principal,
          method: 'case',
        });
        if (ruling.ruling === 'committed') return undefined;
        if (ruling.ruling !== 'escalated') return ruling.detail;
        pending = ruling.pending;
      } catch (error) {
        if (isAssizeError(error)) return error.message;
        throw error;
      }
    }
    return `${names.length === 1 ? 'one approval is' : `${names.length} approvals are`} not enough`;
  }
}
