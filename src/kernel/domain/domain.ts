import type { z } from 'zod';
import type { Action, CounselorPredicate, DomainSpec } from './domain-spec.ts';
import type { DomainWords } from './domain-words.ts';
import type { Pattern, Scope } from './footprint.ts';
import type { Invariant } from './invariant.ts';
import type { MemorySpec } from './memory-spec.ts';
import type { PatternIndex } from './pattern-index.ts';
import type { Process, Role, RoleParams } from './role.ts';
import type { TallyPlan } from './tally-plan.ts';

/** An invariant ready to run. */
export interface Rule {
  /** Its place in the order. */
  readonly index: number;
  readonly id: string;
  readonly spec: Invariant<any>;
  /** Everything it reads: its footprint (seed 000, Definition A.9). */
  readonly patterns: readonly Pattern[];
  /** What a plain rule sees; for `each`, what `with` may point at. */
  readonly scope: Scope;
  /** The members of an `each` rule; the very same for rules of one path. */
  readonly member: Pattern | undefined;
  /** What it has counted; for a rule over groups that is one. */
  readonly tallies: readonly TallyPlan[];
}

/** A process bound to a role's parameters. */
export interface Binding {
  readonly reads: readonly Pattern[];
  readonly writes: readonly Pattern[];
  /** reads ∪ writes: what `apply` sees. */
  readonly scope: Scope;
  /** The most that an approval may touch: the footprint, and that of every rule its writes meet (decisions §2.5). */
  readonly closure: readonly Pattern[];
  readonly closureScope: Scope;
}

export type ActionSpec = Action<any, any>;

/**
 * A domain ready to run: footprints parsed, schemas strict, rules indexed. Made by `defineDomain`; immutable.
 * `State`, `Actions` (arguments by action) and `Words` carry the types to where proposals are made and slices are read.
 */
export interface Domain<State = any, Actions extends Record<string, unknown> = any, Words extends DomainWords = any> {
  readonly name: string;
  readonly version: string;
  /** SHA-256 of the canonical declaration (decisions §2.9). */
  readonly hash: string;
  readonly state: z.ZodType<State>;
  readonly initial: State | undefined;
  /** What `defineDomain` was given: to make a changed domain of it. */
  readonly declared: DomainSpec<z.ZodType<State>, Actions>;
  /** Types only: it is never there. */
  readonly words?: Words;
  readonly actions: { readonly [Name in keyof Actions]: Action<State, Actions[Name]> };
  readonly roles: Readonly<Record<string, Role>>;
  readonly processes: Readonly<Record<string, Process>>;
  readonly counselors: Readonly<Record<string, CounselorPredicate>>;
  readonly freeze: 'world' | 'footprint';
  readonly memory: MemorySpec | undefined;
  readonly rules: readonly Rule[];
  /** Rules by the patterns of what they read. */
  readonly rulesByPath: PatternIndex<Rule>;
  /** The sensitive places of the state; undefined where there is none. */
  readonly sensitive: Scope | undefined;
  /** Actions with a sensitive part in their arguments. */
  readonly sensitiveArgs: ReadonlySet<string>;
  /** What an erasure may write: the sensitive places. */
  readonly erasing: Binding;
  bind(process: string, params: RoleParams): Binding;
  /** The union of the footprints of a role's processes (Definition A.6). */
  footprint(role: string, params: RoleParams): Pattern[];
}
