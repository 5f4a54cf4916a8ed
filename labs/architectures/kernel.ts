import { MemoryStore } from '@assize/testing/memory';
import { issueWrit } from 'assize/internal/authority';
import type { Json } from 'assize/internal/base';
import { addMicros, copyJson, generateKeys, WORLD_LIMITS } from 'assize/internal/canon';
import { fixedClock } from 'assize/internal/oracle';
import { Assize, type Ruling, type Trajectory } from 'assize/internal/runtime';
import type { AgentProposal, Architecture, Execution, Outcome, Setting } from './architecture.ts';

/**
 * The architecture of this package: Agentic Redux (Definition A.37). Each execution is a trajectory
 * of the runtime in a store in memory, and each proposal is a call of `propose`.
 */
export function kernel(): Architecture {
  return Object.freeze({
    name: 'kernel',
    begin: (setting: Setting) => KernelExecution.begin(setting),
  });
}

const HOUR_MICROS = 3_600_000_000;

class KernelExecution implements Execution {
  readonly #assize: Assize;
  readonly #trajectory: Trajectory<any>;
  readonly #writ: ReturnType<typeof issueWrit>;

  private constructor(
    assize: Assize,
    trajectory: Trajectory<any>,
    writ: ReturnType<typeof issueWrit>,
  ) {
    this.#assize = assize;
    this.#trajectory = trajectory;
    this.#writ = writ;
  }

  static async begin({ domain, start, at }: Setting): Promise<KernelExecution> {
    const keys = generateKeys();
    const grant = {
      actions: ['**'],
      scopes: ['**'],
      max_depth: 0,
      not_before: at,
      expires: addMicros(at, HOUR_MICROS),
    };
    const writ = issueWrit(
      { issuer: keys.publicKey, subject: 'agent:compared', nonce: 'compare', ...grant },
      keys.privateKey,
    );
    const assize = new Assize({
      ...{ store: new MemoryStore(), domains: [domain], anchors: [keys.publicKey] },
      ...{
        approvals: { timeoutMs: 'never' },
        maxClockAheadMs: 'unlimited',
        ports: { clock: fixedClock(at) },
      },
    });
    const trajectory = await assize.create(domain, {
      trajectoryId: 'compared',
      initial: start,
      writs: [writ],
    });
    return new KernelExecution(assize, trajectory, writ);
  }

  state(): Json {
    return copyJson(this.#trajectory.state(), WORLD_LIMITS);
  }

  async submit({ action, role, args }: AgentProposal): Promise<Outcome> {
    const ruling = await this.#trajectory.propose({
      action,
      role,
      args,
      writ: this.#writ,
    } as never);
    return outcomeOf(ruling);
  }

  close(): Promise<void> {
    return this.#assize.close();
  }
}

function outcomeOf(ruling: Ruling): Outcome {
  if (ruling.ruling === 'committed') return { outcome: 'committed' };
  if (ruling.ruling === 'frozen') return { outcome: 'held', reason: ruling.detail };
  const rule = ruling.invariantId === undefined ? {} : { rule: ruling.invariantId };
  return { outcome: ruling.ruling, reason: ruling.detail, ...rule };
}
