import type { Policy } from '#authority';
import { form, requireForm } from '#base';
import type { Domain } from '#kernel';
import type { DomainRef, LedgerReader, LedgerStore } from '#ledger';
import type { OracleStore } from '#oracle';
import { RuntimeError } from '../../errors.ts';
import { DOMAIN, DOMAINS, requireOwnDomains } from '../../option-names.ts';

/** What a deep replay reads from: it never writes. */
export type DeepReplaySource = LedgerReader & Pick<LedgerStore, 'head'>;

export interface DeepReplayOptions {
  /** The domains at hand. The one whose hash is recorded runs. */
  readonly domains: readonly Domain[];
  /**
   * Of the domains with the recorded name the last one runs, whatever its version and hash: to see what a changed domain
   * makes of what was recorded. Default: only the recorded one may run.
   */
  readonly changedDomains?: boolean;
  /** Where observations by oracle key are read back from; without it they are missing. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /** Asked again where its digest is the recorded one; other policies' answers are taken as recorded. */
  readonly policy?: Policy;
  /**
   * Default true: a branch's source is run again too, up to where the branch begins, and so is that one's. False: the state
   * at the beginning is folded, and only the branch itself is run again.
   */
  readonly sources?: boolean;
  /** Differences, and broken invariants, that are listed; all are counted. Default `LISTED_MAX`. */
  readonly limit?: number;
  /** Called now and then with the entries done and the entries there are. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface DeepReplayStoreOptions extends Omit<DeepReplayOptions, 'sources'> {
  /** Default: all of the store. A source that is not among them is run again with each of its branches. */
  readonly trajectoryIds?: readonly string[];
}

/** Differences that are listed when nobody says how many: enough to see a pattern. */
export const LISTED_MAX = 100;

/**
 * The domain that a deep replay runs for a trajectory of that one.
 *
 * @throws RuntimeError `domain_mismatch`; ArgumentError `bad_argument`
 */
export function domainToRun(
  recorded: DomainRef,
  options: Pick<DeepReplayOptions, 'domains' | 'changedDomains'>,
): Domain {
  requireForm(DOMAIN, recorded, 'recorded');
  requireForm(form.members({ domains: DOMAINS }), options, 'options');
  requireOwnDomains(options.domains);
  const { domains, changedDomains = false } = options;
  const found = changedDomains
    ? domains.findLast(({ name }) => name === recorded.name)
    : domains.find(({ hash }) => hash === recorded.hash);
  if (found !== undefined) return found;
  const named = domains.filter(({ name }) => name === recorded.name);
  const advice =
    named.length === 0
      ? 'Give the domain that it was begun with (on the command line: --domain FILE).'
      : `What is at hand is ${named.map(nameOf).join(', ')}; give the recorded one, or say that a changed domain is to run (on the command line: --changed-domain).`;
  throw new RuntimeError('domain_mismatch', `The trajectory is of ${nameOf(recorded)}. ${advice}`, {
    evidence: { domain: recorded },
  });
}

function nameOf({ name, version, hash }: DomainRef): string {
  return `${name}@${version} (${hash.slice(0, 12)})`;
}
