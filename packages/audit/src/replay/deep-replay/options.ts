import { DOMAIN, DOMAINS, requireOwnDomains } from 'assize/host';
import type { Policy } from 'assize/internal/authority';
import { arg, checkArgument } from 'assize/internal/base';
import type { Domain } from 'assize/internal/kernel';
import type { DomainRef, LedgerReader, LedgerStore } from 'assize/internal/ledger';
import type { OracleStore } from 'assize/internal/oracle';
import { RuntimeError } from 'assize/internal/runtime';

/** The source of a deep replay. The replay never writes. */
export type DeepReplaySource = LedgerReader & Pick<LedgerStore, 'head'>;

export interface DeepReplayOptions {
  /** The available domains. The domain with the recorded hash runs. */
  readonly domains: readonly Domain[];
  /**
   * Runs the last of the domains with the recorded name, regardless of its version and hash, to see
   * the effect of a changed domain. Default: only the recorded domain may run.
   */
  readonly changedDomains?: boolean;
  /** Supplies observations by oracle key; without it they are missing. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /**
   * Asked again if its digest is the recorded one. Answers of other policies are taken as recorded.
   */
  readonly policy?: Policy;
  /**
   * Default true: a branch's source is run again too, up to the branch entry, and so is the
   * source's own source. False: the initial state is folded, and only the branch itself is run
   * again.
   */
  readonly sources?: boolean;
  /**
   * Maximum number of listed differences and broken invariants; all are counted. Default
   * `LISTED_MAX`.
   */
  readonly limit?: number;
  /** Called now and then with the number of entries done, and the total. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface DeepReplayStoreOptions extends Omit<DeepReplayOptions, 'sources'> {
  /**
   * Default: all trajectories of the store. A source that is not among them is run again with each
   * of its branches.
   */
  readonly trajectoryIds?: readonly string[];
}

/** Default number of listed differences: enough to see a pattern. */
export const LISTED_MAX = 100;

/**
 * The domain that a deep replay runs for a trajectory of the given domain.
 *
 * @throws RuntimeError `domain_mismatch`; ArgumentError `bad_argument`
 */
export function domainToRun(
  recorded: DomainRef,
  options: Pick<DeepReplayOptions, 'domains' | 'changedDomains'>,
): Domain {
  checkArgument(DOMAIN, recorded, 'recorded');
  checkArgument(arg.members({ domains: DOMAINS }), options, 'options');
  requireOwnDomains(options.domains);
  const { domains, changedDomains = false } = options;
  const found = changedDomains
    ? domains.findLast(({ name }) => name === recorded.name)
    : domains.find(({ hash }) => hash === recorded.hash);
  if (found !== undefined) return found;
  const named = domains.filter(({ name }) => name === recorded.name);
  const advice =
    named.length === 0
      ? 'Pass the recorded domain (on the command line: --domain FILE).'
      : `The given domain is ${named.map(nameOf).join(', ')}; pass the recorded domain, or allow a changed one (on the command line: --changed-domain).`;
  throw new RuntimeError(
    'domain_mismatch',
    `The trajectory has the domain ${nameOf(recorded)}. ${advice}`,
    {
      evidence: { domain: { ...recorded } },
    },
  );
}

function nameOf({ name, version, hash }: DomainRef): string {
  return `${name}@${version} (${hash.slice(0, 12)})`;
}
