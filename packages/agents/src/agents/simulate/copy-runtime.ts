import { issueWrit, type Writ } from 'assize/internal/authority';
import { isAssizeError } from 'assize/internal/base';
import { generateKeys, type KeyPair } from 'assize/internal/canon';
import type { Domain } from 'assize/internal/kernel';
import type { OracleStore, Random } from 'assize/internal/oracle';
import type { Assize, AssizeOptions } from 'assize/internal/runtime';
import { AgentError } from '../errors.ts';
import { ReplayAssize, recordedTimeout } from '../replay.ts';
import type { CheckedOptions, Variant } from './options.ts';
import type { Production } from './production.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { SimulationStore } from './simulation-store.ts';
import type { StandIns } from './stand-ins.ts';

export interface CopyParts {
  readonly production: Production;
  readonly options: CheckedOptions;
  readonly variant: Variant;
  /** The copy, with the shared entries. */
  readonly store: SimulationStore;
  readonly clock: SimulatedClock;
  readonly standIns: StandIns;
  /** The chance of a part of the sample, by its name. */
  readonly chance: (name: string) => Random;
}

/** A text of the effect log of a copy in memory. It protects nothing. */
const RECOVERY_KEY = 'the effect log of a simulated branch in memory';

/**
 * The runtime over a copy, with the domain and the policy of a variant, and stand-ins for all
 * tools. A copy under another version of the domain is upgraded first.
 *
 * @throws AgentError `bad_argument`
 */
export async function copyRuntime(parts: CopyParts): Promise<Assize> {
  const { options, variant, standIns } = parts;
  const { domain = options.domain, policy = options.policy } = variant;
  if (domain.hash !== options.domain.hash) await upgrade(parts, domain);
  const named = new Map(
    [...options.tools, ...(variant.tools ?? [])].map((tool) => [tool.name, tool]),
  );
  return new ReplayAssize({
    ...optionsOf(parts, options.anchors, [domain]),
    ...(policy && { policy }),
    ...(named.size > 0 && { tools: [...named.values()].map((tool) => standIns.toolFor(tool)) }),
  });
}

function optionsOf(
  parts: CopyParts,
  anchors: readonly string[],
  domains: readonly Domain[],
): AssizeOptions {
  const { store, clock, chance, production, options } = parts;
  const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
  return {
    ...{ anchors, domains, store, oracle: answersOf(parts), maxClockAheadMs: 'unlimited' as const },
    ...(options.signer && { signer: options.signer }),
    approvals: { timeoutMs: recordedTimeout(production.entries) },
    // A failed call is not repeated: the record and the simulators say how a call ends.
    effects: { maxAttempts: 1, recoveryKey: RECOVERY_KEY },
    ports: { clock, random: chance('runtime'), pause },
  };
}

/** Answers that entries observe: of the branch, and of the record for shared proposals. */
function answersOf({ store, production: { source } }: CopyParts): Pick<OracleStore, 'oracleGet'> {
  return {
    oracleGet: async (key) => (await store.oracleGet(key)) ?? source.oracleStore.oracleGet(key),
  };
}

/**
 * Continues the copy under another version of the domain. The right to do so is one of the copy
 * alone, with a key of this sample.
 */
async function upgrade(parts: CopyParts, next: Domain): Promise<void> {
  const { options, production, chance, clock } = parts;
  const keys = generateKeys(chance('upgrade').bytes(32));
  const anchors = [...options.anchors, keys.publicKey];
  const assize = new ReplayAssize(optionsOf(parts, anchors, [options.domain, next]));
  const terms = { reason: 'a variant of a simulation', writ: upgradeWrit(keys, clock) };
  const { refused } = await assize
    .upgrade(production.source.trajectoryId, next, terms)
    .catch((cause: unknown) => {
      if (isAssizeError(cause)) throw variantRefused(parts, cause.message, cause);
      throw cause;
    });
  await assize.close({ recover: false });
  if (refused !== undefined) throw variantRefused(parts, refused.detail);
}

function variantRefused(
  { variant: { name } }: CopyParts,
  detail: string,
  cause?: unknown,
): AgentError {
  const why = detail.replace(/\.$/, '');
  return new AgentError(
    'bad_argument',
    `The domain of the variant ${name} cannot continue the trajectory: ${why}. Pass a version that accepts the state at that entry.`,
    { evidence: { variant: name }, ...(cause !== undefined && { cause }) },
  );
}

const YEAR_MS = 365 * 24 * 3_600 * 1_000;

function upgradeWrit({ publicKey, privateKey }: KeyPair, clock: SimulatedClock): Writ {
  const now = clock.now();
  const grant = {
    actions: ['assize.upgrade'],
    scopes: ['upgrade:**'],
    max_depth: 0,
    nonce: 'simulation',
  };
  const period = { not_before: now, expires: new Date(Date.parse(now) + YEAR_MS).toISOString() };
  return issueWrit(
    { issuer: publicKey, subject: 'assize-simulation', ...grant, ...period },
    privateKey,
  );
}
