import type { z } from 'zod';
import type { Deputy } from './counselors.ts';
import type { Action, CounselorPredicate, DomainSpec } from './domain-spec.ts';
import type { DomainWords } from './domain-words.ts';
import type { Pattern, Scope } from './footprint.ts';
import type { Invariant } from './invariant.ts';
import type { MemorySpec } from './memory-spec.ts';
import type { PatternIndex } from './pattern-index.ts';
import type { Process, Role, RoleParams } from './role.ts';
import type { AggregatePlan } from './tally-plan.ts';

/** An invariant ready to run. */
export interface Rule {
  /** The rule's place in the order. */
  readonly index: number;
  readonly id: string;
  readonly spec: Invariant<any>;
  /** All paths that the rule reads: its footprint (Agentic Redux, Definition A.9). */
  readonly patterns: readonly Pattern[];
  /** The part of the state that a plain rule sees. For `each`, the places that `with` can name. */
  readonly scope: Scope;
  /** The members of an `each` rule. Rules of one path share the same object. */
  readonly member: Pattern | undefined;
  /** The tallies that the rule reads. A rule over groups has one. */
  readonly aggregates: readonly AggregatePlan[];
}

/** A process bound to a role's parameters. */
export interface Binding {
  readonly reads: readonly Pattern[];
  readonly writes: readonly Pattern[];
  /** reads ∪ writes: the part that `apply` sees. */
  readonly scope: Scope;
  /**
   * The largest part that an approval can touch: the footprint, and that of every rule that its
   * writes overlap (docs/decisions/009-freeze.md).
   */
  readonly closure: readonly Pattern[];
  readonly closureScope: Scope;
}

export type ActionSpec = Action<any, any> & { readonly process: string };

/**
 * A domain ready to run: footprints parsed, schemas strict, rules indexed. `defineDomain` creates
 * it; it is immutable. `State`, `Actions` (arguments by action) and `Words` carry the types to
 * proposals and slices.
 */
export interface Domain<
  State = any,
  Actions extends Record<string, unknown> = any,
  Words extends DomainWords = any,
> {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the canonical declaration (docs/decisions/010-domain-hash.md). */
  readonly hash: string;
  readonly state: z.ZodType<State>;
  readonly initial: State | undefined;
  /** The argument of `defineDomain`, from which a changed domain can be derived. */
  readonly declared: DomainSpec<z.ZodType<State>, Actions>;
  /** Types only: the field never exists at run time. */
  readonly words?: Words;
  readonly actions: {
    readonly [Name in keyof Actions]: Action<State, Actions[Name]> & { readonly process: string };
  };
  readonly roles: Readonly<Record<string, Role>>;
  readonly processes: Readonly<Record<string, Process>>;
  readonly counselors: Readonly<Record<string, CounselorPredicate>>;
  readonly deputies: Readonly<Record<string, Deputy>>;
  readonly freeze: 'world' | 'footprint' | 'reserve';
  readonly texts: 'composed' | 'exact';
  readonly memory: MemorySpec | undefined;
  readonly unjudgedCalls: 'refuse' | 'allow';
  /** @internal */
  readonly rules: readonly Rule[];
  /** Rules by the patterns that they read. @internal */
  readonly rulesByPath: PatternIndex<Rule>;
  /** The sensitive places of the state. Undefined if the state has none. @internal */
  readonly sensitive: Scope | undefined;
  /** Actions with a sensitive part in their arguments. @internal */
  readonly sensitiveArgs: ReadonlySet<string>;
  /** The places that an erasure can write: the sensitive places. @internal */
  readonly erasing: Binding;
  /** @internal */
  bind(process: string, params: RoleParams): Binding;
  /**
   * The union of the footprints of a role's processes (Agentic Redux, Definition A.6).
   *
   * @internal
   */
  footprint(role: string, params: RoleParams): Pattern[];
}
