import type { Policy, WritVerifier } from '#authority';
import type { Json } from '#base';
import { type Domain, detailOf, hasErased, isOverridable, partedState, type World } from '#kernel';
import type {
  ChildBeginning,
  DelegatedFrom,
  DomainRef,
  Hash,
  Instant,
  Patch,
  RootPayload,
  Stored,
  VectorItem,
} from '#ledger';
import { verified, Writs } from '../authority/writs.ts';
import { RuntimeError } from '../errors.ts';
import { COMPILER_VERSION } from './entry-payloads.ts';
import type { PayloadBlobs } from './payload-blobs.ts';

/** The content of a root entry. */
export interface RootContents {
  readonly trajectoryId: string;
  readonly at: Instant;
  readonly domain: DomainRef;
  readonly initialState: Stored;
  /** The sensitive parts of the initial state. */
  readonly sensitive?: readonly Patch[] | undefined;
  readonly writs: readonly Json[];
  readonly policy: Policy | undefined;
  readonly vector?: readonly VectorItem[] | undefined;
  readonly delegatedFrom?: DelegatedFrom;
  readonly note?: string | undefined;
}

export function rootPayload({
  trajectoryId,
  at,
  domain,
  policy,
  vector,
  note,
  ...rest
}: RootContents): RootPayload {
  return {
    kind: 'root',
    trajectory_id: trajectoryId,
    seq: 0,
    parent: null,
    at,
    domain,
    initial_state: rest.initialState,
    compiler_version: COMPILER_VERSION,
    writs: rest.writs,
    ...policyHash(policy),
    ...(rest.delegatedFrom === undefined ? {} : { delegated_from: rest.delegatedFrom }),
    ...(vector === undefined ? {} : { detection_vector: vector }),
    ...(note === undefined ? {} : { note }),
    ...(rest.sensitive === undefined ? {} : { sensitive: rest.sensitive }),
  };
}

/** A state as a root entry has it, with its sensitive parts separate. */
export function splitInitialState(
  domain: Domain,
  state: Json,
  kept: PayloadBlobs,
): Pick<ChildBeginning, 'initial_state' | 'sensitive'> {
  if (domain.sensitive !== undefined && hasErased(state))
    throw new RuntimeError(
      'bad_argument',
      'The options are not valid: the state has a value that is marked as erased.',
    );
  const { plain, sensitive } = partedState(domain, state);
  const initial_state = kept.store(plain, false);
  return sensitive.length === 0
    ? { initial_state }
    : { initial_state, sensitive: kept.patchesInline(sensitive) };
}

export function policyHash(policy: Policy | undefined): { policy_hash?: Hash } {
  return policy === undefined ? {} : { policy_hash: policy.digest };
}

export function refOf({ name, version, hash }: Domain): DomainRef {
  return { name, version, hash };
}

/**
 * The detection vector of an initial state. The state must pass every invariant. With `override`,
 * only those that cannot be overridden (docs/decisions/007-incremental-checks.md).
 *
 * @throws RuntimeError `invalid_state`
 */
export function vectorOf(world: World, override: boolean): readonly VectorItem[] | undefined {
  const [first] = world.failing;
  if (first === undefined) return undefined;
  const broken = override
    ? world.failing.find(({ rule, result }) => !isOverridable(rule.spec, result.result))
    : first;
  if (broken === undefined) return world.vector() as readonly VectorItem[];
  throw new RuntimeError(
    'invalid_state',
    `The state violates ${broken.rule.id}: ${detailOf(broken)}. Correct the state${override ? `: no override covers ${broken.rule.id}` : ''}.`,
    {
      evidence: { invariants: world.failing.map(({ rule }) => rule.id) },
    },
  );
}

/**
 * The writs of a root or branch, all checked.
 * @throws RuntimeError `bad_writ`, `bad_argument`; AuthorityError `bad_writ`
 */
export function checkWrits(writs: readonly Json[], verifier: WritVerifier): readonly Json[] {
  if (!Array.isArray(writs))
    throw new RuntimeError('bad_argument', 'The options are not valid: writs must be a list.');
  const bound = new Writs();
  bound.bind(writs);
  for (const writ of writs) verified(verifier, bound.present(writ));
  return writs;
}
