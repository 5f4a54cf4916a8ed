import type { Writ } from '#authority';
import { arg, checkArgument } from '#base';
import { faultOfName, type Migration, type PatchOperation } from '#kernel';
import type { DomainRef, Hash, VectorItem } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import type { Ruling } from '../records/ruling.ts';

export interface UpgradeOptions {
  /**
   * Changes the state into one of the new version, in place. Default: the state stays as it is. The
   * ledger records the changes, so a reader never runs the function again.
   */
  readonly migrate?: Migration;
  /** The writ, as in a proposal. It grants `assize.upgrade` on `upgrade:NAME:VERSION`. */
  readonly writ: Hash | Writ | WritChain;
  /** Default: the subject of the writ. */
  readonly principal?: string;
  /** The reason; it stays in the ledger. */
  readonly reason: string;
  /** The counselor of the new version that commits although rules of it do not pass. */
  readonly override?: UpgradeOverride;
  /** Says what the upgrade would do, and records nothing. */
  readonly dryRun?: boolean;
}

export interface UpgradeOverride {
  readonly principal: string;
  /** The method of authentication, for the record. */
  readonly method: string;
  readonly reason?: string;
}

/** A pending proposal that an upgrade closes. */
export interface ClosedProposal {
  readonly id: Hash;
  /** The difference under the new version. */
  readonly detail: string;
}

/** The result of an upgrade, or of a dry run. */
export interface Upgrade {
  /** Undefined for a dry run. */
  readonly ruling: Ruling | undefined;
  /** Why the upgrade is refused, if it is. */
  readonly refused:
    | Pick<Extract<Ruling, { ruling: 'rejected' }>, 'reason' | 'detail' | 'invariantId'>
    | undefined;
  readonly from: DomainRef;
  readonly to: DomainRef;
  /** The changes of the state. */
  readonly patches: readonly PatchOperation[];
  /** The result of every rule of the new version. */
  readonly vector: readonly VectorItem[];
  /** The pending proposals that go on under their ids. */
  readonly carried: readonly Hash[];
  readonly closed: readonly ClosedProposal[];
}

const OVERRIDE = arg.options<UpgradeOverride>({
  principal: arg.text,
  method: arg.text,
  reason: arg.optional(arg.text),
});

const OPTIONS = arg.options<UpgradeOptions>({
  migrate: arg.optional(arg.of('a function', (value) => typeof value === 'function')),
  writ: arg.of(
    'a writ, or the id of a known writ',
    (value) => typeof value === 'string' || isObject(value),
  ),
  principal: arg.optional(arg.text),
  reason: arg.text,
  override: arg.optional(OVERRIDE),
  dryRun: arg.optional(arg.flag),
});

const REASON_MAX = 4_096;

/** A checked copy. @throws ArgumentError `bad_argument`; RuntimeError `bad_intent` */
export function checkedUpgrade(given: UpgradeOptions): UpgradeOptions {
  checkArgument(OPTIONS, given, 'options');
  const options = { ...given };
  const { reason, override } = options;
  if (reason.trim() === '' || reason.length > REASON_MAX || !reason.isWellFormed())
    throw badUpgrade(`\`reason\` must be text of 1 to ${REASON_MAX} characters`);
  const fault = override === undefined ? undefined : faultOfName(override.principal);
  if (fault !== undefined) throw badUpgrade(`the principal of \`override\` is not valid: ${fault}`);
  return options;
}

function badUpgrade(what: string): RuntimeError {
  return new RuntimeError('bad_intent', `The upgrade is not valid: ${what}. Correct it.`);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
